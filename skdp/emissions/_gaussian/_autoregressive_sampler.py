"""Samplers of autoregressive states: coefficients, covariances and missing values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_memory
from skdp._numeric import Floats, Places
from skdp._numeric._numba import as_readonly
from skdp.emissions._common._columns import (
    SCALE_RATIO,
    ConstantColumns,
    check_numbers,
)
from skdp.emissions._common._marginals import StatesMixin
from skdp.emissions._gaussian._autoregressive_model import (
    AutoregressiveModel,
    LagDesign,
    RegressionPrior,
    RegressionSampler,
    StartingLags,
    check_lags,
    stack_regressors,
)
from skdp.emissions._kernels import _autoregressive as kernels

# Missing values: where they are, and first values.


_PER_COEFFICIENT = 5
"""Complete steps for each coefficient with which default priors leave incomplete steps out."""


class Gaps(NamedTuple):
    """Missing values of a panel and its sequences: see `_kernels/_autoregressive`."""

    values: Floats  # (N, D), with NaN
    ptr: Places
    steps: Places
    columns: Places
    gap_ptr: Places
    places: Places
    width: int  # most missing values in successive steps that depend on each other

    @classmethod
    def of(cls, values: Floats, ptr: Places, n_lags: int) -> Self | None:
        """Return the missing values of a panel, or None if it is complete."""
        is_missing = np.isnan(values)
        if not is_missing.any():
            return None
        steps, columns = map(np.ascontiguousarray, np.nonzero(is_missing))
        places = np.full(values.shape, -1, dtype=np.int64)
        places[steps, columns] = np.arange(len(steps))
        gap_ptr = np.searchsorted(steps, ptr)
        # Within a sequence, a value is in equations with those of the next n_lags steps.
        ends = np.repeat(ptr[1:], np.diff(gap_ptr))
        last = np.searchsorted(steps, np.minimum(steps + n_lags + 1, ends))
        width = int((last - np.arange(len(steps))).max())
        longest = int(np.diff(gap_ptr).max())
        check_memory(8.0 * longest * width, f"{longest} missing values of a sequence")
        return cls(values, ptr, steps, columns, gap_ptr, places, width)

    def write(self, drawn: Floats) -> Floats:
        """Return the observations with values in place of NaN."""
        values = self.values.copy()
        values[self.steps, self.columns] = drawn
        return values

    def draw(
        self,
        states: Places,
        design: LagDesign,
        whitening: Floats,
        start: StartingLags,
        key: NDArray[np.uint64],
        first: int = 0,
    ) -> Floats:
        """Return a joint draw of the missing values given states and parameters, (M,)."""
        values = np.array(self.values)
        longest = int(np.diff(self.gap_ptr).max())
        inverse = np.linalg.inv(start.root)
        scratch = np.empty((longest, self.width)), np.empty(longest), np.empty(self.width)
        known = self.ptr, np.ascontiguousarray(states, dtype=np.int64)
        places = self.steps, self.columns, self.gap_ptr, self.places, np.array(design.lags)
        kernels.draw_missing(
            values, *map(as_readonly, known), *map(as_readonly, places), design.has_trend,
            np.ascontiguousarray(whitening), np.ascontiguousarray(start.mean),
            np.ascontiguousarray(inverse), first, key, *scratch, np.empty_like(key),
        )  # fmt: skip
        return values[self.steps, self.columns]


def fill_for_priors(values: Floats, ptr: Places, design: LagDesign) -> Floats:
    """Return values for default priors: interpolated if few steps are observed with all lags."""
    regressors, has_lags = stack_regressors(values, ptr, design)
    is_complete = has_lags & ~np.isnan(np.hstack([regressors, values])).any(axis=1)
    n_needed = _PER_COEFFICIENT * (design.width(values.shape[1]) + values.shape[1] + 1)
    if np.count_nonzero(is_complete) >= n_needed:
        return values  # other steps do not count
    return interpolate(values, ptr)


def interpolate(values: Floats, ptr: Places) -> Floats:
    """Return values with NaN interpolated linearly in time, within sequences."""
    filled = values.copy()
    means = np.nanmean(values, axis=0)
    for begin, end in pairwise(ptr):
        for d, mean in enumerate(means):
            column = filled[begin:end, d]
            seen = np.flatnonzero(~np.isnan(column))
            if len(seen) == 0:
                column[:] = mean
            elif len(seen) < len(column):
                column[:] = np.interp(np.arange(len(column)), seen, column[seen])
    return filled


def make_rows(
    values: Floats, ptr: Places, design: LagDesign, coefs: Floats, *roots: Floats
) -> Floats:
    """Return regressors and residuals in units of a prior, or without roots of the values."""
    # Rows of given steps, and of steps that are incomplete or have incomplete lags, are NaN.
    if not roots:
        roots = np.eye(coefs.shape[1]), np.eye(len(coefs))
    rows = np.empty((len(values), design.width(len(coefs)) + len(coefs)))
    known = map(np.ascontiguousarray, (coefs, *roots))
    kernels.write_rows(
        as_readonly(values), as_readonly(ptr), as_readonly(np.array(design.lags)),
        design.has_trend, *map(as_readonly, known), rows,
    )  # fmt: skip
    incomplete = np.isnan(rows).any(axis=1)
    rows[incomplete] = np.nan
    return as_readonly(rows)


# The sampler of all columns.


class AutoregressiveSampler(RegressionSampler):
    """Sampler of the coefficients and covariances of all states, in units of the prior."""

    # Missing values are part of the chain's state, and first drawn under `opening`.

    _data_attributes: ClassVar[tuple[str, ...]] = ("_rows", "_gaps")

    def __init__(
        self,
        n_states: int,
        design: LagDesign,
        prior: RegressionPrior,
        start: StartingLags,
        opening: Any = None,
        constants: ConstantColumns | None = None,  # columns that only the models have
        spread: Floats | None = None,  # R of columns on a grid, see `_columns`
    ):
        # `opening`, for missing values, is the regression on all the data: (D, K + D), from
        # [1, a_t, x_t] to standard normal residuals.
        super().__init__(n_states, prior, spread)
        self.starting_lags, self.opening = start, opening
        self.design, self.constants = design, constants
        self._drawn: Floats | None = None
        self.n_dims = len(prior.scale_root)

    @property
    def n_lags(self) -> int:
        """The largest lag L: the first L steps of a sequence count as given."""
        return self.design.n_lags

    @property
    def is_incomplete(self) -> bool:
        return self._gaps is not None

    def attach(self, values: Floats, ptr: Places) -> None:
        if self.constants is not None:
            values = self.constants.leave_out(values)
        check_lags(values, ptr, self.n_lags)
        self._gaps: Any = Gaps.of(values, ptr, self.n_lags)
        if self._gaps is None:
            self._write_rows(values, ptr)
        elif self._drawn is not None and len(self._drawn) == len(self._gaps.steps):
            self._fill(self._drawn)
        else:
            states, key = np.zeros(len(values), dtype=np.int64), np.zeros(4, dtype=np.uint64)
            self._draw_missing(states, self.opening[np.newaxis], key)

    def _write_rows(self, values: Floats, ptr: Places) -> None:
        coefs, precision_root, _, scale_root = self.prior
        self._rows = make_rows(values, ptr, self.design, coefs, precision_root, scale_root)

    def _fill(self, drawn: Floats) -> None:
        """Set the missing values."""
        self._drawn = drawn
        self._write_rows(self._gaps.write(drawn), self._gaps.ptr)

    def _draw_missing(
        self, states: Places, whitening: Floats, key: NDArray[np.uint64], first: int = 0
    ) -> None:
        self._fill(self._gaps.draw(states, self.design, whitening, self.starting_lags, key, first))

    def adopt(self, other: Self) -> None:
        """Take the parameters of another sampler; keep the observations and missing values."""
        drawn = self._drawn
        super().adopt(other)
        self._drawn = drawn

    def of_states(self, n_states: int) -> AutoregressiveSampler:
        return AutoregressiveSampler(
            n_states, self.design, self.prior, self.starting_lags, self.opening, self.constants,
            self.spread,
        )  # fmt: skip

    def restrict(self, steps: Places, n_states: int) -> AutoregressiveSampler:
        """Return a sampler for some of the completed observations, with their lags."""
        other = self.of_states(n_states)
        other._rows, other._gaps = as_readonly(self._rows[steps]), None
        return other

    def complete_with(self, states: Places, key: NDArray[np.uint64], first: int = 0) -> None:
        if self.is_incomplete:
            self._draw_missing(states, self.whitening(), key, first)

    def whitening(self) -> Floats:
        """Return the maps of [1, a_t, x_t] to standard normal residuals, (J, D, K + D)."""
        coefs, precision_root, _, scale_root = self.prior
        n_regressors = coefs.shape[1]
        to_regressors = np.linalg.inv(precision_root)
        to_residuals = np.linalg.inv(scale_root)
        factors = self.maps[:, :, n_regressors:] @ to_residuals
        slopes = self.maps[:, :, :n_regressors] @ to_regressors - factors @ coefs
        return np.concatenate([slopes, factors], axis=2)

    def model(self) -> AutoregressiveModel | WideAutoregressiveModel:
        means, covariances, freedoms, ratios, factors = self.posterior()
        n_coefs = self.n_dims * len(self.design.lags)
        trends = means[:, :, -1].copy() if self.design.has_trend else None
        model = AutoregressiveModel(
            means[:, :, 1 : n_coefs + 1].copy(), means[:, :, 0].copy(), covariances, freedoms,
            ratios, factors, self.starting_lags, self.design, trends,
        )  # fmt: skip
        return model if self.constants is None else WideAutoregressiveModel(model, self.constants)


# Model of vectors some of whose columns are constant in the data, or dependent.


def _of_varying(name: str, doc: str) -> Any:
    """Return a property of the columns that vary."""
    return property(lambda self: getattr(self.varying, name), doc=doc)


@dataclass(frozen=True, eq=False)
class WideAutoregressiveModel(StatesMixin):
    """Linear predictions, and columns with the same distribution in all states.

    It has the arrays of `AutoregressiveModel` for all columns: constant columns have coefficients
    of 0, and as regressors, they and linear functions of others have no effect. Predictions that
    need more than `log_obs` and `sample` are made with `varying`.

    Attributes
    ----------
    varying : AutoregressiveModel
        Distributions of the columns that vary.
    constants : ConstantColumns or DependentColumns
    """

    varying: AutoregressiveModel
    constants: ConstantColumns

    n_lags = _of_varying("n_lags", "The largest lag L.")
    lags = _of_varying("lags", "The lags, in the order of `coefs`.")
    design = _of_varying("design", "The regressors of the columns that vary.")
    degrees_of_freedom = _of_varying(
        "degrees_of_freedom", "(J,) array: those of the columns that vary."
    )
    scale_ratios = _of_varying(
        "scale_ratios", "(J,) array: ratios of scales to covariances of the columns that vary."
    )

    @property
    def intercepts(self) -> Floats:
        """(J, D) array."""
        return self.constants.insert(self.varying.intercepts, self.constants.values)

    @property
    def trends(self) -> Floats | None:
        """(J, D) array or None."""
        trends = self.varying.trends
        return None if trends is None else self.constants.insert(trends, 0.0)

    @property
    def coefs(self) -> Floats:
        """(J, D, D L) array."""
        own, n_lags = self.constants.insert(self.varying.coefs.swapaxes(1, 2), 0.0), len(self.lags)
        out = np.zeros((len(own), own.shape[2], n_lags * own.shape[2]))
        out[:, :, self._places_of_lags(n_lags)] = own.swapaxes(1, 2)
        return out

    @property
    def covariances(self) -> Floats:
        """(J, D, D) array."""
        return self.constants.insert_square(self.varying.covariances, 1.0)

    @property
    def scales(self) -> Floats:
        """(J, D, D) array: scale matrices for h = 0."""
        return self.constants.insert_square(self.varying.scales, SCALE_RATIO)

    @property
    def coef_factors(self) -> Floats:
        """(J, K, K) array."""
        own = self.varying.coef_factors
        places = np.append(0, 1 + self._places_of_lags(len(self.lags)))
        n = 1 + len(self.lags) * self.constants.n_features
        if self.varying.trends is not None:
            places, n = np.append(places, n), n + 1
        out = np.zeros((len(own), n, n))
        out[:, places[:, np.newaxis], places] = own
        return out

    @property
    def starting_lags(self) -> StartingLags:
        """Distribution of the first values of new sequences."""
        start, n_lags = self.varying.starting_lags, self.n_lags
        mean = self.constants.insert(start.mean.reshape(n_lags, -1), self.constants.values)
        places, root = self._places_of_lags(n_lags), np.zeros((mean.size, mean.size))
        own = start.root.reshape(n_lags, -1, len(places)).swapaxes(1, 2)
        root[:, places] = self.constants.insert(own, 0.0).swapaxes(1, 2).reshape(mean.size, -1)
        nothing = np.zeros((own.shape[-1], own.shape[-1]))
        noise = np.sqrt(np.diag(self.constants.insert_square(nothing, 1.0)))
        return StartingLags(mean.ravel(), root + np.diag(np.tile(noise, n_lags)))

    def whole(self) -> AutoregressiveModel:
        """Return the regressions of all columns, in which all share the scales of the noise."""
        return AutoregressiveModel(
            self.coefs, self.intercepts, self.covariances, self.degrees_of_freedom,
            self.scale_ratios, self.coef_factors, self.starting_lags, self.varying.design,
            self.trends,
        )  # fmt: skip

    def leave_out_lags(self, lags: Floats) -> Floats:
        """Return the lags of the columns that vary, (M, V L), of those of all columns."""
        return np.asarray(lags[:, self._places_of_lags(self.n_lags)])

    def widen_lags(self, lags: Floats) -> Floats:
        """Return lags of all columns, (M, D L), given those of the columns that vary."""
        own = lags.reshape(len(lags), self.n_lags, -1)
        return self.constants.insert(own, self.constants.values).reshape(len(lags), -1)

    def _places_of_lags(self, n_lags: int) -> Places:
        """Return the indices of the lags of columns that vary among those of all columns."""
        firsts = self.constants.n_features * np.arange(n_lags)
        return (firsts[:, np.newaxis] + self.constants.varying).ravel()

    def log_obs(self, values: Floats, ptr: Places | None = None, n_before: int = 0) -> Floats:
        """Return the log density of every step given the preceding steps, by state, (N, J)."""
        check_numbers(values)
        if ptr is None:
            ptr = np.array([0, len(values)])
        logs = self.varying.log_obs(self.constants.leave_out(values), ptr, n_before)
        return logs + self.log_constants(values, ptr)

    def log_constants(self, values: Floats, ptr: Places) -> Floats:
        """Return the log density of the constant columns, (N, 1); 0 for given steps."""
        logs = self.constants.log_density(values)
        for begin, end in pairwise(ptr.tolist()):
            logs[begin : min(begin + self.n_lags, end)] = 0.0
        return logs

    def sample(
        self, states: NDArray[np.int64], rng: np.random.Generator, before: Floats | None = None
    ) -> Floats:
        """Return one observation for each state, (N, D), of a new sequence or after `before`."""
        before = None if before is None else self.constants.leave_out(before)
        own = self.varying.sample(states, rng, before)
        return self.constants.insert(own, self.constants.sample(len(states), rng))
