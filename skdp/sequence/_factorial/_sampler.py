"""Gibbs sampler of the factorial hidden Markov model."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Places
from skdp._part import Part
from skdp.data import SequencePanel
from skdp.sequence._factorial import _kernels_block as kernels
from skdp.sequence._factorial._alignment import FactorialDraw
from skdp.sequence._factorial._known_bits import name_paths, write_known
from skdp.sequence._factorial._model import FactorialModel
from skdp.sequence._factorial._priors import BuffetNumber, GivenNumber
from skdp.sequence._factorial._run_moves import RunMoves
from skdp.sequence._factorial._state import FactorialState
from skdp.sequence._factorial._step_factors import StepFactors
from skdp.sequence._hmm._hints import LabeledPanel
from skdp.sequence._observed_steps import observed_steps

N_WIDE_SWEEPS = 120
WIDEST_NOISE = 4.0
"""Variance in the first of these sweeps, relative to the variance of the noise."""


class FactorialSampler(Part):
    """Markov chain over activities, transitions, weights and noise of one panel."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_ptr", "_is_observed", "_known")
    _known: NDArray[np.int8] | None

    def __init__(
        self,
        panel: SequencePanel | LabeledPanel,
        emission: StepFactors,
        priors: GivenNumber | BuffetNumber,
        init_stream: NDArray[np.uint64],
        stream: NDArray[np.uint64],
        *,
        block_size: int,
    ):
        self.emission = emission
        self.priors = priors
        self.block_size = block_size  # factors that are drawn together
        self.stream = stream
        self.moves = RunMoves() if emission.draws_weights else None
        self.attach(panel)
        if emission.init == "random":
            bits, self.on_probs = priors.draw_bits(self._ptr, init_stream)
        else:
            n_factors = 0 if priors.is_infinite else emission.factors.shape[1]
            none = np.zeros((n_factors, 3, 2), dtype=np.int64)
            self.on_probs = priors.draw_on_probs(none, init_stream)
            bits = emission.factors
        emission.start_paths(
            bits, None if self.moves is None else self.moves.runs,
            None if priors.is_infinite else bits.shape[1], init_stream,
        )  # fmt: skip
        self._draw_transitions(init_stream)
        known = self._known
        self._known = None
        if self.moves is not None and emission.init == "data":
            self._anneal(self.moves.runs.scales, init_stream)
        if known is not None:
            self._begin_with(known, init_stream)

    def _begin_with(self, known: NDArray[np.int8], rng: NDArray[np.uint64]) -> None:
        """Name the first factors by known bits, which were ignored until now."""
        self._known, emission = known, self.emission
        if self.moves is None:
            write_known(known, emission.factors)
        else:
            emission.factors = name_paths(emission.factors, known)
            emission.weights = np.zeros((emission.factors.shape[1] + 1, len(emission.probit)))
        emission.draw_parameters(None, None, self.priors, rng)
        self._draw_transitions(rng)

    def _anneal(self, scales: Floats, rng: NDArray[np.uint64]) -> None:
        """Begin with sweeps in which the noise is wide and gradually narrows."""
        emission, priors, stream = self.emission, self.priors, self.stream
        draws_noise, n_factors = emission.draws_noise, emission.factors.shape[1]
        narrow = scales**-2.0 if draws_noise else emission.precisions.copy()
        emission.draws_noise, self.stream = False, rng
        # Factors come and go as in a buffet, because the right ones are found sooner with room for
        # more. Of these, the given number with the largest effects on the observations is kept.
        if isinstance(priors, GivenNumber):
            self.priors = BuffetNumber(priors.counts, (1.0, 1.0), len(emission.factors))
            self._keep(np.flatnonzero(emission.factors.any(axis=0)))
        for i in range(N_WIDE_SWEEPS):
            share = WIDEST_NOISE ** (i / N_WIDE_SWEEPS - 1.0)
            emission.precisions = np.where(emission.probit, 1.0, share * narrow)
            self.sweep()
        emission.precisions = np.where(emission.probit, 1.0, narrow)
        if isinstance(priors, GivenNumber):
            sizes = (emission.weights[1:] ** 2 @ emission.precisions) * emission.factors.sum(axis=0)
            self._keep(np.argsort(-sizes, kind="stable")[:n_factors])
            spare = n_factors - emission.factors.shape[1]
            emission.factors = np.pad(emission.factors, ((0, 0), (0, spare)))
            self.priors = priors
        emission.draws_noise, self.stream = draws_noise, stream
        emission.weights = np.zeros((emission.factors.shape[1] + 1, len(emission.probit)))
        emission.draw_parameters(None, None, self.priors, rng)
        self._draw_transitions(rng)

    def _keep(self, chosen: NDArray[np.intp]) -> None:
        """Drop all factors except the chosen ones."""
        emission = self.emission
        emission.factors = np.ascontiguousarray(emission.factors[:, chosen])
        emission.weights = np.vstack([emission.weights[:1], emission.weights[1:][chosen]])
        self.on_probs = self.on_probs[chosen]

    def attach(self, panel: SequencePanel | LabeledPanel) -> None:
        """Store the panel."""
        self._known = None
        if isinstance(panel, LabeledPanel):
            panel, self._known = panel
        self._ptr: Places = panel.ptr
        self._is_observed = observed_steps(panel.values)
        self.emission.attach(panel.values)
        if self.moves is not None:
            self.moves.attach(panel.ptr, panel.values)

    @property
    def known(self) -> NDArray[np.int8] | None:
        """Known bits of the first factors, (N, G), or None."""
        return self._known

    def sweep(self) -> None:
        """Draw the activities, moves of runs, weights and noise, then transitions."""
        self.emission.draw_paths(
            self._ptr, self._known, self.priors, self.on_probs, self.block_size, self.stream
        )
        self.emission.draw_parameters(self.moves, self._known, self.priors, self.stream)
        self._draw_transitions(self.stream)

    def _draw_transitions(self, rng: NDArray[np.uint64]) -> None:
        self.counts = np.empty((self.emission.factors.shape[1], 3, 2), dtype=np.int64)
        kernels.count_transitions(self._ptr, self.emission.factors, self.counts)
        self.on_probs = self.priors.draw_on_probs(self.counts, rng)
        self.priors.draw_mass(self.counts, rng)

    def log_joint(self) -> float:
        """Return log p(x, activities, weights, noise), with the transitions integrated out."""
        return self.priors.log_probability(self.counts) + self.emission.log_density()

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace."""
        shares = self._shares()
        return {
            "log_joint": self.log_joint(),
            "activity": float(shares.sum() / max(len(shares), 1)),
            "n_active_factors": float(np.count_nonzero(shares)),
            **self.priors.scalars(),
        }

    def _shares(self) -> Floats:
        """Return the share of the observed steps in which each factor is on, (F,)."""
        return np.asarray(self.emission.factors[self._is_observed].mean(axis=0))

    def model(self) -> FactorialDraw:
        """Return the current draw, whose model has parameter means given the activities."""
        emission, probs = self.emission.model(), self.priors.mean_probs(self.counts)
        model = FactorialModel(
            startprob=probs[:, kernels.FIRST],
            transmat=probs[:, kernels.AFTER_OFF :],
            weights=emission.weights,
            noise_variance=emission.noise_variance,
            output=emission.output,
            shares=self._shares(),
        )
        return FactorialDraw(model, emission.factors, self.log_joint())

    def state(self) -> FactorialState:
        """Return a live view of the state."""
        return FactorialState(self)
