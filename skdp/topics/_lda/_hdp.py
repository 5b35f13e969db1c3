"""Chain of the topic model whose number of topics is inferred."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._checks import check_memory
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._random import make_generator
from skdp._numeric._simd import padded
from skdp.inference._chain import is_interrupted
from skdp.processes._kernels_table_counts import log_density_of_weights
from skdp.processes._partitions import TopLevel, TopPriors
from skdp.topics._kernels import _hdp as moves
from skdp.topics._kernels import _lda as kernels
from skdp.topics._kernels._counts import rename_topics
from skdp.topics._lda._sampler import LDAModel, NodeTopics, shares_of_nodes, tokens_of_nodes
from skdp.topics._shared._arrays import (
    AllowedTopics,
    Documents,
    LabeledCorpus,
    Stream,
    close_gaps,
    resized,
)
from skdp.topics._shared._bursts import Bursts
from skdp.topics._shared._sampler import (
    ChosenNodes,
    OpenState,
    SeededMoves,
    TopicSampler,
    shown,
)


class HDPState(OpenState):
    """The state of a chain of a hierarchical Dirichlet process."""

    concentration = shown("concentration", "Concentration alpha of documents (or segments).")


MOST_MOVES, TOKENS_OF_MOVES = 10, 200_000
"""Splits and merges proposed per sweep: fewer in large corpora, where they take time and are
hardly ever accepted."""

_PART_SWEEPS, _LEAST_CONCENTRATION = 20, 0.1
"""Sweeps over the documents of a batch alone, before they join the others, and the least
concentration then: with a small one, the first word of a document chooses the topic of all others.
"""

_SPARE = 16
"""Smallest number of free columns before a sweep. Twice as many or a quarter of K are added."""


class MoveCorpus(NamedTuple):
    """What splits and merges divide: the words of a corpus or, with bursts, of its tables."""

    tokens: Ints
    node_ptr: Places
    node_of: Ints
    places: moves.Places
    tables: moves.TableSizes | None

    @classmethod
    def of(
        cls, tokens: Any, node_ptr: Any, node_of: Any, n_words: int, tables: Any = None
    ) -> MoveCorpus:
        """Return the words, with the places of each."""
        return cls(tokens, node_ptr, node_of, moves.places_of_words(tokens, n_words), tables)


class HDPSampler(SeededMoves):
    """Markov chain of topics whose number is not fixed, over one corpus.

    Between sweeps topics are numbered 0 to K - 1 without gaps; columns from K on are free. Topics
    with seed words or given words come first and exist without words, too. Words of nodes with
    labels have only such topics; they are swept by themselves.
    """

    _data_attributes = (
        *TopicSampler._data_attributes, "_node_ptr", "_node_of", "_scratch", "_division",
        "_move_corpus", "_allowed", "_labeled", "_unlabeled",
    )  # fmt: skip

    shards: list[NodeTopics]

    def __init__(
        self,
        corpus: Documents,
        n_topics: int,
        level: str,
        concentration: float,  # alpha, fixed or initial
        top_concentration: float,  # gamma, fixed or initial
        priors: TopPriors,
        topic_word_prior: Any,  # eta: float, "auto" or WordPrior
        dirichlet_prior: tuple[float, float],
        init: Any,  # "random" or (n_topics, W) array
        split_merge: bool,
        most_topics: int | None,  # with words, seed words or given words
        init_stream: Stream,
        stream: Stream,
        bursts: Bursts | None = None,
    ):
        super().__init__(n_topics, topic_word_prior, dirichlet_prior, [stream], None)
        self.level, self.n_initial_topics = level, n_topics
        self.concentration, self.top_concentration = concentration, top_concentration
        self.priors, self.split_merge, self.most_topics = priors, split_merge, most_topics
        self._take(corpus)
        tokens, allowed = self._whole.tokens, self._allowed and self._allowed.widened(n_topics)
        self.shards = [NodeTopics.unseated(len(tokens))]
        topics = self.shards[0].topics
        if not isinstance(init, str):
            kernels.sweep_nodes(
                0, len(self._node_ptr) - 1, self._node_ptr, tokens, topics,
                self._first_topics(init), np.full(n_topics, concentration / n_topics), 0.0,
                kernels.empty_dense_scratch(n_topics), None, init_stream,
            )  # fmt: skip
            if allowed is not None:
                kernels.move_into_sets(self._node_ptr, topics, *allowed, init_stream)
        else:
            self._draw_first_topics(topics, tokens, self._node_ptr, allowed, init_stream)
        found = np.union1d(topics, np.arange(self.n_seeded))
        topics[:] = np.searchsorted(found, topics)
        self.n_topics = len(found)
        self._start_bursts(corpus, bursts)
        self.weights = np.full(self.n_topics, 1.0 / (self.n_topics + 1.0))
        self.rest = 1.0 / (self.n_topics + 1.0)
        self._count_words()
        self._return_strays(self._words)
        self._draw_weights()

    def _take(self, corpus: Any) -> None:
        self._allowed: AllowedTopics | None = None
        if isinstance(corpus, LabeledCorpus):
            corpus, self._allowed = corpus
        super()._take(corpus)
        self._node_ptr = tokens_of_nodes(corpus, self.level)
        if self._allowed is not None:
            is_free = self._allowed.sets[self._allowed.set_of, -1]
            self._unlabeled = ChosenNodes.of(self._node_ptr, corpus.tokens, is_free)
            self._labeled = ChosenNodes.of(self._node_ptr, corpus.tokens, ~is_free)
        n_nodes = len(self._node_ptr) - 1
        self._node_of = np.repeat(np.arange(n_nodes, dtype=np.int32), np.diff(self._node_ptr))
        self._division: Any = None
        self._move_corpus: MoveCorpus | None = None
        self._place_tables([self._node_ptr])

    @property
    def _whole_ptr(self) -> Places:
        return self._node_ptr

    # More data

    def _seat_more(self, n_before: int) -> None:
        """Give new words topics that a chain of their documents alone finds, from the present ones.

        Each of these is taken for the topic in which its words are most probable given all others,
        or for a new one. A new subject is hardly ever found by words that move one at a time.
        """
        self._close_gaps(self.weights, self.topics[:n_before])  # of topics whose words have left
        corpus, (shard,), n_known = self._whole, self.shards, self.n_topics
        first = int(np.searchsorted(corpus.segment_ptr[corpus.doc_ptr], n_before))
        bursts = None if self.bursts is None else self.bursts.copy()
        part = HDPSampler(
            corpus[first:], n_known, self.level, max(self.concentration, _LEAST_CONCENTRATION),
            self.top_concentration, TopPriors(None, None), float(self.topic_word_prior),
            self.dirichlet_prior, self.components(), True, None, self.streams[0], self.streams[0],
            bursts,
        )  # fmt: skip
        for _ in range(_PART_SWEEPS):
            if is_interrupted():  # the words are to join all the same
                break
            part.sweep()
        # As if each node of a topic had one table.
        tables = np.maximum(self._count_nodes(n_before), 1)
        gains = np.empty((part.n_topics, n_known + 1))
        for j, (m, words) in enumerate(zip(part._count_nodes(), part.word_counts, strict=True)):
            gains[j] = self._log_evidence_of(words.astype(np.float64))
            gains[j, :-1] += gammaln(tables + m) - gammaln(tables)
            gains[j, -1] += gammaln(m) + np.log(self.top_concentration)
        most = n_known + len(gains) if self.most_topics is None else self.most_topics
        new = np.flatnonzero(gains.argmax(axis=1) == n_known)[: max(most - n_known, 0)]
        best = gains[:, :-1].argmax(axis=1)
        best[new] = n_known + np.arange(len(new))
        shard.topics[n_before:] = best[part.topics]
        if self.bursts is not None:
            shard.seats[n_before:] = part.shards[0].seats + n_before
        self.n_topics += len(new)
        self.weights = np.append(self.weights, np.full(len(new), self.rest / (len(new) + 1.0)))
        self.rest /= len(new) + 1.0
        self._count_words()
        self._draw_weights()

    def _count_nodes(self, n_tokens: int | None = None) -> Places:
        """Return the number of nodes that have each topic among the first words, (K,)."""
        has = np.zeros((len(self._node_ptr) - 1, self.n_topics), dtype=np.bool_)
        has[self._node_of[:n_tokens], self.topics[:n_tokens]] = True
        return np.count_nonzero(has, axis=0)

    def _log_evidence_of(self, counts: Floats) -> Floats:
        """Return log p(words in a topic) given the words of each topic and, last, of a new one."""
        eta, at = self.topic_word_prior, np.flatnonzero(counts)
        known = self._free_words().counts[at, : self.n_topics].T  # with seeds, as the totals
        own = np.vstack([known, np.zeros(len(at))]) + eta
        totals = np.append(self._topic_totals()[: self.n_topics], 0.0)
        totals += eta * self._whole.n_features
        result = (gammaln(own + counts[at]) - gammaln(own)).sum(axis=1)
        result -= gammaln(totals + counts.sum()) - gammaln(totals)
        if self.fixed is not None:
            with np.errstate(divide="ignore"):
                result[: len(self.fixed.phi)] = np.log(self.fixed.phi[:, at]) @ counts[at]
        return np.asarray(result)

    # Columns

    def _count_words(self) -> None:
        super()._count_words()
        self._resize(self.n_topics + _SPARE)

    def _resize(self, n_columns: int) -> None:
        """Give the counts at least `n_columns` columns."""
        width, n_words = padded(n_columns), self._whole.n_features
        check_memory(4.0 * width * n_words, f"{self.n_topics} topics of {n_words} words: counts")
        self._words = resized(self._words, width)
        self._scratch = kernels.empty_dense_scratch(width)

    def _make_room(self) -> None:
        """Ensure that there are enough free columns, and not too many."""
        n_columns, spare = len(self._words.totals), max(_SPARE, self.n_topics // 8)
        if n_columns - self.n_topics < _SPARE or n_columns > padded(self.n_topics + 4 * spare):
            self._resize(self.n_topics + 2 * spare)

    def _top_level(self) -> moves.OpenColumns:
        """Return the top level in the form that sweeps take."""
        n_columns = len(self._words.totals)
        top = moves.empty_top_level(n_columns)
        top.weights[: self.n_topics] = self.weights
        top.rest[0] = self.rest
        n_more = (n_columns if self.most_topics is None else self.most_topics) - self.n_topics
        top.columns[:] = self.n_topics, n_columns - self.n_topics - 1, n_more
        np.multiply(top.weights, self.concentration, out=top.prior)
        if n_more > 0:
            top.prior[self.n_topics] = self.concentration * self.rest
        return top

    def _close_gaps(self, weights: Floats, topics: Ints | None = None) -> None:
        """Renumber the topics that have words without gaps; weights are by column.

        `topics` are those of the tables while moves divide them.
        """
        used, gaps, names = close_gaps(self._words)
        if len(gaps):
            rename_topics(self.topics if topics is None else topics, names)
        self.n_topics, self.weights = len(used), np.empty(len(used))
        self.weights[names[used]] = weights[used]

    # Sweeps

    def _sweep_words(self, words: Any, streams: list[Stream]) -> None:
        self._draw_topics()
        if self.split_merge and (self.n_settled == 0 or self._is_due()):
            self._propose_moves()

    def _is_due(self) -> bool:
        """Return whether a sweep over some nodes has moves, whose time is that of all nodes."""
        n_new = len(self._node_ptr) - 1 - self.n_settled
        share = 2.0 * n_new / (len(self._node_ptr) - 1)
        return bool(make_generator(self.streams[0]).random() < share)

    def _draw_topics(self) -> None:
        """Draw the topic of every word once."""
        stream = self.streams[0]
        chosen: Any = None, self._node_ptr, self._whole.tokens
        self._make_room()
        if self._allowed is not None:
            self._draw_labeled_topics(self._allowed)
            chosen = self._unlabeled
        elif self.n_settled > 0:
            chosen = self._draw_nodes()
        places, node_ptr, tokens = chosen
        if self.bursts is None:
            self._run_open(moves.sweep_open_nodes, node_ptr, tokens, places, stream)
        else:
            self._run_open(moves.sweep_open_nodes_with_bursts, node_ptr, tokens, places, stream)
            self._make_room()
            self._run_open(moves.move_open_tables, node_ptr, tokens, places, stream)

    def _run_open(self, kernel: Any, node_ptr: Any, tokens: Any, places: Any, stream: Any) -> None:
        """Run a kernel over nodes, chosen ones or all, and make room when it stops for it."""
        top, place = self._top_level(), 0
        while True:
            topics = self.topics if places is None else self.topics[places]
            seats, shift = (None, 0) if self.bursts is None else self._seats_of(places)
            place = kernel(
                place, node_ptr, tokens, topics, self._words, self.topic_word_prior,
                self.concentration, self.top_concentration, top, self._scratch,
                *(() if seats is None else (seats,)), stream,
            )  # fmt: skip
            if places is not None:
                self.topics[places] = topics
                if seats is not None:
                    self.shards[0].seats[places] = seats.seats + shift
            self.rest = float(top.rest[0])
            self._close_gaps(top.weights)
            if top.columns[0] != moves.NO_COLUMN:
                return
            self._make_room()
            top = self._top_level()

    def _draw_labeled_topics(self, allowed: AllowedTopics) -> None:
        """Draw the topics of the words of nodes with labels once; no topic opens or closes."""
        sets, set_of = allowed.widened(self.n_topics)
        of_labeled = AllowedTopics(sets, set_of[~allowed.sets[set_of, -1]])
        self._sweep_chosen(self._labeled, self.doc_topic_prior, of_labeled)

    def _topics_of_word(self, s: int, i: int) -> NDArray[np.bool_]:
        if self._allowed is None:
            return super()._topics_of_word(s, i)
        sets, set_of = self._allowed.widened(self.n_topics)
        return sets[set_of[self._node_of[i]]]

    def _propose_moves(self) -> None:
        """Propose splits and merges, whose total cost is a fraction of the cost of a sweep."""
        n_tokens = len(self._node_of)
        if n_tokens < 2:
            return
        self._make_room()
        if self._division is None:
            self._division = moves.empty_division(n_tokens, self._whole.n_features)
        self._divide_topics(min(MOST_MOVES, max(1, TOKENS_OF_MOVES // n_tokens)))
        self._propose_exchanges()

    def _divide_topics(self, n_moves: int) -> None:
        """Propose splits and merges of the words of topics or, with bursts, of their tables."""
        corpus, topics, served = self._divided_words()
        if len(corpus.tokens) < 2:
            return
        for _ in range(n_moves):
            self._split_or_merge(corpus, topics)
        if served is not None:
            served[served >= 0] = topics
            self.topics[:] = served[self.shards[0].seats]

    def _divided_words(self) -> tuple[MoveCorpus, Ints, Ints | None]:
        """Return what moves divide, its topics and, with bursts, the topics of all places."""
        n_words = self._whole.n_features
        if self.bursts is None:
            if self._move_corpus is None:
                self._move_corpus = MoveCorpus.of(
                    self._whole.tokens, self._node_ptr, self._node_of, n_words
                )
            return self._move_corpus, self.topics, None
        state, places = self.shards[0], self._table_places[0]
        served = places.served(state)
        at = np.flatnonzero(served >= 0)
        sizes = np.bincount(state.seats, minlength=len(served))[at]
        corpus = MoveCorpus.of(
            places.words[at], np.searchsorted(at, self._node_ptr), self._node_of[at], n_words,
            moves.TableSizes(*self.bursts.parameters, sizes),
        )  # fmt: skip
        return corpus, served[at], served

    def _labeled_places(self) -> NDArray[np.intp]:
        return np.empty(0, np.intp) if self._allowed is None else self._labeled.places

    def _swap_topics(self, a: int, b: int) -> None:
        names = np.arange(max(self.n_topics, b + 1))
        names[[a, b]] = b, a
        rename_topics(self.topics, names)
        for array in self._words[:2]:
            array[..., [a, b]] = array[..., [b, a]]

    def _split_or_merge(self, corpus: MoveCorpus, topics: Ints) -> None:
        """Propose to split a topic or to merge two, and accept or reject the proposal."""
        tokens, division = corpus.tokens, self._division
        stream, pair = self.streams[0], np.empty(2, dtype=np.int64)
        kind, by_topic = moves.draw_kind(stream), moves.toss(stream)
        n_seeded = self.n_seeded
        if by_topic and self.n_topics == n_seeded:
            return
        if by_topic:
            moves.pick_pair_of_topics(
                kind != moves.BY_WORD, n_seeded, self.n_topics, tokens, topics, corpus.node_ptr,
                corpus.node_of, corpus.places, pair, stream,
            )  # fmt: skip
        else:
            moves.pick_pair(corpus.node_ptr, corpus.node_of, pair, stream)
        a, b = (int(topics[i]) for i in pair)
        if min(a, b) < n_seeded and (by_topic or not self._may_divide(a, b)):
            return
        joins = a != b
        if not joins and self.n_topics == self.most_topics:
            return
        weight = float(self.weights[a] + self.weights[b] if joins else self.weights[a])
        log_shares = np.log(self.weights[[a, b]] / weight)
        n_members = moves.list_members(topics, a, b, division)
        log_ratio = moves.log_acceptance(
            n_members, kind, joins, *log_shares.tolist(), pair, tokens, corpus.node_of,
            self.concentration * weight, self.topic_word_prior, self.top_concentration,
            corpus.tables, division, stream,
        )  # fmt: skip
        if by_topic and log_ratio > -np.inf:
            sides = division.found if joins else division.sides
            n_first = n_members - int(np.count_nonzero(sides[:n_members]))
            n_unseeded = self.n_topics - n_seeded
            log_ratio += moves.log_ratio_of_picks(joins, n_unseeded, n_first, n_members)
        if a < n_seeded and log_ratio > -np.inf:
            every = tokens[division.members[:n_members]]
            kept = every[(division.found if joins else division.sides)[:n_members] == 0]
            share = log_shares if joins else division.log_shares
            added = self._log_ratio_of_seeds(a, kept, every, float(share[0]))
            log_ratio += -added if joins else added
        if not moves.is_accepted(log_ratio, stream):
            return
        if not joins:
            b = self.n_topics
        moves.rename_members(
            n_members, joins, a, b, tokens, topics, self._words.counts, self._words.totals, division
        )
        weights = np.append(self.weights, 0.0)
        weights[[a, b]] = (weight, 0.0) if joins else weight * np.exp(division.log_shares)
        self._close_gaps(weights, topics)
        self._make_room()

    def _update_parameters(self) -> None:
        self._update_bursts()
        self._draw_weights()

    def _draw_weights(self) -> None:
        """Draw the tables of nodes, then both concentrations and the weights of topics."""
        top = TopLevel(self.weights, self.rest, self.concentration, self.top_concentration)
        top = top.drawn(
            self._node_ptr, self.topics, self.priors, self.streams[0], n_given=self.n_seeded
        )
        self.weights, self.rest = top.weights, top.rest
        self.concentration, self.top_concentration = top.concentration, top.top_concentration

    # Shown attributes

    @property
    def doc_topic_prior(self) -> Floats:
        """Prior of the shares of the topics that have words, alpha beta_k."""
        return self.concentration * self.weights

    def _log_prior(self) -> float:
        prior = np.append(self.doc_topic_prior, self.concentration * self.rest)
        result = kernels.log_prior_of_topics(
            self._node_ptr, self.topics, prior, np.zeros(self.n_topics, dtype=np.int64)
        )
        result += self._log_probability_of_seats()
        return result + log_density_of_weights(
            self.weights, self.rest, self.top_concentration, self.n_seeded
        )

    def score_words(self, tokens: Any, segment_of: Any, out: Floats) -> None:
        """Add the probabilities of further words of segments, given the state, to `out`."""
        if self.bursts is None:
            super().score_words(tokens, segment_of, out)
            return
        nodes = segment_of
        if self.level == "document":
            nodes = np.searchsorted(self._whole.doc_ptr, segment_of, side="right") - 1
        components = self.components().astype(np.float32)
        self.bursts.score_words(
            self._seated_shards[0], self.doc_topic_prior, tokens, nodes, components, out
        )

    def add_shares_to(self, sums: dict[str, Floats]) -> None:
        """Add the shares of documents and of segments, given the state, to sums."""
        nodes = np.zeros((len(self._node_ptr) - 1, self.n_topics))
        prior = self.doc_topic_prior
        kernels.add_node_estimates(0, len(nodes), self._node_ptr, self.topics, prior, nodes)
        if self._allowed is not None:
            nodes = self._allowed.widened(self.n_topics).restrict(nodes)
        doc_topic, segment_topic = shares_of_nodes(self._whole, self.level, nodes, prior)
        sums["doc_topic"] += doc_topic
        sums["segment_topic"] += segment_topic

    def shown_parameters(self) -> dict[str, Any]:
        """Return the parameters to show."""
        return {
            "doc_topic_prior": self.doc_topic_prior,
            "concentration": float(self.concentration),
            "top_concentration": float(self.top_concentration),
            "topic_word_prior": float(self.topic_word_prior),
            **self._burst_scalars,
        }

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        return {
            **super().scalars(),
            "n_components": float(self.n_topics),
            "concentration": float(self.concentration),
            "top_concentration": float(self.top_concentration),
            **self._burst_scalars,
        }

    def model(self) -> LDAModel:
        """Return the current sample as a model."""
        bursts = None if self.bursts is None else self.bursts.parameters
        components = self.components().astype(np.float32)
        return LDAModel(components, self.doc_topic_prior, self.level, bursts)

    def state(self) -> HDPState:
        """Return a read-only view of the state."""
        return HDPState(self)
