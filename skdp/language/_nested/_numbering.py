"""Numbering of the spans, contexts of letters and cells of letters of a text.

A span is a possible word, a node in a trie of letters. A context is a run of letters read
backwards, also a node in a trie, or such a run up to the start of the word. A cell is a context
with the symbol that follows it: a letter, or the end of the word.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Ints, Places
from skdp.inference._interrupt import check_interrupts

END = 0
"""Outcome for the end of a word; the outcome of letter x is x + 1."""


class TrieLevel(NamedTuple):
    """A level of a trie: ascending keys parent * width + letter, and the first node's number."""

    keys: NDArray[np.int64]
    first: int
    width: int

    def look_up(self, parents: Ints, letters: Ints) -> NDArray[np.int32]:
        """Return the nodes below `parents` by letter, or -1 for missing nodes."""
        wanted = parents.astype(np.int64) * self.width + letters
        places = np.searchsorted(self.keys, wanted)
        places[places == len(self.keys)] = 0
        is_there = (parents >= 0) & (letters < self.width)
        if len(self.keys):
            is_there &= self.keys[places] == wanted
        else:
            is_there[:] = False
        return np.where(is_there, places + self.first, -1).astype(np.int32)


class Spans(NamedTuple):
    """All spans of at most L letters."""

    ids: NDArray[np.int32]  # (n_letters, L), span from a letter on, by length - 1; -1 past the end
    levels: list[TrieLevel]
    first: NDArray[np.int64]  # (n_spans,), place of the first occurrence of a span in the text
    lengths: NDArray[np.int32]  # (n_spans,)


def rest_of_strings(ptr: Places) -> NDArray[np.int64]:
    """Return the number of letters from each letter to the end of its string."""
    return np.repeat(ptr[1:], np.diff(ptr)) - np.arange(ptr[-1])


def place_in_strings(ptr: Places) -> NDArray[np.int64]:
    """Return the number of letters before each letter in its string."""
    return np.arange(ptr[-1]) - np.repeat(ptr[:-1], np.diff(ptr))


def number_spans(tokens: Ints, ptr: Places, max_length: int) -> Spans:
    """Assign numbers to all spans of strings, shorter spans first."""
    width = int(tokens.max(initial=0)) + 1
    rest = rest_of_strings(ptr)
    ids = np.full((len(tokens), max_length), -1, dtype=np.int32)
    parents = np.zeros(len(tokens), dtype=np.int64)  # below the root
    levels, firsts, lengths, n_spans = [], [], [], 0
    for k in range(1, max_length + 1):
        check_interrupts()
        at = np.flatnonzero(rest >= k)
        keys, first, inverse = np.unique(
            parents[at] * width + tokens[at + k - 1], return_index=True, return_inverse=True
        )
        levels.append(TrieLevel(keys, n_spans, width))
        ids[at, k - 1] = n_spans + inverse
        parents[at] = n_spans + inverse
        firsts.append(at[first])
        lengths.append(np.full(len(keys), k, dtype=np.int32))
        n_spans += len(keys)
    return Spans(ids, levels, np.concatenate(firsts), np.concatenate(lengths))


def find_shared(spans: Spans) -> NDArray[np.int32]:
    """Return the length of the longest span from each letter that occurs at least twice."""
    counts = np.zeros(len(spans.first) + 1, dtype=np.int32)  # the last: past the end of a string
    shared = np.zeros(len(spans.ids), dtype=np.int32)
    for ids in spans.ids.T:
        counts[: len(spans.first)] = np.bincount(ids[ids >= 0], minlength=len(spans.first))
        shared += counts[ids] > 1
    return shared


def find_spans(spans: Spans, tokens: Ints, ptr: Places) -> NDArray[np.int32]:
    """Return the numbers of whole strings as spans, or -1 for strings that are not spans."""
    found = np.zeros(len(ptr) - 1, dtype=np.int32)
    lengths = np.diff(ptr)
    found[lengths > len(spans.levels)] = -1
    for k, level in enumerate(spans.levels, start=1):
        at = np.flatnonzero(lengths >= k)
        found[at] = level.look_up(found[at], tokens[ptr[:-1][at] + k - 1])
    return found


class Letters(NamedTuple):
    """All contexts of at most `order` - 1 letters, and the symbols that follow them.

    Columns of `letter_cells` and `end_cells`: 0 to order - 1 by the number of letters of context,
    then order - 1 more by the number of letters of context after the start of the word.
    """

    letter_cells: NDArray[np.int32]  # (n_letters, 2 * order - 1), of a letter; -1: no context
    end_cells: NDArray[np.int32]  # (n_letters, 2 * order - 1), of the end of a word after a letter
    parents: NDArray[np.int32]  # (n_cells,)
    nodes: NDArray[np.int32]  # (n_cells,)
    outcomes: NDArray[np.int32]  # (n_cells,), `END` or a letter + 1
    depths: NDArray[np.int32]  # (n_nodes,)
    node_parents: NDArray[np.int32]  # (n_nodes,)
    node_letters: NDArray[np.int32]  # (n_nodes,), oldest letter of the context, -1: word start
    following: NDArray[np.int32]  # (n_cells,), longest context after a cell's letter; -1 for ends
    start: int  # the context of the first letter of a word


def number_letters(tokens: Ints, ptr: Places, order: int) -> Letters:
    """Assign numbers to the contexts and cells of all letters of strings."""
    n, width = len(tokens), int(tokens.max(initial=0)) + 1
    place = place_in_strings(ptr)
    # Contexts that end before a letter (rows 0 to n - 1) or after it (n to 2 n - 1).
    ends = np.concatenate([np.arange(n), np.arange(1, n + 1)])
    available = np.concatenate([place, place + 1])
    outcomes = np.concatenate([tokens.astype(np.int64) + 1, np.full(n, END)])
    cells = np.full((2 * n, 2 * order - 1), -1, dtype=np.int32)
    contexts = np.zeros((2 * n, order), dtype=np.int64)
    node_parents, node_letters, depths = [np.array([-1])], [np.array([-1])], [np.array([0])]
    parents, nodes, cell_outcomes = [], [], []
    n_nodes, n_cells = 1, 0

    def number_cells(column: int, at: Any, context: NDArray[np.int64], above: int) -> None:
        nonlocal n_cells
        check_interrupts()
        keys, first, inverse = np.unique(
            context * (width + 1) + outcomes[at], return_index=True, return_inverse=True
        )
        cells[at, column] = n_cells + inverse
        parents.append(cells[at[first], above] if above >= 0 else np.full(len(keys), -1))
        nodes.append(keys // (width + 1))
        cell_outcomes.append(keys % (width + 1))
        n_cells += len(keys)

    number_cells(0, np.arange(2 * n), contexts[:, 0], -1)
    for m in range(1, order):
        at = np.flatnonzero(available >= m)
        keys, inverse = np.unique(
            contexts[at, m - 1] * width + tokens[ends[at] - m], return_inverse=True
        )
        contexts[at, m] = n_nodes + inverse
        node_parents.append(keys // width)
        node_letters.append(keys % width)
        depths.append(np.full(len(keys), m))
        n_nodes += len(keys)
        number_cells(m, at, contexts[at, m], m - 1)
    starts = np.zeros((2 * n, order - 1), dtype=np.int64)
    for m in range(order - 1):
        at = np.flatnonzero(available >= m)
        if m == 0:
            at = at[at < n]  # a word has a letter before its end
        above, inverse = np.unique(contexts[at, m], return_inverse=True)
        node_parents.append(above)
        node_letters.append(np.full(len(above), -1))
        depths.append(np.full(len(above), m + 1))
        starts[at, m] = n_nodes + inverse
        number_cells(order + m, at, n_nodes + inverse, m)
        n_nodes += len(above)
    following = np.full(n_cells, -1, dtype=np.int32)
    for column in range(2 * order - 1):
        m = column if column < order else column - order  # letters in the context
        behind = contexts[n:, min(m + 1, order - 1)]
        if column >= order and m + 1 < order - 1:
            behind = starts[n:, m + 1]
        at = np.flatnonzero(cells[:n, column] >= 0)
        following[cells[at, column]] = behind[at]
    found = {
        "parents": parents,
        "nodes": nodes,
        "outcomes": cell_outcomes,
        "depths": depths,
        "node_parents": node_parents,
        "node_letters": node_letters,
    }
    arrays: Any = {name: np.concatenate(each).astype(np.int32) for name, each in found.items()}
    return Letters(
        letter_cells=cells[:n].copy(),
        end_cells=cells[n:].copy(),
        following=following,
        start=int(starts[0, 0]) if order > 1 and n else 0,
        **arrays,
    )
