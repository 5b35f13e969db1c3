"""Fixed and varying amplitudes of binary factors: two strategies with one interface.

They differ in the statistics on which vectors, weights and noise depend; `BinaryFactorSampler` uses
both in the same way.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_gamma
from skdp._numeric._typing import Floats, Places
from skdp._numeric._unique_rows import unique_rows
from skdp._part import Part
from skdp.emissions._binary_factors import _kernels as factors
from skdp.emissions._binary_factors import _kernels_amplitudes as kernels
from skdp.emissions._gaussian._kernels import HALF_LOG_2_PI

SMALLEST_VARIANCE, LARGEST_VARIANCE = 1e-12, 1e12


class Parameters(NamedTuple):
    """Drawn parameters of the sampler of binary factors."""

    factors: NDArray[np.int8]  # (J, F)
    weights: Floats  # (F + 1, D)
    precisions: Floats  # (D,)


class FactorEvidence(NamedTuple):
    """Statistics of the observations on which vectors depend; one of the two fields is None."""

    moments: factors.Moments | None
    projections: kernels.Projections | None


class GapPattern(NamedTuple):
    """Steps whose missing values are in the same columns."""

    rows: NDArray[np.int64]  # (n,)
    seen: NDArray[np.bool_]  # (D,)


def find_patterns(values: NDArray[np.float64]) -> list[GapPattern]:
    """Return steps by the columns of their missing values."""
    seen, kinds, *_ = unique_rows(~np.isnan(values))
    return [GapPattern(np.flatnonzero(kinds == i), row) for i, row in enumerate(seen)]


class _Weighed(NamedTuple):
    """Statistics of steps of one pattern, with the amplitudes integrated out."""

    rows: NDArray[np.int64]
    projections: NDArray[np.float64]
    rests: NDArray[np.float64]
    constant: float
    roots: kernels.Roots


def _weigh(
    values: NDArray[np.float64],
    pattern: GapPattern,
    known: Parameters,
    variance: float,
) -> _Weighed:
    n_states, n_factors = known.factors.shape
    precisions = np.where(pattern.seen, known.precisions, 0.0)
    products = np.empty((n_factors, n_factors))
    kernels.write_products(known.weights, precisions, products)
    projections, rests = np.empty((len(pattern.rows), n_factors)), np.empty(len(pattern.rows))
    kernels.project(
        as_readonly(values), pattern.rows, known.weights, precisions, projections, rests
    )
    roots = kernels.Roots(
        np.empty((n_states, n_factors), dtype=np.int64), np.empty(n_states, dtype=np.int64),
        np.empty((n_states, n_factors, n_factors)), np.empty(n_states),
        np.empty((n_states, n_factors)),
    )  # fmt: skip
    kernels.write_roots(known.factors, products, variance, roots)
    constant = (0.5 * np.log(known.precisions[pattern.seen]) - HALF_LOG_2_PI).sum()
    return _Weighed(pattern.rows, projections, rests, float(constant), roots)


def weigh_varying(
    values: NDArray[np.float64],
    patterns: list[GapPattern],
    known: Parameters,
    variance: float,
    out: NDArray[np.float64],
) -> None:
    """Write log p(y_t given state j) to `out`; the amplitudes are integrated out."""
    column = np.empty(known.factors.shape[1])
    for pattern in patterns:
        own = _weigh(values, pattern, known, variance)
        kernels.weigh_steps(
            own.rows, own.projections, own.rests, own.constant, variance, own.roots, column, out
        )


class FixedAmplitudes(Part):
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

    def fill(self, states: Places, known: Parameters, rng: NDArray[np.uint64]) -> Floats:
        """Return the observations as they are: missing values are left out."""
        return self._values

    def add_up(self, filled: Floats, states: Places, known: Parameters) -> None:
        """Add up the statistics of the observations on which vectors depend."""
        factors.add_up_observed(as_readonly(filled), states, self.counts, self.means, self._scatter)

    def is_seen(self) -> NDArray[np.bool_]:
        """Return which states have values."""
        return np.any(self.counts > 0.0, axis=1)

    def evidence(self, known: Parameters) -> FactorEvidence:
        """Return the statistics of the observations on which vectors depend."""
        moments = factors.Moments(
            self.counts, self.means, known.weights, known.precisions, self.probit,
            *np.empty((2, len(self.probit))),
        )  # fmt: skip
        return FactorEvidence(moments, None)

    def draw(
        self, filled: Floats, states: Places, known: Parameters, rng: NDArray[np.uint64]
    ) -> None:
        """Draw nothing: amplitudes are all 1."""

    def draw_latent(self, known: Parameters, rng: NDArray[np.uint64]) -> None:
        """Draw the latent normals of probit columns, and add up the statistics for the weights."""
        factors.add_up_latent(
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
        factors.write_weights(
            known.factors, self.counts, self._totals, known.precisions, scales, normals, weights,
            factor,
        )  # fmt: skip
        return weights

    def add_up_residuals(self, filled: Floats, weights: Floats) -> None:
        """Do nothing, because residuals follow from the moments."""

    def noise(self, known: Parameters) -> tuple[Floats, Floats]:
        """Return the number of values of every column, and their squared distances from m."""
        seen, residuals = np.empty((2, len(self.probit)))
        factors.add_up_noise(
            self.counts, self.means, self._scatter, find_centers(known), seen, residuals
        )
        return seen, residuals

    def add_up_likelihood(self, states: Places, known: Parameters) -> None:
        """Do nothing, because the likelihood follows from the moments."""

    def log_likelihood(self, known: Parameters) -> float:
        """Return log p(y given the states last given and parameters)."""
        return float(
            factors.log_likelihood(
                self.counts, self.means, self.probit, find_centers(known), known.precisions,
                *self.noise(known),
            )
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
    factors.weigh_factors(as_readonly(values), centers, precisions, probit, log_probs, out)


def find_centers(known: Parameters) -> Floats:
    """Return m, (D, J)."""
    centers = np.empty((known.weights.shape[1], len(known.factors)))
    factors.write_centers(known.factors, known.weights, centers)
    return centers


class VaryingAmplitudes(Part):
    """Amplitudes N(1, tau^2) of factors that are on, and the statistics for the other parameters.
    Vectors and states are drawn with them integrated out, other parameters given their draws.
    """

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
        """Store the observations."""
        self._values = as_readonly(values)
        self._patterns = find_patterns(values)
        self._all = np.arange(len(values))
        self._amplitudes = np.empty((len(values), len(self._products)))

    def fill(self, states: Places, known: Parameters, rng: NDArray[np.uint64]) -> Floats:
        """Return the observations with missing values replaced by draws."""
        partial = [pattern for pattern in self._patterns if not pattern.seen.all()]
        if not partial:
            return self._values
        filled = self._values.copy()
        amplitudes = np.empty((len(filled), known.factors.shape[1]))
        for pattern in partial:
            own = _weigh(self._values, pattern, known, self.variance)
            self._draw_amplitudes(own, states, amplitudes, rng)
            kernels.fill_missing(
                self._values, own.rows, amplitudes, known.weights, known.precisions, filled, rng
            )
        return filled

    def add_up(self, filled: Floats, states: Places, known: Parameters) -> None:
        """Add up the statistics of the observations on which vectors depend."""
        n_factors = len(self._products)
        kernels.write_products(known.weights, known.precisions, self._products)
        projections, rests = np.empty((len(filled), n_factors)), np.empty(len(filled))
        kernels.project(
            as_readonly(filled), self._all, known.weights, known.precisions, projections, rests
        )
        kernels.add_up_projections(projections, states, self._counts, self._totals, self._outer)

    def is_seen(self) -> NDArray[np.bool_]:
        """Return which states have steps."""
        return self._counts > 0.0

    def evidence(self, known: Parameters) -> FactorEvidence:
        """Return the statistics of the observations on which vectors depend."""
        n_factors = len(self._products)
        projections = kernels.Projections(
            self.variance, self._products, self._counts, self._totals, self._outer,
            np.empty(n_factors, dtype=np.int64), np.empty((n_factors, n_factors)),
            *np.empty((2, n_factors)),
        )  # fmt: skip
        return FactorEvidence(None, projections)

    def draw(
        self, filled: Floats, states: Places, known: Parameters, rng: NDArray[np.uint64]
    ) -> None:
        """Draw the amplitudes, and tau^2 given them; add up the statistics for the weights."""
        everything = GapPattern(self._all, np.ones(len(known.precisions), dtype=np.bool_))
        own = _weigh(filled, everything, known, self.variance)
        self._draw_amplitudes(own, states, self._amplitudes, rng)
        kernels.add_up_regression(as_readonly(filled), self._amplitudes, self._gram, self._cross)
        self._deviations = kernels.add_up_deviations(known.factors, states, self._amplitudes)
        if self.draws:
            shape, rate = self._posterior()
            precision = draw_gamma(shape, rng) / rate
            self.variance = 1.0 / min(max(precision, 1 / LARGEST_VARIANCE), 1 / SMALLEST_VARIANCE)

    def draw_latent(self, known: Parameters, rng: NDArray[np.uint64]) -> None:
        """Draw nothing: no column is probit."""

    def weights_given(self, known: Parameters, scales: Floats, normals: Floats) -> Floats:
        """Return weights drawn with the given standard normals; zeros give their mean."""
        weights = np.empty(normals.shape)
        kernels.write_regression_weights(
            self._gram, self._cross, known.precisions, scales, normals, weights,
            np.empty(self._gram.shape),
        )  # fmt: skip
        return weights

    def add_up_residuals(self, filled: Floats, weights: Floats) -> None:
        """Add up the statistics for the noise given the amplitudes last drawn."""
        self._n_steps = len(filled)
        kernels.add_up_residuals(as_readonly(filled), self._amplitudes, weights, self._residuals)

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
            self._log_likelihood += kernels.log_likelihood_of_steps(
                own.rows, states, own.projections, own.rests, self.variance, own.roots, column
            )

    def log_likelihood(self, known: Parameters) -> float:
        """Return log p(y given the states last given and parameters)."""
        return self._log_likelihood

    def write_log_obs(self, known: Parameters, out: Floats) -> None:
        """Write the log densities of all steps."""
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
        self,
        own: _Weighed,
        states: NDArray[np.int64],
        amplitudes: NDArray[np.float64],
        rng: NDArray[np.uint64],
    ) -> None:
        kernels.draw_amplitudes(
            own.rows, states, own.projections, self.variance, own.roots,
            np.empty(amplitudes.shape[1]), amplitudes, rng,
        )  # fmt: skip
