r"""Observations that depend on binary vectors of the states, and paths of these vectors.

Mean of column d in state j: m_jd = w_0d + sum_f theta_jf w_fd. A normal column is m_jd plus noise
of precision tau_d, a probit column is 1 with probability Phi(m_jd), else 0. The
statistics of a normal column are the number, mean and scatter of its values in every state, and
those of a probit column their number and mean. If amplitudes vary, see `_kernels/_amplitudes`.

Code for arguments that are None is not compiled: each kind of model has its version of a kernel.

| name | symbol | shape | meaning |
|---|---|---|---|
| values | y_td | (N, D) | NaN marks a missing value |
| states | z_t | (N,) int64 | |
| factors | theta_jf | (J, F) int8 | |
| spins | 2 theta_jf - 1 | (F, J) float64 | by factor |
| weights | w_fd | (F + 1, D) | row 0 is the background |
| precisions | tau_d | (D,) | 1 for probit columns |
| scales | | (D,) | prior standard deviations of weights |
| totals | s_jd | (J, D) | sums of values, or of latent normals |
| normals | z | (F + 1, D) | standard normals; zeros give the mean |
| log_probs | | (2, D, J) | log p(y = 0) and log p(y = 1) in probit columns |
| probit | | (D,) bool | whether a column is probit |
| counts | n_jd | (J, D) float64 | number of values in a state |
| means | | (J, D) | their mean; 0 if there are none |
| scatter | | (D,) | sum over states of squared distances from the state's mean |
| centers | m_jd | (D, J) | by column, so that loops over states are vector instructions |
| idle | | (J,) bool | states without values and informative transitions |
| moments | | | `Moments`; None if amplitudes vary |
| projections | | | `Projections`; None if amplitudes do not vary |
| links | | | `Links`; None if vectors do not depend on transitions |
| prior_on, prior_off | | | mu_f ~ Beta(prior_on, prior_off), integrated out; buffet: (0, q) |
| n_on, places, before | | (F,), (2, F), (J,) | scratch |
| factor | L | (F + 1, F + 1) | scratch |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats
from skdp._numeric._numba import njit_forceinline, njit_inlined, njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_beta, draw_exponential, draw_gamma, draw_normal, next_double
from skdp.emissions._kernels._amplitudes import log_likelihood_of_state, solve_weights
from skdp.emissions._kernels._gaussian import HALF_LOG_2_PI, log_normal_cdf
from skdp.emissions._kernels._links import (
    flip_spin,
    make_change,
    turn_to,
    weigh_change,
    weigh_totals,
    write_distances_of,
)


class Moments(NamedTuple):
    """Statistics of the observations for vectors with fixed amplitudes, and scratch for a state."""

    counts: Floats
    means: Floats
    weights: Floats
    precisions: Floats
    probit: NDArray[np.bool_]
    fit: Floats  # (D,), scratch: means of the columns in one state
    shift: Floats  # (D,), scratch: increments of these means if its vector changes


# Statistics


@njit_loop
def add_up_observed(values, states, counts, means, scatter):
    """Write number, mean and scatter of the values that are not missing."""
    n_states, n_dims = counts.shape
    scatter[:] = 0.0
    counts[:] = 0.0
    means[:] = 0.0
    for t in range(values.shape[0]):
        j = states[t]
        for d in range(n_dims):
            if not math.isnan(values[t, d]):
                counts[j, d] += 1.0
                means[j, d] += values[t, d]
    for j in range(n_states):
        for d in range(n_dims):
            means[j, d] /= max(counts[j, d], 1.0)
    for t in range(values.shape[0]):
        j = states[t]
        for d in range(n_dims):
            if not math.isnan(values[t, d]):
                scatter[d] += (values[t, d] - means[j, d]) ** 2


@njit_loop
def write_centers(factors, weights, centers):
    """Write m to `centers`, (D, J)."""
    for d in range(centers.shape[0]):
        for j in range(centers.shape[1]):
            centers[d, j] = weights[0, d]
            for f in range(factors.shape[1]):
                centers[d, j] += factors[j, f] * weights[f + 1, d]


# Binary vectors


@njit_internal_nogc
def start_fit(moments, spins, j):
    """Write the means of the columns in state j."""
    fit, weights = moments.fit, moments.weights
    for d in range(fit.shape[0]):
        fit[d] = weights[0, d]
        for f in range(spins.shape[0]):
            if spins[f, j] > 0.0:
                fit[d] += weights[f + 1, d]


@njit_internal_nogc
def gain_of_shift(moments, j):
    """Return the gain of the log likelihood of state j if its mean moves from `fit` by `shift`."""
    fit, shift, counts, means = moments.fit, moments.shift, moments.counts[j], moments.means[j]
    gain = 0.0
    for d in range(fit.shape[0]):
        n = counts[d]
        if n == 0.0:
            continue
        if not moments.probit[d]:
            gain += moments.precisions[d] * n * shift[d] * (means[d] - fit[d] - 0.5 * shift[d])
            continue
        ones = n * means[d]
        if ones > 0.0:
            gain += ones * (log_normal_cdf(fit[d] + shift[d]) - log_normal_cdf(fit[d]))
        if ones < n:
            gain += (n - ones) * (log_normal_cdf(-fit[d] - shift[d]) - log_normal_cdf(-fit[d]))
    return gain


@njit_inlined
def count_on(spins, idle, links, n_on):
    """Write the number of counted states with each factor; return those of states and factors."""
    n_columns, n_states = spins.shape
    n_counted, n_used = 0.0, 0
    n_on[:] = 0.0
    for j in range(n_states):
        counted = not idle[j]
        if links is not None:
            counted = True
        n_counted += counted
        for f in range(n_columns):
            n_on[f] += counted and spins[f, j] > 0.0
    for f in range(n_columns):
        n_used += n_on[f] > 0.0
    return n_counted, n_used


@njit_inlined
def logistic(x):
    """Return 1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + math.exp(-x))


@njit_inlined
def flip(spins, j, f, g):
    """Flip bits f and g of state j; one bit if f == g."""
    spins[f, j] = -spins[f, j]
    if g != f:
        spins[g, j] = -spins[g, j]


@njit_inlined
def write_change(links, spins, j, f, g):
    """Write the increments of the distances of state j after a change of bits f and g."""
    for k in range(spins.shape[1]):
        links.change[k] = spins[f, j] * spins[f, k]
        if g != f:
            links.change[k] += spins[g, j] * spins[g, k]
    links.change[j] = 0.0


@njit_inlined
def weigh_flips(gain, now, spins, j, f, g, moments, projections, links, decay):
    """Return `gain` plus that of the log likelihood if bits f and g of state j change."""
    # `now` is the log likelihood of the state given its projections; return also that afterwards.
    after = now
    if moments is not None:
        for d in range(moments.shift.shape[0]):
            moments.shift[d] = -spins[f, j] * moments.weights[f + 1, d]
            if g != f:
                moments.shift[d] -= spins[g, j] * moments.weights[g + 1, d]
        gain += gain_of_shift(moments, j)
    if projections is not None:
        flip(spins, j, f, g)
        after = log_likelihood_of_state(projections, spins, j)
        flip(spins, j, f, g)
        gain += after - now
    if links is not None:
        write_change(links, spins, j, f, g)
        gain += weigh_change(links, spins, j, 1.0 if f == g else 2.0, decay)
    return gain, after


@njit_inlined
def make_flips(spins, j, f, g, n_on, moments, links, decay):
    """Change bits f and g of state j after `weigh_flips`, one if f == g."""
    if links is not None:
        make_change(links, spins, j, decay)
    if moments is not None:
        for d in range(moments.shift.shape[0]):
            moments.fit[d] += moments.shift[d]
    n_on[f] -= spins[f, j]
    if g != f:
        n_on[g] -= spins[g, j]
    flip(spins, j, f, g)


@njit_loop
def draw_busy_bits(
    spins, idle, prior_on, prior_off, moments, projections, links, decay, n_on, places, rng
):
    """Draw the bits of all states given weights, precisions, and transitions if linked."""
    # Without links, idle states are integrated out. In a buffet, bits of no other state are
    # skipped.
    n_factors, n_states = spins.shape
    n_counted, _ = count_on(spins, idle, links, n_on)
    # Draw every bit given all others; then swap a random bit of a state that is on with one that is
    # off, as often as it has bits of the rarer kind. Their numbers stay: the proposal is symmetric.
    now = 0.0
    for j in range(n_states):
        if links is None and idle[j]:
            continue
        # Turn to state j.
        if moments is not None:
            start_fit(moments, spins, j)
        if projections is not None:
            now = log_likelihood_of_state(projections, spins, j)
        if links is not None:
            turn_to(links, spins, j, decay)
        # Flip bits in turn.
        for f in range(n_factors):
            spin = spins[f, j]
            others_on = n_on[f] - (spin > 0.0)
            if prior_on + others_on == 0.0:
                continue
            others_off = n_counted - 1.0 - others_on
            # The log odds of the flip: to on if the bit is off.
            gain = -spin * math.log((prior_on + others_on) / (prior_off + others_off))
            gain, after = weigh_flips(gain, now, spins, j, f, f, moments, projections, links, decay)
            if next_double(rng) < logistic(gain):
                make_flips(spins, j, f, f, n_on, moments, links, decay)
                now = after
        if idle[j]:
            continue
        # Swap bits.
        if projections is not None:
            now = log_likelihood_of_state(projections, spins, j)
        n_ons, n_offs = 0, 0
        for f in range(n_factors):
            if spins[f, j] > 0.0:
                places[0, n_ons] = f
                n_ons += 1
            else:
                places[1, n_offs] = f
                n_offs += 1
        for _ in range(min(n_ons, n_offs)):
            a, b = int(next_double(rng) * n_ons), int(next_double(rng) * n_offs)
            f, g = places[0, a], places[1, b]
            others_f, others_g = n_on[f] - 1.0, n_on[g]
            if prior_on + min(others_f, others_g) == 0.0:
                continue
            last = n_counted - 1.0
            gain = math.log((prior_on + others_g) / (prior_off + last - others_g))
            gain -= math.log((prior_on + others_f) / (prior_off + last - others_f))
            gain, after = weigh_flips(gain, now, spins, j, f, g, moments, projections, links, decay)
            if next_double(rng) < math.exp(min(gain, 0.0)):
                make_flips(spins, j, f, g, n_on, moments, links, decay)
                places[0, a], places[1, b] = g, f
                now = after


@njit_loop
def draw_idle_bits(spins, idle, prior_on, prior_off, links, decay, before, rng):
    """Draw the bits of idle states, by factor, from the prior given the other states."""
    # So mu does not depend on uninformative bits. With links they are a proposal: they enter T.
    n_states = idle.shape[0]
    if links is not None:
        for j in range(n_states):
            write_distances_of(j, spins, links.all_distances[j])
    for f in range(spins.shape[0]):
        # Draw the activity.
        on, off = prior_on, prior_off
        for j in range(n_states):
            before[j] = spins[f, j]
            if not idle[j]:
                on += spins[f, j] > 0.0
                off += spins[f, j] < 0.0
        if on == 0.0:
            continue
        activity = draw_beta(on, off, rng)
        # Draw the bits.
        for j in range(n_states):
            if idle[j]:
                spin = 1.0 if next_double(rng) < activity else -1.0
                if links is None:
                    spins[f, j] = spin
                if links is not None and spin != spins[f, j]:
                    flip_spin(links, spins[f], j)
        # Keep them, or not.
        if links is not None:
            gain = weigh_totals(links, decay)
            if next_double(rng) < math.exp(min(gain, 0.0)):
                for b in range(links.busy.shape[0]):
                    links.log_totals[links.busy[b]] += links.steps[links.busy[b]]
            else:
                for j in range(n_states):
                    if spins[f, j] != before[j]:
                        flip_spin(links, spins[f], j)


@njit_loop
def log_prior_of_factors(factors, prior_on, prior_off):
    """Return log p(theta), mu summed out."""
    n_states, n_factors = factors.shape
    result = 0.0
    for f in range(n_factors):
        on = 0
        for j in range(n_states):
            on += factors[j, f]
        result += math.lgamma(prior_on + on) + math.lgamma(prior_off + n_states - on)
        result -= math.lgamma(prior_on + prior_off + n_states)
        result += math.lgamma(prior_on + prior_off)
        result -= math.lgamma(prior_on) + math.lgamma(prior_off)
    return result


# Weights and noise


@njit_forceinline
def draw_normal_above(bound, rng):
    """Return a standard normal draw that is above `bound` (Robert, 1995)."""
    if bound < 0.5:
        while True:
            x = draw_normal(rng)
            if x > bound:
                return x
    rate = 0.5 * (bound + math.sqrt(bound * bound + 4.0))
    while True:
        x = bound + draw_exponential(rng) / rate
        if 0.5 * (x - rate) ** 2 < draw_exponential(rng):
            return x


@njit_loop
def add_up_latent(counts, means, probit, centers, totals, rng):
    """Write sums of the values of every state, or of the latent normals of probit columns."""
    for j in range(counts.shape[0]):
        for d in range(counts.shape[1]):
            totals[j, d] = counts[j, d] * means[j, d]
            if not probit[d]:
                continue
            center = centers[d, j]  # latent normals N(m_jd, 1): above 0 where a value is 1
            n, ones = int(counts[j, d]), int(totals[j, d] + 0.5)
            totals[j, d] = n * center
            for _ in range(ones):
                totals[j, d] += draw_normal_above(-center, rng)
            for _ in range(n - ones):
                totals[j, d] -= draw_normal_above(center, rng)


@njit_loop
def draw_normals(out, rng):
    """Write standard normal draws to a matrix."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = draw_normal(rng)


@njit_loop
def write_weights(factors, counts, totals, precisions, scales, normals, weights, factor):
    """Write weights given vectors, a column at a time: N(S b, S), b = tau sum_j x_j s_jd."""
    # x_j = (1, theta_j), S^-1 = L L^T = tau sum_j n_jd x_j x_j^T + I / scale_d^2.
    n_rows, n_dims = weights.shape
    for d in range(n_dims):
        for f in range(n_rows):
            weights[f, d] = 0.0
            for g in range(f + 1):
                factor[f, g] = 0.0
            factor[f, f] = 1.0 / (scales[d] * scales[d])
        for j in range(factors.shape[0]):
            n = precisions[d] * counts[j, d]
            if n == 0.0:
                continue
            total = precisions[d] * totals[j, d]
            weights[0, d] += total
            factor[0, 0] += n
            for f in range(1, n_rows):
                if factors[j, f - 1] == 1:
                    weights[f, d] += total
                    factor[f, 0] += n
                    for g in range(1, f + 1):
                        factor[f, g] += n * factors[j, g - 1]
        solve_weights(d, normals, weights, factor)


@njit_loop
def add_up_noise(counts, means, scatter, centers, seen, residuals):
    """Write the number of values of every column and the sum of (y_td - m_jd)^2."""
    for d in range(scatter.shape[0]):
        seen[d] = 0.0
        residuals[d] = scatter[d]
        for j in range(counts.shape[0]):
            seen[d] += counts[j, d]
            residuals[d] += counts[j, d] * (means[j, d] - centers[d, j]) ** 2


@njit_loop
def draw_precisions(seen, residuals, probit, shape, rates, precisions, rng):
    """Draw tau ~ Gamma(shape + n / 2, rate_d + residuals / 2) of normal columns."""
    for d in range(precisions.shape[0]):
        if not probit[d]:
            draw = draw_gamma(shape + 0.5 * seen[d], rng)
            precisions[d] = draw / (rates[d] + 0.5 * residuals[d])


# Likelihood


@njit_loop
def write_log_probs(centers, probit, log_probs):
    """Write log p(y = 0) and log p(y = 1) of probit columns, (2, D, J)."""
    for d in range(centers.shape[0]):
        if probit[d]:
            for j in range(centers.shape[1]):
                log_probs[0, d, j] = log_normal_cdf(-centers[d, j])
                log_probs[1, d, j] = log_normal_cdf(centers[d, j])


@njit_inlined
def weigh_step(values, centers, precisions, probit, log_probs, log_obs):
    """Write log p(y_t given state j) of one step, (J,); missing values are left out."""
    n_dims, n_states = centers.shape
    constant = 0.0
    for d in range(n_dims):
        if not probit[d] and not math.isnan(values[d]):
            constant += 0.5 * math.log(precisions[d]) - HALF_LOG_2_PI
    for j in range(n_states):
        log_obs[j] = constant
    for d in range(n_dims):
        value = values[d]
        if math.isnan(value):
            continue
        if probit[d]:
            terms = log_probs[1 if value > 0.5 else 0, d]
            for j in range(n_states):
                log_obs[j] += terms[j]
        else:
            half = 0.5 * precisions[d]
            center = centers[d]
            for j in range(n_states):
                log_obs[j] -= half * (value - center[j]) ** 2


@njit_loop
def weigh_factors(values, centers, precisions, probit, log_probs, log_obs):
    """Write log p(y_t given state j) to `log_obs`; `log_probs` is scratch."""
    write_log_probs(centers, probit, log_probs)
    for t in range(values.shape[0]):
        weigh_step(values[t], centers, precisions, probit, log_probs, log_obs[t])


@njit_loop
def log_likelihood(counts, means, probit, centers, precisions, seen, residuals):
    """Return log p(y given states and parameters), from the statistics."""
    result = 0.0
    for d in range(probit.shape[0]):
        if not probit[d]:
            result += seen[d] * (0.5 * math.log(precisions[d]) - HALF_LOG_2_PI)
            result -= 0.5 * precisions[d] * residuals[d]
            continue
        for j in range(counts.shape[0]):
            ones = counts[j, d] * means[j, d]
            if ones > 0.0:
                result += ones * log_normal_cdf(centers[d, j])
            if ones < counts[j, d]:
                result += (counts[j, d] - ones) * log_normal_cdf(-centers[d, j])
    return result


# Paths of binary vectors: jumps between runs as sums of at most two rows of the weights.
#
# Code 0 is no factor. A factor can be switched on only if it is off, and off only if it is on. A
# beam search finds the cheapest path of this kind over all jumps of a sequence.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | jumps | | (n, D) | differences of the means of runs |
# | precisions | | (n, D) | of the noise of jumps |
# | atoms | | (F, D) | rows of the weights |
# | codes | | (C, 2) int64 | up to two factors, numbered from 1, negative if they are switched off |
# | kept | | (n, M) int64 | the best codes of each jump, the best one first |
# | costs | | (n, M) | their costs |
# | resets | | (n,) bool | jumps that are the first of a sequence |
# | clash | | scalar | cost of switching a factor to its current value |
# | states | | (2, B, F) int8 | scratch; -1: off, 1: on, 0: still unknown |
# | totals, used | | (2, B), (B, M) | scratch |
# | sources, choices, n_states | | (n, B), (n, B), (n,) | scratch |
# | found | | (n,) int64 | the codes of the best path |


@njit_loop
def weigh_codes(jumps, precisions, atoms, codes, penalty, kept, costs):
    """Write the best codes of every jump: half its scaled squared distance, and a cost a factor."""
    most = kept.shape[1]
    for i in range(jumps.shape[0]):
        n = 0
        for c in range(codes.shape[0]):
            cost = 0.0
            for k in range(2):
                cost += penalty * (codes[c, k] != 0)
            for d in range(jumps.shape[1]):
                rest = jumps[i, d]
                for k in range(2):
                    f = codes[c, k]
                    if f > 0:
                        rest -= atoms[f - 1, d]
                    elif f < 0:
                        rest += atoms[-f - 1, d]
                cost += 0.5 * precisions[i, d] * rest * rest
            if n == most and cost >= costs[i, n - 1]:
                continue
            n = min(n + 1, most)
            place = n - 1
            while place > 0 and costs[i, place - 1] > cost:
                costs[i, place], kept[i, place] = costs[i, place - 1], kept[i, place - 1]
                place -= 1
            costs[i, place], kept[i, place] = cost, c


@njit_loop
def search_codes(
    kept, costs, codes, resets, clash, states, totals, sources, choices, used, n_states, found
):
    """Write the codes of the best path of all jumps."""
    width, n_factors = states.shape[1:]
    n_before = 1
    now = 0
    totals[now, 0] = 0.0
    for f in range(n_factors):
        states[now, 0, f] = 0
    for i in range(kept.shape[0]):
        after = 1 - now
        if resets[i]:
            for b in range(n_before):
                for f in range(n_factors):
                    states[now, b, f] = 0
        for b in range(n_before):
            for m in range(kept.shape[1]):
                used[b, m] = False
        n = 0
        n_tried = 0
        while n < width and n_tried < 8 * width:
            n_tried += 1
            # The best continuation that is left.
            best, source, choice = math.inf, -1, -1
            for b in range(n_before):
                if totals[now, b] + costs[i, 0] >= best:
                    break
                for m in range(kept.shape[1]):
                    total = totals[now, b] + costs[i, m]
                    if total >= best:
                        break
                    if used[b, m]:
                        continue
                    for k in range(2):
                        code = codes[kept[i, m], k]
                        if code != 0:
                            state = states[now, b, abs(code) - 1]
                            total += clash * (state * code > 0)
                    if total < best:
                        best, source, choice = total, b, m
            if source < 0:
                break
            used[source, choice] = True
            for f in range(n_factors):
                states[after, n, f] = states[now, source, f]
            for k in range(2):
                code = codes[kept[i, choice], k]
                if code != 0:
                    states[after, n, abs(code) - 1] = 1 if code > 0 else -1
            is_new = True
            for b in range(n):
                differs = False
                for f in range(n_factors):
                    if states[after, b, f] != states[after, n, f]:
                        differs = True
                        break
                if not differs:
                    is_new = False
                    break
            if is_new:
                totals[after, n] = best
                sources[i, n], choices[i, n] = source, kept[i, choice]
                n += 1
        n_states[i] = n
        n_before, now = n, after
    place = 0  # the best one: totals rise
    for i in range(kept.shape[0] - 1, -1, -1):
        found[i] = choices[i, place]
        place = sources[i, place]
