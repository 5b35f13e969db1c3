"""Numbering of the spans of a text up to the longest collocation, and their restaurants."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Ints, Places
from skdp.language._nested._kernels_words import Text
from skdp.language._nested._layout import TextLayout, lay_out
from skdp.language._nested._numbering import Spans, number_spans
from skdp.processes._kernels_franchise_dynamic import NODE, DynamicFranchise, empty_franchise


class CollocationLayout(NamedTuple):
    """Layout of the restaurants of a text."""

    words: TextLayout  # spans that may be words; `n_hashed`: cells for collocations
    spans: Spans  # all spans that may be collocations, with possible words first

    @property
    def text(self) -> Text:
        """The strings, and the places of the restaurants of their words."""
        return self.words.text


def lay_out_collocations(
    tokens: Ints,
    ptr: Places,
    known: NDArray[np.int8],
    lengths: tuple[int, int],  # largest numbers of letters of a word and of a collocation
    character_order: int,
    n_symbols: int,
    n_cells: int | None = None,  # collocations with customers at a time; None: all in the strings
    *,
    for_reading: bool = False,
) -> CollocationLayout:
    """Return the numbering of all words and collocations that strings may contain."""
    spans = number_spans(tokens, ptr, lengths[1])
    n_words = int(np.searchsorted(spans.lengths, lengths[0], side="right"))
    words = Spans(
        np.ascontiguousarray(spans.ids[:, : lengths[0]]),
        spans.levels[: lengths[0]],
        spans.first[:n_words],
        spans.lengths[:n_words],
    )
    if n_cells is None:
        # The cells of a string's collocations are kept until its new ones are seated.
        n_cells = len(tokens) + int(np.diff(ptr).max(initial=0))
    layout = lay_out(
        tokens,
        ptr,
        known,
        lengths[0],
        character_order,
        1,
        n_symbols,
        n_cells,
        spans=words,
        for_reading=for_reading,
    )
    levels = np.append(layout.node_levels, np.int32(character_order + 1)).astype(np.int32)
    return CollocationLayout(layout._replace(node_levels=as_readonly(levels)), spans)


def open_collocations(layout: TextLayout, n_tables: int, n_changes: int) -> DynamicFranchise:
    """Return empty restaurants for a text; the cell after the words' root is that of the end."""
    text = layout.text
    f = empty_franchise(
        text.hashed_cell + 1,
        0,  # no keys: collocations are found by their spans
        text.pair_node + 1,
        n_tables,
        n_changes,
        text.character_order + 2,
    )
    n_fixed, n_cells = text.hashed_cell + 1, text.hashed_cell + 1 + layout.n_hashed
    cells = np.full((n_cells, 4), -1, dtype=np.int32)
    cells[:, :2] = 0
    cells[: text.root_cell, NODE] = layout.letters.nodes
    cells[text.root_cell : text.hashed_cell, NODE] = text.root_node
    cells[text.hashed_cell, NODE] = text.pair_node
    parents = np.full(n_cells, -1, dtype=np.int32)
    parents[: text.root_cell] = layout.letters.parents
    f.counters[0] = layout.n_hashed
    spare = np.arange(n_cells - 1, n_fixed - 1, -1, dtype=np.int32)
    return f._replace(cells=cells, parents=parents, spare=spare)


def chain_bytes(ptr: Places, max_word: int, max_collocation: int, character_order: int) -> float:
    """Return a chain's bytes, assuming four new spans at each character that may be words."""
    words = 4.0 * max_word + 4.0 * 52.0
    letters = 8.0 * (2 * character_order - 1)
    tables = 12.0 * (2 * character_order + 2)
    collocations = 20.0 * max_collocation + 44.0
    longest = float(np.diff(ptr).max())
    return (words + letters + tables + collocations + 60.0) * float(ptr[-1]) + (
        16.0 * (max_word + max_collocation) * longest
    )
