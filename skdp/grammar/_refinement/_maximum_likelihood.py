"""Refined treebank grammars of maximum likelihood, with or without pseudo-counts."""

from __future__ import annotations

import numpy as np

from skdp.grammar._refinement._messages import RefinedTables
from skdp.grammar._refinement._treebank import CoarseRules


class MaximumLikelihoodRefinement:
    """Probabilities of refined rules that maximize likelihood x prod phi^pseudo_count.

    Parameters
    ----------
    rules : CoarseRules
    pseudo_count : float
        Added to the count of every refined rule of the trees' coarse rules, and of every root.
    n_components : int
    logs : RefinedTables or None, default=None
        Logarithms of the probabilities; None: the grammar is not fitted yet. Subsymbols that are
        not used have none.
    counts : RefinedTables or None, default=None
    """

    def __init__(
        self,
        rules: CoarseRules,
        pseudo_count: float,
        n_components: int,
        logs: RefinedTables | None = None,
        counts: RefinedTables | None = None,
    ):
        self.rules = rules
        self.pseudo_count = pseudo_count
        self.n_components = n_components
        self.top_weights = np.full((rules.n_symbols, n_components), 1.0 / n_components)
        self.counts = counts
        self._logs = logs

    def updated(self, used: RefinedTables) -> MaximumLikelihoodRefinement:
        """Return the grammar that maximizes the bound, given q(z)."""
        counts = RefinedTables(*(part + self.pseudo_count for part in used))
        sums = np.zeros((self.rules.n_symbols, self.n_components))
        np.add.at(sums, self.rules.emission[:, 0], counts.emission)
        np.add.at(sums, self.rules.unary[:, 0], counts.unary.sum(axis=1))
        np.add.at(sums, self.rules.binary[:, 0], counts.binary.sum(axis=(1, 2)))
        with np.errstate(divide="ignore"):
            totals = np.log(np.where(sums > 0.0, sums, 1.0))
            logs = RefinedTables(
                np.log(counts.root) - np.log(counts.root.sum()),
                np.log(counts.emission) - totals[self.rules.emission[:, 0]],
                np.log(counts.unary) - totals[self.rules.unary[:, 0], None],
                np.log(counts.binary) - totals[self.rules.binary[:, 0], None, None],
            )
        return MaximumLikelihoodRefinement(
            self.rules, self.pseudo_count, self.n_components, logs, used
        )

    def lower_bound(self, log_likelihood: float) -> float:
        """Return the log likelihood, and that of the pseudo-counts if there are any."""
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
