r"""Logarithms of the Bhattacharyya coefficients of states: int sqrt(p_j(x) p_k(x)) dx, in [0, 1].

All tables are symmetric, with zeros on the diagonal.

| name | symbol | shape | meaning |
|---|---|---|---|
| means | mu_jb | (K, B, W) float64 | B independent blocks of W columns |
| covariances | Sigma_jb | (K, B, W, W) float64 | |
| half_log_dets | log det(Sigma_jb) / 2 | (K, B) float64 | |
| log_intensities | log lambda_jd | (K, D) float64 | |
| log_probs | log theta_jv | (K, V) float64 | finite, but perhaps as low as -1e9 |
| roots | sqrt(theta_jv) | (V, K) float64 | by symbol; 0 if it underflows |
| bits | log(1 - theta_jd), log theta_jd | (K, 2 D) float64 | alternating, two entries per column |
| out | log BC_jk | (K, K) float64 | <= 0 |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp.emissions._gaussian._kernels import factorize

SMALLEST_SUM = 1e-280
"""Sum below which underflowed terms may matter."""


@njit_loop
def compare_gaussians(means, covariances, half_log_dets, matrix, vector, out):
    """Write log BC of Gaussian states; return whether all covariances are positive definite."""
    # log BC = (log det Sigma_1 + log det Sigma_2) / 4 - log det M / 2 - Delta^T M^-1 Delta / 8,
    # where M is the mean of the covariances and Delta the difference of the means.
    n_states, n_blocks, width = means.shape
    for j in range(n_states):
        out[j, j] = 0.0
        for k in range(j):
            total = 0.0
            for b in range(n_blocks):
                for e in range(width):
                    vector[e] = means[j, b, e] - means[k, b, e]
                    for f in range(e + 1):
                        matrix[e, f] = 0.5 * (covariances[j, b, e, f] + covariances[k, b, e, f])
                if not factorize(matrix):
                    return False
                total += 0.5 * (half_log_dets[j, b] + half_log_dets[k, b])
                square = 0.0
                for e in range(width):
                    for f in range(e):
                        vector[e] -= matrix[e, f] * vector[f]
                    vector[e] /= matrix[e, e]
                    square += vector[e] * vector[e]
                    total -= math.log(matrix[e, e])
                total -= 0.125 * square
            out[j, k] = min(total, 0.0)
            out[k, j] = out[j, k]
    return True


@njit_loop
def compare_intensities(log_intensities, out):
    """Write log BC of independent Poisson columns, -sum_d (sqrt lambda_j - sqrt lambda_k)^2 / 2."""
    for j in range(out.shape[0]):
        out[j, j] = 0.0
        for k in range(j):
            total = 0.0
            for d in range(log_intensities.shape[1]):
                high = max(log_intensities[j, d], log_intensities[k, d])
                low = min(log_intensities[j, d], log_intensities[k, d])
                # From the difference of the logs, so that close intensities lose no digits.
                away = math.exp(0.5 * high) * math.expm1(0.5 * (low - high))
                total -= 0.5 * away * away
            out[j, k] = total
            out[k, j] = total


@njit_internal_nogc
def log_product_of_roots(first, second):
    """Return log sum_v sqrt(theta_v theta'_v) of two rows of logs, without underflow."""
    largest = -math.inf
    for v in range(first.shape[0]):
        largest = max(largest, 0.5 * (first[v] + second[v]))
    total = 0.0
    for v in range(first.shape[0]):
        total += math.exp(0.5 * (first[v] + second[v]) - largest)
    return largest + math.log(total)


@njit_loop
def add_products(roots, out):
    """Add sum_v sqrt(theta_jv theta_kv) to the lower triangle of `out`, four symbols at a time."""
    n_symbols, n_states = roots.shape
    rest = n_symbols - n_symbols % 4
    for v in range(0, rest, 4):
        a, b, c, d = roots[v], roots[v + 1], roots[v + 2], roots[v + 3]
        for j in range(n_states):
            row = out[j]
            for k in range(j):
                row[k] += (a[j] * a[k] + b[j] * b[k]) + (c[j] * c[k] + d[j] * d[k])
    for v in range(rest, n_symbols):
        for j in range(n_states):
            for k in range(j):
                out[j, k] += roots[v, j] * roots[v, k]


@njit_loop
def compare_probabilities(log_probs, roots, out):
    """Write log BC of categorical states: log sum_v sqrt(theta_jv theta_kv)."""
    for j in range(out.shape[0]):
        for k in range(out.shape[0]):
            out[j, k] = 0.0
    add_products(roots, out)
    for j in range(out.shape[0]):
        for k in range(j):
            if out[j, k] > SMALLEST_SUM:
                result = math.log(out[j, k])
            else:
                result = log_product_of_roots(log_probs[j], log_probs[k])
            out[j, k] = min(result, 0.0)
            out[k, j] = out[j, k]


@njit_loop
def compare_bits(bits, out):
    """Write log BC of independent columns of 0 and 1."""
    for j in range(out.shape[0]):
        out[j, j] = 0.0
        for k in range(j):
            total = 0.0
            for d in range(0, bits.shape[1], 2):
                zero, one = 0.5 * (bits[j, d] + bits[k, d]), 0.5 * (bits[j, d + 1] + bits[k, d + 1])
                total += max(zero, one) + math.log1p(math.exp(-abs(zero - one)))
            out[j, k] = min(total, 0.0)
            out[k, j] = out[j, k]
