r"""Top-level weights beta of the symbols: their prior, and their optimal value given counts.

The posterior of the rules is always Dir(prior(beta) + counts), so the part of the lower bound that
depends on beta is

    L(beta) = log p(beta) + sum of log B(alpha beta beta' + C_z) / B(alpha beta beta')

over the rows z of all families: it is maximized jointly over beta and q(phi), while Liang et al.
(2009, 4.2.3) keep q(phi) fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import gammaln, psi, softmax

from skdp._numeric._typing import Floats
from skdp.grammar._dirichlet import draw_log, log_evidence

MIN_WEIGHT = 1e-8
"""Floor of the weights, since the density of the prior is unbounded for vanishing weights."""

_MIN_DRAWN = 1e-100
"""Smallest drawn weight, so that products of two weights do not underflow."""

_MAX_STEPS = 30
_MAX_LOGIT = 40.0


class Family(NamedTuple):
    """Rows of Dir(concentration beta_left), or of Dir(concentration beta_left beta_right')."""

    concentration: float
    left: int
    right: int | None
    counts: Floats  # (n_rows, n_left), or (n_rows, n_left, n_right)

    def prior(self, weights: Sequence[Floats]) -> Floats:
        """Return the prior of a row, given the weights of every inventory of symbols."""
        if self.right is None:
            return self.concentration * weights[self.left]
        return self.concentration * np.outer(weights[self.left], weights[self.right])


class TopPrior(NamedTuple):
    """GEM(concentration), truncated, or Dir(concentration / K): `kind` is "gem" or "dirichlet"."""

    kind: str
    concentration: float | None  # None: the weights are known, not drawn, and never change

    def log_density(self, beta: Floats) -> float:
        """Return log p(beta), a density of the first K - 1 weights."""
        n, gamma = len(beta), self.concentration
        if n == 1 or gamma is None:
            return 0.0
        if self.kind == "dirichlet":
            shape = gamma / n
            norm = gammaln(gamma) - n * gammaln(shape)
            return float(norm + (shape - 1.0) * np.log(beta).sum())
        logs = np.log(_tails(beta))  # log T_z, T_z = sum_{z' >= z} beta_z' (Liang et al. 2009, B.4)
        return float((n - 1) * np.log(gamma) + (gamma - 1.0) * logs[-1] - logs[:-1].sum())

    def gradient(self, beta: Floats) -> Floats:
        """Return the derivatives of `log_density`, as if the K weights were free ((48)-(51))."""
        n, gamma = len(beta), self.concentration
        if n == 1 or gamma is None:
            return np.zeros(n)
        if self.kind == "dirichlet":
            return np.asarray((gamma / n - 1.0) / beta)
        slopes = -1.0 / _tails(beta)
        slopes[-1] *= 1.0 - gamma
        slopes[0] = 0.0
        return np.cumsum(slopes)

    def log_density_of_logits(self, beta: Floats) -> float:
        """Return the log density of log (beta_z / beta_K), z < K: bounded, unlike that of beta."""
        if len(beta) == 1 or self.concentration is None:
            return 0.0
        return self.log_density(beta) + float(np.log(beta).sum())

    def log_evidence(self, orders: Floats) -> float:
        """Return log E[prod beta^orders], the log likelihood of the concentration."""
        n, gamma = len(orders), self.concentration
        if n == 1 or gamma is None:
            return 0.0
        if self.kind == "dirichlet":
            return log_evidence(np.full(n, gamma / n), orders[None])
        return log_evidence(np.array([1.0, gamma]), _stick_counts(orders))

    def draw(self, orders: Floats, rng: np.random.Generator) -> Floats:
        """Return weights drawn given the number of orders of each symbol from the top."""
        n, gamma = len(orders), self.concentration
        if n == 1 or gamma is None:
            return np.full(n, 1.0 / n)
        if self.kind == "dirichlet":
            logs = draw_log(np.full(n, gamma / n), orders[None], rng)[0]
        else:
            taken, left = draw_log(np.array([1.0, gamma]), _stick_counts(orders), rng).T
            logs = np.append(taken, 0.0) + np.append(0.0, np.cumsum(left))
        beta = np.maximum(np.exp(logs), _MIN_DRAWN)
        return beta / beta.sum()

    def best_order(self, beta: Floats) -> NDArray[np.intp]:
        """Return an order of the symbols with no lower density, which only matters for GEM."""
        order = np.argsort(-beta, kind="stable")
        if self.kind == "gem" and self.log_density(beta[order]) > self.log_density(beta):
            return order
        return np.arange(len(beta))


def _stick_counts(orders: Floats) -> Floats:
    """Return how often each stick except the last was taken and passed by, (K - 1, 2)."""
    passed = np.cumsum(orders[::-1])[::-1][1:]
    return np.stack([orders[:-1], passed], axis=1)


def _tails(beta: Floats) -> Floats:
    """Return T_z = sum of beta_z' over z' >= z; T_1 = 1 is a constant."""
    tails = np.cumsum(beta[::-1])[::-1].copy()
    tails[0] = 1.0
    return tails


def log_joint(prior: TopPrior, families: Sequence[Family], weights: Sequence[Floats]) -> float:
    """Return L(beta), without the terms that are the same for all weights."""
    total = sum(prior.log_density(beta) for beta in weights)
    for family in families:
        base = family.prior(weights)
        total += float(np.sum(gammaln(base + family.counts) - gammaln(base)))
    return float(total)


def gradient(
    prior: TopPrior, families: Sequence[Family], weights: Sequence[Floats]
) -> list[Floats]:
    """Return the derivatives of L(beta), as if all weights were free (ERRATA of (52)-(54))."""
    slopes = [prior.gradient(beta) for beta in weights]
    for family in families:
        base = family.prior(weights)
        cells = family.concentration * np.sum(psi(base + family.counts) - psi(base), axis=0)
        if family.right is None:
            slopes[family.left] = slopes[family.left] + cells
        else:
            slopes[family.left] = slopes[family.left] + cells @ weights[family.right]
            slopes[family.right] = slopes[family.right] + cells.T @ weights[family.left]
    return slopes


def maximize(
    prior: TopPrior, families: Sequence[Family], weights: Sequence[Floats]
) -> list[Floats]:
    """Return weights at which L is not lower than at `weights`, at or near a local maximum."""
    if prior.concentration is None:
        return list(weights)
    sizes = [len(beta) for beta in weights]
    ends = np.cumsum(sizes)[:-1]
    shares = [1.0 - n * MIN_WEIGHT for n in sizes]

    # Steps in the logits are multiplicative: weights near the edge move as easily as others.
    def weights_of(logits: Floats) -> list[Floats]:
        parts = np.split(logits, ends)
        return [
            MIN_WEIGHT + share * softmax(part) for share, part in zip(shares, parts, strict=True)
        ]

    def objective(logits: Floats) -> tuple[float, Floats]:
        at = weights_of(logits)
        slopes = []
        for slope, beta, share in zip(gradient(prior, families, at), at, shares, strict=True):
            free = (beta - MIN_WEIGHT) / share
            slopes.append(share * free * (slope - free @ slope))
        return -log_joint(prior, families, at), -np.concatenate(slopes)

    start = np.concatenate(
        [
            np.log(np.maximum(beta - MIN_WEIGHT, np.exp(-_MAX_LOGIT) * share))
            for beta, share in zip(weights, shares, strict=True)
        ]
    )
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-_MAX_LOGIT, _MAX_LOGIT)] * len(start),
        options={"maxiter": _MAX_STEPS},
    )
    best = weights_of(found.x)
    if log_joint(prior, families, best) < log_joint(prior, families, weights):
        return list(weights)
    return best
