"""HDPTopicModel as an estimator: topics that come and go, and what is shown of them."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from skdp.data import SegmentedCorpus
from skdp.datasets import make_segmented_corpus
from skdp.topics import GibbsLDA, HDPTopicModel
from skdp.topics._shared._best_sample import BestSample
from skdp.utils.estimator_checks import (
    check_resume_after_interruption,
    check_warm_start_continues,
)

TRUTH = make_segmented_corpus(
    20,
    n_components=3,
    n_features=30,
    n_segments=(1, 5),
    segment_length=15.0,
    topic_word_prior=0.05,
    random_state=0,
)
CORPUS = TRUTH.data
TOPICS = np.array([[4, 3, 2, 1], [1, 1, 1, 7]]) / 10
APART = [
    [np.random.default_rng(d).integers(d // 10 * 10, d // 10 * 10 + 10, 50).tolist()]
    for d in range(40)
]
"""Four vocabularies of ten words, ten documents of each."""


def quick(**params):
    return HDPTopicModel(**{"max_iter": 10, "random_state": 0, **params})


class TestBadInput:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("level", "word"),
            ("concentration", 0.0),
            ("concentration", 1e-9),
            ("concentration", 1e9),
            ("concentration", True),
            ("concentration", "learned"),
            ("concentration", [1.0]),
            ("concentration_prior", (1.0, 0.0)),
            ("concentration_prior", "auto"),
            ("top_concentration", -1.0),
            ("top_concentration", None),
            ("top_concentration_prior", (1.0,)),
            ("topic_word_prior", 0.0),
            ("dirichlet_prior", (1.0, 0.0)),
            ("init", "lda"),
            ("init", np.ones((3, 29))),
            ("init", -np.ones((3, 30))),
            ("init", np.ones(30)),
            ("initial_components", 0),
            ("initial_components", 2.5),
            ("initial_components", "many"),
            ("split_merge", "yes"),
            ("max_iter", 0),
            ("burn_in", 10),
            ("n_chains", 0),
            ("transform_burn_in", 100),
        ],
    )
    def test_parameters(self, name, value):
        model = quick(**{name: value})
        before = dict(vars(model))
        for run in (model.fit, model.iter_sweeps):
            with pytest.raises(ValueError, match=name):
                run(CORPUS)
            assert vars(model) == before

    def test_no_number_of_topics(self):
        with pytest.raises(TypeError, match="n_components"):
            HDPTopicModel(n_components=10)
        with pytest.raises(TypeError, match="positional"):
            HDPTopicModel(10)

    def test_too_many_first_topics(self):
        with pytest.raises((ValueError, MemoryError), match="initial_components"):
            quick(initial_components=10**12).fit(CORPUS)

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({}, "concentration must be given as a number"),
            ({"concentration": -1.0}, "concentration must be 'auto' or a number from 1e-08"),
        ],
    )
    def test_given_topics(self, params, message):
        with pytest.raises(ValueError, match=message):
            HDPTopicModel.from_topics(TOPICS, **params)

    def test_not_fitted(self):
        with pytest.raises(NotFittedError):
            quick().transform(CORPUS)


class TestAttributes:
    @pytest.mark.parametrize("level", ["document", "segment"])
    def test_shapes_and_sums(self, level):
        model = quick(level=level).fit(CORPUS)
        k, n_segments = model.n_components_, len(CORPUS.segment_ptr) - 1
        assert model.components_.shape == (k, 30)
        assert model.doc_topic_.shape == model.transform(CORPUS).shape == (len(CORPUS), k)
        assert model.segment_topic_.shape == (n_segments, k)
        for shares in (
            model.components_,
            model.doc_topic_,
            model.segment_topic_,
            model.transform(CORPUS),
            model.transform_segments(CORPUS),
        ):
            assert_allclose(shares.sum(axis=1), 1.0)
        assert 0.0 < model.weights_.sum() < 1.0
        assert_allclose(model.doc_topic_prior_, model.concentration_ * model.weights_)
        assert model.n_components_distribution_.sum() == pytest.approx(1.0)
        assert np.isfinite(model.score(CORPUS))
        assert np.isfinite(model.log_likelihood(CORPUS, n_particles=2)).all()
        assert len(model.top_words(n=3)) == k

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_the_best_sample_is_shown(self):
        """Its topics are ordered by their words, and all attributes are of one sample."""
        model = quick(max_iter=30, burn_in=9, thin=1)
        joints, states = [], []
        for state in model.iter_sweeps(CORPUS):
            joints.append(state.log_joint())
            states.append(state.copy())
        best = states[9 + int(np.argmax(joints[9:]))]
        model.fit(CORPUS)
        assert model.n_components_ == len(best.top_weights) == best.topics.max() + 1
        sizes = np.bincount(best.topics)
        order = np.argsort(-sizes, kind="stable")
        assert_allclose(model.weights_, best.top_weights[order])
        assert model.concentration_ == best.concentration
        assert model.top_concentration_ == best.top_concentration
        assert model.topic_word_prior_ == best.topic_word_prior
        counts = np.zeros((len(sizes), 30))
        np.add.at(counts, (best.topics, CORPUS.tokens), 1.0)
        expected = counts[order] + best.topic_word_prior
        assert_allclose(model.components_, expected / expected.sum(axis=1, keepdims=True))

    def test_means_are_those_of_one_sample(self):
        averages = BestSample()
        for state in quick(max_iter=5).iter_sweeps(CORPUS):
            averages.add(state._sampler)
        kept = averages.means(in_place=False)
        kept["weights_"][:] = 0.0
        assert averages.means(in_place=True)["weights_"].min() > 0.0

    def test_given_concentrations_stay(self):
        model = quick(concentration=2, top_concentration=0.5, topic_word_prior=0.2).fit(CORPUS)
        assert (model.concentration_, model.top_concentration_) == (2.0, 0.5)
        assert model.topic_word_prior_ == 0.2
        assert np.ptp(model.trace_["concentration"]) == 0.0
        learned = quick().fit(CORPUS)
        assert learned.concentration_ != 1.0
        assert learned.top_concentration_ != 1.0

    def test_state_is_a_live_read_only_view(self):
        sweeps = quick().iter_sweeps(CORPUS)
        state = next(sweeps)
        copy, joint, before = state.copy(), state.log_joint(), state.topics.copy()
        for array in (state.topics, state.top_weights):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        for _ in sweeps:
            pass
        assert_array_equal(copy.topics, before)
        assert copy.log_joint() == joint
        assert not np.array_equal(state.topics, before)


class TestTopicsComeAndGo:
    @pytest.mark.parametrize("initial_components", [1, 5, 60])
    def test_columns_are_the_words(self, initial_components):
        """Counts that are kept up from move to move are those of the topics."""
        model = quick(
            initial_components=initial_components, max_iter=40, top_concentration=30.0,
            concentration=5.0,
        )  # fmt: skip
        numbers = []
        for state in model.iter_sweeps(CORPUS):
            sampler = state._sampler
            k = sampler.n_topics
            counts = np.zeros((k, 30))
            np.add.at(counts, (state.topics, CORPUS.tokens), 1.0)
            assert_array_equal(sampler.word_counts, counts)
            assert_array_equal(sampler._words.totals[:k], counts.sum(axis=1))
            assert not sampler._words.counts[:, k:].any()
            assert not sampler._words.totals[k:].any()
            assert counts.sum(axis=1).min() > 0
            assert sampler.weights.sum() + sampler.rest == pytest.approx(1.0)
            numbers.append(k)
        assert len(set(numbers)) > 3

    @pytest.mark.parametrize("initial_components", [1, 4, 20])
    def test_finds_topics_without_common_words(self, initial_components):
        model = quick(
            initial_components=initial_components, topic_word_prior=0.5, max_iter=150
        ).fit(APART)
        assert model.n_components_ == 4
        assert model.n_components_distribution_[4] > 0.5
        groups = model.transform(APART).argmax(axis=1).reshape(4, 10)
        assert np.all(groups == groups[:, :1])
        assert len(set(groups[:, 0])) == 4

    def test_moves_mend_what_words_cannot(self):
        """Word by word, topics that share a vocabulary and no document do not become one."""
        params = {"initial_components": 20, "topic_word_prior": 0.5, "max_iter": 150}
        with_moves = quick(**params).fit(APART)
        without = quick(**params, split_merge=False).fit(APART)
        assert with_moves.n_components_ == 4
        assert without.n_components_ > 4

    @pytest.mark.filterwarnings("ignore:.*log joint")
    def test_a_number_that_falls_is_said(self):
        model = quick(
            initial_components=60, concentration=1.0, top_concentration=3.0, topic_word_prior=0.1,
            max_iter=12, burn_in=0, thin=1,
        )  # fmt: skip
        with pytest.warns(ConvergenceWarning, match="number of topics still falls"):
            model.fit(CORPUS)

    def test_init_of_given_topics(self):
        model = quick(init=TRUTH.components, max_iter=60).fit(CORPUS)
        overlap = np.sqrt(TRUTH.components) @ np.sqrt(model.components_).T
        assert overlap.max(axis=1).min() > 0.9

    def test_one_word(self):
        model = quick().fit([[[0]]])
        assert model.n_components_ == 1
        assert_allclose(model.transform([[[0]]]), [[1.0]])

    def test_documents_without_words(self):
        model = quick().fit([[[0, 1, 2], [3]], [], [[]], [[3, 3]]])
        for d in (1, 2):
            assert_allclose(model.doc_topic_[d], model.weights_ / model.weights_.sum())

    def test_tiny_drawn_concentrations(self):
        """Far below 1e-8 no weight is left in single precision, and words go anywhere."""
        model = quick(
            concentration_prior=(1e-8, 1.0), topic_word_prior=0.1, initial_components=4,
            burn_in=0, thin=1,
        ).fit([[[i % 4]] for i in range(40)])  # fmt: skip
        assert np.ptp(model.trace_["n_components"]) < 15
        assert model.trace_["concentration"].min() >= 1e-8

    def test_it_goes_on_where_columns_were_added(self):
        """How many columns there are does not matter to a chain."""
        rng = np.random.default_rng(0)
        documents = [[rng.integers(0, 50, 60)] for _ in range(30)]
        model = quick(
            topic_word_prior=0.01, concentration=100.0, top_concentration=300.0,
            initial_components=1, split_merge=False, burn_in=0, thin=1,
        )  # fmt: skip
        with pytest.warns(ConvergenceWarning, match="too few sweeps after the burn-in"):
            straight = clone(model).set_params(max_iter=6).fit(documents)
        model.set_params(max_iter=3, warm_start=True).fit(documents)
        model.set_params(max_iter=6).fit(documents)
        assert straight.trace_["n_components"].max() > 100
        assert_array_equal(model.trace_["log_joint"], straight.trace_["log_joint"])

    def test_chains_of_different_sizes(self):
        model = quick(n_chains=3, max_iter=20).fit(CORPUS)
        sizes = [len(stored.doc_topic_prior) for stored in model._models]
        assert len(set(sizes)) > 1
        assert np.isfinite(model.score(CORPUS))
        again = quick(n_chains=3, max_iter=20, n_jobs=2).fit(CORPUS)
        assert_array_equal(again.components_, model.components_)
        numbers = model.trace_["n_components"].astype(int)
        assert len({tuple(row) for row in numbers}) > 1
        assert_array_equal(
            model.n_components_distribution_, np.bincount(numbers.ravel()) / numbers.size
        )


class TestFromTopics:
    def test_it_is_fitted(self):
        documents = ([[0, 1, 0], [3]], [[3, 3, 3, 3]], [])
        model = HDPTopicModel.from_topics(TOPICS, concentration=2.0, random_state=0)
        assert model.n_components_ == 2
        assert_allclose(model.transform(documents)[2], [0.5, 0.5])
        lda = GibbsLDA.from_topics(TOPICS, doc_topic_prior=1.0, random_state=0)
        assert_array_equal(lda.transform(documents), model.transform(documents))
        assert clone(model).concentration == 2.0


@pytest.mark.parametrize("check", [check_resume_after_interruption, check_warm_start_continues])
@pytest.mark.parametrize("n_chains", [1, 2])
def test_it_goes_on_bit_for_bit(check, n_chains):
    check(quick(n_chains=n_chains))


def test_pickle():
    model = quick().fit(CORPUS)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform(CORPUS), model.transform(CORPUS))
    assert_array_equal(again.score_samples(CORPUS), model.score_samples(CORPUS))


def test_both_kinds_of_corpus():
    flat = SegmentedCorpus.from_documents([[np.concatenate(d)] for d in CORPUS], 30)
    first, second = (quick(level=level).fit(flat) for level in ("document", "segment"))
    assert_array_equal(first.components_, second.components_)
