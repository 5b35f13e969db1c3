"""Latent features of an Indian buffet by enumeration, in plain Python.

Columns of X are normal with covariance v I + u Z Z^T, where v and u may differ from column to
column; entries that are NaN are left out. A class
[Z] is a multiset of columns that are not all 0, whose probability is (Griffiths and Ghahramani)

    exp(-alpha H) alpha^K / prod_h K_h! prod_k (N - m_k)! (m_k - 1)! / N!.

Classes of more than `most` features are left out.
"""

import math
from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
from scipy import special, stats


def classes(n_rows, most):
    """Return matrices (N, K) of all classes of up to so many features."""
    columns = [column for column in product((0, 1), repeat=n_rows) if any(column)]
    return [
        np.array(chosen, dtype=float).reshape(n_features, n_rows).T
        for n_features in range(most + 1)
        for chosen in combinations_with_replacement(columns, n_features)
    ]


def log_class(features, concentration):
    """Return the log probability of a class."""
    n_rows, n_features = features.shape
    result = n_features * math.log(concentration)
    result -= concentration * sum(1.0 / i for i in range(1, n_rows + 1))
    for repeats in Counter(map(tuple, features.T)).values():
        result -= math.lgamma(repeats + 1.0)
    for m in features.sum(axis=0):
        result += math.lgamma(m) + math.lgamma(n_rows - m + 1.0) - math.lgamma(n_rows + 1.0)
    return result


def log_likelihood(rows, features, noise, weights):
    """Return log p(observed entries | Z)."""
    rows = np.asarray(rows, dtype=float)
    noise, weights = (np.broadcast_to(each, rows.shape[1]) for each in (noise, weights))
    result = 0.0
    for column, v, u in zip(rows.T, noise, weights, strict=True):
        covariance = v * np.eye(len(rows)) + u * features @ features.T
        seen = ~np.isnan(column)
        if seen.any():
            own = covariance[np.ix_(seen, seen)]
            result += stats.multivariate_normal.logpdf(column[seen], cov=own)
    return float(result)


def missing_moments(rows, features, noise, weights):
    """Return means and mean squares of the missing entries given Z, in the order of rows."""
    rows = np.asarray(rows, dtype=float)
    covariance = noise * np.eye(len(rows)) + weights * features @ features.T
    means, squares = np.zeros(rows.shape), np.zeros(rows.shape)
    for d, column in enumerate(rows.T):
        gone = np.isnan(column)
        seen = ~gone
        gain = np.linalg.solve(covariance[np.ix_(seen, seen)], covariance[np.ix_(seen, gone)])
        own = covariance[np.ix_(gone, gone)] - covariance[np.ix_(gone, seen)] @ gain
        means[gone, d] = column[seen] @ gain
        squares[gone, d] = means[gone, d] ** 2 + np.diag(own)
    missing = np.isnan(rows)
    return means[missing], squares[missing]


def own_noise(rows, features, ratio, prior):
    """Return what Z tells if every column has a variance v of its own, and u is `ratio` times v.

    1 / v ~ Gamma(prior), (shape, rate), is integrated out: columns have Student t densities.

    Returns
    -------
    log_likelihood : float
    log_variances : (D,) array
        E[log v].
    means, squares : arrays
        Of the missing entries, in the order of rows.
    """
    rows = np.asarray(rows, dtype=float)
    shape, rate = prior
    covariance = np.eye(len(rows)) + ratio * features @ features.T
    total, log_variances = 0.0, np.zeros(rows.shape[1])
    means, squares = np.zeros(rows.shape), np.zeros(rows.shape)
    for d, column in enumerate(rows.T):
        gone = np.isnan(column)
        seen = ~gone
        own, n = covariance[np.ix_(seen, seen)], np.count_nonzero(seen)
        a, b = shape + n / 2.0, rate + column[seen] @ np.linalg.solve(own, column[seen]) / 2.0
        total += shape * math.log(rate) - math.lgamma(shape) + math.lgamma(a) - a * math.log(b)
        total -= 0.5 * (n * math.log(2.0 * math.pi) + np.linalg.slogdet(own)[1])
        log_variances[d] = math.log(b) - special.digamma(a)
        gain = np.linalg.solve(own, covariance[np.ix_(seen, gone)])
        left = covariance[np.ix_(gone, gone)] - covariance[np.ix_(gone, seen)] @ gain
        means[gone, d] = column[seen] @ gain
        squares[gone, d] = means[gone, d] ** 2 + b / (a - 1.0) * np.diag(left)
    missing = np.isnan(rows)
    return total, log_variances, means[missing], squares[missing]


def log_posteriors(rows, every, concentration, noise, weights):
    """Return log p(X, [Z]) of all classes."""
    return np.array([
        log_class(features, concentration) + log_likelihood(rows, features, noise, weights)
        for features in every
    ])  # fmt: skip


def describe(features, most=4):
    """Return what a posterior is compared by: numbers of features, Z Z^T, squares, single ones."""
    features = np.asarray(features, dtype=float)
    n_rows = len(features)
    numbers = np.zeros(most + 1)
    numbers[min(features.shape[1], most)] = 1.0
    shared = features @ features.T
    single = np.count_nonzero(features.sum(axis=0) == 1.0)
    pairs = shared[np.tril_indices(n_rows)]
    return np.concatenate([numbers, pairs, np.diag(shared) ** 2, [single, single**2]])


def _next_terms(row, rows, features, concentration, noise, weights, most_new):
    """Return all z of the next row, and log p(row, z | X, [Z]) summed over its new features.

    By the joint of all rows over that of the rows before.
    """
    n_rows, n_features = features.shape
    m = features.sum(axis=0)
    before = log_likelihood(rows, features, noise, weights)
    both = np.vstack([rows, [row]])
    every, logs = list(product((0.0, 1.0), repeat=n_features)), []
    for z in every:
        prior = np.log(np.where(np.array(z) > 0, m, n_rows + 1.0 - m) / (n_rows + 1.0)).sum()
        terms = []
        for new in range(most_new + 1):
            old = np.vstack([features, np.array(z).reshape(1, -1)])
            own = np.zeros((n_rows + 1, new))
            own[-1] = 1.0
            log_new = stats.poisson.logpmf(new, concentration / (n_rows + 1.0))
            together = log_likelihood(both, np.hstack([old, own]), noise, weights)
            terms.append(prior + log_new + together - before)
        logs.append(special.logsumexp(terms))
    return np.array(every).reshape(len(every), n_features), np.array(logs)


def log_next(row, rows, features, concentration, noise, weights, most_new=12):
    """Return log p(row | X, [Z]): the next row has old features, and new ones, by the buffet."""
    terms = _next_terms(row, rows, features, concentration, noise, weights, most_new)[1]
    return float(special.logsumexp(terms))


def next_features(row, rows, features, concentration, noise, weights, most_new=12):
    """Return the probabilities that the next row has each of the features."""
    every, logs = _next_terms(row, rows, features, concentration, noise, weights, most_new)
    return special.softmax(logs) @ every


def hyper_posterior(rows, every, concentration, noise_prior, weights_prior, grid):
    """Return P([Z] | X) and E[log alpha], E[log v], E[log u], all three drawn.

    alpha ~ Gamma(concentration), 1 / v ~ Gamma(noise_prior), 1 / u ~ Gamma(weights_prior), each
    prior (shape, rate). alpha is summed out in closed form, the variances over a grid of their
    logarithms.
    """
    shape, rate = concentration
    rows = np.asarray(rows, dtype=float)
    n_rows = len(rows)
    total = rate + sum(1.0 / i for i in range(1, n_rows + 1))
    sizes = np.array([features.shape[1] for features in every], dtype=float)
    log_prior = np.array([log_class(features, 1.0) for features in every])
    log_prior += special.gammaln(shape + sizes) - (shape + sizes) * np.log(total)
    roots = [np.linalg.eigh(features @ features.T) for features in every]
    values = np.array([root[0] for root in roots])
    squares = np.array([((root[1].T @ rows) ** 2).sum(axis=1) for root in roots])

    def log_gamma(log_variance, prior):
        return -prior[0] * log_variance - prior[1] * np.exp(-log_variance)

    logs = np.empty((len(grid), len(grid), len(every)))
    for a, log_v in enumerate(grid):
        for b, log_u in enumerate(grid):
            spectrum = np.exp(log_v) + np.exp(log_u) * values
            density = -0.5 * (rows.shape[1] * np.log(spectrum) + squares / spectrum).sum(axis=1)
            prior = log_gamma(log_v, noise_prior) + log_gamma(log_u, weights_prior)
            logs[a, b] = log_prior + density + prior
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    log_alpha = special.digamma(shape + sizes) - np.log(total)
    per_class = weights.sum(axis=(0, 1))
    return (
        per_class,
        float(per_class @ log_alpha),
        float(weights.sum(axis=(1, 2)) @ grid),
        float(weights.sum(axis=(0, 2)) @ grid),
    )
