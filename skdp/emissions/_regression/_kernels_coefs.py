"""What the kernels of regressions with Gaussian coefficients have in common.

The predictor of a target is o + p^T b: p are K regressors, the first of which is a constant, in
units of the prior, b ~ N(0, I), and o is the predictor under the prior mean. Given the rest, b is
Gaussian, or nearly so, with a precision P = L L^T and a mean P^-1 h.

| name | symbol | shape | meaning |
|---|---|---|---|
| row | p | (K,) | regressors |
| precisions | P | (J, D, K, K) | lower triangle |
| factors | L | (J, D, K, K) | |
| linears | h | (J, D, K) | |
| means | P^-1 h | (J, D, K) | |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop
from skdp.emissions._gaussian._kernels import factorize


@njit_inlined
def find_predictor(row, offset, coefs):
    """Return o + p^T b."""
    result = offset
    for k in range(row.shape[0]):
        result += row[k] * coefs[k]
    return result


@njit_internal_nogc
def clear(precisions, linears):
    """Write P and h of the prior."""
    n_states, n_targets, width = linears.shape
    for j in range(n_states):
        for d in range(n_targets):
            for k in range(width):
                linears[j, d, k] = 0.0
                for e in range(width):
                    precisions[j, d, k, e] = 1.0 if k == e else 0.0


@njit_inlined
def add_regressors(row, weight, left, precision, linear):
    """Add weight p p^T to P and left p to h."""
    for k in range(row.shape[0]):
        linear[k] += left * row[k]
        weighted = weight * row[k]
        for e in range(k + 1):
            precision[k, e] += weighted * row[e]


@njit_loop
def solve_means(precisions, linears, factors, means):
    """Write L and P^-1 h of all states; return False if a precision is not positive definite."""
    n_states, n_targets, _ = linears.shape
    for j in range(n_states):
        for d in range(n_targets):
            if not solve_mean(precisions[j, d], linears[j, d], factors[j, d], means[j, d]):
                return False
    return True


@njit_internal_nogc
def solve_mean(precision, linear, factor, mean):
    """Write L and P^-1 h of one regression; return False if P is not positive definite."""
    width = linear.shape[0]
    for k in range(width):
        for e in range(k + 1):
            factor[k, e] = precision[k, e]
    if not factorize(factor):
        return False
    for k in range(width):
        x = linear[k]
        for e in range(k):
            x -= factor[k, e] * mean[e]
        mean[k] = x / factor[k, k]
    solve_back(factor, mean)
    return True


@njit_internal_nogc
def solve_back(factor, x):
    """Replace x by the solution of L^T y = x."""
    for k in range(x.shape[0] - 1, -1, -1):
        y = x[k]
        for e in range(k + 1, x.shape[0]):
            y -= factor[e, k] * x[e]
        x[k] = y / factor[k, k]


@njit_internal_nogc
def find_square(row, factor, scratch):
    """Return |L^-1 p|^2, the variance of the predictor."""
    result = 0.0
    for k in range(row.shape[0]):
        x = row[k]
        for e in range(k):
            x -= factor[k, e] * scratch[e]
        scratch[k] = x / factor[k, k]
        result += scratch[k] * scratch[k]
    return result


@njit_internal_nogc
def find_new_square(row, factor):
    """Return |F a|^2, the variance of the predictor for a row of 1 and inputs."""
    result = 0.0
    for k in range(row.shape[0]):
        x = 0.0
        for e in range(k + 1):
            x += factor[k, e] * row[e]
        result += x * x
    return result


@njit_inlined
def add_term(term, largest, total):
    """Return the largest logarithm and the sum in its units, with one more term."""
    if term > largest:
        return term, total * math.exp(largest - term) + 1.0
    return largest, total + math.exp(term - largest)


@njit_internal_nogc
def log_normal_cdf(x):
    """Return the logarithm of the standard normal distribution function."""
    if x > -30.0:
        return math.log(0.5 * math.erfc(-x * math.sqrt(0.5)))
    y = 1.0 / (x * x)
    series = 1.0 - y * (1.0 - y * (3.0 - y * (15.0 - y * 105.0)))
    return -0.5 * x * x - math.log(-x * math.sqrt(2.0 * math.pi)) + math.log(series)
