"""LatentDirichletCoClustering against enumeration of all its states (exact/oracles/ldcc.py)."""

from dataclasses import replace
from functools import cache
from itertools import islice, product

import numpy as np
import pytest
from exact.oracles.batch_means import N_SWEEPS, assert_means, check_chain
from exact.oracles.ldcc import Problem, counts_of, enumerate_posterior, estimates, log_joint
from exact.topics.table_models import BURN_IN, N_SEEDS, corpus, hints_of

from skdp.topics import LatentDirichletCoClustering
from skdp.topics._shared._arrays import count_frequencies, update_by_frequencies

HINTED = Problem([[[0, 0, 1], [1, 0]], [[1, 2]]], (0.6, 0.6), ((1.2, 0.2), (0.2, 1.2)), gamma=0.5)
CASES = {
    "asymmetric": Problem(
        [[[0, 0, 1], [], [1, 0]], [[1, 1]]], (0.9, 0.3), ((1.5, 0.2), (0.3, 0.9)), gamma=0.4
    ),
    "one of them empty": Problem(
        [[[0, 0, 1, 0, 0]], [], [[]], [[1, 0], [1]]], (0.4, 1.2), ((0.5, 2.5), (0.3, 0.1)),
        gamma=0.3, n_features=3,
    ),
    "exchangeable": Problem(
        [[[0, 0, 1], [1, 1, 0]], [[0, 1]]], (0.5, 0.5), ((0.2, 1.5), (1.5, 0.2)), gamma=0.3
    ),
    "sparse": Problem(  # y and z move together or hardly at all
        [[[0, 1, 0], [1, 1]], [[0, 0], [1]]], (0.6, 0.6), ((1.2, 1e-4), (1e-3, 0.8)), gamma=0.5
    ),
    "three of both": Problem(
        [[[0, 0, 2], [1]], [[2, 0]]], (0.7, 0.2, 0.4),
        ((1.4, 0.3, 0.6), (0.1, 1.1, 0.1), (2.0, 2.0, 0.4)), gamma=0.5,
    ),
    "seeds": replace(HINTED, seeds=np.array([[0, 2, 2], [0, 0, 0]])),
    "fixed": replace(HINTED, fixed=np.array([[0.6, 0.0, 0.4]])),
}  # fmt: skip
every_case = pytest.mark.parametrize("case", CASES)
posterior_of = cache(enumerate_posterior)  # problems compare by identity


def model(problem, **params):
    n_clusters, n_topics = problem.shape
    params = {
        "document_topic_prior": np.array(problem.delta),
        "segment_topic_prior": np.array(problem.alpha),
        "topic_word_prior": problem.gamma,
        "random_state": 0,
        **hints_of(problem),
        **params,
    }
    return LatentDirichletCoClustering(n_topics, n_clusters, **params)


def test_joint_of_the_oracle_is_a_distribution():
    """Summed over all words and states it is 1."""
    problem = Problem(
        [[[0, 0], []], [[0]]], (0.7, 0.2), ((1.5, 0.2), (0.3, 0.9)), gamma=0.4, n_features=2
    )
    total = 0.0
    for a, b, c in product(range(2), repeat=3):
        words = replace(problem, documents=[[[a, b], []], [[c]]])
        for z in product(range(2), repeat=3):
            total += sum(np.exp(log_joint(words, z, y)) for y in product(range(2), repeat=3))
    assert total == pytest.approx(1.0, rel=1e-12)


def pairs_of(labels):
    return labels[:, :, None] == labels[:, None, :]


@every_case
def test_posterior(case):
    """Labels of both kinds are told apart by alpha, or trade places often."""
    problem, expected = CASES[case], posterior_of(CASES[case])
    n_clusters, n_topics = problem.shape
    chain = model(problem, max_iter=BURN_IN + N_SWEEPS).iter_sweeps(corpus(problem))
    states = enumerate(islice(chain, BURN_IN, None))

    def step():
        i, state = next(states)
        value = state.log_joint() if i % 40 == 0 else np.nan
        return state.topics.copy(), state.segment_clusters.copy(), value

    def compare(topics, clusters, log_joint):
        same_topic, same_cluster = pairs_of(topics), pairs_of(clusters)
        yield same_topic, expected.coassignment, "P(z_i = z_j)"
        yield same_cluster, expected.same_cluster, "P(y_s = y_r)"
        both = same_topic[:, 0, :, None] & same_cluster[:, 0, None, :]
        yield both, expected.topic_and_cluster, "P(z_i = z_0, y_s = y_0)"
        yield log_joint[::40], expected.log_joint, "E[log joint]"
        yield topics[:, :, None] == np.arange(n_topics), expected.topics, "P(z_i = k)"
        yield clusters[:, :, None] == np.arange(n_clusters), expected.clusters, "P(y_s = y)"

    check_chain(step, compare)


@pytest.mark.parametrize("learned", [False, True], ids=["given", "learned"])
@every_case
def test_state_knows_its_joint(case, learned):
    problem, params = CASES[case], {}
    if learned:
        names = ("document_topic_prior", "segment_topic_prior", "topic_word_prior")
        params = dict.fromkeys(names, "auto")
    seen = set()
    for state in model(problem, max_iter=40, **params).iter_sweeps(corpus(problem)):
        now = replace(
            problem,
            delta=state.document_topic_prior.tolist(),
            alpha=state.segment_topic_prior.tolist(),
            gamma=state.topic_word_prior,
        )
        expected = log_joint(now, state.topics, state.segment_clusters)
        assert state.log_joint() == pytest.approx(expected, rel=1e-10, abs=1e-10)
        seen.add((*now.delta, *np.ravel(now.alpha).tolist(), now.gamma))
    assert len(seen) == (40 if learned else 1)


@pytest.mark.parametrize("case", ["asymmetric", "one of them empty", "three of both"])
def test_attributes_are_posterior_means(case):
    """E[theta] and E[pi], with the document-topics of empty segments integrated out."""
    problem, expected = CASES[case], posterior_of(CASES[case])
    X = corpus(problem)
    found = [
        model(problem, max_iter=600, thin=1, random_state=seed).fit(X) for seed in range(N_SEEDS)
    ]
    theta = np.array([estimator.doc_topic_ for estimator in found])
    assert_means(theta, expected.theta, "E[theta]", resolution=1e-4)
    pi = np.array([estimator.segment_topic_ for estimator in found])
    assert_means(pi, expected.pi, "E[pi]", resolution=1e-4)


def test_estimates_of_one_state():
    """Without empty segments the attributes of one kept sweep are those of its state."""
    problem = CASES["three of both"]
    fitted = model(problem, max_iter=30, burn_in=29).fit(corpus(problem))
    *_, state = model(problem, max_iter=30, burn_in=29).iter_sweeps(corpus(problem))
    theta, pi = estimates(problem, state.topics, state.segment_clusters)
    np.testing.assert_allclose(fitted.doc_topic_, theta, rtol=1e-12)
    np.testing.assert_allclose(fitted.segment_topic_, pi, rtol=1e-12)


def test_learned_priors_follow_their_counts():
    """Each sweep ends in one step of the fixed point, from the counts of the state."""
    problem = Problem(
        [[[0, 1, 0], [1, 2], []], [[2, 2, 1]]], (1.0,) * 3, ((1.0,) * 2,) * 3, gamma=0.3
    )
    params = {"document_topic_prior": "auto", "segment_topic_prior": "auto"}
    prior = None

    def updated(prior, counts):
        found = count_frequencies([counts], len(prior))
        return update_by_frequencies(prior, found, 1.0, 0.1, symmetric=False)

    for state in model(problem, max_iter=60, **params).iter_sweeps(corpus(problem)):
        n, c = counts_of(problem, state.topics, state.segment_clusters)
        y = state.segment_clusters
        c[0, y[2]] -= 1  # the segment without words
        if prior is not None:
            np.testing.assert_allclose(state.document_topic_prior, updated(prior[0], c), rtol=1e-12)
            for row, before, k in zip(state.segment_topic_prior, prior[1], range(3), strict=True):
                own = n[y == k]
                expected = updated(before, own) if own.any() else before
                np.testing.assert_allclose(row, expected, rtol=1e-12)
        prior = state.document_topic_prior.copy(), state.segment_topic_prior.copy()


@pytest.mark.parametrize("case", ["asymmetric", "sparse"])
def test_long_segments_leave_the_tables(case, monkeypatch):
    """Tabulated and computed rising factorials are equal."""
    problem = CASES[case]

    def clusters():
        states = model(problem, max_iter=600).iter_sweeps(corpus(problem))
        return [state.segment_clusters.tolist() for state in states]

    expected = clusters()
    monkeypatch.setattr("skdp.topics._kernels._ldcc.LARGEST_COUNT", 1)
    monkeypatch.setattr("skdp.topics._kernels._ldcc.LONGEST_SEGMENT", 1)
    assert clusters() == expected
