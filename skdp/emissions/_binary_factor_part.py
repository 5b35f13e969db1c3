"""Binary vectors of the states, weights and noise, as a part of a chain."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._random import next_double
from skdp.emissions import _kernels_factor_starts as starts
from skdp.emissions import _kernels_factors as kernels
from skdp.emissions._binary_factor_model import OUTPUTS, BinaryFactorModel, check_outputs, weigh
from skdp.emissions._factor_amplitudes import NO_PROJECTIONS, AmplitudeSampler
from skdp.emissions._kernels_links import Links, start_links
from skdp.emissions._protocol import Coupling

N_ROUNDS_OF_LEAST_SQUARES = 50
N_ROUNDS_OF_GROUPING = 10


class BinaryFactorSampler:
    """Binary vectors of all states, weights and noise, as a part of a chain.

    Parameters
    ----------
    n_states, n_factors : int
    probit : (D,) array of bool
    weights : (F + 1, D) array or None
        None: drawn.
    weights_scale : float
    noise_variance : (D,) array or None
        None: drawn.
    noise_prior, activity_prior : (float, float)
    init : {"data", "random"}
    amplitudes : AmplitudeSampler or None
        None: they are all 1.

    Attributes
    ----------
    factors : (J, F) array of int8
        theta.
    weights : (F + 1, D) array
    precisions : (D,) array
        1 / sigma^2; 1 for probit columns.
    """

    def __init__(
        self,
        n_states: int,
        n_factors: int,
        probit: NDArray[np.bool_],
        weights: NDArray[np.float64] | None,
        weights_scale: float,
        noise_variance: NDArray[np.float64] | None,
        noise_prior: tuple[float, float],
        activity_prior: tuple[float, float],
        init: str,
        amplitudes: AmplitudeSampler | None = None,
    ):
        n_dims = len(probit)
        self.amplitudes = amplitudes
        self.probit = probit
        self.weights_scale = weights_scale
        self.noise_prior, self.activity_prior = noise_prior, activity_prior
        self.init = init
        self.draws_weights, self.draws_noise = weights is None, noise_variance is None
        self.factors = np.zeros((n_states, n_factors), dtype=np.int8)
        self.weights = np.zeros((n_factors + 1, n_dims)) if weights is None else weights
        self.precisions = np.ones(n_dims) if noise_variance is None else 1.0 / noise_variance
        self.sizes = np.zeros((n_states, n_dims))
        self.means = np.zeros((n_states, n_dims))
        self.squares = np.zeros(n_dims)
        self._totals = np.zeros((n_states, n_dims))

    def attach(self, values: NDArray[np.float64]) -> None:
        """Take the observations."""
        self._values = check_outputs(values, self.probit)
        if self.amplitudes is not None:
            self.amplitudes.attach(self._values)

    def detach(self) -> None:
        """Drop the observations."""
        del self._values
        if self.amplitudes is not None:
            self.amplitudes.detach()

    def start(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Write first states, and begin with vectors, weights and noise that fit them."""
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
        self._add_up(filled, states)
        self._draw_weights_and_noise(filled, states, rng)

    def draw(
        self,
        states: NDArray[np.int64],
        rng: NDArray[np.uint64],
        coupling: Coupling | None = None,
    ) -> None:
        """Draw vectors, then weights, then noise, given the states and transitions if coupled."""
        filled = self._fill(states, rng)
        self._add_up(filled, states)
        self._draw_factors(coupling, rng)
        self._draw_weights_and_noise(filled, states, rng)

    def write_log_obs(self, out: NDArray[np.float64]) -> None:
        """Write the log densities of all steps."""
        if self.amplitudes is not None:
            self.amplitudes.write_log_obs(self.factors, self.weights, self.precisions, out)
            return
        weigh(self._values, self._centres(), self.precisions, self.probit, out)

    def log_evidence(self) -> float:
        """Return log p(x, vectors, weights, noise | z), mu summed out.

        Parameters cannot all be summed out, so that this is a joint density; that of precisions is
        of their logs.
        """
        log_prior = kernels.log_prior_of_factors(self.factors, *self.activity_prior)
        return float(log_prior + self.log_density())

    def log_density(self) -> float:
        """Return log p(x, weights, noise, variance of amplitudes | z, vectors)."""
        result = self._log_likelihood()
        if self.draws_weights:
            scaled = self.weights / self.weights_scale
            result -= 0.5 * float((scaled**2).sum())
            result -= scaled.size * (kernels.HALF_LOG_2_PI + np.log(self.weights_scale))
        if self.draws_noise:
            shape, rate = self.noise_prior
            scaled = rate * self.precisions[~self.probit]
            result += float((shape * np.log(scaled) - scaled - gammaln(shape)).sum())
        if self.amplitudes is not None:
            result += self.amplitudes.log_density()
        return float(result)

    def model(self) -> BinaryFactorModel:
        """Return the vectors last drawn, with means of weights and precisions given them.

        Those of weights are given the latent normals of probit columns, too, and those of
        precisions the weights last drawn: exact in turn, no draws of their own.
        """
        weights, variances = self.weights, 1.0 / self.precisions
        if self.draws_weights:
            weights = self._weights_given(np.zeros(self.weights.shape))
        if self.draws_noise:
            seen, residuals = self._noise()
            shape, rate = self.noise_prior
            variances = np.where(self.probit, 1.0, (rate + 0.5 * residuals) / (shape + 0.5 * seen))
        output = tuple(OUTPUTS[int(kind)] for kind in self.probit)
        spread = 0.0 if self.amplitudes is None else self.amplitudes.mean_variance()
        return BinaryFactorModel(self.factors.copy(), weights.copy(), variances, output, spread)

    def copy(self) -> Self:
        """Return the same parameters in arrays of their own."""
        other = object.__new__(type(self))
        other.__dict__ = {
            name: value.copy() if isinstance(value, np.ndarray) and name != "_values" else value
            for name, value in self.__dict__.items()
        }
        if self.amplitudes is not None:
            other.amplitudes = self.amplitudes.copy()
        return other

    @property
    def amplitude_variance(self) -> float:
        """tau^2, 0 if amplitudes are all 1."""
        return 0.0 if self.amplitudes is None else self.amplitudes.variance

    def _fill(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the observations; if amplitudes vary with draws in the place of missing values."""
        if self.amplitudes is None:
            return self._values
        return self.amplitudes.fill(states, self.factors, self.weights, self.precisions, rng)

    def _add_up(self, filled: NDArray[np.float64], states: NDArray[np.int64]) -> None:
        kernels.add_up_observed(filled, states, self.sizes, self.means, self.squares)
        if self.amplitudes is not None:
            self.amplitudes.add_up(filled, states, self.weights, self.precisions)

    def _centres(self) -> NDArray[np.float64]:
        """Return m, (D, J)."""
        centres = np.empty(self.sizes.shape[::-1])
        kernels.write_centres(self.factors, self.weights, centres)
        return centres

    def _noise(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the number of values of every column, and their squared distances from m.

        If amplitudes vary, from what they make of the factors.
        """
        if self.amplitudes is not None:
            return self.amplitudes.noise()
        centres = self._centres()
        seen, residuals = np.empty(len(self.probit)), np.empty(len(self.probit))
        kernels.add_up_noise(self.sizes, self.means, self.squares, centres, seen, residuals)
        return seen, residuals

    def _draw_factors(self, coupling: Coupling | None, rng: NDArray[np.uint64]) -> None:
        idle = ~self.sizes.any(axis=1)
        coupled = coupling is not None and coupling.decay > 0.0
        links, decay = _NO_LINKS, 0.0
        if coupling is not None and coupled:
            links, decay = make_links(coupling), coupling.decay
            start_links(links, self.factors, coupling.counts, decay)
            idle &= ~links.moves.any(axis=1)
        varied = self.amplitudes is not None
        seen = NO_PROJECTIONS if self.amplitudes is None else self.amplitudes.projections()
        n_states, n_factors = self.factors.shape
        kernels.draw_factors(
            self.factors, self.weights, self.sizes, self.means, self.precisions, self.probit,
            idle, *self.activity_prior, coupled, decay, links, varied, seen,
            np.empty((n_factors, n_states)), np.empty(n_factors),
            np.empty((2, len(self.probit))), np.empty(n_states),
            np.empty((2, n_factors), dtype=np.int64), rng,
        )  # fmt: skip

    def _draw_idle_factors(self, idle: NDArray[np.bool_], rng: NDArray[np.uint64]) -> None:
        """Draw the vectors of some states from the prior given those of the others."""
        spins = np.ascontiguousarray(2.0 * self.factors.T - 1.0)
        before = np.empty(len(idle))
        kernels.draw_idle_bits(
            spins, idle, *self.activity_prior, False, 0.0, _NO_LINKS, before, rng
        )
        self.factors[:] = spins.T > 0.0

    def _draw_weights_and_noise(
        self, filled: NDArray[np.float64], states: NDArray[np.int64], rng: NDArray[np.uint64]
    ) -> None:
        varying = self.amplitudes
        if varying is not None:
            varying.draw(filled, states, self.factors, self.weights, self.precisions, rng)
        if self.draws_weights:
            if varying is None:
                centres = self._centres()
                kernels.add_up_latent(
                    self.sizes, self.means, self.probit, centres, self._totals, rng
                )
            normals = np.empty(self.weights.shape)
            kernels.draw_normals(normals, rng)
            self.weights = self._weights_given(normals)
        if varying is not None:
            varying.add_up_residuals(filled, self.weights)
        if self.draws_noise:
            kernels.draw_precisions(
                *self._noise(), self.probit, *self.noise_prior, self.precisions, rng
            )
        if varying is not None:
            varying.add_up_likelihood(states, self.factors, self.weights, self.precisions)

    def _weights_given(self, normals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a draw of the weights made of standard normal draws; their mean if these are 0."""
        if self.amplitudes is not None:
            return self.amplitudes.weights_given(self.precisions, self.weights_scale, normals)
        weights = np.empty(normals.shape)
        factor = np.empty((len(normals), len(normals)))
        kernels.write_weights(
            self.factors, self.sizes, self._totals, self.precisions, self.weights_scale, normals,
            weights, factor,
        )  # fmt: skip
        return weights

    def _log_likelihood(self) -> float:
        """Return log p(y given the states last given and parameters)."""
        if self.amplitudes is not None:
            return self.amplitudes.log_likelihood
        centres = self._centres()
        return float(
            kernels.log_likelihood(
                self.sizes, self.means, self.probit, centres, self.precisions, *self._noise()
            )
        )

    def _begin_noise(self) -> None:
        """Begin with noise as wide as the columns."""
        spreads = _spreads(self._values)
        self.precisions[:] = np.where(self.probit, 1.0, 1.0 / spreads)

    def _threshold_activities(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Let the most frequent vectors of a fit by least squares be states.

        A step whose vector is none of them goes to the one at the least Hamming distance.
        """
        n_states = len(self.factors)
        vectors, labels, counts = np.unique(
            self._fit_activities() >= 0.5, axis=0, return_inverse=True, return_counts=True
        )
        order = np.argsort(-counts, kind="stable")[:n_states]
        chosen = vectors[order].astype(np.int8)
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

    def _group_steps(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Group similar steps, into at most as many groups as there are vectors."""
        n_states, n_factors = self.factors.shape
        n_groups = min(n_states, 2 ** min(n_factors, 62), len(states))
        n_dims = len(self.probit)
        starts.group_steps(
            self._values, 1.0 / _spreads(self._values), _centre(self._values),
            N_ROUNDS_OF_GROUPING, np.empty((n_groups, n_dims)), np.empty((n_groups, n_dims)),
            np.empty(len(states)), states, rng,
        )  # fmt: skip


def make_links(coupling: Coupling) -> Links:
    """Return room for what transitions tell of vectors; `start_links` fills it."""
    n_states = coupling.counts.shape[1]
    left = coupling.counts[:-1].sum(axis=1)
    square, row = (n_states, n_states), n_states
    return Links(
        log_rates=coupling.log_rates,
        log_rates_into=np.empty(square),
        moves=np.empty(square),
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


_NO_LINKS = make_links(Coupling(0.0, np.zeros((1, 0), dtype=np.int64), np.zeros((1, 0))))


def _centre(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means of the columns, 0 where all is missing."""
    seen = ~np.isnan(values)
    return np.where(seen, values, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)


def _spreads(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return variances of the columns, 1 where they do not vary."""
    variances = _centre((values - _centre(values)) ** 2)
    return np.where(variances > 0.0, variances, 1.0)
