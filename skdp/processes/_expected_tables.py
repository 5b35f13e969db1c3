"""The expected number of tables of a Chinese restaurant, and its inverse in the concentration."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_floats, check_concentration, check_discount, check_integers, shorten

_N_HALVINGS = 70
"""Nine bring the bounds of a concentration within a factor of two, and 53 more to its last bit."""

_TOLERANCE = 1e-6
"""Largest relative error of the expected number of tables if b is close to -a."""


def expected_table_count(
    n: ArrayLike, discount: float, concentration: float
) -> NDArray[np.float64]:
    """Compute the expected number of tables of n customers in a Chinese restaurant process.

    It is ``(b / a) ((b + a)_n / (b)_n - 1)``, or ``b (psi(b + n) - psi(b))`` for a = 0 ([1]_,
    section 2.3.5), and is computed without cancellation for every a, however small, every b and
    every n.

    Parameters
    ----------
    n : array_like of int
        Numbers of customers, >= 0.
    discount : float
        Discount a, in [0, 1).
    concentration : float
        Concentration b, > -discount.

    Returns
    -------
    expected : ndarray of the shape of `n`
        Expected numbers of tables.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> from skdp.processes import expected_table_count
    >>> expected_table_count([1, 10, 1000], discount=0.0, concentration=1.0).round(3)
    array([1.   , 2.929, 7.485])
    """
    n = check_integers(n, "n").astype(np.float64)
    a = check_discount(discount)
    b = check_concentration(concentration, above=-a)
    return np.where(n > 0, 1.0 + _tables_after_first(np.maximum(n, 1.0), a, np.array(b + a)), 0.0)


def concentration_for_table_count(
    n: ArrayLike, table_count: ArrayLike, discount: float = 0.0
) -> NDArray[np.float64]:
    """Compute the concentration that leads to a given expected number of tables of n customers.

    The expected number of tables of `expected_table_count` increases with the concentration b, from
    1 (b = -a) to n (b infinite). Its inverse is computed by bisection. Use it to choose a
    concentration, or the mean of its prior, by the number of clusters that you expect.

    Parameters
    ----------
    n : array_like of int
        Numbers of customers, >= 2.
    table_count : array_like of float
        Expected numbers of tables, above 1 and below n, broadcast against `n`.
    discount : float, default=0.0
        Discount a, in [0, 1).

    Returns
    -------
    concentration : ndarray of the shape of `n` and `table_count`, broadcast
        Concentrations b, > -discount. They are negative if there are fewer tables than expected for
        b = 0 and the discount.

    Raises
    ------
    ValueError
        If an argument is out of range, because no concentration leads to one table, or to n. Also
        if the concentration would be too close to -discount for a floating-point number.

    Examples
    --------
    >>> from skdp.processes import concentration_for_table_count, expected_table_count
    >>> b = concentration_for_table_count(1000, [5, 50])
    >>> b.round(3)
    array([ 0.589, 10.935])
    >>> round(float(expected_table_count(1000, discount=0.0, concentration=b[1])), 9)
    50.0
    """
    n = check_integers(n, "n").astype(np.float64)
    expected = as_floats(table_count, "table_count")
    a = check_discount(discount)
    if np.any(n < 2.0):
        raise ValueError("n must hold integers >= 2: a single customer has one table.")
    try:
        n, expected = np.broadcast_arrays(n, expected)
    except ValueError:
        raise ValueError(
            f"n and table_count must broadcast, got shapes {n.shape} and {expected.shape}."
        ) from None
    if not np.all((expected > 1.0) & (expected < n)):
        raise ValueError(
            f"table_count must hold numbers above 1 and below n, got {shorten(table_count)}: no "
            "concentration leads to one table, or to as many as there are customers."
        )
    # Bounds of b + a. Each customer after the first opens a table with probability
    # (b + a E) / (b + i), so E - 1 <= (b + a) 46 n / (1 - a)^2 gives the lower bound; that
    # probability is >= b / (b + i), so n - E <= n (n - 1) / (2 b) gives the upper bound.
    low = (expected - 1.0) * (1.0 - a) ** 2 / (100.0 * n)
    high = 1.0 + 0.5 * n * (n - 1.0) / (n - expected)
    for _ in range(_N_HALVINGS):
        middle = np.where(high > 2.0 * low, np.sqrt(low) * np.sqrt(high), 0.5 * (low + high))
        is_above = 1.0 + _tables_after_first(n, a, middle) > expected
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    b = np.maximum(high - a, np.nextafter(-a, 1.0))
    found = 1.0 + _tables_after_first(n, a, b + a)
    if np.any(np.abs(found - expected) > _TOLERANCE * expected):
        raise ValueError(
            f"table_count={shorten(table_count)} cannot be reached: with discount={a:g} and this "
            "many customers, no floating-point number is as close to -discount as it would be."
        )
    return b


def _tables_after_first(
    n: NDArray[np.float64], a: float, c: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the expected number of tables besides the first, of n >= 1 customers; c = b + a > 0.

    It is (b + a) ((b + a + 1)_{n-1} / (b + 1)_{n-1} - 1) / a, which does not cancel near b = -a.
    """
    # log ((b + 1 + a)_{n-1} / (b + 1)_{n-1}) / a is a sum over all customers except the first: 16
    # terms are added one by one, and the rest by Stirling's series.
    growth = np.zeros(np.broadcast_shapes(n.shape, c.shape))
    for i in range(1, 17):
        growth += np.where(n > i, _log1p_ratio(a, c + (i - a)), 0.0)
    last = np.maximum(n, 17.0)
    x, y = c + (17.0 - a), c + (last - a)
    series = _stirling_series(a, y) - _stirling_series(a, x)
    growth += np.log1p((last - 17.0) / (x + a)) + series
    return c * (np.expm1(a * growth) / a if a > 0.0 else growth)


def _log1p_ratio(a: float, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(1 + a / x) / a, and its limit 1 / x at a = 0."""
    return np.log1p(a / x) / a if a > 0.0 else 1.0 / x


def _stirling_series(a: float, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(Gamma(x + a) / Gamma(x)) / a - log(x + a) for x >= 16, 0 <= a < 1."""
    ratio = a / x
    # log1p(ratio) / ratio - 1, by its series because the difference would cancel.
    powers = sum((-ratio) ** i / (i + 1) for i in range(1, 14))
    p, q = 1.0 / x, 1.0 / (x + a)
    third = p * p + p * q + q * q  # (p^3 - q^3) / (a p q)
    fifth = p**4 + p**3 * q + p * p * q * q + p * q**3 + q**4
    tail = p * q * (-1.0 / 12.0 + third / 360.0 - fifth / 1260.0)
    return powers - 0.5 / x * (1.0 + powers) + tail
