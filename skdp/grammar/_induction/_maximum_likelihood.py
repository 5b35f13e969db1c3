"""Maximum likelihood grammars, with or without pseudo-counts, as baselines."""

from __future__ import annotations

from typing import Any

import numpy as np

from skdp._numeric._typing import Floats
from skdp.grammar._chart._weights import RuleWeights
from skdp.grammar._induction._counts import RuleCounts
from skdp.grammar._induction._layout import GrammarLayout
from skdp.grammar._induction._variational import RuleProbabilities, uniform_weights


class MaximumLikelihoodGrammar:
    """Rule probabilities that maximize likelihood x prod phi^pseudo_count, given counts."""

    def __init__(
        self,
        layout: GrammarLayout,
        pseudo_count: float,
        probabilities: RuleProbabilities | None = None,  # of unused symbols; None: uniform
        counts: RuleCounts | None = None,
    ):
        self.layout = layout
        self.pseudo_count = pseudo_count
        self.top_weights = uniform_weights(layout)
        self.counts: Any = counts
        self._probabilities = _uniform(layout) if probabilities is None else probabilities

    def updated(self, used: RuleCounts) -> MaximumLikelihoodGrammar:
        """Return the grammar that maximizes the bound, given q(z)."""
        counts = RuleCounts(*(part + self.pseudo_count for part in used))
        types = counts.of_rule_types(self.layout)
        tables = (counts.root[None], types, counts.emission, counts.binary)
        before = self._probabilities._replace(root=self._probabilities.root[None])
        new = RuleProbabilities(*map(_normalize, tables, before))
        return MaximumLikelihoodGrammar(
            self.layout, self.pseudo_count, new._replace(root=new.root[0]), used
        )

    def removable(self) -> list[int]:
        """Return no symbols, since an additional symbol never lowers the likelihood."""
        return []

    def lower_bound(self, log_likelihood: float) -> float:
        """Return the log likelihood, including that of any pseudo-counts."""
        if self.pseudo_count == 0.0:
            return log_likelihood
        weights = self.weights()
        logs = sum(table.sum() for table in (weights.log_root, weights.log_emission))
        return log_likelihood + self.pseudo_count * float(logs + weights.log_binary.sum())

    def weights(self) -> RuleWeights:
        """Return the logarithms of the rules' probabilities."""
        return self.probabilities().weights(self.layout)

    def probabilities(self) -> RuleProbabilities:
        """Return the grammar."""
        return self._probabilities


def _uniform(layout: GrammarLayout) -> RuleProbabilities:
    """Return a grammar in which all rules of a symbol are equally likely."""
    n_rules = layout.n_symbols**2
    return RuleProbabilities(
        np.full(layout.n_symbols, 1.0 / layout.n_symbols),
        np.full((layout.n_components, layout.n_rule_types), 1.0 / layout.n_rule_types),
        np.full((layout.n_emitting, layout.n_words), 1.0 / layout.n_words),
        np.full((layout.n_components, layout.n_symbols, layout.n_symbols), 1.0 / n_rules),
    )


def _normalize(counts: Floats, previous: Floats) -> Floats:
    """Return counts divided by the total of their row, or the previous row if it is 0."""
    total = counts.reshape(len(counts), -1).sum(axis=1)
    total = total.reshape(-1, *[1] * (counts.ndim - 1))
    with np.errstate(invalid="ignore"):
        return np.where(total > 0.0, counts / total, previous)
