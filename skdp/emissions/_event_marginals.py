"""Numbers of events of single kinds, where the number of all events has a distribution."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

from skdp._typing import Floats
from skdp.emissions._poisson import stirling_rest


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
    _tables: dict[int, Floats] = field(default_factory=dict, repr=False)

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
        """Return P(X <= x), (..., J), for integers x."""
        if column not in self._tables:
            self._tables[column] = self._add_up(column)
        table = self._tables[column]
        return table[np.clip(x, -1.0, len(table) - 2.0).astype(np.int64) + 1]

    def _add_up(self, column: int) -> Floats:
        """Return P(X <= k) for k from -1 to the largest number of events, (K + 2, J)."""
        numbers = self.totals.numbers.astype(np.int64)
        k = np.arange(numbers[-1] + 1.0)
        factorials, p = gammaln(k + 1.0), self.probs[:, column]
        k = k[:, np.newaxis]
        if self.concentrations is None:
            hits, others, rest = xlogy(k, p), xlog1py(k, -p), np.zeros((len(k), 1))
        else:
            c = self.concentrations
            hits, others = log_rising(p * c, k), log_rising((1.0 - p) * c, k)
            rest = log_rising(c, k)
        table = np.zeros((len(k) + 1, len(p)))
        for n, share in zip(numbers, self.totals.shares, strict=True):
            ways = factorials[n] - factorials[: n + 1] - factorials[n::-1]
            logs = ways[:, np.newaxis] + hits[: n + 1] + others[n::-1] - rest[n]
            table[1 : n + 2] += share * np.exp(logs)
        return np.minimum(np.cumsum(table, axis=0), 1.0)
