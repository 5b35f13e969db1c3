"""Given and learned topics together, against enumeration, in all models and samplers.

By batch means (see `batch_means`): |z| < 5 for at most 100 quantities of each of 25 cases, a false
alarm for one in 30 choices of the seeds; these are fixed.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from exact.oracles import hdp_topics, ldcc, open_segmented
from exact.oracles.batch_means import assert_means
from exact.oracles.lda import enumerate_lda, log_joint
from exact.oracles.segmented import Problem
from exact.topics.table_models import (
    assert_posterior,
    check_states,
    corpus,
    hints_of,
    mostly_one_sampler,
    of_model,
    posterior_of,
    run,
)
from exact.topics.test_seed_words import check_partitions, log_posterior_of_gamma, streams

from skdp._numeric._random import Role, make_seed_sequence
from skdp.data import SegmentedCorpus
from skdp.processes._top_level import TopPriors
from skdp.topics import GibbsLDA, LatentDirichletCoClustering
from skdp.topics._hdp._sampler import HDPSampler
from skdp.topics._shared._fixed import FixedTopics, WordPrior
from skdp.topics._shared._seeds import Seeds
from skdp.topics._tables import _open_sampler
from skdp.topics._tables._open_sampler import FirstTopLevel, OpenTableSampler
from skdp.topics._tables._sampler import HyperParameters

FIXED = np.array([[0.6, 0.0, 0.4]])
PROBLEM = Problem(
    [[[0, 0, 1], [2, 1]], [[2, 0]]], alpha=(0.7, 0.7, 0.7), gamma=0.3, n_features=3, discount=0.3,
    concentration=1.5, fixed=FIXED,
)  # fmt: skip
SEEDED = replace(PROBLEM, seeds=np.array([[0, 0, 0], [0, 2, 0], [0, 0, 0]]))
ALL_FIXED = replace(PROBLEM, fixed=np.array([[0.6, 0.0, 0.4], [0.1, 0.9, 0.0], [0.3, 0.3, 0.4]]))
KNOWN = TopPriors(None, None)
slow = pytest.mark.slow


# --- latent Dirichlet allocation -------------------------------------------------------------


def lda(problem, **params):
    params = {
        "doc_topic_prior": np.array(problem.alpha),
        "topic_word_prior": problem.gamma,
        "random_state": 0,
        **hints_of(problem),
        **params,
    }
    return GibbsLDA(3, **params)


@pytest.mark.parametrize(
    "problem", [PROBLEM, SEEDED, ALL_FIXED], ids=["one", "beside-seeds", "all"]
)
def test_lda(problem):
    expected = enumerate_lda(problem, "document")
    states = lda(problem, max_iter=8400).iter_sweeps(corpus(problem))
    topics = np.array([state.topics.copy() for state in states])[400:]
    assert_means(topics[:, :, None] == np.arange(3), expected.topics, "P(z_i = k)")


LABELS = [{0, 1}, {0}]


def test_labels():
    """The second document has words of the fixed topic only."""
    topics, total = np.zeros((7, 3)), 0.0
    for z in product(*[LABELS[0]] * 5, *[LABELS[1]] * 2):
        with np.errstate(divide="ignore"):
            weight = np.exp(log_joint(PROBLEM, "document", z))
        total += weight
        topics += weight * np.equal.outer(z, range(3))
    states = lda(PROBLEM, max_iter=8400).iter_sweeps(corpus(PROBLEM), LABELS)
    found = np.array([state.topics.copy() for state in states])[400:]
    assert_means(found[:, :, None] == np.arange(3), topics / total, "P(z_i = k)")


@pytest.mark.parametrize("init", ["random", np.ones((3, 3))], ids=["random", "array"])
@pytest.mark.parametrize("gamma", [0.3, "auto"], ids=["given", "learned"])
@pytest.mark.parametrize("problem", [PROBLEM, SEEDED], ids=["one", "beside-seeds"])
def test_states_of_lda(problem, gamma, init):
    states = lda(problem, max_iter=30, topic_word_prior=gamma, init=init)
    for state in states.iter_sweeps(corpus(problem)):
        sampler, now = state._sampler, replace(problem, gamma=state.topic_word_prior)
        expected = log_joint(now, "document", state.topics)
        assert state.log_joint() == pytest.approx(expected, rel=1e-10)
        counts = np.zeros((3, 3))
        np.add.at(counts, (state.topics, problem.words), 1)
        assert np.array_equal(sampler.word_counts, counts)
        assert sampler.scalars()["n_active_components"] == np.count_nonzero(counts.sum(axis=1))
        phi = counts + now.gamma + (0 if problem.seeds is None else problem.seeds)
        phi /= phi.sum(axis=1, keepdims=True)
        phi[:1] = FIXED
        np.testing.assert_allclose(sampler.components(), phi, rtol=1e-12)


def test_learned_prior_of_words():
    """For given topics its updates end where the posterior of the free topics is stationary."""
    estimator = lda(PROBLEM, topic_word_prior="auto", max_iter=1).fit(corpus(PROBLEM))
    sampler = estimator._start_sampler(corpus(PROBLEM), make_seed_sequence(3), 0)
    sampler._sweep_words = lambda *args: None
    counts = np.array(sampler.word_counts, dtype=float)[1:]
    assert counts.sum() < 7
    for _ in range(4000):
        sampler.sweep()
    gamma, none = sampler.topic_word_prior, np.zeros((2, 3))
    assert 1e-5 < gamma < 1e5
    up, down = (log_posterior_of_gamma(gamma * x, counts, none) for x in (1.0001, 0.9999))
    assert (up - down) / 2e-4 == pytest.approx(0.0, abs=1e-4)


# --- table models with a given number of topics, and LDCC ------------------------------------


@pytest.mark.parametrize("model_name", ["segmented", "adaptive", "sequential"])
@mostly_one_sampler
def test_table_models(model_name, sampler):
    problem = of_model({"": SEEDED}, model_name)[""]
    sweeps = run(problem, 8000, sampler=sampler)
    assert_posterior(sweeps, posterior_of(problem), identified=False)
    fixed = sweeps.topics == 0
    assert_means(fixed, posterior_of(problem).topics[:, 0], "P(z_i = 0)")
    check_states(problem, 20, sampler=sampler, topic_word_prior="auto")
    check_states(problem, 20, sampler=sampler, init="lda")
    check_states(problem, 20, sampler=sampler, init=np.ones((3, 3)))


def test_co_clustering():
    problem = ldcc.Problem(
        [[[0, 0, 1], [1, 0]], [[1, 2]]],
        delta=(0.6, 0.6), alpha=((1.2, 0.2), (0.2, 1.2)), gamma=0.5, n_features=3, fixed=FIXED,
    )  # fmt: skip
    expected = ldcc.enumerate_posterior(problem)
    estimator = LatentDirichletCoClustering(
        2, 2, document_topic_prior=problem.delta, segment_topic_prior=problem.alpha,
        topic_word_prior=0.5, fixed_components=FIXED, max_iter=8400, random_state=0,
    )  # fmt: skip
    topics = np.empty((8400, 7), dtype=int)
    X = SegmentedCorpus.from_documents(problem.documents, n_features=3)
    for i, state in enumerate(estimator.iter_sweeps(X)):
        topics[i] = state.topics
        if i % 400 == 0:
            joint = ldcc.log_joint(problem, state.topics, state.segment_clusters)
            assert state.log_joint() == pytest.approx(joint, rel=1e-10)
    assert_means(topics[400:, :, None] == np.arange(2), expected.topics, "P(z_i = k)")


# --- inferred numbers of topics --------------------------------------------------------------

HDP_DOCUMENTS = [[0, 0, 1], [2, 0]]
OPEN_FIXED = ((0.6, 0.0, 0.4),)
OPEN_SEEDS = ((0, 2, 0),)


def prior_of_words(eta, seeds):
    rows = np.array(seeds)
    found = None
    if len(rows):
        of_topics, of_words = np.nonzero(rows)
        found = Seeds(of_topics + len(OPEN_FIXED), of_words, int(rows.max()), 3)
    return WordPrior(eta, found, FixedTopics(np.array(OPEN_FIXED)))


def make_hdp_sampler(seeds=(), most=None):
    X = SegmentedCorpus.from_documents([[d] for d in HDP_DOCUMENTS], n_features=3)
    return HDPSampler(
        X, min(3, most or 3), "document", 1.3, 1.6, KNOWN, prior_of_words(0.4, seeds), (1.0, 0.1),
        "random", True, most, *streams(Role.INIT, Role.SWEEP),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seeds", "most"),
    [(OPEN_SEEDS, None), pytest.param((), None, marks=slow), pytest.param((), 2, marks=slow)],
)
def test_hdp(seeds, most):
    posterior = hdp_topics.posterior(HDP_DOCUMENTS, 3, 1.3, 1.6, 0.4, most, seeds, OPEN_FIXED)
    check_partitions(make_hdp_sampler(seeds, most), *posterior, 8000)


def test_log_joint_of_hdp():
    sampler = make_hdp_sampler(OPEN_SEEDS)
    for _ in range(20):
        sampler.sweep()
        expected = hdp_topics.log_joint(
            HDP_DOCUMENTS, tuple(sampler.topics), sampler.weights, sampler.rest, 3, 1.3, 1.6, 0.4,
            OPEN_SEEDS, OPEN_FIXED,
        )  # fmt: skip
        assert sampler.log_joint() == pytest.approx(expected, rel=1e-10)


OPEN_PROBLEM = open_segmented.Problem(
    [[[0, 0], [1]], [[2, 0]]], 3, gamma=1.6, discount=0.2, concentration=1.5, fixed=OPEN_FIXED
)


def make_open_sampler(problem, sampler, most=None):
    X = SegmentedCorpus.from_documents(problem.documents, n_features=problem.n_words)
    hyper = HyperParameters(
        "auto", prior_of_words(problem.eta, problem.seeds), (1.0, 0.1), problem.discount,
        (1.0, 1.0), problem.concentration, (1.0, 0.1), "corpus",
        problem.mixing if problem.model == "adaptive" else (1.0, 0.0),
    )  # fmt: skip
    top = FirstTopLevel(problem.alpha, problem.gamma, KNOWN)
    init, sweeps = streams(Role.INIT, Role.SWEEP)
    return OpenTableSampler(X, 2, sampler, hyper, top, most, "random", [init], [sweeps])


@pytest.mark.parametrize("model", ["segmented", pytest.param("adaptive", marks=slow)])
@pytest.mark.parametrize("most", [None, pytest.param(3, marks=slow)])
@mostly_one_sampler
def test_table_models_with_inferred_numbers(model, most, sampler, monkeypatch):
    monkeypatch.setattr(_open_sampler, "MOST_MOVES", 3)
    problem = replace(OPEN_PROBLEM, model=model)
    every, expected, _ = open_segmented.posterior(problem, most)
    check_partitions(make_open_sampler(problem, sampler, most), every, expected, 4000)


def test_log_joint_of_table_models_with_inferred_numbers():
    problem = replace(OPEN_PROBLEM, seeds=OPEN_SEEDS)
    sampler = make_open_sampler(problem, "btigs")
    for _ in range(20):
        sampler.sweep()
        state = sampler.state()
        expected = open_segmented.log_joint(
            problem, tuple(state.topics), state.tables_to_document, state.tables_to_previous,
            sampler.weights, sampler.rest,
        )  # fmt: skip
        assert sampler.log_joint() == pytest.approx(expected, rel=1e-10)
