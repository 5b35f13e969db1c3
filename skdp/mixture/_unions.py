"""Clusters of rows: unions of components between which the rows show no gap.

Symbols: K components, C clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.isotonic import isotonic_regression

from skdp._numeric import Floats, Places
from skdp._numeric._arrays import log_posterior
from skdp.emissions._common._columns import DistinctValues
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.mixture._explanation import parts_of

_OVERLAP = 0.002
"""Least share of the rows of a component that others claim, for a union."""

_DIP = 0.5
"""Least dip, times sqrt(n), that is a gap: of uniform samples, 1 to 2 % have a larger one."""

_VALLEY, _NATS = 0.8, 3.0
"""With few rows, two normal densities are a gap if the valley between them is below this share of
the lower mode, unless a density with one mode is more probable by this many nats."""

_MOST_ROWS, _MOST_POINTS, _N_KNOTS, _TWO = 20_000, 2000, 16, 2
"""Numbers of rows, and of quantiles of these, in which gaps are looked for."""

_AT_LIMIT = 0.5
"""Least share of the rows of a component with the same value that makes this value a limit."""


def find_clusters(
    model: Any, values: Floats, labels: Places, n_labels: int, rng: np.random.Generator
) -> Places:
    """Return the clusters of components, numbered from 0: those of known labels, then by size."""
    rows = np.arange(len(values))
    if len(rows) > _MOST_ROWS:
        rows = np.sort(rng.choice(len(rows), _MOST_ROWS, replace=False))
    values, log_weights = values[rows], np.log(model.weights[:-1])
    values = fill_hidden(values, labels[rows], rng)
    log_joint = model.emission.log_obs(values)[:, :-1] + log_weights
    posterior = np.exp(log_posterior(log_joint, log_weights))
    found = find_unions(model.emission, values, posterior, rng, n_labels)
    sizes = np.bincount(found, np.bincount(labels, minlength=len(found)))
    sizes[found[:n_labels]] = np.inf  # these are of different clusters, in the order of labels
    return np.asarray(np.argsort(np.argsort(-sizes, kind="stable"))[found])


def fill_hidden(values: Floats, labels: Places, rng: np.random.Generator) -> Floats:
    """Return rows with missing values drawn from the others of their component, if it has any."""
    filled = values.copy()
    for d in np.flatnonzero(np.isnan(values).any(axis=0)):
        hidden = np.isnan(values[:, d])
        for k in np.unique(labels[hidden]):
            own = hidden & (labels == k)
            donors = values[~hidden & (labels == k), d]
            if not len(donors):
                donors = np.zeros(1) if hidden.all() else values[~hidden, d]
            filled[own, d] = rng.choice(donors, np.count_nonzero(own))
    return filled


def find_unions(
    emission: Any, values: Floats, posterior: Floats, rng: np.random.Generator, *rules: Any
) -> Places:
    """Return the unions of components of an emission; `rules` are those of `unite_components`."""
    parts = parts_of(emission, values.shape[1])
    values, limits = _continue_beyond_limits(parts, values, posterior.argmax(axis=1), rng)
    return unite_components(posterior, _spread(parts, values, rng), limits, *rules)


def _spread(parts: list[tuple[Places, Any]], values: Floats, rng: np.random.Generator) -> Floats:
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


def _continue_beyond_limits(
    parts: list[tuple[Places, Any]], values: Floats, components: Places, rng: np.random.Generator
) -> tuple[Floats, Places]:
    """Return values with those at limits spread beyond, as dense as before, and the components."""
    spread, limits = values.copy(), set[int]()
    for d in np.concatenate([own for own, part in parts if not isinstance(part, CategoricalModel)]):
        column = values[:, d]
        if len(np.unique(column)) <= _TWO or DistinctValues.of(column).find_step() > 0.0:
            continue
        for k in np.unique(components):
            distinct, counts = np.unique(column[components == k], return_counts=True)
            limit = distinct[counts.argmax()]
            others = column[column != limit]
            if counts.max() < max(_AT_LIMIT * counts.sum(), _TWO):
                continue
            own = np.flatnonzero((components == k) & (column == limit))
            near = others[np.argsort(np.abs(others - limit))[: (len(own) + 1) // 2]]
            width = len(own) * np.abs(near - limit).max() / len(near)
            side = np.sign(limit - near.mean())
            spread[own, d] += side * width * np.abs(rng.normal(size=len(own)))
            limits.add(int(k))
    return spread, np.array(sorted(limits), dtype=np.int64)


def unite_components(
    posterior: Floats,
    rows: Floats,
    limits: Sequence[int] | Places = (),
    n_labels: int = 0,
    may_unite: Callable[[Places, int, int], bool] = lambda clusters, a, b: True,
) -> Places:
    """Return the clusters of components: unions without gaps between their rows.

    `posterior`, (N, K), has the probabilities of the components of `rows`, (N, D); the first
    `n_labels` components have different labels, and are not united. Components in `limits` have
    equal values, and so do not overlap with others. `may_unite` decides about two clusters without
    a gap, given the clusters of components.
    """
    n_rows, n_components = posterior.shape
    clusters, shares = np.arange(n_components), posterior.copy()  # a union has the place of one
    refused = set[tuple[bytes, bytes]]()
    while True:
        best = shares.argmax(axis=1)
        taken = csr_array((np.ones(n_rows), best, np.arange(n_rows + 1)), (n_rows, n_components))
        claimed = taken.T @ shares / np.maximum(shares.sum(axis=0), 1e-300)
        claimed = np.maximum(claimed, claimed.T)
        touching = np.unique(clusters[list(limits)])
        claimed[touching] = np.maximum(claimed[touching], _OVERLAP * (shares.sum(axis=0) > 0.5))
        claimed = np.triu(np.maximum(claimed, claimed.T), 1)
        labeled = clusters[:n_labels]
        claimed[np.ix_(labeled, labeled)] = 0.0
        for place in np.argsort(-claimed, axis=None, kind="stable"):
            a, b = divmod(int(place), n_components)
            if claimed[a, b] < _OVERLAP:
                return np.unique(clusters, return_inverse=True)[1]
            pair = (clusters == a).tobytes(), (clusters == b).tobytes()
            if (
                pair not in refused
                and not has_gap(rows[best == a], rows[best == b])
                and may_unite(clusters, a, b)
            ):
                clusters[clusters == b] = a
                shares[:, a] += shares[:, b]
                shares[:, b] = 0.0
                break
            refused.add(pair)


def has_gap(a: Floats, b: Floats) -> bool:
    """Return whether two samples, along their linear discriminant, have a gap between them."""
    if min(len(a), len(b)) < 2:
        return False
    rows, apart = np.concatenate([a, b]), a.mean(axis=0) - b.mean(axis=0)
    centered = np.concatenate([a - a.mean(axis=0), b - b.mean(axis=0)])
    scales = np.maximum(centered.std(axis=0), 1e-5 * rows.std(axis=0))  # columns have any units
    scales[scales == 0.0] = 1.0
    centered /= scales
    within = centered.T @ centered + 1e-9 * len(rows) * np.eye(rows.shape[1])
    places = rows @ (np.linalg.solve(within, apart / scales) / scales)
    order = np.argsort(places)
    if len(order) > _MOST_POINTS:
        order = order[((np.arange(_MOST_POINTS) + 0.5) / _MOST_POINTS * len(order)).astype(int)]
    places = places[order]
    if np.ptp(places) == 0.0:
        return False
    if find_dip(places) * np.sqrt(len(places)) > _DIP:
        return True
    places = (places - places.mean()) / places.std()
    valley, two = fit_two_normals(places, order < len(a))
    return valley < _VALLEY and fit_one_mode(places) - two < _NATS


def fit_two_normals(x: Floats, first: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the valley between two normals, as a share of the lower, and the log likelihood.

    They are fitted to `x`, which has variance 1, from the division into `first` and others.
    """
    shares, last = np.stack([first, ~first]).astype(float), -np.inf

    def log_joint(x: Floats) -> Floats:
        apart = (x - means[:, np.newaxis]) ** 2 / variances[:, np.newaxis]
        scales = np.log(weights / np.sqrt(2.0 * np.pi * variances))
        return np.asarray(scales[:, np.newaxis] - 0.5 * apart)

    for _ in range(500):
        weights = np.maximum(shares.sum(axis=1), 1e-9)
        means = shares @ x / weights
        squares = (shares * (x - means[:, np.newaxis]) ** 2).sum(axis=1)
        variances = np.maximum(squares / weights, 1e-4)
        weights /= weights.sum()
        joint = log_joint(x)
        each = np.logaddexp(*joint)
        shares = np.exp(joint - each)
        if each.sum() - last < 1e-6 * len(x):
            break
        last = each.sum()
    density = np.exp(log_joint(np.linspace(means[0], means[1], 200))).sum(axis=0)
    return density.min() / min(density[0], density[-1]), float(each.sum())


def fit_one_mode(x: Floats) -> float:
    """Return the log likelihood of `x` under the log-concave density that is most probable."""
    knots = np.unique(np.quantile(x, np.linspace(0.0, 1.0, _N_KNOTS + 1)))
    even = np.linspace(x.min(), x.max(), 201)
    cells = np.union1d(even, np.quantile(x, np.linspace(0.0, 1.0, 201)))

    def bases(x: Floats) -> Floats:  # the log density is a sum of these, the last not negative
        bends = np.minimum(0.0, knots[1:-1] - x[:, np.newaxis])
        return np.column_stack([np.ones_like(x), x, bends])

    observed, inside = bases(x).mean(axis=0), bases(0.5 * (cells[1:] + cells[:-1]))

    def loss(slopes: Floats) -> tuple[float, Floats]:
        masses = np.exp(np.minimum(inside @ slopes, 700.0)) * np.diff(cells)
        return masses.sum() - observed @ slopes, masses @ inside - observed

    bounds = [(None, None)] * 2 + [(0.0, None)] * (len(observed) - 2)
    start = np.append(-np.log(np.ptp(x)), np.zeros(len(observed) - 1))
    found = minimize(loss, start, jac=True, method="SLSQP", bounds=bounds, options={"maxiter": 300})
    return float(len(x) * (1.0 - found.fun))


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
