"""Maximum likelihood refinements by cycles of splits and merges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skdp.grammar._refinement._ascent import count_coarse
from skdp.grammar._refinement._lexicon import TreebankLexicon
from skdp.grammar._refinement._maximum_likelihood import MaximumLikelihoodRefinement
from skdp.grammar._refinement._messages import RefinedTables, count_nodes, expect
from skdp.grammar._refinement._regrouping import (
    SubsymbolRegrouping,
    choose_merges,
    merge_pairs,
    smooth,
    split_in_two,
)
from skdp.grammar._refinement._treebank import Treebank

_NOISE = 0.5
"""Largest difference of log weights between the halves and the split subsymbol."""

_SMOOTHING = (0.01, 0.1)
"""Shares of the mean over a symbol's subsymbols in the smoothed rules, for children and words."""


_N_SPLIT, _N_MERGED = 20, 15
"""Numbers of iterations between splits and merges, and after merges: more iterations fit the trees
better, but new sentences worse."""


class SplitMergeSchedule(NamedTuple):
    """Schedule of splits and merges."""

    n_components: int  # the most subsymbols of a symbol
    n_cycles: int
    merge_share: float  # share of the splits of a cycle that are undone

    @property
    def most_steps(self) -> int:
        """Largest number of iterations, which is 1 without cycles."""
        return max(self.n_cycles * (_N_SPLIT + _N_MERGED), 1)


class SubsymbolSplitMerge:
    """Fit of a refined grammar by cycles of splits and merges, from the coarse grammar.

    In a cycle all subsymbols are split in two, with noise; some iterations of EM follow; the splits
    with the least gain in likelihood are undone; more iterations follow, the last with smoothing.
    """

    def __init__(
        self,
        trees: Treebank,
        lexicon: TreebankLexicon,
        schedule: SplitMergeSchedule,
        rng: np.random.Generator,
    ):
        self.lexicon = lexicon
        self.coarse_counts = self._counts = count_coarse(trees)
        self._sizes = np.ones(trees.rules.n_symbols, dtype=np.int64)
        self.grammar = MaximumLikelihoodRefinement(trees.rules, 0.0, 1, sizes=self._sizes)
        self.coarse_logs = self._logs = self.grammar.updated(self._counts).weights()
        self.schedule, self._rng = schedule, rng
        self._partner = np.full((trees.rules.n_symbols, 1), -1, dtype=np.int32)
        self._n_phases = 0  # number of phases begun, alternately of splits and merges
        self._n_left = 0 if schedule.n_cycles else 1
        self.n_iter = 0
        self.lower_bounds: list[float] = []
        self._last = -np.inf  # last log likelihood of this phase

    @property
    def bound(self) -> float:
        """The last log likelihood, or -inf if there is none yet."""
        return self.lower_bounds[-1] if self.lower_bounds else -np.inf

    @property
    def converged(self) -> bool:
        """Whether all cycles are done."""
        return self._n_left == 0 and self._n_phases == 2 * self.schedule.n_cycles

    @property
    def _is_merged(self) -> bool:
        return self._n_phases > 0 and self._n_phases % 2 == 0

    def step(self, trees: Treebank, tol: float) -> None:
        """Do an iteration, after splits or merges if a new phase begins."""
        if self._n_left == 0:
            self._begin_phase(trees)
        grammar = self.grammar.updated(self._counts)
        if self._is_merged and self._n_left == 1:
            grammar = grammar.with_logs(smooth(grammar.weights(), trees.rules, *_SMOOTHING))
        log_likelihood, self._counts = expect(trees, grammar.weights())
        self.grammar, self._logs = grammar, grammar.weights()
        rise, self._last = log_likelihood - self._last, log_likelihood
        self.lower_bounds.append(log_likelihood)
        self.n_iter += 1
        self._n_left -= 1
        if rise <= tol:
            self._n_left = min(self._n_left, int(self._is_merged))  # one iteration for smoothing

    def _begin_phase(self, trees: Treebank) -> None:
        """Split or merge subsymbols."""
        self._n_phases += 1
        self._last = -np.inf
        if self._is_merged:
            is_merged, share = choose_merges(
                trees, self._logs, self._partner, self.schedule.merge_share
            )
            made = merge_pairs(self._sizes, self._partner, is_merged, share)
            self._n_left = _N_MERGED
        else:
            nodes = count_nodes(trees.rules, self._counts)
            made = split_in_two(self._sizes, nodes, self.schedule.n_components)
            self._n_left = _N_SPLIT
        self._go_on(trees, made)

    def _go_on(self, trees: Treebank, made: SubsymbolRegrouping) -> None:
        """Continue with new subsymbols."""
        logs = made.apply(self._logs, trees.rules)
        if not self._is_merged:
            noise = self._rng.uniform
            logs = RefinedTables(*(part + noise(-_NOISE, _NOISE, part.shape) for part in logs))
        self._sizes, self._partner = made.sizes, made.partner
        self.grammar = MaximumLikelihoodRefinement(
            trees.rules, 0.0, logs.n_components, sizes=self._sizes
        )
        self._counts = expect(trees, logs)[1]
