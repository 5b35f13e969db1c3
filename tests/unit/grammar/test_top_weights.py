"""Maximizing over top-level weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp.grammar._top_weights import MIN_WEIGHT, Family, TopPrior, log_joint, maximize

RNG = np.random.default_rng(0)
PRIORS = [TopPrior(kind, gamma) for kind in ("gem", "dirichlet") for gamma in (0.3, 1.0, 8.0)]

every_prior = pytest.mark.parametrize("prior", PRIORS, ids=lambda p: f"{p.kind} {p.concentration}")


def families(n, m, scale=5.0):
    return [
        Family(1.5, 0, None, RNG.gamma(0.5, scale, (1, n))),
        Family(0.7, 0, 0, RNG.gamma(0.3, scale, (m, n, n))),
        Family(0.2, 0, 1, RNG.gamma(0.3, scale, (m, n, m))),
        Family(2.0, 1, 1, RNG.gamma(0.3, scale, (m, m, m))),
    ]


@every_prior
def test_maximum(prior):
    """Weights stay on the simplex and above the floor; L rises, and a second call adds little."""
    rows = families(4, 3)
    start = [np.full(4, 0.25), np.full(3, 1.0 / 3.0)]
    found = maximize(prior, rows, start)
    for beta in found:
        assert_allclose(beta.sum(), 1.0)
        assert np.all(beta >= MIN_WEIGHT)
    gain = log_joint(prior, rows, found) - log_joint(prior, rows, start)
    assert gain > 0.0
    again = maximize(prior, rows, found)
    assert (
        0.0 <= log_joint(prior, rows, again) - log_joint(prior, rows, found) < 1e-3 * (1.0 + gain)
    )


@every_prior
def test_maximum_of_one_number(prior):
    """Against a grid over two weights."""
    rows = [Family(3.0, 0, 0, RNG.gamma(0.5, 8.0, (2, 2, 2)))]
    grid = np.linspace(0.0, 1.0, 4001)[1:-1]
    values = [log_joint(prior, rows, [np.array([share, 1.0 - share])]) for share in grid]
    (found,) = maximize(prior, rows, [np.array([0.5, 0.5])])
    here = log_joint(prior, rows, [found])
    nearest = np.argmin(np.abs(grid - found[0]))
    near = slice(max(0, nearest - 100), nearest + 100)
    assert here >= max(values[near]) - 1e-6


def test_nothing_counted():
    """The prior alone: a small shape drives weights to the floor, a large one makes them equal."""
    rows = [Family(1.0, 0, 0, np.zeros((3, 3, 3)))]
    start = [np.array([0.5, 0.3, 0.2])]
    (floored,) = maximize(TopPrior("dirichlet", 0.01), rows, start)
    assert_allclose(floored.max(), 1.0, atol=0.01)
    assert floored.min() >= MIN_WEIGHT
    (equal,) = maximize(TopPrior("dirichlet", 300.0), rows, start)
    assert_allclose(equal, 1.0 / 3.0, atol=1e-4)


def test_weights_near_the_floor_may_rise():
    counts = np.zeros((1, 2, 2))
    counts[0, 1, 1] = 500.0
    counts[0, 0, 0] = 500.0
    rows = [Family(5.0, 0, 0, counts)]
    start = [np.array([2.0 * MIN_WEIGHT, 1.0 - 2.0 * MIN_WEIGHT])]
    (found,) = maximize(TopPrior("dirichlet", 4.0), rows, start)
    assert found[0] > 0.01


def test_one_symbol():
    rows = [Family(1.0, 0, 0, np.ones((1, 1, 1)))]
    for prior in PRIORS:
        assert prior.log_density(np.ones(1)) == 0.0
        assert_array_equal(prior.gradient(np.ones(1)), 0.0)
        assert_allclose(maximize(prior, rows, [np.ones(1)]), [[1.0]])


def test_prior_of_a_family():
    weights = [np.array([0.2, 0.8]), np.array([0.5, 0.3, 0.2])]
    counts = np.zeros((1, 2, 3))
    assert_allclose(Family(2.0, 0, 1, counts).prior(weights), 2.0 * np.outer(*weights))
    assert_allclose(Family(2.0, 1, None, counts[:, 0]).prior(weights), 2.0 * weights[1])


def test_order_of_gem():
    prior = TopPrior("gem", 1.0)
    assert_array_equal(prior.best_order(np.array([0.1, 0.7, 0.2])), [1, 2, 0])
    assert_array_equal(prior.best_order(np.array([0.25] * 4)), range(4))
    other = TopPrior("dirichlet", 1.0)
    assert_array_equal(other.best_order(np.array([0.1, 0.7, 0.2])), range(3))
