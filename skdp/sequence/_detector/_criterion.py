"""A criterion by which segmentations of the same observations are compared."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_SHRINKAGE = 0.05
"""Variance, relative to that of a column, of the pseudo-observations added to each covariance: a
state of a few equal steps must not have an unbounded density."""


_LONGEST_MEMORY = 0.999


class Residuals(NamedTuple):
    """What is left of observations around the mean of their state.

    Attributes
    ----------
    now : (n,) array of int
        Numbers of the complete observations after a complete one of the same sequence.
    before, after : (n, D) arrays
        Residuals of the observations before these, and of these.
    """

    now: NDArray[np.int64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]

    @classmethod
    def of(
        cls, values: NDArray[np.float64], ptr: NDArray[np.int64], states: NDArray[np.int64]
    ) -> Residuals:
        """Return the residuals of observations as in `judge_states`."""
        complete = np.asarray(~np.isnan(values).any(axis=1))
        follows = np.concatenate([[False], complete[:-1]])
        follows[ptr[:-1]] = False
        used, numbers = np.unique(states[complete], return_inverse=True)
        residuals = np.full(values.shape, np.nan)
        own = values[complete]
        for k in range(len(used)):
            own[numbers == k] -= own[numbers == k].mean(axis=0)
        residuals[complete] = own
        now = np.flatnonzero(follows & complete)
        return cls(now, residuals[now - 1], residuals[now])

    @property
    def memory(self) -> NDArray[np.float64]:
        """The coefficient of the autoregression of each column, from 0 to .999, (D,)."""
        power = np.maximum((self.before**2).sum(axis=0), np.finfo(float).tiny)
        return np.clip((self.before * self.after).sum(axis=0) / power, 0.0, _LONGEST_MEMORY)


def judge_states(
    values: NDArray[np.float64],
    ptr: NDArray[np.int64],
    states: NDArray[np.int64],
    cost: float,
) -> float:
    """Return a penalized log likelihood of observations given their states; higher is better.

    Successive observations of a recording depend on each other beyond their states: a level drifts,
    and windows overlap. A hidden Markov model without this dependence explains a drift by many
    states. So the residuals of a state's mean follow an autoregression of order one, with one
    coefficient per column and one covariance per state:

        x_t - m(z_t) = a (x_t-1 - m(z_t-1)) + e_t,  e_t ~ N(0, S(z_t))

    A parameter costs `cost` log N, and so does the place of each change; a cost of 1/2 is the
    Bayesian information criterion.

    Parameters
    ----------
    values : (N, D) array
        Steps with NaN do not count.
    ptr : (n + 1,) array of int64
    states : (N,) array of int
    cost : float

    Returns
    -------
    float
    """
    variances = np.nanvar(values, axis=0)
    values = values[:, variances > 0.0]
    variances = variances[variances > 0.0]
    follows = np.ones(len(values), dtype=bool)
    follows[ptr[:-1]] = False
    n_changes = np.count_nonzero((np.diff(states) != 0) & follows[1:])
    used = np.unique(states[~np.isnan(values).any(axis=1)])
    residuals = Residuals.of(values, ptr, states)
    now, noise = residuals.now, residuals.after - residuals.memory * residuals.before
    n_columns = values.shape[1]
    n_parameters = n_columns * (1 + len(used))
    log_likelihood = 0.0
    n_pseudo = n_columns + 2
    prior = n_pseudo * _SHRINKAGE * np.diag(variances)
    for state in used:
        errors = noise[states[now] == state]
        if len(errors) == 0 or n_columns == 0:
            continue
        scatter = errors.T @ errors
        covariance = (scatter + prior) / (len(errors) + n_pseudo)
        log_likelihood -= 0.5 * len(errors) * np.linalg.slogdet(covariance)[1]
        log_likelihood -= 0.5 * np.trace(np.linalg.solve(covariance, scatter))
        n_parameters += n_columns * (n_columns + 1) // 2
    return float(log_likelihood - cost * (n_parameters + n_changes) * np.log(len(values)))
