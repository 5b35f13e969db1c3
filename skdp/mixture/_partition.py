"""Representative partition of sampled partitions.

With g(x) = x^2 / 2 (Binder) or x log x (variation of information, times N), the loss of a partition
of sizes n_k against one of sizes m_l is sum_k g(n_k) + sum_l g(m_l) - 2 sum_kl g(n_kl), where n_kl
is the number of rows in cluster k of one and l of the other. Rows move one by one, and after each
pass, clusters are merged that single rows would leave slowly or never.

The result has no more clusters than the median of the samples. Without a bound Binder's loss moves
rows that components share out of both, to their own clusters: if many overlap, the loss is least
for a partition into twice as many clusters as any sample has. If the bound is the largest number of
clusters of a sample, such rows occupy the places of transient clusters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Places
from skdp.inference._interrupt import is_interrupted
from skdp.mixture import _kernels_partition as kernels
from skdp.mixture._labels import labeled_first

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
