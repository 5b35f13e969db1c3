"""Expected numbers are counted by hand."""

import math

import numpy as np
import pytest

from skdp.grammar import ParseTree
from skdp.metrics import bracket_scores


def tree_of(text):
    return ParseTree.from_brackets(text)


def counts(true, predicted, **options):
    scores = bracket_scores([tree_of(true)], [tree_of(predicted)], **options)
    return scores.n_matched, scores.n_predicted, scores.n_true


TRUE = "(ROOT (S (NP (DT the) (NN cat)) (VP (VB ate) (NP (NN fish) (CC and) (NN rice))) (. .)))"
# True brackets: S 0-6 (0-7 with the stop), NP 0-2, VP 2-6, NP 3-6.


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        (TRUE, (4, 4, 4)),
        # Another label, another span, one missing.
        ("(ROOT (S (NP (DT the) (NN cat)) (VP (VB ate) (X (NN fish) (CC and) (NN rice))) (. .)))",
         (3, 4, 4)),
        ("(ROOT (S (NP (DT the) (NN cat)) (VB ate) (VP (NN fish) (CC and) (NN rice)) (. .)))",
         (2, 3, 4)),
        # Wrong tags cost nothing, nor where the stop hangs, nor the root's name.
        ("(TOP (S (NP (NN the) (NN cat)) (VP (VB ate) (NP (NN fish) (NN and) (NN rice) (. .)))))",
         (4, 4, 4)),
        ("(ROOT (S (NP (DT the) (NN cat)) (VP (VB ate) (NP (NN fish) (CC and) (NN rice))) (NN .)))",
         (4, 4, 4)),
        # A flat tree: its S.
        ("(S the cat ate fish and rice .)", (1, 1, 4)),
        # A bracket around the stop alone spans nothing.
        ("(ROOT (S (NP (DT the) (NN cat)) (VP (VB ate) (NP (NN fish) (CC and) (NN rice)))"
         " (X (Y (. .)))))", (4, 4, 4)),
    ],
)  # fmt: skip
def test_labelled(predicted, expected):
    assert counts(TRUE, predicted) == expected


def test_shares():
    flat = tree_of("(S the cat ate fish and rice .)")
    scores = bracket_scores([tree_of(TRUE)] * 2, [tree_of(TRUE), flat])
    assert scores == (5 / 5, 5 / 8, 10 / 13, 1 / 2, 5, 5, 8)
    assert scores.precision == 1.0
    assert scores.f1 == 10 / 13


SPANS = "(0 (1 (2 the) (3 cat)) (4 (5 (6 ate) (7 fish)) (8 (9 and) (9 rice))) (9 .))"
# Of 0-6, 0-2, 2-6, 2-4, 4-6 the first three are true, of 0-6, 0-2, 2-6, 3-6.
SYMBOLS = "(S1 (S1 (S0 the) (S1 cat)) (S0 (S1 ate) (S1 (S0 fish) (S1 (S1 and) (S1 rice)))))"
WORDS = "(S (NP (PRP he)) (VP (VB ran)))"
ONCE, TWICE = "(S (NP (A a) (B b)) (C c))", "(S (NP (NP (A a) (B b))) (C c))"
STOP, OTHER = "(ROOT (S (A a) (. .)))", "(X (S (A a)) (. .))"


@pytest.mark.parametrize(
    ("true", "predicted", "options", "expected"),
    [
        (TRUE, SPANS, {"labelled": False}, (3, 5, 4)),
        (TRUE, SPANS, {"labelled": False, "trivial": False}, (2, 4, 3)),
        (TRUE, SPANS, {}, (0, 5, 4)),
        # S1 is what some parsers call the root, and the second symbol of a grammar here.
        (TRUE.replace(" (. .)", ""), SYMBOLS, {"labelled": False}, (4, 5, 4)),
        # Brackets of one word are trivial.
        (WORDS, WORDS, {}, (3, 3, 3)),
        (WORDS, WORDS, {"trivial": False}, (0, 0, 0)),
        (WORDS, WORDS, {"labelled": False}, (3, 3, 3)),
        # min(n, m) of n and m equal brackets match; without labels a chain is one bracket.
        (ONCE, TWICE, {}, (2, 3, 2)),
        (TWICE, ONCE, {}, (2, 2, 3)),
        (TWICE, TWICE, {}, (3, 3, 3)),
        (ONCE, TWICE, {"labelled": False}, (2, 2, 2)),
        (ONCE, "(S (X (NP (A a) (B b))) (C c))", {}, (2, 3, 2)),
        (STOP, OTHER, {}, (1, 2, 1)),  # X spans what S does
        (STOP, OTHER, {"deleted_labels": ()}, (0, 2, 2)),
        (STOP, OTHER, {"deleted_labels": ("X", "ROOT")}, (0, 1, 1)),
    ],
)
def test_options(true, predicted, options, expected):
    assert counts(true, predicted, **options) == expected


def evalb(true, predicted, deleted, same):
    """Counts of EVALB, step by step as in its source: a list of brackets for each tree."""

    def read(text):
        words, brackets, stack = [], [], []
        tokens = text.replace("(", " ( ").replace(")", " ) ").split()
        i = 0
        while i < len(tokens):
            if tokens[i] == "(" and tokens[i + 2] != "(":  # (tag word)
                if tokens[i + 1] not in deleted:
                    words.append(tokens[i + 2])
                i += 4
            elif tokens[i] == "(":
                brackets.append([tokens[i + 1], len(words), None])
                stack.append(brackets[-1])
                i += 2
            else:
                stack.pop()[2] = len(words)
                i += 1
        return words, brackets

    def same_label(a, b):
        return a == b or any((a, b) in (pair, pair[::-1]) for pair in same)

    def prepare(brackets):
        kept = []
        for label, begin, end in brackets:
            cut = min(label.find(mark) % (len(label) + 1) for mark in "-=")
            if begin < end and not any(same_label(label[:cut], d) for d in deleted):
                kept.append((label[:cut], begin, end))
        return kept

    (words, first), (others, second) = read(true), read(predicted)
    assert words == others
    first, second = prepare(first), prepare(second)
    used = [False] * len(second)
    n_matched = 0
    for label, begin, end in first:
        for j, (other, other_begin, other_end) in enumerate(second):
            if (
                not used[j]
                and (begin, end) == (other_begin, other_end)
                and same_label(label, other)
            ):
                used[j] = True
                n_matched += 1
                break
    return n_matched, len(second), len(first)


LABELS = ("A", "B", "C", "A-X", "-A", "=B", "-D-", "D", "B=1-2")


def grow(rng, words, depth=0):
    """Return a bracketed tree over tagged words, with many chains."""
    label = LABELS[rng.integers(len(LABELS))]
    if depth < 4 and rng.random() < 0.5:
        return f"({label} {grow(rng, words, depth + 1)})"
    if len(words) == 1 or depth == 5:
        return f"({label} {' '.join(words)})"
    cut = int(rng.integers(1, len(words)))
    return f"({label} {grow(rng, words[:cut], depth + 1)} {grow(rng, words[cut:], depth + 1)})"


def test_as_evalb():
    rng = np.random.default_rng(0)
    pairs = [("A", "C"), ("B", "C"), ("A", "E"), ("E", "D")]
    found = set()
    for _ in range(500):
        n_words = int(rng.integers(1, 5))
        words = [f"({('T', '-D-')[int(rng.random() < 0.2)]} w{i})" for i in range(n_words)]
        true, predicted = (grow(rng, words) for _ in range(2))
        deleted = [label for label in ("D", "-D-", "E") if rng.random() < 0.3]
        same = [pairs[i] for i in rng.permutation(4)[: rng.integers(5)]]
        expected = evalb(true, predicted, deleted, same)
        assert counts(true, predicted, deleted_labels=deleted, same_labels=same) == expected
        found.add(expected)
    assert len(found) > 30


def test_none_is_a_tree_without_brackets():
    tree = tree_of("(S (NP (A a) (B b)) (C c))")
    nothing = bracket_scores([None], [None])
    assert nothing[3:] == (1.0, 0, 0, 0)
    assert math.isnan(nothing.f1)
    assert bracket_scores([tree, None], [tree, None]) == (1.0, 1.0, 1.0, 1.0, 2, 2, 2)
    assert bracket_scores([tree, tree], [tree, None]) == (1.0, 0.5, 2 / 3, 0.5, 2, 2, 4)
    assert bracket_scores([tree, None], [tree, tree]) == (0.5, 1.0, 2 / 3, 0.5, 2, 4, 2)


def test_traces():
    """A parser's tree has neither traces nor what dominates nothing else."""
    true = "(S (NP (PRP he)) (VP (VBD said) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))) (. .))"
    assert counts(true, "(S (NP (PRP he)) (VP (VBD said)) (. .))") == (3, 3, 3)
    assert counts(true, "(S (NP (PRP he)) (VP (VBD said)))") == (3, 3, 3)


def test_nothing_to_find():
    scores = bracket_scores([tree_of("(ROOT (. .))")], [tree_of("(ROOT (. .))")])
    assert math.isnan(scores.precision)
    assert math.isnan(scores.recall)
    assert math.isnan(scores.f1)
    assert scores[3:] == (1.0, 0, 0, 0)
    scores = bracket_scores([tree_of("(S (A a) (B b))")], [tree_of("(ROOT (A a) (B b))")])
    assert scores[1:] == (0.0, 0.0, 0.0, 0, 0, 1)
    assert math.isnan(scores.precision)


def test_brackets_among_words_have_two_spellings():
    true = ParseTree.from_brackets("(S (NP (N a) (-LRB- -LRB-) (N b) (-RRB- -RRB-)) (V c))")
    predicted = true.with_leaves(["a", "(", "b", ")", "c"])
    assert bracket_scores([true], [predicted]).f1 == 1.0
