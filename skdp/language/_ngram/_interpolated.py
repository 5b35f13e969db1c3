"""One model that interpolates the contexts of a trie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skdp._numba import frozen
from skdp._typing import Floats, Ints
from skdp.data import TokenSequences
from skdp.language._ngram._kernels_interpolated import (
    add_distributions,
    add_probabilities,
    draw_words,
)
from skdp.language._ngram._trie import NgramTrie


@dataclass(frozen=True)
class InterpolatedModel:
    """p(w | u) = mass_uw + backoff_u p(w | u without its far symbol).

    Attributes
    ----------
    trie : NgramTrie
    mass : (n_cells,) array
    backoff : (n_contexts,) array
        1 - the sum of the masses of a context's cells.
    base : (n_outcomes,) array
        What takes the place of the shorter context where the context is empty.
    """

    trie: NgramTrie
    mass: Floats
    backoff: Floats
    base: Floats

    def add_to_probabilities(
        self, outcomes: Ints, contexts: Ints, cells: Ints, total: Floats
    ) -> None:
        """Add the probabilities of events, found in the trie, to `total`."""
        add_probabilities(
            frozen(outcomes), contexts, cells, self.mass, self.backoff, self.base, total
        )

    def add_to_distributions(self, contexts: Ints, total: Floats) -> None:
        """Add the distributions after contexts, found in the trie, to the rows of `total`."""
        add_distributions(
            contexts, self.trie.cell_ptr, self.trie.outcome, self.mass, self.backoff,
            self.unigrams(), np.empty(self.trie.n_outcomes), total,
        )  # fmt: skip

    def unigrams(self) -> Floats:
        """Return the distribution after the empty context: (n_outcomes,)."""
        last = self.trie.cell_ptr[1]
        distribution = self.base * self.backoff[0]
        distribution[self.trie.outcome[:last]] += self.mass[:last]
        return distribution

    def cell_probabilities(self) -> Floats:
        """Return p(w | u) of every cell, shorter contexts included: (n_cells,)."""
        trie, layout = self.trie, self.trie.layout
        lower = np.empty(len(self.mass))
        for m in range(trie.order):
            cells = layout.cells_at(m)
            parent = layout.parent[cells]
            below = lower[parent] if m else self.base[trie.outcome[cells]]
            lower[cells] = self.mass[cells] + self.backoff[layout.node[cells]] * below
        return lower

    def draw(
        self, n_sequences: int, max_length: int, rng: NDArray[np.uint64]
    ) -> tuple[list[Ints], NDArray[np.bool_]]:
        """Draw sequences; also return which of them came to an end.

        Without an outcome for the end none does: all have `max_length` words.
        """
        trie = self.trie
        cumulative = np.concatenate([[0.0], np.cumsum(self.mass)])
        base_cumulative = np.concatenate([[0.0], np.cumsum(self.base) / self.base.sum()])
        tokens = np.empty(max_length, np.int32)
        sequences, ended = [], np.zeros(n_sequences, np.bool_)
        for i in range(n_sequences):
            length = draw_words(
                tokens, trie.n_words, trie.n_outcomes > trie.n_words, trie.child_ptr, trie.symbol,
                trie.cell_ptr, trie.outcome, cumulative, base_cumulative, trie.order, rng,
            )  # fmt: skip
            sequences.append(tokens[:length].copy())
            ended[i] = length < max_length
        return sequences, ended


def join(sequences: list[Ints], n_words: int) -> TokenSequences:
    """Return sequences as a container."""
    ptr = np.concatenate([[0], np.cumsum([len(each) for each in sequences])]).astype(np.int64)
    return TokenSequences(np.concatenate([*sequences, np.empty(0, np.int32)]), ptr, n_words)
