"""Table counts of Pitman-Yor processes and of networks of them; generalized Stirling numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import (
    as_array,
    check_choice,
    check_concentration,
    check_count,
    check_discount,
    check_integers,
    check_memory,
    shorten,
)
from skdp._numeric import Floats, Places
from skdp._numeric._numba import njit
from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.processes import _kernels_stirling as stirling
from skdp.processes import _kernels_table_counts as kernels

# Generalized Stirling numbers: the table of ratios, and functions of arrays.


_WHOLE_ROWS = 1_000  # rows up to this n hold all t
_MAX_ROWS = 10_000
_ROW_PAIRS = 640_000  # rows beyond hold t up to this / n: under 1.5 million pairs in all


class StirlingRatios:
    """Table of the ratios U and V of generalized Stirling numbers for one discount.

    ``U = S^{n+1}_t / S^n_t`` and ``V = S^{n+1}_{t+1} / S^n_t`` lie side by side, row by row, small
    n together. Ratios beyond the table come from patches after it: polynomials with a relative
    error of 1e-9 (a <= 0.999), which are filled when they are first needed by the functions with
    which kernels read the table. The size depends only on the arguments, and the table has at most
    2 million pairs.

    Parameters
    ----------
    values : ndarray of shape (n_pairs, 2)
        The pairs (U, V), ``row_ptr[-1]`` of them, and the patches.
    row_ptr : ndarray of shape (n_rows + 1,)
        The pair of (n, t) is ``values[row_ptr[n] + t]``.
    n_max : int
        The largest count for which the table is valid.
    discount : float
        The discount a.
    """

    def __init__(
        self, values: NDArray[np.float64], row_ptr: NDArray[np.int64], n_max: int, discount: float
    ) -> None:
        self.values = values
        self.row_ptr = row_ptr
        self.n_max = n_max
        self.discount = discount

    @classmethod
    def for_counts(
        cls, n_max: int, discount: float, *, max_rows: int = _MAX_ROWS
    ) -> StirlingRatios:
        """Make the table for counts up to `n_max`.

        Parameters
        ----------
        n_max : int
            Largest number of customers of one dish, >= 0.
        discount : float
            Discount a, in [0, 1).
        max_rows : int, default=10000
            Number of customers, at least 1000, up to which ratios are tabulated. Ratios for more
            customers are in the patches.

        Returns
        -------
        ratios : StirlingRatios
        """
        n_max = check_count(n_max, "n_max")
        discount = check_discount(discount)
        row_ptr, n_pairs = plan_ratios(n_max, discount, max_rows)
        return cls._in_place(np.empty((n_pairs, 2)), row_ptr, n_max, discount)

    @classmethod
    def _in_place(
        cls, values: NDArray[np.float64], row_ptr: NDArray[np.int64], n_max: int, discount: float
    ) -> StirlingRatios:
        """Make a table in a given array, whose length and row offsets are from `plan_ratios`."""
        stirling.fill_ratios(values, row_ptr, discount, np.zeros(np.diff(row_ptr).max() + 1))
        if len(values) > row_ptr[-1]:
            stirling.clear_patches(values, row_ptr[-1], n_max, discount)
        return cls(values, row_ptr, int(n_max), discount)


def plan_ratios(
    n_max: int, discount: float, max_rows: int, max_width: int = _WHOLE_ROWS
) -> tuple[NDArray[np.int64], int]:
    """Return the offsets of the rows of a table, and the number of its pairs with the patches."""
    n = np.arange(min(n_max, max_rows) + 1)
    # Widths depend only on n, so that weights do not depend on the rest of the batch.
    widths = np.where(n <= _WHOLE_ROWS, n, _ROW_PAIRS // np.maximum(n, 1))
    widths = np.minimum(widths, max_width)
    row_ptr = np.concatenate([[0], np.cumsum(widths + 1)]).astype(np.int64)
    n_patched = 0
    if n_max >= stirling.SMALLEST_COUNT and discount <= stirling.LARGEST_DISCOUNT:
        rows, columns = stirling.count_patches(n_max, discount)
        n_patched = stirling.HEAD + rows * columns * stirling.PAIRS
    return row_ptr, int(row_ptr[-1]) + n_patched


@njit
def _log_stirling_each(n, t, a, values, row_ptr, out):
    """Write log S^n_t for each pair."""
    for i in range(n.shape[0]):
        out[i] = stirling.log_stirling(values, row_ptr, n[i], t[i], a)


@njit
def _ratios_each(n, t, a, values, row_ptr, out):
    """Write U and V for each pair."""
    for i in range(n.shape[0]):
        out[0, i] = stirling.share_ratio(values, row_ptr, n[i], t[i], a)
        out[1, i] = stirling.open_ratio(values, row_ptr, n[i], t[i], a)


def log_stirling_numbers(n: ArrayLike, t: ArrayLike, discount: float) -> NDArray[np.float64]:
    """Compute logarithms of generalized Stirling numbers S^n_{t,a}.

    They satisfy ``S^{n+1}_t = S^n_{t-1} + (n - a t) S^n_t``, ``S^0_0 = 1`` ([1]_, equation (3.4)).
    For a = 0 they are the unsigned Stirling numbers of the first kind.

    Parameters
    ----------
    n : array_like of int
        Numbers of customers N, >= 0.
    t : array_like of int
        Numbers of tables T, >= 0, of a shape that broadcasts with that of `n`.
    discount : float
        Discount a of the Pitman-Yor process, in [0, 1).

    Returns
    -------
    log_numbers : ndarray of the broadcast shape
        Natural logarithms; -inf if T > N or T = 0 < N.

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
    >>> import numpy as np
    >>> from skdp.processes import log_stirling_numbers
    >>> np.exp(log_stirling_numbers(4, [1, 2, 3, 4], discount=0.0)).round(6)
    array([ 6., 11.,  6.,  1.])
    """
    n, t, discount = _check_pairs(n, t, discount)
    out = np.empty(n.shape)
    _log_stirling_each(n.flatten(), t.flatten(), discount, *_NO_TABLE, out.reshape(-1))
    return out


def stirling_ratios(
    n: ArrayLike, t: ArrayLike, discount: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute ratios of neighboring generalized Stirling numbers, the weights in Gibbs samplers.

    Parameters
    ----------
    n : array_like of int
        Numbers of customers N, >= 0.
    t : array_like of int
        Numbers of tables T, 1 <= T <= N (0 if N = 0), of a shape that broadcasts with that of `n`.
    discount : float
        Discount a of the Pitman-Yor process, in [0, 1).

    Returns
    -------
    share : ndarray of the broadcast shape
        ``S^{n+1}_t / S^n_t``: a customer joins an old table.
    open : ndarray of the broadcast shape
        ``S^{n+1}_{t+1} / S^n_t``: a customer opens a new table.

    Raises
    ------
    ValueError
        If an argument is out of range.

    See Also
    --------
    log_stirling_numbers : Computes the numbers themselves, and defines them.

    Examples
    --------
    >>> from skdp.processes import stirling_ratios
    >>> share, open = stirling_ratios(4, 2, discount=0.0)  # 50 / 11 and 35 / 11
    >>> round(float(share), 6), round(float(open), 6)
    (4.545455, 3.181818)
    """
    n, t, discount = _check_pairs(n, t, discount)
    if np.any((t > n) | ((t == 0) & (n > 0))):
        raise ValueError("t must be between 1 and n (0 where n is 0): other ratios are 0 / 0.")
    out = np.empty((2, *n.shape))
    _ratios_each(n.flatten(), t.flatten(), discount, *_NO_TABLE, out.reshape(2, -1))
    return out[0], out[1]


_NO_TABLE = (np.empty((0, 2)), np.zeros(1, dtype=np.int64))


def _check_pairs(
    n: ArrayLike, t: ArrayLike, discount: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """Validate the arguments of the two functions above, and broadcast n and t."""
    n, t = np.broadcast_arrays(check_integers(n, "n"), check_integers(t, "t"))
    return n, t, check_discount(discount)


# Table counts of a network of Pitman-Yor processes with given dishes (Du, 2012, section 3.5).


_NETWORK_SAMPLERS = ("btigs", "cmgs")


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
    check_choice(sampler, "sampler", *_NETWORK_SAMPLERS)
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
    kernels.run_network(
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
        raise ValueError(
            f"base must have a probability for each of the {len(n_customers)} dishes, got shape "
            f"{base.shape}."
        )
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
) -> kernels.Network:  # fmt: skip
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
    return kernels.Network(
        ptr, edges, ancestor_ptr, ancestors, base, a, b, table_of.astype(np.int64), values,
        first.row_ptr, weights, np.add.reduceat(weights, ptr[:-1]), is_drawn,
    )  # fmt: skip


def _first_state(counts: Places, network: kernels.Network) -> kernels.NetworkState:
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
    return kernels.NetworkState(customers, tables, sums, totals, tables.sum(axis=1))


# Table counts of one Pitman-Yor process with given dishes (Du, 2012, chapter 3).


_SAMPLERS = ("btigs", "cmgs", "ssa")


def sample_table_counts(
    counts: ArrayLike,
    base: ArrayLike,
    *,
    discount: float,
    concentration: float,
    sampler: str = "btigs",
    n_sweeps: int = 1,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> NDArray[np.int64]:
    """Sample the number of tables for each dish of a Chinese restaurant, given its customers.

    The stationary distribution of all three samplers is [1]_, equation (3.3),

        p(t | n) propto (b | a)_T prod_k S^{n_k}_{t_k} H_k^{t_k},    T = sum_k t_k.

    The chain starts with one table per dish.

    Parameters
    ----------
    counts : array_like of int, shape (n_dishes,)
        Numbers of customers n_k of each dish.
    base : array_like of shape (n_dishes,)
        Probability H_k of each dish under the base distribution: in [0, 1], and positive if the
        dish has customers.
    discount : float
        Discount a, in [0, 1).
    concentration : float
        Concentration b, > -discount.
    sampler : {"btigs", "cmgs", "ssa"}, default="btigs"
        Blocked table indicators, collapsed multiplicities or seating arrangements. All are exact. A
        sweep of "cmgs" draws each t_k from its full conditional, so it mixes best; the time of a
        sweep grows with the number of customers in all three.
    n_sweeps : int, default=1
        Number of sweeps.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.

    Returns
    -------
    table_counts : ndarray of int64, shape (n_sweeps, n_dishes)
        State of the chain after each sweep.

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
    >>> from skdp.processes import sample_table_counts
    >>> counts, base = [50, 5, 0], [0.5, 0.3, 0.2]
    >>> draws = sample_table_counts(counts, base, discount=0.5, concentration=10.0, n_sweeps=3)
    >>> draws.shape
    (3, 3)
    """
    counts = check_integers(counts, "counts")
    if counts.ndim != 1 or len(counts) == 0:
        raise ValueError(f"counts must be 1-D and not empty, got shape {counts.shape}.")
    base = _check_base(base, counts)
    a = check_discount(discount)
    b = check_concentration(concentration, above=-a)
    check_choice(sampler, "sampler", *_SAMPLERS)
    n_sweeps = check_count(n_sweeps, "n_sweeps", at_least=1)
    check_memory(8.0 * n_sweeps * len(counts), f"n_sweeps={n_sweeps} of {len(counts)} counts")
    out = np.empty((n_sweeps, len(counts)), dtype=np.int64)
    rng = derive_stream(make_seed_sequence(random_state), Role.SWEEP)
    customer_ptr = np.concatenate([[0], np.cumsum(counts)])
    if sampler == "ssa":
        kernels.run_ssa(counts, base, a, b, customer_ptr, out, rng)
        return out
    ratios = StirlingRatios.for_counts(int(counts.max()), a)
    if sampler == "cmgs":
        kernels.run_cmgs(counts, base, a, b, customer_ptr, ratios.values, ratios.row_ptr, out, rng)
    else:
        kernels.run_btigs(counts, base, a, b, ratios.values, ratios.row_ptr, out, rng)
    return out
