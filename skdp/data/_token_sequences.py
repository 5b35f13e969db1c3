"""Sentences of word ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp.data._ragged import RaggedTokens, read_parts


class TokenSequences(RaggedTokens):
    """Sentences, each a sequence of word ids: the X of grammars and language models.

    A sample is a sentence. ``sentences[i]`` is sentence i, a read-only array of word ids;
    ``sentences[key]`` for a slice, a list or array of ints or a boolean mask is the container of
    these sentences. It is immutable.

    Parameters
    ----------
    tokens : (n_tokens,) array of int
        Word ids, at least 0 and below `n_features`, in reading order.
    ptr : (n_sentences + 1,) array of int
        Sentence i is ``tokens[ptr[i]:ptr[i + 1]]``.
    n_features : int
        Size of the vocabulary.

    Attributes
    ----------
    tokens : (n_tokens,) array of int32
    ptr : (n_sentences + 1,) array of int64
    n_features : int
    shape : (int, int)
        Numbers of sentences and of words in the vocabulary.

    Raises
    ------
    ValueError
        If `ptr` does not rise from 0 to the number of tokens, or if a word id is out of range.

    See Also
    --------
    PartitionedSentences : Sentences that are larger than memory.
    skdp.feature_extraction.TokenVectorizer : Makes sequences of word ids from texts.

    Notes
    -----
    Arrays of the right type (int32 tokens, int64 offsets), including memory maps, are used without
    a copy: do not change them.

    Examples
    --------
    >>> from skdp.data import TokenSequences
    >>> sentences = TokenSequences.from_sequences([[0, 1, 2], [3, 1]])
    >>> sentences
    <TokenSequences of 2 sentences, 5 tokens, 4 features>
    >>> sentences[-1]
    array([3, 1], dtype=int32)
    """

    __slots__ = ()

    _level_names = ("sentence",)
    _ptr_names = ("ptr",)

    def __init__(self, tokens: ArrayLike, ptr: ArrayLike, n_features: int):
        self._set(*self._check(tokens, (ptr,), n_features))

    @classmethod
    def from_sequences(
        cls, sequences: Iterable[Sequence[int] | NDArray[Any]], n_features: int | None = None
    ) -> Self:
        """Return a container made from lists.

        Parameters
        ----------
        sequences : list of sequences of int
        n_features : int or None, default=None
            Size of the vocabulary. None: the largest word id plus 1.

        Returns
        -------
        TokenSequences

        Raises
        ------
        ValueError
            If a sentence is not a sequence of integers, or a word id is out of range; the message
            names the sentence.
        """
        tokens, ptr = cls._join(
            read_parts(sequences, "sequences", "sentences, each a sequence of word ids"), ()
        )
        return cls._make(*cls._check(tokens, (ptr,), n_features))

    @classmethod
    def _of_samples(cls, samples: list[Any], n_features: int) -> Self:
        return cls.from_sequences(samples, n_features)

    @property
    def ptr(self) -> NDArray[np.int64]:
        """(n_sentences + 1,) read-only array of the offsets of sentences in `tokens`."""
        return self._ptrs[0]
