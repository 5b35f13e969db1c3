"""Gibbs samplers for the table counts of a network of Pitman-Yor processes with given dishes.

The base distribution of a node is a mixture of the distributions of its parents. A table of the
node is a customer of one of them; an edge leads from the node to this parent. The samplers leave
equation (3.17) of Du (2012) invariant, with the corrections that make its algorithms exact.

In both samplers a customer moves with its table indicator. The customers of the thesis's collapsed
sampler open a table only if all tables of their dish have one customer, so they would hardly ever
open a parent that does not serve the dish yet.

| name | symbol | shape | meaning |
|---|---|---|---|
| ptr | | (J + 1,) int64 | offsets of the edges of each node |
| parents | | (E,) int64 | parent at the end of each edge, < the node; -1: the base |
| ancestor_ptr, ancestors | | (J + 1,), (n,) int64 | each node's ancestors and itself, in order |
| base | H_k | (K,) | base probability of each dish |
| a, b | a_j, b_j | (J,) | discounts and concentrations |
| table_of | | (J,) int64 | index in `values` of the table of Stirling ratios of each node |
| values, row_ptr | U, V | (A, P, 2), | tables of Stirling ratios, see `_kernels_stirling` |
| weights | f or rho | (E,) | weights of edges, or parameters of their Dirichlet priors |
| is_drawn | | bool | whether weights have Dirichlet priors and are integrated out |
| data | n_jk | (J, K) int64 | observed customers |
| customers | N_jk | (J, K) int64 | observed customers and tables of children, the state |
| tables | s_ek | (E, K) int64 | tables of each edge, the state |
| sums | T_jk | (J, K) int64 | tables of each node |
| totals | N_j, T_j | (2, J) int64 | customers and tables of each node, summed over dishes |
| edge_totals | | (E,) int64 | tables of each edge, summed over dishes |
| up | | (J + 1,) | probability of one more customer of a dish; last, its base probability |
| out | | (sweeps, E, K) int64 | tables after every sweep |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit, njit_internal
from skdp._numeric._random import draw_categorical, next_double
from skdp.processes._kernels_stirling import open_ratio, share_ratio


class Network(NamedTuple):
    """Nodes, edges and parameters; see the table of symbols."""

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
    """Customers and tables; see the table of symbols."""

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
    """Return the edge of the table that leaves with a customer of dish k; -1 if none does.

    A random customer leaves, and with it its table if it is the head; but the last table stays as
    long as others sit there.
    """
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
