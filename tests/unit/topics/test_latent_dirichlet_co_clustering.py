"""Latent Dirichlet co-clustering as an estimator: parameters, bad input, attributes, labels."""

import pickle
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdp.data import SegmentedCorpus
from skdp.topics import LatentDirichletCoClustering
from skdp.topics._ldcc._averages import CoClusterAverages

N_WORDS = 12


def make_documents(n_documents=20, seed=0):
    """Return documents of segments of two kinds: of words 0 to 5, and of words 3 to 11.

    The first kind prevails in every other document.
    """
    rng = np.random.default_rng(seed)
    documents, kinds = [], []
    for d in range(n_documents):
        kinds.append(rng.random(6) < (0.9 if d % 2 else 0.1))
        documents.append(
            [rng.integers(*((0, 6) if kind else (3, 12)), size=15) for kind in kinds[-1]]
        )
    return SegmentedCorpus.from_documents(documents, N_WORDS), np.array(kinds)


@pytest.fixture(scope="module")
def corpus():
    return make_documents()[0]


@pytest.fixture(scope="module")
def fitted(corpus):
    return LatentDirichletCoClustering(3, 2, max_iter=100, random_state=0).fit(corpus)


def quick(**params):
    params = {"n_components": 3, "n_document_topics": 2, "max_iter": 6, **params}
    return LatentDirichletCoClustering(**{"random_state": 0, **params})


class TestBadInput:
    """Errors name what is wrong, come before any work and leave the estimator as it was."""

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("n_components", 0),
            ("n_components", 2.0),
            ("n_document_topics", 0),
            ("n_document_topics", 2.0),
            ("n_document_topics", None),
            ("document_topic_prior", 0.0),
            ("document_topic_prior", np.nan),
            ("document_topic_prior", "automatic"),
            ("document_topic_prior", [1.0, 1.0, 1.0]),
            ("document_topic_prior", [1.0, -1.0]),
            ("document_topic_prior", [[1.0, 1.0]]),
            ("segment_topic_prior", 0.0),
            ("segment_topic_prior", 1e9),
            ("segment_topic_prior", None),
            ("segment_topic_prior", "auto-symmetric"),
            ("segment_topic_prior", []),
            ("segment_topic_prior", [1.0, 1.0]),
            ("segment_topic_prior", [1.0, np.nan, 1.0]),
            ("segment_topic_prior", ["a", "b", "c"]),
            ("segment_topic_prior", [[1.0, 1.0, 1.0]]),
            ("segment_topic_prior", [[1.0, 1.0, 1.0], [1.0, 1.0]]),
            ("segment_topic_prior", np.ones((3, 2))),
            ("segment_topic_prior", np.zeros((2, 3))),
            ("segment_topic_prior", np.ones((1, 2, 3))),
            ("topic_word_prior", 0.0),
            ("dirichlet_prior", (1.0, 0.0)),
            ("init", "lda"),
            ("init", np.ones((2, N_WORDS))),
            ("burn_in", 6),
            ("n_shards", 0),
            ("transform_burn_in", 100),
        ],
    )
    def test_parameters(self, corpus, name, value):
        model = quick(**{name: value})
        for run in (model.fit, model.iter_sweeps):
            before = dict(vars(model))
            with pytest.raises((ValueError, TypeError), match=name):
                run(corpus)
            assert vars(model) == before

    @pytest.mark.parametrize("X", [np.array([[1, -1]]), np.zeros((3, 2)), [], None, ["a text"]])
    def test_data(self, X):
        model = quick()
        before = dict(vars(model))
        with pytest.raises((ValueError, TypeError)):
            model.fit(X)
        assert vars(model) == before

    @pytest.mark.parametrize("method", ["transform", "transform_segments", "score"])
    def test_not_fitted(self, corpus, method):
        with pytest.raises(NotFittedError):
            getattr(quick(), method)(corpus)


class TestAttributes:
    def test_shapes_and_sums(self, corpus, fitted):
        n_segments = len(corpus.segment_ptr) - 1
        assert fitted.components_.shape == (3, N_WORDS)
        assert fitted.document_topic_prior_.shape == (2,)
        assert fitted.segment_topic_prior_.shape == (2, 3)
        for shares in (fitted.doc_topic_, fitted.transform(corpus)):
            assert shares.shape == (len(corpus), 2)
            assert_allclose(shares.sum(axis=1), 1.0)
        for shares in (fitted.segment_topic_, fitted.transform_segments(corpus)):
            assert shares.shape == (n_segments, 3)
            assert_allclose(shares.sum(axis=1), 1.0)
        assert_allclose(fitted.components_.sum(axis=1), 1.0)
        assert fitted.get_feature_names_out().tolist() == [
            "latentdirichletcoclustering0",
            "latentdirichletcoclustering1",
        ]
        frame = pytest.importorskip("pandas").DataFrame
        assert isinstance(quick().set_output(transform="pandas").fit_transform(corpus), frame)

    def test_it_finds_what_is_there(self, corpus, fitted):
        _, kinds = make_documents()
        first = int(np.argmax(fitted.doc_topic_[kinds.mean(axis=1).argmax()]))
        assert_array_equal(fitted.doc_topic_[:, first] > 0.5, kinds.mean(axis=1) > 0.5)
        assert_array_equal(fitted.transform(corpus)[:, first] > 0.5, kinds.mean(axis=1) > 0.5)
        *_, state = quick(max_iter=100).iter_sweeps(corpus)
        same = (state.segment_clusters == state.segment_clusters[0]) == kinds.ravel()[0]
        assert np.mean(same == kinds.ravel()) > 0.95

    def test_fixed_parameters_stay(self, corpus):
        rows = np.array([[0.2, 0.7, 0.1], [0.5, 0.1, 3.0]])
        given = {"document_topic_prior": [0.2, 0.7], "topic_word_prior": 0.3}
        model = quick(segment_topic_prior=rows, **given).fit(corpus)
        assert_allclose(model.segment_topic_prior_, rows)
        assert_allclose(model.document_topic_prior_, [0.2, 0.7])
        assert model.topic_word_prior_ == pytest.approx(0.3)
        assert_array_equal(rows, [[0.2, 0.7, 0.1], [0.5, 0.1, 3.0]])

    @pytest.mark.parametrize("given", [0.5, [0.5, 0.5, 0.5], np.full((2, 3), 0.5)])
    def test_one_number_or_row_stands_for_all(self, corpus, given):
        expected = quick(segment_topic_prior=0.5).fit(corpus)
        model = quick(segment_topic_prior=given).fit(corpus)
        assert_array_equal(model.segment_topic_prior_, np.full((2, 3), 0.5))
        assert_array_equal(model.components_, expected.components_)

    def test_learned_parameters_move(self, corpus, fitted):
        for name in ("document_topic_prior_sum", "segment_topic_prior_sum", "topic_word_prior"):
            assert np.ptp(fitted.trace_[name]) > 0
        assert np.ptp(fitted.document_topic_prior_) > 0
        symmetric = quick(document_topic_prior="auto-symmetric").fit(corpus)
        assert np.ptp(symmetric.trace_["document_topic_prior_sum"]) > 0
        assert np.ptp(symmetric.document_topic_prior_) == pytest.approx(0.0, abs=1e-12)

    def test_a_document_topic_without_segments_keeps_its_row(self):
        state = next(quick(n_document_topics=30).iter_sweeps([[[0, 1], [2]], [[1]]]))
        unused = np.setdiff1d(np.arange(30), state.segment_clusters)
        assert np.all(state.segment_topic_prior[unused] == 0.1)

    def test_state_is_a_live_read_only_view(self, corpus):
        sweeps = quick().iter_sweeps(corpus)
        state = next(sweeps)
        copy = state.copy()
        for name in "topics segment_clusters document_topic_prior segment_topic_prior".split():
            with pytest.raises(ValueError, match="read-only"):
                getattr(state, name)[...] = 0
        before, joint = copy.segment_clusters.copy(), copy.log_joint()
        assert state.log_joint() == joint
        for _ in sweeps:
            pass
        assert_array_equal(copy.segment_clusters, before)
        assert copy.log_joint() == joint
        assert not np.array_equal(state.segment_clusters, before)

    def test_given_topics_start_the_chain(self, corpus, fitted):
        model = quick(init=fitted.components_[::-1], max_iter=20).fit(corpus)
        assert_allclose(model.components_[::-1], fitted.components_, atol=0.2)

    def test_pickle(self, corpus, fitted):
        again = pickle.loads(pickle.dumps(fitted))
        assert_array_equal(again.transform(corpus), fitted.transform(corpus))
        assert_array_equal(again.score_samples(corpus), fitted.score_samples(corpus))


class TestShards:
    def test_they_do_not_depend_on_jobs(self, corpus):
        one, two = (quick(n_shards=3, n_jobs=n, max_iter=20).fit(corpus) for n in (1, 2))
        assert_array_equal(one.trace_["log_joint"], two.trace_["log_joint"])
        assert_array_equal(one.segment_topic_, two.segment_topic_)
        assert one.doc_topic_.shape == (len(corpus), 2)

    def test_more_shards_than_documents(self):
        documents = [[[0, 1], []], [[2, 2, 1]]]
        model = quick(n_shards=5).fit(documents)
        assert_allclose(model.doc_topic_.sum(axis=1), 1.0)
        *_, state = quick(n_shards=5).iter_sweeps(documents)
        assert state.segment_clusters.shape == (3,)


class TestLabels:
    """The means of a chain follow its labels, of both kinds."""

    class Moving:
        """A chain whose labels trade places, and nothing else moves."""

        topics_trade_places = clusters_trade_places = True
        seeded = np.arange(0)

        def __init__(self):
            self.topic_axes = {"segment_topic": 1, "segment_topic_prior": 1}
            self.cluster_axes = {"doc_topic": 1, "segment_topic_prior": 0}
            rng = np.random.default_rng(0)
            self.phi = rng.dirichlet(np.full(20, 0.1), 3)
            self.rows = rng.dirichlet(np.full(3, 0.3), 4) * rng.gamma(2.0, size=(4, 1))
            self.doc_topic = rng.dirichlet(np.ones(4), 5)
            self.segment_topic = rng.dirichlet(np.ones(3), 6)
            self.topics, self.clusters = np.arange(3), np.arange(4)

        def components(self):
            return self.phi[self.topics]

        @property
        def segment_topic_prior(self):
            return self.rows[np.ix_(self.clusters, self.topics)]

        def empty_sums(self):
            return {
                "doc_topic": np.zeros((5, 4)),
                "segment_topic": np.zeros((6, 3)),
                "segment_topic_prior": np.zeros((4, 3)),
            }

        def add_to(self, sums):
            sums["doc_topic"] += self.doc_topic[:, self.clusters]
            sums["segment_topic"] += self.segment_topic[:, self.topics]
            sums["segment_topic_prior"] += self.segment_topic_prior

    def test_means(self):
        chain, averages = self.Moving(), CoClusterAverages()
        for topics in permutations(range(3)):
            for clusters in permutations(range(4)):
                chain.topics, chain.clusters = np.array(topics), np.array(clusters)
                averages.add(chain)
        means = averages.means(in_place=False)
        assert_allclose(means["components_"], chain.components())
        assert_allclose(means["doc_topic_"], chain.doc_topic[:, chain.clusters])
        assert_allclose(means["segment_topic_"], chain.segment_topic[:, chain.topics])
        assert_allclose(means["segment_topic_prior_"], chain.segment_topic_prior)

    @pytest.mark.parametrize(
        ("prior", "topics", "clusters"),
        [
            ({}, True, True),
            ({"document_topic_prior": "auto-symmetric"}, True, True),
            ({"document_topic_prior": 0.5}, True, True),
            ({"document_topic_prior": [0.5, 0.7]}, True, False),
            ({"segment_topic_prior": 0.5}, True, False),
            ({"segment_topic_prior": [0.5, 0.2, 0.2]}, False, False),
            ({"segment_topic_prior": [[0.5] * 3, [0.2] * 3]}, True, False),
        ],
    )
    def test_given_priors_tell_them_apart(self, corpus, prior, topics, clusters):
        sampler = next(quick(**prior).iter_sweeps(corpus))._sampler
        assert sampler.topics_trade_places == topics
        assert sampler.clusters_trade_places == clusters


class TestFromTopics:
    components = np.array([[4, 3, 2, 1], [1, 1, 1, 7]]) / 10
    rows = np.array([[2.0, 0.1], [0.1, 2.0], [1.0, 1.0]])

    def test_it_is_fitted(self):
        model = LatentDirichletCoClustering.from_topics(
            self.components,
            document_topic_prior=0.5,
            segment_topic_prior=self.rows,
            random_state=0,
        )
        documents = [[[0, 1, 0], [3]], [[3, 3, 3, 3]], []]
        assert model.n_document_topics == 3
        assert model.transform(documents).shape == (3, 3)
        assert model.transform_segments(documents).shape == (3, 2)
        assert np.isfinite(model.score(documents))
        assert model.get_feature_names_out().shape == (3,)

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"document_topic_prior": 1.0}, "segment_topic_prior"),
            ({"segment_topic_prior": 1.0}, "document_topic_prior"),
            ({"segment_topic_prior": "auto", "document_topic_prior": 1.0}, "segment_topic_prior"),
            ({"segment_topic_prior": rows, "n_document_topics": 2}, "segment_topic_prior"),
            ({"segment_topic_prior": rows.T, "document_topic_prior": 1.0}, "segment_topic_prior"),
            ({"segment_topic_prior": [[1.0], [1.0, 2.0]]}, "segment_topic_prior"),
        ],
    )
    def test_bad_input(self, params, message):
        with pytest.raises(ValueError, match=message):
            LatentDirichletCoClustering.from_topics(self.components, **params)


def test_pipeline_and_search():
    corpus, kinds = make_documents(24)
    pipeline = make_pipeline(quick(max_iter=60), LogisticRegression())
    grid = {"latentdirichletcoclustering__n_document_topics": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(corpus, kinds.mean(axis=1) > 0.5)
    assert search.best_params_ == {"latentdirichletcoclustering__n_document_topics": 2}


@pytest.mark.parametrize("n_components", [1, 16, 17])
@pytest.mark.parametrize("n_document_topics", [1, 40])
def test_numbers_of_topics(corpus, n_components, n_document_topics):
    model = quick(n_components=n_components, n_document_topics=n_document_topics).fit(corpus)
    assert_allclose(model.transform(corpus).sum(axis=1), 1.0)
    assert_allclose(model.transform_segments(corpus).sum(axis=1), 1.0)


@pytest.mark.parametrize("prior", [1e-8, 1e8])
def test_extreme_parameters(corpus, prior):
    rows = np.array([[prior] * 3, [1e-8, 1.0, 1e8]])
    model = quick(document_topic_prior=prior, segment_topic_prior=rows, topic_word_prior=prior)
    model.fit(corpus)
    for array in (model.components_, model.doc_topic_, model.segment_topic_):
        assert np.isfinite(array).all()
        assert (array >= 0).all()
    assert np.isfinite(model.trace_["log_joint"]).all()
    assert np.isfinite(model.score(corpus))


@pytest.mark.parametrize("prior", [(1e8, 1e-8), (1e-8, 1e8)])
def test_extreme_hyper_priors(corpus, prior):
    model = quick(max_iter=20, dirichlet_prior=prior).fit(corpus)
    assert np.isfinite(model.trace_["log_joint"]).all()
    assert np.isfinite(model.score(corpus))


def test_a_long_segment():
    """Counts beyond the tables of rising factorials."""
    rng = np.random.default_rng(0)
    documents = [[rng.integers(0, 6, 900), []], [rng.integers(3, 12, 1200), [0]]]
    model = quick(max_iter=30).fit(documents)
    assert np.isfinite(model.score(documents))
    assert_allclose(model.transform_segments(documents).sum(axis=1), 1.0)
