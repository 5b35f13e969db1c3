"""The top level of a hierarchical Dirichlet process: weights of the dishes that are shared.

| name | symbol | shape | meaning |
|---|---|---|---|
| weights | beta_k | (K,) | weights of the dishes that have customers |
| rest | beta_u | | weight of all other dishes together; sum_k beta_k + beta_u = 1 |
| tables | m_.k | (K,) int64 | tables of each dish in all restaurants, at least 1 |
| gamma | gamma | | concentration of the top level |
| ptr, dishes | | (J + 1,), (n,) | offsets of restaurants, and the dish of every customer |
| prior | alpha beta_k | (K,) | |
| counts | | (K,) int64 | scratch, zero, and left so |
| own_tables | m_j. | (J,) int64 | tables of each restaurant |

If beta is instantiated and the weights of unseen dishes are summed, its density is
gamma^K beta_u^(gamma - 1) / prod_k beta_k. Its integral against prod_k beta_k^m_.k is the
probability of the tables' dishes, gamma^K prod_k (m_.k - 1)! / (gamma)_m...

There may be G given dishes, which exist without customers, too. The prior of their weights and of
the weight of all others together is Dirichlet(1, ..., 1, gamma), as if each already had one table:
the density of beta is (gamma)_G gamma^(K - G) beta_u^(gamma - 1) / prod_k beta_k, with a product
over the K - G other dishes, and the tables have probability
gamma^(K - G) prod_g m_.g! prod_k (m_.k - 1)! / (gamma + G)_m...
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit_internal_nogc, njit_loop, njit_outlined
from skdp._numeric._random import draw_exponential, draw_log_gamma, next_double, next_open_double

SMALLEST_WEIGHT = 1e-300
"""Lower bound of weights: at zero a dish could never be drawn again."""


@njit_outlined
def draw_table_count(n, concentration, rng):
    """Draw the number of tables that n customers open in a Chinese restaurant."""
    tables = min(n, 1)  # the first customer opens one
    first = min(float(n), 1000.0 * (1.0 + concentration))
    for i in range(1, int(first)):
        tables += next_double(rng) * (concentration + i) < concentration
    if first < n:
        # Jump from one new table to the next. Customers i to m - 1 open none with probability
        # g(i) / g(m), where g(m) = Gamma(m + b) / Gamma(m) equals (m + (b - 1) / 2)^b up to a
        # relative error of b^3 / (24 m^2), which is less than b 1e-7.
        shift = 0.5 * (concentration - 1.0)
        i = float(int(first))
        while True:
            i = np.ceil((i + shift) * math.exp(draw_exponential(rng) / concentration) - shift)
            if i > n:
                break
            tables += 1
    return tables


@njit_loop
def draw_tables(ptr, dishes, prior, counts, tables, own_tables, rng):
    """Draw the tables of every restaurant and dish."""
    for k in range(tables.shape[0]):
        tables[k] = 0
    for j in range(ptr.shape[0] - 1):
        for i in range(ptr[j], ptr[j + 1]):
            counts[dishes[i]] += 1
        total = 0
        for i in range(ptr[j], ptr[j + 1]):
            k = dishes[i]
            if counts[k] > 0:
                drawn = draw_table_count(counts[k], prior[k], rng)
                tables[k] += drawn
                total += drawn
                counts[k] = 0
        own_tables[j] = total


@njit_loop
def draw_top_weights(tables, gamma, weights, rng):
    """Write a draw of beta ~ Dirichlet(m_.1, ..., m_.K, gamma) to `weights`; return beta_u."""
    largest = log_rest = draw_log_gamma(gamma, rng)
    for k in range(tables.shape[0]):
        weights[k] = draw_log_gamma(float(tables[k]), rng)
        largest = max(largest, weights[k])
    total = math.exp(log_rest - largest)
    for k in range(tables.shape[0]):
        weights[k] = math.exp(weights[k] - largest)
        total += weights[k]
    for k in range(tables.shape[0]):
        weights[k] = max(weights[k] / total, SMALLEST_WEIGHT)
    return max(math.exp(log_rest - largest) / total, SMALLEST_WEIGHT)


@njit_internal_nogc
def break_weight(rest, gamma, rng):
    """Return the weight of a new dish, a Beta(1, gamma) share of beta_u, and the remainder."""
    log_left = math.log(next_open_double(rng)) / gamma
    taken, left = -math.expm1(log_left), math.exp(log_left)
    return max(rest * taken, SMALLEST_WEIGHT), max(rest * left, SMALLEST_WEIGHT)


def log_density_of_weights(weights, rest, gamma, n_given=0):
    """Return the log density of beta; the first `n_given` dishes exist without customers, too."""
    result = (len(weights) - n_given) * math.log(gamma) + (gamma - 1.0) * math.log(rest)
    if n_given:
        result += math.lgamma(gamma + n_given) - math.lgamma(gamma)
    return float(result - np.log(weights[n_given:]).sum())
