"""Hidden Markov models with known parameters: likelihoods, posteriors and draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skdp.emissions._protocol import EmissionModel, looks_back, values_for
from skdp.sequence._durations._protocol import DurationModel
from skdp.sequence._hmm._forecast import follow, log_tables_to_leaving
from skdp.sequence._hmm._gap_filter import Tail
from skdp.sequence._hmm._gapped_model import GappedModel, has_gaps
from skdp.sequence._hmm._hints import KnownStates
from skdp.sequence._hmm._messages import HMMMessages
from skdp.sequence._hmm._segment_messages import SegmentMessages
from skdp.sequence._hmm._viterbi import decode

ACTIVE = 1e-3
"""Least share of the observations in a state that counts as in use."""


@dataclass(frozen=True, eq=False)
class HMMModel:
    """A hidden Markov model with known parameters.

    Estimators store such a model for each sample that they keep.

    Attributes
    ----------
    startprob : (J,) array
        Probabilities of first states.
    transmat : (J, J) array
        Transition probabilities from row to column.
    emission : EmissionModel
        Distributions of the next observation, given the states of its sample.
    shares : (J,) array
        Shares of the training observations in each state.
    similarity : (J, J) array or None
        phi; None without similarities.
    geometry : object or None
        The source of the similarities, such as `LatentLocations`.
    duration : DurationModel or None
        Distributions of durations; None without durations.
    drawn : EmissionModel or None
        Distributions of observations given the parameters that were drawn for the training states,
        if the emission has them and the fit was to several sequences.
    """

    startprob: NDArray[np.float64]
    transmat: NDArray[np.float64]
    emission: EmissionModel
    shares: NDArray[np.float64]
    similarity: NDArray[np.float32] | None = None
    geometry: Any = None
    duration: DurationModel | None = None
    drawn: EmissionModel | None = None

    @property
    def n_active_components(self) -> int:
        """Number of states in use: see `count_active`."""
        return count_active(self.shares)

    @property
    def n_active_factors(self) -> int:
        """Number of binary factors that states with observations have."""
        emission: Any = self.emission
        return int(np.count_nonzero(emission.factors[self.shares > 0.0].any(axis=0)))

    def _log_obs(self, ptr: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log density of every step in every state, (N, J)."""
        emission: Any = self.emission
        return emission.log_obs(*values_for(emission, values, ptr))

    def log_likelihoods(
        self, ptr: NDArray[np.int64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return log p(x) of every sequence, (n,)."""
        if has_gaps(self.emission, values):
            return GappedModel(self).log_likelihoods(ptr, values)
        out = np.empty(len(ptr) - 1)
        known = ptr, self.startprob, self.transmat, self._log_obs(ptr, values)
        if self.duration is None:
            HMMMessages(*known).log_likelihoods(out)
        else:
            steps = np.empty(len(values))
            SegmentMessages(*known, *self.duration.tables()).log_likelihoods(steps, out)
        return out

    def log_predictives(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log p(x_t given x_<t) of every step of one sequence, (T,)."""
        if has_gaps(self.emission, values):
            return GappedModel(self).log_predictives(values)
        out = np.empty(len(values))
        ptr = np.array([0, len(values)])
        log_obs = self._log_obs(ptr, values)
        known = ptr, self.startprob, self.transmat, log_obs
        if self.duration is None:
            HMMMessages(*known).log_predictives(out)
        else:
            SegmentMessages(*known, *self.duration.tables()).log_likelihoods(out, np.empty(1))
        return out

    def posteriors(
        self,
        ptr: NDArray[np.int64],
        values: NDArray[np.float64],
        known_states: KnownStates | None = None,
    ) -> NDArray[np.float64]:
        """Return p(z_t = j given x and known states), (N, J)."""
        if has_gaps(self.emission, values):
            return GappedModel(self).posteriors(ptr, values, known_states)
        log_obs = self._log_obs(ptr, values)
        if known_states is not None:
            known_states.clamp(log_obs)
        out = np.empty(log_obs.shape)
        known = ptr, self.startprob, self.transmat, log_obs
        if self.duration is None:
            impossible = HMMMessages(*known).posteriors(out)
        else:
            impossible = SegmentMessages(*known, *self.duration.tables()).posteriors(out)
        _check_possible(impossible)
        return out

    def changes(self, ptr: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability given x that a state begins at each step, (N,).

        The first step of a sequence has 0: nothing is before it.
        """
        if has_gaps(self.emission, values):
            return GappedModel(self).changes(ptr, values)
        log_obs = self._log_obs(ptr, values)
        known = ptr, self.startprob, self.transmat, log_obs
        out = np.empty(len(log_obs))
        if self.duration is None:
            impossible = HMMMessages(*known).changes(out)
        else:
            impossible = SegmentMessages(*known, *self.duration.tables()).changes(out)
        _check_possible(impossible)
        return out

    def filtered(self, ptr: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return p(z_t = j given x_<=t), (N, J)."""
        if has_gaps(self.emission, values):
            return GappedModel(self).filtered(ptr, values)
        log_obs = self._log_obs(ptr, values)
        out = np.empty(log_obs.shape)
        known = ptr, self.startprob, self.transmat, log_obs
        if self.duration is None:
            impossible = HMMMessages(*known).filtered(out)
        else:
            impossible = SegmentMessages(*known, *self.duration.tables()).filtered(out)
        _check_possible(impossible)
        return out

    def decode(
        self, ptr: NDArray[np.int64], values: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return log p(x, z) of the most probable paths z, (n,), and these paths, (N,)."""
        durations = None if self.duration is None else self.duration.tables()
        return decode(ptr, self.startprob, self.transmat, self._log_obs(ptr, values), durations)

    def ends(self, ptr: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of states and ages at the last step of each sequence, (n, A, J).

        In row a, the state is in step a + 1 of its segment; A = 1 without durations. No sequence is
        empty.
        """
        if self.duration is None:
            return self.filtered(ptr, values)[ptr[1:] - 1, np.newaxis]
        tables = self.duration.tables()
        out = np.empty((len(ptr) - 1, tables[0].shape[1], len(self.startprob)))
        log_obs = self._log_obs(ptr, values)
        messages = SegmentMessages(ptr, self.startprob, self.transmat, log_obs, *tables)
        _check_possible(messages.last_ages(out))
        return out

    def tails(self, ptr: NDArray[np.int64], values: NDArray[np.float64]) -> list[Tail]:
        """Return the ends of sequences of observations that depend on earlier ones."""
        return GappedModel(self).tails(ptr, values)

    def next_states(self, ends: NDArray[np.float64], n_steps: int) -> NDArray[np.float64]:
        """Return the probabilities of the states of the next steps, (n, n_steps, J)."""
        if self.duration is None:
            return follow(ends, self.transmat, None, n_steps)
        if len(self.startprob) == 1:  # the only state has no successor: it stays
            return np.ones((len(ends), n_steps, 1))
        return follow(ends, self.transmat, log_tables_to_leaving(*self.duration.tables()), n_steps)

    def forecast(
        self, ptr: NDArray[np.int64], values: NDArray[np.float64], n_steps: int
    ) -> NDArray[np.float64]:
        """Return the probabilities of the states after each sequence, (n, n_steps, J)."""
        return self.next_states(self.ends(ptr, values), n_steps)

    def draw_states(self, n_steps: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a sequence of states drawn from the model, (n_steps,)."""
        return self._draw_states(self.startprob, n_steps, rng)

    def draw_next_states(
        self, ends: NDArray[np.float64], n_steps: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return the states of the next steps of one sequence, whose `ends` are (A, J)."""
        weights = np.cumsum(ends)
        place = int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))
        age, state = divmod(min(place, len(weights) - 1), ends.shape[1])
        row = self.transmat[state]
        if self.duration is None:
            return self._draw_states(row, n_steps, rng)
        log_pmf = self.duration.tables()[0][state, age:]
        weights = np.cumsum(np.exp(log_pmf - log_pmf.max()))
        rest = int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))
        rest = min(rest, len(weights) - 1)
        states = np.concatenate([np.full(rest, state), self._draw_states(row, n_steps, rng)])
        return states[:n_steps]

    def _draw_states(
        self, first: NDArray[np.float64], n_steps: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return states, the first of which has the given probabilities and begins a segment."""
        ends = np.cumsum(self.transmat, axis=1)
        states = np.empty(n_steps, dtype=np.int64)
        row = np.cumsum(first)
        for t, u in enumerate(rng.random(n_steps)):
            # The only state of a model with durations has no successor: it stays.
            states[t] = min(np.searchsorted(row, u * row[-1], side="right"), len(row) - 1)
            row = ends[states[t]]
        if self.duration is None:
            return states
        return np.repeat(states, self.duration.sample(states, rng))[:n_steps]

    def draw_observations(
        self,
        states: NDArray[np.int64],
        rng: np.random.Generator,
        before: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return an observation for each state, (N, D).

        Parameters
        ----------
        states : (N,) array of int
        rng : numpy.random.Generator
        before : (T, D) array or None, default=None
            The sequence that the states continue; ignored if observations do not depend on it.
        """
        emission: Any = self.emission
        if before is None or not looks_back(emission):
            return emission.sample(states, rng)
        return emission.sample(states, rng, before)

    def impute(self, ptr: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return observations with NaN replaced by its mean given all observed values, (N, D)."""
        if has_gaps(self.emission, values):
            return GappedModel(self).impute(ptr, values)
        return self.emission.fill(values, self.posteriors(ptr, values))  # type: ignore[attr-defined]

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same model with its states in another order."""
        square = np.ix_(order, order)
        return replace(
            self,
            startprob=self.startprob[order],
            transmat=self.transmat[square],
            emission=self.emission.reorder(order),
            shares=self.shares[order],
            similarity=None if self.similarity is None else self.similarity[square],
            geometry=None if self.geometry is None else self.geometry.reorder(order),
            duration=None if self.duration is None else self.duration.reorder(order),
            drawn=None if self.drawn is None else self.drawn.reorder(order),
        )


def count_active(shares: NDArray[np.float64]) -> int:
    """Return the number of states that hold at least a thousandth of the observations."""
    # In long series, a state for a few outlying steps often comes and goes.
    return int(np.count_nonzero(shares >= ACTIVE))


def _check_possible(impossible: int) -> None:
    """Raise a ValueError unless the number of the first impossible sequence is -1."""
    if impossible >= 0:
        raise ValueError(
            f"Sequence {impossible} has probability 0 under a stored sample: its states have no "
            "distribution."
        )
