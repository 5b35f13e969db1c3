"""Hints from the user: known states of some steps, and possible transitions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array, check_known, is_list_like, shorten
from skdp._numeric._typing import Floats, Places
from skdp.data import SequencePanel
from skdp.sequence._hmm import _kernels_hints as kernels

Mask = NDArray[np.bool_]


class KnownStates:
    """Known states of some steps."""

    def __init__(self, states: Places, n_states: int):
        self.states, self.n_states = states, n_states  # -1: unknown
        self.are_known = np.zeros(n_states, dtype=np.bool_)  # whether any step is known to be in it
        self.are_known[states[states >= 0]] = True

    def clamp(self, log_obs: Floats) -> None:
        """Set the log densities of known steps to -inf in all states but theirs."""
        kernels.clamp(self.states, log_obs)

    def count(self, states: Places) -> Places:
        """Count the steps by state (row) and known state (column; the last one: unknown)."""
        width = self.n_states + 1
        known = np.where(self.states < 0, self.n_states, self.states)
        counts = np.bincount(states.clip(0) * width + known, minlength=self.n_states * width)
        return counts.reshape(self.n_states, width)

    def write(self, states: Places) -> None:
        """Write the known states of known steps."""
        np.copyto(states, self.states, where=self.states >= 0)


class LabeledPanel(NamedTuple):
    """A panel with the known states, or known bits of factors, of its steps."""

    panel: SequencePanel
    known: Any


def rename_by_known(counts: Places) -> Places:
    """Return the state that each cluster of steps becomes, (J,), given the `KnownStates.count`."""
    # A cluster becomes the state of most of its known steps. The others take the remaining states,
    # the largest clusters first; then they join the state with the most known steps.
    labeled, sizes = counts[:, :-1], counts.sum(axis=1)
    names = np.where(labeled.any(axis=1), labeled.argmax(axis=1), -1)
    remaining = np.flatnonzero(~labeled.any(axis=0)).tolist()
    most_known = labeled.sum(axis=0).argmax()
    for cluster in np.argsort(-sizes, kind="stable"):
        if names[cluster] < 0:
            names[cluster] = remaining.pop(0) if remaining else most_known
    return names


def check_known_states(y: Any, ptr: Places, n_states: int) -> KnownStates | None:
    """Return the known states of the steps, or None if y has none; raise if y is wrong."""
    parts = split_by_sequence(y, ptr)
    if parts is None:
        return None
    states = np.full(int(ptr[-1]), -1, dtype=np.int64)
    for s, part in enumerate(parts):
        if part is None:
            continue
        begin, end = int(ptr[s]), int(ptr[s + 1])
        name, place = (f"y[{s}]", f"sequence {s}") if len(parts) > 1 else ("y", "X")
        states[begin:end] = check_known(
            part, end - begin, name, what="state", place=f"step of {place}", largest=n_states - 1
        )
    return KnownStates(states, n_states) if (states >= 0).any() else None


def split_by_sequence(y: Any, ptr: Places) -> list[Any] | None:
    """Return the entries of y for each sequence, or None if it holds no values of steps."""
    if y is None:
        return None
    entries = list(y) if isinstance(y, list | tuple) else as_array(y, "y")
    if not isinstance(entries, list) and entries.ndim == 0:
        raise TypeError(f"y must be an array, or a list of arrays, got {shorten(y)}.")
    n_sequences, n_steps = len(ptr) - 1, int(ptr[-1])
    are_scalars = not any(is_list_like(entry) for entry in entries)
    is_column = isinstance(entries, np.ndarray) and entries.shape == (n_steps, 1)
    if n_sequences == 1 and (is_column or (are_scalars and len(entries) in (0, n_steps))):
        return [entries]
    if are_scalars and len(entries) == n_steps != n_sequences:
        return np.split(as_array(entries, "y"), ptr[1:-1])
    if len(entries) != n_sequences:
        raise ValueError(
            f"y must hold {n_steps} states, one for each step, or {n_sequences} arrays of states, "
            f"one for each sequence of X; got {len(entries)} entries."
        )
    # A number or string for each of several sequences is a class, not a state.
    return None if are_scalars else list(entries)


def check_allowed(transitions: Any, start: Any, n_states: int) -> Mask | None:
    """Return the possible transitions, (J + 1, J), with first states in the last row, or None."""
    if transitions is None and start is None:
        return None
    allowed = np.ones((n_states + 1, n_states), dtype=np.bool_)
    if isinstance(transitions, str):
        allowed[:-1] = np.triu(allowed[:-1])
    elif transitions is not None:
        allowed[:-1] = _read_mask(transitions, (n_states, n_states), "transitions")
    if start is not None:
        allowed[-1] = _read_mask(start, (n_states,), "start")
    nothing = np.flatnonzero(~allowed.any(axis=1))
    if len(nothing):
        j = int(nothing[0])
        what = "start allows no state" if j == n_states else f"transitions: row {j} allows no state"
        raise ValueError(f"{what}: at least one entry must be True.")
    return allowed


def _read_mask(values: Any, shape: tuple[int, ...], name: str) -> Mask:
    """Return an array of bool, or of 0 and 1, as an array of bool."""
    array = as_array(values, name)
    is_mask = array.dtype.kind == "b" or (
        array.dtype.kind in "iuf" and bool(np.isin(array, (0, 1)).all())
    )
    if array.shape != shape or not is_mask:
        raise ValueError(
            f"{name} must be an array of bool (or 0 and 1) of shape {shape}, with "
            f"n_components={shape[0]}; got {array.dtype} of shape {array.shape}."
        )
    return array.astype(np.bool_)


def find_possible_steps(
    allowed: Mask | None, log_similarity: Floats | None, *, ends: bool
) -> Mask | None:
    """Return which states may follow each other step by step, (J + 1, J); None: all."""
    is_zero = None if log_similarity is None else np.isneginf(log_similarity)
    if allowed is None and (is_zero is None or not is_zero.any()):
        return None
    if allowed is None:
        assert log_similarity is not None
        allowed = np.ones((len(log_similarity) + 1, len(log_similarity)), dtype=np.bool_)
    if is_zero is not None:
        allowed[:-1] &= ~is_zero
    ends &= allowed.shape[1] > 1  # with a duration, every state ends and needs another successor
    if ends:
        np.fill_diagonal(allowed[:-1], False)
    has_successor = allowed.any(axis=1)
    if not has_successor.all():
        raise ValueError(
            "transitions and the zeros of a FixedSimilarity leave state "
            f"{np.argmin(has_successor)} without a successor{' other than itself' * ends}."
            + " With a duration, every state ends: let the last state of a left-right model be "
            "followed by the first one, for example." * ends
        )
    if ends:
        np.fill_diagonal(allowed[:-1], True)
    return allowed


def check_path(ptr: Places, known: Places, allowed: Mask, name: str) -> None:
    """Raise ValueError if no allowed path goes through known states (-1: unknown)."""
    n_states = allowed.shape[1]
    t = kernels.find_impossible_step(ptr, known, allowed, *np.empty((2, n_states), np.bool_))
    if t < 0:
        return
    s = int(np.searchsorted(ptr, t, side="right")) - 1
    begin = int(ptr[s])
    before = begin + np.flatnonzero(known[begin:t] >= 0)
    where = f"step {t - begin} of sequence {s}"
    where += " in any state" if known[t] < 0 else f" in state {known[t]}"
    if len(before):
        where += f" after state {known[before[-1]]} at step {before[-1] - begin}"
    raise ValueError(
        f"{name}: transitions, start or the zeros of a FixedSimilarity leave no path to {where}."
    )
