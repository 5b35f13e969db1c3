"""Exact answers for latent Dirichlet allocation, by enumeration in plain Python.

Nodes (documents, or segments) have topic shares theta_d ~ Dir(alpha), topics phi_k ~ Dir(gamma), or
topics are given. With theta integrated out, and phi unless it is given,

    p(z, w) = p(w | z) prod_d Beta_K(alpha + n_d) / Beta_K(alpha).

Labels are a condition on z. The shares of a node are then those of its next word's topic."""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
from exact.oracles.enumeration import average, dirichlet_multinomial, of_topics, split
from exact.oracles.segmented import Problem


def as_nodes(problem: Problem, level: str) -> list[list[int]]:
    """Return the words of each node."""
    if level == "segment":
        return [list(segment) for segment in problem.segments]
    return [[w for segment in document for w in segment] for document in problem.documents]


def counts_of_nodes(problem: Problem, level: str, topics: Sequence[int]) -> list[np.ndarray]:
    lengths, n_topics = map(len, as_nodes(problem, level)), len(problem.alpha)
    return [np.bincount(each, minlength=n_topics) for each in split(topics, lengths)]


def log_joint(problem: Problem, level: str, topics: Sequence[int]) -> float:
    value = np.log(problem.word_factor(topics, len(problem.alpha)))
    for n in counts_of_nodes(problem, level, topics):
        value += np.log(dirichlet_multinomial(problem.alpha, n))
    return float(value)


def enumerate_lda(problem: Problem, level: str) -> SimpleNamespace:
    """Visit every z; return posterior means, of `theta` (nodes, K) among them."""
    n_topics = len(problem.alpha)
    of_nodes = np.ones((len(as_nodes(problem, level)), n_topics))
    if problem.labels is not None:
        starts = range(len(of_nodes)) if level == "segment" else problem.doc_ptr[:-1]
        of_nodes = np.array([[k in problem.allowed[j] for k in range(n_topics)] for j in starts])

    def states():
        for z in problem.assignments():
            if problem.word_factor(z, n_topics) == 0.0:  # excluded by a fixed topic
                continue
            n = np.reshape(counts_of_nodes(problem, level, z), of_nodes.shape)
            theta = (np.array(problem.alpha) + n) * of_nodes
            theta /= theta.sum(axis=1, keepdims=True)
            yield np.exp(log_joint(problem, level, z)), {**of_topics(z, n_topics), "theta": theta}

    return average(states())
