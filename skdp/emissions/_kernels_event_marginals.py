r"""Sums of probabilities of numbers of events.

P(k + 1) / P(k) = m (a + s k) / ((k + 1) (b + s (m - 1))), m = n - k, where s = 1 for beta-binomial
counts, with probabilities ~ Beta(a, b), and s = 0, a = p, b = 1 - p for binomial ones.

Millions of steps must not add up their rounding. a + k has the same one for thousands of k in a
row; m (k + 1) + (a - 1) m has not.

| name | symbol | shape | meaning |
|---|---|---|---|
| numbers | n | (K,) int64 | numbers of all events |
| starts | | (K, J) int64 | the likeliest number k from `first` to `last` of each n and state |
| probs | P | (K, J) | probabilities of these |
| a, b | | (J,) | shapes, or probabilities |
| slope | s | | 1 or 0 |
| first, last | | | which k count |
| shift | | | k goes to row (k - first) / 2^shift |
| out | | (R, J) | added to |
"""

# mypy: ignore-errors

from skdp._numba import njit_loop

NEGLIGIBLE = 1e-20

FEW = 64
"""Below, a + k is rounded in as many ways as there are k."""


@njit_loop
def weigh_next(k, m, a, slope):
    """Return m (a + s k)."""
    if k < FEW:
        return m * (a + slope * k)
    return slope * (m * (k + 1.0)) + (a - slope) * m


@njit_loop
def add_numbers_of_events(numbers, starts, probs, a, b, slope, first, last, shift, out):
    """Add the probabilities of the numbers of events from `first` to `last`.

    From the likeliest one both ways, until all that is left is less than 1e-20. (Where both shapes
    are below 1, probabilities fall and rise again, but never so low: shapes are at least 1e-8.)
    """
    for i in range(numbers.shape[0]):
        n = numbers[i]
        end, least = min(n, last), NEGLIGIBLE / (n + 1.0)
        for j in range(out.shape[1]):
            if probs[i, j] <= 0.0:
                continue
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
