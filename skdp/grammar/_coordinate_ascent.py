"""Coordinate ascent, alternating between the grammar and its expected counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skdp.inference._convergence import warn_unconverged

Expectation = Callable[[Any], tuple[float, Any]]
"""Function from weights of rules to the log likelihood of all data and the expected counts."""


class CoordinateAscent:
    """Ascent of a grammar to a local maximum of the lower bound, with first weights `start`."""

    def __init__(self, grammar: Any, start: Any):
        self.grammar = grammar
        self.n_iter = 0
        self.lower_bounds: list[float] = []
        self.converged = False
        self._rise = np.inf
        self._start = start
        self._counts: Any = None

    @property
    def bound(self) -> float:
        """The last lower bound, or -inf if there is none yet."""
        return self.lower_bounds[-1] if self.lower_bounds else -np.inf

    def step(self, expect: Expectation, tol: float) -> None:
        """Do an iteration: update rules given trees, then trees given rules, and the bound."""
        if self._counts is None:
            self._counts = expect(self._start)[1]
        grammar = self.grammar.updated(self._counts)
        self.n_iter += 1
        bound, counts = self._expect(grammar, expect)
        if bound is not None:
            self._rise = bound - self.lower_bounds[-1] if self.lower_bounds else np.inf
            self.judge(tol)
            if self._rise < 0.0:  # by rounding, at the top: the previous grammar is as good
                return
            self.lower_bounds.append(bound)
        self.grammar, self._counts = grammar, counts

    def judge(self, tol: float) -> None:
        """Update the convergence flag, since the tolerance may have changed."""
        self.converged = bool(self._rise <= tol)

    def _expect(self, grammar: Any, expect: Expectation) -> tuple[float | None, Any]:
        """Return the bound, or None, and the expected counts under a grammar."""
        log_likelihood, counts = expect(grammar.weights())
        return grammar.lower_bound(log_likelihood), counts

    def _jump(self, grammar: Any, counts: Any) -> None:
        """Continue from another grammar with a higher bound."""
        self.grammar, self._counts = grammar, counts
        self._rise = np.inf
        self.converged = False


def warn_unless_converged(estimator: Any, run: CoordinateAscent) -> None:
    """Warn if the ascent that a fit shows ended before the bound converged."""
    if not run.converged:
        warn_unconverged(
            estimator,
            "lower_bound",
            "the lower bound has not converged. Raise max_iter or tol.",
            n_iter=run.n_iter,
            tol=estimator.tol,
        )
