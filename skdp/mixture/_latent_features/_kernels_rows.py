r"""Gibbs sweeps over the features of rows, with the weights integrated out.

Given all other rows, row i, with the features z and k more that no other row has, is normal in each
column, independently,

    x_id ~ N(z mu_d, v s),    s = 1 + z^T M z + k / r,

with M and mu of the other rows (`_kernels_posterior`). So missing entries of a row are left out of
this, and drawn after its features. The row has a feature of m others with probability m / N, and
Poisson(alpha / N) own features. Two draws follow each other:

1. the features that others have, in random order, given k;
2. k and its features given these: the sum over k stops when the rest has a probability of less
   than 2^-60 (`sum_numbers`), or at the bound on the number of features.

The order has to be random: columns are in the order in which features appeared, which depends on
which rows have them, and a scan in that order is not invariant.

| name | symbol | shape | meaning |
|---|---|---|---|
| rows, features, n_features, posterior, ratio | | | see `_kernels_posterior` |
| seen | | (N, D) float64 | 1 if an entry was observed, else 0 |
| noise | v | scalar | variance |
| rate | alpha / N | scalar | |
| spread | s | scalar | of k = 0 in `sum_numbers` |
| own | k / r | scalar | contribution of the own features to s |
| square | e^T e | scalar | sum over the observed entries of e = x - z mu |
| n_seen | | scalar | number of observed entries |
| n_most | | scalar | bound on the number of own features |
| n_pending | k | scalar | number of own features that did not fit; -1: not drawn yet |
| rng | | (4,) uint64 | stream, advanced in place |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_normal, next_double
from skdp.mixture._latent_features._kernels_posterior import (
    add_feature,
    build,
    drop_feature,
    move_row,
    project,
    subtract_signal,
)

_LOG_2, _LOG_ENOUGH = math.log(2.0), -61.0 * math.log(2.0)


@njit_internal_nogc
def log_density(n_seen, square, spread, noise):
    """Return the log density of a row without the factor (2 pi v)^(-n / 2)."""
    return -0.5 * (n_seen * math.log(spread) + square / (noise * spread))


@njit_internal_nogc
def sum_numbers(n_most, rate, n_seen, square, spread, ratio, noise):
    """Sum w_k = Poisson(k; rate) x density of the row, k <= n_most; return n_terms, log_total."""
    log_poisson, log_rate = -rate, math.log(rate) if rate > 0.0 else -math.inf
    largest = before = log_poisson + log_density(n_seen, square, spread, noise)
    total, k = 1.0, 0
    while k < n_most:
        k += 1
        log_poisson += log_rate - math.log(float(k))
        following = log_poisson + log_density(n_seen, square, spread + k / ratio, noise)
        # This then holds for all larger k: as long as the density grows, the Poisson terms alone
        # fall even faster; up to twice that s its logarithm is concave; beyond it falls. So the
        # rest is less than 2 w_{k+1}.
        is_falling = not following >= before - _LOG_2 and rate < 0.5 * k
        if is_falling and not following - largest >= _LOG_ENOUGH + math.log(total):  # or NaN
            return k, largest + math.log(total)
        if following > largest:
            total = total * math.exp(largest - following) + 1.0
            largest = following
        else:
            total += math.exp(following - largest)
        before = following
    return n_most + 1, largest + math.log(total)


@njit_internal_nogc
def draw_number(n_most, rate, n_seen, square, spread, ratio, noise, rng):
    """Draw the number of features that no other row has."""
    n_terms, log_total = sum_numbers(n_most, rate, n_seen, square, spread, ratio, noise)
    log_poisson, log_rate = -rate, math.log(rate) if rate > 0.0 else -math.inf
    rest = next_double(rng)
    for k in range(n_terms):
        if k > 0:
            log_poisson += log_rate - math.log(float(k))
        log_term = log_poisson + log_density(n_seen, square, spread + k / ratio, noise)
        rest -= math.exp(log_term - log_total)
        if rest < 0.0:
            return k
    return n_terms - 1


@njit_internal_nogc
def sum_squares(seen, posterior):
    """Set unobserved residuals to 0; return e^T e and the number of observed entries."""
    residual = posterior.residual
    square = n_seen = 0.0
    for d in range(seen.shape[0]):
        residual[d] *= seen[d]
        square += residual[d] * residual[d]
        n_seen += seen[d]
    return square, n_seen


@njit_internal_nogc
def compare(k, seen, posterior):
    """Return e^T mu_k and mu_k^T mu_k over the observed entries."""
    residual, means = posterior.residual, posterior.means
    dot = norm = 0.0
    for d in range(seen.shape[0]):
        dot += residual[d] * means[k, d]
        norm += seen[d] * means[k, d] * means[k, d]
    return dot, norm


@njit_internal_nogc
def draw_shared(i, rows, seen, features, n_features, posterior, noise, own, rng):
    """Draw the features of row i that other rows have; return e^T e, n and 1 + z^T M z."""
    z, products, n_rows = features[i], posterior.products, float(rows.shape[0])
    spread = 1.0 + project(z, n_features, posterior) + own
    subtract_signal(z, rows[i], n_features, posterior)
    square, n_seen = sum_squares(seen[i], posterior)
    density = log_density(n_seen, square, spread, noise)
    order = posterior.active
    for k in range(n_features):
        order[k] = k
    for n_left in range(n_features, 0, -1):
        place = min(int(next_double(rng) * n_left), n_left - 1)
        k = order[place]
        order[place] = order[n_left - 1]
        sign = 1.0 - 2.0 * z[k]
        dot, norm = compare(k, seen[i], posterior)
        other_spread = spread + 2.0 * sign * products[k] + posterior.covariance[k, k]
        other_square = square - 2.0 * sign * dot + norm
        other_density = log_density(n_seen, other_square, other_spread, noise)
        m = float(posterior.counts[k])
        log_odds = other_density - density + sign * math.log(m / (n_rows - m))
        if next_double(rng) * (1.0 + math.exp(-log_odds)) < 1.0:
            z[k] = 1 - z[k]
            spread, square, density = other_spread, other_square, other_density
            for j in range(n_features):
                products[j] += sign * posterior.covariance[k, j]
            for d in range(seen.shape[1]):
                posterior.residual[d] -= sign * seen[i, d] * posterior.means[k, d]
    return square, n_seen, spread - own


@njit_internal_nogc
def drop_own(features, n_features, posterior):
    """Drop the features that no counted row has; return the number of the others."""
    for k in range(n_features - 1, -1, -1):
        if posterior.counts[k] == 0:
            n_features = drop_feature(k, features, n_features, posterior)
    return n_features


@njit_internal_nogc
def count_own(n_features, posterior):
    """Return the number of features that no counted row has."""
    n = 0
    for k in range(n_features):
        n += posterior.counts[k] == 0
    return n


@njit_internal_nogc
def draw_missing(i, rows, seen, features, n_features, posterior, noise, rng):
    """Draw the missing entries of row i, which is not counted, given all its features."""
    spread = -1.0
    for d in range(seen.shape[1]):
        if seen[i, d] > 0.0:
            continue
        if spread < 0.0:  # the first missing entry
            spread = 1.0 + project(features[i], n_features, posterior)
        mean = 0.0
        for k in range(n_features):
            mean += features[i, k] * posterior.means[k, d]
        rows[i, d] = mean + math.sqrt(noise * spread) * draw_normal(rng)


@njit_internal_nogc
def take_out(i, rows, features, n_features, ratio, posterior):
    """Remove row i; return False if the posterior of the others is singular to rounding."""
    if move_row(features[i], rows[i], -1.0, n_features, posterior):
        return True
    posterior.counted[i] = 0
    is_possible = build(features, rows, n_features, ratio, posterior)
    posterior.counted[i] = 1
    return is_possible


@njit_loop
def sweep_rows(
    begin, end, n_pending, most, rows, seen, features, n_features, posterior, noise, ratio, rate,
    rng,
):  # fmt: skip
    """Draw the features of rows begin, ..., end - 1, and their missing entries.

    Return `end`, or a row whose own features did not fit, to go on from there in larger arrays, or
    -1 if the posterior is singular to rounding; then `n_features` and `n_pending`.
    """
    for i in range(begin, end):
        if n_pending < 0:
            if not take_out(i, rows, features, n_features, ratio, posterior):
                return -1, n_features, n_pending
            own = count_own(n_features, posterior)
            n_features = drop_own(features, n_features, posterior)
            square, n_seen, spread = draw_shared(
                i, rows, seen, features, n_features, posterior, noise, own / ratio, rng
            )
            n_most = max(most - n_features, 0)
            n_pending = draw_number(n_most, rate, n_seen, square, spread, ratio, noise, rng)
        if n_features + n_pending > features.shape[1]:
            return i, n_features, n_pending
        for _ in range(n_pending):
            n_features = add_feature(i, features, n_features, ratio, posterior)
        n_pending = -1
        draw_missing(i, rows, seen, features, n_features, posterior, noise, rng)
        if not move_row(features[i], rows[i], 1.0, n_features, posterior) and not build(
            features, rows, n_features, ratio, posterior
        ):
            return -1, n_features, n_pending
    return end, n_features, n_pending
