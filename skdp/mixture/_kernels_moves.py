r"""Moves that split, merge and reshape clusters: inlined sections of kernels.

| name | symbol | shape | meaning |
|---|---|---|---|
| kind, rows, prior, clusters, scratch | | | see `skdp.emissions._kernels_clusters` |
| labels | z_i | (N,) int64 | cluster of a row, from 0 to K - 1 |
| discount, concentration | a, b | scalars | |
| pinned | | (N,) bool | rows with a known label, see `is_pinned` |
| group_counts | | | see `GroupCounts` |
| weights | | (2, C + 1) | scratch |
| pair | | (2,) | scratch |
| members | | (2, N) int64 | rows of the move: free rows, pinned rows, and last the first two drawn; scratch |
| three | | C = 3 | clusters of the first row of a move, of the second, and of both |
| sides | | (3, N) int8 | side of each member (-1: none); current side, except in a split; and sides at the start of the last pass; scratch |
| rng | | (4,) uint64 | stream, advanced in place |

A first row is drawn, then a move. In a split the second row is another of its cluster, in a merge
or trade a row of another cluster, preferably of one that the first row would join. The initial
sides of the other rows do not depend on their current clusters: they come from two means, or the
rows are unassigned. Passes of Gibbs sampling over the two clusters follow (Jain and Neal, 2004).
The last one is the proposal of a split; for a merge the same pass is forced to end in the current
clusters, which gives the probability of the reverse move. A trade does both: it redistributes the
rows of two clusters. With one pass over unassigned rows this would be Dahl's sampler (2005).

Pinned rows are not drawn in passes. In a trade they stay on their sides. In a split they all go
with the second row if it is pinned, otherwise with the first. A merge that no such split would undo
is not proposed, nor is a split whose two rows are pinned.

A move needs at least two rows, all of one group, and room for one more cluster. It is impossible if
a covariance is not positive definite to rounding.
"""  # noqa: E501

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc
from skdp._numeric._random import next_double
from skdp.emissions._kernels_clusters import (
    SIZE,
    build_cluster,
    copy_cluster,
    halve,
    is_worn,
    log_evidence,
    move_row,
    weigh_row,
)
from skdp.mixture._kernels_sections import (
    bring_in_random_order,
    draw_below,
    drop_cluster,
    is_pinned,
    rename,
)

SPLIT, MERGE, TRADE = range(3)

LOG_TWO = math.log(2.0)

FEW_PASSES, MANY_PASSES = 2, 5
"""Numbers of Gibbs passes over the rows of a move, chosen at random; the last is the proposal.

Few are cheap, and many are needed to place rows well if there are dozens of columns.
"""


class GroupCounts(NamedTuple):
    """Counts that weigh the sides of a move for a row: rows of its group there, and a prior."""

    groups: np.ndarray  # (N,) int64, group of each row
    counts: np.ndarray  # (2, J) float64, scratch: rows of each group on either side
    priors: np.ndarray  # (2,) float64


def empty_group_counts(groups: np.ndarray, n_groups: int) -> GroupCounts:
    """Return empty counts for the groups of two components."""
    return GroupCounts(groups, np.zeros((2, n_groups)), np.zeros(2))


@njit_internal_nogc
def find_member(labels, k, place, left_out):
    """Return the row of cluster k at `place`, without the row `left_out` (N: none)."""
    for i in range(labels.shape[0]):
        if labels[i] == k and i != left_out:
            if place == 0:
                return i
            place -= 1
    return -1


@njit_internal_nogc
def draw_row(labels, sizes, n_clusters, rng):
    """Draw the first row of a move: a random row, or a random row of a random cluster."""
    if next_double(rng) < 0.5:
        return draw_below(labels.shape[0], rng)
    k = draw_below(n_clusters, rng)
    return find_member(labels, k, draw_below(int(sizes[k]), rng), labels.shape[0])


@njit_internal_nogc
def row_chance(n_rows, n_clusters, size):
    """Return the probability that `draw_row` returns a given row of a cluster of this size."""
    return 0.5 / n_rows + 0.5 / (n_clusters * size)


@njit_internal_nogc
def split_chance(n_clusters, size):
    """Return the probability that the move of a cluster of this size is a split."""
    if n_clusters == 1:
        return 1.0
    return 0.5 if size > 1.5 else 0.0


@njit_internal_nogc
def weigh_partners(n, own, weights):
    """Write to weights[1] the chance of each cluster as partner, from log densities weights[0]."""
    largest, total, logs, chances = -math.inf, 0.0, weights[0], weights[1]
    for k in range(n):
        if k != own:
            largest = max(largest, logs[k])
    for k in range(n):
        chances[k] = math.exp(logs[k] - largest) if k != own else 0.0
        total += chances[k]
    # Half of the probability is uniform, so that every cluster can be chosen.
    for k in range(n):
        chances[k] = 0.5 * chances[k] / total + 0.5 / (n - 1)
    chances[own] = 0.0


@njit_internal_nogc
def draw_partner(n, chances, rng):
    """Draw a cluster by its probability."""
    rest, last = next_double(rng), 0
    for k in range(n):
        if chances[k] > 0.0:
            rest -= chances[k]
            last = k
            if rest < 0.0:
                break
    return last


@njit_internal_nogc
def gather(labels, i, j, pinned, members, goal, rng):
    """Write the rows of two clusters: free (shuffled), pinned, i and j; return n_free and n."""
    n, first, second = 0, labels[i], labels[j]
    for row in range(labels.shape[0]):
        is_other = (labels[row] == first or labels[row] == second) and row != i and row != j
        if is_other and not is_pinned(row, pinned):
            members[n] = row
            n += 1
    bring_in_random_order(members[:n], rng)
    n_free = n
    for row in range(pinned.shape[0]):
        if pinned[row] and (labels[row] == first or labels[row] == second) and row not in (i, j):
            members[n] = row
            n += 1
    members[n], members[n + 1] = i, j
    for place in range(n):
        goal[place] = labels[members[place]] != first
    goal[n], goal[n + 1] = 0, 1
    return n_free, n + 2


@njit_internal_nogc
def may_move(move, n_free, n, members, goal, pinned):
    """Return whether the pinned rows allow a move, and its reverse can be proposed."""
    i_is_pinned, side = is_pinned(members[n - 2], pinned), is_pinned(members[n - 1], pinned)
    possible = move == TRADE or not (i_is_pinned and side)
    if move == MERGE:
        for place in range(n_free, n - 2):
            possible &= goal[place] == side
    return possible


@njit_internal_nogc
def settle_pinned(n_free, n, members, pinned, sides):
    """Put pinned rows of a split or merge on the second row's side if it is pinned, else side 0."""
    for place in range(n_free, n - 2):
        sides[place] = is_pinned(members[n - 1], pinned)


@njit_internal_nogc
def copy_sides(n, source, target):
    """Copy the sides of n rows."""
    for place in range(n):
        target[place] = source[place]


@njit_internal_nogc
def list_side(side, n, members, sides, found):
    """Write the members on a side; return their number."""
    m = 0
    for place in range(n):
        if sides[place] == side:
            found[m] = members[place]
            m += 1
    return m


@njit_internal_nogc
def count_sides(n, members, sides, group_counts):
    """Count the members on either side, by group."""
    for side in range(2):
        for group in range(group_counts.counts.shape[1]):
            group_counts.counts[side, group] = 0.0
    for place in range(n):
        if sides[place] >= 0:
            group_counts.counts[sides[place], group_counts.groups[members[place]]] += 1.0


@njit_inlined_source
def pass_over(
    kind, n_free, n, members, sides, has_goal, rows, prior, three, group_counts, scratch, pair, rng
):
    """Draw the sides of the first `n_free` of n rows in turn; return possible and log chance."""
    possible, log_chance, place, worn = True, 0.0, 0, True
    count_sides(n, members[0], sides[0], group_counts)
    while worn or place < n_free:
        if worn:
            for side in range(2):
                m = list_side(side, n, members[0], sides[0], members[1])
                possible &= build_cluster(
                    kind, side, members[1][:m], rows, prior, three, scratch
                )  # fmt: skip
        worn = False
        if place < n_free:
            i, own = members[0, place], int(sides[0, place])
            counts, chosen = group_counts.counts[:, group_counts.groups[i]], own
            if weigh_row(kind, i, rows, prior, three, 2, own, scratch, pair):
                first = counts[0] - (own == 0) + group_counts.priors[0]
                second = counts[1] - (own == 1) + group_counts.priors[1]
                odds = pair[1] - pair[0] + math.log(second / first)
                chosen = int(next_double(rng) * (1.0 + math.exp(-odds)) < 1.0)
                if has_goal:  # the row goes there instead
                    chosen = int(sides[1, place])
                odds = odds if chosen == 1 else -odds
                log_chance -= max(-odds, 0.0) + math.log1p(math.exp(-abs(odds)))
            elif has_goal and sides[1, place] != own:
                log_chance = -math.inf  # an outlier whose density underflows keeps its side
            sides[0, place] = chosen
            if chosen != own:
                move_row(kind, i, chosen, 1.0, rows, prior, three, scratch)
                counts[chosen] += 1.0
                if own >= 0:
                    move_row(kind, i, own, -1.0, rows, prior, three, scratch)
                    counts[own] -= 1.0
            worn = is_worn(kind, 0, three) or is_worn(kind, 1, three)
            place += 1
    return possible, log_chance


@njit_internal_nogc
def log_choice(n_rows, n_clusters, first, second, partner_chance):
    """Return the log probability of a merge or trade of two rows of clusters of these sizes."""
    chance = row_chance(n_rows, n_clusters, first) * (1.0 - split_chance(n_clusters, first))
    return math.log(chance * partner_chance / second)


@njit_internal_nogc
def log_choice_of_split(n_rows, n_clusters, size):
    """Return the log probability of choosing a split with these two rows."""
    chance = row_chance(n_rows, n_clusters, size) * split_chance(n_clusters, size)
    return math.log(chance / (size - 1.0))


@njit_inlined_source
def log_prior_and_evidence(kind, k, prior, clusters, discount):
    """Return a cluster's contribution to the log joint, without the b + a K of a new one."""
    size = clusters.vectors[SIZE, k]
    log_prior = math.lgamma(size - discount) - math.lgamma(1.0 - discount)
    return log_prior + log_evidence(kind, k, prior, clusters)


@njit_internal_nogc
def settle(n, first, second, members, sides, labels):
    """Assign the rows on side 0 to the first cluster, and the rows on side 1 to the second."""
    for place in range(n):
        labels[members[place]] = second if sides[place] == 1 else first


@njit_inlined_source
def begin_move(
    kind, rows, prior, clusters, three, n_clusters, labels, pinned, most_rows, weights, members,
    sides, scratch, rng,
):  # fmt: skip
    """Draw a move, its two rows, and the initial sides of the passes; n is 0 without a proposal."""
    sizes = clusters.vectors[SIZE]
    i = draw_row(labels, sizes, n_clusters, rng)
    first = labels[i]
    move = SPLIT
    if next_double(rng) >= split_chance(n_clusters, sizes[first]):
        move = MERGE if next_double(rng) < 0.5 else TRADE
    weigh_row(kind, i, rows, prior, clusters, n_clusters, -1, scratch, weights[0])
    second, left_out = first, i
    if move != SPLIT:
        weigh_partners(n_clusters, first, weights)
        second, left_out = draw_partner(n_clusters, weights[1], rng), labels.shape[0]
    if sizes[first] + (move != SPLIT) * sizes[second] > most_rows:
        return move, i, first, second, 0, 0, 0
    j = find_member(labels, second, draw_below(int(sizes[second]) - (move == SPLIT), rng), left_out)
    n_free, n = gather(labels, i, j, pinned, members[0], sides[1], rng)
    if pinned.shape[0] > 0 and not may_move(move, n_free, n, members[0], sides[1], pinned):
        return move, i, first, second, 0, 0, 0
    halve(
        kind, n, members[0], next_double(rng) < 0.5, rows, prior, three, scratch, members[1],
        sides[0],
    )  # fmt: skip
    if move == TRADE:
        copy_sides(n - n_free, sides[1][n_free:], sides[0][n_free:])
    else:
        settle_pinned(n_free, n, members[0], pinned, sides[0])
    n_passes = FEW_PASSES if next_double(rng) < 0.5 else MANY_PASSES
    if move == SPLIT:
        second = n_clusters  # the new cluster
    return move, i, first, second, n_free, n, n_passes


@njit_inlined_source
def log_ratio_of_choices(
    kind, move, i, first, second, rows, prior, clusters, three, n_clusters, n_rows, weights, pair,
    scratch,
):  # fmt: skip
    """Return the log ratio of the probabilities of the rows in the reverse move and the move."""
    sizes, log_choice_before, log_choice_after = clusters.vectors[SIZE], 0.0, 0.0
    if move == SPLIT:
        log_choice_before = log_choice_of_split(n_rows, n_clusters, sizes[first])
    else:
        log_choice_before = log_choice(
            n_rows, n_clusters, sizes[first], sizes[second], weights[1, second]
        )
    n_after = n_clusters + (move == SPLIT) - (move == MERGE)
    if move == MERGE:
        both = sizes[first] + sizes[second]
        log_choice_after = log_choice_of_split(n_rows, n_after, both)
    else:
        weigh_row(kind, i, rows, prior, three, 2, -1, scratch, pair)
        weights[0, second] = pair[1]
        weigh_partners(n_after, first, weights)
        log_choice_after = log_choice(
            n_rows, n_after, three.vectors[SIZE, 0], three.vectors[SIZE, 1], weights[1, second]
        )
    return log_choice_after - log_choice_before


@njit_inlined_source
def make_move(
    kind, move, first, second, n, clusters, three, n_clusters, labels, members, sides
):  # fmt: skip
    """Move the rows to their new clusters; return the number of clusters."""
    if move == MERGE:
        rename(labels, second, first)
        copy_cluster(kind, three, 2, clusters, first)
        drop_cluster(kind, second, clusters, n_clusters, labels)
    else:
        settle(n, first, second, members[0], sides[0], labels)
        copy_cluster(kind, three, 0, clusters, first)
        copy_cluster(kind, three, 1, clusters, second)
    return n_clusters + (move == SPLIT) - (move == MERGE)


@njit_inlined_source
def move_clusters(
    kind, rows, prior, clusters, three, n_clusters, labels, pinned, most_rows, discount,
    concentration, group_counts, weights, pair, members, sides, scratch, rng,
):  # fmt: skip
    """Propose a split, merge or trade of at most `most_rows`; return n_clusters, -1: impossible."""
    n_rows = labels.shape[0]
    move, i, first, second, n_free, n, n_passes = begin_move(
        kind, rows, prior, clusters, three, n_clusters, labels, pinned, most_rows, weights, members,
        sides, scratch, rng,
    )  # fmt: skip
    if n == 0:
        return n_clusters
    group_counts.priors[0] = group_counts.priors[1] = -discount

    possible, log_way, log_pair, log_way_back, log_pair_before = True, 0.0, 0.0, 0.0, 0.0
    for number in range(n_passes + (move == TRADE)):
        if number == n_passes - 1:  # the last pass begins here, twice in a trade
            copy_sides(n, sides[0], sides[2])
        elif number == n_passes:
            copy_sides(n, sides[2], sides[0])
            log_way_back, log_pair_before = log_way, log_pair
        has_goal = number == n_passes - 1 and move != SPLIT
        fits, log_way = pass_over(
            kind, n_free, n, members, sides, has_goal, rows, prior, three, group_counts, scratch,
            pair, rng,
        )  # fmt: skip
        possible &= fits
        log_pair = 0.0
        for side in range(2):
            log_pair += log_prior_and_evidence(kind, side, prior, three, discount)

    log_ratio = log_ratio_of_choices(
        kind, move, i, first, second, rows, prior, clusters, three, n_clusters, n_rows, weights,
        pair, scratch,
    )  # fmt: skip
    if move == TRADE:
        log_ratio += log_pair - log_pair_before + log_way_back - log_way
    else:
        possible &= build_cluster(kind, 2, members[0][:n], rows, prior, three, scratch)
        log_split = log_pair - log_prior_and_evidence(kind, 2, prior, three, discount) - log_way
        log_split += math.log(concentration + discount * (n_clusters - (move == MERGE)))
        # A merge or trade is one of two moves.
        log_split -= LOG_TWO
        log_ratio += log_split if move == SPLIT else -log_split
    if math.log1p(-next_double(rng)) < log_ratio:
        n_clusters = make_move(
            kind, move, first, second, n, clusters, three, n_clusters, labels, members, sides
        )
    return n_clusters if possible else -1
