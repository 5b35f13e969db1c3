"""The chain of the hierarchical Pitman-Yor language model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skdp._part import Part
from skdp._typing import Floats, Ints
from skdp.language._ngram._interpolated import InterpolatedModel
from skdp.language._ngram._state import NgramState
from skdp.language._ngram._trie import NgramTrie
from skdp.processes._franchise import Franchise, FranchisePriors


@dataclass(frozen=True)
class TableSample:
    """One sample: the tables of all cells that may have two, discounts and concentrations.

    Customers follow from the tables of the cells below.
    """

    tables: Ints
    discount: Floats
    concentration: Floats

    def franchise(self, trie: NgramTrie, base: Floats) -> Franchise:
        """Return the sample as the franchise that it was."""
        priors = FranchisePriors(self.discount, self.concentration, (1.0, 1.0), (1.0, 1.0))
        tables = np.ones(len(trie.outcome), np.int32)
        tables[trie.layout.capacity > 1] = self.tables
        return Franchise(trie.layout, base_of_cells(trie, base), priors, tables)

    def interpolated(self, trie: NgramTrie, base: Floats) -> InterpolatedModel:
        """Return the predictive distribution given the sample.

        p(w | u) = (c - d t) / (theta + C) + (theta + d T) / (theta + C) p(w | u without its far
        symbol).
        """
        franchise = self.franchise(trie, base)
        depths = np.arange(trie.order)
        depth = np.repeat(depths, np.diff(trie.layout.cell_ptr))
        mass = franchise.customers - self.discount[depth] * franchise.tables
        node_depth = np.repeat(depths, np.diff(trie.layout.node_ptr))
        theta = self.concentration[node_depth]
        total = theta + franchise.node_customers
        backoff = (theta + self.discount[node_depth] * franchise.node_tables) / total
        return InterpolatedModel(trie, mass / total[trie.layout.node], backoff, base)


class NgramWalker(Part):
    """Markov chain of the hierarchical Pitman-Yor language model.

    Parameters
    ----------
    trie : NgramTrie
    base : (n_outcomes,) array
    priors : FranchisePriors
    rng : (4,) uint64
    """

    _data_attributes = ("trie",)

    def __init__(
        self, trie: NgramTrie, base: Floats, priors: FranchisePriors, rng: NDArray[np.uint64]
    ):
        self.trie = trie
        self.base = base
        self.rng = rng
        self.franchise = Franchise(trie.layout, base_of_cells(trie, base), priors)

    def attach(self, trie: NgramTrie) -> None:
        """Take up the data again."""
        self.trie = trie
        self.franchise.attach(trie.layout, base_of_cells(trie, self.base))

    def sweep(self) -> None:
        """Draw all tables, discounts and concentrations once."""
        self.franchise.sweep(self.rng)

    def log_joint(self) -> float:
        """Return log p(words, tables, discounts, concentrations)."""
        return self.franchise.log_joint()

    def scalars(self) -> dict[str, float]:
        """Return what the trace records."""
        franchise = self.franchise
        row = {"log_joint": self.log_joint()}
        n_tables = franchise.tables_by_depth()
        for m in range(self.trie.order):
            row[f"discount_{m}"] = float(franchise.discount[m])
            row[f"concentration_{m}"] = float(franchise.concentration[m])
            row[f"tables_{m}"] = float(n_tables[m])
        return row

    def model(self) -> TableSample:
        """Return the current sample."""
        franchise = self.franchise
        return TableSample(
            franchise.tables[self.trie.layout.capacity > 1],
            franchise.discount.copy(),
            franchise.concentration.copy(),
        )

    def state(self) -> NgramState:
        """Return a read-only view of the state."""
        return NgramState(self)


def base_of_cells(trie: NgramTrie, base: Floats) -> Floats:
    """Return the base's probability of the outcome of each cell of the empty context."""
    return base[trie.outcome[trie.layout.cells_at(0)]]
