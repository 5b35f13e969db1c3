"""Linear regressions with a conjugate prior, one for each state, for rows in units of the prior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places
from skdp._part import Part
from skdp.emissions._autoregressive import _kernels as kernels
from skdp.emissions._gaussian._kernels import SMALLEST_ROOT
from skdp.emissions._gaussian._model import factorize_precisions, log_determinants
from skdp.emissions._gaussian._sums import Ranges, Sums


def _solve_triangular(factors: Floats, right: Floats) -> Floats:
    """Return L^-1 B for stacks of lower triangular matrices L and of matrices B."""
    pairs = zip(factors, right, strict=True)
    return np.array([solve_triangular(factor, own, lower=True) for factor, own in pairs])


class RegressionPrior(NamedTuple):
    """Parameters of the matrix-normal inverse-Wishart prior, with the intercept first."""

    coefs: Floats  # (D, K): M
    precision_root: Floats  # (K, K): lower triangular Cholesky factor of C
    dof: float
    scale_root: Floats  # (D, D): lower triangular Cholesky factor of S


class RegressionPosterior(NamedTuple):
    """Predictive distributions of states, in the units of the observations."""

    means: Floats  # (J, D, K): of the coefficients, intercepts first
    covariances: Floats  # (J, D, D): of the noise
    degrees_of_freedom: Floats  # (J,)
    scale_ratios: Floats  # (J,): of the scale matrices to `covariances`
    coef_factors: Floats  # (J, K, K): F, lower triangular; F^T F is V_n


class Regressions(Part):
    """Statistics, coefficients and covariances of the regressions of all states: see `_kernels`.
    Rows hold regressors without the constant, then residuals; a row of NaN has the density 1.
    """

    def __init__(self, n_states: int, prior: RegressionPrior):
        self.prior = prior
        n_dims = len(prior.scale_root)
        width = n_dims + len(prior.precision_root)
        self._first = 1.0 / prior.precision_root[0, 0]
        self._shift = -float(np.log(np.diag(prior.scale_root)).sum())
        self.counts = np.zeros(n_states)
        self.products = np.zeros((n_states, width, width))
        self.maps = np.zeros((n_states, n_dims, width))
        self.log_dets = np.zeros(n_states)

    def measure(self, rows: Floats, states: Places) -> Ranges:
        """Return the ranges that sums need, which are additive over parts of the data."""
        return Ranges.of(rows, states, len(self.counts), self.products.shape[1] - 1)

    def take(self, measured: Ranges, sums: Sums) -> None:
        """Store the statistics of all observations."""
        firsts, seconds = sums
        centers, scatter = np.empty(firsts.shape), np.empty(seconds.shape)
        measured.settle(sums, self.counts, centers, scatter)
        kernels.complete(self._first, self.counts, centers, scatter, self.products)

    def condition(self, rows: Floats, states: Places) -> None:
        """Set the states of the observations; -1 marks observations without a state."""
        measured = self.measure(rows, states)
        self.take(measured, measured.add_up(rows, states))

    def draw(self, rng: NDArray[np.uint64]) -> None:
        """Draw coefficients and covariances given the stored statistics."""
        possible = kernels.draw_regressions(
            self.counts, self.products, self.prior.dof, self.maps, self.log_dets,
            np.empty(self.products.shape[1:]), rng,
        )  # fmt: skip
        if not possible:
            raise ValueError(
                "The regression of a state is not determined to rounding: scale the columns of X, "
                "or give a larger coef_precision_prior or covariance_prior."
            )

    def write_log_obs(self, rows: Floats, out: Floats) -> None:
        """Write the log densities of all rows in all states, (N, J)."""
        (n_states, n_dims, _), width = self.maps.shape, rows.shape[1]
        kernels.weigh_regressions(
            rows, self._first, self.maps, self.log_dets, self._shift,
            np.empty((n_dims, width, n_states)), np.empty((n_dims + 5, n_states)), out,
        )  # fmt: skip

    def write_log_predictive(self, rows: Floats, out: Floats) -> None:
        """Write the log predictive densities of all rows given the observations of each state."""
        n_dims = self.maps.shape[1]
        inverses, log_dets = np.empty(self.products.shape), np.empty(len(self.counts))
        kernels.invert_factors(
            self.products, n_dims, inverses, log_dets, np.empty(self.products.shape[1:])
        )
        freedoms = self.prior.dof + self.counts - (n_dims - 1.0)
        _write_predictives(
            rows, self._first, inverses, log_dets, freedoms, self._shift, n_dims, out
        )

    def log_evidence(self) -> float:
        """Return the log density of all rows given the states."""
        return float(
            kernels.log_evidence_of_regressions(
                self.counts, self.products, self.prior.dof, self._shift, self.maps.shape[1],
                np.empty(self.products.shape[1:]),
            )
        )  # fmt: skip

    def posterior(
        self, solve: Callable[[Any, Any], Any] = _solve_triangular
    ) -> RegressionPosterior:
        """Return the predictive distributions given the stored statistics."""
        coefs, precision_root, dof, scale_root = self.prior
        n_dims, n = coefs.shape
        lower = np.tril(self.products)
        matrices = lower + np.tril(lower, -1).swapaxes(1, 2) + np.eye(n_dims + n)
        factors = np.linalg.cholesky(matrices)
        inverse_root = solve_triangular(precision_root, np.eye(n), lower=True)
        own = factors[:, :n, :n]
        coef_factors = solve(own, np.broadcast_to(inverse_root, own.shape))
        means = coefs + scale_root @ factors[:, n:, :n] @ coef_factors
        roots = scale_root @ factors[:, n:, n:]
        dofs = dof + self.counts
        divisors = np.where(dofs > n_dims + 1, dofs - n_dims - 1, dofs)
        freedoms = dofs - (n_dims - 1.0)
        covariances = roots @ roots.swapaxes(1, 2) / divisors[:, np.newaxis, np.newaxis]
        return RegressionPosterior(means, covariances, freedoms, divisors / freedoms, coef_factors)


def weigh(
    rows: Floats,
    means: Floats,
    coef_factors: Floats,
    scales: Floats,
    freedoms: Floats,
) -> Floats:
    """Return the log predictive densities of rows in all states, (N, J); 0 for rows of NaN.
    Rows hold regressors without the constant, then observations, in the units of the latter.
    """
    n_states, n_dims, n = means.shape
    factors = factorize_precisions(scales * freedoms[:, np.newaxis, np.newaxis])
    # The rows of L^-1 are those of F, then those of U [-M, I].
    inverses = np.zeros((n_states, n + n_dims, n + n_dims))
    inverses[:, :n, :n] = coef_factors
    inverses[:, n:, :n] = -factors @ means
    inverses[:, n:, n:] = factors
    out = np.empty((len(rows), n_states))
    _write_predictives(rows, 1.0, inverses, log_determinants(factors), freedoms, 0.0, n_dims, out)
    return out


def draw_noise(
    states: Places,
    regressors: Floats,
    coef_factors: Floats,
    scales: Floats,
    freedoms: Floats,
    rng: np.random.Generator,
) -> Floats:
    """Return deviations of observations from their means, (n, D), which follow `weigh`."""
    rows = np.hstack([np.ones((len(regressors), 1)), regressors])
    leverages = np.einsum("nkl,nl->nk", coef_factors[states], rows)
    own = freedoms[states]
    roots = np.maximum(np.sqrt(rng.chisquare(own) / own), SMALLEST_ROOT)
    sizes = np.sqrt(1.0 + (leverages**2).sum(axis=1)) / roots
    noise = rng.standard_normal((len(states), scales.shape[1]))
    noise = np.einsum("nde,ne->nd", np.linalg.cholesky(scales)[states], noise)
    result: Floats = sizes[:, np.newaxis] * noise
    return result


def _write_predictives(
    rows: Floats,
    first: float,
    inverses: Floats,
    log_dets: Floats,
    freedoms: Floats,
    shift: float,
    n_dims: int,
    out: Floats,
) -> None:
    """Write the log posterior predictive densities of all rows in all states, (N, J)."""
    width, n_states = rows.shape[1], out.shape[1]
    scratch = np.empty((width, width, n_states)), np.empty((width, n_states))
    rows = as_readonly(np.ascontiguousarray(rows))  # of one type: the kernel is compiled once
    kernels.weigh_matrix_students(
        rows, first, inverses, log_dets, freedoms, shift, n_dims, *scratch,
        np.empty((5, n_states)), out,
    )  # fmt: skip
