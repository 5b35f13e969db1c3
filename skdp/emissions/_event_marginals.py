"""Numbers of events of single kinds, where the number of all events has a distribution."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from skdp._typing import Floats
from skdp.emissions import _kernels_event_marginals as kernels
from skdp.emissions._poisson import log_deviation, log_negative_binomial, stirling_rest

_SMALLEST = 1e-300

_SMALLEST_SHIFT = 12
"""Up to 2^12 numbers are a single cell."""


class Totals(NamedTuple):
    """Distribution of the number of events of a step.

    Attributes
    ----------
    numbers : (K,) array
        Ascending.
    shares : (K,) array
        Their probabilities.
    """

    numbers: Floats
    shares: Floats


def log_rising(shapes: Floats, counts: Floats) -> Floats:
    """Return log Gamma(a + x) - log Gamma(a), of broadcast arrays, for x >= 0.

    By Stirling's formula and what that leaves: the difference of two large terms would lose digits.
    """
    sums = shapes + counts
    result = (shapes - 0.5) * np.log1p(counts / shapes) + counts * (np.log(sums) - 1.0)
    return np.asarray(result + stirling_rest(sums) - stirling_rest(shapes))


@dataclass(frozen=True, eq=False)
class EventMarginals:
    """Numbers of events of a kind: (beta-)binomial, mixed over the number of all events.

    Attributes
    ----------
    probs : (J, V) array
        Expected probabilities of the kinds.
    totals : Totals
    concentrations : (J,) array or None
        a + b of the Beta distributions of the probabilities; None: these are known.
    """

    probs: Floats
    totals: Totals
    concentrations: Floats | None = None
    _tables: dict[int, EventTable] = field(default_factory=dict, repr=False)

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
        """Return what tells the states' distributions of a column apart."""
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
        """Return P(X <= x), (..., J), for integers x.

        Probabilities are added up one by one, where there are any: time grows with the number of
        events, the room that it takes hardly. Sums are exact but for rounding, about 1e-13.
        """
        if column not in self._tables:
            self._tables[column] = EventTable(
                self.probs[:, column], self.totals, self.concentrations
            )
        return self._tables[column].cdf(x)


class EventTable:
    """Cumulative probabilities of the numbers of events of a kind.

    There may be millions of numbers. They are cut into cells; what lies before each cell is known,
    and what is within one is added up when it is asked for.

    Parameters
    ----------
    probs : (J,) array
        Expected probabilities of the kind.
    totals : Totals
    concentrations : (J,) array or None
    """

    def __init__(self, probs: Floats, totals: Totals, concentrations: Floats | None):
        self._numbers, self._shares = totals.numbers.astype(np.int64), np.array(totals.shares)
        self._probs, self._concentrations = probs, concentrations
        if concentrations is None:
            self._shapes = np.stack([probs, 1.0 - probs])
        else:
            self._shapes = np.maximum(np.stack([probs, 1.0 - probs]) * concentrations, _SMALLEST)
        self._modes = self._find_modes()
        self._last = int(self._numbers[-1])
        self._shift = max(_SMALLEST_SHIFT, (self._last.bit_length() + 1) // 2)
        self._before = np.zeros(((self._last >> self._shift) + 1, len(probs)))
        if len(self._before) > 1:
            table = np.zeros_like(self._before)
            self._add(table, 0, self._last, self._shift)
            np.cumsum(table[:-1], axis=0, out=self._before[1:])
        self._cells: dict[int, Floats] = {}

    def cdf(self, x: Floats) -> Floats:
        """Return P(X <= x), (..., J), for integers x."""
        ends = np.clip(x, -1.0, self._last).astype(np.int64) + 1  # how many numbers count
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
            table = np.zeros((last - first + 1, len(self._probs)))
            self._add(table, first, last, 0)
            self._cells[cell] = np.cumsum(table, axis=0)
        return self._cells[cell]

    def _find_modes(self) -> NDArray[np.int64]:
        """Return the likeliest numbers, (K, J); 0 where there is one at either end."""
        n = self._numbers[:, np.newaxis]
        if self._concentrations is None:
            modes = n * self._probs
        else:
            a, b = self._shapes
            inner = (n * (a - 1.0) - (b - 1.0)) / np.maximum(a + b - 2.0, _SMALLEST) + 1.0
            modes = np.where(a <= 1.0, 0.0, np.where(b <= 1.0, n, inner))
        return np.clip(np.floor(modes), 0.0, n).astype(np.int64)

    def _add(self, table: Floats, first: int, last: int, shift: int) -> None:
        """Add the probabilities of the numbers from `first` to `last`, 2^shift of them a row."""
        n = self._numbers[:, np.newaxis]
        starts = np.clip(self._modes, first, np.minimum(n, last))
        shares = np.where(n >= first, self._shares[:, np.newaxis], 0.0)
        k, whole = starts.astype(np.float64), n.astype(np.float64)
        if self._concentrations is None:
            logs = _log_binomial(k, whole, self._probs)
        else:
            logs = _log_beta_binomial(k, whole, *self._shapes)
        kernels.add_numbers_of_events(
            self._numbers, starts, shares * np.exp(logs), *self._shapes,
            float(self._concentrations is not None), first, last, shift, table,
        )  # fmt: skip


def _log_binomial(k: Floats, n: Floats, p: Floats) -> Floats:
    """Return log probabilities of k of n events, each with probability p: Loader (2000)."""
    hits, others = np.maximum(k, 1.0), np.maximum(n - k, 1.0)
    result = stirling_rest(np.maximum(n, 1.0)) - stirling_rest(hits) - stirling_rest(others)
    with np.errstate(divide="ignore", invalid="ignore"):
        for x, mean in ((hits, n * p), (others, n * (1.0 - p))):
            result = result - x * log_deviation((mean - x) / x, mean / x)
        result = result + 0.5 * np.log(n / (2.0 * np.pi * hits * others))
    result = np.where(k == n, xlogy(n, p), result)
    return np.asarray(np.where(k == 0.0, xlog1py(n, -p), result))


def _log_beta_binomial(k: Floats, n: Floats, a: Floats, b: Floats) -> Floats:
    """Return log probabilities of k of n events, their probability ~ Beta(a, b).

    The sum of two negative binomial counts with the same odds is one, too.
    """
    odds = np.maximum(n, 1.0) / (a + b)
    result = log_negative_binomial(k, a * odds, a) + log_negative_binomial(n - k, b * odds, b)
    return np.asarray(result - log_negative_binomial(n, (a + b) * odds, a + b))
