"""What all estimators whose fit is made of steps have in common."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, ClassVar

import joblib
import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator

from skdp._sklearn_compat import CallbackSupportMixin, Interval, begin_fit_task
from skdp.inference import InterruptGuard, TornInterrupt

_ROUNDS = 50
"""Several runs together report, and can be interrupted, so many times in a fit."""

_FEATURES = ("n_features_in_", "feature_names_in_", "n_words_", "_sentence_length")
"""What is recorded of X before there is a result."""


@dataclass
class SavedRuns:
    """What a later fit needs to go on where this one stopped: chains, or restarts."""

    runs: list[Any]
    root: np.random.SeedSequence
    parameters: dict[str, Any] = field(default_factory=dict)
    digest: str = ""


def _equal(value: Any, other: Any) -> bool:
    """Tell whether two values of a parameter are the same."""
    if isinstance(value, BaseEstimator):
        if type(other) is not type(value):
            return False
        mine, others = (part.get_params(deep=False) for part in (value, other))
        return all(_equal(mine[name], others[name]) for name in mine)
    if np.array_equal(np.asarray(value), np.asarray(other)):
        return True
    return joblib.hash(value) == joblib.hash(other)  # objects that know no equality


class ResumableEstimator(CallbackSupportMixin, BaseEstimator):
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

    _step_name: ClassVar[str]
    """What a step of a run is called."""

    def _validate_parameters(self) -> Any:
        """Raise for parameters out of range."""
        raise NotImplementedError

    def _check_input(self, X: Any) -> Any:
        """Return X as a container, and record its features."""
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
        return self._n_steps(run) >= self.max_iter

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

    def _showing(self, saved: SavedRuns) -> SavedRuns:
        """Return runs that can show something, if need be their current state."""
        return saved

    def _attach(self, run: Any, data: Any) -> None:
        """Give a run its data again."""

    @staticmethod
    def _detach(run: Any) -> None:
        """Let a run drop the data."""

    def _frozen_parameters(self) -> dict[str, Any]:
        """Return the parameters that a run depends on."""
        return {
            name: copy.deepcopy(value)
            for name, value in self.get_params(deep=False).items()
            if name not in self._free_in_warm_start
        }

    def _resume(self, data: Any) -> SavedRuns:
        """Return the runs of the last fit, on their data again."""
        saved = self._saved
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
        for run in saved.runs:
            self._attach(run, data)
        return replace(saved, runs=list(saved.runs))

    def _fit(self, X: Any) -> Any:
        """Do all steps on X and set the fitted attributes.

        All are set at once at the end. Until then only the features of X are recorded, and taken
        back if there is no result.
        """
        self._validate_parameters()
        before = {name: vars(self)[name] for name in _FEATURES if name in vars(self)}
        resume = self.warm_start and hasattr(self, "_saved")
        try:
            data = self._check_input(X)
            saved = self._resume(data) if resume else self._start(data)
        except BaseException:
            self._restore_features(before)
            raise
        try:
            self._run(saved, X, data)
        except TornInterrupt:  # a step was cut in two: nothing can go on from there
            self.__dict__.pop("_saved", None)
            self._restore_features(before)
            raise
        except KeyboardInterrupt:
            if all(map(self._has_result, saved.runs)):
                self._set_fitted_attributes(self._showing(saved))
            else:
                self._restore_features(before)
            self._save(saved, data)
            raise
        except BaseException:
            self._drop_data(saved)
            self._restore_features(before)
            raise
        self._set_fitted_attributes(self._showing(saved), final=not self.warm_start)
        if self.warm_start:
            self._save(saved, data)
        else:
            self.__dict__.pop("_saved", None)
        self._warn_unless_converged(saved)
        return self

    def _restore_features(self, before: dict[str, Any]) -> None:
        """Record the features of the last fit again."""
        for name in _FEATURES:
            self.__dict__.pop(name, None)
        self.__dict__.update(before)

    def _run(self, saved: SavedRuns, X: Any, data: Any) -> None:
        """Let the runs go to their end, or to where a callback or an interrupt stops them."""
        runs = saved.runs
        plans = [self._plan(run, data) for run in runs]
        step = 1 if len(runs) == 1 else -(-self.max_iter // _ROUNDS)
        n_rounds = max(-(-(self.max_iter - self._n_steps(run)) // step) for run in runs)
        task = begin_fit_task(self, max(n_rounds, 0), X)

        def attributes() -> dict[str, Any]:
            return self._fitted_attributes(self._showing(saved))

        with InterruptGuard() as guard:
            for _ in range(n_rounds):
                name = self._step_name if step == 1 else f"{step} {self._step_name}s"
                subtask = task.subcontext(task_name=name)
                subtask.call_on_fit_task_begin(estimator=self, X=X)
                if len(runs) == 1:
                    self._advance(runs[0], plans[0], step)
                else:
                    runs[:] = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                        delayed(self._advance)(run, plan, step)
                        for run, plan in zip(runs, plans, strict=True)
                    )
                self._report(runs, step)
                if subtask.call_on_fit_task_end(
                    estimator=self, X=X, reconstruction_attributes=attributes
                ) or all(map(self._is_done, runs)):
                    break
                guard.check()
        task.call_on_fit_task_end(estimator=self, X=X, reconstruction_attributes=attributes)

    def _report(self, runs: list[Any], step: int) -> None:
        """Print a line every `verbose` steps."""
        done = max(map(self._n_steps, runs))
        every = int(self.verbose)
        if every and (done // every > (done - step) // every or all(map(self._is_done, runs))):
            print(
                f"[{type(self).__name__}] {self._step_name} {done} of {self.max_iter}, "
                f"{self._progress(runs)}"
            )

    def _save(self, saved: SavedRuns, data: Any) -> None:
        """Keep the runs for a later fit, without the data."""
        saved.parameters, saved.digest = self._frozen_parameters(), joblib.hash(data)
        self._drop_data(saved)
        self._saved = saved

    def _drop_data(self, saved: SavedRuns) -> None:
        for run in saved.runs:
            self._detach(run)

    def _set_fitted_attributes(self, saved: SavedRuns, *, final: bool = False) -> None:
        for name, value in self._fitted_attributes(saved, final=final).items():
            setattr(self, name, value)
