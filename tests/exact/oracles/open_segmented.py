"""Topic models of segments with any number of topics, by enumeration in plain Python.

Every partition of the words into topics, every pair (s, t) of table counts of segments, and every
number of tables m_dk of each topic in each document, whose customers are c_dk = sum_j s_jk:

    p(z, w, s, t) = sum_m prod_d [alpha^m_d. / (alpha)_c_d. prod_k s(c_dk, m_dk)]
                    gamma^K / (gamma)_m.. prod_k (m_.k - 1)!
                    prod_j R_j (b|a)_T_j / (b)_N_j prod_k S^{N_jk}_{T_jk, a} C(T_jk, s_jk)
                    prod_k p(w_k)

Symbols as in ``segmented.py``, but that alpha and gamma are the concentrations of documents and of
the topics' weights, and eta is the Dirichlet prior of topics.
"""

from dataclasses import dataclass, field
from itertools import product
from math import comb, lgamma, log, prod

import numpy as np
from exact.oracles.hdp_topics import (
    at_most,
    factor_of_tables,
    log_density_of_weights,
    partitions_with_seeds,
    word_factor,
)
from exact.oracles.quadrature import gamma_quadrature
from exact.oracles.segmented import (
    customers_and_tables,
    dirichlet_multinomial,
    node_factor,
    rising,
    stirling,
    tables_of_document,
)


@dataclass
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
    flat: list = field(init=False)

    def __post_init__(self):
        self.flat = [[w for segment in document for w in segment] for document in self.documents]

    @property
    def n_seeded(self):
        return len(self.fixed) + len(self.seeds)


def words_factor(problem, labels):
    """Return p(w | z)."""
    hints = problem.seeds, problem.fixed
    return word_factor(problem.flat, labels, problem.eta, problem.n_words, *hints)


def counts_of_segments(problem, labels):
    """Return words of each segment by topic, document by document."""
    place, result = 0, []
    for document in problem.documents:
        counts = np.zeros((len(document), max(*labels, problem.n_seeded - 1) + 1), dtype=int)
        for j, segment in enumerate(document):
            for _ in segment:
                counts[j, labels[place]] += 1
                place += 1
        result.append(counts)
    return result


def segments_factor(problem, firsts, n, s, t):
    """Return the probability of the tables of a document's segments, but for what they order."""
    customers, tables = customers_and_tables(n, s, t)
    result = 1.0
    for j in range(len(n)):
        result *= node_factor(
            problem.discount, problem.concentration, int(customers[j].sum()), int(tables[j].sum())
        )
        if problem.model == "adaptive" and j not in firsts:
            result *= dirichlet_multinomial(problem.mixing, (s[j].sum(), t[j].sum()))
        for k in range(n.shape[1]):
            result *= stirling(int(customers[j, k]), int(tables[j, k]), problem.discount)
            result *= comb(int(tables[j, k]), int(s[j, k]))
    return result


def prior_of_customers(served, alpha, gamma, n_seeded=0):
    """Return the probability that documents order served[d, k] tables, in one order of these.

    Every seating in the franchise. `alpha` and `gamma` may be arrays.
    """
    result = 0.0
    choices = [range(1, c + 1) if c else [0] for c in served.ravel().tolist()]
    for choice in product(*choices):
        tables = np.reshape(choice, served.shape)
        ways = prod(stirling(int(c), m, 0.0) for c, m in zip(served.ravel(), choice, strict=True))
        term = ways * alpha ** int(tables.sum())
        result = result + term * factor_of_tables(tables.sum(axis=0), gamma, n_seeded)
    for c in served.sum(axis=1).tolist():
        result = result / rising(alpha, c)
    return result


def states(problem, labels):
    """Yield all table counts (s, t), lists by document, and the probability of the segments'."""
    n = counts_of_segments(problem, labels)
    every, factors = [], []
    for counts, breaks in zip(n, problem.breaks or [()] * len(n), strict=True):
        firsts = 0, *breaks
        every.append(list(tables_of_document(problem.model, firsts, counts)))
        factors.append([segments_factor(problem, firsts, counts, *pair) for pair in every[-1]])
    for choice in product(*[range(len(pairs)) for pairs in every]):
        s, t = zip(*[every[d][i] for d, i in enumerate(choice)], strict=True)
        yield s, t, prod(factors[d][i] for d, i in enumerate(choice))


class Prior:
    """Probabilities of what documents order, each made once."""

    def __init__(self, alpha, gamma, n_seeded=0):
        self.alpha, self.gamma, self.known, self.n_seeded = alpha, gamma, {}, n_seeded

    def __call__(self, s):
        served = np.array([tables.sum(axis=0) for tables in s])
        key = served.shape, served.tobytes()
        if key not in self.known:
            self.known[key] = prior_of_customers(served, self.alpha, self.gamma, self.n_seeded)
        return self.known[key]


def posterior(problem, most=None):
    """Return all partitions, their probabilities, and the expected tables of segments.

    Tables (J, 2) are those that order from the document and those that order from the segment
    before. Only partitions of at most `most` topics are possible.
    """
    every = at_most(most, partitions_with_seeds(sum(map(len, problem.flat)), problem.n_seeded))
    prior = Prior(problem.alpha, problem.gamma, problem.n_seeded)
    weights = np.zeros(len(every))
    tables = np.zeros((sum(map(len, problem.documents)), 2))
    for i, labels in enumerate(every):
        words = words_factor(problem, labels)
        for s, t, factor in states(problem, labels):
            weight = words * factor * prior(s)
            weights[i] += weight
            both = [np.concatenate([x.sum(axis=1) for x in counts]) for counts in (s, t)]
            tables += weight * np.column_stack(both)
    return every, weights / weights.sum(), tables / weights.sum()


def mean_concentrations(problem, alpha_prior, gamma_prior, most=None):
    """Return the posterior means of alpha and gamma under Gamma priors, and of K."""
    alphas, alpha_weights = gamma_quadrature(*alpha_prior)
    gammas, gamma_weights = gamma_quadrature(*gamma_prior)
    alpha, gamma = alphas[:, None], gammas[None, :]
    prior = Prior(alpha, gamma, problem.n_seeded)
    total, sums = 0.0, np.zeros(3)
    every = partitions_with_seeds(sum(map(len, problem.flat)), problem.n_seeded)
    for labels in at_most(most, every):
        words = words_factor(problem, labels)
        density = np.zeros((len(alphas), len(gammas)))
        for s, _, factor in states(problem, labels):
            density = density + words * factor * prior(s)
        density = density * alpha_weights[:, None] * gamma_weights
        total += density.sum()
        n_topics = max(*labels, problem.n_seeded - 1) + 1
        sums += [(density * alpha).sum(), (density * gamma).sum(), n_topics * density.sum()]
    return sums / total


def log_joint(problem, labels, s, t, weights, rest):
    """Return log p(w, z, s, t, beta), with the density of the weights of topics with words.

    s and t are (J, K), over all segments.
    """
    factor = words_factor(problem, labels)
    result = log(factor)
    begin = 0
    counts = counts_of_segments(problem, labels)
    for n, breaks in zip(counts, problem.breaks or [()] * len(counts), strict=True):
        end = begin + len(n)
        result += log(segments_factor(problem, (0, *breaks), n, s[begin:end], t[begin:end]))
        served = s[begin:end].sum(axis=0)
        result += lgamma(problem.alpha) - lgamma(problem.alpha + served.sum())
        for c, weight in zip(served, weights, strict=True):
            result += lgamma(problem.alpha * weight + c) - lgamma(problem.alpha * weight)
        begin = end
    return result + log_density_of_weights(weights, rest, problem.gamma, problem.n_seeded)
