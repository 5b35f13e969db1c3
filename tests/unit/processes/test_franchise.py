"""The franchise beyond the reach of enumeration: many customers, many tables."""

import tracemalloc

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.language import HierarchicalPitmanYorLM
from skdp.processes import sample_discount, sample_table_counts
from skdp.processes._franchise import (
    Franchise,
    FranchiseLayout,
    FranchisePriors,
    Histogram,
    Seats,
    Sizes,
)
from skdp.processes._kernels_franchise import log_rising
from skdp.processes._network_tables import StirlingRatios


def restaurant(counts, base, discount, concentration):
    """Return a franchise of one restaurant."""
    n = len(counts)
    layout = FranchiseLayout.of(
        np.array([0, n]), np.array([0, 1]), np.full(n, -1, np.int32), np.zeros(n, np.int32),
        np.array(counts, np.int32),
    )  # fmt: skip
    fixed = [None if value is None else np.array([value]) for value in (discount, concentration)]
    return Franchise(layout, np.array(base), FranchisePriors(*fixed, (1.0, 1.0), (1.0, 0.1)))


@pytest.mark.parametrize("discount", [0.0, 0.5, 0.9])
def test_many_customers(discount):
    """Counts beyond the tables of ratios; a false alarm once in 80,000 comparisons, 9 of them."""
    counts, base = [5_000, 1_300, 40], [0.6, 0.3, 0.1]
    franchise = restaurant(counts, base, discount, 20.0)
    rng = make_stream(make_seed_sequence(0))
    draws = []
    for _ in range(1_200):
        franchise.sweep(rng)
        draws.append(franchise.tables.copy())
    others = sample_table_counts(
        counts, base, discount=discount, concentration=20.0, n_sweeps=1_200, random_state=1
    )
    assert_means(np.array(draws[200:]) - others[200:], np.zeros(3), "difference of tables")


@pytest.mark.slow
@pytest.mark.parametrize("n_tables", [2, 300])
def test_discounts_of_many_customers(n_tables):
    """Slices, by integrals, against the chain of `sample_discount`. Two samplers of one
    distribution; a false alarm once in 80,000 comparisons, 4 of them."""
    counts, tables = [2_500, 1_300, 40], [n_tables, n_tables // 2, 1]
    franchise = restaurant(counts, [0.6, 0.3, 0.1], None, 20.0)
    franchise.tables[:] = tables
    franchise.attach(franchise.layout, franchise._base)
    rng = make_stream(make_seed_sequence(0))
    draws = []
    for _ in range(400):
        franchise._draw_laws(rng)
        draws.append(franchise.discount[0])
    others = sample_discount(
        counts, tables, concentration=20.0, n_sweeps=len(draws), random_state=1
    )
    moments = [np.array([d, d**2]).T for d in (np.array(draws)[40:], others[40:])]
    assert_means(moments[0] - moments[1], np.zeros(2), "difference of moments")


@pytest.mark.parametrize("step", [0.0, 1e-12, 1e-6, 0.3, 1.0])
@pytest.mark.parametrize("x", [1e-9, 0.2, 1e4])
@pytest.mark.parametrize("n", [0, 1, 24, 25, 5_000])
def test_log_rising(x, step, n):
    expected = np.log(x + step * np.arange(n)).sum()
    assert log_rising(x, step, n) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_likelihoods_of_histograms():
    """They equal the likelihoods of every seat, from the joint distribution."""
    sizes, tables, customers = [3, 1, 2, 2, 40], [2, 2, 1], [4, 4, 4000]
    histograms = [Histogram.of(np.array(each, np.int32)) for each in (tables, customers)]
    seats = Seats(Sizes.of_counts(np.bincount(sizes)), *histograms)
    d, theta = 0.35, 1.7
    expected = sum(np.log(np.arange(1, s) - d).sum() for s in sizes)
    expected += sum(np.log(theta + d * np.arange(t)).sum() for t in tables)
    expected -= sum(np.log(theta + np.arange(c)).sum() for c in customers)
    assert seats.log_likelihood(d, theta) == pytest.approx(expected, rel=1e-12)


def test_depths_of_a_law_share_a_table():
    """Its size depends on the laws, not on the depths; the draws are those of tables of one's
    own."""
    shared, own = deep_franchise([1] * 40, 3), deep_franchise([1] * 40)
    for franchise in (shared, own):
        rng = make_stream(make_seed_sequence(0))
        for _ in range(20):
            franchise.sweep(rng)
    np.testing.assert_array_equal(shared.tables, own.tables)
    assert shared.log_joint() == pytest.approx(own.log_joint(), rel=1e-12)
    pairs = [(n + 1) * (n + 2) // 2 for n in (40, 39, 38)]  # of customers of the first depths
    assert len(shared._ratios[0]) == sum(pairs)


def deep_franchise(observed, n_laws=None):
    """Return restaurants one above the other, of one dish, each with new customers."""
    n = len(observed)
    ptr, depths = np.arange(n + 1), np.arange(n, dtype=np.int32)
    layout = FranchiseLayout.of(
        ptr, ptr, depths - 1, depths, np.array(observed, np.int32), n_laws
    )  # fmt: skip
    laws = np.full(n_laws or n, 0.4), np.full(n_laws or n, 2.0)
    return Franchise(layout, np.ones(1), FranchisePriors(*laws, (1.0, 1.0), (1.0, 0.1)))


def test_ratios_are_stored_once():
    franchise = deep_franchise([*[0] * 9, 400])
    franchise.discount[:] = np.linspace(0.0, 0.9, 10)
    tracemalloc.start()
    laws = franchise._laws()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    needed = franchise.layout.bytes_of_ratios()
    assert laws.values.nbytes == pytest.approx(needed)
    assert peak < 1.2 * needed
    for d, begin, end in zip(franchise.discount, laws.values_ptr, laws.values_end, strict=True):
        alone = StirlingRatios.for_counts(400, d, max_rows=1000)
        np.testing.assert_array_equal(laws.values[begin:end], alone.values)


def test_more_depths_than_memory(monkeypatch):
    monkeypatch.setattr("skdp._checks.physical_memory", lambda: 2**26)
    message = "X: tables for contexts of up to 19 words, in n_chains=1 chains would take .* GiB"
    with pytest.raises(ValueError, match=message):
        HierarchicalPitmanYorLM(20, max_iter=4).fit([[0] * 1000])
