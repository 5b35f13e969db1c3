"""Spans and scales for the kernels of sums over trees, of many or of long sentences.

The first P symbols emit and the last C branch; if all do both, the first branching symbol is 0. The
splits of a span of more than two words are in three blocks, in this order: with a word on the left,
with a word on the right, and without words.

A span is closed if it crosses a bracket of its sentence: it has weight zero, and the exponent
`NEVER`. The brackets are given by two numbers a word (`SpanLimits`).
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_forceinline

LOG_TWO = math.log(2.0)
NEVER = -(1 << 60)
"""An exponent below all others."""

STRIP = 4
"""Number of words at whose ends spans are processed together."""


@njit_forceinline
def unit(n):
    """Return 1 as a typed integer: a literal has another type, with an additional compilation."""
    return n - n + 1


@njit_forceinline
def is_closed(firsts, lasts, s, e):
    """Return whether words s, ..., e - 1 cross a bracket; empty arrays: there are no brackets."""
    return firsts.shape[0] > 0 and (s < firsts[e - 1] or lasts[s] < e)


@njit_forceinline
def count_blocks(first_branching, n_splits):
    """Return the number of blocks of pairs of child symbols."""
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
