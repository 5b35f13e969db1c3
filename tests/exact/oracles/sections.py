"""Exact answers for topics in documents of sections of paragraphs, by enumeration in plain Python.

Every assignment of topics to words is visited. The tables of each document are those of a network
of Pitman-Yor processes (see `networks`): its root has the discount 0, the concentration
A = sum alpha and the base alpha / A, which is the Dirichlet(alpha) of the document's shares; each
section has the root as its parent, and each paragraph its section. The tables of the root are
summed out.

A document is a list of sections, lists of paragraphs, which are lists of word ids. Parameters of
sections and of paragraphs are pairs; one that is None is integrated out by quadrature.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from exact.oracles import networks
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature
from exact.oracles.segmented import dirichlet_multinomial

Rule = list[tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Problem:
    documents: Sequence[Sequence[Sequence[Sequence[int]]]]
    alpha: Sequence[float]
    discount: tuple[float | None, float | None] = (0.0, 0.0)
    concentration: tuple[float | None, float | None] = (1.0, 1.0)
    discount_prior: tuple[float, float] = (1.0, 1.0)
    concentration_prior: tuple[float, float] = (1.0, 0.1)
    gamma: float | None = None
    n_features: int | None = None
    phi: np.ndarray | None = None  # (K, V), instead of gamma and n_features

    @property
    def words(self) -> list[int]:
        return [
            w
            for document in self.documents
            for section in document
            for paragraph in section
            for w in paragraph
        ]

    @cached_property
    def settings(self) -> list[tuple[tuple[float, ...], float]]:
        """All (a_1, a_2, b_1, b_2) of the quadrature, and their weights."""
        rules: list[Rule] = []
        for a in self.discount:
            nodes = beta_quadrature(*self.discount_prior, 16)
            rules.append([(a, 1.0)] if a is not None else list(zip(*nodes, strict=True)))
        for b in self.concentration:
            nodes = gamma_quadrature(*self.concentration_prior, 0.3)
            rules.append([(b, 1.0)] if b is not None else list(zip(*nodes, strict=True)))
        found = []
        for chosen in product(*rules):
            values, weights = zip(*chosen, strict=True)
            if prod(weights) > 1e-9:
                found.append((tuple(map(float, values)), float(prod(weights))))
        return found


def word_factor(problem: Problem, topics: Sequence[int]) -> float:
    if problem.phi is not None:
        return prod(float(problem.phi[k, w]) for k, w in zip(topics, problem.words, strict=True))
    counts = np.zeros((len(problem.alpha), problem.n_features), dtype=int)
    np.add.at(counts, (list(topics), problem.words), 1)
    return prod(dirichlet_multinomial([problem.gamma] * problem.n_features, row) for row in counts)


def network_of(document) -> list[list[int]]:
    """Return the parents of the root, the sections and the paragraphs, in this order."""
    n_sections = len(document)
    of_paragraphs = [[1 + r] for r, section in enumerate(document) for _ in section]
    return [[], *[[0]] * n_sections, *of_paragraphs]


@dataclass
class DocumentSum:
    """Sums over the tables of a document with given topics, weighted by the joint."""

    weight: float
    log_weight: float  # sum of weight times its log, over states without the root's tables
    section_tables: np.ndarray
    paragraph_tables: np.ndarray
    mu: np.ndarray
    sections: np.ndarray
    paragraphs: np.ndarray


def sum_over_tables(problem: Problem, document, n: np.ndarray, setting) -> DocumentSum:
    """Visit the tables of a document whose paragraphs have the words `n` by topic."""
    (a_1, a_2, b_1, b_2), alpha = setting, np.array(problem.alpha, dtype=float)
    n_topics, n_sections, n_paragraphs = len(alpha), len(document), len(n)
    parents = network_of(document)
    counts = [[0] * n_topics] * (1 + n_sections) + n.tolist()
    a = [0.0, *[a_1] * n_sections, *[a_2] * n_paragraphs]
    b = [alpha.sum(), *[b_1] * n_sections, *[b_2] * n_paragraphs]
    found = networks.joint(
        counts,
        parents,
        (alpha / alpha.sum()).tolist(),
        a,
        b,
        [[1.0]] * len(parents),
        is_drawn=False,
    )
    states: dict = {}
    for tables, weight in found.items():
        states[tables[1:]] = states.get(tables[1:], 0.0) + weight

    total = DocumentSum(
        0.0, 0.0, np.zeros((n_sections, n_topics)), np.zeros((n_paragraphs, n_topics)),
        np.zeros(n_topics), np.zeros((n_sections, n_topics)), np.zeros((n_paragraphs, n_topics)),
    )  # fmt: skip
    above = [parent[0] - 1 for parent in parents[1 + n_sections :]]
    for tables, weight in states.items():
        array = np.array(tables, dtype=float).reshape(n_sections + n_paragraphs, n_topics)
        s, t = array[:n_sections], array[n_sections:]
        mu = (alpha + s.sum(axis=0)) / (alpha.sum() + s.sum())
        of_sections, of_paragraphs = np.zeros_like(s), np.zeros_like(t)
        for r in range(n_sections):
            customers = sum((t[j] for j in range(n_paragraphs) if above[j] == r), 0.0 * alpha)
            rest = (b_1 + a_1 * s[r].sum()) * mu
            of_sections[r] = (customers - a_1 * s[r] + rest) / (b_1 + customers.sum())
        for j, r in enumerate(above):
            rest = (b_2 + a_2 * t[j].sum()) * of_sections[r]
            of_paragraphs[j] = (n[j] - a_2 * t[j] + rest) / (b_2 + n[j].sum())
        total.weight += weight
        total.log_weight += weight * np.log(weight)
        total.section_tables += weight * s
        total.paragraph_tables += weight * t
        total.mu += weight * mu
        total.sections += weight * of_sections
        total.paragraphs += weight * of_paragraphs
    return total


def enumerate_posterior(problem: Problem) -> dict[str, np.ndarray]:
    """Return posterior means by name; those of nodes are stacked over the documents."""
    n_topics, words = len(problem.alpha), problem.words
    paragraph_of, shapes = [], []
    for document in problem.documents:
        lengths = [len(paragraph) for section in document for paragraph in section]
        start = sum(shapes)
        paragraph_of += [start + j for j, length in enumerate(lengths) for _ in range(length)]
        shapes.append(len(lengths))
    bounds = np.cumsum([0, *shapes])
    sums: dict[str, np.ndarray] = {}
    cache: dict = {}
    evidence = 0.0
    for setting, prior in problem.settings:
        for z in product(range(n_topics), repeat=len(words)):
            n = np.zeros((bounds[-1], n_topics), dtype=int)
            np.add.at(n, (paragraph_of, list(z)), 1)
            of_words = word_factor(problem, z)
            documents = []
            for d, document in enumerate(problem.documents):
                own = n[bounds[d] : bounds[d + 1]]
                key = d, own.tobytes(), setting
                if key not in cache:
                    cache[key] = sum_over_tables(problem, document, own, setting)
                documents.append(cache[key])
            each = [document.weight for document in documents]
            weight = prior * of_words * prod(each)
            evidence += weight
            logs = sum(x.log_weight / x.weight for x in documents)

            def stack(name, documents=documents):
                return np.concatenate([
                    np.atleast_2d(getattr(x, name)) / x.weight for x in documents
                ])  # fmt: skip

            means = {
                "coassignment": np.equal.outer(z, z).astype(float),
                "topics": np.equal.outer(z, range(n_topics)).astype(float),
                "log_joint": np.array(np.log(of_words) + logs),
                "setting": np.array(setting),
                **{name: stack(name) for name in (
                    "section_tables", "paragraph_tables", "mu", "sections", "paragraphs",
                )},
            }  # fmt: skip
            for name, value in means.items():
                sums[name] = sums.get(name, 0.0) + weight * value
    return {name: value / evidence for name, value in sums.items()}


def log_joint(problem: Problem, topics, section_tables, paragraph_tables) -> float:
    """Return the log joint of one state, from the list of all tables of each document."""
    (setting,) = [setting for setting, _ in problem.settings]
    (a_1, a_2, b_1, b_2), alpha = setting, np.array(problem.alpha)
    topics, at, r, j = list(topics), 0, 0, 0
    value = np.log(word_factor(problem, topics))
    for document in problem.documents:
        n = []
        for paragraph in (p for section in document for p in section):
            own = topics[at : at + len(paragraph)]
            n.append(np.bincount(own, minlength=len(alpha)).tolist())
            at += len(paragraph)
        n_sections = len(document)
        s, t = section_tables[r : r + n_sections], paragraph_tables[j : j + len(n)]
        r, j = r + n_sections, j + len(n)
        found = networks.joint(
            [[0] * len(alpha)] * (1 + n_sections) + n,
            network_of(document),
            (alpha / alpha.sum()).tolist(),
            [0.0, *[a_1] * n_sections, *[a_2] * len(n)],
            [alpha.sum(), *[b_1] * n_sections, *[b_2] * len(n)],
            [[1.0]] * (1 + n_sections + len(n)),
            is_drawn=False,
        )
        tables = tuple(tuple(int(x) for x in row) for row in [*s, *t])
        value += np.log(sum(weight for key, weight in found.items() if key[1:] == tables))
    return float(value)
