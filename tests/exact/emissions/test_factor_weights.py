"""Weights, noise and amplitudes of binary factors against quadrature.

Runs of a chain in 40 batches; |z| < 5 fails a right sampler once in 80,000 comparisons (see
`exact.oracles.batch_means`). There are 1,200 in all files of binary factors: a false alarm for one
choice of the seeds in 65.
"""

import numpy as np
import pytest
from exact.emissions.factor_problems import CASES, N_DRAWS, NAN, make_sampler, stream
from exact.oracles.batch_means import assert_means
from exact.oracles.binary_factors import (
    Problem,
    configurations,
    log_likelihood,
    log_prior,
)
from scipy import special, stats

from skdp.emissions._binary_factors import _kernels as kernels

X = (
    (0.4, 1.0), (0.7, NAN), (1.3, 0.0), (0.1, 1.0), (NAN, 1.0), (1.9, 0.0), (1.7, 0.0), (0.2, 1.0),
)  # fmt: skip
STATES = (0, 0, 1, 0, 1, 2, 2, 0)
FACTORS = np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int8)
SCALE, SHAPE, RATE = 1.3, 1.5, 0.7


def test_weights_and_noise():
    """Given vectors: tau by quadrature, weights given tau by the normal posterior."""
    problem = Problem(X, STATES, ((0.0,) * 2,) * 3, (1.0, 1.0), (False, False), n_states=3)
    sampler = make_sampler(
        problem, weights=None, weights_scale=SCALE, noise_variance="auto", noise_prior=(SHAPE, RATE)
    )
    states, rng = np.array(STATES), stream(1)
    sampler.start(states, rng)
    states[:] = STATES
    sampler.factors[:] = FACTORS
    sampler._draw_factors = lambda coupling, rng: None
    draws = []
    for _ in range(N_DRAWS):
        sampler.draw(states, rng)
        precisions, weights = sampler.precisions, sampler.weights
        draws.append(np.vstack([weights, weights**2, precisions, np.log(precisions)]))
    expected = []
    for d in range(2):
        column = np.array(X)[:, d]
        seen = ~np.isnan(column)
        design = np.column_stack([np.ones(seen.sum()), FACTORS[states[seen]]])
        y = column[seen]
        log_tau = np.linspace(-6.0, 5.0, 800)
        log_density, moments = [], []
        for x in log_tau:
            tau = np.exp(x)
            covariance = np.eye(len(y)) / tau + SCALE**2 * design @ design.T
            log_density.append(
                stats.multivariate_normal.logpdf(y, cov=covariance) + SHAPE * x - RATE * tau
            )
            posterior = np.linalg.inv(tau * design.T @ design + np.eye(3) / SCALE**2)
            mean = tau * posterior @ design.T @ y
            moments.append([*mean, *(mean**2 + np.diag(posterior)), tau, x])
        expected.append(special.softmax(log_density) @ np.array(moments))
    assert_means(draws, np.transpose(expected))


def expect(probs, figure):
    """Return the mean of a figure that does not vary along the axes where it has one entry."""
    others = tuple(i for i, n in enumerate(figure.shape) if n == 1)
    return (probs.sum(axis=others, keepdims=True) * figure).sum()


def test_amplitudes():
    """Weights and both variances given vectors: one column, one factor, a grid of all four."""
    values, states = ((0.9,), (2.1,), (NAN,), (-0.2,), (3.1,)), (0, 0, 0, 1, 0)
    problem = Problem(values, states, ((0.0,),) * 2, (1.0,), (False,))
    sampler = make_sampler(
        problem, weights=None, weights_scale=SCALE, noise_variance="auto",
        noise_prior=(3.0, 2.0), amplitude_variance="auto", amplitude_prior=(4.0, 2.0),
    )  # fmt: skip
    z, rng = np.array(states), stream(6)
    sampler.start(z, rng)
    z[:] = states
    sampler.factors[:] = [[1], [0]]
    sampler._draw_factors = lambda coupling, rng: None
    draws = []
    for _ in range(2 * N_DRAWS):
        sampler.draw(z, rng)
        (w,), (v,) = sampler.weights
        logs = -np.log(sampler.precisions[0]), np.log(sampler.amplitude_variance)
        figures = np.array([w, v, *logs])
        draws.append([*figures, *figures**2, w * v, v * figures[3], figures[2] * figures[3]])
    axes = [np.linspace(-5.0, 5.0, 50)] * 2 + [np.linspace(-4.0, 4.0, 40)] * 2
    w, v, noise, variance = np.meshgrid(*axes, indexing="ij", sparse=True)
    log_joint = -0.5 * (w**2 + v**2) / SCALE**2 - 3.0 * noise - 2.0 * np.exp(-noise)
    log_joint = log_joint - 4.0 * variance - 2.0 * np.exp(-variance)
    for (y,), j in zip(values, states, strict=True):
        if not np.isnan(y):
            on = 1.0 - j
            total = np.exp(noise) + on * v**2 * np.exp(variance)
            log_joint -= 0.5 * (np.log(total) + (y - w - on * v) ** 2 / total)
    probs = special.softmax(log_joint)
    figures = [w, v, noise, variance]
    figures += [x**2 for x in figures] + [w * v, v * variance, noise * variance]
    assert_means(draws, np.array([expect(probs, x) for x in figures]))


def test_probit_weights():
    """Vectors enumerated, weights by quadrature."""
    problem = Problem(
        ((1.0,), (0.0,), (1.0,), (1.0,), (0.0,)), (0, 1, 1, 0, 1), ((0.0,),) * 2, (1.0,), (True,)
    )
    sampler = make_sampler(problem, weights=None, weights_scale=SCALE)
    states, rng = np.array(problem.states), stream(2)
    sampler.start(states, rng)
    states[:] = problem.states
    draws = []
    for _ in range(4 * N_DRAWS):
        sampler.draw(states, rng)
        (w,), (v,) = sampler.weights
        (a,), (b,) = sampler.factors
        draws.append([a == b, w, w**2, v**2, a * v, b * v, a * v**2])
    nodes, node_weights = special.roots_hermitenorm(60)
    total, expected = 0.0, 0.0
    for factors in configurations(2, 1):
        prior = np.exp(log_prior(factors, 1.0, 1.0))
        (a,), (b,) = factors
        w, v = (SCALE * x for x in np.meshgrid(nodes, nodes, indexing="ij"))
        joint = prior * np.outer(node_weights, node_weights)
        joint *= stats.norm.cdf(w + a * v) ** 2
        joint *= stats.norm.cdf(w + b * v) * stats.norm.cdf(-w - b * v) ** 2
        figures = np.array([(a == b) * v**0, w, w**2, v**2, a * v, b * v, a * v**2])
        total += joint.sum()
        expected += (figures * joint).sum(axis=(1, 2))
    assert_means(draws, expected / total)


@pytest.mark.parametrize("case", ["both", "missing", "three factors", "amplitudes, missing"])
def test_log_evidence(case):
    """log p(x, vectors, weights, noise, variance of amplitudes | z) to 1e-10.

    Weights count in units of their prior scale, precisions and variances by their logarithms.
    """
    problem = CASES[case]
    varied = problem.amplitude_variance > 0.0
    sampler = make_sampler(
        problem, weights=None, weights_scale=SCALE, noise_variance="auto",
        noise_prior=(SHAPE, RATE), amplitude_variance="auto" if varied else 0.0,
        amplitude_prior=(RATE, SHAPE),
    )  # fmt: skip
    states, rng = np.array(problem.states), stream(4)
    sampler.start(states, rng)
    sampler.draw(states, rng)
    expected = log_prior(sampler.factors, *problem.activity_prior)
    expected += log_likelihood(
        problem.values, states, sampler.factors, sampler.weights, sampler.precisions,
        problem.probit, sampler.amplitude_variance,
    )  # fmt: skip
    if varied:
        precision = 1.0 / sampler.amplitude_variance
        expected += stats.gamma.logpdf(precision, RATE, scale=1.0 / SHAPE) + np.log(precision)
    expected += stats.norm.logpdf(sampler.weights / SCALE).sum()
    for tau in sampler.precisions[~np.array(problem.probit)]:
        expected += stats.gamma.logpdf(tau, SHAPE, scale=1.0 / RATE) + np.log(tau)
    assert sampler.log_evidence() == pytest.approx(expected, rel=1e-10)


def test_log_normal_cdf():
    x = np.concatenate([np.linspace(-60.0, 9.0, 1000), [-1e4, -1e150]])
    found = [kernels.log_normal_cdf(value) for value in x]
    np.testing.assert_allclose(found, special.log_ndtr(x), rtol=2e-13, atol=1e-16)


@pytest.mark.parametrize("bound", [-2.0, 0.3, 0.6, 3.0, 20.0])
def test_normal_above(bound):
    """Shares below quantiles; |z| < 5."""
    rng, n = stream(5), 20_000
    draws = np.array([kernels.draw_normal_above(bound, rng) for _ in range(n)])
    assert draws.min() > bound
    tail = np.linspace(0.05, 0.95, 19)
    quantiles = stats.norm.isf(tail * stats.norm.sf(bound))
    shares = (draws[:, np.newaxis] > quantiles).mean(axis=0)
    assert np.abs((shares - tail) / np.sqrt(tail * (1.0 - tail) / n)).max() < 5.0
