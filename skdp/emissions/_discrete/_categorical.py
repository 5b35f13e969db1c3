"""Emissions of categories, and methods that the samplers of all discrete emissions share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from skdp._checks import (
    LARGEST,
    SMALLEST,
    as_floats,
    check_gamma_prior,
    check_memory,
    shorten,
    write_number,
)
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_gamma, draw_slice, next_open_double
from skdp._sklearn_compat import Interval, StrOptions
from skdp.emissions._common import Stream
from skdp.emissions._common._clusters import ClusterTerms, SymbolColumns, count_terms
from skdp.emissions._common._columns import Observations, PartedEmission
from skdp.emissions._common._marginals import StatesMixin
from skdp.emissions._common._protocol import SummedSampler, start_in_runs
from skdp.emissions._kernels import _discrete as kernels
from skdp.emissions._kernels import _links as affinities

# Methods that the samplers of all discrete emissions share.


class DiscreteSampler(SummedSampler):
    """A sampler that leaves out missing values."""

    counts: NDArray[Any]  # (..., J)

    def take(self, measured: int, sums: tuple[NDArray[Any], ...]) -> None:
        (self.counts,) = sums

    def start(self, states: Places, rng: Stream) -> None:
        """Write random initial states in runs."""
        start_in_runs(states, self.counts.shape[1], rng)


# Observations as symbols, and their counts.


def as_symbols(values: Floats, n_symbols: int | None = None) -> Ints:
    """Return observations as symbols, -1 for missing ones (NaN), or raise a ValueError."""
    column = values[:, 0]
    missing = np.isnan(column)
    end = 2.0**31 if n_symbols is None else n_symbols
    wrong = ~(missing | ((column >= 0.0) & (column < end) & (column == np.floor(column))))
    if wrong.any():
        value = column[np.argmax(wrong)]
        is_bounded = n_symbols is not None or value >= end
        numbers = f"from 0 to {write_number(end - 1)}" if is_bounded else "from 0"
        raise ValueError(f"X must hold symbols, integers {numbers}; got {write_number(value)}.")
    return np.where(missing, -1.0, column).astype(np.int32)


def find_largest(values: Floats) -> tuple[list[int]]:
    """Return the largest observed symbol, or 0 if there are no observations."""
    return ([int(as_symbols(values).max(initial=0))],)


def count_all(values: Floats, n_symbols: int) -> tuple[NDArray[np.intp]]:
    """Return the number of occurrences of each symbol."""
    symbols = as_symbols(values, n_symbols)
    return (np.bincount(symbols[symbols >= 0], minlength=n_symbols),)


# Frequencies of the symbols in a column, of which some may not occur.


def weigh_symbols(totals: NDArray[Any]) -> tuple[Floats, int]:
    """Return weights of the symbols, (V,), and their sum; those that do not occur share 1."""
    n_symbols, n_observed = len(totals), int(np.count_nonzero(totals))
    if n_observed == n_symbols:
        return np.ones(n_symbols), n_symbols
    return np.where(totals > 0, 1.0, 1.0 / (n_symbols - n_observed)), n_observed + 1


def find_common(totals: NDArray[Any]) -> Floats:
    """Return the distribution, (V,), of a column with these totals that is alike in all states."""
    weights, n_weights = weigh_symbols(totals)
    return (totals + weights) / (totals.sum() + n_weights)


# The emission, its sampler and its model.

_ALIKE = 1e10
"""Concentration that stands for equal distributions in all states; others are smaller."""

_SETTLED = 1e-2, 1e4, 25
"""Least and largest value of A to be compared, and their number."""

_N_TRIES = 10
"""Number of moves in a sweep between equal and different distributions in the states."""


class CategoricalEmission(PartedEmission):
    r"""Categories, with a distribution over the symbols for each state.

    In state j,

    .. math::

        x_t \sim \theta_j, \quad
        \theta_j \sim \mathrm{Dirichlet}(A b)

    The concentration A is shared by all states and drawn by default; the base b is a distribution
    over the symbols.

    Parameters
    ----------
    n_symbols : int or None, default=None
        Number of symbols V; observations are from 0 to V - 1. None: one more than the largest
        observation in `fit`.
    prior : "auto", float or (V,) array, default="auto"
        "auto": A is drawn. A number is the mean parameter of a symbol, from 1e-8 to 1e8: A is V
        times as large. An array holds the parameters A b themselves, each in this range.
    concentration_prior : (shape, rate), default=(1.0, 0.1)
        Gamma prior of A if `prior` is "auto"; shape and rate from 1e-8 to 1e8. It is a prior of the
        total A and does not depend on V. (The prior is truncated so that all parameters A b are
        from 1e-8 to 1e8.)
    base : {"uniform", "empirical"} or (V,) array, default="uniform"
        b. "uniform": equal weights of all symbols (but see the Notes for tables). "empirical": the
        frequencies of the symbols in `fit`, with 1 added to the count of every symbol. An array of
        positive numbers is normalized.

    See Also
    --------
    MultinomialEmission : Counts of several symbols in each step.
    BernoulliEmission : Columns of 0 and 1.

    Notes
    -----
    Observations are one column: integers from 0, or text (strings, pandas Categorical of strings,
    polars Categorical and Enum, dictionaries of Arrow). In a sequence, NaN (or None, in text) marks
    a missing symbol; symbols must be missing at random. With text, the estimator has
    `categories_`: code k of the model stands for ``categories_[0][k]``, in sorted order. Categories
    that were not in `fit` are rejected. In sequences, numeric categories are used as their own
    codes. In mixtures, they are labels if the column has a type for them (pandas Categorical,
    dictionaries of Arrow), and all categories that a pandas Categorical or a polars Enum declares
    are symbols, even if they do not occur in `fit`.

    A drawn A begins at the square root of V (of M + 1 in the tables below, if some symbols do not
    occur). `HDPHMMLT` keeps it there during the sweeps in which its other concentrations are fixed,
    because random states, all of which contain all symbols, would favor a large A. Then A is drawn
    once a sweep by slice sampling, with theta integrated out.

    In mixtures of several columns, a column whose A is drawn may have the same distribution in all
    clusters. It then has no influence on the clusters. That distribution is set to the frequencies
    of the symbols, with 1 added to each count; all symbols that do not occur in `fit` share the 1
    of one symbol, and its weight in a uniform b. So unused symbols that a type declares hardly
    matter. The common distribution is not integrated out, which favors it: compared to a flat prior
    over the M symbols that occur, by about (M - 1) / 2 times the logarithm of the number of rows.
    The number of such columns is uniform a priori, and given their number, all choices of columns
    are equally probable. Whether a column differs between clusters is drawn together with A by
    Metropolis-Hastings moves, with theta integrated out. `trace_` has it as ``name__differs``, 1 or
    0; if it is 0, A is 1e10. A column in which a single symbol occurs shows no clusters: it never
    differs, and the prior does not count it. A single column of categories does not identify
    clusters. So if fewer than two differ, the table has no other columns, and no labels are known,
    a stored sample has a single cluster. This also holds for `DPMixture` and `PitmanYorMixture` of
    one column whose A is drawn. With a given `prior`, clusters are sampled, but they follow from
    this prior alone.

    A stored sample holds A and the posterior means of theta given A and the states, which are the
    probabilities of the next symbol. With the base "empirical", symbols that occur only in held-out
    sequences are improbable in all states.
    """

    allows_nan = True
    """NaN is a missing value."""

    judged = True
    """States are judged by held-out steps in `HDPHMMLT`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_symbols": [Interval(Integral, 1, None, closed="left"), None],
        "prior": [
            StrOptions({"auto"}), Interval(Real, SMALLEST, LARGEST, closed="both"), "array-like",
        ],
        "concentration_prior": [tuple, list],
        "base": [StrOptions({"uniform", "empirical"}), "array-like"],
    }  # fmt: skip

    def __init__(
        self,
        n_symbols: int | None = None,
        prior: str | float | ArrayLike = "auto",
        concentration_prior: tuple[float, float] = (1.0, 0.1),
        base: str | ArrayLike = "uniform",
    ):
        self._store(locals())

    def _make_sampler_of(self, data: Observations, n_states: int) -> CategoricalSampler:
        concentration_prior = check_gamma_prior(
            self.concentration_prior, "CategoricalEmission: concentration_prior"
        )
        if data.n_features != 1:
            raise ValueError(
                f"CategoricalEmission: X must have 1 feature, the symbol; got {data.n_features}."
            )
        n_symbols = self.n_symbols
        if n_symbols is None:
            n_symbols = max(data.sum(find_largest)[0]) + 1
        is_drawn = isinstance(self.prior, str)
        # A begins at sqrt(V), between states of one symbol and states of uniform symbols.
        prior = n_symbols**-0.5 if is_drawn else self.prior
        words = f"'auto', a positive number or {n_symbols} of them,"
        prior = read_shapes(self, prior, n_symbols, words)
        # A mixture has no fixed number of states: it needs memory for at least two clusters.
        check_memory(
            24.0 * n_symbols * max(n_states, 2),
            f"X: CategoricalEmission of {n_symbols} symbols (one more than the largest in X, "
            f"unless n_symbols is given) in {max(n_states, 2)} states",
        )
        weights = self._base_weights(data, n_symbols)
        if weights is None:
            prior = np.full(n_symbols, prior)
        elif prior.ndim == 1:
            raise ValueError(
                "CategoricalEmission: an array of parameters as prior has its own base. Leave "
                "base='uniform', or give the prior as a number."
            )
        else:
            prior = prior * weights
            if prior.min() < SMALLEST or prior.max() > LARGEST:
                raise ValueError(
                    f"CategoricalEmission: base differs too much between symbols. The parameters "
                    f"prior * n_symbols * base must be from {SMALLEST:g} to {LARGEST:g}; they are "
                    f"from {prior.min():g} to {prior.max():g}."
                )
        sampler = CategoricalSampler(n_states, prior, concentration_prior if is_drawn else None)
        sampler.is_uniform = weights is None
        return sampler

    def _base_weights(self, data: Observations, n_symbols: int) -> Floats | None:
        """Return the base times the number of symbols, or None if all are 1."""
        if isinstance(self.base, str):
            if self.base == "uniform":
                return None
            base = 1.0 + data.sum(count_all, n_symbols)[0]
        else:
            base = as_floats(self.base, "CategoricalEmission: base")
            positive = np.all((base > 0.0) & (base < np.inf))
            if base.shape != (n_symbols,) or not positive:
                raise ValueError(
                    f"CategoricalEmission: base must be 'uniform', 'empirical' or {n_symbols} "
                    f"positive numbers, one per symbol, got {shorten(self.base)}."
                )
        base = base / base.max()  # sums of huge numbers overflow
        return base * (n_symbols / base.sum())


def read_shapes(owner: Any, value: Any, n: int, words: str) -> Floats:
    """Return a parameter of a Dirichlet prior, or an array of n of them, or raise a ValueError."""
    kind = type(owner).__name__
    shapes = as_floats(value, f"{kind}: prior")
    if shapes.shape not in ((), (n,)) or not np.all((shapes >= SMALLEST) & (shapes <= LARGEST)):
        raise ValueError(
            f"{kind}: prior must be {words} from {SMALLEST:g} to {LARGEST:g}, got "
            f"{shorten(owner.prior)}."
        )
    return shapes


class DirichletSampler(DiscreteSampler):
    """Sampler of probabilities with Dirichlet priors, ordered by symbol, in all states."""

    prior: Floats  # (V,)
    log_probs: Floats  # (V, J)

    def draw_parameters(self, rng: Stream) -> None:
        """Draw theta given the stored statistics."""
        sums = np.empty((2, self.counts.shape[1]))
        kernels.draw_log_probs(self.counts, self.prior, self.log_probs, sums, rng)

    def parameters(self) -> tuple[Floats, ...]:
        """Return log theta, (J, V)."""
        return (self.log_probs.T,)

    def log_posterior(self) -> float:
        """Return the log density of log odds of theta given the states and the prior."""
        shapes = self.counts + self.prior[:, np.newaxis]
        logs = (shapes * self.log_probs - gammaln(shapes)).sum(axis=0)
        return float((logs + gammaln(shapes.sum(axis=0))).sum())

    def log_affinity(self, parameters: tuple[Floats, ...]) -> Floats:
        """Return log Bhattacharyya coefficients of single symbols, (K, K)."""
        log_probs = np.ascontiguousarray(parameters[0])
        out = np.empty((len(log_probs), len(log_probs)))
        roots = np.ascontiguousarray(np.exp(0.5 * log_probs.T))
        affinities.compare_probabilities(log_probs, roots, out)
        return out


class CategoricalSampler(DirichletSampler):
    """Sampler of the probabilities of symbols in all states, and of their concentration."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_symbols",)
    starts_with_one_state = False  # splits explain chords well with few states, but predict worse

    def __init__(
        self,
        n_states: int,
        prior: Floats,  # (V,), of the Dirichlet prior, or its initial values
        concentration_prior: tuple[float, float] | None = None,  # of their sum; None: known
    ):
        self.prior = prior
        self.concentration_prior = concentration_prior
        # `held`: `draw` leaves the concentration unchanged. `may_be_alike`: all states may have the
        # same distribution (see `draw_shared_given`); `is_constant`: they have it, since no two
        # symbols occur. `is_uniform`: the base is "uniform", so that `suit_symbols` may change it.
        self.held = self.may_be_alike = self.is_constant = self.is_uniform = False
        self.counts: NDArray[Any] = np.zeros((len(prior), n_states), dtype=np.int64)
        self.log_probs = np.empty(self.counts.shape)
        if concentration_prior is not None:
            self._set_base(prior / prior.sum())

    @property
    def concentration(self) -> float:
        """Sum of the parameters of the Dirichlet prior."""
        return float(self.prior.sum())

    def attach(self, values: Floats) -> None:
        self._symbols = as_symbols(values, len(self.prior))

    def suit_symbols(self, powers: Floats | None) -> None:
        """Suit the prior to the symbols that occur; the others get little weight."""
        known = self._symbols >= 0
        powers = None if powers is None else powers[known]
        totals = np.bincount(self._symbols[known], powers, len(self.prior))
        if self.is_uniform and not totals.all():
            self._weigh_unused(totals)
        self.is_constant = bool(np.count_nonzero(totals) < 2)
        if self.is_constant:
            self.prior = _ALIKE * find_common(totals)

    def _weigh_unused(self, totals: NDArray[Any]) -> None:
        """Give all symbols that do not occur together the weight of one that occurs, in b."""
        weights, n_weights = weigh_symbols(totals)
        base = weights / n_weights
        if not np.array_equal(base, self._base):  # else A may have been drawn given this base
            self._set_base(base)
            self.prior = math.sqrt(n_weights) * base

    def _set_base(self, base: Floats) -> None:
        self._base = base
        self._base_values, self._group = np.unique(base, return_inverse=True)

    def of_states(self, n_states: int) -> CategoricalSampler:
        """Return a sampler without observations, whose prior is fixed at the current one."""
        return CategoricalSampler(n_states, self.prior)

    def restrict(self, steps: Places, n_states: int) -> CategoricalSampler:
        other = self.of_states(n_states)
        other._symbols = self._symbols[steps]
        return other

    def add_up(self, states: Places, measured: int) -> tuple[Places]:
        """Return the number of occurrences of each symbol in each state, (V, J)."""
        counts = np.empty_like(self.counts)
        kernels.count_symbols(self._symbols, states, counts)
        return (counts,)

    def write_log_predictive(self, out: Floats) -> None:
        """Write the log probabilities of all symbols given the observations of each state."""
        predictive = self.counts + self.prior[:, np.newaxis]
        kernels.look_up(self._symbols, np.log(predictive / predictive.sum(axis=0)), out)

    def draw_parameters(self, rng: Stream) -> None:
        """Draw the concentration and theta given the stored statistics."""
        if self.concentration_prior is not None and not self.held:
            self._draw_concentration(*self.concentration_prior, rng)
        super().draw_parameters(rng)

    @property
    def mixes_to_itself(self) -> bool:
        """Whether clusters of rows are not identified: mixtures of categories are categories."""
        # With a given prior of theta, the clusters are those of the prior.
        return self.concentration_prior is not None

    @property
    def differs(self) -> bool:
        """Whether theta differs between states."""
        return not self.may_be_alike or self.concentration < _ALIKE / 2.0

    def _draw_whether_states_differ(self, log_odds: float, rng: Stream) -> None:
        """Draw whether states differ (given prior log odds), and A, with theta integrated out."""
        assert self.concentration_prior is not None
        shape, rate = self.concentration_prior
        log_evidence = self._find_log_evidence()
        totals = self.counts.sum(axis=1)
        common = find_common(totals)
        log_alike = float(totals @ np.log(common))
        low, high = self._bounds()
        proposed = self.concentration if self.differs else math.nan
        log_target = log_evidence(proposed) + log_odds if self.differs else log_alike
        for _ in range(_N_TRIES):
            other, log_other = math.nan, log_alike
            if math.isnan(proposed):
                other = draw_gamma(shape, rng) / rate  # from the prior, whose density cancels
                if not low <= other <= high:
                    continue
                log_other = log_evidence(other) + log_odds
            if math.log(next_open_double(rng)) < log_other - log_target:
                proposed, log_target = other, log_other
        self.prior = _ALIKE * common if math.isnan(proposed) else proposed * self._base

    def _bounds(self) -> tuple[float, float]:
        """Return the smallest and the largest A."""
        largest = float(LARGEST / self._base_values[-1])
        most = min(largest, _ALIKE / 4.0) if self.may_be_alike else largest
        return float(SMALLEST / self._base_values[0]), most

    def _draw_concentration(self, shape: float, rate: float, rng: Stream) -> None:
        """Draw the concentration given the counts, with theta integrated out."""
        log_evidence = self._find_log_evidence()

        def log_density(log_concentration: float) -> float:
            if not low <= log_concentration <= high:
                return -math.inf
            concentration = math.exp(log_concentration)
            result = log_evidence(concentration)
            return float(result + shape * log_concentration - rate * concentration)

        low, high = map(math.log, self._bounds())
        start = math.log(self.concentration)
        self.prior = math.exp(draw_slice(log_density, start, rng)) * self._base

    def settle_prior(self, part: CategoricalSampler) -> None:
        """Set a part's A, if it is drawn, to a most probable value given the part's counts."""
        if self.concentration_prior is None:
            return
        part._set_base(self._base)
        values = np.clip(np.geomspace(*_SETTLED), *self._bounds())
        # Its prior is left out: it would make few states that are nearly uniform look worse.
        logs = list(map(part._find_log_evidence(), values))
        part.prior = values[int(np.argmax(logs))] * self._base

    def _find_log_evidence(self) -> Callable[[float], float]:
        """Return the log evidence as a function of the concentration."""
        if self.counts.dtype == np.float64:  # rows have powers
            return partial(log_evidence_of_base, self._base, self.counts)
        keys = np.empty(np.count_nonzero(self.counts), dtype=np.int64)
        sizes = np.empty(self.counts.shape[1], dtype=np.int64)
        n = kernels.list_cells(self.counts, self._group, len(self._base_values), keys, sizes)
        statistics = (
            self._base_values,
            *np.unique(keys[:n], return_counts=True),
            *np.unique(sizes, return_counts=True),
        )

        def log_evidence(concentration: float) -> float:
            return float(kernels.log_evidence_of_concentration(concentration, *statistics))

        return log_evidence

    def write_log_obs(self, out: Floats) -> None:
        """Write log theta_j of every step's symbol, or 0 if it is missing."""
        kernels.look_up(self._symbols, self.log_probs, out)

    def log_evidence(self) -> float:
        """Return log p(x | z), plus the log density of log A if A is drawn."""
        result = kernels.log_evidence_of_symbols(self.counts, self.prior)
        if self.concentration_prior is not None:
            shape, rate = self.concentration_prior
            concentration = self.concentration
            result += shape * math.log(rate * concentration) - rate * concentration
            result -= math.lgamma(shape)
        return result

    def scalars(self) -> dict[str, float]:
        if self.concentration_prior is None:
            return {}
        scalars = {"emission_concentration": self.concentration}
        return scalars | {"differs": float(self.differs)} if self.may_be_alike else scalars

    def model(self) -> CategoricalModel:
        """Return E[theta | z]."""
        probs = self.counts.T + self.prior
        probs /= probs.sum(axis=1, keepdims=True)
        return CategoricalModel(probs.astype(np.float32), self.concentration)

    def cluster_terms(self) -> ClusterTerms:
        n = len(self._symbols)
        events = np.arange(n + 1), self._symbols, np.ones(n)
        return count_terms(events, np.zeros(n), self.prior)

    def draw_shared(self, labels: Places, n_clusters: int, rng: Stream) -> None:
        """Draw the concentration given the clusters of the rows, unless it is known."""
        if self.concentration_prior is not None:
            self.counts = np.zeros((len(self.prior), n_clusters), dtype=np.int64)
            kernels.count_symbols(self._symbols, labels, self.counts)
            self._draw_concentration(*self.concentration_prior, rng)

    def draw_shared_given(
        self, clusters: CategoricalSampler, rng: Stream, log_odds: float | None = None
    ) -> None:
        """Draw the concentration, unless known, given a sampler with the counts of clusters."""
        # With prior log odds that the column differs between clusters, draw also whether it does.
        if self.concentration_prior is None:
            return
        self.counts = clusters.counts
        if log_odds is not None:
            self._draw_whether_states_differ(log_odds, rng)
        if self.differs:
            self._draw_concentration(*self.concentration_prior, rng)

    def columns_of_cells(self) -> SymbolColumns:
        """Return the column of symbols and its prior."""
        return SymbolColumns(self._symbols[:, np.newaxis], [self.prior])

    def condition_with_powers(self, states: Places, powers: Floats) -> None:
        """Set the states of the observations given the powers of their likelihoods."""
        n_symbols, n_states = self.counts.shape
        known = (states >= 0) & (self._symbols >= 0)
        cells = self._symbols[known].astype(np.int64) * n_states + states[known]
        counts = np.bincount(cells, powers[known], n_symbols * n_states)
        self.counts = counts.reshape(n_symbols, n_states)

    def known_model(self, parameters: tuple[Floats, ...]) -> CategoricalModel:
        return CategoricalModel(np.exp(parameters[0]), self.concentration)

    def move_shared(self, rng: Stream) -> Floats | None:
        """Draw the concentration, move theta accordingly; return the previous prior, if any."""
        if self.concentration_prior is None or self.held:
            return None
        before = self.prior
        self._draw_concentration(*self.concentration_prior, rng)
        priors = as_readonly(before), as_readonly(self.prior)
        sums = np.empty((2, self.counts.shape[1]))
        kernels.move_log_probs(self.counts, *priors, self.log_probs, sums, rng)
        return before

    def restore_shared(self, before: Floats) -> None:
        self.prior = before


def log_evidence_of_base(base: Floats, counts: Floats, concentration: float) -> float:
    """Return log p(x | z), with theta integrated out, given counts of any value, (V, J)."""
    shapes = concentration * base[:, np.newaxis]
    totals = counts.sum(axis=0)
    result = (gammaln(shapes + counts) - gammaln(shapes)).sum()
    return float(result - (gammaln(concentration + totals) - gammaln(concentration)).sum())


@dataclass(frozen=True, eq=False)
class CategoricalModel(StatesMixin):
    """Categories with known probabilities.

    Attributes
    ----------
    probs : (J, V) array
        Probabilities of the symbols in each state.
    concentration : float
        A, the sum of the parameters of their Dirichlet prior; NaN if there is no prior.
    """

    probs: NDArray[np.floating]
    concentration: float = math.nan

    @property
    def emissionprob_(self) -> NDArray[np.floating]:
        """(J, V) read-only array: `probs` under hmmlearn's name."""
        return as_readonly(self.probs)

    def log_obs(self, values: Floats) -> Floats:
        """Return the log probability of every symbol in every state, (N, J); 0 if missing."""
        symbols = as_symbols(values, self.probs.shape[1])
        with np.errstate(divide="ignore"):
            out: Floats = np.log(self.probs.T.astype(np.float64))[symbols]
        out[symbols < 0] = 0.0
        return out

    def sample(self, states: Places, rng: np.random.Generator) -> Floats:
        """Return a symbol for each state, (N, 1)."""
        ends = np.cumsum(self.probs, axis=1, dtype=np.float64)
        uniform = rng.random(len(states)) * ends[states, -1]
        symbols = (ends[states] <= uniform[:, np.newaxis]).sum(axis=1)
        return symbols.astype(np.float64).reshape(-1, 1)

    def fill(self, values: Floats, weights: Floats) -> Floats:
        """Raise a TypeError, because categories have no mean."""
        raise TypeError(
            "impute has no value for a missing category, because categories have no mean: their "
            "probabilities are about predict_proba(X) @ emission_.probs."
        )
