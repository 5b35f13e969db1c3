r"""Draws of cluster parameters given their rows, and log densities of rows given the parameters.

Parameters that `_kernels_clusters` integrates out are drawn here, for samplers that draw the
clusters of many rows at once. The posterior of a Gaussian block is stored as U with
U^T U = S_n^-1. With the triangular A of Bartlett, V = A U has V^T V ~ Wishart(nu_n, S_n^-1), and
V mu = V m_n + y / sqrt(c_n) with normal y.

| name | symbol | shape | meaning |
|---|---|---|---|
| kind, rows, prior, clusters, scratch | | | see `_kernels_clusters` |
| drawn.heads | | (C,) | terms of log densities that do not depend on the row |
| drawn.factors | V / sqrt 2 | (D, W, C) | for Gaussian rows |
| drawn.offsets | V mu / sqrt 2 | (D, C) | for Gaussian rows |
| drawn.logs | log theta, log lambda | (V, C) | for rows of counts |
| drawn of parts | | | see `_cells/_kernels_draws` and `PartParameters` |
| lines | | (4, C) | scratch; arrays of `_gaussian/_kernels_augmented_draws` if rows are AUGMENTED |
| rng | | (4,) uint64 | stream, advanced in place |
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc
from skdp._numeric._random import draw_log_gamma
from skdp.emissions._cells._kernels_draws import draw_cells, weigh_cells_given
from skdp.emissions._gaussian._kernels_augmented_draws import (
    draw_augmented,
    draw_block,
    draw_latent_given,
    weigh_augmented_given,
)
from skdp.emissions._gaussian._kernels_clusters import HUGE
from skdp.emissions._kernels_clusters import (
    AUGMENTED,
    CELLS,
    CELLS_AND_COUNTS,
    CELLS_AND_GAUSSIANS,
    COUNTS,
    GAUSSIAN,
    SIZE,
)


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
