"""Locations of states in a latent space, on which transition probabilities depend.

Given the rates, with times and failed transitions integrated out, states have probability prod (pi
phi)^n / prod T_j^n_j., where phi_jj' = exp(-lambda |l_j - l_j'|^2 / 2). Rows without transitions
contribute nothing, so that the arrays hold only the V other rows. These are stored as columns, so
that inner loops run over V independent entries.

| name | symbol | shape | meaning |
|---|---|---|---|
| locations | l_j | (D, J) | one row for each dimension |
| rows | v | (V,) int64 | states with at least one outgoing transition |
| counts | n_vj | (J, V) | transitions from v to j |
| n | n_v. | (V,) | transitions from v |
| log_rates | log pi_vj | (J, V) | less the largest of the row, which cancels |
| halves | | (J, V) | half the squared distances from v to j |
| decay | lambda | | > 0 |
| shares | pi_vj phi_vj | (J, V) | scratch, in units of the largest of the row |
| inverse_mass | | (J,) | inverse masses of the states in Hamiltonian dynamics |
"""

# mypy: ignore-errors

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric import Floats, Places
from skdp._numeric._arithmetic import fast_exp
from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_exponential, draw_normal, next_double
from skdp.emissions._kernels._links import NEGLIGIBLE
from skdp.sequence._kernels._transitions import log_1p_exp


class LocationWorkspace(NamedTuple):
    """Scratch buffers for a draw of the locations."""

    halves: Floats
    shares: Floats
    work: Floats  # (2 D + 2, V)
    proposal: Floats  # (D, J), as all that follow
    momentum: Floats
    gradient: Floats
    first_gradient: Floats


def make_room(n_dims: int, n_states: int, n_rows: int) -> LocationWorkspace:
    """Return scratch buffers for a draw of the locations."""
    tables, moves = np.empty((2, n_states, n_rows)), np.empty((4, n_dims, n_states))
    return LocationWorkspace(*tables, np.empty((2 * n_dims + 2, n_rows)), *moves)


class Departures(NamedTuple):
    """Transitions from the rows that have any, and their rates; the last row is left out."""

    rows: Places
    counts: Floats
    n: Floats
    log_rates: Floats

    @classmethod
    def of(cls, counts: Places, log_rates: Floats) -> Departures:
        """Return those of tables (J + 1, J)."""
        rows = np.flatnonzero(counts[:-1].any(axis=1))
        some_counts = counts[rows].astype(np.float64)
        some_rates = log_rates[rows] - log_rates[rows].max(axis=1, keepdims=True)
        by_row = np.ascontiguousarray(some_counts.T), some_counts.sum(axis=1)
        return cls(rows, *by_row, np.ascontiguousarray(some_rates.T))


@njit_loop
def write_halves(locations, rows, halves, sources):
    """Write half the squared distances; locations of the V rows go to `sources`, (D, V)."""
    n_states, n_rows = halves.shape
    n_dims = locations.shape[0]
    for d in range(n_dims):
        for v in range(n_rows):
            sources[d, v] = locations[d, rows[v]]
    for j in range(n_states):
        half = halves[j]
        for v in range(n_rows):
            half[v] = 0.0
        for d in range(n_dims):
            x, source = locations[d, j], sources[d]
            for v in range(n_rows):
                half[v] += 0.5 * (source[v] - x) * (source[v] - x)


@njit_loop
def write_log_similarity(locations, decay, out):
    """Write log phi_jj', (J, J)."""
    for j in range(out.shape[0]):
        for k in range(out.shape[0]):
            square = 0.0
            for d in range(locations.shape[0]):
                square += (locations[d, j] - locations[d, k]) ** 2
            out[j, k] = -0.5 * decay * square


@njit_internal_nogc
def write_shares(halves, log_rates, decay, shares, largest, totals):
    """Write pi phi relative to the largest of each row, their sums, and the log of the largest."""
    # Relative to the largest, a sum is at least 1, however small the rates nearby are.
    n_states, n_rows = halves.shape
    for v in range(n_rows):
        largest[v] = -math.inf
        totals[v] = 0.0
    for j in range(n_states):
        half, rate, share = halves[j], log_rates[j], shares[j]
        for v in range(n_rows):
            share[v] = rate[v] - decay * half[v]
            largest[v] = max(largest[v], share[v])
    for j in range(n_states):
        share = shares[j]
        for v in range(n_rows):
            share[v] = fast_exp(share[v] - largest[v])
            totals[v] += share[v]


@njit_loop
def log_likelihood(halves, departures, decay, shares, sums):
    """Return sum n log phi - sum n_v. log T_v; `shares` and `sums`, (2, V) or more, are scratch."""
    largest, totals, counts, n = sums[0], sums[1], departures.counts, departures.n
    write_shares(halves, departures.log_rates, decay, shares, largest, totals)
    result = 0.0
    for j in range(halves.shape[0]):
        for v in range(halves.shape[1]):
            result -= counts[j, v] * halves[j, v]
    result *= decay
    for v in range(halves.shape[1]):
        result -= n[v] * (largest[v] + math.log(totals[v]))
    return result


@njit_inlined
def _product_of_differences(weight, source, x):
    """Return sum_v weight_v (source_v - x), computed as four independent partial sums."""
    n = weight.shape[0]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for v in range(0, n - 3, 4):
        a += weight[v] * (source[v] - x)
        b += weight[v + 1] * (source[v + 1] - x)
        c += weight[v + 2] * (source[v + 2] - x)
        d += weight[v + 3] * (source[v + 3] - x)
    for v in range(n // 4 * 4, n):
        a += weight[v] * (source[v] - x)
    return (a + b) + (c + d)


@njit_loop
def write_gradient(locations, departures, decay, halves, shares, work, gradient):
    """Write the gradient of the log posterior of the locations, (D, J)."""
    # A transition pulls its two ends together, and an expected transition pushes them apart: the
    # derivative with respect to l_v is -lambda sum_j (l_v - l_j) (n_vj - n_v. P_vj), and its terms
    # with respect to l_j have the opposite sign.
    n_dims, n_states = locations.shape
    rows, counts, n = departures.rows, departures.counts, departures.n
    n_rows = rows.shape[0]
    sources, pulls = work[:n_dims], work[n_dims : 2 * n_dims]
    scale, totals = work[2 * n_dims], work[2 * n_dims + 1]
    write_halves(locations, rows, halves, sources)
    write_shares(halves, departures.log_rates, decay, shares, scale, totals)
    for v in range(n_rows):
        scale[v] = decay * n[v] / totals[v]
        for d in range(n_dims):
            pulls[d, v] = 0.0
    for j in range(n_states):
        share, count = shares[j], counts[j]
        for v in range(n_rows):
            share[v] = decay * count[v] - scale[v] * share[v]
        for d in range(n_dims):
            x, source, pull = locations[d, j], sources[d], pulls[d]
            for v in range(n_rows):
                pull[v] += share[v] * (x - source[v])
            gradient[d, j] = _product_of_differences(share, source, x) - x
    for d in range(n_dims):
        for v in range(n_rows):
            gradient[d, rows[v]] += pulls[d, v]


@njit_loop
def leapfrog(
    locations, momentum, gradient, departures, decay, inverse_mass, step, n_steps, halves, shares,
    work,
):  # fmt: skip
    """Move locations and momenta, (D, J), along a trajectory; `gradient` is updated."""
    n_dims, n_states = locations.shape
    for _ in range(n_steps):
        for d in range(n_dims):
            for j in range(n_states):
                momentum[d, j] += 0.5 * step * gradient[d, j]
                locations[d, j] += step * inverse_mass[j] * momentum[d, j]
        write_gradient(locations, departures, decay, halves, shares, work, gradient)
        for d in range(n_dims):
            for j in range(n_states):
                momentum[d, j] += 0.5 * step * gradient[d, j]


@njit_loop
def write_inverse_mass(departures, decay, out):
    """Write 1 over masses: 1 + lambda (1 + lambda) times transitions to and from other states."""
    # A mass is about the curvature, -lambda (n - n P) - lambda^2 n times covariances of the
    # destinations of rows, so that a step size that suits the prior suits all states.
    rows, counts, n = departures.rows, departures.counts, departures.n
    factor = decay * (1.0 + decay)
    for j in range(out.shape[0]):
        out[j] = 1.0
        for v in range(rows.shape[0]):
            out[j] += factor * counts[j, v]
    for v in range(rows.shape[0]):
        out[rows[v]] += factor * (n[v] - 2.0 * counts[rows[v], v])
    for j in range(out.shape[0]):
        out[j] = 1.0 / out[j]


@njit_loop
def kinetic_energy(inverse_mass, momentum):
    """Return the energy of momenta."""
    total = 0.0
    for d in range(momentum.shape[0]):
        for j in range(momentum.shape[1]):
            total += 0.5 * inverse_mass[j] * momentum[d, j] * momentum[d, j]
    return total


@njit_internal_nogc
def copy_locations(source, target):
    """Write one (D, J) array to another."""
    for d in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[d, j] = source[d, j]


@njit_internal_nogc
def sum_of_squares(locations):
    """Return the sum of the squares of all coordinates."""
    total = 0.0
    for d in range(locations.shape[0]):
        for j in range(locations.shape[1]):
            total += locations[d, j] * locations[d, j]
    return total


@njit_loop
def draw_locations(
    locations, departures, decay, inverse_mass, step, n_steps, n_trajectories, room, rng
):
    """Draw the locations by Hamiltonian Monte Carlo; return the mean acceptance."""
    halves, shares, work = room.halves, room.shares, room.work
    proposal, momentum = room.proposal, room.momentum
    gradient, first_gradient = room.gradient, room.first_gradient
    write_gradient(locations, departures, decay, halves, shares, work, first_gradient)
    before = log_likelihood(halves, departures, decay, shares, work)
    before -= 0.5 * sum_of_squares(locations)
    acceptance = 0.0
    for i in range(n_trajectories):
        # Begin where the last trajectory ended, with a new momentum.
        for d in range(momentum.shape[0]):
            for j in range(momentum.shape[1]):
                momentum[d, j] = draw_normal(rng) / math.sqrt(inverse_mass[j])
        energy = kinetic_energy(inverse_mass, momentum)
        copy_locations(locations, proposal)
        copy_locations(first_gradient, gradient)
        # With equal steps, a trajectory may end where it began. The last one moves even if the
        # steps of the others are too large.
        length = step * (0.8 + 0.4 * next_double(rng))
        if i == n_trajectories - 1:
            length *= 0.25
        # Move.
        leapfrog(
            proposal, momentum, gradient, departures, decay, inverse_mass, length, n_steps, halves,
            shares, work,
        )  # fmt: skip
        # Weigh.
        after = log_likelihood(halves, departures, decay, shares, work)
        after -= 0.5 * sum_of_squares(proposal)
        gain = after - before + energy - kinetic_energy(inverse_mass, momentum)
        if not gain > -math.inf:
            gain = -math.inf  # NaN if a trajectory has diverged
        probability = math.exp(min(gain, 0.0))
        acceptance += probability / n_trajectories
        # Accept, or stay.
        if next_double(rng) < probability:
            before = after
            copy_locations(proposal, locations)
            copy_locations(gradient, first_gradient)
    return acceptance


# Similarities phi_jk = exp(-lambda D_jk), which decrease with the distance D of states.


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


@njit_inlined
def log_weight(log_similarity, count, shape, log_time):
    """Return n log phi - (a + n) log(1 + phi u)."""
    return count * log_similarity - shape * log_1p_exp(log_time + log_similarity)


@njit_loop
def log_likelihood_of_distances(distances, decay, counts, shapes, log_times):
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
    taken[:] = 0
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
