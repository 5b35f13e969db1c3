"""Stored samples of the nested model: predictions, words, and segmented strings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Ints, Places
from skdp.language._kernels._filter import empty_pairs, empty_scratch
from skdp.language._kernels._predict import find_best_cuts, find_posteriors, score_strings
from skdp.language._nested._layout import (
    TextLayout,
    find_spans,
    lay_out,
    open_restaurants,
    portions,
)
from skdp.processes._kernels_franchise_dynamic import DynamicFranchise, put_hashed_cells


class CellTable(NamedTuple):
    """Cells with (n, 2) customers and tables, in the order of the rows of `of`."""

    of: NDArray[np.int32]
    counts: NDArray[np.int32]


class NestedModel(NamedTuple):
    """A sample of the restaurants that have customers."""

    word_letters: Ints  # concatenated letters of the words that have customers at the root
    word_ptr: Places  # their offsets
    root: Ints  # (n_words + 1, 2), customers and tables of these words, and of the end
    pairs: CellTable  # rows (v, w); v = n_words is the start, and w = n_words the end
    contexts: Ints  # (n_contexts, 2), parent (these first) and oldest letter; -1: start of a word
    letters: CellTable  # rows (context, outcome)
    tokens: Ints  # (n_words,), tokens of each word in the segmented text
    prices: Floats  # (L + 1,)
    prior: Floats  # (n_levels, 2)
    n_symbols: int
    character_order: int
    triples: CellTable  # rows (row of `pairs`, w)

    @property
    def word_order(self) -> int:
        """Length of the n-grams of words."""
        return len(self.prior) - self.character_order

    @classmethod
    def of(
        cls,
        f: DynamicFranchise,
        layout: TextLayout,
        tokens: Ints,
        cuts: NDArray[np.bool_],
        prices: Floats,
        n_symbols: int,
    ) -> NestedModel:
        """Return the restaurants with customers."""
        text, letters = layout.text, layout.letters
        root = f.cells[text.root_cell : text.hashed_cell, :2]
        words = np.flatnonzero(root[:-1, 0])
        number = np.full(text.n_spans + 1, -1, dtype=np.int32)
        number[words] = np.arange(len(words))
        number[-1] = len(words)
        lengths = text.span_lengths[words]
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(text.span_first[words] - ptr[:-1], lengths) + np.arange(ptr[-1])
        hashed = f.cells[text.hashed_cell :]
        pairs = text.hashed_cell + np.flatnonzero(
            (hashed[:, 3] > text.root_node) & (hashed[:, 3] < text.pair_node) & (hashed[:, 0] > 0)
        )
        before = number[f.cells[pairs, 3] - text.root_node - 1]
        of_pairs = np.stack([before, number[f.parents[pairs] - text.root_cell]], axis=1)
        triples = text.hashed_cell + np.flatnonzero(
            (hashed[:, 3] >= text.pair_node) & (hashed[:, 0] > 0)
        )
        pair_number = np.full(len(f.cells), -1, dtype=np.int32)
        pair_number[pairs] = np.arange(len(pairs))
        before = pair_number[f.cells[triples, 3] - text.pair_node + text.hashed_cell]
        last = number[f.parents[f.parents[triples]] - text.root_cell]
        of_triples = np.stack([before, last], axis=1)
        contexts = np.flatnonzero(f.nodes[: text.root_node, 0])
        context_number = np.full(text.root_node + 1, -1, dtype=np.int32)
        context_number[contexts] = np.arange(len(contexts))
        cells = np.flatnonzero(f.cells[: text.root_cell, 0])
        ends = np.flatnonzero(cuts)
        is_start = np.zeros(len(tokens), dtype=np.bool_)
        is_start[text.ptr[:-1][np.diff(text.ptr) > 0]] = True
        is_start[1:] |= cuts[:-1]
        starts = np.flatnonzero(is_start)
        spelled = number[text.span_ids[starts, ends - starts]]
        parents = context_number[letters.node_parents[contexts]]
        of_letters = context_number[letters.nodes[cells]], letters.outcomes[cells]
        return cls(
            tokens[places],
            ptr,
            np.concatenate([root[words], root[-1:]]),
            CellTable(of_pairs, f.cells[pairs, :2].copy()),
            np.stack([parents, letters.node_letters[contexts]], axis=1),
            CellTable(np.stack(of_letters, axis=1), f.cells[cells, :2].copy()),
            np.bincount(spelled, minlength=len(words)).astype(np.int32),
            prices.copy(),
            f.prior.copy(),
            n_symbols,
            text.character_order,
            CellTable(of_triples, f.cells[triples, :2].copy()),
        )

    def words(self) -> list[NDArray[np.int32]]:
        """Return the words as arrays of letters."""
        return np.split(self.word_letters, self.word_ptr[1:-1]) if len(self.word_ptr) > 1 else []


class Reader(NamedTuple):
    """Strings with the restaurants of a sample that they may need."""

    kernels: tuple[Any, Any, Any]  # for log probabilities, posteriors and best cuts
    arguments: tuple[Any, ...]  # of the kernels: restaurants, text, and what they need besides

    def _run(self, kernel: Any, *shape: int, dtype: Any = np.float64) -> NDArray[Any]:
        out = np.zeros(shape, dtype=dtype)
        kernel(*self.arguments, out)
        return out

    def log_probabilities(self) -> Floats:
        """Return the log probability of each string."""
        return self._run(self.kernels[0], len(self.arguments[1].ptr) - 1)

    def posteriors(self) -> Floats:
        """Return the posterior of all words, (n_letters, L)."""
        return self._run(self.kernels[1], *self.arguments[1].span_ids.shape)

    def best_cuts(self) -> NDArray[np.bool_]:
        """Return the most probable cuts."""
        return self._run(self.kernels[2], len(self.arguments[1].span_ids), dtype=np.bool_)


def parts_of_strings(ptr: Places) -> Iterator[tuple[slice, Places]]:
    """Yield the letters of batches of strings, and the offsets of the strings in them."""
    for begin, end in portions(np.diff(ptr)):  # to bound memory, and to handle interrupts
        yield slice(ptr[begin], ptr[end]), ptr[begin : end + 1] - ptr[begin]


def lay_out_strings(model: NestedModel, tokens: Ints, ptr: Places) -> TextLayout:
    """Return the numbering for new strings, which is the same for all samples of a fit."""
    known = np.full(len(tokens), -1, dtype=np.int8)
    orders = model.character_order, model.word_order
    longest = len(model.prices) - 1
    return lay_out(tokens, ptr, known, model.n_symbols, longest, *orders, 0, for_reading=True)


def read_strings(model: NestedModel, layout: TextLayout) -> Reader:
    """Return a reader of strings with the sample's restaurants; other restaurants are empty."""
    longest, max_length = int(np.diff(layout.text.ptr).max(initial=0)), len(model.prices) - 1
    return Reader(
        (score_strings, find_posteriors, find_best_cuts),
        (
            fill_restaurants(model, layout), layout.text, model.prices,
            empty_scratch(longest, max_length, model.character_order),
            empty_pairs(model.word_order, longest, max_length, for_reading=True),
        ),
    )  # fmt: skip


def fill_restaurants(model: NestedModel, layout: TextLayout) -> DynamicFranchise:
    """Return the sample's restaurants that strings may need; other restaurants are empty."""
    n_pairs, n_triples = len(model.pairs.of), len(model.triples.of)
    text = layout.text
    f = open_restaurants(layout._replace(n_hashed=n_pairs + n_triples), 1, 1)
    f.prior[:] = model.prior
    _set_letters(f, layout, model)
    # Words of the sample that are spans of the strings.
    found = find_spans(layout.spans, model.word_letters, model.word_ptr)
    number = np.append(found, text.n_spans)
    is_there = number >= 0
    f.cells[text.root_cell + number[is_there], :2] = model.root[is_there]
    f.nodes[text.root_node] = model.root.sum(axis=0)
    if n_pairs:
        of, counts = model.pairs
        totals = np.zeros((len(number), 2), dtype=np.int32)
        np.add.at(totals, of[:, 0], counts)
        f.nodes[text.root_node + 1 + number[is_there]] = totals[is_there]
        both = is_there[of[:, 0]] & is_there[of[:, 1]]
        nodes = text.root_node + 1 + number[of[both, 0]]
        put_hashed_cells(f, nodes, number[of[both, 1]], counts[both])
    if n_triples:
        # The cells of the pairs come first, in order; they are the contexts of triples.
        place = np.full(n_pairs, -1)
        place[both] = np.arange(np.count_nonzero(both))
        of, counts = model.triples
        totals = np.zeros((n_pairs, 2), dtype=np.int32)
        np.add.at(totals, of[:, 0], counts)
        f.nodes[text.pair_node + place[both]] = totals[both]
        known = (place[of[:, 0]] >= 0) & is_there[of[:, 1]]
        nodes = text.pair_node + place[of[known, 0]]
        put_hashed_cells(f, nodes, number[of[known, 1]], counts[known])
    return f


def _set_letters(f: DynamicFranchise, layout: TextLayout, model: NestedModel) -> None:
    """Copy the counts of letters to the contexts and cells of the strings."""
    letters, (of, counts) = layout.letters, model.letters
    width = 1 + max(int(letters.outcomes.max(initial=0)), int(of[:, 1].max(initial=0)))
    # Find the strings' contexts in the sample, parents first, level by level.
    mine = np.full(len(letters.depths), -1, dtype=np.int64)
    keys = model.contexts[:, 0].astype(np.int64) * width + model.contexts[:, 1] + 1
    by_key = np.argsort(keys, kind="stable")
    if len(keys):
        mine[0] = 0
        for depth in range(1, int(letters.depths.max(initial=0)) + 1):
            at = np.flatnonzero(letters.depths == depth)
            parents = mine[letters.node_parents[at]]
            wanted = parents * width + letters.node_letters[at] + 1
            mine[at] = np.where(parents >= 0, _look_up(keys, by_key, wanted), -1)
    totals = np.zeros((len(keys), 2), dtype=np.int32)
    np.add.at(totals, of[:, 0], counts)
    known = mine >= 0
    f.nodes[: len(mine)][known] = totals[mine[known]]
    keys = of[:, 0].astype(np.int64) * width + of[:, 1]
    above = mine[letters.nodes]
    place = _look_up(keys, np.argsort(keys, kind="stable"), above * width + letters.outcomes)
    known = (above >= 0) & (place >= 0)
    f.cells[: len(place), :2][known] = counts[place[known]]


def _look_up(keys: Places, order: Places, wanted: Places) -> Places:
    """Return the index of each wanted number among keys, or -1 if it is not a key."""
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    return np.where(keys[order[at]] == wanted, order[at], -1)


# Words of stored samples, and strings segmented into words.


def rank(samples: list[list[tuple[Any, int]]]) -> tuple[list[Any], Floats]:
    """Return things by their mean number over samples, the largest first, and these means."""
    counts: Counter[Any] = Counter()
    for thing, n in chain.from_iterable(samples):
        counts[thing] += int(n)
    found = sorted(counts, key=lambda thing: (-counts[thing], thing))
    return found, np.array([counts[thing] / len(samples) for thing in found])


class Lexicon(NamedTuple):
    """Words by expected tokens, the most frequent first."""

    letters: Ints  # concatenated letters of the words
    ptr: Places  # their offsets
    counts: Floats  # (n_words,), tokens of each word, as means over samples

    @classmethod
    def of(cls, models: list[NestedModel]) -> Lexicon:
        """Return the words of samples; equally frequent words are in the order of their letters."""
        words, means = rank([
            [(tuple(word.tolist()), n) for word, n in zip(model.words(), model.tokens, strict=True)]
            for model in models
        ])  # fmt: skip
        return cls(
            np.array([letter for word in words for letter in word], dtype=np.int32),
            np.cumsum([0, *map(len, words)], dtype=np.int64),
            means,
        )

    def words(self) -> list[Ints]:
        """Return the words as arrays of letters."""
        return np.split(self.letters, self.ptr[1:-1]) if len(self.counts) else []

    def look_up(
        self, tokens: Ints, ptr: Places, cuts: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the numbers of the words of strings, n_words for unknown words, and offsets."""
        number = {tuple(word.tolist()): i for i, word in enumerate(self.words())}
        ends = np.flatnonzero(cuts) + 1
        starts = np.concatenate([[0], ends[:-1]])
        ids = [
            number.get(tuple(tokens[a:b].tolist()), len(number))
            for a, b in zip(starts, ends, strict=True)
        ]
        word_ptr = np.concatenate([[0], np.cumsum(cuts)])[ptr].astype(np.int64)
        return np.array(ids, dtype=np.int32), word_ptr


def split_texts(
    cuts: NDArray[np.bool_], tokens: Ints, ptr: Places, texts: list[str] | None
) -> list[list[Any]]:
    """Return the words of strings, as arrays of letters if texts is None."""
    out: list[list[Any]] = []
    for i, (start, end) in enumerate(pairwise(ptr)):
        ends = np.flatnonzero(cuts[start:end]) + 1
        whole: Any = tokens[start:end] if texts is None else texts[i]
        out.append([whole[a:b] for a, b in pairwise([0, *ends])])
    return out
