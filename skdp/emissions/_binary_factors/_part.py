"""Binary factors: amplitudes, the model in a stored sample, and the sampler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr

from skdp._numeric import Floats, Places
from skdp._numeric._arrays import standardize, unique_rows
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_gamma, next_double
from skdp._part import ChainComponent
from skdp.emissions._common import Stream
from skdp.emissions._common._marginals import (
    FactorMarginals,
    StatesMixin,
    StudentMarginals,
    fill_by_means,
    fill_by_regression,
)
from skdp.emissions._common._protocol import Coupling
from skdp.emissions._kernels import _amplitudes as amplitude_kernels
from skdp.emissions._kernels import _binary_factors as kernels
from skdp.emissions._kernels import _buffet as starts
from skdp.emissions._kernels._gaussian import HALF_LOG_2_PI
from skdp.emissions._kernels._links import Links, start_links

# Fixed and varying amplitudes: two strategies with one interface.
#
# They differ in the statistics on which vectors, weights and noise depend; `BinaryFactorSampler`
# uses both in the same way.


SMALLEST_VARIANCE, LARGEST_VARIANCE = 1e-12, 1e12


class Parameters(NamedTuple):
    """Drawn parameters of the sampler of binary factors."""

    factors: NDArray[np.int8]  # (J, F)
    weights: Floats  # (F + 1, D)
    precisions: Floats  # (D,)


class GapPattern(NamedTuple):
    """Steps whose missing values are in the same columns."""

    rows: Places  # (n,)
    seen: NDArray[np.bool_]  # (D,)


def find_patterns(values: Floats) -> list[GapPattern]:
    """Return steps by the columns of their missing values."""
    seen, kinds, *_ = unique_rows(~np.isnan(values))
    return [GapPattern(np.flatnonzero(kinds == i), row) for i, row in enumerate(seen)]


class _Weighed(NamedTuple):
    """Statistics of steps of one pattern, with the amplitudes integrated out."""

    rows: Places
    projections: Floats
    rests: Floats
    constant: float
    roots: amplitude_kernels.Roots


def _weigh(values: Floats, pattern: GapPattern, known: Parameters, variance: float) -> _Weighed:
    n_states, n_factors = known.factors.shape
    precisions = np.where(pattern.seen, known.precisions, 0.0)
    products = np.empty((n_factors, n_factors))
    amplitude_kernels.write_products(known.weights, precisions, products)
    projections, rests = np.empty((len(pattern.rows), n_factors)), np.empty(len(pattern.rows))
    amplitude_kernels.project(
        as_readonly(values), pattern.rows, known.weights, precisions, projections, rests
    )
    roots = amplitude_kernels.Roots(
        np.empty((n_states, n_factors), dtype=np.int64), np.empty(n_states, dtype=np.int64),
        np.empty((n_states, n_factors, n_factors)), np.empty(n_states),
        np.empty((n_states, n_factors)),
    )  # fmt: skip
    amplitude_kernels.write_roots(known.factors, products, variance, roots)
    constant = (0.5 * np.log(known.precisions[pattern.seen]) - HALF_LOG_2_PI).sum()
    return _Weighed(pattern.rows, projections, rests, float(constant), roots)


def weigh_varying(
    values: Floats, patterns: list[GapPattern], known: Parameters, variance: float, out: Floats
) -> None:
    """Write log p(y_t given state j) to `out`; the amplitudes are integrated out."""
    column = np.empty(known.factors.shape[1])
    for pattern in patterns:
        own = _weigh(values, pattern, known, variance)
        amplitude_kernels.weigh_steps(
            own.rows, own.projections, own.rests, own.constant, variance, own.roots, column, out
        )


class FixedAmplitudes(ChainComponent):
    """Amplitudes that are all 1, and the statistics on which the other parameters then depend."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_values",)
    variance = 0.0  # tau^2

    def __init__(self, n_states: int, probit: NDArray[np.bool_]):
        self.probit = probit
        self.counts = np.zeros((n_states, len(probit)))  # values seen in a state
        self.means = np.zeros((n_states, len(probit)))  # their mean
        self._scatter = np.zeros(len(probit))
        self._totals = np.zeros((n_states, len(probit)))

    def attach(self, values: Floats) -> None:
        """Store the observations."""
        self._values = as_readonly(values)

    def fill(self, states: Places, known: Parameters, rng: Stream) -> Floats:
        """Return the observations as they are: missing values are left out."""
        return self._values

    def add_up(self, filled: Floats, states: Places, known: Parameters) -> None:
        """Add up the statistics of the observations on which vectors depend."""
        kernels.add_up_observed(as_readonly(filled), states, self.counts, self.means, self._scatter)

    def is_seen(self) -> NDArray[np.bool_]:
        """Return which states have values."""
        return np.any(self.counts > 0.0, axis=1)

    def evidence(self, known: Parameters) -> tuple[Any, Any]:
        """Return the statistics on which vectors depend: `Moments` or `Projections`, and None."""
        moments = kernels.Moments(
            self.counts, self.means, known.weights, known.precisions, self.probit,
            *np.empty((2, len(self.probit))),
        )  # fmt: skip
        return moments, None

    def draw(self, filled: Floats, states: Places, known: Parameters, rng: Stream) -> None:
        """Draw nothing: amplitudes are all 1."""

    def draw_latent(self, known: Parameters, rng: Stream) -> None:
        """Draw the latent normals of probit columns, and add up the statistics for the weights."""
        kernels.add_up_latent(
            self.counts, self.means, self.probit, find_centers(known), self._totals, rng
        )

    @property
    def totals(self) -> Floats:
        """Sums of the values of every state, or of the latent normals drawn last, (J, D)."""
        return self._totals

    def weights_given(self, known: Parameters, scales: Floats, normals: Floats) -> Floats:
        """Return weights drawn with the given standard normals; zeros give their mean."""
        weights = np.empty(normals.shape)
        factor = np.empty((len(normals), len(normals)))
        kernels.write_weights(
            known.factors, self.counts, self._totals, known.precisions, scales, normals, weights,
            factor,
        )  # fmt: skip
        return weights

    def add_up_residuals(self, filled: Floats, weights: Floats) -> None:
        """Do nothing, because residuals follow from the moments."""

    def noise(self, known: Parameters) -> tuple[Floats, Floats]:
        """Return the number of values of every column, and their squared distances from m."""
        seen, residuals = np.empty((2, len(self.probit)))
        kernels.add_up_noise(
            self.counts, self.means, self._scatter, find_centers(known), seen, residuals
        )
        return seen, residuals

    def add_up_likelihood(self, states: Places, known: Parameters) -> None:
        """Do nothing, because the likelihood follows from the moments."""

    def log_likelihood(self, known: Parameters) -> float:
        """Return log p(y given the states last given and parameters)."""
        return kernels.log_likelihood(
            self.counts, self.means, self.probit, find_centers(known), known.precisions,
            *self.noise(known),
        )  # fmt: skip

    def write_log_obs(self, known: Parameters, out: Floats) -> None:
        """Write the log densities of all steps."""
        weigh_fixed(self._values, find_centers(known), known.precisions, self.probit, out)

    def log_density(self) -> float:
        """Return 0: no parameter of the amplitudes is drawn."""
        return 0.0

    def mean_variance(self) -> float:
        """Return 0."""
        return 0.0


def weigh_fixed(
    values: Floats, centers: Floats, precisions: Floats, probit: NDArray[np.bool_], out: Floats
) -> None:
    """Write log densities of all observations in all states, (N, J), given m, (D, J)."""
    log_probs = np.empty((2, *centers.shape))
    kernels.weigh_factors(as_readonly(values), centers, precisions, probit, log_probs, out)


def find_centers(known: Parameters) -> Floats:
    """Return m, (D, J)."""
    centers = np.empty((known.weights.shape[1], len(known.factors)))
    kernels.write_centers(known.factors, known.weights, centers)
    return centers


class VaryingAmplitudes(ChainComponent):
    """Amplitudes N(1, tau^2) of factors that are on, and the statistics for other parameters."""

    # Vectors and states are drawn with them integrated out, other parameters given their draws.

    _data_attributes: ClassVar[tuple[str, ...]] = ("_values", "_patterns", "_all", "_amplitudes")

    def __init__(
        self,
        n_states: int,
        n_factors: int,
        n_dims: int,
        variance: float | None,  # tau^2; None: drawn
        prior: tuple[float, float],  # shape and rate of the Gamma prior of 1 / tau^2
    ):
        self.draws, self.prior = variance is None, prior
        self.variance = prior[1] / prior[0] if variance is None else variance
        self._products = np.zeros((n_factors, n_factors))
        self._counts = np.zeros(n_states)
        self._totals = np.zeros((n_states, n_factors))
        self._outer = np.zeros((n_states, n_factors, n_factors))
        self._gram = np.zeros((n_factors + 1, n_factors + 1))
        self._cross = np.zeros((n_factors + 1, n_dims))
        self._n_steps = 0
        self._residuals = np.zeros(n_dims)
        self._log_likelihood = 0.0
        self._deviations = 0, 0.0

    def attach(self, values: Floats) -> None:
        self._values = as_readonly(values)
        self._patterns = find_patterns(values)
        self._all = np.arange(len(values))
        self._amplitudes = np.empty((len(values), len(self._products)))

    def fill(self, states: Places, known: Parameters, rng: Stream) -> Floats:
        """Return the observations with missing values replaced by draws."""
        partial = [pattern for pattern in self._patterns if not pattern.seen.all()]
        if not partial:
            return self._values
        filled = self._values.copy()
        amplitudes = np.empty((len(filled), known.factors.shape[1]))
        for pattern in partial:
            own = _weigh(self._values, pattern, known, self.variance)
            self._draw_amplitudes(own, states, amplitudes, rng)
            amplitude_kernels.fill_missing(
                self._values, own.rows, amplitudes, known.weights, known.precisions, filled, rng
            )
        return filled

    def add_up(self, filled: Floats, states: Places, known: Parameters) -> None:
        n_factors = len(self._products)
        amplitude_kernels.write_products(known.weights, known.precisions, self._products)
        projections, rests = np.empty((len(filled), n_factors)), np.empty(len(filled))
        amplitude_kernels.project(
            as_readonly(filled), self._all, known.weights, known.precisions, projections, rests
        )
        amplitude_kernels.add_up_projections(
            projections, states, self._counts, self._totals, self._outer
        )

    def is_seen(self) -> NDArray[np.bool_]:
        """Return which states have steps."""
        return self._counts > 0.0

    def evidence(self, known: Parameters) -> tuple[Any, Any]:
        n_factors = len(self._products)
        projections = amplitude_kernels.Projections(
            self.variance, self._products, self._counts, self._totals, self._outer,
            np.empty(n_factors, dtype=np.int64), np.empty((n_factors, n_factors)),
            *np.empty((2, n_factors)),
        )  # fmt: skip
        return None, projections

    def draw(self, filled: Floats, states: Places, known: Parameters, rng: Stream) -> None:
        """Draw the amplitudes, and tau^2 given them; add up the statistics for the weights."""
        everything = GapPattern(self._all, np.ones(len(known.precisions), dtype=np.bool_))
        own = _weigh(filled, everything, known, self.variance)
        self._draw_amplitudes(own, states, self._amplitudes, rng)
        amplitude_kernels.add_up_regression(
            as_readonly(filled), self._amplitudes, self._gram, self._cross
        )
        self._deviations = amplitude_kernels.add_up_deviations(
            known.factors, states, self._amplitudes
        )
        if self.draws:
            shape, rate = self._posterior()
            precision = draw_gamma(shape, rng) / rate
            self.variance = 1.0 / min(max(precision, 1 / LARGEST_VARIANCE), 1 / SMALLEST_VARIANCE)

    def draw_latent(self, known: Parameters, rng: Stream) -> None:
        """Draw nothing: no column is probit."""

    def weights_given(self, known: Parameters, scales: Floats, normals: Floats) -> Floats:
        weights = np.empty(normals.shape)
        amplitude_kernels.write_regression_weights(
            self._gram, self._cross, known.precisions, scales, normals, weights,
            np.empty(self._gram.shape),
        )  # fmt: skip
        return weights

    def add_up_residuals(self, filled: Floats, weights: Floats) -> None:
        """Add up the statistics for the noise given the amplitudes last drawn."""
        self._n_steps = len(filled)
        amplitude_kernels.add_up_residuals(
            as_readonly(filled), self._amplitudes, weights, self._residuals
        )

    def noise(self, known: Parameters) -> tuple[Floats, Floats]:
        """Return the number of values of every column, and the sum of their squared residuals."""
        return np.full(len(self._residuals), float(self._n_steps)), self._residuals

    def add_up_likelihood(self, states: Places, known: Parameters) -> None:
        """Store log p(y given states and parameters), with the amplitudes integrated out."""
        column = np.empty(known.factors.shape[1])
        self._log_likelihood = 0.0
        for pattern in self._patterns:
            own = _weigh(self._values, pattern, known, self.variance)
            self._log_likelihood += own.constant * len(own.rows)
            self._log_likelihood += amplitude_kernels.log_likelihood_of_steps(
                own.rows, states, own.projections, own.rests, self.variance, own.roots, column
            )

    def log_likelihood(self, known: Parameters) -> float:
        return self._log_likelihood

    def write_log_obs(self, known: Parameters, out: Floats) -> None:
        weigh_varying(self._values, self._patterns, known, self.variance, out)

    def log_density(self) -> float:
        """Return the log density of log tau^2, 0 if it is given."""
        if not self.draws:
            return 0.0
        shape, rate = self.prior
        scaled = rate / self.variance
        return float(shape * np.log(scaled) - scaled - gammaln(shape))

    def mean_variance(self) -> float:
        """Return rate / shape of the distribution of 1 / tau^2 given the amplitudes last drawn."""
        if not self.draws:
            return self.variance
        shape, rate = self._posterior()
        return rate / shape

    def _posterior(self) -> tuple[float, float]:
        n, total = self._deviations
        return self.prior[0] + 0.5 * n, self.prior[1] + 0.5 * total

    def _draw_amplitudes(
        self, own: _Weighed, states: Places, amplitudes: Floats, rng: Stream
    ) -> None:
        amplitude_kernels.draw_amplitudes(
            own.rows, states, own.projections, self.variance, own.roots,
            np.empty(amplitudes.shape[1]), amplitudes, rng,
        )  # fmt: skip


# The model in a stored sample.


OUTPUTS = ("normal", "probit")


def check_outputs(values: Floats, probit: NDArray[np.bool_]) -> Floats:
    """Return observations if their values are valid for the columns, or raise a ValueError."""
    if values.shape[1] != len(probit):
        raise ValueError(f"X must have {len(probit)} features, got {values.shape[1]}.")
    wrong = np.isinf(values) | (probit & ~np.isnan(values) & (values != 0.0) & (values != 1.0))
    if wrong.any():
        t, d = np.argwhere(wrong)[0]
        allowed = "0, 1" if probit[d] else "finite numbers"
        raise ValueError(f"X must hold {allowed} or NaN in column {d}; got {values[t, d]:g}.")
    return values


@dataclass(frozen=True, eq=False)
class BinaryFactorModel(StatesMixin):
    """Binary factors with known parameters.

    Attributes
    ----------
    factors : (J, F) array of int8
        Vectors of the states.
    weights : (F + 1, D) array
        The background in row 0.
    noise_variance : (D,) array
        1 for probit columns.
    output : tuple of str
        "normal" or "probit", for every column.
    amplitude_variance : float, default=0.0
        tau^2.
    """

    _shared = frozenset({"weights", "noise_variance"})

    factors: NDArray[np.int8]
    weights: Floats
    noise_variance: Floats
    output: tuple[str, ...]
    amplitude_variance: float = 0.0

    @property
    def means(self) -> Floats:
        """(J, D) array: m, before Phi in probit columns."""
        return self.weights[0] + self.factors @ self.weights[1:]

    def log_obs(self, values: Floats) -> Floats:
        """Return the log density of every observation in every state, (N, J)."""
        out = np.empty((len(values), len(self.factors)))
        values = check_outputs(np.asarray(values, dtype=np.float64), self._probit)
        if self.amplitude_variance > 0.0:
            known = Parameters(
                np.array(self.factors), np.array(self.weights), 1.0 / self.noise_variance
            )
            weigh_varying(values, find_patterns(values), known, self.amplitude_variance, out)
            return out
        centers = np.ascontiguousarray(self.means.T)
        weigh_fixed(values, centers, 1.0 / self.noise_variance, self._probit, out)
        return out

    def sample(self, states: Places, rng: np.random.Generator) -> Floats:
        """Return an observation for each state, (N, D)."""
        means = self.means[states]
        if self.amplitude_variance > 0.0:
            deviations = rng.standard_normal((len(states), self.factors.shape[1]))
            deviations *= np.sqrt(self.amplitude_variance) * self.factors[states]
            means += deviations @ self.weights[1:]
        normal = means + np.sqrt(self.noise_variance) * rng.standard_normal(means.shape)
        return np.where(self._probit, rng.random(means.shape) < ndtr(means), normal)

    def marginals(self) -> FactorMarginals:
        """Return the distributions of single columns of the next observation."""
        means = self.means
        squares = self.factors @ self.weights[1:] ** 2
        variances = self.noise_variance + self.amplitude_variance * squares
        probs = np.where(self._probit, ndtr(means), np.nan)
        return FactorMarginals(StudentMarginals(means, np.sqrt(variances)), probs)

    def fill(self, values: Floats, weights: Floats) -> Floats:
        """Return observations in which NaN is its mean given the rest of the row, (N, D)."""
        if self.amplitude_variance == 0.0:
            return fill_by_means(values, weights, self.marginals().means)
        on = self.factors[:, :, np.newaxis] * self.weights[1:]
        scales = self.amplitude_variance * np.einsum("jfd,jfe->jde", on, on)
        scales += np.diag(self.noise_variance)
        return fill_by_regression(values, weights, self.means, scales)

    @property
    def _probit(self) -> NDArray[np.bool_]:
        return np.array([kind == "probit" for kind in self.output])


# The sampler of the binary vectors of the states, weights and noise.

N_ROUNDS_OF_LEAST_SQUARES = 50
N_ROUNDS_OF_GROUPING = 10


class FactorPrior(NamedTuple):
    """Priors of drawn weights and noise, by column."""

    middles: Floats  # (D,), prior means of the background
    scales: Floats  # (D,), prior standard deviations of weights
    shape: float  # of the Gamma priors of precisions
    rates: Floats  # (D,), of these priors


class BinaryFactorSampler(ChainComponent):
    """Sampler of the binary vectors of all states, weights and noise."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_values",)

    def __init__(
        self,
        n_states: int,
        n_factors: int,
        probit: NDArray[np.bool_],
        weights: Floats | None,  # None: drawn
        noise_variance: Floats | None,  # None: drawn
        prior: FactorPrior,
        activity_prior: tuple[float, float],
        init: str,
        amplitudes: FixedAmplitudes | VaryingAmplitudes,
    ):
        n_dims = len(probit)
        self.amplitudes = amplitudes
        self.probit = probit
        self.prior, self.activity_prior = prior, activity_prior
        self.init = init
        self.draws_weights, self.draws_noise = weights is None, noise_variance is None
        self.factors = np.zeros((n_states, n_factors), dtype=np.int8)
        # Weights of observations less the prior means of the background; see `all_weights`.
        self.weights = np.zeros((n_factors + 1, n_dims)) if weights is None else weights
        self.precisions = np.ones(n_dims) if noise_variance is None else 1.0 / noise_variance

    def attach(self, values: Floats) -> None:
        values, middles = check_outputs(values, self.probit), self.prior.middles
        self._values = as_readonly(values - middles if middles.any() else values)
        self.amplitudes.attach(self._values)

    def start(self, states: Places, rng: Stream) -> None:
        """Write initial states, and initialize vectors, weights and noise to fit them."""
        self._draw_idle_factors(np.ones(len(self.factors), dtype=np.bool_), rng)
        if self.init == "random":
            n_states = len(self.factors)
            states[:] = [int(next_double(rng) * n_states) for _ in range(len(states))]
        elif self.draws_weights:
            self._group_steps(states, rng)
        else:
            self._threshold_activities(states, rng)
        if self.draws_noise:
            self._begin_noise()
        filled = self._fill(states, rng)
        self._draw_weights_and_noise(filled, states, rng)

    def draw(self, states: Places, rng: Stream, coupling: Coupling | None = None) -> None:
        """Draw vectors, then weights, then noise, given the states and transitions if coupled."""
        filled = self._fill(states, rng)
        self._draw_factors(coupling, rng)
        self._draw_weights_and_noise(filled, states, rng)

    def write_log_obs(self, out: Floats) -> None:
        self.amplitudes.write_log_obs(self._known, out)

    def log_evidence(self) -> float:
        """Return log p(x, vectors, weights, noise | z), with mu integrated out."""
        # Not all parameters can be integrated out, so this is a joint density.
        log_prior = kernels.log_prior_of_factors(self.factors, *self.activity_prior)
        return float(log_prior + self.log_density())

    def log_density(self) -> float:
        """Return log p(x, weights, noise, variance of amplitudes | z, vectors)."""
        result = self.amplitudes.log_likelihood(self._known)
        if self.draws_weights:
            # Of ratios to scales: chains may differ in their number of weights, and which state is
            # more probable must not depend on the unit of the data.
            scaled = self.weights / self.prior.scales
            result -= 0.5 * float((scaled**2).sum()) + scaled.size * kernels.HALF_LOG_2_PI
        if self.draws_noise:
            shape = self.prior.shape
            scaled = (self.prior.rates * self.precisions)[~self.probit]
            result += float((shape * np.log(scaled) - scaled - gammaln(shape)).sum())
        return float(result + self.amplitudes.log_density())

    def model(self) -> BinaryFactorModel:
        """Return the vectors last drawn, with means of weights and precisions given them."""
        # Means of weights are given the latent normals too, those of precisions the last weights.
        weights, variances = self.all_weights(), 1.0 / self.precisions
        if self.draws_weights:
            weights = self._with_middles(self._weights_given(np.zeros(self.weights.shape)))
        if self.draws_noise:
            seen, residuals = self.amplitudes.noise(self._known)
            variances = (self.prior.rates + 0.5 * residuals) / (self.prior.shape + 0.5 * seen)
            variances = np.where(self.probit, 1.0, variances)
        output = tuple(OUTPUTS[int(kind)] for kind in self.probit)
        return BinaryFactorModel(
            self.factors.copy(), weights, variances, output, self.amplitudes.mean_variance()
        )

    def all_weights(self) -> Floats:
        """Return the weights of the observations as they are, (F + 1, D)."""
        return self._with_middles(self.weights)

    def _with_middles(self, weights: Floats) -> Floats:
        """Return weights whose background has the prior means added."""
        return np.vstack([weights[:1] + self.prior.middles, weights[1:]])

    @property
    def amplitude_variance(self) -> float:
        """tau^2, 0 if amplitudes are all 1."""
        return self.amplitudes.variance

    @property
    def _known(self) -> Parameters:
        """The parameters last drawn."""
        return Parameters(self.factors, self.weights, self.precisions)

    def _fill(self, states: Places, rng: Stream) -> Floats:
        """Return the observations, completed if amplitudes vary, and add up their statistics."""
        filled = self.amplitudes.fill(states, self._known, rng)
        self.amplitudes.add_up(filled, states, self._known)
        return filled

    def _draw_factors(self, coupling: Coupling | None, rng: Stream) -> None:
        """Draw the vectors of all states, last those without values and informative transitions."""
        idle, links, decay = self._find_idle(coupling)
        n_factors = self.factors.shape[1]
        spins = self._spins()
        kernels.draw_busy_bits(
            spins, idle, *self.activity_prior, *self.amplitudes.evidence(self._known), links, decay,
            np.empty(n_factors), np.empty((2, n_factors), dtype=np.int64), rng,
        )  # fmt: skip
        self._draw_idle_bits(spins, idle, links, decay, rng)

    def _find_idle(
        self, coupling: Coupling | None
    ) -> tuple[NDArray[np.bool_], Links | None, float]:
        """Return which states have no values and informative transitions, and the links if any."""
        idle = ~self.amplitudes.is_seen()
        if coupling is None or coupling.decay == 0.0:
            return idle, None, 0.0
        links = make_links(coupling)
        start_links(links, self.factors, coupling.counts, coupling.decay)
        return idle & ~links.n_transitions.any(axis=1), links, coupling.decay

    def _draw_idle_factors(self, idle: NDArray[np.bool_], rng: Stream) -> None:
        """Draw the vectors of some states from the prior given the other vectors."""
        self._draw_idle_bits(self._spins(), idle, None, 0.0, rng)

    def _draw_idle_bits(
        self, spins: Floats, idle: NDArray[np.bool_], links: Links | None, decay: float, rng: Stream
    ) -> None:
        kernels.draw_idle_bits(
            spins, idle, *self.activity_prior, links, decay, np.empty(len(idle)), rng
        )
        self.factors[:] = spins.T > 0.0

    def _spins(self) -> Floats:
        """Return 2 theta - 1, (F, J)."""
        return np.ascontiguousarray(2.0 * self.factors.T - 1.0)

    def _draw_weights_and_noise(self, filled: Floats, states: Places, rng: Stream) -> None:
        self.amplitudes.draw(filled, states, self._known, rng)
        if self.draws_weights:
            self.amplitudes.draw_latent(self._known, rng)
        self._draw_given_latent(filled, states, rng)

    def _draw_given_latent(self, filled: Floats, states: Places, rng: Stream) -> None:
        """Draw weights and noise given the latent normals of probit columns, last drawn."""
        amplitudes = self.amplitudes
        if self.draws_weights:
            normals = np.empty(self.weights.shape)
            kernels.draw_normals(normals, rng)
            self.weights = self._weights_given(normals)
        amplitudes.add_up_residuals(filled, self.weights)
        if self.draws_noise:
            kernels.draw_precisions(
                *amplitudes.noise(self._known), self.probit, self.prior.shape, self.prior.rates,
                self.precisions, rng,
            )  # fmt: skip
        amplitudes.add_up_likelihood(states, self._known)

    def _weights_given(self, normals: Floats) -> Floats:
        """Return weights drawn with the given standard normals; zeros give their mean."""
        return self.amplitudes.weights_given(self._known, self.prior.scales, normals)

    def _begin_noise(self) -> None:
        """Begin with noise as wide as the columns."""
        self.precisions[:] = np.where(self.probit, 1.0, 1.0 / _spreads(self._values))

    def _threshold_activities(self, states: Places, rng: Stream) -> None:
        """Initialize the states to the most frequent vectors of a least-squares fit."""
        n_states = len(self.factors)
        vectors, labels, counts = np.unique(
            self._fit_activities() >= 0.5, axis=0, return_inverse=True, return_counts=True
        )
        order = np.argsort(-counts, kind="stable")[:n_states]
        chosen = vectors[order].astype(np.int8)
        # Steps with any other vector go to the state at the least Hamming distance.
        distances = (vectors[:, np.newaxis] != chosen).sum(axis=2)
        states[:] = distances.argmin(axis=1)[labels.reshape(-1)]
        self.factors[: len(chosen)] = chosen
        self._draw_idle_factors(np.arange(n_states) >= len(chosen), rng)

    def _fit_activities(self) -> Floats:
        """Return least squares of every step with activities in [0, 1], (N, F)."""
        scales = np.where(self.probit, 1.0, self.precisions)
        values = np.where(self.probit, 2.0 * self._values - 1.0, self._values)
        activities = np.empty((len(values), self.factors.shape[1]))
        starts.fit_activities(
            values, self.weights, scales, N_ROUNDS_OF_LEAST_SQUARES, activities,
            np.empty(len(scales)),
        )  # fmt: skip
        return activities

    def _most_groups(self) -> int:
        """Return the number of different vectors that the states may have."""
        n_states, n_factors = self.factors.shape
        return int(min(n_states, 2 ** min(n_factors, 62)))

    def _group_steps(self, states: Places, rng: Stream) -> None:
        """Group similar steps, into at most as many groups as there are vectors."""
        n_groups = min(self._most_groups(), len(states))
        n_dims = len(self.probit)
        values = standardize(self._values, _center(self._values), np.sqrt(_spreads(self._values)))
        starts.group_steps(
            as_readonly(values), np.ones(n_dims), np.zeros(n_dims),
            N_ROUNDS_OF_GROUPING, np.empty((n_groups, n_dims)), np.empty((n_groups, n_dims)),
            np.empty(len(states)), states, rng,
        )  # fmt: skip


def make_links(coupling: Coupling) -> Links:
    """Return arrays for the likelihood of vectors given transitions; `start_links` fills them."""
    n = coupling.counts.shape[1]
    left = coupling.counts[:-1].sum(axis=1)
    into, n_transitions, distances = np.empty((3, n, n))
    busy, rows = np.flatnonzero(left), np.zeros((8, n))
    left = left.astype(np.float64)
    arrays = coupling.log_rates, into, n_transitions, left, busy, *rows, distances
    return Links._make(arrays)


def _center(values: Floats) -> Floats:
    """Return means of the columns; 0 if all values are missing."""
    seen = ~np.isnan(values)
    return np.where(seen, values, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)


def _spreads(values: Floats) -> Floats:
    """Return variances of the columns; 1 for constant columns."""
    variances = _center((values - _center(values)) ** 2)
    return np.where(variances > 0.0, variances, 1.0)
