"""A stored sample of the model with collocations, and its predictions."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Ints, Places
from skdp.language._collocations._kernels_filter import CollocationWorkspace, empty_room
from skdp.language._collocations._kernels_predict import (
    find_best_words,
    find_posteriors_of_words,
    score_collocations,
)
from skdp.language._collocations._kernels_seats import Collocations
from skdp.language._collocations._layout import CollocationLayout, lay_out_collocations
from skdp.language._nested._kernels_filter import FilterScratch
from skdp.language._nested._layout import TextLayout
from skdp.language._nested._model import NestedModel, read_strings
from skdp.language._nested._numbering import Spans, find_spans
from skdp.processes._kernels_franchise_dynamic import CUSTOMERS, NODE, DynamicFranchise


class CollocationModel(NamedTuple):
    """A sample of the restaurants that have customers."""

    of_words: NestedModel  # words and letters
    members: Ints  # concatenated words of collocations, as numbers in `of_words`
    ptr: Places  # offsets of collocations in `members`
    counts: Ints  # (n_collocations + 1, 2), customers and tables of collocations, and of the end
    own_prior: Floats  # (2,), discount and concentration of collocations
    shares: Floats  # (3,), see `_kernels_seats`
    max_length: int  # largest number of letters of a collocation

    @classmethod
    def of(
        cls,
        f: DynamicFranchise,
        layout: TextLayout,
        spans: Spans,
        c: Collocations,
        words: NestedModel,
    ) -> CollocationModel:
        """Return the restaurants that have customers; `spans` are those of collocations."""
        text = layout.text
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


class CollocationReader(NamedTuple):
    """Strings with the restaurants of a sample that they may need."""

    layout: CollocationLayout
    f: DynamicFranchise
    prices: Floats
    collocations: Collocations
    scratch: FilterScratch
    room: CollocationWorkspace

    def log_probabilities(self) -> Floats:
        """Return the log probability of each string."""
        text = self.layout.words.text
        n = len(text.ptr) - 1
        out = np.zeros(n)
        score_collocations(
            self.f, text, self.prices, self.collocations, 0, n, self.scratch, self.room, out
        )
        return out

    def posteriors(self) -> Floats:
        """Return the posterior of all words, (n_letters, K)."""
        text = self.layout.words.text
        n, out = len(text.ptr) - 1, np.zeros(text.span_ids.shape)
        find_posteriors_of_words(
            self.f, text, self.prices, self.collocations, 0, n, self.scratch, self.room,
            np.zeros(len(self.room.forward)), out,
        )  # fmt: skip
        return out

    def best_cuts(self) -> NDArray[np.bool_]:
        """Return the cuts of the jointly most probable collocations and words."""
        text = self.layout.words.text
        n, out = len(text.ptr) - 1, np.zeros(len(text.span_ids), dtype=np.bool_)
        find_best_words(
            self.f, text, self.prices, self.collocations, 0, n, self.scratch, self.room, out
        )
        return out


def lay_out_new(model: CollocationModel, tokens: Ints, ptr: Places) -> CollocationLayout:
    """Return the numbering for new strings, which is the same for all samples of a fit."""
    known = np.full(len(tokens), -1, dtype=np.int8)
    words = model.of_words
    lengths = len(words.prices) - 1, model.max_length
    return lay_out_collocations(
        tokens,
        ptr,
        known,
        lengths,
        words.character_order,
        words.n_symbols,
        0,
        for_reading=True,
    )


def read_new(model: CollocationModel, layout: CollocationLayout) -> CollocationReader:
    """Return a reader of strings with the sample's restaurants; other restaurants are empty."""
    reader, text = read_strings(model.of_words, layout.words), layout.words.text
    words = model.words()
    letters, ptr, masks = [], [0], []
    for members in pairwise(model.ptr):
        mine = [words[w] for w in model.members[slice(*members)]]
        letters += mine
        ends = np.cumsum([len(word) for word in mine])
        ptr.append(ptr[-1] + int(ends[-1]))
        masks.append(sum(1 << (int(end) - 1) for end in ends[:-1]))
    found = find_spans(
        layout.spans,
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
    f = reader.f
    f = f._replace(
        cells=np.concatenate([f.cells, cells]),
        parents=np.append(f.parents, np.full(n + 1, -1, dtype=np.int32)),
        nodes=np.concatenate([f.nodes, model.counts.sum(axis=0, dtype=np.int32)[None]]),
        prior=np.concatenate([f.prior, model.own_prior[None]]),
    )
    heads = np.full(len(layout.spans.first), -1, dtype=np.int32)
    numbers = text.hashed_cell + 1 + np.arange(n, dtype=np.int32)
    is_last = np.append(of[1:] != of[:-1], True)[:n]
    is_first = np.append(True, of[1:] != of[:-1])[:n]
    heads[of[is_first]] = numbers[is_first]
    collocations = Collocations(
        layout.spans.ids,
        heads,
        of.astype(np.int32),
        np.where(is_last, -1, numbers + 1).astype(np.int32),
        np.array(masks, dtype=np.int64)[is_there],
        model.shares,
    )
    longest = int(np.diff(text.ptr).max(initial=0))
    room = empty_room(longest, text.span_ids.shape[1], model.max_length)
    return CollocationReader(layout, f, reader.prices, collocations, reader.scratch, room)
