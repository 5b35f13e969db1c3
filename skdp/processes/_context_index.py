"""An index of the dishes that each restaurant of a franchise serves, given the tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Ints, Places
from skdp.processes._franchise import FranchiseLayout
from skdp.processes._kernels_interpolated import find_cells


@dataclass(frozen=True)
class ContextIndex:
    """The cells of every restaurant, one after another, in the order of their dishes: outcomes."""

    n_outcomes: int
    has_root: bool  # one restaurant is above all others; else the first depth is below the base
    cell_ptr: Ints  # (n_nodes + 1,), cells of restaurant u are cell_ptr[u]:cell_ptr[u + 1]
    outcome: Ints  # (n_cells,)
    layout: FranchiseLayout

    def base_of_cells(self, base: Floats) -> Floats:
        """Return the base's probability of the outcome of each cell of the first depth."""
        return base[self.outcome[self.layout.cells_at(0)]]

    def find_cells(self, outcomes: Ints, contexts: Ints) -> Ints:
        """Return the (n, depths) cells of outcomes on paths of restaurants, -1 for none."""
        cells = np.empty_like(contexts)
        find_cells(as_readonly(outcomes), contexts, self.cell_ptr, self.outcome, cells)
        return cells


def pack(parts: list[Places]) -> Ints:
    """Return the concatenated parts as 32-bit integers."""
    return np.concatenate(parts).astype(np.int32)


def count_up(owners: Places, n: int, *, first: int) -> Ints:
    """Return offsets of the items of each of n owners, counted from `first`; owners are sorted."""
    return (np.searchsorted(owners, np.arange(n + 1)) + first).astype(np.int32)
