"""Does a long run of a Markov chain have the means that an exact computation gives?

The sweeps are cut into 40 batches; the batch means are taken as independent and normal, so that
(mean - expected) / standard error follows Student's t with 39 degrees of freedom. |z| < 5 fails
a correct sampler once in 80,000 comparisons; the 15,000 of the topic models that count tables raise
a false alarm for one in 5 choices of their seeds, and the seeds are fixed.
"""

import numpy as np

N_SWEEPS = 24_000
N_BATCHES = 40
MAX_Z = 5.0


def z_scores(draws: np.ndarray, expected: np.ndarray, resolution: float | None = None):
    """Compare the mean over axis 0 of correlated draws to what is expected.

    The standard error is at least `resolution`, by default 1 / len(draws), one event in the whole
    run, so that what never moved must agree that closely.
    """
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
