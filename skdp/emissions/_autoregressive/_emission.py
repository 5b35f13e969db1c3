"""Emissions of vectors that depend linearly on earlier ones."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from sklearn.base import BaseEstimator

from skdp._checks import check_memory
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import next_double
from skdp._numeric._typing import Floats, Places
from skdp._part import Part
from skdp._sklearn_compat import EstimatorMixin, Interval, validate_parameters
from skdp.emissions._autoregressive import _kernels as kernels
from skdp.emissions._autoregressive._lags import check_lags
from skdp.emissions._autoregressive._model import (
    AutoregressiveModel,
    StartingLags,
    write_predictives,
)
from skdp.emissions._far_values import PulledIn
from skdp.emissions._gaussian._kernels import factorize
from skdp.emissions._gaussian._sums import Ranges, Sums, find_moments
from skdp.emissions._moments import find_covariance, moments_of
from skdp.emissions._prior_arrays import is_symmetric, read_array
from skdp.emissions._protocol import Coupling
from skdp.emissions._whole import Made, Observations, ObservedSequences, Whole

# Default priors are computed from the data. States are expected to have the dynamics of the whole
# data set and this share of the residual variance for one column, or its D-th root for D columns.
# In units of its noise, the predictions of a state are expected to differ from those for all data
# by a squared distance of D K / C. Few columns allow a value of 2, which is used for any number.
_SHARE = 0.2
_DISTANCE = 2.0
_SHRINKAGE = 1e-8  # of the correlations of lags, which are nearly 1 for smooth series
_LEAST = 1e-6  # smallest deviation of the noise relative to that of the data
_LEAST_OF_FAR = 1e-5  # the same with far values: products with these must leave some digits
_WIDTH, _N_PASSES = 10, 5  # width of the windows of initial states, and number of passes


class AutoregressiveEmission(EstimatorMixin, BaseEstimator):
    r"""Vectors that depend linearly on the last L: x_t ~ N(A_j a_t, Sigma_j) in state j.

    a_t = [x_t-1, ..., x_t-L, 1] has K = D L + 1 numbers. The prior is matrix-normal
    inverse-Wishart: Sigma_j ~ IW(nu, S), with density proportional to
    \|Sigma\|^(-(nu + D + 1) / 2) exp(-tr(S Sigma^-1) / 2), and A_j ~ MN(M, Sigma_j, C^-1): row d
    has the covariance C^-1 times the variance of column d. States differ in their dynamics, not
    only in their levels.

    The first `n_lags` steps of each sequence count as given: their densities are 1, and their
    states are inferred from the steps after them only.

    Parameters
    ----------
    n_lags : int, default=1
        L, the number of earlier steps on which an observation depends, >= 1. Each sequence must be
        longer.
    coef_prior : (D, D L + 1) array or None, default=None
        M: coefficients of lag 1, then of the others, and the intercepts in the last column. None:
        the coefficients of a linear regression on all the data.
    coef_precision_prior : float, (D L + 1, D L + 1) array or None, default=None
        C, symmetric and positive definite, in the order of `coef_prior`. A number from 1e-8 to 1e8:
        how many observations the prior coefficients are worth; C is this number times the mean of
        a_t a_t^T. None: D (D L + 1) / 2, with which the squared distance between the predictions of
        a state and of `coef_prior` is expected to be 2, in units of the state's noise.
    degrees_of_freedom_prior : float or None, default=None
        nu > D - 1. None: 2 D + 1. With fewer, small states of many columns overfit combinations of
        columns that hardly vary.
    covariance_prior : (D, D) array or None, default=None
        S, symmetric and positive definite. The prior mean of a covariance is S / (nu - D - 1).
        None: this mean is 0.2^(1 / D) times the covariance of the residuals of `coef_prior`. (S for
        nu below D + 2 is that for D + 2.)

    Notes
    -----
    Missing values (NaN) are rejected. `GaussianEmission` allows them.

    Like those of `GaussianEmission`, default priors are robust to outliers. Outliers a million
    times as far out as the other values exceed the precision of the products of a regression: then
    the default prior follows them, and a warning recommends replacing them.

    The posterior is of the same kind as the prior [1]_: with n_j observations in state j,

    - C_n = C + sum a_t a_t^T, M_n = (M C + sum x_t a_t^T) C_n^-1,
    - nu_n = nu + n_j, S_n = S + sum x_t x_t^T + M C M^T - M_n C_n M_n^T.

    Scores, probabilities and samples of a stored sample are those of the posterior predictive
    distribution: given the states, the next observation follows a Student t distribution about
    M_n a_t with f = nu_n - D + 1 degrees of freedom and the scale matrix
    (1 + a_t^T C_n^-1 a_t) S_n / f. `coefs`, `intercepts` and `covariances` are posterior means
    (S_n / nu_n instead where Sigma has no mean, nu_n <= D + 1).

    A state may grow without bounds in long samples or forecasts: inspect the eigenvalues of its
    `coefs`.

    References
    ----------
    .. [1] A. Gelman et al. (2013), Bayesian Data Analysis, 3rd ed., 14.2 and 3.6, for one response;
       E. B. Fox, E. B. Sudderth, M. I. Jordan, A. S. Willsky (2011), Bayesian nonparametric
       inference of switching dynamic linear models, IEEE Trans. Signal Process. 59(4), III-A:
       switching vector autoregressions.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_lags": [Interval(Integral, 1, None, closed="left")],
        "coef_prior": ["array-like", None],
        "coef_precision_prior": [Interval(Real, 1e-8, 1e8, closed="both"), "array-like", None],
        "degrees_of_freedom_prior": [Interval(Real, 0, 1e8, closed="right"), None],
        "covariance_prior": ["array-like", None],
    }

    def __init__(
        self,
        n_lags: int = 1,
        *,
        coef_prior: ArrayLike | None = None,
        coef_precision_prior: float | ArrayLike | None = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: ArrayLike | None = None,
    ):
        self.n_lags = n_lags
        self.coef_prior = coef_prior
        self.coef_precision_prior = coef_precision_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior

    def make_sampler(self, values: Floats, n_states: int, ptr: Places) -> AutoregressiveSampler:
        """Return the sampler of this emission's parameters for these observations.

        Parameters
        ----------
        values : (N, D) array
            The observations, from which some priors are computed.
        n_states : int
            J.
        ptr : (n + 1,) array of int
            Sequence s is steps ``ptr[s]`` to ``ptr[s + 1] - 1``.

        Returns
        -------
        EmissionSampler

        Raises
        ------
        ValueError
            If a parameter is invalid or does not match the observations, a value is missing, or a
            sequence is not longer than `n_lags`.
        """
        return self.make_sampler_of(Whole(values, ptr), n_states)

    def make_sampler_of(self, data: ObservedSequences, n_states: int) -> AutoregressiveSampler:
        """Return the same sampler as `make_sampler`, for observations that may be in parts.

        Parameters
        ----------
        data : object
            Object with ``n_features``, ``sum(f, *args)``, which returns the sum over parts of
            tuples ``f(values, *args)``, and ``sum_sequences(f, *args)`` for
            ``f(values, ptr, *args)``.
        n_states : int
            J.

        Returns
        -------
        EmissionSampler

        Raises
        ------
        ValueError
            If a parameter is invalid or does not match the observations, a value is missing, or a
            sequence is not longer than `n_lags`.
        """
        validate_parameters(self)
        n_dims, n_lags = data.n_features, int(self.n_lags)
        n_lagged = n_dims * n_lags
        width = n_lagged + n_dims + 1
        (sizes,) = data.sum(count_steps)
        check_memory(
            8.0 * n_states * 3.0 * width**2 + 8.0 * max(sizes) * width,
            f"n_lags={n_lags} of {n_dims} features in {n_states} states",
        )
        data.sum_sequences(check_sequences, n_lags)
        dof = self.degrees_of_freedom_prior
        dof = 2.0 * n_dims + 1.0 if dof is None else float(dof)
        if dof <= n_dims - 1:
            raise ValueError(
                "AutoregressiveEmission: degrees_of_freedom_prior must be above the number of "
                f"features minus 1, {n_dims - 1}; got {self.degrees_of_freedom_prior!r}."
            )
        near, nothing = PulledIn(data), np.zeros((n_dims, n_lagged + 1))
        ranges, means, products = find_moments(
            Made(near, n_lagged + n_dims, make_rows, n_lags, nothing)
        )
        least = find_least_deviations(data, near)
        covariance = find_covariance(ranges, products, _SHRINKAGE)[:n_lagged, :n_lagged]
        covariance = widen(covariance, np.tile(least, n_lags))
        start = StartingLags(means[:n_lagged], self._factorize("X", covariance))
        if self.coef_prior is None:
            cross = products[n_lagged:, :n_lagged] / ranges.numbers[0]
            coefs = regress(means, covariance, cross)
        else:
            coefs = read_array(self, "coef_prior", self.coef_prior, nothing.shape, n_dims)
            coefs = np.hstack([coefs[:, -1:], coefs[:, :-1]])  # the intercepts come first
        if self.covariance_prior is None:
            left = Made(near, n_dims, make_residuals, n_lags, coefs)
            share = _SHARE ** (1.0 / n_dims) * max(dof - n_dims - 1.0, 1.0)
            scale = share * widen(moments_of(left)[1], least)
        else:
            scale = read_array(
                self, "covariance_prior", self.covariance_prior, (n_dims, n_dims), n_dims
            )
        prior = AutoregressivePrior(
            coefs,
            self._read_precision(start, n_dims),
            dof,
            self._factorize("covariance_prior", scale),
        )
        return AutoregressiveSampler(n_states, n_lags, prior, start)

    def _read_precision(self, lags: StartingLags, n_dims: int) -> Floats:
        """Return the Cholesky factor of C, with the intercept first."""
        precision = self.coef_precision_prior
        n = len(lags.mean) + 1
        if precision is not None and not isinstance(precision, Real):
            matrix = read_array(self, "coef_precision_prior", precision, (n, n), n_dims)
            order = np.roll(np.arange(n), 1)
            return self._factorize("coef_precision_prior", matrix[np.ix_(order, order)])
        factor = np.zeros((n, n))
        factor[0, 0], factor[1:, 0], factor[1:, 1:] = 1.0, lags.mean, lags.root
        return factor * np.sqrt(n_dims * n / _DISTANCE if precision is None else float(precision))

    def _factorize(self, name: str, matrix: Floats) -> Floats:
        """Return a Cholesky factor, or raise a ValueError."""
        if not is_symmetric(matrix):
            raise ValueError(f"AutoregressiveEmission: {name} must be symmetric.")
        factor = np.array(matrix)
        if not factorize(factor):
            raise ValueError(f"AutoregressiveEmission: {name} must be positive definite.")
        return factor


def count_steps(values: Floats) -> tuple[list[int]]:
    """Return the number of steps."""
    return ([len(values)],)


def check_sequences(values: Floats, ptr: Places, n_lags: int) -> tuple[int]:
    """Call `check_lags`, which may raise a ValueError, and return (0,)."""
    check_lags(values, ptr, n_lags)
    return (0,)


def make_rows(
    values: Floats,
    ptr: Places,
    n_lags: int,
    coefs: Floats,
    precision_root: Floats | None = None,
    scale_root: Floats | None = None,
) -> Floats:
    """Return lags and residuals in units of a prior; rows of given steps are NaN.

    Parameters
    ----------
    values, ptr, n_lags : as in `check_lags`
    coefs, precision_root, scale_root : arrays
        Prior as in `AutoregressivePrior`; if None, the units are those of the values.
    """
    roots = (
        np.eye(n) if root is None else np.ascontiguousarray(root)
        for root, n in ((precision_root, coefs.shape[1]), (scale_root, len(coefs)))
    )
    rows = np.empty((len(values), len(coefs) * (n_lags + 1)))
    known = np.ascontiguousarray(coefs), *roots
    kernels.write_rows(
        as_readonly(values), as_readonly(ptr), n_lags, *map(as_readonly, known), rows
    )
    made: Floats = as_readonly(rows)
    return made


def make_residuals(values: Floats, ptr: Places, n_lags: int, coefs: Floats) -> Floats:
    """Return the residuals of a regression; rows of given steps are NaN."""
    return np.ascontiguousarray(make_rows(values, ptr, n_lags, coefs)[:, -len(coefs) :])


def regress(means: Floats, covariance: Floats, cross: Floats) -> Floats:
    """Return the least-squares coefficients of values given lags, (D, K), intercepts first.

    Parameters
    ----------
    means : (D L + D,) array
        Means of the lags and the values.
    covariance : (D L, D L) array
        Covariance of the lags; positive definite, so that collinear lags also have coefficients.
    cross : (D, D L) array
        Covariances of the values with the lags.
    """
    n = len(covariance)
    coefs = np.linalg.solve(covariance, cross.T).T
    return np.hstack([(means[n:] - coefs @ means[:n])[:, np.newaxis], coefs])


def find_least_deviations(data: Observations, near: Observations) -> Floats:
    """Return the smallest deviations of lags and of noise that products of values can resolve.

    Parameters
    ----------
    data, near : Observations
        The observations, and the same with far values pulled in.
    """
    everywhere, nearby = (find_deviations(values) for values in (data, near))
    floors: Floats = np.where(everywhere > nearby, _LEAST_OF_FAR * everywhere, _LEAST * nearby)
    for d in np.flatnonzero(floors > nearby):
        warnings.warn(
            f"Values in column {d} of X are outliers so far from the others that the default prior "
            "of AutoregressiveEmission has to follow their scale: replace them, for instance by "
            "interpolation.",
            UserWarning,
            stacklevel=2,
        )
    return floors


def find_deviations(data: Observations) -> Floats:
    """Return the standard deviation of each column."""
    ranges, _, squares = find_moments(data)
    return np.asarray(np.sqrt(np.diag(find_covariance(ranges, squares))))


def widen(covariance: Floats, least: Floats) -> Floats:
    """Return a covariance with the same correlations and at least the given deviations."""
    deviations = np.sqrt(np.diag(covariance))
    ratios = np.maximum(deviations, least) / deviations
    return covariance * np.multiply.outer(ratios, ratios)


class AutoregressivePrior(NamedTuple):
    """Parameters of the prior, with the intercept first.

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


class AutoregressiveSampler(Part):
    """Sampler of the coefficients and covariances of all states.

    It works on values in units of the prior: see `_kernels`.
    """

    _data_attributes: ClassVar[tuple[str, ...]] = ("_rows",)
    starts_with_one_state = True
    is_incomplete = False

    def __init__(self, n_states: int, n_lags: int, prior: AutoregressivePrior, start: StartingLags):
        self.prior, self.starting_lags = prior, start
        self.n_states, self.n_lags = n_states, n_lags
        self.n_dims = n_dims = len(prior.scale_root)
        width = n_dims + len(prior.precision_root)
        self._first = 1.0 / prior.precision_root[0, 0]
        self._shift = -float(np.log(np.diag(prior.scale_root)).sum())
        self.counts = np.zeros(n_states)
        self.products = np.zeros((n_states, width, width))
        self.maps = np.zeros((n_states, n_dims, width))
        self.log_dets = np.zeros(n_states)

    def attach(self, values: Floats, ptr: Places) -> None:
        """Store the observations."""
        check_lags(values, ptr, self.n_lags)
        coefs, precision_root, _, scale_root = self.prior
        self._rows = make_rows(values, ptr, self.n_lags, coefs, precision_root, scale_root)

    def of_states(self, n_states: int) -> AutoregressiveSampler:
        """Return a sampler with the same prior, without observations."""
        return AutoregressiveSampler(n_states, self.n_lags, self.prior, self.starting_lags)

    def restrict(self, steps: Places, n_states: int) -> AutoregressiveSampler:
        """Return a sampler for some of the observations, with their lags."""
        other = self.of_states(n_states)
        other._rows = as_readonly(self._rows[steps])
        return other

    def complete(self, states: Places, rng: NDArray[np.uint64]) -> None:
        """Do nothing, because no value is missing."""

    def complete_with(self, states: Places, key: NDArray[np.uint64], first: int = 0) -> None:
        """Do nothing, because no value is missing."""

    def condition(self, states: Places) -> None:
        """Set the states of the observations; -1 marks observations without a state."""
        measured = self.measure(states)
        self.take(measured, self.add_up(states, measured))

    def measure(self, states: Places) -> Ranges:
        """Return the ranges that `add_up` needs, which are additive over parts of the data."""
        return Ranges.of(self._rows, states, self.n_states, self.products.shape[1] - 1)

    def add_up(self, states: Places, measured: Ranges) -> Sums:
        """Return sums over the observations, which are exactly additive over parts of the data."""
        return measured.add_up(self._rows, states)

    def take(self, measured: Ranges, sums: Sums) -> None:
        """Store the statistics of all observations."""
        firsts, seconds = sums
        centers, scatter = np.empty(firsts.shape), np.empty(seconds.shape)
        measured.settle(sums, self.counts, centers, scatter)
        kernels.complete(self._first, self.counts, centers, scatter, self.products)

    def write_log_predictive(self, out: Floats) -> None:
        """Write the log predictive densities of all steps given the observations of each state."""
        inverses, log_dets = np.empty(self.products.shape), np.empty(self.n_states)
        kernels.invert_factors(
            self.products, self.n_dims, inverses, log_dets, np.empty(self.products.shape[1:])
        )
        freedoms = self.prior.dof + self.counts - (self.n_dims - 1.0)
        write_predictives(
            self._rows, self._first, inverses, log_dets, freedoms, self._shift, self.n_dims, out
        )

    def start(self, states: Places, rng: NDArray[np.uint64]) -> None:
        """Write initial states, by assigning windows of steps to the regressions that fit best.

        Each state begins with one random window.
        """
        n_windows = -(-len(states) // _WIDTH)
        windows = np.arange(len(states)) // _WIDTH
        places = np.arange(n_windows)
        for i in range(min(self.n_states, n_windows - 1)):  # a partial random permutation
            j = i + int(next_double(rng) * (n_windows - i))
            places[[i, j]] = places[[j, i]]
        chosen = np.full(n_windows, -1)
        chosen[places[: self.n_states]] = np.arange(min(self.n_states, n_windows))
        log_obs = np.empty((len(states), self.n_states))
        sums = np.empty((n_windows, self.n_states))
        for _ in range(_N_PASSES):
            self.condition(chosen[windows])
            self.write_log_predictive(log_obs)
            np.add.reduceat(log_obs, np.arange(0, len(states), _WIDTH), axis=0, out=sums)
            chosen = sums.argmax(axis=1)
        states[:] = chosen[windows]

    def draw(
        self, states: Places, rng: NDArray[np.uint64], coupling: Coupling | None = None
    ) -> None:
        """Draw A and Sigma given the states."""
        self.condition(states)
        self.draw_parameters(rng)

    def draw_parameters(self, rng: NDArray[np.uint64]) -> None:
        """Draw A and Sigma given the stored statistics."""
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
        """Write the log densities of all steps given the preceding ones; 0 for given steps."""
        n_dims, width, n_states = self.n_dims, self._rows.shape[1], self.n_states
        kernels.weigh_regressions(
            self._rows, self._first, self.maps, self.log_dets, self._shift,
            np.empty((n_dims, width, n_states)), np.empty((n_dims + 5, n_states)), out,
        )  # fmt: skip

    def log_evidence(self) -> float:
        """Return log p(x | z) over all steps that do not count as given."""
        return kernels.log_evidence_of_regressions(
            self.counts, self.products, self.prior.dof, self._shift, self.n_dims,
            np.empty(self.products.shape[1:]),
        )  # fmt: skip

    def model(self) -> AutoregressiveModel:
        """Return the distributions of the next observation given the states."""
        coefs, precision_root, dof, scale_root = self.prior
        n_dims, n_regressors = coefs.shape
        lower = np.tril(self.products)
        matrices = lower + np.tril(lower, -1).swapaxes(1, 2) + np.eye(n_dims + n_regressors)
        factors = np.linalg.cholesky(matrices)
        identity = np.eye(n_regressors)
        inverse_root = solve_triangular(precision_root, identity, lower=True)
        coef_factors = np.array(
            [
                solve_triangular(factor[:n_regressors, :n_regressors], inverse_root, lower=True)
                for factor in factors
            ]
        )
        means = coefs + scale_root @ factors[:, n_regressors:, :n_regressors] @ coef_factors
        roots = scale_root @ factors[:, n_regressors:, n_regressors:]
        dofs = dof + self.counts
        divisors = np.where(dofs > n_dims + 1, dofs - n_dims - 1, dofs)
        freedoms = dofs - (n_dims - 1.0)
        return AutoregressiveModel(
            means[:, :, 1:].copy(),
            means[:, :, 0].copy(),
            roots @ roots.swapaxes(1, 2) / divisors[:, np.newaxis, np.newaxis],
            freedoms,
            divisors / freedoms,
            coef_factors,
            self.starting_lags,
        )
