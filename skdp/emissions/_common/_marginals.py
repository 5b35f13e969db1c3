"""Marginal distributions of the next observation of each state: moments, cdf, quantile bounds.

Forecasts mix these distributions over states and stored samples.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln, expit, gammaincc, ndtr, ndtri, stdtr, stdtrit

from skdp._numeric import Floats, Places
from skdp._numeric._arrays import unique_rows

_BLOCK = 1000
"""Number of rows processed at a time, to limit the size of temporary arrays."""


class Marginals(Protocol):
    """Distributions of single columns, one per state."""

    @property
    def means(self) -> Floats:
        """(J, D) array; means that do not exist are NaN."""

    @property
    def variances(self) -> Floats:
        """(J, D) array; variances that do not exist are infinite."""

    def parameters(self, column: int) -> Floats:
        """Return the parameters that identify each state's distribution of a column, (J, any)."""

    def take(self, states: NDArray[np.intp]) -> Self:
        """Return the distributions of some states."""

    def is_discrete(self, column: int) -> bool:
        """Return whether a column holds integers >= 0."""

    def cdf(self, x: Floats, column: int) -> Floats:
        """Return P(X <= x), (..., J), for x of shape (...)."""


class NumberMarginals(Marginals, Protocol):
    """Distributions of single columns, some of which hold arbitrary numbers."""

    def brackets(self, q: Floats, column: int) -> tuple[Floats, Floats]:
        """Return bounds of the quantiles q, (Q,), of all states and their mixtures, for numbers."""


class StatesMixin:
    """Mixin of dataclasses whose arrays have an entry for each state."""

    _shared: ClassVar[frozenset[str]] = frozenset()
    """Names of the other arrays."""

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the model with its states in another order."""
        own = {field.name: getattr(self, field.name) for field in fields(cast("Any", self))}
        chosen: dict[str, Any] = {}
        for name, value in own.items():
            if isinstance(value, StatesMixin):
                chosen[name] = value.reorder(order)
            elif isinstance(value, np.ndarray) and name not in self._shared:
                chosen[name] = value[order]
        return replace(cast("Any", self), **chosen)


_NODES = np.linspace(-10.0, 10.0, 241)
"""Nodes of the trapezoidal rule."""

_NEGLIGIBLE = 1e-17
"""Weight of a node that is left out."""


class ColumnMarginals(StatesMixin):
    """Base class of distributions of single columns, whose arrays are (J, D)."""

    _is_discrete: ClassVar[bool]

    def take(self, states: NDArray[np.intp]) -> Self:
        return self.reorder(states)

    def parameters(self, column: int) -> Floats:
        values = (getattr(self, field.name) for field in fields(cast("Any", self)))
        return np.column_stack([x[:, column] for x in values if isinstance(x, np.ndarray)])

    def is_discrete(self, column: int) -> bool:
        return self._is_discrete


@dataclass(frozen=True, eq=False)
class StudentMarginals(ColumnMarginals):
    """Student t distributions, or Gaussian ones."""

    _is_discrete = False
    locations: Floats  # (J, D)
    scales: Floats  # (J, D)
    freedoms: Floats | None = None  # (J, D), or None for Gaussian distributions

    @property
    def means(self) -> Floats:
        """Means; NaN with one degree of freedom or less."""
        if self.freedoms is None:
            return self.locations
        return np.where(self.freedoms > 1.0, self.locations, np.nan)

    @property
    def variances(self) -> Floats:
        """Variances; infinite with two degrees of freedom or less."""
        if self.freedoms is None:
            return self.scales**2
        return self.scales**2 * variance_ratios(self.freedoms)

    def cdf(self, x: Floats, column: int) -> Floats:
        z = (x[..., np.newaxis] - self.locations[:, column]) / self.scales[:, column]
        if self.freedoms is None:
            return np.asarray(ndtr(z))
        return np.asarray(stdtr(self.freedoms[:, column], z))

    def log_density(self, x: Floats, column: int) -> Floats:
        """Return the log densities of numbers, (..., J)."""
        scales = self.scales[:, column]
        z = (x[..., np.newaxis] - self.locations[:, column]) / scales
        if self.freedoms is None:
            return np.asarray(-0.5 * z**2 - np.log(scales * np.sqrt(2.0 * np.pi)))
        return log_student(z, self.freedoms[:, column]) - np.log(scales)

    def brackets(self, q: Floats, column: int) -> tuple[Floats, Floats]:
        """Return bounds of the quantiles of all states, with a small margin."""
        p = q[:, np.newaxis]
        z = ndtri(p) if self.freedoms is None else stdtrit(self.freedoms[:, column], p)
        x, margins = self.locations[:, column] + self.scales[:, column] * z, np.abs(z) + 1.0
        margins = 1e-6 * self.scales[:, column] * margins
        return (x - margins).min(axis=1), (x + margins).max(axis=1)


def variance_ratios(freedoms: Floats) -> Floats:
    """Return variances of Student t distributions of scale 1; infinite up to two degrees."""
    above = np.where(freedoms > 2.0, freedoms - 2.0, 1.0)
    return np.where(freedoms > 2.0, freedoms / above, np.inf)


def log_student(z: Floats, freedoms: Floats) -> Floats:
    """Return log densities of Student t distributions with location 0 and scale 1."""
    half = 0.5 * freedoms
    constants = -betaln(half, 0.5) - 0.5 * np.log(freedoms)
    return np.asarray(constants - (half + 0.5) * np.log1p(z**2 / freedoms))


@dataclass(frozen=True, eq=False)
class CountMarginals(ColumnMarginals):
    """Poisson counts, negative binomial ones, or with `dispersions` also beta negative binomial."""

    _is_discrete = True
    intensities: Floats  # (J, D)
    shapes: Floats | None = None  # (J, D), of their distributions, or None if they are known
    dispersions: Floats | None = None  # (J, D), or None for Poisson counts of given intensities

    @property
    def means(self) -> Floats:
        return self.intensities

    @property
    def variances(self) -> Floats:
        means, f = self.intensities, self.dispersions
        if f is None:
            return means if self.shapes is None else means + means**2 / self.shapes
        if self.shapes is None:
            return means + f * means**2
        # E[lambda^2] of a beta prime distribution
        less = np.maximum(1.0 - f * means / self.shapes, 0.0)
        with np.errstate(divide="ignore"):
            squares = means**2 * (1.0 + 1.0 / self.shapes) / less
        return means + (1.0 + f) * squares - means**2

    def cdf(self, x: Floats, column: int) -> Floats:
        """Return P(X <= x), (..., J), for integers x."""
        k, means = x[..., np.newaxis] + 1.0, self.intensities[:, column]
        if self.dispersions is not None:
            result = self._cdf_of_wide(np.maximum(k, 1.0), column)
        elif self.shapes is None:
            result = gammaincc(np.maximum(k, 1.0), means)
        else:
            shapes = self.shapes[:, column]
            result = betainc(shapes, np.maximum(k, 1.0), shapes / (shapes + means))
        return np.where(k > 0.0, result, 0.0)

    def _cdf_of_wide(self, k: Floats, column: int) -> Floats:
        """Return P(X < k), (..., J), for integers k >= 1 and counts with dispersions."""
        assert self.dispersions is not None
        means, r = self.intensities[:, column], 1.0 / self.dispersions[:, column]
        if self.shapes is None:
            return np.asarray(betainc(r, k, r / (r + means)))
        # The log odds of p ~ Beta(a, b) are integrated by the trapezoidal rule after a sinh
        # transformation. The law is symmetric in r and the shape: the larger one is b.
        shapes = self.shapes[:, column]
        a, b, n = r * shapes / means + 1.0, np.maximum(r, shapes), np.minimum(r, shapes)
        width = np.sqrt(1.0 / a + 1.0 / b)
        result, total = np.zeros(np.broadcast_shapes(k.shape, a.shape)), 0.0
        for t in _NODES:
            away = width * np.sinh(t)
            odds = np.log(a / b) + away
            logs = a * odds - (a + b) * np.logaddexp(0.0, odds) - betaln(a, b)
            weights = np.exp(logs) * width * np.cosh(t) * (_NODES[1] - _NODES[0])
            if weights.max() > _NEGLIGIBLE:
                total = total + weights
                result += weights * betainc(n, k, expit(odds))
        return np.minimum(result / total, 1.0)  # so that it is 1 far out


@dataclass(frozen=True, eq=False)
class BinaryMarginals(ColumnMarginals):
    """Columns of 0 and 1."""

    _is_discrete = True
    probs: Floats  # (J, D), probabilities of 1

    @property
    def means(self) -> Floats:
        return self.probs

    @property
    def variances(self) -> Floats:
        return self.probs * (1.0 - self.probs)

    def cdf(self, x: Floats, column: int) -> Floats:
        x = x[..., np.newaxis]
        return np.where(x < 0.0, 0.0, np.where(x < 1.0, 1.0 - self.probs[:, column], 1.0))


@dataclass(frozen=True, eq=False)
class FactorMarginals(ColumnMarginals):
    """Gaussian columns, and columns of 0 and 1."""

    normal: StudentMarginals  # of all columns, treated as Gaussian
    probs: Floats  # (J, D), probabilities of 1 in binary columns; NaN in the others

    @property
    def means(self) -> Floats:
        return np.where(np.isnan(self.probs), self.normal.means, self.probs)

    @property
    def variances(self) -> Floats:
        return np.where(
            np.isnan(self.probs), self.normal.variances, self.probs * (1.0 - self.probs)
        )

    def parameters(self, column: int) -> Floats:
        return self.normal.parameters(column)

    def is_discrete(self, column: int) -> bool:
        """Return whether a column is binary."""
        return not np.isnan(self.probs[0, column])

    def cdf(self, x: Floats, column: int) -> Floats:
        if not self.is_discrete(column):
            return self.normal.cdf(x, column)
        return BinaryMarginals(self.probs).cdf(x, column)

    def brackets(self, q: Floats, column: int) -> tuple[Floats, Floats]:
        return self.normal.brackets(q, column)


def fill_by_means(values: Floats, weights: Floats, means: Floats) -> Floats:
    """Return observations with NaN replaced by the mean, (J, D), weighted over states, (N, J)."""
    out = np.array(values)
    rows, columns = np.nonzero(np.isnan(values))
    out[rows, columns] = np.einsum("nj,nj->n", weights[rows], means.T[columns])
    return out


def fill_by_regression(values: Floats, weights: Floats, means: Floats, scales: Floats) -> Floats:
    """Return observations with NaN replaced by its mean given the rest of the row, over states."""
    # Missing columns u given s have the mean m_u + S_us S_ss^-1 (x_s - m_s), for any factor of S.
    out = np.array(values)
    hidden = np.isnan(values)
    incomplete = np.flatnonzero(hidden.any(axis=1))
    patterns, places, *_ = unique_rows(hidden[incomplete])
    for i, pattern in enumerate(patterns):
        rows = incomplete[places == i]
        unseen, seen = np.flatnonzero(pattern), np.flatnonzero(~pattern)
        slopes = np.linalg.solve(
            scales[:, seen[:, np.newaxis], seen], scales[:, seen[:, np.newaxis], unseen]
        )
        for first in range(0, len(rows), _BLOCK):
            some = rows[first : first + _BLOCK]
            away = values[some[:, np.newaxis], seen][:, np.newaxis] - means[:, seen]
            expected = means[:, unseen] + np.einsum("njs,jsu->nju", away, slopes)
            out[some[:, np.newaxis], unseen] = np.einsum("nj,nju->nu", weights[some], expected)
    return out


def draw_by_regression(
    values: Floats,
    states: Places,
    means: Floats,
    scales: Floats,
    freedoms: Floats | None,
    factors: Floats | None,
    rng: np.random.Generator,
) -> Floats:
    """Return observations with NaN replaced by draws given the rest of the row and its state."""
    # Without `freedoms` rows are Gaussian; `factors`, (N,), multiply the scale of each row.
    out = np.array(values)
    hidden = np.isnan(values)
    incomplete = np.flatnonzero(hidden.any(axis=1))
    kinds = np.column_stack([hidden[incomplete], states[incomplete]])
    patterns, places, *_ = unique_rows(kinds)
    for i, pattern in enumerate(patterns):
        rows, k = incomplete[places == i], int(pattern[-1])
        unseen, seen = np.flatnonzero(pattern[:-1]), np.flatnonzero(pattern[:-1] == 0)
        # Given n columns s of a Student t vector, the others u are Student t with nu + n degrees of
        # freedom about m_u + S_us S_ss^-1 (x_s - m_s), of scale (nu + q) / (nu + n) (S_uu - S_us
        # S_ss^-1 S_su), where q = (x_s - m_s)^T S_ss^-1 (x_s - m_s).
        scale = scales[k]
        slopes = np.linalg.solve(scale[np.ix_(seen, seen)], scale[np.ix_(seen, unseen)])
        rest = scale[np.ix_(unseen, unseen)] - scale[np.ix_(unseen, seen)] @ slopes
        away = values[rows[:, np.newaxis], seen] - means[k, seen]
        noise = rng.standard_normal((len(rows), len(unseen))) @ np.linalg.cholesky(rest).T
        spread = np.ones(len(rows)) if factors is None else factors[rows]
        lengths = np.sqrt(spread)
        if freedoms is not None:
            nu = float(freedoms[k])
            q = (away * np.linalg.solve(scale[np.ix_(seen, seen)], away.T).T).sum(axis=1) / spread
            chi_squares = np.maximum(rng.chisquare(nu + len(seen), len(rows)), 1e-300)
            lengths *= np.sqrt((nu + q) / chi_squares)
        drawn = means[k, unseen] + away @ slopes + lengths[:, np.newaxis] * noise
        out[rows[:, np.newaxis], unseen] = drawn
    return out
