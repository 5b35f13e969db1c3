r"""Gaussian observations with a normal-inverse-Wishart prior.

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
| rng | | (4,) uint64 | stream, advanced in place |

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

from skdp._numeric._numba import (
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
    """Write the factor of the precision of the reordered columns, with missing columns last.
    Its first rows whiten the observed values, the others the missing values given these.
    """
    n = precision_factor.shape[0]
    for d in range(n):
        for e in range(n):
            out[d, e] = precision_factor[d, e] if e <= d else 0.0
    for i in range(n - 1, n_seen - 1, -1):
        move_to_end(out, order[i], i + 1)


# Statistics: see `_kernels_sums`


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
    counts, masses, centers, scatter, mean, precision, dof, scale, means, precision_factors,
    log_dets, scratch, rng,
):  # fmt: skip
    """Draw mu_k and Sigma_k of all components; return False if a scale is not positive definite."""
    width = means.shape[1]
    factor, bartlett = scratch[0], scratch[1]
    for k in range(counts.shape[0]):
        posterior_scale(k, masses, centers, scatter, mean, precision, scale, factor)
        if not factorize(factor):
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


@njit_loop
def weigh_gaussians(values, means, precision_factors, log_dets, by_state, vectors, log_obs):
    """Write the log densities of all steps in all states; NaN for a step with missing values."""
    n_dims, width, n_states = by_state.shape
    n_blocks = n_dims // width
    offsets, constants, sums = vectors[:n_dims], vectors[n_dims], vectors[n_dims + 1]
    for j in range(n_states):
        constants[j] = -n_dims * HALF_LOG_2_PI
        for b in range(n_blocks):
            k, begin, end = j * n_blocks + b, b * width, (b + 1) * width
            constants[j] += log_dets[k]
            lay_out(precision_factors[k], means[k], j, by_state[begin:end], offsets[begin:end])
    for t in range(values.shape[0]):
        for j in range(n_states):
            log_obs[t, j] = constants[j]
        for b in range(n_blocks):
            begin, end = b * width, (b + 1) * width
            subtract_squares(
                values[t, begin:end], by_state[begin:end], offsets[begin:end], sums, log_obs[t]
            )


# Missing values


@njit_loop
def weigh_incomplete(
    values, rows, pattern_ptr, orders, n_seen, means, precision_factors, by_state, vectors,
    precision_factor, x, log_obs,
):  # fmt: skip
    """Write the log densities of the observed values of incomplete steps."""
    n_patterns, n_blocks, width = orders.shape
    n_dims, n_states = n_blocks * width, log_obs.shape[1]
    offsets, constants, sums = vectors[:n_dims], vectors[n_dims], vectors[n_dims + 1]
    for p in range(n_patterns):
        for j in range(n_states):
            constants[j] = 0.0
            for b in range(n_blocks):
                k, n, begin, end = j * n_blocks + b, n_seen[p, b], b * width, (b + 1) * width
                write_in_order(precision_factors[k], orders[p, b], n, precision_factor)
                for d in range(n):
                    constants[j] += math.log(precision_factor[d, d]) - HALF_LOG_2_PI
                    x[d] = means[k, orders[p, b, d]]
                lay_out(precision_factor, x[:n], j, by_state[begin:end], offsets[begin:end])
        for t in rows[pattern_ptr[p] : pattern_ptr[p + 1]]:
            for j in range(n_states):
                log_obs[t, j] = constants[j]
            for b in range(n_blocks):
                n, begin, end = n_seen[p, b], b * width, (b + 1) * width
                for d in range(n):
                    x[d] = values[t, begin + orders[p, b, d]]
                subtract_squares(x[:n], by_state[begin:end], offsets[begin:end], sums, log_obs[t])


@njit_loop
def impute(
    values,
    states,
    rows,
    pattern_ptr,
    orders,
    n_seen,
    means,
    precision_factors,
    weights,
    precision_factor,
    x,
    first,
    key,
    rng,
):
    """Draw the missing values of partly observed blocks in place, with a stream per row and block.
    Sigma is divided by `weights`, (N, B), unless None; `first` is the panel index of row 0.
    """
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
    for j in range(n_states):
        for d in range(n_dims):
            sums[j, d] = 0.0
            counts[j, d] = 0.0
    for t in range(values.shape[0]):
        for d in range(n_dims):
            if not math.isnan(values[t, d]):
                sums[states[t], d] += values[t, d]
                counts[states[t], d] += 1.0
    for j in range(n_states):
        for d in range(n_dims):
            if counts[j, d] > 0.0:
                centers[j, d] = sums[j, d] / counts[j, d]
