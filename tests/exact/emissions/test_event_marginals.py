"""Cumulative probabilities of single counts of rows of counts, however many events there are."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special, stats

from skdp.emissions._discrete._multinomial import EventMarginals, Totals, log_rising


@pytest.mark.parametrize("shape", [1e-8, 4.0, 1e3, 1e15])
def test_rising_factorials_lose_no_digits(shape):
    """By fractions, whose logarithms are taken without overflow."""
    counts = np.array([0, 1, 2, 15, 200])
    exact = [prod((Fraction(shape) + i for i in range(n)), start=Fraction(1)) for n in counts]
    scale = max(shape, 10.0)
    logs = [
        np.log(float(x / Fraction(scale) ** int(n))) + n * np.log(scale)
        for x, n in zip(exact, counts, strict=True)
    ]
    assert_allclose(log_rising(np.array(shape), counts.astype(float)), logs, rtol=1e-13, atol=1e-14)


def chance_of_less(first, second):
    """Return P(U <= V) of two independent Beta variables, trapezoids where U mostly is.

    P(X <= k) of a beta-binomial X is P(U <= V) with U ~ Beta(a, b), V ~ Beta(k + 1, n - k): the
    k + 1-th smallest of n uniform numbers is above U.
    """
    narrow = first if min(first) > min(second) else second
    a, b = narrow
    t = np.linspace(-1.0, 1.0, 4001) * (10.0 * np.sqrt(1.0 / a + 1.0 / b) + 45.0 / min(a, b))
    t += np.log(a / b)  # log odds
    x, y = special.expit(t), special.expit(-t)
    logs = a * np.log(x) + b * np.log(y)
    other = stats.beta.sf(x, *second) if narrow is first else stats.beta.cdf(x, *first)
    weights = np.exp(logs - logs.max())
    return weights @ other / weights.sum()


MANY = {
    "binomial": (None, (0.3, 0.0, 1.0, 1e-5)),
    "learned": (np.array([3e6, 1e9, 40.0, 2.0]), (0.3, 0.7, 0.01, 0.5)),
    "at the ends": (np.array([0.3, 1.5, 1.5, 1e-3]), (0.3, 0.1, 0.9, 0.5)),
}


@pytest.mark.parametrize("case", MANY)
def test_millions_of_events(case):
    """More than one cell: numbers at the ends of cells, within them, and beyond."""
    concentrations, probs = MANY[case]
    totals = Totals(np.array([7.0, 300_000.0, 1_000_000.0]), np.array([0.1, 0.2, 0.7]))
    marginals = EventMarginals(np.array(probs)[:, np.newaxis], totals, concentrations)
    x = [-5, -1, 0, 5, 8_191, 89_999, 90_050, 210_111, 299_900, 299_999, 300_000, 300_111, 700_001]
    x = np.array([*x, 999_935, 999_999.0, 1_000_000.0, 3e9])
    found = marginals.cdf(x, 0)
    for j, p in enumerate(probs):
        expected = np.zeros(len(x))
        for n, share in zip(*totals, strict=True):
            if concentrations is None:
                expected += share * stats.binom.cdf(x, n, p)
                continue
            shapes = p * concentrations[j], (1.0 - p) * concentrations[j]
            inside = (x >= 0.0) & (x < n)
            own = [chance_of_less(shapes, (k + 1.0, n - k)) for k in x[inside]]
            expected[inside] += share * np.array(own)
            expected[x >= n] += share
        assert_allclose(found[:, j], expected, rtol=1e-9, atol=1e-11)
    assert np.all(found[-2:] == 1.0)
    again = marginals.take([1, 3]).cdf(x.reshape(1, -1), 0)
    assert_allclose(again[0], found[:, [1, 3]], atol=1e-15)


@pytest.mark.parametrize("concentration", [None, 1e-3, 3.0, 1e4])
def test_integrals_by_sums(concentration, monkeypatch):
    """Every number of some thousands, added up one by one; shapes with modes at ends and within."""
    monkeypatch.setattr("skdp.emissions._discrete._multinomial._MANY", 5_000)
    probs = np.array([0.3, 0.5, 1e-3, 0.999, 1e-6])
    totals = Totals(np.array([40.0, 6_000.0, 20_000.0]), np.array([0.1, 0.3, 0.6]))
    concentrations = None if concentration is None else np.full(5, concentration)
    found = EventMarginals(probs[:, np.newaxis], totals, concentrations).cdf(np.arange(20_001), 0)
    for j, p in enumerate(probs):
        expected = np.zeros(20_001)
        for n, share in zip(*totals, strict=True):
            k = np.arange(int(n) + 1)
            if concentration is None:
                probabilities = stats.binom.pmf(k, n, p)
            else:
                a, b = p * concentration, (1.0 - p) * concentration
                ratios = np.log((n - k[:-1]) * (a + k[:-1]) / (k[1:] * (b + (n - k[1:]))))
                probabilities = special.softmax(np.concatenate([[0.0], np.cumsum(ratios)]))
            expected[: len(k)] += share * np.cumsum(probabilities)
            expected[len(k) :] += share
        assert_allclose(found[:, j], expected, atol=3e-12)


@pytest.mark.parametrize("n", [10**9, 2**53])
def test_billions_of_events(n):
    """Neither time nor room grow with their number."""
    probs, totals = np.array([0.3, 1e-7, 0.5, 0.02]), Totals(np.array([float(n)]), np.ones(1))
    x = np.floor(np.array([0.299, 0.29999, 0.3, 0.3001, 0.9, 1e-7, 2e-7]) * n)
    known = EventMarginals(probs[:, np.newaxis], totals)
    deviations = np.sqrt(n * 0.21) * np.array([-3.0, -1.0, 0.0, 2.0])
    near = np.floor(0.3 * n + deviations)
    z = (near + 0.5 - 0.3 * n) / np.sqrt(n * 0.21)
    edgeworth = special.ndtr(z) - 0.4 / 6.0 / np.sqrt(n * 0.21) * (z * z - 1) * stats.norm.pdf(z)
    assert_allclose(known.cdf(near, 0)[:, 0], edgeworth, atol=1e-8)
    concentrations = np.array([2.0, 1e9, 1e-2, 50.0])
    learned = EventMarginals(probs[:, np.newaxis], totals, concentrations)
    for j, (p, c) in enumerate(zip(probs, concentrations, strict=True)):
        inside = (x >= 0.0) & (x < n)
        shapes = p * c, (1.0 - p) * c
        expected = [chance_of_less(shapes, (k + 1.0, n - k)) for k in x[inside]]
        # The oracle has fewer digits of beta distributions with parameters of 2^53.
        assert_allclose(learned.cdf(x, 0)[inside, j], expected, atol=1e-8 if n < 2**40 else 2e-6)
    for marginals in (known, learned):
        ((_, table),) = marginals._make_tables(0)
        assert table._coefs.shape[2] < 120
