"""Filtering, smoothing and draws of the states of hidden Markov models: which kernels do what.

Sequences are filtered some at a time. One that would take numbers that 64 bits cannot hold is done
again in logarithms, by kernels that are compiled when the first such sequence comes.
"""

from __future__ import annotations

import numpy as np

from skdp._numba import frozen
from skdp._random import draw_key, stream_of_number
from skdp._typing import Floats, Places
from skdp.sequence._hmm import _kernels_beam as beam
from skdp.sequence._hmm import _kernels_messages as kernels
from skdp.sequence._hmm._batches import Batches, find_longest


class HMMMessages:
    """Messages of a hidden Markov model, and the observations of a panel.

    Parameters
    ----------
    ptr : (n + 1,) array of int64
        Sequence s is steps ``ptr[s]`` to ``ptr[s + 1] - 1``.
    startprob, transmat : (J,), (J, J) arrays
        Probabilities of first states and of transitions.
    log_obs : (N, J) array
        log p(x_t given state j).
    """

    def __init__(self, ptr: Places, startprob: Floats, transmat: Floats, log_obs: Floats):
        transmat = np.ascontiguousarray(transmat)
        self.ptr = frozen(ptr)
        self.startprob, self.transmat = frozen(startprob), frozen(transmat)
        self.reverse = frozen(np.ascontiguousarray(transmat.T))
        self.log_obs = frozen(np.ascontiguousarray(log_obs))
        self.n_states = len(startprob)
        self._batches = Batches(self.ptr, self.n_states)

    def log_likelihoods(self, out: Floats) -> None:
        """Write log p(x) of every sequence to `out`, (n,)."""
        predicted, filtered = np.empty((1, self.n_states)), np.empty((2, self.n_states))
        steps = np.empty(len(self.log_obs))
        first = 0
        while True:
            first += self._filter(first, len(out), predicted, filtered, steps, out)
            if first == len(out):
                return
            if np.isnan(out[first]):
                out[first] = self._filter_in_logs(first, steps)[0]
            first += 1

    def log_predictives(self, out: Floats) -> None:
        """Write log p(x_t given x_<t) of every step of one sequence to `out`, (T,).

        After a step that is impossible all are -inf.
        """
        predicted, filtered = np.empty((1, self.n_states)), np.empty((2, self.n_states))
        likelihood = np.empty(1)
        out.fill(-np.inf)
        if self._filter(0, 1, predicted, filtered, out, likelihood) == 0 and np.isnan(likelihood):
            out.fill(-np.inf)
            self._filter_in_logs(0, out)

    def filtered(self, out: Floats) -> int:
        """Write p(z_t given x_<=t) to `out`, (N, J); return the first impossible one, or -1."""
        predicted, steps = np.empty((1, self.n_states)), np.empty(len(self.log_obs))
        likelihoods = np.empty(len(self.ptr) - 1)
        first, last = 0, len(likelihoods)
        while first < last:
            rows = out[self.ptr[first] :]
            first += self._filter(first, last, predicted, rows, steps, likelihoods)
            if first == last:
                break
            if likelihoods[first] == -np.inf:
                return first
            likelihood, _, logs = self._filter_in_logs(first, steps)
            if likelihood == -np.inf:
                return first
            out[self.ptr[first] : self.ptr[first + 1]] = np.exp(logs)
            first += 1
        out /= out.sum(axis=1, keepdims=True)  # 1 but for rounding
        return -1

    def posteriors(self, out: Floats) -> int:
        """Write p(z_t given x) to `out`, (N, J); return the first impossible sequence, or -1."""
        predicted, steps = np.empty(self._batches.shape), np.empty(len(self.log_obs))
        message, likelihoods = np.empty(self.n_states), np.empty(len(self.ptr) - 1)
        for first, last in self._batches:
            while first < last:
                begin = self.ptr[first]
                rows = out[begin : self.ptr[last]]
                n = self._filter(first, last, predicted, rows, steps, likelihoods)
                done = self.ptr[first : first + n + 1]
                kernels.smooth_sequences(done, self.reverse, predicted, rows, message)
                first += n
                if first == last:
                    break
                if likelihoods[first] == -np.inf:
                    return first
                likelihood, *logs = self._filter_in_logs(first, steps)
                if likelihood == -np.inf:
                    return first
                kernels.smooth_in_logs(self.transmat, *logs, message)
                out[self.ptr[first] : self.ptr[first + 1]] = logs[1]
                first += 1
        return -1

    def sample_states(self, states: Places, rng: np.ndarray) -> int:
        """Draw the states of all sequences; return the first impossible one, or -1.

        The draws for a sequence depend on its number, and not on the other sequences.

        Parameters
        ----------
        states : (N,) array of int64, output
        rng : (4,) array of uint64
        """
        key, own_rng = np.empty_like(rng), np.empty_like(rng)
        draw_key(rng, key)
        predicted, filtered = np.empty((1, self.n_states)), np.empty(self._batches.shape)
        weights, steps = np.empty(self.n_states), np.empty(len(self.log_obs))
        likelihoods = np.empty(len(self.ptr) - 1)
        for first, last in self._batches:
            while first < last:
                n = self._filter(first, last, predicted, filtered, steps, likelihoods)
                done = self.ptr[first : first + n + 1]
                kernels.sample_sequences(
                    done, first, self.reverse, filtered, states, weights, key, own_rng
                )
                first += n
                if first == last:
                    break
                if likelihoods[first] == -np.inf:
                    return first
                likelihood, _, logs = self._filter_in_logs(first, steps)
                if likelihood == -np.inf:
                    return first
                own = states[self.ptr[first] : self.ptr[first + 1]]
                stream_of_number(key, first, own_rng)
                kernels.sample_in_logs(self.reverse, logs, own, weights, own_rng)
                first += 1
        return -1

    def sample_states_by_beam(self, states: Places, rng: np.ndarray) -> int:
        """Draw the states of all sequences anew; return the first impossible one, or -1.

        Parameters
        ----------
        states : (N,) array of int64, changed
        rng : (4,) array of uint64
        """
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
    ) -> int:
        """Filter sequences first to last - 1; return how many come before one that is not done."""
        return kernels.filter_sequences(
            self.ptr[first : last + 1], self.startprob, self.transmat, self.log_obs, predicted,
            filtered, steps, likelihoods[first:last],
        )  # fmt: skip

    def _filter_in_logs(self, s: int, steps: Floats) -> tuple[float, Floats, Floats]:
        """Return log p(x) of a sequence, and logs of predicted and filtered probabilities."""
        begin, end = self.ptr[s], self.ptr[s + 1]
        predicted, filtered = np.empty((2, end - begin, self.n_states))
        likelihood = kernels.filter_in_logs(
            self.startprob, self.reverse, self.log_obs[begin:end], predicted, filtered,
            steps[begin:end], np.empty(self.n_states),
        )  # fmt: skip
        return likelihood, predicted, filtered
