"""Faults in the use of grammars and trees are named.

The message has the parameter, the class or the place, and what to do about it.

Beside them stand habits that look alike and are fine.
"""

import io

import nltk
import numpy as np
import pytest
from bad_inputs import (
    DAYS,
    HIDDEN,
    SENTENCES,
    STRAY,
    TREES,
    VAST,
    WORDS,
    check_fault,
    faults,
    pcfg,
    refine,
)

from skdp.grammar import (
    HDPPCFG,
    HDPPCFGRefiner,
    ParseTree,
    binarize,
    debinarize,
    inside_outside,
    read_trees,
)

MARKED = ParseTree.from_brackets("(@S (A c) (B d))")


def refiner():
    return refine(WORDS, TREES)


def tagged(tags):
    return refiner().predict(WORDS, tags)


def known(y):
    return HDPPCFG(2, max_iter=1).fit([[0, 1, 1], [1, 0]], y)


@faults(
    ("masked", lambda: HDPPCFG(2).fit(HIDDEN), ValueError, "X must not be a masked array"),
    (
        "masked",
        lambda: inside_outside([[0]], [1.0], [[0.5, 0.5]], HIDDEN[:1, :1], [[[1.0]]]),
        ValueError,
        "emission must not be a masked",
    ),
    ("dates", lambda: HDPPCFG(2).fit(DAYS), ValueError, "X must hold numbers, got dates"),
    ("a stray id", lambda: HDPPCFG(20).fit([[0, STRAY]]), ValueError, f"{STRAY + 1} words.*GiB"),
    ("a generator", lambda: HDPPCFG(2).fit(s for s in SENTENCES), TypeError, r"pass list\(X\)"),
    ("sentences read once", lambda: refine(iter(WORDS), TREES), TypeError, "X must be a sequence"),
    ("trees read once", lambda: refine(WORDS, iter(TREES)), TypeError, "y must be a sequence"),
    ("a truth value", lambda: pcfg(max_iter=True), ValueError, "max_iter.*True"),
    ("a huge number", lambda: pcfg(n_components=10**6), ValueError, "n_components=10{6}.*GiB"),
    ("a huge number", lambda: pcfg(n_init=2**31 - 1), ValueError, "n_init=2147483647.*GiB"),
    (
        "a huge number",
        lambda: HDPPCFGRefiner(10**6).fit(WORDS, TREES),
        ValueError,
        "n_components=10{6} subsymbols.*GiB",
    ),
    # Brackets
    ("by name", lambda: known({0: [(0, 2)]}), TypeError, "y must be a sequence .*got dict"),
    ("a text", lambda: known(["(S a b)", None]), TypeError, r"y\[0\] must be a list of spans"),
    ("a text as a span", lambda: known([["ab"], None]), TypeError, r"y\[0\] must hold spans.*'ab'"),
    ("a span alone", lambda: known([(0, 2), None]), TypeError, r"y\[0\] must hold spans.*got 0"),
    ("masked", lambda: known(np.ma.masked_array([1, 2])), ValueError, "y must not be a masked"),
    ("a vast number", lambda: known([[(0, VAST)], None]), ValueError, r"y\[0\]: .*out of range"),
    ("a class less", lambda: known([1]), ValueError, "X has 2 sentence.*and y has 1 entries"),
    # Sentences, trees and tags
    ("a scalar", lambda: refine(np.array("a"), TREES), TypeError, "X must.*without dimensions"),
    ("by name", lambda: refine({0: WORDS[0]}, TREES), TypeError, "X must be a sequence.*got dict"),
    ("no order", lambda: refiner().predict({("a", "b")}), TypeError, "X must be.*got set"),
    ("no order", lambda: refiner().predict([{"a", "b"}]), TypeError, "sentence 0: .*got set"),
    ("by name", lambda: refiner().score_samples([{"a": 1}]), TypeError, "sentence 0: .*got dict"),
    ("bytes", lambda: refiner().predict([b"ab"]), TypeError, "sentence 0: .*got bytes"),
    (
        "a scalar",
        lambda: refiner().predict([["a"], np.array("b")]),
        TypeError,
        "sentence 1: must be a sequence of words, got an array without dimensions",
    ),
    ("a scalar", lambda: refine(WORDS, np.array(1)), TypeError, "y must.*without dimensions"),
    ("by name", lambda: refine(WORDS, dict(enumerate(TREES))), TypeError, "y must be.*got dict"),
    (
        "a tree less",
        lambda: refine(WORDS, TREES[:1]),
        ValueError,
        r"inconsistent numbers of samples: X has 2 sentence\(s\), and y has 1 tree\(s\)",
    ),
    (
        "binary trees",
        lambda: refine(WORDS, [TREES[0], MARKED]),
        ValueError,
        "tree 1: Labels must not begin with '@' before binarization: '@S'",
    ),
    (
        "binary trees",
        lambda: refiner().tree_proba(WORDS, [TREES[0], MARKED]),
        ValueError,
        "tree 1: Labels must not begin with '@'",
    ),
    (
        "a long word",
        lambda: refine([["a" * 1000, "b"], WORDS[1]], TREES),
        ValueError,
        r"word 0 is 'a' in the tree and 'a{199}\.\.\. in the sentence",
    ),
    ("unhashable", lambda: tagged([["A", {}], None]), ValueError, "sentence 0: .*the tag {}"),
    ("unhashable", lambda: tagged([[["A"], "B"], None]), ValueError, "sentence 0: .*tag .'A'."),
    ("an array", lambda: tagged([["A", np.ones(2)], None]), ValueError, "sentence 0: .*tag array"),
    ("no order", lambda: tagged([{"A", "B"}, None]), TypeError, "sentence 0: tags must.*got set"),
    ("by name", lambda: tagged({0: ["A", "B"], 1: None}), TypeError, "tags must be.*got dict"),
    ("a scalar", lambda: tagged(np.array(1)), TypeError, "tags must.*without dimensions"),
    ("bytes", lambda: tagged([b"AB", None]), TypeError, "sentence 0: tags must.*got bytes"),
    (
        "masked",
        lambda: tagged(np.ma.masked_array([["A", "B"]] * 2)),
        ValueError,
        "tags must not be",
    ),
    ("a vast number", lambda: refiner().count_active_rules(-VAST), ValueError, "thresh.*type int"),
    ("a million threads", lambda: refine(WORDS, TREES, n_jobs=10**6), ValueError, "'n_jobs'.*4096"),
    (
        "a million threads",
        lambda: refiner().set_params(n_jobs=10**6).score_samples(WORDS),
        ValueError,
        "n_jobs must be.*4096.*got 1000000",
    ),
    (
        "threads by name",
        lambda: refiner().set_params(n_jobs="all").tree_proba(WORDS, TREES),
        ValueError,
        "n_jobs must be.*got 'all'",
    ),
    (
        "no number of threads",
        lambda: pcfg().set_params(n_jobs=np.nan).predict(SENTENCES),
        ValueError,
        "n_jobs must be.*got nan",
    ),
    ("a vast number", lambda: refiner().k_best(WORDS, VAST), ValueError, "k must be.*type int"),
    # Trees
    ("a text as a tree", lambda: binarize("(S a)"), TypeError, "ParseTree.*from_brackets"),
    ("a text as a tree", lambda: debinarize("(S a)"), TypeError, "ParseTree.*from_brackets"),
    ("no tree", lambda: binarize(None), TypeError, "tree must be a ParseTree, got NoneType"),
    (
        "a tree of nltk",
        lambda: binarize(nltk.Tree("S", ["a"])),
        TypeError,
        "must be a ParseTree.*ParseTree.from_nltk",
    ),
    (
        "trees of nltk",
        lambda: refine(WORDS, [tree.to_nltk() for tree in TREES]),
        TypeError,
        "tree 0: must be a ParseTree.*ParseTree.from_nltk",
    ),
    (
        "a child of nltk",
        lambda: ParseTree("S", [nltk.Tree("A", ["a"])]),
        TypeError,
        "A child must be.*ParseTree.from_nltk",
    ),
    ("texts as trees", lambda: refine(WORDS, ["(S a)", "(S b)"]), TypeError, "from_brackets"),
    (
        "trees in another order",
        lambda: refine(WORDS, TREES[::-1]),
        ValueError,
        "tree 0 and sentence 0 differ in their words.*word 0 is 'c' in the tree and 'a' in the "
        "sentence",
    ),
    (
        "a word too few",
        lambda: refine([["a", "b"], ["c"]], TREES),
        ValueError,
        "tree 1 and sentence 1 differ in their words.*has 2 words and the sentence 1",
    ),
    ("no text", lambda: ParseTree.from_brackets(None), TypeError, "text must be a str"),
    ("bytes", lambda: ParseTree.from_brackets(b"(S a)"), TypeError, "text must be a str"),
    ("no children", lambda: ParseTree("S", None), TypeError, "children must be a sequence"),
    ("no words", lambda: TREES[0].with_leaves(None), TypeError, "words must be a list"),
    ("a text as words", lambda: TREES[0].with_leaves("ab"), TypeError, "words must be a list"),
    ("no function", lambda: TREES[0].map_labels(None), TypeError, "function must be callable"),
    (
        "text as a file",
        lambda: read_trees(" (S (A a))"),
        ValueError,
        r"got trees, ' \(S \(A a\)\)': use ParseTree.from_brackets",
    ),
    ("a number as a file", lambda: read_trees(10**9), TypeError, "file must be a path"),
    ("a threshold of 0", lambda: refine(WORDS, TREES).count_active_rules(0), ValueError, "thresh"),
    ("words as weights", lambda: inside_outside([[0]], "x", 0, 0, 0), ValueError, "root must hold"),
    (
        "no sentences",
        lambda: inside_outside([], [1.0], [[0.5, 0.5]], [[1.0]], [[[1.0]]]),
        ValueError,
        "required by inside_outside",
    ),
)
def test_a_fault_is_named(fault):
    check_fault(fault)


@pytest.mark.parametrize(
    "call",
    [
        lambda: refine(np.array(WORDS), np.array(TREES, dtype=object)),
        lambda: refine({0: WORDS[0], 1: WORDS[1]}.values(), tuple(TREES)),
        lambda: refiner().predict([iter(["a", "b"])], [iter(["A", "B"])]),
        lambda: tagged(np.array([["A", "B"], ["A", "B"]])),
        lambda: pcfg(rule_type_prior=[1, 2], binary_concentration=np.float64(1)),
        lambda: ParseTree("S", (word for word in ["a", "b"])),
        lambda: read_trees(io.BytesIO(b"(S a)")),
    ],
)
def test_habits_that_are_fine(call):
    call()
