"""Topic coherence against windows that are written down one by one."""

import math
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from skdp.data import SegmentedCorpus
from skdp.metrics import topic_coherence

N_WORDS = 12
EPSILON = 1e-12


def list_windows(documents, window):
    """Return the set of words of every window."""
    if window == "document":
        parts = [[word for segment in document for word in segment] for document in documents]
    else:
        parts = [segment for document in documents for segment in document]
    windows = []
    for part in filter(len, parts):
        size = len(part) if window in ("document", "segment") else min(window, len(part))
        windows += [set(part[t : t + size]) for t in range(len(part) - size + 1)]
    return windows


def npmi(v, w, windows):
    share = [sum(words <= window for window in windows) for words in ({v}, {w}, {v, w})]
    p_v, p_w, both = (count / len(windows) for count in share)
    if both == 1.0:
        return 1.0
    if p_v == 0.0 or p_w == 0.0:
        return 0.0
    return math.log((both + EPSILON) / (p_v * p_w)) / -math.log(both + EPSILON)


def mean_npmi(topic, windows):
    values = [npmi(v, w, windows) for v, w in combinations(topic, 2)]
    return sum(values) / len(values)


def c_v(topic, windows):
    vectors = [[npmi(v, w, windows) for w in topic] for v in topic]
    total = [sum(column) for column in zip(*vectors, strict=True)]
    cosines = []
    for vector in vectors:
        lengths = math.hypot(*vector) * math.hypot(*total)
        product = sum(x * y for x, y in zip(vector, total, strict=True))
        cosines.append(product / lengths if lengths else 0.0)
    return sum(cosines) / len(cosines)


def u_mass(topic, windows):
    total = 0.0
    for m in range(1, len(topic)):
        for k in range(m):
            given = sum(topic[k] in window for window in windows)
            both = sum({topic[m], topic[k]} <= window for window in windows)
            total += math.log((both + 1) / given) if given else 0.0
    return total


ORACLES = {"c_v": c_v, "npmi": mean_npmi, "u_mass": u_mass}
DEFAULTS = {"c_v": 110, "npmi": 10, "u_mass": "document"}


def make_documents(seed, longest=9):
    """Return documents with repeated words, empty segments and documents without segments."""
    rng = np.random.default_rng(seed)
    return [
        [
            rng.choice(N_WORDS, size=rng.integers(0, longest + 1), p=rng.dirichlet([0.5] * N_WORDS))
            .tolist()
            for _ in range(rng.integers(0, 4))
        ]
        for _ in range(15)
    ]  # fmt: skip


def make_topics(seed, n_topics=4, n_words=5):
    rng = np.random.default_rng(seed)
    return [rng.permutation(N_WORDS)[:n_words].tolist() for _ in range(n_topics)]


def compute(topics, X, **options):
    """Call without the warning that random corpora may lack a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return topic_coherence(topics, X, **options)


@pytest.mark.parametrize("measure", ORACLES)
@pytest.mark.parametrize("window", [1, 2, 3, 7, 110, "segment", "document"])
def test_against_a_list_of_windows(measure, window):
    for seed in range(4):
        documents, topics = make_documents(seed), make_topics(seed)
        corpus = SegmentedCorpus.from_documents(documents, N_WORDS)
        windows = list_windows(documents, window)
        expected = [ORACLES[measure](topic, windows) for topic in topics]
        found = compute(topics, corpus, measure=measure, window=window, n_words=5)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("measure", ORACLES)
def test_defaults(measure):
    """Each measure has windows of its own; c_v of ten words is the default."""
    documents, topics = make_documents(5, longest=200), make_topics(5, n_words=12)
    corpus = SegmentedCorpus.from_documents(documents, N_WORDS)
    windows = list_windows(documents, DEFAULTS[measure])
    for n_words in (2, 3, 10):
        expected = [ORACLES[measure](topic[:n_words], windows) for topic in topics]
        found = compute(topics, corpus, measure=measure, n_words=n_words)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert np.array_equal(compute(topics, corpus), found) == (measure == "c_v")


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_word_probabilities(kind):
    """The top words are the first of the most probable, as of ``top_words``."""
    components = np.random.default_rng(0).integers(1, 4, size=(6, N_WORDS)).astype(kind)
    topics = [
        sorted(range(N_WORDS), key=lambda word: (-row[word], word))[:5]
        for row in components.tolist()
    ]
    corpus = SegmentedCorpus.from_documents(make_documents(0), N_WORDS)
    expected = compute(topics, corpus, measure="u_mass", n_words=5)
    for weights in (components, components.tolist(), pd.DataFrame(components)):
        found = compute(weights, corpus, measure="u_mass", n_words=5)
        assert_array_equal(found, expected)


def test_kinds_of_corpora():
    documents, topics, components = make_documents(2), make_topics(2), np.zeros((4, N_WORDS))
    for row, topic in zip(components, topics, strict=True):
        row[topic] = np.arange(5, 0, -1)
    corpus = SegmentedCorpus.from_documents(documents, N_WORDS)
    counts = corpus.to_bow()
    for window, others in (("document", [counts, sp.csc_array(counts)]), ("segment", [])):
        options = {"measure": "npmi", "n_words": 5, "window": window}
        expected = compute(topics, corpus, **options)
        for X in (documents, *others):
            for given in (topics, components):
                assert_allclose(compute(given, X, **options), expected, rtol=1e-12)
    # Lists end with their largest word, topics of known width do not.
    assert topic_coherence(np.eye(3, 20), [[[0, 1, 2]]], n_words=2, measure="npmi")[0] == 1.0


@pytest.mark.parametrize("measure", ORACLES)
def test_windows_of_counts_are_documents(measure):
    """The words of a row have no order, so the order of columns does not matter."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(20 * rng.dirichlet([0.2] * N_WORDS, size=30))
    topics = make_topics(3)
    options = {"measure": measure, "n_words": 5}
    windows = [set(np.flatnonzero(row).tolist()) for row in counts]
    expected = [ORACLES[measure](topic, windows) for topic in topics]
    new = rng.permutation(N_WORDS)
    moved = [np.argsort(new)[topic].tolist() for topic in topics]
    longest = int(counts.sum(axis=1).max())
    for kind in (np.array, sp.csr_array, pd.DataFrame, np.ndarray.tolist):
        for window in (None, "segment", "document", longest):
            found = topic_coherence(topics, kind(counts), window=window, **options)
            assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        found = topic_coherence(moved, kind(counts[:, new]), **options)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        with pytest.raises(ValueError, match=f"window={longest - 1} .* {longest} tokens"):
            topic_coherence(topics, kind(counts), window=longest - 1, **options)


def test_segments_in_the_order_of_ids_are_suspicious():
    topics, options = [[0, 1]], {"measure": "npmi", "n_words": 2}
    in_order = [[[0, 0, 1, 2, 2, 3], [], [0, 3, 4, 5]]] * 4  # 4 (3 + 3) steps to another word
    corpus = SegmentedCorpus.from_documents([[[]], *in_order, [[]], []])
    with pytest.warns(UserWarning, match="windows of 5 tokens are arbitrary"):
        topic_coherence(topics, corpus, window=5, **options)
    fine = [(in_order, 6), (in_order, "segment"), (in_order, "document"), (in_order[:3], 5)]
    fine += [([*in_order, [[1, 0]]], 5), ([[[0] * 6], [[1] * 6]] * 30, 5)]
    for X, window in fine:
        topic_coherence(topics, X, window=window, **options)


def test_words_that_always_or_never_meet():
    together = [[[0, 1]], [[0, 1]], [[2, 3]], [[3, 4]]]
    found = topic_coherence([[0, 1], [0, 2]], together, measure="npmi", n_words=2)
    expected = math.log(EPSILON / (1 / 8)) / -math.log(EPSILON)
    assert_allclose(found, [1.0, expected], rtol=1e-11)
    everywhere = [[[0, 1, 2]], [[1, 0]]]
    for measure in ("npmi", "c_v"):
        found = topic_coherence([[0, 1]], everywhere, measure=measure, n_words=2)
        assert_allclose(found, 1.0, rtol=1e-14)
    independent = [[[0, 1]], [[0, 2]], [[3, 1]], [[3, 2]]]
    found = topic_coherence([[0, 1]], independent, measure="npmi", n_words=2)
    assert_allclose(found, 0.0, atol=1e-11)


def test_blind_spot_of_c_v():
    """The documented values for ten words that never meet, and for independent words."""
    alone = [[[word]] for word in range(10)] + [[[10]]] * 990
    topic = [list(range(10))]
    assert round(topic_coherence(topic, alone, measure="npmi")[0], 2) == -0.5
    assert round(topic_coherence(topic, alone)[0], 2) == 0.61
    subsets = [[[10, *(v for v in range(10) if i >> v & 1)]] for i in range(1024)]
    assert round(topic_coherence(topic, subsets)[0], 2) == 0.32


def test_words_that_do_not_occur():
    corpus = SegmentedCorpus.from_documents([[[0, 1], [0, 2]], [[1, 2, 3]]], 6)
    topics = [[0, 1, 2], [0, 1, 5], [5, 0, 1], [4, 5, 0]]
    windows = list_windows([[[0, 1], [0, 2]], [[1, 2, 3]]], "segment")
    for measure, oracle in ORACLES.items():
        with pytest.warns(UndefinedMetricWarning, match=r"Topics \[1, 2, 3\] have words"):
            found = topic_coherence(topics, corpus, measure=measure, window="segment", n_words=3)
        expected = [oracle(topic, windows) for topic in topics]
        assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
