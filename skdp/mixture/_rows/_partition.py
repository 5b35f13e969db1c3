"""Rows with weights and known labels, and the representative of sampled partitions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import vstack
from scipy.special import xlogy

from skdp._checks import MAX_INTEGER, as_array, check_known, check_memory, is_list_like, shorten
from skdp._numeric import Floats, Places
from skdp._numeric._numba import as_readonly
from skdp.data import SequencePanel
from skdp.data._ragged import offsets
from skdp.data._validation import SparseRows
from skdp.inference._chain import is_interrupted
from skdp.mixture._kernels import _partition as kernels

# Weights of rows as repetitions: a row of weight w stands for w equal rows.


_ROUNDING = 1e-9
"""Weights this close to a whole number, relative to it, are that number."""

_CURE = "Scale sample_weight: the time and memory of a fit are in proportion to its sum."


class RowCopies(NamedTuple):
    """The rows of X from which the rows of a fit with weights are copied."""

    values: Floats  # (n, D), all rows of X
    sources: Places  # (N,), ascending: the row of X of each copy
    amounts: Floats  # (N,), 1, or the fraction of a row that a copy stands for
    ptr: Places | None = None  # (J + 1,), groups of rows of X; None: no groups

    @property
    def left_out(self) -> Places:
        """Rows of X without a copy, because their weight is 0."""
        is_in = np.zeros(len(self.values), dtype=bool)
        is_in[self.sources] = True
        return np.flatnonzero(~is_in)

    def of_rows(self, clusters: NDArray[Any], others: NDArray[Any]) -> Places:
        """Return the cluster of each row of X: that of most copies; without any, of `others`."""
        n_clusters = int(clusters.max()) + 1
        pairs, places = np.unique(self.sources * n_clusters + clusters, return_inverse=True)
        amounts = np.bincount(places.ravel(), self.amounts)
        rows, found = np.divmod(pairs, n_clusters)
        order = np.lexsort((found, -amounts, rows))  # ties go to the smallest cluster
        best = order[np.unique(rows[order], return_index=True)[1]]
        out = np.empty(len(self.values), dtype=np.int64)
        out[rows[best]] = found[best]
        out[self.left_out] = others
        return out


def check_weights(sample_weight: Any, n_rows: int, name: str = "sample_weight") -> Floats:
    """Return the weights of rows, or raise unless they are numbers >= 0, not all of them 0."""
    weights = _read_weights(sample_weight, n_rows, name, "row of X")
    if not weights.any():
        raise ValueError(f"{name} is zero for all rows: no row is left.")
    return weights


def _read_weights(sample_weight: Any, n_rows: int, name: str, place: str) -> Floats:
    given = as_array(sample_weight, name)
    try:
        weights = np.asarray(given.astype(np.float64) if given.dtype.kind in "biufO" else None)
    except (TypeError, ValueError):
        weights = np.asarray(None)
    if weights.dtype == object:
        raise TypeError(f"{name} must hold numbers >= 0, got {shorten(sample_weight)}.")
    if weights.shape != (n_rows,):
        raise ValueError(
            f"{name} must hold {n_rows} numbers, a weight for each {place}; got an array of shape "
            f"{weights.shape}."
        )
    wrong = ~np.isfinite(weights) | (weights < 0.0)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"{name} must hold finite numbers >= 0: a row of weight w stands for w rows; got "
            f"{weights[i]:g} for row {i}."
        )
    return weights


def check_weights_of_groups(sample_weight: Any, ptr: Places, is_single: bool) -> Floats:
    """Return the weights of the rows of all groups, or raise; None for a group: all are 1."""
    if is_single:
        return check_weights(sample_weight, int(ptr[-1]))
    sizes = np.diff(ptr)
    parts = list(sample_weight) if is_list_like(sample_weight) else []
    if len(parts) != len(sizes) or not all(part is None or is_list_like(part) for part in parts):
        raise ValueError(
            f"sample_weight must have an array of weights for each of the {len(sizes)} groups of "
            f"X, or None if all its rows have weight 1; got {shorten(sample_weight)}."
        )
    weights = [
        np.ones(size)
        if part is None
        else _read_weights(part, int(size), f"sample_weight[{j}]", f"row of group {j}")
        for j, (part, size) in enumerate(zip(parts, sizes, strict=True))
    ]
    joined = np.concatenate(weights)
    if not joined.any():
        raise ValueError("sample_weight is zero for all rows: no row is left.")
    return joined


def copy_rows(rows: Any, weights: Floats, n_stored: int) -> Any:
    """Return the rows of a fit with weights: floor(w) copies, and one more for a fraction of w."""
    if (weights == 1.0).all():
        return rows
    whole = np.rint(weights)
    is_whole = np.abs(weights - whole) <= _ROUNDING * np.maximum(whole, 1.0)
    is_whole &= (whole > 0.0) | (weights == 0.0)
    whole = np.where(is_whole, whole, np.floor(weights))
    counts = whole + ~is_whole
    check_memory(
        counts.sum() * (16.0 * rows.values.shape[1] + 4.0 * n_stored + 64.0),
        f"sample_weight: {counts.sum():.6g} rows, the sum of the weights,",
        _CURE,
    )
    counts = counts.astype(np.int64)
    sources = np.repeat(np.arange(len(weights)), counts)
    amounts, powers = np.ones(len(sources)), None
    if not is_whole.all():
        ends = np.cumsum(counts) - 1
        amounts[ends[~is_whole]] = (weights - whole)[~is_whole]
        powers = as_readonly(amounts)  # a fraction is the power of the likelihood
    ptr = None
    if rows.ptr is not None:
        groups = np.repeat(np.arange(len(rows.ptr) - 1), np.diff(rows.ptr))
        sizes = np.bincount(groups, counts, len(rows.ptr) - 1).astype(np.int64)
        ptr = offsets(sizes)
    copies = RowCopies(rows.values, sources, amounts, rows.ptr)
    values = _take(rows.values, sources)
    return rows.copied(values, sources)._replace(ptr=ptr, copies=copies, powers=powers)


def weighted_mean(values: Floats, weights: Floats) -> float:
    """Return the mean of values with weights >= 0, not all 0; values of weight 0 do not count."""
    counted = weights > 0.0
    weights = weights / weights.max()  # sums of huge numbers overflow
    return float((values[counted] @ weights[counted]) / weights.sum())


# Rows of which some labels are known, which restrict the partitions of a mixture.


def _take(values: Any, rows: Places) -> Any:
    """Return some rows of a table, read-only."""
    taken = values[rows]
    return as_readonly(np.ascontiguousarray(taken)) if isinstance(taken, np.ndarray) else taken


class LabeledRows(NamedTuple):
    """Rows and their known labels."""

    values: Any  # (N, D) array or `SparseRows`
    known: Places | None = None  # (N,), places in `names`, -1 if unknown; None: all are
    names: Places = np.empty(0, dtype=np.int64)  # (C,), ascending; each has a row
    ptr: Places | None = None  # (J + 1,), offsets of groups of rows; None: no groups
    powers: Floats | None = None  # (N,), of the likelihoods of rows, in (0, 1]; None: all are 1
    copies: RowCopies | None = None  # the rows of X that these are copies of, in a fit with weights

    def take(self, rows: Places) -> LabeledRows:
        """Return some of the rows."""
        values = _take(self.values, rows)
        powers = None if self.powers is None else self.powers[rows]
        if self.known is None or (self.known[rows] < 0).all():
            return LabeledRows(values, powers=powers)
        return label_rows(values, self.known[rows])._replace(powers=powers)

    def followed_by(self, batch: LabeledRows, n_left: int) -> LabeledRows:
        """Return these rows but for the first ones, and those of a batch, without weights."""
        if isinstance(self.values, np.ndarray) != isinstance(batch.values, np.ndarray):
            raise TypeError("X must be sparse if, and only if, that of the first call was.")
        if isinstance(self.values, np.ndarray):
            values = as_readonly(np.concatenate([self.values[n_left:], batch.values]))
        else:
            both = self.values.table[n_left:], batch.values.table
            values = SparseRows(vstack(both, format="csr"))
        return _label_known(values, np.concatenate([self.labels[n_left:], batch.labels]))

    @property
    def labels(self) -> Places:
        """Known labels of the rows, -1 if unknown, (N,)."""
        if self.known is None:
            return np.full(len(self.values), -1)
        return np.where(self.known >= 0, self.names[self.known], -1)

    def copied(self, values: Floats, sources: Places) -> LabeledRows:
        """Return copies of the rows with the given indices and values, with their labels."""
        return _label_known(values, self.labels[sources])


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


# Representative partition of sampled partitions.
#
# With g(x) = x^2 / 2 (Binder) or x log x (variation of information, times N), the loss of a
# partition of sizes n_k against one of sizes m_l is sum_k g(n_k) + sum_l g(m_l) - 2 sum_kl g(n_kl),
# where n_kl is the number of rows in cluster k of one and l of the other. Rows move one by one, and
# after each pass, clusters are merged that single rows would leave slowly or never.
#
# The result has no more clusters than the median of the samples. Without a bound Binder's loss
# moves rows that components share out of both, to their own clusters: if many overlap, the loss is
# least for a partition into twice as many clusters as any sample has. If the bound is the largest
# number of clusters of a sample, such rows occupy the places of transient clusters.


_MOST_PASSES = 50
_FEW = 1e-4
"""Share of rows: iterations stop once no larger share moves in a pass."""

_WORK = 10_000_000
"""Table entries that a call reads, in about a fiftieth or (VI) a fifth of a second."""

_MOST_NUMBERS = 2**27
"""Bound on the entries of the tables, a gigabyte; larger problems are not improved."""

_MOST_PAIRS = 10_000_000
"""Largest number of cluster pairs to count in a table; more of them are sorted."""


def representative_partition(
    samples: NDArray[np.int32], loss: str, known: Places | None = None
) -> Places:
    """Return the sampled partition with the least mean loss to all samples, after improvement.

    Labels count from 0; `known` ones are -1 if unknown. Clusters with known labels come first, then
    the others by decreasing size. If an `InterruptGuard` holds back a Ctrl-C, this is the best yet.
    """
    if known is None:
        return _improved(samples, loss, samples.shape[1])
    order = np.argsort(known >= 0, kind="stable")  # rows without a label come first
    labels = np.empty(len(order), dtype=np.int64)
    labels[order] = _improved(samples[:, order], loss, int((known < 0).sum()))
    return labeled_first(by_size(labels), known)


def _improved(samples: NDArray[np.int32], loss: str, n_free: int) -> Places:
    """Return the best partition, by decreasing size; only the first `n_free` rows may move."""
    is_vi, samples = loss == "vi", as_readonly(samples)
    counts = np.array([len(np.unique(labels)) for labels in samples])
    n_samples, n_places, n_labels = len(samples), int(np.median(counts)), int(samples.max()) + 1
    few = samples[counts <= n_places]
    losses: list[float] = []
    for labels in few:
        if losses and is_interrupted():
            break
        shared = [_growth(_count_pairs(labels, other), is_vi) for other in samples]
        losses.append(_growth(np.bincount(labels), is_vi) - 2.0 * float(np.mean(shared)))
    labels = by_size(few[int(np.argmin(losses))])
    if n_samples * n_places * n_labels <= _MOST_NUMBERS and not is_interrupted():
        scratch = (
            np.empty(n_places, dtype=np.int64),
            np.empty((n_samples, n_labels, n_places), dtype=np.int64),
        )
        kernels.tabulate(labels, samples, *scratch)
        for _ in range(_MOST_PASSES):
            n_moved = _improve(labels, samples, n_free, is_vi, *scratch)
            has_merged = _merge(labels, n_free, is_vi, *scratch)
            if n_moved <= _FEW * len(labels) and not has_merged:
                break
    return by_size(labels)


def _improve(
    labels: Places,
    samples: NDArray[np.int32],
    n_free: int,
    is_vi: bool,
    sizes: NDArray[np.int64],
    tables: NDArray[np.int64],
) -> int:
    """Move each free row to the cluster of least loss; return their number, 0 after a Ctrl-C."""
    step, n_moved = max(_WORK // (len(samples) * len(sizes)), 1), 0
    for begin in range(0, n_free, step):
        if is_interrupted():
            return 0
        end = min(begin + step, n_free)
        n_moved += kernels.improve(
            begin, end, labels, samples, is_vi, sizes, tables, np.empty(len(sizes))
        )
    return n_moved


def _merge(
    labels: Places,
    n_free: int,
    is_vi: bool,
    sizes: NDArray[np.int64],
    tables: NDArray[np.int64],
) -> bool:
    """Merge clusters if that lowers the loss; return whether any were merged."""
    has_merged = False
    for k in np.argsort(sizes):
        if is_interrupted():
            return False
        if sizes[k] > 0:
            has_label = np.zeros(len(sizes), dtype=np.bool_)
            has_label[labels[n_free:]] = True
            changes = np.empty(len(sizes))
            has_merged |= kernels.merge(k, labels, has_label, is_vi, sizes, tables, changes)
    return has_merged


def _growth(counts: NDArray[np.int64], is_vi: bool) -> float:
    """Return the sum of g over the counts."""
    x = counts.astype(np.float64)
    return float(xlogy(x, x).sum() if is_vi else 0.5 * (x**2).sum())


def _count_pairs(labels: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the numbers of rows in the pairs of clusters of two partitions, in no fixed order."""
    n = int(other.max()) + 1
    codes = labels.astype(np.int64) * n + other
    if (int(labels.max()) + 1) * n <= _MOST_PAIRS:
        return np.bincount(codes)
    return np.unique(codes, return_counts=True)[1]


def by_size(labels: NDArray[np.integer]) -> Places:
    """Return the same partition with clusters labeled by decreasing size."""
    _, first, names, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -sizes))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place[names.ravel()]
