"""Emissions of counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from skdp._checks import LARGEST, SMALLEST, write_number
from skdp._numeric import Floats, Places
from skdp._numeric._arithmetic import round_sum, sum_exactly
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import next_double
from skdp._sklearn_compat import Interval, StrOptions
from skdp.emissions._common import Stream
from skdp.emissions._common._clusters import ClusterTerms, CountColumns, cell_terms, count_terms
from skdp.emissions._common._columns import Observations, PartedEmission, find_moments
from skdp.emissions._common._marginals import CountMarginals, StatesMixin, fill_by_means
from skdp.emissions._discrete._categorical import DiscreteSampler
from skdp.emissions._kernels import _discrete as kernels
from skdp.emissions._kernels import _links as affinities

MOST = 2.0**53
"""Largest count: not all larger integers are representable in double precision."""

_DISPERSIONS = 1e-6, 1e4
"""Range of dispersions."""

_FIRST = 1e-3, 1.0
"""Range of the first values of drawn dispersions."""

BLOCK = 1000
"""Number of rows processed at a time, to limit the size of temporary arrays."""

_FAR = 16.0
"""Argument from which five terms of Stirling's series are exact to rounding."""

_SMALL = 0.01
"""Bound below which a series of eight terms of x - log(1 + x) is exact to rounding."""


class PoissonEmission(PartedEmission):
    r"""Counts, with a rate for each column in each state.

    Columns are independent given the state. In state j,

    .. math::

        x_{td} \sim \mathrm{Poisson}(\lambda_{jd}), \quad
        \lambda_{jd} \sim \mathrm{Gamma}(\mathrm{shape}, \mathrm{rate})

    Parameters
    ----------
    shape : float or None, default=None
        Shape of the Gamma prior, from 1e-8 to 1e8. None: `rate` times the mean of each column, if
        `rate` is given; otherwise 1, or less if a column varies strongly (see Notes).
    rate : float or None, default=None
        Rate of the Gamma prior, from 1e-8 to 1e8. The prior mean is shape / rate. None: the shape
        divided by the mean of each column.
    dispersion : "auto", float or None, default=None
        How much counts vary beyond Poisson noise: each has a factor with mean 1 and this variance
        (see Notes). A number from 1e-6 to 1e4 is that of all columns. "auto": each column has its
        own, which is drawn. None: 0, Poisson counts.

    See Also
    --------
    MultinomialEmission : Counts with given totals.

    Notes
    -----
    Observations are integers >= 0. NaN marks a missing value, in some or all columns of a row;
    values must be missing at random.

    The default prior adapts to the counts, so that large ones need no special settings. In each
    column, its mean m is the larger of 1 and the mean of the observations. Its shape is 1, so that
    its standard deviation is also m. If the observations vary more than that, the shape is smaller:
    m^2 / excess; the excess is their variance minus their mean, which is the variance of
    Poisson noise. Counts of about 1 or less thus have the prior Gamma(1, 1).

    A stored sample holds the posterior means of lambda given the states. Scores, probabilities and
    samples are those of the posterior predictive distribution, which is negative binomial.

    Counts often vary more than Poisson noise within a state, and a mixture would explain this by
    ever more clusters. With a dispersion f = 1 / r, counts are negative binomial:

    .. math::

        x_{td} \sim \mathrm{Poisson}(g_{td} \lambda_{jd}), \quad
        g_{td} \sim \mathrm{Gamma}(r_d, r_d), \quad
        \lambda_{jd} / r_d \sim \mathrm{Beta}'(\mathrm{shape}, r_d\, \mathrm{rate} + 1)

    They have the mean lambda and the variance lambda + f lambda^2. The beta prime prior of lambda
    has the mean of the Gamma prior, shape / rate, and becomes this prior as f approaches 0. It is
    conjugate: all g and lambda are integrated out. Posterior means are the same as without
    dispersion, (shape + sum of counts) / (rate + number of counts), and the predictive distribution
    is beta negative binomial (its variance is infinite if r (rate + number of counts) <= 1).

    With "auto", f is ~ Gamma(1, 1) a priori in each column, and is drawn once a sweep by slice
    sampling, with lambda integrated out. `trace_` has the mean over columns as
    ``emission_dispersion``, and a stored sample all of them as ``dispersions``. The states
    share one dispersion per column, so a state whose counts vary more than those of the others may
    be split.
    """

    allows_nan = True
    """NaN is a missing value."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "shape": [Interval(Real, SMALLEST, LARGEST, closed="both"), None],
        "rate": [Interval(Real, SMALLEST, LARGEST, closed="both"), None],
        "dispersion": [StrOptions({"auto"}), Interval(Real, *_DISPERSIONS, closed="both"), None],
    }

    def __init__(
        self,
        shape: float | None = None,
        rate: float | None = None,
        dispersion: str | float | None = None,
    ):
        self._store(locals())

    def _check_values(self, values: Floats) -> None:
        check_counts(values)

    def _make_sampler_of(self, data: Observations, n_states: int) -> PoissonSampler:
        prior = self._make_prior(data)
        if self.dispersion is None:
            return PoissonSampler(n_states, *prior)
        levels = [np.unique(found) for found in data.sum(list_levels)]
        is_drawn = isinstance(self.dispersion, str)
        given = self.dispersion
        if is_drawn:  # it begins as if all counts were of a single state
            means, excess = find_excess(data)
            given = np.clip(excess / np.maximum(means, SMALLEST) ** 2, *_FIRST)
        dispersions = np.full(data.n_features, given, dtype=np.float64)
        sampler = DispersedSampler(n_states, *prior, dispersions, levels)
        sampler.is_drawn = is_drawn
        return sampler

    def _make_prior(self, data: Observations) -> tuple[Floats, Floats]:
        """Return shapes and rates of the prior of each column."""
        if self.shape is not None and self.rate is not None:
            return np.full(data.n_features, self.shape), np.full(data.n_features, self.rate)
        data.sum(check_part)
        means, excess = find_excess(data)
        means = np.maximum(means, 1.0)
        if self.rate is not None:
            return self.rate * means, np.full(data.n_features, self.rate)
        if self.shape is not None:
            shapes = np.full(data.n_features, self.shape)
        else:
            shapes = np.maximum(means**2 / np.maximum(excess, means**2), SMALLEST)
        return shapes, shapes / means


def find_excess(data: Observations) -> tuple[Floats, Floats]:
    """Return the mean of each column, and its variance beyond that of Poisson noise."""
    ranges, means, squares = find_moments(data)
    return means, np.diag(squares) / np.maximum(ranges.numbers, 1) - means


def list_levels(values: Floats) -> tuple[list[float], ...]:
    """Return the distinct counts of each column."""
    check_counts(values)
    return tuple(np.unique(column[~np.isnan(column)]).tolist() for column in values.T)


def check_part(values: Floats) -> tuple[int]:
    """Call `check_counts`, which may raise a ValueError, and return (0,)."""
    check_counts(values)
    return (0,)


def check_counts(values: Floats) -> Floats:
    """Return observations if they are counts or missing (NaN), or raise a ValueError."""
    wrong = ~(np.isnan(values) | ((values >= 0.0) & (values == np.floor(values))))
    if wrong.any():
        t, d = np.argwhere(wrong)[0]
        raise ValueError(
            "X must hold counts, integers >= 0, or NaN for missing values; got "
            f"{write_number(values[t, d])}."
        )
    if np.any(values > MOST):
        raise ValueError(
            f"X must hold counts up to {write_number(MOST)}, got {write_number(np.nanmax(values))}."
        )
    return values


class PoissonSampler(DiscreteSampler):
    """Sampler of the intensities of all states; `shapes` and `rates`, (D,), are the prior's."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_values", "_constants", "_all_constants")

    def __init__(self, n_states: int, shapes: Floats, rates: Floats):
        self.shapes, self.rates = shapes, rates
        self.counts = np.zeros((n_states, len(shapes)))
        self.totals = np.zeros((n_states, len(shapes)))
        self.log_intensities = np.empty((n_states, len(shapes)))
        self._log_factorials = np.zeros(3, dtype=np.int64)

    def of_states(self, n_states: int) -> PoissonSampler:
        return PoissonSampler(n_states, self.shapes, self.rates)

    def attach(self, values: Floats) -> None:
        check_counts(values)
        terms = np.where(np.isnan(values), 0.0, gammaln(values + 1.0))
        self._take_values(as_readonly(values), terms.sum(axis=1))

    def _take_values(self, values: Floats, constants: Floats) -> None:
        self._values, self._constants = values, constants
        self._all_constants = sum_exactly(constants)

    def restrict(self, steps: Places, n_states: int) -> PoissonSampler:
        other = self.of_states(n_states)
        other._take_values(as_readonly(self._values[steps]), self._constants[steps])
        return other

    def add_up(self, states: Places, measured: int) -> tuple[Floats, Floats, Places]:
        """Return numbers and sums of observed values, (J, D), and sums of log factorials."""
        counts, totals = np.empty(self.counts.shape), np.empty(self.totals.shape)
        kernels.add_up_values(self._values, states, counts, totals)
        known = states >= 0
        all_known = bool(known.all())
        constants = self._all_constants if all_known else sum_exactly(self._constants[known])
        return counts, totals, constants

    def take(self, measured: int, sums: tuple[NDArray[Any], ...]) -> None:
        self.counts, self.totals, self._log_factorials = sums

    def write_log_predictive(self, out: Floats) -> None:
        """Write the log probabilities of all counts at the expected intensities of each state."""
        intensities = (self.shapes + self.totals) / (self.rates + self.counts)
        kernels.weigh_counts(self._values, np.log(intensities), out)

    def start(self, states: Places, rng: Stream) -> None:
        """Write random initial states."""
        n_states = len(self.counts)
        states[:] = [int(next_double(rng) * n_states) for _ in range(len(states))]

    def draw_parameters(self, rng: Stream) -> None:
        """Draw lambda given the stored statistics."""
        kernels.draw_log_intensities(
            self.counts, self.totals, self.shapes, self.rates, self.log_intensities, rng
        )

    def write_log_obs(self, out: Floats) -> None:
        kernels.weigh_counts(self._values, self.log_intensities, out)

    def log_evidence(self) -> float:
        shapes, rates = self.shapes + self.totals, self.rates + self.counts
        terms = gammaln(shapes) - shapes * np.log(rates)
        prior = gammaln(self.shapes) - self.shapes * np.log(self.rates)
        return float((terms - prior).sum()) - round_sum(self._log_factorials)

    def model(self) -> PoissonModel:
        shapes = self.shapes + self.totals
        return PoissonModel(shapes / (self.rates + self.counts), shapes)

    def cluster_terms(self) -> ClusterTerms:
        values = self._values
        steps, columns = np.nonzero(values)
        ptr = np.searchsorted(steps, np.arange(len(values) + 1))
        events = ptr, columns, values[steps, columns]
        constants = -gammaln(values + 1.0).sum(axis=1)
        return count_terms(events, constants, self.shapes, self.rates)

    def columns_of_cells(self) -> CountColumns:
        return CountColumns(self._values, self.shapes, self.rates, np.zeros(len(self.shapes)), 0.0)

    def condition_with_powers(self, states: Places, powers: Floats) -> None:
        """Set the states of the observations given the powers of their likelihoods."""
        n_states = len(self.counts)
        for d, column in enumerate(self._values.T):
            seen = ~np.isnan(column) & (states >= 0)
            x, z, w = column[seen], states[seen], powers[seen]
            self.counts[:, d] = np.bincount(z, w, n_states)
            self.totals[:, d] = np.bincount(z, w * x, n_states)
        known = states >= 0
        self._log_factorials = sum_exactly((powers * self._constants)[known])

    def parameters(self) -> tuple[Floats, ...]:
        """Return log lambda, (J, D)."""
        return (self.log_intensities,)

    def log_posterior(self) -> float:
        """Return the log density of log lambda given the states."""
        shapes, rates = self.shapes + self.totals, self.rates + self.counts
        logs = shapes * (np.log(rates) + self.log_intensities) - gammaln(shapes)
        return float((logs - rates * np.exp(self.log_intensities)).sum())

    def known_model(self, parameters: tuple[Floats, ...]) -> PoissonModel:
        return PoissonModel(np.exp(parameters[0]))

    def log_affinity(self, parameters: tuple[Floats, ...]) -> Floats:
        out = np.empty((len(parameters[0]), len(parameters[0])))
        affinities.compare_intensities(np.ascontiguousarray(parameters[0]), out)
        return out


class DispersedSampler(PoissonSampler):
    """Sampler of intensities and of the dispersions, `prior`, of negative binomial counts."""

    # `levels` are the distinct counts of each column.

    _data_attributes: ClassVar[tuple[str, ...]] = (*PoissonSampler._data_attributes, "_codes")

    def __init__(
        self, n_states: int, shapes: Floats, rates: Floats, prior: Floats, levels: list[Floats]
    ):
        super().__init__(n_states, shapes, rates)
        self.prior, self._by_column = prior, levels
        self.held = self.is_drawn = False  # `held`: `draw` leaves the dispersions unchanged
        self._levels = np.concatenate(levels)
        self._ptr = np.cumsum([0, *map(len, levels)])
        self.tallies: NDArray[Any] = np.zeros(len(self._levels), dtype=np.int64)

    def of_states(self, n_states: int) -> DispersedSampler:
        """Return a sampler without observations, whose dispersions are fixed at the present."""
        return DispersedSampler(n_states, self.shapes, self.rates, self.prior, self._by_column)

    def attach(self, values: Floats) -> None:
        super().attach(values)
        columns = zip(self._by_column, values.T, strict=True)
        codes = np.column_stack([np.searchsorted(own, column) for own, column in columns])
        codes = np.where(np.isnan(values), -1, codes + self._ptr[:-1])
        self._codes = as_readonly(np.ascontiguousarray(codes, dtype=np.int32))

    def restrict(self, steps: Places, n_states: int) -> DispersedSampler:
        other: Any = super().restrict(steps, n_states)
        other._codes = as_readonly(self._codes[steps])
        return other

    def add_up(self, states: Places, measured: int) -> tuple[Any, ...]:
        """Return the sums of Poisson counts, and how often each level occurs."""
        tallies = np.empty(len(self._levels), dtype=np.int64)
        kernels.count_levels(self._codes, states, np.empty(0), tallies)
        return *super().add_up(states, measured), tallies

    def take(self, measured: int, sums: tuple[NDArray[Any], ...]) -> None:
        super().take(measured, sums[:-1])
        self.tallies = sums[-1]

    def condition_with_powers(self, states: Places, powers: Floats) -> None:
        """Set the states of the observations given the powers of their likelihoods."""
        super().condition_with_powers(states, powers)
        self.tallies = np.empty(len(self._levels))
        kernels.count_levels(self._codes, states, powers, self.tallies)

    def _statistics(self) -> tuple[Floats, ...]:
        sums = self.tallies, self.counts, self.totals
        return self._levels, self._ptr, *sums, self.shapes, self.rates

    def draw_shared(self, labels: Places, n_clusters: int, rng: Stream) -> None:
        """Draw the dispersions given the clusters of the rows, unless they are known."""
        if self.is_drawn:
            given = self.restrict(np.arange(len(labels)), n_clusters)
            given.condition(labels)
            self.draw_shared_given(given, rng)

    def draw_shared_given(self, clusters: DispersedSampler, rng: Stream) -> None:
        """Draw the dispersions, unless known, given a sampler with the sums of clusters."""
        if self.is_drawn:
            drawn = self.prior.copy()
            low, high = np.log(_DISPERSIONS)
            kernels.draw_dispersions(low, high, *clusters._statistics(), drawn, rng)
            self.prior = drawn

    def move_shared(self, rng: Stream) -> Floats | None:
        """Draw the dispersions with lambda integrated out, then lambda; return the former ones."""
        if not self.is_drawn or self.held:
            return None
        before = self.prior
        self.draw_parameters(rng)
        return before

    def restore_shared(self, before: Floats) -> None:
        self.prior = before

    def draw_parameters(self, rng: Stream) -> None:
        """Draw the dispersions and lambda given the stored statistics."""
        if not self.held:
            self.draw_shared_given(self, rng)
        kernels.draw_log_odds(
            self.counts, self.totals, self.shapes, self.rates, self.prior, self.log_intensities, rng
        )
        self.log_intensities -= np.log(self.prior)

    def _level_constants(self) -> Floats:
        """Return the terms of the log probabilities of the levels that all states share."""
        r = np.repeat(1.0 / self.prior, np.diff(self._ptr))
        rising = log_rising(r, self._levels) - self._levels * np.log(r)
        return np.asarray(rising - gammaln(self._levels + 1.0))

    def _weigh(self, log_intensities: Floats, out: Floats) -> None:
        log_odds = log_intensities + np.log(self.prior)
        kernels.weigh_wide_counts(
            self._values, self._codes, self._level_constants(), log_odds,
            np.logaddexp(0.0, log_odds), self.prior, out,
        )  # fmt: skip

    def write_log_predictive(self, out: Floats) -> None:
        """Write the log probabilities of all counts at the expected intensities of each state."""
        self._weigh(np.log((self.shapes + self.totals) / (self.rates + self.counts)), out)

    def write_log_obs(self, out: Floats) -> None:
        self._weigh(self.log_intensities, out)

    def log_evidence(self) -> float:
        """Return log p(x | z), plus the log density of log f in each column if f is drawn."""
        result = kernels.log_evidence_of_wide_counts(*self._statistics(), self.prior)
        if self.is_drawn:
            result += float((np.log(self.prior) - self.prior).sum())
        return float(result) - round_sum(self._log_factorials)

    def scalars(self) -> dict[str, float]:
        return {"emission_dispersion": float(self.prior.mean())} if self.is_drawn else {}

    def model(self) -> PoissonModel:
        return replace(super().model(), dispersions=self.prior)

    def known_model(self, parameters: tuple[Floats, ...]) -> PoissonModel:
        return PoissonModel(np.exp(parameters[0]), None, self.prior)

    def cluster_terms(self) -> ClusterTerms:
        return cell_terms([self.columns_of_cells()], len(self._values))

    def columns_of_cells(self) -> CountColumns:
        constants = np.append(self._level_constants() + gammaln(self._levels + 1.0), 0.0)
        constants = constants[self._codes].sum(axis=1)
        return CountColumns(self._values, self.shapes, self.rates, self.prior, constants)

    def log_posterior(self) -> float:
        """Return the log density of log lambda given the states and the dispersions."""
        shapes, others = self.shapes + self.totals, (self.rates + self.counts) / self.prior + 1.0
        log_odds = self.log_intensities + np.log(self.prior)
        logs = shapes * log_odds - (shapes + others) * np.logaddexp(0.0, log_odds)
        return float((logs - betaln(shapes, others)).sum())

    def log_affinity(self, parameters: tuple[Floats, ...]) -> Floats:
        out = np.zeros((len(parameters[0]), len(parameters[0])))
        for f, logs in zip(self.prior, parameters[0].T, strict=True):
            odds = f * np.exp(logs)
            root = np.sqrt(np.multiply.outer(1.0 + odds, 1.0 + odds))
            out -= np.log1p(root - 1.0 - np.sqrt(np.multiply.outer(odds, odds))) / f
        return np.minimum(out, 0.0)


def log_rising(shapes: Floats, counts: Floats) -> Floats:
    """Return log Gamma(a + x) - log Gamma(a), of broadcast arrays, for x >= 0."""
    # By Stirling's formula and its remainder: a difference of large terms would lose digits.
    sums = shapes + counts
    result = (shapes - 0.5) * np.log1p(counts / shapes) + counts * (np.log(sums) - 1.0)
    return np.asarray(result + stirling_rest(sums) - stirling_rest(shapes))


def log_beta_negative_binomial(counts: Floats, means: Floats, shapes: Floats, f: float) -> Floats:
    """Return log probabilities of counts with means m, shapes a and dispersion f."""
    r = np.asarray(1.0 / f)
    others = r * shapes / means + 1.0
    result = log_rising(r, counts) - gammaln(counts + 1.0) + log_rising(shapes, counts)
    result = result - log_rising(shapes + others + r, counts)
    return np.asarray(result + log_rising(others, shapes) - log_rising(others + r, shapes))


def log_negative_binomial(counts: Floats, means: Floats, shapes: Floats) -> Floats:
    """Return log probabilities of counts x of Gamma intensities with means m and shapes a."""
    # log Gamma(a + x) - log Gamma(a) - log x! + a log(a / (a + m)) + x log(m / (a + m)), with each
    # log Gamma split into Stirling's formula and its remainder (Loader 2000): for large a or x,
    # terms of their size would lose all digits of the result.
    x = np.maximum(counts, 1.0)
    away, ratio = (x - means) / (shapes + means), (shapes + x) / (shapes + means)
    result = stirling_rest(shapes + x) - stirling_rest(shapes) - stirling_rest(x)
    result -= shapes * log_deviation(away, ratio)
    result -= x * log_deviation(-away * (shapes / x), ratio * (means / x))
    result += 0.5 * (np.log(shapes) - np.log(shapes + x) - np.log(2.0 * np.pi * x))
    return np.where(counts > 0.0, result, -shapes * np.log1p(means / shapes))


def stirling_rest(x: Floats) -> Floats:
    """Return the remainder of Stirling's formula for log Gamma(x + 1), for x > 0."""
    far = np.maximum(x, _FAR)
    square = far * far
    series = 1.0 / 1188.0 / square - 1.0 / 1680.0
    series = ((series / square + 1.0 / 1260.0) / square - 1.0 / 360.0) / square + 1.0 / 12.0
    near = np.minimum(x, _FAR)
    logs = np.log(near)
    rest = gammaln(near + 1.0) - (near + 0.5) * logs + near - 0.5 * np.log(2.0 * np.pi)
    return np.where(x < _FAR, rest, series / far)


def log_deviation(x: Floats, one_more: Floats) -> Floats:
    """Return x - log(1 + x), given also 1 + x, which may be far more precise than 1.0 + x."""
    small = np.where(np.abs(x) < _SMALL, x, 0.0)
    series = np.full(small.shape, 1.0 / 9.0)
    for n in (8, 7, 6, 5, 4, 3, 2):
        series = 1.0 / n - small * series
    return np.where(np.abs(x) < _SMALL, small * small * series, x - np.log(one_more))


@dataclass(frozen=True, eq=False)
class PoissonModel(StatesMixin):
    """Counts, and the uncertainty of their intensities.

    With `shapes`, intensities have been learned from finitely many observations, and the posterior
    predictive distribution of the next one is negative binomial in each column, or with
    `dispersions` beta negative binomial. Otherwise, intensities are known, and the next observation
    is Poisson, or with `dispersions` negative binomial.

    Attributes
    ----------
    intensities : (J, D) array
        Mean counts of each state.
    shapes : (J, D) array or None, default=None
        Shapes of the Gamma distributions of the intensities, whose means are `intensities`.
    dispersions : (D,) array or None, default=None
        Dispersions of the columns; `shapes` are then those of beta prime distributions.
    """

    _shared = frozenset(["dispersions"])

    intensities: Floats
    shapes: Floats | None = None
    dispersions: Floats | None = None

    @property
    def lambdas_(self) -> Floats:
        """(J, D) read-only array: `intensities` under hmmlearn's name."""
        return as_readonly(self.intensities)

    def log_obs(self, values: Floats) -> Floats:
        """Return the log probability of the observed values of every step, (N, J)."""
        check_counts(values)
        out = np.zeros((len(values), len(self.intensities)))
        if self.shapes is None and self.dispersions is None:
            kernels.weigh_counts(values, np.log(self.intensities), out)
            return out
        for d in range(values.shape[1]):
            counts, places = np.unique(values[:, d], return_inverse=True)
            weigh, known = self._law_of(d)
            table = np.empty((len(counts), out.shape[1]))
            for i in range(0, len(counts), BLOCK):
                own = counts[i : i + BLOCK, np.newaxis]
                table[i : i + BLOCK] = weigh(own, *known)
            table[np.isnan(counts)] = 0.0
            for t in range(0, len(out), BLOCK):
                out[t : t + BLOCK] += table[places[t : t + BLOCK]]
        return out

    def _law_of(self, d: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the function with the log probabilities of a column, and its parameters."""
        means = self.intensities[:, d]
        if self.dispersions is None:
            return log_negative_binomial, (means, self.shapes[:, d])  # type: ignore[index]
        f = float(self.dispersions[d])
        if self.shapes is None:
            return log_negative_binomial, (means, np.full(len(means), 1.0 / f))
        return log_beta_negative_binomial, (means, self.shapes[:, d], f)

    def sample(self, states: Places, rng: np.random.Generator) -> Floats:
        """Return an observation for each state, (N, D), with the probabilities of `log_obs`."""
        intensities = self.intensities[states]
        if self.shapes is not None:
            shapes = self.shapes[states]
            rates = shapes / intensities
            if self.dispersions is not None:
                others = rates / self.dispersions
                rates = rates / others * rng.standard_gamma(others + 1.0)
            intensities = rng.standard_gamma(shapes) / rates
        if self.dispersions is not None:
            r = 1.0 / self.dispersions
            noise = rng.standard_gamma(np.broadcast_to(r, intensities.shape))
            intensities = intensities / r * noise
        return rng.poisson(np.minimum(intensities, MOST)).astype(np.float64)

    def marginals(self) -> CountMarginals:
        """Return the distributions of single columns of the next observation."""
        f = self.dispersions
        dispersions = None if f is None else np.broadcast_to(f, self.intensities.shape)
        return CountMarginals(self.intensities, self.shapes, dispersions)

    def fill(self, values: Floats, weights: Floats) -> Floats:
        """Return observations, (N, D), with NaN replaced by its mean."""
        return fill_by_means(values, weights, self.intensities)
