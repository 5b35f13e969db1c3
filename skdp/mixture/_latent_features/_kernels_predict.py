r"""Features and densities of new rows, given a stored sample of the training rows' features.

The next row has feature k with probability m_k / (N + 1), and Poisson(alpha / (N + 1)) new ones.
Given these it is normal, as in `_kernels_rows`, so that p(x) is a sum over all vectors z. Gray
codes visit them with one changed feature per step, which updates s, e^T e and the products that
the next changes need. Only `free` features are summed over; the others stay as they are in z.

| name | symbol | shape | meaning |
|---|---|---|---|
| x, seen | x | (D,) | a row, centered, 0 if missing; 1 if an entry was observed, else 0 |
| z | z | (K,) int8 | features of the row |
| posterior | M, mu | | posterior given the training rows |
| free, n_free | | (K,) int64, scalar | features to sum over, and their number F |
| log_odds | | (K,) | log m_k / (N + 1 - m_k) |
| log_none | | scalar | log probability of having no feature at all |
| noise, ratio, rate | v, r, alpha / (N + 1) | scalars | rate 0: new features are left out |
| n_most | | scalar | most new features that are possible |
| dots | mu_k^T e | (F,) | over the observed entries |
| grams | mu_k^T mu_l | (F, F) | over the observed entries |
| shares | | (K,) | probabilities of the features given x, output |
| others | | (K,) | scratch |
| contents | | (N, D + 1) uint64 | bits of new rows, and last D, on which their streams depend |
| densities | | (N,) | log p(x) of new rows, estimated only where it is NaN on input |
| rng | | (4,) uint64 | stream, advanced in place |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double, stream_of_content
from skdp.mixture._latent_features._kernels_posterior import Posterior, project, subtract_signal
from skdp.mixture._latent_features._kernels_rows import (
    compare,
    log_density,
    sum_numbers,
    sum_squares,
)

_NEGLIGIBLE = -52.0  # 2^16 smaller terms add less than 2e-18 of the sum
_N_DRAWS = 32  # draws of the features that are not summed over, per estimate
_N_SUMMED = 8  # features that are summed over in each draw
_LEAST = 0.02  # probability of either value in a proposal


class NextRow(NamedTuple):
    """Distribution of the next row given a sample, and scratch arrays; symbols as above."""

    posterior: Posterior
    log_odds: NDArray[np.float64]
    log_none: float
    noise: float
    ratio: float
    rate: float
    n_most: int
    z: NDArray[np.int8]
    free: NDArray[np.int64]
    dots: NDArray[np.float64]
    grams: NDArray[np.float64]
    shares: NDArray[np.float64]


@njit_internal_nogc
def log_prior(z, model):
    """Return the log probability of the features z."""
    result = model.log_none
    for k in range(z.shape[0]):
        if z[k]:
            result += model.log_odds[k]
    return result


@njit_internal_nogc
def bound_numbers(n_seen, square, spread, noise):
    """Return an upper bound of the log density of a row for all s >= `spread`."""
    best = square / (noise * n_seen) if n_seen > 0.0 else spread
    return log_density(n_seen, square, max(best, spread), noise)


@njit_internal_nogc
def prepare(x, seen, n_free, model):
    """Write e, and its products with the free features; return e^T e, n and s."""
    posterior, n_features = model.posterior, model.z.shape[0]
    spread = 1.0 + project(model.z, n_features, posterior)
    subtract_signal(model.z, x, n_features, posterior)
    square, n_seen = sum_squares(seen, posterior)
    means = posterior.means
    for a in range(n_free):
        k = model.free[a]
        model.dots[a], model.grams[a, a] = compare(k, seen, posterior)
        for b in range(a):
            total = 0.0
            for d in range(seen.shape[0]):
                total += seen[d] * means[k, d] * means[model.free[b], d]
            model.grams[a, b] = model.grams[b, a] = total
    return square, n_seen, spread


@njit_internal_nogc
def sum_vectors(x, seen, n_free, model, shares):
    """Return the log of the sum over the free features, which are 0 in z; write their shares."""
    square, n_seen, spread = prepare(x, seen, n_free, model)
    prior = log_prior(model.z, model)
    z, free, dots, grams = model.z, model.free, model.dots, model.grams
    products, covariance = model.posterior.products, model.posterior.covariance
    for a in range(n_free):
        shares[free[a]] = 0.0
    largest, total = -math.inf, 0.0
    for step in range(1 << n_free):
        if step > 0:
            a, rest = 0, step
            while rest & 1 == 0:
                a, rest = a + 1, rest >> 1
            k = free[a]
            sign = 1.0 - 2.0 * z[k]
            z[k] = 1 - z[k]
            prior += sign * model.log_odds[k]
            spread += 2.0 * sign * products[k] + covariance[k, k]
            square += grams[a, a] - 2.0 * sign * dots[a]
            for b in range(n_free):
                dots[b] -= sign * grams[a, b]
                products[free[b]] += sign * covariance[k, free[b]]
        if prior + bound_numbers(n_seen, square, spread, model.noise) < largest + _NEGLIGIBLE:
            continue
        new = sum_numbers(
            model.n_most, model.rate, n_seen, square, spread, model.ratio, model.noise
        )[1]
        term = prior + new
        if term > largest:
            scale = math.exp(largest - term)
            total *= scale
            for a in range(n_free):
                shares[free[a]] *= scale
            largest = term
        weight = math.exp(term - largest)
        total += weight
        for a in range(n_free):
            shares[free[a]] += weight * z[free[a]]
    for a in range(n_free):
        shares[free[a]] /= total
        z[free[a]] = 0
    return largest + math.log(total) - 0.5 * n_seen * math.log(2.0 * math.pi * model.noise)


@njit_internal_nogc
def sum_all(x, seen, model):
    """Return log p(x) by a sum over all vectors, and write the shares of the features."""
    n_features = model.z.shape[0]
    for k in range(n_features):
        model.free[k] = k
        model.z[k] = 0
    return sum_vectors(x, seen, n_features, model, model.shares)


@njit_internal_nogc
def fold_in(x, seen, n_sweeps, model, rng):
    """Write estimates of feature shares: means over the second half of Gibbs sweeps."""
    posterior, n_features, noise = model.posterior, model.z.shape[0], model.noise
    products, z, shares = posterior.products, model.z, model.shares
    n_kept = n_sweeps - n_sweeps // 2
    for k in range(n_features):
        z[k] = model.log_odds[k] > 0.0
        shares[k] = 0.0
    spread = 1.0 + project(z, n_features, posterior)
    subtract_signal(z, x, n_features, posterior)
    square, n_seen = sum_squares(seen, posterior)
    density = sum_numbers(model.n_most, model.rate, n_seen, square, spread, model.ratio, noise)[1]
    for s in range(n_sweeps):
        for k in range(n_features):
            sign = 1.0 - 2.0 * z[k]
            dot, norm = compare(k, seen, posterior)
            other_spread = spread + 2.0 * sign * products[k] + posterior.covariance[k, k]
            other_square = square - 2.0 * sign * dot + norm
            other_density = sum_numbers(
                model.n_most, model.rate, n_seen, other_square, other_spread, model.ratio, noise
            )[1]
            log_ratio = other_density - density + sign * model.log_odds[k]
            change = 1.0 / (1.0 + math.exp(-log_ratio))
            if s >= n_sweeps - n_kept:
                shares[k] += (change if sign > 0.0 else 1.0 - change) / n_kept
            if next_double(rng) < change:
                z[k] = 1 - z[k]
                spread, square, density = other_spread, other_square, other_density
                for j in range(n_features):
                    products[j] += sign * posterior.covariance[k, j]
                for d in range(x.shape[0]):
                    posterior.residual[d] -= sign * seen[d] * posterior.means[k, d]


@njit_internal_nogc
def choose_free(model):
    """List the features about which a fold-in is least certain first; the others are unsorted."""
    free, shares = model.free, model.shares
    for k in range(free.shape[0]):
        free[k] = k
    for a in range(min(_N_SUMMED, free.shape[0])):
        best = a
        for b in range(a + 1, free.shape[0]):
            if abs(shares[free[b]] - 0.5) < abs(shares[free[best]] - 0.5):
                best = b
        free[a], free[best] = free[best], free[a]


@njit_internal_nogc
def estimate(x, seen, n_sweeps, model, others, rng):
    """Return an estimate of log p(x), whose exponential is unbiased."""
    # The features about which a fold-in is least certain are summed over; the others are drawn with
    # the probabilities that it found, bounded away from 0 and 1, and importance-weighted.
    fold_in(x, seen, n_sweeps, model, rng)
    choose_free(model)
    largest, total = -math.inf, 0.0
    for _ in range(_N_DRAWS):
        log_proposal = 0.0
        for a in range(model.free.shape[0]):
            k = model.free[a]
            model.z[k] = 0
            if a >= _N_SUMMED:
                share = min(max(model.shares[k], _LEAST), 1.0 - _LEAST)
                model.z[k] = next_double(rng) < share
                log_proposal += math.log(share if model.z[k] else 1.0 - share)
        term = sum_vectors(x, seen, _N_SUMMED, model, others) - log_proposal
        if term > largest:
            total = total * math.exp(largest - term)
            largest = term
        total += math.exp(term - largest)
    return largest + math.log(total / _N_DRAWS)


@njit_loop
def predict_rows(rows, seen, contents, key, is_exact, n_sweeps, model, others, out, densities, rng):
    """Write the shares of features of new rows to `out`, (N, K), and log p(x) to `densities`."""
    n_columns = rows.shape[1]
    for i in range(rows.shape[0]):
        if is_exact:
            densities[i] = sum_all(rows[i], seen[i], model)
        else:
            stream_of_content(key, contents[i, :n_columns], contents[i, n_columns:], rng)
            if math.isnan(densities[i]):
                densities[i] = estimate(rows[i], seen[i], n_sweeps, model, others, rng)
            else:
                fold_in(rows[i], seen[i], n_sweeps, model, rng)
        for k in range(out.shape[1]):
            out[i, k] = model.shares[k]
