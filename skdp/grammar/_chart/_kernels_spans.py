"""What kernels of sums over trees, many at a time or long ones, have in common: spans and scales.

The first P symbols emit and the last C branch; if all do both, the first that branches is 0. A
span of more than two words has its splits in blocks: those with a word on the left, those with a
word on the right, and those with none, in this order.
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_forceinline

LOG_TWO = math.log(2.0)
NEVER = -(1 << 60)
"""An exponent below all others."""

STRIP = 4
"""Words at whose ends spans are done together."""


@njit_forceinline
def unit(n):
    """Return 1, an integer like others: a constant is of another type, compiled for once more."""
    return n - n + 1


@njit_forceinline
def count_blocks(first_branching, n_splits):
    """Return the number of blocks of pairs of children's symbols."""
    return 1 if n_splits == 1 or first_branching == 0 else 3


@njit_forceinline
def block_of(p, c, first_branching, n_splits, b):
    """Return the splits of block b: the first, their number, symbols on the left and right."""
    if n_splits == 1:
        return 0, 1, p, p
    if first_branching == 0:
        return 0, n_splits, c, c
    if b == 0:
        return 0, 1, p, c
    if b == 1:
        return n_splits - 1, 1, c, p
    return 1, n_splits - 2, c, c
