"""Batches of sentences that are processed together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from skdp._executors import call_all
from skdp._numeric._unique_rows import unique_rows
from skdp.data import TokenSequences
from skdp.grammar._chart._limits import NO_LIMITS, BracketedSentences, Sentences, SpanLimits

_CHUNK_WORDS = 2000

AnySentences = TypeVar("AnySentences", bound=Sentences)


def without_empty(sentences: AnySentences) -> tuple[AnySentences, NDArray[np.bool_]]:
    """Return the sentences with words, and a mask of these sentences."""
    has_words = np.diff(sentences.ptr) > 0
    kept: Any = sentences if has_words.all() else sentences[has_words]
    return kept, has_words


class SentenceBatches(NamedTuple):
    """Distinct sentences in the order of processing, to create once for repeated sums over them."""

    sentences: TokenSequences
    limits: SpanLimits  # sentences differ if their words or their limits do
    distinct: NDArray[np.int64]  # (m,), first occurrence of each sentence, longer ones first
    inverse: NDArray[np.int64]  # (n,), sentence i equals sentence distinct[inverse[i]]
    multiplicity: NDArray[np.float64]  # (m,), number of occurrences of each distinct sentence

    @classmethod
    def of(cls, sentences: Sentences | SentenceBatches) -> SentenceBatches:
        """Return sentences as batches, batches unchanged; ValueError if one has no words."""
        if isinstance(sentences, SentenceBatches):
            return sentences
        limits, values = NO_LIMITS, [sentences.tokens]
        if isinstance(sentences, BracketedSentences):
            limits = sentences.limits
            values += limits
            sentences = sentences.sentences
        lengths = np.diff(sentences.ptr)
        if not lengths.all():
            raise ValueError(f"Sentence {np.argmin(lengths)} has no words; one is required.")
        distinct, inverse = [], np.empty(len(sentences), dtype=np.int64)
        n_distinct = 0
        for length in np.unique(lengths)[::-1]:
            (members,) = np.nonzero(lengths == length)
            places = sentences.ptr[members, np.newaxis] + np.arange(length)
            unique = unique_rows(np.hstack([each[places] for each in values]))
            distinct.append(members[unique.firsts])
            inverse[members] = n_distinct + unique.places
            n_distinct += len(unique.firsts)
        multiplicity = np.bincount(inverse, minlength=n_distinct).astype(np.float64)
        everything = np.concatenate(distinct) if distinct else np.empty(0, dtype=np.int64)
        return cls(sentences, limits, everything, inverse, multiplicity)

    def lengths(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of words of some of the sentences."""
        return self.sentences.ptr[which + 1] - self.sentences.ptr[which]

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Words, offsets of sentences, and limits of spans, in the format of the kernels."""
        return self.sentences.tokens, self.sentences.ptr, *self.limits

    def sentence(self, place: int) -> tuple[NDArray[np.int32], ...]:
        """Return words and limits of spans of a distinct sentence."""
        i = self.distinct[place]
        words, (firsts, lasts) = self.sentences[i], self.limits
        if len(firsts):
            firsts, lasts = self.limits.of_sentence(self.sentences.ptr, i)
        return words, firsts, lasts

    def map(
        self,
        work: Callable[[NDArray[np.int64]], Any],
        places: NDArray[np.int64],
        multiple: int,  # of which the sizes of all parts except the last are multiples
        n_jobs: int | None,
    ) -> Iterator[tuple[NDArray[np.int64], Any]]:
        """Yield parts of `places`, in ascending order, and the results of `work` for them.

        `work` must be picklable and return its results, since it may run on a copy of its data. The
        parts do not depend on `n_jobs`, so sums over them do not depend on it either.
        """
        ends = np.cumsum(self.lengths(self.distinct[places]))
        parts = []
        begin = 0
        while begin < len(places):
            words = ends[begin] - self.lengths(self.distinct[places[begin : begin + 1]])[0]
            n = int(np.searchsorted(ends, words + _CHUNK_WORDS)) - begin
            end = begin + max(multiple, n // multiple * multiple)
            parts.append(places[begin:end])
            begin = end
        found = call_all([partial(work, part) for part in parts], n_jobs)
        return zip(parts, found, strict=True)
