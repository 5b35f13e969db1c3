"""Evidence of clusters of mixed columns with gaps and powers of rows, in plain Python.

Families for `mixtures`: the last column of a row is its power, NaN marks a missing cell. A cell's
likelihood enters with its power; its factors are written out one by one in `log_density`.
"""

from math import exp, isnan, lgamma, log, pi

import numpy as np
from exact.oracles import mixtures
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature


class Normal:
    """Precision t ~ Gamma(dof / 2, scale / 2), mean ~ N(center, 1 / (precision t))."""

    def __init__(self, center, precision, dof, scale):
        self.center, self.precision, self.dof, self.scale = center, precision, dof, scale

    def log_marginal(self, cells, powers):
        n = sum(powers)
        c = self.precision + n
        center = self.precision * self.center + sum(
            w * x for x, w in zip(cells, powers, strict=True)
        )
        center /= c
        scale = self.scale + self.precision * (self.center - center) ** 2
        scale += sum(w * (x - center) ** 2 for x, w in zip(cells, powers, strict=True))
        result = lgamma(0.5 * (self.dof + n)) - lgamma(0.5 * self.dof)
        result += 0.5 * log(self.precision / c) - 0.5 * n * log(pi)
        return result + 0.5 * self.dof * log(self.scale) - 0.5 * (self.dof + n) * log(scale)

    def integrate(self, cells, powers):
        """Return the same by quadrature over the precision and over the mean."""
        total = 0.0
        for t, p in zip(*gamma_quadrature(0.5 * self.dof, 0.5 * self.scale), strict=True):
            deviation = 1.0 / np.sqrt(self.precision * t)
            z = np.linspace(-12.0, 12.0, 4001)
            means = self.center + deviation * z
            logs = -0.5 * z**2 - 0.5 * log(2.0 * pi)
            for x, w in zip(cells, powers, strict=True):
                logs += w * (0.5 * log(t / (2.0 * pi)) - 0.5 * t * (x - means) ** 2)
            total += p * np.exp(logs).sum() * (z[1] - z[0])
        return log(total)


class Count:
    """Intensity ~ Gamma(shape, rate)."""

    def __init__(self, shape, rate):
        self.shape, self.rate = shape, rate

    def log_marginal(self, cells, powers):
        s, n = sum(w * x for x, w in zip(cells, powers, strict=True)), sum(powers)
        result = self.shape * log(self.rate) - lgamma(self.shape) + lgamma(self.shape + s)
        result -= (self.shape + s) * log(self.rate + n)
        return result - sum(w * lgamma(x + 1.0) for x, w in zip(cells, powers, strict=True))

    def integrate(self, cells, powers):
        total = 0.0
        for rate, p in zip(*gamma_quadrature(self.shape, self.rate), strict=True):
            total += p * exp(
                sum(
                    w * (x * log(rate) - rate - lgamma(x + 1.0))
                    for x, w in zip(cells, powers, strict=True)
                )
            )
        return log(total)


class Symbol:
    """Probabilities ~ Dirichlet(weights)."""

    def __init__(self, weights):
        self.weights = weights

    def log_marginal(self, cells, powers):
        result = lgamma(sum(self.weights)) - lgamma(sum(self.weights) + sum(powers))
        for v, weight in enumerate(self.weights):
            n = sum(w for x, w in zip(cells, powers, strict=True) if x == v)
            result += lgamma(weight + n) - lgamma(weight)
        return result

    def integrate(self, cells, powers):
        first, second = self.weights
        total = 0.0
        for theta, p in zip(*beta_quadrature(first, second), strict=True):
            probs = theta, 1.0 - theta
            total += p * exp(
                sum(w * log(probs[int(x)]) for x, w in zip(cells, powers, strict=True))
            )
        return log(total)


class Joint:
    """Several dependent columns without gaps and powers."""

    def __init__(self, family):
        self.family = family


class Table:
    """Columns with families; a `Joint` has several columns.

    Parameters
    ----------
    parts : list of (family, columns)
    """

    def __init__(self, parts):
        self.parts = parts

    def log_marginal(self, rows):
        rows, result = np.array(rows, float), 0.0
        for family, columns in self.parts:
            if isinstance(family, Joint):
                result += family.family.log_marginal(rows[:, columns])
                continue
            for d in columns:
                cells = [(row[d], row[-1]) for row in rows if not isnan(row[d])]
                result += family.log_marginal([x for x, _ in cells], [w for _, w in cells])
        return result


def posterior(rows, powers, family, a, b, y=None):
    """Return the probabilities of all partitions; sizes count rows, whatever their powers."""
    return mixtures.posterior(with_powers(rows, powers), family, a, b, y)


def with_powers(rows, powers):
    """Return rows with their powers as the last column."""
    powers = [1.0] * len(rows) if powers is None else powers
    return [[*row, w] for row, w in zip(rows, powers, strict=True)]
