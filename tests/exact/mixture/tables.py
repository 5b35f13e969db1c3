"""A few rows of tables: mixed columns, gaps and powers, the prior for skdp and for the oracle."""

from typing import Any, NamedTuple

import numpy as np
from exact.mixture.problems import A, B
from exact.oracles import mixtures, tables

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.data import SequencePanel
from skdp.emissions import (
    BernoulliEmission,
    CategoricalEmission,
    GaussianEmission,
    IndependentEmissions,
    MultinomialEmission,
    PoissonEmission,
)
from skdp.emissions._cells._table import TableEmissionSampler
from skdp.mixture._hdp._sampler import HDPMixtureSampler
from skdp.mixture._hyper import PartitionPrior
from skdp.mixture._labels import check_labels
from skdp.mixture._sampler import MixtureSampler
from skdp.processes._top_level import TopPriors

NA = float("nan")


class TableProblem(NamedTuple):
    """Rows, their powers, more rows, and the same prior twice."""

    rows: list
    powers: list | None
    others: list
    emission: Any
    family: Any


def normal(center, dof, scale):
    """Return a normal column for skdp and for the oracle."""
    emission = GaussianEmission(
        "diag", mean_prior=[center], mean_precision_prior=0.3, degrees_of_freedom_prior=dof,
        covariance_prior=[scale],
    )  # fmt: skip
    return emission, tables.Normal(center, 0.3, dof, scale)


NORMAL = normal(0.2, 3.5, 0.6)
OTHER = normal(-0.1, 2.5, 0.9)
COUNT = PoissonEmission(0.8, 0.4), tables.Count(0.8, 0.4)
SYMBOL = CategoricalEmission(3, prior=[0.5, 0.3, 0.4]), tables.Symbol([0.5, 0.3, 0.4])
BIT = BernoulliEmission((0.7, 0.4)), tables.Symbol([0.4, 0.7])
SCALE = [[0.7, 0.2], [0.2, 0.5]]
FULL = (
    GaussianEmission(
        mean_prior=[0.2, -0.1], mean_precision_prior=0.3, degrees_of_freedom_prior=3.5,
        covariance_prior=SCALE,
    ),
    tables.Joint(mixtures.Gaussian([0.2, -0.1], 0.3, 3.5, SCALE)),
)  # fmt: skip
EVENTS = MultinomialEmission([0.5, 0.8]), tables.Joint(mixtures.Multinomial([0.5, 0.8]))


def make_problem(rows, powers, others, **parts):
    """Return a problem of parts ``name=((emission, family), columns)``."""
    emission = IndependentEmissions(
        [(name, own[0], columns) for name, (own, columns) in parts.items()]
    )
    family = tables.Table([(own[1], columns) for own, columns in parts.values()])
    return TableProblem(rows, powers, others, emission, family)


CELLS = [
    [0.0, 3, 0, 1, -0.3],
    [0.4, NA, 0, NA, NA],
    [NA, 14, 1, 0, 1.2],
    [2.2, 9, NA, 0, 0.7],
    [-0.6, 0, 1, NA, NA],
    [NA, 11, 2, 1, 0.1],
]
MORE = [[0.3, 2, 2, NA, 0.1], [NA, NA, 1, 0, -4.0], [NA] * 5, [NA, 12, NA, NA, NA]]
MIXED = {
    "normal": (NORMAL, [0]), "events": (COUNT, [1]), "kind": (SYMBOL, [2]), "bit": (BIT, [3]),
    "other": (OTHER, [4]),
}  # fmt: skip
JOINED = [
    [0.0, 0.1, 3, 2, 0, 0],
    [0.4, -0.2, NA, 1, 1, NA],
    [1.9, 1.2, 14, 0, 3, 1],
    [2.2, 0.7, 9, 1, 9, 2],
    [-0.6, 2.0, NA, 0, 0, 0],
]
JOINED_MORE = [[0.3, 0.3, 4, 1, 0, NA], [-4.0, 5.0, NA, 0, 11, 2]]
POWERS = [1.0, 0.5, 0.3, 1.0, 0.5, 0.8]
WITHOUT_GAPS = [
    [0.0, 3, 0, 1, -0.3],
    [0.4, 2, 0, 1, -0.1],
    [1.9, 14, 1, 0, 1.2],
    [2.2, 9, 2, 0, 0.7],
    [-0.6, 0, 1, 0, 2.0],
]

TABLES = {
    "cells": make_problem(CELLS, None, MORE, **MIXED),
    "powers": make_problem(CELLS, POWERS, MORE, **MIXED),
    "whole": make_problem(WITHOUT_GAPS, None, MORE, **MIXED),
    "gaussian": make_problem(
        [row[:3] for row in JOINED], None, [row[:3] for row in JOINED_MORE],
        full=(FULL, [0, 1]), events=(COUNT, [2]),
    ),
    "multinomial": make_problem(
        [row[2:5] for row in JOINED], None, [row[2:5] for row in JOINED_MORE],
        events=(COUNT, [0]), kinds=(EVENTS, [1, 2]),
    ),
    "all": make_problem(
        JOINED, None, JOINED_MORE, full=(FULL, [0, 1]), events=(COUNT, [2]), kinds=(EVENTS, [3, 4]),
        kind=(SYMBOL, [5]),
    ),
}  # fmt: skip


def make_table_sampler(
    problem,
    a=A,
    b=B,
    *,
    y=None,
    seed=0,
    sampler=MixtureSampler,
    init=None,
    table=TableEmissionSampler,
):
    """Return a sampler over the rows of a table."""
    values = np.array(problem.rows, dtype=float)
    values.flags.writeable = False
    root = make_seed_sequence(seed)
    powers = None if problem.powers is None else np.array(problem.powers)
    return sampler(
        check_labels(values, y)._replace(powers=powers),
        table(problem.emission.make_sampler(values, 1)),
        PartitionPrior(None, None),
        a,
        b,
        None if init is None else np.array(init),
        derive_stream(root, Role.INIT, 0),
        derive_stream(root, Role.SWEEP, 0),
    )


def make_grouped_sampler(problem, sizes, alpha, gamma):
    """Return a sampler over the rows of a table in groups of some sizes."""
    ends = np.cumsum(sizes)
    rows = np.array(problem.rows, dtype=float)
    panel = SequencePanel.from_sequences(np.split(rows, ends[:-1]))
    root = make_seed_sequence(0)
    powers = None if problem.powers is None else np.array(problem.powers)
    return HDPMixtureSampler(
        check_labels(panel.values, None)._replace(ptr=panel.ptr, powers=powers),
        TableEmissionSampler(problem.emission.make_sampler(panel.values, 1)),
        TopPriors(None, None),
        alpha,
        gamma,
        None,
        derive_stream(root, Role.INIT, 0),
        derive_stream(root, Role.SWEEP, 0),
    )
