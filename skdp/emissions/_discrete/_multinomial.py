"""Emissions of rows of counts: the numbers of events of each kind at a step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from skdp._checks import LARGEST, SMALLEST, as_floats, shorten
from skdp._numeric._numba import as_readonly
from skdp._numeric._sums import round_sum, sum_exactly
from skdp._sklearn_compat import Interval
from skdp.emissions._clusters import ClusterTerms, count_terms
from skdp.emissions._discrete import _kernels_counts as categories
from skdp.emissions._discrete import _kernels_events as kernels
from skdp.emissions._discrete._categorical import (
    compare_probabilities,
    log_density_of_probabilities,
)
from skdp.emissions._discrete._event_marginals import EventMarginals, Totals, log_rising
from skdp.emissions._discrete._sampler import DiscreteSampler
from skdp.emissions._marginals import fill_by_means
from skdp.emissions._whole import Observations, PartedEmission

_MOST = 2.0**53
"""Largest count: not all larger integers are representable in double precision."""

_N_TOTALS = 100
"""Largest number of distinct totals of events per step that are stored."""

_BLOCK = 1000
"""Number of rows processed at a time, to limit the size of temporary arrays."""


class MultinomialEmission(PartedEmission):
    r"""Rows of counts, with a distribution over the kinds of events for each state.

    In state j,

    .. math::

        x_t \sim \mathrm{Multinomial}(n_t, \theta_j), \quad
        \theta_j \sim \mathrm{Dirichlet}(\mathrm{prior})

    Each step has a bag of n_t events of V kinds: words of a sentence, purchases of a day, alleles.
    The numbers n_t are given, not modeled.

    Parameters
    ----------
    prior : float or (V,) array, default=0.1
        Parameters of the Dirichlet prior, from 1e-8 to 1e8.

    See Also
    --------
    CategoricalEmission : One symbol in each step.
    PoissonEmission : Counts whose totals are modeled, too.

    Notes
    -----
    Observations are integers >= 0, with a column for each kind. A row of NaN marks a missing step.
    Partly missing rows are rejected, because their number of events is unknown. A row of zeros has
    probability 1 in all states, as does any row of a single column: counts of one kind are for
    `PoissonEmission`.

    Log probabilities are those of rows given their sums, including multinomial coefficients. Scores
    and probabilities of states come from the posterior predictive distribution, which is
    Dirichlet-multinomial; a stored sample holds the posterior means of theta given the states.
    Draws and forecasts need numbers of events: they use those of the rows in `fit`, independent of
    the state (100 of them, at evenly spaced quantiles, if there are more than 100 distinct ones).
    """

    allows_nan = True
    """NaN is a missing value."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "prior": [Interval(Real, SMALLEST, LARGEST, closed="both"), "array-like"],
    }

    def __init__(self, prior: float | ArrayLike = 0.1):
        self.prior = prior

    def _make_sampler_of(self, data: Observations, n_states: int) -> MultinomialSampler:
        """Return the sampler; parameters are valid."""
        n_kinds = data.n_features
        prior = as_floats(self.prior, "MultinomialEmission: prior")
        in_range = np.all((prior >= SMALLEST) & (prior <= LARGEST))
        if prior.shape not in ((), (n_kinds,)) or not in_range:
            raise ValueError(
                f"MultinomialEmission: prior must be a positive number or {n_kinds} of them, one "
                f"per column, from {SMALLEST:g} to {LARGEST:g}, got {shorten(self.prior)}."
            )
        return MultinomialSampler(n_states, np.full(n_kinds, prior), summarize(data))


def summarize(data: Observations) -> Totals:
    """Return the distinct numbers of events, and their shares of the steps."""
    found, sizes = data.sum(count_totals)
    if len(found) == 0:
        return Totals(np.zeros(1), np.ones(1))
    numbers, places = np.unique(found, return_inverse=True)
    counts = np.bincount(places, sizes).astype(np.int64)
    if len(numbers) > _N_TOTALS:
        ends = np.cumsum(counts)
        chosen = ((np.arange(_N_TOTALS) + 0.5) / _N_TOTALS * ends[-1]).astype(int)
        numbers, counts = np.unique(
            numbers[np.searchsorted(ends, chosen, side="right")], return_counts=True
        )
    return Totals(numbers, counts / counts.sum())


def count_totals(values: NDArray[np.float64]) -> tuple[list[float], list[int]]:
    """Return the distinct numbers of events of observed steps, and their frequencies."""
    totals = values[~np.isnan(values).any(axis=1)].sum(axis=1)
    numbers, counts = np.unique(totals, return_counts=True)
    return numbers.tolist(), counts.tolist()


class CountEvents(NamedTuple):
    """Nonzero counts of all steps: see `_kernels_events`."""

    ptr: NDArray[np.int64]
    kinds: NDArray[np.int32]
    amounts: NDArray[np.float64]
    log_coefficients: NDArray[np.float64]

    def take(self, steps: NDArray[np.int64]) -> CountEvents:
        """Return the events of some steps."""
        lengths = np.diff(self.ptr)[steps]
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(ptr[-1]) + np.repeat(self.ptr[steps] - ptr[:-1], lengths)
        return CountEvents(
            ptr, self.kinds[places], self.amounts[places], self.log_coefficients[steps]
        )


def list_events(values: NDArray[np.float64]) -> CountEvents:
    """Return the events of each step, none for missing steps, or raise a ValueError."""
    missing = np.isnan(values)
    absent = missing.all(axis=1)
    in_part = missing.any(axis=1) & ~absent
    if in_part.any():
        t = int(np.argmax(in_part))
        raise ValueError(
            "X must hold whole rows of counts, or rows of NaN for missing steps; got a row missing "
            f"in part at step {t}, counted through all sequences, column "
            f"{int(np.argmax(missing[t]))}: its number of events is unknown."
        )
    wrong = ~missing & ~((values >= 0.0) & (values == np.floor(values)) & (values <= _MOST))
    if wrong.any():
        t, d = np.argwhere(wrong)[0]
        raise ValueError(
            f"X must hold counts, integers from 0 to {_MOST:g}, or rows of NaN for missing steps; "
            f"got {values[t, d]:g} in column {d} at step {t}, counted through all sequences."
        )
    steps, kinds = np.nonzero((values > 0.0) & ~missing)
    amounts = values[steps, kinds]
    known = np.where(missing, 0.0, values)
    coefficients = gammaln(known.sum(axis=1) + 1.0)
    coefficients -= np.bincount(steps, gammaln(amounts + 1.0), len(values))
    ptr = np.searchsorted(steps, np.arange(len(values) + 1))
    return CountEvents(ptr, kinds.astype(np.int32), amounts, coefficients)


class MultinomialSampler(DiscreteSampler):
    """Sampler of the probabilities of kinds of events in all states."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_events", "_all_coefficients")

    def __init__(self, n_states: int, prior: NDArray[np.float64], totals: Totals):
        self.prior = prior
        self.totals = totals
        self.counts = np.zeros((len(prior), n_states), dtype=np.int64)
        self.log_probs = np.empty(self.counts.shape)
        self._log_coefficients = np.zeros(3, dtype=np.int64)

    def of_states(self, n_states: int) -> MultinomialSampler:
        """Return a sampler with the same prior, without observations."""
        return MultinomialSampler(n_states, self.prior, self.totals)

    def attach(self, values: NDArray[np.float64]) -> None:
        """Store the observations."""
        self._take_events(list_events(values))

    def _take_events(self, events: CountEvents) -> None:
        self._events = events
        self._all_coefficients = sum_exactly(events.log_coefficients)

    def restrict(self, steps: NDArray[np.int64], n_states: int) -> MultinomialSampler:
        """Return a sampler for some of the observations."""
        other = self.of_states(n_states)
        other._take_events(self._events.take(steps))
        return other

    def add_up(
        self, states: NDArray[np.int64], measured: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the number of events by kind and state, (V, J), and sums of coefficients."""
        ptr, kinds, amounts, log_coefficients = self._events
        counts = np.empty_like(self.counts)
        kernels.count_events(ptr, kinds, amounts, states, counts)
        known = states >= 0
        if known.all():
            return counts, self._all_coefficients
        return counts, sum_exactly(log_coefficients[known])

    def take(self, measured: int, sums: tuple[NDArray[np.int64], ...]) -> None:
        """Store the sums over all observations."""
        self.counts, self._log_coefficients = sums

    def write_log_predictive(self, out: NDArray[np.float64]) -> None:
        """Write the log probabilities of all steps at the expected probabilities of each state."""
        shapes = self.counts + self.prior[:, np.newaxis]
        kernels.weigh_events(*self._events, np.log(shapes / shapes.sum(axis=0)), out)

    def draw_parameters(self, rng: NDArray[np.uint64]) -> None:
        """Draw theta given the stored statistics."""
        sums = np.empty((2, self.counts.shape[1]))
        categories.draw_log_probs(self.counts, self.prior, self.log_probs, sums, rng)

    def write_log_obs(self, out: NDArray[np.float64]) -> None:
        """Write the log probabilities of all steps."""
        kernels.weigh_events(*self._events, self.log_probs, out)

    def log_evidence(self) -> float:
        """Return log p(x | z)."""
        events = categories.log_evidence_of_symbols(self.counts, self.prior)
        return float(events) + round_sum(self._log_coefficients)

    def model(self) -> MultinomialModel:
        """Return the distributions of the next observation given the states."""
        shapes = self.counts.T + self.prior
        concentrations = shapes.sum(axis=1)
        return MultinomialModel(shapes / concentrations[:, np.newaxis], self.totals, concentrations)

    def cluster_terms(self) -> ClusterTerms:
        """Return the rows and the prior in the format of the cluster kernels."""
        ptr, kinds, amounts, log_coefficients = self._events
        return count_terms((ptr, kinds, amounts), log_coefficients, self.prior)

    def parameters(self) -> tuple[NDArray[np.float64], ...]:
        """Return log theta, (J, V)."""
        return (self.log_probs.T,)

    def log_posterior(self) -> float:
        """Return the log density of log odds of theta given the states."""
        return log_density_of_probabilities(self.counts, self.prior, self.log_probs)

    def known_model(self, parameters: tuple[NDArray[np.float64], ...]) -> MultinomialModel:
        """Return the distributions of states with known probabilities."""
        return MultinomialModel(np.exp(parameters[0]), self.totals)

    def log_affinity(self, parameters: tuple[NDArray[np.float64], ...]) -> NDArray[np.float64]:
        """Return log Bhattacharyya coefficients of single events, (K, K)."""
        return compare_probabilities(parameters[0])


@dataclass(frozen=True, eq=False)
class MultinomialModel:
    """Rows of counts, and the uncertainty of the probabilities of their events.

    With `concentrations`, probabilities have been learned from finitely many events, and the
    posterior predictive distribution of the next row given its sum is Dirichlet-multinomial.
    Otherwise, the probabilities are known.

    Attributes
    ----------
    probs : (J, V) array
        Probabilities of the kinds of events in each state.
    totals : Totals
        Numbers of events of a step, ``numbers`` and their ``shares``, for draws and forecasts.
    concentrations : (J,) array or None, default=None
        Sums of the parameters of the Dirichlet distributions whose means are `probs`.
    """

    probs: NDArray[np.float64]
    totals: Totals
    concentrations: NDArray[np.float64] | None = None

    @property
    def emissionprob_(self) -> NDArray[np.float64]:
        """(J, V) read-only array: `probs` under hmmlearn's name."""
        probs: NDArray[np.float64] = as_readonly(self.probs)
        return probs

    def log_obs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log probability of every row given its sum in every state, (N, J)."""
        events = list_events(values)
        out = np.empty((len(values), len(self.probs)))
        if self.concentrations is None:
            with np.errstate(divide="ignore"):
                kernels.weigh_events(*events, np.log(self.probs.T), out)
            return out
        out[:] = events.log_coefficients[:, np.newaxis]
        totals = np.bincount(
            np.repeat(np.arange(len(values)), np.diff(events.ptr)), events.amounts, len(values)
        )
        _add_rising(out, np.arange(len(values)), totals, self.concentrations, -1.0)
        shapes = self.probs * self.concentrations[:, np.newaxis]
        order = np.argsort(events.kinds, kind="stable")
        ends = np.cumsum(np.bincount(events.kinds, minlength=self.probs.shape[1]))
        steps = np.repeat(np.arange(len(values)), np.diff(events.ptr))
        for v, own in enumerate(np.split(order, ends[:-1])):
            _add_rising(out, steps[own], events.amounts[own], shapes[:, v], 1.0)
        return out

    def sample(self, states: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return a row for each state, (N, V), with a number of events like those in `fit`."""
        totals = rng.choice(self.totals.numbers, len(states), p=self.totals.shares).astype(int)
        probs = self.probs[states]
        if self.concentrations is not None:
            shapes = probs * self.concentrations[states, np.newaxis]
            # Draws are in logarithms, because all shapes of a row may be tiny.
            logs = np.log(rng.standard_gamma(shapes + 1.0)) - rng.standard_exponential(
                shapes.shape
            ) / np.maximum(shapes, 1e-300)
            probs = np.exp(logs - logs.max(axis=1, keepdims=True))
            probs /= probs.sum(axis=1, keepdims=True)
        return rng.multinomial(totals, probs).astype(np.float64)

    def marginals(self) -> EventMarginals:
        """Return the distributions of single columns of the next observation."""
        return EventMarginals(self.probs, self.totals, self.concentrations)

    def fill(
        self, values: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return observations, (N, D), with missing rows replaced by their means."""
        return fill_by_means(values, weights, self.marginals().means)

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the model with its states in another order."""
        concentrations = None if self.concentrations is None else self.concentrations[order]
        return replace(self, probs=self.probs[order], concentrations=concentrations)


def _add_rising(
    out: NDArray[np.float64],
    steps: NDArray[np.int64],
    counts: NDArray[Any],
    shapes: NDArray[np.float64],
    sign: float,
) -> None:
    """Add sign times `log_rising` of counts at some steps, each at most once, in all states."""
    numbers, places = np.unique(counts, return_inverse=True)
    table = np.empty((len(numbers), len(shapes)))
    for i in range(0, len(numbers), _BLOCK):
        table[i : i + _BLOCK] = sign * log_rising(shapes, numbers[i : i + _BLOCK, np.newaxis])
    for i in range(0, len(steps), _BLOCK):
        out[steps[i : i + _BLOCK]] += table[places[i : i + _BLOCK]]
