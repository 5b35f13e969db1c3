"""SegmentedTopicModel against enumeration of all its states (see exact/oracles/segmented.py)."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from exact.oracles.batch_means import N_SWEEPS, assert_means
from exact.oracles.segmented import (
    Posterior,
    Problem,
    completion,
    dirichlet_gradient,
    enumerate_lda,
    enumerate_posterior,
    fold_in,
    log_dirichlet_posterior,
    log_joint,
)

from skdp.data import SegmentedCorpus
from skdp.topics import SegmentedTopicModel
from skdp.topics._priors import update_dirichlet, update_symmetric_dirichlet

SAMPLERS = ["btigs", "cmgs", "ssa"]
BURN_IN = 400

# Topics are exchangeable under a symmetric alpha, and identified under an asymmetric one.
CASES = {
    "one segment": Problem(
        [[[0, 0, 1, 0, 1, 2, 0]]],
        alpha=(0.6, 0.6), gamma=0.4, n_features=3, discount=0.5, concentration=1.0,
    ),
    "long segment": Problem(  # several tables a topic, of different sizes
        [[[0, 0, 0, 0, 0, 0, 1, 1, 1, 1]]],
        alpha=(3.0, 0.3), gamma=0.4, n_features=2, discount=0.8, concentration=0.3,
    ),
    "no discount": Problem(
        [[[0, 1, 0, 0], [1, 1, 0]]],
        alpha=(0.3, 0.3), gamma=0.5, n_features=3, discount=0.0, concentration=0.2,
    ),
    "leading empty": Problem(
        [[[], [0, 1, 1], [0, 0, 2]]],
        alpha=(0.5, 0.5, 0.5), gamma=0.2, n_features=3, discount=0.5, concentration=5.0,
    ),
    "middle empty": Problem(
        [[[0, 0, 1, 0], [], [1, 2, 2]]],
        alpha=(0.8, 0.8), gamma=0.3, n_features=4, discount=0.0, concentration=25.0,
    ),
    "trailing empty": Problem(
        [[[0, 0, 0], [1, 0], []], [[1, 1, 0], [0]]],
        alpha=(0.5, 0.5), gamma=0.3, n_features=2, discount=0.5, concentration=2.0,
    ),
    "large discount": Problem(
        [[[0, 0, 0, 1], [1, 1]], [[0, 1, 0]]],
        alpha=(0.7, 0.7), gamma=0.3, n_features=2, discount=0.9, concentration=0.2,
    ),
    "asymmetric": Problem(
        [[[0, 0, 1, 0, 0], [1, 1, 0]], []],
        alpha=(1.5, 0.2), gamma=0.4, n_features=2, discount=0.5, concentration=0.5,
    ),
    "three topics": Problem(
        [[[0, 0, 1], [2]], [[0], [], [1, 1]]],
        alpha=(1.4, 0.3, 0.6), gamma=0.5, n_features=3, discount=0.9, concentration=1.5,
    ),
}  # fmt: skip
IDENTIFIED = [name for name, problem in CASES.items() if len(set(problem.alpha)) > 1]

every_sampler = pytest.mark.parametrize("sampler", SAMPLERS)
every_case = pytest.mark.parametrize("case", CASES)


def corpus(problem: Problem) -> SegmentedCorpus:
    n_features = problem.n_features if problem.phi is None else problem.phi.shape[1]
    return SegmentedCorpus.from_documents(problem.documents, n_features=n_features)


def model(problem: Problem, **params) -> SegmentedTopicModel:
    """Return the estimator for a problem, concentration random where the problem's is."""
    params = {
        "n_components": len(problem.alpha),
        "doc_topic_prior": np.array(problem.alpha),
        "topic_word_prior": problem.gamma,
        "discount": problem.discount,
        "concentration": "auto" if problem.concentration is None else problem.concentration,
        "concentration_prior": problem.concentration_prior,
        "random_state": 0,
        **params,
    }
    return SegmentedTopicModel(**params)


@dataclass
class Sweeps:
    topics: np.ndarray  # (n_sweeps, n_tokens)
    tables: np.ndarray  # (n_sweeps, n_segments, K)
    concentration: np.ndarray  # (n_sweeps,)
    log_joint: np.ndarray


def run(problem: Problem, n_sweeps: int = N_SWEEPS, **params) -> Sweeps:
    """Run the training sampler and keep the state after every sweep that follows the burn-in."""
    K, n_segments = len(problem.alpha), problem.doc_ptr[-1]
    sweeps = Sweeps(
        np.empty((n_sweeps, len(problem.words)), dtype=int),
        np.empty((n_sweeps, n_segments, K), dtype=int),
        np.empty(n_sweeps),
        np.empty(n_sweeps),
    )
    estimator = model(problem, max_iter=BURN_IN + n_sweeps, **params)
    n_seen = 0
    for i, state in enumerate(estimator.iter_sweeps(corpus(problem)), start=-BURN_IN):
        n_seen += 1
        if i >= 0:
            sweeps.topics[i] = state.topics
            sweeps.tables[i] = state.tables_to_document
            sweeps.concentration[i] = state.concentration
            if i % 40 == 0:
                sweeps.log_joint[i : i + 40] = state.log_joint()
    assert n_seen == BURN_IN + n_sweeps
    return sweeps


@cache
def posterior_of(case: str) -> Posterior:
    return enumerate_posterior(CASES[case])


def assert_posterior(sweeps: Sweeps, expected: Posterior, identified: bool = False) -> None:
    """Compare everything that does not depend on the labels of exchangeable topics."""
    pairs = np.triu_indices(sweeps.topics.shape[1], 1)
    same = sweeps.topics[:, pairs[0]] == sweeps.topics[:, pairs[1]]
    assert_means(same, expected.coassignment[pairs], "P(z_i = z_j)")
    n_tables = expected.tables_to_document.sum(axis=1)
    assert_means(sweeps.tables.sum(axis=2), n_tables, "E[tables of a segment]")
    assert_means(sweeps.log_joint[::40], expected.log_joint, "E[log joint]")
    if identified:
        topics = sweeps.topics[:, :, None] == np.arange(expected.topics.shape[1])
        assert_means(topics, expected.topics, "P(z_i = k)")
        assert_means(sweeps.tables, expected.tables_to_document, "E[tables]")


# --- training -------------------------------------------------------------------------------


@every_case
@every_sampler
def test_posterior(sampler, case):
    sweeps = run(CASES[case], sampler=sampler)
    assert_posterior(sweeps, posterior_of(case), case in IDENTIFIED)


@every_case
def test_samplers_take_different_trajectories(case):
    runs = [run(CASES[case], 1000, sampler=sampler) for sampler in SAMPLERS]
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        assert np.any(runs[i].topics != runs[j].topics)


@every_case
@every_sampler
def test_state_is_consistent_and_knows_its_joint(sampler, case):
    problem = CASES[case]
    estimator = model(problem, sampler=sampler, max_iter=60)
    segment_of_token = np.array(problem.segment_of_token)
    for state in estimator.iter_sweeps(corpus(problem)):
        n = np.zeros((problem.doc_ptr[-1], len(problem.alpha)), dtype=int)
        np.add.at(n, (segment_of_token, state.topics), 1)
        tables = np.asarray(state.tables_to_document)
        assert np.all(tables <= n)
        assert np.all((tables == 0) == (n == 0))
        expected = log_joint(problem, state.topics, tables)
        assert state.log_joint() == pytest.approx(expected, rel=1e-10, abs=1e-10)


@every_sampler
def test_log_joint_of_estimated_hyper_parameters(sampler):
    problem = replace(CASES["trailing empty"], concentration=None)
    estimator = model(
        problem, sampler=sampler, max_iter=60, doc_topic_prior="auto", topic_word_prior="auto"
    )
    priors = set()
    for state in estimator.iter_sweeps(corpus(problem)):
        now = replace(
            problem,
            alpha=tuple(state.doc_topic_prior),
            gamma=float(state.topic_word_prior),
            concentration=float(state.concentration),
        )
        expected = log_joint(now, state.topics, state.tables_to_document)
        assert state.log_joint() == pytest.approx(expected, rel=1e-10, abs=1e-10)
        priors.add((now.alpha, now.gamma, now.concentration))
    assert len(priors) > 30


RANDOM_CONCENTRATION = {
    "two segments": replace(
        CASES["no discount"], concentration=None, concentration_prior=(2.0, 0.5)
    ),
    "two documents": replace(
        CASES["large discount"], discount=0.4, concentration=None,
        concentration_prior=(1.0, 0.3),
    ),
    "empty segment": replace(
        CASES["trailing empty"], concentration=None,
        concentration_prior=(3.0, 2.0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RANDOM_CONCENTRATION)
@every_sampler
def test_random_concentration(sampler, case):
    problem = RANDOM_CONCENTRATION[case]
    expected = enumerate_posterior(problem)
    sweeps = run(problem, sampler=sampler)
    assert_means(sweeps.concentration, expected.concentration, "E[b]")
    assert_posterior(sweeps, expected)


# --- topics fixed ---------------------------------------------------------------------------

PHI = np.array([[0.5, 0.3, 0.1, 0.1], [0.05, 0.15, 0.4, 0.4], [0.3, 0.1, 0.05, 0.55]])
FOLD_IN = {
    "small concentration": Problem(
        [[[0, 0, 2], [3, 0, 2]], [[], [1, 1, 1, 3]], [[2]], [[]], []],
        alpha=(0.3, 0.9, 0.5), phi=PHI, discount=0.5, concentration=0.4,
    ),
    "large concentration": Problem(
        [[[0, 1, 2], [], [3, 0, 2]], [[3, 3], [1, 0]], [[2, 2, 0], [1, 1], []]],
        alpha=(0.2, 0.4, 0.1), phi=PHI, discount=0.0, concentration=12.0,
    ),
    "large discount": Problem(
        [[[0, 0, 0, 0, 1], [2, 3, 0]], [[3, 1, 0, 0]]],
        alpha=(0.5, 0.5, 0.5), phi=PHI, discount=0.9, concentration=2.0,
    ),
    "random concentration": Problem(
        [[[0, 0, 2], [3, 0, 2]], [[0, 0, 0, 0, 1, 0]], [[], []]],
        alpha=(0.3, 0.9, 0.5), phi=PHI, discount=0.2, concentration_prior=(1.5, 0.4),
    ),
}  # fmt: skip
every_fold_in = pytest.mark.parametrize("case", FOLD_IN)
N_SEEDS = 40


def estimators(problem: Problem, n_iter: int = 2000, **params) -> list[SegmentedTopicModel]:
    """Estimators with independent random streams; each estimate of each is one draw."""
    return [
        SegmentedTopicModel.from_topics(
            problem.phi,
            doc_topic_prior=np.array(problem.alpha),
            discount=problem.discount,
            concentration="auto" if problem.concentration is None else problem.concentration,
            concentration_prior=problem.concentration_prior,
            transform_max_iter=n_iter,
            random_state=seed,
            **params,
        )
        for seed in range(N_SEEDS)
    ]


@every_fold_in
@every_sampler
def test_transform(sampler, case):
    problem = FOLD_IN[case]
    X, expected = corpus(problem), fold_in(problem)
    found = estimators(problem, sampler=sampler)
    mu = np.array([estimator.transform(X) for estimator in found])
    nu = np.array([estimator.transform_segments(X) for estimator in found])
    for draws, name in ((mu, "mu"), (nu, "nu")):
        rows = np.concatenate([getattr(posterior, name) for posterior in expected])
        assert_means(draws, rows, f"E[{name}]", resolution=1e-6)
        np.testing.assert_allclose(draws.sum(axis=-1), 1.0, rtol=0, atol=1e-6)


@every_fold_in
@every_sampler
def test_completion(sampler, case):
    problem = FOLD_IN[case]
    X, expected = corpus(problem), completion(problem)
    n_scored = sum(len(segment) // 2 for document in problem.documents for segment in document)
    found = estimators(problem, sampler=sampler)
    scores = np.array([estimator.score_samples(X) for estimator in found])
    assert_means(scores, expected, "log p(odd | even)", resolution=1e-6)
    for estimator, score in zip(found[:3], scores, strict=False):
        assert estimator.score(X) == pytest.approx(score.sum() / n_scored, rel=1e-10)
        assert estimator.perplexity(X) == pytest.approx(np.exp(-score.sum() / n_scored), rel=1e-10)


@pytest.mark.parametrize("case", ["small concentration", "random concentration"])
def test_documents_without_tokens_have_the_prior_mean(case):
    problem = replace(FOLD_IN[case], documents=[[], [[]], [[], []]])
    X, estimator = corpus(problem), estimators(problem)[0]
    expected = np.array(problem.alpha) / sum(problem.alpha)
    for shares in (estimator.transform(X), estimator.transform_segments(X)):
        np.testing.assert_allclose(shares, np.tile(expected, (3, 1)), rtol=1e-6)
    np.testing.assert_array_equal(estimator.score_samples(X), 0.0)


# --- facts about the model ------------------------------------------------------------------


@every_sampler
@pytest.mark.parametrize(
    "limit", [{"concentration": 1e8}, {"discount": 0.99999999}], ids=["concentration", "discount"]
)
def test_limits_give_lda(sampler, limit):
    """When every word opens a table the segments are a bag of words."""
    problem = replace(CASES["trailing empty"], **limit)
    topics = run(problem, sampler=sampler).topics
    same = topics[:, :, None] == topics[:, None, :]
    assert_means(same, enumerate_lda(problem), "P(z_i = z_j)")


@every_sampler
def test_order_of_segments_and_empty_ones_are_irrelevant(sampler):
    """Documents that differ in them alone have one and the same posterior of mu and nu."""
    segments = [[0, 0, 2], [3, 0], []]
    orders = [(0, 1), (1, 0), (0, 1, 2), (2, 0, 1), (1, 2, 2, 0, 2)]
    problem = replace(
        FOLD_IN["small concentration"],
        documents=[[segments[j] for j in order] for order in orders],
    )
    (expected,) = fold_in(replace(problem, documents=problem.documents[:1]))
    found = estimators(problem, sampler=sampler)
    mu = np.array([estimator.transform(corpus(problem)) for estimator in found])
    assert_means(mu, np.tile(expected.mu, (len(orders), 1)), "E[mu]", resolution=1e-6)
    nu = np.array([estimator.transform_segments(corpus(problem)) for estimator in found])
    rows = np.array([j for order in orders for j in order])
    of_segment = np.vstack([expected.nu, expected.mu])  # an empty segment's nu is mu
    assert_means(nu, of_segment[rows], "E[nu]", resolution=1e-6)


@every_sampler
def test_count_matrix_is_documents_of_one_segment(sampler):
    """A row of counts is a document whose one segment holds the words in column order."""
    counts = np.array([[3, 1, 0], [0, 2, 1]])
    problem = Problem(
        [[[0, 0, 0, 1]], [[1, 1, 2]]],
        alpha=(0.9, 0.3), gamma=0.4, n_features=3, discount=0.5, concentration=1.0,
    )  # fmt: skip
    estimator = model(problem, sampler=sampler, max_iter=BURN_IN + N_SWEEPS)
    topics = np.array([state.topics.copy() for state in estimator.iter_sweeps(counts)])[BURN_IN:]
    np.testing.assert_array_equal(topics, run(problem, sampler=sampler).topics)
    found = topics[:, :, None] == np.arange(2)
    assert_means(found, enumerate_posterior(problem).topics, "P(z_i = k)")


# --- the Dirichlet priors -------------------------------------------------------------------

FLOOR = 1e-6
COUNTS = {
    "documents": np.array([[3, 0, 1], [0, 0, 0], [2, 5, 1], [1, 1, 0], [4, 1, 0]]),
    "one document": np.array([[2, 1, 4]]),
    "one topic": np.array([[3], [5]]),
    "a topic without tables": np.array([[3, 0, 1], [2, 0, 2]]),
}
# One topic has a flat likelihood: under an exponential prior it creeps to the floor for ever.
every_prior = pytest.mark.parametrize(
    ("counts", "shape", "rate"),
    [
        pytest.param(COUNTS[name], *prior, id=f"{name} {prior[0]}")
        for name in COUNTS
        for prior in [(1.0, 0.1), (2.0, 0.5)]
        if (name, prior[0]) != ("one topic", 1.0)
    ],
)


def fixed_point(update, prior, n_iter=20_000):
    for _ in range(n_iter):
        prior = update(prior)
    return prior


def assert_stationary(prior, counts, shape, rate):
    """The gradient vanishes, or points outwards where a prior lies on the floor."""
    prior = np.asarray(prior, dtype=float)
    gradient = dirichlet_gradient(prior, counts, shape, rate)
    inside = prior > FLOOR
    np.testing.assert_allclose(np.where(inside, prior * gradient, 0.0), 0.0, atol=1e-8)
    assert np.all(prior >= FLOOR)
    assert np.all(gradient[~inside] <= 0.0)
    if np.all(inside):
        best = log_dirichlet_posterior(prior, counts, shape, rate)
        for factor in (0.9, 0.999, 1.001, 1.1):
            assert log_dirichlet_posterior(factor * prior, counts, shape, rate) < best


@pytest.mark.parametrize("symmetric", [False, True], ids=["auto", "auto-symmetric"])
@every_prior
def test_doc_topic_prior_fixed_point_has_zero_gradient(counts, shape, rate, symmetric):
    start = np.full(counts.shape[1], 0.5) if symmetric else np.linspace(0.3, 1.2, counts.shape[1])
    prior = fixed_point(
        lambda prior: update_dirichlet(prior, counts, shape, rate, symmetric), start
    )
    assert prior.shape == start.shape
    if symmetric:
        assert np.all(prior == prior[0])
        assert_stationary(prior[0], counts, shape, rate)
    else:
        assert_stationary(prior, counts, shape, rate)


@every_prior
def test_topic_word_prior_fixed_point_has_zero_gradient(counts, shape, rate):
    prior = fixed_point(lambda prior: update_symmetric_dirichlet(prior, counts, shape, rate), 0.5)
    assert_stationary(prior, counts, shape, rate)


def test_update_of_a_prior_keeps_the_floor():
    nothing = np.zeros((2, 3), dtype=int)
    assert np.all(update_dirichlet(np.full(3, 0.5), nothing, 1.0, 0.1, False) == FLOOR)
    assert update_symmetric_dirichlet(0.5, nothing, 1.0, 0.1) == FLOOR
