"""First states of a whole panel, found on a subset of its sequences if it is large."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random import draw_key
from skdp._numeric._typing import Floats, Places
from skdp.data import SequencePanel
from skdp.emissions._protocol import CollapsedEmission, SummedEmission, values_for
from skdp.sequence._hmm._hints import KnownStates, rename_by_known
from skdp.sequence._hmm._initial_split_merge import InitialSplitMerge, find_order
from skdp.sequence._hmm._kernels_transitions import count_transitions
from skdp.sequence._hmm._messages import HMMMessages
from skdp.sequence._hmm._possible_states import (
    PossibleStates,
    relax_transitions,
    write_possible_states,
)
from skdp.sequence._hmm._transitions import Transitions

MOST_STEPS = 100_000
"""First states are sought on about this many steps, or up to twice as many."""


class Start(NamedTuple):
    """First states of some sequences, and a model that goes with them."""

    states: NDArray[Any]
    emission: Any  # a sampler without observations
    matrix: tuple[Floats, Floats] | None  # of first states, transitions; None: no other sequences


def choose_stride(n_sequences: int, n_steps: int) -> int:
    """Return the spacing in a panel of the sequences whose first states are sought."""
    return max(n_steps // MOST_STEPS, 1) if n_sequences > 1 else 1


def list_chosen(ptr: Places, stride: int, number: int = 0) -> tuple[Places, NDArray[np.bool_]]:
    """Return indices of chosen sequences, of which the first is `number`, and a mask of steps."""
    numbers = np.arange(number, number + len(ptr) - 1)
    is_chosen = numbers % stride == 0
    return np.flatnonzero(is_chosen), np.repeat(is_chosen, np.diff(ptr))


def write_first_states(
    panel: SequencePanel,
    states: Places,
    transitions: Transitions,
    emission: Any,
    init: Any,
    rng: NDArray[np.uint64],
    log_similarity: Floats | None = None,
    known: KnownStates | None = None,
) -> None:
    """Write the first states of a panel: those given as `init`, or sought by the method of that
    name. The latter are fitted to known states and similarities: their order, and possible paths.
    """
    if not isinstance(init, str):
        states[:] = init
        if known is not None:
            known.write(states)
        return
    is_summed = isinstance(emission, SummedEmission)
    stride = choose_stride(len(panel), len(states)) if is_summed else 1
    if stride == 1:
        seek_states(panel.ptr, states, transitions, emission, init, rng)
    else:
        chosen, is_chosen = list_chosen(panel.ptr, stride)
        start = begin(panel[chosen], transitions, emission, init, rng)
        key = np.empty_like(rng)
        draw_key(rng, key)
        impossible = follow(panel.ptr, states, emission, start, is_chosen, key)
        check_followed(impossible)
    if known is not None:
        states[:] = rename_by_known(known.count(states))[states]
        known.write(states)
    if log_similarity is None:
        return
    if known is None:
        order = find_order(count(panel.ptr, states, transitions.n_states), log_similarity[:-1])
        states[:] = order[states]
    if np.isneginf(log_similarity).any() and isinstance(emission, CollapsedEmission):
        relaxed = relax_transitions(transitions, log_similarity)
        allowed = ~np.isneginf(relaxed.log_similarity)
        write_possible_states(PossibleStates(panel.ptr, states, allowed, emission, known), relaxed)


def count(ptr: Places, states: Places, n_states: int) -> Places:
    """Return the numbers of transitions, including self-transitions, (J + 1, J)."""
    counts = np.empty((n_states + 1, n_states), dtype=np.int64)
    count_transitions(ptr, states, counts)
    return counts


def seek_states(
    ptr: Places,
    states: Places,
    transitions: Transitions,
    emission: Any,
    init: str,
    rng: NDArray[np.uint64],
) -> None:
    """Write first states, by splits and merges or by the emission's initialization."""
    can_split = isinstance(emission, CollapsedEmission) and emission.starts_with_one_state
    if init == "auto" and can_split:
        InitialSplitMerge(ptr, states, transitions, emission, rng).run()
    else:
        emission.start(states, rng)


def begin(
    panel: SequencePanel,
    transitions: Transitions,
    emission: Any,
    init: str,
    rng: NDArray[np.uint64],
    *,
    are_all: bool = False,
) -> Start:
    """Return the first states of some or all sequences, and the model learned from them."""
    sampler = emission.copy()
    sampler.attach(*values_for(sampler, panel.values, panel.ptr))
    states = np.zeros(len(panel.values), dtype=np.int64)
    seek_states(panel.ptr, states, transitions, sampler, init, rng)
    matrix = None
    if not are_all:
        if hasattr(sampler, "held"):
            sampler.held = True
        sampler.draw(states, rng)
        rates = transitions.with_self_transitions().copy()
        rates.draw(panel.ptr, states, rng, hold=True, rates_known=False)
        matrix = rates.matrix()
    sampler.detach()
    return Start(states, sampler, matrix)


def follow(
    ptr: Places,
    states: Places,
    emission: Any,
    start: Start,
    is_chosen: NDArray[np.bool_],
    key: NDArray[np.uint64],
    number: int = 0,
) -> int:
    """Write states of chosen sequences, draw the others; return the first impossible one, or -1."""
    emission.adopt(start.emission.copy())
    impossible = -1
    if start.matrix is not None:
        log_obs = np.empty((len(states), len(start.matrix[0])))
        emission.write_log_obs(log_obs)
        messages = HMMMessages(ptr, *start.matrix, log_obs)
        impossible = messages.sample_states_with(states, key, number)
    states[is_chosen] = start.states
    return impossible


def check_followed(impossible: int) -> None:
    """Raise unless the number of the first impossible sequence is -1."""
    if impossible >= 0:
        raise ValueError(
            f"Sequence {impossible} has probability 0 given the first states of others: its "
            "observations are too far from theirs."
        )
