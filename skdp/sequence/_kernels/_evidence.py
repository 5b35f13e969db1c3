r"""Binary paths: their evidence with the weights integrated out, and draws given the weights.

With x_t = (1, b_t) column d is normal given the bits: log p(y_.d) = -log|A| / 2 - R log(scale_d) +
b^T A^-1 b / 2 + a term that no bit changes, with A = tau_d G_d + I / scale_d^2 and b = tau_d r_d.
G_d = sum_t x_t x_t^T, r_d = sum_t y_td x_t, over the steps t at which y_td is not missing. Factors
that are never on do not change it. For a probit column, y_td is its latent normal.

A run is a maximal range of steps of one sequence at which a factor is on.

| name | symbol | shape | meaning |
|---|---|---|---|
| board | | | `FactorPaths` |
| f | | int | a factor |
| begin, end | | int | steps begin to end - 1, of one sequence |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Places
from skdp._numeric._arithmetic import fast_exp
from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop
from skdp._numeric._random import (
    draw_beta,
    draw_categorical,
    draw_normal,
    draw_poisson,
    next_double,
    stream_of_number,
)
from skdp.emissions._kernels._binary_factors import log_normal_cdf, weigh_step
from skdp.processes._partitions import log_weight_of_feature
from skdp.sequence._kernels._messages import SMALLEST_TOTAL, add_up, find_largest, weigh_in_logs

# Exact filtering and smoothing of binary factors over all their 2^F joint states.
#
# Joint state j has factor f on if bit f of the number j is 1. Chains move independently, so that a
# step takes F 2^F operations, not the 4^F of a transition matrix.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
# | on_probs | | (F, 3) | probability of being on: at first, after off, after on; inside (0, 1) |
# | values | y_td | (N, D) | NaN: missing |
# | centers | m_jd | (D, 2^F) | means of joint states |
# | precisions | tau_d | (D,) | 1 for probit columns |
# | probit | | (D,) bool | which columns are probit |
# | log_probs | | (2, D, 2^F) | log p(y = 0) and log p(y = 1) of probit columns |
# | predicted | p_j | (2^F,) | p(joint state j given y_<t) |
# | filtered | f_j | (2^F,) | p(joint state j given y_<=t) |
# | predicted, filtered | | (R, 2^F) | of steps from ptr[0] on; rows are reused cyclically |
# | current | f_j | (2^F,) | of the last step |
# | steps | | (N,) | log p(y_t given y_<t); not written after an impossible step |
# | log_obs, folded | | (2^F,) | scratch |
#
# Every joint state can follow every other, with a probability of at least prod_f min(on, off). That
# is far above `NEGLIGIBLE` unless priors of transitions are extreme: predicted probabilities are
# right even though filtered ones below it are set to 0, because arithmetic near the smallest
# positive numbers is slow.


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
def take_step(on_probs, message, is_forward):
    """Convert probabilities of joint states into those one step later or, backward, a function of
    joint states into its mean given the joint state one step earlier, in place.
    """
    half = 1
    for f in range(on_probs.shape[0]):
        off_on, on_on = on_probs[f, AFTER_OFF], on_probs[f, AFTER_ON]
        off_off, on_off = 1.0 - off_on, 1.0 - on_on
        if not is_forward:  # the transposed matrix
            off_on, on_off = on_off, off_on
        for begin in range(0, message.shape[0], 2 * half):
            for k in range(begin, begin + half):
                off, on = message[k], message[k + half]
                message[k] = off * off_off + on * on_off
                message[k + half] = off * off_on + on * on_on
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
                take_step(on_probs, row, True)
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
    take_step(on_probs, message, False)
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


# Paths of single factors.


class FactorPaths(NamedTuple):
    """Binary paths, and statistics that follow from them."""

    bits: NDArray[np.int8]  # (N, C), with C the capacity for factors
    known: NDArray[np.int8]  # (N, C), -1: unknown; without rows if none is known
    is_first: NDArray[np.bool_]  # (N + 1,), whether a step begins a sequence; True at the end
    counts: Places  # (C, 3, 2), steps off and on: at first, after off, after on
    n_on: Places  # (C,), steps at which factors are on
    seen: Floats  # (N, D), 1 if a value is observed, else 0
    totals: Floats  # (N, D), values, or latent normals; 0 if missing
    grams: Floats  # (G, C + 1, C + 1), G_d; one for all columns if no value is missing
    projections: Floats  # (D, C + 1), r_d
    precisions: Floats  # (D,), tau_d
    inverse_variances: Floats  # (D,), 1 / scale_d^2
    priors: Floats  # (3, 2), pseudo-counts of Beta priors, in the order of `counts`
    is_infinite: bool  # whether an Indian buffet replaces the first two rows of `priors`
    log_mass: float  # of the buffet
    active: Places  # (C + 1,), scratch: rows of G_d in use
    factor: Floats  # (C + 1, C + 1), scratch
    column: Floats  # (C + 1,), scratch


@njit_loop
def fill_board(board):
    """Write all statistics of the bits."""
    board.grams[:] = 0.0
    board.projections[:] = 0.0
    board.counts[:] = 0
    board.n_on[:] = 0
    bits, active = board.bits, board.active
    n_grams = board.grams.shape[0]
    for t in range(bits.shape[0]):
        n = 0
        for f in range(bits.shape[1]):
            row = FIRST
            if not board.is_first[t]:
                row = AFTER_ON if bits[t - 1, f] == 1 else AFTER_OFF
            board.counts[f, row, bits[t, f]] += 1
            if bits[t, f] == 1:
                active[n] = f + 1
                n += 1
                board.n_on[f] += 1
        for d in range(board.seen.shape[1]):
            total = board.totals[t, d]
            board.projections[d, 0] += total
            for i in range(n):
                board.projections[d, active[i]] += total
            if d >= n_grams or board.seen[t, d] == 0.0:
                continue
            gram = board.grams[d]
            gram[0, 0] += 1.0
            for i in range(n):
                gram[active[i], 0] += 1.0
                gram[0, active[i]] += 1.0
                for j in range(n):
                    gram[active[i], active[j]] += 1.0


@njit_internal_nogc
def count_steps(board, f, begin, last, change):
    """Add the steps begin to last - 1 to the counts of a factor, `change` times."""
    counts = board.counts[f]
    for t in range(begin, last):
        row = FIRST
        if not board.is_first[t]:
            row = AFTER_ON if board.bits[t - 1, f] == 1 else AFTER_OFF
        counts[row, board.bits[t, f]] += change


@njit_internal_nogc
def flip_steps(board, f, begin, end):
    """Flip the bits of a factor, and update all statistics that depend on them."""
    bits, n_grams = board.bits, board.grams.shape[0]
    last = end if board.is_first[end] else end + 1
    count_steps(board, f, begin, last, -1)
    for t in range(begin, end):
        is_on = bits[t, f] == 1
        sign = -1.0 if is_on else 1.0
        bits[t, f] = 0  # exclude the factor itself below
        for d in range(board.seen.shape[1]):
            board.projections[d, f + 1] += sign * board.totals[t, d]
        for d in range(n_grams):
            if board.seen[t, d] == 0.0:
                continue
            gram = board.grams[d]
            gram[0, f + 1] += sign
            gram[f + 1, 0] += sign
            gram[f + 1, f + 1] += sign
            for g in range(bits.shape[1]):
                if bits[t, g] == 1:
                    gram[f + 1, g + 1] += sign
                    gram[g + 1, f + 1] += sign
        if is_on:
            board.n_on[f] -= 1
        else:
            bits[t, f] = 1
            board.n_on[f] += 1
    count_steps(board, f, begin, last, 1)


@njit_internal_nogc
def log_evidence(board):
    """Return log p(y given bits), with the weights integrated out, up to a constant."""
    active, factor, column = board.active, board.factor, board.column
    n_rows = 1
    active[0] = 0
    for f in range(board.n_on.shape[0]):
        if board.n_on[f] > 0:
            active[n_rows] = f + 1
            n_rows += 1
    result = 0.0
    for d in range(board.precisions.shape[0]):
        precision, inverse_variance = board.precisions[d], board.inverse_variances[d]
        log_ratio = math.log(inverse_variance)
        gram = board.grams[d if d < board.grams.shape[0] else 0]
        for i in range(n_rows):
            row = gram[active[i]]
            column[i] = precision * board.projections[d, active[i]]
            for j in range(i + 1):
                factor[i, j] = precision * row[active[j]]
            factor[i, i] += inverse_variance
        # Cholesky factor and forward substitution in one pass.
        for i in range(n_rows):
            rest = column[i]
            for j in range(i):
                entry = factor[i, j]
                for k in range(j):
                    entry -= factor[i, k] * factor[j, k]
                entry /= factor[j, j]
                factor[i, j] = entry
                factor[i, i] -= entry * entry
                rest -= entry * column[j]
            factor[i, i] = math.sqrt(factor[i, i])
            rest /= factor[i, i]
            column[i] = rest
            result += 0.5 * rest * rest - math.log(factor[i, i]) + 0.5 * log_ratio
    return result


@njit_internal_nogc
def log_beta_ratio(off, on, n_off, n_on):
    """Return log B(off + n_off, on + n_on) - log B(off, on)."""
    result = math.lgamma(off + n_off) + math.lgamma(on + n_on)
    result -= math.lgamma(off + on + n_off + n_on) + math.lgamma(off) + math.lgamma(on)
    return result + math.lgamma(off + on)


@njit_internal_nogc
def log_weight_of_path(counts, priors, is_infinite):
    """Return the log weight of a path that is ever on, relative to one that never is. For a buffet,
    it lacks the mass, and the trials are the steps at which the factor may be switched on.
    """
    n_off = counts[FIRST, 0] + counts[AFTER_OFF, 0]
    n_on = counts[FIRST, 1] + counts[AFTER_OFF, 1]
    result = log_beta_ratio(
        priors[AFTER_ON, 0], priors[AFTER_ON, 1], counts[AFTER_ON, 0], counts[AFTER_ON, 1]
    )
    if is_infinite:
        return result + log_weight_of_feature(n_on, n_off, priors[AFTER_OFF, 0])
    n_firsts = counts[FIRST, 0] + counts[FIRST, 1]
    n_steps = n_off + n_on + counts[AFTER_ON, 0] + counts[AFTER_ON, 1]
    for row in (FIRST, AFTER_OFF):
        off, on = priors[row, 0], priors[row, 1]
        result += log_beta_ratio(off, on, counts[row, 0], counts[row, 1])
        n_never = n_firsts if row == FIRST else n_steps - n_firsts
        result -= log_beta_ratio(off, on, n_never, 0)
    return result


@njit_internal_nogc
def log_weight(board, f):
    """Return the log weight of a factor, 0 if it is never on."""
    if board.n_on[f] == 0:
        return 0.0
    return log_weight_of_path(board.counts[f], board.priors, board.is_infinite)


@njit_internal_nogc
def count_active(board):
    """Return the number of factors that are ever on."""
    result = 0
    for f in range(board.n_on.shape[0]):
        result += board.n_on[f] > 0
    return result


@njit_internal_nogc
def log_rate_of_new(board, n_free):
    """Return the log of the number of ways to add a factor: the mass, or the free factors."""
    if board.is_infinite:
        return board.log_mass
    return math.log(n_free) if n_free > 0 else -math.inf


@njit_internal_nogc
def count_runs(board, f):
    """Return the number of runs of a factor."""
    return board.counts[f, FIRST, 1] + board.counts[f, AFTER_OFF, 1]


@njit_internal_nogc
def find_run_end(board, f, begin):
    """Return the end of the run that begins at a step."""
    end = begin + 1
    while not board.is_first[end] and board.bits[end, f] == 1:
        end += 1
    return end


@njit_internal_nogc
def is_free(board, f, begin, end):
    """Return whether a factor is off from the step before `begin` to step `end`."""
    first = begin if board.is_first[begin] else begin - 1
    last = end if board.is_first[end] else end + 1
    n_on = 0
    for t in range(first, last):
        n_on += board.bits[t, f]
    return n_on == 0


@njit_internal_nogc
def is_open(board, f, begin, end):
    """Return whether no bit of a factor is known from step `begin` to step `end` - 1."""
    if board.known.shape[0] > 0:
        for t in range(begin, end):
            if board.known[t, f] >= 0:
                return False
    return True


# Draws of the bits of some factors given all others and the weights.
#
# Mean of column d at step t: m_td = w_0d + sum_f b_tf w_fd. A normal column is m_td plus noise of
# precision tau_d, a probit column is 1 with probability Phi(m_td), else 0. The bits b_.f of factor
# f are an independent Markov chain; K factors drawn together have 2^K joint states, in which the
# k-th of them is on if bit k of the number of the state is 1.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
# | bits | b_tf | (N, F) int8 | which factors are on |
# | on_probs | | (F, 3) | probability of being on: at first, after off, after on |
# | counts | | (F, 3, 2) int64 | in the same order: number of steps off, number of steps on |
# | priors | | (3, 2) | in the same order: pseudo-counts of Beta priors, for off and for on |
# | values | y_td | (N, D) | NaN: missing |
# | fits | m_td | (N, D) | updated with the bits |
# | precisions | tau_d | (D,) | 1 for probit columns |
# | probit | | (D,) bool | which columns are probit |
# | weights | w_fd | (F + 1, D) | row 0 is the background |
# | known | | (N, F) int8 | known bits; -1: unknown; no rows if none is known |
# | block | | (K,) int64 | factors that are drawn together |
# | on_block | | (K, 3) | rows of on_probs of the block |
# | shifts | | (D, 2^K) | contributions of the block's joint states to the mean |
# | filtered | | (T, 2^K) | p(joint state given y up to t, other factors) of a sequence |
# | log_obs, predicted | | (2^K,) | scratch |
# | key | | (4,) uint64 | key of the streams, one for each sequence |
# | rng | | (4,) uint64 | stream, advanced in place; scratch if there is a key |


SMALLEST, LARGEST = 1e-30, 1.0 - 2.0**-53
"""Bounds of drawn probabilities: no data identify smaller ones, and products must not underflow."""


@njit_loop
def write_shifts(block, weights, shifts):
    """Write the contributions of the joint states of some factors to the mean."""
    for d in range(shifts.shape[0]):
        shifts[d, 0] = 0.0
        n = 1
        for k in range(block.shape[0]):
            for j in range(n):
                shifts[d, n + j] = shifts[d, j] + weights[block[k] + 1, d]
            n *= 2


@njit_inlined
def read_state(bits, block):
    """Return the joint state of some factors at a step."""
    state = 0
    for k in range(block.shape[0]):
        state |= bits[block[k]] << k
    return state


@njit_internal_nogc
def weigh_block(values, fits, state, shifts, precisions, probit, log_obs):
    """Write log p(y_t given joint state, rest) up to a constant; `fits` belongs to `state`."""
    for j in range(log_obs.shape[0]):
        log_obs[j] = 0.0
    for d in range(values.shape[0]):
        value = values[d]
        if math.isnan(value):
            continue
        shift = shifts[d]
        off = fits[d] - shift[state]
        if probit[d]:
            sign = 1.0 if value > 0.5 else -1.0
            for j in range(log_obs.shape[0]):
                log_obs[j] += log_normal_cdf(sign * (off + shift[j]))
        else:
            half, rest = 0.5 * precisions[d], value - off
            for j in range(log_obs.shape[0]):
                log_obs[j] -= half * (rest - shift[j]) ** 2


@njit_internal_nogc
def clamp_block(known, block, predicted, log_obs):
    """Exclude the joint states that contradict the known bits of a step."""
    for k in range(block.shape[0]):
        bit = known[block[k]]
        if bit < 0:
            continue
        for j in range(log_obs.shape[0]):
            if (j >> k) & 1 != bit:
                predicted[j] = 0.0
                log_obs[j] = -math.inf


@njit_inlined
def weigh_transitions(state, on_block, row, weights):
    """Write `row` times the probability that each joint state is followed by `state`."""
    weights[0] = 1.0
    n = 1
    for k in range(on_block.shape[0]):
        if_off, if_on = on_block[k, AFTER_OFF], on_block[k, AFTER_ON]
        if not (state >> k) & 1:
            if_off, if_on = 1.0 - if_off, 1.0 - if_on
        for j in range(n):
            weights[n + j] = weights[j] * if_on
            weights[j] *= if_off
        n *= 2
    for j in range(n):
        weights[j] *= row[j]


@njit_loop
def draw_block(
    ptr, block, bits, known, on_block, values, fits, precisions, probit, shifts, log_obs, predicted,
    filtered, key, rng,
):  # fmt: skip
    """Draw the bits of a block jointly in all sequences; return the first impossible one, or -1."""
    for s in range(ptr.shape[0] - 1):
        begin, end = ptr[s], ptr[s + 1]
        stream_of_number(key, s, rng)
        # Filter.
        for t in range(begin, end):
            if t == begin:
                write_first(on_block, predicted)
            else:
                for j in range(predicted.shape[0]):
                    predicted[j] = filtered[t - 1 - begin, j]
                take_step(on_block, predicted, True)
            state = read_state(bits[t], block)
            weigh_block(values[t], fits[t], state, shifts, precisions, probit, log_obs)
            if known.shape[0] > 0:
                clamp_block(known[t], block, predicted, log_obs)
            # Stop also if the squares of huge observations are NaN.
            if not weigh(predicted, log_obs, filtered[t - begin]) > -math.inf:
                return s
        # Draw, from the last step to the first.
        for t in range(end - 1, begin - 1, -1):
            row, before = filtered[t - begin], read_state(bits[t], block)
            if t < end - 1:
                weigh_transitions(read_state(bits[t + 1], block), on_block, row, predicted)
                row = predicted
            drawn = draw_categorical(row, add_up(row), rng)
            if drawn == before:
                continue
            for d in range(fits.shape[1]):
                fits[t, d] += shifts[d, drawn] - shifts[d, before]
            for k in range(block.shape[0]):
                bits[t, block[k]] = (drawn >> k) & 1
    return -1


# Transitions.


@njit_loop
def count_transitions(ptr, bits, counts):
    """Write the numbers of steps at which factors are off and on: at first, after off, after on."""
    counts[:] = 0
    for f in range(bits.shape[1]):
        for s in range(ptr.shape[0] - 1):
            row = FIRST
            for t in range(ptr[s], ptr[s + 1]):
                counts[f, row, bits[t, f]] += 1
                row = AFTER_ON if bits[t, f] == 1 else AFTER_OFF


@njit_loop
def draw_on_probs(counts, priors, on_probs, rng):
    """Draw the probabilities of being on."""
    for f in range(on_probs.shape[0]):
        for row in range(3):
            on, off = priors[row, 1] + counts[f, row, 1], priors[row, 0] + counts[f, row, 0]
            on_probs[f, row] = min(max(draw_beta(on, off, rng), SMALLEST), LARGEST)


@njit_loop
def log_probability_of_bits(counts, priors):
    """Return log p(bits), with the transition probabilities integrated out."""
    result = 0.0
    for f in range(counts.shape[0]):
        for row in range(3):
            off, on = priors[row, 0], priors[row, 1]
            n_off, n_on = counts[f, row, 0], counts[f, row, 1]
            result += math.lgamma(off + n_off) + math.lgamma(on + n_on)
            result -= math.lgamma(off + on + n_off + n_on) + math.lgamma(off) + math.lgamma(on)
            result += math.lgamma(off + on)
    return result


@njit_loop
def draw_paths(ptr, on_probs, bits, rng):
    """Draw bits given only the transition probabilities."""
    for f in range(bits.shape[1]):
        for s in range(ptr.shape[0] - 1):
            row = FIRST
            for t in range(ptr[s], ptr[s + 1]):
                bits[t, f] = 1 if next_double(rng) < on_probs[f, row] else 0
                row = AFTER_ON if bits[t, f] == 1 else AFTER_OFF


# Binary paths of a Markov Indian buffet.
#
# | name | shape | meaning |
# |---|---|---|
# | ptr | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
# | priors | (3, 2) | switching on: q for off; staying on: Beta; first steps count as after off |
# | mass | float | alpha |
# | counts | (K, 3, 2) int64 | numbers of steps off and on: at first, after off, after on |
# | rng | (4,) uint64 | stream, advanced in place |


@njit_loop
def log_weight_of_paths(counts, priors):
    """Return the total log weight of paths that are ever on, without their mass."""
    result = 0.0
    for f in range(counts.shape[0]):
        result += log_weight_of_path(counts[f], priors, True)
    return result


@njit_loop
def draw_buffet(ptr, priors, mass, counts, bits, rng):
    """Draw paths; return how many are ever on, or -1 without room. Outputs must be 0 on entry."""
    q = priors[AFTER_OFF, 0]
    n = 0
    for s in range(ptr.shape[0] - 1):
        for t in range(ptr[s], ptr[s + 1]):
            is_first = t == ptr[s]
            for f in range(n):
                row = FIRST if is_first else (AFTER_ON if bits[t - 1, f] == 1 else AFTER_OFF)
                if row == AFTER_ON:
                    off = priors[row, 0] + counts[f, row, 0]
                    on = priors[row, 1] + counts[f, row, 1]
                else:  # odds m to r + q
                    on = counts[f, FIRST, 1] + counts[f, AFTER_OFF, 1] + 0.0
                    off = q + counts[f, FIRST, 0] + counts[f, AFTER_OFF, 0]
                bit = 1 if next_double(rng) * (on + off) < on else 0
                bits[t, f] = bit
                counts[f, row, bit] += 1
            n_new = draw_poisson(mass * q / (q + t), rng)
            if n + n_new > bits.shape[1]:
                return -1
            for f in range(n, n + n_new):
                bits[t, f] = 1
                counts[f, FIRST, 0] += s
                counts[f, AFTER_OFF, 0] += t - s
                if is_first:
                    counts[f, FIRST, 1] += 1
                else:
                    counts[f, AFTER_OFF, 0] -= 1
                    counts[f, AFTER_OFF, 1] += 1
                    counts[f, FIRST, 0] += 1
            n += n_new
    return n


@njit_loop
def draw_idle(level, n_steps, priors, mass, scales, on_probs, weights, rng):
    """Draw factors that are never on and switch on with a > `level`; return their number, or -1 if
    too many. They are points of a Poisson process of density mass q a^-1 (1 - a)^(q - 1 + N).
    """
    q = priors[AFTER_OFF, 0]
    n = 0
    for _ in range(draw_poisson(-mass * q * math.log(level), rng)):
        a = level ** next_double(rng)
        # Thin the process of density mass q a^-1.
        if next_double(rng) >= math.exp((q - 1.0 + n_steps) * math.log1p(-a)):
            continue
        if n == on_probs.shape[0]:
            return -1
        on_probs[n, FIRST] = on_probs[n, AFTER_OFF] = max(a, SMALLEST)
        on_probs[n, AFTER_ON] = draw_beta(priors[AFTER_ON, 1], priors[AFTER_ON, 0], rng)
        on_probs[n, AFTER_ON] = min(max(on_probs[n, AFTER_ON], SMALLEST), LARGEST)
        for d in range(weights.shape[1]):
            weights[n, d] = scales[d] * draw_normal(rng)
        n += 1
    return n
