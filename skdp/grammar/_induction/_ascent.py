"""Ascents of grammars from a random start, with annealing and removal of symbols."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skdp._fit import FitState
from skdp.grammar._chart._ascents import (
    AscentPlan,
    Ascents,
    CoordinateAscent,
    Expectation,
    warn_unless_converged,
)
from skdp.grammar._chart._paths import RuleWeights
from skdp.grammar._induction._layout import GrammarLayout

_FIRST_POWER = 0.4
"""Annealing raises weights, relative to a uniform grammar, to powers from this value to 1."""

_SETTLED = 1e-4
"""Removals of symbols begin when the relative rise of the bound is at most this."""

_TRIAL = 10
"""Largest number of expectations for a grammar without a symbol to reach a higher bound."""


class Induction(CoordinateAscent):
    """Ascent of a grammar of sentences, which removes symbols when the bound hardly rises."""

    # The least used are tried first. The ascent continues without a symbol if that leads to a
    # higher bound within a few iterations. It has converged when no symbol can be removed.

    def __init__(self, grammar: Any, start: RuleWeights, flat: RuleWeights, n_annealed: int):
        super().__init__(grammar, start)
        self.n_annealed = n_annealed  # iterations between the flat weights and its own: no bound
        self._flat = flat
        self._untried: list[int] | None = None
        """Symbols whose removal is still to be tried; None: the bound has not settled yet."""

    def step(self, expect: Expectation, tol: float) -> None:
        """Do an iteration, or try to remove a symbol."""
        if self._untried:
            self._try_without(self._untried.pop(0), expect)
            self.n_iter += 1
        else:
            super().step(expect, tol)
            settled = max(tol, _SETTLED * abs(self.lower_bounds[-1])) if self.lower_bounds else 0.0
            if self._untried is None and self._rise <= settled:
                self._untried = self.grammar.removable()
        self.judge(tol)

    def judge(self, tol: float) -> None:
        """Update the convergence flag, since the tolerance may have changed."""
        self.converged = bool(self._rise <= tol) and self._untried == []

    def copy(self) -> Self:
        """Return an independent copy of the ascent."""
        other = copy(self)
        other.lower_bounds = [*self.lower_bounds]
        other._untried = None if self._untried is None else [*self._untried]
        return other

    def _try_without(self, symbol: int, expect: Expectation) -> None:
        """Try to remove a symbol; keep the previous grammar unless that raises the bound."""
        best = self.lower_bounds[-1]
        _, counts = expect(self.grammar.without(symbol))
        grammar, previous = self.grammar, -np.inf
        for left in reversed(range(_TRIAL)):
            grammar = grammar.updated(counts)
            log_likelihood, counts = expect(grammar.weights())
            bound = grammar.lower_bound(log_likelihood)
            if bound > best:
                self.lower_bounds.append(bound)
                self._jump(grammar, counts)
                self._untried = None
                return
            if bound + left * (bound - previous) <= best:  # rises get smaller: it is too far
                return
            previous = bound

    def _expect(self, grammar: Any, expect: Expectation) -> tuple[float | None, Any]:
        power = self._power()
        if power == 1.0:
            return super()._expect(grammar, expect)
        return None, expect(_mix(power, grammar.weights(), self._flat))[1]

    def _power(self) -> float:
        """Return the power of this iteration's weights, which rises geometrically to 1."""
        if self.n_iter > self.n_annealed:
            return 1.0
        return float(_FIRST_POWER ** (1.0 - (self.n_iter - 1) / self.n_annealed))


def _mix(power: float, weights: RuleWeights, flat: RuleWeights) -> RuleWeights:
    """Return weights^power flat^(1 - power)."""
    root, emission, binary = (
        power * own + (1.0 - power) * even for own, even in zip(weights[:3], flat[:3], strict=True)
    )
    return RuleWeights(root, emission, binary, weights.n_preterminals)


def start_weights(
    layout: GrammarLayout, rule_types: NDArray[np.float64], rng: np.random.Generator | None = None
) -> RuleWeights:
    """Return weights of an initial grammar, independent of the sentences; uniform without `rng`."""

    def logs(n_rows: int, *shape: int) -> Any:
        size = (n_rows, *shape)
        cells = np.ones(size) if rng is None else rng.standard_exponential(size)
        return np.log(cells / cells.reshape(n_rows, -1).sum(axis=1).reshape(-1, *[1] * len(shape)))

    types = np.log(rule_types)  # they strongly affect the brackets that are found
    places = layout.inventories
    sizes = [place.stop - place.start for place in places]
    root = logs(1, layout.n_symbols)[0]
    emission = logs(layout.n_emitting, layout.n_words)
    if not layout.is_partitioned:
        emission += types[0]
    binary = np.empty((layout.n_components, layout.n_symbols, layout.n_symbols))
    for block in layout.blocks:
        pairs = logs(layout.n_components, sizes[block.left], sizes[block.right])
        binary[:, places[block.left], places[block.right]] = types[block.rule_type] + pairs
    return RuleWeights(root, emission, binary, layout.n_preterminals)


# Fits of `HDPPCFG`.


class InductionAscents(Ascents):
    """Ascents of grammars of sentences."""

    steps_in_place = False

    def __init__(self, *args: Any, in_partitions: bool):
        super().__init__(*args)
        self._in_partitions = in_partitions  # partitions use the threads or workers

    def plan(self, run: Induction) -> AscentPlan:
        """Return the arguments of all steps; the tolerance of an earlier fit may have differed."""
        run.judge(self._plan.tol)
        return self._plan

    @staticmethod
    def advance(run: Induction, plan: AscentPlan, n_steps: int) -> Any:
        """Return a copy of an ascent after `n_steps` more iterations."""
        return Ascents.advance(run.copy(), plan, n_steps)

    def advance_all(self, runs: list[Any], plans: list[Any], n_steps: int) -> list[Any]:
        """Return copies of all ascents after `n_steps` more iterations."""
        if not self._in_partitions:
            return super().advance_all(runs, plans, n_steps)
        return [self.advance(run, plan, n_steps) for run, plan in zip(runs, plans, strict=True)]

    def warn_unless_converged(self, estimator: Any, state: FitState) -> None:
        """Warn if the best ascent has not converged."""
        warn_unless_converged(estimator, max(state.runs, key=lambda run: run.bound))
