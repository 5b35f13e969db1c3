"""Rows of which some labels are known: they restrict the partitions of a mixture."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skdp._checks import MAX_INTEGER, as_array, check_known, is_list_like, shorten
from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places
from skdp.data import SequencePanel
from skdp.mixture._table._weights import RowCopies


class LabeledRows(NamedTuple):
    """Rows and their known labels."""

    values: Floats
    known: Places | None = None  # (N,), places in `names`, -1 if unknown; None: all are
    names: Places = np.empty(0, dtype=np.int64)  # (C,), ascending; each has a row
    ptr: Places | None = None  # (J + 1,), offsets of groups of rows; None: no groups
    powers: Floats | None = None  # (N,), of the likelihoods of rows, in (0, 1]; None: all are 1
    copies: RowCopies | None = None  # the rows of X that these are copies of, in a fit with weights

    def take(self, rows: Places) -> LabeledRows:
        """Return some of the rows."""
        values = as_readonly(self.values[rows])
        powers = None if self.powers is None else self.powers[rows]
        if self.known is None or (self.known[rows] < 0).all():
            return LabeledRows(values, powers=powers)
        return label_rows(values, self.known[rows])._replace(powers=powers)

    def copied(self, values: Floats, sources: Places) -> LabeledRows:
        """Return copies of the rows with the given indices and values, with their labels."""
        if self.known is None:
            return LabeledRows(values)
        known = self.known[sources]
        return _label_known(values, np.where(known >= 0, self.names[known], -1))


def label_rows(values: Floats, labels: Places) -> LabeledRows:
    """Return rows with their labels, -1 if unknown; at least one is known."""
    names = np.unique(labels[labels >= 0])
    known = np.where(labels >= 0, np.searchsorted(names, labels), -1)
    return LabeledRows(values, known, names)


def check_labels(values: Floats, y: Any) -> LabeledRows:
    """Return rows with the labels that `y` gives: one for each row, or None."""
    if y is None:
        return LabeledRows(values)
    return _label_known(values, _check_array(y, len(values), "y", "X"))


def _label_known(values: Floats, labels: Places) -> LabeledRows:
    """Return rows with their labels, -1 if unknown."""
    return label_rows(values, labels) if (labels >= 0).any() else LabeledRows(values)


def _check_array(y: Any, n_rows: int, name: str, place: str) -> Places:
    """Return the labels of the rows of X or of a group, -1 if unknown."""
    return check_known(y, n_rows, name, what="label", place=f"row of {place}", largest=MAX_INTEGER)


def check_labels_of_groups(panel: SequencePanel, is_single: bool, y: Any) -> LabeledRows:
    """Return rows of groups with the labels that `y` gives: an array for each group, or None."""
    if is_single or y is None:
        return check_labels(panel.values, y)._replace(ptr=panel.ptr)
    parts = list(y) if is_list_like(y) else []
    if len(parts) != len(panel):
        raise ValueError(
            f"y must have an array of labels for each of the {len(panel)} groups of X, None if "
            f"none is known; got {shorten(y)}. Set use_y=False to ignore y."
        )
    if not any(map(is_list_like, parts)):
        return LabeledRows(panel.values, ptr=panel.ptr)  # classes of groups
    labels = [
        np.full(n, -1) if part is None else _check_array(part, n, f"y[{j}]", f"group {j}")
        for j, (part, n) in enumerate(zip(parts, np.diff(panel.ptr), strict=True))
    ]
    return _label_known(panel.values, np.concatenate(labels))._replace(ptr=panel.ptr)


def first_labels_of_groups(init: Any, rows: LabeledRows) -> Places:
    """Return a first partition that is given by group, labeled without gaps, or raise."""
    ptr = rows.ptr if rows.copies is None else rows.copies.ptr
    assert ptr is not None
    labels = _join_labels(init, np.diff(ptr))
    if rows.copies is not None:
        labels = labels[rows.copies.sources]
    first = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    check_agreement(first, rows)
    return first


def _join_labels(init: Any, sizes: Places) -> Places:
    """Return labels in one array, or raise ValueError if there is not an array for each group."""
    parts = init if isinstance(init, list | tuple) else [init]
    arrays = [as_array(part, "init") for part in parts]
    if len(sizes) == 1 and all(array.ndim == 0 for array in arrays):
        arrays = [as_array(init, "init")]
    if len(arrays) != len(sizes):
        raise ValueError(
            f"init must be 'sequential' or a list of {len(sizes)} arrays of int, one per group of "
            f"X; got {len(arrays)}."
        )
    for j, (array, size) in enumerate(zip(arrays, sizes, strict=True)):
        if array.dtype.kind not in "iu" or array.shape != (size,):
            raise ValueError(
                f"init must hold integers, a label per row: {size} for group {j}, got "
                f"{array.dtype} of shape {array.shape}."
            )
    return np.concatenate(arrays)


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
    """Return a partition that differs only in labeled rows and is consistent with their labels."""
    if known is None:
        return labels
    n, pinned = int(labels.max()) + 1, known >= 0
    n_labels = int(known.max()) + 1
    table = np.bincount(known[pinned] * n + labels[pinned], minlength=n_labels * n)
    table = table.reshape(n_labels, n)
    clusters = n + np.arange(n_labels)
    # Common labels come first. Each keeps the cluster of most of its rows, unless that has another
    # label already; then it opens a new cluster.
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
