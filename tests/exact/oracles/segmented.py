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
table orders from the previous segment: the segment is like the first one of its document. Labels
are sets of topics: a condition on z. With topics `phi` given, the first product becomes
prod_i phi[z_i, w_i].

A discount with a Beta prior and concentrations with a Gamma prior are integrated out by quadrature:
weights carry an axis over nodes of a and one over nodes of b, and what is fixed is a rule with one
node. The corpus may share one b, or each document or each segment has a b of its own: then b is
summed out as soon as its document, or its segment's factor (b|a)_T / (b)_N, is complete."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from math import comb, prod
from types import SimpleNamespace

import numpy as np
from exact.oracles.enumeration import (
    Words,
    average,
    dirichlet_multinomial,
    of_topics,
    rising,
    stirling,
)
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature

Tables = tuple[int, ...]

# Numbers of tables that may order from the previous segment.
TABLES_TO_PREVIOUS = {
    "segmented": lambda is_first, tables: (0,),
    "sequential": lambda is_first, tables: (0 if is_first else tables,),
    "adaptive": lambda is_first, tables: range(1 if is_first else tables + 1),
}


@dataclass(frozen=True, eq=False)
class Problem(Words):
    """Documents (lists of segments of word ids) and everything that is held fixed."""

    documents: Sequence[Sequence[Sequence[int]]]
    alpha: Sequence[float]
    discount: float | None = None
    concentration: float | np.ndarray | None = None  # (n_segments,) for `log_joint` alone
    discount_prior: tuple[float, float] = (1.0, 1.0)  # of a Beta distribution; when it is None
    concentration_prior: tuple[float, float] = (1.0, 0.1)  # shape, rate; when it is None
    scope: str = "corpus"  # or "document", "segment": what has a concentration of its own
    model: str = "segmented"
    mixing: tuple[float, float] = (1.0, 1.0)  # lambda_S, lambda_T
    breaks: Sequence[tuple[int, ...]] | None = None  # per document: segments that follow none
    labels: Sequence | None = None  # of each document: a set of topics, a list of sets, or None
    n_nodes: int = 24  # of the quadrature over the discount
    step: float = 0.2  # of the quadrature over log b

    @property
    def segments(self) -> list[Sequence[int]]:
        return [segment for document in self.documents for segment in document]

    @property
    def words(self) -> list[int]:
        return [w for segment in self.segments for w in segment]

    @property
    def segment_of_token(self) -> list[int]:
        return [j for j, segment in enumerate(self.segments) for _ in segment]

    @property
    def doc_ptr(self) -> np.ndarray:
        return np.cumsum([0, *map(len, self.documents)])

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The first segment of each document, and the end of its segments."""
        return list(pairwise(self.doc_ptr))

    @property
    def allowed(self) -> list[set[int]]:
        """The topics that the words of each segment may have."""
        labels = [None] * len(self.documents) if self.labels is None else self.labels
        sets = [
            each
            for own, document in zip(labels, self.documents, strict=True)
            for each in (own if isinstance(own, list) else [own] * len(document))
        ]
        return [set(range(len(self.alpha)) if each is None else each) for each in sets]

    def assignments(self) -> Iterator[Tables]:
        """Yield every z."""
        allowed = self.allowed
        return product(*[sorted(allowed[j]) for j in self.segment_of_token])

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


def mixing_factor(problem: Problem, is_first: bool, s: int, t: int) -> float:
    """R_j: Beta(s + lambda_S, t + lambda_T) / Beta(lambda_S, lambda_T), or 1."""
    if problem.model != "adaptive" or is_first:
        return 1.0
    return dirichlet_multinomial(problem.mixing, (s, t))


def node_factor(a, b, customers: int, tables: int):
    """(b|a)_T / (b)_N of a segment."""
    return rising(b, tables, a) / rising(b, customers)


def customers_and_tables(n, s, t) -> tuple[np.ndarray, np.ndarray]:
    """N_jk and T_jk: a table that orders from the previous segment is a customer there. The last
    two axes of s and t are those of segments and topics."""
    from_next = np.zeros_like(t)
    from_next[..., :-1, :] = t[..., 1:, :]
    return n + from_next, s + t


def word_counts(problem: Problem, topics) -> np.ndarray:
    """n_jk over all segments of all documents."""
    n = np.zeros((problem.doc_ptr[-1], len(problem.alpha)), dtype=int)
    np.add.at(n, (problem.segment_of_token, list(topics)), 1)
    return n


def orders_factor(problem: Problem, firsts: Tables, s: np.ndarray, t: np.ndarray) -> float:
    """Return the probability of a document's t, given the tables, times ways to choose s."""
    value = 1.0
    for j, (s_j, t_j) in enumerate(zip(s.tolist(), t.tolist(), strict=True)):
        value *= mixing_factor(problem, j in firsts, sum(s_j), sum(t_j))
        value *= prod(comb(x + y, x) for x, y in zip(s_j, t_j, strict=True))
    return value


def segments_factor(problem: Problem, firsts: Tables, n, s, t, b: Sequence[float]) -> float:
    """Return the factors of a document's segments, which have concentrations b."""
    value = orders_factor(problem, firsts, s, t)
    pairs = (counts.tolist() for counts in customers_and_tables(n, s, t))
    for N, T, own in zip(*pairs, b, strict=True):
        value *= node_factor(problem.discount, own, sum(N), sum(T))
        value *= prod(stirling(*pair, problem.discount) for pair in zip(N, T, strict=True))
    return value


def log_joint(problem: Problem, topics, tables_to_document, tables_to_previous=None) -> float:
    """Return the log of the joint at one state, all constants included."""
    s = np.asarray(tables_to_document)
    t = np.zeros_like(s) if tables_to_previous is None else np.asarray(tables_to_previous)
    n = word_counts(problem, topics)
    b = np.broadcast_to(problem.concentration, len(n))
    value = np.log(problem.word_factor(topics, len(problem.alpha)))
    for d, (i, j) in enumerate(problem.ranges):
        value += np.log(dirichlet_multinomial(problem.alpha, s[i:j].sum(axis=0)))
        factor = segments_factor(problem, problem.firsts(d), n[i:j], s[i:j], t[i:j], b[i:j])
        value += np.log(factor)
    return float(value)


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


def sum_over_tables(problem: Problem, firsts: Tables, n: np.ndarray) -> SimpleNamespace:
    """Weigh all (s, t) of a document at once: arrays are (n_states, A, B or 1, ...). Return arrays
    (A, B, ...), where A and B count the nodes of the discount and of a concentration that all
    documents share: `weight`, and the means of `log_weight`, `tables_to_document` and
    `tables_to_previous` (J, K), `mu` (1, K), `nu` (J, K), `weight_of_document` (J,) and
    `concentration`, (1,) or (J,) if each segment has its own."""
    states = tables_of_document(problem.model, firsts, n)
    s, t = (np.array(x) for x in zip(*states, strict=True))
    customers, tables = customers_and_tables(n, s, t)
    a, (b, prior) = problem.discount_rule[0], problem.concentration_rule
    per_segment, per_document = (problem.scope == x for x in ("segment", "document"))
    weight = np.array([
        dirichlet_multinomial(problem.alpha, x.sum(axis=0)) * orders_factor(problem, firsts, x, y)
        for x, y in zip(s, t, strict=True)
    ])  # fmt: skip
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

    return SimpleNamespace(
        weight=total[0], log_weight=expect(log_weight), tables_to_document=expect_at_state(s),
        tables_to_previous=expect_at_state(t), mu=expect_at_state(mu[:, 0]), nu=expect(nu),
        weight_of_document=expect_at_state(shares), concentration=expect(own),
    )  # fmt: skip


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
    """Return the posterior mean of the weight of mu in the base of each segment. s and t are tables
    in all, (n_states, n_segments), and so are the weights."""
    weights = np.ones(s.shape)
    later = [j for j in range(s.shape[1]) if j not in firsts]
    if problem.model == "sequential":
        weights[:, later] = 0.0
    elif problem.model == "adaptive":
        lambda_s, lambda_t = problem.mixing
        weights[:, later] = ((s + lambda_s) / (s + t + lambda_s + lambda_t))[:, later]
    return weights


OF_NODES = (
    "tables_to_document", "tables_to_previous", "mu", "nu", "weight_of_document", "concentration",
)  # fmt: skip


def enumerate_posterior(problem: Problem) -> SimpleNamespace:
    """Visit every z; the tables are summed out, a document at a time, once per word counts. Return
    `log_evidence`, and posterior means: `topics` (n_tokens, K), `coassignment` (n_tokens,
    n_tokens), `log_joint`, `discount`, and those of `sum_over_tables`, over all documents."""
    sums: dict[tuple[Tables, bytes], SimpleNamespace] = {}
    nodes, prior = problem.discount_rule
    shared = problem.concentration_rule[1] if problem.scope == "corpus" else np.ones(1)
    prior = np.multiply.outer(prior, shared)

    def states():
        for z in problem.assignments():
            words = problem.word_factor(z, len(problem.alpha))
            if words == 0.0:  # excluded by a fixed topic
                continue
            n, documents = word_counts(problem, z), []
            for d, (first, last) in enumerate(problem.ranges):
                key = problem.firsts(d), n[first:last].tobytes()
                if key not in sums:
                    sums[key] = sum_over_tables(problem, key[0], n[first:last])
                documents.append(sums[key])
            weight = prior * words * prod(each.weight for each in documents)
            share = weight / weight.sum()
            means = {
                name: np.concatenate([np.tensordot(share, vars(x)[name]) for x in documents])
                for name in OF_NODES
            }
            if problem.scope == "corpus":
                means["concentration"] = means["concentration"][0]
            log_weight = np.log(words) + sum(each.log_weight for each in documents)
            yield (
                weight.sum(),
                {
                    **of_topics(z, len(problem.alpha)),
                    **means,
                    "log_joint": np.sum(share * log_weight),
                    "discount": nodes @ share.sum(axis=1),
                },
            )

    return average(states())


def fold_in(problem: Problem) -> list[SimpleNamespace]:
    """Posterior of each document by itself: topics given, a concentration of its own."""
    return [
        enumerate_posterior(replace(problem, documents=[document], breaks=[problem.firsts(d)[1:]]))
        for d, document in enumerate(problem.documents)
    ]


def completion(documents, observed, shares, phi) -> np.ndarray:
    """Summed log predictive of each document's words that are not among its `observed` ones. p(w) =
    sum_k E[nu_jk | observed words] phi_kw; `shares` are these means, by document."""
    return np.array([
        sum(
            np.log(nu_j @ phi[:, w])
            for nu_j, segment, half in zip(nu, document, known, strict=True)
            for w in (Counter(segment) - Counter(half)).elements()
        )
        for document, known, nu in zip(documents, observed, shares, strict=True)
    ])  # fmt: skip
