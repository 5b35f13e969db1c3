"""Re-estimation of the Dirichlet priors: one step of Minka's fixed point, in its MAP form.

Symbols: prior alpha_k, counts n_ik of vector i, n_i = sum_k n_ik, A = sum_k alpha_k; Gamma(shape,
rate) prior on every alpha_k or their common value. The gradient of the log posterior in alpha_k is

    sum_i [Psi(alpha_k + n_ik) - Psi(alpha_k)] - sum_i [Psi(A + n_i) - Psi(A)]
        + (shape - 1) / alpha_k - rate,

and the fixed point of ``alpha_k <- (shape - 1 + alpha_k up_k) / (rate + down)``, with the two sums
`up` and `down`, is where it vanishes (Minka, 2000; Du, 2012, section 6.5 for the likelihood). As
plain maximum likelihood (no prior) the iteration diverges or sticks at zero on small corpora.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit

FLOOR, CEILING = 1e-6, 1e8
"""Bounds of re-estimated priors: a topic could never return from zero, and beyond the upper bound
weights of topics would overflow single precision."""

_EXACT = 32

_SMALL = 64
"""Smaller counts are counted in an array, others are sorted."""

_MOST = 2**20
"""Larger counts are so rare that each is treated separately: an array up to them would be
large."""

_SHIFT = 40
"""Number of bits of a count in a key of `Frequencies`."""


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
def _rise(x, n):
    """Return Psi(x + n) - Psi(x); for small n, the usual case, by the sum of 1 / (x + m)."""
    if n > _EXACT:
        return _digamma(x + n) - _digamma(x)
    result = 0.0
    for m in range(n):
        result += 1.0 / (x + m)
    return result


@njit
def _sum_ups(prior, keys, times, ups):
    """Add sum_i [Psi(prior_k + counts_ik) - Psi(prior_k)] of every column k to `ups` (K,)."""
    for i in range(keys.shape[0]):
        k = keys[i] >> _SHIFT
        if k < prior.shape[0]:
            ups[k] += times[i] * _rise(prior[k], keys[i] - (k << _SHIFT))


@njit
def _count_small(counts, frequencies):
    """Count the small values of every column, (K, _SMALL); return the number of larger ones."""
    n_large = 0
    for i in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            n = counts[i, k]
            if n < _SMALL:
                frequencies[k, n] += 1
            else:
                n_large += 1
    return n_large


@njit
def _sum_downs(x, totals, times):
    """Return sum_i times_i [Psi(x + totals_i) - Psi(x)]."""
    at_zero = _digamma(x)
    result = 0.0
    for i in range(totals.shape[0]):
        if totals[i] > 0:
            result += times[i] * (_digamma(x + totals[i]) - at_zero)
    return result


@njit
def _count_values(values, frequencies):
    """Add the number of occurrences of each value to `frequencies` (4, n)."""
    # Four tables take turns: adding to the cell just written, mostly that of zeros, would stall.
    n_quarters = values.shape[0] // 4
    for i in range(n_quarters):
        for lane in range(4):
            frequencies[lane, int(values[4 * i + lane])] += 1
    for i in range(4 * n_quarters, values.shape[0]):
        frequencies[0, int(values[i])] += 1


@dataclass(frozen=True)
class Frequencies:
    """Frequencies of each count in every column of tables of counts, and of each row sum.

    They are sufficient for an update, and integers, so those of the parts of a table add up, in any
    order, to the same bits as those of the whole.
    """

    keys: NDArray[np.int64]  # column x 2^40 + count > 0, in order; row sums are in the last column
    times: NDArray[np.int64]  # number of occurrences of each key
    n_columns: int

    def __add__(self, other: Frequencies) -> Frequencies:
        keys = np.concatenate([self.keys, other.keys])
        times = np.concatenate([self.times, other.times])
        keys, places = np.unique(keys, return_inverse=True)
        sums = np.zeros(len(keys), dtype=np.int64)
        np.add.at(sums, places, times)
        return Frequencies(keys, sums, self.n_columns)

    def sums(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the distinct non-zero row sums, and their numbers of occurrences."""
        first = int(np.searchsorted(self.keys, self.n_columns << _SHIFT))
        return (self.keys[first:] - (self.n_columns << _SHIFT)).astype(float), self.times[first:]


def count_frequencies(tables: Iterable[NDArray[np.integer]], n_columns: int) -> Frequencies:
    """Return the frequencies of a table of counts, (n, `n_columns`), from its parts."""
    small = np.zeros((n_columns, _SMALL), dtype=np.int64)
    large, sums = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for counts in tables:
        if _count_small(counts, small):
            rows, columns = np.nonzero(counts >= _SMALL)
            large.append((columns << _SHIFT) + counts[rows, columns].astype(np.int64))
        sums.append(counts.sum(axis=1, dtype=np.int64) + (n_columns << _SHIFT))
    columns, values = np.nonzero(small)
    found = [((columns << _SHIFT) + values, small[columns, values])]
    found += [np.unique(np.concatenate(keys), return_counts=True) for keys in (large, sums)]
    keys, times = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(keys)
    order = order[keys[order] & ((1 << _SHIFT) - 1) > 0]
    return Frequencies(keys[order], times[order], n_columns)


def tells_apart(prior: NDArray[np.float64] | str) -> bool:
    """Return whether a Dirichlet prior is given as numbers that differ."""
    return not isinstance(prior, str) and bool(np.ptp(prior) > 0.0)


def update_dirichlet(
    prior: NDArray[np.float64],
    counts: NDArray[np.integer],
    shape: float,
    rate: float,
    symmetric: bool,
) -> NDArray[np.float64]:
    """Return the Dirichlet prior after one step of the fixed point, given counts (n_vectors, K)."""
    frequencies = count_frequencies([counts], counts.shape[1])
    return update_by_frequencies(prior, frequencies, shape, rate, symmetric)


def update_by_frequencies(
    prior: NDArray[np.float64],
    frequencies: Frequencies,
    shape: float,
    rate: float,
    symmetric: bool,
) -> NDArray[np.float64]:
    """Return the Dirichlet prior, in [FLOOR, CEILING], after one step of the MAP fixed point."""
    prior = np.asarray(prior, dtype=np.float64)
    ups = np.zeros_like(prior)
    _sum_ups(prior, frequencies.keys, frequencies.times, ups)
    down = _sum_downs(prior.sum(), *frequencies.sums())
    if symmetric:
        new = (shape - 1.0 + prior[0] * ups.sum()) / (rate + prior.size * down)
        return np.full_like(prior, min(max(new, FLOOR), CEILING))
    return np.clip((shape - 1.0 + prior * ups) / (rate + down), FLOOR, CEILING)


def sum_rises(prior: float, values: NDArray[np.number]) -> float:
    """Return the sum of Psi(prior + n) - Psi(prior) over counts n; zeros may be left out."""
    largest, rest = int(values.max(initial=0)), 0.0
    if largest > _MOST:
        at_most = _digamma(prior + _MOST)
        rest = sum(_digamma(prior + float(n)) - at_most for n in values[values > _MOST])
        values, largest = np.minimum(values, _MOST), _MOST
    frequencies = np.zeros((4, largest + 1), dtype=np.int64)
    _count_values(np.ravel(values, order="K"), frequencies)
    at_least = np.cumsum(frequencies.sum(axis=0)[:0:-1])[::-1]  # counts that are >= 1, 2, ...
    return float(np.sum(at_least / (prior + np.arange(largest))) + rest)


def update_symmetric_dirichlet(
    prior: float,
    rises: float,  # `sum_rises` of this prior and all counts, less that of the seeds
    totals: NDArray[np.float64],  # sums of the counts of vectors, with seeds; 0 has no effect
    length: int,  # of a vector
    shape: float,
    rate: float,
    seed_totals: NDArray[np.float64] | None = None,  # of pseudo-counts, which are part of the prior
) -> float:
    """Return the common value that a symmetric `update_dirichlet` finds, but for long vectors."""
    down = length * _sum_downs(prior * length, totals, np.ones(len(totals), dtype=np.int64))
    if seed_totals is not None:
        ones = np.ones(len(seed_totals), dtype=np.int64)
        down -= length * _sum_downs(prior * length, seed_totals, ones)
    return min(max((shape - 1.0 + prior * rises) / (rate + down), FLOOR), CEILING)
