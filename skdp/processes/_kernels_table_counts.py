"""Gibbs samplers for the table counts of one Pitman-Yor process with given dishes.

All three leave p(t | n) propto (b | a)_T prod_k S^{n_k}_{t_k} H_k^{t_k} invariant: chapter 3 of Du
(2012), with the corrections that make its algorithms exact.

| name | symbol | shape | meaning |
|---|---|---|---|
| counts | n_k | (K,) int64 | customers of each dish |
| base | H_k | (K,) | base probability of each dish |
| a, b | a, b | scalars | discount and concentration |
| values, row_ptr | U, V | | table of Stirling ratios, see `_kernels_stirling` |
| tables | t_k | (K,) int64 | tables of each dish, the state: 1 <= t_k <= n_k |
| n_tables | T | scalar | sum of the table counts |
| customer_ptr | | (K + 1,) int64 | running sum of `counts`: offsets of dishes in flat arrays |
| sizes | m_kl | (sum n,) int64 | customers at table l of dish k (SSA only) |
| out | | (sweeps, K) int64 | table counts after every sweep |
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit
from skdp._numeric._random import draw_bernoulli, draw_categorical, next_double
from skdp.processes._kernels_stirling import open_ratio, share_ratio


@njit
def run_btigs(counts, base, a, b, values, row_ptr, out, rng):
    """Blocked table indicator sampler (section 3.4): remove a customer with its table indicator.

    A customer is the head of a table with probability t / n, but the last table of a dish stays
    until the last customer. Weights include the probability that a removal leads back.
    """
    tables = np.minimum(counts, 1)
    n_tables = tables.sum()
    for sweep in range(out.shape[0]):
        for k in range(counts.shape[0]):
            n = counts[k] - 1
            for _ in range(counts[k]):
                t = tables[k]
                if n == 0:
                    continue  # one customer, one table
                if t > 1 and draw_bernoulli(t / (n + 1.0), rng):
                    t -= 1
                    n_tables -= 1
                share = share_ratio(values, row_ptr, n, t, a)
                if t > 1:
                    share *= (n + 1.0 - t) / (n + 1.0)
                opening = (b + a * n_tables) * base[k] * open_ratio(values, row_ptr, n, t, a)
                opening *= (t + 1.0) / (n + 1.0)
                if next_double(rng) * (share + opening) >= share:
                    t += 1
                    n_tables += 1
                tables[k] = t
        out[sweep] = tables


@njit
def run_cmgs(counts, base, a, b, customer_ptr, values, row_ptr, out, rng):
    """Collapsed multiplicity sampler (section 3.3): draw t_k given the other table counts.

    With the dishes given, the first of its two stages (a customer's dish) has nothing to draw.
    """
    tables = np.minimum(counts, 1)
    n_tables = tables.sum()
    # log S^n_t H^t, up to a constant, does not depend on other table counts: compute it once.
    fixed = np.zeros(customer_ptr[-1])
    for k in range(counts.shape[0]):
        first, n = customer_ptr[k], counts[k]
        for t in range(1, n):
            # V / U for n - 1 customers is S^n_{t+1} / S^n_t.
            ratio = open_ratio(values, row_ptr, n - 1, t, a)
            ratio /= share_ratio(values, row_ptr, n - 1, t, a)
            fixed[first + t] = fixed[first + t - 1] + math.log(ratio * base[k])
    weights = np.empty(counts.max())
    for sweep in range(out.shape[0]):
        for k in range(counts.shape[0]):
            if counts[k] < 2:
                continue
            first, n, others = customer_ptr[k], counts[k], n_tables - tables[k]
            log_rising, largest = 0.0, -math.inf
            for i in range(n):
                if i > 0:
                    log_rising += math.log(b + a * (others + i))
                weights[i] = fixed[first + i] + log_rising
                largest = max(largest, weights[i])
            total = 0.0
            for i in range(n):
                weights[i] = math.exp(weights[i] - largest)
                total += weights[i]
            tables[k] = draw_categorical(weights[:n], total, rng) + 1
            n_tables = others + tables[k]
        out[sweep] = tables


@njit
def run_ssa(counts, base, a, b, customer_ptr, out, rng):
    """Sampler for seating arrangements (section 3.2, algorithm 1): reseat one customer.

    The customers of a dish are exchangeable, so the sizes of their tables suffice.
    """
    tables = np.minimum(counts, 1)
    n_tables = tables.sum()
    sizes = np.zeros(customer_ptr[-1], dtype=np.int64)
    for k in range(counts.shape[0]):
        if counts[k] > 0:
            sizes[customer_ptr[k]] = counts[k]
    for sweep in range(out.shape[0]):
        for k in range(counts.shape[0]):
            if counts[k] < 2:
                continue
            seats = sizes[customer_ptr[k] : customer_ptr[k + 1]]
            for _ in range(counts[k]):
                left = draw_categorical(seats[: tables[k]], counts[k], rng)
                seats[left] -= 1
                if seats[left] == 0:
                    tables[k] -= 1
                    n_tables -= 1
                    seats[left] = seats[tables[k]]
                    seats[tables[k]] = 0
                t = tables[k]
                opening = (b + a * n_tables) * base[k]
                rest = next_double(rng) * (counts[k] - 1.0 - a * t + opening) - opening
                if rest < 0.0:
                    seats[t] = 1
                    tables[k] += 1
                    n_tables += 1
                    continue
                chosen = 0
                while chosen < t - 1 and rest >= seats[chosen] - a:
                    rest -= seats[chosen] - a
                    chosen += 1
                seats[chosen] += 1
        out[sweep] = tables
