"""Draws of the discount and the concentration shared by the restaurants of one depth."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Ints, Places
from skdp.processes._kernels_cell_pairs import (
    FEW,
    MOST_ROWS,
    count_pairs,
    count_values,
    sum_log_seatings,
)
from skdp.processes._kernels_franchise_hyper import (
    SMALLEST,
    draw_concentrations,
    draw_discount_by_node,
    draw_discount_of_pairs,
    draw_discount_of_sizes,
    draw_log_concentration,
    log_sizes_given,
    log_tables_by_node,
    log_tables_given,
)

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
        many = many[: count_values(numbers, few, many)]
        few_values = np.flatnonzero(few)
        values, counts = np.unique(many, return_counts=True)
        return cls(
            np.concatenate([few_values, values.astype(np.int64)]),
            np.concatenate([few[few_values], counts]),
        )

    @classmethod
    def of_counts(cls, counts: Places) -> Histogram:
        """Return the histogram in which ``counts[i]`` numbers are i, without zeros."""
        values = np.flatnonzero(counts[1:]) + 1
        return cls(values, counts[values].astype(np.int64))


class Sizes(NamedTuple):
    """The distinct sizes of tables and their counts, if the seats of customers are known."""

    values: Places
    counts: Places

    @classmethod
    def of_counts(cls, counts: Places) -> Sizes:
        """Return the sizes if ``counts[i]`` tables have i customers."""
        return cls(*Histogram.of_counts(counts))

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of `log_sizes_given` after the discount."""
        return tuple(self)

    def log_seatings(self, discount: float) -> float:
        """Return log prod_s (1 - d)_(s - 1), the factor of the seats that depends on d."""
        return float(log_sizes_given(discount, *self))


class CellPairs(NamedTuple):
    """Distinct pairs of customers and tables of cells, with seatings integrated out."""

    customers: Places  # (n_pairs,), sorted, > tables, since other pairs are uninformative
    tables: Places  # (n_pairs,)
    counts: Places  # (n_pairs,), number of cells

    @classmethod
    def of(cls, cells: Ints, customers: Ints, tables: Ints) -> CellPairs:
        """Return the pairs of `cells`, given the customers and tables of all cells."""
        few, many = np.zeros((FEW + 1, FEW), np.int64), np.empty((len(cells), 2), np.int32)
        many = many[: count_pairs(cells, customers, tables, few, many)]
        n, t = np.nonzero(few)
        keys, counts = np.unique(many[:, 0] * np.int64(2**32) + many[:, 1], return_counts=True)
        return cls(
            np.concatenate([n, keys >> 32]),
            np.concatenate([t, keys & (2**32 - 1)]),
            np.concatenate([few[n, t], counts]),
        )

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of `sum_log_seatings` after the discount."""
        width = int(self.tables[self.customers <= MOST_ROWS].max(initial=1)) + 1
        return (*self, *_NO_RATIOS, np.empty((3, width)))

    def log_seatings(self, discount: float) -> float:
        """Return log prod S_d(c, t), up to terms that do not depend on d."""
        return float(sum_log_seatings(discount, *self.arguments()))


class Seats(NamedTuple):
    """Statistics of the restaurants of one depth for their discount and concentration."""

    cells: Sizes | CellPairs | None  # sizes of tables, or customers and tables
    tables: Histogram  # of the restaurants' numbers of tables
    customers: Histogram  # of the restaurants' numbers of customers

    def restaurants(self) -> tuple[Any, ...]:
        """Return the arguments of `log_tables_given` after the concentration."""
        return *self.tables, *self.customers

    def log_likelihood(self, discount: float, concentration: float) -> float:
        """Return log p(tables | d, theta), up to terms that do not depend on d and theta."""
        total = 0.0 if self.cells is None else self.cells.log_seatings(discount)
        return total + float(log_tables_given(discount, concentration, *self.restaurants()))


class NodeSeats(NamedTuple):
    """Statistics of the restaurants of one depth if each has its own concentration."""

    cells: Sizes | CellPairs | None  # as in `Seats`
    tables: Ints  # (n_nodes,)
    customers: Ints  # (n_nodes,)

    def restaurants(self) -> tuple[Any, ...]:
        """Return the arguments of `log_tables_by_node` after the concentration."""
        return self.tables, self.customers

    def log_likelihood(self, discount: float, concentration: Floats) -> float:
        """Return log p(tables | d, thetas), up to terms that do not depend on d and thetas."""
        total = 0.0 if self.cells is None else self.cells.log_seatings(discount)
        return total + float(log_tables_by_node(discount, concentration, *self.restaurants()))


def slice_discount(
    seats: Seats | NodeSeats,
    discount: float,
    concentration: Any,  # of all restaurants, or (n_nodes,)
    prior: tuple[float, float],
    rng: NDArray[np.uint64],
    width: float = 0.1,  # approximate scale of the posterior; a wrong scale only costs time
) -> float:
    """Return the next d of a chain that leaves p(d | tables, theta) invariant; prior: Beta."""
    assert seats.cells is not None
    cells, restaurants = seats.cells.arguments(), seats.restaurants()
    if isinstance(seats, NodeSeats):
        draw = draw_discount_by_node
    else:
        draw = draw_discount_of_sizes if isinstance(seats.cells, Sizes) else draw_discount_of_pairs
    start = min(max(discount, SMALLEST), 1.0 - SMALLEST)
    return float(draw(start, width, _MAX_STEPS, rng, *prior, concentration, cells, restaurants))


def slice_concentration(
    seats: Seats,
    discount: float,
    concentration: float,
    prior: tuple[float, float],
    rng: NDArray[np.uint64],
) -> float:
    """Return the next theta of a chain that leaves p(theta | tables, d) invariant; prior: Gamma."""
    start = math.log(concentration)
    return math.exp(
        draw_log_concentration(start, 2.0, _MAX_STEPS, rng, discount, *prior, seats.restaurants())
    )


def slice_concentrations(
    seats: NodeSeats,
    discount: float,
    concentration: Floats,
    prior: tuple[float, float],
    rng: NDArray[np.uint64],
) -> None:
    """Update the theta of each restaurant in place, as in `slice_concentration`."""
    draw_concentrations(discount, concentration, seats.tables, seats.customers, *prior, rng)
