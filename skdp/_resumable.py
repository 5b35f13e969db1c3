"""What all estimators whose fit is made of steps have in common."""

from __future__ import annotations

import copy
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

from skdp._executors import call_all
from skdp._numeric._kernel_cache import listening_for_compilation
from skdp._sklearn_compat import (
    CallbackSupportMixin,
    EstimatorMixin,
    Interval,
    begin_fit_task,
    get_callbacks,
    shows_progress,
)
from skdp.callback._checkpoint import Checkpoint, CheckpointContent
from skdp.callback._lock import held
from skdp.callback._part_files import PartFiles
from skdp.data._writing import remove_stale_parts
from skdp.inference import InterruptGuard, warn_user

_ROUNDS = 50
"""Several runs together report, and can be interrupted, so many times in a fit."""


@dataclass
class SavedRuns:
    """What a later fit needs to go on where this one stopped: chains, or restarts.

    Attributes
    ----------
    runs : list
    root : SeedSequence
    parameters : dict
        Those that the runs depend on.
    digest : str
        Hash of the data.
    is_torn : bool
        Whether a step of a run was begun and not ended: nothing can go on from there.
    """

    runs: list[Any]
    root: np.random.SeedSequence
    parameters: dict[str, Any] = field(default_factory=dict)
    digest: str = ""
    is_torn: bool = False


def _equal(value: Any, other: Any) -> bool:
    """Tell whether two values of a parameter are the same."""
    if isinstance(value, BaseEstimator):
        if type(other) is not type(value):
            return False
        mine, others = (part.get_params(deep=False) for part in (value, other))
        return all(_equal(mine[name], others[name]) for name in mine)
    with suppress(ValueError):  # lists of arrays that differ in length are none
        if np.array_equal(np.asarray(value), np.asarray(other)):
            return True
    return joblib.hash(value) == joblib.hash(other)  # objects that know no equality


class ResumableEstimator(EstimatorMixin, CallbackSupportMixin, BaseEstimator):
    """Base class: warm start, interruption, callbacks, several runs side by side.

    A run is a Markov chain, or the way from one start to a local maximum. A subclass gives the
    methods below that raise NotImplementedError.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": [
            Interval(Integral, None, -1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
        "random_state": ["random_state", np.random.Generator],
        "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
    }

    _free_in_warm_start: ClassVar[frozenset[str]] = frozenset(
        ["max_iter", "warm_start", "n_jobs", "random_state", "verbose"]
    )
    """Parameters that may change before a fit goes on with old runs."""

    _free_in_checkpoints: ClassVar[frozenset[str]] = frozenset(
        ["max_iter", "warm_start", "n_jobs", "verbose"]
    )
    """Parameters that may change before a fit goes on from a checkpoint."""

    _feature_attributes: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_")
    """What is recorded of X before there is a result."""

    _optional_attributes: ClassVar[frozenset[str]] = frozenset()
    """Fitted attributes that not every fit has."""

    _steps_in_place: ClassVar[bool] = True
    """Whether `_advance` changes the run that it is given: an error then leaves it torn."""

    _step_name: ClassVar[str]
    """What a step of a run is called."""

    def _validate_parameters(self) -> None:
        """Raise for parameters out of range."""
        raise NotImplementedError

    def _check_input(self, X: Any, y: Any = None) -> Any:
        """Return X, and y where a fit needs one, as a container, and record its features."""
        raise NotImplementedError

    def _start(self, data: Any) -> SavedRuns:
        """Return new runs."""
        raise NotImplementedError

    def _plan(self, run: Any, data: Any) -> Any:
        """Return what `_advance` needs beside the run."""
        raise NotImplementedError

    @staticmethod
    def _advance(run: Any, plan: Any, n_steps: int) -> Any:
        """Let a run do `n_steps` more, no further than planned; return it."""
        raise NotImplementedError

    @staticmethod
    def _n_steps(run: Any) -> int:
        """Return the number of steps that a run has done."""
        raise NotImplementedError

    def _is_done(self, run: Any) -> bool:
        """Tell whether a run has nothing left to do."""
        return self._n_steps(run) >= self._most_steps

    @property
    def _most_steps(self) -> int:
        """Largest number of steps of a run."""
        return int(self.max_iter)

    @staticmethod
    def _has_result(run: Any) -> bool:
        """Tell whether an interrupted run can stand for a whole one."""
        raise NotImplementedError

    def _warn_unless_converged(self, saved: SavedRuns) -> None:
        """Warn of a fit, whose attributes are set, that is not done, and say what to raise."""
        raise NotImplementedError

    def _progress(self, runs: list[Any]) -> str:
        """Return what a line of `verbose` says of the runs."""
        raise NotImplementedError

    def _fitted_attributes(self, saved: SavedRuns, *, final: bool = False) -> dict[str, Any]:
        """Return the fitted attributes by name; with `final` the runs are used up."""
        raise NotImplementedError

    def _showing(self, saved: SavedRuns, *, final: bool = False) -> SavedRuns:
        """Return runs that can show something, if need be their current state.

        With `final` they end here.
        """
        return saved

    def _attach(self, run: Any, data: Any) -> None:
        """Give a run its data again."""

    @staticmethod
    def _detach(run: Any) -> None:
        """Let a run drop the data."""

    @staticmethod
    def _detached(run: Any) -> Any:
        """Return a run without the data, to be written at once; `run` keeps them."""
        return run

    def _frozen_parameters(self) -> dict[str, Any]:
        """Return the parameters that a run depends on."""
        return {
            name: copy.deepcopy(value)
            for name, value in self.get_params(deep=False).items()
            if name not in self._free_in_warm_start
        }

    def _resume(self, saved: SavedRuns, data: Any) -> SavedRuns:
        """Return the runs of the last fit, on their data again."""
        for name, value in self._frozen_parameters().items():
            before = saved.parameters[name]
            if not _equal(value, before):
                raise ValueError(
                    f"With warm_start=True fit goes on where the last fit stopped, which had "
                    f"{name}={before!r}; got {name}={value!r}. Use warm_start=False to start anew."
                )
        if saved.digest != joblib.hash(data):
            raise ValueError(
                "With warm_start=True fit goes on where the last fit stopped and needs the same X; "
                "got another. Use warm_start=False to start anew."
            )
        return self._attached(saved, data)

    def _attached(self, saved: SavedRuns, data: Any) -> SavedRuns:
        """Return saved runs on their data again."""
        for run in saved.runs:
            self._attach(run, data)
        return replace(saved, runs=list(saved.runs))

    def _begin(self, data: Any) -> SavedRuns:
        """Return the runs of this fit: those of a checkpoint, of the last fit, or new ones."""
        for checkpoint in self._checkpoints():
            saved = self._restore(checkpoint, data)
            if saved is not None:
                return self._attached(saved, data)
        saved = vars(self).get("_saved") if self.warm_start else None
        if saved is None:
            return self._start(data)
        if saved.is_torn:
            warn_user(
                f"The last fit stopped in the middle of a {self._step_name}, by an error or a "
                "second interrupt: it cannot go on. This fit starts anew.",
                UserWarning,
            )
            return self._start(data)
        return self._resume(saved, data)

    def _fit(self, X: Any, y: Any = None, **others: Any) -> Any:
        """Do all steps on X, and y and others where a fit needs them; set the fitted attributes.

        All are set at once at the end. Until then only the features of X are recorded, and taken
        back if there is no result. However the fit ends, the runs that it leaves behind are whole,
        or known to be torn.
        """
        self._validate_parameters()
        before = {name: vars(self)[name] for name in self._feature_attributes if name in vars(self)}
        is_shown = False
        try:
            with (
                InterruptGuard() as guard,
                self._telling_of_compilation(),
                self._holding_paths(),
            ):
                data = self._check_input(X, y, **others)
                saved = self._under_way = self._begin(data)
                self._keep(SavedRuns([], saved.root, is_torn=True))  # until there is better news
                if self._checkpoints():
                    self._sign(saved, data)
                    self._write_first(saved)
                try:
                    self._run(saved, X, data, guard)
                except BaseException as error:
                    is_interrupt = isinstance(error, KeyboardInterrupt) or error is guard.released
                    if not saved.is_torn:
                        for checkpoint in self._checkpoints():
                            checkpoint._save(self)  # before what is shown is used up
                        is_shown = is_interrupt and self._show_what_there_is(saved)
                        self._save(saved, data)
                    raise
                self._set_fitted_attributes(
                    self._showing(saved, final=not self.warm_start), final=not self.warm_start
                )
                is_shown = True
                if self.warm_start:
                    self._save(saved, data)
                else:
                    self.__dict__.pop("_saved", None)
        finally:
            self.__dict__.pop("_under_way", None)
            if not is_shown:
                self._restore_features(before)
        self._warn_unless_converged(saved)
        return self

    def _telling_of_compilation(self) -> AbstractContextManager[None]:
        """Return a context in which those who follow the fit hear why it does not begin yet."""
        if not (self.verbose or shows_progress(self)):
            return nullcontext()

        def tell() -> None:
            print(
                f"[{type(self).__name__}] compiling kernels for the first time: this takes some "
                "seconds, and the machine code is kept for later runs.",
                flush=True,
            )

        return listening_for_compilation(tell)

    def _restore_features(self, before: dict[str, Any]) -> None:
        """Record the features of the last fit again."""
        for name in self._feature_attributes:
            self.__dict__.pop(name, None)
        self.__dict__.update(before)

    def _run(self, saved: SavedRuns, X: Any, data: Any, guard: InterruptGuard) -> None:
        """Let the runs go to their end, or to where a callback or an interrupt stops them."""
        runs = saved.runs
        plans = [self._plan(run, data) for run in runs]
        step = self._steps_a_round(len(runs))
        n_rounds = max(-(-(self._most_steps - self._n_steps(run)) // step) for run in runs)
        task = begin_fit_task(self, max(n_rounds, 0), X)

        def attributes() -> dict[str, Any]:
            return {**self._fitted_attributes(self._showing(saved)), "_under_way": None}

        for _ in range(n_rounds):
            guard.check()
            name = self._step_name if step == 1 else f"{step} {self._step_name}s"
            subtask = task.subcontext(task_name=name)
            subtask.call_on_fit_task_begin(estimator=self, X=X)
            saved.is_torn = self._steps_in_place
            runs[:] = self._advance_all(runs, plans, step)
            saved.is_torn = False
            self._report(runs, step)
            if subtask.call_on_fit_task_end(
                estimator=self, X=X, reconstruction_attributes=attributes
            ) or all(map(self._is_done, runs)):
                break
        task.call_on_fit_task_end(estimator=self, X=X, reconstruction_attributes=attributes)

    def _advance_all(self, runs: list[Any], plans: list[Any], step: int) -> list[Any]:
        """Return all runs, some steps further."""
        if len(runs) == 1:
            return [self._advance(runs[0], plans[0], step)]
        tasks = [
            partial(self._advance, run, plan, step) for run, plan in zip(runs, plans, strict=True)
        ]
        return call_all(tasks, self.n_jobs)

    def _steps_a_round(self, n_runs: int) -> int:
        """Return the steps that runs do between two reports, interrupts or checkpoints."""
        if n_runs == 1:
            return 1
        every = [checkpoint.every_sweeps for checkpoint in self._checkpoints()]
        return min([-(-self._most_steps // _ROUNDS), *filter(None, every)])

    def _report(self, runs: list[Any], step: int) -> None:
        """Print a line every `verbose` steps."""
        done = max(map(self._n_steps, runs))
        every = int(self.verbose)
        if every and (done // every > (done - step) // every or all(map(self._is_done, runs))):
            print(
                f"[{type(self).__name__}] {self._step_name} {done} of {self._most_steps}, "
                f"{self._progress(runs)}"
            )

    def _sign(self, saved: SavedRuns, data: Any) -> None:
        """Record what the runs depend on."""
        if not saved.digest:
            saved.parameters, saved.digest = self._frozen_parameters(), joblib.hash(data)

    def _save(self, saved: SavedRuns, data: Any) -> None:
        """Keep the runs for a later fit, without the data."""
        self._sign(saved, data)
        for run in saved.runs:
            self._detach(run)
        self._keep(saved)

    def _keep(self, saved: SavedRuns) -> None:
        """Let a later fit know of runs."""
        self._saved = saved

    def _show_what_there_is(self, saved: SavedRuns) -> bool:
        """Set the attributes of a fit that was interrupted if it has a result; return whether."""
        has_result = all(map(self._has_result, saved.runs))
        if has_result:
            self._set_fitted_attributes(self._showing(saved))
        return has_result

    def _set_fitted_attributes(self, saved: SavedRuns, *, final: bool = False) -> None:
        attributes = self._fitted_attributes(saved, final=final)
        for name in self._optional_attributes.difference(attributes):
            self.__dict__.pop(name, None)  # an earlier fit may have had more options
        self.__dict__.update(attributes, convergence_={})

    # Checkpoints

    def _checkpoints(self) -> list[Checkpoint]:
        return [each for each in get_callbacks(self) if isinstance(each, Checkpoint)]

    @contextmanager
    def _holding_paths(self) -> Iterator[None]:
        """Return a context in which no other fit has the paths of the checkpoints."""
        with ExitStack() as stack:
            paths = {os.path.realpath(each.path): each.path for each in self._checkpoints()}
            for path in paths.values():
                stack.enter_context(held(path))
                remove_stale_parts(path)
            yield

    def _settings(self) -> dict[str, Any]:
        """Return the parameters that the result of a fit depends on."""
        settings = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in self._free_in_checkpoints
        }
        seed = self.random_state
        if not (seed is None or isinstance(seed, Integral)):  # it has moved on since
            settings["random_state"] = f"a {type(seed).__name__}"
        return settings

    def _n_steps_done(self) -> int:
        """Return the steps that the fit under way has done."""
        return max(map(self._n_steps, self._under_way.runs))

    def _write_first(self, saved: SavedRuns) -> None:
        """Write runs before their first step, where it would be too late after it."""

    def _checkpoint(self, files: PartFiles) -> CheckpointContent:
        """Return the fit under way, without the data.

        Parameters
        ----------
        files : PartFiles
            For what is not in this process.
        """
        saved = self._under_way
        settings = copy.deepcopy(self._settings())
        runs = [self._detached(run) for run in saved.runs]
        return CheckpointContent(settings, replace(saved, runs=runs))

    def _restore(self, checkpoint: Checkpoint, data: Any) -> SavedRuns | None:
        """Return the runs of a checkpoint, None where there is none yet."""
        content = checkpoint._load(self)
        if content is None:
            return None
        cure = "Delete the file to start anew, or give another path."
        for name, value in self._settings().items():
            before = content.settings[name]
            if not _equal(value, before):
                raise ValueError(
                    f"The checkpoint {checkpoint.path} is of a fit with {name}={before!r}; got "
                    f"{name}={value!r}. {cure}"
                )
        saved = content.saved
        if saved.digest != joblib.hash(data):
            raise ValueError(f"The checkpoint {checkpoint.path} is of a fit to another X. {cure}")
        n_steps = max(map(self._n_steps, saved.runs))
        if n_steps > self._most_steps:
            raise ValueError(
                f"The checkpoint {checkpoint.path} is of a fit that has done {n_steps} "
                f"{self._step_name}s; got max_iter={self.max_iter}. {cure}"
            )
        return saved
