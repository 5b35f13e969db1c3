r"""Single-row updates of clusters of counts, with intensities or probabilities integrated out.

Rows are lists of events: for Poisson counts these are the nonzero columns, and a category is a
single event. Probabilities have a Dirichlet prior, and intensities have Gamma priors.

| name | symbol | shape | meaning |
|---|---|---|---|
| ptr, kinds, amounts | v, x_iv | (N + 1,), (E,), (E,) | kinds and numbers of events of a row |
| totals | x_i. | (N,) | sums of the amounts |
| constants | | (N,) | terms of a row's log probability that all clusters share |
| prior | | | see `CountClusterPrior` |
| vectors | | (3, C) | SIZE, TOTAL, HEAD of at most C clusters |
| sums | s_kv | (V, C) | events of a cluster |
| slopes | | (V, C) | for Poisson counts; otherwise (0, C) |
| lines | | (1, C) | scratch |

SIZE is the number of rows of a cluster, and TOTAL its number of events. The log probability of
Poisson counts consists of rising factorials, HEAD and the sum of slopes_v x_iv.
"""

# mypy: ignore-errors

import math

from skdp._numeric._elementary import fast_log
from skdp._numeric._numba import njit_internal_nogc, njit_outlined

SIZE, TOTAL, HEAD = range(3)

FEW_EVENTS = 8
"""Largest amount for which a rising factorial is computed as a product."""


@njit_outlined
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


@njit_internal_nogc
def stirling_tail(x):
    """Return the remainder of Stirling's formula for log Gamma(x), for x >= 16."""
    square = 1.0 / (x * x)
    series = (1.0 / 1260.0 - square / 1680.0) * square - 1.0 / 360.0
    return (series * square + 1.0 / 12.0) / x


@njit_internal_nogc
def weigh_row_of_counts(i, rows, prior, clusters, n, own, scratch, out):
    """Write log p(x_i given the rows of cluster k) of the first n clusters to `out`.
    Row i counts as left out of its cluster `own`, which must have other rows; -1: none.
    """
    products, totals = scratch.lines[0], clusters.vectors[TOTAL]
    total, own_logs = rows.totals[i], rows.constants[i]
    for k in range(n):
        out[k] = rows.constants[i] + clusters.vectors[HEAD, k]
    for place in range(rows.ptr[i], rows.ptr[i + 1]):
        v, amount = rows.kinds[place], rows.amounts[place]
        shape, sums = prior.shapes[v], clusters.sums[v]
        if own >= 0:
            own_logs += log_rising(shape + (sums[own] - amount), amount)
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
        if prior.is_poisson:
            for k in range(n):
                out[k] += amount * clusters.slopes[v, k]
    if prior.is_poisson:
        if own >= 0:
            size = clusters.vectors[SIZE, own] - 1.0
            own_logs += sum_heads(size, own, prior, clusters)
            for place in range(rows.ptr[i], rows.ptr[i + 1]):
                # `sum_heads` includes this row
                own_logs -= rows.amounts[place] * math.log(prior.rates[rows.kinds[place]] + size)
            out[own] = own_logs
        return
    for k in range(n):
        out[k] -= log_rising(prior.total_shape + totals[k], total)
    if own >= 0:
        out[own] = own_logs - log_rising(prior.total_shape + (totals[own] - total), total)


@njit_internal_nogc
def refresh_counts(k, prior, clusters):
    """Update the quantities that depend on the counts of a cluster."""
    clusters.vectors[HEAD, k] = 0.0
    if prior.is_poisson:
        size = clusters.vectors[SIZE, k]
        clusters.vectors[HEAD, k] = sum_heads(size, k, prior, clusters)
        for v in range(clusters.slopes.shape[0]):
            clusters.slopes[v, k] = -math.log(prior.rates[v] + size + 1.0)


@njit_internal_nogc
def sum_heads(size, k, prior, clusters):
    """Return the sum of (a_v + s_kv) log(r_v / (r_v + 1)), r_v = b_v + size, over all kinds."""
    result = 0.0
    for v in range(clusters.sums.shape[0]):
        shape = prior.shapes[v] + clusters.sums[v, k]
        result -= shape * math.log1p(1.0 / (prior.rates[v] + size))
    return result


@njit_internal_nogc
def add_row_of_counts(i, k, sign, rows, clusters):
    """Add row i to the counts of cluster k (sign 1.0), or remove it (-1.0)."""
    for place in range(rows.ptr[i], rows.ptr[i + 1]):
        clusters.sums[rows.kinds[place], k] += sign * rows.amounts[place]
    clusters.vectors[TOTAL, k] += sign * rows.totals[i]
    clusters.vectors[SIZE, k] += sign


@njit_internal_nogc
def move_row_of_counts(i, k, sign, rows, prior, clusters):
    """Add row i to cluster k (sign 1.0), or remove it (-1.0)."""
    add_row_of_counts(i, k, sign, rows, clusters)
    refresh_counts(k, prior, clusters)


@njit_internal_nogc
def build_counts(k, members, rows, prior, clusters):
    """Write the statistics of a cluster of the given rows, which may be empty."""
    for v in range(clusters.sums.shape[0]):
        clusters.sums[v, k] = 0.0
    clusters.vectors[SIZE, k] = clusters.vectors[TOTAL, k] = 0.0
    for i in members:
        add_row_of_counts(i, k, 1.0, rows, clusters)
    refresh_counts(k, prior, clusters)


@njit_internal_nogc
def copy_counts(source, k, target, j):
    """Copy cluster k of `source` to place j of `target`."""
    for v in range(source.vectors.shape[0]):
        target.vectors[v, j] = source.vectors[v, k]
    for v in range(source.sums.shape[0]):
        target.sums[v, j] = source.sums[v, k]
    for v in range(source.slopes.shape[0]):
        target.slopes[v, j] = source.slopes[v, k]


@njit_internal_nogc
def log_evidence_of_counts(k, prior, clusters):
    """Return log p(rows of a cluster), without the constants of rows."""
    result, size = 0.0, clusters.vectors[SIZE, k]
    for v in range(clusters.sums.shape[0]):
        if clusters.sums[v, k] > 0.0:
            result += log_rising(prior.shapes[v], clusters.sums[v, k])
    if not prior.is_poisson:
        return result - log_rising(prior.total_shape, clusters.vectors[TOTAL, k])
    for v in range(clusters.sums.shape[0]):
        result -= prior.shapes[v] * math.log1p(size / prior.rates[v])
        result -= clusters.sums[v, k] * math.log(prior.rates[v] + size)
    return result
