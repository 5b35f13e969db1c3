"""A Chinese restaurant franchise with known dishes: its state, sweeps and joint probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Ints, Places
from skdp._part import Part
from skdp.processes._franchise_hyper import (
    CellPairs,
    Histogram,
    NodeSeats,
    Seats,
    slice_concentration,
    slice_concentrations,
    slice_discount,
)
from skdp.processes._kernels_franchise import (
    Cells,
    Laws,
    Nodes,
    PathScratch,
    count_customers,
    sum_log_stirling,
    sweep_cells,
)
from skdp.processes._stirling import StirlingRatios, plan_ratios

_NO_CELLS = np.empty(0, np.int32)

_TABULATED = 1000
"""Number of customers up to which ratios are tabulated; every sweep recomputes the table."""


@dataclass(frozen=True)
class FranchiseLayout:
    """The cells and restaurants of a franchise, and the observed customers.

    Cells and restaurants of a depth have consecutive numbers, beginning with the root. A *law* is a
    discount and a concentration: each depth has its own, but all from `n_laws` - 1 on share one.
    """

    n_laws: int
    cell_ptr: Places  # (n_depths + 1,), offsets of the cells of each depth
    node_ptr: Places  # (n_depths + 1,), offsets of the restaurants of each depth
    parent: Ints  # (n_cells,), cell with the same dish in the restaurant above; -1 at the root
    node: Ints  # (n_cells,), restaurant of each cell
    observed: Ints  # (n_cells,), customers that are not tables of another cell
    capacity: Ints  # (n_cells,), most customers: those observed in the cell and all cells below

    @classmethod
    def of(
        cls,
        cell_ptr: Places,
        node_ptr: Places,
        parent: Ints,
        node: Ints,
        observed: Ints,
        n_laws: int | None = None,
    ) -> FranchiseLayout:
        """Return a layout with computed capacities; `n_laws` None means a law for each depth."""
        if n_laws is None:
            n_laws = len(cell_ptr) - 1
        capacity = observed.copy()
        for m in range(len(cell_ptr) - 2, 0, -1):
            cells = slice(cell_ptr[m], cell_ptr[m + 1])
            np.add.at(capacity, parent[cells], capacity[cells])
        return cls(n_laws, cell_ptr, node_ptr, parent, node, observed, capacity)

    @property
    def n_depths(self) -> int:
        """Number of depths of restaurants, including the root's."""
        return len(self.cell_ptr) - 1

    def cells_at(self, m: int) -> slice:
        """Return the cells of depth m."""
        return slice(int(self.cell_ptr[m]), int(self.cell_ptr[m + 1]))

    def nodes_at(self, m: int) -> slice:
        """Return the restaurants of depth m."""
        return slice(int(self.node_ptr[m]), int(self.node_ptr[m + 1]))

    @property
    def laws(self) -> Places:
        """(n_depths,) array with the law of each depth."""
        return np.minimum(np.arange(self.n_depths), self.n_laws - 1)

    def depths_of(self, law: int) -> range:
        """Return the range of depths of a law, which may be empty."""
        last = self.n_depths if law == self.n_laws - 1 else min(law + 1, self.n_depths)
        return range(min(law, last), last)

    def cells_of(self, law: int) -> slice:
        """Return the cells of a law."""
        return _between(self.cell_ptr, self.depths_of(law))

    def nodes_of(self, law: int) -> slice:
        """Return the restaurants of a law."""
        return _between(self.node_ptr, self.depths_of(law))

    def largest_count(self, law: int) -> int:
        """Return the largest possible number of customers of a cell of a law, at least 1."""
        return int(self.capacity[self.cells_of(law)].max(initial=1))

    def bytes_of_ratios(self) -> float:
        """Return the bytes of the tables of ratios of a chain, about."""
        counts = map(self.largest_count, range(self.n_laws))
        return 16.0 * sum(plan_ratios(n_max, 0.5, _TABULATED)[1] for n_max in counts)

    def n_nodes_by_law(self) -> Places:
        """Return the number of restaurants of each law."""
        nodes = [self.nodes_of(law) for law in range(self.n_laws)]
        return np.array([each.stop - each.start for each in nodes])

    def shared_cells(self, m: int) -> Ints:
        """Return the cells of depth m that may have two customers; the others have one table."""
        cells = self.cells_at(m)
        return (np.flatnonzero(self.capacity[cells] > 1) + cells.start).astype(np.int32)


@dataclass(frozen=True)
class FranchisePriors:
    """Fixed values of discounts and concentrations, or priors if they are None."""

    discount: Floats | None  # (n_laws,)
    concentration: Floats | None  # (n_laws,), or (n_nodes,) with `by_node`
    discount_prior: tuple[float, float]  # p, q of a Beta
    concentration_prior: tuple[float, float]  # shape, rate of a Gamma
    by_node: bool = False  # whether each restaurant has its own concentration


_Ratios = tuple[Floats, Places, Places, Places, Places, Places]


class Franchise(Part):
    """The tables of a franchise, and the discounts and concentrations of its laws."""

    _data_attributes = ("layout", "_visited", "_base", "_ratios")

    def __init__(
        self,
        layout: FranchiseLayout,
        base: Floats,  # probability of the dish of each cell of the root, > 0
        priors: FranchisePriors,
        tables: Ints | None = None,  # (n_cells,), None: one table in each cell
        concentration: Floats | None = None,  # (n_laws,), where learned ones begin; None: at 1
    ):
        self.priors = priors
        n = layout.n_laws
        self.discount = np.full(n, 0.5) if priors.discount is None else priors.discount.copy()
        self.concentration = np.ones(int(layout.node_ptr[-1]) if priors.by_node else n)
        if priors.concentration is not None:
            self.concentration[:] = priors.concentration
        elif concentration is not None and priors.by_node:
            self.concentration[:] = np.repeat(concentration[layout.laws], np.diff(layout.node_ptr))
        elif concentration is not None:
            self.concentration[:] = concentration
        self.tables = np.ones(len(layout.parent), np.int32) if tables is None else tables
        self.attach(layout, base)

    def attach(self, layout: FranchiseLayout, base: Floats) -> None:
        """Attach the layout, and compute all counts from the tables."""
        self.layout = layout
        self._base = base
        self._ratios: _Ratios | None = None
        self._visited = [layout.shared_cells(m) for m in range(layout.n_depths)]
        self.customers = np.zeros(len(layout.parent), np.int32)
        self.node_customers = np.zeros(int(layout.node_ptr[-1]), np.int32)
        self.node_tables = np.zeros(int(layout.node_ptr[-1]), np.int32)
        for m in range(layout.n_depths - 1, -1, -1):
            cells = layout.cells_at(m)
            count_customers(cells.start, cells.stop, layout.observed, self._cells(), self._nodes())

    def _cells(self) -> Cells:
        return Cells(self.customers, self.tables, self.layout.parent, self.layout.node)

    def _nodes(self) -> Nodes:
        return Nodes(self.node_customers, self.node_tables)

    def _laws(self) -> Laws:
        """Return discounts, concentrations, and the corresponding ratios of Stirling numbers."""
        if self._ratios is None:
            self._ratios = self._make_ratios()
        by_node, laws = self.priors.by_node, self.layout.laws
        concentration = self.concentration if by_node else self.concentration[laws]
        return Laws(self.discount[laws], concentration, by_node, self._base, *self._ratios)

    def nodes_and_laws(self) -> tuple[Nodes, Laws]:
        """Return counts of restaurants and laws, for kernels that only read them."""
        return self._nodes(), self._laws()

    def _make_ratios(self) -> _Ratios:
        """Return the concatenated ratios of all laws with the bounds for each depth; also rows."""
        laws = range(self.layout.n_laws)
        counts, discounts = map(self.layout.largest_count, laws), self.discount.tolist()
        plans = [
            (n_max, d, *plan_ratios(n_max, d, _TABULATED))
            for n_max, d in zip(counts, discounts, strict=True)
        ]
        room = np.empty((sum(n_pairs for *_, n_pairs in plans), 2))
        values, row_ptrs, begin = [], [], 0
        for n_max, d, row_ptr, n_pairs in plans:
            part = room[begin : begin + n_pairs]  # parts to concatenate would take twice the memory
            values.append(StirlingRatios._in_place(part, row_ptr, n_max, d).values)
            row_ptrs.append(row_ptr)
            begin += n_pairs
        return (
            room, *self._find_by_depth(values),
            np.concatenate(row_ptrs), *self._find_by_depth(row_ptrs),
        )  # fmt: skip

    def _find_by_depth(self, by_law: Sequence[NDArray]) -> tuple[Places, Places]:
        """Return the beginnings and ends of the parts of each depth in concatenated parts."""
        ends = np.cumsum([len(part) for part in by_law])
        sizes = np.diff(ends, prepend=0)
        laws = self.layout.laws
        return (ends - sizes)[laws], ends[laws]

    def sweep(self, rng: NDArray[np.uint64]) -> None:
        """Redraw all tables, from the deepest depth up, then discounts and concentrations."""
        laws, cells, nodes = self._laws(), self._cells(), self._nodes()
        n = self.layout.n_depths
        scratch = PathScratch(np.zeros(n, np.int32), np.zeros(n + 1))
        for m in range(self.layout.n_depths - 1, -1, -1):
            sweep_cells(self._visited[m], m, cells, nodes, laws, scratch, rng)
        if self.priors.discount is None or self.priors.concentration is None:
            self._draw_laws(rng)

    def _draw_laws(self, rng: NDArray[np.uint64]) -> None:
        """Draw discounts and concentrations given tables and their sizes."""
        priors = self.priors
        if priors.discount is None:
            self._ratios = None
        for law in range(self.layout.n_laws):
            seats = self._seats(law, self._pairs(law) if priors.discount is None else None)
            if priors.discount is None:
                self.discount[law] = slice_discount(
                    seats, self.discount[law], self._concentration_of(law), priors.discount_prior,
                    rng, self._width(law),
                )  # fmt: skip
            d = self.discount[law]
            if priors.concentration is not None:
                continue
            if isinstance(seats, NodeSeats):
                slice_concentrations(
                    seats, d, self._concentration_of(law), priors.concentration_prior, rng
                )
            else:
                self.concentration[law] = slice_concentration(
                    seats, d, self.concentration[law], priors.concentration_prior, rng
                )

    def _seats(self, law: int, pairs: CellPairs | None) -> Seats | NodeSeats:
        """Return the statistics of a law's restaurants for its discount and concentrations."""
        nodes = self.layout.nodes_of(law)
        tables, customers = self.node_tables[nodes], self.node_customers[nodes]
        if self.priors.by_node:
            return NodeSeats(pairs, tables, customers)
        return Seats(pairs, Histogram.of(tables), Histogram.of(customers))

    def _pairs(self, law: int) -> CellPairs:
        """Return the customers and tables of the cells of a law."""
        visited = [self._visited[m] for m in self.layout.depths_of(law)]
        cells = visited[0] if len(visited) == 1 else np.concatenate([_NO_CELLS, *visited])
        return CellPairs.of(cells, self.customers, self.tables)

    def _width(self, law: int) -> float:
        """Return about two standard deviations of the discount of a law, given its tables."""
        # It must depend only on tables, or the slice would not leave the posterior invariant.
        n_tables = int(self.node_tables[self.layout.nodes_of(law)].sum(dtype=np.int64))
        return 1.0 / math.sqrt(1.0 + n_tables)

    def _concentration_of(self, law: int) -> Any:
        """Return the concentration of a law, or a view of its restaurants' concentrations."""
        if self.priors.by_node:
            return self.concentration[self.layout.nodes_of(law)]
        return self.concentration[law]

    def concentrations_by_law(self) -> list[Any]:
        """Return the concentration of each law, or its restaurants' concentrations."""
        return [self._concentration_of(law) for law in range(self.layout.n_laws)]

    def node_concentrations(self) -> Floats:
        """Return the concentration of each restaurant."""
        if self.priors.by_node:
            return self.concentration
        return np.repeat(self.concentration[self.layout.laws], np.diff(self.layout.node_ptr))

    def log_joint(self) -> float:
        """Return log p(dishes, tables, and those discounts and concentrations that are drawn)."""
        laws = self._laws()
        root = self.layout.cells_at(0)
        total = float(self.tables[root] @ np.log(self._base))
        for law in range(self.layout.n_laws):
            d, theta = float(self.discount[law]), self._concentration_of(law)
            depths = self.layout.depths_of(law)
            if depths:  # the first depth has the most customers in a cell, so the largest table
                total += self._seats(law, None).log_likelihood(d, theta)
                total += sum_log_stirling(*self._pairs(law), depths[0], laws)
            if self.priors.discount is None:
                total += _log_beta(d, *self.priors.discount_prior)
            if self.priors.concentration is None:
                total += np.sum(_log_gamma(theta, *self.priors.concentration_prior))
        return float(total)

    def tables_by_law(self) -> Places:
        """Return the number of tables of each law."""
        parts = [self.tables[self.layout.cells_of(law)] for law in range(self.layout.n_laws)]
        return np.array([part.sum(dtype=np.int64) for part in parts])


def _between(ptr: Places, depths: range) -> slice:
    """Return the slice of consecutive depths, given the offsets of all depths."""
    return slice(int(ptr[depths.start]), int(ptr[depths.stop]))


def _log_beta(x: float, p: float, q: float) -> float:
    """Return the log density of Beta(p, q) at x."""
    constant = math.lgamma(p + q) - math.lgamma(p) - math.lgamma(q)
    return constant + (p - 1.0) * math.log(x) + (q - 1.0) * math.log1p(-x)


def _log_gamma(x: Any, shape: float, rate: float) -> Any:
    """Return the log density of Gamma(shape, rate) at x, a number or an array of them."""
    constant = shape * math.log(rate) - math.lgamma(shape)
    return constant + (shape - 1.0) * np.log(x) - rate * x
