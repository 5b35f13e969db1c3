"""Sampler and model of autoregressive vectors some of whose columns are constant in the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Places
from skdp.emissions._autoregressive._lags import LagDesign
from skdp.emissions._autoregressive._model import AutoregressiveModel, StartingLags
from skdp.emissions._autoregressive._regressions import RegressionPrior
from skdp.emissions._autoregressive._sampler import AutoregressiveSampler
from skdp.emissions._constant_columns import SCALE_RATIO, ConstantColumns
from skdp.emissions._gaussian._model import check_numbers


@dataclass(frozen=True, eq=False)
class WideAutoregressiveModel:
    """Linear predictions, and columns with the same distribution in all states.

    It has the arrays of `AutoregressiveModel` for all columns: constant columns have coefficients
    of 0, and as regressors no effect. Predictions that need more than `log_obs` and `sample` are
    made with `varying`.

    Attributes
    ----------
    varying : AutoregressiveModel
        Distributions of the columns that vary.
    constants : ConstantColumns
    """

    varying: AutoregressiveModel
    constants: ConstantColumns

    @property
    def n_lags(self) -> int:
        """The largest lag L."""
        return self.varying.n_lags

    @property
    def lags(self) -> tuple[int, ...]:
        """The lags, in the order of `coefs`."""
        return self.varying.lags

    @property
    def design(self) -> LagDesign | None:
        """The regressors of the columns that vary."""
        return self.varying.design

    @property
    def degrees_of_freedom(self) -> Floats:
        """(J,) array: those of the columns that vary."""
        return self.varying.degrees_of_freedom

    @property
    def scale_ratios(self) -> Floats:
        """(J,) array: ratios of scales to covariances of the columns that vary."""
        return self.varying.scale_ratios

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
        own, insert = self.varying.coefs, self.constants.insert
        own = insert(own.reshape(*own.shape[:2], len(self.lags), -1), 0.0)
        own = insert(own.reshape(*own.shape[:2], -1).swapaxes(1, 2), 0.0)
        return np.ascontiguousarray(own.swapaxes(1, 2))

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
        places, root = self._places_of_lags(n_lags), np.eye(mean.size)
        root[places[:, np.newaxis], places] = start.root
        return StartingLags(mean.ravel(), root)

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
        places: Places = (firsts[:, np.newaxis] + self.constants.varying).ravel()
        return places

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

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the model with its states in another order."""
        return replace(self, varying=self.varying.reorder(order))


class WideAutoregressiveSampler(AutoregressiveSampler):
    """Sampler of the columns that vary, whose models are those of all columns."""

    def __init__(
        self,
        n_states: int,
        design: LagDesign,
        prior: RegressionPrior,
        start: StartingLags,
        opening: Floats | None,
        *,
        constants: ConstantColumns,
    ):
        super().__init__(n_states, design, prior, start, opening)
        self._constants = constants

    def attach(self, values: Floats, ptr: Places) -> None:
        """Store the observations."""
        super().attach(self._constants.leave_out(values), ptr)

    def of_states(self, n_states: int) -> WideAutoregressiveSampler:
        """Return a sampler with the same prior, without observations."""
        return WideAutoregressiveSampler(
            n_states, self.design, self.prior, self.starting_lags, self.opening,
            constants=self._constants,
        )  # fmt: skip

    def model(self) -> WideAutoregressiveModel:  # type: ignore[override]
        """Return the distributions of the next observation given the states."""
        return WideAutoregressiveModel(super().model(), self._constants)
