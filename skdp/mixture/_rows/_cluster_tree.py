"""Trees of clusters: those are merged first whose rows lose the least evidence.

Symbols: K clusters, B blocks of W columns, V columns of counts. The evidence of a cluster is the
probability of its rows with its parameters integrated out; factors of single rows are left out,
because merges do not change them.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from skdp._merge_tree import MergeTree
from skdp._numeric import Floats, Places
from skdp.emissions._common._clusters import (
    AugmentedRows,
    CellPrior,
    CellRows,
    ClusterTerms,
    CountClusterPrior,
    CountRows,
    GaussianClusterPrior,
    GaussianRows,
    PartTerms,
)
from skdp.emissions._kernels._clusters import AUGMENTED, CELLS, COUNTS, GAUSSIAN

# Clusters of Gaussian rows with weights.


class AugmentedSummary(NamedTuple):
    """Sizes, masses, means and scatters of Gaussian clusters of rows with precision weights."""

    sizes: Floats  # (K,)
    masses: Floats  # (K, B), sums of weights
    means: Floats  # (K, B, W)
    scatters: Floats  # (K, B, W, W), weighted sums of squares and products around the means
    prior: GaussianClusterPrior

    @classmethod
    def of_rows(cls, rows: AugmentedRows, labels: Places, prior: GaussianClusterPrior) -> Self:
        """Summarize the clusters of rows, with their present missing values and weights."""
        n_blocks, width = prior.mean.shape
        sizes = np.bincount(labels).astype(np.float64)
        masses, means = np.empty((len(sizes), n_blocks)), np.empty((len(sizes), n_blocks, width))
        scatters = np.empty((len(sizes), n_blocks, width, width))
        for k in range(len(sizes)):
            values = rows.values[labels == k].reshape(-1, n_blocks, width)
            weights = rows.weights[labels == k][:, :, np.newaxis]
            masses[k] = weights.sum(axis=(0, 2))
            means[k] = (weights * values).sum(axis=0) / masses[k][:, np.newaxis]
            apart = (np.sqrt(weights) * (values - means[k])).transpose(1, 2, 0)
            scatters[k] = apart @ apart.transpose(0, 2, 1)
            if prior.spread is not None:
                np.einsum("bdd->bd", scatters[k])[:] += sizes[k] * prior.spread
        return cls(sizes, masses, means, scatters, prior)

    @property
    def arrays(self) -> list[Floats]:
        """The arrays, whose first axis is that of clusters."""
        return list(self[:-1])

    def joined(self, a: int, others: Places) -> Self:
        """Return the unions of cluster `a` and each of the others."""
        masses = self.masses[a] + self.masses[others]
        share = self.masses[others] / masses
        apart = self.means[others] - self.means[a]
        scatters = self.scatters[a] + self.scatters[others]
        weight = (self.masses[a] * share)[:, :, np.newaxis, np.newaxis]
        scatters += weight * apart[..., np.newaxis] * apart[..., np.newaxis, :]
        means = self.means[a] + share[:, :, np.newaxis] * apart
        sizes = self.sizes[a] + self.sizes[others]
        return self._replace(sizes=sizes, masses=masses, means=means, scatters=scatters)

    def log_evidence(self) -> Floats:
        """Return the log evidence of each cluster, (K,), without factors of single rows."""
        prior, n = self.prior, self.sizes
        n_blocks, width = prior.mean.shape
        precisions, dof = prior.precision + self.masses, prior.dof + n
        apart = self.means - prior.mean
        weight = (prior.precision * self.masses / precisions)[:, :, np.newaxis, np.newaxis]
        scales = prior.scale + self.scatters
        scales = scales + weight * apart[..., np.newaxis] * apart[..., np.newaxis, :]
        halves = 0.5 * np.arange(width)
        result = gammaln(0.5 * dof[:, np.newaxis] - halves).sum(axis=1)
        result -= gammaln(0.5 * prior.dof - halves).sum() + 0.5 * width * n * np.log(np.pi)
        result = n_blocks * result + 0.5 * width * np.log(prior.precision / precisions).sum(axis=1)
        log_dets = np.linalg.slogdet(scales)[1].sum(axis=1)
        return np.asarray(result + 0.5 * prior.dof * prior.log_det - 0.5 * dof * log_dets)


# Clusters of the rows of tables.


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
            squares = (x - means[z, d]) ** 2 + prior.resolutions[d]
            scatters[:, d] = np.bincount(z, w * squares, n)
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
        result += prior.shapes * np.log(prior.rates)
        wide = prior.dispersions > 0.0
        if wide.any():
            r, a = 1.0 / prior.dispersions[wide], prior.shapes[wide]
            others, more = r * prior.rates[wide] + 1.0, r * self.count_numbers[:, wide]
            result[:, wide] = betaln(others + more, shapes[:, wide]) - betaln(others, a)
            result[:, wide] += self.sums[:, wide] * np.log(r)
        logs += result.sum(axis=1)
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


# Clusters of Gaussian rows and of counts, and the tree of any clusters.


_MOST_NUMBERS = 2**24
"""Number of numbers by which unions of clusters are described at once."""


class GaussianSummary(NamedTuple):
    """Sizes, means and scatters of Gaussian clusters, whose prior is normal-inverse-Wishart."""

    sizes: Floats  # (K,)
    means: Floats  # (K, B, W)
    scatters: Floats  # (K, B, W, W), sums of squares and products around the means
    prior: GaussianClusterPrior

    @classmethod
    def of_rows(cls, rows: GaussianRows, labels: Places, prior: GaussianClusterPrior) -> Self:
        """Summarize the clusters of rows."""
        n_blocks, width = prior.mean.shape
        sizes = np.bincount(labels).astype(np.float64)
        means = np.empty((len(sizes), n_blocks, width))
        scatters = np.empty((len(sizes), n_blocks, width, width))
        for k in range(len(sizes)):
            values = rows.values[labels == k].reshape(-1, n_blocks, width)
            means[k] = values.mean(axis=0)
            apart = (values - means[k]).transpose(1, 2, 0)
            scatters[k] = apart @ apart.transpose(0, 2, 1)
        return cls(sizes, means, scatters, prior)

    @property
    def arrays(self) -> list[Floats]:
        """The arrays, whose first axis is that of clusters."""
        return list(self[:-1])

    def joined(self, a: int, others: Places) -> Self:
        """Return the unions of cluster `a` and each of the others."""
        sizes = self.sizes[a] + self.sizes[others]
        share = self.sizes[others] / sizes
        apart = self.means[others] - self.means[a]
        scatters = self.scatters[a] + self.scatters[others]
        weight = (self.sizes[a] * share)[:, np.newaxis, np.newaxis, np.newaxis]
        scatters += weight * apart[..., np.newaxis] * apart[..., np.newaxis, :]
        means = self.means[a] + share[:, np.newaxis, np.newaxis] * apart
        return self._replace(sizes=sizes, means=means, scatters=scatters)

    def log_evidence(self) -> Floats:
        """Return the log evidence of each cluster, (K,)."""
        prior, n = self.prior, self.sizes
        n_blocks, width = prior.mean.shape
        precision, dof = prior.precision + n, prior.dof + n
        apart = self.means - prior.mean
        scales = prior.scale + self.scatters
        weight = (prior.precision * n / precision)[:, np.newaxis, np.newaxis, np.newaxis]
        scales = scales + weight * apart[..., np.newaxis] * apart[..., np.newaxis, :]
        halves = 0.5 * np.arange(width)
        result = gammaln(0.5 * dof[:, np.newaxis] - halves).sum(axis=1)
        result -= gammaln(0.5 * prior.dof - halves).sum()
        result += 0.5 * width * (np.log(prior.precision / precision) - n * np.log(np.pi))
        log_dets = np.linalg.slogdet(scales)[1].sum(axis=1)
        return np.asarray(
            n_blocks * result + 0.5 * prior.dof * prior.log_det - 0.5 * dof * log_dets
        )


class CountSummary(NamedTuple):
    """Sizes and sums of clusters of counts, with Gamma or Dirichlet priors."""

    sizes: Floats  # (K,)
    sums: Floats  # (K, V)
    prior: CountClusterPrior

    @classmethod
    def of_rows(cls, rows: CountRows, labels: Places, prior: CountClusterPrior) -> Self:
        """Summarize the clusters of rows."""
        sizes, n_kinds = np.bincount(labels).astype(np.float64), len(prior.shapes)
        cells = np.repeat(labels, np.diff(rows.ptr)) * n_kinds + rows.kinds
        sums: Any = np.bincount(cells, weights=rows.amounts, minlength=len(sizes) * n_kinds)
        return cls(sizes, sums.reshape(len(sizes), n_kinds), prior)

    @property
    def arrays(self) -> list[Floats]:
        """The arrays, whose first axis is that of clusters."""
        return list(self[:-1])

    def joined(self, a: int, others: Places) -> Self:
        """Return the unions of cluster `a` and each of the others."""
        return self._replace(
            sizes=self.sizes[a] + self.sizes[others], sums=self.sums[a] + self.sums[others]
        )

    def log_evidence(self) -> Floats:
        """Return the log evidence of each cluster, (K,)."""
        shapes, sums = self.prior.shapes, self.sums
        if self.prior.is_binary:
            zeros = self.prior.rates + self.sizes[:, np.newaxis] - sums
            return np.asarray(
                (betaln(shapes + sums, zeros) - betaln(shapes, self.prior.rates)).sum(1)
            )
        result = (gammaln(shapes + sums) - gammaln(shapes)).sum(axis=1)
        if self.prior.is_poisson:
            rates = self.prior.rates + self.sizes[:, np.newaxis]
            factors = shapes * np.log(self.prior.rates) - (shapes + sums) * np.log(rates)
            return np.asarray(result + factors.sum(axis=1))
        total = self.prior.total_shape
        return np.asarray(result + gammaln(total) - gammaln(total + sums.sum(axis=1)))


Summary = GaussianSummary | CountSummary | CellSummary | PartSummary | AugmentedSummary

_KINDS: dict[int, Any] = {
    GAUSSIAN: GaussianSummary, COUNTS: CountSummary, CELLS: CellSummary,
    AUGMENTED: AugmentedSummary,
}  # fmt: skip


def summarize(terms: ClusterTerms, labels: Places) -> Summary:
    """Return the statistics on which the evidence of clusters and of their unions depends."""
    if isinstance(terms, PartTerms):
        cells, gaussians, counts = terms.list_parts()
        parts = [summarize(part, labels) for part in (cells, *gaussians, *counts)]
        return PartSummary(parts[0].sizes, parts)
    summary: Summary = _KINDS[terms.kind].of_rows(terms.rows, labels, terms.prior)
    return summary


def make_cluster_tree(summary: Summary, n_labels: int = 0) -> MergeTree:
    """Return the tree of greedy merges; the first `n_labels` clusters have different labels."""
    n, sizes = len(summary.sizes), summary.sizes
    summary = deepcopy(summary)  # merged clusters take the place of one
    own, names, losses = summary.log_evidence(), np.arange(n), np.full((n, n), np.inf)
    n_numbers = sum(array[0].size for array in summary.arrays)
    n_at_once = max(1, _MOST_NUMBERS // n_numbers)

    def weigh(a: int, others: NDArray[np.intp]) -> None:
        for begin in range(0, len(others), n_at_once):
            part = others[begin : begin + n_at_once]
            loss = own[a] + own[part] - summary.joined(a, part).log_evidence()
            losses[a, part] = losses[part, a] = loss

    for a in range(1, n):
        weigh(a, np.arange(a))
    merges, lost = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    has_label = np.arange(n) < n_labels  # for a union: of its first cluster, since a < b
    for i in range(n - 1):
        choice = losses
        if 0 < n_labels < n - i:  # two with labels are merged only when all have one
            choice = np.where(np.outer(has_label, has_label), np.inf, losses)
        a, b = sorted(divmod(int(np.argmin(choice)), n))
        merges[i], lost[i] = np.sort(names[[a, b]]), losses[a, b]
        union = summary.joined(a, np.array([b]))
        for array, joined in zip(summary.arrays, union.arrays, strict=True):
            array[a] = joined[0]
        own[a], names[a] = union.log_evidence()[0], n + i
        losses[b], losses[:, b], names[b] = np.inf, np.inf, -1
        weigh(a, np.flatnonzero((names >= 0) & (names != n + i)))
    return MergeTree(merges, lost / sizes.sum(), sizes)
