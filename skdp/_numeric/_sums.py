"""Sums of numbers whose bits depend neither on the order nor on the grouping of the terms.

A number is split into integer multiples of units, and integers add up exactly, in any order: the
sum over a data set is the sum over its parts, however it is split. The first unit is 1, and each of
the next two is 2^-30 of the one before, so the error of a number is less than 2^-60, whatever its
size.

| name | shape | meaning |
|---|---|---|
| sums | (3,) int64 | multiples of each unit |
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit_internal_nogc, njit_loop

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
