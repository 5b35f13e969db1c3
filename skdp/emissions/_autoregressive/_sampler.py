"""Sampler of the coefficients, covariances and missing values of autoregressive states."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_key
from skdp._numeric._typing import Floats, Places
from skdp._part import Part
from skdp.emissions._autoregressive import _kernels as kernels
from skdp.emissions._autoregressive._gaps import Gaps
from skdp.emissions._autoregressive._lags import LagDesign, check_lags
from skdp.emissions._autoregressive._model import AutoregressiveModel, StartingLags
from skdp.emissions._autoregressive._regressions import RegressionPrior, Regressions
from skdp.emissions._gaussian._sums import Ranges, Sums
from skdp.emissions._protocol import Coupling
from skdp.emissions._window_states import write_states_of_windows


def make_rows(
    values: Floats,
    ptr: Places,
    design: LagDesign,
    coefs: Floats,
    precision_root: Floats | None = None,
    scale_root: Floats | None = None,
) -> Floats:
    """Return regressors and residuals in units of a prior, or of the values if roots are None.
    Rows of given steps, and of steps that are incomplete or have incomplete lags, are NaN.
    """
    roots = (
        np.eye(n) if root is None else np.ascontiguousarray(root)
        for root, n in ((precision_root, coefs.shape[1]), (scale_root, len(coefs)))
    )
    rows = np.empty((len(values), design.width(len(coefs)) + len(coefs)))
    known = np.ascontiguousarray(coefs), *roots
    kernels.write_rows(
        as_readonly(values), as_readonly(ptr), as_readonly(np.array(design.lags)),
        design.has_trend, *map(as_readonly, known), rows,
    )  # fmt: skip
    incomplete = np.isnan(rows).any(axis=1)
    rows[incomplete] = np.nan
    made: Floats = as_readonly(rows)
    return made


class AutoregressiveSampler(Part):
    """Sampler of the coefficients and covariances of all states, from values in units of the prior.
    Missing values are part of the chain's state, and first drawn under `opening`.
    """

    _data_attributes: ClassVar[tuple[str, ...]] = ("_rows", "_gaps")
    starts_with_one_state = True

    def __init__(
        self,
        n_states: int,
        design: LagDesign,
        prior: RegressionPrior,
        start: StartingLags,
        opening: Floats | None = None,
    ):
        # `opening`, for missing values, is the regression on all the data: (D, K + D), from
        # [1, a_t, x_t] to standard normal residuals.
        self.prior, self.starting_lags, self.opening = prior, start, opening
        self.n_states, self.design = n_states, design
        self._drawn: Floats | None = None
        self.n_dims = len(prior.scale_root)
        self.regressions = Regressions(n_states, prior)

    @property
    def counts(self) -> Floats:
        """Number of steps of each state."""
        return self.regressions.counts

    @property
    def n_lags(self) -> int:
        """The largest lag L: the first L steps of a sequence count as given."""
        return self.design.n_lags

    @property
    def is_incomplete(self) -> bool:
        """Whether `complete` draws anything."""
        return self._gaps is not None

    def attach(self, values: Floats, ptr: Places) -> None:
        """Store the observations."""
        check_lags(values, ptr, self.n_lags)
        self._gaps = Gaps.of(values, ptr, self.n_lags)
        if self._gaps is None:
            self._write_rows(values, ptr)
        elif self._drawn is not None and len(self._drawn) == len(self._gaps.steps):
            self._fill(self._drawn)
        else:
            assert self.opening is not None
            states, key = np.zeros(len(values), dtype=np.int64), np.zeros(4, dtype=np.uint64)
            self._draw_missing(states, self.opening[np.newaxis], key)

    def _write_rows(self, values: Floats, ptr: Places) -> None:
        coefs, precision_root, _, scale_root = self.prior
        self._rows = make_rows(values, ptr, self.design, coefs, precision_root, scale_root)

    def _fill(self, drawn: Floats) -> None:
        """Set the missing values."""
        assert self._gaps is not None
        self._drawn = drawn
        self._write_rows(self._gaps.write(drawn), self._gaps.ptr)

    def _draw_missing(
        self, states: Places, whitening: Floats, key: NDArray[np.uint64], first: int = 0
    ) -> None:
        assert self._gaps is not None
        self._fill(self._gaps.draw(states, self.design, whitening, self.starting_lags, key, first))

    def adopt(self, other: Self) -> None:
        """Take the parameters of another sampler; keep the observations and missing values."""
        drawn = self._drawn
        super().adopt(other)
        self._drawn = drawn

    def of_states(self, n_states: int) -> AutoregressiveSampler:
        """Return a sampler with the same prior, without observations."""
        return AutoregressiveSampler(
            n_states, self.design, self.prior, self.starting_lags, self.opening
        )

    def restrict(self, steps: Places, n_states: int) -> AutoregressiveSampler:
        """Return a sampler for some of the completed observations, with their lags."""
        other = self.of_states(n_states)
        other._rows, other._gaps = as_readonly(self._rows[steps]), None
        return other

    def complete(self, states: Places, rng: NDArray[np.uint64]) -> None:
        """Draw the missing values of all sequences given the states and the parameters."""
        if self.is_incomplete:
            key = np.empty_like(rng)
            draw_key(rng, key)
            self.complete_with(states, key)

    def complete_with(self, states: Places, key: NDArray[np.uint64], first: int = 0) -> None:
        """Draw the missing values with a given key; `first` is the panel index of the first row."""
        if self.is_incomplete:
            self._draw_missing(states, self.whitening(), key, first)

    def whitening(self) -> Floats:
        """Return the maps of [1, a_t, x_t] to standard normal residuals, (J, D, K + D)."""
        coefs, precision_root, _, scale_root = self.prior
        n_regressors = coefs.shape[1]
        to_regressors = np.linalg.inv(precision_root)
        to_residuals = np.linalg.inv(scale_root)
        maps = self.regressions.maps
        factors = maps[:, :, n_regressors:] @ to_residuals
        slopes = maps[:, :, :n_regressors] @ to_regressors - factors @ coefs
        return np.concatenate([slopes, factors], axis=2)

    def condition(self, states: Places) -> None:
        """Set the states of the observations; -1 marks observations without a state."""
        self.regressions.condition(self._rows, states)

    def measure(self, states: Places) -> Ranges:
        """Return the ranges that `add_up` needs, which are additive over parts of the data."""
        return self.regressions.measure(self._rows, states)

    def add_up(self, states: Places, measured: Ranges) -> Sums:
        """Return sums over the observations, which are exactly additive over parts of the data."""
        return measured.add_up(self._rows, states)

    def take(self, measured: Ranges, sums: Sums) -> None:
        """Store the statistics of all observations."""
        self.regressions.take(measured, sums)

    def write_log_predictive(self, out: Floats) -> None:
        """Write the log predictive densities of all steps given the observations of each state."""
        self.regressions.write_log_predictive(self._rows, out)

    def start(self, states: Places, rng: NDArray[np.uint64]) -> None:
        """Write initial states, by assigning windows of steps to the regressions that fit best."""
        write_states_of_windows(self, self.n_states, states, rng)

    def draw(
        self, states: Places, rng: NDArray[np.uint64], coupling: Coupling | None = None
    ) -> None:
        """Draw A and Sigma given the states."""
        self.condition(states)
        self.draw_parameters(rng)

    def draw_parameters(self, rng: NDArray[np.uint64]) -> None:
        """Draw A and Sigma given the stored statistics."""
        self.regressions.draw(rng)

    def write_log_obs(self, out: Floats) -> None:
        """Write the log densities of all steps given the preceding ones; 0 for given steps."""
        self.regressions.write_log_obs(self._rows, out)

    def log_evidence(self) -> float:
        """Return log p(x | z) over all steps that do not count as given."""
        return self.regressions.log_evidence()

    def model(self) -> AutoregressiveModel:
        """Return the distributions of the next observation given the states."""
        means, covariances, freedoms, ratios, factors = self.regressions.posterior()
        n_coefs = self.n_dims * len(self.design.lags)
        return AutoregressiveModel(
            means[:, :, 1 : n_coefs + 1].copy(),
            means[:, :, 0].copy(),
            covariances,
            freedoms,
            ratios,
            factors,
            self.starting_lags,
            self.design,
            means[:, :, -1].copy() if self.design.has_trend else None,
        )
