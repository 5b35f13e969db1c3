"""Table counts of Pitman-Yor processes with given dishes: samplers, top level, cell pairs."""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import (
    njit,
    njit_forceinline,
    njit_internal,
    njit_internal_nogc,
    njit_loop,
    njit_outlined,
)
from skdp._numeric._random import (
    draw_bernoulli,
    draw_categorical,
    draw_exponential,
    draw_log_gamma,
    next_double,
    next_open_double,
)
from skdp.processes._kernels_stirling import log_stirling, open_ratio, share_ratio

# The top level of a hierarchical Dirichlet process: weights of the dishes that are shared.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | weights | beta_k | (K,) | weights of the dishes that have customers |
# | rest | beta_u | | weight of all other dishes together; sum_k beta_k + beta_u = 1 |
# | tables | m_.k | (K,) int64 | tables of each dish in all restaurants, at least 1 |
# | gamma | gamma | | concentration of the top level |
# | ptr, dishes | | (J + 1,), (n,) | offsets of restaurants, and the dish of every customer |
# | prior | alpha beta_k | (K,) | |
# | counts | | (K,) int64 | scratch, zero, and left so |
# | own_tables | m_j. | (J,) int64 | tables of each restaurant |
#
# If beta is instantiated and the weights of unseen dishes are summed, its density is
# gamma^K beta_u^(gamma - 1) / prod_k beta_k. Its integral against prod_k beta_k^m_.k is the
# probability of the tables' dishes, gamma^K prod_k (m_.k - 1)! / (gamma)_m...
#
# There may be G given dishes, which exist without customers, too. The prior of their weights and of
# the weight of all others together is Dirichlet(1, ..., 1, gamma), as if each already had one
# table: the density of beta is (gamma)_G gamma^(K - G) beta_u^(gamma - 1) / prod_k beta_k, with a
# product over the K - G other dishes, and the tables have probability gamma^(K - G) prod_g m_.g!
# prod_k (m_.k - 1)! / (gamma + G)_m...


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


# Gibbs samplers for the table counts of one Pitman-Yor process with given dishes.
#
# All three leave p(t | n) propto (b | a)_T prod_k S^{n_k}_{t_k} H_k^{t_k} invariant: chapter 3 of
# Du (2012), with the corrections that make its algorithms exact.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | counts | n_k | (K,) int64 | customers of each dish |
# | base | H_k | (K,) | base probability of each dish |
# | a, b | a, b | scalars | discount and concentration |
# | values, row_ptr | U, V | | table of Stirling ratios, see `_kernels_stirling` |
# | tables | t_k | (K,) int64 | tables of each dish, the state: 1 <= t_k <= n_k |
# | n_tables | T | scalar | sum of the table counts |
# | customer_ptr | | (K + 1,) int64 | running sum of `counts`: offsets of dishes in flat arrays |
# | sizes | m_kl | (sum n,) int64 | customers at table l of dish k (SSA only) |
# | out | | (sweeps, K) int64 | table counts after every sweep |


@njit
def run_btigs(counts, base, a, b, values, row_ptr, out, rng):
    """Blocked table indicator sampler (section 3.4): remove a customer with its table indicator."""
    # A customer is the head of a table with probability t / n, but the last table of a dish stays
    # until the last customer. Weights include the probability that a removal leads back.
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
    """Collapsed multiplicity sampler (section 3.3): draw t_k given the other table counts."""
    # With the dishes given, the first of its two stages (a customer's dish) has nothing to draw.
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
    """Sampler for seating arrangements (section 3.2, algorithm 1): reseat one customer."""
    # The customers of a dish are exchangeable, so the sizes of their tables suffice.
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


# Gibbs samplers for the table counts of a network of Pitman-Yor processes with given dishes.
#
# The base distribution of a node is a mixture of the distributions of its parents. A table of the
# node is a customer of one of them; an edge leads from the node to this parent. The samplers leave
# equation (3.17) of Du (2012) invariant, with the corrections that make its algorithms exact.
#
# In both samplers a customer moves with its table indicator. The customers of the thesis's
# collapsed sampler open a table only if all tables of their dish have one customer, so they would
# hardly ever open a parent that does not serve the dish yet.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | ptr | | (J + 1,) int64 | offsets of the edges of each node |
# | parents | | (E,) int64 | parent at the end of each edge, < the node; -1: the base |
# | ancestor_ptr, ancestors | | (J + 1,), (n,) int64 | each node's ancestors and itself, in order |
# | base | H_k | (K,) | base probability of each dish |
# | a, b | a_j, b_j | (J,) | discounts and concentrations |
# | table_of | | (J,) int64 | index in `values` of the table of Stirling ratios of each node |
# | values, row_ptr | U, V | (A, P, 2), | tables of Stirling ratios, see `_kernels_stirling` |
# | weights | f or rho | (E,) | weights of edges, or parameters of their Dirichlet priors |
# | is_drawn | | bool | whether weights have Dirichlet priors and are integrated out |
# | data | n_jk | (J, K) int64 | observed customers |
# | customers | N_jk | (J, K) int64 | observed customers and tables of children, the state |
# | tables | s_ek | (E, K) int64 | tables of each edge, the state |
# | sums | T_jk | (J, K) int64 | tables of each node |
# | totals | N_j, T_j | (2, J) int64 | customers and tables of each node, summed over dishes |
# | edge_totals | | (E,) int64 | tables of each edge, summed over dishes |
# | up | | (J + 1,) | probability of one more customer of a dish; last, its base probability |
# | out | | (sweeps, E, K) int64 | tables after every sweep |


class Network(NamedTuple):
    """Nodes, edges and parameters: see the table above."""

    ptr: np.ndarray
    parents: np.ndarray
    ancestor_ptr: np.ndarray
    ancestors: np.ndarray
    base: np.ndarray
    a: np.ndarray
    b: np.ndarray
    table_of: np.ndarray
    values: np.ndarray
    row_ptr: np.ndarray
    weights: np.ndarray
    weight_sums: np.ndarray
    is_drawn: bool


class NetworkState(NamedTuple):
    """Customers and tables: see the table above."""

    customers: np.ndarray
    tables: np.ndarray
    sums: np.ndarray
    totals: np.ndarray
    edge_totals: np.ndarray


@njit_internal
def edge_weight(i, e, net, state):
    """Return the probability that the next table of node i is a customer at the end of edge e."""
    if not net.is_drawn:
        return net.weights[e]
    n_tables = state.totals[1, i]
    return (net.weights[e] + state.edge_totals[e]) / (net.weight_sums[i] + n_tables)


@njit_internal
def share_weight(i, k, net, state):
    """Return the weight with which one more customer of dish k joins a table of node i."""
    n, t = state.customers[i, k], state.sums[i, k]
    if t == 0:
        return 0.0
    weight = share_ratio(net.values[net.table_of[i]], net.row_ptr, n, t, net.a[i])
    if t > 1:
        weight *= (n + 1.0 - t) / (n + 1.0)
    return weight / (net.b[i] + state.totals[0, i])


@njit_internal
def open_weight(i, k, net, state):
    """Return the weight with which one more customer of dish k opens a table of node i."""
    n, t = state.customers[i, k], state.sums[i, k]
    if state.totals[0, i] == 0:
        return 1.0
    weight = open_ratio(net.values[net.table_of[i]], net.row_ptr, n, t, net.a[i])
    weight *= (t + 1.0) / (n + 1.0)
    return weight * (net.b[i] + net.a[i] * state.totals[1, i]) / (net.b[i] + state.totals[0, i])


@njit_internal
def change(i, k, e, sign, state):
    """Add a customer of dish k to node i, and a table of edge e unless it is -1; or remove them."""
    state.customers[i, k] += sign
    state.totals[0, i] += sign
    if e >= 0:
        state.tables[e, k] += sign
        state.edge_totals[e] += sign
        state.sums[i, k] += sign
        state.totals[1, i] += sign


@njit_internal
def draw_edge_to_remove(i, k, net, state, rng):
    """Return the edge of the table that leaves with a customer of dish k; -1 if none does."""
    # A random customer leaves, and with it its table if it is the head; but the last table stays as
    # long as others sit there.
    n, t = state.customers[i, k], state.sums[i, k]
    if t == 1 and n > 1:
        return -1
    rest = next_double(rng) * n
    for e in range(net.ptr[i], net.ptr[i + 1]):
        rest -= state.tables[e, k]
        if rest < 0.0:
            return e
    return -1


@njit_internal
def remove_customer(j, k, net, state, rng):
    """Remove a customer of dish k from node j, and the tables that leave with it, upwards."""
    i = j
    while i >= 0:
        e = draw_edge_to_remove(i, k, net, state, rng)
        change(i, k, e, -1, state)
        i = net.parents[e] if e >= 0 else -1


@njit_internal
def sum_upwards(i, net, state, up):
    """Return the probability of the dish of a new table of node i, given its parents' `up`."""
    total = 0.0
    for e in range(net.ptr[i], net.ptr[i + 1]):
        total += edge_weight(i, e, net, state) * up[net.parents[e]]
    return total


@njit_internal
def add_customer(j, k, net, state, up, rng):
    """Add a customer of dish k to node j: draw a path on which each node but the last opens."""
    up[-1] = net.base[k]
    for place in range(net.ancestor_ptr[j], net.ancestor_ptr[j + 1]):
        i = net.ancestors[place]
        up[i] = share_weight(i, k, net, state)
        up[i] += open_weight(i, k, net, state) * sum_upwards(i, net, state, up)
    i = j
    while i >= 0:
        rest = next_double(rng) * up[i] - share_weight(i, k, net, state)
        if rest < 0.0:
            change(i, k, -1, 1, state)
            break
        opening, chosen = open_weight(i, k, net, state), -1
        for e in range(net.ptr[i], net.ptr[i + 1]):
            weight = edge_weight(i, e, net, state) * up[net.parents[e]]
            if weight > 0.0 and rest >= 0.0:
                chosen = e
                rest -= opening * weight
        change(i, k, chosen, 1, state)
        i = net.parents[chosen]


@njit_internal
def draw_tables_of_edge(i, e, k, net, state, weights, rng):
    """Draw the number of tables of dish k of an edge of node i from its full conditional."""
    parent, n = net.parents[e], state.customers[i, k]
    s, least = state.tables[e, k], 0
    others, most = state.sums[i, k] - s, n - state.sums[i, k] + s
    if others == 0:
        least = 1
    if parent >= 0:
        least = max(least, state.sums[parent, k] - state.customers[parent, k] + s)
        if state.sums[parent, k] == 0:
            return
    elif net.base[k] == 0.0:
        return
    if n == 0 or most <= least or (not net.is_drawn and net.weights[e] == 0.0):
        return
    table, largest = net.values[net.table_of[i]], 0.0
    weights[0] = 0.0
    for step in range(most - least):
        new = least + step
        t, shift = others + new, new - s  # `shift`: tables more than in the current state
        n_tables = state.totals[1, i] + shift
        ratio = open_ratio(table, net.row_ptr, n - 1, t, net.a[i])
        ratio /= share_ratio(table, net.row_ptr, n - 1, t, net.a[i])  # S^n_{t+1} / S^n_t
        ratio *= (t + 1.0) / (new + 1.0) * (net.b[i] + net.a[i] * n_tables)
        if net.is_drawn:
            ratio *= net.weights[e] + state.edge_totals[e] + shift
            ratio /= net.weight_sums[i] + n_tables
        else:
            ratio *= net.weights[e]
        if parent >= 0:
            above = state.customers[parent, k] + shift
            ratio *= share_ratio(
                net.values[net.table_of[parent]], net.row_ptr, above, state.sums[parent, k],
                net.a[parent],
            ) / (net.b[parent] + state.totals[0, parent] + shift)  # fmt: skip
        else:
            ratio *= net.base[k]
        weights[step + 1] = weights[step] + math.log(ratio)
        largest = max(largest, weights[step + 1])
    total, size = 0.0, most - least + 1
    for step in range(size):
        weights[step] = math.exp(weights[step] - largest)
        total += weights[step]
    shift = least + draw_categorical(weights[:size], total, rng) - s
    state.tables[e, k] += shift
    state.edge_totals[e] += shift
    state.sums[i, k] += shift
    state.totals[1, i] += shift
    if parent >= 0:
        state.customers[parent, k] += shift
        state.totals[0, parent] += shift


@njit
def run_network(data, net, state, draws_edges, up, weights, out, rng):
    """Run sweeps over all customers and, if `draws_edges`, over the multiplicities of all edges."""
    n_nodes, n_dishes = data.shape
    for sweep in range(out.shape[0]):
        for j in range(n_nodes):
            for k in range(n_dishes):
                for _ in range(data[j, k]):
                    remove_customer(j, k, net, state, rng)
                    add_customer(j, k, net, state, up, rng)
        if draws_edges:
            for i in range(n_nodes - 1, -1, -1):
                for e in range(net.ptr[i], net.ptr[i + 1]):
                    for k in range(n_dishes):
                        draw_tables_of_edge(i, e, k, net, state, weights, rng)
        out[sweep] = state.tables


# Probabilities of the customers and tables of cells as functions of the discount.
#
# Cells with the same numbers of customers and of tables have the same factor S_d(c, t) in the joint
# of a franchise (`_kernels_franchise`). So the discount depends on a histogram of pairs: the
# number of cells with c customers at t tables.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | n, t, counts | c, t | (P,) each | distinct pairs, 1 <= t < n, sorted by n; numbers of cells |
# | a | d | scalar | discount, 0 <= a < 1 |
# | row | s^n_t | (width + 1,) | S^n_t (t - 1)! / (n - 1)! for the current number of customers |
# | values, row_ptr | | (0, 2), (0,) | a table without ratios |
# | work | | (3, width + 1) | scratch, for the largest t of up to MOST_ROWS customers |


FEW = 64
"""Number of customers up to which pairs are counted in an array."""

MOST_ROWS = 1000
"""Number of rows of the recursion, in which S^n_t (t - 1)! / (n - 1)! is from 1e-11 to 1e200."""


@njit
def count_pairs(visited, customers, tables, few, many):
    """Count the pairs of cells with more customers than tables; return the rows used in `many`."""
    # `few[c, t]` grows by the number of cells with c <= FEW customers at t tables; the pairs of the
    # other cells are written to `many`, (at least their number, 2), one by one.
    n_many = 0
    for i in range(visited.shape[0]):
        c, t = customers[visited[i]], tables[visited[i]]
        if c <= t:
            continue
        if c <= FEW:
            few[c, t] += 1
        else:
            many[n_many, 0] = c
            many[n_many, 1] = t
            n_many += 1
    return n_many


@njit
def count_values(numbers, few, many):
    """Count numbers i >= 2 in ``few[i]``; write larger numbers to `many`, return their count."""
    n_many = 0
    for i in range(numbers.shape[0]):
        n = numbers[i]
        if n < few.shape[0]:
            few[n] += n > 1
        else:
            many[n_many] = n
            n_many += 1
    return n_many


@njit_forceinline
def _add_customer(n, above, row, falls):
    """Write the row for n + 1 customers, given the row for n in `above`; `falls` holds a t."""
    # S^{n+1}_t = S^n_{t-1} + (n - a t) S^n_t, times (t - 1)! / n!
    share = 1.0 / n
    for t in range(min(n, row.shape[0] - 2) + 1):
        opened = t * above[t]
        row[t + 1] = share * (opened + (n - falls[t + 1]) * above[t + 1])


@njit_loop
def sum_log_seatings(a, n, t, counts, values, row_ptr, work):
    """Return sum counts log S^n_t, up to terms that do not depend on the discount."""
    above, row, falls = work[0], work[1], work[2]
    for i in range(row.shape[0]):
        above[i] = row[i] = 0.0
        falls[i] = a * i
    row[1] = 1.0
    customers = 1
    total = 0.0
    for i in range(n.shape[0]):
        if n[i] <= MOST_ROWS:  # a pass over all rows, at a fraction of a nanosecond per entry
            while customers < n[i]:
                above, row = row, above
                _add_customer(customers, above, row, falls)
                customers += 1
            total += counts[i] * math.log(row[t[i]])
        else:  # formulas and integrals
            total += counts[i] * log_stirling(values, row_ptr, n[i], t[i], a)
    return total
