r"""Gaussian rows on a grid, or whose missing values and weights are drawn: clusters, and states.

Row i is N(mu, Sigma / u_ib) in block b of the columns, and some of its values are missing. Weights
and missing values are part of the state of the chain. The step for a row removes it from its
cluster and then draws its cluster, its weights and its missing values jointly: the cluster given
the observed entries of the row, the others given the cluster. Names and layout are those of
`_kernels/_gaussian_clusters`, with

| name | symbol | shape | meaning |
|---|---|---|---|
| rows.values | x_i | (N, D) float64 | with the current missing values; written to |
| rows.weights | u_ib | (N, B) float64 | written to |
| rows.hidden | | (N, D) bool | whether a value is missing |
| rows.n_hidden | m | (N, B) int64 | number of missing values of a block |
| rows.shape | a | scalar | u ~ Gamma(a, a); 0: all weights are 1 |
| rows.alone | | (2, N, B) float64 | q and head of each row in a cluster of its own |
| masses | c_n | (B, C) float64 | prior precision plus the sum of the weights of a cluster |
| vectors | G | (6 + B, C) float64 | from GAP on, log det (I - U R U^T) of blocks |
| squares, heads | q | (B, C) float64 | scratch: distance of a block, and terms without u |
| work, triangle | Q, R | (W, W + 1, C) | scratch, with y and Q^T y in column m: see `weigh_block` |
| marks | | (1,) float64 | scratch: 1 if the weights of the row stay |

Each row adds R = diag(prior.spread) to S_n (see `_common/_columns`). U is that of A = S_n + R, to
which the next row adds only its square, and G = log det S_n - log det A enters its density.

With r = c_n u / (c_n + u), the n = W - m observed values of a block have the density

    Gamma(p) / Gamma(p - n / 2) (r / pi)^(n / 2) exp(nu_n G / 2) det A^(-1 / 2) (1 + r q)^-p

with p = (nu_n + 1 - m) / 2, where A and q are the observed part of A and the squared distance
with respect to it. Given them, the missing values are multivariate t with 2 p degrees of freedom.

Weights are drawn on a lattice: log u is replaced by a value log u + j h with an integer j, given
the fractional part of log u / h. For each cluster only values between two bounds are used, which
depend on the lattice, the other rows and the cluster, but not on j. If the current value is not
between those of its cluster, the row keeps its cluster and its weights. Both leave the posterior
invariant, and the sum over the lattice is close to the density with u integrated out.
"""

# mypy: ignore-errors

import math

from skdp._numeric._arithmetic import fast_exp, fast_log
from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop, njit_outlined
from skdp._numeric._random import draw_gamma, draw_normal, next_double
from skdp.emissions._kernels import _gaussian_clusters as gaussian
from skdp.emissions._kernels._gaussian import (
    ROOT_HALF,
    SMALLEST_PIVOT,
    SMALLEST_ROOT,
    factorize,
    fast_log_1p,
    find_peak,
    has_few_digits,
    write_in_order,
)
from skdp.emissions._kernels._gaussian_clusters import (
    FEWEST_DIGITS,
    HEAD,
    HUGE,
    LOG_DET,
    LOG_PI,
    POWER,
    SIZE,
    UPDATES,
)

GAP = 6

LARGEST_SQUARE = 1e280

MOST_NODES = 60
"""Largest number of values of a weight for a cluster."""

STEP, LEFT, RIGHT = 1.2, 3.0, 4.5
"""Distance of points of log u, and reach of the bounds, in units of (a + n / 2)^(-1 / 2)."""

LEFT_TAIL = 8.0
"""Bound on a logarithm: below its mode, the density falls like u^(a + n / 2)."""


@njit_internal_nogc
def refresh(k, prior, clusters):
    """Update the quantities that depend on the size of a cluster."""
    n_blocks, width = prior.mean.shape
    power = 0.5 * (prior.dof + clusters.vectors[SIZE, k] + 1.0)
    head = math.lgamma(power) - math.lgamma(power - 0.5 * width) - 0.5 * width * LOG_PI
    clusters.vectors[POWER, k] = power
    clusters.vectors[HEAD, k] = n_blocks * head + clusters.vectors[LOG_DET, k]
    for b in range(n_blocks):
        clusters.vectors[HEAD, k] += log_gap(b, k, prior.spread, clusters)


# If `spread` is None, branches are left out at compile time: only arguments can be compared.


@njit_internal_nogc
def log_gap(b, k, spread, clusters):
    """Return nu_n G / 2 of a block."""
    if spread is None:
        return 0.0
    return (clusters.vectors[POWER, k] - 0.5) * clusters.vectors[GAP + b, k]


@njit_internal_nogc
def add_spread(b, times, spread, matrix):
    """Add R of a block some times to its scale."""
    if spread is not None:
        for d in range(matrix.shape[0]):
            matrix[d, d] += times * spread[b, d]


@njit_internal_nogc
def log_det_without(b, k, times, spread, clusters, scratch):
    """Return log det (I - times U R U^T - w w^T) with w = columns[0]; -inf: there is none."""
    matrix, w, factors, result = scratch.matrix, scratch.columns[0], clusters.factors, 0.0
    begin = b * w.shape[0]
    for r in range(matrix.shape[0]):
        for s in range(r + 1):
            x = -w[r] * w[s]
            for e in range(s + 1):
                square = factors[begin + r, e, k] * factors[begin + s, e, k]
                x -= times * spread[b, e] * square
            matrix[r, s] = 1.0 + x if r == s else x
    if not factorize(matrix):
        return -math.inf
    for r in range(matrix.shape[0]):
        result += 2.0 * math.log(matrix[r, r])
    return result


@njit_internal_nogc
def find_gap(b, k, spread, clusters, scratch):
    """Write G of a block; return whether S_n is positive definite."""
    if spread is None:
        return True
    scratch.columns[0, :] = 0.0
    clusters.vectors[GAP + b, k] = log_det_without(b, k, 1.0, spread, clusters, scratch)
    return clusters.vectors[GAP + b, k] > -math.inf


@njit_internal_nogc
def move_spread(b, k, sign, spread, clusters, scratch):
    """Add R to A of a block (sign 1.0), or subtract it (-1.0)."""
    if spread is not None:
        w, width = scratch.columns[0], spread.shape[1]
        begin = b * width
        for d in range(width):
            root = math.sqrt(spread[b, d])
            for r in range(width):
                w[r] = root * clusters.factors[begin + r, d, k] if r >= d else 0.0
            if root > 0.0:
                clusters.vectors[LOG_DET, k] += gaussian.move_factor(
                    clusters.factors, begin, width, k, w, sign, scratch.columns[1]
                )
        gaussian.write_offsets(begin, width, k, clusters)


@njit_internal_nogc
def whiten(b, x, k, clusters, w):
    """Write U (x - m_n) of a block; return its squared length."""
    begin, square = b * w.shape[0], 0.0
    for r in range(w.shape[0]):
        y = -clusters.points[1, begin + r, k]
        for e in range(r + 1):
            y += clusters.factors[begin + r, e, k] * x[begin + e]
        w[r] = y
        square += y * y
    return square


@njit_internal_nogc
def share_left(b, x, u, k, square, spread, clusters, scratch):
    """Return det S_{n - 1} / det S_n without a row of weight u, at a distance from m_n."""
    c, w = clusters.masses[b, k], scratch.columns[0]
    ratio = u * c / (c - u)
    if spread is None:
        return 1.0 - ratio * square
    whiten(b, x, k, clusters, w)
    for r in range(w.shape[0]):
        w[r] *= math.sqrt(ratio)
    log_det = log_det_without(b, k, 2.0, spread, clusters, scratch)
    return math.exp(log_det - clusters.vectors[GAP + b, k])


@njit_internal_nogc
def weigh_row(i, rows, prior, clusters, n, own, scratch, out):
    n_blocks, width = prior.mean.shape
    x, powers = rows.values[i], clusters.vectors[POWER]
    sums, squares = scratch.lines[0], scratch.lines[1]
    own_logs = own_ratios = 0.0
    for k in range(n):
        out[k] = clusters.vectors[HEAD, k]
    for b in range(n_blocks):
        u, masses = rows.weights[i, b], clusters.masses[b]
        gaussian.write_squares(x, b * width, width, clusters, n, sums, squares)
        if own >= 0:
            c = masses[own]
            share = share_left(b, x, u, own, squares[own], prior.spread, clusters, scratch)
            if not share > FEWEST_DIGITS:
                return False
            own_logs += math.log(share)
            own_ratios += math.log((c - u) * u / c) - clusters.vectors[GAP + b, own] / width
        for k in range(n):
            ratio = masses[k] * u / (masses[k] + u)
            # with u^(D / 2), which all share
            out[k] += 0.5 * width * fast_log(ratio)
            out[k] -= powers[k] * fast_log(1.0 + ratio * min(squares[k], HUGE))
    if own >= 0:
        dof = prior.dof + clusters.vectors[SIZE, own] - 1.0
        power = 0.5 * (dof + 1.0)
        head = math.lgamma(power) - math.lgamma(power - 0.5 * width) - 0.5 * width * LOG_PI
        out[own] = n_blocks * head + clusters.vectors[LOG_DET, own] + 0.5 * width * own_ratios
        out[own] += 0.5 * dof * own_logs
    return True


@njit_internal_nogc
def may_leave(i, k, rows, prior, clusters, scratch):
    """Return whether a row can be removed from a cluster of others without loss of digits."""
    for b in range(prior.mean.shape[0]):
        x, u = rows.values[i], rows.weights[i, b]
        square = whiten(b, x, k, clusters, scratch.columns[0])
        if not share_left(b, x, u, k, square, prior.spread, clusters, scratch) > FEWEST_DIGITS:
            return False
    return True


@njit_internal_nogc
def move_row_of_block(i, b, k, sign, rows, prior, clusters, scratch):
    """Add a row to a block of cluster k (sign 1.0), or remove it (-1.0)."""
    clusters.masses[b, k] = gaussian.move_row_of_block(
        rows.values[i], rows.weights[i, b], clusters.masses[b, k], sign, b * prior.mean.shape[1], k,
        clusters, scratch,
    )  # fmt: skip
    move_spread(b, k, sign, prior.spread, clusters, scratch)
    find_gap(b, k, prior.spread, clusters, scratch)


@njit_internal_nogc
def move_row(i, k, sign, rows, prior, clusters, scratch):
    """Add a row to cluster k (sign 1.0), or remove it (-1.0)."""
    for b in range(prior.mean.shape[0]):
        move_row_of_block(i, b, k, sign, rows, prior, clusters, scratch)
    clusters.vectors[SIZE, k] += sign
    clusters.vectors[UPDATES, k] += 1.0
    refresh(k, prior, clusters)


@njit_internal_nogc
def build_by_updates(b, k, members, rows, prior, clusters, scratch):
    """Write the posterior of a cluster's block row by row, beginning with the prior."""
    # This is slower than a sum of squares, but absurd values do not round the prior's scale away.
    width, begin = prior.mean.shape[1], b * prior.mean.shape[1]
    matrix = scratch.matrix
    for d in range(width):
        clusters.points[0, begin + d, k] = prior.mean[b, d]
        for e in range(d + 1):
            matrix[d, e] = prior.scale[b, d, e]
    add_spread(b, 1.0, prior.spread, matrix)
    if not factorize(matrix):
        return False
    clusters.masses[b, k] = prior.precision
    gaussian.write_inverse(matrix, begin, k, clusters)
    gaussian.write_offsets(begin, width, k, clusters)
    if not find_gap(b, k, prior.spread, clusters, scratch):
        return False
    for i in members:
        move_row_of_block(i, b, k, 1.0, rows, prior, clusters, scratch)
    return math.isfinite(clusters.vectors[LOG_DET, k])


@njit_internal_nogc
def build_block(b, k, members, rows, prior, clusters, scratch):
    """Write the posterior of a cluster's block; return False if S_n is not positive definite."""
    center, diagonal, matrix = scratch.columns[0], scratch.columns[1], scratch.matrix
    mass = gaussian.add_up_block(b, members, rows.values, rows.weights, prior, center, matrix)
    add_spread(b, members.shape[0] + 1.0, prior.spread, matrix)
    for d in range(matrix.shape[0]):
        diagonal[d] = matrix[d, d]
    if not factorize(matrix) or has_few_digits(matrix, diagonal, SMALLEST_PIVOT):
        return build_by_updates(b, k, members, rows, prior, clusters, scratch)
    clusters.masses[b, k] = gaussian.write_block(b, k, mass, center, matrix, prior, clusters)
    return find_gap(b, k, prior.spread, clusters, scratch)


@njit_outlined
def build_cluster(k, members, rows, prior, clusters, scratch):
    """Write the statistics of a cluster of given rows; False: a scale is not positive definite."""
    clusters.vectors[SIZE, k] = members.shape[0]
    clusters.vectors[UPDATES, k] = 0.0
    clusters.vectors[LOG_DET, k] = 0.0
    for b in range(prior.mean.shape[0]):
        if not build_block(b, k, members, rows, prior, clusters, scratch):
            return False
    refresh(k, prior, clusters)
    return True


@njit_outlined
def copy_cluster(source, k, target, j):
    """Copy cluster k of `source` to place j of `target`."""
    gaussian.copy_cluster(source, k, target, j)
    for b in range(source.masses.shape[0]):
        target.masses[b, j] = source.masses[b, k]


@njit_outlined
def log_evidence(k, prior, clusters):
    """Return log p(rows of a cluster | weights) without the factors u^(W / 2)."""
    n_blocks, width = prior.mean.shape
    size, log_det = clusters.vectors[SIZE, k], clusters.vectors[LOG_DET, k]
    dof, result = prior.dof + size, 0.0
    for d in range(width):
        result += math.lgamma(0.5 * (dof - d)) - math.lgamma(0.5 * (prior.dof - d))
    result = n_blocks * (result - 0.5 * width * size * LOG_PI)
    for b in range(n_blocks):
        result += 0.5 * width * math.log(prior.precision / clusters.masses[b, k])
        result -= 0.5 * dof * clusters.vectors[GAP + b, k]
    return result + 0.5 * prior.dof * prior.log_det + dof * log_det


# Quantities that are drawn in addition to the cluster of a row


@njit_internal_nogc
def is_latent(i, rows):
    """Return whether a quantity of a row is drawn in addition to its cluster."""
    if rows.shape > 0.0:
        return True
    n_hidden = 0
    for b in range(rows.n_hidden.shape[1]):
        n_hidden += rows.n_hidden[i, b]
    return n_hidden > 0


@njit_internal_nogc
def weigh_block(i, b, rows, prior, clusters, first, last, scratch):
    """Write the squares and heads of a block in clusters `first` to `last` - 1."""
    # q = |y - Q Q^T y|^2 with y = U_o (x_o - m_o); U_m = Q R are U's columns of missing values.
    width = prior.mean.shape[1]
    begin, m = b * width, rows.n_hidden[i, b]
    work, triangle, dots = scratch.work, scratch.triangle, scratch.lines[0]
    squares, heads = scratch.squares[b], scratch.heads[b]
    n = width - m
    for k in range(first, last):
        power = clusters.vectors[POWER, k] - 0.5 * m
        heads[k] = math.lgamma(power) - math.lgamma(power - 0.5 * n) - 0.5 * n * LOG_PI
        heads[k] += log_gap(b, k, prior.spread, clusters)
        if b == 0:
            heads[k] += clusters.vectors[LOG_DET, k]
    for r in range(width):
        for k in range(first, last):
            work[r, m, k] = 0.0
        for e in range(r + 1):
            if not rows.hidden[i, begin + e]:
                x, points = rows.values[i, begin + e], clusters.points[0, begin + e]
                factors = clusters.factors[begin + r, e]
                for k in range(first, last):
                    work[r, m, k] += factors[k] * (x - points[k])
    project_out(i, begin, m, rows, clusters.factors, first, last, heads, work, triangle, dots)
    square_column(m, first, last, LARGEST_SQUARE, work, squares)


@njit_internal_nogc
def project_out(i, begin, m, rows, factors, first, last, heads, work, triangle, dots):
    """Write Q and R of the columns of missing values; remove these directions from column m."""
    # Modified Gram-Schmidt, in descending order: column e of U has no entries above row e.
    width, j = factors.shape[1], 0
    for e in range(width - 1, -1, -1):
        if rows.hidden[i, begin + e]:
            for r in range(width):
                for k in range(first, last):
                    work[r, j, k] = factors[begin + r, e, k] if r >= e else 0.0
            for other in range(j):
                project(other, j, e, first, last, work, triangle, dots)
            normalize(j, e, first, last, heads, work, triangle, dots)
            project(j, m, e, first, last, work, triangle, dots)
            j += 1


@njit_internal_nogc
def normalize(j, begin, first, last, heads, work, triangle, dots):
    """Scale column j, which is 0 above row `begin`, to length 1; subtract its log from `heads`."""
    for k in range(first, last):
        dots[k] = 0.0
    for r in range(begin, work.shape[0]):
        for k in range(first, last):
            dots[k] += work[r, j, k] * work[r, j, k]
    for k in range(first, last):
        heads[k] -= 0.5 * fast_log(dots[k])
        dots[k] = math.sqrt(dots[k])
        triangle[j, j, k] = dots[k]
    for r in range(begin, work.shape[0]):
        for k in range(first, last):
            work[r, j, k] /= dots[k]


@njit_internal_nogc
def square_column(j, first, last, most, work, squares):
    """Write the squared length of column j, at most `most`."""
    for k in range(first, last):
        squares[k] = 0.0
    for r in range(work.shape[0]):
        for k in range(first, last):
            squares[k] += work[r, j, k] * work[r, j, k]
    for k in range(first, last):
        squares[k] = min(squares[k], most)


@njit_internal_nogc
def project(j, other, begin, first, last, work, triangle, dots):
    """Remove the direction of column j, which is 0 above row `begin`, from another column."""
    for k in range(first, last):
        dots[k] = 0.0
    for r in range(begin, work.shape[0]):
        for k in range(first, last):
            dots[k] += work[r, j, k] * work[r, other, k]
    for r in range(begin, work.shape[0]):
        for k in range(first, last):
            work[r, other, k] -= dots[k] * work[r, j, k]
    for k in range(first, last):
        triangle[j, other, k] = dots[k]


@njit_internal_nogc
def log_density_of_block(u, n, head, square, mass, power):
    """Return the log density of the n observed values of a block given its weight."""
    ratio = mass * u / (mass + u)
    return head + 0.5 * n * math.log(ratio) - power * math.log1p(ratio * square)


@njit_internal_nogc
def find_bounds(n, shape, square, power):
    """Return the bounds of log u for a cluster, and the distance of lattice points."""
    total = shape + 0.5 * n
    root = math.sqrt(total)
    # The largest term for an infinite mass; a finite one can only raise it.
    peak = find_peak(shape, total, power, square)
    low = math.log(peak) - LEFT_TAIL / total - LEFT / root
    high = math.log(total / shape) + RIGHT / root
    step = STEP / root
    return low, min(high, low + MOST_NODES * step), step


@njit_internal_nogc
def weigh_lattice(log_u, n, shape, head, square, mass, power, logs):
    """Write log weights of points log u + (first + i) h; return first, their number and log sum."""
    low, high, step = find_bounds(n, shape, square, power)
    first = math.ceil((low - log_u) / step)
    n_nodes, largest, total = 0, -math.inf, 0.0
    while log_u + (first + n_nodes) * step < high and n_nodes < logs.shape[0]:
        y = log_u + (first + n_nodes) * step
        u = math.exp(y)
        log_prior = shape * (y - u)
        logs[n_nodes] = log_prior + log_density_of_block(u, n, head, square, mass, power)
        largest = max(largest, logs[n_nodes])
        n_nodes += 1
    for node in range(n_nodes):
        total += fast_exp(logs[node] - largest)
    return first, n_nodes, largest + math.log(total)


@njit_internal_nogc
def log_weight_of_block(i, b, rows, n, square, head, mass, power, nodes):
    """Return the log density of n observed values, summed over the lattice of the weight."""
    if rows.shape > 0.0:
        log_u = math.log(rows.weights[i, b])
        return weigh_lattice(log_u, n, rows.shape, head, square, mass, power, nodes)[2]
    return log_density_of_block(rows.weights[i, b], n, head, square, mass, power)


@njit_internal_nogc
def log_weight_of(i, rows, prior, clusters, k, scratch):
    """Return the log weight of cluster k for a row, summed over the lattices of its weights."""
    n_blocks, width = prior.mean.shape
    result = 0.0
    for b in range(n_blocks):
        m, square, head = rows.n_hidden[i, b], scratch.squares[b, k], scratch.heads[b, k]
        power = clusters.vectors[POWER, k] - 0.5 * m
        result += log_weight_of_block(
            i, b, rows, width - m, square, head, clusters.masses[b, k], power, scratch.nodes
        )
    return result


@njit_internal_nogc
def log_weight_alone(i, rows, prior, scratch):
    """Return the log weight of a cluster of its own for a row."""
    n_blocks, width = prior.mean.shape
    result = 0.0
    for b in range(n_blocks):
        m, square, head = rows.n_hidden[i, b], rows.alone[0, i, b], rows.alone[1, i, b]
        power = 0.5 * (prior.dof + 1.0 - m)
        result += log_weight_of_block(
            i, b, rows, width - m, square, head, prior.precision, power, scratch.nodes
        )
    return result


@njit_outlined
def weigh_alone_augmented(i, rows, prior, clusters, scratch):
    """Write the squares and heads of a row in the empty cluster 0; return the log weight."""
    for b in range(prior.mean.shape[0]):
        weigh_block(i, b, rows, prior, clusters, 0, 1, scratch)
        rows.alone[0, i, b], rows.alone[1, i, b] = scratch.squares[b, 0], scratch.heads[b, 0]
    return log_weight_alone(i, rows, prior, scratch)


@njit_outlined
def mark_weights(i, old, is_alone, rows, prior, clusters, scratch):
    """Mark a row whose weights stay, because the cluster that it was in does not allow them."""
    n_blocks, width = prior.mean.shape
    scratch.marks[0] = 0.0
    if rows.shape > 0.0 and old >= 0:
        for b in range(n_blocks):
            m = rows.n_hidden[i, b]
            square = rows.alone[0, i, b] if is_alone else scratch.squares[b, old]
            size = 0.0 if is_alone else clusters.vectors[SIZE, old]
            power = 0.5 * (prior.dof + size + 1.0 - m)
            low, high, _ = find_bounds(width - m, rows.shape, square, power)
            if not low <= math.log(rows.weights[i, b]) < high:
                scratch.marks[0] = 1.0


@njit_outlined
def weigh_removed_row(i, old, is_alone, rows, prior, clusters, n, scratch, out):
    """Write log weights of n clusters for a row in none; return that of a new cluster."""
    # `old`: its last cluster (-1: none); if `is_alone`, that still counts the row, and is no
    # choice.
    for b in range(prior.mean.shape[0]):
        weigh_block(i, b, rows, prior, clusters, 0, n, scratch)
    mark_weights(i, old, is_alone, rows, prior, clusters, scratch)
    if scratch.marks[0] > 0.0:
        for k in range(n):
            out[k] = 0.0 if k == old and not is_alone else -math.inf
        return 0.0 if is_alone else -math.inf
    for k in range(n):
        out[k] = log_weight_of(i, rows, prior, clusters, k, scratch)
    return log_weight_alone(i, rows, prior, scratch)


@njit_internal_nogc
def draw_weight(i, b, k, rows, prior, clusters, scratch, rng):
    """Draw the weight of a block on its lattice, given that the row is in cluster k."""
    width, m = prior.mean.shape[1], rows.n_hidden[i, b]
    log_u, logs = math.log(rows.weights[i, b]), scratch.nodes
    square, power = scratch.squares[b, k], clusters.vectors[POWER, k] - 0.5 * m
    n = width - m
    first, n_nodes, log_sum = weigh_lattice(
        log_u, n, rows.shape, scratch.heads[b, k], square, clusters.masses[b, k], power, logs
    )
    _, _, step = find_bounds(n, rows.shape, square, power)
    rest, chosen = next_double(rng), n_nodes - 1
    for node in range(n_nodes):
        rest -= math.exp(logs[node] - log_sum)
        if rest < 0.0:
            chosen = node
            break
    rows.weights[i, b] = math.exp(log_u + (first + chosen) * step)


@njit_internal_nogc
def draw_apart(m, k, length, triangle, drawn, rng):
    """Draw y = R^-1 (z - Q^T y) with normal z of a given length, one entry per missing value."""
    for j in range(m - 1, -1, -1):
        x = length * draw_normal(rng) - triangle[j, m, k]
        for other in range(j + 1, m):
            x -= triangle[j, other, k] * drawn[other]
        drawn[j] = x / triangle[j, j, k]


@njit_outlined
def draw_latent(i, k, rows, prior, clusters, scratch, rng):
    """Draw the weights and missing values of a row that joins cluster k, which is without it."""
    n_blocks, width = prior.mean.shape
    for b in range(n_blocks):
        begin, m = b * width, rows.n_hidden[i, b]
        if m == 0 and not rows.shape > 0.0:
            continue
        weigh_block(i, b, rows, prior, clusters, k, k + 1, scratch)
        if rows.shape > 0.0 and scratch.marks[0] == 0.0:
            draw_weight(i, b, k, rows, prior, clusters, scratch, rng)
        if m == 0:
            continue
        u, mass = rows.weights[i, b], clusters.masses[b, k]
        ratio = mass * u / (mass + u)
        chi_square = 2.0 * draw_gamma(clusters.vectors[POWER, k] - 0.5 * m, rng)
        length = math.sqrt((1.0 + ratio * scratch.squares[b, k]) / ratio)
        length /= max(math.sqrt(chi_square), SMALLEST_ROOT)
        drawn, j = scratch.columns[0], 0
        draw_apart(m, k, length, scratch.triangle, drawn, rng)
        for e in range(width - 1, -1, -1):
            if rows.hidden[i, begin + e]:
                rows.values[i, begin + e] = clusters.points[0, begin + e, k] + drawn[j]
                j += 1


# Draws of parameters given rows with weights, and of weights and missing values given parameters.
#
# Given the mean and the covariance of its cluster, a block of a row has a weight u ~ Gamma(a + n /
# 2, a + q / 2), where q is the squared distance of its n observed values, and the missing values
# are Gaussian given the weight and the observed ones. Integrated over the weight, the observed
# values are t distributed. Symbols are as above and in `_kernels/_clusters`.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | drawn.factors | V / sqrt 2 | (D, W, C) | |
# | drawn.offsets | V mu / sqrt 2 | (D, C) | |
# | lines.logs | | (C,) | log densities, output |
# | lines.squares | q / 2 | (C,) | scratch |
# | lines.work, lines.triangle | Q, R | (W, W + 1, C) | scratch: see `weigh_block_given` |
# | lines.dots, lines.drawn | | (C,), (W,) | scratch |


@njit_internal_nogc
def half_trace(b, k, spread, drawn):
    """Return tr(Sigma^-1 R) / 2 of a block."""
    result = 0.0
    if spread is not None:
        width = spread.shape[1]
        for r in range(width):
            for e in range(r + 1):
                result += spread[b, e] * drawn.factors[b * width + r, e, k] ** 2
    return result


@njit_internal_nogc
def draw_parameters(k, prior, clusters, drawn, scratch, rng):
    """Draw the mean and covariance of a cluster: see `_kernels/_gaussian_clusters`."""
    n_blocks, width = prior.mean.shape
    line, dof, log_det = scratch.columns[0], prior.dof + clusters.vectors[SIZE, k], 0.0
    for b in range(n_blocks):
        error = 1.0 / math.sqrt(clusters.masses[b, k])
        move_spread(b, k, -1.0, prior.spread, clusters, scratch)
        log_det += gaussian.draw_block(k, b * width, width, dof, error, clusters, drawn, line, rng)
        move_spread(b, k, 1.0, prior.spread, clusters, scratch)
        log_det -= half_trace(b, k, prior.spread, drawn)
    drawn.heads[k] = log_det


@njit_internal_nogc
def weigh_block_given(i, b, rows, drawn, first, last, lines):
    """Write the squares of a block in clusters `first` to `last` - 1; subtract log det R."""
    # As in `weigh_block`, but y = V_o x_o - V mu, so that R x_m = -Q^T y for the mean of x_m.
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
    project_out(i, begin, m, rows, drawn.factors, first, last, lines.logs, work, triangle, dots)
    square_column(m, first, last, HUGE, work, squares)


@njit_internal_nogc
def weigh_row_given(i, rows, drawn, lines):
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
        draw_apart(m, k, length, lines.triangle, lines.drawn, rng)
        j = 0
        for e in range(width - 1, -1, -1):
            if rows.hidden[i, begin + e]:
                rows.values[i, begin + e] = lines.drawn[j]
                j += 1


# States of vectors whose precisions vary: x_t ~ N(mu_k, Sigma_k / u_tb), in blocks of columns.
#
# Under u ~ Gamma(nu / 2, nu / 2) a block is a Student t vector: see `_kernels/_gaussian`. Names
# and layout are those there, with
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | weights | u_tb | (N, B) | factor of the precision of a block at a step |
# | distances | d_tb | (N, B) | (x - mu)^T Sigma^-1 (x - mu) of the observed columns of a block |
# | n_observed | n_tb | (N, B) | number of observed columns of a block |
# | masses | w_k | (K,) | sum of the weights of a component |
# | centers, scatter | | (K, W), (K, W, W) | weighted by u |
#
# Mixtures over nodes u_i of the predictive densities of n columns given u_i have
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | distances | d | (N, K) | from m_k, by the posterior scale S_k |
# | half_n, shape | n / 2, nu / 2 | | |
# | exponents | e_k | (K,) | (df_k + n) / 2 |
# | scales | a_k | (K,) | |
# | log_weights, nodes | log w_i, log u_i | (Q,) | ascending by equal steps |
# | precisions, log_precisions | s_ik, log s_ik | (K, Q) | s_ik = 1 / (1 / u_i + 1 / c_k) |


LARGEST_DISTANCE = 1e280
"""Distance far beyond any observation in sensible units; products with it are finite."""


@njit_loop
def add_up_weighted(values, weights, states, counts, masses, centers, scatter):
    """Write the weighted statistics of all components; missing blocks are left out."""
    n_components, width = centers.shape
    n_blocks = values.shape[1] // width
    counts[:] = 0.0
    masses[:] = 0.0
    centers[:] = 0.0
    scatter[:] = 0.0
    for t in range(values.shape[0]):
        for b in range(n_blocks):
            if not math.isnan(values[t, b * width]):
                k = states[t] * n_blocks + b
                counts[k] += 1.0
                masses[k] += weights[t, b]
                for d in range(width):
                    centers[k, d] += weights[t, b] * values[t, b * width + d]
    for k in range(n_components):
        if masses[k] > 0.0:
            for d in range(width):
                centers[k, d] /= masses[k]
    for t in range(values.shape[0]):
        for b in range(n_blocks):
            if not math.isnan(values[t, b * width]):
                k = states[t] * n_blocks + b
                for d in range(width):
                    x = weights[t, b] * (values[t, b * width + d] - centers[k, d])
                    for e in range(d + 1):
                        scatter[k, d, e] += x * (values[t, b * width + e] - centers[k, e])


@njit_inlined
def squared_length(x, begin, mean, factor):
    """Return |U (x - mu)|^2 of the columns of a row from `begin` on."""
    result = 0.0
    for d in range(mean.shape[0]):
        y = 0.0
        for e in range(d + 1):
            y += factor[d, e] * (x[begin + e] - mean[e])
        result += y * y
    return result


@njit_loop
def measure(values, states, means, precision_factors, distances):
    """Write the distances of complete blocks from the means of their states; NaN for others."""
    width = means.shape[1]
    n_blocks = values.shape[1] // width
    for t in range(values.shape[0]):
        for b in range(n_blocks):
            k = states[t] * n_blocks + b
            distances[t, b] = squared_length(values[t], b * width, means[k], precision_factors[k])


@njit_loop
def measure_incomplete(
    values, states, rows, pattern_ptr, orders, n_seen, means, precision_factors, precision_factor,
    distances,
):  # fmt: skip
    """Write the distances of the observed columns of incomplete steps; 0 if there are none."""
    n_patterns, n_blocks, width = orders.shape
    for p in range(n_patterns):
        for b in range(n_blocks):
            order, n = orders[p, b], n_seen[p, b]
            if n == width:
                continue
            for t in rows[pattern_ptr[p] : pattern_ptr[p + 1]]:
                k = states[t] * n_blocks + b
                write_in_order(precision_factors[k], order, n, precision_factor)
                distance = 0.0
                for d in range(n):
                    y = 0.0
                    for e in range(d + 1):
                        x = values[t, b * width + order[e]] - means[k, order[e]]
                        y += precision_factor[d, e] * x
                    distance += y * y
                distances[t, b] = distance


@njit_loop
def measure_all(values, means, precision_factors, distances):
    """Write the distances of all steps from the means of all states, (N, J), to `distances`."""
    for t in range(values.shape[0]):
        for j in range(means.shape[0]):
            distance = squared_length(values[t], 0, means[j], precision_factors[j])
            distances[t, j] = min(distance, LARGEST_DISTANCE)


@njit_loop
def draw_weights(distances, n_observed, freedom, weights, rng):
    """Draw u_tb ~ Gamma((nu + n_tb) / 2, (nu + d_tb) / 2)."""
    for t in range(distances.shape[0]):
        for b in range(distances.shape[1]):
            draw = draw_gamma(0.5 * (freedom + n_observed[t, b]), rng)
            weights[t, b] = 2.0 * draw / (freedom + distances[t, b])


@njit_loop
def mix_precisions(
    distances, half_n, shape, exponents, log_weights, nodes, precisions, log_precisions, terms, out
):  # fmt: skip
    """Write log sum_i w_i s_ik^(n / 2) (1 + d s_ik)^-e_k of all distances d to `out`, (N, K)."""
    n_nodes = nodes.shape[0]
    step = nodes[1] - nodes[0]
    total = shape + half_n
    reach = 25.0 / total + math.sqrt(50.0 / total)
    for t in range(distances.shape[0]):
        for k in range(distances.shape[1]):
            d, e = distances[t, k], exponents[k]
            # The largest term would be here without 1 / c_k, which can only raise it. Nodes far
            # below are left out: terms fall from there at least as fast as u^(shape + n / 2).
            low = min(math.log(find_peak(shape, total, e, d)), 0.0) - reach
            first = min(max(int((low - nodes[0]) / step), 0), n_nodes - 1)
            largest = -math.inf
            for i in range(first, n_nodes):
                term = log_weights[i] + half_n * log_precisions[k, i]
                terms[i] = term - e * fast_log_1p(d * precisions[k, i])
            for i in range(first, n_nodes):
                largest = max(largest, terms[i])
            result = 0.0
            for i in range(first, n_nodes):
                result += fast_exp(terms[i] - largest)
            out[t, k] = largest + math.log(result)


@njit_loop
def interpolate(distances, scales, pieces_per_unit, coefficients, out):
    """Write polynomials in log(1 + a_k d), one for each of P pieces of equal width."""
    # `coefficients`, (K, P, M), are those for each piece from -1 to 1, constants first.
    last, n_terms = coefficients.shape[1] - 1, coefficients.shape[2]
    for t in range(distances.shape[0]):
        for k in range(distances.shape[1]):
            out[t, k] = pieces_per_unit * fast_log_1p(scales[k] * distances[t, k])
        for k in range(distances.shape[1]):
            piece = min(int(out[t, k]), last)
            x = 2.0 * (out[t, k] - piece) - 1.0
            result = 0.0
            for i in range(n_terms - 1, -1, -1):
                result = result * x + coefficients[k, piece, i]
            out[t, k] = result
