"""Networks of Pitman-Yor processes against enumeration of all table counts."""

from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from exact.oracles.batch_means import N_SWEEPS, assert_means
from exact.oracles.networks import joint, posterior

from skdp.processes import sample_network_tables

DIAMOND = [[], [0], [0], [1, 2]]
FORK = [[], [], [], [0, 1, 2]]
CASES = {
    # name: (counts, parents, base, discounts, concentrations, weights)
    "one node": ([[4, 2]], [[]], [0.3, 0.7], [0.4], [1.0], None),
    "chain": ([[1, 0], [0, 1], [2, 1]], [[], [0], [1]], [0.4, 0.6], [0.5] * 3, [0.7] * 3, None),
    "diamond": ([[0, 0], [1, 0], [0, 0], [2, 1]], DIAMOND, [0.4, 0.6], [0.3] * 4, [1.5] * 4, None),
    "diamond, given weights": (
        [[0, 0], [0, 0], [0, 1], [2, 1]], DIAMOND, [0.4, 0.6], [0.0, 0.6, 0.2, 0.4],
        [2.0, 0.5, 3.0, -0.2], [[], [1.0], [1.0], [0.7, 0.3]],
    ),
    "three parents": (
        [[1, 0], [0, 0], [0, 1], [3, 0]], FORK, [0.5, 0.5], [0.5] * 4, [0.4, 2.0, 1.0, 5.0], None,
    ),
    "parents that serve a dish only now and then": (
        [[0], [0], [9]], [[], [], [0, 1]], [1.0], [0.1, 0.3, 0.5], [1.0] * 3, None,
    ),
    "a parent of weight 0": (
        [[0, 0], [0, 1], [2, 2]], [[], [], [0, 1]], [0.8, 0.2], [0.1] * 3, [4.0] * 3,
        [[], [], [1.0, 0.0]],
    ),
    "ancestor and parent": (
        [[0, 0], [1, 0], [2, 1]], [[], [0], [0, 1]], [0.5, 0.5], [0.0, 0.2, 0.9], [1.0, -0.1, 0.3],
        None,
    ),
}  # fmt: skip
PRIOR = {
    "one node": [[]], "chain": [[], [1.0], [2.0]], "diamond": [[], [1.0], [0.5], [2.0, 0.4]],
    "three parents": [[], [], [], [0.5, 1.5, 1.0]],
    "parents that serve a dish only now and then": [[], [], [1.0, 1.0]],
    "ancestor and parent": [[], [1.0], [0.8, 0.3]],
}  # fmt: skip


@pytest.mark.parametrize("sampler", ["btigs", "cmgs"])
@pytest.mark.parametrize("case", CASES)
def test_network(case, sampler):
    counts, parents, base, a, b, weights = CASES[case]
    is_drawn = weights is None
    edge_weights = PRIOR[case] if is_drawn else weights
    states, probabilities = posterior(counts, parents, base, a, b, edge_weights, is_drawn=is_drawn)
    draws = sample_network_tables(
        counts, parents, base, discount=a, concentration=b, sampler=sampler,
        weights="dirichlet" if is_drawn else weights,
        weight_prior=edge_weights if is_drawn else 1.0, n_sweeps=N_SWEEPS, random_state=0,
    )  # fmt: skip
    assert_means(draws, np.tensordot(probabilities, states, 1), "expected tables")
    index = {tuple(state.ravel()): i for i, state in enumerate(states)}
    visited = np.zeros((len(draws), len(states)))
    for sweep, state in enumerate(draws):
        visited[sweep, index[tuple(state.ravel())]] = 1.0
    likely = probabilities > 0.01
    assert_means(visited[:, likely], probabilities[likely], "probability of each state")


def test_oracle_is_normalized():
    """Summed over tables and over all dishes of given customers, the joint is 1."""
    parents, base = [[], [0], [0, 1]], (0.3, 0.7)
    sizes, total = (1, 2, 2), 0.0
    for first in product(*(range(n + 1) for n in sizes)):
        counts = [(x, n - x) for x, n in zip(first, sizes, strict=True)]
        orders = prod(
            factorial(n) / (factorial(x) * factorial(n - x))
            for x, n in zip(first, sizes, strict=True)
        )
        found = joint(
            counts, parents, base, (0.2, 0.0, 0.5), (1.0, 0.4, -0.3), [[], [1.0], [0.6, 1.1]],
            is_drawn=True,
        )  # fmt: skip
        total += orders * sum(found.values())
    assert total == pytest.approx(1.0, abs=1e-12)


def test_samplers_agree_on_large_counts():
    """The two samplers have the same means in problems too large for enumeration."""
    counts = [[0, 0, 0], [60, 5, 0], [0, 30, 40], [25, 3, 12], [0, 4, 9]]
    parents = [[], [0], [0], [1, 2], [0, 1, 3]]
    runs = [
        sample_network_tables(
            counts, parents, [0.4, 0.3, 0.3], discount=[0.1, 0.5, 0.5, 0.3, 0.0],
            concentration=[2.0, 5.0, 1.0, 10.0, 3.0], sampler=sampler, n_sweeps=4_000,
            random_state=2,
        )[400:].sum(axis=2)
        for sampler in ("btigs", "cmgs")
    ]  # fmt: skip
    batches = [run.reshape(40, -1, run.shape[1]).mean(axis=1) for run in runs]
    means, errors = zip(
        *((x.mean(0), x.std(0, ddof=1) / np.sqrt(40)) for x in batches), strict=True
    )
    # Seven edges; a correct pair of samplers fails for one in 20,000 seeds.
    assert np.all(np.abs(means[0] - means[1]) < 5.0 * np.hypot(*errors))
