"""Columns of categories that may have the same distribution in all clusters, by enumeration.

By batch means: |z| < 5 for some 100 numbers, a false alarm for one in 400 choices of the seeds,
which are fixed. Partitions and choices of columns of less than 1 in 200 are taken together.
"""

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
ROWS = [[0, 1, 0], [0, 1, 1], [2, 0, 1], [2, NA, 0], [NA, 0, 1]]
BASES = [0.5, 0.2, 0.3], [0.4, 0.6], [0.5, 0.5]
PRIORS = [(1.0, 0.4), (2.0, 0.5), (0.7, 0.3)]


def make_alike_problem():
    columns = {
        f"c{j}": ((CategoricalEmission(base=base, concentration_prior=prior), None), [j])
        for j, (base, prior) in enumerate(zip(BASES, PRIORS, strict=True))
    }
    return make_problem(ROWS, None, [], **columns)


def check(sampler, log_prior, n_sweeps):
    every, choices, expected = alike_columns.posterior(ROWS, BASES, PRIORS, log_prior)
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


@pytest.mark.parametrize("kind", [MixtureSampler, BlockedSampler])
def test_partitions_and_columns(kind):
    sampler = make_table_sampler(make_alike_problem(), sampler=kind)
    check(sampler, lambda labels: mixtures.log_prior(labels, A, B), 6000)


def test_grouped_partitions_and_columns():
    sampler = make_grouped_sampler(make_alike_problem(), [3, 2], ALPHA, GAMMA)
    groups = [ROWS[:3], ROWS[3:]]

    class Nothing:
        def log_marginal(self, rows):
            return 0.0

    every, probabilities = hdp_mixtures.posterior(groups, Nothing(), ALPHA, GAMMA)
    logs = dict(zip(every, np.log(probabilities), strict=True))
    check(sampler, lambda labels: logs[tuple(labels)], 6000)
