"""Mixtures by enumeration of all partitions of a few rows, in plain Python."""

from math import exp, lgamma, log, pi

import numpy as np
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature


def partitions(n, y=None):
    """Return all partitions of n rows as labels, those of new clusters in order.

    If `y` is given, they have rows of the same y together and rows of different y apart, except
    that -1 stands for any.
    """
    found = [()]
    for _ in range(n):
        found = [(*labels, k) for labels in found for k in range(len(set(labels)) + 1)]
    return found if y is None else [labels for labels in found if is_allowed(labels, y)]


def is_allowed(labels, y):
    """Return whether all pairs of rows with known labels are together or apart as `y` has them."""
    known = [i for i, label in enumerate(y) if label != -1]
    return all((labels[i] == labels[j]) == (y[i] == y[j]) for i in known for j in known)


def log_prior(labels, a, b):
    """Return the log probability that customers are seated in this way, one by one."""
    sizes, result = [], 0.0
    for i, k in enumerate(labels):
        if k == len(sizes):
            weight = b + a * len(sizes) if i else 1.0
            sizes.append(0)
        else:
            weight = sizes[k] - a
        result += log(weight) - (log(b + i) if i else 0.0)
        sizes[k] += 1
    return result


class Gaussian:
    """Normal-inverse-Wishart, full."""

    def __init__(self, mean, precision, dof, scale):
        self.mean, self.precision, self.dof = np.array(mean, float), precision, dof
        self.scale = np.array(scale, float)

    def log_marginal(self, rows):
        rows = np.array(rows, float).reshape(len(rows), -1)
        n, d = rows.shape
        center = rows.mean(axis=0)
        away = center - self.mean
        scale = self.scale + (rows - center).T @ (rows - center)
        scale += self.precision * n / (self.precision + n) * np.outer(away, away)
        dof = self.dof + n
        result = -0.5 * n * d * log(pi) + 0.5 * d * log(self.precision / (self.precision + n))
        for j in range(d):
            result += lgamma(0.5 * (dof - j)) - lgamma(0.5 * (self.dof - j))
        result += 0.5 * self.dof * np.linalg.slogdet(self.scale)[1]
        return result - 0.5 * dof * np.linalg.slogdet(scale)[1]


class DiagonalGaussian:
    """Each column on its own."""

    def __init__(self, mean, precision, dof, scales):
        self.columns = [
            Gaussian([m], precision, dof, [[s]]) for m, s in zip(mean, scales, strict=True)
        ]

    def log_marginal(self, rows):
        rows = np.array(rows, float)
        return sum(column.log_marginal(rows[:, [d]]) for d, column in enumerate(self.columns))


class Poisson:
    """Columns have priors of their own, or share one if the shape and the rate are numbers."""

    def __init__(self, shape, rate):
        self.shape, self.rate = shape, rate

    def log_marginal(self, rows):
        result, columns = 0.0, np.array(rows, int).T
        shapes, rates = (
            np.broadcast_to(self.shape, len(columns)),
            np.broadcast_to(self.rate, len(columns)),
        )
        for column, shape, rate in zip(columns, shapes, rates, strict=True):
            s, n = int(column.sum()), len(column)
            result += shape * log(rate) - lgamma(shape)
            result += lgamma(shape + s) - (shape + s) * log(rate + n)
            result -= sum(lgamma(x + 1.0) for x in column)
        return result


class Multinomial:
    """Rows of counts given their sums."""

    def __init__(self, prior):
        self.prior = prior

    def log_marginal(self, rows):
        rows = np.array(rows, int)
        counts, total = rows.sum(axis=0), sum(self.prior)
        result = lgamma(total) - lgamma(total + counts.sum())
        for a, c in zip(self.prior, counts, strict=True):
            result += lgamma(a + c) - lgamma(a)
        for row in rows:
            result += lgamma(row.sum() + 1.0) - sum(lgamma(x + 1.0) for x in row)
        return result


class Categorical(Multinomial):
    """Rows of one symbol."""

    def log_marginal(self, rows):
        return super().log_marginal(np.eye(len(self.prior), dtype=int)[np.array(rows, int)[:, 0]])


def log_likelihood(rows, labels, family):
    """Return log p(rows given the partition)."""
    labels, rows = np.array(labels), np.array(rows)
    return sum(family.log_marginal(rows[labels == k]) for k in np.unique(labels))


def posterior(rows, family, a, b, y=None):
    """Return the probabilities of all partitions, in the order of `partitions`."""
    logs = np.array([
        log_prior(labels, a, b) + log_likelihood(rows, labels, family)
        for labels in partitions(len(rows), y)
    ])  # fmt: skip
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def posterior_of_scales(rows, family, expected, a, b, y=None):
    """Return P(partition) and E[log S] of one column, S / expected chi-square above 1e-4."""
    every = partitions(len(rows), y)
    priors = np.array([log_prior(labels, a, b) for labels in every])
    logs, log_scales = [], []
    for log_q in np.linspace(log(1e-4), log(100.0), 400):
        scale = expected * exp(log_q)
        likelihoods = np.array([log_likelihood(rows, labels, family(scale)) for labels in every])
        logs.append(priors + likelihoods + 0.5 * log_q - 0.5 * exp(log_q))
        log_scales.append(log(scale))
    weights = np.exp(np.array(logs) - np.max(logs))
    weights /= weights.sum()
    return weights.sum(axis=0), weights.sum(axis=1) @ np.array(log_scales)


def log_predictive(row, rows, labels, family, a, b):
    """Return the log density of one more row given the partition of the others."""
    before = log_prior(labels, a, b) + log_likelihood(rows, labels, family)
    return log(sum(
        exp(
            log_prior((*labels, k), a, b)
            + log_likelihood([*rows, row], (*labels, k), family)
            - before
        )
        for k in range(len(set(labels)) + 1)
    ))  # fmt: skip


def hyper_posterior(rows, family, discount, concentration, y=None):
    """Return P(partition), E[a] and E[log b]; either is known, or given by its prior."""
    a_nodes = [(discount, 1.0)]
    if not isinstance(discount, float):
        a_nodes = list(zip(*beta_quadrature(*discount), strict=True))
    b_nodes = [(concentration, 1.0)]
    if not isinstance(concentration, float):
        b_nodes = list(zip(*gamma_quadrature(*concentration), strict=True))
    every = partitions(len(rows), y)
    likelihoods = np.array([log_likelihood(rows, labels, family) for labels in every])
    likelihoods = np.exp(likelihoods - likelihoods.max())
    weights, mean_a, mean_log_b = np.zeros(len(every)), 0.0, 0.0
    shapes = [tuple(sorted(np.bincount(labels))) for labels in every]
    representatives = dict(zip(shapes, every, strict=True))
    for a, p in a_nodes:
        for b, q in b_nodes:
            priors = {s: exp(log_prior(labels, a, b)) for s, labels in representatives.items()}
            joint = p * q * likelihoods * np.array([priors[shape] for shape in shapes])
            weights += joint
            mean_a += a * joint.sum()
            mean_log_b += log(b) * joint.sum()
    total = weights.sum()
    return weights / total, mean_a / total, mean_log_b / total
