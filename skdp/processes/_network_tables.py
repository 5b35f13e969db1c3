"""Table counts of a network of Pitman-Yor processes with given dishes (Du, 2012, section 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import (
    as_array,
    check_concentration,
    check_count,
    check_discount,
    check_integers,
    check_memory,
    shorten,
)
from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp._numeric._typing import Floats, Places
from skdp.processes._kernels_network_tables import Network, NetworkState, run_network
from skdp.processes._stirling import StirlingRatios

_SAMPLERS = ("btigs", "cmgs")


def sample_network_tables(
    counts: ArrayLike,
    parents: Sequence[Sequence[int]],
    base: ArrayLike,
    *,
    discount: ArrayLike,
    concentration: ArrayLike,
    weights: Any = "dirichlet",
    weight_prior: Any = 1.0,
    sampler: str = "btigs",
    n_sweeps: int = 1,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> NDArray[np.int64]:
    r"""Sample the table counts of Pitman-Yor processes that are linked by any acyclic graph.

    Each node of the graph is a Chinese restaurant. Its base distribution is a weighted mixture of
    the distributions of its parents, or `base` if it has none. A table is a customer of the
    restaurant that it took its dish from. So an edge leads from each node to each of its parents,
    and from a node without parents to the base. The dishes of all observed customers are given.

    Parameters
    ----------
    counts : array_like of int, shape (n_nodes, n_dishes)
        Number of observed customers :math:`n_{jk}` of each dish in each node.
    parents : list of n_nodes lists of int
        Parents of each node, whose numbers are below its own (topological order). An empty list:
        the node's base distribution is `base`.
    base : array_like of shape (n_dishes,)
        Probability :math:`H_k` of each dish under the base distribution: in [0, 1], and positive if
        the dish has customers.
    discount : float or array_like of shape (n_nodes,)
        Discounts :math:`a_j`, in [0, 1).
    concentration : float or array_like of shape (n_nodes,)
        Concentrations :math:`b_j`, above minus the discount.
    weights : "dirichlet" or list of n_nodes lists of float, default="dirichlet"
        Weights of the parents of each node, in the order of `parents`, with the sum 1; an empty
        list for a node without parents. "dirichlet": they have a Dirichlet prior with the parameter
        `weight_prior`, and are integrated out.
    weight_prior : float or list of n_nodes lists of float, default=1.0
        Parameters :math:`\varrho` of the Dirichlet priors, positive: one for all edges, or one for
        each. It has no effect on given weights.
    sampler : {"btigs", "cmgs"}, default="btigs"
        Both are exact. "btigs", blocked table indicators: a sweep reseats each observed customer.
        "cmgs", collapsed multiplicities: it then also draws the number of tables of each edge and
        dish from its full conditional, so it takes more time and mixes better.
    n_sweeps : int, default=1
        Number of sweeps.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.

    Returns
    -------
    table_counts : ndarray of int64, shape (n_sweeps, n_edges, n_dishes)
        Number of tables :math:`s_{ek}` of each edge and dish after each sweep. Edges are in the
        order of `parents`, node by node; a node without parents has one edge.

    Raises
    ------
    ValueError
        If an argument is out of range.

    See Also
    --------
    sample_table_counts : A single restaurant.

    Notes
    -----
    Let :math:`T_{jk} = \sum_{e \in j} s_{ek}` be the tables of a node, and :math:`N_{jk}` its
    customers: observed ones and the tables of its children that took their dish from it. The
    stationary distribution is [1]_, equation (3.17),

    .. math::

        p(s \mid n) \propto \prod_j R_j \frac{(b_j \mid a_j)_{T_j}}{(b_j)_{N_j}}
        \prod_k S^{N_{jk}}_{T_{jk}, a_j} \frac{T_{jk}!}{\prod_{e \in j} s_{ek}!}
        \prod_{j\text{ without parents}} \prod_k H_k^{T_{jk}},

    where :math:`R_j` is :math:`\prod_e f_e^{s_e}` with given weights f, and otherwise the Dirichlet
    integral :math:`\Gamma(\sum_e \varrho_e) \prod_e \Gamma(\varrho_e + s_e) /
    (\Gamma(\sum_e \varrho_e + T_j) \prod_e \Gamma(\varrho_e))`.

    The chain starts with one table for each dish of a node, at the parent of largest weight. The
    time of a sweep is proportional to the number of observed customers times that of their nodes'
    ancestors.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    Two sources, each a variation of a common distribution, and a mixture of both:

    >>> from skdp.processes import sample_network_tables
    >>> counts = [[0, 0, 0], [40, 2, 0], [0, 3, 30], [20, 0, 1]]
    >>> draws = sample_network_tables(
    ...     counts, [[], [0], [0], [1, 2]], [0.3, 0.3, 0.4], discount=0.2, concentration=5.0,
    ...     n_sweeps=1000, random_state=0,
    ... )
    >>> draws.shape
    (1000, 5, 3)
    >>> to_1, to_2 = draws[100:, 3:].sum(axis=2).mean(axis=0)  # tables of the last node
    >>> bool(to_1 > to_2)
    True
    """
    counts = check_integers(counts, "counts")
    if counts.ndim != 2 or 0 in counts.shape:
        raise ValueError(f"counts must be 2-D and not empty, got shape {counts.shape}.")
    n_nodes, n_dishes = counts.shape
    ptr, edges = _check_parents(parents, n_nodes)
    n_customers = counts.sum(axis=0)
    base_shares = _check_base(base, n_customers)
    a = np.array([check_discount(x) for x in _each_node(discount, "discount", n_nodes)])
    b = np.array([
        check_concentration(x, above=-a[j])
        for j, x in enumerate(_each_node(concentration, "concentration", n_nodes))
    ])  # fmt: skip
    is_drawn = isinstance(weights, str)
    if is_drawn and weights != "dirichlet":
        raise ValueError(f"weights must be 'dirichlet' or a list of lists, got {weights!r}.")
    prior = _each_edge(weight_prior, "weight_prior", ptr, edges)
    if not np.all((prior > 0.0) & np.isfinite(prior)):
        raise ValueError("weight_prior must be positive and finite.")
    edge_weights = prior if is_drawn else _check_weights(weights, ptr, edges)
    if not isinstance(sampler, str) or sampler not in _SAMPLERS:
        raise ValueError(f"sampler must be one of {_SAMPLERS}, got {sampler!r}.")
    n_sweeps = check_count(n_sweeps, "n_sweeps", at_least=1)
    check_memory(
        8.0 * n_sweeps * len(edges) * n_dishes,
        f"n_sweeps={n_sweeps} of {len(edges)} edges and {n_dishes} dishes",
    )
    n_max = int(n_customers.max())  # a node has at most one table for each observed customer
    network = _make_network(ptr, edges, base_shares, a, b, edge_weights, is_drawn, n_max)
    state = _first_state(counts, network)
    out = np.empty((n_sweeps, len(edges), n_dishes), dtype=np.int64)
    rng = derive_stream(make_seed_sequence(random_state), Role.SWEEP)
    run_network(
        counts, network, state, sampler == "cmgs", np.empty(n_nodes + 1), np.empty(n_max + 1), out,
        rng,
    )  # fmt: skip
    return out


def _check_parents(parents: Any, n_nodes: int) -> tuple[Places, Places]:
    """Return the offsets of the edges of nodes, and the parents at their ends; -1: the base."""
    try:
        lists = [list(own) for own in parents]
    except TypeError:
        raise ValueError(
            f"parents must be a list of lists of int, got {shorten(parents)}."
        ) from None
    if len(lists) != n_nodes:
        raise ValueError(
            f"parents must have a list for each of the {n_nodes} rows of counts, got {len(lists)}."
        )
    found = []
    for j, own in enumerate(lists):
        ids = check_integers(own, f"parents[{j}]") if own else np.array([-1])
        if ids.ndim != 1 or (own and ids.max() >= j) or len(np.unique(ids)) < len(ids):
            raise ValueError(
                f"parents[{j}] must hold different nodes below {j}, got {shorten(own)}: number "
                "nodes so that parents come before their children."
            )
        found.append(ids)
    ptr = np.concatenate([[0], np.cumsum([len(ids) for ids in found])])
    return ptr.astype(np.int64), np.concatenate(found).astype(np.int64)


def _check_base(base: ArrayLike, n_customers: Places) -> Floats:
    """Return the base probabilities of dishes, or raise."""
    base = as_array(base, "base")
    if base.shape != n_customers.shape:
        raise ValueError(f"base must have a probability for each of the {len(n_customers)} dishes.")
    if (
        base.dtype.kind not in "iuf"
        or not np.all((base >= 0.0) & (base <= 1.0))
        or np.any((base == 0.0) & (n_customers > 0))
    ):
        raise ValueError("base must hold probabilities, positive where a dish has customers.")
    return base.astype(np.float64)


def _each_node(value: Any, name: str, n_nodes: int) -> list[Any]:
    """Return a value for each node."""
    if np.ndim(value) == 0:
        return [value] * n_nodes
    if np.shape(value) != (n_nodes,):
        raise ValueError(f"{name} must be a number or {n_nodes} numbers, one for each node.")
    return list(value)


def _each_edge(value: Any, name: str, ptr: Places, edges: Places) -> Floats:
    """Return a number for each edge, 1 for the edge to the base if none is given for it."""
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return np.full(len(edges), float(value))
    try:
        rows = [np.asarray(own, dtype=np.float64) for own in value]
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must hold a list of numbers for each node, got {shorten(value)}."
        ) from None
    sizes = np.where(edges[ptr[:-1]] < 0, 0, np.diff(ptr))
    if [row.shape for row in rows] != [(size,) for size in sizes]:
        raise ValueError(f"{name} must have the form of parents: a number for each parent.")
    one = np.ones(1)
    return np.concatenate([row if len(row) else one for row in rows])


def _check_weights(weights: Any, ptr: Places, edges: Places) -> Floats:
    """Return the given weights of edges, or raise."""
    found = _each_edge(weights, "weights", ptr, edges)
    sums = np.add.reduceat(found, ptr[:-1])
    if not (np.all(found >= 0.0) and np.all(np.abs(sums - 1.0) < 1e-8)):
        raise ValueError("weights must hold numbers >= 0 with the sum 1 for each node.")
    return found


def _make_network(
    ptr: Places, edges: Places, base: Floats, a: Floats, b: Floats, weights: Floats, is_drawn: bool,
    n_max: int,
) -> Network:  # fmt: skip
    """Return the kernel's arguments."""
    above: list[set[int]] = []
    for j in range(len(ptr) - 1):
        own = edges[ptr[j] : ptr[j + 1]]
        above.append({j}.union(*(above[i] for i in own if i >= 0)))
    ancestors = np.concatenate([np.array(sorted(own), dtype=np.int64) for own in above])
    ancestor_ptr = np.concatenate([[0], np.cumsum([len(own) for own in above])]).astype(np.int64)
    discounts, table_of = np.unique(a, return_inverse=True)
    first = StirlingRatios.for_counts(n_max, float(discounts[0]))
    check_memory(
        16.0 * len(discounts) * len(first.values), f"discount: {len(discounts)} different ones"
    )
    tables = [first, *(StirlingRatios.for_counts(n_max, float(d)) for d in discounts[1:])]
    # A table without patches ends with zeros, which kernels read as "no patches".
    values = np.zeros((len(tables), max(len(table.values) for table in tables), 2))
    for padded, table in zip(values, tables, strict=True):
        padded[: len(table.values)] = table.values
    return Network(
        ptr, edges, ancestor_ptr, ancestors, base, a, b, table_of.astype(np.int64), values,
        first.row_ptr, weights, np.add.reduceat(weights, ptr[:-1]), is_drawn,
    )  # fmt: skip


def _first_state(counts: Places, network: Network) -> NetworkState:
    """Return the state with one table for each dish of a node, at the parent of largest weight."""
    customers, (n_nodes, n_dishes) = counts.copy(), counts.shape
    tables = np.zeros((len(network.parents), n_dishes), dtype=np.int64)
    for j in range(n_nodes - 1, -1, -1):
        edge = network.ptr[j] + np.argmax(network.weights[network.ptr[j] : network.ptr[j + 1]])
        tables[edge] = customers[j] > 0
        if network.parents[edge] >= 0:
            customers[network.parents[edge]] += tables[edge]
    sums = np.add.reduceat(tables, network.ptr[:-1], axis=0)
    totals = np.stack([customers.sum(axis=1), sums.sum(axis=1)])
    return NetworkState(customers, tables, sums, totals, tables.sum(axis=1))
