"""Latent features of an Indian buffet by enumeration, in plain Python.

Columns of X are normal with covariance v I + u Z Z^T, where v and u may differ from column to
column; entries that are NaN are left out. A class
[Z] is a multiset of columns that are not all 0, whose probability is (Griffiths and Ghahramani)

    exp(-alpha H) alpha^K / prod_h K_h! prod_k (N - m_k)! (m_k - 1)! / N!.

Classes of more than `most` features are left out."""

import math
from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
from scipy import special, stats


def classes(n_rows, most):
    """Return matrices (N, K) of all classes of at most `most` features."""
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


def log_classes(every, concentration):
    return np.array([log_class(features, concentration) for features in every])


def _each_column(rows, every, noise, weights):
    """Yield the statistics of each column given each class. They are the number of its observed
    entries, the log determinant of their covariance S, x^T S^-1 x, and the means and variances of
    all entries given these, (number of classes, N)."""
    rows = np.asarray(rows, dtype=float)
    noise, weights = (np.broadcast_to(each, rows.shape[1]) for each in (noise, weights))
    shared = np.array([features @ features.T for features in every])
    for column, v, u in zip(rows.T, noise, weights, strict=True):
        covariances = v * np.eye(len(rows)) + u * shared
        seen = ~np.isnan(column)
        x, own = column[seen], covariances[:, seen][:, :, seen]
        inverses = np.linalg.inv(own)
        gain = inverses @ covariances[:, seen]
        left = covariances - covariances[:, :, seen] @ gain
        log_dets, variances = np.linalg.slogdet(own)[1], np.diagonal(left, axis1=1, axis2=2)
        yield len(x), log_dets, x @ inverses @ x, x @ gain, variances


def log_likelihoods(rows, every, noise, weights):
    """Return log p(observed entries | Z) of each class."""
    return sum(
        -0.5 * (n * math.log(2.0 * math.pi) + log_det + squares)
        for n, log_det, squares, *_ in _each_column(rows, every, noise, weights)
    )


def missing_moments(rows, every, noise, weights):
    """Return means and mean squares of missing entries given each class, in the order of rows."""
    found = list(_each_column(rows, every, noise, weights))
    means, variances = (np.stack([each[i] for each in found], axis=-1) for i in (3, 4))
    missing = np.isnan(rows)
    return means[:, missing], (means**2 + variances)[:, missing]


def own_noise(rows, every, ratio, prior):
    """Return what Z tells if every column has a variance v of its own, and u is `ratio` times v:
    log likelihoods of each class, E[log v], (number of classes, D), and means and squares of the
    missing entries, in the order of rows. 1 / v ~ Gamma(prior), (shape, rate), is integrated out:
    columns have Student t densities."""
    (shape, rate), total = prior, 0.0
    log_variances, means, squares = [], [], []
    for n, log_det, square, mean, variance in _each_column(rows, every, 1.0, ratio):
        a, b = shape + n / 2.0, rate + square / 2.0
        total += shape * math.log(rate) - math.lgamma(shape) + math.lgamma(a) - a * np.log(b)
        total -= 0.5 * (n * math.log(2.0 * math.pi) + log_det)
        log_variances.append(np.log(b) - special.digamma(a))
        means.append(mean)
        squares.append(mean**2 + (b / (a - 1.0))[:, np.newaxis] * variance)
    missing = np.isnan(rows)
    means, squares = (np.stack(each, axis=-1)[:, missing] for each in (means, squares))
    return total, np.transpose(log_variances), means, squares


def log_posteriors(rows, every, concentration, noise, weights):
    """Return log p(X, [Z]) of all classes."""
    return log_classes(every, concentration) + log_likelihoods(rows, every, noise, weights)


def describe(features, most=4):
    """Return the statistics of a posterior: numbers of features, Z Z^T, squares, single ones."""
    features = np.asarray(features, dtype=float)
    n_rows = len(features)
    numbers = np.zeros(most + 1)
    numbers[min(features.shape[1], most)] = 1.0
    shared = features @ features.T
    single = np.count_nonzero(features.sum(axis=0) == 1.0)
    pairs = shared[np.tril_indices(n_rows)]
    return np.concatenate([numbers, pairs, np.diag(shared) ** 2, [single, single**2]])


def _next_terms(row, rows, features, concentration, noise, weights, most_new):
    """Return all z of the next row, and log p(row, z | X, [Z]) summed over its new features. By the
    joint of all rows over that of the rows before."""
    n_rows, n_features = features.shape
    m = features.sum(axis=0)
    every, all_rows, logs = list(product((0.0, 1.0), repeat=n_features)), [], []
    log_new = stats.poisson.logpmf(range(most_new + 1), concentration / (n_rows + 1.0))
    for z in every:
        old = np.vstack([features, np.array(z).reshape(1, -1)])
        logs.append(np.log(np.where(old[-1] > 0, m, n_rows + 1.0 - m) / (n_rows + 1.0)).sum())
        for new in range(most_new + 1):
            own = np.zeros((n_rows + 1, new))
            own[-1] = 1.0
            all_rows.append(np.hstack([old, own]))
    together = log_likelihoods(np.vstack([rows, [row]]), all_rows, noise, weights)
    terms = together.reshape(len(every), -1) + np.array(logs)[:, np.newaxis] + log_new
    terms -= log_likelihoods(rows, [features], noise, weights)[0]
    return np.array(every).reshape(len(every), n_features), special.logsumexp(terms, axis=1)


def log_next(row, rows, features, concentration, noise, weights, most_new=12):
    """Return log p(row | X, [Z]): the next row has old features, and new ones, by the buffet."""
    terms = _next_terms(row, rows, features, concentration, noise, weights, most_new)[1]
    return float(special.logsumexp(terms))


def next_features(row, rows, features, concentration, noise, weights, most_new=12):
    """Return the probabilities that the next row has each of the features."""
    every, logs = _next_terms(row, rows, features, concentration, noise, weights, most_new)
    return special.softmax(logs) @ every


def hyper_posterior(rows, every, concentration, noise_prior, weights_prior, grid):
    """Return P([Z] | X) and E[log alpha], E[log v], E[log u], all three drawn. alpha ~
    Gamma(concentration), 1 / v ~ Gamma(noise_prior), 1 / u ~ Gamma(weights_prior), each prior
    (shape, rate). alpha is summed out in closed form, the variances over a grid of their
    logarithms."""
    shape, rate = concentration
    rows = np.asarray(rows, dtype=float)
    total = rate + sum(1.0 / i for i in range(1, len(rows) + 1))
    sizes = np.array([features.shape[1] for features in every], dtype=float)
    log_prior = log_classes(every, 1.0)
    log_prior += special.gammaln(shape + sizes) - (shape + sizes) * np.log(total)
    values, vectors = np.linalg.eigh(np.array([features @ features.T for features in every]))
    squares = ((vectors.transpose(0, 2, 1) @ rows) ** 2).sum(axis=2)

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
        per_class, float(per_class @ log_alpha), float(weights.sum(axis=(1, 2)) @ grid),
        float(weights.sum(axis=(0, 2)) @ grid),
    )  # fmt: skip
