"""Tiny problems for the distance-dependent CRP: contexts, outcomes and similarities."""

from typing import Any, NamedTuple

import numpy as np
from exact.oracles import links as oracle

from skdp.context import DistanceDependentCRPClassifier

OUTCOMES = (0, 0, 1, 0)
N_OUTCOMES = 3
GAMMA = 0.7
ALPHA = 0.6


class Problem(NamedTuple):
    """Contexts, those of new observations, parameters, and all similarities by the oracle."""

    X: Any
    new: Any
    params: dict
    similarities: np.ndarray
    to_new: np.ndarray


CONTEXTS = [["a", "u"], ["a", "v"], ["b", "u"], ["a", "u"]]
NEW = [["a", "u"], ["b", "v"], ["c", "w"], ["c", "u"]]
DECAY = (0.8, 1.7)
WEIGHTS = (0.3, 0.7)
WIDE = [[*row, *("k" * 5)] for row in CONTEXTS]
WIDE_NEW = [[*row, *"kkkkm"] for row in NEW]
WIDE_DECAY = (*DECAY, 0.2, 0.3, 0.1, 0.4, 0.9)

TABLE = np.array([
    [1.0, 0.5, 0.2, 0.9],
    [0.1, 1.0, 0.6, 0.0],
    [0.7, 0.3, 1.0, 0.4],
    [0.0, 0.8, 0.5, 1.0],
])  # fmt: skip
"""Not symmetric, and with zeros."""

TABLE_NEW = np.array([[0.2, 0.5, 0.1, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.3, 2.0]])


def lengths(A, B):
    """Return a kernel on numbers whose diagonal is not 1, and that is not symmetric."""
    a, b = np.asarray(A, float)[:, :1], np.asarray(B, float)[:, :1].T
    return np.exp(-np.abs(a - b)) * (1.0 + 0.5 * (a > b)) * 1.3


NUMBERS, NEW_NUMBERS = [[1.0], [2.5], [1.7], [1.0]], [[0.5], [1.7], [9.0]]

PROBLEMS = {
    "product": Problem(
        CONTEXTS, NEW, {"decay": DECAY},
        oracle.product_similarities(CONTEXTS, CONTEXTS, DECAY),
        oracle.product_similarities(NEW, CONTEXTS, DECAY),
    ),
    "wide": Problem(
        WIDE, WIDE_NEW, {"decay": WIDE_DECAY},
        oracle.product_similarities(WIDE, WIDE, WIDE_DECAY),
        oracle.product_similarities(WIDE_NEW, WIDE, WIDE_DECAY),
    ),
    "overlap": Problem(
        CONTEXTS, NEW, {"kernel": "overlap", "weights": WEIGHTS},
        oracle.overlap_similarities(CONTEXTS, CONTEXTS, WEIGHTS),
        oracle.overlap_similarities(NEW, CONTEXTS, WEIGHTS),
    ),
    "callable": Problem(
        NUMBERS, NEW_NUMBERS, {"kernel": lengths},
        lengths(NUMBERS, NUMBERS), lengths(NEW_NUMBERS, NUMBERS),
    ),
    "precomputed": Problem(TABLE, TABLE_NEW, {"kernel": "precomputed"}, TABLE, TABLE_NEW),
}  # fmt: skip


def make_estimator(problem, model, **params):
    given = {
        "concentration": ALPHA, "outcome_prior": GAMMA, "outcome_model": model,
        "classes": range(N_OUTCOMES), "random_state": 0,
    }  # fmt: skip
    return DistanceDependentCRPClassifier(**{**given, **problem.params, **params})


def make_chain_sampler(problem, model, outcomes=OUTCOMES, **params):
    """Return the sampler of a chain that `fit` would run."""
    estimator = make_estimator(problem, model, **params)
    data = estimator._check_input(problem.X, outcomes)
    (chain,) = estimator._make_procedure(data).start_chains(1).runs
    return chain.sampler
