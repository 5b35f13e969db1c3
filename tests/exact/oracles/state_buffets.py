"""Binary vectors of states under an Indian buffet by enumeration, in plain Python.

A set of factors is a number for each of the 2^J - 1 columns that are not empty. Given the mass
alpha, the number of factors with a column of m ones is Poisson with mean alpha q B(m, J - m + q).
The mass has a Gamma prior, and sets of more than `most` factors are impossible.

The mean of column d of X in state j is w_0d + sum_f theta_jf w_fd, with weights N(0, s^2), so given
the set the means of the states are normal with covariance s^2 (1 + theta theta^T). Normal columns
have noise of a given variance; probit columns are 1 with probability Phi(mean).
"""

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np
from exact.oracles.binary_factors import log_coupling
from scipy import special, stats


@dataclass(frozen=True)
class BuffetProblem:
    values: tuple[tuple[float, ...], ...]
    states: tuple[int, ...]
    scale: float
    noise: tuple[float, ...]
    probit: tuple[bool, ...]
    n_states: int = 2
    concentration: float = 1.0
    mass_prior: tuple[float, float] = (2.0, 2.0)
    most: int = 24
    decay: float | None = None
    counts: tuple[tuple[int, ...], ...] = ()
    log_rates: tuple[tuple[float, ...], ...] = ()


def columns(n_states):
    return [column for column in product((0, 1), repeat=n_states) if any(column)]


def matrices(n_states, most):
    """Return the matrices (J, K) of all sets of up to `most` factors."""
    return [
        np.array(chosen, dtype=int).reshape(n_factors, n_states).T
        for n_factors in range(most + 1)
        for chosen in combinations_with_replacement(columns(n_states), n_factors)
    ]


def numbers_of(matrix):
    """Return the number of factors with each column, in the order of `columns`."""
    found = [tuple(int(bit) for bit in column) for column in np.asarray(matrix).T]
    return np.array([found.count(column) for column in columns(len(matrix))])


def log_prior(matrix, concentration, mass_prior):
    """Return log p(set), up to a constant, with the mass integrated out."""
    n_states, n_factors = matrix.shape
    shape, rate = mass_prior
    expected = sum(concentration / (concentration + i) for i in range(n_states))
    result = math.lgamma(shape + n_factors) - (shape + n_factors) * math.log(rate + expected)
    for m in matrix.sum(axis=0):
        result += math.log(concentration) + special.betaln(m, n_states - m + concentration)
    return result - sum(math.lgamma(number + 1.0) for number in numbers_of(matrix))


def log_normal(values, states, covariance, noise):
    """Return log p(values of a normal column)."""
    seen = ~np.isnan(values)
    own = covariance[np.ix_(states[seen], states[seen])] + noise * np.eye(seen.sum())
    return stats.multivariate_normal.logpdf(values[seen], cov=own) if seen.any() else 0.0


def log_probit(values, states, covariance, n_nodes=40):
    """Return log p(values of a probit column), by Gauss-Hermite quadrature over the means."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
    n_states = len(covariance)
    grid = np.stack(np.meshgrid(*[nodes] * n_states, indexing="ij"), axis=-1)
    mass = np.ones(grid.shape[:-1])
    for axis in np.meshgrid(*[weights / weights.sum()] * n_states, indexing="ij"):
        mass = mass * axis
    means = grid @ np.linalg.cholesky(covariance).T
    for value, j in zip(values, states, strict=True):
        if not math.isnan(value):
            mass = mass * special.ndtr(means[..., j] if value == 1.0 else -means[..., j])
    return math.log(mass.sum())


def log_joint(problem, matrix):
    values, states = np.array(problem.values, dtype=float), np.array(problem.states)
    result = log_prior(matrix, problem.concentration, problem.mass_prior)
    covariance = problem.scale**2 * (1.0 + matrix @ matrix.T)
    covariance = covariance + 1e-12 * np.eye(len(covariance))
    for d, is_probit in enumerate(problem.probit):
        if is_probit:
            result += log_probit(values[:, d], states, covariance)
        else:
            result += log_normal(values[:, d], states, covariance, problem.noise[d])
    if problem.decay is not None:
        result += log_coupling(matrix, problem.decay, problem.counts, problem.log_rates)
    return float(result)


def describe(matrix, highest=2):
    """Return what a posterior is compared by: the numbers of factors by column, cut and as such."""
    numbers = numbers_of(matrix)
    cut = np.minimum(numbers, highest)
    cells = np.zeros((highest + 1,) * min(len(numbers), 3))
    cells[tuple(cut[:3])] = 1.0
    pairs = np.outer(numbers, numbers)[np.triu_indices(len(numbers))]
    total = np.zeros(7)
    total[min(numbers.sum(), 6)] = 1.0
    return np.concatenate([cells.ravel(), numbers, pairs, total])


def expect(problem, most):
    """Return the posterior means of `describe`, of sets of up to `most` factors."""
    every = matrices(problem.n_states, min(most, problem.most))
    logs = [log_joint(problem, matrix) for matrix in every]
    return special.softmax(logs) @ np.array([describe(matrix) for matrix in every])
