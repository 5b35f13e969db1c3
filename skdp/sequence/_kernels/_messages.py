r"""Messages of hidden Markov models: filtering, smoothing, draws, beams, and best paths.

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

Kernels skip sequences that require logarithms or are impossible. `_hmm/_messages` handles these, so
that kernels are compiled only if they are needed.
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric import Floats, Places
from skdp._numeric._arithmetic import fast_exp
from skdp._numeric._numba import (
    as_readonly,
    njit_inlined,
    njit_inlined_source,
    njit_internal_nogc,
    njit_loop,
    njit_outlined,
)
from skdp._numeric._random import draw_categorical, next_open_double, stream_of_number
from skdp._numeric._simd import (
    TOGETHER,
    VECTOR_DOUBLES,
    aligned_zeros,
    row_block,
    row_size,
    rows_size,
)
from skdp.sequence._kernels._transitions import log_sum_of_products

FLOOR = 1e-200
SAFE = 1e-180
SMALLEST_TOTAL = 1e-100
PRECISE = 1e-250
"""A sum of probabilities that are at most 1, at least 1e-308 or 0, is precise above this value."""


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


# Filtering, smoothing and draws.


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


# Versions in logarithms, one sequence at a time.


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
                predicted[t, j] = log_sum_of_products(filtered[t - 1], log_reverse[j])
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


# Beam sampling (Van Gael et al. 2008): draws of states among the paths of likely transitions.
#
# Each step gets a threshold u_t ~ Uniform(0, P(z_t-1, z_t)) from the current path. Given the
# thresholds, paths have weight prod_t 1[P(z_t-1, z_t) > u_t] p(x_t given z_t), and the new path is
# drawn among the few remaining ones. Other symbols are as above.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | states | z_t | (N,) | in: the current path; out: the new path |
# | thresholds | u_t | (T,) | |
# | log_filtered | log f_tj | (T, J) | weight of the paths to state j at t, scaled; -inf: none |
# | log_weights | | (J,) | the row of the previous states, of which the largest is 0 |
# | alive, weights | | (J,) | scratch |
#
# Weights are kept as logarithms, because an unlikely path may later be the only possible one.


SMALLEST = 1e-300
"""A positive sum of weights below this value may consist of weights clipped to `SMALLEST`."""


@njit_internal_nogc
def add_paths(log_weights, transmat, threshold, alive, sums):
    """Write to `sums` the log weight of the paths to each state, -inf if there is none."""
    n_states = sums.shape[0]
    n_alive = 0
    for i in range(n_states):
        sums[i] = 0.0
        if log_weights[i] > -math.inf:
            alive[n_alive] = i
            n_alive += 1
    for a in range(n_alive):
        row = transmat[alive[a]]
        weight = max(math.exp(log_weights[alive[a]]), SMALLEST)
        for k in range(n_states):
            sums[k] += weight if row[k] > threshold else 0.0
    for k in range(n_states):
        if sums[k] >= PRECISE:
            sums[k] = math.log(sums[k])
        elif sums[k] > 0.0:
            sums[k] = log_sum_of_paths(log_weights, transmat, threshold, alive[:n_alive], k)
        else:
            sums[k] = -math.inf


@njit_internal_nogc
def log_sum_of_paths(log_weights, transmat, threshold, alive, k):
    """Return the log weight, at any scale, of the paths to state `k`; there is at least one."""
    largest = -math.inf
    for i in alive:
        if transmat[i, k] > threshold:
            largest = max(largest, log_weights[i])
    total = 0.0
    for i in alive:
        if transmat[i, k] > threshold:
            total += math.exp(log_weights[i] - largest)
    return largest + math.log(total)


@njit_internal_nogc
def filter_beam(startprob, transmat, log_obs, thresholds, log_filtered, alive):
    """Write the scaled log weights of all paths to each state at each step."""
    for t in range(log_obs.shape[0]):
        row = log_filtered[t]
        if t == 0:
            for j in range(row.shape[0]):
                row[j] = 0.0 if startprob[j] > thresholds[0] else -math.inf
        else:
            add_paths(log_filtered[t - 1], transmat, thresholds[t], alive, row)
        for j in range(row.shape[0]):
            row[j] += log_obs[t, j]
        largest = find_largest(row)
        if largest == -math.inf:
            return False
        for j in range(row.shape[0]):
            row[j] -= largest
    return True


@njit_internal_nogc
def sample_beam(transmat, thresholds, log_filtered, states, weights, rng):
    """Draw a path, from the last step to the first."""
    for t in range(states.shape[0] - 1, -1, -1):
        for i in range(weights.shape[0]):
            weights[i] = log_filtered[t, i]
            if t < states.shape[0] - 1 and transmat[i, states[t + 1]] <= thresholds[t + 1]:
                weights[i] = -math.inf
        exponentiate(weights, weights)
        states[t] = draw_categorical(weights, 1.0, rng)


@njit_loop
def sample_states(
    ptr, startprob, transmat, log_obs, thresholds, log_filtered, alive, weights, states, key, rng
):
    """Redraw the states of all sequences; return the first impossible sequence, or -1."""
    for s in range(ptr.shape[0] - 1):
        stream_of_number(key, s, rng)
        begin, end = ptr[s], ptr[s + 1]
        n = end - begin
        path = states[begin:end]
        for t in range(n):  # below the probability of each transition of the path, and at least 0
            p = transmat[path[t - 1], path[t]] if t > 0 else startprob[path[0]]
            thresholds[t] = p * (1.0 - next_open_double(rng))
        rows = log_filtered[:n]
        if not filter_beam(startprob, transmat, log_obs[begin:end], thresholds, rows, alive):
            return s
        sample_beam(transmat, thresholds, rows, path, weights, rng)
    return -1


# Known states of steps.
#
# | name | shape | meaning |
# |---|---|---|
# | known | (N,) int64 | known state of each step; -1: unknown |
# | allowed | (J + 1, J) bool | possible transitions, with first states in the last row |
# | before, now | (J,) bool | scratch: the states that paths reach at the step before, at a step |


@njit_loop
def clamp(known, log_obs):
    """Set the log densities of known steps to -inf in all states but theirs."""
    for t in range(known.shape[0]):
        if known[t] >= 0:
            for j in range(log_obs.shape[1]):
                if j != known[t]:
                    log_obs[t, j] = -math.inf


@njit_loop
def find_impossible_step(ptr, known, allowed, before, now):
    """Return the first step that no allowed path through the known states reaches, or -1."""
    n_states = before.shape[0]
    for s in range(ptr.shape[0] - 1):
        for t in range(ptr[s], ptr[s + 1]):
            is_possible = False
            for k in range(n_states):
                now[k] = False
                if known[t] >= 0 and k != known[t]:
                    continue
                if t == ptr[s]:
                    now[k] = allowed[n_states, k]
                else:
                    for j in range(n_states):
                        if before[j] and allowed[j, k]:
                            now[k] = True
                            break
                is_possible |= now[k]
            if not is_possible:
                return t
            for k in range(n_states):
                before[k] = now[k]
    return -1


# The most probable states of hidden Markov and semi-Markov models (Viterbi).
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | log_start | log pi_0 | (J,) | logarithms for first states |
# | log_from, log_into | log P, log P^T | (J, J) | logarithms for transitions; rows: from, into |
# | log_best | log V_tj | (R, J) | the largest log p(x_<=t, z_<t, z_t = j); ptr[0] in row 0 |
# | log_pmf, log_survival | log p_j(d), log S_j(d) | (J, D) | log P(D = d) and log P(D >= d) |
# | ring_pmf | log p_j(d) | (2 D - 1, J) | the same, laid out for a ring: see `_segments.unroll` |
# | log_enter | log E_tj | (R, J) | the largest log p of x_<t whose next segment is of j |
# | log_end | log F_tj | (R, J) | the largest log p of x_<=t whose last segment, of j, ends at t |
# | entries | | (D, J) | active segments, with the observations so far: a ring of rows |
# | log_last | | (J,) | scratch |
# | states | z_t | (N,) int64 | -1 in impossible sequences; of equal maxima, the first is chosen |
# | log_probabilities | log p(x, z) | (n,) | of these states; -inf if the sequence is impossible |
#
# V_tj = max_i V_t-1,i P_ij L_tj; F_tj = max_d E_t-d+1,j p_j(d) prod L_sj over the d steps, and
# E_t+1,j = max_i F_ti P_ij. Sums of logarithms neither underflow nor overflow. Indices of maxima
# are not kept: backtracking finds them along the path only, with J or D terms per step.


@njit_inlined
def maximize(vector, matrix, out):
    """Write max_i (vector[i] + matrix[i, j]) to `out`, eight rows of the matrix at a time."""
    n = vector.shape[0]
    n_columns = out.shape[0]
    for j in range(n_columns):
        out[j] = -math.inf
    whole = n - n % 8
    for i in range(0, whole, 8):
        a, b, c, d = vector[i], vector[i + 1], vector[i + 2], vector[i + 3]
        e, f, g, h = vector[i + 4], vector[i + 5], vector[i + 6], vector[i + 7]
        for j in range(n_columns):
            first = max(
                max(a + matrix[i, j], b + matrix[i + 1, j]),
                max(c + matrix[i + 2, j], d + matrix[i + 3, j]),
            )
            second = max(
                max(e + matrix[i + 4, j], f + matrix[i + 5, j]),
                max(g + matrix[i + 6, j], h + matrix[i + 7, j]),
            )
            out[j] = max(out[j], max(first, second))
    for i in range(whole, n):
        a = vector[i]
        for j in range(n_columns):
            out[j] = max(out[j], a + matrix[i, j])


@njit_inlined
def find_first_largest(x):
    """Return the first index of the largest entry of a vector."""
    place = 0
    for i in range(1, x.shape[0]):
        if x[i] > x[place]:
            place = i
    return place


@njit_inlined
def find_best_previous(log_values, log_into):
    """Return the first i with the largest log_values[i] + log_into[i]."""
    place, largest = 0, log_values[0] + log_into[0]
    for i in range(1, log_values.shape[0]):
        x = log_values[i] + log_into[i]
        if x > largest:
            place, largest = i, x
    return place


@njit_loop
def decode_sequences(
    ptr, log_start, log_from, log_into, log_obs, log_best, states, log_probabilities
):
    """Write the most probable states of sequences."""
    n = log_start.shape[0]
    for s in range(ptr.shape[0] - 1):
        log_probabilities[s] = 0.0
        n_steps = ptr[s + 1] - ptr[s]
        if n_steps == 0:
            continue
        own_obs, own_states = log_obs[ptr[s] : ptr[s + 1]], states[ptr[s] : ptr[s + 1]]
        own_best = log_best[ptr[s] - ptr[0] :]
        for j in range(n):
            own_best[0, j] = log_start[j] + own_obs[0, j]
        for t in range(1, n_steps):
            maximize(own_best[t - 1], log_from, own_best[t])
            for j in range(n):
                own_best[t, j] += own_obs[t, j]
        # Backtrack.
        state = find_first_largest(own_best[n_steps - 1])
        log_probabilities[s] = own_best[n_steps - 1, state]
        if log_probabilities[s] == -math.inf:
            for t in range(n_steps):
                own_states[t] = -1
            continue
        own_states[n_steps - 1] = state
        for t in range(n_steps - 2, -1, -1):
            state = find_best_previous(own_best[t], log_into[state])
            own_states[t] = state


# The most probable segments.


@njit_inlined
def extend(entries, n_rows, ring_pmf, first, obs, out):
    """Add the observations of a step to the active segments; write the best that end to `out`."""
    n = out.shape[0]
    for j in range(n):
        out[j] = -math.inf
    whole = n_rows - n_rows % 4
    for k in range(0, whole, 4):
        m = first + k
        for j in range(n):
            a, b = entries[k, j] + obs[j], entries[k + 1, j] + obs[j]
            c, d = entries[k + 2, j] + obs[j], entries[k + 3, j] + obs[j]
            entries[k, j] = a
            entries[k + 1, j] = b
            entries[k + 2, j] = c
            entries[k + 3, j] = d
            x = max(a + ring_pmf[m, j], b + ring_pmf[m + 1, j])
            y = max(c + ring_pmf[m + 2, j], d + ring_pmf[m + 3, j])
            out[j] = max(out[j], max(x, y))
    for k in range(whole, n_rows):
        for j in range(n):
            entries[k, j] += obs[j]
            out[j] = max(out[j], entries[k, j] + ring_pmf[first + k, j])


@njit_inlined
def find_best_duration(log_enter, log_obs, t, j, log_table):
    """Return the best duration of a segment of j that ends at t, and its log probability."""
    duration, largest = 0, -math.inf
    likelihood = 0.0
    for d in range(1, min(t + 1, log_table.shape[1]) + 1):
        begin = t - d + 1
        likelihood += log_obs[begin, j]
        x = log_enter[begin, j] + likelihood + log_table[j, d - 1]
        if x > largest:  # the shortest of equally good ones, up to rounding
            duration, largest = d, x
    return duration, largest


@njit_loop
def decode_segments(
    ptr, log_start, log_from, log_into, log_obs, log_pmf, log_survival, ring_pmf, entries, log_last,
    log_enter, log_end, states, log_probabilities,
):  # fmt: skip
    """Write the states of the most probable segments; the last one of a sequence is censored."""
    n, longest_duration = log_start.shape[0], entries.shape[0]
    for s in range(ptr.shape[0] - 1):
        log_probabilities[s] = 0.0
        n_steps = ptr[s + 1] - ptr[s]
        if n_steps == 0:
            continue
        own_obs, own_states = log_obs[ptr[s] : ptr[s + 1]], states[ptr[s] : ptr[s + 1]]
        first_row = ptr[s] - ptr[0]
        own_enter, own_end = log_enter[first_row:], log_end[first_row:]
        for j in range(n):
            own_enter[0, j] = log_start[j]
        for t in range(n_steps):
            row, n_rows = t % longest_duration, min(t + 1, longest_duration)
            for j in range(n):
                entries[row, j] = own_enter[t, j]
            extend(
                entries, n_rows, ring_pmf, longest_duration - 1 - row, own_obs[t], own_end[t]
            )  # fmt: skip
            if t + 1 < n_steps:
                maximize(own_end[t], log_from, own_enter[t + 1])
        # The last segment.
        t = n_steps - 1
        for j in range(n):
            log_last[j] = find_best_duration(own_enter, own_obs, t, j, log_survival)[1]
        j = find_first_largest(log_last)
        log_probabilities[s] = log_last[j]
        if log_probabilities[s] == -math.inf:
            for t in range(n_steps):
                own_states[t] = -1
            continue
        # Backtrack.
        duration = find_best_duration(own_enter, own_obs, t, j, log_survival)[0]
        while True:
            for i in range(t - duration + 1, t + 1):
                own_states[i] = j
            t -= duration
            if t < 0:
                break
            j = find_best_previous(own_end[t], log_into[j])
            duration = find_best_duration(own_enter, own_obs, t, j, log_pmf)[0]
