"""Forecasts: the states that follow, and mixtures of what is observed in them."""

from __future__ import annotations

from typing import cast

import numpy as np

from skdp._typing import Floats
from skdp.emissions._marginals import Marginals, NumberMarginals

_ROOM = 2**22
"""Numbers at a time where cumulative distributions of all states are evaluated."""

_MOST_STEPS = 300
"""Far more than any takes."""


def follow(ends: Floats, transmat: Floats, leaving: Floats | None, n_steps: int) -> Floats:
    """Return the probabilities of the states that follow, (n, n_steps, J).

    Parameters
    ----------
    ends : (n, A, J) array
        Probabilities of states and ages at the last step; A = 1 without durations.
    transmat : (J, J) array
    leaving : (A, J) array or None
        Probability that a segment of this age and state has ended; None without durations.
    """
    n, n_ages, n_states = ends.shape
    out = np.empty((n, n_steps, n_states))
    for s in range(n):
        ages = ends[s]
        for h in range(n_steps):
            if leaving is None:
                ages = ages @ transmat
            else:
                gone = ages * leaving
                older = ages - gone
                ages = np.empty((n_ages, n_states))
                ages[0] = gone.sum(axis=0) @ transmat
                ages[1:] = older[:-1]  # nothing is older than the longest duration
            row = ages.sum(axis=0)
            out[s, h] = row / row.sum()
    return out


def log_tables_to_leaving(log_pmf: Floats, log_survival: Floats) -> Floats:
    """Return P(D = d given D >= d), (D, J), of tables (J, D)."""
    reached = log_survival > -np.inf
    logs = np.where(reached, log_pmf, 0.0) - np.where(reached, log_survival, 0.0)
    leaving = np.minimum(np.exp(logs), 1.0)
    leaving[:, -1] = 1.0
    return np.ascontiguousarray(leaving.T)


class Mixture:
    """Mixtures of the states of some models, one for each of some steps.

    Parameters
    ----------
    weights : list of (H, J) arrays
        For each model the probabilities of its states at each step, all of which sum to 1.
    parts : list of Marginals
    """

    def __init__(self, weights: list[Floats], parts: list[Marginals]):
        self._weights, self._parts = weights, parts
        self.n_steps, self.n_columns = len(weights[0]), parts[0].means.shape[1]

    def moments(self) -> tuple[Floats, Floats]:
        """Return means and variances, (H, D), by the law of total variance."""
        shape = self.n_steps, self.n_columns
        mean, undefined, infinite = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for weights, part in zip(self._weights, self._parts, strict=True):
            known = ~np.isnan(part.means)
            mean += weights @ np.where(known, part.means, 0.0)
            undefined += weights @ ~known
        mean[undefined > 0.0] = np.nan
        variance = np.zeros(shape)
        for weights, part in zip(self._weights, self._parts, strict=True):
            finite = np.isfinite(part.variances)
            variance += weights @ np.where(finite, part.variances, 0.0)
            infinite += weights @ ~finite
            for h in range(self.n_steps):
                away = np.where(np.isnan(part.means), 0.0, part.means) - mean[h]
                variance[h] += weights[h] @ (away * away)
        variance[infinite > 0.0] = np.inf
        return mean, variance

    def quantiles(self, q: Floats) -> Floats:
        """Return quantiles, (H, D, Q)."""
        out = np.empty((self.n_steps, self.n_columns, len(q)))
        if len(q) == 0:
            return out
        for d in range(self.n_columns):
            out[:, d] = self._without_twins(d)._find_quantiles(q, d)
        return out

    def _without_twins(self, column: int) -> Mixture:
        """Return the same mixture of a column, in which no model has two equal states.

        All states that are not in use are equal.
        """
        mixed, parts = [], []
        for weights, part in zip(self._weights, self._parts, strict=True):
            _, states, places = np.unique(
                part.parameters(column), axis=0, return_index=True, return_inverse=True
            )
            mixed.append(weights @ np.eye(len(states))[places.ravel()])
            parts.append(part.take(states))
        return Mixture(mixed, parts)

    def _find_quantiles(self, q: Floats, column: int) -> Floats:
        """Return quantiles of a column, (H, Q), some steps at a time."""
        n_components = sum(weights.shape[1] for weights in self._weights)
        width = max(1, _ROOM // (len(q) * n_components))
        solve = self._find_integers if self._parts[0].is_discrete(column) else self._find_numbers
        steps = range(0, self.n_steps, width)
        return np.concatenate([solve(q, column, slice(first, first + width)) for first in steps])

    def _cdf(self, x: Floats, column: int, rows: slice) -> Floats:
        """Return P(X <= x), (H, Q), of the mixtures of some steps."""
        total = np.zeros(x.shape)
        for weights, part in zip(self._weights, self._parts, strict=True):
            total += np.einsum("hqj,hj->hq", part.cdf(x, column), weights[rows])
        return total

    def _find_numbers(self, q: Floats, column: int, rows: slice) -> Floats:
        """Return quantiles of a continuous column, (H, Q), by Chandrupatla's method (1997).

        Inverse quadratic interpolation where three points say that it is safe, halving elsewhere:
        mixtures whose modes lie far apart are no trouble.
        """
        parts = cast("list[NumberMarginals]", self._parts)
        bounds = np.array([part.brackets(q, column) for part in parts])
        shape = len(self._weights[0][rows]), len(q)
        x1 = np.broadcast_to(bounds[:, 1].max(axis=0), shape).copy()
        x2 = np.broadcast_to(bounds[:, 0].min(axis=0), shape).copy()
        f1, f2 = self._cdf(x1, column, rows) - q, self._cdf(x2, column, rows) - q
        share, narrow = np.full(shape, 0.5), 1e-14 * (x1 - x2)
        best = x1
        for _ in range(_MOST_STEPS):
            x = x1 + share * (x2 - x1)
            f = self._cdf(x, column, rows) - q
            same = (f > 0.0) == (f1 > 0.0)
            x3, f3 = np.where(same, x1, x2), np.where(same, f1, f2)
            x2, f2 = np.where(same, x2, x1), np.where(same, f2, f1)
            x1, f1 = x, f
            best = np.where(np.abs(f1) < np.abs(f2), x1, x2)
            least = np.maximum(narrow, 4e-15 * np.abs(best)) / np.maximum(np.abs(x2 - x1), 1e-300)
            if np.all((least > 0.5) | (f1 == 0.0)):
                break
            with np.errstate(divide="ignore", invalid="ignore"):
                xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
                share = f1 / (f2 - f1) * f3 / (f2 - f3)
                share += (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
                safe = (phi**2 < xi) & ((1.0 - phi) ** 2 < 1.0 - xi) & np.isfinite(share)
            least = np.minimum(least, 0.5)
            share = np.clip(np.where(safe, share, 0.5), least, 1.0 - least)
        return best

    def _find_integers(self, q: Floats, column: int, rows: slice) -> Floats:
        """Return the smallest integers whose cumulative probability is at least q, (H, Q)."""
        shape = len(self._weights[0][rows]), len(q)
        low, high = np.full(shape, -1.0), np.zeros(shape)
        while True:
            short = (self._cdf(high, column, rows) < q) & (high < 2.0**53)
            if not short.any():
                break
            low, high = np.where(short, high, low), np.where(short, 2.0 * high + 1.0, high)
        while np.any(high - low > 1.0):
            middle = np.floor(0.5 * (low + high))
            middle = np.where(high - low > 1.0, middle, high)
            enough = self._cdf(middle, column, rows) >= q
            high, low = np.where(enough, middle, high), np.where(enough, low, middle)
        return high
