"""Missing values of observations that depend on earlier ones, under a known model: particles.

A particle holds values in place of the missing ones, and the probabilities of states and ages given
these values. At a step with missing values, its weight is multiplied by the density of the observed
columns, with states integrated out; the missing columns are drawn given the observed ones. At the
last of the steps of a gap in which nothing is observed, improbable states are proposed more often,
and weights are multiplied by the ratio of the densities of the drawn values. The mean of the
weights is an unbiased estimate of p(x).
If the last L steps are complete, all particles have the same lags, and are merged into one without
error. A run of steps with different particles is a stretch. In the runs between stretches, states
are filtered and smoothed without particles. Draws of the missing values given the whole sequence
choose a particle of each stretch, from the last one to the first, by its weight and the probability
of what follows. Each sequence has a stream of random numbers, with a fixed seed.

| name | shape | meaning |
|---|---|---|
| values | (n, D, M) | values of n steps in M particles |
| ages | (A, J, M) | probabilities of ages, states and particles; A = 1 without durations |
| seen | (M,) | log p(observed columns of a step) |
| densities | (J, M) | densities of a whole step by state, up to a factor of each particle |
| later | (A, J, k) | p(x after a run) by ages and states at its end, up to factors of k draws |
| following | (A, J, k) | the same by those at the step after; k = 1 if it is equal for all draws |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_memory
from skdp._numeric import Floats, Places
from skdp.emissions._gaussian._autoregressive_model import (
    AutoregressiveModel,
    Predictions,
    StepDensities,
)
from skdp.emissions._gaussian._autoregressive_sampler import WideAutoregressiveModel
from skdp.sequence._hmm._forecast import StateMoves
from skdp.sequence._hmm._messages import HMMMessages, KnownStates, Mask, check_possible

SMALLEST = 1e-300
"""Smallest weight of a particle."""

N_PARTICLES, N_DRAWS = 200, 50
"""Number of particles of a stretch, and of draws of the missing values given the sequence."""

_FLATTENING = 0.25
"""Power of the probabilities of states in half of the proposals at the last step of a gap."""

_SAME = 1e-12
"""Probabilities of states that differ by less are equal: draws of later values do not matter."""


class Tail(NamedTuple):
    """The end of a sequence, from which it continues."""

    lags: Floats  # (M, L D), the last values of each particle, lag 1 first
    ends: Floats  # (A, J, M), probabilities at the last step


class Run(NamedTuple):
    """Steps that are filtered together."""

    begin: int
    end: int
    differs: bool  # whether particles differ, so that the run is a stretch


class Stretch(NamedTuple):
    """Steps at which particles differ."""

    values: Floats
    weights: Floats  # (M,)
    ages: Floats  # at the last of these steps
    prior: Floats  # (J,), probabilities of the states at the first one given the steps before it


class Piece(NamedTuple):
    """A run with draws of its missing values, and the evidence of later steps about its end."""

    run: Run
    stretch: Any  # `Stretch`; None without missing values
    values: Any  # (n, D, n_draws)
    following: Floats | None  # None: nothing follows
    later: Floats
    # p(z_t given x), (n, J), and p(z_t is not z_t-1 given x), (n,), averaged over the draws. None
    # for a stretch, and with durations.
    smoothed: Any


class GapFilter:
    """A sequence with missing values, filtered under a model."""

    def __init__(
        self,
        startprob: Floats,
        moves: StateMoves,
        emission: Any,
        values: Floats,
        log_known: Floats | None = None,
        n_particles: int = N_PARTICLES,
        seed: int = 0,
    ):
        self._moves, self._emission, self._values = moves, emission, values
        self._rng = np.random.default_rng(seed)
        self._n_particles, self._n_lags = n_particles, emission.n_lags
        self._densities = StepDensities(emission)
        n_steps, n_dims = values.shape
        self._is_missing = np.isnan(values)
        self._runs = self._list_runs()
        n_different = sum(run.end - run.begin for run in self._runs if run.differs)
        check_memory(
            8.0 * n_particles * (n_different * n_dims + moves.n_ages * len(startprob)),
            f"{n_particles} draws of missing values of {n_different} steps",
        )
        self._log_obs = emission.log_obs(values, np.array([0, n_steps]))
        if log_known is not None:
            self._log_obs = self._log_obs + log_known
        self._log_known = log_known
        self.log_steps = np.full(n_steps, -np.inf)  # estimates of log p(x_t given x_<t)
        self.filtered = np.zeros((n_steps, len(startprob)))
        self._stretches: dict[int, Stretch] = {}
        self._startprob = startprob
        self._last: tuple[Floats, Floats, Floats]
        self._filter(startprob)

    def _list_runs(self) -> list[Run]:
        """Return the runs of the sequence, in order."""
        # Particles differ at a step if it or one of its lags, up to the largest, is incomplete. The
        # first L values are given jointly.
        n_steps, n_lags = len(self._values), self._n_lags
        before = np.concatenate([[0], np.cumsum(self._is_missing.any(axis=1))])
        first = np.maximum(np.arange(n_steps) - n_lags, 0)
        differs = before[1:] > before[first]
        differs[:n_lags] = before[min(n_lags, n_steps)] > 0
        bounds = np.flatnonzero(np.diff(differs)) + 1
        begins, ends = [0, *bounds.tolist()], [*bounds.tolist(), n_steps]
        return [Run(i, k, bool(differs[i])) for i, k in zip(begins, ends, strict=True)]

    def _filter(self, startprob: Floats) -> None:
        """Filter the sequence, up to the first impossible step."""
        ages = np.zeros((self._moves.n_ages, len(startprob), 1))
        ages[0, :, 0] = startprob
        for run in self._runs:
            ages = self._moves.move(ages) if run.begin > 0 else ages
            if run.differs:
                ages = self._filter_stretch(run, ages)
            elif self._moves.leaving is None:
                ages = self._filter_states(run, ages)
            else:
                ages = self._filter_ages(run, ages)
            if self.log_steps[run.end - 1] == -np.inf:
                return
        if not self._runs[-1].differs:
            values = self._values[-self._n_lags :, :, np.newaxis]
            self._last = ages, np.ones(1), values

    def _filter_states(self, run: Run, ages: Floats) -> Floats:
        """Filter a run without missing values or durations; return (1, J, 1)."""
        steps = slice(run.begin, run.end)
        messages = self._messages(run, ages[0, :, 0])
        messages.log_predictives(self.log_steps[steps])
        messages.filtered(self.filtered[steps])
        return self.filtered[np.newaxis, run.end - 1, :, np.newaxis]

    def _messages(self, run: Run, prior: Floats, later: Floats | None = None) -> HMMMessages:
        """Return the messages of a run, given p(x after it) by states at its end, (J,)."""
        log_obs = self._log_obs[run.begin : run.end]
        if later is not None:
            log_obs = log_obs.copy()
            with np.errstate(divide="ignore"):
                log_obs[-1] += np.log(later)
        bounds = np.array([0, len(log_obs)])
        return HMMMessages(bounds, np.ascontiguousarray(prior), self._moves.transmat, log_obs)

    def _filter_ages(self, run: Run, ages: Floats) -> Floats:
        """Filter a run without missing values; return (A, J, 1)."""
        for t in range(run.begin, run.end):
            ages = self._moves.move(ages) if t > run.begin else ages
            seen, densities = _sum_states(ages.sum(axis=0), self._log_obs[t][:, np.newaxis])
            if seen[0] == -np.inf:
                return ages
            ages = ages * densities
            ages /= ages.sum()
            self.log_steps[t], self.filtered[t] = seen[0], ages.sum(axis=(0, 2))
        return ages

    def _filter_stretch(self, run: Run, ages: Floats) -> Floats:
        """Filter a stretch; return probabilities of states and ages of all particles, (A, J, 1)."""
        n, first = self._n_particles, max(run.begin - self._n_lags, 0)
        prior = ages.sum(axis=(0, 2))
        weights, ages = np.full(n, 1.0 / n), np.repeat(ages, n, axis=2)
        values = np.repeat(self._values[first : run.end, :, np.newaxis], n, axis=2)
        own = values[run.begin - first :]
        if run.begin == 0:
            self._draw_first(values)
        carried = 0.0
        for t in range(run.begin, run.end):
            ages = self._moves.move(ages) if t > run.begin else ages
            seen, densities = self._observe(t, ages, values[: t - first + 1])
            ages, seen = ages * densities, np.log(np.maximum(weights, SMALLEST)) + seen
            largest = seen.max()
            if largest == -np.inf:
                return ages
            weights = np.exp(seen - largest)
            log_step = largest + np.log(weights.sum()) + carried
            # A step without values has probability 1. What the proposals change counts later.
            carried = log_step if self._ends_gap(t) else 0.0
            self.log_steps[t] = log_step - carried
            weights /= weights.sum()
            totals = ages.sum(axis=(0, 1))
            ages /= np.where(totals > 0.0, totals, 1.0)
            self.filtered[t] = ages.sum(axis=0) @ weights
            if t + 1 < run.end and 1.0 / (weights**2).sum() < 0.5 * n:
                chosen = _resample(weights, self._rng)
                done = values[run.begin - first : t - first + 1]
                ages, done[:] = ages[:, :, chosen], done[:, :, chosen]
                weights = np.full(n, 1.0 / n)
        self._stretches[run.begin] = Stretch(own.copy(), weights, ages, prior)
        self._last = ages, weights, values[-self._n_lags :]
        return (ages @ weights)[:, :, np.newaxis]  # the next lags are the same for all

    def _ends_gap(self, t: int) -> bool:
        """Return whether step t is missing as a whole and the next one is not."""
        is_missing = self._is_missing
        return bool(
            self._n_lags <= t < len(is_missing) - 1
            and is_missing[t].all()
            and not is_missing[t + 1].all()
        )

    def _draw_first(self, values: Floats) -> None:
        """Draw the missing values of the first L steps given the observed ones, (n, D, M)."""
        n_dims, n_lags = values.shape[1], self._n_lags
        first = values[:n_lags]
        start = self._emission.starting_lags
        mean = start.mean.reshape(n_lags, n_dims)[::-1][: len(first)].ravel()
        root = start.root.reshape(n_lags, n_dims, -1)[::-1][: len(first)].reshape(len(mean), -1)
        covariance = root @ root.T
        hidden = self._is_missing[:n_lags].ravel()
        seen = ~hidden
        slopes = np.linalg.solve(covariance[np.ix_(seen, seen)], covariance[np.ix_(seen, hidden)]).T
        rest = covariance[np.ix_(hidden, hidden)] - slopes @ covariance[np.ix_(seen, hidden)]
        away = self._values[:n_lags].ravel()[seen] - mean[seen]
        noise = self._rng.standard_normal((np.count_nonzero(hidden), values.shape[2]))
        drawn = (mean[hidden] + slopes @ away)[:, np.newaxis] + np.linalg.cholesky(rest) @ noise
        first[self._is_missing[:n_lags]] = drawn

    def _observe(self, t: int, ages: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Draw the missing columns of step t, ``values[-1]``; return `seen` and `densities`."""
        prior = ages.sum(axis=0)
        if t < self._n_lags:
            log_obs = np.repeat(self._log_obs[t][:, np.newaxis], ages.shape[2], axis=1)
            return _sum_states(prior, log_obs)
        is_seen, x = ~self._is_missing[t], values[-1]
        predictions = self._densities.predict(self._lags_before(values[:-1]), t + 1)
        log_obs = self._weigh(t, predictions, x, is_seen)
        seen, densities = _sum_states(prior, log_obs)
        if not is_seen.all():
            chances = prior * densities
            is_last = self._ends_gap(t)
            proposed = _spread(chances) if is_last else chances
            states = _choose(proposed, self._rng)
            x[~is_seen] = self._densities.draw_hidden(predictions, x, is_seen, states, self._rng)
            log_joint = self._weigh(t, predictions, x, np.ones_like(is_seen))
            total, densities = _sum_states(prior, log_joint)
            if is_last:
                with np.errstate(invalid="ignore"):  # impossible states are not proposed
                    ratios = total - _sum_states(proposed, log_joint - log_obs)[0]
                seen = np.where(total > -np.inf, ratios, -np.inf)
        return seen, densities

    def _weigh(self, t: int, predictions: Predictions, x: Floats, is_seen: Mask) -> Floats:
        """Return log densities of some columns of a step, and of its known state, (J, M)."""
        log_obs = self._densities.log_density(predictions, x, is_seen)
        if self._log_known is not None:
            log_obs = log_obs + self._log_known[t][:, np.newaxis]
        return log_obs

    def _lags_before(self, values: Floats) -> Floats:
        """Return the last L values, (L D, M), lag 1 first."""
        return values[-self._n_lags :][::-1].reshape(-1, values.shape[2])

    def tail(self) -> Tail:
        """Return the end of the sequence, of at least L steps."""
        ages, weights, values = self._last
        return Tail(self._lags_before(values).T, ages * weights)

    def _go_back(self, n_draws: int) -> Iterator[Piece]:
        """Yield the runs with draws of their missing values, from the last one to the first."""
        following: Floats | None = None
        later = np.ones((self._moves.n_ages, self.filtered.shape[1], 1))
        for run in self._runs[::-1]:
            later = later if following is None else self._moves.move_back(following)
            stretch, values, smoothed = None, None, None
            if run.differs:
                stretch = self._stretches[run.begin]
                weights = np.tensordot(stretch.ages, later, ((0, 1), (0, 1)))
                weights = np.broadcast_to(
                    stretch.weights[:, np.newaxis] * weights, (len(stretch.weights), n_draws)
                )
                values = stretch.values[:, :, _choose(weights, self._rng)]
                before = self._log_obs_of(run, values)
            else:
                before = (self._log_obs[t][:, np.newaxis] for t in range(run.end - 1, -1, -1))
            if stretch is None and self._moves.leaving is None:
                smoothed, own = self._smooth(run, later)
            else:
                own = self._include(run, later, before)
            yield Piece(run, stretch, values, following, later, smoothed)
            following = own

    def _log_obs_of(self, run: Run, values: Floats) -> Iterator[Floats]:
        """Yield log densities of the steps of a stretch, (J, n_draws), the last one first."""
        first = max(run.begin - self._n_lags, 0)
        given = np.repeat(self._values[first : run.begin, :, np.newaxis], values.shape[2], axis=2)
        values = np.concatenate([given, values])
        everything = np.ones(values.shape[1], dtype=bool)
        for t in range(run.end - 1, run.begin - 1, -1):
            if t < self._n_lags:
                yield self._log_obs[t][:, np.newaxis]
            else:
                lags = self._lags_before(values[: t - first])
                predictions = self._densities.predict(lags, t + 1)
                yield self._weigh(t, predictions, values[t - first], everything)

    def _include(self, run: Run, later: Floats, before: Iterator[Floats]) -> Floats:
        """Return p(x from step `begin` on) by states and ages at that step, up to factors."""
        for t, log_obs in zip(range(run.end - 1, run.begin - 1, -1), before, strict=False):
            later = later * np.exp(log_obs - log_obs.max(axis=0))
            later /= later.max(axis=(0, 1))
            later = self._moves.move_back(later) if t > run.begin else later
        return later

    def _smooth(self, run: Run, later: Floats) -> tuple[tuple[Floats, Floats], Floats]:
        """Smooth a run without missing values or durations; return the result and `following`."""
        own = later[0] / (self.filtered[run.end - 1] @ later[0])
        prior = np.array(self._prior(run.begin))
        posteriors = np.empty((run.end - run.begin, len(prior)))
        changes = np.empty(len(posteriors))
        messages = self._messages(run, prior, own.mean(axis=1))
        messages.posteriors(posteriors)
        messages.changes(changes)
        smoothed = posteriors, changes
        # The draws of later values differ in their evidence about the end of the run, and soon do
        # not matter further back.
        for t in range(run.end - 1, run.begin - 1, -1):
            weights = self.filtered[t][:, np.newaxis] * own
            weights /= weights.sum(axis=0)
            if np.ptp(weights, axis=1).max() < _SAME:
                break
            log_obs = self._log_obs[t][:, np.newaxis]
            own = own * np.exp(log_obs - log_obs.max())
            if t == run.begin:
                return smoothed, own[np.newaxis]
            own = self._moves.transmat @ own
            own /= own.max(axis=0)
        ratios = np.divide(posteriors[0], prior, out=np.zeros(len(prior)), where=prior > 0.0)
        return smoothed, ratios[np.newaxis, :, np.newaxis]

    def _prior(self, t: int) -> Floats:
        """Return the probabilities of the states at a step given those before, (J,)."""
        return self._startprob if t == 0 else self.filtered[t - 1] @ self._moves.transmat

    def draw(self, n_draws: int = N_DRAWS) -> Floats:
        """Return draws of the sequence with its missing values, (n_draws, T, D)."""
        values = np.repeat(self._values[:, :, np.newaxis], n_draws, axis=2)
        for piece in self._go_back(n_draws):
            if piece.values is not None:
                values[piece.run.begin : piece.run.end] = piece.values
        return np.moveaxis(values, 2, 0)

    def impute(self, n_draws: int = N_DRAWS) -> Floats:
        """Return the sequence with means of draws in place of missing values, (T, D)."""
        values = self._values.copy()
        for piece in self._go_back(n_draws):
            if piece.values is not None:
                values[piece.run.begin : piece.run.end] = piece.values.mean(axis=2)
        return np.where(self._is_missing, values, self._values)

    def smooth(self, n_draws: int = N_DRAWS) -> tuple[Floats, Floats]:
        """Return p(z_t given x), (T, J), and probabilities of changes, (T,), without durations."""
        posteriors, changes = np.empty(self.filtered.shape), np.zeros(len(self._values))
        for piece in self._go_back(n_draws):
            run = piece.run
            if piece.stretch is not None:
                self._smooth_stretch(piece, posteriors, changes)
                continue
            posteriors[run.begin : run.end] = piece.smoothed[0]
            changes[run.begin + 1 : run.end] = piece.smoothed[1][1:]
            if piece.following is not None:
                last = self.filtered[run.end - 1][:, np.newaxis]
                changes[run.end] = self._change(last, piece.following[0], piece.later[0])
        return posteriors, changes

    def _smooth_stretch(self, piece: Piece, posteriors: Floats, changes: Floats) -> None:
        """Write the output of `smooth` for a stretch, and the change after it."""
        (begin, end, _), stretch = piece.run, piece.stretch
        log_obs = list(self._log_obs_of(piece.run, piece.values))[::-1]
        filtered: list[Floats] = []
        for own in log_obs:
            prior = (
                self._moves.transmat.T @ filtered[-1] if filtered else stretch.prior[:, np.newaxis]
            )
            states = prior * _sum_states(prior, own)[1]
            filtered.append(states / states.sum(axis=0))
        following, later = piece.following, piece.later[0]
        for t in range(end - 1, begin - 1, -1):
            states = filtered[t - begin]
            weights = states * later
            posteriors[t] = (weights / weights.sum(axis=0)).mean(axis=1)
            if following is not None:
                changes[t + 1] = self._change(states, following[0], later)
            own = log_obs[t - begin]
            following = (later * np.exp(own - own.max(axis=0)))[np.newaxis]
            following /= following.max(axis=1)
            later = self._moves.transmat @ following[0]

    def _change(self, states: Floats, following: Floats, later: Floats) -> float:
        """Return the probability, averaged over draws, that the state changes after a step."""
        staying = np.diag(self._moves.transmat) @ (states * following)
        changes = 1.0 - staying / (states * later).sum(axis=0)
        return float(np.clip(changes, 0.0, 1.0).mean())


def _sum_states(prior: Floats, log_obs: Floats) -> tuple[Floats, Floats]:
    """Return log p(x), (M,), and densities by state, (J, M), up to a factor of each column."""
    log_obs = np.where(prior > 0.0, log_obs, -np.inf)
    largest = log_obs.max(axis=0)
    largest = np.where(largest > -np.inf, largest, 0.0)
    densities = np.exp(log_obs - largest)
    with np.errstate(divide="ignore"):
        return np.log((prior * densities).sum(axis=0)) + largest, densities


def _spread(chances: Floats) -> Floats:
    """Return probabilities of states that propose improbable states more often, (J, M)."""
    # The values after a gap can be evidence for a change of state within it. If states were
    # proposed by their probability before this evidence, hardly any particle would have such a
    # change.
    chances = chances / np.maximum(chances.sum(axis=0), SMALLEST)
    flat = chances**_FLATTENING
    return 0.5 * (chances + flat / np.maximum(flat.sum(axis=0), SMALLEST))


def _choose(weights: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw an index into the rows of weights for each column, (n,), in equal strata."""
    ends, n = np.cumsum(weights, axis=0), weights.shape[1]
    u = (rng.permutation(n) + rng.random(n)) / n * ends[-1]
    return np.minimum((ends <= u).sum(axis=0), len(weights) - 1)


def _resample(weights: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return indices drawn in proportion to weights, by one uniform number (systematic)."""
    n = len(weights)
    places = np.searchsorted(np.cumsum(weights), (np.arange(n) + rng.random()) / n, side="right")
    return np.minimum(places, n - 1)


# Predictions for panels in which some sequences have missing values.


def has_gaps(emission: Any, values: Floats) -> bool:
    """Return whether values are missing on which other observations depend."""
    is_lagged = isinstance(emission, AutoregressiveModel | WideAutoregressiveModel)
    return is_lagged and bool(np.isnan(values).any())


class Sequence(NamedTuple):
    """A sequence of a panel."""

    number: int
    steps: slice
    values: Floats
    bounds: Places  # of a panel of this sequence alone
    is_gapped: bool


class GappedModel:
    """The methods of a model for panels in which some sequences have missing values."""

    def __init__(self, model: Any):
        self._wide: WideAutoregressiveModel | None = None
        # States do not depend on columns that were constant in the data of the fit.
        if isinstance(model.emission, WideAutoregressiveModel):
            self._wide = model.emission
            model = replace(model, emission=model.emission.varying)
        self._model = model

    def _leave_out(self, values: Floats) -> Floats:
        """Return the values without constant columns."""
        return values if self._wide is None else self._wide.constants.leave_out(values)

    def _filter(self, values: Floats, log_known: Floats | None = None) -> GapFilter:
        model = self._model
        moves = StateMoves(model.transmat, model._durations)
        # The errors of different samples are independent.
        seed = crc32(np.ascontiguousarray(model.emission.coefs).tobytes())
        return GapFilter(model.startprob, moves, model.emission, values, log_known, seed=seed)

    def _sequences(self, ptr: Places, values: Floats) -> Iterator[Sequence]:
        """Yield each sequence."""
        values = self._leave_out(values)
        for s, (begin, end) in enumerate(pairwise(ptr.tolist())):
            own = values[begin:end]
            bounds = np.array([0, len(own)])
            yield Sequence(s, slice(begin, end), own, bounds, bool(np.isnan(own).any()))

    def log_likelihoods(self, ptr: Places, values: Floats) -> Floats:
        out = np.empty(len(ptr) - 1)
        for s, _, own, bounds, is_gapped in self._sequences(ptr, values):
            if is_gapped:
                out[s] = self._filter(own).log_steps.sum()
            else:
                out[s] = self._model.log_likelihoods(bounds, own)[0]
        if self._wide is not None:
            logs = self._wide.log_constants(values, ptr)
            out += [own.sum() for own in np.split(logs, ptr[1:-1])]
        return out

    def log_predictives(self, values: Floats) -> Floats:
        own = self._leave_out(values)
        if not np.isnan(own).any():
            logs: Floats = self._model.log_predictives(own)
        else:
            logs = self._filter(own).log_steps
        if self._wide is not None:
            logs = logs + self._wide.log_constants(values, np.array([0, len(values)]))[:, 0]
        return logs

    def filtered(self, ptr: Places, values: Floats) -> Floats:
        out = np.empty((len(values), len(self._model.startprob)))
        for s, steps, own, bounds, is_gapped in self._sequences(ptr, values):
            if is_gapped:
                out[steps] = self._filter_possible(own, s).filtered
            else:
                out[steps] = self._model.filtered(bounds, own)
        return out

    def posteriors(self, ptr: Places, values: Floats, known: KnownStates | None = None) -> Floats:
        out = np.empty((len(values), len(self._model.startprob)))
        self._smooth(self._model.posteriors, 0, out, ptr, values, known)
        return out

    def changes(self, ptr: Places, values: Floats) -> Floats:
        out = np.empty(len(values))
        self._smooth(self._model.changes, 1, out, ptr, values)
        return out

    def _smooth(
        self, method: Any, place: int, out: Floats, ptr: Places, values: Floats,
        known: KnownStates | None = None,
    ) -> None:  # fmt: skip
        """Write the result of a method, whose place in that of `GapFilter.smooth` is given."""
        for s, steps, own, bounds, is_gapped in self._sequences(ptr, values):
            states = None if known is None else KnownStates(known.states[steps], known.n_states)
            if not is_gapped:
                out[steps] = method(bounds, own, states)
                continue
            found = self._filter_possible(own, s, states)
            if self._model.duration is None:
                out[steps] = found.smooth()[place]
            else:
                draws = found.draw()
                out[steps] = sum(method(bounds, draw, states) for draw in draws) / len(draws)

    def impute(self, ptr: Places, values: Floats) -> Floats:
        out = self._leave_out(values).copy()
        for s, steps, own, _, is_gapped in self._sequences(ptr, values):
            if is_gapped:
                out[steps] = self._filter_possible(own, s).impute()
        if self._wide is None:
            return out
        constants = self._wide.constants
        return np.where(np.isnan(values), constants.insert(out, constants.values), values)

    def tails(self, ptr: Places, values: Floats) -> list[Tail]:
        tails, n_lags = [], self._model.emission.n_lags
        for s, _, own, bounds, is_gapped in self._sequences(ptr, values):
            if is_gapped:
                tails.append(self._filter_possible(own, s).tail())
            else:
                ends = self._model.ends(bounds, own)
                lags = own[::-1][:n_lags].reshape(1, -1)
                tails.append(Tail(lags, ends[0][:, :, np.newaxis]))
        if self._wide is None:
            return tails
        return [tail._replace(lags=self._wide.widen_lags(tail.lags)) for tail in tails]

    def _filter_possible(
        self, values: Floats, s: int, known: KnownStates | None = None
    ) -> GapFilter:
        """Return a filtered sequence; raise a ValueError if it has probability 0."""
        log_known = None
        if known is not None:
            log_known = np.zeros((len(values), known.n_states))
            known.clamp(log_known)
        found = self._filter(values, log_known)
        if found.log_steps[-1] == -np.inf:
            check_possible(s)
        return found
