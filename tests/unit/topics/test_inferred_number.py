"""Models that infer the number of topics: topics that come and go, bounds, what is shown."""

from functools import cache, partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from skdp.datasets import make_segmented_corpus
from skdp.topics import AdaptiveTopicModel, HDPTopicModel, SegmentedTopicModel
from skdp.topics._shared import _pilots
from skdp.topics._shared._sampler import BestSample

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

TRUTH = make_segmented_corpus(
    20, n_components=3, n_features=30, n_segments=(1, 5), segment_length=15.0,
    topic_word_prior=0.05, random_state=0,
)  # fmt: skip
CORPUS = TRUTH.data
N_SEGMENTS = len(CORPUS.segment_ptr) - 1
MODELS = {
    "hdp": HDPTopicModel,
    "segmented": partial(SegmentedTopicModel, "auto"),
    "adaptive": partial(AdaptiveTopicModel, "auto"),
}
every_model = pytest.mark.parametrize("name", MODELS)


def make(name, of_documents=None, **params):
    """Return a model; `of_documents` is the concentration of documents."""
    if of_documents is not None:
        params["concentration" if name == "hdp" else "document_concentration"] = of_documents
    start = {"initial_components": 6, "max_iter": 10, "random_state": 0}
    return MODELS[name]().set_params(**{**start, **params})


def concentration_of_documents(model):
    return getattr(model, "document_concentration_", model.concentration_)


@cache
def fitted(name):
    return make(name).fit(CORPUS)


@every_model
def test_attributes(name):
    model = fitted(name)
    assert len(model.components_) == model.n_components_ == len(model.weights_)
    assert 0.0 < model.weights_.sum() < 1.0
    assert_allclose(model.doc_topic_prior_, concentration_of_documents(model) * model.weights_)
    assert model.n_components_distribution_.sum() == pytest.approx(1.0)
    assert concentration_of_documents(model) != 1.0
    assert model.top_concentration_ != 1.0
    if name == "adaptive":
        assert model.segment_mixing_.shape == (N_SEGMENTS,)
    if name == "segmented":
        own = make(name, concentration_scope="segment").fit(CORPUS)
        assert own.concentration_.shape == (N_SEGMENTS,)
        assert np.isfinite(own.score(CORPUS))


@every_model
def test_given_concentrations_stay(name):
    model = make(name, 2, top_concentration=0.5, topic_word_prior=0.2).fit(CORPUS)
    assert concentration_of_documents(model) == 2.0
    assert model.top_concentration_ == 0.5
    assert model.topic_word_prior_ == 0.2
    assert np.ptp(model.trace_["concentration" if name == "hdp" else "document_concentration"]) == 0


@pytest.mark.parametrize(
    ("name", "params"), [("hdp", {}), ("segmented", {"discount": "auto"}), ("adaptive", {})]
)
def test_the_best_sample_is_shown(name, params):
    """Its topics are ordered by their words, and all attributes are of one sample."""
    model = make(name, max_iter=30, burn_in=9, thin=1, **params)
    states = [(state.log_joint(), state.copy()) for state in model.iter_sweeps(CORPUS)]
    _, best = max(states[9:], key=lambda each: each[0])
    model.fit(CORPUS)
    assert model.n_components_ == len(best.top_weights) == best.topics.max() + 1
    sizes = np.bincount(best.topics)
    order = np.argsort(-best._sampler.word_counts.sum(axis=1), kind="stable")
    assert_allclose(model.weights_, best.top_weights[order])
    values = ["concentration", "top_concentration", "topic_word_prior"]
    if name != "hdp":
        values += ["document_concentration", "discount"]
    for value in values:
        assert getattr(model, f"{value}_") == getattr(best, value)
    counts = np.zeros((len(sizes), 30))
    np.add.at(counts, counted_words(best), 1.0)
    expected = counts[order] + best.topic_word_prior
    assert_allclose(model.components_, expected / expected.sum(axis=1, keepdims=True))
    if name != "hdp":
        served = np.add.reduceat(best.tables_to_document, CORPUS.doc_ptr[:-1], axis=0)
        mu = served + best.doc_topic_prior
        assert_allclose(model.doc_topic_, (mu / mu.sum(axis=1, keepdims=True))[:, order])


def counted_words(state):
    """Return the topics and the words that topics count: all, or with bursts one of each table."""
    if getattr(state._sampler, "bursts", None) is None:
        return state.topics, CORPUS.tokens
    _, at = np.unique(state._sampler.shards[0].seats, return_index=True)
    return state.topics[at], CORPUS.tokens[at]


def test_means_are_those_of_one_sample():
    averages = BestSample()
    for state in make("hdp", max_iter=5).iter_sweeps(CORPUS):
        averages.add(state._sampler)
    kept = averages.means(in_place=False)
    kept["weights_"][:] = 0.0
    assert averages.means(in_place=True)["weights_"].min() > 0.0


def test_a_given_number_takes_the_attributes_away():
    model = make("segmented").fit(CORPUS)
    model.set_params(n_components=3).fit(CORPUS)
    for attribute in ("n_components_", "n_components_distribution_", "weights_"):
        assert not hasattr(model, attribute)
    assert model.components_.shape == (3, 30)
    assert "n_components" not in model.trace_


def check_tables(state, sampler):
    """Check that tables which are kept up from sweep to sweep are those of the topics."""
    assignments, k = state._sampler.assignments, state._sampler.n_topics
    customers = np.zeros((N_SEGMENTS, k), dtype=int)
    segments = np.repeat(np.arange(N_SEGMENTS), np.diff(CORPUS.segment_ptr))
    np.add.at(customers, (segments, state.topics), 1)
    customers[:-1] += state.tables_to_previous[1:]
    tables = state.tables_to_document + state.tables_to_previous
    assert np.all(tables <= customers)
    assert_array_equal(tables > 0, customers > 0)
    for array in (assignments.tables, assignments.to_previous, assignments.document_tables):
        assert not array[:, k:].any()
    if sampler == "ssa":
        assert_array_equal(assignments.seat_heads[:, :k] >= 0, tables > 0)
        assert np.all(assignments.seat_heads[:, k:] == -1)
    served = np.add.reduceat(state.tables_to_document, CORPUS.doc_ptr[:-1], axis=0)
    assert_array_equal(assignments.document_tables[:, :k], served)


@pytest.mark.parametrize(
    ("name", "initial_components", "params"),
    [
        ("hdp", 1, {"burst_concentration": None}),
        ("hdp", 60, {}),
        ("segmented", 60, {"sampler": "btigs"}),
        ("segmented", 5, {"sampler": "cmgs"}),
        ("segmented", 1, {"sampler": "ssa"}),
        ("segmented", 16, {"sampler": "btigs", "n_shards": 3}),
        ("adaptive", 5, {"sampler": "btigs", "n_shards": 2}),
        ("adaptive", 60, {"sampler": "ssa"}),
        ("adaptive", 60, {"sampler": "ssa", "burst_concentration": "auto"}),
        ("segmented", 5, {"sampler": "btigs", "burst_concentration": 20.0}),
    ],
    ids=str,
)
def test_columns_are_the_words(name, initial_components, params):
    """Counts that are kept up from sweep to sweep are those of the topics."""
    model = make(
        name, 5.0, initial_components=initial_components, max_iter=40, top_concentration=30.0,
        **params,
    )  # fmt: skip
    numbers = set()
    for state in model.iter_sweeps(CORPUS):
        gibbs = state._sampler
        k = gibbs.n_topics
        counts = np.zeros((k, 30))
        np.add.at(counts, counted_words(state), 1.0)
        assert_array_equal(gibbs.word_counts, counts)
        assert_array_equal(gibbs._words.totals[:k], counts.sum(axis=1))
        assert not gibbs._words.counts[:, k:].any()
        assert not gibbs._words.totals[k:].any()
        assert counts.sum(axis=1).min() > 0
        assert gibbs.weights.sum() + gibbs.rest == pytest.approx(1.0)
        if name != "hdp":
            check_tables(state, params["sampler"])
        numbers.add(k)
    assert len(numbers) > 3


APART = [
    [np.random.default_rng(d).integers(d // 10 * 10, d // 10 * 10 + 10, 50).tolist()]
    for d in range(40)
]
"""Four vocabularies of ten words, ten documents of each."""


@pytest.mark.parametrize(
    ("name", "initial_components", "max_iter"),
    [
        ("hdp", 1, 100), ("hdp", 20, 100), ("segmented", 20, 60), ("adaptive", 1, 60)
    ],
)  # fmt: skip
def test_topics_without_common_words_are_found(name, initial_components, max_iter):
    model = make(
        name, initial_components=initial_components, topic_word_prior=0.5, max_iter=max_iter
    ).fit(APART)
    assert model.n_components_ == 4
    assert model.n_components_distribution_[4] > 0.5
    groups = model.transform(APART).argmax(axis=1).reshape(4, 10)
    assert np.all(groups == groups[:, :1])
    assert len(set(groups[:, 0])) == 4


@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
@every_model
def test_a_number_that_falls_is_said(name):
    params = {"top_concentration": 3.0, "topic_word_prior": 0.1, "initial_components": 66}
    with pytest.warns(ConvergenceWarning, match="number of topics still falls"):
        make(name, 1.0, max_iter=12, burn_in=0, thin=1, **params).fit(CORPUS)


@pytest.mark.parametrize(
    ("name", "init"),
    [("hdp", TRUTH.components), ("segmented", TRUTH.components), ("adaptive", "lda")],
)
def test_first_topics(name, init):
    model = make(name, init=init, max_iter=60).fit(CORPUS)
    overlap = np.sqrt(TRUTH.components) @ np.sqrt(model.components_).T
    assert overlap.max(axis=1).min() > 0.9


@every_model
def test_small_corpora(name):
    """Sixteen topics fill a vector, one word has one topic, and some documents have no words."""
    init = np.random.default_rng(0).dirichlet(np.ones(30), size=16)
    assert np.isfinite(make(name, init=init).fit(CORPUS).score(CORPUS))
    model = make(name).fit([[[0]]])
    assert model.n_components_ == 1
    assert_allclose(model.transform([[[0]]]), [[1.0]])
    model = make(name).fit([[[0, 1, 2], [3]], [], [[]], [[3, 3]]])
    assert_allclose(model.doc_topic_[1:3], [model.weights_ / model.weights_.sum()] * 2)


def test_tiny_drawn_concentrations():
    """Far below 1e-8 no weight is left in single precision, and words go anywhere."""
    model = make(
        "hdp", concentration_prior=(1e-8, 1.0), topic_word_prior=0.1, initial_components=4,
        burn_in=0, thin=1,
    ).fit([[[i % 4]] for i in range(40)])  # fmt: skip
    assert np.ptp(model.trace_["n_components"]) < 15
    assert model.trace_["concentration"].min() >= 1e-8


@pytest.mark.parametrize(("name", "params"), [("hdp", {"split_merge": False}), ("segmented", {})])
def test_fits_continue_where_columns_were_added(name, params):
    """How many columns there are does not matter to a chain."""
    rng = np.random.default_rng(0)
    documents = [[rng.integers(0, 50, 30), rng.integers(0, 50, 30)] for _ in range(30)]
    straight, model = (
        make(
            name, 100.0, topic_word_prior=0.01, top_concentration=300.0, initial_components=1,
            burn_in=0, thin=1, max_iter=6, **params,
        )
        for _ in range(2)
    )  # fmt: skip
    straight.fit(documents)
    model.set_params(max_iter=3, warm_start=True).fit(documents)
    model.set_params(max_iter=6).fit(documents)
    assert straight.trace_["n_components"].max() > 100
    assert_array_equal(model.trace_["log_joint"], straight.trace_["log_joint"])


@pytest.mark.parametrize("name", ["hdp", "segmented"])
def test_chains_of_different_sizes(name):
    model = make(name, n_chains=3, max_iter=20).fit(CORPUS)
    assert len({len(stored.doc_topic_prior) for stored in model._models}) > 1
    assert np.isfinite(model.score(CORPUS))
    numbers = model.trace_["n_components"].astype(int)
    assert len({tuple(row) for row in numbers}) > 1
    expected = np.bincount(numbers.ravel()) / numbers.size
    assert_array_equal(model.n_components_distribution_, expected)


EIGHT = make_segmented_corpus(
    60, components=np.kron(np.eye(8), np.ones((1, 5))), n_segments=3, segment_length=15.0,
    doc_topic_prior=0.3, random_state=0,
).data  # fmt: skip
"""Documents of eight topics that share no word."""


@pytest.mark.filterwarnings("ignore:.*max_components allows")
class TestBound:
    """Fits with at most `max_components` topics."""

    def fit(self, name, X=EIGHT, **params):
        params = {"max_iter": 20, "burn_in": 0, "thin": 1, "initial_components": "auto", **params}
        return make(name, **params).fit(X)

    @pytest.mark.parametrize(
        ("name", "most", "params"),
        [
            ("hdp", 1, {}), ("hdp", np.int64(7), {}), ("segmented", 4, {}), ("adaptive", 1, {}),
            ("segmented", 4, {"n_shards": 3, "initial_components": 4}),
            ("adaptive", 4, {"n_shards": 3, "initial_components": 4}),
        ],
        ids=str,
    )  # fmt: skip
    def test_no_sweep_has_more_topics(self, name, most, params):
        """Topics would come in every sweep."""
        start = {"initial_components": 1, "top_concentration": 20.0, "topic_word_prior": 0.1}
        free, bounded = (
            self.fit(name, max_components=n, **{**start, **params}).trace_["n_components"]
            for n in (None, most)
        )
        assert free.max() > 8
        assert bounded.max() == most

    @every_model
    def test_far_away_it_changes_nothing(self, name):
        bounded, free = (
            self.fit(name, max_components=n, initial_components=9) for n in (10**9, None)
        )
        assert_array_equal(bounded.components_, free.components_)

    @pytest.mark.parametrize("most", [3, 400])
    def test_pilots_do_not_begin_beyond(self, most, monkeypatch):
        begun = []

        class Watched(_pilots.Pilot):
            def __init__(self, sampler, held_out):
                begun.append(sampler.n_initial_topics)
                super().__init__(sampler, held_out)

        monkeypatch.setattr(_pilots, "Pilot", Watched)
        assert self.fit("hdp", max_components=most, max_iter=2).initial_components_ <= most
        assert max(begun) <= most
        assert begun.pop() == 1  # bursts are compared with those of one topic
        assert len(set(begun)) == len(begun)

    @every_model
    def test_a_fit_may_begin_with_as_many(self, name):
        assert self.fit(name, max_components=9, init=np.ones((9, 40))).n_components_ <= 9
        small = self.fit(name, [[[0, 1, 2]]] * 30, max_components=3, max_iter=2)
        assert small.initial_components_ == 3
