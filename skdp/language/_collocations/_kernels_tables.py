"""Moves of tables of collocations, which resegment all customers of a table at once.

The customers of each table are drawn first: tokens of a collocation sit at its tables with
probabilities proportional to the table sizes. The words of a table are removed, new words are drawn
for the same letters with all other seats fixed, and seated; a Metropolis-Hastings step corrects for
the changes of the seats meanwhile. The table itself stays, as a table of the new collocation.

| name | shape | meaning |
|---|---|---|
| firsts, sizes | (n_tokens,) | first token and size of each table |
| places, n_letters | (n_tokens,) | first letter and length of each token, table by table |
| cells | (n_tokens,) | cell of each table |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double, next_open_double
from skdp.language._collocations._kernels_seats import (
    add_words_of,
    close_cell,
    find_collocation,
    first_cell,
    is_cut,
    list_collocations,
    log_words,
    open_cell,
    remove_words_of,
    word_probability,
)
from skdp.language._nested._kernels_filter import pick_place
from skdp.processes._kernels_franchise_dynamic import (
    COUNT,
    CUSTOMERS,
    FIRST,
    N_CHANGES,
    NEXT,
    SIZE,
    TABLES,
    add_table,
    drop_table,
    undo_changes,
)


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
                    p, _ = word_probability(f, text, prices, w)
                    log_weight = math.log(p) + r.path[begin] + link
                if begin > 0:
                    is_open = (must >> np.int64(begin - 1)) & 1 == 0
            r.weights[k - 1] = log_weight
            top = max(top, log_weight)
        total = 0.0
        for k in range(longest):
            weight = math.exp(r.weights[k] - top) if top > -math.inf else 0.0
            r.steps[e, k] = weight
            total += weight
        r.path[e] = top + math.log(total) if total > 0.0 else -math.inf


@njit_internal_nogc
def _draw_cuts(r, m, rng):
    """Draw a segmentation of a span and return its inner cuts."""
    mask, e = np.int64(0), m
    while True:
        total = 0.0
        most = min(r.steps.shape[1], e)
        for k in range(most):
            total += r.steps[e, k]
        e -= pick_place(r.steps[e, :most], total, rng) + 1
        if e == 0:
            return mask
        mask |= np.int64(1) << np.int64(e - 1)


@njit_internal_nogc
def _known_of_tokens(text, tokens, table, m):
    """Return the inner cuts that are required or allowed in all tokens of a table."""
    must, may = np.int64(0), (np.int64(1) << np.int64(m - 1)) - 1
    for j in range(tokens.sizes[table]):
        at = tokens.places[tokens.firsts[table] + j]
        for i in range(m - 1):
            known = text.known[at + i]
            if known == 0:
                may &= ~(np.int64(1) << np.int64(i))
            elif known == 1:
                must |= np.int64(1) << np.int64(i)
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
    mask = _draw_cuts(r, m, rng)
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
