"""Binary vectors of states by enumeration, from the joint density in plain Python.

Column d of an observation in state j has mean w_0d + sum_f theta_jf w_fd: a normal column of
precision tau_d, or one that is 1 with probability Phi(mean). With an amplitude variance the
columns, all of them normal, have covariances sum_f theta_jf w_fd w_fe times it, too. theta_jf ~
Bernoulli(mu_f), mu_f ~ Beta(p, q). With transitions n and rates pi there is a factor
prod_jk (phi_jk / T_j)^n_jk, phi = exp(-decay Hamming) and T_j = sum_k pi_jk phi_jk.
"""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import special, stats


@dataclass(frozen=True)
class Problem:
    values: tuple[tuple[float, ...], ...]
    states: tuple[int, ...]
    weights: tuple[tuple[float, ...], ...]  # the background in row 0
    precisions: tuple[float, ...]
    probit: tuple[bool, ...]
    n_states: int = 2
    activity_prior: tuple[float, float] = (1.0, 1.0)
    decay: float | None = None
    counts: tuple[tuple[int, ...], ...] = ()
    log_rates: tuple[tuple[float, ...], ...] = ()
    amplitude_variance: float = 0.0


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


def log_coupling(factors, decay, counts, log_rates):
    factors = np.asarray(factors)
    log_phi = -decay * (factors[:, np.newaxis] != factors).sum(axis=2)
    log_totals = special.logsumexp(np.array(log_rates)[:-1] + log_phi, axis=1, keepdims=True)
    return float((np.array(counts)[:-1] * (log_phi - log_totals)).sum())


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
        if problem.decay is not None:
            log_joint += log_coupling(factors, problem.decay, problem.counts, problem.log_rates)
        logs.append(log_joint)
    return special.softmax(logs)
