"""A Chinese restaurant franchise whose dishes are known: its state, its sweeps, its joint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._part import Part
from skdp._typing import Floats, Ints, Places
from skdp.processes._franchise_hyper import (
    Histogram,
    NodeSeats,
    Pairs,
    Seats,
    slice_concentration,
    slice_concentrations,
    slice_discount,
)
from skdp.processes._kernels_franchise import (
    Cells,
    Laws,
    Nodes,
    Scratch,
    count_customers,
    sum_log_stirling,
    sweep_cells,
)
from skdp.processes._stirling import StirlingRatios

_TABULATED = 1000
"""Customers up to which all ratios are tabulated: the table is made anew in every sweep."""


@dataclass(frozen=True)
class FranchiseLayout:
    """Which cells and restaurants there are, and who comes in from the street.

    Cells and restaurants of a depth have consecutive numbers, the root's first.

    Attributes
    ----------
    cell_ptr, node_ptr : (n_depths + 1,) int64
        Where the cells and the restaurants of each depth begin.
    parent : (n_cells,) int32
        The cell with the same dish in the restaurant above; -1 at the root.
    node : (n_cells,) int32
        The restaurant of each cell.
    street : (n_cells,) int32
        Customers who are nobody's table.
    capacity : (n_cells,) int32
        The most customers that a cell can have: those of the street here and in all cells below.
    """

    cell_ptr: Places
    node_ptr: Places
    parent: Ints
    node: Ints
    street: Ints
    capacity: Ints

    @classmethod
    def of(
        cls, cell_ptr: Places, node_ptr: Places, parent: Ints, node: Ints, street: Ints
    ) -> FranchiseLayout:
        """Return a layout; the capacities follow from the rest."""
        capacity = street.copy()
        for m in range(len(cell_ptr) - 2, 0, -1):
            cells = slice(cell_ptr[m], cell_ptr[m + 1])
            np.add.at(capacity, parent[cells], capacity[cells])
        return cls(cell_ptr, node_ptr, parent, node, street, capacity)

    @property
    def n_depths(self) -> int:
        """Depths of restaurants, the root's among them."""
        return len(self.cell_ptr) - 1

    def cells_at(self, m: int) -> slice:
        """Return the cells of depth m."""
        return slice(int(self.cell_ptr[m]), int(self.cell_ptr[m + 1]))

    def nodes_at(self, m: int) -> slice:
        """Return the restaurants of depth m."""
        return slice(int(self.node_ptr[m]), int(self.node_ptr[m + 1]))

    def shared_cells(self, m: int) -> Ints:
        """Return the cells of depth m that may have two customers. The others have one table."""
        cells = self.cells_at(m)
        return (np.flatnonzero(self.capacity[cells] > 1) + cells.start).astype(np.int32)


@dataclass(frozen=True)
class FranchisePriors:
    """What discounts and concentrations are, or how they are distributed.

    Attributes
    ----------
    discount, concentration : (n_depths,) arrays or None
        Fixed values by depth; None: drawn.
    discount_prior : (p, q)
        Of the Beta prior.
    concentration_prior : (shape, rate)
        Of the Gamma prior.
    by_node : bool
        Whether each restaurant has a concentration of its own; `concentration` is then an
        (n_nodes,) array or None.
    """

    discount: Floats | None
    concentration: Floats | None
    discount_prior: tuple[float, float]
    concentration_prior: tuple[float, float]
    by_node: bool = False


class Franchise(Part):
    """The tables of a franchise, and the discounts and concentrations of its depths.

    Parameters
    ----------
    layout : FranchiseLayout
    base : (cells of the root,) array
        Probability of the dish of each cell of the root, > 0.
    priors : FranchisePriors
    tables : (n_cells,) int32 or None
        None: one table in each cell.

    Attributes
    ----------
    customers, tables : (n_cells,) int32
    node_customers, node_tables : (n_nodes,) int32
    discount : (n_depths,) array
    concentration : (n_depths,) or (n_nodes,) array
    """

    _data_attributes = ("layout", "_visited", "_base", "_ratios")

    def __init__(
        self,
        layout: FranchiseLayout,
        base: Floats,
        priors: FranchisePriors,
        tables: Ints | None = None,
    ):
        self.priors = priors
        n = layout.n_depths
        self.discount = np.full(n, 0.5) if priors.discount is None else priors.discount.copy()
        self.concentration = np.ones(int(layout.node_ptr[-1]) if priors.by_node else n)
        if priors.concentration is not None:
            self.concentration[:] = priors.concentration
        self.tables = np.ones(len(layout.parent), np.int32) if tables is None else tables
        self.attach(layout, base)

    def attach(self, layout: FranchiseLayout, base: Floats) -> None:
        """Take the layout, and make all counts from the tables."""
        self.layout = layout
        self._base = base
        self._ratios: tuple[Floats, Places, Places, Places] | None = None
        self._visited = [layout.shared_cells(m) for m in range(layout.n_depths)]
        self.customers = np.zeros(len(layout.parent), np.int32)
        self.node_customers = np.zeros(int(layout.node_ptr[-1]), np.int32)
        self.node_tables = np.zeros(int(layout.node_ptr[-1]), np.int32)
        for m in range(layout.n_depths - 1, -1, -1):
            cells = layout.cells_at(m)
            count_customers(cells.start, cells.stop, layout.street, self._cells(), self._nodes())

    def _cells(self) -> Cells:
        return Cells(self.customers, self.tables, self.layout.parent, self.layout.node)

    def _nodes(self) -> Nodes:
        return Nodes(self.node_customers, self.node_tables)

    def _laws(self) -> Laws:
        """Return discounts, concentrations, and the ratios of Stirling numbers that follow."""
        if self._ratios is None:
            self._ratios = self._make_ratios()
        by_node = self.priors.by_node
        return Laws(self.discount, self.concentration, by_node, self._base, *self._ratios)

    def _make_ratios(self) -> tuple[Floats, Places, Places, Places]:
        """Return the ratios of all depths end to end, and where each begins; rows likewise."""
        values, row_ptrs = [], []
        for m in range(self.layout.n_depths):
            n_max = int(self.layout.capacity[self.layout.cells_at(m)].max(initial=1))
            ratios = StirlingRatios.for_counts(n_max, float(self.discount[m]), max_rows=_TABULATED)
            values.append(ratios.values)
            row_ptrs.append(ratios.row_ptr)
        return np.concatenate(values), _ends(values), np.concatenate(row_ptrs), _ends(row_ptrs)

    def sweep(self, rng: NDArray[np.uint64]) -> None:
        """Draw all tables anew, from the deepest depth up, then discounts and concentrations."""
        laws, cells, nodes = self._laws(), self._cells(), self._nodes()
        n = self.layout.n_depths
        scratch = Scratch(np.zeros(n, np.int32), np.zeros(n + 1))
        for m in range(self.layout.n_depths - 1, -1, -1):
            sweep_cells(self._visited[m], m, cells, nodes, laws, scratch, rng)
        if self.priors.discount is None or self.priors.concentration is None:
            self._draw_laws(rng)

    def _draw_laws(self, rng: NDArray[np.uint64]) -> None:
        """Draw discounts and concentrations given tables and their sizes."""
        priors = self.priors
        if priors.discount is None:
            self._ratios = None
        for m in range(self.layout.n_depths):
            seats = self._seats(m, self._pairs(m) if priors.discount is None else None)
            if priors.discount is None:
                self.discount[m] = slice_discount(
                    seats, self.discount[m], self._concentration_at(m), priors.discount_prior, rng,
                    self._width(m),
                )  # fmt: skip
            if priors.concentration is not None:
                continue
            if isinstance(seats, NodeSeats):
                slice_concentrations(
                    seats, self.discount[m], self._concentration_at(m), priors.concentration_prior,
                    rng,
                )  # fmt: skip
            else:
                self.concentration[m] = slice_concentration(
                    seats, self.discount[m], self.concentration[m], priors.concentration_prior, rng
                )

    def _seats(self, m: int, pairs: Pairs | None) -> Seats | NodeSeats:
        """Return what depth m tells of its discount and its concentrations."""
        nodes = self.layout.nodes_at(m)
        tables, customers = self.node_tables[nodes], self.node_customers[nodes]
        if self.priors.by_node:
            return NodeSeats(pairs, tables, customers)
        return Seats(pairs, Histogram.of(tables), Histogram.of(customers))

    def _pairs(self, m: int) -> Pairs:
        """Return the customers and tables of the cells of depth m."""
        return Pairs.of(self._visited[m], self.customers, self.tables)

    def _width(self, m: int) -> float:
        """Return about two standard deviations of the discount of depth m, given its tables.

        It may depend on nothing but tables, or the slice would not leave the posterior invariant.
        """
        n_tables = int(self.node_tables[self.layout.nodes_at(m)].sum(dtype=np.int64))
        return 1.0 / math.sqrt(1.0 + n_tables)

    def _concentration_at(self, m: int) -> Any:
        """Return the concentration of depth m, or a view of those of its restaurants."""
        if self.priors.by_node:
            return self.concentration[self.layout.nodes_at(m)]
        return self.concentration[m]

    def concentrations_by_depth(self) -> list[Any]:
        """Return the concentration of each depth, or those of its restaurants."""
        return [self._concentration_at(m) for m in range(self.layout.n_depths)]

    def node_concentrations(self) -> Floats:
        """Return the concentration of each restaurant."""
        if self.priors.by_node:
            return self.concentration
        return np.repeat(self.concentration, np.diff(self.layout.node_ptr))

    def log_joint(self) -> float:
        """Return log p(dishes, tables, and what is drawn of discounts and concentrations)."""
        laws = self._laws()
        root = self.layout.cells_at(0)
        total = float(self.tables[root] @ np.log(self._base))
        for m in range(self.layout.n_depths):
            d, theta = float(self.discount[m]), self._concentration_at(m)
            total += self._seats(m, None).log_likelihood(d, theta)
            total += sum_log_stirling(*self._pairs(m), m, laws)
            if self.priors.discount is None:
                total += _log_beta(d, *self.priors.discount_prior)
            if self.priors.concentration is None:
                total += np.sum(_log_gamma(theta, *self.priors.concentration_prior))
        return float(total)

    def tables_by_depth(self) -> Places:
        """Return the number of tables of each depth."""
        depths = range(self.layout.n_depths)
        return np.array([self.tables[self.layout.cells_at(m)].sum(dtype=np.int64) for m in depths])


def _ends(arrays: Sequence[NDArray]) -> Places:
    """Return where each array begins once they are joined, and where the last ends."""
    return np.cumsum([0, *map(len, arrays)])


def _log_beta(x: float, p: float, q: float) -> float:
    """Return the log density of Beta(p, q) at x."""
    constant = math.lgamma(p + q) - math.lgamma(p) - math.lgamma(q)
    return constant + (p - 1.0) * math.log(x) + (q - 1.0) * math.log1p(-x)


def _log_gamma(x: Any, shape: float, rate: float) -> Any:
    """Return the log density of Gamma(shape, rate) at x, a number or an array of them."""
    constant = shape * math.log(rate) - math.lgamma(shape)
    return constant + (shape - 1.0) * np.log(x) - rate * x
