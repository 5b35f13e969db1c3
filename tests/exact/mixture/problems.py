"""A few rows of each kind, their prior for skdp and for the oracle, and samplers over them."""

from typing import Any, NamedTuple

import numpy as np
from exact.oracles import mixtures

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.emissions import (
    CategoricalEmission,
    GaussianEmission,
    MultinomialEmission,
    PoissonEmission,
)
from skdp.mixture._hyper import PartitionPrior
from skdp.mixture._labels import check_labels
from skdp.mixture._sampler import MixtureSampler

SCALE = [[0.7, 0.2], [0.2, 0.5]]
PRIOR = {"mean_prior": [0.2, -0.1], "mean_precision_prior": 0.3, "degrees_of_freedom_prior": 3.5}


class Problem(NamedTuple):
    """Rows, two more, and the same prior twice."""

    rows: list
    others: list
    emission: Any
    family: Any


PROBLEMS = {
    "full": Problem(
        [[0.0, 0.1], [0.4, -0.2], [1.9, 1.2], [2.2, 0.7], [-0.6, 2.0]],
        [[0.3, 0.3], [-4.0, 5.0]],
        GaussianEmission("full", covariance_prior=SCALE, **PRIOR),
        mixtures.Gaussian([0.2, -0.1], 0.3, 3.5, SCALE),
    ),
    "diag": Problem(
        [[0.0, 0.1], [0.4, -0.2], [1.9, 1.2], [2.2, 0.7], [-0.6, 2.0]],
        [[0.3, 0.3], [-4.0, 5.0]],
        GaussianEmission("diag", covariance_prior=[0.7, 0.5], **PRIOR),
        mixtures.DiagonalGaussian([0.2, -0.1], 0.3, 3.5, [0.7, 0.5]),
    ),
    "poisson": Problem(
        [[0, 3], [1, 2], [5, 14], [3, 9], [0, 0]],
        [[2, 2], [0, 30]],
        PoissonEmission(0.8, 0.4),
        mixtures.Poisson(0.8, 0.4),
    ),
    "categorical": Problem(
        [[0], [0], [1], [2], [1]],
        [[2], [0]],
        CategoricalEmission(3, prior=[0.5, 0.3, 0.4]),
        mixtures.Categorical([0.5, 0.3, 0.4]),
    ),
    "multinomial": Problem(
        [[2, 0, 1], [1, 1, 0], [0, 3, 0], [0, 12, 9], [0, 0, 0]],
        [[1, 0, 2], [0, 11, 0]],
        MultinomialEmission([0.5, 0.8, 0.6]),
        mixtures.Multinomial([0.5, 0.8, 0.6]),
    ),
}

PAIRS = Problem(
    [[0.0, 0.0], [0.05, 0.03], [0.45, 0.0], [0.49, 0.05], [0.22, 0.36], [0.27, 0.34]],
    [],
    GaussianEmission(
        "full", mean_prior=[0.22, 0.15], mean_precision_prior=0.2, degrees_of_freedom_prior=4.0,
        covariance_prior=[[0.02, 0.0], [0.0, 0.02]],
    ),
    mixtures.Gaussian([0.22, 0.15], 0.2, 4.0, [[0.02, 0.0], [0.0, 0.02]]),
)  # fmt: skip
"""Three pairs of rows that are hardly ever parted: a move does well or badly by where it begins."""

CLOSE = Problem(
    [[0.0], [0.1], [0.3], [0.6], [-0.4], [0.8], [-0.2]],
    [],
    GaussianEmission(
        "full", mean_prior=[0.2], mean_precision_prior=0.3, degrees_of_freedom_prior=3.5,
        covariance_prior=[[0.3]],
    ),
    mixtures.Gaussian([0.2], 0.3, 3.5, [[0.3]]),
)  # fmt: skip
"""Rows that hardly say which of them are together: the sizes of the clusters tell the prior."""

AUTO = Problem(
    CLOSE.rows[:5],
    [],
    GaussianEmission(
        mean_prior=[0.2], mean_precision_prior=0.3, degrees_of_freedom_prior=3.5,
        covariance_prior="auto",
    ),
    lambda scale: mixtures.Gaussian([0.2], 0.3, 3.5, [[scale]]),
)  # fmt: skip
"""Of which the scale is drawn: the family is one for each."""

A, B = 0.4, 0.7


def make_chain_sampler(
    problem,
    a=A,
    b=B,
    init=None,
    *,
    y=None,
    seed=0,
    prior=None,
    split_merge=True,
    sampler=MixtureSampler,
):
    """Return a sampler over the rows of a problem; numbers that are drawn have a `prior`."""
    values = np.array(problem.rows, dtype=float)
    values.flags.writeable = False
    root = make_seed_sequence(seed)
    return sampler(
        check_labels(values, y),
        problem.emission.make_sampler(values, 1),
        PartitionPrior(None, None) if prior is None else prior,
        a,
        b,
        None if init is None else np.array(init),
        derive_stream(root, Role.INIT, 0),
        derive_stream(root, Role.SWEEP, 0),
        split_merge=split_merge,
    )


def in_order(labels):
    """Return labels renamed so that new clusters come in order."""
    names = {}
    return tuple(names.setdefault(int(k), len(names)) for k in labels)
