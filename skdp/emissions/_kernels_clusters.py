"""Clusters of rows for every kind of emission, with the parameters integrated out.

These functions dispatch on the kind of the rows. In kernels where the kind is a constant
(`skdp.mixture._kernels`), only the functions that are called are compiled. Numbers of clusters are
converted to int64, because numba would give a constant its own type and recompile all callees.

| name | meaning |
|---|---|
| kind | GAUSSIAN, COUNTS, CELLS or AUGMENTED, or a kind of several parts |
| rows, prior, clusters, scratch | arrays of this kind, see `_gaussian/_kernels_clusters`, `_discrete/_kernels_clusters`, `_cells/_kernels`, `_cells/_terms` and `_gaussian/_kernels_augmented` |
| n | number of clusters in use, which come first |
"""  # noqa: E501

# mypy: ignore-errors

import numpy as np

from skdp._numeric._numba import njit_inlined_source
from skdp.emissions._cells._kernels import UPDATES as CELL_UPDATES
from skdp.emissions._cells._kernels import (
    build_cells,
    copy_cells,
    log_evidence_of_cells,
    move_cells,
    weigh_cells,
)
from skdp.emissions._cells._kernels_parts import (
    add_counts,
    add_gaussians,
    build_all_counts,
    build_gaussians,
    copy_all_counts,
    copy_gaussians,
    log_evidence_of_all_counts,
    log_evidence_of_gaussians,
    move_counts,
    move_gaussians,
)
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

GAUSSIAN, COUNTS, CELLS = range(3)

CELLS_AND_GAUSSIANS, CELLS_AND_COUNTS, ALL_PARTS = range(3, 6)
"""Kinds of rows of several parts: independent columns, and others of several columns each."""

AUGMENTED = 6
"""Gaussian rows whose missing values and weights are drawn, besides their cluster."""

N_ROUNDS = 2
"""Number of rounds in which rows choose the side that predicts them better."""

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
    elif kind == COUNTS:
        weigh_row_of_counts(i, rows, prior, clusters, np.int64(n), np.int64(own), scratch, out)
    elif kind == CELLS:
        possible = weigh_cells(i, rows, prior, clusters, np.int64(n), np.int64(own), scratch, out)
    else:
        possible = weigh_cells(
            i, rows.cells, prior.cells, clusters.cells, np.int64(n), np.int64(own), scratch.cells,
            out,
        )  # fmt: skip
        if kind != CELLS_AND_COUNTS:
            possible &= add_gaussians(
                i, rows.gaussians, prior.gaussians, clusters.gaussians, np.int64(n), np.int64(own),
                scratch.gaussians, scratch.line, out,
            )  # fmt: skip
        if kind != CELLS_AND_GAUSSIANS:
            add_counts(
                i, rows.counts, prior.counts, clusters.counts, np.int64(n), np.int64(own),
                scratch.counts, scratch.line, out,
            )  # fmt: skip
    return possible


@njit_inlined_source
def move_row(kind, i, k, sign, rows, prior, clusters, scratch):
    """Add row i to cluster k (sign 1.0), or take it out (-1.0)."""
    if kind == GAUSSIAN:
        move_gaussian_row(rows.values[i], np.int64(k), sign, prior, clusters, scratch)
    elif kind == AUGMENTED:
        move_augmented_row(np.int64(i), np.int64(k), sign, rows, prior, clusters, scratch)
    elif kind == COUNTS:
        move_row_of_counts(i, np.int64(k), sign, rows, prior, clusters)
    elif kind == CELLS:
        move_cells(i, np.int64(k), sign, rows, prior, clusters)
    else:
        move_cells(i, np.int64(k), sign, rows.cells, prior.cells, clusters.cells)
        if kind != CELLS_AND_COUNTS:
            move_gaussians(
                i, np.int64(k), sign, rows.gaussians, prior.gaussians, clusters.gaussians,
                scratch.gaussians,
            )  # fmt: skip
        if kind != CELLS_AND_GAUSSIANS:
            move_counts(i, np.int64(k), sign, rows.counts, prior.counts, clusters.counts)


@njit_inlined_source
def is_worn(kind, k, clusters):
    """Return whether a cluster has to be rebuilt from the data."""
    worn = False
    if kind == GAUSSIAN or kind == AUGMENTED:  # noqa: SIM109 (numba removes it for other kinds)
        worn = clusters.vectors[UPDATES, k] >= MOST_UPDATES
    elif kind != COUNTS:
        worn = clusters.vectors[CELL_UPDATES, k] >= MOST_UPDATES
    return worn


@njit_inlined_source
def build_cluster(kind, k, members, rows, prior, clusters, scratch):
    """Write the statistics of a cluster of some rows; False: see `build_gaussian`."""
    possible = True
    if kind == GAUSSIAN:
        possible = build_gaussian(np.int64(k), members, rows.values, prior, clusters, scratch)
    elif kind == AUGMENTED:
        possible = build_augmented(np.int64(k), members, rows, prior, clusters, scratch)
    elif kind == COUNTS:
        build_counts(np.int64(k), members, rows, prior, clusters)
    elif kind == CELLS:
        build_cells(np.int64(k), members, rows, prior, clusters)
    else:
        build_cells(np.int64(k), members, rows.cells, prior.cells, clusters.cells)
        if kind != CELLS_AND_COUNTS:
            possible = build_gaussians(
                np.int64(k), members, rows.gaussians, prior.gaussians, clusters.gaussians,
                scratch.gaussians,
            )  # fmt: skip
        if kind != CELLS_AND_GAUSSIANS:
            build_all_counts(np.int64(k), members, rows.counts, prior.counts, clusters.counts)
    return possible


@njit_inlined_source
def copy_cluster(kind, source, k, target, j):
    """Copy cluster k of `source` to place j of `target`."""
    if kind == GAUSSIAN:
        copy_gaussian(source, np.int64(k), target, np.int64(j))
    elif kind == AUGMENTED:
        copy_augmented(source, np.int64(k), target, np.int64(j))
    elif kind == COUNTS:
        copy_counts(source, np.int64(k), target, np.int64(j))
    elif kind == CELLS:
        copy_cells(source, np.int64(k), target, np.int64(j))
    else:
        copy_cells(source.cells, np.int64(k), target.cells, np.int64(j))
        if kind != CELLS_AND_COUNTS:
            copy_gaussians(source.gaussians, np.int64(k), target.gaussians, np.int64(j))
        if kind != CELLS_AND_GAUSSIANS:
            copy_all_counts(source.counts, np.int64(k), target.counts, np.int64(j))


@njit_inlined_source
def log_evidence(kind, k, prior, clusters):
    """Return log p(rows of a cluster), without the constants of rows."""
    result = 0.0
    if kind == GAUSSIAN:
        result = log_evidence_of_gaussian(np.int64(k), prior, clusters)
    elif kind == AUGMENTED:
        result = log_evidence_of_augmented(np.int64(k), prior, clusters)
    elif kind == COUNTS:
        result = log_evidence_of_counts(np.int64(k), prior, clusters)
    elif kind == CELLS:
        result = log_evidence_of_cells(np.int64(k), prior, clusters)
    else:
        result = log_evidence_of_cells(np.int64(k), prior.cells, clusters.cells)
        if kind != CELLS_AND_COUNTS:
            result += log_evidence_of_gaussians(np.int64(k), prior.gaussians, clusters.gaussians)
        if kind != CELLS_AND_GAUSSIANS:
            result += log_evidence_of_all_counts(np.int64(k), prior.counts, clusters.counts)
    return result


@njit_inlined_source
def halve(kind, n, members, by_means, rows, prior, clusters, scratch, found, sides):
    """Assign n rows to side 0, side 1 or neither (-1), and the last two rows to sides 0 and 1.
    Sides are found by two means, or for tables by predictions, if `by_means`; `found` is scratch.
    """
    for place in range(n):
        sides[place] = -1
    sides[n - 2], sides[n - 1] = 0, 1
    if kind == GAUSSIAN or kind == AUGMENTED:  # noqa: SIM109 (numba removes it for other kinds)
        if by_means:
            halve_gaussian(n, members, rows.values, prior, clusters, sides)
    elif kind != COUNTS:
        for _ in range(N_ROUNDS if by_means else 0):
            for side in range(2):
                m = 0
                for place in range(n):
                    if sides[place] == side:
                        found[m] = members[place]
                        m += 1
                build_cluster(kind, side, found[:m], rows, prior, clusters, scratch)
            for place in range(n - 2):
                weigh_row(kind, members[place], rows, prior, clusters, 2, -1, scratch, scratch.pair)
                sides[place] = scratch.pair[1] > scratch.pair[0]
