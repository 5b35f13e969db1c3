r"""Bits and counts of events in many columns, given their states.

Bits (Bernoulli): theta_jd ~ Beta(a, b). The log probabilities of a step are a sum of rows of one
table of logarithms with a row for each column and value, so that the inner loops run over states
and are vectorized. Row 2 d is "0 in column d", row 2 d + 1 is "1 in column d", and row 2 D, which
holds zeros, is "missing".

Counts (multinomial): theta_j ~ Dirichlet(prior). Only nonzero counts of a step are listed.

| name | symbol | shape | meaning |
|---|---|---|---|
| places | | (N, D) int32 | row of the table of each column of each step |
| states | z_t | (N,) int64 | -1: no state |
| counts | n_dj | (2 D + 1, J) int64 | occurrences of each column and value in each state |
| log_probs | log theta | (2 D + 1, J) | by column and value; or (V, J) by kind of event |
| ptr, kinds, amounts | v, x_tv | (N + 1,), (E,), (E,) | kinds and numbers of events of a step |
| log_coefficients | | (N,) | log of the multinomial coefficient of a step |
| log_obs | log L_tj | (N, J) | log p(x_t given state j), output |
| rng | | (4,) uint64 | stream, advanced in place |
"""

# mypy: ignore-errors

from skdp._numeric._numba import njit_loop
from skdp._numeric._random import draw_log_beta

# Bernoulli


@njit_loop
def count_bits(places, states, counts):
    """Write the number of times each state has each value of each column."""
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            counts[i, j] = 0
    for t in range(places.shape[0]):
        j = states[t]
        if j >= 0:
            for d in range(places.shape[1]):
                counts[places[t, d], j] += 1


@njit_loop
def draw_log_probs_of_bits(counts, of_one, of_zero, log_probs, rng):
    """Draw log theta and log (1 - theta) ~ Beta(a + ones, b + zeros) of all states and columns."""
    for d in range(counts.shape[0] // 2):
        for j in range(counts.shape[1]):
            log_one, log_zero = draw_log_beta(
                of_one + counts[2 * d + 1, j], of_zero + counts[2 * d, j], rng
            )
            log_probs[2 * d, j] = log_zero
            log_probs[2 * d + 1, j] = log_one


@njit_loop
def add_rows(places, rows, out):
    """Write sum_d rows[places[t, d]] to out[t], four rows at a time."""
    n_columns = places.shape[1]
    rest = n_columns - n_columns % 4
    for t in range(places.shape[0]):
        for j in range(out.shape[1]):
            out[t, j] = 0.0
        for d in range(0, rest, 4):
            a, b, c, e = places[t, d], places[t, d + 1], places[t, d + 2], places[t, d + 3]
            for j in range(out.shape[1]):
                out[t, j] += (rows[a, j] + rows[b, j]) + (rows[c, j] + rows[e, j])
        for d in range(rest, n_columns):
            a = places[t, d]
            for j in range(out.shape[1]):
                out[t, j] += rows[a, j]


# Multinomial


@njit_loop
def count_events(ptr, kinds, amounts, states, counts):
    """Write the number of events of each kind in each state to `counts`, (V, J) int64."""
    for v in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            counts[v, j] = 0
    for t in range(states.shape[0]):
        j = states[t]
        if j >= 0:
            for i in range(ptr[t], ptr[t + 1]):
                counts[kinds[i], j] += int(amounts[i])


@njit_loop
def weigh_events(ptr, kinds, amounts, log_coefficients, log_probs, log_obs):
    """Write the log probabilities of all steps, given their numbers of events."""
    for t in range(log_obs.shape[0]):
        for j in range(log_obs.shape[1]):
            log_obs[t, j] = log_coefficients[t]
        for i in range(ptr[t], ptr[t + 1]):
            v, amount = kinds[i], amounts[i]
            for j in range(log_obs.shape[1]):
                log_obs[t, j] += amount * log_probs[v, j]
