"""Coordinate ascent from one start: rules and expectations over trees in turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skdp.grammar._counts import RuleCounts
from skdp.grammar._layout import Layout
from skdp.grammar._weights import RuleWeights

_FIRST_POWER = 0.4
"""Annealed starts raise weights to powers from it to 1."""

Expectation = Callable[[RuleWeights], tuple[float, RuleCounts]]
"""From weights to the log likelihood of all sentences and the expected counts of rules."""


class Induction:
    """A grammar on its way to a local maximum of the lower bound.

    Parameters
    ----------
    grammar : VariationalGrammar or MaximumLikelihoodGrammar
        Before its first update.
    start : RuleWeights
        Weights of the first expectation.
    n_annealed : int
        Iterations under weights raised to a power below 1: they have no bound.
    """

    def __init__(self, grammar: Any, start: RuleWeights, n_annealed: int):
        self.grammar = grammar
        self.n_annealed = n_annealed
        self.n_iter = 0
        self.lower_bounds: list[float] = []
        self.converged = False
        self._rise = np.inf
        self._start = start
        self._counts: RuleCounts | None = None

    def step(self, expect: Expectation, tol: float) -> None:
        """Do one iteration: rules given trees, then trees given rules, and the bound.

        Parameters
        ----------
        expect : Expectation
        tol : float
            It has converged when the bound rises by no more.
        """
        if self._counts is None:
            self._counts = expect(self._start)[1]
        grammar = self.grammar.updated(self._counts)
        power = self._power()
        log_likelihood, counts = expect(_raise(grammar.weights(), power))
        self.n_iter += 1
        if power == 1.0:
            bound = grammar.lower_bound(log_likelihood)
            self._rise = bound - self.lower_bounds[-1] if self.lower_bounds else np.inf
            self.judge(tol)
            if self._rise < 0.0:  # by rounding, at the top: what was there before is as good
                return
            self.lower_bounds.append(bound)
        self.grammar, self._counts = grammar, counts

    def judge(self, tol: float) -> None:
        """Tell again whether it has converged: the tolerance may be another."""
        self.converged = bool(self._rise <= tol)

    def _power(self) -> float:
        """Return the power of this iteration's weights; it rises to 1 in equal ratios."""
        if self.n_iter >= self.n_annealed:
            return 1.0
        return float(_FIRST_POWER ** (1.0 - self.n_iter / self.n_annealed))


def _raise(weights: RuleWeights, power: float) -> RuleWeights:
    """Return weights to a power."""
    if power == 1.0:
        return weights
    root, emission, binary, n_preterminals = weights
    return RuleWeights(power * root, power * emission, power * binary, n_preterminals)


def draw_start(layout: Layout, rng: np.random.Generator) -> RuleWeights:
    """Return the weights of a grammar drawn uniformly: each row from a flat Dirichlet."""

    def rows(n_rows: int, *shape: int) -> Any:
        cells = rng.standard_exponential((n_rows, *shape))
        return np.log(cells) - np.log(cells.reshape(n_rows, -1).sum(axis=1)).reshape(
            -1, *[1] * len(shape)
        )

    n_symbols = layout.n_symbols
    root = rows(1, n_symbols)[0]
    emission = rows(layout.n_emitting, layout.n_words)
    binary = rows(layout.n_components, n_symbols, n_symbols)
    if not layout.is_partitioned:
        rule_type = rows(layout.n_components, 2)
        emission += rule_type[:, :1]
        binary += rule_type[:, 1, None, None]
    return RuleWeights(root, emission, binary, layout.n_preterminals)
