r"""Draws of the missing values of autoregressive sequences, given states and parameters.

Given these, a sequence is Gaussian: e_t = W [1, a_t, x_t] is standard normal for each step t, with
W = U_z [-A_z, I] of its state z. Residuals are linear in the missing values m, B m + c, and B is
banded, because a value enters its own step and the L steps after it. With the orthogonal
factorization B = Q R, updated row by row by Givens rotations, m = R^-1 (-Q^T c + noise) is a draw.
Squares of B would lose the digits of long gaps in smooth series.

| name | symbol | shape | meaning |
|---|---|---|---|
| values, ptr | x_t | (N, D), (n + 1,) | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| steps, columns | | (M,), (M,) int64 | missing values, by step and column |
| gap_ptr | | (n + 1,) int64 | missing values of sequence s are gap_ptr[s] to gap_ptr[s + 1] - 1 |
| places | | (N, D) int64 | index of a missing value, or -1 |
| lags | | (n,) int64 | chosen lags, in increasing order |
| whitening | W | (J, D, K + D) | columns: 1, lags, trend, x_t |
| starting_mean, starting_inverse | | (L D,), (L D, L D) | of the first L values, lag 1 first |
| band | R | (M_s, w) | row k begins with R_kk; M_s: most missing values of a sequence, scratch |
| right | -Q^T c | (M_s,) | scratch |
| row | | (w,) | coefficients of an equation, scratch |
| key, first | | (4,) uint64, int | of streams, one per sequence; panel index of the first step |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined_source, njit_loop
from skdp._numeric._random import draw_normal, stream_of_number


@njit_inlined_source
def rotate_in(row, value, lo, n, band, right):
    """Add the equation row . m[lo:lo + n] = value of a sequence to its triangle; change `row`."""
    for i in range(n):
        x = row[i]
        if x == 0.0:
            continue
        own = band[lo + i]
        if own[0] == 0.0:
            for e in range(n - i):
                own[e] = row[i + e]
            right[lo + i] = value
            break
        size = math.sqrt(own[0] * own[0] + x * x)
        c, s = own[0] / size, x / size
        for e in range(n - i):
            a, b = own[e], row[i + e]
            own[e] = c * a + s * b
            row[i + e] = c * b - s * a
        a = right[lo + i]
        right[lo + i] = c * a + s * value
        value = c * value - s * a


@njit_loop
def draw_missing(
    values, ptr, states, steps, columns, gap_ptr, places, lags, has_trend, whitening,
    starting_mean, starting_inverse, first, key, band, right, row, rng,
):  # fmt: skip
    """Draw all missing values of a panel jointly, and write them to `values`."""
    n_dims, n_lags = values.shape[1], lags[-1]
    n_regressors = whitening.shape[2] - n_dims
    for s in range(ptr.shape[0] - 1):
        begin, n = gap_ptr[s], gap_ptr[s + 1] - gap_ptr[s]
        if n == 0:
            continue
        for k in range(n):
            right[k] = 0.0
            for e in range(band.shape[1]):
                band[k, e] = 0.0
        origin = ptr[s]
        if ptr[s + 1] - origin <= n_lags:  # nothing follows: these values are of no use
            for k in range(begin, begin + n):
                values[steps[k], columns[k]] = starting_mean[columns[k]]
            continue
        hi = 0
        while hi < n and steps[begin + hi] < origin + n_lags:
            hi += 1
        if hi > 0:  # the first values have a Gaussian distribution
            for d in range(n_lags * n_dims):
                value = 0.0
                for k in range(hi):
                    row[k] = 0.0
                for e in range(d + 1):
                    t, column = origin + n_lags - 1 - e // n_dims, e % n_dims
                    value += starting_inverse[d, e] * starting_mean[e]
                    if places[t, column] >= 0:
                        row[places[t, column] - begin] += starting_inverse[d, e]
                    else:
                        value -= starting_inverse[d, e] * values[t, column]
                rotate_in(row, value, 0, hi, band, right)
        lo = 0
        for t in range(origin + n_lags, ptr[s + 1]):
            while lo < n and steps[begin + lo] < t - n_lags:
                lo += 1
            while hi < n and steps[begin + hi] <= t:
                hi += 1
            if lo == hi:
                continue
            for d in range(n_dims):
                w = whitening[states[t], d]
                value = -w[0]
                for k in range(hi - lo):
                    row[k] = 0.0
                for i in range(lags.shape[0]):
                    for e in range(n_dims):
                        x, k = w[1 + i * n_dims + e], places[t - lags[i], e]
                        if k >= 0:
                            row[k - begin - lo] += x
                        else:
                            value -= x * values[t - lags[i], e]
                if has_trend:
                    value -= w[n_regressors - 1] * (t - origin + 1)
                for e in range(d + 1):
                    x, k = w[n_regressors + e], places[t, e]
                    if k >= 0:
                        row[k - begin - lo] += x
                    else:
                        value -= x * values[t, e]
                rotate_in(row, value, lo, hi - lo, band, right)
        stream_of_number(key, first + origin, rng)
        for k in range(n - 1, -1, -1):
            x = right[k] + draw_normal(rng)
            for e in range(1, min(band.shape[1], n - k)):
                x -= band[k, e] * values[steps[begin + k + e], columns[begin + k + e]]
            values[steps[begin + k], columns[begin + k]] = x / band[k, 0]
