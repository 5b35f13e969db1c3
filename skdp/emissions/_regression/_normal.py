"""Linear regressions with a conjugate prior: sampler and model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places
from skdp._part import Part
from skdp.emissions._autoregressive._regressions import (
    RegressionPrior,
    Regressions,
    draw_noise,
    weigh,
)
from skdp.emissions._protocol import Coupling
from skdp.emissions._regression._columns import (
    Roles,
    as_inputs,
    to_regressors,
)
from skdp.emissions._regression._model import RegressionModel
from skdp.emissions._window_states import write_states_of_windows


class NormalRegressionSampler(Part):
    """Sampler of the coefficients and covariances of all states."""

    # Rows are regressors and residuals in units of the prior; without targets they are NaN, which
    # has the density 1.
    _data_attributes: ClassVar[tuple[str, ...]] = ("_rows",)
    starts_with_one_state = True

    def __init__(self, n_states: int, roles: Roles, prior: RegressionPrior):
        self.n_states, self.roles, self.prior = n_states, roles, prior
        self.target_columns = roles.targets
        self.regressions = Regressions(n_states, prior)

    @property
    def counts(self) -> Floats:
        """Number of steps of each state."""
        return self.regressions.counts

    def attach(self, values: Floats) -> None:
        """Store the observations."""
        coefs, precision_root, _, scale_root = self.prior
        inputs, targets = self.roles.split(values)
        regressors = to_regressors(inputs, precision_root)[:, 1:]
        left = targets - coefs[:, 0] - inputs @ coefs[:, 1:].T
        left = solve_triangular(scale_root, left.T, lower=True, check_finite=False).T
        rows = np.hstack([regressors, left])
        rows[np.isnan(targets).any(axis=1)] = np.nan
        self._rows = as_readonly(np.ascontiguousarray(rows))

    def restrict(self, steps: Places, n_states: int) -> NormalRegressionSampler:
        """Return a sampler for some of the observations."""
        other = NormalRegressionSampler(n_states, self.roles, self.prior)
        other._rows = as_readonly(self._rows[steps])
        return other

    def complete(self, states: Places, rng: NDArray[np.uint64]) -> None:
        """Do nothing: steps without targets are left out, since they carry no information."""

    def condition(self, states: Places) -> None:
        """Set the states of the observations; -1 marks observations without a state."""
        self.regressions.condition(self._rows, states)

    def write_log_predictive(self, out: Floats) -> None:
        """Write the log predictive densities of all steps given the observations of each state."""
        self.regressions.write_log_predictive(self._rows, out)

    def start(self, states: Places, rng: NDArray[np.uint64]) -> None:
        """Write initial states, by assigning windows of steps to the regressions that fit best."""
        write_states_of_windows(self, self.n_states, states, rng)

    def draw(
        self, states: Places, rng: NDArray[np.uint64], coupling: Coupling | None = None
    ) -> None:
        """Draw coefficients and covariances given the states."""
        self.condition(states)
        self.regressions.draw(rng)

    def write_log_obs(self, out: Floats) -> None:
        """Write the log densities of the targets of all steps; 0 for missing targets."""
        self.regressions.write_log_obs(self._rows, out)

    def log_evidence(self) -> float:
        """Return log p(targets | z, inputs)."""
        return self.regressions.log_evidence()

    def model(self) -> NormalRegressionModel:
        """Return the distributions of the next targets given the states."""
        means, *rest = self.regressions.posterior(np.linalg.solve)
        return NormalRegressionModel(
            self.roles, means[:, :, 1:].copy(), means[:, :, 0].copy(), *rest
        )


@dataclass(frozen=True, eq=False)
class NormalRegressionModel(RegressionModel):
    r"""Linear predictions of targets from inputs, and the uncertainty of their coefficients.

    Given a = [1, inputs], the targets of a state follow a multivariate Student t distribution,
    their posterior predictive. The location is ``intercepts + coefs @ inputs``, and the scale
    matrix is ``covariances * scale_ratios`` times 1 + h, where h = \|F a\|^2, with F in
    `coef_factors`, is large if few observations of the state have had similar inputs.

    Attributes
    ----------
    roles : Roles
        Columns of targets and inputs.
    coefs : (J, D, P) array
        Posterior means of the coefficients of the inputs for each target.
    intercepts : (J, D) array
        Posterior means of the intercepts.
    covariances : (J, D, D) array
        Covariances of the noise.
    degrees_of_freedom : (J,) array
    scale_ratios : (J,) array
        Ratios of the scale matrices to `covariances`.
    coef_factors : (J, P + 1, P + 1) array
        F, lower triangular. F^T F is the covariance of the coefficients of one target (intercept
        first) in units of its noise.
    """

    roles: Roles
    coefs: Floats
    intercepts: Floats
    covariances: Floats
    degrees_of_freedom: Floats
    scale_ratios: Floats
    coef_factors: Floats

    def log_obs(self, values: Floats) -> Floats:
        """Return the log density of the targets of every step given its inputs, (N, J)."""
        inputs, targets = self.roles.split(values)
        rows = np.hstack([inputs, targets])
        rows[np.isnan(targets).any(axis=1)] = np.nan
        means = np.concatenate([self.intercepts[:, :, np.newaxis], self.coefs], axis=2)
        freedoms = np.array(self.degrees_of_freedom)
        return weigh(rows, means, self.coef_factors, self._scales, freedoms)

    @property
    def _scales(self) -> Floats:
        return self.covariances * self.scale_ratios[:, np.newaxis, np.newaxis]

    def predict(self, inputs: Floats) -> Floats:
        """Return the mean targets of every state given inputs, (N, J, D).

        Parameters
        ----------
        inputs : (N, P) array
        """
        inputs = as_inputs(self.roles, inputs)
        means: Floats = self.intercepts + np.einsum("np,jdp->njd", inputs, self.coefs)
        return means

    def _draw_targets(
        self, states: NDArray[np.int64], inputs: Floats, rng: np.random.Generator
    ) -> Floats:
        freedoms = self.degrees_of_freedom
        noise = draw_noise(states, inputs, self.coef_factors, self._scales, freedoms, rng)
        means = self.intercepts[states] + np.einsum("ndp,np->nd", self.coefs[states], inputs)
        drawn: Floats = means + noise
        return drawn
