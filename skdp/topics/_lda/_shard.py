"""A sweep of one shard of latent Dirichlet allocation, over counts or over lists."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp.topics._lda._kernels_labels import sweep_labeled_nodes
from skdp.topics._lda._kernels_sweeps import (
    DenseScratch,
    SparseScratch,
    WordLists,
    empty_dense_scratch,
    empty_sparse_scratch,
    sweep_nodes,
    sweep_nodes_sparse,
)
from skdp.topics._shared._allowed import AllowedTopics
from skdp.topics._shared._arrays import MAX_COUNT, refuse_count
from skdp.topics._shared._kernels import Corpus
from skdp.topics._shared._packing import pack, unpack
from skdp.topics._shared._shards import ShardSweep


class NodeTopics(NamedTuple):
    """State of a chain."""

    topics: NDArray[np.int32]


class ListedWords(NamedTuple):
    """Words by topic as lists, and their totals."""

    lists: WordLists
    totals: NDArray[np.float64]


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


class NodeSweep(ShardSweep):
    """A sweep of one shard of latent Dirichlet allocation."""

    _scratch = ("scratch",)

    def __init__(
        self,
        corpus: Corpus,
        state: NodeTopics,
        node_ptr: NDArray[np.int64],
        alpha: NDArray[np.float64],
        gamma: float,
        scratch: DenseScratch | SparseScratch,  # for words as counts, or as lists
        allowed: AllowedTopics | None,  # only if words are counts
    ):
        super().__init__(corpus, state)
        self.allowed = allowed
        self.node_ptr = node_ptr
        self.alpha = alpha
        self.gamma = gamma
        self.scratch = scratch
        self.is_sparse = isinstance(scratch, SparseScratch)

    def _make_scratch(self) -> None:
        empty = empty_sparse_scratch if self.is_sparse else empty_dense_scratch
        self.scratch = empty(len(self.alpha))

    def sweep(self, words: Any, stream: NDArray[np.uint64]) -> NodeTopics:
        """Draw the topics of all words once; change `words` and return the state."""
        if self.allowed is not None:
            sweep_labeled_nodes(
                self.node_ptr, self.corpus.tokens, self.state.topics, words, self.alpha,
                self.gamma, self.scratch, *self.allowed, np.empty(len(self.alpha)), stream,
            )  # fmt: skip
            return self.state
        counts = (words.lists, words.totals) if self.is_sparse else (words,)
        kernel = sweep_nodes_sparse if self.is_sparse else sweep_nodes
        kernel(
            0, len(self.node_ptr) - 1, self.node_ptr, self.corpus.tokens, self.state.topics,
            *counts, self.alpha, self.gamma, self.scratch, stream,
        )  # fmt: skip
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
        lists = WordLists(*(unpack(each) for each in arrays))
        return ListedWords(lists._replace(values=lists.values.astype(np.float32)), totals)

    @staticmethod
    def copy(words: ListedWords) -> ListedWords:
        """Return a copy of the words."""
        lists = WordLists(*(array.copy() for array in words.lists))
        return ListedWords(lists, words.totals.copy())

    @staticmethod
    def take_back(
        own: ListedWords, words: ListedWords, tokens: NDArray[np.int32], before: Any, after: Any
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
