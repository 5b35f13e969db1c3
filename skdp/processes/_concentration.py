"""The posterior of the concentration b given customers and tables of restaurants.

| name | symbol | shape | meaning |
|---|---|---|---|
| customers | N_j | (J,) | customers of each restaurant |
| tables | T_j | (J,) | tables of each restaurant |
| discount | a | scalar | 0 <= a < 1 |
| concentration | b | scalar | > 0 |
| shape, rate | c, d | scalars | b ~ Gamma(c, rate d) |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import (
    check_concentration,
    check_count,
    check_discount,
    check_gamma_prior,
    check_integers,
)
from skdp._numeric._numba import njit
from skdp._numeric._random import (
    Role,
    derive_stream,
    draw_bernoulli,
    draw_gamma,
    draw_log_beta,
    make_seed_sequence,
)

_SMALLEST = 1e-100  # a draw may underflow; at b = 0 the chain would stay forever


@njit
def draw_concentration(customers, tables, discount, concentration, shape, rate, rng):
    """Return the next b of a Gibbs chain that leaves its posterior invariant, for any a in [0, 1).

    (b)_{N_j} in the denominator of prod_j (b | a)_{T_j} / (b)_{N_j} is an integral over
    x_j ~ Beta(b + 1, N_j - 1), and each factor b + a m of the numerator is a sum over
    y_jm ~ Bernoulli(b / (b + a m)). Given these, b is Gamma(c + sum y, d - sum log x).
    """
    shape, rate = add_evidence(customers, tables, discount, concentration, shape, rate, rng)
    return draw_given_evidence(shape, rate, rng)


@njit
def draw_given_evidence(shape, rate, rng):
    """Return a draw of b given the sums of `add_evidence`."""
    return max(draw_gamma(shape, rng) / rate, _SMALLEST)


@njit
def add_evidence(customers, tables, discount, concentration, shape, rate, rng):
    """Draw x and y for some restaurants; return `shape` + sum y and `rate` - sum log x.

    Sums over several parts of the restaurants, each drawn from its own stream, add up.
    """
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
    n, t = check_integers(customers, "customers"), check_integers(tables, "tables")
    if n.ndim != 1 or n.shape != t.shape:
        raise ValueError(
            "customers and tables must be 1-D and of the same length, "
            f"got shapes {n.shape} and {t.shape}."
        )
    if np.any(t > n) or np.any((t == 0) & (n > 0)):
        raise ValueError("tables must be between 1 and customers (0 where customers is 0).")
    shape, rate = check_gamma_prior(prior, "prior")
    discount = check_discount(discount)
    concentration = check_concentration(concentration)
    out = np.empty(check_count(n_sweeps, "n_sweeps", at_least=1))
    rng = derive_stream(make_seed_sequence(random_state), Role.SWEEP)
    _chain(n, t, discount, concentration, shape, rate, out, rng)
    return out
