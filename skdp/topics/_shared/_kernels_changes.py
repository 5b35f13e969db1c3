"""Changes of counts: moved words, sums of changes, and their encoding as bytes.

Counts are integers in any dtype, so every order of a sum gives the same bits.

A change is encoded, for each changed cell, as the gap (cells since the previous one, from -1) and
the difference, both as integers of variable length: seven bits per byte, the lowest first, with the
highest bit set except in the last byte. Differences are zigzag-encoded first: 0, -1, 1, -2 are 0,
1, 2, 3.
"""

# mypy: ignore-errors

import numpy as np

from skdp._numeric._numba import njit, njit_inlined, njit_loop

LONGEST = 20
"""Largest number of bytes of a cell: two 64-bit numbers."""

_BLOCK = 4096
"""Number of cells in a block of a sum."""

_END = 2**62
"""Index beyond all cells."""


@njit_loop
def move_words(tokens, before, after, counts, totals):
    """Move the count of every word from its topic in `before` to its topic in `after`."""
    for i in range(tokens.shape[0]):
        k, m = before[i], after[i]
        if k != m:
            counts[tokens[i], k] -= np.float32(1.0)
            counts[tokens[i], m] += np.float32(1.0)
            totals[k] -= 1.0
            totals[m] += 1.0


@njit_loop
def add_change(total, new, old):
    """Add `new` - `old` to `total`, all flat arrays of equal length."""
    for i in range(total.shape[0]):
        total[i] += new[i] - old[i]


@njit
def count_changes(old, new):
    """Return the number of cells that differ in two flat arrays."""
    n = 0
    for i in range(old.shape[0]):
        n += old[i] != new[i]
    return n


@njit_inlined
def _put(number, out, n):
    """Write a non-negative number from byte `n` on; return the byte after it."""
    while number >= 128:
        out[n] = (number & 127) | 128
        number >>= 7
        n += 1
    out[n] = number
    return n + 1


@njit
def encode_change(old, new, out):
    """Write `new` - `old`, flat arrays, to `out` (uint8); return the number of bytes."""
    n, last = 0, -1
    for i in range(old.shape[0]):
        if old[i] != new[i]:
            difference = np.int64(new[i]) - np.int64(old[i])
            n = _put(np.int64(i - last), out, n)
            n = _put((difference << 1) ^ (difference >> 63), out, n)
            last = i
    return n


@njit_inlined
def _get(code, n):
    """Return the number that starts at byte `n`, and the byte after it."""
    number, shift = np.int64(0), np.int64(0)
    while code[n] >= 128:
        number |= np.int64(code[n] & 127) << shift
        shift += 7
        n += 1
    return number | np.int64(code[n]) << shift, n + 1


@njit_inlined
def _next_cell(code, n, cell):
    """Return the next cell (at the end: beyond all others), its difference and the next byte."""
    if n == code.shape[0]:
        return np.int64(_END), np.int64(0), n
    gap, n = _get(code, n)
    number, n = _get(code, n)
    return cell + gap, (number >> 1) ^ -(number & 1), n


@njit
def decode_change(code, counts):
    """Add a change, encoded in `code`, to a flat array."""
    cell, difference, n = _next_cell(code, 0, np.int64(-1))
    while cell < _END:
        counts[cell] += difference
        cell, difference, n = _next_cell(code, n, cell)


@njit
def sum_codes(code, ptr, out):
    """Write the encoded sum of encoded changes to `out` (uint8); return the number of bytes.

    Change i is code[ptr[i]:ptr[i + 1]]. Changes are added to a block of cells that stays in the
    cache. Cells in which changes cancel are omitted, so the next gap is a sum of gaps; no number
    takes more bytes than its parts together.
    """
    n_changes = ptr.shape[0] - 1
    cells, differences = np.empty(n_changes, np.int64), np.empty(n_changes, np.int64)
    nexts, block = np.empty(n_changes, np.int64), np.zeros(_BLOCK, np.int64)
    begin = np.int64(_END)
    for i in range(n_changes):
        own = code[: ptr[i + 1]]
        cells[i], differences[i], nexts[i] = _next_cell(own, ptr[i], np.int64(-1))
        begin = min(begin, cells[i])
    n, last = 0, np.int64(-1)
    while begin < _END:
        end, coming = begin + _BLOCK, np.int64(_END)
        for i in range(n_changes):
            own = code[: ptr[i + 1]]
            cell, difference, at = cells[i], differences[i], nexts[i]
            while cell < end:
                block[cell - begin] += difference
                cell, difference, at = _next_cell(own, at, cell)
            cells[i], differences[i], nexts[i] = cell, difference, at
            coming = min(coming, cell)
        for j in range(_BLOCK):
            difference = block[j]
            if difference != 0:
                n = _put(begin + j - last, out, n)
                n = _put((difference << 1) ^ (difference >> 63), out, n)
                last = begin + j
                block[j] = 0
        begin = coming
    return n
