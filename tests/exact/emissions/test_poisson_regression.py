"""Poisson regressions against quadrature over their coefficients."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from exact.oracles import regression as oracle
from numpy.testing import assert_allclose
from scipy import optimize, special, stats

from skdp._numeric._numba import njit
from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import RegressionEmission
from skdp.emissions._regression import _kernels_poisson as kernels
from skdp.emissions._regression._poisson import Counts

NAN = math.nan
PRIOR = oracle.Poisson((0.4, 0.3), ((0.5, 0.1), (0.1, 0.3)))
PRECISION, MEAN = np.array(PRIOR.precision), np.array(PRIOR.mean)
N_STATES, N_STEPS = 3, 14  # the last state is never used
RNG = np.random.default_rng(0)
INPUTS = RNG.normal(0.2, 1.0, N_STEPS)
VALUES = np.column_stack([RNG.poisson(np.exp(0.6 * INPUTS)), INPUTS])
VALUES[[2, 7], 0] = NAN
STATES = np.arange(N_STEPS) % 2
STATES[-4:] = 1  # state 0 has four counts
ROWS = [(y, (x,)) for y, x in VALUES]


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def start(values=VALUES, n_states=N_STATES):
    emission = RegressionEmission(
        0, output="poisson", coef_prior=[PRIOR.mean], coef_precision_prior=PRIOR.precision
    )
    sampler = emission.make_sampler(values, n_states)
    sampler.attach(values)
    return sampler


def of_steps(steps):
    """Return the known counts and the inputs with 1 of some steps."""
    own = VALUES[steps]
    own = own[~np.isnan(own[:, 0])]
    return own[:, 0], np.column_stack([own[:, 1], np.ones(len(own))])


def log_joint(b, steps):
    """Return log p(counts, b), with the density of b divided by that of N(0, I) at 0."""
    y, a = of_steps(steps)
    away, psi = b - MEAN, a @ b
    log = (y * psi - np.exp(psi) - special.gammaln(y + 1.0)).sum() - 0.5 * away @ PRECISION @ away
    return log + 0.5 * np.linalg.slogdet(PRECISION)[1]


def find_mode(steps):
    """Return the mode of the coefficients and the curvature there."""
    y, a = of_steps(steps)
    mode = MEAN
    for _ in range(60):
        rates = np.exp(a @ mode)
        curvature = PRECISION + (a.T * rates) @ a
        slope = a.T @ (y - rates) - PRECISION @ (mode - MEAN)
        mode = mode + np.linalg.solve(curvature, slope)
    assert np.abs(slope).max() < 1e-9
    return mode, curvature


def drawn(sampler):
    """Return the drawn coefficients of all states, the intercept last."""
    root = np.linalg.inv(sampler.prior.precision_root).T
    return np.array([(sampler.prior.coefs[0] + root @ own[0])[::-1] for own in sampler.coefs])


def steps_of(j, states=STATES):
    return np.flatnonzero(np.asarray(states) == j)


def test_evidence_by_laplace():
    """The formula at the mode that an optimizer finds; it is near the evidence."""
    sampler = start()
    sampler.draw(STATES, stream())
    expected, evidence = 0.0, 0.0
    for j in range(N_STATES):
        mode, curvature = find_mode(steps_of(j))
        expected += log_joint(mode, steps_of(j)) - 0.5 * np.linalg.slogdet(curvature)[1]
        evidence += oracle.posterior([ROWS[t] for t in steps_of(j)], PRIOR)[2]
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-8)
    assert abs(sampler.log_evidence() - evidence) < 0.2


def test_evidence_by_laplace_where_a_newton_step_overshoots():
    x, y = np.array([-0.1322, -0.0652, -3.5328]), np.array([20900.0, 6.0, 0.0])
    values = np.column_stack([y, x])
    emission = RegressionEmission(
        0, output="poisson", coef_prior=[[0.0, 0.0]], coef_precision_prior=0.0016857 * np.eye(2)
    )
    sampler = emission.make_sampler(values, 1)
    sampler.attach(values)
    sampler.draw(np.zeros(3, dtype=np.int64), stream())
    a = np.column_stack([x, np.ones(3)])

    def loss(b):
        return 0.5 * 0.0016857 * b @ b - (stats.poisson.logpmf(y, np.exp(a @ b))).sum()

    best = optimize.minimize(loss, [0.0, 9.0], method="Nelder-Mead", options={"xatol": 1e-9}).x
    curvature = (a.T * np.exp(a @ best)) @ a / 0.0016857 + np.eye(2)
    expected = -loss(best) - 0.5 * np.linalg.slogdet(curvature)[1]
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-7)


def log_weight(b, steps):
    """Return log p(counts, b) / N(b; mode, curvature^-1)."""
    mode, curvature = find_mode(steps)
    away = b - mode
    log = log_joint(b, steps) + 0.5 * away @ curvature @ away
    return log - 0.5 * np.linalg.slogdet(curvature)[1]


def test_weights_at_the_drawn_coefficients():
    """After the coordinates are drawn, the weights of all states are those of the coefficients."""
    sampler = start()
    sampler.draw(STATES, stream())
    sampler.draw(STATES, stream(1))
    sampler.complete(STATES, stream(2))
    coefs = drawn(sampler)
    some = sampler.restrict(np.arange(N_STEPS), N_STATES)
    some.condition(STATES)
    expected = sum(log_weight(coefs[j], steps_of(j)) for j in range(N_STATES))
    assert_allclose(some.log_evidence(), expected, rtol=1e-6)
    # A part: state 1 has the coordinates of its first step, and another number.
    part = sampler.restrict(steps_of(1), 2)
    part.condition(np.zeros(len(steps_of(1)), dtype=np.int64))
    assert_allclose(part.log_evidence(), log_weight(coefs[1], steps_of(1)), rtol=1e-6)
    again = sampler._first_normals.copy()
    sampler.draw(STATES, stream(3))
    assert not np.allclose(drawn(sampler), coefs)
    assert_allclose(again, sampler._first_normals)


def test_coordinates_belong_to_first_steps():
    """Groups in any order have the same weight, and the coefficients of accepted groups follow."""
    sampler = start()
    sampler.draw(STATES, stream())
    sampler.complete(STATES, stream(1))
    part = sampler.restrict(np.arange(N_STEPS), 2)
    logs = []
    for groups in (STATES, 1 - STATES, np.zeros(N_STEPS, dtype=np.int64)):
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
    before = drawn(sampler)
    mode, curvature = find_mode(steps_of(0))
    u = np.linalg.cholesky(curvature[::-1, ::-1]).T @ (before[0] - mode)[::-1]
    whole, there = find_mode(np.arange(N_STEPS))
    b = whole + np.linalg.solve(np.linalg.cholesky(there[::-1, ::-1]).T, u)[::-1]
    assert_allclose(logs[2], log_weight(b, np.arange(N_STEPS)), rtol=1e-6)


def test_draws_after_a_move_of_states():
    sampler, other, states = start(), start(), np.repeat([1, 2], N_STEPS // 2)
    sampler.draw(STATES, stream())
    sampler.complete(STATES, stream(1))
    sampler.draw(states, stream(2))
    other.draw(states, stream())
    assert_allclose(sampler.log_evidence(), other.log_evidence())
    assert_allclose(sampler.model().coefs, other.model().coefs)


def test_mean_weights_are_evidences():
    """The integral of N(u; 0, I) w(u) over a grid of u."""
    sampler, some = start(), np.array([4, 5, 7, 9])
    sampler.draw(STATES, stream())
    sampler._first_steps = some[:1]
    part = sampler.restrict(some, 1)
    part.condition(np.zeros(4, dtype=np.int64))
    line = np.linspace(-9.0, 9.0, 61)
    logs = []
    for u in np.stack(np.meshgrid(line, line)).reshape(2, -1).T:
        part._first_normals = u.reshape(1, 1, 2)
        logs.append(part.log_evidence() - 0.5 * u @ u)
    found = special.logsumexp(logs) + math.log((line[1] - line[0]) ** 2 / (2.0 * np.pi))
    expected = oracle.posterior([ROWS[t] for t in some], PRIOR)[2]
    assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("j", range(N_STATES))
def test_posterior_of_coefficients(j):
    """Means, squares and rates, |z| < 5 for 19 figures: 1e-5 seeds."""
    sampler, rng = start(), stream(3)
    grid, logs, _ = oracle.posterior([ROWS[t] for t in steps_of(j)], PRIOR)
    weights = np.exp(logs)
    n, n_batches = 8_000, 40
    draws = np.empty((n, 2))
    for i in range(n):
        sampler.draw(STATES, rng)
        draws[i] = sampler.coefs[j, 0]
    root = np.linalg.inv(sampler.prior.precision_root)
    draws = (sampler.prior.coefs[0] + draws @ root)[:, ::-1]
    for function in (
        lambda b: b,
        lambda b: np.stack([b[0] ** 2, b[1] ** 2, b[0] * b[1]]),
        lambda b: np.exp(-np.exp(VALUES[:, 1:] * b[0] + b[1])),
    ):
        expected = function(grid) @ weights
        batches = function(draws.T).reshape(len(expected), n_batches, -1).mean(axis=2)
        errors = batches.std(axis=1) / np.sqrt(n_batches - 1)
        assert np.all(np.abs(batches.mean(axis=1) - expected) < 5.0 * errors)


def test_probabilities_under_drawn_coefficients():
    sampler = start()
    sampler.draw(STATES, stream())
    out = np.empty((N_STEPS, N_STATES))
    sampler.write_log_obs(out)
    coefs = drawn(sampler)
    for t, (y, (x,)) in enumerate(ROWS):
        rates = np.exp(coefs @ [x, 1.0])
        expected = 0.0 if math.isnan(y) else stats.poisson.logpmf(y, rates)
        assert_allclose(out[t], expected, rtol=1e-9, atol=1e-12)


def test_approximate_predictive_probabilities():
    """Those of the model and of proposals are near quadrature over the exact posterior."""
    sampler = start()
    sampler.draw(STATES, stream())
    model = sampler.model()
    found, rough = model.log_obs(VALUES), np.empty((N_STEPS, N_STATES))
    sampler.write_log_predictive(rough)
    for j in range(N_STATES):
        grid, logs, _ = oracle.posterior([ROWS[t] for t in steps_of(j)], PRIOR)
        means = grid @ np.exp(logs)
        for t, row in enumerate(ROWS):
            expected = special.logsumexp(logs + oracle.log_likelihoods([row], grid, PRIOR))
            assert abs(found[t, j] - expected) < 0.05
            assert abs(rough[t, j] - expected) < 0.25
        assert_allclose([model.coefs[j, 0, 0], model.intercepts[j, 0]], means, atol=0.08)
    assert_allclose(model.coefs[2, 0, 0], MEAN[0], rtol=1e-9)
    assert_allclose(model.intercepts[2, 0], MEAN[1], rtol=1e-9)


def test_proposals_by_laplace():
    """The formula at the mode of the log rate of one step, given the mode of the coefficients."""
    sampler = start()
    sampler.condition(STATES)
    found = np.empty((N_STEPS, N_STATES))
    sampler.write_log_predictive(found)
    for j in range(N_STATES):
        mode, curvature = find_mode(steps_of(j))
        for t, (y, (x,)) in enumerate(ROWS):
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
    sampler = start()
    sampler.draw(STATES, stream())
    model = sampler.model()
    for j in range(2):
        mode, curvature = find_mode(steps_of(j))
        _, a = of_steps(steps_of(j))
        covariance = np.linalg.inv(curvature)
        third = -np.einsum("t,ta,tb,tc->abc", np.exp(a @ mode), a, a, a)
        expected = mode + 0.5 * covariance @ np.einsum("abc,bc->a", third, covariance)
        assert_allclose([model.coefs[j, 0, 0], model.intercepts[j, 0]], expected, rtol=1e-5)
        factor = model.coef_factors[j, 0]
        assert_allclose((factor.T @ factor)[::-1, ::-1], covariance, rtol=1e-5)


def test_model_averages_over_gaussian_coefficients():
    sampler = start()
    sampler.draw(STATES, stream())
    model = sampler.model()
    found, rates = model.log_obs(VALUES), model.predict(VALUES[:, 1:])
    x = np.linspace(-12.0, 12.0, 3001)
    w = np.exp(-0.5 * x**2)
    w /= w.sum()
    for j in range(N_STATES):
        for t, (y, (a,)) in enumerate(ROWS):
            deviation = np.linalg.norm(model.coef_factors[j, 0] @ [1.0, a])
            psi = model.intercepts[j, 0] + model.coefs[j, 0, 0] * a + deviation * x
            assert_allclose(rates[t, j, 0], np.exp(psi) @ w, rtol=1e-8)
            expected = 0.0 if math.isnan(y) else math.log(stats.poisson.pmf(y, np.exp(psi)) @ w)
            assert_allclose(found[t, j], expected, rtol=1e-7, atol=1e-12)
    weights = np.full((N_STEPS, N_STATES), [0.2, 0.5, 0.3])
    filled = model.fill(VALUES, weights)
    assert_allclose(filled[[2, 7], 0], rates[[2, 7], :, 0] @ weights[0])
    assert np.array_equal(np.delete(filled, [2, 7], 0), np.delete(VALUES, [2, 7], 0))


def test_several_targets_are_independent():
    """Two targets of a step: log probabilities and evidences are sums."""
    rng = np.random.default_rng(5)
    values = np.column_stack([rng.poisson(2.0, (30, 2)), rng.normal(size=(30, 2))])
    values[3, 0] = values[5, 1] = NAN
    states = np.arange(30) // 10
    alone = []
    for targets in ([0, 1], [0], [1]):
        x = values[:, [*targets, 2, 3]]
        sampler = RegressionEmission(slice(0, len(targets)), output="poisson").make_sampler(x, 3)
        sampler.attach(x)
        sampler.condition(states)
        out = np.empty((30, 3))
        sampler.write_log_predictive(out)
        logs = sampler.model().log_obs(x), out, sampler.log_evidence()
        alone.append(logs)
    for both, first, second in zip(*alone, strict=True):
        assert_allclose(both, first + second, rtol=1e-9, atol=1e-12)


@njit
def log_mean_poissons(counts, log_counts, constants, means, deviation, out):
    for i in range(means.shape[0]):
        for n in range(counts.shape[0]):
            out[i, n] = kernels.log_mean_poisson(
                counts[n], log_counts[n], constants[n], means[i], deviation
            )


COUNTS = np.array([0.0, 1.0, 3.0, 12.0, 300.0, 1e5])
MEANS = np.array([-200.0, -30.0, -4.0, 0.0, 0.7, 6.0, 30.0])


@pytest.mark.parametrize("deviation", [0.0, 1e-4, 0.3, 1.0, 5.9, 6.1, 40.0, 300.0])
def test_means_of_poisson_probabilities(deviation):
    found = np.empty((len(MEANS), len(COUNTS)))
    log_mean_poissons(COUNTS, *(a[:, 0] for a in Counts.read(COUNTS[:, None])[1:]), MEANS,
                      deviation, found)  # fmt: skip
    for i, mean in enumerate(MEANS):
        for n, y in enumerate(COUNTS):
            constant = special.gammaln(y + 1.0)
            if deviation == 0.0:
                expected = y * mean - np.exp(mean) - constant
                assert_allclose(found[i, n], expected, rtol=1e-9, atol=1e-9)
                continue

            def log(psi, y=y, mean=mean):
                return y * psi - np.exp(psi) - 0.5 * ((psi - mean) / deviation) ** 2

            def slope(psi, y=y, mean=mean):
                return y - math.exp(psi) - (psi - mean) / deviation**2

            peak = optimize.brentq(slope, -1e6, 40.0, xtol=1e-12)
            width = 1.0 / math.sqrt(math.exp(peak) + deviation**-2)
            left, right = width, width
            while log(peak - left) > log(peak) - 45.0:
                left *= 1.2
            while log(peak + right) > log(peak) - 45.0:
                right *= 1.2
            psi, step = np.linspace(peak - left, peak + right, 40_001, retstep=True)
            total = np.exp(log(psi) - log(peak)).sum() * step
            expected = log(peak) - constant + math.log(total / deviation / (2.0 * np.pi) ** 0.5)
            assert_allclose(found[i, n], expected, rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize(
    ("mean", "deviation"),
    [
        (1e9, 1e-3),
        (1e150, 1.0),
        (-1e150, 1e-12),
        (1e155, 1e155),
        (1e160, 1.0),
        (-1e3, 1e9),
        (50.0, 1e-9),
        (60.0, 5.0),
    ],
)
def test_absurd_log_rates(mean, deviation):
    found = np.empty((1, 4))
    counts = Counts.read(np.array([[0.0], [1.0], [50.0], [2.0**53]]))
    log_mean_poissons(*(a[:, 0] for a in counts), np.array([mean]), deviation, found)
    assert np.isfinite(found).all()
    assert (found <= 0.0).all()


def test_huge_counts():
    """Log probabilities near the mean, where they are almost those of a Gaussian."""
    y = 2.0**52
    _, log_count, constant = (float(a[0, 0]) for a in Counts.read(np.array([[y]])))
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


def test_draws_of_targets_follow_their_probabilities():
    """|z| < 5 for twelve figures: a false alarm in 1e-5 seeds."""
    sampler = start()
    sampler.draw(STATES, stream())
    model, n = sampler.model(), 20_000
    for j in range(N_STATES):
        x = np.full((n, 1), 0.4)
        y = model.draw_targets(np.full(n, j), x, np.random.default_rng(j))[:, 0]
        for k in range(4):
            p = np.exp(model.log_obs(np.array([[k, 0.4]]))[0, j])
            assert abs((y == k).mean() - p) < 5.0 * math.sqrt(p * (1.0 - p) / n)
