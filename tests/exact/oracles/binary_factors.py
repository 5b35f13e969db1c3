"""Binary vectors of states by enumeration, from the joint density in plain Python.

Column d of an observation in state j has mean w_0d + sum_f theta_jf w_fd: a normal column with
noise, or one that is 1 with probability Phi(mean). With transitions n and rates pi there is a
factor prod_jk (phi_jk / T_j)^n_jk, phi = exp(-decay Hamming) and T_j = sum_k pi_jk phi_jk.

`Problem` has a given number of factors of given weights: theta_jf ~ Bernoulli(mu_f), mu_f ~
Beta(p, q). With an amplitude variance the columns, all of them normal, have covariances
sum_f theta_jf w_fd w_fe times it, too.

`BuffetProblem` has any number of factors: a number for each of the 2^J - 1 columns that are not
empty. Given the mass alpha, the number of factors with a column of m ones is Poisson with mean
alpha q B(m, J - m + q). The mass has a Gamma prior, and sets of more than `most` factors are
impossible. Weights are N(0, s^2), so given the set the means of the states are normal with
covariance s^2 (1 + theta theta^T)."""

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np
from scipy import special, stats


@dataclass(frozen=True, kw_only=True)
class Steps:
    values: tuple[tuple[float, ...], ...]
    states: tuple[int, ...]
    probit: tuple[bool, ...]
    n_states: int = 2
    decay: float | None = None
    counts: tuple[tuple[int, ...], ...] = ()
    log_rates: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Problem(Steps):
    weights: tuple[tuple[float, ...], ...]  # the background in row 0
    precisions: tuple[float, ...]
    activity_prior: tuple[float, float] = (1.0, 1.0)
    amplitude_variance: float = 0.0


@dataclass(frozen=True, kw_only=True)
class BuffetProblem(Steps):
    scale: float
    noise: tuple[float, ...]
    concentration: float = 1.0
    mass_prior: tuple[float, float] = (2.0, 2.0)
    most: int = 24


def log_density_of_varying(row, vector, weights, precisions, variance):
    seen = ~np.isnan(row)
    if not seen.any():
        return 0.0
    weights = np.array(weights)
    on = weights[1:][np.array(vector) == 1]
    covariance = np.diag(1.0 / np.array(precisions)) + variance * on.T @ on
    mean = weights[0] + on.sum(axis=0)
    return stats.multivariate_normal.logpdf(
        np.array(row)[seen], mean[seen], covariance[np.ix_(seen, seen)]
    )


def log_likelihood(values, states, factors, weights, precisions, probit, variance=0.0):
    if variance > 0.0:
        return sum(
            log_density_of_varying(row, factors[j], weights, precisions, variance)
            for row, j in zip(values, states, strict=True)
        )
    result = 0.0
    for row, j in zip(values, states, strict=True):
        for d, value in enumerate(row):
            if math.isnan(value):
                continue
            mean = weights[0][d] + sum(weights[f + 1][d] for f, on in enumerate(factors[j]) if on)
            if probit[d]:
                result += stats.norm.logcdf(mean if value == 1.0 else -mean)
            else:
                result += stats.norm.logpdf(value, mean, precisions[d] ** -0.5)
    return result


def log_prior(factors, p, q):
    n_states = len(factors)
    on = np.sum(factors, axis=0)
    return float((special.betaln(p + on, q + n_states - on) - special.betaln(p, q)).sum())


def log_coupling(factors, problem):
    if problem.decay is None:
        return 0.0
    factors = np.asarray(factors)
    log_phi = -problem.decay * (factors[:, np.newaxis] != factors).sum(axis=2)
    log_rates = np.array(problem.log_rates)[:-1]
    log_totals = special.logsumexp(log_rates + log_phi, axis=1, keepdims=True)
    return float((np.array(problem.counts)[:-1] * (log_phi - log_totals)).sum())


def configurations(n_states, n_factors):
    """Return all vectors of all states, (2^(J F), J, F)."""
    bits = list(product((0, 1), repeat=n_states * n_factors))
    return np.array(bits).reshape(-1, n_states, n_factors)


def expect(problem):
    """Return the probabilities of all configurations."""
    logs = []
    for factors in configurations(problem.n_states, len(problem.weights) - 1):
        log_joint = log_prior(factors, *problem.activity_prior) + log_likelihood(
            problem.values, problem.states, factors, problem.weights, problem.precisions,
            problem.probit, problem.amplitude_variance,
        )  # fmt: skip
        logs.append(log_joint + log_coupling(factors, problem))
    return special.softmax(logs)


# An Indian buffet


def sets(n_states, most):
    """Yield all sets of up to `most` factors: matrices (J, K), and the numbers of each column."""
    columns = [column for column in product((0, 1), repeat=n_states) if any(column)]
    for n_factors in range(most + 1):
        for chosen in combinations_with_replacement(range(len(columns)), n_factors):
            matrix = np.array([columns[c] for c in chosen], dtype=int).reshape(n_factors, n_states)
            yield matrix.T, np.bincount(chosen, minlength=len(columns))


def log_set_prior(matrix, numbers, concentration, mass_prior):
    """Return log p(set), up to a constant, with the mass integrated out."""
    n_states, n_factors = matrix.shape
    shape, rate = mass_prior
    expected = sum(concentration / (concentration + i) for i in range(n_states))
    result = math.lgamma(shape + n_factors) - (shape + n_factors) * math.log(rate + expected)
    for m in matrix.sum(axis=0):
        result += math.log(concentration) + special.betaln(m, n_states - m + concentration)
    return result - special.gammaln(numbers + 1.0).sum()


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


def log_set_joint(problem, matrix, numbers):
    values, states = np.array(problem.values, dtype=float), np.array(problem.states)
    result = log_set_prior(matrix, numbers, problem.concentration, problem.mass_prior)
    covariance = problem.scale**2 * (1.0 + matrix @ matrix.T)
    covariance = covariance + 1e-12 * np.eye(len(covariance))
    for d, is_probit in enumerate(problem.probit):
        if is_probit:
            result += log_probit(values[:, d], states, covariance)
        else:
            result += log_normal(values[:, d], states, covariance, problem.noise[d])
    return float(result) + log_coupling(matrix, problem)


def describe(numbers, highest=2):
    """Return the statistics of a posterior: the numbers (n, C) of factors by column, and cut."""
    width = numbers.shape[1]
    cells = np.minimum(numbers, highest)[:, :3] @ (highest + 1) ** np.arange(min(width, 3))
    total = np.minimum(numbers.sum(axis=1), 6)
    pairs = numbers[:, :, np.newaxis] * numbers[:, np.newaxis]
    return np.hstack([
        np.eye((highest + 1) ** min(width, 3))[cells], numbers, pairs[:, *np.triu_indices(width)],
        np.eye(7)[total],
    ])  # fmt: skip


def expect_set(problem, most):
    """Return the posterior means of `describe`, of sets of up to `most` factors."""
    every = list(sets(problem.n_states, min(most, problem.most)))
    logs = [log_set_joint(problem, *each) for each in every]
    return special.softmax(logs) @ describe(np.array([numbers for _, numbers in every]))
