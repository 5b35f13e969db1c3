r"""Durations of states: counts of segments by their length, and draws of the parameters.

A state lasts D = min(1 + K, D_max) steps. K is Poisson, or negative binomial with an integer r: the
number of events of probability p before the opposite event has occurred r times.

| name | symbol | shape | meaning |
|---|---|---|---|
| ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| states | z_t | (N,) int64 | |
| exact | | (J, D_max) int64 | segments of state j that lasted d = 1, ... steps, without D_max |
| at_least | | (J, D_max) int64 | segments for which only K >= d - 1 is known |
| counts, totals | n_j, sum K | (J,) | segments and the sum of their K, with unknown K drawn |
| log_means | log omega_j | (J,) | omega_j ~ Gamma(shape, rate), the mean of K |
| n_phases | r | | |
| log_p, log_q | log p_j, log(1 - p_j) | (J,) | p_j ~ Beta(a, b) |
| log_pmf, log_survival | | (J, D_max) | log P(D = d), log P(D >= d), d = 1, ..., output |
| rng | | (4,) uint64 | stream, advanced in place |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined_source, njit_loop
from skdp._numeric._random import draw_log_beta, draw_log_gamma, draw_poisson, next_double

LARGEST_COUNT = 1e15
"""A Poisson draw with a larger mean is replaced by the mean; the relative error is about 3e-8."""


@njit_loop
def count_segments(ptr, states, exact, at_least):
    """Count segments by length; of the last one and of D_max steps, only K >= d - 1 is known."""
    n_states, longest = exact.shape
    for j in range(n_states):
        for d in range(longest):
            exact[j, d] = 0
            at_least[j, d] = 0
    for s in range(ptr.shape[0] - 1):
        d = 0
        for t in range(ptr[s], ptr[s + 1]):
            d = min(d + 1, longest)  # only the first states of a chain may have longer runs
            is_last = t + 1 == ptr[s + 1]
            if not is_last and states[t + 1] == states[t]:
                continue
            if is_last or d == longest:
                at_least[states[t], d - 1] += 1
            else:
                exact[states[t], d - 1] += 1
            d = 0


@njit_inlined_source
def log_add(x, y):
    """Return log(exp(x) + exp(y))."""
    larger = max(x, y)
    if larger == -math.inf:
        return larger
    return larger + math.log1p(math.exp(min(x, y) - larger))


@njit_inlined_source
def draw_count(mean, rng):
    """Return a Poisson draw as a float."""
    if mean > LARGEST_COUNT:
        return mean
    return float(draw_poisson(mean, rng))


@njit_inlined_source
def add_up_exact(exact, j):
    """Return the number of segments of state j whose K is known, and the sum of K."""
    size, total = 0.0, 0.0
    for k in range(exact.shape[1]):
        size += exact[j, k]
        total += exact[j, k] * k
    return size, total


@njit_inlined_source
def fill_survival(log_pmf, log_survival):
    """Write log P(D = D_max) and log P(D >= d), which is already known for the longest d."""
    last = log_pmf.shape[0] - 1
    log_pmf[last] = log_survival[last]
    for k in range(last - 1, -1, -1):
        log_survival[k] = min(log_add(log_pmf[k], log_survival[k + 1]), 0.0)


# Poisson


@njit_inlined_source
def draw_poisson_at_least(smallest, mean, rng):
    """Return a draw of K ~ Poisson(mean) given K >= smallest, as a float."""
    if smallest <= mean:  # at least about every other draw is accepted
        while True:
            draw = draw_count(mean, rng)
            if draw >= smallest:
                return draw
    # Beyond the mean, weights decrease ever faster: search from the smallest upwards.
    total = 0.0
    weight, k = 1.0, smallest
    while weight > 1e-17 * total:
        total += weight
        k += 1
        weight *= mean / k
    rest = next_double(rng) * total
    weight, k = 1.0, smallest
    while True:
        rest -= weight
        if rest < 0.0 or weight <= 1e-17 * total:
            return float(k)
        k += 1
        weight *= mean / k


@njit_loop
def draw_means(exact, at_least, shape, rate, log_means, counts, totals, rng):
    """Draw the unknown K of segments, then the mean of every state."""
    for j in range(log_means.shape[0]):
        counts[j], totals[j] = add_up_exact(exact, j)
        mean = math.exp(min(log_means[j], 700.0))
        for k in range(at_least.shape[1]):
            for _ in range(at_least[j, k]):
                counts[j] += 1.0
                totals[j] += draw_poisson_at_least(k, mean, rng)
        log_means[j] = draw_log_gamma(shape + totals[j], rng) - math.log(rate + counts[j])


@njit_inlined_source
def log_poisson_tail(smallest, log_mean):
    """Return log P(K >= smallest)."""
    mean = math.exp(log_mean)
    if smallest == 0:
        return 0.0
    log_pmf = smallest * log_mean - mean - math.lgamma(smallest + 1.0)
    if smallest > mean:
        total, weight, k = 0.0, 1.0, smallest
        while weight > 1e-17 * total:
            total += weight
            k += 1
            weight *= mean / k
        return log_pmf + math.log(total)
    below = 0.0  # at most about a half: nothing cancels
    for k in range(smallest):
        below += math.exp(k * log_mean - mean - math.lgamma(k + 1.0))
    return math.log1p(-below)


@njit_loop
def write_poisson(log_means, log_pmf, log_survival):
    """Write the tables of D = min(1 + Poisson, D_max)."""
    last = log_pmf.shape[1] - 1
    for j in range(log_means.shape[0]):
        log_mean = log_means[j]
        mean = math.exp(log_mean)
        for k in range(last):
            log_pmf[j, k] = k * log_mean - mean - math.lgamma(k + 1.0)
        log_survival[j, last] = log_poisson_tail(last, log_mean)
        fill_survival(log_pmf[j], log_survival[j])


# Negative binomial


@njit_inlined_source
def log_binomial(n, k, log_p, log_q):
    """Return the log probability of n - k events of probability p, and k others."""
    result = math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
    if k > 0:
        result += k * log_q
    if k < n:
        result += (n - k) * log_p
    return result


@njit_inlined_source
def log_negative_binomial_tail(smallest, n_phases, log_p, log_q):
    """Return log P(K >= smallest): at most r - 1 of smallest + r - 1 trials end a phase."""
    n = smallest + n_phases - 1
    result = -math.inf
    for k in range(n_phases):
        result = log_add(result, log_binomial(n, k, log_p, log_q))
    return min(result, 0.0)


@njit_inlined_source
def draw_negative_binomial_at_least(smallest, n_phases, log_p, log_q, rng):
    """Return a draw of K given K >= smallest, as a float."""
    # Draw how many phases end in the first smallest + r - 1 trials: all r possible numbers imply
    # K >= smallest. Then draw the events of the remaining phases.
    n = smallest + n_phases - 1
    log_total = log_negative_binomial_tail(smallest, n_phases, log_p, log_q)
    rest = next_double(rng)
    ended = n_phases - 1
    for k in range(n_phases):
        rest -= math.exp(log_binomial(n, k, log_p, log_q) - log_total)
        if rest < 0.0:
            ended = k
            break
    log_mean = draw_log_gamma(float(n_phases - ended), rng) + log_p - log_q
    return n - ended + draw_count(math.exp(min(log_mean, 700.0)), rng)


@njit_loop
def draw_probabilities(exact, at_least, n_phases, a, b, log_p, log_q, counts, totals, rng):
    """Draw the unknown K of segments, then the probability of every state."""
    for j in range(log_p.shape[0]):
        counts[j], totals[j] = add_up_exact(exact, j)
        for k in range(at_least.shape[1]):
            for _ in range(at_least[j, k]):
                counts[j] += 1.0
                totals[j] += draw_negative_binomial_at_least(k, n_phases, log_p[j], log_q[j], rng)
        log_p[j], log_q[j] = draw_log_beta(a + totals[j], b + n_phases * counts[j], rng)


@njit_loop
def write_negative_binomial(n_phases, log_p, log_q, log_pmf, log_survival):
    """Write the tables of D = min(1 + negative binomial, D_max)."""
    last = log_pmf.shape[1] - 1
    for j in range(log_p.shape[0]):
        for k in range(last):
            n = k + n_phases - 1
            log_pmf[j, k] = log_binomial(n, n_phases - 1, log_p[j], log_q[j]) + log_q[j]
        log_survival[j, last] = log_negative_binomial_tail(last, n_phases, log_p[j], log_q[j])
        fill_survival(log_pmf[j], log_survival[j])
