"""Exact answers for topics in documents of sections of paragraphs, by enumeration in plain Python.

Every assignment of topics to words is visited. The tables of each document are those of a network
of Pitman-Yor processes (see `networks`): its root has the discount 0, the concentration
A = sum alpha and the base alpha / A, which is the Dirichlet(alpha) of the document's shares; each
section has the root as its parent, and each paragraph its section. The tables of the root are
summed out.

A document is a list of sections, lists of paragraphs, which are lists of word ids. Parameters of
sections and of paragraphs are pairs; one that is None is integrated out by quadrature."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from types import SimpleNamespace

import numpy as np
from exact.oracles import networks
from exact.oracles.enumeration import Words, average, of_topics, split
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature


@dataclass(frozen=True, eq=False)
class Problem(Words):
    documents: Sequence[Sequence[Sequence[Sequence[int]]]]
    alpha: Sequence[float]
    discount: tuple[float | None, float | None] = (0.0, 0.0)
    concentration: tuple[float | None, float | None] = (1.0, 1.0)
    discount_prior: tuple[float, float] = (1.0, 1.0)
    concentration_prior: tuple[float, float] = (1.0, 0.1)

    @property
    def paragraphs(self) -> list[Sequence[int]]:
        return [paragraph for document in self.documents for s in document for paragraph in s]

    @property
    def words(self) -> list[int]:
        return [w for paragraph in self.paragraphs for w in paragraph]

    @cached_property
    def settings(self) -> list[tuple[tuple[float, ...], float]]:
        """All (a_1, a_2, b_1, b_2) of the quadrature, and their weights."""
        of_a = beta_quadrature(*self.discount_prior, 16)
        of_b = gamma_quadrature(*self.concentration_prior, 0.3)
        pairs = [(a, of_a) for a in self.discount] + [(b, of_b) for b in self.concentration]
        rules = [
            list(zip(*rule, strict=True)) if value is None else [(value, 1.0)]
            for value, rule in pairs
        ]
        found = []
        for chosen in product(*rules):
            values, weights = zip(*chosen, strict=True)
            if prod(weights) > 1e-9:
                found.append((tuple(map(float, values)), float(prod(weights))))
        return found


def tables_of_document(problem: Problem, document, n: np.ndarray, setting) -> dict:
    """Return the probability of all tables of sections and paragraphs, (n_nodes, K). The paragraphs
    have the words `n` by topic."""
    (a_1, a_2, b_1, b_2), alpha = setting, np.array(problem.alpha)
    n_sections, n_paragraphs = len(document), len(n)
    of_paragraphs = [[1 + r] for r, section in enumerate(document) for _ in section]
    found = networks.joint(
        [[0] * len(alpha)] * (1 + n_sections) + n.tolist(),
        [[], *[[0]] * n_sections, *of_paragraphs],
        (alpha / alpha.sum()).tolist(),
        [0.0, *[a_1] * n_sections, *[a_2] * n_paragraphs],
        [alpha.sum(), *[b_1] * n_sections, *[b_2] * n_paragraphs],
        [[1.0]] * (1 + n_sections + n_paragraphs),
        is_drawn=False,
    )
    states: dict = {}
    for tables, weight in found.items():
        states[tables[1:]] = states.get(tables[1:], 0.0) + weight
    return states


def sum_over_tables(problem: Problem, document, n: np.ndarray, setting) -> SimpleNamespace:
    """Return means over the tables of a document whose paragraphs have the words `n` by topic.
    Those of the document, (1, K), its sections and its paragraphs."""
    (a_1, a_2, b_1, b_2), alpha = setting, np.array(problem.alpha)
    above = [r for r, section in enumerate(document) for _ in section]

    def states():
        for tables, weight in tables_of_document(problem, document, n, setting).items():
            s, t = np.split(np.reshape(tables, (-1, len(alpha))), [len(document)])
            mu = (alpha + s.sum(axis=0)) / (alpha.sum() + s.sum())
            sections, paragraphs = np.zeros(s.shape), np.zeros(t.shape)
            for r in range(len(document)):
                customers = t[[j for j, section in enumerate(above) if section == r]].sum(axis=0)
                rest = (b_1 + a_1 * s[r].sum()) * mu
                sections[r] = (customers - a_1 * s[r] + rest) / (b_1 + customers.sum())
            for j, r in enumerate(above):
                rest = (b_2 + a_2 * t[j].sum()) * sections[r]
                paragraphs[j] = (n[j] - a_2 * t[j] + rest) / (b_2 + n[j].sum())
            yield (
                weight,
                {
                    "log_weight": np.log(weight), "section_tables": s, "paragraph_tables": t,
                    "mu": [mu], "sections": sections, "paragraphs": paragraphs,
                },
            )  # fmt: skip

    return average(states())


def counts_of_paragraphs(problem: Problem, topics) -> list[np.ndarray]:
    """Return the words by topic of the paragraphs of each document."""
    n_topics = len(problem.alpha)
    each = split(topics, map(len, problem.paragraphs))
    counts = [[of_words.count(k) for k in range(n_topics)] for of_words in each]
    lengths = [sum(map(len, document)) for document in problem.documents]
    return [np.reshape(rows, (-1, n_topics)).astype(int) for rows in split(counts, lengths)]


def enumerate_posterior(problem: Problem) -> dict[str, np.ndarray]:
    """Return posterior means by name; those of nodes are stacked over the documents."""
    n_topics, known = len(problem.alpha), {}

    def means_of(d, n, setting):
        key = d, n.tobytes(), setting
        if key not in known:
            known[key] = sum_over_tables(problem, problem.documents[d], n, setting)
        return known[key]

    def states():
        for setting, prior in problem.settings:
            for z in product(range(n_topics), repeat=len(problem.words)):
                words = problem.word_factor(z, n_topics)
                counts = counts_of_paragraphs(problem, z)
                documents = [vars(means_of(d, n, setting)) for d, n in enumerate(counts)]
                means = {
                    name: np.concatenate([each[name] for each in documents])
                    for name in documents[0]
                    if name not in ("log_weight", "log_evidence")
                }
                yield (
                    prior * words * np.exp(sum(x["log_evidence"] for x in documents)),
                    {
                        **of_topics(z, n_topics),
                        **means,
                        "log_joint": np.log(words) + sum(x["log_weight"] for x in documents),
                        "setting": setting,
                    },
                )

    return vars(average(states()))


def log_joint(problem: Problem, topics, section_tables, paragraph_tables) -> float:
    """Return the log joint of one state, from the list of all tables of each document."""
    ((setting, _),) = problem.settings
    value = np.log(problem.word_factor(topics, len(problem.alpha)))
    counts = counts_of_paragraphs(problem, list(topics))
    sections = split(section_tables, map(len, problem.documents))
    paragraphs = split(paragraph_tables, map(len, counts))
    for document, n, s, t in zip(problem.documents, counts, sections, paragraphs, strict=True):
        tables = tuple(tuple(int(x) for x in row) for row in [*s, *t])
        value += np.log(tables_of_document(problem, document, n, setting)[tables])
    return float(value)
