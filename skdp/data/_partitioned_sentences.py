"""Partitioned sentences of word ids."""

from __future__ import annotations

from typing import Self

from skdp.data._partitioned import Partitioned, raise_without_constructor
from skdp.data._token_sequences import TokenSequences


class PartitionedSentences(Partitioned):
    """Sentences in partitions, each a `TokenSequences` that is opened by its user.

    Make one by `from_files`, `from_delayed`, `from_bag` or `from_sentences`. Nothing is read before
    it is needed.

    Attributes
    ----------
    n_partitions : int
    partitions : sequence of TokenSequences
        ``X.partitions[i]`` opens partition i.
    n_features : int
        Size of the vocabulary.
    shape : (int or nan, int)
        Numbers of sentences (nan if unknown) and of words in the vocabulary.

    See Also
    --------
    TokenSequences : Sentences in memory.

    Examples
    --------
    >>> from skdp.data import PartitionedSentences, TokenSequences
    >>> sentences = TokenSequences.from_sequences([[0, 1, 2], [3, 1], [2]])
    >>> PartitionedSentences.from_sentences(sentences, n_partitions=2)
    <PartitionedSentences of 2 partitions, 3 sentences, 4 features>
    """

    _kind = TokenSequences

    def __init__(self) -> None:
        raise_without_constructor(type(self))

    @classmethod
    def from_sentences(cls, sentences: TokenSequences, n_partitions: int) -> Self:
        """Return sentences split into runs with about equal numbers of words.

        Parameters
        ----------
        sentences : TokenSequences
        n_partitions : int
            At most the number of sentences.

        Returns
        -------
        PartitionedSentences
        """
        return cls._split(sentences, n_partitions)
