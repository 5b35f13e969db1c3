"""Partitions that known labels restrict: enumeration of the allowed partitions of 5 to 7 rows.

By batch means, as in `test_partitions`: |z| < 5 for some 20 partitions and 12 pairs of each of 100
cases, a false alarm for one in 25 choices of the seeds; these are fixed. A forbidden partition is
an error at once.
"""

import numpy as np
import pytest
from exact.mixture.problems import AUTO, CLOSE, PAIRS, PROBLEMS, A, B, in_order, make_chain_sampler
from exact.mixture.test_partitions import (
    BLOCKED_STEPS,
    FAST,
    STEPS,
    check,
    rows_given_parameters,
    run,
    take_together,
)
from exact.oracles import mixtures
from exact.oracles.batch_means import N_SWEEPS, assert_means

from skdp.mixture._blocked_sampler import BlockedSampler
from skdp.mixture._hyper import PartitionPrior
from skdp.mixture._sampler import MixtureSampler

TWO = [3, -1, 3, 0, -1]
"""A label of two rows, a label of one, and two free rows."""

ONE = [-1, 1, -1, -1, 1]
OF_PAIRS = [0, -1, 1, -1, -1, -1]
CLOSE_ROWS = [[0.0, 0.1], [0.4, -0.2], [0.9, 0.2], [0.2, 0.7], [-0.6, 1.0]]
OVERLAPPING = PROBLEMS["full"]._replace(rows=CLOSE_ROWS)
EVERY_STEP = [*STEPS, *BLOCKED_STEPS]


@pytest.mark.parametrize("step", ["gibbs", "split-merge", *FAST])
def test_partitions(step):
    check(OVERLAPPING, A, B, step, 8000, TWO)


def test_trades_of_two_labels():
    """Both labels have more rows than the two by which a move begins."""
    check(CLOSE, A, B, "split-merge", 4000, [0, 1, 0, 1, 0, -1, -1])


@pytest.mark.slow
@pytest.mark.parametrize("step", EVERY_STEP)
def test_partitions_of_one_label(step):
    check(OVERLAPPING, A, B, step, 8000, ONE)


@pytest.mark.parametrize("step", ["split-merge", "both", "large"])
def test_partitions_of_pairs(step):
    check(PAIRS, 0.02, 0.02, step, 8000, OF_PAIRS)


@pytest.mark.slow
@pytest.mark.parametrize("step", EVERY_STEP)
@pytest.mark.parametrize("y", [TWO, ONE], ids=["two", "one"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_partitions_of_every_kind(name, y, step):
    check(PROBLEMS[name], 0.5, -0.2, step, N_SWEEPS // 2, y)


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_rows_given_the_number_of_clusters(n_clusters):
    """The first row of a cluster may leave it if the cluster has a labeled row."""
    y, a, b = [-1, -1, -1, 5, -1, 5, -1], 0.5, -0.3
    every = [labels for labels in mixtures.partitions(7, y) if max(labels) == n_clusters - 1]
    expected = np.array([
        mixtures.log_prior(labels, a, b)
        + mixtures.log_likelihood(CLOSE.rows, labels, CLOSE.family)
        for labels in every
    ])  # fmt: skip
    expected = np.exp(expected - expected.max())
    expected /= expected.sum()
    sampler = make_chain_sampler(CLOSE, a, b, every[0], y=y, sampler=BlockedSampler)
    index = {labels: i for i, labels in enumerate(every)}
    found = run(sampler, rows_given_parameters, N_SWEEPS, index)
    draws = np.eye(len(every))[found]
    assert_means(take_together(draws, expected), take_together(expected, expected), "partitions")
    largest = np.array([max(map(labels.count, labels)) for labels in every])
    assert_means(largest[found], np.array(largest @ expected), "rows of the largest cluster")


@pytest.mark.parametrize("kind", [MixtureSampler, BlockedSampler])
def test_learned_concentration(kind):
    problem, every = PROBLEMS["multinomial"], mixtures.partitions(5, ONE)
    prior = PartitionPrior(None, (2.0, 1.5))
    sampler = make_chain_sampler(problem, 0.0, 1.0, y=ONE, prior=prior, sampler=kind)
    draws = np.empty((4000, 2))
    for row in draws:
        sampler.sweep()
        row[:] = np.log(sampler.concentration), sampler.n_clusters
    found = mixtures.hyper_posterior(problem.rows, problem.family, 0.0, (2.0, 1.5), ONE)
    weights, _, log_b = found
    assert_means(draws[:, 0], np.array(log_b), "log concentration")
    numbers = np.array([max(labels) + 1 for labels in every])
    assert_means(draws[:, 1], np.array(numbers @ weights), "number of clusters")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [MixtureSampler, BlockedSampler])
def test_drawn_scale(kind):
    rows, every = np.array(AUTO.rows), mixtures.partitions(5, TWO)
    index = {labels: i for i, labels in enumerate(every)}
    sampler = make_chain_sampler(AUTO, y=TWO, sampler=kind)
    draws = np.empty((N_SWEEPS // 2, 1 + len(every)))
    for row in draws:
        sampler.sweep()
        row[0] = np.log(sampler.emission.prior.scale[0, 0, 0])
        row[1:] = np.eye(len(every))[index[in_order(sampler.labels)]]
    expected_scale = 0.2 * 1.5 * rows.var()
    weights, log_scale = mixtures.posterior_of_scales(
        AUTO.rows, AUTO.family, expected_scale, A, B, TWO
    )
    assert_means(draws[:, 0], np.array(log_scale), "log S")
    assert_means(draws[:, 1:], weights, "partitions")
