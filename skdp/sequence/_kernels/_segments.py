r"""Hidden semi-Markov models: durations of states, filtering, draws of segments, smoothing, ages.

A state lasts a segment of D steps, then another state follows. Each sequence begins with a segment;
its last segment is censored by the end, so that only a lower bound on its duration is known.

| name | symbol | shape | meaning |
|---|---|---|---|
| ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| startprob | pi_0 | (J,) | probabilities of the first state |
| transmat | P | (J, W) | row: from, column: to; the diagonal is 0; padded: see `pad_columns` |
| reverse | P^T | (J, W) | transposed, padded |
| log_from, log_into | log P, log P^T | (J, J) | logarithms of P and P^T |
| log_obs | log L_tj | (N, J) | log p(x_t given state j), -inf if impossible |
| log_pmf | log p_j(d) | (J, D) | log P(D = d) for d = 1 to D, the longest duration |
| log_survival | log S_j(d) | (J, D) | log P(D >= d) |
| pmf, survival | p_j(d), S_j(d) | (2 D - 1, J) | the same, laid out for a ring: see `unroll` |
| log_enter | log E_tj | (T, J) | log p(a segment of j begins at t given x_<t) |
| log_end | log F_tj | (T, J) | log p(a segment of j ends at t given x_<=t) |
| norms | log c_t | (T,) | log p(x_t given x_<t) |
| log_filtered | | (R, J) | log p(z_t = j given x_<=t); ptr[0] is in row 0, as of log E, log F |
| likelihoods | | (n,) | log p(x) of sequences, -inf if impossible |
| entries, offsets | | (D, J), (J,) | active segments: entries exp(offsets), a ring of rows |
| ends | | (J,) | sums over entries |
| first, key | | int, (4,) uint64 | index of the first sequence, and key of all streams |
| rng | | (4,) uint64 | stream, advanced in place; scratch if there is a key |

F_tj = sum_d E_t-d+1,j p_j(d) prod L_sj / c_s over the d steps, E_t+1,j = sum_i F_ti P_ij: J D + J^2
multiplications per step. The likelihood of a step is the same for all active segments of a state,
whenever they began. Therefore it is added to the offset of the state, in logarithms, and entries do
not change: the inner loop is a sum of products. Entries are written relative to the offset, and a
column is scaled down when a new entry would be too large.

Underflow is handled as follows. An entry below `FLOOR` is set to 0. Probabilities of durations sum
to 1, so that a sum over entries loses at most `FLOOR`; if it is `SAFE` or more, it is correct to
1e-20. Otherwise it is recomputed in logarithms, for that state and step only, and its column is
refilled relative to its largest entry. Sums over states are guarded in the same way. Thus no
sequence underflows, however long it is and however far apart its states are; it only requires more
logarithms.
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

from skdp._numeric import Floats
from skdp._numeric._arithmetic import fast_exp, fast_log
from skdp._numeric._numba import njit_inlined, njit_inlined_source, njit_internal_nogc, njit_loop
from skdp._numeric._random import (
    draw_categorical,
    draw_log_beta,
    draw_log_gamma,
    draw_poisson,
    next_double,
    stream_of_number,
)
from skdp.sequence._kernels._messages import (
    add_up,
    exponentiate,
    find_largest,
    log_sum_exp,
    multiply,
)
from skdp.sequence._kernels._transitions import log_sum_of_products

# Durations of states: counts of segments by their length, and draws of the parameters.
#
# A state lasts D = min(1 + K, D_max) steps. K is Poisson, or negative binomial with an integer r:
# the number of events of probability p before the opposite event has occurred r times.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
# | states | z_t | (N,) int64 | |
# | exact | | (J, D_max) int64 | segments of state j that lasted d = 1, ... steps, without D_max |
# | at_least | | (J, D_max) int64 | segments for which only K >= d - 1 is known |
# | counts, totals | n_j, sum K | (J,) | segments and the sum of their K, with unknown K drawn |
# | log_means | log omega_j | (J,) | omega_j ~ Gamma(shape, rate), the mean of K |
# | n_phases | r | | |
# | log_p, log_q | log p_j, log(1 - p_j) | (J,) | p_j ~ Beta(a, b) |
# | log_pmf, log_survival | | (J, D_max) | log P(D = d), log P(D >= d), d = 1, ..., output |


LARGEST_COUNT = 1e15
"""A Poisson draw with a larger mean is replaced by the mean; the relative error is about 3e-8."""


@njit_loop
def count_segments(ptr, states, exact, at_least):
    """Count segments by length; of the last one and of D_max steps, only K >= d - 1 is known."""
    longest = exact.shape[1]
    exact[:] = 0
    at_least[:] = 0
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


# Poisson durations.


@njit_inlined_source
def sum_poisson_tail(smallest, mean):
    """Return P(K >= smallest) / P(K = smallest)."""
    total, weight, k = 0.0, 1.0, smallest
    while weight > 1e-17 * total:
        total += weight
        k += 1
        weight *= mean / k
    return total


@njit_inlined_source
def draw_poisson_at_least(smallest, mean, rng):
    """Return a draw of K ~ Poisson(mean) given K >= smallest, as a float."""
    if smallest <= mean:  # at least about every other draw is accepted
        while True:
            draw = draw_count(mean, rng)
            if draw >= smallest:
                return draw
    # Beyond the mean, weights decrease ever faster: search from the smallest upwards.
    total = sum_poisson_tail(smallest, mean)
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
        return log_pmf + math.log(sum_poisson_tail(smallest, mean))
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


# Negative binomial durations.


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


# Messages: tables and buffers.


FLOOR = 1e-290
SAFE = 1e-270
LARGEST = 500.0
"""Entries are at most exp(LARGEST); the higher it is, the more rarely columns are scaled down."""


class Durations(NamedTuple):
    """Tables of durations, as listed in the module docstring."""

    log_pmf: Floats
    log_survival: Floats
    pmf: Floats
    survival: Floats


class Segments(NamedTuple):
    """Active segments of one sequence, and buffers for a step."""

    entries: Floats
    offsets: Floats
    ends: Floats
    filtered: Floats  # (J,), log p(z_t = j given x_<=t) of one step
    factors: Floats  # (J,), scratch, as all that follow
    tail: Floats  # (J,)
    sums: Floats  # (1, W)
    logs: Floats  # (max(D, J),)


@njit_inlined
def sum_logs(x, terms):
    """Return log sum exp(x), -inf if all entries are; `terms` is scratch of the same length."""
    largest = find_largest(x)
    if largest == -math.inf:
        return largest
    for i in range(x.shape[0]):
        terms[i] = fast_exp(x[i] - largest)
    return largest + math.log(add_up(terms))


@njit_loop
def write_logs(matrix, out):
    """Write the logarithms of a matrix."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            out[i, j] = math.log(matrix[i, j])


@njit_loop
def unroll(log_table, out):
    """Write a table of durations in the order in which a ring of D rows needs it, (2 D - 1, J)."""
    # Let row p of the ring hold the segments that began last. The duration of row k is p - k + 1,
    # or D more if that is below 1; the result holds its entry in row D - 1 - p + k.
    n_states, n = log_table.shape
    for m in range(2 * n - 1):
        d = n - m if m < n else 2 * n - m
        for j in range(n_states):
            out[m, j] = math.exp(log_table[j, d - 1])


# Active segments.


@njit_inlined_source
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


@njit_inlined
def insert(log_values, scratch, row, n_rows):
    """Write new entries to a row of the ring, given their logarithms."""
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


@njit_inlined
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


@njit_inlined
def weigh_twice(entries, n_rows, first_table, second_table, first, out, second_out):
    """Apply `weigh` to two tables; entries are read once."""
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


@njit_inlined
def is_unsafe(ends, offsets):
    """Return whether a sum may have lost too much, or belongs to an impossible observation."""
    unsafe = False
    for j in range(ends.shape[0]):
        unsafe |= (ends[j] < SAFE) | (offsets[j] == -math.inf)
    return unsafe


@njit_inlined
def move(log_from, matrix, log_into, scratch, log_to):
    """Write log sum_i exp(log_from[i]) matrix[i, j] to `log_to`; `log_into` is log matrix^T."""
    n = log_from.shape[0]
    sums, weights = scratch.sums[0], scratch.factors
    shift = find_largest(log_from)
    if shift == -math.inf:
        for j in range(n):
            log_to[j] = shift
        return
    for i in range(n):
        weights[i] = fast_exp(log_from[i] - shift)
    for i in range(n):
        weights[i] = weights[i] if weights[i] >= FLOOR else 0.0
    multiply(weights.reshape(1, n), 0, 1, matrix, scratch.sums, 0)
    unsafe = False
    for j in range(n):
        unsafe |= sums[j] < SAFE
    for j in range(n):
        log_to[j] = fast_log(sums[j]) + shift
    if unsafe:
        move_in_logs(log_from, log_into, sums, scratch.logs[:n], log_to)


@njit_inlined_source
def move_in_logs(log_from, log_into, sums, terms, log_to):
    """Recompute the states whose sums may have lost too much."""
    n = log_from.shape[0]
    for j in range(n):
        if sums[j] < SAFE:
            for i in range(n):
                terms[i] = log_from[i] + log_into[j, i]
            log_to[j] = sum_logs(terms, terms)


# Filtering.


@njit_inlined_source
def refill(log_enter, log_obs, norms, t, j, scratch):
    """Refill a column from logarithms after step t; return how many entries may be nonzero."""
    # The logarithms of these entries are left in `scratch.logs`.
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


@njit_internal_nogc
def filter_unsafe(log_enter, log_obs, norms, t, durations, scratch, log_end):
    """Recompute the states whose sums at step t may have lost too much."""
    for j in range(log_end.shape[0]):
        if not scratch.ends[j] >= SAFE or scratch.offsets[j] == -math.inf:
            n = refill(log_enter, log_obs, norms, t, j, scratch)
            logs = scratch.logs[:n]
            log_end[j] = log_sum_of_products(logs, durations.log_pmf[j])
            scratch.filtered[j] = log_sum_of_products(logs, durations.log_survival[j])


@njit_loop
def filter_segments(
    ptr, startprob, transmat, log_into, log_obs, durations, scratch, log_enter, log_end, norms,
    log_filtered, likelihoods,
):  # fmt: skip
    """Filter sequences up to the first impossible one; return the number of those before it."""
    entries, offsets, ends, filtered = (
        scratch.entries, scratch.offsets, scratch.ends, scratch.filtered,
    )  # fmt: skip
    n, longest_duration = offsets.shape[0], entries.shape[0]
    for s in range(ptr.shape[0] - 1):
        first_row, n_steps = ptr[s] - ptr[0], ptr[s + 1] - ptr[s]
        likelihoods[s] = 0.0
        if n_steps == 0:
            continue
        own_obs, own_norms = log_obs[ptr[s] : ptr[s + 1]], norms[ptr[s] : ptr[s + 1]]
        own_enter, own_end = log_enter[first_row:], log_end[first_row:]
        own_filtered = log_filtered[first_row:]
        for j in range(n):
            offsets[j] = 0.0
            scratch.tail[j] = 0.0
            own_enter[0, j] = math.log(startprob[j])
        result = 0.0
        for t in range(n_steps):
            # Add the segments that begin, and sum over all active segments.
            row, n_rows = t % longest_duration, min(t + 1, longest_duration)
            insert(own_enter[t], scratch, row, n_rows)
            first = longest_duration - 1 - row
            weigh_twice(entries, n_rows, durations.pmf, durations.survival, first, ends, filtered)
            # Weigh by the observation.
            for j in range(n):
                offsets[j] += own_obs[t, j]
            for j in range(n):
                own_end[t, j] = fast_log(ends[j]) + offsets[j]
                filtered[j] = fast_log(filtered[j]) + offsets[j]
            own_norms[t] = 0.0
            if is_unsafe(ends, offsets):
                filter_unsafe(own_enter, own_obs, own_norms, t, durations, scratch, own_end[t])
            # Normalize.
            own_norms[t] = sum_logs(filtered, ends)
            result += own_norms[t]
            if own_norms[t] == -math.inf:
                break
            for j in range(n):
                offsets[j] -= own_norms[t]
                own_end[t, j] -= own_norms[t]
                own_filtered[t, j] = filtered[j] - own_norms[t]
            if t + 1 < n_steps:
                move(own_end[t], transmat, log_into, scratch, own_enter[t + 1])
        likelihoods[s] = result
        if result == -math.inf:
            return s
    return ptr.shape[0] - 1


# Draws.


@njit_inlined_source
def draw_duration(log_enter, log_obs, norms, t, j, log_table, log_total, rng):
    """Draw the duration of a segment of j that ends at t; `log_total` is its total log weight."""
    rest = next_double(rng)
    likelihood = -log_total  # so that only durations up to the drawn one are examined
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
    return last  # if rounding leaves a rest, the last possible duration


@njit_inlined_source
def draw_previous(log_end, into, weights, logs, rng):
    """Draw the state of a segment that has ended, given the transitions into its successor."""
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
def sample_segments(
    ptr, first, reverse, log_obs, durations, scratch, log_enter, log_end, norms, log_filtered,
    states, key, rng,
):  # fmt: skip
    """Draw the segments of sequences that have been filtered, from the last to the first."""
    n = reverse.shape[0]
    weights, logs = scratch.factors, scratch.logs[:n]
    for s in range(ptr.shape[0] - 1):
        first_row, t = ptr[s] - ptr[0], ptr[s + 1] - ptr[s] - 1
        if t < 0:
            continue
        stream_of_number(key, first + s, rng)
        own_states, own_obs = states[ptr[s] : ptr[s + 1]], log_obs[ptr[s] : ptr[s + 1]]
        own_norms = norms[ptr[s] : ptr[s + 1]]
        own_enter, own_end = log_enter[first_row:], log_end[first_row:]
        # The last segment, which is censored by the end of the sequence.
        log_last = log_filtered[first_row + t]
        exponentiate(log_last, weights)
        j = draw_categorical(weights, 1.0, rng)
        log_table, log_total = durations.log_survival[j], log_last[j]
        while True:
            d = draw_duration(own_enter, own_obs, own_norms, t, j, log_table, log_total, rng)
            for i in range(t - d + 1, t + 1):
                own_states[i] = j
            t -= d
            if t < 0:
                break
            # The previous segment.
            j = draw_previous(own_end[t], reverse[j], weights, logs, rng)
            log_table, log_total = durations.log_pmf[j], own_end[t, j]


# Smoothing of hidden semi-Markov models: probabilities of the states given whole sequences.
#
# Names, layouts and guards are as above, with these additions:
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | log_after | | (T, J) | log p(x_>t given a segment of j ends at t) / p(x_>t given x_<=t) |
# | log_begin | | (J,) | the same, given that a segment of j begins |
# | since | | int | number of steps that follow |
# | out | p(z_t given x) | (N, J) | |
#
# The recursion of the filter runs from the last step to the first: B_tj = p(x_>=t given that a
# segment of j begins at t) is a sum over durations, A_ti = sum_j P_ij B_t+1,j, both divided by the
# probabilities of the observations given the earlier ones. Step t is in j if a segment of j that
# begins at t or before ends at t or later; all terms of that sum are positive.


@njit_inlined_source
def refill_backward(log_after, log_obs, norms, t, j, durations, scratch):
    """Refill a column of the backward ring after step t; return how many durations are possible."""
    # The log weights of these durations are left in `scratch.logs`.
    entries, offsets, logs = scratch.entries, scratch.offsets, scratch.logs
    longest_duration, last = entries.shape[0], log_obs.shape[0] - 1
    n_rows = min(last - t + 1, longest_duration)
    likelihood = 0.0
    largest = -math.inf
    n = 0
    for d in range(1, n_rows + 1):
        end = t + d - 1
        likelihood += log_obs[end, j] - norms[end]
        if likelihood == -math.inf:
            break
        logs[n] = likelihood if end == last else likelihood + log_after[end, j]
        largest = max(largest, logs[n])
        n += 1
    offsets[j] = largest if largest > -math.inf else 0.0
    scratch.tail[j] = 0.0
    for k in range(n_rows):
        entries[k, j] = 0.0
    for i in range(n):
        entry = math.exp(logs[i] - offsets[j])
        entry = entry if entry >= FLOOR else 0.0
        if t + i == last:
            scratch.tail[j] = entry
            logs[i] += durations.log_survival[j, i]
        else:
            entries[(last - t - i) % longest_duration, j] = entry
            logs[i] += durations.log_pmf[j, i]
    return n


@njit_internal_nogc
def smooth_unsafe(log_after, log_enter, log_obs, norms, t, durations, scratch, log_begin, out):
    """Recompute the states whose sums at step t may have lost too much."""
    for j in range(log_begin.shape[0]):
        if not scratch.ends[j] >= SAFE or scratch.offsets[j] == -math.inf:
            n = refill_backward(log_after, log_obs, norms, t, j, durations, scratch)
            log_begin[j] = log_sum_exp(scratch.logs[:n])
            total = 0.0
            for i in range(n - 1, -1, -1):
                total += math.exp(log_enter[t, j] + scratch.logs[i])
                out[t + i, j] += total
            scratch.ends[j] = 0.0


@njit_inlined
def spread(n_rows, row, since, durations, scratch, out):
    """Add the probabilities of the segments that begin at one step to the steps they cover."""
    # `factors` are the probabilities that a segment begins, per unit of an entry; `sums` begin with
    # the weight of the segment that is censored by the end of the sequence.
    entries, factors, sums = scratch.entries, scratch.factors, scratch.filtered
    longest_duration, last = entries.shape[0], out.shape[0] - 1
    for i in range(n_rows):  # from the longest segment to the shortest: sums accumulate
        k = (row + 1 + i) % n_rows
        end = last - since + n_rows - 1 - i
        m = longest_duration - 1 - row + k
        for j in range(sums.shape[0]):
            sums[j] += entries[k, j] * durations.pmf[m, j]
            out[end, j] += factors[j] * sums[j]


@njit_loop
def smooth_segments(
    ptr, reverse, log_from, log_obs, durations, scratch, log_enter, log_after, norms, log_begin, out
):
    """Write p(z_t given x) of sequences that have been filtered."""
    entries, offsets, ends, factors, tail, sums = (
        scratch.entries, scratch.offsets, scratch.ends, scratch.factors, scratch.tail,
        scratch.filtered,
    )  # fmt: skip
    n, longest_duration = offsets.shape[0], entries.shape[0]
    for s in range(ptr.shape[0] - 1):
        first_row, n_steps = ptr[s] - ptr[0], ptr[s + 1] - ptr[s]
        own_obs, own_norms = log_obs[ptr[s] : ptr[s + 1]], norms[ptr[s] : ptr[s + 1]]
        own_out = out[ptr[s] : ptr[s + 1]]
        own_enter, own_after = log_enter[first_row:], log_after[first_row:]
        last = n_steps - 1
        for j in range(n):
            offsets[j] = 0.0
            tail[j] = 1.0
            entries[0, j] = 0.0
            for t in range(n_steps):
                own_out[t, j] = 0.0
        for t in range(last, -1, -1):
            # Add the segments that end, and sum over all active segments.
            since = last - t
            row, n_rows = since % longest_duration, min(since + 1, longest_duration)
            if since > 0:
                insert(own_after[t], scratch, row, n_rows)
            weigh(entries, n_rows, durations.pmf, longest_duration - 1 - row, ends)
            # Weigh by the observation.
            for j in range(n):
                sums[j] = 0.0
                offsets[j] += own_obs[t, j] - own_norms[t]
            if since < longest_duration:
                for j in range(n):
                    sums[j] = tail[j] * durations.survival[longest_duration - 1 - since, j]
                    ends[j] += sums[j]
            for j in range(n):
                log_begin[j] = fast_log(ends[j]) + offsets[j]
            if is_unsafe(ends, offsets):
                smooth_unsafe(
                    own_after, own_enter, own_obs, own_norms, t, durations, scratch, log_begin,
                    own_out,
                )  # fmt: skip
            # Add the segments that begin here to the steps that they cover.
            for j in range(n):
                factors[j] = math.exp(own_enter[t, j] + offsets[j]) if ends[j] > 0.0 else 0.0
            spread(n_rows, row, since, durations, scratch, own_out)
            if t > 0:
                move(log_begin, reverse, log_from, scratch, own_after[t - 1])
        for t in range(n_steps):
            scale = 1.0 / add_up(own_out[t])  # 1 but for rounding
            for j in range(n):
                own_out[t, j] *= scale


# States of hidden semi-Markov models at the ends of sequences, and their ages.
#
# Names and layouts are as above, with these additions:
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | survival_logs | log S_j(d) | (D, J) | log P(D >= d), a row for each d |
# | likelihoods | | (J,) | log p of the observations of a segment, less norms |
# | ages | p(z_t = j, a_t = d given x_<=t) | (D, J) | t is the d-th step of a segment of j |
#
# Ages are E_t-d+1,j S_j(d) prod L_sj / c_s, with the product over the d steps. All terms are
# positive, so that no sum loses digits.


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
