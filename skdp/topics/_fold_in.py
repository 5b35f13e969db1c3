"""New documents under given topics."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.topics import _kernels_sweeps as sweeps
from skdp.topics._arrays import (
    empty_assignments,
    empty_scratch,
    fixed_words,
    flat,
    sampler_weights,
    stirling_ratios,
)
from skdp.topics._kernels import Prior, Ratios, WordCounts
from skdp.topics._model import TopicModel
from skdp.topics._sampler import SAMPLERS

_CHUNK_TOKENS = 20_000


class FoldIn(NamedTuple):
    """How documents are folded in.

    Attributes
    ----------
    sampler : str
    n_sweeps, burn_in : int
    concentration_prior : (shape, rate) or None
        Prior under which every document draws its own concentration; None: it is fixed.
    key : (4,) uint64 array
        Keys, with a document's content, the document's random stream.
    n_jobs : int or None
    """

    sampler: str
    n_sweeps: int
    burn_in: int
    concentration_prior: tuple[float, float] | None
    key: NDArray[np.uint64]
    n_jobs: int | None


def fold_in_documents(
    corpus: SegmentedCorpus, models: list[TopicModel], settings: FoldIn
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield E[mu] (D, K) and E[nu] (J, K) of documents for each model, with its topics fixed.

    Documents are independent given the topics, and each has a random stream of its own: how they
    are cut into chunks has no effect. Each model adds its number to the key of the streams, so
    that the errors of the fold-ins are independent. All models have the discount of the first.
    """
    ratios = sampler_weights(stirling_ratios(corpus, models[0].discount), settings.sampler)
    n_chunks = max(1, min(len(corpus), len(corpus.tokens) // _CHUNK_TOKENS))
    bounds = np.linspace(0, len(corpus), n_chunks + 1).astype(int)
    for m, model in enumerate(models):
        words = fixed_words(model.components)
        numbered = settings._replace(key=settings.key + np.uint64(m))
        parts = Parallel(n_jobs=settings.n_jobs, prefer="threads")(
            delayed(_fold_in_chunk)(corpus[begin:end], model, words, ratios, numbered)
            for begin, end in pairwise(bounds)
        )
        doc_topic, segment_topic = zip(*parts, strict=True)
        yield np.concatenate(doc_topic), np.concatenate(segment_topic)


def _fold_in_chunk(
    corpus: SegmentedCorpus,
    model: TopicModel,
    words: WordCounts,
    ratios: Ratios,
    settings: FoldIn,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    n_topics = len(model.doc_topic_prior)
    assignments = empty_assignments(corpus, n_topics, settings.sampler)
    doc_topic = np.zeros((len(corpus), n_topics))
    segment_topic = np.zeros((len(corpus.segment_ptr) - 1, n_topics))
    sweeps.fold_in(
        SAMPLERS[settings.sampler],
        flat(corpus),
        assignments,
        words,
        Prior(model.doc_topic_prior, 0.0, model.discount, model.concentration),
        np.array(settings.concentration_prior or (0.0, 0.0)),
        ratios,
        empty_scratch(n_topics),
        settings.n_sweeps,
        settings.burn_in,
        settings.key,
        doc_topic,
        segment_topic,
    )
    return doc_topic, segment_topic
