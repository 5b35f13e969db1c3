"""Exact answers for latent Dirichlet co-clustering, by enumeration in plain Python.

Every assignment z of word-topics to tokens and y of document-topics to segments is visited and
weighted by the joint

    p(z, y, w) = prod_k  Beta_V(gamma + M_k) / Beta_V(gamma)
                 prod_d  Beta_Y(delta + c_d) / Beta_Y(delta)
                         prod_s  Beta_K(alpha_{y_s} + n_s) / Beta_K(alpha_{y_s})

    n_sk   words of segment s with topic k         M_kw   times that word w has topic k
    c_dy   segments of document d with document-topic y
    delta, alpha, gamma   Dirichlet priors of documents, of the segments of each y, of topics

With topics `phi` given, the first product becomes prod_i phi[z_i, w_i]."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import SimpleNamespace

import numpy as np
from exact.oracles.enumeration import Words, average, dirichlet_multinomial, of_topics, split


@dataclass(frozen=True, eq=False)
class Problem(Words):
    """Documents (lists of segments of word ids) and everything that is held fixed."""

    documents: Sequence[Sequence[Sequence[int]]]
    delta: Sequence[float]  # (Y,)
    alpha: Sequence[Sequence[float]]  # (Y, K)

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


def counts_of(problem: Problem, z: Sequence[int], y: Sequence[int]):
    """Return n (n_segments, K) and c (n_documents, Y)."""
    n_clusters, n_topics = problem.shape
    z, y = split(z, map(len, problem.segments)), split(y, map(len, problem.documents))
    n = [np.bincount(topics, minlength=n_topics) for topics in z]
    c = [np.bincount(clusters, minlength=n_clusters) for clusters in y]
    return np.reshape(n, (-1, n_topics)), np.reshape(c, (-1, n_clusters))


def log_joint(problem: Problem, z: Sequence[int], y: Sequence[int]) -> float:
    """Log p(z, y, w)."""
    n, c = counts_of(problem, z, y)
    factors = [problem.word_factor(z, problem.shape[1])]
    factors += [dirichlet_multinomial(problem.delta, row) for row in c]
    factors += [dirichlet_multinomial(problem.alpha[k], row) for k, row in zip(y, n, strict=True)]
    with np.errstate(divide="ignore"):  # a fixed topic may exclude a word
        return float(np.log(factors).sum())


def estimates(problem: Problem, z: Sequence[int], y: Sequence[int]):
    """Return E[theta | y] (n_documents, Y) and E[pi | z, y] (n_segments, K)."""
    n, c = counts_of(problem, z, y)
    theta, pi = c + np.array(problem.delta), n + np.array(problem.alpha)[list(y)]
    return theta / theta.sum(axis=1, keepdims=True), pi / pi.sum(axis=1, keepdims=True)


def enumerate_posterior(problem: Problem) -> SimpleNamespace:
    """Visit every state; return posterior means. Those of clusters are named as those of topics;
    `topic_and_cluster` is P(z_i = z_0, y_s = y_0)."""
    n_clusters, n_topics = problem.shape

    def states():
        for z in product(range(n_topics), repeat=len(problem.words)):
            for y in product(range(n_clusters), repeat=len(problem.segments)):
                log_weight = log_joint(problem, z, y)
                if log_weight == -np.inf:
                    continue
                topics, clusters = of_topics(z, n_topics), of_topics(y, n_clusters)
                theta, pi = estimates(problem, z, y)
                same = [values["coassignment"][:1].ravel() for values in (topics, clusters)]
                yield (
                    np.exp(log_weight),
                    {
                        **topics,
                        "clusters": clusters["topics"],
                        "same_cluster": clusters["coassignment"],
                        "topic_and_cluster": np.outer(*same),
                        "theta": theta,
                        "pi": pi,
                        "log_joint": log_weight,
                    },
                )

    return average(states())


def fold_in(problem: Problem) -> list[SimpleNamespace]:
    """Posterior of each document by itself, with topics `phi` given."""
    return [enumerate_posterior(replace(problem, documents=[each])) for each in problem.documents]
