"""Counts of the rules of a grammar."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats
from skdp.grammar._chart._batches import SentenceBatches
from skdp.grammar._chart._engine import expected_counts
from skdp.grammar._chart._weights import RuleWeights
from skdp.grammar._induction._layout import GrammarLayout

ACTIVE = 1e-6
"""Least expected nodes of active symbols, and least weight of their active rules."""


class RuleCounts(NamedTuple):
    """Counts or expected counts, summed over sentences."""

    root: Floats  # (S,)
    emission: Floats  # (P, V)
    binary: Floats  # (C, S, S), parent, left child, right child

    def of_nodes(self, layout: GrammarLayout) -> Floats:
        """Return the number of nodes with each symbol, (S,)."""
        nodes = np.zeros(layout.n_symbols)
        nodes[layout.inventories[0]] += self.emission.sum(axis=1)
        nodes[layout.branching] += self.binary.sum(axis=(1, 2))
        return nodes

    def active(self, layout: GrammarLayout) -> NDArray[np.bool_]:
        """Return a mask of the symbols in use, (S,)."""
        return self.of_nodes(layout) >= ACTIVE

    def of_rule_types(self, layout: GrammarLayout) -> Floats:
        """Return the number of uses of each type of rule by each branching symbol, (C, n_types)."""
        places = layout.inventories
        types = [
            self.binary[:, places[b.left], places[b.right]].sum(axis=(1, 2)) for b in layout.blocks
        ]
        if not layout.is_partitioned:
            types.insert(0, self.emission.sum(axis=1))
        return np.stack(types, axis=1)


def count_active_rules(
    weights: RuleWeights, active: NDArray[np.bool_], layout: GrammarLayout
) -> int:
    """Return the number of rules of active symbols that have a weight of at least `ACTIVE`."""
    least = np.log(ACTIVE)
    emission = (weights.log_emission >= least)[active[layout.inventories[0]]]
    binary = (weights.log_binary >= least)[active[layout.branching]]
    return int(np.count_nonzero(emission) + np.count_nonzero(binary))


def count_expected(
    sentences: SentenceBatches, dtype: np.dtype[Any], n_jobs: int | None, weights: RuleWeights
) -> tuple[float, RuleCounts]:
    """Return the log likelihood and the expected counts of rules."""
    expected = expected_counts(sentences, weights, dtype=dtype, n_jobs=n_jobs)
    counts = RuleCounts(expected.root, expected.emission, expected.binary)
    return float(expected.log_prob.sum()), counts
