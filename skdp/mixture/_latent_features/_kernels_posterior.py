r"""Posterior of the weights given rows and features, updated by one row at a time.

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
from skdp.emissions._gaussian._kernels import factorize

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
