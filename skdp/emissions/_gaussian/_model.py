"""Model of Gaussian vectors in a stored sample: predictive distributions of states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from skdp._numeric import Floats, Places
from skdp._numeric._numba import as_readonly
from skdp.emissions._common._columns import check_numbers
from skdp.emissions._common._marginals import (
    StatesMixin,
    StudentMarginals,
    draw_by_regression,
    fill_by_means,
    fill_by_regression,
)
from skdp.emissions._kernels import _gaussian as kernels

IMPOSSIBLE = (
    "The covariance of a state is not positive definite to rounding: scale the columns of X, or "
    "give a larger covariance_prior."
)


class Missing(NamedTuple):
    """Rows with missing values, by pattern: see `_kernels/_gaussian`."""

    rows: Places
    pattern_ptr: Places
    orders: Places
    n_seen: Places


def list_missing(values: Floats, width: int) -> Missing | None:
    """Return the rows with missing values, or None if there are none."""
    hidden = np.isnan(values)
    rows = np.flatnonzero(hidden.any(axis=1))
    if len(rows) == 0:
        return None
    patterns, pattern, counts = np.unique(
        hidden[rows], axis=0, return_inverse=True, return_counts=True
    )
    patterns = patterns.reshape(len(patterns), -1, width)
    return Missing(
        rows[np.argsort(pattern.ravel(), kind="stable")],
        np.concatenate([[0], np.cumsum(counts)]),
        np.argsort(patterns, axis=2, kind="stable"),
        (~patterns).sum(axis=2),
    )


def write_log_densities(
    values: Floats, missing: Missing | None, known: tuple[Any, ...], out: Floats
) -> None:
    """Write log densities of the observed values of all steps in all states: see the kernels."""
    values = as_readonly(values)  # and no argument is None: all calls need the same machine code
    known = tuple(np.empty(0) if part is None else part for part in known)
    means, factors, _, freedoms = known
    n_dims, n_states, width = values.shape[1], out.shape[1], means.shape[1]
    exponents = np.empty((n_dims // width * (len(freedoms) > 0), n_states))
    scratch = np.empty((n_dims, width, n_states)), np.empty((n_dims + 3, n_states)), exponents
    kernels.weigh_vectors(values, *known, *scratch, out)
    if missing is not None:
        more = np.empty((width, width)), np.empty(width)
        kernels.weigh_incomplete(values, *missing, means, factors, freedoms, *scratch, *more, out)


def factorize_precisions(covariances: Floats) -> Floats:
    """Return lower triangular U with U^T U = Sigma^-1, (K, W, W), or raise a ValueError."""
    identity = np.eye(covariances.shape[1])
    try:
        factors = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError as error:
        raise ValueError(IMPOSSIBLE) from error
    return np.array([solve_triangular(factor, identity, lower=True) for factor in factors])


def make_definite(scales: Floats) -> Floats:
    """Return matrices, (K, W, W), that stay positive definite when they are rounded."""
    # A drawn value next to an absurd one is as large, and hides the variance given this one.
    units = np.sqrt(np.diagonal(scales, axis1=1, axis2=2))
    units = units[:, :, np.newaxis] * units[:, np.newaxis]
    least, correlations = 16.0 * scales.shape[1] * np.finfo(float).eps, scales / units
    try:
        np.linalg.cholesky(correlations - least * np.eye(scales.shape[1]))
        return scales
    except np.linalg.LinAlgError:
        roots, axes = np.linalg.eigh(correlations)
    axes = axes * np.sqrt(np.maximum(roots, least))[:, np.newaxis]
    lost = (roots < least).any(axis=1)[:, np.newaxis, np.newaxis]
    return np.where(lost, np.matmul(axes, axes.swapaxes(1, 2)) * units, scales)


def log_determinants(precision_factors: Floats) -> Floats:
    """Return log det U of triangular matrices, (K,)."""
    return np.log(np.diagonal(precision_factors, axis1=1, axis2=2)).sum(axis=1)


class VectorModel(StatesMixin):
    """Mixin of models of vectors, or of independent columns."""

    means: Any
    scales: Any

    def fill(self, values: Floats, weights: Floats) -> Floats:
        """Return observations, (N, D), with NaN replaced by its mean given the rest of the row."""
        if self.scales.ndim == 3:
            return fill_by_regression(values, weights, self.means, self.scales)
        return fill_by_means(values, weights, self.means)


@dataclass(frozen=True, eq=False)
class GaussianModel(VectorModel):
    """Gaussian vectors, and the uncertainty of their means and covariances.

    With `degrees_of_freedom`, means and covariances have been learned from finitely many
    observations, and the next one follows its posterior predictive distribution, a multivariate
    Student t distribution about `means` with the scale matrix `scales`. Otherwise, parameters are
    known, and the next observation is Gaussian.

    Attributes
    ----------
    means : (J, D) array
    covariances : (J, D, D) or (J, D) array
        Covariance of each state, or its variances if columns are independent.
    degrees_of_freedom : (J,) or (J, D) array or None, default=None
        Degrees of freedom of the Student t distribution of each state, or of each column if columns
        are independent.
    scale_ratios : array like `degrees_of_freedom`, or None, default=None
        Ratios of `scales` to `covariances`.
    """

    means: Floats
    covariances: Floats
    degrees_of_freedom: Floats | None = None
    scale_ratios: Floats | None = None

    @property
    def means_(self) -> Floats:
        """(J, D) read-only array: `means` under hmmlearn's name."""
        return as_readonly(self.means)

    @property
    def covars_(self) -> Floats:
        """(J, D, D) read-only array: `covariances` as matrices, under hmmlearn's name."""
        covars = self.covariances
        if covars.ndim == 2:
            covars = covars[:, :, np.newaxis] * np.eye(covars.shape[1])
        return as_readonly(covars)

    @property
    def scales(self) -> Floats:
        """(J, D, D) or (J, D) array: scale matrices, or squared scales of columns."""
        if self.scale_ratios is None:
            return self.covariances
        ratios = self.scale_ratios
        missing_axes = self.covariances.ndim - ratios.ndim
        return self.covariances * ratios.reshape(ratios.shape + (1,) * missing_axes)

    def log_obs(self, values: Floats) -> Floats:
        """Return the log density of the observed values of every step in every state, (N, J)."""
        check_numbers(values)
        n_states, n_dims = self.means.shape
        width = n_dims if self.covariances.ndim == 3 else 1
        scales = self.scales.reshape(-1, width, width)
        out = np.empty((len(values), n_states))
        missing = list_missing(values, width)
        means = np.array(self.means).reshape(-1, width)  # a copy, as `HMMModel` makes them
        if self.degrees_of_freedom is None:
            factors = factorize_precisions(scales)
            log_dets, freedoms = log_determinants(factors), None
        else:
            freedoms = np.array(self.degrees_of_freedom).reshape(-1)
            factors = factorize_precisions(scales * freedoms[:, np.newaxis, np.newaxis])
            log_dets = None
        write_log_densities(values, missing, (means, factors, log_dets, freedoms), out)
        return out

    def sample(self, states: Places, rng: np.random.Generator) -> Floats:
        """Return an observation for each state, (N, D), with the density of `log_obs`."""
        noise = rng.standard_normal((len(states), self.means.shape[1]))
        scales = self.scales
        if scales.ndim == 2:
            noise *= np.sqrt(scales)[states]
        else:
            noise = np.einsum("tde,te->td", np.linalg.cholesky(scales)[states], noise)
        if self.degrees_of_freedom is not None:
            freedoms = self.degrees_of_freedom[states]
            roots = np.sqrt(rng.chisquare(freedoms) / freedoms).reshape(len(states), -1)
            noise /= np.maximum(roots, kernels.SMALLEST_ROOT)
        return self.means[states] + noise

    def marginals(self) -> StudentMarginals:
        """Return the distributions of single columns of the next observation."""
        variances, freedoms = self.scales, self.degrees_of_freedom
        if variances.ndim == 3:
            variances = np.diagonal(variances, axis1=1, axis2=2)
            if freedoms is not None:  # each column has the degrees of freedom of the vector
                freedoms = np.broadcast_to(freedoms[:, np.newaxis], variances.shape)
        return StudentMarginals(self.means, np.sqrt(variances), freedoms)

    def draw_missing(self, values: Floats, states: Places, rng: np.random.Generator) -> Floats:
        """Return observations, (N, D), with NaN replaced by a draw given the rest of the row."""
        if self.covariances.ndim == 3:
            return draw_by_regression(
                values, states, self.means, self.scales, self.degrees_of_freedom, None, rng
            )
        return np.where(np.isnan(values), self.sample(states, rng), values)
