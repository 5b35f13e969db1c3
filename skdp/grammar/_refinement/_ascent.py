"""Ascents of refined grammars, with the treebank's data for parsing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skdp.grammar._coordinate_ascent import CoordinateAscent, Expectation
from skdp.grammar._refinement._lexicon import TreebankLexicon
from skdp.grammar._refinement._maximum_likelihood import MaximumLikelihoodRefinement
from skdp.grammar._refinement._messages import RefinedTables, expect
from skdp.grammar._refinement._treebank import Treebank

_NOISE = 0.5
"""Largest difference of log weights between new subsymbols and the split subsymbols."""

_SPLIT_FROM = 16
"""Number of subsymbols from which a fit starts with two or three and splits them."""

_N_SPLIT = 10
"""Number of iterations before subsymbols are split."""


class Refinement(CoordinateAscent):
    """Ascent of a refined grammar, from the coarse grammar and noise.

    For many subsymbols it starts with few, which are split in two until their number is reached.
    """

    def __init__(
        self,
        make_grammar: Callable[[int], Any],  # from a number of subsymbols
        n_components: int,
        trees: Treebank,
        lexicon: TreebankLexicon,
        expect: Expectation,
        rng: np.random.Generator,
    ):
        self.lexicon = lexicon
        self.coarse_counts = count_coarse(trees)
        coarse = MaximumLikelihoodRefinement(trees.rules, 0.0, 1).updated(self.coarse_counts)
        self.coarse_logs = start = coarse.weights()
        for size in _sizes(n_components):
            start = split(start, size, rng)
            if size < n_components:
                ascent = CoordinateAscent(make_grammar(size), start)
                for _ in range(_N_SPLIT):
                    ascent.step(expect, 0.0)
                start = ascent.grammar.weights()
        super().__init__(make_grammar(n_components), start)

    def step(self, expect: Expectation, tol: float) -> None:
        """Do an iteration, and try to merge two subsymbols if the grammar supports it."""
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
    """Return the counts of the coarse rules in the trees, as tables with a single subsymbol."""
    return expect(trees, RefinedTables.zeros(trees.rules, 1))[1]


def _sizes(n_components: int) -> list[int]:
    """Return growing numbers of subsymbols, each at most twice the previous number."""
    sizes = [n_components]
    while n_components >= _SPLIT_FROM and sizes[-1] > 3:
        sizes.append((sizes[-1] + 1) // 2)
    return sizes[::-1]


def split(logs: RefinedTables, n_components: int, rng: np.random.Generator) -> RefinedTables:
    """Return weights of more subsymbols, split as evenly as possible, with noise to differ."""
    origin = np.arange(n_components) * logs.n_components // n_components
    share = -np.log(np.bincount(origin))[origin]  # of the weight of a child
    tables = []
    for table, n_children in zip(logs, (1, 0, 1, 2), strict=True):
        made = table
        for axis in range(1, table.ndim):
            made = np.take(made, origin, axis=axis)
            if axis <= n_children:
                made = made + share.reshape(-1, *[1] * (table.ndim - 1 - axis))
        tables.append(made + rng.uniform(-_NOISE, _NOISE, made.shape))
    return RefinedTables(*tables)
