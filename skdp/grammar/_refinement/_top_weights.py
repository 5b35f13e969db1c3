r"""Top-level weights beta_s of the subsymbols of coarse symbols: prior and optimal values.

Given q(phi), the lower bound depends on the rules' rows only by sums of expected logarithms for
every child, or pair of children, over the rows z of all parents. With x = alpha beta_s',

    L(beta) = sum_s log p(beta_s) + sum (x - 1) sum_z E[log phi_z] - n_rows log Gamma(x)

and x = alpha beta_s' beta_s''' for pairs (Liang et al. 2009, 4.2.3). Its cost does not grow with
the number of rules.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln, psi, softmax

from skdp._numeric._typing import Floats, Ints
from skdp.grammar._top_weights import MIN_WEIGHT

_MAX_STEPS = 12
"""Largest number of steps per iteration of the coordinate ascent: more steps hardly pay off."""

_MAX_LOGIT = 40.0


class ChildRows(NamedTuple):
    """Sums of rows over the subsymbols of only children, for every child symbol."""

    concentration: float
    symbols: Ints  # (n,)
    log_sum: Floats  # (n, K), expected logarithms summed over rows
    n_rows: Floats  # (n,)

    def value(self, beta: Floats) -> tuple[float, Floats]:
        """Return the rows' part of L(beta), for beta (S, K), and its derivatives."""
        x = self.concentration * beta[self.symbols]
        n_rows = self.n_rows[:, None]
        slopes = np.zeros_like(beta)
        np.add.at(slopes, self.symbols, self.concentration * (self.log_sum - n_rows * psi(x)))
        return float(np.sum(x * self.log_sum - n_rows * gammaln(x))), slopes


class PairRows(NamedTuple):
    """Sums of rows over the subsymbols of two children, for every pair of child symbols."""

    concentration: float
    left: Ints  # (n,)
    right: Ints  # (n,)
    log_sum: Floats  # (n, K, K)
    n_rows: Floats  # (n,)

    def value(self, beta: Floats) -> tuple[float, Floats]:
        """Return the rows' part of L(beta), for beta (S, K), and its derivatives."""
        lefts, rights = beta[self.left], beta[self.right]
        x = self.concentration * lefts[:, :, None] * rights[:, None, :]
        n_rows = self.n_rows[:, None, None]
        cells = self.concentration * (self.log_sum - n_rows * psi(x))
        slopes = np.zeros_like(beta)
        np.add.at(slopes, self.left, (cells @ rights[:, :, None])[:, :, 0])
        np.add.at(slopes, self.right, (lefts[:, None, :] @ cells)[:, 0, :])
        return float(np.sum(x * self.log_sum - n_rows * gammaln(x))), slopes


def log_gem(beta: Floats, concentration: float) -> tuple[float, Floats]:
    """Return log p(beta) of all rows under truncated GEM, and its derivatives (see `TopPrior`)."""
    n = beta.shape[1]
    if n == 1:
        return 0.0, np.zeros_like(beta)
    tails = np.cumsum(beta[:, ::-1], axis=1)[:, ::-1].copy()
    tails[:, 0] = 1.0
    logs = np.log(tails)
    value = (n - 1) * np.log(concentration) * len(beta)
    value += (concentration - 1.0) * logs[:, -1].sum() - logs[:, :-1].sum()
    slopes = -1.0 / tails
    slopes[:, -1] *= 1.0 - concentration
    slopes[:, 0] = 0.0
    return float(value), np.cumsum(slopes, axis=1)


def log_joint(
    beta: Floats, concentration: float, children: ChildRows, pairs: PairRows
) -> tuple[float, Floats]:
    """Return L(beta), up to terms independent of beta, and its derivatives."""
    parts = [log_gem(beta, concentration), children.value(beta), pairs.value(beta)]
    slopes = [slope for _, slope in parts]
    return sum(value for value, _ in parts), slopes[0] + slopes[1] + slopes[2]


def maximize(beta: Floats, concentration: float, children: ChildRows, pairs: PairRows) -> Floats:
    """Return weights at which L is not lower than at `beta`, near a local maximum."""
    shape = beta.shape
    share = 1.0 - shape[1] * MIN_WEIGHT

    def objective(logits: Floats) -> tuple[float, Floats]:
        free = softmax(logits.reshape(shape), axis=1)
        value, slopes = log_joint(MIN_WEIGHT + share * free, concentration, children, pairs)
        slopes = share * free * (slopes - np.sum(free * slopes, axis=1, keepdims=True))
        return -value, -slopes.ravel()

    start = np.log(np.maximum((beta - MIN_WEIGHT) / share, np.exp(-_MAX_LOGIT)))
    found = minimize(
        objective,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-_MAX_LOGIT, _MAX_LOGIT)] * start.size,
        options={"maxiter": _MAX_STEPS},
    )
    best = MIN_WEIGHT + share * softmax(found.x.reshape(shape), axis=1)
    before = log_joint(beta, concentration, children, pairs)[0]
    if log_joint(best, concentration, children, pairs)[0] < before:
        return beta
    return np.asarray(best)
