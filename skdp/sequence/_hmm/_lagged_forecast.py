"""Forecasts if observations depend on earlier ones: exact moments, simulated quantiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skdp._checks import check_memory
from skdp._numeric._typing import Floats, Places
from skdp.data import SequencePanel
from skdp.emissions._autoregressive._wide import WideAutoregressiveModel
from skdp.sequence._hmm._forecast import Mixture, StateMoves
from skdp.sequence._hmm._gap_filter import Tail
from skdp.sequence._hmm._model import HMMModel

N_PATHS = 10_000
"""Number of simulated continuations of a sequence, for all stored samples together."""


def forecast_lagged(
    models: list[HMMModel],
    tails: list[list[Tail]],
    panel: SequencePanel,
    n_steps: int,
    levels: Floats,
) -> list[tuple[Floats, Floats, Floats]]:
    """Return means, deviations and quantiles of the steps that follow each sequence."""
    emission: Any = models[0].emission
    if isinstance(emission, WideAutoregressiveModel):
        return _forecast_wide(models, tails, panel, n_steps, levels)
    width = (emission.n_lags * panel.n_features + 1.0) ** 2
    n_ends = tails[0][0].ends[:, :, 0].size
    check_memory(
        8.0 * max(3.0 * n_ends * width, N_PATHS * n_steps * panel.n_features),
        f"forecast of n_steps={n_steps}: moments of {n_ends} states and ages, and paths",
    )
    parts = [Continuation(model) for model in models]
    with np.errstate(over="ignore", invalid="ignore"):  # states may grow without bounds
        return [
            _forecast(parts, [own[s] for own in tails], len(values), n_steps, levels)
            for s, values in enumerate(panel)
        ]


def _forecast_wide(
    models: list[HMMModel],
    tails: list[list[Tail]],
    panel: SequencePanel,
    n_steps: int,
    levels: Floats,
) -> list[tuple[Floats, Floats, Floats]]:
    """Return forecasts of the columns that vary, together with those of constant columns."""
    emissions: list[Any] = [model.emission for model in models]
    constants = emissions[0].constants
    narrow = [
        replace(model, emission=emission.varying)
        for model, emission in zip(models, emissions, strict=True)
    ]
    own = [
        [tail._replace(lags=emission.leave_out_lags(tail.lags)) for tail in each]
        for emission, each in zip(emissions, tails, strict=True)
    ]
    values = SequencePanel(constants.leave_out(panel.values), panel.ptr)
    quantiles = constants.quantiles(levels)
    return [
        (
            constants.insert(means, constants.values),
            constants.insert(deviations, 1.0),
            constants.insert(found.swapaxes(1, 2), quantiles).swapaxes(1, 2),
        )
        for means, deviations, found in forecast_lagged(narrow, own, values, n_steps, levels)
    ]


class Continuation:
    """Following states and observations under a model; the latter depend on earlier ones."""

    def __init__(self, model: HMMModel):
        self.emission: Any = model.emission
        tables = None if model.duration is None else model.duration.tables()
        self._moves = StateMoves(model.transmat, tables)

    def move(self, ages: Floats) -> Floats:
        """Return amounts of states and ages, (A, J, ...), after one more step."""
        return self._moves.move(ages)

    def follow_moments(
        self, tail: Tail, origin: Floats, n_before: int, n_steps: int
    ) -> tuple[Floats, Floats]:
        """Return E[x - origin] and E[(x - origin)^2] of the next steps, (H, D) each."""
        # With a = [1, lags], E[a a^T; state j] moves linearly: a step mixes these matrices by the
        # transitions, then the matrix of state j becomes G_j (.) G_j^T plus its noise, whose
        # covariance is linear in E[a a^T], too. No digits are lost if `origin` is near the means.
        freedoms, n_dims = self.emission.degrees_of_freedom, len(origin)
        ends, width = tail.ends.sum(axis=2), tail.lags.shape[1] + 1
        moments = np.zeros((*ends.shape, width, width))
        for lags, own in zip(tail.lags, np.moveaxis(tail.ends, 2, 0), strict=True):
            a = np.append(1.0, lags - np.tile(origin, len(lags) // n_dims))
            moments = moments + own[:, :, np.newaxis, np.newaxis] * np.multiply.outer(a, a)
        means, squares = np.empty((2, n_steps, n_dims))
        least, shares = np.inf, ends
        for h in range(n_steps):
            steps = self.emission.steps_about(origin, n_before + h + 1)
            maps, back = steps.maps, steps.maps.swapaxes(1, 2)
            noise = np.where(np.isfinite(steps.covariances), steps.covariances, 0.0)
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
        self, tail: Tail, n_before: int, n_steps: int, n_paths: int, rng: np.random.Generator
    ) -> Floats:
        """Return simulated continuations, (H, n_paths, D)."""
        (_, n_states, n_particles), n_dims = tail.ends.shape, self.emission.intercepts.shape[1]
        places = _pick(np.cumsum(tail.ends), rng.random(n_paths))
        places, particles = np.divmod(places, n_particles)
        ages, states = np.divmod(places, n_states)
        own = tail.lags[particles]
        transmat, leaving = self._moves.transmat, self._moves.leaving
        rows = np.cumsum(transmat, axis=1)
        out = np.empty((n_steps, n_paths, n_dims))
        for h in range(n_steps):
            u = rng.random(n_paths) * rows[states, -1]
            following = np.minimum((rows[states] <= u[:, np.newaxis]).sum(axis=1), n_states - 1)
            if leaving is not None:
                leaves = rng.random(n_paths) < leaving[ages, states]
                states, ages = np.where(leaves, following, states), np.where(leaves, 0, ages + 1)
            else:
                states = following
            out[h] = self.emission.draw_next(states, own, rng, n_before + h + 1)
            own = np.hstack([out[h], own[:, :-n_dims]])
        return out


def _pick(ends: Floats, uniform: Floats) -> Places:
    """Return indices drawn in proportion to weights, whose cumulative sums are given."""
    places = np.searchsorted(ends, uniform * ends[-1], side="right")
    return np.minimum(places, len(ends) - 1)


def _forecast(
    parts: list[Continuation], tails: list[Tail], n_before: int, n_steps: int, levels: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return means, deviations and quantiles of the steps that follow one sequence."""
    n_dims = parts[0].emission.intercepts.shape[1]
    origin = tails[0].lags[:, :n_dims].mean(axis=0)
    both = list(zip(parts, tails, strict=True))
    moments = [one.follow_moments(own, origin, n_before, n_steps) for one, own in both]
    means, squares = np.mean(moments, axis=0)
    variances = np.maximum(squares - means**2, 0.0)
    variances[squares == np.inf] = np.inf
    quantiles = np.empty((n_steps, n_dims, len(levels)))
    if len(levels):
        # Given its lags, the quantiles of the next step are exact.
        weights, marginals = [], []
        for one, tail in both:
            shares = one.move(tail.ends).sum(axis=0)  # (J, M)
            shares = shares / (shares.sum() * len(parts))
            for lags, own in zip(tail.lags, shares.T, strict=True):
                weights.append(own[np.newaxis])
                marginals.append(one.emission.marginals_after(lags, n_before + 1))
        quantiles[:1] = Mixture(weights, marginals).quantiles(levels)
        if n_steps > 1:
            rng = np.random.default_rng(0)  # the same sequence has the same forecast
            n_paths = -(-N_PATHS // len(parts))
            paths = [one.draw(own, n_before, n_steps, n_paths, rng) for one, own in both]
            found = np.quantile(np.concatenate(paths, axis=1)[1:], levels, axis=1)
            quantiles[1:] = np.moveaxis(found, 0, 2)
    return means + origin, np.sqrt(variances), quantiles
