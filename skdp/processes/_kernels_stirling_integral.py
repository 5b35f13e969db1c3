"""Generalized Stirling numbers and their ratios as integrals, for any number of customers.

Symbols are the same as in ``_kernels_stirling.py``. Cauchy's integral for the generating function
of column t - 1, S^n_{t-1} = n! / (t-1)! [x^n] phi(x)^{t-1} with phi(x) = (1 - (1 - x)^a) / a,
becomes, with x = 1 - exp(-v) and one integration by parts,

    S^n_{t-1} = (n-1)! / (t-2)!  1/(2 pi i) int phi^{t-2} x^{-n} exp(-a v) dv,

where phi = (1 - exp(-a v)) / a (v if a = 0); an additional factor phi / (t - 1) gives S^n_t. The
path is a parabola open to the left through the saddle point, between the poles x = 0 at 0 and at
+-2 pi i. It is close to the path of steepest descent both if t is near n (small v) and if t is
small, when it wraps around the cut x > 1. The trapezoidal rule converges geometrically on it: 15 to
30 nodes (at most 150, if n is small) give R with a relative error below 5e-11 up to n = 10^6 and
a = .999; most of it is rounding, in proportion to n and to 1 / (1 - a).
"""

# mypy: ignore-errors

import cmath
import math

from skdp._numeric._numba import njit, njit_outlined


@njit
def _one_minus_exp(v):
    """Return 1 - exp(-v) for complex v, without cancellation at small v."""
    decay = math.exp(-v.real)
    sine = math.sin(0.5 * v.imag)
    return complex(-math.expm1(-v.real) + 2.0 * decay * sine * sine, decay * math.sin(v.imag))


@njit
def _saddle_point(n, p, a):
    """Return (roughly) the v > 0 that minimizes phi(v)^p / x(v)^n, p < n."""
    # The logarithm of x phi'(x) / phi(x) = n / p is convex in v, with a slope between (1 - a) / 2
    # and 1 - a, so Newton's method converges to the root from the right.
    target = math.log1p((n - p) / p)
    v = 2.0 * target / (1.0 - a)
    step = v
    while step > 0.01 * v:
        x = -math.expm1(-v)
        phi = -math.expm1(-a * v) / a if a > 0.0 else v
        excess = (1.0 - a) * v + math.log(x / phi) - target
        step = excess / (1.0 / x - math.exp(-a * v) / phi - a)
        v -= step
    return v


@njit_outlined
def integrate(n, t, a):
    """Return log S^n_{t-1} and R^n_t = S^n_t / S^n_{t-1} for 2 <= t <= n - 1, any n."""
    p = t - 2.0
    q = n - p
    # To the right of log(q) the integrand is flat, and a path from there would come near the poles.
    v0 = min(_saddle_point(n, t - 1.0, a), math.log1p(0.3 * q))
    x0 = -math.expm1(-v0)
    phi0 = -math.expm1(-a * v0) / a if a > 0.0 else v0
    log_tilt = math.log(phi0 / x0)
    slope = math.exp(-a * v0) / phi0
    curvature = n * math.exp(-v0) / (x0 * x0) - (t - 1.0) * slope * (slope + a)
    step = 0.1
    if curvature > 0.0:  # at least two nodes per standard deviation of the peak
        step = min(step, 0.6 / (x0 * math.sqrt(curvature)))
    lower, upper = 0.5, 0.5  # integrals with phi^(t-2), phi^(t-1), relative to the value at v0
    for node in range(1, 1000):
        u = node * step
        path = complex(-u * u / 3.0, u) * x0
        x = _one_minus_exp(v0 + path)
        phi = _one_minus_exp(a * (v0 + path)) / a if a > 0.0 else v0 + path
        # phi^p x^-n as (phi / x)^p x^-q: neither exponent is large times a large logarithm.
        log_term = p * (cmath.log(phi / x) - log_tilt) - q * cmath.log(x / x0) - a * path
        term = cmath.exp(log_term) * complex(1.0, 2.0 * u / 3.0)
        term_upper = term * (phi / phi0)
        lower += term.real
        upper += term_upper.real
        if abs(term) < 1e-16 * abs(lower) and abs(term_upper) < 1e-16 * abs(upper):
            break
        if u > 3.7 and path.real + v0 > 4.0:
            break  # n > 10^6, a near 1: the terms, 1e-8 at most, would rise again near a pole
    log_lower = math.lgamma(n) - math.lgamma(t - 1.0) + math.log(lower * step * x0 / math.pi)
    log_lower += p * log_tilt - q * math.log(x0) - a * v0
    return log_lower, upper / lower * phi0 / (t - 1.0)
