"""Clusters of rows for every kind of emission, with the parameters integrated out.

These functions dispatch on the kind of the rows. In kernels where the kind is a constant
(`skdp.mixture._kernels`), only the functions that are called are compiled. Numbers of clusters are
converted to int64, because numba would give a constant its own type and recompile all callees.

| name | meaning |
|---|---|
| kind | GAUSSIAN, COUNTS or AUGMENTED |
| rows, prior, clusters, scratch | arrays of this kind, see `_gaussian/_kernels_clusters`, `_discrete/_kernels_clusters` and `_gaussian/_kernels_augmented` |
| n | number of clusters in use, which come first |
"""  # noqa: E501

# mypy: ignore-errors

import numpy as np

from skdp._numeric._numba import njit_inlined_source
from skdp.emissions._discrete._kernels_clusters import (
    build_counts,
    copy_counts,
    log_evidence_of_counts,
    move_row_of_counts,
    weigh_row_of_counts,
)
from skdp.emissions._gaussian._kernels_augmented import (
    build_augmented,
    copy_augmented,
    log_evidence_of_augmented,
    move_augmented_row,
    weigh_augmented_row,
)
from skdp.emissions._gaussian._kernels_clusters import (
    MOST_UPDATES,
    UPDATES,
    build_gaussian,
    copy_gaussian,
    halve_gaussian,
    log_evidence_of_gaussian,
    move_gaussian_row,
    weigh_gaussian_row,
)

GAUSSIAN, COUNTS, AUGMENTED = 0, 1, 8

SIZE = 0
"""Row of `clusters.vectors` that holds the sizes, for all kinds."""


@njit_inlined_source
def weigh_row(kind, i, rows, prior, clusters, n, own, scratch, out):
    """Write log p(x_i given the rows of cluster k) to `out`; False: see `weigh_gaussian_row`."""
    possible = True
    if kind == GAUSSIAN:
        possible = weigh_gaussian_row(
            rows.values[i], prior, clusters, np.int64(n), np.int64(own), scratch, out
        )
    elif kind == AUGMENTED:
        possible = weigh_augmented_row(
            np.int64(i), rows, prior, clusters, np.int64(n), np.int64(own), scratch, out
        )
    else:
        weigh_row_of_counts(i, rows, prior, clusters, np.int64(n), np.int64(own), scratch, out)
    return possible


@njit_inlined_source
def move_row(kind, i, k, sign, rows, prior, clusters, scratch):
    """Add row i to cluster k (sign 1.0), or take it out (-1.0)."""
    if kind == GAUSSIAN:
        move_gaussian_row(rows.values[i], np.int64(k), sign, prior, clusters, scratch)
    elif kind == AUGMENTED:
        move_augmented_row(np.int64(i), np.int64(k), sign, rows, prior, clusters, scratch)
    else:
        move_row_of_counts(i, np.int64(k), sign, rows, prior, clusters)


@njit_inlined_source
def is_worn(kind, k, clusters):
    """Return whether a cluster has to be rebuilt from the data."""
    worn = False
    if kind == GAUSSIAN or kind == AUGMENTED:
        worn = clusters.vectors[UPDATES, k] >= MOST_UPDATES
    return worn


@njit_inlined_source
def build_cluster(kind, k, members, rows, prior, clusters, scratch):
    """Write the statistics of a cluster of some rows; False: see `build_gaussian`."""
    possible = True
    if kind == GAUSSIAN:
        possible = build_gaussian(np.int64(k), members, rows.values, prior, clusters, scratch)
    elif kind == AUGMENTED:
        possible = build_augmented(np.int64(k), members, rows, prior, clusters, scratch)
    else:
        build_counts(np.int64(k), members, rows, prior, clusters)
    return possible


@njit_inlined_source
def copy_cluster(kind, source, k, target, j):
    """Copy cluster k of `source` to place j of `target`."""
    if kind == GAUSSIAN:
        copy_gaussian(source, np.int64(k), target, np.int64(j))
    elif kind == AUGMENTED:
        copy_augmented(source, np.int64(k), target, np.int64(j))
    else:
        copy_counts(source, np.int64(k), target, np.int64(j))


@njit_inlined_source
def log_evidence(kind, k, prior, clusters):
    """Return log p(rows of a cluster), without the constants of rows."""
    result = 0.0
    if kind == GAUSSIAN:
        result = log_evidence_of_gaussian(np.int64(k), prior, clusters)
    elif kind == AUGMENTED:
        result = log_evidence_of_augmented(np.int64(k), prior, clusters)
    else:
        result = log_evidence_of_counts(np.int64(k), prior, clusters)
    return result


@njit_inlined_source
def halve(kind, n, members, by_means, rows, prior, clusters, sides):
    """Assign n rows to side 0, side 1 or neither (-1), and the last two rows to sides 0 and 1.

    Parameters
    ----------
    by_means : bool
        Whether the sides are found by two means, for kinds of rows that have means.
    clusters : room for two
    sides : (N,) int8, output
    """
    for place in range(n):
        sides[place] = -1
    sides[n - 2], sides[n - 1] = 0, 1
    if (kind == GAUSSIAN or kind == AUGMENTED) and by_means:
        halve_gaussian(n, members, rows.values, prior, clusters, sides)
