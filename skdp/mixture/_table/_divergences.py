"""How far each column of a component is from the column of the whole mixture."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp, xlogy

from skdp._numeric._typing import Floats
from skdp.emissions._discrete._bernoulli import BernoulliModel
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.mixture._table._cells import parts_of

_TAIL = 1e-13
"""Probability beyond either end of the range of a sum or an integral."""

_SHARE_OF_SCALE, _SHARE_OF_DISTANCE = 0.5, 0.4
"""Largest panel of an integral, as shares of a component's scale and of the distance from it."""

_SHARE_OF_COUNTS = 1.0 / 64.0
"""Largest cell of counts, as a share of the scale and the distance: counts up to 64 are alone."""

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(10)

_BLOCK = 200_000
"""Number of densities at a time."""


def measure_divergences(emission: Any, weights: Floats, n_columns: int) -> Floats:
    """Return KL(p(x_d | component) || p(x_d)) in nats of components and columns, (K, D)."""
    out = np.zeros((len(weights), n_columns))
    for columns, model in parts_of(emission, n_columns):
        if isinstance(model, CategoricalModel):
            out[:, columns[0]] = _of_table(model.probs.astype(np.float64), weights)
            continue
        if isinstance(model, BernoulliModel):
            for own, d in enumerate(columns):
                ones = model.probs[:, own]
                out[:, d] = _of_table(np.column_stack([1.0 - ones, ones]), weights)
            continue
        marginals = model.marginals()
        for own, d in enumerate(columns):
            measure = _of_counts if marginals.is_discrete(own) else _of_numbers
            out[:, d] = measure(marginals, own, weights)
    return np.maximum(out, 0.0)


def _of_table(probs: Floats, weights: Floats) -> Floats:
    """Return divergences of distributions over a finite number of values, (K, V)."""
    probs = probs / probs.sum(axis=1, keepdims=True)
    mixed = weights @ probs
    ratios = np.divide(probs, mixed, out=np.ones_like(probs), where=mixed > 0.0)
    return np.asarray(xlogy(probs, ratios).sum(axis=1))


def _of_counts(marginals: Any, column: int, weights: Floats) -> Floats:
    """Return divergences of distributions of counts: sums over counts, or cells of large ones."""
    means = marginals.means[:, column]
    scales = np.sqrt(np.minimum(marginals.variances[:, column], 1e300))
    last = 1.0
    while (marginals.cdf(np.array([last]), column) < 1.0 - _TAIL).any() and last < 1e300:
        last *= 2.0
    ends = _march(-1.0, last, means, scales, _SHARE_OF_COUNTS, _SHARE_OF_COUNTS, whole=True)
    step = max(1, _BLOCK // len(weights))
    below = np.concatenate(
        [marginals.cdf(ends[i : i + step], column) for i in range(0, len(ends), step)]
    )
    return _of_table(np.maximum(np.diff(below, axis=0), 0.0).T, weights)


def _of_numbers(marginals: Any, column: int, weights: Floats) -> Floats:
    """Return divergences of densities of numbers, by quadrature."""
    (low, _), (_, high) = np.transpose(marginals.brackets(np.array([_TAIL, 1.0 - _TAIL]), column))
    locations, scales = marginals.locations[:, column], marginals.scales[:, column]
    ends = _march(low, high, locations, scales, _SHARE_OF_SCALE, _SHARE_OF_DISTANCE)
    log_weights, out = np.log(weights), np.zeros(len(weights))
    step = max(1, _BLOCK // (len(weights) * len(_NODES)))
    for first in range(0, len(ends) - 1, step):
        own = ends[first : first + step + 1]
        halves = 0.5 * np.diff(own)[:, np.newaxis]
        points = own[:-1, np.newaxis] + halves * (1.0 + _NODES)
        logs = marginals.log_density(points.ravel(), column)
        mixed = logsumexp(logs + log_weights, axis=1)
        amounts = (halves * _NODE_WEIGHTS).ravel()
        out += amounts @ (np.exp(logs) * (logs - mixed[:, np.newaxis]))
    return out


def _march(
    low: float,
    high: float,
    locations: Floats,
    scales: Floats,
    of_scale: float,
    of_distance: float,
    *,
    whole: bool = False,
) -> Floats:
    """Return the ends of panels from `low` to `high` that are narrow near every component."""
    ends, x = [low], low
    while x < high:
        # At most a share of a component's scale, or of its distance if that is more.
        width = float(np.maximum(of_scale * scales, of_distance * np.abs(x - locations)).min())
        if whole:
            width = max(1.0, np.floor(width))
        x = min(max(x + width, np.nextafter(x, np.inf)), high)
        ends.append(x)
    return np.array(ends)
