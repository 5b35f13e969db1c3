r"""Kernels of latent features: posterior of their weights, sweeps, moves, and predictions.

Rows are x_i = z_i A + noise of variance v in every column, with weights A_kd ~ N(0, u). Given the
features the columns of A have the same covariance v M and the means mu,

    M = (Z^T Z + r I)^-1,    mu = M Z^T X,    r = v / u.

A row that joins (s = 1) or leaves (s = -1) changes both by a product of two vectors: with g = M z
and c = s / (1 + s z^T g),

    M <- M - c g g^T,    mu <- mu + c g (x - z mu)^T.

| name | symbol | shape | meaning |
|---|---|---|---|
| rows | X | (N, D) | missing entries hold their drawn values |
| features | Z | (N, C) int8 | the first K columns are in use |
| n_features | K | scalar | |
| covariance, means | M, mu | (C, C), (C, D) | |
| counts | m_k | (C,) int64 | rows that have a feature |
| gram, cross | Z^T Z, Z^T X | (C, C), (C, D) | |
| ratio | r | scalar | |
| products | g = M z | (C,) | scratch |
| residual | x - z mu | (D,) | scratch |
| active | | (C,) int64 | features of a row, scratch |
| counted | | (N,) int8 | 0: the row is left out |
| factor, solved | | (C, C), (C, D) | scratch |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_normal, next_double, stream_of_content
from skdp.emissions._kernels._gaussian import factorize

_SAFE = 1e-6  # a larger change of a covariance loses its digits


class Posterior(NamedTuple):
    """Posterior of the weights, and scratch arrays; symbols as above."""

    covariance: NDArray[np.float64]
    means: NDArray[np.float64]
    counts: NDArray[np.int64]
    products: NDArray[np.float64]
    residual: NDArray[np.float64]
    active: NDArray[np.int64]
    counted: NDArray[np.int8]
    factor: NDArray[np.float64]
    solved: NDArray[np.float64]


def make_posterior(capacity: int, n_rows: int, n_columns: int) -> Posterior:
    """Return empty arrays for `capacity` features, with all rows counted."""
    square, wide = (capacity, capacity), (capacity, n_columns)
    return Posterior(
        np.zeros(square),
        np.zeros(wide),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity),
        np.zeros(n_columns),
        np.zeros(capacity, dtype=np.int64),
        np.ones(n_rows, dtype=np.int8),
        np.zeros(square),
        np.zeros(wide),
    )


@njit_internal_nogc
def list_active(row, n_features, active):
    """Write the features of a row; return their number."""
    n = 0
    for k in range(n_features):
        if row[k]:
            active[n] = k
            n += 1
    return n


@njit_loop
def write_products(features, rows, counted, n_features, active, gram, cross):
    """Write Z^T Z and Z^T X of the counted rows."""
    n_columns = rows.shape[1]
    for k in range(n_features):
        for j in range(n_features):
            gram[k, j] = 0.0
        for d in range(n_columns):
            cross[k, d] = 0.0
    for i in range(rows.shape[0]):
        n = list_active(features[i], n_features, active) if counted[i] else 0
        for a in range(n):
            k = active[a]
            for b in range(n):
                gram[k, active[b]] += 1.0
            for d in range(n_columns):
                cross[k, d] += rows[i, d]


@njit_internal_nogc
def solve_lower(factor, n, solved):
    """Replace the n rows of B by those of L^-1 B."""
    for k in range(n):
        for j in range(k):
            share = factor[k, j]
            for d in range(solved.shape[1]):
                solved[k, d] -= share * solved[j, d]
        for d in range(solved.shape[1]):
            solved[k, d] /= factor[k, k]


@njit_internal_nogc
def invert(factor, n, inverse):
    """Write (L L^T)^-1."""
    for k in range(n):
        for j in range(n):
            inverse[k, j] = 1.0 if k == j else 0.0
    solve_lower(factor, n, inverse[:, :n])
    for k in range(n - 1, -1, -1):  # L^-T from below
        for j in range(k + 1, n):
            share = factor[j, k]
            for d in range(n):
                inverse[k, d] -= share * inverse[j, d]
        for d in range(n):
            inverse[k, d] /= factor[k, k]


@njit_loop
def build(features, rows, n_features, ratio, posterior):
    """Write counts, M and mu of the counted rows; return False if it is singular to rounding."""
    gram, cross = posterior.factor, posterior.solved
    write_products(features, rows, posterior.counted, n_features, posterior.active, gram, cross)
    for k in range(n_features):
        posterior.counts[k] = int(gram[k, k])
        gram[k, k] += ratio
    if not factorize(gram[:n_features, :n_features]):
        return False
    covariance, means = posterior.covariance, posterior.means
    invert(gram, n_features, covariance)
    for k in range(n_features):
        for d in range(rows.shape[1]):
            means[k, d] = 0.0
        for j in range(n_features):
            share = covariance[k, j]
            for d in range(rows.shape[1]):
                means[k, d] += share * cross[j, d]
    return True


@njit_internal_nogc
def project(row, n_features, posterior):
    """Write g = M z; return z^T g."""
    products, active = posterior.products, posterior.active
    n = list_active(row, n_features, active)
    for k in range(n_features):
        products[k] = 0.0
    for a in range(n):
        k = active[a]
        for j in range(n_features):
            products[j] += posterior.covariance[k, j]
    total = 0.0
    for a in range(n):
        total += products[active[a]]
    return total


@njit_internal_nogc
def subtract_signal(row, x, n_features, posterior):
    """Write x - z mu."""
    residual, means = posterior.residual, posterior.means
    for d in range(x.shape[0]):
        residual[d] = x[d]
    for k in range(n_features):
        if row[k]:
            for d in range(x.shape[0]):
                residual[d] -= means[k, d]


@njit_internal_nogc
def move_row(row, x, sign, n_features, posterior):
    """Add (sign 1) or remove (-1) a row; return False, with no change, if digits would be lost."""
    spread = 1.0 + sign * project(row, n_features, posterior)
    if not _SAFE < spread < 1.0 / _SAFE:
        return False
    subtract_signal(row, x, n_features, posterior)
    products, residual = posterior.products, posterior.residual
    for k in range(n_features):
        share = sign / spread * products[k]
        for j in range(n_features):
            posterior.covariance[k, j] -= share * products[j]
        for d in range(x.shape[0]):
            posterior.means[k, d] += share * residual[d]
        if row[k]:
            posterior.counts[k] += int(sign)
    return True


@njit_internal_nogc
def drop_feature(k, features, n_features, posterior):
    """Replace a feature by the last one; return the number of features left."""
    last = n_features - 1
    if k != last:
        covariance, means = posterior.covariance, posterior.means
        for j in range(n_features):
            covariance[k, j] = covariance[last, j]
        for j in range(n_features):
            covariance[j, k] = covariance[j, last]
        for d in range(means.shape[1]):
            means[k, d] = means[last, d]
        posterior.counts[k] = posterior.counts[last]
        for i in range(features.shape[0]):
            features[i, k] = features[i, last]
    for i in range(features.shape[0]):
        features[i, last] = 0
    return last


@njit_internal_nogc
def add_feature(i, features, n_features, ratio, posterior):
    """Give row i, which is not counted yet, its own new feature; return the number of features."""
    covariance, means = posterior.covariance, posterior.means
    for j in range(n_features):
        covariance[n_features, j] = covariance[j, n_features] = 0.0
    covariance[n_features, n_features] = 1.0 / ratio
    for d in range(means.shape[1]):
        means[n_features, d] = 0.0
    posterior.counts[n_features] = 0
    features[i, n_features] = 1
    return n_features + 1


@njit_loop
def weigh(gram, cross, n_features, ratio, factor, solved):
    """Return log det(Z^T Z + r I) and trace(X^T Z M Z^T X), or NaN if singular to rounding."""
    # With these the columns of X have the density
    # (2 pi v)^(-N D / 2) r^(K D / 2) det^(-D / 2) exp(-(trace(X^T X) - trace) / (2 v)).
    for k in range(n_features):
        for j in range(n_features):
            factor[k, j] = gram[k, j]
        factor[k, k] += ratio
        for d in range(cross.shape[1]):
            solved[k, d] = cross[k, d]
    if not factorize(factor[:n_features, :n_features]):
        return math.nan, math.nan
    solve_lower(factor, n_features, solved)
    log_det = trace = 0.0
    for k in range(n_features):
        log_det += 2.0 * math.log(factor[k, k])
        for d in range(cross.shape[1]):
            trace += solved[k, d] * solved[k, d]
    return log_det, trace


# Gibbs sweeps over the features of rows, with the weights integrated out.
#
# Given all other rows, row i, with the features z and k more that no other row has, is normal in
# each column, independently,
#
#     x_id ~ N(z mu_d, v s),    s = 1 + z^T M z + k / r,
#
# with M and mu of the other rows. So missing entries of a row are left out of this, and drawn after
# its features. The row has a feature of m others with probability m / N, and Poisson(alpha / N) own
# features. Two draws follow each other:
#
# 1. the features that others have, in random order, given k;
# 2. k and its features given these: the sum over k stops when the rest has a probability of less
#    than 2^-60 (`sum_numbers`), or at the bound on the number of features.
#
# The order has to be random: columns are in the order in which features appeared, which depends on
# which rows have them, and a scan in that order is not invariant.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | rows, features, n_features, posterior, ratio | | | see above |
# | seen | | (N, D) float64 | 1 if an entry was observed, else 0 |
# | noise | v | scalar | variance |
# | rate | alpha / N | scalar | |
# | spread | s | scalar | of k = 0 in `sum_numbers` |
# | own | k / r | scalar | contribution of the own features to s |
# | square | e^T e | scalar | sum over the observed entries of e = x - z mu |
# | n_seen | | scalar | number of observed entries |
# | n_most | | scalar | bound on the number of own features |
# | n_pending | k | scalar | number of own features that did not fit; -1: not drawn yet |
# | rng | | (4,) uint64 | stream, advanced in place |


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


# Moves that split a feature in two or merge two, as Dahl (2005) does with clusters.
#
# Two rows are drawn, i and j, and a feature of each, a and b. If they are the same, it is split: i
# gets the first half f, j the second half g, and each other row with a gets f, g or both, one after
# the other in random order, in proportion to the density of the row given the rows before. If they
# are different, i does not have b and j does not have a, the two are merged into one for the rows
# that have either; the same sequence gives the probability of the reverse move. The rows i and j
# have as many features before as after, so the choice is equally probable in both directions. With
# w(m) = log (m - 1)! (N - m)! / N!,
#
#     log p(X, split) - log p(X, merged) - log q,
#     log p(split) - log p(merged) = log alpha + w(m_f) + w(m_g) - w(m_a),
#
# is the logarithm of the acceptance ratio of a split, and its negative is that of a merge.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | rows, features, n_features, posterior, noise, ratio | | | see above |
# | order, codes | | (N,) int64, int8 | rows to be allocated; 1: has f, 2: has g, 3: has both |
# | log_rate | log alpha | scalar | |
# | rng | | (4,) uint64 | stream, advanced in place |


@njit_internal_nogc
def draw_below(n, rng):
    """Return a random integer from 0 to n - 1."""
    return min(int(next_double(rng) * n), n - 1)


@njit_internal_nogc
def pick_feature(row, n_features, rng):
    """Return a random feature of a row, or -1 if it has none."""
    n = 0
    for k in range(n_features):
        n += row[k]
    if n == 0:
        return -1
    rest = draw_below(n, rng)
    for k in range(n_features):
        if row[k]:
            if rest == 0:
                return k
            rest -= 1
    return -1


@njit_internal_nogc
def log_weight(k, features):
    """Return w(m), the log probability of a column without the concentration."""
    m = 0
    for i in range(features.shape[0]):
        m += features[i, k]
    if m == 0:
        return 0.0
    n = features.shape[0]
    return math.lgamma(m) + math.lgamma(n - m + 1.0) - math.lgamma(n + 1.0)


@njit_internal_nogc
def log_evidence(rows, features, n_features, noise, ratio, posterior):
    """Return log p(X | Z) up to terms without Z; features that no row has do not change it."""
    gram, cross = posterior.covariance, posterior.means  # they are rebuilt afterwards
    counted, active = posterior.counted, posterior.active
    write_products(features, rows, counted, n_features, active, gram, cross)
    log_det, trace = weigh(gram, cross, n_features, ratio, posterior.factor, posterior.solved)
    n_columns = rows.shape[1]
    return 0.5 * (n_columns * (n_features * math.log(ratio) - log_det) + trace / noise)


@njit_internal_nogc
def gather(i, j, f, g, features, order, codes, rng):
    """Write the rows other than i and j with f or g, in random order, and their codes; return n."""
    n = 0
    for row in range(features.shape[0]):
        codes[row] = features[row, f] + 2 * features[row, g]
        if codes[row] > 0 and row != i and row != j:
            order[n] = row
            n += 1
    for place in range(n - 1, 0, -1):
        other = draw_below(place + 1, rng)
        order[place], order[other] = order[other], order[place]
    return n


@njit_internal_nogc
def weigh_codes(row, x, f, g, n_features, posterior, noise):
    """Return the log densities of a row without f and g if it gets f, g or both."""
    spread = 1.0 + project(row, n_features, posterior)
    subtract_signal(row, x, n_features, posterior)
    products, covariance = posterior.products, posterior.covariance
    means, residual = posterior.means, posterior.residual
    first = second = both = 0.0
    for d in range(x.shape[0]):
        first += (residual[d] - means[f, d]) ** 2
        second += (residual[d] - means[g, d]) ** 2
        both += (residual[d] - means[f, d] - means[g, d]) ** 2
    with_f = 2.0 * products[f] + covariance[f, f]
    with_g = 2.0 * products[g] + covariance[g, g]
    n = float(x.shape[0])
    return (
        log_density(n, first, spread + with_f, noise),
        log_density(n, second, spread + with_g, noise),
        log_density(n, both, spread + with_f + with_g + 2.0 * covariance[f, g], noise),
    )


@njit_internal_nogc
def allocate(n, order, codes, is_split, f, g, rows, features, n_features, posterior, noise, rng):
    """Give n rows f, g or both; return the log probability of the choices."""
    result = 0.0
    for place in range(n):
        i = order[place]
        first, second, both = weigh_codes(features[i], rows[i], f, g, n_features, posterior, noise)
        largest = max(first, second, both)
        first, second = math.exp(first - largest), math.exp(second - largest)
        both = math.exp(both - largest)
        total = first + second + both
        if is_split:  # in a merge, `codes` are given
            u = next_double(rng) * total
            codes[i] = 1 if u < first else (2 if u < first + second else 3)
        chosen = first if codes[i] == 1 else (second if codes[i] == 2 else both)
        result += math.log(chosen / total) if chosen > 0.0 else -math.inf
        features[i, f], features[i, g] = codes[i] & 1, codes[i] >> 1
        posterior.counted[i] = 1
        move_row(features[i], rows[i], 1.0, n_features, posterior)
    return result


@njit_internal_nogc
def split(
    i, j, a, rows, features, n_features, posterior, order, codes, noise, ratio, log_rate, rng
):
    """Try to split feature a; return the number of features."""
    g = n_features
    gain = log_rate - log_weight(a, features)
    gain -= log_evidence(rows, features, n_features, noise, ratio, posterior)
    n = gather(i, j, a, g, features, order, codes, rng)
    for place in range(n):
        posterior.counted[order[place]] = 0
        features[order[place], a] = 0
    features[j, a], features[j, g] = 0, 1
    is_possible = build(features, rows, n_features + 1, ratio, posterior)
    log_way = allocate(
        n, order, codes, True, a, g, rows, features, n_features + 1, posterior, noise, rng
    )
    gain += log_weight(a, features) + log_weight(g, features)
    gain += log_evidence(rows, features, n_features + 1, noise, ratio, posterior)
    if is_possible and math.log1p(-next_double(rng)) < gain - log_way:
        return n_features + 1
    for place in range(n):
        features[order[place], a], features[order[place], g] = 1, 0
    features[j, a], features[j, g] = 1, 0
    return n_features


@njit_internal_nogc
def merge(
    i, j, f, g, rows, features, n_features, posterior, order, codes, noise, ratio, log_rate, rng
):
    """Try to merge features f, of row i, and g, of row j; return the number of features."""
    gain = -log_rate - log_weight(f, features) - log_weight(g, features)
    gain -= log_evidence(rows, features, n_features, noise, ratio, posterior)
    n = gather(i, j, f, g, features, order, codes, rng)
    for place in range(n):
        posterior.counted[order[place]] = 0
        features[order[place], f] = features[order[place], g] = 0
    is_possible = build(features, rows, n_features, ratio, posterior)
    log_way = allocate(
        n, order, codes, False, f, g, rows, features, n_features, posterior, noise, rng
    )
    for row in range(features.shape[0]):
        features[row, f], features[row, g] = codes[row] > 0, 0
    gain += log_weight(f, features)
    gain += log_evidence(rows, features, n_features, noise, ratio, posterior)
    if is_possible and math.log1p(-next_double(rng)) < gain + log_way:
        return drop_feature(g, features, n_features, posterior)
    for row in range(features.shape[0]):
        features[row, f], features[row, g] = codes[row] & 1, codes[row] >> 1
    return n_features


@njit_loop
def split_and_merge(
    n_tries, rows, features, n_features, posterior, order, codes, noise, ratio, log_rate, rng
):
    """Propose `n_tries` splits or merges of features; return the number of features.

    There must be two rows. The posterior must be rebuilt afterwards.
    """
    n_rows = rows.shape[0]
    for _ in range(n_tries):
        i, j = draw_below(n_rows, rng), draw_below(n_rows - 1, rng)
        j += j >= i
        a = pick_feature(features[i], n_features, rng)
        b = pick_feature(features[j], n_features, rng)
        if a < 0 or b < 0:
            continue
        if a == b and n_features < features.shape[1]:
            n_features = split(
                i, j, a, rows, features, n_features, posterior, order, codes, noise, ratio,
                log_rate, rng,
            )  # fmt: skip
        elif a != b and not features[i, b] and not features[j, a]:
            n_features = merge(
                i, j, a, b, rows, features, n_features, posterior, order, codes, noise, ratio,
                log_rate, rng,
            )  # fmt: skip
    return n_features


# Features and densities of new rows, given a stored sample of the training rows' features.
#
# The next row has feature k with probability m_k / (N + 1), and Poisson(alpha / (N + 1)) new ones.
# Given these it is normal, as above, so that p(x) is a sum over all vectors z. Gray codes visit
# them with one changed feature per step, which updates s, e^T e and the products that the next
# changes need. Only `free` features are summed over; the others stay as they are in z.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | x, seen | x | (D,) | a row, centered, 0 if missing; 1 if an entry was observed, else 0 |
# | z | z | (K,) int8 | features of the row |
# | posterior | M, mu | | posterior given the training rows |
# | free, n_free | | (K,) int64, scalar | features to sum over, and their number F |
# | log_odds | | (K,) | log m_k / (N + 1 - m_k) |
# | log_none | | scalar | log probability of having no feature at all |
# | noise, ratio, rate | v, r, alpha / (N + 1) | scalars | rate 0: new features are left out |
# | n_most | | scalar | most new features that are possible |
# | dots | mu_k^T e | (F,) | over the observed entries |
# | grams | mu_k^T mu_l | (F, F) | over the observed entries |
# | shares | | (K,) | probabilities of the features given x, output |
# | others | | (K,) | scratch |
# | contents | | (N, D + 1) uint64 | bits of new rows, and last D, on which their streams depend |
# | densities | | (N,) | log p(x) of new rows, estimated only where it is NaN on input |
# | rng | | (4,) uint64 | stream, advanced in place |


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
