"""Table models with an inferred number of topics as estimators: topics that come and go."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skdp._numeric._numba import njit
from skdp._numeric._random import derive_stream
from skdp.datasets import make_segmented_corpus
from skdp.inspection import ComponentCountDisplay
from skdp.topics import AdaptiveTopicModel, SegmentedTopicModel, SequentialLDA
from skdp.topics._hdp._kernels_moves import Division
from skdp.topics._tables._kernels_open_moves import Blocks, seat_anchors, sweep_sides
from skdp.topics._tables._open_moves import seat
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
MODELS = [SegmentedTopicModel, AdaptiveTopicModel]
SAMPLERS = ["btigs", "cmgs", "ssa"]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def quick(model=SegmentedTopicModel, **params):
    return model("auto", **{"max_iter": 10, "random_state": 0, **params})


class TestBadInput:
    @pytest.mark.parametrize("model", MODELS)
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("n_components", "learned"),
            ("n_components", 0),
            ("doc_topic_prior", 0.1),
            ("doc_topic_prior", "auto-symmetric"),
            ("doc_topic_prior", [0.1, 0.2]),
            ("document_concentration", 0.0),
            ("document_concentration", 1e9),
            ("document_concentration", True),
            ("document_concentration", "learned"),
            ("document_concentration", [1.0]),
            ("document_concentration_prior", (1.0, 0.0)),
            ("document_concentration_prior", "auto"),
            ("top_concentration", -1.0),
            ("top_concentration", 1e5),
            ("top_concentration", None),
            ("top_concentration_prior", (1.0,)),
            ("init", "k-means"),
            ("init", np.ones((3, 29))),
            ("init", -np.ones((3, 30))),
            ("init", np.ones(30)),
            ("initial_components", 0),
            ("initial_components", 2.5),
            ("initial_components", None),
            ("initial_components", "many"),
        ],
    )
    def test_parameters(self, model, name, value):
        estimator = quick(model).set_params(**{name: value})
        before = dict(vars(estimator))
        for run in (estimator.fit, estimator.iter_sweeps):
            with pytest.raises(ValueError, match=name):
                run(CORPUS)
            assert vars(estimator) == before

    @pytest.mark.parametrize("model", MODELS)
    def test_parameters_of_a_number_that_is_given_are_checked(self, model):
        with pytest.raises(ValueError, match="top_concentration"):
            model(3, top_concentration=0.0).fit(CORPUS)

    def test_too_many_first_topics(self):
        with pytest.raises((ValueError, MemoryError), match="initial_components"):
            quick(initial_components=10**12).fit(CORPUS)

    def test_sequential_lda_refuses(self):
        with pytest.raises(ValueError, match="'n_components' parameter of SequentialLDA"):
            SequentialLDA("auto").fit(CORPUS)

    def test_given_topics_have_a_number(self):
        topics = TRUTH.components
        with pytest.raises(ValueError, match="3 topics, but n_components is auto"):
            SegmentedTopicModel.from_topics(topics, n_components="auto", doc_topic_prior="auto")


class TestAttributes:
    @pytest.mark.parametrize("sampler", SAMPLERS)
    @pytest.mark.parametrize("model", MODELS)
    def test_shapes_and_sums(self, model, sampler):
        estimator = quick(model, sampler=sampler).fit(CORPUS)
        k, n_segments = estimator.n_components_, len(CORPUS.segment_ptr) - 1
        assert estimator.components_.shape == (k, 30)
        assert estimator.doc_topic_.shape == estimator.transform(CORPUS).shape == (20, k)
        assert estimator.segment_topic_.shape == (n_segments, k)
        for shares in (
            estimator.components_,
            estimator.doc_topic_,
            estimator.segment_topic_,
            estimator.transform(CORPUS),
            estimator.transform_segments(CORPUS),
        ):
            assert_allclose(shares.sum(axis=1), 1.0)
        assert 0.0 < estimator.weights_.sum() < 1.0
        prior = estimator.document_concentration_ * estimator.weights_
        assert_allclose(estimator.doc_topic_prior_, prior)
        assert estimator.n_components_distribution_.sum() == pytest.approx(1.0)
        assert np.isfinite(estimator.score(CORPUS))
        assert np.isfinite(estimator.log_likelihood(CORPUS, n_particles=2)).all()
        assert len(estimator.top_words(n=3)) == k
        assert len(estimator.get_feature_names_out()) == k
        if model is AdaptiveTopicModel:
            assert estimator.segment_mixing_.shape == (n_segments,)
            assert_array_equal(estimator.mixing_prior_, [1.0, 1.0])

    @pytest.mark.parametrize("model", MODELS)
    def test_the_best_sample_is_shown(self, model):
        """Its topics are ordered by their words, and all attributes are of one sample."""
        estimator = quick(model, max_iter=30, burn_in=9, thin=1, discount="auto")
        joints, states = [], []
        for state in estimator.iter_sweeps(CORPUS):
            joints.append(state.log_joint())
            states.append(state.copy())
        best = states[9 + int(np.argmax(joints[9:]))]
        estimator.fit(CORPUS)
        assert estimator.n_components_ == len(best.top_weights) == best.topics.max() + 1
        sizes = np.bincount(best.topics)
        order = np.argsort(-sizes, kind="stable")
        assert_allclose(estimator.weights_, best.top_weights[order])
        assert estimator.document_concentration_ == best.document_concentration
        assert estimator.top_concentration_ == best.top_concentration
        assert estimator.concentration_ == best.concentration
        assert estimator.discount_ == best.discount
        assert estimator.topic_word_prior_ == best.topic_word_prior
        counts = np.zeros((len(sizes), 30))
        np.add.at(counts, (best.topics, CORPUS.tokens), 1.0)
        expected = counts[order] + best.topic_word_prior
        assert_allclose(estimator.components_, expected / expected.sum(axis=1, keepdims=True))
        served = np.add.reduceat(best.tables_to_document, CORPUS.doc_ptr[:-1], axis=0)
        mu = served + best.doc_topic_prior
        mu /= mu.sum(axis=1, keepdims=True)
        assert_allclose(estimator.doc_topic_, mu[:, order])

    @pytest.mark.parametrize("scope", ["document", "segment"])
    def test_own_concentrations(self, scope):
        estimator = quick(concentration_scope=scope).fit(CORPUS)
        n = {"document": 20, "segment": len(CORPUS.segment_ptr) - 1}[scope]
        assert estimator.concentration_.shape == (n,)
        assert np.isfinite(estimator.score(CORPUS))

    def test_given_concentrations_stay(self):
        params = {"document_concentration": 2, "top_concentration": 0.5, "concentration": 3.0}
        estimator = quick(**params).fit(CORPUS)
        assert estimator.document_concentration_ == 2.0
        assert estimator.top_concentration_ == 0.5
        assert estimator.concentration_ == 3.0
        assert np.ptp(estimator.trace_["document_concentration"]) == 0.0
        learned = quick().fit(CORPUS)
        assert learned.document_concentration_ != 1.0
        assert learned.top_concentration_ != 1.0

    def test_a_given_number_takes_them_away(self):
        estimator = quick().fit(CORPUS)
        ComponentCountDisplay.from_estimator(estimator)
        estimator.set_params(n_components=3).fit(CORPUS)
        for name in ("n_components_", "n_components_distribution_", "weights_"):
            assert not hasattr(estimator, name)
        assert estimator.components_.shape == (3, 30)
        assert "n_components" not in estimator.trace_

    def test_state_is_a_live_read_only_view(self):
        sweeps = quick(AdaptiveTopicModel).iter_sweeps(CORPUS)
        state = next(sweeps)
        copy, joint, before = state.copy(), state.log_joint(), state.topics.copy()
        tables = state.tables_to_document
        assert tables.shape == state.tables_to_previous.shape
        assert tables.shape[1] == len(state.top_weights) == len(state.doc_topic_prior)
        for array in (state.topics, state.top_weights, tables, state.doc_topic_prior):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        for _ in sweeps:
            pass
        assert_array_equal(copy.topics, before)
        assert copy.log_joint() == joint
        assert not np.array_equal(state.topics, before)


class TestTopicsComeAndGo:
    @pytest.mark.parametrize(
        ("model", "sampler", "n_shards", "initial_components"),
        [
            (SegmentedTopicModel, "btigs", 1, 60),
            (SegmentedTopicModel, "cmgs", 1, 5),
            (SegmentedTopicModel, "ssa", 1, 1),
            (SegmentedTopicModel, "btigs", 3, 16),
            (AdaptiveTopicModel, "btigs", 2, 5),
            (AdaptiveTopicModel, "ssa", 1, 60),
        ],
    )
    def test_columns_are_the_words(self, model, sampler, n_shards, initial_components):
        """Counts and tables that are kept up from sweep to sweep are those of the topics."""
        estimator = quick(
            model, sampler=sampler, n_shards=n_shards, initial_components=initial_components,
            max_iter=40, top_concentration=30.0, document_concentration=5.0,
        )  # fmt: skip
        numbers = []
        segments = np.repeat(np.arange(len(CORPUS.segment_ptr) - 1), np.diff(CORPUS.segment_ptr))
        for state in estimator.iter_sweeps(CORPUS):
            gibbs = state._sampler
            k = gibbs.n_topics
            counts = np.zeros((k, 30))
            np.add.at(counts, (state.topics, CORPUS.tokens), 1.0)
            assert_array_equal(gibbs.word_counts, counts)
            assert_array_equal(gibbs._words.totals[:k], counts.sum(axis=1))
            assert not gibbs._words.counts[:, k:].any()
            assert not gibbs._words.totals[k:].any()
            assert counts.sum(axis=1).min() > 0
            assert gibbs.weights.sum() + gibbs.rest == pytest.approx(1.0)
            whole = gibbs.assignments
            of_segments = np.zeros((len(whole.tables), k), dtype=int)
            np.add.at(of_segments, (segments, state.topics), 1)
            below = np.zeros_like(of_segments)
            if model is AdaptiveTopicModel:
                below[:-1] = state.tables_to_previous[1:]
            tables = state.tables_to_document + state.tables_to_previous
            assert np.all(tables <= of_segments + below)
            assert_array_equal(tables > 0, of_segments + below > 0)
            for array in (whole.tables, whole.to_previous, whole.document_tables):
                assert not array[:, k:].any()
            if sampler == "ssa":
                assert_array_equal(whole.seat_heads[:, :k] >= 0, tables > 0)
                assert np.all(whole.seat_heads[:, k:] == -1)
            served = np.add.reduceat(state.tables_to_document, CORPUS.doc_ptr[:-1], axis=0)
            assert_array_equal(whole.document_tables[:, :k], served)
            numbers.append(k)
        assert len(set(numbers)) > 3

    @pytest.mark.parametrize("sampler", SAMPLERS)
    def test_shards_and_threads(self, sampler):
        first, second = (
            quick(sampler=sampler, n_shards=3, n_jobs=n, top_concentration=20.0).fit(CORPUS)
            for n in (1, 2)
        )
        assert_array_equal(first.components_, second.components_)
        assert_array_equal(first.trace_["log_joint"], second.trace_["log_joint"])

    @pytest.mark.parametrize("init", [TRUTH.components, "lda"])
    def test_init(self, init):
        estimator = quick(init=init, initial_components=6, max_iter=60).fit(CORPUS)
        overlap = np.sqrt(TRUTH.components) @ np.sqrt(estimator.components_).T
        assert overlap.max(axis=1).min() > 0.9

    def test_init_of_whole_vectors(self):
        """Sixteen topics fill the columns, and one more is asked for at once."""
        init = np.random.default_rng(0).dirichlet(np.ones(30), size=16)
        assert np.isfinite(quick(init=init).fit(CORPUS).score(CORPUS))

    @pytest.mark.parametrize("sampler", SAMPLERS)
    def test_one_word(self, sampler):
        estimator = quick(sampler=sampler).fit([[[0]]])
        assert estimator.n_components_ == 1
        assert_allclose(estimator.transform([[[0]]]), [[1.0]])

    @pytest.mark.parametrize("model", MODELS)
    def test_documents_without_words(self, model):
        estimator = quick(model).fit([[[0, 1, 2], [3]], [], [[]], [[3, 3]]])
        for d in (1, 2):
            expected = estimator.weights_ / estimator.weights_.sum()
            assert_allclose(estimator.doc_topic_[d], expected)

    @pytest.mark.parametrize(
        "params",
        [
            {"document_concentration": 1e-8, "top_concentration": 1e-8},
            {"document_concentration": 1e8, "top_concentration": 500.0},
            {"document_concentration_prior": (1e-8, 1.0), "top_concentration_prior": (1e-8, 1.0)},
            {"concentration": 1e12, "discount": 0.99},
        ],
    )
    def test_ends_of_the_ranges(self, params):
        estimator = quick(**params, burn_in=0, thin=1).fit(CORPUS)
        assert np.isfinite(estimator.trace_["log_joint"]).all()
        assert np.isfinite(estimator.components_).all()

    def test_it_says_that_the_number_falls(self):
        estimator = quick(
            initial_components=60, document_concentration=1.0, top_concentration=3.0,
            topic_word_prior=0.1, max_iter=12, burn_in=0, thin=1,
        )  # fmt: skip
        with pytest.warns(ConvergenceWarning, match="number of topics still falls"):
            estimator.fit(CORPUS)

    @pytest.mark.parametrize("model", MODELS)
    def test_it_says_that_a_fit_from_many_topics_is_not_done(self, model):
        corpus = make_segmented_corpus(
            40, n_components=3, n_features=30, n_segments=5, topic_word_prior=0.05,
            segment_length=6.0, random_state=0,
        ).data  # fmt: skip
        estimator = quick(model, initial_components=66, max_iter=30, burn_in=2, thin=1)
        with pytest.warns(ConvergenceWarning, match="number of topics still falls"):
            estimator.fit(corpus)

    def test_it_goes_on_where_columns_were_added(self):
        """How many columns there are does not matter to a chain."""
        rng = np.random.default_rng(0)
        documents = [[rng.integers(0, 50, 30), rng.integers(0, 50, 30)] for _ in range(30)]
        estimator = quick(
            topic_word_prior=0.01, document_concentration=100.0, top_concentration=300.0,
            initial_components=1, burn_in=0, thin=1,
        )  # fmt: skip
        straight = clone(estimator).set_params(max_iter=6).fit(documents)
        estimator.set_params(max_iter=3, warm_start=True).fit(documents)
        estimator.set_params(max_iter=6).fit(documents)
        assert straight.trace_["n_components"].max() > 100
        assert_array_equal(estimator.trace_["log_joint"], straight.trace_["log_joint"])

    def test_chains_of_different_sizes(self):
        estimator = quick(n_chains=3, max_iter=20).fit(CORPUS)
        assert len({len(stored.doc_topic_prior) for stored in estimator._models}) > 1
        assert np.isfinite(estimator.score(CORPUS))
        numbers = estimator.trace_["n_components"].astype(int)
        assert_array_equal(
            estimator.n_components_distribution_, np.bincount(numbers.ravel()) / numbers.size
        )


class TestMoves:
    @pytest.mark.parametrize("initial_components", [1, 20])
    @pytest.mark.parametrize("model", MODELS)
    def test_finds_topics_without_common_words(self, model, initial_components):
        """Word by word, documents of one topic each would hold to theirs."""
        rng = np.random.default_rng(0)
        documents = [
            rng.integers(10 * k, 10 * k + 10, (2, 25)).tolist() for k in range(4) for _ in range(10)
        ]
        estimator = quick(
            model, initial_components=initial_components, topic_word_prior=0.5, max_iter=60
        ).fit(documents)
        assert estimator.n_components_ == 4

    @pytest.mark.parametrize("discount", [0.0, 0.6])
    def test_seats(self, discount):
        """Five words at two tables: each seating with its probability."""
        gibbs = next(
            quick(discount=discount, init=np.ones((1, 1))).iter_sweeps([[[0] * 5]])
        )._sampler
        state = gibbs.shards[0]
        state.topics[:], state.tables[:], state.document_tables[:] = 0, 0, 0
        state.tables[0, 0] = state.document_tables[0, 0] = 2
        arguments = gibbs._corpora[0], gibbs.shards[0], gibbs._prior(0), gibbs._stirling
        n = 20_000
        alone = pairs = 0
        for _ in range(n):
            seats = seat([0], *arguments, gibbs.streams[0])
            sizes = np.bincount(seats.table)
            assert_array_equal(sizes, seats.size)
            assert len(sizes) == 2
            alone += sizes.min() == 1
            pairs += seats.table[0] == seats.table[4]
        # 5 seatings with tables of 1 and 4 words, 10 with 2 and 3: each table of m has the
        # weight (1 - a) (2 - a) ... (m - 1 - a).
        ones = 5 * np.prod(np.arange(1, 4) - discount)
        twos = 10 * np.prod(np.arange(1, 3) - discount) * (1 - discount)
        assert alone / n == pytest.approx(ones / (ones + twos), abs=0.02)
        expected = (ones * 0.6 + twos * 0.4) / (ones + twos)
        assert pairs / n == pytest.approx(expected, abs=0.02)

    def test_weights_of_blocks(self):
        """Draws of one block's side are as probable as they are said to be."""
        blocks = Blocks(np.array([0, 1, 2, 6]), np.array([0, 1, 0, 0, 1, 0]), np.array([0, 1, 2]))
        division = Division(
            members=np.arange(3),
            sides=np.zeros(3, np.int8),
            found=np.zeros(3, np.int8),
            bound=np.zeros(2, np.int8),
            priors=np.array([0.8, 0.5, 1.3]),
            log_shares=np.zeros(2),
            side_counts=np.zeros((2, 2)),
            side_totals=np.zeros(2),
        )
        pair, stream = np.array([0, 1]), derive_stream(np.random.SeedSequence(0), 0)
        weights = []
        for side in range(2):
            counts = np.array([0.3, 0.3])
            counts[side] += 1.0
            weight = division.priors[side]
            for w in (0, 0, 1, 0):
                weight *= counts[w] / counts.sum()
                counts[w] += 1.0
            weights.append(weight)
        for side in range(2):
            division.side_counts[:] = 0.0
            division.side_totals[:] = 0.0
            division.found[2] = side
            seat_pair_and_replay = sweep_of_sides(pair, blocks, division, stream)
            assert np.exp(seat_pair_and_replay) == pytest.approx(weights[side] / sum(weights))


@njit
def sweep_of_sides(pair, blocks, division, stream):
    """Seat the pair, and replay the other blocks' sides."""
    seat_anchors(3, pair, blocks, division)
    return sweep_sides(3, False, True, pair, blocks, 0.3, division, stream)


@pytest.mark.parametrize("check", [check_resume_after_interruption, check_warm_start_continues])
@pytest.mark.parametrize("params", [{"n_chains": 2}, {"n_shards": 2, "sampler": "ssa"}])
def test_it_goes_on_bit_for_bit(check, params):
    check(quick(**params))


@pytest.mark.parametrize("model", MODELS)
def test_pickle(model):
    estimator = quick(model).fit(CORPUS)
    again = pickle.loads(pickle.dumps(estimator))
    assert_array_equal(again.transform(CORPUS), estimator.transform(CORPUS))
    assert_array_equal(again.score_samples(CORPUS), estimator.score_samples(CORPUS))
