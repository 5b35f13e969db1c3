"""Clusters of rows of several parts: independent columns, Gaussian parts, and parts of events.

| name | meaning |
|---|---|
| cells | rows, prior and so on of the independent columns: see `_kernels/_cells` |
| gaussians, counts | tuples of them, an entry for each part of several columns; None: none |
| line | (C,) scratch |

Code for tuples that are None is not compiled.
"""

# mypy: ignore-errors

from collections.abc import Callable
from typing import NamedTuple

from skdp._numeric._numba import njit_internal_nogc, njit_outlined
from skdp.emissions._kernels import _cells as cells
from skdp.emissions._kernels import _discrete as discrete
from skdp.emissions._kernels import _gaussian_clusters as gaussians


class Loops(NamedTuple):
    """Functions of a family of rows, over all parts of this family."""

    weigh_row: Callable
    move_row: Callable
    build_cluster: Callable
    copy_cluster: Callable
    log_evidence: Callable
    draw_parameters: Callable
    weigh_row_given: Callable


def make_loops(family):
    """Return the loops over parts of a family, which is a module with functions of these names."""
    weigh_part, move_part, build_part = family.weigh_row, family.move_row, family.build_cluster
    copy_part, log_evidence_of_part = family.copy_cluster, family.log_evidence
    draw_part, weigh_part_given = family.draw_parameters, family.weigh_row_given

    @njit_internal_nogc
    def weigh_row(i, rows, priors, clusters, n, own, scratch, line, out):
        if rows is not None:
            for g in range(len(rows)):
                if not weigh_part(i, rows[g], priors[g], clusters[g], n, own, scratch[g], line):
                    return False
                for k in range(n):
                    out[k] += line[k]
        return True

    @njit_internal_nogc
    def move_row(i, k, sign, rows, priors, clusters, scratch):
        if rows is not None:
            for g in range(len(rows)):
                move_part(i, k, sign, rows[g], priors[g], clusters[g], scratch[g])

    @njit_internal_nogc
    def build_cluster(k, members, rows, priors, clusters, scratch):
        possible = True
        if rows is not None:
            for g in range(len(rows)):
                possible &= build_part(k, members, rows[g], priors[g], clusters[g], scratch[g])
        return possible

    @njit_internal_nogc
    def copy_cluster(source, k, target, j):
        if source is not None:
            for g in range(len(source)):
                copy_part(source[g], k, target[g], j)

    @njit_internal_nogc
    def log_evidence(k, priors, clusters):
        result = 0.0
        if priors is not None:
            for g in range(len(priors)):
                result += log_evidence_of_part(k, priors[g], clusters[g])
        return result

    @njit_internal_nogc
    def draw_parameters(k, priors, clusters, drawn, scratch, rng):
        if priors is not None:
            for g in range(len(priors)):
                draw_part(k, priors[g], clusters[g], drawn[g], scratch[g], rng)

    @njit_internal_nogc
    def weigh_row_given(i, rows, drawn, lines):
        if rows is not None:
            for g in range(len(rows)):
                weigh_part_given(i, rows[g], drawn[g], lines)
                for k in range(lines.shape[1]):
                    lines[3, k] += lines[0, k]

    return Loops(
        weigh_row, move_row, build_cluster, copy_cluster, log_evidence, draw_parameters,
        weigh_row_given,
    )  # fmt: skip


GAUSSIANS, COUNTS = make_loops(gaussians), make_loops(discrete)


@njit_internal_nogc
def weigh_row(i, rows, prior, clusters, n, own, scratch, out):
    """Write log p(x_i given the rows of cluster k) to `out`, the sum over parts."""
    possible = cells.weigh_row(
        i, rows.cells, prior.cells, clusters.cells, n, own, scratch.cells, out
    )
    possible &= GAUSSIANS.weigh_row(
        i, rows.gaussians, prior.gaussians, clusters.gaussians, n, own, scratch.gaussians,
        scratch.line, out,
    )  # fmt: skip
    possible &= COUNTS.weigh_row(
        i, rows.counts, prior.counts, clusters.counts, n, own, scratch.counts, scratch.line, out
    )
    return possible


@njit_internal_nogc
def move_row(i, k, sign, rows, prior, clusters, scratch):
    """Add row i to cluster k (sign 1.0), or remove it (-1.0)."""
    cells.move_row(i, k, sign, rows.cells, prior.cells, clusters.cells, scratch.cells)
    GAUSSIANS.move_row(
        i, k, sign, rows.gaussians, prior.gaussians, clusters.gaussians, scratch.gaussians
    )
    COUNTS.move_row(i, k, sign, rows.counts, prior.counts, clusters.counts, scratch.counts)


@njit_outlined
def build_cluster(k, members, rows, prior, clusters, scratch):
    """Write the statistics of a cluster of some rows; False: a scale is not positive definite."""
    cells.build_cluster(k, members, rows.cells, prior.cells, clusters.cells, scratch.cells)
    COUNTS.build_cluster(k, members, rows.counts, prior.counts, clusters.counts, scratch.counts)
    return GAUSSIANS.build_cluster(
        k, members, rows.gaussians, prior.gaussians, clusters.gaussians, scratch.gaussians
    )


@njit_outlined
def copy_cluster(source, k, target, j):
    """Copy cluster k of `source` to place j of `target`."""
    cells.copy_cluster(source.cells, k, target.cells, j)
    GAUSSIANS.copy_cluster(source.gaussians, k, target.gaussians, j)
    COUNTS.copy_cluster(source.counts, k, target.counts, j)


@njit_outlined
def log_evidence(k, prior, clusters):
    """Return log p(rows of a cluster), without the constants of rows."""
    result = cells.log_evidence(k, prior.cells, clusters.cells)
    result += GAUSSIANS.log_evidence(k, prior.gaussians, clusters.gaussians)
    return result + COUNTS.log_evidence(k, prior.counts, clusters.counts)


@njit_internal_nogc
def draw_parameters(k, prior, clusters, drawn, scratch, rng):
    """Draw the parameters of cluster k given its rows."""
    drawn.heads[k] = 0.0
    cells.draw_parameters(k, prior.cells, clusters.cells, drawn.cells, scratch.cells, rng)
    GAUSSIANS.draw_parameters(
        k, prior.gaussians, clusters.gaussians, drawn.gaussians, scratch.gaussians, rng
    )
    COUNTS.draw_parameters(k, prior.counts, clusters.counts, drawn.counts, scratch.counts, rng)


@njit_internal_nogc
def weigh_row_given(i, rows, drawn, lines):
    """Write log p(x_i | parameters of k) for all clusters to `lines[0]`, up to shared terms."""
    cells.weigh_row_given(i, rows.cells, drawn.cells, lines)
    for k in range(drawn.heads.shape[0]):
        lines[3, k] = drawn.heads[k] + lines[0, k]
    GAUSSIANS.weigh_row_given(i, rows.gaussians, drawn.gaussians, lines)
    COUNTS.weigh_row_given(i, rows.counts, drawn.counts, lines)
    for k in range(drawn.heads.shape[0]):
        lines[0, k] = lines[3, k]
