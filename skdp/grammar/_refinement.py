"""A refined grammar on its way up, with what parsing needs of the treebank."""

from __future__ import annotations

from typing import Any

import numpy as np

from skdp.grammar._ascent import CoordinateAscent, Expectation
from skdp.grammar._lexicon import Lexicon
from skdp.grammar._refined_maximum_likelihood import MaximumLikelihoodRefinement
from skdp.grammar._refined_messages import RefinedTables, expect
from skdp.grammar._treebank import Treebank

_NOISE = 0.5
"""Logarithms of the first weights are the coarse grammar's, give or take at most this."""


class Refinement(CoordinateAscent):
    """A refined grammar on its way to a local maximum of the lower bound.

    Parameters
    ----------
    grammar : VariationalRefinement or MaximumLikelihoodRefinement
        Before its first update.
    trees : Treebank
    lexicon : Lexicon
    rng : Generator
    """

    def __init__(self, grammar: Any, trees: Treebank, lexicon: Lexicon, rng: np.random.Generator):
        self.lexicon = lexicon
        counts = count_coarse(trees)
        self.coarse_counts = counts
        coarse = MaximumLikelihoodRefinement(trees.rules, 0.0, 1).updated(counts)
        self.coarse_logs = coarse.weights()
        super().__init__(grammar, draw_start(self.coarse_logs, grammar.n_components, rng))

    def step(self, expect: Expectation, tol: float) -> None:
        """Do one iteration; then try to make two subsymbols one, if the grammar can."""
        super().step(expect, tol)
        merge = getattr(self.grammar, "merged", None)
        grammar = None if merge is None else merge(self._counts, self.n_iter)
        if grammar is None:
            return
        log_likelihood, counts = expect(grammar.weights())
        bound = grammar.lower_bound(log_likelihood)
        if bound > self.lower_bounds[-1]:
            self.lower_bounds[-1] = bound
            self._jump(grammar, counts)


def count_coarse(trees: Treebank) -> RefinedTables:
    """Return how often the trees use every coarse rule, as tables of one subsymbol."""
    return expect(trees, RefinedTables.zeros(trees.rules, 1))[1]


def draw_start(coarse: RefinedTables, n_components: int, rng: np.random.Generator) -> RefinedTables:
    """Return the coarse grammar, children's subsymbols equally likely, with noise."""
    tables = []
    for logs, n_children in zip(coarse, (1, 0, 1, 2), strict=True):
        shape = (len(logs), *[n_components] * max(logs.ndim - 1, 1))
        noise = rng.uniform(-_NOISE, _NOISE, shape)
        tables.append(logs - n_children * np.log(n_components) + noise)
    return RefinedTables(*tables)
