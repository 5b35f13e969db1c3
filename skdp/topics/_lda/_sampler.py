"""Chain of latent Dirichlet allocation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.topics._lda._kernels_labels import move_into_sets
from skdp.topics._lda._kernels_nodes import (
    add_node_estimates,
    count_nodes,
    log_prior_of_topics,
    seat_randomly,
)
from skdp.topics._lda._kernels_sweeps import (
    SPARSE_FROM,
    counts_of_lists,
    empty_dense_scratch,
    empty_sparse_scratch,
    list_words,
    lists_of_counts,
)
from skdp.topics._lda._model import LDAModel, shares_of_nodes, tokens_of_nodes
from skdp.topics._lda._shard import Listed, ListedWords, NodeSweep, NodeTopics, check_lists
from skdp.topics._lda._state import LDAState
from skdp.topics._shared._allowed import LabeledCorpus
from skdp.topics._shared._arrays import empty_counts
from skdp.topics._shared._kernels import WordCounts
from skdp.topics._shared._priors import (
    Frequencies,
    count_frequencies,
    tells_apart,
    update_by_frequencies,
)
from skdp.topics._shared._sampler import TopicSampler, join
from skdp.topics._shared._shards import Counted


class LDASampler(TopicSampler):
    """Markov chain of latent Dirichlet allocation over one corpus.

    With many topics, counts of words are stored as lists, unless there are labels or fixed topics.
    The chains of both kinds of sweep are exact, but not identical.
    """

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *TopicSampler._data_attributes,
        "_node_ptr",
        "_scratch",
        "_allowed",
    )

    shards: list[NodeTopics]

    def __init__(
        self,
        corpus: SegmentedCorpus | LabeledCorpus,
        n_topics: int,
        level: str,  # "document" or "segment": the units with their own shares, called nodes
        doc_topic_prior: Any,  # (K,) array, "auto" or "auto-symmetric"
        topic_word_prior: Any,  # float, "auto" or WordPrior
        dirichlet_prior: tuple[float, float],
        init: Any,  # "random" or (K, W) array
        init_streams: list[NDArray[np.uint64]],  # of the first state, one for each shard
        streams: list[NDArray[np.uint64]],  # of the sweeps, one for each shard
        n_jobs: int | None = None,
    ):
        self._start_parameters(n_topics, level, doc_topic_prior)
        super().__init__(n_topics, topic_word_prior, dirichlet_prior, streams, n_jobs)
        self._is_labeled = isinstance(corpus, LabeledCorpus)
        self.topics_trade_places = not (self._is_labeled or tells_apart(doc_topic_prior))
        self._take(corpus)
        self.shards = [NodeTopics(np.full(len(c.tokens), -1, np.int32)) for c in self._corpora]
        if isinstance(init, str):
            for s, (shard, stream) in enumerate(zip(self.shards, init_streams, strict=True)):
                if self._has_prior_mean:
                    allowed = self._allowed[s]
                    if allowed is not None:
                        allowed = allowed.of_words(self._node_ptr[s])
                    self._seat_by_prior(shard.topics, self._corpora[s].tokens, stream, allowed)
                else:
                    seat_randomly(shard.topics, n_topics, stream)
            self._move_into_sets(init_streams)
        else:
            self._sweep_words(self._first_topics(init), init_streams)
        self._count_words()
        self._return_strays(self._words)

    def _start_parameters(self, n_topics: int, level: str, doc_topic_prior: Any) -> None:
        """Set the parameters to their given or initial values."""
        self.level = level
        self.given_prior = doc_topic_prior
        learns = isinstance(doc_topic_prior, str)
        self.doc_topic_prior = np.full(n_topics, 0.1) if learns else doc_topic_prior

    _is_labeled = False
    """Whether the topics of words are restricted by labels."""

    @property
    def _sparse(self) -> bool:
        return self.n_topics >= SPARSE_FROM and not self._is_labeled and self.fixed is None

    def _take(self, corpus: SegmentedCorpus | LabeledCorpus) -> None:
        corpus, allowed = corpus if isinstance(corpus, LabeledCorpus) else (corpus, None)
        super()._take(corpus)
        self._node_ptr = [tokens_of_nodes(part, self.level) for part in self._corpora]
        ends = np.cumsum([0, *(len(ptr) - 1 for ptr in self._node_ptr)])
        self._allowed = [
            None if allowed is None else allowed.of_nodes(first, last)
            for first, last in pairwise(ends.tolist())
        ]
        empty = empty_sparse_scratch if self._sparse else empty_dense_scratch
        self._scratch = [empty(self.n_topics) for _ in self._corpora]

    def _move_into_sets(self, streams: list[NDArray[np.uint64]]) -> None:
        """Redraw the first topics of words that labels do not allow."""
        for s, allowed in enumerate(self._allowed):
            if allowed is not None:
                move_into_sets(self._node_ptr[s], self.shards[s].topics, *allowed, streams[s])

    def _topics_of_word(self, s: int, i: int) -> NDArray[np.bool_]:
        if (allowed := self._allowed[s]) is None:
            return super()._topics_of_word(s, i)
        node = np.searchsorted(self._node_ptr[s], i, side="right") - 1
        return allowed.sets[allowed.set_of[node]]

    # Words as counts, or as lists, whose order affects the draws

    _listed: ListedWords | None = None
    """Lists of a single shard or partition that currently has no data, or only counts."""

    def detach(self) -> None:
        """Drop the data and derived arrays, except for the lists of a single shard."""
        words = vars(self).get("_words")
        super().detach()
        if isinstance(words, ListedWords) and len(self.shards) == 1:
            self._listed = words

    def attach(self, corpus: Any) -> None:
        """Attach the corpus to the chain and build the arrays that depend on it."""
        super().attach(corpus)
        if self._listed is not None and isinstance(self._words, ListedWords):
            self._words, self._listed = self._listed, None

    def _count_words(self) -> None:
        if not self._sparse:
            super()._count_words()
            return
        topics = self.topics
        totals = np.bincount(topics, minlength=self.n_topics).astype(np.float64)
        if self.seeds is None:
            lists = list_words(self._whole.tokens, topics, self._whole.n_features, self.n_topics)
        else:
            dense = empty_counts(self._whole.n_features, self.n_topics)
            np.add.at(dense.counts, (self._whole.tokens, topics), 1)
            self.seeds.add_to(dense)
            lists = lists_of_counts(dense.counts, self.n_topics)
            totals += self.seeds.totals(self.n_topics)
        self._words = ListedWords(lists, totals)
        self._check_counts()

    def _check_counts(self) -> None:
        if self._sparse:
            check_lists(self._words)
        else:
            super()._check_counts()

    def _dense_words(self) -> WordCounts:
        if not self._sparse:
            return super()._dense_words()
        dense = empty_counts(self._whole.n_features, self.n_topics)
        counts_of_lists(self._words.lists, dense.counts)
        dense.totals[: self.n_topics] = self._words.totals
        return dense

    def _word_values(self) -> NDArray[np.float32]:
        return self._words.lists.values if self._sparse else super()._word_values()

    @property
    def _ledger(self) -> Any:
        return Listed if self._sparse else Counted

    def _sweep_words(self, words: Any, streams: list[NDArray[np.uint64]]) -> None:
        super()._sweep_words(words, streams)
        if len(self.shards) > 1 and isinstance(words, ListedWords):
            self._count_words()

    def hand_over(self, words: WordCounts, *, is_first: bool) -> WordCounts:
        """Return the words by topic and replace them by `words`, those of the whole corpus."""
        lists = self._words if self._sparse else None
        counts = super().hand_over(words, is_first=is_first)
        self._listed = lists
        return counts

    def sweep_partition(self, words: WordCounts) -> WordCounts:
        """Draw the topics of a partition's words once; return the updated counts."""
        if not self._sparse:
            return super().sweep_partition(words)
        n_seeds = 0 if self.seeds is None else self.seeds.n_counts
        is_alone = words.totals.sum() == len(self._whole.tokens) + n_seeds
        # A partition with all words continues with its lists, as a single shard does.
        listed = self._listed if is_alone else None
        if listed is None:
            lists = lists_of_counts(words.counts, self.n_topics)
            listed = ListedWords(lists, words.totals[: self.n_topics].copy())
        before = self.topics.copy()
        self._sweep_words(listed, self.streams)
        self._listed = listed if is_alone else None
        own = Counted.copy(words)
        Counted.move(own, self._corpora[0].tokens, before, self.topics)
        return own

    def _sweep_of(self, s: int, words: Any) -> NodeSweep:
        is_fixed = isinstance(words, WordCounts) and words.fixed
        gamma = 0.0 if is_fixed else self.topic_word_prior
        return NodeSweep(
            self._corpora[s], self.shards[s], self._node_ptr[s], self.doc_topic_prior, gamma,
            empty_dense_scratch(self.n_topics) if is_fixed else self._scratch[s], self._allowed[s],
        )  # fmt: skip

    # Parameters and shown attributes

    def _update_parameters(self) -> None:
        if not isinstance(self.given_prior, str):
            return
        self.doc_topic_prior = update_by_frequencies(
            self.doc_topic_prior,
            self._node_frequencies(),
            *self.dirichlet_prior,
            symmetric=self.given_prior == "auto-symmetric",
        )

    def _node_frequencies(self) -> Frequencies:
        """Return the frequencies of the words of nodes by topic."""

        def count() -> Iterator[NDArray[np.int32]]:
            for node_ptr, shard in zip(self._node_ptr, self.shards, strict=True):
                counts = np.zeros((len(node_ptr) - 1, self.n_topics), dtype=np.int32)
                count_nodes(node_ptr, shard.topics, counts)
                yield counts

        return count_frequencies(count(), self.n_topics)

    def _log_prior(self) -> float:
        n_k = np.zeros(self.n_topics, dtype=np.int64)
        return sum(
            log_prior_of_topics(node_ptr, shard.topics, self.doc_topic_prior, n_k)
            for node_ptr, shard in zip(self._node_ptr, self.shards, strict=True)
        )

    topic_axes: ClassVar[dict[str, int]] = {
        "doc_topic": 1,
        "segment_topic": 1,
        "doc_topic_prior": 0,
    }

    def empty_sums(self) -> dict[str, NDArray[np.float64]]:
        """Return zeros for the quantities that are averaged over the kept sweeps."""
        n_segments = len(self._whole.segment_ptr) - 1
        return {
            "doc_topic": np.zeros((len(self._whole), self.n_topics)),
            "segment_topic": np.zeros((n_segments, self.n_topics)),
            "doc_topic_prior": np.zeros(self.n_topics),
            "topic_word_prior": np.zeros(()),
        }

    def add_to(self, sums: dict[str, NDArray[np.float64]]) -> None:
        """Add the current values to the sums."""
        self._add_parameters_to(sums)
        nodes = [np.zeros((len(ptr) - 1, self.n_topics)) for ptr in self._node_ptr]
        for s, shard in enumerate(self.shards):
            add_node_estimates(
                0, len(nodes[s]), self._node_ptr[s], shard.topics, self.doc_topic_prior, nodes[s]
            )
            if (allowed := self._allowed[s]) is not None:
                nodes[s] = allowed.restrict(nodes[s])
        doc_topic, segment_topic = shares_of_nodes(
            self._whole, self.level, join(nodes), self.doc_topic_prior
        )
        sums["doc_topic"] += doc_topic
        sums["segment_topic"] += segment_topic

    def _add_parameters_to(self, sums: dict[str, NDArray[np.float64]]) -> None:
        sums["doc_topic_prior"] += self.doc_topic_prior
        sums["topic_word_prior"] += self.topic_word_prior

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        return {**super().scalars(), "doc_topic_prior_sum": float(self.doc_topic_prior.sum())}

    def model(self) -> LDAModel:
        """Return the current sample as a model."""
        return LDAModel(
            self.components().astype(np.float32), self.doc_topic_prior.copy(), self.level
        )

    # Interface of a sampler of one shard to a chain over partitions

    def parameters(self) -> dict[str, Any]:
        """Return the parameters shared by all shards."""
        return {
            "doc_topic_prior": self.doc_topic_prior,
            "topic_word_prior": self.topic_word_prior,
        }

    def take_parameters(self, parameters: dict[str, Any]) -> None:
        """Set the parameters shared by all shards."""
        vars(self).update(parameters)

    def statistics(self, *, is_first: bool) -> tuple[Any, ...]:
        """Return the additive statistics of this shard for updates of parameters."""
        return (self._node_frequencies() if isinstance(self.given_prior, str) else 0,)

    def report(self) -> tuple[float]:
        """Return the log joint without the words' part."""
        return (self._log_prior(),)

    def state(self) -> LDAState:
        """Return a read-only view of the state."""
        return LDAState(self)
