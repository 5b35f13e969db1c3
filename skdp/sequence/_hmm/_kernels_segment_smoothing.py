r"""Smoothing of hidden semi-Markov models: probabilities of the states given whole sequences.

Names, layouts and guards are those of `_kernels_segments`, with these additions:

| name | symbol | shape | meaning |
|---|---|---|---|
| log_after | | (T, J) | log p(x_>t given a segment of j ends at t) / p(x_>t given x_<=t) |
| log_begin | | (J,) | the same, given that a segment of j begins |
| since | | int | number of steps that follow |
| out | p(z_t given x) | (N, J) | |

The recursion of the filter runs from the last step to the first: B_tj = p(x_>=t given that a
segment of j begins at t) is a sum over durations, A_ti = sum_j P_ij B_t+1,j, both divided by the
probabilities of the observations given the earlier ones. Step t is in j if a segment of j that
begins at t or before ends at t or later; all terms of that sum are positive.
"""

# mypy: ignore-errors

import math

from skdp._numeric._elementary import fast_log
from skdp._numeric._numba import njit_inlined, njit_inlined_source, njit_internal_nogc, njit_loop
from skdp.sequence._hmm._kernels_messages import add_up, log_sum_exp
from skdp.sequence._hmm._kernels_segments import (
    FLOOR,
    SAFE,
    insert,
    is_unsafe,
    move,
    weigh,
)


@njit_inlined_source
def refill_backward(log_after, log_obs, norms, t, j, durations, scratch):
    """Refill a column of the backward ring after step t; return how many durations are possible."""
    # The log weights of these durations are left in `scratch.logs`.
    entries, offsets, logs = scratch.entries, scratch.offsets, scratch.logs
    longest_duration, last = entries.shape[0], log_obs.shape[0] - 1
    n_rows = min(last - t + 1, longest_duration)
    likelihood = 0.0
    largest = -math.inf
    n = 0
    for d in range(1, n_rows + 1):
        end = t + d - 1
        likelihood += log_obs[end, j] - norms[end]
        if likelihood == -math.inf:
            break
        logs[n] = likelihood if end == last else likelihood + log_after[end, j]
        largest = max(largest, logs[n])
        n += 1
    offsets[j] = largest if largest > -math.inf else 0.0
    scratch.tail[j] = 0.0
    for k in range(n_rows):
        entries[k, j] = 0.0
    for i in range(n):
        entry = math.exp(logs[i] - offsets[j])
        entry = entry if entry >= FLOOR else 0.0
        if t + i == last:
            scratch.tail[j] = entry
            logs[i] += durations.log_survival[j, i]
        else:
            entries[(last - t - i) % longest_duration, j] = entry
            logs[i] += durations.log_pmf[j, i]
    return n


@njit_internal_nogc
def smooth_unsafe(log_after, log_enter, log_obs, norms, t, durations, scratch, log_begin, out):
    """Recompute the states whose sums at step t may have lost too much."""
    for j in range(log_begin.shape[0]):
        if not scratch.ends[j] >= SAFE or scratch.offsets[j] == -math.inf:
            n = refill_backward(log_after, log_obs, norms, t, j, durations, scratch)
            log_begin[j] = log_sum_exp(scratch.logs[:n])
            total = 0.0
            for i in range(n - 1, -1, -1):
                total += math.exp(log_enter[t, j] + scratch.logs[i])
                out[t + i, j] += total
            scratch.ends[j] = 0.0


@njit_inlined
def spread(n_rows, row, since, durations, scratch, out):
    """Add the probabilities of the segments that begin at one step to the steps they cover."""
    # `factors` are the probabilities that a segment begins, per unit of an entry; `sums` begin with
    # the weight of the segment that is censored by the end of the sequence.
    entries, factors, sums = scratch.entries, scratch.factors, scratch.filtered
    longest_duration, last = entries.shape[0], out.shape[0] - 1
    for i in range(n_rows):  # from the longest segment to the shortest: sums accumulate
        k = (row + 1 + i) % n_rows
        end = last - since + n_rows - 1 - i
        m = longest_duration - 1 - row + k
        for j in range(sums.shape[0]):
            sums[j] += entries[k, j] * durations.pmf[m, j]
            out[end, j] += factors[j] * sums[j]


@njit_loop
def smooth_segments(
    ptr, reverse, log_from, log_obs, durations, scratch, log_enter, log_after, norms, log_begin, out
):
    """Write p(z_t given x) of sequences that have been filtered."""
    entries, offsets, ends, factors, tail, sums = (
        scratch.entries, scratch.offsets, scratch.ends, scratch.factors, scratch.tail,
        scratch.filtered,
    )  # fmt: skip
    n, longest_duration = offsets.shape[0], entries.shape[0]
    for s in range(ptr.shape[0] - 1):
        first_row, n_steps = ptr[s] - ptr[0], ptr[s + 1] - ptr[s]
        own_obs, own_norms = log_obs[ptr[s] : ptr[s + 1]], norms[ptr[s] : ptr[s + 1]]
        own_out = out[ptr[s] : ptr[s + 1]]
        own_enter, own_after = log_enter[first_row:], log_after[first_row:]
        last = n_steps - 1
        for j in range(n):
            offsets[j] = 0.0
            tail[j] = 1.0
            entries[0, j] = 0.0
            for t in range(n_steps):
                own_out[t, j] = 0.0
        for t in range(last, -1, -1):
            # Add the segments that end, and sum over all active segments.
            since = last - t
            row, n_rows = since % longest_duration, min(since + 1, longest_duration)
            if since > 0:
                insert(own_after[t], scratch, row, n_rows)
            weigh(entries, n_rows, durations.pmf, longest_duration - 1 - row, ends)
            # Weigh by the observation.
            for j in range(n):
                sums[j] = 0.0
                offsets[j] += own_obs[t, j] - own_norms[t]
            if since < longest_duration:
                for j in range(n):
                    sums[j] = tail[j] * durations.survival[longest_duration - 1 - since, j]
                    ends[j] += sums[j]
            for j in range(n):
                log_begin[j] = fast_log(ends[j]) + offsets[j]
            if is_unsafe(ends, offsets):
                smooth_unsafe(
                    own_after, own_enter, own_obs, own_norms, t, durations, scratch, log_begin,
                    own_out,
                )  # fmt: skip
            # Add the segments that begin here to the steps that they cover.
            for j in range(n):
                factors[j] = math.exp(own_enter[t, j] + offsets[j]) if ends[j] > 0.0 else 0.0
            spread(n_rows, row, since, durations, scratch, own_out)
            if t > 0:
                move(log_begin, reverse, log_from, scratch, own_after[t - 1])
        for t in range(n_steps):
            scale = 1.0 / add_up(own_out[t])  # 1 but for rounding
            for j in range(n):
                own_out[t, j] *= scale
