"""Hierarchical Dirichlet processes by enumeration, in plain Python: the prior of partitions.

Words (or rows) have topics, and every number of tables of each topic in each document is visited:

    p(z) = sum_m prod_j [alpha^m_j. / (alpha)_n_j prod_k s(n_jk, m_jk)]
           gamma^K / (gamma)_m.. prod_k (m_.k - 1)!

The first S topics may exist without words. Their weights and that of all others have the prior
Dir(1, ..., 1, gamma), so the second line becomes

    gamma^(K - S) / (gamma + S)_m.. prod_{k < S} m_.k! prod_{k >= S} (m_.k - 1)!.
"""

from itertools import product
from math import factorial, lgamma, log, prod

import numpy as np
from exact.oracles.enumeration import rising, stirling
from exact.oracles.quadrature import gamma_quadrature


def partitions(n, n_known=0, most=None):
    """Return all partitions of n words into at most `most` topics; `n_known` may be empty."""
    found = [()]
    for _ in range(n):
        found = [(*labels, k) for labels in found for k in range(max((*labels, n_known - 1)) + 2)]
    return [labels for labels in found if most is None or max(labels) < most]


def counts_of(documents, labels, n_known=0):
    """Return words of each document by topic, (D, K)."""
    counts = np.zeros((len(documents), max(*labels, n_known - 1) + 1), dtype=int)
    owners = [d for d, document in enumerate(documents) for _ in document]
    np.add.at(counts, (owners, list(labels)), 1)
    return counts


def tables_of_partition(documents, labels):
    """Yield all table counts (D, K) with the number of seatings that have them."""
    yield from tables_of_customers(counts_of(documents, labels))


def tables_of_customers(customers):
    """Yield all table counts of customers (D, K), with the number of seatings."""
    customers = customers.tolist()
    flat = [n for row in customers for n in row]
    for choice in product(*[range(min(n, 1), n + 1) for n in flat]):
        ways = prod(stirling(n, m, 0.0) for n, m in zip(flat, choice, strict=True))
        yield np.reshape(choice, (len(customers), -1)), ways


def factor_of_tables(of_topics, gamma, n_known=0):
    """Return the probability of the topics of all tables, in one order of these."""
    known, others = of_topics[:n_known].tolist(), of_topics[n_known:].tolist()
    ways = prod(factorial(m) for m in known) * prod(factorial(m - 1) for m in others)
    return ways * gamma ** len(others) / rising(gamma + n_known, sum(known) + sum(others))


def prior_of_customers(customers, alpha, gamma, n_known=0):
    """Return the probability of the topics of customers (D, K), in one order of these. Every
    seating in the franchise. `alpha` and `gamma` may be arrays."""
    result = 0.0
    for tables, ways in tables_of_customers(customers):
        term = ways * alpha ** int(tables.sum())
        result = result + term * factor_of_tables(tables.sum(axis=0), gamma, n_known)
    for n in customers.sum(axis=1).tolist():
        result = result / rising(alpha, n)
    return result


def prior_of_partition(documents, labels, alpha, gamma):
    """Return p(z) of a partition."""
    return prior_of_customers(counts_of(documents, labels), alpha, gamma)


def mean_of_concentrations(documents, factor, alpha_prior, gamma_prior):
    """Return the posterior means of alpha and gamma, and of K; p(w | z) is factor(labels)."""

    def joint(labels, alpha, gamma):
        return factor(labels) * prior_of_partition(documents, labels, alpha, gamma)

    every = partitions(sum(map(len, documents)))
    return mean_over_partitions(every, joint, alpha_prior, gamma_prior)


def mean_over_partitions(every, joint, alpha_prior, gamma_prior, n_known=0):
    """Return the posterior means of alpha and gamma under Gamma priors, and of K."""
    alphas, alpha_weights = gamma_quadrature(*alpha_prior)
    gammas, gamma_weights = gamma_quadrature(*gamma_prior)
    alpha, gamma = alphas[:, None], gammas[None, :]
    total, sums = 0.0, np.zeros(3)
    for labels in every:
        density = joint(labels, alpha, gamma) * alpha_weights[:, None] * gamma_weights
        n_topics = max(*labels, n_known - 1) + 1
        total += density.sum()
        sums += [(density * alpha).sum(), (density * gamma).sum(), n_topics * density.sum()]
    return sums / total


def log_prior_given_weights(documents, labels, weights, rest, alpha, gamma):
    """Return log p(z, beta)."""
    counts = counts_of(documents, labels)
    return log_prior_of_customers(counts, weights, rest, alpha, gamma)


def log_prior_of_customers(customers, weights, rest, alpha, gamma, n_known=0):
    """Return log p(topics of customers, beta), with the density of the weights of topics. `rest` is
    the weight of all other topics."""
    result = (len(weights) - n_known) * log(gamma) + (gamma - 1.0) * log(rest)
    result += lgamma(gamma + n_known) - lgamma(gamma) - float(np.log(weights[n_known:]).sum())
    for row in customers:
        result += lgamma(alpha) - lgamma(alpha + row.sum())
        for n, weight in zip(row, weights, strict=True):
            result += lgamma(alpha * weight + n) - lgamma(alpha * weight)
    return result
