"""Sampler and model of Gaussian vectors some of whose columns are constant in the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats
from skdp.emissions._constant_columns import FREEDOM, SCALE_RATIO, ConstantColumns
from skdp.emissions._gaussian._drawn_scale import GaussianPrior, ScalePrior
from skdp.emissions._gaussian._model import GaussianModel, check_numbers
from skdp.emissions._gaussian._sampler import GaussianSampler
from skdp.emissions._marginals import StudentMarginals


@dataclass(frozen=True, eq=False, kw_only=True)
class WideGaussianModel(GaussianModel):
    """Gaussian vectors, and columns with the same distribution in all states.

    The other attributes are those of `GaussianModel` for all columns. With full covariances,
    `degrees_of_freedom` and `scale_ratios` are those of the columns that vary.

    Attributes
    ----------
    varying : GaussianModel
        Distributions of the columns that vary.
    constants : ConstantColumns
    """

    varying: GaussianModel
    constants: ConstantColumns

    @classmethod
    def of(cls, model: GaussianModel, constants: ConstantColumns, *, full: bool) -> Self:
        """Return the model of all columns; `full`: covariances are matrices, even of one column."""
        covariances, freedoms, ratios = (
            model.covariances, model.degrees_of_freedom, model.scale_ratios,
        )  # fmt: skip
        if full:
            covariances = constants.insert_square(covariances, 1.0)
        else:
            shape = model.means.shape  # one column has matrices
            covariances = constants.insert(covariances.reshape(shape), 1.0)
            if freedoms is not None and ratios is not None:
                freedoms = constants.insert(freedoms.reshape(shape), FREEDOM)
                ratios = constants.insert(ratios.reshape(shape), SCALE_RATIO)
        means = constants.insert(model.means, constants.values)
        return cls(means, covariances, freedoms, ratios, varying=model, constants=constants)

    @property
    def _is_known(self) -> bool:
        """Whether there is no uncertainty about parameters."""
        return self.degrees_of_freedom is None

    @property
    def scales(self) -> Floats:
        """(J, D, D) or (J, D) array: scale matrices, or squared scales of columns."""
        if self.covariances.ndim == 2 or self._is_known:
            return super().scales
        return self.constants.insert_square(self.varying.scales, SCALE_RATIO)

    def log_obs(self, values: Floats) -> Floats:
        """Return the log density of the observed values of every step in every state, (N, J)."""
        check_numbers(values)
        logs = self.varying.log_obs(self.constants.leave_out(values))
        return logs + self.constants.log_density(values, known=self._is_known)

    def sample(self, states: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        """Return an observation for each state, (N, D), with the density of `log_obs`."""
        own = self.varying.sample(states, rng)
        rest = self.constants.sample(len(states), rng, known=self._is_known)
        return self.constants.insert(own, rest)

    def marginals(self) -> StudentMarginals:
        """Return the distributions of single columns of the next observation."""
        own, insert = self.varying.marginals(), self.constants.insert
        rest = self.constants.distribution(known=self._is_known)
        freedoms = None if own.freedoms is None else insert(own.freedoms, rest.freedoms)
        return StudentMarginals(self.means, insert(own.scales, rest.scales), freedoms)

    def fill(self, values: Floats, weights: Floats) -> Floats:
        """Return observations, (N, D), with NaN replaced by its mean given the rest of the row."""
        own = self.varying.fill(self.constants.leave_out(values), weights)
        # Weights of some callers add up to less than 1; their means are those times this sum.
        rest = np.multiply.outer(weights.sum(axis=1), self.constants.values)
        return np.where(np.isnan(values), self.constants.insert(own, rest), values)

    def draw_missing(
        self, values: Floats, states: NDArray[np.int64], rng: np.random.Generator
    ) -> Floats:
        """Return observations, (N, D), with NaN replaced by a draw given the rest of the row."""
        own = self.varying.draw_missing(self.constants.leave_out(values), states, rng)
        rest = self.constants.sample(len(states), rng, known=self._is_known)
        return np.where(np.isnan(values), self.constants.insert(own, rest), values)

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the model with its states in another order."""
        return replace(super().reorder(order), varying=self.varying.reorder(order))


class WideGaussianSampler(GaussianSampler):
    """Sampler of the columns that vary, whose models are those of all columns."""

    def __init__(
        self,
        n_states: int,
        prior: GaussianPrior,
        scale_prior: ScalePrior | None,
        start_factors: Floats | None,
        *,
        constants: ConstantColumns,
        full: bool,
    ):
        super().__init__(n_states, prior, scale_prior, start_factors)
        self._constants, self._full = constants, full

    def attach(self, values: Floats) -> None:
        """Store the observations."""
        super().attach(self._constants.leave_out(values))

    def of_states(self, n_states: int) -> WideGaussianSampler:
        """Return a sampler without observations, whose prior is fixed at the current one."""
        return WideGaussianSampler(
            n_states, self.prior, None, self._start_factors,
            constants=self._constants, full=self._full,
        )  # fmt: skip

    def model(self) -> WideGaussianModel:
        """Return the distributions of the next observation given the states."""
        return WideGaussianModel.of(super().model(), self._constants, full=self._full)

    def known_model(self, parameters: tuple[Floats, ...]) -> WideGaussianModel:
        """Return the distributions of states with known means and covariances."""
        model = super().known_model(parameters)
        return WideGaussianModel.of(model, self._constants, full=self._full)
