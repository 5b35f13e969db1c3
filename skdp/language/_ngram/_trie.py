"""The contexts that were seen, and the outcomes seen after each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skdp._typing import Ints, Places
from skdp.data import TokenSequences
from skdp.language._ngram._kernels_trie import find_contexts
from skdp.processes._franchise import FranchiseLayout
from skdp.processes._menu import Menu, count_up, pack


@dataclass(frozen=True)
class Events:
    """What sentences are made of: each word, and where ends count, one end a sentence.

    The symbols of each sentence lie in a row of slots: a beginning, the words, an end. An event is
    a slot, its context the slots before it, back to the beginning.

    Attributes
    ----------
    symbols : (n_slots,) int32
        Words; both the beginning (in contexts) and the end (as an outcome) are `n_words`.
    slots : (n_events,) int64
    positions : (n_events,) int64
        Slots before the event in its row: the longest context it can have.
    ptr : (n_sentences + 1,) int64
        Where the events of each sentence begin.
    """

    symbols: Ints
    slots: Places
    positions: Places
    ptr: Places

    @classmethod
    def of(cls, sentences: TokenSequences, *, ends: bool) -> Events:
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


@dataclass(frozen=True)
class NgramTrie(Menu):
    """All contexts of up to `order` - 1 symbols, and all cells: an outcome seen in a context.

    Contexts and cells are numbered depth by depth, from the empty context on. The children of a
    context, one symbol longer at the far end, are consecutive and in the order of that symbol; so
    are its cells, in the order of outcomes.

    Attributes
    ----------
    n_outcomes, has_root, cell_ptr, outcome, layout : as of a menu
        A context is a restaurant. `n_outcomes` is one more than `n_words` where ends count.
    order, n_words : int
    child_ptr : (n_contexts + 1,) int32
        The children of context u are ``child_ptr[u]:child_ptr[u + 1]``.
    symbol : (n_contexts,) int32
        The symbol at the far end of a context; `n_words` is the beginning of a sentence.
    """

    order: int
    n_words: int
    child_ptr: Ints
    symbol: Ints

    @classmethod
    def of(cls, events: Events, order: int, n_words: int, n_outcomes: int) -> NgramTrie:
        """Return the trie of the contexts and the cells of events."""
        outcomes = events.outcomes
        node = np.zeros(len(outcomes), np.int64)  # of each event, within its depth
        cell = np.zeros(len(outcomes), np.int64)
        deep = np.arange(len(outcomes))  # events whose contexts are that long
        node_ptr, cell_ptr = [0], [0]
        symbols: list[Places] = []
        above: list[Places] = []
        nodes: list[Places] = []
        outcome: list[Places] = []
        parents: list[Places] = []
        street: list[Places] = []
        for m in range(order):
            if m == 0:
                symbols.append(np.array([n_words]))
                above.append(np.array([0]))
                first_node, first_cell = 0, -1
            else:
                longer = events.positions[deep] >= m
                street.append(np.bincount(cell[deep[~longer]], minlength=len(outcome[-1])))
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
        street.append(np.bincount(cell[deep], minlength=len(outcome[-1])))
        flat_nodes = np.concatenate(nodes)
        flat_above = np.concatenate(above)[1:]
        layout = FranchiseLayout.of(
            np.array(cell_ptr), np.array(node_ptr), pack(parents), pack([flat_nodes]),
            pack(street),
        )  # fmt: skip
        n_nodes = node_ptr[-1]
        return cls(
            n_outcomes=n_outcomes,
            has_root=True,
            cell_ptr=count_up(flat_nodes, n_nodes, first=0),
            outcome=pack(outcome),
            layout=layout,
            order=order,
            n_words=n_words,
            child_ptr=count_up(flat_above, n_nodes, first=1),
            symbol=pack(symbols),
        )

    def find(self, events: Events) -> tuple[Ints, Ints]:
        """Return the contexts and the cells along which each event is predicted.

        Returns
        -------
        contexts, cells : (n_events, order) int32
            By depth; -1 where a context, or the outcome in it, was not seen.
        """
        contexts = np.empty((len(events.slots), self.order), np.int32)
        find_contexts(
            events.symbols, events.slots, events.positions, self.child_ptr, self.symbol, contexts
        )
        return contexts, self.find_cells(events.outcomes, contexts)

    def find_last(self, sentences: TokenSequences) -> Ints:
        """Return the contexts of what would follow each sentence: (n_sentences, order) int32."""
        events = Events.of(sentences, ends=True)
        ends = events.ptr[1:] - 1
        contexts = np.empty((len(ends), self.order), np.int32)
        find_contexts(
            events.symbols, events.slots[ends], events.positions[ends], self.child_ptr,
            self.symbol, contexts,
        )  # fmt: skip
        return contexts

    def contexts_at(self, m: int) -> Ints:
        """Return the contexts of depth m, (n, m) int32, in reading order; beginnings are -1."""
        parent = np.repeat(np.arange(len(self.symbol)), np.diff(self.child_ptr))
        rows = np.arange(self.layout.node_ptr[m], self.layout.node_ptr[m + 1])
        contexts = np.empty((len(rows), m), np.int32)
        for j in range(m):
            contexts[:, j] = self.symbol[rows]
            rows = parent[rows - 1]
        contexts[contexts == self.n_words] = -1
        return contexts
