"""Sequences drawn from a language model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Ints
from skdp.data import TokenSequences
from skdp.language._ngram._kernels_draws import draw_words
from skdp.language._ngram._trie import NgramTrie
from skdp.processes._interpolated import InterpolatedModel


def draw_sequences(
    trie: NgramTrie,
    model: InterpolatedModel,
    n_sequences: int,
    max_length: int,
    rng: NDArray[np.uint64],
) -> tuple[list[Ints], NDArray[np.bool_]]:
    """Draw sequences from a model of a trie; return them and which ended, if ends are outcomes."""
    cumulative = np.concatenate([[0.0], np.cumsum(model.mass)])
    base_cumulative = np.concatenate([[0.0], np.cumsum(model.base) / model.base.sum()])
    ends = trie.n_outcomes > trie.n_words
    # A beginning and words, and room for the event after the last word, which may be the end.
    symbols = np.full(max_length + 1 + ends, trie.n_words, np.int32)
    sequences, ended = [], np.zeros(n_sequences, np.bool_)
    for i in range(n_sequences):
        length = draw_words(
            symbols, trie.n_words, ends, trie.child_ptr, trie.symbol, trie.above, trie.leaf,
            as_readonly(trie.text), trie.cell_ptr, trie.outcome, cumulative, base_cumulative,
            model.chain, rng,
        )  # fmt: skip
        sequences.append(symbols[1 : min(length, max_length) + 1].copy())
        ended[i] = ends and length <= max_length
    return sequences, ended


def join(sequences: list[Ints], n_words: int) -> TokenSequences:
    """Return sequences as a TokenSequences container."""
    ptr = np.concatenate([[0], np.cumsum([len(each) for each in sequences])]).astype(np.int64)
    return TokenSequences(np.concatenate([*sequences, np.empty(0, np.int32)]), ptr, n_words)
