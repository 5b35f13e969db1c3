"""Distributions of the number of events of one kind when the total number is random."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.polynomial.chebyshev import chebder, chebint
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from skdp._numeric._typing import Floats
from skdp.emissions._discrete import _kernels_event_marginals as kernels
from skdp.emissions._discrete._poisson import log_deviation, log_negative_binomial, stirling_rest

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


def log_rising(shapes: Floats, counts: Floats) -> Floats:
    """Return log Gamma(a + x) - log Gamma(a), of broadcast arrays, for x >= 0."""
    # By Stirling's formula and its remainder: a difference of large terms would lose digits.
    sums = shapes + counts
    result = (shapes - 0.5) * np.log1p(counts / shapes) + counts * (np.log(sums) - 1.0)
    return np.asarray(result + stirling_rest(sums) - stirling_rest(shapes))


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
        """Means."""
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
        """Return the parameters that identify each state's distribution of a column."""
        if self.concentrations is None:
            return self.probs[:, [column]]
        return np.column_stack([self.probs[:, column], self.concentrations])

    def take(self, states: NDArray[np.intp]) -> Self:
        """Return the distributions of some states."""
        c = self.concentrations
        c = None if c is None else c[states]
        return replace(self, probs=self.probs[states], concentrations=c, _tables={})

    def is_discrete(self, column: int) -> bool:
        """Return True."""
        return True

    def cdf(self, x: Floats, column: int) -> Floats:
        """Return P(X <= x), (..., J), for integers x, up to rounding errors of about 1e-13.
        Beyond half a million events, probabilities are integrated, in logarithmic time and memory.
        """
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

    def _find_modes(self) -> NDArray[np.int64]:
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
        """Add the probabilities of the numbers from `first` to `last`, 2^shift of them per row.
        The index i selects some of the total numbers.
        """
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
    """Return Chebyshev nodes in [-1, 1], (nodes, 1), and matrices that map values there to series.
    The series are integrals from -1 of the polynomial and of its second and fourth derivatives.
    """
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
