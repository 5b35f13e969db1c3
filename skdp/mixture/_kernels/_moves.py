r"""Moves that split, merge and reshape clusters: inlined sections of kernels.

| name | symbol | shape | meaning |
|---|---|---|---|
| kind, rows, prior, clusters, scratch | | | see `skdp.emissions._kernels._clusters` |
| labels | z_i | (N,) int64 | cluster of a row, from 0 to K - 1 |
| discount, concentration | a, b | scalars | |
| pinned | | (N,) bool | rows with a known label, see `is_pinned` |
| group_counts | | | see `GroupCounts` |
| weights | | (2, C + 1) | scratch |
| pair | | (2,) | scratch |
| members | | (2, N) int64 | scratch: free rows, pinned rows, and last the first two drawn |
| three | | C = 3 | clusters of the first row of a move, of the second, and of both |
| sides | | (3, N) int8 | scratch: sides of members (-1: none), current, and before the last pass |
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
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc
from skdp._numeric._random import next_double
from skdp.emissions._kernels._clusters import (
    SIZE,
    build_cluster,
    copy_cluster,
    halve,
    log_evidence,
    move_row,
    needs_rebuild,
    weigh_row,
)
from skdp.mixture._kernels._sections import (
    bring_in_random_order,
    draw_below,
    drop_cluster,
    is_pinned,
    list_all_members,
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
            worn = needs_rebuild(kind, 0, three) or needs_rebuild(kind, 1, three)
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


# Moves that split and merge clusters of many rows.
#
# They differ from the moves above in the work per row. An initial pair of clusters is found for a
# random sample of rows, by two means and Gibbs sampling. If this pair is not better than one
# cluster, the move mostly ends; whether it continues depends only on the initial pair, not on the
# current clusters of rows, and so has the same probability for a split and for the merge that
# undoes it. All rows then choose a side given the statistics of the initial pair, twice: given the
# first choices, the second choice is the proposal, independent for all rows. In a merge the second
# choice is fixed to the current clusters.
#
# The probability of these choices can only reduce the acceptance ratio of a merge: it is rejected
# before any choice is made if the ratio is already too small.
#
# The side of pinned rows depends on the first two rows drawn, as above. A move needs at least two
# rows, all of one group, and room for one more cluster. Other symbols are as above.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | members, ends | | (N,), (C + 1,) int64 | rows of all clusters, see `list_all_members` |
# | five | | C = 5 | the initial pair, the two clusters of a split, and both together |
# | weights, five_logs | | (2, C + 1), (5,) | scratch |
# | sample, sample_sides | | (2, S + 2) int64, (3, S + 2) int8 | scratch, as `members` and `sides` |
# | found, sides | | (N,) int64, (N,) int8 | scratch |


SAMPLE = 1000
"""Number of sampled rows of an initial pair; all rows if there are fewer."""

N_ROUNDS = 2
"""Rounds in which all rows choose sides if the initial pair has only a sample of them."""

BRAVERY = 0.05
"""Probability that a move continues if its initial pair is no better than one cluster."""


@njit_internal_nogc
def find_row(place, first, second, members, ends):
    """Return a row of two clusters (or of one, passed twice) by its position."""
    size = ends[first + 1] - ends[first]
    if place < size:
        return members[ends[first] + place]
    return members[ends[second] + place - size]


@njit_internal_nogc
def draw_any_row(labels, n_clusters, members, ends, rng):
    """Draw the first row of a move: a random row, or a random row of a random cluster."""
    if next_double(rng) < 0.5:
        return draw_below(labels.shape[0], rng)
    k = draw_below(n_clusters, rng)
    return members[ends[k] + draw_below(ends[k + 1] - ends[k], rng)]


@njit_internal_nogc
def draw_sample(n, i, j, first, second, members, ends, sample, rng):
    """Write a random sample of the n rows of two clusters, with i and j last; return its size."""
    room, m = sample.shape[0] - 2, 0
    if n - 2 <= room:  # each row once
        for place in range(n):
            row = find_row(place, first, second, members, ends)
            if row != i and row != j:
                sample[m] = row
                m += 1
        bring_in_random_order(sample[:m], rng)
    while m < min(room, n - 2):
        row = find_row(draw_below(n, rng), first, second, members, ends)
        if row != i and row != j:
            sample[m] = row
            m += 1
    sample[m], sample[m + 1] = i, j
    return m + 2


@njit_internal_nogc
def bring_free_to_front(m, sample, pinned):
    """Put the pinned ones of the first m rows of a sample last; return the number of the others."""
    n_free = 0
    for place in range(m):
        if not is_pinned(sample[place], pinned):
            sample[n_free], sample[place] = sample[place], sample[n_free]
            n_free += 1
    return n_free


@njit_internal_nogc
def may_move_large(is_merge, n, i, j, first, second, members, ends, pinned):
    """Return whether the pinned rows allow a split or merge, and its reverse can be proposed."""
    side, size = is_pinned(j, pinned), ends[first + 1] - ends[first]
    possible = not (is_pinned(i, pinned) and side)
    if is_merge:
        for place in range(n):
            if pinned[find_row(place, first, second, members, ends)]:
                possible &= (place >= size) == side
    return possible


@njit_inlined_source
def choose_sides(
    kind, n, i, j, first, second, members, ends, is_merge, rows, prior, five, discount, pinned,
    scratch, pair, sides, rng,
):  # fmt: skip
    """Draw the sides of n rows given two fixed clusters; return the log probability."""
    sizes, log_chance = five.vectors[SIZE], 0.0
    log_odds = math.log((sizes[1] - discount) / (sizes[0] - discount))
    size = ends[first + 1] - ends[first]
    for place in range(n):
        row = find_row(place, first, second, members, ends)
        weigh_row(kind, row, rows, prior, five, 2, -1, scratch, pair)
        odds = pair[1] - pair[0] + log_odds
        side = int(next_double(rng) * (1.0 + math.exp(-odds)) < 1.0)
        if is_merge:  # the side of the current cluster
            side = int(place >= size)
        if row in (i, j):
            side = int(row == j)
        elif is_pinned(row, pinned):
            side = int(pinned[j])
        else:
            odds = odds if side == 1 else -odds
            log_chance -= max(-odds, 0.0) + math.log1p(math.exp(-abs(odds)))
        sides[place] = side
    return log_chance


@njit_inlined_source
def build_sides(
    kind, begin, n, first, second, members, ends, rows, prior, five, sides, found, scratch
):
    """Build clusters begin and begin + 1 from the rows on the two sides."""
    possible = True
    for side in range(2):
        m = 0
        for place in range(n):
            if sides[place] == side:
                found[m] = find_row(place, first, second, members, ends)
                m += 1
        possible &= build_cluster(kind, begin + side, found[:m], rows, prior, five, scratch)
    return possible


@njit_inlined_source
def move_large_clusters(
    kind, rows, prior, clusters, five, n_clusters, labels, pinned, members, ends, discount,
    concentration, group_counts, weights, five_logs, sample, sample_sides, found, sides, scratch,
    rng,
):  # fmt: skip
    """Propose a split or merge; return the number of clusters, or -1 if that is impossible."""
    group_counts.priors[0] = group_counts.priors[1] = -discount
    n_rows, sizes, possible = labels.shape[0], clusters.vectors[SIZE], True
    i = draw_any_row(labels, n_clusters, members, ends, rng)
    first = second = labels[i]
    is_merge = next_double(rng) >= split_chance(n_clusters, sizes[first])
    log_u = math.log1p(-next_double(rng))
    weigh_row(kind, i, rows, prior, clusters, n_clusters, -1, scratch, weights[0])
    if is_merge:
        weigh_partners(n_clusters, first, weights)
        second = draw_partner(n_clusters, weights[1], rng)
    j = i
    while j == i:
        j = members[ends[second] + draw_below(ends[second + 1] - ends[second], rng)]
    n_merged = n_clusters - is_merge
    n = int(sizes[first] + is_merge * sizes[second])
    if pinned.shape[0] > 0 and not may_move_large(
        is_merge, n, i, j, first, second, members, ends, pinned
    ):
        return n_clusters
    log_weight = math.log(concentration + discount * n_merged)
    log_ratio = 0.0  # of a merge, without the choices of the rows
    if is_merge:
        for place in range(n):
            found[place] = find_row(place, first, second, members, ends)
        possible &= build_cluster(kind, 4, found[:n], rows, prior, five, scratch)
        log_ratio = log_prior_and_evidence(kind, 4, prior, five, discount) - log_weight
        for k in (first, second):
            log_ratio -= log_prior_and_evidence(kind, k, prior, clusters, discount)
        log_ratio += log_choice_of_split(n_rows, n_merged, sizes[first] + sizes[second])
        log_ratio -= log_choice(n_rows, n_clusters, sizes[first], sizes[second], weights[1, second])
        if log_u >= log_ratio:
            return n_clusters if possible else -1

    m = draw_sample(n, i, j, first, second, members, ends, sample[0], rng)
    n_free = bring_free_to_front(m - 2, sample[0], pinned)
    halve(
        kind, m, sample[0], next_double(rng) < 0.5, rows, prior, five, scratch, sample[1],
        sample_sides[0],
    )  # fmt: skip
    settle_pinned(n_free, m, sample[0], pinned, sample_sides[0])
    log_way = 0.0
    for _ in range(FEW_PASSES if next_double(rng) < 0.5 else MANY_PASSES):
        fits, log_way = pass_over(
            kind,
            n_free,
            m,
            sample,
            sample_sides,
            False,
            rows,
            prior,
            five,
            group_counts,
            scratch,
            five_logs,
            rng,
        )
        possible &= fits
    n_rounds = 1
    if m < n:
        n_rounds = N_ROUNDS
        # Index 4 holds both clusters together, and a merge still needs it.
        possible &= build_cluster(kind, 2, sample[0, :m], rows, prior, five, scratch)
        gain = log_weight - log_way - log_prior_and_evidence(kind, 2, prior, five, discount)
        for k in range(2):
            gain += log_prior_and_evidence(kind, k, prior, five, discount)
        if gain < 0.0 and next_double(rng) >= BRAVERY:
            return n_clusters if possible else -1

    for number in range(n_rounds):
        is_last = number == n_rounds - 1
        log_way = choose_sides(
            kind, n, i, j, first, second, members, ends, is_merge and is_last, rows, prior, five,
            discount, pinned, scratch, five_logs, sides, rng,
        )  # fmt: skip
        if not (is_merge and is_last):
            possible &= build_sides(
                kind, 2 * is_last, n, first, second, members, ends, rows, prior, five, sides, found,
                scratch,
            )  # fmt: skip
    if is_merge:
        log_ratio += log_way
    else:
        weigh_row(kind, i, rows, prior, five, 4, -1, scratch, five_logs)
        weights[0, n_clusters] = five_logs[3]
        weigh_partners(n_clusters + 1, first, weights)
        log_ratio = log_weight - log_way
        log_ratio -= log_prior_and_evidence(kind, first, prior, clusters, discount)
        for k in range(2, 4):
            log_ratio += log_prior_and_evidence(kind, k, prior, five, discount)
        after = five.vectors[SIZE]
        log_ratio += log_choice(n_rows, n_clusters + 1, after[2], after[3], weights[1, n_clusters])
        log_ratio -= log_choice_of_split(n_rows, n_clusters, sizes[first])
    if log_u < log_ratio:
        for place in range(n):
            row = find_row(place, first, second, members, ends)
            labels[row] = first if is_merge or sides[place] == 0 else n_clusters
        if is_merge:
            copy_cluster(kind, five, 4, clusters, first)
            drop_cluster(kind, second, clusters, n_clusters, labels)
        else:
            copy_cluster(kind, five, 2, clusters, first)
            copy_cluster(kind, five, 3, clusters, n_clusters)
        n_clusters = n_merged + 1 - is_merge
        list_all_members(n_clusters, labels, members, ends)
    return n_clusters if possible else -1
