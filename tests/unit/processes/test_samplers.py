"""Samplers of tables, of their laws, and of partitions: seeds, sizes and extremes."""

import numpy as np
import pytest
from refusals.processes import NETWORK

from skdp._numeric._random import make_stream
from skdp.processes import (
    sample_concentration,
    sample_crp,
    sample_discount,
    sample_gem,
    sample_network_tables,
    sample_table_counts,
)
from skdp.processes._concentration import (
    draw_bounded_beta,
    draw_concentration,
    draw_seating_evidence,
)

NO_RATIOS = np.empty((0, 2)), np.zeros(1, dtype=np.int64)
COUNTS = {"counts": [30, 4], "base": [0.5, 0.5]}
LAW = {"discount": 0.5, "concentration": 2.0}


@pytest.mark.parametrize(
    ("sample", "arguments", "shape"),
    [
        (sample_crp, {"n": 50, **LAW}, (50,)),
        (sample_gem, {"n_components": 50, **LAW}, (50,)),
        *((sample_table_counts, {**COUNTS, **LAW, "sampler": sampler, "n_sweeps": 9}, (9, 2))
          for sampler in ("btigs", "cmgs", "ssa")),
        *((sample_network_tables, {**NETWORK, "sampler": sampler, "n_sweeps": 9}, (9, 5, 3))
          for sampler in ("btigs", "cmgs")),
        (sample_concentration, {"customers": [20, 9], "tables": [5, 4], "discount": 0.5,
                                "n_sweeps": 4}, (4,)),
        (sample_discount, {"customers": [[20, 9], [5, 1]], "tables": [[5, 4], [2, 1]],
                           "concentration": [1.0, 2.0], "n_sweeps": 4}, (4,)),
    ],
)  # fmt: skip
def test_seeds(sample, arguments, shape):
    def run(random_state):
        return sample(**arguments, random_state=random_state)

    first = run(3)
    assert first.shape == shape
    assert first.dtype in (np.int64, np.float64)
    np.testing.assert_array_equal(first, run(3))
    assert not np.array_equal(first, run(4))
    generator = np.random.default_rng(3)
    assert not np.array_equal(run(generator), run(generator))


@pytest.mark.parametrize("sampler", ["btigs", "cmgs", "ssa"])
def test_few_and_many_customers(sampler):
    """No customers have no tables; ratios of 20,000 customers are beyond their table."""
    few = sample_table_counts([0, 0], [0.5, 0.5], discount=0.0, concentration=1.0, sampler=sampler)
    np.testing.assert_array_equal(few, [[0, 0]])
    many = sample_table_counts(
        [20_000], [1.0], discount=0.5, concentration=10.0, sampler=sampler, n_sweeps=2,
        random_state=0,
    )  # fmt: skip
    assert np.all((many > 10) & (many < 20_000))


@pytest.mark.parametrize("sampler", ["btigs", "cmgs"])
def test_few_and_many_customers_of_a_network(sampler):
    def run(n, discount, concentration):
        return sample_network_tables(
            [[0], [n]], [[], [0]], [1.0], discount=discount, concentration=concentration,
            sampler=sampler, n_sweeps=2, random_state=0,
        )[-1, :, 0]  # fmt: skip

    assert run(0, 0.0, 1.0).tolist() == [0, 0]
    above, below = run(12_000, [0.5, 0.2], 10.0)
    assert 10 < below < 12_000
    assert 1 <= above <= below


@pytest.mark.parametrize("sampler", ["btigs", "cmgs"])
def test_networks_in_other_forms(sampler):
    def run(**params):
        return sample_network_tables(**{**NETWORK, **params}, sampler=sampler, n_sweeps=9,
                                     random_state=0)  # fmt: skip

    expected = run()
    np.testing.assert_array_equal(run(discount=np.full(4, 0.5)), expected)
    np.testing.assert_array_equal(run(concentration=[2, 2.0, 2, 2]), expected)
    np.testing.assert_array_equal(run(weight_prior=[[], [1], (1,), np.ones(2)]), expected)
    np.testing.assert_array_equal(run(parents=((), (0,), np.array([0]), [1, 2])), expected)
    assert not np.array_equal(run(weights=[[], [1.0], [1.0], [0.5, 0.5]]), expected)


@pytest.mark.parametrize("sampler", ["btigs", "cmgs"])
def test_different_discounts_have_their_own_stirling_numbers(sampler):
    """Nodes without customers do not change the draws of the others."""
    first, second = (
        sample_network_tables(
            [[30, 4, 0], [0, 0, 0]], [[], []], NETWORK["base"], discount=[0.3, other],
            concentration=2.0, sampler=sampler, n_sweeps=9, random_state=0,
        )
        for other in (0.0, 0.9995)
    )  # fmt: skip
    np.testing.assert_array_equal(first, second)


def test_start_of_a_concentration_matters_only_at_first():
    kwargs = {"discount": 0.5, "n_sweeps": 2_000, "random_state": 0}
    near = sample_concentration([50], [10], concentration=1.0, **kwargs)
    far = sample_concentration([50], [10], concentration=1e6, **kwargs)
    assert far[0] > 2.0 * near[0]
    assert np.median(far[200:]) == pytest.approx(np.median(near[200:]), rel=0.2)


def test_concentrations_stay_positive():
    """A posterior crowded at 0 underflows; the chain must not stay there."""
    rng = make_stream(np.random.SeedSequence(0))
    counts = np.array([1]), np.array([1])
    draws = [draw_concentration(*counts, 0.0, 1.0, 1e-3, 1.0, rng) for _ in range(200)]
    assert min(draws) > 0.0
    assert max(draws) > 1e-50


def test_one_dimension_is_one_restaurant():
    kwargs = {"n_sweeps": 5, "random_state": 0}
    flat = sample_discount([20, 9], [5, 4], concentration=1.0, **kwargs)
    np.testing.assert_array_equal(
        flat, sample_discount([[20, 9]], [[5, 4]], concentration=[1.0], **kwargs)
    )


def test_one_concentration_for_all():
    kwargs = {"customers": [[20], [9]], "tables": [[5], [4]], "n_sweeps": 5, "random_state": 0}
    np.testing.assert_array_equal(
        sample_discount(concentration=2, **kwargs),
        sample_discount(concentration=[2.0, 2.0], **kwargs),
    )


def test_start_of_a_discount_matters_only_at_first():
    kwargs = {"concentration": 10.0, "n_sweeps": 1_000, "random_state": 0}
    draws = [
        sample_discount([300] * 4, [40] * 4, discount=start, **kwargs)
        for start in (0.0, 0.1, 0.999)
    ]
    assert np.ptp([draw[0] for draw in draws]) > 0.1
    means = [draw[100:].mean() for draw in draws]
    np.testing.assert_allclose(means, means[0], rtol=0.05)


def test_discounts_stay_inside():
    """Beta draws of small parameters round to 0 and to 1."""
    rng = make_stream(np.random.SeedSequence(0))
    draws = [draw_bounded_beta(1e-3, 1e-3, rng) for _ in range(200)]
    assert 0.0 < min(draws) < 1e-7
    assert 1.0 - 1e-7 < max(draws) < 1.0
    chain = sample_discount([9, 4], [3, 4], concentration=1.0, prior=(1e-3, 1e-3), n_sweeps=200)
    assert np.all((chain > 0.0) & (chain < 1.0))


def test_discount_without_data():
    draws = sample_discount(
        np.zeros((2, 0), int), np.zeros((2, 0), int), concentration=1.0, n_sweeps=2_000,
        random_state=0,
    )  # fmt: skip
    assert draws.mean() == pytest.approx(0.5, abs=0.05)  # 7 standard errors


def test_integers_of_any_width():
    """Kernels keep their counts in 32 bits or fewer."""
    rng, again = (make_stream(np.random.SeedSequence(0)) for _ in range(2))
    small = draw_seating_evidence(np.int32(40), np.uint16(9), 0.3, *NO_RATIOS, rng)
    assert small == draw_seating_evidence(40, 9, 0.3, *NO_RATIOS, again)


def test_crp_goes_on():
    """New tables follow those with customers, in the order in which they open."""
    good = {"discount": 0.5, "concentration": 20.0, "random_state": 0}
    seats = sample_crp(200, counts=[3, 1], **good)
    assert seats.shape == (200,)
    assert {0, 1} <= set(seats.tolist())
    new = seats[seats >= 2]
    first = [np.flatnonzero(new == table)[0] for table in range(2, new.max() + 1)]
    assert len(first) > 10
    assert first == sorted(first)
    assert sample_crp(0, counts=[3, 1], **good).shape == (0,)
    np.testing.assert_array_equal(sample_crp(9, counts=[], **good), sample_crp(9, **good))
    crowded = sample_crp(50, discount=0.5, concentration=1.0, counts=[1, 10**6], random_state=0)
    assert np.mean(crowded == 1) > 0.9


def test_gem_sizes():
    assert sample_gem(1, discount=0.5, concentration=1.0).tolist() == [1.0]
    weights = sample_gem(7, discount=0.1, concentration=1.0, random_state=1)
    cut = sample_gem(7, discount=0.1, concentration=1.0, tolerance=0.2, random_state=1)
    assert len(cut) < 7
    np.testing.assert_array_equal(cut, weights[: len(cut)])
