r"""Messages of hidden semi-Markov models: filtering, and draws of the segments.

A state lasts a segment of D steps, then another state follows. Each sequence begins with a segment;
its last segment is censored by the end, so that only a lower bound on its duration is known.

| name | symbol | shape | meaning |
|---|---|---|---|
| ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| startprob | pi_0 | (J,) | probabilities of the first state |
| transmat | P | (J, W) | row: from, column: to; the diagonal is 0; padded: see `pad_columns` |
| reverse | P^T | (J, W) | transposed, padded |
| log_from, log_into | log P, log P^T | (J, J) | logarithms of P and P^T |
| log_obs | log L_tj | (N, J) | log p(x_t given state j), -inf if impossible |
| log_pmf | log p_j(d) | (J, D) | log P(D = d) for d = 1 to D, the longest duration |
| log_survival | log S_j(d) | (J, D) | log P(D >= d) |
| pmf, survival | p_j(d), S_j(d) | (2 D - 1, J) | the same, laid out for a ring: see `unroll` |
| log_enter | log E_tj | (T, J) | log p(a segment of j begins at t given x_<t) |
| log_end | log F_tj | (T, J) | log p(a segment of j ends at t given x_<=t) |
| norms | log c_t | (T,) | log p(x_t given x_<t) |
| log_filtered | | (R, J) | log p(z_t = j given x_<=t); ptr[0] is in row 0, as of log E, log F |
| likelihoods | | (n,) | log p(x) of sequences, -inf if impossible |
| entries, offsets | | (D, J), (J,) | active segments: entries exp(offsets), a ring of rows |
| ends | | (J,) | sums over entries |
| first, key | | int, (4,) uint64 | index of the first sequence, and key of all streams |
| rng | | (4,) uint64 | stream, advanced in place; scratch if there is a key |

F_tj = sum_d E_t-d+1,j p_j(d) prod L_sj / c_s over the d steps, E_t+1,j = sum_i F_ti P_ij: J D + J^2
multiplications per step. The likelihood of a step is the same for all active segments of a state,
whenever they began. Therefore it is added to the offset of the state, in logarithms, and entries do
not change: the inner loop is a sum of products. Entries are written relative to the offset, and a
column is scaled down when a new entry would be too large.

Underflow is handled as follows. An entry below `FLOOR` is set to 0. Probabilities of durations sum
to 1, so that a sum over entries loses at most `FLOOR`; if it is `SAFE` or more, it is correct to
1e-20. Otherwise it is recomputed in logarithms, for that state and step only, and its column is
refilled relative to its largest entry. Sums over states are guarded in the same way. Thus no
sequence underflows, however long it is and however far apart its states are; it only requires more
logarithms.
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

from skdp._numeric._elementary import fast_exp, fast_log
from skdp._numeric._numba import njit_inlined, njit_inlined_source, njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_categorical, next_double, stream_of_number
from skdp._numeric._typing import Floats
from skdp.sequence._hmm._kernels_messages import add_up, exponentiate, find_largest, multiply

FLOOR = 1e-290
SAFE = 1e-270
LARGEST = 500.0
"""Entries are at most exp(LARGEST); the higher it is, the more rarely columns are scaled down."""


class Durations(NamedTuple):
    """Tables of durations: see above."""

    log_pmf: Floats
    log_survival: Floats
    pmf: Floats
    survival: Floats


class Segments(NamedTuple):
    """Active segments of one sequence, and buffers for a step."""

    entries: Floats
    offsets: Floats
    ends: Floats
    filtered: Floats  # (J,), log p(z_t = j given x_<=t) of one step
    factors: Floats  # (J,), scratch, as all that follow
    tail: Floats  # (J,)
    sums: Floats  # (1, W)
    logs: Floats  # (max(D, J),)


@njit_inlined
def sum_logs(x, terms):
    """Return log sum exp(x), -inf if all entries are; `terms` is scratch of the same length."""
    largest = find_largest(x)
    if largest == -math.inf:
        return largest
    for i in range(x.shape[0]):
        terms[i] = fast_exp(x[i] - largest)
    return largest + math.log(add_up(terms))


@njit_loop
def write_logs(matrix, out):
    """Write the logarithms of a matrix."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            out[i, j] = math.log(matrix[i, j])


@njit_loop
def unroll(log_table, out):
    """Write a table of durations in the order in which a ring of D rows needs it, (2 D - 1, J)."""
    # Let row p of the ring hold the segments that began last. The duration of row k is p - k + 1,
    # or D more if that is below 1; the result holds its entry in row D - 1 - p + k.
    n_states, n = log_table.shape
    for m in range(2 * n - 1):
        d = n - m if m < n else 2 * n - m
        for j in range(n_states):
            out[m, j] = math.exp(log_table[j, d - 1])


# Active segments


@njit_inlined_source
def scale_down(log_values, scratch, n_rows):
    """Scale down the columns in which a new entry would be larger than 1."""
    entries, offsets, factors, tail = (
        scratch.entries, scratch.offsets, scratch.factors, scratch.tail,
    )  # fmt: skip
    for j in range(offsets.shape[0]):
        shift = max(log_values[j] - offsets[j], 0.0)
        offsets[j] += shift
        factors[j] = fast_exp(-shift)
    for j in range(offsets.shape[0]):
        x = tail[j] * factors[j]
        tail[j] = x if x >= FLOOR else 0.0
    for k in range(n_rows):
        for j in range(offsets.shape[0]):
            x = entries[k, j] * factors[j]
            entries[k, j] = x if x >= FLOOR else 0.0


@njit_inlined
def insert(log_values, scratch, row, n_rows):
    """Write new entries to a row of the ring, given their logarithms."""
    entries, offsets, ends = scratch.entries, scratch.offsets, scratch.ends
    n = offsets.shape[0]
    for j in range(n):
        ends[j] = log_values[j] - offsets[j]
    if find_largest(ends) > LARGEST:
        scale_down(log_values, scratch, n_rows)
        for j in range(n):
            ends[j] = log_values[j] - offsets[j]
    for j in range(n):
        entry = fast_exp(ends[j])
        entries[row, j] = entry if entry >= FLOOR else 0.0


@njit_inlined
def weigh(entries, n_rows, table, first, out):
    """Write sum_k entries[k, j] table[first + k, j] to `out`, four rows at a time."""
    n = out.shape[0]
    for j in range(n):
        out[j] = 0.0
    whole = n_rows - n_rows % 4
    for k in range(0, whole, 4):
        m = first + k
        for j in range(n):
            out[j] += (entries[k, j] * table[m, j] + entries[k + 1, j] * table[m + 1, j]) + (
                entries[k + 2, j] * table[m + 2, j] + entries[k + 3, j] * table[m + 3, j]
            )
    for k in range(whole, n_rows):
        for j in range(n):
            out[j] += entries[k, j] * table[first + k, j]


@njit_inlined
def weigh_twice(entries, n_rows, first_table, second_table, first, out, second_out):
    """Apply `weigh` to two tables; entries are read once."""
    n = out.shape[0]
    for j in range(n):
        out[j] = 0.0
        second_out[j] = 0.0
    whole = n_rows - n_rows % 4
    for k in range(0, whole, 4):
        m = first + k
        for j in range(n):
            a, b, c, d = entries[k, j], entries[k + 1, j], entries[k + 2, j], entries[k + 3, j]
            out[j] += (a * first_table[m, j] + b * first_table[m + 1, j]) + (
                c * first_table[m + 2, j] + d * first_table[m + 3, j]
            )
            second_out[j] += (a * second_table[m, j] + b * second_table[m + 1, j]) + (
                c * second_table[m + 2, j] + d * second_table[m + 3, j]
            )
    for k in range(whole, n_rows):
        for j in range(n):
            out[j] += entries[k, j] * first_table[first + k, j]
            second_out[j] += entries[k, j] * second_table[first + k, j]


@njit_inlined
def is_unsafe(ends, offsets):
    """Return whether a sum may have lost too much, or belongs to an impossible observation."""
    unsafe = False
    for j in range(ends.shape[0]):
        unsafe |= (ends[j] < SAFE) | (offsets[j] == -math.inf)
    return unsafe


@njit_inlined
def move(log_from, matrix, log_into, scratch, log_to):
    """Write log sum_i exp(log_from[i]) matrix[i, j] to `log_to`; `log_into` is log matrix^T."""
    n = log_from.shape[0]
    sums, weights = scratch.sums[0], scratch.factors
    shift = find_largest(log_from)
    if shift == -math.inf:
        for j in range(n):
            log_to[j] = shift
        return
    for i in range(n):
        weights[i] = fast_exp(log_from[i] - shift)
    for i in range(n):
        weights[i] = weights[i] if weights[i] >= FLOOR else 0.0
    multiply(weights.reshape(1, n), 0, 1, matrix, scratch.sums, 0)
    unsafe = False
    for j in range(n):
        unsafe |= sums[j] < SAFE
    for j in range(n):
        log_to[j] = fast_log(sums[j]) + shift
    if unsafe:
        move_in_logs(log_from, log_into, sums, scratch.logs[:n], log_to)


@njit_inlined_source
def move_in_logs(log_from, log_into, sums, terms, log_to):
    """Recompute the states whose sums may have lost too much."""
    n = log_from.shape[0]
    for j in range(n):
        if sums[j] < SAFE:
            for i in range(n):
                terms[i] = log_from[i] + log_into[j, i]
            log_to[j] = sum_logs(terms, terms)


# Filtering


@njit_internal_nogc
def log_sum_of_products(logs, log_table):
    """Return log sum exp(logs + log_table)."""
    largest = -math.inf
    for i in range(logs.shape[0]):
        largest = max(largest, logs[i] + log_table[i])
    if largest == -math.inf:
        return largest
    total = 0.0
    for i in range(logs.shape[0]):
        total += math.exp(logs[i] + log_table[i] - largest)
    return largest + math.log(total)


@njit_inlined_source
def refill(log_enter, log_obs, norms, t, j, scratch):
    """Refill a column from logarithms after step t; return how many entries may be nonzero."""
    # The logarithms of these entries are left in `scratch.logs`.
    entries, offsets, logs = scratch.entries, scratch.offsets, scratch.logs
    longest_duration = entries.shape[0]
    n_rows = min(t + 1, longest_duration)
    likelihood = 0.0
    largest = -math.inf
    n = 0
    for d in range(1, n_rows + 1):
        begin = t - d + 1
        likelihood += log_obs[begin, j] - norms[begin]
        if likelihood == -math.inf:
            break
        logs[n] = log_enter[begin, j] + likelihood
        largest = max(largest, logs[n])
        n += 1
    offsets[j] = largest if largest > -math.inf else 0.0
    for k in range(n_rows):
        entries[k, j] = 0.0
    for i in range(n):
        entry = math.exp(logs[i] - offsets[j])
        entries[(t - i) % longest_duration, j] = entry if entry >= FLOOR else 0.0
    return n


@njit_internal_nogc
def filter_unsafe(log_enter, log_obs, norms, t, durations, scratch, log_end):
    """Recompute the states whose sums at step t may have lost too much."""
    for j in range(log_end.shape[0]):
        if not scratch.ends[j] >= SAFE or scratch.offsets[j] == -math.inf:
            n = refill(log_enter, log_obs, norms, t, j, scratch)
            logs = scratch.logs[:n]
            log_end[j] = log_sum_of_products(logs, durations.log_pmf[j])
            scratch.filtered[j] = log_sum_of_products(logs, durations.log_survival[j])


@njit_loop
def filter_segments(
    ptr, startprob, transmat, log_into, log_obs, durations, scratch, log_enter, log_end, norms,
    log_filtered, likelihoods,
):  # fmt: skip
    """Filter sequences up to the first impossible one; return the number of those before it."""
    entries, offsets, ends, filtered = (
        scratch.entries, scratch.offsets, scratch.ends, scratch.filtered,
    )  # fmt: skip
    n, longest_duration = offsets.shape[0], entries.shape[0]
    for s in range(ptr.shape[0] - 1):
        first_row, n_steps = ptr[s] - ptr[0], ptr[s + 1] - ptr[s]
        likelihoods[s] = 0.0
        if n_steps == 0:
            continue
        own_obs, own_norms = log_obs[ptr[s] : ptr[s + 1]], norms[ptr[s] : ptr[s + 1]]
        own_enter, own_end = log_enter[first_row:], log_end[first_row:]
        own_filtered = log_filtered[first_row:]
        for j in range(n):
            offsets[j] = 0.0
            scratch.tail[j] = 0.0
            own_enter[0, j] = math.log(startprob[j])
        result = 0.0
        for t in range(n_steps):
            # Add the segments that begin, and sum over all active segments.
            row, n_rows = t % longest_duration, min(t + 1, longest_duration)
            insert(own_enter[t], scratch, row, n_rows)
            first = longest_duration - 1 - row
            weigh_twice(entries, n_rows, durations.pmf, durations.survival, first, ends, filtered)
            # Weigh by the observation.
            for j in range(n):
                offsets[j] += own_obs[t, j]
            for j in range(n):
                own_end[t, j] = fast_log(ends[j]) + offsets[j]
                filtered[j] = fast_log(filtered[j]) + offsets[j]
            own_norms[t] = 0.0
            if is_unsafe(ends, offsets):
                filter_unsafe(own_enter, own_obs, own_norms, t, durations, scratch, own_end[t])
            # Normalize.
            own_norms[t] = sum_logs(filtered, ends)
            result += own_norms[t]
            if own_norms[t] == -math.inf:
                break
            for j in range(n):
                offsets[j] -= own_norms[t]
                own_end[t, j] -= own_norms[t]
                own_filtered[t, j] = filtered[j] - own_norms[t]
            if t + 1 < n_steps:
                move(own_end[t], transmat, log_into, scratch, own_enter[t + 1])
        likelihoods[s] = result
        if result == -math.inf:
            return s
    return ptr.shape[0] - 1


# Draws


@njit_inlined_source
def draw_duration(log_enter, log_obs, norms, t, j, log_table, log_total, rng):
    """Draw the duration of a segment of j that ends at t; `log_total` is its total log weight."""
    rest = next_double(rng)
    likelihood = -log_total  # so that only durations up to the drawn one are examined
    last = 0
    for d in range(1, min(t + 1, log_table.shape[0]) + 1):
        begin = t - d + 1
        likelihood += log_obs[begin, j] - norms[begin]
        weight = math.exp(log_enter[begin, j] + likelihood + log_table[d - 1])
        if weight > 0.0:
            last = d
            rest -= weight
            if rest < 0.0:
                break
    return last  # if rounding leaves a rest, the last possible duration


@njit_inlined_source
def draw_previous(log_end, into, weights, logs, rng):
    """Draw the state of a segment that has ended, given the transitions into its successor."""
    n = log_end.shape[0]
    shift = find_largest(log_end)
    for i in range(n):
        weights[i] = fast_exp(log_end[i] - shift) * into[i]
    total = add_up(weights)
    if total < SAFE:
        for i in range(n):
            logs[i] = log_end[i] + math.log(into[i])
        exponentiate(logs, weights)
        total = 1.0
    return draw_categorical(weights, total, rng)


@njit_loop
def sample_segments(
    ptr, first, reverse, log_obs, durations, scratch, log_enter, log_end, norms, log_filtered,
    states, key, rng,
):  # fmt: skip
    """Draw the segments of sequences that have been filtered, from the last to the first."""
    n = reverse.shape[0]
    weights, logs = scratch.factors, scratch.logs[:n]
    for s in range(ptr.shape[0] - 1):
        first_row, t = ptr[s] - ptr[0], ptr[s + 1] - ptr[s] - 1
        if t < 0:
            continue
        stream_of_number(key, first + s, rng)
        own_states, own_obs = states[ptr[s] : ptr[s + 1]], log_obs[ptr[s] : ptr[s + 1]]
        own_norms = norms[ptr[s] : ptr[s + 1]]
        own_enter, own_end = log_enter[first_row:], log_end[first_row:]
        # The last segment, which is censored by the end of the sequence.
        log_last = log_filtered[first_row + t]
        exponentiate(log_last, weights)
        j = draw_categorical(weights, 1.0, rng)
        log_table, log_total = durations.log_survival[j], log_last[j]
        while True:
            d = draw_duration(own_enter, own_obs, own_norms, t, j, log_table, log_total, rng)
            for i in range(t - d + 1, t + 1):
                own_states[i] = j
            t -= d
            if t < 0:
                break
            # The previous segment.
            j = draw_previous(own_end[t], reverse[j], weights, logs, rng)
            log_table, log_total = durations.log_pmf[j], own_end[t, j]
