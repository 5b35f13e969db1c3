"""Hidden Markov models with known parameters: likelihoods, posteriors, draws, and forecasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_memory
from skdp._numeric import Floats, Places
from skdp.data import SequencePanel
from skdp.emissions._common._columns import DependentColumns
from skdp.emissions._common._marginals import Marginals
from skdp.emissions._common._protocol import EmissionModel, looks_back, values_for
from skdp.emissions._gaussian._autoregressive_model import AutoregressiveModel
from skdp.emissions._gaussian._autoregressive_sampler import WideAutoregressiveModel
from skdp.inference._convergence import warn_user
from skdp.sequence._durations._families import DurationModel
from skdp.sequence._hmm._forecast import Mixture, StateMoves, find_leaving, follow, move_ahead, pick
from skdp.sequence._hmm._gap_filter import GappedModel, Tail, has_gaps
from skdp.sequence._hmm._messages import KnownStates, check_possible, decode, make_messages

ACTIVE = 1e-3
"""Least share of the observations in a state that counts as in use."""


@dataclass(frozen=True, eq=False)
class HMMModel:
    """A hidden Markov model with known parameters.

    Estimators store such a model for each sample that they keep.

    Attributes
    ----------
    startprob : (J,) array
        Probabilities of first states.
    transmat : (J, J) array
        Transition probabilities from row to column.
    emission : EmissionModel
        Distributions of the next observation, given the states of its sample.
    shares : (J,) array
        Shares of the training observations in each state.
    similarity : (J, J) array or None
        phi; None without similarities.
    geometry : object or None
        The source of the similarities, such as `LatentLocations`.
    duration : DurationModel or None
        Distributions of durations; None without durations.
    drawn : EmissionModel or None
        Distributions of observations given the parameters that were drawn for the training states,
        if the emission has them and the fit was to several sequences.
    """

    startprob: Floats
    transmat: Floats
    emission: EmissionModel
    shares: Floats
    similarity: NDArray[np.float32] | None = None
    geometry: Any = None
    duration: DurationModel | None = None
    drawn: EmissionModel | None = None

    @property
    def n_active_components(self) -> int:
        """Number of states in use: see `count_active`."""
        return count_active(self.shares)

    @property
    def n_active_factors(self) -> int:
        """Number of binary factors that states with observations have."""
        emission: Any = self.emission
        return int(np.count_nonzero(emission.factors[self.shares > 0.0].any(axis=0)))

    @property
    def _durations(self) -> tuple[Floats, Floats] | None:
        return None if self.duration is None else self.duration.tables()

    def _log_obs(self, ptr: Places, values: Floats) -> Floats:
        """Return the log density of every step in every state, (N, J)."""
        emission: Any = self.emission
        return emission.log_obs(*values_for(emission, values, ptr))

    def _messages(self, ptr: Places, values: Floats, known: KnownStates | None = None) -> Any:
        log_obs = self._log_obs(ptr, values)
        if known is not None:
            known.clamp(log_obs)
        return make_messages(ptr, self.startprob, self.transmat, log_obs, self._durations)

    def log_likelihoods(self, ptr: Places, values: Floats) -> Floats:
        """Return log p(x) of every sequence, (n,)."""
        if has_gaps(self.emission, values):
            return GappedModel(self).log_likelihoods(ptr, values)
        out = np.empty(len(ptr) - 1)
        self._messages(ptr, values).log_likelihoods(out)
        return out

    def log_predictives(self, values: Floats) -> Floats:
        """Return log p(x_t given x_<t) of every step of one sequence, (T,)."""
        if has_gaps(self.emission, values):
            return GappedModel(self).log_predictives(values)
        out = np.empty(len(values))
        self._messages(np.array([0, len(values)]), values).log_predictives(out)
        return out

    def posteriors(
        self, ptr: Places, values: Floats, known_states: KnownStates | None = None
    ) -> Floats:
        """Return p(z_t = j given x and known states), (N, J)."""
        if has_gaps(self.emission, values):
            return GappedModel(self).posteriors(ptr, values, known_states)
        return self._write(self._messages(ptr, values, known_states).posteriors, len(values))

    def changes(
        self, ptr: Places, values: Floats, labels: Places | None = None,
        known_states: KnownStates | None = None,
    ) -> Floats:  # fmt: skip
        """Return the probability given x and known states that a state begins at each step, (N,).

        The first step of a sequence has 0: nothing is before it. With `labels` of states, only
        changes between states of different labels count, in a model without durations.
        """
        if has_gaps(self.emission, values):
            return GappedModel(self).changes(ptr, values)
        out = np.empty(len(values))
        check_possible(self._messages(ptr, values, known_states).changes(out, labels))
        return out

    def quiet(
        self, ptr: Places, values: Floats, ranges: Places, labels: Places | None = None,
        known_states: KnownStates | None = None,
    ) -> Floats:  # fmt: skip
        """Return the probability that no state begins at steps first to last of ranges, (n,)."""
        out = np.empty(len(ranges))
        check_possible(self._messages(ptr, values, known_states).quiet(out, ranges, labels))
        return out

    def filtered(self, ptr: Places, values: Floats) -> Floats:
        """Return p(z_t = j given x_<=t), (N, J)."""
        if has_gaps(self.emission, values):
            return GappedModel(self).filtered(ptr, values)
        return self._write(self._messages(ptr, values).filtered, len(values))

    def _write(self, method: Callable[[Floats], int], *shape: int) -> Floats:
        """Return the output (..., J) of a method of messages; raise if a sequence is impossible."""
        out = np.empty((*shape, len(self.startprob)))
        check_possible(method(out))
        return out

    def decode(self, ptr: Places, values: Floats) -> tuple[Floats, Places]:
        """Return log p(x, z) of the most probable paths z, (n,), and these paths, (N,)."""
        known = self.startprob, self.transmat, self._log_obs(ptr, values)
        return decode(ptr, *known, self._durations)

    def ends(self, ptr: Places, values: Floats) -> Floats:
        """Return the probabilities of states and ages at the last step of each sequence, (n, A, J).

        In row a, the state is in step a + 1 of its segment; A = 1 without durations. No sequence is
        empty.
        """
        if self.duration is None:
            return self.filtered(ptr, values)[ptr[1:] - 1, np.newaxis]
        messages = self._messages(ptr, values)
        return self._write(messages.last_ages, len(ptr) - 1, self.duration.max_duration)

    def tails(self, ptr: Places, values: Floats) -> list[Tail]:
        """Return the ends of sequences of observations that depend on earlier ones."""
        return GappedModel(self).tails(ptr, values)

    def forecast(self, ptr: Places, values: Floats, n_steps: int) -> Floats:
        """Return the probabilities of the states after each sequence, (n, n_steps, J)."""
        ends = self.ends(ptr, values)
        if self.duration is not None and len(self.startprob) == 1:
            return np.ones((len(ends), n_steps, 1))  # the only state has no successor: it stays
        return follow(ends, self.transmat, find_leaving(self._durations), n_steps)

    def draw_next_states(self, ends: Floats, n_steps: int, rng: np.random.Generator) -> Places:
        """Return the states of the next steps of one sequence, whose `ends` are (A, J)."""
        age, state = divmod(int(pick(np.cumsum(ends), rng.random())), ends.shape[1])
        row = self.transmat[state]
        if self.duration is None:
            return self.draw_states(n_steps, rng, row)
        log_pmf = self.duration.tables()[0][state, age:]
        rest = pick(np.cumsum(np.exp(log_pmf - log_pmf.max())), rng.random())
        states = np.concatenate([np.full(rest, state), self.draw_states(n_steps, rng, row)])
        return states[:n_steps]

    def draw_states(
        self, n_steps: int, rng: np.random.Generator, first: Floats | None = None
    ) -> Places:
        """Return states drawn from the model, (n_steps,), given the probabilities of the first."""
        ends = np.cumsum(self.transmat, axis=1)
        states = np.empty(n_steps, dtype=np.int64)
        row = np.cumsum(self.startprob if first is None else first)
        for t, u in enumerate(rng.random(n_steps)):
            # The only state of a model with durations has no successor: it stays.
            states[t] = min(np.searchsorted(row, u * row[-1], side="right"), len(row) - 1)
            row = ends[states[t]]
        if self.duration is None:
            return states
        return np.repeat(states, self.duration.sample(states, rng))[:n_steps]

    def draw_observations(
        self, states: Places, rng: np.random.Generator, before: Floats | None = None
    ) -> Floats:
        """Return an observation for each state, (N, D). They follow the sequence `before`, (T, D),
        if there is one, and if observations depend on it.
        """
        emission: Any = self.emission
        if before is None or not looks_back(emission):
            return emission.sample(states, rng)
        return emission.sample(states, rng, before)

    def impute(self, ptr: Places, values: Floats) -> Floats:
        """Return observations with NaN replaced by its mean given all observed values, (N, D)."""
        if has_gaps(self.emission, values):
            return GappedModel(self).impute(ptr, values)
        return self.emission.fill(values, self.posteriors(ptr, values))  # type: ignore[attr-defined]

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same model with its states in another order."""
        square = np.ix_(order, order)
        return replace(
            self,
            startprob=self.startprob[order],
            transmat=self.transmat[square],
            emission=self.emission.reorder(order),
            shares=self.shares[order],
            similarity=None if self.similarity is None else self.similarity[square],
            geometry=None if self.geometry is None else self.geometry.reorder(order),
            duration=None if self.duration is None else self.duration.reorder(order),
            drawn=None if self.drawn is None else self.drawn.reorder(order),
        )


def count_active(shares: Floats) -> int:
    """Return the number of states that hold at least a thousandth of the observations."""
    # In long series, a state for a few outlying steps often comes and goes.
    return int(np.count_nonzero(shares >= ACTIVE))


def sum_states(of_components: Floats, labels: Places | None) -> Floats:
    """Return the probabilities of states, (..., J), given those of components; None: the same."""
    if labels is None:
        return of_components
    return of_components @ (labels[:, np.newaxis] == np.arange(len(labels)))


# Filtering step by step: the probabilities of the states given the observations so far.


@dataclass(frozen=True, eq=False)
class FilterState:
    """The states of a sequence given its observations so far, in all stored samples.

    Attributes
    ----------
    ends : tuple of (A, J) arrays
        Probabilities of states and ages at the last step, one for each sample: in row a, the state
        is in step a + 1 of its segment. A = 1 without durations.
    last_values : (n, D) array
        The last observations, as many as the emission depends on.
    n_steps : int
        Number of observations so far.
    labels : (J,) array of int or None
        The state of each component; None: its number.
    """

    ends: tuple[Floats, ...]
    last_values: Floats
    n_steps: int
    labels: Places | None = None

    @property
    def proba(self) -> Floats:
        """(J,) array: probabilities of the states at the last step, averaged over the samples."""
        mean: Floats = np.mean([own.sum(axis=0) for own in self.ends], axis=0)
        return sum_states(mean, self.labels)


def advance(model: HMMModel, ends: Floats | None, log_obs: Floats) -> Floats:
    """Return the probabilities of states and ages, (A, J), after one more observation."""
    weights = _move(model, ends)
    with np.errstate(divide="ignore"):
        logs = np.log(weights) + log_obs
    largest = logs.max()
    if not largest > -np.inf:
        raise ValueError("The observation has probability 0 under a stored sample.")
    weights = np.exp(logs - largest)
    return weights / weights.sum()


def _move(model: HMMModel, ends: Floats | None) -> Floats:
    """Return the probabilities of states and ages at the next step, before its observation."""
    tables = model._durations
    if ends is None:
        first = np.zeros((1 if tables is None else tables[0].shape[1], len(model.startprob)))
        first[0] = model.startprob
        return first
    if tables is not None and len(model.startprob) == 1:
        return ends  # the only state has no successor: it stays
    return move_ahead(ends, model.transmat, find_leaving(tables))


def log_density_of_last(emission: Any, values: Floats, n_steps: int) -> Floats:
    """Return the log density of the last of `values` in each state, (J,), given those before it on
    which it depends; with too few of these, it counts as given, and its density is 1.
    """
    n_lags = emission.n_lags if looks_back(emission) else 0
    if len(values) <= n_lags:
        return np.zeros(1)
    arguments: tuple[Any, ...] = values_for(emission, values, np.array([0, len(values)]))
    if isinstance(emission, AutoregressiveModel | WideAutoregressiveModel):
        arguments += (n_steps - len(values),)
    return emission.log_obs(*arguments)[-1]


# Forecasts if observations depend on earlier ones: exact moments, simulated quantiles.


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
    if isinstance(constants, DependentColumns):
        whole = [
            replace(model, emission=emission.whole())
            for model, emission in zip(models, emissions, strict=True)
        ]
        found = forecast_lagged(whole, tails, panel, n_steps, levels)
        fixed = ~constants.slopes.any(axis=1)
        for _, deviations, quantiles in found:
            deviations[:, constants.constant[fixed]] = 1.0
            quantiles[:, constants.constant[fixed]] = constants.quantiles(levels)[:, fixed].T
        return found
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
        self.moves = StateMoves(model.transmat, model._durations)

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
            moments, shares = self.moves.move(moments), self.moves.move(shares)
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
        places = pick(np.cumsum(tail.ends), rng.random(n_paths))
        places, particles = np.divmod(places, n_particles)
        ages, states = np.divmod(places, n_states)
        own = tail.lags[particles]
        transmat, leaving = self.moves.transmat, self.moves.leaving
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
            shares = one.moves.move(tail.ends).sum(axis=0)  # (J, M)
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


# A warning if forecasts begin at levels that no state has.


_FALSE_ALARMS = 1e-3
"""Bound on the probability of a warning for data from the model."""

_PARTS, _MOVED = 10, 8
"""Parts of a series, and the largest sum of squared differences of their ranks from a trend's."""

_REMEDY = (
    "If the series has a trend, fit and forecast its differences, np.diff(X, axis=0), or use an "
    "AutoregressiveEmission, whose forecasts start from the last values."
)


def warn_of_levels(
    models: list[HMMModel], marginals: list[Marginals], panel: SequencePanel, symbols: list[int]
) -> None:
    """Warn if the last value of a column lies outside of all states in use, or after a trend."""
    last = list_last_values(panel)
    outside: list[tuple[int, int, float]] = []
    bound = _FALSE_ALARMS / max(last.size, 1)
    for d in range(panel.n_features):
        if d in symbols:  # categories have no level
            continue
        x, tails = last[:, d], np.zeros(len(last))
        for model, own in zip(models, marginals, strict=True):
            used = model.shares >= ACTIVE
            lower = np.asarray(own.cdf(x, d))[:, used]
            upper = 1.0 - np.asarray(own.cdf(x - 1.0 if own.is_discrete(d) else x, d))[:, used]
            tails = np.maximum(tails, 2.0 * np.minimum(lower, upper).max(axis=1, initial=0.0))
        found = np.flatnonzero((tails < bound) & ~np.isnan(x))
        outside.extend((int(s), d, float(x[s])) for s in found)
    if outside:
        warn_user(describe(outside), UserWarning)
        return
    for d in set(range(panel.n_features)) - set(symbols):
        if 2 * sum(has_trend(values[:, d]) for values in panel) > len(panel):
            warn_user(
                f"forecast: column {d} rises or falls from one end to the other, but the forecast "
                f"returns to all levels of the training data. {_REMEDY}",
                UserWarning,
            )
            return


def has_trend(x: Floats) -> bool:
    """Return whether the means of ten parts of a series are in order, or almost, and far apart.
    The last part of a series with two levels is hardly ever that far from the mean.
    """
    x = x[~np.isnan(x)]
    if len(x) < 3 * _PARTS:
        return False
    means = np.array([part.mean() for part in np.array_split(x, _PARTS)])
    if means[-1] < means[0]:
        means = -means
    moved = np.argsort(means).argsort() - np.arange(_PARTS)
    return bool(moved @ moved <= _MOVED and means[-1] - means.mean() > 1.1 * x.std())


def list_last_values(panel: SequencePanel) -> Any:
    """Return the last observed value of each column of each sequence, (n, D), or NaN."""
    last = np.full((len(panel), panel.n_features), np.nan)
    for s, values in enumerate(panel):
        for d, column in enumerate(values.T):
            seen = column[~np.isnan(column)]
            if len(seen):
                last[s, d] = seen[-1]
    return last


def describe(outside: list[tuple[int, int, float]]) -> str:
    """Return the text of the warning, given sequences, columns and values."""
    s, d, x = outside[0]
    more = "" if len(outside) == 1 else f" (and {len(outside) - 1} more last values)"
    return (
        f"forecast: the last value of column {d} of sequence {s}, {x:g}, lies outside of all "
        f"states{more}, so the forecast jumps back to the levels of the training data. {_REMEDY}"
    )
