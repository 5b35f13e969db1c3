"""The sampler and the samples of models that are a single franchise with known dishes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Ints
from skdp._part import Part
from skdp.processes._context_index import ContextIndex
from skdp.processes._franchise import Franchise, FranchisePriors
from skdp.processes._franchise_start import find_start
from skdp.processes._interpolated import InterpolatedModel


@dataclass(frozen=True)
class TableSample:
    """A sample: discounts, concentrations, and tables of all cells that may have several."""

    tables: Ints  # customers follow from the tables of the cells below
    discount: Floats
    concentration: Floats

    def franchise(self, context_index: ContextIndex, base: Floats) -> Franchise:
        """Return the sample as a franchise."""
        priors = FranchisePriors(
            self.discount, self.concentration, (1.0, 1.0), (1.0, 1.0),
            by_node=len(self.concentration) > len(self.discount),
        )  # fmt: skip
        tables = np.ones(len(context_index.outcome), np.int32)
        tables[context_index.layout.capacity > 1] = self.tables
        return Franchise(context_index.layout, context_index.base_of_cells(base), priors, tables)

    def interpolated(self, context_index: ContextIndex, base: Floats) -> InterpolatedModel:
        """Return p(w | u) = (c - d t) / (theta + C) + (theta + d T) / (theta + C) p(w | above)."""
        franchise = self.franchise(context_index, base)
        discount = self.discount[context_index.layout.laws]
        of_cells = np.repeat(discount, np.diff(context_index.layout.cell_ptr))
        mass = franchise.customers - of_cells * franchise.tables
        of_nodes = np.repeat(discount, np.diff(context_index.layout.node_ptr))
        theta = franchise.node_concentrations()
        total = theta + franchise.node_customers
        backoff = (theta + of_nodes * franchise.node_tables) / total
        mass /= total[context_index.layout.node]
        if franchise.priors.by_node:
            return InterpolatedModel(context_index, mass, backoff, base)
        chain = (self.concentration + self.discount) / (self.concentration + 1.0)
        return InterpolatedModel(context_index, mass, backoff, base, chain)


class FranchiseSampler(Part):
    """Markov chain of a franchise whose dishes are known."""

    _data_attributes = ("context_index",)

    def __init__(
        self,
        context_index: ContextIndex,
        base: Floats,
        priors: FranchisePriors,
        rng: NDArray[np.uint64],
        *,
        finds_start: bool = False,  # near the posterior, not with one table in each cell
    ):
        self.context_index = context_index
        self.base = base
        self.rng = rng
        layout, of_cells = context_index.layout, context_index.base_of_cells(base)
        start = find_start(layout, of_cells, priors) if finds_start else None
        concentration, tables = (None, None) if start is None else start
        self.franchise = Franchise(layout, of_cells, priors, tables, concentration)

    def attach(self, context_index: ContextIndex) -> None:
        """Attach the data."""
        self.context_index = context_index
        self.franchise.attach(context_index.layout, context_index.base_of_cells(self.base))

    def sweep(self) -> None:
        """Draw all tables, discounts and concentrations once."""
        self.franchise.sweep(self.rng)

    def log_joint(self) -> float:
        """Return log p(outcomes, tables, discounts, concentrations)."""
        return self.franchise.log_joint()

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace, with means over restaurants of concentrations."""
        franchise = self.franchise
        row = {"log_joint": self.log_joint()}
        n_tables = franchise.tables_by_law()
        concentrations = franchise.concentrations_by_law()
        for m in range(self.context_index.layout.n_laws):
            row[f"discount_{m}"] = float(franchise.discount[m])
            row[f"concentration_{m}"] = float(np.mean(concentrations[m]))
            row[f"tables_{m}"] = float(n_tables[m])
        return row

    def model(self) -> TableSample:
        """Return the current sample."""
        franchise = self.franchise
        return TableSample(
            franchise.tables[self.context_index.layout.capacity > 1],
            franchise.discount.copy(),
            franchise.concentration.copy(),
        )

    def state(self) -> Any:
        """Return a read-only view of the state."""
        raise NotImplementedError


class LawAverages:
    """Running means of discounts, concentrations and numbers of tables."""

    def __init__(self) -> None:
        self.n = 0
        self.discount: Any = 0.0
        self.concentration: Any = 0.0
        self.n_tables: Any = 0.0

    def add(self, sampler: FranchiseSampler) -> None:
        """Add the sampler's current state to the means."""
        franchise = sampler.franchise
        self.discount = self.discount + franchise.discount
        self.concentration = self.concentration + franchise.concentration
        self.n_tables = self.n_tables + franchise.tables_by_law()
        self.n += 1

    def means(self) -> tuple[Floats, Floats, Floats]:
        """Return the means of discounts, concentrations (by depth or restaurant) and tables."""
        return self.discount / self.n, self.concentration / self.n, self.n_tables / self.n
