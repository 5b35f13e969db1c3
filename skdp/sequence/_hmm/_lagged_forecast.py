"""Forecasts if observations depend on earlier ones: exact moments, simulated quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from skdp._checks import check_memory
from skdp._numeric._typing import Floats, Places
from skdp.data import SequencePanel
from skdp.sequence._hmm._forecast import Mixture, log_tables_to_leaving
from skdp.sequence._hmm._model import HMMModel

N_PATHS = 10_000
"""Number of simulated continuations of a sequence, for all stored samples together."""


def forecast_lagged(
    models: list[HMMModel], ends: list[Floats], panel: SequencePanel, n_steps: int, levels: Floats
) -> list[tuple[Floats, Floats, Floats]]:
    """Return means, deviations and quantiles of the steps that follow each sequence.

    Parameters
    ----------
    models : list of HMMModel
    ends : list of (n, A, J) arrays
        Probabilities of states and ages at the last steps, one for each model.
    panel : SequencePanel
    n_steps : int
    levels : (Q,) array
    """
    emission: Any = models[0].emission
    width = (emission.n_lags * panel.n_features + 1.0) ** 2
    check_memory(
        8.0 * max(3.0 * ends[0][0].size * width, N_PATHS * n_steps * panel.n_features),
        f"forecast of n_steps={n_steps}: moments of {ends[0][0].size} states and ages, and paths",
    )
    parts = [Continuation(model) for model in models]
    with np.errstate(over="ignore", invalid="ignore"):  # states may grow without bounds
        return [
            _forecast(parts, [own[s] for own in ends], values, n_steps, levels)
            for s, values in enumerate(panel)
        ]


class Continuation:
    """Following states and observations under a model.

    Parameters
    ----------
    model : HMMModel
        Its emission depends on earlier observations and has the interface of `AutoregressiveModel`.
    """

    def __init__(self, model: HMMModel):
        self.emission: Any = model.emission
        self._transmat, self._leaving = model.transmat, None
        if len(self._transmat) == 1:
            self._transmat = np.ones((1, 1))  # the only state has no successor: it stays
        elif model.duration is not None:
            self._leaving = log_tables_to_leaving(*model.duration.tables())

    def move(self, ages: Floats) -> Floats:
        """Return amounts of states and ages, (A, J, ...), after one more step."""
        if self._leaving is None:
            return np.tensordot(self._transmat.T, ages.sum(axis=0), 1)[np.newaxis]
        leaving = self._leaving.reshape(self._leaving.shape + (1,) * (ages.ndim - 2))
        gone = ages * leaving
        moved = np.empty_like(ages)
        moved[0] = np.tensordot(self._transmat.T, gone.sum(axis=0), 1)
        moved[1:] = (ages - gone)[:-1]  # nothing is older than the longest duration
        return moved

    def follow_moments(
        self, ends: Floats, lags: Floats, origin: Floats, n_steps: int
    ) -> tuple[Floats, Floats]:
        """Return E[x - origin] and E[(x - origin)^2] of the next steps, (H, D) each.

        With a = [1, lags], E[a a^T; state j] moves linearly: a step mixes these matrices by the
        transitions, then the matrix of state j becomes G_j (.) G_j^T plus its noise, whose
        covariance is linear in E[a a^T], too.

        Parameters
        ----------
        ends : (A, J) array
        lags : (D L,) array
            Values before the first step, lag 1 first.
        origin : (D,) array
            A point near the expected values, so that no digits are lost.
        """
        steps, n_dims = self.emission.steps_about(origin), len(origin)
        maps, back = steps.maps, steps.maps.swapaxes(1, 2)
        freedoms = self.emission.degrees_of_freedom
        noise = np.where(np.isfinite(steps.covariances), steps.covariances, 0.0)
        a = np.append(1.0, lags - np.tile(origin, len(lags) // n_dims))
        moments = ends[:, :, np.newaxis, np.newaxis] * np.multiply.outer(a, a)
        means, squares = np.empty((2, n_steps, n_dims))
        least, shares = np.inf, ends
        for h in range(n_steps):
            moments, shares = self.move(moments), self.move(shares)
            weights = shares + np.einsum("ajkl,jkl->aj", moments, steps.precisions)
            moments = maps @ moments @ back
            own = moments[..., 1 : n_dims + 1, 1 : n_dims + 1]
            own += weights[..., np.newaxis, np.newaxis] * noise
            total = moments.sum(axis=(0, 1)) / shares.sum()
            means[h] = total[1 : n_dims + 1, 0]
            squares[h] = np.diag(total)[1 : n_dims + 1]
            least = min(least, freedoms[shares.sum(axis=0) > 0.0].min())
            if least <= 2.0:  # infinite variances were left out above
                squares[h] = np.inf
            if least <= 1.0:
                means[h] = np.nan
        return means, squares

    def draw(
        self, ends: Floats, lags: Floats, n_steps: int, n_paths: int, rng: np.random.Generator
    ) -> Floats:
        """Return simulated continuations, (H, n_paths, D)."""
        n_states, n_dims = ends.shape[1], self.emission.intercepts.shape[1]
        ages, states = np.divmod(_pick(np.cumsum(ends), rng.random(n_paths)), n_states)
        own = np.tile(lags, (n_paths, 1))
        rows = np.cumsum(self._transmat, axis=1)
        out = np.empty((n_steps, n_paths, n_dims))
        for h in range(n_steps):
            u = rng.random(n_paths) * rows[states, -1]
            following = np.minimum((rows[states] <= u[:, np.newaxis]).sum(axis=1), n_states - 1)
            if self._leaving is not None:
                leaves = rng.random(n_paths) < self._leaving[ages, states]
                states, ages = np.where(leaves, following, states), np.where(leaves, 0, ages + 1)
            else:
                states = following
            out[h] = self.emission.draw_next(states, own, rng)
            own = np.hstack([out[h], own[:, :-n_dims]])
        return out


def _pick(ends: Floats, uniform: Floats) -> Places:
    """Return indices drawn in proportion to weights, whose cumulative sums are given."""
    places = np.searchsorted(ends, uniform * ends[-1], side="right")
    return np.minimum(places, len(ends) - 1)


def _forecast(
    parts: list[Continuation], ends: list[Floats], values: Floats, n_steps: int, levels: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return means, deviations and quantiles of the steps that follow one sequence."""
    origin = values[-1]
    lags = values[::-1][: parts[0].emission.n_lags].ravel()
    both = list(zip(parts, ends, strict=True))
    moments = [one.follow_moments(own, lags, origin, n_steps) for one, own in both]
    means, squares = np.mean(moments, axis=0)
    variances = np.maximum(squares - means**2, 0.0)
    variances[squares == np.inf] = np.inf
    quantiles = np.empty((n_steps, len(origin), len(levels)))
    if len(levels):
        # The next step has no random lags: its quantiles are exact.
        weights = [one.move(own).sum(axis=0)[np.newaxis] for one, own in both]
        weights = [own / (own.sum() * len(parts)) for own in weights]
        marginals = [one.emission.marginals_after(lags) for one in parts]
        quantiles[:1] = Mixture(weights, marginals).quantiles(levels)
        if n_steps > 1:
            rng = np.random.default_rng(0)  # the same sequence has the same forecast
            n_paths = -(-N_PATHS // len(parts))
            paths = [one.draw(own, lags, n_steps, n_paths, rng) for one, own in both]
            found = np.quantile(np.concatenate(paths, axis=1)[1:], levels, axis=1)
            quantiles[1:] = np.moveaxis(found, 0, 2)
    return means + origin, np.sqrt(variances), quantiles
