r"""Clusters of rows of independent columns: single-row updates and draws.

Independent columns are of three kinds: normal with unknown mean and variance, counts with
Gamma-Poisson distributions, and categories with Dirichlet priors (columns of 0 and 1 among them).
Every column has its own number of observed cells in each cluster, so missing cells are left out.

| name | symbol | shape | meaning |
|---|---|---|---|
| rows.values | x_id | (N, P) | normal columns; NaN: missing |
| rows.amounts | x_id | (N, Q) | columns of counts; NaN: missing |
| rows.codes | | (N, R) int32 | index among the V symbols of all columns; -1: missing |
| rows.powers | w_i | (N,) or (0,) | powers of the likelihoods of rows; empty: all are 1 |
| rows.constants | | (N,) | terms of a row's log probability that all clusters share |
| prior | m, c, nu, s, R, a, b | | see `CellPrior` |
| vectors | | (2, C) | SIZE and UPDATES of at most C clusters |
| normals | | (7, P, C) | SEEN, CENTER, SPREAD, HEAD, BACK, RATIO, POWER |
| counts | | (6, Q, C) | SEEN, SUM, COUNT_HEAD, SLOPE, LOG_RATE, LOG_BACK |
| symbols | | (2, V, C) | SEEN, LOG |
| totals | | (2, R, C) | SEEN, LOG |
| line | | (C,) | scratch |

SIZE is the number of rows of a cluster, whatever their powers. SEEN is n, the sum of the powers of
the observed cells. CENTER and SPREAD are the parameters m_n and s_n of the posterior of a normal
column, with w R of each row; RATIO is c_n / ((c_n + 1) (s_n + R)), POWER is (nu_n + 1) / 2, HEAD
has the other terms of the log density of a row with power 1, and BACK those of a row that is
removed first. SUM is the sum of w x;
COUNT_HEAD is A log(R / (R + 1)) and SLOPE is -log(R + 1) for A = a + SUM, R = b + n, LOG_RATE is
log R, and LOG_BACK is log(R / (R - 1)). LOG is the logarithm of the prior parameter plus n.

Counts of a column with dispersion f = 1 / r > 0 are negative binomial, and the odds of their
parameter are ~ Beta'(a, r b + 1) (see `PoissonEmission`). With B = r R + 1, the probability of a
count is head(A, B, r) (A)_x / (A + B + r)_x times a term of the row alone; COUNT_HEAD is log head,
and SLOPE is f (A + B + r), which is R + 1 in the limit f -> 0. The other two are not used.

The evidence Z of a cluster multiplies the likelihoods of its rows to the powers w_i. The density of
a row is the ratio Z(with the row) / Z(without it).
"""

# mypy: ignore-errors

import math

from skdp._numeric._arithmetic import fast_log
from skdp._numeric._numba import njit_internal_nogc, njit_outlined
from skdp._numeric._random import draw_gamma, draw_log_gamma, draw_normal
from skdp.emissions._kernels._discrete import (
    FEW_EVENTS,
    log_beta_ratio,
    log_gain_of_wide_counts,
    log_rising,
)
from skdp.emissions._kernels._gaussian import SMALLEST_ROOT

SIZE, UPDATES = range(2)

SEEN, CENTER, SPREAD, HEAD, BACK, RATIO, POWER = range(7)

SUM, COUNT_HEAD, SLOPE, LOG_RATE, LOG_BACK = range(1, 6)

LOG = 1

FEWEST_DIGITS = 1e-6
"""Smallest ratio of SPREAD without a row to that with it; below, a row is not removed."""

HUGE = 1e300

SMALLEST = 1e-12
"""Lower bound on quantities that are positive but for rounding."""

FAR = 1e100
"""Bound on a product, and on its reciprocal, beyond which its logarithm is taken."""

MOST_FACTORS = 13.0
"""Number of factors of rising factorials, each up to 1e22, whose product cannot overflow."""

LOG_PI = math.log(math.pi)


@njit_internal_nogc
def power_of(i, rows):
    """Return the power of the likelihood of row i."""
    return rows.powers[i] if rows.powers.shape[0] > 0 else 1.0


@njit_internal_nogc
def weigh_row(i, rows, prior, clusters, n, own, scratch, out):
    if power_of(i, rows) != 1.0:
        return weigh_powered_cells(i, rows, prior, clusters, n, own, out)
    own_logs, own_product, products = rows.constants[i], 1.0, scratch.line
    for k in range(n):
        out[k] = rows.constants[i]
    for d in range(rows.values.shape[1]):
        x = rows.values[i, d]
        if x == x:
            centers, ratios = clusters.normals[CENTER, d], clusters.normals[RATIO, d]
            heads, powers = clusters.normals[HEAD, d], clusters.normals[POWER, d]
            for k in range(n):
                away = x - centers[k]
                out[k] += heads[k] - powers[k] * fast_log(1.0 + min(away * away * ratios[k], HUGE))
            if own >= 0:
                before = prior.precisions[d] + (clusters.normals[SEEN, d, own] - 1.0)
                away = x - centers[own]
                h = (before + 1.0) / before * away * away + prior.resolutions[d]
                h = 1.0 - h / clusters.normals[SPREAD, d, own]
                if h < FEWEST_DIGITS:
                    return False
                own_logs += clusters.normals[BACK, d, own] + (powers[own] - 1.0) * fast_log(h)
    n_factors = 0.0
    for d in range(rows.amounts.shape[1]):
        x = rows.amounts[i, d]
        if x == x:
            sums, heads = clusters.counts[SUM, d], clusters.counts[COUNT_HEAD, d]
            slopes, shape = clusters.counts[SLOPE, d], prior.shapes[d]
            f = prior.dispersions[d]
            if f > 0.0:
                for k in range(n):
                    out[k] += heads[k]
                if own >= 0:
                    rate = prior.rates[d] + (clusters.counts[SEEN, d, own] - 1.0)
                    own_logs += log_gain_of_wide_counts(x, 1.0, shape + (sums[own] - x), rate, f)
                if x > FEW_EVENTS:
                    for k in range(n):
                        out[k] += log_rising(shape + sums[k], x)
                        out[k] -= log_rising(slopes[k] / f, x) + x * math.log(f)
                elif x > 0.0:
                    if n_factors + x > MOST_FACTORS:
                        add_logs(n, products, out)
                        n_factors = 0.0
                    if n_factors == 0.0:
                        for k in range(n):
                            products[k] = 1.0
                    n_factors += x
                    m = 0.0
                    while m < x:
                        for k in range(n):
                            products[k] *= (shape + sums[k] + m) / (slopes[k] + f * m)
                        m += 1.0
                continue
            for k in range(n):
                out[k] += heads[k] + x * slopes[k]
            if own >= 0:
                own_logs -= (shape + sums[own] - x) * clusters.counts[LOG_BACK, d, own]
                own_logs -= x * clusters.counts[LOG_RATE, d, own]
            if x > FEW_EVENTS:
                for k in range(n):
                    out[k] += log_rising(shape + sums[k], x)
                if own >= 0:
                    own_logs += log_rising(shape + (sums[own] - x), x)
            elif x > 0.0:
                if n_factors + x > MOST_FACTORS:
                    add_logs(n, products, out)
                    n_factors = 0.0
                if n_factors == 0.0:
                    for k in range(n):
                        products[k] = 1.0
                n_factors += x
                m = 0.0
                while m < x:
                    for k in range(n):
                        products[k] *= shape + sums[k] + m
                    m += 1.0
                if own >= 0:
                    m = 0.0
                    while m < x:
                        own_product *= shape + (sums[own] - x) + m
                        m += 1.0
                    if own_product > FAR or own_product < 1.0 / FAR:
                        own_logs += fast_log(own_product)
                        own_product = 1.0
    if n_factors > 0.0:
        add_logs(n, products, out)
    for d in range(rows.codes.shape[1]):
        v = rows.codes[i, d]
        if v >= 0:
            logs, totals = clusters.symbols[LOG, v], clusters.totals[LOG, d]
            for k in range(n):
                out[k] += logs[k] - totals[k]
            if own >= 0:
                own_product *= prior.weights[v] + (clusters.symbols[SEEN, v, own] - 1.0)
                own_product /= prior.totals[d] + (clusters.totals[SEEN, d, own] - 1.0)
                if own_product > FAR or own_product < 1.0 / FAR:
                    own_logs += fast_log(own_product)
                    own_product = 1.0
    if own >= 0:
        out[own] = own_logs + fast_log(own_product)
    return True


@njit_internal_nogc
def add_logs(n, products, out):
    """Add the logarithms of products of n clusters."""
    for k in range(n):
        out[k] += fast_log(products[k])


@njit_internal_nogc
def log_gain_of_normal(x, w, center, spread, c, dof, resolution):
    """Return the log density of a normal cell with power w, given posterior parameters."""
    away = x - center
    result = math.lgamma(0.5 * (dof + w)) - math.lgamma(0.5 * dof)
    result += 0.5 * math.log(c / (c + w)) - 0.5 * w * (LOG_PI + math.log(spread))
    ratio = min((w * c / (c + w) * away * away + w * resolution) / spread, HUGE)
    return result - 0.5 * (dof + w) * math.log1p(ratio)


@njit_internal_nogc
def log_gain_of_count(x, w, shape, rate):
    """Return the log probability of a count with power w, without the factorial."""
    return log_rising(shape, w * x) - shape * math.log1p(w / rate) - w * x * math.log(rate + w)


@njit_internal_nogc
def weigh_powered_cells(i, rows, prior, clusters, n, own, out):
    """Do the same as `weigh_row` for a row of any power."""
    w = power_of(i, rows)
    for k in range(n):
        less = w if k == own else 0.0
        result = rows.constants[i]
        for d in range(rows.values.shape[1]):
            x = rows.values[i, d]
            if x == x:
                seen, center = clusters.normals[SEEN, d, k], clusters.normals[CENTER, d, k]
                spread, c = clusters.normals[SPREAD, d, k], prior.precisions[d] + seen
                if k == own:
                    rest = spread - w * c / (c - w) * (x - center) ** 2 - w * prior.resolutions[d]
                    if rest < FEWEST_DIGITS * spread:
                        return False
                    center -= w * (x - center) / (c - w)
                    spread = rest
                result += log_gain_of_normal(
                    x, w, center, spread, c - less, prior.dofs[d] + seen - less,
                    prior.resolutions[d],
                )  # fmt: skip
        for d in range(rows.amounts.shape[1]):
            x = rows.amounts[i, d]
            if x == x:
                shape = prior.shapes[d] + (clusters.counts[SUM, d, k] - less * x)
                rate = prior.rates[d] + (clusters.counts[SEEN, d, k] - less)
                if prior.dispersions[d] > 0.0:
                    result += log_gain_of_wide_counts(w * x, w, shape, rate, prior.dispersions[d])
                else:
                    result += log_gain_of_count(x, w, shape, rate)
        for d in range(rows.codes.shape[1]):
            v = rows.codes[i, d]
            if v >= 0:
                result += log_rising(prior.weights[v] + (clusters.symbols[SEEN, v, k] - less), w)
                result -= log_rising(prior.totals[d] + (clusters.totals[SEEN, d, k] - less), w)
        out[k] = result
    return True


@njit_internal_nogc
def log_size_factor(dof, c):
    """Return log Gamma((dof + 1) / 2) - log Gamma(dof / 2) + log(c / (c + 1)) / 2."""
    x = 0.5 * dof
    if x < 16.0:
        return math.lgamma(x + 0.5) - math.lgamma(x) - 0.5 * math.log1p(1.0 / c)
    inverse = 1.0 / x  # an asymptotic series that is exact to rounding
    square = inverse * inverse
    series = (31.0 / 18432.0 * square - 17.0 / 14336.0) * square + 1.0 / 640.0
    series = (series * square - 1.0 / 192.0) * square + 1.0 / 8.0
    return 0.5 * fast_log(x * c / (c + 1.0)) - inverse * series


@njit_internal_nogc
def refresh_normal(d, k, prior, clusters):
    """Update the quantities that depend on the posterior of a normal column."""
    seen, spread = clusters.normals[SEEN, d, k], clusters.normals[SPREAD, d, k]
    c, dof = prior.precisions[d] + seen, prior.dofs[d] + seen
    half_log, next_spread = 0.5 * (fast_log(spread) + LOG_PI), spread + prior.resolutions[d]
    clusters.normals[RATIO, d, k] = c / ((c + 1.0) * next_spread)
    clusters.normals[POWER, d, k] = 0.5 * (dof + 1.0)
    clusters.normals[HEAD, d, k] = log_size_factor(dof, c) - half_log
    if next_spread > spread:
        clusters.normals[HEAD, d, k] -= 0.5 * (dof + 1.0) * fast_log(next_spread / spread)
    clusters.normals[BACK, d, k] = 0.0
    if seen > 0.5:  # a row of power 1 may leave
        before = max(prior.precisions[d] + (seen - 1.0), SMALLEST)
        clusters.normals[BACK, d, k] = log_size_factor(dof - 1.0, before) - half_log


@njit_internal_nogc
def refresh_count(d, k, prior, clusters):
    """Update the quantities that depend on the posterior of a column of counts."""
    rate = prior.rates[d] + clusters.counts[SEEN, d, k]
    shape = prior.shapes[d] + clusters.counts[SUM, d, k]
    f = prior.dispersions[d]
    if f > 0.0:
        clusters.counts[COUNT_HEAD, d, k] = log_beta_ratio(1.0 / f, shape, rate / f + 1.0)
        clusters.counts[SLOPE, d, k] = rate + 1.0 + f * (shape + 1.0)
        return
    log_rate, step = fast_log(rate), math.log1p(1.0 / rate)
    clusters.counts[COUNT_HEAD, d, k] = -shape * step
    clusters.counts[SLOPE, d, k] = -(log_rate + step)
    clusters.counts[LOG_RATE, d, k] = log_rate
    clusters.counts[LOG_BACK, d, k] = 0.0
    if clusters.counts[SEEN, d, k] > 0.5:  # a row of power 1 may leave
        before = max(prior.rates[d] + (clusters.counts[SEEN, d, k] - 1.0), SMALLEST)
        clusters.counts[LOG_BACK, d, k] = math.log1p(1.0 / before)


@njit_internal_nogc
def refresh_symbol(v, k, prior, clusters):
    """Update the logarithm of a symbol's weight."""
    clusters.symbols[LOG, v, k] = fast_log(prior.weights[v] + clusters.symbols[SEEN, v, k])


@njit_internal_nogc
def refresh_total(d, k, prior, clusters):
    """Update the logarithm of the total weight of a column of categories."""
    clusters.totals[LOG, d, k] = fast_log(prior.totals[d] + clusters.totals[SEEN, d, k])


@njit_internal_nogc
def move_row(i, k, sign, rows, prior, clusters, scratch):
    """Add row i to cluster k (sign 1.0), or remove it (-1.0)."""
    w = sign * power_of(i, rows)
    clusters.vectors[SIZE, k] += sign
    clusters.vectors[UPDATES, k] += 1.0
    for d in range(rows.values.shape[1]):
        x = rows.values[i, d]
        if x == x:
            away = x - clusters.normals[CENTER, d, k]
            before = prior.precisions[d] + clusters.normals[SEEN, d, k]
            clusters.normals[SEEN, d, k] += w
            c = prior.precisions[d] + clusters.normals[SEEN, d, k]
            clusters.normals[CENTER, d, k] += w * away / c
            clusters.normals[SPREAD, d, k] += (
                w * before / c * away * away + w * prior.resolutions[d]
            )
            refresh_normal(d, k, prior, clusters)
    for d in range(rows.amounts.shape[1]):
        x = rows.amounts[i, d]
        if x == x:
            clusters.counts[SEEN, d, k] += w
            clusters.counts[SUM, d, k] += w * x
            refresh_count(d, k, prior, clusters)
    for d in range(rows.codes.shape[1]):
        v = rows.codes[i, d]
        if v >= 0:
            clusters.symbols[SEEN, v, k] += w
            clusters.totals[SEEN, d, k] += w
            refresh_symbol(v, k, prior, clusters)
            refresh_total(d, k, prior, clusters)


@njit_internal_nogc
def build_normal(d, k, members, rows, prior, clusters):
    """Write the posterior of a normal column of a cluster."""
    seen = mean = scatter = 0.0
    for i in members:
        x = rows.values[i, d]
        if x == x:
            seen += power_of(i, rows)
            mean += power_of(i, rows) * x
    mean = mean / seen if seen > 0.0 else prior.centers[d]
    for i in members:
        x = rows.values[i, d]
        if x == x:
            scatter += power_of(i, rows) * (x - mean) ** 2
    c, away = prior.precisions[d] + seen, mean - prior.centers[d]
    clusters.normals[SEEN, d, k] = seen
    clusters.normals[CENTER, d, k] = prior.centers[d] + seen / c * away
    clusters.normals[SPREAD, d, k] = (
        prior.spreads[d] + scatter + prior.precisions[d] * seen / c * away * away
        + seen * prior.resolutions[d]
    )  # fmt: skip
    refresh_normal(d, k, prior, clusters)


@njit_outlined
def build_cluster(k, members, rows, prior, clusters, scratch):
    """Write the statistics of a cluster of the given rows, which may be empty."""
    clusters.vectors[SIZE, k] = members.shape[0]
    clusters.vectors[UPDATES, k] = 0.0
    for d in range(rows.values.shape[1]):
        build_normal(d, k, members, rows, prior, clusters)
    for d in range(rows.amounts.shape[1]):
        seen = total = 0.0
        for i in members:
            x = rows.amounts[i, d]
            if x == x:
                seen += power_of(i, rows)
                total += power_of(i, rows) * x
        clusters.counts[SEEN, d, k], clusters.counts[SUM, d, k] = seen, total
        refresh_count(d, k, prior, clusters)
    for v in range(prior.weights.shape[0]):
        clusters.symbols[SEEN, v, k] = 0.0
    for d in range(rows.codes.shape[1]):
        seen = 0.0
        for i in members:
            v = rows.codes[i, d]
            if v >= 0:
                seen += power_of(i, rows)
                clusters.symbols[SEEN, v, k] += power_of(i, rows)
        clusters.totals[SEEN, d, k] = seen
        refresh_total(d, k, prior, clusters)
    for v in range(prior.weights.shape[0]):
        refresh_symbol(v, k, prior, clusters)
    return True


@njit_internal_nogc
def copy_last_axis(source, k, target, j):
    """Copy column k of `source` to column j of `target`."""
    for a in range(source.shape[0]):
        for b in range(source.shape[1]):
            target[a, b, j] = source[a, b, k]


@njit_outlined
def copy_cluster(source, k, target, j):
    """Copy cluster k of `source` to place j of `target`."""
    for a in range(source.vectors.shape[0]):
        target.vectors[a, j] = source.vectors[a, k]
    copy_last_axis(source.normals, k, target.normals, j)
    copy_last_axis(source.counts, k, target.counts, j)
    copy_last_axis(source.symbols, k, target.symbols, j)
    copy_last_axis(source.totals, k, target.totals, j)


@njit_outlined
def log_evidence(k, prior, clusters):
    """Return log Z of a cluster, without the constants of rows."""
    result = 0.0
    for d in range(prior.centers.shape[0]):
        seen, c, dof = clusters.normals[SEEN, d, k], prior.precisions[d], prior.dofs[d]
        result += math.lgamma(0.5 * (dof + seen)) - math.lgamma(0.5 * dof)
        result += 0.5 * math.log(c / (c + seen)) - 0.5 * seen * LOG_PI
        result += 0.5 * dof * math.log(prior.spreads[d])
        result -= 0.5 * (dof + seen) * math.log(clusters.normals[SPREAD, d, k])
    for d in range(prior.shapes.shape[0]):
        seen, total = clusters.counts[SEEN, d, k], clusters.counts[SUM, d, k]
        if prior.dispersions[d] > 0.0:
            shape, rate, f = prior.shapes[d], prior.rates[d], prior.dispersions[d]
            result += log_gain_of_wide_counts(total, seen, shape, rate, f)
            continue
        result += log_rising(prior.shapes[d], total)
        result -= prior.shapes[d] * math.log1p(seen / prior.rates[d])
        result -= total * math.log(prior.rates[d] + seen)
    for v in range(prior.weights.shape[0]):
        if clusters.symbols[SEEN, v, k] > 0.0:
            result += log_rising(prior.weights[v], clusters.symbols[SEEN, v, k])
    for d in range(prior.totals.shape[0]):
        result -= log_rising(prior.totals[d], max(clusters.totals[SEEN, d, k], 0.0))
    return result


# Draws of the parameters of clusters of independent columns, and densities given them.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | rows, prior, clusters | | | as above |
# | drawn.heads | | (C,) | terms that do not depend on the row: 0 |
# | drawn.normals | | (3, P, C) | rows F, O, L: the log density is L - (F x - O)^2 |
# | drawn.intensities | log lambda, lambda | (2, Q, C) | or log(r q), -r log(1 - q) |
# | drawn.logs | log theta | (V, C) | |
# | lines | | (2, C) | scratch |


FACTOR, OFFSET, LOG_FACTOR = range(3)


@njit_internal_nogc
def draw_parameters(k, prior, clusters, drawn, scratch, rng):
    """Draw the parameters of all columns of a cluster given its rows."""
    drawn.heads[k] = 0.0
    for d in range(prior.centers.shape[0]):
        seen = clusters.normals[SEEN, d, k]
        gamma = draw_gamma(0.5 * (prior.dofs[d] + seen), rng)
        factor = max(math.sqrt(gamma), SMALLEST_ROOT) / math.sqrt(clusters.normals[SPREAD, d, k])
        error = draw_normal(rng) / math.sqrt(2.0 * (prior.precisions[d] + seen))
        drawn.normals[FACTOR, d, k] = factor
        drawn.normals[OFFSET, d, k] = factor * clusters.normals[CENTER, d, k] + error
        drawn.normals[LOG_FACTOR, d, k] = math.log(factor) - prior.resolutions[d] * factor * factor
    for d in range(prior.shapes.shape[0]):
        log_gamma = draw_log_gamma(prior.shapes[d] + clusters.counts[SUM, d, k], rng)
        f = prior.dispersions[d]
        if f > 0.0:
            rate = prior.rates[d] + clusters.counts[SEEN, d, k]
            log_gamma -= draw_log_gamma(rate / f + 1.0, rng)
            intensity = math.log1p(math.exp(log_gamma))
            drawn.intensities[0, d, k] = log_gamma - math.log(f) - intensity
            drawn.intensities[1, d, k] = intensity / f
            continue
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
def weigh_row_given(i, rows, drawn, lines):
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
