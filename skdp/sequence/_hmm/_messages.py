"""Filtering, smoothing and draws of the states of hidden Markov models: calls of the kernels.

Sequences are filtered several at a time. A sequence that exceeds the range of 64-bit floats is
recomputed in logarithms, by kernels that are compiled when the first such sequence occurs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_key, stream_of_number
from skdp._numeric._typing import Floats, Places
from skdp.sequence._hmm import _kernels_beam as beam
from skdp.sequence._hmm import _kernels_messages as kernels
from skdp.sequence._hmm._batches import Batches, find_longest


class HMMMessages:
    """Messages of a hidden Markov model for a panel; arrays are those of `_kernels_messages`."""

    def __init__(self, ptr: Places, startprob: Floats, transmat: Floats, log_obs: Floats):
        transmat = np.ascontiguousarray(transmat)
        self.ptr = as_readonly(ptr)
        self.startprob, self.transmat = as_readonly(startprob), as_readonly(transmat)
        self.reverse = as_readonly(np.ascontiguousarray(transmat.T))
        self.log_obs = as_readonly(np.ascontiguousarray(log_obs))
        self.n_states = len(startprob)
        self._matrix, self._room = kernels.pad_columns(transmat), kernels.make_room(len(startprob))
        self._batches = Batches(self.ptr, self.n_states, kernels.TOGETHER)

    @cached_property
    def _log_reverse(self) -> Floats:
        with np.errstate(divide="ignore"):
            return as_readonly(np.log(self.reverse))

    def log_likelihoods(self, out: Floats) -> None:
        """Write log p(x) of every sequence to `out`, (n,)."""
        nothing, steps = np.empty((0, self.n_states)), np.empty(len(self.log_obs))
        self._filter(0, len(out), nothing, nothing, steps, out)
        for s in np.flatnonzero(np.isnan(out)).tolist():
            out[s] = self._filter_in_logs(s, steps)[0]

    def log_predictives(self, out: Floats) -> None:
        """Write log p(x_t given x_<t) of one sequence, (T,); -inf after an impossible step."""
        nothing, likelihood = np.empty((0, self.n_states)), np.empty(1)
        out.fill(-np.inf)
        self._filter(0, 1, nothing, nothing, out, likelihood)
        if np.isnan(likelihood[0]):
            out.fill(-np.inf)
            self._filter_in_logs(0, out)

    def filtered(self, out: Floats) -> int:
        """Write p(z_t given x_<=t), (N, J); return the first impossible sequence, or -1."""
        nothing, steps = np.empty((0, self.n_states)), np.empty(len(self.log_obs))
        likelihoods = np.empty(len(self.ptr) - 1)
        self._filter(0, len(likelihoods), nothing, out, steps, likelihoods)
        for s, logs in self._rest(0, likelihoods, steps):
            if logs is None:
                return s
            out[self.ptr[s] : self.ptr[s + 1]] = np.exp(logs[1])
        out /= out.sum(axis=1, keepdims=True)  # 1 but for rounding
        return -1

    def posteriors(self, out: Floats) -> int:
        """Write p(z_t given x) to `out`, (N, J); return the first impossible sequence, or -1."""
        predicted, steps = np.empty(self._batches.shape), np.empty(len(self.log_obs))
        likelihoods = np.empty(len(self.ptr) - 1)
        matrix = kernels.pad_columns(self.reverse)
        message = np.empty((1, matrix.shape[1]))
        for first, last in self._batches:
            rows, own = out[self.ptr[first] : self.ptr[last]], likelihoods[first:last]
            self._filter(first, last, predicted, rows, steps, own)
            ptr = self.ptr[first : last + 1]
            kernels.smooth_sequences(ptr, matrix, own, predicted, rows, message)
            for s, logs in self._rest(first, own, steps):
                if logs is None:
                    return s
                kernels.smooth_in_logs(self.transmat, *logs, message[0, : self.n_states])
                out[self.ptr[s] : self.ptr[s + 1]] = logs[1]
        return -1

    def changes(self, out: Floats) -> int:
        """Write p(z_t is not z_t-1 given x), (N,); return the first impossible sequence, or -1."""
        before, after = np.empty((2, *self.log_obs.shape))
        impossible = max(self.filtered(before), self.posteriors(after))
        if impossible >= 0:
            return impossible
        before, now = before[:-1], after[1:]
        predicted = before @ self.transmat
        # p(z_t-1 = z_t = j given x) = p(z_t-1 = j given x_<t) P_jj p(z_t = j given x) / p(z_t = j
        # given x_<t). If the last one underflows, the state was improbable before: it was entered
        # earlier if it is probable there given all of x.
        staying = np.minimum(after[:-1], now)
        both = before * now * np.diag(self.transmat)
        np.divide(both, predicted, out=staying, where=predicted > 0.0)
        out[1:] = np.clip(1.0 - staying.sum(axis=1), 0.0, 1.0)
        out[self.ptr[:-1][self.ptr[:-1] < len(out)]] = 0.0
        return -1

    def sample_states(self, states: Places, rng: np.ndarray) -> int:
        """Draw the states of all sequences; return the first impossible one, or -1."""
        key = np.empty_like(rng)
        draw_key(rng, key)
        return self.sample_states_with(states, key)

    def sample_states_with(self, states: Places, key: np.ndarray, number: int = 0) -> int:
        """Draw the states determined by a key; return the first impossible sequence, or -1."""
        # The draws for a sequence depend on its index in the whole panel, from `number` on.
        own_rng = np.empty_like(key)
        nothing, filtered = np.empty((0, self.n_states)), np.empty(self._batches.shape)
        weights, steps = np.empty(self.n_states), np.empty(len(self.log_obs))
        likelihoods = np.empty(len(self.ptr) - 1)
        for first, last in self._batches:
            own = likelihoods[first:last]
            self._filter(first, last, nothing, filtered, steps, own)
            ptr = self.ptr[first : last + 1]
            kernels.sample_sequences(
                ptr, number + first, self.reverse, own, filtered, states, weights, key, own_rng
            )
            for s, logs in self._rest(first, own, steps):
                if logs is None:
                    return s
                path = states[self.ptr[s] : self.ptr[s + 1]]
                stream_of_number(key, number + s, own_rng)
                kernels.sample_in_logs(self._log_reverse, logs[1], path, weights, own_rng)
        return -1

    def sample_states_by_beam(self, states: Places, rng: np.ndarray) -> int:
        """Redraw the states of all sequences; return the first impossible sequence, or -1."""
        n_steps, n_states = find_longest(self.ptr), self.n_states
        key = np.empty_like(rng)
        draw_key(rng, key)
        return beam.sample_states(
            self.ptr, self.startprob, self.transmat, self.log_obs, np.empty(n_steps),
            np.empty((n_steps, n_states)), np.empty(n_states, dtype=np.int64),
            np.empty(n_states), states, key, np.empty_like(rng),
        )  # fmt: skip

    def _filter(
        self,
        first: int,
        last: int,
        predicted: Floats,
        filtered: Floats,
        steps: Floats,
        likelihoods: Floats,
    ) -> None:
        """Filter sequences first to last - 1, except those that require logarithms."""
        kernels.filter_sequences(
            self.ptr[first : last + 1], self.startprob, self._matrix, self.log_obs, self._room,
            predicted, filtered, steps, likelihoods,
        )  # fmt: skip

    def _rest(
        self, first: int, likelihoods: Floats, steps: Floats
    ) -> Iterator[tuple[int, tuple[Floats, Floats] | None]]:
        """Yield the sequences that `_filter` left, in order, with logs of its output or None."""
        for i in np.flatnonzero(~(likelihoods > -np.inf)):
            s, likelihood = first + int(i), likelihoods[i]
            if np.isnan(likelihood):
                likelihood, predicted, filtered = self._filter_in_logs(s, steps)
            yield s, None if likelihood == -np.inf else (predicted, filtered)

    def _filter_in_logs(self, s: int, steps: Floats) -> tuple[float, Floats, Floats]:
        """Return log p(x) of a sequence, and logs of predicted and filtered probabilities."""
        begin, end = self.ptr[s], self.ptr[s + 1]
        predicted, filtered = np.empty((2, end - begin, self.n_states))
        likelihood = kernels.filter_in_logs(
            self.startprob, self.reverse, self._log_reverse, self.log_obs[begin:end], predicted,
            filtered, steps[begin:end], np.empty(self.n_states),
        )  # fmt: skip
        return likelihood, predicted, filtered
