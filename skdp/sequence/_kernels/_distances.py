r"""Similarities phi_jk = exp(-lambda D_jk), which decrease with the distance D of states."""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_exponential, next_double
from skdp.emissions._kernels._links import NEGLIGIBLE
from skdp.sequence._kernels._transitions import log_1p_exp

# The likelihood of similarities, and proposals, with D the distance of the emissions of states.
#
# Times u of transitions are given, and rates and failed transitions are integrated out: each pair
# of states has the likelihood phi^n / (1 + phi u)^(a + n), independent of all other pairs.
# Distances are symmetric and 0 on the diagonal, where phi = 1 (or 0, if states do not follow
# themselves) is uninformative.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | distances | D_jk | (J, J), or (2 J, 2 J) | in the latter, proposals come last |
# | decay | lambda | | |
# | counts | n_jk | (J + 1, J) int64 | transitions; the last row has phi = 1 |
# | shapes | a_jk + n_jk | (J + 1, J) | of the posterior of the rates |
# | log_times | log u_j | (J + 1,) | -inf for a state that is never left |
# | taken | | (J,) int64 | 1 if the proposal of a state was accepted, else 0 |
# | rng | | (4,) uint64 | stream, advanced in place |


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


# Draws of lambda, with D the Hamming distance of the binary vectors of states.
#
# Given rates pi and transitions n, with times and failed transitions integrated out, lambda has the
# likelihood prod_jj' phi_jj'^n_jj' / prod_j T_j^n_j. with T_j = sum_j' pi_jj' phi_jj'.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | decay, log_decay | lambda | | |
# | distances | D_jj' | (J, J) float64 | |
# | moved | sum_jj' n_jj' D_jj' | scalar | |
# | log_rates | log pi_jj' | (J + 1, J) | they may be as low as -1e300 |
# | busy | | (B,) int64 | states with n_j. > 0 |
# | left | n_j. | (B,) float64 | transitions out of a state |
# | log_sums | | (B, F + 1) | log of the sum of a row's rates, by distance |
# | sums | | (F + 1,) | scratch |
# | shape, rate | | | of the Gamma prior of lambda, which is truncated to [1e-12, 1e6] |
# | rng | | (4,) uint64 | stream, advanced in place |


LOWEST_LOG_DECAY = math.log(1e-12)
HIGHEST_LOG_DECAY = math.log(1e6)
SLICE_WIDTH = 1.0


@njit_loop
def gather_rates(log_rates, distances, busy, sums, log_sums):
    """Write the log of the sum of the rates pi_jk with D_jk = h to `log_sums`."""
    n_states, n_distances = distances.shape[0], sums.shape[0]
    for b in range(busy.shape[0]):
        j = busy[b]
        largest = log_sums[b]  # of each distance, because one may be e^1000 below another
        for h in range(n_distances):
            largest[h] = -math.inf
            sums[h] = 0.0
        for k in range(n_states):
            h = int(distances[j, k])
            largest[h] = max(largest[h], log_rates[j, k])
        for k in range(n_states):
            h = int(distances[j, k])
            term = log_rates[j, k] - largest[h]
            if term > NEGLIGIBLE:
                sums[h] += math.exp(term)
        for h in range(n_distances):
            if sums[h] > 0.0:
                log_sums[b, h] = largest[h] + math.log(sums[h])


@njit_internal_nogc
def log_density_of_decay(log_decay, moved, left, log_sums, shape, rate):
    """Return the log density of log lambda given transitions, up to a constant."""
    decay = math.exp(log_decay)
    result = shape * log_decay - decay * (rate + moved)
    for b in range(log_sums.shape[0]):
        largest = -math.inf
        for h in range(log_sums.shape[1]):
            largest = max(largest, log_sums[b, h] - decay * h)
        total = 0.0
        for h in range(log_sums.shape[1]):
            total += math.exp(log_sums[b, h] - decay * h - largest)
        result -= left[b] * (largest + math.log(total))
    return result


@njit_loop
def draw_log_decay(log_decay, moved, left, log_sums, shape, rate, rng):
    """Return a draw of log lambda, by a step of the slice sampler (Neal, 2003)."""
    now = log_density_of_decay(log_decay, moved, left, log_sums, shape, rate)
    level = now - draw_exponential(rng)
    lower = log_decay - SLICE_WIDTH * next_double(rng)
    upper = lower + SLICE_WIDTH
    while (
        lower > LOWEST_LOG_DECAY
        and log_density_of_decay(lower, moved, left, log_sums, shape, rate) > level
    ):
        lower -= SLICE_WIDTH
    while (
        upper < HIGHEST_LOG_DECAY
        and log_density_of_decay(upper, moved, left, log_sums, shape, rate) > level
    ):
        upper += SLICE_WIDTH
    lower, upper = max(lower, LOWEST_LOG_DECAY), min(upper, HIGHEST_LOG_DECAY)
    while True:
        draw = lower + next_double(rng) * (upper - lower)
        if not log_density_of_decay(draw, moved, left, log_sums, shape, rate) < level:
            return draw  # NaN, too, so that the loop ends
        if draw < log_decay:
            lower = draw
        else:
            upper = draw
