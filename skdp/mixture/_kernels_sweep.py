r"""Collapsed Gibbs sweeps: every row chooses a cluster given those of all the others.

| name | symbol | shape | meaning |
|---|---|---|---|
| kind, rows, prior, clusters, scratch | | | see `skdp.emissions._kernels_clusters` |
| labels | z_i | (N,) int64 | cluster of a row, from 0 to K - 1; -1: of none yet |
| log_alone | log f(x_i) | (N,) | of each row in a cluster of its own |
| discount, concentration | a, b | scalars | |
| weights | | (C,) | scratch |
| members | | (N,) int64 | scratch |
| rng | | (4,) uint64 | stream, advanced in place |
"""

# mypy: ignore-errors

import math

from skdp._elementary import fast_exp
from skdp._numba import njit_inner, njit_loop
from skdp._random import next_double
from skdp.emissions._kernels_clusters import (
    MOST_UPDATES,
    build_cluster,
    copy_cluster,
    move_row,
    weigh_row,
)


@njit_inner
def draw_below(n, rng):
    """Return a random integer from 0 to n - 1."""
    return min(int(next_double(rng) * n), n - 1)


@njit_loop
def shuffle(numbers, rng):
    """Bring numbers in random order."""
    for place in range(numbers.shape[0] - 1, 0, -1):
        other = draw_below(place + 1, rng)
        numbers[place], numbers[other] = numbers[other], numbers[place]


@njit_inner
def list_members(labels, k, members):
    """Write the rows of cluster k to `members`; return how many they are."""
    n = 0
    for i in range(labels.shape[0]):
        if labels[i] == k:
            members[n] = i
            n += 1
    return n


@njit_loop
def build_clusters(kind, rows, prior, clusters, n_clusters, labels, members, ends, scratch):
    """Write the statistics of all clusters; False if a covariance is not positive definite.

    Parameters
    ----------
    ends : (C,) int64, scratch
    """
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
            ends[labels[i]] -= 1  # down to where the cluster begins
            members[ends[labels[i]]] = i
    for k in range(n_clusters):
        end = ends[k + 1] if k + 1 < n_clusters else n_seated
        if not build_cluster(kind, k, members[ends[k] : end], rows, prior, clusters, scratch):
            return False
    return True


@njit_inner
def drop_cluster(k, clusters, n_clusters, labels):
    """Give the place of an empty cluster to the last one; return how many are left."""
    last = n_clusters - 1
    if k != last:
        copy_cluster(clusters, last, clusters, k)
        for i in range(labels.shape[0]):
            if labels[i] == last:
                labels[i] = k
    return last


@njit_inner
def choose_cluster(n, own, log_alone, clusters, discount, concentration, weights, rng):
    """Return a draw from the clusters; n for a new one.

    Parameters
    ----------
    own : int
        The cluster of the row, whose size counts without it; -1: none.
    weights : (C + 1,) float64
        Log densities of the row, overwritten.
    """
    n_others = n
    if own >= 0 and clusters.sizes[own] < 1.5:
        n_others = n - 1
        weights[own] = -math.inf
    largest = log_alone
    for k in range(n):
        largest = max(largest, weights[k])
    for k in range(n):
        weights[k] = (clusters.sizes[k] - discount) * fast_exp(weights[k] - largest)
    if own >= 0:
        size = clusters.sizes[own]
        share = (size - 1.0 - discount) / (size - discount)
        weights[own] *= share if size > 1.5 else 0.0
    total = 0.0
    for k in range(n):
        total += weights[k]
    new = (concentration + discount * n_others) * fast_exp(log_alone - largest)
    rest = next_double(rng) * (total + new)
    for k in range(n):
        rest -= weights[k]
        if rest < 0.0:
            return k
    return n


@njit_loop
def sweep_rows(
    kind, begin, order, rows, prior, clusters, n_clusters, labels, log_alone, discount,
    concentration, weights, members, scratch, rng,
):  # fmt: skip
    """Draw the clusters of rows order[begin], order[begin + 1], ... one after the other.

    Parameters
    ----------
    order : (N,) int64
    n_clusters : int
        K; it may grow up to the capacity C.

    Returns
    -------
    place, n_clusters : int
        Where the sweep stopped for lack of room, or the end of `order`; -1: a covariance is not
        positive definite to rounding.
    """
    capacity = clusters.sizes.shape[0]
    for place in range(begin, order.shape[0]):
        if n_clusters == capacity:
            return place, n_clusters
        i = order[place]
        k = labels[i]
        own = k
        if k >= 0 and clusters.sizes[k] < 1.5:
            # Alone: as its cluster is left out of the choice, its density does not matter.
            weigh_row(kind, i, rows, prior, clusters, n_clusters, -1, scratch, weights)
        elif not weigh_row(kind, i, rows, prior, clusters, n_clusters, own, scratch, weights):
            labels[i] = own = -1
            n = list_members(labels, k, members)
            if not build_cluster(kind, k, members[:n], rows, prior, clusters, scratch):
                return -1, n_clusters
            weigh_row(kind, i, rows, prior, clusters, n_clusters, own, scratch, weights)
        chosen = choose_cluster(
            n_clusters, own, log_alone[i], clusters, discount, concentration, weights, rng
        )
        if chosen == own or (chosen == n_clusters and own >= 0 and clusters.sizes[own] < 1.5):
            continue
        labels[i] = chosen
        if chosen == n_clusters:
            n_clusters += 1
            build_cluster(kind, chosen, members[:0], rows, prior, clusters, scratch)
        move_row(kind, i, chosen, 1.0, rows, prior, clusters, scratch)
        if own >= 0:
            if clusters.sizes[own] < 1.5:
                n_clusters = drop_cluster(own, clusters, n_clusters, labels)
                continue
            move_row(kind, i, own, -1.0, rows, prior, clusters, scratch)
            if clusters.updates[own] >= MOST_UPDATES:
                n = list_members(labels, own, members)
                if not build_cluster(kind, own, members[:n], rows, prior, clusters, scratch):
                    return -1, n_clusters
    return order.shape[0], n_clusters
