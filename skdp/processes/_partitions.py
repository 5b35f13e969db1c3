"""Draws from the two-parameter GEM distribution and Chinese restaurant process."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import (
    check_concentration,
    check_count,
    check_discount,
    check_integers,
    check_memory,
    is_number,
    shorten,
)
from skdp._numeric._numba import njit
from skdp._numeric._random import (
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
    """Write the weights of sticks `first`, `first` + 1, ...; return their end and the log rest."""
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
def _seat_all(a, b, seats, first, sizes, n_tables, rng):
    """Seat customers one after another, from index `first` on."""
    for i in range(first, seats.shape[0]):
        if i == 0 or draw_bernoulli((b + a * n_tables) / (b + i), rng):
            seat = n_tables
            n_tables += 1
        else:  # weight m - a for m customers: a random one's table, kept with probability 1 - a / m
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
    counts: ArrayLike = (),
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> NDArray[np.int64]:
    """Sample a seating of customers from the two-parameter Chinese restaurant process.

    Customer N + 1 joins a table of m customers with probability ``(m - a) / (N + b)`` and opens a
    new one with probability ``(b + a T) / (N + b)``: [1]_, equation (2.9).

    Parameters
    ----------
    n : int
        Number of customers to seat, >= 0.
    discount : float
        Discount a, in [0, 1).
    concentration : float
        Concentration b, > -discount.
    counts : array_like of int, shape (n_tables,), default=()
        Numbers of customers, >= 1, who already sit at tables. The draw is then from the predictive
        distribution of n more customers given this seating.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.

    Returns
    -------
    seats : ndarray of int64, shape (n,)
        The table of each new customer. Tables with customers are numbered as in `counts`; new
        tables follow in the order in which they open.

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
    >>> more = sample_crp(3, discount=0.5, concentration=1.0, counts=[900, 90], random_state=0)
    >>> more.shape
    (3,)
    """
    a = check_discount(discount)
    b = check_concentration(concentration, above=-a)
    n = check_count(n, "n")
    counts = check_integers(counts, "counts") if np.size(counts) else np.zeros(0, dtype=np.int64)
    if counts.ndim != 1 or np.any(counts < 1):
        raise ValueError(f"counts must be 1-D and hold integers >= 1, got {shorten(counts)}.")
    check_memory(
        16.0 * (n + counts.sum(dtype=np.float64)), f"n={n} seats and those of {len(counts)} counts"
    )
    before, n_tables = np.repeat(np.arange(len(counts)), counts), len(counts)
    seats = np.concatenate([before, np.empty(n, dtype=np.int64)])
    sizes = np.concatenate([counts, np.zeros(n, dtype=np.int64)])
    rng = derive_stream(make_seed_sequence(random_state), Role.INIT)
    _seat_all(a, b, seats, len(before), sizes, n_tables, rng)
    return seats[len(before) :].copy()
