"""Table counts of networks of Pitman-Yor processes by enumeration, in plain Python.

The joint of dishes and tables of a network is a product over nodes, equation (3.17) of the thesis:

    R_j (b|a)_{T_j} / (b)_{N_j} prod_k S^{N_jk}_{T_jk} T_jk! / prod_e s_ek!

    s_ek   tables of dish k that order along edge e, from node j to a parent
    T_jk   their sum over the edges of node j
    N_jk   observed customers and the tables of children that order here
    R_j    prod_e f_e^{s_e}, or its mean over Dirichlet weights f

Nodes without parents have one edge, to the base: a factor H_k for each table."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import factorial, prod

import numpy as np
from exact.oracles.segmented import stirling

Tables = tuple[tuple[int, ...], ...]


def restaurant(n: int, t: int, a: float, b: float) -> float:
    """Return (b|a)_t / (b)_n; b may be negative if there is a customer, so b cancels first."""
    if n == 0:
        return 1.0
    return prod(b + a * i for i in range(1, t)) / prod(b + i for i in range(1, n))


def compositions(total: int, n_parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a number as an ordered sum."""
    if n_parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for others in compositions(total - first, n_parts - 1):
            yield first, *others


def weight_of_edges(sums: Sequence[int], weights: Sequence[float], is_drawn: bool) -> float:
    """Return the probability that tables in a given order choose their edges."""
    if not is_drawn:
        return prod(f**s for f, s in zip(weights, sums, strict=True))
    chosen = prod(rho + i for rho, s in zip(weights, sums, strict=True) for i in range(s))
    return chosen / prod(sum(weights) + i for i in range(sum(sums)))


def joint(
    counts: Sequence[Sequence[int]],
    parents: Sequence[Sequence[int]],
    base: Sequence[float],
    a: Sequence[float],
    b: Sequence[float],
    weights: Sequence[Sequence[float]],
    *,
    is_drawn: bool,
) -> dict[Tables, float]:
    """Return the joint probability of dishes, in a given order, and all possible tables."""
    n_dishes, found = len(base), {}

    def visit(j: int, customers: list[list[int]], edges: tuple, weight: float) -> None:
        if j < 0:
            found[edges] = found.get(edges, 0.0) + weight
            return
        n_edges = max(len(parents[j]), 1)
        choices = [
            [s for t in range(min(n, 1), n + 1) for s in compositions(t, n_edges)]
            for n in customers[j]
        ]
        for chosen in product(*choices):  # for each dish its tables by edge
            by_edge = list(zip(*chosen, strict=True))
            tables = [sum(s) for s in chosen]
            factor = restaurant(sum(customers[j]), sum(tables), a[j], b[j])
            for k in range(n_dishes):
                factor *= float(stirling(customers[j][k], tables[k], a[j]))
                factor *= factorial(tables[k]) / prod(factorial(s) for s in chosen[k])
                if not parents[j]:
                    factor *= base[k] ** tables[k]
            if parents[j]:
                factor *= weight_of_edges([sum(s) for s in by_edge], weights[j], is_drawn)
            above = [list(row) for row in customers]
            for i, s in zip(parents[j], by_edge, strict=False):
                above[i] = [n + more for n, more in zip(above[i], s, strict=True)]
            visit(j - 1, above, (*by_edge, *edges), weight * factor)

    visit(len(counts) - 1, [list(row) for row in counts], (), 1.0)
    return found


def posterior(*args, **kwargs) -> tuple[np.ndarray, np.ndarray]:
    """Return the possible tables, (n, E, K), and their probabilities, (n,)."""
    found = joint(*args, **kwargs)
    probabilities = np.array(list(found.values()))
    return np.array(list(found)), probabilities / probabilities.sum()
