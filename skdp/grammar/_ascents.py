"""Fits of grammars by coordinate ascents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from skdp._fit import FitState, Procedure


class AscentPlan(NamedTuple):
    """The arguments of all steps of an ascent."""

    learn: Any  # the first argument of `step`: an Expectation or a Treebank
    tol: float  # an ascent has converged when the bound rises by at most this, in nats
    max_steps: int


class Ascents(Procedure):
    """Ascents to local maxima of the lower bound, from several starts."""

    step_name = "iteration"

    def __init__(
        self,
        start: Callable[[], FitState],
        learn: Any,
        tol: float,
        max_steps: int,
        n_jobs: int | None,
    ):
        self._start = start
        self._plan = AscentPlan(learn, tol, max_steps)
        self.max_steps = max_steps
        self.n_jobs = n_jobs

    def start(self) -> FitState:
        """Return the state before the first iteration."""
        return self._start()

    def plan(self, run: Any) -> AscentPlan:
        """Return the arguments of all steps."""
        return self._plan

    @staticmethod
    def advance(run: Any, plan: AscentPlan, n_steps: int) -> Any:
        """Return an ascent after at most `n_steps` more iterations, fewer if it converges."""
        for _ in range(n_steps):
            if run.converged or run.n_iter >= plan.max_steps:
                break  # others may continue
            run.step(plan.learn, plan.tol)
        return run

    @staticmethod
    def n_steps(run: Any) -> int:
        """Return the number of iterations of an ascent so far."""
        return int(run.n_iter)

    @staticmethod
    def has_result(run: Any) -> bool:
        """Return whether an ascent has a lower bound."""
        return bool(run.lower_bounds)

    def is_done(self, run: Any) -> bool:
        """Return whether an ascent has converged or used up its iterations."""
        return bool(run.converged) or super().is_done(run)

    def progress(self, runs: list[Any]) -> str:
        """Return the highest lower bound."""
        bounds = [run.lower_bounds[-1] for run in runs if run.lower_bounds]
        return f"lower bound {max(bounds):.8g}" if bounds else "annealing"
