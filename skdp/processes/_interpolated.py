"""A predictive model that interpolates the restaurants of a franchise."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Ints
from skdp.processes._context_index import ContextIndex
from skdp.processes._kernels_interpolated import add_distributions, add_probabilities


@dataclass(frozen=True)
class InterpolatedModel:
    """p(w | u) = mass_uw + backoff_u p(w | the restaurant above u)."""

    context_index: ContextIndex
    mass: Floats  # (n_cells,)
    backoff: Floats  # (n_nodes,), 1 - the sum of the masses of a restaurant's cells
    base: Floats  # (n_outcomes,), distribution above the topmost restaurants
    # (n_laws,), backoff of a restaurant with one customer, if some are not in `context_index`
    chain: Floats = field(default_factory=lambda: np.empty(0))

    def add_to_probabilities(
        self, outcomes: Ints, contexts: Ints, cells: Ints, total: Floats
    ) -> None:
        """Add the probabilities of outcomes at the ends of paths to `total`."""
        add_probabilities(
            as_readonly(outcomes), contexts, cells, self.mass, self.backoff, self.base, total
        )

    def add_to_distributions(self, contexts: Ints, total: Floats) -> None:
        """Add the distributions at the ends of paths to the rows of `total`."""
        index = self.context_index
        add_distributions(
            contexts, int(index.has_root), index.cell_ptr, index.outcome, self.mass, self.backoff,
            self.top(), np.empty(index.n_outcomes), total,
        )  # fmt: skip

    def top(self) -> Floats:
        """Return the distribution of the root, or the base if there is no root."""
        if not self.context_index.has_root:
            return self.base
        last = self.context_index.cell_ptr[1]
        distribution = self.base * self.backoff[0]
        distribution[self.context_index.outcome[:last]] += self.mass[:last]
        return distribution

    def cell_probabilities(self) -> Floats:
        """Return p(w | u) of every cell, including all restaurants above it, (n_cells,)."""
        layout = self.context_index.layout
        lower = np.empty(len(self.mass))
        for m in range(layout.n_depths):
            cells = layout.cells_at(m)
            parent = layout.parent[cells]
            below = lower[parent] if m else self.base[self.context_index.outcome[cells]]
            lower[cells] = self.mass[cells] + self.backoff[layout.node[cells]] * below
        return lower
