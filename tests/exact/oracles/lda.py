"""Exact answers for latent Dirichlet allocation, by enumeration in plain Python.

Nodes (documents, or segments) have topic shares theta_d ~ Dir(alpha), topics phi_k ~ Dir(gamma), or
topics are given. With theta integrated out, and phi unless it is given,

    p(z, w) = p(w | z) prod_d Beta_K(alpha + n_d) / Beta_K(alpha).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from exact.oracles.segmented import Problem, dirichlet_multinomial, word_factor


@dataclass
class LDAPosterior:
    log_evidence: float
    coassignment: np.ndarray  # (n_tokens, n_tokens)
    topics: np.ndarray  # (n_tokens, K): P(z_i = k)
    theta: np.ndarray  # (nodes, K)
    log_joint: float


def as_nodes(problem: Problem, level: str) -> list[list[int]]:
    """Return the words of each node."""
    if level == "segment":
        return [list(segment) for document in problem.documents for segment in document]
    return [[w for segment in document for w in segment] for document in problem.documents]


def log_joint(problem: Problem, level: str, topics: Sequence[int]) -> float:
    ends = np.cumsum([0, *map(len, as_nodes(problem, level))])
    value = np.log(word_factor(problem, topics))
    for first, last in pairwise(ends):
        n = np.bincount(topics[first:last], minlength=len(problem.alpha))
        value += np.log(dirichlet_multinomial(problem.alpha, n))
    return float(value)


def enumerate_lda(problem: Problem, level: str) -> LDAPosterior:
    """Visit every z."""
    n_topics, n_tokens = len(problem.alpha), len(problem.words)
    ends = np.cumsum([0, *map(len, as_nodes(problem, level))])
    alpha = np.asarray(problem.alpha)
    evidence, joint = 0.0, 0.0
    marginals, coassignment = np.zeros((n_tokens, n_topics)), np.zeros((n_tokens, n_tokens))
    theta = np.zeros((len(ends) - 1, n_topics))
    for z in product(range(n_topics), repeat=n_tokens):
        if word_factor(problem, z) == 0.0:  # excluded by a fixed topic
            continue
        log_weight = log_joint(problem, level, z)
        weight = np.exp(log_weight)
        indicator = np.equal.outer(z, range(n_topics)).reshape(n_tokens, n_topics)
        evidence += weight
        joint += weight * log_weight
        marginals += weight * indicator
        coassignment += weight * (indicator @ indicator.T)
        for d, (first, last) in enumerate(pairwise(ends)):
            n = indicator[first:last].sum(axis=0)
            theta[d] += weight * (alpha + n) / (alpha.sum() + n.sum())
    return LDAPosterior(
        float(np.log(evidence)),
        coassignment / evidence,
        marginals / evidence,
        theta / evidence,
        joint / evidence,
    )
