"""Concentrations and discounts of Pitman-Yor processes: posteriors, and expected table counts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import (
    as_floats,
    check_beta_prior,
    check_concentration,
    check_concentrations,
    check_count,
    check_discount,
    check_gamma_prior,
    check_integers,
    shorten,
)
from skdp._numeric._numba import njit, njit_forceinline, njit_loop
from skdp._numeric._random import (
    Role,
    derive_stream,
    draw_bernoulli,
    draw_beta,
    draw_gamma,
    draw_log_beta,
    make_seed_sequence,
    next_double,
)
from skdp.processes._kernels_stirling import open_ratio
from skdp.processes._network_tables import StirlingRatios

# The posterior of the concentration b given customers and tables of restaurants.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | customers | N_j | (J,) | customers of each restaurant |
# | tables | T_j | (J,) | tables of each restaurant |
# | discount | a | scalar | 0 <= a < 1 |
# | concentration | b | scalar | > 0 |
# | shape, rate | c, d | scalars | b ~ Gamma(c, rate d) |


_SMALLEST = 1e-100  # a draw may underflow; at b = 0 the chain would stay forever


@njit
def draw_concentration(customers, tables, discount, concentration, shape, rate, rng):
    """Return the next b of a Gibbs chain that leaves its posterior invariant, 0 <= a < 1."""
    # (b)_{N_j} in the denominator of prod_j (b | a)_{T_j} / (b)_{N_j} is an integral over
    # x_j ~ Beta(b + 1, N_j - 1), and each factor b + a m of the numerator is a sum over
    # y_jm ~ Bernoulli(b / (b + a m)). Given these, b is Gamma(c + sum y, d - sum log x).
    shape, rate = add_evidence(customers, tables, discount, concentration, shape, rate, rng)
    return draw_given_evidence(shape, rate, rng)


@njit
def draw_given_evidence(shape, rate, rng):
    """Return a draw of b given the sums of `add_evidence`."""
    return max(draw_gamma(shape, rng) / rate, _SMALLEST)


@njit
def add_evidence(customers, tables, discount, concentration, shape, rate, rng):
    """Draw x and y for some restaurants; return `shape` + sum y and `rate` - sum log x."""
    # Sums over several parts of the restaurants, each drawn from its own stream, add up.
    for j in range(customers.shape[0]):
        if customers[j] >= 2:
            rate -= draw_log_beta(concentration + 1.0, customers[j] - 1.0, rng)[0]
        if discount == 0.0:
            shape += max(tables[j] - 1, 0)
        else:
            for m in range(1, tables[j]):
                opens = concentration / (concentration + discount * m)
                shape += draw_bernoulli(opens, rng)
    return shape, rate


@njit
def _chain(customers, tables, discount, concentration, shape, rate, out, rng):
    """Write successive draws to `out`."""
    for i in range(out.shape[0]):
        concentration = draw_concentration(
            customers, tables, discount, concentration, shape, rate, rng
        )
        out[i] = concentration


def _check_seating(
    customers: ArrayLike, tables: ArrayLike, most: int, shape: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return customers and tables in arrays of one shape, of up to `most` dimensions."""
    n, t = check_integers(customers, "customers"), check_integers(tables, "tables")
    if not 1 <= n.ndim <= most or n.shape != t.shape:
        raise ValueError(
            f"customers and tables must be {shape}, got shapes {n.shape} and {t.shape}."
        )
    if np.any(t > n) or np.any((t == 0) & (n > 0)):
        raise ValueError("tables must be between 1 and customers (0 where customers is 0).")
    return n, t


def sample_concentration(
    customers: ArrayLike,
    tables: ArrayLike,
    *,
    discount: float,
    concentration: float = 1.0,
    prior: tuple[float, float] = (1.0, 0.1),
    n_sweeps: int = 1,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> NDArray[np.float64]:
    """Sample the concentration b of Pitman-Yor processes given their customers and tables.

    The draws are those of a Gibbs chain whose stationary distribution is the posterior

        p(b | N, T) propto b^(c-1) exp(-d b) prod_j (b | a)_{T_j} / (b)_{N_j}

    of one b shared by all restaurants, by the auxiliary variables of [1]_ (a = 0) and [2]_.

    Parameters
    ----------
    customers : array_like of int, shape (n_restaurants,)
        Numbers of customers N_j.
    tables : array_like of int, shape (n_restaurants,)
        Numbers of tables T_j: T_j <= N_j, and T_j = 0 only if N_j = 0.
    discount : float
        Discount a, in [0, 1).
    concentration : float, default=1.0
        Starting point of the chain, > 0.
    prior : tuple of two floats, default=(1.0, 0.1)
        Shape c and rate d of the Gamma prior of b, both > 0.
    n_sweeps : int, default=1
        Number of draws.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.

    Returns
    -------
    draws : ndarray of shape (n_sweeps,)
        States of the chain after each sweep.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] M. D. Escobar and M. West, "Bayesian density estimation and inference using mixtures",
       Journal of the American Statistical Association 90, 1995.
    .. [2] Y. W. Teh, "A Bayesian interpretation of interpolated Kneser-Ney", technical report
       TRA2/06, National University of Singapore, 2006.

    Examples
    --------
    >>> from skdp.processes import sample_concentration
    >>> draws = sample_concentration(
    ...     [100, 80], [12, 9], discount=0.5, n_sweeps=2000, random_state=0
    ... )
    >>> bool(0.3 < draws.mean() < 3.0)
    True
    """
    n, t = _check_seating(customers, tables, 1, "1-D and of the same length")
    shape, rate = check_gamma_prior(prior, "prior")
    discount = check_discount(discount)
    concentration = check_concentration(concentration)
    out = np.empty(check_count(n_sweeps, "n_sweeps", at_least=1))
    rng = derive_stream(make_seed_sequence(random_state), Role.SWEEP)
    _chain(n, t, discount, concentration, shape, rate, out, rng)
    return out


# The posterior of the discount a given customers and tables of restaurants.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | customers | N_jk | (J, K) | customers of each restaurant that eat each dish |
# | tables | T_jk | (J, K) | tables of each restaurant that serve each dish |
# | node_tables | T_j | (J,) | tables of each restaurant |
# | concentration | b_j | (J,) | > 0 |
# | discount | a | scalar | 0 <= a < 1 |
# | values, row_ptr | U, V | | ratios of Stirling numbers, see `_kernels_stirling` |
# | prior_p, prior_q | p, q | scalars | a ~ Beta(p, q) |


# A Beta draw may round to 0 or 1, for small p or q at once. At a = 1 the ratios of Stirling numbers
# do not exist, and near it they lose digits in proportion to 1 / (1 - a). So draws are kept at
# least this far from 0 and 1, which moves no draw by more than this.
_SMALLEST_DISCOUNT = 1e-8


@njit_forceinline
def draw_table_evidence(n_tables, concentration, discount, rng):
    """Return the power of a that the tables of one restaurant contribute: sum (1 - y)."""
    # Each factor b + a m of (b | a)_T, m = 1, ..., T - 1, is a sum over y ~ Bernoulli(b / (b + a
    # m)).
    evidence = 0
    for m in range(1, n_tables):
        evidence += next_double(rng) * (concentration + discount * m) < discount * m
    return evidence


@njit_loop
def _unseat_block(n, t, a, values, row_ptr, rng):
    """Unseat customers beyond the table of ratios: return n, t and the evidence; 1 < t < n."""
    # The last customer opened a table with probability 1 / V. S^n_t is log-concave in t (Kurtz,
    # 1972), so V decreases in t and increases in n: two integrals decide for nearly all of a block.
    steps = min(int(math.sqrt(n)), n - t)
    smallest = open_ratio(values, row_ptr, n - steps, t - 1, a)
    largest = open_ratio(values, row_ptr, n - 1, max(t - steps, 1), a)
    evidence = 0
    for _ in range(steps):
        if t == 1:
            break
        n -= 1
        u = next_double(rng)
        opened = u * largest < 1.0
        if not opened and u * smallest < 1.0:
            opened = u * open_ratio(values, row_ptr, n, t - 1, a) < 1.0
        if opened:
            t -= 1
        else:
            evidence += next_double(rng) * (n - a * t) < t * (1.0 - a)
    return n, t, evidence


@njit_forceinline
def draw_seating_evidence(n, t, discount, values, row_ptr, rng):
    """Return the power of 1 - a that customers of one dish contribute: sum (1 - z)."""
    # Written out, S^{n+1}_t = S^n_{t-1} + (n - a t) S^n_t has a factor n - a t for each customer
    # who joined n others at t tables: a sum over z ~ Bernoulli((n - t) / (n - a t)).
    a = discount
    evidence = 0
    # From the last customer to the first, draw whether it opened a table, and z if it did not. The
    # choice of a table is integrated out: over sizes m_l, sum_l (m_l - a) = n - a t. Teh's scheme,
    # which draws a seating first, has the same distribution of sum (1 - z).
    while 1 < t < n:
        if n < row_ptr.shape[0] and row_ptr[n - 1] + t <= row_ptr[n]:
            n -= 1
            ratio = values[row_ptr[n] + t - 1, 1]  # V: odds S^n_{t-1} : (n - a t) S^n_t = 1 : V - 1
            u = next_double(rng) * ratio
            joined = u >= 1.0
            t -= not joined
            # Draw z from the rest of u, and without a branch, which would be mispredicted.
            evidence += joined & ((ratio - u) * (n - a * t) <= (ratio - 1.0) * t * (1.0 - a))
        else:
            n, t, more = _unseat_block(n, t, a, values, row_ptr, rng)
            evidence += more
    if t == 1:
        for r in range(1, n):
            evidence += next_double(rng) * (r - a) < 1.0 - a
    return evidence


@njit
def draw_bounded_beta(p, q, rng):
    """Return a Beta(p, q) draw that is clipped away from 0 and 1."""
    return min(max(draw_beta(p, q, rng), _SMALLEST_DISCOUNT), 1.0 - _SMALLEST_DISCOUNT)


@njit_loop
def draw_discount(
    customers, tables, node_tables, concentration, discount, prior_p, prior_q, values, row_ptr, rng
):
    """Return the next a of a Gibbs chain that leaves its posterior invariant."""
    # The likelihood is prod_j (b_j | a)_{T_j} prod_k S^{N_jk}_{T_jk}; `values` are for the current
    # a. Given y and z, a is Beta(p + sum (1 - y), q + sum (1 - z)). It may start at 0: then all y
    # are 1.
    for j in range(customers.shape[0]):
        prior_p += draw_table_evidence(node_tables[j], concentration[j], discount, rng)
        for k in range(customers.shape[1]):
            prior_q += draw_seating_evidence(
                customers[j, k], tables[j, k], discount, values, row_ptr, rng
            )
    return draw_bounded_beta(prior_p, prior_q, rng)


def sample_discount(
    customers: ArrayLike,
    tables: ArrayLike,
    *,
    concentration: float | ArrayLike,
    discount: float = 0.5,
    prior: tuple[float, float] = (1.0, 1.0),
    n_sweeps: int = 1,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> NDArray[np.float64]:
    """Sample the discount a of Pitman-Yor processes given their customers and tables.

    The draws are those of a Gibbs chain whose stationary distribution is the posterior

        p(a | N, T) propto a^(p-1) (1-a)^(q-1) prod_j (b_j | a)_{T_j} prod_k S^{N_jk}_{T_jk, a}

    of one a shared by all restaurants j and dishes k, where T_j = sum_k T_jk. The auxiliary
    variables are those of [1]_, but the sizes of the tables are integrated out.

    Parameters
    ----------
    customers : array_like of int, shape (n_restaurants, n_dishes) or (n_dishes,)
        Numbers of customers N_jk of each dish. One dimension means one restaurant.
    tables : array_like of int, of the shape of `customers`
        Numbers of tables T_jk: T_jk <= N_jk, and T_jk = 0 only if N_jk = 0.
    concentration : float or array_like of shape (n_restaurants,)
        Concentrations b_j, > 0; a number applies to all restaurants.
    discount : float, default=0.5
        Starting point of the chain, in [0, 1).
    prior : tuple of two floats, default=(1.0, 1.0)
        Parameters p and q of the Beta prior of a, both > 0.
    n_sweeps : int, default=1
        Number of draws.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.

    Returns
    -------
    draws : ndarray of shape (n_sweeps,)
        States of the chain after each sweep, from 1e-8 to 1 - 1e-8.

    Raises
    ------
    ValueError
        If an argument is out of range.

    See Also
    --------
    sample_concentration : Samples the concentration b given the discount.

    References
    ----------
    .. [1] Y. W. Teh, "A Bayesian interpretation of interpolated Kneser-Ney", technical report
       TRA2/06, National University of Singapore, 2006.

    Examples
    --------
    >>> from skdp.processes import sample_discount
    >>> draws = sample_discount(  # two restaurants, three dishes
    ...     [[60, 30, 1], [20, 0, 5]], [[12, 6, 1], [5, 0, 2]], concentration=1.0, n_sweeps=500,
    ...     random_state=0,
    ... )
    >>> bool(0.3 < draws.mean() < 0.7)
    True
    """
    n, t = _check_seating(customers, tables, 2, "1-D or 2-D and of the same shape")
    n, t = np.atleast_2d(n), np.atleast_2d(t)
    b = check_concentrations(concentration, len(n))
    p, q = check_beta_prior(prior, "prior")
    discount = check_discount(discount)
    out = np.empty(check_count(n_sweeps, "n_sweeps", at_least=1))
    rng = derive_stream(make_seed_sequence(random_state), Role.SWEEP)
    node_tables = t.sum(axis=1)
    n_max = int(n[(t > 1) & (t < n)].max(initial=1)) - 1  # other dishes need no ratios
    for i in range(len(out)):
        ratios = StirlingRatios.for_counts(n_max, discount)
        discount = draw_discount(
            n, t, node_tables, b, discount, p, q, ratios.values, ratios.row_ptr, rng
        )
        out[i] = discount
    return out


# The expected number of tables of a Chinese restaurant, and its inverse in the concentration.


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
    """Return the expected number of tables besides the first of n >= 1 customers; c = b + a > 0."""
    # It is (b + a) ((b + a + 1)_{n-1} / (b + 1)_{n-1} - 1) / a, which does not cancel near b = -a.
    #
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
