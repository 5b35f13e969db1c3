r"""Gaussian observations with a normal-inverse-Wishart prior: draws, densities and exact sums.

The D columns of an observation are B blocks of W columns, independent given the state: one block
of all columns for full covariances, one block per column for diagonal ones. Block b of state j is
component k = j B + b, with Sigma_k ~ IW(nu, S_b) and mu_k ~ N(m_b, Sigma_k / c). A covariance is
stored as the lower triangular U with U^T U = Sigma^-1, so that a log density needs only a sum of
squares. `dof` are degrees of freedom.

| name | symbol | shape | meaning |
|---|---|---|---|
| values | x_t | (N, D) float64 | NaN is missing |
| states | z_t | (N,) integers | |
| mean, precision, dof, scale | m, c, nu, S | (B, W), , , (B, W, W) | prior |
| counts | n_k | (K,) | observations of a component |
| masses | w_k | (K,) | sums of their weights; the counts if all weights are 1 |
| centers | xbar_k | (K, W) | their mean |
| scatter | Q_k | (K, W, W) | sum of (x - xbar)(x - xbar)^T; lower triangle |
| means | mu_k | (K, W) | |
| precision_factors | U_k | (K, W, W) | |
| log_dets | log det U_k | (K,) | |
| by_state, offsets | | (D, W, J), (D, J) | U and U mu of all states, over sqrt 2: see `lay_out` |
| log_obs | log L_tj | (N, J) | log p(x_t given state j), output |

Rows with missing values are listed by their pattern, the set of columns that are missing:

| name | shape | meaning |
|---|---|---|
| rows | (R,) int64 | the rows, sorted by pattern |
| pattern_ptr | (P + 1,) int64 | rows pattern_ptr[p] to pattern_ptr[p + 1] - 1 have pattern p |
| orders | (P, B, W) int64 | columns of a block, with missing columns last |
| n_seen | (P, B) int64 | number of observed columns of a block |
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._arithmetic import fast_log
from skdp._numeric._numba import (
    njit_forceinline,
    njit_inlined,
    njit_inlined_source,
    njit_internal_nogc,
    njit_loop,
    njit_outlined,
)
from skdp._numeric._random import draw_gamma, draw_normal, next_double, stream_of_number

HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)
ROOT_HALF = math.sqrt(0.5)
SMALLEST_ROOT = 1e-150  # of a precision, which may underflow if nu is tiny

# Matrices


@njit_outlined
def factorize(matrix):
    """Turn a matrix, given by its lower triangle, into its Cholesky factor; False: it has none."""
    n = matrix.shape[0]
    for j in range(n):
        for k in range(j):
            for i in range(j, n):
                matrix[i, j] -= matrix[i, k] * matrix[j, k]
        if not 0.0 < matrix[j, j] < math.inf:
            return False
        root = math.sqrt(matrix[j, j])
        for i in range(j, n):
            matrix[i, j] /= root
        for i in range(j):
            matrix[i, j] = 0.0
    return True


@njit_inlined
def move_to_end(matrix, d, n):
    """Move column d of a precision's factor to n - 1, and make it lower triangular again."""
    for i in range(matrix.shape[0]):
        first = matrix[i, d]
        for e in range(d, n - 1):
            matrix[i, e] = matrix[i, e + 1]
        matrix[i, n - 1] = first
    for e in range(n):
        first = matrix[d, e]
        for i in range(d, n - 1):
            matrix[i, e] = matrix[i + 1, e]
        matrix[n - 1, e] = first
    # Rotations with the moved row eliminate the last column; nothing is lost to rounding.
    for i in range(d, n - 1):
        length = math.hypot(matrix[i, n - 1], matrix[n - 1, n - 1])
        sine, cosine = matrix[i, n - 1] / length, matrix[n - 1, n - 1] / length
        for e in range(n):
            x, y = matrix[i, e], matrix[n - 1, e]
            matrix[i, e] = cosine * x - sine * y
            matrix[n - 1, e] = sine * x + cosine * y


@njit_internal_nogc
def write_in_order(precision_factor, order, n_seen, out):
    """Write the factor of the precision of the columns with missing ones last."""
    # Its first rows whiten the observed values, the others the missing values given these.
    n = precision_factor.shape[0]
    for d in range(n):
        for e in range(n):
            out[d, e] = precision_factor[d, e] if e <= d else 0.0
    for i in range(n - 1, n_seen - 1, -1):
        move_to_end(out, order[i], i + 1)


# Statistics


@njit_internal_nogc
def posterior_scale(k, masses, centers, scatter, mean, precision, scale, out):
    """Write the posterior scale S + Q_k + c w_k / (c + w_k) (xbar - m)(xbar - m)^T to `out`."""
    b = k % mean.shape[0]
    weight = precision * masses[k] / (precision + masses[k])
    for d in range(out.shape[0]):
        x = weight * (centers[k, d] - mean[b, d])
        for e in range(d + 1):
            out[d, e] = scale[b, d, e] + scatter[k, d, e] + x * (centers[k, e] - mean[b, e])


# Parameters


@njit_outlined
def draw_precision_factor(factor, n, dof, bartlett, precision_factor, rng):
    """Draw U, n x n, with U^T U ~ Wishart(dof, (L L^T)^-1), given `factor` L; return log det U."""
    # U = A L^-1 with the triangular A of Bartlett (1933), normal below roots of chi-squares, whose
    # degrees of freedom increase along the diagonal because A^T A, not A A^T, is Wishart.
    log_det = 0.0
    for d in range(n):
        for e in range(d):
            bartlett[d, e] = draw_normal(rng)
        chi_square = 2.0 * draw_gamma(0.5 * (dof - (n - 1 - d)), rng)
        bartlett[d, d] = max(math.sqrt(chi_square), SMALLEST_ROOT)
        log_det += math.log(bartlett[d, d] / factor[d, d])
        for e in range(d, -1, -1):
            x = bartlett[d, e]
            for f in range(e + 1, d + 1):
                x -= precision_factor[d, f] * factor[f, e]
            precision_factor[d, e] = x / factor[e, e]
    return log_det


@njit_loop
def draw_gaussians(
    counts, masses, centers, scatter, mean, precision, dof, scale, least, means, precision_factors,
    log_dets, scratch, rng,
):  # fmt: skip
    """Draw mu_k and Sigma_k of all components; return False if a scale is not positive definite."""
    width = means.shape[1]
    factor, bartlett, line = scratch[0], scratch[1], scratch[2, 0]
    statistics = masses, centers, scatter
    for k in range(counts.shape[0]):
        if least > 0.0:
            possible = factorize_posterior(
                k, statistics, mean, precision, scale, least, factor, bartlett, line
            )
        else:
            posterior_scale(k, *statistics, mean, precision, scale, factor)
            possible = factorize(factor)
        if not possible:
            return False
        log_dets[k] = draw_precision_factor(
            factor, width, dof + counts[k], bartlett, precision_factors[k], rng
        )
        # mu = m_n + y, where U y is normal.
        b = k % mean.shape[0]
        weight = precision + masses[k]
        noise = bartlett[0]
        for d in range(width):
            x = draw_normal(rng) / math.sqrt(weight)
            for e in range(d):
                x -= precision_factors[k, d, e] * noise[e]
            noise[d] = x / precision_factors[k, d, d]
            center = (precision * mean[b, d] + masses[k] * centers[k, d]) / weight
            means[k, d] = center + noise[d]
    return True


@njit_loop
def expect_gaussians(
    counts, masses, centers, scatter, mean, precision, dof, scale, means, precision_factors,
    log_dets, factor,
):  # fmt: skip
    """Write E[mu_k] and factors of E[Sigma_k]^-1, or of E[Sigma_k^-1] if E[Sigma_k] is infinite."""
    width = means.shape[1]
    for k in range(counts.shape[0]):
        posterior_scale(k, masses, centers, scatter, mean, precision, scale, factor)
        if not factorize(factor):
            continue  # the parameters stay unchanged
        divisor = dof + counts[k]
        if divisor > width + 1.0:
            divisor -= width + 1.0
        root = math.sqrt(divisor)
        b = k % mean.shape[0]
        log_dets[k] = 0.0
        for d in range(width):
            means[k, d] = precision * mean[b, d] + masses[k] * centers[k, d]
            means[k, d] /= precision + masses[k]
            log_dets[k] += math.log(root / factor[d, d])
            for e in range(d, -1, -1):
                x = root if e == d else 0.0
                for f in range(e + 1, d + 1):
                    x -= precision_factors[k, d, f] * factor[f, e]
                precision_factors[k, d, e] = x / factor[e, e]


# Densities


@njit_inlined_source
def lay_out(precision_factor, mean, j, by_state, offsets):
    """Write the first n columns of U, and U mu, divided by sqrt 2, for state j."""
    for d in range(mean.shape[0]):
        offset = 0.0
        for e in range(d + 1):
            u = precision_factor[d, e] * ROOT_HALF
            by_state[d, e, j] = u
            offset += u * mean[e]
        offsets[d, j] = offset


@njit_inlined
def add_products(x, begin, rows, sums):
    """Add four products x[e] rows[e] to `sums`."""
    a, b, c, d = x[begin], x[begin + 1], x[begin + 2], x[begin + 3]
    for j in range(sums.shape[0]):
        sums[j] += (a * rows[begin, j] + b * rows[begin + 1, j]) + (
            c * rows[begin + 2, j] + d * rows[begin + 3, j]
        )


@njit_inlined
def subtract_square(x, begin, end, rows, sums, out):
    """Subtract from `out` the square of `sums` and one to four products x[e] rows[e]."""
    a = x[begin]
    if end - begin == 1:
        for j in range(out.shape[0]):
            y = sums[j] + a * rows[begin, j]
            out[j] -= y * y
        return
    b = x[begin + 1]
    if end - begin == 2:
        for j in range(out.shape[0]):
            y = sums[j] + (a * rows[begin, j] + b * rows[begin + 1, j])
            out[j] -= y * y
        return
    c = x[begin + 2]
    if end - begin == 3:
        for j in range(out.shape[0]):
            y = sums[j] + (a * rows[begin, j] + b * rows[begin + 1, j]) + c * rows[begin + 2, j]
            out[j] -= y * y
        return
    d = x[begin + 3]
    for j in range(out.shape[0]):
        y = sums[j] + (
            (a * rows[begin, j] + b * rows[begin + 1, j])
            + (c * rows[begin + 2, j] + d * rows[begin + 3, j])
        )
        out[j] -= y * y


@njit_inlined_source
def subtract_squares(x, by_state, offsets, sums, out):
    """Subtract |U x - U mu|^2 / 2 of a block from the log densities of all states, `out`."""
    # Inner loops run over states, to be vectorized; four columns at a time save passes over them.
    for d in range(x.shape[0]):
        last = d - d % 4
        for j in range(out.shape[0]):
            sums[j] = -offsets[d, j]
        for begin in range(0, last, 4):
            add_products(x, begin, by_state[d], sums)
        subtract_square(x, last, d + 1, by_state[d], sums, out)


# Missing values


@njit_loop
def impute(
    values, states, rows, pattern_ptr, orders, n_seen, means, precision_factors, weights,
    precision_factor, x, first, key, rng,
):  # fmt: skip
    """Draw the missing values of partly observed blocks, with a stream per row and block."""
    # Sigma is divided by `weights`, (N, B), unless None; `first` is the panel index of row 0.
    n_patterns, n_blocks, width = orders.shape
    for p in range(n_patterns):
        for b in range(n_blocks):
            order, n = orders[p, b], n_seen[p, b]
            if n == 0 or n == width:
                continue
            for t in rows[pattern_ptr[p] : pattern_ptr[p + 1]]:
                k = states[t] * n_blocks + b
                write_in_order(precision_factors[k], order, n, precision_factor)
                stream_of_number(key, (first + t) * n_blocks + b, rng)
                deviation = 1.0
                if weights is not None:
                    deviation = 1.0 / math.sqrt(weights[t, b])
                for d in range(width):
                    if d >= n:
                        x[d] = deviation * draw_normal(rng)
                        for e in range(d):
                            x[d] -= precision_factor[d, e] * x[e]
                        x[d] /= precision_factor[d, d]
                        values[t, b * width + order[d]] = means[k, order[d]] + x[d]
                    else:
                        x[d] = values[t, b * width + order[d]] - means[k, order[d]]


# First states


@njit_inlined
def squared_distance(values, t, weights, center):
    """Return sum_d weights_d (x_td - center_d)^2 over the observed values."""
    result = 0.0
    for d in range(center.shape[0]):
        y = values[t, d] - center[d]
        if not math.isnan(y):
            result += weights[d] * y * y
    return result


@njit_loop
def seed_centers(values, weights, filler, centers, distances, rng):
    """Draw steps as centers by k-means++ (Arthur and Vassilvitskii 2007); `filler` replaces NaN."""
    n_steps, n_dims = values.shape
    total = 0.0
    for j in range(centers.shape[0]):
        chosen = min(int(next_double(rng) * n_steps), n_steps - 1)  # stays if all distances are 0
        rest = next_double(rng) * total
        if total > 0.0:
            for t in range(n_steps):
                if distances[t] > 0.0:
                    chosen = t
                    rest -= distances[t]
                    if rest < 0.0:
                        break
        for d in range(n_dims):
            missing = math.isnan(values[chosen, d])
            centers[j, d] = filler[d] if missing else values[chosen, d]
        total = 0.0
        for t in range(n_steps):
            distance = squared_distance(values, t, weights, centers[j])
            distances[t] = min(distances[t], distance) if j > 0 else distance
            total += distances[t]


@njit_loop
def find_nearest(values, weights, centers, states):
    """Write the index of the nearest center of every step; the first one wins ties."""
    for t in range(values.shape[0]):
        smallest = math.inf
        for j in range(centers.shape[0]):
            distance = squared_distance(values, t, weights, centers[j])
            if distance < smallest:
                smallest = distance
                states[t] = j


@njit_loop
def move_centers(values, states, centers, sums, counts):
    """Move centers to the means of the observed values of their steps, if there are any."""
    n_states, n_dims = centers.shape
    sums[:] = 0.0
    counts[:] = 0.0
    for t in range(values.shape[0]):
        for d in range(n_dims):
            if not math.isnan(values[t, d]):
                sums[states[t], d] += values[t, d]
                counts[states[t], d] += 1.0
    for j in range(n_states):
        for d in range(n_dims):
            if counts[j, d] > 0.0:
                centers[j, d] = sums[j, d] / counts[j, d]


# Posterior scales and evidence, also if values are absurdly large.


SMALLEST_PIVOT = 1e-13
"""Smallest part of a diagonal element of S_n that is left if S_n is factorized with some digits."""


@njit_internal_nogc
def has_few_digits(factor, diagonal, least):
    """Return whether less than a share of the diagonal was left as a matrix was factorized."""
    is_lost = False
    for d in range(factor.shape[0]):
        is_lost = is_lost or factor[d, d] * factor[d, d] < least * diagonal[d]
    return is_lost


@njit_outlined
def factorize_posterior(k, statistics, mean, precision, scale, least, factor, rest, line):
    """Write the Cholesky factor of `posterior_scale`; return False if there is none."""
    # If less than a share `least` of a diagonal element is left, S is updated by the other terms.
    masses, centers, scatter = statistics
    n, b = factor.shape[0], k % mean.shape[0]
    posterior_scale(k, masses, centers, scatter, mean, precision, scale, factor)
    for d in range(n):
        line[d] = factor[d, d]
    if factorize(factor) and not has_few_digits(factor, line, least):
        return True  # S is not lost to rounding
    for d in range(n):
        for e in range(d + 1):
            factor[d, e] = scale[b, d, e]
            rest[d, e] = rest[e, d] = scatter[k, d, e]
    if not factorize(factor):
        return False
    root = math.sqrt(precision * masses[k] / (precision + masses[k]))
    for d in range(n):
        line[d] = root * (centers[k, d] - mean[b, d])
    add_to_factor(factor, line)
    for _ in range(n):
        pivot = 0
        for d in range(n):
            pivot = d if rest[d, d] > rest[pivot, pivot] else pivot
        square = rest[pivot, pivot]
        if not square > 0.0:
            break
        for d in range(n):
            line[d] = rest[d, pivot] / math.sqrt(square)
        for d in range(n):
            for e in range(n):
                rest[d, e] -= line[d] * line[e]
        for d in range(n):
            rest[d, pivot] = rest[pivot, d] = 0.0
        add_to_factor(factor, line)
    return True


@njit_internal_nogc
def add_to_factor(factor, line):
    """Update the Cholesky factor of S to that of S + v v^T; v is overwritten."""
    for j in range(factor.shape[0]):
        root = math.hypot(factor[j, j], line[j])
        cosine, sine = factor[j, j] / root, line[j] / root
        factor[j, j] = root
        for i in range(j + 1, factor.shape[0]):
            x = factor[i, j]
            factor[i, j] = cosine * x + sine * line[i]
            line[i] = cosine * line[i] - sine * x


@njit_loop
def log_evidence_of_gaussians(
    counts, masses, centers, scatter, mean, precision, dof, scale, least, factor, rest, line
):
    """Return log p(x | z) without mu and Sigma; NaN: a scale is not positive definite."""
    # With weights u_t, x_t ~ N(mu, Sigma / u_t), it omits the sum of W / 2 log u_t.
    n_blocks, width = mean.shape
    result = 0.0
    for k in range(counts.shape[0]):
        n = counts[k]
        if n == 0.0:
            continue
        for d in range(width):
            for e in range(d + 1):
                factor[d, e] = scale[k % n_blocks, d, e]
        if not factorize(factor):
            return math.nan
        for d in range(width):
            result += dof * math.log(factor[d, d])
            result += math.lgamma(0.5 * (dof + n - d)) - math.lgamma(0.5 * (dof - d))
        if not factorize_posterior(
            k, (masses, centers, scatter), mean, precision, scale, least, factor, rest, line
        ):
            return math.nan
        for d in range(width):
            result -= (dof + n) * math.log(factor[d, d])
        result += (
            0.5 * width * (math.log(precision / (precision + masses[k])) - n * math.log(math.pi))
        )
    return result


# Densities of vectors: Gaussian ones, and Student t ones, the predictive densities of Gaussian
# states given their observations.
#
# A Student t component k has W columns, nu_k degrees of freedom, the location m_k and the scale
# A_k / nu_k,
#
#     log p(x) = log Gamma((nu + W) / 2) - log Gamma(nu / 2) - W / 2 log pi - log det A / 2
#                - (nu + W) / 2 log(1 + (x - m)^T A^-1 (x - m)).
#
# The observed columns of an incomplete block have the same degrees of freedom and their part of A.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | values | x_t | (N, D) float64 | NaN is missing |
# | means | m_k | (K, W) | |
# | factors | U_k | (K, W, W) | lower triangular, U^T U = A^-1 |
# | freedoms | nu_k | (K,) | degrees of freedom |
# | by_state, offsets | | (D, W, J), (D, J) | U and U m of all states, over sqrt 2: see `lay_out` |
# | exponents | (nu + W) / 2 | (B, J) | |
# | constants | | (J,) | the terms without x |
# | log_obs | log L_tj | (N, J) | log p(x_t given state j), output |
#
# Rows with missing values are listed as above.


LARGEST_SQUARE = 1e300
"""Largest squared distance; beyond, a density is 0, as for a normal distribution."""

MANY_FREEDOMS = 1e4
"""Degrees of freedom beyond which a difference of log Gamma functions would lose digits."""


@njit_forceinline
def fast_log_1p(x):
    """Return log(1 + x) for x >= 0 with an error of a few roundings; inf for x above 1e300."""
    y = 1.0 + x
    z = fast_log(y) + (x - (y - 1.0)) / y  # corrects the rounding of 1 + x
    return z if x < LARGEST_SQUARE else math.inf


@njit_forceinline
def find_peak(shape, total, power, square):
    """Return the u that maximizes u^total exp(-shape u) (1 + u d)^-power, for d = `square` >= 0."""
    # The positive root of shape d u^2 + b u - total: in b + root, all digits may cancel if b < 0.
    b = shape + (power - total) * square
    root = math.hypot(b, 2.0 * math.sqrt(shape * total * square))
    if b < 0.0:
        return (root - b) / (2.0 * shape * square)
    return 2.0 * total / (b + root)


@njit_forceinline
def log_normal_cdf(x):
    """Return log Phi(x); below -30 by the asymptotic series, whose error there is 1e-12."""
    if x > -30.0:
        return math.log(0.5 * math.erfc(-x * ROOT_HALF))
    y = 1.0 / (x * x)
    series = y * (-1.0 + y * (3.0 + y * (-15.0 + 105.0 * y)))
    return -0.5 * x * x - HALF_LOG_2_PI - math.log(-x) + math.log1p(series)


@njit_internal_nogc
def log_normalizer(freedom, n):
    """Return the terms with nu and pi of the log density of n columns."""
    low, step = 0.5 * freedom, 0.5 * n
    if freedom < MANY_FREEDOMS:
        result = math.lgamma(low + step) - math.lgamma(low)
    else:  # the difference of Stirling's series
        result = (low + step - 0.5) * math.log1p(step / low) + step * (math.log(low) - 1.0)
        result -= step / (12.0 * low * (low + step))
    return result - step * math.log(math.pi)


@njit_loop
def log_normalizer_of(freedom, n):
    """Return `log_normalizer` when called from Python."""
    return log_normalizer(freedom, n)


@njit_inlined_source
def subtract_logs(x, by_state, offsets, exponents, sums, squares, out):
    """Subtract (nu + n) / 2 log(1 + |U x - U m|^2) of a block from all states' log densities."""
    for j in range(out.shape[0]):
        squares[j] = 0.0
    subtract_squares(x, by_state, offsets, sums, squares)
    for j in range(out.shape[0]):
        out[j] -= exponents[j] * fast_log_1p(-2.0 * squares[j])


@njit_loop
def weigh_vectors(
    values, means, factors, log_dets, freedoms, by_state, vectors, exponents, log_obs
):
    """Write the log densities of all steps in all states; NaN if values are missing."""
    # Components are Gaussian if `freedoms` and `exponents` are empty, otherwise `log_dets` is.
    n_dims, width, n_states = by_state.shape
    n_blocks, is_gaussian = n_dims // width, freedoms.shape[0] == 0
    offsets, constants = vectors[:n_dims], vectors[n_dims]
    sums, squares = vectors[n_dims + 1], vectors[n_dims + 2]
    for j in range(n_states):
        constants[j] = -n_dims * HALF_LOG_2_PI if is_gaussian else 0.0
        for b in range(n_blocks):
            k, begin, end = j * n_blocks + b, b * width, (b + 1) * width
            if is_gaussian:
                constants[j] += log_dets[k]
            else:
                constants[j] += log_normalizer(freedoms[k], width)
                for d in range(width):
                    constants[j] += math.log(factors[k, d, d])
                exponents[b, j] = 0.5 * (freedoms[k] + width)
            lay_out(factors[k], means[k], j, by_state[begin:end], offsets[begin:end])
    for t in range(values.shape[0]):
        for j in range(n_states):
            log_obs[t, j] = constants[j]
        for b in range(n_blocks):
            begin, end = b * width, (b + 1) * width
            x, rows, own = values[t, begin:end], by_state[begin:end], offsets[begin:end]
            if is_gaussian:
                subtract_squares(x, rows, own, sums, log_obs[t])
            else:
                subtract_logs(x, rows, own, exponents[b], sums, squares, log_obs[t])


@njit_loop
def weigh_incomplete(
    values, rows, pattern_ptr, orders, n_seen, means, factors, freedoms, by_state, vectors,
    exponents, factor, x, log_obs,
):  # fmt: skip
    """Write the log densities of the observed values of incomplete steps: see `weigh_vectors`."""
    n_patterns, n_blocks, width = orders.shape
    n_dims, n_states, is_gaussian = n_blocks * width, log_obs.shape[1], freedoms.shape[0] == 0
    offsets, constants = vectors[:n_dims], vectors[n_dims]
    sums, squares = vectors[n_dims + 1], vectors[n_dims + 2]
    for p in range(n_patterns):
        for j in range(n_states):
            constants[j] = 0.0
            for b in range(n_blocks):
                k, n, begin, end = j * n_blocks + b, n_seen[p, b], b * width, (b + 1) * width
                write_in_order(factors[k], orders[p, b], n, factor)
                if not is_gaussian:
                    constants[j] += log_normalizer(freedoms[k], n)
                    exponents[b, j] = 0.5 * (freedoms[k] + n)
                for d in range(n):
                    term = math.log(factor[d, d])
                    if is_gaussian:
                        term -= HALF_LOG_2_PI
                    constants[j] += term
                    x[d] = means[k, orders[p, b, d]]
                lay_out(factor, x[:n], j, by_state[begin:end], offsets[begin:end])
        for t in rows[pattern_ptr[p] : pattern_ptr[p + 1]]:
            for j in range(n_states):
                log_obs[t, j] = constants[j]
            for b in range(n_blocks):
                n, begin, end = n_seen[p, b], b * width, (b + 1) * width
                for d in range(n):
                    x[d] = values[t, begin + orders[p, b, d]]
                maps, own = by_state[begin:end], offsets[begin:end]
                if is_gaussian:
                    subtract_squares(x[:n], maps, own, sums, log_obs[t])
                else:
                    subtract_logs(x[:n], maps, own, exponents[b], sums, squares, log_obs[t])


# Exact sums: statistics whose bits depend neither on the order of observations nor on how they are
# divided into parts.
#
# There are two passes. The first finds the range of each column in each component, which does not
# depend on the order. The range determines the units of the second pass: there, deviations from the
# midpoint of the range, and their products, are integer multiples of a unit so small that their sum
# just fits in 60 bits, and integers add up exactly. Rounding to units loses less than an ordinary
# sum of floats: a unit is n 2^-60 of the largest possible term of a component.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | values | x_t | (N, D) float64 | NaN is missing |
# | states | z_t | (N,) integers | -1: no state |
# | numbers | n_k | (K,) int64 | observations of a component |
# | lows, highs | | (K, W) float64 | smallest and largest |
# | middles | c_k | (K, W) float64 | midpoints of the ranges |
# | scales | 2^-e_kd | (K, W) float64 | scale deviations from the midpoint to [-1, 1] |
# | units | S_k | (K,) float64 | units in 1; a power of 2 |
# | firsts | | (K, W) int64 | sum of S y, y = (x - c) 2^-e |
# | seconds | | (K, W, W) int64 | sum of S y y^T; lower triangle |
# | counts, centers, scatter | n_k, xbar_k, Q_k | (K,), (K, W), (K, W, W) float64 | results |
#
# Components are states by blocks of columns, as above.


BITS = 60
"""Bits of sums, so that products of two of them can be computed in limbs of 31 bits."""

SMALLEST_EXPONENT = -1000
"""Smallest exponent of ranges: the inverse of a smaller range would overflow."""

LIMB = 31
MASK = (1 << LIMB) - 1


@njit_loop
def find_ranges(values, states, numbers, lows, highs):
    """Write the numbers of observations and the ranges of all components."""
    width = lows.shape[1]
    n_blocks = values.shape[1] // width
    numbers[:] = 0
    lows[:] = math.inf
    highs[:] = -math.inf
    for t in range(values.shape[0]):
        if states[t] < 0:
            continue
        for b in range(n_blocks):
            if not math.isnan(values[t, b * width]):
                k = states[t] * n_blocks + b
                numbers[k] += 1
                for d in range(width):
                    x = values[t, b * width + d]
                    lows[k, d] = min(lows[k, d], x)
                    highs[k, d] = max(highs[k, d], x)


@njit_internal_nogc
def count_bits(n):
    """Return the least number of bits b with n <= 2^b."""
    bits = 0
    while (1 << bits) < n:
        bits += 1
    return bits


@njit_internal_nogc
def choose_scale(largest):
    """Return a power of 2 that scales deviations up to the largest one to [-1, 1]."""
    exponent = math.frexp(largest)[1] if largest > 0.0 else 0
    return 2.0 ** -max(exponent, SMALLEST_EXPONENT)


@njit_internal_nogc
def choose_unit(n):
    """Return the number of units in 1, for sums of n numbers up to 1."""
    return 2.0 ** (BITS - count_bits(n))


@njit_loop
def choose_units(numbers, lows, highs, middles, scales, units):
    """Write the origins, scales and units of deviations."""
    for k in range(lows.shape[0]):
        units[k] = choose_unit(numbers[k])
        for d in range(lows.shape[1]):
            middles[k, d] = 0.0
            scales[k, d] = 1.0
            if numbers[k] > 0:
                half = 0.5 * (highs[k, d] - lows[k, d])
                middles[k, d] = lows[k, d] + half
                scales[k, d] = choose_scale(half)


@njit_loop
def choose_units_about(mean, numbers, lows, highs, scales):
    """Write scales of deviations from a given mean, (D,); return the unit of their products."""
    most = 0
    for d in range(mean.shape[0]):
        scales[d] = 1.0
        if numbers[d] > 0:
            scales[d] = choose_scale(max(highs[d, 0] - mean[d], mean[d] - lows[d, 0]))
        most = max(most, numbers[d])
    return choose_unit(most)


@njit_loop
def add_up(values, states, middles, scales, units, firsts, seconds, distances):
    """Write the sums of deviations from the midpoints and of their products."""
    width = middles.shape[1]
    n_blocks = values.shape[1] // width
    firsts[:] = 0
    seconds[:] = 0
    for t in range(values.shape[0]):
        if states[t] < 0:
            continue
        for b in range(n_blocks):
            if not math.isnan(values[t, b * width]):
                k = states[t] * n_blocks + b
                for d in range(width):
                    y = (values[t, b * width + d] - middles[k, d]) * scales[k, d]
                    distances[d] = y
                    y *= units[k]
                    firsts[k, d] += np.int64(math.floor(y + 0.5))
                    for e in range(d + 1):
                        seconds[k, d, e] += np.int64(math.floor(y * distances[e] + 0.5))


@njit_internal_nogc
def subtract_products(a, b, c, d):
    """Return a b - c d of numbers of up to 60 bits, rounded only at the end."""
    a1, a0, b1, b0 = a >> LIMB, a & MASK, b >> LIMB, b & MASK
    c1, c0, d1, d0 = c >> LIMB, c & MASK, d >> LIMB, d & MASK
    low = a0 * b0 - c0 * d0
    middle = a1 * b0 + a0 * b1 - c1 * d0 - c0 * d1 + (low >> LIMB)
    high = a1 * b1 - c1 * d1 + (middle >> LIMB)
    return (float(high) * 2.0**LIMB + float(middle & MASK)) * 2.0**LIMB + float(low & MASK)


@njit_loop
def settle(numbers, middles, scales, units, firsts, seconds, counts, centers, scatter):
    """Convert sums over all observations to counts, means and scatter."""
    for k in range(middles.shape[0]):
        n = numbers[k]
        counts[k] = n
        whole = np.int64(n * units[k])
        for d in range(middles.shape[1]):
            centers[k, d] = middles[k, d]
            if n > 0:
                centers[k, d] += firsts[k, d] / float(whole) / scales[k, d]
            for e in range(d + 1):
                scatter[k, d, e] = 0.0
                if n > 0:
                    x = subtract_products(whole, seconds[k, d, e], firsts[k, d], firsts[k, e])
                    scatter[k, d, e] = x / units[k] / float(whole) / scales[k, d] / scales[k, e]


@njit_loop
def multiply(values, mean, scales, unit, products, distances):
    """Write sums of products of deviations from a mean, 0 for missing values: a lower triangle."""
    n_dims = mean.shape[0]
    products[:] = 0
    for t in range(values.shape[0]):
        for d in range(n_dims):
            y = (values[t, d] - mean[d]) * scales[d]
            distances[d] = 0.0 if math.isnan(y) else y
            y = distances[d] * unit
            for e in range(d + 1):
                products[d, e] += np.int64(math.floor(y * distances[e] + 0.5))
