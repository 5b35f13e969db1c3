"""The loop in which all estimators are fitted: interface to models, warm starts, checkpoints."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import joblib
import numpy as np
from sklearn.base import BaseEstimator

from skdp._checks import check_entries, shorten
from skdp._executors import call_all
from skdp._numeric._kernel_cache import Wait
from skdp._sklearn_compat import begin_fit_task, get_callbacks
from skdp.callback._checkpoint import Checkpoint, CheckpointContent, PartFiles, held
from skdp.data._ragged import remove_stale_parts
from skdp.inference._chain import InterruptGuard
from skdp.inference._convergence import warn_user

# The state of a fit: its runs, and the conditions for another fit to continue them.


@dataclass
class FitState:
    """The runs of a fit, which another fit can continue."""

    runs: list[Any]  # Markov chains, or ascents from different starts
    root: np.random.SeedSequence  # source of all random streams of the fit
    parameters: dict[str, Any] = field(default_factory=dict)  # those that the runs depend on
    digest: str = ""  # hash of the data
    is_inconsistent: bool = False  # a step was interrupted, so that no fit can continue from there


# The interface between a model and the loop of a fit.


class FitAlgorithm:
    """The start, the steps and the end of runs: Markov chains, or ascents from one start each."""

    step_name: str  # such as "sweep"
    max_steps: int  # of a run
    steps_in_place: bool = True  # `advance` changes its run, so an error leaves it incomplete
    keeps_runs: ClassVar[bool] = True  # an interrupted fit leaves its runs to a later fit
    n_jobs: int | None = None  # number of threads that share the runs

    def start(self) -> FitState:
        """Return the state before the first step."""
        raise NotImplementedError

    def continue_stream(self, state: FitState, n_left: int, n_steps: int) -> FitState:
        """Return the runs of a state without the first `n_left` samples and with more data, and do
        `n_steps` steps from there.
        """
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


# Warm starts: the parameters and the data have to be those of the last fit.


def is_equal(value: Any, other: Any) -> bool:
    """Return whether two values of a parameter are the same."""
    if isinstance(value, BaseEstimator):
        if type(other) is not type(value):
            return False
        mine, others = (part.get_params(deep=False) for part in (value, other))
        return all(is_equal(mine[name], others[name]) for name in mine)
    if isinstance(value, dict) and isinstance(other, dict) and list(value) != list(other):
        return False  # the order of names may matter
    with suppress(ValueError):  # lists of arrays of different lengths cannot become arrays
        if np.array_equal(np.asarray(value), np.asarray(other)):
            return True
    return joblib.hash(value) == joblib.hash(other)  # objects without their own equality


def fixed_parameters(estimator: Any) -> dict[str, Any]:
    """Return copies of the parameters that must not change before a warm start."""
    return {
        name: copy.deepcopy(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in estimator._free_in_warm_start
    }


def check_same_parameters(estimator: Any, state: FitState, what: str, cure: str) -> None:
    """Raise ValueError unless the parameters are those of the last fit."""
    for name, value in fixed_parameters(estimator).items():
        before = state.parameters[name]
        if not is_equal(value, before):
            raise ValueError(
                f"{what}, which had {name}={shorten(before)}; got {name}={shorten(value)}. {cure}"
            )


def check_same_fit(estimator: Any, state: FitState, data: Any) -> None:
    """Raise ValueError unless a warm start has the parameters and the data of the last fit."""
    check_same_parameters(
        estimator,
        state,
        "With warm_start=True, fit continues where the last fit stopped",
        "Use warm_start=False to start over.",
    )
    if state.digest != joblib.hash(data):
        raise ValueError(
            "With warm_start=True, fit continues where the last fit stopped and needs the same X "
            "and y; got others. Use warm_start=False to start over."
        )


# The checkpoints of a fit: when they are written, and how a fit continues from one.


_CURE = "Delete the file to start over, or give another path."


def list_checkpoints(estimator: Any) -> list[Checkpoint]:
    """Return the checkpoints among the callbacks of an estimator."""
    return [each for each in get_callbacks(estimator) if isinstance(each, Checkpoint)]


class Checkpoints:
    """All checkpoints of a fit."""

    def __init__(self, estimator: Any):
        self._estimator = estimator
        self._all = list_checkpoints(estimator)

    def __iter__(self) -> Iterator[Checkpoint]:
        return iter(self._all)

    def __bool__(self) -> bool:
        return bool(self._all)

    @contextmanager
    def holding_paths(self) -> Iterator[None]:
        """Return a context in which no other fit can use the paths of the checkpoints."""
        with ExitStack() as stack:
            paths = {os.path.realpath(each.path): each.path for each in self}
            for path in paths.values():
                stack.enter_context(held(path))
                remove_stale_parts(path)
            yield

    def write_first(self, procedure: FitAlgorithm) -> None:
        """Write the state before the first step, in case a worker is lost with its parts of it."""
        if not procedure.is_distributed:
            return
        for each in self:
            if each.path.exists():
                continue
            try:
                each._write(self._estimator)
            except OSError as error:  # later checkpoints would fail, too
                raise OSError(
                    f"The checkpoint {each.path} could not be written: {error}. A fit to "
                    "partitions needs a folder that this process and all workers can write to."
                ) from error

    def save(self) -> None:
        """Write the state of the fit."""
        for each in self:
            each._save(self._estimator)

    def content(
        self, procedure: FitAlgorithm, state: FitState, files: PartFiles
    ) -> CheckpointContent:
        """Return the content of a file: the settings and the runs without their data."""
        settings = copy.deepcopy(self._settings())
        runs = [procedure.detached(run) for run in state.runs]
        parts = procedure.write_parts(files, state)
        return CheckpointContent(settings, replace(state, runs=runs), parts)

    def restore(self, procedure: FitAlgorithm, data: Any) -> FitState | None:
        """Return the state in a checkpoint, None if there is no file, or raise if it differs."""
        for each in self:
            content = each._load(self._estimator)
            if content is not None:
                self._check(each, content, procedure, data)
                procedure.read_parts(PartFiles(each.path), content.parts)
                state: FitState = content.state
                return state
        return None

    def _check(
        self, checkpoint: Checkpoint, content: CheckpointContent, procedure: FitAlgorithm, data: Any
    ) -> None:
        for name, value in self._settings().items():
            before = content.settings[name]
            if not is_equal(value, before):
                raise ValueError(
                    f"The checkpoint {checkpoint.path} is of a fit with {name}={shorten(before)}; "
                    f"got {name}={shorten(value)}. {_CURE}"
                )
        if content.state.digest != joblib.hash(data):
            raise ValueError(
                f"The checkpoint {checkpoint.path} is of a fit to another X or y. {_CURE}"
            )
        n_steps = max(map(procedure.n_steps, content.state.runs))
        if n_steps > procedure.max_steps:
            raise ValueError(
                f"The checkpoint {checkpoint.path} is of a fit that has done {n_steps} "
                f"{procedure.step_name}s; got max_iter={self._estimator.max_iter}. {_CURE}"
            )

    def _settings(self) -> dict[str, Any]:
        """Return the parameters that the result of a fit depends on."""
        estimator = self._estimator
        settings = {
            name: value
            for name, value in estimator.get_params(deep=False).items()
            if name not in estimator._free_in_checkpoints
        }
        seed = estimator.random_state
        if not (seed is None or isinstance(seed, Integral)):  # it has moved on since
            settings["random_state"] = f"a {type(seed).__name__}"
        return settings


# The loop.

_ROUNDS = 50
"""The number of times that several runs pause together in a fit, for reports and interrupts."""


class FitLoop:
    """A fit from X to attributes: warm start, steps, interrupts, checkpoints, progress.
    All attributes are set at once at the end; `is_inconsistent` tells of runs left incomplete.
    """

    procedure: FitAlgorithm
    state: FitState

    def __init__(self, estimator: Any, *, is_stream: bool = False):
        self.estimator = estimator
        self.checkpoints = Checkpoints(estimator)
        self._is_shown = False
        self.is_stream = is_stream
        self._earlier = self._check_stream() if is_stream else None

    def run(self, X: Any, y: Any = None, **options: Any) -> None:
        """Do all steps, set the fitted attributes, and warn unless the fit has converged."""
        estimator = self.estimator
        if estimator.verbose < 0:
            Wait.limit = math.inf
        with (
            self._recording_features(),
            InterruptGuard() as guard,
            self.checkpoints.holding_paths(),
        ):
            if self._earlier is None:
                self._data = estimator._check_input(X, y, **options)
            else:
                self._data, staying = estimator._check_batch(self._earlier, X, y)
                self._n_left = staying.start
                self._earlier = self._earlier if staying else None  # or a new chain begins
            check_entries(y)
            self.procedure = estimator._make_procedure(self._data)
            self.state = self._begin()
            self._keep(
                FitState([], self.state.root, is_inconsistent=True)
            )  # pessimistic until success
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
            keeps = estimator.warm_start or self.is_stream
            self._show(final=not keeps)
            if keeps:
                self._keep_runs()
            else:
                vars(estimator).pop("_saved", None)
        if self._earlier is None:  # the sweeps of a later call are too few to judge
            self.procedure.warn_unless_converged(estimator, self.state)

    def _check_stream(self) -> Any:
        """Return the data of earlier calls of `partial_fit`, None if this is the first one."""
        if self.checkpoints:
            raise ValueError(
                "partial_fit takes no Checkpoint: pickle the estimator between its calls. A copy "
                "continues with the same results."
            )
        attributes = vars(self.estimator)
        if "_stream" not in attributes and self.estimator.__sklearn_is_fitted__():
            warn_user(
                f"{type(self.estimator).__name__}: partial_fit begins with X alone, because fit "
                "does not keep the data to which they could be added. Begin with partial_fit, too.",
                UserWarning,
            )
        return attributes.get("_stream")

    # Steps

    def _begin(self) -> FitState:
        """Return the state from a checkpoint or the last fit, else that before the first step."""
        restored = self.checkpoints.restore(self.procedure, self._data)
        if restored is not None:
            return self._attached(restored)
        is_stream = self._earlier is not None
        resumes = self.estimator.warm_start and not self.is_stream
        last = vars(self.estimator).get("_saved") if is_stream or resumes else None
        if last is None:
            return self.procedure.start()
        if last.is_inconsistent:
            warn_user(
                f"The last fit stopped in the middle of a {self.procedure.step_name}, by an error "
                "or a second interrupt: it cannot continue. This fit starts over.",
                UserWarning,
            )
            return self.procedure.start()
        if is_stream:
            what, cure = "partial_fit continues the last call", "Use a clone to start over."
            check_same_parameters(self.estimator, last, what, cure)
            n_steps = self.estimator.stream_sweeps
            return self.procedure.continue_stream(last, self._n_left, n_steps)
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
            state.is_inconsistent = procedure.steps_in_place
            runs[:] = procedure.advance_all(runs, plans, step)
            state.is_inconsistent = False
            is_done = all(map(procedure.is_done, runs))
            if verbose > 0:
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
        if self.state.is_inconsistent:
            return
        is_later = self._earlier is not None  # then earlier attributes are of other samples
        self.checkpoints.save()  # before the shown results are used up
        if is_interrupt and (is_later or self.procedure.may_show(self.estimator, self.state)):
            self._show(final=self.procedure.is_distributed and not self.estimator.warm_start)
        self._keep_runs()

    # The runs for a later fit

    def _sign(self) -> None:
        """Record the parameters and the data that the runs depend on."""
        if not self.state.digest:
            self.state.parameters = fixed_parameters(self.estimator)
            self.state.digest = "a stream" if self.is_stream else joblib.hash(self._data)

    def _keep_runs(self) -> None:
        """Keep the runs for a later fit, without data; over partitions only for a warm start."""
        if self.procedure.is_distributed and not self.estimator.warm_start:
            return
        self._sign()
        for run in self.state.runs:
            self.procedure.detach(run)
        self._keep(self.state)
        if self.is_stream:
            self.estimator._stream = self._data

    def _keep(self, state: FitState) -> None:
        if self.procedure.keeps_runs:
            self.estimator._saved = state
        if not self.is_stream:
            vars(self.estimator).pop("_stream", None)

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
