"""Generalized Stirling numbers and their ratios: integrals, patches of polynomials, and a table.

S^n_t (Du, 2012, equation 3.4; discount a) counts the ways to seat n customers at t tables:

    S^{n+1}_t = S^n_{t-1} + (n - a t) S^n_t,    S^0_0 = 1.

The numbers overflow, but their ratios do not, and Gibbs samplers need only ratios. Ratios beyond
the table come from the patches after it; without patches, and for the numbers themselves, an
integral is used.

| name | symbol | shape | meaning |
|---|---|---|---|
| n, t | N, T | scalars | customers and tables, 1 <= t <= n or n = t = 0 |
| a | a | scalar | discount, 0 <= a < 1 |
| values | U, V | (P, 2) | U = S^{n+1}_t / S^n_t and V = S^{n+1}_{t+1} / S^n_t, row after row |
| row_ptr | | (rows + 1,) int64 | pair (n, t) is values[row_ptr[n] + t], if row n contains t |
| r | R^n_t | (width + 2,) | S^n_t / S^n_{t-1} of the current row: infinite at t = 1, 0 at t > n |
"""

# mypy: ignore-errors

import cmath
import math
from functools import partial

import numpy as np

from skdp._numeric._numba import njit, njit_inlined_source, njit_loop, njit_outlined
from skdp._numeric._simd import assume_nonnegative, evaluate_polynomial

# Generalized Stirling numbers and their ratios as integrals, for any number of customers.
#
# Cauchy's integral for the generating function of column t - 1, S^n_{t-1} = n! / (t-1)! [x^n]
# phi(x)^{t-1} with phi(x) = (1 - (1 - x)^a) / a, becomes, with x = 1 - exp(-v) and one integration
# by parts,
#
#     S^n_{t-1} = (n-1)! / (t-2)!  1/(2 pi i) int phi^{t-2} x^{-n} exp(-a v) dv,
#
# where phi = (1 - exp(-a v)) / a (v if a = 0); an additional factor phi / (t - 1) gives S^n_t. The
# path is a parabola open to the left through the saddle point, between the poles x = 0 at 0 and at
# +-2 pi i. It is close to the path of steepest descent both if t is near n (small v) and if t is
# small, when it wraps around the cut x > 1. The trapezoidal rule converges geometrically on it: 15
# to 30 nodes (at most 150, if n is small) give R with a relative error below 5e-11 up to n = 10^6
# and a = .999; most of it is rounding, in proportion to n and to 1 / (1 - a).


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


# Ratios of generalized Stirling numbers beyond the table: polynomials on patches of (n, t).
#
# Integrals, which take microseconds, are too slow for sweeps over a segment of 30,000 words. But
#
#     H = R^n_t n m / (n - m),    m = t - 1,
#
# is a smooth function of real n and t: it is 2 / (1 - a) for t = n, varies with the logarithm of
#
#     w = 1 + (n - t) / (m (1 - a)),
#
# and, given w, depends on m less and less as m grows. So the plane is divided into patches: a row
# of patches for each octave of m, with `COLUMNS` columns for each octave of w. On a patch H is the
# polynomial in w and 1 / m, of degrees 8 and 7, through the integrals at Chebyshev points; in the
# rows with m < 16 the points are the integers m, for which no interpolation in m is needed.
#
# A patch is filled at its first use. Its coefficients are NaN before, and depend only on its place
# and a: threads that fill a patch at the same time write the same numbers, a thread that reads a
# NaN fills the patch itself, and a ratio does not depend on previous calls. A patch costs as much
# as 72 integrals, and a topic passes some ten patches on its way to 10^5 customers.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | values | | (P, 2) | pairs of the table, then a head of 2 pairs, then the patches |
# | first | | scalar | index of the head: (largest n, columns), (1 / (1 - a), 0) |
# | row, column | | scalars | octave of m, quarter of an octave of w |
# | x, s | | scalars | w and 1 / m on the patch, from -1 to 1 |
# | patch | c_ij | (PAIRS, 2) | coefficient of x^i s^j is number i S_POINTS + j |


SMALLEST_COUNT = 1_001
"""Smallest number of customers for patches; for fewer customers the table is complete."""

LARGEST_DISCOUNT = 1.0 - 1e-5
"""Largest discount for patches, accurate to 1e-7; beyond it the slow but accurate integrals."""

HEAD = 2
COLUMNS = 4  # per octave of w: the top two bits of its mantissa are the column
X_POINTS, S_POINTS = 9, 8
PAIRS = X_POINTS * S_POINTS // 2


def count_patches(n_max: int, discount: float) -> tuple[int, int]:
    """Return the rows and columns of patches that ratios of up to `n_max` customers need."""
    rows = int(n_max).bit_length()
    octaves = math.frexp(1.0 + n_max / (1.0 - discount))[1]
    return rows, COLUMNS * octaves


def clear_patches(values, first, n_max, discount):
    """Write the head and mark all patches as not filled."""
    values[first] = n_max, count_patches(n_max, discount)[1]
    values[first + 1] = 1.0 / (1.0 - discount), 0.0
    values[first + HEAD :] = np.nan


@njit
def _expand(points, heights):
    """Replace `heights` at `points` by the coefficients of the interpolating polynomial."""
    n = points.shape[0]
    for order in range(1, n):  # divided differences
        for i in range(n - 1, order - 1, -1):
            heights[i] = (heights[i] - heights[i - 1]) / (points[i] - points[i - order])
    for order in range(n - 2, -1, -1):  # Newton's form to powers
        for i in range(order, n - 1):
            heights[i] -= points[order] * heights[i + 1]


@partial(njit_outlined, makes_arrays=True)
def fill_patch(values, patch, row, column, a):
    """Fill the patch that begins at pair `patch`."""
    octave = 2.0**row
    n_points = min(2**row, S_POINTS)
    # Copy arrays because np.empty would compile numba's error messages, a second of a first fit.
    x, heights = values[:X_POINTS, 0].copy(), values[:X_POINTS, 0].copy()
    s, coefficients = values[:S_POINTS, 0].copy(), values[: 2 * PAIRS, 0].copy()
    w_low = 2.0 ** (column // COLUMNS) * (1.0 + column % COLUMNS / COLUMNS)
    w_width = 2.0 ** (column // COLUMNS) / COLUMNS
    for i in range(X_POINTS):
        x[i] = math.cos(math.pi * (i + 0.5) / X_POINTS)
    for i in range(2 * PAIRS):
        coefficients[i] = 0.0
    for j in range(n_points):
        m = octave + j
        s[j] = 4.0 * octave / m - 3.0
        if 2**row > S_POINTS:
            s[j] = math.cos(math.pi * (j + 0.5) / n_points)
            m = 4.0 * octave / (s[j] + 3.0)
        for i in range(X_POINTS):
            w = w_low + 0.5 * w_width * (x[i] + 1.0)
            n = m + 1.0 + (w - 1.0) * m * (1.0 - a)
            heights[i] = integrate(n, m + 1.0, a)[1] * n * m / (n - m)
        _expand(x, heights)
        for i in range(X_POINTS):
            coefficients[i * S_POINTS + j] = heights[i]
    for i in range(X_POINTS):
        begin = i * S_POINTS
        _expand(s[:n_points], coefficients[begin : begin + n_points])
        for j in range(begin, begin + S_POINTS):
            values[patch + j // 2, j % 2] = coefficients[j]


@njit_outlined
def patched_ratio(values, first, n, t, a):
    """Return R^n_t = S^n_t / S^n_{t-1} from its patch, 2 <= t <= n, `SMALLEST_COUNT` <= n."""
    m = t - 1.0
    u = 1.0 / m
    w = 1.0 + (n - t) * u * values[first + 1, 0]
    w_bits, m_bits = np.float64(w).view(np.int64), np.float64(m).view(np.int64)
    # A number is 1 + mantissa (52 bits), times 2 to the power of exponent (the bits above) - 1023.
    column = (w_bits >> 50) - 4 * 1023
    x = (w_bits & (2**50 - 1)) * 2.0**-49 - 1.0
    row = (m_bits >> 52) - 1023
    s = 4.0 * np.int64(m_bits & ~(2**52 - 1)).view(np.float64) * u - 3.0
    patch = assume_nonnegative(first + HEAD + (row * np.int64(values[first, 1]) + column) * PAIRS)
    height = evaluate_polynomial(values, patch, x, s)
    if height != height:
        fill_patch(values, patch, row, column, a)
        height = evaluate_polynomial(values, patch, x, s)
    return height * ((n - m) * u) / n


# The table, and numbers and ratios by whichever method applies.


@njit
def fill_ratios(values, row_ptr, a, r):
    """Fill the table row by row, by sums, products and quotients of positive numbers."""
    # So the relative error grows at most linearly in n, from 1e-16. Row n + 1 must depend only on
    # row n: its width (largest t) is at most that of row n, or n + 1 if row n is complete.
    r[1] = math.inf
    values[0, 0], values[0, 1] = 0.0, 1.0
    for n in range(1, row_ptr.shape[0] - 1):
        row, below = row_ptr[n], row_ptr[n - 1]
        width = row_ptr[n + 1] - row - 1
        for t in range(2, min(width + 1, n) + 1):
            r[t] = values[below + t - 1, 1] / values[below + t - 1, 0]
        values[row, 0], values[row, 1] = 0.0, 0.0  # no customers without a table
        for t in range(1, width + 1):
            values[row + t, 0] = n - a * t + 1.0 / r[t]
            values[row + t, 1] = 1.0 + (n - a * (t + 1)) * r[t + 1]


@njit_inlined_source
def _next_ratio(values, row_ptr, n, t, a):
    """Return R^n_t = S^n_t / S^n_{t-1}, t >= 2; 0 for t > n."""
    if t > n:
        return 0.0
    if t == n:
        return 2.0 / ((1.0 - a) * n * (n - 1.0))
    first = row_ptr[row_ptr.shape[0] - 1]
    if n >= SMALLEST_COUNT and first < values.shape[0] and n <= values[first, 0]:
        return patched_ratio(values, first, n, t, a)
    return integrate(float(n), float(t), a)[1]


@njit_loop
def share_ratio(values, row_ptr, n, t, a):
    """Return U = S^{n+1}_t / S^n_t: one more customer at the same number of tables."""
    if n < row_ptr.shape[0] - 1 and row_ptr[n] + t < row_ptr[n + 1]:
        return values[row_ptr[n] + t, 0]
    if t < 2:
        return n - a * t
    return n - a * t + 1.0 / _next_ratio(values, row_ptr, n, t, a)


@njit_loop
def open_ratio(values, row_ptr, n, t, a):
    """Return V = S^{n+1}_{t+1} / S^n_t: one more customer at its own table."""
    if n < row_ptr.shape[0] - 1 and row_ptr[n] + t < row_ptr[n + 1]:
        return values[row_ptr[n] + t, 1]
    if t == 0:
        return 1.0
    return 1.0 + (n - a * (t + 1)) * _next_ratio(values, row_ptr, n, t + 1, a)


@njit
def log_stirling(values, row_ptr, n, t, a):
    """Return log S^n_t; -inf if no seating exists."""
    if t == n:
        return 0.0
    if t < 1 or t > n:
        return -math.inf
    if n - t <= 32 and n < row_ptr.shape[0] and row_ptr[n - 1] + t < row_ptr[n]:
        product = 1.0  # below n^32
        for i in range(t, n):
            product *= values[row_ptr[i] + t, 0]
        return math.log(product)
    if t == 1:
        return math.lgamma(n - a) - math.lgamma(1.0 - a)
    if t == n - 1:
        return math.log(0.5 * (1.0 - a) * n * (n - 1.0))
    return integrate(float(n), t + 1.0, a)[0]
