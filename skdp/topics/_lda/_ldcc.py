"""Chains of latent Dirichlet co-clustering, over one corpus and over partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Ints, Places
from skdp.data import SegmentedCorpus
from skdp.inference._trace import align_labels
from skdp.topics._kernels import _ldcc as kernels
from skdp.topics._kernels._counts import WordCounts
from skdp.topics._kernels._lda import count_nodes, seat_randomly
from skdp.topics._shared._arrays import (
    Frequencies,
    Stream,
    count_frequencies,
    first_value,
    fixed_words,
    flat,
    tells_apart,
    update_by_frequencies,
)
from skdp.topics._shared._distributed import (
    DistributedAverages,
    DistributedSampler,
    TopicAverages,
)
from skdp.topics._shared._fold_in import FoldIn, Halt, Shares, slices
from skdp.topics._shared._partition import ShardSweep
from skdp.topics._shared._sampler import TopicSampler, TopicState, join, shown


class CoClusterState(TopicState):
    """The state of a chain of latent Dirichlet co-clustering."""

    segment_clusters = shown("clusters", "Document-topic y of every segment, (n_segments,).")
    document_topic_prior = shown(
        "document_topic_prior", "Prior delta of shares of document-topics, (Y,)."
    )
    segment_topic_prior = shown("segment_topic_prior", "Priors alpha_y of shares, (Y, K).")


@dataclass(eq=False)
class ClusterSweep(ShardSweep):
    """A sweep of one shard of latent Dirichlet co-clustering."""

    _scratch = "rising", "scratch"

    prior: kernels.ClusterPrior
    gamma: float
    rising: kernels.Rising
    longest: int  # number of words of the longest segment of all shards
    scratch: Any

    def _make_scratch(self) -> None:
        n_clusters, n_topics = self.prior.alpha.shape
        self.rising = kernels.tabulate_rising(self.prior.alpha, self.longest)
        self.scratch = kernels.empty_cluster_scratch(n_topics, n_clusters, self.longest)

    def sweep(self, words: WordCounts, stream: Stream) -> kernels.Clustering:
        """Draw document-topics of segments and topics of words; return the state."""
        n_documents = len(self.corpus.doc_ptr) - 1
        kernels.sweep_documents(
            0, n_documents, self.corpus, self.state, words, self.prior, self.gamma, self.rising,
            self.scratch, stream,
        )  # fmt: skip
        return self.state


# Stored samples, without the corpus.


@dataclass(frozen=True)
class CoClusterModel:
    """A sample of the model without the corpus, into which new documents are folded."""

    components: NDArray[np.float32]  # (K, W)
    document_topic_prior: Floats  # (Y,)
    segment_topic_prior: Floats  # (Y, K)

    def prepare(self, corpus: SegmentedCorpus, settings: FoldIn) -> CoClusterFoldIn:
        """Return the fold-in of documents of the corpus, with its tables precomputed."""
        longest = int(np.diff(corpus.segment_ptr).max(initial=0))
        rising = kernels.tabulate_rising(np.array(self.segment_topic_prior), longest)
        return CoClusterFoldIn(self, settings, fixed_words(self.components), rising)


@dataclass(frozen=True, eq=False)
class CoClusterFoldIn:
    """Fold-in of documents by Gibbs sampling of word-topics and document-topics."""

    model: CoClusterModel
    settings: FoldIn
    words: WordCounts
    rising: kernels.Rising

    def __call__(self, corpus: SegmentedCorpus, key: Stream, halt: Halt) -> Shares:
        """Return E[theta] of documents (D, Y) and E[pi] of segments (J, K)."""
        # Copies, because read-only arrays of a memory-mapped model have another numba type.
        prior = kernels.ClusterPrior(
            np.array(self.model.document_topic_prior), np.array(self.model.segment_topic_prior)
        )
        n_clusters, n_topics = prior.alpha.shape
        n_segments = len(corpus.segment_ptr) - 1
        longest = int(np.diff(corpus.segment_ptr).max(initial=0))
        doc_topic = np.zeros((len(corpus), n_clusters))
        segment_topic = np.zeros((n_segments, n_topics))
        n_sweeps, burn_in = self.settings.n_sweeps, self.settings.burn_in
        arrays, clustering = flat(corpus), empty_clustering(corpus)
        scratch = kernels.empty_cluster_scratch(n_topics, n_clusters, longest)
        for work, place, rng in slices(halt, corpus):
            kernels.fold_in_clusters(
                arrays, clustering, self.words, prior, self.rising, scratch, n_sweeps, burn_in,
                work, place, key, doc_topic, segment_topic, rng,
            )  # fmt: skip
        doc_topic /= n_sweeps - burn_in
        segment_topic /= n_sweeps - burn_in
        return doc_topic, segment_topic


def empty_clustering(corpus: SegmentedCorpus) -> kernels.Clustering:
    """Return the state in which no word or segment has a topic."""
    return kernels.Clustering(
        np.full(len(corpus.tokens), -1, dtype=np.int32),
        np.full(len(corpus.segment_ptr) - 1, -1, dtype=np.int32),
    )


# The chain over one corpus.


START_DOCUMENT_TOPIC_PRIOR = 1.0
START_SEGMENT_TOPIC_PRIOR = 0.1
"""Initial values of the learned parameters."""


class CoClusterSampler(TopicSampler):
    """Markov chain of latent Dirichlet co-clustering over one corpus."""

    _data_attributes = (
        *TopicSampler._data_attributes,
        *("_longest", "_scratch", "_rising"),
    )

    shards: list[kernels.Clustering]

    def __init__(
        self,
        corpus: SegmentedCorpus,
        n_topics: int,  # word-topics, K
        n_clusters: int,  # document-topics, Y
        document_topic_prior: Any,  # (Y,) array, "auto" or "auto-symmetric"
        segment_topic_prior: Any,  # (Y, K) array or "auto"
        topic_word_prior: Any,  # float, "auto" or WordPrior
        dirichlet_prior: tuple[float, float],
        init: Any,  # "random" or (K, W) array
        init_streams: list[Stream],  # of the first state, one for each shard
        streams: list[Stream],  # of the sweeps, one for each shard
        n_jobs: int | None = None,
    ):
        of_clusters = n_clusters, document_topic_prior, segment_topic_prior
        settings = n_topics, *of_clusters, topic_word_prior, dirichlet_prior
        self._start(settings, streams, n_jobs, is_labeled=False)
        self._take(corpus)
        self.shards = [empty_clustering(corpus[begin:end]) for begin, end in self._bounds]
        self._seat_words(init, init_streams)

    def _start(self, settings: Any, streams: Any, n_jobs: Any, *, is_labeled: bool) -> None:
        n_topics, n_clusters, document_topic_prior, segment_topic_prior, *of_words = settings
        gamma, dirichlet_prior = of_words
        TopicSampler.__init__(self, n_topics, gamma, dirichlet_prior, streams, n_jobs)
        self.n_clusters = n_clusters
        self.given_document_topic_prior = document_topic_prior
        self.learns_segment_topic_prior = isinstance(segment_topic_prior, str)
        self.document_topic_prior = first_value(
            document_topic_prior, np.full(n_clusters, START_DOCUMENT_TOPIC_PRIOR)
        )
        self.segment_topic_prior = first_value(
            segment_topic_prior, np.full((n_clusters, n_topics), START_SEGMENT_TOPIC_PRIOR)
        )
        columns_differ = np.ptp(self.segment_topic_prior, axis=1).any()
        self.topics_trade_places = self.learns_segment_topic_prior or not columns_differ
        # Given rows either distinguish document-topics or are uninformative about them.
        self.clusters_trade_places = self.learns_segment_topic_prior and not tells_apart(
            self.given_document_topic_prior
        )

    def _take(self, corpus: SegmentedCorpus) -> None:
        super()._take(corpus)
        self._longest = int(np.diff(corpus.segment_ptr).max(initial=0))
        self._make_scratch()
        self._make_ratios()

    def _make_scratch(self) -> None:
        self._scratch = [
            kernels.empty_cluster_scratch(self.n_topics, self.n_clusters, self._longest)
            for _ in self._bounds
        ]

    def _seat_words(self, init: Any, streams: list[Stream]) -> None:
        """Create the first state: random, or words folded into given topics."""
        if isinstance(init, str):
            for part, shard, stream in zip(self._corpora, self.shards, streams, strict=True):
                self._draw_first_topics(shard.topics, part.tokens, part.segment_ptr, None, stream)
                seat_randomly(shard.clusters, self.n_clusters, stream)
        else:
            self._sweep_words(self._first_topics(init), streams)
        self._count_words()
        self._return_strays(self._words)

    @property
    def _prior(self) -> kernels.ClusterPrior:
        return kernels.ClusterPrior(self.document_topic_prior, self.segment_topic_prior)

    @property
    def clusters(self) -> Ints:
        """Document-topic of every segment."""
        return join([shard.clusters for shard in self.shards])

    def _sweep_of(self, s: int, words: WordCounts) -> ClusterSweep:
        gamma = 0.0 if words.fixed else self.topic_word_prior
        return ClusterSweep(
            self._corpora[s], self.shards[s], self._prior, gamma, self._rising, self._longest,
            self._scratch[s],
        )  # fmt: skip

    # Parameters and shown attributes

    def _update_parameters(self) -> None:
        self.document_topic_prior = self._learned(
            self.document_topic_prior, self.given_document_topic_prior, self._document_frequencies
        )
        if self.learns_segment_topic_prior:
            self.segment_topic_prior = self._updated_rows()
            self._make_ratios()

    def _make_ratios(self) -> None:
        self._rising = kernels.tabulate_rising(self.segment_topic_prior, self._longest)

    def _document_frequencies(self) -> Frequencies:
        """Return the frequencies of the segments of documents by document-topic."""
        counts = np.zeros((len(self._whole), self.n_clusters), dtype=np.int64)
        for s, shard in enumerate(self.shards):
            kernels.count_documents(
                self._corpora[s], shard.clusters, counts[slice(*self._bounds[s])]
            )
        return count_frequencies([counts], self.n_clusters)

    def _updated_rows(self) -> Floats:
        """Return alpha, with each row re-estimated from the words of its segments."""
        rows = self.segment_topic_prior.copy()
        for y, frequencies in enumerate(self._segment_frequencies()):
            if len(frequencies.keys):  # otherwise the row would move to zero, and stay there
                rows[y] = update_by_frequencies(
                    rows[y], frequencies, *self.dirichlet_prior, symmetric=False
                )
        return rows

    def _segment_frequencies(self) -> NDArray[np.object_]:
        """Return the frequencies of words of segments by topic for each document-topic, (Y,)."""
        counts = np.zeros((len(self._whole.segment_ptr) - 1, self.n_topics), dtype=np.int32)
        for s, (begin, end) in enumerate(self._segment_bounds):
            count_nodes(self._corpora[s].segment_ptr, self.shards[s].topics, counts[begin:end])
        clusters, found = self.clusters, np.empty(self.n_clusters, dtype=object)
        for y in range(self.n_clusters):
            found[y] = count_frequencies([counts[clusters == y]], self.n_topics)
        return found  # can be added elementwise

    def _log_prior(self) -> float:
        return sum(
            kernels.log_prior_of_clusters(corpus, shard, self._prior, scratch)
            for corpus, shard, scratch in zip(
                self._corpora, self.shards, self._scratch, strict=True
            )
        )

    topic_axes: ClassVar[dict[str, int]] = {"segment_topic": 1, "segment_topic_prior": 1}
    cluster_axes: ClassVar[dict[str, int]] = {
        "doc_topic": 1, "document_topic_prior": 0, "segment_topic_prior": 0,
    }  # fmt: skip

    def _empty_shares(self) -> dict[str, Floats]:
        of_documents = np.zeros((len(self._whole), self.n_clusters))
        return {**super()._empty_shares(), "doc_topic": of_documents}

    def add_shares_to(self, sums: dict[str, Floats]) -> None:
        """Add the shares of documents and of segments, given the state, to sums."""
        for s, shard in enumerate(self.shards):
            kernels.add_cluster_estimates(
                0, len(self._corpora[s].doc_ptr) - 1, self._corpora[s], shard, self._prior,
                self._scratch[s], sums["doc_topic"][slice(*self._bounds[s])],
                sums["segment_topic"][slice(*self._segment_bounds[s])],
            )  # fmt: skip

    def shown_parameters(self) -> dict[str, Any]:
        """Return the parameters to show."""
        return self.parameters()

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        return {
            **super().scalars(),
            "document_topic_prior_sum": float(self.document_topic_prior.sum()),
            "segment_topic_prior_sum": float(self.segment_topic_prior.sum(axis=1).mean()),
            "n_active_document_topics": float(np.count_nonzero(self._segments_of_clusters())),
        }

    def _segments_of_clusters(self) -> Places:
        """Return the number of segments of every document-topic, (Y,)."""
        return np.bincount(self.clusters, minlength=self.n_clusters)

    def model(self) -> CoClusterModel:
        """Return the current sample as a model."""
        return CoClusterModel(
            self.components().astype(np.float32),
            self.document_topic_prior.copy(),
            self.segment_topic_prior.copy(),
        )

    # Interface of a sampler of one shard to a chain over partitions

    def parameters(self) -> dict[str, Any]:
        """Return the parameters shared by all shards."""
        return {
            "document_topic_prior": self.document_topic_prior,
            "segment_topic_prior": self.segment_topic_prior,
            "topic_word_prior": self.topic_word_prior,
        }

    def take_parameters(self, parameters: dict[str, Any]) -> None:
        """Set the parameters shared by all shards."""
        before = self.segment_topic_prior
        vars(self).update(parameters)
        if not np.array_equal(before, self.segment_topic_prior):
            self._make_ratios()

    def statistics(self, *, is_first: bool) -> tuple[Any, ...]:
        """Return the additive statistics of this shard for updates of parameters."""
        learns_document_topic_prior = isinstance(self.given_document_topic_prior, str)
        return (
            self._document_frequencies() if learns_document_topic_prior else 0,
            self._segment_frequencies() if self.learns_segment_topic_prior else 0,
        )

    def report(self) -> tuple[Any, ...]:
        """Return the log joint without the words' part, and the segments of document-topics."""
        return self._log_prior(), self._segments_of_clusters()

    def state(self) -> CoClusterState:
        """Return a read-only view of the state."""
        return CoClusterState(self)


# Means over the kept sweeps, with labels of two kinds.


class CoClusterAverages(TopicAverages):
    """Means over the kept sweeps, aligned by word-topics, then document-topics by alpha_y / A_y."""

    def _align(self, sampler: Any, components: Floats) -> None:
        super()._align(sampler, components)
        if sampler.clusters_trade_places:
            priors = self.sums["segment_topic_prior"], sampler.segment_topic_prior
            shares = (rows / rows.sum(axis=1, keepdims=True) for rows in priors)
            self._reorder(align_labels(*shares), sampler.cluster_axes)


# The chain over a corpus in partitions.


class DistributedCoClusterAverages(DistributedAverages, CoClusterAverages):
    """Means over the kept sweeps of a chain over partitions, with labels of two kinds."""


class DistributedCoClusterSampler(DistributedSampler, CoClusterSampler):
    """Markov chain of latent Dirichlet co-clustering over a corpus in partitions."""

    of_shard = CoClusterSampler

    def _make_ratios(self) -> None:
        """Do nothing: partitions make their own ratios."""

    def _document_frequencies(self) -> Frequencies:
        return self._found[0]

    def _segment_frequencies(self) -> NDArray[np.object_]:
        return self._found[1]

    def _segments_of_clusters(self) -> Places:
        return np.sum([found[1] for found in self._reported()], axis=0)
