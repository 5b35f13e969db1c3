"""Arguments of the kernels for models that assign rows to clusters one by one: rows and priors."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._checks import check_memory
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp.emissions._common._protocol import CollapsedEmission
from skdp.emissions._kernels._augmented import MOST_NODES
from skdp.emissions._kernels._clusters import (
    ALL_PARTS,
    AUGMENTED,
    CELLS,
    CELLS_AND_COUNTS,
    CELLS_AND_GAUSSIANS,
    COUNTS,
    GAUSSIAN,
)

# Arrays for rows of independent columns, and for rows of several parts.


class CellRows(NamedTuple):
    """Rows of independent columns: see `_kernels/_cells`."""

    values: Floats
    amounts: Floats
    codes: Ints
    powers: Floats
    constants: Floats


class CellPrior(NamedTuple):
    """Priors of independent columns; in normal ones 1 / variance ~ Gamma(nu / 2, s / 2)."""

    centers: Floats  # (P,), m: mean ~ N(m, variance / c)
    precisions: Floats  # (P,), c
    dofs: Floats  # (P,), nu
    spreads: Floats  # (P,), s
    shapes: Floats  # (Q,), a of columns of counts
    rates: Floats  # (Q,), b
    weights: Floats  # (V,), Dirichlet parameters of the symbols of all columns of categories
    totals: Floats  # (R,), sums of the weights of each column
    ptr: Places  # (R + 1,), offsets of the symbols of each column


class CellClusters(NamedTuple):
    """Statistics of clusters: see `_kernels/_cells`."""

    vectors: Floats
    normals: Floats
    counts: Floats
    symbols: Floats
    totals: Floats


class CellParameters(NamedTuple):
    """Drawn parameters of clusters: see `_kernels/_cells`."""

    heads: Floats
    normals: Floats
    intensities: Floats
    logs: Floats


class CellScratch(NamedTuple):
    """Scratch arrays of kernels."""

    line: Floats
    pair: Floats


class PartRows(NamedTuple):
    """Rows of a table with parts: its independent columns, and parts of several columns."""

    cells: CellRows
    gaussians: tuple[Any, ...]
    counts: tuple[Any, ...]


class PartPrior(NamedTuple):
    """Priors of the parts."""

    cells: CellPrior
    gaussians: tuple[Any, ...]
    counts: tuple[Any, ...]


class PartClusters(NamedTuple):
    """Statistics of clusters in all parts; `vectors` is that of the cells, with the sizes."""

    vectors: Floats
    cells: CellClusters
    gaussians: tuple[Any, ...]
    counts: tuple[Any, ...]


class PartParameters(NamedTuple):
    """Drawn parameters of clusters in all parts."""

    heads: Floats
    cells: CellParameters
    gaussians: tuple[Any, ...]
    counts: tuple[Any, ...]


class PartScratch(NamedTuple):
    """Scratch arrays of kernels for all parts."""

    line: Floats
    pair: Floats
    cells: CellScratch
    gaussians: tuple[Any, ...]
    counts: tuple[Any, ...]


class NormalColumns(NamedTuple):
    """Normal columns and their prior."""

    values: Floats
    centers: Floats
    precision: float
    dof: float
    spreads: Floats


class CountColumns(NamedTuple):
    """Columns of counts and their prior."""

    values: Floats
    shapes: Floats
    rates: Floats


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
        _flat([part.shapes for part in counts]),
        _flat([part.rates for part in counts]),
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


def make_cell_clusters(prior: CellPrior, capacity: int) -> CellClusters:
    """Return arrays for `capacity` clusters."""
    return CellClusters(
        np.zeros((2, capacity)),
        np.zeros((7, len(prior.centers), capacity)),
        np.zeros((6, len(prior.shapes), capacity)),
        np.zeros((2, len(prior.weights), capacity)),
        np.zeros((2, len(prior.totals), capacity)),
    )


def make_cell_parameters(prior: CellPrior, n_clusters: int) -> CellParameters:
    """Return parameter arrays for `n_clusters` clusters."""
    return CellParameters(
        np.empty(n_clusters),
        np.empty((3, len(prior.centers), n_clusters)),
        np.empty((2, len(prior.shapes), n_clusters)),
        np.empty((len(prior.weights), n_clusters)),
    )


def make_cell_scratch(capacity: int) -> CellScratch:
    """Return scratch arrays of kernels."""
    return CellScratch(np.empty(capacity), np.empty(2))


def count_cell_numbers(prior: CellPrior) -> int:
    """Return the number of statistics of a cluster."""
    n = 7 * len(prior.centers) + 6 * len(prior.shapes)
    return n + 2 * (len(prior.weights) + len(prior.totals))


# Arrays for Gaussian rows, and for rows of counts.


class GaussianRows(NamedTuple):
    """Gaussian observations: see `_kernels/_gaussian_clusters`."""

    values: Floats


class GaussianClusterPrior(NamedTuple):
    """Prior of means and covariances by blocks: `GaussianPrior` and the sum of log determinants."""

    mean: Floats  # (B, W)
    precision: float
    dof: float
    scale: Floats  # (B, W, W)
    log_det: float  # sum of the log determinants of the scales of all blocks


class GaussianClusters(NamedTuple):
    """Statistics of clusters: see `_kernels/_gaussian_clusters`."""

    vectors: Floats
    factors: Floats
    points: Floats


class GaussianParameters(NamedTuple):
    """Drawn parameters of clusters: see `_kernels/_clusters`."""

    heads: Floats
    factors: Floats
    offsets: Floats


class GaussianScratch(NamedTuple):
    """Scratch arrays of kernels."""

    lines: Floats
    columns: Floats
    matrix: Floats


class AugmentedRows(NamedTuple):
    """Gaussian rows with drawn weights and missing values: see `_kernels/_augmented`."""

    values: Floats
    weights: Floats
    hidden: NDArray[np.bool_]
    n_hidden: Places
    shape: float
    alone: Floats


class AugmentedClusters(NamedTuple):
    """Statistics of clusters: see `_kernels/_augmented`."""

    vectors: Floats
    factors: Floats
    points: Floats
    masses: Floats


class AugmentedLines(NamedTuple):
    """Scratch arrays of draws given parameters: see `_kernels/_augmented`."""

    logs: Floats
    squares: Floats
    work: Floats
    triangle: Floats
    dots: Floats
    drawn: Floats


class AugmentedScratch(NamedTuple):
    """Scratch arrays of kernels."""

    lines: Floats
    columns: Floats
    matrix: Floats
    squares: Floats
    heads: Floats
    work: Floats
    triangle: Floats
    nodes: Floats
    marks: Floats


class CountRows(NamedTuple):
    """Rows of counts: see `_kernels/_discrete`."""

    ptr: Places
    kinds: Ints
    amounts: Floats
    totals: Floats
    constants: Floats


class CountClusterPrior(NamedTuple):
    """Prior of intensities or probabilities."""

    shapes: Floats  # (V,), of the Gamma priors or of the Dirichlet prior
    total_shape: float  # their sum
    rates: Floats  # (V,), of the Gamma priors; empty for a Dirichlet prior
    is_poisson: bool


class CountClusters(NamedTuple):
    """Statistics of clusters: see `_kernels/_discrete`."""

    vectors: Floats
    sums: Floats
    slopes: Floats


class CountParameters(NamedTuple):
    """Drawn parameters of clusters: see `_kernels/_clusters`."""

    heads: Floats
    logs: Floats


class CountScratch(NamedTuple):
    """Scratch arrays of kernels."""

    lines: Floats


# The rows and the prior of an emission.


class ClusterTerms(NamedTuple):
    """Rows and prior from which the clusters of an emission are computed."""

    kind: int  # GAUSSIAN and so on: see `_kernels/_clusters`
    rows: Any
    prior: Any

    @property
    def has_parts(self) -> bool:
        """Whether rows have several parts."""
        return self.kind in (CELLS_AND_GAUSSIANS, CELLS_AND_COUNTS, ALL_PARTS)

    def list_parts(self) -> tuple[ClusterTerms, list[ClusterTerms], list[ClusterTerms]]:
        """Return the terms of the independent columns, of Gaussian parts, and of counts."""

        def terms(kind: int, rows: Any, priors: Any) -> list[ClusterTerms]:
            return [ClusterTerms(kind, *own) for own in zip(rows, priors, strict=True)]

        return (
            ClusterTerms(CELLS, self.rows.cells, self.prior.cells),
            terms(GAUSSIAN, self.rows.gaussians, self.prior.gaussians),
            terms(COUNTS, self.rows.counts, self.prior.counts),
        )

    def _make_parts(self, method: str, n: int) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
        """Return the results of a method of all parts, in their order."""
        cells, gaussians, counts = self.list_parts()
        return (
            getattr(cells, method)(n),
            tuple(getattr(part, method)(n) for part in gaussians),
            tuple(getattr(part, method)(n) for part in counts),
        )

    def make_clusters(self, capacity: int) -> Any:
        """Return arrays for `capacity` clusters, or raise ValueError if memory is too small."""
        self._check_room(capacity)
        if self.has_parts:
            cells, *others = self._make_parts("make_clusters", capacity)
            return PartClusters(cells.vectors, cells, *others)
        if self.kind == CELLS:
            return make_cell_clusters(self.prior, capacity)
        if self.kind == COUNTS:
            return CountClusters(
                np.zeros((3, capacity)),
                np.zeros((len(self.prior.shapes), capacity)),
                np.zeros((len(self.prior.rates), capacity)),
            )
        n_blocks, width = self.prior.mean.shape
        n_dims = n_blocks * width
        arrays = (
            np.zeros((6, capacity)),
            np.zeros((n_dims, width, capacity)),
            np.zeros((2, n_dims, capacity)),
        )
        if self.kind == AUGMENTED:
            return AugmentedClusters(*arrays, np.zeros((n_blocks, capacity)))
        return GaussianClusters(*arrays)

    def make_parameters(self, n_clusters: int) -> Any:
        """Return parameter arrays for `n_clusters` clusters, or raise ValueError."""
        self._check_room(n_clusters)
        if self.has_parts:
            return PartParameters(
                np.empty(n_clusters), *self._make_parts("make_parameters", n_clusters)
            )
        if self.kind == CELLS:
            return make_cell_parameters(self.prior, n_clusters)
        if self.kind == COUNTS:
            n_kinds = len(self.prior.shapes)
            return CountParameters(np.empty(n_clusters), np.empty((n_kinds, n_clusters)))
        n_blocks, width = self.prior.mean.shape
        n_dims = n_blocks * width
        return GaussianParameters(
            np.empty(n_clusters),
            np.empty((n_dims, width, n_clusters)),
            np.empty((n_dims, n_clusters)),
        )

    def _check_room(self, n_clusters: int) -> None:
        """Raise if the statistics of `n_clusters` clusters would fill the memory."""
        if self.has_parts:
            self._make_parts("_check_room", n_clusters)
        elif self.kind == CELLS:
            n_numbers = count_cell_numbers(self.prior)
            check_memory(
                8.0 * n_numbers * n_clusters, f"X: {n_clusters} clusters of {n_numbers} statistics"
            )
        elif self.kind == COUNTS:
            n_kinds = len(self.prior.shapes)
            check_memory(8.0 * n_kinds * n_clusters, f"X: {n_clusters} clusters of {n_kinds} kinds")
        else:
            n_blocks, width = self.prior.mean.shape
            check_memory(
                8.0 * n_blocks * width * (width + 2) * n_clusters,
                f"X: {n_clusters} clusters of {n_blocks * width} columns",
            )

    def make_lines(self, n_clusters: int) -> Any:
        """Return scratch arrays for draws of rows given parameters of clusters."""
        if self.kind != AUGMENTED:
            return np.empty((4, n_clusters))
        width = self.prior.mean.shape[1]
        shape = width, width + 1, n_clusters
        return AugmentedLines(
            np.empty(n_clusters), np.empty(n_clusters), np.empty(shape), np.empty(shape),
            np.empty(n_clusters), np.empty(width),
        )  # fmt: skip

    def make_scratch(self, capacity: int) -> Any:
        """Return scratch arrays of kernels."""
        if self.has_parts:
            parts = self._make_parts("make_scratch", capacity)
            return PartScratch(np.empty(capacity), np.empty(2), *parts)
        if self.kind == CELLS:
            return make_cell_scratch(capacity)
        if self.kind == COUNTS:
            return CountScratch(np.empty((1, capacity)))
        n_blocks, width = self.prior.mean.shape
        arrays = np.empty((2, capacity)), np.empty((2, width)), np.empty((width, width))
        if self.kind == AUGMENTED:
            return AugmentedScratch(
                *arrays,
                np.empty((n_blocks, capacity)),
                np.empty((n_blocks, capacity)),
                np.empty((width, width + 1, capacity)),
                np.empty((width, width + 1, capacity)),
                np.empty(MOST_NODES + 4),
                np.zeros(1),
            )
        return GaussianScratch(*arrays)


@runtime_checkable
class ClusterEmission(CollapsedEmission, Protocol):
    """Samplers whose rows can join clusters one by one, with the parameters integrated out."""

    def cluster_terms(self) -> ClusterTerms:
        """Return the attached rows and the prior in the format of the cluster kernels."""


def gaussian_terms(
    values: Floats, mean: Floats, precision: float, dof: float, scale: Floats
) -> ClusterTerms:
    """Return the terms of Gaussian rows; the prior is that of `GaussianSampler`."""
    prior = _gaussian_prior(mean, precision, dof, scale)
    return ClusterTerms(GAUSSIAN, GaussianRows(as_readonly(values)), prior)


def augmented_terms(
    values: Floats,
    weights: Floats,
    hidden: NDArray[np.bool_],
    shape: float,
    prior: tuple[Floats, float, float, Floats],
) -> ClusterTerms:
    """Return the terms of Gaussian rows whose missing values, and perhaps weights, are drawn.
    Kernels write to `values` and, unless `shape` is 0, to `weights`.
    """
    n_rows, n_blocks = weights.shape
    n_hidden = hidden.reshape(n_rows, n_blocks, -1).sum(axis=2, dtype=np.int64)
    rows = AugmentedRows(
        values, weights, as_readonly(hidden), as_readonly(n_hidden), float(shape),
        np.empty((2, n_rows, n_blocks)),
    )  # fmt: skip
    return ClusterTerms(AUGMENTED, rows, _gaussian_prior(*prior))


def _gaussian_prior(
    mean: Floats, precision: float, dof: float, scale: Floats
) -> GaussianClusterPrior:
    mean, scale = np.ascontiguousarray(mean), np.ascontiguousarray(scale)
    log_det = float(np.linalg.slogdet(scale)[1].sum())
    return GaussianClusterPrior(mean, float(precision), float(dof), scale, log_det)


def count_terms(
    events: tuple[NDArray[Any], NDArray[Any], Floats],
    constants: Floats,
    shapes: Floats,
    rates: Floats | None = None,
) -> ClusterTerms:
    """Return the terms of rows of counts, given their events (ptr, kinds, amounts).
    `rates` are None for a Dirichlet prior; `constants` are logs of factors that all clusters share.
    """
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
    prior = CountClusterPrior(shapes, float(shapes.sum()), given, rates is not None)
    return ClusterTerms(COUNTS, rows, prior)


def cell_terms(parts: list[Any], n_rows: int, powers: Floats | None = None) -> ClusterTerms:
    """Return the terms of independent columns: see `join_columns`."""
    return ClusterTerms(CELLS, *join_columns(parts, n_rows, powers))


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
    kind = CELLS_AND_GAUSSIANS if not counts else CELLS_AND_COUNTS if not gaussians else ALL_PARTS
    return ClusterTerms(
        kind,
        PartRows(cells.rows, _tuple_of(gaussians, "rows"), _tuple_of(counts, "rows")),
        PartPrior(cells.prior, _tuple_of(gaussians, "prior"), _tuple_of(counts, "prior")),
    )


def _tuple_of(parts: list[ClusterTerms], name: str) -> tuple[Any, ...]:
    return tuple(getattr(part, name) for part in parts)
