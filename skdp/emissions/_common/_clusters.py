"""Arguments of the kernels for models that assign rows to clusters one by one: rows and priors."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._checks import check_memory
from skdp._numeric import Floats, Places
from skdp._numeric._numba import as_readonly
from skdp.emissions._common._protocol import CollapsedEmission
from skdp.emissions._kernels._augmented import GAP, MOST_NODES
from skdp.emissions._kernels._clusters import AUGMENTED, CELLS, COUNTS, GAUSSIAN, PARTS

# Arrays by name: rows, statistics of clusters, drawn parameters, and scratch arrays of kernels. The
# kernels of each family describe them.

CellRows = namedtuple("CellRows", "values amounts codes powers constants")
CellClusters = namedtuple("CellClusters", "vectors normals counts symbols totals")
CellParameters = namedtuple("CellParameters", "heads normals intensities logs")
CellScratch = namedtuple("CellScratch", "line pair")

GaussianRows = namedtuple("GaussianRows", "values")
GaussianClusters = namedtuple("GaussianClusters", "vectors factors points")
GaussianParameters = namedtuple("GaussianParameters", "heads factors offsets")
GaussianScratch = namedtuple("GaussianScratch", "lines columns matrix")

AugmentedRows = namedtuple("AugmentedRows", "values weights hidden n_hidden shape alone")
AugmentedClusters = namedtuple("AugmentedClusters", "vectors factors points masses")
AugmentedLines = namedtuple("AugmentedLines", "logs squares work triangle dots drawn")
AugmentedScratch = namedtuple(
    "AugmentedScratch", "lines columns matrix squares heads work triangle nodes marks"
)

CountRows = namedtuple("CountRows", "ptr kinds amounts totals constants")
CountClusters = namedtuple("CountClusters", "vectors sums slopes")
CountParameters = namedtuple("CountParameters", "heads logs")
CountScratch = namedtuple("CountScratch", "lines")

Parts = namedtuple("Parts", "cells gaussians counts")
PartClusters = namedtuple("PartClusters", "vectors cells gaussians counts")
PartParameters = namedtuple("PartParameters", "heads cells gaussians counts")
PartScratch = namedtuple("PartScratch", "line pair cells gaussians counts")


# Priors of clusters, and columns of tables.


class CellPrior(NamedTuple):
    """Priors of independent columns; in normal ones 1 / variance ~ Gamma(nu / 2, s / 2)."""

    centers: Floats  # (P,), m: mean ~ N(m, variance / c)
    precisions: Floats  # (P,), c
    dofs: Floats  # (P,), nu
    spreads: Floats  # (P,), s
    resolutions: Floats  # (P,), R: what each row adds to s, see `_columns`
    shapes: Floats  # (Q,), a of columns of counts
    rates: Floats  # (Q,), b
    dispersions: Floats  # (Q,), 1 / r of negative binomial counts; 0: Poisson
    weights: Floats  # (V,), Dirichlet parameters of the symbols of all columns of categories
    totals: Floats  # (R,), sums of the weights of each column
    ptr: Places  # (R + 1,), offsets of the symbols of each column


class NormalColumns(NamedTuple):
    """Normal columns and their prior."""

    values: Floats
    centers: Floats
    precision: float
    dof: float
    spreads: Floats
    resolutions: Floats


class CountColumns(NamedTuple):
    """Columns of counts and their prior."""

    values: Floats
    shapes: Floats
    rates: Floats
    dispersions: Floats  # 0: Poisson
    constants: Floats | float  # (N,), more terms that all clusters share


class SymbolColumns(NamedTuple):
    """Columns of categories, -1 where missing, and the prior weights of each column's symbols."""

    codes: NDArray[Any]
    weights: list[Floats]


def join_columns(
    parts: list[NormalColumns | CountColumns | SymbolColumns], n_rows: int, powers: Floats | None
) -> tuple[CellRows, CellPrior]:
    """Return the rows and the prior of columns of all kinds; without powers, all are 1."""
    normals = [part for part in parts if isinstance(part, NormalColumns)]
    counts = [part for part in parts if isinstance(part, CountColumns)]
    symbols = [part for part in parts if isinstance(part, SymbolColumns)]
    amounts = _join([part.values for part in counts], n_rows)
    constants = -np.where(np.isnan(amounts), 0.0, gammaln(amounts + 1.0)).sum(axis=1)
    constants = constants + sum(part.constants for part in counts)
    weights = [weights for part in symbols for weights in part.weights]
    ptr = np.concatenate([[0], np.cumsum([len(own) for own in weights])]).astype(np.int64)
    codes = _join([part.codes for part in symbols], n_rows).astype(np.int32)
    codes = np.where(codes >= 0, codes + ptr[:-1].astype(np.int32), codes)
    rows = CellRows(
        as_readonly(_join([part.values for part in normals], n_rows)),
        as_readonly(amounts),
        as_readonly(np.ascontiguousarray(codes, dtype=np.int32)),
        as_readonly(np.empty(0) if powers is None else np.array(powers, dtype=np.float64)),
        as_readonly(constants if powers is None else powers * constants),
    )
    prior = CellPrior(
        _flat([part.centers for part in normals]),
        _flat([np.full(len(part.centers), part.precision) for part in normals]),
        _flat([np.full(len(part.centers), part.dof) for part in normals]),
        _flat([part.spreads for part in normals]),
        _flat([part.resolutions for part in normals]),
        _flat([part.shapes for part in counts]),
        _flat([part.rates for part in counts]),
        _flat([part.dispersions for part in counts]),
        _flat(weights),
        np.array([own.sum() for own in weights], dtype=np.float64),
        ptr,
    )
    return rows, prior


def _join(arrays: list[Any], n_rows: int) -> Floats:
    """Return columns side by side."""
    joined = np.concatenate([np.empty((n_rows, 0)), *arrays], axis=1)
    return np.ascontiguousarray(joined, dtype=np.float64)


def _flat(arrays: list[Floats]) -> Floats:
    return np.concatenate([np.empty(0), *arrays])


class GaussianClusterPrior(NamedTuple):
    """Prior of means and covariances by blocks: `GaussianPrior` and the sum of log determinants."""

    mean: Floats  # (B, W)
    precision: float
    dof: float
    scale: Floats  # (B, W, W)
    log_det: float  # sum of the log determinants of the scales of all blocks
    spread: Floats | None  # (B, W), R: each row adds it to the scales, see `_columns`


class CountClusterPrior(NamedTuple):
    """Prior of intensities or probabilities."""

    shapes: Floats  # (V,), of the Gamma priors or of the Dirichlet prior
    total_shape: float  # their sum
    rates: Floats  # (V,), of the Gamma priors, or of zeros; empty for a Dirichlet prior
    is_poisson: bool
    is_binary: bool  # columns of 0 and 1, with Beta priors


# The rows and the prior of an emission.


Shapes = list[Any]
"""Shapes of the arrays of a record."""


@dataclass(frozen=True, eq=False)
class ClusterTerms:
    """Rows and prior from which the clusters of an emission are computed, in one format each."""

    rows: Any
    prior: Any
    kind: ClassVar[int]  # GAUSSIAN and so on: see `_kernels/_clusters`
    records: ClassVar[tuple[Any, Any, Any]]  # types of statistics, parameters, scratch arrays

    def __iter__(self) -> Iterator[Any]:
        """Yield the kind, the rows and the prior."""
        return iter((self.kind, self.rows, self.prior))

    def list_shapes(self, n: int) -> tuple[Shapes, Shapes, Shapes]:
        """Return the shapes of the arrays of each record, for n clusters."""
        raise NotImplementedError

    def count_numbers(self) -> tuple[int, str]:
        """Return the number of statistics of a cluster, and what they are of."""
        raise NotImplementedError

    def check_room(self, n_clusters: int) -> None:
        """Raise if the statistics of `n_clusters` clusters would fill the memory."""
        n_numbers, what = self.count_numbers()
        check_memory(8.0 * n_numbers * n_clusters, f"X: {n_clusters} clusters of {what}")

    def make_clusters(self, capacity: int) -> Any:
        """Return arrays for `capacity` clusters, or raise ValueError if memory is too small."""
        self.check_room(capacity)
        return self.records[0](*map(np.zeros, self.list_shapes(capacity)[0]))

    def make_parameters(self, n_clusters: int) -> Any:
        """Return parameter arrays for `n_clusters` clusters, or raise ValueError."""
        self.check_room(n_clusters)
        return self.records[1](*map(np.empty, self.list_shapes(n_clusters)[1]))

    def make_scratch(self, capacity: int) -> Any:
        """Return scratch arrays of kernels."""
        return self.records[2](*map(np.zeros, self.list_shapes(capacity)[2]))

    def make_lines(self, n_clusters: int) -> Any:
        """Return scratch arrays for draws of rows given parameters of clusters."""
        return np.empty((4, n_clusters))


class CellTerms(ClusterTerms):
    """Terms of independent columns."""

    kind = CELLS
    records = CellClusters, CellParameters, CellScratch

    def _count_columns(self) -> tuple[int, int, int, int]:
        """Return the numbers of normal columns, counts, symbols and columns of symbols."""
        prior = self.prior
        return len(prior.centers), len(prior.shapes), len(prior.weights), len(prior.totals)

    def list_shapes(self, n: int) -> tuple[Shapes, Shapes, Shapes]:
        p, q, v, r = self._count_columns()
        clusters = [(2, n), (7, p, n), (6, q, n), (2, v, n), (2, r, n)]
        return clusters, [n, (3, p, n), (2, q, n), (v, n)], [n, 2]

    def count_numbers(self) -> tuple[int, str]:
        p, q, v, r = self._count_columns()
        n_numbers = 7 * p + 6 * q + 2 * (v + r)
        return n_numbers, f"{n_numbers} statistics"


class CountTerms(ClusterTerms):
    """Terms of rows of counts."""

    kind = COUNTS
    records = CountClusters, CountParameters, CountScratch

    def list_shapes(self, n: int) -> tuple[Shapes, Shapes, Shapes]:
        v = len(self.prior.shapes)
        return [(3, n), (v, n), (len(self.prior.rates), n)], [n, (v, n)], [(1, n)]

    def count_numbers(self) -> tuple[int, str]:
        return len(self.prior.shapes), f"{len(self.prior.shapes)} kinds"


class GaussianTerms(ClusterTerms):
    """Terms of Gaussian rows."""

    kind = GAUSSIAN
    records: ClassVar[tuple[Any, Any, Any]] = GaussianClusters, GaussianParameters, GaussianScratch

    def list_shapes(self, n: int) -> tuple[Shapes, Shapes, Shapes]:
        w, d = self.prior.mean.shape[1], self.prior.mean.size
        clusters, parameters = [(6, n), (d, w, n), (2, d, n)], [n, (d, w, n), (d, n)]
        return clusters, parameters, [(2, n), (2, w), (w, w)]

    def count_numbers(self) -> tuple[int, str]:
        n_dims = self.prior.mean.size
        return n_dims * (self.prior.mean.shape[1] + 2), f"{n_dims} columns"


class AugmentedTerms(GaussianTerms):
    """Terms of Gaussian rows with spread values, or missing ones and perhaps weights to draw."""

    kind = AUGMENTED
    records = AugmentedClusters, GaussianParameters, AugmentedScratch

    @property
    def draws_latent(self) -> bool:
        """Whether missing values or weights are drawn."""
        return bool(self.rows.shape > 0.0 or self.rows.n_hidden.any())

    def list_shapes(self, n: int) -> tuple[Shapes, Shapes, Shapes]:
        b, w = self.prior.mean.shape
        clusters, parameters, scratch = super().list_shapes(n)
        more = [(b, n), (b, n), (w, w + 1, n), (w, w + 1, n), MOST_NODES + 4, 1]
        return [(GAP + b, n), *clusters[1:], (b, n)], parameters, [*scratch, *more]

    def make_lines(self, n_clusters: int) -> Any:
        width = self.prior.mean.shape[1]
        square = width, width + 1, n_clusters
        shapes = [n_clusters, n_clusters, square, square, n_clusters, width]
        return AugmentedLines(*map(np.empty, shapes))


class PartTerms(ClusterTerms):
    """Terms of rows of several parts."""

    kind = PARTS

    def list_parts(self) -> tuple[ClusterTerms, list[ClusterTerms], list[ClusterTerms]]:
        """Return the terms of the independent columns, of Gaussian parts, and of counts."""
        rows, prior = self.rows, self.prior
        gaussians = map(GaussianTerms, rows.gaussians or (), prior.gaussians or ())
        counts = map(CountTerms, rows.counts or (), prior.counts or ())
        return CellTerms(rows.cells, prior.cells), list(gaussians), list(counts)

    def _of_parts(self, method: str, n: int) -> Parts:
        """Return the results of a method of all parts."""
        cells, *others = self.list_parts()
        made = [tuple(getattr(part, method)(n) for part in parts) or None for parts in others]
        return Parts(getattr(cells, method)(n), *made)

    def check_room(self, n_clusters: int) -> None:
        self._of_parts("check_room", n_clusters)

    def make_clusters(self, capacity: int) -> Any:
        parts = self._of_parts("make_clusters", capacity)
        return PartClusters(parts.cells.vectors, *parts)

    def make_parameters(self, n_clusters: int) -> Any:
        return PartParameters(np.empty(n_clusters), *self._of_parts("make_parameters", n_clusters))

    def make_scratch(self, capacity: int) -> Any:
        return PartScratch(
            np.empty(capacity), np.empty(2), *self._of_parts("make_scratch", capacity)
        )


@runtime_checkable
class ClusterEmission(CollapsedEmission, Protocol):
    """Samplers whose rows can join clusters one by one, with the parameters integrated out."""

    def cluster_terms(self) -> ClusterTerms:
        """Return the attached rows and the prior in the format of the cluster kernels."""


def gaussian_terms(
    values: Floats, mean: Floats, precision: float, dof: float, scale: Floats
) -> ClusterTerms:
    """Return the terms of Gaussian rows; the prior is that of `GaussianSampler`."""
    prior = _gaussian_prior(mean, precision, dof, scale, None)
    return GaussianTerms(GaussianRows(as_readonly(values)), prior)


def augmented_terms(
    values: Floats,
    weights: Floats,
    hidden: NDArray[np.bool_],
    shape: float,
    prior: tuple[Floats, float, float, Floats],
    spread: Floats | None,
) -> ClusterTerms:
    """Return the terms of Gaussian rows with missing values, and perhaps weights, to draw."""
    # Kernels write to `values` and, unless `shape` is 0, to `weights`.
    n_rows, n_blocks = weights.shape
    n_hidden = hidden.reshape(n_rows, n_blocks, -1).sum(axis=2, dtype=np.int64)
    rows = AugmentedRows(
        values, weights, as_readonly(hidden), as_readonly(n_hidden), float(shape),
        np.empty((2, n_rows, n_blocks)),
    )  # fmt: skip
    return AugmentedTerms(rows, _gaussian_prior(*prior, spread))


def _gaussian_prior(
    mean: Floats, precision: float, dof: float, scale: Floats, spread: Floats | None
) -> GaussianClusterPrior:
    mean, scale = np.ascontiguousarray(mean), np.ascontiguousarray(scale)
    log_det = float(np.linalg.slogdet(scale)[1].sum())
    return GaussianClusterPrior(mean, float(precision), float(dof), scale, log_det, spread)


def count_terms(
    events: tuple[NDArray[Any], NDArray[Any], Floats],
    constants: Floats,
    shapes: Floats,
    rates: Floats | None = None,
    *,
    is_binary: bool = False,
) -> ClusterTerms:
    """Return the terms of rows of counts or bits, given their events (ptr, kinds, amounts)."""
    # `rates` are None for a Dirichlet prior; `constants` are logs of factors that all clusters
    # share.
    ptr, kinds, amounts = events
    running = np.concatenate([[0.0], np.cumsum(amounts)])
    rows = CountRows(
        np.ascontiguousarray(ptr, dtype=np.int64),
        np.ascontiguousarray(kinds, dtype=np.int32),
        np.ascontiguousarray(amounts, dtype=np.float64),
        running[ptr[1:]] - running[ptr[:-1]],
        np.ascontiguousarray(constants),
    )
    shapes = np.array(shapes, dtype=np.float64)
    given = np.array([] if rates is None else rates, dtype=np.float64)
    is_poisson = rates is not None and not is_binary
    prior = CountClusterPrior(shapes, float(shapes.sum()), given, is_poisson, is_binary)
    return CountTerms(rows, prior)


def cell_terms(parts: list[Any], n_rows: int, powers: Floats | None = None) -> ClusterTerms:
    """Return the terms of independent columns: see `join_columns`."""
    return CellTerms(*join_columns(parts, n_rows, powers))


def join_terms(cells: ClusterTerms, others: list[ClusterTerms]) -> ClusterTerms:
    """Return the terms of independent columns together with other parts, if there are any."""
    gaussians = [part for part in others if part.kind == GAUSSIAN]
    counts = [part for part in others if part.kind == COUNTS]
    if not others:
        return cells
    if len(gaussians) + len(counts) < len(others):
        raise TypeError(
            "emission: StudentTEmission cannot be a part of IndependentEmissions in a mixture: its "
            "weights are drawn with the clusters. Use GaussianEmission for these columns."
        )
    rows, prior = (
        Parts(getattr(cells, name), _tuple_of(gaussians, name), _tuple_of(counts, name))
        for name in ("rows", "prior")
    )
    return PartTerms(rows, prior)


def _tuple_of(parts: list[ClusterTerms], name: str) -> tuple[Any, ...] | None:
    return tuple(getattr(part, name) for part in parts) or None
