r"""Collapsed Gibbs sweeps: inlined sections of kernels.

| name | symbol | shape | meaning |
|---|---|---|---|
| kind, rows, prior, clusters, scratch | | | see `skdp.emissions._kernels._clusters` |
| labels | z_i | (N,) int64 | cluster of a row, from 0 to K - 1; -1: none yet |
| pinned | | (N,) bool | rows that stay with others, see `is_pinned`; empty: none |
| log_alone | log f(x_i) | (N,) | log density of each row in its own cluster |
| discount, concentration | a, b | scalars | |
| weights | | (C + 1,) | scratch |
| members | | (N,) int64 | rows of clusters, scratch |
| rng | | (4,) uint64 | stream, advanced in place |

Pinned rows of a cluster have the same label, and no other cluster has that label. A step is
impossible if a covariance is not positive definite to rounding. A sweep stops at the end of
`order`, without room for a new cluster, or, with -1, if it is impossible.
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._arithmetic import fast_exp
from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc
from skdp._numeric._random import next_double
from skdp.emissions._kernels._augmented import (
    draw_latent,
    is_latent,
    may_leave,
    weigh_removed_row,
)
from skdp.emissions._kernels._clusters import (
    AUGMENTED,
    SIZE,
    build_cluster,
    copy_cluster,
    move_row,
    needs_rebuild,
    weigh_row,
)


@njit_internal_nogc
def draw_below(n, rng):
    """Return a random integer from 0 to n - 1."""
    return min(int(next_double(rng) * n), n - 1)


@njit_internal_nogc
def bring_in_random_order(numbers, rng):
    """Shuffle numbers in place."""
    for place in range(numbers.shape[0] - 1, 0, -1):
        other = draw_below(place + 1, rng)
        numbers[place], numbers[other] = numbers[other], numbers[place]


@njit_internal_nogc
def is_pinned(i, pinned):
    """Return whether row i has a known label, so that no step may move it on its own."""
    return pinned.shape[0] > 0 and pinned[i]


@njit_internal_nogc
def list_members(labels, k, members):
    """Write the rows of cluster k to `members`; return their number."""
    n = 0
    for i in range(labels.shape[0]):
        if labels[i] == k:
            members[n] = i
            n += 1
    return n


@njit_internal_nogc
def list_all_members(n_clusters, labels, members, ends):
    """Write the rows of all clusters in sequence, and their offsets with the end, (C + 1,)."""
    n_seated = 0
    for k in range(n_clusters):
        ends[k] = 0
    for k in labels:
        if k >= 0:
            ends[k] += 1
            n_seated += 1
    for k in range(1, n_clusters):
        ends[k] += ends[k - 1]
    for i in range(labels.shape[0] - 1, -1, -1):
        if labels[i] >= 0:
            ends[labels[i]] -= 1  # down to the start of the cluster
            members[ends[labels[i]]] = i
    ends[n_clusters] = n_seated


@njit_inlined_source
def build_clusters(kind, rows, prior, clusters, n_clusters, labels, members, ends, scratch):
    """Write all cluster statistics; return False if a covariance is not positive definite."""
    possible = True
    list_all_members(n_clusters, labels, members, ends)
    for k in range(n_clusters):
        possible &= build_cluster(
            kind, k, members[ends[k] : ends[k + 1]], rows, prior, clusters, scratch
        )
    return possible


@njit_internal_nogc
def rename(labels, k, name):
    """Relabel the rows of cluster k."""
    for i in range(labels.shape[0]):
        if labels[i] == k:
            labels[i] = name


@njit_inlined_source
def drop_cluster(kind, k, clusters, n_clusters, labels):
    """Move the last cluster to the place of an empty one."""
    if k != n_clusters - 1:
        copy_cluster(kind, clusters, n_clusters - 1, clusters, k)
        rename(labels, n_clusters - 1, k)


@njit_internal_nogc
def pick(n, weights, new, rng):
    """Return a draw from n clusters by their weights, or n for a new cluster."""
    total = 0.0
    for k in range(n):
        total += weights[k]
    rest = next_double(rng) * (total + new)
    for k in range(n):
        rest -= weights[k]
        if rest < 0.0:
            return k
    return n


@njit_internal_nogc
def choose_cluster(n, own, sizes, log_alone, discount, concentration, weights, rng):
    """Return a draw from the clusters without the row, or n: a new one; overwrite `weights`."""
    n_others = n
    if own >= 0 and sizes[own] < 1.5:
        n_others = n - 1
        weights[own] = -math.inf
    largest = log_alone
    for k in range(n):
        largest = max(largest, weights[k])
    for k in range(n):
        weights[k] = (sizes[k] - discount) * fast_exp(weights[k] - largest)
    if own >= 0:
        share = (sizes[own] - 1.0 - discount) / (sizes[own] - discount)
        weights[own] *= share if sizes[own] > 1.5 else 0.0
    new = (concentration + discount * n_others) * fast_exp(log_alone - largest)
    return pick(n, weights, new, rng)


@njit_internal_nogc
def log_average(n, own, sizes, log_alone, discount, concentration, n_others, weights):
    """Return the log density of a row, averaged over the clusters without it and a new one."""
    if n_others == 0:
        return log_alone
    n_full, largest = 0, log_alone
    for k in range(n):
        if sizes[k] > 1.5 or (k != own and sizes[k] > 0.5):
            n_full += 1
            largest = max(largest, weights[k])
    total = (concentration + discount * n_full) * math.exp(log_alone - largest)
    for k in range(n):
        size = sizes[k] - 1.0 if k == own else sizes[k]
        if size > 0.5:
            total += (size - discount) * math.exp(weights[k] - largest)
    return largest + math.log(total / (n_others + concentration))


@njit_inlined_source
def remove_row(kind, i, own, rows, prior, clusters, labels, members, scratch):
    """Remove a row from its cluster, in which there are others; return whether it is possible."""
    possible, labels[i] = True, -1
    if may_leave(i, own, rows, prior, clusters, scratch):
        move_row(kind, i, own, -1.0, rows, prior, clusters, scratch)
    else:
        n = list_members(labels, own, members)
        possible = build_cluster(kind, own, members[:n], rows, prior, clusters, scratch)
    return possible


@njit_inlined_source
def weigh_latent_row(
    kind, i, rows, prior, clusters, n_clusters, labels, log_alone, weights, members, scratch
):  # fmt: skip
    """Remove a row with drawn quantities, and write its log densities: see `weigh_seated_row`."""
    possible, old, own = True, labels[i], labels[i]
    is_alone = old >= 0 and clusters.vectors[SIZE, old] < 1.5
    if old >= 0 and not is_alone:
        possible = remove_row(kind, i, old, rows, prior, clusters, labels, members, scratch)
        own = -1
    log_alone[i] = weigh_removed_row(
        np.int64(i), np.int64(old), is_alone, rows, prior, clusters, np.int64(n_clusters), scratch,
        weights,
    )  # fmt: skip
    return possible, own


@njit_inlined_source
def join_cluster(kind, i, k, rows, prior, clusters, scratch, rng):
    """Draw the rest of a row that is in no cluster, and add the row to cluster k."""
    if kind == AUGMENTED:
        draw_latent(np.int64(i), np.int64(k), rows, prior, clusters, scratch, rng)
    move_row(kind, i, k, 1.0, rows, prior, clusters, scratch)


@njit_inlined_source
def renew_row(kind, i, own, rows, prior, clusters, members, scratch, rng):
    """Draw the rest of a row that stays alone in its cluster, if anything else is drawn."""
    possible = True
    if kind == AUGMENTED and own >= 0 and is_latent(np.int64(i), rows):
        possible = build_cluster(kind, own, members[:0], rows, prior, clusters, scratch)
        join_cluster(kind, i, own, rows, prior, clusters, scratch, rng)
    return possible


@njit_inlined_source
def weigh_complete_row(
    kind, i, rows, prior, clusters, n_clusters, labels, weights, members, scratch
):  # fmt: skip
    """Write the log densities of a row whose cluster alone is drawn: see `weigh_seated_row`."""
    own = labels[i]
    # A cluster that becomes empty cannot be chosen, so its density does not matter.
    seat = -1 if own >= 0 and clusters.vectors[SIZE, own] < 1.5 else own
    possible = weigh_row(kind, i, rows, prior, clusters, n_clusters, seat, scratch, weights)
    if not possible:
        labels[i] = -1
        n = list_members(labels, own, members)
        possible = build_cluster(kind, own, members[:n], rows, prior, clusters, scratch)
        own = -1
        weigh_row(kind, i, rows, prior, clusters, n_clusters, own, scratch, weights)
    return possible, own


@njit_inlined_source
def weigh_seated_row(
    kind, i, rows, prior, clusters, n_clusters, labels, log_alone, weights, members, scratch
):  # fmt: skip
    """Write the log densities of a row under the clusters without the row.

    Return whether that is possible, and its cluster; -1: it has none, or had to be removed from it.
    """
    if kind == AUGMENTED:
        if is_latent(np.int64(i), rows):
            possible, own = weigh_latent_row(
                kind, i, rows, prior, clusters, n_clusters, labels, log_alone, weights, members,
                scratch,
            )  # fmt: skip
        else:
            possible, own = weigh_complete_row(
                kind, i, rows, prior, clusters, n_clusters, labels, weights, members, scratch
            )
    else:
        possible, own = weigh_complete_row(
            kind, i, rows, prior, clusters, n_clusters, labels, weights, members, scratch
        )
    return possible, own


@njit_inlined_source
def reseat_row(
    kind, i, own, chosen, rows, prior, clusters, n_clusters, labels, members, scratch, rng
):  # fmt: skip
    """Move a row from its own cluster (-1: none) to another or, if not alone, a new one."""
    possible, labels[i] = True, chosen
    if chosen == n_clusters:
        n_clusters += 1
        possible &= build_cluster(kind, chosen, members[:0], rows, prior, clusters, scratch)
    join_cluster(kind, i, chosen, rows, prior, clusters, scratch, rng)
    if own >= 0 and clusters.vectors[SIZE, own] < 1.5:
        drop_cluster(kind, own, clusters, n_clusters, labels)
        n_clusters -= 1
    elif own >= 0:
        move_row(kind, i, own, -1.0, rows, prior, clusters, scratch)
        if needs_rebuild(kind, own, clusters):
            n = list_members(labels, own, members)
            possible &= build_cluster(kind, own, members[:n], rows, prior, clusters, scratch)
    return possible, n_clusters


@njit_inlined_source
def sweep_rows(
    kind, begin, order, rows, prior, clusters, n_clusters, labels, log_alone, discount,
    concentration, weights, members, scratch, rng,
):  # fmt: skip
    """Draw the clusters of rows from order[begin] on; return the place reached, n_clusters."""
    sizes = clusters.vectors[SIZE]
    place, end = begin, order.shape[0]
    while 0 <= place < end and n_clusters < sizes.shape[0]:
        i = order[place]
        possible, own = weigh_seated_row(
            kind, i, rows, prior, clusters, n_clusters, labels, log_alone, weights, members, scratch
        )
        chosen = choose_cluster(
            n_clusters, own, sizes, log_alone[i], discount, concentration, weights, rng
        )
        stays_alone = own >= 0 and sizes[own] < 1.5 and chosen == n_clusters
        if chosen != own and not stays_alone:
            fits, n_clusters = reseat_row(
                kind, i, own, chosen, rows, prior, clusters, n_clusters, labels, members, scratch,
                rng,
            )  # fmt: skip
            possible &= fits
        else:
            possible &= renew_row(kind, i, own, rows, prior, clusters, members, scratch, rng)
        place = place + 1 if possible else -1
    return place, n_clusters
