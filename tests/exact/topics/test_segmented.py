"""SegmentedTopicModel against enumeration of all its states (see exact/oracles/segmented.py)."""

from dataclasses import replace

import numpy as np
import pytest
from exact.oracles.batch_means import N_SWEEPS, assert_means
from exact.oracles.segmented import (
    Problem,
    dirichlet_gradient,
    enumerate_lda,
    enumerate_posterior,
    fold_in,
    log_dirichlet_posterior,
)
from exact.topics.table_models import (
    BURN_IN,
    PHI,
    cases,
    check_completion,
    check_documents_without_tokens,
    check_posterior,
    check_states,
    check_states_with_learned_priors,
    check_trajectories_differ,
    check_transform,
    corpus,
    estimators,
    every_sampler,
    model,
    mostly_one_sampler,
    run,
)

from skdp.data import SegmentedCorpus
from skdp.topics import SegmentedTopicModel
from skdp.topics._shared._priors import sum_rises, update_dirichlet, update_symmetric_dirichlet
from skdp.topics._tables._kernels_btigs import MOST_LISTED

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
FAST_CASES = ("long segment", "middle empty", "three topics")
SLOW_CASES = [case for case in CASES if case not in FAST_CASES]
every_case = pytest.mark.parametrize("case", CASES)


# --- training -------------------------------------------------------------------------------


@every_sampler
def test_more_topics_than_are_listed(sampler):
    """With one word in the vocabulary the posterior is the prior, whose means are known.

    Two words of a segment sit at one table with probability (1 - a) / (1 + b), and two tables of a
    document have one dish with probability (1 + alpha) / (1 + K alpha). The longer segment has so
    many topics at times that the sampler does not list them, the shorter one never has.
    """
    n_topics, alpha, a, b, lengths = 40, 0.5, 0.4, 8.0, (5, 60)
    data = SegmentedCorpus.from_documents([[[0] * n for n in lengths]], n_features=1)
    estimator = SegmentedTopicModel(
        n_topics, sampler=sampler, discount=a, concentration=b, topic_word_prior=0.3,
        doc_topic_prior=np.full(n_topics, alpha), max_iter=BURN_IN + N_SWEEPS, random_state=0,
    )  # fmt: skip
    n_tables = []
    for n in lengths:
        tables = 0.0
        for i in range(n):
            tables += (b + a * tables) / (b + i)
        n_tables.append(tables)
    same_table, same_dish = (1 - a) / (1 + b), (1 + alpha) / (1 + n_topics * alpha)
    within = same_table + (1 - same_table) * same_dish
    tables, together, n_present = [], [], []
    for state in estimator.iter_sweeps(data):
        short, long = (
            np.bincount(topics, minlength=n_topics)
            for topics in np.split(state.topics, lengths[:1])
        )
        pairs = [m @ (m - 1) / (n * (n - 1)) for m, n in zip((short, long), lengths, strict=True)]
        together.append([*pairs, short @ long / np.prod(lengths)])
        tables.append(state.tables_to_document.sum(axis=1))
        n_present.append(np.count_nonzero(long))
    assert 0.2 < np.mean(np.array(n_present) > MOST_LISTED) < 0.98
    assert_means(together[BURN_IN:], [within, within, same_dish], "co-assignments")
    assert_means(tables[BURN_IN:], n_tables, "tables")


@cases(CASES, SLOW_CASES)
@every_sampler
def test_posterior(sampler, case):
    check_posterior(CASES[case], sampler)


@cases(CASES, SLOW_CASES)
def test_samplers_take_different_trajectories(case):
    check_trajectories_differ(CASES[case])


@every_case
@every_sampler
def test_state_is_consistent_and_knows_its_joint(sampler, case):
    check_states(CASES[case], sampler=sampler)


@every_sampler
def test_log_joint_of_estimated_hyper_parameters(sampler):
    problem = replace(CASES["trailing empty"], concentration=None)
    check_states_with_learned_priors(problem, sampler)


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


@cases(RANDOM_CONCENTRATION, ["two segments", "empty segment"])
@mostly_one_sampler
def test_random_concentration(sampler, case):
    check_posterior(RANDOM_CONCENTRATION[case], sampler)


# --- topics fixed ---------------------------------------------------------------------------

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
mostly_every_fold_in = cases(FOLD_IN, ["large discount"])


@mostly_every_fold_in
@every_sampler
def test_transform(sampler, case):
    check_transform(FOLD_IN[case], sampler)


@mostly_every_fold_in
@every_sampler
def test_completion(sampler, case):
    check_completion(FOLD_IN[case], sampler)


@pytest.mark.parametrize("case", ["small concentration", "random concentration"])
def test_documents_without_tokens_have_the_prior_mean(case):
    check_documents_without_tokens(FOLD_IN[case])


# --- facts about the model ------------------------------------------------------------------


@mostly_one_sampler
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
    np.testing.assert_array_equal(topics[:1000], run(problem, 1000, sampler=sampler).topics)
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
    prior = fixed_point(
        lambda prior: update_symmetric_dirichlet(
            prior, sum_rises(prior, counts), counts.sum(axis=1), counts.shape[1], shape, rate
        ),
        0.5,
    )
    assert_stationary(prior, counts, shape, rate)


def test_update_of_a_prior_keeps_the_floor():
    nothing = np.zeros((2, 3), dtype=int)
    assert np.all(update_dirichlet(np.full(3, 0.5), nothing, 1.0, 0.1, False) == FLOOR)
    assert (
        update_symmetric_dirichlet(
            0.5, sum_rises(0.5, nothing), nothing.sum(axis=1), nothing.shape[1], 1.0, 0.1
        )
        == FLOOR
    )
