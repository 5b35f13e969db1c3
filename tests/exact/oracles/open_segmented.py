"""Topic models with any number of topics, by enumeration in plain Python.

Every partition of the words into topics and every pair (s, t) of table counts of segments:

    p(z, w, s, t) = p(c) prod_j R_j (b|a)_T_j / (b)_N_j prod_k S^{N_jk}_{T_jk, a} C(T_jk, s_jk)
                    prod_k p(w_k)

Symbols as in ``segmented.py``, but that alpha and gamma are the concentrations of documents and of
the topics' weights, and eta is the Dirichlet prior of topics. p(c) is the prior in
``hdp_topics.py`` of the topics of customers c_dk = sum_j s_jk. Without tables of segments (model
"hdp") words are the customers of documents.

There may be topics with seed words, which exist without words, too. They have a Dirichlet prior
eta + seeds. The first of these topics may be fixed: their word probabilities are given. Labels are
a condition on z."""

from dataclasses import dataclass
from itertools import pairwise, product
from math import log, prod

import numpy as np
from exact.oracles.bursts import count_customers, seatings
from exact.oracles.enumeration import word_factor
from exact.oracles.hdp_topics import (
    counts_of,
    log_prior_of_customers,
    mean_over_partitions,
    partitions,
    prior_of_customers,
)
from exact.oracles.segmented import segments_factor, tables_of_document


@dataclass(frozen=True, eq=False)
class Problem:
    """Documents (lists of segments of word ids) and everything that is held fixed."""

    documents: list
    n_words: int
    alpha: float = 1.3
    gamma: float = 0.8
    eta: float = 0.4
    discount: float = 0.0
    concentration: float = 2.0
    model: str = "segmented"
    mixing: tuple = (1.0, 1.0)
    breaks: list | None = None  # per document: segments that follow none
    seeds: tuple = ()  # pseudo-counts of words in the topics that exist without words, too
    fixed: tuple = ()  # word probabilities of the topics before these, which also exist
    labels: list | None = None  # per document: topics that its words may have, or None
    bursts: tuple | None = None  # discount and concentration of the bursts of documents

    @property
    def segments(self):
        return [segment for document in self.documents for segment in document]

    @property
    def words(self):
        return [w for segment in self.segments for w in segment]

    @property
    def firsts(self):
        """Segments of each document that have no parent but the document."""
        return [(0, *breaks) for breaks in self.breaks or [()] * len(self.documents)]

    @property
    def n_known(self):
        """The number of topics that exist without words."""
        return len(self.fixed) + len(self.seeds)

    def partitions(self, most=None):
        """Return all partitions into at most `most` topics that obey the labels."""
        every = partitions(len(self.words), self.n_known, most)
        if self.labels is None:
            return every
        sets = [
            range(len(every)) if allowed is None else allowed
            for document, allowed in zip(self.documents, self.labels, strict=True)
            for segment in document
            for _ in segment
        ]
        return [z for z in every if all(k in s for k, s in zip(z, sets, strict=True))]


def words_factor(problem, labels):
    """Return p(w | z)."""
    n_new = max(*labels, problem.n_known - 1) + 1 - problem.n_known
    rows = [*problem.seeds, *[(0.0,) * problem.n_words] * n_new]
    prior = [[problem.eta + s for s in row] for row in rows]
    if problem.bursts is None:
        return word_factor(problem.words, labels, prior, problem.fixed)
    a, b = (np.array([[value]]) for value in problem.bursts)
    nodes = [[w for segment in document for w in segment] for document in problem.documents]
    result = 0.0
    for tables, factor in seatings(count_customers(nodes, labels), a, b):
        keys = [key for key, t in tables.items() for _ in range(t)]
        topics, words = [k for _, k, _ in keys], [w for _, _, w in keys]
        result += float(factor.item()) * word_factor(words, topics, prior, problem.fixed)
    return result


def tables_of_documents(problem, labels):
    """Yield all table counts (s, t), (J, K) over all segments, and the probability of segments."""
    n = counts_of(problem.segments, labels, problem.n_known)
    if problem.model == "hdp":  # all words are customers of documents
        yield n, np.zeros_like(n), 1.0
        return
    every = []
    for firsts, counts in zip(problem.firsts, by_document(problem, n), strict=True):
        tables = tables_of_document(problem.model, firsts, counts)
        every.append([(*pair, factor_of(problem, firsts, counts, *pair)) for pair in tables])
    for choice in product(*every):
        s, t, factors = zip(*choice, strict=True)
        yield np.concatenate(s), np.concatenate(t), prod(factors)


def factor_of(problem, firsts, n, s, t):
    return segments_factor(problem, firsts, n, s, t, [problem.concentration] * len(n))


def by_document(problem, rows):
    """Return the rows of the segments of each document."""
    ends = np.cumsum([0, *map(len, problem.documents)])
    return [rows[b:e] for b, e in pairwise(ends)]


def customers_of(problem, s):
    """Return the customers of documents by topic, (D, K)."""
    return np.array([tables.sum(axis=0) for tables in by_document(problem, s)])


def joint(problem, labels, alpha, gamma, known):
    """Yield all table counts and the joint; the dict `known` keeps p(c), which recurs."""
    words = words_factor(problem, labels)
    for s, t, factor in tables_of_documents(problem, labels):
        customers = customers_of(problem, s)
        key = customers.shape, customers.tobytes()
        if key not in known:
            known[key] = prior_of_customers(customers, alpha, gamma, problem.n_known)
        yield s, t, words * factor * known[key]


def posterior(problem, most=None):
    """Return all partitions, their probabilities, and the expected tables of segments. Tables (J,
    2) are those that order from the document and those that order from the segment before. Only
    partitions of at most `most` topics are possible."""
    every, known = problem.partitions(most), {}
    weights, tables = np.zeros(len(every)), np.zeros((len(problem.segments), 2))
    for i, labels in enumerate(every):
        for s, t, weight in joint(problem, labels, problem.alpha, problem.gamma, known):
            weights[i] += weight
            tables += weight * np.stack([s.sum(axis=1), t.sum(axis=1)], axis=1)
    return every, weights / weights.sum(), tables / weights.sum()


def mean_concentrations(problem, alpha_prior, gamma_prior, most=None):
    """Return the posterior means of alpha and gamma under Gamma priors, and of K."""
    known = {}

    def density(labels, alpha, gamma):
        return sum(weight for *_, weight in joint(problem, labels, alpha, gamma, known))

    every = problem.partitions(most)
    return mean_over_partitions(every, density, alpha_prior, gamma_prior, problem.n_known)


def log_joint(problem, labels, s, t, weights, rest):
    """Return log p(w, z, s, t, beta), with the density of the weights of topics with words. s and t
    are (J, K), over all segments; the model "hdp" has none."""
    n = counts_of(problem.segments, labels, problem.n_known)
    result = log(words_factor(problem, labels))
    if problem.model == "hdp":
        s = n
    else:
        parts = (by_document(problem, x) for x in (n, s, t))
        for each in zip(problem.firsts, *parts, strict=True):
            result += log(factor_of(problem, *each))
    return result + log_prior_of_customers(
        customers_of(problem, s), weights, rest, problem.alpha, problem.gamma, problem.n_known
    )
