r"""Cumulative probabilities of numbers of events.

P(k + 1) / P(k) = m (a + s k) / ((k + 1) (b + s (m - 1))), m = n - k, where s = 1 for beta-binomial
counts, with probabilities ~ Beta(a, b), and s = 0, a = p, b = 1 - p for binomial ones.

Rounding errors must not accumulate over millions of steps. The rounding error of a + k is the same
for thousands of successive k; that of m (k + 1) + (a - 1) m is not.

| name | symbol | shape | meaning |
|---|---|---|---|
| numbers | n | (K,) int64 | numbers of all events |
| starts | | (K, J) int64 | most probable k from `first` to `last` for each n and state |
| probs | P | (K, J) | probabilities of `starts` |
| a, b | | (J,) | shapes, or probabilities |
| slope | s | | 1 or 0 |
| first, last | | | range of k that is added up |
| shift | | | k is added to row (k - first) / 2^shift |
| out | | (R, J) | incremented |

For many events, sums are integrals over panels:

| name | shape | meaning |
|---|---|---|
| edges | (K, J, P + 1) | ascending edges of panels; infinite after the last one |
| before | (K, J, P) | sums over the preceding panels |
| coefs | (K, J, P, C) | Chebyshev series of the sums within panels |
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit, njit_loop

NEGLIGIBLE = 1e-20

FEW = 64
"""Largest k for which the rounding errors of a + k are not systematic."""


@njit_loop
def weigh_next(k, m, a, slope):
    """Return m (a + s k)."""
    if k < FEW:
        return m * (a + slope * k)
    return slope * (m * (k + 1.0)) + (a - slope) * m


@njit_loop
def add_numbers_of_events(numbers, starts, probs, a, b, slope, first, last, shift, out):
    """Add the probabilities of the numbers of events from `first` to `last`.
    The sum runs from the most probable number in both directions, until the rest is below 1e-20.
    """
    for i in range(numbers.shape[0]):
        n = numbers[i]
        end, least = min(n, last), NEGLIGIBLE / (n + 1.0)
        for j in range(out.shape[1]):
            if probs[i, j] <= 0.0:
                continue
            # If both shapes are below 1, probabilities fall and then rise, but never fall that low,
            # because shapes are at least 1e-8.
            k, p = starts[i, j], probs[i, j]
            out[(k - first) >> shift, j] += p
            while k < end and p > least:
                m = n - k
                p *= weigh_next(k, m, a[j], slope) / weigh_next(m - 1, k + 1, b[j], slope)
                k += 1
                out[(k - first) >> shift, j] += p
            k, p = starts[i, j], probs[i, j]
            while k > first and p > least:
                m = n - k
                p *= weigh_next(m, k, b[j], slope) / weigh_next(k - 1, m + 1, a[j], slope)
                k -= 1
                out[(k - first) >> shift, j] += p


MOST_PANELS = 128
"""Upper bound of the number of panels of a distribution."""

LOG_NEGLIGIBLE = -60.0
"""Log probability, relative to the start, below which probabilities are neglected."""


@njit
def _panel_width(k, n, a, b, slope, share_left, share_right):
    """Return the width of a panel at k, and the slope of the logarithm of the probability."""
    m = n - k
    rise = math.log(weigh_next(k, m, a, slope) / weigh_next(m - 1.0, k + 1.0, b, slope))
    if slope > 0.0:
        bend = abs(a - 1.0) / ((k + a) * (k + 1.0)) + abs(b - 1.0) / ((m + b) * (m + 1.0))
    else:
        bend = 1.0 / (k + 1.0) + 1.0 / (m + 1.0)
    width = min(share_left * k, share_right * m, 2.0 / math.sqrt(bend + 1e-300))
    return min(width, 4.0 / (abs(rise) + 1e-300)), rise


@njit
def find_panels(n, start, low, high, a, b, slope, out):
    """Write the edges of panels between `low` and `high`, from a start in both directions."""
    # In a panel, the log probability is nearly parabolic and changes little.
    count = 0
    if a <= 0.0 or b <= 0.0:  # known probabilities of 0 or 1: all mass is at one end
        out[0] = start
        return
    k, log_p = start, 0.0
    while k > low and log_p > LOG_NEGLIGIBLE and count < MOST_PANELS // 2:
        width, rise = _panel_width(k, n, a, b, slope, 0.5, 1.0)
        if k - low - width < 1.0:
            width = k - low
        log_p -= rise * width
        k -= width
        out[count] = k
        count += 1
    out[:count] = out[:count][::-1].copy()
    out[count] = start
    count += 1
    k, log_p = start, 0.0
    while k < high and log_p > LOG_NEGLIGIBLE and count < MOST_PANELS:
        width, rise = _panel_width(k, n, a, b, slope, 1.0, 0.5)
        if high - k - width < 1.0:
            width = high - k
        log_p += rise * width
        k += width
        out[count] = k
        count += 1


@njit
def add_panels(x, edges, before, coefs, out):
    """Add the sums of the probabilities up to each of the numbers x, (X, J)."""
    for i in range(edges.shape[0]):
        for j in range(edges.shape[1]):
            for row in range(x.shape[0]):
                y = x[row] + 0.5
                p = np.searchsorted(edges[i, j], y, side="right") - 1
                if p < 0:
                    continue
                p = min(p, coefs.shape[2] - 1)
                left, right = edges[i, j, p], edges[i, j, p + 1]
                if not right < np.inf:  # after the last panel
                    out[row, j] += before[i, j, p]
                    continue
                t = min(2.0 * (y - left) / (right - left) - 1.0, 1.0)
                first, second = 0.0, 0.0
                for c in range(coefs.shape[3] - 1, 0, -1):
                    first, second = coefs[i, j, p, c] + 2.0 * t * first - second, first
                out[row, j] += before[i, j, p] + coefs[i, j, p, 0] + t * first - second
