"""Logistic and Poisson regressions against quadrature over their coefficients.

Draws by batch means (see `batch_means`): |z| < 5 for about 120 figures.
"""

import math
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from exact.oracles import regression as oracle
from exact.oracles.batch_means import check_chain
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, optimize, special, stats
from unit.emissions.helpers import stream

from skdp._numeric._numba import njit
from skdp.emissions import RegressionEmission
from skdp.emissions._kernels import _logistic as _kernels_logistic
from skdp.emissions._kernels import _poisson as _kernels_poisson
from skdp.emissions._regression._samplers import read_counts

NAN = math.nan
PRECISION = np.array([[0.5, 0.1], [0.1, 0.3]])  # of the coefficient of the input and the intercept
N_STATES, N_STEPS = 3, 14  # the last state is never used
STATES = np.arange(N_STEPS) % 2


class Problem(NamedTuple):
    """A regression of one target on one input, with its states; two targets are missing."""

    output: str
    prior: oracle.Coefs
    values: np.ndarray
    states: np.ndarray

    def start(self):
        emission = RegressionEmission(
            0, output=self.output, coef_prior=[self.prior.mean], coef_precision_prior=PRECISION
        )
        sampler = emission.make_sampler(self.values, N_STATES)
        sampler.attach(self.values)
        return sampler

    def drawn(self):
        sampler = self.start()
        sampler.draw(self.states, stream())
        return sampler

    def steps(self, j):
        return np.flatnonzero(self.states == j)

    def posterior(self, steps):
        """Return coefficients on a grid, their log weights and the log evidence."""
        return oracle.posterior(self.rows(steps), self.prior)

    def rows(self, steps=slice(None)):
        return [(y, (x,)) for y, x in self.values[steps]]

    def regressors(self, steps):
        """Return targets that are known, and their inputs with 1."""
        known = self.values[steps]
        known = known[~np.isnan(known[:, 0])]
        return known[:, 0], np.column_stack([known[:, 1], np.ones(len(known))])

    def log_joint(self, b, steps):
        """Return log p(targets, b), with the density of b divided by that of N(0, I) at 0."""
        away = b - self.prior.mean
        log = oracle.log_likelihoods(self.rows(steps), b[:, np.newaxis], self.prior)[0]
        return log - 0.5 * away @ PRECISION @ away + 0.5 * np.linalg.slogdet(PRECISION)[1]

    def find_mode(self, steps):
        """Return the mode of the coefficients and the curvature there."""
        y, a = self.regressors(steps)
        mode = np.array(self.prior.mean)
        for _ in range(60):
            means = special.expit(a @ mode) if self.output == "bernoulli" else np.exp(a @ mode)
            variances = means * (1.0 - means) if self.output == "bernoulli" else means
            curvature = PRECISION + (a.T * variances) @ a
            slope = a.T @ (y - means) - PRECISION @ (mode - self.prior.mean)
            mode = mode + np.linalg.solve(curvature, slope)
        assert np.abs(slope).max() < 1e-9
        return mode, curvature


def make_problem(output):
    rng = np.random.default_rng(0)
    if output == "bernoulli":
        prior, states = oracle.Logistic((0.4, -0.3), tuple(map(tuple, PRECISION))), STATES
        values = np.column_stack([rng.random(N_STEPS) < 0.6, rng.normal(0.5, 1.5, N_STEPS)])
    else:
        prior = oracle.Poisson((0.4, 0.3), tuple(map(tuple, PRECISION)))
        inputs = rng.normal(0.2, 1.0, N_STEPS)
        values = np.column_stack([rng.poisson(np.exp(0.6 * inputs)), inputs])
        states = np.where(np.arange(N_STEPS) < N_STEPS - 4, STATES, 1)  # state 0 has four counts
    values[[2, 7], 0] = NAN
    return Problem(output, prior, values, states)


LOGISTIC, POISSON = make_problem("bernoulli"), make_problem("poisson")
both = pytest.mark.parametrize("problem", [LOGISTIC, POISSON], ids=["logistic", "poisson"])


def coefficients(sampler):
    """Return the coefficients of all states that were drawn last, the intercept last."""
    root = np.linalg.inv(sampler.prior.precision_root).T
    return np.array([(sampler.prior.coefs[0] + root @ own[0])[::-1] for own in sampler.coefs])


@both
def test_evidence_by_laplace(problem):
    """The formula at the mode; it is near the evidence."""
    expected, evidence = 0.0, 0.0
    for j in range(N_STATES):
        mode, curvature = problem.find_mode(problem.steps(j))
        expected += problem.log_joint(mode, problem.steps(j))
        expected -= 0.5 * np.linalg.slogdet(curvature)[1]
        evidence += problem.posterior(problem.steps(j))[2]
    found = problem.drawn().log_evidence()
    assert_allclose(found, expected, rtol=1e-8)
    assert abs(found - evidence) < 0.2


@both
def test_probabilities_under_drawn_coefficients(problem):
    sampler, out = problem.drawn(), np.empty((N_STEPS, N_STATES))
    sampler.write_log_obs(out)
    coefs = coefficients(sampler).T
    expected = [oracle.log_likelihoods([row], coefs, problem.prior) for row in problem.rows()]
    assert_allclose(out, expected, rtol=1e-9, atol=1e-12)


@both
def test_posterior_of_coefficients(problem):
    """Means, products and functions of predictors."""
    sampler, rng = problem.start(), stream(3)

    def figures(b):
        psi = problem.values[:, 1:] * b[0] + b[1]
        chances = special.expit(psi) if problem is LOGISTIC else np.exp(-np.exp(psi))
        return np.vstack([b, b**2, b[:1] * b[1], chances])

    def step():
        sampler.draw(problem.states, rng)
        return coefficients(sampler)

    expected = []
    for j in range(N_STATES):
        grid, logs, _ = problem.posterior(problem.steps(j))
        expected.append(figures(grid) @ np.exp(logs))

    def compare(draws):
        for j, own in enumerate(expected):
            yield figures(draws[:, j].T).T, own, f"state {j}"

    check_chain(step, compare, 12_000)


@both
def test_draws_of_targets_follow_their_probabilities(problem):
    """|z| < 5 for up to twelve figures: a false alarm in 1e-5 seeds."""
    model, n = problem.drawn().model(), 20_000
    for j in range(N_STATES):
        x = np.full((n, 1), 0.4)
        y = model.draw_targets(np.full(n, j), x, np.random.default_rng(j))[:, 0]
        for k in range(2 if problem is LOGISTIC else 4):
            p = np.exp(model.log_obs(np.array([[k, 0.4]]))[0, j])
            assert abs((y == k).mean() - p) < 5.0 * math.sqrt(p * (1.0 - p) / n)


@both
def test_missing_targets_become_means(problem):
    model = problem.drawn().model()
    weights = np.full((N_STEPS, N_STATES), [0.2, 0.5, 0.3])
    filled = model.fill(problem.values, weights)
    means = model.predict(problem.values[[2, 7], 1:])[:, :, 0]
    assert_allclose(filled[[2, 7], 0], means @ weights[0])
    assert_array_equal(np.delete(filled, [2, 7], 0), np.delete(problem.values, [2, 7], 0))


@both
def test_several_targets_are_independent(problem):
    """Two targets of a step: log probabilities and evidences are sums."""
    rng = np.random.default_rng(5)
    targets = rng.random((30, 2)) < 0.4 if problem is LOGISTIC else rng.poisson(2.0, (30, 2))
    values = np.column_stack([targets, rng.normal(size=(30, 2))])
    values[3, 0] = values[5, 1] = NAN
    states = np.arange(30) // 10
    found = []
    for own in ([0, 1], [0], [1]):
        x = values[:, [*own, 2, 3]]
        emission = RegressionEmission(slice(0, len(own)), output=problem.output)
        sampler, out = emission.make_sampler(x, 3), np.empty((30, 3))
        sampler.attach(x)
        sampler.condition(states)
        sampler.write_log_predictive(out)
        sampler._states = states.astype(np.int32)
        found.append((sampler.model().log_obs(x), out, sampler.log_evidence()))
    for together, first, second in zip(*found, strict=True):
        assert_allclose(together, first + second, rtol=1e-9, atol=1e-12)


def start_at_zeros(values, precision, output):
    """Return a sampler of one state with a vague prior, after its first draw."""
    emission = RegressionEmission(
        0, output=output, coef_prior=[[0.0, 0.0]], coef_precision_prior=precision * np.eye(2)
    )
    sampler = emission.make_sampler(values, 1)
    sampler.attach(values)
    sampler.draw(np.zeros(len(values), dtype=np.int64), stream())
    return sampler


# Logistic regressions


def log_augmented(steps, omegas):
    """Return the log of the integral of prod exp(kappa psi - omega psi^2 / 2) / 2."""
    coefs, logs = LOGISTIC.prior.grid()
    for t in steps:
        y, x = LOGISTIC.values[t]
        if not math.isnan(y):
            psi = np.array([x, 1.0]) @ coefs
            logs = logs + (y - 0.5) * psi - 0.5 * omegas[t] * psi**2 - math.log(2.0)
    return special.logsumexp(logs)


def test_evidence_given_polya_gamma_variables():
    sampler = LOGISTIC.drawn()
    sampler.complete(STATES, stream(1))
    omegas = sampler._omegas[:, 0]
    assert np.all(omegas[[2, 7]] == 0.0)
    some, states = np.array([0, 1, 2, 4, 5, 9, 12]), np.array([0, 1, 1, 0, -1, 1, 0])
    part = sampler.restrict(some, 2)
    part.condition(states)
    expected = sum(log_augmented(some[states == j], omegas) for j in range(2))
    assert_allclose(part.log_evidence(), expected, rtol=1e-8)
    out = np.empty((len(some), 2))
    part.write_log_predictive(out)
    for j in range(2):
        own = some[states == j]
        for i, t in enumerate(some):
            ratio = log_augmented([*own, t], omegas) - log_augmented(own, omegas)
            assert_allclose(out[i, j], ratio, rtol=1e-7, atol=1e-9)


def test_predictive_probabilities_given_polya_gamma_variables():
    """The mean over the Gaussian coefficients, on a grid."""
    sampler = LOGISTIC.drawn()
    omegas, model, values = sampler._omegas[:, 0], sampler.model(), LOGISTIC.values
    coefs, prior = LOGISTIC.prior.grid()
    psi = values[:, 1:] * coefs[0] + coefs[1]
    found, probs = model.log_obs(values), model.predict(values[:, 1:])
    for j in range(N_STATES):
        logs = prior.copy()
        for t in np.flatnonzero((j == STATES) & ~np.isnan(values[:, 0])):
            logs += (values[t, 0] - 0.5) * psi[t] - 0.5 * omegas[t] * psi[t] ** 2
        weights = special.softmax(logs)
        assert_allclose(model.coefs[j, 0, 0], coefs[0] @ weights, rtol=1e-7)
        assert_allclose(model.intercepts[j, 0], coefs[1] @ weights, rtol=1e-7)
        expected = special.expit(psi) @ weights
        assert_allclose(probs[:, j, 0], expected, rtol=1e-7)
        expected = np.where(values[:, 0] == 1.0, expected, 1.0 - expected)
        expected[np.isnan(values[:, 0])] = 1.0
        assert_allclose(np.exp(found[:, j]), expected, rtol=1e-7)


def test_evidence_of_targets_that_an_input_separates():
    """Newton steps overshoot; Laplace's approximation is below the maximum."""
    x = np.linspace(-30.0, 30.0, 60)
    sampler = start_at_zeros(np.column_stack([x > 1.0, x]), 1e-8, "bernoulli")
    a = np.linalg.solve(sampler.prior.precision_root, np.vstack([np.ones(60), x])).T

    def loss(b):
        return 0.5 * b @ b - special.log_expit(np.where(x > 1.0, 1.0, -1.0) * (a @ b)).sum()

    best = optimize.minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-9}).fun
    found = sampler.log_evidence()
    assert sampler.log_evidence() == found
    assert -best - 30.0 < found < -best


@njit
def log_mean_sigmoids(means, deviation, out):
    for i in range(means.shape[0]):
        out[i] = _kernels_logistic.log_mean_sigmoid(means[i], deviation)


@pytest.mark.parametrize("deviation", [0.0, 1e-4, 0.3, 1.0, 2.5, 5.9, 6.1, 40.0, 300.0])
def test_means_of_logistic_functions(deviation):
    means = np.array([-2e5, -200.0, -30.0, -8.0, -1.0, 0.0, 0.7, 5.0, 40.0])
    found = np.empty(len(means))
    log_mean_sigmoids(means, deviation, found)
    for mean, x in zip(means, found, strict=True):
        if deviation == 0.0:
            expected = special.log_expit(mean)
        else:
            peak = min(deviation, max(-mean / deviation, 0.0))

            def density(u, mean=mean, peak=peak):
                away = special.log_expit(mean + deviation * (u + peak))
                away -= special.log_expit(mean + deviation * peak)
                return math.exp(away - 0.5 * (u + peak) ** 2 + 0.5 * peak**2)

            kink = -mean / deviation - peak
            kinks = [kink + away / deviation for away in (-40.0, 0.0, 40.0)]
            ends = sorted({-12.0, -1.0, 0.0, 1.0, 12.0, *(x for x in kinks if abs(x) < 12.0)})
            total = sum(
                integrate.quad(density, a, b, epsabs=0, epsrel=1e-12, limit=400)[0]
                for a, b in pairwise(ends)
            )
            expected = special.log_expit(mean + deviation * peak) - 0.5 * peak**2
            expected += math.log(total / math.sqrt(2.0 * math.pi))
        assert_allclose(x, expected, rtol=1e-9, atol=1e-9)


# Poisson regressions: weights of drawn coefficients, by which states move


def log_weight(b, steps):
    """Return log p(counts, b) / N(b; mode, curvature^-1)."""
    mode, curvature = POISSON.find_mode(steps)
    away = b - mode
    log = POISSON.log_joint(b, steps) + 0.5 * away @ curvature @ away
    return log - 0.5 * np.linalg.slogdet(curvature)[1]


def test_weights_at_the_drawn_coefficients():
    """After the coordinates are drawn, the weights of all states are those of the coefficients."""
    sampler, states = POISSON.drawn(), POISSON.states
    sampler.draw(states, stream(1))
    sampler.complete(states, stream(2))
    coefs = coefficients(sampler)
    some = sampler.restrict(np.arange(N_STEPS), N_STATES)
    some.condition(states)
    expected = sum(log_weight(coefs[j], POISSON.steps(j)) for j in range(N_STATES))
    assert_allclose(some.log_evidence(), expected, rtol=1e-6)
    # A part: state 1 has the coordinates of its first step, and another number.
    own = POISSON.steps(1)
    part = sampler.restrict(own, 2)
    part.condition(np.zeros(len(own), dtype=np.int64))
    assert_allclose(part.log_evidence(), log_weight(coefs[1], own), rtol=1e-6)
    again = sampler._first_normals.copy()
    sampler.draw(states, stream(3))
    assert not np.allclose(coefficients(sampler), coefs)
    assert_allclose(again, sampler._first_normals)


def test_coordinates_belong_to_first_steps():
    """Groups in any order have the same weight, and the coefficients of accepted groups follow."""
    sampler, states, every = POISSON.drawn(), POISSON.states, np.arange(N_STEPS)
    sampler.complete(states, stream(1))
    part = sampler.restrict(every, 2)
    logs = []
    for groups in (states, 1 - states, 0 * states):
        part.condition(groups)
        logs.append(part.log_evidence())
    assert logs[0] == pytest.approx(logs[1], abs=1e-9)
    assert logs[0] != pytest.approx(logs[2], abs=1e-3)
    part.condition(np.repeat([0, 1], N_STEPS // 2))
    normals = part._find_normals()[:, 0]
    assert_allclose(normals[0], sampler._first_normals[0, 0])  # step 0 is the first one of state 0
    assert np.abs(normals[1] - sampler._first_normals[:, 0]).min() > 1e-9  # step 7 is none
    single = sampler.restrict(np.array([3, 4, 5]), 3)
    single.condition(np.arange(3))
    normals = single._find_normals()[:, 0]
    assert np.abs(normals[[0, 1, 2]] - normals[[1, 2, 0]]).min() > 1e-9
    mode, curvature = POISSON.find_mode(POISSON.steps(0))
    away = (coefficients(sampler)[0] - mode)[::-1]
    u = np.linalg.cholesky(curvature[::-1, ::-1]).T @ away
    whole, there = POISSON.find_mode(every)
    b = whole + np.linalg.solve(np.linalg.cholesky(there[::-1, ::-1]).T, u)[::-1]
    assert_allclose(logs[2], log_weight(b, every), rtol=1e-6)


def test_draws_after_a_move_of_states():
    sampler, other, states = POISSON.drawn(), POISSON.start(), np.repeat([1, 2], N_STEPS // 2)
    sampler.complete(POISSON.states, stream(1))
    sampler.draw(states, stream(2))
    other.draw(states, stream())
    assert_allclose(sampler.log_evidence(), other.log_evidence())
    assert_allclose(sampler.model().coefs, other.model().coefs)


def test_mean_weights_are_evidences():
    """The integral of N(u; 0, I) w(u) over a grid of u."""
    sampler, some = POISSON.drawn(), np.array([4, 5, 7, 9])
    sampler._first_steps = some[:1]
    part = sampler.restrict(some, 1)
    part.condition(np.zeros(4, dtype=np.int64))
    line = np.linspace(-9.0, 9.0, 61)
    logs = []
    for u in np.stack(np.meshgrid(line, line)).reshape(2, -1).T:
        part._first_normals = u.reshape(1, 1, 2)
        logs.append(part.log_evidence() - 0.5 * u @ u)
    found = special.logsumexp(logs) + math.log((line[1] - line[0]) ** 2 / (2.0 * np.pi))
    assert_allclose(found, POISSON.posterior(some)[2], rtol=1e-6)


def test_evidence_where_a_newton_step_overshoots():
    x, y = np.array([-0.1322, -0.0652, -3.5328]), np.array([20900.0, 6.0, 0.0])
    sampler = start_at_zeros(np.column_stack([y, x]), 0.0016857, "poisson")
    a = np.column_stack([x, np.ones(3)])

    def loss(b):
        return 0.5 * 0.0016857 * b @ b - (stats.poisson.logpmf(y, np.exp(a @ b))).sum()

    best = optimize.minimize(loss, [0.0, 9.0], method="Nelder-Mead", options={"xatol": 1e-9}).x
    curvature = (a.T * np.exp(a @ best)) @ a / 0.0016857 + np.eye(2)
    expected = -loss(best) - 0.5 * np.linalg.slogdet(curvature)[1]
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-7)


# Poisson regressions: stored samples and proposals


def test_proposals_by_laplace():
    """The formula at the mode of the log rate of one step, given the mode of the coefficients."""
    sampler, found = POISSON.start(), np.empty((N_STEPS, N_STATES))
    sampler.condition(POISSON.states)
    sampler.write_log_predictive(found)
    for j in range(N_STATES):
        mode, curvature = POISSON.find_mode(POISSON.steps(j))
        for t, (y, x) in enumerate(POISSON.values):
            if math.isnan(y):
                assert found[t, j] == 0.0
                continue
            a = np.array([x, 1.0])
            mean, variance = a @ mode, a @ np.linalg.solve(curvature, a)

            def loss(psi, y=y, mean=mean, variance=variance):
                return 0.5 * (psi - mean) ** 2 / variance - stats.poisson.logpmf(y, np.exp(psi))

            best = optimize.minimize_scalar(loss, (mean - 1.0, mean + 1.0), tol=1e-12)
            expected = -best.fun - 0.5 * np.log1p(variance * np.exp(best.x))
            assert_allclose(found[t, j], expected, rtol=1e-6)


def test_means_to_second_order():
    """Against derivatives of log p at the mode."""
    model = POISSON.drawn().model()
    for j in range(2):
        mode, curvature = POISSON.find_mode(POISSON.steps(j))
        _, a = POISSON.regressors(POISSON.steps(j))
        covariance = np.linalg.inv(curvature)
        third = -np.einsum("t,ta,tb,tc->abc", np.exp(a @ mode), a, a, a)
        expected = mode + 0.5 * covariance @ np.einsum("abc,bc->a", third, covariance)
        assert_allclose([model.coefs[j, 0, 0], model.intercepts[j, 0]], expected, rtol=1e-5)
        factor = model.coef_factors[j, 0]
        assert_allclose((factor.T @ factor)[::-1, ::-1], covariance, rtol=1e-5)


def test_model_averages_over_gaussian_coefficients():
    model, values = POISSON.drawn().model(), POISSON.values
    found, rates = model.log_obs(values), model.predict(values[:, 1:])
    x = np.linspace(-12.0, 12.0, 3001)
    w = special.softmax(-0.5 * x**2)
    for j in range(N_STATES):
        for t, (y, a) in enumerate(values):
            deviation = np.linalg.norm(model.coef_factors[j, 0] @ [1.0, a])
            psi = model.intercepts[j, 0] + model.coefs[j, 0, 0] * a + deviation * x
            assert_allclose(rates[t, j, 0], np.exp(psi) @ w, rtol=1e-8)
            expected = 0.0 if math.isnan(y) else math.log(stats.poisson.pmf(y, np.exp(psi)) @ w)
            assert_allclose(found[t, j], expected, rtol=1e-7, atol=1e-12)


# Means of Poisson probabilities


@njit
def _write_log_means(counts, log_counts, constants, means, deviation, out):
    for i in range(means.shape[0]):
        for n in range(counts.shape[0]):
            out[i, n] = _kernels_poisson.log_mean_poisson(
                counts[n], log_counts[n], constants[n], means[i], deviation
            )


def log_mean_poissons(counts, means, deviation):
    out = np.empty((len(means), len(counts)))
    read = [a[:, 0] for a in read_counts(np.array(counts)[:, np.newaxis])]
    _write_log_means(*read, np.array(means), deviation, out)
    return out


COUNTS = 0.0, 1.0, 3.0, 12.0, 300.0, 1e5
MEANS = -200.0, -30.0, -4.0, 0.0, 0.7, 6.0, 30.0


def log_mean_by_trapezoids(y, mean, deviation):
    def log(psi):
        return y * psi - np.exp(psi) - 0.5 * ((psi - mean) / deviation) ** 2

    def slope(psi):
        return y - math.exp(psi) - (psi - mean) / deviation**2

    peak = optimize.brentq(slope, -1e6, 40.0, xtol=1e-12)
    left = right = 1.0 / math.sqrt(math.exp(peak) + deviation**-2)
    while log(peak - left) > log(peak) - 45.0:
        left *= 1.2
    while log(peak + right) > log(peak) - 45.0:
        right *= 1.2
    psi, step = np.linspace(peak - left, peak + right, 40_001, retstep=True)
    total = np.exp(log(psi) - log(peak)).sum() * step
    result = log(peak) - special.gammaln(y + 1.0)
    return result + math.log(total / deviation / (2.0 * np.pi) ** 0.5)


@pytest.mark.parametrize("deviation", [0.0, 1e-4, 0.3, 1.0, 5.9, 6.1, 40.0, 300.0])
def test_means_of_poisson_probabilities(deviation):
    found = log_mean_poissons(COUNTS, MEANS, deviation)
    if deviation == 0.0:
        y, means = np.array(COUNTS), np.array(MEANS)[:, np.newaxis]
        expected = y * means - np.exp(means) - special.gammaln(y + 1.0)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        return
    expected = [[log_mean_by_trapezoids(y, mean, deviation) for y in COUNTS] for mean in MEANS]
    assert_allclose(found, expected, rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize(
    ("mean", "deviation"),
    [(1e9, 1e-3), (1e150, 1.0), (-1e150, 1e-12), (1e155, 1e155), (1e160, 1.0), (-1e3, 1e9),
     (50.0, 1e-9), (60.0, 5.0)],
)  # fmt: skip
def test_absurd_log_rates(mean, deviation):
    found = log_mean_poissons([0.0, 1.0, 50.0, 2.0**53], [mean], deviation)
    assert np.isfinite(found).all()
    assert (found <= 0.0).all()


def test_huge_counts():
    """Log probabilities near the mean, where they are almost those of a Gaussian."""
    y = 2.0**52
    _, log_count, constant = (float(a[0, 0]) for a in read_counts(np.array([[y]])))
    values = np.column_stack([np.full(20, y), np.arange(20) % 3])
    sampler = RegressionEmission(0, output="poisson").make_sampler(values, 2)
    sampler.attach(values)
    for seed in range(3):
        sampler.draw(np.zeros(20, dtype=np.int64), stream(seed))
    out = np.empty((20, 2))
    sampler.write_log_obs(out)
    assert_allclose(constant, -0.5 * math.log(2.0 * math.pi * y), rtol=1e-12)
    assert_allclose(log_count, math.log(y))
    rows, offsets = sampler._data[:2]
    psi = Decimal(float(offsets[4, 0] + rows[4] @ sampler.coefs[0, 0]))
    with localcontext() as context:
        context.prec = 60
        count = Decimal(y)
        expected = count * (psi - count.ln() + 1) - psi.exp() + Decimal(constant)
    assert_allclose(out[4, 0], float(expected), atol=1e-4)
    assert np.isfinite(out).all()
    assert np.isfinite(sampler.log_evidence())
