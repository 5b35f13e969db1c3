"""The checkpoints of a fit: when they are written, and how a fit continues from one."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from numbers import Integral
from typing import Any

import joblib

from skdp._checks import shorten
from skdp._fit._parameters import is_equal
from skdp._fit._procedure import Procedure
from skdp._fit._state import FitState
from skdp._sklearn_compat import get_callbacks
from skdp.callback._checkpoint import Checkpoint, CheckpointContent
from skdp.callback._lock import held
from skdp.callback._part_files import PartFiles
from skdp.data._writing import remove_stale_parts

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

    def write_first(self, procedure: Procedure) -> None:
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

    def content(self, procedure: Procedure, state: FitState, files: PartFiles) -> CheckpointContent:
        """Return the content of a file: the settings and the runs without their data."""
        settings = copy.deepcopy(self._settings())
        runs = [procedure.detached(run) for run in state.runs]
        parts = procedure.write_parts(files, state)
        return CheckpointContent(settings, replace(state, runs=runs), parts)

    def restore(self, procedure: Procedure, data: Any) -> FitState | None:
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
        self, checkpoint: Checkpoint, content: CheckpointContent, procedure: Procedure, data: Any
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
