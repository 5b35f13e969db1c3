"""Sweeps over strings, each a block whose words and seats are redrawn.

The words of a string are removed, a new segmentation is drawn with all other seats fixed, and its
words are seated. A Metropolis-Hastings step corrects for the changes of the seats meanwhile;
without it the draw is not exact. Names are as in `_kernels_filter`.

| name | shape | meaning |
|---|---|---|
| cuts | (N,) | whether a word ends after a letter, True for the last letter of a string |
| order | (n_strings,) | strings in the order of the sweep |
| seated | scalar | whether the strings have seats already |
| pairs | | buffers for `_kernels_triples`; None (another kernel): pairs are not contexts |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc, njit_loop
from skdp._numeric._random import next_open_double
from skdp.language._nested._kernels_filter import (
    draw_words,
    filter_forward,
    log_path,
    weigh_words,
)
from skdp.language._nested._kernels_triples import draw_triples, filter_triples
from skdp.language._nested._kernels_words import (
    add_words,
    drop_empty_cells,
    list_words,
    remove_words,
)
from skdp.processes._kernels_franchise_dynamic import N_CHANGES, undo_changes


@njit_internal_nogc
def write_cuts(text, string, words, n_words, cuts):
    """Write the ends of the words of a string."""
    start = text.ptr[string]
    for i in range(start, text.ptr[string + 1]):
        cuts[i] = False
    for e in range(n_words - 1):
        start += text.span_lengths[words[e]]
        cuts[start - 1] = True


@njit_inlined_source
def move_string(f, text, prices, string, cuts, power, seated, s, pairs, rng):
    """Redraw the segmentation of a string; return whether the new seats were accepted."""
    is_exact = seated and power == 1.0
    old = new = 0.0
    n_words = 0
    if seated:
        n_words = list_words(text, string, cuts, s.words)
        old = remove_words(f, text, prices, s.words, n_words, is_exact, rng)
    weigh_words(f, text, prices, string, power, s)
    if pairs is None:
        filter_forward(f, text, string, power, s)
        n_new = draw_words(f, text, prices, string, power, s, rng)
    else:
        filter_triples(f, text, string, power, s, pairs)
        n_new = draw_triples(f, text, prices, string, power, s, pairs, rng)
    if is_exact:
        old -= log_path(f, text, prices, s.words, n_words, s)
        new -= log_path(f, text, prices, s.new_words, n_new, s)
    new += add_words(f, text, prices, s.new_words, n_new, rng)
    accepted = not is_exact or math.log(next_open_double(rng)) < new - old
    n_changes = f.counters[N_CHANGES]
    if accepted:
        f.counters[N_CHANGES] = 0
        write_cuts(text, string, s.new_words, n_new, cuts)
    else:
        undo_changes(f, 0)
    drop_empty_cells(f, text, n_changes)
    return accepted


@njit_loop
def sweep_strings(f, text, prices, order, cuts, power, seated, s, pairs, rng):
    """Redraw the segmentations of strings in turn; return the number of accepted proposals."""
    n_accepted = 0
    for i in range(order.shape[0]):
        n_accepted += move_string(f, text, prices, order[i], cuts, power, seated, s, pairs, rng)
    return n_accepted


@njit_loop
def seat_strings(f, text, prices, order, cuts, s, rng):
    """Seat segmented strings in turn."""
    for i in range(order.shape[0]):
        n_words = list_words(text, order[i], cuts, s.words)
        add_words(f, text, prices, s.words, n_words, rng)
        n_changes = f.counters[N_CHANGES]
        f.counters[N_CHANGES] = 0
        drop_empty_cells(f, text, n_changes)
