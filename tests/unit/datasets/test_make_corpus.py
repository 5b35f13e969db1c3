"""make_segmented_corpus and make_pcfg_corpus."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from unit.datasets.normal import assert_mean, assert_shares

from skdp.data import SegmentedCorpus, TokenSequences
from skdp.datasets import make_pcfg_corpus, make_segmented_corpus
from skdp.grammar import ParseTree

# Segmented corpora

NO_WORDS = 1e-9
PDPS = [(0.5, 2.0), (0.0, 0.3), (0.0, 20.0), (0.05, 3.0), (0.5, 0.01), (0.5, 40.0), (0.95, 1.0)]
SEGMENTS = [("adaptive", 0.4), ("segmented", 0.4), ("sequential", 0.0), ("sequential", 0.4)]


def first_is_fast(cases):
    return [cases[0], *(pytest.param(*case, marks=pytest.mark.slow) for case in cases[1:])]


def moment(base, n, discount, concentration):
    """Return E[nu^n], nu the share of a category with share `base`: n customers, all its dish."""
    by_tables = {0: 1.0}
    for i in range(n):
        seated = {}
        for tables, p in by_tables.items():
            opening = (concentration + discount * tables) * base if i else concentration * base
            seated[tables + 1] = seated.get(tables + 1, 0) + p * opening / (concentration + i)
            sharing = (i - discount * tables) / (concentration + i)
            seated[tables] = seated.get(tables, 0) + p * sharing
        by_tables = seated
    return sum(by_tables.values())


def draw_shares(model, n_segments, discount, concentration, base=None, seed=0, **params):
    prior = 0.7 if base is None else 1e14 * np.asarray(base)
    return make_segmented_corpus(
        2500, n_components=3, n_features=2, n_segments=n_segments, segment_length=NO_WORDS,
        model=model, doc_topic_prior=prior, discount=discount, concentration=concentration,
        random_state=seed, **params,
    )  # fmt: skip


@pytest.mark.parametrize(("discount", "concentration"), first_is_fast(PDPS))
def test_pdp_moments(discount, concentration):
    base = np.array([0.6, 0.3, 0.1])
    nu = draw_shares("segmented", 1, discount, concentration, base).segment_topic
    assert_allclose(nu.sum(axis=1), 1.0)
    for n in range(1, 6):
        assert_mean(nu**n, [moment(h, n, discount, concentration) for h in base])
    pairs = (concentration + discount) / (concentration + 1) * np.outer(base, base)
    for i, k in [(0, 1), (0, 2), (1, 2)]:
        assert_mean(nu[:, i] * nu[:, k], pairs[i, k])


@pytest.mark.parametrize(("model", "discount"), first_is_fast(SEGMENTS))
def test_segments_vary_around_their_base(model, discount):
    concentration = 5.0
    truth = draw_shares(model, 3, discount, concentration, seed=1, mixing_prior=(2.0, 1.0))
    nu = truth.segment_topic.reshape(-1, 3, 3)
    rho = truth.segment_mixing.reshape(-1, 3, 1)
    mu = truth.doc_topic[:, None]
    assert_mean(truth.doc_topic, 1 / 3)
    assert_array_equal(rho[:, 0], 1.0)
    if model == "adaptive":
        assert_mean(rho[:, 1:], 2 / 3)
        assert_mean(rho[:, 1:] ** 2, 2 * 3 / (3 * 4))
    else:
        assert_array_equal(rho[:, 1:], float(model == "segmented"))
    previous = np.concatenate([mu, nu[:, :-1]], axis=1)
    base = rho * mu + (1 - rho) * previous
    assert_mean(nu - base, 0.0)
    variance = (1 - discount) / (1 + concentration) * base * (1 - base)
    assert_mean((nu - base) ** 2 - variance, 0.0)
    # Given the base, the previous segment has no influence.
    assert_mean((nu - base)[:, 1:] * (previous - mu)[:, 1:], 0.0)


@pytest.mark.parametrize(("discount", "concentration"), [(0.0, 1e-6), (0.3, 1e-6), (0.3, 1e-3)])
def test_tiny_parameters_do_not_underflow(discount, concentration):
    truth = make_segmented_corpus(
        20, n_segments=20, model="sequential", doc_topic_prior=1e-5, topic_word_prior=1e-5,
        discount=discount, concentration=concentration, random_state=0,
    )  # fmt: skip
    for shares in (truth.components, truth.doc_topic, truth.segment_topic):
        assert_allclose(shares.sum(axis=1), 1.0)


def test_tokens_follow_topics_and_topics_follow_shares():
    truth = make_segmented_corpus(
        200, n_components=3, n_features=4, n_segments=4, segment_length=25, topic_word_prior=1.0,
        random_state=2,
    )  # fmt: skip
    lengths = np.diff(truth.data.segment_ptr)
    shares = np.repeat(truth.segment_topic, lengths, axis=0)
    assert_mean(np.eye(3)[truth.topics] - shares, 0.0)
    for k in range(3):
        assert_mean(np.eye(4)[truth.data.tokens[truth.topics == k]], truth.components[k])
    assert_mean(lengths, 25.0)
    assert_mean((lengths - 25.0) ** 2, 25.0)


def test_components():
    """They are drawn from their prior, or are the given ones, in proportion."""
    phi = make_segmented_corpus(
        1, n_components=4000, n_features=3, topic_word_prior=0.5, random_state=0
    ).components
    assert_mean(phi, 1 / 3)
    assert_mean(phi**2, 0.5 * 1.5 / (1.5 * 2.5))
    given = [[2, 2, 0, 0], [0, 0, 1, 3]]
    truth = make_segmented_corpus(5, components=given, random_state=0)
    assert_array_equal(truth.components, [[0.5, 0.5, 0, 0], [0, 0, 0.25, 0.75]])
    assert truth.data.n_features == 4
    assert_array_equal(truth.data.tokens >= 2, truth.topics == 1)


def test_shapes():
    truth = make_segmented_corpus(
        3, n_components=4, n_features=7, n_segments=[2, 0, 3], segment_length=5, random_state=0
    )
    assert isinstance(truth.data, SegmentedCorpus)
    assert truth.data.shape == (3, 7)
    assert [len(document) for document in truth.data] == [2, 0, 3]
    assert truth.components.shape == (4, 7)
    assert truth.doc_topic.shape == (3, 4)
    assert truth.segment_topic.shape == (5, 4)
    assert truth.segment_mixing.shape == (5,)
    assert truth.topics.shape == truth.data.tokens.shape
    assert truth.topics.dtype == np.int32
    truth = make_segmented_corpus(100, n_segments=(2, 4), segment_length=1, random_state=0)
    assert {len(document) for document in truth.data} == {2, 3, 4}


# Sentences of grammars

# Rules of one, three and four parts, words among them, chains that can go round, a rule that never
# fires; its sentences are short.
LONG = {
    "S": [(("A",), 0.3), (("A", "B", "x"), 0.4), (("S", "y", "B", "B"), 0.1), (("B", "A"), 0.2)],
    "A": [(("B",), 0.3), (("x",), 0.6), (("A", "y"), 0.1), (("A", "z"), 0.0)],
    "B": [(("A",), 0.4), (("y",), 0.5), (("C",), 0.1)],
    "C": [(("x", "y"), 1.0)],
}
WILD = {"S": [(("S", "S"), 2 / 3), (("a",), 1 / 3)]}
"""Half of the trees are infinite."""


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


def numbers_of(corpus, sentences):
    """Return how often each of some sentences, and any other, was drawn."""
    drawn = [tuple(sentence.tolist()) for sentence in corpus.data]
    numbers = [drawn.count(sentence) for sentence in sentences]
    return np.array([*numbers, len(drawn) - sum(numbers)])


@pytest.mark.parametrize("grammar", ["mouse", "pairs", LONG])
def test_parts_of_a_grammar(grammar):
    """Trees of the sentences, and a normal form that gives sentences their probability."""
    corpus = make_pcfg_corpus(40, grammar=grammar, max_length=7, random_state=2)
    assert isinstance(corpus.data, TokenSequences)
    n_words, n_symbols = len(corpus.feature_names), len(corpus.symbols)
    assert corpus.data.shape == (40, n_words)
    places = zip(corpus.data, corpus.trees, corpus.refined_trees, strict=True)
    for i, (sentence, tree, refined) in enumerate(places):
        words = tuple(corpus.feature_names[w] for w in sentence)
        assert tree.leaves == refined.leaves == words
        assert refined.label == "S"
        if i < 12:
            expected = sentence_probability(corpus.grammar, words)
            assert expected > 0
            assert cky(corpus, sentence) == pytest.approx(expected, rel=1e-10)
    expected = [log_probability(tree, corpus.grammar) for tree in corpus.refined_trees]
    assert_allclose(corpus.tree_log_probability, expected)
    assert corpus.root.tolist() == [1.0] + [0.0] * (n_symbols - 1)
    assert corpus.rule_type.shape == (n_symbols, 2)
    assert corpus.emission.shape == (n_symbols, n_words)
    assert corpus.binary.shape == (n_symbols,) * 3
    assert_allclose(corpus.rule_type.sum(axis=1), 1.0)
    assert_allclose(corpus.emission.sum(axis=1), corpus.rule_type[:, 0] > 0)
    assert_allclose(corpus.binary.sum(axis=(1, 2)), corpus.rule_type[:, 1] > 0)


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
    labels = set()
    for tree, refined in zip(corpus.trees, corpus.refined_trees, strict=True):
        assert [node.label for node in tree.subtrees()] == ["S", "X", "X"]
        first, second = refined.children
        assert first.label == second.label == f"X_{first.leaves[0][-1]}"
        assert first.leaves[0][-1] == second.leaves[0][-1]
        labels.add(first.label)
    assert labels == {"X_1", "X_2", "X_3", "X_4"}


def test_frequencies_of_sentences():
    corpus = make_pcfg_corpus(20_000, grammar=LONG, random_state=3)
    sentences = [s for length in (1, 2, 3) for s in itertools.product(range(2), repeat=length)]
    expected = np.array([cky(corpus, sentence) for sentence in sentences])
    assert np.count_nonzero(expected) >= 10
    assert_shares(numbers_of(corpus, sentences), np.append(expected, 1.0 - expected.sum()))


def test_limited_lengths():
    """Draws given the length, also of a grammar whose trees may be infinite."""
    corpus = make_pcfg_corpus(20_000, grammar=WILD, max_length=4, random_state=5)
    sentences = [(0,) * length for length in range(1, 5)]
    expected = np.array([cky(corpus, sentence) for sentence in sentences])
    assert_shares(numbers_of(corpus, sentences)[:-1], expected / expected.sum())


def test_first_trees_and_grammars_that_come_back():
    first = make_pcfg_corpus(30, random_state=6)
    assert make_pcfg_corpus(10, random_state=6).trees == first.trees[:10]
    assert make_pcfg_corpus(30, grammar=first.grammar, random_state=6).trees == first.trees


def test_long_sentences():
    """Deep trees are drawn without recursion; words of probability 0 keep their place."""
    grammar = {"S": [(["a", "S"], 0.9995), (["a"], 0.0005), (["b"], 0)]}
    corpus = make_pcfg_corpus(4, grammar=grammar, random_state=9)
    assert np.diff(corpus.data.ptr).max() > 1500
    assert corpus.feature_names == ["a"]
