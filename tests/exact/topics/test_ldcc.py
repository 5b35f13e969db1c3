"""LatentDirichletCoClustering against enumeration of all its states (see exact/oracles/ldcc.py).

About 700 comparisons of means: a correct sampler fails one of them, for one in 100 choices of
their seeds.
"""

from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from exact.oracles.batch_means import N_SWEEPS, assert_means
from exact.oracles.ldcc import (
    Problem,
    completion,
    counts_of,
    enumerate_posterior,
    estimates,
    fold_in,
    log_joint,
)
from exact.topics.table_models import observed_half

from skdp.data import SegmentedCorpus
from skdp.topics import LatentDirichletCoClustering
from skdp.topics._shared._priors import update_dirichlet

BURN_IN = 400
N_SEEDS = 40

CASES = {
    "asymmetric": Problem(
        [[[0, 0, 1], [], [1, 0]], [[1, 1]]],
        delta=(0.9, 0.3), alpha=((1.5, 0.2), (0.3, 0.9)), gamma=0.4, n_features=2,
    ),
    "one of them empty": Problem(
        [[[0, 0, 1, 0, 0]], [], [[]], [[1, 0], [1]]],
        delta=(0.4, 1.2), alpha=((0.5, 2.5), (0.3, 0.1)), gamma=0.3, n_features=3,
    ),
    "exchangeable": Problem(
        [[[0, 0, 1], [1, 1, 0]], [[0, 1]]],
        delta=(0.5, 0.5), alpha=((0.2, 1.5), (1.5, 0.2)), gamma=0.3, n_features=2,
    ),
    "sparse": Problem(  # y and z move together or hardly at all
        [[[0, 1, 0], [1, 1]], [[0, 0], [1]]],
        delta=(0.6, 0.6), alpha=((1.2, 1e-4), (1e-3, 0.8)), gamma=0.5, n_features=2,
    ),
    "three of both": Problem(
        [[[0, 0, 2], [1]], [[2, 0]]],
        delta=(0.7, 0.2, 0.4), alpha=((1.4, 0.3, 0.6), (0.1, 1.1, 0.1), (2.0, 2.0, 0.4)),
        gamma=0.5, n_features=3,
    ),
}  # fmt: skip
every_case = pytest.mark.parametrize("case", CASES)
posterior_of = cache(enumerate_posterior)  # problems compare by identity


def corpus(problem):
    n_features = problem.n_features if problem.phi is None else problem.phi.shape[1]
    return SegmentedCorpus.from_documents(problem.documents, n_features=n_features)


def model(problem, **params):
    n_clusters, n_topics = problem.shape
    params = {
        "document_topic_prior": np.array(problem.delta),
        "segment_topic_prior": np.array(problem.alpha),
        "topic_word_prior": problem.gamma,
        "random_state": 0,
        **params,
    }
    return LatentDirichletCoClustering(n_topics, n_clusters, **params)


def test_joint_of_the_oracle_is_a_distribution():
    """Summed over all words and states it is 1."""
    problem = Problem([[[0, 0], []], [[0]]], (0.7, 0.2), ((1.5, 0.2), (0.3, 0.9)), 0.4, 2)
    total = 0.0
    for a, b, c in product(range(2), repeat=3):
        words = replace(problem, documents=[[[a, b], []], [[c]]])
        for z in product(range(2), repeat=3):
            total += sum(np.exp(log_joint(words, z, y)) for y in product(range(2), repeat=3))
    assert total == pytest.approx(1.0, rel=1e-12)


# --- training -------------------------------------------------------------------------------


@dataclass
class Sweeps:
    topics: np.ndarray  # (n_sweeps, n_tokens)
    clusters: np.ndarray  # (n_sweeps, n_segments)
    log_joint: np.ndarray  # of every 40th


def run(problem, n_sweeps=N_SWEEPS, **params):
    """Run the training sampler and keep the state after every sweep that follows the burn-in."""
    sweeps = Sweeps(
        np.empty((n_sweeps, len(problem.words)), dtype=int),
        np.empty((n_sweeps, len(problem.segments)), dtype=int),
        np.empty(-(-n_sweeps // 40)),
    )
    estimator = model(problem, max_iter=BURN_IN + n_sweeps, **params)
    for i, state in enumerate(estimator.iter_sweeps(corpus(problem)), start=-BURN_IN):
        if i >= 0:
            sweeps.topics[i] = state.topics
            sweeps.clusters[i] = state.segment_clusters
            if i % 40 == 0:
                sweeps.log_joint[i // 40] = state.log_joint()
    return sweeps


def pairs_of(labels):
    return labels[:, :, None] == labels[:, None, :]


@every_case
def test_posterior(case):
    """Labels of both kinds are told apart by alpha, or trade places often."""
    problem, expected = CASES[case], posterior_of(CASES[case])
    sweeps = run(problem)
    same_topic, same_cluster = pairs_of(sweeps.topics), pairs_of(sweeps.clusters)
    assert_means(same_topic, expected.same_topic, "P(z_i = z_j)")
    assert_means(same_cluster, expected.same_cluster, "P(y_s = y_r)")
    both = same_topic[:, 0, :, None] & same_cluster[:, 0, None, :]
    assert_means(both, expected.topic_and_cluster, "P(z_i = z_0, y_s = y_0)")
    assert_means(sweeps.log_joint, expected.log_joint, "E[log joint]")
    n_clusters, n_topics = problem.shape
    topics = sweeps.topics[:, :, None] == np.arange(n_topics)
    assert_means(topics, expected.topics, "P(z_i = k)")
    clusters = sweeps.clusters[:, :, None] == np.arange(n_clusters)
    assert_means(clusters, expected.clusters, "P(y_s = y)")


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
    (fitted,) = [model(problem, max_iter=30, burn_in=29).fit(corpus(problem))]
    *_, state = model(problem, max_iter=30, burn_in=29).iter_sweeps(corpus(problem))
    theta, pi = estimates(problem, state.topics, state.segment_clusters)
    np.testing.assert_allclose(fitted.doc_topic_, theta, rtol=1e-12)
    np.testing.assert_allclose(fitted.segment_topic_, pi, rtol=1e-12)


def test_learned_priors_follow_their_counts():
    """Each sweep ends in one step of the fixed point, from the counts of the state."""
    problem = Problem([[[0, 1, 0], [1, 2], []], [[2, 2, 1]]], (1.0,) * 3, ((1.0,) * 2,) * 3, 0.3, 3)
    params = {"document_topic_prior": "auto", "segment_topic_prior": "auto"}
    prior, step = None, (1.0, 0.1, False)
    for state in model(problem, max_iter=60, **params).iter_sweeps(corpus(problem)):
        n, c, _ = counts_of(problem, state.topics, state.segment_clusters)
        n, y = np.array(n), state.segment_clusters
        c = np.array(c)
        c[0, y[2]] -= 1  # the segment without words
        if prior is not None:
            np.testing.assert_allclose(
                state.document_topic_prior, update_dirichlet(prior[0], c, *step), rtol=1e-12
            )
            for row, before, k in zip(state.segment_topic_prior, prior[1], range(3), strict=True):
                own = n[y == k]
                expected = update_dirichlet(before, own, *step) if own.any() else before
                np.testing.assert_allclose(row, expected, rtol=1e-12)
        prior = state.document_topic_prior.copy(), state.segment_topic_prior.copy()


@pytest.mark.parametrize("case", ["asymmetric", "sparse"])
def test_long_segments_leave_the_tables(case, monkeypatch):
    """Tabulated and computed rising factorials are equal."""
    expected = run(CASES[case], 500).clusters
    monkeypatch.setattr("skdp.topics._ldcc._kernels.LARGEST_COUNT", 1)
    monkeypatch.setattr("skdp.topics._ldcc._kernels.LONGEST_SEGMENT", 1)
    np.testing.assert_array_equal(run(CASES[case], 500).clusters, expected)


# --- topics fixed ---------------------------------------------------------------------------

PHI = np.array([[0.5, 0.3, 0.1, 0.1], [0.05, 0.15, 0.4, 0.4], [0.3, 0.1, 0.05, 0.55]])
FOLD_IN = {
    "dense": Problem(
        [[[0, 0, 2], [3, 0]], [[], [1], [1, 1, 3]], [[2]], [[]], []],
        delta=(0.3, 0.9), alpha=((0.3, 0.9, 0.5), (2.0, 0.2, 1.0)), phi=PHI,
    ),
    "sparse": Problem(
        [[[0, 1], [], [3, 0, 2]], [[3, 3], [1, 0]], [[2, 2], []]],
        delta=(0.5, 0.2), alpha=((1.0, 1e-3, 1e-3), (1e-4, 0.6, 0.9)), phi=PHI,
    ),
}  # fmt: skip
every_fold_in = pytest.mark.parametrize("case", FOLD_IN)


def estimators(problem):
    """Estimators with independent random streams; each estimate of each is one draw."""
    return [
        LatentDirichletCoClustering.from_topics(
            problem.phi,
            document_topic_prior=np.array(problem.delta),
            segment_topic_prior=np.array(problem.alpha),
            transform_max_iter=2000,
            random_state=seed,
        )
        for seed in range(N_SEEDS)
    ]


@every_fold_in
def test_transform(case):
    problem = FOLD_IN[case]
    X, expected, found = corpus(problem), fold_in(problem), estimators(problem)
    theta = np.array([estimator.transform(X) for estimator in found])
    assert_means(theta, np.array([row for row, _ in expected]), "E[theta]", resolution=1e-6)
    pi = np.array([estimator.transform_segments(X) for estimator in found])
    assert_means(pi, np.concatenate([rows for _, rows in expected]), "E[pi]", resolution=1e-6)
    for shares in (theta, pi):
        np.testing.assert_allclose(shares.sum(axis=-1), 1.0, rtol=0, atol=1e-9)


@every_fold_in
def test_completion(case):
    problem = FOLD_IN[case]
    X, found = corpus(problem), estimators(problem)
    scores = np.array([estimator.score_samples(X) for estimator in found])
    expected = completion(problem, observed_half(X))
    assert_means(scores, expected, "log p(half | other half)", resolution=1e-6)


@every_fold_in
def test_documents_without_tokens_have_the_prior_mean(case):
    problem = replace(FOLD_IN[case], documents=[[], [[]], [[], []]])
    X, estimator = corpus(problem), estimators(problem)[0]
    delta, alpha = np.array(problem.delta), np.array(problem.alpha)
    theta = delta / delta.sum()
    pi = theta @ (alpha / alpha.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(estimator.transform(X), np.tile(theta, (3, 1)), rtol=1e-12)
    np.testing.assert_allclose(estimator.transform_segments(X), np.tile(pi, (3, 1)), rtol=1e-12)
    np.testing.assert_array_equal(estimator.score_samples(X), 0.0)
