r"""Moves that split and merge clusters of many rows: inlined sections of kernels.

They differ from the moves of `_kernels_moves` in the work per row. An initial pair of clusters is
found for a random sample of rows, by two means and Gibbs sampling. If this pair is not better than
one cluster, the move mostly ends; whether it continues depends only on the initial pair, not on the
current clusters of rows, and so has the same probability for a split and for the merge that
undoes it. All rows then choose a side given the statistics of the initial pair, twice: given the
first choices, the second choice is the proposal, independent for all rows. In a merge the second
choice is fixed to the current clusters.

The probability of these choices can only reduce the acceptance ratio of a merge: it is rejected
before any choice is made if the ratio is already too small.

The side of pinned rows depends on the first two rows drawn, as in `_kernels_moves`. A move needs at
least two rows, all of one group, and room for one more cluster.

| name | symbol | shape | meaning |
|---|---|---|---|
| kind, rows, prior, clusters, scratch | | | see `skdp.emissions._kernels_clusters` |
| labels | z_i | (N,) int64 | cluster of a row, from 0 to K - 1 |
| pinned | | (N,) bool | rows with a known label, see `is_pinned` |
| members, ends | | (N,), (C + 1,) int64 | rows of all clusters, see `list_all_members` |
| discount, concentration | a, b | scalars | |
| five | | C = 5 | the initial pair, the two clusters of a split, and both together |
| weights, five_logs | | (2, C + 1), (5,) | scratch |
| sample, sample_sides | | (2, S + 2) int64, (3, S + 2) int8 | rows of the initial pair: free rows, pinned rows, and last the first two drawn; scratch |
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
    settle_pinned,
    split_chance,
    weigh_partners,
)
from skdp.mixture._kernels_sections import (
    bring_in_random_order,
    draw_below,
    drop_cluster,
    is_pinned,
    list_all_members,
)

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
