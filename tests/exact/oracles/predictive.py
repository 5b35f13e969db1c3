"""Predictive densities as ratios of evidences p(data, x) / p(data), from conjugate priors.

Gaussian vectors under mu ~ N(mean, Sigma / precision), Sigma ~ IW(freedom, scale), and counts under
lambda ~ Gamma(shape, rate). Each evidence is in closed form or by quadrature over the parameters.
"""

import math
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
from scipy import integrate, stats
from scipy.special import multigammaln


def log_gaussian_evidence(values, mean, precision, freedom, scale):
    """Return log p(values), (n, D), with mu and Sigma summed out, in closed form."""
    n, n_dims = values.shape
    weight = precision + n
    center = (precision * mean + values.sum(axis=0)) / weight
    posterior = scale + values.T @ values + precision * np.outer(mean, mean)
    posterior = posterior - weight * np.outer(center, center)
    result = multigammaln(0.5 * (freedom + n), n_dims) - multigammaln(0.5 * freedom, n_dims)
    result += 0.5 * freedom * np.linalg.slogdet(scale)[1]
    result -= 0.5 * (freedom + n) * np.linalg.slogdet(posterior)[1]
    return result + 0.5 * n_dims * (math.log(precision / weight) - n * math.log(math.pi))


def log_gaussian_predictive(x, values, *prior):
    """Return log p(x given values)."""
    joint = log_gaussian_evidence(np.vstack([values, x]), *prior)
    return joint - log_gaussian_evidence(values, *prior)


def log_gaussian_predictive_without(d, x, values, *prior):
    """Return log p(all of x but column d, given values), column d integrated out by quadrature."""

    def joint(y):
        return math.exp(log_gaussian_predictive(np.insert(x, d, y), values, *prior))

    pieces = [(-np.inf, -10.0), (-10.0, 0.0), (0.0, 10.0), (10.0, np.inf)]
    return math.log(sum(integrate.quad(joint, *piece, epsabs=0.0)[0] for piece in pieces))


def log_evidence_of_column(values, mean, precision, freedom, scale):
    """Return log p(values), (n,), by trapezoids over (mu - mean) / sigma and log sigma^2."""
    log_variances = np.linspace(-25.0, 150.0, 1401)[:, np.newaxis]
    deviations = np.exp(0.5 * log_variances)
    away = np.linspace(-16.0, 16.0, 801)
    logs = stats.norm.logpdf(away, scale=1.0 / math.sqrt(precision))
    # An inverse Wishart variance of one column, and the Jacobian of its logarithm.
    column = stats.invgamma.logpdf(deviations**2, 0.5 * freedom, scale=0.5 * scale) + log_variances
    logs = logs + column - len(values) * (0.5 * math.log(2.0 * math.pi) + np.log(deviations))
    for x in values:
        logs -= 0.5 * ((x - mean) / deviations - away) ** 2
    steps = (log_variances[1, 0] - log_variances[0, 0]) * (away[1] - away[0])
    shift = logs.max()
    return shift + math.log(np.exp(logs - shift).sum() * steps)


def log_count_evidence(counts, shape, rate):
    """Return log p(counts), (n,), by quadrature over the intensity."""

    def joint(intensity):
        likelihood = stats.poisson.pmf(counts, intensity).prod()
        return likelihood * stats.gamma.pdf(intensity, shape, scale=1.0 / rate)

    peak = (shape + sum(counts)) / (rate + len(counts))
    ends = [0.0, 0.5 * peak, peak, 2.0 * peak, 8.0 * peak, 40.0 * peak + 40.0]
    pieces = [integrate.quad(joint, *piece, epsabs=0.0, limit=200)[0] for piece in pairwise(ends)]
    return math.log(sum(pieces))


def log_negative_binomial(count, mean, shape):
    """Return the log probability of a count for a whole shape, in 60 digits, as a float."""
    with localcontext() as context:
        context.prec = 60
        whole, mean = Decimal(int(shape)), Decimal(mean)
        result = Decimal(math.comb(int(shape) + int(count) - 1, int(count))).ln()
        result += whole * (whole / (whole + mean)).ln()
        result += int(count) * (mean / (whole + mean)).ln()
        return float(result)
