r"""Beam sampling (Van Gael et al. 2008): draws of states among the paths of likely transitions.

Each step gets a threshold u_t ~ Uniform(0, P(z_t-1, z_t)) from the current path. Given the
thresholds, paths have weight prod_t 1[P(z_t-1, z_t) > u_t] p(x_t given z_t), and the new path is
drawn among the few remaining ones.

| name | symbol | shape | meaning |
|---|---|---|---|
| ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| startprob, transmat | pi_0, P | (J,), (J, J) | |
| log_obs | log L_tj | (N, J) | log p(x_t given state j) |
| states | z_t | (N,) | in: the current path; out: the new path |
| thresholds | u_t | (T,) | |
| log_filtered | log f_tj | (T, J) | weight of the paths to state j at t, scaled; -inf: none |
| log_weights | | (J,) | the row of the previous states, of which the largest is 0 |
| alive, weights | | (J,) | scratch |
| key | | (4,) uint64 | key of the streams, one for each sequence |
| rng | | (4,) uint64 | stream, advanced in place; scratch if there is a key |

Weights are kept as logarithms, because an unlikely path may later be the only possible one.
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_categorical, next_open_double, stream_of_number
from skdp.sequence._hmm._kernels_messages import exponentiate, find_largest

SMALLEST = 1e-300
PRECISE = 1e-250
"""A positive sum of weights below this value may consist of weights clipped to `SMALLEST`."""


@njit_internal_nogc
def draw_thresholds(startprob, transmat, states, thresholds, rng):
    """Draw u_t below the probability of each transition of the path."""
    for t in range(states.shape[0]):
        p = transmat[states[t - 1], states[t]] if t > 0 else startprob[states[0]]
        thresholds[t] = p * (1.0 - next_open_double(rng))  # below p, and at least 0


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
        draw_thresholds(startprob, transmat, path, thresholds[:n], rng)
        rows = log_filtered[:n]
        if not filter_beam(startprob, transmat, log_obs[begin:end], thresholds, rows, alive):
            return s
        sample_beam(transmat, thresholds, rows, path, weights, rng)
    return -1
