"""Document completion: halves and scores that do not depend on the order of words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix

from skdp import topics
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics import GibbsLDA
from skdp.topics._base import BaseTopicModel
from skdp.topics._shared._completion import split_words

N_WORDS = 12
CLASSES = [getattr(topics, name) for name in topics.__all__]
MODELS = [kind(max_iter=6, random_state=0) for kind in CLASSES if issubclass(kind, BaseTopicModel)]
MODELS += [
    GibbsLDA(3, level="segment", max_iter=6, random_state=0),
    topics.SegmentedTopicModel(3, sampler="ssa", max_iter=6, random_state=0),
    topics.AdaptiveTopicModel(3, sampler="cmgs", max_iter=6, random_state=0),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=repr)
pytestmark = pytest.mark.filterwarnings("ignore:.*sweeps after:UserWarning")


def make_counts(n=8, length=15):
    rng = np.random.default_rng(0)
    return rng.multinomial(length, 1 / np.arange(1, N_WORDS + 1) / 3.1032, size=n)


def shuffled(documents, seed=0):
    rng = np.random.default_rng(seed)
    return [[rng.permutation(words).tolist() for words in document] for document in documents]


@every_model
def test_order_of_words_does_not_matter(model):
    rng = np.random.default_rng(1)
    documents = [[rng.integers(0, N_WORDS, n) for n in (9, 0, 4, 1)] for _ in range(4)]
    X = SegmentedCorpus.from_documents(documents, n_features=N_WORDS)
    model.fit(X)
    expected = model.score_samples(X)
    assert len(set(expected)) == 4
    for seed in range(3):
        other = shuffled(documents, seed)
        assert_allclose(model.score_samples(other), expected, rtol=0, atol=1e-12)
        assert_allclose(model.score_samples(other[::-1])[::-1], expected, rtol=0, atol=1e-12)
        assert model.score(other) == pytest.approx(model.score(X), abs=1e-12)
        assert model.perplexity(other) == pytest.approx(model.perplexity(X), rel=1e-12)
    assert_allclose([model.score_samples([document])[0] for document in other], expected)
    if hasattr(model, "log_likelihood"):
        expected, found = (model.log_likelihood(Y, n_particles=2) for Y in (X, other))
        assert_allclose(found, expected, rtol=0, atol=1e-12)


@every_model
def test_containers_do_not_matter(model):
    counts = make_counts()
    documents = [[np.repeat(np.arange(N_WORDS), row)] for row in counts]
    model.fit(counts)
    expected = model.score_samples(counts)
    other = shuffled(documents)
    corpus = SegmentedCorpus.from_documents(other, n_features=N_WORDS)
    parts = PartitionedCorpus.from_corpus(corpus, 3)
    for X in (csr_matrix(counts), csr_array(counts), counts.astype(float), other, corpus, parts):
        assert_allclose(model.score_samples(X), expected, rtol=0, atol=1e-12)
        assert model.score(X) == pytest.approx(model.score(counts), abs=1e-12)


def test_halves():
    corpus = SegmentedCorpus.from_documents([[[3, 0, 3, 1, 1], []], [], [[2], [0, 4]]])
    observed, scored, segment_of = split_words(corpus)
    assert_array_equal(observed.doc_ptr, corpus.doc_ptr)
    assert_array_equal(np.diff(observed.segment_ptr), [3, 0, 1, 1])
    assert_array_equal(segment_of, [0, 0, 3])
    words = [*observed.tokens[:3], *scored[:2]]
    assert_array_equal(np.sort(words), [0, 1, 1, 3, 3])
    assert observed.tokens[3] == 2
    assert {observed.tokens[4], scored[2]} == {0, 4}
    for half in (observed.tokens[:3], scored[:2]):
        assert_array_equal(half, np.sort(half))


def test_a_word_that_occurs_twice_is_in_one_half_about_half_of_the_time():
    """In 38 of 78 segments of 20 + 20 words. Sorted words by turns: never.

    4,000 segments of other words: a right split is five standard errors off for one in two
    million sets of them. This set is fixed.
    """
    rng = np.random.default_rng(0)
    segments = [[0, 0, *rng.choice(np.arange(1, 500), 38, replace=False)] for _ in range(4_000)]
    corpus = SegmentedCorpus.from_documents([segments])
    observed, _, _ = split_words(corpus)
    n_seen = np.add.reduceat(observed.tokens == 0, observed.segment_ptr[:-1])
    chance = 2 * (20 * 19) / (40 * 39)
    error = np.sqrt(chance * (1 - chance) / 4_000)
    assert abs(np.mean(n_seen != 1) - chance) < 5 * error


def test_memory_is_no_gain():
    """Words of one law have no topics, and 20 topics do not predict them better than one.

    If words are split by their places, the gain is .36 nats a document, ten standard errors: of
    two copies of a word, which are neighbors, one is given and the other one is scored.
    """
    rng = np.random.default_rng(0)
    law = 1 / np.arange(1, 201)
    counts = rng.multinomial(40, law / law.sum(), size=500)
    train, test = counts[:200], counts[200:]
    few, many = (
        GibbsLDA(k, doc_topic_prior=1.0, max_iter=60, random_state=0).fit(train).score_samples(test)
        for k in (1, 20)
    )
    gain = many - few
    assert gain.mean() < 3 * gain.std(ddof=1) / np.sqrt(len(gain))
