"""Emissions of rows of counts: the numbers of events of each kind at a step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.polynomial.chebyshev import chebder, chebint
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, xlog1py, xlogy

from skdp._checks import LARGEST, SMALLEST
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._arithmetic import round_sum, sum_exactly
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_slice
from skdp._sklearn_compat import Interval, StrOptions
from skdp.data._validation import SparseRows
from skdp.emissions._common import Stream
from skdp.emissions._common._clusters import ClusterTerms, count_terms
from skdp.emissions._common._columns import (
    Observations,
    PartedEmission,
    refuse_cells,
    refuse_stored,
)
from skdp.emissions._common._marginals import StatesMixin, fill_by_means
from skdp.emissions._discrete._categorical import DirichletSampler, read_shapes
from skdp.emissions._discrete._poisson import (
    BLOCK,
    MOST,
    log_deviation,
    log_negative_binomial,
    log_rising,
    stirling_rest,
)
from skdp.emissions._kernels import _discrete as kernels

# Marginals: the number of events of one kind, if the total number is random.


_SMALLEST = 1e-300

_SMALLEST_SHIFT = 12
"""Up to 2^12 numbers share a single cell."""

_MANY = 2**19
"""Number of events from which probabilities are integrated."""

_ENDS = 1024
"""Numbers at either end whose probabilities are nevertheless added up one by one."""

_N_NODES = 24
"""Number of nodes of a panel."""


class Totals(NamedTuple):
    """Distribution of the number of events of a step."""

    numbers: Floats  # (K,), possible numbers in ascending order
    shares: Floats  # (K,), their probabilities


@dataclass(frozen=True, eq=False)
class EventMarginals:
    """Marginals of the number of events of a kind: (beta-)binomial, mixed over the total number."""

    probs: Floats  # (J, V), expected probabilities of the kinds
    totals: Totals
    concentrations: Floats | None = None  # (J,), a + b of their Beta distributions; None: known
    _tables: dict[int, list[tuple[float, EventTable | EventPanels]]] = field(
        default_factory=dict, repr=False
    )

    @property
    def means(self) -> Floats:
        numbers, shares = self.totals
        return np.asarray(self.probs * (shares @ numbers))

    @property
    def variances(self) -> Floats:
        """Variances, by the law of total variance."""
        numbers, shares = self.totals
        mean, square = shares @ numbers, shares @ numbers**2
        spread = np.full((len(self.probs), 1), mean)
        if self.concentrations is not None:
            # A beta-binomial count has n p (1 - p) (c + n) / (c + 1).
            c = self.concentrations[:, np.newaxis]
            spread = (mean * c + square) / (c + 1.0)
        return self.probs * (1.0 - self.probs) * spread + self.probs**2 * (square - mean**2)

    def parameters(self, column: int) -> Floats:
        if self.concentrations is None:
            return self.probs[:, [column]]
        return np.column_stack([self.probs[:, column], self.concentrations])

    def take(self, states: NDArray[np.intp]) -> Self:
        c = self.concentrations
        c = None if c is None else c[states]
        return replace(self, probs=self.probs[states], concentrations=c, _tables={})

    def is_discrete(self, column: int) -> bool:
        return True

    def cdf(self, x: Floats, column: int) -> Floats:
        """Return P(X <= x), (..., J), for integers x, up to rounding errors of about 1e-13."""
        if column not in self._tables:
            self._tables[column] = self._make_tables(column)
        return np.asarray(sum(share * table.cdf(x) for share, table in self._tables[column]))

    def _make_tables(self, column: int) -> list[tuple[float, EventTable | EventPanels]]:
        """Return the shares and distributions of few and of many events."""
        tables: list[tuple[float, EventTable | EventPanels]] = []
        is_large = self.totals.numbers >= _MANY
        for kind, chosen in ((EventTable, ~is_large), (EventPanels, is_large)):
            share = float(self.totals.shares[chosen].sum())
            if share > 0.0:
                totals = Totals(self.totals.numbers[chosen], self.totals.shares[chosen] / share)
                chances = EventChances(self.probs[:, column], totals, self.concentrations)
                tables.append((share, kind(chances)))
        return tables


class EventChances:
    """Probabilities of the numbers of events of a kind, given the total numbers of events."""

    def __init__(self, probs: Floats, totals: Totals, concentrations: Floats | None):
        self.numbers, self.shares = totals.numbers.astype(np.int64), np.array(totals.shares)
        self.probs, self.is_learned = probs, concentrations is not None
        self.shapes = np.stack([probs, 1.0 - probs])
        if concentrations is not None:
            self.shapes = np.maximum(self.shapes * concentrations, _SMALLEST)
        self.modes = self._find_modes()

    def _find_modes(self) -> Places:
        """Return the most probable numbers, (K, J); 0 if both ends are modes."""
        n = self.numbers[:, np.newaxis]
        if self.is_learned:
            a, b = self.shapes
            inner = (n * (a - 1.0) - (b - 1.0)) / np.where(a + b > 2.0, a + b - 2.0, 1.0) + 1.0
            modes = np.where(a <= 1.0, 0.0, np.where(b <= 1.0, n, inner))
        else:
            modes = n * self.probs
        return np.clip(np.floor(modes), 0.0, n).astype(np.int64)

    def logs(self, k: Floats, n: Floats, states: Any = slice(None)) -> Floats:
        """Return log probabilities of k of n events; away from the ends, k need not be integer."""
        if self.is_learned:
            return _log_beta_binomial(k, n, *self.shapes[:, states])
        return _log_binomial(k, n, self.probs[states])

    def add(self, table: Floats, first: int, last: int, shift: int, i: Any = slice(None)) -> None:
        """Add the probabilities of numbers of events, 2^shift numbers per row, for totals `i`."""
        numbers = self.numbers[i]
        n = numbers[:, np.newaxis]
        starts = np.clip(self.modes[i], first, np.minimum(n, last))
        shares = np.where(n >= first, self.shares[i][:, np.newaxis], 0.0)
        logs = self.logs(starts.astype(np.float64), n.astype(np.float64))
        kernels.add_numbers_of_events(
            numbers, starts, shares * np.exp(logs), *self.shapes, float(self.is_learned), first,
            last, shift, table,
        )  # fmt: skip


class EventTable:
    """Cumulative probabilities of the numbers of events, stored before cells of many numbers."""

    def __init__(self, chances: EventChances):
        self._chances = chances
        self._last = int(chances.numbers[-1])
        self._shift = max(_SMALLEST_SHIFT, (self._last.bit_length() + 1) // 2)
        self._before = np.zeros(((self._last >> self._shift) + 1, len(chances.probs)))
        if len(self._before) > 1:
            table = np.zeros_like(self._before)
            chances.add(table, 0, self._last, self._shift)
            np.cumsum(table[:-1], axis=0, out=self._before[1:])
        self._cells: dict[int, Floats] = {}

    def cdf(self, x: Floats) -> Floats:
        """Return P(X <= x), (..., J), for integers x."""
        ends = np.clip(x, -1.0, self._last).astype(np.int64) + 1  # number of terms in the sum
        out = self._before[np.minimum(ends >> self._shift, len(self._before) - 1)]
        out[ends > self._last] = 1.0
        within = ends & ((1 << self._shift) - 1)
        inside = (within > 0) & (ends <= self._last)
        cells = ends >> self._shift
        for cell in np.unique(cells[inside]).tolist():
            own = inside & (cells == cell)
            out[own] += self._cell(cell)[within[own] - 1]
        return np.minimum(out, 1.0)

    def _cell(self, cell: int) -> Floats:
        """Return the cumulative probabilities within a cell."""
        if cell not in self._cells:
            first = cell << self._shift
            last = min(first + (1 << self._shift) - 1, self._last)
            table = np.zeros((last - first + 1, len(self._chances.probs)))
            self._chances.add(table, first, last, 0)
            self._cells[cell] = np.cumsum(table, axis=0)
        return self._cells[cell]


class EventPanels:
    """Cumulative probabilities of the numbers of events of a kind, given many events."""

    def __init__(self, chances: EventChances):
        # By the Euler-Maclaurin formula, sums of f over successive integers are integrals of
        # f - D^2 f / 24 + 7 D^4 f / 5760 between half-integers. In each panel f is the polynomial
        # through its values at Chebyshev nodes. Near both ends, where f changes more from one
        # integer to the next, f is added up one by one.
        self._numbers = chances.numbers
        shape = len(chances.probs)
        head = np.zeros((_ENDS, shape))
        chances.add(head, 0, _ENDS - 1, 0)
        self._head = np.cumsum(head, axis=0)
        self._tails = np.zeros((len(self._numbers), _ENDS, shape))
        for i, last in enumerate(self._numbers.tolist()):
            chances.add(self._tails[i], last - _ENDS + 1, last, 0, [i])
        np.cumsum(self._tails, axis=1, out=self._tails)
        self._edges = self._find_edges(chances)
        self._before, self._coefs = self._integrate(chances)

    @staticmethod
    def _find_edges(chances: EventChances) -> Floats:
        """Return the edges of panels, (K, J, panels + 1)."""
        edges = np.full((*chances.modes.shape, kernels.MOST_PANELS + 2), np.inf)
        for i, j in np.ndindex(chances.modes.shape):
            n = float(chances.numbers[i])
            low, high = _ENDS - 0.5, n - _ENDS + 0.5
            start = min(max(float(chances.modes[i, j]), low), high)
            kernels.find_panels(
                n, start, low, high, *chances.shapes[:, j], float(chances.is_learned), edges[i, j]
            )
        n_edges = int(np.isfinite(edges).sum(axis=2).max())
        return np.ascontiguousarray(edges[:, :, : n_edges + 1])

    def _integrate(self, chances: EventChances) -> tuple[Floats, Floats]:
        """Return the sums before each panel, and the series of the sums within panels."""
        edges = self._edges
        shape = (*edges.shape[:2], edges.shape[2] - 1)
        before, coefs = np.zeros(shape), np.zeros((*shape, _N_NODES + 1))
        nodes, integral, second, fourth = _integrals()
        for i, share in enumerate(chances.shares):
            j, p = np.nonzero(np.isfinite(edges[i, :, 1:]))
            half = 0.5 * (edges[i, j, p + 1] - edges[i, j, p])
            k = edges[i, j, p] + half * (1.0 + nodes)
            n = np.full(1, float(self._numbers[i]))
            values = share * np.exp(chances.logs(k, n, j))
            sums = integral @ values * half
            sums += fourth @ values * (7.0 / 5760.0 / half**3) - second @ values / (24.0 * half)
            coefs[i, j, p] = sums.T
            totals = np.zeros(shape[1:])
            totals[j, p] = sums.sum(axis=0)  # Chebyshev polynomials are 1 at the right end
            before[i, :, 1:] = np.cumsum(totals[:, :-1], axis=1)
        return before, coefs

    def cdf(self, x: Floats) -> Floats:
        """Return P(X <= x), (..., J), for integers x."""
        numbers = np.ravel(x)
        out = np.zeros((len(numbers), self._head.shape[1]))
        kernels.add_panels(numbers, self._edges, self._before, self._coefs, out)
        inside = numbers >= 0.0
        out[inside] += self._head[np.minimum(numbers[inside], _ENDS - 1).astype(np.int64)]
        for n, tail in zip(self._numbers.tolist(), self._tails, strict=True):
            places = np.minimum(numbers - (n - _ENDS + 1), _ENDS - 1)
            near = places >= 0.0
            out[near] += tail[places[near].astype(np.int64)]
        out[numbers >= self._numbers[-1]] = 1.0
        return np.minimum(out, 1.0).reshape(*np.shape(x), -1)


def _integrals() -> tuple[Floats, Floats, Floats, Floats]:
    """Return Chebyshev nodes, (nodes, 1), and matrices from values there to series."""
    # The series are integrals from -1 of the polynomial and of its second and fourth derivatives.
    orders = np.arange(_N_NODES)
    angles = np.pi * (orders + 0.5) / _N_NODES
    to_series = np.cos(np.outer(orders, angles)) * (2.0 / _N_NODES)
    to_series[0] *= 0.5
    found = []
    for derivative in (0, 2, 4):
        integral = chebint(chebder(np.eye(_N_NODES), derivative), lbnd=-1)
        rows = np.zeros((_N_NODES + 1, _N_NODES))
        rows[: len(integral)] = integral
        found.append(rows @ to_series)
    return np.cos(angles)[:, np.newaxis], *found


def _log_binomial(k: Floats, n: Floats, p: Floats) -> Floats:
    """Return binomial log probabilities of k of n events, by Loader's (2000) method."""
    hits, others = np.maximum(k, 1.0), np.maximum(n - k, 1.0)
    result = stirling_rest(np.maximum(n, 1.0)) - stirling_rest(hits) - stirling_rest(others)
    with np.errstate(divide="ignore", invalid="ignore"):
        for x, mean in ((hits, n * p), (others, n * (1.0 - p))):
            result = result - x * log_deviation((mean - x) / x, mean / x)
        result = result + 0.5 * np.log(n / (2.0 * np.pi * hits * others))
    result = np.where(k == n, xlogy(n, p), result)
    return np.asarray(np.where(k == 0.0, xlog1py(n, -p), result))


def _log_beta_binomial(k: Floats, n: Floats, a: Floats, b: Floats) -> Floats:
    """Return log probabilities of k of n events, whose probability is ~ Beta(a, b)."""
    # The sum of two negative binomial counts with the same odds is negative binomial, too.
    odds = np.maximum(n, 1.0) / (a + b)
    result = log_negative_binomial(k, a * odds, a) + log_negative_binomial(n - k, b * odds, b)
    return np.asarray(result - log_negative_binomial(n, (a + b) * odds, a + b))


# The emission, its sampler and its model.

_N_TOTALS = 100
"""Largest number of distinct totals of events per step that are stored."""

_CONCENTRATIONS = 1e-3, 1e8
"""Range of concentrations of rows."""

_FOR_MIXTURES = (
    "MultinomialEmission(row_concentration=...) is for mixtures of rows, such as DPMixture; for "
    "sequences, leave row_concentration=None."
)

_FIRST = 10.0
"""First value of a drawn concentration of rows."""


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
    row_concentration : "auto", float or None, default=None
        For mixtures of rows, how close rows are to their component (see Notes): a number b from
        1e-3 to 1e8, or "auto", and b is drawn. None: rows do not vary, b is infinite.

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

    Events often come in bursts: a word that is in a text is likely to recur there. With
    `row_concentration`, each row has its own probabilities,

    .. math::

        x_t \sim \mathrm{Multinomial}(n_t, \psi_t), \quad
        \psi_t \sim \mathrm{Dirichlet}(b\, \theta_j)

    so that two events of a row are of the same kind with probability 1 / (b + 1) for this reason
    alone; this number is uniform a priori, and b is drawn once a sweep. All psi and theta are
    integrated out, given how many events of each kind in each row are draws from theta_j, the
    others being repetitions. These numbers are drawn once a sweep, event by event. `trace_` has b
    as ``emission_row_concentration``, and a log joint of these numbers, too. Scores and
    probabilities are exact: the numbers of a new row are summed out, in time in proportion to the
    square of its repetitions. `explain` and `to_arviz` are not available, nor are sequences:
    `HDPHMMLT` raises a TypeError.

    References
    ----------
    C. Elkan (2006). Clustering documents with an exponential-family approximation of the Dirichlet
    compound multinomial distribution. Proceedings of the 23rd International Conference on Machine
    Learning.
    """

    allows_nan = True
    """NaN is a missing value."""

    allows_sparse = True
    """A mixture of rows takes sparse X."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "prior": [Interval(Real, SMALLEST, LARGEST, closed="both"), "array-like"],
        "row_concentration": [
            StrOptions({"auto"}), Interval(Real, *_CONCENTRATIONS, closed="both"), None
        ],
    }  # fmt: skip

    def __init__(
        self, prior: float | ArrayLike = 0.1, row_concentration: str | float | None = None
    ):
        self._store(locals())

    def _make_sampler_of(self, data: Observations, n_states: int) -> MultinomialSampler:
        n_kinds = data.n_features
        words = f"a positive number or {n_kinds} of them, one per column,"
        prior = read_shapes(self, self.prior, n_kinds, words)
        known = n_states, np.full(n_kinds, prior), summarize(data)
        if self.row_concentration is None:
            return MultinomialSampler(*known)
        if n_states > 1:  # a mixture has one state, of which it makes clusters
            raise TypeError(_FOR_MIXTURES)
        if isinstance(self.row_concentration, str):
            return CompoundSampler(*known, _FIRST, is_drawn=True)
        return CompoundSampler(*known, self.row_concentration, is_drawn=False)


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


def count_totals(values: Floats | SparseRows) -> tuple[list[float], list[int]]:
    """Return the distinct numbers of events of observed steps, and their frequencies."""
    if isinstance(values, SparseRows):
        totals = values.table.sum(axis=1)
    else:
        totals = values[~np.isnan(values).any(axis=1)].sum(axis=1)
    numbers, counts = np.unique(totals, return_counts=True)
    return numbers.tolist(), counts.tolist()


class CountEvents(NamedTuple):
    """Nonzero counts of all steps: see `_kernels/_discrete`."""

    ptr: Places
    kinds: Ints
    amounts: Floats
    log_coefficients: Floats

    @classmethod
    def of(cls, ptr: Places, kinds: NDArray[Any], amounts: Floats) -> CountEvents:
        """Return events with the multinomial coefficients of their steps."""
        events = cls(ptr, kinds.astype(np.int32), amounts, np.empty(0))
        logs = gammaln(events.sum(amounts) + 1.0) - events.sum(gammaln(amounts + 1.0))
        return events._replace(log_coefficients=logs)

    def find(self, steps: Places) -> tuple[Places, Places]:
        """Return the offsets and the places of the events of some steps."""
        lengths = np.diff(self.ptr)[steps]
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        return ptr, np.arange(ptr[-1]) + np.repeat(self.ptr[steps] - ptr[:-1], lengths)

    @property
    def steps(self) -> Places:
        """Step of each event."""
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))

    def sum(self, values: Floats) -> Floats:
        """Return the sums of values of the events of each step."""
        return np.asarray(np.bincount(self.steps, values, len(self.ptr) - 1), dtype=np.float64)

    def take(self, steps: Places) -> CountEvents:
        """Return the events of some steps."""
        ptr, places = self.find(steps)
        return CountEvents(
            ptr, self.kinds[places], self.amounts[places], self.log_coefficients[steps]
        )


def list_events(values: Floats | SparseRows) -> CountEvents:
    """Return the events of each step, none for missing steps, or raise a ValueError."""
    if isinstance(values, SparseRows):
        ptr, kinds, amounts = values.arrays
        wrong = ~((amounts >= 0.0) & (amounts == np.floor(amounts)) & (amounts <= MOST))
        refuse_stored(wrong, values, f"X must hold counts, integers from 0 to {MOST:g}")
        return CountEvents.of(ptr, kinds, amounts)
    missing = np.isnan(values)
    absent = missing.all(axis=1)
    in_part = missing.any(axis=1) & ~absent
    if in_part.any():
        t = int(np.argmax(in_part))
        raise ValueError(
            "X must hold whole rows of counts, or rows of NaN for missing steps; got a row missing "
            f"in part in row {t}, counted through all samples, column "
            f"{int(np.argmax(missing[t]))}: its number of events is unknown."
        )
    wrong = ~missing & ~((values >= 0.0) & (values == np.floor(values)) & (values <= MOST))
    rule = f"X must hold counts, integers from 0 to {MOST:g}, or rows of NaN for missing steps; "
    refuse_cells(wrong, values, rule + "got {value} in {place}.")
    steps, kinds = np.nonzero((values > 0.0) & ~missing)
    ptr = np.searchsorted(steps, np.arange(len(values) + 1))
    return CountEvents.of(ptr, kinds, values[steps, kinds])


class MultinomialSampler(DirichletSampler):
    """Sampler of the probabilities of kinds of events in all states."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_events", "_all_coefficients")

    def __init__(self, n_states: int, prior: Floats, totals: Totals):
        self.prior = prior
        self.totals = totals
        self.counts = np.zeros((len(prior), n_states), dtype=np.int64)
        self.log_probs = np.empty(self.counts.shape)
        self._log_coefficients = np.zeros(3, dtype=np.int64)

    def of_states(self, n_states: int) -> MultinomialSampler:
        return MultinomialSampler(n_states, self.prior, self.totals)

    def attach(self, values: Floats | SparseRows) -> None:
        self._take_events(list_events(values))

    def _take_events(self, events: CountEvents) -> None:
        self._events = events
        self._all_coefficients = sum_exactly(events.log_coefficients)

    def restrict(self, steps: Places, n_states: int) -> MultinomialSampler:
        other = self.of_states(n_states)
        other._take_events(self._events.take(steps))
        return other

    def add_up(self, states: Places, measured: int) -> tuple[Places, Places]:
        """Return the number of events by kind and state, (V, J), and sums of coefficients."""
        ptr, kinds, amounts, log_coefficients = self._events
        counts = np.empty_like(self.counts)
        kernels.count_events(ptr, kinds, amounts, states, counts)
        known = states >= 0
        if known.all():
            return counts, self._all_coefficients
        return counts, sum_exactly(log_coefficients[known])

    def take(self, measured: int, sums: tuple[Places, ...]) -> None:
        self.counts, self._log_coefficients = sums

    def write_log_predictive(self, out: Floats) -> None:
        """Write the log probabilities of all steps at the expected probabilities of each state."""
        shapes = self.counts + self.prior[:, np.newaxis]
        kernels.weigh_events(*self._events, np.log(shapes / shapes.sum(axis=0)), out)

    def write_log_obs(self, out: Floats) -> None:
        kernels.weigh_events(*self._events, self.log_probs, out)

    def log_evidence(self) -> float:
        events = kernels.log_evidence_of_symbols(self.counts, self.prior)
        return float(events) + round_sum(self._log_coefficients)

    def model(self) -> MultinomialModel:
        shapes = self.counts.T + self.prior
        concentrations = shapes.sum(axis=1)
        return MultinomialModel(shapes / concentrations[:, np.newaxis], self.totals, concentrations)

    def cluster_terms(self) -> ClusterTerms:
        ptr, kinds, amounts, log_coefficients = self._events
        return count_terms((ptr, kinds, amounts), log_coefficients, self.prior)

    def known_model(self, parameters: tuple[Floats, ...]) -> MultinomialModel:
        return MultinomialModel(np.exp(parameters[0]), self.totals)


class CompoundSampler(MultinomialSampler):
    """Sampler of mixtures whose rows have their own probabilities, psi ~ Dirichlet(b theta)."""

    # Of the events of a kind in a row, `_tables` are draws from theta, the others repeat them.

    draws_tables = True
    _data_attributes: ClassVar[tuple[str, ...]] = (*MultinomialSampler._data_attributes, "_sizes")

    def __init__(
        self, n_states: int, prior: Floats, totals: Totals, concentration: float, *, is_drawn: bool
    ):
        super().__init__(n_states, prior, totals)
        self.concentration, self.is_drawn = concentration, is_drawn
        self._constant = 0.0
        self._tables = self._log_joined = np.empty(0)

    def of_states(self, n_states: int) -> CompoundSampler:
        """Return a sampler without observations, whose concentration is fixed at the present."""
        known = n_states, self.prior, self.totals, self.concentration
        return CompoundSampler(*known, is_drawn=False)

    def _take_events(self, events: CountEvents) -> None:
        super()._take_events(events)
        self._sizes = events.sum(events.amounts)
        if len(self._tables) != len(events.kinds):  # else the chain continues
            self._tables, self._log_joined = np.ones(len(events.kinds)), gammaln(events.amounts)

    def restrict(self, steps: Places, n_states: int) -> CompoundSampler:
        """Return a sampler for some of the observations, with their tables."""
        other: Any = super().restrict(steps, n_states)
        _, places = self._events.find(steps)
        other._tables, other._log_joined = self._tables[places], self._log_joined[places]
        return other

    def _constants(self) -> Floats:
        """Return the terms of the log probability of each row that all states share, (N,)."""
        b, n = self.concentration, self._sizes
        logs = self._events.sum(self._tables * np.log(b) + self._log_joined)
        return self._events.log_coefficients + logs - log_rising(np.asarray(b), n)

    def condition(self, states: Places) -> None:
        ptr, kinds, _, _ = self._events
        self._states = states
        kernels.count_events(ptr, kinds, self._tables, states, self.counts)
        self._constant = float(self._constants()[states >= 0].sum())

    def log_evidence(self) -> float:
        """Return log p(x, tables | z), plus the log density of log b if b is drawn."""
        result = float(kernels.log_evidence_of_symbols(self.counts, self.prior)) + self._constant
        b = self.concentration
        return result + np.log(b) - 2.0 * np.log1p(b) if self.is_drawn else result

    def draw_shared(self, labels: Places, n_clusters: int, rng: Stream) -> None:
        """Draw the tables and the concentration given the clusters of the rows."""
        given = self.restrict(np.arange(len(labels)), n_clusters)
        given.condition(labels)
        self.draw_shared_given(given, rng)

    def draw_shared_given(self, clusters: CompoundSampler, rng: Stream) -> None:
        """Draw the same given a sampler with the clusters of the rows."""
        MultinomialSampler.draw_parameters(clusters, rng)
        ptr, kinds, amounts, _ = self._events
        self._tables, self._log_joined = np.empty((2, len(kinds)))
        kernels.draw_tables(
            ptr, kinds, amounts, clusters._states, clusters.log_probs, self.concentration,
            self._tables, self._log_joined, rng,
        )  # fmt: skip
        if self.is_drawn:
            numbers, counts = np.unique(self._sizes, return_counts=True)
            n_tables = self._tables.sum()

            def log_density(log_b: float) -> float:
                if not low <= log_b <= high:
                    return -np.inf
                b = np.exp(log_b)
                rising = counts @ log_rising(b, numbers)
                return float((n_tables + 1.0) * log_b - rising - 2.0 * np.log1p(b))

            low, high = np.log(_CONCENTRATIONS)
            self.concentration = float(
                np.exp(draw_slice(log_density, np.log(self.concentration), rng))
            )
        self.prior = self.prior.copy()  # a new object: the rows have other tables

    def scalars(self) -> dict[str, float]:
        return {"emission_row_concentration": self.concentration} if self.is_drawn else {}

    def draw_parameters(self, rng: Stream) -> None:
        """Raise a TypeError: tables are drawn given clusters of rows only."""
        raise TypeError(_FOR_MIXTURES)

    def model(self) -> MultinomialModel:
        return replace(super().model(), row_concentration=self.concentration)

    def cluster_terms(self) -> ClusterTerms:
        ptr, kinds, _, _ = self._events
        return count_terms((ptr, kinds, self._tables), self._constants(), self.prior)


@dataclass(frozen=True, eq=False)
class MultinomialModel(StatesMixin):
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
    row_concentration : float or None, default=None
        b, if rows have their own probabilities, ~ Dirichlet(b theta).
    """

    probs: Floats
    totals: Totals
    concentrations: Floats | None = None
    row_concentration: float | None = None

    @property
    def emissionprob_(self) -> Floats:
        """(J, V) read-only array: `probs` under hmmlearn's name."""
        return as_readonly(self.probs)

    def log_obs(self, values: Floats | SparseRows) -> Floats:
        """Return the log probability of every row given its sum in every state, (N, J)."""
        events = list_events(values)
        out = np.empty((len(values), len(self.probs)))
        if self.concentrations is None:
            with np.errstate(divide="ignore"):
                kernels.weigh_events(*events, np.log(self.probs.T), out)
            return out
        if self.row_concentration is not None:
            sizes = events.sum(events.amounts)
            shapes = np.ascontiguousarray((self.probs * self.concentrations[:, np.newaxis]).T)
            kernels.weigh_compound_rows(
                *events, sizes, self.row_concentration, shapes, self.concentrations,
                np.empty((3, int(sizes.max(initial=0.0)) + 2)), out,
            )  # fmt: skip
            return out
        out[:] = events.log_coefficients[:, np.newaxis]
        totals = events.sum(events.amounts)
        _add_rising(out, np.arange(len(values)), totals, self.concentrations, -1.0)
        shapes = self.probs * self.concentrations[:, np.newaxis]
        order = np.argsort(events.kinds, kind="stable")
        ends = np.cumsum(np.bincount(events.kinds, minlength=self.probs.shape[1]))
        steps = events.steps
        for v, own in enumerate(np.split(order, ends[:-1])):
            _add_rising(out, steps[own], events.amounts[own], shapes[:, v], 1.0)
        return out

    def sample(self, states: Places, rng: np.random.Generator) -> Floats:
        """Return a row for each state, (N, V), with a number of events like those in `fit`."""
        totals = rng.choice(self.totals.numbers, len(states), p=self.totals.shares).astype(int)
        probs = self.probs[states]
        if self.concentrations is not None:
            probs = _draw_dirichlet(probs * self.concentrations[states, np.newaxis], rng)
        if self.row_concentration is not None:
            probs = _draw_dirichlet(probs * self.row_concentration, rng)
        return rng.multinomial(totals, probs).astype(np.float64)

    def marginals(self) -> EventMarginals:
        """Return the distributions of single columns of the next observation."""
        if self.row_concentration is not None:
            raise TypeError(
                "MultinomialEmission(row_concentration=...): distributions of single columns, "
                "which `explain` needs, are not available."
            )
        return EventMarginals(self.probs, self.totals, self.concentrations)

    def fill(self, values: Floats, weights: Floats) -> Floats:
        """Return observations, (N, D), with missing rows replaced by their means."""
        means = self.probs * (self.totals.shares @ self.totals.numbers)
        return fill_by_means(values, weights, means)


def _draw_dirichlet(shapes: Floats, rng: np.random.Generator) -> Floats:
    """Return a draw for each row of Dirichlet parameters."""
    # Draws are in logarithms, because all shapes of a row may be tiny.
    logs = np.log(rng.standard_gamma(shapes + 1.0))
    logs -= rng.standard_exponential(shapes.shape) / np.maximum(shapes, 1e-300)
    probs = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(probs / probs.sum(axis=1, keepdims=True))


def _add_rising(
    out: Floats, steps: Places, counts: NDArray[Any], shapes: Floats, sign: float
) -> None:
    """Add sign times `log_rising` of counts at some steps, each at most once, in all states."""
    numbers, places = np.unique(counts, return_inverse=True)
    table = np.empty((len(numbers), len(shapes)))
    for i in range(0, len(numbers), BLOCK):
        table[i : i + BLOCK] = sign * log_rising(shapes, numbers[i : i + BLOCK, np.newaxis])
    for i in range(0, len(steps), BLOCK):
        out[steps[i : i + BLOCK]] += table[places[i : i + BLOCK]]
