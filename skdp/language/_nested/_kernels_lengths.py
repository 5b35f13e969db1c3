"""Lengths of words drawn from the restaurants of letters.

| name | shape | meaning |
|---|---|---|
| first_cells | (n_nodes + 1,) | cells of a context: first_cells[u]:first_cells[u + 1], by outcome |
| outcomes | (C,) | letter + 1, or 0, the end |
| following | (C,) | longest context after a cell's letter |
| node_parents, depths | (n_nodes,) | context without the oldest letter, and a context's level |
| counts | (L + 1,) | words by length; entry 0: words without letters, or too long |
"""

# mypy: ignore-errors

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double
from skdp.processes._kernels_franchise_dynamic import CUSTOMERS, TABLES


class Contexts(NamedTuple):
    """The contexts of letters as an automaton, as listed in the table above."""

    first_cells: NDArray[np.int32]
    outcomes: NDArray[np.int32]
    following: NDArray[np.int32]
    node_parents: NDArray[np.int32]
    depths: NDArray[np.int32]


@njit_internal_nogc
def _draw_symbol(f, contexts, node, n_symbols, rng):
    """Draw the symbol after a context."""
    while node >= 0:
        level = contexts.depths[node]
        discount = f.prior[level, 0]
        n_customers, n_tables = f.nodes[node, 0], f.nodes[node, 1]
        left = next_double(rng) * (f.prior[level, 1] + n_customers)
        if left < n_customers - discount * n_tables:
            last = -1
            for cell in range(contexts.first_cells[node], contexts.first_cells[node + 1]):
                if f.cells[cell, CUSTOMERS] > 0:
                    last = cell
                    left -= f.cells[cell, CUSTOMERS] - discount * f.cells[cell, TABLES]
                    if left < 0.0:
                        break
            return np.int64(contexts.outcomes[last])
        node = np.int64(contexts.node_parents[node])
    return np.int64(next_double(rng) * n_symbols)


@njit_internal_nogc
def _find_outcome(contexts, node, outcome):
    """Return the cell of an outcome after a context, or -1 if there is none."""
    low, high = np.int64(contexts.first_cells[node]), np.int64(contexts.first_cells[node + 1])
    end = high
    while low < high:
        middle = (low + high) // 2
        if contexts.outcomes[middle] < outcome:
            low = middle + 1
        else:
            high = middle
    return low if low < end and contexts.outcomes[low] == outcome else np.int64(-1)


@njit_loop
def draw_lengths(f, contexts, start_node, n_symbols, n_draws, counts, rng):
    """Draw words and count their lengths."""
    longest = counts.shape[0] - 1
    for _ in range(n_draws):
        node, k = np.int64(start_node), 0
        while k <= longest:
            outcome = _draw_symbol(f, contexts, node, n_symbols, rng)
            if outcome == 0:
                break
            k += 1
            while node >= 0:
                cell = _find_outcome(contexts, node, outcome)
                if cell >= 0:
                    break
                node = np.int64(contexts.node_parents[node])
            node = np.int64(contexts.following[cell]) if node >= 0 else np.int64(0)
        counts[k if k <= longest else 0] += 1
