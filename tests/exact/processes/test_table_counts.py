"""The three samplers of chapter 3 against enumeration of all table counts."""

import numpy as np
import pytest
from exact.oracles.batch_means import N_SWEEPS, assert_means
from exact.oracles.partitions import seating_probability, set_partitions, table_count_posterior

from skdp.processes import sample_table_counts

SAMPLERS = ["btigs", "cmgs", "ssa"]
CASES = {
    # name: (counts, base, discount, concentration)
    "no discount": ((6, 3, 1, 0), (0.5, 0.2, 0.2, 0.1), 0.0, 1.5),
    "no discount, few tables": ((5, 4), (0.9, 0.1), 0.0, 0.2),
    "discount": ((6, 3, 1, 0), (0.5, 0.2, 0.2, 0.1), 0.5, 1.5),
    "discount, many tables": ((5, 2, 3), (0.3, 0.3, 0.4), 0.5, 25.0),
    "discount, negative concentration": ((4, 3, 2), (0.2, 0.1, 0.7), 0.5, -0.3),
    "large discount": ((6, 3, 1, 0), (0.5, 0.2, 0.2, 0.1), 0.9, 0.2),
    "large discount, many tables": ((7, 2), (0.6, 0.4), 0.9, 5.0),
    "one dish": ((7,), (1.0,), 0.9, 0.5),
}


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("case", CASES)
def test_table_counts(case, sampler):
    counts, base, a, b = CASES[case]
    posterior = table_count_posterior(counts, base, a, b)
    states = np.array(list(posterior))
    probabilities = np.array(list(posterior.values()))
    draws = sample_table_counts(
        counts, base, discount=a, concentration=b, sampler=sampler,
        n_sweeps=N_SWEEPS, random_state=0,
    )  # fmt: skip
    assert_means(draws, probabilities @ states, "expected table counts")
    visited = (draws[:, None, :] == states).all(axis=2)
    assert np.all(visited.sum(axis=1) == 1)
    assert_means(visited, probabilities, "probability of each state")


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.7), (0.5, -0.2), (0.9, 3.0)])
def test_oracle_counts_seatings(a, b):
    """Equation (3.3) is the sum over seatings, each table drawing its dish from the base."""
    dishes, base = (0, 0, 0, 1, 1), (0.3, 0.7)
    expected: dict[tuple[int, ...], float] = {}
    for seats in set_partitions(len(dishes)):
        eaten = [{dishes[i] for i, s in enumerate(seats) if s == seat} for seat in set(seats)]
        if all(len(dish) == 1 for dish in eaten):
            served = [dish.pop() for dish in eaten]
            t = (served.count(0), served.count(1))
            weight = seating_probability(seats, a, b) * base[0] ** t[0] * base[1] ** t[1]
            expected[t] = expected.get(t, 0.0) + weight
    total = sum(expected.values())
    found = table_count_posterior((3, 2), base, a, b)
    assert found == pytest.approx({t: weight / total for t, weight in expected.items()})


@pytest.mark.parametrize("a", [0.0, 0.5])
def test_samplers_agree_on_large_counts(a):
    """In problems too large to enumerate, samplers with and without Stirling numbers agree."""
    counts, base = [300, 60, 5, 0], [0.4, 0.3, 0.2, 0.1]
    means, runs = {}, set()
    for sampler in SAMPLERS:
        draws = sample_table_counts(
            counts, base, discount=a, concentration=10.0, sampler=sampler,
            n_sweeps=4_000, random_state=2,
        )[400:]  # fmt: skip
        runs.add(draws.tobytes())
        batches = draws.sum(axis=1).reshape(40, -1).mean(axis=1)
        means[sampler] = batches.mean(), batches.std(ddof=1) / np.sqrt(40)
    assert len(runs) == 3
    for sampler in ("btigs", "cmgs"):
        difference = means[sampler][0] - means["ssa"][0]
        assert abs(difference) < 5.0 * np.hypot(means[sampler][1], means["ssa"][1])
