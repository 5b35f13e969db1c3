"""Rows of which some labels are known: they restrict the partitions of a mixture."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from skdp._checks import MAX_INTEGER, as_array, shorten
from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places

_CURE = "If y is not of components but of a later step or a metric, set use_y=False."


class LabeledRows(NamedTuple):
    """Rows and their known labels.

    Attributes
    ----------
    values : (N, D) array
    known : (N,) array of int64 or None
        Index of each row's label in `names`, -1 if it is unknown. None: all are unknown.
    names : (C,) array of int64
        The labels in ascending order; every one has a row.
    """

    values: Floats
    known: Places | None = None
    names: Places = np.empty(0, dtype=np.int64)

    def take(self, rows: Places) -> LabeledRows:
        """Return some of the rows."""
        values = as_readonly(self.values[rows])
        if self.known is None or (self.known[rows] < 0).all():
            return LabeledRows(values)
        return label_rows(values, self.known[rows])


def label_rows(values: Floats, labels: Places) -> LabeledRows:
    """Return rows with their labels, -1 if unknown; at least one is known."""
    names = np.unique(labels[labels >= 0])
    known = np.where(labels >= 0, np.searchsorted(names, labels), -1)
    return LabeledRows(values, known, names)


def check_labels(values: Floats, y: Any) -> LabeledRows:
    """Return rows with the labels that `y` gives.

    Raises
    ------
    ValueError, TypeError
        If `y` is not a label per row.
    """
    if y is None:
        return LabeledRows(values)
    array = as_array(y.to_numpy() if hasattr(y, "to_numpy") else y, "y")
    if array.shape != (len(values),):
        raise ValueError(
            f"y must have shape ({len(values)},), a label per row of X, -1 if it is unknown; got "
            f"shape {array.shape}. {_CURE}"
        )
    if array.dtype.kind == "O":
        array = np.array([_as_number(value, i) for i, value in enumerate(array)])
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"y must hold integers, -1 if the label of a row is unknown; got values of type "
            f"{array.dtype}. Encode other labels with sklearn.preprocessing.LabelEncoder. {_CURE}"
        )
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), -1.0, array)
    wrong = np.flatnonzero((array < -1) | (array != np.floor(array)) | (array > MAX_INTEGER))
    if len(wrong):
        raise ValueError(
            f"y must hold integers from 0 to {MAX_INTEGER}, or -1 if the label of a row is "
            f"unknown; got y[{wrong[0]}]={shorten(array[wrong[0]].item())}. {_CURE}"
        )
    labels = array.astype(np.int64)
    return label_rows(values, labels) if (labels >= 0).any() else LabeledRows(values)


def _as_number(value: Any, i: int) -> float:
    """Return a label as a float, NaN if it is missing."""
    if value is None or type(value).__name__ == "NAType":  # pandas.NA is not comparable
        return np.nan
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral | Real):
        raise TypeError(
            f"y must hold integers, -1 or None if the label of a row is unknown; got "
            f"y[{i}]={shorten(value)}. Encode other labels with "
            f"sklearn.preprocessing.LabelEncoder. {_CURE}"
        )
    return float(value)


def check_agreement(init: Places, rows: LabeledRows) -> None:
    """Raise ValueError if a first partition contradicts the known labels."""
    if rows.known is None:
        return
    pinned = np.flatnonzero(rows.known >= 0)
    first = pinned[np.unique(rows.known[pinned], return_index=True)[1]]  # a row of each label
    apart = pinned[init[pinned] != init[first[rows.known[pinned]]]]
    if len(apart):
        label = rows.known[apart[0]]
        raise ValueError(
            f"init separates rows {first[label]} and {apart[0]}, which y gives the same label, "
            f"{rows.names[label]}."
        )
    for label, k in enumerate(init[first]):
        other = int(np.flatnonzero(init[first] == k)[0])
        if other < label:
            raise ValueError(
                f"init joins rows {first[other]} and {first[label]}, which y gives different "
                f"labels, {rows.names[other]} and {rows.names[label]}."
            )


def restrict_partition(labels: Places, known: Places | None) -> Places:
    """Return a partition that differs only in labeled rows and is consistent with their labels.

    Common labels come first. Each keeps the cluster of most of its rows, unless that has another
    label already; then it opens a new cluster.
    """
    if known is None:
        return labels
    n, pinned = int(labels.max()) + 1, known >= 0
    n_labels = int(known.max()) + 1
    table = np.bincount(known[pinned] * n + labels[pinned], minlength=n_labels * n)
    table = table.reshape(n_labels, n)
    clusters = n + np.arange(n_labels)
    for label in np.argsort(-table.sum(axis=1), kind="stable"):
        k = int(np.argmax(table[label]))
        if table[label, k] > 0:
            clusters[label] = k
            table[:, k] = 0
    restricted = labels.copy()
    restricted[pinned] = clusters[known[pinned]]
    return np.unique(restricted, return_inverse=True)[1].astype(np.int64)


def labeled_first(labels: Places, known: Places | None) -> Places:
    """Return the same partition with the clusters of labels first, in the order of the labels."""
    if known is None:
        return labels
    pinned, n = known >= 0, int(labels.max()) + 1
    clusters = np.empty(int(known.max()) + 1, dtype=np.int64)
    clusters[known[pinned]] = labels[pinned]
    place = np.empty(n, dtype=np.int64)
    place[np.concatenate([clusters, np.setdiff1d(np.arange(n), clusters)])] = np.arange(n)
    return np.asarray(place[labels])
