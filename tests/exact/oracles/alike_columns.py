"""Partitions of rows of categories of which some columns have the same distribution everywhere.

Column j differs between clusters with d_j = 1. The number of such columns is uniform, and the
columns are uniform given their number. If d_j = 0, the probabilities of the cells are the
frequencies in the whole column, with 1 added to each count; otherwise those of each cluster are
Dirichlet(A_j b_j), with a Gamma prior of A_j. All symbols that do not occur in the column share the
1 of one symbol, and its weight in b_j if that is uniform. NaN marks a missing cell. A column in
which a single symbol occurs has d_j = 0 and is left out of the choice. Cells enter with the power
of their row.
"""

from itertools import product
from math import comb, isnan, log

import numpy as np
from exact.oracles import mixtures, tables
from exact.oracles.quadrature import gamma_quadrature


def posterior(rows, bases, priors, log_prior, powers=None):
    """Return the partitions, the choices of d, and their joint probabilities.

    Parameters
    ----------
    rows : list of lists
    bases : list of lists
        b_j.
    priors : list of (shape, rate)
    log_prior : callable
        Log probability of a partition.
    powers : list or None
    """
    every = mixtures.partitions(len(rows))
    powers = [1.0] * len(rows) if powers is None else powers
    varied = [len({row[j] for row in rows if not isnan(row[j])}) > 1 for j in range(len(bases))]
    n = sum(varied)
    choices = list(product(*([0, 1] if own else [0] for own in varied)))
    logs = np.empty((len(every), len(choices)))
    for i, labels in enumerate(every):
        evidence = [
            weigh_column(rows, powers, labels, j, bases[j], priors[j]) for j in range(len(bases))
        ]
        for c, differs in enumerate(choices):
            chosen = -log(n + 1) - log(comb(n, sum(differs)))
            logs[i, c] = log_prior(labels) + chosen
            logs[i, c] += sum(own[d] for own, d in zip(evidence, differs, strict=True))
    weights = np.exp(logs - logs.max())
    return every, choices, weights / weights.sum()


def weigh_column(rows, powers, labels, j, base, prior):
    """Return the log probabilities of the cells of a column for d_j = 0 and d_j = 1."""
    cells = [
        (int(row[j]), w, k)
        for row, w, k in zip(rows, powers, labels, strict=True)
        if not isnan(row[j])
    ]
    totals = [sum(w for x, w, _ in cells if x == v) for v in range(len(base))]
    n_unused = totals.count(0)
    weights = [1.0 if n > 0 else 1.0 / n_unused for n in totals]
    common = [(n + w) / (sum(totals) + sum(weights)) for n, w in zip(totals, weights, strict=True)]
    if max(base) == min(base):
        base = [w / sum(weights) for w in weights]
    alike = sum(w * log(common[x]) for x, w, _ in cells)
    total = 0.0
    for concentration, weight in zip(*gamma_quadrature(*prior), strict=True):
        family = tables.Symbol([concentration * b for b in base])
        logs = 0.0
        for k in set(labels):
            own = [(x, w) for x, w, cluster in cells if cluster == k]
            logs += family.log_marginal([x for x, _ in own], [w for _, w in own])
        total += weight * np.exp(logs)
    return alike, log(total)
