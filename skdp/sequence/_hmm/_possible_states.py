"""First states of a panel in a model in which some transitions are impossible."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np

from skdp._numeric._typing import Floats, Places
from skdp.inference._interrupt import check_interrupts
from skdp.sequence._hmm._hints import KnownStates
from skdp.sequence._hmm._transitions import Transitions
from skdp.sequence._hmm._viterbi import decode

_N_REFITS = 5


def write_possible_states(
    ptr: Places,
    states: Places,
    transitions: Transitions,
    emission: Any,
    log_similarity: Floats,
    known: KnownStates | None = None,
) -> None:
    """Replace first states by states without impossible transitions.

    Each of several candidates is refined: the most probable possible paths are found given
    parameters that are learned from the last paths (Viterbi training). The most probable result
    wins. Candidates are the given states and, if states may follow each other in the order of their
    numbers, runs of the given states in this order, and sequences cut into equal parts.

    Parameters
    ----------
    ptr : (n + 1,) array
    states : (N,) array of int64
        Changed in place.
    transitions : Transitions
    emission : CollapsedEmission
        Sampler with the observations.
    log_similarity : (J + 1, J) array
        log phi as far as it is known, -inf for impossible transitions.
    known : KnownStates or None
    """
    log_similarity = log_similarity[:-1].copy()
    if not transitions.self_transitions:
        np.fill_diagonal(log_similarity, 0.0)
    transitions = transitions.with_self_transitions().with_log_similarity(log_similarity)
    sampler = emission.restrict(np.arange(len(states)), transitions.n_states)
    best, best_states = -np.inf, states.copy()
    for candidate in list_candidates(ptr, states, ~np.isneginf(transitions.log_similarity)):
        check_interrupts()
        value, found = _refine(ptr, candidate, transitions, sampler, known)
        if value > best:
            best, best_states = value, found
    states[:] = best_states


def list_candidates(ptr: Places, states: Places, allowed: Any) -> list[Places]:
    """Return candidates of states, which may contain impossible transitions."""
    n_states = allowed.shape[1]
    candidates = [states]
    numbers = np.arange(n_states)
    if not (allowed[numbers, numbers].all() and allowed[numbers[:-1], numbers[1:]].all()):
        return candidates
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


def _refine(
    ptr: Places, states: Places, transitions: Transitions, sampler: Any, known: KnownStates | None
) -> tuple[float, Places]:
    """Return the log probability of refined states, and these states."""
    n_states = transitions.n_states
    weights = np.full(n_states, 1.0 / n_states)
    log_obs = np.empty((len(states), n_states))
    best, best_states = -np.inf, states
    for _ in range(_N_REFITS):
        sampler.condition(states)
        sampler.write_log_predictive(log_obs)
        if known is not None:
            known.clamp(log_obs)
        rates = transitions.count(ptr, states) + transitions.shapes(weights)
        rates *= np.exp(transitions.log_similarity)
        rates /= rates.sum(axis=1, keepdims=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of impossible observations, which the fit reports
            _, states = decode(ptr, rates[-1], rates[:-1], log_obs)
        if (states < 0).any():
            break
        sampler.condition(states)
        value = float(sampler.log_evidence())
        value += transitions.log_probability_of(transitions.count(ptr, states), weights)
        if not value > best:
            break
        best, best_states = value, states
    return best, best_states
