r"""Transitions of hidden Markov models: their rates, with similarities, and moves of states.

A hierarchical Dirichlet process, in the weak limit of J states. Attempted jumps have rates pi_jj' ~
Gamma(a_jj', 1), and the fraction phi_jj' of them succeeds, so that P_jj' = pi_jj' phi_jj' / T_j
with T_j = sum_j' pi_jj' phi_jj'. The last row of the tables is that of the first states of
sequences, with phi = 1 and without kappa.

| name | symbol | shape | meaning |
|---|---|---|---|
| counts | n_jj' | (J + 1, J) int64 | transitions from row to column |
| log_rates | log pi_jj' | (J + 1, J) | logs, because small shapes lead to rates of e^-1000 |
| log_similarity | log phi_jj' | (J + 1, J) | <= 0; -inf if a jump never succeeds |
| log_times | log u_j | (J + 1,) | total time in a state, -inf if it is never left |
| weights | beta_j' | (J,) | top-level weights |
| alpha, kappa | alpha, kappa | | a_jj' = alpha beta_j' + kappa [j = j' <= J] |
| shapes | a_jj', a_jj' + n_jj' | (J,), (J + 1, J) | of a row, and of the posterior of all rates |
| tables | m_jj', w_j | | tables of the restaurant of row j; tables explained by kappa |

Given u, the pairs (j, j') are independent. Successful jumps n are Poisson with rate u phi pi,
failed ones q with rate u (1 - phi) pi (appendix A). Both q and pi can be integrated out:

- pi given n and u, without q: Gamma(a + n, 1 + phi u);
- tables of the n + q customers given n and u: those of a restaurant of n customers and
  concentration a, and Poisson(a log((1 + u) / (1 + phi u))) more, which are the clusters of the
  negative binomial number of failed transitions that do not join a table of successful ones.

Thus failed transitions are never drawn, however small phi is. In a semi-Markov model, every
transition is to another state, so phi_jj = 0; pi_jj stays in the model, and beta has the same
conditionals as in any other model.
"""

# mypy: ignore-errors

import math

from skdp._numeric._arithmetic import add_exactly
from skdp._numeric._numba import (
    njit,
    njit_inlined,
    njit_inlined_source,
    njit_internal_nogc,
    njit_loop,
    njit_outlined,
)
from skdp._numeric._random import (
    draw_beta,
    draw_binomial,
    draw_exponential,
    draw_log_gamma,
    draw_poisson,
    next_double,
    stream_of_number,
)
from skdp.processes._kernels_table_counts import draw_table_count

LOG_SMALLEST = math.log(1e-60)
"""Transition probabilities are at least 1e-60: far smaller ones are slow and not identifiable."""

LOG_NEGLIGIBLE = -60.0
"""Terms of a sum whose logarithm is lower, relative to the largest term, are less than rounding."""

SMALLEST_WEIGHT = 1e-300

LARGEST_LOG_TIME = 1e10
"""Times are at most exp(1e10). If beta is all but 1 in a state that cannot follow itself, failed
jumps have an unbounded number of tables; the bound acts as if the other weights summed to at least
1e-10."""


@njit_inlined
def log_1p_exp(x):
    """Return log(1 + exp(x)) without overflow; x may be -inf."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@njit_loop
def count_transitions(ptr, states, counts, with_stays):
    """Write the number of transitions to `counts`, or of changes of state, without stays."""
    n_states = counts.shape[1]
    counts[:] = 0
    for s in range(ptr.shape[0] - 1):
        before = n_states
        for t in range(ptr[s], ptr[s + 1]):
            if with_stays or states[t] != before:
                counts[before, states[t]] += 1
                before = states[t]


@njit_internal_nogc
def log_sum_of_products(logs, other_logs):
    """Return log sum exp(logs + other_logs), as is log T_j of a row of rates and similarities."""
    largest = -math.inf
    for k in range(logs.shape[0]):
        largest = max(largest, logs[k] + other_logs[k])
    if largest == -math.inf:
        return largest
    total = 0.0
    for k in range(logs.shape[0]):
        x = logs[k] + other_logs[k] - largest
        if x > LOG_NEGLIGIBLE:
            total += math.exp(x)
    return largest + math.log(total)


@njit_loop
def draw_times(counts, log_rates, log_similarity, log_times, rng):
    """Draw u_j ~ Gamma(n_j., T_j), 0 for a state that is never left (33)."""
    for j in range(counts.shape[0]):
        n = 0
        for k in range(counts.shape[1]):
            n += counts[j, k]
        log_times[j] = -math.inf
        if n > 0:
            log_total = log_sum_of_products(log_rates[j], log_similarity[j])
            log_times[j] = min(draw_log_gamma(float(n), rng) - log_total, LARGEST_LOG_TIME)


@njit_loop
def draw_plain_tables(counts, weights, alpha, tables, rng):
    """Draw tables as `draw_tables` does, for phi = 1 and kappa = 0: no jump fails."""
    tables[:] = 0
    for j in range(counts.shape[0]):
        for k in range(tables.shape[0]):
            tables[k] += draw_table_count(counts[j, k], alpha * weights[k], rng)


@njit_loop
def draw_tables(counts, log_similarity, log_times, weights, alpha, kappa, tables, rng):
    """Draw `tables`, m_.j' - w_j', with pi and q integrated out; return w., those due to kappa."""
    n_states = weights.shape[0]
    overridden = 0
    tables[:] = 0
    for j in range(n_states + 1):
        if log_times[j] == -math.inf:
            continue  # no customers, and no time for failed transitions
        log_all = log_1p_exp(log_times[j])
        for k in range(n_states):
            sticks = j == k and kappa > 0.0
            a = alpha * weights[k] + (kappa if sticks else 0.0)
            m = draw_table_count(counts[j, k], a, rng)
            if log_similarity[j, k] < 0.0:
                failed = log_all - log_1p_exp(log_times[j] + log_similarity[j, k])
                m += draw_poisson(a * failed, rng)
            if sticks:
                w = draw_binomial(m, kappa / a, rng)
                overridden += w
                m -= w
            tables[k] += m
    return overridden


@njit_loop
def draw_rates(counts, log_similarity, log_times, weights, alpha, kappa, log_rates, rng):
    """Draw pi_jj' ~ Gamma(a_jj' + n_jj', 1 + phi_jj' u_j), with q integrated out."""
    n_states = weights.shape[0]
    for j in range(n_states + 1):
        log_all = log_1p_exp(log_times[j])
        for k in range(n_states):
            a = alpha * weights[k] + (kappa if j == k else 0.0)
            log_rate = log_all
            if log_similarity[j, k] < 0.0:
                log_rate = log_1p_exp(log_times[j] + log_similarity[j, k])
            log_rates[j, k] = draw_log_gamma(a + counts[j, k], rng) - log_rate


@njit_loop
def normalize_rates(log_rates, log_similarity, startprob, transmat):
    """Write P_jj' = pi_jj' phi_jj' / T_j to `transmat`, (J, J), and the last row to `startprob`."""
    n_states = startprob.shape[0]
    for j in range(n_states + 1):
        log_total = log_sum_of_products(log_rates[j], log_similarity[j])
        row = transmat[j] if j < n_states else startprob
        total = 0.0
        for k in range(n_states):
            row[k] = 0.0
            if log_similarity[j, k] > -math.inf:
                log_share = log_rates[j, k] + log_similarity[j, k] - log_total
                row[k] = math.exp(max(log_share, LOG_SMALLEST))
                total += row[k]
        if total > 0.0:  # not for the only state of a semi-Markov model
            for k in range(n_states):
                row[k] /= total


@njit_loop
def draw_weights(tables, gamma, weights, rng):
    """Draw beta ~ Dirichlet(gamma / J + m_.j')."""
    n_states = weights.shape[0]
    for k in range(n_states):
        weights[k] = draw_log_gamma(gamma / n_states + tables[k], rng)
    log_total = -math.inf
    for k in range(n_states):
        log_total = max(log_total, weights[k])
    total = 0.0
    for k in range(n_states):
        weights[k] = math.exp(weights[k] - log_total)
        total += weights[k]
    for k in range(n_states):
        weights[k] = max(weights[k] / total, SMALLEST_WEIGHT)


@njit_loop
def draw_top_tables(tables, gamma, rng):
    """Return a draw of the number of top-level tables, with beta integrated out."""
    # Their customers are the tables of the rows; those of a state sit in a restaurant of
    # concentration gamma / J.
    n_states = tables.shape[0]
    top_tables = 0
    for k in range(n_states):
        top_tables += draw_table_count(tables[k], gamma / n_states, rng)
    return top_tables


@njit_loop
def log_1p_times(log_times):
    """Return sum_j log(1 + u_j) over the rows of states, and log(1 + u) of the last row."""
    total = 0.0
    for j in range(log_times.shape[0] - 1):
        total += log_1p_exp(log_times[j])
    return total, log_1p_exp(log_times[log_times.shape[0] - 1])


@njit
def draw_share(share, mass, log_first, overridden, others, p, q, rng):
    """Return a draw of kappa / (alpha + kappa)."""
    # Its density is that of Beta(p + w., q + m.. - w.) times exp(share mass log(1 + u_0)), because
    # the last row has no kappa. That factor is a sum over a Poisson number of events, each of which
    # gives one power of the share.
    events = draw_poisson(share * mass * log_first, rng)
    return draw_beta(p + overridden + events, q + others, rng)


# Rates integrated out: probabilities of transitions, and draws of times.


STEP = 0.15
"""Step of the trapezoidal rule below, whose error decreases as exp(-2 pi / STEP)."""

WIDEST = 2.0
"""Widest scale of the rule: f bends on this scale even if it is all but flat at its maximum."""

NEGLIGIBLE = 45.0
"""Terms of the rule that are smaller by a factor of exp(-45) are omitted."""


@njit_internal_nogc
def log_rate_of_times(log_time, total, shapes, log_similarity):
    """Return f(v) = n v - sum_j' a_j' log(1 + phi_j' exp(v)), and its first two derivatives."""
    # exp(f) is the density of log u and the transitions of a row with the rates integrated out, up
    # to a constant.
    f, slope, curvature = total * log_time, total, 0.0
    for k in range(shapes.shape[0]):
        x = log_time + log_similarity[k]
        share = 1.0 / (1.0 + math.exp(-x))
        f -= shapes[k] * log_1p_exp(x)
        slope -= shapes[k] * share
        curvature -= shapes[k] * share * (1.0 - share)
    return f, slope, curvature


@njit_internal_nogc
def find_log_time(total, shapes, log_similarity):
    """Return the maximum of f, which is concave, by Newton's method safeguarded by bisection."""
    low, high = -800.0, 800.0
    for k in range(shapes.shape[0]):
        if log_similarity[k] > -math.inf:
            high = max(high, 800.0 - log_similarity[k])
    v = 0.0
    for _ in range(200):
        _, slope, curvature = log_rate_of_times(v, total, shapes, log_similarity)
        if slope > 0.0:
            low = v
        else:
            high = v
        step = v - slope / curvature if curvature < 0.0 else low
        if not low < step < high:
            step = 0.5 * (low + high)
        if abs(step - v) <= 1e-9 * (1.0 + abs(v)):
            break
        v = step
    return v


@njit_internal_nogc
def log_integral_over_times(total, shapes, log_similarity):
    """Return log of the integral of exp(f) over v."""
    # The trapezoidal rule is applied to x in v = v_0 + s sinh(x), because to the right f decreases
    # only as A v, and A may be tiny.
    center = find_log_time(total, shapes, log_similarity)
    largest, _, curvature = log_rate_of_times(center, total, shapes, log_similarity)
    scale = min(1.0 / math.sqrt(max(-curvature, 1e-12)), WIDEST)
    result = 1.0
    for direction in (-1.0, 1.0):
        x = STEP
        while x < 700.0:
            v = center + direction * scale * math.sinh(x)
            f, _, _ = log_rate_of_times(v, total, shapes, log_similarity)
            term = f - largest + math.log(math.cosh(x))
            if term < -NEGLIGIBLE:
                break
            result += math.exp(term)
            x += STEP
    return largest + math.log(STEP * scale * result)


@njit_outlined
def log_probability_of_plain_row(counts, shapes):
    """Return log p(transitions of a row) for phi = 1: Dirichlet-multinomial."""
    total, mass = 0, 0.0
    for k in range(counts.shape[0]):
        total += counts[k]
        mass += shapes[k]
    if total == 0:
        return 0.0
    log_gamma_of_total = math.lgamma(float(total))
    result = -log_gamma_of_total
    for k in range(counts.shape[0]):
        if counts[k] > 0:
            result += math.lgamma(shapes[k] + counts[k]) - math.lgamma(shapes[k])
    return result + math.lgamma(mass) + log_gamma_of_total - math.lgamma(mass + total)


@njit_loop
def log_probability_of_row(counts, shapes, log_similarity, scratch):
    """Return log p(transitions of a row), with its rates integrated out."""
    # It is prod_j' phi^n Gamma(a + n) / (Gamma(a) Gamma(n.)) times the integral of u^(n. - 1)
    # prod_j' (1 + phi u)^-(a + n) over the time u.
    total, plain = 0, True
    for k in range(counts.shape[0]):
        total += counts[k]
        plain &= log_similarity[k] == 0.0
        scratch[k] = shapes[k] + counts[k]
    if plain:
        return log_probability_of_plain_row(counts, shapes)
    if total == 0:
        return 0.0
    result = -math.lgamma(float(total))
    for k in range(counts.shape[0]):
        if counts[k] > 0:
            result += math.lgamma(scratch[k]) - math.lgamma(shapes[k])
            result += counts[k] * log_similarity[k]
    return result + log_integral_over_times(float(total), scratch, log_similarity)


@njit_internal_nogc
def log_density_of_weights(weights, gamma):
    """Return log p(beta), the density of J - 1 log ratios, which is bounded for small weights."""
    n_states = weights.shape[0]
    result = math.lgamma(gamma) - n_states * math.lgamma(gamma / n_states)
    for k in range(n_states):
        result += gamma / n_states * math.log(weights[k])
    return result


@njit_internal_nogc
def write_shapes(j, weights, alpha, kappa, shapes):
    """Write a_jj' of a row."""
    for k in range(weights.shape[0]):
        shapes[k] = alpha * weights[k] + (kappa if j == k else 0.0)


@njit_loop
def log_probability_of_plain_transitions(counts, weights, alpha, kappa, gamma, shapes):
    """Return log p(transitions, beta given concentrations) for phi = 1, integrated over rates."""
    result = log_density_of_weights(weights, gamma)
    for j in range(counts.shape[0]):
        write_shapes(j, weights, alpha, kappa, shapes)
        result += log_probability_of_plain_row(counts[j], shapes)
    return result


@njit_inlined_source
def log_probability_of_pair_row(counts, weights, alpha, kappa, j):
    """Return log p(transitions of the row of state j) for phi = 1."""
    total, mass, result = 0, kappa, 0.0
    for k in range(weights.shape[0]):
        mass += alpha * weights[k]
        if counts[k] > 0:
            shape = alpha * weights[k] + (kappa if j == k else 0.0)
            total += counts[k]
            result += math.lgamma(shape + counts[k]) - math.lgamma(shape)
    return result + math.lgamma(mass) - math.lgamma(mass + total) if total > 0 else 0.0


@njit_loop
def log_probability_of_pair(counts, weights, alpha, kappa, gamma, a, b):
    """Return the terms of log p(transitions, beta) that a and b change, given their summed beta."""
    n_states = weights.shape[0]  # here phi = 1
    result = gamma / n_states * (math.log(weights[a]) + math.log(weights[b]))
    for j in range(n_states + 1):
        if (j == a) | (j == b):
            result += log_probability_of_pair_row(counts[j], weights, alpha, kappa, j)
            continue
        for i in range(2):
            k = a if i == 0 else b
            if counts[j, k] > 0:
                shape = alpha * weights[k]
                result += math.lgamma(shape + counts[j, k]) - math.lgamma(shape)
    return result


@njit_loop
def log_probability_of_transitions(
    counts, log_similarity, weights, alpha, kappa, gamma, shapes, scratch
):
    """Return log p(transitions, beta given phi, concentrations), with rates integrated out."""
    result = log_density_of_weights(weights, gamma)
    for j in range(counts.shape[0]):
        write_shapes(j, weights, alpha, kappa, shapes)
        result += log_probability_of_row(counts[j], shapes, log_similarity[j], scratch)
    return result


@njit_loop
def draw_times_without_rates(counts, shapes, log_similarity, log_times, rng):
    """Draw the times u given transitions, with the rates integrated out."""
    for j in range(counts.shape[0]):
        n = 0
        for k in range(counts.shape[1]):
            n += counts[j, k]
        log_times[j] = -math.inf
        if n > 0:
            draw = draw_log_time(float(n), shapes[j], log_similarity[j], rng)
            log_times[j] = min(draw, LARGEST_LOG_TIME)


@njit_internal_nogc
def find_tangent(center, direction, scale, largest, total, shapes, log_similarity):
    """Return how far from the mode a tangent on one side reaches its height, and its slope."""
    distance = scale  # until the tangent touches f where it has fallen by about 1
    f, slope, _ = log_rate_of_times(center + direction * distance, total, shapes, log_similarity)
    for _ in range(200):
        if largest - f > 3.0:
            distance *= 0.5
        elif largest - f < 0.3:
            distance *= 2.0
        else:
            break
        f, slope, _ = log_rate_of_times(
            center + direction * distance, total, shapes, log_similarity
        )
    slope = abs(slope)
    return distance - (largest - f) / slope, slope


@njit_outlined
def draw_log_time(total, shapes, log_similarity, rng):
    """Return a draw of log u of one row."""
    # Its density exp(f) is log-concave: a draw from the tangents of f at three points, the mode and
    # one on each side, is accepted with probability exp(f - tangent).
    center = find_log_time(total, shapes, log_similarity)
    largest, _, curvature = log_rate_of_times(center, total, shapes, log_similarity)
    scale = 1.0 / math.sqrt(max(-curvature, 1e-12))
    left, rise = find_tangent(center, -1.0, scale, largest, total, shapes, log_similarity)
    right, fall = find_tangent(center, 1.0, scale, largest, total, shapes, log_similarity)
    # The envelope: flat from center - left to center + right, and exponential beyond.
    area = left + right + 1.0 / rise + 1.0 / fall
    while True:
        u = next_double(rng) * area
        if u < left + right:
            v, hat = center - left + u, largest
        else:
            beyond = draw_exponential(rng)
            hat = largest - beyond
            if u < left + right + 1.0 / rise:
                v = center - left - beyond / rise
            else:
                v = center + right + beyond / fall
        f, _, _ = log_rate_of_times(v, total, shapes, log_similarity)
        if not f - hat <= -draw_exponential(rng):
            return v  # NaN, too, so that the loop ends


# Moves that split a state in two or merge two states.
#
# The steps of states a and b, or of a single state in a split, form a set S. A *run* consists of
# steps of S that follow each other in a sequence. Each step of S belongs to one of two groups; the
# groups are a Markov chain whose runs begin after states outside of S and end before such states.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | steps | | (n,) int64 | S, in order |
# | before, after | | (n,) int64 | state next to a run; INSIDE in it, J at an end of a sequence |
# | groups | y | (n,) int8 | 0 or 1 |
# | into | | (J + 1, 2) int64 | transitions into each group, from outside of S |
# | out_of | | (2, J + 1) int64 | transitions out of each group; last column: ends of sequences |
# | within | | (2, 2) int64 | transitions within S |
# | log_into, log_out_of, log_within | | the same, float64 | log weights, up to constants per row |
# | log_obs | log L_tg | (n, 2) float64 | log density of a step in each group |
# | odds | log p(y = 1) / p(y = 0) | (n,) float64 | given everything before the next group |
# | sums | | (3,) int64 | an exact sum: see `skdp._numeric._arithmetic` |
# | first | | int | index of step 0 in the whole panel |
# | key, rng | | (4,) uint64 | key of the streams, by the last step of a run; scratch |


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
    into[:] = 0
    out_of[:] = 0
    within[:] = 0
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
