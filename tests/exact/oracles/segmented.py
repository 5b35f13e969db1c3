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
tables that segment j >= 2 of the adaptive model orders from the document. At a known break no
table orders from the previous segment: the segment is like the first one of its document. With
topics `phi` given, the first product becomes prod_i phi[z_i, w_i].

A discount with a Beta prior and concentrations with a Gamma prior are integrated out by quadrature:
weights carry an axis over nodes of a and one over nodes of b, and what is fixed is a rule with one
node. The corpus may share one b, or each document or each segment has a b of its own: then b is
summed out as soon as its document, or its segment's factor (b|a)_T / (b)_N, is complete.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise, product
from math import comb, prod

import numpy as np
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature
from scipy.special import digamma

Tables = tuple[int, ...]

# Numbers of tables that may order from the previous segment.
TABLES_TO_PREVIOUS = {
    "segmented": lambda is_first, tables: (0,),
    "sequential": lambda is_first, tables: (0 if is_first else tables,),
    "adaptive": lambda is_first, tables: range(1 if is_first else tables + 1),
}


@dataclass(frozen=True, eq=False)
class Problem:
    """Documents (lists of segments of word ids) and everything that is held fixed."""

    documents: Sequence[Sequence[Sequence[int]]]
    alpha: Sequence[float]
    discount: float | None = None
    concentration: float | np.ndarray | None = None  # (n_segments,) for `log_joint` alone
    discount_prior: tuple[float, float] = (1.0, 1.0)  # of a Beta distribution; when it is None
    concentration_prior: tuple[float, float] = (1.0, 0.1)  # shape, rate; when it is None
    scope: str = "corpus"  # or "document", "segment": what has a concentration of its own
    gamma: float | None = None
    n_features: int | None = None
    seeds: np.ndarray | None = None  # (K, V), pseudo-counts that are added to gamma
    phi: np.ndarray | None = None  # (K, V), instead of gamma and n_features
    fixed: np.ndarray | None = None  # (F, V), phi of the first topics
    model: str = "segmented"
    mixing: tuple[float, float] = (1.0, 1.0)  # lambda_S, lambda_T
    breaks: Sequence[tuple[int, ...]] | None = None  # per document: segments that follow none
    n_nodes: int = 24  # of the quadrature over the discount
    step: float = 0.2  # of the quadrature over log b

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

    def firsts(self, d: int) -> tuple[int, ...]:
        """Segments of document d that have no parent but the document."""
        return (0, *(self.breaks[d] if self.breaks is not None else ()))

    @cached_property
    def discount_rule(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes and weights of the quadrature over the discount."""
        if self.discount is not None:
            return np.array([float(self.discount)]), np.ones(1)
        return beta_quadrature(*self.discount_prior, self.n_nodes)

    @cached_property
    def concentration_rule(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes and weights of the quadrature over the concentration."""
        if self.concentration is not None:
            return np.array([float(self.concentration)]), np.ones(1)
        return gamma_quadrature(*self.concentration_prior, self.step)


# --- the joint ------------------------------------------------------------------------------


def rising(x, n: int, step: float = 1.0):
    """Pochhammer symbol (x|step)_n = x (x + step) ... (x + (n - 1) step)."""
    return prod((x + i * step for i in range(n)), start=1.0)


@cache
def stirling(n: int, m: int, a: float) -> float:
    """Return the generalized Stirling number S^n_{m, a}."""
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
    prior = np.full(counts.shape, problem.gamma)
    if problem.seeds is not None:
        prior = prior + problem.seeds
    fixed = [] if problem.fixed is None else problem.fixed
    given = prod(float(p) ** n for p, n in zip(np.ravel(fixed), counts.ravel(), strict=False))
    rows = zip(prior.tolist(), counts, strict=True)
    return given * prod(dirichlet_multinomial(*pair) for pair in list(rows)[len(fixed) :])


def mixing_factor(problem: Problem, is_first: bool, s: int, t: int) -> float:
    """R_j: Beta(s + lambda_S, t + lambda_T) / Beta(lambda_S, lambda_T), or 1."""
    if problem.model != "adaptive" or is_first:
        return 1.0
    return dirichlet_multinomial(problem.mixing, (s, t))


def node_factor(a, b, customers: int, tables: int):
    """(b|a)_T / (b)_N of a segment."""
    return rising(b, tables, a) / rising(b, customers)


def customers_and_tables(n, s, t) -> tuple[np.ndarray, np.ndarray]:
    """N_jk and T_jk: a table that orders from the previous segment is a customer there.

    The last two axes of s and t are those of segments and topics.
    """
    from_next = np.zeros_like(t)
    from_next[..., :-1, :] = t[..., 1:, :]
    return n + from_next, s + t


def log_joint(problem: Problem, topics, tables_to_document, tables_to_previous=None) -> float:
    """Return the log of the joint at one state, all constants included."""
    s = np.asarray(tables_to_document)
    t = np.zeros_like(s) if tables_to_previous is None else np.asarray(tables_to_previous)
    n, a = word_counts(problem, topics), problem.discount
    b = np.broadcast_to(problem.concentration, len(n))
    value = np.log(word_factor(problem, topics))
    for d, (first, last) in enumerate(segment_ranges(problem)):
        customers, tables = customers_and_tables(n[first:last], s[first:last], t[first:last])
        value += np.log(dirichlet_multinomial(problem.alpha, s[first:last].sum(axis=0)))
        for j, (N, T) in enumerate(zip(customers, tables, strict=True)):
            value += np.log(node_factor(a, b[first + j], int(N.sum()), int(T.sum())))
            in_all = int(s[first + j].sum()), int(t[first + j].sum())
            value += np.log(mixing_factor(problem, j in problem.firsts(d), *in_all))
            for k in range(len(N)):
                value += np.log(stirling(int(N[k]), int(T[k]), a))
                value += np.log(comb(int(T[k]), int(s[first + j, k])))
    return float(value)


def word_counts(problem: Problem, topics) -> np.ndarray:
    """n_jk over all segments of all documents."""
    n = np.zeros((problem.doc_ptr[-1], len(problem.alpha)), dtype=int)
    np.add.at(n, (problem.segment_of_token, list(topics)), 1)
    return n


def segment_ranges(problem: Problem) -> list[tuple[int, int]]:
    return list(pairwise(problem.doc_ptr))


# --- enumeration ----------------------------------------------------------------------------


def tables_of_topic(
    model: str, firsts: Tables, words: Sequence[int]
) -> Iterator[tuple[Tables, Tables]]:
    """All (s, t) of one topic that has words[j] words in segment j."""

    def extend(j: int, from_next: int):
        if j < 0:
            yield (), ()
            return
        customers = words[j] + from_next
        for tables in range(min(customers, 1), customers + 1):
            for t_j in TABLES_TO_PREVIOUS[model](j in firsts, tables):
                for s, t in extend(j - 1, t_j):
                    yield (*s, tables - t_j), (*t, t_j)

    return extend(len(words) - 1, 0)


def tables_of_document(
    model: str, firsts: Tables, n: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All (s, t), each (n_segments, K), of a document with word counts n."""
    per_topic = [list(tables_of_topic(model, firsts, tuple(column))) for column in n.T.tolist()]
    for choice in product(*per_topic):
        s, t = zip(*choice, strict=True)
        yield np.array(s, dtype=int).T, np.array(t, dtype=int).T


@dataclass
class DocumentSum:
    """Sum over the tables of a document with given word counts; means are per node.

    A and B count the nodes of the discount and of a concentration that all documents share.
    """

    weight: np.ndarray  # (A, B)
    log_weight: np.ndarray  # (A, B)
    s: np.ndarray  # (A, B, J, K)
    t: np.ndarray
    mu: np.ndarray  # (A, B, K)
    nu: np.ndarray  # (A, B, J, K)
    weight_of_document: np.ndarray  # (A, B, J)
    concentration: np.ndarray  # (A, B, 1), or (A, B, J) if each segment has its own


def sum_over_tables(problem: Problem, firsts: Tables, n: np.ndarray) -> DocumentSum:
    """Weigh all (s, t) of a document at once: arrays are (n_states, A, B or 1, ...)."""
    states = tables_of_document(problem.model, firsts, n)
    s, t = (np.array(x) for x in zip(*states, strict=True))
    customers, tables = customers_and_tables(n, s, t)
    a, (b, prior) = problem.discount_rule[0], problem.concentration_rule
    per_segment, per_document = (problem.scope == x for x in ("segment", "document"))
    constants = [document_constant(problem, firsts, *pair) for pair in zip(s, t, strict=True)]
    weight = np.array(constants)
    weight = weight[:, None, None] * tables_factor(customers, tables, a)[:, :, None]
    weight = np.repeat(weight, 1 if per_segment else len(b), axis=2)
    log_weight = np.log(weight)
    mu = np.array(problem.alpha) + s.sum(axis=1)
    mu = (mu / mu.sum(axis=1, keepdims=True))[:, None, None]
    shares = weights_of_document(problem, firsts, s.sum(axis=2), t.sum(axis=2))
    nu, previous = np.empty((*weight.shape, *n.shape)), mu
    own = np.empty((*weight.shape, len(n) if per_segment else 1))
    own[...] = b[:, None] if not per_segment else 0.0

    for j in range(len(n)):
        N, T = customers[:, j].sum(axis=1), tables[:, j].sum(axis=1)
        factor = node_factors(a, b, N, T)
        total = (factor * prior).sum(axis=2, keepdims=True)

        def mean(values, share=factor * prior / total):
            """Mean over the segment's own concentration, if it has one."""
            return (share * values).sum(axis=2, keepdims=True) if per_segment else values

        weight = weight * (total if per_segment else factor)
        log_weight = log_weight + mean(np.log(factor))
        if per_segment:
            own[..., j] = mean(b)
        N, T = N[:, None, None], T[:, None, None]
        here = shares[:, None, None, j, None]
        base = here * mu + (1.0 - here) * previous
        rest = customers[:, None, None, j] - a[:, None, None] * tables[:, None, None, j]
        from_base = mean((b + a[:, None] * T) / (b + N))
        nu[..., j, :] = rest * mean(1.0 / (b + N))[..., None] + from_base[..., None] * base
        previous = nu[..., j, :]

    if per_document:
        weight = weight * prior
    axes = (0, 2) if per_document else 0
    total = weight.sum(axis=axes, keepdims=True)
    share = weight / total
    share_of_state = share.sum(axis=2, keepdims=True) if per_document else share

    def expect(values):
        extra = (1,) * (values.ndim - 3)
        return (share.reshape(*share.shape, *extra) * values).sum(axis=axes, keepdims=True)[0]

    def expect_at_state(values):
        return np.einsum("iab,i...->ab...", share_of_state, values)

    return DocumentSum(
        weight=total[0],
        log_weight=expect(log_weight),
        s=expect_at_state(s),
        t=expect_at_state(t),
        mu=expect_at_state(mu[:, 0, 0]),
        nu=expect(nu),
        weight_of_document=expect_at_state(shares),
        concentration=expect(own),
    )


def document_constant(problem: Problem, firsts: Tables, s: np.ndarray, t: np.ndarray) -> float:
    """Return the factors of a document's joint that hold neither a nor b."""
    value = dirichlet_multinomial(problem.alpha, s.sum(axis=0))
    for j, (s_j, t_j) in enumerate(zip(s.tolist(), t.tolist(), strict=True)):
        value *= mixing_factor(problem, j in firsts, sum(s_j), sum(t_j))
        value *= prod(comb(x + y, x) for x, y in zip(s_j, t_j, strict=True))
    return value


def tables_factor(customers: np.ndarray, tables: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Product of the generalized Stirling numbers of each state, (n_states, A)."""
    largest = int(customers.max(initial=0)) + 1
    numbers = np.array([
        [[stirling(n, m, x) for x in a.tolist()] for m in range(largest)] for n in range(largest)
    ])  # fmt: skip
    return numbers[customers, tables].prod(axis=(1, 2))


def node_factors(a: np.ndarray, b: np.ndarray, customers, tables) -> np.ndarray:
    """`node_factor` of each state, (n_states, A, B)."""
    pairs, state = np.unique(np.stack([customers, tables]), axis=1, return_inverse=True)
    factors = [node_factor(a[:, None], b, N, T) for N, T in pairs.T.tolist()]
    return np.array([np.broadcast_to(factor, (len(a), len(b))) for factor in factors])[
        state.reshape(-1)
    ]


def weights_of_document(
    problem: Problem, firsts: Tables, s: np.ndarray, t: np.ndarray
) -> np.ndarray:
    """Return the posterior mean of the weight of mu in the base of each segment.

    s and t are tables in all, (n_states, n_segments), and so are the weights.
    """
    weights = np.ones(s.shape)
    later = [j for j in range(s.shape[1]) if j not in firsts]
    if problem.model == "sequential":
        weights[:, later] = 0.0
    elif problem.model == "adaptive":
        lambda_s, lambda_t = problem.mixing
        weights[:, later] = ((s + lambda_s) / (s + t + lambda_s + lambda_t))[:, later]
    return weights


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
    weight_of_document: np.ndarray  # (n_segments,), of mu in the base of a segment
    log_joint: float
    discount: float
    concentration: float | np.ndarray  # an array if documents or segments have their own


def enumerate_posterior(problem: Problem) -> Posterior:
    """Visit every z; the tables are summed out, a document at a time, once per word counts."""
    n_topics, n_tokens = len(problem.alpha), len(problem.words)
    ranges, n_segments = segment_ranges(problem), problem.doc_ptr[-1]
    nodes, prior = problem.discount_rule
    shared = problem.concentration_rule[1] if problem.scope == "corpus" else np.ones(1)
    prior = np.multiply.outer(prior, shared)
    n_own = {"corpus": 1, "document": len(ranges), "segment": n_segments}[problem.scope]
    sums: dict[tuple[Tables, bytes], DocumentSum] = {}

    evidence, log_joint_sum, discount = 0.0, 0.0, 0.0
    coassignment = np.zeros((n_tokens, n_tokens))
    marginals = np.zeros((n_tokens, n_topics))
    s, t, nu = np.zeros((3, n_segments, n_topics))
    mu, weight_of_document = np.zeros((len(ranges), n_topics)), np.zeros(n_segments)
    concentration = np.zeros(n_own)
    for z in product(range(n_topics), repeat=n_tokens):
        n = word_counts(problem, z)
        documents = []
        for d, (first, last) in enumerate(ranges):
            key = problem.firsts(d), n[first:last].tobytes()
            if key not in sums:
                sums[key] = sum_over_tables(problem, key[0], n[first:last])
            documents.append(sums[key])
        words = word_factor(problem, z)
        if words == 0.0:  # excluded by a fixed topic
            continue
        weight = prior * words * prod(document.weight for document in documents)

        evidence += weight.sum()
        discount += nodes @ weight.sum(axis=1)
        log_joint_sum += np.sum(weight * (np.log(words) + sum(x.log_weight for x in documents)))
        indicator = np.equal.outer(z, range(n_topics))
        marginals += weight.sum() * indicator
        coassignment += weight.sum() * (indicator @ indicator.T)
        for d, (document, (first, last)) in enumerate(zip(documents, ranges, strict=True)):
            mu[d] += np.tensordot(weight, document.mu)
            s[first:last] += np.tensordot(weight, document.s)
            t[first:last] += np.tensordot(weight, document.t)
            nu[first:last] += np.tensordot(weight, document.nu)
            weight_of_document[first:last] += np.tensordot(weight, document.weight_of_document)
            own = {"corpus": slice(1), "document": [d], "segment": slice(first, last)}
            if d == 0 or problem.scope != "corpus":
                concentration[own[problem.scope]] += np.tensordot(weight, document.concentration)
    return Posterior(
        log_evidence=float(np.log(evidence)),
        coassignment=coassignment / evidence,
        topics=marginals / evidence,
        tables_to_document=s / evidence,
        tables_to_previous=t / evidence,
        mu=mu / evidence,
        nu=nu / evidence,
        weight_of_document=weight_of_document / evidence,
        log_joint=log_joint_sum / evidence,
        discount=discount / evidence,
        concentration=concentration / evidence
        if problem.scope != "corpus"
        else concentration[0] / evidence,
    )


def fold_in(problem: Problem) -> list[Posterior]:
    """Posterior of each document by itself: topics given, a concentration of its own."""
    return [
        enumerate_posterior(replace(problem, documents=[document], breaks=[problem.firsts(d)[1:]]))
        for d, document in enumerate(problem.documents)
    ]


def completion(problem: Problem, observed: Sequence[Sequence[Sequence[int]]]) -> np.ndarray:
    """Summed log predictive of each document's words that are not among its `observed` ones.

    p(w) = sum_k E[nu_jk | observed words] phi_kw.
    """
    posteriors = fold_in(replace(problem, documents=observed))
    return np.array([
        sum(
            np.log(nu_j @ problem.phi[:, w])
            for nu_j, segment, half in zip(posterior.nu, document, known, strict=True)
            for w in (Counter(segment) - Counter(half)).elements()
        )
        for document, known, posterior in zip(
            problem.documents, observed, posteriors, strict=True
        )
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
