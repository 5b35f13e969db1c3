r"""Binary vectors with an Indian buffet prior: moves that change the number of factors, and starts.

The J states are the customers of the buffet. A factor that is on in a single counted state is a
*single* of this state. Singles of state j affect no other observations. So their weights, which
are N(0, s_d^2), can be integrated out given those of all other factors: with k singles, the mean of
the values of state j in column d less the weights of its other factors is

    r_d ~ N(0, k s_d^2 + 1 / (tau_d n_jd)).

Given the other factors, k has the prior Poisson(alpha q / (q + n - 1)) for n counted states.

| name | symbol | shape | meaning |
|---|---|---|---|
| spins | 2 theta_jf - 1 | (C, J) float64 | by factor; rows without a state are free |
| weights | w_fd | (C + 1, D) | row 0 is the background |
| idle | | (J,) bool | states without values and informative transitions |
| prior_off | q | scalar | concentration of the buffet |
| rate | alpha q / (q + n - 1) | scalar | |
| log_room | | (C + 1,) | log weight of the bound, by the number of factors of counted states |
| counts | n_jd | (J, D) float64 | values seen in a state |
| totals | | (J, D) | sums of values, or of latent normals in probit columns |
| precisions | tau_d | (D,) | 1 for probit columns |
| scales | s_d | (D,) | prior standard deviations of weights |
| n_on | | (C,) float64 | counted states with a factor |
| rests | r_d | (D,) | of the state at hand |
| places, members, done | | (C,) | scratch |
| links | | | `Links`; None if vectors do not depend on transitions |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_normal, next_double
from skdp.emissions._kernels._binary_factors import count_on, logistic, write_change
from skdp.emissions._kernels._gaussian import find_nearest, squared_distance
from skdp.emissions._kernels._links import (
    flip_spin,
    make_change,
    turn_to,
    weigh_change,
    weigh_totals,
    write_distances_of,
)

N_ROUNDS = 3
"""Passes over the bits of a state, each with an attempt to change the number of its singles."""


@njit_inlined
def noise_of_mean(counts, precisions, j, d):
    """Return the variance of the mean of the values of a state, or 0 without any."""
    return 1.0 / (precisions[d] * counts[j, d]) if counts[j, d] > 0.0 else 0.0


@njit_internal_nogc
def write_rests(spins, weights, n_on, counts, totals, j, rests):
    """Write r, singles not subtracted; return the number of singles."""
    n_single = 0
    for d in range(rests.shape[0]):
        rests[d] = totals[j, d] / max(counts[j, d], 1.0) - weights[0, d]
    for f in range(spins.shape[0]):
        if spins[f, j] < 0.0:
            continue
        if n_on[f] == 1.0:
            n_single += 1
            continue
        for d in range(rests.shape[0]):
            rests[d] -= weights[f + 1, d]
    return n_single


@njit_internal_nogc
def gain_of_flip(weights, f, spin, n_single, counts, precisions, scales, j, rests):
    """Return the gain of the log likelihood of state j if bit f is flipped."""
    gain = 0.0
    for d in range(rests.shape[0]):
        noise = noise_of_mean(counts, precisions, j, d)
        if noise > 0.0:
            shift = -spin * weights[f + 1, d]
            variance = n_single * scales[d] ** 2 + noise
            gain += shift * (rests[d] - 0.5 * shift) / variance
    return gain


@njit_internal_nogc
def gain_of_singles(before, after, counts, precisions, scales, j, rests):
    """Return the gain of the log likelihood of state j if the number of its singles changes."""
    gain = 0.0
    for d in range(rests.shape[0]):
        noise = noise_of_mean(counts, precisions, j, d)
        if noise > 0.0:
            old = before * scales[d] ** 2 + noise
            new = after * scales[d] ** 2 + noise
            gain -= 0.5 * (math.log(new / old) + rests[d] ** 2 * (1.0 / new - 1.0 / old))
    return gain


@njit_internal_nogc
def accepts(gain, rng):
    """Return whether a Metropolis-Hastings step with this log ratio is accepted."""
    return next_double(rng) < math.exp(max(min(gain, 0.0), -700.0))


@njit_internal_nogc
def find_single(spins, n_on, j):
    """Return the first single of state j; if j is -1, the first free column."""
    for f in range(spins.shape[0]):
        if j < 0 and n_on[f] == 0.0:
            return f
        if j >= 0 and n_on[f] == 1.0 and spins[f, j] > 0.0:
            return f
    return -1


@njit_internal_nogc
def draw_weights_of_singles(
    spins, weights, n_on, n_single, counts, precisions, scales, j, rests, rng
):
    """Draw the weights of the singles of state j, given r."""
    # A draw from the prior is moved by a share of the remainder of r (Matheron's rule).
    for d in range(rests.shape[0]):
        noise = noise_of_mean(counts, precisions, j, d)
        total = 0.0
        for f in range(spins.shape[0]):
            if n_on[f] == 1.0 and spins[f, j] > 0.0:
                weights[f + 1, d] = scales[d] * draw_normal(rng)
                total += weights[f + 1, d]
        if noise == 0.0:
            continue
        left = rests[d] - total - math.sqrt(noise) * draw_normal(rng)
        shift = scales[d] ** 2 * left / (n_single * scales[d] ** 2 + noise)
        for f in range(spins.shape[0]):
            if n_on[f] == 1.0 and spins[f, j] > 0.0:
                weights[f + 1, d] += shift


@njit_loop
def draw_buffet_bits(
    spins, weights, idle, prior_off, rate, log_room, counts, totals, precisions, scales, links,
    decay, n_on, rests, rng,
):  # fmt: skip
    """Draw the bits and the number of singles of every counted state."""
    # Without links, idle states are integrated out; with links, all states count.
    n_columns, n_states = spins.shape
    n_counted, n_used = count_on(spins, idle, links, n_on)
    for j in range(n_states):
        if links is None and idle[j]:
            continue
        if links is not None:
            turn_to(links, spins, j, decay)
        n_single = write_rests(spins, weights, n_on, counts, totals, j, rests)
        for _ in range(N_ROUNDS):
            # Flip bits that other states have, with the weights of singles integrated out.
            for f in range(n_columns):
                spin = spins[f, j]
                others_on = n_on[f] - (spin > 0.0)
                if others_on == 0.0:
                    continue
                others_off = n_counted - 1.0 - others_on
                gain = -spin * math.log(others_on / (prior_off + others_off))
                gain += gain_of_flip(
                    weights, f, spin, n_single, counts, precisions, scales, j, rests
                )
                if links is not None:
                    write_change(links, spins, j, f, f)
                    gain += weigh_change(links, spins, j, 1.0, decay)
                if next_double(rng) < logistic(max(gain, -700.0)):
                    if links is not None:
                        make_change(links, spins, j, decay)
                    for d in range(rests.shape[0]):
                        rests[d] += spin * weights[f + 1, d]
                    spins[f, j] = -spin
                    n_on[f] -= spin
            # Add or drop a single.
            step = 1 if next_double(rng) < 0.5 else -1
            after = n_single + step
            if after < 0 or n_used + step > n_columns:
                continue
            gain = math.log(rate / after) if step > 0 else math.log(n_single / rate)
            gain += log_room[n_used + step] - log_room[n_used]
            gain += gain_of_singles(n_single, after, counts, precisions, scales, j, rests)
            if links is not None:
                for k in range(n_states):
                    links.change[k] = step
                links.change[j] = 0.0
                gain += weigh_change(links, spins, j, 1.0, decay)
            if accepts(gain, rng):
                if links is not None:
                    make_change(links, spins, j, decay)
                f = find_single(spins, n_on, -1 if step > 0 else j)
                spins[f, j] = step
                n_on[f] += step
                n_used += step
                n_single = after
        draw_weights_of_singles(
            spins, weights, n_on, n_single, counts, precisions, scales, j, rests, rng
        )


@njit_loop
def add_idle_columns(spins, idle, first, n_new, prior_off, rng):
    """Write n_new factors that only idle states have to free rows of `spins`, from `first` on."""
    # By the buffet: the idle states come last.
    n_busy, total = 0.0, 0.0
    for j in range(idle.shape[0]):
        n_busy += not idle[j]
    before = n_busy
    for j in range(idle.shape[0]):
        if idle[j]:
            total += 1.0 / (prior_off + before)
            before += 1.0
    for f in range(first, first + n_new):
        left = next_double(rng) * total
        before, n_on, last = n_busy, 0.0, -1
        for j in range(idle.shape[0]):
            if not idle[j]:
                continue
            last = j
            if n_on == 0.0:
                left -= 1.0 / (prior_off + before)
                is_on = left < 0.0
            else:
                is_on = next_double(rng) < n_on / (prior_off + before)
            if is_on:
                spins[f, j] = 1.0
                n_on += 1.0
            before += 1.0
        if n_on == 0.0:  # to rounding
            spins[f, last] = 1.0


@njit_loop
def log_weight_of_vectors(factors, prior_off):
    """Return the total log weight of the factors, q B(m, J - m + q) each, without their mass."""
    n_states, n_factors = factors.shape
    result = 0.0
    for f in range(n_factors):
        on = 0
        for j in range(n_states):
            on += factors[j, f]
        result += math.log(prior_off) + math.lgamma(on) + math.lgamma(n_states - on + prior_off)
        result -= math.lgamma(n_states + prior_off)
    return result


@njit_internal_nogc
def moved_distance(links):
    """Return the sum of the distances of all transitions."""
    total = 0.0
    for j in range(links.all_distances.shape[0]):
        for k in range(j):
            total += links.n_transitions[j, k] * links.all_distances[j, k]
    return total


@njit_inlined
def log_weight(on, n_counted, prior_off):
    """Return the log weight of a factor that is on in `on` of the counted states."""
    return math.lgamma(on) + math.lgamma(n_counted - on + prior_off)


@njit_internal_nogc
def flip_states(spins, idle, f, g, links):
    """Flip factor f in all counted states that have factor g; in all counted ones if f is g."""
    for j in range(spins.shape[1]):
        if links is None:
            if not idle[j] and (f == g or spins[g, j] > 0.0):
                spins[f, j] = -spins[f, j]
        elif f == g or spins[g, j] > 0.0:
            flip_spin(links, spins[f], j)


@njit_internal_nogc
def try_to_flip(spins, idle, f, g, gain, links, decay, rng):
    """Propose `flip_states` with a log ratio of all but the similarities; return if accepted."""
    moved = 0.0
    if links is not None:
        moved = moved_distance(links)
    flip_states(spins, idle, f, g, links)
    if links is not None:
        gain += weigh_totals(links, decay) - decay * (moved_distance(links) - moved)
    if not accepts(gain, rng):
        flip_states(spins, idle, f, g, links)
        return False
    if links is not None:
        for b in range(links.busy.shape[0]):
            links.log_totals[links.busy[b]] += links.steps[links.busy[b]]
    return True


@njit_loop
def exchange_meanings(spins, weights, idle, prior_off, scales, links, decay, n_on, places, rng):
    """Flip factors such that the means of all counted states stay the same."""
    n_columns, n_states = spins.shape
    n_counted, _ = count_on(spins, idle, links, n_on)
    n_used = 0
    for f in range(n_columns):
        if n_on[f] > 0.0:
            places[n_used] = f
            n_used += 1
    if links is not None:
        for j in range(n_states):
            write_distances_of(j, spins, links.all_distances[j])
    # If no state that has factor g has factor f, all of them may get f, and w_g loses w_f; if all
    # of them have f, all may lose it. Or all states exchange the two values of a factor, and the
    # background gains its weights. Each move is its own inverse and keeps the number of factors.
    for _ in range(2 * n_used):
        f = places[min(int(next_double(rng) * n_used), n_used - 1)]
        g = places[min(int(next_double(rng) * n_used), n_used - 1)]
        # Find the number of states with f afterwards, and the gain of w_g (of w_0 if f is g).
        both = 0.0
        for j in range(n_states):
            both += spins[f, j] > 0.0 and spins[g, j] > 0.0
        sign, after, row = 1.0, n_counted - n_on[f], 0
        if f != g:
            row = g + 1
            if both == 0.0:
                sign, after = -1.0, n_on[f] + n_on[g]
            elif both == n_on[g]:
                after = n_on[f] - n_on[g]
            else:
                continue
        if after == 0.0:
            continue
        gain = log_weight(after, n_counted, prior_off) - log_weight(n_on[f], n_counted, prior_off)
        for d in range(scales.shape[0]):
            old = weights[row, d] / scales[d]
            new = (weights[row, d] + sign * weights[f + 1, d]) / scales[d]
            gain += 0.5 * (old * old - new * new)
        if not try_to_flip(spins, idle, f, g, gain, links, decay, rng):
            continue
        n_on[f] = after
        for d in range(scales.shape[0]):
            weights[row, d] += sign * weights[f + 1, d]
            if f == g:
                weights[f + 1, d] = -weights[f + 1, d]


@njit_internal_nogc
def list_equals(spins, f, n_on, n_counted, members):
    """Write the factors that the same counted states have as f; all of them if f is -1."""
    n = 0
    for g in range(spins.shape[0]):
        equal = n_on[g] > 0.0 and n_on[g] == (n_counted if f < 0 else n_on[f])
        if equal and f >= 0:
            for j in range(spins.shape[1]):
                if spins[g, j] != spins[f, j]:
                    equal = False
        if equal:
            members[n] = g
            n += 1
    return n


@njit_internal_nogc
def redraw_equal_weights(weights, members, n, with_background, scales, totals, rng):
    """Draw the weights of equal factors given their sum, and the background if it is among them."""
    n_rows = n + with_background
    for d in range(scales.shape[0]):
        total = 0.0
        for i in range(n_rows):
            row = members[i] + 1 if i < n else 0
            weights[row, d] = scales[d] * draw_normal(rng)
            total += weights[row, d]
        for i in range(n_rows):
            row = members[i] + 1 if i < n else 0
            weights[row, d] += (totals[d] - total) / n_rows


@njit_loop
def split_or_merge_equals(
    spins, weights, idle, mass, prior_off, log_room, scales, links, decay, n_on, members, done,
    totals, rng,
):  # fmt: skip
    """Try to change the number of equal factors, which the same counted states have."""
    # The sum of their weights stays, and they are integrated out given it. A factor of all states
    # equals the background.
    n_columns, n_states = spins.shape
    n_counted, n_used = count_on(spins, idle, links, n_on)
    done[:] = False
    if links is not None:
        for j in range(n_states):
            write_distances_of(j, spins, links.all_distances[j])
    for first in range(n_columns + 1):
        # Find the set of equal factors.
        f, extra = first, 0
        if first == n_columns:
            f, extra = -1, 1
        elif n_on[f] == 0.0 or n_on[f] == n_counted or done[f]:
            continue
        n = list_equals(spins, f, n_on, n_counted, members)
        for i in range(n):
            done[members[i]] = True
        step = 1 if next_double(rng) < 0.5 else -1
        after = n + step
        if after + extra < 1 or after < 0 or n_used + step > n_columns or n_counted == 0.0:
            continue
        # Weigh the change.
        m = n_counted if f < 0 else n_on[f]
        log_rate = math.log(mass * prior_off) + log_weight(m, n_counted, prior_off)
        log_rate -= math.lgamma(n_counted + prior_off)
        gain = log_rate - math.log(after) if step > 0 else math.log(n) - log_rate
        gain += log_room[n_used + step] - log_room[n_used]
        for d in range(scales.shape[0]):
            totals[d] = extra * weights[0, d]
            for i in range(n):
                totals[d] += weights[members[i] + 1, d]
            old, new = (n + extra) * scales[d] ** 2, (after + extra) * scales[d] ** 2
            gain -= 0.5 * (math.log(new / old) + totals[d] ** 2 * (1.0 / new - 1.0 / old))
        changed = find_single(spins, n_on, -1) if step > 0 else members[n - 1]
        pattern = changed if f < 0 else f
        if not try_to_flip(spins, idle, changed, pattern, gain, links, decay, rng):
            continue
        n_used += step
        n_on[changed] = m if step > 0 else 0.0
        done[changed] = True
        if step > 0:
            members[n] = changed
        redraw_equal_weights(weights, members, after, extra, scales, totals, rng)


# Runs of steps whose observations stay the same, and the jumps from one to the next.
#
# If factors stay on or off for a while, one of them is switched at nearly every jump. Then jumps
# are, up to sign, rows of the weights plus noise, and groups of similar jumps identify the factor.
# Jumps are scaled by the noise of their columns.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | sums | | (T + 1, D) | sums of the scaled values of a sequence before each step |
# | counts | | (T + 1, D) | sums over the same steps of the numbers of observed values |
# | costs, candidates | | (T + 1,) | scratch |
# | before | | (T + 1,) int64 | the beginning of the last run of the first e steps |
# | penalty, longest | | scalars | cost of a run, largest number of its steps |
# | jumps | | (n, D) | differences of the means of runs |
# | totals | | (n, D) | jumps times precisions; sums of these in the rows of groups |
# | precisions | | (n, D) | of the noise of jumps; their sums in the rows of groups |
# | inverse | | (D,) | 1 / variance of weights |
# | own | | (n,) | of groups: their log evidence less that of noise alone |
# | groups | | (n,) int64 | group of each jump, with the number of one of its jumps |
# | signs | | (n,) int8 | sign of each jump in its group |


@njit_internal_nogc
def cost_of_run(sums, counts, begin, end):
    """Return the squares of the values less the squared distances from their means, negated."""
    result = 0.0
    for d in range(sums.shape[1]):
        n = counts[end, d] - counts[begin, d]
        if n > 0.0:
            total = sums[end, d] - sums[begin, d]
            result -= total * total / n
    return result


@njit_loop
def cut_runs(sums, counts, penalty, longest, costs, before, candidates):
    """Write the beginning of the last run of the best cut of the first e steps to `before[e]`."""
    # Dynamic programming; beginnings that can never be best again are dropped (PELT; Killick,
    # Fearnhead and Eckley, 2012).
    costs[0] = -penalty
    n_candidates = 0
    for end in range(1, sums.shape[0]):
        candidates[n_candidates] = end - 1
        n_candidates += 1
        costs[end] = math.inf
        for c in range(n_candidates):
            begin = candidates[c]
            cost = costs[begin] + cost_of_run(sums, counts, begin, end) + penalty
            if cost < costs[end]:
                costs[end] = cost
                before[end] = begin
        n_kept = 0
        for c in range(n_candidates):
            begin = candidates[c]
            cost = costs[begin] + cost_of_run(sums, counts, begin, end)
            if cost <= costs[end] and end - begin < longest:
                candidates[n_kept] = begin
                n_kept += 1
        n_candidates = n_kept


@njit_internal_nogc
def log_evidence_of_group(totals, precisions, sign, others, other_precisions, inverse):
    """Return log p(jumps of two groups), as one group, less that of noise."""
    # Arrays are rows of groups; `sign` is that of the other group in the first, 0 without the
    # other.
    result = 0.0
    for d in range(totals.shape[0]):
        total, precision = totals[d], precisions[d]
        if sign != 0.0:
            total += sign * others[d]
            precision += other_precisions[d]
        result += 0.5 * total * total / (precision + inverse[d])
        result -= 0.5 * math.log1p(precision / inverse[d])
    return result


@njit_internal_nogc
def weigh_pair(totals, precisions, own, i, j, inverse):
    """Return the gain of merging two groups, and the sign of the second in the first."""
    overlap = 0.0
    for d in range(inverse.shape[0]):
        overlap += totals[i, d] * totals[j, d] / (precisions[i, d] + precisions[j, d] + inverse[d])
    sign = 1.0 if overlap >= 0.0 else -1.0
    both = log_evidence_of_group(totals[i], precisions[i], sign, totals[j], precisions[j], inverse)
    return both - own[i] - own[j], sign


@njit_loop
def group_jumps(totals, precisions, inverse, own, gains, groups, signs):
    """Write groups of jumps alike up to sign, by merging pairs while there is a gain."""
    # `totals` and `precisions` are added up in place; `own` is an output.
    n = groups.shape[0]
    for i in range(n):
        groups[i], signs[i] = i, 1
        own[i] = log_evidence_of_group(
            totals[i], precisions[i], 0.0, totals[i], precisions[i], inverse
        )
    for i in range(n):
        for j in range(i + 1, n):
            gains[i, j] = weigh_pair(totals, precisions, own, i, j, inverse)[0]
    while True:
        best, first, second = 0.0, -1, -1
        for i in range(n):
            if groups[i] != i:
                continue
            for j in range(i + 1, n):
                if groups[j] == j and gains[i, j] > best:
                    best, first, second = gains[i, j], i, j
        if first < 0:
            return
        sign = weigh_pair(totals, precisions, own, first, second, inverse)[1]
        for d in range(inverse.shape[0]):
            totals[first, d] += sign * totals[second, d]
            precisions[first, d] += precisions[second, d]
        own[first] += own[second] + best
        for i in range(n):
            if groups[i] == second:
                groups[i] = first
                signs[i] *= int(sign)
        for i in range(n):
            if groups[i] == i and i != first:
                low, high = min(i, first), max(i, first)
                gains[low, high] = weigh_pair(totals, precisions, own, low, high, inverse)[0]


# First states and binary vectors from the observations alone.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | values | y_td | (N, D) | NaN marks a missing value |
# | weights | w_fd | (F + 1, D) | row 0 is the background |
# | scales | | (D,) | weight of a squared deviation in a column |
# | activities | | (N, F) | in [0, 1] |
# | centers | | (K, D) | centers of groups of steps |
# | states | z_t | (N,) int64 | |
# | rest, counts, nearest | | (D,), (K, D), (N,) | scratch |


@njit_loop
def fit_activities(values, weights, scales, n_rounds, activities, rest):
    """Write least squares of every step with activities in [0, 1], by coordinate descent."""
    n_dims = values.shape[1]
    for t in range(values.shape[0]):
        for d in range(n_dims):
            seen = not math.isnan(values[t, d])
            rest[d] = values[t, d] - weights[0, d] if seen else 0.0
        for f in range(activities.shape[1]):
            activities[t, f] = 0.0
        for _ in range(n_rounds):
            moved = 0.0
            for f in range(activities.shape[1]):
                overlap, norm = 0.0, 0.0
                for d in range(n_dims):
                    if not math.isnan(values[t, d]):
                        overlap += scales[d] * weights[f + 1, d] * rest[d]
                        norm += scales[d] * weights[f + 1, d] ** 2
                if norm == 0.0:
                    continue
                now = activities[t, f]
                best = min(max(now + overlap / norm, 0.0), 1.0)
                for d in range(n_dims):
                    rest[d] -= (best - now) * weights[f + 1, d]
                activities[t, f] = best
                moved = max(moved, abs(best - now))
            if moved < 1e-3:
                break


@njit_loop
def group_steps(values, scales, middle, n_rounds, centers, counts, nearest, states, rng):
    """Write groups of similar steps to `states`, by k-means from the seeds of k-means++."""
    n_steps, n_dims = values.shape
    n_groups = centers.shape[0]
    nearest[:] = 1.0
    for k in range(n_groups):
        total = 0.0
        for t in range(n_steps):
            total += nearest[t]
        left = next_double(rng) * total
        seed = 0
        for t in range(n_steps):
            if nearest[t] > 0.0:
                seed = t
                left -= nearest[t]
                if left < 0.0:
                    break
        for d in range(n_dims):
            missing = math.isnan(values[seed, d])
            centers[k, d] = middle[d] if missing else values[seed, d]
        for t in range(n_steps):
            distance = squared_distance(values, t, scales, centers[k])
            nearest[t] = distance if k == 0 else min(nearest[t], distance)
    for i in range(n_rounds):
        find_nearest(values, scales, centers, states)
        if i == n_rounds - 1:
            break
        counts[:] = 0.0
        centers[:] = 0.0
        for t in range(n_steps):
            for d in range(n_dims):
                if not math.isnan(values[t, d]):
                    counts[states[t], d] += 1.0
                    centers[states[t], d] += values[t, d]
        for k in range(n_groups):
            for d in range(n_dims):
                empty = counts[k, d] == 0.0
                centers[k, d] = middle[d] if empty else centers[k, d] / counts[k, d]
