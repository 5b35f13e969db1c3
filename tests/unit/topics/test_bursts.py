"""Topics that are Pitman-Yor processes: parameters, attributes, first states, warm starts."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics import GibbsLDA

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
DOCUMENTS = [
    [(RNG.zipf(1.8, 12).clip(max=20) - 1 + 20 * (d % 2)).tolist() for _ in range(3)]
    for d in range(12)
]
CORPUS = SegmentedCorpus.from_documents(DOCUMENTS, 40)
BURSTS = {"topic_word_discount": "auto", "topic_word_base": "shared"}
ATTRIBUTES = ["topic_word_discount_", "topic_word_concentration_", "topic_word_base_"]


def make(**params):
    return GibbsLDA(3, **{**BURSTS, "max_iter": 20, "thin": 2, "random_state": 0, **params})


@pytest.mark.parametrize("base", ["uniform", "shared"])
@pytest.mark.parametrize("level", ["document", "segment"])
def test_attributes(base, level):
    model = make(topic_word_base=base, level=level).fit(CORPUS)
    assert 0.0 < model.topic_word_discount_ < 1.0
    assert model.topic_word_concentration_ > 0.0
    assert model.topic_word_base_.shape == (40,)
    assert model.topic_word_base_.sum() == pytest.approx(1.0)
    assert (np.ptp(model.topic_word_base_) > 0.01) == (base == "shared")
    if base == "uniform":
        assert model.topic_word_prior_ == pytest.approx(model.topic_word_concentration_ / 40)
    assert_allclose(model.components_.sum(axis=1), 1.0)
    assert {"topic_word_discount", "topic_word_concentration"} <= set(model.trace_.keys())
    assert np.isfinite(model.score(CORPUS))
    assert model.transform(CORPUS).shape == (12, 3)


def test_given_values_are_kept():
    model = make(topic_word_discount=0.3, topic_word_concentration=7, topic_word_prior=0.5)
    model.fit(CORPUS)
    assert model.topic_word_discount_ == pytest.approx(0.3)
    assert model.topic_word_concentration_ == pytest.approx(7.0)
    assert model.topic_word_prior_ == pytest.approx(0.5)


def test_another_fit_with_dirichlet_topics_drops_the_attributes():
    model = make().fit(CORPUS)
    assert all(hasattr(model, name) for name in ATTRIBUTES)
    model.set_params(topic_word_discount=0.0, topic_word_base="uniform").fit(CORPUS)
    assert not any(hasattr(model, name) for name in ATTRIBUTES)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"seed_words": {0: [1]}}, "seed_words must be None if topics are Pitman-Yor processes"),
        ({"fixed_components": np.full((1, 40), 1 / 40)}, "fixed_components must be None if"),
        ({"n_shards": 2}, "n_shards must be 1 if topics are Pitman-Yor processes"),
        (
            {"topic_word_prior": 0.1, "topic_word_base": "uniform"},
            "topic_word_prior must be 'auto' if topics are Pitman-Yor processes",
        ),
        ({"topic_word_discount": 1.0}, "topic_word_discount"),
        ({"topic_word_discount": -0.1}, "topic_word_discount"),
        ({"topic_word_concentration": 0.0}, "topic_word_concentration"),
        ({"topic_word_discount_prior": (0.0, 1.0)}, "topic_word_discount_prior"),
        ({"topic_word_concentration_prior": (1.0,)}, "topic_word_concentration_prior"),
        ({"topic_word_base": "learned"}, "topic_word_base"),
    ],
)
def test_refused_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        make(**params).fit(CORPUS)


def test_priors_are_checked_even_if_nothing_is_drawn():
    with pytest.raises(ValueError, match="topic_word_discount_prior"):
        GibbsLDA(2, topic_word_discount_prior=(-1.0, 1.0)).fit(CORPUS)


def test_partitions_are_refused():
    X = PartitionedCorpus.from_corpus(CORPUS, 2)
    with pytest.raises(TypeError, match="Topics that are Pitman-Yor processes take no"):
        make().fit(X)


def test_topics_to_start_with():
    init = np.full((3, 40), 1e-6)
    init[0, :20] = init[1, 20:] = 0.05
    init /= init.sum(axis=1, keepdims=True)
    phi = make(init=init, max_iter=4).fit(CORPUS).components_
    assert phi[0, :20].sum() > 0.9
    assert phi[1, 20:].sum() > 0.9


@pytest.mark.parametrize("discount", ["auto", 0.4])
def test_a_fit_that_goes_on_has_the_bits_of_a_longer_one(discount):
    params = {"topic_word_discount": discount, "burn_in": 3, "thin": 1}
    whole = make(max_iter=11, **params).fit(CORPUS)
    parts = make(max_iter=5, warm_start=True, **params).fit(CORPUS)
    parts = pickle.loads(pickle.dumps(parts))
    parts.set_params(max_iter=11).fit(CORPUS)
    for name in ("components_", *ATTRIBUTES):
        assert_array_equal(getattr(whole, name), getattr(parts, name), strict=True)


def test_a_copied_state_does_not_change():
    states = make(max_iter=6).iter_sweeps(CORPUS)
    copied = next(states).copy()
    tables, value = copied.word_tables.copy(), copied.log_joint()
    for state in states:
        assert not np.shares_memory(state.word_tables, copied.word_tables)
    assert_array_equal(copied.word_tables, tables)
    assert copied.log_joint() == value
    assert not np.array_equal(state.word_tables, tables)


def test_results_do_not_depend_on_jobs_or_containers():
    first = make(n_chains=2, n_jobs=1).fit(CORPUS)
    second = clone(first).set_params(n_jobs=2).fit(CORPUS)
    assert_array_equal(first.components_, second.components_, strict=True)
    third = make(n_chains=2).fit(DOCUMENTS)
    assert_array_equal(first.components_, third.components_, strict=True)
