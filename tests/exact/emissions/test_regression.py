"""Linear regressions of columns against t densities one step after the other."""

import numpy as np
import pytest
from exact.oracles import autoregression as oracle
from numpy.testing import assert_allclose
from scipy import stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import RegressionEmission

N_STATES = 3  # the last one is never used
N_STEPS = 23
EVERY_SIZE = [(1, 1), (1, 3), (2, 2), (3, 1)]


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def make_prior(n_targets, n_inputs):
    rng = np.random.default_rng(10 * n_targets + n_inputs)
    n = n_inputs + 1
    roots = rng.normal(size=(n, n)), rng.normal(size=(n_targets, n_targets))
    precision, scale = (root @ root.T + 0.5 * np.eye(len(root)) for root in roots)
    rows = [tuple(map(tuple, x)) for x in (rng.normal(size=(n_targets, n)), precision, scale)]
    return oracle.MatrixNormalInverseWishart(rows[0], rows[1], n_targets + 1.5, rows[2])


def problem(n_targets, n_inputs):
    """Return prior, sampler, values with gaps, states and the steps (a, y) of each state."""
    prior = make_prior(n_targets, n_inputs)
    rng = np.random.default_rng(n_targets)
    n = n_targets + n_inputs
    columns = rng.permutation(n)
    targets, inputs = columns[:n_targets], columns[n_targets:]
    values = rng.normal(size=(N_STEPS, n)) @ rng.normal(size=(n, n)) + 1.0
    values[np.ix_([3, 8, 9], targets)] = np.nan
    states = rng.integers(2, size=N_STEPS)
    sampler = RegressionEmission(
        targets.tolist(),
        inputs.tolist(),
        coef_prior=prior.coefs,
        coef_precision_prior=np.array(prior.precision),
        degrees_of_freedom_prior=prior.freedom,
        covariance_prior=prior.scale,
    ).make_sampler(values, N_STATES)
    sampler.attach(values)
    return prior, sampler, values, states, pairs(values, targets, inputs)


def pairs(values, targets, inputs):
    """Return (a, y) of each step, None where y is missing."""
    return [
        None if np.isnan(x[targets]).any() else (np.append(x[inputs], 1.0), x[targets])
        for x in values
    ]


def of_state(steps, states, j):
    return [step for step, z in zip(steps, states, strict=True) if z == j and step is not None]


@pytest.mark.parametrize("size", EVERY_SIZE)
def test_log_evidence(size):
    prior, sampler, _, states, steps = problem(*size)
    sampler.condition(states)
    expected = sum(oracle.log_evidence(of_state(steps, states, j), prior) for j in range(N_STATES))
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-10)
    some, groups = np.array([0, 3, 4, 7, 12, 15]), np.array([0, 1, 1, -1, 0, 1])
    part = sampler.restrict(some, 2)
    part.condition(groups)
    chosen = [steps[t] for t in some]
    expected = sum(oracle.log_evidence(of_state(chosen, groups, j), prior) for j in range(2))
    assert_allclose(part.log_evidence(), expected, rtol=1e-10)


@pytest.mark.parametrize("size", EVERY_SIZE)
def test_predictive_densities(size):
    """Of proposals and of stored samples; missing targets have the density 1."""
    prior, sampler, values, states, steps = problem(*size)
    sampler.draw(states, stream())
    expected = np.zeros((N_STEPS, N_STATES))
    for t, step in enumerate(steps):
        for j in range(N_STATES):
            if step is not None:
                own = of_state(steps, states, j)
                expected[t, j] = oracle.predictive(step[0], own, prior).logpdf(step[1])
    assert_allclose(sampler.model().log_obs(values), expected, rtol=1e-8, atol=1e-12)
    found = np.empty(expected.shape)
    sampler.write_log_predictive(found)
    assert_allclose(found, expected, rtol=1e-8, atol=1e-12)


def test_densities_under_drawn_parameters_average_to_the_predictive_density():
    """|z| < 5 for 69 figures: a false alarm in 4e-5 seeds."""
    prior, sampler, _, states, steps = problem(2, 2)
    rng, n, out = stream(1), 20_000, np.empty((N_STEPS, N_STATES))
    sums, squares = np.zeros((2, N_STEPS, N_STATES))
    for _ in range(n):
        sampler.draw(states, rng)
        sampler.write_log_obs(out)
        densities = np.exp(out)
        sums += densities
        squares += densities**2
    means = sums / n
    errors = np.sqrt((squares / n - means**2) / n)
    for t, step in enumerate(steps):
        for j in range(N_STATES):
            expected = 1.0
            if step is not None:
                own = of_state(steps, states, j)
                expected = oracle.predictive(step[0], own, prior).pdf(step[1])
            assert abs(means[t, j] - expected) <= 5.0 * errors[t, j] + 1e-12


def test_the_model_holds_posterior_means():
    prior, sampler, values, states, steps = problem(2, 2)
    sampler.draw(states, stream())
    model = sampler.model()
    inputs = values[:, sampler.roles.inputs]
    predicted = model.predict(inputs)
    for j in range(N_STATES):
        coefs, _, freedom, scale = oracle.update(of_state(steps, states, j), prior)
        assert_allclose(model.coefs[j], coefs[:, :-1], rtol=1e-9, atol=1e-12)
        assert_allclose(model.intercepts[j], coefs[:, -1], rtol=1e-9, atol=1e-12)
        assert_allclose(model.covariances[j], scale / (freedom - 3.0), rtol=1e-9)
        expected = np.column_stack([inputs, np.ones(N_STEPS)]) @ coefs.T
        assert_allclose(predicted[:, j], expected, rtol=1e-9, atol=1e-12)
    weights = np.full((N_STEPS, N_STATES), [0.2, 0.5, 0.3])
    filled = model.fill(values, weights)[:, sampler.roles.targets]
    missing = [t for t, step in enumerate(steps) if step is None]
    assert_allclose(filled[missing], np.einsum("j,njd->nd", weights[0], predicted[missing]))
    assert_allclose(np.delete(filled, missing, 0), [step[1] for step in steps if step is not None])


def test_draws_of_targets_follow_the_density():
    """Six Kolmogorov-Smirnov tests: false alarms in 6e-6 seeds."""
    prior, sampler, _, states, steps = problem(2, 2)
    sampler.draw(states, stream())
    model, n = sampler.model(), 20_000
    inputs = np.array([0.5, -2.0])
    for j in range(N_STATES):
        rng = np.random.default_rng(j)
        y = model.draw_targets(np.full(n, j), np.tile(inputs, (n, 1)), rng)
        known = oracle.predictive(np.append(inputs, 1.0), of_state(steps, states, j), prior)
        for d in range(2):
            marginal = stats.t(known.df, known.loc[d], np.sqrt(known.shape[d, d]))
            assert stats.kstest(y[:, d], marginal.cdf).pvalue > 1e-6


def test_large_and_small_units():
    """Scores of data in other units differ by the Jacobian only, under default priors."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3))
    states = np.arange(40) // 20
    scales, shifts = np.array([1e5, 1e-4, 1e3]), np.array([1e7, 0.3, -2.0])
    logs = []
    for x in (values, values * scales + shifts):
        sampler = RegressionEmission([0]).make_sampler(x, 2)
        sampler.attach(x)
        sampler.condition(states)
        logs.append(sampler.log_evidence())
    assert_allclose(logs[1], logs[0] - 40 * np.log(1e5), rtol=1e-6)
