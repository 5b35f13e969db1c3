"""Observations where every step has a binary vector of its own."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skdp._random import draw_key
from skdp._typing import Floats
from skdp.emissions._binary_factor_part import BinaryFactorSampler
from skdp.emissions._factor_amplitudes import FixedAmplitudes, find_centres
from skdp.sequence._factorial import _kernels_block as kernels
from skdp.sequence._hmm._batches import find_longest


class StepAmplitudes(FixedAmplitudes):
    """Amplitudes that are all 1, where every step is a state: its values are their own means."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *FixedAmplitudes._data_attributes,
        "counts",
        "means",
    )

    def attach(self, values: Floats) -> None:
        """Take the observations."""
        super().attach(values)
        self.counts = (~np.isnan(values)).astype(np.float64)
        self.means = np.where(self.counts > 0.0, values, 0.0)
        self._totals = np.where(self.probit, self._totals, self.means)

    def detach(self) -> None:
        """Drop the observations, and what says the same."""
        super().detach()
        self._totals = np.where(self.probit, self._totals, 0.0)


class StepFactors(BinaryFactorSampler):
    """Sampler of the binary vectors of all steps, weights and noise.

    The observations of `BinaryFactorSampler`, every step a state: `factors` has a row a step, and
    its prior is that of F Markov chains, given by the probabilities to be on.

    Parameters
    ----------
    *parts : as of `BinaryFactorSampler`
    """

    def __init__(self, *parts: Any):
        super().__init__(*parts)
        self.amplitudes = StepAmplitudes(len(self.factors), self.probit)

    def start_paths(
        self, ptr: NDArray[np.int64], on_probs: NDArray[np.float64], rng: NDArray[np.uint64]
    ) -> None:
        """Begin with vectors that the data suggest, or random ones, and what fits them."""
        if self.init == "random" or self.draws_weights:
            kernels.draw_paths(ptr, on_probs, self.factors, rng)
        else:
            self.factors[:] = self._fit_activities() >= 0.5
        if self.draws_noise:
            self._begin_noise()
        self._draw_parameters(rng)

    def draw_paths(
        self,
        ptr: NDArray[np.int64],
        on_probs: NDArray[np.float64],
        block_size: int,
        rng: NDArray[np.uint64],
    ) -> None:
        """Draw vectors given the probabilities to be on, then weights, then noise."""
        fits = np.ascontiguousarray(find_centres(self._known).T)
        order = np.arange(self.factors.shape[1])
        kernels.shuffle(order, rng)
        n_rows = find_longest(ptr)
        key, own_rng = np.empty_like(rng), np.empty_like(rng)
        for first in range(0, len(order), block_size):
            block = order[first : first + block_size]
            n = 1 << len(block)
            shifts = np.empty((len(self.precisions), n))
            kernels.write_shifts(block, self.weights, shifts)
            draw_key(rng, key)
            impossible = kernels.draw_block(
                ptr, block, self.factors, on_probs[block], self._values, fits, self.precisions,
                self.probit, shifts, np.empty(n), np.empty(n), np.empty((n_rows, n)), key,
                own_rng,
            )  # fmt: skip
            if impossible >= 0:
                raise ValueError(
                    f"Sequence {impossible} has probability 0 under the current parameters: its "
                    "observations are too far from the others."
                )
        self._draw_parameters(rng)

    def _draw_parameters(self, rng: NDArray[np.uint64]) -> None:
        """Draw weights and noise: every step is a state."""
        self._draw_weights_and_noise(self._values, np.arange(len(self._values)), rng)
