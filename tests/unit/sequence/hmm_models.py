"""Small estimators of every kind and their data, fitted once in a process."""

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
    steps = RNG.random((n_sequences, 14)) < 0.8
    blocks = np.arange(14) // 4 % 2
    flips = np.arange(14) % 2
    symbols = np.where(classes[:, np.newaxis], 2 + blocks, flips)
    return [np.where(s, x, 3 - x).astype(float) for s, x in zip(steps, symbols, strict=True)], (
        classes
    )


GAUSSIAN = make_gaussian()
SYMBOLS, CLASSES = make_symbols()
COUNTS = [RNG.poisson(np.repeat([1.0, 9.0, 1.0], 5)).astype(float) for _ in range(3)]
PHI = np.array([[0.5, 0.1, 1.0, 1.0], [1.0, 1.0, 0.2, 0.3], [0.7] * 4, [0.1, 0.2, 0.3, 0.4]])
BITS = np.tile([[0.0, 0], [3, 0], [0, 3], [3, 3]], (5, 1)) + 0.1 * RNG.normal(size=(20, 2))
BAGS = [RNG.multinomial(4, p, size=15).astype(float) for p in ([0.8, 0.1, 0.1], [0.1, 0.5, 0.4])]


def with_gaps(sequences):
    """Return sequences of which every fifth number is missing."""
    flat = np.concatenate(sequences).astype(float)
    flat.ravel()[::5] = np.nan
    return np.split(flat, np.cumsum([len(x) for x in sequences])[:-1])


MODELS = {
    "gaussian": ({}, GAUSSIAN),
    "sticky": ({"stickiness": "auto", "emission": GaussianEmission("diag")}, GAUSSIAN),
    "categorical": ({"emission": "categorical"}, SYMBOLS),
    "poisson": ({"emission": "poisson", "stickiness": 2.0}, COUNTS),
    "bernoulli": ({"emission": "bernoulli"}, with_gaps([BITS > 1.5, BITS[:9] > 1.5])),
    "student_t": ({"emission": StudentTEmission(5.0)}, with_gaps(GAUSSIAN)),
    "multinomial": ({"emission": "multinomial"}, BAGS),
    "mixed": (
        {
            "emission": IndependentEmissions(
                [("events", "poisson", [1]), ("level", GaussianEmission(), [0])]
            )
        },
        [np.column_stack([x[:, 0], np.floor(np.abs(x[:, 1]))]) for x in GAUSSIAN],
    ),
    "beam": ({"emission": "categorical", "state_sampler": "beam"}, SYMBOLS),
    "fixed": ({"emission": "categorical", "similarity": FixedSimilarity(PHI)}, SYMBOLS),
    "locations": ({"similarity": GaussianSimilarity(2)}, GAUSSIAN),
    "near": ({"similarity": "emission", "stickiness": "auto"}, with_gaps(GAUSSIAN)),
    "near symbols": (
        {"emission": "categorical", "similarity": EmissionSimilarity("bhattacharyya")}, SYMBOLS
    ),
    "near, durations": (
        {
            "emission": "bernoulli",
            "similarity": EmissionSimilarity(decay=2.0),
            "duration": PoissonDuration(max_duration=12),
        },
        [BITS > 1.5, BITS[:9] > 1.5],
    ),
    "factors": (
        {"emission": BinaryFactorEmission(2), "similarity": LaplacianSimilarity()}, [BITS, BITS[:9]]
    ),
    "buffet": (
        {"emission": BinaryFactorEmission("auto"), "similarity": LaplacianSimilarity()},
        [BITS, BITS[:9]],
    ),
    "durations": ({"duration": PoissonDuration(max_duration=12)}, GAUSSIAN),
    "negative binomial": (
        {"emission": "categorical", "duration": NegativeBinomialDuration(max_duration=9)}, SYMBOLS
    ),
    "gaps": ({"similarity": GaussianSimilarity(1)}, with_gaps(GAUSSIAN)),
    "factors, gaps": (
        {"emission": BinaryFactorEmission(2), "similarity": LaplacianSimilarity()},
        with_gaps([BITS, BITS[:9]]),
    ),
    "durations, locations": (
        {"similarity": GaussianSimilarity(2), "duration": PoissonDuration(max_duration=12)},
        GAUSSIAN,
    ),
    "autoregressive": ({"emission": "autoregressive", "stickiness": "auto"}, GAUSSIAN),
    "lags, durations": (
        {"emission": AutoregressiveEmission(2), "duration": PoissonDuration(max_duration=12)},
        GAUSSIAN,
    ),
}  # fmt: skip
OPTIONAL = {
    "fixed": ["similarity_"],
    "locations": ["similarity_", "locations_", "decay_"],
    "near": ["similarity_", "decay_"],
    "near symbols": ["similarity_", "decay_"],
    "near, durations": ["similarity_", "decay_", "duration_"],
    "factors": ["similarity_", "factors_", "decay_"],
    "buffet": ["similarity_", "factors_", "decay_"],
    "durations": ["duration_"],
    "negative binomial": ["duration_"],
    "gaps": ["similarity_", "locations_", "decay_"],
    "factors, gaps": ["similarity_", "factors_", "decay_"],
    "durations, locations": ["similarity_", "locations_", "decay_", "duration_"],
    "lags, durations": ["duration_"],
}
_fits = {}


def arrays(*sequences):
    """Return sequences as arrays: lists of one length would be rows of one sequence."""
    return [np.array(sequence) for sequence in sequences]


def quick(**params):
    defaults = {"n_components": N_STATES, "max_iter": 12, "thin": 2, "n_samples": 5}
    return HDPHMMLT(**{**defaults, "random_state": 0, **params})


def fitted(name):
    """Return an estimator of MODELS fitted to a list, and the list. Nobody may change it."""
    params, X = MODELS[name]
    if name not in _fits:
        _fits[name] = quick(**params).fit(X)
    return _fits[name], X


every_model = pytest.mark.parametrize("name", MODELS)
