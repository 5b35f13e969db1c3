"""Draws of the discount and the concentration that the restaurants of one depth share."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random import draw_slice
from skdp._numeric._typing import Floats, Ints, Places
from skdp.processes._kernels_cell_pairs import (
    FEW,
    MOST_ROWS,
    count_pairs,
    count_values,
    sum_log_seatings,
)
from skdp.processes._kernels_franchise_hyper import (
    LARGEST_LOG,
    draw_concentrations,
    log_sizes_given,
    log_tables_by_node,
    log_tables_given,
)

_SMALLEST = 1e-8
"""Draws of a discount stay that far from 0 and 1, where digits are lost."""

_FEW_VALUES = 1024
"""Numbers below it are counted in an array."""

_NO_RATIOS = np.empty((0, 2)), np.empty(0, np.int64)


class Histogram(NamedTuple):
    """Distinct positive values, and how often each occurs."""

    values: Places
    counts: Places

    @classmethod
    def of(cls, numbers: NDArray[np.int32]) -> Histogram:
        """Return the histogram of numbers; zeros and ones are left out, they say nothing."""
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
        """Return the histogram of which ``counts[i]`` numbers are i; zeros are left out."""
        values = np.flatnonzero(counts[1:]) + 1
        return cls(values, counts[values].astype(np.int64))


class Sizes(NamedTuple):
    """The sizes of all tables, and how many tables have each: the seats of every customer."""

    values: Places
    counts: Places

    @classmethod
    def of_counts(cls, counts: Places) -> Sizes:
        """Return those of which ``counts[i]`` tables have i customers."""
        return cls(*Histogram.of_counts(counts))

    def log_seatings(self, discount: float) -> float:
        """Return log prod_s (1 - d)_(s - 1), the seats' factor that depends on d."""
        return float(log_sizes_given(discount, *self))


class Pairs(NamedTuple):
    """Customers and tables of cells, and how many cells have them: who sits where is summed out.

    Attributes
    ----------
    customers, tables, counts : (n_pairs,) int64
        Distinct pairs, by the customers. Without those of as many tables, which say nothing.
    """

    customers: Places
    tables: Places
    counts: Places

    @classmethod
    def of(cls, cells: Ints, customers: Ints, tables: Ints) -> Pairs:
        """Return the pairs of some cells, given the customers and tables of all."""
        few, many = np.zeros((FEW + 1, FEW), np.int64), np.empty((len(cells), 2), np.int32)
        many = many[: count_pairs(cells, customers, tables, few, many)]
        n, t = np.nonzero(few)
        keys, counts = np.unique(many[:, 0] * np.int64(2**32) + many[:, 1], return_counts=True)
        return cls(
            np.concatenate([n, keys >> 32]),
            np.concatenate([t, keys & (2**32 - 1)]),
            np.concatenate([few[n, t], counts]),
        )

    def log_seatings(self, discount: float) -> float:
        """Return log prod S_d(c, t), up to what does not depend on d."""
        width = int(self.tables[self.customers <= MOST_ROWS].max(initial=1)) + 1
        return float(sum_log_seatings(*self, discount, *_NO_RATIOS, np.empty((3, width))))


class Seats(NamedTuple):
    """What the restaurants of one depth tell of their discount and concentration.

    Attributes
    ----------
    cells : Sizes, Pairs or None
        Who sits with whom, or how many at how many tables. The concentration does not depend on it.
    tables, customers : Histogram
        Of the restaurants' numbers of tables and of customers.
    """

    cells: Sizes | Pairs | None
    tables: Histogram
    customers: Histogram

    def log_likelihood(self, discount: float, concentration: float) -> float:
        """Return log p(tables | d, theta), up to what does not depend on them."""
        total = 0.0 if self.cells is None else self.cells.log_seatings(discount)
        return total + float(
            log_tables_given(discount, concentration, *self.tables, *self.customers)
        )


class NodeSeats(NamedTuple):
    """The same where each restaurant has a concentration of its own.

    Attributes
    ----------
    cells : Sizes, Pairs or None
    tables, customers : (n_nodes,) int32
        Of each restaurant.
    """

    cells: Sizes | Pairs | None
    tables: Ints
    customers: Ints

    def log_likelihood(self, discount: float, concentration: Floats) -> float:
        """Return log p(tables | d, thetas), up to what does not depend on them."""
        total = 0.0 if self.cells is None else self.cells.log_seatings(discount)
        return total + float(
            log_tables_by_node(discount, concentration, self.tables, self.customers)
        )


def slice_discount(
    seats: Seats | NodeSeats,
    discount: float,
    concentration: Any,
    prior: tuple[float, float],
    rng: NDArray[np.uint64],
    width: float = 0.1,
) -> float:
    """Return the next d of a chain that leaves p(d | tables, theta) invariant.

    Parameters
    ----------
    seats : Seats or NodeSeats
    discount : float
        The current value.
    concentration : float, or (n_nodes,) array
        One for all restaurants, or one for each.
    prior : (p, q)
        d ~ Beta(p, q).
    rng : (4,) uint64
    width : float, default=0.1
        About the scale of the posterior: a wrong one costs time only.
    """
    p, q = prior

    def log_density(d: float) -> float:
        if not _SMALLEST <= d <= 1.0 - _SMALLEST:
            return -math.inf
        density = (p - 1.0) * math.log(d) + (q - 1.0) * math.log1p(-d)
        return density + seats.log_likelihood(d, concentration)

    start = min(max(discount, _SMALLEST), 1.0 - _SMALLEST)
    return draw_slice(log_density, start, rng, width=width)


def slice_concentration(
    seats: Seats,
    discount: float,
    concentration: float,
    prior: tuple[float, float],
    rng: NDArray[np.uint64],
) -> float:
    """Return the next theta of a chain that leaves p(theta | tables, d) invariant.

    The chain moves log(theta), from log(1e-100) to log(1e100).

    Parameters
    ----------
    seats : Seats
    discount, concentration : float
        The current values.
    prior : (shape, rate)
        theta ~ Gamma(shape, rate).
    rng : (4,) uint64
    """
    shape, rate = prior
    seats = seats._replace(cells=None)

    def log_density(log_theta: float) -> float:
        if abs(log_theta) > LARGEST_LOG:
            return -math.inf
        theta = math.exp(log_theta)
        return shape * log_theta - rate * theta + seats.log_likelihood(discount, theta)

    return math.exp(draw_slice(log_density, math.log(concentration), rng))


def slice_concentrations(
    seats: NodeSeats,
    discount: float,
    concentration: Floats,
    prior: tuple[float, float],
    rng: NDArray[np.uint64],
) -> None:
    """Move the theta of each restaurant to the next of a chain, as `slice_concentration` does.

    Parameters
    ----------
    seats : NodeSeats
    discount : float
    concentration : (n_nodes,) array, changed
    prior : (shape, rate)
        theta ~ Gamma(shape, rate), independently.
    rng : (4,) uint64
    """
    draw_concentrations(discount, concentration, seats.tables, seats.customers, *prior, rng)
