"""Weighted products of distributions, and the weights that predict outcomes best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from skdp._numeric._typing import Floats, Places

_PENALTY = 1.0
"""Rate of the exponential prior of each weight."""


def log_pool(log_reference: Floats, log_ratios: Floats, weights: Floats) -> Floats:
    """Return log p(w) = log p_0(w) + sum_k weight_k log(p_k(w) / p_0(w)) - constant, (n, W)."""
    pooled = log_reference.astype(float)
    for ratio, weight in zip(log_ratios, weights, strict=True):
        if weight > 0.0:
            pooled += weight * ratio
    pooled -= pooled.max(axis=1, keepdims=True)
    pooled -= np.log(np.exp(pooled).sum(axis=1, keepdims=True))
    return pooled


class PoolObjective(NamedTuple):
    """Log probability of outcomes under weighted products; it is concave in the weights."""

    log_reference: Floats  # (n, n_outcomes)
    log_ratios: Floats  # (n_chains, n, n_outcomes), log(p_k / p_0)
    outcomes: Places  # (n,)
    counts: Floats  # (n,), how often each event occurred

    @classmethod
    def of(
        cls, reference: Floats, chains: list[Floats], outcomes: Places, counts: Floats
    ) -> PoolObjective:
        """Return the objective, given distributions."""
        log_reference = np.log(reference)
        ratios = np.empty((len(chains), *reference.shape), np.float32)
        for k, distributions in enumerate(chains):
            ratios[k] = np.log(distributions) - log_reference
        return cls(log_reference, ratios, outcomes, counts)

    def residuals(self, weights: Floats) -> tuple[float, Floats, Floats]:
        """Return the log probability, the pooled distributions, and (is outcome - pooled)."""
        log_p = log_pool(self.log_reference, self.log_ratios, weights)
        rows = np.arange(len(self.outcomes))
        value = float(self.counts @ log_p[rows, self.outcomes])
        pooled = np.exp(log_p)
        left = -pooled
        left[rows, self.outcomes] += 1.0
        return value, pooled, left

    def loss(self, weights: Floats) -> tuple[float, Floats]:
        """Return the penalized negative log probability and its gradient."""
        value, _, left = self.residuals(weights)
        left *= self.counts[:, None]
        flat = left.ravel().astype(np.float32)
        gradient = np.array([ratio.ravel() @ flat for ratio in self.log_ratios], float)
        return _PENALTY * float(weights.sum()) - value, _PENALTY - gradient

    def gains(self, weights: Floats, chains: list[Floats]) -> Floats:
        """Return the approximate gain in log probability by each of further chains."""
        _, pooled, left = self.residuals(weights)
        left *= self.counts[:, None]
        gains = np.zeros(len(chains))
        for k, distributions in enumerate(chains):
            ratio = np.log(distributions) - self.log_reference
            slope = float(np.vdot(left, ratio)) - _PENALTY
            mean = np.einsum("nw,nw->n", pooled, ratio)
            spread = np.einsum("nw,nw,nw->n", pooled, ratio, ratio) - mean**2
            curvature = float(self.counts @ spread)
            if slope > 0.0 and curvature > 0.0:
                gains[k] = 0.5 * slope**2 / curvature
        return gains


def fit_pool_weights(objective: PoolObjective, start: Floats | None = None) -> Floats:
    """Return the weights >= 0 that maximize the penalized log probability of the outcomes."""
    n_chains = len(objective.log_ratios)
    if n_chains == 0:
        return np.empty(0)
    first = np.full(n_chains, 1.0 / n_chains) if start is None else start
    found = minimize(
        objective.loss, first, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * n_chains,
        options={"maxiter": 200},
    )  # fmt: skip
    return np.asarray(found.x, float)
