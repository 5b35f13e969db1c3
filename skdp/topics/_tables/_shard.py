"""A sweep of one shard of a table model."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.topics._shared._allowed import AllowedTopics
from skdp.topics._shared._kernels import Corpus, WordCounts
from skdp.topics._shared._shards import ShardSweep
from skdp.topics._tables._arrays import (
    add_seats,
    empty_levels,
    empty_scratch,
    enter_words,
    writable,
)
from skdp.topics._tables._kernels import Assignments, Prior, Ratios
from skdp.topics._tables._kernels_sweeps import sweeps_of


class TableSweep(ShardSweep):
    """A sweep of one shard of a table model."""

    _scratch = "scratch", "levels"

    def __init__(
        self,
        corpus: Corpus,
        state: Assignments,
        sampler: str,
        prior: Prior,
        weights: Ratios,
        left_out: NDArray[np.intp],  # topics; documents with a table of one are skipped
        may_open: int,  # number of topics without words that words may take
        scratch: Any,
        levels: Any,
        allowed: AllowedTopics | None,
    ):
        super().__init__(corpus, state)
        self.sampler = sampler
        self.prior = prior
        self.weights = weights
        self.left_out = left_out
        self.may_open = may_open
        self.scratch = scratch
        self.levels = levels
        self.allowed = allowed

    @property
    def _chained(self) -> bool:
        return self.prior.to_previous > 0.0

    def _make_scratch(self) -> None:
        n_columns = self.state.tables.shape[1]
        self.scratch = empty_scratch(n_columns)
        self.levels = empty_levels(self.corpus, n_columns, chained=self._chained)

    def sweep(self, words: WordCounts, stream: NDArray[np.uint64]) -> Assignments:
        """Draw topics and tables of all words once; change `words` and return the state."""
        enter_words(words, self.prior.gamma, self.scratch)
        self.scratch.reciprocal[self.left_out] = 0.0
        self.scratch.may_open[0] = self.may_open
        kernels = sweeps_of(self.sampler, chained=self._chained)
        state, weights = self.state, writable(self.weights)
        for first, last in self._runs():
            if self.allowed is not None:
                enter_words(words, self.prior.gamma, self.scratch)
                own = self.allowed.sets[self.allowed.set_of[first]]
                self.scratch.reciprocal[np.flatnonzero(~own)] = 0.0
                self.scratch.reciprocal[self.left_out] = 0.0
            run = self.corpus._replace(doc_ptr=self.corpus.doc_ptr[: last + 1])
            place = np.array([first, self.corpus.doc_ptr[first]])
            while n_seats := kernels.sweep_corpus(
                run, state, words, self.prior, weights, self.scratch, self.levels, place, stream
            ):
                state = add_seats(state, n_seats)
        return state

    def _runs(self) -> list[tuple[int, int]]:
        """Return ranges of documents that may use the same topics, without left-out documents."""
        served = self.state.document_tables
        light = self.left_out[self.left_out < served.shape[1]]
        left_out = served[:, light].any(axis=1)
        ends = np.flatnonzero(np.concatenate([[True], left_out, [True]]))
        runs = [(first, end - 1) for first, end in pairwise(ends.tolist()) if first < end - 1]
        if self.allowed is None:
            return runs
        changes = np.flatnonzero(np.diff(self.allowed.set_of)) + 1
        return [
            run
            for first, last in runs
            for run in pairwise(
                [first, *changes[(first < changes) & (changes < last)].tolist(), last]
            )
        ]
