r"""Exact filtering and smoothing of binary chains over all their 2^F joint states.

Joint state j has factor f on if bit f of the number j is 1. Chains move on their own, so that a
step takes F 2^F operations, not the 4^F of a matrix of transitions.

| name | symbol | shape | meaning |
|---|---|---|---|
| ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| on_probs | | (F, 3) | probability to be on: at first, after off, after on; inside (0, 1) |
| values | y_td | (N, D) | NaN is a missing one |
| centres | m_jd | (D, 2^F) | means of joint states |
| precisions | tau_d | (D,) | 1 for probit columns |
| probit | | (D,) bool | which columns are |
| log_probs | | (2, D, 2^F) | log p(y = 0) and log p(y = 1) of probit columns |
| predicted | p_j | (2^F,) | p(joint state j given y_<t) |
| filtered | f_j | (2^F,) | p(joint state j given y_<=t) |

Every joint state can follow every other, with a probability of at least prod_f min(on, off). That
is far above `NEGLIGIBLE` unless priors of transitions are extreme: predicted probabilities are
right though filtered ones below it are set to 0, as numbers near the smallest are slow.
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._elementary import fast_exp
from skdp._numba import njit, njit_loop, njit_step
from skdp.emissions._kernels_factors import weigh_step, write_log_probs
from skdp.sequence._hmm._kernels_messages import SMALLEST_TOTAL, add_up, find_largest, weigh_in_logs

FIRST, AFTER_OFF, AFTER_ON = 0, 1, 2

NEGLIGIBLE = 1e-250


@njit_loop
def write_first(on_probs, predicted):
    """Write the probabilities of first joint states."""
    predicted[0] = 1.0
    n = 1
    for f in range(on_probs.shape[0]):
        on = on_probs[f, FIRST]
        for k in range(n):
            predicted[n + k] = predicted[k] * on
            predicted[k] *= 1.0 - on
        n *= 2


@njit_loop
def step_forward(on_probs, message):
    """Turn probabilities of joint states into those of a step later, in place."""
    half = 1
    for f in range(on_probs.shape[0]):
        off_on, on_on = on_probs[f, AFTER_OFF], on_probs[f, AFTER_ON]
        off_off, on_off = 1.0 - off_on, 1.0 - on_on
        for begin in range(0, message.shape[0], 2 * half):
            for k in range(begin, begin + half):
                off, on = message[k], message[k + half]
                message[k] = off * off_off + on * on_off
                message[k + half] = off * off_on + on * on_on
        half *= 2


@njit_loop
def step_backward(on_probs, message):
    """Turn a function of joint states into its mean a step earlier, given the state there."""
    half = 1
    for f in range(on_probs.shape[0]):
        off_on, on_on = on_probs[f, AFTER_OFF], on_probs[f, AFTER_ON]
        off_off, on_off = 1.0 - off_on, 1.0 - on_on
        for begin in range(0, message.shape[0], 2 * half):
            for k in range(begin, begin + half):
                off, on = message[k], message[k + half]
                message[k] = off_off * off + off_on * on
                message[k + half] = on_off * off + on_on * on
        half *= 2


@njit_step
def weigh(predicted, log_obs, filtered):
    """Turn p(state given y_<t) into p(state given y_<=t); return log p(y_t given y_<t).

    Unlike `_kernels_messages.update` without soft zeros, which would need logarithms behind them.
    """
    shift = find_largest(log_obs)
    if shift == -math.inf:
        return shift
    for j in range(predicted.shape[0]):
        filtered[j] = predicted[j] * fast_exp(log_obs[j] - shift)
    total = add_up(filtered)
    if total < SMALLEST_TOTAL:  # the likeliest observations come from states all but impossible
        shift = weigh_in_logs(predicted, log_obs, filtered)
        if shift == -math.inf:
            return shift
        total = add_up(filtered)
    scale = 1.0 / total
    for j in range(predicted.shape[0]):
        p = filtered[j] * scale
        filtered[j] = p if p > NEGLIGIBLE else 0.0
    return shift + math.log(total)


@njit_loop
def filter_step(
    t, begin, values, on_probs, centres, precisions, probit, log_probs, log_obs, filtered, predicted
):
    """Do a step of filtering; return log p(y_t given y_<t).

    Parameters
    ----------
    t, begin : int
        The step, and the first of the sequence.
    log_obs : (2^F,) float64, scratch
    filtered : (2^F,) float64, changed
        Of the step before, then of this one.
    predicted : (2^F,) float64, output
    """
    if t == begin:
        write_first(on_probs, predicted)
    else:
        for j in range(predicted.shape[0]):
            predicted[j] = filtered[j]
        step_forward(on_probs, predicted)
    weigh_step(values[t], centres, precisions, probit, log_probs, log_obs)
    return weigh(predicted, log_obs, filtered)


@njit
def log_predictives(ptr, values, on_probs, centres, precisions, probit, out):
    """Write log p(y_t given y_<t) of all steps, (N,); after an impossible one all are -inf."""
    n_states = centres.shape[1]
    log_probs = np.empty((2, *centres.shape))
    write_log_probs(centres, probit, log_probs)
    log_obs, filtered, predicted = np.empty(n_states), np.empty(n_states), np.empty(n_states)
    for s in range(ptr.shape[0] - 1):
        begin, end = ptr[s], ptr[s + 1]
        for t in range(begin, end):
            if t > begin and out[t - 1] == -math.inf:
                out[t] = -math.inf
                continue
            out[t] = filter_step(
                t, begin, values, on_probs, centres, precisions, probit, log_probs, log_obs,
                filtered, predicted,
            )  # fmt: skip


@njit_loop
def smooth_step(on_probs, filtered, predicted_next, message):
    """Turn p(state at t + 1 given y), `message`, into that at t, in place.

    p(i at t given y) = f_i sum_j P_ij p(j at t + 1 given y) / p_j.
    """
    for j in range(message.shape[0]):
        p = predicted_next[j]
        message[j] = message[j] / p if p > 0.0 else 0.0
    step_backward(on_probs, message)
    for j in range(message.shape[0]):
        message[j] *= filtered[j]
    scale = 1.0 / add_up(message)  # 1 but for rounding
    for j in range(message.shape[0]):
        message[j] *= scale


@njit_loop
def write_activities(message, folded, activities):
    """Write the probabilities of all factors to be on, from those of joint states.

    Parameters
    ----------
    folded : (2^F,) float64, scratch
        Probabilities of the states of the first factors, one less of them at a time.
    """
    n = message.shape[0]
    for j in range(n):
        folded[j] = message[j]
    for f in range(activities.shape[0] - 1, -1, -1):
        half = n // 2
        activities[f] = add_up(folded[half:n])
        for k in range(half):
            folded[k] += folded[half + k]
        n = half


@njit
def activities(ptr, values, on_probs, centres, precisions, probit, most_kept, out):
    """Write p(b_tf = 1 given y) of all steps, (N, F); return the first impossible sequence, or -1.

    Filtered probabilities of a whole sequence may not fit into memory. Those before every block of
    steps are kept, and those of a block are computed again when it is smoothed.

    Parameters
    ----------
    most_kept : int
        Numbers to be kept of a sequence before it is cut into blocks.
    """
    n_states = centres.shape[1]
    log_probs = np.empty((2, *centres.shape))
    write_log_probs(centres, probit, log_probs)
    log_obs, message, folded = np.empty(n_states), np.empty(n_states), np.empty(n_states)
    for s in range(ptr.shape[0] - 1):
        begin, end = ptr[s], ptr[s + 1]
        n_steps = end - begin
        length = min(n_steps, max(most_kept // n_states, int(math.sqrt(n_steps)) + 1))
        n_blocks = -(-n_steps // length)
        before = np.zeros((n_blocks, n_states))  # filtered, at the step before a block
        filtered, predicted = np.empty((length, n_states)), np.empty((length, n_states))
        current = np.empty(n_states)
        for t in range(begin, begin + (n_blocks - 1) * length):
            likelihood = filter_step(
                t, begin, values, on_probs, centres, precisions, probit, log_probs, log_obs,
                current, folded,
            )  # fmt: skip
            if likelihood == -math.inf:
                return s
            if (t + 1 - begin) % length == 0:
                before[(t + 1 - begin) // length] = current
        for block in range(n_blocks - 1, -1, -1):
            first = begin + block * length
            last = min(first + length, end)
            current[:] = before[block]
            # What follows the block: its first predicted probabilities, which `message` goes with.
            if block < n_blocks - 1:
                folded[:] = predicted[0]
            for t in range(first, last):
                likelihood = filter_step(
                    t, begin, values, on_probs, centres, precisions, probit, log_probs, log_obs,
                    current, predicted[t - first],
                )  # fmt: skip
                if likelihood == -math.inf:
                    return s
                filtered[t - first] = current
            for t in range(last - 1, first - 1, -1):
                if t == end - 1:
                    message[:] = filtered[t - first]
                elif t == last - 1:
                    smooth_step(on_probs, filtered[t - first], folded, message)
                else:
                    smooth_step(on_probs, filtered[t - first], predicted[t + 1 - first], message)
                write_activities(message, folded, out[t])
    return -1
