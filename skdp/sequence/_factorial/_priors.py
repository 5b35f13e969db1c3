"""Priors of the paths of factors: a given number of factors, or an Indian buffet.

Both have the same methods, which are all that the sampler needs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._numeric._random import next_open_double
from skdp._numeric._typing import Floats, Places
from skdp._part import Part
from skdp.processes._indian_buffet import draw_mass, expected_features
from skdp.sequence._factorial import _kernels_block as kernels
from skdp.sequence._factorial import _kernels_buffet as buffet
from skdp.sequence._factorial._kernels_joint import AFTER_OFF, AFTER_ON, FIRST

MOST_FACTORS = 24
"""Number of factors that a buffet may have beyond twice the number that its prior expects."""


def find_least(bits: NDArray[np.int8], on_probs: Floats) -> float:
    """Return a*, the least probability of switching on of factors that are ever on, or 1."""
    return float(on_probs[bits.any(axis=0), AFTER_OFF].min(initial=1.0))


class GivenNumber(Part):
    """Prior of the paths of F factors: Beta distributions of their transitions."""

    is_infinite = False
    log_mass = 0.0
    most = 0

    def __init__(self, counts: Floats, n_factors: int):
        self.counts = counts  # (3, 2), pseudo-counts for off and on: at first, after off, after on
        self.n_factors = n_factors

    def draw_bits(self, ptr: Places, rng: NDArray[np.uint64]) -> tuple[NDArray[np.int8], Floats]:
        """Return a draw of paths, (N, F), and of their probabilities of being on."""
        none = np.zeros((self.n_factors, 3, 2), dtype=np.int64)
        on_probs = self.draw_on_probs(none, rng)
        bits = np.zeros((int(ptr[-1]), self.n_factors), dtype=np.int8)
        kernels.draw_paths(ptr, on_probs, bits, rng)
        return bits, on_probs

    def draw_on_probs(self, counts: Places, rng: NDArray[np.uint64]) -> Floats:
        """Return a draw of the probabilities of being on, (F, 3), given the counts."""
        on_probs = np.empty(counts.shape[:2])
        kernels.draw_on_probs(counts, self.counts, on_probs, rng)
        return on_probs

    def draw_mass(self, counts: Places, rng: NDArray[np.uint64]) -> None:
        """Do nothing: there is no buffet."""

    def mean_probs(self, counts: Places) -> Floats:
        """Return the posterior means of the probabilities of being off and on, (F, 3, 2)."""
        sums = counts + self.counts
        return np.asarray(sums / sums.sum(axis=2, keepdims=True))

    def log_probability(self, counts: Places) -> float:
        """Return log p(paths), with the transition probabilities integrated out."""
        return float(kernels.log_probability_of_bits(counts, self.counts))

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace."""
        return {}


class BuffetNumber(Part):
    """Prior of the paths of all factors that are ever on: a Markov Indian buffet."""

    is_infinite = True

    def __init__(self, counts: Floats, mass_prior: tuple[float, float], n_steps: int):
        # Switching on has only the count q for off, and first steps have no counts: a sequence
        # begins as if after a step with all factors off.
        self.counts = counts
        self.mass_prior = mass_prior
        self.expected = expected_features(n_steps, counts[AFTER_OFF, 0])
        self.mass = mass_prior[0] / mass_prior[1]  # alpha
        # Without a bound, values that are many standard deviations of the weights away would be
        # explained by ever more factors. The prior is that of the buffet given that it holds.
        self.most = MOST_FACTORS + math.ceil(2.0 * self.mass * self.expected)

    @property
    def log_mass(self) -> float:
        """Log alpha."""
        return float(np.log(self.mass))

    def draw_bits(self, ptr: Places, rng: NDArray[np.uint64]) -> tuple[NDArray[np.int8], Floats]:
        """Return a draw of paths given the mass, (N, K), and of their probabilities of being on."""
        room = 16
        while True:  # the same draw with more room
            bits, stream = np.zeros((int(ptr[-1]), room), dtype=np.int8), rng.copy()
            counts = np.zeros((room, 3, 2), dtype=np.int64)
            n = buffet.draw_buffet(ptr, self.counts, self.mass, counts, bits, stream)
            if n >= 0:
                break
            room *= 2
        rng[:] = stream
        n = min(n, self.most)
        return np.ascontiguousarray(bits[:, :n]), self.draw_on_probs(counts[:n], rng)

    def draw_on_probs(self, counts: Places, rng: NDArray[np.uint64]) -> Floats:
        """Return a draw of the probabilities of being on, (K, 3), given the counts."""
        on_probs = np.empty(counts.shape[:2])
        kernels.draw_on_probs(self._pool(counts), self._pooled_prior(), on_probs, rng)
        on_probs[:, FIRST] = on_probs[:, AFTER_OFF]
        return on_probs

    def draw_mass(self, counts: Places, rng: NDArray[np.uint64]) -> None:
        """Draw alpha given the number of factors."""
        self.mass = float(draw_mass(len(counts), self.expected, *self.mass_prior, rng))

    def draw_idle(
        self,
        bits: NDArray[np.int8],
        on_probs: Floats,
        scales: Floats,
        rng: NDArray[np.uint64],
    ) -> tuple[Floats, Floats]:
        """Return factors that are never on: probabilities of being on, (n, 3), weights, (n, D)."""
        # Only those whose probability of switching on exceeds u ~ Uniform(0, a*) are needed.
        level, room = next_open_double(rng) * find_least(bits, on_probs), 16
        while True:  # the same draw with more room
            probs, weights, stream = np.empty((room, 3)), np.empty((room, len(scales))), rng.copy()
            n = buffet.draw_idle(
                level, len(bits), self.counts, self.mass, scales, probs, weights, stream
            )
            if n >= 0:
                rng[:] = stream
                return probs[:n], weights[:n]
            room *= 2

    def allows(self, bits: NDArray[np.int8], before: NDArray[np.int8]) -> bool:
        """Return whether the number of factors ever on is within the bound or has not increased."""
        n = np.count_nonzero(bits.any(axis=0))
        return bool(n <= self.most or n <= np.count_nonzero(before.any(axis=0)))

    def mean_probs(self, counts: Places) -> Floats:
        """Return the posterior means of the probabilities of being off and on, (K, 3, 2)."""
        sums = self._pool(counts) + self._pooled_prior()
        probs = sums / sums.sum(axis=2, keepdims=True)
        probs[:, FIRST] = probs[:, AFTER_OFF]
        return np.asarray(probs)

    def log_probability(self, counts: Places) -> float:
        """Return log p(set of paths, log alpha), with the transitions integrated out."""
        shape, rate = self.mass_prior
        result = buffet.log_weight_of_paths(counts, self.counts)
        result += len(counts) * self.log_mass - self.mass * self.expected
        result += shape * (np.log(rate) + self.log_mass) - rate * self.mass - gammaln(shape)
        return float(result)

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace."""
        return {"mass": self.mass}

    def _pool(self, counts: Places) -> Places:
        """Return counts in which first steps count as steps after off."""
        pooled = counts.copy()
        pooled[:, AFTER_OFF] += pooled[:, FIRST]
        pooled[:, FIRST] = 0
        return pooled

    def _pooled_prior(self) -> Floats:
        """Return the pseudo-counts for a factor that is ever on: B(m, r + q)."""
        q = self.counts[AFTER_OFF, 0]
        return np.array([[1.0, 1.0], [q, 0.0], self.counts[AFTER_ON]])
