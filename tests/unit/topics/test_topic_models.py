"""What holds for all topic models: shares, states, first and given topics, shards, sizes, ends."""

import time
from functools import cache, partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skdp.data import SegmentedCorpus
from skdp.datasets import make_segmented_corpus
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    HDPTopicModel,
    LatentDirichletCoClustering,
    SectionedTopicModel,
    SegmentedTopicModel,
    SequentialLDA,
    TopicSegmenter,
)
from skdp.topics._kernels._lda import SPARSE_FROM
from skdp.utils.estimator_checks import check_resume_after_interruption, check_warm_start_continues

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

TRUTH = make_segmented_corpus(
    20, n_components=3, n_features=30, n_segments=(1, 5), segment_length=15.0,
    topic_word_prior=0.05, random_state=0,
)  # fmt: skip
CORPUS = TRUTH.data
N_SEGMENTS = len(CORPUS.segment_ptr) - 1
MODELS = {
    "segmented": partial(SegmentedTopicModel, 3),
    "sequential": partial(SequentialLDA, 3, sampler="cmgs"),
    "adaptive": partial(AdaptiveTopicModel, 3, sampler="ssa"),
    "sectioned": partial(SectionedTopicModel, 3),
    "LDA": partial(GibbsLDA, 3),
    "LDA of segments": partial(GibbsLDA, 3, level="segment"),
    "LDA by lists": partial(GibbsLDA, SPARSE_FROM),
    "power law": partial(GibbsLDA, 3, topic_word_discount="auto", topic_word_base="shared"),
    "bursts": partial(GibbsLDA, 3, burst_concentration="auto", burst_discount="auto"),
    "bursts, adaptive": partial(
        AdaptiveTopicModel, 3, burst_concentration="auto", burst_discount="auto"
    ),
    "bursts, sectioned": partial(
        SectionedTopicModel, 3, burst_concentration="auto", burst_scope="segment"
    ),
    "bursts, open": partial(
        SegmentedTopicModel, "auto", initial_components=6, burst_concentration="auto"
    ),
    "co-clustering": partial(LatentDirichletCoClustering, 3, 2),
    "segmenter": partial(TopicSegmenter, 3, init="random"),
    "HDP": partial(HDPTopicModel, initial_components=6),
    "HDP without bursts": partial(HDPTopicModel, initial_components=6, burst_concentration=None),
    "HDP of segments": partial(HDPTopicModel, level="segment", initial_components=6),
    "open": partial(SegmentedTopicModel, "auto", sampler="ssa", initial_components=6),
    "open, adaptive": partial(AdaptiveTopicModel, "auto", sampler="cmgs", initial_components=6),
}
every_model = pytest.mark.parametrize("name", MODELS)


def make(name, **params):
    return MODELS[name](max_iter=6, random_state=0).set_params(**params)


@cache
def fitted(name):
    return make(name).fit(CORPUS)


@every_model
def test_shares(name):
    model = fitted(name)
    k, prefix = len(model.components_), type(model).__name__.lower()
    n_columns = 2 if name == "co-clustering" else k
    for shares, shape in (
        (model.components_, (k, 30)),
        (model.doc_topic_, (len(CORPUS), n_columns)),
        (model.transform(CORPUS), (len(CORPUS), n_columns)),
        (model.segment_topic_, (N_SEGMENTS, k)),
        (model.transform_segments(CORPUS), (N_SEGMENTS, k)),
    ):
        assert shares.shape == shape
        assert_allclose(shares.sum(axis=1), 1.0)
        assert np.all(shares > 0.0)
    assert (model.n_features_in_, model.n_iter_) == (30, 6)
    assert model.get_feature_names_out().tolist() == [f"{prefix}{i}" for i in range(n_columns)]
    assert np.isfinite(model.trace_["log_joint"]).all()
    assert np.isfinite(model.score(CORPUS))
    if hasattr(model, "log_likelihood"):
        assert np.isfinite(model.log_likelihood(CORPUS, n_particles=2)).all()


def arrays_of(state):
    values = {name: getattr(state, name) for name in dir(state) if not name.startswith("_")}
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


@every_model
def test_states_are_live_read_only_views(name):
    sweeps = make(name).iter_sweeps(CORPUS)
    state = next(sweeps)
    copied, joint = state.copy(), state.log_joint()
    before = {key: array.copy() for key, array in arrays_of(state).items()}
    for array in arrays_of(state).values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    for _ in sweeps:
        pass
    assert arrays_of(copied).keys() == before.keys()
    for key, array in arrays_of(copied).items():
        assert_array_equal(array, before[key], err_msg=key)
    assert copied.log_joint() == joint
    assert not np.array_equal(state.topics, before["topics"])


OF_DOCUMENTS = {"doc_topic_prior": [0.5, 1.0, 0.5], "mean": [0.25, 0.5, 0.25]}
OF_BOTH = {
    "document_topic_prior": [1.5, 0.5], "mean": [0.75, 0.25],
    "segment_topic_prior": np.array([[2.0, 0.1, 0.1], [0.1, 2.0, 1.0]]),
}  # fmt: skip
GIVEN = {
    "segmented": (SegmentedTopicModel, OF_DOCUMENTS),
    "sequential": (SequentialLDA, {"sampler": "cmgs", **OF_DOCUMENTS}),
    "adaptive": (AdaptiveTopicModel, {"sampler": "ssa", **OF_DOCUMENTS}),
    "sectioned": (SectionedTopicModel, {"concentration": 2.0, **OF_DOCUMENTS}),
    "LDA": (GibbsLDA, OF_DOCUMENTS),
    "LDA of segments": (GibbsLDA, {"level": "segment", **OF_DOCUMENTS}),
    "HDP": (HDPTopicModel, {"concentration": 2.0, "mean": [1 / 3] * 3}),
    "co-clustering": (LatentDirichletCoClustering, OF_BOTH),
}


@pytest.mark.parametrize("name", GIVEN)
def test_given_topics(name):
    """Their rows are normalized; documents without words have the mean of the prior."""
    cls, params = GIVEN[name]
    params = {"random_state": 0, **params}
    mean = params.pop("mean")
    model = cls.from_topics(TRUTH.components, **params)
    documents = [[[0, 1, 0], [3], [29, 29]], [[3, 3, 3, 3]], []]
    shares = model.transform(documents)
    assert_allclose(model.components_, TRUTH.components)
    assert_allclose(shares.sum(axis=1), 1.0)
    assert_allclose(shares[2], mean)
    assert len(model.get_feature_names_out()) == len(mean)
    assert model.transform_segments(documents).shape == (4, 3)
    assert np.isfinite(model.score(documents))
    assert not hasattr(model, "segment_mixing_")
    assert clone(model).get_params().get("n_components", 3) == 3
    again = cls.from_topics(4.0 * TRUTH.components, **params)
    assert_array_equal(again.transform(documents), shares)


def test_impossible_words_say_nothing():
    model = SegmentedTopicModel.from_topics(
        [[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]], doc_topic_prior=1.0, concentration=1.0
    )
    assert_allclose(model.transform([[[2, 2, 2]]]), [[0.5, 0.5]], atol=0.2)
    assert np.isfinite(model.transform([[[0, 2, 1]]])).all()
    assert_array_equal(np.isinf(model.score_samples([[[2, 2]], [[0, 1]]])), [True, False])
    given_or_scored = np.isinf(model.score_samples([[[0] * n + [2]] for n in range(1, 9)]))
    assert set(given_or_scored) == {True, False}


@pytest.mark.parametrize(
    ("name", "n_shards"),
    [
        ("segmented", 1), ("segmented", 4), ("sequential", 3), ("adaptive", 3), ("sectioned", 1),
        ("LDA", 1), ("LDA", 3), ("LDA of segments", 3), ("co-clustering", 1), ("power law", 1),
        ("segmenter", 1), ("bursts", 1), ("bursts", 3), ("bursts, adaptive", 1),
        ("bursts, adaptive", 3), ("bursts, sectioned", 1),
    ],
)  # fmt: skip
def test_topics_to_start_from(name, n_shards):
    """Topics keep the order of those given, and come close to the truth."""
    given = TRUTH.components[[2, 0, 1]]
    model = make(name, init=given, max_iter=40)
    if n_shards > 1:
        model.set_params(n_shards=n_shards)
    assert np.abs(model.fit(CORPUS).components_ - given).mean() < 0.007


TABLE_MODELS = ["segmented", "sequential", "adaptive"]


@pytest.mark.parametrize("name", TABLE_MODELS)
def test_topics_of_lda_to_start_from(name):
    """Chains start where random topics get to, and each has topics of its own."""
    first, random = (
        next(make(name, init=init).iter_sweeps(CORPUS)).log_joint() for init in ("lda", "random")
    )
    assert first > random + 20.0
    model = make(name, init="lda", n_chains=2, n_shards=3).fit(CORPUS)
    assert len(np.unique(model.trace_["log_joint"][:, 0])) == 2


@pytest.mark.parametrize("scope", ["corpus", "document", "segment"])
@pytest.mark.parametrize("name", TABLE_MODELS)
def test_scopes_of_concentrations(name, scope):
    """What is learned is that of all in its scope; a given number holds everywhere."""
    model = make(name, concentration_scope=scope).fit(CORPUS)
    found = model.concentration_
    assert np.shape(found) == {"corpus": (), "document": (20,), "segment": (N_SEGMENTS,)}[scope]
    assert isinstance(found, float if scope == "corpus" else np.ndarray)
    assert len(np.unique(found)) == np.size(found)
    assert np.min(found) > 0
    assert np.ptp(model.trace_["concentration"]) > 0
    assert_array_equal(model.transform(CORPUS[3:4])[0], model.transform(CORPUS)[3])
    assert np.isfinite(model.score(CORPUS))
    one, other = (
        make(name, concentration=3.0, **params).fit(CORPUS)
        for params in ({}, {"concentration_scope": scope})
    )
    assert np.all(other.concentration_ == 3.0)
    assert_array_equal(other.components_, one.components_)
    assert_array_equal(other.transform(CORPUS), one.transform(CORPUS))


@pytest.mark.parametrize("name", TABLE_MODELS)
def test_prior_of_a_given_discount_has_no_effect(name):
    first, second = (
        make(name, discount=0.3, **params).fit(CORPUS)
        for params in ({}, {"discount_prior": (5.0, 2.0)})
    )
    assert_array_equal(first.trace_["log_joint"], second.trace_["log_joint"])
    assert_array_equal(first.segment_topic_, second.segment_topic_)
    assert first.discount_ == second.discount_ == 0.3


@pytest.mark.parametrize(
    ("name", "prior", "given"),
    [
        ("segmented", "doc_topic_prior", [0.2, 0.7, 0.1]),
        ("LDA", "doc_topic_prior", [0.2, 0.7, 0.1]),
        ("co-clustering", "document_topic_prior", [0.2, 0.7]),
    ],
)
def test_learned_and_given_priors(name, prior, given):
    learned = make(name, max_iter=30).fit(CORPUS)
    assert np.ptp(learned.trace_["topic_word_prior"]) > 0
    assert np.ptp(learned.trace_[f"{prior}_sum"]) > 0
    assert np.ptp(getattr(learned, f"{prior}_")) > 0
    symmetric = make(name, max_iter=30, **{prior: "auto-symmetric"}).fit(CORPUS)
    assert np.ptp(symmetric.trace_[f"{prior}_sum"]) > 0
    assert np.ptp(getattr(symmetric, f"{prior}_")) == pytest.approx(0.0, abs=1e-12)
    array = np.array(given)
    model = make(name, topic_word_prior=0.3, **{prior: array}).fit(CORPUS)
    assert_allclose(getattr(model, f"{prior}_"), given)
    assert model.topic_word_prior_ == pytest.approx(0.3)
    assert_array_equal(array, given)


def test_averages_are_over_the_best_chain():
    one, three = (make("segmented", n_chains=n, max_iter=20, thin=2).fit(CORPUS) for n in (1, 3))
    joints = three.trace_["log_joint"]
    best = three.trace_["concentration"][np.argmax(joints.mean(axis=1))].mean()
    assert three.concentration_ == pytest.approx(best)
    assert len(three._models) == 15
    assert_array_equal(one.trace_["log_joint"][0], joints[0])


@pytest.mark.parametrize(
    "name", ["segmented", "sequential", "adaptive", "LDA", "LDA by lists", "co-clustering"]
)
def test_numbers_of_shards(name):
    """One is the default; there may be more than documents."""
    one, two = (make(name, n_shards=n).fit(CORPUS) for n in (1, 2))
    assert_array_equal(one.components_, fitted(name).components_)
    assert not np.array_equal(two.components_, one.components_)
    assert_allclose(make(name, n_shards=7).fit(CORPUS[:1]).doc_topic_.sum(axis=1), 1.0)
    model = make(name, n_shards=50).fit([[], *CORPUS, [[]], []])
    assert len(model.doc_topic_) == 23
    assert_allclose(model.doc_topic_.sum(axis=1), 1.0)


CONTINUED = [
    SegmentedTopicModel(3, n_shards=3, discount="auto", init="lda", random_state=0),
    SequentialLDA(3, n_shards=3, sampler="cmgs", discount="auto", random_state=0),
    AdaptiveTopicModel(3, n_shards=2, sampler="ssa", mixing_prior="auto", random_state=0),
    SegmentedTopicModel("auto", n_shards=2, sampler="ssa", random_state=0),
    GibbsLDA(20, n_shards=3, random_state=0),
    GibbsLDA(SPARSE_FROM, n_shards=3, random_state=0),
    GibbsLDA(3, topic_word_discount="auto", topic_word_base="shared", random_state=0),
    TopicSegmenter(12, random_state=0),
]
"""Fits to which tests/common/test_estimators.py has no equals."""


@pytest.mark.parametrize("check", [check_resume_after_interruption, check_warm_start_continues])
@pytest.mark.parametrize("model", CONTINUED, ids=repr)
def test_fits_that_continue_have_the_bits_of_one_fit(model, check):
    check(model)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        *(("segmented", {"n_components": n}) for n in (1, 15, 16, 17, 70)),
        *(("adaptive", {"n_components": n, "init": "lda"}) for n in (1, 40)),
        *(("LDA", {"n_components": n}) for n in (1, SPARSE_FROM - 1, SPARSE_FROM + 1)),
        *(
            ("co-clustering", {"n_components": n, "n_document_topics": m})
            for n, m in ((1, 40), (16, 1), (17, 40), (1, 1))
        ),
    ],
)
def test_numbers_of_topics(name, params):
    for state in make(name, **params).iter_sweeps(CORPUS):
        assert state.topics.min() >= 0
        assert state.topics.max() < params["n_components"]
        assert np.isfinite(state.log_joint())
    model = make(name, **params).fit(CORPUS)
    assert_allclose(model.transform(CORPUS).sum(axis=1), 1.0)
    assert_allclose(model.transform_segments(CORPUS).sum(axis=1), 1.0)


SMALL, LARGE = 1e-8, 1e8
SPARSE = {"doc_topic_prior": 1e-6, "topic_word_prior": 1e-6}
ENDS = [
    *(
        ("segmented", {"sampler": sampler, "concentration": b, "discount": a, **SPARSE})
        for sampler, b, a in (
            ("btigs", 1e-6, 0.999), ("btigs", LARGE, 0.0), ("cmgs", 1e-6, 0.0),
            ("cmgs", LARGE, 0.999), ("ssa", 1e-6, 0.999), ("ssa", LARGE, 0.0),
        )
    ),
    *(
        (name, {"max_iter": 20, **{f"{of}_prior": prior for of in learned}})
        for name, *learned in (("segmented", "dirichlet", "concentration"),
                               ("co-clustering", "dirichlet"))
        for prior in ((LARGE, SMALL), (SMALL, LARGE))
    ),
    *(
        (
            "co-clustering",
            {
                "document_topic_prior": prior, "topic_word_prior": prior,
                "segment_topic_prior": [[prior] * 3, [SMALL, 1.0, LARGE]],
            },
        )
        for prior in (SMALL, LARGE)
    ),
    ("open", {"document_concentration": SMALL, "top_concentration": SMALL}),
    ("open", {"document_concentration": LARGE, "top_concentration": 500.0}),
    ("open", {f"{of}_concentration_prior": (SMALL, 1.0) for of in ("document", "top")}),
    ("open", {"concentration": 1e12, "discount": 0.99}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "params"), ENDS)
def test_ends_of_the_ranges_of_parameters(name, params):
    model = make(name, burn_in=0, thin=1, **params).fit(CORPUS)
    for array in (model.components_, model.doc_topic_, model.segment_topic_):
        assert np.isfinite(array).all()
        assert (array >= 0).all()
    assert np.isfinite(model.trace_["log_joint"]).all()
    assert np.isfinite(model.score(CORPUS))


RNG = np.random.default_rng(0)


@pytest.mark.parametrize("name", TABLE_MODELS)
def test_documents_of_many_segments(name):
    """The limit is generous: one sweep that is quadratic in the document would not keep it."""
    corpus = SegmentedCorpus.from_documents([[RNG.integers(0, 30, 3) for _ in range(5000)]], 30)
    fitted(name).transform(CORPUS)  # compiles
    begin = time.process_time()
    model = make(name, max_iter=3, transform_max_iter=3).fit(corpus)
    shares = model.transform_segments(corpus)
    assert time.process_time() - begin < 20.0
    assert_allclose(shares.sum(axis=1), 1.0)
    assert np.isfinite(model.trace_["log_joint"]).all()


@pytest.mark.parametrize(
    ("cls", "discount"),
    [(SegmentedTopicModel, 0.5), (SequentialLDA, 0.0), (AdaptiveTopicModel, 0.5)],
)
def test_long_documents_do_not_depend_on_the_batch(cls, discount):
    """Ratios beyond the table do not depend on the table or on earlier requests."""
    documents = [[RNG.integers(0, 30, n)] for n in (40, 3_000, 25_000, 1_500)]
    model = cls.from_topics(
        TRUTH.components, doc_topic_prior=0.5, discount=discount, concentration=5.0,
        transform_max_iter=3, random_state=0,
    )  # fmt: skip
    together = model.transform(SegmentedCorpus.from_documents(documents, 30))
    for document, shares in zip(documents, together, strict=True):
        assert_array_equal(model.transform([document])[0], shares)
