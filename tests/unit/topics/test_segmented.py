"""The segmented topic model as an estimator: parameters, bad input, attributes, company."""

import pickle
import warnings

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - importing enables
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdp.data import SegmentedCorpus
from skdp.topics import SegmentedTopicModel

N_WORDS = 12


def make_documents(n_documents=20, seed=0):
    """Return documents whose words are of the lower or the upper half of the vocabulary."""
    rng = np.random.default_rng(seed)
    documents, labels = [], []
    for d in range(n_documents):
        label = d % 2
        low = label * N_WORDS // 2
        documents.append(
            [rng.integers(low, low + N_WORDS // 2, size=rng.integers(2, 9)) for _ in range(3)]
        )
        labels.append(label)
    return SegmentedCorpus.from_documents(documents, N_WORDS), np.array(labels)


@pytest.fixture(scope="module")
def corpus():
    return make_documents()[0]


@pytest.fixture(scope="module")
def fitted(corpus):
    return SegmentedTopicModel(2, max_iter=60, random_state=0).fit(corpus)


def quick(**params):
    return SegmentedTopicModel(**{"n_components": 2, "max_iter": 6, "random_state": 0, **params})


class TestBadInput:
    """Errors name what is wrong, come before any work and leave the estimator as it was."""

    parameters = pytest.mark.parametrize(
        ("name", "value"),
        [
            ("n_components", 0),
            ("n_components", 2.0),
            ("n_components", "2"),
            ("doc_topic_prior", 0.0),
            ("doc_topic_prior", -1.0),
            ("doc_topic_prior", np.nan),
            ("doc_topic_prior", np.inf),
            ("doc_topic_prior", "automatic"),
            ("doc_topic_prior", [1.0, 0.0]),
            ("doc_topic_prior", [1.0, 1.0, 1.0]),
            ("doc_topic_prior", [1.0, np.nan]),
            ("doc_topic_prior", ["a", "b"]),
            ("doc_topic_prior", [[1.0, 1.0]]),
            ("topic_word_prior", 0.0),
            ("topic_word_prior", "0.1"),
            ("topic_word_prior", np.inf),
            ("dirichlet_prior", 1.0),
            ("dirichlet_prior", (1.0,)),
            ("dirichlet_prior", (1.0, 0.0)),
            ("dirichlet_prior", (1.0, "2")),
            ("dirichlet_prior", (np.nan, 1.0)),
            ("discount", 1.0),
            ("discount", -0.1),
            ("discount", "0"),
            ("concentration", 0.0),
            ("concentration", -3),
            ("concentration", np.inf),
            ("concentration", "10"),
            ("concentration", None),
            ("concentration_prior", (0.0, 1.0)),
            ("concentration_prior", "ab"),
            ("sampler", "gibbs"),
            ("sampler", None),
            ("init", "LDA"),
            ("init", np.ones((3, N_WORDS))),
            ("init", -np.ones((2, N_WORDS))),
            ("init", np.zeros((2, N_WORDS))),
            ("max_iter", 0),
            ("max_iter", 1.5),
            ("burn_in", 6),
            ("burn_in", 7),
            ("burn_in", -1),
            ("thin", 0),
            ("n_samples", 0),
            ("n_chains", 0),
            ("transform_max_iter", 0),
            ("transform_burn_in", 100),
            ("warm_start", "yes"),
            ("n_jobs", "2"),
            ("n_jobs", 0),
            ("random_state", -1),
            ("random_state", "seed"),
            ("verbose", -1),
        ],
    )

    @parameters
    def test_parameters(self, corpus, name, value):
        model = quick(**{name: value})
        for run in (model.fit, model.iter_sweeps):
            before = dict(vars(model))
            with pytest.raises((ValueError, TypeError), match=name):
                run(corpus)
            assert vars(model) == before

    @parameters
    def test_parameters_of_a_fitted_model(self, corpus, fitted, name, value):
        model = pickle.loads(pickle.dumps(fitted)).set_params(**{"max_iter": 6, name: value})
        before = dict(vars(model))
        with pytest.raises((ValueError, TypeError), match=name):
            model.fit(corpus)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[key] is value for key, value in before.items())

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (np.array([[1, -1]]), "[Nn]egative"),
            (np.array([[1.5, 1.0]]), "count"),
            (np.array([[np.nan, 1.0]]), "NaN"),
            (np.array([[np.inf, 1.0]]), "infinity"),
            (csr_matrix([[0.5, 1.0]]), "count"),
            (TfidfVectorizer().fit_transform(["a cat sat", "a dog sat"]), "count"),
            (np.zeros((0, 3)), "0 sample"),
            (np.zeros((3, 0)), "0 feature"),
            (np.zeros((3, 2)), "no tokens"),
            ([], "0 sample"),
            ([[[]], []], "no tokens"),
            ([[[0, -1]]], "document 0, segment 0"),
            ([[[0], [1.5]]], "document 0, segment 1"),
            ([[[0]], [["word"]]], "document 1, segment 0"),
            (["a text", "another"], "SegmentVectorizer"),
            ([["a text", "in segments"], ["another"]], "SegmentVectorizer"),
            ("a text", "."),
            (None, "."),
            (np.ones(3), "1D|1-D|2D"),
            (np.ones((2, 2, 2)), "dim"),
        ],
    )
    def test_data(self, X, message):
        model = quick()
        before = dict(vars(model))
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(X)
        assert vars(model) == before
        with pytest.raises((ValueError, TypeError), match=message):
            model.iter_sweeps(X)

    def test_a_word_more_frequent_than_counts_can_hold(self, monkeypatch):
        monkeypatch.setattr("skdp.topics._shared._arrays.MAX_COUNT", 8)
        model = quick().set_params(n_components=1)
        model.fit([[[0] * 7, [1]]])
        model = clone(model)
        with pytest.raises(ValueError, match="The word 0 occurs 8 times or more in topic 0"):
            model.fit([[[0] * 8, [1]]])
        assert not hasattr(model, "n_features_in_")

    def test_word_ids_out_of_range(self):
        with pytest.raises(ValueError, match="document 1, segment 0"):
            SegmentedCorpus.from_documents([[[0]], [[7]]], n_features=5)

    @pytest.mark.parametrize("method", ["transform", "transform_segments", "score", "perplexity"])
    def test_another_vocabulary(self, fitted, method):
        run = getattr(fitted, method)
        for X in (np.ones((2, N_WORDS + 1)), SegmentedCorpus.from_documents([[[0]]], 3)):
            with pytest.raises(ValueError, match="features"):
                run(X)
        with pytest.raises(ValueError, match="document 0, segment 0"):
            run([[[0, N_WORDS]]])

    @pytest.mark.parametrize(
        "method", ["transform", "transform_segments", "score", "score_samples", "perplexity"]
    )
    def test_not_fitted(self, corpus, method):
        with pytest.raises(NotFittedError):
            getattr(quick(), method)(corpus)
        with pytest.raises(NotFittedError):
            quick().top_words()

    def test_nothing_to_score(self, fitted):
        with pytest.raises(ValueError, match="no tokens to score"):
            fitted.score([[[0], [1]], [[]]])
        assert_array_equal(fitted.score_samples([[[0], [1]], [[]]]), [0.0, 0.0])


class TestAttributes:
    def test_shapes_and_sums(self, corpus, fitted):
        n_segments = len(corpus.segment_ptr) - 1
        assert fitted.components_.shape == (2, N_WORDS)
        assert fitted.doc_topic_.shape == (len(corpus), 2)
        assert fitted.segment_topic_.shape == (n_segments, 2)
        assert fitted.transform_segments(corpus).shape == (n_segments, 2)
        for shares in (fitted.components_, fitted.doc_topic_, fitted.segment_topic_):
            assert_allclose(shares.sum(axis=1), 1.0)
        assert fitted.n_features_in_ == N_WORDS
        assert fitted.n_iter_ == 60
        assert fitted.get_feature_names_out().tolist() == [
            "segmentedtopicmodel0",
            "segmentedtopicmodel1",
        ]

    def test_it_finds_what_is_there(self, fitted):
        _, labels = make_documents()
        half = fitted.components_[:, : N_WORDS // 2].sum(axis=1)
        low = int(np.argmax(half))
        assert half[low] > 0.9
        assert half[1 - low] < 0.1
        assert_array_equal(fitted.doc_topic_[:, low] > 0.5, labels == 0)

    def test_kept_sweeps(self, corpus):
        model = quick(max_iter=23, burn_in=4, thin=5, n_samples=3).fit(corpus)
        assert_array_equal(model.trace_.sweeps, [5, 10, 15, 20, 23])
        assert len(model._models) == 3

    def test_fixed_parameters_stay(self, corpus):
        prior = np.array([0.2, 0.7])
        model = quick(
            doc_topic_prior=prior, topic_word_prior=0.3, concentration=4, discount=0.25
        ).fit(corpus)
        assert_allclose(model.doc_topic_prior_, prior)
        assert model.topic_word_prior_ == pytest.approx(0.3)
        assert model.concentration_ == pytest.approx(4.0)
        assert model.discount_ == 0.25
        assert np.ptp(model.trace_["concentration"]) == 0
        assert_array_equal(prior, [0.2, 0.7])

    def test_learned_parameters_move(self, corpus):
        model = quick(max_iter=40).fit(corpus)
        for name in ("concentration", "doc_topic_prior_sum", "topic_word_prior"):
            assert np.ptp(model.trace_[name]) > 0
        assert np.ptp(model.doc_topic_prior_) > 0
        symmetric = quick(max_iter=40, doc_topic_prior="auto-symmetric").fit(corpus)
        assert np.ptp(symmetric.trace_["doc_topic_prior_sum"]) > 0
        assert np.ptp(symmetric.doc_topic_prior_) == pytest.approx(0.0, abs=1e-12)

    def test_averages_are_over_the_best_chain(self, corpus):
        model = quick(n_chains=3, max_iter=20, thin=2).fit(corpus)
        means = model.trace_["log_joint"].mean(axis=1)
        best = model.trace_["concentration"][np.argmax(means)].mean()
        assert model.concentration_ == pytest.approx(best)
        assert len(model._models) == 15

    def test_first_chain_does_not_depend_on_the_number_of_chains(self, corpus):
        one, three = (quick(n_chains=n, max_iter=12).fit(corpus) for n in (1, 3))
        assert_array_equal(one.trace_["log_joint"][0], three.trace_["log_joint"][0])

    def test_state_is_a_live_read_only_view(self, corpus):
        sweeps = quick(n_components=5).iter_sweeps(corpus)
        state = next(sweeps)
        copy = state.copy()
        for array in (state.topics, state.tables_to_document, state.doc_topic_prior):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        assert state.log_joint() == copy.log_joint()
        before = copy.topics.copy()
        joint = copy.log_joint()
        for _ in sweeps:
            pass
        assert_array_equal(copy.topics, before)
        assert copy.log_joint() == joint
        assert not np.array_equal(state.topics, before)
        assert state.tables_to_previous.shape == state.tables_to_document.shape
        assert not state.tables_to_previous.any()

    def test_given_topics_start_the_chain(self, corpus, fitted):
        model = quick(init=fitted.components_).fit(corpus)
        assert_allclose(model.components_, fitted.components_, atol=0.15)
        swapped = quick(init=fitted.components_[::-1]).fit(corpus)
        assert_allclose(swapped.components_[::-1], fitted.components_, atol=0.15)


class TestFromTopics:
    components = np.array([[4, 3, 2, 1], [1, 1, 1, 7]]) / 10

    def test_it_is_fitted(self):
        model = SegmentedTopicModel.from_topics(
            self.components, doc_topic_prior=0.5, concentration=2.0, random_state=0
        )
        documents = [[[0, 1, 0], [3]], [[3, 3, 3, 3]], []]
        assert_allclose(model.components_, self.components)
        assert model.transform(documents).shape == (3, 2)
        assert np.isfinite(model.score(documents))
        assert clone(model).n_components == 2
        assert model.get_feature_names_out().shape == (2,)
        assert_allclose(model.transform(documents)[2], [0.5, 0.5])

    def test_rows_are_normalized(self):
        params = {"doc_topic_prior": 0.5, "random_state": 0}
        first = SegmentedTopicModel.from_topics(self.components, **params)
        second = SegmentedTopicModel.from_topics(30 * self.components, **params)
        assert_array_equal(first.transform([[[0, 3]]]), second.transform([[[0, 3]]]))

    @pytest.mark.parametrize(
        ("components", "params", "message"),
        [
            ([[0.5, 0.5]], {"doc_topic_prior": "auto"}, "doc_topic_prior"),
            ([[0.5, 0.5]], {}, "doc_topic_prior"),
            ([[0.5, -0.5]], {"doc_topic_prior": 1.0}, "components"),
            ([[0.0, 0.0]], {"doc_topic_prior": 1.0}, "components"),
            ([[0.5, np.nan]], {"doc_topic_prior": 1.0}, "components"),
            ([0.5, 0.5], {"doc_topic_prior": 1.0}, "2D|components"),
            ([[0.5, 0.5]], {"doc_topic_prior": 1.0, "n_components": 3}, "n_components"),
            ([[0.5, 0.5]], {"doc_topic_prior": [1.0, 2.0]}, "doc_topic_prior"),
            ([[0.5, 0.5]], {"doc_topic_prior": 1.0, "discount": "auto"}, "discount"),
        ],
    )
    def test_bad_input(self, components, params, message):
        with pytest.raises((ValueError, TypeError), match=message):
            SegmentedTopicModel.from_topics(components, **params)

    def test_impossible_words_say_nothing(self):
        model = SegmentedTopicModel.from_topics(
            [[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]], doc_topic_prior=1.0, concentration=1.0
        )
        shares = model.transform([[[2, 2, 2]]])
        assert_allclose(shares, [[0.5, 0.5]], atol=0.2)
        assert np.isfinite(model.transform([[[0, 2, 1]]])).all()
        assert_array_equal(np.isinf(model.score_samples([[[2, 2]], [[0, 1]]])), [True, False])
        given_or_scored = np.isinf(model.score_samples([[[0] * n + [2]] for n in range(1, 9)]))
        assert set(given_or_scored) == {True, False}


class TestTopWords:
    def test_order_and_names(self, fitted):
        names = [f"word{i}" for i in range(N_WORDS)]
        top = fitted.top_words(names, 3)
        assert [len(row) for row in top] == [3, 3]
        for row, topic in zip(top, fitted.components_, strict=True):
            assert row == [names[i] for i in np.argsort(-topic)[:3]]

    def test_default_names(self, fitted):
        assert isinstance(fitted.top_words()[0][0], int)
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(np.eye(3, dtype=int) * 4, columns=["a", "b", "c"])
        assert set(quick().fit(frame).top_words(n=3)[0]) == {"a", "b", "c"}

    def test_bad_names(self, fitted):
        with pytest.raises(ValueError, match="feature_names"):
            fitted.top_words(["a", "b"])
        for n in (0, -1, "2"):
            with pytest.raises(ValueError, match="n must be"):
                fitted.top_words(n=n)


class TestInCompany:
    """In pipelines, searches, other backends, pickles and frames."""

    def test_pipeline_grid_search_over_concentration(self):
        corpus, labels = make_documents(24)
        pipeline = make_pipeline(quick(max_iter=20), LogisticRegression())
        grid = {
            "segmentedtopicmodel__concentration": [1.0, "auto"],
            "segmentedtopicmodel__n_components": [1, 2],
        }
        search = GridSearchCV(pipeline, grid, cv=3, n_jobs=2).fit(corpus, labels)
        assert search.best_params_["segmentedtopicmodel__n_components"] == 2
        assert search.score(corpus, labels) == 1.0

    def test_groups_and_splits(self):
        corpus, labels = make_documents(24)
        groups = np.arange(24) // 4
        result = cross_validate(
            quick(), corpus, labels, groups=groups, cv=GroupKFold(3), return_train_score=True
        )
        assert np.isfinite(result["test_score"]).all()
        train, test = train_test_split(corpus, random_state=0)
        assert len(train) == 18
        assert np.isfinite(quick().fit(train).score(test))

    def test_union_and_pandas_output(self, corpus):
        pytest.importorskip("pandas")
        union = FeatureUnion(
            [("two", quick()), ("three", quick(n_components=3)), ("n", FunctionTransformer(len_))]
        )
        assert union.fit_transform(corpus).shape == (len(corpus), 6)
        frame = quick().set_output(transform="pandas").fit_transform(corpus)
        assert list(frame.columns) == ["segmentedtopicmodel0", "segmentedtopicmodel1"]

    def test_count_vectorizer(self):
        texts = ["a cat sat on a mat", "the dog sat", "a cat and a dog"]
        pipeline = make_pipeline(CountVectorizer(), quick())
        assert pipeline.fit_transform(texts).shape == (3, 2)

    def test_pickle(self, corpus, fitted):
        again = pickle.loads(pickle.dumps(fitted))
        assert_array_equal(again.transform(corpus), fitted.transform(corpus))
        assert_array_equal(again.score_samples(corpus), fitted.score_samples(corpus))

    @pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
    def test_backends(self, corpus, fitted, backend):
        expected = quick(n_chains=2).fit(corpus)
        with parallel_config(backend, n_jobs=2), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # loky's complaints about leaked semaphores
            got = quick(n_chains=2).fit(corpus)
            shares = fitted.transform(corpus)
        assert_array_equal(got.trace_["log_joint"], expected.trace_["log_joint"])
        assert_array_equal(got.components_, expected.components_)
        assert_array_equal(shares, fitted.transform(corpus))


def len_(corpus):
    return np.array([[len(document)] for document in corpus])


def test_many_topics_and_one(corpus):
    for n_components in (1, 15, 16, 17, 70):
        model = quick(n_components=n_components).fit(corpus)
        assert_allclose(model.transform(corpus).sum(axis=1), 1.0)


@pytest.mark.parametrize("sampler", ["btigs", "cmgs", "ssa"])
@pytest.mark.parametrize("concentration", [1e-6, 1e8])
@pytest.mark.parametrize("discount", [0.0, 0.999])
def test_extreme_parameters(corpus, sampler, concentration, discount):
    model = quick(
        sampler=sampler,
        concentration=concentration,
        discount=discount,
        doc_topic_prior=1e-6,
        topic_word_prior=1e-6,
    ).fit(corpus)
    for array in (model.components_, model.doc_topic_, model.segment_topic_):
        assert np.isfinite(array).all()
        assert (array >= 0).all()
    assert np.isfinite(model.trace_["log_joint"]).all()
    assert np.isfinite(model.score(corpus))


@pytest.mark.parametrize("prior", [(1e8, 1e-8), (1e-8, 1e8)])
def test_extreme_hyper_priors(corpus, prior):
    model = quick(max_iter=20, dirichlet_prior=prior, concentration_prior=prior).fit(corpus)
    assert model.trace_["n_active_components"].min() == 2
    assert np.isfinite(model.trace_["log_joint"]).all()
    assert np.isfinite(model.score(corpus))


def test_halving_over_sweeps():
    corpus, labels = make_documents(24)
    search = HalvingGridSearchCV(
        quick(), {"n_components": [1, 2, 3]}, resource="max_iter", max_resources=40, cv=2
    ).fit(corpus, labels)
    assert search.best_estimator_.max_iter == search.n_resources_[-1]
