"""Does a long run of a Markov chain have the means that an exact computation gives?

The sweeps are cut into 40 batches; the batch means are taken as independent and normal, so that
(mean - expected) / standard error follows Student's t with 39 degrees of freedom. |z| < 5 fails
a correct sampler once in 80,000 comparisons; the 15,000 of the topic models that count tables raise
a false alarm for one in 5 choices of their seeds, and the seeds are fixed.

`check_chain` looks after a quarter of the sweeps, and goes on only if the largest |z| is one that a
correct sampler exceeds in at most one of five runs. A wrong one with |z| = 10 after all sweeps has
about 5 after a quarter, so it is not lost there; errors that a test only just sees may be, and the
wrong patches show whether they are."""

from collections.abc import Callable, Iterable

import numpy as np
from scipy import stats

N_SWEEPS = 24_000
N_BATCHES = 40
MAX_Z = 5.0
GO_ON = 0.2
"""Probability that a correct chain is not done after a quarter of its sweeps, at most."""


def z_scores(draws: np.ndarray, expected: np.ndarray, resolution: float | None = None):
    """Compare the mean over axis 0 of correlated draws to what is expected. The standard error is
    at least `resolution`, by default 1 / len(draws), one event in the whole run, so that what never
    moved must agree that closely."""
    draws = np.asarray(draws, dtype=float)
    batches = draws[: len(draws) // N_BATCHES * N_BATCHES]
    means = batches.reshape(N_BATCHES, -1, *draws.shape[1:]).mean(axis=1)
    error = means.std(axis=0, ddof=1) / np.sqrt(N_BATCHES)
    floor = 1.0 / len(draws) if resolution is None else resolution
    return (means.mean(axis=0) - expected) / np.maximum(error, floor)


def assert_means(draws, expected, what: str = "mean", resolution: float | None = None) -> None:
    draws = np.asarray(draws, dtype=float)
    expected = np.asarray(expected, dtype=float)
    assert draws.shape[1:] == expected.shape, f"{what}: {draws.shape[1:]} is not {expected.shape}"
    z = np.abs(z_scores(draws, expected, resolution))
    assert np.all(z < MAX_Z), (
        f"{what}: |z| = {z.max():.1f}\nexpected\n{expected}\nfound\n{draws.mean(axis=0)}"
    )


def check_chain(step: Callable, compare: Callable, n_sweeps: int = N_SWEEPS) -> tuple:
    """Compare means over a chain to what is expected; return its draws. `step` runs a sweep, and
    returns a number or an array of the new state, or a tuple of these. `compare` gets the draws of
    each of them, stacked, (n, ...), and yields or returns comparisons: tuples of draws, what is
    expected of them, and a name, as for `assert_means`. `n_sweeps` are done if the first quarter
    leaves a doubt."""
    records: list[tuple] = []
    for n in (n_sweeps // 4, n_sweeps):
        while len(records) < n:
            record = step()
            records.append(record if isinstance(record, tuple) else (record,))
        draws = tuple(map(np.array, zip(*records, strict=True)))
        if _is_close(compare(*draws)):
            break
    for comparison in compare(*draws):
        assert_means(*comparison)
    return draws


def _is_close(comparisons: Iterable) -> bool:
    """Return whether all means are as close to what is expected as those of four in five chains."""
    found = [np.ravel(z_scores(draws, expected)) for draws, expected, *_ in comparisons]
    z = np.abs(np.concatenate(found))
    return z.max(initial=0.0) < stats.t.isf(0.5 * GO_ON / max(1, z.size), N_BATCHES - 1)
