r"""Moves that split and merge clusters: the sections of kernels.

| name | symbol | shape | meaning |
|---|---|---|---|
| kind, rows, prior, clusters, scratch | | | see `skdp.emissions._kernels_clusters` |
| labels | z_i | (N,) int64 | cluster of a row, from 0 to K - 1 |
| discount, concentration | a, b | scalars | |
| weights | | (C + 1,) | scratch |
| members | | (2, N) int64 | rows of the move, the two first ones last; scratch |
| three | | C = 3 | clusters of the first row of a move, of the second, and of both |
| sides | | (2, N) int8 | which of the two rows each of the members is with (-1: neither), and, in a merge, where it is; scratch |
| rng | | (4,) uint64 | stream, advanced in place |

A first row is drawn, then whether its cluster is split or merged. In a split the second row is
another of its cluster, in a merge one of another cluster, of which those are preferred that the first
row would join. The other rows of the two begin on sides that know nothing of where they are: those
of two means, or nowhere. Passes of Gibbs sampling over the two clusters follow (Jain and Neal, 2004).
The last one is the proposal of a split; for a merge the same pass is made to end where the rows are, and
tells how probable the way back is. With one pass from nowhere this would be Dahl's sampler (2005).
"""  # noqa: E501

# mypy: ignore-errors

import math

from skdp._numba import njit_inner, njit_section
from skdp._random import next_double
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
    rename,
)

FEW_PASSES, MANY_PASSES = 2, 5
"""Of Gibbs sampling over the rows of a move, by turns; the last one is the proposal.

Few are cheap, and many bring rows to where they belong if there are dozens of columns.
"""


@njit_inner
def find_member(labels, k, place, left_out):
    """Return the row of cluster k that has so many before it, one row left out (-1: none)."""
    for i in range(labels.shape[0]):
        if labels[i] == k and i != left_out:
            if place == 0:
                return i
            place -= 1
    return -1


@njit_inner
def draw_row(labels, sizes, n_clusters, rng):
    """Return the first row of a move: any row, or any row of any cluster."""
    if next_double(rng) < 0.5:
        return draw_below(labels.shape[0], rng)
    k = draw_below(n_clusters, rng)
    return find_member(labels, k, draw_below(int(sizes[k]), rng), -1)


@njit_inner
def row_chance(n_rows, n_clusters, size):
    """Return the probability that `draw_row` returns some row of a cluster of this size."""
    return 0.5 / n_rows + 0.5 / (n_clusters * size)


@njit_inner
def split_chance(n_clusters, size):
    """Return the probability that a cluster of this size is split, not merged."""
    if n_clusters == 1:
        return 1.0
    return 0.5 if size > 1.5 else 0.0


@njit_inner
def weigh_partners(n, own, weights):
    """Turn log densities of a row under n clusters into chances that each is merged with its own.

    Half of them are equal, so that no merge is out of reach.
    """
    largest, total = -math.inf, 0.0
    weights[own] = -math.inf
    for k in range(n):
        largest = max(largest, weights[k])
    for k in range(n):
        weights[k] = math.exp(weights[k] - largest)
        total += weights[k]
    for k in range(n):
        weights[k] = 0.5 * weights[k] / total + 0.5 / (n - 1)
    weights[own] = 0.0


@njit_inner
def draw_partner(n, weights, rng):
    """Return a cluster by its chance."""
    rest, last = next_double(rng), 0
    for k in range(n):
        if weights[k] > 0.0:
            rest -= weights[k]
            last = k
            if rest < 0.0:
                break
    return last


@njit_inner
def gather(labels, i, j, members, goal, rng):
    """Write the rows of the clusters of i and j, these two last; return how many they are.

    The others are in random order. Which have not the label of i goes to `goal`.
    """
    n, first, second = 0, labels[i], labels[j]
    for row in range(labels.shape[0]):
        if (labels[row] == first or labels[row] == second) and row != i and row != j:
            members[n] = row
            n += 1
    bring_in_random_order(members[:n], rng)
    members[n], members[n + 1] = i, j
    for place in range(n):
        goal[place] = labels[members[place]] != first
    goal[n], goal[n + 1] = 0, 1
    return n + 2


@njit_inner
def list_side(side, n, members, sides, found):
    """Write the members on a side; return how many they are."""
    m = 0
    for place in range(n):
        if sides[place] == side:
            found[m] = members[place]
            m += 1
    return m


@njit_section
def pass_over(kind, n, members, sides, has_goal, rows, prior, three, discount, scratch, pair, rng):
    """Draw the sides of all rows but the last two, each given the others.

    Parameters
    ----------
    has_goal : bool
        Whether each row goes where ``sides[1]`` says instead of being drawn.
    pair : (2,) float64
        Scratch.

    Returns
    -------
    possible : bool
        False if a covariance is not positive definite to rounding.
    log_chance : float
        Log probability of what the rows did.
    """
    possible, log_chance, sizes, place, worn = True, 0.0, three.vectors[SIZE], 0, True
    while worn or place < n - 2:
        if worn:
            for side in range(2):
                m = list_side(side, n, members[0], sides[0], members[1])
                possible &= build_cluster(
                    kind, side, members[1][:m], rows, prior, three, scratch
                )  # fmt: skip
        worn = False
        if place < n - 2:
            i, own = members[0, place], int(sides[0, place])
            chosen = own
            if weigh_row(kind, i, rows, prior, three, 2, own, scratch, pair):
                second = sizes[1] - (own == 1) - discount
                odds = pair[1] - pair[0] + math.log(second / (sizes[0] - (own == 0) - discount))
                chosen = int(next_double(rng) * (1.0 + math.exp(-odds)) < 1.0)
                if has_goal:
                    chosen = int(sides[1, place])
                odds = odds if chosen == 1 else -odds
                log_chance -= max(-odds, 0.0) + math.log1p(math.exp(-abs(odds)))
            elif has_goal and sides[1, place] != own:
                log_chance = -math.inf  # a row too far out for its density stays where it is
            sides[0, place] = chosen
            if chosen != own:
                move_row(kind, i, chosen, 1.0, rows, prior, three, scratch)
                if own >= 0:
                    move_row(kind, i, own, -1.0, rows, prior, three, scratch)
            worn = is_worn(kind, 0, three) or is_worn(kind, 1, three)
            place += 1
    return possible, log_chance


@njit_inner
def log_sizes_ratio(first, second, discount):
    """Return the log of the ratio of prior probabilities: two clusters to one, but for b + a K."""
    result = math.lgamma(first - discount) + math.lgamma(second - discount)
    return result - math.lgamma(first + second - discount) - math.lgamma(1.0 - discount)


@njit_inner
def log_choices_ratio(n_rows, n_clusters, first, second, partner_chance):
    """Return the log of the chance of a merge's two rows to that of the split that undoes it.

    Parameters
    ----------
    n_clusters : int
        Before the split.
    first, second : float
        Sizes of the clusters of the first and of the second row.
    partner_chance : float
        That the second one's cluster is chosen.
    """
    both = first + second
    merge = row_chance(n_rows, n_clusters + 1, first) * (1.0 - split_chance(n_clusters + 1, first))
    split = row_chance(n_rows, n_clusters, both) * split_chance(n_clusters, both)
    return math.log(merge * partner_chance / second) - math.log(split / (both - 1.0))


@njit_section
def split_or_merge(
    kind, rows, prior, clusters, three, n_clusters, labels, discount, concentration, weights, pair,
    members, sides, scratch, rng,
):  # fmt: skip
    """Propose a split or a merge; return the number of clusters, -1 where that is impossible.

    There must be room for one more cluster, and two rows.
    """
    n_rows, sizes = labels.shape[0], clusters.vectors[SIZE]
    i = draw_row(labels, sizes, n_clusters, rng)
    first = labels[i]
    is_split = next_double(rng) < split_chance(n_clusters, sizes[first])
    weigh_row(kind, i, rows, prior, clusters, n_clusters, -1, scratch, weights)
    second, left_out, n_before = first, i, n_clusters
    if not is_split:
        weigh_partners(n_clusters, first, weights)
        second, left_out = draw_partner(n_clusters, weights, rng), -1
        n_before = n_clusters - 1
    n_choices = int(sizes[second]) - is_split
    j = find_member(labels, second, draw_below(n_choices, rng), left_out)
    n = gather(labels, i, j, members[0], sides[1], rng)
    halve(kind, n, members[0], next_double(rng) < 0.5, rows, prior, three, sides[0])
    possible, log_way = True, 0.0
    n_passes = FEW_PASSES if next_double(rng) < 0.5 else MANY_PASSES
    for number in range(n_passes):
        has_goal = number == n_passes - 1 and not is_split
        fits, log_way = pass_over(
            kind, n, members, sides, has_goal, rows, prior, three, discount, scratch, pair, rng
        )
        possible &= fits
    if is_split:
        weigh_row(kind, i, rows, prior, three, 2, -1, scratch, pair)
        weights[n_clusters] = pair[1]
        weigh_partners(n_clusters + 1, first, weights)
        second = n_clusters
    possible &= build_cluster(kind, 2, members[0][:n], rows, prior, three, scratch)
    gain = -log_evidence(kind, 2, prior, three)
    for side in range(2):
        gain += log_evidence(kind, side, prior, three)
    sizes = three.vectors[SIZE]
    gain += log_sizes_ratio(sizes[0], sizes[1], discount)
    gain += math.log(concentration + discount * n_before)
    gain += log_choices_ratio(n_rows, n_before, sizes[0], sizes[1], weights[second])
    log_u = math.log1p(-next_double(rng))
    accepted = log_u < (gain - log_way if is_split else log_way - gain)
    if accepted and is_split:
        for place in range(n):
            if sides[0, place] == 1:
                labels[members[0, place]] = n_clusters
        copy_cluster(kind, three, 0, clusters, first)
        copy_cluster(kind, three, 1, clusters, n_clusters)
        n_clusters += 1
    elif accepted:
        rename(labels, second, first)
        copy_cluster(kind, three, 2, clusters, first)
        drop_cluster(kind, second, clusters, n_clusters, labels)
        n_clusters -= 1
    return n_clusters if possible else -1
