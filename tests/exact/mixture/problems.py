"""A few rows of each kind, with the same prior for skdp and for the oracle."""

from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from exact.oracles import gaps, mixtures

from skdp.emissions import (
    BernoulliEmission,
    CategoricalEmission,
    GaussianEmission,
    IndependentEmissions,
    MultinomialEmission,
    PoissonEmission,
    StudentTEmission,
)

NAN = float("nan")
SCALE = [[0.7, 0.2], [0.2, 0.5]]


class Problem(NamedTuple):
    """Rows, more rows, the same prior twice, and the powers of rows of a table."""

    rows: list
    others: list
    emission: Any
    family: Any
    powers: list | None = None
    is_sparse: bool = False

    @property
    def known(self):
        """The rows as the family takes them: those of tables end with their powers."""
        if not isinstance(self.family, mixtures.Table):
            return self.rows
        powers = [1.0] * len(self.rows) if self.powers is None else self.powers
        return [[*row, w] for row, w in zip(self.rows, powers, strict=True)]


def prior(mean, precision, dof, scale):
    """Return parameters of emissions."""
    return {
        "mean_prior": mean, "mean_precision_prior": precision, "degrees_of_freedom_prior": dof,
        "covariance_prior": scale, "resolution": None,
    }  # fmt: skip


def normal(center, dof, scale):
    """Return a normal column for skdp and for the oracle."""
    emission = GaussianEmission("diag", **prior([center], 0.3, dof, [scale]))
    return emission, mixtures.Normal(center, 0.3, dof, scale)


def full(*known):
    """Return rows with a full covariance for skdp and for the oracle."""
    return GaussianEmission("full", **prior(*known)), mixtures.Gaussian(*known)


def student(freedom, *known):
    return StudentTEmission(freedom, **prior(*known)), gaps.StudentT(freedom, *known)


FULL = full([0.2, -0.1], 0.3, 3.5, SCALE)
COLUMN = [0.2], 0.3, 3.5
ROWS = [[0.0, 0.1], [0.4, -0.2], [1.9, 1.2], [2.2, 0.7], [-0.6, 2.0]]
OTHERS = [[0.3, 0.3], [-4.0, 5.0]]
PROBLEMS = {
    "full": Problem(ROWS, OTHERS, *FULL),
    "diag": Problem(
        ROWS, OTHERS, GaussianEmission("diag", **prior([0.2, -0.1], 0.3, 3.5, [0.7, 0.5])),
        mixtures.Columns(
            mixtures.Normal(0.2, 0.3, 3.5, 0.7), mixtures.Normal(-0.1, 0.3, 3.5, 0.5)
        ),
    ),
    "poisson": Problem(
        [[0, 3], [1, 2], [5, 14], [3, 9], [0, 0]], [[2, 2], [0, 30]], PoissonEmission(0.8, 0.4),
        mixtures.Columns(*[mixtures.Count(0.8, 0.4)] * 2),
    ),
    "categorical": Problem(
        [[0], [0], [1], [2], [1]], [[2], [0]], CategoricalEmission(3, prior=[0.5, 0.3, 0.4]),
        mixtures.Columns(mixtures.Symbol([0.5, 0.3, 0.4])),
    ),
    "multinomial": Problem(
        [[2, 0, 1], [1, 1, 0], [0, 3, 0], [0, 12, 9], [0, 0, 0]], [[1, 0, 2], [0, 11, 0]],
        MultinomialEmission([0.5, 0.8, 0.6]), mixtures.Multinomial([0.5, 0.8, 0.6]),
    ),
    "dispersed": Problem(
        [[0, 3], [1, 2], [5, 14], [3, 9], [0, 0]], [[2, 2], [0, 30]],
        PoissonEmission(0.8, 0.4, 0.6), mixtures.Columns(*[mixtures.WideCount(0.8, 0.4, 0.6)] * 2),
    ),
    "sparse": Problem(
        [[0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 1, 0]],
        BernoulliEmission((0.7, 0.4)), mixtures.Columns(*[mixtures.Symbol([0.4, 0.7])] * 3),
        is_sparse=True,
    ),
}  # fmt: skip


def with_default_priors(rows, others):
    """Return Poisson columns, each with the prior that follows from its data."""
    values = np.array(rows, dtype=float)
    means = np.maximum(values.mean(axis=0), 1.0)
    excess = values.var(axis=0) - values.mean(axis=0)
    shapes = np.where(excess > means**2, means**2 / np.maximum(excess, 1e-9), 1.0)
    columns = [mixtures.Count(*prior) for prior in zip(shapes, shapes / means, strict=True)]
    return Problem(rows, others, PoissonEmission(), mixtures.Columns(*columns))


DEFAULT_PRIORS = with_default_priors(
    [[0, 320, 0, 0], [1, 250, 0, 1], [5, 1400, 0, 0], [3, 900, 0, 0], [0, 12, 0, 90]],
    [[2, 700, 1, 40]],
)
"""Rates from below .01 to 1, and shapes below .4."""

PAIRS = Problem(
    [[0.0, 0.0], [0.05, 0.03], [0.45, 0.0], [0.49, 0.05], [0.22, 0.36], [0.27, 0.34]], [],
    *full([0.22, 0.15], 0.2, 4.0, [[0.02, 0.0], [0.0, 0.02]]),
)  # fmt: skip
"""Three pairs of rows that are hardly ever parted: a move does well or badly by where it begins."""

CLOSE = Problem([[0.0], [0.1], [0.3], [0.6], [-0.4], [0.8], [-0.2]], [], *full(*COLUMN, [[0.3]]))
"""Rows that hardly say which of them are together: the sizes of the clusters tell the prior."""

FEW = PROBLEMS["full"]._replace(rows=[[0.0, 0.1], [0.4, -0.2], [0.9, 0.2], [0.2, 0.7], [-0.6, 1.0]])
"""Close rows, and most often two clusters: many of the rows are free to go elsewhere."""

AUTO = Problem(
    CLOSE.rows[:5], [], GaussianEmission(**prior(*COLUMN, "auto")),
    lambda scale: mixtures.Gaussian(*COLUMN, [[scale]]),
)  # fmt: skip
"""Of which the scale is drawn: the family is one for each."""


def with_gaps(rows, emission, family):
    return Problem(rows, [], emission, gaps.Gapped(family))


COVARIANCE = [[0.7, 0.2, 0.3], [0.2, 0.5, -0.2], [0.3, -0.2, 0.8]]
GAPS = {
    "two-rows": with_gaps([[0.0, 0.1], [0.4, NAN], [1.9, 1.2], [NAN, 0.7], [-0.6, 2.0]], *FULL),
    "empty-row": with_gaps([[0.0, 0.1], [NAN, NAN], [1.9, 1.2], [2.2, 0.7]], *FULL),
    "three-columns": with_gaps(
        [[0.0, 0.1, 0.3], [0.4, -0.2, 0.0], [NAN, 1.2, NAN], [2.0, 0.7, 1.4]],
        *full([0.2, -0.1, 0.1], 0.3, 3.5, COVARIANCE),
    ),
}

TAILS = student(3.0, [0.2, -0.1], 0.3, 3.5, SCALE)
STUDENTS = {
    "t-column": Problem([[0.0], [0.5], [2.5], [-9.0]], [], *student(2.5, *COLUMN, [[0.4]])),
    "t-two-columns": Problem([[0.0, 0.1], [0.4, 0.5], [5.0, -2.0]], [], *TAILS),
    "t-gap": Problem([[0.0, 0.1], [NAN, 1.5], [2.0, -0.5]], [], *TAILS),
    "t-empty-row": Problem([[0.0], [NAN], [2.0]], [], *student(3.0, *COLUMN, [[0.4]])),
    "t-diag": Problem(
        [[0.0, 0.1], [0.4, NAN], [2.0, -0.5], [0.1, 6.0]], [],
        StudentTEmission(3.0, "diag", **prior([0.2, -0.1], 0.3, 3.5, [0.7, 0.5])),
        gaps.IndependentStudentT(3.0, [0.2, -0.1], 0.3, 3.5, [0.7, 0.5]),
    ),
}  # fmt: skip


def on_grid(problem, steps):
    """Return a problem of values with these steps: the variance about them is a tenth of h^2."""
    problem, away = deepcopy(problem), np.sqrt(0.1) * np.array(steps)
    problem.emission.resolution = steps
    family = getattr(problem.family, "family", problem.family)
    if isinstance(family, mixtures.Columns):
        for column, own in zip(family.families, away, strict=True):
            column.away = own
    else:
        family.away = away
    return problem


PROBLEMS["full-grid"] = on_grid(PROBLEMS["full"], [3.0, 1.5])
PROBLEMS["diag-grid"] = on_grid(PROBLEMS["diag"], [3.0, 0.0])
GRIDS = {
    "grid-gaps": on_grid(GAPS["two-rows"], [3.0, 1.5]),
    "t-grid": on_grid(STUDENTS["t-two-columns"], [2.0, 1.0]),
    "t-grid-gap": on_grid(STUDENTS["t-gap"], [2.0, 1.0]),
}

NORMAL = normal(0.2, 3.5, 0.6)
ON_GRID = deepcopy(NORMAL)
ON_GRID[0].resolution, ON_GRID[1].away = 2.0, np.sqrt(0.4)
COUNT = PoissonEmission(0.8, 0.4), mixtures.Count(0.8, 0.4)
WIDE = PoissonEmission(0.8, 0.4, 0.6), mixtures.WideCount(0.8, 0.4, 0.6)
SYMBOL = CategoricalEmission(3, prior=[0.5, 0.3, 0.4]), mixtures.Symbol([0.5, 0.3, 0.4])
BIT = BernoulliEmission((0.7, 0.4)), mixtures.Symbol([0.4, 0.7])
EVENTS = MultinomialEmission([0.5, 0.8]), mixtures.Multinomial([0.5, 0.8])


def make_table(rows, powers, others, **parts):
    """Return a problem of parts ``name=((emission, family), columns)``."""
    emission = IndependentEmissions(
        [(name, own[0], columns) for name, (own, columns) in parts.items()]
    )
    family = mixtures.Table([(own[1], columns) for own, columns in parts.values()])
    return Problem(rows, others, emission, family, powers)


CELLS = [
    [0.0, 3, 0, 1, -0.3],
    [0.4, NAN, 0, NAN, NAN],
    [NAN, 14, 1, 0, 1.2],
    [2.2, 9, NAN, 0, 0.7],
    [-0.6, 0, 1, NAN, NAN],
    [NAN, 11, 2, 1, 0.1],
]
MORE = [[0.3, 2, 2, NAN, 0.1], [NAN, NAN, 1, 0, -4.0], [NAN] * 5, [NAN, 12, NAN, NAN, NAN]]
WHOLE = [
    [0.0, 3, 0, 1, -0.3],
    [0.4, 2, 0, 1, -0.1],
    [1.9, 14, 1, 0, 1.2],
    [2.2, 9, 2, 0, 0.7],
    [-0.6, 0, 1, 0, 2.0],
]
MIXED = {
    "normal": (NORMAL, [0]), "events": (COUNT, [1]), "kind": (SYMBOL, [2]), "bit": (BIT, [3]),
    "other": (normal(-0.1, 2.5, 0.9), [4]),
}  # fmt: skip
JOINED = [
    [0.0, 0.1, 3, 2, 0, 0],
    [0.4, -0.2, NAN, 1, 1, NAN],
    [1.9, 1.2, 14, 0, 3, 1],
    [2.2, 0.7, 9, 1, 9, 2],
    [-0.6, 2.0, NAN, 0, 0, 0],
]
JOINED_MORE = [[0.3, 0.3, 4, 1, 0, NAN], [-4.0, 5.0, NAN, 0, 11, 2]]
POWERS = [1.0, 0.5, 0.3, 1.0, 0.5, 0.8]
TABLES = {
    "cells": make_table(CELLS, None, MORE, **MIXED),
    "powers": make_table(CELLS, POWERS, MORE, **MIXED),
    "whole": make_table(WHOLE, None, MORE, **MIXED),
    "parts-full": make_table(
        [row[:3] for row in JOINED], None, [row[:3] for row in JOINED_MORE],
        full=(FULL, [0, 1]), events=(COUNT, [2]),
    ),
    "parts-multinomial": make_table(
        [row[2:5] for row in JOINED], None, [row[2:5] for row in JOINED_MORE],
        events=(COUNT, [0]), kinds=(EVENTS, [1, 2]),
    ),
    "parts-all": make_table(
        JOINED, None, JOINED_MORE, full=(FULL, [0, 1]), events=(COUNT, [2]), kinds=(EVENTS, [3, 4]),
        kind=(SYMBOL, [5]),
    ),
    "wide": make_table(CELLS, None, MORE, **{**MIXED, "events": (WIDE, [1])}),
    "wide-powers": make_table(CELLS, POWERS, MORE, **{**MIXED, "events": (WIDE, [1])}),
    "grid": make_table(CELLS, None, MORE, **{**MIXED, "normal": (ON_GRID, [0])}),
    "grid-powers": make_table(CELLS, POWERS, MORE, **{**MIXED, "normal": (ON_GRID, [0])}),
}  # fmt: skip

BURSTS = [[2, 0, 3], [1, 1, 0], [0, 6, 0], [0, 3, 2]]
COMPOUND = {
    "compound": Problem(
        BURSTS, [[1, 0, 2], [0, 11, 0], [0, 0, 0], [1, 1, 1]],
        MultinomialEmission([0.5, 0.8, 0.6], 2.5), mixtures.Compound([0.5, 0.8, 0.6], 2.5),
    ),
    "compound-part": make_table(
        [[1, 4, 0], [2, 2, 1], [9, 0, 3], [5, 1, 1]], None, [],
        events=(COUNT, [0]),
        kinds=((MultinomialEmission([0.5, 0.8], 1.5), mixtures.Compound([0.5, 0.8], 1.5)), [1, 2]),
    ),
}  # fmt: skip
"""Rows with repetitions, numbers of which are drawn."""

EVERY = {
    **PROBLEMS,
    **COMPOUND,
    "default-priors": DEFAULT_PRIORS,
    "pairs": PAIRS,
    "close": CLOSE,
    "few": FEW,
    **GAPS,
    **STUDENTS,
    **GRIDS,
    **TABLES,
}
