"""Mixtures by enumeration of all partitions of a few rows, in plain Python.

A family gives the log evidence of the rows of a cluster. Rows of a `Table` end with the power of
their likelihood, and NaN marks a missing cell."""

from math import exp, isnan, lgamma, log, pi

import numpy as np
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature


def partitions(n, y=None):
    """Return all partitions of n rows as labels, those of new clusters in order. If `y` is given,
    they have rows of the same y together and rows of different y apart, except that -1 stands for
    any."""
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
    """Normal-inverse-Wishart, full. Log densities are means over values about a row: it counts as
    two to the number of columns, of power one divided by this number, at distances +-`away`; or, if
    `last_is_exact`, all rows but the last one."""

    away, last_is_exact = 0.0, False

    def __init__(self, mean, precision, dof, scale):
        self.mean, self.precision, self.dof = np.array(mean, float), precision, dof
        self.scale = np.array(scale, float)

    def log_marginal(self, rows):
        rows = np.array(rows, float).reshape(len(rows), -1)
        n, d = rows.shape
        corners = np.stack(np.meshgrid(*[[-1.0, 1.0]] * d), axis=-1).reshape(-1, d) * self.away
        center = rows.mean(axis=0)
        away = center - self.mean
        corners = np.repeat(corners[np.newaxis], n, axis=0)
        corners[n - self.last_is_exact :] = 0.0
        about = (rows[:, np.newaxis] + corners - center).reshape(-1, d)
        scale = self.scale + about.T @ about / 2**d
        scale += self.precision * n / (self.precision + n) * np.outer(away, away)
        dof = self.dof + n
        result = -0.5 * n * d * log(pi) + 0.5 * d * log(self.precision / (self.precision + n))
        for j in range(d):
            result += lgamma(0.5 * (dof - j)) - lgamma(0.5 * (self.dof - j))
        result += 0.5 * self.dof * np.linalg.slogdet(self.scale)[1]
        return result - 0.5 * dof * np.linalg.slogdet(scale)[1]


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


class Compound(Multinomial):
    """Rows of two or three kinds, given their sums: theta ~ Dirichlet(prior), and each row has its
    own probabilities ~ Dirichlet(b theta). Gauss's rule, exact for rows of up to 63 events in all.
    """

    def __init__(self, prior, b):
        super().__init__(prior)
        first, weights = beta_quadrature(prior[0], sum(prior[1:]), 32)
        second, more = [1.0], [1.0]
        if len(prior) == 3:
            second, more = beta_quadrature(prior[1], prior[2], 32)
        self.nodes = [
            ([p, (1.0 - p) * q, (1.0 - p) * (1.0 - q)][: len(prior)], v * w)
            for p, v in zip(first, weights, strict=True)
            for q, w in zip(second, more, strict=True)
        ]
        self.b = b

    def log_marginal(self, rows):
        rows = [[int(x) for x in row] for row in rows]
        return self.log_mean(rows, self.nodes)

    def log_mean(self, rows, nodes):
        total = 0.0
        for theta, weight in nodes:
            result = weight
            for row in rows:
                for p, x in zip(theta, row, strict=True):
                    for m in range(x):
                        result *= (self.b * p + m) / (m + 1.0)
                for m in range(sum(row)):
                    result *= (m + 1.0) / (self.b + m)
            total += result
        return log(total)


class Normal:
    """A column: precision t ~ Gamma(dof / 2, scale / 2), mean ~ N(center, 1 / (precision t)).
    Log densities are means of those of a cell plus and minus `away`, as above."""

    away, last_is_exact = 0.0, False

    def __init__(self, center, precision, dof, scale):
        self.center, self.precision, self.dof, self.scale = center, precision, dof, scale

    def log_marginal(self, cells, powers):
        cells, powers = np.array(cells, float), np.array(powers, float)
        n = powers.sum()
        c, dof = self.precision + n, self.dof + n
        center = (self.precision * self.center + powers @ cells) / c
        scale = self.scale + self.precision * (self.center - center) ** 2
        away = np.where(np.arange(len(cells)) < len(cells) - self.last_is_exact, self.away, 0.0)
        for x in (cells - away, cells + away):
            scale += 0.5 * powers @ (x - center) ** 2
        result = lgamma(0.5 * dof) - lgamma(0.5 * self.dof)
        result += 0.5 * log(self.precision / c) - 0.5 * n * log(pi)
        return result + 0.5 * self.dof * log(self.scale) - 0.5 * dof * log(scale)


class Count:
    """A column: intensity ~ Gamma(shape, rate)."""

    def __init__(self, shape, rate):
        self.shape, self.rate = shape, rate

    def log_marginal(self, cells, powers):
        s, n = sum(w * x for x, w in zip(cells, powers, strict=True)), sum(powers)
        result = self.shape * log(self.rate) - lgamma(self.shape) + lgamma(self.shape + s)
        result -= (self.shape + s) * log(self.rate + n)
        return result - sum(w * lgamma(x + 1.0) for x, w in zip(cells, powers, strict=True))


class WideCount:
    """A column: counts ~ Poisson(g m), g ~ Gamma(1 / f, 1 / f), and m f = u / v with u ~
    Gamma(shape), v ~ Gamma(rate / f + 1); integrals over log g and log m are trapezoids."""

    def __init__(self, shape, rate, f):
        self.log_m, self._known = np.arange(-50.0, 35.0, 0.1), {}
        self.r, other, u = 1.0 / f, rate / f + 1.0, self.log_m + log(f)
        logs = shape * u - (shape + other) * np.logaddexp(0.0, u)
        self.log_prior = logs - lgamma(shape) - lgamma(other) + lgamma(shape + other) + log(0.1)

    def _log_probs(self, x):
        """Return the log probability of a count given each m."""
        if x not in self._known:
            r, step = self.r, 0.05 / max(1.0, self.r**0.5)
            ends = (-35.0 / r, 4.5) if r < 8.0 else (-14.0 / r**0.5, 13.0 / r**0.5)
            log_g = np.arange(*ends, step)
            weights = r * (log_g + log(r)) - r * np.exp(log_g) - lgamma(r) + log(step)
            log_mean = np.add.outer(self.log_m, log_g)
            logs = x * log_mean - np.exp(log_mean) - lgamma(x + 1.0) + weights
            self._known[x] = np.logaddexp.reduce(logs, axis=1)
        return self._known[x]

    def log_marginal(self, cells, powers):
        logs = self.log_prior.copy()
        for x, w in zip(cells, powers, strict=True):
            logs += w * self._log_probs(float(x))
        return np.logaddexp.reduce(logs)


class Symbol:
    """A column: probabilities ~ Dirichlet(weights)."""

    def __init__(self, weights):
        self.weights = weights

    def log_marginal(self, cells, powers):
        result = lgamma(sum(self.weights)) - lgamma(sum(self.weights) + sum(powers))
        for v, weight in enumerate(self.weights):
            n = sum(w for x, w in zip(cells, powers, strict=True) if x == v)
            result += lgamma(weight + n) - lgamma(weight)
        return result


class Columns:
    """Independent columns without gaps and powers."""

    def __init__(self, *families):
        self.families = families

    def log_marginal(self, rows):
        columns, powers = np.array(rows, float).T, [1.0] * len(rows)
        return sum(
            family.log_marginal(column, powers)
            for family, column in zip(self.families, columns, strict=True)
        )


class Table:
    """Parts (family, columns): families of one column, or of several without gaps and powers."""

    def __init__(self, parts):
        self.parts = parts

    def log_marginal(self, rows):
        rows, result = np.array(rows, float), 0.0
        for family, columns in self.parts:
            if isinstance(family, Gaussian | Multinomial):
                result += family.log_marginal(rows[:, columns])
                continue
            for d in columns:
                cells = [(row[d], row[-1]) for row in rows if not isnan(row[d])]
                result += family.log_marginal([x for x, _ in cells], [w for _, w in cells])
        return result


def log_likelihoods(every, rows, family):
    """Return log p(rows given the partition) of each partition."""
    rows, known = np.array(rows), {}
    totals = []
    for labels in every:
        clusters = [tuple(np.flatnonzero(np.equal(labels, k))) for k in set(labels)]
        for own in clusters:
            if own not in known:
                known[own] = family.log_marginal(rows[list(own)])
        totals.append(sum(known[own] for own in clusters))
    return np.array(totals)


def log_joint(rows, labels, family, a, b):
    """Return log p(rows, partition)."""
    return log_prior(labels, a, b) + log_likelihoods([labels], rows, family)[0]


def log_joints(every, rows, family, a, b):
    """Return log p(rows, partition) of each partition."""
    priors = np.array([log_prior(labels, a, b) for labels in every])
    return priors + log_likelihoods(every, rows, family)


def posterior(every, rows, family, a, b):
    """Return the probabilities of the given partitions, if there are no others."""
    logs = log_joints(every, rows, family, a, b)
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def posterior_of_scales(every, rows, family, expected, a, b):
    """Return P(partition) and E[log S] of one column, S / expected chi-square above 1e-4."""
    log_q = np.linspace(log(1e-4), log(100.0), 400)
    logs = np.array([log_joints(every, rows, family(expected * exp(x)), a, b) for x in log_q])
    logs += (0.5 * log_q - 0.5 * np.exp(log_q))[:, np.newaxis]
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    return weights.sum(axis=0), weights.sum(axis=1) @ (log(expected) + log_q)


def log_predictive(row, rows, labels, family, a, b):
    """Return the log density of one more row given the partition of the others."""
    before = log_joint(rows, labels, family, a, b)
    return log(sum(
        exp(log_joint([*rows, row], (*labels, k), family, a, b) - before)
        for k in range(len(set(labels)) + 1)
    ))  # fmt: skip


def hyper_posterior(every, rows, family, discount, concentration):
    """Return P(partition), E[a] and E[log b]; either is known, or given by its prior."""
    a_nodes = [(discount, 1.0)]
    if not isinstance(discount, float):
        a_nodes = list(zip(*beta_quadrature(*discount), strict=True))
    b_nodes = [(concentration, 1.0)]
    if not isinstance(concentration, float):
        b_nodes = list(zip(*gamma_quadrature(*concentration), strict=True))
    likelihoods = log_likelihoods(every, rows, family)
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
