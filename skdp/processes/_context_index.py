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
    """The cells of every restaurant and their dishes, which are outcomes.

    The cells of a restaurant are consecutive, in the order of outcomes.

    Attributes
    ----------
    n_outcomes : int
    has_root : bool
        Whether one restaurant is above all others. If not, the restaurants of the first depth are
        side by side, below the base.
    cell_ptr : (n_nodes + 1,) int32
        The cells of restaurant u are ``cell_ptr[u]:cell_ptr[u + 1]``.
    outcome : (n_cells,) int32
    layout : FranchiseLayout
    """

    n_outcomes: int
    has_root: bool
    cell_ptr: Ints
    outcome: Ints
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
