"""Predictive densities of single steps given many possible lags, and draws of missing columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._numeric._typing import Floats
from skdp.emissions._autoregressive._model import AutoregressiveModel
from skdp.emissions._gaussian._kernels import SMALLEST_ROOT


class ScalePattern(NamedTuple):
    """Scale matrices of the states, by the columns that are observed."""

    seen: NDArray[np.intp]  # observed columns
    hidden: NDArray[np.intp]  # missing columns
    inverse_roots: Floats  # (J, S, S): inverse Cholesky factors of the scales of observed columns
    constants: Floats  # (J,): terms of the log density that depend on the state only
    slopes: Floats  # (J, H, S): regressions of missing on observed columns
    roots: Floats  # (J, H, H): Cholesky factors of the conditional scales of missing columns


class Predictions(NamedTuple):
    """Student t distributions of a step, for M possible lags."""

    locations: Floats  # (J, D, M)
    sizes: Floats  # (J, M): 1 + h, the factors of the scale matrices


class StepDensities:
    """Densities of single steps under an autoregressive model."""

    def __init__(self, model: AutoregressiveModel):
        self._model, self._scales = model, model.scales
        self._patterns: dict[bytes, ScalePattern] = {}

    def predict(self, lags: Floats, time: int) -> Predictions:
        """Return the distributions of a step given its lags, (D L, M), and its number from 1."""
        intercepts, coefs, factors = self._model.maps_at(time)
        locations = intercepts[:, :, np.newaxis] + coefs @ lags
        leverages = factors[:, :, :1] + factors[:, :, 1:] @ lags
        return Predictions(locations, 1.0 + (leverages**2).sum(axis=1))

    def log_density(
        self, predictions: Predictions, x: Floats, is_seen: NDArray[np.bool_]
    ) -> Floats:
        """Return the log densities of the observed columns of x, (D, M), in all states, (J, M)."""
        pattern = self._pattern(is_seen)
        n_seen = len(pattern.seen)
        freedoms = self._model.degrees_of_freedom[:, np.newaxis]
        squares = self._squares(predictions, x, pattern)
        logs = pattern.constants[:, np.newaxis] - 0.5 * n_seen * np.log(predictions.sizes)
        result: Floats = logs - 0.5 * (freedoms + n_seen) * np.log1p(squares / freedoms)
        return result

    def draw_hidden(
        self,
        predictions: Predictions,
        x: Floats,
        is_seen: NDArray[np.bool_],
        states: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> Floats:
        """Return draws of the missing columns given the observed ones and the states, (H, M)."""
        pattern, places = self._pattern(is_seen), np.arange(len(states))
        freedoms = self._model.degrees_of_freedom[states]
        squares = self._squares(predictions, x, pattern)[states, places]
        locations = predictions.locations[states, :, places]
        away = x[pattern.seen].T - locations[:, pattern.seen]
        means = locations[:, pattern.hidden]
        means = means + np.einsum("mhs,ms->mh", pattern.slopes[states], away)
        # Given the observed columns, there are more degrees of freedom, and another scale.
        more = freedoms + len(pattern.seen)
        sizes = predictions.sizes[states, places] * (freedoms + squares) / more
        roots = np.maximum(np.sqrt(rng.chisquare(more) / more), SMALLEST_ROOT)
        noise = rng.standard_normal((len(states), len(pattern.hidden)))
        noise = np.einsum("mhk,mk->mh", pattern.roots[states], noise)
        return (means + (np.sqrt(sizes) / roots)[:, np.newaxis] * noise).T

    def _squares(self, predictions: Predictions, x: Floats, pattern: ScalePattern) -> Floats:
        """Return the squared distances of the observed columns from their locations, (J, M)."""
        away = x[pattern.seen] - predictions.locations[:, pattern.seen]
        squares: Floats = ((pattern.inverse_roots @ away) ** 2).sum(axis=1) / predictions.sizes
        return squares

    def _pattern(self, is_seen: NDArray[np.bool_]) -> ScalePattern:
        key = is_seen.tobytes()
        if key not in self._patterns:
            self._patterns[key] = self._make_pattern(is_seen)
        return self._patterns[key]

    def _make_pattern(self, is_seen: NDArray[np.bool_]) -> ScalePattern:
        seen, hidden = np.flatnonzero(is_seen), np.flatnonzero(~is_seen)
        freedoms, scales, n_seen = self._model.degrees_of_freedom, self._scales, len(seen)
        own = scales[:, seen[:, np.newaxis], seen]
        inverse_roots = np.linalg.inv(np.linalg.cholesky(own))
        log_roots = np.log(np.diagonal(inverse_roots, axis1=1, axis2=2)).sum(axis=1)
        constants = gammaln(0.5 * (freedoms + n_seen)) - gammaln(0.5 * freedoms) + log_roots
        constants -= 0.5 * n_seen * np.log(np.pi * freedoms)
        both = scales[:, hidden[:, np.newaxis], seen]
        slopes = both @ inverse_roots.swapaxes(1, 2) @ inverse_roots
        rest = scales[:, hidden[:, np.newaxis], hidden] - slopes @ both.swapaxes(1, 2)
        roots: Floats = np.asarray(np.linalg.cholesky(rest), dtype=np.float64)
        return ScalePattern(seen, hidden, inverse_roots, constants, slopes, roots)
