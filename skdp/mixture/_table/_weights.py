"""Weights of rows as repetitions: a row of weight w stands for w equal rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array, check_memory, is_list_like, shorten
from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places
from skdp.data._ragged import offsets

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
    values = as_readonly(np.ascontiguousarray(rows.values[sources]))
    return rows.copied(values, sources)._replace(ptr=ptr, copies=copies, powers=powers)


def weighted_mean(values: Floats, weights: Floats) -> float:
    """Return the mean of values with weights >= 0, not all 0; values of weight 0 do not count."""
    counted = weights > 0.0
    weights = weights / weights.max()  # sums of huge numbers overflow
    return float((values[counted] @ weights[counted]) / weights.sum())
