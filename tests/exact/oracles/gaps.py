"""Rows with missing values and weights, integrated out by quadrature, in plain Python."""

from itertools import product
from math import exp, lgamma, log, pi

import numpy as np

_GRID = np.linspace(-5.5, 5.5, 57)
"""x = center + sinh(t) for equidistant t: trapezoids for integrands with heavy tails."""


class Integrated:
    """A family of rows, of which some variables are integrated out; missing values are to be
    expected about `center`, at a distance of `spread` or so."""

    def __init__(self, center=0.5, spread=0.7):
        self.center, self.spread = center, spread
        self._known = {}

    def log_marginal(self, rows):
        """Return log p(observed values of the rows)."""
        return self.integrate(rows)[0]

    def integrate(self, rows):
        """Return log p(observed values), E[log u] of the rows, and E[tanh(x)] of missing values."""
        rows = np.array(rows, float).reshape(len(rows), -1)
        key = rows.tobytes()
        if key not in self._known:
            self._known[key] = self._integrate(rows)
        return self._known[key]


class Gapped(Integrated):
    """Rows of another family, whose missing values (NaN) are integrated out; weights are 1."""

    def __init__(self, family):
        super().__init__()
        self.family = family

    def _integrate(self, rows):
        places = np.argwhere(np.isnan(rows))
        total, sums = 0.0, np.zeros(len(places))
        for point in product(_GRID, repeat=len(places)):
            x = self.center + self.spread * np.sinh(point)
            complete = rows.copy()
            complete[tuple(places.T)] = x
            weight = exp(
                self.family.log_marginal(complete)
                + float(np.log(self.spread * (_GRID[1] - _GRID[0]) * np.cosh(point)).sum())
            )
            total += weight
            sums += weight * np.tanh(x)
        return log(total), np.zeros(len(rows)), sums / total


class StudentT(Integrated):
    """Rows with weights u ~ Gamma(nu / 2, nu / 2): N(mu, Sigma / u), normal-inverse-Wishart.
    Weights and missing values are integrated out by trapezoids in log u and in t, as above. Given
    its weight, the log density of a row is the mean of those of values with variances away^2 / u
    about it."""

    away = 0.0

    def __init__(self, freedom, mean, precision, dof, scale):
        super().__init__()
        self.freedom = freedom
        self.mean, self.precision, self.dof = np.array(mean, float), precision, dof
        self.scale = np.array(scale, float)

    def _integrate(self, rows):
        log_u, steps = np.arange(-11.0, 3.0, 0.7), _GRID[::2]
        n_rows, places = len(rows), np.argwhere(np.isnan(rows))
        axes = [log_u] * n_rows + [steps] * len(places)
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        logs_u, t = points[:, :n_rows], points[:, n_rows:]
        x = self.center + self.spread * np.sinh(t)
        complete = np.repeat(rows[np.newaxis], len(points), axis=0)
        complete[:, places[:, 0], places[:, 1]] = x
        half = 0.5 * self.freedom
        logs = self._log_weighted(complete, np.exp(logs_u))
        logs += (half * log(half) - lgamma(half) + half * (logs_u - np.exp(logs_u))).sum(axis=1)
        logs += n_rows * log(0.7)
        logs += np.log(self.spread * (steps[1] - steps[0]) * np.cosh(t)).sum(axis=1)
        weights = np.exp(logs - logs.max())
        total = weights.sum()
        means = weights @ logs_u / total, weights @ np.tanh(x) / total
        return logs.max() + log(total), *means

    def _log_weighted(self, rows, u):
        """Return log p(rows given their weights), (G,), of rows (G, n, D) and weights (G, n)."""
        _, n, d = rows.shape
        mass = u.sum(axis=1)
        center = np.einsum("gn,gnd->gd", u, rows) / mass[:, np.newaxis]
        away, apart = center - self.mean, rows - center[:, np.newaxis]
        scale = self.scale + np.einsum("gn,gnd,gne->gde", u, apart, apart)
        scale = scale + n * np.diag(np.full(d, self.away) ** 2)
        share = self.precision * mass / (self.precision + mass)
        scale = scale + np.einsum("g,gd,ge->gde", share, away, away)
        result = 0.5 * d * (np.log(u).sum(axis=1) - n * log(pi))
        result += 0.5 * d * np.log(self.precision / (self.precision + mass))
        for j in range(d):
            result += lgamma(0.5 * (self.dof + n - j)) - lgamma(0.5 * (self.dof - j))
        result += 0.5 * self.dof * np.linalg.slogdet(self.scale)[1]
        return result - 0.5 * (self.dof + n) * np.linalg.slogdet(scale)[1]


class IndependentStudentT:
    """Columns with weights of their own."""

    def __init__(self, freedom, mean, precision, dof, scales):
        self.columns = [
            StudentT(freedom, [m], precision, dof, [[s]]) for m, s in zip(mean, scales, strict=True)
        ]

    def log_marginal(self, rows):
        """Return log p(observed values of the rows)."""
        rows = np.array(rows, float)
        return sum(
            column.log_marginal(rows[seen][:, [d]])
            for d, column in enumerate(self.columns)
            if (seen := ~np.isnan(rows[:, d])).any()
        )


def expected_latent(rows, labels, family):
    """Return E[log u] of all rows, and E[tanh(x)] of missing values, given the partition."""
    rows, labels = np.array(rows, float), np.array(labels)
    logs, values = np.zeros(len(rows)), np.zeros(rows.shape)
    for k in set(labels.tolist()):
        own = np.flatnonzero(labels == k)
        gaps = np.argwhere(np.isnan(rows[own]))
        _, logs[own], values[own[gaps[:, 0]], gaps[:, 1]] = family.integrate(rows[own])
    return np.concatenate([logs, values[np.isnan(rows)]])
