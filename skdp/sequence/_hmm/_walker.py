"""The walker of the hidden Markov model: all that a sweep draws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skdp.data import SequencePanel
from skdp.emissions._protocol import CollapsedEmission, EmissionSampler, looks_back
from skdp.inference import Part
from skdp.sequence._durations._protocol import DurationSampler
from skdp.sequence._hmm._messages import HMMMessages
from skdp.sequence._hmm._model import HMMModel, count_active
from skdp.sequence._hmm._opening import Opening, find_order
from skdp.sequence._hmm._segment_messages import SegmentMessages
from skdp.sequence._hmm._split_merge import SplitMerge
from skdp.sequence._hmm._state import HMMState
from skdp.sequence._hmm._transitions import Transitions
from skdp.sequence._similarities._fixed import FixedSimilaritySampler
from skdp.sequence._similarities._protocol import EmissionCoupledSampler, SimilaritySampler

STATE_SAMPLERS = {
    "ffbs": HMMMessages.sample_states,
    "beam": HMMMessages.sample_states_by_beam,
}

FIRST_PERIOD, N_FIRST, LATER_PERIOD = 2, 250, 5
"""A split or merge is tried every second of the first sweeps, every fifth of the others."""


class HMMDraw(NamedTuple):
    """A draw of the states of the training data, and the model that goes with it.

    What is needed to give states names; the model alone is what an estimator stores.

    Attributes
    ----------
    model : HMMModel
    states : (N,) array of int32
        Of the training data.
    log_joint : float
    """

    model: HMMModel
    states: NDArray[np.int32]
    log_joint: float


class HMMWalker(Part):
    """Markov chain over states, transitions and observations' parameters of one panel.

    A sweep draws the states of all sequences given everything else, as blocks, then transitions,
    concentrations and parameters given the states.

    Parameters
    ----------
    panel : SequencePanel
    transitions : Transitions
    emission : EmissionSampler
    init_stream, stream : (4,) uint64 arrays
        Streams of the first states and of the sweeps.
    similarity : SimilaritySampler or None
    duration : DurationSampler or None
        None: a state lasts as long as transitions to itself follow each other.
    state_sampler : {"ffbs", "beam"}
    n_held : int, default=0
        First sweeps in which concentrations, stickiness and what similarities choose to hold stay
        where they began. Learned from the start, when states follow each other at random,
        concentrations leave few states, and similarities none that differ.
    init : {"auto", "random"} or (N,) array of int, default="auto"
        First states. "auto": see `Opening`, if parameters of the observations can be summed out;
        "random", and otherwise: as the emission starts them.
    """

    _data_attributes: ClassVar[tuple[str, ...]] = ("_ptr", "_log_obs")

    def __init__(
        self,
        panel: SequencePanel,
        transitions: Transitions,
        emission: EmissionSampler,
        init_stream: NDArray[np.uint64],
        stream: NDArray[np.uint64],
        *,
        similarity: SimilaritySampler | None = None,
        duration: DurationSampler | None = None,
        state_sampler: str = "ffbs",
        n_held: int = 0,
        init: Any = "auto",
    ):
        self.n_held = n_held
        self.transitions = transitions
        self.emission = emission
        self.similarity = similarity
        self.duration = duration
        self.state_sampler = state_sampler
        self.stream = stream
        self.states = np.zeros(len(panel.values), dtype=np.int64)
        self.attach(panel)
        self.n_sweeps = 0
        self._start(init_stream, init)
        self._hold_emission()
        emission.draw(self.states, init_stream)
        if similarity is not None:
            similarity.start(emission, init_stream)
            transitions.take_similarity(similarity, emission)
        if duration is not None:
            duration.start(init_stream)
        self._draw_parameters(init_stream)

    def attach(self, panel: SequencePanel) -> None:
        """Take the panel (again)."""
        self._ptr = panel.ptr
        self._log_obs = np.empty((len(panel.values), self.transitions.n_states))
        self.emission.attach(panel.values, *([panel.ptr] if looks_back(self.emission) else []))

    def detach(self) -> None:
        """Drop the panel and what follows from it."""
        super().detach()
        if not isinstance(self.emission, Part):
            self.emission.detach()

    def copy(self) -> Self:
        """Return a walker that holds the same state in arrays of its own."""
        other = super().copy()
        for name in ("emission", "similarity", "duration"):
            part = getattr(self, name)
            if part is not None and not isinstance(part, Part):  # made by a user's own class
                setattr(other, name, part.copy())
        return other

    def sweep(self) -> None:
        """Draw the states, then everything else."""
        self.emission.write_log_obs(self._log_obs)
        known = self._ptr, *self.transitions.matrix(), self._log_obs
        if self.duration is not None:
            segments = SegmentMessages(*known, *self.duration.tables())
            impossible = segments.sample_states(self.states, self.stream)
        else:
            draw_states = STATE_SAMPLERS[self.state_sampler]
            impossible = draw_states(HMMMessages(*known), self.states, self.stream)
        if impossible >= 0:
            raise ValueError(
                f"Sequence {impossible} has probability 0 under the current parameters: its "
                "observations are too far from the others, or states cannot last long enough."
            )
        moved = self._is_due() and self._split_or_merge()
        self._draw_parameters(self.stream, rates_known=not moved)
        self.n_held = max(self.n_held - 1, 0)
        self.n_sweeps += 1

    def _start(self, rng: NDArray[np.uint64], init: Any) -> None:
        """Write the first states."""
        if isinstance(init, str):
            emission: Any = self.emission
            can_split = isinstance(emission, CollapsedEmission) and emission.starts_with_one_state
            if init == "auto" and can_split:
                Opening(self._ptr, self.states, self.transitions, emission, rng).run()
            else:
                emission.start(self.states, rng)
            if isinstance(self.similarity, FixedSimilaritySampler):
                known = self.similarity.log_similarity
                self.states[:] = find_order(self._ptr, self.states, known)[self.states]
        else:
            self.states[:] = init

    def _is_due(self) -> bool:
        """Tell whether to split or merge in this sweep."""
        period = FIRST_PERIOD if self.n_sweeps < N_FIRST else LATER_PERIOD
        return self._can_move and self.n_sweeps % period == 0

    @property
    def _can_move(self) -> bool:
        """Whether parameters and rates can be summed out of the joint of the states."""
        return self.duration is None and isinstance(self.emission, CollapsedEmission)

    def _split_or_merge(self) -> bool:
        """Return whether the states have changed, so that rates and parameters are out of date."""
        emission: Any = self.emission
        emission.complete(self.states, self.stream)
        similarity: Any = self.similarity if self._is_coupled else None
        return SplitMerge(
            self._ptr, self.states, self.transitions, emission, self.stream, similarity
        ).try_once()

    @property
    def _is_coupled(self) -> bool:
        """Whether similarities depend on the parameters of the observations."""
        return isinstance(self.similarity, EmissionCoupledSampler)

    def _hold_emission(self) -> None:
        """Let an emission that draws a concentration know whether it is held."""
        if hasattr(self.emission, "held"):
            self.emission.held = self.n_held > 0

    def _draw_parameters(self, rng: NDArray[np.uint64], *, rates_known: bool = True) -> None:
        transitions, similarity = self.transitions, self.similarity
        hold = self.n_held > 0
        transitions.draw(self._ptr, self.states, rng, hold=hold, rates_known=rates_known)
        if self.duration is not None:
            self.duration.draw(self._ptr, self.states, rng)
        self._hold_emission()
        if similarity is None:
            self.emission.draw(self.states, rng)
            return
        if isinstance(similarity, EmissionCoupledSampler):
            similarity.draw_with_emission(transitions.timed(), self.states, self.emission, rng)
            transitions.take_similarity(similarity, self.emission)
            transitions.redraw_rates(rng)
            return
        given = transitions.counts_and_rates()
        similarity.draw(*given, self.emission, rng, hold=hold)
        self.emission.draw(self.states, rng, similarity.coupling(*given))
        transitions.take_similarity(similarity, self.emission)

    def log_joint(self) -> float:
        """Return log p(x, states, beta, parameters of similarities and durations).

        Rates of transitions are summed out, and parameters of observations where that can be
        done: the densities of hundreds of tiny rates would drown everything else. It cannot be done
        where similarities depend on them.
        """
        result = self.transitions.log_probability() + self.emission.log_evidence()
        if self._is_coupled:
            emission: Any = self.emission
            result += emission.log_posterior()
        return result + sum(part.log_density() for part in self._options())

    def scalars(self) -> dict[str, float]:
        """Return what the trace records."""
        return {
            "log_joint": self.log_joint(),
            "top_concentration": self.transitions.gamma,
            "transition_concentration": self.transitions.alpha,
            "stickiness": self.transitions.kappa,
            "n_active_components": float(count_active(self._shares())),
            **(self.emission.scalars() if hasattr(self.emission, "scalars") else {}),
            **{name: x for part in self._options() for name, x in part.scalars().items()},
        }

    def _shares(self) -> NDArray[np.float64]:
        """Return the share of the observations in each state, (J,)."""
        counts = np.bincount(self.states, minlength=self.transitions.n_states)
        return counts / len(self.states)

    def _options(self) -> list[Any]:
        """Return the parts that not every model has."""
        return [part for part in (self.similarity, self.duration) if part is not None]

    def model(self) -> HMMDraw:
        """Return the current draw; its model knows what the next observation follows."""
        startprob, transmat = self.transitions.matrix()
        model = HMMModel(startprob, transmat, self.emission.model(), self._shares())
        if self.similarity is not None:
            similarity = np.exp(self.transitions.log_similarity[:-1]).astype(np.float32)
            geometry = self.similarity.model()
            if isinstance(self.similarity, EmissionCoupledSampler):
                geometry = self.similarity.model_with_emission(self.emission)
            model = replace(model, similarity=similarity, geometry=geometry)
        if self.duration is not None:
            model = replace(model, duration=self.duration.model())
        return HMMDraw(model, self.states.astype(np.int32), self.log_joint())

    def state(self) -> HMMState:
        """Return a live view of the state."""
        return HMMState(self)
