r"""Moves of components that groups share, and sweeps over rows: inlined sections of kernels.

In moves, rows, clusters and passes are those of `_kernels/_moves`; the weight of a side for a row
is the number of rows of its group there plus the prior of the side, alpha beta.

| name | symbol | shape | meaning |
|---|---|---|---|
| group_counts | | | see `GroupCounts`; its `priors` are alpha beta_a and alpha beta_b |
| shares | log v, log(1 - v) | (3, 2) | shares of the sides: in this pass, proposed, current |
| weight | beta_a + beta_b | | weight of both sides together, which no move changes |
| top | beta_k | (C,) | |

The shares of two components are proposed with their rows. Passes begin with equal shares; after
each pass but the last the tables of the sides are drawn, m_a and m_b, then shares from
Beta(m_a, m_b). The last of these distributions is the proposal of shares, and for a merge gives the
density of the current ones. In the coordinates (beta_a + beta_b, v) the density of the top level
has gamma / (v (1 - v)) for two components instead of 1 for one. A move needs at least two rows, and
room for one more component.
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._arithmetic import fast_exp
from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc
from skdp._numeric._random import draw_log_beta, next_double
from skdp.emissions._kernels._clusters import SIZE, build_cluster, log_evidence
from skdp.emissions._kernels._discrete import log_rising
from skdp.mixture._kernels._moves import (
    LOG_TWO,
    MERGE,
    SPLIT,
    TRADE,
    begin_move,
    copy_sides,
    log_ratio_of_choices,
    make_move,
    pass_over,
)
from skdp.mixture._kernels._sections import pick, renew_row, reseat_row, weigh_seated_row
from skdp.processes._kernels_table_counts import SMALLEST_WEIGHT, break_weight, draw_table_count


@njit_internal_nogc
def share_prior(prior, shares, group_counts):
    """Split the prior of both sides by their shares."""
    for side in range(2):
        group_counts.priors[side] = prior * math.exp(shares[side])


@njit_internal_nogc
def draw_shares(group_counts, shares, rng):
    """Draw the tables of both sides, then their shares; return the tables."""
    tables_a, tables_b = 0, 0
    for j in range(group_counts.counts.shape[1]):
        tables_a += draw_table_count(int(group_counts.counts[0, j]), group_counts.priors[0], rng)
        tables_b += draw_table_count(int(group_counts.counts[1, j]), group_counts.priors[1], rng)
    m_a, m_b = float(tables_a), float(tables_b)
    shares[0], shares[1] = draw_log_beta(m_a, m_b, rng)
    return m_a, m_b


@njit_internal_nogc
def log_density_of_shares(m_a, m_b, shares):
    """Return the log density of Beta(m_a, m_b)."""
    result = math.lgamma(m_a + m_b) - math.lgamma(m_a) - math.lgamma(m_b)
    return result + (m_a - 1.0) * shares[0] + (m_b - 1.0) * shares[1]


@njit_internal_nogc
def log_prior_of_sides(gamma, shares, group_counts):
    """Return log p(z, v) of two components, up to the factors of the other components."""
    result = math.log(gamma) - shares[0] - shares[1]
    for side in range(2):
        for j in range(group_counts.counts.shape[1]):
            if group_counts.counts[side, j] > 0.0:
                result += log_rising(group_counts.priors[side], group_counts.counts[side, j])
    return result


@njit_internal_nogc
def log_prior_of_both(prior, group_counts):
    """Return log p(z) of one component instead of two, up to the factors of the others."""
    result = 0.0
    for j in range(group_counts.counts.shape[1]):
        n = group_counts.counts[0, j] + group_counts.counts[1, j]
        if n > 0.0:
            result += log_rising(prior, n)
    return result


@njit_internal_nogc
def copy_shares(source, target):
    """Copy the shares of both sides."""
    target[0], target[1] = source[0], source[1]


@njit_internal_nogc
def give_weights(move, first, second, n_clusters, weight, shares, top):
    """Write the weights of the components after an accepted move."""
    if move == MERGE:
        top[first] = weight
        top[second] = top[n_clusters - 1]  # the last one takes its place
        top[n_clusters - 1] = 0.0
    else:
        top[first] = max(weight * math.exp(shares[0]), SMALLEST_WEIGHT)
        top[second] = max(weight * math.exp(shares[1]), SMALLEST_WEIGHT)


@njit_inlined_source
def move_components(
    kind, rows, prior, clusters, three, n_clusters, labels, pinned, top, alpha, gamma, group_counts,
    shares, weights, pair, members, sides, scratch, rng,
):  # fmt: skip
    """Propose a split, merge or trade; return the number of components, or -1 if impossible."""
    move, i, first, second, n_free, n, n_passes = begin_move(
        kind, rows, prior, clusters, three, n_clusters, labels, pinned, labels.shape[0], weights,
        members, sides, scratch, rng,
    )  # fmt: skip
    if n == 0:
        return n_clusters
    weight = top[first]
    if move != SPLIT:
        weight += top[second]
        shares[2, 0], shares[2, 1] = math.log(top[first] / weight), math.log(top[second] / weight)
    shares[1, 0] = shares[1, 1] = -LOG_TWO

    possible, log_way, log_pair, log_way_back, log_pair_before = True, 0.0, 0.0, 0.0, 0.0
    m_a = m_b = 1.0
    for number in range(n_passes + (move == TRADE)):
        has_goal = number == n_passes - 1 and move != SPLIT
        if number == n_passes - 1:  # the last pass begins here, twice in a trade
            copy_sides(n, sides[0], sides[2])
        elif number == n_passes:
            copy_sides(n, sides[2], sides[0])
            log_way_back, log_pair_before = log_way, log_pair
        copy_shares(shares[2 if has_goal else 1], shares[0])
        share_prior(alpha * weight, shares[0], group_counts)
        fits, log_way = pass_over(
            kind, n_free, n, members, sides, has_goal, rows, prior, three, group_counts, scratch,
            pair, rng,
        )  # fmt: skip
        possible &= fits
        if number < n_passes - 1:
            m_a, m_b = draw_shares(group_counts, shares[1], rng)
        else:
            log_way += log_density_of_shares(m_a, m_b, shares[0])
            log_pair = log_prior_of_sides(gamma, shares[0], group_counts)
            for side in range(2):
                log_pair += log_evidence(kind, side, prior, three)

    log_ratio = log_ratio_of_choices(
        kind, move, i, first, second, rows, prior, clusters, three, n_clusters, labels.shape[0],
        weights, pair, scratch,
    )  # fmt: skip
    if move == TRADE:
        log_ratio += log_pair - log_pair_before + log_way_back - log_way
    else:
        possible &= build_cluster(kind, 2, members[0][:n], rows, prior, three, scratch)
        log_both = log_prior_of_both(alpha * weight, group_counts) + log_evidence(
            kind, 2, prior, three
        )
        # A merge or trade is one of two moves.
        log_split = log_pair - log_both - log_way - LOG_TWO
        log_ratio += log_split if move == SPLIT else -log_split
    if math.log1p(-next_double(rng)) < log_ratio:
        give_weights(move, first, second, n_clusters, weight, shares[0], top)
        n_clusters = make_move(
            kind, move, first, second, n, clusters, three, n_clusters, labels, members, sides
        )
    return n_clusters if possible else -1


# Collapsed Gibbs sweeps over rows in groups, by direct assignment.
#
# Symbols as in `_kernels/_sections`, and those of the top level of a hierarchical Dirichlet process
# (`skdp.processes._kernels_table_counts`). Clusters are components.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | groups | j | (N,) int64 | group of a row |
# | counts | n_jk | (J, C) | rows of each group in each component; 0 beyond the first K |
# | top | beta_k | (C,) | weights of components; 0 beyond the first K |
# | rest | beta_u | (1,) | weight of all other components |
# | alpha, gamma | | scalars | concentrations of groups and of the top level |
#
# A row of group j joins component k with weight (n_jk + alpha beta_k) f_k(x), and opens a new one
# with weight alpha beta_u f_0(x), which then has a Beta(1, gamma) share of beta_u. A component that
# loses its last row gives its weight back to beta_u before anything else is drawn.
#
# A sweep stops at the end of `order`, without room for a new component, or, with -1, if a
# covariance is not positive definite to rounding.


class RowGroups(NamedTuple):
    """Counts of rows by group and component, and the weights of the components."""

    groups: np.ndarray
    counts: np.ndarray
    top: np.ndarray
    rest: np.ndarray


@njit_internal_nogc
def choose_component(n, left, counts, top, rest, log_alone, alpha, weights, rng):
    """Return a draw from the components, or n for a new one; overwrite log densities `weights`."""
    if left >= 0:  # the component is empty without the row
        weights[left] = -math.inf
    largest = log_alone
    for k in range(n):
        largest = max(largest, weights[k])
    for k in range(n):
        weights[k] = (counts[k] + alpha * top[k]) * fast_exp(weights[k] - largest)
    return pick(n, weights, alpha * rest * fast_exp(log_alone - largest), rng)


@njit_internal_nogc
def move_component(source, target, groups):
    """Move the last component, `source`, to the place `target` of an empty one."""
    groups.top[target] = groups.top[source]
    groups.top[source] = 0.0
    for j in range(groups.counts.shape[0]):
        groups.counts[j, target] = groups.counts[j, source]
        groups.counts[j, source] = 0.0


@njit_inlined_source
def sweep_grouped_rows(
    kind, begin, order, rows, prior, clusters, n_clusters, labels, log_alone, groups, alpha, gamma,
    weights, members, scratch, rng,
):  # fmt: skip
    """Draw the components of rows from order[begin] on; return the place reached, n_clusters."""
    sizes, counts, top, rest = clusters.vectors[SIZE], groups.counts, groups.top, groups.rest
    place, end = begin, order.shape[0]
    while 0 <= place < end and n_clusters < sizes.shape[0]:
        i = order[place]
        j, old, left = groups.groups[i], labels[i], np.int64(-1)

        # Remove.
        if old >= 0:
            counts[j, old] -= 1.0
            if sizes[old] < 1.5:
                left = old
                rest[0] += top[left]
                top[left] = 0.0

        # Weigh and draw.
        possible, own = weigh_seated_row(
            kind, i, rows, prior, clusters, n_clusters, labels, log_alone, weights, members, scratch
        )
        chosen = choose_component(
            n_clusters, left, counts[j], top, rest[0], log_alone[i], alpha, weights, rng
        )

        # Add.
        is_new = chosen == n_clusters
        if is_new and left >= 0:
            chosen = left  # reuse the place of the emptied component
        if is_new:
            top[chosen], rest[0] = break_weight(rest[0], gamma, rng)
        counts[j, chosen] += 1.0
        if chosen != own:
            fits, n_clusters = reseat_row(
                kind, i, own, chosen, rows, prior, clusters, n_clusters, labels, members, scratch,
                rng,
            )  # fmt: skip
            possible &= fits
            if left >= 0 and left != n_clusters:
                move_component(n_clusters, left, groups)
        else:
            possible &= renew_row(kind, i, own, rows, prior, clusters, members, scratch, rng)
        place = place + 1 if possible else -1
    return place, n_clusters
