"""Hierarchical Dirichlet processes of topics by enumeration, in plain Python.

Every partition of the words into topics, and every number of tables of each topic in each document:

    p(z, w) = sum_m prod_j [alpha^m_j. / (alpha)_n_j prod_k s(n_jk, m_jk)]
              gamma^K / (gamma)_m.. prod_k (m_.k - 1)! prod_k p(w_k).

There may be S topics with seed words, 0 to S - 1, which exist without words, too. They have a
Dirichlet prior eta + seeds of their words. Their weights and that of all others have the prior
Dir(1, ..., 1, gamma), so the second line becomes

    gamma^(K - S) / (gamma + S)_m.. prod_{k < S} m_.k! prod_{k >= S} (m_.k - 1)! prod_k p(w_k).

The first of these topics may be fixed: their word probabilities are given, and they have no seeds.
"""

from itertools import product
from math import factorial, lgamma, log, prod

import numpy as np
from exact.oracles.quadrature import gamma_quadrature
from exact.oracles.segmented import dirichlet_multinomial, rising, stirling


def partitions_with_seeds(n, n_seeded):
    """Return all partitions of n words, with `n_seeded` topics that may be empty."""
    found = [()]
    for _ in range(n):
        found = [(*labels, k) for labels in found for k in range(max((*labels, n_seeded - 1)) + 2)]
    return found


def counts_of(documents, labels, n_seeded=0):
    """Return words of each document by topic, (D, K)."""
    counts = np.zeros((len(documents), max(*labels, n_seeded - 1) + 1), dtype=int)
    place = 0
    for d, document in enumerate(documents):
        for _ in document:
            counts[d, labels[place]] += 1
            place += 1
    return counts


def word_factor(documents, labels, eta, n_words, seeds=(), fixed=()):
    """Return p(w | z); `fixed` are the word probabilities of the first topics."""
    n_fixed = len(fixed)
    counts = np.zeros((max(*labels, n_fixed + len(seeds) - 1) + 1, n_words), dtype=int)
    np.add.at(counts, (list(labels), [w for document in documents for w in document]), 1)
    prior = [[eta] * n_words for _ in counts]
    for k, row in enumerate(seeds):
        prior[n_fixed + k] = [eta + s for s in row]
    given = prod(
        p**n for row, of_topic in zip(fixed, counts, strict=False)
        for p, n in zip(row, of_topic.tolist(), strict=True)
    )  # fmt: skip
    rows = list(zip(prior, counts, strict=True))[n_fixed:]
    return given * prod(dirichlet_multinomial(p, row) for p, row in rows)


def factor_of_tables(of_topics, gamma, n_seeded=0):
    """Return the probability of the topics of all tables, in one order of these.

    `gamma` may be an array.
    """
    seeded, others = of_topics[:n_seeded].tolist(), of_topics[n_seeded:].tolist()
    ways = prod(factorial(m) for m in seeded) * prod(factorial(m - 1) for m in others)
    return ways * gamma ** len(others) / rising(gamma + n_seeded, sum(seeded) + sum(others))


def tables_of_partition(documents, labels, n_seeded=0):
    """Yield all table counts (D, K) with the number of seatings that have them."""
    counts = counts_of(documents, labels, n_seeded)
    choices = [range(1, n + 1) if n else [0] for n in counts.ravel()]
    for choice in product(*choices):
        ways = prod(stirling(int(n), m, 0.0) for n, m in zip(counts.ravel(), choice, strict=True))
        yield np.reshape(choice, counts.shape), ways


def prior_of_partition(documents, labels, alpha, gamma, n_seeded=0):
    """Return p(z) of a partition: every seating in the franchise."""
    result = 0.0
    for tables, ways in tables_of_partition(documents, labels, n_seeded):
        term = ways * alpha ** int(tables.sum())
        result += term * factor_of_tables(tables.sum(axis=0), gamma, n_seeded)
    return result / prod(rising(alpha, len(document)) for document in documents)


def at_most(most, every):
    """Return the partitions of at most `most` topics; None: all."""
    return [labels for labels in every if most is None or max(labels) < most]


def posterior(documents, n_words, alpha, gamma, eta, most=None, seeds=(), fixed=()):
    """Return all partitions (of at most `most` topics) and the probability of each."""
    n_seeded = len(seeds) + len(fixed)
    every = at_most(most, partitions_with_seeds(sum(map(len, documents)), n_seeded))
    weights = np.array([
        prior_of_partition(documents, labels, alpha, gamma, n_seeded)
        * word_factor(documents, labels, eta, n_words, seeds, fixed)
        for labels in every
    ])  # fmt: skip
    return every, weights / weights.sum()


def mean_concentrations(documents, n_words, eta, alpha_prior, gamma_prior, most=None, seeds=()):
    """Return the posterior means of alpha and gamma under Gamma priors, and of K."""

    def factor(labels):
        return bool(at_most(most, [labels])) * word_factor(documents, labels, eta, n_words, seeds)

    return mean_of_concentrations(documents, factor, alpha_prior, gamma_prior, len(seeds))


def mean_of_concentrations(documents, factor, alpha_prior, gamma_prior, n_seeded=0):
    """Return the posterior means of alpha and gamma, and of K; p(w | z) is factor(labels)."""
    alphas, alpha_weights = gamma_quadrature(*alpha_prior)
    gammas, gamma_weights = gamma_quadrature(*gamma_prior)
    alpha, gamma = alphas[:, None], gammas[None, :]
    total, sums = 0.0, np.zeros(3)
    for labels in partitions_with_seeds(sum(map(len, documents)), n_seeded):
        n_topics = max(*labels, n_seeded - 1) + 1
        density = np.zeros((len(alphas), len(gammas)))
        for tables, ways in tables_of_partition(documents, labels, n_seeded):
            factor_of_gamma = factor_of_tables(tables.sum(axis=0), gamma, n_seeded)
            density += ways * alpha ** int(tables.sum()) * factor_of_gamma
        for document in documents:
            density = density / rising(alpha, len(document))
        density = factor(labels) * density * alpha_weights[:, None] * gamma_weights
        total += density.sum()
        sums += [(density * alpha).sum(), (density * gamma).sum(), n_topics * density.sum()]
    return sums / total


def log_joint(documents, labels, weights, rest, n_words, alpha, gamma, eta, seeds=(), fixed=()):
    """Return log p(w, z, beta), with the density of the weights of the topics that have words."""
    words = log(word_factor(documents, labels, eta, n_words, seeds, fixed))
    n_seeded = len(seeds) + len(fixed)
    return words + log_prior_given_weights(documents, labels, weights, rest, alpha, gamma, n_seeded)


def log_prior_given_weights(documents, labels, weights, rest, alpha, gamma, n_seeded=0):
    """Return log p(z, beta)."""
    result = 0.0
    for row in counts_of(documents, labels, n_seeded):
        result += lgamma(alpha) - lgamma(alpha + row.sum())
        for n, weight in zip(row, weights, strict=True):
            result += lgamma(alpha * weight + n) - lgamma(alpha * weight)
    return result + log_density_of_weights(weights, rest, gamma, n_seeded)


def log_density_of_weights(weights, rest, gamma, n_seeded=0):
    """Return the log density of the weights of topics: some of them, and the rest."""
    result = (len(weights) - n_seeded) * log(gamma) + (gamma - 1.0) * log(rest)
    result += lgamma(gamma + n_seeded) - lgamma(gamma)
    return result - float(np.log(weights[n_seeded:]).sum())
