"""Exponentials and logarithms for vectorized loops, and sums that do not depend on the order."""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit_forceinline, njit_internal_nogc, njit_loop
from skdp._numeric._simd import bits_of_double, double_of_bits

# Exponentials and logarithms without branches or calls.


@njit_forceinline
def fast_exp(x):
    """Return exp(x) for x <= 0 to 1e-14, and at least 1e-307; loops can be vectorized."""
    # x = n log 2 + r with an integer n; exp(r) is computed by its Taylor series, |r| < .35.
    x = max(x, -707.0)
    n = np.floor(x * 1.4426950408889634 + 0.5)
    r = x - n * 6.93147180369123816490e-01 - n * 1.90821492927058770002e-10
    p = 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * double_of_bits((int(n) + 1023) << 52)


@njit_forceinline
def fast_log(x):
    """Return log(x) to 1e-15 if x is neither 0 nor subnormal; loops can be vectorized."""
    # x = 2^n y with sqrt(1/2) <= y < sqrt(2), log(y) = 2 artanh(z), z = (y - 1) / (y + 1).
    bits = bits_of_double(x)
    # The bits of 2^52 + i are those of 2^52, plus i: this converts i without an instruction for it.
    n = double_of_bits((bits >> 52) | 0x4330000000000000) - 4503599627371519.0
    y = double_of_bits((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000)
    large = y > 1.4142135623730951
    y = 0.5 * y if large else y
    n = n + 1.0 if large else n
    z = (y - 1.0) / (y + 1.0)
    square = z * z
    p = 2.0 / 19.0
    p = p * square + 2.0 / 17.0
    p = p * square + 2.0 / 15.0
    p = p * square + 2.0 / 13.0
    p = p * square + 2.0 / 11.0
    p = p * square + 2.0 / 9.0
    p = p * square + 2.0 / 7.0
    p = p * square + 2.0 / 5.0
    p = p * square + 2.0 / 3.0
    p = p * square + 2.0
    return n * 6.93147180369123816490e-01 + (n * 1.90821492927058770002e-10 + p * z)


# Sums whose bits depend neither on the order nor on the grouping of the terms.
#
# A number is split into integer multiples of units, and integers add up exactly, in any order: the
# sum over a data set is the sum over its parts, however it is split. The first unit is 1, and each
# of the next two is 2^-30 of the one before, so the error of a number is less than 2^-60, whatever
# its size.
#
# | name | shape | meaning |
# |---|---|---|
# | sums | (3,) int64 | multiples of each unit |

LARGEST = 2.0**36
"""Numbers are clipped to this distance from 0, such as a log probability of minus infinity. The
largest are log factorials of counts up to three billion, of which 10^8 may be added up."""

_RATIO = 2.0**30


@njit_internal_nogc
def add_exactly(x, sums):
    """Add a number to sums."""
    x = min(max(x, -LARGEST), LARGEST)
    whole = math.floor(x + 0.5)
    rest = (x - whole) * _RATIO
    part = math.floor(rest + 0.5)
    sums[0] += np.int64(whole)
    sums[1] += np.int64(part)
    sums[2] += np.int64(math.floor((rest - part) * _RATIO + 0.5))


@njit_loop
def add_all(values, sums):
    """Add (n,) numbers to sums."""
    for i in range(values.shape[0]):
        add_exactly(values[i], sums)


def sum_exactly(values):
    """Return the sums of (n,) numbers."""
    sums = np.zeros(3, dtype=np.int64)
    add_all(values, sums)
    return sums


def round_sum(sums):
    """Return the float that is nearest to the sums."""
    whole, first, second = (int(x) for x in sums)
    return ((whole << 60) + (first << 30) + second) / (1 << 60)
