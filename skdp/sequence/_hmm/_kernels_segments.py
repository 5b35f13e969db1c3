r"""Messages of hidden semi-Markov models: filtering, and draws of the segments.

A state lasts a segment of D steps, then another state follows. Each sequence begins with a segment;
its last one is cut off by the end: of its duration is known that it is at least so long.

| name | symbol | shape | meaning |
|---|---|---|---|
| ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| startprob | pi_0 | (J,) | probabilities of the first state |
| transmat | P | (J, J) | row: from, column: to; the diagonal is 0 |
| reverse | P^T | (J, J) | transmat transposed, contiguous |
| log_from, log_into | log P, log P^T | (J, J) | their logarithms |
| log_obs | log L_tj | (N, J) | log p(x_t given state j), -inf if impossible |
| log_pmf | log p_j(d) | (J, D) | log P(D = d) for d = 1 to D, the longest duration |
| log_survival | log S_j(d) | (J, D) | log P(D >= d) |
| pmf, survival | p_j(d), S_j(d) | (2 D - 1, J) | the same, laid out for a ring: see `unroll` |
| log_enter | log E_tj | (T, J) | log p(a segment of j begins at t given x_<t) |
| log_end | log F_tj | (T, J) | log p(a segment of j ends at t given x_<=t) |
| norms | log c_t | (T,) | log p(x_t given x_<t) |
| entries, offsets | | (D, J), (J,) | segments under way: entries exp(offsets), a ring of rows |
| ends | | (J,) | sums over entries |
| rng | | (4,) uint64 | stream, advanced in place |

F_tj = sum_d E_t-d+1,j p_j(d) prod L_sj / c_s over the d steps, E_t+1,j = sum_i F_ti P_ij: J D + J^2
multiplications a step. The likelihood of a step is the same for all segments of a state that are
under way, whenever they began. So it goes to the offset of the state, in logarithms, and entries
stay as they are: the inner loop is a sum of products. Entries are written relative to the offset,
and a column is scaled down when a new entry would be too large.

What 64 bits cannot hold: an entry below `FLOOR` is set to 0. Durations have probabilities that sum
to 1, so that a sum over entries lacks at most `FLOOR`; if it is `SAFE` or more, it is right to
1e-20. Else it is done again in logarithms, for that state and step alone, and its column is filled
anew relative to its largest entry. Sums over states are guarded in the same way. So no sequence
underflows, however long it is and however far apart its states are; it takes more logarithms then.
"""

# mypy: ignore-errors

import math
from collections import namedtuple

import numpy as np

from skdp._elementary import fast_exp, fast_log
from skdp._numba import njit, njit_loop, njit_part, njit_step
from skdp._random import draw_categorical, next_double
from skdp.sequence._hmm._kernels_messages import (
    add_up,
    exponentiate,
    find_largest,
    longest,
    multiply,
    transpose,
)

FLOOR = 1e-290
LOG_FLOOR = math.log(FLOOR)
SAFE = 1e-270
LARGEST = 500.0
"""Entries are at most exp(LARGEST): the higher, the more rarely columns are scaled down."""

Durations = namedtuple("Durations", "log_pmf log_survival pmf survival")
Scratch = namedtuple("Scratch", "entries offsets ends filtered factors tail logs")


@njit_step
def sum_logs(x, terms):
    """Return log sum exp(x), which is -inf if all are; `terms` is scratch of the same length."""
    largest = find_largest(x)
    if largest == -math.inf:
        return largest
    for i in range(x.shape[0]):
        terms[i] = fast_exp(x[i] - largest)
    return largest + math.log(add_up(terms))


@njit_part
def unroll(log_table):
    """Return a table of durations in the order in which a ring of D rows needs it, (2 D - 1, J).

    Let row p of the ring hold what began last. The duration of row k is p - k + 1, or D more where
    that is below 1: it is in row D - 1 - p + k of the result.
    """
    n_states, n = log_table.shape
    result = np.empty((2 * n - 1, n_states))
    for m in range(2 * n - 1):
        d = n - m if m < n else 2 * n - m
        for j in range(n_states):
            result[m, j] = math.exp(log_table[j, d - 1])
    return result


@njit_part
def make_durations(log_pmf, log_survival):
    """Return the tables of durations that the kernels need."""
    return Durations(log_pmf, log_survival, unroll(log_pmf), unroll(log_survival))


@njit_part
def make_scratch(n_states, longest_duration):
    """Return scratch arrays for one sequence at a time."""
    return Scratch(
        np.zeros((longest_duration, n_states)), np.empty(n_states), np.empty(n_states),
        np.empty(n_states), np.empty(n_states), np.empty(n_states),
        np.empty(max(longest_duration, n_states)),
    )  # fmt: skip


# Segments under way


@njit_loop
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


@njit_step
def insert(log_values, scratch, row, n_rows):
    """Write new entries, of which the logarithms are given, to a row of the ring."""
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


@njit_step
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


@njit_step
def weigh_twice(entries, n_rows, first_table, second_table, first, out, second_out):
    """Do what `weigh` does for two tables; entries are read once."""
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


@njit_step
def is_unsafe(ends, offsets):
    """Tell whether some sum may lack too much, or belongs to an impossible observation."""
    unsafe = False
    for j in range(ends.shape[0]):
        unsafe |= (ends[j] < SAFE) | (offsets[j] == -math.inf)
    return unsafe


@njit_step
def move(log_from, matrix, log_into, scratch, log_to):
    """Write log sum_i exp(log_from[i]) matrix[i, j] to `log_to`.

    `log_into` is the logarithm of the transposed matrix.
    """
    n = log_from.shape[0]
    sums, weights = scratch.ends, scratch.factors
    shift = find_largest(log_from)
    if shift == -math.inf:
        for j in range(n):
            log_to[j] = shift
        return
    for i in range(n):
        weights[i] = fast_exp(log_from[i] - shift)
    for i in range(n):
        weights[i] = weights[i] if weights[i] >= FLOOR else 0.0
    multiply(weights, matrix, sums)
    unsafe = False
    for j in range(n):
        unsafe |= sums[j] < SAFE
    for j in range(n):
        log_to[j] = fast_log(sums[j]) + shift
    if unsafe:
        move_in_logs(log_from, log_into, sums, scratch.logs[:n], log_to)


@njit_loop
def move_in_logs(log_from, log_into, sums, terms, log_to):
    """Do the states again of which the sums may lack too much."""
    n = log_from.shape[0]
    for j in range(n):
        if sums[j] < SAFE:
            for i in range(n):
                terms[i] = log_from[i] + log_into[j, i]
            log_to[j] = sum_logs(terms, terms)


# Filtering


@njit_loop
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


@njit_loop
def refill(log_enter, log_obs, norms, t, j, scratch):
    """Fill a column anew from logarithms, after step t.

    Returns how many entries are not 0 for sure; `scratch.logs` has their logarithms, by duration.
    """
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


@njit_loop
def filter_unsafe(log_enter, log_obs, norms, t, durations, scratch, log_end):
    """Do the states again of which the sums of step t may lack too much."""
    for j in range(log_end.shape[0]):
        if not scratch.ends[j] >= SAFE or scratch.offsets[j] == -math.inf:
            n = refill(log_enter, log_obs, norms, t, j, scratch)
            logs = scratch.logs[:n]
            log_end[j] = log_sum_of_products(logs, durations.log_pmf[j])
            scratch.filtered[j] = log_sum_of_products(logs, durations.log_survival[j])


@njit_loop
def filter_sequence(
    startprob, transmat, log_into, log_obs, durations, scratch, log_enter, log_end, norms
):
    """Filter one sequence.

    Parameters
    ----------
    startprob, transmat, log_into : (J,), (J, J), (J, J) float64
    log_obs : (T, J) float64
    durations : Durations
    scratch : Scratch
        `filtered` becomes log p(z_t = j given x) of the last step.
    log_enter, log_end : (T, J) float64, output
    norms : (T,) float64, output

    Returns
    -------
    log_likelihood : float
        log p(x), the sum of `norms`; -inf if the sequence is impossible.
    """
    n_steps, n = log_obs.shape
    entries, offsets, ends, filtered = (
        scratch.entries, scratch.offsets, scratch.ends, scratch.filtered,
    )  # fmt: skip
    longest_duration = entries.shape[0]
    for j in range(n):
        offsets[j] = 0.0
        scratch.tail[j] = 0.0
        log_enter[0, j] = math.log(startprob[j])
    result = 0.0
    for t in range(n_steps):
        row, n_rows = t % longest_duration, min(t + 1, longest_duration)
        insert(log_enter[t], scratch, row, n_rows)
        first = longest_duration - 1 - row
        weigh_twice(entries, n_rows, durations.pmf, durations.survival, first, ends, filtered)
        for j in range(n):
            offsets[j] += log_obs[t, j]
        for j in range(n):
            log_end[t, j] = fast_log(ends[j]) + offsets[j]
            filtered[j] = fast_log(filtered[j]) + offsets[j]
        norms[t] = 0.0
        if is_unsafe(ends, offsets):
            filter_unsafe(log_enter, log_obs, norms, t, durations, scratch, log_end[t])
        norms[t] = sum_logs(filtered, ends)
        result += norms[t]
        if norms[t] == -math.inf:
            return result
        for j in range(n):
            offsets[j] -= norms[t]
            log_end[t, j] -= norms[t]
            filtered[j] -= norms[t]
        if t + 1 < n_steps:
            move(log_end[t], transmat, log_into, scratch, log_enter[t + 1])
    return result


# Draws


@njit_loop
def draw_duration(log_enter, log_obs, norms, t, j, log_table, log_total, rng):
    """Draw the duration of a segment of state j whose last step is t.

    `log_total` is the logarithm of the sum of the weights, so that only durations up to the drawn
    one are looked at.
    """
    rest = next_double(rng)
    likelihood = -log_total
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
    return last  # where rounding left a rest: the last possible duration


@njit_loop
def draw_previous(log_end, into, weights, logs, rng):
    """Draw the state of a segment that has ended, given the probabilities of its successor."""
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
def sample_sequence(reverse, log_obs, durations, scratch, log_enter, log_end, norms, states, rng):
    """Draw the segments of a sequence that has been filtered, from the last to the first."""
    n = reverse.shape[0]
    weights, logs, filtered = scratch.factors, scratch.logs[:n], scratch.filtered
    t = log_obs.shape[0] - 1
    exponentiate(filtered, weights)
    j = draw_categorical(weights, 1.0, rng)
    d = draw_duration(log_enter, log_obs, norms, t, j, durations.log_survival[j], filtered[j], rng)
    while True:
        for s in range(t - d + 1, t + 1):
            states[s] = j
        t -= d
        if t < 0:
            return
        j = draw_previous(log_end[t], reverse[j], weights, logs, rng)
        d = draw_duration(log_enter, log_obs, norms, t, j, durations.log_pmf[j], log_end[t, j], rng)


# Panels


@njit
def sample_segments(ptr, startprob, transmat, log_obs, log_pmf, log_survival, states, rng):
    """Draw the states of all sequences; return the first impossible one, or -1.

    Parameters
    ----------
    ptr : (n + 1,) int64
    startprob, transmat : (J,), (J, J) float64
    log_obs : (N, J) float64
    log_pmf, log_survival : (J, D) float64
    states : (N,) int64, output
    rng : (4,) uint64
    """
    n_states = startprob.shape[0]
    reverse = transpose(transmat)
    log_into = np.log(reverse)
    durations = make_durations(log_pmf, log_survival)
    scratch = make_scratch(n_states, log_pmf.shape[1])
    n_steps = longest(ptr)
    log_enter, log_end = np.empty((n_steps, n_states)), np.empty((n_steps, n_states))
    norms = np.empty(n_steps)
    for s in range(ptr.shape[0] - 1):
        begin, end = ptr[s], ptr[s + 1]
        if begin == end:
            continue
        part = log_obs[begin:end]
        likelihood = filter_sequence(
            startprob, transmat, log_into, part, durations, scratch, log_enter, log_end, norms
        )
        if likelihood == -math.inf:
            return s
        sample_sequence(
            reverse, part, durations, scratch, log_enter, log_end, norms, states[begin:end], rng
        )
    return -1


@njit
def segment_log_likelihoods(
    ptr, startprob, transmat, log_obs, log_pmf, log_survival, steps, sequences
):
    """Write log p(x_t given x_<t) of every step, and log p(x) of every sequence.

    After an impossible step all steps of its sequence are -inf.

    Parameters
    ----------
    ptr, startprob, transmat, log_obs, log_pmf, log_survival : as in `sample_segments`
    steps : (N,) float64, output
    sequences : (n,) float64, output
    """
    n_states = startprob.shape[0]
    log_into = np.log(transpose(transmat))
    durations = make_durations(log_pmf, log_survival)
    scratch = make_scratch(n_states, log_pmf.shape[1])
    n_steps = longest(ptr)
    log_enter, log_end = np.empty((n_steps, n_states)), np.empty((n_steps, n_states))
    steps[:] = -math.inf
    for s in range(ptr.shape[0] - 1):
        begin, end = ptr[s], ptr[s + 1]
        sequences[s] = 0.0
        if begin < end:
            sequences[s] = filter_sequence(
                startprob, transmat, log_into, log_obs[begin:end], durations, scratch, log_enter,
                log_end, steps[begin:end],
            )  # fmt: skip


@njit_loop
def count_changes(ptr, states, counts):
    """Write the number of changes of state to `counts`, (J + 1, J), first states to the last row.

    To stay is no change: how long a state lasts is not for the transitions to explain.
    """
    n_states = counts.shape[1]
    for j in range(n_states + 1):
        for k in range(n_states):
            counts[j, k] = 0
    for s in range(ptr.shape[0] - 1):
        before = n_states
        for t in range(ptr[s], ptr[s + 1]):
            if states[t] != before:
                counts[before, states[t]] += 1
                before = states[t]
