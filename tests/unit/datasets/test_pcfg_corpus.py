"""make_pcfg_corpus.

Every test of a distribution is seeded and asks for |z| < 5 of frequencies; a correct generator
fails one such comparison with probability 6e-7, all of them in this file with less than 1e-4.
"""

import itertools
import math

import numpy as np
import pytest

from skdp.data import TokenSequences
from skdp.datasets import make_pcfg_corpus
from skdp.grammar import ParseTree

# Rules of one, three and four parts, words among them, chains that can go round, a rule that never
# fires; its sentences are short.
LONG = {
    "S": [(("A",), 0.3), (("A", "B", "x"), 0.4), (("S", "y", "B", "B"), 0.1), (("B", "A"), 0.2)],
    "A": [(("B",), 0.3), (("x",), 0.6), (("A", "y"), 0.1), (("A", "z"), 0.0)],
    "B": [(("A",), 0.4), (("y",), 0.5), (("C",), 0.1)],
    "C": [(("x", "y"), 1.0)],
}
# Half of the trees are infinite.
WILD = {"S": [(("S", "S"), 2 / 3), (("a",), 1 / 3)]}


def sentence_probability(grammar, sentence):
    """Iterate the inside probabilities of a grammar of any form until they stand still."""
    n = len(sentence)
    spans = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
    inside = {(symbol, *span): 0.0 for symbol in grammar for span in spans}

    def split(parts, i, j):
        if not parts:
            return float(i == j)
        total = 0.0
        for k in range(i + 1, j - len(parts) + 2):
            if parts[0] in grammar:
                first = inside[parts[0], i, k]
            else:
                first = float(k == i + 1 and sentence[i] == parts[0])
            total += first and first * split(parts[1:], k, j)
        return total

    for _ in range(60):
        inside = {
            (symbol, i, j): sum(p * split(right, i, j) for right, p in grammar[symbol])
            for symbol, i, j in inside
        }
    return inside[next(iter(grammar)), 0, n]


def cky(corpus, sentence):
    """Return the probability of a sentence by the normal form of a corpus."""
    n = len(sentence)
    inside = {}
    for i in range(n):
        inside[i, i + 1] = corpus.rule_type[:, 0] * corpus.emission[:, sentence[i]]
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            pairs = sum(
                np.outer(inside[i, k], inside[k, i + width]) for k in range(i + 1, i + width)
            )
            below = np.tensordot(corpus.binary, pairs, 2)
            inside[i, i + width] = corpus.rule_type[:, 1] * below
    return corpus.root @ inside[0, n]


def log_probability(tree, grammar):
    total = 0.0
    for node in tree.subtrees():
        right = tuple(c.label if isinstance(c, ParseTree) else c for c in node.children)
        total += math.log(dict(grammar[node.label])[right])
    return total


def frequencies(corpus, sentences):
    drawn = [tuple(sentence.tolist()) for sentence in corpus.data]
    return np.array([drawn.count(sentence) for sentence in sentences]) / len(drawn)


def z_scores(shares, expected, n):
    return (shares - expected) / np.sqrt(expected * (1.0 - expected) / n)


@pytest.mark.parametrize("grammar", ["mouse", "pairs", LONG])
def test_parts(grammar):
    corpus = make_pcfg_corpus(40, grammar=grammar, random_state=0)
    assert isinstance(corpus.data, TokenSequences)
    n_words, n_symbols = len(corpus.feature_names), len(corpus.symbols)
    assert corpus.data.shape == (40, n_words)
    for sentence, tree, refined in zip(
        corpus.data, corpus.trees, corpus.refined_trees, strict=True
    ):
        words = tuple(corpus.feature_names[w] for w in sentence)
        assert tree.leaves == refined.leaves == words
        assert refined.label == "S"
    expected = [log_probability(tree, corpus.grammar) for tree in corpus.refined_trees]
    np.testing.assert_allclose(corpus.tree_log_probability, expected)
    assert corpus.root.shape == (n_symbols,)
    assert corpus.rule_type.shape == (n_symbols, 2)
    assert corpus.emission.shape == (n_symbols, n_words)
    assert corpus.binary.shape == (n_symbols,) * 3
    assert corpus.root.tolist() == [1.0] + [0.0] * (n_symbols - 1)
    np.testing.assert_allclose(corpus.rule_type.sum(axis=1), 1.0)
    np.testing.assert_allclose(corpus.emission.sum(axis=1), corpus.rule_type[:, 0] > 0)
    np.testing.assert_allclose(corpus.binary.sum(axis=(1, 2)), corpus.rule_type[:, 1] > 0)


def test_mouse():
    corpus = make_pcfg_corpus(300, random_state=1)
    assert corpus.symbols == "S NP NPBAR VP DT JJ NN VB".split()
    assert corpus.feature_names == "the a big black mouse cat dog chased ate".split()
    assert sum(map(len, corpus.grammar.values())) == 15
    assert corpus.trees is corpus.refined_trees
    place = corpus.symbols.index
    assert corpus.binary[place("NP"), place("DT"), place("NPBAR")] == 0.5
    assert corpus.emission[place("NN")].tolist() == [0, 0, 0, 0, 1 / 3, 1 / 3, 1 / 3, 0, 0]
    assert corpus.rule_type[:, 0].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_pairs():
    corpus = make_pcfg_corpus(300, grammar="pairs", random_state=1)
    assert sum(map(len, corpus.grammar.values())) == 20
    assert len(corpus.feature_names) == 16
    for tree, refined in zip(corpus.trees, corpus.refined_trees, strict=True):
        assert [node.label for node in tree.subtrees()] == ["S", "X", "X"]
        first, second = refined.children
        assert first.label == second.label == f"X_{first.leaves[0][-1]}"
        assert first.leaves[0][-1] == second.leaves[0][-1]
    assert {tree.children[0].label for tree in corpus.refined_trees} == {
        f"X_{i}" for i in range(1, 5)
    }


@pytest.mark.parametrize("grammar", ["mouse", "pairs", LONG])
def test_normal_form_gives_sentences_their_probability(grammar):
    corpus = make_pcfg_corpus(12, grammar=grammar, max_length=7, random_state=2)
    for sentence in corpus.data:
        words = [corpus.feature_names[w] for w in sentence]
        expected = sentence_probability(corpus.grammar, words)
        assert expected > 0
        assert cky(corpus, sentence) == pytest.approx(expected, rel=1e-10)


def test_frequencies_of_sentences():
    n = 20_000
    corpus = make_pcfg_corpus(n, grammar=LONG, random_state=3)
    sentences = [s for length in (1, 2, 3) for s in itertools.product(range(2), repeat=length)]
    expected = np.array([cky(corpus, sentence) for sentence in sentences])
    shares, possible = frequencies(corpus, sentences), expected > 0
    assert np.all(shares[~possible] == 0)
    z = z_scores(shares[possible], expected[possible], n)
    assert len(z) >= 10
    assert np.all(np.abs(z) < 5)


def test_lengths_of_mice():
    n = 8_000
    corpus = make_pcfg_corpus(n, random_state=4)
    adjectives = np.diff(corpus.data.ptr) - 5  # of two noun phrases, each geometric from 0
    expected = np.array([(k + 1) * 0.5 ** (k + 2) for k in range(6)])
    shares = np.bincount(adjectives, minlength=6)[:6] / n
    assert np.all(np.abs(z_scores(shares, expected, n)) < 5)


def test_limited_lengths():
    """Draws given the length, also of a grammar whose trees may be infinite."""
    n, limit = 20_000, 4
    corpus = make_pcfg_corpus(n, grammar=WILD, max_length=limit, random_state=5)
    sentences = [(0,) * length for length in range(1, limit + 1)]
    expected = np.array([cky(corpus, sentence) for sentence in sentences])
    z = z_scores(frequencies(corpus, sentences), expected / expected.sum(), n)
    assert np.all(np.abs(z) < 5)


def test_seeds():
    first = make_pcfg_corpus(30, random_state=6)
    assert make_pcfg_corpus(30, random_state=6).trees == first.trees
    assert make_pcfg_corpus(10, random_state=6).trees == first.trees[:10]
    assert make_pcfg_corpus(30, random_state=7).trees != first.trees
    assert make_pcfg_corpus(30, random_state=np.random.default_rng(0)).data.shape == (30, 9)


def test_grammar_goes_round():
    first = make_pcfg_corpus(5, random_state=8)
    assert make_pcfg_corpus(5, grammar=first.grammar, random_state=8).trees == first.trees


def test_long_sentences():
    """Deep trees are drawn without recursion; words of probability 0 keep their place."""
    grammar = {"S": [(["a", "S"], 0.9995), (["a"], 0.0005), (["b"], 0)]}
    corpus = make_pcfg_corpus(4, grammar=grammar, random_state=9)
    assert np.diff(corpus.data.ptr).max() > 1500
    assert corpus.feature_names == ["a"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_sentences": 0}, "n_sentences must be an integer >= 1, got 0"),
        ({"max_length": 0}, "max_length must be an integer >= 1, got 0"),
        ({"max_length": 4}, "max_length must be at least 5, the length of the shortest sentence"),
        ({"grammar": "cat"}, "grammar must be 'mouse' or 'pairs' or a dictionary, got 'cat'"),
        ({"grammar": {}}, "grammar must be the name of a grammar or a dictionary"),
        ({"grammar": {"S": [(("a",), 0.7)]}}, "probabilities of 'S' must sum to 1, not 0.7"),
        ({"grammar": {"S": []}}, "probabilities of 'S' must sum to 1, not 0"),
        ({"grammar": {"S": [("a", 1.0)]}}, "a tuple of at least one str; got \\('a', 1.0\\)"),
        ({"grammar": {"S": [((), 1.0)]}}, "rules of 'S' must be pairs"),
        ({"grammar": {"S": [(("a", 3), 1.0)]}}, "rules of 'S' must be pairs"),
        ({"grammar": {"S": ["a"]}}, "rules of 'S' must be pairs"),
        ({"grammar": {"S": [(("a",), -1.0), (("b",), 2.0)]}}, r"must be in \[0, 1\], got -1"),
        ({"grammar": {"S": [(("a",), np.nan)]}}, r"must be in \[0, 1\], got nan"),
        ({"grammar": {"S": [(("a b",), 1.0)]}}, "A word must not contain white space, got 'a b'"),
        ({"grammar": {"S(": [(("a",), 1.0)]}}, "A label must not contain white space or"),
        ({"grammar": {"S": [(("S", "a"), 1.0)]}}, "has no sentences: 'S' cannot be turned"),
        ({"grammar": WILD}, r"no finite mean length \(symbols multiply by 1\.333 .*: set max"),
        (
            {"grammar": {"S": [(("S", "S"), 0.5), (("a",), 0.5)]}},
            r"no finite mean length \(symbols multiply by 1 ",
        ),
        (
            {"grammar": {"S": [(("a",), 1.0)], "A": [(("A",), 1.0)]}},
            "has symbols that can only become one another",
        ),
        (
            {"grammar": {"S": [(("a",), 1e-6), (("a", "S"), 1 - 1e-6)]}, "max_length": 2},
            "had at most max_length=2 words: too few to draw from",
        ),
    ],
)  # fmt: skip
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        make_pcfg_corpus(**options)
