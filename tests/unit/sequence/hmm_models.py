"""Small estimators of every kind and their data, fitted once in a process."""

from functools import cache

import numpy as np
import pytest

from skdp.sequence import (
    HDPHMMLT,
    AutoregressiveEmission,
    BinaryFactorEmission,
    EmissionSimilarity,
    FixedSimilarity,
    GaussianEmission,
    GaussianSimilarity,
    IndependentEmissions,
    LaplacianSimilarity,
    NegativeBinomialDuration,
    PoissonDuration,
    StudentTEmission,
)

RNG = np.random.default_rng(0)
N_STATES = 4


def make_gaussian(n_sequences=5):
    """Return sequences of 12 to 20 steps, in three states far apart."""
    lengths = RNG.integers(12, 21, size=n_sequences)
    return [
        np.repeat(RNG.permutation(3) * 4.0, 7)[:n, np.newaxis] + 0.5 * RNG.normal(size=(n, 2))
        for n in lengths
    ]


def make_symbols(n_sequences=12):
    """Return sequences of symbols and their class, which determines the order of symbols."""
    classes = np.arange(n_sequences) % 2
    keeps = RNG.random((n_sequences, 14)) < 0.8
    blocks, flips = 2 + np.arange(14) // 4 % 2, np.arange(14) % 2
    symbols = np.where(classes[:, np.newaxis], blocks, flips)
    return list(np.where(keeps, symbols, 3 - symbols).astype(float)), classes


def with_gaps(sequences):
    """Return sequences of which every fifth number is missing."""
    flat = np.concatenate(sequences).astype(float)
    flat.ravel()[::5] = np.nan
    return np.split(flat, np.cumsum([len(x) for x in sequences])[:-1])


def columns(x):
    """Return a sequence as an array of a row per step."""
    return np.reshape(x, (len(x), -1))


GAUSSIAN = make_gaussian()
SYMBOLS, CLASSES = make_symbols()
COUNTS = [RNG.poisson(np.repeat([1.0, 9.0, 1.0], 5)).astype(float) for _ in range(3)]
PHI = np.array([[0.5, 0.1, 1.0, 1.0], [1.0, 1.0, 0.2, 0.3], [0.7] * 4, [0.1, 0.2, 0.3, 0.4]])
PLACES = np.tile([[0.0, 0], [3, 0], [0, 3], [3, 3]], (5, 1)) + 0.1 * RNG.normal(size=(20, 2))
PLACES = [PLACES, PLACES[:9]]
BITS = [x > 1.5 for x in PLACES]
BAGS = [RNG.multinomial(4, p, size=15).astype(float) for p in ([0.8, 0.1, 0.1], [0.1, 0.5, 0.4])]
BOTH = [np.column_stack([x[:, 0], np.floor(np.abs(x[:, 1]))]) for x in GAUSSIAN]
GAPS = with_gaps(GAUSSIAN)

MIXED = IndependentEmissions([("events", "poisson", [1]), ("level", GaussianEmission(), [0])])
FACTORS = {"emission": BinaryFactorEmission(2), "similarity": LaplacianSimilarity()}
LASTING = {"duration": PoissonDuration(max_duration=12)}
SHORT = NegativeBinomialDuration(max_duration=9)
NEAR_BITS = {"emission": "bernoulli", "similarity": EmissionSimilarity(decay=2.0)}

MODELS = {
    "gaussian": ({}, GAUSSIAN),
    "sticky": ({"stickiness": "auto", "emission": GaussianEmission("diag")}, GAUSSIAN),
    "categorical": ({"emission": "categorical"}, SYMBOLS),
    "poisson": ({"emission": "poisson", "stickiness": 2.0}, COUNTS),
    "bernoulli": ({"emission": "bernoulli"}, with_gaps(BITS)),
    "student_t": ({"emission": StudentTEmission(5.0)}, GAPS),
    "multinomial": ({"emission": "multinomial"}, BAGS),
    "mixed": ({"emission": MIXED}, BOTH),
    "fixed": ({"emission": "categorical", "similarity": FixedSimilarity(PHI)}, SYMBOLS),
    "near": ({"similarity": "emission", "stickiness": "auto"}, GAPS),
    "near, durations": ({**NEAR_BITS, **LASTING}, BITS),
    "durations": (LASTING, GAUSSIAN),
    "negative binomial": ({"emission": "categorical", "duration": SHORT}, SYMBOLS),
    "locations": ({"similarity": GaussianSimilarity(2)}, GAPS),
    "factors": (FACTORS, with_gaps(PLACES)),
    "autoregressive": ({"emission": "autoregressive", "stickiness": "auto"}, GAUSSIAN),
    "lags, durations": ({"emission": AutoregressiveEmission(2), **LASTING}, GAUSSIAN),
}
"""Parameters and sequences."""

every_model = pytest.mark.parametrize("name", MODELS)


def quick(**params):
    defaults = {"n_components": N_STATES, "max_iter": 12, "thin": 2, "n_samples": 5}
    return HDPHMMLT(**{**defaults, "random_state": 0, **params})


@cache
def fitted(name):
    """Return an estimator of MODELS fitted to a list, and the list. Nobody may change it."""
    params, X = MODELS[name]
    return quick(**params).fit(X), X
