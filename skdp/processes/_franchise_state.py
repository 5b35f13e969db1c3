"""The state of a chain of a franchise after a sweep, as users see it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Ints
from skdp.processes._franchise_sampler import FranchiseSampler


class FranchiseState:
    """The state of a chain after a sweep: a live, read-only view, which `copy` detaches.

    Lists have an array for each depth, beginning with the broadest contexts.
    """

    def __init__(self, sampler: FranchiseSampler):
        self._sampler: Any = sampler

    def _by_depth(self, array: NDArray[Any]) -> list[NDArray[Any]]:
        layout = self._sampler.context_index.layout
        return [as_readonly(array[layout.cells_at(m)]) for m in range(layout.n_depths)]

    def _places(self) -> list[NDArray[np.integer]]:
        """Return the restaurant of each cell, numbered within its depth."""
        layout = self._sampler.context_index.layout
        return [
            node - layout.nodes_at(m).start for m, node in enumerate(self._by_depth(layout.node))
        ]

    @property
    def tables(self) -> list[Ints]:
        """Tables t of each cell, a pair of a context and an outcome that was seen in it."""
        return self._by_depth(self._sampler.franchise.tables)

    @property
    def customers(self) -> list[Ints]:
        """Customers c of each cell."""
        return self._by_depth(self._sampler.franchise.customers)

    @property
    def discounts(self) -> Floats:
        """Discount d of each depth; the last also applies to all greater depths."""
        return as_readonly(self._sampler.franchise.discount)

    @property
    def concentrations(self) -> Any:
        """Concentration theta of each depth, like `discounts`; if by context, a list of arrays."""
        franchise = self._sampler.franchise
        if franchise.priors.by_node:
            return [as_readonly(part) for part in franchise.concentrations_by_law()]
        return as_readonly(franchise.concentration)

    def log_joint(self) -> float:
        """Return log p(outcomes, tables, discounts, concentrations), including all constants."""
        return float(self._sampler.log_joint())

    def copy(self) -> Self:
        """Return a copy of the state that later sweeps do not change."""
        return type(self)(self._sampler.copy())
