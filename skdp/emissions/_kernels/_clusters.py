"""Clusters of rows for every kind of emission, with the parameters integrated out or drawn.

A family of rows is a module with functions of the same names as here. These functions select the
family by the kind of the rows. In kernels where the kind is a constant
(`skdp.mixture._kernels._rows`), only the functions that are called are compiled. Numbers of
clusters are converted to int64, because numba would give a constant its own type and recompile all
callees.

| name | meaning |
|---|---|
| kind | GAUSSIAN, COUNTS, CELLS, PARTS or AUGMENTED |
| rows, prior, clusters, scratch | arrays of this kind: see `_common/_clusters` |
| n | number of clusters in use, which come first |
"""

# mypy: ignore-errors

import numpy as np

from skdp._numeric._numba import njit_inlined_source
from skdp.emissions._kernels import _augmented, _cells, _discrete, _gaussian_clusters, _parts
from skdp.emissions._kernels._gaussian_clusters import MOST_UPDATES, UPDATES, halve_gaussian
from skdp.emissions._kernels._parts import Loops

GAUSSIAN, COUNTS, CELLS, PARTS, AUGMENTED = range(5)
"""PARTS: independent columns, and others of several columns each; AUGMENTED: Gaussian rows whose
missing values and weights are drawn, besides their cluster."""

N_ROUNDS = 2
"""Number of rounds in which rows choose the side that predicts them better."""

SIZE = 0
"""Row of `clusters.vectors` that holds the sizes, for all kinds."""


# Tuples of functions, not modules: the cache of machine code has to know which functions are used.
_GAUSSIAN, _COUNTS, _CELLS, _PARTS, _AUGMENTED = (
    Loops(*(getattr(module, name) for name in Loops._fields))
    for module in (_gaussian_clusters, _discrete, _cells, _parts, _augmented)
)


@njit_inlined_source
def family_of(kind):
    """Return the functions of a kind."""
    if kind == GAUSSIAN:
        family = _GAUSSIAN
    elif kind == COUNTS:
        family = _COUNTS
    elif kind == CELLS:
        family = _CELLS
    elif kind == PARTS:
        family = _PARTS
    else:
        family = _AUGMENTED
    return family


@njit_inlined_source
def weigh_row(kind, i, rows, prior, clusters, n, own, scratch, out):
    """Write log p(x_i given the rows of cluster k) of n clusters to `out`."""
    # `own` is the row's cluster, which has other rows and counts without this one, or -1. False:
    # the row is too far out there.
    return family_of(kind).weigh_row(
        np.int64(i), rows, prior, clusters, np.int64(n), np.int64(own), scratch, out
    )


@njit_inlined_source
def move_row(kind, i, k, sign, rows, prior, clusters, scratch):
    """Add row i to cluster k (sign 1.0), or take it out (-1.0)."""
    family_of(kind).move_row(np.int64(i), np.int64(k), sign, rows, prior, clusters, scratch)


@njit_inlined_source
def needs_rebuild(kind, k, clusters):
    """Return whether a cluster has to be rebuilt from the data, because of rounding errors."""
    return kind != COUNTS and clusters.vectors[UPDATES, k] >= MOST_UPDATES


@njit_inlined_source
def build_cluster(kind, k, members, rows, prior, clusters, scratch):
    """Write the statistics of a cluster of some rows; False: a scale is not positive definite."""
    return family_of(kind).build_cluster(np.int64(k), members, rows, prior, clusters, scratch)


@njit_inlined_source
def copy_cluster(kind, source, k, target, j):
    """Copy cluster k of `source` to place j of `target`."""
    family_of(kind).copy_cluster(source, np.int64(k), target, np.int64(j))


@njit_inlined_source
def log_evidence(kind, k, prior, clusters):
    """Return log p(rows of a cluster), without the constants of rows."""
    return family_of(kind).log_evidence(np.int64(k), prior, clusters)


@njit_inlined_source
def halve(kind, n, members, by_means, rows, prior, clusters, scratch, found, sides):
    """Assign n rows to side 0, 1 or neither (-1), and the last two rows to sides 0 and 1."""
    # Sides are found by two means, or for tables by predictions, if `by_means`; `found` is scratch.
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


@njit_inlined_source
def draw_parameters(kind, k, prior, clusters, drawn, scratch, rng):
    """Draw the parameters of cluster k given its rows."""
    family_of(kind).draw_parameters(k, prior, clusters, drawn, scratch, rng)


@njit_inlined_source
def weigh_row_given(kind, i, rows, drawn, lines):
    """Write log p(x_i | parameters of k) for all clusters to `lines[0]`, up to shared terms."""
    family_of(kind).weigh_row_given(np.int64(i), rows, drawn, lines)


@njit_inlined_source
def draw_rest_given(kind, i, k, rows, drawn, lines, rng):
    """Draw the weight and the missing cells of a row, given the parameters of its cluster."""
    if kind == AUGMENTED:
        _augmented.draw_latent_given(np.int64(i), np.int64(k), rows, drawn, lines, rng)
