"""Topics that are Pitman-Yor processes against enumeration (exact/oracles/power_law.py)."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from exact.oracles.batch_means import check_chain
from exact.oracles.power_law import Problem, enumerate_power_law, expected_topics, log_joint

from skdp.data import SegmentedCorpus
from skdp.topics import GibbsLDA

BURN_IN, N_SWEEPS = 400, 12_000
WORDS = [[0, 0, 1], [2, 0]]
CASES = {
    "uniform": Problem(WORDS, (0.7, 0.7), 3, discount=0.4, concentration=1.3),
    "uniform, no discount": Problem(WORDS, (0.7, 0.3), 3, discount=0.0, concentration=0.9),
    "shared": Problem(WORDS, (0.7, 0.3), 3, discount=0.4, concentration=0.8, gamma=0.5),
    "no discount": Problem(WORDS, (1.2, 0.4), 3, discount=0.0, concentration=0.8, gamma=0.3),
    "one word": Problem([[0, 0, 0, 0], [0]], (0.7, 0.3), 2, 0.7, 0.4, gamma=0.5),
    "three topics": Problem([[0, 1], [1, 1]], (0.7, 0.3, 0.5), 3, 0.5, 1.0, gamma=0.5),
    "labels": Problem(
        [[0, 1], [1, 1]], (0.7, 0.3, 0.5), 3, 0.5, 1.0, gamma=0.5, labels=[{1, 2}, {0, 1}]
    ),
}
LEARNED = {
    "discount": Problem(WORDS, (0.7, 0.3), 3, None, 0.8, gamma=0.5, discount_prior=(1.5, 2.0)),
    "concentration": Problem(WORDS, (0.7, 0.3), 3, 0.3, None, concentration_prior=(2.0, 0.5)),
    "both": Problem(WORDS, (0.7, 0.3), 3, concentration_prior=(2.0, 0.5), gamma=0.5),
}
PROBLEMS = {**CASES, **LEARNED}
SLOW = ["uniform, no discount", "no discount", "three topics", "both"]


def model(problem, **params):
    auto = {
        name: "auto" if value is None else value
        for name, value in {
            "topic_word_prior": problem.gamma,
            "topic_word_discount": problem.discount,
            "topic_word_concentration": problem.concentration,
        }.items()
    }
    params = {
        "doc_topic_prior": np.array(problem.alpha),
        "topic_word_discount_prior": problem.discount_prior,
        "topic_word_concentration_prior": problem.concentration_prior,
        "topic_word_base": "uniform" if problem.gamma is None else "shared",
        "random_state": 0,
        **auto,
        **params,
    }
    return GibbsLDA(len(problem.alpha), **params)


def iter_sweeps(problem, **params):
    """Return the states of a chain of documents of one segment."""
    documents = [[list(node)] for node in problem.nodes]
    X = SegmentedCorpus.from_documents(documents, problem.n_features)
    return model(problem, **params).iter_sweeps(X, problem.labels)


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.slow) if c in SLOW else c for c in PROBLEMS]
)
def test_posterior(case):
    problem = PROBLEMS[case]
    expected = enumerate_power_law(problem)
    of_topics = expected_topics(problem) if case in CASES else None
    pairs = np.triu_indices(len(problem.words), 1)
    states = islice(iter_sweeps(problem, max_iter=BURN_IN + N_SWEEPS), BURN_IN, None)

    def step():
        state = next(states)
        a, b = state.topic_word_discount, np.log(state.topic_word_concentration)
        tables, components = state.word_tables.copy(), state._sampler.components()
        return state.topics.copy(), tables, np.array([a, a * a]), np.array([b, b * b]), components

    def compare(topics, tables, a, b, components):
        same = topics[:, pairs[0]] == topics[:, pairs[1]]
        yield same, expected.coassignment[pairs], "P(z_i = z_j)"
        yield topics[:, :, None] == np.arange(len(problem.alpha)), expected.topics, "P(z_i = k)"
        yield tables, expected.tables, "E[T_kw]"
        if case in LEARNED:
            yield a, expected.discount, "moments of a"
            yield b, expected.log_concentration, "moments of log b"
        else:
            yield components, of_topics, "E[phi]"

    check_chain(step, compare, N_SWEEPS)


@pytest.mark.parametrize("case", PROBLEMS)
def test_states(case):
    """The counts of tables are consistent, and a state knows its joint."""
    problem = PROBLEMS[case]
    for params in ({}, {"doc_topic_prior": "auto"}):
        for state in iter_sweeps(problem, max_iter=30, **params):
            check_counts(problem, state)
            now = replace(
                problem,
                alpha=tuple(state.doc_topic_prior),
                discount=state.topic_word_discount,
                concentration=state.topic_word_concentration,
            )
            expected = log_joint(now, state.topics, state.word_tables)
            assert state.log_joint() == pytest.approx(expected, rel=1e-10, abs=1e-10)


def check_counts(problem, state):
    counts = np.zeros((len(problem.alpha), problem.n_features), dtype=int)
    np.add.at(counts, (state.topics, np.array(problem.words)), 1)
    tables, sampler = state.word_tables, state._sampler
    assert np.all(tables <= counts)
    assert np.array_equal(tables > 0, counts > 0)
    assert np.array_equal(sampler.topic_tables, tables.sum(axis=1))
    assert np.array_equal(sampler.word_tables, tables.sum(axis=0))
    np.testing.assert_array_equal(sampler.word_counts, counts)
    np.testing.assert_allclose(sampler.components().sum(axis=1), 1.0)


def test_counts_of_many_words():
    rng = np.random.default_rng(0)
    nodes = [(rng.zipf(1.6, 150).clip(max=12) - 1).tolist() for _ in range(4)]
    problem = Problem(nodes, (0.5, 0.5), 12, gamma=0.2)
    for state in iter_sweeps(problem, topic_word_prior="auto", max_iter=25):
        check_counts(problem, state)
