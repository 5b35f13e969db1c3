"""Public state of a chain of a language model after a sweep."""

from __future__ import annotations

from skdp._numeric._typing import Ints
from skdp.processes._franchise_state import FranchiseState


class NgramState(FranchiseState):
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it.

    Lists have an array for each depth: the number of words of a context.
    """

    @property
    def words(self) -> list[Ints]:
        """The outcome of each cell: a word, or `n_words_` for the end."""
        return self._by_depth(self._sampler.context_index.outcome)

    @property
    def contexts(self) -> list[Ints]:
        """The context of each cell, (n_cells, depth), in reading order; -1 is the beginning."""
        trie = self._sampler.context_index
        return [trie.contexts_at(m)[places] for m, places in enumerate(self._places())]
