"""What the evidence of clusters of tables and of their unions depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import gammaln

from skdp._numeric._typing import Floats, Places
from skdp.emissions._cells._terms import CellPrior, CellRows


class CellSummary(NamedTuple):
    """Sums over the observed cells of each cluster, weighted by the powers of rows."""

    sizes: Floats  # (K,), rows, regardless of their powers
    numbers: Floats  # (K, P), sums of powers of normal columns
    means: Floats  # (K, P)
    scatters: Floats  # (K, P), sums of squares around the means
    count_numbers: Floats  # (K, Q), sums of powers of columns of counts
    sums: Floats  # (K, Q), of counts
    symbols: Floats  # (K, V), numbers of all symbols
    prior: CellPrior

    @classmethod
    def of_rows(cls, rows: CellRows, labels: Places, prior: CellPrior) -> Self:
        """Summarize the clusters of rows."""
        sizes = np.bincount(labels).astype(np.float64)
        n, powers = len(sizes), rows.powers if len(rows.powers) else np.ones(len(labels))
        numbers = np.zeros((n, len(prior.centers)))
        means, scatters = numbers.copy(), numbers.copy()
        for d, column in enumerate(rows.values.T):
            seen = ~np.isnan(column)
            x, z, w = column[seen], labels[seen], powers[seen]
            numbers[:, d] = np.bincount(z, w, n)
            means[:, d] = np.bincount(z, w * x, n) / np.where(numbers[:, d] > 0, numbers[:, d], 1.0)
            scatters[:, d] = np.bincount(z, w * (x - means[z, d]) ** 2, n)
        count_numbers = np.zeros((n, len(prior.shapes)))
        sums = count_numbers.copy()
        for d, column in enumerate(rows.amounts.T):
            seen = ~np.isnan(column)
            count_numbers[:, d] = np.bincount(labels[seen], powers[seen], n)
            sums[:, d] = np.bincount(labels[seen], powers[seen] * column[seen], n)
        symbols = np.zeros((n, len(prior.weights)))
        for codes in rows.codes.T:
            seen = codes >= 0
            np.add.at(symbols, (labels[seen], codes[seen]), powers[seen])
        return cls(sizes, numbers, means, scatters, count_numbers, sums, symbols, prior)

    @property
    def arrays(self) -> list[Floats]:
        """The arrays, whose first axis is that of clusters."""
        return list(self[:-1])

    def joined(self, a: int, others: Places) -> Self:
        """Return the unions of cluster `a` and each of the others."""
        numbers = self.numbers[a] + self.numbers[others]
        share = self.numbers[others] / np.where(numbers > 0.0, numbers, 1.0)
        apart = self.means[others] - self.means[a]
        scatters = self.scatters[a] + self.scatters[others]
        return self._replace(
            sizes=self.sizes[a] + self.sizes[others],
            numbers=numbers,
            means=self.means[a] + share * apart,
            scatters=scatters + self.numbers[a] * share * apart**2,
            count_numbers=self.count_numbers[a] + self.count_numbers[others],
            sums=self.sums[a] + self.sums[others],
            symbols=self.symbols[a] + self.symbols[others],
        )

    def log_evidence(self) -> Floats:
        """Return the log evidence of each cluster, (K,)."""
        prior, n = self.prior, self.numbers
        c, dof = prior.precisions, prior.dofs
        spreads = prior.spreads + self.scatters
        spreads = spreads + c * n / (c + n) * (self.means - prior.centers) ** 2
        result = gammaln(0.5 * (dof + n)) - gammaln(0.5 * dof) + 0.5 * np.log(c / (c + n))
        result += 0.5 * dof * np.log(prior.spreads) - 0.5 * (dof + n) * np.log(spreads)
        logs = (result - 0.5 * n * np.log(np.pi)).sum(axis=1)
        shapes, rates = prior.shapes + self.sums, prior.rates + self.count_numbers
        result = gammaln(shapes) - gammaln(prior.shapes) - shapes * np.log(rates)
        logs += (result + prior.shapes * np.log(prior.rates)).sum(axis=1)
        weights = prior.weights + self.symbols
        logs += (gammaln(weights) - gammaln(prior.weights)).sum(axis=1)
        for begin, end, total in zip(prior.ptr[:-1], prior.ptr[1:], prior.totals, strict=True):
            logs += gammaln(total) - gammaln(weights[:, begin:end].sum(axis=1))
        return np.asarray(logs)


@dataclass(frozen=True, eq=False)
class PartSummary:
    """Summaries of all parts of a table."""

    sizes: Floats  # (K,)
    parts: list[Any]

    @property
    def arrays(self) -> list[Floats]:
        """The arrays, whose first axis is that of clusters."""
        return [array for part in self.parts for array in part.arrays]

    def joined(self, a: int, others: Places) -> PartSummary:
        """Return the unions of cluster `a` and each of the others."""
        parts = [part.joined(a, others) for part in self.parts]
        return PartSummary(parts[0].sizes, parts)

    def log_evidence(self) -> Floats:
        """Return the log evidence of each cluster, (K,)."""
        return np.asarray(sum(part.log_evidence() for part in self.parts))
