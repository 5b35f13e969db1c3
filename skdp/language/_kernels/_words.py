"""Seats of words and of their letters, and lengths of words drawn from the letters.

Levels of the tree: letters after 0, 1, ... symbols, then words after 0, 1, ... words. Outcome V of
a word restaurant is the end of the sentence; V as a context is its start.

| name | symbol | shape | meaning |
|---|---|---|---|
| f | | | restaurants: `skdp.processes._kernels_franchise_dynamic` |
| text | | | the strings and the places of their spans' restaurants: `Text` |
| w, v | | scalar | number of a span, as outcome and as context |
| pair | | scalar | cell of the last word after the preceding word, as context; or -1 |
| depth | | scalar | number of words in the context |
| prices | (1 - p_$) g_k | (L + 1,) | weights of words by length in the base; [0]: of the end |
| base | H(w) | scalar | base probability of a word |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double
from skdp.processes._kernels_franchise_dynamic import (
    CUSTOMERS,
    NODE,
    OPENED,
    TABLES,
    drop_cell,
    find_cell,
    find_or_add_cell,
    leave_seat,
    record_change,
    split_share,
    take_seat,
)
from skdp.processes._kernels_interpolated import find_place

SMALLEST_BASE = 1e-240
"""Lower bound on the base probability of a word, for long words of rare letters."""


class Text(NamedTuple):
    """Strings, and the places of their restaurants."""

    # Cells in order: letters, spans at the root, the end at the root, hashed cells. Nodes: letters,
    # the root of words, contexts of one word, the start, contexts of two words.

    ptr: NDArray[np.int64]
    span_ids: NDArray[np.int32]
    letter_cells: NDArray[np.int32]
    end_cells: NDArray[np.int32]
    span_first: NDArray[np.int64]
    span_lengths: NDArray[np.int32]
    shared: NDArray[np.int32]  # most letters of a span with customers of other strings
    known: NDArray[np.int8]  # 1: a word ends after the letter; 0: no word does; -1: unknown
    n_spans: int
    character_order: int
    word_order: int
    root_cell: int
    root_node: int
    hashed_cell: int
    pair_node: int
    uniform: float


# Letters.


@njit_inlined
def symbol_cell(text, at, k, r):
    """Return cell and level of symbol r of a word of k letters at a place; symbol k is its end."""
    cells, i = text.letter_cells, at + r
    if r == k:
        cells, i = text.end_cells, at + k - 1
    last = text.character_order - 1
    if r < last:
        return np.int64(cells[i, text.character_order + r]), r + 1
    return np.int64(cells[i, last]), last


@njit_internal_nogc
def letter_probability(f, cell, level, uniform):
    """Return the predictive probability of the outcome of a cell of letters."""
    probability, weight = 0.0, 1.0
    while cell >= 0:
        own, back = split_share(f, cell, np.int64(f.cells[cell, NODE]), level)
        probability += weight * own
        weight *= back
        cell = np.int64(f.parents[cell])
        level -= 1
    return probability + weight * uniform


@njit_internal_nogc
def spelling_probability(f, text, w):
    """Return the probability of a word's letters and its end, given the current seats."""
    at, k = text.span_first[w], np.int64(text.span_lengths[w])
    product = 1.0
    for r in range(k + 1):
        cell, level = symbol_cell(text, at, k, r)
        product *= letter_probability(f, cell, level, text.uniform)
    return product


@njit_inlined
def seat_in(f, cell, level, left):
    """Seat a customer at a table of a cell."""
    n_customers = f.nodes[np.int64(f.cells[cell, NODE]), 0]
    take_seat(f, cell, f.prior[level, 0], left * (f.prior[level, 1] + n_customers))


@njit_internal_nogc
def seat_letter(f, cell, level, probability, rng):
    """Seat a customer in a cell of letters; `probability` is that of its outcome."""
    left = next_double(rng) * probability
    while cell >= 0:
        node = np.int64(f.cells[cell, NODE])
        own, back = split_share(f, cell, node, level)
        if left < own:
            seat_in(f, cell, level, left)
            return
        record_change(f, OPENED, cell, np.int32(1))
        left = (left - own) / back
        cell = np.int64(f.parents[cell])
        level -= 1


@njit_internal_nogc
def remove_customer(f, cell, rng):
    """Remove a customer, and upwards if its table closes; return whether a root table closed."""
    while cell >= 0:
        if not leave_seat(f, cell, next_double(rng)):
            return False
        cell = np.int64(f.parents[cell])
    return True


@njit_internal_nogc
def add_spelling(f, text, w, rng):
    """Seat the letters of a word one by one; return the log of their sequential probability."""
    at, k = text.span_first[w], np.int64(text.span_lengths[w])
    product, total = 1.0, 0.0
    for r in range(k + 1):
        cell, level = symbol_cell(text, at, k, r)
        probability = letter_probability(f, cell, level, text.uniform)
        product *= probability
        if product < SMALLEST_BASE:
            total += math.log(product)
            product = 1.0
        seat_letter(f, cell, level, probability, rng)
    return total + math.log(product)


@njit_internal_nogc
def remove_spelling(f, text, w, rng):
    """Remove the letters of a word, the last first; return what `add_spelling` would return."""
    at, k = text.span_first[w], np.int64(text.span_lengths[w])
    product, total = 1.0, 0.0
    for r in range(k, -1, -1):
        cell, level = symbol_cell(text, at, k, r)
        remove_customer(f, cell, rng)
        product *= letter_probability(f, cell, level, text.uniform)
        if product < SMALLEST_BASE:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


# Words.


@njit_internal_nogc
def base_probability(f, text, prices, w):
    """Return the base probability of a word, or of the end of the sentence."""
    if w == text.n_spans:
        return prices[0]
    # Smaller values need not be exact: a word with customers has a probability without the base,
    # and for a word without customers the log probability of its letters replaces the base.
    return max(prices[text.span_lengths[w]] * spelling_probability(f, text, w), SMALLEST_BASE)


@njit_inlined
def context_node(text, v):
    """Return the node of words after v."""
    return np.int64(text.root_node) + 1 + v


@njit_inlined
def two_word_node(text, pair):
    """Return the node of words after a pair of words."""
    return np.int64(text.pair_node) + pair - text.hashed_cell


@njit_inlined
def find_seats(f, text, w, v, pair, depth):
    """Return the node of a context, and the cell of a word there, -1 if there is none."""
    if depth == 0:
        return np.int64(text.root_node), np.int64(text.root_cell) + w
    node = context_node(text, v) if depth == 1 else two_word_node(text, pair)
    return node, find_cell(f, node, w)


@njit_internal_nogc
def event_probability(f, text, w, v, pair, depth, base):
    """Return the predictive probability of a word in its context."""
    probability = base
    for m in range(depth + 1 if pair >= 0 else min(depth, 1) + 1):
        node, cell = find_seats(f, text, w, v, pair, m)
        own, back = split_share(f, cell, node, np.int64(text.character_order) + m)
        probability = own + back * probability
    return probability


@njit_internal_nogc
def add_event(f, text, prices, w, v, pair, depth, base, rng):
    """Seat a word in its context; return its probability and the log ratio of its letters."""
    # The current seats are the weights. The ratio is that of a new table's sequential letter
    # probability to the one in `base`.
    probability = event_probability(f, text, w, v, pair, depth, base)
    left = next_double(rng) * probability
    for m in range(depth, -1, -1):
        node, cell = find_seats(f, text, w, v, pair, m)
        level = np.int64(text.character_order) + m
        own, back = split_share(f, cell, node, level)
        if left < own:
            seat_in(f, cell, level, left)
            return probability, 0.0
        if cell < 0:
            parent = np.int64(text.root_cell) + w
            if m == 2:
                parent = find_or_add_cell(f, context_node(text, v), w, parent)
            cell = find_or_add_cell(f, node, w, parent)
        record_change(f, OPENED, cell, np.int32(1))
        left = (left - own) / back
    if w == text.n_spans:
        return probability, 0.0
    return probability, add_spelling(f, text, w, rng) - log_letters(text, prices, w, base)


@njit_internal_nogc
def add_word(f, text, prices, w, v, pair, depth, rng):
    """Seat a word; return the log of its probability plus the log ratio of `add_event`."""
    base = base_probability(f, text, prices, w)
    probability, log_ratio = add_event(f, text, prices, w, v, pair, depth, base, rng)
    return math.log(probability) + log_ratio


@njit_inlined
def log_letters(text, prices, w, base):
    """Return the log of the letters' part of a word's base probability."""
    return math.log(base) - math.log(prices[text.span_lengths[w]])


@njit_internal_nogc
def remove_event(f, text, w, v, pair, depth, rng):
    """Remove a customer of a word; return whether letters go with it, and their log probability."""
    # The customer is drawn uniformly, and letters are removed with a root table.
    _, cell = find_seats(f, text, w, v, pair, depth)
    if not remove_customer(f, cell, rng) or w == text.n_spans:
        return False, 0.0
    return True, remove_spelling(f, text, w, rng)


@njit_internal_nogc
def log_removed(f, text, prices, w, v, pair, depth, removed):
    """Return the log of the result of the reverse `add_event`, after a removal."""
    took_letters, log_ratio = removed
    base = base_probability(f, text, prices, w)
    if took_letters:
        log_ratio -= log_letters(text, prices, w, base)
    return math.log(event_probability(f, text, w, v, pair, depth, base)) + log_ratio


@njit_internal_nogc
def drop_empty_cells(f, text, n_changes):
    """Free empty cells among the journal's first changes: not earlier, undoing needs the cells."""
    for i in range(n_changes):
        cell = np.int64(f.journal[i, 1])
        if cell < text.hashed_cell:
            continue
        if f.cells[cell, CUSTOMERS] == 0 and f.cells[cell, NODE] >= 0:
            root = np.int64(f.parents[cell])
            if root >= text.hashed_cell:
                root = np.int64(f.parents[root])
            drop_cell(f, root - text.root_cell, cell)


# Strings as words.


@njit_internal_nogc
def list_words(text, string, cuts, words):
    """Write the words of a string from its cuts, and the end; return their number."""
    start, n = text.ptr[string], 0
    for i in range(text.ptr[string], text.ptr[string + 1]):
        if cuts[i]:
            words[n] = text.span_ids[start, i - start]
            start = i + 1
            n += 1
    words[n] = text.n_spans
    return n + 1


@njit_inlined
def context_of(f, text, words, e):
    """Return the context of word e: the preceding word and pair, and the number of words."""
    if text.word_order == 1:
        return np.int64(-1), np.int64(-1), 0
    # The start is the farthest word of any context that extends to it.
    v = np.int64(words[e - 1]) if e > 0 else np.int64(text.n_spans)
    if text.word_order == 2 or e == 0:
        return v, np.int64(-1), 1
    u = np.int64(words[e - 2]) if e > 1 else np.int64(text.n_spans)
    return v, find_cell(f, context_node(text, u), v), 2


@njit_inlined
def _word_before(text, words, e, m):
    """Return the m-th word before word e, or the start if there is none or it is not used."""
    return np.int64(words[e - m]) if e >= m and m < text.word_order else np.int64(text.n_spans)


@njit_internal_nogc
def mark_words(text, words, n_words, marks):
    """Write the word that begins at each letter of a string, or -1, and its preceding words."""
    for i in range(marks.word_at.shape[0]):
        marks.word_at[i] = -1
    at = 0
    for e in range(n_words):
        marks.word_at[at] = words[e]
        for m in range(2):
            marks.before_at[at, m] = _word_before(text, words, e, m + 1)
        if e < n_words - 1:
            at += text.span_lengths[words[e]]


@njit_internal_nogc
def _is_marked(text, words, e, at, marks):
    """Return whether the same word was marked after the same words; without `marks` none was."""
    if marks is None:
        return False
    is_same = marks.word_at[at] == words[e]
    for m in range(2):
        is_same = is_same and marks.before_at[at, m] == _word_before(text, words, e, m + 1)
    return is_same


@njit_internal_nogc
def remove_words(f, text, prices, words, n_words, marks, log_wanted, rng):
    """Remove the unmarked words, the last first; return what `add_words` would, if wanted."""
    total, at = 0.0, 0
    for e in range(n_words - 1):
        at += text.span_lengths[words[e]]
    for e in range(n_words - 1, -1, -1):
        if e < n_words - 1:
            at -= text.span_lengths[words[e]]
        if _is_marked(text, words, e, at, marks):
            continue
        w = np.int64(words[e])
        v, pair, depth = context_of(f, text, words, e)
        removed = remove_event(f, text, w, v, pair, depth, rng)
        if log_wanted:
            total += log_removed(f, text, prices, w, v, pair, depth, removed)
    return total


@njit_internal_nogc
def add_words(f, text, prices, words, n_words, marks, rng):
    """Seat the unmarked words of a string in order; return the log of their probability."""
    # Each probability is given the seats so far, and includes the log ratio of `add_event`.
    total, at = 0.0, 0
    for e in range(n_words):
        if not _is_marked(text, words, e, at, marks):
            v, pair, depth = context_of(f, text, words, e)
            total += add_word(f, text, prices, np.int64(words[e]), v, pair, depth, rng)
        if e < n_words - 1:
            at += text.span_lengths[words[e]]
    return total


# Lengths of words drawn from the restaurants of letters.
#
# | name | shape | meaning |
# |---|---|---|
# | contexts | | contexts of letters as an automaton: `Letters`, with the following arrays |
# | first_cells | (n_nodes + 1,) | cells of u: first_cells[u]:first_cells[u + 1], by outcome |
# | outcomes | (C,) | letter + 1, or 0, the end |
# | following | (C,) | longest context after a cell's letter |
# | node_parents, depths | (n_nodes,) | context without the oldest letter, and a context's level |
# | counts | (L + 1,) | words by length; entry 0: words without letters, or too long |


@njit_internal_nogc
def _draw_symbol(f, contexts, node, n_symbols, rng):
    """Draw the symbol after a context."""
    while node >= 0:
        level = contexts.depths[node]
        discount = f.prior[level, 0]
        n_customers, n_tables = f.nodes[node, 0], f.nodes[node, 1]
        left = next_double(rng) * (f.prior[level, 1] + n_customers)
        if left < n_customers - discount * n_tables:
            last = -1
            for cell in range(contexts.first_cells[node], contexts.first_cells[node + 1]):
                if f.cells[cell, CUSTOMERS] > 0:
                    last = cell
                    left -= f.cells[cell, CUSTOMERS] - discount * f.cells[cell, TABLES]
                    if left < 0.0:
                        break
            return np.int64(contexts.outcomes[last])
        node = np.int64(contexts.node_parents[node])
    return np.int64(next_double(rng) * n_symbols)


@njit_loop
def draw_lengths(f, contexts, n_symbols, n_draws, counts, rng):
    """Draw words and count their lengths."""
    longest = counts.shape[0] - 1
    for _ in range(n_draws):
        node, k = np.int64(contexts.start), 0
        while k <= longest:
            outcome = _draw_symbol(f, contexts, node, n_symbols, rng)
            if outcome == 0:
                break
            k += 1
            while node >= 0:
                first, last = contexts.first_cells[node], contexts.first_cells[node + 1]
                cell = find_place(outcome, contexts.outcomes, np.int64(first), np.int64(last))
                if cell >= 0:
                    break
                node = np.int64(contexts.node_parents[node])
            node = np.int64(contexts.following[cell]) if node >= 0 else np.int64(0)
        counts[k if k <= longest else 0] += 1
