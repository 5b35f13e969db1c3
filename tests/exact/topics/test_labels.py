"""Labels, sets of topics that documents or segments may use, against restricted enumeration.

By batch means (see `batch_means`): |z| < 5 for at most 30 quantities of each of six cases.
"""

from dataclasses import replace
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest
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

from skdp._numeric._numba import njit
from skdp.topics import GibbsLDA
from skdp.topics._lda._kernels_labels import return_strays
from skdp.topics._shared._arrays import empty_counts

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
