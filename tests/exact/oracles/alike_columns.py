"""Partitions of rows of categories of which some columns have the same distribution everywhere.

Column j differs between clusters with d_j = 1. The number of such columns is uniform, and the
columns are uniform given their number. If d_j = 0, the probabilities of the cells are the
frequencies in the whole column, with 1 added to each count; otherwise those of each cluster are
Dirichlet(A_j b_j), with a Gamma prior of A_j. All symbols that do not occur in the column share the
1 of one symbol, and its weight in b_j if that is uniform. NaN marks a missing cell. A column in
which a single symbol occurs has d_j = 0 and is left out of the choice. Cells enter with the power
of their row."""

from itertools import product
from math import comb, isnan, log

import numpy as np
from exact.oracles import mixtures
from exact.oracles.quadrature import gamma_quadrature


def posterior(rows, bases, priors, log_prior, powers=None):
    """Return the partitions, the choices of d, and their joint probabilities. `bases` are the b_j,
    `priors` a (shape, rate) each, and `log_prior` gives the log probability of a partition."""
    every = mixtures.partitions(len(rows))
    powers = [1.0] * len(rows) if powers is None else powers
    columns = [
        [(row[j], w) for row, w in zip(rows, powers, strict=True)] for j in range(len(bases))
    ]
    varied = [len({x for x, _ in column if not isnan(x)}) > 1 for column in columns]
    choices = list(product(*([0, 1] if own else [0] for own in varied)))
    n = sum(varied)
    chosen = [-log(n + 1) - log(comb(n, sum(differs))) for differs in choices]
    logs = np.array([log_prior(labels) for labels in every])[:, np.newaxis] + chosen
    for j, column in enumerate(columns):
        evidence = weigh_column(every, column, bases[j], priors[j])
        logs += np.transpose([evidence[differs[j]] for differs in choices])
    weights = np.exp(logs - logs.max())
    return every, choices, weights / weights.sum()


def weigh_column(every, column, base, prior):
    """Return the log probabilities of the cells given each partition, for d_j = 0 and d_j = 1."""
    totals = [sum(w for x, w in column if x == v) for v in range(len(base))]
    n_unused = totals.count(0)
    weights = [1.0 if n > 0 else 1.0 / n_unused for n in totals]
    common = [(n + w) / (sum(totals) + sum(weights)) for n, w in zip(totals, weights, strict=True)]
    if max(base) == min(base):
        base = [w / sum(weights) for w in weights]
    alike = sum(w * log(common[int(x)]) for x, w in column if not isnan(x))
    total = np.zeros(len(every))
    for concentration, weight in zip(*gamma_quadrature(*prior), strict=True):
        family = mixtures.Table([(mixtures.Symbol([concentration * b for b in base]), [0])])
        total += weight * np.exp(mixtures.log_likelihoods(every, column, family))
    return np.full(len(every), alike), np.log(total)
