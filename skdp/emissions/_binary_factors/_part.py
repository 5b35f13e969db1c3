"""Sampler of the binary vectors of the states, weights and noise."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._numeric._numba import as_readonly
from skdp._numeric._random import next_double
from skdp._numeric._spreads import standardize
from skdp._numeric._typing import Floats
from skdp._part import Part
from skdp.emissions._binary_factors import _kernels as kernels
from skdp.emissions._binary_factors import _kernels_starts as starts
from skdp.emissions._binary_factors._amplitudes import (
    FixedAmplitudes,
    Parameters,
    VaryingAmplitudes,
)
from skdp.emissions._binary_factors._model import OUTPUTS, BinaryFactorModel, check_outputs
from skdp.emissions._kernels_links import Links, start_links
from skdp.emissions._protocol import Coupling

N_ROUNDS_OF_LEAST_SQUARES = 50
N_ROUNDS_OF_GROUPING = 10


class FactorPrior(NamedTuple):
    """Priors of drawn weights and noise, by column."""

    middles: Floats  # (D,), prior means of the background
    scales: Floats  # (D,), prior standard deviations of weights
    shape: float  # of the Gamma priors of precisions
    rates: Floats  # (D,), of these priors


class BinaryFactorSampler(Part):
    """Sampler of the binary vectors of all states, weights and noise."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_values",)

    def __init__(
        self,
        n_states: int,
        n_factors: int,
        probit: NDArray[np.bool_],
        weights: NDArray[np.float64] | None,  # None: drawn
        noise_variance: NDArray[np.float64] | None,  # None: drawn
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

    def attach(self, values: NDArray[np.float64]) -> None:
        """Store the observations."""
        values, middles = check_outputs(values, self.probit), self.prior.middles
        self._values = as_readonly(values - middles if middles.any() else values)
        self.amplitudes.attach(self._values)

    def start(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
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

    def draw(
        self,
        states: NDArray[np.int64],
        rng: NDArray[np.uint64],
        coupling: Coupling | None = None,
    ) -> None:
        """Draw vectors, then weights, then noise, given the states and transitions if coupled."""
        filled = self._fill(states, rng)
        self._draw_factors(coupling, rng)
        self._draw_weights_and_noise(filled, states, rng)

    def write_log_obs(self, out: NDArray[np.float64]) -> None:
        """Write the log densities of all steps."""
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

    def all_weights(self) -> NDArray[np.float64]:
        """Return the weights of the observations as they are, (F + 1, D)."""
        return self._with_middles(self.weights)

    def _with_middles(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
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

    def _fill(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the observations, completed if amplitudes vary, and add up their statistics."""
        filled = self.amplitudes.fill(states, self._known, rng)
        self.amplitudes.add_up(filled, states, self._known)
        return filled

    def _draw_factors(self, coupling: Coupling | None, rng: NDArray[np.uint64]) -> None:
        """Draw the vectors of all states, last those without values and informative transitions."""
        idle = ~self.amplitudes.is_seen()
        links, decay = None, 0.0
        if coupling is not None and coupling.decay > 0.0:
            links, decay = make_links(coupling), coupling.decay
            start_links(links, self.factors, coupling.counts, decay)
            idle &= ~links.n_transitions.any(axis=1)
        n_factors = self.factors.shape[1]
        spins = self._spins()
        kernels.draw_busy_bits(
            spins, idle, *self.activity_prior, *self.amplitudes.evidence(self._known), links, decay,
            np.empty(n_factors), np.empty((2, n_factors), dtype=np.int64), rng,
        )  # fmt: skip
        self._draw_idle_bits(spins, idle, links, decay, rng)

    def _draw_idle_factors(self, idle: NDArray[np.bool_], rng: NDArray[np.uint64]) -> None:
        """Draw the vectors of some states from the prior given the other vectors."""
        self._draw_idle_bits(self._spins(), idle, None, 0.0, rng)

    def _draw_idle_bits(
        self,
        spins: NDArray[np.float64],
        idle: NDArray[np.bool_],
        links: Links | None,
        decay: float,
        rng: NDArray[np.uint64],
    ) -> None:
        kernels.draw_idle_bits(
            spins, idle, *self.activity_prior, links, decay, np.empty(len(idle)), rng
        )
        self.factors[:] = spins.T > 0.0

    def _spins(self) -> NDArray[np.float64]:
        """Return 2 theta - 1, (F, J)."""
        return np.ascontiguousarray(2.0 * self.factors.T - 1.0)

    def _draw_weights_and_noise(
        self, filled: NDArray[np.float64], states: NDArray[np.int64], rng: NDArray[np.uint64]
    ) -> None:
        self.amplitudes.draw(filled, states, self._known, rng)
        if self.draws_weights:
            self.amplitudes.draw_latent(self._known, rng)
        self._draw_given_latent(filled, states, rng)

    def _draw_given_latent(
        self, filled: NDArray[np.float64], states: NDArray[np.int64], rng: NDArray[np.uint64]
    ) -> None:
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

    def _weights_given(self, normals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return weights drawn with the given standard normals; zeros give their mean."""
        return self.amplitudes.weights_given(self._known, self.prior.scales, normals)

    def _begin_noise(self) -> None:
        """Begin with noise as wide as the columns."""
        self.precisions[:] = np.where(self.probit, 1.0, 1.0 / _spreads(self._values))

    def _threshold_activities(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
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

    def _fit_activities(self) -> NDArray[np.float64]:
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

    def _group_steps(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
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
    n_states = coupling.counts.shape[1]
    left = coupling.counts[:-1].sum(axis=1)
    square, row = (n_states, n_states), n_states
    return Links(
        log_rates=coupling.log_rates,
        log_rates_into=np.empty(square),
        n_transitions=np.empty(square),
        left=left.astype(np.float64),
        busy=np.flatnonzero(left),
        log_totals=np.empty(row),
        distances=np.empty(row),
        terms=np.empty(row),
        terms_into=np.empty(row),
        change=np.zeros(row),
        growth=np.empty(row),
        steps=np.empty(row),
        row=np.empty(row),
        all_distances=np.empty(square),
    )


def _center(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means of the columns; 0 if all values are missing."""
    seen = ~np.isnan(values)
    return np.where(seen, values, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)


def _spreads(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return variances of the columns; 1 for constant columns."""
    variances = _center((values - _center(values)) ** 2)
    return np.where(variances > 0.0, variances, 1.0)
