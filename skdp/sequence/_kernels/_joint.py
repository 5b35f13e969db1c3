r"""Exact filtering and smoothing of binary factors over all their 2^F joint states.

Joint state j has factor f on if bit f of the number j is 1. Chains move independently, so that a
step takes F 2^F operations, not the 4^F of a transition matrix.

| name | symbol | shape | meaning |
|---|---|---|---|
| ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| on_probs | | (F, 3) | probability of being on: at first, after off, after on; inside (0, 1) |
| values | y_td | (N, D) | NaN: missing |
| centers | m_jd | (D, 2^F) | means of joint states |
| precisions | tau_d | (D,) | 1 for probit columns |
| probit | | (D,) bool | which columns are probit |
| log_probs | | (2, D, 2^F) | log p(y = 0) and log p(y = 1) of probit columns |
| predicted | p_j | (2^F,) | p(joint state j given y_<t) |
| filtered | f_j | (2^F,) | p(joint state j given y_<=t) |
| predicted, filtered | | (R, 2^F) | of steps from ptr[0] on; rows are reused cyclically |
| current | f_j | (2^F,) | of the last step |
| steps | | (N,) | log p(y_t given y_<t); not written after an impossible step |
| log_obs, folded | | (2^F,) | scratch |

Every joint state can follow every other, with a probability of at least prod_f min(on, off). That
is far above `NEGLIGIBLE` unless priors of transitions are extreme: predicted probabilities are
right even though filtered ones below it are set to 0, because arithmetic near the smallest positive
numbers is slow.
"""

# mypy: ignore-errors

import math

from skdp._numeric._arithmetic import fast_exp
from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop
from skdp.emissions._kernels._binary_factors import weigh_step
from skdp.sequence._kernels._messages import SMALLEST_TOTAL, add_up, find_largest, weigh_in_logs

FIRST, AFTER_OFF, AFTER_ON = 0, 1, 2

NEGLIGIBLE = 1e-250


@njit_internal_nogc
def write_first(on_probs, predicted):
    """Write the probabilities of the joint states at the first step."""
    predicted[0] = 1.0
    n = 1
    for f in range(on_probs.shape[0]):
        on = on_probs[f, FIRST]
        for k in range(n):
            predicted[n + k] = predicted[k] * on
            predicted[k] *= 1.0 - on
        n *= 2


@njit_internal_nogc
def step_forward(on_probs, message):
    """Convert probabilities of joint states into those one step later, in place."""
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


@njit_internal_nogc
def step_backward(on_probs, message):
    """Convert a function of joint states into its mean given the joint state one step earlier."""
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


@njit_inlined
def weigh(predicted, log_obs, filtered):
    """Convert p(state given y_<t) into p(state given y_<=t); return log p(y_t given y_<t)."""
    # Soft zeros, as in `_messages.update`, would need a fallback in logarithms.
    shift = find_largest(log_obs)
    if shift == -math.inf:
        return shift
    for j in range(predicted.shape[0]):
        filtered[j] = predicted[j] * fast_exp(log_obs[j] - shift)
    total = add_up(filtered)
    if total < SMALLEST_TOTAL:  # the states that explain y_t best are all but impossible
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
def filter_sequences(
    ptr, goes_on, values, on_probs, centers, precisions, probit, log_probs, log_obs, current,
    predicted, filtered, steps,
):  # fmt: skip
    """Filter sequences; return the first impossible one, or -1. If `goes_on`, the first one began
    before step ptr[0], and `current` holds its filtered probabilities.
    """
    impossible = -1
    for s in range(ptr.shape[0] - 1):
        for t in range(ptr[s], ptr[s + 1]):
            i = t - ptr[0]
            row = predicted[i % predicted.shape[0]]
            # Predict.
            if t == ptr[s] and not (goes_on and s == 0):
                write_first(on_probs, row)
            else:
                for j in range(row.shape[0]):
                    row[j] = current[j]
                step_forward(on_probs, row)
            # Weigh by the observation.
            weigh_step(values[t], centers, precisions, probit, log_probs, log_obs)
            steps[t] = weigh(row, log_obs, current)
            if steps[t] == -math.inf:
                impossible = s if impossible < 0 else impossible
                break
            row = filtered[i % filtered.shape[0]]
            for j in range(row.shape[0]):
                row[j] = current[j]
    return impossible


@njit_internal_nogc
def smooth_step(on_probs, filtered, predicted_next, message):
    """Convert p(state at t + 1 given y), `message`, into that at t, in place."""
    # p(i at t given y) = f_i sum_j P_ij p(j at t + 1 given y) / p_j
    for j in range(message.shape[0]):
        p = predicted_next[j]
        message[j] = message[j] / p if p > 0.0 else 0.0
    step_backward(on_probs, message)
    for j in range(message.shape[0]):
        message[j] *= filtered[j]
    scale = 1.0 / add_up(message)  # 1 but for rounding
    for j in range(message.shape[0]):
        message[j] *= scale


@njit_internal_nogc
def write_activities(message, folded, activities):
    """Write the probabilities that factors are on, given those of joint states."""
    n = message.shape[0]
    for j in range(n):
        folded[j] = message[j]
    for f in range(activities.shape[0] - 1, -1, -1):  # `folded` has one factor fewer each time
        half = n // 2
        activities[f] = add_up(folded[half:n])
        for k in range(half):
            folded[k] += folded[half + k]
        n = half


@njit_loop
def smooth_sequences(ptr, goes_on, on_probs, filtered, predicted, following, message, folded, out):
    """Write p(b_tf = 1 given y) of filtered sequences to `out`, (N, F). If `goes_on`, the last one
    has a next step of predicted probabilities `following` and smoothed ones `message`.
    """
    for s in range(ptr.shape[0] - 1):
        for t in range(ptr[s + 1] - 1, ptr[s] - 1, -1):
            i = t - ptr[0]
            if t < ptr[s + 1] - 1:
                smooth_step(on_probs, filtered[i], predicted[i + 1], message)
            elif goes_on and s == ptr.shape[0] - 2:
                smooth_step(on_probs, filtered[i], following, message)
            else:
                for j in range(message.shape[0]):
                    message[j] = filtered[i, j]
            write_activities(message, folded, out[t])
