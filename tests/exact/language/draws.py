"""Draws of chains and of samples, compared to what is expected of them."""

from collections.abc import Callable, Mapping

import numpy as np
from exact.oracles.batch_means import N_SWEEPS, check_chain
from scipy.stats import chi2

BURN_IN = 400


def check_states(
    estimator, data: tuple, record: Callable, expected: Mapping, n_sweeps: int = N_SWEEPS
) -> None:
    """Compare means over the states of a chain, after its burn-in, to what is expected. `record`
    returns an array of a state, or a tuple of these; `expected` has their means by name."""
    states = estimator.set_params(max_iter=BURN_IN + n_sweeps).iter_sweeps(*data)
    for _ in range(BURN_IN):
        next(states)

    def compare(*draws):
        return zip(draws, expected.values(), expected, strict=True)

    check_chain(lambda: record(next(states)), compare, n_sweeps)


def check_counts(found: np.ndarray, expected: np.ndarray, what: str = "counts") -> None:
    """Compare counts to their expectations; a false alarm once in a million, by chi-square."""
    rare = expected < 10.0
    if rare.any():
        found = np.append(found[~rare], found[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    far = ((found - expected) ** 2 / np.maximum(expected, 1.0)).sum()
    assert len(found) == 1 or chi2.sf(far, len(found) - 1) > 1e-6, what
