"""A sweep of one shard of latent Dirichlet co-clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.topics._ldcc._kernels import (
    Clustering,
    ClusterPrior,
    Rising,
    empty_cluster_scratch,
    sweep_documents,
    tabulate_rising,
)
from skdp.topics._shared._kernels import Corpus, WordCounts
from skdp.topics._shared._shards import ShardSweep


class ClusterSweep(ShardSweep):
    """A sweep of one shard of latent Dirichlet co-clustering."""

    _scratch = "rising", "scratch"

    def __init__(
        self,
        corpus: Corpus,
        state: Clustering,
        prior: ClusterPrior,
        gamma: float,
        rising: Rising,
        longest: int,  # number of words of the longest segment of all shards
        scratch: Any,
    ):
        super().__init__(corpus, state)
        self.prior = prior
        self.gamma = gamma
        self.rising = rising
        self.longest = longest
        self.scratch = scratch

    def _make_scratch(self) -> None:
        n_clusters, n_topics = self.prior.alpha.shape
        self.rising = tabulate_rising(self.prior.alpha, self.longest)
        self.scratch = empty_cluster_scratch(n_topics, n_clusters, self.longest)

    def sweep(self, words: WordCounts, stream: NDArray[np.uint64]) -> Clustering:
        """Draw document-topics of segments and topics of words; return the state."""
        n_documents = len(self.corpus.doc_ptr) - 1
        sweep_documents(
            0, n_documents, self.corpus, self.state, words, self.prior, self.gamma, self.rising,
            self.scratch, stream,
        )  # fmt: skip
        return self.state
