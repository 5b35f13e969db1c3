"""Samplers of laws against quadrature of their posteriors, their steps against all seatings.

The 300 comparisons give a false alarm for one choice of their seeds in 250 at most."""

from itertools import pairwise

import numpy as np
import pytest
from exact.oracles.batch_means import N_SWEEPS, assert_means
from exact.oracles.partitions import (
    concentration_moment,
    discount_moment,
    mean_seating_evidence,
    seating_evidence,
)

from skdp._numeric._random import make_stream
from skdp.processes import StirlingRatios, sample_concentration, sample_discount
from skdp.processes._concentration import draw_seating_evidence, draw_table_evidence

CONCENTRATIONS = {
    # name: (customers, tables, discount, prior)
    "no discount": ((12, 7, 1, 0), (4, 2, 1, 0), 0.0, (1.0, 0.1)),
    "no discount, one table each": ((9, 5), (1, 1), 0.0, (2.0, 0.5)),
    "no discount, all tables": ((3, 2), (3, 2), 0.0, (1.0, 0.1)),
    "discount": ((12, 7, 1, 0), (4, 2, 1, 0), 0.5, (1.0, 0.1)),
    "discount, one table each": ((9, 5), (1, 1), 0.5, (0.3, 1.0)),
    "large discount": ((12, 7, 1, 0), (9, 4, 1, 0), 0.9, (1.0, 0.1)),
    "nothing seen": ((0, 1), (0, 1), 0.3, (2.5, 0.7)),
}
DISCOUNTS = {
    # name: (customers, tables, concentration, prior)
    "one restaurant": (((12, 7, 1, 0),), ((4, 2, 1, 0),), (1.0,), (1.0, 1.0)),
    "three restaurants": (
        ((12, 7, 1, 0), (0, 5, 3, 20), (0, 0, 0, 0)),
        ((4, 2, 1, 0), (0, 4, 1, 3), (0, 0, 0, 0)),
        (0.3, 2.0, 1.0),
        (1.0, 1.0),
    ),
    "large concentrations": (((12, 7), (9, 9)), ((6, 5), (4, 8)), (100.0, 30.0), (1.0, 1.0)),
    "small concentration": (((12, 7, 1),), ((3, 2, 1),), (0.01,), (1.0, 1.0)),
    "asymmetric prior": (((12, 7, 1),), ((7, 3, 1),), (1.0,), (3.0, 0.5)),
    "prior near 0": (((12, 7, 1),), ((2, 1, 1),), (2.0,), (0.3, 4.0)),
    "all tables": (((6, 2), (3, 1)), ((6, 2), (3, 1)), (1.0, 2.5), (1.0, 1.0)),
    "one table": (((15,), (4,)), ((1,), (1,)), (1.0, 1.0), (2.0, 1.0)),
    "one table a dish": (((15, 4, 2),), ((1, 1, 1),), (1.0,), (1.0, 2.0)),
    "nothing seen": (((0, 1),), ((0, 1),), (1.0,), (2.5, 0.7)),
}
N_DRAWS = 8_000  # independent ones
NO_RATIOS = np.empty((0, 2)), np.zeros(1, dtype=np.int64)


@pytest.mark.parametrize("case", CONCENTRATIONS)
def test_moments_of_concentrations(case):
    customers, tables, a, prior = CONCENTRATIONS[case]
    draws = sample_concentration(
        customers, tables, discount=a, prior=prior, n_sweeps=N_SWEEPS, random_state=0
    )
    for function in (np.log, np.sqrt, float):
        expected = concentration_moment(function, customers, tables, a, prior)
        found = np.log(draws) if function is np.log else draws ** (1 if function is float else 0.5)
        assert_means(found, np.array(expected), f"E[{function.__name__}(b)]")


@pytest.mark.parametrize("start", [0.0, 0.9])
@pytest.mark.parametrize("case", DISCOUNTS)
def test_moments_of_discounts(case, start):
    customers, tables, b, prior = DISCOUNTS[case]
    draws = sample_discount(
        customers, tables, concentration=b, discount=start, prior=prior, n_sweeps=N_SWEEPS,
        random_state=0,
    )  # fmt: skip
    for power in (1, 2):
        expected = discount_moment(power, customers, tables, b, prior)
        assert_means(draws**power, np.array(expected), f"E[a^{power}]")


@pytest.mark.parametrize("tabulated", [True, False])
@pytest.mark.parametrize("a", [0.0, 0.4, 0.9])
@pytest.mark.parametrize(("n", "t"), [(8, 3), (8, 6), (8, 2), (8, 1), (3, 2), (8, 8)])
def test_law_of_seating_evidence(n, t, a, tabulated):
    """Without the seating, the evidence has the law that Teh's scheme gives it."""
    ratios = StirlingRatios.for_counts(n, a)
    table = (ratios.values, ratios.row_ptr) if tabulated else NO_RATIOS
    rng = make_stream(np.random.SeedSequence(0))
    draws = np.array([draw_seating_evidence(n, t, a, *table, rng) for _ in range(N_DRAWS)])
    assert_means(draws[:, None] == np.arange(n + 1), seating_evidence(n, t, a), "P(sum (1 - z))")


@pytest.mark.parametrize("a", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("n", "t"), [(300, 30), (300, 2), (300, 250)])
def test_evidence_of_a_large_dish(n, t, a):
    """By a table for every other step, by integrals for the rest."""
    ratios = StirlingRatios.for_counts(n // 2, a)
    rng = make_stream(np.random.SeedSequence(1))
    draws = [
        draw_seating_evidence(n, t, a, ratios.values, ratios.row_ptr, rng) for _ in range(2_000)
    ]
    assert_means(draws, np.array(mean_seating_evidence(n, t, a)), "E[sum (1 - z)]")


@pytest.mark.parametrize("a", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_ratio_is_monotone(a):
    """V rises in n and falls in t: a block of customers takes its bounds from this."""
    ratios = StirlingRatios.for_counts(200, a)
    rows = [ratios.values[i:j, 1] for i, j in pairwise(ratios.row_ptr)]
    for below, row in pairwise(rows[1:]):
        assert np.all(np.diff(row[1:]) <= 1e-12 * row[1:-1])
        assert np.all(row[1:-1] >= (1.0 - 1e-12) * below[1:])


@pytest.mark.parametrize(("b", "a"), [(1.0, 0.5), (20.0, 0.5), (0.01, 0.3), (1.0, 0.0)])
def test_mean_of_table_evidence(b, a):
    """E[sum (1 - y)] = a d log (b | a)_T / da."""
    rng = make_stream(np.random.SeedSequence(0))
    draws = [draw_table_evidence(9, b, a, rng) for _ in range(N_DRAWS)]
    m = np.arange(1, 9)
    assert_means(draws, np.sum(a * m / (b + a * m)), "E[sum (1 - y)]")
