"""Switching vector autoregressions: x = A a + noise, a = [x_t-1, ..., x_t-L, 1], by other means.

Sigma ~ IW(freedom, scale), A | Sigma ~ MN(coefs, Sigma, precision^-1)."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import special, stats


@dataclass(frozen=True)
class MatrixNormalInverseWishart:
    coefs: tuple[tuple[float, ...], ...]  # (D, K), the intercepts last
    precision: tuple[tuple[float, ...], ...]  # (K, K)
    freedom: float
    scale: tuple[tuple[float, ...], ...]  # (D, D)


def random_prior(rng, n_dims, width, freedom):
    """Return a prior of `width` regressors."""
    roots = rng.normal(size=(width, width)), rng.normal(size=(n_dims, n_dims))
    precision, scale = (root @ root.T + 0.5 * np.eye(len(root)) for root in roots)
    rows = [tuple(map(tuple, x)) for x in (rng.normal(size=(n_dims, width)), precision, scale)]
    return MatrixNormalInverseWishart(rows[0], rows[1], freedom, rows[2])


@dataclass(frozen=True)
class Normal:
    """The first L values of a sequence of one column, the last one first."""

    mean: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]


def pairs(sequences, n_lags, has_trend=False):
    """Return (a, x) of each step of all sequences, None for those without enough steps before.
    `n_lags` may be a list of lags. A trend is the number of the step, from 1, before the 1 of a."""
    found, lags = [], range(1, n_lags + 1) if isinstance(n_lags, int) else n_lags
    for sequence in sequences:
        values = [np.atleast_1d(np.array(x, dtype=float)) for x in sequence]
        for t, x in enumerate(values):
            if t < max(lags):
                found.append(None)
                continue
            before = [values[t - lag] for lag in lags]
            last = [t + 1.0, 1.0] if has_trend else [1.0]
            found.append((np.concatenate([*before, last]), x))
    return found


def update(known, prior):
    """Return M, C, nu, S after the steps (a, x), by adding them up."""
    coefs, precision = np.array(prior.coefs), np.array(prior.precision)
    scale, freedom = np.array(prior.scale), prior.freedom
    cross, squares = coefs @ precision, coefs @ precision @ coefs.T
    for a, x in known:
        precision = precision + np.outer(a, a)
        cross, squares = cross + np.outer(x, a), squares + np.outer(x, x)
        freedom += 1.0
    coefs = cross @ np.linalg.inv(precision)
    return coefs, precision, freedom, scale + squares - coefs @ precision @ coefs.T


def predictive(a, known, prior):
    """Return the distribution of the next x after a, a multivariate t."""
    coefs, precision, freedom, scale = update(known, prior)
    df = freedom - len(scale) + 1.0
    leverage = a @ np.linalg.inv(precision) @ a
    return stats.multivariate_t(coefs @ a, scale * (1.0 + leverage) / df, df=df)


def log_evidence(known, prior):
    """Return the log density of the steps of a state, one by one."""
    return sum(predictive(a, known[:i], prior).logpdf(x) for i, (a, x) in enumerate(known))


def log_evidence_by_quadrature(known, prior):
    """Return the same of one column with one lag, over slope, intercept and variance. Trapezoids
    over the log variance, and over z, where the coefficients are their prior means plus deviation
    times F z, F F^T the inverse of the precision."""
    (coefs,), ((scale,),) = np.array(prior.coefs), np.array(prior.scale)
    root = np.linalg.cholesky(np.linalg.inv(np.array(prior.precision)))
    grid = np.linspace(-9.0, 9.0, 181)
    z = np.stack(np.meshgrid(grid, grid, indexing="ij")).reshape(2, -1)
    terms = []
    log_variances = np.linspace(-14.0, 14.0, 281)
    for log_variance in log_variances:
        variance = math.exp(log_variance)
        slopes = coefs[:, np.newaxis] + math.sqrt(variance) * root @ z
        logs = stats.norm.logpdf(z).sum(axis=0)
        for a, x in known:
            logs = logs + stats.norm.logpdf(x[0], a @ slopes, math.sqrt(variance))
        prior_density = stats.invgamma.logpdf(variance, 0.5 * prior.freedom, scale=0.5 * scale)
        terms.append(special.logsumexp(logs) + prior_density + log_variance)
    steps = (grid[1] - grid[0]) ** 2 * (log_variances[1] - log_variances[0])
    return special.logsumexp(terms) + math.log(steps)


def log_evidence_with_gaps(sequences, states, n_lags, prior, starting, n_nodes=80):
    """Return the log evidence of steps of one column, with missing values (NaN) by quadrature. The
    first values, which count as given, are normal where they are missing, given the others."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    line, volumes = np.tan(0.5 * np.pi * nodes), 0.5 * np.pi * weights
    volumes = volumes / np.cos(0.5 * np.pi * nodes) ** 2
    values = np.concatenate([np.array(s)[:, 0] for s in sequences])
    missing = np.flatnonzero(np.isnan(values))
    places = np.array(list(product(range(n_nodes), repeat=len(missing))), dtype=int)
    filled = np.repeat(values[np.newaxis], len(places), axis=0)
    filled[:, missing] = line[places]
    logs = np.log(volumes[places]).sum(axis=1)
    known, begin = {}, 0
    for sequence in sequences:
        n = len(sequence)
        logs += log_first(
            filled[:, begin : begin + n_lags], values[begin : begin + n_lags], starting
        )
        for t in range(begin + n_lags, begin + n):
            a = [filled[:, t - lag] for lag in range(1, n_lags + 1)]
            pair = np.column_stack([*a, np.ones(len(filled))]), filled[:, t]
            known.setdefault(states[t], []).append(pair)
        begin += n
    for own in known.values():
        precision, cross = np.array(prior.precision), np.array(prior.coefs[0]) @ prior.precision
        square, freedom = prior.scale[0][0] + cross @ prior.coefs[0], prior.freedom
        for a, x in own:
            inverse = np.linalg.inv(precision)
            coefs = np.einsum("...k,...kl->...l", cross, inverse)
            scale = square - np.einsum("...k,...k->...", coefs, cross)
            leverage = np.einsum("...k,...kl,...l->...", a, inverse, a)
            deviation = np.sqrt(scale * (1.0 + leverage) / freedom)
            logs += stats.t.logpdf(x, freedom, (coefs * a).sum(axis=1), deviation)
            precision = precision + a[:, :, np.newaxis] * a[:, np.newaxis]
            cross, square, freedom = cross + x[:, np.newaxis] * a, square + x * x, freedom + 1.0
    return special.logsumexp(logs)


def log_first(filled, values, starting):
    """Return the log density of the missing ones among the first values given the others."""
    mean, covariance = np.array(starting.mean)[::-1], np.array(starting.covariance)[::-1, ::-1]
    hidden = np.isnan(values)
    if not hidden.any():
        return 0.0
    law = stats.multivariate_normal(mean, covariance)
    result = law.logpdf(filled.reshape(len(filled), -1))
    if not hidden.all():
        seen = ~hidden
        law = stats.multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)])
        result = result - law.logpdf(values[seen])
    return result
