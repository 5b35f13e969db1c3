"""`log_likelihood` of the topic models: arguments and results. Exactness: tests/exact."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from skdp.data import SegmentedCorpus
from skdp.datasets import make_segmented_corpus
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)
from skdp.topics._shared import _likelihood
from skdp.topics._shared._kernels_particles import MOVES, log_mean_exp, next_stop, resample

MODELS = (SegmentedTopicModel, SequentialLDA, AdaptiveTopicModel, GibbsLDA)
every_model = pytest.mark.parametrize("model", MODELS)

TRUTH = make_segmented_corpus(
    8,
    n_components=3,
    n_features=20,
    n_segments=(1, 4),
    segment_length=10.0,
    topic_word_prior=0.2,
    model="adaptive",
    random_state=0,
)
CORPUS = TRUTH.data


def given(model, components=TRUTH.components, **params):
    return model.from_topics(components, **{"doc_topic_prior": 0.5, "random_state": 0, **params})


class TestInput:
    @every_model
    @pytest.mark.parametrize("value", [0, -1, 1.5, "2", None, True])
    def test_refuses_numbers_of_particles(self, model, value):
        with pytest.raises((ValueError, TypeError), match="n_particles"):
            given(model).log_likelihood(CORPUS, n_particles=value)

    @every_model
    def test_is_for_fitted_models(self, model):
        with pytest.raises(NotFittedError):
            model().log_likelihood(CORPUS)

    @every_model
    def test_checks_the_vocabulary(self, model):
        X = SegmentedCorpus.from_documents([[[0]]], n_features=21)
        with pytest.raises(ValueError, match="21 features"):
            given(model).log_likelihood(X)

    @every_model
    def test_takes_what_fit_takes(self, model):
        rng = np.random.default_rng(0)
        counts = rng.poisson(0.4, (5, 20))
        documents = [[np.repeat(np.arange(20), row).tolist()] for row in counts]
        estimator = given(model)
        expected = estimator.log_likelihood(
            SegmentedCorpus.from_documents(documents, n_features=20)
        )
        for X in (documents, counts, csr_array(counts)):
            assert_array_equal(estimator.log_likelihood(X), expected)

    def test_models_that_lack_it(self):
        assert not hasattr(LatentDirichletCoClustering(), "log_likelihood")


class TestResult:
    @every_model
    def test_documents_without_words(self, model):
        X = SegmentedCorpus.from_documents([[], [[]], [[0], []], [[], []]], n_features=20)
        found = given(model).log_likelihood(X, n_particles=3)
        assert found.shape == (4,)
        assert found.dtype == np.float64
        assert_array_equal(found[[0, 1, 3]], 0.0)
        assert found[2] < 0.0

    @every_model
    def test_a_single_word(self, model):
        """Its probability does not depend on the state of the particles."""
        X = SegmentedCorpus.from_documents([[[], [w]] for w in range(20)], n_features=20)
        found = given(model).log_likelihood(X, n_particles=1)
        assert_allclose(np.exp(found), TRUTH.components.mean(axis=0), rtol=1e-6)

    @every_model
    def test_one_topic(self, model):
        """All states have the same probability: the estimate has no variance."""
        phi = TRUTH.components[:1]
        found = given(model, phi).log_likelihood(CORPUS, n_particles=2)
        expected = [
            sum(np.log(phi[0, segment]).sum() for segment in document) for document in CORPUS
        ]
        assert_allclose(found, expected, rtol=1e-5)

    @every_model
    def test_impossible_words(self, model):
        components = TRUTH.components.copy()
        components[:, 4] = 0.0
        components[0, 5] = 0.0  # possible under the others
        X = SegmentedCorpus.from_documents([[[4], [1]], [[5, 1]], [[1, 4]]], n_features=20)
        found = given(model, components).log_likelihood(X)
        assert_array_equal(np.isneginf(found), [True, False, True])

    @every_model
    def test_stored_samples_disagree_on_what_is_possible(self, model):
        """Half of the probability is that of the sample under which the word is possible."""
        components = TRUTH.components.copy()
        components[:, 4] = 0.0
        both, one = given(model), given(model)
        both._models = both._models + given(model, components)._models
        assert_allclose(
            both.log_likelihood([[[4]]]), one.log_likelihood([[[4]]]) - np.log(2.0), rtol=1e-12
        )

    @every_model
    def test_long_documents_stay_finite(self, model):
        """Their probability is far below the smallest double."""
        rng = np.random.default_rng(0)
        X = SegmentedCorpus.from_documents([[rng.integers(20, size=800)]], n_features=20)
        found = given(model).log_likelihood(X, n_particles=2)
        assert -5000.0 < found[0] < -1500.0

    @every_model
    def test_particles_reduce_the_spread(self, model):
        spreads = [
            np.std(
                [
                    given(model, random_state=seed).log_likelihood(CORPUS, n_particles=n)
                    for seed in range(12)
                ],
                axis=0,
            ).mean()
            for n in (1, 16)
        ]  # the first is 4 times the second, more or less
        assert spreads[1] < 0.5 * spreads[0]


class TestStreams:
    @every_model
    def test_documents_do_not_depend_on_each_other(self, model):
        estimator = given(model)
        found = estimator.log_likelihood(CORPUS, n_particles=3)
        order = np.random.default_rng(0).permutation(len(CORPUS))
        assert_array_equal(estimator.log_likelihood(CORPUS[order], n_particles=3), found[order])
        for d in (0, 5):
            alone = estimator.log_likelihood(CORPUS[d : d + 1], n_particles=3)
            assert_array_equal(alone, found[d : d + 1])

    @every_model
    def test_jobs_and_chunks_have_no_effect(self, model, monkeypatch):
        expected = given(model).log_likelihood(CORPUS, n_particles=3)
        monkeypatch.setattr(_likelihood, "_CHUNK_TOKENS", 30)
        for n_jobs in (None, 2):
            found = given(model, n_jobs=n_jobs).log_likelihood(CORPUS, n_particles=3)
            assert_array_equal(found, expected)

    @every_model
    def test_follows_random_state(self, model):
        found = [
            given(model, random_state=seed).log_likelihood(CORPUS, n_particles=3)
            for seed in (0, 0, 1)
        ]
        assert_array_equal(found[0], found[1])
        assert np.all(found[0] != found[2])

    @every_model
    def test_does_not_change_the_estimator(self, model):
        estimator = given(model)
        expected = estimator.log_likelihood(CORPUS, n_particles=3)
        estimator.transform(CORPUS)
        assert_array_equal(estimator.log_likelihood(CORPUS, n_particles=3), expected)

    @pytest.mark.parametrize("model", MODELS[:3])
    def test_sampler_has_no_effect(self, model):
        """The particles' own moves are those of one sampler."""
        found = [
            given(model, sampler=sampler).log_likelihood(CORPUS, n_particles=3)
            for sampler in ("btigs", "ssa")
        ]
        assert_array_equal(*found)

    @every_model
    def test_after_a_fit(self, model):
        fitted = model(3, max_iter=20, n_chains=2, n_samples=2, random_state=0).fit(CORPUS)
        found = fitted.log_likelihood(CORPUS)
        n_tokens = np.diff(CORPUS.segment_ptr[CORPUS.doc_ptr])
        assert np.all(found / n_tokens < -1.0)
        assert np.all(found / n_tokens > -5.0)


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

    def test_log_mean_exp(self):
        assert log_mean_exp(np.array([-2000.0, -2000.0])) == -2000.0
        found = log_mean_exp(np.array([-1000.0, -1001.0, -5000.0]))
        assert found == pytest.approx(-1000.0 + np.log((1.0 + np.exp(-1.0)) / 3.0), rel=1e-14)

    def test_resamples_when_few_particles_count(self):
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

    def test_copies_are_in_proportion_to_weights(self):
        """R v / sum v on average, rounded up or down each time; |z| < 5: false 1 in 10^6."""
        rng = np.array([1, 2, 3, 4], dtype=np.uint64)
        log_weights = np.log([0.7, 9.2, 0.3, 0.1, 0.1, 0.1]) - 900.0
        expected = 6.0 * np.exp(log_weights - np.logaddexp.reduce(log_weights))
        ancestors = np.empty(6, dtype=np.int64)
        copies = []
        for _ in range(20_000):
            resample(log_weights.copy(), ancestors, rng)
            copies.append(np.bincount(ancestors, minlength=6))
        copies = np.array(copies)
        assert np.all(np.abs(copies - expected) < 1.0)
        error = np.maximum(copies.std(axis=0), 1e-9) / np.sqrt(len(copies))
        assert np.all(np.abs(copies.mean(axis=0) - expected) < 5.0 * error)
