"""The partition that stands for many sampled ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numba import frozen
from skdp._typing import Places
from skdp.mixture import _kernels_partition as kernels

_MOST_PASSES = 50
_N_SPARE = 10
"""More clusters than the best sample has may turn up on the way."""


def representative_partition(samples: NDArray[np.int32], loss: str) -> Places:
    """Return the sampled partition of least mean loss to all of them, improved row by row.

    Parameters
    ----------
    samples : (S, N) array
        Labels from 0.
    loss : {"binder", "vi"}

    Returns
    -------
    (N,) array
        Clusters by falling size, equal ones by their first rows.
    """
    is_vi, samples = loss == "vi", frozen(samples)
    n_samples, n_labels = len(samples), int(samples.max()) + 1
    scratch = (
        np.empty(n_labels + _N_SPARE, dtype=np.int64),
        np.empty((n_samples, n_labels + _N_SPARE, n_labels), dtype=np.int64),
    )
    losses = []
    for labels in samples.astype(np.int64):
        kernels.tabulate(labels, samples, *scratch)
        losses.append(kernels.mean_loss(*scratch, is_vi))
    labels = samples[int(np.argmin(losses))].astype(np.int64)
    kernels.tabulate(labels, samples, *scratch)
    for _ in range(_MOST_PASSES):
        if not kernels.improve(labels, samples, is_vi, *scratch):
            break
    return by_size(labels)


def by_size(labels: Places) -> Places:
    """Return the same partition with clusters named by falling size."""
    _, first, names, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -sizes))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place[names.ravel()]
