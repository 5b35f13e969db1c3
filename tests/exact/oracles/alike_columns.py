"""Partitions of rows of categories of which some columns have the same distribution everywhere.

Column j differs between clusters with d_j = 1. The number of such columns is uniform, and the
columns are uniform given their number. If d_j = 0, the probabilities of the cells are the
frequencies in the whole column, with 1 added to each count; otherwise those of each cluster are
Dirichlet(A_j b_j), with a Gamma prior of A_j. NaN marks a missing cell.
"""

from itertools import product
from math import comb, isnan, log

import numpy as np
from exact.oracles import mixtures, tables
from exact.oracles.quadrature import gamma_quadrature


def posterior(rows, bases, priors, log_prior):
    """Return the partitions, the choices of d, and their joint probabilities.

    Parameters
    ----------
    rows : list of lists
    bases : list of lists
        b_j.
    priors : list of (shape, rate)
    log_prior : callable
        Log probability of a partition.
    """
    every = mixtures.partitions(len(rows))
    choices = list(product([0, 1], repeat=len(bases)))
    logs = np.empty((len(every), len(choices)))
    for i, labels in enumerate(every):
        evidence = [weigh_column(rows, labels, j, bases[j], priors[j]) for j in range(len(bases))]
        for c, differs in enumerate(choices):
            chosen = -log(len(bases) + 1) - log(comb(len(bases), sum(differs)))
            logs[i, c] = log_prior(labels) + chosen
            logs[i, c] += sum(own[d] for own, d in zip(evidence, differs, strict=True))
    weights = np.exp(logs - logs.max())
    return every, choices, weights / weights.sum()


def weigh_column(rows, labels, j, base, prior):
    """Return the log probabilities of the cells of a column for d_j = 0 and d_j = 1."""
    cells = [(row[j], k) for row, k in zip(rows, labels, strict=True) if not isnan(row[j])]
    values = [int(x) for x, _ in cells]
    alike = sum(log((values.count(x) + 1) / (len(values) + len(base))) for x in values)
    total = 0.0
    for concentration, weight in zip(*gamma_quadrature(*prior), strict=True):
        family = tables.Symbol([concentration * b for b in base])
        logs = 0.0
        for k in set(labels):
            own = [x for x, cluster in cells if cluster == k]
            logs += family.log_marginal(own, [1.0] * len(own))
        total += weight * np.exp(logs)
    return alike, log(total)
