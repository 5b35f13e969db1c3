"""Gaussian rows whose mean and covariance are unknown, from the joint density.

mu | Sigma ~ N(mean, Sigma / precision), Sigma ~ IW(dof, scale), and rows may have weights u: x ~
N(mu, Sigma / u)."""

import math
from typing import NamedTuple

import numpy as np
from scipy import special, stats


class NormalWishart(NamedTuple):
    mean: np.ndarray
    precision: float
    dof: float
    scale: np.ndarray

    def given(self, rows, weights=None):
        """Collect what is quadratic in the mean in the exponent of prior times likelihood. That is
        precision (mu - m)^T L (mu - m) + sum over rows of u (x - mu)^T L (x - mu) + tr(scale L), L
        = Sigma^-1: a square around the new center, and what is left, which joins the scale. Each
        row gives half a power of det L, to which the dof belong."""
        rows, mean = np.array(rows, float).reshape(-1, len(self.mean)), np.array(self.mean, float)
        u = np.ones(len(rows)) if weights is None else np.array(weights)
        total = self.precision + u.sum()
        center = (self.precision * mean + u @ rows) / total
        scale = np.array(self.scale, float) + self.precision * np.outer(mean, mean)
        scale = scale + (u[:, np.newaxis] * rows).T @ rows - total * np.outer(center, center)
        return NormalWishart(center, total, self.dof + len(rows), scale)

    def log_next(self, x, weight=1.0):
        """Return the log t density of the next row, or of several, (n, D); weights may be (n,)."""
        width = len(self.mean)
        df = self.dof - width + 1.0
        spread = np.asarray(self.scale) / df  # times `ratio`
        ratio = 1.0 / np.asarray(weight) + 1.0 / self.precision
        away = np.atleast_2d(x) - self.mean
        squares = (away @ np.linalg.inv(spread) * away).sum(axis=1) / ratio
        result = special.gammaln(0.5 * (df + width)) - special.gammaln(0.5 * df)
        result -= 0.5 * (width * np.log(df * math.pi * ratio) + np.linalg.slogdet(spread)[1])
        return result - 0.5 * (df + width) * np.log1p(squares / df)

    def of(self, columns):
        """Return the prior of some of the columns: others take their degrees of freedom along."""
        n_others = len(self.mean) - len(columns)
        scale = np.asarray(self.scale)[np.ix_(columns, columns)]
        return NormalWishart(np.asarray(self.mean)[columns], self.precision, self.dof - n_others,
                             scale)  # fmt: skip

    def column(self, d):
        """Return the prior of one of several independent columns."""
        return self.of([d])._replace(dof=self.dof)

    def expected_covariance(self):
        return self.scale / (self.dof - len(self.mean) - 1.0)

    def compare(self, means, precisions):
        """Yield what `assert_means` compares of draws, (n, D) and (n, D, D)."""
        width, lower = len(self.mean), np.tril_indices(len(self.mean))
        away, covariance = means - self.mean, self.expected_covariance()
        products = away[:, :, np.newaxis] * away[:, np.newaxis]
        yield means, self.mean, "means"
        expected = covariance / self.precision
        yield products[:, *lower], expected[lower], "covariance of the mean"
        yield np.linalg.inv(precisions)[:, *lower], covariance[lower], "covariances"
        inverse = np.linalg.inv(self.scale)
        expected, diagonal = self.dof * inverse, np.diag(inverse)
        yield precisions[:, *lower], expected[lower], "precisions"
        variances = self.dof * (inverse**2 + np.multiply.outer(diagonal, diagonal))
        squares = (precisions - expected) ** 2
        yield squares[:, *lower], variances[lower], "variances of precisions"
        # Given the covariance, the mean is as far out as a standard normal vector.
        distances = np.einsum("ni,nij,nj->n", away, precisions, away) * self.precision
        yield distances, width, "distances"
        yield (distances - width) ** 2, 2.0 * width, "variance of distances"


def log_evidence(rows, prior, weights=None):
    """Return log p(rows given their weights), one after the other; rows that miss values do not
    count."""
    weights = np.ones(len(rows)) if weights is None else weights
    result = 0.0
    for x, u in zip(rows, weights, strict=True):
        if not np.isnan(x).any():
            result += float(prior.log_next(x, u)[0])
            prior = prior.given([x], [u])
    return result


def log_evidence_by_quadrature(values, mean, precision, freedom, scale):
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
