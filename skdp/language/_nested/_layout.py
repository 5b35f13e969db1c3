"""Numbering of the spans and letters of a text, and the restaurants that it may need."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Ints, Places
from skdp.language._nested._kernels_lengths import Contexts
from skdp.language._nested._kernels_words import Text
from skdp.language._nested._numbering import (
    Letters,
    Spans,
    find_shared,
    number_letters,
    number_spans,
)
from skdp.processes._kernels_franchise_dynamic import NODE, DynamicFranchise, empty_franchise

_LETTERS_A_CALL = 100_000
"""Number of letters per kernel call: Python handles no signals before a kernel returns."""


def portions(lengths: NDArray[np.integer]) -> Iterator[tuple[int, int]]:
    """Yield the first string of each kernel call and of the next call, given string lengths."""
    calls = np.cumsum(lengths) // _LETTERS_A_CALL
    return pairwise([0, *(np.flatnonzero(np.diff(calls)) + 1).tolist(), len(lengths)])


class TextLayout(NamedTuple):
    """Layout of the restaurants of a text."""

    text: Text
    spans: Spans
    letters: Letters
    contexts: Contexts
    node_levels: Ints  # (n_nodes,)
    n_hashed: int  # largest number of cells in addition to the cells at fixed places


def lay_out(
    tokens: Ints,
    ptr: Places,
    known: NDArray[np.int8],
    max_length: int,
    character_order: int,
    word_order: int,
    n_symbols: int,
    n_hashed: int | None = None,  # most pairs and triples with customers; None: all in the strings
    n_spare: int = 0,  # spare cells for n_hashed=None, if more than the longest string needs
    spans: Spans | None = None,  # if they are already numbered
    *,
    for_reading: bool = False,  # new strings, for prediction
) -> TextLayout:
    """Return the numbering of all words that strings may contain."""
    if spans is None:
        spans = number_spans(tokens, ptr, max_length)
    letters = number_letters(tokens, ptr, character_order)
    n_cells, n_nodes, n_spans = len(letters.nodes), len(letters.depths), len(spans.first)
    if n_hashed is None:
        # The cells of a string's words are kept until its new words are seated.
        longest = int(np.diff(ptr).max(initial=0))
        n_hashed = (word_order - 1) * (len(tokens) + len(ptr) + max(longest, n_spare))
    root_cell, hashed_cell = n_cells, n_cells + n_spans + 1
    pair_node = n_nodes + 1 + (n_spans + 1) * (word_order > 1)
    text = Text(
        as_readonly(np.asarray(ptr, dtype=np.int64)),
        as_readonly(spans.ids),
        as_readonly(letters.letter_cells),
        as_readonly(letters.end_cells),
        as_readonly(spans.first),
        as_readonly(spans.lengths),
        as_readonly(
            np.full(len(tokens), max_length, np.int32) if for_reading else find_shared(spans)
        ),
        as_readonly(np.asarray(known, dtype=np.int8)),
        n_spans,
        character_order,
        word_order,
        root_cell,
        n_nodes,
        hashed_cell,
        pair_node,
        1.0 / (n_symbols + 1),
    )
    sizes = [1]
    if word_order > 1:
        sizes.append(n_spans + 1)
    if word_order > 2:
        sizes.append(n_hashed)
    levels = [np.full(size, character_order + m) for m, size in enumerate(sizes)]
    first_cells = np.append(_first_of_each(letters.nodes, n_nodes), n_cells)
    contexts = Contexts(
        as_readonly(first_cells.astype(np.int32)),
        as_readonly(letters.outcomes),
        as_readonly(letters.following),
        as_readonly(letters.node_parents),
        as_readonly(letters.depths),
    )
    node_levels = np.concatenate([letters.depths, *levels]).astype(np.int32)
    return TextLayout(text, spans, letters, contexts, as_readonly(node_levels), n_hashed)


def _first_of_each(nodes: Ints, n_nodes: int) -> Places:
    """Return the first cell of each node; the cells of a node are contiguous and not empty."""
    first = np.zeros(n_nodes, dtype=np.int64)
    changes = np.flatnonzero(np.diff(nodes, prepend=-1))
    first[nodes[changes]] = changes
    return first


def open_restaurants(layout: TextLayout, n_tables: int, n_changes: int) -> DynamicFranchise:
    """Return empty restaurants for a text, with room for table sizes of all cells, and changes."""
    text = layout.text
    f = empty_franchise(
        text.hashed_cell,
        layout.n_hashed,
        text.pair_node + layout.n_hashed * (text.word_order > 2),
        n_tables,
        n_changes,
        text.character_order + text.word_order,
    )
    n_cells = text.root_cell
    f.cells[:n_cells, NODE] = layout.letters.nodes
    f.parents[:n_cells] = layout.letters.parents
    f.cells[n_cells : text.hashed_cell, NODE] = text.root_node
    return f


def chain_bytes(ptr: Places, max_length: int, character_order: int, word_order: int) -> float:
    """Return a chain's bytes, assuming new spans of half of all lengths at each character."""
    spans = 4.0 * max_length + 52.0 * max(max_length / 2.0, 4.0)
    letters = 8.0 * (2 * character_order - 1)
    tables = 12.0 * (2 * character_order + word_order)
    pairs = 80.0 * (word_order - 1)
    total = (spans + letters + tables + pairs + 60.0) * float(ptr[-1])
    if word_order > 2:
        longest = float(np.diff(ptr).max())
        total += 24.0 * float(ptr[-1]) + 16.0 * longest * max_length**2
    return total
