"""A sample of latent Dirichlet allocation without its corpus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp.data import SegmentedCorpus
from skdp.topics._lda._kernels_nodes import estimate_nodes, fold_in_nodes
from skdp.topics._lda._kernels_sweeps import empty_dense_scratch
from skdp.topics._shared._arrays import fixed_words
from skdp.topics._shared._fold_in import FoldIn, Halt, Shares, slices
from skdp.topics._shared._kernels import Corpus, WordCounts


def nodes_of_documents(corpus: SegmentedCorpus, level: str) -> NDArray[np.int64]:
    """Return the nodes of each document as offsets, (D + 1,): the document, or its segments."""
    if level == "document":
        return as_readonly(np.arange(len(corpus) + 1))
    return as_readonly(np.asarray(corpus.doc_ptr, dtype=np.int64))


def tokens_of_nodes(corpus: SegmentedCorpus | Corpus, level: str) -> NDArray[np.int64]:
    """Return the tokens of each node as offsets, (nodes + 1,)."""
    ptr = corpus.segment_ptr[corpus.doc_ptr] if level == "document" else corpus.segment_ptr
    return as_readonly(np.asarray(ptr, dtype=np.int64))


def shares_of_nodes(
    corpus: SegmentedCorpus, level: str, nodes: NDArray[np.float64], prior: NDArray[np.float64]
) -> Shares:
    """Return topic shares of documents, means over their tokens, and of segments."""
    if level == "document":
        return nodes, np.repeat(nodes, np.diff(corpus.doc_ptr), axis=0)
    lengths = np.diff(corpus.segment_ptr).astype(np.float64)
    documents = np.repeat(np.arange(len(corpus)), np.diff(corpus.doc_ptr))
    sums = np.zeros((len(corpus), nodes.shape[1]))
    np.add.at(sums, documents, lengths[:, None] * nodes)
    n_tokens = np.diff(corpus.segment_ptr[corpus.doc_ptr])[:, None]
    mean = prior / prior.sum()
    return np.where(n_tokens > 0, sums / np.maximum(n_tokens, 1), mean), nodes


@dataclass(frozen=True)
class LDAModel:
    """A sample of the model without the corpus, into which new documents are folded."""

    components: NDArray[np.float32]  # (K, W)
    doc_topic_prior: NDArray[np.float64]  # (K,)
    level: str  # "document" or "segment": the units that have their own topic shares

    def prepare(self, corpus: SegmentedCorpus, settings: FoldIn) -> LDAFoldIn:
        """Return the fold-in of documents of the corpus."""
        return LDAFoldIn(self, settings, fixed_words(self.components))

    def prepare_likelihood(self, corpus: SegmentedCorpus, settings: FoldIn) -> LDALikelihood:
        """Return the likelihood estimator for documents of the corpus."""
        return LDALikelihood(self, fixed_words(self.components))


@dataclass(frozen=True, eq=False)
class LDAFoldIn:
    """Fold-in of documents by Gibbs sampling of their words' topics."""

    model: LDAModel
    settings: FoldIn
    words: WordCounts

    def __call__(self, corpus: SegmentedCorpus, key: NDArray[np.uint64], halt: Halt) -> Shares:
        """Return E[theta] of documents (D, K) and of segments (J, K)."""
        model, settings = self.model, self.settings
        n_topics = len(model.doc_topic_prior)
        node_ptr = tokens_of_nodes(corpus, model.level)
        nodes = np.zeros((len(node_ptr) - 1, n_topics))
        nodes_of = nodes_of_documents(corpus, model.level)
        topics = np.full(len(corpus.tokens), -1, dtype=np.int32)
        prior = np.array(model.doc_topic_prior)  # as in `TableModel.prior`
        # With a tiny prior the first word would fix the topic of all, and no word could leave it.
        first_prior = prior / min(float(prior.sum()), 1.0)
        scratch = empty_dense_scratch(n_topics)
        place, rng = np.zeros(2, dtype=np.int64), np.zeros(4, dtype=np.uint64)
        for work in slices(halt):
            fold_in_nodes(
                corpus.tokens,
                corpus.segment_ptr,
                corpus.doc_ptr,
                node_ptr,
                nodes_of,
                topics,
                self.words,
                first_prior,
                prior,
                scratch,
                settings.n_sweeps,
                settings.burn_in,
                work,
                place,
                key,
                nodes,
                rng,
            )
            if place[0] == len(corpus):
                break
        return shares_of_nodes(corpus, model.level, nodes, model.doc_topic_prior)


@dataclass(frozen=True, eq=False)
class LDALikelihood:
    """Estimates under a sample of latent Dirichlet allocation."""

    model: LDAModel
    words: WordCounts

    def __call__(
        self, corpus: SegmentedCorpus, key: NDArray[np.uint64], n_particles: int
    ) -> NDArray[np.float64]:
        """Return the log of an estimate of the probability of every document, (D,)."""
        model = self.model
        out = np.zeros(len(corpus))
        estimate_nodes(
            n_particles,
            corpus.tokens,
            corpus.segment_ptr,
            corpus.doc_ptr,
            tokens_of_nodes(corpus, model.level),
            nodes_of_documents(corpus, model.level),
            self.words,
            np.array(model.doc_topic_prior),  # as in `TableModel.prior`
            empty_dense_scratch(len(model.doc_topic_prior)),
            key,
            out,
        )
        return out
