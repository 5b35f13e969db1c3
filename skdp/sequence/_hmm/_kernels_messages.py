r"""Messages of hidden Markov models: filtering, smoothing, and draws of the states.

| name | symbol | shape | meaning |
|---|---|---|---|
| ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| startprob | pi_0 | (J,) | probabilities of the first state |
| transmat | P | (J, J) | row: from, column: to |
| reverse | P^T | (J, J) | transmat transposed, contiguous |
| log_reverse | log P^T | (J, J) | its logarithms; -inf for 0 |
| log_obs | log L_tj | (N, J) | log p(x_t given state j), -inf if impossible |
| matrix | P or P^T | (J, W) | one of them, padded to whole vectors: see `pad_columns` |
| predicted | p_tj | (R, J) or (J,) | p(z_t = j given x_<t), with step ptr[0] in row 0 |
| filtered | f_tj | (R, J) | p(z_t = j given x_<=t), in the same layout |
| steps | | (N,) | log p(x_t given x_<t); not written after an impossible step |
| likelihoods | | (n,) | log p(x) of sequences; -inf if impossible; NaN if it requires logarithms |
| message, weights, terms | | (1, W), (J,), (J,) | scratch |
| first, key | | int, (4,) uint64 | index of the first sequence, and key of all streams |
| rng | | (4,) uint64 | stream, advanced in place; scratch if there is a key |

All probabilities are on a linear scale: a step is a product of a vector and a matrix. Values
outside the range of 64-bit floats are handled as follows. A filtered probability that is positive
but below `FLOOR` is set to `FLOOR`: a soft zero. A predicted probability of `SAFE` or more is the
sum of such errors and of correct terms, so it is correct to J FLOOR / SAFE; 0 is exact, too. A
value in between may come from soft zeros alone. Only in this case is the sequence recomputed in
logarithms, which is far slower. It can occur only if the transition matrix has zeros or entries
below `SAFE`.

Kernels skip sequences that require logarithms or are impossible. `_messages` handles these, so that
kernels are compiled only if they are needed.
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._elementary import fast_exp
from skdp._numeric._numba import (
    as_readonly,
    njit_inlined,
    njit_inlined_source,
    njit_internal_nogc,
    njit_loop,
    njit_outlined,
)
from skdp._numeric._random import draw_categorical, stream_of_number
from skdp._numeric._simd import aligned_zeros
from skdp._numeric._simd_rows import TOGETHER, VECTOR_DOUBLES, row_block, row_size, rows_size
from skdp._numeric._typing import Floats, Places

FLOOR = 1e-200
SAFE = 1e-180
SMALLEST_TOTAL = 1e-100
PRECISE = 1e-250
"""A sum of probabilities that are at most 1, at least 1e-308 or 0, is precise above this value."""
LOG_NEGLIGIBLE = -60.0
"""Terms of a sum whose logarithm is lower, relative to the largest term, are less than rounding."""


class MessageBatch(NamedTuple):
    """Buffers of the sequences that are filtered together."""

    owned: Places  # (TOGETHER,), indices of the sequences; -1: none
    steps: Places  # (TOGETHER,), their next steps
    ahead: Floats  # (TOGETHER, W), p(z_t given x_<t)
    now: Floats  # (TOGETHER, J), p(z_t given x_<=t)


def make_room(n_states: int) -> MessageBatch:
    """Return buffers for sequences of J states."""
    return MessageBatch(
        *np.zeros((2, TOGETHER), dtype=np.int64),
        aligned_zeros((TOGETHER, pad(n_states))),
        np.empty((TOGETHER, n_states)),
    )


def pad(n: int) -> int:
    """Return a number of entries, rounded up to whole vectors."""
    return -(-n // VECTOR_DOUBLES) * VECTOR_DOUBLES


def pad_columns(matrix: Floats) -> Floats:
    """Return a matrix with columns of zeros at its end, so that rows are whole vectors."""
    out = aligned_zeros((len(matrix), pad(matrix.shape[1])))
    out[:, : matrix.shape[1]] = matrix
    return as_readonly(out)


@njit_internal_nogc
def multiply(vectors, row, n_rows, matrix, out, out_row):
    """Write products of `n_rows`, 1 or `TOGETHER`, vectors from `row` on with a matrix to `out`."""
    n, width = matrix.shape
    column = 0  # a product is the same sum in the same order for any other vectors
    while column < width:
        left = (width - column) // VECTOR_DOUBLES
        some = row_size(left) if n_rows == 1 else rows_size(left)
        row_block(vectors, row, n, matrix, column, width, out, out_row, n_rows, some)
        column += some * VECTOR_DOUBLES


@njit_inlined
def add_up(x):
    """Return the sum of a vector, computed as four independent partial sums."""
    n = x.shape[0]
    whole = n - n % 4
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for i in range(0, whole, 4):
        a += x[i]
        b += x[i + 1]
        c += x[i + 2]
        d += x[i + 3]
    for i in range(whole, n):
        a += x[i]
    return (a + b) + (c + d)


@njit_inlined
def find_largest(x):
    """Return the largest entry of a vector, computed as four independent partial maxima."""
    n = x.shape[0]
    whole = n - n % 4
    a = b = c = d = -math.inf
    for i in range(0, whole, 4):
        a = max(a, x[i])
        b = max(b, x[i + 1])
        c = max(c, x[i + 2])
        d = max(d, x[i + 3])
    for i in range(whole, n):
        a = max(a, x[i])
    return max(max(a, b), max(c, d))


# Filtering


@njit_inlined_source
def is_safe(predicted):
    """Return whether no predicted probability may come from soft zeros alone."""
    unsafe = False
    for j in range(predicted.shape[0]):
        unsafe |= (predicted[j] > 0.0) & (predicted[j] < SAFE)
    return not unsafe


@njit_outlined
def weigh_in_logs(predicted, log_obs, filtered):
    """Write predicted x exp(log_obs - shift) to `filtered`; return the best shift, -inf if none."""
    shift = -math.inf
    for j in range(filtered.shape[0]):
        filtered[j] = math.log(predicted[j]) + log_obs[j]  # the logarithm of 0 is -inf
        shift = max(shift, filtered[j])
    if shift > -math.inf:
        for j in range(filtered.shape[0]):
            filtered[j] = math.exp(filtered[j] - shift)
    return shift


@njit_inlined
def update(predicted, log_obs, filtered):
    """Convert p(z_t given x_<t) into p(z_t given x_<=t); return log p(x_t given x_<t)."""
    n = log_obs.shape[0]  # `predicted` has padding beyond
    shift = find_largest(log_obs)
    if shift == -math.inf:
        return shift
    for j in range(n):
        filtered[j] = predicted[j] * fast_exp(log_obs[j] - shift)
    for j in range(n):
        filtered[j] = filtered[j] if log_obs[j] > -math.inf else 0.0
    total = add_up(filtered)
    if total < SMALLEST_TOTAL:  # the states that explain x_t best are all but impossible
        shift = weigh_in_logs(predicted, log_obs, filtered)
        if shift == -math.inf:
            return shift
        total = add_up(filtered)
    scale = 1.0 / total
    for j in range(n):
        soft = FLOOR if (predicted[j] > 0.0) & (log_obs[j] > -math.inf) else 0.0
        filtered[j] = max(filtered[j] * scale, soft)
    return shift + math.log(total)


@njit_inlined_source
def take_sequences(ptr, following, room, likelihoods):
    """Assign the next sequences to free rows; return the first sequence that still waits."""
    n_sequences = ptr.shape[0] - 1
    for k in range(TOGETHER):
        while room.owned[k] < 0 and following < n_sequences:
            likelihoods[following] = 0.0
            if ptr[following + 1] > ptr[following]:  # an empty sequence is finished at once
                room.owned[k] = following
                room.steps[k] = ptr[following]
            following += 1
    return following


@njit_inlined_source
def predict(ptr, startprob, matrix, room):
    """Write p(z_t given x_<t) of the active sequences; return their number."""
    owned, steps, ahead = room.owned, room.steps, room.ahead
    n_under_way, last = 0, owned.shape[0] - 1  # a literal would specialize `multiply`
    for k in range(TOGETHER):
        if owned[k] >= 0:
            n_under_way += 1
            last = k
    if n_under_way > 0:  # one call: its code is compiled once
        n_rows = 1 if n_under_way == 1 else TOGETHER
        row = last if n_rows == 1 else 0
        multiply(room.now, row, n_rows, matrix, ahead, row)
    for k in range(TOGETHER):
        if owned[k] >= 0 and steps[k] == ptr[owned[k]]:
            for j in range(startprob.shape[0]):
                ahead[k, j] = startprob[j]
    return n_under_way


@njit_loop
def filter_sequences(
    ptr, startprob, matrix, log_obs, room, predicted, filtered, steps, likelihoods
):
    """Filter sequences, `TOGETHER` at a time, so that the matrix is read once for all of them."""
    n = startprob.shape[0]
    owned, ahead, now = room.owned, room.ahead, room.now
    for k in range(TOGETHER):
        owned[k] = -1
        for j in range(n):
            now[k, j] = 0.0  # free rows must hold numbers
    following = 0
    while True:
        following = take_sequences(ptr, following, room, likelihoods)
        if predict(ptr, startprob, matrix, room) == 0:
            break
        for k in range(TOGETHER):
            s, t = owned[k], room.steps[k]
            if s < 0:
                continue
            row = ahead[k]
            if is_safe(row):
                steps[t] = update(row, log_obs[t], now[k])
                likelihoods[s] += steps[t]
            else:
                likelihoods[s] = math.nan
            room.steps[k] += 1
            if not likelihoods[s] > -math.inf or t + 1 == ptr[s + 1]:
                owned[k] = -1
            if predicted.shape[0] > 0:
                for j in range(n):
                    predicted[t - ptr[0], j] = row[j]
            if filtered.shape[0] > 0:
                for j in range(n):
                    filtered[t - ptr[0], j] = now[k, j]


@njit_loop
def smooth_sequences(ptr, matrix, likelihoods, predicted, filtered, message):
    """Convert p(z_t given x_<=t) of filtered sequences into p(z_t given x), in place."""
    n = matrix.shape[0]
    for s in range(ptr.shape[0] - 1):
        if not likelihoods[s] > -math.inf:
            continue
        for t in range(ptr[s + 1] - ptr[0] - 2, ptr[s] - ptr[0] - 1, -1):
            # p(z_t = i given x) = f_ti sum_j P_ij p(z_t+1 = j given x) / p_t+1,j
            for j in range(n):
                p = predicted[t + 1, j]
                predicted[t + 1, j] = filtered[t + 1, j] / p if p > 0.0 else 0.0
            multiply(predicted, t + 1, 1, matrix, message, 0)
            for i in range(n):
                filtered[t, i] *= message[0, i]
            scale = 1.0 / add_up(filtered[t])  # 1 but for rounding
            for i in range(n):
                filtered[t, i] *= scale


@njit_loop
def sample_sequences(ptr, first, reverse, likelihoods, filtered, states, weights, key, rng):
    """Draw the states of filtered sequences given all of x, each from its last step backward."""
    for s in range(ptr.shape[0] - 1):
        if not likelihoods[s] > -math.inf:
            continue
        stream_of_number(key, first + s, rng)
        for t in range(ptr[s + 1] - 1, ptr[s] - 1, -1):
            row = filtered[t - ptr[0]]
            if t < ptr[s + 1] - 1:
                column = reverse[states[t + 1]]
                for i in range(weights.shape[0]):
                    weights[i] = row[i] * column[i]
                row = weights
            states[t] = draw_categorical(row, add_up(row), rng)


# Versions in logarithms, one sequence at a time


@njit_internal_nogc
def log_sum_exp(x):
    """Return log sum exp(x), which is -inf if all entries are."""
    largest = find_largest(x)
    if largest == -math.inf:
        return largest
    total = 0.0
    for i in range(x.shape[0]):
        total += math.exp(x[i] - largest)
    return largest + math.log(total)


@njit_internal_nogc
def log_of_small_sum(logs, others):
    """Return log sum_i exp(logs_i + others_i) of any size, -inf if the sum is 0."""
    largest = -math.inf
    for i in range(logs.shape[0]):
        largest = max(largest, logs[i] + others[i])
    if largest == -math.inf:
        return largest
    total = 0.0
    for i in range(logs.shape[0]):
        x = logs[i] + others[i] - largest
        if x > LOG_NEGLIGIBLE:
            total += math.exp(x)
    return largest + math.log(total)


@njit_loop
def filter_in_logs(startprob, reverse, log_reverse, log_obs, predicted, filtered, steps, terms):
    """Filter one sequence, with `predicted` and `filtered` as logarithms; return log p(x)."""
    n = startprob.shape[0]
    result = 0.0
    for t in range(log_obs.shape[0]):
        if t > 0:
            for i in range(n):
                terms[i] = math.exp(filtered[t - 1, i])
        for j in range(n):
            if t == 0:
                predicted[t, j] = math.log(startprob[j])
                continue
            total = 0.0
            for i in range(n):
                total += terms[i] * reverse[j, i]
            if total >= PRECISE:
                predicted[t, j] = math.log(total)
            else:
                predicted[t, j] = log_of_small_sum(filtered[t - 1], log_reverse[j])
        for j in range(n):
            filtered[t, j] = predicted[t, j] + log_obs[t, j]
        total = log_sum_exp(filtered[t])
        steps[t] = total
        result += total
        if total == -math.inf:
            return total
        for j in range(n):
            filtered[t, j] -= total
    return result


@njit_loop
def smooth_in_logs(transmat, predicted, filtered, terms):
    """Convert log p(z_t given x_<=t), `filtered`, into p(z_t given x), in place."""
    n_steps, n = filtered.shape
    for t in range(n_steps - 2, -1, -1):
        for i in range(n):
            for j in range(n):
                terms[j] = filtered[t + 1, j]
                if terms[j] > -math.inf:
                    terms[j] += math.log(transmat[i, j]) - predicted[t + 1, j]
            filtered[t, i] += log_sum_exp(terms)
    for t in range(n_steps):
        exponentiate(filtered[t], filtered[t])


@njit_internal_nogc
def exponentiate(logs, out):
    """Write exp(logs), scaled to a sum of 1, to `out`, which may be `logs`."""
    total = log_sum_exp(logs)
    for i in range(logs.shape[0]):
        out[i] = math.exp(logs[i] - total)


@njit_loop
def sample_in_logs(log_reverse, filtered, states, weights, rng):
    """Draw the states of a sequence; `filtered` holds log p(z_t given x_<=t)."""
    n_steps = filtered.shape[0]
    for t in range(n_steps - 1, -1, -1):
        for i in range(weights.shape[0]):
            weights[i] = filtered[t, i]
            if t < n_steps - 1:
                weights[i] += log_reverse[states[t + 1], i]
        exponentiate(weights, weights)
        states[t] = draw_categorical(weights, 1.0, rng)
