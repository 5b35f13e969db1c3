"""The drawn concentration of symbols against quadrature of the formulas it comes from."""

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means
from scipy import special, stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import CategoricalEmission

SYMBOLS = np.array([0, 2, 2, 0, 0, 1, 3, 3, 3, 0, 2, 1], dtype=float).reshape(-1, 1)
STATES = np.array([0, 0, 1, 0, 2, 1, 0, 0, 0, 0, 1, 2])
N_STATES, N_SYMBOLS = 4, 5  # the last state and the last symbol are never seen
BASES = {
    "uniform": np.full(N_SYMBOLS, 1.0 / N_SYMBOLS),
    "empirical": np.array([5.0, 3.0, 4.0, 4.0, 1.0]) / 17.0,
    "array": np.array([1.0, 3.0, 0.5, 0.5, 5.0]) / 10.0,
}
PRIOR = 1.5, 0.2


def start(base="uniform", states=STATES, n_symbols=N_SYMBOLS):
    given = BASES["array"] * 7.0 if base == "array" else base
    emission = CategoricalEmission(n_symbols, concentration_prior=PRIOR, base=given)
    sampler = emission.make_sampler(SYMBOLS, N_STATES)
    sampler.attach(SYMBOLS)
    rng = make_stream(make_seed_sequence(0))
    sampler.draw(states, rng)
    return sampler, rng


def log_probability(concentration, base, states=STATES):
    """Return log p(x | z, A), one observation after the other."""
    counts, result = np.zeros((N_STATES, len(base))), 0.0
    for x, j in zip(SYMBOLS[:, 0].astype(int), states, strict=True):
        shares = concentration * base + counts[j]
        result += np.log(shares[x] / shares.sum())
        counts[j, x] += 1.0
    return result


def posterior(base, states=STATES):
    """Return a grid of log A, and its probabilities."""
    grid = np.linspace(-12.0, 8.0, 4_001)
    logs = [
        log_probability(np.exp(a), base, states) + PRIOR[0] * a - PRIOR[1] * np.exp(a) for a in grid
    ]
    return grid, special.softmax(logs)


@pytest.mark.parametrize("name", BASES)
def test_posterior(name):
    """|z| < 5 for three figures: false alarms in 4e-5 seeds."""
    grid, probabilities = posterior(BASES[name])
    sampler, rng = start(name)
    draws = np.empty(8_000)
    for i in range(len(draws)):
        sampler.draw(STATES, rng)
        draws[i] = np.log(sampler.concentration)
        np.testing.assert_allclose(sampler.prior / sampler.prior.sum(), BASES[name])
    figures = [lambda a: a, np.square, lambda a: (a < 1.0).astype(float)]
    assert_means(
        np.column_stack([f(draws) for f in figures]),
        [f(grid) @ probabilities for f in figures],
    )


def test_one_step_of_each_state():
    """States of one step say nothing of A: it is drawn from its prior."""
    symbols = np.array([[0.0], [1.0], [1.0], [0.0]])
    emission = CategoricalEmission(2, concentration_prior=PRIOR)
    sampler = emission.make_sampler(symbols, 4)
    sampler.attach(symbols)
    rng, states = make_stream(make_seed_sequence(0)), np.arange(4)
    draws = np.empty(20_000)
    for i in range(len(draws)):
        sampler.draw(states, rng)
        draws[i] = sampler.concentration
    law = stats.gamma(PRIOR[0], scale=1.0 / PRIOR[1])
    assert_means(np.column_stack([draws, draws < 5.0]), [law.mean(), law.cdf(5.0)])


@pytest.mark.parametrize("name", BASES)
def test_evidence(name):
    """Symbol by symbol, with the log density of log A."""
    sampler, rng = start(name)
    law = stats.gamma(PRIOR[0], scale=1.0 / PRIOR[1])
    for _ in range(5):
        sampler.draw(STATES, rng)
        a = sampler.concentration
        expected = log_probability(a, BASES[name]) + law.logpdf(a) + np.log(a)
        np.testing.assert_allclose(sampler.log_evidence(), expected)


@pytest.mark.parametrize("name", BASES)
def test_model(name):
    """The probabilities of the next symbol, by those of all that may come."""
    sampler, _ = start(name)
    model = sampler.model()
    assert model.concentration == pytest.approx(sampler.concentration)
    a, base = sampler.concentration, BASES[name]
    for j in range(N_STATES):
        counts = np.bincount(SYMBOLS[j == STATES, 0].astype(int), minlength=N_SYMBOLS)
        expected = (a * base + counts) / (a + counts.sum())
        np.testing.assert_allclose(model.probs[j], expected, rtol=1e-6)
    np.testing.assert_allclose(model.probs.sum(axis=1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(np.exp(model.log_obs(np.arange(5.0).reshape(-1, 1))).sum(axis=0), 1)


def test_probabilities_are_drawn_given_the_new_concentration():
    """Of the state without steps, E[theta_v^2 given A] = b_v (A b_v + 1) / (A + 1)."""
    sampler, rng = start("array")
    n, base = 8_000, BASES["array"]
    squares, expected = np.empty((n, N_SYMBOLS)), np.empty((n, N_SYMBOLS))
    for i in range(n):
        sampler.draw(STATES, rng)
        squares[i] = np.exp(2.0 * sampler.log_probs[:, -1])
        a = sampler.concentration
        expected[i] = base * (a * base + 1.0) / (a + 1.0)
    assert_means(squares - expected, np.zeros(N_SYMBOLS))


def test_restricted_samplers_know_the_concentration():
    """Evidence and predictive of some of the steps are those given A; its prior cancels."""
    sampler, _ = start("array")
    a, base = sampler.concentration, BASES["array"]
    steps = np.array([0, 2, 3, 7, 8, 9])
    groups = np.array([0, 1, 0, -1, 1, 0])
    other = sampler.restrict(steps, 2)
    other.condition(groups)
    out = np.empty((len(steps), 2))
    other.write_log_predictive(out)
    symbols, expected = SYMBOLS[steps, 0].astype(int), 0.0
    for g in range(2):
        counts = np.bincount(symbols[groups == g], minlength=N_SYMBOLS)
        shapes = a * base
        np.testing.assert_allclose(
            out[:, g], np.log((shapes + counts) / (a + counts.sum()))[symbols]
        )
        expected += special.gammaln(shapes + counts).sum() - special.gammaln(shapes).sum()
        expected += special.gammaln(a) - special.gammaln(a + counts.sum())
    assert other.log_evidence() == pytest.approx(expected)
