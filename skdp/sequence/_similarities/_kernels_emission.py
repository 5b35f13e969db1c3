"""Similarities phi_jk = exp(-lambda D_jk) of states, with the distance D of their emissions.

Times u of transitions are given, and rates and failed transitions are integrated out: each pair of
states has the likelihood phi^n / (1 + phi u)^(a + n), independent of all other pairs. Distances are
symmetric and 0 on the diagonal, where phi = 1 (or 0, if states do not follow themselves) is
uninformative.

| name | symbol | shape | meaning |
|---|---|---|---|
| distances | D_jk | (J, J), or (2 J, 2 J) | in the latter, proposals come last |
| decay | lambda | | |
| counts | n_jk | (J + 1, J) int64 | transitions; the last row has phi = 1 |
| shapes | a_jk + n_jk | (J + 1, J) | of the posterior of the rates |
| log_times | log u_j | (J + 1,) | -inf for a state that is never left |
| taken | | (J,) int64 | 1 if the proposal of a state was accepted, else 0 |
| rng | | (4,) uint64 | stream, advanced in place |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined, njit_loop
from skdp._numeric._random import next_double
from skdp.sequence._hmm._kernels_transitions import log_1p_exp


@njit_inlined
def log_weight(log_similarity, count, shape, log_time):
    """Return n log phi - (a + n) log(1 + phi u)."""
    return count * log_similarity - shape * log_1p_exp(log_time + log_similarity)


@njit_loop
def log_likelihood(distances, decay, counts, shapes, log_times):
    """Return the log likelihood of all similarities, up to a constant."""
    n_states = counts.shape[1]
    result = 0.0
    for j in range(n_states):
        if log_times[j] > -math.inf:
            for k in range(n_states):
                if k != j:
                    x = -decay * distances[j, k]
                    result += log_weight(x, counts[j, k], shapes[j, k], log_times[j])
    return result


@njit_loop
def gain_of_proposal(j, distances, decay, counts, shapes, log_times, taken):
    """Return the gain in log likelihood if state j accepts its proposal."""
    n_states = counts.shape[1]
    result = 0.0
    for k in range(n_states):
        if k == j:
            continue
        other = k + n_states * taken[k]
        before, after = -decay * distances[j, other], -decay * distances[j + n_states, other]
        if log_times[j] > -math.inf:
            result += log_weight(after, counts[j, k], shapes[j, k], log_times[j])
            result -= log_weight(before, counts[j, k], shapes[j, k], log_times[j])
        if log_times[k] > -math.inf:
            result += log_weight(after, counts[k, j], shapes[k, j], log_times[k])
            result -= log_weight(before, counts[k, j], shapes[k, j], log_times[k])
    return result


@njit_loop
def accept_proposals(distances, decay, counts, shapes, log_times, taken, rng):
    """Accept or reject the proposals of all states in turn; write which are accepted to `taken`."""
    for j in range(taken.shape[0]):
        taken[j] = 0
    for j in range(taken.shape[0]):
        gain = gain_of_proposal(j, distances, decay, counts, shapes, log_times, taken)
        taken[j] = int(math.log1p(-next_double(rng)) < gain)
