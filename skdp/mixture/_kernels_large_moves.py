r"""Moves that split and merge clusters of many rows: the sections of kernels.

They differ from those of `_kernels_moves` in what they do for a row. A beginning is found for some
rows at random, by two means and Gibbs sampling. If two clusters are not better than one even there,
the move mostly ends; whether it goes on depends on the beginning alone, and not on where rows are, and so
has the same probability for a split and for the merge that undoes it. All rows of the clusters then
choose a side given the statistics of the beginning, twice: given what they chose at first, the second
choice is the proposal, independent for all rows. A merge makes the second choice where the rows are.

What a merge multiplies by the probability of these choices can only get smaller: it is rejected before
any choice is made if that is too small.

| name | symbol | shape | meaning |
|---|---|---|---|
| kind, rows, prior, clusters, scratch | | | see `skdp.emissions._kernels_clusters` |
| labels | z_i | (N,) int64 | cluster of a row, from 0 to K - 1 |
| members, ends | | (N,), (C + 1,) int64 | rows of all clusters, see `list_all_members` |
| discount, concentration | a, b | scalars | |
| five | | C = 5 | the two clusters of a beginning, those of a split, and both together |
| weights, five_logs | | (2, C + 1), (5,) | scratch |
| sample, sample_sides | | (2, S + 2) int64, (3, S + 2) int8 | rows of the beginning, the two first ones last; scratch |
| found, sides | | (N,) int64, (N,) int8 | scratch |
| rng | | (4,) uint64 | stream, advanced in place |
"""  # noqa: E501

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc
from skdp._numeric._random import next_double
from skdp.emissions._kernels_clusters import SIZE, build_cluster, copy_cluster, halve, weigh_row
from skdp.mixture._kernels_moves import (
    FEW_PASSES,
    MANY_PASSES,
    draw_partner,
    log_choice,
    log_choice_of_split,
    log_prior_and_evidence,
    pass_over,
    split_chance,
    weigh_partners,
)
from skdp.mixture._kernels_sections import (
    bring_in_random_order,
    draw_below,
    drop_cluster,
    list_all_members,
)

SAMPLE = 1000
"""Rows of a beginning; of fewer, all."""

N_ROUNDS = 2
"""Choices of sides of all rows, where a beginning has not had all."""

BRAVERY = 0.05
"""Probability to go on from a beginning that is no better than one cluster."""


@njit_internal_nogc
def find_row(place, first, second, members, ends):
    """Return one of the rows of two clusters (or one, twice named), by its place."""
    size = ends[first + 1] - ends[first]
    if place < size:
        return members[ends[first] + place]
    return members[ends[second] + place - size]


@njit_internal_nogc
def draw_any_row(labels, n_clusters, members, ends, rng):
    """Return the first row of a move: any row, or any row of any cluster."""
    if next_double(rng) < 0.5:
        return draw_below(labels.shape[0], rng)
    k = draw_below(n_clusters, rng)
    return members[ends[k] + draw_below(ends[k + 1] - ends[k], rng)]


@njit_internal_nogc
def draw_sample(n, i, j, first, second, members, ends, sample, rng):
    """Write rows at random of n in two clusters, i and j last; return how many.

    If there is room for all of them, each once.
    """
    room, m = sample.shape[0] - 2, 0
    if n - 2 <= room:
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


@njit_inlined_source
def choose_sides(
    kind, n, i, j, first, second, members, ends, is_merge, rows, prior, five, discount, scratch,
    pair, sides, rng,
):  # fmt: skip
    """Draw the sides of n rows given two clusters that stay as they are; return their log chance.

    Parameters
    ----------
    is_merge : bool
        Whether each row is on the side of its cluster, instead of being drawn.
    """
    sizes, log_chance = five.vectors[SIZE], 0.0
    log_odds = math.log((sizes[1] - discount) / (sizes[0] - discount))
    size = ends[first + 1] - ends[first]
    for place in range(n):
        row = find_row(place, first, second, members, ends)
        weigh_row(kind, row, rows, prior, five, 2, -1, scratch, pair)
        odds = pair[1] - pair[0] + log_odds
        side = int(next_double(rng) * (1.0 + math.exp(-odds)) < 1.0)
        if is_merge:
            side = int(place >= size)
        if row in (i, j):
            side = int(row == j)
        else:
            odds = odds if side == 1 else -odds
            log_chance -= max(-odds, 0.0) + math.log1p(math.exp(-abs(odds)))
        sides[place] = side
    return log_chance


@njit_inlined_source
def build_sides(
    kind, begin, n, first, second, members, ends, rows, prior, five, sides, found, scratch
):
    """Build two clusters, begin and begin + 1, of the rows on two sides."""
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
    kind, rows, prior, clusters, five, n_clusters, labels, members, ends, discount, concentration,
    group_counts, weights, five_logs, sample, sample_sides, found, sides, scratch, rng,
):  # fmt: skip
    """Propose a split or merge; return the number of clusters, -1 where that is impossible.

    There must be room for one more cluster, and two rows; all rows are of one group.
    """
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
    log_weight = math.log(concentration + discount * n_merged)
    log_ratio = 0.0  # of a merge, but for the choices of the rows
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
    halve(kind, m, sample[0], next_double(rng) < 0.5, rows, prior, five, sample_sides[0])
    log_way = 0.0
    for _ in range(FEW_PASSES if next_double(rng) < 0.5 else MANY_PASSES):
        fits, log_way = pass_over(
            kind,
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
        # Place 4 has both clusters, as a merge needs them.
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
            discount, scratch, five_logs, sides, rng,
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
