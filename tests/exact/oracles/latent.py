"""What an HDP-HMM draws besides transitions: see `hdp_hmm.Latent`.

The concentration of symbols, locations, binary vectors, and parameters of two states' observations,
with similarities exp(-decay times a distance)."""

from functools import cache
from itertools import product

import numpy as np
from exact.oracles.hdp_hmm import Latent, gamma_quantile
from scipy import special, stats


def concentration(sequences, base, prior):
    """Symbols x with theta_j ~ Dirichlet(A base), A ~ Gamma(prior); theta is integrated out."""
    symbols = [int(v) for sequence in sequences for (v,) in sequence]

    def draw(points):
        a = gamma_quantile(points[:, 0], *prior)

        @cache
        def log_density_of(own):
            result = special.gammaln(a) - special.gammaln(a + len(own))
            for v in set(own):
                result += special.gammaln(a * base[v] + own.count(v))
                result -= special.gammaln(a * base[v])
            return result

        def log_density(states):
            pairs = sorted(zip(states, symbols, strict=True))
            return sum(log_density_of(tuple(v for z, v in pairs if z == j)) for j in set(states))

        return 0.0, log_density, np.log(a)[:, np.newaxis]

    return Latent(1, draw)


def locations(n_states, decay):
    """Locations on a line, N(0, 1); figures are the similarities."""

    def draw(points):
        x = special.ndtri(points)
        log_phi = -0.5 * decay * (x[:, :, np.newaxis] - x[:, np.newaxis]) ** 2
        upper = np.triu_indices(n_states, 1)
        return log_phi, lambda states: 0.0, np.exp(log_phi[:, *upper])

    return Latent(n_states, draw)


def vectors(sequences, n_states, decay, weights, precision, prior):
    """Binary vectors, bits Bernoulli(mu_f) with mu_f ~ Beta(prior); x_t ~ N((1, vector) weights).
    All of them are listed, and one is looked up. Figures are the bits and the similarities."""
    values, n_factors = np.concatenate(sequences)[:, 0], len(weights) - 1
    every = np.array(list(product((0, 1), repeat=n_states * n_factors)))
    every = every.reshape(-1, n_states, n_factors)
    on, (p, q) = every.sum(axis=1), prior
    chances = np.exp(special.betaln(p + on, q + n_states - on) - special.betaln(p, q))
    ends = np.cumsum(chances.prod(axis=1))

    def draw(points):
        bits = every[np.searchsorted(ends, points[:, 0] * ends[-1])]
        log_phi = -decay * (bits[:, :, np.newaxis] != bits[:, np.newaxis]).sum(axis=3)
        means = weights[0] + bits @ np.array(weights[1:])
        logs = stats.norm.logpdf(values, means[:, :, np.newaxis], precision**-0.5)  # (n, J, T)
        figures = bits.reshape(len(bits), -1), np.exp(log_phi[:, *np.triu_indices(n_states, 1)])
        steps = np.arange(len(values))
        return log_phi, lambda states: logs[:, states, steps].sum(axis=1), np.hstack(figures)

    return Latent(1, draw)


def hellinger(log_affinity):
    """Return sqrt(1 - BC)."""
    return np.sqrt(np.maximum(1.0 - np.exp(log_affinity), 0.0))


def bhattacharyya(log_affinity):
    """Return -log BC."""
    return -log_affinity


METRICS = {"hellinger": hellinger, "bhattacharyya": bhattacharyya}


def observations(sequences, metric, decay, decay_prior, prior, concentration_prior, *, is_count):
    """Bits with probabilities Beta(prior) of 1, or Poisson counts with means Gamma(prior). With a
    prior of the concentration A bits have Beta(A / 2, A / 2). Of two states log BC = log int sqrt(f
    f') dx. Figures: see `figures_of`."""
    x = np.array([value for sequence in sequences for (value,) in sequence])

    def draw(points):
        lam = np.full(len(points), decay) if decay else gamma_quantile(points[:, 2], *decay_prior)
        p, q, log_a = *prior, 0.0
        if concentration_prior is not None:
            a = gamma_quantile(points[:, 3], *concentration_prior)
            p = q = 0.5 * a[:, np.newaxis]
            log_a = np.log(a)
        if is_count:
            theta = gamma_quantile(points[:, :2], p, q)
            logs = stats.poisson.logpmf(x, theta[:, :, np.newaxis])
            roots = np.sqrt(theta)
            log_affinity = -0.5 * (roots[:, 0] - roots[:, 1]) ** 2
        else:
            theta = np.maximum(special.betaincinv(p, q, points[:, :2]), 1e-300)
            rest = np.maximum(special.betaincinv(q, p, 1.0 - points[:, :2]), 1e-300)
            logs = np.log(np.where(x == 1, theta[:, :, np.newaxis], rest[:, :, np.newaxis]))
            log_affinity = np.log(np.sqrt(theta).prod(axis=1) + np.sqrt(rest).prod(axis=1))
        log_phi = np.zeros((len(points), 2, 2))
        log_phi[:, 0, 1] = log_phi[:, 1, 0] = -lam * METRICS[metric](log_affinity)
        figures = figures_of(theta, lam, log_phi[:, 0, 1], log_a)
        steps = np.arange(len(x))
        return log_phi, lambda states: logs[:, states, steps].sum(axis=1), figures

    return Latent(4, draw)


def figures_of(theta, decay, log_phi, log_a):
    """Return the parameters of both states, their difference, phi, the decay and log A."""
    away = np.abs(theta[..., 0] - theta[..., 1])
    figures = theta[..., 0], theta[..., 1], away, np.exp(log_phi), decay, log_a
    return np.stack(np.broadcast_arrays(*figures), axis=-1)
