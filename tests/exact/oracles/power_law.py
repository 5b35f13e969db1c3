"""Exact answers for topics that are Pitman-Yor processes, by enumeration in plain Python.

Nodes (documents, or segments) have topic shares theta_d ~ Dir(alpha), and topics are Pitman-Yor
processes phi_k ~ PYP(a, b, H). The base H is uniform, or H ~ Dir(gamma) is shared by the topics.
Every assignment z of topics to tokens and all numbers T of tables are visited and weighted by

    p(z, w, T) = prod_d Beta_K(alpha + n_d) / Beta_K(alpha)
                 p(T) prod_k (b|a)_{T_k} / (b)_{M_k} prod_w S^{M_kw}_{T_kw, a}

    z      topic of each token                     n_dk   words of node d with topic k
    M_kw   times that word w has topic k           T_kw   tables of topic k that serve word w
    a, b   discount, concentration                 T_k, T_w  sums of T_kw

with p(T) = W^-T for a uniform base and Beta_W(gamma + T_w) / Beta_W(gamma) for a shared one, where
T and T_w sum over topics.

A discount with a Beta prior and a concentration with a Gamma prior are integrated out by
quadrature: weights have an axis for nodes of a and one for nodes of b.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from types import SimpleNamespace

import numpy as np
from exact.oracles.enumeration import (
    average,
    dirichlet_multinomial,
    of_topics,
    rising,
    split,
    stirling,
)
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature


@dataclass(frozen=True, eq=False)
class Problem:
    nodes: Sequence[Sequence[int]]  # the words of each node
    alpha: Sequence[float]
    n_features: int
    discount: float | None = None
    concentration: float | None = None
    gamma: float | None = None  # None: the base is uniform
    discount_prior: tuple[float, float] = (1.0, 1.0)  # if the discount is None
    concentration_prior: tuple[float, float] = (1.0, 0.1)  # if the concentration is None
    extra: Sequence[tuple[int, int]] = ()  # further words without a node: topic, word
    labels: Sequence[set[int]] | None = None  # topics that the words of each node may have

    @property
    def words(self) -> list[int]:
        return [w for node in self.nodes for w in node]


def rules(problem: Problem):
    """Return the nodes of a (A, 1) and of b (1, B), and their weights (A, B)."""
    a, of_a = np.array([problem.discount]), np.ones(1)
    b, of_b = np.array([problem.concentration]), np.ones(1)
    if problem.discount is None:
        a, of_a = beta_quadrature(*problem.discount_prior)
    if problem.concentration is None:
        b, of_b = gamma_quadrature(*problem.concentration_prior)
    return a[:, np.newaxis], b[np.newaxis, :], np.outer(of_a, of_b)


def moments(weights: np.ndarray, a: np.ndarray, b: np.ndarray) -> dict:
    """Return two moments of a and of log b by their weights (A, B)."""
    of_a, of_b = (weights.sum(axis=axis) / weights.sum() for axis in (1, 0))
    return {
        "discount": [of_a @ a[:, 0], of_a @ a[:, 0] ** 2],
        "log_concentration": [of_b @ np.log(b[0]), of_b @ np.log(b[0]) ** 2],
    }


def counts_of(problem: Problem, z: Sequence[int]) -> np.ndarray:
    """Return M_kw."""
    counts = np.zeros((len(problem.alpha), problem.n_features), dtype=int)
    for k, w in [*zip(z, problem.words, strict=True), *problem.extra]:
        counts[k, w] += 1
    return counts


def prior_of_topics(problem: Problem, z: Sequence[int]) -> float:
    counts = [
        [topics.count(k) for k in range(len(problem.alpha))]
        for topics in split(z, map(len, problem.nodes))
    ]
    return prod(dirichlet_multinomial(problem.alpha, row) for row in counts)


def word_factor(problem: Problem, counts: np.ndarray, tables: np.ndarray, a, b):
    """Return p(w, T | z)."""
    if problem.gamma is None:
        value = (1.0 / problem.n_features) ** int(tables.sum())
    else:
        value = dirichlet_multinomial([problem.gamma] * problem.n_features, tables.sum(axis=0))
    for row, of_row in zip(counts, tables, strict=True):
        value = value * rising(b, int(of_row.sum()), a) / rising(b, int(row.sum()))
        for n, t in zip(row.tolist(), of_row.tolist(), strict=True):
            value = value * np.array([[stirling(n, t, x)] for x in a.ravel().tolist()])
    return value


def log_joint(problem: Problem, z: Sequence[int], tables: np.ndarray) -> float:
    a, b, _ = rules(problem)
    value = word_factor(problem, counts_of(problem, z), tables, a, b)
    return float(np.log((prior_of_topics(problem, z) * value).item()))


def enumerate_power_law(problem: Problem) -> SimpleNamespace:
    """Visit every z and T; return posterior means, of the moments of a and log b among them."""
    a, b, rule = rules(problem)
    every = [set(range(len(problem.alpha)))] * len(problem.nodes)
    allowed = zip(problem.nodes, problem.labels or every, strict=True)

    def states():
        for z in product(*[labels for node, labels in allowed for _ in node]):
            counts, prior = counts_of(problem, z), prior_of_topics(problem, z)
            topics = of_topics(z, len(problem.alpha))
            for chosen in product(*[range(min(n, 1), n + 1) for n in counts.ravel().tolist()]):
                tables = np.reshape(chosen, counts.shape)
                weights = rule * prior * word_factor(problem, counts, tables, a, b)
                yield weights.sum(), {**topics, "tables": tables, **moments(weights, a, b)}

    return average(states())


def expected_topics(problem: Problem) -> np.ndarray:
    """Return E[phi], (K, W): a further word of each topic, relative to the evidence without it."""
    without = enumerate_power_law(problem).log_evidence
    evidences = [
        enumerate_power_law(replace(problem, extra=[pair])).log_evidence
        for pair in np.ndindex(len(problem.alpha), problem.n_features)
    ]
    return np.exp(np.reshape(evidences, (len(problem.alpha), -1)) - without)
