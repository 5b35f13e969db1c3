"""Posterior of a Gaussian's mean and covariance given rows, from the joint density: its moments."""

from typing import NamedTuple

import numpy as np


class Posterior(NamedTuple):
    """mean | Sigma ~ N(center, Sigma / precision), Sigma^-1 ~ Wishart(dof, scale^-1)."""

    center: np.ndarray
    precision: float
    dof: float
    scale: np.ndarray

    def spread(self):
        """Return E of Sigma."""
        return self.scale / (self.dof - len(self.center) - 1.0)

    def concentration(self):
        """Return E of Sigma^-1."""
        return self.dof * np.linalg.inv(self.scale)

    def variances_of_concentration(self):
        """Return the variance of each number of Sigma^-1."""
        inverse = np.linalg.inv(self.scale)
        variances = np.diag(inverse)
        return self.dof * (inverse**2 + np.multiply.outer(variances, variances))


def posterior(rows, mean, precision, dof, scale):
    """Collect what is quadratic in the mean in the exponent of prior times likelihood.

    That is precision (mu - m)^T L (mu - m) + sum over rows of (x - mu)^T L (x - mu) + tr(scale L),
    L = Sigma^-1: a square around the new center, and what is left, which joins the scale. Each row
    gives half a power of det L, to which the dof belong.
    """
    rows, mean = np.array(rows, float), np.array(mean, float)
    total = precision + len(rows)
    center = (precision * mean + rows.sum(axis=0)) / total
    scale = np.array(scale, float) + precision * np.outer(mean, mean) + rows.T @ rows
    return Posterior(center, total, dof + len(rows), scale - total * np.outer(center, center))
