"""Maximum likelihood refinements of treebank grammars, with or without pseudo-counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp.grammar._refinement._messages import RefinedTables, count_nodes
from skdp.grammar._refinement._treebank import CoarseRules


class MaximumLikelihoodRefinement:
    """Probabilities of refined rules that maximize likelihood x prod phi^pseudo_count."""

    def __init__(
        self,
        rules: CoarseRules,
        pseudo_count: float,
        n_components: int,
        logs: RefinedTables | None = None,  # None: the grammar is not fitted yet
        counts: RefinedTables | None = None,
        sizes: NDArray[np.int64] | None = None,  # (S,), numbers of subsymbols; None: n_components
    ):
        self.rules = rules
        self.pseudo_count = pseudo_count
        self.n_components = n_components
        self.sizes = np.full(rules.n_symbols, n_components) if sizes is None else sizes
        is_used = np.arange(n_components) < self.sizes[:, None]
        self.top_weights = np.where(is_used, 1.0 / self.sizes[:, None], 0.0)
        self.counts = counts
        self._logs = logs

    def updated(self, used: RefinedTables) -> MaximumLikelihoodRefinement:
        """Return the grammar that maximizes the bound, given q(z)."""
        counts = RefinedTables(*(part + self.pseudo_count for part in used))
        sums = count_nodes(self.rules, counts)
        with np.errstate(divide="ignore"):
            totals = np.log(np.where(sums > 0.0, sums, 1.0))
            logs = RefinedTables(
                np.log(counts.root) - np.log(counts.root.sum()),
                np.log(counts.emission) - totals[self.rules.emission[:, 0]],
                np.log(counts.unary) - totals[self.rules.unary[:, 0], None],
                np.log(counts.binary) - totals[self.rules.binary[:, 0], None, None],
            )
        return MaximumLikelihoodRefinement(
            self.rules, self.pseudo_count, self.n_components, logs, used, self.sizes
        )

    def with_logs(self, logs: RefinedTables) -> MaximumLikelihoodRefinement:
        """Return a grammar with the same counts and other probabilities."""
        return MaximumLikelihoodRefinement(
            self.rules, self.pseudo_count, self.n_components, logs, self.counts, self.sizes
        )

    def lower_bound(self, log_likelihood: float) -> float:
        """Return the log likelihood, including that of any pseudo-counts."""
        if self.pseudo_count == 0.0:
            return log_likelihood
        return log_likelihood + self.pseudo_count * sum(
            float(part.sum()) for part in self.weights()
        )

    def weights(self) -> RefinedTables:
        """Return the logarithms of the rules' probabilities."""
        assert self._logs is not None
        return self._logs

    def log_means(self) -> RefinedTables:
        """Return the logarithms of the rules' probabilities."""
        return self.weights()
