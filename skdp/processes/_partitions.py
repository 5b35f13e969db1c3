"""Draws from the two-parameter GEM distribution and Chinese restaurant process."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import check_concentration, check_count, check_discount, check_integers, is_number
from skdp._memory import check_memory
from skdp._numba import njit
from skdp._random import (
    Role,
    derive_stream,
    draw_bernoulli,
    draw_log_beta,
    make_seed_sequence,
    next_double,
)

_MAX_COMPONENTS = 1_000_000


@njit
def _break_sticks(a, b, tolerance, weights, first, log_rest, rng):
    """Write the weights of sticks `first`, `first` + 1, ...; return their end and the log rest.

    V_k ~ Beta(1 - a, b + (k + 1) a) is the share of the rest that stick k = 0, 1, ... takes.
    """
    k = first
    while k < weights.shape[0] and math.exp(log_rest) > tolerance:
        log_share, log_left = draw_log_beta(1.0 - a, b + (k + 1) * a, rng)
        weights[k] = math.exp(log_rest + log_share)
        log_rest += log_left
        k += 1
    return k, log_rest


def sample_gem(
    n_components: int | None = None,
    *,
    discount: float,
    concentration: float,
    tolerance: float | None = None,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> NDArray[np.float64]:
    """Sample weights from the two-parameter GEM (stick-breaking) distribution.

    ``p_k = V_k prod_{l<k} (1 - V_l)`` with ``V_k ~ Beta(1 - a, b + k a)``, k = 1, 2, ...:
    [1]_, theorem 2.3.

    Parameters
    ----------
    n_components : int, optional
        Number of sticks, >= 1. It may be omitted if `tolerance` is given.
    discount : float
        Discount a, in [0, 1).
    concentration : float
        Concentration b, > -discount.
    tolerance : float, optional
        None: the sequence is truncated, so the last stick takes the rest and the weights sum to 1.
        A number in [0, 1): the first weights of the infinite sequence are returned, up to
        `n_components` or until at most `tolerance` is left. The rest decreases as k^(1 - 1/a), so
        with a large discount a small tolerance is out of reach.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.

    Returns
    -------
    weights : ndarray of shape (n_weights,)
        Weights in the order of the sticks (size-biased, not sorted).

    Raises
    ------
    ValueError
        If an argument is out of range, or a million sticks do not reach the tolerance.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> from skdp.processes import sample_gem
    >>> weights = sample_gem(20, discount=0.25, concentration=2.0, random_state=0)
    >>> len(weights), round(float(weights.sum()), 12)
    (20, 1.0)
    """
    a = check_discount(discount)
    b = check_concentration(concentration, above=-a)
    if tolerance is not None and not (is_number(tolerance) and 0.0 <= tolerance < 1.0):
        raise ValueError(f"tolerance must be None or in [0, 1), got {tolerance!r}.")
    if n_components is None and not tolerance:
        raise ValueError("n_components may be None only with a tolerance > 0.")
    limit = _MAX_COMPONENTS
    if n_components is not None:
        limit = check_count(n_components, "n_components", at_least=1)
        check_memory(8.0 * limit, f"n_components={limit} weights")
    rng = derive_stream(make_seed_sequence(random_state), Role.INIT)
    if tolerance is None:
        weights = np.zeros(limit)
        _, log_rest = _break_sticks(a, b, 0.0, weights[:-1], 0, 0.0, rng)
        weights[-1] = math.exp(log_rest)
        return weights
    weights, n, log_rest = np.zeros(0), 0, 0.0
    while n == len(weights) < limit:
        weights = np.concatenate([weights, np.zeros(min(max(n, 64), limit - n))])
        n, log_rest = _break_sticks(a, b, tolerance, weights, n, log_rest, rng)
    if n_components is None and math.exp(log_rest) > tolerance:
        raise ValueError(
            f"tolerance={tolerance:g} is out of reach: after {n} sticks of discount {a:g} "
            f"{math.exp(log_rest):.2g} is left."
        )
    return weights[:n].copy()


@njit
def _seat_all(a, b, seats, rng):
    """Seat one customer after the other.

    A table of m customers is joined with probability proportional to m - a: sit down with a random
    earlier customer, and stay with probability 1 - a / m.
    """
    n = seats.shape[0]
    sizes = np.zeros(n, dtype=np.int64)
    n_tables = 0
    for i in range(n):
        if i == 0 or draw_bernoulli((b + a * n_tables) / (b + i), rng):
            seat = n_tables
            n_tables += 1
        else:
            seat = seats[int(next_double(rng) * i)]
            while a > 0.0 and draw_bernoulli(a / sizes[seat], rng):
                seat = seats[int(next_double(rng) * i)]
        seats[i] = seat
        sizes[seat] += 1


def sample_crp(
    n: int,
    *,
    discount: float,
    concentration: float,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> NDArray[np.int64]:
    """Sample a seating of customers from the two-parameter Chinese restaurant process.

    Customer n + 1 joins a table of m customers with probability ``(m - a) / (n + b)`` and opens a
    new one with probability ``(b + a T) / (n + b)``: [1]_, equation (2.9).

    Parameters
    ----------
    n : int
        Number of customers, >= 0.
    discount : float
        Discount a, in [0, 1).
    concentration : float
        Concentration b, > -discount.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.

    Returns
    -------
    seats : ndarray of int64, shape (n,)
        The table of each customer; tables are numbered from 0 in the order in which they open.

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
    >>> from skdp.processes import sample_crp
    >>> seats = sample_crp(1000, discount=0.5, concentration=1.0, random_state=0)
    >>> bool(seats.max() + 1 < 200)
    True
    """
    a = check_discount(discount)
    b = check_concentration(concentration, above=-a)
    n = check_count(n, "n")
    check_memory(16.0 * n, f"n={n} seats")
    seats = np.empty(n, dtype=np.int64)
    _seat_all(a, b, seats, derive_stream(make_seed_sequence(random_state), Role.INIT))
    return seats


def expected_table_count(
    n: ArrayLike, discount: float, concentration: float
) -> NDArray[np.float64]:
    """Compute the expected number of tables of n customers in a Chinese restaurant process.

    It is ``(b / a) ((b + a)_n / (b)_n - 1)``, or ``b (psi(b + n) - psi(b))`` for a = 0 ([1]_,
    section 2.3.5), and is evaluated without cancellation for every a, however small, every b and
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
    # The first customer opens a table; log ((b + 1 + a)_{n-1} / (b + 1)_{n-1}) / a is a sum over
    # the others, of which 16 are added one by one and the rest by Stirling's series.
    growth = np.zeros(n.shape)
    for i in range(1, 17):
        growth += np.where(n > i, _log1p_ratio(a, b + i), 0.0)
    x, y = b + 17.0, b + np.maximum(n, 17.0)
    series = _stirling_series(a, y) - _stirling_series(a, x)
    growth += np.log1p((y - x) / (x + a)) + series
    expected = np.exp(a * growth) + b * (np.expm1(a * growth) / a if a > 0.0 else growth)
    return np.where(n > 0, expected, 0.0)


def _log1p_ratio(a: float, x: float | NDArray[np.float64]) -> float | NDArray[np.float64]:
    """Return log(1 + a / x) / a, and its limit 1 / x at a = 0."""
    return np.log1p(a / x) / a if a > 0.0 else 1.0 / x


def _stirling_series(a: float, x: float | NDArray[np.float64]) -> float | NDArray[np.float64]:
    """Return log(Gamma(x + a) / Gamma(x)) / a - log(x + a) for x >= 16, 0 <= a < 1."""
    ratio = a / x
    # log1p(ratio) / ratio - 1, by its series: the difference would cancel.
    powers = sum((-ratio) ** i / (i + 1) for i in range(1, 14))
    p, q = 1.0 / x, 1.0 / (x + a)
    third = p * p + p * q + q * q  # (p^3 - q^3) / (a p q)
    fifth = p**4 + p**3 * q + p * p * q * q + p * q**3 + q**4
    tail = p * q * (-1.0 / 12.0 + third / 360.0 - fifth / 1260.0)
    return powers - 0.5 / x * (1.0 + powers) + tail
