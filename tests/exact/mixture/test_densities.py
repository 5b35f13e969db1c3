"""Joint probabilities and predictive densities against the oracle, to rounding."""

import numpy as np
import pytest
from exact.mixture.problems import PROBLEMS, A, B, Problem, make_chain_sampler
from exact.oracles import mixtures

from skdp.emissions import PoissonEmission
from skdp.mixture._blocked_sampler import BlockedSampler
from skdp.mixture._sampler import MixtureSampler

PARTITIONS = [(0, 0, 0, 0, 0), (0, 1, 2, 3, 4), (0, 0, 1, 1, 2), (0, 1, 0, 1, 0)]


@pytest.mark.parametrize("labels", PARTITIONS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_log_joint(name, labels):
    problem = PROBLEMS[name]
    expected = mixtures.log_prior(labels, A, B)
    expected += mixtures.log_likelihood(problem.rows, labels, problem.family)
    np.testing.assert_allclose(
        make_chain_sampler(problem, init=labels).log_joint(), expected, rtol=1e-10
    )


@pytest.mark.parametrize("labels", PARTITIONS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_predictive_densities(name, labels):
    problem = PROBLEMS[name]
    model = make_chain_sampler(problem, init=labels).model()
    found = model.log_densities(np.array(problem.others, dtype=float))
    expected = [
        mixtures.log_predictive(row, problem.rows, labels, problem.family, A, B)
        for row in problem.others
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-6 if name == "categorical" else 1e-10)


@pytest.mark.parametrize("name", PROBLEMS)
def test_rows_alone(name):
    """What a new cluster of each row is weighed by, with all that clusters share."""
    problem = PROBLEMS[name]
    found = make_chain_sampler(problem)._log_alone
    expected = [problem.family.log_marginal([row]) for row in problem.rows]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def default_prior(rows):
    """Return shapes and rates that follow the columns."""
    rows = np.array(rows, dtype=float)
    excess = rows.var(axis=0) - rows.mean(axis=0)
    means = np.maximum(rows.mean(axis=0), 1.0)
    shapes = np.where(excess > means**2, means**2 / np.maximum(excess, 1e-9), 1.0)
    return shapes, shapes / means


@pytest.mark.parametrize("labels", PARTITIONS)
def test_each_column_of_counts_has_its_own_prior(labels):
    rows = [[0, 320, 0, 0], [1, 250, 0, 1], [5, 1400, 0, 0], [3, 900, 0, 0], [0, 12, 0, 90]]
    other = [2, 700, 1, 40]
    shapes, rates = default_prior(rows)
    assert shapes.min() < 0.4
    assert rates.min() < 1e-2 < 0.9 < rates.max()
    problem = Problem(rows, [other], PoissonEmission(), mixtures.Poisson(shapes, rates))
    gibbs = make_chain_sampler(problem, init=labels)
    expected = mixtures.log_prior(labels, A, B)
    expected += mixtures.log_likelihood(rows, labels, problem.family)
    np.testing.assert_allclose(gibbs.log_joint(), expected, rtol=1e-10)
    expected = [problem.family.log_marginal([row]) for row in rows]
    np.testing.assert_allclose(gibbs._log_alone, expected, rtol=1e-10)
    found = gibbs.model().log_densities(np.array([other], dtype=float))
    expected = mixtures.log_predictive(other, rows, labels, problem.family, A, B)
    np.testing.assert_allclose(found, [expected], rtol=1e-10)


@pytest.mark.parametrize("sampler", [MixtureSampler, BlockedSampler])
def test_partitions_of_columns_with_their_own_priors(sampler):
    """How often each of three rows are together, against all partitions."""
    rows = [[0, 1020], [1, 1100], [0, 1150]]
    problem = Problem(rows, [], PoissonEmission(), mixtures.Poisson(*default_prior(rows)))
    partitions = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2)]
    logs = np.array(
        [
            mixtures.log_prior(labels, A, B) + mixtures.log_likelihood(rows, labels, problem.family)
            for labels in partitions
        ]
    )
    expected = np.exp(logs - np.logaddexp.reduce(logs))
    gibbs = make_chain_sampler(problem, sampler=sampler)
    counts = dict.fromkeys(partitions, 0)
    for _ in range(4000):
        gibbs.sweep()
        labels = gibbs.labels.tolist()
        found = list(dict.fromkeys(labels))
        counts[tuple(found.index(label) for label in labels)] += 1
    np.testing.assert_allclose(np.array(list(counts.values())) / 4000, expected, atol=0.04)


def test_a_row_that_is_far_out_leaves_its_cluster():
    """Its density without itself is a difference of which no digit is left."""
    rows = [[0.0, 0.1], [0.1, 0.0], [0.2, 0.1], [3e5, -2e5]]
    gibbs = make_chain_sampler(PROBLEMS["full"]._replace(rows=rows), init=[0, 0, 0, 0])
    gibbs._seat(gibbs._order, gibbs.stream)
    assert np.count_nonzero(gibbs.labels == gibbs.labels[3]) == 1
    assert np.isfinite(gibbs.log_joint())


def test_rows_that_come_and_go_leave_no_trace():
    """Thousands of moves within a sweep: the clusters' numbers are those of the data."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 2)).tolist()
    problem = PROBLEMS["full"]._replace(rows=rows)
    gibbs = make_chain_sampler(problem, init=rng.integers(0, 2, 3000))
    makes, rooms = gibbs._make_room, []

    def make_room(n_spare):
        rooms.append(makes(n_spare))
        return rooms[-1]

    gibbs._make_room = make_room
    gibbs._seat(gibbs._order, gibbs.stream)
    moved, rebuilt = rooms[-1][0], make_chain_sampler(problem, init=gibbs.labels)
    room = rebuilt._make_room(1)
    terms = rebuilt._terms
    rebuilt._kernels.sweep(
        0, np.empty(0, dtype=np.int64), terms.rows, terms.prior, room[0], gibbs.n_clusters,
        rebuilt.labels, rebuilt._log_alone, A, B, *room[1:], rebuilt.stream,
    )  # fmt: skip
    n = gibbs.n_clusters
    assert moved.vectors[1, :n].max() > 100  # rows came and went
    assert moved.vectors[1, :n].max() <= 1001
    np.testing.assert_allclose(moved.factors[..., :n], room[0].factors[..., :n], atol=1e-9)
    np.testing.assert_allclose(moved.points[..., :n], room[0].points[..., :n], atol=1e-9)
    np.testing.assert_allclose(moved.vectors[2:, :n], room[0].vectors[2:, :n], rtol=1e-9)
