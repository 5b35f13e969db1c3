"""Document completion: a random half of a document's words predicts the other half."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._executors import choose_executor
from skdp._numeric._random import find_second_halves
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.data._ragged import offsets
from skdp.topics._shared._arrays import sort_words
from skdp.topics._shared._fold_in import FoldIn, Model, fold_in_documents
from skdp.topics._shared._kernels import score_tokens


def split_words(
    corpus: SegmentedCorpus,
) -> tuple[SegmentedCorpus, NDArray[np.int32], NDArray[np.int64]]:
    """Return random halves of each segment's words, regardless of order: the observed half, sorted,
    in the same segments, the scored half, and the segment of each scored word.
    """
    corpus = sort_words(corpus)
    is_scored = find_second_halves(corpus.segment_ptr, corpus.tokens)
    lengths = np.diff(corpus.segment_ptr)
    segment_ptr = offsets(lengths - lengths // 2)
    observed = corpus._like(corpus.tokens[~is_scored], (corpus.doc_ptr, segment_ptr))
    segment_of = np.repeat(np.arange(len(lengths)), lengths // 2)
    return observed, corpus.tokens[is_scored], segment_of


def score_documents(
    corpus: SegmentedCorpus, models: list[Model], settings: FoldIn
) -> tuple[NDArray[np.float64], int]:
    """Return the log probability of every document's scored tokens, and their total number."""
    observed, scored, segment_of = split_words(corpus)
    if len(scored) == 0:
        return np.zeros(len(corpus)), 0
    probabilities = np.zeros(len(scored))  # averaged over the models
    fold_ins = fold_in_documents(observed, models, settings)
    for model, shares in zip(models, fold_ins, strict=True):
        score_tokens(scored, segment_of, shares[1], model.components, probabilities)
    document_of = np.repeat(np.arange(len(corpus)), np.diff(corpus.doc_ptr))[segment_of]
    log_probabilities = np.zeros(len(corpus))
    with np.errstate(divide="ignore"):  # log 0 is right for words that given topics exclude
        np.add.at(log_probabilities, document_of, np.log(probabilities / len(models)))
    return log_probabilities, len(scored)


class ScoredPartition(NamedTuple):
    """A partition in its process; an executor calls its method by name."""

    corpus: SegmentedCorpus

    def score(self, estimator: Any) -> tuple[float, int]:
        """Return the log probability of the scored tokens, and their number."""
        log_probabilities, n_scored = estimator._score(self.corpus)
        return float(log_probabilities.sum()), n_scored


def score_partitions(estimator: Any, X: PartitionedCorpus, n_jobs: int | None) -> tuple[float, int]:
    """Return the log probability of all scored tokens, and their number."""
    with choose_executor(n_jobs) as executor:
        executor.place(X._parts, ScoredPartition)
        shared = executor.share(estimator)
        calls = [executor.call(part.number, "score", shared) for part in X._parts]
        total, n_scored = executor.sum(calls)
    return float(total), int(n_scored)
