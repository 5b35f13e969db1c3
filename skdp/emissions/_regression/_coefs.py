"""What regressions with Gaussian coefficients have in common: prior, data, and model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places
from skdp._part import Part
from skdp.emissions._regression._columns import Roles, to_regressors
from skdp.emissions._regression._model import RegressionModel
from skdp.emissions._window_states import write_states_of_windows


def as_rows(array: Floats) -> Floats:
    """Return an array of one type, for which kernels are compiled once."""
    rows: Floats = as_readonly(np.ascontiguousarray(array))
    return rows


class CoefPrior(NamedTuple):
    """Parameters of the Gaussian prior, with the intercept first."""

    coefs: Floats  # (D, K)
    precision_root: Floats  # (K, K), lower Cholesky factor of their precision, for one target

    def regress(self, inputs: Floats) -> tuple[Floats, Floats]:
        """Return the regressors of all steps, (N, K), and the predictors under the mean, (N, D)."""
        offsets = self.coefs[:, 0] + inputs @ self.coefs[:, 1:].T
        return as_rows(to_regressors(inputs, self.precision_root)), as_rows(offsets)

    def in_units_of_inputs(self, means: Floats, factors: Floats) -> tuple[Floats, Floats, Floats]:
        """Return coefficients, intercepts, and F (see `CoefModel`), from units of the prior."""
        coefs, root = self
        own = coefs + np.array([solve_triangular(root, each.T, trans="T", lower=True).T
                                for each in means])  # fmt: skip
        inverse_root = solve_triangular(root, np.eye(len(root)), lower=True)
        inverse_factors = np.linalg.solve(factors, np.broadcast_to(inverse_root, factors.shape))
        return own[:, :, 1:].copy(), own[:, :, 0].copy(), inverse_factors


class CoefRegressions(Part):
    """Regressions of some observations on their regressors, given their states."""

    starts_with_one_state = True

    def __init__(self, n_states: int, n_targets: int, width: int):
        self.n_states = n_states
        shape = n_states, n_targets, width
        self.precisions, self.linears = np.zeros((*shape, width)), np.zeros(shape)
        self.factors, self.means = np.zeros((*shape, width)), np.zeros(shape)
        self.factors[:] = self.precisions[:] = np.eye(width)

    def start(self, states: Places, rng: NDArray[np.uint64]) -> None:
        """Write initial states, by assigning windows of steps to the regressions that fit best."""
        write_states_of_windows(self, self.n_states, states, rng)


def check_definite(are_definite: bool) -> None:
    """Raise a ValueError unless the precisions of the coefficients are positive definite."""
    if not are_definite:
        raise ValueError(
            "The regression of a state is not determined to rounding: scale the columns of X, "
            "or give a larger coef_precision_prior."
        )


@dataclass(frozen=True, eq=False)
class CoefModel(RegressionModel):
    r"""Predictors of targets that are linear in the inputs, and the uncertainty of coefficients.

    The predictor of a target is N(intercepts + coefs @ inputs, \|F a\|^2), with a = [1, inputs] and
    F in `coef_factors`.

    Attributes
    ----------
    roles : Roles
        Columns of targets and inputs.
    coefs : (J, D, P) array
        Posterior means of the coefficients of the inputs for each target.
    intercepts : (J, D) array
        Posterior means of the intercepts.
    coef_factors : (J, D, P + 1, P + 1) array
        F, lower triangular. F^T F is the covariance of the coefficients of a target (intercept
        first).
    """

    roles: Roles
    coefs: Floats
    intercepts: Floats
    coef_factors: Floats

    def _join(self, inputs: Floats) -> tuple[Floats, Floats]:
        """Return the rows a, (N, P + 1), and coefficients, (J, D, P + 1), intercepts first."""
        rows = np.hstack([np.ones((len(inputs), 1)), inputs])
        return as_rows(rows), np.concatenate(
            [self.intercepts[:, :, np.newaxis], self.coefs], axis=2
        )
