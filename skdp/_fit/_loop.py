"""The loop of a fit, in which the fits of all estimators run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import joblib

from skdp._checks import check_entries
from skdp._fit._checkpoints import Checkpoints
from skdp._fit._parameters import check_same_fit, fixed_parameters
from skdp._fit._procedure import Procedure
from skdp._fit._state import FitState
from skdp._numeric._kernel_cache import listening_for_compilation
from skdp._sklearn_compat import begin_fit_task, shows_progress
from skdp.callback._checkpoint import CheckpointContent
from skdp.callback._part_files import PartFiles
from skdp.inference._convergence import warn_user
from skdp.inference._interrupt import InterruptGuard

_ROUNDS = 50
"""The number of times that several runs pause together in a fit, for reports and interrupts."""


class FitLoop:
    """A fit from X to attributes: warm start, steps, interrupts, checkpoints, progress.
    All attributes are set at once at the end. However it ends, runs are complete or marked as torn.
    """

    procedure: Procedure
    state: FitState

    def __init__(self, estimator: Any):
        self.estimator = estimator
        self.checkpoints = Checkpoints(estimator)
        self._is_shown = False

    def run(self, X: Any, y: Any = None, **options: Any) -> None:
        """Do all steps, set the fitted attributes, and warn unless the fit has converged."""
        estimator = self.estimator
        with (
            self._recording_features(),
            InterruptGuard() as guard,
            self._announcing_compilation(),
            self.checkpoints.holding_paths(),
        ):
            self._data = estimator._check_input(X, y, **options)
            check_entries(y)
            self.procedure = estimator._make_procedure(self._data)
            self.state = self._begin()
            self._keep(FitState([], self.state.root, is_torn=True))  # pessimistic until success
            if self.checkpoints:
                self._sign()
                self.checkpoints.write_first(self.procedure)
            try:
                with self.procedure.running(self.state):
                    self._do_steps(X, guard)
            except BaseException as error:
                is_interrupt = isinstance(error, KeyboardInterrupt) or error is guard.released
                self._stop(is_interrupt=is_interrupt)
                raise
            self._show(final=not estimator.warm_start)
            if estimator.warm_start:
                self._keep_runs()
            else:
                vars(estimator).pop("_saved", None)
        self.procedure.warn_unless_converged(estimator, self.state)

    # Steps

    def _begin(self) -> FitState:
        """Return the state from a checkpoint or the last fit, else that before the first step."""
        restored = self.checkpoints.restore(self.procedure, self._data)
        if restored is not None:
            return self._attached(restored)
        last = vars(self.estimator).get("_saved") if self.estimator.warm_start else None
        if last is None:
            return self.procedure.start()
        if last.is_torn:
            warn_user(
                f"The last fit stopped in the middle of a {self.procedure.step_name}, by an error "
                "or a second interrupt: it cannot continue. This fit starts over.",
                UserWarning,
            )
            return self.procedure.start()
        check_same_fit(self.estimator, last, self._data)
        return self._attached(last)

    def _attached(self, state: FitState) -> FitState:
        """Return a state whose runs have their data attached."""
        for run in state.runs:
            self.procedure.attach(run)
        return replace(state, runs=list(state.runs))

    def _do_steps(self, X: Any, guard: InterruptGuard) -> None:
        """Advance all runs to their end, or until a callback or an interrupt stops them."""
        procedure, state, runs = self.procedure, self.state, self.state.runs
        plans = [procedure.plan(run) for run in runs]
        step = self._steps_a_round()
        n_left = max(procedure.max_steps - procedure.n_steps(run) for run in runs)
        n_rounds = -(-max(n_left, 0) // step)
        task = begin_fit_task(self.estimator, n_rounds, X)
        told, verbose = {"estimator": self.estimator, "X": X}, int(self.estimator.verbose)
        for _ in range(n_rounds):
            guard.check()
            name = procedure.step_name if step == 1 else f"{step} {procedure.step_name}s"
            subtask = task.subcontext(task_name=name)
            subtask.call_on_fit_task_begin(**told)
            state.is_torn = procedure.steps_in_place
            runs[:] = procedure.advance_all(runs, plans, step)
            state.is_torn = False
            is_done = all(map(procedure.is_done, runs))
            if verbose:
                self._report(step, verbose, is_done=is_done)
            is_stopped = subtask.call_on_fit_task_end(
                **told, reconstruction_attributes=self._current_attributes
            )
            if is_stopped or is_done:
                break
        task.call_on_fit_task_end(**told, reconstruction_attributes=self._current_attributes)

    def _steps_a_round(self) -> int:
        """Return the number of steps between two reports, interrupts or checkpoints."""
        if len(self.state.runs) == 1:
            return 1
        every = [checkpoint.every_sweeps for checkpoint in self.checkpoints]
        return min([-(-self.procedure.max_steps // _ROUNDS), *filter(None, every)])

    def _report(self, step: int, verbose: int, *, is_done: bool) -> None:
        """Print a line every `verbose` steps, and after the last one."""
        done = self.n_steps
        if done // verbose > (done - step) // verbose or is_done:
            print(
                f"[{type(self.estimator).__name__}] {self.procedure.step_name} {done} of "
                f"{self.procedure.max_steps}, {self.procedure.progress(self.state.runs)}"
            )

    # Attributes

    def _show(self, *, final: bool) -> None:
        """Set the fitted attributes; with `final` the runs may be consumed."""
        self.estimator._set_fitted_attributes(
            self.estimator._fitted_attributes(
                self.procedure.showing(self.state, final=final), final=final
            )
        )
        self._is_shown = True

    def _current_attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of the current state, for callbacks."""
        attributes = self.estimator._fitted_attributes(self.procedure.showing(self.state))
        return {**attributes, "_loop": None}

    def _stop(self, *, is_interrupt: bool) -> None:
        """Save a fit that has been stopped, and show the result so far after an interrupt."""
        if self.state.is_torn:
            return
        self.checkpoints.save()  # before the shown results are used up
        if is_interrupt and self.procedure.may_show(self.estimator, self.state):
            self._show(final=self.procedure.is_distributed and not self.estimator.warm_start)
        self._keep_runs()

    # The runs for a later fit

    def _sign(self) -> None:
        """Record the parameters and the data that the runs depend on."""
        if not self.state.digest:
            self.state.parameters = fixed_parameters(self.estimator)
            self.state.digest = joblib.hash(self._data)

    def _keep_runs(self) -> None:
        """Keep the runs for a later fit, without data; over partitions only for a warm start."""
        if self.procedure.is_distributed and not self.estimator.warm_start:
            return
        self._sign()
        for run in self.state.runs:
            self.procedure.detach(run)
        self._keep(self.state)

    def _keep(self, state: FitState) -> None:
        if self.procedure.keeps_runs:
            self.estimator._saved = state

    # The callback `Checkpoint`

    @property
    def n_steps(self) -> int:
        """Number of completed steps of the fit."""
        return max(map(self.procedure.n_steps, self.state.runs))

    def checkpoint(self, files: PartFiles) -> CheckpointContent:
        """Return the content of a checkpoint file; `files` are for the partitions' parts."""
        return self.checkpoints.content(self.procedure, self.state, files)

    # Contexts

    @contextmanager
    def _recording_features(self) -> Iterator[None]:
        """Return a context that restores the features of the last X if there is no result."""
        estimator = self.estimator
        attributes, names = vars(estimator), estimator._feature_attributes
        before = {name: attributes[name] for name in names if name in attributes}
        estimator._loop = self
        try:
            yield
        finally:
            attributes.pop("_loop", None)
            if not self._is_shown:
                for name in names:
                    attributes.pop(name, None)
                attributes.update(before)

    def _announcing_compilation(self) -> AbstractContextManager[None]:
        """Return a context that announces compilation of kernels if the fit shows progress."""
        if not (self.estimator.verbose or shows_progress(self.estimator)):
            return nullcontext()

        def announce() -> None:
            print(
                f"[{type(self.estimator).__name__}] compiling kernels for the first time: this "
                "takes some seconds, and the machine code is kept for later runs.",
                flush=True,
            )

        return listening_for_compilation(announce)
