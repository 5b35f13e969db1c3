"""Draws of the discount and the concentration that the restaurants of one depth share."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._random import draw_slice
from skdp._typing import Floats, Ints, Places
from skdp.processes._kernels_franchise_hyper import (
    LARGEST_LOG,
    draw_concentrations,
    log_tables_by_node,
    log_tables_given,
)

_SMALLEST = 1e-8
"""Draws of a discount stay that far from 0 and 1, where digits are lost."""


class Histogram(NamedTuple):
    """Distinct positive values, and how often each occurs."""

    values: Places
    counts: Places

    @classmethod
    def of(cls, numbers: NDArray[np.integer]) -> Histogram:
        """Return the histogram of numbers; zeros are left out."""
        return cls.of_counts(np.bincount(numbers))

    @classmethod
    def none(cls) -> Histogram:
        """Return the histogram of nothing."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64))

    @classmethod
    def of_counts(cls, counts: Places) -> Histogram:
        """Return the histogram of which ``counts[i]`` numbers are i; zeros are left out."""
        values = np.flatnonzero(counts[1:]) + 1
        return cls(values, counts[values].astype(np.int64))


class Seats(NamedTuple):
    """What the restaurants of one depth tell of their discount and concentration.

    Attributes
    ----------
    sizes : Histogram
        Of the sizes of all tables. Only the discount depends on it.
    tables, customers : Histogram
        Of the restaurants' numbers of tables and of customers.
    """

    sizes: Histogram
    tables: Histogram
    customers: Histogram

    def log_likelihood(self, discount: float, concentration: float) -> float:
        """Return log p(tables | d, theta), up to what does not depend on them."""
        return float(
            log_tables_given(discount, concentration, *self.sizes, *self.tables, *self.customers)
        )


class NodeSeats(NamedTuple):
    """The same where each restaurant has a concentration of its own.

    Attributes
    ----------
    sizes : Histogram
    tables, customers : (n_nodes,) int32
        Of each restaurant.
    """

    sizes: Histogram
    tables: Ints
    customers: Ints

    def log_likelihood(self, discount: float, concentration: Floats) -> float:
        """Return log p(tables | d, thetas), up to what does not depend on them."""
        return float(
            log_tables_by_node(discount, concentration, *self.sizes, self.tables, self.customers)
        )


def slice_discount(
    seats: Seats | NodeSeats,
    discount: float,
    concentration: Any,
    prior: tuple[float, float],
    rng: NDArray[np.uint64],
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
    """
    p, q = prior

    def log_density(d: float) -> float:
        if not _SMALLEST <= d <= 1.0 - _SMALLEST:
            return -math.inf
        density = (p - 1.0) * math.log(d) + (q - 1.0) * math.log1p(-d)
        return density + seats.log_likelihood(d, concentration)

    start = min(max(discount, _SMALLEST), 1.0 - _SMALLEST)
    return draw_slice(log_density, start, rng, width=0.1)


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
    seats = seats._replace(sizes=Histogram.none())

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
