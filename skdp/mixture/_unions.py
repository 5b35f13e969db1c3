"""Clusters of rows: unions of components between which the rows show no gap.

Symbols: K components, C clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.isotonic import isotonic_regression

from skdp._numeric import Floats, Places
from skdp._numeric._arrays import log_posterior
from skdp.emissions._common._columns import DistinctValues
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.mixture._explanation import parts_of

_OVERLAPS = 0.002, 0.02
"""Least shares of a component that others claim: for a union at all, and for an easy one."""

_DIPS = 0.36, 0.5
"""Least dips, times sqrt(n), that are gaps: of uniform samples, 35 and 1 to 2 % have larger ones.

Components that are hardly mistaken for each other are united only if the rows show one mode.
"""

_MOST_ROWS, _MOST_POINTS, _TWO = 20_000, 2000, 2
"""Numbers of rows, and of quantiles of these, in which gaps are looked for."""


def find_clusters(
    model: Any, values: Floats, labels: Places, n_labels: int, rng: np.random.Generator
) -> Places:
    """Return the clusters of components, numbered from 0: those of known labels, then by size."""
    rows = np.arange(len(values))
    if len(rows) > _MOST_ROWS:
        rows = np.sort(rng.choice(len(rows), _MOST_ROWS, replace=False))
    values, log_weights = values[rows], np.log(model.weights[:-1])
    if (hidden := np.isnan(values)).any():
        values = np.where(hidden, model.emission.sample(labels[rows].astype(np.int64), rng), values)
    log_joint = model.emission.log_obs(values)[:, :-1] + log_weights
    posterior = np.exp(log_posterior(log_joint, log_weights))
    points = spread(parts_of(model.emission, values.shape[1]), values, rng)
    found = unite_components(posterior, points, n_labels)
    sizes = np.bincount(found, np.bincount(labels, minlength=len(found)))
    sizes[found[:n_labels]] = np.inf  # these are of different clusters, in the order of labels
    return np.asarray(np.argsort(np.argsort(-sizes, kind="stable"))[found])


def spread(parts: list[tuple[Places, Any]], values: Floats, rng: np.random.Generator) -> Floats:
    """Return rows as points: rounded numbers within their cells, and a column for each category."""
    points = []
    for columns, model in parts:
        for column in values[:, columns].T:
            if isinstance(model, CategoricalModel):
                points.append(np.eye(model.probs.shape[1])[column.astype(np.int64)])
                continue
            distinct = DistinctValues.of(column)
            step = distinct.find_step() if len(distinct.values) != _TWO else 0.0  # flags
            points.append((column + step * (rng.random(len(column)) - 0.5))[:, np.newaxis])
    return np.concatenate(points, axis=1)


def unite_components(
    posterior: Floats,
    rows: Floats,
    n_labels: int,
    may_unite: Callable[[Places, int, int], bool] = lambda clusters, a, b: True,
) -> Places:
    """Return the clusters of components: unions without gaps between their rows.

    `posterior`, (N, K), has the probabilities of the components of `rows`, (N, D); the first
    `n_labels` components have different labels, and are not united. `may_unite` decides about two
    clusters without a gap, given the clusters of components.
    """
    n_rows, n_components = posterior.shape
    clusters, shares = np.arange(n_components), posterior.copy()  # a union has the place of one
    refused = set[tuple[bytes, bytes]]()
    while True:
        best = shares.argmax(axis=1)
        taken = csr_array((np.ones(n_rows), best, np.arange(n_rows + 1)), (n_rows, n_components))
        claimed = taken.T @ shares / np.maximum(shares.sum(axis=0), 1e-300)
        claimed = np.triu(np.maximum(claimed, claimed.T), 1)
        labeled = clusters[:n_labels]
        claimed[np.ix_(labeled, labeled)] = 0.0
        for place in np.argsort(-claimed, axis=None, kind="stable"):
            a, b = divmod(int(place), n_components)
            if claimed[a, b] < _OVERLAPS[0]:
                return np.unique(clusters, return_inverse=True)[1]
            pair = (clusters == a).tobytes(), (clusters == b).tobytes()
            dip = _DIPS[int(claimed[a, b] >= _OVERLAPS[1])]
            if (
                pair not in refused
                and not has_gap(rows[best == a], rows[best == b], dip)
                and may_unite(clusters, a, b)
            ):
                clusters[clusters == b] = a
                shares[:, a] += shares[:, b]
                shares[:, b] = 0.0
                break
            refused.add(pair)


def has_gap(a: Floats, b: Floats, least: float = _DIPS[1]) -> bool:
    """Return whether two samples, along their linear discriminant, have a gap between them."""
    if min(len(a), len(b)) < 2:
        return False
    centered = np.concatenate([a - a.mean(axis=0), b - b.mean(axis=0)])
    within = centered.T @ centered
    within += (1e-9 * np.trace(within) / len(within) + 1e-300) * np.eye(len(within))
    places = np.concatenate([a, b]) @ np.linalg.solve(within, a.mean(axis=0) - b.mean(axis=0))
    if len(places) > _MOST_POINTS:
        places = np.quantile(places, (np.arange(_MOST_POINTS) + 0.5) / _MOST_POINTS)
    return find_dip(places) * np.sqrt(len(places)) > least


def find_dip(values: Floats) -> float:
    """Return half the distance of a sample from distributions that have one mode; 0.25 at most."""
    x, counts = np.unique(values, return_counts=True)
    above = np.cumsum(counts) / len(values)
    below = above - counts / len(values)
    n, widths = len(x), np.diff(x) / max(x[-1] - x[0], 1e-300)

    def distance(first: int, last: int, bound: Floats, other: Floats) -> float:
        """Return twice the distance from functions that are convex, or concave, between places."""
        hull = bound[first : last + 1]
        if first < last:
            own = widths[first:last]
            slopes = isotonic_regression(
                np.diff(hull) / own, sample_weight=own, increasing=bound is below
            )
            hull = hull[0] + np.append(0.0, np.cumsum(slopes * own))
        return float(np.abs(other[first : last + 1] - hull).max())

    low, high, best = 0, n - 1, np.inf
    while low <= high:  # left of the mode it is convex, right of it concave
        mode = (low + high) // 2
        left, right = distance(0, mode, below, above), distance(mode, n - 1, above, below)
        best = min(best, max(left, right))
        low, high = (mode + 1, high) if left < right else (low, mode - 1)
    return 0.5 * best
