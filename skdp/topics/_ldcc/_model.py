"""A sample of latent Dirichlet co-clustering without its corpus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.topics._ldcc._kernels import (
    Clustering,
    ClusterPrior,
    Rising,
    empty_cluster_scratch,
    fold_in_clusters,
    tabulate_rising,
)
from skdp.topics._shared._arrays import fixed_words, flat
from skdp.topics._shared._fold_in import FoldIn, Halt, Shares, slices
from skdp.topics._shared._kernels import WordCounts


@dataclass(frozen=True)
class CoClusterModel:
    """A sample of the model without the corpus, into which new documents are folded."""

    components: NDArray[np.float32]  # (K, W)
    document_topic_prior: NDArray[np.float64]  # (Y,)
    segment_topic_prior: NDArray[np.float64]  # (Y, K)

    def prepare(self, corpus: SegmentedCorpus, settings: FoldIn) -> CoClusterFoldIn:
        """Return the fold-in of documents of the corpus, with its tables precomputed."""
        longest = int(np.diff(corpus.segment_ptr).max(initial=0))
        rising = tabulate_rising(np.array(self.segment_topic_prior), longest)
        return CoClusterFoldIn(self, settings, fixed_words(self.components), rising)


@dataclass(frozen=True, eq=False)
class CoClusterFoldIn:
    """Fold-in of documents by Gibbs sampling of word-topics and document-topics."""

    model: CoClusterModel
    settings: FoldIn
    words: WordCounts
    rising: Rising

    def __call__(self, corpus: SegmentedCorpus, key: NDArray[np.uint64], halt: Halt) -> Shares:
        """Return E[theta] of documents (D, Y) and E[pi] of segments (J, K)."""
        # Copies, because read-only arrays of a memory-mapped model have another numba type.
        prior = ClusterPrior(
            np.array(self.model.document_topic_prior), np.array(self.model.segment_topic_prior)
        )
        n_clusters, n_topics = prior.alpha.shape
        n_segments = len(corpus.segment_ptr) - 1
        longest = int(np.diff(corpus.segment_ptr).max(initial=0))
        doc_topic = np.zeros((len(corpus), n_clusters))
        segment_topic = np.zeros((n_segments, n_topics))
        n_sweeps, burn_in = self.settings.n_sweeps, self.settings.burn_in
        arrays, clustering = flat(corpus), empty_clustering(corpus)
        scratch = empty_cluster_scratch(n_topics, n_clusters, longest)
        place, rng = np.zeros(2, dtype=np.int64), np.zeros(4, dtype=np.uint64)
        for work in slices(halt):
            fold_in_clusters(
                arrays,
                clustering,
                self.words,
                prior,
                self.rising,
                scratch,
                n_sweeps,
                burn_in,
                work,
                place,
                key,
                doc_topic,
                segment_topic,
                rng,
            )
            if place[0] == len(corpus):
                break
        doc_topic /= n_sweeps - burn_in
        segment_topic /= n_sweeps - burn_in
        return doc_topic, segment_topic


def empty_clustering(corpus: SegmentedCorpus) -> Clustering:
    """Return the state in which no word or segment has a topic."""
    return Clustering(
        np.full(len(corpus.tokens), -1, dtype=np.int32),
        np.full(len(corpus.segment_ptr) - 1, -1, dtype=np.int32),
    )
