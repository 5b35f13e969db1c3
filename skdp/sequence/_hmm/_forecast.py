"""Forecasts: probabilities of the following states, mixtures of observations, data frames."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from skdp._numeric import Floats, Places
from skdp.data._frames import continue_index
from skdp.emissions._common._marginals import Marginals, NumberMarginals

_ROOM = 2**22
"""Largest number of values of the states' cumulative distributions to evaluate at a time."""

_MOST_STEPS = 300
"""Bound on the steps of a search, far more than any search takes."""

_N_NODES, _N_STAGES = 48, 3
"""Number of points at which the distributions of all steps are evaluated to bracket quantiles, and
number of stages, each of which refines the points of the previous one."""

_PRECISION = 1e-10
"""Precision of the probabilities of quantiles, relative to the smaller tail."""


def pick(ends: Floats, uniform: Any) -> Any:
    """Return indices drawn in proportion to weights, given their cumulative sums."""
    places = np.searchsorted(ends, uniform * ends[-1], side="right")
    return np.minimum(places, len(ends) - 1)


def follow(ends: Floats, transmat: Floats, leaving: Floats | None, n_steps: int) -> Floats:
    """Return the probabilities of the next states, (n, n_steps, J), after `ends`, (n, A, J)."""
    out = np.empty((len(ends), n_steps, ends.shape[2]))
    for s, ages in enumerate(ends):
        for h in range(n_steps):
            ages = move_ahead(ages, transmat, leaving)
            row = ages.sum(axis=0)
            out[s, h] = row / row.sum()
    return out


def move_ahead(ages: Floats, transmat: Floats, leaving: Floats | None) -> Floats:
    """Return the probabilities of states and ages, (A, J), after one more step."""
    if leaving is None:
        return ages @ transmat
    gone = ages * leaving
    moved = np.empty(ages.shape)
    moved[0] = gone.sum(axis=0) @ transmat
    moved[1:] = (ages - gone)[:-1]  # nothing is older than the longest duration
    return moved


def find_leaving(tables: tuple[Floats, Floats] | None) -> Floats | None:
    """Return P(D = d given D >= d), (D, J), given log tables (J, D); None without durations."""
    if tables is None:
        return None
    log_pmf, log_survival = tables
    reached = log_survival > -np.inf
    logs = np.where(reached, log_pmf, 0.0) - np.where(reached, log_survival, 0.0)
    leaving = np.minimum(np.exp(logs), 1.0)
    leaving[:, -1] = 1.0
    return np.ascontiguousarray(leaving.T)


class StateMoves:
    """Steps of states and the ages of their segments, forward and back."""

    def __init__(self, transmat: Floats, tables: tuple[Floats, Floats] | None):
        self.transmat, self.leaving = transmat, find_leaving(tables)
        if len(transmat) == 1:  # the only state has no successor: it stays
            self.transmat, self.leaving = np.ones((1, 1)), None
        self.n_ages = 1 if self.leaving is None else len(self.leaving)

    def move(self, ages: Floats) -> Floats:
        """Return amounts of states and ages, (A, J, ...), after one more step."""
        if self.leaving is None:
            return np.tensordot(self.transmat.T, ages.sum(axis=0), 1)[np.newaxis]
        leaving = self.leaving.reshape(self.leaving.shape + (1,) * (ages.ndim - 2))
        gone = ages * leaving
        moved = np.empty_like(ages)
        moved[0] = np.tensordot(self.transmat.T, gone.sum(axis=0), 1)
        moved[1:] = (ages - gone)[:-1]  # nothing is older than the longest duration
        return moved

    def move_back(self, later: Floats) -> Floats:
        """Return expected values, (A, J, ...), one step before values of states and ages."""
        if self.leaving is None:
            return np.tensordot(self.transmat, later[0], 1)[np.newaxis]
        leaving = self.leaving.reshape(self.leaving.shape + (1,) * (later.ndim - 2))
        moved = leaving * np.tensordot(self.transmat, later[0], 1)
        moved[:-1] += (1.0 - leaving[:-1]) * later[1:]
        return moved


class Mixture:
    """Mixtures of the states of several models, one mixture for each step."""

    def __init__(self, weights: list[Floats], parts: list[Marginals]):
        self._weights, self._parts = weights, parts  # (H, J) each; all weights of a step sum to 1
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
        """Return the same mixture for a column, with equal states of each model combined."""
        mixed, parts = [], []
        for weights, part in zip(self._weights, self._parts, strict=True):
            _, states, places = np.unique(
                part.parameters(column), axis=0, return_index=True, return_inverse=True
            )
            mixed.append(weights @ np.eye(len(states))[places.ravel()])
            parts.append(part.take(states))
        return Mixture(mixed, parts)

    def _find_quantiles(self, q: Floats, column: int) -> Floats:
        """Return quantiles of a column, (H, Q), computed for some steps at a time."""
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
        """Return quantiles of a continuous column, (H, Q), by Chandrupatla's method (1997): inverse
        quadratic interpolation if three points show that it is safe, and bisection otherwise.
        """
        parts = cast("list[NumberMarginals]", self._parts)
        bounds = np.array([part.brackets(q, column) for part in parts])
        low, high = bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)
        steps, levels = np.divmod(np.arange(len(self._weights[0][rows]) * len(q)), len(q))
        x1, x2, f1, f2 = self._bracket(q, low, high, column, rows)
        share, narrow = np.full(len(x1), 0.5), 1e-17 * (high - low)[levels]
        enough = _PRECISION * np.minimum(q, 1.0 - q)[levels]
        out, left = np.empty(len(x1)), np.arange(len(x1))
        for _ in range(_MOST_STEPS):
            x = x1 + share * (x2 - x1)
            f = self._cdf_of(x, column, rows, steps[left]) - q[levels[left]]
            same = (f > 0.0) == (f1 > 0.0)
            x3, f3 = np.where(same, x1, x2), np.where(same, f1, f2)
            x2, f2 = np.where(same, x2, x1), np.where(same, f2, f1)
            x1, f1 = x, f
            best = np.where(np.abs(f1) < np.abs(f2), x1, x2)
            out[left] = best
            least = np.maximum(narrow[left], 4e-15 * np.abs(best))
            least /= np.maximum(np.abs(x2 - x1), 1e-300)
            with np.errstate(divide="ignore", invalid="ignore"):
                xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
                share = f1 / (f2 - f1) * f3 / (f2 - f3)
                share += (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
                safe = (phi**2 < xi) & ((1.0 - phi) ** 2 < 1.0 - xi) & np.isfinite(share)
            open_ = (least <= 0.5) & (np.minimum(np.abs(f1), np.abs(f2)) > enough[left])
            if not open_.any():
                break
            least = np.minimum(least, 0.5)
            share = np.clip(np.where(safe, share, 0.5), least, 1.0 - least)
            left, share = left[open_], share[open_]
            x1, x2, f1, f2 = x1[open_], x2[open_], f1[open_], f2[open_]
        return out.reshape(-1, len(q))

    def _bracket(
        self, q: Floats, low: Floats, high: Floats, column: int, rows: slice
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return points above and below quantiles and P(X <= x) - q there: four (H Q,) arrays."""
        shape = len(self._weights[0][rows]), len(q)
        if shape[0] * shape[1] <= 2 * _N_NODES:  # nodes save no time
            x1, x2 = (np.broadcast_to(end, shape) for end in (high, low))
            f1, f2 = (self._cdf(x, column, rows) - q for x in (x1, x2))
        else:
            nodes, i = np.linspace(low.min(), high.max(), _N_NODES), np.empty(0, dtype=np.intp)
            for stage in range(_N_STAGES):
                if stage > 0:  # add nodes around the quantiles
                    cells = np.unique(i)
                    shares = np.arange(1.0, 1.0 + max(1, _N_NODES // len(cells)))
                    shares /= shares[-1] + 1.0
                    widths = nodes[cells] - nodes[cells - 1]
                    within = nodes[cells - 1] + shares[:, np.newaxis] * widths
                    nodes = np.union1d(within, nodes[np.union1d(cells, cells - 1)])
                table = np.zeros((shape[0], len(nodes)))
                for weights, part in zip(self._weights, self._parts, strict=True):
                    table += weights[rows] @ part.cdf(nodes, column).T
                above = [np.searchsorted(row, q) for row in np.maximum.accumulate(table, axis=1)]
                i = np.clip(above, 1, len(nodes) - 1)
            x1, x2 = nodes[i], nodes[i - 1]
            f1, f2 = (np.take_along_axis(table, k, axis=1) - q for k in (i, i - 1))
        return x1.ravel(), x2.ravel(), f1.ravel(), f2.ravel()

    def _cdf_of(self, x: Floats, column: int, rows: slice, steps: Places) -> Floats:
        """Return P(X <= x), (n,), at n points, each under the mixture of its step."""
        total = np.zeros(len(x))
        for weights, part in zip(self._weights, self._parts, strict=True):
            total += np.einsum("nj,nj->n", part.cdf(x, column), weights[rows][steps])
        return total

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


# Forecasts as data frames whose index continues that of the observations.


Forecast = dict[str, Any]
"""The entries of the forecast of one sequence, arrays by name."""


def has_index(X: Any) -> bool:
    """Return whether X is a pandas data frame."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def as_frame(frame: Any, forecast: Forecast, levels: Floats, symbols: Any) -> Any:
    """Return the forecast after the rows of a data frame as a data frame."""
    import pandas as pd

    if "mean" not in forecast:
        proba = forecast["proba"]
        names = range(proba.shape[1]) if symbols is None else symbols
        return pd.DataFrame(proba, continue_index(frame.index, len(proba)), list(names))
    mean, sd, quantiles = (forecast[name] for name in ("mean", "sd", "quantiles"))
    cells = np.concatenate([mean[..., np.newaxis], sd[..., np.newaxis], quantiles], axis=2)
    kinds: list[Any] = ["mean", "sd", *levels.tolist()]
    columns = pd.MultiIndex.from_product([list(frame.columns), kinds])
    index = continue_index(frame.index, len(mean))
    return pd.DataFrame(cells.reshape(len(mean), -1), index, columns)
