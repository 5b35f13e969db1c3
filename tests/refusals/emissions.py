"""Distributions of observations given a state: mistakes and their messages."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from skdp.data import PartitionedPanel, SequencePanel
from skdp.emissions import (
    AutoregressiveEmission,
    BinaryFactorEmission,
    CategoricalEmission,
    GaussianEmission,
    IndependentEmissions,
    PoissonEmission,
    RegressionEmission,
)
from skdp.emissions._binary_factors._part import BinaryFactorModel
from skdp.emissions._common._columns import check_shared_out, find_columns
from skdp.emissions._discrete._categorical import as_symbols
from skdp.emissions._discrete._poisson import PoissonModel
from skdp.emissions._gaussian._model import GaussianModel, factorize_precisions
from skdp.mixture import DPMixture
from skdp.sequence import HDPHMMLT

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(12, 2))
TRIALS = np.column_stack([ROWS[:, 0] > 0.0, RNG.normal(size=(12, 2))])
SPIKES = TRIALS * [3.0, 1.0, 1.0]
BITS = (RNG.random((12, 2)) < 0.5).astype(float)
EVENTS = RNG.multinomial(6, [0.5, 0.3, 0.2], 12).astype(float)
MIXED = np.column_stack([ROWS[:, 0], 3.0 * BITS[:, 0], BITS])
WORDS = np.array([["a"], ["b"], ["a"]], dtype=object)
FRAME = pd.DataFrame({"w": WORDS[:, 0]})
NAMES = ["a", "b", "c", "d"]
WIDE = np.column_stack([ROWS, np.tile([3.0, 4.0, 5.0], (12, 1))])
TINY = 1e-200 * np.column_stack([ROWS[:, 0]])
NAN = np.nan


def sampler(emission, X=ROWS):
    return emission.make_sampler(np.array(X, dtype=float), 3)


def lagging(X=ROWS, **params):
    X = np.array(X, dtype=float)
    return AutoregressiveEmission(**params).make_sampler(X, 3, np.array([0, len(X)]))


def changed(X, *changes):
    """Return a copy with other values, given with their row and column."""
    X = np.array(X, dtype=float)
    for row, column, value in changes:
        X[row, column] = value
    return X


def hmm(X=ROWS, n_components=3, **params):
    return HDPHMMLT(n_components, max_iter=2, random_state=0, **params).fit(X)


def panel(X, *changes):
    """Return two sequences, with other values."""
    return np.split(changed(X, *changes), 2)


def factors(X=((0.0,) * 3,) * 5, **params):
    return sampler(BinaryFactorEmission(2, **params), X)


def buffet(**params):
    return hmm(emission=BinaryFactorEmission("auto", **params))


def mixed_factors():
    return sampler(BinaryFactorEmission(1, output=["normal", "probit"]), np.zeros((5, 2)))


def known_factors():
    zeros = np.zeros((2, 1), dtype=np.int8), np.zeros((2, 2)), np.ones(2)
    return BinaryFactorModel(*zeros, ("normal", "probit"))


def gaussian():
    """Return a sampler after its first draw."""
    own = sampler(GaussianEmission())
    own.attach(ROWS)
    return own


def symbols(X=((0.0,), (2.0,), (1.0,)), **params):
    return sampler(CategoricalEmission(**params), X)


def mixture(X, emission):
    return DPMixture(emission, max_iter=2).fit(X)


def parts(**replaced):
    known = {
        "level": ("gaussian", [0]),
        "events": (PoissonEmission(), [1]),
        "kinds": ("categorical", [2]),
        "bits": ("bernoulli", [3]),
        **replaced,
    }
    return [(name, *part) for name, part in known.items() if part is not None]


def independent(emissions=None, X=MIXED, **replaced):
    return hmm(X, emission=IndependentEmissions(emissions or parts(**replaced)))


def independent_of(*emissions):
    return hmm(MIXED, emission=IndependentEmissions(list(emissions)))


def regression(X=TRIALS, targets=0, inputs=None, output="normal", part=False, **params):
    settings = {key: params.pop(key) for key in ("similarity", "state_order") if key in params}
    emission = RegressionEmission(targets, inputs, output, **params)
    if part:
        emission = IndependentEmissions([("part", emission, [0, 1, 2])])
    return hmm(X, emission=emission, **settings)


def partitioned(X):
    return PartitionedPanel.from_panel(SequencePanel.from_sequences([X] * 2), 2)


def find(columns, names=None):
    return find_columns(columns, 4, names, "here")


def share(names=None, **columns):
    return check_shared_out({key: np.array(c) for key, c in columns.items()}, 4, names, "here")


class Lagging(BaseEstimator):
    """An emission that looks back."""

    n_lags = 1

    def make_sampler(self, values, n_states):
        raise AssertionError
