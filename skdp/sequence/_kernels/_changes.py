r"""Divisions of a series into parts: the evidence of spans, and sums over all divisions.

A span (i, j) holds the steps i to j - 1. Its evidence follows from running sums of statistics,
which have a second row of rounding errors, so that a difference of two sums is exact for the span
however far from the beginning, or however large the values before it.

| name | symbol | shape | meaning |
|---|---|---|---|
| starts, ends | i, j | (n,) | spans |
| logs | log L(i, j) | (n,) | evidence of the spans, in nats |
| sums | | (C, 2, S, T + 1) | running sums and their rounding errors, of each column |
| counts | | (T + 1, V) | running sums of counts of cells |
| rows | | (T + 1, G) | weights of the G probabilities of a change at a boundary; they sum to 1 |
| bases | | (T + 1,) | logarithms of what the rows were divided by |
| stays | (1 - rho)^k | (T + 1, G) | of k gaps without a change, relative to the smallest rho |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

from skdp._numeric import Floats
from skdp._numeric._arithmetic import fast_exp, fast_log
from skdp._numeric._numba import njit_inlined, njit_loop

# Statistics of a Gaussian span, in the order of the rows of `sums`.
SEEN, FRESH, F0F0, F0Y, YY, F0F1, F1F1, F1Y = range(8)

N_RESULTS = 7
"""Level, slope, b, the elements 00, 01 and 11 of (F'F + 1 / tau)^-1, and a: the posterior."""


class SpanPrior(NamedTuple):
    """Settings of Gaussian spans, of which `gaussian_evidence` tells."""

    phi: float
    is_linear: bool
    tau0: float
    tau1: float
    b0: float
    shape: float
    table: Floats  # of what depends only on the number of values


@njit_loop
def add_up_exactly(terms, sums, errors):
    """Write the running sums of terms (S, T), and what they lack, to (S, T + 1) each."""
    for s in range(terms.shape[0]):
        total = error = 0.0
        sums[s, 0] = errors[s, 0] = 0.0
        for t in range(terms.shape[1]):
            x = terms[s, t]
            after = total + x
            part = after - total
            error += (total - (after - part)) + (x - part)
            total = after
            sums[s, t + 1], errors[s, t + 1] = total, error


@njit_inlined
def difference(sums, begin, end, s):
    """Return the sum of a statistic over steps begin to end - 1."""
    return (sums[0, s, end] - sums[0, s, begin]) + (sums[1, s, end] - sums[1, s, begin])


@njit_inlined
def gaussian_evidence(i, j, sums, y, prior, out):
    """Return the log evidence of one column; write its posterior to out (N_RESULTS,).

    y = F w + e, with F = (1, t - i), w ~ N(0, s2 diag(tau)), s2 ~ IG(a0, b0), and e an
    autoregression of order one with coefficient phi that starts in each part from its stationary
    distribution.
    """
    phi, is_linear, tau0, tau1, b0, shape, table = prior
    free = 1.0 - phi * phi
    n = difference(sums, i + 1, j, SEEN)
    fresh = difference(sums, i + 1, j, FRESH)
    g00 = difference(sums, i + 1, j, F0F0)
    r0 = difference(sums, i + 1, j, F0Y)
    square = difference(sums, i + 1, j, YY)
    first = y[i]
    if first == first:  # observed
        n += 1.0
        fresh += 1.0
        g00 += free
        r0 += free * first
        square += free * first * first
    if n == 0.0:
        out[0] = out[1] = out[4] = 0.0
        out[2], out[3], out[5], out[6] = b0, tau0, tau1 if is_linear else 0.0, shape
        return 0.0
    a00 = g00 + 1.0 / tau0
    if is_linear:
        g01 = difference(sums, i + 1, j, F0F1)
        g11 = difference(sums, i + 1, j, F1F1)
        r1 = difference(sums, i + 1, j, F1Y) - i * r0
        if first == first:  # the first step of a part is its origin, with t - i = 0
            origin = i * free
            g01 += origin
            g11 += i * origin
            r1 += origin * first
        g11 += i * i * g00 - 2.0 * i * g01
        g01 -= i * g00
        a11 = g11 + 1.0 / tau1
        determinant = a00 * a11 - g01 * g01
        out[0] = (a11 * r0 - g01 * r1) / determinant
        out[1] = (a00 * r1 - g01 * r0) / determinant
        explained = out[0] * r0 + out[1] * r1
        log_determinant = math.log(determinant * tau0 * tau1)
        out[3], out[4], out[5] = a11 / determinant, -g01 / determinant, a00 / determinant
    else:
        out[0], out[1] = r0 / a00, 0.0
        explained = out[0] * r0
        log_determinant = math.log(a00 * tau0)
        out[3], out[4], out[5] = 1.0 / a00, 0.0, 0.0
    out[2] = b0 + 0.5 * max(square - explained, 0.0)
    out[6] = shape + 0.5 * n
    half = 0.5 * fresh * math.log(free) if phi != 0.0 else 0.0
    return table[int(n)] + half - 0.5 * log_determinant - out[6] * math.log(out[2])


@njit_loop
def weigh_gaussian(starts, ends, sums, values, prior, out, logs):
    """Write the log evidence of Gaussian spans: the sum over columns. out is scratch."""
    for k in range(starts.shape[0]):
        total = 0.0
        for c in range(sums.shape[0]):
            total += gaussian_evidence(starts[k], ends[k], sums[c], values[c], prior, out)
        logs[k] = total


@njit_loop
def weigh_complete_gaussian(
    starts, ends, sums, values, phi, is_linear, b0, by_length, squares, logs
):
    """As `weigh_gaussian`, if no value is missing: what depends on the length only is known.
    `by_length` (T + 1, 5): the elements of (F'F + 1 / tau)^-1, what is left of the log, and a.
    """
    n, n_columns = starts.shape[0], sums.shape[0]
    free = 1.0 - phi * phi
    logs[:] = 0.0
    for c in range(n_columns):
        for k in range(n):
            i, j = starts[k], ends[k]
            inverse, first = by_length[j - i], values[c, i]
            r0 = difference(sums[c], i + 1, j, F0Y) + free * first
            square = difference(sums[c], i + 1, j, YY) + free * first * first
            square -= inverse[0] * r0 * r0
            if is_linear:
                r1 = difference(sums[c], i + 1, j, F1Y) + i * free * first - i * r0
                square -= (2.0 * inverse[1] * r0 + inverse[2] * r1) * r1
            squares[k] = b0 + 0.5 * max(square, 0.0)
        for k in range(n):  # apart, so that it can be vectorized
            logs[k] += fast_log(squares[k])
    for k in range(n):
        inverse = by_length[ends[k] - starts[k]]
        logs[k] = n_columns * inverse[3] - inverse[4] * logs[k]


@njit_loop
def fit_gaussian(starts, ends, sums, values, prior, coefficients):
    """Write the posterior of spans, (n, C, N_RESULTS)."""
    for k in range(starts.shape[0]):
        for c in range(sums.shape[0]):
            gaussian_evidence(starts[k], ends[k], sums[c], values[c], prior, coefficients[k, c])


@njit_loop
def weigh_poisson(starts, ends, counts, seen, shape, rates, logs):
    """Write the log evidence of spans of Poisson counts, without the factorials of the counts."""
    for k in range(starts.shape[0]):
        i, j = starts[k], ends[k]
        total = 0.0
        for c in range(counts.shape[1]):
            a = shape + counts[j, c] - counts[i, c]
            b = rates[c] + seen[j, c] - seen[i, c]
            total += shape * math.log(rates[c]) - math.lgamma(shape) + math.lgamma(a)
            total -= a * math.log(b)
        logs[k] = total


@njit_inlined
def log_rise(prior, n, table):
    """Return log Gamma(prior + n) - log Gamma(prior)."""
    if n < table.shape[0]:
        return table[n]
    return math.lgamma(prior + n) - math.lgamma(prior)


@njit_loop
def weigh_cells(starts, ends, counts, totals, prior, priors, cell_table, total_tables, logs):
    """Write the log evidence of spans of Dirichlet-multinomial counts, without coefficients.
    `prior` is that of a cell; `totals` and `priors` are the sums of groups of cells.
    """
    for k in range(starts.shape[0]):
        i, j = starts[k], ends[k]
        total = 0.0
        for v in range(counts.shape[1]):
            n = counts[j, v] - counts[i, v]
            if n > 0:
                total += log_rise(prior, n, cell_table)
        for g in range(totals.shape[1]):
            n = totals[j, g] - totals[i, g]
            total -= log_rise(priors[g], n, total_tables[g])
        logs[k] = total


# Sums over divisions. At a boundary, the sum over all divisions of one side is
# exp(base) row[g] for each probability of a change.


@njit_loop
def sum_spans(logs, places, lengths, bases, rows, largest_rows, log_stay, stays, shares, sums):
    """Add up spans from (or to) boundaries `places`; return the base of the result.

    `lengths` are the gaps of a span without a change that might have come, `log_stay` is log(1 -
    rho) of the smallest rho, `largest_rows` (T + 1,) the sums of rows. Writes the row of the result
    to `sums` (G,), and an upper bound of the share of each span to `shares`.
    """
    n, n_rates = logs.shape[0], sums.shape[0]
    largest = -math.inf
    for k in range(n):
        shares[k] = bases[places[k]] + logs[k] + lengths[k] * log_stay
        largest = max(largest, shares[k])
    for k in range(n):
        x = shares[k] - largest
        shares[k] = fast_exp(x) if x > -690.0 else 0.0
    sums[:] = 0.0
    for k in range(n):
        place, weight = places[k], shares[k]
        row, stay = rows[place], stays[lengths[k]]
        for g in range(n_rates):
            sums[g] += weight * row[g] * stay[g]
        shares[k] = weight * largest_rows[place]
    total = 0.0
    for g in range(n_rates):
        total += sums[g]
    for g in range(n_rates):
        sums[g] /= total
    for k in range(n):
        shares[k] /= total
    return largest + math.log(total)


@njit_loop
def add_numbers(logs, places, bases, means, firsts, numbers, room, out):
    """Write the distribution of the number of parts up to a boundary to out (K,).

    `numbers` (T + 1, K) has those of earlier boundaries, from `firsts` (T + 1,) on, and `means` has
    their means. Returns the log sum of the spans, the mean, and the first number of `out`; numbers
    that do not fit are left out. Overwrites `logs`; room (3 K,) is scratch.
    """
    n, width = logs.shape[0], out.shape[0]
    largest = -math.inf
    for k in range(n):
        logs[k] += bases[places[k]]
        largest = max(largest, logs[k])
    total = mean = 0.0
    for k in range(n):
        logs[k] = fast_exp(logs[k] - largest)
        total += logs[k]
    for k in range(n):
        logs[k] /= total
        mean += logs[k] * (means[places[k]] + 1.0)
    first = max(0, int(mean) - width // 2)
    room[:] = 0.0
    for k in range(n):
        shift = firsts[places[k]] + 1 - first
        if -width <= shift <= width:
            weight, before = logs[k], numbers[places[k]]
            begin = shift + width
            for m in range(width):
                room[begin + m] += weight * before[m]
    for m in range(width):
        out[m] = room[width + m]
    return largest + math.log(total), mean, first
