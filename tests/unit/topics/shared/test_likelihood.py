"""`log_likelihood` of the topic models. Exactness: tests/exact/topics/test_log_likelihood.py"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from skdp.data import SegmentedCorpus
from skdp.datasets import make_segmented_corpus
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)
from skdp.topics._kernels._counts import MOVES, log_mean_exp, next_stop, resample
from skdp.topics._shared import _fold_in as _likelihood

MODELS = (SegmentedTopicModel, SequentialLDA, AdaptiveTopicModel, GibbsLDA)
every_model = pytest.mark.parametrize("model", MODELS)
TRUTH = make_segmented_corpus(
    8, n_components=3, n_features=20, n_segments=(1, 4), segment_length=10.0,
    topic_word_prior=0.2, model="adaptive", random_state=0,
)  # fmt: skip
CORPUS, PHI = TRUTH.data, TRUTH.components


def given(model, components=PHI, **params):
    return model.from_topics(components, **{"doc_topic_prior": 0.5, "random_state": 0, **params})


def corpus_of(documents):
    return SegmentedCorpus.from_documents(documents, n_features=20)


@every_model
def test_odd_documents(model):
    """Without words, with words that are impossible, in all samples or in half, and long ones."""
    found = given(model).log_likelihood(corpus_of([[], [[]], [[0], []], [[], []]]))
    assert found.dtype == np.float64
    assert_array_equal(found == 0.0, [True, True, False, True])
    components = PHI.copy()
    components[:, 4] = 0.0
    components[0, 5] = 0.0  # possible under the others
    X = corpus_of([[[4], [1]], [[5, 1]], [[1, 4]]])
    found = given(model, components).log_likelihood(X)
    assert_array_equal(np.isneginf(found), [True, False, True])
    both, one = given(model), given(model)
    both._models = both._models + given(model, components)._models
    expected = one.log_likelihood([[[4]]]) - np.log(2.0)
    assert_allclose(both.log_likelihood([[[4]]]), expected, rtol=1e-12)
    X = corpus_of([[np.random.default_rng(0).integers(20, size=800)]])
    assert -5000.0 < given(model).log_likelihood(X, n_particles=2)[0] < -1500.0  # no double


def test_co_clustering_has_none():
    assert not hasattr(LatentDirichletCoClustering(), "log_likelihood")


@every_model
def test_particles_reduce_the_spread(model):
    estimates = [
        [given(model, random_state=seed).log_likelihood(CORPUS, n_particles=n) for seed in range(9)]
        for n in (1, 16)
    ]
    first, second = np.std(estimates, axis=1).mean(axis=1)
    assert second < 0.5 * first  # about a quarter


@every_model
def test_streams_are_those_of_documents(model, monkeypatch):
    """Other documents, containers, jobs, chunks and calls have no effect; the seed has one."""
    estimator = given(model)
    found = estimator.log_likelihood(CORPUS, n_particles=3)
    order = np.random.default_rng(0).permutation(len(CORPUS))
    assert_array_equal(estimator.log_likelihood(CORPUS[order], n_particles=3), found[order])
    for d in (0, 5):
        alone = estimator.log_likelihood(CORPUS[d : d + 1], n_particles=3)
        assert_array_equal(alone, found[d : d + 1])
    other = given(model, random_state=1).log_likelihood(CORPUS, n_particles=3)
    assert np.all(other != found)
    monkeypatch.setattr(_likelihood, "_CHUNK_TOKENS", 30)
    samplers = [{}] if model is GibbsLDA else [{"sampler": "ssa"}, {"sampler": "btigs"}]
    for params in ({"n_jobs": 2}, *samplers):  # particles have moves of their own
        again = given(model, **params)
        again.transform(CORPUS)
        assert_array_equal(again.log_likelihood(CORPUS, n_particles=3), found)
    counts = np.random.default_rng(0).poisson(0.4, (5, 20))
    documents = [[np.repeat(np.arange(20), row).tolist()] for row in counts]
    for X in (documents, counts, csr_array(counts)):
        expected = estimator.log_likelihood(corpus_of(documents))
        assert_array_equal(estimator.log_likelihood(X), expected)


class TestParticles:
    def test_stops(self):
        stops = [0]
        while stops[-1] < 1000:
            stops.append(next_stop(stops[-1], 1000))
        assert stops[: 2 * MOVES] == list(range(2 * MOVES))
        assert next_stop(350, 1000) == 361
        assert next_stop(999, 1000) == 1000
        assert stops[-1] == 1000
        sweeps = sum(stops) / 1000  # over the document, in all
        assert MOVES < sweeps < 1.2 * MOVES

    def test_they_are_resampled_when_few_count(self):
        rng = np.array([1, 2, 3, 4], dtype=np.uint64)
        ancestors = np.empty(4, dtype=np.int64)
        alike = np.log([1.0, 2.0, 1.5, 1.2]) - 3000.0
        kept = alike.copy()
        assert resample(kept, ancestors, rng) == 0.0
        assert_array_equal(kept, alike)
        assert_array_equal(ancestors, np.arange(4))
        unequal = np.log([1.0, 1e-3, 20.0, 1e-3]) - 3000.0
        expected = log_mean_exp(unequal)
        assert resample(unequal, ancestors, rng) == expected
        assert_array_equal(unequal, 0.0)
        assert ancestors[2] == 2  # survivors keep their places
        assert set(ancestors) <= {0, 2}
