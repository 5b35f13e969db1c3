"""Small panels of all kinds of observations, for fits to partitions."""

import numpy as np

from skdp.data import SequencePanel
from skdp.emissions import IndependentEmissions
from skdp.utils._checking import same_fit as assert_same  # noqa: F401

LENGTHS = (40, 1, 70, 30, 55, 120, 9)
N_STATES = 4


def draw_panel(kind, lengths=LENGTHS):
    """Return sequences of four states that last ten steps."""
    if kind == "autoregressive":  # something has to follow the first step
        lengths = np.maximum(lengths, 2)
    rng = np.random.default_rng(1)
    states = [np.repeat(rng.integers(0, N_STATES, n // 10 + 1), 10)[:n] for n in lengths]
    z = np.concatenate(states)
    if kind == "poisson":
        values = rng.poisson(np.array([[1, 9], [5, 2], [20, 1], [3, 3]])[z]).astype(float)
    elif kind == "bernoulli":
        values = (rng.random((len(z), 5)) < rng.random((N_STATES, 5))[z]).astype(float)
        values[rng.random(values.shape) < 0.1] = np.nan
    elif kind == "categorical":
        values = (rng.integers(0, 3, len(z)) + 2.0 * z).reshape(-1, 1)
    elif kind == "multinomial":
        probs = rng.dirichlet(np.full(5, 0.5), N_STATES)
        values = rng.multinomial(rng.integers(0, 9, len(z)), probs[z]).astype(float)
        values[rng.random(len(z)) < 0.1] = np.nan
    elif kind == "autoregressive":
        maps = 0.9 * rng.choice([-1.0, 1.0], (N_STATES, 3))
        values = rng.normal(size=(len(z), 3))
        for t in range(1, len(z)):
            values[t] += maps[z[t]] * values[t - 1]
    else:
        values = rng.normal(size=(len(z), 3)) + 3.0 * rng.normal(size=(N_STATES, 3))[z]
    if kind == "mixed":
        counts, bits = rng.poisson(1.0 + 4.0 * z), rng.random((len(z), 2)) < 0.2 + 0.2 * z[:, None]
        others = rng.normal(size=(len(z), 2)) - 2.0 * z[:, None]
        others[rng.random(others.shape) < 0.1] = np.nan
        values[rng.random(values.shape) < 0.1] = np.nan
        values = np.column_stack([values, others, z % 3, bits, counts])
    if kind == "missing":
        values[rng.random(values.shape) < 0.1] = np.nan
        values[50:53] = np.nan
    return SequencePanel(values, np.cumsum([0, *lengths]))


KINDS = [
    *("gaussian", "missing", "autoregressive", "poisson"),
    *("bernoulli", "categorical", "multinomial", "mixed"),
]
"""The draws of `draw_panel`."""

MIXED = IndependentEmissions(
    [
        ("place", "gaussian", [0, 1, 2]),
        ("counts", "poisson", [8]),
        ("other place", "gaussian", [4, 3]),
        ("symbol", "categorical", [5]),
        ("bits", "bernoulli", [6, 7]),
    ]
)

EMISSIONS = {kind: kind for kind in KINDS} | {"missing": "gaussian", "mixed": MIXED}
"""Their possible sources."""
