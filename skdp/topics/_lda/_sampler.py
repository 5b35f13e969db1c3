"""Chains of latent Dirichlet allocation, also with topics of a power law, and over partitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp.data import SegmentedCorpus
from skdp.processes._concentration import draw_bounded_beta, draw_concentration
from skdp.processes._network_tables import StirlingRatios
from skdp.topics._kernels import _lda as kernels
from skdp.topics._kernels._counts import Corpus, WordCounts
from skdp.topics._kernels._lda import SPARSE_FROM
from skdp.topics._shared._arrays import (
    MAX_COUNT,
    AllowedTopics,
    Documents,
    Frequencies,
    LabeledCorpus,
    Stream,
    count_frequencies,
    empty_counts,
    first_value,
    fixed_words,
    refuse_count,
    sum_rises,
    tells_apart,
    update_symmetric_dirichlet,
)
from skdp.topics._shared._bursts import Bursts, TablePlaces
from skdp.topics._shared._distributed import DistributedSampler
from skdp.topics._shared._fold_in import FoldIn, Halt, Shares, slices
from skdp.topics._shared._partition import Counted, ShardSweep, pack, unpack
from skdp.topics._shared._sampler import ChosenNodes, TopicSampler, TopicState, join, shown

_FIRST_PRIOR = 0.1
"""First value of every learned entry of the prior of shares."""


class LDAState(TopicState):
    """The state of a chain of latent Dirichlet allocation."""

    doc_topic_prior = shown("doc_topic_prior", "Document-topic prior alpha, (K,).")


class PowerLawLDAState(LDAState):
    """The state of a chain of latent Dirichlet allocation whose topics follow a power law."""

    topic_word_discount = shown("discount", "Discount a of the topics.")
    topic_word_concentration = shown("concentration", "Concentration b of the topics.")

    @property
    def word_tables(self) -> Ints:
        """Numbers of tables by topic and word, (K, W)."""
        sampler = self._sampler
        return as_readonly(sampler.tables[:, : sampler.n_topics].T)


# A sweep of one shard, over counts or over lists.


class NodeTopics(NamedTuple):
    """State of a shard: the topic of every word and, with bursts, its table: see `TablePlaces`."""

    topics: Ints
    seats: Ints

    @classmethod
    def unseated(cls, n_tokens: int) -> NodeTopics:
        """Return the state in which no word has a topic."""
        return cls(np.full(n_tokens, -1, np.int32), np.empty(0, np.int32))


class ListedWords(NamedTuple):
    """Words by topic as lists, and their totals."""

    lists: kernels.WordLists
    totals: Floats


def check_lists(words: ListedWords) -> None:
    """Raise if a word may have occurred in a topic more often than its count can represent."""
    if words.totals.sum() < MAX_COUNT:
        return
    ids, values, row_ptr, _ = words.lists
    sums = np.bincount(ids, weights=values, minlength=len(words.totals) + 1)[:-1]
    at = int(values.argmax())
    overflows = sums != words.totals
    if overflows.any():  # the word with the largest count among those topics
        at = int(np.argmax(np.where(overflows[np.minimum(ids, len(sums) - 1)], values, -1.0)))
    elif values[at] < MAX_COUNT:
        return
    refuse_count(int(np.searchsorted(row_ptr, at, side="right")) - 1, int(ids[at]))


@dataclass(eq=False)
class NodeSweep(ShardSweep):
    """A sweep of one shard of latent Dirichlet allocation."""

    _scratch = ("scratch",)

    node_ptr: Places
    alpha: Floats
    gamma: float
    scratch: kernels.DenseScratch | kernels.SparseScratch  # for words as counts, or as lists
    allowed: AllowedTopics | None  # only if words are counts
    bursts: tuple[float, float] | None = None  # concentration and discount
    places: TablePlaces | None = None  # of the tables of bursts

    def __post_init__(self) -> None:
        self.is_sparse = isinstance(self.scratch, kernels.SparseScratch)

    def _make_scratch(self) -> None:
        empty = kernels.empty_sparse_scratch if self.is_sparse else kernels.empty_dense_scratch
        self.scratch = empty(len(self.alpha))

    def counted_words(self) -> tuple[Ints, Ints]:
        """Return the words that topics count and their topics, -1 for words that are not there."""
        if self.places is None:
            return super().counted_words()
        return self.places.words, self.places.served(self.state)

    def sweep(self, words: Any, stream: Stream) -> NodeTopics:
        """Draw the topics of all words once; change `words` and return the state."""
        bursts: Any = None
        if self.bursts is not None and self.places is not None:
            bursts = self.places.seats(self.bursts, self.state.seats, len(self.alpha))
        tokens, topics = self.corpus.tokens, self.state.topics
        parameters, n_nodes = (self.alpha, self.gamma, self.scratch), len(self.node_ptr) - 1
        if self.allowed is not None:
            kernels.sweep_labeled_nodes(
                self.node_ptr, tokens, topics, words, *parameters, *self.allowed,
                np.empty(len(self.alpha)), bursts, stream,
            )  # fmt: skip
        elif self.is_sparse:
            kernels.sweep_nodes_sparse(
                0, n_nodes, self.node_ptr, tokens, topics, *words, *parameters, stream
            )
        else:
            kernels.sweep_nodes(
                0, n_nodes, self.node_ptr, tokens, topics, words, *parameters, bursts, stream
            )
        return self.state


class Listed:
    """Operations on words by topic that are stored as lists.

    The order of a list affects the draws: so a shard starts with the lists before the sweep, not
    with words that were moved back. After the sweep all words are listed from scratch.
    """

    @staticmethod
    def pack(words: ListedWords) -> Any:
        """Return words in a form that takes less space in a pickle."""
        values = words.lists.values.astype(np.int32)
        return [pack(each) for each in words.lists._replace(values=values)], words.totals

    @staticmethod
    def unpack(packed: Any) -> ListedWords:
        """Return the words that were packed."""
        arrays, totals = packed
        lists = kernels.WordLists(*(unpack(each) for each in arrays))
        return ListedWords(lists._replace(values=lists.values.astype(np.float32)), totals)

    @staticmethod
    def copy(words: ListedWords) -> ListedWords:
        """Return a copy of the words."""
        lists = kernels.WordLists(*(array.copy() for array in words.lists))
        return ListedWords(lists, words.totals.copy())

    @staticmethod
    def take_back(
        own: ListedWords, words: ListedWords, tokens: Ints, before: Any, after: Any
    ) -> None:
        """Reset `own` to `words` after the sweep of a shard."""
        for new, old in zip(own.lists, words.lists, strict=True):
            new[:] = old
        own.totals[:] = words.totals

    @staticmethod
    def move(own: ListedWords, tokens: Any, before: Any, after: Any) -> None:
        """Leave a copy unchanged, because it is no longer needed."""

    @staticmethod
    def change(words: ListedWords, own: ListedWords) -> None:
        """Return nothing, because words are listed by the topics that are returned."""

    @staticmethod
    def merge(words: ListedWords, copies: list[ListedWords]) -> None:
        """Leave the words unchanged, because they are listed from scratch."""


# Stored samples, without the corpus.


def nodes_of_documents(corpus: SegmentedCorpus, level: str) -> Places:
    """Return the nodes of each document as offsets, (D + 1,): the document, or its segments."""
    if level == "document":
        return as_readonly(np.arange(len(corpus) + 1))
    return as_readonly(np.asarray(corpus.doc_ptr, dtype=np.int64))


def tokens_of_nodes(corpus: SegmentedCorpus | Corpus, level: str) -> Places:
    """Return the tokens of each node as offsets, (nodes + 1,)."""
    ptr = corpus.segment_ptr[corpus.doc_ptr] if level == "document" else corpus.segment_ptr
    return as_readonly(np.asarray(ptr, dtype=np.int64))


def nodes_of(corpus: SegmentedCorpus, level: str) -> kernels.WordNodes:
    """Return the documents and nodes of a corpus in the form that kernels take."""
    ptr = tokens_of_nodes(corpus, level), nodes_of_documents(corpus, level)
    return kernels.WordNodes(corpus.tokens, corpus.segment_ptr, corpus.doc_ptr, *ptr)


def shares_of_nodes(corpus: SegmentedCorpus, level: str, nodes: Floats, prior: Floats) -> Shares:
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
    doc_topic_prior: Floats  # (K,)
    level: str  # "document" or "segment": the units that have their own topic shares
    bursts: tuple[float, float] | None = None  # concentration and discount

    def own_words(
        self,
        corpus: SegmentedCorpus,
        own: Floats,  # from a fold-in
        words: Ints,
        segments: NDArray[np.integer],
    ) -> Floats:
        """Return the probability that each of some words repeats one of its node."""
        node_ptr, nodes = tokens_of_nodes(corpus, self.level), segments
        if self.level == "document":
            nodes = np.searchsorted(corpus.doc_ptr, segments, side="right") - 1
        places = TablePlaces.of(corpus.tokens, node_ptr, corpus.n_features)
        return places.own_words(own, node_ptr, words, nodes, corpus.n_features)

    def empty_seats(self, corpus: SegmentedCorpus) -> Any:
        """Return seats of the words of a corpus as kernels take them; None without bursts."""
        if self.bursts is None:
            return None
        ptr = tokens_of_nodes(corpus, self.level)
        places = TablePlaces.of(corpus.tokens, ptr, corpus.n_features)
        seats = np.zeros(len(corpus.tokens), dtype=np.int32)
        return places.seats(self.bursts, seats, len(self.doc_topic_prior))

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

    def __call__(self, corpus: SegmentedCorpus, key: Stream, halt: Halt) -> Shares:
        """Return E[theta] of documents (D, K) and of segments (J, K)."""
        model, settings = self.model, self.settings
        n_topics = len(model.doc_topic_prior)
        arrays = nodes_of(corpus, model.level)
        nodes = np.zeros((len(arrays.node_ptr) - 1, n_topics))
        topics = np.full(len(corpus.tokens), -1, dtype=np.int32)
        prior = np.array(model.doc_topic_prior)  # as in `TableModel.prior`
        # With a tiny prior the first word would fix the topic of all, and no word could leave it.
        first_prior = prior / min(float(prior.sum()), 1.0)
        scratch, bursts = kernels.empty_dense_scratch(n_topics), model.empty_seats(corpus)
        n_bursts = (0, 0) if bursts is None else (len(nodes), len(topics))
        opening, own = np.zeros((n_bursts[0], n_topics)), np.zeros(n_bursts[1])
        for work, place, rng in slices(halt, corpus):
            kernels.fold_in_nodes(
                arrays, topics, self.words, first_prior, prior, scratch, bursts, settings.n_sweeps,
                settings.burn_in, work, place, key, nodes, opening, own, rng,
            )  # fmt: skip
        for sums in (nodes, opening, own):
            sums *= settings.scale
        shares = shares_of_nodes(corpus, model.level, nodes, model.doc_topic_prior)
        if bursts is None:
            return shares
        if model.level == "document":
            opening = np.repeat(opening, np.diff(corpus.doc_ptr), axis=0)
        return *shares, opening, own


@dataclass(frozen=True, eq=False)
class LDALikelihood:
    """Estimates under a sample of latent Dirichlet allocation."""

    model: LDAModel
    words: WordCounts

    def __call__(self, corpus: SegmentedCorpus, key: Stream, n_particles: int) -> Floats:
        """Return the log of an estimate of the probability of every document, (D,)."""
        model = self.model
        out = np.zeros(len(corpus))
        prior = np.array(model.doc_topic_prior)  # as in `TableModel.prior`
        kernels.estimate_nodes(
            n_particles, nodes_of(corpus, model.level), self.words, prior,
            kernels.empty_dense_scratch(len(prior)), model.empty_seats(corpus), key, out,
        )  # fmt: skip
        return out


# The chain over one corpus.


class LDASampler(TopicSampler):
    """Markov chain of latent Dirichlet allocation over one corpus.

    With many topics, counts of words are stored as lists, unless there are labels or fixed topics.
    The chains of both kinds of sweep are exact, but not identical.
    """

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *TopicSampler._data_attributes, "_node_ptr", "_scratch", "_allowed",
    )  # fmt: skip

    shards: list[NodeTopics]

    def __init__(
        self,
        corpus: Documents,
        n_topics: int,
        level: str,  # "document" or "segment": the units with their own shares, called nodes
        doc_topic_prior: Any,  # (K,) array, "auto" or "auto-symmetric"
        topic_word_prior: Any,  # float, "auto" or WordPrior
        dirichlet_prior: tuple[float, float],
        init: Any,  # "random" or (K, W) array
        init_streams: list[Stream],  # of the first state, one for each shard
        streams: list[Stream],  # of the sweeps, one for each shard
        n_jobs: int | None = None,
        bursts: Bursts | None = None,
    ):
        settings = n_topics, level, doc_topic_prior, topic_word_prior, dirichlet_prior
        self._start(settings, streams, n_jobs, is_labeled=isinstance(corpus, LabeledCorpus))
        self._take(corpus)
        self.shards = [NodeTopics.unseated(len(part.tokens)) for part in self._corpora]
        if isinstance(init, str):
            for s, (part, stream) in enumerate(zip(self._corpora, init_streams, strict=True)):
                self._draw_first_topics(
                    self.shards[s].topics, part.tokens, self._node_ptr[s], self._allowed[s], stream
                )
        else:
            self._sweep_words(self._first_topics(init), init_streams)
        self._start_bursts(corpus, bursts)
        self._count_words()
        self._return_strays(self._words)

    def _start(self, settings: Any, streams: Any, n_jobs: Any, *, is_labeled: bool) -> None:
        n_topics, self.level, self.given_prior, gamma, dirichlet_prior = settings
        TopicSampler.__init__(self, n_topics, gamma, dirichlet_prior, streams, n_jobs)
        self.doc_topic_prior = first_value(self.given_prior, np.full(n_topics, _FIRST_PRIOR))
        self._is_labeled = is_labeled
        self.topics_trade_places = not (is_labeled or tells_apart(self.given_prior))

    _is_labeled = False
    """Whether the topics of words are restricted by labels."""

    @property
    def _sparse(self) -> bool:
        is_plain = not self._is_labeled and self.fixed is None and self.bursts is None
        is_plain = is_plain and self.n_settled == 0
        return self.n_topics >= SPARSE_FROM and is_plain

    def _take(self, corpus: Documents) -> None:
        corpus, allowed = corpus if isinstance(corpus, LabeledCorpus) else (corpus, None)
        super()._take(corpus)
        self._node_ptr = [tokens_of_nodes(part, self.level) for part in self._corpora]
        ends = np.cumsum([0, *(len(ptr) - 1 for ptr in self._node_ptr)])
        self._allowed = [
            None if allowed is None else allowed.of_nodes(first, last)
            for first, last in pairwise(ends.tolist())
        ]
        empty = kernels.empty_sparse_scratch if self._sparse else kernels.empty_dense_scratch
        self._scratch = [empty(self.n_topics) for _ in self._corpora]
        self._place_tables(self._node_ptr)

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
            lists = kernels.list_words(
                self._whole.tokens, topics, self._whole.n_features, self.n_topics
            )
        else:
            dense = empty_counts(self._whole.n_features, self.n_topics)
            np.add.at(dense.counts, (self._whole.tokens, topics), 1)
            self.seeds.add_to(dense)
            lists = kernels.lists_of_counts(dense.counts, self.n_topics)
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
        kernels.counts_of_lists(self._words.lists, dense.counts)
        dense.totals[: self.n_topics] = self._words.totals
        return dense

    def _word_values(self) -> NDArray[np.float32]:
        return self._words.lists.values if self._sparse else super()._word_values()

    @property
    def _count_format(self) -> Any:
        return Listed if self._sparse else Counted

    @property
    def _whole_ptr(self) -> Places:
        return self._node_ptr[0]

    def _draw_chosen(self, chosen: ChosenNodes) -> None:
        """Draw the topics of the words of some nodes, which need not have any."""
        allowed = AllowedTopics.every(self.n_topics, len(chosen.node_ptr) - 1)
        self._sweep_chosen(chosen, self.doc_topic_prior, allowed)

    def _seat_more(self, n_before: int) -> None:
        # With a small prior, the first word of a document would choose the topic of all others; if
        # it is learned, the new words may need topics that had none.
        given = self.doc_topic_prior
        self.doc_topic_prior = np.maximum(given, _FIRST_PRIOR)
        is_new = np.arange(len(self._whole_ptr) - 1) >= self.n_settled
        self._draw_chosen(ChosenNodes.of(self._whole_ptr, self._whole.tokens, is_new))
        if not isinstance(self.given_prior, str):
            self.doc_topic_prior = given

    def _sweep_words(self, words: Any, streams: list[Stream]) -> None:
        if self.n_settled > 0:
            self._draw_chosen(self._draw_nodes())
            return
        super()._sweep_words(words, streams)
        if len(self.shards) > 1 and isinstance(words, ListedWords):
            self._count_words()

    def swap_counts(self, words: WordCounts, *, is_first: bool) -> WordCounts:
        """Return the words by topic and replace them by `words`, those of the whole corpus."""
        lists = self._words if self._sparse else None
        counts = super().swap_counts(words, is_first=is_first)
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
            lists = kernels.lists_of_counts(words.counts, self.n_topics)
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
        scratch = kernels.empty_dense_scratch(self.n_topics) if is_fixed else self._scratch[s]
        return NodeSweep(
            self._corpora[s], self.shards[s], self._node_ptr[s], self.doc_topic_prior, gamma,
            scratch, self._allowed[s],
            *(() if self.bursts is None else (self.bursts.parameters, self._table_places[s])),
        )  # fmt: skip

    # Parameters and shown attributes

    def _update_parameters(self) -> None:
        self._update_bursts()
        self.doc_topic_prior = self._learned(
            self.doc_topic_prior, self.given_prior, self._node_frequencies
        )

    def _node_frequencies(self) -> Frequencies:
        """Return the frequencies of the words of nodes by topic."""

        def count() -> Iterator[Ints]:
            for node_ptr, shard in zip(self._node_ptr, self.shards, strict=True):
                counts = np.zeros((len(node_ptr) - 1, self.n_topics), dtype=np.int32)
                kernels.count_nodes(node_ptr, shard.topics, counts)
                yield counts

        return count_frequencies(count(), self.n_topics)

    def _log_prior(self) -> float:
        n_k = np.zeros(self.n_topics, dtype=np.int64)
        result = sum(
            kernels.log_prior_of_topics(node_ptr, shard.topics, self.doc_topic_prior, n_k)
            for node_ptr, shard in zip(self._node_ptr, self.shards, strict=True)
        )
        return result + self._log_probability_of_seats()

    def add_shares_to(self, sums: dict[str, Floats]) -> None:
        """Add the shares of documents and of segments, given the state, to sums."""
        nodes = [np.zeros((len(ptr) - 1, self.n_topics)) for ptr in self._node_ptr]
        for s, shard in enumerate(self.shards):
            kernels.add_node_estimates(
                0, len(nodes[s]), self._node_ptr[s], shard.topics, self.doc_topic_prior, nodes[s]
            )
            if (allowed := self._allowed[s]) is not None:
                nodes[s] = allowed.restrict(nodes[s])
        doc_topic, segment_topic = shares_of_nodes(
            self._whole, self.level, join(nodes), self.doc_topic_prior
        )
        sums["doc_topic"] += doc_topic
        sums["segment_topic"] += segment_topic

    def shown_parameters(self) -> dict[str, Any]:
        """Return the parameters to show."""
        return {**self.parameters(), **self._burst_scalars}

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        return {
            **super().scalars(),
            "doc_topic_prior_sum": float(self.doc_topic_prior.sum()),
            **self._burst_scalars,
        }

    def model(self) -> LDAModel:
        """Return the current sample as a model."""
        bursts = None if self.bursts is None else self.bursts.parameters
        components = self.components().astype(np.float32)
        return LDAModel(components, self.doc_topic_prior.copy(), self.level, bursts)

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


# The chain whose topics are Pitman-Yor processes, whose words follow a power law.


START_DISCOUNT = 0.2


class PowerLaw(NamedTuple):
    """Parameters of the Pitman-Yor processes of topics: "auto" for drawn parameters."""

    discount: float | str
    discount_prior: tuple[float, float]
    concentration: float | str
    concentration_prior: tuple[float, float]
    has_shared_base: bool


class PowerLawLDASampler(LDASampler):
    """Markov chain of latent Dirichlet allocation with Pitman-Yor processes as topics."""

    _data_attributes: ClassVar[tuple[str, ...]] = (*LDASampler._data_attributes, "_stirling")

    tables: Ints
    """Numbers of tables by word and topic, (W, K'); missing until words have their first topics."""

    _sparse = False

    def __init__(
        self,
        corpus: Documents,
        power_law: PowerLaw,
        *further: Any,  # as those of `LDASampler` from `n_topics` to `streams`
    ):
        self.power_law = power_law
        self.discount = first_value(power_law.discount, START_DISCOUNT)
        self.concentration = 0.0  # until the size of the vocabulary is known
        super().__init__(corpus, *further)
        n_words = self._whole.n_features
        self.concentration = first_value(power_law.concentration, self.topic_word_prior * n_words)
        self._set_prior_of_uniform_base()
        self.tables = (self._words.counts > 0).astype(np.int32)
        tables = self.tables[:, : self.n_topics]
        self.topic_tables = tables.sum(axis=0, dtype=np.int64)
        self.word_tables = tables.sum(axis=1, dtype=np.int64)

    def _take(self, corpus: Documents) -> None:
        super()._take(corpus)
        self._largest = int(np.bincount(self._whole.tokens, minlength=1).max())
        self._make_ratios()

    def _make_ratios(self) -> None:
        self._stirling = StirlingRatios.for_counts(self._largest, self.discount)

    def _set_prior_of_uniform_base(self) -> None:
        """Set the prior of words to the pseudo-count that a uniform base gives every word."""
        if not self.power_law.has_shared_base:
            self.topic_word_prior = self.concentration / self._whole.n_features

    @property
    def _law(self) -> kernels.WordTables:
        """The tables and the parameters in the form that kernels take."""
        gamma = self.topic_word_prior if self.power_law.has_shared_base else 0.0
        return kernels.WordTables(
            self.tables, self.topic_tables, self.word_tables, float(self.discount),
            float(self.concentration), float(gamma), self._stirling.values, self._stirling.row_ptr,
        )  # fmt: skip

    def _sweep_words(self, words: Any, streams: list[Stream]) -> None:
        if words.fixed:  # the first topics are given
            super()._sweep_words(words, streams)
            return
        (node_ptr,), (allowed,), n_topics = self._node_ptr, self._allowed, self.n_topics
        allowed = allowed or AllowedTopics.every(n_topics, len(node_ptr) - 1)
        kernels.sweep_power_law(
            node_ptr, self._whole.tokens, self.topics, words, self._law, self.doc_topic_prior,
            *allowed, np.empty((4, n_topics)), streams[0],
        )  # fmt: skip

    def sweep(self) -> None:
        """Draw the latent variables of the words once, then the learned parameters."""
        self._sweep_words(self._words, self.streams)
        self._check_counts()
        self._update_parameters()
        self._update_discount()
        self._update_concentration()
        if self.power_law.has_shared_base and self.learns_topic_word_prior:
            self.topic_word_prior = update_symmetric_dirichlet(
                self.topic_word_prior, sum_rises(self.topic_word_prior, self.word_tables),
                np.array([self.word_tables.sum()], dtype=np.float64), self._whole.n_features,
                *self.dirichlet_prior,
            )  # fmt: skip

    def _update_discount(self) -> None:
        """Draw the discount, and recompute the ratios."""
        if not isinstance(self.power_law.discount, str):
            return
        p, q = self.power_law.discount_prior
        stream = self.streams[0]
        of_tables, of_seatings = kernels.gather_evidence(self._words.counts, self._law, stream)
        self.discount = draw_bounded_beta(p + of_tables, q + of_seatings, stream)
        self._make_ratios()

    def _update_concentration(self) -> None:
        if isinstance(self.power_law.concentration, str):
            self.concentration = draw_concentration(
                self._words.totals[: self.n_topics].astype(np.int64), self.topic_tables,
                self.discount, self.concentration, *self.power_law.concentration_prior,
                self.streams[0],
            )  # fmt: skip
            self._set_prior_of_uniform_base()

    def base(self) -> Floats:
        """Return E[H] given the state, (W,)."""
        n_words = self._whole.n_features
        if not self.power_law.has_shared_base:
            return np.full(n_words, 1.0 / n_words)
        weights = self.word_tables + self.topic_word_prior
        return weights / weights.sum()

    def components(self) -> Floats:
        """Return E[phi] given the state, (K, W)."""
        counts = self._words.counts[:, : self.n_topics].T.astype(np.float64, order="C")
        counts -= self.discount * self.tables[:, : self.n_topics].T
        opening = self.concentration + self.discount * self.topic_tables
        counts += opening[:, np.newaxis] * self.base()
        counts /= counts.sum(axis=1, keepdims=True)
        return counts

    def log_joint(self) -> float:
        """Return log p(words, topics, numbers of tables | parameters)."""
        return self._log_prior() + kernels.log_probability_of_power_law(
            self._words.counts, self._words.totals, self._law
        )

    def shown_parameters(self) -> dict[str, Any]:
        """Return the parameters to show."""
        return {
            **super().shown_parameters(),
            "topic_word_discount": self.discount,
            "topic_word_concentration": self.concentration,
            "topic_word_base": self.base(),
        }

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        return {
            **super().scalars(),
            "topic_word_discount": float(self.discount),
            "topic_word_concentration": float(self.concentration),
            "n_word_tables": float(self.topic_tables.sum()),
        }

    def state(self) -> PowerLawLDAState:
        """Return a read-only view of the state."""
        return PowerLawLDAState(self)

    def copy(self) -> Self:
        """Return a sampler with a copy of the same state."""
        other = super().copy()
        other._make_ratios()  # lookups fill the patches of a table
        return other


# The chain over a corpus in partitions.


class DistributedLDASampler(DistributedSampler, LDASampler):
    """Markov chain of latent Dirichlet allocation over a corpus in partitions."""

    of_shard = LDASampler

    def _node_frequencies(self) -> Frequencies:
        return self._found[0]
