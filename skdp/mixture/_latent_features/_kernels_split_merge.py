r"""Moves that split a feature in two or merge two, as Dahl (2005) does with clusters.

Two rows are drawn, i and j, and a feature of each, a and b. If they are the same, it is split: i
gets the first half f, j the second half g, and each other row with a gets f, g or both, one after
the other in random order, in proportion to the density of the row given the rows before. If they
are different, i does not have b and j does not have a, the two are merged into one for the rows
that have either; the same sequence gives the probability of the reverse move. The rows i and j have
as many features before as after, so the choice is equally probable in both directions. With
w(m) = log (m - 1)! (N - m)! / N!,

    log p(X, split) - log p(X, merged) - log q,
    log p(split) - log p(merged) = log alpha + w(m_f) + w(m_g) - w(m_a),

is the logarithm of the acceptance ratio of a split, and its negative is that of a merge.

| name | symbol | shape | meaning |
|---|---|---|---|
| rows, features, n_features, posterior, noise, ratio | | | see `_kernels_rows` |
| order, codes | | (N,) int64, int8 | rows to be allocated; 1: has f, 2: has g, 3: has both |
| log_rate | log alpha | scalar | |
| rng | | (4,) uint64 | stream, advanced in place |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double
from skdp.mixture._latent_features._kernels_posterior import (
    build,
    drop_feature,
    move_row,
    project,
    subtract_signal,
    weigh,
    write_products,
)
from skdp.mixture._latent_features._kernels_rows import log_density


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
