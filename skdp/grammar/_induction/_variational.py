"""Variational grammars, and grammars of maximum likelihood, given expected counts of rules."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats
from skdp.grammar._chart._ascents import (
    Family,
    TopPrior,
    draw_log,
    expected_log,
    log_evidence,
    log_predictive,
    maximize,
    mean,
    negative_divergence,
)
from skdp.grammar._chart._paths import RuleWeights
from skdp.grammar._induction._layout import GrammarLayout, RuleCounts

# Structured mean field with q(z) over trees, Dirichlet q(phi) over rules, and a point q(beta).
#
# Symbols (Liang et al. 2009): beta top-level weights, phi^T rule types, phi^E emissions, phi^B
# binary productions. The state is beta and the expected counts under q(z): q(phi) is Dir(prior +
# counts).

ROOT_KIND_PRIOR = np.ones(2)
"""Uniform prior of a preterminal root (for sentences of one word) and a constituent root."""


_LEAST_LOG = -1e9
"""Floor of E[log rule], which is as low as -1e24 if beta is at its floor; such a rule is never
used, and above this value the exponents of a tree of any length stay within 64 bits."""


_SMOOTHING = 0.1
"""Share of a row that is divided evenly among its rules after removal of a symbol."""


class GrammarPriors(NamedTuple):
    """Hyperparameters of the rules and of the top-level weights."""

    top: TopPrior
    root: float
    rule_type: Floats
    emission: float
    binary: Floats
    """A concentration for each block of binary rules."""
    has_independent_children: bool = False
    """Whether left and right child have separate rows (Liang et al. 2009, 2.3)."""


class RuleProbabilities(NamedTuple):
    """A proper grammar; the binary rules of a partitioned grammar include their type."""

    root: Floats
    rule_type: Floats
    emission: Floats
    binary: Floats

    def weights(self, layout: GrammarLayout) -> RuleWeights:
        """Return the logarithms of whole rules."""
        emission, binary = self.emission, self.binary
        if not layout.is_partitioned:
            emission = self.rule_type[:, :1] * emission
            binary = self.rule_type[:, 1, None, None] * binary
        with np.errstate(divide="ignore"):
            return RuleWeights(
                np.log(self.root), np.log(emission), np.log(binary), layout.n_preterminals
            )


def uniform_weights(layout: GrammarLayout) -> list[Floats]:
    """Return equal top-level weights for each inventory."""
    sizes = (place.stop - place.start for place in layout.inventories)
    return [np.full(size, 1.0 / size) for size in sizes]


class VariationalGrammar:
    """The factors q(beta) and q(phi), given the expected counts of an E-step."""

    def __init__(
        self,
        layout: GrammarLayout,
        priors: GrammarPriors,
        top_weights: list[Floats] | None = None,
        counts: RuleCounts | None = None,  # under q(z); None: the grammar is not fitted yet
    ):
        self.layout = layout
        self.priors = priors
        self.top_weights = uniform_weights(layout) if top_weights is None else top_weights
        self.counts: Any = counts

    def given(self, counts: RuleCounts) -> VariationalGrammar:
        """Return the grammar with other counts and the same top-level weights."""
        return VariationalGrammar(self.layout, self.priors, self.top_weights, counts)

    def updated(self, counts: RuleCounts) -> VariationalGrammar:
        """Return the grammar that maximizes the lower bound over q(phi) and q(beta), given q(z)."""
        made = self.given(counts)
        made.top_weights = maximize(self.priors.top, made.families(), self.top_weights)
        made._sort_symbols()
        return made

    def families(self) -> list[Family]:
        """Return the rows whose prior depends on beta: roots and binary rules."""
        layout, counts = self.layout, self.counts
        places = layout.inventories
        roots = [
            Family(self.priors.root, i, None, counts.root[None, place])
            for i, place in enumerate(places)
        ]
        children = []
        for concentration, b in zip(self.priors.binary, layout.blocks, strict=True):
            pairs = counts.binary[:, places[b.left], places[b.right]]
            if self.priors.has_independent_children:
                children.append(Family(concentration, b.left, None, pairs.sum(axis=2)))
                children.append(Family(concentration, b.right, None, pairs.sum(axis=1)))
            else:
                children.append(Family(concentration, b.left, b.right, pairs))
        return roots + children

    def _other_rows(self) -> list[tuple[Floats, Floats]]:
        """Return prior and counts of the rows whose prior does not depend on beta."""
        emission = np.full(self.layout.n_words, self.priors.emission)
        rows = [
            (self.priors.rule_type, self.counts.of_rule_types(self.layout)),
            (emission, self.counts.emission),
        ]
        if self.layout.is_partitioned:
            rows.append((ROOT_KIND_PRIOR, self._root_kind_counts()))
        return rows

    def _root_kind_counts(self) -> Floats:
        """Return the numbers of sentences with a preterminal or constituent root, (1, 2)."""
        return np.array([[self.counts.root[place].sum() for place in self.layout.inventories]])

    def _sort_symbols(self) -> None:
        """Renumber the symbols such that p(beta) rises; nothing else depends on their order."""
        orders = [self.priors.top.best_order(beta) for beta in self.top_weights]
        self.top_weights = [b[order] for b, order in zip(self.top_weights, orders, strict=True)]
        joint = np.concatenate(
            [o + p.start for o, p in zip(orders, self.layout.inventories, strict=True)]
        )
        root, emission, binary = self.counts
        self.counts = RuleCounts(
            root[joint], emission[orders[0]], binary[np.ix_(orders[-1], joint, joint)]
        )

    def lower_bound(self, log_likelihood: float) -> float:
        """Return the lower bound of log p(sentences, beta)."""
        # `log_likelihood` is the log inside weight under `weights`, i.e. with the optimal q(z).
        bound = log_likelihood + sum(self.priors.top.log_density(b) for b in self.top_weights)
        return bound + sum(
            negative_divergence(prior, counts)
            for prior, counts in self._family_rows() + self._other_rows()
        )

    def log_joint(self) -> float:
        """Return log p(words, trees, logits of beta) of drawn trees, with rules integrated out."""
        tops = sum(self.priors.top.log_density_of_logits(b) for b in self.top_weights)
        return tops + sum(log_evidence(prior, counts) for prior, counts in self._all_rows())

    def log_expected(self, used: RuleCounts) -> float:
        """Return log E[p(trees, words)] under q(phi) (Liang et al. 2009, (19) without p(words))."""
        pairs = zip(self._all_rows(), self.given(used)._all_rows(), strict=True)
        return sum(log_predictive(prior, counts, new) for (prior, counts), (_, new) in pairs)

    def _family_rows(self) -> list[tuple[Floats, Floats]]:
        """Return prior and counts of the rows whose prior depends on beta."""
        return [(family.prior(self.top_weights), family.counts) for family in self.families()]

    def _all_rows(self) -> list[tuple[Floats, Floats]]:
        """Return prior and counts of all rows."""
        return self._other_rows() + self._family_rows()

    def weights(self) -> RuleWeights:
        """Return E[log rule] (Liang et al. 2009, (6)-(8)), at least `_LEAST_LOG`."""
        return self._log_weights(expected_log)

    def drawn_weights(self, rng: np.random.Generator) -> RuleWeights:
        """Return the logarithms of rules drawn from q(phi), at least `_LEAST_LOG`."""
        return self._log_weights(partial(draw_log, rng=rng))

    def _log_weights(self, logs_of: Any) -> RuleWeights:
        """Return the logarithms of whole rules, given a function for the logarithms of rows."""
        root, rule_type, emission, binary = self._expectations(logs_of, np.add)
        if not self.layout.is_partitioned:
            emission = rule_type[:, :1] + emission
            binary = rule_type[:, 1, None, None] + binary
        root, emission, binary = (np.maximum(x, _LEAST_LOG) for x in (root, emission, binary))
        return RuleWeights(root, emission, binary, self.layout.n_preterminals)

    def probabilities(self) -> RuleProbabilities:
        """Return E[rule], a proper grammar."""
        return RuleProbabilities(*self._expectations(mean, np.multiply))

    def removable(self) -> list[int]:
        """Return the symbols in use unless alone in their inventory, the least used first."""
        nodes, active = self.counts.of_nodes(self.layout), self.counts.active(self.layout)
        shared = [
            symbol
            for place in self.layout.inventories
            if np.count_nonzero(active[place]) > 1
            for symbol in range(place.start, place.stop)
            if active[symbol]
        ]
        return sorted(shared, key=lambda symbol: float(nodes[symbol]))

    def without(self, symbol: int) -> RuleWeights:
        """Return the posterior mean's weights without the rules of a symbol."""
        layout = self.layout
        left = self.counts.active(layout)
        left[symbol] = False
        rows = left[layout.inventories[0], None]
        words = np.broadcast_to(rows, (len(rows), layout.n_words))
        # All rules of the other symbols in use become possible: they can take over its role.
        pairs = left[layout.branching, None, None] & np.outer(left, left)
        p = self.probabilities()
        return p._replace(
            root=_smooth(p.root, left),
            emission=_smooth(p.emission, words, (1,)),
            binary=_smooth(p.binary, pairs, (1, 2)),
        ).weights(layout)

    def _expectations(self, expectation: Any, join: Any) -> tuple[Floats, Floats, Floats, Floats]:
        """Return expectations of root, rule types, emissions and binary rules."""
        layout = self.layout
        places = layout.inventories
        rows = iter(self._family_rows())
        (type_prior, type_counts), (emission_prior, emission_counts), *kinds = self._other_rows()
        rule_type = expectation(type_prior, type_counts)
        emission = expectation(emission_prior, emission_counts)
        root = np.empty(layout.n_symbols)
        for place in places:
            root[place] = expectation(*next(rows))[0]
        binary = np.empty((layout.n_components, layout.n_symbols, layout.n_symbols))
        for block in layout.blocks:
            rules = expectation(*next(rows))
            if self.priors.has_independent_children:
                rules = join(rules[:, :, None], expectation(*next(rows))[:, None, :])
            if kinds:
                rules = join(rule_type[:, block.rule_type, None, None], rules)
            binary[:, places[block.left], places[block.right]] = rules
        for prior, counts in kinds:
            for kind, place in zip(expectation(prior, counts)[0], places, strict=True):
                root[place] = join(kind, root[place])
        return root, rule_type, emission, binary


def _smooth(
    probabilities: Floats, allowed: NDArray[np.bool_], axes: tuple[int, ...] | None = None
) -> Floats:
    """Return the allowed cells, slightly smoothed, and 0 for the others; `axes` form a row."""
    n_allowed = np.maximum(np.count_nonzero(allowed, axis=axes, keepdims=True), 1)
    return allowed * ((1.0 - _SMOOTHING) * probabilities + _SMOOTHING / n_allowed)


# Maximum likelihood grammars, with or without pseudo-counts, as baselines.


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
