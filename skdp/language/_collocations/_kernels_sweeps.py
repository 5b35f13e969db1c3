"""Sweeps over strings, each a block whose collocations, words and seats are redrawn.

As in `_nested._kernels_sweeps`; there is also a cut after the last letter of a collocation.

| name | shape | meaning |
|---|---|---|
| cuts, ends | (N,) | whether a word, and whether a collocation, ends after a letter |
| order | (n_strings,) | strings in the order of the sweep |
| seated | scalar | whether the strings have seats already |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc, njit_loop
from skdp._numeric._random import next_open_double
from skdp.language._collocations._kernels_filter import (
    draw_collocations,
    filter_collocations,
    log_way,
)
from skdp.language._collocations._kernels_seats import (
    add_collocations,
    close_empty_cells,
    is_cut,
    list_collocations,
    remove_collocations,
    settle,
)
from skdp.language._nested._kernels_filter import weigh_words
from skdp.processes._kernels_franchise_dynamic import N_CHANGES, undo_changes


@njit_internal_nogc
def write_ends(text, string, n, lengths, masks, cuts, ends):
    """Write the ends of the words and collocations of a string."""
    at = text.ptr[string]
    for i in range(n):
        for j in range(lengths[i]):
            is_last = j == lengths[i] - 1
            cuts[at + j] = is_last or is_cut(masks[i], j)
            ends[at + j] = is_last
        at += lengths[i]


@njit_inlined_source
def move_string(f, text, prices, c, string, cuts, ends, power, seated, s, r, rng):
    """Redraw the segmentation of a string; return whether the new seats were accepted."""
    is_exact = seated and power == 1.0
    old = new = 0.0
    n = 0
    if seated:
        n = list_collocations(text, string, cuts, ends, r.lengths, r.masks)
        old = remove_collocations(f, text, prices, c, string, n, r.lengths, r.masks, rng)
    weigh_words(f, text, prices, string, power, s)
    filter_collocations(f, text, c, string, power, s, r)
    n_new = draw_collocations(f, text, c, string, power, s, r, rng)
    if is_exact:
        old -= log_way(f, text, c, string, n, r.lengths, r.masks, s)
        new -= log_way(f, text, c, string, n_new, r.new_lengths, r.new_masks, s)
    new += add_collocations(f, text, prices, c, string, n_new, r.new_lengths, r.new_masks, rng)
    accepted = not is_exact or math.log(next_open_double(rng)) < new - old
    n_changes = f.counters[N_CHANGES]
    if accepted:
        f.counters[N_CHANGES] = 0
        write_ends(text, string, n_new, r.new_lengths, r.new_masks, cuts, ends)
    else:
        undo_changes(f, 0)
    close_empty_cells(f, text, c, n_changes)
    return accepted


@njit_loop
def sweep_collocations(f, text, prices, c, order, cuts, ends, power, seated, s, r, rng):
    """Redraw the segmentations of strings in turn; return the number of accepted proposals."""
    n_accepted = 0
    for i in range(order.shape[0]):
        n_accepted += move_string(
            f, text, prices, c, order[i], cuts, ends, power, seated, s, r, rng
        )
    return n_accepted


@njit_loop
def seat_collocations(f, text, prices, c, order, cuts, ends, r, rng):
    """Seat segmented strings in turn."""
    for i in range(order.shape[0]):
        n = list_collocations(text, order[i], cuts, ends, r.lengths, r.masks)
        add_collocations(f, text, prices, c, order[i], n, r.lengths, r.masks, rng)
        settle(f, text, c, f.counters[N_CHANGES])
