"""The walker of the factorial hidden Markov model: all that a sweep draws."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from skdp.data import SequencePanel
from skdp.inference import Part
from skdp.sequence._factorial import _kernels_block as kernels
from skdp.sequence._factorial._alignment import FactorialDraw
from skdp.sequence._factorial._model import FactorialModel
from skdp.sequence._factorial._state import FactorialState
from skdp.sequence._factorial._step_factors import StepFactors


class FactorialWalker(Part):
    """Markov chain over activities, transitions, weights and noise of one panel.

    A sweep draws all activities of some factors given everything else, one such block after the
    other; then transitions, weights and noise given the activities.

    Parameters
    ----------
    panel : SequencePanel
    emission : StepFactors
    priors : (3, 2) array
        What Beta priors count for off and for on: at first, after off, after on.
    init_stream, stream : (4,) uint64 arrays
        Streams of the start and of the sweeps.
    block_size : int
        Number of factors that are drawn together.

    Attributes
    ----------
    on_probs : (F, 3) array
        Probabilities to be on: at first, after off, after on.
    counts : (F, 3, 2) array
        How often factors are off and on: at first, after off, after on.
    """

    _data_attributes: ClassVar[tuple[str, ...]] = ("_ptr",)

    def __init__(
        self,
        panel: SequencePanel,
        emission: StepFactors,
        priors: NDArray[np.float64],
        init_stream: NDArray[np.uint64],
        stream: NDArray[np.uint64],
        *,
        block_size: int,
    ):
        n_factors = emission.factors.shape[1]
        self.emission = emission
        self.priors = priors
        self.block_size = block_size
        self.stream = stream
        self.counts = np.zeros((n_factors, 3, 2), dtype=np.int64)
        self.on_probs = np.empty((n_factors, 3))
        self.attach(panel)
        kernels.draw_on_probs(self.counts, priors, self.on_probs, init_stream)
        emission.start_paths(panel.ptr, self.on_probs, init_stream)
        self._draw_transitions(init_stream)

    def attach(self, panel: SequencePanel) -> None:
        """Take the panel (again)."""
        self._ptr = panel.ptr
        self.emission.attach(panel.values)

    def sweep(self) -> None:
        """Draw the activities, weights and noise, then transitions."""
        self.emission.draw_paths(self._ptr, self.on_probs, self.block_size, self.stream)
        self._draw_transitions(self.stream)

    def _draw_transitions(self, rng: NDArray[np.uint64]) -> None:
        kernels.count_transitions(self._ptr, self.emission.factors, self.counts)
        kernels.draw_on_probs(self.counts, self.priors, self.on_probs, rng)

    def log_joint(self) -> float:
        """Return log p(x, activities, weights, noise), transitions summed out."""
        log_prior = kernels.log_probability_of_bits(self.counts, self.priors)
        return float(log_prior + self.emission.log_density())

    def scalars(self) -> dict[str, float]:
        """Return what the trace records."""
        shares = self.emission.factors.mean(axis=0)
        return {
            "log_joint": self.log_joint(),
            "activity": float(shares.mean()),
            "n_active_factors": float(np.count_nonzero(shares)),
        }

    def model(self) -> FactorialDraw:
        """Return the current draw; its model has means of the parameters given the activities."""
        emission, sums = self.emission.model(), self.counts + self.priors
        probs = sums / sums.sum(axis=2, keepdims=True)
        model = FactorialModel(
            startprob=probs[:, kernels.FIRST],
            transmat=probs[:, kernels.AFTER_OFF :],
            weights=emission.weights,
            noise_variance=emission.noise_variance,
            output=emission.output,
            shares=emission.factors.mean(axis=0),
        )
        return FactorialDraw(model, emission.factors, self.log_joint())

    def state(self) -> FactorialState:
        """Return a live view of the state."""
        return FactorialState(self)
