"""Logistic regressions with Polya-Gamma variables: sampler and model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places
from skdp.emissions._protocol import Coupling
from skdp.emissions._regression import _kernels_coefs as kernels_coefs
from skdp.emissions._regression import _kernels_logistic as kernels
from skdp.emissions._regression._coefs import (
    CoefModel,
    CoefPrior,
    CoefRegressions,
    as_rows,
    check_definite,
)
from skdp.emissions._regression._columns import Roles, as_inputs

_MOST_STEPS, _CLIMBS, _TOLERANCE = 100, 5, 1e-9
"""Steps to a mode: their largest number, first steps that only climb, and size of the last one."""


class LogisticData(NamedTuple):
    """Regressors, log odds under the prior mean, and targets: see the kernels."""

    rows: Floats
    offsets: Floats
    halves: Floats

    def take(self, steps: Places) -> LogisticData:
        """Return the data of some steps."""
        return LogisticData(*(as_rows(array[steps]) for array in self))


class AugmentedRegression(CoefRegressions):
    """Regressions given the Polya-Gamma variables, with the coefficients integrated out.
    Moves of states given these are exact. Densities are without the factor PG(omega; 1, 0).
    """

    _data_attributes: ClassVar[tuple[str, ...]] = ("_data", "_omegas")

    _data: LogisticData
    _omegas: Floats

    def __init__(self, n_states: int, n_targets: int, width: int):
        super().__init__(n_states, n_targets, width)
        self._constant = 0.0

    def restrict(self, steps: Places, n_states: int) -> AugmentedRegression:
        """Return the regressions of some of the observations."""
        other = AugmentedRegression(n_states, *self.linears.shape[1:])
        other._data, other._omegas = self._data.take(steps), as_rows(self._omegas[steps])
        return other

    def condition(self, states: Places) -> None:
        """Set the states of the observations; -1 marks observations without a state."""
        self._constant = kernels.add_up(
            *self._data, self._omegas, states, self.precisions, self.linears
        )
        check_definite(
            kernels_coefs.solve_means(self.precisions, self.linears, self.factors, self.means)
        )

    def write_log_predictive(self, out: Floats) -> None:
        """Write log p(targets given omega and the observations of each state)."""
        scratch = np.empty(self.linears.shape[2])
        kernels.weigh_given_omegas(
            *self._data, self._omegas, self.factors, self.means, scratch, out
        )

    def log_evidence(self) -> float:
        """Return log p(targets | z, omega, inputs) with the coefficients integrated out."""
        evidence = kernels.log_evidence_given_omegas(self.factors, self.linears, self.means)
        return float(self._constant + evidence)

    def complete(self, states: Places, rng: NDArray[np.uint64]) -> None:
        """Do nothing, because the Polya-Gamma variables are given."""


class LogisticSampler(AugmentedRegression):
    """Sampler of the coefficients of all states."""

    def __init__(self, n_states: int, roles: Roles, prior: CoefPrior):
        n_targets, width = prior.coefs.shape
        super().__init__(n_states, n_targets, width)
        self.roles, self.prior = roles, prior
        self.target_columns = roles.targets
        self.coefs = np.zeros((n_states, n_targets, width))
        self._states = np.zeros(0, dtype=np.int32)
        self._is_complete = False

    def attach(self, values: Floats) -> None:
        """Store the observations."""
        inputs, targets = self.roles.split(values)
        halves = as_rows(np.where(np.isnan(targets), 0.0, targets - 0.5))
        self._data = LogisticData(*self.prior.regress(inputs), halves)
        self._omegas = as_rows(np.where(halves == 0.0, 0.0, 0.25))

    def complete(self, states: Places, rng: NDArray[np.uint64]) -> None:
        """Draw the Polya-Gamma variables given the coefficients."""
        omegas = np.empty(self._omegas.shape)
        kernels.draw_omegas(*self._data, self.coefs, states, omegas, rng)
        self._omegas, self._is_complete = as_readonly(omegas), True

    def draw(
        self, states: Places, rng: NDArray[np.uint64], coupling: Coupling | None = None
    ) -> None:
        """Draw the Polya-Gamma variables unless they are new, then the coefficients."""
        if not self._is_complete:
            self.complete(states, rng)
        self.condition(states)
        kernels.draw_coefs(self.factors, self.means, self.coefs, rng)
        self._states, self._is_complete = states.astype(np.int32), False

    def write_log_obs(self, out: Floats) -> None:
        """Write the log probabilities of the targets of all steps; 0 for missing targets."""
        kernels.weigh(*self._data, self.coefs, out)

    def log_evidence(self) -> float:
        """Return Laplace's approximation of log p(targets | z, inputs)."""
        # It depends on the states only: the noise of omega would hide changes of the log joint.
        shape = self.linears.shape
        precisions, linears = np.empty((*shape, shape[2])), np.empty(shape)
        factors, proposed = np.zeros(precisions.shape), np.zeros(shape)
        modes, steps = np.zeros(shape), np.zeros(shape)
        logs, best = np.empty(shape[:2]), np.full(shape[:2], -np.inf)
        are_newton, may_be_newton = np.zeros(shape[:2], dtype=bool), np.ones(shape[:2], dtype=bool)

        def approximate(coefs: Floats) -> None:
            kernels.add_up_curvatures(
                *self._data, coefs, self._states, are_newton, precisions, linears, logs
            )
            kernels_coefs.solve_means(precisions, linears, factors, steps)

        for i in range(_MOST_STEPS):
            approximate(proposed)
            fell = logs < best - _TOLERANCE * np.abs(best)
            may_be_newton &= ~(fell & are_newton)
            modes[~fell], best = proposed[~fell], np.maximum(best, logs)
            are_newton = may_be_newton & (i >= _CLIMBS)
            if fell.any() or i == _CLIMBS:
                approximate(modes)
            proposed = steps.copy()
            if i > _CLIMBS and np.abs(proposed - modes).max(initial=0.0) < _TOLERANCE:
                break
        are_newton[:] = True
        approximate(modes)
        return float(logs.sum() - np.log(np.diagonal(factors, axis1=2, axis2=3)).sum())

    def model(self) -> LogisticRegressionModel:
        """Return the distributions of the next targets given states and Polya-Gamma variables."""
        return LogisticRegressionModel(
            self.roles, *self.prior.in_units_of_inputs(self.means, self.factors)
        )


@dataclass(frozen=True, eq=False)
class LogisticRegressionModel(CoefModel):
    """Log odds of targets that are linear in the inputs, and the uncertainty of coefficients.

    The coefficients are Gaussian given the states and the Polya-Gamma variables of the sample. The
    probability of a target is the mean of 1 / (1 + exp(-psi)) over its predictor psi: see
    `CoefModel`.
    """

    def log_obs(self, values: Floats) -> Floats:
        """Return the log probability of the targets of every step given its inputs, (N, J)."""
        inputs, targets = self.roles.split(values)
        halves = np.where(np.isnan(targets), 0.0, targets - 0.5)
        return self._weigh(inputs, halves)

    def _weigh(self, inputs: Floats, halves: Floats) -> Floats:
        rows, coefs = self._join(inputs)
        out = np.empty((len(rows), len(coefs)))
        kernels.weigh_means(rows, as_rows(halves), coefs, self.coef_factors, out)
        return out

    def predict(self, inputs: Floats) -> Floats:
        """Return the probabilities of 1 of every state given inputs, (N, J, D).

        Parameters
        ----------
        inputs : (N, P) array
        """
        inputs = as_inputs(self.roles, inputs)
        n_targets = self.intercepts.shape[1]
        one = np.full((len(inputs), 1), 0.5)
        columns: list[Any] = [
            np.exp(self._of_target(d)._weigh(inputs, one)) for d in range(n_targets)
        ]
        return np.stack(columns, axis=2)

    def _of_target(self, d: int) -> LogisticRegressionModel:
        own = slice(d, d + 1)
        return replace(
            self,
            coefs=self.coefs[:, own],
            intercepts=self.intercepts[:, own],
            coef_factors=np.ascontiguousarray(self.coef_factors[:, own]),
        )

    def _draw_targets(
        self, states: NDArray[np.int64], inputs: Floats, rng: np.random.Generator
    ) -> Floats:
        """Return targets for states and inputs, (N, D), with the probabilities of `predict`."""
        probs = self.predict(inputs)[np.arange(len(states)), states]
        return (rng.random(probs.shape) < probs).astype(np.float64)
