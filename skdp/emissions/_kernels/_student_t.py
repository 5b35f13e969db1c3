r"""Gaussian vectors whose precisions vary: x_t ~ N(mu_k, Sigma_k / u_tb), in blocks of columns.

Under u ~ Gamma(nu / 2, nu / 2) a block is a Student t vector: see `_kernels/_gaussian`. Names
and layout are those there, with

| name | symbol | shape | meaning |
|---|---|---|---|
| weights | u_tb | (N, B) | factor of the precision of a block at a step |
| distances | d_tb | (N, B) | (x - mu)^T Sigma^-1 (x - mu) of the observed columns of a block |
| n_observed | n_tb | (N, B) | number of observed columns of a block |
| masses | w_k | (K,) | sum of the weights of a component |
| centers, scatter | | (K, W), (K, W, W) | weighted by u |

Mixtures over nodes u_i of the predictive densities of n columns given u_i have

| name | symbol | shape | meaning |
|---|---|---|---|
| distances | d | (N, K) | from m_k, by the posterior scale S_k |
| half_n, shape | n / 2, nu / 2 | | |
| exponents | e_k | (K,) | (df_k + n) / 2 |
| scales | a_k | (K,) | |
| log_weights, nodes | log w_i, log u_i | (Q,) | ascending by equal steps |
| precisions, log_precisions | s_ik, log s_ik | (K, Q) | s_ik = 1 / (1 / u_i + 1 / c_k) |
"""

# mypy: ignore-errors

import math

from skdp._numeric._arithmetic import fast_exp
from skdp._numeric._numba import njit_loop
from skdp._numeric._random import draw_gamma
from skdp.emissions._kernels._gaussian import fast_log_1p, find_peak, write_in_order

LARGEST_DISTANCE = 1e280
"""Distance far beyond any observation in sensible units; products with it are finite."""


@njit_loop
def add_up_weighted(values, weights, states, counts, masses, centers, scatter):
    """Write the weighted statistics of all components; missing blocks are left out."""
    n_components, width = centers.shape
    n_blocks = values.shape[1] // width
    for k in range(n_components):
        counts[k] = 0.0
        masses[k] = 0.0
        for d in range(width):
            centers[k, d] = 0.0
            for e in range(d + 1):
                scatter[k, d, e] = 0.0
    for t in range(values.shape[0]):
        for b in range(n_blocks):
            if not math.isnan(values[t, b * width]):
                k = states[t] * n_blocks + b
                counts[k] += 1.0
                masses[k] += weights[t, b]
                for d in range(width):
                    centers[k, d] += weights[t, b] * values[t, b * width + d]
    for k in range(n_components):
        if masses[k] > 0.0:
            for d in range(width):
                centers[k, d] /= masses[k]
    for t in range(values.shape[0]):
        for b in range(n_blocks):
            if not math.isnan(values[t, b * width]):
                k = states[t] * n_blocks + b
                for d in range(width):
                    x = weights[t, b] * (values[t, b * width + d] - centers[k, d])
                    for e in range(d + 1):
                        scatter[k, d, e] += x * (values[t, b * width + e] - centers[k, e])


@njit_loop
def measure(values, states, means, precision_factors, distances):
    """Write the distances of complete blocks from the means of their states; NaN for others."""
    width = means.shape[1]
    n_blocks = values.shape[1] // width
    for t in range(values.shape[0]):
        for b in range(n_blocks):
            k = states[t] * n_blocks + b
            distance = 0.0
            for d in range(width):
                y = 0.0
                for e in range(d + 1):
                    y += precision_factors[k, d, e] * (values[t, b * width + e] - means[k, e])
                distance += y * y
            distances[t, b] = distance


@njit_loop
def measure_incomplete(
    values, states, rows, pattern_ptr, orders, n_seen, means, precision_factors, precision_factor,
    distances,
):  # fmt: skip
    """Write the distances of the observed columns of incomplete steps; 0 if there are none."""
    n_patterns, n_blocks, width = orders.shape
    for p in range(n_patterns):
        for b in range(n_blocks):
            order, n = orders[p, b], n_seen[p, b]
            if n == width:
                continue
            for t in rows[pattern_ptr[p] : pattern_ptr[p + 1]]:
                k = states[t] * n_blocks + b
                write_in_order(precision_factors[k], order, n, precision_factor)
                distance = 0.0
                for d in range(n):
                    y = 0.0
                    for e in range(d + 1):
                        x = values[t, b * width + order[e]] - means[k, order[e]]
                        y += precision_factor[d, e] * x
                    distance += y * y
                distances[t, b] = distance


@njit_loop
def measure_all(values, means, precision_factors, distances):
    """Write the distances of all steps from the means of all states, (N, J), to `distances`."""
    for t in range(values.shape[0]):
        for j in range(means.shape[0]):
            distance = 0.0
            for d in range(values.shape[1]):
                y = 0.0
                for e in range(d + 1):
                    y += precision_factors[j, d, e] * (values[t, e] - means[j, e])
                distance += y * y
            distances[t, j] = min(distance, LARGEST_DISTANCE)


@njit_loop
def draw_weights(distances, n_observed, freedom, weights, rng):
    """Draw u_tb ~ Gamma((nu + n_tb) / 2, (nu + d_tb) / 2)."""
    for t in range(distances.shape[0]):
        for b in range(distances.shape[1]):
            draw = draw_gamma(0.5 * (freedom + n_observed[t, b]), rng)
            weights[t, b] = 2.0 * draw / (freedom + distances[t, b])


@njit_loop
def mix_precisions(
    distances, half_n, shape, exponents, log_weights, nodes, precisions, log_precisions, terms, out
):  # fmt: skip
    """Write log sum_i w_i s_ik^(n / 2) (1 + d s_ik)^-e_k of all distances d to `out`, (N, K)."""
    n_nodes = nodes.shape[0]
    step = nodes[1] - nodes[0]
    total = shape + half_n
    reach = 25.0 / total + math.sqrt(50.0 / total)
    for t in range(distances.shape[0]):
        for k in range(distances.shape[1]):
            d, e = distances[t, k], exponents[k]
            # The largest term would be here without 1 / c_k, which can only raise it. Nodes far
            # below are left out: terms fall from there at least as fast as u^(shape + n / 2).
            low = min(math.log(find_peak(shape, total, e, d)), 0.0) - reach
            first = min(max(int((low - nodes[0]) / step), 0), n_nodes - 1)
            largest = -math.inf
            for i in range(first, n_nodes):
                term = log_weights[i] + half_n * log_precisions[k, i]
                terms[i] = term - e * fast_log_1p(d * precisions[k, i])
            for i in range(first, n_nodes):
                largest = max(largest, terms[i])
            result = 0.0
            for i in range(first, n_nodes):
                result += fast_exp(terms[i] - largest)
            out[t, k] = largest + math.log(result)


@njit_loop
def interpolate(distances, scales, pieces_per_unit, coefficients, out):
    """Write polynomials in log(1 + a_k d), one for each of P pieces of equal width, to `out`.
    `coefficients`, (K, P, M), are those for each piece from -1 to 1, constants first.
    """
    last, n_terms = coefficients.shape[1] - 1, coefficients.shape[2]
    for t in range(distances.shape[0]):
        for k in range(distances.shape[1]):
            out[t, k] = pieces_per_unit * fast_log_1p(scales[k] * distances[t, k])
        for k in range(distances.shape[1]):
            piece = min(int(out[t, k]), last)
            x = 2.0 * (out[t, k] - piece) - 1.0
            result = 0.0
            for i in range(n_terms - 1, -1, -1):
                result = result * x + coefficients[k, piece, i]
            out[t, k] = result
