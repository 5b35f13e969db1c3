"""Seats of collocations and of their words, and moves of the tables of collocations.

A collocation is a segmentation of a span of the text into words. The restaurant of collocations is
one node above the root of words: each of its tables sends one customer for each of its words. The
end of a sentence is also an outcome of that restaurant.

| name | symbol | shape | meaning |
|---|---|---|---|
| f, text, prices | | | restaurants, strings, weights of words: `_kernels/_words` |
| c | | | collocations with customers: `Collocations` |
| at, m, mask | | scalar | first letter of a collocation, its letters, and its inner cuts as bits |
| shares[0] | p_$ | | base probability of the end of a sentence |
| shares[1] | (1 - p_$) s | | base factor of a collocation, with its stop after the last word |
| shares[2] | 1 - s | | base factor of every word of a collocation except one |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_inlined, njit_inlined_source, njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double, next_open_double
from skdp.language._kernels._filter import pick_place
from skdp.language._kernels._words import (
    add_word,
    base_probability,
    event_probability,
    log_removed,
    remove_event,
    seat_in,
)
from skdp.processes._kernels_franchise_dynamic import (
    COUNT,
    CUSTOMERS,
    FIRST,
    N_CHANGES,
    N_SPARE,
    NEXT,
    NODE,
    OPENED,
    SIZE,
    TABLES,
    add_table,
    drop_table,
    leave_seat,
    record_change,
    split_share,
    undo_changes,
)

LONGEST = 64
"""Largest number of letters of a collocation, whose inner cuts are the bits of an integer."""

NONE = np.int64(-1)
"""The context of words in collocations, which have none."""


class Collocations(NamedTuple):
    """Linked lists of the collocations that have customers, by their letters."""

    spans: NDArray[np.int32]  # (N, L), number of the span that begins at a letter, by length - 1
    heads: NDArray[np.int32]  # (n_spans,), first cell of a collocation of these letters, -1: none
    span_of: NDArray[np.int32]  # (n_cells,), span of a cell
    following: NDArray[np.int32]  # (n_cells,), next cell of the same span, -1: none
    masks: NDArray[np.int64]  # (n_cells,), bit i: a word ends after letter i; no bit for the last
    shares: NDArray[np.float64]  # (3,), see the module docstring


@njit_inlined
def end_cell(text):
    """Return the cell of the end of a sentence in the restaurant of collocations."""
    return np.int64(text.hashed_cell)


@njit_inlined
def first_cell(text):
    """Return the first cell of a collocation."""
    return np.int64(text.hashed_cell) + 1


@njit_inlined
def collocation_node(text):
    """Return the restaurant of collocations."""
    return np.int64(text.pair_node)


@njit_inlined
def collocation_level(text):
    """Return the level of the restaurant of collocations."""
    return np.int64(text.character_order) + 1


@njit_inlined
def share_of(f, text, cell):
    """Return a and b of a collocation's predictive probability a + b p, with base probability p."""
    return split_share(f, cell, collocation_node(text), collocation_level(text))


@njit_inlined
def is_cut(mask, i):
    """Return whether a word ends after inner letter i of a collocation."""
    return (mask >> np.int64(i)) & 1 == 1


@njit_internal_nogc
def find_collocation(text, c, span, mask):
    """Return the cell of a collocation, or -1 if there is none."""
    cell = np.int64(c.heads[span])
    while cell >= 0:
        if c.masks[cell - first_cell(text)] == mask:
            break
        cell = np.int64(c.following[cell - first_cell(text)])
    return cell


@njit_internal_nogc
def open_cell(f, text, c, span, mask):
    """Return a new cell for a collocation, the first in the list of its letters."""
    f.counters[N_SPARE] -= 1
    cell = np.int64(f.spare[f.counters[N_SPARE]])
    f.cells[cell, NODE] = collocation_node(text)
    i = cell - first_cell(text)
    c.span_of[i] = span
    c.masks[i] = mask
    c.following[i] = c.heads[span]
    c.heads[span] = cell
    return cell


@njit_internal_nogc
def close_cell(f, text, c, cell):
    """Free the cell of a collocation without customers."""
    i = cell - first_cell(text)
    span = c.span_of[i]
    other = np.int64(c.heads[span])
    if other == cell:
        c.heads[span] = c.following[i]
    else:
        while c.following[other - first_cell(text)] != cell:
            other = np.int64(c.following[other - first_cell(text)])
        c.following[other - first_cell(text)] = c.following[i]
    f.cells[cell, NODE] = -1
    f.spare[f.counters[N_SPARE]] = cell
    f.counters[N_SPARE] += 1


@njit_internal_nogc
def close_empty_cells(f, text, c, n_changes):
    """Free empty cells among the first changes in the journal, whether made or undone."""
    for i in range(n_changes):
        cell = np.int64(f.journal[i, 1])
        if cell < first_cell(text):
            continue
        if f.cells[cell, CUSTOMERS] == 0 and f.cells[cell, NODE] >= 0:
            close_cell(f, text, c, cell)


@njit_inlined
def log_share(own, back, log_base):
    """Return log(own + back exp(log_base)), even if the base is too small for a float."""
    if own > 0.0:
        return math.log(own + back * math.exp(log_base))
    return math.log(back) + log_base


# Words: as in `_kernels/_words`, without contexts.


@njit_internal_nogc
def word_probability(f, text, prices, w):
    """Return the probability of a word."""
    base = base_probability(f, text, prices, w)
    return event_probability(f, text, w, NONE, NONE, 0, base)


@njit_internal_nogc
def log_words(f, text, prices, at, m, mask):
    """Return the log probability of a collocation's words with fixed seats, and their number."""
    total, n_words, begin = 0.0, 0, np.int64(0)
    for i in range(m):
        if i == m - 1 or is_cut(mask, i):
            w = np.int64(text.span_ids[at + begin, i - begin])
            total += math.log(word_probability(f, text, prices, w))
            n_words += 1
            begin = np.int64(i + 1)
    return total, n_words


@njit_inlined
def log_links(c, n_words):
    """Return the log of a collocation's base factors other than its word probabilities."""
    total = math.log(c.shares[1])
    if n_words > 1:
        total += (n_words - 1) * math.log(c.shares[2])
    return total


@njit_internal_nogc
def add_words_of(f, text, prices, at, m, mask, rng):
    """Seat the words of a collocation; return their sequential log probability."""
    total, begin = 0.0, np.int64(0)
    for i in range(m):
        if i == m - 1 or is_cut(mask, i):
            w = np.int64(text.span_ids[at + begin, i - begin])
            total += add_word(f, text, prices, w, NONE, NONE, 0, rng)
            begin = np.int64(i + 1)
    return total


@njit_internal_nogc
def remove_words_of(f, text, prices, at, m, mask, rng):
    """Remove the words of a collocation, the last first; return the reverse `add_words_of`."""
    total, end = 0.0, np.int64(m)
    for i in range(m - 1, -1, -1):
        if i == 0 or is_cut(mask, i - 1):
            w = np.int64(text.span_ids[at + i, end - i - 1])
            removed = remove_event(f, text, w, NONE, NONE, 0, rng)
            total += log_removed(f, text, prices, w, NONE, NONE, 0, removed)
            end = np.int64(i)
    return total


@njit_internal_nogc
def add_collocation(f, text, prices, c, at, m, mask, rng):
    """Seat a collocation with the current seats as weights; return the log of its probability."""
    # The result includes the log ratio of a new table's sequential word probability to the one in
    # the base.
    span = np.int64(c.spans[at, m - 1])
    cell = find_collocation(text, c, span, mask)
    own, back = share_of(f, text, cell)
    frozen, n_words = log_words(f, text, prices, at, m, mask)
    log_base = frozen + log_links(c, n_words)
    total = log_share(own, back, log_base)
    if own > 0.0:
        left = next_double(rng) * math.exp(total)
        if left < own:
            seat_in(f, cell, collocation_level(text), left)
            return total
    if cell < 0:
        cell = open_cell(f, text, c, span, mask)
    record_change(f, OPENED, cell, np.int32(1))
    return total + add_words_of(f, text, prices, at, m, mask, rng) - frozen


@njit_internal_nogc
def remove_collocation(f, text, prices, c, at, m, mask, rng):
    """Remove a customer of a collocation; return the result of the reverse `add_collocation`."""
    cell = find_collocation(text, c, np.int64(c.spans[at, m - 1]), mask)
    closes = leave_seat(f, cell, next_double(rng))
    log_ratio = remove_words_of(f, text, prices, at, m, mask, rng) if closes else 0.0
    own, back = share_of(f, text, cell)
    frozen, n_words = log_words(f, text, prices, at, m, mask)
    if closes:
        log_ratio -= frozen
    return log_share(own, back, frozen + log_links(c, n_words)) + log_ratio


@njit_inlined
def probability_of_end(f, text, c):
    """Return the probability of the end of a sentence."""
    own, back = share_of(f, text, end_cell(text))
    return own + back * c.shares[0]


@njit_internal_nogc
def _add_end(f, text, c, rng):
    """Seat the end of a sentence and return its log probability."""
    own, back = share_of(f, text, end_cell(text))
    total = own + back * c.shares[0]
    left = next_double(rng) * total
    if left < own:
        seat_in(f, end_cell(text), collocation_level(text), left)
    else:
        record_change(f, OPENED, end_cell(text), np.int32(1))
    return math.log(total)


# Strings as collocations.


@njit_internal_nogc
def list_collocations(text, string, cuts, ends, lengths, masks):
    """Write lengths and inner cuts of a string's collocations and return their number."""
    begin, n = text.ptr[string], 0
    mask = np.int64(0)
    for i in range(text.ptr[string], text.ptr[string + 1]):
        if ends[i]:
            lengths[n] = i + 1 - begin
            masks[n] = mask
            n += 1
            begin = i + 1
            mask = np.int64(0)
        elif cuts[i]:
            mask |= np.int64(1) << np.int64(i - begin)
    return n


@njit_internal_nogc
def add_collocations(f, text, prices, c, string, n, lengths, masks, rng):
    """Seat a string's collocations in order, then its end; return the sum, as `add_collocation`."""
    total, at = 0.0, np.int64(text.ptr[string])
    for i in range(n):
        total += add_collocation(f, text, prices, c, at, lengths[i], masks[i], rng)
        at += lengths[i]
    return total + _add_end(f, text, c, rng)


@njit_internal_nogc
def remove_collocations(f, text, prices, c, string, n, lengths, masks, rng):
    """Remove a string's end, then its collocations, last first; return what adding them would."""
    leave_seat(f, end_cell(text), next_double(rng))
    total = math.log(probability_of_end(f, text, c))
    at = np.int64(text.ptr[string + 1])
    for i in range(n - 1, -1, -1):
        at -= lengths[i]
        total += remove_collocation(f, text, prices, c, at, lengths[i], masks[i], rng)
    return total


# Moves of tables of collocations, which resegment all customers of a table at once.
#
# The customers of each table are drawn first: tokens of a collocation sit at its tables with
# probabilities proportional to the table sizes. The words of a table are removed, new words are
# drawn for the same letters with all other seats fixed, and seated; a Metropolis-Hastings step
# corrects for the changes of the seats meanwhile. The table itself stays, as a table of the new
# collocation.
#
# | name | shape | meaning |
# |---|---|---|
# | firsts, sizes | (n_tokens,) | first token and size of each table |
# | places, n_letters | (n_tokens,) | first letter and length of each token, table by table |
# | cells | (n_tokens,) | cell of each table |


class Tokens(NamedTuple):
    """Buffers for the tokens of all collocations, as listed in the table above."""

    places: NDArray[np.int64]
    n_letters: NDArray[np.int32]
    cells: NDArray[np.int32]
    firsts: NDArray[np.int64]
    sizes: NDArray[np.int32]
    next_of_cell: NDArray[np.int64]


def empty_tokens(n_letters: int, n_cells: int) -> Tokens:
    """Return buffers for as many tokens as letters."""
    return Tokens(
        np.zeros(n_letters, dtype=np.int64),
        np.zeros(n_letters, dtype=np.int32),
        np.zeros(n_letters, dtype=np.int32),
        np.zeros(n_letters, dtype=np.int64),
        np.zeros(n_letters, dtype=np.int32),
        np.zeros(n_cells, dtype=np.int64),
    )


@njit_inlined_source
def seat_tokens(f, text, c, cuts, ends, r, tokens, rng):
    """Assign tokens to the tables of their collocations; return the number of tables."""
    n_cells = tokens.next_of_cell.shape[0]
    total = 0
    for i in range(n_cells):
        tokens.next_of_cell[i] = total
        if f.cells[first_cell(text) + i, CUSTOMERS] > 0:
            total += f.cells[first_cell(text) + i, CUSTOMERS]
    for string in range(text.ptr.shape[0] - 1):
        n = list_collocations(text, string, cuts, ends, r.lengths, r.masks)
        at = np.int64(text.ptr[string])
        for i in range(n):
            m = r.lengths[i]
            cell = find_collocation(text, c, np.int64(c.spans[at, m - 1]), r.masks[i])
            place = tokens.next_of_cell[cell - first_cell(text)]
            tokens.next_of_cell[cell - first_cell(text)] += 1
            tokens.places[place] = at
            tokens.n_letters[place] = m
            at += m
    n_tables, first = 0, np.int64(0)
    for i in range(n_cells):
        cell = first_cell(text) + i
        n = f.cells[cell, CUSTOMERS]
        if n <= 0:
            continue
        for j in range(n - 1, 0, -1):
            other = int(next_double(rng) * (j + 1))
            a, b = first + j, first + other
            tokens.places[a], tokens.places[b] = tokens.places[b], tokens.places[a]
        entry = np.int64(f.cells[cell, FIRST])
        while entry >= 0:
            for _ in range(f.entries[entry, COUNT]):
                tokens.cells[n_tables] = cell
                tokens.firsts[n_tables] = first
                tokens.sizes[n_tables] = f.entries[entry, SIZE]
                first += f.entries[entry, SIZE]
                n_tables += 1
            entry = np.int64(f.entries[entry, NEXT])
    return n_tables


@njit_internal_nogc
def end_path(r, t, top):
    """Write `steps` and `path` at t from the logs in `weights`; return the sum of the steps."""
    total = 0.0
    for k in range(r.steps.shape[1]):
        weight = math.exp(r.weights[k] - top) if top > -math.inf else 0.0
        r.steps[t, k] = weight
        total += weight
    r.path[t] = top + math.log(total) if total > 0.0 else -math.inf
    return total


@njit_internal_nogc
def _weigh_cuts(f, text, prices, c, at, m, must, may, r):
    """Write to `r.steps` the shares of words that may end at each place, to draw from the end."""
    longest = r.steps.shape[1]
    link = math.log(c.shares[2])
    r.path[0] = 0.0
    for e in range(1, m + 1):
        top = -math.inf
        is_open = e == m or (may >> np.int64(e - 1)) & 1 == 1
        for k in range(1, longest + 1):
            log_weight = -math.inf
            if k <= e and is_open:
                begin = e - k
                if r.path[begin] > -math.inf:
                    w = np.int64(text.span_ids[at + begin, k - 1])
                    p = word_probability(f, text, prices, w)
                    log_weight = math.log(p) + r.path[begin] + link
                if begin > 0:
                    is_open = (must >> np.int64(begin - 1)) & 1 == 0
            r.weights[k - 1] = log_weight
            top = max(top, log_weight)
        end_path(r, e, top)
        r.inner[0, e - 1] = 1.0  # shares already are of all ways to get there


@njit_inlined
def inner_before(r, b, length):
    """Return the sum over segmentations of a span that begins at b; 1 if it has no letters."""
    return r.inner[b, length - 1] if length > 0 else 1.0


@njit_internal_nogc
def draw_inner_cuts(r, b, m, rng):
    """Draw the words of a span, the last first, and return its inner cuts."""
    mask, e = np.int64(0), m
    while True:
        most = min(r.steps.shape[1], e)
        total = 0.0
        for k in range(1, most + 1):
            r.weights[k - 1] = inner_before(r, b, e - k) * r.steps[b + e, k - 1]
            total += r.weights[k - 1]
        e -= pick_place(r.weights[:most], total, rng) + 1
        if e == 0:
            return mask
        mask |= np.int64(1) << np.int64(e - 1)


@njit_internal_nogc
def known_inside(text, at, m):
    """Return the required and the allowed inner cuts of a span."""
    must, may = np.int64(0), np.int64(0)
    for i in range(m - 1):
        known = text.known[at + i]
        if known != 0:
            may |= np.int64(1) << np.int64(i)
        if known == 1:
            must |= np.int64(1) << np.int64(i)
    return must, may


@njit_internal_nogc
def _known_of_tokens(text, tokens, table, m):
    """Return the inner cuts that are required or allowed in all tokens of a table."""
    must, may = np.int64(0), np.int64(-1)
    for j in range(tokens.sizes[table]):
        required, allowed = known_inside(text, tokens.places[tokens.firsts[table] + j], m)
        must |= required
        may &= allowed
    return must, may


@njit_inlined_source
def move_table(f, text, prices, c, tokens, table, cuts, r, rng):
    """Redraw the words of a table; return whether different words were accepted."""
    cell, size = np.int64(tokens.cells[table]), tokens.sizes[table]
    first = tokens.firsts[table]
    at, m = tokens.places[first], np.int64(tokens.n_letters[first])
    old_mask = c.masks[cell - first_cell(text)]
    if m == 1:
        return False
    must, may = _known_of_tokens(text, tokens, table, m)
    old = remove_words_of(f, text, prices, at, m, old_mask, rng)
    _weigh_cuts(f, text, prices, c, at, m, must, may, r)
    mask = draw_inner_cuts(r, np.int64(0), m, rng)
    if mask == old_mask:
        # The same words may keep their seats.
        undo_changes(f, 0)
        return False
    frozen, _ = log_words(f, text, prices, at, m, old_mask)
    old -= frozen
    frozen, _ = log_words(f, text, prices, at, m, mask)
    new = add_words_of(f, text, prices, at, m, mask, rng) - frozen
    if math.log(next_open_double(rng)) >= new - old:
        undo_changes(f, 0)
        return False
    f.counters[N_CHANGES] = 0
    span = np.int64(c.spans[at, m - 1])
    other = find_collocation(text, c, span, mask)
    if other < 0:
        other = open_cell(f, text, c, span, mask)
    drop_table(f, cell, size)
    add_table(f, other, size)
    if f.cells[cell, TABLES] == 0:
        close_cell(f, text, c, cell)
    for j in range(size):
        at = tokens.places[first + j]
        for i in range(m - 1):
            cuts[at + i] = is_cut(mask, i)
    return True


@njit_loop
def sweep_tables(f, text, prices, c, cuts, ends, r, tokens, rng):
    """Redraw the words of all tables in turn; return the number of changed tables."""
    n_tables = seat_tokens(f, text, c, cuts, ends, r, tokens, rng)
    n_moved = 0
    for table in range(n_tables):
        n_moved += move_table(f, text, prices, c, tokens, table, cuts, r, rng)
    return n_moved
