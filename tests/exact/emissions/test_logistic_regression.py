"""Logistic regressions against quadrature over their coefficients."""

import math
from itertools import pairwise

import numpy as np
import pytest
from exact.oracles import regression as oracle
from numpy.testing import assert_allclose
from scipy import integrate, optimize, special

from skdp._numeric._numba import njit
from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import RegressionEmission
from skdp.emissions._regression import _kernels_logistic as kernels
from skdp.emissions._regression._columns import Roles
from skdp.emissions._regression._logistic import LogisticRegressionModel

NAN = math.nan
PRIOR = oracle.Logistic((0.4, -0.3), ((0.5, 0.1), (0.1, 0.3)))
N_STATES, N_STEPS = 3, 14  # the last state is never used
RNG = np.random.default_rng(0)
VALUES = np.column_stack([RNG.random(N_STEPS) < 0.6, RNG.normal(0.5, 1.5, N_STEPS)])
VALUES[[2, 7], 0] = NAN
STATES = np.arange(N_STEPS) % 2
ROWS = [(y, (x,)) for y, x in VALUES]


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def start():
    emission = RegressionEmission(
        0, output="bernoulli", coef_prior=[PRIOR.mean], coef_precision_prior=PRIOR.precision
    )
    sampler = emission.make_sampler(VALUES, N_STATES)
    sampler.attach(VALUES)
    return sampler


def of_state(j, states=STATES):
    return [row for row, z in zip(ROWS, states, strict=True) if z == j]


def log_augmented(steps, omegas):
    """Return the log of the integral of prod exp(kappa psi - omega psi^2 / 2) / 2."""
    coefs, logs = PRIOR.grid()
    for t in steps:
        y, (x,) = ROWS[t]
        if not math.isnan(y):
            psi = np.array([x, 1.0]) @ coefs
            logs = logs + (y - 0.5) * psi - 0.5 * omegas[t] * psi**2 - math.log(2.0)
    return special.logsumexp(logs)


def test_evidence_given_polya_gamma_variables():
    sampler = start()
    sampler.draw(STATES, stream())
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


def test_evidence_by_laplace():
    """The formula at the mode that an optimizer finds; it is near the evidence."""
    sampler = start()
    sampler.draw(STATES, stream())
    expected, evidence = 0.0, 0.0
    precision, mean = np.array(PRIOR.precision), np.array(PRIOR.mean)
    for j in range(N_STATES):
        known = [(y, np.append(x, 1.0)) for y, x in of_state(j) if not math.isnan(y)]

        def loss(b, known=known):
            logs = sum(special.log_expit((2.0 * y - 1.0) * a @ b) for y, a in known)
            return 0.5 * (b - mean) @ precision @ (b - mean) - logs

        mode = optimize.minimize(loss, mean, tol=1e-12).x
        hessian = precision.copy()
        for _, a in known:
            p = special.expit(a @ mode)
            hessian += p * (1.0 - p) * np.outer(a, a)
        expected -= loss(mode)
        expected += 0.5 * np.linalg.slogdet(precision)[1] - 0.5 * np.linalg.slogdet(hessian)[1]
        evidence += oracle.posterior(of_state(j), PRIOR)[2]
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-8)
    assert abs(sampler.log_evidence() - evidence) < 0.2


def test_evidence_by_laplace_where_newton_steps_overshoot():
    """Targets that an input separates, under a vague prior, in steps of any order."""
    x = np.linspace(-30.0, 30.0, 60)
    values = np.column_stack([x > 1.0, x])
    sampler = RegressionEmission(0, output="bernoulli", coef_precision_prior=1e-8).make_sampler(
        values, 1
    )
    sampler.attach(values)
    sampler.draw(np.zeros(60, dtype=np.int64), stream())
    root = sampler.prior.precision_root
    a = np.linalg.solve(root, np.vstack([np.ones(60), x])).T

    def loss(b):
        return 0.5 * b @ b - special.log_expit((2.0 * values[:, 0] - 1.0) * (a @ b)).sum()

    best = optimize.minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-9}).fun
    p = np.array([sampler.log_evidence() for _ in range(2)])
    assert p[0] == p[1]
    assert -best - 30.0 < p[0] < -best


def test_probabilities_under_drawn_coefficients():
    sampler = start()
    sampler.draw(STATES, stream())
    out = np.empty((N_STEPS, N_STATES))
    sampler.write_log_obs(out)
    root = np.linalg.inv(sampler.prior.precision_root).T
    coefs = np.array([sampler.prior.coefs[0] + root @ own[0] for own in sampler.coefs])
    for t, (y, (x,)) in enumerate(ROWS):
        psi = coefs @ [1.0, x]
        expected = 0.0 if math.isnan(y) else special.log_expit((2.0 * y - 1.0) * psi)
        assert_allclose(out[t], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("j", range(N_STATES))
def test_posterior_of_coefficients(j):
    """Means, squares and probabilities of targets, |z| < 5 for 19 figures: 1e-5 seeds."""
    sampler, rng = start(), stream(3)
    root = np.linalg.inv(sampler.prior.precision_root).T
    grid, logs, _ = oracle.posterior(of_state(j), PRIOR)
    weights = np.exp(logs)
    n, n_batches = 12_000, 40
    draws = np.empty((n, 2))
    for i in range(n):
        sampler.draw(STATES, rng)
        draws[i] = (sampler.prior.coefs[0] + root @ sampler.coefs[j, 0])[::-1]
    for function in (
        lambda b: b,
        lambda b: np.stack([b[0] ** 2, b[1] ** 2, b[0] * b[1]]),
        lambda b: special.expit(VALUES[:, 1:] * b[0] + b[1]),
    ):
        expected = function(grid) @ weights
        batches = function(draws.T).reshape(len(expected), n_batches, -1).mean(axis=2)
        errors = batches.std(axis=1) / np.sqrt(n_batches - 1)
        assert np.all(np.abs(batches.mean(axis=1) - expected) < 5.0 * errors)


def test_predictive_probabilities_given_polya_gamma_variables():
    """The mean over the Gaussian coefficients, on a grid."""
    sampler = start()
    sampler.draw(STATES, stream())
    omegas, model = sampler._omegas[:, 0], sampler.model()
    coefs, prior = PRIOR.grid()
    psi = VALUES[:, 1:] * coefs[0] + coefs[1]
    found, probs = model.log_obs(VALUES), model.predict(VALUES[:, 1:])
    for j in range(N_STATES):
        logs = prior.copy()
        for t in np.flatnonzero((j == STATES) & ~np.isnan(VALUES[:, 0])):
            logs += (VALUES[t, 0] - 0.5) * psi[t] - 0.5 * omegas[t] * psi[t] ** 2
        weights = np.exp(logs - special.logsumexp(logs))
        assert_allclose(model.coefs[j, 0, 0], coefs[0] @ weights, rtol=1e-7)
        assert_allclose(model.intercepts[j, 0], coefs[1] @ weights, rtol=1e-7)
        expected = special.expit(psi) @ weights
        assert_allclose(probs[:, j, 0], expected, rtol=1e-7)
        expected = np.where(VALUES[:, 0] == 1.0, expected, 1.0 - expected)
        expected[np.isnan(VALUES[:, 0])] = 1.0
        assert_allclose(np.exp(found[:, j]), expected, rtol=1e-7)
    weights = np.full((N_STEPS, N_STATES), [0.2, 0.5, 0.3])
    filled = model.fill(VALUES, weights)
    assert_allclose(filled[[2, 7], 0], probs[[2, 7], :, 0] @ weights[0])
    assert np.array_equal(np.delete(filled, [2, 7], 0), np.delete(VALUES, [2, 7], 0))


def test_several_targets_are_independent():
    """Two targets of a step: log probabilities and evidences are sums."""
    rng = np.random.default_rng(5)
    values = np.column_stack([rng.random((30, 2)) < 0.4, rng.normal(size=(30, 2))])
    values[3, 0] = values[5, 1] = NAN
    states = np.arange(30) // 10
    alone = []
    for targets in ([0, 1], [0], [1]):
        x = values[:, [*targets, 2, 3]]
        sampler = RegressionEmission(slice(0, len(targets)), output="bernoulli").make_sampler(x, 3)
        sampler.attach(x)
        sampler.condition(states)
        out = np.empty((30, 3))
        sampler.write_log_predictive(out)
        sampler._states = states.astype(np.int32)
        logs = sampler.model().log_obs(x), out, sampler.log_evidence()
        alone.append(logs)
    for both, first, second in zip(*alone, strict=True):
        assert_allclose(both, first + second, rtol=1e-9, atol=1e-12)


@njit
def log_mean_sigmoids(means, deviation, out):
    for i in range(means.shape[0]):
        out[i] = kernels.log_mean_sigmoid(means[i], deviation)


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


def test_probabilities_of_both_targets_sum_to_one():
    roles = Roles(np.array([0]), np.array([1]), None, "bernoulli")
    factors = np.array([[[[0.3, 0.0], [0.2, 0.5]]], [[[4.0, 0.0], [1.0, 9.0]]]])
    model = LogisticRegressionModel(
        roles, np.array([[[0.5]], [[-3.0]]]), np.array([[0.1], [2.0]]), factors
    )
    x = np.linspace(-5.0, 5.0, 11)
    both = [model.log_obs(np.column_stack([np.full(11, y), x])) for y in (0.0, 1.0)]
    assert_allclose(np.exp(both).sum(axis=0), 1.0, rtol=1e-9)


def test_draws_of_targets_follow_their_probabilities():
    """|z| < 5 for three figures: a false alarm in 2e-6 seeds."""
    sampler = start()
    sampler.draw(STATES, stream())
    model, n = sampler.model(), 20_000
    for j in range(N_STATES):
        x = np.full((n, 1), 0.8)
        y = model.draw_targets(np.full(n, j), x, np.random.default_rng(j))
        p = model.predict(x[:1])[0, j, 0]
        assert abs(y.mean() - p) < 5.0 * math.sqrt(p * (1.0 - p) / n)
