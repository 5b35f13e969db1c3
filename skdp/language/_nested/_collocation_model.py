"""The model with collocations: restaurants of a text, stored samples and their predictions."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp.language._kernels import _collocations as kernels
from skdp.language._kernels._collocation_seats import Collocations
from skdp.language._kernels._filter import empty_scratch
from skdp.language._nested._layout import Spans, TextLayout, find_spans, lay_out, number_spans
from skdp.language._nested._model import NestedModel, Reader, fill_restaurants, rank
from skdp.processes._kernels_franchise_dynamic import (
    CUSTOMERS,
    NODE,
    DynamicFranchise,
    empty_franchise,
)

# Numbering of the spans of a text up to the longest collocation, and their restaurants.


def lay_out_collocations(
    tokens: Ints,
    ptr: Places,
    known: NDArray[np.int8],
    n_symbols: int,
    lengths: tuple[int, int],  # largest numbers of letters of a word and of a collocation
    character_order: int,
    n_cells: int | None = None,  # collocations with customers at a time; None: all in the strings
    *,
    for_reading: bool = False,
) -> TextLayout:
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
        tokens, ptr, known, n_symbols, lengths[0], character_order, 1, n_cells,
        spans=words, for_reading=for_reading,
    )  # fmt: skip
    levels = np.append(layout.node_levels, np.int32(character_order + 1)).astype(np.int32)
    return layout._replace(node_levels=as_readonly(levels), collocations=spans)


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


# Stored samples.


class CollocationModel(NamedTuple):
    """A sample of the restaurants that have customers."""

    of_words: NestedModel  # words and letters
    members: Ints  # concatenated words of collocations, as numbers in `of_words`
    ptr: Places  # offsets of collocations in `members`
    counts: Ints  # (n_collocations + 1, 2), customers and tables of collocations, and of the end
    own_prior: Floats  # (2,), discount and concentration of collocations
    shares: Floats  # (3,), see `_kernels/_collocation_seats`
    max_length: int  # largest number of letters of a collocation

    @classmethod
    def of(
        cls,
        f: DynamicFranchise,
        layout: TextLayout,
        c: Collocations,
        words: NestedModel,
    ) -> CollocationModel:
        """Return the restaurants that have customers."""
        text, spans = layout.text, layout.collocations
        assert spans is not None
        cells = np.flatnonzero(f.cells[text.hashed_cell + 1 :, CUSTOMERS])
        # Sort by letters, not by cell, since cells are assigned in arbitrary order.
        cells = cells[np.lexsort((c.masks[cells], c.span_of[cells]))]
        number = np.full(text.n_spans, -1, dtype=np.int32)
        is_word = f.cells[text.root_cell : text.hashed_cell - 1, CUSTOMERS] > 0
        number[is_word] = np.arange(np.count_nonzero(is_word))
        members, ptr = [], [0]
        at, lengths = spans.first[c.span_of[cells]], spans.lengths[c.span_of[cells]]
        for begin, length, mask in zip(
            at.tolist(), lengths.tolist(), c.masks[cells].tolist(), strict=True
        ):
            edges = [0, *(i + 1 for i in range(length - 1) if mask >> i & 1), length]
            members += [text.span_ids[begin + a, b - a - 1] for a, b in pairwise(edges)]
            ptr.append(len(members))
        places = np.append(text.hashed_cell + 1 + cells, text.hashed_cell)
        return cls(
            words,
            number[np.array(members, dtype=np.int64)],
            np.array(ptr, dtype=np.int64),
            f.cells[places, :2].copy(),
            f.prior[-1].copy(),
            c.shares.copy(),
            spans.ids.shape[1],
        )

    @property
    def prior(self) -> Floats:
        """Discounts and concentrations of letters and words, (n_levels, 2)."""
        return self.of_words.prior

    @property
    def tokens(self) -> Ints:
        """Number of tokens of each word in the segmented text."""
        return self.of_words.tokens

    def words(self) -> list[NDArray[np.int32]]:
        """Return the words as arrays of letters."""
        return self.of_words.words()

    def collocations(self) -> list[list[NDArray[np.int32]]]:
        """Return the collocations as lists of words, arrays of letters."""
        words = self.words()
        return [[words[w] for w in self.members[a:b]] for a, b in pairwise(self.ptr)]


def lay_out_new(model: CollocationModel, tokens: Ints, ptr: Places) -> TextLayout:
    """Return the numbering for new strings, which is the same for all samples of a fit."""
    known = np.full(len(tokens), -1, dtype=np.int8)
    words = model.of_words
    lengths = len(words.prices) - 1, model.max_length
    return lay_out_collocations(
        tokens, ptr, known, words.n_symbols, lengths, words.character_order, 0, for_reading=True
    )


def read_new(model: CollocationModel, layout: TextLayout) -> Reader:
    """Return a reader of strings with the sample's restaurants; other restaurants are empty."""
    of_words, text, spans = model.of_words, layout.text, layout.collocations
    assert spans is not None
    words = model.words()
    letters, ptr, masks = [], [0], []
    for members in pairwise(model.ptr):
        mine = [words[w] for w in model.members[slice(*members)]]
        letters += mine
        ends = np.cumsum([len(word) for word in mine])
        ptr.append(ptr[-1] + int(ends[-1]))
        masks.append(sum(1 << (int(end) - 1) for end in ends[:-1]))
    found = find_spans(
        spans,
        np.concatenate([np.zeros(0, dtype=np.int32), *letters]),
        np.array(ptr, dtype=np.int64),
    )
    is_there = np.flatnonzero(found >= 0)
    is_there = is_there[np.argsort(found[is_there], kind="stable")]
    n, of = len(is_there), found[is_there]
    cells = np.full((n + 1, 4), -1, dtype=np.int32)
    cells[:, NODE] = text.pair_node
    cells[0, :2] = model.counts[-1]
    cells[1:, :2] = model.counts[:-1][is_there]
    f = fill_restaurants(of_words, layout)
    f = f._replace(
        cells=np.concatenate([f.cells, cells]),
        parents=np.append(f.parents, np.full(n + 1, -1, dtype=np.int32)),
        nodes=np.concatenate([f.nodes, model.counts.sum(axis=0, dtype=np.int32)[None]]),
        prior=np.concatenate([f.prior, model.own_prior[None]]),
    )
    heads = np.full(len(spans.first), -1, dtype=np.int32)
    numbers = text.hashed_cell + 1 + np.arange(n, dtype=np.int32)
    is_last = np.append(of[1:] != of[:-1], True)[:n]
    is_first = np.append(True, of[1:] != of[:-1])[:n]
    heads[of[is_first]] = numbers[is_first]
    collocations = Collocations(
        spans.ids,
        heads,
        of.astype(np.int32),
        np.where(is_last, -1, numbers + 1).astype(np.int32),
        np.array(masks, dtype=np.int64)[is_there],
        model.shares,
    )
    longest, max_word = int(np.diff(text.ptr).max(initial=0)), text.span_ids.shape[1]
    return Reader(
        (kernels.score_collocations, kernels.find_posteriors_of_words, kernels.find_best_words),
        (
            f, text, of_words.prices, collocations,
            empty_scratch(longest, max_word, of_words.character_order),
            kernels.empty_room(longest, max_word, model.max_length),
        ),
    )  # fmt: skip


def count_collocations(models: list[CollocationModel]) -> tuple[list[list[Ints]], Floats]:
    """Return the collocations of samples, the most frequent first, and their mean numbers."""
    found, means = rank([
        [
            (tuple(tuple(word.tolist()) for word in words), n)
            for words, n in zip(model.collocations(), model.counts[:-1, 0], strict=True)
        ]
        for model in models
    ])  # fmt: skip
    return [[np.array(word, dtype=np.int32) for word in words] for words in found], means
