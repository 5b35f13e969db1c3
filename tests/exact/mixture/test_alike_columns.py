"""Columns of categories that may have the same distribution in all clusters, by enumeration.

By batch means: |z| < 5 for some 100 numbers, a false alarm for one in 400 choices of the seeds,
which are fixed. Partitions and choices of columns of less than 1 in 200 are taken together.
"""

from typing import NamedTuple

import numpy as np
import pytest
from exact.mixture.problems import A, B, in_order
from exact.mixture.tables import make_grouped_sampler, make_problem, make_table_sampler
from exact.mixture.test_grouped_partitions import ALPHA, GAMMA
from exact.mixture.test_partitions import take_together
from exact.oracles import alike_columns, hdp_mixtures, mixtures
from exact.oracles.batch_means import assert_means

from skdp.emissions import CategoricalEmission
from skdp.mixture._blocked_sampler import BlockedSampler
from skdp.mixture._sampler import MixtureSampler

NA = float("nan")


class Columns(NamedTuple):
    """Rows of categories, the bases and priors of their columns, and the powers of the rows."""

    rows: list
    bases: list
    priors: list
    powers: list | None = None

    def make_problem(self):
        columns = {
            f"c{j}": (
                (
                    CategoricalEmission(
                        len(base),
                        base="uniform" if np.ptp(base) == 0.0 else base,
                        concentration_prior=prior,
                    ),
                    None,
                ),
                [j],
            )
            for j, (base, prior) in enumerate(zip(self.bases, self.priors, strict=True))
        }
        return make_problem(self.rows, self.powers, [], **columns)


PLAIN = Columns(
    [[0, 1, 0], [0, 1, 1], [2, 0, 1], [2, NA, 0], [NA, 0, 1]],
    [[0.5, 0.2, 0.3], [0.4, 0.6], [0.5, 0.5]],
    [(1.0, 0.4), (2.0, 0.5), (0.7, 0.3)],
)
CASES = {
    "constant": Columns(
        [[0, 1, 1, 0], [0, 1, 1, NA], [1, 0, 1, 0], [1, 0, NA, 0], [NA, 1, 1, 0]],
        [[0.4, 0.6], [0.5, 0.5], [0.3, 0.7], [1.0]],
        [(1.0, 0.4), (2.0, 0.5), (0.7, 0.3), (1.0, 0.5)],
    ),
    "unused": Columns(
        [[0, 1, 5], [0, 1, 5], [2, 3, 5], [2, NA, 0], [NA, 3, 0]],
        [[0.2] * 5, [0.1, 0.3, 0.3, 0.3], [0.125] * 8],
        [(1.0, 0.4), (2.0, 0.5), (0.7, 0.3)],
    ),
}
CASES["powers"] = CASES["constant"]._replace(powers=[1.0, 0.5, 0.3, 1.0, 0.8])


def check(sampler, case, log_prior, n_sweeps):
    every, choices, expected = alike_columns.posterior(
        case.rows, case.bases, case.priors, log_prior, case.powers
    )
    leaves = list(sampler.emission.leaves())
    joint = np.zeros((n_sweeps, *expected.shape))
    for s in range(n_sweeps):
        sampler.sweep()
        differs = tuple(int(leaf.differs) for leaf in leaves)
        joint[s, every.index(in_order(sampler.labels)), choices.index(differs)] = 1.0
        assert sampler.is_single == (sum(differs) < 2)
        assert sampler.n_components == (1 if sampler.is_single else sampler.n_clusters)
        model = sampler.model()
        assert model.labels.max() == sampler.n_components - 1
        assert model.weights.shape == (sampler.n_components + 1,)
        assert model.weights.sum() == pytest.approx(1.0)
    draws, flat = joint.reshape(n_sweeps, -1), expected.ravel()
    assert_means(take_together(draws, flat), take_together(flat, flat), "partitions and columns")
    assert_means(joint.sum(axis=1), expected.sum(axis=0), "columns")
    assert_means(joint.sum(axis=2) @ np.eye(len(every))[:, :1], expected.sum(axis=1)[:1], "one")


def check_groups(case):
    sampler = make_grouped_sampler(case.make_problem(), [3, 2], ALPHA, GAMMA)
    groups = [case.rows[:3], case.rows[3:]]

    class Nothing:
        def log_marginal(self, rows):
            return 0.0

    every, probabilities = hdp_mixtures.posterior(groups, Nothing(), ALPHA, GAMMA)
    logs = dict(zip(every, np.log(probabilities), strict=True))
    check(sampler, case, lambda labels: logs[tuple(labels)], 6000)


def check_one_group(kind, case):
    sampler = make_table_sampler(case.make_problem(), sampler=kind)
    check(sampler, case, lambda labels: mixtures.log_prior(labels, A, B), 6000)


@pytest.mark.parametrize("kind", [MixtureSampler, BlockedSampler])
def test_partitions_and_columns(kind):
    check_one_group(kind, PLAIN)


@pytest.mark.parametrize("kind", [MixtureSampler, BlockedSampler])
@pytest.mark.parametrize("name", CASES)
def test_columns_of_few_symbols(kind, name):
    check_one_group(kind, CASES[name])


def test_grouped_partitions_and_columns():
    check_groups(PLAIN)


def test_grouped_columns_of_few_symbols():
    check_groups(CASES["constant"])
