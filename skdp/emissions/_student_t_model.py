"""Vectors with outliers in a stored sample: what the next observation of a state follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from skdp._typing import Floats
from skdp.emissions import _kernels_gaussian as gaussian
from skdp.emissions import _kernels_scale_mixture as kernels
from skdp.emissions._gaussian_model import (
    check_numbers,
    factorise_precisions,
    log_determinants,
)
from skdp.emissions._kernels_student import log_normaliser_of
from skdp.emissions._marginals import fill_by_means, fill_by_regression

_LOWEST = -60.0
"""Smallest log u of a node: that of an outlier of 1e13 deviations."""

_TAIL = 700.0
"""Nodes whose weights would be below exp(-700) are left out."""


class Nodes(NamedTuple):
    """A discrete distribution of u that stands for Gamma(nu / 2, nu / 2).

    Trapezoids in log u: for smooth functions of log u, errors fall exponentially with the step.

    Attributes
    ----------
    logs, log_weights : (Q,) arrays
    """

    logs: Floats
    log_weights: Floats


def make_nodes(freedom: float, width: int, step: float = 0.4, tail: float = _TAIL) -> Nodes:
    """Return nodes whose steps suit densities of some columns.

    Parameters
    ----------
    freedom : float
        nu.
    width : int
        n, the number of columns.
    step : float, default=0.4
        Of log u, at most. Errors are of the order of exp(-10 / step).
    tail : float, default=700.0
        Weights are above exp(-tail), compared to the largest one.
    """
    shape = 0.5 * freedom
    step = min(step, 0.6 / np.sqrt(shape + 0.5 * width))  # a share of the deviation of log u
    grid = np.arange(_LOWEST, 10.0, step)
    if shape > 100.0:  # all weight is near 0, and steps are small
        reach = np.sqrt(4.0 * tail / shape)
        grid = np.arange(-reach, reach, step)
    logs = shape * (grid - np.exp(grid) + 1.0)
    kept = logs > -tail
    logs = logs[kept]
    return Nodes(grid[kept], logs - np.log(np.exp(logs).sum()))


@dataclass(frozen=True, eq=False)
class ScaleMixtureMarginals:
    """Student t columns whose locations and scales are not quite known.

    Given u, a column follows a Student t distribution with df degrees of freedom about its
    location, with a squared scale times 1 / u + 1 / c.

    Attributes
    ----------
    locations, scales, freedoms, precisions : (J, D) arrays
        The last two are df and c.
    freedom : float
        nu of u ~ Gamma(nu / 2, nu / 2).
    """

    locations: Floats
    scales: Floats
    freedoms: Floats
    precisions: Floats
    freedom: float

    @property
    def means(self) -> Floats:
        """Means; NaN with one degree of freedom or less."""
        known = (self.freedoms > 1.0) & (self.freedom > 1.0)
        return np.where(known, self.locations, np.nan)

    @property
    def variances(self) -> Floats:
        """Variances; infinite with two degrees of freedom or less."""
        if self.freedom <= 2.0:
            return np.full(self.scales.shape, np.inf)
        above = np.where(self.freedoms > 2.0, self.freedoms - 2.0, 1.0)
        ratios = np.where(self.freedoms > 2.0, self.freedoms / above, np.inf)
        spread = self.freedom / (self.freedom - 2.0) + 1.0 / self.precisions
        return self.scales**2 * ratios * spread

    def parameters(self, column: int) -> Floats:
        """Return what tells the states' distributions of a column apart."""
        arrays = self.locations, self.scales, self.freedoms, self.precisions
        return np.column_stack([array[:, column] for array in arrays])

    def take(self, states: NDArray[np.intp]) -> Self:
        """Return the distributions of some states."""
        return replace(
            self,
            locations=self.locations[states],
            scales=self.scales[states],
            freedoms=self.freedoms[states],
            precisions=self.precisions[states],
        )

    def is_discrete(self, column: int) -> bool:
        """Return False."""
        return False

    def _spread(self, column: int) -> tuple[Floats, Floats]:
        """Return the scales of all nodes and states, (Q, J), and the nodes' weights."""
        nodes = make_nodes(self.freedom, 0, step=0.6, tail=25.0)
        precisions = self.precisions[:, column]
        factors = np.sqrt(np.exp(-nodes.logs)[:, np.newaxis] + 1.0 / precisions)
        return self.scales[:, column] * factors, np.exp(nodes.log_weights)

    def cdf(self, x: Floats, column: int) -> Floats:
        """Return P(X <= x), (..., J)."""
        scales, weights = self._spread(column)
        away = x[..., np.newaxis] - self.locations[:, column]
        out = np.zeros(away.shape)
        for scale, weight in zip(scales, weights, strict=True):
            out += weight * stdtr(self.freedoms[:, column], away / scale)
        return out

    def brackets(self, q: Floats, column: int) -> tuple[Floats, Floats]:
        """Return bounds of the quantiles of all states, a little wider than they are."""
        scales, _ = self._spread(column)
        z = stdtrit(self.freedoms[:, column], q[:, np.newaxis])
        ends = np.array([scales.min(axis=0), scales.max(axis=0)])[:, np.newaxis]
        x = self.locations[:, column] + ends * z
        margins = 1e-6 * ends * (np.abs(z) + 1.0)
        return (x - margins).min(axis=(0, 2)), (x + margins).max(axis=(0, 2))


@dataclass(frozen=True, eq=False)
class StudentTModel:
    """Student t vectors, and what is left unknown of their locations and scales.

    Given the weight u ~ Gamma(nu / 2, nu / 2) of the next observation, and with mu and Sigma
    integrated out, it follows a Student t distribution about `means` with `freedoms` degrees of
    freedom and the scale ``scales * ratios / freedoms * (1 / u + 1 / precisions)``; u is integrated
    out numerically.

    Attributes
    ----------
    means : (J, D) array
    scales : (J, D, D) or (J, D) array
        Posterior means of Sigma of each state (or the inverse of that of its inverse), or squared
        scales where columns are independent.
    degrees_of_freedom : float
        nu.
    freedoms, ratios, precisions : (J,) or (J, D) arrays
        Of each state, or of each column where columns are independent.
    """

    means: Floats
    scales: Floats
    degrees_of_freedom: float
    freedoms: Floats
    ratios: Floats
    precisions: Floats

    @property
    def covariances(self) -> Floats:
        """(J, D, D) or (J, D) array: of t distributions with these scales; infinite to nu = 2."""
        nu = self.degrees_of_freedom
        if nu <= 2.0:
            return np.full(self.scales.shape, np.inf)
        return self.scales * (nu / (nu - 2.0))

    def _blocks(self) -> list[tuple[NDArray[np.int64], Floats, Floats, Floats]]:
        """Return columns, S, df and c of each block of columns."""
        n_dims = self.means.shape[1]
        if self.scales.ndim == 3:
            wide = self.scales * self.ratios[:, np.newaxis, np.newaxis]
            return [(np.arange(n_dims), wide, self.freedoms, self.precisions)]
        wide = (self.scales * self.ratios)[:, :, np.newaxis, np.newaxis]
        return [
            (np.array([d]), wide[:, d], self.freedoms[:, d], self.precisions[:, d])
            for d in range(n_dims)
        ]

    def log_obs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log density of what was observed of every step in every state, (N, J)."""
        check_numbers(values)
        n_states = len(self.means)
        known = (
            self.means,
            self.freedoms.reshape(n_states, -1),
            self.precisions.reshape(n_states, -1),
        )
        _, states, twins = np.unique(
            np.column_stack(known), axis=0, return_index=True, return_inverse=True
        )
        return self.reorder(states)._log_obs(values)[:, twins.ravel()]

    def _log_obs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `log_obs` of states of which no two are equal; all that are not in use are."""
        out = np.zeros((len(values), len(self.means)))
        for columns, wide, freedoms, precisions in self._blocks():
            nodes = make_nodes(self.degrees_of_freedom, len(columns))
            spread = np.exp(-nodes.logs) + 1.0 / precisions[:, np.newaxis]
            known = nodes.log_weights, nodes.logs, 1.0 / spread, -np.log(spread)
            hidden = np.isnan(values[:, columns])
            patterns, places = np.unique(hidden, axis=0, return_inverse=True)
            for i, pattern in enumerate(patterns):
                seen = columns[~pattern]
                if len(seen) == 0:
                    continue
                own = np.flatnonzero(~pattern)
                rows = np.flatnonzero(places.ravel() == i)
                distances, constants = self._measure(
                    values[rows[:, np.newaxis], seen], seen, wide[:, own[:, np.newaxis], own]
                )
                part = np.empty(distances.shape)
                half_n = 0.5 * len(seen)
                kernels.mix_precisions(
                    distances, half_n, 0.5 * self.degrees_of_freedom, 0.5 * freedoms + half_n,
                    *known, np.empty(len(nodes.logs)), part,
                )  # fmt: skip
                normalisers = [log_normaliser_of(float(df), float(len(seen))) for df in freedoms]
                out[rows] += part + constants + np.array(normalisers)
        return out

    def _measure(
        self, values: Floats, columns: NDArray[np.int64], wide: Floats
    ) -> tuple[Floats, Floats]:
        """Return squared distances from all states, (N, J), and - log det S / 2, (J,)."""
        factors = factorise_precisions(wide)
        distances = np.empty((len(values), len(self.means)))
        kernels.measure_all(
            np.ascontiguousarray(values), np.ascontiguousarray(self.means[:, columns]), factors,
            distances,
        )  # fmt: skip
        return distances, log_determinants(factors)

    def sample(self, states: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return an observation for each state, (N, D), with the density of `log_obs`."""
        shape = 0.5 * self.degrees_of_freedom
        out = np.empty((len(states), self.means.shape[1]))
        for columns, wide, freedoms, precisions in self._blocks():
            noise = rng.standard_normal((len(states), len(columns)))
            noise = np.einsum("tde,te->td", np.linalg.cholesky(wide)[states], noise)
            weights = np.maximum(rng.standard_gamma(shape, len(states)) / shape, 1e-150)
            roots = np.maximum(np.sqrt(rng.chisquare(freedoms[states])), gaussian.SMALLEST_ROOT)
            spread = np.sqrt(1.0 / weights + 1.0 / precisions[states]) / roots
            out[:, columns] = self.means[states][:, columns] + spread[:, np.newaxis] * noise
        return out

    def marginals(self) -> ScaleMixtureMarginals:
        """Return the distributions of single columns of the next observation."""
        scales, ratios, freedoms, precisions = (
            self.scales, self.ratios, self.freedoms, self.precisions
        )  # fmt: skip
        if scales.ndim == 3:
            scales = np.diagonal(scales, axis1=1, axis2=2)
            ratios, freedoms, precisions = (
                np.broadcast_to(x[:, np.newaxis], scales.shape)
                for x in (ratios, freedoms, precisions)
            )
        roots = np.sqrt(scales * ratios / freedoms)
        return ScaleMixtureMarginals(
            self.means, roots, freedoms, precisions, self.degrees_of_freedom
        )

    def fill(
        self, values: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return observations in which NaN is its mean given the rest of the row, (N, D).

        Parameters
        ----------
        values : (N, D) array
        weights : (N, J) array
            Probabilities of the states.
        """
        if self.scales.ndim == 3:
            return fill_by_regression(values, weights, self.means, self.scales)
        return fill_by_means(values, weights, self.means)

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same states in another order."""
        return replace(
            self,
            means=self.means[order],
            scales=self.scales[order],
            freedoms=self.freedoms[order],
            ratios=self.ratios[order],
            precisions=self.precisions[order],
        )
