"""Columns of categories that may have the same distribution in all clusters, by enumeration.

By batch means: |z| < 5 for some 100 numbers, a false alarm for one in 400 choices of the seeds,
which are fixed."""

from typing import NamedTuple

import numpy as np
import pytest
from exact.mixture.chains import (
    ALPHA,
    GAMMA,
    A,
    B,
    in_order,
    make_chain_sampler,
    make_grouped_sampler,
    slow,
    take_together,
)
from exact.mixture.problems import NAN, Problem
from exact.oracles import alike_columns, hdp_topics, mixtures
from exact.oracles.batch_means import check_chain

from skdp.emissions import CategoricalEmission, IndependentEmissions
from skdp.mixture._rows._sampler import BlockedSampler, MixtureSampler


class Columns(NamedTuple):
    """Rows of categories, the bases and priors of their columns, and the powers of the rows."""

    rows: list
    bases: list
    priors: list
    powers: list | None = None

    def make_problem(self):
        parts = []
        for j, (base, prior) in enumerate(zip(self.bases, self.priors, strict=True)):
            weights = "uniform" if np.ptp(base) == 0.0 else base
            part = CategoricalEmission(len(base), base=weights, concentration_prior=prior)
            parts.append((f"c{j}", part, [j]))
        return Problem(self.rows, [], IndependentEmissions(parts), None, self.powers)


CASES = {
    "plain": Columns(
        [[0, 1, 0], [0, 1, 1], [2, 0, 1], [2, NAN, 0], [NAN, 0, 1]],
        [[0.5, 0.2, 0.3], [0.4, 0.6], [0.5, 0.5]],
        [(1.0, 0.4), (2.0, 0.5), (0.7, 0.3)],
    ),
    "constant": Columns(
        [[0, 1, 1, 0], [0, 1, 1, NAN], [1, 0, 1, 0], [1, 0, NAN, 0], [NAN, 1, 1, 0]],
        [[0.4, 0.6], [0.5, 0.5], [0.3, 0.7], [1.0]],
        [(1.0, 0.4), (2.0, 0.5), (0.7, 0.3), (1.0, 0.5)],
    ),
    "unused": Columns(
        [[0, 1, 5], [0, 1, 5], [2, 3, 5], [2, NAN, 0], [NAN, 3, 0]],
        [[0.2] * 5, [0.1, 0.3, 0.3, 0.3], [0.125] * 8],
        [(1.0, 0.4), (2.0, 0.5), (0.7, 0.3)],
    ),
}
CASES["powers"] = CASES["constant"]._replace(powers=[1.0, 0.5, 0.3, 1.0, 0.8])


def check(sampler, case, log_prior):
    every, choices, expected = alike_columns.posterior(
        case.rows, case.bases, case.priors, log_prior, case.powers
    )
    leaves = list(sampler.emission.leaves())

    def step():
        sampler.sweep()
        differs = tuple(int(leaf.differs) for leaf in leaves)
        assert sampler.is_single == (sum(differs) < 2)
        assert sampler.n_components == (1 if sampler.is_single else sampler.n_clusters)
        model = sampler.model()
        assert model.labels.max() == sampler.n_components - 1
        assert model.weights.shape == (sampler.n_components + 1,)
        assert model.weights.sum() == pytest.approx(1.0)
        return every.index(in_order(sampler.labels)), choices.index(differs)

    def compare(partition, choice):
        joint = np.zeros((len(partition), *expected.shape))
        joint[np.arange(len(partition)), partition, choice] = 1.0
        draws, flat = joint.reshape(len(joint), -1), expected.ravel()
        yield take_together(draws, flat), take_together(flat, flat), "partitions and columns"
        yield joint.sum(axis=1), expected.sum(axis=0), "columns"
        yield joint[:, 0].sum(axis=1), expected[0].sum(), "all rows together"

    check_chain(step, compare, 6000)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("plain", MixtureSampler), slow("unused", MixtureSampler), slow("powers", MixtureSampler),
        slow("plain", BlockedSampler), slow("constant", BlockedSampler),
        slow("powers", BlockedSampler),
    ],
)  # fmt: skip
def test_partitions_and_columns(name, kind):
    case = CASES[name]
    sampler = make_chain_sampler(case.make_problem(), sampler=kind)
    check(sampler, case, lambda labels: mixtures.log_prior(labels, A, B))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "constant"])
def test_partitions_and_columns_of_groups(name):
    case = CASES[name]
    groups = [case.rows[:3], case.rows[3:]]
    check(
        make_grouped_sampler(case.make_problem(), [3, 2]), case,
        lambda labels: np.log(hdp_topics.prior_of_partition(groups, labels, ALPHA, GAMMA)),
    )  # fmt: skip
