"""The interface between a model and the loop of a fit."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, ClassVar

from skdp._executors import call_all
from skdp._fit._state import FitState
from skdp.callback._part_files import PartFiles


class Procedure:
    """The start, the steps and the end of runs: Markov chains, or ascents from one start each."""

    step_name: str  # such as "sweep"
    max_steps: int  # of a run
    steps_in_place: bool = True  # `advance` changes its run, so that an error leaves the run torn
    keeps_runs: ClassVar[bool] = True  # an interrupted fit leaves its runs to a later fit
    n_jobs: int | None = None  # number of threads that share the runs

    def start(self) -> FitState:
        """Return the state before the first step."""
        raise NotImplementedError

    def plan(self, run: Any) -> Any:
        """Return the argument `plan` of `advance`, which stays the same during a fit."""
        raise NotImplementedError

    @staticmethod
    def advance(run: Any, plan: Any, n_steps: int) -> Any:
        """Return a run after `n_steps` more steps, or fewer if it ends before."""
        raise NotImplementedError

    @staticmethod
    def n_steps(run: Any) -> int:
        """Return the number of steps that a run has done."""
        raise NotImplementedError

    @staticmethod
    def has_result(run: Any) -> bool:
        """Return whether attributes can be made from an interrupted run."""
        raise NotImplementedError

    def progress(self, runs: list[Any]) -> str:
        """Return the end of a line of `verbose` output."""
        raise NotImplementedError

    def warn_unless_converged(self, estimator: Any, state: FitState) -> None:
        """Warn if a fit has not converged, and name the parameter to raise."""
        raise NotImplementedError

    def is_done(self, run: Any) -> bool:
        """Return whether a run has no steps left."""
        return self.n_steps(run) >= self.max_steps

    def advance_all(self, runs: list[Any], plans: list[Any], n_steps: int) -> list[Any]:
        """Return all runs after `n_steps` more steps."""
        if len(runs) == 1:
            return [self.advance(runs[0], plans[0], n_steps)]
        tasks = [
            partial(self.advance, run, plan, n_steps) for run, plan in zip(runs, plans, strict=True)
        ]
        return call_all(tasks, self.n_jobs)

    def running(self, state: FitState) -> AbstractContextManager[None]:
        """Return a context for all steps of a fit."""
        return nullcontext()

    def showing(self, state: FitState, *, final: bool = False) -> FitState:
        """Return runs from which attributes can be made; with `final` they end here."""
        return state

    def may_show(self, estimator: Any, state: FitState) -> bool:
        """Return whether attributes can be made from an interrupted fit."""
        return all(map(self.has_result, state.runs))

    # Runs without their data

    def attach(self, run: Any) -> None:
        """Attach the data to a run."""

    @staticmethod
    def detach(run: Any) -> None:
        """Drop the data of a run."""

    @staticmethod
    def detached(run: Any) -> Any:
        """Return a copy of a run without its data, to be written at once."""
        return run

    # Parts of the state that are outside this process

    @property
    def is_distributed(self) -> bool:
        """Whether partitions of the data hold parts of the runs."""
        return False

    def write_parts(self, files: PartFiles, state: FitState) -> str | None:
        """Write the parts that partitions hold; return the name of their folder, if any."""
        return None

    def read_parts(self, files: PartFiles, name: str | None) -> None:
        """Load the parts that `write_parts` has written into the partitions."""
