"""Transitions of a row with their rates summed out, against quadrature and Monte Carlo."""

import numpy as np
import pytest
from scipy import integrate, special

from skdp.sequence._hmm import _kernels_transitions as kernels

ROWS = {
    "similar": ([3, 0, 1], [0.5, 1.2, 0.3], [1.0, 0.3, 0.05]),
    "far": ([0, 2, 2], [0.8, 0.4, 2.0], [1e-3, 1e-5, 1e-4]),
    "one state": ([0, 5, 0], [0.1, 0.2, 0.3], [0.5, 0.9, 0.1]),
    "small shapes": ([1, 0, 2], [0.02, 0.03, 0.01], [0.7, 1.0, 0.2]),
    "no self-transitions": ([0, 2, 1], [0.7, 0.4, 0.6], [0.0, 1.0, 0.3]),
}


def log_probability(counts, shapes, phi):
    with np.errstate(divide="ignore"):
        return kernels.log_probability_of_row(
            np.array(counts), np.array(shapes), np.log(phi), np.empty(len(counts))
        )


@pytest.mark.parametrize("case", ROWS)
def test_by_quadrature(case):
    """Times u drawn given rates have density u^(n - 1) exp(-u T); rates are summed out first."""
    counts, shapes, phi = map(np.array, ROWS[case])
    n = counts.sum()

    def density(log_u):
        terms = (shapes + counts) * np.logaddexp(0.0, np.log(np.maximum(phi, 1e-300)) + log_u)
        return np.exp(n * log_u - terms.sum())

    integral, _ = integrate.quad(density, -40.0, 1500.0, points=[0, 5, 20, 100], limit=5000)
    gammas = special.gammaln(shapes + counts) - special.gammaln(shapes)
    expected = np.log(integral) - special.gammaln(n) + gammas.sum()
    expected += special.xlogy(counts, phi).sum()
    np.testing.assert_allclose(log_probability(counts, shapes, phi), expected, rtol=1e-6)


@pytest.mark.parametrize("case", ["similar", "far", "one state", "no self-transitions"])
def test_by_monte_carlo(case):
    """The mean of prod P^n over rates drawn from their prior; |z| < 5."""
    counts, shapes, phi = map(np.array, ROWS[case])
    rates = np.random.default_rng(0).gamma(shapes, size=(400_000, len(shapes))) * phi
    values = ((rates / rates.sum(axis=1, keepdims=True)) ** counts).prod(axis=1)
    error = values.std() / np.sqrt(len(values))
    assert abs(np.exp(log_probability(counts, shapes, phi)) - values.mean()) < 5.0 * error


def test_without_similarities():
    """A Dirichlet-multinomial, and its limit from similarities close to 1."""
    for shapes in ([0.5, 1.0, 2.0], [1e-5, 2e-5, 1e-6]):
        shapes = np.array(shapes)
        counts = np.array([2, 0, 3])
        n, mass = counts.sum(), shapes.sum()
        expected = (special.gammaln(shapes + counts) - special.gammaln(shapes)).sum()
        expected += special.gammaln(mass) - special.gammaln(mass + n)
        np.testing.assert_allclose(log_probability(counts, shapes, np.ones(3)), expected)
        near = log_probability(counts, shapes, np.full(3, 1.0 - 1e-13))
        np.testing.assert_allclose(near, expected, rtol=1e-8)


def test_no_transitions():
    assert log_probability([0, 0], [0.1, 1.0], [0.5, 0.5]) == 0.0


def test_changes_of_state_are_counted():
    """Empty sequences, steps between sequences and stays in a state are not counted."""
    ptr, states = np.array([0, 5, 5, 6, 9]), np.array([0, 0, 2, 2, 0, 1, 1, 1, 2])
    counts = np.full((4, 3), 7)
    kernels.count_changes(ptr, states, counts)
    assert counts.tolist() == [[0, 0, 1], [0, 0, 1], [1, 0, 0], [1, 2, 0]]
