"""Topics that are Pitman-Yor processes against enumeration (see exact/oracles/bursts.py).

By batch means (see `batch_means`): |z| < 5 for at most 40 quantities of each of 11 cases, a false
alarm for one in 180 choices of the seeds; these are fixed.
"""

from dataclasses import replace

import numpy as np
import pytest
from exact.oracles import segmented
from exact.oracles.batch_means import assert_means
from exact.oracles.bursts import Problem, enumerate_bursts, expected_topics, log_joint
from exact.oracles.lda import enumerate_lda
from scipy.special import gammaln

from skdp._numeric._random import make_seed_sequence
from skdp.data import SegmentedCorpus
from skdp.topics import GibbsLDA

BURN_IN, N_SWEEPS = 400, 12_000
WORDS = [[0, 0, 1], [2, 0]]
CASES = {
    "uniform": Problem(WORDS, (0.7, 0.7), 3, discount=0.4, concentration=1.3),
    "shared": Problem(WORDS, (0.7, 0.3), 3, discount=0.4, concentration=0.8, gamma=0.5),
    "no discount": Problem(WORDS, (1.2, 0.4), 3, discount=0.0, concentration=0.8, gamma=0.3),
    "one word": Problem([[0, 0, 0, 0], [0]], (0.7, 0.3), 2, 0.7, 0.4, gamma=0.5),
    "three topics": Problem([[0, 1], [1, 1]], (0.7, 0.3, 0.5), 3, 0.5, 1.0, gamma=0.5),
}  # fmt: skip
LEARNED = {
    "discount": Problem(WORDS, (0.7, 0.3), 3, None, 0.8, gamma=0.5, discount_prior=(1.5, 2.0)),
    "concentration": Problem(WORDS, (0.7, 0.3), 3, 0.3, None, concentration_prior=(2.0, 0.5)),
    "both": Problem(WORDS, (0.7, 0.3), 3, concentration_prior=(2.0, 0.5), gamma=0.5),
}


def model(problem, **params):
    params = {
        "doc_topic_prior": np.array(problem.alpha),
        "topic_word_prior": "auto" if problem.gamma is None else problem.gamma,
        "topic_word_discount": "auto" if problem.discount is None else problem.discount,
        "topic_word_discount_prior": problem.discount_prior,
        "topic_word_concentration": (
            "auto" if problem.concentration is None else problem.concentration
        ),
        "topic_word_concentration_prior": problem.concentration_prior,
        "topic_word_base": "uniform" if problem.gamma is None else "shared",
        "random_state": 0,
        **params,
    }
    return GibbsLDA(len(problem.alpha), **params)


def corpus(problem):
    """Return documents of one segment."""
    documents = [[list(node)] for node in problem.nodes]
    return SegmentedCorpus.from_documents(documents, problem.n_features)


def run(problem, n_sweeps=N_SWEEPS, **params):
    """Return the draws of all quantities after the burn-in."""
    estimator = model(problem, max_iter=BURN_IN + n_sweeps, **params)
    rows = []
    for i, state in enumerate(estimator.iter_sweeps(corpus(problem))):
        if i >= BURN_IN:
            a, b = state.topic_word_discount, np.log(state.topic_word_concentration)
            rows.append((
                state.topics.copy(), state.word_tables.copy(), (a, a * a), (b, b * b),
                state._sampler.components(),
            ))  # fmt: skip
    return [np.array(each) for each in zip(*rows, strict=True)]


def assert_posterior(problem, topics, tables, a, b):
    expected = enumerate_bursts(problem)
    pairs = np.triu_indices(topics.shape[1], 1)
    same = topics[:, pairs[0]] == topics[:, pairs[1]]
    assert_means(same, expected.coassignment[pairs], "P(z_i = z_j)")
    found = topics[:, :, None] == np.arange(len(problem.alpha))
    assert_means(found, expected.topics, "P(z_i = k)")
    assert_means(tables, expected.tables, "E[T_kw]")
    assert_means(a, expected.discount, "moments of a", resolution=1e-9)
    assert_means(b, expected.log_concentration, "moments of log b", resolution=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_posterior(case):
    problem = CASES[case]
    *draws, components = run(problem)
    assert_posterior(problem, *draws)
    assert_means(components, expected_topics(problem), "E[phi]")


@pytest.mark.parametrize("case", LEARNED)
def test_learned_parameters(case):
    *draws, _ = run(LEARNED[case])
    assert_posterior(LEARNED[case], *draws)


@pytest.mark.parametrize("gamma", [0.3, 1.1])
def test_without_discount_and_with_a_uniform_base_topics_are_dirichlet_vectors(gamma):
    problem = Problem(WORDS, (0.7, 0.3), 3, discount=0.0, concentration=3 * gamma)
    topics, _, _, _, components = run(problem)
    lda = segmented.Problem(
        [[list(node)] for node in WORDS], alpha=problem.alpha, gamma=gamma, n_features=3,
        discount=0.0,
    )  # fmt: skip
    assert_means(
        topics[:, :, None] == np.arange(2), enumerate_lda(lda, "document").topics, "P(z_i = k)"
    )
    np.testing.assert_allclose(components.sum(axis=2), 1.0)


@pytest.mark.parametrize("case", [*CASES, *LEARNED])
def test_log_joint(case):
    problem = {**CASES, **LEARNED}[case]
    for params in ({}, {"doc_topic_prior": "auto"}):
        for state in model(problem, max_iter=30, **params).iter_sweeps(corpus(problem)):
            now = replace(
                problem,
                alpha=tuple(state.doc_topic_prior),
                discount=state.topic_word_discount,
                concentration=state.topic_word_concentration,
            )
            expected = log_joint(now, state.topics, state.word_tables)
            assert state.log_joint() == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_counts_of_tables_stay_consistent():
    rng = np.random.default_rng(0)
    texts = [[rng.zipf(1.6, 150).clip(max=12) - 1] for _ in range(4)]
    problem = Problem([text[0].tolist() for text in texts], (0.5, 0.5), 12, gamma=0.2)
    estimator = model(problem, topic_word_prior="auto", max_iter=25)
    for state in estimator.iter_sweeps(corpus(problem)):
        counts = np.zeros((2, 12), dtype=int)
        np.add.at(counts, (state.topics, np.array(problem.words)), 1)
        tables = state.word_tables
        assert np.all(tables <= counts)
        assert np.array_equal(tables > 0, counts > 0)
        sampler = state._sampler
        assert np.array_equal(sampler.topic_tables, tables.sum(axis=1))
        assert np.array_equal(sampler.word_tables, tables.sum(axis=0))
        np.testing.assert_array_equal(sampler.word_counts, counts)
        np.testing.assert_allclose(sampler.components().sum(axis=1), 1.0)


def test_labels():
    """Words have topics in the set of their document, with the weights of the model without it."""
    problem = replace(CASES["three topics"], labels=[{1, 2}, {0, 1}])
    estimator = model(problem, max_iter=3)
    labeled = estimator._check_input(corpus(problem), problem.labels)
    sampler = estimator._start_sampler(labeled, make_seed_sequence(0), 0)
    draws = []
    for _ in range(BURN_IN + N_SWEEPS):
        sampler.sweep()
        draws.append((sampler.topics.copy(), sampler.tables[:, :3].T.copy()))
    topics, tables = (np.array(each)[BURN_IN:] for each in zip(*draws, strict=True))
    expected = enumerate_bursts(problem)
    assert_means(topics[:, :, None] == np.arange(3), expected.topics, "P(z_i = k)")
    assert_means(tables, expected.tables, "E[T_kw]")


def test_learned_prior_of_a_shared_base():
    """For fixed tables its updates end where the posterior is stationary."""
    problem = CASES["shared"]
    estimator = model(problem, topic_word_prior="auto", max_iter=3)
    estimator._check_input(corpus(problem))
    sampler = estimator._start_sampler(corpus(problem), make_seed_sequence(0), 0)
    sampler.sweep()
    sampler._sweep_words = lambda *args: None
    tables = sampler.word_tables

    def log_posterior(gamma):
        rises = gammaln(gamma + tables) - gammaln(gamma)
        return rises.sum() + gammaln(3 * gamma) - gammaln(3 * gamma + tables.sum()) - 0.1 * gamma

    for _ in range(3000):
        sampler.sweep()
    gamma = sampler.topic_word_prior
    assert 1e-5 < gamma < 1e5
    slope = (log_posterior(gamma * 1.0001) - log_posterior(gamma / 1.0001)) / 2e-4
    assert slope == pytest.approx(0.0, abs=1e-4)
