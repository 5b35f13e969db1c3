"""Each step of the mixtures draws partitions from their posterior: enumeration of 5 to 7 rows.

By batch means (see `batch_means`): |z| < 5 for some 30 partitions of each of 150 cases, a false
alarm for one in 18 choices of the seeds; these are fixed. Partitions of less than 1 in 200 are
taken together: too few visits to tell their spread.
"""

import numpy as np
import pytest
from exact.mixture.problems import AUTO, CLOSE, PAIRS, PROBLEMS, A, B, in_order, make_chain_sampler
from exact.oracles import mixtures
from exact.oracles.batch_means import N_SWEEPS, assert_means

from skdp.mixture import _kernels_large_moves as large_moves
from skdp.mixture._blocked_sampler import BlockedSampler
from skdp.mixture._hyper import PartitionPrior
from skdp.mixture._sampler import MixtureSampler

EVERY = mixtures.partitions(5)
RARE = 0.005
INDEX = {labels: i for i, labels in enumerate(EVERY)}


def gibbs(sampler):
    sampler._seat(sampler._free, sampler.stream)


def split_merge(sampler):
    sampler._split_and_merge()


def both(sampler):
    sampler.sweep()


def stir(sampler):
    sampler._stir(sampler._move(0, 0, sampler.stream), 20, sampler.stream)


def large(sampler):
    clusters = sampler._move(0, 0, sampler.stream, n_spare=4)
    sampler._move_large(clusters, 4, sampler.stream)


def large_of_few(sampler):
    """Beginnings have less than all rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_moves, "SAMPLE", 1)
        large(sampler)


def blocked(sampler):
    """Rows given parameters, ten times, and a single row: the rows would have the last word."""
    sampler._stir(sampler._move(0, 0, sampler.stream), 2, sampler.stream)
    for _ in range(10):
        rows_given_parameters(sampler)


def rows_given_parameters(sampler):
    """The number of clusters stays as it is."""
    clusters = sampler._move(0, 0, sampler.stream)
    sampler._draw_rows(sampler._draw_parameters(clusters, sampler.stream), sampler.stream)


STEPS = {"gibbs": gibbs, "split-merge": split_merge, "both": both}
FAST = ["stir", "blocked", "large", "large-of-few"]
BLOCKED_STEPS = {
    "stir": stir, "blocked": blocked, "large": large, "large-of-few": large_of_few,
    "blocked-both": both,
}  # fmt: skip


def run(sampler, step, n_sweeps, index):
    """Return the number of the partition after each sweep."""
    found = np.empty(n_sweeps, dtype=int)
    for s in range(n_sweeps):
        step(sampler)
        assert set(sampler.labels.tolist()) == set(range(sampler.n_clusters))
        partition = in_order(sampler.labels)
        assert partition in index
        found[s] = index[partition]
    return found


def check(problem, a, b, step, n_sweeps, y=None):
    every = mixtures.partitions(len(problem.rows), y)
    index = {labels: i for i, labels in enumerate(every)}
    together = np.array([
        [labels[i] == labels[j] for i in range(len(labels)) for j in range(i)] for labels in every
    ], dtype=float)  # fmt: skip
    kind = BlockedSampler if step in BLOCKED_STEPS else MixtureSampler
    sampler = make_chain_sampler(problem, a, b, y=y, sampler=kind)
    found = run(sampler, {**STEPS, **BLOCKED_STEPS}[step], n_sweeps, index)
    expected = mixtures.posterior(problem.rows, problem.family, a, b, y)
    draws = np.eye(len(every))[found]
    assert_means(take_together(draws, expected), take_together(expected, expected), "partitions")
    assert_means(together[found], expected @ together, "pairs in one cluster")


def take_together(columns, expected):
    """Return the columns of common partitions, and the sum of the others, if there are any."""
    rare = expected < RARE
    parts = [columns[..., ~rare]]
    if rare.any():
        parts.append(columns[..., rare].sum(axis=-1, keepdims=True))
    return np.concatenate(parts, axis=-1)


@pytest.mark.parametrize(
    "step", ["gibbs", "split-merge", "stir", "blocked", "large", "large-of-few"]
)
@pytest.mark.parametrize("name", ["full", "multinomial"])
def test_partitions(name, step):
    check(PROBLEMS[name], A, B, step, 8000)


@pytest.mark.parametrize("step", ["split-merge", "both", "large"])
def test_partitions_of_pairs(step):
    check(PAIRS, 0.02, 0.02, step, 8000)


@pytest.mark.parametrize("step", ["blocked", "large"])
def test_partitions_of_few_clusters(step):
    """Close rows, and most often two clusters: many of the rows are free to go elsewhere."""
    close = [[0.0, 0.1], [0.4, -0.2], [0.9, 0.2], [0.2, 0.7], [-0.6, 1.0]]
    check(PROBLEMS["full"]._replace(rows=close), 0.4, -0.2, step, 8000)


@pytest.mark.parametrize(
    ("name", "a", "b", "n_clusters"),
    [("close", 0.5, -0.3, 2), ("close", 0.5, -0.3, 3), *((name, A, B, 2) for name in PROBLEMS)],
)
def test_rows_given_the_number_of_clusters(name, a, b, n_clusters):
    """All but two or three rows are free, and nothing else moves."""
    problem = CLOSE if name == "close" else PROBLEMS[name]
    n = len(problem.rows)
    every = [labels for labels in mixtures.partitions(n) if max(labels) == n_clusters - 1]
    index = {labels: i for i, labels in enumerate(every)}
    expected = np.array([
        mixtures.log_prior(labels, a, b)
        + mixtures.log_likelihood(problem.rows, labels, problem.family)
        for labels in every
    ])  # fmt: skip
    expected = np.exp(expected - expected.max())
    expected /= expected.sum()
    sampler = make_chain_sampler(
        problem, a, b, np.minimum(range(n), n_clusters - 1), sampler=BlockedSampler
    )
    found = run(sampler, rows_given_parameters, N_SWEEPS, index)
    draws = np.eye(len(every))[found]
    assert_means(take_together(draws, expected), take_together(expected, expected), "partitions")
    largest = np.array([max(map(labels.count, labels)) for labels in every])
    assert_means(largest[found], np.array(largest @ expected), "rows of the largest cluster")


@pytest.mark.slow
@pytest.mark.parametrize("step", [*STEPS, *BLOCKED_STEPS])
@pytest.mark.parametrize(("a", "b"), [(0.0, 0.7), (0.4, 0.7), (0.5, -0.2)])
@pytest.mark.parametrize("name", PROBLEMS)
def test_partitions_of_every_kind(name, a, b, step):
    check(PROBLEMS[name], a, b, step, N_SWEEPS // 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [MixtureSampler, BlockedSampler])
def test_learned_discount_and_concentration(kind):
    problem = PROBLEMS["diag"]
    shapes, rates = (1.5, 2.0), (2.0, 1.5)
    sampler = make_chain_sampler(problem, prior=PartitionPrior(shapes, rates), sampler=kind)
    draws = np.empty((N_SWEEPS // 3, 2 + len(EVERY)))
    for row in draws:
        sampler.sweep()
        row[:2] = sampler.discount, np.log(sampler.concentration)
        row[2:] = np.eye(len(EVERY))[INDEX[in_order(sampler.labels)]]
    weights, a, log_b = mixtures.hyper_posterior(problem.rows, problem.family, shapes, rates)
    assert_means(draws[:, 0], np.array(a), "discount")
    assert_means(draws[:, 1], np.array(log_b), "log concentration")
    found, expected = take_together(draws[:, 2:], weights), take_together(weights, weights)
    assert_means(found, expected, "partitions")


@pytest.mark.parametrize("kind", [MixtureSampler, BlockedSampler])
def test_learned_concentration_without_a_discount(kind):
    problem = PROBLEMS["multinomial"]
    prior = PartitionPrior(None, (2.0, 1.5))
    sampler = make_chain_sampler(problem, 0.0, 1.0, prior=prior, sampler=kind)
    draws = np.empty((4000, 2))
    for row in draws:
        sampler.sweep()
        row[:] = np.log(sampler.concentration), sampler.n_clusters
    weights, _, log_b = mixtures.hyper_posterior(problem.rows, problem.family, 0.0, (2.0, 1.5))
    assert_means(draws[:, 0], np.array(log_b), "log concentration")
    numbers = np.array([max(labels) + 1 for labels in EVERY])
    assert_means(draws[:, 1], np.array(numbers @ weights), "number of clusters")


@pytest.mark.parametrize("kind", [MixtureSampler, BlockedSampler])
def test_drawn_scale(kind):
    """Clusters tell each other how wide they are; |z| < 5 of at most 53 figures."""
    rows = np.array(AUTO.rows)
    expected_scale = 0.2 * 1.5 * rows.var()
    sampler = make_chain_sampler(AUTO, sampler=kind)
    draws = np.empty((N_SWEEPS // 2, 1 + len(EVERY)))
    for row in draws:
        sampler.sweep()
        row[0] = np.log(sampler.emission.prior.scale[0, 0, 0])
        row[1:] = np.eye(len(EVERY))[INDEX[in_order(sampler.labels)]]
    weights, log_scale = mixtures.posterior_of_scales(AUTO.rows, AUTO.family, expected_scale, A, B)
    assert_means(draws[:, 0], np.array(log_scale), "log S")
    found, expected = take_together(draws[:, 1:], weights), take_together(weights, weights)
    assert_means(found, expected, "partitions")


@pytest.mark.parametrize("name", ["diag", "poisson"])
def test_the_sequential_start_is_a_draw_from_left_to_right(name):
    """P(z_1) P(z_2 | x_1, x_2) ...: rows in random order; for two rows it is the posterior."""
    problem = PROBLEMS[name]._replace(rows=PROBLEMS[name].rows[:2])
    apart = np.array([
        make_chain_sampler(problem, seed=seed).n_clusters == 2 for seed in range(2000)
    ])  # fmt: skip
    expected = mixtures.posterior(problem.rows, problem.family, A, B)[1]
    z = (apart.mean() - expected) / np.sqrt(expected * (1.0 - expected) / len(apart))
    assert abs(z) < 5.0  # a false alarm for one in two million choices of the seeds
