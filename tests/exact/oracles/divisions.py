"""All divisions of a short series into parts, one by one.

A part of numbers, y = F w + e, has w ~ N(0, s2 / b0 diag(.5, .005)), s2 ~ IG(1, b0), and noise of
variance s2 / (1 - phi^2) with correlation phi^k within a run of observed steps, 0 across a gap.
"""

import math
from itertools import combinations, pairwise

import numpy as np
from scipy.special import betaln, gammaln, logsumexp


def log_student(y, mean_of_steps, phi, b0):
    """Return the log density of a part of one column by its covariance matrix."""
    steps = np.flatnonzero(~np.isnan(y))
    n = len(steps)
    if n == 0:
        return 0.0
    run = np.cumsum(np.diff(steps, prepend=steps[0] - 2) > 1)
    lags = np.abs(steps[:, None] - steps)
    noise = np.where(run[:, None] == run, phi**lags, 0.0) / (1.0 - phi**2)
    F = np.stack([np.ones(n), steps], axis=1)[:, : len(mean_of_steps)]
    shape = noise + F @ np.diag(mean_of_steps) @ F.T
    square = y[steps] @ np.linalg.solve(shape, y[steps])
    found = math.lgamma(1.0 + n / 2) - n / 2 * math.log(2 * math.pi) + math.log(b0)
    found -= np.linalg.slogdet(shape)[1] / 2 + (1.0 + n / 2) * math.log(b0 + square / 2)
    return found


def log_gaussian(part, *, linear, phi, b0):
    return sum(log_student(y, [0.5 / b0, 0.005 / b0][: 1 + linear], phi, b0) for y in part.T)


def log_poisson(part, rates):
    """One count after the other."""
    found = 0.0
    for column, b in zip(part.T, rates, strict=True):
        a = 1.0
        for x in column[~np.isnan(column)]:
            found += gammaln(a + x) - gammaln(a) - gammaln(x + 1.0)
            found += a * math.log(b / (b + 1.0)) - x * math.log(b + 1.0)
            a, b = a + x, b + 1.0
    return found


def log_symbols(part, sizes, prior):
    """One symbol after the other."""
    found = 0.0
    for column, size in zip(part.T, sizes, strict=True):
        counts = np.full(size, prior)
        for x in column[~np.isnan(column)].astype(int):
            found += math.log(counts[x] / counts.sum())
            counts[x] += 1.0
    return found


def log_counts(part, prior):
    """One row after the other, with the multinomial coefficients."""
    found, counts = 0.0, np.full(part.shape[1], prior)
    for x in part[~np.isnan(part).any(axis=1)]:
        found += gammaln(x.sum() + 1.0) - gammaln(x + 1.0).sum()
        found += (gammaln(counts + x) - gammaln(counts)).sum()
        found -= gammaln((counts + x).sum()) - gammaln(counts.sum())
        counts = counts + x
    return found


# Moments of the mean of a part at its first step, and at the step after its last one, (2, C) each.


def learn_gaussian(part, *, linear, phi, b0):
    """Without observations, the variance of the noise counts as 2 b0."""
    n, columns = len(part), []
    for y in part.T:
        steps = np.flatnonzero(~np.isnan(y))
        run = np.cumsum(np.diff(steps, prepend=-2) > 1)
        lags = np.abs(steps[:, None] - steps)
        noise = np.where(run[:, None] == run, phi**lags, 0.0) / (1.0 - phi**2)
        all_steps = np.stack([np.ones(n + 1), np.arange(n + 1)], axis=1)[:, : 1 + linear]
        F, tau = all_steps[steps], np.diag([0.5 / b0, 0.005 / b0][: 1 + linear])
        inverse = np.linalg.inv(noise + F @ tau @ F.T)
        w = tau @ F.T @ inverse @ y[steps]
        V = tau - tau @ F.T @ inverse @ F @ tau
        b = b0 + y[steps] @ inverse @ y[steps] / 2
        ends = all_steps[[0, n]]
        variances = np.diag(ends @ V @ ends.T) * b / max(len(steps) / 2, 0.5)
        columns.append((ends @ w, variances))
    return np.moveaxis(columns, 0, -1)


def learn_poisson(part, *, rates):
    a = 1.0 + np.nansum(part, axis=0)
    b = rates + (~np.isnan(part)).sum(axis=0)
    return np.array([[a / b] * 2, [a / b**2] * 2])


def _learn_shares(counts):
    n = counts.sum()
    p = counts / n
    return np.array([[p] * 2, [p * (1 - p) / (n + 1)] * 2])


def learn_symbols(part, *, sizes, prior):
    columns = [
        _learn_shares(prior + np.bincount(column[~np.isnan(column)].astype(int), minlength=size))
        for column, size in zip(part.T, sizes, strict=True)
    ]
    return np.concatenate(columns, axis=-1)


def learn_counts(part, *, prior):
    return _learn_shares(prior + np.nansum(part, axis=0))


def divisions(n, least, most):
    """Return the tuples of changes of all divisions with allowed lengths of parts."""
    found = []
    for k in range(n):
        for changes in combinations(range(1, n), k):
            lengths = np.diff([0, *changes, n])
            if lengths.min() >= least and lengths.max() <= most:
                found.append(changes)
    return found


def log_prior(found, n, least, most, chance):
    """Return the log prior of divisions: `chance` is a probability, or (p, q) of its Beta prior.
    With another least or largest length, the prior is divided by its sum over `found`.
    """
    k = np.array([len(changes) for changes in found])
    if isinstance(chance, tuple):
        assert (least, most) == (1, n)
        return betaln(chance[0] + k, chance[1] + n - 1 - k) - betaln(*chance)
    free = n - (k + 1) * least
    logs = k * math.log(chance) + free * math.log1p(-chance)
    if most < n:
        logs -= k * math.log(-math.expm1((most - least + 1) * math.log1p(-chance)))
    return logs - logsumexp(logs)


def log_running(n, least, most, chance):
    """Return divisions of the first n steps of a longer series, and their log prior: the last part
    may have any length up to `most`, if the series is long enough."""
    lengths = np.arange(least, most + 1)
    pmf = dict(zip(lengths.tolist(), chance * (1 - chance) ** (lengths - least), strict=True))
    end = (1 - chance) ** (most + 1 - least)  # what is longer
    if most < 100:
        pmf, end = {d: p / (1 - end) for d, p in pmf.items()}, 0.0
    found, logs = [], []
    for k in range(n):
        for changes in combinations(range(1, n), k):
            *before, last = np.diff([0, *changes, n]).tolist()
            if last <= most and all(d in pmf for d in before):
                found.append(changes)
                survival = end + sum(p for d, p in pmf.items() if d >= last)
                logs.append(math.log(survival) + sum(math.log(pmf[d]) for d in before))
    return found, np.array(logs)


def log_evidence(found, values, log_part):
    """Return the log evidence of each division."""
    n = len(values)
    known = {}
    for i in range(n):
        for j in range(i + 1, n + 1):
            known[i, j] = log_part(values[i:j])
    bounds = [[0, *changes, n] for changes in found]
    return np.array([sum(known[i, j] for i, j in pairwise(b)) for b in bounds])
