"""Kernels for the probability of words under fixed topics, from left to right, by particles.

| name | symbol | shape | meaning |
|---|---|---|---|
| log_weights | log v_r | (R,) | product of p(w_n given x_r) since particles were last resampled |
| ancestors | | (R,) int64 | the particle that each is a copy of after resampling |
| sums | | (K,) | running sums over k of p(k given x) phi_kw, up to a common factor |

A particle x_r is a state of the words so far: their topics and tables, and the concentrations that
are drawn. The joint distribution of words and state is that of customers who arrive one by one,
summed over the tables that they may have chosen; the next customer depends only on counts of
customers and tables. So a draw x from p(x | w_1..n-1), with topic and seat of word n chosen by the
restaurants' own weights times phi_kw, is a draw from p(x | w_1..n) up to the weight

    p(w_n | x) = sum_k p(k | x) phi_kw,

which does not depend on that choice. Between two words any kernel that leaves p(x | w_1..n)
invariant may move x, here a sweep over the words so far. Particles are resampled in proportion to
v_r, which are then set to 1. The product of the means of v_r at all resamplings and the end is an
unbiased estimate of p(w): by induction over words, the product so far times mean_r v_r h(x_r) has
the expectation p(w_1..n) E[h(x) | w_1..n] for every function h, for any rule of when to resample
that depends only on the past (Del Moral, Doucet and Jasra, 2006). If particles were never
resampled, the mean of their products would be unbiased, and not a product of means.
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit, njit_forceinline
from skdp._numeric._random import next_double

MOVES = 30
"""Particles are moved after every word up to this one, then once in n / MOVES words."""


@njit_forceinline
def next_stop(n, n_tokens):
    """Return the number of words at the next move; all moves cost about as much as MOVES sweeps."""
    return min(n + max(1, n // MOVES), n_tokens)


@njit
def log_mean_exp(log_weights):
    """Return the log of the mean of exp(log_weights)."""
    largest = log_weights[0]
    for r in range(1, log_weights.shape[0]):
        largest = max(largest, log_weights[r])
    total = 0.0
    for r in range(log_weights.shape[0]):
        total += math.exp(log_weights[r] - largest)
    return largest + math.log(total / log_weights.shape[0])


@njit
def resample(log_weights, ancestors, rng):
    """Draw ancestors by weight if the effective number is below R / 2; return the log mean weight.

    Systematic resampling: R v_r / sum v copies of particle r, rounded up or down at random.
    Survivors keep their places, so that copies can be made in turn; weights become 1.
    """
    n = log_weights.shape[0]
    log_mean = log_mean_exp(log_weights)
    squares = 0.0
    for r in range(n):
        ancestors[r] = r
        squares += math.exp(2.0 * (log_weights[r] - log_mean))
    if 2.0 * n >= squares:  # effective number: (sum v)^2 / sum v^2, here n^2 / squares
        return 0.0  # not resampled
    copies = ancestors.copy()  # np.zeros would make numba compile its error messages
    for r in range(n):
        copies[r] = 0
    start = next_double(rng)
    r, passed = 0, math.exp(log_weights[0] - log_mean)
    for i in range(n):
        while passed <= start + i and r < n - 1:
            r += 1
            passed += math.exp(log_weights[r] - log_mean)
        copies[r] += 1
    source = 0
    for r in range(n):
        log_weights[r] = 0.0
        if copies[r] == 0:
            while copies[source] < 2:
                source += 1
            copies[source] -= 1
            ancestors[r] = source
    return log_mean


@njit_forceinline
def draw_sum(sums, rng):
    """Draw the first k whose running sum exceeds a uniform draw below the last running sum."""
    last = sums.shape[0] - 1
    target = next_double(rng) * sums[last]
    k = 0
    while sums[k] <= target and k < last:
        k += 1
    return k
