"""Partitioned documents made of segments."""

from __future__ import annotations

from typing import Self

from skdp.data._partitioned import Partitioned, raise_without_constructor
from skdp.data._segmented_corpus import SegmentedCorpus


class PartitionedCorpus(Partitioned):
    """A corpus in partitions, each a `SegmentedCorpus` that is opened by its user.

    Make one by `from_files`, `from_delayed`, `from_bag` or `from_corpus`. Nothing is read before it
    is needed, and no two partitions need to be in memory at the same time.

    Attributes
    ----------
    n_partitions : int
    partitions : sequence of SegmentedCorpus
        ``X.partitions[i]`` opens partition i.
    n_features : int
        Size of the vocabulary.
    shape : (int or nan, int)
        Numbers of documents (nan if unknown) and of words in the vocabulary.

    See Also
    --------
    SegmentedCorpus : A corpus in memory.

    Notes
    -----
    A partition without documents is an error when it is opened. Errors name the partition, its
    folder if there is one, and the document.

    Examples
    --------
    >>> from skdp.data import PartitionedCorpus, SegmentedCorpus
    >>> corpus = SegmentedCorpus.from_documents([[[0, 1, 0], [2]], [[3, 3]], [[1]]])
    >>> X = PartitionedCorpus.from_corpus(corpus, n_partitions=2)
    >>> X
    <PartitionedCorpus of 2 partitions, 3 documents, 4 features>
    >>> X.partitions[1]
    <SegmentedCorpus of 2 documents, 2 segments, 3 tokens, 4 features>
    """

    _kind = SegmentedCorpus

    def __init__(self) -> None:
        raise_without_constructor(type(self))

    @classmethod
    def from_corpus(cls, corpus: SegmentedCorpus, n_partitions: int) -> Self:
        """Return a corpus split into runs of whole documents with about equal numbers of tokens.

        Parameters
        ----------
        corpus : SegmentedCorpus
        n_partitions : int
            At most the number of documents.

        Returns
        -------
        PartitionedCorpus
        """
        return cls._split(corpus, n_partitions)
