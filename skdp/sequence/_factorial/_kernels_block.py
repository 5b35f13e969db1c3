r"""Parallel binary factors: draws of the bits of some factors given all others.

Mean of column d at step t: m_td = w_0d + sum_f b_tf w_fd. A normal column is m_td plus noise of
precision tau_d, a probit column is 1 with probability Phi(m_td), else 0. The bits b_.f of factor f
are an independent Markov chain; K factors drawn together have 2^K joint states, in which the k-th
of them is on if bit k of the number of the state is 1.

| name | symbol | shape | meaning |
|---|---|---|---|
| ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| bits | b_tf | (N, F) int8 | which factors are on |
| on_probs | | (F, 3) | probability of being on: at first, after off, after on |
| counts | | (F, 3, 2) int64 | in the same order: number of steps off, number of steps on |
| priors | | (3, 2) | in the same order: pseudo-counts of Beta priors, for off and for on |
| values | y_td | (N, D) | NaN: missing |
| fits | m_td | (N, D) | updated with the bits |
| precisions | tau_d | (D,) | 1 for probit columns |
| probit | | (D,) bool | which columns are probit |
| weights | w_fd | (F + 1, D) | row 0 is the background |
| known | | (N, F) int8 | known bits; -1: unknown; no rows if none is known |
| block | | (K,) int64 | factors that are drawn together |
| on_block | | (K, 3) | rows of on_probs of the block |
| shifts | | (D, 2^K) | contributions of the block's joint states to the mean |
| filtered | | (T, 2^K) | p(joint state given y up to t, other factors) of a sequence |
| log_obs, predicted | | (2^K,) | scratch |
| key | | (4,) uint64 | key of the streams, one for each sequence |
| rng | | (4,) uint64 | stream, advanced in place; scratch if there is a key |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_beta, draw_categorical, next_double, stream_of_number
from skdp.emissions._binary_factors._kernels import log_normal_cdf
from skdp.sequence._factorial._kernels_joint import (
    AFTER_OFF,
    AFTER_ON,
    FIRST,
    step_forward,
    weigh,
    write_first,
)
from skdp.sequence._hmm._kernels_messages import add_up

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
                step_forward(on_block, predicted)
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


# Transitions


@njit_loop
def count_transitions(ptr, bits, counts):
    """Write the numbers of steps at which factors are off and on: at first, after off, after on."""
    for f in range(bits.shape[1]):
        for row in range(3):
            counts[f, row, 0] = 0
            counts[f, row, 1] = 0
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
