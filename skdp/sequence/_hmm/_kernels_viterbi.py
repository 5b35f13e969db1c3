r"""The most probable states of hidden Markov and semi-Markov models (Viterbi).

| name | symbol | shape | meaning |
|---|---|---|---|
| ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| log_start | log pi_0 | (J,) | logarithms for first states |
| log_from, log_into | log P, log P^T | (J, J) | logarithms for transitions; rows: from, into |
| log_obs | log L_tj | (N, J) | log p(x_t given state j), -inf if impossible |
| log_best | log V_tj | (R, J) | the largest log p(x_<=t, z_<t, z_t = j); ptr[0] in row 0 |
| log_pmf, log_survival | log p_j(d), log S_j(d) | (J, D) | log P(D = d) and log P(D >= d) |
| ring_pmf | log p_j(d) | (2 D - 1, J) | the same, laid out for a ring: see `unroll` |
| log_enter | log E_tj | (R, J) | the largest log p of x_<t whose next segment is of j |
| log_end | log F_tj | (R, J) | the largest log p of x_<=t whose last segment, of j, ends at t |
| entries | | (D, J) | active segments, with the observations so far: a ring of rows |
| log_last | | (J,) | scratch |
| states | z_t | (N,) int64 | -1 in impossible sequences; of equal maxima, the first is chosen |
| log_probabilities | log p(x, z) | (n,) | of these states; -inf if the sequence is impossible |

V_tj = max_i V_t-1,i P_ij L_tj; F_tj = max_d E_t-d+1,j p_j(d) prod L_sj over the d steps, and
E_t+1,j = max_i F_ti P_ij. Sums of logarithms neither underflow nor overflow. Indices of maxima are
not kept: backtracking finds them along the path only, with J or D terms per step.
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined, njit_loop


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


# Segments


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
