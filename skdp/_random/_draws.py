"""Draws from the standard distributions, made in kernels from an explicit stream.

Gamma, beta and Dirichlet draws with small shapes are made in logs: a Gamma(1e-3) variate
underflows to 0 on a linear scale once in two draws, and a weight that became 0 stays 0.

| name | shape | meaning |
|---|---|---|
| rng | (4,) uint64 | stream, advanced in place |
| shape, alpha, beta | scalar or (K,) | shape parameters, > 0; a 0 is taken as the limit |
| weights, total | (K,), scalar | unnormalised probabilities and their sum |
"""

import math

from skdp._numba import njit
from skdp._random._xoshiro import next_double, next_open_double


@njit
def draw_bernoulli(probability, rng):
    """Return True with the given probability."""
    return next_double(rng) < probability


@njit
def draw_categorical(weights, total, rng):
    """Return i with probability weights[i] / total; never one of weight 0."""
    rest = next_double(rng) * total
    last = -1
    for i in range(weights.shape[0]):
        if weights[i] > 0.0:
            last = i
            rest -= weights[i]
            if rest < 0.0:
                break
    return last  # where rounding left a rest: the last possible category


@njit
def draw_exponential(rng):
    """Return a draw from the exponential distribution of mean 1."""
    return -math.log(next_open_double(rng))


@njit
def draw_normal(rng):
    """Return a standard normal draw (Marsaglia's polar method)."""
    while True:
        x = 2.0 * next_double(rng) - 1.0
        y = 2.0 * next_double(rng) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x * math.sqrt(-2.0 * math.log(square) / square)


@njit
def _draw_gamma_above_one(shape, rng):
    """Return a Gamma(shape, 1) draw, shape >= 1 (Marsaglia and Tsang, 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = draw_normal(rng)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = next_open_double(rng)
        # The first test is a squeeze that spares the logarithms 49 times in 50.
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return d * v
        if math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v


@njit
def draw_log_gamma(shape, rng):
    """Return the logarithm of a Gamma(shape, 1) draw; -inf for shape 0.

    Below 1 by the identity Gamma(shape) = Gamma(shape + 1) U^(1 / shape).
    """
    if shape >= 1.0:
        return math.log(_draw_gamma_above_one(shape, rng))
    if shape <= 0.0:
        return -math.inf
    log_draw = math.log(_draw_gamma_above_one(shape + 1.0, rng))
    return log_draw - draw_exponential(rng) / shape


@njit
def draw_gamma(shape, rng):
    """Return a Gamma(shape, 1) draw; it may underflow to 0 for a tiny shape."""
    if shape >= 1.0:
        return _draw_gamma_above_one(shape, rng)
    return math.exp(draw_log_gamma(shape, rng))


@njit
def draw_log_beta(alpha, beta, rng):
    """Return log x and log(1 - x) of a Beta(alpha, beta) draw x, both to full precision."""
    log_x, log_y = draw_log_gamma(alpha, rng), draw_log_gamma(beta, rng)
    if log_x == -math.inf and log_y == -math.inf:
        if draw_bernoulli(alpha / (alpha + beta), rng):
            return 0.0, -math.inf
        return -math.inf, 0.0
    log_odds = log_x - log_y
    tail = math.log1p(math.exp(-abs(log_odds)))
    return min(log_odds, 0.0) - tail, min(-log_odds, 0.0) - tail


@njit
def draw_beta(alpha, beta, rng):
    """Return a Beta(alpha, beta) draw; it may round to 0 or 1 for tiny shapes."""
    return math.exp(draw_log_beta(alpha, beta, rng)[0])


@njit
def draw_dirichlet(alpha, out, rng):
    """Write a Dirichlet(alpha) draw to `out`.

    Parameters
    ----------
    alpha : (K,) float64
        Shapes, of any size; some of them may be 0.
    out : (K,) float64, output
        Sums to 1.
    rng : (4,) uint64
    """
    n = alpha.shape[0]
    largest = -math.inf
    for k in range(n):
        out[k] = draw_log_gamma(alpha[k], rng)
        largest = max(largest, out[k])
    if largest == -math.inf:
        # All shapes below 1e-305: a corner, and corner k with probability alpha_k / sum alpha.
        corner = draw_categorical(alpha, alpha.sum(), rng)
        for k in range(n):
            out[k] = 0.0
        out[corner] = 1.0
        return
    total = 0.0
    for k in range(n):
        out[k] = math.exp(out[k] - largest)
        total += out[k]
    for k in range(n):
        out[k] /= total
