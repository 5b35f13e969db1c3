"""Filtering, smoothing and draws of the segments of hidden semi-Markov models."""

from __future__ import annotations

import numpy as np

from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_key
from skdp._numeric._typing import Floats, Places
from skdp.sequence._hmm import _kernels_ages as ages
from skdp.sequence._hmm import _kernels_segment_smoothing as smoothing
from skdp.sequence._hmm import _kernels_segments as kernels
from skdp.sequence._hmm._batches import Batches
from skdp.sequence._hmm._kernels_messages import pad_columns


class SegmentMessages:
    """Messages of a hidden semi-Markov model for a panel: see `_kernels_segments`."""

    def __init__(
        self,
        ptr: Places,
        startprob: Floats,
        transmat: Floats,
        log_obs: Floats,
        log_pmf: Floats,
        log_survival: Floats,
    ):
        reverse = np.ascontiguousarray(transmat.T)
        self.ptr = as_readonly(ptr)
        self.startprob, self.transmat = as_readonly(startprob), pad_columns(transmat)
        self.reverse = pad_columns(reverse)
        self.log_into = _logs(reverse)
        self.log_obs = as_readonly(np.ascontiguousarray(log_obs))
        tables = as_readonly(log_pmf), as_readonly(log_survival)
        self.durations = kernels.Durations(*tables, *map(_unroll, tables))
        self.n_states, n_longest = log_pmf.shape
        self._scratch = kernels.Segments(
            np.zeros((n_longest, self.n_states)),
            np.empty(self.n_states),
            np.empty(self.n_states),
            np.empty(self.n_states),
            np.empty(self.n_states),
            np.empty(self.n_states),
            np.empty((1, self.reverse.shape[1])),
            np.empty(max(n_longest, self.n_states)),
        )
        self._batches = Batches(self.ptr, self.n_states)
        self._log_enter, self._log_end, self._log_filtered = np.empty((3, *self._batches.shape))

    def log_likelihoods(self, steps: Floats, out: Floats) -> None:
        """Write log p(x_t given x_<t), (N,), -inf after an impossible step, and log p(x), (n,)."""
        steps.fill(-np.inf)
        for first, last in self._batches:
            while first < last:  # an impossible sequence does not end a batch
                first += self._filter(first, last, steps, out) + 1

    def filtered(self, out: Floats) -> int:
        """Write p(z_t given x_<=t), (N, J); return the first impossible sequence, or -1."""
        norms, likelihoods = np.empty(len(self.log_obs)), np.empty(len(self.ptr) - 1)
        for first, last in self._batches:
            n_done = self._filter(first, last, norms, likelihoods)
            if first + n_done < last:
                return first + n_done
            rows = out[self.ptr[first] : self.ptr[last]]
            np.exp(self._log_filtered[: len(rows)], out=rows)
        out /= out.sum(axis=1, keepdims=True)  # 1 but for rounding
        return -1

    def last_ages(self, out: Floats) -> int:
        """Write p(age, state) at last steps, (n, D, J); return the first impossible one, or -1."""
        norms, likelihoods = np.empty(len(self.log_obs)), np.empty(len(self.ptr) - 1)
        # No sequence may be empty. Row 0 is a segment whose first step is the last of its sequence.
        survival_logs = as_readonly(np.ascontiguousarray(self.durations.log_survival.T))
        scratch = np.empty(self.n_states)
        for first, last in self._batches:
            n_done = self._filter(first, last, norms, likelihoods)
            if first + n_done < last:
                return first + n_done
            ages.filter_last_ages(
                self.ptr[first : last + 1], self._log_enter, self.log_obs, norms, survival_logs,
                scratch, out[first:last],
            )  # fmt: skip
        return -1

    def posteriors(self, out: Floats) -> int:
        """Write p(z_t given x) to `out`, (N, J); return the first impossible sequence, or -1."""
        return self._smooth(out, np.empty(len(self.log_obs)))

    def changes(self, out: Floats) -> int:
        """Write p(a segment ends at step t - 1 given x), (N,); return as `posteriors` does."""
        return self._smooth(np.empty(self.log_obs.shape), out)

    def _smooth(self, out: Floats, changes: Floats) -> int:
        """Write the output of `posteriors` and of `changes`."""
        log_from = _logs(np.ascontiguousarray(self.transmat[:, : self.n_states]))
        log_begin, log_after = np.empty(self.n_states), np.full(self._log_end.shape, -np.inf)
        norms, likelihoods = np.empty(len(self.log_obs)), np.empty(len(self.ptr) - 1)
        changes.fill(0.0)
        for first, last in self._batches:
            n_done = self._filter(first, last, norms, likelihoods)
            if first + n_done < last:
                return first + n_done
            smoothing.smooth_segments(
                self.ptr[first : last + 1], self.reverse, log_from, self.log_obs, self.durations,
                self._scratch, self._log_enter, log_after, norms, log_begin, out,
            )  # fmt: skip
            own = changes[self.ptr[first] : self.ptr[last]]
            ends = np.exp(self._log_end[: len(own)] + log_after[: len(own)]).sum(axis=1)
            own[1:] = np.minimum(ends[:-1], 1.0)
        begins = self.ptr[:-1]
        changes[begins[begins < len(changes)]] = 0.0
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
        norms, likelihoods = np.empty(len(self.log_obs)), np.empty(len(self.ptr) - 1)
        for first, last in self._batches:
            n_done = self._filter(first, last, norms, likelihoods)
            if first + n_done < last:
                return first + n_done
            kernels.sample_segments(
                self.ptr[first : last + 1], number + first, self.reverse, self.log_obs,
                self.durations, self._scratch, self._log_enter, self._log_end, norms,
                self._log_filtered, states, key, own_rng,
            )  # fmt: skip
        return -1

    def _filter(self, first: int, last: int, norms: Floats, likelihoods: Floats) -> int:
        """Filter sequences first to last - 1; return the number before an impossible one."""
        return kernels.filter_segments(
            self.ptr[first : last + 1], self.startprob, self.transmat, self.log_into,
            self.log_obs, self.durations, self._scratch, self._log_enter, self._log_end, norms,
            self._log_filtered, likelihoods[first:last],
        )  # fmt: skip


def _logs(matrix: Floats) -> Floats:
    out = np.empty(matrix.shape)
    kernels.write_logs(matrix, out)
    return as_readonly(out)


def _unroll(log_table: Floats) -> Floats:
    n_states, n_longest = log_table.shape
    out = np.empty((2 * n_longest - 1, n_states))
    kernels.unroll(log_table, out)
    return as_readonly(out)
