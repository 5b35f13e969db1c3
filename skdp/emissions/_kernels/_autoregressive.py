r"""Autoregressive vectors: regressions with a conjugate prior, and draws of missing values.

In state j, r_t = M_j p_t + noise of covariance Sigma_j: r are D responses, p are K regressors, the
first of which is a constant. Both are scaled so that the prior is the simplest one, Sigma_j ~
IW(nu, I), and M_j ~ MN(0, Sigma_j, I). Sufficient statistics of a state are the number of its
observations and the products of y_t = [p_t, r_t], a vector of Y = K + D. With L the Cholesky factor
of I plus the sum of y y^T, with blocks L_pp, L_rp and L_rr,

    M_n = L_rp L_pp^-1,   Psi_n = L_rr L_rr^T,   V_n^-1 = L_pp L_pp^T

are the parameters of the posterior, so that one factor determines all of them. A draw is
[E, B] L^-1, where B is Bartlett's triangle and E is standard normal. The product is U [-M, I] with
U^T U = Sigma^-1, which maps y_t to D independent standard normal numbers.

| name | symbol | shape | meaning |
|---|---|---|---|
| values, ptr | x_t | (N, D), (n + 1,) | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| rows | y_t | (N, Y - 1) float64 | without the constant; NaN in given steps |
| first | | float | the constant |
| states | z_t | (N,) integers | -1: no state |
| counts, centers, scatter | | (J,), (J, Y - 1), (J, Y - 1, Y - 1) | of the rows of a state |
| products | | (J, Y, Y) | sum of y y^T; lower triangle |
| dof | nu | float | |
| maps | U [-M, I] | (J, D, Y) | of a draw; lower triangular in its last D columns |
| inverses | L^-1 | (J, Y, Y) | lower triangular |
| log_dets | | (J,) | log det U, or log det L_rr^-1 |
| shift | | float | added to the log density of each observation, for its scale |
| coefs, precision_root, scale_root | | (D, K), (K, K), (D, D) | prior: M, roots of C and S |
| factor | L | (Y, Y) | scratch |
| by_state, offsets | | (n, Y - 1, J), (n, J) | n rows of maps, over sqrt 2: see `lay_out_rows` |
| log_obs | log L_tj | (N, J) | log p(x_t given state j and earlier steps), output; 0 if given |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import (
    njit_inlined,
    njit_inlined_source,
    njit_internal_nogc,
    njit_loop,
    njit_outlined,
)
from skdp._numeric._random import draw_gamma, draw_normal, stream_of_number
from skdp.emissions._kernels import _gaussian as gaussian

# Statistics


@njit_inlined_source
def solve(root, first, x):
    """Replace x by the solution of T y = x, where T is the triangle root[first:, first:]."""
    for d in range(x.shape[0]):
        y = x[d]
        for e in range(d):
            y -= root[first + d, first + e] * x[e]
        x[d] = y / root[first + d, first + d]


@njit_loop
def write_rows(values, ptr, lags, has_trend, coefs, precision_root, scale_root, rows):
    """Write regressors and residuals of all steps under the prior, in units of the prior."""
    n_dims, n_lags = values.shape[1], lags[-1]
    n_lagged = rows.shape[1] - n_dims
    # The row of a step does not depend on the other steps that are processed.
    for s in range(ptr.shape[0] - 1):
        for t in range(ptr[s], ptr[s + 1]):
            row = rows[t]
            if t - ptr[s] < n_lags:
                for d in range(row.shape[0]):
                    row[d] = math.nan
                continue
            for i in range(lags.shape[0]):
                for d in range(n_dims):
                    row[i * n_dims + d] = values[t - lags[i], d]
            if has_trend:
                row[n_lagged - 1] = t - ptr[s] + 1
            for d in range(n_dims):
                left = values[t, d] - coefs[d, 0]
                for e in range(n_lagged):
                    left -= coefs[d, e + 1] * row[e]
                row[n_lagged + d] = left
            for e in range(n_lagged):
                row[e] -= precision_root[e + 1, 0] / precision_root[0, 0]
            solve(precision_root, 1, row[:n_lagged])
            solve(scale_root, 0, row[n_lagged:])


@njit_loop
def complete(first, counts, centers, scatter, products):
    """Write the sums of products, given counts, means and scatter about the means."""
    for j in range(products.shape[0]):
        n = counts[j]
        products[j, 0, 0] = n * first * first
        for d in range(centers.shape[1]):
            products[j, d + 1, 0] = n * centers[j, d] * first
            for e in range(d + 1):
                products[j, d + 1, e + 1] = scatter[j, d, e] + n * centers[j, d] * centers[j, e]


@njit_internal_nogc
def factorize_posterior(products, factor):
    """Write L of a state; return False if the matrix is not positive definite to rounding."""
    width = factor.shape[0]
    for d in range(width):
        for e in range(d):
            factor[d, e] = products[d, e]
        factor[d, d] = 1.0 + products[d, d]
    return gaussian.factorize(factor)


@njit_inlined
def divide(row, factor, n):
    """Multiply a row, which is 0 after its first n entries, by L^-1 in place."""
    for e in range(n - 1, -1, -1):
        x = row[e]
        for f in range(e + 1, n):
            x -= row[f] * factor[f, e]
        row[e] = x / factor[e, e]


# Parameters


@njit_loop
def draw_regressions(counts, products, dof, maps, log_dets, factor, rng):
    """Draw M_j and Sigma_j of all states; return False if a matrix is not positive definite."""
    n_states, n_dims, width = maps.shape
    n_regressors = width - n_dims
    for j in range(n_states):
        if not factorize_posterior(products[j], factor):
            return False
        log_dets[j] = 0.0
        for d in range(n_dims):
            last = n_regressors + d
            row = maps[j, d]
            for e in range(last):
                row[e] = draw_normal(rng)
            chi_square = 2.0 * draw_gamma(0.5 * (dof + counts[j] - (n_dims - 1 - d)), rng)
            row[last] = max(math.sqrt(chi_square), gaussian.SMALLEST_ROOT)
            log_dets[j] += math.log(row[last] / factor[last, last])
            divide(row, factor, last + 1)
            for e in range(last + 1, width):
                row[e] = 0.0
    return True


@njit_loop
def invert_factors(products, n_dims, inverses, log_dets, factor):
    """Write L^-1 of all states, or the identity, as without observations, if there is no L."""
    width = factor.shape[0]
    for j in range(products.shape[0]):
        possible = factorize_posterior(products[j], factor)
        log_dets[j] = 0.0
        for d in range(width):
            row = inverses[j, d]
            for e in range(width):
                row[e] = 1.0 if d == e else 0.0
            if possible:
                divide(row, factor, d + 1)
                if d >= width - n_dims:
                    log_dets[j] -= math.log(factor[d, d])


@njit_loop
def log_evidence_of_regressions(counts, products, dof, shift, n_dims, factor):
    """Return log p(x | z) with M and Sigma integrated out; NaN if an L does not exist."""
    n_regressors = factor.shape[0] - n_dims
    result = 0.0
    for j in range(counts.shape[0]):
        n = counts[j]
        if n == 0.0:
            continue
        if not factorize_posterior(products[j], factor):
            return math.nan
        for k in range(n_regressors):
            result -= n_dims * math.log(factor[k, k])
        for d in range(n_dims):
            result -= (dof + n) * math.log(factor[n_regressors + d, n_regressors + d])
            result += math.lgamma(0.5 * (dof + n - d)) - math.lgamma(0.5 * (dof - d))
        result += n * (shift - 0.5 * n_dims * math.log(math.pi))
    return result


# Densities


@njit_inlined
def lay_out_rows(maps, first, j, by_state, offsets):
    """Write the rows of a map, over sqrt 2, for state j; row i ends with column Y - n + i."""
    n, width = maps.shape
    for d in range(n):
        offsets[d, j] = -maps[d, 0] * first * gaussian.ROOT_HALF
        for e in range(width - n + d):
            by_state[d, e, j] = maps[d, e + 1] * gaussian.ROOT_HALF


@njit_outlined
def subtract_squares_of_rows(x, by_state, offsets, sums, out):
    """Subtract half the squares of rows of a map, each one column longer than the last."""
    n_rows = offsets.shape[0]
    for d in range(n_rows):
        n_columns = x.shape[0] - n_rows + d + 1
        last = (n_columns - 1) - (n_columns - 1) % 4
        for j in range(out.shape[0]):
            sums[j] = -offsets[d, j]
        for begin in range(0, last, 4):
            gaussian.add_products(x, begin, by_state[d], sums)
        gaussian.subtract_square(x, last, n_columns, by_state[d], sums, out)


@njit_inlined_source
def add_products_of_four(rows, begin, maps, sums):
    """Add four products x[e] maps[e] to sums of each of four steps, reading the maps only once."""
    a0, b0, c0, d0 = rows[0, begin], rows[0, begin + 1], rows[0, begin + 2], rows[0, begin + 3]
    a1, b1, c1, d1 = rows[1, begin], rows[1, begin + 1], rows[1, begin + 2], rows[1, begin + 3]
    a2, b2, c2, d2 = rows[2, begin], rows[2, begin + 1], rows[2, begin + 2], rows[2, begin + 3]
    a3, b3, c3, d3 = rows[3, begin], rows[3, begin + 1], rows[3, begin + 2], rows[3, begin + 3]
    for j in range(sums.shape[1]):
        a, b, c, d = maps[begin, j], maps[begin + 1, j], maps[begin + 2, j], maps[begin + 3, j]
        sums[0, j] += (a0 * a + b0 * b) + (c0 * c + d0 * d)
        sums[1, j] += (a1 * a + b1 * b) + (c1 * c + d1 * d)
        sums[2, j] += (a2 * a + b2 * b) + (c2 * c + d2 * d)
        sums[3, j] += (a3 * a + b3 * b) + (c3 * c + d3 * d)


@njit_inlined_source
def subtract_squares_of_four(rows, by_state, offsets, sums, out):
    """Apply `subtract_squares_of_rows` to four steps at once, with identical results."""
    n_rows = offsets.shape[0]
    for d in range(n_rows):
        n_columns = rows.shape[1] - n_rows + d + 1
        last = (n_columns - 1) - (n_columns - 1) % 4
        for i in range(4):
            for j in range(out.shape[1]):
                sums[i, j] = -offsets[d, j]
        for begin in range(0, last, 4):
            add_products_of_four(rows, begin, by_state[d], sums)
        for i in range(4):
            gaussian.subtract_square(rows[i], last, n_columns, by_state[d], sums[i], out[i])


@njit_loop
def weigh_regressions(rows, first, maps, log_dets, shift, by_state, vectors, log_obs):
    """Write the log densities of all steps in all states."""
    n_dims, _, n_states = by_state.shape
    offsets, constants, sums = vectors[:n_dims], vectors[n_dims], vectors[n_dims + 1 :]
    for j in range(n_states):
        constants[j] = shift + log_dets[j] - n_dims * gaussian.HALF_LOG_2_PI
        lay_out_rows(maps[j], first, j, by_state, offsets)
    for t in range(rows.shape[0]):
        for j in range(n_states):
            log_obs[t, j] = constants[j]
    in_fours = rows.shape[0] - rows.shape[0] % 4
    for t in range(0, in_fours, 4):
        subtract_squares_of_four(rows[t : t + 4], by_state, offsets, sums, log_obs[t : t + 4])
    for t in range(in_fours, rows.shape[0]):
        subtract_squares_of_rows(rows[t], by_state, offsets, sums[0], log_obs[t])
    for t in range(rows.shape[0]):
        if math.isnan(rows[t, 0]):
            for j in range(n_states):
                log_obs[t, j] = 0.0


@njit_loop
def weigh_matrix_students(
    rows, first, inverses, log_dets, freedoms, shift, n_dims, by_state, offsets, vectors, log_obs
):
    """Write log predictive densities: Student t about M_n p, of scale (1 + h) Psi_n / f."""
    # f = nu_n - D + 1, and the first K entries of L^-1 y have the squared length h = p^T V_n p.
    width, n_states = offsets.shape[0], log_obs.shape[1]
    n_lagged = width - n_dims
    constants, sums = vectors[0], vectors[1]
    leverages, squares, least = vectors[2], vectors[3], vectors[4]
    for j in range(n_states):
        constants[j] = shift + log_dets[j] + gaussian.log_normalizer(freedoms[j], n_dims)
        least[j] = (first * inverses[j, 0, 0]) ** 2
        lay_out_rows(inverses[j, 1:], first, j, by_state, offsets)
    for t in range(rows.shape[0]):
        if math.isnan(rows[t, 0]):
            for j in range(n_states):
                log_obs[t, j] = 0.0
            continue
        for j in range(n_states):
            leverages[j] = 0.0
            squares[j] = 0.0
        subtract_squares_of_rows(
            rows[t, :n_lagged], by_state[:n_lagged], offsets[:n_lagged], sums, leverages
        )
        subtract_squares_of_rows(rows[t], by_state[n_lagged:], offsets[n_lagged:], sums, squares)
        for j in range(n_states):
            h = least[j] - 2.0 * leverages[j]
            # The other entries have that of r - M_n p in units of Psi_n: -2 squares.
            log_obs[t, j] = constants[j] - 0.5 * n_dims * gaussian.fast_log_1p(h)
            log_obs[t, j] -= (
                0.5 * (freedoms[j] + n_dims) * gaussian.fast_log_1p(-2.0 * squares[j] / (1.0 + h))
            )


# Draws of missing values, given states and parameters.
#
# Given these, a sequence is Gaussian: e_t = W [1, a_t, x_t] is standard normal for each step t,
# with W = U_z [-A_z, I] of its state z. Residuals are linear in the missing values m, B m + c, and
# B is banded, because a value enters its own step and the L steps after it. With the orthogonal
# factorization B = Q R, updated row by row by Givens rotations, m = R^-1 (-Q^T c + noise) is a
# draw. Squares of B would lose the digits of long gaps in smooth series.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | values, ptr | x_t | (N, D), (n + 1,) | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
# | steps, columns | | (M,), (M,) int64 | missing values, by step and column |
# | gap_ptr | | (n + 1,) int64 | missing values of sequence s are gap_ptr[s] to gap_ptr[s + 1] - 1 |
# | places | | (N, D) int64 | index of a missing value, or -1 |
# | lags | | (n,) int64 | chosen lags, in increasing order |
# | whitening | W | (J, D, K + D) | columns: 1, lags, trend, x_t |
# | starting_mean, starting_inverse | | (L D,), (L D, L D) | of the first L values, lag 1 first |
# | band | R | (M_s, w) | row k begins with R_kk; M_s: most missing values of a sequence, scratch |
# | right | -Q^T c | (M_s,) | scratch |
# | row | | (w,) | coefficients of an equation, scratch |
# | key, first | | (4,) uint64, int | of streams, one per sequence; panel index of the first step |


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
