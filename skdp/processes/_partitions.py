"""Draws of weights, partitions and features: GEM, Chinese restaurant, Indian buffet, top level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma

from skdp._checks import (
    check_concentration,
    check_count,
    check_discount,
    check_gamma_prior,
    check_integers,
    check_memory,
    is_number,
    shorten,
)
from skdp._numeric import Floats, Places
from skdp._numeric._numba import njit, njit_internal_nogc
from skdp._numeric._random import (
    Role,
    derive_stream,
    draw_bernoulli,
    draw_gamma,
    draw_log_beta,
    make_seed_sequence,
    next_double,
)
from skdp.processes._concentration import draw_concentration, draw_given_evidence
from skdp.processes._kernels_table_counts import draw_tables, draw_top_weights

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


def gem_truncation_error(
    n_components: ArrayLike, discount: float, concentration: float, n: int = 1
) -> NDArray[np.float64]:
    """Bound the error of truncating the two-parameter GEM distribution, in total variation.

    The infinite sequence of weights is truncated after the first K, the last of which takes the
    rest, as in ``sample_gem(K, ...)``. For one draw of a component, the error is the expected mass
    that is left out,

        E[R_K] = prod_{k=1}^K (b + k a) / (b + 1 + (k - 1) a),

    which is (b / (b + 1))^K without a discount. For n draws it is at most 1 - (1 - E[R_K])^n.

    Parameters
    ----------
    n_components : array_like of int
        Numbers of sticks K, >= 0. Time and memory are proportional to the largest unless the
        discount is 0.
    discount : float
        Discount a, in [0, 1).
    concentration : float
        Concentration b, > -discount.
    n : int, default=1
        Number of draws from the same weights, such as the points of a mixture, >= 1.

    Returns
    -------
    error : ndarray of the shape of `n_components`
        The total variation between n draws of components from truncated and from all weights,
        which is exact for n = 1 and an upper bound otherwise. The bound also holds for everything
        that depends on weights only through these draws, such as a partition or the observations
        of a mixture.

    Raises
    ------
    ValueError
        If an argument is out of range.

    See Also
    --------
    sample_gem : Draws the weights; with `tolerance`, the mass left out is bounded in each draw.

    Notes
    -----
    Draw components from all weights, and replace components after the first K by component K: this
    is a draw from the truncated weights, which differs from the original draw with probability
    E[1 - (1 - R_K)^n]. This is the total variation itself, because truncated weights never give a
    later component. It is at most 1 - (1 - E[R_K])^n by Jensen's inequality, which is at most
    n E[R_K]. The rest decreases geometrically without a discount, and as K^(1 - 1/a) with a
    discount. A similar bound for marginal densities is in [1]_.

    References
    ----------
    .. [1] H. Ishwaran and L. F. James, "Gibbs sampling methods for stick-breaking priors", Journal
       of the American Statistical Association 96, 2001.

    Examples
    --------
    >>> from skdp.processes import gem_truncation_error
    >>> gem_truncation_error([10, 100], discount=0.0, concentration=2.0, n=500).round(6)
    array([0.999841, 0.      ])
    >>> gem_truncation_error([10, 100], discount=0.5, concentration=2.0).round(6)
    array([0.333333, 0.047619])
    """
    sizes = check_integers(n_components, "n_components")
    a = check_discount(discount)
    b = check_concentration(concentration, above=-a)
    n = check_count(n, "n", at_least=1)
    if a == 0.0:
        log_rest = sizes * _log_left(np.array(1.0 / (1.0 + b)), np.array(b / (1.0 + b)))
    else:
        largest = int(sizes.max(initial=0))
        check_memory(40.0 * largest, f"n_components={largest} sticks")
        k = np.arange(1.0, largest + 1.0)
        total = b + 1.0 + a * (k - 1.0)
        sticks = _log_left((1.0 - a) / total, (b + a * k) / total)
        log_rest = np.concatenate([[0.0], np.cumsum(sticks)])[sizes]
    with np.errstate(divide="ignore"):  # if everything is left out, the error is 1
        return -np.expm1(n * np.log1p(-np.exp(log_rest)))


def _log_left(share: NDArray[np.float64], left: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(left), left = 1 - share, from the smaller of the two."""
    return np.where(share < 0.5, np.log1p(-share), np.log(left))


# Indian buffet processes: the number of features, and the weight of each feature.
#
# Every row of a binary matrix (an observation, or a step of a sequence) has some of infinitely many
# features. Their probabilities a are the points of a Poisson process of density
# alpha q a^-1 (1 - a)^(q - 1) on (0, 1): the limit of F features with a ~ Beta(alpha q / F, q) as F
# grows. Given a, each trial has the feature with probability a. The model defines the trials:
#
# - static (Griffiths and Ghahramani, 2005): every row is a trial;
# - Markov (Van Gael, Teh and Ghahramani, 2009): every step before which the feature is off is a
#   trial, and so is every first step. A feature that is on is switched off with its own
#   probability.
#
# After a is integrated out, the features of any row, each with its column, also are the points of a
# Poisson process: a column with m successes in m + r trials has the density alpha exp(weight),
# weight = log q B(m, r + q). All other factors of a feature (the probability to stay on, its effect
# on the observations) multiply this density. The number of features with a success is
# Poisson(alpha H), with H = sum_{i < n} q / (q + i) for n trials of a feature that never succeeds.
# So for a set of K features
#
#     p(set) = exp(-alpha H) alpha^K prod_k exp(weight_k) x (other factors of k).
#
# There is no K! and no factor for equal columns, because a set has no order, and features that
# differ in a continuous quantity, such as their effect, are never equal. Reordering the columns
# gives the same set, so a model may hold them in any order.
#
# A move that adds a feature proposed with density g, and its reverse, which drops one of the n
# features that could have been proposed (where n includes the new feature), have the ratio
# `log_ratio_of_birth`, like all births and deaths of points of a Poisson process (Geyer and Moller,
# 1994). With a finite number F of features, of which K have a success, alpha becomes F - K, the
# number of ways to choose the new feature, and the weight is log p(column) - log p(empty column).
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | mass | alpha | scalar | > 0 |
# | concentration | q | scalar | > 0; 1: the buffet with one parameter |
# | n_on, n_off | m, r | scalars | successes and failures of a feature |
# | n_trials | n | scalar | trials of a feature that never succeeds: all rows, or steps |
# | shape, rate | | scalars | alpha ~ Gamma(shape, rate) |


_SMALLEST = 1e-100  # a draw may underflow; at alpha = 0 no feature would ever be added


@njit_internal_nogc
def log_weight_of_feature(n_on, n_off, concentration):
    """Return log q B(m, r + q), the weight of a feature with m >= 1 successes, without its mass."""
    result = math.log(concentration) + math.lgamma(n_on)
    return result + math.lgamma(n_off + concentration) - math.lgamma(n_on + n_off + concentration)


@njit_internal_nogc
def log_ratio_of_birth(log_rate, gain, log_proposal, n_removable):
    """Return the log acceptance ratio of a new feature; for its death it is the negative."""
    # Births and deaths are tried equally often. `log_rate` is log alpha, or log(F - K) without the
    # new feature; `gain` is the log of the other factors, of its weight and the likelihoods.
    return log_rate + gain - log_proposal - math.log(n_removable)


@njit
def draw_mass(n_features, expected, shape, rate, rng):
    """Draw alpha given K features: Gamma(shape + K, rate + H); `expected` is H."""
    return max(draw_gamma(shape + n_features, rng) / (rate + expected), _SMALLEST)


def expected_features(n_trials: int, concentration: float) -> float:
    """Return H, the expected number of features with a success if the mass is 1."""
    q = float(concentration)
    if q > 1e6 * n_trials:  # the difference of digammas would cancel
        return float(n_trials)
    return float(q * (digamma(q + n_trials) - digamma(q)))


# The top level of a hierarchical Dirichlet process, given the customers' dishes.


_SMALLEST_MASS, _LARGEST = 1e-8, 1e8
"""Bounds of concentrations."""

_FIRST = 1.0
"""Initial value of concentrations that are drawn."""


def check_concentration_or_prior(
    value: Any, prior: Any, name: str, largest: float = _LARGEST
) -> tuple[float, tuple[float, float] | None]:
    """Return a concentration and None, or its initial value and its prior if it is drawn."""
    prior = check_gamma_prior(prior, f"{name}_prior")
    if isinstance(value, str) and value == "auto":
        return _FIRST, prior
    if not is_number(value) or not _SMALLEST_MASS <= value <= largest:
        raise ValueError(
            f"{name} must be 'auto' or a number from {_SMALLEST_MASS:g} to {largest:g}, got "
            f"{shorten(value)}."
        )
    return float(value), None


def in_range(concentration: float) -> float:
    """Return the nearest concentration under which single-precision weights do not vanish."""
    return min(max(concentration, _SMALLEST_MASS), _LARGEST)


def draw_top_concentration(
    tables: Places, n_given: int, gamma: float, prior: tuple[float, float], rng: NDArray[np.uint64]
) -> float:
    """Return the next gamma of a chain that leaves its posterior given the tables invariant."""
    # With G given dishes the likelihood is gamma^(K - G) / (gamma + G)_m for m tables, an integral
    # over x ~ Beta(gamma + G, m). Given x, gamma is Gamma(shape + K - G, rate - log x).
    shape, rate = prior
    if n_given == 0:
        n_tables, n_dishes = np.array([tables.sum()]), np.array([len(tables)])
        return float(draw_concentration(n_tables, n_dishes, 0.0, gamma, shape, rate, rng))
    rate -= draw_log_beta(gamma + n_given, float(tables.sum()), rng)[0]
    return float(draw_given_evidence(shape + len(tables) - n_given, rate, rng))


@dataclass(frozen=True)
class TopPriors:
    """Gamma priors (shape, rate) of both concentrations, or None if a concentration is fixed."""

    concentration: tuple[float, float] | None
    top_concentration: tuple[float, float] | None


@dataclass(frozen=True)
class TopLevel:
    """Weights of dishes, and both concentrations."""

    weights: Floats  # (K,), beta_k, of the dishes that have customers
    rest: float  # beta_u, of all other dishes
    concentration: float  # alpha
    top_concentration: float  # gamma

    def _draw_tables(
        self, ptr: Places, dishes: NDArray[Any], rng: NDArray[np.uint64]
    ) -> tuple[Places, Places]:
        """Draw the tables; return their numbers by dish and by restaurant."""
        n_dishes = len(self.weights)
        tables, own_tables = np.zeros(n_dishes, dtype=np.int64), np.zeros(len(ptr) - 1, np.int64)
        draw_tables(
            ptr, dishes, self.concentration * self.weights, np.zeros(n_dishes, dtype=np.int64),
            tables, own_tables, rng,
        )  # fmt: skip
        return tables, own_tables

    def drawn(
        self,
        ptr: Places,
        dishes: NDArray[Any],
        priors: TopPriors,
        rng: NDArray[np.uint64],
        n_given: int = 0,
    ) -> TopLevel:
        """Return the next top level, by drawing tables, then concentrations, then weights."""
        n_dishes = len(self.weights)
        alpha, gamma = self.concentration, self.top_concentration
        tables, own_tables = self._draw_tables(ptr, dishes, rng)
        if priors.concentration is not None:
            alpha = in_range(
                draw_concentration(np.diff(ptr), own_tables, 0.0, alpha, *priors.concentration, rng)
            )
        if priors.top_concentration is not None:
            gamma = in_range(
                draw_top_concentration(tables, n_given, gamma, priors.top_concentration, rng)
            )
        tables[:n_given] += 1
        weights = np.empty(n_dishes)
        rest = draw_top_weights(tables, gamma, weights, rng)
        return TopLevel(weights, rest, alpha, gamma)

    def expected(
        self, ptr: Places, dishes: NDArray[Any], n_draws: int, rng: NDArray[np.uint64]
    ) -> TopLevel:
        """Return a top level with the weights' posterior means given dishes and concentrations."""
        top, gamma = self, self.top_concentration
        means, rest = np.zeros(len(self.weights)), 0.0
        n_first = n_draws // 5  # draws that are left out of the means
        for number in range(n_draws):
            tables, _ = top._draw_tables(ptr, dishes, rng)
            if number >= n_first:
                means += tables / (tables.sum() + gamma)
                rest += gamma / (tables.sum() + gamma)
            weights = np.empty(len(tables))
            left = draw_top_weights(tables, gamma, weights, rng)
            top = TopLevel(weights, left, self.concentration, gamma)
        n = n_draws - n_first
        return TopLevel(means / n, rest / n, self.concentration, gamma)
