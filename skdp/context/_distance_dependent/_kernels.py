"""Sweeps over the links of observations: their components, and draws of links by similarity."""

# mypy: ignore-errors

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double, next_open_double

# Cuts and unions of the components of linked observations.
#
# Every observation has one link, to another one or to itself. Components are the connected
# components of the undirected graph. After a cut, searches from both ends take turns, one edge at a
# time, so that the time is proportional to the size of the smaller side.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | links | c_i | (n,) int64 | observation that each one links to; itself: none |
# | labels | z(c)_i | (n,) int64 | component of each, below n |
# | first | | (n,) int64 | the latest observation that links to each, -1: none |
# | after, before | | (n,) int64 | next and previous observation with the same target; -1: none |
# | sizes | | (n,) int64 | observations of each component |
# | counts | n_kx | (n, X) int64 | observations of each outcome per component; (0, X): not counted |
# | n_of_outcome | m_x | (X,) int64 | components whose first member has outcome x |
# | free | | (n,) int64 | unused labels, of which the first n - M are valid |
# | numbers | M | (2,) int64 | number of components, and of searches so far |
# | marks | | (n,) int64 | scratch: latest search that visited, and its side |
# | queues, walk | | (2, n), (2, 4) int64 | scratch: visited observations, positions of searches |
# | outcomes | x_i | (n,) int64 | |


HEAD, TAIL, CHILD, SOURCE = 0, 1, 2, 3
"""Entries of `walk`: place in the queue, its end, next child to visit, current observation."""

FORWARD, DONE = -2, -1
"""Values of CHILD: the link itself is next; all edges of this observation are done."""


class Components(NamedTuple):
    """Links and the components that they form."""

    links: NDArray[np.int64]
    labels: NDArray[np.int64]
    first: NDArray[np.int64]
    after: NDArray[np.int64]
    before: NDArray[np.int64]
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_of_outcome: NDArray[np.int64]
    free: NDArray[np.int64]
    numbers: NDArray[np.int64]
    marks: NDArray[np.int64]
    queues: NDArray[np.int64]
    walk: NDArray[np.int64]
    outcomes: NDArray[np.int64]


@njit_internal_nogc
def begin_search(side, i, mark, c):
    """Start a search at observation i."""
    c.marks[i] = mark
    c.queues[side, 0] = i
    c.walk[side, HEAD] = 0
    c.walk[side, TAIL] = 1
    c.walk[side, CHILD] = DONE


@njit_internal_nogc
def next_edge(side, c):
    """Return the other end of the next edge of a search; -1 if there is none."""
    walk = c.walk
    while walk[side, CHILD] == DONE:
        if walk[side, HEAD] == walk[side, TAIL]:
            return -1
        walk[side, SOURCE] = c.queues[side, walk[side, HEAD]]
        walk[side, HEAD] += 1
        walk[side, CHILD] = FORWARD
    if walk[side, CHILD] == FORWARD:
        walk[side, CHILD] = c.first[walk[side, SOURCE]]
        return c.links[walk[side, SOURCE]]
    child = walk[side, CHILD]
    walk[side, CHILD] = c.after[child]
    return child


@njit_internal_nogc
def visit(side, i, mark, c):
    """Add observation i to the queue of a search unless it has been visited."""
    if c.marks[i] != mark:
        c.marks[i] = mark
        c.queues[side, c.walk[side, TAIL]] = i
        c.walk[side, TAIL] += 1


@njit_internal_nogc
def find_smaller_side(i, j, c):
    """Return the smaller side of a cut edge, 0 (of i) or 1 (of j); -1: i and j are connected."""
    # The members of the smaller part are in ``queues[side]``.
    c.numbers[1] += 1
    mark = 2 * c.numbers[1]
    begin_search(0, i, mark, c)
    begin_search(1, j, mark + 1, c)
    while True:
        for side in range(2):
            k = next_edge(side, c)
            if k < 0:
                return side
            if c.marks[k] == mark + 1 - side:
                return -1
            visit(side, k, mark + side, c)


@njit_internal_nogc
def collect(i, c):
    """Write all members of i's component to ``queues[0]`` and return their number."""
    c.numbers[1] += 1
    mark = 2 * c.numbers[1]
    begin_search(0, i, mark, c)
    k = next_edge(0, c)
    while k >= 0:
        visit(0, k, mark, c)
        k = next_edge(0, c)
    return c.walk[0, TAIL]


@njit_internal_nogc
def relabel(side, n, old, new, c):
    """Move the first n observations of a queue from one component to another."""
    for place in range(n):
        i = c.queues[side, place]
        c.labels[i] = new
        if c.counts.shape[0] > 0:
            c.counts[old, c.outcomes[i]] -= 1
            c.counts[new, c.outcomes[i]] += 1
    c.sizes[old] -= n
    c.sizes[new] += n


@njit_internal_nogc
def cut_link(i, c):
    """Link i to itself; if this splits its component, the smaller part gets a new label."""
    j = c.links[i]
    c.links[i] = i
    if c.before[i] >= 0:
        c.after[c.before[i]] = c.after[i]
    else:
        c.first[j] = c.after[i]
    if c.after[i] >= 0:
        c.before[c.after[i]] = c.before[i]
    side = find_smaller_side(i, j, c)
    if side >= 0:
        n_free = c.free.shape[0] - c.numbers[0]
        relabel(side, c.walk[side, TAIL], c.labels[i], c.free[n_free - 1], c)
        c.numbers[0] += 1
        c.n_of_outcome[c.outcomes[i]] += 1


@njit_internal_nogc
def set_link(i, j, c):
    """Link i, which links to itself, to j; the larger component keeps its label."""
    old, new = c.labels[i], c.labels[j]
    if old != new:
        start = i
        if c.sizes[old] > c.sizes[new]:
            old, new, start = new, old, j
        relabel(0, collect(start, c), old, new, c)
        c.free[c.free.shape[0] - c.numbers[0]] = old
        c.numbers[0] -= 1
        c.n_of_outcome[c.outcomes[i]] -= 1
    c.links[i] = j
    c.before[i] = -1
    c.after[i] = c.first[j]
    if c.first[j] >= 0:
        c.before[c.first[j]] = i
    c.first[j] = i


# Similarities of all pairs of contexts, for too many columns to enumerate their subsets.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | codes | h_un | (U, D) int32 | categories of the distinct contexts |
# | decay | lambda_n | (D,) | |
# | repeats | | (U,) | observations of each context |
# | distances | | (U, U) | sums of the decays of the columns that differ |
# | similarities | phi | (U, U) | |
# | context_of_column | | (T,) int64 | |
# | column_repeats | | (T,) | observations of each column |
# | starts_group | | (T,) bool | whether the column begins a new group |


@njit_loop
def split_sums(codes, n, decay, repeats, distances, alike, unlike):
    """Write sums of similarities without column n, over others that agree in n and that differ."""
    for u in range(codes.shape[0]):
        alike[u] = repeats[u] - 1.0  # an observation is not another one to itself
        unlike[u] = 0.0
        for v in range(codes.shape[0]):
            if codes[u, n] != codes[v, n]:
                unlike[u] += repeats[v] * math.exp(decay - distances[u, v])
            elif v != u:
                alike[u] += repeats[v] * math.exp(-distances[u, v])


@njit_loop
def move_apart(codes, n, change, distances):
    """Update the distances after a change of the decay of column n."""
    for u in range(codes.shape[0]):
        for v in range(codes.shape[0]):
            if codes[u, n] != codes[v, n]:
                distances[u, v] += change


@njit_loop
def exponentiate(distances, similarities):
    """Write the similarities for these distances."""
    for u in range(distances.shape[0]):
        for v in range(distances.shape[1]):
            similarities[u, v] = math.exp(-distances[u, v])


@njit_loop
def accumulate(similarities, context_of_column, column_repeats, starts_group, cumulative):
    """Write cumulative sums of similarities over the columns of each group."""
    for u in range(similarities.shape[0]):
        total = 0.0
        for t in range(cumulative.shape[1]):
            if starts_group[t]:
                total = 0.0
            total += column_repeats[t] * similarities[u, context_of_column[t]]
            cumulative[u, t] = total


# A sweep over the links.
#
# Links to observations of the same group are proposed from their prior: with "shared" outcomes the
# observations of an outcome are a group, else all observations are. A proposal takes time
# logarithmic in the number of column subsets, not a pass over all observations, and the outcomes
# only enter its acceptance probability. The link is cut once for all proposals of a visit.
#
# A kernel that branches on the kind would compile all kinds, so `kernel_of` chooses in Python.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | concentration | alpha | float | weight of a link to itself |
# | outcome_prior | gamma | float | |
# | log_gammas | log Gamma(gamma + k) | (n + 1,) | "dirichlet" |
# | log_total_gammas | log Gamma(X gamma + k) | (n + 1,) | "dirichlet" |
# | weights | omega_q | (Q,) | weights of the sets of columns |
# | starts, sizes | N_rq | (R, Q) int32 | observations that agree with row r: start and number |
# | members | | (Q, n) int32 | observations, sorted by the buckets of each set |
# | row_of | | (n,) int64 | row of each observation |
# | cumulative | | (U, T) | cumulative sums of similarities over the columns of a group |
# | own | phi_uu | (U,) | similarity of a context to itself |
# | column_of | | (n,) int64 | column of each observation |
# | column_ptr, column_members | | (T + 1,), (n,) int64 | observations of each column |
# | group_ptr | | (G + 1,) int64 | columns of each group |
# | group_of | | (n,) int64 | |
# | sums | | (Q,) | scratch |


class Buckets(NamedTuple):
    """Observations in buckets by the sets of columns in which contexts can agree."""

    weights: NDArray[np.float64]
    starts: NDArray[np.int32]
    sizes: NDArray[np.int32]
    members: NDArray[np.int32]
    row_of: NDArray[np.int64]
    sums: NDArray[np.float64]


class SimilarityTable(NamedTuple):
    """Cumulative similarities of all pairs, along the rows."""

    cumulative: NDArray[np.float64]
    own: NDArray[np.float64]
    row_of: NDArray[np.int64]
    column_of: NDArray[np.int64]
    column_ptr: NDArray[np.int64]
    column_members: NDArray[np.int64]
    group_ptr: NDArray[np.int64]
    group_of: NDArray[np.int64]


@njit_internal_nogc
def find_above(value, sums, first, last):
    """Return the first index in [first, last] whose sum exceeds a value; the last if none does."""
    while first < last:
        middle = (first + last) // 2
        if sums[middle] > value:
            last = middle
        else:
            first = middle + 1
    return first


@njit_internal_nogc
def draw_other(i, members, start, size, rng):
    """Return a random member other than i of a bucket of `size` members that contains i."""
    j = members[start + min(int(next_double(rng) * (size - 1)), size - 2)]
    return members[start + size - 1] if j == i else j


@njit_internal_nogc
def weigh_buckets(i, source):
    """Return the sum of similarities of i to its group's others, and write cumulative `sums`."""
    total, row = 0.0, source.row_of[i]
    for q in range(source.weights.shape[0]):
        total += source.weights[q] * (source.sizes[row, q] - 1)
        source.sums[q] = total
    return total


@njit_internal_nogc
def draw_from_buckets(i, total, source, rng):
    """Draw an observation of i's group by similarity, after `weigh_buckets`."""
    row = source.row_of[i]
    q = find_above(next_double(rng) * total, source.sums, 0, source.sums.shape[0] - 1)
    while q > 0 and source.sums[q] == source.sums[q - 1]:  # rounding overshot the end
        q -= 1
    return draw_other(i, source.members[q], source.starts[row, q], source.sizes[row, q], rng)


@njit_internal_nogc
def weigh_columns(i, source):
    """Return the sum of similarities of i to all others of its group."""
    row, end = source.row_of[i], source.group_ptr[source.group_of[i] + 1]
    return max(source.cumulative[row, end - 1] - source.own[row], 0.0)


@njit_internal_nogc
def draw_from_columns(i, total, source, rng):
    """Draw an observation of i's group by similarity; i itself only through rounding."""
    row, mine, group = source.row_of[i], source.column_of[i], source.group_of[i]
    sums, first = source.cumulative[row], source.group_ptr[group]
    value = next_double(rng) * total
    # The similarity of i to itself is at the end of its column, and is skipped.
    start, size = source.column_ptr[mine], source.column_ptr[mine + 1] - source.column_ptr[mine]
    below = sums[mine - 1] if mine > first else 0.0
    if value >= below + (size - 1) * source.own[row]:
        value += source.own[row]
    column = find_above(value, sums, first, source.group_ptr[group + 1] - 1)
    while column > first and sums[column] == sums[column - 1]:
        column -= 1
    if column == mine:
        if size == 1:
            return i
        return draw_other(i, source.column_members, start, size, rng)
    start = source.column_ptr[column]
    size = source.column_ptr[column + 1] - start
    return source.column_members[start + min(int(next_double(rng) * size), size - 1)]


@njit_internal_nogc
def weigh_union(i, j, log_gammas, log_total_gammas, c):
    """Return log f(A u B) - log f(A) - log f(B) of the components of i and j; 0 if they are one."""
    a, b = c.labels[i], c.labels[j]
    if a == b:
        return 0.0
    n_a, n_b = c.sizes[a], c.sizes[b]
    # f(A) = Gamma(X gamma) / Gamma(X gamma + n_A) prod_x Gamma(gamma + n_Ax) / Gamma(gamma)
    result = log_total_gammas[n_a] + log_total_gammas[n_b]
    result -= log_total_gammas[n_a + n_b] + log_total_gammas[0]
    for x in range(c.counts.shape[1]):
        k, m = c.counts[a, x], c.counts[b, x]
        if k > 0 and m > 0:  # else the terms cancel
            result += log_gammas[k + m] + log_gammas[0] - log_gammas[k] - log_gammas[m]
    return result


@njit_internal_nogc
def weigh_common_outcome(i, j, outcome_prior, c):
    """Return the log ratio of p(outcomes) for joining the components of i and j, of one outcome."""
    if c.labels[i] == c.labels[j]:
        return 0.0
    n_components, m_x = c.numbers[0], c.n_of_outcome[c.outcomes[i]]
    # (X gamma + M - 1) / (gamma + m_x - 1), not (2.23)
    total = c.n_of_outcome.shape[0] * outcome_prior + n_components - 1.0
    return math.log(total / (outcome_prior + m_x - 1.0))


@cache
def kernel_of(is_shared: bool, is_table: bool) -> Callable:
    """Return the kernel of a sweep for a model of outcomes and a kind of similarities."""

    @njit_loop
    def sweep(
        n_proposals, concentration, outcome_prior, log_gammas, log_total_gammas, source, c, rng
    ):
        """Draw the link of every observation, given all others, by `n_proposals` proposals."""
        for i in range(c.links.shape[0]):
            chosen = c.links[i]
            if chosen != i:
                cut_link(i, c)
            if is_shared:
                weight = weigh_common_outcome(i, chosen, outcome_prior, c)
            else:
                weight = weigh_union(i, chosen, log_gammas, log_total_gammas, c)
            if is_table:
                total = weigh_columns(i, source)
            else:
                total = weigh_buckets(i, source)
            for _ in range(n_proposals):
                j = i
                if next_double(rng) * (concentration + total) >= concentration:
                    if is_table:
                        j = draw_from_columns(i, total, source, rng)
                    else:
                        j = draw_from_buckets(i, total, source, rng)
                if is_shared:
                    other = weigh_common_outcome(i, j, outcome_prior, c)
                else:
                    other = weigh_union(i, j, log_gammas, log_total_gammas, c)
                if other >= weight or math.log(next_open_double(rng)) < other - weight:
                    chosen, weight = j, other
            if chosen != i:
                set_link(i, chosen, c)

    return sweep
