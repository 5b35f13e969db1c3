"""Trie of the observed contexts, with the outcomes observed after each context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skdp._checks import MAX_INTEGER, check_memory
from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Ints, Places
from skdp.data import TokenSequences
from skdp.language._ngram._kernels_trie import (
    add_distributions_upwards,
    add_probabilities_upwards,
    reach,
)
from skdp.processes._context_index import ContextIndex, count_up, pack
from skdp.processes._franchise import FranchiseLayout
from skdp.processes._interpolated import InterpolatedModel


@dataclass(frozen=True)
class NgramEvents:
    """Events of sentences: each word, and the end of each sentence if ends are events.

    The symbols of each sentence are in consecutive slots: a beginning, the words, an end. An event
    is a slot, and its context consists of the preceding slots, back to the beginning.
    """

    symbols: Ints  # (n_slots,), words; beginnings and ends are `n_words`
    slots: Places  # (n_events,)
    positions: Places  # (n_events,), slots before the event in its sentence: its longest context
    ptr: Places  # (n_sentences + 1,), offsets of the events of each sentence

    @classmethod
    def of(cls, sentences: TokenSequences, *, ends: bool) -> NgramEvents:
        """Return the events of sentences."""
        lengths = np.diff(sentences.ptr)
        rows = np.concatenate([[0], np.cumsum(lengths + 2)])  # beginning, words, end
        symbols = np.full(int(rows[-1]), sentences.n_features, np.int32)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        symbols[np.arange(len(sentences.tokens)) + 2 * sentence + 1] = sentences.tokens
        n_events = lengths + ends
        ptr = np.concatenate([[0], np.cumsum(n_events)])
        positions = np.arange(int(ptr[-1])) - np.repeat(ptr[:-1], n_events) + 1
        slots = positions + np.repeat(rows[:-1], n_events)
        return cls(symbols, slots, positions, ptr)

    @property
    def outcomes(self) -> Ints:
        """(n_events,) array: words, and `n_words` for an end."""
        return self.symbols[self.slots]


class Reached(NamedTuple):
    """The longest context that was seen before each event: see `_kernels_trie.reach`."""

    contexts: Ints
    depths: Ints
    cells: Ints
    tails: Ints


@dataclass(frozen=True)
class NgramTrie(ContextIndex):
    """All contexts of up to `order` - 1 symbols (restaurants), and all cells: outcomes in them.

    Without an order: contexts with more than one event, and those with one more symbol. Among the
    latter, contexts with one event are leaves, whose longer contexts are in the text.
    """

    # Contexts and cells are numbered by depth, children of a context (one symbol longer at the far
    # end) in the order of that symbol, and the cells of a context in the order of outcomes.
    order: int  # number of symbols of the longest context in the trie, plus 1
    n_words: int
    child_ptr: Ints  # (n_contexts + 1,), children of u are child_ptr[u]:child_ptr[u + 1]
    symbol: Ints  # (n_contexts,), symbol at the far end; `n_words`: the beginning of a sentence
    above: Ints  # (n_contexts,), context without its far symbol; -1 for the empty one
    leaf: Ints  # (n_contexts,), slot in `text` of the event of a leaf, -1: no leaf; or (0,)
    text: Ints  # (n_slots,), symbols as in `NgramEvents`; empty if there is an order

    @classmethod
    def of(
        cls,
        events: NgramEvents,
        order: int | None,
        n_words: int,
        n_outcomes: int,
        n_laws: int | None = None,  # of the franchise; None: one for each depth
    ) -> NgramTrie:
        """Return the trie of events; without `order`, ValueError if it does not fit into memory."""
        outcomes = events.outcomes
        node = np.zeros(len(outcomes), np.int64)  # node of each event, within its depth
        cell = np.zeros(len(outcomes), np.int64)
        deep = np.arange(len(outcomes))  # events whose contexts reach the current depth
        node_ptr, cell_ptr = [0], [0]
        symbols: list[Places] = []
        above: list[Places] = []
        nodes: list[Places] = []
        outcome: list[Places] = []
        parents: list[Places] = []
        observed: list[Places] = []
        leaves: list[Places] = []
        m = 0
        while order is None or m < order:
            if m == 0:
                symbols.append(np.array([n_words]))
                above.append(np.array([0]))
                first_node, first_cell = 0, -1
            else:
                longer = events.positions[deep] >= m
                if order is None:
                    n_events = np.bincount(node[deep], minlength=len(symbols[-1]))
                    alone = n_events[node[deep]] == 1
                    leaves.append(np.full(len(symbols[-1]), -1))
                    own = deep[alone & longer]
                    leaves[-1][node[own]] = events.slots[own]
                    longer &= ~alone
                    if not longer.any():
                        break
                observed.append(np.bincount(cell[deep[~longer]], minlength=len(outcome[-1])))
                deep = deep[longer]
                far = events.symbols[events.slots[deep] - m]
                keys, node[deep] = np.unique(node[deep] * (n_words + 1) + far, return_inverse=True)
                symbols.append(keys % (n_words + 1))
                first_node, first_cell = node_ptr[-2], cell_ptr[-2]
                above.append(keys // (n_words + 1) + first_node)
            keys, index, inverse = np.unique(
                node[deep] * n_outcomes + outcomes[deep], return_index=True, return_inverse=True
            )
            parents.append(cell[deep[index]] + first_cell if m else np.full(len(keys), -1))
            cell[deep] = inverse
            nodes.append(keys // n_outcomes + node_ptr[-1])
            outcome.append(keys % n_outcomes)
            node_ptr.append(node_ptr[-1] + len(symbols[-1]))
            cell_ptr.append(cell_ptr[-1] + len(keys))
            m += 1
            if order is None:
                _check_size(m, node_ptr[-1], cell_ptr[-1])
        observed.append(np.bincount(cell[deep], minlength=len(outcome[-1])))
        flat_nodes = np.concatenate(nodes)
        flat_above = np.concatenate(above)[1:]
        layout = FranchiseLayout.of(
            np.array(cell_ptr), np.array(node_ptr), pack(parents), pack([flat_nodes]),
            pack(observed), n_laws,
        )  # fmt: skip
        n_nodes = node_ptr[-1]
        return cls(
            n_outcomes=n_outcomes,
            has_root=True,
            cell_ptr=count_up(flat_nodes, n_nodes, first=0),
            outcome=pack(outcome),
            layout=layout,
            order=m,
            n_words=n_words,
            child_ptr=count_up(flat_above, n_nodes, first=1),
            symbol=pack(symbols),
            above=pack([np.array([-1]), flat_above]),
            leaf=pack([*leaves, np.empty(0, np.int64)]),
            text=events.symbols if order is None else events.symbols[:0],
        )

    def find(self, events: NgramEvents) -> Reached:
        """Return the longest context that was seen before each event."""
        return self._reach(events.symbols, events.slots, events.positions)

    def find_last(self, sentences: TokenSequences) -> Reached:
        """Return the longest context that was seen before the continuation of each sentence."""
        events = NgramEvents.of(sentences, ends=True)
        ends = events.ptr[1:] - 1
        return self._reach(events.symbols, events.slots[ends], events.positions[ends])

    def _reach(self, symbols: Ints, slots: Places, positions: Places) -> Reached:
        n = len(slots)
        found = Reached(*(np.empty(n, np.int32) for _ in Reached._fields))
        reach(
            symbols, slots, positions, self.n_words, self.child_ptr, self.symbol, self.above,
            self.cell_ptr, self.outcome, self.leaf, as_readonly(self.text), *found,
        )  # fmt: skip
        return found

    def add_probabilities(
        self, model: InterpolatedModel, outcomes: Ints, found: Reached, total: Floats
    ) -> None:
        """Add the probabilities of outcomes after contexts to `total`."""
        add_probabilities_upwards(
            as_readonly(outcomes), *found, self.above, self.layout.parent, self.layout.node,
            model.mass, model.backoff, model.chain, model.base, total,
        )  # fmt: skip

    def add_distributions(self, model: InterpolatedModel, found: Reached, total: Floats) -> None:
        """Add the distributions after contexts to the rows of `total`."""
        add_distributions_upwards(
            found.contexts, found.depths, found.tails, self.above, self.cell_ptr, self.outcome,
            model.mass, model.backoff, model.chain, model.top(), total,
        )  # fmt: skip

    def contexts_at(self, m: int) -> Ints:
        """Return the contexts of depth m, (n, m) int32, in reading order; beginnings are -1."""
        rows = np.arange(self.layout.node_ptr[m], self.layout.node_ptr[m + 1])
        contexts = np.empty((len(rows), m), np.int32)
        for j in range(m):
            contexts[:, j] = self.symbol[rows]
            rows = self.above[rows]
        contexts[contexts == self.n_words] = -1
        return contexts


def _check_size(depth: int, n_contexts: int, n_cells: int) -> None:
    """Raise if contexts so far do not fit into memory or cannot be numbered."""
    what = f"X: {n_cells} cells of contexts of up to {depth - 1} symbols, with order=None,"
    cure = "Text that recurs at length needs much; an order limits it."
    check_memory(40.0 * n_cells + 40.0 * n_contexts, what, cure)
    if n_cells > MAX_INTEGER:
        raise ValueError(f"{what} are more than {MAX_INTEGER}. {cure}")
