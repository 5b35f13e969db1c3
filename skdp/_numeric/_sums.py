"""Sums of numbers whose bits depend neither on their order nor on who adds up what.

A number is split into whole numbers of units, and whole numbers add up exactly, in any order: the
sum over a data set is that of its parts, however it is cut. The first unit is 1, each of the next
two 2^-30 of the one before, so that of a number less than 2^-60 is lost, whatever its size.

| name | shape | meaning |
|---|---|---|
| sums | (3,) int64 | so many of each unit |
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit_internal_nogc, njit_loop

LARGEST = 2.0**36
"""Numbers further from 0 count as this, such as a log probability of minus infinity; the largest
are log factorials of counts up to three billion, of which 10^8 may be added up."""

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
    """Add numbers, (n,), to sums."""
    for i in range(values.shape[0]):
        add_exactly(values[i], sums)


def sum_exactly(values):
    """Return the sums of numbers, (n,)."""
    sums = np.zeros(3, dtype=np.int64)
    add_all(values, sums)
    return sums


def round_sum(sums):
    """Return sums as the nearest float."""
    whole, first, second = (int(x) for x in sums)
    return ((whole << 60) + (first << 30) + second) / (1 << 60)
