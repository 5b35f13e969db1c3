"""A Chinese restaurant franchise with known dishes: parameters, tables, predictions and chain."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from skdp._checks import (
    as_array,
    check_beta_prior,
    check_concentration,
    check_discount,
    check_gamma_prior,
    is_number,
    shorten,
)
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp._part import ChainComponent, ChainState
from skdp.processes import _kernels_franchise as kernels
from skdp.processes import _kernels_table_counts as table_kernels
from skdp.processes._kernels_interpolated import add_distributions, add_probabilities, find_cells
from skdp.processes._network_tables import StirlingRatios, plan_ratios

# Draws of the discount and the concentration shared by the restaurants of one depth.


_MAX_STEPS = 100
"""Largest number of widths of a slice's interval after stepping out."""

_FEW_VALUES = 1024
"""Numbers below this are counted in an array."""

_NO_RATIOS = np.empty((0, 2)), np.empty(0, np.int64)


class Histogram(NamedTuple):
    """Distinct positive values and their counts."""

    values: Places
    counts: Places

    @classmethod
    def of(cls, numbers: NDArray[np.int32]) -> Histogram:
        """Return the histogram of numbers without zeros and ones, which are uninformative."""
        few, many = np.zeros(_FEW_VALUES, np.int64), np.empty(len(numbers), np.int32)
        many = many[: table_kernels.count_values(numbers, few, many)]
        few_values = np.flatnonzero(few)
        values, counts = np.unique(many, return_counts=True)
        return cls(
            np.concatenate([few_values, values.astype(np.int64)]),
            np.concatenate([few[few_values], counts]),
        )

    @classmethod
    def of_counts(cls, counts: Places) -> Self:
        """Return the histogram in which ``counts[i]`` numbers are i, without zeros."""
        values = np.flatnonzero(counts[1:]) + 1
        return cls(values, counts[values].astype(np.int64))


class Sizes(Histogram):
    """The distinct sizes of tables and their counts, if the seats of customers are known."""

    __slots__ = ()

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of `log_sizes_given` after the discount."""
        return tuple(self)

    def log_seatings(self, discount: float) -> float:
        """Return log prod_s (1 - d)_(s - 1), the factor of the seats that depends on d."""
        return float(kernels.log_sizes_given(discount, *self))


class CellPairs(NamedTuple):
    """Distinct pairs of customers and tables of cells, with seatings integrated out."""

    customers: Places  # (n_pairs,), sorted, > tables, since other pairs are uninformative
    tables: Places  # (n_pairs,)
    counts: Places  # (n_pairs,), number of cells

    @classmethod
    def of(cls, cells: Ints, customers: Ints, tables: Ints) -> CellPairs:
        """Return the pairs of `cells`, given the customers and tables of all cells."""
        few, many = (
            np.zeros((table_kernels.FEW + 1, table_kernels.FEW), np.int64),
            np.empty((len(cells), 2), np.int32),
        )
        many = many[: table_kernels.count_pairs(cells, customers, tables, few, many)]
        n, t = np.nonzero(few)
        keys, counts = np.unique(many[:, 0] * np.int64(2**32) + many[:, 1], return_counts=True)
        return cls(
            np.concatenate([n, keys >> 32]),
            np.concatenate([t, keys & (2**32 - 1)]),
            np.concatenate([few[n, t], counts]),
        )

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of `sum_log_seatings` after the discount."""
        width = int(self.tables[self.customers <= table_kernels.MOST_ROWS].max(initial=1)) + 1
        return (*self, *_NO_RATIOS, np.empty((3, width)))

    def log_seatings(self, discount: float) -> float:
        """Return log prod S_d(c, t), up to terms that do not depend on d."""
        return float(table_kernels.sum_log_seatings(discount, *self.arguments()))


class Seats(NamedTuple):
    """Statistics of the restaurants of one depth for their discount and concentration."""

    cells: Sizes | CellPairs | None  # sizes of tables, or customers and tables
    # Numbers of tables and of customers; (n_nodes,) if each restaurant has its own concentration.
    tables: Histogram | Ints
    customers: Histogram | Ints

    @property
    def by_node(self) -> bool:
        """Whether each restaurant has its own concentration."""
        return not isinstance(self.tables, Histogram)

    def restaurants(self) -> tuple[Any, ...]:
        """Return the last arguments of `log_tables_given`, or of `log_tables_by_node`."""
        return (self.tables, self.customers) if self.by_node else (*self.tables, *self.customers)

    def log_likelihood(self, discount: float, concentration: Any) -> float:
        """Return log p(tables | d, theta), up to terms that do not depend on d and theta."""
        total = 0.0 if self.cells is None else self.cells.log_seatings(discount)
        log_tables = kernels.log_tables_by_node if self.by_node else kernels.log_tables_given
        return total + float(log_tables(discount, concentration, *self.restaurants()))


def slice_discount(
    seats: Seats,
    discount: float,
    concentration: Any,  # of all restaurants, or (n_nodes,)
    prior: tuple[float, float],
    rng: NDArray[np.uint64],
    width: float = 0.1,  # approximate scale of the posterior; a wrong scale only costs time
) -> float:
    """Return the next d of a chain that leaves p(d | tables, theta) invariant; prior: Beta."""
    assert seats.cells is not None
    cells, restaurants = seats.cells.arguments(), seats.restaurants()
    if seats.by_node:
        draw = kernels.draw_discount_by_node
    elif isinstance(seats.cells, Sizes):
        draw = kernels.draw_discount_of_sizes
    else:
        draw = kernels.draw_discount_of_pairs
    start = min(max(discount, kernels.SMALLEST), 1.0 - kernels.SMALLEST)
    return float(draw(start, width, _MAX_STEPS, rng, *prior, concentration, cells, restaurants))


def slice_concentration(
    seats: Seats,
    discount: float,
    concentration: float,
    prior: tuple[float, float],
    rng: NDArray[np.uint64],
) -> float:
    """Return the next theta of a chain that leaves p(theta | tables, d) invariant; prior: Gamma."""
    start, restaurants = math.log(concentration), seats.restaurants()
    draw = kernels.draw_log_concentration
    return math.exp(draw(start, 2.0, _MAX_STEPS, rng, discount, *prior, restaurants))


# The layout and the tables of a franchise.


_NO_CELLS = np.empty(0, np.int32)

_TABULATED = 1000
"""Number of customers up to which ratios are tabulated."""

_SPARE = 16
"""A table for one sweep has room for n + 4 sqrt(n) customers or tables in a cell, and these."""


@dataclass(frozen=True)
class FranchiseLayout:
    """The cells and restaurants of a franchise, and the observed customers."""

    # Cells and restaurants of a depth have consecutive numbers, beginning with the root. A *law* is
    # a discount and a concentration: each depth has its own, but all from `n_laws` - 1 on share
    # one.

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


class Franchise(ChainComponent):
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
            kernels.count_customers(
                cells.start, cells.stop, layout.observed, self._cells(), self._nodes()
            )

    def extended(
        self,
        layout: FranchiseLayout,
        base: Floats,
        places: Places,  # (n_cells,), where the cells of this franchise are in the layout, or -1
        arrivals: Ints,  # cells of the new customers
        rng: NDArray[np.uint64],
    ) -> Franchise:
        """Return a franchise with the same tables and more customers, who take seats in turn."""
        new = np.bincount(arrivals, minlength=len(layout.parent)).astype(np.int32)
        before = FranchiseLayout.of(
            layout.cell_ptr, layout.node_ptr, layout.parent, layout.node, layout.observed - new,
            layout.n_laws,
        )  # fmt: skip
        tables = np.minimum(before.capacity, 1)  # 1 in cells that this franchise leaves out
        is_kept = (self.tables > 0) & (places >= 0)
        tables[places[is_kept]] = self.tables[is_kept]
        other = Franchise(before, base, self.priors, tables, self.concentration)
        other.discount = self.discount.copy()
        depths = np.searchsorted(layout.cell_ptr, arrivals, side="right") - 1
        laws, cells, nodes = other._laws(), other._cells(), other._nodes()
        kernels.seat_customers(arrivals, depths, cells, nodes, laws, other._make_scratch(), rng)
        other.attach(layout, base)
        return other

    def empty_seats(self, cells: Ints, rng: NDArray[np.uint64]) -> None:
        """Remove an observed customer from each of some cells, in turn."""
        depths = np.searchsorted(self.layout.cell_ptr, cells, side="right") - 1
        known = self._cells(), self._nodes(), self._laws(), self._make_scratch()
        kernels.unseat_customers(cells, depths, *known, rng)

    def _cells(self) -> kernels.Cells:
        return kernels.Cells(self.customers, self.tables, self.layout.parent, self.layout.node)

    def _nodes(self) -> kernels.Nodes:
        return kernels.Nodes(self.node_customers, self.node_tables)

    def _laws(self) -> kernels.ProcessParameters:
        """Return discounts, concentrations, and the corresponding ratios of Stirling numbers."""
        if self._ratios is None:
            self._ratios = self._make_ratios()
        by_node, laws = self.priors.by_node, self.layout.laws
        concentration = self.concentration if by_node else self.concentration[laws]
        return kernels.ProcessParameters(
            self.discount[laws], concentration, by_node, self._base, *self._ratios
        )

    def nodes_and_laws(self) -> tuple[kernels.Nodes, kernels.ProcessParameters]:
        """Return counts of restaurants and laws, for kernels that only read them."""
        return self._nodes(), self._laws()

    def _make_ratios(self) -> _Ratios:
        """Return the concatenated ratios of all laws with the bounds for each depth; also rows."""
        plans = []
        for law, d in enumerate(self.discount.tolist()):
            n_max, bounds = self.layout.largest_count(law), [_TABULATED]
            if self.priors.discount is None:  # the next sweep has another table
                cells = self.layout.cells_of(law)
                counts = self.customers[cells], self.tables[cells]
                most = [int(c.max(initial=0)) for c in counts]
                bounds = [min(n + 4 * math.isqrt(n) + _SPARE, _TABULATED) for n in most]
            plans.append((n_max, d, *plan_ratios(n_max, d, *bounds)))
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

    def _make_scratch(self) -> kernels.PathScratch:
        n = self.layout.n_depths
        return kernels.PathScratch(np.zeros(n, np.int32), np.zeros(n + 1))

    def sweep(self, rng: NDArray[np.uint64], chosen: Ints | None = None) -> None:
        """Redraw tables, from the deepest depth up, then discounts and concentrations.
        The tables are all, or as many in each cell as customers are in `chosen` cells.
        """
        laws, cells, nodes = self._laws(), self._cells(), self._nodes()
        scratch, most, visited = self._make_scratch(), self.layout.capacity, self._visited
        if chosen is not None:
            most = np.zeros_like(most)
            while len(chosen):
                np.add.at(most, chosen, 1)
                chosen = self.layout.parent[chosen]
                chosen = chosen[chosen >= 0]
            visited = [of_depth[most[of_depth] > 0] for of_depth in visited]
        for m in range(self.layout.n_depths - 1, -1, -1):
            kernels.sweep_cells(visited[m], m, most, cells, nodes, laws, scratch, rng)
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
            theta, prior = self._concentration_of(law), priors.concentration_prior
            if priors.by_node:  # in place
                kernels.draw_concentrations(d, theta, *seats.restaurants(), *prior, rng)
            else:
                self.concentration[law] = slice_concentration(seats, d, theta, prior, rng)

    def _seats(self, law: int, pairs: CellPairs | None) -> Seats:
        """Return the statistics of a law's restaurants for its discount and concentrations."""
        nodes = self.layout.nodes_of(law)
        counts = self.node_tables[nodes], self.node_customers[nodes]
        return Seats(pairs, *(counts if self.priors.by_node else map(Histogram.of, counts)))

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
                total += kernels.sum_log_stirling(*self._pairs(law), depths[0], laws)
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


# Initial concentrations and tables.


_CANDIDATES = np.geomspace(1e-2, 1e4, 61)
_SMALLEST = 1e-2
"""Least concentration; with a discount the formula may give a negative one."""
_MOST_CELLS = 2**13
"""About the largest number of cells of a depth that its concentration depends on."""
_DIRICHLET = 1e-6
"""Discount below which the number of tables is that of a Dirichlet process."""


class FranchiseStart(NamedTuple):
    """Where the sampler of a franchise begins."""

    concentration: Floats  # (n_laws,)
    tables: Ints  # (n_cells,)


def find_start(layout: FranchiseLayout, base: Floats, priors: FranchisePriors) -> FranchiseStart:
    """Return a start near the posterior of concentrations and tables, which mix slowly."""
    # From one table in each cell, large restaurants would have far too few tables for hundreds of
    # sweeps, and concentrations would stay low. Here concentrations do not depend on tables.
    n_laws = layout.n_laws
    discount = np.full(n_laws, 0.5) if priors.discount is None else priors.discount
    is_given = priors.concentration is not None
    shape, rate = priors.concentration_prior
    log_posterior = np.tile((shape - 1.0) * np.log(_CANDIDATES) - rate * _CANDIDATES, (n_laws, 1))
    concentration = np.ones(n_laws) if priors.concentration is None else priors.concentration.copy()
    customers = layout.observed.astype(float)
    tables = np.ones(len(layout.parent), np.int32)
    for m in range(layout.n_depths - 1, -1, -1):
        cells, law = layout.cells_at(m), int(layout.laws[m])
        mine = customers[cells]
        node = layout.node[cells].astype(np.int64) - layout.nodes_at(m).start
        shares = base if m == 0 else _shares_above(layout, m, mine)
        d = float(discount[law])
        if not is_given:
            # Without a discount, customers are Dirichlet-multinomial draws around the distribution
            # above, for which all customers of restaurants with the same parent are taken together.
            log_posterior[law] += _log_evidence(mine, node, shares)
            theta = _CANDIDATES[log_posterior[law].argmax()]
            # With a discount, a process with this concentration varies as much around its base.
            concentration[law] = max((1.0 - d) * (theta + 1.0) - 1.0, _SMALLEST)
        expected = _expected_tables(mine, concentration[law] * shares, d)
        tables[cells] = np.clip(np.rint(expected), 1.0, np.maximum(mine, 1.0))
        if m > 0:
            np.add.at(customers, layout.parent[cells], tables[cells])
    return FranchiseStart(concentration, tables)


def _shares_above(layout: FranchiseLayout, m: int, mine: Floats) -> Floats:
    """Return the share of each cell's dish among the customers of its restaurant's siblings."""
    above = layout.cells_at(m - 1)
    parent = layout.parent[layout.cells_at(m)] - above.start
    pooled = np.bincount(parent, mine, above.stop - above.start)
    node = layout.node[above] - layout.nodes_at(m - 1).start
    shares = pooled / np.bincount(node, pooled)[node]
    return np.asarray(shares[parent], float)


def _log_evidence(mine: Floats, node: Places, shares: Floats) -> Floats:
    """Return the log probability of the customers of restaurants, by candidate."""
    n_cells = len(mine)
    # With many cells, use evenly chosen restaurants, scaled up to all cells.
    every = len(mine) // _MOST_CELLS + 1
    chosen = node % every == 0
    totals = np.bincount(node[chosen] // every, mine[chosen])
    mine, shares = mine[chosen], shares[chosen]
    found = np.empty(len(_CANDIDATES))
    for i, theta in enumerate(_CANDIDATES):
        prior = theta * shares
        found[i] = np.sum(gammaln(prior + mine) - gammaln(prior))
        found[i] += np.sum(gammaln(theta) - gammaln(theta + totals))
    return found * (n_cells / max(len(mine), 1))


def _expected_tables(customers: Floats, prior: Floats, discount: float) -> Floats:
    """Return the expected numbers of tables of processes with the concentrations `prior`."""
    if discount < _DIRICHLET:
        return np.asarray(prior * (digamma(prior + customers) - digamma(prior)), float)
    log_ratio = gammaln(prior + customers + discount) - gammaln(prior + customers)
    log_ratio -= gammaln(prior + discount) - gammaln(prior)
    return np.asarray(prior / discount * np.expm1(log_ratio), float)


# The dishes that each restaurant serves.


@dataclass(frozen=True)
class ContextIndex:
    """The cells of every restaurant, one after another, in the order of their dishes: outcomes."""

    n_outcomes: int
    has_root: bool  # one restaurant is above all others; else the first depth is below the base
    cell_ptr: Ints  # (n_nodes + 1,), cells of restaurant u are cell_ptr[u]:cell_ptr[u + 1]
    outcome: Ints  # (n_cells,)
    layout: FranchiseLayout

    def base_of_cells(self, base: Floats) -> Floats:
        """Return the base's probability of the outcome of each cell of the first depth."""
        return base[self.outcome[self.layout.cells_at(0)]]

    def find_cells(self, outcomes: Ints, contexts: Ints) -> Ints:
        """Return the (n, depths) cells of outcomes on paths of restaurants, -1 for none."""
        cells = np.empty_like(contexts)
        find_cells(as_readonly(outcomes), contexts, self.cell_ptr, self.outcome, cells)
        return cells


def pack(parts: list[Places]) -> Ints:
    """Return the concatenated parts as 32-bit integers."""
    return np.concatenate(parts).astype(np.int32)


def count_up(owners: Places, n: int, *, first: int) -> Ints:
    """Return offsets of the items of each of n owners, counted from `first`; owners are sorted."""
    return (np.searchsorted(owners, np.arange(n + 1)) + first).astype(np.int32)


# Predictions that interpolate the restaurants.


@dataclass(frozen=True)
class InterpolatedModel:
    """p(w | u) = mass_uw + backoff_u p(w | the restaurant above u)."""

    context_index: ContextIndex
    mass: Floats  # (n_cells,)
    backoff: Floats  # (n_nodes,), 1 - the sum of the masses of a restaurant's cells
    base: Floats  # (n_outcomes,), distribution above the topmost restaurants
    # (n_laws,), backoff of a restaurant with one customer, if some are not in `context_index`
    chain: Floats = field(default_factory=lambda: np.empty(0))

    def add_to_probabilities(
        self, outcomes: Ints, contexts: Ints, cells: Ints, total: Floats
    ) -> None:
        """Add the probabilities of outcomes at the ends of paths to `total`."""
        add_probabilities(
            as_readonly(outcomes), contexts, cells, self.mass, self.backoff, self.base, total
        )

    def add_to_distributions(self, contexts: Ints, total: Floats) -> None:
        """Add the distributions at the ends of paths to the rows of `total`."""
        index = self.context_index
        add_distributions(
            contexts, int(index.has_root), index.cell_ptr, index.outcome, self.mass, self.backoff,
            self.top(), np.empty(index.n_outcomes), total,
        )  # fmt: skip

    def top(self) -> Floats:
        """Return the distribution of the root, or the base if there is no root."""
        if not self.context_index.has_root:
            return self.base
        last = self.context_index.cell_ptr[1]
        distribution = self.base * self.backoff[0]
        distribution[self.context_index.outcome[:last]] += self.mass[:last]
        return distribution

    def cell_probabilities(self) -> Floats:
        """Return p(w | u) of every cell, including all restaurants above it, (n_cells,)."""
        layout = self.context_index.layout
        lower = np.empty(len(self.mass))
        for m in range(layout.n_depths):
            cells = layout.cells_at(m)
            parent = layout.parent[cells]
            below = lower[parent] if m else self.base[self.context_index.outcome[cells]]
            lower[cells] = self.mass[cells] + self.backoff[layout.node[cells]] * below
        return lower


# Markov chain and samples of models that are a single franchise.


@dataclass(frozen=True)
class TableSample:
    """A sample: discounts, concentrations, and tables of all cells that may have several."""

    tables: Ints  # customers follow from the tables of the cells below
    discount: Floats
    concentration: Floats

    def franchise(self, context_index: ContextIndex, base: Floats) -> Franchise:
        """Return the sample as a franchise."""
        priors = FranchisePriors(
            self.discount, self.concentration, (1.0, 1.0), (1.0, 1.0),
            by_node=len(self.concentration) > len(self.discount),
        )  # fmt: skip
        tables = np.ones(len(context_index.outcome), np.int32)
        tables[context_index.layout.capacity > 1] = self.tables
        return Franchise(context_index.layout, context_index.base_of_cells(base), priors, tables)

    def interpolated(self, context_index: ContextIndex, base: Floats) -> InterpolatedModel:
        """Return p(w | u) = (c - d t) / (theta + C) + (theta + d T) / (theta + C) p(w | above)."""
        franchise = self.franchise(context_index, base)
        discount = self.discount[context_index.layout.laws]
        of_cells = np.repeat(discount, np.diff(context_index.layout.cell_ptr))
        mass = franchise.customers - of_cells * franchise.tables
        of_nodes = np.repeat(discount, np.diff(context_index.layout.node_ptr))
        theta = franchise.node_concentrations()
        total = theta + franchise.node_customers
        backoff = (theta + of_nodes * franchise.node_tables) / total
        mass /= total[context_index.layout.node]
        if franchise.priors.by_node:
            return InterpolatedModel(context_index, mass, backoff, base)
        chain = (self.concentration + self.discount) / (self.concentration + 1.0)
        return InterpolatedModel(context_index, mass, backoff, base, chain)


class FranchiseSampler(ChainComponent):
    """Markov chain of a franchise whose dishes are known."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("context_index",)

    def __init__(
        self,
        context_index: ContextIndex,
        base: Floats,
        priors: FranchisePriors,
        rng: NDArray[np.uint64],
        *,
        finds_start: bool = False,  # near the posterior, not with one table in each cell
    ):
        self.context_index = context_index
        self.base = base
        self.rng = rng
        layout, of_cells = context_index.layout, context_index.base_of_cells(base)
        start = find_start(layout, of_cells, priors) if finds_start else None
        concentration, tables = (None, None) if start is None else start
        self.franchise = Franchise(layout, of_cells, priors, tables, concentration)

    def attach(self, context_index: ContextIndex) -> None:
        """Attach the data."""
        self.context_index = context_index
        self.franchise.attach(context_index.layout, context_index.base_of_cells(self.base))

    def sweep(self) -> None:
        """Draw all tables, discounts and concentrations once."""
        self.franchise.sweep(self.rng)

    def log_joint(self) -> float:
        """Return log p(outcomes, tables, discounts, concentrations)."""
        return self.franchise.log_joint()

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace, with means over restaurants of concentrations."""
        franchise = self.franchise
        row = {"log_joint": self.log_joint()}
        n_tables = franchise.tables_by_law()
        concentrations = franchise.concentrations_by_law()
        for m in range(self.context_index.layout.n_laws):
            row[f"discount_{m}"] = float(franchise.discount[m])
            row[f"concentration_{m}"] = float(np.mean(concentrations[m]))
            row[f"tables_{m}"] = float(n_tables[m])
        return row

    def model(self) -> TableSample:
        """Return the current sample."""
        franchise = self.franchise
        return TableSample(
            franchise.tables[self.context_index.layout.capacity > 1],
            franchise.discount.copy(),
            franchise.concentration.copy(),
        )

    def state(self) -> Any:
        """Return a read-only view of the state."""
        raise NotImplementedError


class LawAverages:
    """Running means of discounts, concentrations and numbers of tables."""

    def __init__(self) -> None:
        self.n = 0
        self.discount: Any = 0.0
        self.concentration: Any = 0.0
        self.n_tables: Any = 0.0

    def add(self, sampler: FranchiseSampler) -> None:
        """Add the sampler's current state to the means."""
        franchise = sampler.franchise
        self.discount = self.discount + franchise.discount
        self.concentration = self.concentration + franchise.concentration
        self.n_tables = self.n_tables + franchise.tables_by_law()
        self.n += 1

    def means(self) -> dict[str, Any]:
        """Return the means, by depth or concentrations by restaurant, as attributes of a fit."""
        return {
            "discounts_": self.discount / self.n,
            "concentrations_": self.concentration / self.n,
            "n_tables_": self.n_tables / self.n,
        }


class FranchiseState(ChainState):
    """The state of a chain after a sweep: a live, read-only view, which `copy` detaches."""

    # Lists have an array for each depth, beginning with the broadest contexts.

    def _by_depth(self, array: NDArray[Any]) -> list[NDArray[Any]]:
        layout = self._sampler.context_index.layout
        return [as_readonly(array[layout.cells_at(m)]) for m in range(layout.n_depths)]

    def _places(self) -> list[NDArray[np.integer]]:
        """Return the restaurant of each cell, numbered within its depth."""
        layout = self._sampler.context_index.layout
        return [
            node - layout.nodes_at(m).start for m, node in enumerate(self._by_depth(layout.node))
        ]

    @property
    def contexts(self) -> list[NDArray[Any]]:
        """The context of each cell, (n_cells, depth), the values that make up the context."""
        index = self._sampler.context_index
        return [index.contexts_at(m)[places] for m, places in enumerate(self._places())]

    @property
    def tables(self) -> list[Ints]:
        """Tables t of each cell, a pair of a context and an outcome that was seen in it."""
        return self._by_depth(self._sampler.franchise.tables)

    @property
    def customers(self) -> list[Ints]:
        """Customers c of each cell."""
        return self._by_depth(self._sampler.franchise.customers)

    @property
    def discounts(self) -> Floats:
        """Discount d of each depth; the last also applies to all greater depths."""
        return as_readonly(self._sampler.franchise.discount)

    @property
    def concentrations(self) -> Any:
        """Concentration theta of each depth, like `discounts`; if by context, a list of arrays."""
        franchise = self._sampler.franchise
        if franchise.priors.by_node:
            return [as_readonly(part) for part in franchise.concentrations_by_law()]
        return as_readonly(franchise.concentration)


# Checks of the parameters of estimators: discounts and concentrations, with a value for each depth.


def check_law_priors(estimator: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the priors on learned discounts and concentrations."""
    return (
        check_beta_prior(estimator.discount_prior, "discount_prior"),
        check_gamma_prior(estimator.concentration_prior, "concentration_prior"),
    )


def check_laws(estimator: Any, n: int, what: str, *, by_node: bool = False) -> FranchisePriors:
    """Return the discounts and concentrations of n depths, called `what`, or their priors."""
    discount = _check_by_depth(estimator.discount, "discount", n, check_discount, what)
    concentration = _check_by_depth(
        estimator.concentration, "concentration", n, check_concentration, what
    )
    by_node = by_node and concentration is None
    return FranchisePriors(discount, concentration, *check_law_priors(estimator), by_node)


def _check_by_depth(
    value: Any, name: str, n: int, check: Callable[[Any], float], what: str
) -> Floats | None:
    """Return a checked value for each of n depths, called `what`; None if they are to be drawn."""
    if isinstance(value, str) and value == "auto":
        return None
    if is_number(value):
        return np.full(n, check(value))
    array = as_array(value, name)
    if array.shape != (n,) or array.dtype.kind not in "iuf":
        raise ValueError(
            f'{name} must be "auto", a number, or {n} numbers, one for each {what}; got '
            f"{shorten(value)}."
        )
    return np.array([check(float(each)) for each in array])
