"""Missing values of observations that depend on earlier ones, under a known model: particles.

A particle holds values in place of the missing ones, and the probabilities of states and ages given
these values. At a step with missing values, its weight is multiplied by the density of the observed
columns, with states summed out; the missing columns are drawn given the observed ones. Weights are
then those of the exact predictive density, so that their mean is an unbiased estimate of p(x). If
the last L steps are complete, all particles have the same lags, and are merged into one without
error. A run of steps with different particles is a stretch. Draws of the missing values given the
whole sequence choose a particle of each stretch, from the last one to the first, by its weight and
the probability of what follows. Each sequence has a stream of random numbers, with a fixed seed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_memory
from skdp._numeric._typing import Floats
from skdp.emissions._autoregressive._densities import StepDensities
from skdp.sequence._hmm._forecast import StateMoves

SMALLEST = 1e-300
"""Smallest weight of a particle."""

N_PARTICLES, N_DRAWS = 200, 50
"""Number of particles of a stretch, and of draws of the missing values given the sequence."""


class Tail(NamedTuple):
    """The end of a sequence, from which it continues.

    Attributes
    ----------
    lags : (M, L D) array
        Last values of each particle, lag 1 first.
    ends : (A, J, M) array
        Probabilities of states, ages and particles at the last step.
    """

    lags: Floats
    ends: Floats


class Stretch(NamedTuple):
    """Steps at which particles differ.

    Attributes
    ----------
    begin, end : int
    values : (end - begin, D, M) array
    weights : (M,) array
    ages : (A, J, M) array
        Probabilities of states and ages at the last of these steps.
    """

    begin: int
    end: int
    values: Floats
    weights: Floats
    ages: Floats


class GapFilter:
    """A sequence with missing values, filtered under a model.

    Parameters
    ----------
    startprob : (J,) array
    moves : StateMoves
    emission : AutoregressiveModel
    values : (T, D) array
        A sequence, with NaN.
    log_known : (T, J) array or None, default=None
        Log factors of the states, -inf for impossible ones.
    n_particles : int, default=200
    seed : int, default=0

    Attributes
    ----------
    log_steps : (T,) array
        Estimates of log p(x_t given x_<t).
    filtered : (T, J) array
        Probabilities of the states given x_<=t.
    """

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
        check_memory(
            8.0 * n_particles * (n_steps * n_dims + moves.n_ages * len(startprob)),
            f"{n_particles} draws of missing values of {n_steps} steps",
        )
        self._is_missing = np.isnan(values)
        is_incomplete = self._is_missing.any(axis=1)
        before = np.concatenate([[0], np.cumsum(is_incomplete)])
        first = np.maximum(np.arange(n_steps) - self._n_lags, 0)
        self._depends = before[1:] > before[first]
        """Whether a step or one of its lags, up to the largest, is incomplete."""
        self._log_obs = emission.log_obs(values, np.array([0, n_steps]))
        if log_known is not None:
            self._log_obs = self._log_obs + log_known
        self._log_known = log_known
        self.log_steps, self.filtered = np.zeros(n_steps), np.zeros((n_steps, len(startprob)))
        self._stretches: list[Stretch] = []
        self._last: tuple[Floats, Floats, Floats]
        self._filter(startprob)

    def _filter(self, startprob: Floats) -> None:
        """Filter the sequence."""
        ages = np.zeros((self._moves.n_ages, len(startprob), 1))
        ages[0, :, 0] = startprob
        weights, begin, n = np.ones(1), 0, self._n_particles
        values = np.repeat(self._values[:, :, np.newaxis], n, axis=2)
        for t in range(len(values)):
            ages = self._moves.move(ages) if t > 0 else ages
            if len(weights) == 1 and self._differs(t):
                begin, weights, ages = t, np.full(n, 1.0 / n), np.repeat(ages, n, axis=2)
                if t == 0:
                    self._draw_first(values)
            seen, densities = self._observe(t, ages, values)
            ages, seen = ages * densities, np.log(np.maximum(weights, SMALLEST)) + seen
            largest = seen.max()
            if largest == -np.inf:
                self.log_steps[t:] = -np.inf
                return
            weights = np.exp(seen - largest)
            self.log_steps[t] = largest + np.log(weights.sum())
            weights /= weights.sum()
            totals = ages.sum(axis=(0, 1))
            ages /= np.where(totals > 0.0, totals, 1.0)
            self.filtered[t] = ages.sum(axis=0) @ weights
            if len(weights) == 1:
                continue
            own = values[begin : t + 1]
            if not self._differs(t + 1):  # the next lags are the same for all
                self._stretches.append(Stretch(begin, t + 1, own.copy(), weights, ages))
                ages, weights = (ages @ weights)[:, :, np.newaxis], np.ones(1)
            elif 1.0 / (weights**2).sum() < 0.5 * n:
                chosen = _resample(weights, self._rng)
                ages, own[:] = ages[:, :, chosen], own[:, :, chosen]
                weights = np.full(n, 1.0 / n)
        self._last = ages, weights, values[-self._n_lags :, :, : len(weights)]
        if len(weights) > 1:
            self._stretches.append(Stretch(begin, len(values), values[begin:], weights, ages))

    def _differs(self, t: int) -> bool:
        """Return whether particles differ in step t or its lags, of which the first are given."""
        if t < self._n_lags:
            return bool(self._is_missing[: self._n_lags].any())
        return t == len(self._depends) or bool(self._depends[t])

    def _draw_first(self, values: Floats) -> None:
        """Draw the missing values of the first L steps given the observed ones, (T, D, M)."""
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
        """Draw the missing columns of a step; return log densities of the observed columns.

        Parameters
        ----------
        ages : (A, J, M) array
            Probabilities before this step.
        values : (T, D, M) array
            Changed at this step.

        Returns
        -------
        seen : (M,) array
            log p(observed columns) of each particle.
        densities : (J, M) array
            Densities of the whole step by state, up to a factor of each particle.
        """
        prior = ages.sum(axis=0)
        if t < self._n_lags or not self._depends[t]:
            log_obs = np.repeat(self._log_obs[t][:, np.newaxis], ages.shape[2], axis=1)
            return _sum_states(prior, log_obs)
        is_seen = ~self._is_missing[t]
        predictions = self._densities.predict(self._lags_before(values, t), t + 1)
        log_obs = self._densities.log_density(predictions, values[t], is_seen)
        if self._log_known is not None:
            log_obs = log_obs + self._log_known[t][:, np.newaxis]
        seen, densities = _sum_states(prior, log_obs)
        if not is_seen.all():
            states = _choose(prior * densities, self._rng)
            values[t, ~is_seen] = self._densities.draw_hidden(
                predictions, values[t], is_seen, states, self._rng
            )
            everything = np.ones_like(is_seen)
            log_obs = self._densities.log_density(predictions, values[t], everything)
            if self._log_known is not None:
                log_obs = log_obs + self._log_known[t][:, np.newaxis]
            _, densities = _sum_states(prior, log_obs)
        return seen, densities

    def _lags_before(self, values: Floats, t: int) -> Floats:
        """Return the lags of a step, (L D, M), lag 1 first."""
        return values[t - self._n_lags : t][::-1].reshape(-1, values.shape[2])

    def tail(self) -> Tail:
        """Return the end of the sequence, of at least L steps."""
        ages, weights, values = self._last
        return Tail(self._lags_before(values, self._n_lags).T, ages * weights)

    def draw(self, n_draws: int = N_DRAWS) -> Floats:
        """Return draws of the sequence with its missing values, (n_draws, T, D)."""
        values = np.repeat(self._values[:, :, np.newaxis], n_draws, axis=2)
        n_states = self.filtered.shape[1]
        later = np.ones((self._moves.n_ages, n_states, n_draws))
        next_step = len(self._values)
        for stretch in self._stretches[::-1]:
            later = self._go_back(later, values, stretch.end, next_step)
            weights = stretch.weights[:, np.newaxis] * np.tensordot(
                stretch.ages, later, ((0, 1), (0, 1))
            )
            chosen = _choose(weights, self._rng)
            values[stretch.begin : stretch.end] = stretch.values[:, :, chosen]
            later = self._go_back(later, values, stretch.begin, stretch.end)
            next_step = stretch.begin
        return np.moveaxis(values, 2, 0)

    def _go_back(self, later: Floats, values: Floats, begin: int, end: int) -> Floats:
        """Return p(x from step `begin` on) by states and ages at the step before, up to factors.

        Parameters
        ----------
        later : (A, J, n) array
            The same from step `end`, by states and ages at step ``end - 1``.
        """
        for t in range(end - 1, begin - 1, -1):
            if t < self._n_lags or not self._depends[t]:
                log_obs = self._log_obs[t][:, np.newaxis]
            else:
                predictions = self._densities.predict(self._lags_before(values, t), t + 1)
                everything = np.ones(values.shape[1], dtype=bool)
                log_obs = self._densities.log_density(predictions, values[t], everything)
                if self._log_known is not None:
                    log_obs = log_obs + self._log_known[t][:, np.newaxis]
            later = later * np.exp(log_obs - log_obs.max(axis=0))
            later = self._moves.move_back(later) if t > 0 else later
            later /= later.max(axis=(0, 1))
        return later


def _sum_states(prior: Floats, log_obs: Floats) -> tuple[Floats, Floats]:
    """Return log p(x), (M,), and densities by state, (J, M), up to a factor of each column.

    Parameters
    ----------
    prior : (J, M) array
        Probabilities of the states.
    log_obs : (J, M) array
    """
    log_obs = np.where(prior > 0.0, log_obs, -np.inf)
    largest = log_obs.max(axis=0)
    largest = np.where(largest > -np.inf, largest, 0.0)
    densities = np.exp(log_obs - largest)
    with np.errstate(divide="ignore"):
        return np.log((prior * densities).sum(axis=0)) + largest, densities


def _choose(weights: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return an index into the rows of weights for each column, (n,), drawn in equal strata."""
    ends, n = np.cumsum(weights, axis=0), weights.shape[1]
    u = (rng.permutation(n) + rng.random(n)) / n * ends[-1]
    return np.minimum((ends <= u).sum(axis=0), len(weights) - 1)


def _resample(weights: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return indices drawn in proportion to weights, by one uniform number (systematic)."""
    n = len(weights)
    places = np.searchsorted(np.cumsum(weights), (np.arange(n) + rng.random()) / n, side="right")
    return np.minimum(places, n - 1)
