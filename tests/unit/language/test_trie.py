"""Contexts and cells are found at their places."""

import numpy as np
import pytest

from skdp.data import TokenSequences
from skdp.language._ngram._trie import NgramEvents, NgramTrie


def draw_sentences():
    rng = np.random.default_rng(0)
    return [rng.integers(0, 5, n).tolist() for n in (4, 0, 1, 9, 3)]


def histories(lists, n_words, *, ends):
    """Return the whole context and the outcome of each event; -1 is the beginning."""
    rows = [(-1, *words, *[n_words] * ends) for words in lists]
    return [(row[:i], w) for row in rows for i, w in enumerate(row) if i > 0]


def suffixes_of(before, order):
    """Return the contexts of an event, the longest first."""
    longest = len(before) if order is None else min(len(before), order - 1)
    return [before[len(before) - m :] for m in range(longest, -1, -1)]


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("order", [1, 3, None])
def test_events_are_found_at_their_longest_context(order, ends):
    """With any order, contexts seen once are in the text, and those seen twice in the trie."""
    lists = [*draw_sentences(), [3, 1, 4, 1, 1, 2], [0, 3, 1, 4, 1, 1, 2, 2], [3, 1, 4, 1, 1, 0]]
    new = [[3, 1, 4, 1, 1, 2, 2], [1], [0, 0, 0, 0], [2, 3, 1, 4, 1, 1, 2], [5], *lists]
    events = NgramEvents.of(TokenSequences.from_sequences(lists, 6), ends=ends)
    trie = NgramTrie.of(events, order, 6, 6 + ends, *([3] if order is None else []))
    n_seen = {}
    for before, _ in histories(lists, 6, ends=ends):
        for u in suffixes_of(before, order):
            n_seen[u] = n_seen.get(u, 0) + 1
    contexts = [tuple(row) for m in range(trie.order) for row in trie.contexts_at(m).tolist()]
    if order is None:
        kept = {u for u, n in n_seen.items() if n > 1 or n_seen[u[1:]] > 1}
        assert trie.order == max(map(len, kept)) + 1 > 6
    else:
        kept = set(n_seen)
    assert set(contexts) == kept
    nodes = [contexts[u] for u in trie.layout.node]
    cells = list(zip(nodes, trie.outcome.tolist(), strict=True))
    assert all(
        cells[x] == (u[1:], w) if u else x == -1
        for (u, w), x in zip(cells, trie.layout.parent.tolist(), strict=True)
    )
    found = trie.find(NgramEvents.of(TokenSequences.from_sequences(new, 6), ends=ends))
    expected = histories(new, 6, ends=ends)
    for (before, outcome), u, m, x, tail in zip(expected, *found, strict=True):
        suffixes = suffixes_of(before, order)
        longest = next(suffix for suffix in suffixes if suffix in n_seen)
        assert m == len(contexts[u]) == len(longest) - tail
        assert contexts[u] == longest[tail:]
        assert tail == 0 or n_seen[contexts[u]] == 1
        pairs = [(v, outcome) for v in suffixes if v in kept and (v, outcome) in cells]
        assert (None if x < 0 else cells[x]) == (pairs[0] if pairs else None)
    assert (found.tails.max() > 2) == (order is None)
