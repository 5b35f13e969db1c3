"""Hierarchical Dirichlet processes of topics by enumeration, in plain Python.

Every partition of the words into topics, and every number of tables of each topic in each document:

    p(z, w) = sum_m prod_j [alpha^m_j. / (alpha)_n_j prod_k s(n_jk, m_jk)]
              gamma^K / (gamma)_m.. prod_k (m_.k - 1)! prod_k p(w_k).
"""

from itertools import product
from math import factorial, lgamma, log, prod

import numpy as np
from exact.oracles.mixtures import partitions
from exact.oracles.quadrature import gamma_quadrature
from exact.oracles.segmented import dirichlet_multinomial, rising, stirling


def counts_of(documents, labels):
    """Return words of each document by topic, (D, K)."""
    counts = np.zeros((len(documents), max(labels) + 1), dtype=int)
    place = 0
    for d, document in enumerate(documents):
        for _ in document:
            counts[d, labels[place]] += 1
            place += 1
    return counts


def word_factor(documents, labels, eta, n_words):
    """Return p(w | z)."""
    counts = np.zeros((max(labels) + 1, n_words), dtype=int)
    np.add.at(counts, (list(labels), [w for document in documents for w in document]), 1)
    return prod(dirichlet_multinomial([eta] * n_words, row) for row in counts)


def tables_of_partition(documents, labels):
    """Yield all table counts (D, K) with the number of seatings that have them."""
    counts = counts_of(documents, labels)
    choices = [range(1, n + 1) if n else [0] for n in counts.ravel()]
    for choice in product(*choices):
        ways = prod(stirling(int(n), m, 0.0) for n, m in zip(counts.ravel(), choice, strict=True))
        yield np.reshape(choice, counts.shape), ways


def prior_of_partition(documents, labels, alpha, gamma):
    """Return p(z) of a partition: every seating in the franchise."""
    result = 0.0
    for tables, ways in tables_of_partition(documents, labels):
        of_topics = tables.sum(axis=0)
        term = ways * alpha ** int(tables.sum()) * gamma ** len(of_topics)
        term *= prod(factorial(int(m) - 1) for m in of_topics)
        result += term / rising(gamma, int(tables.sum()))
    return result / prod(rising(alpha, len(document)) for document in documents)


def at_most(most, every):
    """Return the partitions of at most `most` topics; None: all."""
    return [labels for labels in every if most is None or max(labels) < most]


def posterior(documents, n_words, alpha, gamma, eta, most=None):
    """Return all partitions (of at most `most` topics) and the probability of each."""
    every = at_most(most, partitions(sum(map(len, documents))))
    weights = np.array([
        prior_of_partition(documents, labels, alpha, gamma)
        * word_factor(documents, labels, eta, n_words)
        for labels in every
    ])  # fmt: skip
    return every, weights / weights.sum()


def mean_concentrations(documents, n_words, eta, alpha_prior, gamma_prior, most=None):
    """Return the posterior means of alpha and gamma under Gamma priors, and of K."""
    return mean_of_concentrations(
        documents,
        lambda labels: bool(at_most(most, [labels])) * word_factor(documents, labels, eta, n_words),
        alpha_prior,
        gamma_prior,
    )


def mean_of_concentrations(documents, factor, alpha_prior, gamma_prior):
    """Return the posterior means of alpha and gamma, and of K; p(w | z) is factor(labels)."""
    alphas, alpha_weights = gamma_quadrature(*alpha_prior)
    gammas, gamma_weights = gamma_quadrature(*gamma_prior)
    alpha, gamma = alphas[:, None], gammas[None, :]
    total, sums = 0.0, np.zeros(3)
    for labels in partitions(sum(map(len, documents))):
        n_topics = max(labels) + 1
        density = np.zeros((len(alphas), len(gammas)))
        for tables, ways in tables_of_partition(documents, labels):
            m = int(tables.sum())
            term = ways * prod(factorial(int(t) - 1) for t in tables.sum(axis=0))
            density += term * alpha**m * gamma**n_topics / rising(gamma, m)
        for document in documents:
            density = density / rising(alpha, len(document))
        density = factor(labels) * density * alpha_weights[:, None] * gamma_weights
        total += density.sum()
        sums += [(density * alpha).sum(), (density * gamma).sum(), n_topics * density.sum()]
    return sums / total


def log_joint(documents, labels, weights, rest, n_words, alpha, gamma, eta):
    """Return log p(w, z, beta), with the density of the weights of the topics that have words."""
    words = log(word_factor(documents, labels, eta, n_words))
    return words + log_prior_given_weights(documents, labels, weights, rest, alpha, gamma)


def log_prior_given_weights(documents, labels, weights, rest, alpha, gamma):
    """Return log p(z, beta)."""
    result = 0.0
    for row in counts_of(documents, labels):
        result += lgamma(alpha) - lgamma(alpha + row.sum())
        for n, weight in zip(row, weights, strict=True):
            result += lgamma(alpha * weight + n) - lgamma(alpha * weight)
    result += len(weights) * log(gamma) + (gamma - 1.0) * log(rest)
    return result - float(np.log(weights).sum())
