"""Autoregressive vectors: regressors, conjugate regressions, and the model in a stored sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import gammaln

from skdp._checks import is_list_like, shorten
from skdp._numeric import Floats, Places
from skdp._sklearn_compat import HasMethods, Interval
from skdp.emissions._common import Stream
from skdp.emissions._common._columns import GridColumns, Ranges, Sums, as_rows, check_numbers
from skdp.emissions._common._marginals import StatesMixin, StudentMarginals, variance_ratios
from skdp.emissions._common._protocol import (
    SummedSampler,
    is_symmetric,
    read_array,
    write_states_of_windows,
)
from skdp.emissions._gaussian._model import factorize_precisions, log_determinants
from skdp.emissions._kernels import _autoregressive as kernels
from skdp.emissions._kernels._gaussian import SMALLEST_ROOT, factorize

# Regressors: chosen lags and a trend, and checks of sequences.
#
# Sequence s is steps ``ptr[s]`` to ``ptr[s + 1] - 1``.


LAGS = "an integer >= 1 or a list of different integers >= 1"


class LagDesign(NamedTuple):
    """The regressors of a step besides the constant: chosen lags, then possibly a linear trend."""

    lags: tuple[int, ...]  # in increasing order
    has_trend: bool = False  # whether the step's number in its sequence, from 1, is a regressor

    @property
    def n_lags(self) -> int:
        """The largest lag L: the first L steps of a sequence count as given."""
        return self.lags[-1]

    def width(self, n_dims: int) -> int:
        """Return the number of regressors besides the constant."""
        return n_dims * len(self.lags) + self.has_trend

    def columns(self, n_dims: int) -> Places:
        """Return the indices of the chosen lags of all columns among all lags from 1 to L."""
        first = n_dims * (np.array(self.lags) - 1)
        return np.asarray((first[:, np.newaxis] + np.arange(n_dims)).ravel())

    def all_lags(self) -> LagDesign:
        """Return the design with all lags from 1 to L."""
        return self._replace(lags=tuple(range(1, self.n_lags + 1)))


_LONGEST = 10_000_000
"""Largest lag. A longer one is probably a mistake, and each lag takes memory."""


def _is_lag(lag: Any) -> bool:
    """Return whether an object is a valid lag."""
    is_integer = isinstance(lag, Integral) and not isinstance(lag, bool | np.bool_)
    return is_integer and 1 <= int(lag) <= _LONGEST


def read_lags(lags: Any) -> tuple[int, ...]:
    """Return lags in increasing order, given their number or a list, or raise a ValueError."""
    if _is_lag(lags):
        return tuple(range(1, int(lags) + 1))
    if is_list_like(lags) and getattr(lags, "ndim", 1) == 1:
        chosen = list(lags)
        if chosen and all(map(_is_lag, chosen)) and len(set(chosen)) == len(chosen):
            return tuple(sorted(int(lag) for lag in chosen))
    raise ValueError(f"lags must be {LAGS}, got {shorten(lags)}.")


class LagsConstraint(HasMethods):
    """Constraint of a parameter: a number of lags or a list of them."""

    def __init__(self) -> None:
        super().__init__("__class__")

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether `read_lags` accepts a value."""
        try:
            read_lags(val)
        except ValueError:
            return False
        return True

    def __str__(self) -> str:
        return LAGS


def find_largest_lag(lags: Any) -> int:
    """Return the largest lag; 1 if the lags are invalid, which `LagsConstraint` reports."""
    return read_lags(lags)[-1] if LagsConstraint().is_satisfied_by(lags) else 1


def check_lags(values: Floats, ptr: Places, n_lags: int) -> NDArray[np.intp]:
    """Check values, and return which sequences are not longer than `n_lags`; raise if all are."""
    lengths = np.diff(ptr)
    short = np.flatnonzero(lengths <= n_lags)
    if len(short) == len(lengths):
        raise ValueError(
            f"A sequence must have more than {shorten(n_lags)} step(s), the largest of its lags: "
            f"the first {shorten(n_lags)} count as given, and nothing would be left. The longest "
            f"sequence has {lengths.max(initial=0)} step(s)."
        )
    check_numbers(values)
    return short


def check_continued(values: Floats, ptr: Places, n_lags: int) -> None:
    """Raise a ValueError if a sequence is too short to be continued, or values are too large."""
    lengths = np.diff(ptr)
    short = np.flatnonzero(lengths < n_lags)
    if len(short):
        raise ValueError(
            f"A sequence can be continued only from at least {n_lags} step(s), the largest lag; "
            f"sequence {short[0]} has {lengths[short[0]]}."
        )
    check_numbers(values)


def check_complete_sequences(values: Floats, ptr: Places, n_lags: int) -> None:
    """Raise a ValueError if a value is missing, or a sequence is no longer than `n_lags`."""
    missing = np.isnan(values).any(axis=1)
    if missing.any():
        t = int(np.argmax(missing))
        s = int(np.searchsorted(ptr, t, side="right")) - 1
        raise ValueError(
            f"X contains NaN, at step {t - ptr[s]} of sequence {s}: with partitions, an "
            "autoregressive emission needs every value. Fit a SequencePanel, or impute missing "
            "values first."
        )
    lengths = np.diff(ptr)
    short = lengths <= n_lags
    if short.any():
        s = int(np.argmax(short))
        raise ValueError(
            f"Sequence {s} has {lengths[s]} step(s), which must be more than "
            f"{shorten(n_lags)}, the largest lag: the "
            "first steps count as given, and nothing would be left."
        )
    check_numbers(values)


def describe_short(short: NDArray[np.intp], n_lags: int) -> str:
    """Return the text of a warning that some sequences are not longer than the largest lag."""
    numbers = ", ".join(map(str, short[:5].tolist()))
    if len(short) > 5:
        numbers += f" and {len(short) - 5} more"
    one = len(short) == 1
    return (
        f"Sequence{'' if one else 's'} {numbers} of X "
        f"{'has' if one else 'have'} no more than {n_lags} step(s), the largest lag, and "
        f"{'is' if one else 'are'} skipped: the first {n_lags} step(s) of a sequence count as "
        "given, and nothing is left. Choose smaller lags, or leave short sequences out."
    )


def stack_regressors(values: Floats, ptr: Places, design: LagDesign) -> tuple[Floats, Any]:
    """Return the lags, then the trend, of each step, (N, K - 1), and whether it has all lags."""
    n_steps, n_dims = values.shape
    places = np.arange(n_steps) - np.repeat(ptr[:-1], np.diff(ptr))
    lags = np.zeros((n_steps, len(design.lags), n_dims))
    for i, lag in enumerate(design.lags):
        known = np.flatnonzero(places >= lag)
        lags[known, i] = values[known - lag]
    regressors = lags.reshape(n_steps, -1)
    if design.has_trend:
        regressors = np.hstack([regressors, places[:, np.newaxis] + 1.0])
    return regressors, places >= design.n_lags


# Linear regressions with a conjugate prior, one for each state, for rows in units of the prior.


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


# Default priors are computed from the data. States are expected to have the regression of the whole
# data set and this share of the residual variance for one column, or its D-th root for D columns.
# In units of its noise, the predictions of a state are expected to differ from those for all data
# by a squared distance of D K / C. Few columns allow a value of 2, which is used for any number.
_SHARE = 0.2
_DISTANCE = 2.0

SHRINKAGE_OF_REGRESSORS = 1e-8  # of correlations, which are nearly 1 for lags of smooth series
LEAST_OF_FAR = 1e-5  # `LEAST` with far values: products with these must leave some digits


class LinearEmission(GridColumns):
    """Mixin of emissions with prior coefficients, intercepts in the last column."""

    coef_prior: Any
    coef_precision_prior: Any
    covariance_prior: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GridColumns._parameter_constraints,
        "coef_prior": ["array-like", None],
        "coef_precision_prior": [Interval(Real, 1e-8, 1e8, closed="both"), "array-like", None],
        "degrees_of_freedom_prior": [Interval(Real, 0, 1e8, closed="right"), None],
        "covariance_prior": ["array-like", None],
    }

    def _make_regression_prior(
        self,
        dof: float,
        coefs: Floats,
        means: Floats,
        covariance: Floats,
        residuals: Any,
        n_columns: int,
    ) -> RegressionPrior:
        """Return the prior, given moments of the regressors and of the residuals of `coefs`."""
        (n_dims, width), scale = coefs.shape, self.covariance_prior
        if scale is None:
            scale = _SHARE ** (1.0 / n_dims) * max(dof - n_dims - 1.0, 1.0) * residuals
        else:
            scale = read_array(self, "covariance_prior", scale, (n_dims, n_dims), n_columns)
        root = self._read_precision(means, covariance, n_dims * width / _DISTANCE, n_columns)
        return RegressionPrior(coefs, root, dof, self._factorize("covariance_prior", scale))

    def _read_precision(
        self, means: Floats, covariance: Floats, default: float, n_columns: int
    ) -> Floats:
        """Return the Cholesky factor of C, given moments of the regressors; the intercept first."""
        precision, n = self.coef_precision_prior, len(means) + 1
        if precision is not None and not isinstance(precision, Real):
            matrix = read_array(self, "coef_precision_prior", precision, (n, n), n_columns)
            order = np.roll(np.arange(n), 1)
            return self._factorize("coef_precision_prior", matrix[np.ix_(order, order)])
        factor = np.zeros((n, n))
        factor[0, 0], factor[1:, 0] = 1.0, means
        factor[1:, 1:] = self._factorize("X", covariance)
        return factor * np.sqrt(default if precision is None else float(precision))

    def _read_coefs(self, shape: tuple[int, int], n_columns: int) -> Floats:
        """Return M, with the intercepts first."""
        coefs = read_array(self, "coef_prior", self.coef_prior, shape, n_columns)
        return np.hstack([coefs[:, -1:], coefs[:, :-1]])

    def _factorize(self, name: str, matrix: Floats) -> Floats:
        """Return a Cholesky factor, or raise a ValueError."""
        if not is_symmetric(matrix):
            raise ValueError(f"{type(self).__name__}: {name} must be symmetric.")
        factor = np.array(matrix)
        if not factorize(factor):
            raise ValueError(f"{type(self).__name__}: {name} must be positive definite.")
        return factor


class RegressionPosterior(NamedTuple):
    """Predictive distributions of states, in the units of the observations."""

    means: Floats  # (J, D, K): of the coefficients, intercepts first
    covariances: Floats  # (J, D, D): of the noise
    degrees_of_freedom: Floats  # (J,)
    scale_ratios: Floats  # (J,): of the scale matrices to `covariances`
    coef_factors: Floats  # (J, K, K): F, lower triangular; F^T F is V_n


class RegressionSampler(SummedSampler):
    """Statistics, coefficients and covariances of all states: see `_kernels/_autoregressive`."""

    _rows: Floats
    """Regressors without the constant, then residuals, in units of the prior.

    A row of NaN has the density 1."""

    def __init__(self, n_states: int, prior: RegressionPrior, spread: Floats | None = None):
        self.n_states, self.prior = n_states, prior
        # R of targets on a grid, (D,), see `_columns`; and R in the units of the residuals.
        self.spread, self._scaled_spread = spread, None
        if spread is not None:
            roots = solve_triangular(prior.scale_root, np.diag(np.sqrt(spread)), lower=True)
            self._scaled_spread = roots @ roots.T
        n_dims = len(prior.scale_root)
        width = n_dims + len(prior.precision_root)
        self._first = 1.0 / prior.precision_root[0, 0]
        self._shift = -float(np.log(np.diag(prior.scale_root)).sum())
        self.counts = np.zeros(n_states)
        self.products = np.zeros((n_states, width, width))
        self.maps = np.zeros((n_states, n_dims, width))
        self.log_dets = np.zeros(n_states)

    def measure(self, states: Places) -> Ranges:
        return Ranges.of(self._rows, states, len(self.counts), self.products.shape[1] - 1)

    def add_up(self, states: Places, measured: Ranges) -> Sums:
        return measured.add_up(self._rows, states)

    def take(self, measured: Ranges, sums: tuple[Any, ...]) -> None:
        firsts, seconds = sums
        centers, scatter = np.empty(firsts.shape), np.empty(seconds.shape)
        measured.settle(sums, self.counts, centers, scatter)
        kernels.complete(self._first, self.counts, centers, scatter, self.products)
        if self._scaled_spread is not None:
            n = len(self._scaled_spread)
            self.products[:, -n:, -n:] += self.counts[:, None, None] * self._scaled_spread

    def start(self, states: Places, rng: Stream) -> None:
        """Write initial states, by assigning windows of steps to the regressions that fit best."""
        write_states_of_windows(self, self.n_states, states, rng)

    def draw_parameters(self, rng: Stream) -> None:
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

    def write_log_obs(self, out: Floats) -> None:
        """Write the log densities of all steps; 0 for given steps and without targets."""
        (n_states, n_dims, _), width = self.maps.shape, self._rows.shape[1]
        kernels.weigh_regressions(
            self._rows, self._first, self.maps, self.log_dets, self._shift,
            np.empty((n_dims, width, n_states)), np.empty((n_dims + 5, n_states)), out,
        )  # fmt: skip
        if self._scaled_spread is not None:
            factors = self.maps[:, :, -n_dims:]
            traces = np.einsum("jde,ef,jdf->j", factors, self._scaled_spread, factors)
            out[~np.isnan(self._rows[:, 0])] -= 0.5 * traces

    def write_log_predictive(self, out: Floats) -> None:
        """Write the log predictive densities of all steps given the observations of each state."""
        n_dims = self.maps.shape[1]
        inverses, log_dets = np.empty(self.products.shape), np.empty(len(self.counts))
        kernels.invert_factors(
            self.products, n_dims, inverses, log_dets, np.empty(self.products.shape[1:])
        )
        freedoms = self.prior.dof + self.counts - (n_dims - 1.0)
        known = self._first, inverses, log_dets, freedoms, self._shift
        _write_predictives(self._rows, n_dims, out, *known)

    def log_evidence(self) -> float:
        """Return the log density of all steps given the states."""
        return kernels.log_evidence_of_regressions(
            self.counts, self.products, self.prior.dof, self._shift, self.maps.shape[1],
            np.empty(self.products.shape[1:]),
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
    """Return the log predictive densities of rows in all states, (N, J); 0 for rows of NaN."""
    # Rows hold regressors without the constant, then observations, in the units of the latter.
    n_states, n_dims, n = means.shape
    factors = factorize_precisions(scales * freedoms[:, np.newaxis, np.newaxis])
    # The rows of L^-1 are those of F, then those of U [-M, I].
    inverses = np.zeros((n_states, n + n_dims, n + n_dims))
    inverses[:, :n, :n] = coef_factors
    inverses[:, n:, :n] = -factors @ means
    inverses[:, n:, n:] = factors
    out = np.empty((len(rows), n_states))
    known = 1.0, inverses, log_determinants(factors), freedoms, 0.0
    _write_predictives(rows, n_dims, out, *known)
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
    return sizes[:, np.newaxis] * noise


def _write_predictives(rows: Floats, n_dims: int, out: Floats, *known: Any) -> None:
    """Write the log posterior predictive densities of all rows in all states, (N, J)."""
    # `known` are the constant, inverses, log_dets, freedoms and the shift: see the kernels.
    width, n_states = rows.shape[1], out.shape[1]
    scratch = np.empty((width, width, n_states)), np.empty((width, n_states))
    kernels.weigh_matrix_students(
        as_rows(rows), *known, n_dims, *scratch, np.empty((5, n_states)), out
    )


# The model in a stored sample: predictive distributions of states.


@dataclass(frozen=True, eq=False)
class StartingLags:
    """The Gaussian from which the first values of a new sequence are drawn, lag 1 first.

    Attributes
    ----------
    mean : (L D,) array
    root : (L D, L D) array
        Lower triangular Cholesky factor of the covariance.
    """

    mean: Floats
    root: Floats


class LagSteps(NamedTuple):
    """Transition moments of a = [1, lags]: E[a'] = G a, and noise of covariance (1 + a^T V a) S."""

    maps: Floats  # (J, K, K): G
    precisions: Floats  # (J, K, K): V
    covariances: Floats  # (J, D, D): S; infinite with two degrees of freedom or less


class StepMaps(NamedTuple):
    """The regressions of all states at one step, with all lags from 1 to L."""

    intercepts: Floats  # (J, D): constants plus trends
    coefs: Floats  # (J, D, D L)
    factors: Floats  # (J, K, D L + 1): maps of [1, lags] to vectors whose squared length is h


@dataclass(frozen=True, eq=False)
class AutoregressiveModel(StatesMixin):
    r"""Linear predictions from the preceding values, and the uncertainty of their coefficients.

    Given a = [1, x_t-1, ..., x_t-L], the next observation x_t of a state follows a multivariate
    Student t distribution, its posterior predictive. The location is
    ``intercepts + coefs @ [x_t-1, ..., x_t-L]``, with a trend plus ``trends`` times the number of
    the step in its sequence, from 1, and the scale matrix is ``scales`` times
    1 + h, where h = \|F a\|^2, with F in `coef_factors`, is large if few observations of the state
    have had similar lags.

    Attributes
    ----------
    coefs : (J, D, D L) array
        Posterior means of the coefficients of each state, lag 1 first; with chosen lags, only
        theirs, in increasing order.
    intercepts : (J, D) array
        Posterior means of the constants.
    covariances : (J, D, D) array
        Covariances of the noise of each state.
    degrees_of_freedom : (J,) array
    scale_ratios : (J,) array
        Ratios of `scales` to `covariances`.
    coef_factors : (J, K, K) array
        F, lower triangular. F^T F is V_n, the covariance of the coefficients of one equation
        (intercept first, trend last) in units of its noise.
    starting_lags : StartingLags
        Distribution of the first values of new sequences.
    design : LagDesign or None
        The regressors. None: all lags from 1 to L.
    trends : (J, D) array or None
        Posterior means of the trends of each state, per step.
    """

    coefs: Floats
    intercepts: Floats
    covariances: Floats
    degrees_of_freedom: Floats
    scale_ratios: Floats
    coef_factors: Floats
    starting_lags: StartingLags
    design: LagDesign | None = None
    trends: Floats | None = None

    @property
    def n_lags(self) -> int:
        """The largest lag L."""
        return self._design.n_lags

    @property
    def lags(self) -> tuple[int, ...]:
        """The lags, in the order of `coefs`."""
        return self._design.lags

    @property
    def _design(self) -> LagDesign:
        if self.design is not None:
            return self.design
        return LagDesign(tuple(range(1, self.coefs.shape[2] // self.coefs.shape[1] + 1)))

    def maps_at(self, time: int) -> StepMaps:
        """Return the regressions of a step, by its number from 1 in its sequence (for trends)."""
        design, (n_states, n_dims) = self._design, self.intercepts.shape
        if self.trends is None and len(design.lags) == design.n_lags:
            return StepMaps(self.intercepts, self.coefs, self.coef_factors)
        intercepts, columns = self.intercepts, design.columns(n_dims)
        n_lagged = n_dims * design.n_lags
        coefs = np.zeros((n_states, n_dims, n_lagged))
        coefs[:, :, columns] = self.coefs
        factors = np.zeros((n_states, self.coef_factors.shape[1], n_lagged + 1))
        factors[:, :, 0] = self.coef_factors[:, :, 0]
        factors[:, :, columns + 1] = self.coef_factors[:, :, 1 : len(columns) + 1]
        if self.trends is not None:
            intercepts = intercepts + time * self.trends
            factors[:, :, 0] += time * self.coef_factors[:, :, -1]
        return StepMaps(intercepts, coefs, factors)

    @property
    def scales(self) -> Floats:
        """(J, D, D) array: scale matrices for h = 0."""
        return self.covariances * self.scale_ratios[:, np.newaxis, np.newaxis]

    def log_obs(self, values: Floats, ptr: Places | None = None, n_before: int = 0) -> Floats:
        """Return the log density of every step given the preceding steps, by state, (N, J).
        It is 0 for given steps, and if values or lags are missing; only trends need `n_before`.
        """
        if ptr is None:
            ptr = np.array([0, len(values)])
        check_numbers(values)
        regressors, has_lags = stack_regressors(values, ptr, self._design)
        if self.trends is not None:
            regressors[:, -1] += n_before
        rows = np.hstack([regressors, values])
        rows[~has_lags | np.isnan(rows).any(axis=1)] = np.nan
        parts = [self.intercepts[:, :, np.newaxis], self.coefs]
        if self.trends is not None:
            parts.append(self.trends[:, :, np.newaxis])
        means = np.concatenate(parts, axis=2)
        return weigh(rows, means, self.coef_factors, self.scales, np.array(self.degrees_of_freedom))

    def sample(
        self, states: NDArray[np.int64], rng: np.random.Generator, before: Floats | None = None
    ) -> Floats:
        """Return one observation for each state, (N, D), of a new sequence or after `before`."""
        n_dims, n_lags = self.intercepts.shape[1], self.n_lags
        out = np.empty((len(states), n_dims))
        first = n_before = 0
        if before is None:
            lags = self.starting_lags.mean + self.starting_lags.root @ rng.standard_normal(
                n_lags * n_dims
            )
            first = min(n_lags, len(states))
            out[:first] = lags.reshape(n_lags, n_dims)[::-1][:first]
        else:
            n_before = len(before)
            lags = before[::-1][:n_lags].ravel()
        lags = lags[np.newaxis]
        for t in range(first, len(states)):
            x = self.draw_next(states[t : t + 1], lags, rng, n_before + t + 1)
            out[t] = x[0]
            lags = np.hstack([x, lags[:, :-n_dims]])
        return out

    def draw_next(
        self, states: NDArray[np.int64], lags: Floats, rng: np.random.Generator, time: int = 0
    ) -> Floats:
        """Return an observation for each state, (n, D), given all lags, (n, D L), lag 1 first."""
        intercepts, coefs, factors = self.maps_at(time)
        noise = draw_noise(states, lags, factors, self.scales, self.degrees_of_freedom, rng)
        means = intercepts[states] + np.einsum("ndk,nk->nd", coefs[states], lags)
        return means + noise

    def marginals_after(self, lags: Floats, time: int = 0) -> StudentMarginals:
        """Return the distributions of single columns of the next observation, given (D L,) lags."""
        intercepts, coefs, factors = self.maps_at(time)
        leverages = factors @ np.append(1.0, lags)
        sizes = 1.0 + (leverages**2).sum(axis=1)
        variances = np.diagonal(self.scales, axis1=1, axis2=2) * sizes[:, np.newaxis]
        freedoms = np.broadcast_to(self.degrees_of_freedom[:, np.newaxis], variances.shape)
        return StudentMarginals(intercepts + coefs @ lags, np.sqrt(variances), freedoms)

    def steps_about(self, origin: Floats, time: int = 0) -> LagSteps:
        """Return transition moments of a = [1, lags] relative to a near origin: digits are kept."""
        intercepts, coefs, factors = self.maps_at(time)
        n_states, n_dims = intercepts.shape
        width = coefs.shape[2] + 1
        origins = np.tile(origin, self.n_lags)
        maps = np.zeros((n_states, width, width))
        maps[:, 0, 0] = 1.0
        maps[:, 1 : n_dims + 1, 0] = intercepts + coefs @ origins - origin
        maps[:, 1 : n_dims + 1, 1:] = coefs
        maps[:, n_dims + 1 :, 1:-n_dims] = np.eye(width - 1 - n_dims)
        factors = factors.copy()
        factors[:, :, 0] += factors[:, :, 1:] @ origins
        covariances = self.scales * variance_ratios(self.degrees_of_freedom)[:, None, None]
        return LagSteps(maps, factors.swapaxes(1, 2) @ factors, covariances)


# Predictive densities of single steps given many possible lags, and draws of missing columns.


class ScalePattern(NamedTuple):
    """Scale matrices of the states, by the columns that are observed."""

    seen: NDArray[np.intp]  # observed columns
    hidden: NDArray[np.intp]  # missing columns
    inverse_roots: Floats  # (J, S, S): inverse Cholesky factors of the scales of observed columns
    constants: Floats  # (J,): terms of the log density that depend on the state only
    slopes: Floats  # (J, H, S): regressions of missing on observed columns
    roots: Floats  # (J, H, H): Cholesky factors of the conditional scales of missing columns


class Predictions(NamedTuple):
    """Student t distributions of a step, for M possible lags."""

    locations: Floats  # (J, D, M)
    sizes: Floats  # (J, M): 1 + h, the factors of the scale matrices


class StepDensities:
    """Densities of single steps under an autoregressive model."""

    def __init__(self, model: AutoregressiveModel):
        self._model, self._scales = model, model.scales
        self._patterns: dict[bytes, ScalePattern] = {}

    def predict(self, lags: Floats, time: int) -> Predictions:
        """Return the distributions of a step given its lags, (D L, M), and its number from 1."""
        intercepts, coefs, factors = self._model.maps_at(time)
        locations = intercepts[:, :, np.newaxis] + coefs @ lags
        leverages = factors[:, :, :1] + factors[:, :, 1:] @ lags
        return Predictions(locations, 1.0 + (leverages**2).sum(axis=1))

    def log_density(
        self, predictions: Predictions, x: Floats, is_seen: NDArray[np.bool_]
    ) -> Floats:
        """Return the log densities of the observed columns of x, (D, M), in all states, (J, M)."""
        pattern = self._pattern(is_seen)
        n_seen = len(pattern.seen)
        freedoms = self._model.degrees_of_freedom[:, np.newaxis]
        squares = self._squares(predictions, x, pattern)
        logs = pattern.constants[:, np.newaxis] - 0.5 * n_seen * np.log(predictions.sizes)
        return logs - 0.5 * (freedoms + n_seen) * np.log1p(squares / freedoms)

    def draw_hidden(
        self,
        predictions: Predictions,
        x: Floats,
        is_seen: NDArray[np.bool_],
        states: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> Floats:
        """Return draws of the missing columns given the observed ones and the states, (H, M)."""
        pattern, places = self._pattern(is_seen), np.arange(len(states))
        freedoms = self._model.degrees_of_freedom[states]
        squares = self._squares(predictions, x, pattern)[states, places]
        locations = predictions.locations[states, :, places]
        away = x[pattern.seen].T - locations[:, pattern.seen]
        means = locations[:, pattern.hidden]
        means = means + np.einsum("mhs,ms->mh", pattern.slopes[states], away)
        # Given the observed columns, there are more degrees of freedom, and another scale.
        more = freedoms + len(pattern.seen)
        sizes = predictions.sizes[states, places] * (freedoms + squares) / more
        roots = np.maximum(np.sqrt(rng.chisquare(more) / more), SMALLEST_ROOT)
        noise = rng.standard_normal((len(states), len(pattern.hidden)))
        noise = np.einsum("mhk,mk->mh", pattern.roots[states], noise)
        return (means + (np.sqrt(sizes) / roots)[:, np.newaxis] * noise).T

    def _squares(self, predictions: Predictions, x: Floats, pattern: ScalePattern) -> Floats:
        """Return the squared distances of the observed columns from their locations, (J, M)."""
        away = x[pattern.seen] - predictions.locations[:, pattern.seen]
        return ((pattern.inverse_roots @ away) ** 2).sum(axis=1) / predictions.sizes

    def _pattern(self, is_seen: NDArray[np.bool_]) -> ScalePattern:
        key = is_seen.tobytes()
        if key not in self._patterns:
            self._patterns[key] = self._make_pattern(is_seen)
        return self._patterns[key]

    def _make_pattern(self, is_seen: NDArray[np.bool_]) -> ScalePattern:
        seen, hidden = np.flatnonzero(is_seen), np.flatnonzero(~is_seen)
        freedoms, scales, n_seen = self._model.degrees_of_freedom, self._scales, len(seen)
        own = scales[:, seen[:, np.newaxis], seen]
        inverse_roots = np.linalg.inv(np.linalg.cholesky(own))
        log_roots = np.log(np.diagonal(inverse_roots, axis1=1, axis2=2)).sum(axis=1)
        constants = gammaln(0.5 * (freedoms + n_seen)) - gammaln(0.5 * freedoms) + log_roots
        constants -= 0.5 * n_seen * np.log(np.pi * freedoms)
        both = scales[:, hidden[:, np.newaxis], seen]
        slopes = both @ inverse_roots.swapaxes(1, 2) @ inverse_roots
        rest = scales[:, hidden[:, np.newaxis], hidden] - slopes @ both.swapaxes(1, 2)
        roots: Floats = np.asarray(np.linalg.cholesky(rest), dtype=np.float64)
        return ScalePattern(seen, hidden, inverse_roots, constants, slopes, roots)
