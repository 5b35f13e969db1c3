"""Dirichlet distributions with a given prior and additional counts.

A family of rows shares a prior: counts are (n_rows, ...), and the prior has the shape of a row.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp, psi

from skdp._numeric._typing import Floats


def _as_rows(prior: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return prior and counts with the cells of a row along the last axis."""
    return prior.reshape(1, -1), counts.reshape(len(counts), -1)


def expected_log(prior: Floats, counts: Floats) -> Floats:
    """Return E[log phi], where phi ~ Dir(prior + counts) (Liang et al. 2009, (36))."""
    prior, rows = _as_rows(prior, counts)
    posterior = prior + rows
    logs = psi(posterior) - psi(posterior.sum(axis=1, keepdims=True))
    # As low as -1 / prior for zero counts, so the exponential may underflow.
    return np.asarray(logs.reshape(counts.shape))


def mean(prior: Floats, counts: Floats) -> Floats:
    """Return E[phi], where phi ~ Dir(prior + counts); shapes as in `expected_log`."""
    prior, rows = _as_rows(prior, counts)
    posterior = prior + rows
    return (posterior / posterior.sum(axis=1, keepdims=True)).reshape(counts.shape)


def draw_log(prior: Floats, counts: Floats, rng: np.random.Generator) -> Floats:
    """Return the logarithms of a draw of phi ~ Dir(prior + counts)."""
    prior, rows = _as_rows(prior, counts)
    shapes = prior + rows
    # A gamma variate of shape a equals one of shape a + 1 times u^(1 / a), so logarithms do not
    # underflow, however small the prior.
    logs = np.log(rng.standard_gamma(shapes + 1.0))
    logs += np.log1p(-rng.random(shapes.shape)) / shapes
    return np.asarray((logs - logsumexp(logs, axis=1, keepdims=True)).reshape(counts.shape))


def draw_tables(prior: Floats, counts: Floats, rng: np.random.Generator) -> Floats:
    """Draw table counts m ~ Antoniak(counts, prior): given m, the joint has the factor prior^m."""
    prior, rows = _as_rows(prior, counts)
    cells = np.flatnonzero(rows)
    n_customers = rows.ravel()[cells].astype(np.int64)
    begins = np.cumsum(n_customers) - n_customers
    number = np.arange(n_customers.sum()) - np.repeat(begins, n_customers)
    a = np.repeat(np.broadcast_to(prior, rows.shape).ravel()[cells], n_customers)
    # Customer i = 0, ..., c - 1 opens a table with probability a / (a + i).
    opens = rng.random(len(number)) * (a + number) < a
    tables = np.zeros(rows.size)
    np.add.at(tables, np.repeat(cells, n_customers)[opens], 1.0)
    return tables.reshape(counts.shape)


def log_evidence(prior: Floats, counts: Floats) -> float:
    """Return log B(prior + counts) / B(prior), B the multivariate Beta function, summed over rows.

    It is log E[prod phi^counts] under the prior, and the maximum over all q of
    E_q[sum counts log phi] - KL(q, prior), attained by q = Dir(prior + counts).
    """
    prior, rows = _as_rows(prior, counts)
    total = prior.sum()
    cells = gammaln(prior + rows) - gammaln(prior)
    return float(cells.sum() + np.sum(gammaln(total) - gammaln(total + rows.sum(axis=1))))


def log_predictive(prior: Floats, counts: Floats, new: Floats) -> float:
    """Return log E[prod phi^new] under Dir(prior + counts), summed over rows."""
    prior, rows = _as_rows(prior, counts)
    new = new.reshape(rows.shape)
    used, cells = np.flatnonzero(new.any(axis=1)), np.nonzero(new)
    before, added = prior[0, cells[1]] + rows[cells], new[cells]
    total, more = prior.sum() + rows[used].sum(axis=1), new[used].sum(axis=1)
    result = np.sum(gammaln(before + added) - gammaln(before))
    return float(result - np.sum(gammaln(total + more) - gammaln(total)))


def negative_divergence(prior: Floats, counts: Floats) -> float:
    """Return -KL(Dir(prior + counts), Dir(prior)) of all rows; shapes as in `log_evidence`."""
    return log_evidence(prior, counts) - float(np.sum(counts * expected_log(prior, counts)))
