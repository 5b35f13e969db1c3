"""Draws from standard distributions, for kernels with an explicit stream.

Gamma, beta and Dirichlet draws with small shapes are computed as logarithms: on a linear scale a
Gamma(1e-3) variate underflows to 0 in every second draw, and a weight that became 0 stays 0.

| name | shape | meaning |
|---|---|---|
| rng | (4,) uint64 | stream, advanced in place |
| shape, alpha, beta | scalar or (K,) | shape parameters, > 0; 0 means the limit |
| weights, total | (K,), scalar | unnormalized probabilities and their sum |
"""

import math

from skdp._numeric._numba import njit, njit_inlined, njit_loop, njit_outlined
from skdp._numeric._random._xoshiro import next_double, next_open_double
from skdp._numeric._random._ziggurat import draw_exponential, draw_normal


@njit
def draw_bernoulli(probability, rng):
    """Return True with the given probability."""
    return next_double(rng) < probability


@njit
def draw_categorical(weights, total, rng):
    """Return i with probability weights[i] / total; its weight is never 0."""
    rest = next_double(rng) * total
    last = -1
    for i in range(weights.shape[0]):
        if weights[i] > 0.0:
            last = i
            rest -= weights[i]
            if rest < 0.0:
                break
    return last  # the last possible category if rounding left a rest


@njit_inlined
def gamma_constants(shape):
    """Return d and c of Marsaglia and Tsang (2000) for a shape >= 1."""
    d = shape - 1.0 / 3.0
    return d, 1.0 / math.sqrt(9.0 * d)


@njit_inlined
def _draw_gamma_above_one(d, c, rng):
    """Return a Gamma(shape, 1) draw, shape >= 1 (Marsaglia and Tsang, 2000)."""
    while True:
        x = draw_normal(rng)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = next_open_double(rng)
        # The first test is a squeeze that avoids the logarithms 49 times in 50.
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return d * v
        if math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v


@njit_inlined
def draw_log_small_gamma(d, c, reciprocal, rng):
    """Return the log of a Gamma(shape, 1) draw, shape < 1: Gamma(shape + 1) U^(1 / shape).
    For many draws: d and c are ``gamma_constants(shape + 1)``, `reciprocal` is 1 / shape.
    """
    return math.log(_draw_gamma_above_one(d, c, rng)) - reciprocal * draw_exponential(rng)


@njit_outlined
def draw_log_gamma(shape, rng):
    """Return the logarithm of a Gamma(shape, 1) draw; -inf for shape 0."""
    if shape >= 1.0:
        d, c = gamma_constants(shape)
        return math.log(_draw_gamma_above_one(d, c, rng))
    if shape <= 0.0:
        return -math.inf
    d, c = gamma_constants(shape + 1.0)
    return draw_log_small_gamma(d, c, 1.0 / shape, rng)


@njit_outlined
def draw_gamma(shape, rng):
    """Return a Gamma(shape, 1) draw; it may underflow to 0 for a tiny shape."""
    if shape >= 1.0:
        d, c = gamma_constants(shape)
        return _draw_gamma_above_one(d, c, rng)
    return math.exp(draw_log_gamma(shape, rng))


@njit_outlined
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


@njit_outlined
def draw_beta(alpha, beta, rng):
    """Return a Beta(alpha, beta) draw; it may round to 0 or 1 for tiny shapes."""
    return math.exp(draw_log_beta(alpha, beta, rng)[0])


@njit
def draw_dirichlet(alpha, out, rng):
    """Write a Dirichlet(alpha) draw to `out`, (K,); some of the shapes may be 0."""
    n = alpha.shape[0]
    largest = -math.inf
    for k in range(n):
        out[k] = draw_log_gamma(alpha[k], rng)
        largest = max(largest, out[k])
    if largest == -math.inf:
        # If all shapes are below 1e-305, draw corner k with probability alpha_k / sum alpha.
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


@njit_outlined
def draw_binomial(n, probability, rng):
    """Return the number of n events of the given probability that happen."""
    # A large n is cut in two (Relles, 1972): x, the i-th smallest of n uniform draws, is
    # Beta(i, n + 1 - i), and determines on which side of the probability i draws at once are.
    successes = 0
    while n > 16:
        i = n // 2 + 1
        x = draw_beta(float(i), float(n + 1 - i), rng)
        if x <= probability:
            successes += i
            n -= i
            probability = (probability - x) / (1.0 - x)
        else:
            n = i - 1
            probability /= x
    for _ in range(n):
        successes += next_double(rng) < probability
    return successes


@njit_outlined
def draw_poisson(mean, rng):
    """Return a Poisson draw of finite mean >= 0."""
    # Ahrens and Dieter (1974): the m-th event of a process of rate 1 is at time x ~ Gamma(m). If
    # that is before `mean`, count on from there; else the first m - 1 are uniform on (0, x).
    events = 0
    while mean > 16.0:
        m = int(0.875 * mean)
        x = draw_gamma(float(m), rng)
        if x > mean:
            return events + draw_binomial(m - 1, mean / x, rng)
        events += m
        mean -= x
    time = draw_exponential(rng)
    while time < mean:
        events += 1
        time += draw_exponential(rng)
    return events


@njit_loop
def shuffle(order, rng):
    """Put numbers in a random order."""
    for i in range(order.shape[0] - 1, 0, -1):
        j = int(next_double(rng) * (i + 1))
        order[i], order[j] = order[j], order[i]
