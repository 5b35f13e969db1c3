r"""Gaussian clusters: single-row updates, with parameters integrated out, and drawn prior scales.

Columns are B blocks of W, as in `_kernels/_gaussian`. The posterior scale S_n of a block is stored
as the lower triangular U with U^T U = S_n^-1, and updated for one row in W^2 steps. Row r of block
b is factors[b W + r].

| name | symbol | shape | meaning |
|---|---|---|---|
| values | x_i | (N, D) | rows |
| prior | | | see `GaussianClusterPrior` |
| vectors | | (6, C) | SIZE, UPDATES, LOG_DET, HEAD, RATIO, POWER of at most C clusters |
| factors | U | (D, W, C) | |
| points | m_n, U m_n | (2, D, C) | posterior means, and U applied to them |
| lines | | (2, C) | scratch |
| columns, matrix | | (2, W), (W, W) | scratch |

For each cluster, SIZE is n, UPDATES is the number of rows added or removed since U was computed
from the data, LOG_DET is the sum over blocks of log det U, HEAD contains the terms of the log
density that do not depend on the row, RATIO is c_n / (c_n + 1), and POWER is (nu_n + 1) / 2.

Log densities of all clusters are computed at once, and the row's own cluster counts without the
row: for S_n^-1 with the row, d = x - m_n and h = 1 - c_n / (c_n - 1) d^T S_n^-1 d,
det S_{n-1} = h det S_n. So clusters are only updated if the row moves.
"""

# mypy: ignore-errors

import math

from skdp._numeric._arithmetic import fast_log
from skdp._numeric._numba import (
    njit_inlined,
    njit_inlined_source,
    njit_internal_nogc,
    njit_loop,
    njit_outlined,
)
from skdp._numeric._random import draw_gamma, draw_normal
from skdp.emissions._kernels._gaussian import (
    ROOT_HALF,
    SMALLEST_ROOT,
    draw_precision_factor,
    factorize,
    factorize_posterior,
)

SIZE, UPDATES, LOG_DET, HEAD, RATIO, POWER = range(6)

MOST_UPDATES = 1000
"""Number of updates after which U is recomputed from the data, to limit rounding errors."""

FEWEST_DIGITS = 1e-6
"""Smallest h; below, a row is removed by recomputing the cluster from the other rows."""

HUGE = 1e300

LOG_PI = math.log(math.pi)

N_ROUNDS = 5
"""Number of iterations of two means."""


@njit_inlined
def write_squares(x, begin, width, clusters, n, sums, squares):
    """Write the squared distances |U x - U m_n|^2 of a block of a row from n clusters."""
    for k in range(n):
        squares[k] = 0.0
    for r in range(width):
        factors, offsets = clusters.factors[begin + r], clusters.points[1, begin + r]
        for k in range(n):
            sums[k] = -offsets[k]
        for e in range(r + 1):
            y, row = x[begin + e], factors[e]
            for k in range(n):
                sums[k] += y * row[k]
        for k in range(n):
            squares[k] += sums[k] * sums[k]


@njit_internal_nogc
def weigh_row(i, rows, prior, clusters, n, own, scratch, out):
    n_blocks, width = prior.mean.shape
    x, ratios, powers = rows.values[i], clusters.vectors[RATIO], clusters.vectors[POWER]
    sums, squares = scratch.lines[0], scratch.lines[1]
    own_logs = weight = 0.0
    for k in range(n):
        out[k] = clusters.vectors[HEAD, k]
    if own >= 0:
        c = prior.precision + clusters.vectors[SIZE, own]
        weight = c / (c - 1.0)
    for b in range(n_blocks):
        write_squares(x, b * width, width, clusters, n, sums, squares)
        if own >= 0:
            h = 1.0 - weight * squares[own]
            if not h > FEWEST_DIGITS:
                return False
            own_logs += math.log(h)
        for k in range(n):
            out[k] -= powers[k] * fast_log(1.0 + ratios[k] * min(squares[k], HUGE))
    if own >= 0:
        size = clusters.vectors[SIZE, own]
        head = head_of_density(prior.precision + size - 1.0, prior.dof + size - 1.0, width)
        out[own] = n_blocks * head + clusters.vectors[LOG_DET, own]
        out[own] += 0.5 * (prior.dof + size - 1.0) * own_logs
    return True


@njit_internal_nogc
def head_of_density(precision, dof, width):
    """Return the log constant of a block's Student t density, without the determinant."""
    power = 0.5 * (dof + 1.0)
    head = math.lgamma(power) - math.lgamma(power - 0.5 * width)
    return head + 0.5 * width * (math.log(precision / (precision + 1.0)) - LOG_PI)


@njit_internal_nogc
def refresh(k, prior, clusters):
    """Update the quantities that depend on the size of a cluster."""
    n_blocks, width = prior.mean.shape
    size = clusters.vectors[SIZE, k]
    c, dof = prior.precision + size, prior.dof + size
    clusters.vectors[RATIO, k] = c / (c + 1.0)
    clusters.vectors[POWER, k] = 0.5 * (dof + 1.0)
    head = n_blocks * head_of_density(c, dof, width)
    clusters.vectors[HEAD, k] = head + clusters.vectors[LOG_DET, k]


@njit_internal_nogc
def move_factor(factors, begin, width, k, whitened, sign, row):
    """Update U of S to that of S + sign v v^T given w = U v; return the change of log det U."""
    # I + sign w w^T = C C^T; C is proportional to w below the diagonal, so C^-1 U takes W^2 steps.
    before = 1.0
    for e in range(width):
        row[e] = 0.0
    for r in range(width):
        w = whitened[r]
        after = before + sign * w * w
        root, share = math.sqrt(before / after), w / math.sqrt(before * after)
        for e in range(r + 1):
            y = (factors[begin + r, e, k] - sign * w * row[e]) * root
            factors[begin + r, e, k] = y
            row[e] += share * y
        before = after
    return -0.5 * math.log(before)


@njit_internal_nogc
def write_inverse(matrix, begin, k, clusters):
    """Write the inverse of a Cholesky factor as U of a block, and add log det U."""
    width = matrix.shape[0]
    for d in range(width):
        clusters.vectors[LOG_DET, k] -= math.log(matrix[d, d])
    for e in range(width):
        for r in range(e, width):
            x = 1.0 if r == e else 0.0
            for f in range(e, r):
                x -= matrix[r, f] * clusters.factors[begin + f, e, k]
            clusters.factors[begin + r, e, k] = x / matrix[r, r]


@njit_internal_nogc
def write_offsets(begin, width, k, clusters):
    """Write U m_n of a block."""
    for r in range(width):
        offset = 0.0
        for e in range(r + 1):
            offset += clusters.factors[begin + r, e, k] * clusters.points[0, begin + e, k]
        clusters.points[1, begin + r, k] = offset


@njit_internal_nogc
def move_row_of_block(x, u, c, sign, begin, k, clusters, scratch):
    """Add a row of weight u to a block (sign 1.0), or remove it (-1.0); return c_n, before c."""
    whitened, row = scratch.columns[0], scratch.columns[1]
    width, after = row.shape[0], c + sign * u
    length = math.sqrt(u * c / after)
    for r in range(width):
        w = -clusters.points[1, begin + r, k]
        for e in range(r + 1):
            w += clusters.factors[begin + r, e, k] * x[begin + e]
        whitened[r] = w * length
    clusters.vectors[LOG_DET, k] += move_factor(
        clusters.factors, begin, width, k, whitened, sign, row
    )
    for r in range(width):
        center = clusters.points[0, begin + r, k]
        away = x[begin + r] - center
        clusters.points[0, begin + r, k] = center + sign * u * away / after
    write_offsets(begin, width, k, clusters)
    return after


@njit_internal_nogc
def move_row(i, k, sign, rows, prior, clusters, scratch):
    """Add a row to cluster k (sign 1.0), or remove it (-1.0)."""
    n_blocks, width = prior.mean.shape
    c = prior.precision + clusters.vectors[SIZE, k]
    for b in range(n_blocks):
        move_row_of_block(rows.values[i], 1.0, c, sign, b * width, k, clusters, scratch)
    clusters.vectors[SIZE, k] += sign
    clusters.vectors[UPDATES, k] += 1.0
    refresh(k, prior, clusters)


@njit_internal_nogc
def add_up_block(b, members, values, weights, prior, center, matrix):
    """Write the mean of a block's rows and S_n; return the sum of their weights, 1 if None."""
    width, begin, mass = prior.mean.shape[1], b * prior.mean.shape[1], 0.0
    for d in range(width):
        center[d] = 0.0
        for e in range(d + 1):
            matrix[d, e] = prior.scale[b, d, e]
    for i in members:
        u = 1.0
        if weights is not None:
            u = weights[i, b]
        mass += u
        for d in range(width):
            center[d] += u * values[i, begin + d]
    for d in range(width):
        center[d] /= mass if mass > 0.0 else 1.0
    for i in members:
        for d in range(width):
            x = values[i, begin + d] - center[d]
            if weights is not None:
                x *= weights[i, b]
            for e in range(d + 1):
                matrix[d, e] += x * (values[i, begin + e] - center[e])
    c = prior.precision + mass
    for d in range(width):
        x = prior.precision * mass / c * (center[d] - prior.mean[b, d])
        for e in range(d + 1):
            matrix[d, e] += x * (center[e] - prior.mean[b, e])
    return mass


@njit_internal_nogc
def write_block(b, k, mass, center, matrix, prior, clusters):
    """Write the posterior of a cluster's block, given the Cholesky factor of S_n; return c_n."""
    width, begin, c = prior.mean.shape[1], b * prior.mean.shape[1], prior.precision + mass
    for d in range(width):
        away = mass * (center[d] - prior.mean[b, d]) / c
        clusters.points[0, begin + d, k] = prior.mean[b, d] + away
    write_inverse(matrix, begin, k, clusters)
    write_offsets(begin, width, k, clusters)
    return c


@njit_outlined
def build_cluster(k, members, rows, prior, clusters, scratch):
    """Write the statistics of a cluster of given rows; False: a scale is not positive definite."""
    clusters.vectors[SIZE, k] = members.shape[0]
    clusters.vectors[UPDATES, k] = 0.0
    clusters.vectors[LOG_DET, k] = 0.0
    center, matrix = scratch.columns[0], scratch.matrix
    for b in range(prior.mean.shape[0]):
        mass = add_up_block(b, members, rows.values, None, prior, center, matrix)
        if not factorize(matrix):
            return False
        write_block(b, k, mass, center, matrix, prior, clusters)
    refresh(k, prior, clusters)
    return True


@njit_outlined
def copy_cluster(source, k, target, j):
    """Copy cluster k of `source` to place j of `target`."""
    for v in range(source.vectors.shape[0]):
        target.vectors[v, j] = source.vectors[v, k]
    for d in range(source.factors.shape[0]):
        target.points[0, d, j] = source.points[0, d, k]
        target.points[1, d, j] = source.points[1, d, k]
        for e in range(source.factors.shape[1]):
            target.factors[d, e, j] = source.factors[d, e, k]


@njit_outlined
def log_evidence(k, prior, clusters):
    """Return log p(rows of a cluster)."""
    n_blocks, width = prior.mean.shape
    size, log_det = clusters.vectors[SIZE, k], clusters.vectors[LOG_DET, k]
    dof, result = prior.dof + size, 0.0
    for d in range(width):
        result += math.lgamma(0.5 * (dof - d)) - math.lgamma(0.5 * (prior.dof - d))
    result += 0.5 * width * math.log(prior.precision / (prior.precision + size))
    result -= 0.5 * width * size * LOG_PI
    return n_blocks * result + 0.5 * prior.dof * prior.log_det + dof * log_det


@njit_outlined
def halve_gaussian(n, members, values, prior, clusters, sides):
    """Split n rows by two means, begun with the last two rows, which get sides 0 and 1."""
    # Columns are in units of the prior's scale; `clusters`, with room for two, is overwritten.
    centers, sums, width = clusters.points[0], clusters.points[1], prior.mean.shape[1]
    sizes = clusters.vectors[SIZE]
    for d in range(values.shape[1]):
        for side in range(2):
            centers[d, side] = values[members[n - 2 + side], d]
    for _ in range(N_ROUNDS):
        for side in range(2):
            sizes[side] = 0.0
            for d in range(values.shape[1]):
                sums[d, side] = 0.0
        for place in range(n):
            i, nearer = members[place], 0.0
            for d in range(values.shape[1]):
                x, scale = values[i, d], prior.scale[d // width, d % width, d % width]
                apart = centers[d, 1] - centers[d, 0]
                nearer += (2.0 * x - centers[d, 0] - centers[d, 1]) * apart / scale
            side = 1 if nearer > 0.0 else 0
            sides[place] = side
            sizes[side] += 1.0
            for d in range(values.shape[1]):
                sums[d, side] += values[i, d]
        for side in range(2):
            if sizes[side] > 0.0:
                for d in range(values.shape[1]):
                    centers[d, side] = sums[d, side] / sizes[side]
    if sides[n - 2] == 1 and sides[n - 1] == 0:
        for place in range(n):
            sides[place] = 1 - sides[place]
    sides[n - 2], sides[n - 1] = 0, 1


# Draws of parameters given rows, and densities given these: symbols as in `_kernels/_clusters`.


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
def draw_parameters(k, prior, clusters, drawn, scratch, rng):
    """Draw the mean and covariance of a cluster."""
    n_blocks, width = prior.mean.shape
    size, line = clusters.vectors[SIZE, k], scratch.columns[0]
    dof, error = prior.dof + size, 1.0 / math.sqrt(prior.precision + size)
    log_det = 0.0
    for b in range(n_blocks):
        log_det += draw_block(k, b * width, width, dof, error, clusters, drawn, line, rng)
    drawn.heads[k] = log_det


@njit_internal_nogc
def weigh_row_given(i, rows, drawn, lines):
    """Write the log densities of a row under all clusters to `lines[0]`."""
    x, (n_dims, width, n) = rows.values[i], drawn.factors.shape
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


# Draws of the prior scale of covariances: see `ScalePrior`; symbols are as in `_kernels/_gaussian`.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | n_free | n_b | (B,) int64 | rows of Q_b |
# | roots | R_b | (B, W, W) | in the first n_b columns |
# | fixed | F_b | (B, W, W) | fixed part of S_b |
# | total | P | (W, W) | sum of the precisions on which the draw of S is conditioned |
# | least | | float | see `_kernels/_gaussian.factorize_posterior` |


LOWEST = 1e-4
"""Lower bound of the harmonic mean of the eigenvalues of Q, whose expected value is 1."""


@njit_loop
def draw_scale(
    counts, masses, centers, scatter, mean, precision, dof, scale, n_free, roots, fixed, least,
    scratch, rng, out,
):  # fmt: skip
    """Draw S given the states, a copy of which is `out`; False: a scale is not definite."""
    # mu and Sigma are integrated out: draws of Sigma_k, given which S is drawn, are discarded.
    width = mean.shape[1]
    factor, bartlett, precision_factor = scratch[0], scratch[1], scratch[2]
    total, product = scratch[3], scratch[4]
    for b in range(mean.shape[0]):
        total[:] = 0.0
        freedom = float(n_free[b])
        for k in range(b, counts.shape[0], mean.shape[0]):
            if counts[k] > 0.0:
                if not factorize_posterior(
                    k, (masses, centers, scatter), mean, precision, scale, least, factor, product,
                    bartlett[0],
                ):  # fmt: skip
                    return False
                draw_precision_factor(
                    factor, width, dof + counts[k], bartlett, precision_factor, rng
                )
                add_square(precision_factor, width, total)
                freedom += dof
        if n_free[b] > 0 and not draw_free_scale(
            n_free[b], freedom, roots[b], fixed[b], total, product, factor, bartlett,
            precision_factor, rng, out[b],
        ):  # fmt: skip
            return False
    return True


@njit_loop
def draw_scale_given_precisions(precision_factors, dof, n_free, roots, fixed, scratch, rng, out):
    """Draw S given all Sigma; the other arguments and the result are as in `draw_scale`."""
    n_blocks, width = out.shape[0], out.shape[1]
    n_components = precision_factors.shape[0]
    factor, bartlett, precision_factor = scratch[0], scratch[1], scratch[2]
    total, product = scratch[3], scratch[4]
    for b in range(n_blocks):
        total[:] = 0.0
        for k in range(b, n_components, n_blocks):
            add_square(precision_factors[k], width, total)
        freedom = n_free[b] + dof * (n_components // n_blocks)
        if n_free[b] > 0 and not draw_free_scale(
            n_free[b], freedom, roots[b], fixed[b], total, product, factor, bartlett,
            precision_factor, rng, out[b],
        ):  # fmt: skip
            return False
    return True


@njit_inlined_source
def add_square(factor, n, out):
    """Add U^T U of a lower triangular matrix of n rows to `out`."""
    for d in range(n):
        for e in range(n):
            x = 0.0
            for f in range(max(d, e), n):
                x += factor[f, d] * factor[f, e]
            out[d, e] += x


@njit_inlined_source
def draw_free_scale(
    n, freedom, roots, fixed, total, product, factor, bartlett, precision_factor, rng, out
):
    """Write F + R Q R^T, Q ~ Wishart(freedom, (n I + R^T P R)^-1); False: there is no inverse."""
    width = out.shape[0]
    for d in range(width):
        for i in range(n):
            product[d, i] = 0.0
            for e in range(width):
                product[d, i] += total[d, e] * roots[e, i]
    for i in range(width):
        for j in range(width):
            factor[i, j] = float(n) if i == j else 0.0
            if i < n and j < n:
                for d in range(width):
                    factor[i, j] += roots[d, i] * product[d, j]
    if not factorize(factor):
        return False
    draw_precision_factor(factor, n, freedom, bartlett, precision_factor, rng)
    if sum_inverse_squares(precision_factor, n, factor) * LOWEST > n:
        return True  # the block keeps its S
    for d in range(width):
        for i in range(n):  # of R U^T
            product[d, i] = 0.0
            for j in range(i + 1):
                product[d, i] += roots[d, j] * precision_factor[i, j]
    for d in range(width):
        for e in range(width):
            x = fixed[d, e]
            for i in range(n):
                x += product[d, i] * product[e, i]
            out[d, e] = x
    return True


@njit_inlined_source
def sum_inverse_squares(factor, n, inverse):
    """Return the trace of (U^T U)^-1 of a lower triangular U of n rows; `inverse` is scratch."""
    result = 0.0
    for j in range(n):
        for i in range(j, n):
            x = 1.0 if i == j else 0.0
            for e in range(j, i):
                x -= factor[i, e] * inverse[e, j]
            inverse[i, j] = x / factor[i, i]
            result += inverse[i, j] * inverse[i, j]
    return result
