"""Mixtures of groups that share their components, by enumeration, in plain Python.

Every partition of the rows of all groups, and every number of tables of each component in each
group: the prior of `hdp_topics`, times the marginal likelihoods of `mixtures`."""

from itertools import product
from math import exp, lgamma, log

import numpy as np
from exact.oracles import hdp_topics, mixtures


def posterior(groups, family, alpha, gamma, y=None):
    """Return all partitions that `y` allows, and the probability of each given the rows."""
    rows = [row for group in groups for row in group]
    every = mixtures.partitions(len(rows), y)
    priors = [hdp_topics.prior_of_partition(groups, labels, alpha, gamma) for labels in every]
    weights = priors * np.exp(mixtures.log_likelihoods(every, rows, family))
    return every, weights / weights.sum()


def mean_concentrations(groups, family, alpha_prior, gamma_prior):
    """Return the posterior means of alpha and gamma under Gamma priors, and of K."""
    return hdp_topics.mean_of_concentrations(
        groups, lambda labels: exp(_log_likelihood(groups, labels, family)), alpha_prior,
        gamma_prior,
    )  # fmt: skip


def log_joint(groups, labels, weights, rest, family, alpha, gamma):
    """Return log p(x, z, beta), with the density of the weights of components with rows."""
    prior = hdp_topics.log_prior_given_weights(groups, labels, weights, rest, alpha, gamma)
    return prior + _log_likelihood(groups, labels, family)


def _log_likelihood(groups, labels, family):
    rows = [row for group in groups for row in group]
    return mixtures.log_likelihoods([labels], rows, family)[0]


def mean_weights(groups, labels, alpha, gamma):
    """Return E[beta | z], that of new components last: a mean over all tables."""
    total, sums = 0.0, np.zeros(max(labels) + 2)
    for tables, ways in hdp_topics.tables_of_partition(groups, labels):
        of_components = tables.sum(axis=0)
        m = int(tables.sum())
        weight = ways * exp(
            m * log(alpha)
            + sum(lgamma(int(t)) for t in of_components)
            - lgamma(gamma + m)
        )  # fmt: skip
        total += weight
        sums += weight * np.append(of_components, gamma) / (m + gamma)
    return sums / total


def group_posterior(chances, prior):
    """Return the probabilities of the components of each row of a group, (n, C), and E[theta].
    Components are given: chances[i][k] is the likelihood of row i under component k, the group's
    shares theta are Dirichlet, and all vectors of components are summed over."""
    n, n_components = len(chances), len(prior)
    probabilities, shares, total = np.zeros((n, n_components)), np.zeros(n_components), 0.0
    for z in product(range(n_components), repeat=n):
        counts = np.bincount(z, minlength=n_components)
        weight = 1.0
        for k, count in enumerate(counts):
            for m in range(int(count)):
                weight *= prior[k] + m
        for i, k in enumerate(z):
            weight *= chances[i][k]
        total += weight
        shares += weight * (counts + prior) / (n + sum(prior))
        probabilities[np.arange(n), list(z)] += weight
    return probabilities / total, shares / total


def log_completion(given, scored, rows, labels, weights, family, alpha):
    """Return log p of each of the scored rows of a group if the others are given. Components are
    the clusters of training rows, with their predictive densities, and one more for all others;
    `weights` are beta, that of all others last."""
    rows = np.array(rows)
    clusters = [rows[np.array(labels) == k].tolist() for k in range(max(labels) + 1)]

    def chance(row, k):
        if k == len(clusters):
            return exp(family.log_marginal([row]))
        with_row = family.log_marginal([*clusters[k], row])
        return exp(with_row - family.log_marginal(clusters[k]))

    def chances(part):
        return [[chance(row, k) for k in range(len(weights))] for row in part]

    _, shares = group_posterior(chances(given), [alpha * weight for weight in weights])
    return [log(sum(shares * np.array(each))) for each in chances(scored)]
