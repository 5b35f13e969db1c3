r"""Draws from the Polya-Gamma distribution, for kernels with an explicit stream.

PG(1, z) is the distribution of J(1, z / 2) / 4, where J(1, c) has the density

    cosh(c) exp(-c^2 x / 2) f(x),   f(x) = sum_n (-1)^n a_n(x),

and f is the density of J(1, 0) (Devroye 2009; Polson, Scott and Windle 2013). For x <= `CUT`,
a_n(x) = pi (n + 1/2) (2 / (pi x))^(3/2) exp(-2 (n + 1/2)^2 / x); beyond it, a_n(x) =
pi (n + 1/2) exp(-(n + 1/2)^2 pi^2 x / 2). In both ranges a_n falls with n, so that the partial sums
alternately bound f from above and below. A proposal from the density that is proportional to
exp(-c^2 x / 2) a_0(x), an inverse Gaussian below `CUT` and an exponential beyond it, is accepted
with probability f(x) / a_0(x): the draws are exact.

Moments: E[omega] = tanh(z / 2) / (2 z), and E[exp(-t omega)] = cosh(z / 2) / cosh(sqrt(z^2 / 4 +
t / 2)).
"""

import math

from skdp._numeric._numba import njit, njit_internal_nogc
from skdp._numeric._random._xoshiro import next_double
from skdp._numeric._random._ziggurat import draw_exponential, draw_normal

CUT = 0.64
"""The point between both expansions of the density; its choice affects only the speed."""

LARGE = 30.0
"""Values of c from which the part beyond `CUT` has a probability below 1e-100."""

LARGEST = 1e100
"""Values of |z| beyond which draws equal 1 / (2 |z|) to all digits.

The mean tends to 1 / (2 |z|) and the variance to 1 / (2 |z|^3): the relative spread is
sqrt(2 / |z|). Squares of much larger values overflow.
"""

ROOT_HALF = math.sqrt(0.5)


@njit_internal_nogc
def find_tail_share(c):
    """Return the share of the proposals beyond `CUT`."""
    if c > LARGE:
        return 0.0
    rate = 0.125 * math.pi**2 + 0.5 * c * c
    tail = 0.5 * math.pi / rate * math.exp(-rate * CUT)
    root = math.sqrt(1.0 / CUT)
    # Twice the probability of an inverse Gaussian of mean 1 / c below the cut, times exp(-c).
    head = math.exp(-c) * math.erfc(-root * (CUT * c - 1.0) * ROOT_HALF)
    head += math.exp(c) * math.erfc(root * (CUT * c + 1.0) * ROOT_HALF)
    return tail / (tail + head)


@njit_internal_nogc
def draw_short_time(c, rng):
    """Return an inverse Gaussian draw < `CUT` of mean 1 / c and shape 1; Lévy's law if c is 0."""
    if c * CUT < 1.0:
        while True:
            first = draw_exponential(rng)
            while first * first > 2.0 * draw_exponential(rng) / CUT:
                first = draw_exponential(rng)
            x = CUT / ((1.0 + CUT * first) * (1.0 + CUT * first))
            if next_double(rng) < math.exp(-0.5 * c * c * x):
                return x
    while True:
        normal = draw_normal(rng)
        # The smaller root of Michael, Schucany and Haas (1976), without cancellation.
        away = 0.5 * normal * normal / c
        x = 1.0 / (c * (1.0 + away + math.sqrt(away * (2.0 + away))))
        if next_double(rng) * (1.0 + c * x) > 1.0:
            x = 1.0 / (c * c * x)
        if x < CUT:
            return x


@njit_internal_nogc
def find_coefficient(n, x):
    """Return a_n(x)."""
    k = n + 0.5
    if x > CUT:
        return math.pi * k * math.exp(-0.5 * k * k * math.pi**2 * x)
    return math.pi * k * (2.0 / (math.pi * x)) ** 1.5 * math.exp(-2.0 * k * k / x)


@njit
def draw_polya_gamma(z, rng):
    """Return a PG(1, z) draw, for any finite z."""
    if abs(z) > LARGEST:
        return 0.5 / abs(z)
    c = 0.5 * abs(z)
    share = find_tail_share(c)
    while True:
        if next_double(rng) < share:
            x = CUT + draw_exponential(rng) / (0.125 * math.pi**2 + 0.5 * c * c)
        else:
            x = draw_short_time(c, rng)
        total = find_coefficient(0, x)
        bound = next_double(rng) * total
        n = 0
        while True:
            n += 1
            total -= find_coefficient(n, x)
            if bound <= total:
                return 0.25 * x
            n += 1
            total += find_coefficient(n, x)
            if bound > total:
                break
