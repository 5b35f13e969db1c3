"""Linear regressions with a conjugate prior: sampler and model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places
from skdp._part import Part
from skdp.emissions._autoregressive import _kernels as kernels
from skdp.emissions._gaussian._kernels import SMALLEST_ROOT
from skdp.emissions._gaussian._model import factorize_precisions, log_determinants
from skdp.emissions._gaussian._sums import Ranges
from skdp.emissions._protocol import Coupling
from skdp.emissions._regression._columns import (
    InputsNeeded,
    Roles,
    as_inputs,
    fill_targets,
    to_regressors,
)
from skdp.emissions._regression._windows import write_states_of_windows


class NormalPrior(NamedTuple):
    """Parameters of the matrix-normal inverse-Wishart prior, with the intercept first.

    Attributes
    ----------
    coefs : (D, K) array
        M.
    precision_root : (K, K) array
        Lower triangular Cholesky factor of C.
    dof : float
    scale_root : (D, D) array
        Lower triangular Cholesky factor of S.
    """

    coefs: Floats
    precision_root: Floats
    dof: float
    scale_root: Floats


class NormalRegressionSampler(Part):
    """Sampler of the coefficients and covariances of all states.

    Regressors and residuals are in units of the prior, as in the kernels of autoregressions. Steps
    without targets are rows of NaN, which have the density 1.
    """

    _data_attributes: ClassVar[tuple[str, ...]] = ("_rows",)
    starts_with_one_state = True

    def __init__(self, n_states: int, roles: Roles, prior: NormalPrior):
        self.n_states, self.roles, self.prior = n_states, roles, prior
        self.target_columns = roles.targets
        n_dims = len(prior.scale_root)
        self.n_dims, width = n_dims, n_dims + len(prior.precision_root)
        self._first = 1.0 / prior.precision_root[0, 0]
        self._shift = -float(np.log(np.diag(prior.scale_root)).sum())
        self.counts = np.zeros(n_states)
        self.products = np.zeros((n_states, width, width))
        self.maps = np.zeros((n_states, n_dims, width))
        self.log_dets = np.zeros(n_states)

    def attach(self, values: Floats) -> None:
        """Store the observations."""
        coefs, precision_root, _, scale_root = self.prior
        inputs, targets = self.roles.split(values)
        regressors = to_regressors(inputs, precision_root)[:, 1:]
        left = targets - coefs[:, 0] - inputs @ coefs[:, 1:].T
        left = solve_triangular(scale_root, left.T, lower=True, check_finite=False).T
        rows = np.hstack([regressors, left])
        rows[np.isnan(targets).any(axis=1)] = np.nan
        self._rows = as_readonly(rows)

    def restrict(self, steps: Places, n_states: int) -> NormalRegressionSampler:
        """Return a sampler for some of the observations."""
        other = NormalRegressionSampler(n_states, self.roles, self.prior)
        other._rows = as_readonly(self._rows[steps])
        return other

    def complete(self, states: Places, rng: NDArray[np.uint64]) -> None:
        """Do nothing: steps without targets are left out, since they carry no information."""

    def condition(self, states: Places) -> None:
        """Set the states of the observations; -1 marks observations without a state."""
        ranges = Ranges.of(self._rows, states, self.n_states, self.products.shape[1] - 1)
        firsts, seconds = ranges.add_up(self._rows, states)
        centers, scatter = np.empty(firsts.shape), np.empty(seconds.shape)
        ranges.settle((firsts, seconds), self.counts, centers, scatter)
        kernels.complete(self._first, self.counts, centers, scatter, self.products)

    def write_log_predictive(self, out: Floats) -> None:
        """Write the log predictive densities of all steps given the observations of each state."""
        inverses, log_dets = np.empty(self.products.shape), np.empty(self.n_states)
        kernels.invert_factors(
            self.products, self.n_dims, inverses, log_dets, np.empty(self.products.shape[1:])
        )
        freedoms = self.prior.dof + self.counts - (self.n_dims - 1.0)
        weigh(self._rows, self._first, inverses, log_dets, freedoms, self._shift, self.n_dims, out)

    def start(self, states: Places, rng: NDArray[np.uint64]) -> None:
        """Write initial states, by assigning windows of steps to the regressions that fit best."""
        write_states_of_windows(self, self.n_states, states, rng)

    def draw(
        self, states: Places, rng: NDArray[np.uint64], coupling: Coupling | None = None
    ) -> None:
        """Draw coefficients and covariances given the states."""
        self.condition(states)
        possible = kernels.draw_regressions(
            self.counts, self.products, self.prior.dof, self.maps, self.log_dets,
            np.empty(self.products.shape[1:]), rng,
        )  # fmt: skip
        if not possible:
            raise ValueError(
                "The regression of a state is not determined to rounding: scale the columns of X, "
                "or give a larger coef_precision_prior or covariance_prior."
            )

    def write_log_obs(self, out: Floats) -> None:
        """Write the log densities of the targets of all steps; 0 for missing targets."""
        n_dims, width, n_states = self.n_dims, self._rows.shape[1], self.n_states
        kernels.weigh_regressions(
            self._rows, self._first, self.maps, self.log_dets, self._shift,
            np.empty((n_dims, width, n_states)), np.empty((n_dims + 5, n_states)), out,
        )  # fmt: skip

    def log_evidence(self) -> float:
        """Return log p(targets | z, inputs)."""
        return float(
            kernels.log_evidence_of_regressions(
                self.counts, self.products, self.prior.dof, self._shift, self.n_dims,
                np.empty(self.products.shape[1:]),
            )
        )  # fmt: skip

    def model(self) -> NormalRegressionModel:
        """Return the distributions of the next targets given the states."""
        coefs, precision_root, dof, scale_root = self.prior
        n_dims, n_regressors = coefs.shape
        lower = np.tril(self.products)
        matrices = lower + np.tril(lower, -1).swapaxes(1, 2) + np.eye(n_dims + n_regressors)
        factors = np.linalg.cholesky(matrices)
        inverse_root = solve_triangular(precision_root, np.eye(n_regressors), lower=True)
        own = factors[:, :n_regressors, :n_regressors]
        coef_factors = np.linalg.solve(own, np.broadcast_to(inverse_root, own.shape))
        means = coefs + scale_root @ factors[:, n_regressors:, :n_regressors] @ coef_factors
        roots = scale_root @ factors[:, n_regressors:, n_regressors:]
        dofs = dof + self.counts
        divisors = np.where(dofs > n_dims + 1, dofs - n_dims - 1, dofs)
        freedoms = dofs - (n_dims - 1.0)
        return NormalRegressionModel(
            self.roles,
            means[:, :, 1:].copy(),
            means[:, :, 0].copy(),
            roots @ roots.swapaxes(1, 2) / divisors[:, np.newaxis, np.newaxis],
            freedoms,
            divisors / freedoms,
            coef_factors,
        )


def weigh(
    rows: Floats,
    first: float,
    inverses: Floats,
    log_dets: Floats,
    freedoms: Floats,
    shift: float,
    n_dims: int,
    out: Floats,
) -> None:
    """Write the log posterior predictive densities of all steps in all states, (N, J)."""
    width, n_states = rows.shape[1], out.shape[1]
    kernels.weigh_matrix_students(
        as_readonly(rows), first, inverses, log_dets, freedoms, shift, n_dims,
        np.empty((width, width, n_states)), np.empty((width, n_states)), np.empty((5, n_states)),
        out,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class NormalRegressionModel(InputsNeeded):
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

    @property
    def target_columns(self) -> Places:  # type: ignore[override]
        """Columns of the targets."""
        return self.roles.targets

    def log_obs(self, values: Floats) -> Floats:
        """Return the log density of the targets of every step given its inputs, (N, J).

        Parameters
        ----------
        values : (N, n_features) array
            Steps without targets have the log density 0.
        """
        inputs, targets = self.roles.split(values)
        rows = np.hstack([inputs, targets])
        rows[np.isnan(targets).any(axis=1)] = np.nan
        n_states, n_dims = self.intercepts.shape
        n_regressors = self.coefs.shape[2] + 1
        freedoms = np.array(self.degrees_of_freedom)
        scales = self.covariances * self.scale_ratios[:, np.newaxis, np.newaxis]
        factors = factorize_precisions(scales * freedoms[:, np.newaxis, np.newaxis])
        # The rows of L^-1 are those of F, then those of U [-M, I].
        inverses = np.zeros((n_states, n_regressors + n_dims, n_regressors + n_dims))
        inverses[:, :n_regressors, :n_regressors] = self.coef_factors
        means = np.concatenate([self.intercepts[:, :, np.newaxis], self.coefs], axis=2)
        inverses[:, n_regressors:, :n_regressors] = -factors @ means
        inverses[:, n_regressors:, n_regressors:] = factors
        out = np.empty((len(values), n_states))
        weigh(rows, 1.0, inverses, log_determinants(factors), freedoms, 0.0, n_dims, out)
        return out

    def predict(self, inputs: Floats) -> Floats:
        """Return the mean targets of every state given inputs, (N, J, D).

        Parameters
        ----------
        inputs : (N, P) array
        """
        inputs = as_inputs(self.roles, inputs)
        means: Floats = self.intercepts + np.einsum("np,jdp->njd", inputs, self.coefs)
        return means

    def draw_targets(
        self, states: NDArray[np.int64], inputs: Floats, rng: np.random.Generator
    ) -> Floats:
        """Return targets for states and inputs, (N, D).

        Parameters
        ----------
        states : (N,) array of int
        inputs : (N, P) array
        rng : numpy.random.Generator

        Raises
        ------
        ValueError
            If inputs are not finite, or the numbers of states and of inputs differ.
        """
        inputs = as_inputs(self.roles, inputs, states)
        rows = np.hstack([np.ones((len(inputs), 1)), inputs])
        leverages = np.einsum("nkl,nl->nk", self.coef_factors[states], rows)
        freedoms = self.degrees_of_freedom[states]
        roots = np.maximum(np.sqrt(rng.chisquare(freedoms) / freedoms), SMALLEST_ROOT)
        sizes = np.sqrt(1.0 + (leverages**2).sum(axis=1)) / roots
        noise = rng.standard_normal((len(states), self.intercepts.shape[1]))
        scales = self.covariances * self.scale_ratios[:, np.newaxis, np.newaxis]
        noise = np.einsum("nde,ne->nd", np.linalg.cholesky(scales)[states], noise)
        means = self.intercepts[states] + np.einsum("ndp,np->nd", self.coefs[states], inputs)
        drawn: Floats = means + sizes[:, np.newaxis] * noise
        return drawn

    def fill(self, values: Floats, weights: Floats) -> Floats:
        """Return observations with missing targets replaced by their means.

        Parameters
        ----------
        values : (N, n_features) array
        weights : (N, J) array
            Probabilities of the states.
        """
        return fill_targets(self.roles, self.predict, values, weights)

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the model with its states in another order."""
        return replace(
            self,
            coefs=self.coefs[order],
            intercepts=self.intercepts[order],
            covariances=self.covariances[order],
            degrees_of_freedom=self.degrees_of_freedom[order],
            scale_ratios=self.scale_ratios[order],
            coef_factors=self.coef_factors[order],
        )
