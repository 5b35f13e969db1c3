r"""Student t densities: the predictive densities of Gaussian states given their observations.

Columns are B blocks of W, as in `_kernels`. Component k is a multivariate t distribution
of W columns with nu_k degrees of freedom about m_k and the scale A_k / nu_k,

    log p(x) = log Gamma((nu + W) / 2) - log Gamma(nu / 2) - W / 2 log pi - log det A / 2
               - (nu + W) / 2 log(1 + (x - m)^T A^-1 (x - m)).

The observed columns of an incomplete block have the same degrees of freedom and their part of A.

| name | symbol | shape | meaning |
|---|---|---|---|
| values | x_t | (N, D) float64 | NaN is missing |
| means | m_k | (K, W) | |
| factors | U_k | (K, W, W) | lower triangular, U^T U = A^-1 |
| freedoms | nu_k | (K,) | degrees of freedom |
| by_state, offsets | | (D, W, J), (D, J) | U and U m of all states, over sqrt 2: see `lay_out` |
| exponents | (nu + W) / 2 | (B, J) | |
| constants | | (J,) | the terms without x |
| log_obs | log L_tj | (N, J) | log p(x_t given state j), output |

Rows with missing values are listed as in `_kernels`.
"""

# mypy: ignore-errors

import math

from skdp._numeric._elementary import fast_log
from skdp._numeric._numba import (
    njit_forceinline,
    njit_inlined_source,
    njit_internal_nogc,
    njit_loop,
)
from skdp.emissions._gaussian._kernels import lay_out, subtract_squares, write_in_order

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
def weigh_students(
    values, means, factors, freedoms, by_state, offsets, exponents, vectors, log_obs
):
    """Write the log densities of all steps in all states; NaN for a step with missing values."""
    n_dims, width, n_states = by_state.shape
    n_blocks = n_dims // width
    constants, sums, squares = vectors[0], vectors[1], vectors[2]
    for j in range(n_states):
        constants[j] = 0.0
        for b in range(n_blocks):
            k, begin, end = j * n_blocks + b, b * width, (b + 1) * width
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
            subtract_logs(
                values[t, begin:end], by_state[begin:end], offsets[begin:end], exponents[b], sums,
                squares, log_obs[t],
            )  # fmt: skip


@njit_loop
def weigh_incomplete_students(
    values, rows, pattern_ptr, orders, n_seen, means, factors, freedoms, by_state, offsets,
    exponents, vectors, factor, x, log_obs,
):  # fmt: skip
    """Write the log densities of the observed values of incomplete steps."""
    n_patterns, n_blocks, width = orders.shape
    n_states = log_obs.shape[1]
    constants, sums, squares = vectors[0], vectors[1], vectors[2]
    for p in range(n_patterns):
        for j in range(n_states):
            constants[j] = 0.0
            for b in range(n_blocks):
                k, n, begin, end = j * n_blocks + b, n_seen[p, b], b * width, (b + 1) * width
                write_in_order(factors[k], orders[p, b], n, factor)
                constants[j] += log_normalizer(freedoms[k], n)
                for d in range(n):
                    constants[j] += math.log(factor[d, d])
                    x[d] = means[k, orders[p, b, d]]
                exponents[b, j] = 0.5 * (freedoms[k] + n)
                lay_out(factor, x[:n], j, by_state[begin:end], offsets[begin:end])
        for t in rows[pattern_ptr[p] : pattern_ptr[p + 1]]:
            for j in range(n_states):
                log_obs[t, j] = constants[j]
            for b in range(n_blocks):
                n, begin, end = n_seen[p, b], b * width, (b + 1) * width
                for d in range(n):
                    x[d] = values[t, begin + orders[p, b, d]]
                subtract_logs(
                    x[:n], by_state[begin:end], offsets[begin:end], exponents[b], sums, squares,
                    log_obs[t],
                )  # fmt: skip
