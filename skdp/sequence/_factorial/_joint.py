"""Filtering and smoothing of factors over all their joint states: calls of the kernels.

| name | shape | meaning |
|---|---|---|
| ptr | (n + 1,) | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| values, on_probs, centers, precisions, probit | | see `_kernels/_joint` |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Places
from skdp._numeric._numba import as_readonly
from skdp.emissions._kernels._binary_factors import write_log_probs
from skdp.sequence._hmm._messages import Batches
from skdp.sequence._kernels import _joint as kernels


class _Filter:
    """Inputs of the filter, and buffers for one step."""

    def __init__(
        self,
        values: Floats,
        on_probs: Floats,
        centers: Floats,
        precisions: Floats,
        probit: NDArray[np.bool_],
    ):
        self.n_states = centers.shape[1]
        log_probs = np.empty((2, *centers.shape))
        write_log_probs(centers, probit, log_probs)
        self._known = as_readonly(values), on_probs, centers, precisions, probit, log_probs
        self._log_obs = np.empty(self.n_states)
        self.current = np.empty(self.n_states)

    def run(
        self, ptr: Places, predicted: Floats, filtered: Floats, steps: Floats, *, goes_on: bool
    ) -> int:
        """Filter; return the first impossible sequence, or -1."""
        return kernels.filter_sequences(
            as_readonly(ptr), goes_on, *self._known, self._log_obs, self.current, predicted,
            filtered, steps,
        )  # fmt: skip


def log_predictives(
    ptr: Places,
    values: Floats,
    on_probs: Floats,
    centers: Floats,
    precisions: Floats,
    probit: NDArray[np.bool_],
    out: Floats,
) -> None:
    """Write log p(y_t given y_<t) of all steps, (N,); after an impossible step, all are -inf."""
    out.fill(-np.inf)
    known = _Filter(values, on_probs, centers, precisions, probit)
    ring = np.empty((2, 1, known.n_states))
    known.run(ptr, ring[0], ring[1], out, goes_on=False)


def activities(
    ptr: Places,
    values: Floats,
    on_probs: Floats,
    centers: Floats,
    precisions: Floats,
    probit: NDArray[np.bool_],
    most_kept: int,
    out: Floats,
) -> int:
    """Write p(b_tf = 1 given y), (N, F); return the first impossible sequence, or -1."""
    known, n = _Filter(values, on_probs, centers, precisions, probit), len(centers[0])
    steps, following = np.empty(len(values)), np.empty(n)
    message, folded = np.empty((2, n))
    # The filtered probabilities of a whole sequence may not fit into memory. Then only those before
    # each block of steps are kept, and those within a block are recomputed when it is smoothed.
    for first, last in Batches(ptr, n):
        begin, end = int(ptr[first]), int(ptr[last])
        # Only a sequence in a separate batch may be long enough to be cut.
        length = max(most_kept // n, int(np.sqrt(end - begin)) + 1)
        cuts = [begin] if last - first > 1 else list(range(begin, end, length)) or [begin]
        before = np.zeros((len(cuts), n))  # filtered, at the step before a block
        ring = np.empty((2, 1, n))
        for block in range(len(cuts) - 1):
            part = np.array(cuts[block : block + 2])
            if known.run(part, ring[0], ring[1], steps, goes_on=block > 0) >= 0:
                return first
            before[block + 1] = known.current
        for block in range(len(cuts) - 1, -1, -1):
            known.current[:] = before[block]
            is_last = block == len(cuts) - 1
            if len(cuts) > 1:
                part = np.array([cuts[block], end if is_last else cuts[block + 1]])
            else:
                part = ptr[first : last + 1]
            predicted, filtered = np.empty((2, int(part[-1] - part[0]), n))
            impossible = known.run(part, predicted, filtered, steps, goes_on=block > 0)
            if impossible >= 0:
                return first + impossible
            kernels.smooth_sequences(
                as_readonly(part), not is_last, on_probs, filtered, predicted, following, message,
                folded, out,
            )  # fmt: skip
            following[:] = predicted[0]  # the step after the previous block
    return -1
