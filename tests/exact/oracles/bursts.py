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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import prod

import numpy as np
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


@dataclass
class BurstPosterior:
    evidence: float
    topics: np.ndarray  # (n_tokens, K): P(z_i = k)
    coassignment: np.ndarray  # (n_tokens, n_tokens)
    tables: np.ndarray  # (K, W): E[T_kw]
    discount: np.ndarray  # moments 1 and 2
    log_concentration: np.ndarray  # moments 1 and 2


def rising(x, n: int, step=0.0):
    """Return x (x + step) ... (x + (n - 1) step)."""
    return prod((x + i * step for i in range(n)), start=1.0)


def dirichlet_multinomial(prior: Sequence[float], counts: Sequence[int]) -> float:
    value = prod(rising(p, int(n), 1.0) for p, n in zip(prior, counts, strict=True))
    return value / rising(sum(prior), int(sum(counts)), 1.0)


def stirling_numbers(n_max: int, a) -> list[list]:
    """Return S^n_t for all n and t up to `n_max`, by the recursion."""
    rows = [[1.0 + 0.0 * a] + [0.0 * a] * n_max]
    for n in range(n_max):
        last = rows[-1]
        opened = [0.0 * a, *last[:-1]]
        rows.append([opened[t] + (n - a * t) * last[t] for t in range(n_max + 1)])
    return rows


def as_nodes_of_rule(problem: Problem):
    """Return the nodes of a (A, 1) and of b (1, B), and their weights (A, B)."""
    a, of_a = np.array([problem.discount]), np.ones(1)
    b, of_b = np.array([problem.concentration]), np.ones(1)
    if problem.discount is None:
        a, of_a = beta_quadrature(*problem.discount_prior)
    if problem.concentration is None:
        b, of_b = gamma_quadrature(*problem.concentration_prior)
    return a[:, np.newaxis], b[np.newaxis, :], np.outer(of_a, of_b)


def count(problem: Problem, z: Sequence[int]) -> np.ndarray:
    """Return M_kw."""
    counts = np.zeros((len(problem.alpha), problem.n_features), dtype=int)
    for k, w in [*zip(z, problem.words, strict=True), *problem.extra]:
        counts[k, w] += 1
    return counts


def prior_of_topics(problem: Problem, z: Sequence[int]) -> float:
    value = 1.0
    for first, last in pairwise(np.cumsum([0, *map(len, problem.nodes)])):
        counts = np.bincount(z[first:last], minlength=len(problem.alpha))
        value *= dirichlet_multinomial(problem.alpha, counts)
    return value


def word_factor(problem: Problem, counts: np.ndarray, tables: np.ndarray, a, b, stirling):
    """Return p(w, T | z)."""
    if problem.gamma is None:
        value = (1.0 / problem.n_features) ** int(tables.sum())
    else:
        value = dirichlet_multinomial([problem.gamma] * problem.n_features, tables.sum(axis=0))
    for row, of_row in zip(counts, tables, strict=True):
        value = value * rising(b, int(of_row.sum()), a) / rising(b, int(row.sum()), 1.0)
        for n, t in zip(row, of_row, strict=True):
            value = value * stirling[n][t]
    return value


def all_tables(counts: np.ndarray) -> Iterator[np.ndarray]:
    ranges = [range(1, n + 1) if n else (0,) for n in counts.ravel()]
    for tables in product(*ranges):
        yield np.array(tables).reshape(counts.shape)


def log_joint(problem: Problem, z: Sequence[int], tables: np.ndarray) -> float:
    a, b, _ = as_nodes_of_rule(problem)
    stirling = stirling_numbers(len(problem.words), a)
    value = word_factor(problem, count(problem, z), tables, a, b, stirling)
    return float(np.log((prior_of_topics(problem, z) * value).item()))


def enumerate_bursts(problem: Problem) -> BurstPosterior:
    """Visit every z and T."""
    n_topics, n_tokens = len(problem.alpha), len(problem.words)
    a, b, rule = as_nodes_of_rule(problem)
    stirling = stirling_numbers(n_tokens + len(problem.extra), a)
    joint = np.zeros_like(rule)  # p(w, a, b)
    marginals, coassignment = np.zeros((n_tokens, n_topics)), np.zeros((n_tokens, n_tokens))
    expected_tables = np.zeros((n_topics, problem.n_features))
    every = [set(range(n_topics))] * len(problem.nodes)
    sets = [
        allowed
        for node, allowed in zip(problem.nodes, problem.labels or every, strict=True)
        for _ in node
    ]
    for z in product(*sets):
        counts, prior = count(problem, z), prior_of_topics(problem, z)
        evidence = 0.0
        for tables in all_tables(counts):
            weights = rule * prior * word_factor(problem, counts, tables, a, b, stirling)
            joint += weights
            evidence += weights.sum()
            expected_tables += weights.sum() * tables
        indicator = np.equal.outer(z, range(n_topics)).reshape(n_tokens, n_topics)
        marginals += evidence * indicator
        coassignment += evidence * (indicator @ indicator.T)
    total = joint.sum()
    of_a, of_b = joint.sum(axis=1) / total, joint.sum(axis=0) / total
    return BurstPosterior(
        float(total),
        marginals / total,
        coassignment / total,
        expected_tables / total,
        np.array([of_a @ a[:, 0], of_a @ a[:, 0] ** 2]),
        np.array([of_b @ np.log(b[0]), of_b @ np.log(b[0]) ** 2]),
    )


def expected_topics(problem: Problem) -> np.ndarray:
    """Return E[phi], (K, W): a further word of each topic, relative to the evidence without it."""
    without = enumerate_bursts(problem).evidence
    return np.array([
        [
            enumerate_bursts(replace(problem, extra=[(k, w)])).evidence / without
            for w in range(problem.n_features)
        ]
        for k in range(len(problem.alpha))
    ])  # fmt: skip
