r"""Blocked sweeps: the clusters of all rows at once, given parameters and weights; and single rows.

Rows have random times. The first row of a cluster stays; every other one is drawn among the
clusters whose first rows come before it. The draws cannot change which rows come first: no cluster
becomes empty, no new cluster is needed, and all rows are independent given the parameters and
weights of the existing clusters. Pinned rows stay. They keep their cluster from becoming empty, so
its first row may leave it: the time of a pinned row is 0 here, before all others.

Separate steps open and remove singleton clusters. A random row leaves its cluster, or a random
cluster, if it has one row, is merged with another, chosen by the densities of the row. With
Z = sum over clusters of (n_l - a) f(x_i | X_l), without the row, the first move is accepted with
probability (b + a K) f(x_i) N / (Z (K + 1)), and the second with the reciprocal of this probability
for its reverse move.

| name | symbol | shape | meaning |
|---|---|---|---|
| kind, rows, prior, clusters, scratch | | | see `skdp.emissions._kernels._clusters` |
| drawn | | | see `skdp.emissions._kernels._clusters` |
| labels | z_i | (N,) int64 | cluster of a row; -1: none yet |
| pinned | | (N,) bool | rows with a known label, see `is_pinned` |
| firsts | | (K,) | times of the first rows of the clusters |
| first_block, n_blocks | | scalars | blocks of BLOCK rows, each with its own streams |
| key | | (4,) uint64 | key of the streams of blocks |
| log_alone | log f(x_i) | (N,) | log density of each row in its own cluster |
| discount, concentration | a, b | scalars | |
| row_sums | | (C,) int64 | sums of the indices of a cluster's rows, for a singleton its row |
| members, weights, lines | | (N,) int64, (C + 1,), (4, K) | scratch |
| times | | (4,) uint64 | scratch: stream of a block for the times of rows |
| rng | | (4,) uint64 | stream, advanced in place; or scratch for the stream of a block |

-1 clusters: a covariance is not positive definite to rounding.
"""

# mypy: ignore-errors

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from skdp._numeric._arithmetic import fast_exp
from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_log_gamma, next_double, stream_of_number
from skdp.emissions._kernels._clusters import (
    AUGMENTED,
    SIZE,
    build_cluster,
    copy_cluster,
    draw_parameters,
    draw_rest_given,
    move_row,
    needs_rebuild,
    weigh_row,
    weigh_row_given,
)
from skdp.mixture._kernels._moves import move_large_clusters as _move_large_clusters
from skdp.mixture._kernels._sections import (
    draw_below,
    is_pinned,
    list_all_members,
    list_members,
    rename,
)

BLOCK = 8192
"""Number of rows per stream. Draws depend on it, but not on the thread that draws a block."""


class BlockedKernels(NamedTuple):
    """Kernels for rows of one kind."""

    move_large: Callable
    stir: Callable
    draw_all_parameters: Callable
    draw_rows: Callable


@njit_loop
def find_firsts(first_block, n_blocks, labels, pinned, key, firsts, rng):
    """Write the times of the first rows of all clusters in some blocks; 1.0 if there is none."""
    for k in range(firsts.shape[0]):
        firsts[k] = 1.0
    for block in range(first_block, first_block + n_blocks):
        stream_of_number(key, 2 * block, rng)
        for i in range(block * BLOCK, min((block + 1) * BLOCK, labels.shape[0])):
            time = next_double(rng)
            firsts[labels[i]] = min(firsts[labels[i]], 0.0 if is_pinned(i, pinned) else time)


@njit_loop
def sum_rows(labels, row_sums):
    """Write the sums of the row indices of all clusters."""
    for k in range(row_sums.shape[0]):
        row_sums[k] = 0
    for i in range(labels.shape[0]):
        row_sums[labels[i]] += i


@njit_internal_nogc
def draw_among(n, time, firsts, logs, rng):
    """Return a draw by `logs`, overwritten, from the clusters whose first rows precede a time."""
    largest, total, last = -math.inf, 0.0, 0
    for k in range(n):
        largest = max(largest, logs[k] if firsts[k] < time else -math.inf)
    for k in range(n):
        weight = fast_exp(min(logs[k] - largest, 0.0))
        logs[k] = weight if firsts[k] < time else 0.0
    for k in range(n):
        total += logs[k]
    rest = next_double(rng) * total
    for k in range(n):
        rest -= logs[k]
        if rest < 0.0:
            return k
        if logs[k] > 0.0:
            last = k
    return last


@njit_internal_nogc
def weigh_seats(n, left_out, less, sizes, discount, weights):
    """Replace log densities `weights` by shares of n clusters; return the log of their sum.

    `left_out` cannot be chosen, and `less` has one row less than in `sizes`; -1: no such cluster.
    """
    largest, total = -math.inf, 0.0
    for k in range(n):
        if k != left_out:
            weights[k] += math.log(sizes[k] - (k == less) - discount)
            largest = max(largest, weights[k])
    for k in range(n):
        weights[k] = math.exp(weights[k] - largest) if k != left_out else 0.0
        total += weights[k]
    for k in range(n):
        weights[k] /= total
    return largest + math.log(total)


@njit_inlined_source
def leave(
    kind, i, rows, prior, clusters, n_clusters, labels, log_alone, discount, concentration, weights,
    members, row_sums, scratch, rng,
):  # fmt: skip
    """Propose that row i opens a cluster; return the number of clusters, -1 if impossible."""
    sizes, own, possible = clusters.vectors[SIZE], labels[i], True
    seat = own
    if not weigh_row(kind, i, rows, prior, clusters, n_clusters, own, scratch, weights):
        labels[i] = -1
        n = list_members(labels, own, members)
        possible = build_cluster(kind, own, members[:n], rows, prior, clusters, scratch)
        seat = -1
        weigh_row(kind, i, rows, prior, clusters, n_clusters, seat, scratch, weights)
    log_seats = weigh_seats(n_clusters, -1, seat, sizes, discount, weights)
    log_ratio = math.log(concentration + discount * n_clusters) + log_alone[i] - log_seats
    log_ratio += math.log(labels.shape[0] / (n_clusters + 1.0))
    if math.log1p(-next_double(rng)) < log_ratio:
        possible &= build_cluster(kind, n_clusters, members[:0], rows, prior, clusters, scratch)
        move_row(kind, i, n_clusters, 1.0, rows, prior, clusters, scratch)
        labels[i] = n_clusters
        row_sums[own] -= i
        row_sums[n_clusters] = i
        if seat >= 0:
            move_row(kind, i, own, -1.0, rows, prior, clusters, scratch)
        n_clusters += 1
    elif seat < 0:
        move_row(kind, i, own, 1.0, rows, prior, clusters, scratch)
        labels[i] = own
    if needs_rebuild(kind, own, clusters):
        n = list_members(labels, own, members)
        possible &= build_cluster(kind, own, members[:n], rows, prior, clusters, scratch)
    return n_clusters if possible else -1


@njit_inlined_source
def join(
    kind, k, rows, prior, clusters, n_clusters, labels, log_alone, discount, concentration, weights,
    members, row_sums, scratch, rng,
):  # fmt: skip
    """Propose that the only row of cluster k joins another; return the number of clusters."""
    sizes, i, last, possible = clusters.vectors[SIZE], row_sums[k], n_clusters - 1, True
    weigh_row(kind, i, rows, prior, clusters, n_clusters, -1, scratch, weights)
    log_seats = weigh_seats(n_clusters, k, -1, sizes, discount, weights)
    log_ratio = log_seats - log_alone[i] - math.log(concentration + discount * last)
    log_ratio += math.log(n_clusters / labels.shape[0])
    if math.log1p(-next_double(rng)) < log_ratio:
        rest, chosen = next_double(rng), last if k < last else 0
        for j in range(n_clusters):
            rest -= weights[j]
            if rest < 0.0:
                chosen = j
                break
        labels[i] = chosen
        row_sums[chosen] += i
        move_row(kind, i, chosen, 1.0, rows, prior, clusters, scratch)
        if needs_rebuild(kind, chosen, clusters):
            n = list_members(labels, chosen, members)
            possible = build_cluster(kind, chosen, members[:n], rows, prior, clusters, scratch)
        if k != last:  # the last one takes the empty place
            copy_cluster(kind, clusters, last, clusters, k)
            if sizes[last] < 1.5:
                labels[row_sums[last]] = k
            else:
                rename(labels, last, k)
            row_sums[k] = row_sums[last]
        n_clusters = last
    return n_clusters if possible else -1


@njit_loop
def weigh_completed_alone(rows, prior, clusters, members, scratch, out):
    """Write the log densities of AUGMENTED rows alone, with their weights and missing values."""
    build_cluster(AUGMENTED, 0, members[:0], rows, prior, clusters, scratch)
    for i in range(out.shape[0]):
        weigh_row(AUGMENTED, i, rows, prior, clusters, 1, -1, scratch, out[i : i + 1])


@cache
def blocked_kernels_of(kind: int) -> BlockedKernels:
    """Return the kernels for a kind of rows."""

    @njit_loop
    def move_large(
        n_tries, rows, prior, clusters, five, n_clusters, labels, pinned, members, ends, discount,
        concentration, group_counts, weights, five_logs, sample, sample_sides, found, sides,
        scratch, rng,
    ):  # fmt: skip
        """Propose `n_tries` splits and merges of large clusters, with room; return n_clusters."""
        list_all_members(n_clusters, labels, members, ends)
        for _ in range(n_tries):
            if n_clusters >= 0:
                n_clusters = _move_large_clusters(
                    kind, rows, prior, clusters, five, n_clusters, labels, pinned, members, ends,
                    discount, concentration, group_counts, weights, five_logs, sample, sample_sides,
                    found, sides, scratch, rng,
                )  # fmt: skip
        return n_clusters

    @njit_loop
    def stir(
        n_tries, rows, prior, clusters, n_clusters, labels, pinned, log_alone, discount,
        concentration, weights, members, row_sums, scratch, rng,
    ):  # fmt: skip
        """Open or remove singleton clusters while there is room; return tries left, n_clusters."""
        sizes = clusters.vectors[SIZE]
        while n_tries > 0 and 0 <= n_clusters < sizes.shape[0]:
            n_tries -= 1
            if next_double(rng) < 0.5:
                i = draw_below(labels.shape[0], rng)
                if sizes[labels[i]] > 1.5 and not is_pinned(i, pinned):
                    n_clusters = leave(
                        kind, i, rows, prior, clusters, n_clusters, labels, log_alone, discount,
                        concentration, weights, members, row_sums, scratch, rng,
                    )  # fmt: skip
            else:
                k = draw_below(n_clusters, rng)
                if sizes[k] < 1.5 and n_clusters > 1 and not is_pinned(row_sums[k], pinned):
                    n_clusters = join(
                        kind, k, rows, prior, clusters, n_clusters, labels, log_alone, discount,
                        concentration, weights, members, row_sums, scratch, rng,
                    )  # fmt: skip
        return n_tries, n_clusters

    @njit_loop
    def draw_all_parameters(prior, clusters, discount, drawn, scratch, rng):
        """Draw the parameters and weights of as many clusters as `drawn` has room for."""
        # The weights of the existing clusters, and of all others together, are
        # Dirichlet(n_1 - a, ..., n_K - a, b + a K). Gamma draws suffice: only ratios matter.
        for k in range(drawn.heads.shape[0]):
            draw_parameters(kind, k, prior, clusters, drawn, scratch, rng)
            drawn.heads[k] += draw_log_gamma(clusters.vectors[SIZE, k] - discount, rng)

    @njit_loop
    def draw_rows(
        first_block, n_blocks, rows, drawn, labels, pinned, firsts, key, lines, times, rng
    ):
        """Draw the clusters of the rows of some blocks."""
        n = firsts.shape[0]
        for block in range(first_block, first_block + n_blocks):
            stream_of_number(key, 2 * block, times)
            stream_of_number(key, 2 * block + 1, rng)
            for i in range(block * BLOCK, min((block + 1) * BLOCK, labels.shape[0])):
                # If all of `firsts` are negative, rows with a cluster keep it, others may join any.
                time, own = next_double(times), labels[i]
                if own >= 0 and (firsts[own] < 0.0 or firsts[own] == time or is_pinned(i, pinned)):
                    draw_rest_given(kind, i, own, rows, drawn, lines, rng)
                    continue
                weigh_row_given(kind, i, rows, drawn, lines)
                labels[i] = draw_among(n, time, firsts, lines[0], rng)
                draw_rest_given(kind, i, labels[i], rows, drawn, lines, rng)

    return BlockedKernels(move_large, stir, draw_all_parameters, draw_rows)
