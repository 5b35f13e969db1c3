"""Posterior scales of Gaussian clusters, also if values are absurd: see `_kernels` for symbols."""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_internal_nogc, njit_loop, njit_outlined
from skdp.emissions._gaussian._kernels import factorize, posterior_scale

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
    """Write the Cholesky factor of `posterior_scale`; return False if there is none.
    If less than a share `least` of a diagonal element is left, S is updated by the other terms.
    """
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
    """Return log p(x | z), with mu and Sigma integrated out; NaN: a scale is not positive definite.
    With weights u_t, x_t ~ N(mu, Sigma / u_t), it omits the sum of W / 2 log u_t.
    """
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
