"""Updates of Dirichlet priors end where the gradient of their posterior vanishes."""

import numpy as np
import pytest
from exact.oracles.enumeration import dirichlet_multinomial
from scipy.special import digamma

from skdp.topics._shared._arrays import (
    count_frequencies,
    sum_rises,
    update_by_frequencies,
    update_symmetric_dirichlet,
)

FLOOR = 1e-6
COUNTS = {
    "documents": np.array([[3, 0, 1], [0, 0, 0], [2, 5, 1], [1, 1, 0], [4, 1, 0]]),
    "one document": np.array([[2, 1, 4]]),
    "one topic": np.array([[3], [5]]),
    "a topic without tables": np.array([[3, 0, 1], [2, 0, 2]]),
}
# One topic has a flat likelihood: under an exponential prior it creeps to the floor for ever.
every_prior = pytest.mark.parametrize(
    ("counts", "shape", "rate"),
    [
        pytest.param(COUNTS[name], *prior, id=f"{name} {prior[0]}")
        for name in COUNTS
        for prior in [(1.0, 0.1), (2.0, 0.5)]
        if (name, prior[0]) != ("one topic", 1.0)
    ],
)


def log_dirichlet_posterior(prior, counts, shape: float, rate: float) -> float:
    """Log likelihood of the rows of counts, plus the log density of Gamma(shape, rate) priors.

    `prior` is a vector, each entry under its own Gamma prior, or one number for all columns,
    under one Gamma prior.
    """
    vector = np.broadcast_to(np.asarray(prior, dtype=float), counts.shape[1])
    rows = [np.log(dirichlet_multinomial(vector, row)) for row in counts]
    return float(np.sum(rows) + np.sum((shape - 1.0) * np.log(prior) - rate * np.asarray(prior)))


def dirichlet_gradient(prior, counts, shape: float, rate: float) -> np.ndarray:
    """Return the gradient of `log_dirichlet_posterior` in its digamma form."""
    vector = np.broadcast_to(np.asarray(prior, dtype=float), counts.shape[1])
    total, totals = vector.sum(), counts.sum(axis=1)
    per_row = np.sum(digamma(total) - digamma(total + totals))
    likelihood = per_row + np.sum(digamma(vector + counts) - digamma(vector), axis=0)
    if np.ndim(prior) == 0:
        likelihood = likelihood.sum()
    return likelihood + (shape - 1.0) / np.asarray(prior) - rate


@pytest.mark.parametrize("prior", [np.array([0.3, 2.0, 1.1]), 0.8], ids=["vector", "scalar"])
def test_gradient_is_that_of_the_log_posterior(prior):
    counts = np.array([[3, 0, 1], [0, 0, 0], [2, 5, 1]])
    gradient = dirichlet_gradient(prior, counts, 1.7, 0.4)
    steps = 1e-5 * np.eye(3) if np.ndim(prior) else [1e-5]
    differences = [
        (
            log_dirichlet_posterior(prior + step, counts, 1.7, 0.4)
            - log_dirichlet_posterior(prior - step, counts, 1.7, 0.4)
        )
        / 2e-5
        for step in steps
    ]
    np.testing.assert_allclose(np.atleast_1d(gradient), differences, rtol=1e-6, atol=1e-8)


def fixed_point(update, prior, n_iter=20_000):
    for _ in range(n_iter):
        before, prior = prior, update(prior)
        if np.all(np.abs(prior - before) <= 1e-15 * before):
            break
    return prior


def assert_stationary(prior, counts, shape, rate):
    """The gradient vanishes, or points outwards where a prior lies on the floor."""
    prior = np.asarray(prior, dtype=float)
    gradient = dirichlet_gradient(prior, counts, shape, rate)
    inside = prior > FLOOR
    np.testing.assert_allclose(np.where(inside, prior * gradient, 0.0), 0.0, atol=1e-8)
    assert np.all(prior >= FLOOR)
    assert np.all(gradient[~inside] <= 0.0)
    if np.all(inside):
        best = log_dirichlet_posterior(prior, counts, shape, rate)
        for factor in (0.9, 0.999, 1.001, 1.1):
            assert log_dirichlet_posterior(factor * prior, counts, shape, rate) < best


@pytest.mark.parametrize("symmetric", [False, True], ids=["auto", "auto-symmetric"])
@every_prior
def test_doc_topic_prior_fixed_point_has_zero_gradient(counts, shape, rate, symmetric):
    start = np.full(counts.shape[1], 0.5) if symmetric else np.linspace(0.3, 1.2, counts.shape[1])
    args = count_frequencies([counts], counts.shape[1]), shape, rate, symmetric
    prior = fixed_point(lambda prior: update_by_frequencies(prior, *args), start)
    assert prior.shape == start.shape
    if symmetric:
        assert np.all(prior == prior[0])
        assert_stationary(prior[0], counts, shape, rate)
    else:
        assert_stationary(prior, counts, shape, rate)


@every_prior
def test_topic_word_prior_fixed_point_has_zero_gradient(counts, shape, rate):
    prior = fixed_point(
        lambda prior: update_symmetric_dirichlet(
            prior, sum_rises(prior, counts), counts.sum(axis=1), counts.shape[1], shape, rate
        ),
        0.5,
    )
    assert_stationary(prior, counts, shape, rate)


def test_update_of_a_prior_keeps_the_floor():
    nothing = np.zeros((2, 3), dtype=int)
    frequencies = count_frequencies([nothing], 3)
    assert np.all(update_by_frequencies(np.full(3, 0.5), frequencies, 1.0, 0.1, False) == FLOOR)
    assert (
        update_symmetric_dirichlet(
            0.5, sum_rises(0.5, nothing), nothing.sum(axis=1), nothing.shape[1], 1.0, 0.1
        )
        == FLOOR
    )
