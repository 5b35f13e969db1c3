r"""Binary factors whose amplitudes vary from step to step.

y_td = w_0d + sum_f theta_jf a_tf w_fd + noise of precision lambda_d in state j = z_t, with
amplitudes a_tf ~ N(1, tau^2). With these summed out the observation is normal, of covariance
diag(1 / lambda) + tau^2 sum_f theta_jf w_f w_f^T. Its projection on the weights is sufficient:
with A the factors that are on in state j and b = g_tA - G_AA 1,

    -2 log p(y_t) = c_t - 2 1^T g_tA + 1^T G_AA 1 - tau^2 b^T M^-1 b + log det M + constant,
    M = I + tau^2 G_AA,

and a_tA given y_t is normal, of mean 1 + tau^2 M^-1 b and covariance tau^2 M^-1.

| name | symbol | shape | meaning |
|---|---|---|---|
| values | y_td | (N, D) | NaN is a missing one |
| states | z_t | (N,) int64 | |
| factors | theta_jf | (J, F) int8 | |
| weights | w_fd | (F + 1, D) | row 0 is the background |
| precisions | lambda_d | (D,) | of the noise; 0 leaves a column out |
| variance | tau^2 | | of the amplitudes |
| products | G_fg | (F, F) | sum_d lambda_d w_fd w_gd |
| projections | g_tf | (N, F) | sum_d lambda_d w_fd (y_td - w_0d) |
| rests | c_t | (N,) | sum_d lambda_d (y_td - w_0d)^2 |
| amplitudes | a_tf | (N, F) | 0 if a factor is off |
| spins | 2 theta_jf - 1 | (F, J) float64 | by factor |
| scales | | (D,) | prior standard deviations of weights |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

from skdp._numeric import Floats, Places
from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_normal
from skdp.emissions._kernels._gaussian import factorize


class Projections(NamedTuple):
    """Statistics of the observations for all vectors, and scratch for a step."""

    variance: float
    products: Floats
    counts: Floats  # (J,), steps of a state
    totals: Floats  # (J, F), sums of their projections
    outer: Floats  # (J, F, F), sums of their outer products, lower triangles
    active: Places  # (F,), scratch: the factors that are on
    root: Floats  # (F, F), scratch
    shift: Floats  # (F,), scratch
    column: Floats  # (F,), scratch


class Roots(NamedTuple):
    """Factors of the covariance of an observation in every state."""

    active: Places  # (J, F), the factors that are on, first in their row
    n_active: Places  # (J,)
    roots: Floats  # (J, F, F), L L^T = M, the reciprocals of its diagonal on it
    log_dets: Floats  # (J,), log det M
    shifts: Floats  # (J, F), G_AA 1


# Projections


@njit_loop
def write_products(weights, precisions, products):
    """Write G."""
    for f in range(products.shape[0]):
        for g in range(products.shape[0]):
            products[f, g] = 0.0
            for d in range(precisions.shape[0]):
                products[f, g] += precisions[d] * weights[f + 1, d] * weights[g + 1, d]


@njit_loop
def project(values, rows, weights, precisions, projections, rests):
    """Write g and c of some steps in turn; missing values are left out."""
    n_factors = projections.shape[1]
    for i in range(rows.shape[0]):
        rests[i] = 0.0
        for f in range(n_factors):
            projections[i, f] = 0.0
        for d in range(precisions.shape[0]):
            value = values[rows[i], d]
            if math.isnan(value):
                continue
            rest = value - weights[0, d]
            scaled = precisions[d] * rest
            rests[i] += scaled * rest
            for f in range(n_factors):
                projections[i, f] += scaled * weights[f + 1, d]


@njit_loop
def add_up_projections(projections, states, counts, totals, outer):
    """Write the number of steps of every state, and sums of projections and of their products."""
    n_factors = totals.shape[1]
    counts[:] = 0.0
    totals[:] = 0.0
    outer[:] = 0.0
    for t in range(states.shape[0]):
        j = states[t]
        counts[j] += 1.0
        for f in range(n_factors):
            totals[j, f] += projections[t, f]
            for g in range(f + 1):
                outer[j, f, g] += projections[t, f] * projections[t, g]


@njit_inlined
def factorize_active(products, variance, active, n, root, shift):
    """Write L, with the reciprocals of its diagonal on it, and G_AA 1; return log det M."""
    log_det = 0.0
    for a in range(n):
        shift[a] = 0.0
        for b in range(n):
            shift[a] += products[active[a], active[b]]
        for b in range(a + 1):
            entry = variance * products[active[a], active[b]]
            for c in range(b):
                entry -= root[a, c] * root[b, c]
            if b < a:
                root[a, b] = entry * root[b, b]
            else:
                log_det += math.log1p(entry)
                root[a, a] = 1.0 / math.sqrt(1.0 + entry)
    return log_det


# Binary vectors


@njit_internal_nogc
def list_active(spins, j, active):
    """List the factors that are on in state j; return their number."""
    n = 0
    for f in range(spins.shape[0]):
        if spins[f, j] > 0.0:
            active[n] = f
            n += 1
    return n


@njit_internal_nogc
def log_likelihood_of_state(projections, spins, j):
    """Return log p of the observations of state j given its vector, up to a constant."""
    active, root = projections.active, projections.root
    shift, column = projections.shift, projections.column
    totals, outer, count = projections.totals[j], projections.outer[j], projections.counts[j]
    n = list_active(spins, j, active)
    result = -0.5 * count
    result *= factorize_active(projections.products, projections.variance, active, n, root, shift)
    trace = 0.0  # of M^-1 sum_t b_t b_t^T
    for c in range(n):
        g = active[c]
        result += totals[g] - 0.5 * count * shift[c]
        for a in range(n):
            f = active[a]
            column[a] = outer[max(f, g), min(f, g)] + count * shift[a] * shift[c]
            column[a] -= totals[f] * shift[c] + shift[a] * totals[g]
            for b in range(a):
                column[a] -= root[a, b] * column[b]
            column[a] *= root[a, a]
        for a in range(n - 1, c - 1, -1):
            for b in range(a + 1, n):
                column[a] -= root[b, a] * column[b]
            column[a] *= root[a, a]
        trace += column[c]
    return result + 0.5 * projections.variance * trace


# Observations


@njit_loop
def write_roots(factors, products, variance, roots):
    """Write the factors of the covariances of all states."""
    for j in range(factors.shape[0]):
        roots.n_active[j] = 0
        for f in range(factors.shape[1]):
            if factors[j, f] == 1:
                roots.active[j, roots.n_active[j]] = f
                roots.n_active[j] += 1
        roots.log_dets[j] = factorize_active(
            products, variance, roots.active[j], roots.n_active[j], roots.roots[j], roots.shifts[j]
        )


@njit_inlined
def weigh_step(j, projection, rest, variance, roots, column):
    """Return log p(y_t given state j) up to a constant; L^-1 b is written to `column`."""
    active, root, shift = roots.active[j], roots.roots[j], roots.shifts[j]
    result = rest + roots.log_dets[j]
    for a in range(roots.n_active[j]):
        g = projection[active[a]]
        left = g - shift[a]
        result -= g + left
        for b in range(a):
            left -= root[a, b] * column[b]
        column[a] = left * root[a, a]
        result -= variance * column[a] * column[a]
    return -0.5 * result


@njit_loop
def weigh_steps(rows, projections, rests, constant, variance, roots, column, log_obs):
    """Write log p(y_t given state j) of some steps to `log_obs`, (N, J)."""
    for i in range(rows.shape[0]):
        row = log_obs[rows[i]]
        for j in range(row.shape[0]):
            row[j] = constant + weigh_step(j, projections[i], rests[i], variance, roots, column)


@njit_loop
def log_likelihood_of_steps(rows, states, projections, rests, variance, roots, column):
    """Return log p of some steps given their states, up to a constant for each step."""
    result = 0.0
    for i in range(rows.shape[0]):
        j = states[rows[i]]
        result += weigh_step(j, projections[i], rests[i], variance, roots, column)
    return result


# Amplitudes


@njit_loop
def draw_amplitudes(rows, states, projections, variance, roots, column, amplitudes, rng):
    """Draw the amplitudes of some steps given their states; 0 for factors that are off."""
    # They have the mean 1 + tau^2 L^-T L^-1 b and the covariance tau^2 L^-T L^-1.
    scale = math.sqrt(variance)
    for i in range(rows.shape[0]):
        t, j = rows[i], states[rows[i]]
        weigh_step(j, projections[i], 0.0, variance, roots, column)
        active, root, n = roots.active[j], roots.roots[j], roots.n_active[j]
        for f in range(amplitudes.shape[1]):
            amplitudes[t, f] = 0.0
        for a in range(n - 1, -1, -1):
            column[a] = scale * column[a] + draw_normal(rng)
            for b in range(a + 1, n):
                column[a] -= root[b, a] * column[b]
            column[a] *= root[a, a]
            amplitudes[t, active[a]] = 1.0 + scale * column[a]


@njit_loop
def fill_missing(values, rows, amplitudes, weights, precisions, filled, rng):
    """Draw the missing values of some steps given amplitudes."""
    for i in range(rows.shape[0]):
        t = rows[i]
        for d in range(precisions.shape[0]):
            if not math.isnan(values[t, d]):
                continue
            filled[t, d] = weights[0, d] + draw_normal(rng) / math.sqrt(precisions[d])
            for f in range(amplitudes.shape[1]):
                filled[t, d] += amplitudes[t, f] * weights[f + 1, d]


@njit_loop
def add_up_deviations(factors, states, amplitudes):
    """Return the number of amplitudes that are on, and the sum of (a - 1)^2."""
    n, total = 0, 0.0
    for t in range(states.shape[0]):
        for f in range(factors.shape[1]):
            if factors[states[t], f] == 1:
                n += 1
                total += (amplitudes[t, f] - 1.0) ** 2
    return n, total


# Weights and noise given amplitudes: a linear regression


@njit_loop
def add_up_regression(values, amplitudes, gram, cross):
    """Write sum_t x_t x_t^T (lower triangle) and sum_t x_t y_t^T, x_t = (1, a_t)."""
    n_rows, n_dims = cross.shape
    cross[:] = 0.0
    gram[:] = 0.0
    for t in range(values.shape[0]):
        for f in range(n_rows):
            x = 1.0 if f == 0 else amplitudes[t, f - 1]
            if x == 0.0:
                continue
            gram[f, 0] += x
            for g in range(1, f + 1):
                gram[f, g] += x * amplitudes[t, g - 1]
            for d in range(n_dims):
                cross[f, d] += x * values[t, d]


@njit_internal_nogc
def solve_weights(d, normals, weights, factor):
    """Replace column d of the weights, b, by L^-T (L^-1 b + z), the mean where z = 0; write L."""
    factorize(factor)
    for f in range(weights.shape[0]):
        for g in range(f):
            weights[f, d] -= factor[f, g] * weights[g, d]
        weights[f, d] /= factor[f, f]
    for f in range(weights.shape[0] - 1, -1, -1):
        weights[f, d] = (weights[f, d] + normals[f, d]) / factor[f, f]
        for g in range(f):
            weights[g, d] -= factor[f, g] * weights[f, d]


@njit_loop
def write_regression_weights(gram, cross, precisions, scales, normals, weights, factor):
    """Write N(S b, S), S^-1 = L L^T = lambda gram + I / scale_d^2, a column at a time."""
    # b = lambda sum_t x_t y_t; given normals z the weights are L^-T (L^-1 b + z).
    n_rows, n_dims = weights.shape
    for d in range(n_dims):
        for f in range(n_rows):
            weights[f, d] = precisions[d] * cross[f, d]
            for g in range(f + 1):
                factor[f, g] = precisions[d] * gram[f, g]
            factor[f, f] += 1.0 / (scales[d] * scales[d])
        solve_weights(d, normals, weights, factor)


@njit_loop
def add_up_residuals(values, amplitudes, weights, residuals):
    """Write the sums of squared residuals of all columns."""
    n_dims = residuals.shape[0]
    residuals[:] = 0.0
    for t in range(values.shape[0]):
        for d in range(n_dims):
            rest = values[t, d] - weights[0, d]
            for f in range(amplitudes.shape[1]):
                rest -= amplitudes[t, f] * weights[f + 1, d]
            residuals[d] += rest * rest
