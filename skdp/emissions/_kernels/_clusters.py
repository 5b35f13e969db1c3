"""Clusters of rows for every kind of emission, with the parameters integrated out or drawn.

These functions dispatch on the kind of the rows. In kernels where the kind is a constant
(`skdp.mixture._kernels._rows`), only the functions that are called are compiled. Numbers of
clusters are converted to int64, because numba would give a constant its own type and recompile all
callees.

| name | meaning |
|---|---|
| kind | GAUSSIAN, COUNTS, CELLS or AUGMENTED, or a kind of several parts |
| rows, prior, clusters, scratch | arrays of this kind: see `_common/_clusters` |
| n | number of clusters in use, which come first |
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc
from skdp._numeric._random import draw_log_gamma
from skdp.emissions._kernels._augmented import (
    build_augmented,
    copy_augmented,
    draw_augmented,
    draw_block,
    draw_latent_given,
    log_evidence_of_augmented,
    move_augmented_row,
    weigh_augmented_given,
    weigh_augmented_row,
)
from skdp.emissions._kernels._cells import UPDATES as CELL_UPDATES
from skdp.emissions._kernels._cells import (
    add_counts,
    add_gaussians,
    build_all_counts,
    build_cells,
    build_gaussians,
    copy_all_counts,
    copy_cells,
    copy_gaussians,
    draw_cells,
    log_evidence_of_all_counts,
    log_evidence_of_cells,
    log_evidence_of_gaussians,
    move_cells,
    move_counts,
    move_gaussians,
    weigh_cells,
    weigh_cells_given,
)
from skdp.emissions._kernels._discrete import (
    build_counts,
    copy_counts,
    log_evidence_of_counts,
    move_row_of_counts,
    weigh_row_of_counts,
)
from skdp.emissions._kernels._gaussian_clusters import (
    HUGE,
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
def needs_rebuild(kind, k, clusters):
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


# Draws of cluster parameters given their rows, and log densities of rows given the parameters.
#
# Parameters that are integrated out above are drawn here, for samplers that draw the clusters of
# many rows at once. The posterior of a Gaussian block is stored as U with U^T U = S_n^-1. With the
# triangular A of Bartlett, V = A U has V^T V ~ Wishart(nu_n, S_n^-1), and V mu = V m_n + y /
# sqrt(c_n) with normal y.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | kind, rows, prior, clusters, scratch | | | as above |
# | drawn.heads | | (C,) | terms of log densities that do not depend on the row |
# | drawn.factors | V / sqrt 2 | (D, W, C) | for Gaussian rows |
# | drawn.offsets | V mu / sqrt 2 | (D, C) | for Gaussian rows |
# | drawn.logs | log theta, log lambda | (V, C) | for rows of counts |
# | drawn of parts | | | see `_kernels/_cells` and `PartParameters` |
# | lines | | (4, C) | scratch; arrays of `_kernels/_augmented` if rows are AUGMENTED |
# | rng | | (4,) uint64 | stream, advanced in place |


@njit_inlined_source
def draw_parameters(kind, k, prior, clusters, drawn, scratch, rng):
    """Draw the parameters of cluster k given its rows."""
    if kind == GAUSSIAN:
        draw_gaussian(k, prior, clusters, drawn, scratch, rng)
    elif kind == AUGMENTED:
        draw_augmented(k, prior, clusters, drawn, scratch, rng)
    elif kind == COUNTS:
        draw_intensities(k, prior, clusters, drawn, rng)
    elif kind == CELLS:
        draw_cells(k, prior, clusters, drawn, rng)
    else:
        drawn.heads[k] = 0.0
        draw_cells(k, prior.cells, clusters.cells, drawn.cells, rng)
        if kind != CELLS_AND_COUNTS:
            draw_gaussians(
                k, prior.gaussians, clusters.gaussians, drawn.gaussians, scratch.gaussians, rng
            )
        if kind != CELLS_AND_GAUSSIANS:
            draw_all_intensities(k, prior.counts, clusters.counts, drawn.counts, rng)


@njit_inlined_source
def weigh_row_given(kind, i, rows, drawn, lines):
    """Write log p(x_i | parameters of k) for all clusters to `lines[0]`, up to shared terms."""
    if kind == GAUSSIAN:
        weigh_gaussian_row_given(rows.values[i], drawn, lines)
    elif kind == AUGMENTED:
        weigh_augmented_given(i, rows, drawn, lines)
    elif kind == COUNTS:
        weigh_counts_given(i, rows, drawn, lines)
    elif kind == CELLS:
        weigh_cells_given(i, rows, drawn, lines)
    else:
        weigh_cells_given(i, rows.cells, drawn.cells, lines)
        for k in range(drawn.heads.shape[0]):
            lines[3, k] = drawn.heads[k] + lines[0, k]
        if kind != CELLS_AND_COUNTS:
            add_gaussians_given(i, rows.gaussians, drawn.gaussians, lines)
        if kind != CELLS_AND_GAUSSIANS:
            add_counts_given(i, rows.counts, drawn.counts, lines)
        for k in range(drawn.heads.shape[0]):
            lines[0, k] = lines[3, k]


@njit_internal_nogc
def draw_gaussians(k, priors, clusters, drawn, scratch, rng):
    """Draw the means and covariances of the Gaussian parts of a cluster."""
    for g in range(len(priors)):
        draw_gaussian(k, priors[g], clusters[g], drawn[g], scratch[g], rng)


@njit_internal_nogc
def draw_all_intensities(k, priors, clusters, drawn, rng):
    """Draw the probabilities of the parts of events of a cluster."""
    for g in range(len(priors)):
        draw_intensities(k, priors[g], clusters[g], drawn[g], rng)


@njit_internal_nogc
def add_gaussians_given(i, rows, drawn, lines):
    """Add the log densities of the Gaussian parts of a row to `lines[3]`."""
    for g in range(len(rows)):
        weigh_gaussian_row_given(rows[g].values[i], drawn[g], lines)
        for k in range(lines.shape[1]):
            lines[3, k] += lines[0, k]


@njit_internal_nogc
def add_counts_given(i, rows, drawn, lines):
    """Add the log probabilities of the events of a row to `lines[3]`."""
    for g in range(len(rows)):
        weigh_counts_given(i, rows[g], drawn[g], lines)
        for k in range(lines.shape[1]):
            lines[3, k] += lines[0, k]


@njit_inlined_source
def draw_rest_given(kind, i, k, rows, drawn, lines, rng):
    """Draw the weight and the missing cells of a row, given the parameters of its cluster."""
    if kind == AUGMENTED:
        draw_latent_given(i, np.int64(k), rows, drawn, lines, rng)


@njit_internal_nogc
def draw_gaussian(k, prior, clusters, drawn, scratch, rng):
    """Draw the mean and covariance of a cluster."""
    n_blocks, width = prior.mean.shape
    size, line = clusters.vectors[SIZE, k], scratch.columns[0]
    dof, error = prior.dof + size, 1.0 / math.sqrt(prior.precision + size)
    log_det = 0.0
    for b in range(n_blocks):
        log_det += draw_block(k, b * width, width, dof, error, clusters, drawn, line, rng)
    drawn.heads[k] = log_det


@njit_internal_nogc
def draw_intensities(k, prior, clusters, drawn, rng):
    """Draw the intensities or probabilities of a cluster."""
    n_kinds, largest, total = drawn.logs.shape[0], -math.inf, 0.0
    for v in range(n_kinds):
        drawn.logs[v, k] = draw_log_gamma(prior.shapes[v] + clusters.sums[v, k], rng)
        largest = max(largest, drawn.logs[v, k])
    drawn.heads[k] = 0.0
    if prior.is_poisson:
        for v in range(n_kinds):
            drawn.logs[v, k] -= math.log(prior.rates[v] + clusters.vectors[SIZE, k])
            drawn.heads[k] -= math.exp(drawn.logs[v, k])
        return
    for v in range(n_kinds):
        total += math.exp(drawn.logs[v, k] - largest)
    log_total = largest + math.log(total)
    for v in range(n_kinds):
        drawn.logs[v, k] -= log_total


@njit_internal_nogc
def weigh_gaussian_row_given(x, drawn, lines):
    """Write the log densities of a row under all clusters to `lines[0]`."""
    n_dims, width, n = drawn.factors.shape
    out, sums, squares = lines[0], lines[1], lines[2]
    for k in range(n):
        squares[k] = 0.0
    for begin in range(0, n_dims, width):
        for r in range(width):
            factors, offsets = drawn.factors[begin + r], drawn.offsets[begin + r]
            y, row = x[begin], factors[0]
            for k in range(n):
                sums[k] = y * row[k] - offsets[k]
            for e in range(1, r + 1):
                y, row = x[begin + e], factors[e]
                for k in range(n):
                    sums[k] += y * row[k]
            for k in range(n):
                squares[k] += sums[k] * sums[k]
    for k in range(n):
        out[k] = drawn.heads[k] - min(squares[k], HUGE)


@njit_internal_nogc
def weigh_counts_given(i, rows, drawn, lines):
    """Write the log probabilities of a row of counts under all clusters to `lines[0]`."""
    out, n = lines[0], drawn.heads.shape[0]
    for k in range(n):
        out[k] = drawn.heads[k]
    for place in range(rows.ptr[i], rows.ptr[i + 1]):
        amount, logs = rows.amounts[place], drawn.logs[rows.kinds[place]]
        for k in range(n):
            out[k] += amount * logs[k]
