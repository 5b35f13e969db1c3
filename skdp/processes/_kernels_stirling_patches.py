"""Ratios of generalized Stirling numbers beyond the table: polynomials on patches of (n, t).

Integrals, which take microseconds, are too slow for sweeps over a segment of 30,000 words. But

    H = R^n_t n m / (n - m),    m = t - 1,

is a smooth function of real n and t: it is 2 / (1 - a) for t = n, varies with the logarithm of

    w = 1 + (n - t) / (m (1 - a)),

and, given w, depends on m less and less as m grows. So the plane is divided into patches: a row of
patches for each octave of m, with `COLUMNS` columns for each octave of w. On a patch H is the
polynomial in w and 1 / m, of degrees 8 and 7, through the integrals at Chebyshev points; in the
rows with m < 16 the points are the integers m, for which no interpolation in m is needed.

A patch is filled at its first use. Its coefficients are NaN before, and depend only on its place
and a: threads that fill a patch at the same time write the same numbers, a thread that reads a NaN
fills the patch itself, and a ratio does not depend on previous calls. A patch costs as much as 72
integrals, and a topic passes some ten patches on its way to 10^5 customers.

| name | symbol | shape | meaning |
|---|---|---|---|
| values | | (P, 2) | pairs of the table, then a head of 2 pairs, then the patches |
| first | | scalar | index of the head: (largest n, columns), (1 / (1 - a), 0) |
| row, column | | scalars | octave of m, quarter of an octave of w |
| x, s | | scalars | w and 1 / m on the patch, from -1 to 1 |
| patch | c_ij | (PAIRS, 2) | coefficient of x^i s^j is number i S_POINTS + j |
"""

# mypy: ignore-errors

import math
from functools import partial

import numpy as np

from skdp._numeric._numba import njit, njit_outlined
from skdp._numeric._simd import assume_nonnegative, evaluate_polynomial
from skdp.processes._kernels_stirling_integral import integrate

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
