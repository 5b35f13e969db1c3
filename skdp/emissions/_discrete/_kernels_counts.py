r"""Categories and Poisson counts, given their states.

| name | symbol | shape | meaning |
|---|---|---|---|
| symbols | x_t | (N,) int32 | categories; -1: missing |
| values | x_t | (N, D) | numbers; NaN: missing |
| states | z_t | (N,) int64 | -1: no state; does not count |
| counts | n_jv, n_jd | (V, J), (J, D) | symbol v in state j; values of column d in state j |
| log_probs | log theta_jv | (V, J) | ordered by symbol, so that a step reads one row |
| log_obs | log L_tj | (N, J) | log p(x_t given state j), output |
| totals | | (J, D) | sums of the values of a state |
| concentration | A | scalar | theta_j ~ Dirichlet(A b), where b is the base |
| base_values, group | b | (G,), (V,) int64 | distinct values of b, and the index of symbol v's |
| cells, n_cells | n G + g | (C,) int64 | distinct counts of a symbol, and their frequencies |
| sizes, n_sizes | n_j | (S,) int64 | distinct numbers of steps of a state, and their frequencies |
| rng | | (4,) uint64 | stream, advanced in place |
"""

# mypy: ignore-errors

import math

from skdp._numeric._elementary import fast_exp
from skdp._numeric._numba import njit_loop
from skdp._numeric._random import draw_log_gamma, draw_log_small_gamma, gamma_constants

NEGLIGIBLE = -40.0
"""Difference of logarithms at which the smaller term of a sum is lost to rounding."""

# Categorical: theta_j ~ Dirichlet(prior)


@njit_loop
def count_symbols(symbols, states, counts):
    """Write the number of times that each state emits each symbol to `counts`, (V, J)."""
    for v in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            counts[v, j] = 0
    for t in range(symbols.shape[0]):
        if states[t] >= 0 and symbols[t] >= 0:
            counts[symbols[t], states[t]] += 1


@njit_loop
def draw_log_probs(counts, prior, log_probs, sums, rng):
    """Draw log theta_j ~ Dirichlet(prior + n_j) for all states; `sums`, (2, J), is scratch."""
    n_symbols, n_states = counts.shape
    for j in range(n_states):
        sums[0, j] = -math.inf
        sums[1, j] = 0.0
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
    for v in range(n_symbols):
        for j in range(n_states):
            sums[1, j] += fast_exp(log_probs[v, j] - sums[0, j])
    for j in range(n_states):
        sums[1, j] = sums[0, j] + math.log(sums[1, j])
    for v in range(n_symbols):
        for j in range(n_states):
            log_probs[v, j] -= sums[1, j]


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
    for j in range(n_states):
        sums[1, j] = 0.0
    for v in range(n_symbols):
        for j in range(n_states):
            sums[1, j] += fast_exp(log_probs[v, j] - sums[0, j])
    for j in range(n_states):
        sums[1, j] = sums[0, j] + math.log(sums[1, j])
    for v in range(n_symbols):
        for j in range(n_states):
            log_probs[v, j] -= sums[1, j]


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
    for j in range(counts.shape[1]):
        sizes[j] = 0
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
    for j in range(counts.shape[0]):
        for d in range(values.shape[1]):
            counts[j, d] = 0.0
            totals[j, d] = 0.0
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
    for t in range(values.shape[0]):
        for j in range(log_obs.shape[1]):
            log_obs[t, j] = 0.0
        for d in range(values.shape[1]):
            if math.isnan(values[t, d]):
                continue
            constant = math.lgamma(values[t, d] + 1.0)
            for j in range(log_obs.shape[1]):
                log_intensity = log_intensities[j, d]
                log_obs[t, j] += values[t, d] * log_intensity - math.exp(log_intensity) - constant
