"""What the user knows about the states: states of some steps, and transitions that are possible."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array
from skdp._numeric._typing import Floats, Places
from skdp.data import SequencePanel
from skdp.sequence._hmm import _kernels_hints as kernels

Mask = NDArray[np.bool_]


class KnownStates:
    """Known states of some steps.

    Parameters
    ----------
    states : (N,) array of int64
        The state of each step; -1: unknown.
    n_states : int
        J.

    Attributes
    ----------
    are_known : (J,) array of bool
        Whether any step is known to be in each state.
    """

    def __init__(self, states: Places, n_states: int):
        self.states, self.n_states = states, n_states
        self.are_known = np.zeros(n_states, dtype=np.bool_)
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
    """A panel with known states."""

    panel: SequencePanel
    known: KnownStates


def rename_by_known(counts: Places) -> Places:
    """Return the state that becomes of each cluster of steps, (J,), given known states.

    A cluster becomes the state of most of its known steps. The others take the remaining states,
    the largest clusters first. Without a remaining state, they join the state with the most known
    steps.

    Parameters
    ----------
    counts : (J, J + 1) array
        Result of `KnownStates.count` for the clusters.
    """
    labeled, sizes = counts[:, :-1], counts.sum(axis=1)
    names = np.where(labeled.any(axis=1), labeled.argmax(axis=1), -1)
    remaining = np.flatnonzero(~labeled.any(axis=0)).tolist()
    most_known = labeled.sum(axis=0).argmax()
    for cluster in np.argsort(-sizes, kind="stable"):
        if names[cluster] < 0:
            names[cluster] = remaining.pop(0) if remaining else most_known
    return names


def check_known_states(y: Any, ptr: Places, n_states: int) -> KnownStates | None:
    """Return the known states of the steps, or None if y has none.

    Parameters
    ----------
    y : None, array of T integers, or list of arrays or None
        For one sequence, or with an entry for each sequence. A list of numbers or strings, one for
        each of several sequences, holds classes of the sequences, which are not states.
    ptr : (n + 1,) array
        Bounds of the sequences.
    n_states : int

    Raises
    ------
    ValueError
        If y has another length than X, or holds anything else than states or -1.
    """
    parts = _split_y(y, np.diff(ptr))
    if parts is None:
        return None
    states = np.full(int(ptr[-1]), -1, dtype=np.int64)
    for s, part in enumerate(parts):
        if part is not None:
            where = f"y, sequence {s}" if len(parts) > 1 else "y"
            states[ptr[s] : ptr[s + 1]] = _read_states(part, ptr[s + 1] - ptr[s], n_states, where)
    return KnownStates(states, n_states) if (states >= 0).any() else None


def _split_y(y: Any, lengths: Places) -> list[Any] | None:
    """Return the entries of y for each sequence, or None if it holds no states."""
    if y is None:
        return None
    entries = list(y if isinstance(y, list | tuple) else np.atleast_1d(as_array(y, "y")))
    are_scalars = all(each is None or np.ndim(each) == 0 for each in entries)
    if len(lengths) == 1 and are_scalars:
        return [entries] if len(entries) != 1 or lengths[0] == 1 else None
    if are_scalars:
        return None
    if len(entries) != len(lengths):
        raise ValueError(
            f"y must hold the known states of {len(lengths)} sequences, those of X; got "
            f"{len(entries)}."
        )
    return entries


def _read_states(y: Any, length: int, n_states: int, where: str) -> Places:
    """Return the known states of a sequence, -1 where unknown."""
    array = as_array(y, "y")
    if array.shape != (length,):
        raise ValueError(
            f"{where}: a state for each of the {length} steps is expected, got shape {array.shape}."
        )
    if array.dtype.kind == "O":
        array = np.array([-1 if x is None else x for x in array.tolist()])
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), -1.0, array)
    is_number = array.dtype.kind in "iuf"
    wrong = ~((array >= -1) & (array < n_states) & (array == np.floor(array))) if is_number else []
    if not is_number or np.any(wrong):
        t = int(np.argmax(wrong)) if is_number else 0
        raise ValueError(
            f"{where}: known states are integers from 0 to n_components - 1 = {n_states - 1}, and "
            f"-1 is unknown; got {array[t]!r} at step {t}. If y belongs to a later step of a "
            "Pipeline, set use_y=False."
        )
    return array.astype(np.int64)


def check_allowed(transitions: Any, start: Any, n_states: int) -> Mask | None:
    """Return the possible transitions, (J + 1, J), with first states in the last row, or None.

    Parameters
    ----------
    transitions : None, "left-right", or (J, J) array-like of bool
    start : None, or (J,) array-like of bool
    n_states : int

    Raises
    ------
    ValueError
        If a shape or a type is wrong, or a row allows nothing.
    """
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
    array = as_array(values, name)
    if array.shape != shape or array.dtype.kind != "b":
        raise ValueError(
            f"{name} must be an array of bool of shape {shape}, where n_components={shape[0]}; got "
            f"{array.dtype} of shape {array.shape}."
        )
    return array


def check_path(ptr: Places, known: Places, allowed: Mask, name: str) -> None:
    """Raise ValueError if no allowed path goes through known states.

    Parameters
    ----------
    ptr : (n + 1,) array
    known : (N,) array of int64
        -1: unknown.
    allowed : (J + 1, J) array of bool
    name : str
        Name of the argument with the known states.
    """
    n_states = allowed.shape[1]
    t = kernels.find_impossible_step(ptr, known, allowed, *np.empty((2, n_states), np.bool_))
    if t >= 0:
        s = int(np.searchsorted(ptr, t, side="right")) - 1
        what = "any state" if known[t] < 0 else f"state {known[t]}"
        raise ValueError(
            f"{name}: no path of allowed transitions leads through the known states of sequence "
            f"{s} to {what} at step {t - int(ptr[s])}."
        )
