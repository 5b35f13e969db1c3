"""Arrays of the kernels of topics and cuts, and documents with their known cuts."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.topics._segmenter._kernels_cuts import CutPrior, CutScratch
from skdp.topics._segmenter._kernels_sweeps import Divided, PartBuffers, Units

UNKNOWN = -1
"""Mark of a gap that may be a cut or not."""

LONGEST = 2**40
"""Number of units of a part if there is no bound."""


class KnownUnits(NamedTuple):
    """Documents of units, and the known gaps before them."""

    corpus: SegmentedCorpus
    known: NDArray[np.int8]  # (J,), a part begins: 1, 0 or -1: unknown; 1 at the first unit


def nothing_known(corpus: SegmentedCorpus) -> KnownUnits:
    """Return documents without known cuts."""
    known = np.full(len(corpus.segment_ptr) - 1, UNKNOWN, dtype=np.int8)
    known[first_units(corpus)] = 1
    return KnownUnits(corpus, known)


def first_units(corpus: SegmentedCorpus) -> NDArray[np.int64]:
    """Return the first unit of every document that has any."""
    return np.asarray(corpus.doc_ptr[:-1][np.diff(corpus.doc_ptr) > 0])


def units_of(corpus: SegmentedCorpus) -> Units:
    """Return a corpus in the form that kernels take."""
    return Units(corpus.tokens, corpus.segment_ptr, corpus.doc_ptr)


def first_state(data: KnownUnits, doc_topic_prior: NDArray[np.float64]) -> Divided:
    """Return documents of words without topics and of one part, but for known cuts."""
    n_documents, n_topics = len(data.corpus), len(doc_topic_prior)
    return Divided(
        topics=np.full(len(data.corpus.tokens), -1, dtype=np.int32),
        starts=(data.known == 1).astype(np.int8),
        shares=np.tile(doc_topic_prior / doc_topic_prior.sum(), (n_documents, 1)),
        served=np.zeros((n_documents, n_topics), dtype=np.int32),
    )


def empty_parts(corpus: SegmentedCorpus, n_topics: int) -> PartBuffers:
    """Return scratch for the parts of any document."""
    n_units = int(np.diff(corpus.doc_ptr).max(initial=0))
    return PartBuffers(
        part_ptr=np.zeros(n_units + 1, dtype=np.int64),
        doc_ptr=np.zeros(2, dtype=np.int64),
        tables=np.zeros((n_units, n_topics), dtype=np.int32),
        part_tables=np.zeros(n_units, dtype=np.int64),
        served=np.zeros((1, n_topics), dtype=np.int32),
        none=np.zeros((0, n_topics), dtype=np.int32),
        no_totals=np.zeros(0, dtype=np.int64),
        no_seats=np.zeros(0, dtype=np.int32),
        no_kinds=np.zeros(0, dtype=np.int8),
    )


def empty_work(corpus: SegmentedCorpus, n_topics: int, concentration: float) -> CutScratch:
    """Return scratch for the cuts of any document."""
    n_units = int(np.diff(corpus.doc_ptr).max(initial=0))
    n_words = int(np.diff(corpus.segment_ptr[corpus.doc_ptr]).max(initial=0))
    return CutScratch(
        base=np.zeros(n_topics),
        n_k=np.zeros(n_topics, dtype=np.int64),
        inverse=1.0 / (concentration + np.arange(n_words + 1.0)),
        forward=np.zeros(n_units + 1),
        backward=np.zeros(n_units + 1),
        logs=np.zeros(n_units + 1),
    )


def cut_prior(known: NDArray[np.int8], most: int | None, probability: float) -> CutPrior:
    """Return the prior of cuts in the form that kernels take."""
    return CutPrior(
        known, LONGEST if most is None else most, math.log(probability), math.log1p(-probability)
    )


def split_units(corpus: SegmentedCorpus, of_units: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the values of the gaps of each document, one before each unit but the first."""
    return [
        of_units[begin + 1 : max(end, begin + 1)]
        for begin, end in zip(corpus.doc_ptr[:-1], corpus.doc_ptr[1:], strict=True)
    ]
