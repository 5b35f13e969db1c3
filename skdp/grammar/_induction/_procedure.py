"""Fits of `HDPPCFG` by ascents."""

from __future__ import annotations

from typing import Any

from skdp._fit import FitState
from skdp.grammar._ascents import AscentPlan, Ascents
from skdp.grammar._coordinate_ascent import warn_unless_converged
from skdp.grammar._induction._ascent import Induction


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
