"""The distance-dependent CRP by enumeration of all link vectors, from the joint probability.

p(c, x) = prod_i [phi_{i c_i} or alpha] / (alpha + sum_{j != i} phi_ij) times the probability of the
outcomes given the components, one outcome after the other."""

import itertools
import math

import numpy as np


def product_similarities(one, other, decay):
    """Return exp(-sum_n lambda_n [h_n != h'_n]) of all pairs."""
    return np.array([
        [math.exp(-sum(rate for rate, a, b in zip(decay, h, g, strict=True) if a != b))
         for g in other]
        for h in one
    ])  # fmt: skip


def overlap_similarities(one, other, weights):
    """Return sum_n w_n [h_n = h'_n] of all pairs."""
    return np.array([
        [sum(w for w, a, b in zip(weights, h, g, strict=True) if a == b) for g in other]
        for h in one
    ])  # fmt: skip


def components(links):
    """Return the component of each observation, named by the first of its members."""
    names = list(range(len(links)))
    for _ in links:
        for i, j in enumerate(links):
            low = min(names[i], names[j])
            names = [low if name in (names[i], names[j]) else name for name in names]
    order = sorted(set(names))
    return tuple(order.index(name) for name in names)


def urn(sequence, n_outcomes, gamma):
    """Return the probability of a sequence under a Dirichlet prior, element by element."""
    seen, result = [0] * n_outcomes, 1.0
    for k, x in enumerate(sequence):
        result *= (seen[x] + gamma) / (k + n_outcomes * gamma)
        seen[x] += 1
    return result


def outcome_probability(labels, outcomes, n_outcomes, gamma, model):
    """Return the probability of the outcomes given the components."""
    members = [[x for label, x in zip(labels, outcomes, strict=True) if label == k]
               for k in range(max(labels) + 1)]  # fmt: skip
    if model == "dirichlet":
        return math.prod(urn(group, n_outcomes, gamma) for group in members)
    if any(len(set(group)) > 1 for group in members):
        return 0.0
    return urn([group[0] for group in members], n_outcomes, gamma)


def link_probability(links, similarities, alpha):
    """Return the prior probability of links."""
    result = 1.0
    for i, j in enumerate(links):
        others = sum(similarities[i][k] for k in range(len(links)) if k != i)
        result *= (alpha if i == j else similarities[i][j]) / (alpha + others)
    return result


def all_links(n):
    return list(itertools.product(range(n), repeat=n))


def joint(similarities, alpha, outcomes, n_outcomes, gamma, model):
    """Return p(links, outcomes) of all link vectors."""
    return np.array([
        link_probability(links, similarities, alpha)
        * outcome_probability(components(links), outcomes, n_outcomes, gamma, model)
        for links in all_links(len(outcomes))
    ])  # fmt: skip


def predictive(links, to_training, alpha, outcomes, n_outcomes, gamma, model):
    """Return the distribution of the outcome of one more observation given the links. `to_training`
    has its similarities to the others. It is the ratio of the probabilities of the outcomes with
    and without it, summed over its links."""
    n, total = len(links), alpha + sum(to_training)
    before = outcome_probability(components(links), outcomes, n_outcomes, gamma, model)
    result = np.zeros(n_outcomes)
    for j in range(n + 1):
        chance = (alpha if j == n else to_training[j]) / total
        labels = components((*links, j))
        for x in range(n_outcomes):
            after = outcome_probability(labels, (*outcomes, x), n_outcomes, gamma, model)
            result[x] += chance * after / before
    return result


def by_parameter(similarities_of, alphas, outcomes, n_outcomes, gamma, model):
    """Return p(links, outcomes) by parameter of the similarity, alpha and link vector.
    `similarities_of` is a list of matrices, one for each value of the parameter."""
    n = len(outcomes)
    every = np.array(all_links(n))
    given = np.array([
        outcome_probability(components(links), outcomes, n_outcomes, gamma, model)
        for links in every.tolist()
    ])  # fmt: skip
    own = np.eye(n, dtype=bool)
    result = np.empty((len(similarities_of), len(alphas), len(every)))
    for p, similarities in enumerate(similarities_of):
        apart = np.where(own, 0.0, similarities)
        for a, alpha in enumerate(alphas):
            weights = np.where(own, alpha, similarities) / (alpha + apart.sum(axis=1))[:, None]
            result[p, a] = weights[np.arange(n), every].prod(axis=1) * given
    return result
