"""Poisson regressions: sampler and model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random import draw_key
from skdp._numeric._typing import Floats, Places
from skdp.emissions._discrete._poisson import stirling_rest
from skdp.emissions._protocol import Coupling
from skdp.emissions._regression import _kernels_poisson as kernels
from skdp.emissions._regression._coefs import (
    CoefModel,
    CoefPrior,
    CoefRegressions,
    as_rows,
    check_definite,
)
from skdp.emissions._regression._columns import Roles, as_inputs


class Counts(NamedTuple):
    """Targets and what depends on them only: see the kernels."""

    counts: Floats
    log_counts: Floats
    constants: Floats

    @classmethod
    def read(cls, targets: Floats) -> Counts:
        """Return the counts of targets, (N, D), which may be NaN."""
        positive = np.where(targets > 0.0, targets, 1.0)
        constants = -0.5 * np.log(2.0 * np.pi * positive) - stirling_rest(positive)
        return cls(
            as_rows(np.where(np.isnan(targets), -1.0, targets)),
            as_rows(np.log(positive)),
            as_rows(np.where(targets > 0.0, constants, 0.0)),
        )


class PoissonRegressions(CoefRegressions):
    """Regressions around the modes of their coefficients, for moves of states.
    Coefficients have the coordinates of the first step of a state: moves are exact, by the weights
    w.
    """

    _data_attributes: ClassVar[tuple[str, ...]] = ("_data", "_steps")

    _data: tuple[Floats, ...]
    _steps: Places

    def __init__(self, n_states: int, n_targets: int, width: int):
        super().__init__(n_states, n_targets, width)
        self._logs = np.zeros((n_states, n_targets))
        self._states = np.zeros(0, dtype=np.int64)
        self._key: NDArray[np.uint64] | None = None  # before the first draw, w is at the modes
        self._first_steps = np.zeros(0, dtype=np.int64)
        self._first_normals = np.zeros((0, n_targets, width))

    def restrict(self, steps: Places, n_states: int) -> PoissonRegressions:
        """Return the regressions of some of the observations."""
        other = PoissonRegressions(n_states, *self.linears.shape[1:])
        other._data = tuple(as_rows(array[steps]) for array in self._data)
        other._steps = self._steps[steps]
        other._key = self._key
        other._first_steps, other._first_normals = self._first_steps, self._first_normals
        return other

    def condition(self, states: Places) -> None:
        """Set the states of the observations; -1 marks observations without a state."""
        steps, trials = np.empty((2, *self.means.shape))
        check_definite(
            kernels.find_modes(
                *self._data, states, self.means, self.factors, self._logs, self.precisions,
                self.linears, steps, trials, np.empty(self._logs.shape),
                np.empty(self._logs.shape, dtype=np.bool_),
            )
        )  # fmt: skip
        self._states = states.copy()

    def _find_normals(self) -> Floats:
        """Return the normal coordinates of all states, zeros before the first draw."""
        normals = np.zeros(self.means.shape)
        if self._key is not None:
            kernels.draw_normals(
                self._key, self._steps, self._states, self._first_steps, self._first_normals,
                normals, np.empty_like(self._key),
            )  # fmt: skip
        return normals

    def write_log_predictive(self, out: Floats) -> None:
        """Write log p(targets given the observations of each state) by Laplace's approximation."""
        scratch = np.empty(self.linears.shape[2])
        kernels.weigh_by_laplace(*self._data, self.means, self.factors, scratch, out)

    def log_evidence(self) -> float:
        """Return the log weight of the coefficients of all states."""
        normals, coefs, logs = self._find_normals(), np.empty_like(self.means), self._logs.copy()
        kernels.find_coefs(self.means, self.factors, normals, coefs)
        are_done = np.zeros(logs.shape, dtype=np.bool_)
        kernels.weigh_coefs(*self._data, self._states, coefs, are_done, logs)
        return float(logs.sum() + 0.5 * (normals**2).sum() - self._log_determinant())

    def _log_determinant(self) -> float:
        """Return the sum of log |L|."""
        return float(np.log(np.diagonal(self.factors, axis1=2, axis2=3)).sum())

    def complete(self, states: Places, rng: NDArray[np.uint64]) -> None:
        """Do nothing, because the coordinates are given."""


class PoissonRegressionSampler(PoissonRegressions):
    """Sampler of the coefficients of all states."""

    def __init__(self, n_states: int, roles: Roles, prior: CoefPrior):
        super().__init__(n_states, *prior.coefs.shape)
        self.roles, self.prior = roles, prior
        self.target_columns = roles.targets
        self.coefs = np.zeros((n_states, *prior.coefs.shape))
        self._is_complete = False

    def attach(self, values: Floats) -> None:
        """Store the observations."""
        inputs, targets = self.roles.split(values)
        self._data = (*self.prior.regress(inputs), *Counts.read(targets))
        self._steps = np.arange(len(values))

    def complete(self, states: Places, rng: NDArray[np.uint64]) -> None:
        """Draw the coordinates of all steps given the coefficients."""
        self.condition(states)
        are_drawn = self._key is not None
        self._key = np.empty_like(rng)
        draw_key(rng, self._key)
        # If so, those of the first step of a state follow from the coefficients.
        if are_drawn:
            self._first_steps = np.full(self.n_states, -1)
            kernels.find_first_steps(states, self._first_steps)
            away = self.coefs - self.means
            self._first_normals = np.einsum("jdek,jde->jdk", self.factors, away)
        self._is_complete = True

    def draw(
        self, states: Places, rng: NDArray[np.uint64], coupling: Coupling | None = None
    ) -> None:
        """Draw the coefficients given the states, after moves of states from their coordinates."""
        if not self._is_complete:
            self.complete(states, rng)
        elif not np.array_equal(states, self._states):
            self.condition(states)
        normals = self._find_normals()
        shape = self.means.shape
        others, trials = np.empty((2, *shape))
        bounds, logs = np.empty((2, *shape[:2]))
        kernels.draw_coefs(
            *self._data, self._states, self.means, self.factors, normals, self.coefs,
            others, trials, np.empty((*shape[:2], 3)), bounds, logs,
            np.empty(shape[:2], dtype=np.bool_), rng,
        )  # fmt: skip
        self._is_complete = False

    def write_log_obs(self, out: Floats) -> None:
        """Write the log probabilities of the targets of all steps; 0 for missing targets."""
        kernels.weigh(*self._data, self.coefs, out)

    def log_evidence(self) -> float:
        """Return Laplace's approximation of log p(targets | z, inputs)."""
        # It depends on the states only: the noise of coefficients would hide changes of the joint.
        return float(self._logs.sum() - self._log_determinant())

    def model(self) -> PoissonRegressionModel:
        """Return the distributions of the next targets given the states."""
        means = np.empty(self.means.shape)
        kernels.find_means(
            *self._data, self._states, self.means, self.factors, np.empty(means.shape), means
        )
        return PoissonRegressionModel(
            self.roles, *self.prior.in_units_of_inputs(means, self.factors)
        )


@dataclass(frozen=True, eq=False)
class PoissonRegressionModel(CoefModel):
    """Log rates of targets that are linear in the inputs, and the uncertainty of coefficients.

    The distribution of the coefficients given the states is taken as Gaussian: the covariance is
    the inverse curvature at the mode, and the mean has the term of second order of the skewness.
    The probability of a target is the mean of Poisson probabilities over its predictor: see
    `CoefModel`.
    """

    def log_obs(self, values: Floats) -> Floats:
        """Return the log probability of the targets of every step given its inputs, (N, J)."""
        inputs, targets = self.roles.split(values)
        rows, coefs = self._join(inputs)
        out = np.empty((len(rows), len(coefs)))
        kernels.weigh_means(rows, *Counts.read(targets), coefs, self.coef_factors, out)
        return out

    def predict(self, inputs: Floats) -> Floats:
        """Return the mean counts of every state given inputs, (N, J, D).

        Parameters
        ----------
        inputs : (N, P) array
        """
        rows, coefs = self._join(as_inputs(self.roles, inputs))
        logs = np.einsum("nk,jdk->njd", rows, coefs) + 0.5 * self._find_variances(rows)
        means: Floats = np.exp(np.minimum(logs, kernels.LARGEST_LOG_RATE))
        return means

    def _find_variances(self, rows: Floats) -> Floats:
        """Return the variances of the log rates, (N, J, D)."""
        roots = np.einsum("jdek,nk->njde", self.coef_factors, rows)
        variances: Floats = np.einsum("njde,njde->njd", roots, roots)
        return variances

    def _draw_targets(
        self, states: NDArray[np.int64], inputs: Floats, rng: np.random.Generator
    ) -> Floats:
        rows, coefs = self._join(inputs)
        roots = np.einsum("ndek,nk->nde", self.coef_factors[states], rows)
        deviations = np.sqrt((roots**2).sum(axis=2))
        logs = np.einsum("nk,ndk->nd", rows, coefs[states])
        logs += deviations * rng.normal(size=logs.shape)
        rates = np.exp(np.minimum(logs, kernels.LARGEST_LOG_RATE))
        return rng.poisson(rates).astype(np.float64)
