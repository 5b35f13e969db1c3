"""The most probable states of sequences: calls of the kernels."""

from __future__ import annotations

import warnings

import numpy as np

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places
from skdp.sequence._hmm import _kernels_viterbi as kernels
from skdp.sequence._hmm._batches import Batches


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
    known = (
        as_readonly(log_start),
        as_readonly(np.ascontiguousarray(log_from)),
        as_readonly(np.ascontiguousarray(log_from.T)),
        as_readonly(np.ascontiguousarray(log_obs)),
    )
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
