"""Student t vectors as scale mixtures, and columns under a normal-inverse-Wishart prior.

x given u ~ N(mu, Sigma / u), u ~ Gamma(nu / 2, nu / 2), mu ~ N(mean, Sigma / precision), Sigma ~
IW(freedom, scale)."""

import math
from functools import cache

import numpy as np
from exact.oracles.normal_wishart import NormalWishart, log_evidence
from scipy import special, stats


def log_weighted_evidence(vectors, weights, *prior):
    """Return log p(vectors given their weights)."""
    return log_evidence(vectors, NormalWishart(*prior), weights)


@cache
def grid_of_column(mean, precision, freedom, scale):
    """Return mu, sigma and log prior weights on a grid of (mu - mean) / sigma and log sigma^2."""
    log_variances = np.linspace(-9.0, 12.0, 211)[:, np.newaxis]
    deviations = np.exp(0.5 * log_variances)
    away = np.linspace(-14.0, 14.0, 281)
    logs = stats.norm.logpdf(away, scale=1.0 / math.sqrt(precision))
    column = stats.invgamma.logpdf(deviations**2, 0.5 * freedom, scale=0.5 * scale) + log_variances
    logs = logs + column + math.log((log_variances[1, 0] - log_variances[0, 0]) * 0.1)
    return mean + deviations * away, np.broadcast_to(deviations, logs.shape), logs


def log_column_terms(values, nu, prior):
    """Return mu, sigma and log p(mu, sigma, values) on the grid."""
    mu, sigma, logs = grid_of_column(*prior)
    for x in values:
        if not math.isnan(x):
            logs = logs + stats.t.logpdf((x - mu) / sigma, nu) - np.log(sigma)
    return mu, sigma, logs


@cache
def log_column_evidence(values, nu, prior):
    """Return log p(values), (n,), of a column; NaN is missing."""
    return float(special.logsumexp(log_column_terms(values, nu, prior)[2]))
