"""Missing cells of a table: their predictions and draws, given the observed cells of the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._bayes import log_posterior
from skdp._numeric._typing import Floats, Places
from skdp.emissions._discrete._bernoulli import BernoulliModel
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.emissions._discrete._multinomial import MultinomialModel
from skdp.emissions._discrete._poisson import PoissonModel
from skdp.emissions._independent_model import IndependentModel
from skdp.mixture._model import MixtureModel

_BLOCK = 2000
"""Number of rows at a time, which limits the memory for probabilities of components."""


def parts_of(emission: Any, n_columns: int) -> list[tuple[Places, Any]]:
    """Return the columns and the model of each part of an emission model, also of nested parts."""
    if not isinstance(emission, IndependentModel):
        return [(np.arange(n_columns), emission)]
    return [
        (block.columns[columns], model)
        for block in emission.blocks
        for columns, model in parts_of(emission.models[block.name], len(block.columns))
    ]


class CellSums:
    """Sums over stored samples and components of predictions of the missing cells of rows."""

    def __init__(self, values: Floats):
        self.values = values
        self._hidden = np.isnan(values)
        self._sums = np.zeros(values.shape)
        self._probs: dict[int, Floats] = {}
        self._kinds: dict[int, type] = {}

    def add(self, emission: Any, weights: Floats) -> None:
        """Add the predictions of a sample; `weights`, (n, K + 1), sum to 1 over all samples."""
        for columns, model in parts_of(emission, self.values.shape[1]):
            hidden = self._hidden[:, columns]
            rows = np.flatnonzero(hidden.any(axis=1))
            if len(rows) == 0:
                continue
            self._kinds.update(dict.fromkeys(columns.tolist(), type(model)))
            if isinstance(model, CategoricalModel):
                d = int(columns[0])
                own = weights[rows] @ model.probs.astype(np.float64)
                self._probs[d] = own if d not in self._probs else self._probs[d] + own
                continue
            expected = model.fill(self.values[np.ix_(rows, columns)], weights[rows])
            self._sums[np.ix_(rows, columns)] += np.where(hidden[rows], expected, 0.0)

    def filled(self) -> Floats:
        """Return the rows with means in missing cells, or with values that a column can have."""
        out = np.where(self._hidden, self._sums, self.values)
        for d, kind in self._kinds.items():
            rows = np.flatnonzero(self._hidden[:, d])
            if d in self._probs:
                out[rows, d] = np.argmax(self._probs[d], axis=1)
            elif issubclass(kind, BernoulliModel):
                out[rows, d] = self._sums[rows, d] > 0.5
            elif issubclass(kind, PoissonModel | MultinomialModel):
                out[rows, d] = np.rint(self._sums[rows, d])
        return out


def weigh_samples(models: Sequence[MixtureModel], values: Floats) -> list[Floats]:
    """Return probabilities of each sample's components, (n, K + 1): they sum to 1 over samples."""
    logs = np.concatenate([model.log_joint_with(values) for model in models], axis=1)
    prior = np.concatenate([model.log_weights for model in models])
    ends = np.cumsum([len(model.log_weights) for model in models])[:-1]
    return np.split(np.exp(log_posterior(logs, prior)), ends, axis=1)


def complete_rows(
    models: Sequence[MixtureModel], values: Floats, rng: np.random.Generator | None
) -> Floats:
    """Return rows with missing cells drawn given the observed ones; without `rng`, predicted."""
    out = np.array(values)
    incomplete = np.flatnonzero(np.isnan(values).any(axis=1))
    for first in range(0, len(incomplete), _BLOCK):
        rows = incomplete[first : first + _BLOCK]
        own, weights = values[rows], weigh_samples(models, values[rows])
        if rng is None:
            sums = CellSums(own)
            for model, each in zip(models, weights, strict=True):
                sums.add(model.emission, each)
            out[rows] = sums.filled()
            continue
        samples, components = _draw_components(weights, rng)
        for m in np.unique(samples):
            some = np.flatnonzero(samples == m)
            emission = models[m].emission
            out[rows[some]] = draw_cells(emission, own[some], components[some], rng)
    return out


def complete_groups(
    models: Sequence[Any],
    ptr: Places,
    values: Floats,
    key: NDArray[np.uint64],
    rng: np.random.Generator | None,
) -> Floats:
    """Return the rows of groups with their missing cells replaced, as in `complete_rows`."""
    hidden = np.isnan(values)
    if not hidden.any():
        return np.array(values)
    chosen: Any = None
    if rng is not None:
        # a draw uses one stored sample for all rows of a group
        chosen = np.repeat(rng.integers(len(models), size=len(ptr) - 1), np.diff(ptr))
    sums, out = CellSums(values), np.array(values)
    for m, model in enumerate(models):
        if chosen is not None and not (chosen == m).any():
            continue
        weights = model.responsibilities(ptr, values, key + np.uint64(m))
        if rng is None:
            sums.add(model.emission, weights / len(models))
        else:
            rows = np.flatnonzero((chosen == m) & hidden.any(axis=1))
            _, components = _draw_components([weights[rows]], rng)
            out[rows] = draw_cells(model.emission, values[rows], components, rng)
    return sums.filled() if rng is None else out


def _draw_components(
    weights: Sequence[Floats], rng: np.random.Generator
) -> tuple[Places, NDArray[np.int64]]:
    """Return a random stored sample and component for each row."""
    ends = np.cumsum(np.concatenate(weights, axis=1), axis=1)
    uniform = rng.random(len(ends)) * ends[:, -1]
    places = (ends <= uniform[:, np.newaxis]).sum(axis=1)
    offsets = np.cumsum([0, *(each.shape[1] for each in weights)])
    samples = np.searchsorted(offsets, places, side="right") - 1
    return samples, places - offsets[samples]


def draw_cells(
    emission: Any, values: Floats, components: NDArray[np.int64], rng: np.random.Generator
) -> Floats:
    """Return rows with draws of their missing cells, given their components and observed cells."""
    out = np.array(values)
    for columns, model in parts_of(emission, values.shape[1]):
        own = values[:, columns]
        hidden = np.isnan(own)
        if not hidden.any():
            continue
        if hasattr(model, "draw_missing"):
            out[:, columns] = model.draw_missing(own, components, rng)
        else:
            out[:, columns] = np.where(hidden, model.sample(components, rng), own)
    return out
