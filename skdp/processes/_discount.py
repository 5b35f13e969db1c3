"""The posterior of the discount a given customers and tables of restaurants.

| name | symbol | shape | meaning |
|---|---|---|---|
| customers | N_jk | (J, K) | customers of each restaurant that eat each dish |
| tables | T_jk | (J, K) | tables of each restaurant that serve each dish |
| node_tables | T_j | (J,) | tables of each restaurant |
| concentration | b_j | (J,) | > 0 |
| discount | a | scalar | 0 <= a < 1 |
| values, row_ptr | U, V | | ratios of Stirling numbers, see `_kernels_stirling` |
| prior_p, prior_q | p, q | scalars | a ~ Beta(p, q) |
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import (
    check_beta_prior,
    check_concentrations,
    check_count,
    check_discount,
    check_integers,
)
from skdp._numeric._numba import njit, njit_forceinline, njit_loop
from skdp._numeric._random import (
    Role,
    derive_stream,
    draw_beta,
    make_seed_sequence,
    next_double,
)
from skdp.processes._kernels_stirling import open_ratio
from skdp.processes._stirling import StirlingRatios

# A Beta draw may round to 0 or 1, for small p or q at once. At a = 1 the ratios of Stirling numbers
# do not exist, and near it they lose digits in proportion to 1 / (1 - a). So draws are kept at
# least this far from 0 and 1, which moves no draw by more than this.
_SMALLEST = 1e-8


@njit_forceinline
def draw_table_evidence(n_tables, concentration, discount, rng):
    """Return the power of a that the tables of one restaurant contribute: sum (1 - y).

    Each factor b + a m of (b | a)_T, m = 1, ..., T - 1, is a sum over y ~ Bernoulli(b / (b + a m)).
    """
    evidence = 0
    for m in range(1, n_tables):
        evidence += next_double(rng) * (concentration + discount * m) < discount * m
    return evidence


@njit_loop
def _unseat_block(n, t, a, values, row_ptr, rng):
    """Unseat customers beyond the table of ratios: return n, t and the evidence; 1 < t < n.

    The last customer opened a table with probability 1 / V. S^n_t is log-concave in t (Kurtz,
    1972), so V decreases in t and increases in n: two integrals decide for nearly all of a block.
    """
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
    """Return the power of 1 - a that n customers at t tables of one dish contribute: sum (1 - z).

    Written out, S^{n+1}_t = S^n_{t-1} + (n - a t) S^n_t has a factor n - a t for each customer who
    joined n others at t tables: a sum over z ~ Bernoulli((n - t) / (n - a t)).
    """
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
    return min(max(draw_beta(p, q, rng), _SMALLEST), 1.0 - _SMALLEST)


@njit_loop
def draw_discount(
    customers,
    tables,
    node_tables,
    concentration,
    discount,
    prior_p,
    prior_q,
    values,
    row_ptr,
    rng,
):
    """Return the next a of a Gibbs chain that leaves its posterior invariant.

    The likelihood is prod_j (b_j | a)_{T_j} prod_k S^{N_jk}_{T_jk}; `values` are for the current a.
    Given y and z, a is Beta(p + sum (1 - y), q + sum (1 - z)). It may start at 0: then all y are 1.
    """
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
    n, t = check_integers(customers, "customers"), check_integers(tables, "tables")
    if n.ndim not in (1, 2) or n.shape != t.shape:
        raise ValueError(
            "customers and tables must be 1-D or 2-D and of the same shape, "
            f"got shapes {n.shape} and {t.shape}."
        )
    if np.any(t > n) or np.any((t == 0) & (n > 0)):
        raise ValueError("tables must be between 1 and customers (0 where customers is 0).")
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
