r"""Clusters of rows, parameters summed out: what one more row, or one less, changes.

A kind of observations says which arrays count. Gaussian rows are B blocks of W columns, see
`_kernels_gaussian`; a cluster keeps the lower triangular U of each block with U^T U = S_n^-1, S_n
the posterior scale, and moves it by one row in W^2 steps. Rows of counts are lists of events: those
of Poisson counts are the columns that are not 0, and a category is one event.

| name | symbol | shape | meaning |
|---|---|---|---|
| values | x_i | (N, D) | Gaussian rows |
| ptr, kinds, amounts | v, x_iv | (N + 1,), (E,), (E,) | events of a row, how many of each |
| totals | x_i. | (N,) | sums of the amounts |
| constants | | (N,) | what all clusters' log probabilities of a row share |
| mean, precision, dof, scale | m, c, nu, S | (B, W), , , (B, W, W) | Gaussian prior |
| log_det | | scalar | sum over blocks of log det S |
| shapes, rate | a_v, | (V,), | Dirichlet or Gamma prior; `total_shape` is the sum of a_v |
| sizes | n_k | (C,) | rows of each cluster, of C at most |
| factors | U | (D, W, C) | row r of block b is factors[b W + r] |
| centres, offsets | m_n, U m_n | (D, C) | posterior means |
| log_dets | sum_b log det U | (C,) | |
| ratios, powers | | (C,) | c_n / (c_n + 1) and (nu_n + 1) / 2 |
| heads | | (C,) | what does not depend on the row, of its log density |
| sums, sums_of_all | s_kv, s_k. | (V, C), (C,) | events of a cluster |
| updates | | (C,) int64 | rows that came or went since U was made from the data |

Log densities of all clusters are computed at once, those of the row's own cluster without it: for
S_n^-1 with the row, d = x - m_n and h = 1 - c_n / (c_n - 1) d^T S_n^-1 d, det S_{n-1} = h det S_n.
So nothing moves unless the row does.
"""

# mypy: ignore-errors

import math

from skdp._elementary import fast_log
from skdp._numba import njit_inner, njit_loop
from skdp.emissions._kernels_gaussian import factorise, subtract_squares

GAUSSIAN, POISSON, EVENTS = 0, 1, 2

LOG_PI = math.log(math.pi)

MOST_UPDATES = 1000
"""Then U is made from the data again, against the drift of rounding errors."""

FEWEST_DIGITS = 1e-6
"""Of h: below, rows are taken out by summing up the others."""

FEW_EVENTS = 8
"""Up to here a rising factorial is a product."""

HUGE = 1e300


# Rising factorials


@njit_inner
def stirling_tail(x):
    """Return what Stirling's formula lacks of log Gamma(x), x >= 16."""
    square = 1.0 / (x * x)
    series = (1.0 / 1260.0 - square / 1680.0) * square - 1.0 / 360.0
    return (series * square + 1.0 / 12.0) / x


@njit_inner
def log_rising(shape, amount):
    """Return log Gamma(shape + amount) - log Gamma(shape) without loss of digits."""
    if amount <= FEW_EVENTS:
        product, m = 1.0, 0.0
        while m < amount:
            product *= shape + m
            m += 1.0
        return math.log(product)
    if shape < 16.0:
        return math.lgamma(shape + amount) - math.lgamma(shape)
    both = shape + amount
    result = (shape - 0.5) * math.log1p(amount / shape) + amount * (math.log(both) - 1.0)
    return result + stirling_tail(both) - stirling_tail(shape)


# Log densities of a row


@njit_inner
def weigh_gaussian_row(x, prior, clusters, n, own, scratch, out):
    """Write log densities of a row; False if the own cluster's has lost its digits."""
    n_blocks, width = prior.mean.shape
    negative, sums = scratch.negative[:n], scratch.sums[:n]
    own_logs = 0.0
    for k in range(n):
        out[k] = clusters.heads[k]
    weight = 0.0
    if own >= 0:
        c = prior.precision + clusters.sizes[own]
        weight = c / (c - 1.0)
    for b in range(n_blocks):
        begin, end = b * width, (b + 1) * width
        for k in range(n):
            negative[k] = 0.0
        subtract_squares(
            x[begin:end], clusters.factors[begin:end], clusters.offsets[begin:end], sums, negative
        )
        if own >= 0:
            h = 1.0 + weight * negative[own]
            if not h > FEWEST_DIGITS:
                return False
            own_logs += math.log(h)
        for k in range(n):
            square = min(-negative[k], HUGE)
            out[k] -= clusters.powers[k] * fast_log(1.0 + clusters.ratios[k] * square)
    if own >= 0:
        size = clusters.sizes[own]
        c, dof = prior.precision + size, prior.dof + size
        head = math.lgamma(0.5 * dof) - math.lgamma(0.5 * (dof - width))
        head += 0.5 * width * (math.log((c - 1.0) / c) - LOG_PI)
        out[own] = n_blocks * head + clusters.log_dets[own] + 0.5 * (dof - 1.0) * own_logs
    return True


@njit_inner
def weigh_events_of_row(kind, i, rows, prior, clusters, n, own, scratch, out):
    """Write log probabilities of a row of counts."""
    products = scratch.sums
    total, own_logs = rows.totals[i], 0.0
    for k in range(n):
        out[k] = rows.constants[i] + clusters.heads[k] + total * clusters.ratios[k]
    for place in range(rows.ptr[i], rows.ptr[i + 1]):
        v, amount = rows.kinds[place], rows.amounts[place]
        shape, sums = prior.shapes[v], clusters.sums[v]
        if own >= 0:
            own_logs += log_rising(max(shape + (sums[own] - amount), shape), amount)
        if amount <= FEW_EVENTS:
            for k in range(n):
                products[k] = shape + sums[k]
            m = 1.0
            while m < amount:
                for k in range(n):
                    products[k] *= shape + sums[k] + m
                m += 1.0
            for k in range(n):
                out[k] += fast_log(products[k])
        else:
            for k in range(n):
                out[k] += log_rising(shape + sums[k], amount)
    if kind == EVENTS:
        for k in range(n):
            out[k] -= log_rising(prior.total_shape + clusters.sums_of_all[k], total)
    if own >= 0:
        rest = max(clusters.sums_of_all[own] - total, 0.0)
        if kind == EVENTS:
            own_logs -= log_rising(prior.total_shape + rest, total)
        else:
            rate = prior.rate + clusters.sizes[own]
            own_logs += (prior.total_shape + rest) * math.log((rate - 1.0) / rate)
            own_logs -= total * math.log(rate)
        out[own] = rows.constants[i] + own_logs


@njit_inner
def weigh_row(kind, i, rows, prior, clusters, n, own, scratch, out):
    """Write log p(x_i given the rows of cluster k) of the first n clusters to `out`.

    Parameters
    ----------
    own : int
        The cluster of row i, which must have others, too; it counts without the row. -1: none.

    Returns
    -------
    possible : bool
        False if the row is too far out in its cluster; `out` is not to be used then.
    """
    if kind == GAUSSIAN:
        return weigh_gaussian_row(rows.values[i], prior, clusters, n, own, scratch, out)
    weigh_events_of_row(kind, i, rows, prior, clusters, n, own, scratch, out)
    return True


# Rows come and go


@njit_inner
def refresh(kind, k, prior, clusters):
    """Compute what follows from the statistics of a cluster and does not depend on a row."""
    size = clusters.sizes[k]
    if kind == GAUSSIAN:
        n_blocks, width = prior.mean.shape
        c = prior.precision + size
        power = 0.5 * (prior.dof + size + 1.0)
        clusters.ratios[k] = c / (c + 1.0)
        clusters.powers[k] = power
        head = math.lgamma(power) - math.lgamma(power - 0.5 * width)
        head += 0.5 * width * (math.log(c / (c + 1.0)) - LOG_PI)
        clusters.heads[k] = n_blocks * head + clusters.log_dets[k]
    elif kind == POISSON:
        rate = prior.rate + size
        shape = prior.total_shape + clusters.sums_of_all[k]
        clusters.heads[k] = shape * math.log(rate / (rate + 1.0))
        clusters.ratios[k] = -math.log(rate + 1.0)
    else:
        clusters.heads[k] = 0.0
        clusters.ratios[k] = 0.0


@njit_inner
def move_factor(factors, begin, width, k, whitened, sign, row):
    """Turn U of S into that of S + sign v v^T, given U v; return the change of log det U.

    I + sign w w^T = C C^T with a triangular C of which every column is w but for a factor, so that
    C^-1 U takes W^2 steps.

    Parameters
    ----------
    whitened, row : (W,) float64
        U v; scratch.
    """
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


@njit_inner
def move_gaussian_row(x, k, sign, prior, clusters, scratch):
    """Add a row to the posterior of a cluster, or take it out; its size is that of before."""
    n_blocks, width = prior.mean.shape
    c = prior.precision + clusters.sizes[k]
    size = math.sqrt(c / (c + sign))
    for b in range(n_blocks):
        begin = b * width
        for r in range(width):
            w = -clusters.offsets[begin + r, k]
            for e in range(r + 1):
                w += clusters.factors[begin + r, e, k] * x[begin + e]
            scratch.whitened[r] = w * size
        clusters.log_dets[k] += move_factor(
            clusters.factors, begin, width, k, scratch.whitened, sign, scratch.row
        )
        for r in range(width):
            centre = clusters.centres[begin + r, k]
            clusters.centres[begin + r, k] = centre + sign * (x[begin + r] - centre) / (c + sign)
        write_offsets(begin, width, k, clusters)
    clusters.updates[k] += 1


@njit_inner
def write_offsets(begin, width, k, clusters):
    """Write U m_n of a block."""
    for r in range(width):
        offset = 0.0
        for e in range(r + 1):
            offset += clusters.factors[begin + r, e, k] * clusters.centres[begin + e, k]
        clusters.offsets[begin + r, k] = offset


@njit_inner
def move_row(kind, i, k, sign, rows, prior, clusters, scratch):
    """Add row i to cluster k (sign 1.0), or take it out (-1.0)."""
    if kind == GAUSSIAN:
        move_gaussian_row(rows.values[i], k, sign, prior, clusters, scratch)
    else:
        for place in range(rows.ptr[i], rows.ptr[i + 1]):
            clusters.sums[rows.kinds[place], k] += sign * rows.amounts[place]
        clusters.sums_of_all[k] += sign * rows.totals[i]
    clusters.sizes[k] += sign
    refresh(kind, k, prior, clusters)


# Clusters from the data


@njit_inner
def build_block(b, k, members, rows, prior, clusters, scratch):
    """Write the posterior of a block of a cluster; False if S_n is not positive definite."""
    width, n = prior.mean.shape[1], members.shape[0]
    begin, centre, matrix = b * width, scratch.row, scratch.matrix
    for d in range(width):
        centre[d] = 0.0
        for e in range(d + 1):
            matrix[d, e] = prior.scale[b, d, e]
    for i in members:
        for d in range(width):
            centre[d] += rows.values[i, begin + d]
    for d in range(width):
        centre[d] /= max(n, 1)
    for i in members:
        for d in range(width):
            x = rows.values[i, begin + d] - centre[d]
            for e in range(d + 1):
                matrix[d, e] += x * (rows.values[i, begin + e] - centre[e])
    c = prior.precision + n
    for d in range(width):
        x = prior.precision * n / c * (centre[d] - prior.mean[b, d])
        for e in range(d + 1):
            matrix[d, e] += x * (centre[e] - prior.mean[b, e])
    if not factorise(matrix):
        return False
    for d in range(width):
        away = n * (centre[d] - prior.mean[b, d]) / c
        clusters.centres[begin + d, k] = prior.mean[b, d] + away
        clusters.log_dets[k] -= math.log(matrix[d, d])
    for e in range(width):
        for r in range(width):
            x = 1.0 if r == e else 0.0
            for f in range(e, r):
                x -= matrix[r, f] * clusters.factors[begin + f, e, k]
            clusters.factors[begin + r, e, k] = x / matrix[r, r]
    write_offsets(begin, width, k, clusters)
    return True


@njit_inner
def build_cluster(kind, k, members, rows, prior, clusters, scratch):
    """Write the statistics of a cluster of some rows, none of them for an empty one.

    Returns
    -------
    possible : bool
        False if a covariance is not positive definite to rounding.
    """
    clusters.sizes[k] = members.shape[0]
    clusters.updates[k] = 0
    if kind == GAUSSIAN:
        clusters.log_dets[k] = 0.0
        for b in range(prior.mean.shape[0]):
            if not build_block(b, k, members, rows, prior, clusters, scratch):
                return False
    else:
        for v in range(clusters.sums.shape[0]):
            clusters.sums[v, k] = 0.0
        clusters.sums_of_all[k] = 0.0
        for i in members:
            for place in range(rows.ptr[i], rows.ptr[i + 1]):
                clusters.sums[rows.kinds[place], k] += rows.amounts[place]
            clusters.sums_of_all[k] += rows.totals[i]
    refresh(kind, k, prior, clusters)
    return True


@njit_inner
def copy_cluster(source, k, target, j):
    """Copy cluster k of `source` to place j of `target`."""
    target.sizes[j] = source.sizes[k]
    target.updates[j] = source.updates[k]
    target.log_dets[j] = source.log_dets[k]
    target.ratios[j] = source.ratios[k]
    target.powers[j] = source.powers[k]
    target.heads[j] = source.heads[k]
    target.sums_of_all[j] = source.sums_of_all[k]
    for d in range(source.factors.shape[0]):
        target.centres[d, j] = source.centres[d, k]
        target.offsets[d, j] = source.offsets[d, k]
        for e in range(source.factors.shape[1]):
            target.factors[d, e, j] = source.factors[d, e, k]
    for v in range(source.sums.shape[0]):
        target.sums[v, j] = source.sums[v, k]


@njit_inner
def log_evidence(kind, k, prior, clusters):
    """Return log p(rows of a cluster), without the constants of rows."""
    size = clusters.sizes[k]
    result = 0.0
    if kind == GAUSSIAN:
        n_blocks, width = prior.mean.shape
        dof = prior.dof + size
        for d in range(width):
            result += math.lgamma(0.5 * (dof - d)) - math.lgamma(0.5 * (prior.dof - d))
        result += 0.5 * width * math.log(prior.precision / (prior.precision + size))
        result -= 0.5 * width * size * LOG_PI
        return n_blocks * result + 0.5 * prior.dof * prior.log_det + dof * clusters.log_dets[k]
    for v in range(clusters.sums.shape[0]):
        if clusters.sums[v, k] > 0.0:
            result += log_rising(prior.shapes[v], clusters.sums[v, k])
    if kind == EVENTS:
        return result - log_rising(prior.total_shape, clusters.sums_of_all[k])
    result += prior.total_shape * math.log(prior.rate / (prior.rate + size))
    return result - clusters.sums_of_all[k] * math.log(prior.rate + size)


@njit_loop
def weigh_alone(kind, rows, prior, clusters, members, scratch, out):
    """Write log p(x_i) of every row in a cluster of its own to `out`, (N,); spoils cluster 0.

    Returns whether the prior's scale is positive definite to rounding.
    """
    if not build_cluster(kind, 0, members[:0], rows, prior, clusters, scratch):
        return False
    for i in range(out.shape[0]):
        weigh_row(kind, i, rows, prior, clusters, 1, -1, scratch, out[i : i + 1])
    return True
