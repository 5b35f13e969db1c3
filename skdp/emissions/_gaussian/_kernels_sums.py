r"""Statistics of Gaussian observations, whose bits depend neither on the order of observations nor
on how they are cut into parts.

There are two passes. The first finds the range of each column in each component, which does not
depend on the order. The range determines the units of the second pass: there, deviations from the
midpoint of the range, and their products, are integer multiples of a unit so small that their sum
just fits in 60 bits, and integers add up exactly. Rounding to units loses less than an ordinary sum
of floats: a unit is n 2^-60 of the largest possible term of a component.

| name | symbol | shape | meaning |
|---|---|---|---|
| values | x_t | (N, D) float64 | NaN is missing |
| states | z_t | (N,) integers | -1: no state |
| numbers | n_k | (K,) int64 | observations of a component |
| lows, highs | | (K, W) float64 | smallest and largest |
| middles | c_k | (K, W) float64 | of the ranges |
| scales | 2^-e_kd | (K, W) float64 | scale deviations from the midpoint to [-1, 1] |
| units | S_k | (K,) float64 | units in 1; a power of 2 |
| firsts | | (K, W) int64 | sum of S y, y = (x - c) 2^-e |
| seconds | | (K, W, W) int64 | sum of S y y^T; lower triangle |
| counts, centers, scatter | n_k, xbar_k, Q_k | (K,), (K, W), (K, W, W) float64 | results |

Components are states by blocks of columns, as in `_kernels`.
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit_internal_nogc, njit_loop

BITS = 60
"""Bits of sums, so that products of two of them can be computed in limbs of 31 bits."""

SMALLEST_EXPONENT = -1000
"""Smallest exponent of ranges: the inverse of a smaller range would overflow."""

LIMB = 31
MASK = (1 << LIMB) - 1


@njit_loop
def find_ranges(values, states, numbers, lows, highs):
    """Write the numbers of observations and the ranges of all components."""
    n_components, width = lows.shape
    n_blocks = values.shape[1] // width
    for k in range(n_components):
        numbers[k] = 0
        for d in range(width):
            lows[k, d] = math.inf
            highs[k, d] = -math.inf
    for t in range(values.shape[0]):
        if states[t] < 0:
            continue
        for b in range(n_blocks):
            if not math.isnan(values[t, b * width]):
                k = states[t] * n_blocks + b
                numbers[k] += 1
                for d in range(width):
                    x = values[t, b * width + d]
                    lows[k, d] = min(lows[k, d], x)
                    highs[k, d] = max(highs[k, d], x)


@njit_internal_nogc
def count_bits(n):
    """Return the least number of bits b with n <= 2^b."""
    bits = 0
    while (1 << bits) < n:
        bits += 1
    return bits


@njit_internal_nogc
def choose_scale(largest):
    """Return a power of 2 that scales deviations up to the largest one to [-1, 1]."""
    exponent = math.frexp(largest)[1] if largest > 0.0 else 0
    return 2.0 ** -max(exponent, SMALLEST_EXPONENT)


@njit_internal_nogc
def choose_unit(n):
    """Return the number of units in 1, for sums of n numbers up to 1."""
    return 2.0 ** (BITS - count_bits(n))


@njit_loop
def choose_units(numbers, lows, highs, middles, scales, units):
    """Write the origins, scales and units of deviations."""
    for k in range(lows.shape[0]):
        units[k] = choose_unit(numbers[k])
        for d in range(lows.shape[1]):
            middles[k, d] = 0.0
            scales[k, d] = 1.0
            if numbers[k] > 0:
                half = 0.5 * (highs[k, d] - lows[k, d])
                middles[k, d] = lows[k, d] + half
                scales[k, d] = choose_scale(half)


@njit_loop
def choose_units_about(mean, numbers, lows, highs, scales):
    """Write scales of deviations from a given mean, (D,); return the unit of their products."""
    most = 0
    for d in range(mean.shape[0]):
        scales[d] = 1.0
        if numbers[d] > 0:
            scales[d] = choose_scale(max(highs[d, 0] - mean[d], mean[d] - lows[d, 0]))
        most = max(most, numbers[d])
    return choose_unit(most)


@njit_loop
def add_up(values, states, middles, scales, units, firsts, seconds, distances):
    """Write the sums of deviations from the midpoints and of their products."""
    n_components, width = middles.shape
    n_blocks = values.shape[1] // width
    for k in range(n_components):
        for d in range(width):
            firsts[k, d] = 0
            for e in range(width):
                seconds[k, d, e] = 0
    for t in range(values.shape[0]):
        if states[t] < 0:
            continue
        for b in range(n_blocks):
            if not math.isnan(values[t, b * width]):
                k = states[t] * n_blocks + b
                for d in range(width):
                    y = (values[t, b * width + d] - middles[k, d]) * scales[k, d]
                    distances[d] = y
                    y *= units[k]
                    firsts[k, d] += np.int64(math.floor(y + 0.5))
                    for e in range(d + 1):
                        seconds[k, d, e] += np.int64(math.floor(y * distances[e] + 0.5))


@njit_internal_nogc
def subtract_products(a, b, c, d):
    """Return a b - c d of numbers of up to 60 bits, rounded only at the end."""
    a1, a0, b1, b0 = a >> LIMB, a & MASK, b >> LIMB, b & MASK
    c1, c0, d1, d0 = c >> LIMB, c & MASK, d >> LIMB, d & MASK
    low = a0 * b0 - c0 * d0
    middle = a1 * b0 + a0 * b1 - c1 * d0 - c0 * d1 + (low >> LIMB)
    high = a1 * b1 - c1 * d1 + (middle >> LIMB)
    return (float(high) * 2.0**LIMB + float(middle & MASK)) * 2.0**LIMB + float(low & MASK)


@njit_loop
def settle(numbers, middles, scales, units, firsts, seconds, counts, centers, scatter):
    """Convert sums over all observations to counts, means and scatter."""
    for k in range(middles.shape[0]):
        n = numbers[k]
        counts[k] = n
        whole = np.int64(n * units[k])
        for d in range(middles.shape[1]):
            centers[k, d] = middles[k, d]
            if n > 0:
                centers[k, d] += firsts[k, d] / float(whole) / scales[k, d]
            for e in range(d + 1):
                scatter[k, d, e] = 0.0
                if n > 0:
                    x = subtract_products(whole, seconds[k, d, e], firsts[k, d], firsts[k, e])
                    scatter[k, d, e] = x / units[k] / float(whole) / scales[k, d] / scales[k, e]


@njit_loop
def multiply(values, mean, scales, unit, products, distances):
    """Write sums of products of deviations from a mean, 0 for missing values: a lower triangle."""
    n_dims = mean.shape[0]
    for d in range(n_dims):
        for e in range(n_dims):
            products[d, e] = 0
    for t in range(values.shape[0]):
        for d in range(n_dims):
            y = (values[t, d] - mean[d]) * scales[d]
            distances[d] = 0.0 if math.isnan(y) else y
            y = distances[d] * unit
            for e in range(d + 1):
                products[d, e] += np.int64(math.floor(y * distances[e] + 0.5))
