r"""Draws of the parameters of clusters of independent columns, and densities given them.

| name | symbol | shape | meaning |
|---|---|---|---|
| rows, prior, clusters | | | see `_kernels` |
| drawn.heads | | (C,) | terms that do not depend on the row: 0 |
| drawn.normals | | (3, P, C) | FACTOR, OFFSET, LOG_FACTOR: the log density is LOG_FACTOR - (FACTOR x - OFFSET)^2 |
| drawn.intensities | log lambda, lambda | (2, Q, C) | |
| drawn.logs | log theta | (V, C) | |
| lines | | (2, C) | scratch |
| rng | | (4,) uint64 | stream, advanced in place |
"""  # noqa: E501

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_internal_nogc
from skdp._numeric._random import draw_gamma, draw_log_gamma, draw_normal
from skdp.emissions._cells._kernels import CENTER, HUGE, SEEN, SPREAD, SUM, power_of
from skdp.emissions._gaussian._kernels import SMALLEST_ROOT

FACTOR, OFFSET, LOG_FACTOR = range(3)


@njit_internal_nogc
def draw_cells(k, prior, clusters, drawn, rng):
    """Draw the parameters of all columns of a cluster given its rows."""
    drawn.heads[k] = 0.0
    for d in range(prior.centers.shape[0]):
        seen = clusters.normals[SEEN, d, k]
        gamma = draw_gamma(0.5 * (prior.dofs[d] + seen), rng)
        factor = max(math.sqrt(gamma), SMALLEST_ROOT) / math.sqrt(clusters.normals[SPREAD, d, k])
        error = draw_normal(rng) / math.sqrt(2.0 * (prior.precisions[d] + seen))
        drawn.normals[FACTOR, d, k] = factor
        drawn.normals[OFFSET, d, k] = factor * clusters.normals[CENTER, d, k] + error
        drawn.normals[LOG_FACTOR, d, k] = math.log(factor)
    for d in range(prior.shapes.shape[0]):
        log_gamma = draw_log_gamma(prior.shapes[d] + clusters.counts[SUM, d, k], rng)
        log_gamma -= math.log(prior.rates[d] + clusters.counts[SEEN, d, k])
        drawn.intensities[0, d, k] = log_gamma
        drawn.intensities[1, d, k] = math.exp(log_gamma)
    for d in range(prior.totals.shape[0]):
        begin, end = prior.ptr[d], prior.ptr[d + 1]
        largest, total = -math.inf, 0.0
        for v in range(begin, end):
            shape = prior.weights[v] + clusters.symbols[SEEN, v, k]
            drawn.logs[v, k] = draw_log_gamma(shape, rng)
            largest = max(largest, drawn.logs[v, k])
        for v in range(begin, end):
            total += math.exp(drawn.logs[v, k] - largest)
        log_total = largest + math.log(total)
        for v in range(begin, end):
            drawn.logs[v, k] -= log_total


@njit_internal_nogc
def weigh_cells_given(i, rows, drawn, lines):
    """Write the log density of a row under all clusters to `lines[0]`, up to shared terms."""
    out, logs, n = lines[0], lines[1], drawn.heads.shape[0]
    for k in range(n):
        logs[k] = 0.0
    for d in range(rows.values.shape[1]):
        x = rows.values[i, d]
        if x == x:
            factors, offsets = drawn.normals[FACTOR, d], drawn.normals[OFFSET, d]
            log_factors = drawn.normals[LOG_FACTOR, d]
            for k in range(n):
                away = x * factors[k] - offsets[k]
                logs[k] += log_factors[k] - min(away * away, HUGE)
    for d in range(rows.amounts.shape[1]):
        x = rows.amounts[i, d]
        if x == x:
            log_intensities, intensities = drawn.intensities[0, d], drawn.intensities[1, d]
            for k in range(n):
                logs[k] += x * log_intensities[k] - intensities[k]
    for d in range(rows.codes.shape[1]):
        v = rows.codes[i, d]
        if v >= 0:
            line = drawn.logs[v]
            for k in range(n):
                logs[k] += line[k]
    power = power_of(i, rows)
    for k in range(n):
        out[k] = drawn.heads[k] + power * logs[k]
