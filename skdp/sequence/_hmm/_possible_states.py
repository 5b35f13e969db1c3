"""First states of a panel in a model in which some transitions are impossible."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np

from skdp._numeric._typing import Floats, Places
from skdp.inference._interrupt import check_interrupts
from skdp.sequence._hmm._hints import KnownStates, Mask
from skdp.sequence._hmm._kernels_transitions import count_transitions
from skdp.sequence._hmm._transitions import Transitions
from skdp.sequence._hmm._viterbi import decode

_N_REFITS = 5


class PossibleStates:
    """First states of some sequences that are refined, and their observations."""

    def __init__(
        self, ptr: Places, states: Places, allowed: Mask, emission: Any, known: KnownStates | None
    ):
        self._ptr, self._first, self._known = ptr, states, known
        self._candidates = list_candidates(ptr, states, allowed)
        self._best = states.copy()
        self.n_states = allowed.shape[1]
        self._log_obs = np.empty((len(states), self.n_states))
        self.emission = emission.restrict(np.arange(len(states)), self.n_states)

    @property
    def n_candidates(self) -> int:
        """Number of candidates of first states."""
        return len(self._candidates)

    def choose(self, i: int) -> None:
        """Begin with a candidate."""
        self.states = self._candidates[i]

    def condition(self) -> None:
        """Condition the emission on the current states."""
        self.emission.condition(self.states)

    def log_evidence(self) -> float:
        """Return the log evidence of the conditioned emission."""
        return float(self.emission.log_evidence())

    def count(self) -> Places:
        """Return the transitions of the current states, (J + 1, J)."""
        counts = np.empty((self.n_states + 1, self.n_states), dtype=np.int64)
        count_transitions(self._ptr, self.states, counts)
        return counts

    def decode(self, startprob: Floats, transmat: Floats) -> bool:
        """Make the most probable paths the current states, and return whether all are possible."""
        self.emission.write_log_predictive(self._log_obs)
        if self._known is not None:
            self._known.clamp(self._log_obs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of impossible observations, which the fit reports
            _, self.states = decode(self._ptr, startprob, transmat, self._log_obs)
        return not (self.states < 0).any()

    def keep(self) -> None:
        """Keep the current states."""
        self._best = self.states

    def write(self) -> None:
        """Replace the first states by the states kept last."""
        self._first[:] = self._best


def write_possible_states(first: Any, transitions: Transitions) -> None:
    """Replace first states by states without impossible transitions (Viterbi training)."""
    # Each candidate is refined: the most probable possible paths are found given parameters that
    # are learned from the last paths. The most probable result wins.
    n_states = transitions.n_states
    weights = np.full(n_states, 1.0 / n_states)
    best_of_all = -np.inf
    for i in range(first.n_candidates):
        check_interrupts()
        first.choose(i)
        first.condition()
        best = -np.inf
        for _ in range(_N_REFITS):
            rates = first.count() + transitions.shapes(weights)
            rates *= np.exp(transitions.log_similarity)
            rates /= rates.sum(axis=1, keepdims=True)
            if not first.decode(rates[-1], rates[:-1]):
                break
            first.condition()
            value = first.log_evidence()
            value += transitions.log_probability_of(first.count(), weights)
            if not value > best:
                break
            best = value
            if best > best_of_all:
                best_of_all = best
                first.keep()
    first.write()


def relax_transitions(transitions: Transitions, log_similarity: Floats) -> Transitions:
    """Return transitions with self-transitions and known similarities."""
    log_similarity = log_similarity[:-1].copy()
    if not transitions.self_transitions:
        np.fill_diagonal(log_similarity, 0.0)
    return transitions.with_self_transitions().with_log_similarity(log_similarity)


def list_candidates(ptr: Places, states: Places, allowed: Mask) -> list[Places]:
    """Return candidates of states, which may contain impossible transitions."""
    n_states = allowed.shape[1]
    candidates = [states]
    numbers = np.arange(n_states)
    if not (allowed[numbers, numbers].all() and allowed[numbers[:-1], numbers[1:]].all()):
        return candidates
    # If states may follow each other in the order of their numbers: runs of the given states in
    # this order, and sequences cut into equal parts.
    first = int(np.argmax(allowed[-1]))  # the first state in which a sequence may begin
    bounds = list(pairwise(ptr.tolist()))
    runs, equal = np.empty_like(states), np.arange(len(states))
    for begin, end in bounds:
        runs[begin:end] = np.cumsum(
            np.diff(states[begin:end], prepend=states[begin : begin + 1]) != 0
        )
    candidates.append(np.minimum(first + runs, n_states - 1))
    n_parts = 1
    while n_parts <= n_states - first:
        for begin, end in bounds:
            equal[begin:end] = first + np.arange(end - begin) * n_parts // max(end - begin, 1)
        candidates.append(equal.copy())
        n_parts = max(n_parts + 1, n_parts * 4 // 3)
    return candidates
