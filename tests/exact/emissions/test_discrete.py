"""Bits, counts, symbols and rows of counts against the formulas of their conjugate priors.

Posterior distributions by Kolmogorov-Smirnov tests, draws by chi-square tests, each of which fails
for one seed in a million; about 60 of them. The concentration of symbols is by batch means.
"""

from collections.abc import Callable
from itertools import product
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pytest
from exact.oracles import events
from exact.oracles.batch_means import assert_means, check_chain
from exact.oracles.events import log_negative_binomial
from numpy.testing import assert_allclose
from scipy import special, stats
from unit.emissions.helpers import stream

from skdp.emissions import (
    BernoulliEmission,
    CategoricalEmission,
    MultinomialEmission,
    PoissonEmission,
)
from skdp.emissions._discrete._bernoulli import BernoulliModel
from skdp.emissions._discrete._multinomial import MultinomialModel, Totals
from skdp.emissions._discrete._poisson import PoissonModel

NAN = np.nan
STATES = np.array([0, 0, 1, 0, 2, 1, 0, 1])
N_STATES, N_DRAWS = 4, 20_000  # the last state is never used
BETA, SHAPE, RATE, F = (0.7, 1.6), 1.5, 0.4, 0.6
SYMBOL_PRIOR, EVENT_PRIOR = np.array([0.3, 1.0, 0.1, 2.0]), np.array([0.3, 1.0, 2.5])
COUNTS = np.array(
    [[3, NAN], [5, 1], [NAN, 9], [2, 2], [NAN, NAN], [1, 12], [4, 1], [0, 3]], dtype=float
)
SYMBOLS = np.array([[0], [NAN], [1], [NAN], [0], [1], [3], [2]])
EVENTS = np.array(
    [[2, 0, 1], [1, 1, 1], [0, 0, 4], [NAN] * 3, [0, 0, 0], [0, 2, 0], [0, 1, 0], [1, 0, 3]]
)
TOTALS = Totals(np.array([0.0, 2.0, 5.0]), np.array([0.2, 0.5, 0.3]))


class Kind(NamedTuple):
    """An emission, values, the log evidence of the rows of a state, and more about parameters."""

    emission: Any
    values: np.ndarray
    log_evidence: Callable
    log_density: Callable  # of a row given the parameters of a state
    posterior: Callable  # distribution of each of these given the rows of the state


def make_bits(n_columns):
    rng = np.random.default_rng(n_columns)
    bits = (rng.random((len(STATES), n_columns)) < 0.6).astype(float)
    bits[rng.random(bits.shape) < 0.2] = NAN
    bits[3] = NAN
    return bits


def posterior_of_bits(rows):
    return stats.beta(BETA[0] + np.sum(rows == 1.0, axis=0), BETA[1] + np.sum(rows == 0.0, axis=0))


def posterior_of_counts(rows):
    sizes = np.sum(~np.isnan(rows), axis=0)
    return stats.gamma(SHAPE + np.nansum(rows, axis=0), scale=1.0 / (RATE + sizes))


def posterior_of_dispersed(rows):
    sizes = np.sum(~np.isnan(rows), axis=0)
    return stats.betaprime(SHAPE + np.nansum(rows, axis=0), (RATE + sizes) / F + 1.0, scale=1.0 / F)


def posterior_of_events(rows, prior):
    shapes = prior + np.nan_to_num(rows).sum(axis=0)
    return stats.beta(shapes, shapes.sum() - shapes)


def one_hot(rows):
    return (np.asarray(rows) == np.arange(len(SYMBOL_PRIOR))).astype(float)


def kind_of_bits(n_columns):
    return Kind(
        BernoulliEmission(BETA),
        make_bits(n_columns),
        lambda rows: events.log_bit_evidence(rows, BETA),
        lambda x, p: np.nansum(stats.bernoulli.logpmf(x, p)),
        posterior_of_bits,
    )


KINDS = {
    "bernoulli": kind_of_bits(3),
    "poisson": Kind(
        PoissonEmission(SHAPE, RATE),
        COUNTS,
        lambda rows: events.log_count_evidence(rows, SHAPE, RATE),
        lambda x, rates: np.nansum(stats.poisson.logpmf(x, rates)),
        posterior_of_counts,
    ),
    "dispersed": Kind(
        PoissonEmission(SHAPE, RATE, F),
        COUNTS,
        lambda rows: events.log_wide_evidence(rows, SHAPE, RATE, F),
        lambda x, rates: np.nansum(stats.nbinom.logpmf(x, 1.0 / F, 1.0 / (1.0 + F * rates))),
        posterior_of_dispersed,
    ),
    "categorical": Kind(
        CategoricalEmission(len(SYMBOL_PRIOR), SYMBOL_PRIOR),
        SYMBOLS,
        lambda rows: events.log_symbol_evidence(rows, SYMBOL_PRIOR),
        lambda x, p: 0.0 if np.isnan(x[0]) else np.log(p[int(x[0])]),
        lambda rows: posterior_of_events(one_hot(rows), SYMBOL_PRIOR),
    ),
    "multinomial": Kind(
        MultinomialEmission(EVENT_PRIOR),
        EVENTS,
        lambda rows: events.log_row_evidence(rows, EVENT_PRIOR),
        lambda x, p: stats.multinomial.logpmf(np.nan_to_num(x), int(np.nansum(x)), p),
        lambda rows: posterior_of_events(rows, EVENT_PRIOR),
    ),
}
every_kind = pytest.mark.parametrize("name", KINDS)


def start(emission, values, states=STATES):
    sampler, rng = emission.make_sampler(values, N_STATES), stream()
    sampler.attach(values)
    sampler.draw(states, rng)
    return sampler, rng


def parameters(sampler):
    """Return the parameters that were drawn last, (J, W)."""
    if hasattr(sampler, "log_intensities"):
        return np.exp(sampler.log_intensities)
    is_binary = isinstance(sampler.model(), BernoulliModel)
    return np.exp(sampler.log_probs[1::2] if is_binary else sampler.log_probs).T


def rows_of(n_events, n_kinds=3):
    rows = [row for row in product(range(n_events + 1), repeat=n_kinds) if sum(row) == n_events]
    return np.array(rows, dtype=float)


def bits_of(n_columns):
    return np.array(list(product([0.0, 1.0], repeat=n_columns)))


@pytest.mark.parametrize("name", [*KINDS, 1, 2, 4, 5, 11])
def test_densities_of_drawn_parameters(name):
    """Of each kind, and of other numbers of columns of bits; missing values have the density 1."""
    kind = kind_of_bits(name) if isinstance(name, int) else KINDS[name]
    sampler, _ = start(kind.emission, kind.values)
    drawn, found = parameters(sampler), np.empty((len(STATES), N_STATES))
    sampler.write_log_obs(found)
    expected = [[kind.log_density(x, own) for own in drawn] for x in kind.values]
    assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    if name == "multinomial":
        known = MultinomialModel(drawn, TOTALS)
    else:
        known = sampler.known_model(sampler.parameters())
    assert_allclose(known.log_obs(kind.values), expected, rtol=1e-10, atol=1e-12)


@every_kind
def test_posterior(name):
    kind = KINDS[name]
    sampler, rng = start(kind.emission, kind.values)
    draws = np.empty((N_DRAWS, *parameters(sampler).shape))
    for i in range(N_DRAWS):
        sampler.draw(STATES, rng)
        draws[i] = parameters(sampler)
    means = parameters_of(sampler.model())
    for j in range(N_STATES):
        law = kind.posterior(kind.values[j == STATES])
        assert_allclose(means[j], law.mean(), rtol=1e-6)
        for shares in law.cdf(draws[:, j]).T:
            assert stats.kstest(shares, "uniform").pvalue > 1e-6


def parameters_of(model):
    return model.intensities if isinstance(model, PoissonModel) else model.probs


@every_kind
def test_evidence(name):
    """Of all steps and of some; the latter are proposed by densities at posterior means."""
    kind = KINDS[name]
    sampler, _ = start(kind.emission, kind.values)
    expected = sum(kind.log_evidence(kind.values[j == STATES]) for j in range(N_STATES))
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-12)
    some, states = np.array([0, 2, 3, 4, 5, 6, 7]), np.array([0, 1, 1, -1, 1, 0, -1])
    part, rows = sampler.restrict(some, 2), kind.values[some]
    part.condition(states)
    expected = sum(kind.log_evidence(rows[states == j]) for j in range(2))
    assert_allclose(part.log_evidence(), expected, rtol=1e-12)
    found = np.empty((len(some), 2))
    part.write_log_predictive(found)
    for j in range(2):
        means = kind.posterior(rows[states == j]).mean()
        expected = [kind.log_density(x, means) for x in rows]
        assert_allclose(found[:, j], expected, rtol=1e-10, atol=1e-12)


@every_kind
def test_predictive_is_a_ratio_of_evidences(name):
    """And sums to one over all bits, symbols, or rows with a number of events."""
    kind = KINDS[name]
    model = start(kind.emission, kind.values)[0].model()
    all_rows = {
        "bernoulli": [bits_of(3)],
        "categorical": [np.arange(4.0)[:, np.newaxis]],
        "multinomial": [rows_of(0), rows_of(1), rows_of(4)],
    }.get(name, [])
    for rows in (kind.values, *all_rows):
        found = model.log_obs(rows)
        for j in range(N_STATES):
            own = kind.values[j == STATES]
            expected = [kind.log_evidence([*own, x]) - kind.log_evidence(own) for x in rows]
            assert_allclose(found[:, j], expected, rtol=1e-6, atol=1e-12)
        if rows is not kind.values:
            assert_allclose(np.exp(found).sum(axis=0), 1.0, rtol=1e-6)


def test_extreme_probabilities():
    """A prior that is all but certain, and what it all but excludes."""
    sampler, _ = start(BernoulliEmission((1e-8, 1e-8)), np.ones((8, 1)))
    found = sampler.model().log_obs(np.array([[1.0], [0.0]]))[:, 0]
    assert_allclose(found, [-1e-8 / 4.0, np.log(1e-8 / 4.0)], rtol=1e-7)
    certain = BernoulliModel(np.array([[0.0, 1.0]]))
    found = certain.log_obs(np.array([[0.0, 1.0], [1.0, 1.0], [NAN, 1.0], [NAN, NAN]]))
    assert_allclose(found[:, 0], [0.0, -np.inf, 0.0, 0.0])


@pytest.mark.parametrize("shape", [1, 15, 17, 300, pytest.param(10**9, marks=pytest.mark.slow)])
def test_large_counts_and_shapes_lose_no_digits(shape):
    counts = np.array([0.0, 1.0, 2.0, 15.0, 16.0, 900.0, 20_000.0])
    choices = [comb(shape + int(x) - 1, int(x)) for x in counts]
    for mean in (1e-6, 0.7, 900.0, 2e4, 1e12):
        model = PoissonModel(np.array([[mean]]), np.array([[float(shape)]]))
        expected = [
            log_negative_binomial(x, mean, shape, c) for x, c in zip(counts, choices, strict=True)
        ]
        found = model.log_obs(counts[:, np.newaxis])[:, 0]
        assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["poisson", "multinomial"])
def test_many_rows_and_counts(name):
    """More than are done at a time, of the rows and of different counts."""
    rng = np.random.default_rng(0)
    if name == "poisson":
        rows = rng.permutation(np.arange(5000.0)).reshape(-1, 2)
    else:
        rows = rng.integers(0, 4000, (2500, 3)) * (rng.random((2500, 3)) > 0.3)
    model = start(KINDS[name].emission, KINDS[name].values)[0].model()
    expected = np.concatenate([model.log_obs(part) for part in np.array_split(rows, 250)])
    assert_allclose(model.log_obs(rows), expected, rtol=1e-13)


# Draws and single columns

CONCENTRATIONS = np.array([2.0, 50.0])
PROBS = np.array([[0.1, 0.6, 0.3], [0.5, 0.05, 0.45]])
MODELS = {
    "bernoulli": BernoulliModel(PROBS),
    "known": MultinomialModel(PROBS, TOTALS),
    "learned": MultinomialModel(PROBS, TOTALS, CONCENTRATIONS),
}


def rows_and_probs(model, j):
    """Return all rows and their probabilities, sums of rows random, too."""
    if isinstance(model, BernoulliModel):
        return bits_of(3), np.exp(model.log_obs(bits_of(3))[:, j])
    groups = [rows_of(int(n)) for n in TOTALS.numbers]
    probs = [
        share * np.exp(model.log_obs(own)[:, j])
        for own, share in zip(groups, TOTALS.shares, strict=True)
    ]
    return np.concatenate(groups), np.concatenate(probs)


def check_frequencies(found, probs):
    """Compare how often things came to their probabilities; rare ones are taken together."""
    expected = found.sum() * probs
    few = expected < 5.0
    found, expected = (np.append(x[~few], x[few].sum()) for x in (found, expected))
    positive = expected > 0.0
    assert stats.chisquare(found[positive], expected[positive]).pvalue > 1e-6


@pytest.mark.parametrize("name", MODELS)
def test_draws_follow_their_probabilities(name):
    model = MODELS[name]
    for j in range(2):
        rows, probs = rows_and_probs(model, j)
        assert_allclose(probs.sum(), 1.0)
        draws = model.sample(np.full(N_DRAWS, j), np.random.default_rng(j))
        code = 6 ** np.arange(3)
        order = {c: i for i, c in enumerate((rows @ code).tolist())}
        places = [order[c] for c in (draws @ code).tolist()]
        check_frequencies(np.bincount(places, minlength=len(rows)).astype(float), probs)


@pytest.mark.parametrize("dispersions", [None, np.array([0.3, 0.05])], ids=["plain", "wide"])
@pytest.mark.parametrize("is_known", [False, True], ids=["learned", "known"])
def test_draws_of_counts_follow_their_probabilities(is_known, dispersions):
    """And so do means, variances and sums of probabilities."""
    shapes = None if is_known else np.array([[0.9, 2.0], [9.0, 30.0]])
    model = PoissonModel(np.array([[0.8, 6.0], [3.0, 40.0]]), shapes, dispersions)
    x = np.arange(4000.0)
    for j in range(2):
        draws = model.sample(np.full(N_DRAWS, j), np.random.default_rng(j))
        for d in range(2):
            own = None if dispersions is None else dispersions[[d]]
            column = PoissonModel(
                model.intensities[[j]][:, [d]], None if is_known else shapes[[j]][:, [d]], own
            )
            probs = np.exp(column.log_obs(x[:, np.newaxis]))[:, 0]
            assert_allclose(probs.sum(), 1.0, rtol=1e-9)
            counted = np.bincount(np.minimum(draws[:, d], 3999.0).astype(int), minlength=4000)
            check_frequencies(counted.astype(float), probs)
            marginals = column.marginals()
            assert_allclose(marginals.means[0, 0], probs @ x, rtol=1e-6)
            assert_allclose(marginals.variances[0, 0], probs @ x**2 - (probs @ x) ** 2, rtol=1e-2)
            assert_allclose(marginals.cdf(x - 1.0, 0)[1:, 0], np.cumsum(probs)[:-1], atol=1e-12)


F_STATES = np.array([0, 0, 0, 1, 0, 1, 0, 1])


def test_dispersions():
    """Given the states: each column has its own, whose logarithm has three figures."""
    emission = PoissonEmission(SHAPE, RATE, "auto")
    sampler, rng = start(emission, COUNTS, F_STATES)
    grid = np.linspace(-13.5, 6.0, 4_001)
    expected = []
    for column in COUNTS.T:
        groups = [column[j == F_STATES][:, np.newaxis] for j in range(2)]
        logs = [
            sum(events.log_wide_evidence(own, SHAPE, RATE, np.exp(log_f)) for own in groups)
            for log_f in grid
        ]
        figures = np.array([grid, grid**2, grid < -1.0])
        expected.append(figures @ special.softmax(logs + grid - np.exp(grid)))
    sampler.held = True
    before = sampler.prior
    sampler.draw(F_STATES, rng)
    assert sampler.prior is before
    sampler.held = False

    def step():
        sampler.draw(F_STATES, rng)
        log_f = np.log(sampler.prior)
        return np.array([log_f, log_f**2, log_f < -1.0]).T

    check_chain(step, lambda draws: [(draws, np.array(expected), "log dispersions")], 8_000)
    groups = [COUNTS[j == F_STATES] for j in range(2)]
    logs = sum(
        events.log_wide_evidence(own[:, [d]], SHAPE, RATE, sampler.prior[d])
        for own in groups
        for d in range(2)
    )
    logs += np.sum(np.log(sampler.prior) - sampler.prior)
    assert_allclose(sampler.log_evidence(), logs, rtol=1e-10)


@pytest.mark.parametrize("f", [1e-6, 1e-4])
def test_no_dispersion_is_the_limit(f):
    """Of evidences, densities of all kinds, and draws."""
    plain, _ = start(PoissonEmission(SHAPE, RATE), COUNTS)
    wide, _ = start(PoissonEmission(SHAPE, RATE, f), COUNTS)
    tolerance = 200.0 * f + 1e-8
    assert_allclose(wide.log_evidence(), plain.log_evidence(), atol=tolerance)
    assert_allclose(wide.model().log_obs(COUNTS), plain.model().log_obs(COUNTS), atol=tolerance)
    wide.log_intensities[:] = plain.log_intensities
    found, expected = np.empty((2, len(STATES), N_STATES))
    for method in ("write_log_obs", "write_log_predictive"):
        getattr(wide, method)(found)
        getattr(plain, method)(expected)
        assert_allclose(found, expected, atol=200.0 * tolerance)
    first, other = wide.model().marginals(), plain.model().marginals()
    assert_allclose(first.variances, other.variances, rtol=tolerance)
    x = np.arange(20.0)
    assert_allclose(first.cdf(x, 0), other.cdf(x, 0), atol=f + 1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_marginals_by_enumeration(name):
    """Means also fill in what is missing."""
    model = MODELS[name]
    marginals = model.marginals()
    x = np.array([[-1.0, 0.0, 1.0], [4.0, 5.0, 9.0]])
    for j in range(2):
        rows, probs = rows_and_probs(model, j)
        mean = probs @ rows
        assert_allclose(marginals.means[j], mean)
        assert_allclose(marginals.variances[j], probs @ rows**2 - mean**2)
        for v in range(3):
            assert marginals.is_discrete(v)
            expected = (probs * (rows[:, v] <= x[..., np.newaxis])).sum(axis=-1)
            assert_allclose(marginals.cdf(x, v)[..., j], expected, atol=1e-12)
            assert_allclose(marginals.take([j]).cdf(x, v)[..., 0], expected, atol=1e-12)
    rows, weights = np.array([[NAN] * 3, [1.0, 0.0, 1.0]]), np.array([[0.3, 0.7]] * 2)
    assert_allclose(model.fill(rows, weights), [weights[0] @ marginals.means, rows[1]])


# The concentration of symbols

SYMBOLS_OF_THREE = np.array([0, 2, 2, 0, 0, 1, 3, 3, 3, 0, 2, 1], dtype=float).reshape(-1, 1)
THREE = np.array([0, 0, 1, 0, 2, 1, 0, 0, 0, 0, 1, 2])
N_SYMBOLS = 5  # the last one is never seen
BASES = {
    "uniform": np.full(N_SYMBOLS, 1.0 / N_SYMBOLS),
    "empirical": np.array([5.0, 3.0, 4.0, 4.0, 1.0]) / 17.0,
    "array": np.array([1.0, 3.0, 0.5, 0.5, 5.0]) / 10.0,
}
CONCENTRATION_PRIOR = 1.5, 0.2
LAW = stats.gamma(CONCENTRATION_PRIOR[0], scale=1.0 / CONCENTRATION_PRIOR[1])
every_base = pytest.mark.parametrize("name", BASES)


def start_symbols(base):
    given = BASES["array"] * 7.0 if base == "array" else base
    emission = CategoricalEmission(N_SYMBOLS, concentration_prior=CONCENTRATION_PRIOR, base=given)
    return start(emission, SYMBOLS_OF_THREE, THREE)


def log_probability(concentration, base):
    """Return log p(x | z, A), one observation after the other; A may be an array."""
    counts, result = np.zeros((N_STATES, len(base))), 0.0
    for x, j in zip(SYMBOLS_OF_THREE[:, 0].astype(int), THREE, strict=True):
        result += np.log(concentration * base[x] + counts[j, x])
        result -= np.log(concentration + counts[j].sum())
        counts[j, x] += 1.0
    return result


@every_base
def test_concentration(name):
    """Given all symbols; its logarithm has three figures."""
    sampler, rng = start_symbols(name)
    grid = np.linspace(-12.0, 8.0, 4_001)
    logs = log_probability(np.exp(grid), BASES[name]) + LAW.logpdf(np.exp(grid)) + grid
    figures = np.array([grid, grid**2, grid < 0.0])
    expected = figures @ special.softmax(logs)

    def step():
        sampler.draw(THREE, rng)
        a = np.log(sampler.concentration)
        assert_allclose(sampler.prior / sampler.prior.sum(), BASES[name])
        return np.array([a, a**2, a < 0.0])

    check_chain(step, lambda draws: [(draws, expected, "log concentration")], 8_000)


@pytest.mark.slow
def test_concentration_of_one_step_of_each_state():
    """It says nothing of A, which is drawn from its prior."""
    symbols = np.array([[0.0], [1.0], [1.0], [0.0]])
    emission = CategoricalEmission(2, concentration_prior=CONCENTRATION_PRIOR)
    sampler, rng = start(emission, symbols, np.arange(4))

    def step():
        sampler.draw(np.arange(4), rng)
        return np.array([sampler.concentration, sampler.concentration < 5.0])

    check_chain(step, lambda draws: [(draws, [LAW.mean(), LAW.cdf(5.0)], "A")], 20_000)


@every_base
def test_evidence_of_drawn_concentrations(name):
    """With the log density of log A; and the probabilities of the next symbol."""
    sampler, rng = start_symbols(name)
    base = BASES[name]
    for _ in range(5):
        sampler.draw(THREE, rng)
        a = sampler.concentration
        expected = log_probability(a, base) + LAW.logpdf(a) + np.log(a)
        assert_allclose(sampler.log_evidence(), expected)
    model = sampler.model()
    assert model.concentration == pytest.approx(a)
    for j in range(N_STATES):
        counts = np.bincount(SYMBOLS_OF_THREE[j == THREE, 0].astype(int), minlength=N_SYMBOLS)
        assert_allclose(model.probs[j], (a * base + counts) / (a + counts.sum()), rtol=1e-6)
    assert_allclose(np.exp(model.log_obs(np.arange(5.0).reshape(-1, 1))), model.probs.T, rtol=1e-6)


def test_probabilities_are_drawn_given_the_new_concentration():
    """Of the state without steps, E[theta_v^2 given A] = b_v (A b_v + 1) / (A + 1)."""
    sampler, rng = start_symbols("array")
    base, away = BASES["array"], np.empty((8_000, N_SYMBOLS))
    for i in range(len(away)):
        sampler.draw(THREE, rng)
        a = sampler.concentration
        away[i] = np.exp(2.0 * sampler.log_probs[:, -1]) - base * (a * base + 1.0) / (a + 1.0)
    assert_means(away, np.zeros(N_SYMBOLS))


def test_restricted_samplers_know_the_concentration():
    """Evidence and predictive of some of the steps are those given A; its prior cancels."""
    sampler, _ = start_symbols("array")
    a, base = sampler.concentration, BASES["array"]
    steps, groups = np.array([0, 2, 3, 7, 8, 9]), np.array([0, 1, 0, -1, 1, 0])
    part = sampler.restrict(steps, 2)
    part.condition(groups)
    found = np.empty((len(steps), 2))
    part.write_log_predictive(found)
    rows, total = SYMBOLS_OF_THREE[steps], 0.0
    for g in range(2):
        own = rows[groups == g]
        before = events.log_symbol_evidence(own, a * base)
        expected = [events.log_symbol_evidence([*own, x], a * base) - before for x in rows]
        assert_allclose(found[:, g], expected)
        total += before
    assert part.log_evidence() == pytest.approx(total)
