"""GibbsLDA against enumeration of all its states (exact/oracles/lda.py), dense and sparse.

With seed words, fixed topics, and labels: sets of topics that documents or segments may use.
"""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from exact.oracles.batch_means import N_SWEEPS, check_chain
from exact.oracles.enumeration import dirichlet_multinomial
from exact.oracles.lda import enumerate_lda, log_joint
from exact.oracles.segmented import Problem
from exact.topics.table_models import BURN_IN, corpus, hints_of, mostly_slow

from skdp._numeric._numba import njit
from skdp._numeric._random import make_seed_sequence
from skdp.data import concatenate
from skdp.topics import GibbsLDA
from skdp.topics._kernels._lda import return_strays
from skdp.topics._lda import _sampler
from skdp.topics._shared._arrays import empty_counts

EQUAL = Problem([[[0, 0, 1], [2, 1]], [[2, 0]]], (0.7, 0.7, 0.7), gamma=0.3)
UNEQUAL = Problem([[[0, 0, 1], [2, 1]], [[2, 0]], [[1, 1]]], (0.9, 0.3, 0.6), gamma=0.4)
FIXED = np.array([[0.6, 0.0, 0.4], [0.1, 0.9, 0.0], [0.3, 0.3, 0.4]])
SEED = np.array([[0, 0, 0], [0, 2, 0], [0, 0, 0]])
BY_DOCUMENT = [{0, 1}, None, frozenset([2, 0])]
BY_SEGMENT = [[{1}, {0, 2}], {2, 1}, [None]]
CASES = {
    "one document": Problem([[[0, 0, 1], [0, 1, 2, 0]]], (0.6, 0.6), gamma=0.4),
    "two documents": Problem([[[0, 0], [], [1, 0]], [[1, 1, 0]], []], (1.5, 0.2), gamma=0.3),
    "three topics": Problem([[[0, 0, 1], [2]], [[0], [1]]], (1.4, 0.3, 0.6), gamma=0.5),
    "seeds": replace(EQUAL, seeds=np.array([[0, 2, 0], [0, 0, 0], [2, 0, 2]])),
    "fixed": replace(EQUAL, fixed=FIXED[:1]),
    "fixed and seeds": replace(EQUAL, fixed=FIXED[:1], seeds=SEED),
    "all fixed": replace(EQUAL, fixed=FIXED, alpha=(0.7, 0.4, 0.9)),
    "labels": replace(UNEQUAL, labels=BY_DOCUMENT),
    "labels of segments": replace(UNEQUAL, labels=BY_SEGMENT),
    "labels and seeds": replace(UNEQUAL, labels=BY_DOCUMENT, seeds=SEED),
    "labels of segments and seeds": replace(UNEQUAL, labels=BY_SEGMENT, seeds=SEED),
    "labels and fixed": replace(EQUAL, labels=[{0, 1}, {0}], fixed=FIXED[:1]),
}
LEVELS = "document", "segment"
SWEEPS = {"dense": 10**9, "sparse": 1}
FAST = [("seeds", "document", "dense"), ("seeds", "document", "sparse")]
INSTANCES = [
    (case, level, list(SWEEPS)[(i + j) % 2])
    for i, case in enumerate(CASES)
    for j, level in enumerate(["document", "segment"])
    if "labels" not in case or ("segments" in case) == (level == "segment")
] + FAST[:1]


def model(problem, level, **params):
    params = {
        "doc_topic_prior": np.array(problem.alpha),
        "topic_word_prior": problem.gamma,
        "random_state": 0,
        **hints_of(problem),
        **params,
    }
    return GibbsLDA(len(problem.alpha), level=level, **params)


@pytest.mark.parametrize(("case", "level", "sweep"), mostly_slow(INSTANCES, FAST))
def test_posterior(case, level, sweep, monkeypatch):
    monkeypatch.setattr(_sampler, "SPARSE_FROM", SWEEPS[sweep])
    problem = CASES[case]
    expected, every = enumerate_lda(problem, level), np.arange(len(problem.alpha))
    pairs = np.triu_indices(len(problem.words), 1)
    chain = model(problem, level, max_iter=BURN_IN + N_SWEEPS)
    states = islice(chain.iter_sweeps(corpus(problem), problem.labels), BURN_IN, None)

    def step():
        state = next(states)
        sums = state._sampler.empty_sums()
        state._sampler.add_to(sums)
        return state.topics.copy(), sums["doc_topic" if level == "document" else "segment_topic"]

    def compare(topics, shares):
        same = topics[:, pairs[0]] == topics[:, pairs[1]]
        yield same, expected.coassignment[pairs], "P(z_i = z_j)"
        if len({*problem.alpha}) > 1 or problem.seeds is not None:
            yield topics[:, :, None] == every, expected.topics, "P(z_i = k)"
            yield shares, expected.theta, "shares"
        else:
            yield topics == 0, expected.topics[:, 0], "P(z_i = 0)"

    check_chain(step, compare)


@pytest.mark.parametrize(
    ("case", "level"),
    mostly_slow(
        [(c, v) for c in ("two documents", "three topics", "fixed and seeds") for v in LEVELS],
        [("two documents", "segment")],
    ),
)
def test_posterior_of_a_stream(case, level):
    """The first document was the last one, and the others leave and come again; a sweep draws
    these, and others at random.
    """
    problem = CASES[case]
    expected, X = enumerate_lda(problem, level), corpus(problem)
    others, earlier = X[1:], concatenate([X[1:], X[:1]])
    first = list(islice(model(problem, level, max_iter=3).iter_sweeps(earlier), 3))[-1]
    chain = first._sampler.extended(X, len(others.tokens))
    pairs = np.triu_indices(len(problem.words), 1)

    def step():
        chain.sweep()
        return chain.topics.copy()

    def compare(topics):
        same = topics[:, pairs[0]] == topics[:, pairs[1]]
        yield same, expected.coassignment[pairs], "P(z_i = z_j)"
        yield topics == 0, expected.topics[:, 0], "P(z_i = 0)"

    check_chain(step, compare)
    counts = chain.word_counts.copy()
    chain._count_words()
    assert np.array_equal(counts, chain.word_counts)


@pytest.mark.parametrize(("case", "level", "sweep"), INSTANCES)
def test_states(case, level, sweep, monkeypatch):
    """A state knows its joint, with given and with learned priors, and no word breaks a rule."""
    monkeypatch.setattr(_sampler, "SPARSE_FROM", SWEEPS[sweep])
    problem, n_topics = CASES[case], len(CASES[case].alpha)
    segments = np.array(problem.segment_of_token)
    fixed = problem.fixed if problem.fixed is not None else np.empty((0, problem.n_words))
    auto = {"doc_topic_prior": "auto", "topic_word_prior": "auto"}
    for params in ({}, auto, {"init": np.ones((n_topics, problem.n_words))}):
        states = model(problem, level, max_iter=30, **params)
        for state in states.iter_sweeps(corpus(problem), problem.labels):
            now = replace(problem, alpha=tuple(state.doc_topic_prior), gamma=state.topic_word_prior)
            expected = log_joint(now, level, state.topics)
            assert state.log_joint() == pytest.approx(expected, rel=1e-10, abs=1e-10)
            for j, allowed in enumerate(problem.allowed):
                assert {*state.topics[segments == j].tolist()} <= allowed
            counts = np.zeros((n_topics, problem.n_words))
            np.add.at(counts, (state.topics, problem.words), 1)
            sampler = state._sampler
            assert np.array_equal(sampler.word_counts, counts)
            assert sampler.scalars()["n_active_components"] == np.count_nonzero(counts.sum(axis=1))
            phi = counts + now.gamma + (0 if problem.seeds is None else problem.seeds)
            phi /= phi.sum(axis=1, keepdims=True)
            phi[: len(fixed)] = fixed
            np.testing.assert_allclose(sampler.components(), phi, rtol=1e-12)


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


def log_posterior_of_gamma(gamma, counts, seeds):
    """Return log p(w | z, gamma) plus the log density of the Gamma prior of gamma."""
    rows = [np.log(dirichlet_multinomial(gamma + s, n)) for n, s in zip(counts, seeds, strict=True)]
    return sum(rows) - 0.1 * gamma


@pytest.mark.parametrize("case", ["seeds", "fixed"])
def test_learned_prior_of_words(case):
    """Given the topics of words, its updates rise to where the posterior is stationary."""
    problem, n_fixed = CASES[case], 0 if CASES[case].fixed is None else 1
    estimator = model(problem, "document", topic_word_prior="auto", max_iter=1)
    X = corpus(problem)
    sampler = estimator.fit(X)._start_sampler(X, make_seed_sequence(3), 0)
    sampler._sweep_words = lambda *args: None
    counts = np.array(sampler.word_counts, dtype=int)[n_fixed:]
    assert 0 < counts.sum() < 8 - n_fixed
    seeds = np.zeros((3, 3)) if problem.seeds is None else problem.seeds
    before = log_posterior_of_gamma(sampler.topic_word_prior, counts, seeds[n_fixed:])
    for _ in range(4000):
        sampler.sweep()
        after = log_posterior_of_gamma(sampler.topic_word_prior, counts, seeds[n_fixed:])
        assert after >= before - 1e-9
        before = after
    gamma = sampler.topic_word_prior
    assert 1e-5 < gamma < 1e5
    up, down = (
        log_posterior_of_gamma(gamma * x, counts, seeds[n_fixed:]) for x in (1.0001, 0.9999)
    )
    assert (up - down) / 2e-4 == pytest.approx(0.0, abs=1e-4)
