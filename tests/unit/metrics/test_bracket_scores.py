"""Expected numbers are counted by hand."""

import math

import pytest
from hypothesis import given
from unit.data.tree_strategies import trees

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


def test_unlabelled():
    predicted = "(0 (1 (2 the) (3 cat)) (4 (5 (6 ate) (7 fish)) (8 (9 and) (9 rice))) (9 .))"
    # Of 0-6, 0-2, 2-6, 2-4, 4-6 the first three are true, of 0-6, 0-2, 2-6, 3-6.
    assert counts(TRUE, predicted, labelled=False) == (3, 5, 4)
    assert counts(TRUE, predicted, labelled=False, trivial=False) == (2, 4, 3)
    assert counts(TRUE, predicted) == (0, 5, 4)


def test_symbols_of_grammars_are_no_roots():
    """S1 is what some parsers call the root, and the second symbol of a grammar here."""
    predicted = "(S1 (S1 (S0 the) (S1 cat)) (S0 (S1 ate) (S1 (S0 fish) (S1 (S1 and) (S1 rice)))))"
    assert counts(TRUE.replace(" (. .)", ""), predicted, labelled=False) == (4, 5, 4)


def test_one_word_brackets_are_trivial():
    true = "(S (NP (PRP he)) (VP (VB ran)))"
    assert counts(true, true) == (3, 3, 3)
    assert counts(true, true, trivial=False) == (0, 0, 0)
    assert counts(true, true, labelled=False) == (3, 3, 3)


def test_repeated_brackets():
    """Of n and m alike min(n, m) match; without labels a chain is one bracket."""
    once, twice = "(S (NP (A a) (B b)) (C c))", "(S (NP (NP (A a) (B b))) (C c))"
    assert counts(once, twice) == (2, 3, 2)
    assert counts(twice, once) == (2, 2, 3)
    assert counts(twice, twice) == (3, 3, 3)
    assert counts(once, twice, labelled=False) == (2, 2, 2)
    assert counts(once, "(S (X (NP (A a) (B b))) (C c))") == (2, 3, 2)


def test_function_tags():
    assert counts("(S-TPC=2 (NP-SBJ (A a) (B b)) c)", "(S (NP=1 (A a) (B b)) c)") == (2, 2, 2)
    assert counts("(S (-X-1 (A a) (B b)) c)", "(S (-X-2 (A a) (B b)) c)") == (1, 2, 2)


def test_same_labels():
    first, second = "(S (ADVP (A a) (B b)) c)", "(S (PRT (A a) (B b)) c)"
    assert counts(first, second) == counts(second, first) == (2, 2, 2)
    assert counts(first, second, same_labels=()) == (1, 2, 2)


def test_deleted_labels():
    true, predicted = "(ROOT (S (A a) (. .)))", "(X (S (A a)) (. .))"
    assert counts(true, predicted) == (1, 2, 1)  # X spans what S does
    assert counts(true, predicted, deleted_labels=()) == (0, 2, 2)
    assert counts(true, predicted, deleted_labels=("X", "ROOT")) == (0, 1, 1)
    with pytest.raises(TypeError, match="deleted_labels must hold labels, got the str 'ROOT'"):
        counts(true, predicted, deleted_labels="ROOT")


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


@given(trees, trees)
def test_symmetry(first, second):
    """Precision is recall the other way round; a tree matches itself."""
    second = ParseTree("S", first.leaves) if first.leaves != second.leaves else second
    options = {"deleted_labels": ()}
    there = bracket_scores([first], [second], **options)
    back = bracket_scores([second], [first], **options)
    assert there.n_true == back.n_predicted
    assert there.n_matched == back.n_matched
    itself = bracket_scores([first], [first], **options)
    assert itself.n_matched == itself.n_true == itself.n_predicted
    assert itself.exact_match == 1.0


@pytest.mark.parametrize(
    ("true", "predicted", "error", "message"),
    [
        (["(S a b)"], ["(S a c)"], ValueError, "Sentence 0: the two trees are not of the same"),
        (["(S a)", "(S a b)"], ["(S a)", "(S a)"], ValueError, "Sentence 1: the two trees"),
        (["(S a (, b))"], ["(S a c)"], ValueError, "Sentence 0: the two trees"),
        (["(S a)"], [], ValueError, "must be equally many trees, at least one; got 1 and 0"),
        ([], [], ValueError, "must be equally many trees, at least one; got 0 and 0"),
    ],
)
def test_bad_trees(true, predicted, error, message):
    with pytest.raises(error, match=message):
        bracket_scores([tree_of(text) for text in true], [tree_of(text) for text in predicted])


def test_bad_types():
    with pytest.raises(TypeError, match="Trees must be of class ParseTree, got str"):
        bracket_scores([tree_of("(S a)")], ["(S a)"])
