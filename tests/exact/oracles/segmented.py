"""Exact answers for the topic models of segmented documents, by enumeration in plain Python.

Every assignment z of topics to tokens and every pair (s, t) of table counts is visited and
weighted by the joint (multiplicity form)

    p(z, w, s, t) = prod_k  Beta_V(gamma + M_k) / Beta_V(gamma)
                    prod_d  Beta_K(alpha + c) / Beta_K(alpha)
                            prod_j  R_j  (b|a)_{T_j} / (b)_{N_j}
                                    prod_k  S^{N_jk}_{T_jk, a}  C(T_jk, s_jk)

    z      topic of each token                     n_jk   words of segment j with topic k
    s_jk   tables whose dish comes from the document
    t_jk   tables whose dish comes from segment j - 1
    N_jk   = n_jk + t_{j+1,k} customers            T_jk   = s_jk + t_jk tables
    c_k    = sum_j s_jk                            M_kw   times that word w has topic k
    a, b   discount, concentration                 alpha, gamma   Dirichlet priors

Three models differ in where s and t are allowed, and in R_j, which integrates out the share of
tables that segment j >= 2 of the adaptive model orders from the document. With topics `phi`
given, the first product becomes prod_i phi[z_i, w_i].

A concentration with a Gamma prior is integrated out by quadrature: all weights carry a leading
axis over nodes b_g, and a fixed concentration is the rule with one node.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise, product
from math import comb, lgamma, prod

import numpy as np
from scipy.special import digamma

Tables = tuple[int, ...]

# Numbers of tables that may order from the previous segment, given segment and tables.
TABLES_TO_PREVIOUS = {
    "segmented": lambda segment, tables: (0,),
    "sequential": lambda segment, tables: (tables if segment else 0,),
    "adaptive": lambda segment, tables: range(tables + 1 if segment else 1),
}


@dataclass(frozen=True, eq=False)
class Problem:
    """Documents (lists of segments of word ids) and everything that is held fixed."""

    documents: Sequence[Sequence[Sequence[int]]]
    alpha: Sequence[float]
    discount: float
    concentration: float | None = None
    concentration_prior: tuple[float, float] = (1.0, 0.1)  # shape, rate; when it is None
    gamma: float | None = None
    n_features: int | None = None
    phi: np.ndarray | None = None  # (K, V), instead of gamma and n_features
    model: str = "segmented"
    mixing: tuple[float, float] = (1.0, 1.0)  # lambda_S, lambda_T

    @property
    def words(self) -> list[int]:
        return [w for document in self.documents for segment in document for w in segment]

    @property
    def segment_of_token(self) -> list[int]:
        segments = [segment for document in self.documents for segment in document]
        return [j for j, segment in enumerate(segments) for _ in segment]

    @property
    def doc_ptr(self) -> np.ndarray:
        return np.cumsum([0, *map(len, self.documents)])

    @cached_property
    def rule(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes and weights of the quadrature over the concentration."""
        if self.concentration is not None:
            return np.array([float(self.concentration)]), np.ones(1)
        return gamma_quadrature(*self.concentration_prior)


def gamma_quadrature(shape: float, rate: float, step: float = 0.2):
    """Trapezoids in log b, which converge geometrically: here to full precision."""
    log_b = np.arange(np.log(1e-16) / shape, np.log((60.0 + 5.0 * shape) / rate), step)
    b = np.exp(log_b)
    log_density = shape * np.log(rate) - lgamma(shape) + shape * log_b - rate * b
    return b, step * np.exp(log_density)


# --- the joint ------------------------------------------------------------------------------


def rising(x, n: int, step: float = 1.0):
    """Pochhammer symbol (x|step)_n = x (x + step) ... (x + (n - 1) step)."""
    return prod((x + i * step for i in range(n)), start=1.0)


@cache
def stirling(n: int, m: int, a: float) -> float:
    """Return the generalised Stirling number S^n_{m, a}."""
    if n == 0 or m == 0 or m > n:
        return float(n == m)
    return stirling(n - 1, m - 1, a) + (n - 1 - m * a) * stirling(n - 1, m, a)


def dirichlet_multinomial(prior, counts) -> float:
    """Beta(prior + counts) / Beta(prior)."""
    vector = prod(rising(p, int(n)) for p, n in zip(prior, counts, strict=True))
    return vector / rising(sum(prior), int(sum(counts)))


def word_factor(problem: Problem, topics: Sequence[int]) -> float:
    """Return the probability of the words given their topics, phi integrated out or given."""
    if problem.phi is not None:
        return prod(float(problem.phi[k, w]) for k, w in zip(topics, problem.words, strict=True))
    counts = np.zeros((len(problem.alpha), problem.n_features), dtype=int)
    np.add.at(counts, (list(topics), problem.words), 1)
    prior = [problem.gamma] * problem.n_features
    return prod(dirichlet_multinomial(prior, row) for row in counts)


def mixing_factor(problem: Problem, segment: int, s: int, t: int) -> float:
    """R_j: Beta(s + lambda_S, t + lambda_T) / Beta(lambda_S, lambda_T), or 1."""
    if problem.model != "adaptive" or segment == 0:
        return 1.0
    return dirichlet_multinomial(problem.mixing, (s, t))


def document_factor(problem: Problem, n: np.ndarray, s: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return a document's part of the joint at every node; n, s, t are (n_segments, K)."""
    a, (b, _) = problem.discount, problem.rule
    customers, tables = customers_and_tables(n, s, t)
    weight = np.full(len(b), dirichlet_multinomial(problem.alpha, s.sum(axis=0)))
    for j in range(len(n)):
        weight *= mixing_factor(problem, j, int(s[j].sum()), int(t[j].sum()))
        weight *= rising(b, int(tables[j].sum()), a) / rising(b, int(customers[j].sum()))
        for N, T, S in zip(customers[j], tables[j], s[j], strict=True):
            weight *= stirling(int(N), int(T), a) * comb(int(T), int(S))
    return weight


def customers_and_tables(n, s, t) -> tuple[np.ndarray, np.ndarray]:
    """N_jk and T_jk: a table that orders from the previous segment is a customer there."""
    from_next = np.zeros_like(t)
    from_next[:-1] = t[1:]
    return n + from_next, s + t


def log_joint(problem: Problem, topics, tables_to_document, tables_to_previous=None) -> float:
    """Return the log of the joint at one state, all constants included."""
    s = np.asarray(tables_to_document)
    t = np.zeros_like(s) if tables_to_previous is None else np.asarray(tables_to_previous)
    n = word_counts(problem, topics)
    value = np.log(word_factor(problem, topics))
    for d, e in segment_ranges(problem):
        value += np.log(document_factor(problem, n[d:e], s[d:e], t[d:e]).item())
    return float(value)


def word_counts(problem: Problem, topics) -> np.ndarray:
    """n_jk over all segments of all documents."""
    n = np.zeros((problem.doc_ptr[-1], len(problem.alpha)), dtype=int)
    np.add.at(n, (problem.segment_of_token, list(topics)), 1)
    return n


def segment_ranges(problem: Problem) -> list[tuple[int, int]]:
    return list(pairwise(problem.doc_ptr))


# --- estimates given a state ----------------------------------------------------------------


def estimates(problem: Problem, n, s, t) -> tuple[np.ndarray, np.ndarray]:
    """E[mu] (K,) and, at every node, E[nu] (n_nodes, n_segments, K), given a document's state."""
    a, (b, _) = problem.discount, problem.rule
    alpha, c = np.asarray(problem.alpha, dtype=float), s.sum(axis=0)
    customers, tables = customers_and_tables(n, s, t)
    mu = (alpha + c) / (alpha.sum() + c.sum())
    nu = np.empty((len(b), *n.shape))
    previous = np.broadcast_to(mu, (len(b), len(mu)))
    for j in range(len(n)):
        to_document = 1.0 if j == 0 else mean_weight_of_document(problem, s[j].sum(), t[j].sum())
        base = to_document * mu + (1.0 - to_document) * previous
        total, n_tables = customers[j].sum(), tables[j].sum()
        from_base = (b + a * n_tables) / (b + total)
        nu[:, j] = (customers[j] - a * tables[j]) / (b + total)[:, None]
        nu[:, j] += from_base[:, None] * base
        previous = nu[:, j]
    return mu, nu


def mean_weight_of_document(problem: Problem, s: int, t: int) -> float:
    """Return the posterior mean of the weight of mu in the base of a segment j >= 2."""
    if problem.model == "adaptive":
        lambda_s, lambda_t = problem.mixing
        return (s + lambda_s) / (s + t + lambda_s + lambda_t)
    return 1.0 if problem.model == "segmented" else 0.0


# --- enumeration ----------------------------------------------------------------------------


def tables_of_topic(model: str, words: Sequence[int]) -> Iterator[tuple[Tables, Tables]]:
    """All (s, t) of one topic that has words[j] words in segment j."""

    def extend(j: int, from_next: int):
        if j < 0:
            yield (), ()
            return
        customers = words[j] + from_next
        for tables in range(min(customers, 1), customers + 1):
            for t_j in TABLES_TO_PREVIOUS[model](j, tables):
                for s, t in extend(j - 1, t_j):
                    yield (*s, tables - t_j), (*t, t_j)

    return extend(len(words) - 1, 0)


def tables_of_document(model: str, n: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All (s, t), each (n_segments, K), of a document with word counts n."""
    per_topic = [list(tables_of_topic(model, tuple(column))) for column in n.T.tolist()]
    for choice in product(*per_topic):
        s, t = zip(*choice, strict=True)
        yield np.array(s, dtype=int).T, np.array(t, dtype=int).T


@dataclass
class DocumentSum:
    """Sum over the tables of a document with given word counts; means are per node."""

    weight: np.ndarray  # (G,)
    log_weight: np.ndarray  # (G,)
    s: np.ndarray  # (G, J, K)
    t: np.ndarray
    mu: np.ndarray  # (G, K)
    nu: np.ndarray  # (G, J, K)


def sum_over_tables(problem: Problem, n: np.ndarray) -> DocumentSum:
    states = list(tables_of_document(problem.model, n))
    weights = np.array([document_factor(problem, n, s, t) for s, t in states])
    total = weights.sum(axis=0)
    share = weights / total
    with_estimates = [estimates(problem, n, s, t) for s, t in states]
    return DocumentSum(
        weight=total,
        log_weight=(share * np.log(weights)).sum(axis=0),
        s=np.einsum("ig,ijk->gjk", share, np.array([s for s, _ in states])),
        t=np.einsum("ig,ijk->gjk", share, np.array([t for _, t in states])),
        mu=np.einsum("ig,ik->gk", share, np.array([mu for mu, _ in with_estimates])),
        nu=np.einsum("ig,igjk->gjk", share, np.array([nu for _, nu in with_estimates])),
    )


@dataclass
class Posterior:
    """Posterior means; rows follow the tokens, documents and segments of the problem."""

    log_evidence: float
    coassignment: np.ndarray  # (n_tokens, n_tokens): P(z_i = z_j)
    topics: np.ndarray  # (n_tokens, K): P(z_i = k)
    tables_to_document: np.ndarray  # (n_segments, K)
    tables_to_previous: np.ndarray
    mu: np.ndarray  # (n_documents, K)
    nu: np.ndarray  # (n_segments, K)
    log_joint: float
    concentration: float


def enumerate_posterior(problem: Problem) -> Posterior:
    """Visit every z; the tables are summed out, a document at a time, once per word counts."""
    n_topics, n_tokens = len(problem.alpha), len(problem.words)
    ranges, n_segments = segment_ranges(problem), problem.doc_ptr[-1]
    nodes, prior = problem.rule
    sums: dict[bytes, DocumentSum] = {}

    evidence, log_joint_sum, concentration = 0.0, 0.0, 0.0
    coassignment = np.zeros((n_tokens, n_tokens))
    marginals = np.zeros((n_tokens, n_topics))
    s, t, nu = np.zeros((3, n_segments, n_topics))
    mu = np.zeros((len(ranges), n_topics))
    for z in product(range(n_topics), repeat=n_tokens):
        n = word_counts(problem, z)
        documents = []
        for first, last in ranges:
            key = n[first:last].tobytes()
            if key not in sums:
                sums[key] = sum_over_tables(problem, n[first:last])
            documents.append(sums[key])
        words = word_factor(problem, z)
        weight = prior * words * prod(document.weight for document in documents)

        evidence += weight.sum()
        concentration += weight @ nodes
        log_joint_sum += weight @ (np.log(words) + sum(doc.log_weight for doc in documents))
        indicator = np.equal.outer(z, range(n_topics))
        marginals += weight.sum() * indicator
        coassignment += weight.sum() * (indicator @ indicator.T)
        for d, (document, (first, last)) in enumerate(zip(documents, ranges, strict=True)):
            mu[d] += weight @ document.mu
            s[first:last] += np.tensordot(weight, document.s, 1)
            t[first:last] += np.tensordot(weight, document.t, 1)
            nu[first:last] += np.tensordot(weight, document.nu, 1)
    return Posterior(
        log_evidence=float(np.log(evidence)),
        coassignment=coassignment / evidence,
        topics=marginals / evidence,
        tables_to_document=s / evidence,
        tables_to_previous=t / evidence,
        mu=mu / evidence,
        nu=nu / evidence,
        log_joint=log_joint_sum / evidence,
        concentration=concentration / evidence,
    )


def fold_in(problem: Problem) -> list[Posterior]:
    """Posterior of each document by itself: topics given, a concentration of its own."""
    return [
        enumerate_posterior(replace(problem, documents=[document]))
        for document in problem.documents
    ]


def completion(problem: Problem) -> np.ndarray:
    """Summed log predictive of each document's tokens at odd positions of their segments.

    The tokens at even positions infer: p(w) = sum_k E[nu_jk | even tokens] phi_kw.
    """
    even = replace(
        problem, documents=[[segment[::2] for segment in doc] for doc in problem.documents]
    )
    return np.array([
        sum(
            np.log(nu_j @ problem.phi[:, w])
            for nu_j, segment in zip(posterior.nu, document, strict=True)
            for w in segment[1::2]
        )
        for document, posterior in zip(problem.documents, fold_in(even), strict=True)
    ])  # fmt: skip


def enumerate_lda(problem: Problem) -> np.ndarray:
    """Co-assignment matrix of LDA, each document the bag of all its words."""
    ptr = np.cumsum([0, *(sum(map(len, document)) for document in problem.documents)])
    coassignment, evidence = 0.0, 0.0
    for z in product(range(len(problem.alpha)), repeat=len(problem.words)):
        weight = word_factor(problem, z)
        for first, last in pairwise(ptr):
            counts = np.bincount(z[first:last], minlength=len(problem.alpha))
            weight *= dirichlet_multinomial(problem.alpha, counts)
        evidence += weight
        coassignment += weight * np.equal.outer(z, z)
    return coassignment / evidence


# --- the Dirichlet priors -------------------------------------------------------------------


def log_dirichlet_posterior(prior, counts, shape: float, rate: float) -> float:
    """Log likelihood of the rows of counts, plus the log density of Gamma(shape, rate) priors.

    `prior` is a vector, each entry under its own Gamma prior, or one number for all columns,
    under one Gamma prior.
    """
    vector = np.broadcast_to(np.asarray(prior, dtype=float), counts.shape[1])
    rows = [np.log(dirichlet_multinomial(vector, row)) for row in counts]
    return float(np.sum(rows) + np.sum((shape - 1.0) * np.log(prior) - rate * np.asarray(prior)))


def dirichlet_gradient(prior, counts, shape: float, rate: float) -> np.ndarray:
    """Return the gradient of `log_dirichlet_posterior` in its digamma form."""
    vector = np.broadcast_to(np.asarray(prior, dtype=float), counts.shape[1])
    total, totals = vector.sum(), counts.sum(axis=1)
    per_row = np.sum(digamma(total) - digamma(total + totals))
    likelihood = per_row + np.sum(digamma(vector + counts) - digamma(vector), axis=0)
    if np.ndim(prior) == 0:
        likelihood = likelihood.sum()
    return likelihood + (shape - 1.0) / np.asarray(prior) - rate
