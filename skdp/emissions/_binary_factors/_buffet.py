"""Sampler of binary vectors whose number of factors is inferred: an Indian buffet of the states."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from skdp._numeric._random import next_double
from skdp._numeric._typing import Floats
from skdp.emissions._binary_factors import _kernels as kernels
from skdp.emissions._binary_factors import _kernels_buffet as buffet
from skdp.emissions._binary_factors._amplitudes import FixedAmplitudes
from skdp.emissions._binary_factors._model import BinaryFactorModel
from skdp.emissions._binary_factors._part import BinaryFactorSampler, make_links
from skdp.emissions._kernels_links import Links, start_links
from skdp.emissions._protocol import Coupling
from skdp.processes._indian_buffet import draw_mass, expected_features

MOST_FACTORS = 24
"""Number of factors that a buffet may have beyond twice the number that its prior expects."""


def find_most(n_states: int, concentration: float, mass_prior: tuple[float, float]) -> float:
    """Return the largest number of factors that a buffet may have."""
    expected = expected_features(n_states, concentration)
    return MOST_FACTORS + math.ceil(2.0 * mass_prior[0] / mass_prior[1] * expected)


class BuffetFactorSampler(BinaryFactorSampler):
    """Sampler of the binary vectors of all states, with a buffet prior, weights and noise."""

    amplitudes: FixedAmplitudes
    _data_attributes: ClassVar[tuple[str, ...]] = BinaryFactorSampler._data_attributes

    def __init__(self, *parts: Any, mass_prior: tuple[float, float]):
        super().__init__(*parts)
        n_states, self.concentration = len(self.factors), self.activity_prior[1]
        self.mass_prior = mass_prior
        self.mass = mass_prior[0] / mass_prior[1]  # alpha
        self.expected = expected_features(n_states, self.concentration)
        # The prior has this bound: without it, values many standard deviations of the weights away
        # would be explained by ever more factors.
        self.most_factors = int(find_most(n_states, self.concentration, mass_prior))

    def draw(
        self, states: NDArray[np.int64], rng: NDArray[np.uint64], coupling: Coupling | None = None
    ) -> None:
        """Draw vectors and their number, then the mass, weights and noise."""
        filled = self._fill(states, rng)
        idle, links, decay = self._find_idle(coupling)
        spins, weights = self._with_room(idle, keep_idle=links is not None)
        n_used = int(np.count_nonzero((spins > 0.0).any(axis=1)))  # they come first
        moments = kernels.Moments(
            self.amplitudes.counts, self.amplitudes.means, weights[: n_used + 1], self.precisions,
            self.probit, *np.empty((2, len(self.probit))),
        )  # fmt: skip
        prior = 0.0, self.concentration
        kernels.draw_busy_bits(
            spins[:n_used], idle, *prior, moments, None, links, decay, np.empty(n_used),
            np.empty((2, n_used), dtype=np.int64), rng,
        )  # fmt: skip
        self._keep_used(spins, weights)
        # Given the latent normals of probit columns, draw bits once more, and the number of
        # factors, with the weights of factors that a single state has integrated out.
        self.amplitudes.draw_latent(self._known, rng)
        spins, weights = self._with_room(idle, keep_idle=links is not None)
        n_counted = len(idle) - (0 if links is not None else np.count_nonzero(idle))
        log_new = self._log_weights_of_new(int(n_counted))
        rate = self.mass * self.concentration / (self.concentration + max(n_counted, 1) - 1.0)
        log_room = np.logaddexp.accumulate(log_new)[::-1].copy()
        room, n_dims = self.most_factors, len(self.probit)
        n_on, places = np.empty(room), np.empty(room, dtype=np.int64)
        buffet.draw_buffet_bits(
            spins, weights, idle, self.concentration, rate, log_room, self.amplitudes.counts,
            self.amplitudes.totals, self.precisions, self.prior.scales, links, decay, n_on,
            np.empty(n_dims), rng,
        )  # fmt: skip
        buffet.exchange_meanings(
            spins, weights, idle, self.concentration, self.prior.scales, links, decay, n_on, places,
            rng,
        )  # fmt: skip
        buffet.split_or_merge_equals(
            spins, weights, idle, self.mass, self.concentration, log_room, self.prior.scales, links,
            decay, n_on, places, np.empty(room, dtype=np.bool_), np.empty(n_dims), rng,
        )  # fmt: skip
        kernels.draw_idle_bits(spins, idle, *prior, links, decay, np.empty(len(idle)), rng)
        self._keep_used(spins, weights)
        if links is None and idle.any():
            self._draw_factors_of_idle(idle, log_new, rng)
        self.mass = float(draw_mass(self.factors.shape[1], self.expected, *self.mass_prior, rng))
        self._draw_given_latent(filled, states, rng)

    def log_evidence(self) -> float:
        """Return log p(x, set of factors, weights, noise, log mass | z)."""
        shape, rate = self.mass_prior
        result = buffet.log_weight_of_vectors(self.factors, self.concentration)
        result += self.factors.shape[1] * math.log(self.mass) - self.mass * self.expected
        result += shape * math.log(rate * self.mass) - rate * self.mass - math.lgamma(shape)
        return float(result + self.log_density())

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace."""
        on = self.factors[self.amplitudes.is_seen()].any(axis=0)
        return {"n_active_factors": float(np.count_nonzero(on)), "mass": self.mass}

    def model(self) -> BinaryFactorModel:
        """Return the vectors last drawn, ordered by use, with means of weights and precisions."""
        model = super().model()
        sizes = self.amplitudes.counts.sum(axis=1) @ self.factors
        order = np.argsort(-sizes, kind="stable")
        weights = np.vstack([model.weights[:1], model.weights[1:][order]])
        return replace(model, factors=model.factors[:, order], weights=weights)

    def _most_groups(self) -> int:
        """Return the number of states: there are as many vectors."""
        return len(self.factors)

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

    def _with_room(self, idle: NDArray[np.bool_], *, keep_idle: bool) -> tuple[Floats, Floats]:
        """Return spins, (C, J), and weights, (C + 1, D), with room for all possible factors.
        Without `keep_idle` factors that only idle states have are left out.
        """
        factors = self.factors if keep_idle else np.where(idle[:, np.newaxis], 0, self.factors)
        used = factors.any(axis=0)
        n_used, (n_states, n_dims) = np.count_nonzero(used), self.amplitudes.counts.shape
        spins, weights = (
            np.full((self.most_factors, n_states), -1.0),
            np.zeros((self.most_factors + 1, n_dims)),
        )
        spins[:n_used] = 2.0 * factors.T[used] - 1.0
        weights[0], weights[1 : n_used + 1] = self.weights[0], self.weights[1:][used]
        return spins, weights

    def _keep_used(self, spins: Floats, weights: Floats) -> None:
        """Store the factors that at least one state has."""
        on = spins > 0.0
        used = on.any(axis=1)
        self.factors = np.ascontiguousarray(on[used].T.astype(np.int8))
        self.weights = np.ascontiguousarray(np.vstack([weights[:1], weights[1:][used]]))

    def _log_weights_of_new(self, n_counted: int) -> Floats:
        """Return the log weights of the numbers of factors that only uncounted states have."""
        expected = self.expected - expected_features(n_counted, self.concentration)
        numbers = np.arange(self.most_factors + 1.0)
        rate = self.mass * max(expected, 0.0) if n_counted < len(self.factors) else 0.0
        return np.asarray(xlogy(numbers, rate) - gammaln(numbers + 1.0))

    def _draw_factors_of_idle(
        self, idle: NDArray[np.bool_], log_new: Floats, rng: NDArray[np.uint64]
    ) -> None:
        """Draw the factors that only idle states have."""
        n_used = self.factors.shape[1]
        log_new = log_new[: self.most_factors - n_used + 1]
        sums = np.cumsum(np.exp(log_new - log_new.max()))
        n_new = int(np.searchsorted(sums, next_double(rng) * sums[-1], side="right"))
        n_new = min(n_new, len(sums) - 1)
        spins = np.full((n_used + n_new, len(idle)), -1.0)
        spins[:n_used] = 2.0 * self.factors.T - 1.0
        buffet.add_idle_columns(spins, idle, n_used, n_new, self.concentration, rng)
        self._keep_used(spins, np.vstack([self.weights, np.zeros((n_new, len(self.probit)))]))
