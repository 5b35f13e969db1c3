"""Sweeps over the words of strings, and moves that split or join all sites of a word at once.

In a sweep, the words of a string are removed, a new segmentation is drawn with all other seats
fixed, and its words are seated. A Metropolis-Hastings step corrects for the changes of the seats
meanwhile; without it the draw is not exact. Names are as in `_kernels/_filter`.

| name | shape | meaning |
|---|---|---|
| cuts | (N,) | whether a word ends after a letter, True for the last letter of a string |
| order | (n_strings,) | strings in the order of the sweep |
| seated | scalar | whether the strings have seats already |
| pairs | | buffers for `_kernels/_filter`; None (another kernel): pairs are not contexts |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double, next_open_double
from skdp.language._kernels._filter import draw_words, filter_words, log_path, weigh_words
from skdp.language._kernels._words import (
    Text,
    add_words,
    drop_empty_cells,
    list_words,
    mark_words,
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
        old = remove_words(f, text, prices, s.words, n_words, None, is_exact, rng)
    weigh_words(f, text, prices, string, power, s)
    filter_words(f, text, string, power, s, pairs)
    n_new = draw_words(f, text, prices, string, power, s, pairs, rng)
    if is_exact:
        old -= log_path(f, text, prices, s.words, n_words, s)
        new -= log_path(f, text, prices, s.new_words, n_new, s)
    new += add_words(f, text, prices, s.new_words, n_new, None, rng)
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
        add_words(f, text, prices, s.words, n_words, None, rng)
        n_changes = f.counters[N_CHANGES]
        f.counters[N_CHANGES] = 0
        drop_empty_cells(f, text, n_changes)


# Moves of word types, which split or join all sites of a word at once.
#
# A site is a place where the text has the letters of a word, with a cut before and after it and no
# other cuts, except perhaps at the split point. If all sites of a word are joined, they are all
# split, and vice versa; moves of single strings would have to pass through far less probable
# states. The word and the split point are drawn from the text, regardless of its cuts, and a flip
# that changes the set of sites is rejected, so the reverse move is equally likely (Liang, Jordan
# and Klein, 2010).
#
# | name | shape | meaning |
# |---|---|---|
# | place_ptr, places | (V + 1,), (n,) | places in the text where each span occurs |
# | strings_of | (N,) | string of each letter |
# | sites | (M,) | first letters of the sites, ascending; words with more than M sites stay |
# | split | scalar | letters before the split point |
# | found | (M,) | sites after the flip |
# | word_at | (n + 1,) | words of a string that begin at a letter |
# | before_at | (n + 1, 2) | their context words, the nearest first |


class Occurrences(NamedTuple):
    """Occurrences of spans, as listed in the table above."""

    place_ptr: NDArray[np.int64]
    places: NDArray[np.int32]
    strings_of: NDArray[np.int32]
    sites: NDArray[np.int64]
    found: NDArray[np.int64]
    word_at: NDArray[np.int32]
    before_at: NDArray[np.int32]


def find_occurrences(text: Text, longest: int, most_sites: int) -> Occurrences:
    """Return the occurrences of the spans of a text; the longest string has `longest` letters."""
    ids = text.span_ids.ravel()
    order = np.argsort(ids, kind="stable")
    order = order[np.searchsorted(ids[order], 0) :]
    counts = np.bincount(ids[order], minlength=text.n_spans)
    lengths = np.diff(text.ptr)
    return Occurrences(
        np.concatenate([[0], np.cumsum(counts)]),
        (order // text.span_ids.shape[1]).astype(np.int32),
        np.repeat(np.arange(len(lengths), dtype=np.int32), lengths),
        np.zeros(most_sites, dtype=np.int64),
        np.zeros(most_sites, dtype=np.int64),
        np.zeros(longest + 1, dtype=np.int32),
        np.zeros((longest + 1, 2), dtype=np.int32),
    )


@njit_internal_nogc
def _find_sites(text, where, w, k, split, cuts, sites):
    """Write the sites of a word; return their number, and 1 if all are joined, 0 if split."""
    # The number is -1 if there are too many or they differ.
    n, joined = 0, -1
    for q in range(where.place_ptr[w], where.place_ptr[w + 1]):
        p = np.int64(where.places[q])
        is_first = p == text.ptr[where.strings_of[p]]
        if not (is_first or cuts[p - 1]) or not cuts[p + k - 1]:
            continue
        if text.known[p + split - 1] != -1:
            continue
        has_other = False
        for i in range(p, p + k - 1):
            has_other |= cuts[i] and i != p + split - 1
        if has_other:
            continue
        here = 0 if cuts[p + split - 1] else 1
        if joined == -1:
            joined = here
        if joined != here or n == sites.shape[0]:
            return -1, joined
        sites[n] = p
        n += 1
    return n, joined


@njit_internal_nogc
def _flip_sites(sites, first, end, split, cuts):
    """Split joined sites, and join split sites."""
    for i in range(first, end):
        cuts[sites[i] + split - 1] = not cuts[sites[i] + split - 1]


@njit_internal_nogc
def _move_type(f, text, prices, where, w, split, cuts, power, s, rng):
    """Flip all sites of a word; return whether the flip was accepted."""
    k = np.int64(text.span_lengths[w])
    sites = where.sites
    n, joined = _find_sites(text, where, w, k, split, cuts, sites)
    if n <= 0:
        return False
    _flip_sites(sites, 0, n, split, cuts)
    n_after, joined_after = _find_sites(text, where, w, k, split, cuts, where.found)
    same = n_after == n and joined_after != joined
    for i in range(n):
        same = same and sites[i] == where.found[i]
    if not same:
        _flip_sites(sites, 0, n, split, cuts)
        return False
    old = new = 0.0
    end = n
    while end > 0:
        string = where.strings_of[sites[end - 1]]
        first = end - 1
        while first > 0 and where.strings_of[sites[first - 1]] == string:
            first -= 1
        n_new = list_words(text, string, cuts, s.new_words)
        mark_words(text, s.new_words, n_new, where)
        _flip_sites(sites, first, end, split, cuts)
        n_old = list_words(text, string, cuts, s.words)
        _flip_sites(sites, first, end, split, cuts)
        old += remove_words(f, text, prices, s.words, n_old, where, True, rng)
        end = first
    first = 0
    while first < n:
        string = where.strings_of[sites[first]]
        end = first + 1
        while end < n and where.strings_of[sites[end]] == string:
            end += 1
        _flip_sites(sites, first, end, split, cuts)
        n_old = list_words(text, string, cuts, s.words)
        _flip_sites(sites, first, end, split, cuts)
        mark_words(text, s.words, n_old, where)
        n_new = list_words(text, string, cuts, s.new_words)
        new += add_words(f, text, prices, s.new_words, n_new, where, rng)
        first = end
    accepted = math.log(next_open_double(rng)) < power * (new - old)
    n_changes = f.counters[N_CHANGES]
    if accepted:
        f.counters[N_CHANGES] = 0
    else:
        undo_changes(f, 0)
        _flip_sites(sites, 0, n, split, cuts)
    drop_empty_cells(f, text, n_changes)
    return accepted


@njit_loop
def sweep_types(f, text, prices, where, n_moves, cuts, power, s, rng):
    """Propose flips of words drawn from the text; return the number of accepted flips."""
    n_letters, longest = text.span_ids.shape
    n_accepted = 0
    for _ in range(n_moves):
        p = np.int64(next_double(rng) * n_letters)
        k = 2 + np.int64(next_double(rng) * (longest - 1))
        split = 1 + np.int64(next_double(rng) * (k - 1))
        w = np.int64(text.span_ids[p, k - 1]) if k <= longest else np.int64(-1)
        if w >= 0:
            n_accepted += _move_type(f, text, prices, where, w, split, cuts, power, s, rng)
    return n_accepted
