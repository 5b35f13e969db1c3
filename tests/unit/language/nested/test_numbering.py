"""Spans, contexts and cells have a number each: against dictionaries."""

import numpy as np
import pytest

from skdp.language._nested._numbering import (
    END,
    find_shared,
    find_spans,
    number_letters,
    number_spans,
)

STRINGS = ["abcab", "", "cab", "aaaa", "b"]
TOKENS = np.array(["abc".index(c) for s in STRINGS for c in s], dtype=np.int32)
PTR = np.concatenate([[0], np.cumsum([len(s) for s in STRINGS])])
TEXT = "".join(STRINGS)


def places():
    """Yield a string, where it begins in the text, and a place in it."""
    for string, start in zip(STRINGS, PTR, strict=False):
        for i in range(len(string)):
            yield string, start, i


@pytest.mark.parametrize("longest", [1, 3, 7])
def test_shared_spans(longest):
    spans = [
        (start + i, string[i : i + k])
        for string, start, i in places()
        for k in range(1, min(longest, len(string) - i) + 1)
    ]
    texts = [text for _, text in spans]
    expected = np.zeros(len(TOKENS), dtype=np.int64)
    for at, text in spans:
        if texts.count(text) > 1:
            expected[at] = len(text)
    assert find_shared(number_spans(TOKENS, PTR, longest)).tolist() == expected.tolist()


@pytest.mark.parametrize("longest", [1, 3, 7])
def test_spans(longest):
    spans = number_spans(TOKENS, PTR, longest)
    numbers = {}
    for string, start, i in places():
        for k in range(1, longest + 1):
            found = spans.ids[start + i, k - 1]
            if i + k > len(string):
                assert found == -1
            else:
                assert numbers.setdefault(string[i : i + k], found) == found
    assert sorted(numbers.values()) == list(range(len(spans.first)))
    for word, number in numbers.items():
        first, length = spans.first[number], spans.lengths[number]
        assert TEXT[first : first + length] == word
        assert first == min(start + i for s, start, i in places() if s[i:].startswith(word))
    words = [*numbers, "ac", "bb", "abcabc", "abd"]
    tokens = np.array(["abcd".index(c) for word in words for c in word], dtype=np.int32)
    ptr = np.concatenate([[0], np.cumsum([len(word) for word in words])])
    expected = [numbers.get(word, -1) for word in words]
    assert find_spans(spans, tokens, ptr).tolist() == expected


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_letters(order):
    letters = number_letters(TOKENS, PTR, order)
    contexts, cells = {}, {}

    def check(node_of, context, cell, outcome):
        node = letters.nodes[cell]
        assert node_of.setdefault(context, node) == node
        assert cells.setdefault((context, outcome), cell) == cell
        assert letters.depths[node] == len(context)
        assert letters.outcomes[cell] == (END if outcome is None else "abc".index(outcome) + 1)

    for string, start, i in places():
        for m in range(order):
            cell = letters.letter_cells[start + i, m]
            assert (cell >= 0) == (m <= i)
            if cell >= 0:
                check(contexts, string[i - m : i], cell, string[i])
            cell = letters.end_cells[start + i, m]
            assert (cell >= 0) == (m <= i + 1)
            if cell >= 0:
                check(contexts, string[i + 1 - m : i + 1], cell, None)
        for m in range(order - 1):
            cell = letters.letter_cells[start + i, order + m]
            assert (cell >= 0) == (m <= i)
            if cell >= 0:
                check(contexts, "^" + string[i - m : i], cell, string[i])
            cell = letters.end_cells[start + i, order + m]
            assert (cell >= 0) == (1 <= m <= i + 1)
            if cell >= 0:
                check(contexts, "^" + string[i + 1 - m : i + 1], cell, None)
    assert sorted(contexts.values()) == list(range(len(letters.depths)))
    assert sorted(cells.values()) == list(range(len(letters.nodes)))
    for (context, outcome), cell in cells.items():
        parent = cells[context[1:], outcome] if context else -1
        assert letters.parents[cell] == parent
    if order > 1:
        assert letters.start == contexts["^"]
    for (context, outcome), cell in cells.items():
        if outcome is None:
            assert letters.following[cell] == -1
            continue
        longer = (context + outcome)[-(order - 1) :] if order > 1 else ""
        assert letters.following[cell] == contexts[longer]
    for context, node in contexts.items():
        if context:
            assert letters.node_parents[node] == contexts[context[1:]]
            oldest = -1 if context[0] == "^" else "abc".index(context[0])
            assert letters.node_letters[node] == oldest
