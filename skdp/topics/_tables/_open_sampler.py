"""Chain of a table model whose number of topics is inferred."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_memory
from skdp._numeric import Floats, Places
from skdp._numeric._simd import LANES, padded
from skdp.processes._concentration import draw_concentration
from skdp.processes._kernels_table_counts import draw_top_weights, log_density_of_weights
from skdp.processes._partitions import TopPriors, draw_top_concentration, in_range
from skdp.topics._kernels import _hdp as moves
from skdp.topics._kernels import _tables as kernels
from skdp.topics._kernels._counts import Corpus, WordCounts, rename_topics
from skdp.topics._kernels._hdp import Division
from skdp.topics._kernels._open_moves import (
    Blocks,
    TopicSeats,
    empty_seats,
    find_roots,
    install_seats,
    log_acceptance,
    seat_topics,
)
from skdp.topics._kernels._ssa import DOCUMENT
from skdp.topics._lda._hdp import MOST_MOVES, TOKENS_OF_MOVES
from skdp.topics._lda._sampler import tokens_of_nodes
from skdp.topics._shared._arrays import (
    AllowedTopics,
    Documents,
    Stream,
    close_gaps,
    resized,
)
from skdp.topics._shared._sampler import SeededMoves, join
from skdp.topics._tables._model import writable
from skdp.topics._tables._sampler import HyperParameters, OpenTableState, TableSampler

# Splits and merges of topics: divided blocks, and changes of the state.


class BlockSeating(NamedTuple):
    """One or two topics whose words are seated, and the resulting blocks."""

    seats: TopicSeats
    blocks: Blocks
    block_of_word: Places
    block_of_table: Places

    def block_of(self, word: int) -> int:
        """Return the block of a word of the corpus."""
        return int(self.block_of_word[np.flatnonzero(self.seats.position == word)[0]])


def seat(
    topics: list[int],
    corpus: Corpus,
    assignments: kernels.Assignments,
    prior: kernels.Prior,
    stirling: kernels.Ratios,
    stream: Stream,
) -> TopicSeats:
    """Draw seats for all words of the given topics."""
    columns = np.array(topics)
    n_words = int(np.bincount(assignments.topics, minlength=max(topics) + 1)[columns].sum())
    n_tables = int(assignments.tables[:, columns].sum())
    n_tables += int(assignments.to_previous[:, columns].sum())
    seats = empty_seats(n_words, n_tables)
    seat_topics(columns, corpus, assignments, prior, writable(stirling), seats, stream)
    return seats


def make_blocks(seats: TopicSeats, corpus: Corpus) -> BlockSeating:
    """Group the words that are seated, directly or not, at the same table of a document."""
    roots = np.empty(len(seats.parent), dtype=np.int64)
    find_roots(seats.parent, roots)
    is_root = seats.kind == DOCUMENT
    block_of_table = (np.cumsum(is_root) - 1)[roots]
    block_of_word = block_of_table[seats.table]
    order = np.argsort(block_of_word, kind="stable")
    block_ptr = np.concatenate([[0], np.cumsum(np.bincount(block_of_word))])
    segments = seats.segment[is_root]
    node_of = np.searchsorted(corpus.doc_ptr, segments, side="right") - 1
    tokens = corpus.tokens[seats.position[order]]
    return BlockSeating(seats, Blocks(block_ptr, tokens, node_of), block_of_word, block_of_table)


def empty_division(
    seating: BlockSeating, second: int, n_features: int
) -> tuple[Division, Division]:
    """Return scratch arrays for a move: for the blocks, and for their words."""
    blocks, seats = seating.blocks, seating.seats
    n_blocks = len(blocks.node_of)
    found = (seats.topic[seats.kind == DOCUMENT] == second).astype(np.int8)
    division = moves.empty_division(n_blocks, n_features)
    division = division._replace(members=np.arange(n_blocks), found=found)
    return division, division._replace(members=np.arange(len(blocks.tokens)))


def rename_blocks(
    moved: NDArray[np.bool_],
    old: int,
    new: int,
    seating: BlockSeating,
    corpus: Corpus,
    assignments: kernels.Assignments,
    words: WordCounts,
) -> None:
    """Change the topic of blocks, with all their tables and words."""
    seats = seating.seats
    tables = moved[seating.block_of_table]
    from_document = seats.kind == DOCUMENT
    served = seats.segment[tables & from_document]
    documents = np.searchsorted(corpus.doc_ptr, served, side="right") - 1
    positions = seats.position[moved[seating.block_of_word]]
    changes: list[tuple[NDArray[Any], Places]] = [
        (assignments.tables, served),
        (assignments.document_tables, documents),
        (assignments.to_previous, seats.segment[tables & ~from_document]),
        (words.counts, corpus.tokens[positions]),
    ]
    for array, rows in changes:
        np.subtract.at(array[:, old], rows, 1)
        np.add.at(array[:, new], rows, 1)
    words.totals[old] -= len(positions)
    words.totals[new] += len(positions)
    assignments.topics[positions] = new


# The chain.


LARGEST_TOP_CONCENTRATION = 1e4
"""A sweep has about three topics without words per unit of the top concentration."""

SMALLEST_TABLE = 0.05
"""Smallest weight of topics that take part in a sweep, in units of a document's table.

This is also the share of topics served by a single table of a document that are left out of a
sweep: one in twenty. Each halving adds 0.7 topics per unit of the top concentration.
"""

_BY_TOPIC = {"tables": 0, "to_previous": 0, "document_tables": 0, "seat_heads": -1}
"""Arrays that list topics along the last axis, and their values in a free column."""


class FirstTopLevel(NamedTuple):
    """Fixed or initial concentrations of documents and of the topics' weights."""

    concentration: float
    top_concentration: float
    priors: TopPriors


class OpenTableSampler(SeededMoves, TableSampler):
    """Markov chain of a table model with any number of topics, over one corpus.

    A sweep is that of a model with given topics: all above `least_weight`, with words or without.
    Documents with a word of a lighter topic are left out. Between sweeps topics are numbered as in
    `HDPSampler`. With one shard and without bursts, splits and merges follow a sweep.
    """

    _data_attributes = (*TableSampler._data_attributes, "_token_ptr", "_document_of", "_places")

    n_columns = 0

    def __init__(
        self,
        corpus: Documents,
        n_topics: int,
        sampler: str,
        hyper: HyperParameters,
        top: FirstTopLevel,
        most_topics: int | None,  # with words, seed words or given words
        *further: Any,  # as those of `TableSampler` from `init` on
        **options: Any,
    ):
        self.document_concentration, self.top_concentration, self.priors = top
        self.n_initial_topics, self.most_topics = n_topics, most_topics
        self.n_columns, self._left_out = n_topics, np.empty(0, dtype=np.intp)
        super().__init__(corpus, n_topics, sampler, hyper, *further, **options)
        self._resize(n_topics + 1)
        self._close_gaps(np.full(n_topics, 1.0 / (n_topics + 1.0)))
        self._draw_weights()

    def _take(self, corpus: Any) -> None:
        super()._take(corpus)
        self._token_ptr = tokens_of_nodes(self._whole, "document")
        documents = np.arange(len(self._whole), dtype=np.int32)
        self._document_of = np.repeat(documents, np.diff(self._token_ptr))
        self._places: Any = None

    # Columns

    def _allowed_of(self, s: int, n_columns: int) -> AllowedTopics | None:
        allowed = self._allowed[s]
        return None if allowed is None else allowed.widened(n_columns)

    def _resize(self, n_columns: int) -> None:
        """Give all arrays that list topics at least `n_columns` columns."""
        width, n_words = padded(n_columns), self._whole.n_features
        n_rows = n_words * (1 + len(self.shards)) + len(self._whole.segment_ptr)
        check_memory(4.0 * width * n_rows, f"{n_columns} topics of {n_words} words: counts")
        shared = min(width, self.n_columns)
        self.n_columns = width
        for s, shard in enumerate(self.shards):
            arrays = {}
            for name, free in _BY_TOPIC.items():
                old = getattr(shard, name)
                arrays[name] = np.full((len(old), width), free, dtype=old.dtype)
                arrays[name][:, :shared] = old[:, :shared]
            self.shards[s] = shard._replace(**arrays)
        self._words = resized(self._words, width)
        self._make_scratch()

    def _close_gaps(self, weights: Floats) -> None:
        """Renumber the topics that have words without gaps; weights are by column."""
        used, gaps, names = close_gaps(self._words)
        if len(gaps):
            late = used[used >= len(used)]
            for shard in self.shards:
                rename_topics(shard.topics, names)
                for name, free in _BY_TOPIC.items():
                    array = getattr(shard, name)
                    array[:, gaps], array[:, late] = array[:, late], free
        self.n_topics, self.weights = len(used), np.empty(len(used))
        self.weights[names[used]] = weights[used]
        self.doc_topic_prior = self.document_concentration * self.weights

    # Sweeps

    @property
    def _may_open(self) -> int:
        """Number of topics that may open; shards see no more columns than may."""
        if self.most_topics is None or len(self.shards) > 1:
            return super()._may_open
        return self.most_topics - self.n_topics

    @property
    def least_weight(self) -> float:
        """Smallest weight of topics that take part in a sweep.

        A sweep is exact for any value that does not depend on topics and tables.
        """
        alpha = self.document_concentration
        lengths = np.diff(self._whole.segment_ptr[self._whole.doc_ptr])
        tables = alpha * np.log1p(lengths / alpha).sum()  # of documents, approximately
        return float(SMALLEST_TABLE / (tables + self.top_concentration + 1.0))

    def _sweep_words(self, words: WordCounts, streams: list[Stream]) -> None:
        if words.fixed:
            super()._sweep_words(words, streams)
            return
        weights = self._open_columns(streams[0])
        super()._sweep_words(self._words, streams)
        self._close_gaps(weights)
        if len(self.shards) == 1:
            self._propose_moves()

    def _open_columns(self, stream: Stream) -> Floats:
        """Assign drawn topics to free columns; set `doc_topic_prior`; return weights of columns."""
        n_topics, least = self.n_topics, self.least_weight
        drawn = np.empty(int(self.rest / least) + 1)
        drawn = drawn[: kernels.break_rest(self.rest, self.top_concentration, least, drawn, stream)]
        if self.most_topics is not None and len(self.shards) > 1:
            drawn = drawn[: self.most_topics - n_topics]
        n_used = n_topics + len(drawn) + 1
        if not padded(n_used) <= self.n_columns <= padded(n_used) + 2 * LANES:
            self._resize(n_used)
        weights = np.zeros(self.n_columns)
        weights[: n_used - 1] = np.concatenate([self.weights, drawn])
        takes_part = weights > least
        self._left_out = np.flatnonzero(~takes_part)
        prior = np.where(takes_part, weights, 0.0)
        light = self.weights[~takes_part[:n_topics]].sum()
        # A column that no word may take has the remaining weight.
        prior[n_used - 1] = max(self.rest - drawn.sum(), 0.0) + light
        self.doc_topic_prior = self.document_concentration * prior
        return weights

    # Splits and merges

    def _propose_moves(self) -> None:
        """Propose splits and merges; in a large corpus, fewer than one per sweep on average.

        With bursts there are none: they would have to divide the tables of words and of segments
        at once.
        """
        n_tokens, stream = len(self._whole.tokens), self.streams[0]
        if n_tokens < 2:
            return
        if self._places is None:
            self._places = moves.places_of_words(self._whole.tokens, self._whole.n_features)
        share = TOKENS_OF_MOVES / n_tokens
        n_moves = 0 if self.bursts is not None else min(MOST_MOVES, max(1, int(share)))
        for _ in range(n_moves):
            if share >= 1.0 or moves.is_accepted(math.log(share), stream):
                self._split_or_merge()
        self._propose_exchanges()

    def _labeled_places(self) -> NDArray[np.intp]:
        if (allowed := self._allowed[0]) is None:
            return np.empty(0, np.intp)
        return np.flatnonzero(~allowed.sets[allowed.set_of, -1][self._document_of])

    def _make_room(self) -> None:
        if self.n_topics + 1 >= self.n_columns:
            self._resize(self.n_topics + 2)

    def _swap_topics(self, a: int, b: int) -> None:
        names = np.arange(self.n_columns)
        names[[a, b]] = b, a
        shard = self.shards[0]
        rename_topics(shard.topics, names)
        for array in (*self._words[:2], *(getattr(shard, name) for name in _BY_TOPIC)):
            array[..., [a, b]] = array[..., [b, a]]

    def _split_or_merge(self) -> None:
        """Propose to split a topic or to merge two, and accept or reject the proposal."""
        corpus, shard, stream = self._corpora[0], self.shards[0], self.streams[0]
        topics, (pair, blocks_of_pair) = shard.topics, np.empty((2, 2), dtype=np.int64)
        forgets, by_topic = moves.toss(stream), moves.toss(stream)
        n_seeded = self.n_seeded
        if by_topic and self.n_topics == n_seeded:
            return
        if by_topic:
            moves.pick_pair_of_topics(
                True, n_seeded, self.n_topics, corpus.tokens, topics, self._token_ptr,
                self._document_of, self._places, pair, stream,
            )  # fmt: skip
        else:
            moves.pick_pair(self._token_ptr, self._document_of, pair, stream)
        a, b = (int(topics[i]) for i in pair)
        if min(a, b) < n_seeded and (by_topic or not self._may_divide(a, b)):
            return
        joins = a != b
        if not joins and self.n_topics == self.most_topics:
            return
        args = corpus, shard, self._prior(0), self._stirling, stream
        seating = make_blocks(seat([a, b] if joins else [a], *args), corpus)
        blocks_of_pair[:] = [seating.block_of(i) for i in pair]
        if blocks_of_pair[0] == blocks_of_pair[1]:
            return
        division, words = empty_division(seating, b if joins else -1, self._whole.n_features)
        weight = float(self.weights[a] + self.weights[b] if joins else self.weights[a])
        log_ratio = log_acceptance(
            forgets, joins, *np.log(self.weights[[a, b]] / weight).tolist(), blocks_of_pair,
            seating.blocks, self.document_concentration * weight, self.topic_word_prior,
            self.top_concentration, division, words, stream,
        )  # fmt: skip
        moved = (division.found if joins else division.sides) == 1
        if by_topic:
            sizes = np.diff(seating.blocks.block_ptr)
            n_first, n_words = int(sizes[~moved].sum()), int(sizes.sum())
            n_unseeded = self.n_topics - n_seeded
            log_ratio += moves.log_ratio_of_picks(joins, n_unseeded, n_first, n_words)
        if a < n_seeded and log_ratio > -np.inf:
            every = seating.blocks.tokens
            kept = every[~np.repeat(moved, np.diff(seating.blocks.block_ptr))]
            share = np.log(self.weights[a] / weight) if joins else division.log_shares[0]
            added = self._log_ratio_of_seeds(a, kept, every, float(share))
            log_ratio += -added if joins else added
        if not moves.is_accepted(log_ratio, stream):
            return
        if not joins:
            b = self.n_topics
        old, new = (b, a) if joins else (a, b)
        rename_blocks(moved, old, new, seating, corpus, shard, self._words)
        if self.sampler == "ssa":
            install_seats(np.array([a, b]), seat([a, b], *args), shard)
        weights = np.append(self.weights, 0.0)
        weights[[a, b]] = (weight, 0.0) if joins else weight * np.exp(division.log_shares)
        self._close_gaps(weights)
        self._make_room()

    # Parameters

    def _update_doc_topic_prior(self) -> None:
        self._draw_weights()

    def _draw_weights(self) -> None:
        """Draw the tables of documents, then both concentrations and the weights of topics."""
        stream = self.streams[0]
        served = join([shard.document_tables for shard in self.shards])
        tables = np.zeros(self.n_topics, dtype=np.int64)
        of_documents = np.zeros(len(served), dtype=np.int64)
        kernels.draw_tables_of_documents(served, self.doc_topic_prior, tables, of_documents, stream)
        if self.priors.concentration is not None:
            drawn = draw_concentration(
                served.sum(axis=1, dtype=np.int64), of_documents, 0.0, self.document_concentration,
                *self.priors.concentration, stream,
            )  # fmt: skip
            self.document_concentration = in_range(drawn)
        if self.priors.top_concentration is not None:
            drawn = draw_top_concentration(
                tables, self.n_seeded, self.top_concentration, self.priors.top_concentration, stream
            )
            self.top_concentration = min(in_range(drawn), LARGEST_TOP_CONCENTRATION)
        tables[: self.n_seeded] += 1
        self.weights = np.empty(self.n_topics)
        self.rest = draw_top_weights(tables, self.top_concentration, self.weights, stream)
        self.doc_topic_prior = self.document_concentration * self.weights

    # Shown attributes

    def _prior_of_joint(self, s: int) -> kernels.Prior:
        rest = self.document_concentration * self.rest
        return self._prior(s)._replace(alpha=np.append(self.doc_topic_prior, rest))

    def _log_prior(self) -> float:
        weights = log_density_of_weights(
            self.weights, self.rest, self.top_concentration, self.n_seeded
        )
        return super()._log_prior() + weights

    @property
    def _top_scalars(self) -> dict[str, float]:
        return {
            "document_concentration": float(self.document_concentration),
            "top_concentration": float(self.top_concentration),
        }

    def shown_parameters(self) -> dict[str, Any]:
        """Return the parameters to show."""
        return {**super().shown_parameters(), **self._top_scalars}

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        scalars = super().scalars()
        del scalars["doc_topic_prior_sum"]
        return {**scalars, "n_components": float(self.n_topics), **self._top_scalars}

    def state(self) -> OpenTableState:
        """Return a read-only view of the state."""
        return OpenTableState(self)
