r"""States of hidden semi-Markov models at the ends of sequences, and their ages.

Names and layouts are those of `_kernels_segments`, with these additions:

| name | symbol | shape | meaning |
|---|---|---|---|
| survival_logs | log S_j(d) | (D, J) | log P(D >= d), a row for each d |
| likelihoods | | (J,) | log p of the observations of a segment, less their norms |
| ages | p(z_t = j, a_t = d given x_<=t) | (D, J) | step t is the d-th of its segment, of state j |

Ages are E_t-d+1,j S_j(d) prod L_sj / c_s, with the product over the d steps. All terms are
positive, so that no sum loses digits.
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_internal_nogc, njit_loop


@njit_internal_nogc
def weigh_ages(log_enter, log_obs, norms, t, survival_logs, likelihoods, ages):
    """Write the probabilities of states and ages at step t, which sum to 1 but for rounding."""
    longest, n = survival_logs.shape
    for j in range(n):
        likelihoods[j] = 0.0
    for d in range(longest):
        begin = t - d
        for j in range(n):
            if begin < 0:
                ages[d, j] = 0.0
                continue
            likelihoods[j] += log_obs[begin, j] - norms[begin]
            ages[d, j] = math.exp(log_enter[begin, j] + likelihoods[j] + survival_logs[d, j])


@njit_internal_nogc
def normalize_ages(ages):
    """Scale probabilities to a sum of 1."""
    total = 0.0
    for d in range(ages.shape[0]):
        for j in range(ages.shape[1]):
            total += ages[d, j]
    for d in range(ages.shape[0]):
        for j in range(ages.shape[1]):
            ages[d, j] /= total


@njit_loop
def filter_last_ages(ptr, log_enter, log_obs, norms, survival_logs, likelihoods, out):
    """Write the probabilities of states and ages at the ends of filtered sequences, (n, D, J)."""
    for s in range(ptr.shape[0] - 1):
        own_enter = log_enter[ptr[s] - ptr[0] :]
        own_obs, own_norms = log_obs[ptr[s] : ptr[s + 1]], norms[ptr[s] : ptr[s + 1]]
        t = ptr[s + 1] - ptr[s] - 1
        weigh_ages(own_enter, own_obs, own_norms, t, survival_logs, likelihoods, out[s])
        normalize_ages(out[s])
