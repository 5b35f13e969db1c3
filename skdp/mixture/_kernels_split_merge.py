r"""Sequentially allocated moves that split a cluster or merge two (Dahl, 2005).

Two rows are drawn. If they share a cluster, its other rows join one of the two, one after the
other in random order, each with the probability that the rows before it give; else the two clusters
are merged, and the same order tells how probable the way back is. Names as in `_kernels_sweep`.

| name | shape | meaning |
|---|---|---|
| three | C = 3 | clusters of the first row, of the second, and of both |
| members | (N,) int64 | rows of the clusters, scratch |
| sides | (N,) int8 | which of the two rows each of them joins, scratch |
"""

# mypy: ignore-errors

import math

from skdp._numba import njit_inner, njit_loop
from skdp._random import next_double
from skdp.emissions._kernels_clusters import (
    build_cluster,
    copy_cluster,
    log_evidence,
    move_row,
    weigh_row,
)
from skdp.mixture._kernels_sweep import draw_below, drop_cluster, shuffle


@njit_inner
def log_sizes_ratio(first, second, discount):
    """Return the log of the ratio of prior probabilities: two clusters to one, but for b + a K."""
    result = math.lgamma(first - discount) + math.lgamma(second - discount)
    return result - math.lgamma(first + second - discount) - math.lgamma(1.0 - discount)


@njit_inner
def allocate(kind, members, sides, is_split, rows, prior, three, discount, scratch, weights, rng):
    """Let rows join clusters 0 or 1 of `three`; return the log probability of how they do.

    Parameters
    ----------
    members, sides : (n,) int64, (n,) int8
        Rows in order, and which cluster each joins: an output of a split, given otherwise.
    """
    result = 0.0
    for place in range(members.shape[0]):
        i = members[place]
        weigh_row(kind, i, rows, prior, three, 2, -1, scratch, weights)
        odds = weights[1] - weights[0]
        odds += math.log((three.sizes[1] - discount) / (three.sizes[0] - discount))
        share = 1.0 / (1.0 + math.exp(-odds))  # of cluster 1
        if is_split:
            sides[place] = next_double(rng) < share
        if sides[place] == 0:
            odds = -odds
        result -= max(-odds, 0.0) + math.log1p(math.exp(-abs(odds)))
        move_row(kind, i, sides[place], 1.0, rows, prior, three, scratch)
    return result


@njit_inner
def gather(labels, i, j, members, rng):
    """Write the other rows of the clusters of i and j in random order; return how many."""
    n, k, other = 0, labels[i], labels[j]
    for row in range(labels.shape[0]):
        if (labels[row] == k or labels[row] == other) and row != i and row != j:
            members[n] = row
            n += 1
    shuffle(members[:n], rng)
    return n


@njit_loop
def split_or_merge(
    kind, n_tries, rows, prior, clusters, three, n_clusters, labels, discount, concentration,
    weights, members, sides, scratch, rng,
):  # fmt: skip
    """Propose so many splits or merges; return how many clusters there are, -1: an error.

    There must be room for `n_tries` more clusters, and two rows.
    """
    n_rows = labels.shape[0]
    for _ in range(n_tries):
        i, j = draw_below(n_rows, rng), draw_below(n_rows - 1, rng)
        j += j >= i
        k, other = labels[i], labels[j]
        is_split = k == other
        n = gather(labels, i, j, members, rng)
        for place in range(n):
            sides[place] = labels[members[place]] != k
        members[n], members[n + 1] = i, j
        possible = build_cluster(kind, 0, members[n : n + 1], rows, prior, three, scratch)
        possible &= build_cluster(kind, 1, members[n + 1 : n + 2], rows, prior, three, scratch)
        if not possible:
            return -1
        log_forth = allocate(
            kind, members[:n], sides[:n], is_split, rows, prior, three, discount, scratch,
            weights, rng,
        )  # fmt: skip
        gain = log_evidence(kind, 0, prior, three) + log_evidence(kind, 1, prior, three)
        gain += log_sizes_ratio(three.sizes[0], three.sizes[1], discount)
        log_u = math.log1p(-next_double(rng))
        if is_split:
            gain += math.log(concentration + discount * n_clusters)
            gain -= log_evidence(kind, k, prior, clusters)
            if log_u < gain - log_forth:
                for place in range(n):
                    if sides[place]:
                        labels[members[place]] = n_clusters
                labels[j] = n_clusters
                copy_cluster(three, 0, clusters, k)
                copy_cluster(three, 1, clusters, n_clusters)
                n_clusters += 1
            continue
        gain += math.log(concentration + discount * (n_clusters - 1.0))
        if not build_cluster(kind, 2, members[: n + 2], rows, prior, three, scratch):
            return -1
        gain -= log_evidence(kind, 2, prior, three)
        if log_u < log_forth - gain:
            for place in range(n + 2):
                labels[members[place]] = k
            copy_cluster(three, 2, clusters, k)
            n_clusters = drop_cluster(other, clusters, n_clusters, labels)
    return n_clusters
