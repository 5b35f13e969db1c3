"""Locations of states and their decay: gradients, trajectories, and the posterior by quadrature.

The rates of transitions and their numbers are given; an oracle in plain numpy has the density."""

import numpy as np
import pytest
from exact.oracles.batch_means import check_chain
from exact.oracles.quadrature import gamma_quadrature
from scipy.special import logsumexp

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence._kernels import _locations as kernels
from skdp.sequence._similarities._gaussian import N_ADAPTING, GaussianSimilaritySampler


def log_posterior(locations, decay, counts, log_rates):
    """Return log p(transitions | locations, decay) p(locations), up to a constant; (D, J)."""
    squares = np.sum((locations[:, :, None] - locations[:, None]) ** 2, axis=0)
    log_weights = log_rates[:-1] - 0.5 * decay * squares
    log_p = log_weights - logsumexp(log_weights, axis=1, keepdims=True)
    return np.sum(counts[:-1] * log_p) - 0.5 * np.sum(locations**2)


def make_problem(seed, n_states=7, n_dims=3):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.7, (n_states + 1, n_states))
    counts[[1, 4]] = 0  # never left
    counts[:, 1] = 0  # nor entered
    log_rates = np.log(rng.gamma(0.3, size=counts.shape))
    log_rates[0, 0], log_rates[2, 3], log_rates[3, 1:] = -1000.0, -1e5, -1000.0
    return rng.normal(size=(n_dims, n_states)), counts, log_rates


class Kernel:
    """The kernels' arrays of a problem."""

    def __init__(self, locations, counts, log_rates, decay):
        self.decay = decay
        self.departures = kernels.Departures.of(counts, log_rates)
        self.halves, self.shares = np.empty((2, *self.departures.counts.shape))
        self.work = np.empty((2 * len(locations) + 2, len(self.departures.n)))
        self.inverse_mass = np.empty(locations.shape[1])
        kernels.write_inverse_mass(self.departures, decay, self.inverse_mass)

    def gradient(self, locations):
        out = np.empty(locations.shape)
        kernels.write_gradient(
            locations, self.departures, self.decay, self.halves, self.shares, self.work, out
        )
        return out

    def log_posterior(self, locations):
        kernels.write_halves(locations, self.departures.rows, self.halves, self.work)
        result = kernels.log_likelihood(
            self.halves, self.departures, self.decay, self.shares, self.work
        )
        return result - 0.5 * np.sum(locations**2)

    def leapfrog(self, locations, momentum, step, n_steps):
        locations, momentum = locations.copy(), momentum.copy()
        kernels.leapfrog(
            locations, momentum, self.gradient(locations), self.departures, self.decay,
            self.inverse_mass, step, n_steps, self.halves, self.shares, self.work,
        )  # fmt: skip
        return locations, momentum

    def energy(self, locations, momentum):
        kinetic = kernels.kinetic_energy(self.inverse_mass, momentum)
        return kinetic - self.log_posterior(locations)


@pytest.mark.parametrize("decay", [1e-3, 1.0, 20.0, 1e4])
def test_log_posterior(decay):
    """Differences, since each row's rates are known up to a factor only."""
    here, counts, log_rates = make_problem(0)
    there = np.random.default_rng(1).normal(size=here.shape)
    kernel = Kernel(here, counts, log_rates, decay)
    found = kernel.log_posterior(here) - kernel.log_posterior(there)
    args = decay, counts, log_rates
    assert found == pytest.approx(
        log_posterior(here, *args) - log_posterior(there, *args), rel=1e-9
    )


@pytest.mark.parametrize("decay", [1e-3, 1.0, 20.0])
@pytest.mark.parametrize("n_states", [2, 7, 21])
def test_gradient(decay, n_states):
    locations, counts, log_rates = make_problem(1, max(n_states, 5))
    locations = locations[:, :n_states]
    counts = np.vstack([counts[:n_states, :n_states], counts[-1:, :n_states]])
    log_rates = np.vstack([log_rates[:n_states, :n_states], log_rates[-1:, :n_states]])
    found = Kernel(locations, counts, log_rates, decay).gradient(locations)
    expected = np.empty(locations.shape)
    for index in np.ndindex(locations.shape):
        values = []
        for shift in (-2e-3, -1e-3, 1e-3, 2e-3):  # of the fourth order
            moved = locations.copy()
            moved[index] += shift
            values.append(log_posterior(moved, decay, counts, log_rates))
        expected[index] = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / 12e-3
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_leapfrog_is_reversible():
    locations, counts, log_rates = make_problem(2)
    kernel = Kernel(locations, counts, log_rates, 1.5)
    momentum = np.random.default_rng(0).normal(size=locations.shape)
    there, flipped = kernel.leapfrog(locations, momentum, 0.05, 20)
    assert np.abs(there - locations).max() > 0.1
    back, momentum_back = kernel.leapfrog(there, -flipped, 0.05, 20)
    np.testing.assert_allclose(back, locations, atol=1e-9)
    np.testing.assert_allclose(-momentum_back, momentum, atol=1e-9)


def test_energy_error_is_of_second_order():
    locations, counts, log_rates = make_problem(3)
    kernel = Kernel(locations, counts, log_rates, 1.5)
    momentum = np.random.default_rng(0).normal(size=locations.shape)
    before = kernel.energy(locations, momentum)
    errors = [
        abs(kernel.energy(*kernel.leapfrog(locations, momentum, 0.4 / n, n)) - before)
        for n in (20, 40, 80)
    ]
    assert errors[0] < 0.1
    assert 3.5 < errors[0] / errors[1] < 4.5
    assert 3.5 < errors[1] / errors[2] < 4.5


TWO = np.array([[1, 6], [2, 3], [1, 0]]), np.log([[1.0, 4.0], [3.0, 0.5], [1.0, 1.0]])
THREE = (
    np.array([[2, 5, 0], [1, 1, 3], [0, 0, 0], [1, 0, 0]]),
    np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
)


def functions(locations, decay):
    """Return phi_12, decay, l_1^2, l_1 l_2 and |l_2 - l_last|^2."""
    half = 0.5 * (locations[..., 0] - locations[..., 1]) ** 2
    return np.stack(
        [
            np.exp(-decay * half), decay + 0.0 * half, locations[..., 0] ** 2,
            locations[..., 0] * locations[..., 1],
            (locations[..., 1] - locations[..., -1]) ** 2,
        ],
        axis=-1,
    )  # fmt: skip


def expect(counts, log_rates, prior, decay):
    """Return posterior means of `functions` in one dimension, by trapezoids in all of them."""
    n_states = counts.shape[1]
    grid = np.linspace(-6.0, 6.0, 121 if n_states == 2 else 31)
    locations = np.stack(np.meshgrid(*[grid] * n_states, indexing="ij"), axis=-1)
    nodes, weights = gamma_quadrature(*prior, step=0.4) if decay is None else ([decay], [1.0])
    squares = (locations[..., :, None] - locations[..., None, :]) ** 2
    total, sums = 0.0, 0.0
    for value, weight in zip(nodes, weights, strict=True):
        if weight < 1e-9:
            continue
        log_weights = log_rates[:-1] - 0.5 * value * squares
        log_p = log_weights - logsumexp(log_weights, axis=-1, keepdims=True)
        density = np.sum(counts[:-1] * log_p, axis=(-1, -2)) - 0.5 * np.sum(locations**2, axis=-1)
        density = weight * np.exp(density)
        total += density.sum()
        sums += (density[..., None] * functions(locations, value)).reshape(-1, 5).sum(axis=0)
    return sums / total


@pytest.mark.parametrize(
    ("problem", "prior", "decay"),
    [(TWO, (1.0, 1.0), None), (TWO, (0.5, 0.1), None), (TWO, (1.0, 1.0), 3.0),
     (THREE, (2.0, 1.0), None), (THREE, (1.0, 1.0), 1.0)],
    ids=["two", "two, wide", "two, fixed", "three", "three, fixed"],
)  # fmt: skip
def test_posterior(problem, prior, decay):
    sampler = GaussianSimilaritySampler(problem[0].shape[1], 1, decay, prior)
    rng = make_stream(make_seed_sequence(0))
    sampler.start(None, rng)
    expected = expect(*problem, prior, decay)
    for _ in range(N_ADAPTING):
        sampler.draw(*problem, None, rng)

    def step():
        sampler.draw(*problem, None, rng)
        return functions(sampler.locations[0], sampler.decay)

    check_chain(step, lambda draws: [(draws, expected, "locations and decay")], 12_000)
