"""Contexts and cells are found where they are."""

import numpy as np

from skdp.data import TokenSequences
from skdp.language._ngram._trie import Events, NgramTrie


def test_every_event_is_found():
    rng = np.random.default_rng(0)
    lists = [rng.integers(0, 5, n).tolist() for n in (4, 0, 1, 9, 3)]
    X = TokenSequences.from_sequences(lists, 6)
    for ends in (False, True):
        events = Events.of(X, ends=ends)
        trie = NgramTrie.of(events, 3, 6, 6 + ends)
        contexts, cells = trie.find(events)
        rows = [(-1, *words, *[6] * ends) for words in lists]
        expected = [(row[max(i - 2, 0) : i], w) for row in rows for i, w in enumerate(row) if i > 0]
        assert len(expected) == len(contexts)
        by_depth = [trie.contexts_at(m) for m in range(3)]
        for (context, outcome), found, places in zip(expected, contexts, cells, strict=True):
            for m in range(3):
                if m > len(context):
                    assert found[m] == places[m] == -1
                    continue
                first = trie.layout.node_ptr[m]
                assert by_depth[m][found[m] - first].tolist() == list(context[len(context) - m :])
                assert trie.outcome[places[m]] == outcome
                assert trie.layout.node[places[m]] == found[m]
                if m:
                    assert trie.layout.parent[places[m]] == places[m - 1]


def test_what_was_not_seen_is_not_found():
    X = TokenSequences.from_sequences([[0, 1], [1, 0]], 4)
    trie = NgramTrie.of(Events.of(X, ends=True), 3, 4, 5)
    new = TokenSequences.from_sequences([[1, 1], [3]], 4)
    contexts, cells = trie.find(Events.of(new, ends=True))
    assert (contexts >= 0).tolist() == [
        [True, True, False],
        [True, True, True],
        [True, True, False],  # the end after 1 1: 1 was seen, 1 1 was not
        [True, True, False],
        [True, False, False],
    ]
    assert (cells >= 0).tolist() == [
        [True, True, False],
        [True, False, False],
        [True, True, False],
        [False, False, False],
        [True, False, False],
    ]
