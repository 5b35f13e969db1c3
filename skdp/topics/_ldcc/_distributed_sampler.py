"""Chain of latent Dirichlet co-clustering over a corpus in partitions."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.topics._ldcc._averages import CoClusterAverages
from skdp.topics._ldcc._sampler import CoClusterSampler, Settings
from skdp.topics._shared._distributed import DistributedCorpus
from skdp.topics._shared._distributed_averages import DistributedAverages
from skdp.topics._shared._distributed_sampler import DistributedSampler
from skdp.topics._shared._priors import Frequencies
from skdp.topics._shared._sampler import TopicSampler


def make_shard(
    corpus: SegmentedCorpus,
    init_streams: list[NDArray[np.uint64]],
    streams: list[NDArray[np.uint64]],
    settings: Settings,
) -> CoClusterSampler:
    """Return the sampler of a partition."""
    return CoClusterSampler(corpus, *settings, init_streams, streams, 1)


class DistributedCoClusterAverages(DistributedAverages, CoClusterAverages):
    """Means over the kept sweeps of a chain over partitions, with labels of two kinds."""


class DistributedCoClusterSampler(DistributedSampler, CoClusterSampler):
    """Markov chain of latent Dirichlet co-clustering over a corpus in partitions."""

    def __init__(
        self,
        data: DistributedCorpus,
        c: int,  # index of the chain
        n_topics: int,
        n_clusters: int,
        document_topic_prior: Any,
        segment_topic_prior: Any,
        topic_word_prior: Any,
        dirichlet_prior: tuple[float, float],
        init: Any,
        init_streams: list[NDArray[np.uint64]],
        streams: list[NDArray[np.uint64]],
    ):
        self._start_parameters(n_topics, n_clusters, document_topic_prior, segment_topic_prior)
        TopicSampler.__init__(self, n_topics, topic_word_prior, dirichlet_prior, streams, 1)
        self._follow_labels()
        settings = (
            n_topics, n_clusters, document_topic_prior, segment_topic_prior, topic_word_prior,
            dirichlet_prior, init,
        )  # fmt: skip
        self._begin_partitions(data, c, partial(make_shard, settings=settings), init_streams)

    def _make_ratios(self) -> None:
        """Do nothing: partitions make their own ratios."""

    def _document_frequencies(self) -> Frequencies:
        return self._found[0]

    def _segment_frequencies(self) -> NDArray[np.object_]:
        found: NDArray[np.object_] = self._found[1]
        return found

    def _segments_of_clusters(self) -> NDArray[np.int64]:
        total: NDArray[np.int64] = np.sum([found[1] for found in self._reported()], axis=0)
        return total

    def _sums_by(self, axes: dict[str, int]) -> tuple[str, ...]:
        return ("doc_topic",) if "document_topic_prior" in axes else ("segment_topic",)

    def empty_sums(self) -> dict[str, NDArray[np.float64]]:
        """Return zeros for the quantities that are averaged here over the kept sweeps."""
        return {
            "document_topic_prior": np.zeros(self.n_clusters),
            "segment_topic_prior": np.zeros((self.n_clusters, self.n_topics)),
            "topic_word_prior": np.zeros(()),
        }

    topic_axes: ClassVar[dict[str, int]] = {"segment_topic_prior": 1}
    cluster_axes: ClassVar[dict[str, int]] = {"document_topic_prior": 0, "segment_topic_prior": 0}

    def add_to(self, sums: dict[str, NDArray[np.float64]]) -> None:
        """Add the current values to the sums that are kept here."""
        self._add_parameters_to(sums)
