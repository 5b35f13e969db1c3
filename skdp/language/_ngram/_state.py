"""What a chain of a language model shows of itself after a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numba import frozen
from skdp._typing import Floats, Ints


class NgramState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it.

    Lists have an array for each depth: the number of words of a context.
    """

    def __init__(self, walker: Any):
        self._walker = walker

    def _by_depth(self, array: NDArray[Any]) -> list[NDArray[Any]]:
        layout = self._walker.trie.layout
        return [frozen(array[layout.cells_at(m)]) for m in range(layout.n_depths)]

    @property
    def tables(self) -> list[Ints]:
        """Tables t of each cell: of an outcome in a context in which it was seen."""
        return self._by_depth(self._walker.franchise.tables)

    @property
    def customers(self) -> list[Ints]:
        """Customers c of each cell."""
        return self._by_depth(self._walker.franchise.customers)

    @property
    def words(self) -> list[Ints]:
        """The outcome of each cell: a word, or `n_features_in_` for the end."""
        return self._by_depth(self._walker.trie.outcome)

    @property
    def contexts(self) -> list[Ints]:
        """The context of each cell, (n_cells, depth), in reading order; -1 is the beginning."""
        trie = self._walker.trie
        return [
            trie.contexts_at(m)[node - trie.layout.nodes_at(m).start]
            for m, node in enumerate(self._by_depth(trie.layout.node))
        ]

    @property
    def discounts(self) -> Floats:
        """Discount d of each depth."""
        return frozen(self._walker.franchise.discount)

    @property
    def concentrations(self) -> Floats:
        """Concentration theta of each depth."""
        return frozen(self._walker.franchise.concentration)

    def log_joint(self) -> float:
        """Return log p(words, tables, discounts, concentrations), every constant included."""
        return float(self._walker.log_joint())

    def copy(self) -> NgramState:
        """Return a state that later sweeps do not change."""
        return NgramState(self._walker.copy())


class LawAverages:
    """Running means of discounts, concentrations and numbers of tables."""

    def __init__(self) -> None:
        self.n = 0
        self.sums: Any = 0.0

    def add(self, walker: Any) -> None:
        """Take the walker's current state into the means."""
        franchise = walker.franchise
        rows = [franchise.discount, franchise.concentration, franchise.tables_by_depth()]
        self.sums = self.sums + np.array(rows, np.float64)
        self.n += 1

    def means(self) -> tuple[Floats, Floats, Floats]:
        """Return the means by depth."""
        discount, concentration, n_tables = self.sums / self.n
        return discount, concentration, n_tables
