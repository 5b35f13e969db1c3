"""Arrays for the kernels of tables: rows, prior, clusters, drawn parameters, scratch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Ints, Places


class CellRows(NamedTuple):
    """Rows of independent columns: see `_cells/_kernels`."""

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
    """Statistics of clusters: see `_cells/_kernels`."""

    vectors: Floats
    normals: Floats
    counts: Floats
    symbols: Floats
    totals: Floats


class CellParameters(NamedTuple):
    """Drawn parameters of clusters: see `_cells/_kernels_draws`."""

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
