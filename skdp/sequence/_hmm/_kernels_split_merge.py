r"""Moves that split a state in two or merge two states: kernels that loop over steps.

The steps of states a and b, or of a single state in a split, form a set S. A *run* consists of
steps of S that follow each other in a sequence. Each step of S belongs to one of two groups; the
groups are a Markov chain whose runs begin after states outside of S and end before such states.

| name | symbol | shape | meaning |
|---|---|---|---|
| steps | | (n,) int64 | S, in order |
| before, after | | (n,) int64 | state next to a run; INSIDE within it, J at an end of a sequence |
| groups | y | (n,) int8 | 0 or 1 |
| into | | (J + 1, 2) int64 | transitions into each group, from outside of S |
| out_of | | (2, J + 1) int64 | transitions out of each group; the last column: ends of sequences |
| within | | (2, 2) int64 | transitions within S |
| log_into, log_out_of, log_within | | the same, float64 | log weights, up to constants per row |
| log_obs | log L_tg | (n, 2) float64 | log density of a step in each group |
| odds | log p(y = 1) / p(y = 0) | (n,) float64 | given everything before the next group |
| sums | | (3,) int64 | an exact sum: see `skdp._numeric._sums` |
| first | | int | index of step 0 in the whole panel |
| key, rng | | (4,) uint64 | key of the streams, by the last step of a run; scratch |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double, stream_of_number
from skdp._numeric._sums import add_exactly

INSIDE = -1


@njit_loop
def list_steps(ptr, states, n_states, a, b, steps, before, after):
    """Write the steps of states a and b, equal in a split, and their neighbors; return how many."""
    n = 0
    for s in range(ptr.shape[0] - 1):
        last = n_states
        for t in range(ptr[s], ptr[s + 1]):
            state = states[t]
            is_one, was_one = (state == a) | (state == b), (last == a) | (last == b)
            if is_one:
                steps[n] = t
                before[n] = INSIDE if was_one else last
                if was_one:
                    after[n - 1] = INSIDE
                after[n] = n_states
                n += 1
            elif was_one:
                after[n - 1] = state
            last = state
    return n


@njit_loop
def cut_windows(before, width, windows):
    """Write the window of each step, at most `width` steps of a run; return how many there are."""
    window, room = -1, 0
    for i in range(before.shape[0]):
        if before[i] != INSIDE or room == 0:
            window += 1
            room = width
        room -= 1
        windows[i] = window
    return window + 1


@njit_loop
def count_groups(before, after, groups, into, out_of, within):
    """Write the transitions into, out of and within the groups."""
    for k in range(into.shape[0]):
        for g in range(2):
            into[k, g] = 0
            out_of[g, k] = 0
    for g in range(2):
        for h in range(2):
            within[g, h] = 0
    for i in range(groups.shape[0]):
        g = groups[i]
        if before[i] == INSIDE:
            within[groups[i - 1], g] += 1
        else:
            into[before[i], g] += 1
        if after[i] != INSIDE:
            out_of[g, after[i]] += 1


@njit_loop
def filter_groups(log_obs, before, after, log_into, log_out_of, log_within, odds):
    """Write log p(y = 1) - log p(y = 0) given everything before the next step's group."""
    stay0, leave0 = log_within[0, 0], log_within[0, 1]
    stay1, leave1 = log_within[1, 1], log_within[1, 0]
    last = 0.0
    for i in range(before.shape[0]):
        if before[i] == INSIDE:
            # log of p0 w01 + p1 w11 over p0 w00 + p1 w10, where p1 / p0 = exp(last)
            ones = log_add(leave0, last + stay1)
            zeros = log_add(stay0, last + leave1)
            last = ones - zeros
        else:
            last = log_into[before[i], 1] - log_into[before[i], 0]
        last += log_obs[i, 1] - log_obs[i, 0]
        if after[i] != INSIDE:  # the last step of a run
            last += log_out_of[1, after[i]] - log_out_of[0, after[i]]
        # Two densities of 0 are uninformative, and infinite odds are bounded.
        last = 0.0 if math.isnan(last) else min(max(last, -1e300), 1e300)
        odds[i] = last


@njit_internal_nogc
def log_add(x, y):
    """Return log(exp(x) + exp(y)) of numbers that are not both -inf."""
    return max(x, y) + math.log1p(math.exp(-abs(x - y)))


@njit_inlined_source
def log_odds_before(odds, after, log_within, i, following):
    """Return the log odds of group 1 at step `i` given the group of the step that follows."""
    if after[i] != INSIDE:
        return odds[i]
    return odds[i] + log_within[1, following] - log_within[0, following]


@njit_loop
def draw_groups(odds, steps, after, log_within, first, groups, key, rng):
    """Draw the groups of all steps, backward; each run has its own stream."""
    following = 0
    for i in range(odds.shape[0] - 1, -1, -1):
        if after[i] != INSIDE:
            stream_of_number(key, first + steps[i], rng)
        x = log_odds_before(odds, after, log_within, i, following)
        u = next_double(rng)
        following = 1 if u * (1.0 + math.exp(-max(x, -700.0))) < 1.0 else 0
        groups[i] = following


@njit_loop
def choose_groups(odds, after, log_within, groups):
    """Write the group with the better odds at each step, backward, given the group that follows."""
    following = 0
    for i in range(odds.shape[0] - 1, -1, -1):
        following = 1 if log_odds_before(odds, after, log_within, i, following) > 0.0 else 0
        groups[i] = following


@njit_loop
def log_probability_of_groups(odds, after, log_within, groups, flip, sums):
    """Add the log probability with which `draw_groups` draws these groups, or the opposite."""
    following = 0
    for i in range(odds.shape[0] - 1, -1, -1):
        x = log_odds_before(odds, after, log_within, i, following)
        following = groups[i] ^ flip
        x = max(x, -700.0)  # the same bound as in `draw_groups`
        add_exactly(-log_add(0.0, -x if following == 1 else x), sums)
