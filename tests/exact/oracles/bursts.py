"""Exact answers for latent Dirichlet allocation with bursts, by enumeration in plain Python.

In node d the words of topic k are drawn from psi_dk ~ PYP(a, b, phi_k). With psi integrated out,
every assignment z of topics to tokens and all numbers t_dkw of tables are visited and weighted by

    p(z, w, t) = prod_d Beta_K(alpha + n_d) / Beta_K(alpha)
                 prod_dk (b|a)_{T_dk} / (b)_{n_dk} prod_w S^{n_dkw}_{t_dkw, a} p(words of tables)

where tables are words of their topics: Dirichlet-multinomial, or with given probabilities. Learned
a (uniform prior) and b (Gamma prior) are integrated out by quadrature.

In a model of segments (``segmented.py``) the words of a document, or of a segment, have bursts: p(w
| z) there is the last line, summed over t.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from types import SimpleNamespace

import numpy as np
from exact.oracles import sections, segmented
from exact.oracles.enumeration import (
    Words,
    average,
    dirichlet_multinomial,
    of_topics,
    rising,
    split,
    stirling,
    word_factor,
)
from exact.oracles.power_law import moments, rules


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem(Words):
    nodes: Sequence[Sequence[int]]  # the words of each node
    alpha: Sequence[float]
    discount: float | None = 0.0
    concentration: float | None = None
    discount_prior: tuple[float, float] = (1.0, 1.0)  # if the discount is None
    concentration_prior: tuple[float, float] = (1.0, 0.1)  # if the concentration is None
    labels: Sequence[set[int]] | None = None  # topics that the words of each node may have

    @property
    def words(self) -> list[int]:
        return [w for node in self.nodes for w in node]


def count_customers(nodes, z) -> dict:
    """Return n_dkw > 0 by node, topic and word."""
    customers: dict = {}
    for d, (topics, words) in enumerate(zip(split(z, map(len, nodes)), nodes, strict=True)):
        for key in zip([d] * len(words), topics, words, strict=True):
            customers[key] = customers.get(key, 0) + 1
    return customers


def seatings(customers: dict, a: np.ndarray, b: np.ndarray):
    """Yield all numbers of tables by node, topic and word, and their factor, without words."""
    keys = sorted(customers)
    for chosen in product(*[range(1, customers[key] + 1) for key in keys]):
        value = np.ones(np.broadcast_shapes(a.shape, b.shape))
        for key, t in zip(keys, chosen, strict=True):
            value = value * [[stirling(customers[key], t, x)] for x in a[:, 0].tolist()]
        for restaurant in {key[:2] for key in keys}:
            of_topic = [i for i, key in enumerate(keys) if key[:2] == restaurant]
            n = sum(customers[keys[i]] for i in of_topic)
            value = value * rising(b, sum(chosen[i] for i in of_topic), a) / rising(b, n)
        yield dict(zip(keys, chosen, strict=True)), value


def enumerate_bursts(problem: Problem) -> SimpleNamespace:
    """Visit every z and t; return posterior means, `tables` (K, W) among them."""
    a, b, rule = rules(problem)
    n_topics = len(problem.alpha)
    every = [set(range(n_topics))] * len(problem.nodes)
    allowed = zip(problem.nodes, problem.labels or every, strict=True)

    def states():
        for z in product(*[labels for node, labels in allowed for _ in node]):
            parts = split(z, map(len, problem.nodes))
            prior = prod(
                dirichlet_multinomial(problem.alpha, [part.count(k) for k in range(n_topics)])
                for part in parts
            )
            for of_nodes, value in seatings(count_customers(problem.nodes, z), a, b):
                tables = np.zeros((n_topics, problem.n_words), dtype=int)
                for (_, k, w), t in of_nodes.items():
                    tables[k, w] += t
                weights = rule * prior * value * factor_of_tables(problem, tables)
                if weights.sum() > 0.0:  # not excluded by a fixed topic
                    values = {**of_topics(z, n_topics), **moments(weights, a, b)}
                    yield weights.sum(), {"tables": tables, **values}

    return average(states())


def factor_of_tables(problem: Problem, tables: np.ndarray) -> float:
    """Return the probability of the words of tables, (K, W)."""
    topics, words = (
        np.repeat(each, tables.ravel()) for each in np.indices(tables.shape).reshape(2, -1)
    )
    if problem.phi is not None:
        return word_factor(words, topics, (), problem.phi)
    fixed = () if problem.fixed is None else problem.fixed
    seeds = np.zeros(tables.shape) if problem.seeds is None else problem.seeds
    return word_factor(words, topics, (problem.gamma + seeds[len(fixed) :]).tolist(), fixed)


def predictive(problem: Problem) -> np.ndarray:
    """Return the probability of each word as the next one of the first node, given topics, (W,)."""
    first, *others = problem.nodes
    without = enumerate_bursts(problem).log_evidence
    return np.exp([
        enumerate_bursts(replace(problem, nodes=[[*first, w], *others])).log_evidence - without
        for w in range(problem.n_words)
    ])  # fmt: skip


@dataclass(frozen=True, eq=False)
class SegmentedProblem(segmented.Problem):
    """Documents of segments with bursts; the parameters of segments' tables are given."""

    bursts: tuple[float | None, float | None] = (0.0, 0.8)  # a, b
    bursts_prior: tuple[float, float] = (2.0, 0.5)  # if b is None
    unit: str = "document"  # or "segment"

    def of_words(self, topics: Sequence[int]):
        """Yield the numbers of tables, (K, W), and their joint with the words by a and b."""
        documents = [[w for words in document for w in words] for document in self.documents]
        return tables_of_words(
            self, documents if self.unit == "document" else self.segments, topics
        )

    def word_factor(self, topics: Sequence[int], n_topics: int) -> float:
        return sum(weights.sum() for _, weights in self.of_words(topics))


@dataclass(frozen=True, eq=False)
class SectionedProblem(sections.Problem):
    """Documents of sections of paragraphs with bursts."""

    bursts: tuple[float | None, float | None] = (0.0, 0.8)  # a, b
    bursts_prior: tuple[float, float] = (2.0, 0.5)  # if b is None
    unit: str = "document"  # or "segment", a paragraph

    def word_factor(self, topics: Sequence[int], n_topics: int) -> float:
        nodes = [[w for s in document for p in s for w in p] for document in self.documents]
        nodes = nodes if self.unit == "document" else self.paragraphs
        return sum(weights.sum() for _, weights in tables_of_words(self, nodes, topics))


def tables_of_words(problem, nodes, topics: Sequence[int]):
    """Yield the numbers of tables, (K, W), and their joint with the words by a and b."""
    of_nodes = Problem(
        nodes=nodes, alpha=problem.alpha, gamma=problem.gamma, n_features=problem.n_features,
        seeds=problem.seeds, fixed=problem.fixed, phi=problem.phi, discount=problem.bursts[0],
        concentration=problem.bursts[1], concentration_prior=problem.bursts_prior,
    )  # fmt: skip
    a, b, rule = rules(of_nodes)
    for found, value in seatings(count_customers(nodes, topics), a, b):
        tables = np.zeros((len(problem.alpha), problem.n_words), dtype=int)
        for (_, k, w), t in found.items():
            tables[k, w] += t
        yield tables, rule * value * factor_of_tables(of_nodes, tables)


def enumerate_tables_of_words(problem: SegmentedProblem) -> SimpleNamespace:
    """Visit every z and t; return posterior means of `tables` (K, W), of b and of a."""
    a, b = rules(
        Problem(
            nodes=(), alpha=(), discount=problem.bursts[0], concentration=problem.bursts[1],
            concentration_prior=problem.bursts_prior,
        )
    )[:2]  # fmt: skip
    known: dict = {}

    def prior_of(n, d):
        key = problem.firsts(d), n.tobytes()
        if key not in known:
            known[key] = segmented.sum_over_tables(problem, key[0], n).weight.sum()
        return known[key]

    def states():
        for z in problem.assignments():
            n = segmented.word_counts(problem, z)
            prior = prod(prior_of(n[i:j], d) for d, (i, j) in enumerate(problem.ranges))
            for tables, weights in problem.of_words(z):
                if weights.sum() > 0.0:  # not excluded by a fixed topic
                    means = {name: value[0] for name, value in moments(weights, a, b).items()}
                    yield prior * weights.sum(), {"tables": tables, **means}

    return average(states())
