"""Regressions by quadrature, and the log density of the steps of a state of any kind.

The coefficients of logistic and Poisson regressions are Gaussian, N(mean, precision^-1), with the
intercepts last."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from exact.oracles import autoregression
from scipy import special


@dataclass(frozen=True)
class Coefs:
    mean: tuple[float, ...]  # of one target: K coefficients, the intercept last
    precision: tuple[tuple[float, ...], ...]

    def grid(self, half=9.0, n=181):
        """Return coefficients, (K, n^K), and the log weights of the prior at them; K <= 2."""
        root = np.linalg.cholesky(np.linalg.inv(np.array(self.precision)))
        line = np.linspace(-half, half, n)
        z = np.stack(np.meshgrid(*[line] * len(root), indexing="ij")).reshape(len(root), -1)
        logs = -0.5 * (z**2).sum(axis=0)
        logs -= special.logsumexp(logs)
        return np.array(self.mean)[:, None] + root @ z, logs


class Logistic(Coefs):
    @staticmethod
    def log_likelihood(y, psi):
        """Return log p(y) given the log odds."""
        return special.log_expit(psi if y == 1.0 else -psi)


class Poisson(Coefs):
    @staticmethod
    def log_likelihood(y, psi):
        """Return log p(y) given the log rate."""
        return y * psi - np.exp(psi) - math.lgamma(y + 1.0)


def log_likelihoods(rows, coefs, prior):
    """Return log p(targets of each (y, x), NaN is missing), at coefficients (K, n)."""
    result = np.zeros(coefs.shape[1])
    for y, x in rows:
        if not math.isnan(y):
            result = result + prior.log_likelihood(y, np.append(x, 1.0) @ coefs)
    return result


def posterior(rows, prior):
    """Return coefficients, their log posterior weights on a grid, and the log evidence."""
    coefs, logs = prior.grid()
    logs = logs + log_likelihoods(rows, coefs, prior)
    evidence = special.logsumexp(logs)
    return coefs, logs - evidence, evidence


@cache
def log_coef_evidence(rows, prior):
    """Return log p(targets of rows (y, x) given x)."""
    return posterior(tuple((y, (x,)) for y, x in rows), prior)[2]


def log_linear_evidence(rows, prior):
    """Return the log density of the targets of rows (y, x) given x; NaN is missing."""
    known = [(np.array([x, 1.0]), np.array([y])) for y, x in rows if not math.isnan(y)]
    return autoregression.log_evidence(known, prior)
