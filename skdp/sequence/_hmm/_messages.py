"""Messages, draws and best paths of hidden Markov models, and known states: kernel calls.

Sequences are filtered several at a time. A sequence that exceeds the range of 64-bit floats is
recomputed in logarithms, by kernels that are compiled when the first such sequence occurs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array, check_known, is_list_like, shorten
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_key, stream_of_number
from skdp.data import SequencePanel
from skdp.emissions._common import Stream
from skdp.sequence._kernels import _messages as kernels
from skdp.sequence._kernels import _segments as segment_kernels
from skdp.sequence._kernels._messages import pad_columns

# Known states of some steps, and possible transitions, which users pass.


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

    @classmethod
    def of(cls, panel: Any) -> LabeledPanel:
        """Return a panel with what is known of it, maybe nothing."""
        return panel if isinstance(panel, LabeledPanel) else cls(panel, None)


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
            f"y must hold {n_steps} values, one for each step, or {n_sequences} arrays of them, "
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
    if log_similarity is not None and (is_zero := np.isneginf(log_similarity)).any():
        n_states = len(log_similarity)
        allowed = np.ones((n_states + 1, n_states), np.bool_) if allowed is None else allowed
        allowed[:-1] &= ~is_zero
    if allowed is None:
        return None
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


# Batches of sequences that kernels process together.


_ROOM = 2**17
"""Largest number of values kept of a batch with several sequences; they fit in a cache."""


class Batches:
    """Batches of consecutive sequences, for each of which a kernel is called once."""

    def __init__(self, ptr: Places, n_columns: int, together: int = 1):
        self._ptr, self._n_columns = ptr, n_columns  # values kept of each step
        # Largest number of steps of a batch, which has room for any `together` sequences.
        self.n_steps = min(max(together * find_longest(ptr), _ROOM // n_columns), int(ptr[-1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of an array with a row for each step of any batch."""
        return self.n_steps, self._n_columns

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield the first sequence of every batch, and the sequence after its last one."""
        first, ptr = 0, self._ptr
        while first < len(ptr) - 1:
            last = int(np.searchsorted(ptr, ptr[first] + self.n_steps, side="right")) - 1
            yield first, last
            first = last


def find_longest(ptr: Places) -> int:
    """Return the length of the longest sequence, at least 1."""
    return int(np.diff(ptr).max(initial=1))


def check_possible(
    impossible: int, rest: str = " under a stored sample: its states have no distribution."
) -> None:
    """Raise a ValueError with the `rest` of a sentence unless no sequence, -1, is impossible."""
    if impossible >= 0:
        raise ValueError(f"Sequence {impossible} has probability 0{rest}")


def take_key(rng: Stream) -> Stream:
    """Return a new key of streams, drawn from a stream."""
    key = np.empty_like(rng)
    draw_key(rng, key)
    return key


# Filtering, smoothing and draws of the states of hidden Markov models.


class Messages:
    """Messages of hidden Markov and semi-Markov models for a panel."""

    def __init__(self, ptr: Places, log_obs: Floats):
        self.ptr, self.log_obs = as_readonly(ptr), as_readonly(np.ascontiguousarray(log_obs))
        self._steps, self._likelihoods = np.empty(len(log_obs)), np.empty(len(ptr) - 1)
        self._begins = self.ptr[:-1][self.ptr[:-1] < len(log_obs)]

    def sample_states(self, states: Places, rng: Stream) -> int:
        """Draw the states of all sequences; return the first impossible one, or -1."""
        return self.sample_states_with(states, take_key(rng))

    def sample_states_with(self, states: Places, key: Stream, number: int = 0) -> int:
        """Draw the states determined by a key; return the first impossible sequence, or -1. The
        draws for a sequence depend on its index in the whole panel, from `number` on.
        """
        raise NotImplementedError


class HMMMessages(Messages):
    """Messages of a hidden Markov model for a panel; arrays are those of `_kernels/_messages`."""

    def __init__(self, ptr: Places, startprob: Floats, transmat: Floats, log_obs: Floats):
        super().__init__(ptr, log_obs)
        transmat = np.ascontiguousarray(transmat)
        self.startprob, self.transmat = as_readonly(startprob), as_readonly(transmat)
        self.reverse = as_readonly(np.ascontiguousarray(transmat.T))
        self.n_states = len(startprob)
        self._matrix, self._room = kernels.pad_columns(transmat), kernels.make_room(len(startprob))
        self._batches = Batches(self.ptr, self.n_states, kernels.TOGETHER)
        self._nothing = np.empty((0, self.n_states))

    @cached_property
    def _log_reverse(self) -> Floats:
        with np.errstate(divide="ignore"):
            return as_readonly(np.log(self.reverse))

    def log_likelihoods(self, out: Floats) -> None:
        """Write log p(x) of every sequence to `out`, (n,)."""
        self._filter(0, len(out), self._nothing, self._nothing)
        out[:] = self._likelihoods
        for s in np.flatnonzero(np.isnan(out)).tolist():
            out[s] = self._filter_in_logs(s)[0]

    def log_predictives(self, out: Floats) -> None:
        """Write log p(x_t given x_<t) of one sequence, (T,); -inf after an impossible step."""
        self._steps.fill(-np.inf)
        self._filter(0, 1, self._nothing, self._nothing)
        if np.isnan(self._likelihoods[0]):
            self._steps.fill(-np.inf)
            self._filter_in_logs(0)
        out[:] = self._steps

    def filtered(self, out: Floats) -> int:
        """Write p(z_t given x_<=t), (N, J); return the first impossible sequence, or -1."""
        n = len(self._likelihoods)
        self._filter(0, n, self._nothing, out)
        for s, logs in self._rest(0, n):
            if logs is None:
                return s
            out[self.ptr[s] : self.ptr[s + 1]] = np.exp(logs[1])
        out /= out.sum(axis=1, keepdims=True)  # 1 but for rounding
        return -1

    def posteriors(self, out: Floats) -> int:
        """Write p(z_t given x) to `out`, (N, J); return the first impossible sequence, or -1."""
        predicted, matrix = np.empty(self._batches.shape), kernels.pad_columns(self.reverse)
        message = np.empty((1, matrix.shape[1]))
        for first, last in self._batches:
            rows, ptr = out[self.ptr[first] : self.ptr[last]], self.ptr[first : last + 1]
            self._filter(first, last, predicted, rows)
            own = self._likelihoods[first:last]
            kernels.smooth_sequences(ptr, matrix, own, predicted, rows, message)
            for s, logs in self._rest(first, last):
                if logs is None:
                    return s
                kernels.smooth_in_logs(self.transmat, *logs, message[0, : self.n_states])
                out[self.ptr[s] : self.ptr[s + 1]] = logs[1]
        return -1

    def _filter_and_smooth(self) -> tuple[Floats, Floats, int]:
        """Return `filtered`, `posteriors`, and the first impossible sequence, or -1."""
        before, after = np.empty((2, *self.log_obs.shape))
        return before, after, max(self.filtered(before), self.posteriors(after))

    def changes(self, out: Floats, labels: Places | None = None) -> int:
        """Write p(z_t is not z_t-1 given x), (N,); return the first impossible sequence, or -1.

        With `labels` of states, only changes between states of different labels count.
        """
        before, after, impossible = self._filter_and_smooth()
        if impossible >= 0:
            return impossible
        before, now = before[:-1], after[1:]
        predicted = before @ self.transmat
        # p(z_t-1 = z_t = j given x) = p(z_t-1 = j given x_<t) P_jj p(z_t = j given x) / p(z_t = j
        # given x_<t). If the last one underflows, the state was improbable before: it was entered
        # earlier if it is probable there given all of x.
        staying = np.minimum(after[:-1], now)
        both = before * now * np.diag(self.transmat)
        if labels is not None:
            both = now * (before @ (self.transmat * (labels[:, np.newaxis] == labels)))
        np.divide(both, predicted, out=staying, where=predicted > 0.0)
        out[1:] = np.clip(1.0 - staying.sum(axis=1), 0.0, 1.0)
        out[self._begins] = 0.0
        return -1

    def quiet(self, out: Floats, ranges: Places, labels: Places | None = None) -> int:
        """Write p(no change at steps first to last given x) of ranges, (n,); return as `changes`.

        A range has steps of one sequence, and not its first one.
        """
        before, after, impossible = self._filter_and_smooth()
        if impossible >= 0:
            return impossible
        labels = np.arange(self.n_states) if labels is None else labels
        staying = self.transmat * (labels[:, np.newaxis] == labels)
        for k, (first, last) in enumerate(ranges.tolist()):
            # p(z_t to z_last have one label, z_t = j given x), from the last step to the first.
            own = after[last]
            for t in range(last - 1, first - 2, -1):
                predicted = before[t] @ self.transmat
                seen = predicted > 0.0
                shares = before[t][:, np.newaxis] * staying
                shares = np.divide(shares, predicted, out=np.zeros_like(shares), where=seen)
                rest = np.where(seen, 0.0, np.minimum(own, after[t]))  # as in `changes`
                own = shares @ own + rest
            out[k] = min(own.sum(), 1.0)
        return -1

    def count_transitions(self) -> Floats:
        """Return the expected number of transitions between states given x, (J, J)."""
        before, after, _ = self._filter_and_smooth()
        follows = np.ones(len(after), dtype=np.bool_)
        follows[self._begins] = False
        before, now = before[:-1][follows[1:]], after[1:][follows[1:]]
        return self.transmat * (before.T @ (now / np.maximum(before @ self.transmat, 1e-300)))

    def sample_states_with(self, states: Places, key: Stream, number: int = 0) -> int:
        own_rng, filtered = np.empty_like(key), np.empty(self._batches.shape)
        weights = np.empty(self.n_states)
        for first, last in self._batches:
            self._filter(first, last, self._nothing, filtered)
            ptr, own = self.ptr[first : last + 1], self._likelihoods[first:last]
            kernels.sample_sequences(
                ptr, number + first, self.reverse, own, filtered, states, weights, key, own_rng
            )
            for s, logs in self._rest(first, last):
                if logs is None:
                    return s
                path = states[self.ptr[s] : self.ptr[s + 1]]
                stream_of_number(key, number + s, own_rng)
                kernels.sample_in_logs(self._log_reverse, logs[1], path, weights, own_rng)
        return -1

    def sample_states_by_beam(self, states: Places, rng: Stream) -> int:
        """Redraw the states of all sequences; return the first impossible sequence, or -1."""
        n_steps, n_states = find_longest(self.ptr), self.n_states
        return kernels.sample_states(
            self.ptr, self.startprob, self.transmat, self.log_obs, np.empty(n_steps),
            np.empty((n_steps, n_states)), np.empty(n_states, dtype=np.int64),
            np.empty(n_states), states, take_key(rng), np.empty_like(rng),
        )  # fmt: skip

    def _filter(self, first: int, last: int, predicted: Floats, filtered: Floats) -> None:
        """Filter sequences first to last - 1, except those that require logarithms."""
        kernels.filter_sequences(
            self.ptr[first : last + 1], self.startprob, self._matrix, self.log_obs, self._room,
            predicted, filtered, self._steps, self._likelihoods[first:last],
        )  # fmt: skip

    def _rest(self, first: int, last: int) -> Iterator[tuple[int, tuple[Floats, Floats] | None]]:
        """Yield the sequences that `_filter` left, in order, with logs of its output or None."""
        likelihoods = self._likelihoods[first:last]
        for s in (first + np.flatnonzero(~(likelihoods > -np.inf))).tolist():
            likelihood = self._likelihoods[s]
            if np.isnan(likelihood):
                likelihood, predicted, filtered = self._filter_in_logs(s)
            yield s, None if likelihood == -np.inf else (predicted, filtered)

    def _filter_in_logs(self, s: int) -> tuple[float, Floats, Floats]:
        """Return log p(x) of a sequence, and logs of predicted and filtered probabilities."""
        begin, end = self.ptr[s], self.ptr[s + 1]
        predicted, filtered = np.empty((2, end - begin, self.n_states))
        likelihood = kernels.filter_in_logs(
            self.startprob, self.reverse, self._log_reverse, self.log_obs[begin:end], predicted,
            filtered, self._steps[begin:end], np.empty(self.n_states),
        )  # fmt: skip
        return likelihood, predicted, filtered


# Filtering, smoothing and draws of the segments of hidden semi-Markov models.


class SegmentMessages(Messages):
    """Messages of a hidden semi-Markov model for a panel: see `_kernels/_segments`."""

    def __init__(
        self,
        ptr: Places,
        startprob: Floats,
        transmat: Floats,
        log_obs: Floats,
        log_pmf: Floats,
        log_survival: Floats,
    ):
        super().__init__(ptr, log_obs)
        reverse = np.ascontiguousarray(transmat.T)
        self.startprob, self.transmat = as_readonly(startprob), pad_columns(transmat)
        self.reverse = pad_columns(reverse)
        self.log_into = _logs(reverse)
        tables = as_readonly(log_pmf), as_readonly(log_survival)
        self.durations = segment_kernels.Durations(*tables, *map(_unroll, tables))
        self.n_states, n_longest = log_pmf.shape
        self._scratch = segment_kernels.Segments._make(
            [
                np.zeros((n_longest, self.n_states)),
                *np.empty((5, self.n_states)),
                np.empty((1, self.reverse.shape[1])),
                np.empty(max(n_longest, self.n_states)),
            ]
        )
        self._batches = Batches(self.ptr, self.n_states)
        self._log_enter, self._log_end, self._log_filtered = np.empty((3, *self._batches.shape))

    def log_likelihoods(self, out: Floats) -> None:
        """Write log p(x) of every sequence to `out`, (n,)."""
        self._filter_all()
        out[:] = self._likelihoods

    def log_predictives(self, out: Floats) -> None:
        """Write log p(x_t given x_<t), (N,); -inf after an impossible step of a sequence."""
        self._filter_all()
        out[:] = self._steps

    def _filter_all(self) -> None:
        """Filter all sequences, also those after an impossible one."""
        self._steps.fill(-np.inf)
        for first, last in self._batches:
            while first < last:  # an impossible sequence does not end a batch
                impossible = self._filter(first, last)
                first = last if impossible < 0 else impossible + 1

    def filtered(self, out: Floats) -> int:
        """Write p(z_t given x_<=t), (N, J); return the first impossible sequence, or -1."""
        for first, last in self._batches:
            if (impossible := self._filter(first, last)) >= 0:
                return impossible
            rows = out[self.ptr[first] : self.ptr[last]]
            np.exp(self._log_filtered[: len(rows)], out=rows)
        out /= out.sum(axis=1, keepdims=True)  # 1 but for rounding
        return -1

    def last_ages(self, out: Floats) -> int:
        """Write p(age, state) at last steps, (n, D, J); return the first impossible one, or -1."""
        # No sequence may be empty. Row 0 is a segment whose first step is the last of its sequence.
        survival_logs = as_readonly(np.ascontiguousarray(self.durations.log_survival.T))
        scratch = np.empty(self.n_states)
        for first, last in self._batches:
            if (impossible := self._filter(first, last)) >= 0:
                return impossible
            segment_kernels.filter_last_ages(
                self.ptr[first : last + 1], self._log_enter, self.log_obs, self._steps,
                survival_logs, scratch, out[first:last],
            )  # fmt: skip
        return -1

    def posteriors(self, out: Floats) -> int:
        """Write p(z_t given x) to `out`, (N, J); return the first impossible sequence, or -1."""
        return self._smooth(out, np.empty(len(self.log_obs)))

    def changes(self, out: Floats, labels: None = None) -> int:
        """Write p(a segment ends at step t - 1 given x), (N,); return as `posteriors` does."""
        return self._smooth(np.empty(self.log_obs.shape), out)

    def quiet(self, out: Floats, ranges: Places, labels: None = None) -> int:
        """Write p(one segment holds steps first - 1 to last given x) of ranges, (n,)."""
        return self._smooth(np.empty(self.log_obs.shape), np.empty(len(self.log_obs)), out, ranges)

    def _smooth(
        self, out: Floats, changes: Floats, quiet: Floats | None = None, ranges: Any = ()
    ) -> int:
        """Write the output of `posteriors`, of `changes` and of `quiet`."""
        log_from = _logs(np.ascontiguousarray(self.transmat[:, : self.n_states]))
        log_begin, log_after = np.empty(self.n_states), np.full(self._log_end.shape, -np.inf)
        changes.fill(0.0)
        for first, last in self._batches:
            if (impossible := self._filter(first, last)) >= 0:
                return impossible
            segment_kernels.smooth_segments(
                self.ptr[first : last + 1], self.reverse, log_from, self.log_obs, self.durations,
                self._scratch, self._log_enter, log_after, self._steps, log_begin, out,
            )  # fmt: skip
            own = changes[self.ptr[first] : self.ptr[last]]
            ends = np.exp(self._log_end[: len(own)] + log_after[: len(own)]).sum(axis=1)
            own[1:] = np.minimum(ends[:-1], 1.0)
            for k, (begin, end) in enumerate(ranges):
                if quiet is not None and self.ptr[first] <= begin < self.ptr[last]:
                    quiet[k] = self._stay(log_after, int(self.ptr[first]), begin - 1, end)
        changes[self._begins] = 0.0
        return -1

    def _stay(self, log_after: Floats, offset: int, first: int, last: int) -> float:
        """Return p(one segment holds steps first to last given x); rows begin at `offset`."""
        log_pmf, log_survival = self.durations.log_pmf, self.durations.log_survival
        s, longest = int(np.searchsorted(self.ptr, first, side="right")) - 1, log_pmf.shape[1]
        end = int(self.ptr[s + 1])
        begins = np.arange(max(int(self.ptr[s]), last - longest + 1), first + 1)
        ends = np.arange(last, min(end, first + longest))
        if len(begins) == 0 or len(ends) == 0:
            return 0.0
        steps = slice(int(begins[0]), int(ends[-1]) + 1)
        logs = self.log_obs[steps] - self._steps[steps, np.newaxis]
        seen, n = np.zeros((len(begins), self.n_states)), len(begins) - 1  # n steps before `first`
        seen[:n] = np.cumsum(logs[:n][::-1], axis=0)[::-1]
        before = self._log_enter[begins - offset] + seen
        is_open = ends == end - 1  # the end of the sequence cuts the segment off
        after = np.where(is_open[:, np.newaxis], 0.0, log_after[ends - offset])
        after += np.cumsum(logs[n:], axis=0)[ends - first]
        lengths = ends - begins[:, np.newaxis] + 1
        is_long, places = lengths > longest, np.minimum(lengths, longest) - 1
        total = 0.0
        for j in range(self.n_states):
            table = np.where(is_open, log_survival[j][places], log_pmf[j][places])
            terms = before[:, j, np.newaxis] + after[:, j] + np.where(is_long, -np.inf, table)
            total += float(np.exp(terms).sum())
        return min(total, 1.0)

    def sample_states_with(self, states: Places, key: Stream, number: int = 0) -> int:
        own_rng = np.empty_like(key)
        for first, last in self._batches:
            if (impossible := self._filter(first, last)) >= 0:
                return impossible
            segment_kernels.sample_segments(
                self.ptr[first : last + 1], number + first, self.reverse, self.log_obs,
                self.durations, self._scratch, self._log_enter, self._log_end, self._steps,
                self._log_filtered, states, key, own_rng,
            )  # fmt: skip
        return -1

    def _filter(self, first: int, last: int) -> int:
        """Filter sequences first to last - 1 up to an impossible one; return this, or -1."""
        n_done = segment_kernels.filter_segments(
            self.ptr[first : last + 1], self.startprob, self.transmat, self.log_into,
            self.log_obs, self.durations, self._scratch, self._log_enter, self._log_end,
            self._steps, self._log_filtered, self._likelihoods[first:last],
        )  # fmt: skip
        return first + n_done if first + n_done < last else -1


def make_messages(
    ptr: Places,
    startprob: Floats,
    transmat: Floats,
    log_obs: Floats,
    durations: tuple[Floats, Floats] | None,
) -> Any:
    """Return the messages of a model whose states last as `durations` say, if there are any."""
    known = ptr, startprob, transmat, log_obs
    return HMMMessages(*known) if durations is None else SegmentMessages(*known, *durations)


def _logs(matrix: Floats) -> Floats:
    out = np.empty(matrix.shape)
    segment_kernels.write_logs(matrix, out)
    return as_readonly(out)


def _unroll(log_table: Floats) -> Floats:
    n_states, n_longest = log_table.shape
    out = np.empty((2 * n_longest - 1, n_states))
    segment_kernels.unroll(log_table, out)
    return as_readonly(out)


# The most probable states of sequences.


def decode(
    ptr: Places,
    startprob: Floats,
    transmat: Floats,
    log_obs: Floats,
    durations: tuple[Floats, Floats] | None = None,
) -> tuple[Floats, Places]:
    """Return log p(x, z) of the most probable paths z, (n,), and z, (N,): -1 if x is impossible."""
    with np.errstate(divide="ignore"):
        log_start, log_from = np.log(startprob), np.log(transmat)
    matrices = (np.ascontiguousarray(each) for each in (log_from, log_from.T, log_obs))
    known = as_readonly(log_start), *map(as_readonly, matrices)
    log_probabilities, states = np.empty(len(ptr) - 1), np.empty(len(log_obs), dtype=np.int64)
    batches = Batches(ptr, len(log_start))
    if durations is None:
        log_best = np.empty(batches.shape)
        for first, last in batches:
            some = as_readonly(ptr[first : last + 1])
            kernels.decode_sequences(some, *known, log_best, states, log_probabilities[first:last])
    else:
        log_pmf, log_survival = (as_readonly(np.ascontiguousarray(table)) for table in durations)
        longest = log_pmf.shape[1]
        # Row m of a ring has duration longest - m, or longest more if that is below 1.
        ring = as_readonly(np.ascontiguousarray(log_pmf.T[_durations_of_ring(longest) - 1]))
        scratch = np.empty((longest, len(log_start))), np.empty(len(log_start))
        log_enter, log_end = np.empty((2, *batches.shape))
        for first, last in batches:
            kernels.decode_segments(
                as_readonly(ptr[first : last + 1]), *known, log_pmf, log_survival, ring, *scratch,
                log_enter, log_end, states, log_probabilities[first:last],
            )  # fmt: skip
    _warn_of_impossible(log_probabilities)
    return log_probabilities, states


def _durations_of_ring(longest: int) -> Places:
    """Return the durations of the rows of a ring, (2 longest - 1,)."""
    return np.concatenate([np.arange(longest, 0, -1), np.arange(longest, 1, -1)])


def _warn_of_impossible(log_probabilities: Floats) -> None:
    impossible = np.flatnonzero(log_probabilities == -np.inf)
    if len(impossible) == 0:
        return
    if len(log_probabilities) == 1:
        which = "The sequence has"
    elif len(impossible) == 1:
        which = f"Sequence {impossible[0]} has"
    else:
        others = len(impossible) - 1
        which = f"Sequence {impossible[0]} and {others} other{'s' * (others > 1)} have"
    warnings.warn(
        f"{which} probability 0 under the model: there is no most probable path, and states are "
        "-1.",
        UserWarning,
        stacklevel=4,  # the caller of the public function or method
    )


# Steps with observed values, the basis of the shares of states and factors.


def observed_steps(values: Floats, part: Any = None) -> Mask:
    """Return whether any value of a step, in the target columns of `part` if any, is seen, (N,)."""
    columns = getattr(part, "target_columns", None)
    if columns is not None:
        values = values[:, columns]
    return np.asarray(~np.isnan(values).all(axis=1))


def scored_steps(values: Floats, ptr: Places, n_given: int, part: Any = None) -> Mask:
    """Return the steps that a score is the mean over, (N,): observed, and from `n_given` on."""
    places = np.arange(len(values)) - np.repeat(ptr[:-1], np.diff(ptr))
    return observed_steps(values, part) & (places >= n_given)


def count_pairs(first: Ints, second: Ints, is_observed: Mask, n_states: int) -> Places:
    """Count the observed steps by their pair of states in two draws, (J, J)."""
    pairs = first[is_observed].astype(np.int64) * n_states + second[is_observed]
    return np.bincount(pairs, minlength=n_states * n_states).reshape(n_states, n_states)
