"""CRP and GEM draws against enumeration and closed forms.

One-sample tests at a p-value of 1e-6, one fixed seed each: about 100, a false alarm for one choice
of the seeds in 10,000."""

import numpy as np
import pytest
from exact.oracles.partitions import seating_probability, set_partitions
from scipy import stats

from skdp.processes import expected_table_count, sample_crp, sample_gem

N = 20_000
PARAMETERS = [(0.0, 0.3), (0.0, 20.0), (0.5, -0.3), (0.5, 1.0), (0.9, 0.0), (0.9, 5.0)]
every_process = pytest.mark.parametrize(("a", "b"), PARAMETERS)


def assert_drawn_from(probabilities, draws):
    """Compare draws with the probabilities of all that there are; the rare ones together."""
    assert sum(probabilities.values()) == pytest.approx(1.0)
    found = dict.fromkeys(probabilities, 0)
    for draw in draws:
        found[draw] += 1
    expected = len(draws) * np.array(list(probabilities.values()))
    observed = np.array(list(found.values()))
    likely = expected > 5.0
    if not likely.all():  # as chi-square wants
        expected = np.append(expected[likely], expected[~likely].sum())
        observed = np.append(observed[likely], observed[~likely].sum())
    assert stats.chisquare(observed, expected).pvalue > 1e-6


@every_process
def test_crp_draws_every_seating_with_its_probability(a, b):
    probabilities = {seats: seating_probability(seats, a, b) for seats in set_partitions(4)}
    generator = np.random.default_rng(0)
    draws = [sample_crp(4, discount=a, concentration=b, random_state=generator) for _ in range(N)]
    assert_drawn_from(probabilities, [tuple(seats.tolist()) for seats in draws])


@every_process
@pytest.mark.parametrize("before", [(0,), (0, 0, 1), (0, 1, 0, 0, 2)], ids=["1", "21", "311"])
def test_crp_goes_on_with_the_conditional_probabilities(a, b, before):
    """Given a seating, each way for three more has the quotient of the joint probabilities."""
    given = seating_probability(before, a, b)
    probabilities = {
        seats[len(before) :]: seating_probability(seats, a, b) / given
        for seats in set_partitions(len(before) + 3)
        if seats[: len(before)] == before
    }
    counts, generator = np.bincount(before), np.random.default_rng(4)
    draws = [
        sample_crp(3, discount=a, concentration=b, counts=counts, random_state=generator)
        for _ in range(N)
    ]
    assert_drawn_from(probabilities, [tuple(seats.tolist()) for seats in draws])


@every_process
def test_crp_reaches_the_expected_number_of_tables(a, b):
    n, generator = 300, np.random.default_rng(1)
    tables = [
        sample_crp(n, discount=a, concentration=b, random_state=generator).max() + 1
        for _ in range(2_000)
    ]
    assert stats.ttest_1samp(tables, expected_table_count(n, a, b)).pvalue > 1e-6


def sticks(n_draws, **parameters):
    generator = np.random.default_rng(2)
    return np.array([sample_gem(random_state=generator, **parameters) for _ in range(n_draws)])


@every_process
def test_gem_sticks(a, b):
    """Shares V_k of what is left are independent beta variates; only the last takes all."""
    weights = sticks(N, n_components=4, discount=a, concentration=b)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)
    left = np.ones(N)
    shares = []
    for k in range(3):
        usable = left > 1e-6  # 1 - sum would be rounding
        shares.append(weights[:, k][usable] / left[usable])
        assert stats.kstest(shares[k], stats.beta(1.0 - a, b + (k + 1) * a).cdf).pvalue > 1e-6
        left = weights[:, k + 1 :].sum(axis=1)


@every_process
def test_gem_goes_on_for_ever(a, b):
    """Truncated or not, the first weights have E[p_k] = (1-a) prod (b + ja) / prod (b + 1 + ja)."""
    weights = sticks(4_000, n_components=5, discount=a, concentration=b, tolerance=0.0)
    assert np.all(weights.sum(axis=1) < 1.0 + 1e-12)
    for k in range(5):
        share = [(b + j * a) / (b + 1 + (j - 1) * a) for j in range(1, k + 1)]
        expected = np.prod(share) * (1.0 - a) / (b + 1 + k * a)
        assert stats.ttest_1samp(weights[:, k], expected).pvalue > 1e-6


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.3), (0.0, 20.0), (0.3, 1.0)])
def test_gem_until_little_is_left(a, b):
    """Two draws from the weights coincide with probability E[sum p^2] = (1 - a) / (1 + b)."""
    generator, squares = np.random.default_rng(3), []
    for _ in range(2_000):
        weights = sample_gem(discount=a, concentration=b, tolerance=1e-3, random_state=generator)
        assert 1.0 - 1e-3 <= weights.sum() <= 1.0 + 1e-12
        assert weights[:-1].sum() < 1.0 - 1e-3
        squares.append((weights**2).sum())
    assert stats.ttest_1samp(squares, (1.0 - a) / (1.0 + b)).pvalue > 1e-6
