"""Mixtures of tables: mixed columns, gaps and powers, by enumeration of the partitions of six rows.

By batch means, as in `test_partitions`: |z| < 5 for some 40 numbers of each of 60 cases, a false
alarm for one in 40 choices of the seeds; these are fixed.
"""

import math

import numpy as np
import pytest
from exact.mixture.problems import A, B, in_order
from exact.mixture.tables import (
    CELLS,
    COUNT,
    NORMAL,
    POWERS,
    TABLES,
    make_grouped_sampler,
    make_table_sampler,
)
from exact.mixture.test_grouped_partitions import ALPHA, GAMMA
from exact.mixture.test_grouped_partitions import run as run_grouped
from exact.mixture.test_partitions import BLOCKED_STEPS, STEPS, run, take_together
from exact.oracles import hdp_mixtures, mixtures, tables
from exact.oracles.batch_means import N_SWEEPS, assert_means

from skdp.emissions import CategoricalEmission, IndependentEmissions
from skdp.mixture._blocked_sampler import BlockedSampler
from skdp.mixture._cluster_tree import make_cluster_tree
from skdp.mixture._sampler import MixtureSampler


def check(name, step, n_sweeps, a=A, b=B, y=None):
    problem = TABLES[name]
    every = mixtures.partitions(len(problem.rows), y)
    index = {labels: i for i, labels in enumerate(every)}
    together = np.array([
        [labels[i] == labels[j] for i in range(len(labels)) for j in range(i)] for labels in every
    ], dtype=float)  # fmt: skip
    kind = BlockedSampler if step in BLOCKED_STEPS else MixtureSampler
    sampler = make_table_sampler(problem, a, b, y=y, sampler=kind)
    found = run(sampler, {**STEPS, **BLOCKED_STEPS}[step], n_sweeps, index)
    expected = tables.posterior(problem.rows, problem.powers, problem.family, a, b, y)
    draws = np.eye(len(every))[found]
    assert_means(take_together(draws, expected), take_together(expected, expected), "partitions")
    assert_means(together[found], expected @ together, "pairs in one cluster")


@pytest.mark.parametrize(
    "step", ["gibbs", "split-merge", "stir", "blocked", "large", "large-of-few"]
)
@pytest.mark.parametrize("name", ["cells", "powers"])
def test_partitions(name, step):
    check(name, step, 8000)


@pytest.mark.parametrize("step", ["gibbs", "split-merge", "blocked"])
@pytest.mark.parametrize("name", ["gaussian", "multinomial", "all"])
def test_partitions_of_parts(name, step):
    check(name, step, 8000)


@pytest.mark.parametrize("step", ["both", "blocked-both"])
def test_partitions_with_labels(step):
    check("powers", step, 6000, y=[3, -1, 3, 0, -1, -1])


@pytest.mark.slow
@pytest.mark.parametrize("step", [*STEPS, *BLOCKED_STEPS])
@pytest.mark.parametrize(("a", "b"), [(0.0, 0.7), (0.5, -0.2)])
@pytest.mark.parametrize("name", TABLES)
def test_partitions_of_every_kind(name, a, b, step):
    check(name, step, N_SWEEPS // 2, a, b)


@pytest.mark.parametrize("step", ["weights-kept", "split-merge", "both"])
@pytest.mark.parametrize("name", ["powers", "all"])
def test_grouped_partitions(name, step):
    problem = TABLES[name]
    rows = tables.with_powers(problem.rows, problem.powers)
    sizes = [3, len(rows) - 3]
    groups = [rows[:3], rows[3:]]
    every, expected = hdp_mixtures.posterior(groups, problem.family, ALPHA, GAMMA)
    index = {labels: i for i, labels in enumerate(every)}
    sampler = make_grouped_sampler(problem, sizes, ALPHA, GAMMA)
    found = run_grouped(sampler, step, 6000, index)
    draws = np.eye(len(every))[found]
    assert_means(take_together(draws, expected), take_together(expected, expected), "partitions")
    numbers = np.array([max(labels) + 1.0 for labels in every])
    assert_means(numbers[found], expected @ numbers, "components")


@pytest.mark.parametrize("name", TABLES)
def test_log_joint(name):
    problem = TABLES[name]
    rows = tables.with_powers(problem.rows, problem.powers)
    sampler = make_table_sampler(problem)
    for _ in range(5):
        sampler.sweep()
        labels = sampler.labels.tolist()
        expected = mixtures.log_likelihood(rows, labels, problem.family)
        expected += mixtures.log_prior(sorted_labels(labels), A, B)
        assert sampler.log_joint() == pytest.approx(expected, rel=1e-10)


def sorted_labels(labels):
    """Return labels of which new ones come in order; their order does not change the prior."""
    names = {}
    return [names.setdefault(k, len(names)) for k in labels]


@pytest.mark.parametrize("name", TABLES)
def test_predictive_densities(name):
    """Marginal densities of the observed cells; 0 without any, in each cluster and in a new one."""
    problem = TABLES[name]
    rows = np.array(tables.with_powers(problem.rows, problem.powers))
    labels = np.array([0, 1, 0, 1, 1, 0][: len(rows)])
    model = make_table_sampler(problem, init=labels).model()
    others = np.array(problem.others, dtype=float)
    found = model.emission.log_obs(others)
    for other, logs in zip(others, found, strict=True):
        if np.isnan(other).all():
            np.testing.assert_array_equal(logs, 0.0)
        one = np.append(other, 1.0)
        for k in range(2):
            own = rows[labels == k]
            expected = problem.family.log_marginal([*own, one]) - problem.family.log_marginal(own)
            assert logs[k] == pytest.approx(expected, rel=1e-6, abs=1e-6)  # probs in float32
        assert logs[2] == pytest.approx(problem.family.log_marginal([one]), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", TABLES)
def test_the_kernels_weigh_rows(name):
    """Densities of rows alone, and ratios of the evidence of clusters with and without a row."""
    problem = TABLES[name]
    rows = np.array(tables.with_powers(problem.rows, problem.powers))
    sampler = make_table_sampler(problem)
    alone = [problem.family.log_marginal([row]) for row in rows]
    np.testing.assert_allclose(sampler._log_alone, alone, rtol=1e-9)


@pytest.mark.parametrize("name", TABLES)
def test_merges(name):
    """The tree merges the pair of clusters whose rows lose the least evidence."""
    problem = TABLES[name]
    rows = np.array(tables.with_powers(problem.rows, problem.powers))
    labels = np.array([2, 0, 1, 0, 2, 1][: len(rows)])
    tree = make_cluster_tree(make_table_sampler(problem).summarize(labels))
    nodes = {k: {k} for k in range(3)}

    def evidence(own):
        return problem.family.log_marginal(rows[np.isin(labels, sorted(own))])

    for i, (pair, found) in enumerate(zip(tree.merges.tolist(), tree.losses, strict=True)):
        a, b = (nodes[k] for k in pair)
        losses = [
            evidence(x) + evidence(z) - evidence(x | z)
            for j, x in enumerate(nodes.values())
            for z in list(nodes.values())[:j]
        ]
        assert found * len(rows) == pytest.approx(min(losses), rel=1e-9, abs=1e-9)
        assert evidence(a) + evidence(b) - evidence(a | b) == pytest.approx(min(losses), rel=1e-9)
        nodes[3 + i] = nodes.pop(pair[0]) | nodes.pop(pair[1])


@pytest.mark.parametrize("powers", [[1.0, 1.0, 1.0], [0.5, 1.0, 0.3]])
@pytest.mark.parametrize(
    ("family", "cells"),
    [
        (tables.Normal(0.2, 0.3, 3.5, 0.6), [0.4, -0.3, 1.0]),
        (tables.Count(2.2, 0.6), [3, 0, 5]),
        (tables.Symbol([1.5, 2.0]), [1, 0, 1]),
    ],
)
def test_the_evidence_of_the_oracle_is_an_integral(family, cells, powers):
    expected = family.integrate(cells, powers)
    assert family.log_marginal(cells, powers) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("kind", [MixtureSampler, BlockedSampler])
def test_two_halves_of_a_row_that_stay_together_are_one_row(kind):
    """With powers of a half and equal labels, two copies of a row have its evidence."""
    problem = TABLES["cells"]
    row = problem.rows[0]
    halves = problem._replace(rows=[row, row, *problem.rows[1:3]], powers=[0.5, 0.5, 1.0, 1.0])
    whole = problem._replace(rows=[row, *problem.rows[1:3]])
    labels = np.array([0, 0, 1, 0])
    sampler = make_table_sampler(halves, init=labels, sampler=kind)
    other = make_table_sampler(whole, init=labels[1:], sampler=kind)
    evidence = sampler.log_joint() - sampler.log_prior()
    assert evidence == pytest.approx(other.log_joint() - other.log_prior(), rel=1e-12)


@pytest.mark.parametrize("kind", [MixtureSampler, BlockedSampler])
def test_drawn_concentration(kind):
    """The concentration of a column of categories is drawn given rows with gaps and powers."""
    shape, rate, base = 2.0, 0.8, [0.2, 0.5, 0.3]
    emission = IndependentEmissions([
        ("kind", CategoricalEmission(3, "auto", (shape, rate), base), [2]),
        ("normal", NORMAL[0], [0]),
        ("events", COUNT[0], [1]),
    ])  # fmt: skip
    rows = [row[:3] for row in CELLS[:5]]
    problem = TABLES["powers"]._replace(rows=rows, powers=POWERS[:5], emission=emission)
    sampler = make_table_sampler(problem, sampler=kind)
    every = mixtures.partitions(5)
    index = {labels: i for i, labels in enumerate(every)}
    draws = np.empty((N_SWEEPS // 2, 2 + len(every)))
    for row in draws:
        sampler.sweep()
        total = sampler.emission.prior[0].sum()
        row[0] = total < 1e9
        row[1] = np.log(total) if row[0] else 0.0
        row[2:] = np.eye(len(every))[index[in_order(sampler.labels)]]
    priors = np.array([mixtures.log_prior(labels, A, B) for labels in every])
    powered = tables.with_powers(rows, POWERS[:5])

    def weigh(weights):
        family = tables.Table([
            (NORMAL[1], [0]), (COUNT[1], [1]), (tables.Symbol(weights), [2]),
        ])  # fmt: skip
        return priors + [mixtures.log_likelihood(powered, labels, family) for labels in every]

    logs, grid = [], np.linspace(-7.0, 4.0, 120)
    for log_total in grid:
        own = weigh([np.exp(log_total) * share for share in base])
        logs.append(own + shape * log_total - rate * np.exp(log_total))
    counts = [1.0 + sum(row[-1] for row in powered if row[2] == v) for v in range(3)]
    alike = weigh([1e9 * n / sum(counts) for n in counts])  # a column with the same distribution
    constant = shape * np.log(rate) - math.lgamma(shape) + np.log(grid[1] - grid[0])
    joint = np.exp(np.array([*(np.array(logs) + constant), alike]) - np.max(alike))
    joint /= joint.sum()
    assert_means(draws[:, 0], np.array(joint[:-1].sum()), "differs")
    assert_means(draws[:, 1], np.array(joint[:-1].sum(axis=1) @ grid), "log A")
    expected = joint.sum(axis=0)
    found = take_together(draws[:, 2:], expected)
    assert_means(found, take_together(expected, expected), "partitions")
