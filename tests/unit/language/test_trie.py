"""Contexts and cells are found at their places."""

import numpy as np
import pytest

from skdp.data import TokenSequences
from skdp.language._ngram._trie import NgramEvents, NgramTrie


def all_contexts(trie):
    """Return the contexts of a trie in order, as tuples; -1 is the beginning."""
    return [tuple(row) for m in range(trie.order) for row in trie.contexts_at(m).tolist()]


def cell_at(trie, x):
    """Return the context and the outcome of a cell; None if there is none."""
    return None if x < 0 else (all_contexts(trie)[trie.layout.node[x]], int(trie.outcome[x]))


def draw_sentences():
    rng = np.random.default_rng(0)
    return [rng.integers(0, 5, n).tolist() for n in (4, 0, 1, 9, 3)]


def histories(lists, n_words, *, ends):
    """Return the whole context and the outcome of each event."""
    rows = [(-1, *words, *[n_words] * ends) for words in lists]
    return [(row[:i], w) for row in rows for i, w in enumerate(row) if i > 0]


@pytest.mark.parametrize("ends", [False, True])
def test_every_event_is_found(ends):
    lists = draw_sentences()
    events = NgramEvents.of(TokenSequences.from_sequences(lists, 6), ends=ends)
    trie = NgramTrie.of(events, 3, 6, 6 + ends)
    found = trie.find(events)
    contexts = all_contexts(trie)
    expected = histories(lists, 6, ends=ends)
    assert len(expected) == len(found.contexts)
    for (before, outcome), u, m, x, tail in zip(expected, *found, strict=True):
        assert contexts[u] == before[-2:]
        assert m == len(contexts[u])
        assert tail == 0
        while x >= 0:
            assert cell_at(trie, x) == (before[len(before) - m :], outcome)
            x, u, m = trie.layout.parent[x], trie.above[u], m - 1
        assert u == m == -1


def test_what_was_not_seen_is_not_found():
    X = TokenSequences.from_sequences([[0, 1], [1, 0]], 4)
    trie = NgramTrie.of(NgramEvents.of(X, ends=True), 3, 4, 5)
    new = TokenSequences.from_sequences([[1, 1], [3]], 4)
    found = trie.find(NgramEvents.of(new, ends=True))
    contexts = all_contexts(trie)
    assert [contexts[u] for u in found.contexts] == [(-1,), (-1, 1), (1,), (-1,), ()]
    assert [cell_at(trie, x) for x in found.cells] == [
        ((-1,), 1),
        ((), 1),
        ((1,), 4),
        None,
        ((), 4),
    ]


@pytest.mark.parametrize("ends", [False, True])
def test_any_length(ends):
    """Contexts seen once are in the text, those seen twice in the trie: the longest is found."""
    lists = [*draw_sentences(), [3, 1, 4, 1, 1, 2], [0, 3, 1, 4, 1, 1, 2, 2], [3, 1, 4, 1, 1, 0]]
    new = [[3, 1, 4, 1, 1, 2, 2], [1], [0, 0, 0, 0], [2, 3, 1, 4, 1, 1, 2], *lists]
    events = NgramEvents.of(TokenSequences.from_sequences(lists, 6), ends=ends)
    trie = NgramTrie.of(events, None, 6, 6 + ends, 3)
    seen = histories(lists, 6, ends=ends)
    n_seen = {}
    for before, _ in seen:
        for m in range(len(before) + 1):
            u = before[len(before) - m :]
            n_seen[u] = n_seen.get(u, 0) + 1
    contexts = all_contexts(trie)
    kept = {u for u, n in n_seen.items() if n > 1 or n_seen[u[1:]] > 1}
    assert set(contexts) == kept
    assert trie.order == max(map(len, kept)) + 1 > 6
    found = trie.find(NgramEvents.of(TokenSequences.from_sequences(new, 6), ends=ends))
    expected = histories(new, 6, ends=ends)
    for (before, outcome), u, m, x, tail in zip(expected, *found, strict=True):
        suffixes = [before[i:] for i in range(len(before) + 1)]
        longest = next(suffix for suffix in suffixes if suffix in n_seen)
        assert m + tail == len(longest)
        assert contexts[u] == longest[len(longest) - m :]
        assert tail == 0 or n_seen[contexts[u]] == 1
        pairs = [(v, outcome) for v in suffixes if v in kept and (v, outcome) in cells_of(trie)]
        assert cell_at(trie, x) == (pairs[0] if pairs else None)
    assert found.tails.max() > 2


def cells_of(trie):
    contexts = all_contexts(trie)
    return {(contexts[u], w) for u, w in zip(trie.layout.node, trie.outcome.tolist(), strict=True)}
