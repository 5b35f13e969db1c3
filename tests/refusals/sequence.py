"""Models of sequences: mistakes and their messages."""

import numpy as np
import pandas as pd

from refusals.samples import HALF, SERIES, hmm
from skdp.data import PartitionedPanel, SequencePanel, TokenSequences
from skdp.sequence import (
    HDPHMMLT,
    BinaryFactorEmission,
    EmissionSimilarity,
    FactorialHMM,
    FixedSimilarity,
    RegressionEmission,
)
from skdp.sequence._similarities._emission import check_distances

LONG = np.tile(SERIES, (2, 1))

TWICE = [("a", "gaussian", [0, 1]), ("b", "poisson", 1)]


def measured(distances):
    """Fit states whose distances a function gives for their number."""
    metric = EmissionSimilarity(lambda model: distances(len(model.means)))
    return hmm(similarity=metric)


def asked(method, n_jobs):
    return getattr(hmm().set_params(n_jobs=n_jobs), method)(SERIES)


def apart(n):
    return 1.0 - np.eye(n)


WORDS = TokenSequences.from_sequences([[0, 1], [1]])


def make(n_components=4, **params):
    return HDPHMMLT(n_components, **{"max_iter": 2, **params})


def factors(n_factors=2, **params):
    return FactorialHMM(n_factors, **{"max_iter": 2, **params})


def many_factors():
    """Return a fit of more factors than can be summed over."""
    emission = BinaryFactorEmission(21, weights=np.eye(22)[:, :2])
    return factors(21, emission=emission, burn_in=0).fit(SERIES)


def between(matrix):
    """Return a model of two states of the given similarities."""
    return HDPHMMLT(2, max_iter=2, similarity=FixedSimilarity(matrix))


def row(*values):
    """Return a sequence of one column."""
    return np.array(values)


def two_states(**changed):
    """Return arguments of the functions."""
    known = {"startprob": [0.5, 0.5], "transmat": HALF, "log_obs": np.zeros((3, 2))}
    return {**known, "ptr": [0, 1, 3], **changed}


def on_counts():
    return hmm(np.array([[0], [2], [1]]), emission="poisson")


PARTS = [SERIES[:2], SERIES]
"""Sequences of two and of five steps."""

SIX = [np.zeros(6), np.ones(6)]
FREE = np.full(6, -1)
ONCE = np.array([0, 1, 0, 1, 1, 0])
UNKNOWN = np.full((5, 2), -1)
WEIGHTS = np.array([[0.5, -0.2], [2.0, 0.0], [0.0, 2.0]])
STEPS = np.arange(600.0).reshape(-1, 2) % 7
HALF_SEEN = np.where(np.arange(300)[:, np.newaxis] % 2, STEPS, np.nan)


def given(**params):
    return BinaryFactorEmission(2, **{"weights": WEIGHTS, **params})


def chain(X=(SIX[0], ONCE), y=None, **params):
    """Fit symbols; their posterior draws can be compared."""
    params = {"n_components": 2, "emission": "categorical", "max_iter": 6, **params}
    return HDPHMMLT(**params).fit(list(X), y)


def in_parts(X):
    return PartitionedPanel.from_panel(SequencePanel.from_sequences(X), 2)
