"""Exact answers for latent Dirichlet co-clustering, by enumeration in plain Python.

Every assignment z of word-topics to tokens and y of document-topics to segments is visited and
weighted by the joint

    p(z, y, w) = prod_k  Beta_V(gamma + M_k) / Beta_V(gamma)
                 prod_d  Beta_Y(delta + c_d) / Beta_Y(delta)
                         prod_s  Beta_K(alpha_{y_s} + n_s) / Beta_K(alpha_{y_s})

    n_sk   words of segment s with topic k         M_kw   times that word w has topic k
    c_dy   segments of document d with document-topic y
    delta, alpha, gamma   Dirichlet priors of documents, of the segments of each y, of topics

With topics `phi` given, the first product becomes prod_i phi[z_i, w_i].
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import lgamma

import numpy as np


@dataclass(frozen=True, eq=False)
class Problem:
    """Documents (lists of segments of word ids) and everything that is held fixed."""

    documents: Sequence[Sequence[Sequence[int]]]
    delta: Sequence[float]  # (Y,)
    alpha: Sequence[Sequence[float]]  # (Y, K)
    gamma: float | None = None
    n_features: int | None = None
    phi: np.ndarray | None = None  # (K, V)
    seeds: np.ndarray | None = None  # (K, V), pseudo-counts that are added to gamma
    fixed: np.ndarray | None = None  # (F, V), phi of the first topics

    @property
    def segments(self) -> list[Sequence[int]]:
        return [segment for document in self.documents for segment in document]

    @property
    def words(self) -> list[int]:
        return [word for segment in self.segments for word in segment]

    @property
    def shape(self) -> tuple[int, int]:
        """Y and K."""
        return len(self.alpha), len(self.alpha[0])


@dataclass
class Posterior:
    """Posterior means."""

    topics: np.ndarray  # P(z_i = k), (n_tokens, K)
    clusters: np.ndarray  # P(y_s = y), (n_segments, Y)
    same_topic: np.ndarray  # P(z_i = z_j), (n_tokens, n_tokens)
    same_cluster: np.ndarray  # P(y_s = y_r), (n_segments, n_segments)
    topic_and_cluster: np.ndarray  # P(z_i = z_j and y_s = y_r), i and s vs. the first of each
    theta: np.ndarray  # (n_documents, Y)
    pi: np.ndarray  # (n_segments, K)
    log_joint: float


def log_dirichlet_multinomial(prior: Sequence[float], counts: Sequence[int]) -> float:
    """Log of Beta(prior + counts) / Beta(prior)."""
    value = lgamma(sum(prior)) - lgamma(sum(prior) + sum(counts))
    for a, n in zip(prior, counts, strict=True):
        value += lgamma(a + n) - lgamma(a)
    return value


def counts_of(problem: Problem, z: Sequence[int], y: Sequence[int]):
    """Return n (n_segments, K), c (n_documents, Y) and M (K, V), each a list of lists."""
    n_clusters, n_topics = problem.shape
    n_words = problem.n_features if problem.phi is None else problem.phi.shape[1]
    ends = np.cumsum([0, *map(len, problem.segments)])
    n = [np.bincount(z[b:e], minlength=n_topics).tolist() for b, e in pairwise(ends)]
    ends = np.cumsum([0, *map(len, problem.documents)])
    c = [np.bincount(y[b:e], minlength=n_clusters).tolist() for b, e in pairwise(ends)]
    m = [[0] * n_words for _ in range(n_topics)]
    for k, w in zip(z, problem.words, strict=True):
        m[k][w] += 1
    return n, c, m


def log_joint(problem: Problem, z: Sequence[int], y: Sequence[int]) -> float:
    """Log p(z, y, w)."""
    z, y = np.asarray(z, dtype=int), np.asarray(y, dtype=int)
    n, c, m = counts_of(problem, z, y)
    value = sum(log_dirichlet_multinomial(problem.delta, row) for row in c)
    value += sum(
        log_dirichlet_multinomial(problem.alpha[cluster], row)
        for cluster, row in zip(y, n, strict=True)
    )
    if problem.phi is not None:
        return value + sum(np.log(problem.phi[k, w]) for k, w in zip(z, problem.words, strict=True))
    seeds = np.zeros((len(m), len(m[0]))) if problem.seeds is None else problem.seeds
    fixed = [] if problem.fixed is None else problem.fixed
    with np.errstate(divide="ignore"):
        for k, w in zip(z, problem.words, strict=True):
            value += np.log(fixed[k][w]) if k < len(fixed) else 0.0
    return value + sum(
        log_dirichlet_multinomial([problem.gamma + s for s in more], row)
        for more, row in list(zip(seeds.tolist(), m, strict=True))[len(fixed) :]
    )


def estimates(problem: Problem, z: Sequence[int], y: Sequence[int]):
    """Return E[theta | y] (n_documents, Y) and E[pi | z, y] (n_segments, K)."""
    n, c, _ = counts_of(problem, np.asarray(z, dtype=int), np.asarray(y, dtype=int))
    theta = np.array(c, dtype=float).reshape(len(c), -1) + np.array(problem.delta)
    pi = np.array(n, dtype=float) + np.array(problem.alpha)[list(y)]
    return theta / theta.sum(axis=1, keepdims=True), pi / pi.sum(axis=1, keepdims=True)


def enumerate_posterior(problem: Problem) -> Posterior:
    """Visit every state."""
    n_clusters, n_topics = problem.shape
    states = [
        (z, y)
        for z in product(range(n_topics), repeat=len(problem.words))
        for y in product(range(n_clusters), repeat=len(problem.segments))
    ]
    logs = np.array([log_joint(problem, z, y) for z, y in states])
    states, logs = (
        [s for s, x in zip(states, logs, strict=True) if x > -np.inf],
        logs[logs > -np.inf],
    )
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    means = [np.zeros(())] * 7
    for weight, (z, y) in zip(weights, states, strict=True):
        one_z, one_y = np.eye(n_topics)[list(z)], np.eye(n_clusters)[list(y)]
        same = one_z @ one_z.T, one_y @ one_y.T
        both = np.outer(same[0][0], same[1][0]) if z and y else np.zeros(())
        values = (one_z, one_y, *same, both, *estimates(problem, z, y))
        means = [mean + weight * value for mean, value in zip(means, values, strict=True)]
    return Posterior(*means, log_joint=float(weights @ logs))


def fold_in(problem: Problem) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return E[theta] (Y,) and E[pi] (segments, K) of every document, with topics `phi` given."""
    found = []
    for document in problem.documents:
        if document:
            posterior = enumerate_posterior(replace(problem, documents=[document]))
            found.append((posterior.theta[0], posterior.pi))
        else:
            delta = np.array(problem.delta)
            found.append((delta / delta.sum(), np.zeros((0, problem.shape[1]))))
    return found


def completion(problem: Problem, observed: Sequence[Sequence[Sequence[int]]]) -> np.ndarray:
    """Summed log predictive of each document's words that are not among its `observed` ones.

    p(w) = sum_k E[pi_sk | observed words] phi_kw.
    """
    shares = [pi for _, pi in fold_in(replace(problem, documents=observed))]
    return np.array([
        sum(
            np.log(row @ problem.phi[:, w])
            for row, segment, half in zip(pi, document, known, strict=True)
            for w in (Counter(segment) - Counter(half)).elements()
        )
        for document, known, pi in zip(problem.documents, observed, shares, strict=True)
    ])  # fmt: skip
