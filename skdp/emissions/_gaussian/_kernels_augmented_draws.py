r"""Draws of parameters given rows with weights, and of weights and missing values given parameters.

Given the mean and the covariance of its cluster, a block of a row has a weight
u ~ Gamma(a + n / 2, a + q / 2), where q is the squared distance of its n observed values, and the
missing values are Gaussian given the weight and the observed ones. Integrated over the weight, the
observed values are t distributed. Symbols as in `_kernels_cluster_draws` and `_kernels_augmented`.

| name | symbol | shape | meaning |
|---|---|---|---|
| drawn.factors | V / sqrt 2 | (D, W, C) | |
| drawn.offsets | V mu / sqrt 2 | (D, C) | |
| lines.logs | | (C,) | log densities, output |
| lines.squares | q / 2 | (C,) | scratch |
| lines.work, lines.triangle | Q, R | (W, W + 1, C) | scratch: see `weigh_block_given` |
| lines.dots, lines.drawn | | (C,), (W,) | scratch |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_internal_nogc
from skdp._numeric._random import draw_gamma, draw_normal
from skdp.emissions._gaussian._kernels import ROOT_HALF, SMALLEST_ROOT
from skdp.emissions._gaussian._kernels_augmented import normalize, project, square_column
from skdp.emissions._gaussian._kernels_clusters import HUGE, SIZE


@njit_internal_nogc
def draw_block(k, begin, width, dof, error, clusters, drawn, line, rng):
    """Draw a block's Sigma, and its mean with the covariance error^2 Sigma; return log det V."""
    log_det = 0.0
    for r in range(width):
        for f in range(r):
            line[f] = draw_normal(rng)
        chi_square = 2.0 * draw_gamma(0.5 * (dof - (width - 1 - r)), rng)
        line[r] = max(math.sqrt(chi_square), SMALLEST_ROOT)
        log_det += math.log(line[r]) + math.log(clusters.factors[begin + r, r, k])
        offset = draw_normal(rng) * error
        for e in range(r + 1):
            v = 0.0
            for f in range(e, r + 1):
                v += line[f] * clusters.factors[begin + f, e, k]
            drawn.factors[begin + r, e, k] = v * ROOT_HALF
            offset += v * clusters.points[0, begin + e, k]
        drawn.offsets[begin + r, k] = offset * ROOT_HALF
    return log_det


@njit_internal_nogc
def draw_augmented(k, prior, clusters, drawn, scratch, rng):
    """Draw the mean and covariance of a cluster: see `draw_gaussian`."""
    n_blocks, width = prior.mean.shape
    line, dof, log_det = scratch.columns[0], prior.dof + clusters.vectors[SIZE, k], 0.0
    for b in range(n_blocks):
        error = 1.0 / math.sqrt(clusters.masses[b, k])
        log_det += draw_block(k, b * width, width, dof, error, clusters, drawn, line, rng)
    drawn.heads[k] = log_det


@njit_internal_nogc
def weigh_block_given(i, b, rows, drawn, first, last, lines):
    """Write the squares of a block in clusters `first` to `last` - 1, and subtract log det R.
    As in `weigh_block`, but y = V_o x_o - V mu, so that R x_m = -Q^T y for the mean of x_m.
    """
    width = drawn.factors.shape[1]
    begin, m = b * width, rows.n_hidden[i, b]
    work, triangle, dots, squares = lines.work, lines.triangle, lines.dots, lines.squares
    for r in range(width):
        for k in range(first, last):
            work[r, m, k] = -drawn.offsets[begin + r, k]
        for e in range(r + 1):
            if not rows.hidden[i, begin + e]:
                x, factors = rows.values[i, begin + e], drawn.factors[begin + r, e]
                for k in range(first, last):
                    work[r, m, k] += factors[k] * x
    j = 0
    for e in range(width - 1, -1, -1):
        if rows.hidden[i, begin + e]:
            for r in range(width):
                for k in range(first, last):
                    work[r, j, k] = drawn.factors[begin + r, e, k] if r >= e else 0.0
            for other in range(j):
                project(other, j, e, first, last, work, triangle, dots)
            normalize(j, e, first, last, lines.logs, work, triangle, dots)
            project(j, m, e, first, last, work, triangle, dots)
            j += 1
    square_column(m, first, last, HUGE, work, squares)


@njit_internal_nogc
def weigh_augmented_given(i, rows, drawn, lines):
    """Write the log densities of the observed values of a row under all clusters."""
    n, width = drawn.heads.shape[0], drawn.factors.shape[1]
    for k in range(n):
        lines.logs[k] = drawn.heads[k]
    for b in range(rows.weights.shape[1]):
        weigh_block_given(i, b, rows, drawn, 0, n, lines)
        power = rows.shape + 0.5 * (width - rows.n_hidden[i, b])
        for k in range(n):
            if rows.shape > 0.0:
                lines.logs[k] -= power * math.log1p(lines.squares[k] / rows.shape)
            else:
                lines.logs[k] -= lines.squares[k]


@njit_internal_nogc
def draw_latent_given(i, k, rows, drawn, lines, rng):
    """Draw the weights and missing values of a row given the parameters of its cluster."""
    width = drawn.factors.shape[1]
    for b in range(rows.weights.shape[1]):
        begin, m = b * width, rows.n_hidden[i, b]
        if m == 0 and not rows.shape > 0.0:
            continue
        weigh_block_given(i, b, rows, drawn, k, k + 1, lines)
        if rows.shape > 0.0:
            draw = draw_gamma(rows.shape + 0.5 * (width - m), rng)
            rows.weights[i, b] = max(draw / (rows.shape + lines.squares[k]), SMALLEST_ROOT)
        length = ROOT_HALF / math.sqrt(rows.weights[i, b])
        for j in range(m - 1, -1, -1):
            x = length * draw_normal(rng) - lines.triangle[j, m, k]
            for other in range(j + 1, m):
                x -= lines.triangle[j, other, k] * lines.drawn[other]
            lines.drawn[j] = x / lines.triangle[j, j, k]
        j = 0
        for e in range(width - 1, -1, -1):
            if rows.hidden[i, begin + e]:
                rows.values[i, begin + e] = lines.drawn[j]
                j += 1
