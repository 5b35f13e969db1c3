"""Partitions for the start of a chain: k-means in which columns count by their spread."""

from __future__ import annotations

import numpy as np

from skdp._numeric._typing import Floats, Places

_N_RESTARTS, _N_MOVES, _FIRST_MOVES = 20, 20, 3
_SMALLEST = 1e-6
"""Smallest variance of a column within clusters, in units of its variance."""
_TIE = 1e-9
"""Least decrease of the mean log variance by which a restart is better, not only rounded otherwise.

Restarts that find the same clusters number them in different orders."""


def find_tight_clusters(values: Floats, n_clusters: int, rng: np.random.Generator) -> Places:
    """Return labels of at most `n_clusters` clusters, the tightest of several restarts, (N,).
    Columns that separate clusters count the most, by their inverse variances within clusters.
    """
    values = values[:, ~np.isnan(values).all(axis=0)]
    values = values - np.nanmean(values, axis=0)
    deviations = np.nanstd(values, axis=0)
    is_constant = deviations <= 1e-9 * np.nanmax(np.abs(values), axis=0, initial=0.0)
    values = np.nan_to_num(values[:, ~is_constant] / deviations[~is_constant])
    best, least = np.zeros(len(values), dtype=np.int64), np.inf
    for _ in range(_N_RESTARTS if values.shape[1] else 0):
        labels, variances = _move_centers(values, _seed_centers(values, n_clusters, rng))
        log_det = float(np.log(variances).sum())
        if log_det < least - _TIE * values.shape[1]:
            best, least = labels, log_det
    return np.unique(best, return_inverse=True)[1]


def _seed_centers(values: Floats, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Return rows drawn by k-means++, in proportion to their squared distances."""
    chosen = [int(rng.integers(len(values)))]
    distances = np.full(len(values), np.inf)
    for _ in range(n_clusters - 1):
        distances = np.minimum(distances, ((values - values[chosen[-1]]) ** 2).sum(axis=1))
        if distances.max() == 0.0:
            break
        chosen.append(int(rng.choice(len(values), p=distances / distances.sum())))
    return values[chosen]


def _move_centers(values: Floats, centers: Floats) -> tuple[Places, Floats]:
    """Return the labels and the variances within clusters after moves of the centers."""
    variances = np.ones(values.shape[1])
    for move in range(_N_MOVES):
        weighted = centers / variances
        scores = 2.0 * values @ weighted.T - (weighted * centers).sum(axis=1)
        labels = scores.argmax(axis=1)
        members = labels == np.arange(len(centers))[:, np.newaxis]
        sizes = members.sum(axis=1)
        means = (members @ values) / np.maximum(sizes, 1)[:, np.newaxis]
        centers = np.where(sizes[:, np.newaxis] > 0, means, centers)
        within = np.maximum(((values - centers[labels]) ** 2).mean(axis=0), _SMALLEST)
        if move >= _FIRST_MOVES:
            variances = within
    return labels, within
