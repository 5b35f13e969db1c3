"""Clusters of rows of several parts: loops over Gaussian parts and over parts of events.

| name | meaning |
|---|---|
| rows, priors, clusters, scratch | tuples with an entry for each part of one kind |
| line | (C,) scratch |

Symbols of a part as in `_gaussian/_kernels_clusters` and `_discrete/_kernels_clusters`.
"""

# mypy: ignore-errors

from skdp._numeric._numba import njit_internal_nogc
from skdp.emissions._discrete._kernels_clusters import (
    build_counts,
    copy_counts,
    log_evidence_of_counts,
    move_row_of_counts,
    weigh_row_of_counts,
)
from skdp.emissions._gaussian._kernels_clusters import (
    build_gaussian,
    copy_gaussian,
    log_evidence_of_gaussian,
    move_gaussian_row,
    weigh_gaussian_row,
)


@njit_internal_nogc
def add_gaussians(i, rows, priors, clusters, n, own, scratch, line, out):
    """Add the log densities of the Gaussian parts of a row; False: see `weigh_gaussian_row`."""
    for g in range(len(rows)):
        x = rows[g].values[i]
        if not weigh_gaussian_row(x, priors[g], clusters[g], n, own, scratch[g], line):
            return False
        for k in range(n):
            out[k] += line[k]
    return True


@njit_internal_nogc
def add_counts(i, rows, priors, clusters, n, own, scratch, line, out):
    """Add the log probabilities of the events of a row."""
    for g in range(len(rows)):
        weigh_row_of_counts(i, rows[g], priors[g], clusters[g], n, own, scratch[g], line)
        for k in range(n):
            out[k] += line[k]


@njit_internal_nogc
def move_gaussians(i, k, sign, rows, priors, clusters, scratch):
    """Add the Gaussian parts of a row to cluster k, or remove them."""
    for g in range(len(rows)):
        move_gaussian_row(rows[g].values[i], k, sign, priors[g], clusters[g], scratch[g])


@njit_internal_nogc
def move_counts(i, k, sign, rows, priors, clusters):
    """Add the events of a row to cluster k, or remove them."""
    for g in range(len(rows)):
        move_row_of_counts(i, k, sign, rows[g], priors[g], clusters[g])


@njit_internal_nogc
def build_gaussians(k, members, rows, priors, clusters, scratch):
    """Write the statistics of the Gaussian parts of a cluster; False: see `build_gaussian`."""
    possible = True
    for g in range(len(rows)):
        possible &= build_gaussian(k, members, rows[g].values, priors[g], clusters[g], scratch[g])
    return possible


@njit_internal_nogc
def build_all_counts(k, members, rows, priors, clusters):
    """Write the statistics of the parts of events of a cluster."""
    for g in range(len(rows)):
        build_counts(k, members, rows[g], priors[g], clusters[g])


@njit_internal_nogc
def copy_gaussians(source, k, target, j):
    """Copy the Gaussian parts of cluster k of `source` to place j of `target`."""
    for g in range(len(source)):
        copy_gaussian(source[g], k, target[g], j)


@njit_internal_nogc
def copy_all_counts(source, k, target, j):
    """Copy the parts of events of cluster k of `source` to place j of `target`."""
    for g in range(len(source)):
        copy_counts(source[g], k, target[g], j)


@njit_internal_nogc
def log_evidence_of_gaussians(k, priors, clusters):
    """Return the log evidence of the Gaussian parts of a cluster."""
    result = 0.0
    for g in range(len(priors)):
        result += log_evidence_of_gaussian(k, priors[g], clusters[g])
    return result


@njit_internal_nogc
def log_evidence_of_all_counts(k, priors, clusters):
    """Return the log evidence of the parts of events of a cluster."""
    result = 0.0
    for g in range(len(priors)):
        result += log_evidence_of_counts(k, priors[g], clusters[g])
    return result
