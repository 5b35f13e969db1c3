"""Splits and merges of the topics of a table model: divided blocks and changes of the state."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp.topics._hdp._kernels_moves import Division
from skdp.topics._shared._kernels import Corpus, WordCounts
from skdp.topics._tables._arrays import writable
from skdp.topics._tables._kernels import Assignments, Prior, Ratios
from skdp.topics._tables._kernels_open_moves import (
    Blocks,
    TopicSeats,
    empty_seats,
    find_roots,
    install_seats,
    seat_topics,
)
from skdp.topics._tables._kernels_seats import DOCUMENT


class BlockSeating(NamedTuple):
    """One or two topics whose words are seated, and the resulting blocks."""

    seats: TopicSeats
    blocks: Blocks
    block_of_word: NDArray[np.int64]
    block_of_table: NDArray[np.int64]

    def block_of(self, word: int) -> int:
        """Return the block of a word of the corpus."""
        return int(self.block_of_word[np.flatnonzero(self.seats.position == word)[0]])


def seat(
    topics: list[int],
    corpus: Corpus,
    assignments: Assignments,
    prior: Prior,
    stirling: Ratios,
    stream: NDArray[np.uint64],
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
    division = Division(
        members=np.arange(n_blocks),
        sides=np.zeros(n_blocks, np.int8),
        found=found,
        bound=np.zeros(n_features, np.int8),
        priors=np.zeros(3),
        log_shares=np.zeros(2),
        side_counts=np.zeros((2, n_features)),
        side_totals=np.zeros(2),
    )
    return division, division._replace(members=np.arange(len(blocks.tokens)))


def rename_blocks(
    moved: NDArray[np.bool_],
    old: int,
    new: int,
    seating: BlockSeating,
    corpus: Corpus,
    assignments: Assignments,
    words: WordCounts,
) -> None:
    """Change the topic of blocks, with all their tables and words."""
    seats = seating.seats
    tables = moved[seating.block_of_table]
    from_document = seats.kind == DOCUMENT
    served = seats.segment[tables & from_document]
    documents = np.searchsorted(corpus.doc_ptr, served, side="right") - 1
    positions = seats.position[moved[seating.block_of_word]]
    changes: list[tuple[NDArray[Any], NDArray[np.int64]]] = [
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


def seat_anew(
    topics: list[int],
    corpus: Corpus,
    assignments: Assignments,
    prior: Prior,
    stirling: Ratios,
    stream: NDArray[np.uint64],
) -> None:
    """Redraw the individual seats of topics that a move has changed (SSA)."""
    seats = seat(topics, corpus, assignments, prior, stirling, stream)
    install_seats(np.array(topics), seats, assignments)
