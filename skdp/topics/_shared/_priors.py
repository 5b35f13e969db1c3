"""Re-estimation of the Dirichlet priors: one step of Minka's fixed point, in its MAP form.

Symbols: prior alpha_k, counts n_ik of vector i, n_i = sum_k n_ik, A = sum_k alpha_k; Gamma(shape,
rate) prior on every alpha_k. The gradient of the log posterior in alpha_k is

    sum_i [Psi(alpha_k + n_ik) - Psi(alpha_k)] - sum_i [Psi(A + n_i) - Psi(A)]
        + (shape - 1) / alpha_k - rate,

and the fixed point of ``alpha_k <- (shape - 1 + alpha_k up_k) / (rate + down)``, with the two sums
`up` and `down`, is where it vanishes (Minka, 2000; Du, 2012, section 6.5 for the likelihood). As
plain maximum likelihood (no prior) the iteration diverges or sticks at zero on small corpora.
"""

import math

import numpy as np
from numpy.typing import NDArray

from skdp._numba import njit

FLOOR, CEILING = 1e-6, 1e8
"""Re-estimated priors stay between: at zero a topic could never come back, and beyond the ceiling
weights of topics would overflow single precision."""

_EXACT = 32


@njit
def _digamma(x):
    """Return Psi(x), x > 0: recurrence up to 8, then the asymptotic series (error below 1e-13)."""
    result = 0.0
    while x < 8.0:
        result -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (
        1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * 691 / 32760))))
    )
    return result + math.log(x) - 0.5 / x - series


@njit
def _sum_ups(prior, counts, ups):
    """Write sum_i [Psi(prior_k + counts_ik) - Psi(prior_k)] of every column k to `ups` (K,).

    Small counts, nearly all of them, are looked up in a table of the partial sums of 1 / (x + m).
    """
    n_columns = counts.shape[1]
    table = np.empty((n_columns, _EXACT + 1))
    for k in range(n_columns):
        table[k, 0] = 0.0
        for m in range(_EXACT):
            table[k, m + 1] = table[k, m] + 1.0 / (prior[k] + m)
        ups[k] = 0.0
    for i in range(counts.shape[0]):
        for k in range(n_columns):
            n = counts[i, k]
            if n <= _EXACT:
                ups[k] += table[k, n]
            else:
                ups[k] += _digamma(prior[k] + n) - _digamma(prior[k])


@njit
def _sum_downs(x, totals):
    """Return sum_i [Psi(x + totals_i) - Psi(x)]."""
    at_zero = _digamma(x)
    result = 0.0
    for i in range(totals.shape[0]):
        if totals[i] > 0:
            result += _digamma(x + totals[i]) - at_zero
    return result


@njit
def _count_values(values, frequencies):
    """Add to `frequencies` how often each positive value occurs in the flat array `values`."""
    for i in range(values.shape[0]):
        n = int(values[i])
        if n > 0:
            frequencies[n] += 1


def tells_apart(prior: NDArray[np.float64] | str) -> bool:
    """Tell whether a Dirichlet prior is given, in numbers that differ."""
    return not isinstance(prior, str) and bool(np.ptp(prior) > 0.0)


def update_dirichlet(
    prior: NDArray[np.float64],
    counts: NDArray[np.integer],
    shape: float,
    rate: float,
    symmetric: bool,
) -> NDArray[np.float64]:
    """Return the Dirichlet prior after one step of the MAP fixed point.

    Parameters
    ----------
    prior : (K,) array
        alpha; all entries equal if `symmetric`.
    counts : (n_vectors, K) array of int
        What was drawn from each Dirichlet vector.
    shape, rate : float
        Of the Gamma prior on each alpha_k (on their common value if `symmetric`).
    symmetric : bool
        Whether all alpha_k are one parameter.

    Returns
    -------
    (K,) array, from `FLOOR` to `CEILING`.
    """
    prior = np.asarray(prior, dtype=np.float64)
    ups = np.empty_like(prior)
    _sum_ups(prior, counts, ups)
    down = _sum_downs(prior.sum(), counts.sum(axis=1, dtype=np.float64))
    if symmetric:
        new = (shape - 1.0 + prior[0] * ups.sum()) / (rate + prior.size * down)
        return np.full_like(prior, min(max(new, FLOOR), CEILING))
    return np.clip((shape - 1.0 + prior * ups) / (rate + down), FLOOR, CEILING)


def update_symmetric_dirichlet(
    prior: float,
    values: NDArray[np.number],
    totals: NDArray[np.float64],
    length: int,
    shape: float,
    rate: float,
) -> float:
    """Return the common value of a symmetric Dirichlet prior after one step of the fixed point.

    The same as `update_dirichlet` with ``symmetric=True``, for long vectors: only the frequencies
    of the counts' values matter.

    Parameters
    ----------
    prior : float
    values : array of whole numbers
        All counts, in any order; zeros may be left out.
    totals : (n_vectors,) array
        Their sum over each vector. Vectors without any count have no effect.
    length : int
        Of a vector.
    shape, rate : float

    Returns
    -------
    float, from `FLOOR` to `CEILING`.
    """
    largest = int(values.max(initial=0))
    frequencies = np.zeros(largest + 1, dtype=np.int64)
    _count_values(np.ravel(values, order="K"), frequencies)
    at_least = np.cumsum(frequencies[:0:-1])[::-1]  # counts that are >= 1, 2, ...
    up = float(np.sum(at_least / (prior + np.arange(largest))))
    down = length * _sum_downs(prior * length, totals)
    return min(max((shape - 1.0 + prior * up) / (rate + down), FLOOR), CEILING)
