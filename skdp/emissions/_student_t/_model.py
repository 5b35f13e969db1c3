"""Vectors with outliers in a stored sample: distributions of the next observation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from skdp._numeric._typing import Floats
from skdp._numeric._unique_rows import unique_rows
from skdp.emissions._gaussian import _kernels as gaussian
from skdp.emissions._gaussian._kernels_student import log_normalizer_of
from skdp.emissions._gaussian._model import (
    check_numbers,
    factorize_precisions,
    log_determinants,
)
from skdp.emissions._marginals import (
    draw_by_regression,
    fill_by_means,
    fill_by_regression,
    log_student,
)
from skdp.emissions._student_t import _kernels as kernels

_LOWEST = -60.0
"""Smallest log u of a node: that of an outlier of 1e13 deviations."""

_TAIL = 700.0
"""Nodes whose weights would be below exp(-700) are left out."""

_PIECES_PER_UNIT = 2.0
"""Pieces of a logarithm in which densities are polynomials, for each unit of it."""

_N_POINTS = 12
"""Points at which a piece is exact."""

_EXACT = 1e-11
"""Largest error of a polynomial: relative, or absolute if the exact value is below 1."""


class QuadratureNodes(NamedTuple):
    """A discrete distribution of u that approximates Gamma(nu / 2, nu / 2): trapezoids in log u."""

    logs: Floats  # (Q,)
    log_weights: Floats  # (Q,)


def make_nodes(
    freedom: float, width: int, step: float = 0.4, tail: float = _TAIL
) -> QuadratureNodes:
    """Return nodes with steps that are small enough for the densities of `width` columns.
    Errors are of the order of exp(-10 / step), weights above exp(-tail) times the largest one.
    """
    shape = 0.5 * freedom
    step = min(step, 0.6 / np.sqrt(shape + 0.5 * width))  # a share of the deviation of log u
    if shape > 100.0:  # all weight is near 0, and steps are small
        reach = np.sqrt(4.0 * tail / shape)
        grid = np.arange(-reach, reach, step)
        logs = shape * (grid - np.expm1(grid))
    else:
        grid = np.arange(_LOWEST, 10.0, step)
        logs = shape * (grid - np.exp(grid) + 1.0)
    kept = logs > -tail
    logs = logs[kept]
    return QuadratureNodes(grid[kept], logs - np.log(np.exp(logs).sum()))


class ScaleMixture:
    """Densities of vectors as functions of their squared distances, with u integrated out.
    A sum over all nodes takes a hundred times as long as a Gaussian density.
    """

    def __init__(self, n_columns: int, freedom: float, freedoms: Floats, known: tuple[Floats, ...]):
        # `known` describes the nodes: the arguments of `mix_precisions` from `log_weights` on.
        self._half_n, self._shape, self._known = 0.5 * n_columns, 0.5 * freedom, known
        self._exponents = 0.5 * freedoms + self._half_n
        self._scales = 2.0 * self._exponents / min(freedom, 4.0)

    def __call__(self, distances: Floats) -> Floats:
        """Return the logarithms of the mixtures, (N, J), up to constants."""
        # Many distances: polynomials in log(1 + a d), in which the log density is close to linear.
        highest = np.log1p(distances.max(axis=0, initial=0.0) * self._scales).max(initial=0.0)
        n_pieces = int(_PIECES_PER_UNIT * highest) + 1
        if len(distances) < 4 * n_pieces * _N_POINTS:
            return self._add_up(distances)
        coefficients = self._fit_pieces(n_pieces)
        if coefficients is None:
            return self._add_up(distances)
        out = np.empty(distances.shape)
        kernels.interpolate(distances, self._scales, _PIECES_PER_UNIT, coefficients, out)
        return out

    def _add_up(self, distances: Floats) -> Floats:
        """Return the same, from sums over all nodes."""
        out = np.empty(distances.shape)
        kernels.mix_precisions(
            distances, self._half_n, self._shape, self._exponents, *self._known,
            np.empty(len(self._known[0])), out,
        )  # fmt: skip
        return out

    def _fit_pieces(self, n_pieces: int) -> Floats | None:
        """Return the coefficients of polynomials, (J, P, M), or None if they are not exact."""
        angles = np.arange(2 * _N_POINTS + 1) * np.pi / (2 * _N_POINTS)
        x = np.cos(angles)
        points, between = x[1::2], x[::2]
        at_points, at_others = (
            self._add_up(np.expm1(self._place(grid, n_pieces)) / self._scales)
            .T.reshape(-1, n_pieces, len(grid))
            for grid in (points, between)
        )  # fmt: skip
        coefficients = np.linalg.solve(
            np.vander(points, increasing=True), at_points.reshape(-1, _N_POINTS).T
        )
        found = np.vander(between, _N_POINTS, increasing=True) @ coefficients
        errors = np.abs(found.T.reshape(at_others.shape) - at_others)
        if not np.all(errors <= _EXACT * (1.0 + np.abs(at_others))):
            return None
        return np.ascontiguousarray(coefficients.T.reshape(at_points.shape))

    @staticmethod
    def _place(grid: Floats, n_pieces: int) -> Floats:
        """Return points of all pieces, (P M, 1), given those from -1 to 1."""
        within = np.arange(n_pieces)[:, np.newaxis] + 0.5 * (grid + 1.0)
        return within.reshape(-1, 1) / _PIECES_PER_UNIT


@dataclass(frozen=True, eq=False)
class ScaleMixtureMarginals:
    """Columns that are Student t given u, with a squared scale times 1 / u + 1 / c."""

    locations: Floats  # (J, D)
    scales: Floats  # (J, D)
    freedoms: Floats  # (J, D): df
    precisions: Floats  # (J, D): c
    freedom: float  # nu of u ~ Gamma(nu / 2, nu / 2)

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
        """Return the parameters of a column, by which equal states are found."""
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

    def log_density(self, x: Floats, column: int) -> Floats:
        """Return the log densities of numbers, (..., J)."""
        scales, weights = self._spread(column)
        away = x[..., np.newaxis] - self.locations[:, column]
        logs = np.full(away.shape, -np.inf)
        for scale, weight in zip(scales, weights, strict=True):
            own = log_student(away / scale, self.freedoms[:, column])
            logs = np.logaddexp(logs, own + np.log(weight / scale))
        return logs

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
    """Student t vectors, and the remaining uncertainty of their locations and scales.

    Given the weight u ~ Gamma(nu / 2, nu / 2) of the next observation, and with mu and Sigma
    integrated out, it follows a Student t distribution about `means` with `freedoms` degrees of
    freedom and the scale ``scales * ratios / freedoms * (1 / u + 1 / precisions)``; u is integrated
    out numerically.

    Attributes
    ----------
    means : (J, D) array
    scales : (J, D, D) or (J, D) array
        Posterior means of Sigma of each state (or inverses of the means of its inverse), or squared
        scales if columns are independent.
    degrees_of_freedom : float
        nu.
    freedoms, ratios, precisions : (J,) or (J, D) arrays
        Values for each state, or for each column of each state if columns are independent.
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
        """Return the log density of the observed values of every step in every state, (N, J)."""
        check_numbers(values)
        n_states = len(self.means)
        known = (
            self.means,
            self.freedoms.reshape(n_states, -1),
            self.precisions.reshape(n_states, -1),
        )
        unique = unique_rows(np.column_stack(known))
        return self.reorder(unique.firsts)._log_obs(values)[:, unique.places]

    def _log_obs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `log_obs` of distinct states; all states that are not in use are equal."""
        out = np.zeros((len(values), len(self.means)))
        for columns, wide, freedoms, precisions in self._blocks():
            nodes = make_nodes(self.degrees_of_freedom, len(columns))
            spread = np.exp(-nodes.logs) + 1.0 / precisions[:, np.newaxis]
            known = nodes.log_weights, nodes.logs, 1.0 / spread, -np.log(spread)
            for pattern, rows in _patterns(np.isnan(values[:, columns])):
                seen = columns[~pattern]
                if len(seen) == 0:
                    continue
                own = np.flatnonzero(~pattern)
                distances, constants = self._measure(
                    values[rows][:, seen], seen, wide[:, own[:, np.newaxis], own]
                )
                mixture = ScaleMixture(len(seen), self.degrees_of_freedom, freedoms, known)
                normalizers = [log_normalizer_of(float(df), float(len(seen))) for df in freedoms]
                out[rows] += mixture(distances) + constants + np.array(normalizers)
        return out

    def _measure(
        self, values: Floats, columns: NDArray[np.int64], wide: Floats
    ) -> tuple[Floats, Floats]:
        """Return squared distances from all states, (N, J), and - log det S / 2, (J,)."""
        factors = factorize_precisions(wide)
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
        """Return observations, (N, D), with NaN replaced by its mean given the rest of the row."""
        if self.scales.ndim == 3:
            return fill_by_regression(values, weights, self.means, self.scales)
        return fill_by_means(values, weights, self.means)

    def draw_missing(
        self,
        values: NDArray[np.float64],
        states: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Return observations, (N, D), with NaN replaced by a draw given the rest of the row."""
        if self.scales.ndim == 2:  # columns have weights of their own
            return np.where(np.isnan(values), self.sample(states, rng), values)
        ((columns, wide, freedoms, precisions),) = self._blocks()
        nodes = make_nodes(self.degrees_of_freedom, len(columns))
        spread = np.exp(-nodes.logs) + 1.0 / precisions[:, np.newaxis]
        factors = np.empty(len(values))
        for pattern, rows in _patterns(np.isnan(values)):  # a weight for each row, from the nodes
            k = states[rows]
            away = (values[rows] - self.means[k])[:, ~pattern]
            inverses = np.linalg.inv(wide[:, ~pattern][:, :, ~pattern])
            distances = np.einsum("nd,nde,ne->n", away, inverses[k], away)
            exponents = 0.5 * (freedoms[k] + away.shape[1])
            logs = nodes.log_weights - 0.5 * away.shape[1] * np.log(spread[k])
            logs -= exponents[:, np.newaxis] * np.log1p(distances[:, np.newaxis] / spread[k])
            weights = np.exp(logs - logs.max(axis=1, keepdims=True))
            sums = np.cumsum(weights, axis=1)
            limits = rng.random(len(k))[:, np.newaxis] * sums[:, -1:]
            chosen = np.minimum((sums <= limits).sum(axis=1), len(nodes.logs) - 1)
            factors[rows] = spread[k, chosen] / freedoms[k]
        return draw_by_regression(values, states, self.means, wide, freedoms, factors, rng)

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


def _patterns(
    hidden: NDArray[np.bool_],
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.intp] | slice]]:
    """Yield each set of hidden columns and the rows in which these columns are hidden."""
    rows, nothing = np.flatnonzero(hidden.any(axis=1)), np.zeros(hidden.shape[1], dtype=bool)
    if len(rows) == 0:
        yield nothing, slice(None)
        return
    yield nothing, np.delete(np.arange(len(hidden)), rows)
    patterns, places, *_ = unique_rows(hidden[rows])
    for i, pattern in enumerate(patterns):
        yield pattern, rows[places == i]
