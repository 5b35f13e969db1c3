"""Categories, bits and counts: clusters of rows, draws and densities given states, marginals."""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._arithmetic import fast_exp, fast_log
from skdp._numeric._numba import njit, njit_internal_nogc, njit_loop, njit_outlined
from skdp._numeric._random import (
    draw_log_beta,
    draw_log_gamma,
    draw_log_small_gamma,
    gamma_constants,
    make_draw_slice,
    next_double,
)

# Single-row updates of clusters of counts, with intensities or probabilities integrated out.
#
# Rows are lists of events: for Poisson counts these are the nonzero columns, and a category is a
# single event. Probabilities have a Dirichlet prior, and intensities have Gamma priors.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | ptr, kinds, amounts | v, x_iv | (N + 1,), (E,), (E,) | kinds and numbers of events of a row |
# | totals | x_i. | (N,) | sums of the amounts |
# | constants | | (N,) | terms of a row's log probability that all clusters share |
# | prior | | | see `CountClusterPrior` |
# | vectors | | (3, C) | SIZE, TOTAL, HEAD of at most C clusters |
# | sums | s_kv | (V, C) | events of a cluster |
# | slopes | | (V, C) | for Poisson counts and bits; otherwise (0, C) |
# | lines | | (1, C) | scratch |
#
# SIZE is the number of rows of a cluster, and TOTAL its number of events. The log probability of
# Poisson counts consists of rising factorials, HEAD and the sum of slopes_v x_iv. So does that of
# many bits, whose events are the ones: HEAD is that of zeros only, and prior.rates are of zeros.


SIZE, TOTAL, HEAD = range(3)

SMALLEST = 1e-12
"""Lower bound on quantities that are positive but for rounding."""

FEW_EVENTS = 8
"""Largest amount for which a rising factorial is computed as a product."""


@njit_outlined
def log_rising(shape, amount):
    """Return log Gamma(shape + amount) - log Gamma(shape), for any amount >= 0."""
    if amount <= FEW_EVENTS and amount == math.floor(amount):
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
def weigh_row(i, rows, prior, clusters, n, own, scratch, out):
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
        if prior.is_poisson or prior.is_binary:
            for k in range(n):
                out[k] += amount * clusters.slopes[v, k]
    if prior.is_poisson or prior.is_binary:
        if own >= 0:
            size = clusters.vectors[SIZE, own] - 1.0
            own_logs += sum_heads(size, own, prior, clusters)
            for place in range(rows.ptr[i], rows.ptr[i + 1]):
                # `sum_heads` includes this row
                v = rows.kinds[place]
                if prior.is_binary:
                    own_logs -= log_zeros(size, v, own, prior, clusters)
                else:
                    own_logs -= rows.amounts[place] * math.log(prior.rates[v] + size)
            out[own] = own_logs
        return True
    for k in range(n):
        out[k] -= log_rising(prior.total_shape + totals[k], total)
    if own >= 0:
        out[own] = own_logs - log_rising(prior.total_shape + (totals[own] - total), total)
    return True


@njit_internal_nogc
def refresh_counts(k, prior, clusters):
    """Update the quantities that depend on the counts of a cluster."""
    clusters.vectors[HEAD, k] = 0.0
    if prior.is_poisson:
        size = clusters.vectors[SIZE, k]
        clusters.vectors[HEAD, k] = sum_heads(size, k, prior, clusters)
        for v in range(clusters.slopes.shape[0]):
            clusters.slopes[v, k] = -math.log(prior.rates[v] + size + 1.0)
    elif prior.is_binary:
        clusters.vectors[HEAD, k] = sum_heads(clusters.vectors[SIZE, k], k, prior, clusters)
        for v in range(clusters.slopes.shape[0]):
            clusters.slopes[v, k] = -log_zeros(clusters.vectors[SIZE, k], v, k, prior, clusters)


@njit_internal_nogc
def log_zeros(size, v, k, prior, clusters):
    """Return the log of the prior parameter of zeros plus their number, of a column of bits."""
    return fast_log(max(prior.rates[v] + size - clusters.sums[v, k], SMALLEST))


@njit_internal_nogc
def sum_heads(size, k, prior, clusters):
    """Return the sum of HEAD's terms over all kinds, for a number of rows."""
    result = 0.0
    if prior.is_binary:
        for v in range(clusters.sums.shape[0]):
            result += log_zeros(size, v, k, prior, clusters)
            result -= fast_log(prior.shapes[v] + prior.rates[v] + size)
        return result
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
def move_row(i, k, sign, rows, prior, clusters, scratch):
    """Add row i to cluster k (sign 1.0), or remove it (-1.0)."""
    add_row_of_counts(i, k, sign, rows, clusters)
    refresh_counts(k, prior, clusters)


@njit_outlined
def build_cluster(k, members, rows, prior, clusters, scratch):
    """Write the statistics of a cluster of the given rows, which may be empty."""
    for v in range(clusters.sums.shape[0]):
        clusters.sums[v, k] = 0.0
    clusters.vectors[SIZE, k] = clusters.vectors[TOTAL, k] = 0.0
    for i in members:
        add_row_of_counts(i, k, 1.0, rows, clusters)
    refresh_counts(k, prior, clusters)
    return True


@njit_outlined
def copy_cluster(source, k, target, j):
    """Copy cluster k of `source` to place j of `target`."""
    for v in range(source.vectors.shape[0]):
        target.vectors[v, j] = source.vectors[v, k]
    for v in range(source.sums.shape[0]):
        target.sums[v, j] = source.sums[v, k]
    for v in range(source.slopes.shape[0]):
        target.slopes[v, j] = source.slopes[v, k]


@njit_outlined
def log_evidence(k, prior, clusters):
    """Return log p(rows of a cluster), without the constants of rows."""
    result, size = 0.0, clusters.vectors[SIZE, k]
    for v in range(clusters.sums.shape[0]):
        if clusters.sums[v, k] > 0.0:
            result += log_rising(prior.shapes[v], clusters.sums[v, k])
    if prior.is_binary:
        for v in range(clusters.sums.shape[0]):
            result += log_rising(prior.rates[v], size - clusters.sums[v, k])
            result -= log_rising(prior.shapes[v] + prior.rates[v], size)
        return result
    if not prior.is_poisson:
        return result - log_rising(prior.total_shape, clusters.vectors[TOTAL, k])
    for v in range(clusters.sums.shape[0]):
        result -= prior.shapes[v] * math.log1p(size / prior.rates[v])
        result -= clusters.sums[v, k] * math.log(prior.rates[v] + size)
    return result


@njit_internal_nogc
def draw_parameters(k, prior, clusters, drawn, scratch, rng):
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
    if prior.is_binary:  # log odds, and the log probability of zeros
        for v in range(n_kinds):
            other = prior.rates[v] + clusters.vectors[SIZE, k] - clusters.sums[v, k]
            drawn.logs[v, k] -= draw_log_gamma(other, rng)
            away = drawn.logs[v, k]
            drawn.heads[k] -= max(away, 0.0) + math.log1p(math.exp(-abs(away)))
        return
    for v in range(n_kinds):
        total += math.exp(drawn.logs[v, k] - largest)
    log_total = largest + math.log(total)
    for v in range(n_kinds):
        drawn.logs[v, k] -= log_total


@njit_internal_nogc
def weigh_row_given(i, rows, drawn, lines):
    """Write the log probabilities of a row of counts under all clusters to `lines[0]`."""
    out, n = lines[0], drawn.heads.shape[0]
    for k in range(n):
        out[k] = drawn.heads[k]
    for place in range(rows.ptr[i], rows.ptr[i + 1]):
        amount, logs = rows.amounts[place], drawn.logs[rows.kinds[place]]
        for k in range(n):
            out[k] += amount * logs[k]


# Categories and Poisson counts, given their states.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | symbols | x_t | (N,) int32 | categories; -1: missing |
# | values | x_t | (N, D) | numbers; NaN: missing |
# | states | z_t | (N,) int64 | -1: no state; does not count |
# | counts | n_jv, n_jd | (V, J), (J, D) | symbol v in state j; values of column d in state j |
# | log_probs | log theta_jv | (V, J) | ordered by symbol, so that a step reads one row |
# | log_obs | log L_tj | (N, J) | log p(x_t given state j), output |
# | totals | | (J, D) | sums of the values of a state |
# | concentration | A | scalar | theta_j ~ Dirichlet(A b), where b is the base |
# | base_values, group | b | (G,), (V,) int64 | distinct values of b, and the index of symbol v's |
# | cells, n_cells | n G + g | (C,) int64 | distinct counts of a symbol, and their frequencies |
# | sizes, n_sizes | n_j | (S,) int64 | distinct sizes of states, and their frequencies |


NEGLIGIBLE = -40.0
"""Difference of logarithms at which the smaller term of a sum is lost to rounding."""

# Categorical: theta_j ~ Dirichlet(prior)


@njit_loop
def count_symbols(symbols, states, counts):
    """Write the number of times that each state emits each symbol to `counts`, (V, J)."""
    counts[:] = 0
    for t in range(symbols.shape[0]):
        if states[t] >= 0 and symbols[t] >= 0:
            counts[symbols[t], states[t]] += 1


@njit_internal_nogc
def normalize(log_probs, sums):
    """Subtract the log sums of all states, whose largest terms are in `sums[0]`."""
    n_symbols, n_states = log_probs.shape
    sums[1] = 0.0
    for v in range(n_symbols):
        for j in range(n_states):
            sums[1, j] += fast_exp(log_probs[v, j] - sums[0, j])
    for j in range(n_states):
        sums[1, j] = sums[0, j] + math.log(sums[1, j])
    for v in range(n_symbols):
        for j in range(n_states):
            log_probs[v, j] -= sums[1, j]


@njit_loop
def draw_log_probs(counts, prior, log_probs, sums, rng):
    """Draw log theta_j ~ Dirichlet(prior + n_j) for all states; `sums`, (2, J), is scratch."""
    n_symbols, n_states = counts.shape
    sums[0] = -math.inf
    for v in range(n_symbols):
        # Most states have never emitted this symbol: their draws share one shape and constants.
        small = prior[v] < 1.0
        d, c = gamma_constants(1.0 + prior[v])
        reciprocal = 1.0 / prior[v]
        for j in range(n_states):
            if small & (counts[v, j] == 0):
                log_probs[v, j] = draw_log_small_gamma(d, c, reciprocal, rng)
            else:
                log_probs[v, j] = draw_log_gamma(prior[v] + counts[v, j], rng)
        for j in range(n_states):
            sums[0, j] = max(sums[0, j], log_probs[v, j])
    normalize(log_probs, sums)


@njit_loop
def move_log_probs(counts, before, after, log_probs, sums, rng):
    """Move theta_j from Dirichlet(before + n_j) to Dirichlet(after + n_j), for all states."""
    # theta is g over its sum, with g_v ~ Gamma(before_v + n_v). A Gamma process connects g for all
    # values of a parameter: g grows by Gamma(after_v - before_v), or shrinks to a Beta share. Such
    # pairs have the same density in both directions.
    n_symbols, n_states = counts.shape
    for j in range(n_states):
        sums[1, j] = 0.0
        for v in range(n_symbols):
            sums[1, j] += before[v] + counts[v, j]
        sums[1, j] = draw_log_gamma(sums[1, j], rng)  # sum of g, independent of theta
        sums[0, j] = -math.inf
    for v in range(n_symbols):
        away = abs(after[v] - before[v])
        small = away < 1.0
        d, c = gamma_constants(1.0 + away)
        reciprocal = 1.0 / max(away, 1e-300)
        for j in range(n_states):
            log_g = log_probs[v, j] + sums[1, j]
            more = (
                draw_log_small_gamma(d, c, reciprocal, rng) if small else draw_log_gamma(away, rng)
            )
            if after[v] >= before[v]:
                base = log_g
            else:
                base = draw_log_gamma(after[v] + counts[v, j], rng)
            if more - base > NEGLIGIBLE:
                change = max(more - base, 0.0) + math.log1p(math.exp(-abs(more - base)))
                log_g += change if after[v] >= before[v] else -change
            log_probs[v, j] = log_g
            sums[0, j] = max(sums[0, j], log_g)
    normalize(log_probs, sums)


@njit_loop
def look_up(symbols, log_probs, log_obs):
    """Write log theta_j of the symbol of every step to `log_obs`, or 0 if it is missing."""
    for t in range(symbols.shape[0]):
        if symbols[t] >= 0:
            for j in range(log_obs.shape[1]):
                log_obs[t, j] = log_probs[symbols[t], j]
        else:
            for j in range(log_obs.shape[1]):
                log_obs[t, j] = 0.0


@njit_loop
def log_evidence_of_symbols(counts, prior):
    """Return log p(x | z) with theta integrated out."""
    n_symbols, n_states = counts.shape
    total_prior = 0.0
    for v in range(n_symbols):
        total_prior += prior[v]
    result = 0.0
    for j in range(n_states):
        n = 0
        for v in range(n_symbols):
            if counts[v, j] > 0:
                result += math.lgamma(prior[v] + counts[v, j]) - math.lgamma(prior[v])
                n += counts[v, j]
        if n > 0:
            result += math.lgamma(total_prior) - math.lgamma(total_prior + n)
    return result


@njit_loop
def list_cells(counts, group, n_groups, cells, sizes):
    """Write keys n G + g of all counts n > 0, and n_j of all states; return the number of keys."""
    n = 0
    sizes[:] = 0
    for v in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            if counts[v, j] > 0:
                cells[n] = counts[v, j] * n_groups + group[v]
                sizes[j] += counts[v, j]
                n += 1
    return n


@njit_loop
def log_evidence_of_concentration(concentration, base_values, cells, n_cells, sizes, n_sizes):
    """Return log p(x | z) with theta integrated out, from the frequencies of counts."""
    n_groups = base_values.shape[0]
    result = 0.0
    for i in range(cells.shape[0]):
        shape = concentration * base_values[cells[i] % n_groups]
        n = cells[i] // n_groups
        result += n_cells[i] * (math.lgamma(shape + n) - math.lgamma(shape))
    for i in range(sizes.shape[0]):
        if sizes[i] > 0:
            ratio = math.lgamma(concentration) - math.lgamma(concentration + sizes[i])
            result += n_sizes[i] * ratio
    return result


# Poisson: lambda_jd ~ Gamma(shapes_d, rates_d)


@njit_loop
def add_up_values(values, states, counts, totals):
    """Write the number of observed values of each state and column, and their sums."""
    counts[:] = 0.0
    totals[:] = 0.0
    for t in range(values.shape[0]):
        if states[t] >= 0:
            for d in range(values.shape[1]):
                if not math.isnan(values[t, d]):
                    counts[states[t], d] += 1.0
                    totals[states[t], d] += values[t, d]


@njit_loop
def draw_log_intensities(counts, totals, shapes, rates, log_intensities, rng):
    """Draw log lambda_jd ~ Gamma(shapes_d + sum of values, rates_d + n_jd); output is (J, D)."""
    for j in range(counts.shape[0]):
        for d in range(totals.shape[1]):
            draw = draw_log_gamma(shapes[d] + totals[j, d], rng)
            log_intensities[j, d] = draw - math.log(rates[d] + counts[j, d])


@njit_loop
def weigh_counts(values, log_intensities, log_obs):
    """Write sum_d log Poisson(x_td; lambda_jd) over observed values to `log_obs`."""
    log_obs[:] = 0.0
    for t in range(values.shape[0]):
        for d in range(values.shape[1]):
            if math.isnan(values[t, d]):
                continue
            constant = math.lgamma(values[t, d] + 1.0)
            for j in range(log_obs.shape[1]):
                log_intensity = log_intensities[j, d]
                log_obs[t, j] += values[t, d] * log_intensity - math.exp(log_intensity) - constant


# Negative binomial counts: see `PoissonEmission`
#
# `levels` and `tallies` are the distinct counts x of a column, and how often they occur; those of
# column d are from ptr[d] to ptr[d + 1], and `codes`, (T, D), are their places, -1 if missing.


@njit_internal_nogc
def log_beta_ratio(more, shape, other):
    """Return log B(other + more, shape) - log B(other, shape), accurate if `other` is large."""
    if more < shape:
        return log_rising(other, more) - log_rising(other + shape, more)
    return log_rising(other, shape) - log_rising(other + more, shape)


@njit_internal_nogc
def log_gain_of_wide_counts(total, w, shape, rate, f):
    """Return the log ratio of a column's evidence with and without more counts, f > 0."""
    # The sum of the counts is `total`, and that of their powers w; factors of one count are left
    # out.
    r = 1.0 / f
    other = r * rate + 1.0
    result = log_beta_ratio(w * r, shape, other) + log_rising(shape, total)
    return result - log_rising(shape + other + w * r, total) + total * math.log(r)


@njit_loop
def count_levels(codes, states, powers, tallies):
    """Write how often each level of the counts occurs in steps with a state."""
    tallies[:] = 0
    for t in range(codes.shape[0]):
        if states[t] >= 0:
            for d in range(codes.shape[1]):
                if codes[t, d] >= 0:
                    tallies[codes[t, d]] += powers[t] if powers.shape[0] > 0 else 1.0


@njit_loop
def draw_log_odds(counts, totals, shapes, rates, dispersions, log_odds, rng):
    """Draw log lambda_jd / r_d with lambda_jd / r_d ~ Beta'(shapes_d, r_d rates_d + 1) a priori."""
    for j in range(counts.shape[0]):
        for d in range(totals.shape[1]):
            draw = draw_log_gamma(shapes[d] + totals[j, d], rng)
            other = (rates[d] + counts[j, d]) / dispersions[d] + 1.0
            log_odds[j, d] = draw - draw_log_gamma(other, rng)


@njit_loop
def weigh_wide_counts(values, codes, constants, log_odds, heads, dispersions, log_obs):
    """Write sum_d log p(x_td) over observed values to `log_obs`; `heads` are log(1 + odds)."""
    log_obs[:] = 0.0
    for t in range(values.shape[0]):
        for d in range(values.shape[1]):
            if codes[t, d] < 0:
                continue
            r = 1.0 / dispersions[d]
            constant = constants[codes[t, d]] + values[t, d] * math.log(r)
            for j in range(log_obs.shape[1]):
                head = heads[j, d]
                log_obs[t, j] += values[t, d] * (log_odds[j, d] - head) - r * head + constant


@njit_internal_nogc
def weigh_levels(f, levels, tallies):
    """Return the sum of log (r)_x - x log r over counts x, for a dispersion f = 1 / r."""
    result, r = 0.0, 1.0 / f
    for i in range(levels.shape[0]):
        if tallies[i] > 0:
            result += tallies[i] * (log_rising(r, levels[i]) - levels[i] * math.log(r))
    return result


@njit_internal_nogc
def _log_density_of_dispersion(log_f, low, high, levels, tallies, counts, totals, shape, rate):
    """Return the log density of log f, which is ~ Exp(1) a priori, with rates integrated out."""
    if not low <= log_f <= high:
        return -math.inf
    f = math.exp(log_f)
    result = log_f - f + weigh_levels(f, levels, tallies)
    for j in range(counts.shape[0]):
        result += log_gain_of_wide_counts(totals[j], counts[j], shape, rate, f)
    return result


_draw_log_dispersion = njit_loop(make_draw_slice(_log_density_of_dispersion))


@njit_loop
def draw_dispersions(low, high, levels, ptr, tallies, counts, totals, shapes, rates, out, rng):
    """Draw the dispersion of each column; `out` has the present ones."""
    for d in range(out.shape[0]):
        some = slice(ptr[d], ptr[d + 1])
        log_f = _draw_log_dispersion(
            math.log(out[d]), 2.0, 100, rng, low, high, levels[some], tallies[some], counts[:, d],
            totals[:, d], shapes[d], rates[d],
        )  # fmt: skip
        out[d] = math.exp(log_f)


@njit_loop
def log_evidence_of_wide_counts(levels, ptr, tallies, counts, totals, shapes, rates, dispersions):
    """Return log p(x | z), without the factorials."""
    result = 0.0
    for d in range(counts.shape[1]):
        f, some = dispersions[d], slice(ptr[d], ptr[d + 1])
        result += weigh_levels(f, levels[some], tallies[some])
        for j in range(counts.shape[0]):
            more = log_gain_of_wide_counts(totals[j, d], counts[j, d], shapes[d], rates[d], f)
            result += more
    return result


# Bits and counts of events in many columns, given their states.
#
# Bits (Bernoulli): theta_jd ~ Beta(a, b). The log probabilities of a step are a sum of rows of one
# table of logarithms with a row for each column and value, so that the inner loops run over states
# and are vectorized. Row 2 d is "0 in column d", row 2 d + 1 is "1 in column d", and row 2 D, which
# holds zeros, is "missing".
#
# Counts (multinomial): theta_j ~ Dirichlet(prior). Only nonzero counts of a step are listed.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | places | | (N, D) int32 | row of the table of each column of each step |
# | states | z_t | (N,) int64 | -1: no state |
# | counts | n_dj | (2 D + 1, J) int64 | occurrences of each column and value in each state |
# | log_probs | log theta | (2 D + 1, J) | by column and value; or (V, J) by kind of event |
# | ptr, kinds, amounts | v, x_tv | (N + 1,), (E,), (E,) | kinds and numbers of events of a step |
# | log_coefficients | | (N,) | log of the multinomial coefficient of a step |
# | log_obs | log L_tj | (N, J) | log p(x_t given state j), output |


# Bernoulli


@njit_loop
def count_bits(places, states, counts):
    """Write the number of times each state has each value of each column."""
    counts[:] = 0
    for t in range(places.shape[0]):
        j = states[t]
        if j >= 0:
            for d in range(places.shape[1]):
                counts[places[t, d], j] += 1


@njit_loop
def draw_log_probs_of_bits(counts, of_one, of_zero, log_probs, rng):
    """Draw log theta and log (1 - theta) ~ Beta(a + ones, b + zeros) of all states and columns."""
    for d in range(counts.shape[0] // 2):
        for j in range(counts.shape[1]):
            log_one, log_zero = draw_log_beta(
                of_one + counts[2 * d + 1, j], of_zero + counts[2 * d, j], rng
            )
            log_probs[2 * d, j] = log_zero
            log_probs[2 * d + 1, j] = log_one


@njit_loop
def add_rows(places, rows, out):
    """Write sum_d rows[places[t, d]] to out[t], four rows at a time."""
    n_columns = places.shape[1]
    rest = n_columns - n_columns % 4
    out[:] = 0.0
    for t in range(places.shape[0]):
        for d in range(0, rest, 4):
            a, b, c, e = places[t, d], places[t, d + 1], places[t, d + 2], places[t, d + 3]
            for j in range(out.shape[1]):
                out[t, j] += (rows[a, j] + rows[b, j]) + (rows[c, j] + rows[e, j])
        for d in range(rest, n_columns):
            a = places[t, d]
            for j in range(out.shape[1]):
                out[t, j] += rows[a, j]


# Multinomial


@njit_loop
def count_events(ptr, kinds, amounts, states, counts):
    """Write the number of events of each kind in each state to `counts`, (V, J) int64."""
    counts[:] = 0
    for t in range(states.shape[0]):
        j = states[t]
        if j >= 0:
            for i in range(ptr[t], ptr[t + 1]):
                counts[kinds[i], j] += int(amounts[i])


@njit_loop
def weigh_events(ptr, kinds, amounts, log_coefficients, log_probs, log_obs):
    """Write the log probabilities of all steps, given their numbers of events."""
    for t in range(log_obs.shape[0]):
        for j in range(log_obs.shape[1]):
            log_obs[t, j] = log_coefficients[t]
        for i in range(ptr[t], ptr[t + 1]):
            v, amount = kinds[i], amounts[i]
            for j in range(log_obs.shape[1]):
                log_obs[t, j] += amount * log_probs[v, j]


# Cumulative probabilities of numbers of events.
#
# P(k + 1) / P(k) = m (a + s k) / ((k + 1) (b + s (m - 1))), m = n - k, where s = 1 for
# beta-binomial counts, with probabilities ~ Beta(a, b), and s = 0, a = p, b = 1 - p for binomial
# ones.
#
# Rounding errors must not accumulate over millions of steps. The rounding error of a + k is the
# same for thousands of successive k; that of m (k + 1) + (a - 1) m is not.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | numbers | n | (K,) int64 | numbers of all events |
# | starts | | (K, J) int64 | most probable k from `first` to `last` for each n and state |
# | probs | P | (K, J) | probabilities of `starts` |
# | a, b | | (J,) | shapes, or probabilities |
# | slope | s | | 1 or 0 |
# | first, last | | | range of k that is added up |
# | shift | | | k is added to row (k - first) / 2^shift |
# | out | | (R, J) | incremented |
#
# For many events, sums are integrals over panels:
#
# | name | shape | meaning |
# |---|---|---|
# | edges | (K, J, P + 1) | ascending edges of panels; infinite after the last one |
# | before | (K, J, P) | sums over the preceding panels |
# | coefs | (K, J, P, C) | Chebyshev series of the sums within panels |


NEGLIGIBLE_PROBABILITY = 1e-20

FEW = 64
"""Largest k for which the rounding errors of a + k are not systematic."""


@njit_loop
def weigh_next(k, m, a, slope):
    """Return m (a + s k)."""
    if k < FEW:
        return m * (a + slope * k)
    return slope * (m * (k + 1.0)) + (a - slope) * m


@njit_loop
def add_numbers_of_events(numbers, starts, probs, a, b, slope, first, last, shift, out):
    """Add the probabilities of the numbers of events from `first` to `last`."""
    # The sum runs from the most probable number in both directions, until the rest is below 1e-20.
    for i in range(numbers.shape[0]):
        n = numbers[i]
        end, least = min(n, last), NEGLIGIBLE_PROBABILITY / (n + 1.0)
        for j in range(out.shape[1]):
            if probs[i, j] <= 0.0:
                continue
            # If both shapes are below 1, probabilities fall and then rise, but never fall that low,
            # because shapes are at least 1e-8.
            k, p = starts[i, j], probs[i, j]
            out[(k - first) >> shift, j] += p
            while k < end and p > least:
                m = n - k
                p *= weigh_next(k, m, a[j], slope) / weigh_next(m - 1, k + 1, b[j], slope)
                k += 1
                out[(k - first) >> shift, j] += p
            k, p = starts[i, j], probs[i, j]
            while k > first and p > least:
                m = n - k
                p *= weigh_next(m, k, b[j], slope) / weigh_next(k - 1, m + 1, a[j], slope)
                k -= 1
                out[(k - first) >> shift, j] += p


MOST_PANELS = 128
"""Upper bound of the number of panels of a distribution."""

LOG_NEGLIGIBLE = -60.0
"""Log probability, relative to the start, below which probabilities are neglected."""


@njit
def _panel_width(k, n, a, b, slope, share_left, share_right):
    """Return the width of a panel at k, and the slope of the logarithm of the probability."""
    m = n - k
    rise = math.log(weigh_next(k, m, a, slope) / weigh_next(m - 1.0, k + 1.0, b, slope))
    if slope > 0.0:
        bend = abs(a - 1.0) / ((k + a) * (k + 1.0)) + abs(b - 1.0) / ((m + b) * (m + 1.0))
    else:
        bend = 1.0 / (k + 1.0) + 1.0 / (m + 1.0)
    width = min(share_left * k, share_right * m, 2.0 / math.sqrt(bend + 1e-300))
    return min(width, 4.0 / (abs(rise) + 1e-300)), rise


@njit
def find_panels(n, start, low, high, a, b, slope, out):
    """Write the edges of panels between `low` and `high`, from a start in both directions."""
    # In a panel, the log probability is nearly parabolic and changes little.
    count = 0
    if a <= 0.0 or b <= 0.0:  # known probabilities of 0 or 1: all mass is at one end
        out[0] = start
        return
    for sign in (-1.0, 1.0):
        end, most = (low, MOST_PANELS // 2) if sign < 0.0 else (high, MOST_PANELS)
        share_left, share_right = (0.5, 1.0) if sign < 0.0 else (1.0, 0.5)
        k, log_p = start, 0.0
        while sign * (end - k) > 0.0 and log_p > LOG_NEGLIGIBLE and count < most:
            width, rise = _panel_width(k, n, a, b, slope, share_left, share_right)
            if sign * (end - k) - width < 1.0:
                width = sign * (end - k)
            log_p += sign * rise * width
            k += sign * width
            out[count] = k
            count += 1
        if sign < 0.0:
            out[:count] = out[:count][::-1].copy()
            out[count] = start
            count += 1


@njit
def add_panels(x, edges, before, coefs, out):
    """Add the sums of the probabilities up to each of the numbers x, (X, J)."""
    for i in range(edges.shape[0]):
        for j in range(edges.shape[1]):
            for row in range(x.shape[0]):
                y = x[row] + 0.5
                p = np.searchsorted(edges[i, j], y, side="right") - 1
                if p < 0:
                    continue
                p = min(p, coefs.shape[2] - 1)
                left, right = edges[i, j, p], edges[i, j, p + 1]
                if not right < np.inf:  # after the last panel
                    out[row, j] += before[i, j, p]
                    continue
                t = min(2.0 * (y - left) / (right - left) - 1.0, 1.0)
                first, second = 0.0, 0.0
                for c in range(coefs.shape[3] - 1, 0, -1):
                    first, second = coefs[i, j, p, c] + 2.0 * t * first - second, first
                out[row, j] += before[i, j, p] + coefs[i, j, p, 0] + t * first - second


# Rows whose probabilities vary about those of their state: psi_t ~ Dirichlet(b theta_j)
#
# The rising factorials (b theta)_x = prod_m (b theta + m), m < x, of a row's likelihood are sums
# over which events open a table (a factor b theta each) and which join one (m).


@njit_loop
def draw_tables(ptr, kinds, amounts, states, log_probs, concentration, tables, logs, rng):
    """Draw the numbers of tables of the events of each row; `logs` are the logs of joining."""
    for t in range(states.shape[0]):
        for place in range(ptr[t], ptr[t + 1]):
            own = concentration * math.exp(log_probs[kinds[place], states[t]])
            n_tables, log_joined, m = 1.0, 0.0, 1.0
            while m < amounts[place]:
                if next_double(rng) * (own + m) < own:
                    n_tables += 1.0
                else:
                    log_joined += math.log(m)
                m += 1.0
            tables[place], logs[place] = n_tables, log_joined


@njit_loop
def weigh_compound_rows(
    ptr, kinds, amounts, log_coefficients, totals, concentration, shapes, sums, scratch, log_obs
):
    """Write log E[p(x_t given theta_j)], theta_j ~ Dirichlet(shapes_j) of sums `sums`."""
    # Row by row, the expectation is a sum over total numbers of tables: see `_add_kind`.
    b, line, kind, work = concentration, scratch[0], scratch[1], scratch[2]
    for t in range(log_obs.shape[0]):
        first = log_coefficients[t] - log_rising(b, totals[t])
        n_events = ptr[t + 1] - ptr[t]
        for j in range(sums.shape[0]):
            total = sums[j]
            expected = float(n_events)
            for place in range(ptr[t], ptr[t + 1]):
                own = b * (shapes[kinds[place], j] + 1.0) / (total + n_events)
                expected += own * math.log1p((amounts[place] - 1.0) / (1.0 + own))
            factor = b / (total + expected)  # of a table; chosen so that no term is out of range
            line[0], size, log_scale = 1.0, 1, 0.0
            for place in range(ptr[t], ptr[t + 1]):
                x, shape = amounts[place], shapes[kinds[place], j]
                size, more = _add_kind(x, shape, factor, line, size, kind, work)
                log_scale += more
            # `line` has the coefficients of n_events, n_events + 1, ... tables
            step, highest = math.log(total + expected), -math.inf
            log_weight = n_events * step - log_rising(total, float(n_events))
            for i in range(size):
                if line[i] > 0.0:
                    kind[i] = log_weight + math.log(line[i])
                    highest = max(highest, kind[i])
                log_weight += step - math.log(total + n_events + i)
            mean = 0.0
            for i in range(size):
                if line[i] > 0.0:
                    mean += math.exp(kind[i] - highest)
            log_obs[t, j] = first + log_scale + highest + math.log(mean)


@njit_internal_nogc
def _add_kind(x, shape, factor, line, size, kind, work):
    """Multiply a series by that of x events; return its size and a log scale."""
    # The series of x events has the terms s(x, t) (shape)_t factor^t for t = 1, ..., x, where s are
    # Stirling numbers of the first kind.
    if x == 1.0:
        return size, math.log(shape * factor)
    kind[0], log_scale, n = shape * factor, 0.0, 1
    while n < x:
        kind[n], largest = 0.0, 0.0
        for i in range(n, -1, -1):  # of i + 1 tables
            value = n * kind[i]
            if i > 0:
                value += kind[i - 1] * factor * (shape + i)
            kind[i] = value
            largest = max(largest, value)
        for i in range(n + 1):
            kind[i] /= largest
        log_scale += math.log(largest)
        n += 1
    largest = 0.0
    for i in range(size + n - 1):
        value = 0.0
        for j in range(max(0, i - n + 1), min(i, size - 1) + 1):
            value += line[j] * kind[i - j]
        work[i] = value
        largest = max(largest, value)
    size += n - 1
    for i in range(size):
        line[i] = work[i] / largest
    return size, log_scale + math.log(largest)
