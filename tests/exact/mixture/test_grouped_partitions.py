"""Each step of HDPMixture draws partitions from their posterior: two groups of three rows, or more.

By batch means (see `batch_means`): |z| < 5 for at most 60 numbers of each of 60 cases, a false
alarm for one in 23 choices of the seeds; these are fixed. Partitions of less than 1 in 200 are
taken together: too few visits to tell their spread.
"""

import numpy as np
import pytest
from exact.mixture.problems import CLOSE, PAIRS, PROBLEMS, Problem, in_order
from exact.oracles import hdp_mixtures
from exact.oracles.batch_means import N_SWEEPS, assert_means

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.data import SequencePanel
from skdp.mixture._hdp import _kernels_moves as moves
from skdp.mixture._hdp._sampler import HDPMixtureSampler
from skdp.mixture._labels import check_labels
from skdp.processes._top_level import TopPriors

ALPHA, GAMMA = 1.3, 0.8
RARE = 0.005
LABELS = [4, -1, 1, -1, 4, -1]

SIXTH = {"full": [0.3, 1.4], "diag": [0.3, 1.4], "poisson": [4, 8], "multinomial": [1, 2, 0]}


def split_rows(problem, *sizes):
    """Return the rows of a problem in groups of these sizes."""
    ends = np.cumsum(sizes)
    return [problem.rows[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def groups_of(name):
    """Return a problem of this name with six rows, and two groups of three."""
    if name == "pairs":
        return PAIRS, [PAIRS.rows[0::2], PAIRS.rows[1::2]]
    if name == "close":
        return CLOSE, [CLOSE.rows[:3], CLOSE.rows[3:6]]
    problem = PROBLEMS[name]
    rows = [*problem.rows, SIXTH[name]]
    problem = problem._replace(rows=rows)
    return problem, [rows[:3], rows[3:]]


def make_chain_sampler(
    groups, problem: Problem, alpha=ALPHA, gamma=GAMMA, *, y=None, init=None, priors=None
):
    """Return a sampler over groups of rows; numbers that are drawn have `priors`."""
    panel = SequencePanel.from_sequences([np.array(group, dtype=float) for group in groups])
    root = make_seed_sequence(0)
    return HDPMixtureSampler(
        check_labels(panel.values, y)._replace(ptr=panel.ptr),
        problem.emission.make_sampler(panel.values, 1),
        TopPriors(None, None) if priors is None else priors,
        alpha,
        gamma,
        None if init is None else np.array(init),
        derive_stream(root, Role.INIT, 0),
        derive_stream(root, Role.SWEEP, 0),
    )


def gibbs(sampler):
    sampler._seat(sampler._free, sampler.stream)
    sampler._draw_hyper()


def weights_kept(sampler):
    """Weights change only with components that come or go, and every fifth time."""
    for _ in range(5):
        sampler._seat(sampler._free, sampler.stream)
    sampler._draw_hyper()


def split_merge(sampler):
    sampler._split_and_merge()
    sampler._draw_hyper()


def both(sampler):
    sampler.sweep()


STEPS = {
    "gibbs": gibbs, "weights-kept": weights_kept, "split-merge": split_merge, "both": both,
}  # fmt: skip


def run(sampler, step, n_sweeps, index):
    """Return the number of the partition after each sweep."""
    found = np.empty(n_sweeps, dtype=int)
    for s in range(n_sweeps):
        STEPS[step](sampler)
        assert sampler.n_clusters == sampler.labels.max() + 1 == len(sampler.top.weights)
        assert sampler.top.weights.sum() + sampler.top.rest == pytest.approx(1.0)
        partition = in_order(sampler.labels)
        assert partition in index
        found[s] = index[partition]
    return found


def take_together(columns, expected):
    """Return the columns of common partitions, and the sum of the others."""
    rare = expected < RARE
    return np.concatenate(
        [columns[..., ~rare], columns[..., rare].sum(axis=-1, keepdims=True)], axis=-1
    )


def check(groups, problem, step, n_sweeps, alpha=ALPHA, gamma=GAMMA, y=None):
    every, expected = hdp_mixtures.posterior(groups, problem.family, alpha, gamma, y)
    index = {labels: i for i, labels in enumerate(every)}
    found = run(make_chain_sampler(groups, problem, alpha, gamma, y=y), step, n_sweeps, index)
    draws = np.eye(len(every))[found]
    assert_means(take_together(draws, expected), take_together(expected, expected), "partitions")
    numbers = np.array([max(labels) + 1.0 for labels in every])
    assert_means(numbers[found], expected @ numbers, "components")
    together = np.array([np.equal.outer(labels, labels) for labels in every], dtype=float)
    assert_means(together[found], np.tensordot(expected, together, 1), "rows in one component")


@pytest.mark.parametrize("step", ["gibbs", "split-merge"])
@pytest.mark.parametrize("name", ["full", "multinomial"])
def test_partitions(name, step):
    problem, groups = groups_of(name)
    check(groups, problem, step, 8000)


@pytest.mark.parametrize("step", ["weights-kept", "split-merge"])
def test_partitions_of_pairs(step):
    problem, groups = groups_of("pairs")
    check(groups, problem, step, 8000, 0.3, 0.2)


@pytest.mark.parametrize("step", ["gibbs", "split-merge"])
def test_partitions_with_labels(step):
    """One label is in both groups, the other in one."""
    problem, groups = groups_of("close")
    check(groups, problem, step, 8000, y=LABELS)


@pytest.mark.slow
@pytest.mark.parametrize("y", [LABELS, [-1, 0, -1, -1, 0, -1]], ids=["two", "one"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", ["full", "multinomial", "pairs"])
def test_partitions_with_labels_again(name, step, y):
    problem, groups = groups_of(name)
    check(groups, problem, step, N_SWEEPS // 2, 0.7, 0.9, y=y)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("alpha", "gamma"), [(1.3, 0.8), (0.2, 3.0)])
@pytest.mark.parametrize("name", ["full", "diag", "poisson"])
def test_partitions_again(name, alpha, gamma, step):
    problem, groups = groups_of(name)
    check(groups, problem, step, N_SWEEPS, alpha, gamma)


@pytest.mark.parametrize("sizes", [(1, 1, 3), (5,), (4, 1)])
def test_other_groups(sizes):
    problem = PROBLEMS["diag"]
    check(split_rows(problem, *sizes), problem, "both", 8000)


@pytest.mark.parametrize("step", ["gibbs", pytest.param("both", marks=pytest.mark.slow)])
def test_learned_concentrations(step):
    problem = PROBLEMS["multinomial"]
    groups, priors = split_rows(problem, 3, 2), TopPriors((2.0, 1.5), (1.5, 1.0))
    expected = hdp_mixtures.mean_concentrations(groups, problem.family, (2.0, 1.5), (1.5, 1.0))
    sampler = make_chain_sampler(groups, problem, priors=priors)
    draws = np.empty((16_000, 3))
    for row in draws:
        STEPS[step](sampler)
        row[:] = sampler.top.concentration, sampler.top.top_concentration, sampler.n_clusters
    assert_means(draws, expected, "concentrations and components")


@pytest.mark.parametrize("name", ["full", "diag", "poisson", "multinomial"])
def test_log_joint(name):
    problem, groups = groups_of(name)
    sampler = make_chain_sampler(groups, problem)
    for _ in range(20):
        sampler.sweep()
        expected = hdp_mixtures.log_joint(
            groups, tuple(sampler.labels), sampler.top.weights, sampler.top.rest, problem.family,
            ALPHA, GAMMA,
        )  # fmt: skip
        assert sampler.log_joint() == pytest.approx(expected, rel=1e-10)


def test_sweeps_that_stop_for_room(monkeypatch):
    """With room for one more component, every new one ends the kernel, within a group."""
    problem, groups = groups_of("multinomial")
    make = HDPMixtureSampler._make_room

    def with_room_for_one(sampler, n_spare):
        sampler._capacity = sampler.n_clusters + n_spare
        return make(sampler, n_spare)

    monkeypatch.setattr(HDPMixtureSampler, "_make_room", with_room_for_one)
    check(groups, problem, "gibbs", 8000, gamma=2.5)


def test_weights_of_merged_components():
    """Whichever of three is the last one, rows keep their component's weight."""
    top = np.array([0.5, 0.3, 0.1, 0.0])
    for first, second in ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)):
        found, third = top.copy(), 3 - first - second
        moves.give_weights.py_func(moves.MERGE, first, second, 3, 0.7, np.zeros(2), found)
        joined = second if first == 2 else first  # the last one has moved to the second's place
        assert found[joined] == 0.7
        assert found[second if third == 2 else third] == top[third]
        assert np.all(found[2:] == 0.0)


def test_mean_weights():
    """The weights of a partition that is no sample, 400 times: of each a mean over 96 draws."""
    problem, groups = groups_of("full")
    labels, alpha, gamma = (0, 0, 0, 0, 0, 1), 20.0, 0.3
    sampler = make_chain_sampler(groups, problem, init=labels)
    expected = hdp_mixtures.mean_weights(groups, labels, alpha, gamma)
    models = [
        sampler.model_of(np.array(labels), alpha, gamma, sampler.stream).weights for _ in range(400)
    ]
    assert_means(np.array(models), expected, "mean weights", resolution=1e-4)
