"""Chains of all topic models: base class, moves of topics with seed words, best sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from copy import deepcopy
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skdp._fit._estimator import keep_numbers
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import make_generator
from skdp._part import ChainComponent
from skdp.data import SegmentedCorpus
from skdp.topics._kernels import _hdp as moves
from skdp.topics._kernels._counts import WordCounts, log_likelihood_of_words, score_tokens
from skdp.topics._kernels._lda import (
    empty_dense_scratch,
    move_into_sets,
    seat_randomly,
    sweep_labeled_nodes,
)
from skdp.topics._shared._arrays import (
    AllowedTopics,
    FixedTopics,
    Frequencies,
    Seeds,
    Stream,
    WordPrior,
    check_counts,
    empty_counts,
    first_value,
    fixed_words,
    flat,
    split_documents,
    sum_rises,
    update_by_frequencies,
    update_symmetric_dirichlet,
)
from skdp.topics._shared._bursts import Bursts, TablePlaces
from skdp.topics._shared._partition import Counted, ShardSweep, sweep_shards

START_TOPIC_WORD_PRIOR = 0.05


class ChosenNodes(NamedTuple):
    """Some nodes: the places of their words in the corpus, and the words by node."""

    places: NDArray[np.intp]
    node_ptr: Places
    tokens: Ints

    @classmethod
    def of(cls, node_ptr: Places, tokens: Ints, chosen: NDArray[np.bool_]) -> ChosenNodes:
        """Return the chosen nodes, in order."""
        lengths = np.diff(node_ptr)
        places = np.flatnonzero(np.repeat(chosen, lengths))
        ptr = np.concatenate([[0], np.cumsum(lengths[chosen])]).astype(np.int64)
        return cls(places, as_readonly(ptr), as_readonly(tokens[places]))


class TopicSampler(ChainComponent):
    """Markov chain of a topic model over one corpus, whose documents may be swept in shards.

    Shards are ranges of documents. Each is swept with its own counts of words, which are merged
    after every sweep (Newman et al., 2009); this is approximate unless there is one shard. The
    constructor of a subclass first takes the corpus, then creates the first state.
    """

    is_distributed: ClassVar[bool] = False
    """Whether the data are partitions that an executor has distributed."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        "_whole", "_bounds", "_segment_bounds", "_corpora", "_words", "_table_places", "_burst_ptr",
    )  # fmt: skip

    topic_axes: ClassVar[dict[str, int]] = {
        "doc_topic": 1, "segment_topic": 1, "doc_topic_prior": 0,
    }  # fmt: skip
    """Axes of values along which topics are listed."""

    seeds: Seeds | None = None
    """Seed words of topics, whose pseudo-counts are in `_words`."""

    fixed: FixedTopics | None = None
    """Given words of the first topics, whose columns in `_words` hold no counts."""

    bursts: Bursts | None = None
    """Bursts of words, with which topics count the tables of words."""

    n_settled = 0
    """Number of first nodes that are from earlier calls of `partial_fit`."""

    _burst_ptr: list[Places]  # tokens of the nodes that share them, by shard
    _table_places: list[TablePlaces]  # of these tables, by shard

    shards: list[Any]  # the state of each, a named tuple with `topics` among its arrays
    _words: Any

    def __init__(
        self,
        n_topics: int,
        topic_word_prior: Any,  # float, "auto" or WordPrior
        dirichlet_prior: tuple[float, float],
        streams: list[Stream],  # of the shards; the first draws parameters as well
        n_jobs: int | None,
    ):
        self.n_topics = n_topics
        self.topics_trade_places = True  # False if a prior distinguishes topics
        self.dirichlet_prior = dirichlet_prior
        if isinstance(topic_word_prior, WordPrior):
            topic_word_prior, self.seeds, self.fixed = topic_word_prior
        self.learns_topic_word_prior = isinstance(topic_word_prior, str)
        self.topic_word_prior = first_value(topic_word_prior, START_TOPIC_WORD_PRIOR)
        self.streams = streams
        self.n_jobs = n_jobs

    def _start(
        self,
        settings: tuple[Any, ...],  # arguments of the constructor from `n_topics` to before `init`
        streams: list[Stream],
        n_jobs: int | None,
        *,
        is_labeled: bool,
    ) -> None:
        """Set the parameters, of chains over partitions, too."""
        raise NotImplementedError

    def attach(self, corpus: SegmentedCorpus) -> None:
        """Attach the corpus to the chain and build the arrays that depend on it."""
        self._take(corpus)
        self._count_words()

    def _take(self, corpus: SegmentedCorpus) -> None:
        """Store the corpus and build the arrays that depend on it, regardless of the state."""
        self._whole = corpus
        self._bounds = split_documents(corpus, len(self.streams))
        self._segment_bounds = [tuple(corpus.doc_ptr[[*ends]].tolist()) for ends in self._bounds]
        self._corpora = [
            flat(corpus if len(self._bounds) == 1 else corpus[begin:end])
            for begin, end in self._bounds
        ]

    # Bursts

    def _start_bursts(self, corpus: Any, bursts: Bursts | None) -> None:
        """Seat words, which have topics, at tables of bursts if there are any."""
        self.bursts = bursts
        if bursts is not None:
            self._take(corpus)  # with places for tables
            for s, places in enumerate(self._table_places):
                seats = places.seat_together(self.shards[s].topics, self.n_topics)
                self.shards[s] = self.shards[s]._replace(seats=seats)

    def _place_tables(self, burst_ptr: list[Places]) -> None:
        """Make places for the tables of the nodes of every shard, if there are bursts."""
        if self.bursts is not None:
            self._burst_ptr, n_words = burst_ptr, self._whole.n_features
            self._table_places = [
                TablePlaces.of(part.tokens, ptr, n_words)
                for part, ptr in zip(self._corpora, burst_ptr, strict=True)
            ]

    @property
    def _seated_shards(self) -> list[Any]:
        """The nodes, the state and the places of every shard with bursts."""
        return list(zip(self._burst_ptr, self.shards, self._table_places, strict=True))

    def _update_bursts(self) -> None:
        if self.bursts is not None:
            self.bursts.update(self._seated_shards, self.n_topics, self.streams[0])

    def _log_probability_of_seats(self) -> float:
        if self.bursts is None:
            return 0.0
        return self.bursts.log_probability(self._seated_shards, self.n_topics)

    @property
    def _burst_scalars(self) -> dict[str, float]:
        return {} if self.bursts is None else self.bursts.scalars()

    def _seats_of(self, places: NDArray[np.intp] | None) -> tuple[Any, Any]:
        """Return the tables of chosen nodes, or of all, and what their seats have been lowered by.

        Seats of chosen nodes are copies, numbered as if there were no others.
        """
        assert self.bursts is not None
        parameters, n_columns = self.bursts.parameters, len(self._words.totals)
        table_places, seats = self._table_places[0], self.shards[0].seats
        shift: Any = 0
        if places is not None:
            shift = (places - np.arange(len(places))).astype(np.int32)
            firsts = as_readonly(table_places.firsts[places] - shift)
            table_places, seats = table_places._replace(firsts=firsts), seats[places] - shift
        return table_places.seats(parameters, seats, n_columns), shift

    # More data

    @property
    def _whole_ptr(self) -> Places:
        """Tokens of all nodes."""
        raise NotImplementedError

    def extended(self, corpus: SegmentedCorpus, n_left: int) -> Self:
        """Return a sampler of a corpus that begins with that of this one, but for its first
        `n_left` words, with the same state.
        """
        other = deepcopy(self)
        (shard,), n_before = self.shards, len(self.topics) - n_left
        other.n_settled = 1
        other._take(corpus)
        other.n_settled = int(np.searchsorted(other._whole_ptr, n_before))
        topics = np.full(len(corpus.tokens), -1, dtype=np.int32)
        topics[:n_before] = shard.topics[n_left:]
        other.shards = [shard._replace(topics=topics)]
        if other.bursts is not None:
            seats = other._table_places[0].firsts.copy()
            seats[:n_before] = shard.seats[n_left:] - n_left
            other.shards = [shard._replace(topics=topics, seats=seats)]
        other._count_words()
        other._seat_more(n_before)
        return other

    def _seat_more(self, n_before: int) -> None:
        """Draw the first topics of all words but the first `n_before`, which have some."""
        raise NotImplementedError

    def _draw_nodes(self) -> ChosenNodes:
        """Return the new nodes and as many of the others, drawn at random."""
        is_chosen = np.arange(len(self._whole_ptr) - 1) >= self.n_settled
        n_new = np.count_nonzero(is_chosen)
        is_chosen[make_generator(self.streams[0]).integers(self.n_settled, size=n_new)] = True
        return ChosenNodes.of(self._whole_ptr, self._whole.tokens, is_chosen)

    def _sweep_chosen(
        self, chosen: ChosenNodes, doc_topic_prior: Floats, allowed: AllowedTopics
    ) -> None:
        """Draw the topics of the words of nodes once; no topic opens or closes."""
        places, node_ptr, tokens = chosen
        topics, n_columns = self.topics[places], len(self._words.totals)
        prior = np.zeros(n_columns)
        prior[: self.n_topics] = doc_topic_prior
        sets = np.zeros((len(allowed.sets), n_columns), dtype=np.bool_)
        sets[:, : allowed.sets.shape[1]] = allowed.sets
        seats, shift = (None, 0) if self.bursts is None else self._seats_of(places)
        sweep_labeled_nodes(
            node_ptr, tokens, topics, self._words, prior, self.topic_word_prior,
            empty_dense_scratch(n_columns), sets, allowed.set_of, np.empty(n_columns), seats,
            self.streams[0],
        )  # fmt: skip
        self.topics[places] = topics
        if seats is not None:
            self.shards[0].seats[places] = seats.seats + shift

    @property
    def n_columns(self) -> int:
        """Columns of the arrays that list topics; columns beyond `n_topics` are unused."""
        return self.n_topics

    @property
    def n_seeded(self) -> int:
        """Number of topics with seed words or given words."""
        return len(self.seeded)

    @property
    def seeded(self) -> Places:
        """The topics with seed words or given words, which keep their numbers."""
        seeded = np.arange(0 if self.fixed is None else len(self.fixed.phi))
        return seeded if self.seeds is None else np.union1d(seeded, self.seeds.topics)

    # First states

    @property
    def _has_prior_mean(self) -> bool:
        """Whether words are more probable in some topics than in others before a fit."""
        return not (self.seeds is None and self.fixed is None)

    def _seat_by_prior(
        self, topics: Ints, tokens: Ints, stream: Stream, allowed: AllowedTopics | None = None
    ) -> None:
        """Draw the first topics of words; `allowed` are the topics of words that have labels."""
        n_topics, gamma = self.n_topics, self.topic_word_prior
        if self.fixed is not None:
            allowed = allowed or AllowedTopics.every(n_topics, len(tokens))
            self.fixed.seat(topics, tokens, gamma, self.seeds, allowed, stream)
        elif self.seeds is not None:
            self.seeds.seat(topics, tokens, n_topics, gamma, stream)

    def _draw_first_topics(
        self, topics: Ints, tokens: Ints, node_ptr: Places, allowed: Any, stream: Stream
    ) -> None:
        """Draw first topics from the prior or uniformly, among those that a node's labels allow."""
        if self._has_prior_mean:
            self._seat_by_prior(topics, tokens, stream, allowed and allowed.of_words(node_ptr))
        else:
            seat_randomly(topics, self.n_topics, stream)
        if allowed is not None:
            move_into_sets(node_ptr, topics, *allowed, stream)

    def _first_topics(self, init: NDArray[np.floating]) -> WordCounts:
        """Return topics (K, W) in the form of counts, with the fixed topics as the first ones."""
        words = fixed_words(init)
        if self.fixed is not None:
            self.fixed.write_to(words, 0.0)
        return words

    # Words by topic

    def _count_words(self) -> None:
        """Count words by topic from the state."""
        self._words = empty_counts(self._whole.n_features, self.n_columns)
        counts, totals = self._words.counts, self._words.totals
        for tokens, topics in self._counted_words():
            np.add.at(counts, (tokens, topics), 1)
            totals += np.bincount(topics, minlength=len(totals))
        if self.seeds is not None:
            self.seeds.add_to(self._words)
        self._enter_fixed()
        self._check_counts()

    def _counted_words(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield the words that each shard counts and their topics: all, or one for each table."""
        for s, (corpus, shard) in enumerate(zip(self._corpora, self.shards, strict=True)):
            if self.bursts is None:
                is_seated = slice(None) if self.n_settled == 0 else shard.topics >= 0
                yield corpus.tokens[is_seated], shard.topics[is_seated]
            else:
                served = self._table_places[s].served(shard)
                yield self._table_places[s].words[served >= 0], served[served >= 0]

    def _check_counts(self) -> None:
        """Raise if a word occurs more often in a topic than its count can represent."""
        check_counts(self._words)

    @property
    def segment_lengths(self) -> Places:
        """Number of tokens of every segment."""
        return np.diff(self._whole.segment_ptr)

    @property
    def topics(self) -> Ints:
        """Topic of every word, or -1 before it is assigned."""
        return join([shard.topics for shard in self.shards])

    def _sweep_of(self, s: int, words: Any) -> ShardSweep:
        """Return the sweep of shard `s`."""
        raise NotImplementedError

    @property
    def _count_format(self) -> Any:
        """Class with the operations on words by topic."""
        return Counted

    def _sweep_words(self, words: Any, streams: list[Stream]) -> None:
        """Draw the latent variables of all words once, shard by shard."""
        sweeps = [self._sweep_of(s, words) for s in range(len(self.shards))]
        if len(sweeps) == 1:
            self.shards[0] = sweeps[0].sweep(words, streams[0])
        else:
            ledger = Counted if isinstance(words, WordCounts) else self._count_format
            self.shards[:] = sweep_shards(sweeps, streams, words, ledger, self.n_jobs)

    def swap_counts(self, words: WordCounts, *, is_first: bool) -> WordCounts:
        """Return the words by topic and replace them by `words`, those of the whole corpus."""
        counts = self._dense_words()
        if self.seeds is not None and not is_first:  # the sum over partitions has them once
            self.seeds.add_to(counts, -1)
        self._words = words
        return counts if self.fixed is None else self.fixed.clear(counts)

    def sweep_partition(self, words: WordCounts) -> WordCounts:
        """Draw latent variables of a partition once; return the updated counts, not in place."""
        own = Counted.copy(words)
        if self.fixed is not None:
            self.fixed.write_to(own, self.topic_word_prior)
        self._sweep_words(own, self.streams)
        self._return_strays(own)
        return own if self.fixed is None else self.fixed.clear(own)

    def sweep(self) -> None:
        """Draw the latent variables of the words once, then the learned parameters."""
        self._enter_fixed()
        self._sweep_words(self._words, self.streams)
        self._return_strays(self._words)
        self._check_counts()
        self._update_parameters()
        if self.learns_topic_word_prior and (self.fixed is None or self._topic_totals().any()):
            rises, seed_totals = self._word_rises(), None
            if self.seeds is not None:
                rises -= self.seeds.rises(self.topic_word_prior)
                seed_totals = self.seeds.totals(0)
            self.topic_word_prior = update_symmetric_dirichlet(
                self.topic_word_prior, rises, self._topic_totals(), self._whole.n_features,
                *self.dirichlet_prior, seed_totals,
            )  # fmt: skip

    def _enter_fixed(self) -> None:
        """Write the columns of fixed topics, because gamma may have changed."""
        if self.fixed is not None:
            self.fixed.write_to(self._words, self.topic_word_prior)

    def _return_strays(self, words: Any) -> None:
        """Move words that rounding, once in 2^25 draws, put in a fixed topic that excludes them."""
        if self.fixed is None or self.bursts is not None:  # sweeps with bursts look for themselves
            return
        for s, (corpus, shard) in enumerate(zip(self._corpora, self.shards, strict=True)):
            for i in self.fixed.find_strays(corpus.tokens, shard.topics):
                allowed = self._topics_of_word(s, i)
                self.fixed.move_stray(i, corpus.tokens, shard.topics, words, allowed)

    def _topics_of_word(self, s: int, i: int) -> NDArray[np.bool_]:
        """Return whether word `i` of shard `s` may have a topic, regardless of the word itself."""
        return np.ones(self.n_topics, dtype=np.bool_)

    def _dense_words(self) -> WordCounts:
        """Return words by topic as counts, with seeds."""
        return self._words

    def _free_words(self) -> WordCounts:
        """Return words by topic as counts, with seeds; fixed topics have none."""
        words = self._dense_words()
        return words if self.fixed is None else self.fixed.clear(words)

    def _topic_totals(self) -> Floats:
        """Return the number of words of every topic, with seeds; fixed topics have none."""
        totals: Floats = self._words.totals
        if self.fixed is not None:
            totals = totals.copy()
            totals[: len(self.fixed.phi)] = 0.0
        return totals

    def _word_rises(self) -> float:
        """Return the statistic of the counts for the update of the prior of words."""
        return sum_rises(self.topic_word_prior, self._word_values())

    def _word_values(self) -> NDArray[np.float32]:
        """Return all counts of words by topic, in any order; zeros may be omitted."""
        counts: NDArray[np.float32] = self._words.counts
        return counts if self.fixed is None else counts[:, len(self.fixed.phi) :]

    def _update_parameters(self) -> None:
        """Draw or re-estimate the model-specific parameters."""
        raise NotImplementedError

    def _learned(self, prior: Any, given: Any, frequencies: Callable[[], Frequencies]) -> Any:
        """Return a Dirichlet prior after a step of learning, unless it is given as numbers."""
        if not isinstance(given, str):
            return prior
        symmetric = given == "auto-symmetric"
        return update_by_frequencies(prior, frequencies(), *self.dirichlet_prior, symmetric)

    @property
    def word_counts(self) -> NDArray[np.float32]:
        """M_kw, words by topic, (K, W)."""
        counts = self._free_words().counts[:, : self.n_topics].T
        if self.seeds is not None:
            counts = counts.copy()
            counts[self.seeds.topics, self.seeds.words] -= np.float32(self.seeds.weight)
        if self.fixed is not None:
            for tokens, topics in self._counted_words():
                is_fixed = topics < len(self.fixed.phi)
                np.add.at(counts, (topics[is_fixed], tokens[is_fixed]), 1)
        return counts

    def components(self) -> Floats:
        """Return E[phi] given the state, (K, W) (5.7)."""
        counts = self._free_words().counts[:, : self.n_topics].T
        components = counts.astype(np.float64, order="C")
        components += self.topic_word_prior
        components /= components.sum(axis=1, keepdims=True)
        if self.fixed is not None:
            components[: len(self.fixed.phi)] = self.fixed.phi
        return components

    def log_joint(self) -> float:
        """Return log p(words, state | parameters)."""
        words = self._free_words()
        result = self._log_prior() + log_likelihood_of_words(
            words.counts, words.totals, self.n_topics, self.topic_word_prior
        )
        if self.seeds is not None:
            result -= self.seeds.log_likelihood(self.topic_word_prior)
        return result + self._log_likelihood_of_fixed()

    def _words_of_topics(self) -> Floats:
        """Return the number of words of every topic, of fixed ones, too."""
        return np.bincount(self.topics, minlength=self.n_topics).astype(np.float64)

    def score_words(self, tokens: Ints, segment_of: Places, out: Floats) -> None:
        """Add the probabilities of further words of segments, given the state, to `out`."""
        shares = self.shares()["segment_topic"]
        score_tokens(tokens, segment_of, shares, self.components().astype(np.float32), out)

    # Values that are averaged over the kept sweeps

    def _empty_shares(self) -> dict[str, Floats]:
        """Return zeros for the values of documents and of their parts."""
        n_segments = len(self._whole.segment_ptr) - 1
        return {
            "doc_topic": np.zeros((len(self._whole), self.n_topics)),
            "segment_topic": np.zeros((n_segments, self.n_topics)),
        }

    def add_shares_to(self, sums: dict[str, Floats]) -> None:
        """Add the values of documents and of their parts, given the state, to sums."""
        raise NotImplementedError

    def shares(self) -> dict[str, Floats]:
        """Return topic shares, and other values of documents and of their parts."""
        shares = self._empty_shares()
        self.add_shares_to(shares)
        return shares

    def shown_parameters(self) -> dict[str, Any]:
        """Return the parameters to show: floats, and arrays that are not changed."""
        raise NotImplementedError

    def empty_sums(self) -> dict[str, Floats]:
        """Return zeros for the quantities that are averaged over the kept sweeps."""
        sums = self._empty_shares()
        for name, value in self.shown_parameters().items():
            sums[name] = np.zeros(np.shape(value))
        return sums

    def add_to(self, sums: dict[str, Floats]) -> None:
        """Add the current values to the sums."""
        self.add_shares_to(sums)
        for name, value in self.shown_parameters().items():
            sums[name] += value

    def _log_likelihood_of_fixed(self) -> float:
        """Return the log probability of the words with fixed topics."""
        if self.fixed is None:
            return 0.0
        return sum(self.fixed.log_likelihood(*words) for words in self._counted_words())

    def report_fixed(self) -> tuple[Any, ...]:
        """Return the log probability and the words of fixed topics, or nothing without any."""
        if self.fixed is None:
            return ()
        return self._log_likelihood_of_fixed(), self._words_of_topics()

    def _log_prior(self) -> float:
        """Return the log joint without the words' part."""
        raise NotImplementedError

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        totals = self._topic_totals()
        if self.seeds is not None:
            totals = totals - self.seeds.totals(len(totals))
        if self.fixed is not None:
            totals = self._words_of_topics()
        return {
            "log_joint": self.log_joint(),
            "topic_word_prior": float(self.topic_word_prior),
            "n_active_components": float(np.count_nonzero(totals)),
        }

    def parameters(self) -> dict[str, Any]:
        """Return the parameters shared by all shards, for models that support partitions."""
        raise NotImplementedError

    def copy(self) -> Self:
        """Return a sampler with a copy of the same state."""
        other = super().copy()
        other.streams = [stream.copy() for stream in self.streams]
        other.shards = [type(shard)(*(array.copy() for array in shard)) for shard in self.shards]
        other._words = self._count_format.copy(self._words)
        other._make_scratch()
        return other

    def _make_scratch(self) -> None:
        """Allocate the scratch arrays that copies cannot share."""


def join(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the concatenated arrays of the shards; a single array is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def shown(name: str, text: str) -> Any:
    """Return a property of states: an attribute of the sampler, as a float or a read-only array."""

    def value(state: TopicState) -> Any:
        found = attrgetter(name)(state._sampler)
        return as_readonly(found) if isinstance(found, np.ndarray) else float(found)

    return property(value, doc=text)


class TopicState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: Any):
        self._sampler = sampler

    topics = shown("topics", "Topic z of every token, (n_tokens,).")
    topic_word_prior = shown("topic_word_prior", "Topic-word prior gamma.")

    @property
    def burst_concentration(self) -> float | None:
        """Concentration b_w of bursts; None without bursts."""
        bursts = self._sampler.bursts
        return None if bursts is None else float(bursts.concentration)

    @property
    def burst_discount(self) -> float | None:
        """Discount a_w of bursts; None without bursts."""
        bursts = self._sampler.bursts
        return None if bursts is None else float(bursts.discount)

    def log_joint(self) -> float:
        """Return log p(words, state | parameters), including every constant."""
        return self._sampler.log_joint()

    def copy(self) -> TopicState:
        """Return a state that later sweeps do not change."""
        return type(self)(self._sampler.copy())


class OpenState(TopicState):
    """The state of a chain whose number of topics is inferred."""

    top_weights = shown("weights", "Weights beta of topics that have words, (K,).")
    top_concentration = shown("top_concentration", "Concentration gamma of the topics' weights.")


# Moves by which topics with seed words get words that other topics have, and lose them.
#
# Gibbs sampling moves one word at a time, and hardly ever a subject: documents about the seed words
# of a topic may keep a topic without seeds. Two moves help. An exchange swaps all words of a topic
# k with seed words and of a topic j without, with their weights beta. A split or merge may have a
# topic with seed words as its first one, which keeps them.
#
# R_k(n) is the probability of words n in topic k, relative to a topic without seed words. In the
# density of beta, a topic without seeds has the factor gamma / beta_j, a topic with seeds 1. So an
# exchange has the ratio R_k(n_j) beta_j / (R_k(n_k) beta_k). A topic k without words adopts all of
# j, whose number then ceases to exist, and beta_k joins the rest; conversely, k may release all of
# its words, and keep a share v ~ Beta(1, gamma) of the rest. These have the ratio
# R_k(n_j) beta_j (K + 1) / ((beta_k + rest) K), with K topics without seeds, and its inverse.


_TINY = float(np.finfo(np.float64).tiny)
"""A weight that is 0 by rounding counts as this."""

N_EXCHANGES, MOST_EXCHANGES = 8, 32
"""Exchanges proposed in a sweep, for each topic with seed words and in all, because they take time.
If the number depended on the number of topics, which they change, they would not leave the
posterior as it is."""


def _log(weight: float) -> float:
    return math.log(max(weight, _TINY))


class SeededMoves(TopicSampler):
    """Markov chain of any number of topics: moves of topics with seed words."""

    most_topics: int | None
    weights: Floats
    rest: float
    top_concentration: float

    def _swap_topics(self, a: int, b: int) -> None:
        """Exchange two columns in everything that lists topics, but for seeds and weights."""
        raise NotImplementedError

    def _make_room(self) -> None:
        """Ensure that there is a free column."""
        raise NotImplementedError

    def _close_gaps(self, weights: Floats) -> None:
        raise NotImplementedError

    def _labeled_places(self) -> NDArray[np.intp]:
        """Return the words of documents whose labels allow only topics with hints."""
        raise NotImplementedError

    def _free_topics(self) -> list[int]:
        """Return the topics with seed words whose words may have topics without."""
        if self.seeds is None:
            return []
        bound = np.unique(self.topics[self._labeled_places()])
        return np.setdiff1d(self.seeds.seeded, bound).tolist()

    def _log_gain(self, k: int, counts: NDArray[Any], total: float) -> float:
        """Return log R_k of `total` words, with `counts` of the seed words of k among them."""
        assert self.seeds is not None
        eta, weight = self.topic_word_prior, self.seeds.weight
        shift, mass = eta * self.seeds.n_words, weight * len(counts)
        result = len(counts) * (math.lgamma(eta) - math.lgamma(eta + weight))
        for count in counts.tolist():
            result += math.lgamma(eta + weight + count) - math.lgamma(eta + count)
        result += math.lgamma(shift + mass) - math.lgamma(shift)
        return result + math.lgamma(shift + total) - math.lgamma(shift + mass + total)

    def _seed_words(self, k: int) -> Places:
        assert self.seeds is not None
        return self.seeds.words[self.seeds.topics == k]

    def _log_gain_of_topic(self, k: int, j: int) -> float:
        """Return log R_k of the words of topic j, which may be k."""
        assert self.seeds is not None
        words = self._seed_words(k)
        counts, total = self._words.counts[words, j].astype(np.float64), self._words.totals[j]
        if j == k:
            counts, total = counts - self.seeds.weight, total - self.seeds.weight * len(words)
        return self._log_gain(k, counts, total)

    def _log_gain_of_tokens(self, k: int, tokens: Ints) -> float:
        assert self.seeds is not None
        counts = np.bincount(tokens, minlength=self.seeds.n_words)[self._seed_words(k)]
        return self._log_gain(k, counts, len(tokens))

    def _may_divide(self, a: int, b: int) -> bool:
        """Return whether a topic with seeds may be split, or joined with one without (b)."""
        return (b == a or b >= self.n_seeded) and a in self._free_topics()

    def _log_ratio_of_seeds(self, k: int, kept: Ints, every: Ints, log_share: float) -> float:
        """Return the seeds' term in the log ratio of a split of k, which keeps the words `kept`."""
        gain = self._log_gain_of_tokens(k, kept) - self._log_gain_of_tokens(k, every)
        return gain + log_share

    def _propose_exchanges(self) -> None:
        """Propose to exchange topics with seed words and topics without."""
        free = self._free_topics()  # exchanges leave them as they are
        for _ in range(min(N_EXCHANGES * len(free), MOST_EXCHANGES)):
            self._exchange(free[moves.draw_number(len(free), self.streams[0])])

    def _exchange(self, k: int) -> None:
        """Propose to exchange topic k and one without seed words, or to release k's words."""
        assert self.seeds is not None
        n_others, stream = self.n_topics - self.n_seeded, self.streams[0]
        j = self.n_seeded + moves.draw_number(n_others + 1, stream)
        is_empty = self._words.totals[k] == self.seeds.weight * len(self._seed_words(k))
        releases = j == self.n_topics
        if releases and (is_empty or self.n_topics == self.most_topics):
            return
        weights = self.weights
        if releases:
            log_ratio = _log(self.rest) - _log(weights[k]) - self._log_gain_of_topic(k, k)
            log_ratio += math.log((n_others + 1) / (n_others + 2))
        else:
            log_ratio = self._log_gain_of_topic(k, j) + _log(weights[j])
            if is_empty:
                log_ratio += math.log((n_others + 1) / n_others) - _log(weights[k] + self.rest)
            else:
                log_ratio -= self._log_gain_of_topic(k, k) + _log(weights[k])
        if not moves.is_accepted(log_ratio, stream):
            return
        self._make_room()
        weights = np.append(weights, 0.0)
        if releases:
            own = self.rest * moves.draw_share(self.top_concentration, stream)
            self.rest -= own
            weights[[k, j]] = own, weights[k]
        else:
            weights[[k, j]] = weights[[j, k]]
            if is_empty:
                self.rest, weights[j] = self.rest + float(weights[j]), 0.0
        self.seeds.add_to(self._words, -1)
        self._swap_topics(k, j)
        self.seeds.add_to(self._words)
        self._close_gaps(weights)


# Numbers of topics that stay the same while documents come.


_ALIKE = 0.7
"""Smallest affinity, sum_w sqrt(p_w q_w), of a topic's words before and after new documents."""


def keep_rows(
    old: Floats, means: dict[str, Any], axes: dict[str, int], n_given: int
) -> dict[str, Any]:
    """Return means whose topics are listed in the order of the `old` ones, (K, W), new ones last.
    If the number of topics is inferred, one that has closed keeps its row, with a weight of 0.
    """
    new = np.sqrt(means["components_"])
    affinity = np.maximum(np.sqrt(old) @ new.T, np.finfo(float).tiny)
    if "weights_" in means:
        affinity[affinity < _ALIKE] = 0.0
    numbers = keep_numbers(affinity, np.arange(len(old)), np.arange(n_given))
    out = dict(means)
    for name, axis in axes.items():
        if f"{name}_" in means:
            values = np.moveaxis(means[f"{name}_"], axis, 0)
            rows = np.zeros((max(len(old), numbers.max() + 1), *values.shape[1:]))
            if name == "components":
                rows[: len(old)] = old
            rows[numbers] = values
            out[f"{name}_"] = np.ascontiguousarray(np.moveaxis(rows, 0, axis))
    return out


# The representative sample of a chain whose number of topics varies.


class BestSample:
    """The kept sample with the highest log joint; topics are sorted by their number of words.

    Topics with seed words or given words come first, in order. Means over samples would mix topics:
    those of samples with different numbers of topics do not correspond.
    """

    def __init__(self) -> None:
        self.log_joint = -math.inf
        self.shown: dict[str, Any] = {}

    def add(self, sampler: Any) -> None:
        """Store the current state if its log joint is the highest so far."""
        log_joint = sampler.log_joint()
        if log_joint <= self.log_joint:
            return
        self.log_joint = log_joint
        sizes = sampler.word_counts.sum(axis=1, dtype=np.float64)
        if sampler.bursts is not None:  # these are tables
            sizes = np.bincount(sampler.topics, minlength=len(sizes)).astype(np.float64)
        sizes[: sampler.n_seeded] = np.inf
        order = np.argsort(-sizes, kind="stable")
        axes = {"components": 0, "weights": 0, **sampler.topic_axes}
        shown = {
            "components": sampler.components(),
            "weights": sampler.weights,
            **sampler.shares(),
            **sampler.shown_parameters(),
        }
        self.shown = {
            name: value[(slice(None),) * axes[name] + (order,)] if name in axes else value
            for name, value in shown.items()
        }

    def means(self, *, in_place: bool) -> dict[str, Any]:
        """Return the stored attributes; `in_place` avoids copies."""
        return {
            f"{name}_": value if in_place or isinstance(value, float) else value.copy()
            for name, value in self.shown.items()
        }
