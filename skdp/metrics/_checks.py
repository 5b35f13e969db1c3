"""Argument checks that the functions of `skdp.metrics` share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_array
from skdp.data import SegmentedCorpus
from skdp.data._ragged import Offsets, check_offsets


def check_distributions(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return the rows of a 2-D array of non-negative weights, each divided by its sum."""
    array = as_array(values, name)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be a 2-D array of numbers, each row a distribution; "
            f"got shape {array.shape} and type {array.dtype}."
        )
    array = array.astype(np.float64)
    if not np.all(np.isfinite(array) & (array >= 0.0)):
        raise ValueError(f"{name} must hold finite numbers >= 0.")
    sums = array.sum(axis=1, keepdims=True)
    if not sums.all():
        raise ValueError(
            f"{name} must have a positive entry in every row, row {np.argmin(sums)} is zero."
        )
    return array / sums


def check_same_width(
    first: NDArray[Any], first_name: str, second: NDArray[Any], second_name: str
) -> None:
    """Raise unless two 2-D arrays have as many columns."""
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"{second_name} must have as many columns as {first_name}, {first.shape[1]}, "
            f"got {second.shape[1]}."
        )


def check_doc_ptr(doc_ptr: SegmentedCorpus | ArrayLike, n_segments: int) -> Offsets:
    """Return the offsets of documents in `n_segments` rows, of a corpus or as given."""
    if isinstance(doc_ptr, SegmentedCorpus):
        doc_ptr = doc_ptr.doc_ptr
    return check_offsets(doc_ptr, "doc_ptr", "rows of segment_topic", n_segments)


def check_documents(
    doc_topic: ArrayLike, segment_topic: ArrayLike, doc_ptr: SegmentedCorpus | ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return mu and nu with rows that sum to 1, and the document of every segment."""
    mu = check_distributions(doc_topic, "doc_topic")
    nu = check_distributions(segment_topic, "segment_topic")
    check_same_width(mu, "doc_topic", nu, "segment_topic")
    ptr = check_doc_ptr(doc_ptr, len(nu))
    if len(ptr) != len(mu) + 1:
        raise ValueError(
            f"doc_topic must have a row for each of the {len(ptr) - 1} documents of doc_ptr, "
            f"got {len(mu)}."
        )
    return mu, nu, np.repeat(np.arange(len(mu)), np.diff(ptr))
