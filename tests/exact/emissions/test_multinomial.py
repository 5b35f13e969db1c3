"""Rows of counts against the formulas of their conjugate prior, and sums over all rows."""

from fractions import Fraction
from itertools import product
from math import comb, factorial, lgamma, prod

import numpy as np
import pytest
from exact.oracles.events import log_row_evidence
from numpy.testing import assert_allclose
from scipy import special, stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import MultinomialEmission
from skdp.emissions._discrete._event_marginals import EventMarginals, Totals, log_rising
from skdp.emissions._discrete._multinomial import MultinomialModel

NAN = np.nan
PRIOR = np.array([0.3, 1.0, 2.5])
N_STATES, N_DRAWS = 4, 20_000  # the last state is never used
STATES = np.array([0, 0, 1, 0, 2, 1, 0, 1])
ROWS = np.array(
    [[2, 0, 1], [1, 1, 1], [0, 0, 4], [NAN] * 3, [0, 0, 0], [0, 2, 0], [0, 1, 0], [1, 0, 3]]
)
TOTALS = Totals(np.array([0.0, 2.0, 5.0]), np.array([0.2, 0.5, 0.3]))


def start(rows=ROWS, prior=PRIOR):
    sampler = MultinomialEmission(prior).make_sampler(rows, N_STATES)
    sampler.attach(rows)
    rng = make_stream(make_seed_sequence(0))
    sampler.draw(STATES, rng)
    return sampler, rng


def rows_of(n_events, n_kinds=3):
    rows = [row for row in product(range(n_events + 1), repeat=n_kinds) if sum(row) == n_events]
    return np.array(rows, dtype=float)


def test_log_probabilities():
    sampler, _ = start()
    probs = np.exp(sampler.log_probs)
    assert_allclose(probs.sum(axis=0), 1.0)
    out = np.empty((len(ROWS), N_STATES))
    sampler.write_log_obs(out)
    for t, row in enumerate(np.nan_to_num(ROWS)):
        expected = stats.multinomial.logpmf(row, int(row.sum()), probs.T)
        assert_allclose(out[t], expected, atol=1e-12)
    known = MultinomialModel(probs.T.copy(), sampler.totals)
    assert_allclose(known.log_obs(ROWS), out, atol=1e-12)


def test_posterior():
    """Marginals are Beta distributions: 12 Kolmogorov-Smirnov tests, false alarms in 1e-5 seeds."""
    sampler, rng = start()
    draws = np.empty((N_DRAWS, 3, N_STATES))
    for i in range(N_DRAWS):
        sampler.draw(STATES, rng)
        draws[i] = np.exp(sampler.log_probs)
    for j in range(N_STATES):
        shapes = PRIOR + np.nan_to_num(ROWS[j == STATES]).sum(axis=0)
        assert_allclose(sampler.model().probs[j], shapes / shapes.sum())
        for v, shape in enumerate(shapes):
            marginal = stats.beta(shape, shapes.sum() - shape)
            assert stats.kstest(draws[:, v, j], marginal.cdf).pvalue > 1e-6


def test_evidence():
    expected = sum(log_row_evidence(ROWS[j == STATES], PRIOR) for j in range(N_STATES))
    assert_allclose(start()[0].log_evidence(), expected)


def test_evidence_by_monte_carlo():
    """Over draws from the prior: |z| < 5, a false alarm in 6e-7 seeds."""
    rows = ROWS[[0, 1, 7]]
    thetas = np.random.default_rng(0).dirichlet(PRIOR, 100_000)
    terms = [stats.multinomial.pmf(row, int(row.sum()), thetas) for row in rows]
    weights = np.prod(terms, axis=0)
    error = weights.std() / np.sqrt(len(weights))
    assert abs(weights.mean() - np.exp(log_row_evidence(rows, PRIOR))) < 5.0 * error


def test_steps_of_no_state():
    sampler, _ = start()
    some = np.array([1, 2, 3, 5, 7])
    part = sampler.restrict(some, 2)
    states = np.array([0, 1, 1, 0, -1])
    part.condition(states)
    expected = sum(log_row_evidence(ROWS[some][states == j], PRIOR) for j in range(2))
    assert_allclose(part.log_evidence(), expected)
    out = np.empty((len(some), 2))
    part.write_log_predictive(out)
    for j in range(2):
        shapes = PRIOR + np.nan_to_num(ROWS[some][states == j]).sum(axis=0)
        row = ROWS[some][1]
        assert_allclose(out[1, j], stats.multinomial.logpmf(row, 4, shapes / shapes.sum()))


@pytest.mark.parametrize("n_events", [0, 1, 4])
def test_predictive_is_a_ratio_of_evidences_and_sums_to_one(n_events):
    model = start()[0].model()
    rows = rows_of(n_events)
    found = model.log_obs(rows)
    assert_allclose(np.exp(found).sum(axis=0), 1.0)
    for j in range(N_STATES):
        own = ROWS[j == STATES]
        before = log_row_evidence(own, PRIOR)
        expected = [log_row_evidence([*own, x], PRIOR) - before for x in rows]
        assert_allclose(found[:, j], expected, atol=1e-12)
    assert_allclose(model.log_obs(np.full((1, 3), NAN)), 0.0)


def test_many_rows_and_counts():
    """More than are done at a time, of the rows and of different counts."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4000, (2500, 3)).astype(float)
    rows[rng.random(rows.shape) < 0.3] = 0.0
    model = start()[0].model()
    expected = np.concatenate([model.log_obs(row[np.newaxis]) for row in rows])
    assert_allclose(model.log_obs(rows), expected, rtol=1e-13)


@pytest.mark.parametrize("shape", [1e-8, 0.3, 4.0, 1e3, 1e9, 1e15])
def test_rising_factorials_lose_no_digits(shape):
    counts = np.array([0, 1, 2, 15, 200])
    exact = [prod((Fraction(shape) + i for i in range(n)), start=Fraction(1)) for n in counts]
    # The logarithm of a fraction, without overflow.
    scale = Fraction(max(shape, 1.0))
    logs = [
        np.log(float(x / scale ** int(n))) + n * np.log(float(scale))
        for x, n in zip(exact, counts, strict=True)
        if n < 200
    ]
    found = log_rising(np.array(shape), counts.astype(float))
    assert_allclose(found[:4], logs, rtol=1e-13, atol=1e-14)
    if shape <= 4.0:
        expected = lgamma(shape + 200.0) - lgamma(shape)
        assert_allclose(found[4], expected, rtol=1e-13)


# Draws and single columns

CONCENTRATIONS = np.array([2.0, 50.0])
PROBS = np.array([[0.1, 0.6, 0.3], [0.5, 0.05, 0.45]])
MODELS = {
    "known": MultinomialModel(PROBS, TOTALS),
    "learned": MultinomialModel(PROBS, TOTALS, CONCENTRATIONS),
}


def all_rows(model, j):
    """Return all rows and their probabilities, sums of rows random, too."""
    rows, probs = [], []
    for n, share in zip(*TOTALS, strict=True):
        own = rows_of(int(n))
        rows.append(own)
        probs.append(share * np.exp(model.log_obs(own)[:, j]))
    return np.concatenate(rows), np.concatenate(probs)


@pytest.mark.parametrize("name", MODELS)
def test_draws_follow_their_probabilities(name):
    """Two chi-square tests: a false alarm in 2e-6 seeds."""
    model, n = MODELS[name], 20_000
    for j in range(2):
        rows, probs = all_rows(model, j)
        assert_allclose(probs.sum(), 1.0)
        draws = model.sample(np.full(n, j), np.random.default_rng(j))
        code = 6 ** np.arange(3)
        order = {c: i for i, c in enumerate((rows @ code).tolist())}
        found = np.bincount([order[c] for c in (draws @ code).tolist()], minlength=len(rows))
        few = n * probs < 5.0
        found = np.append(found[~few], found[few].sum())
        expected = n * np.append(probs[~few], probs[few].sum())
        positive = expected > 0.0
        assert stats.chisquare(found[positive], expected[positive]).pvalue > 1e-6


@pytest.mark.parametrize("name", MODELS)
def test_marginals_by_enumeration(name):
    model = MODELS[name]
    marginals = model.marginals()
    x = np.array([[-1.0, 0.0, 1.0], [4.0, 5.0, 9.0]])
    for j in range(2):
        rows, probs = all_rows(model, j)
        mean = probs @ rows
        assert_allclose(marginals.means[j], mean)
        assert_allclose(marginals.variances[j], probs @ rows**2 - mean**2)
        for v in range(3):
            expected = (probs * (rows[:, v] <= x[..., np.newaxis])).sum(axis=-1)
            assert_allclose(marginals.cdf(x, v)[..., j], expected, atol=1e-12)
            assert_allclose(marginals.take([j]).cdf(x, v)[..., 0], expected, atol=1e-12)


def test_many_events():
    """scipy's beta-binomial cumulative probabilities."""
    totals = Totals(np.array([700.0]), np.ones(1))
    marginals = EventMarginals(PROBS, totals, CONCENTRATIONS)
    x = np.array([0.0, 3.0, 80.0, 650.0])
    for j in range(2):
        a = PROBS[j, 1] * CONCENTRATIONS[j]
        expected = stats.betabinom.cdf(x, 700, a, CONCENTRATIONS[j] - a)
        assert_allclose(marginals.cdf(x, 1)[:, j], expected, rtol=1e-9)


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


@pytest.mark.parametrize("concentration", [None, 1e-3, 0.4, 3.0, 50.0, 1e4, 1e7])
def test_integrals_by_sums(concentration, monkeypatch):
    """Every number of some thousands, added up one by one; shapes with modes at ends and within."""
    monkeypatch.setattr("skdp.emissions._discrete._event_marginals._MANY", 5_000)
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
                logs = np.concatenate([[0.0], np.cumsum(ratios)])
                probabilities = special.softmax(logs)
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


def test_number_of_orders():
    """The oracle counts them; here is their formula."""
    row = np.array([3, 0, 2])
    orders = factorial(5) // prod(factorial(x) for x in row.tolist())
    assert orders == comb(5, 2)
    certain = log_row_evidence([row], [1e8, 1e8, 1e8])
    assert_allclose(certain, np.log(orders) - 5 * np.log(3.0), rtol=1e-6)
