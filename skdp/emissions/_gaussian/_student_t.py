"""Vectors with outliers: Student t emissions, their samplers and models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, stdtr, stdtrit

from skdp._checks import check_gamma_prior
from skdp._numeric import Floats, Places
from skdp._numeric._arrays import unique_rows
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_key, draw_slice, make_generator
from skdp._sklearn_compat import Interval, StrOptions
from skdp.emissions._common import Stream
from skdp.emissions._common._clusters import ClusterTerms, augmented_terms
from skdp.emissions._common._columns import (
    ClippedRows,
    InMemoryRows,
    check_numbers,
    moments_of,
)
from skdp.emissions._common._marginals import (
    ColumnMarginals,
    draw_by_regression,
    log_student,
    variance_ratios,
)
from skdp.emissions._common._protocol import Coupling
from skdp.emissions._gaussian._emission import GaussianEmission
from skdp.emissions._gaussian._model import (
    VectorModel,
    factorize_precisions,
    log_determinants,
    write_log_densities,
)
from skdp.emissions._gaussian._sampler import (
    WIDEST_SPREAD,
    GaussianPrior,
    GaussianSampler,
    ScalePrior,
)
from skdp.emissions._kernels import _augmented as kernels
from skdp.emissions._kernels import _gaussian as gaussian
from skdp.emissions._kernels._gaussian import log_normalizer_of

# The model in a stored sample: distributions of the next observation.


_LOWEST = -60.0
"""Smallest log u of a node: that of an outlier of 1e13 deviations."""

_TAIL = 700.0
"""Nodes whose weights would be below exp(-700) are left out."""

_PIECES_PER_UNIT = 2.0
"""Pieces of a logarithm in which densities are polynomials, for each unit of it."""

_N_POINTS = 12
"""Points at which a piece is exact."""

_EXACT = 1e-11
"""Largest error of a polynomial: relative, or absolute if the exact value is below 1."""


class QuadratureNodes(NamedTuple):
    """A discrete distribution of u that approximates Gamma(nu / 2, nu / 2): trapezoids in log u."""

    logs: Floats  # (Q,)
    log_weights: Floats  # (Q,)


def make_nodes(
    freedom: float, width: int, step: float = 0.4, tail: float = _TAIL
) -> QuadratureNodes:
    """Return nodes with steps that are small enough for the densities of `width` columns."""
    # Errors are of the order of exp(-10 / step), weights above exp(-tail) times the largest one.
    shape = 0.5 * freedom
    step = min(step, 0.6 / np.sqrt(shape + 0.5 * width))  # a share of the deviation of log u
    if shape > 100.0:  # all weight is near 0, and steps are small
        reach = np.sqrt(4.0 * tail / shape)
        grid = np.arange(-reach, reach, step)
        logs = shape * (grid - np.expm1(grid))
    else:
        grid = np.arange(_LOWEST, 10.0, step)
        logs = shape * (grid - np.exp(grid) + 1.0)
    kept = logs > -tail
    logs = logs[kept]
    return QuadratureNodes(grid[kept], logs - np.log(np.exp(logs).sum()))


class ScaleMixture:
    """Densities of vectors as functions of their squared distances, with u integrated out."""

    # A sum over all nodes takes a hundred times as long as a Gaussian density.

    def __init__(self, n_columns: int, freedom: float, freedoms: Floats, known: tuple[Floats, ...]):
        # `known` describes the nodes: the arguments of `mix_precisions` from `log_weights` on.
        self._half_n, self._shape, self._known = 0.5 * n_columns, 0.5 * freedom, known
        self._exponents = 0.5 * freedoms + self._half_n
        self._scales = 2.0 * self._exponents / min(freedom, 4.0)

    def __call__(self, distances: Floats) -> Floats:
        """Return the logarithms of the mixtures, (N, J), up to constants."""
        # Many distances: polynomials in log(1 + a d), in which the log density is close to linear.
        highest = np.log1p(distances.max(axis=0, initial=0.0) * self._scales).max(initial=0.0)
        n_pieces = int(_PIECES_PER_UNIT * highest) + 1
        if len(distances) < 4 * n_pieces * _N_POINTS:
            return self._add_up(distances)
        coefficients = self._fit_pieces(n_pieces)
        if coefficients is None:
            return self._add_up(distances)
        out = np.empty(distances.shape)
        kernels.interpolate(distances, self._scales, _PIECES_PER_UNIT, coefficients, out)
        return out

    def _add_up(self, distances: Floats) -> Floats:
        """Return the same, from sums over all nodes."""
        out = np.empty(distances.shape)
        kernels.mix_precisions(
            distances, self._half_n, self._shape, self._exponents, *self._known,
            np.empty(len(self._known[0])), out,
        )  # fmt: skip
        return out

    def _fit_pieces(self, n_pieces: int) -> Floats | None:
        """Return the coefficients of polynomials, (J, P, M), or None if they are not exact."""
        angles = np.arange(2 * _N_POINTS + 1) * np.pi / (2 * _N_POINTS)
        x = np.cos(angles)
        points, between = x[1::2], x[::2]
        firsts = np.arange(n_pieces)[:, np.newaxis]
        at_points, at_others = (
            self._add_up(
                np.expm1((firsts + 0.5 * (grid + 1.0)).reshape(-1, 1) / _PIECES_PER_UNIT)
                / self._scales
            ).T.reshape(-1, n_pieces, len(grid))
            for grid in (points, between)
        )  # fmt: skip
        coefficients = np.linalg.solve(
            np.vander(points, increasing=True), at_points.reshape(-1, _N_POINTS).T
        )
        found = np.vander(between, _N_POINTS, increasing=True) @ coefficients
        errors = np.abs(found.T.reshape(at_others.shape) - at_others)
        if not np.all(errors <= _EXACT * (1.0 + np.abs(at_others))):
            return None
        return np.ascontiguousarray(coefficients.T.reshape(at_points.shape))


@dataclass(frozen=True, eq=False)
class ScaleMixtureMarginals(ColumnMarginals):
    """Columns that are Student t given u, with a squared scale times 1 / u + 1 / c."""

    _is_discrete = False
    locations: Floats  # (J, D)
    scales: Floats  # (J, D)
    freedoms: Floats  # (J, D): df
    precisions: Floats  # (J, D): c
    freedom: float  # nu of u ~ Gamma(nu / 2, nu / 2)

    @property
    def means(self) -> Floats:
        """Means; NaN with one degree of freedom or less."""
        known = (self.freedoms > 1.0) & (self.freedom > 1.0)
        return np.where(known, self.locations, np.nan)

    @property
    def variances(self) -> Floats:
        """Variances; infinite with two degrees of freedom or less."""
        if self.freedom <= 2.0:
            return np.full(self.scales.shape, np.inf)
        ratios = variance_ratios(self.freedoms)
        spread = self.freedom / (self.freedom - 2.0) + 1.0 / self.precisions
        return self.scales**2 * ratios * spread

    def _spread(self, column: int) -> tuple[Floats, Floats]:
        """Return the scales of all nodes and states, (Q, J), and the nodes' weights."""
        nodes = make_nodes(self.freedom, 0, step=0.6, tail=25.0)
        precisions = self.precisions[:, column]
        factors = np.sqrt(np.exp(-nodes.logs)[:, np.newaxis] + 1.0 / precisions)
        return self.scales[:, column] * factors, np.exp(nodes.log_weights)

    def cdf(self, x: Floats, column: int) -> Floats:
        scales, weights = self._spread(column)
        away = x[..., np.newaxis] - self.locations[:, column]
        out = np.zeros(away.shape)
        for scale, weight in zip(scales, weights, strict=True):
            out += weight * stdtr(self.freedoms[:, column], away / scale)
        return out

    def log_density(self, x: Floats, column: int) -> Floats:
        """Return the log densities of numbers, (..., J)."""
        scales, weights = self._spread(column)
        away = x[..., np.newaxis] - self.locations[:, column]
        logs = np.full(away.shape, -np.inf)
        for scale, weight in zip(scales, weights, strict=True):
            own = log_student(away / scale, self.freedoms[:, column])
            logs = np.logaddexp(logs, own + np.log(weight / scale))
        return logs

    def brackets(self, q: Floats, column: int) -> tuple[Floats, Floats]:
        """Return bounds of the quantiles of all states, a little wider than they are."""
        scales, _ = self._spread(column)
        z = stdtrit(self.freedoms[:, column], q[:, np.newaxis])
        ends = np.array([scales.min(axis=0), scales.max(axis=0)])[:, np.newaxis]
        x = self.locations[:, column] + ends * z
        margins = 1e-6 * ends * (np.abs(z) + 1.0)
        return (x - margins).min(axis=(0, 2)), (x + margins).max(axis=(0, 2))


@dataclass(frozen=True, eq=False)
class StudentTModel(VectorModel):
    """Student t vectors, and the remaining uncertainty of their locations and scales.

    Given the weight u ~ Gamma(nu / 2, nu / 2) of the next observation, and with mu and Sigma
    integrated out, it follows a Student t distribution about `means` with `freedoms` degrees of
    freedom and the scale ``scales * ratios / freedoms * (1 / u + 1 / precisions)``; u is integrated
    out numerically.

    Attributes
    ----------
    means : (J, D) array
    scales : (J, D, D) or (J, D) array
        Posterior means of Sigma of each state (or inverses of the means of its inverse), or squared
        scales if columns are independent.
    degrees_of_freedom : float
        nu.
    freedoms, ratios, precisions : (J,) or (J, D) arrays
        Values for each state, or for each column of each state if columns are independent.
    """

    means: Floats
    scales: Floats
    degrees_of_freedom: float
    freedoms: Floats
    ratios: Floats
    precisions: Floats

    @property
    def covariances(self) -> Floats:
        """(J, D, D) or (J, D) array: of t distributions with these scales; infinite to nu = 2."""
        nu = self.degrees_of_freedom
        if nu <= 2.0:
            return np.full(self.scales.shape, np.inf)
        return self.scales * (nu / (nu - 2.0))

    def _blocks(self) -> list[tuple[Places, Floats, Floats, Floats]]:
        """Return columns, S, df and c of each block of columns."""
        n_dims = self.means.shape[1]
        if self.scales.ndim == 3:
            wide = self.scales * self.ratios[:, np.newaxis, np.newaxis]
            return [(np.arange(n_dims), wide, self.freedoms, self.precisions)]
        wide = (self.scales * self.ratios)[:, :, np.newaxis, np.newaxis]
        return [
            (np.array([d]), wide[:, d], self.freedoms[:, d], self.precisions[:, d])
            for d in range(n_dims)
        ]

    def log_obs(self, values: Floats) -> Floats:
        """Return the log density of the observed values of every step in every state, (N, J)."""
        check_numbers(values)
        n_states = len(self.means)
        known = (
            self.means,
            self.freedoms.reshape(n_states, -1),
            self.precisions.reshape(n_states, -1),
        )
        unique = unique_rows(np.column_stack(known))
        return self.reorder(unique.firsts)._log_obs(values)[:, unique.places]

    def _log_obs(self, values: Floats) -> Floats:
        """Return `log_obs` of distinct states; all states that are not in use are equal."""
        out = np.zeros((len(values), len(self.means)))
        for columns, wide, freedoms, precisions in self._blocks():
            nodes = make_nodes(self.degrees_of_freedom, len(columns))
            spread = np.exp(-nodes.logs) + 1.0 / precisions[:, np.newaxis]
            known = nodes.log_weights, nodes.logs, 1.0 / spread, -np.log(spread)
            for pattern, rows in _patterns(np.isnan(values[:, columns])):
                seen = columns[~pattern]
                if len(seen) == 0:
                    continue
                own = np.flatnonzero(~pattern)
                distances, constants = self._measure(
                    values[rows][:, seen], seen, wide[:, own[:, np.newaxis], own]
                )
                mixture = ScaleMixture(len(seen), self.degrees_of_freedom, freedoms, known)
                normalizers = [log_normalizer_of(float(df), float(len(seen))) for df in freedoms]
                out[rows] += mixture(distances) + constants + np.array(normalizers)
        return out

    def _measure(self, values: Floats, columns: Places, wide: Floats) -> tuple[Floats, Floats]:
        """Return squared distances from all states, (N, J), and - log det S / 2, (J,)."""
        factors = factorize_precisions(wide)
        distances = np.empty((len(values), len(self.means)))
        kernels.measure_all(
            np.ascontiguousarray(values), np.ascontiguousarray(self.means[:, columns]), factors,
            distances,
        )  # fmt: skip
        return distances, log_determinants(factors)

    def sample(self, states: Places, rng: np.random.Generator) -> Floats:
        """Return an observation for each state, (N, D), with the density of `log_obs`."""
        shape = 0.5 * self.degrees_of_freedom
        out = np.empty((len(states), self.means.shape[1]))
        for columns, wide, freedoms, precisions in self._blocks():
            noise = rng.standard_normal((len(states), len(columns)))
            noise = np.einsum("tde,te->td", np.linalg.cholesky(wide)[states], noise)
            weights = np.maximum(rng.standard_gamma(shape, len(states)) / shape, 1e-150)
            roots = np.maximum(np.sqrt(rng.chisquare(freedoms[states])), gaussian.SMALLEST_ROOT)
            spread = np.sqrt(1.0 / weights + 1.0 / precisions[states]) / roots
            out[:, columns] = self.means[states][:, columns] + spread[:, np.newaxis] * noise
        return out

    def marginals(self) -> ScaleMixtureMarginals:
        """Return the distributions of single columns of the next observation."""
        scales, ratios, freedoms, precisions = (
            self.scales, self.ratios, self.freedoms, self.precisions
        )  # fmt: skip
        if scales.ndim == 3:
            scales = np.diagonal(scales, axis1=1, axis2=2)
            ratios, freedoms, precisions = (
                np.broadcast_to(x[:, np.newaxis], scales.shape)
                for x in (ratios, freedoms, precisions)
            )
        roots = np.sqrt(scales * ratios / freedoms)
        return ScaleMixtureMarginals(
            self.means, roots, freedoms, precisions, self.degrees_of_freedom
        )

    def draw_missing(self, values: Floats, states: Places, rng: np.random.Generator) -> Floats:
        """Return observations, (N, D), with NaN replaced by a draw given the rest of the row."""
        if self.scales.ndim == 2:  # columns have weights of their own
            return np.where(np.isnan(values), self.sample(states, rng), values)
        ((columns, wide, freedoms, precisions),) = self._blocks()
        nodes = make_nodes(self.degrees_of_freedom, len(columns))
        spread = np.exp(-nodes.logs) + 1.0 / precisions[:, np.newaxis]
        factors = np.empty(len(values))
        for pattern, rows in _patterns(np.isnan(values)):  # a weight for each row, from the nodes
            k = states[rows]
            away = (values[rows] - self.means[k])[:, ~pattern]
            inverses = np.linalg.inv(wide[:, ~pattern][:, :, ~pattern])
            distances = np.einsum("nd,nde,ne->n", away, inverses[k], away)
            exponents = 0.5 * (freedoms[k] + away.shape[1])
            logs = nodes.log_weights - 0.5 * away.shape[1] * np.log(spread[k])
            logs -= exponents[:, np.newaxis] * np.log1p(distances[:, np.newaxis] / spread[k])
            weights = np.exp(logs - logs.max(axis=1, keepdims=True))
            sums = np.cumsum(weights, axis=1)
            limits = rng.random(len(k))[:, np.newaxis] * sums[:, -1:]
            chosen = np.minimum((sums <= limits).sum(axis=1), len(nodes.logs) - 1)
            factors[rows] = spread[k, chosen] / freedoms[k]
        return draw_by_regression(values, states, self.means, wide, freedoms, factors, rng)


def _patterns(
    hidden: NDArray[np.bool_],
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.intp] | slice]]:
    """Yield each set of hidden columns and the rows in which these columns are hidden."""
    rows, nothing = np.flatnonzero(hidden.any(axis=1)), np.zeros(hidden.shape[1], dtype=bool)
    if len(rows) == 0:
        yield nothing, slice(None)
        return
    yield nothing, np.delete(np.arange(len(hidden)), rows)
    patterns, places, *_ = unique_rows(hidden[rows])
    for i, pattern in enumerate(patterns):
        yield pattern, rows[places == i]


# The emission and its sampler.

FIRST_FREEDOM = 4.0
"""Initial degrees of freedom, if they are drawn."""

FIRST_FREEDOMS = 4.0, 1.5, 30.0
"""The same in the search for first states."""

_REACH = 3.0
"""Bound on robust deviations from the median in the estimate of correlations."""

_NORMAL = 1.482602218505602
"""Standard deviation of a normal distribution whose median deviation is 1."""

_ROUNDING = 1e-12
"""Deviations below this share of the median count as 0."""

_FARTHEST = 1e11
"""Largest distance from the median if nu is drawn, relative to where `ClippedRows` begins."""

_GAIN, _MOST_FITS = 0.1, 50
"""Tolerance of the fit of variational weights, in nats, and its largest number of rounds."""


class StudentTEmission(GaussianEmission):
    r"""Vectors with outliers: a multivariate Student t distribution for each state.

    Each step has its own precision u_t. In state j, with nu degrees of freedom,

    .. math::

        x_t \sim \mathrm{N}(\mu_j, \Sigma_j / u_t), \quad
        u_t \sim \mathrm{Gamma}(\nu / 2, \nu / 2)

    where the Gamma distribution has a shape and a rate. A step far from all states has a small u_t
    and hardly affects the parameters of its state, whereas it would stretch a Gaussian state or get
    its own state. mu_j and Sigma_j have the normal-inverse-Wishart prior of `GaussianEmission`.
    With "diag", columns are independent, each with its own u_td: single values may be outliers.

    Parameters
    ----------
    degrees_of_freedom : float or "auto", default="auto"
        nu, from 0.1 to 1e8: the smaller, the heavier the tails, and the farther away outliers may
        be without getting their own states. But if tails are not that heavy, ordinary steps are
        divided into several states. With 2 or less the distribution has no variance. "auto": drawn,
        one for all states, as `trace_["degrees_of_freedom"]` records: normal noise is one state,
        and gross errors may get their own. A single value that is absurdly far away would determine
        nu: each power of ten makes smaller nu more probable. So values farther from the median of
        their column than 1e12 times the interdecile range of its values count as if they were at
        this distance.
    covariance_type
    tail_prior : (shape, rate), default=(2.0, 0.1)
        Gamma prior under which nu is drawn with ``degrees_of_freedom="auto"``; shape and rate from
        1e-8 to 1e8.
    mean_prior : (D,) array or None, default=None
        m; None: the medians of the observations.
    mean_precision_prior
    degrees_of_freedom_prior : float or None, default=None
        Degrees of freedom of the inverse Wishart prior of Sigma, above D - 1 ("full") or 0
        ("diag"). None: 2 D + 1 or 3; drawn where `GaussianEmission` draws its own.
    covariance_prior : "auto", (D, D) or (D,) array or None, default=None
        S: symmetric and positive definite ("full"), or positive numbers ("diag"). None: as for
        `GaussianEmission`, but from a covariance of the observations that outliers do not stretch:
        median absolute deviations, and correlations of values cut off at three of them. It is
        not drawn. "auto": drawn, as for `GaussianEmission`; this is its prior mean.
    resolution

    See Also
    --------
    GaussianEmission : The same without outliers, and faster.

    Notes
    -----
    NaN marks a missing value, as with `GaussianEmission`.

    States are drawn with u integrated out, from Student t densities; then u and, with "auto", nu,
    then the parameters given u. Splits and merges are proposed given u, and the log evidence in
    `trace_` is the joint density of observations and u, with mu and Sigma integrated out.

    In mixtures, a row draws its weight with its component, and mu and Sigma are integrated out.

    A stored sample holds the posterior means of mu and Sigma given the states and u, as ``means``
    and ``scales``, and nu. Scores and probabilities are from the posterior predictive distribution,
    with mu and Sigma integrated out; the weight of the next observation is integrated out
    numerically, to about nine digits.

    References
    ----------
    K. L. Lange, R. J. A. Little, J. M. G. Taylor (1989), Robust statistical modeling using the t
    distribution, JASA 84: the scale mixture.
    M. A. Juarez, M. F. J. Steel (2010), Model-based clustering of non-Gaussian panel data based on
    skew-t distributions, JBES 28: the prior of nu.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GaussianEmission._parameter_constraints,
        "degrees_of_freedom": [Interval(Real, 0.1, 1e8, closed="both"), StrOptions({"auto"})],
        "tail_prior": [tuple, list],
    }

    judged = True
    """States are judged by held-out steps in `HDPHMMLT`."""

    make_sampler_of = None  # type: ignore[assignment]
    """No partitions are supported, because medians and weighted sums are not exact sums."""

    def __init__(
        self,
        degrees_of_freedom: float | str = "auto",
        covariance_type: str = "full",
        *,
        tail_prior: tuple[float, float] = (2.0, 0.1),
        mean_prior: ArrayLike | None = None,
        mean_precision_prior: float | None = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: str | ArrayLike | None = None,
        resolution: str | float | ArrayLike | None = "auto",
    ):
        self._store(locals())

    def _make_sampler_of(self, data: InMemoryRows, n_states: int) -> StudentTSampler:
        values = data.values
        tail_prior = check_gamma_prior(self.tail_prior, "StudentTEmission: tail_prior")
        prior = self._make_prior(values.shape[1], lambda: robust_moments(values))
        scale_prior = self._make_scale_prior(prior, data)
        is_drawn = isinstance(self.degrees_of_freedom, str)
        freedom = FIRST_FREEDOM if is_drawn else float(self.degrees_of_freedom)
        own_prior = tail_prior if is_drawn else None
        sampler = StudentTSampler(n_states, prior, freedom, own_prior, scale_prior)
        if is_drawn:
            sampler.limits = find_limits(values)
        return self._with_spread(sampler, self._read_resolution(data))


def find_limits(values: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest value of each column that count as they are, (D,) each."""
    medians, cuts = ClippedRows(InMemoryRows(values)).bounds
    medians, reaches = np.where(np.isfinite(cuts), medians, 0.0), _FARTHEST * cuts
    return medians - reaches, medians + reaches


def robust_moments(values: Floats) -> tuple[Floats, Floats]:
    """Return medians and a positive definite covariance that outliers do not stretch."""
    _, covariance = moments_of(InMemoryRows(values))
    deviations = np.sqrt(np.diag(covariance))
    center = np.zeros(values.shape[1])
    for d, column in enumerate(values.T):
        seen = column[~np.isnan(column)]
        if len(seen):
            center[d] = np.median(seen)
            deviation = _NORMAL * float(np.median(np.abs(seen - center[d])))
            if deviation > _ROUNDING * abs(center[d]):  # not if most of a column is one value
                deviations[d] = deviation
    cut = np.clip((values - center) / deviations, -_REACH, _REACH)
    _, correlations = moments_of(InMemoryRows(cut))
    roots = np.sqrt(np.diag(correlations))
    correlations = correlations / np.multiply.outer(roots, roots)
    return center, correlations * np.multiply.outer(deviations, deviations)


class StudentTSampler(GaussianSampler):
    """Sampler of the means, scales and degrees of freedom of all states."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *GaussianSampler._data_attributes, "_weights", "_n_observed", "_first_weights",
    )  # fmt: skip
    log_affinity = None  # type: ignore[assignment]
    """This is no `ComparableEmission`: there is no closed form, unlike for Gaussian states."""
    take = None  # type: ignore[assignment]
    """This is no `SummedEmission`: sums of weighted observations are not exact."""

    def __init__(
        self,
        n_states: int,
        prior: GaussianPrior,
        freedom: float,
        tail_prior: tuple[float, float] | None = None,
        scale_prior: ScalePrior | None = None,
        start_factors: Floats | None = None,
    ):
        super().__init__(n_states, prior, scale_prior, start_factors)
        self.freedom = freedom  # nu
        self.tail_prior = tail_prior  # shape and rate of the Gamma prior of nu; None: nu is fixed
        # (D,) each: values beyond these count as if they were there.
        self.limits: tuple[Floats, Floats] | None = None
        self.masses = np.zeros(len(self.counts))
        self._log_density_of_weights = 0.0
        self.drawn_weights: Any = None  # in mixtures

    def attach(self, values: Floats) -> None:
        if self.limits is not None:
            least, most = self.limits
            if ((values < least) | (values > most)).any():
                values = np.clip(values, least, most)
        super().attach(values)
        self._take_gaps()
        self._first_weights = self._guess_weights()

    def _take_gaps(self) -> None:
        """Count the observed columns of each block; no weights have been drawn yet."""
        n_steps, width = len(self._values), self.means.shape[1]
        seen = ~np.isnan(self._values).reshape(n_steps, -1, width)
        self._n_observed = seen.sum(axis=2).astype(np.float64)
        self._weights: Any = None

    @property
    def first_freedoms(self) -> tuple[float, ...]:
        """Values of nu with which to seek first states; none if it is known."""
        return () if self.tail_prior is None else FIRST_FREEDOMS

    def begin_with(self, freedom: float) -> None:
        """Set the first value of nu."""
        self.freedom = freedom
        self._first_weights = self._guess_weights()

    def _guess_weights(self) -> Floats:
        """Return the weights that steps would have in a single state with robust moments."""
        width = self.means.shape[1]
        center, covariance = robust_moments(self._values)
        squares = np.nan_to_num((self._values - center) / np.sqrt(np.diag(covariance))) ** 2
        distances = squares.reshape(len(squares), -1, width).sum(axis=2)
        return (self.freedom + width) / (self.freedom + distances)

    def restrict(self, steps: Places, n_states: int) -> StudentTSampler:
        """Return a sampler for some of the observations, with their weights if these are drawn."""
        part = super().restrict(steps, n_states)
        other = self._of_rows(part, n_states, None)
        if self.drawn_weights is not None:
            other._weights = self.drawn_weights[steps]
        elif self._filled is not None and self._weights is not None:
            other._weights = self._weights[steps]
        other._first_weights = self._first_weights[steps]
        return other

    def _of_rows(
        self, part: GaussianSampler, n_states: int, scale_prior: ScalePrior | None
    ) -> StudentTSampler:
        """Return a sampler with the prior at its current value, of the rows of another one."""
        other = StudentTSampler(
            n_states, self.prior, self.freedom, self.tail_prior, scale_prior, self._start_factors
        )
        other.spread, other.is_incomplete = self.spread, part.is_incomplete
        other._values, other._filled, other._missing = part._values, None, part._missing
        other._take_gaps()
        return other

    # Weights

    def _measure(self, values: Floats, states: Places) -> Floats:
        """Return the distances of the observed columns of each block from its state, (N, B)."""
        width = self.means.shape[1]
        out = np.empty(self._n_observed.shape)
        kernels.measure(values, states, self.means, self.precision_factors, out)
        if self._missing is not None:
            known = self.means, self.precision_factors, np.empty((width, width))
            kernels.measure_incomplete(values, states, *self._missing, *known, out)
        return out

    def complete(self, states: Places, rng: Stream) -> None:
        """Draw nu, the weights and the missing values of this sweep given mu and Sigma."""
        distances = self._measure(self._values, states)
        if self.tail_prior is not None:
            self._draw_freedom(distances, rng)
        self._weights = np.empty(distances.shape)
        kernels.draw_weights(distances, self._n_observed, self.freedom, self._weights, rng)
        key = np.empty_like(rng)
        if self.is_incomplete:
            draw_key(rng, key)
        self._filled = self._completed(states, key, 0)

    def _block_weights(self) -> Floats | None:
        return self._weights

    def _draw_freedom(self, distances: Floats, rng: Stream) -> None:
        """Draw nu given the distances, with the weights integrated out."""
        numbers, counts = np.unique(self._n_observed, return_counts=True)

        def log_density(log_freedom: float) -> float:
            nu = np.exp(log_freedom)
            logs = (nu + self._n_observed) * np.log1p(distances / nu)
            terms = gammaln(0.5 * (nu + numbers)) - gammaln(0.5 * nu) - 0.5 * numbers * log_freedom
            return float(counts @ terms - 0.5 * logs.sum() + self._log_prior_of_freedom(nu))

        self.freedom = float(np.exp(draw_slice(log_density, np.log(self.freedom), rng, 0.5)))

    def _log_prior_of_freedom(self, nu: float) -> float:
        """Return the log density of log nu; 0 if nu is fixed."""
        if self.tail_prior is None:
            return 0.0
        shape, rate = self.tail_prior
        return float(shape * np.log(rate * nu) - rate * nu - gammaln(shape))

    def _weigh(self, weights: Floats) -> float:
        """Return log p(u) + W / 2 log u of the weights of observed blocks."""
        half, width = 0.5 * self.freedom, self.means.shape[1]
        constant = half * np.log(half) - gammaln(half)
        logs = (half - 1.0 + 0.5 * width) * np.log(weights) - half * weights
        return float(logs.sum() + constant * weights.size)

    # Clusters of rows that come and go

    draws_row_weights = True
    """Rows have drawn weights, and cannot also have powers."""

    @property
    def draws_gaps(self) -> bool:
        """Whether mixtures draw missing values: always, with the weights of their rows."""
        return True

    def columns_of_cells(self) -> NoReturn:
        """Raise, because rows with weights are not cells."""
        raise TypeError(
            "StudentTEmission cannot be a part of IndependentEmissions in a mixture: the weights "
            "of its rows are drawn."
        )

    def cluster_terms(self) -> ClusterTerms:
        if self.prior.mean.shape[1] > WIDEST_SPREAD:
            self.take_rows_as_exact(f"with full covariances of more than {WIDEST_SPREAD} columns")
        if self.completed is None:
            self.completed = self._completed_by_means()
            self.drawn_weights = np.ones((len(self._values), len(self.prior.mean)))
        return augmented_terms(
            self.completed, self.drawn_weights, np.isnan(self._values), 0.5 * self.freedom,
            self.prior, self.spread,
        )  # fmt: skip

    def take_latent(self, rows: NDArray[np.intp], part: Any) -> None:
        """Adopt nu, and the weights and missing values of some rows, from their sampler."""
        super().take_latent(rows, part)
        self.drawn_weights[rows] = part.drawn_weights
        self.freedom = part.freedom

    def draw_shared(self, labels: Places, n_clusters: int, rng: Stream) -> None:
        """Draw the prior's scale, nu, the weights and the missing values given the clusters."""
        # The last three are drawn given mu and Sigma, each with the later ones integrated out.
        part = self._of_rows(self, n_clusters, self.scale_prior)
        part._take(as_readonly(self.completed), as_readonly(self.drawn_weights), labels)
        part.draw_parameters(rng)  # mu and Sigma are dropped in the end
        part.complete(labels, rng)
        self.prior, self.freedom = part.prior._replace(), part.freedom  # a new object: all is drawn
        self.drawn_weights[:] = part._weights
        self._take_filled(part, labels, rng)

    def _take_filled(self, part: StudentTSampler, labels: Places, rng: Stream) -> None:
        """Adopt the missing values that a part has drawn, and draw the values of empty blocks."""
        n_blocks, width = self.prior.mean.shape
        filled = np.array(part._filled).reshape(-1, n_blocks, width)
        rows, blocks = np.nonzero(np.isnan(filled[:, :, 0]))
        if len(rows):
            k = labels[rows] * n_blocks + blocks
            noise = make_generator(rng).standard_normal((len(rows), width, 1))
            away = np.linalg.solve(part.precision_factors[k], noise)[:, :, 0]
            roots = np.sqrt(self.drawn_weights[rows, blocks])[:, np.newaxis]
            filled[rows, blocks] = part.means[k] + away / roots
        self.completed[:] = filled.reshape(self.completed.shape)

    # Interface of the sampler

    def _statistics(self) -> tuple[Floats, ...]:
        return self.counts, self.masses, self.centers, self.scatter

    def condition(self, states: Places) -> None:
        """Set the states of the observations (-1: none); fit their weights if none are drawn."""
        known = states >= 0
        values, states = as_readonly(self._values[known]), states[known]
        if self._weights is None:  # in the search for first states
            self._fit(values, states, known)
        else:
            self._take(values, self._weights[known], states)

    def _take(self, values: Floats, weights: Floats, states: Places) -> None:
        """Set the statistics of weighted observations."""
        self._add_up_weighted(values, weights, states)
        seen = ~np.isnan(values[:, :: self.means.shape[1]])
        self._log_density_of_weights = self._weigh(weights[seen])

    def _add_up_weighted(self, values: Floats, weights: Floats, states: Places) -> None:
        """Write the statistics of weighted observations."""
        kernels.add_up_weighted(values, weights, states, *self._statistics())
        self._spread_values()

    def _fit(self, values: Floats, states: Places, known: NDArray[np.bool_]) -> None:
        """Set the statistics with variational weights; the log evidence is then a lower bound."""
        _, precision, dof, _ = self.prior
        width, nu = self.means.shape[1], self.freedom
        n_blocks = self.prior.mean.shape[0]
        seen = ~np.isnan(values[:, ::width])
        components = states[:, np.newaxis] * n_blocks + np.arange(n_blocks)
        # q(u) is Gamma, q(mu, Sigma) normal-inverse-Wishart, each the best given the other.
        weights, last = self._first_weights[known], -np.inf
        shape = 0.5 * (nu + width)
        constant = 0.5 * nu * np.log(0.5 * nu) - gammaln(0.5 * nu) + gammaln(shape)
        distances = np.empty(weights.shape)
        self._add_up_weighted(values, weights, states)
        for _ in range(_MOST_FITS):
            self._write_expected()
            kernels.measure(values, states, self.means, self.precision_factors, distances)
            dofs = dof + self.counts
            ratios = dofs / np.where(dofs > width + 1.0, dofs - width - 1.0, dofs)
            spread = width / (precision + self.masses)
            distances *= ratios[components]
            distances += spread[components]
            rates = np.where(seen, 0.5 * (nu + distances), 0.5 * nu)
            weights = shape / rates
            self._add_up_weighted(values, weights, states)
            terms = constant - shape * np.log(rates) + (rates - 0.5 * nu) * weights
            self._log_density_of_weights = float(terms[seen].sum())
            bound = self.log_evidence()
            if bound - last < _GAIN:
                break
            last = bound
        self._first_weights[known] = weights

    def start(self, states: Places, rng: Stream) -> None:
        """Write first states: the nearest of centers that are spread over all rows but outliers."""
        center, covariance = robust_moments(self._values)
        reach = _REACH * np.sqrt(np.diag(covariance))
        self._start_from(
            as_readonly(np.clip(self._values, center - reach, center + reach)), states, rng
        )

    def draw(self, states: Places, rng: Stream, coupling: Coupling | None = None) -> None:
        """Draw nu, the weights and the missing values, then mu and Sigma, given the states."""
        if self._filled is None:
            self.complete(states, rng)
        self._take(self._filled, self._weights, states)
        self._filled = self._weights = None
        self.draw_parameters(rng)

    def write_log_obs(self, out: Floats) -> None:
        """Write the log densities of the observed values, with the weights integrated out."""
        freedoms = np.full(len(self.counts), self.freedom)
        factors = self.precision_factors / np.sqrt(freedoms)[:, np.newaxis, np.newaxis]
        write_log_densities(self._values, self._missing, (self.means, factors, None, freedoms), out)
        self._subtract_traces(out)

    def write_log_scores(self, out: Floats) -> None:
        """Write the log predictive densities of all steps, in which few steps of a state count."""
        out[:] = self.model().log_obs(self._values)

    def log_evidence(self) -> float:
        """Return log p(x, u | z) at the missing values last drawn, with that of nu if drawn."""
        rest = self._log_density_of_weights + self._log_prior_of_freedom(self.freedom)
        return super().log_evidence() + rest

    def scalars(self) -> dict[str, float]:
        freedom = {} if self.tail_prior is None else {"degrees_of_freedom": self.freedom}
        return {**super().scalars(), **freedom}

    def model(self) -> StudentTModel:  # type: ignore[override]
        means, scales, freedoms, divisors, precisions = self._expect()
        return StudentTModel(means, scales, self.freedom, freedoms, divisors, precisions)
