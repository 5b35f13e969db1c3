"""Sampler of observations for which every step has its own binary vector."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random import draw_key, next_double, shuffle
from skdp._numeric._typing import Floats, Places
from skdp.emissions._binary_factors._amplitudes import FixedAmplitudes, find_centers
from skdp.emissions._binary_factors._part import BinaryFactorSampler
from skdp.emissions._binary_factors._runs import Runs, find_factors
from skdp.sequence._factorial import _kernels_block as kernels
from skdp.sequence._factorial._known_bits import pad_known
from skdp.sequence._factorial._priors import BuffetNumber, GivenNumber, find_least
from skdp.sequence._factorial._run_moves import RunMoves
from skdp.sequence._hmm._batches import find_longest


class StepAmplitudes(FixedAmplitudes):
    """Amplitudes that are all 1; every step is a state, whose values are their own means."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *FixedAmplitudes._data_attributes,
        "counts",
        "means",
    )

    def attach(self, values: Floats) -> None:
        """Store the observations."""
        super().attach(values)
        self.counts = (~np.isnan(values)).astype(np.float64)
        self.means = np.where(self.counts > 0.0, values, 0.0)
        self._totals = np.where(self.probit, self._totals, self.means)

    def detach(self) -> None:
        """Drop the observations, and arrays that duplicate them."""
        super().detach()
        self._totals = np.where(self.probit, self._totals, 0.0)


class StepFactors(BinaryFactorSampler):
    """A `BinaryFactorSampler` in which each step is a state, with Markov chains as the prior."""

    amplitudes: StepAmplitudes

    def __init__(self, *parts: Any):
        super().__init__(*parts)
        self.amplitudes = StepAmplitudes(len(self.factors), self.probit)

    def start_paths(
        self, bits: NDArray[np.int8], runs: Runs | None, n_factors: int | None,
        rng: NDArray[np.uint64],
    ) -> None:  # fmt: skip
        """Start with given vectors or those that runs suggest, and draw their parameters."""
        if self.init == "random":
            self.factors = bits
        elif runs is None:  # weights are given
            self.factors[:] = self._fit_activities() >= 0.5
        else:
            self.factors = find_factors(runs, self.prior.scales, n_factors)
        if self.draws_weights:
            self.weights = np.zeros((self.factors.shape[1] + 1, len(self.probit)))
        if self.draws_noise:
            self._begin_noise()
        self._draw_weights_and_noise(self._values, self._steps(), rng)

    def draw_paths(
        self,
        ptr: NDArray[np.int64],
        known: NDArray[np.int8] | None,
        priors: GivenNumber | BuffetNumber,
        on_probs: NDArray[np.float64],
        block_size: int,
        rng: NDArray[np.uint64],
    ) -> None:
        """Draw vectors given the probabilities of being on, weights, noise and known bits."""
        # Slice sampling (Teh, Gorur and Ghahramani, 2007): factors that are never on take part if
        # their probability of switching on exceeds u ~ Uniform(0, a*), with a* the least one of the
        # factors that are ever on. Thus factors come and go.
        if isinstance(priors, BuffetNumber):
            idle_probs, idle_weights = priors.draw_idle(
                self.factors, on_probs, self.prior.scales, rng
            )
            on_probs = np.vstack([on_probs, idle_probs])
            self.weights = np.vstack([self.weights, idle_weights])
            none = np.zeros((len(self.factors), len(idle_probs)), dtype=np.int8)
            self.factors = np.hstack([self.factors, none])
        fits = np.ascontiguousarray(find_centers(self._known).T)
        all_known = pad_known(known, self.factors.shape[1])
        order = np.arange(self.factors.shape[1])
        shuffle(order, rng)
        n_rows = find_longest(ptr)
        key, own_rng = np.empty_like(rng), np.empty_like(rng)
        for first in range(0, len(order), block_size):
            block = order[first : first + block_size]
            n = 1 << len(block)
            shifts = np.empty((len(self.precisions), n))
            kernels.write_shifts(block, self.weights, shifts)
            draw_key(rng, key)
            before = (self.factors.copy(), fits.copy()) if priors.is_infinite else None
            impossible = kernels.draw_block(
                ptr, block, self.factors, all_known, on_probs[block], self._values, fits,
                self.precisions, self.probit, shifts, np.empty(n), np.empty(n),
                np.empty((n_rows, n)), key, own_rng,
            )  # fmt: skip
            if impossible >= 0:
                raise ValueError(
                    f"Sequence {impossible} has probability 0 under the current parameters: its "
                    "observations are too far from the others."
                )
            if before is not None and isinstance(priors, BuffetNumber):
                # u is Uniform(0, a*) before and after.
                ratio = find_least(before[0], on_probs) / find_least(self.factors, on_probs)
                if not priors.allows(self.factors, before[0]) or next_double(rng) >= ratio:
                    self.factors, fits = before
        if priors.is_infinite:
            active = self.factors.any(axis=0)
            self.factors = np.ascontiguousarray(self.factors[:, active])
            self.weights = self.weights[np.append(True, active)]

    def draw_parameters(
        self,
        moves: RunMoves | None,
        known: NDArray[np.int8] | None,
        priors: GivenNumber | BuffetNumber,
        rng: NDArray[np.uint64],
    ) -> None:
        """Draw weights and noise, after moves with the weights integrated out if there are any."""
        if moves is None:
            self._draw_weights_and_noise(self._values, self._steps(), rng)
            return
        self.amplitudes.draw_latent(self._known, rng)
        self.factors = moves.draw(
            self.factors, known, self.amplitudes.counts, self.amplitudes.totals, self.precisions,
            self.prior.scales, priors, rng,
        )  # fmt: skip
        self.weights = np.zeros((self.factors.shape[1] + 1, len(self.probit)))
        self._draw_given_latent(self._values, self._steps(), rng)

    def _steps(self) -> Places:
        """Return the state of every step, which is its own index."""
        return np.arange(len(self._values))
