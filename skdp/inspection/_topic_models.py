"""Queries of the displays to fitted topic models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import check_count
from skdp.data import check_corpus
from skdp.data._ragged import Offsets
from skdp.inspection._estimators import check_model
from skdp.inspection._segments import Cuts, NamedParts, check_cuts, check_parts

TOPIC_MODEL = "a topic model of skdp.topics"

_N_LABEL_WORDS = 3


class Chosen(NamedTuple):
    """Documents of X to draw."""

    samples: Any
    """Input with these documents."""
    doc_ptr: Offsets
    """Offsets of the documents in their segments."""
    rows: slice
    """Slice of their segments in those of X."""
    n_rows: int
    """Number of segments of X."""
    parts: NamedParts
    cuts: Cuts


def choose_documents(
    estimator: Any,
    X: Any,
    document: int | None,
    boundaries: ArrayLike | None,
    part_names: Sequence[str] | None,
    true_cuts: ArrayLike | None = None,
    *,
    reads_cuts: bool = False,
) -> Chosen:
    """Return a single document with the given parts, or all documents (None), each as a part."""
    check_model(estimator, TOPIC_MODEL, "transform_segments")
    corpus = check_corpus(estimator, X, reset=False)
    ptr = corpus.doc_ptr
    n_rows = int(ptr[-1])
    if document is None:
        if true_cuts is not None:
            raise ValueError("true_cuts must not be given if document is None.")
        parts = _documents_as_parts(ptr, boundaries, part_names)
        cuts = check_cuts(n_rows, _cut_proba(estimator, X, ptr) if reads_cuts else None, None)
        return Chosen(X, ptr, slice(0, n_rows), n_rows, parts, cuts)
    document = check_count(document, "document")
    if document >= len(corpus):
        raise ValueError(
            f"document must be below the number of documents in X, {len(corpus)}, got {document}."
        )
    begin, end = ptr[document : document + 2].tolist()
    if begin == end:
        raise ValueError(f"document {document} has no segments to plot.")
    # A data frame is kept, because its columns have names to check.
    samples = getattr(X, "iloc", X) if hasattr(X, "columns") else corpus
    sample, doc_ptr = samples[document : document + 1], ptr[document : document + 2] - begin
    if boundaries is None and corpus.part_ptr is not None:
        # the parts of a corpus that is divided
        boundaries = corpus[document : document + 1].part_ptr[1:-1]
    proba = _cut_proba(estimator, sample, doc_ptr) if reads_cuts else None
    return Chosen(
        sample,
        doc_ptr,
        slice(begin, end),
        n_rows,
        check_parts(end - begin, boundaries, part_names),
        check_cuts(end - begin, proba, true_cuts),
    )


def _cut_proba(estimator: Any, samples: Any, doc_ptr: Offsets) -> NDArray[np.float64] | None:
    """Return the probability of a cut in each gap, nan between documents; None without cuts."""
    if not hasattr(estimator, "predict_proba"):
        return None
    proba = np.full(int(doc_ptr[-1]), np.nan)
    for begin, found in zip(doc_ptr[:-1], estimator.predict_proba(samples), strict=True):
        proba[begin : begin + len(found)] = found
    return proba[:-1]


def _documents_as_parts(
    ptr: Offsets, boundaries: ArrayLike | None, part_names: Sequence[str] | None
) -> NamedParts:
    if boundaries is not None:
        raise ValueError(
            "boundaries must not be given if document is None: they are those of the documents."
        )
    if part_names is not None and len(part_names) != len(ptr) - 1:
        raise ValueError(
            f"part_names must hold {len(ptr) - 1} names, one for each document of X, "
            f"got {len(part_names)}."
        )
    filled = np.flatnonzero(np.diff(ptr))  # empty documents have no position
    if len(filled) == 0:
        raise ValueError("X has no segments to plot.")
    names = None if part_names is None else [part_names[int(d)] for d in filled]
    return check_parts(int(ptr[-1]), ptr[filled[1:]], names)


def shares_of(estimator: Any, samples: Any) -> tuple[Any, Any]:
    """Return the shares of topics in documents (None: of something else, LDCC) and in segments."""
    doc_topic, segment_topic = estimator._fold_in(samples)[:2]
    return (doc_topic if estimator._documents_share_topics else None), segment_topic


def name_topics(estimator: Any, feature_names: ArrayLike | None) -> list[str] | None:
    """Return topic names: given ones, else most probable words, or numbers; None: numbers only."""
    check_model(estimator, TOPIC_MODEL, "top_words")
    if feature_names is None and estimator._topic_names is not None:
        return list(estimator._topic_names)
    given = estimator._given_names()
    if feature_names is None and not hasattr(estimator, "feature_names_in_"):
        if not any(given):
            return None
        return [f"topic {k}" if name is None else name for k, name in enumerate(given)]
    n_words = min(_N_LABEL_WORDS, estimator.n_features_in_)
    return estimator._name_by_words(estimator.top_words(feature_names, n_words))
