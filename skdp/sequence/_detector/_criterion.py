"""A criterion by which segmentations of the same observations are compared.

Successive observations of a recording depend on each other beyond their states: a level drifts, and
windows overlap. A hidden Markov model without this dependence explains a drift by many states. So
the residuals of the states' means are an autoregression of order one, with a coefficient for each
column and a covariance for each state:

    x_t - m(z_t) = a (x_t-1 - m(z_t-1)) + e_t,  e_t ~ N(0, S(z_t))

Over a gap of k steps, a^k and the variance of k steps take the places of a and S(z_t).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_SHRINKAGE = 0.05
"""Variance, relative to that of a column, of the pseudo-observations added to each covariance: a
state of a few equal steps must not have an unbounded density."""


_LONGEST_MEMORY = 0.999


class Residuals(NamedTuple):
    """What is left of observations when the means of their states are subtracted."""

    now: NDArray[np.int64]  # (n,) complete observations after another one in their sequence
    lags: NDArray[np.int64]  # (n,) how many steps ago that one was
    before: NDArray[np.float64]  # (n, D) residuals of the earlier ones
    after: NDArray[np.float64]  # (n, D) residuals of these

    @classmethod
    def of(
        cls, values: NDArray[np.float64], ptr: NDArray[np.int64], states: NDArray[np.int64]
    ) -> Residuals:
        """Return the residuals of observations as in `judge_states`."""
        complete = np.flatnonzero(~np.isnan(values).any(axis=1))
        used, numbers = np.unique(states[complete], return_inverse=True)
        residuals = values[complete]
        for k in range(len(used)):
            residuals[numbers == k] -= residuals[numbers == k].mean(axis=0)
        sequences = np.searchsorted(ptr, complete, side="right")
        follows = np.flatnonzero(sequences[1:] == sequences[:-1]) + 1
        now, last = complete[follows], complete[follows - 1]
        return cls(now, now - last, residuals[follows - 1], residuals[follows])

    @property
    def usual_lag(self) -> int:
        """The lag with the most pairs of observations; the shortest of them."""
        return max(int(np.bincount(self.lags, minlength=2).argmax()), 1)

    @property
    def correlations(self) -> NDArray[np.float64]:
        """The share of a residual that is left after the usual lag, from 0 to 1, (D,)."""
        usual = self.lags == self.usual_lag
        before, after = self.before[usual], self.after[usual]
        power = np.maximum((before**2).sum(axis=0), np.finfo(float).tiny)
        return np.clip((before * after).sum(axis=0) / power, 0.0, 1.0)

    @property
    def memory(self) -> NDArray[np.float64]:
        """The coefficient of the autoregression of each column, from 0 to .999, (D,)."""
        return np.minimum(self.correlations ** (1.0 / self.usual_lag), _LONGEST_MEMORY)

    def noise(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the noise of each observation scaled to one step, and its scale, (n, D) each."""
        memory, lags = self.memory, self.lags[:, np.newaxis]
        # After k steps, noise of variance s has the variance s (1 - a^2k) / (1 - a^2).
        scales = np.sqrt((1.0 - memory ** (2 * lags)) / (1.0 - memory**2))
        return (self.after - memory**lags * self.before) / scales, scales


def judge_states(
    values: NDArray[np.float64],
    ptr: NDArray[np.int64],
    states: NDArray[np.int64],
    cost: float,
) -> float:
    """Return a penalized log likelihood of the complete steps given states; higher is better."""
    variances = np.nanvar(values, axis=0)
    values = values[:, variances > 0.0]
    variances = variances[variances > 0.0]
    is_inner = np.ones(len(values), dtype=bool)
    is_inner[ptr[:-1]] = False
    n_changes = np.count_nonzero((np.diff(states) != 0) & is_inner[1:])
    used = np.unique(states[~np.isnan(values).any(axis=1)])
    residuals = Residuals.of(values, ptr, states)
    noise, scales = residuals.noise()
    n_columns = values.shape[1]
    n_parameters = n_columns * (1 + len(used))
    log_likelihood = -np.log(scales).sum()
    n_pseudo = n_columns + 2
    prior = n_pseudo * _SHRINKAGE * np.diag(variances)
    for state in used:
        errors = noise[states[residuals.now] == state]
        if len(errors) == 0 or n_columns == 0:
            continue
        scatter = errors.T @ errors
        covariance = (scatter + prior) / (len(errors) + n_pseudo)
        log_likelihood -= 0.5 * len(errors) * np.linalg.slogdet(covariance)[1]
        log_likelihood -= 0.5 * np.trace(np.linalg.solve(covariance, scatter))
        n_parameters += n_columns * (n_columns + 1) // 2
    # With a cost of 1/2, this is the Bayesian information criterion.
    return float(log_likelihood - cost * (n_parameters + n_changes) * np.log(len(values)))
