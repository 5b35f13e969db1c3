"""Labels, sets of topics that documents or segments may use, against restricted enumeration.

By batch means (see `batch_means`): |z| < 5 for at most 30 quantities of each of six cases.
"""

from dataclasses import replace
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest
from exact.oracles import hdp_topics, open_segmented
from exact.oracles.batch_means import assert_means
from exact.oracles.lda import as_nodes, log_joint
from exact.oracles.segmented import (
    Problem,
    segment_ranges,
    sum_over_tables,
    word_counts,
    word_factor,
)
from exact.topics.table_models import (
    check_state,
    corpus,
    hints_of,
    model,
    mostly_one_sampler,
)
from exact.topics.test_seed_words import check_partitions

from skdp._numeric._numba import njit
from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.data import SegmentedCorpus
from skdp.processes._top_level import TopPriors
from skdp.topics import GibbsLDA
from skdp.topics._hdp._sampler import HDPSampler
from skdp.topics._labels import check_labels
from skdp.topics._lda._kernels_labels import return_strays
from skdp.topics._shared._allowed import LabeledCorpus
from skdp.topics._shared._arrays import empty_counts
from skdp.topics._shared._fixed import FixedTopics, WordPrior
from skdp.topics._shared._seeds import Seeds
from skdp.topics._tables import _open_sampler
from skdp.topics._tables._open_sampler import FirstTopLevel, OpenTableSampler
from skdp.topics._tables._sampler import HyperParameters

PROBLEM = Problem(
    [[[0, 0, 1], [2, 1]], [[2, 0]], [[1, 1]]], alpha=(0.9, 0.3, 0.6), gamma=0.4, n_features=3,
    discount=0.0,
)  # fmt: skip
SEEDED = replace(PROBLEM, seeds=np.array([[0, 0, 0], [0, 3, 0], [0, 0, 0]]))
BY_DOCUMENT = [{0, 1}, None, frozenset([2, 0])]
BY_SEGMENT = [[{1}, {0, 2}], {2, 1}, [None]]
LEVELS = {"document": BY_DOCUMENT, "segment": BY_SEGMENT}
EVERY = {0, 1, 2}


def sets_of_nodes(level):
    """Return the set of topics of each node."""
    sets = []
    for labels, document in zip(LEVELS[level], PROBLEM.documents, strict=True):
        n_nodes = 1 if level == "document" else len(document)
        sets.extend(labels if isinstance(labels, list) else [labels] * n_nodes)
    return [set(s or EVERY) for s in sets]


def enumerate_restricted(problem, level):
    """Return the posterior of topics, and of the allowed topic of a further word of each node."""
    ends = np.cumsum([0, *map(len, as_nodes(problem, level))])
    sets, alpha = sets_of_nodes(level), np.array(problem.alpha)
    choices = [sets[d] for d, (b, e) in enumerate(pairwise(ends)) for _ in range(b, e)]
    total, topics, shares = 0.0, 0.0, 0.0
    for z in product(*choices):
        weight = np.exp(log_joint(problem, level, z))
        rows = np.array([
            [alpha[k] + z[b:e].count(k) if k in s else 0.0 for k in range(3)]
            for s, (b, e) in zip(sets, pairwise(ends), strict=True)
        ])  # fmt: skip
        total += weight
        topics = topics + weight * np.equal.outer(z, range(3))
        shares = shares + weight * rows / rows.sum(axis=1, keepdims=True)
    return topics / total, shares / total


def lda(problem, level, **params):
    params = {
        "doc_topic_prior": np.array(problem.alpha),
        "topic_word_prior": problem.gamma,
        "random_state": 0,
        **hints_of(problem),
        **params,
    }
    return GibbsLDA(3, level=level, **params)


@pytest.mark.parametrize("problem", [PROBLEM, SEEDED], ids=["plain", "seeded"])
@pytest.mark.parametrize("level", LEVELS)
def test_posterior(problem, level):
    topics, shares = enumerate_restricted(problem, level)
    estimator = lda(problem, level, max_iter=8400)
    found, of_nodes = np.empty((8400, len(topics)), dtype=int), np.empty((1200, *shares.shape))
    states = estimator.iter_sweeps(corpus(problem), LEVELS[level])
    for i, state in enumerate(states):
        found[i] = state.topics
        if i % 7 == 0:
            sums = state._sampler.empty_sums()
            state._sampler.add_to(sums)
            of_nodes[i // 7] = sums["doc_topic" if level == "document" else "segment_topic"]
    assert_means(found[400:, :, None] == np.arange(3), topics, "P(z_i = k)")
    assert_means(of_nodes[40:], shares, "shares", resolution=1e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_state(level):
    """No word ever has a topic outside its set, and the joint is that of the unrestricted model."""
    learned = {"doc_topic_prior": "auto", "topic_word_prior": "auto"}
    ends = np.cumsum([0, *map(len, as_nodes(PROBLEM, level))])
    for params in ({}, learned, {"init": np.ones((3, 3))}):
        estimator = lda(PROBLEM, level, max_iter=40, **params)
        for state in estimator.iter_sweeps(corpus(PROBLEM), LEVELS[level]):
            for allowed, (b, e) in zip(sets_of_nodes(level), pairwise(ends), strict=True):
                assert set(state.topics[b:e]) <= allowed
            counts = np.zeros((3, 3))
            np.add.at(counts, (state.topics, PROBLEM.words), 1)
            assert np.array_equal(state._sampler.word_counts, counts)
            now = replace(PROBLEM, alpha=tuple(state.doc_topic_prior), gamma=state.topic_word_prior)
            expected = log_joint(now, level, state.topics)
            assert state.log_joint() == pytest.approx(expected, rel=1e-10)


@njit
def call_return_strays(tokens, topics, words, allowed):
    return_strays(0, tokens.shape[0], tokens, topics, words, allowed)


def test_strays():
    """A word that rounding has left outside its set moves to the last topic of the set."""
    words = empty_counts(2, 4)
    tokens, topics = np.array([0, 1, 1], dtype=np.int32), np.array([0, 3, 3], dtype=np.int32)
    np.add.at(words.counts, (tokens, topics), 1)
    words.totals[:4] = np.bincount(topics, minlength=4)
    call_return_strays(tokens, topics, words, np.array([True, False, True, False]))
    assert topics.tolist() == [0, 2, 2]
    assert words.totals[:4].tolist() == [1, 0, 2, 0]
    assert words.counts[:, :4].tolist() == [[1, 0, 0, 0], [0, 0, 2, 0]]


# --- table models ----------------------------------------------------------------------------

TABLES = replace(
    PROBLEM, documents=[[[0, 0], [2, 1]], [[2, 0]], [[1]]], discount=0.3, concentration=1.5
)


def restricted_posterior(problem):
    """Return P(z_i = k), and the expected tables of segments (J, K) that order from either."""
    sets = [set(s or EVERY) for s in BY_DOCUMENT]
    choices = [
        sets[d] for d, document in enumerate(problem.documents) for part in document for _ in part
    ]
    sums, total = {}, 0.0
    topics, s, t = 0.0, np.zeros((problem.doc_ptr[-1], 3)), np.zeros((problem.doc_ptr[-1], 3))
    for z in product(*choices):
        n = word_counts(problem, z)
        found = []
        for d, (first, last) in enumerate(segment_ranges(problem)):
            key = d, n[first:last].tobytes()
            if key not in sums:
                sums[key] = sum_over_tables(problem, problem.firsts(d), n[first:last])
            found.append(sums[key])
        weight = word_factor(problem, z) * prod(float(x.weight.sum()) for x in found)
        total += weight
        topics = topics + weight * np.equal.outer(z, range(3))
        for x, (first, last) in zip(found, segment_ranges(problem), strict=True):
            s[first:last] += weight * x.s[0, 0]
            t[first:last] += weight * x.t[0, 0]
    return topics / total, s / total, t / total


@pytest.mark.parametrize(
    "model_name",
    ["segmented", *(pytest.param(m, marks=pytest.mark.slow) for m in ("adaptive", "sequential"))],
)
@mostly_one_sampler
def test_table_models(model_name, sampler):
    problem = replace(TABLES, model=model_name)
    topics, s, t = restricted_posterior(problem)
    estimator = model(problem, sampler=sampler, max_iter=5200)
    found = np.empty((5200, len(topics)), dtype=int)
    tables = np.zeros((2, 5200, *s.shape))
    for i, state in enumerate(estimator.iter_sweeps(corpus(problem), BY_DOCUMENT)):
        found[i], tables[0, i] = state.topics, state.tables_to_document
        if model_name != "segmented":
            tables[1, i] = state.tables_to_previous
        if i % 400 == 0:
            check_state(problem, state)
    assert_means(found[400:, :, None] == np.arange(3), topics, "P(z_i = k)")
    assert_means(tables[0, 400:], s, "E[tables]")
    assert_means(tables[1, 400:], t, "E[tables to the previous]")


@pytest.mark.parametrize("init", ["random", "lda", np.ones((3, 3))], ids=["random", "lda", "array"])
@pytest.mark.parametrize("learns", [False, True])
def test_states_of_table_models(init, learns):
    params = {"doc_topic_prior": "auto", "topic_word_prior": "auto"} if learns else {}
    X, is_allowed = corpus(TABLES), np.zeros((3, 3), dtype=bool)
    for d, labels in enumerate(BY_DOCUMENT):
        is_allowed[d, list(labels or EVERY)] = True
    of_words = np.repeat(np.arange(3), [4, 2, 1])
    fitted = model(TABLES, init=init, max_iter=30, **params)
    for state in fitted.iter_sweeps(X, BY_DOCUMENT):
        assert is_allowed[of_words, state.topics].all()
        check_state(TABLES, state)
    fitted.fit(X, BY_DOCUMENT)
    assert (fitted.doc_topic_[~is_allowed] == 0.0).all()
    assert (fitted.segment_topic_[~is_allowed[[0, 0, 1, 2]]] == 0.0).all()
    np.testing.assert_allclose(fitted.doc_topic_.sum(axis=1), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("model_name", ["segmented", "adaptive", "sequential"])
def test_table_models_with_fixed_topics(model_name):
    """Documents 0 and 2 may have the fixed topic, which excludes a word of document 0."""
    problem = replace(TABLES, model=model_name, fixed=np.array([[0.6, 0.2, 0.2], [0.5, 0.5, 0.0]]))
    topics, *_ = restricted_posterior(problem)
    estimator = model(problem, max_iter=5200)
    found = np.array([
        state.topics.copy() for state in estimator.iter_sweeps(corpus(problem), BY_DOCUMENT)
    ])  # fmt: skip
    assert_means(found[400:, :, None] == np.arange(3), topics, "P(z_i = k)")


# --- inferred numbers of topics --------------------------------------------------------------

HDP_DOCUMENTS = [[0, 0, 1], [2, 0], [1]]
HDP_LABELS = [None, {0, 1}, {1}]
HINTS = {
    "seeds": (((0, 2, 0), (2, 0, 2)), ()),
    "fixed": ((), ((0.6, 0.0, 0.4), (0.2, 0.7, 0.1))),
    "both": (((0, 2, 0),), ((0.6, 0.1, 0.3),)),
}


def prior_of_words(eta, hints):
    seeds, fixed = HINTS[hints]
    known = None
    if seeds:
        pairs = np.nonzero(np.array(seeds))
        known = Seeds(pairs[0] + len(fixed), pairs[1], 2, 3)
    return WordPrior(eta, known, FixedTopics(np.array(fixed)) if fixed else None)


def labeled(documents, y):
    X = SegmentedCorpus.from_documents(documents, n_features=3)
    return LabeledCorpus(X, check_labels(y, X, "document", 2, {}, is_open=True))


def make_hdp_sampler(hints, init="random"):
    return HDPSampler(
        labeled([[d] for d in HDP_DOCUMENTS], HDP_LABELS), 3, "document", 1.3, 1.6,
        TopPriors(None, None), prior_of_words(0.4, hints), (1.0, 0.1), init, True, None, *streams(),
    )  # fmt: skip


def streams():
    return [derive_stream(make_seed_sequence(0), role) for role in (Role.INIT, Role.SWEEP)]


def restrict(every, expected, is_obedient):
    """Return the partitions that obey labels, and their probabilities."""
    obeys = np.array([is_obedient(z) for z in every])
    expected = expected[obeys] / expected[obeys].sum()
    return [z for z, is_kept in zip(every, obeys, strict=True) if is_kept], expected


@pytest.mark.parametrize(
    "hints", ["both", *(pytest.param(h, marks=pytest.mark.slow) for h in ("seeds", "fixed"))]
)
def test_hdp(hints):
    posterior = hdp_topics.posterior(HDP_DOCUMENTS, 3, 1.3, 1.6, 0.4, None, *HINTS[hints])
    obeying = restrict(*posterior, lambda z: z[3] < 2 and z[4] < 2 and z[5] == 1)
    check_partitions(make_hdp_sampler(hints), *obeying, 8000)


@pytest.mark.parametrize("init", ["random", np.ones((3, 3))], ids=["random", "array"])
@pytest.mark.parametrize("hints", HINTS)
def test_states_of_hdp(hints, init):
    sampler = make_hdp_sampler(hints, init)
    for _ in range(20):
        assert set(sampler.topics[3:5]) <= {0, 1}
        assert sampler.topics[5] == 1
        nodes = sampler.shares()[0]
        assert np.all(nodes[1, 2:] == 0.0)
        assert nodes[2, 1] == pytest.approx(1.0)
        np.testing.assert_allclose(nodes.sum(axis=1), 1.0)
        expected = hdp_topics.log_joint(
            HDP_DOCUMENTS, tuple(sampler.topics), sampler.weights, sampler.rest, 3, 1.3, 1.6, 0.4,
            *HINTS[hints],
        )  # fmt: skip
        assert sampler.log_joint() == pytest.approx(expected, rel=1e-10)
        sampler.sweep()


OPEN = open_segmented.Problem(
    [[[0, 0], [1]], [[2], [0]], [[1]]], 3, gamma=1.6, discount=0.2, concentration=1.5
)


def make_open_sampler(problem, sampler, hints, init="random", n_shards=1):
    hyper = HyperParameters(
        "auto", prior_of_words(problem.eta, hints), (1.0, 0.1), problem.discount, (1.0, 1.0),
        problem.concentration, (1.0, 0.1), "corpus",
        problem.mixing if problem.model == "adaptive" else (1.0, 0.0),
    )  # fmt: skip
    top = FirstTopLevel(problem.alpha, problem.gamma, TopPriors(None, None))
    init_stream, stream = streams()
    return OpenTableSampler(
        labeled(problem.documents, HDP_LABELS), 3, sampler, hyper, top, None, init,
        [init_stream] * n_shards, [stream] * n_shards,
    )  # fmt: skip


@pytest.mark.parametrize("model", ["segmented", pytest.param("adaptive", marks=pytest.mark.slow)])
@mostly_one_sampler
def test_table_models_with_inferred_numbers(model, sampler, monkeypatch):
    monkeypatch.setattr(_open_sampler, "MOST_MOVES", 3)
    seeds, fixed = HINTS["both"]
    problem = replace(OPEN, model=model, seeds=seeds, fixed=fixed)
    every, expected, _ = open_segmented.posterior(problem)
    obeying = restrict(every, expected, lambda z: z[3] < 2 and z[4] < 2 and z[5] == 1)
    check_partitions(make_open_sampler(problem, sampler, "both"), *obeying, 6000)


@pytest.mark.parametrize("init", ["random", np.ones((3, 3))], ids=["random", "array"])
@pytest.mark.parametrize("hints", HINTS)
@pytest.mark.parametrize("n_shards", [1, 2])
def test_states_of_table_models_with_inferred_numbers(hints, init, n_shards):
    seeds, fixed = HINTS[hints]
    problem = replace(OPEN, seeds=seeds, fixed=fixed)
    sampler = make_open_sampler(problem, "btigs", hints, init, n_shards)
    for _ in range(20):
        assert set(sampler.topics[3:5]) <= {0, 1}
        assert sampler.topics[5] == 1
        doc_topic, segment_topic = sampler.shares()
        assert np.all(doc_topic[1, 2:] == 0.0)
        assert np.all(segment_topic[2:4, 2:] == 0.0)
        assert doc_topic[2, 1] == segment_topic[4, 1] == pytest.approx(1.0)
        np.testing.assert_allclose(doc_topic.sum(axis=1), 1.0)
        if n_shards == 1:
            state = sampler.state()
            expected = open_segmented.log_joint(
                problem, tuple(state.topics), state.tables_to_document, state.tables_to_previous,
                sampler.weights, sampler.rest,
            )  # fmt: skip
            assert sampler.log_joint() == pytest.approx(expected, rel=1e-10)
        sampler.sweep()
