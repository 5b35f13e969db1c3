"""Fits to data in partitions, whatever the model: losses of workers, checkpoints, progress."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from skdp._executors import Executor, LostWorkerError, Pace, choose_executor
from skdp._resumable import SavedRuns
from skdp._sklearn_compat import with_callbacks
from skdp.base import ChainEstimator
from skdp.callback._checkpoint import Checkpoint, CheckpointContent
from skdp.callback._part_files import PartFiles
from skdp.inference import warn_user

_MOST_LOSSES = 3
"""So many times in a row may workers be lost without a checkpoint in between."""


class PartitionedFits(ChainEstimator):
    """Base class of chains that can run over partitions.

    Walkers of such chains have an attribute `is_placed`, True, and their data in `data`: an object
    with `n_partitions`, `n_units`, `n_moved`, `write` and `read`. A subclass gives
    `_check_partitions`, takes an executor in `_check_input`, and names `_unit`.
    """

    _unit: ClassVar[str]
    """Name of several of what `n_units` counts."""

    def _check_partitions(self, X: Any) -> None:
        """Raise for parameters that partitions do not allow."""
        raise NotImplementedError

    def _fit_partitions(self, X: Any) -> Self:
        """Fit partitions, and go on from checkpoints after losses of workers."""
        self._validate_parameters()
        self._check_partitions(X)
        n_losses = 0
        while True:
            n_before = self._n_written()
            try:
                return self._fit_placed(X)
            except LostWorkerError as error:
                n_losses = 1 if self._n_written() > n_before else n_losses + 1
                self._tell_of_loss(error, n_losses)

    def _check_no_warm_start(self, X: Any) -> None:
        """Raise with `warm_start`."""
        if self.warm_start:
            raise TypeError(
                f"warm_start=True takes no {type(X).__name__}, whose partitions are dropped after "
                "the fit. Use the callback skdp.callback.Checkpoint, from whose file a fit goes "
                "on, X.compute(), or a larger max_iter from the start."
            )

    def _n_written(self) -> int:
        """Return the number of checkpoints that have been written."""
        return sum(checkpoint._n_written for checkpoint in self._checkpoints())

    def _tell_of_loss(self, error: LostWorkerError, n_losses: int) -> None:
        """Warn that a worker is lost, or raise where the fit cannot go on from a checkpoint."""
        if not self._checkpoints():
            raise LostWorkerError(
                f"{error} The fit has lost its state and has to start again. With "
                "the callback skdp.callback.Checkpoint it would go on from a file."
            ) from None
        if n_losses == _MOST_LOSSES:
            raise LostWorkerError(
                f"{error} It is the third loss in a row without a checkpoint in between."
            ) from None
        warn_user(
            f"{error} The fit goes on from the checkpoint {self._checkpoints()[0].path}.",
            RuntimeWarning,
        )

    @with_callbacks  # which are set up anew after a loss
    def _fit_placed(self, X: Any) -> Self:
        """Fit partitions, from a checkpoint where there is one, until a worker is lost."""
        executor = choose_executor(self.n_jobs)
        try:
            return self._fit(X, executor=executor)
        finally:
            if not self._keeps_partitions(executor):
                executor.drop()
            saved = vars(self).get("_saved")
            if saved is not None and saved.is_torn and not self.warm_start:
                del self._saved

    def _keeps_partitions(self, executor: Executor) -> bool:
        """Tell whether chains go on later with the partitions that an executor has."""
        return False

    @staticmethod
    def _is_placed(saved: SavedRuns) -> bool:
        """Tell whether chains run over partitions."""
        return any(chain.walker.is_placed for chain in saved.runs)

    # Checkpoints

    def _run(self, saved: SavedRuns, X: Any, data: Any, guard: Any) -> None:
        if self._is_placed(saved):
            n_units = data.n_units * self.n_chains
            self._pace = Pace(data.n_partitions, n_units, self._unit, self._step_name)
            self._pace.begin(self._n_steps_done(), data.n_moved)
        try:
            super()._run(saved, X, data, guard)
        except LostWorkerError:
            saved.is_torn = True  # whatever was under way: what partitions held is gone
            raise
        finally:
            self.__dict__.pop("_pace", None)

    def _progress(self, runs: list[Any]) -> str:
        found = super()._progress(runs)
        if not runs[0].walker.is_placed:
            return found
        n_steps = max(map(self._n_steps, runs))
        n_left = self._most_steps - n_steps
        return f"{found}, {self._pace.describe(n_steps, n_left, runs[0].walker.data.n_moved)}"

    def _write_first(self, saved: SavedRuns) -> None:
        """Write a checkpoint that a fit to partitions can go back to if there is none yet.

        Raises
        ------
        OSError
            If that fails: later ones would fail, too.
        """
        if not self._is_placed(saved):
            return
        for checkpoint in self._checkpoints():
            if checkpoint.path.exists():
                continue
            try:
                checkpoint._write(self)
            except OSError as error:
                raise OSError(
                    f"The checkpoint {checkpoint.path} could not be written: {error}. A fit to "
                    "partitions needs a folder that this process and all workers can write to."
                ) from error

    def _checkpoint(self, files: PartFiles) -> CheckpointContent:
        content = super()._checkpoint(files)
        if not self._is_placed(self._under_way):
            return content
        folder = files.make(self._n_steps_done())
        self._under_way.runs[0].walker.data.write(folder)
        return content._replace(parts=folder.name)

    def _restore(self, checkpoint: Checkpoint, data: Any) -> SavedRuns | None:
        saved = super()._restore(checkpoint, data)
        if saved is not None and checkpoint._parts is not None:
            data.read(PartFiles(checkpoint.path).find(checkpoint._parts))
        return saved

    def _advance_all(self, runs: list[Any], plans: list[Any], step: int) -> list[Any]:
        if not runs[0].walker.is_placed:
            return super()._advance_all(runs, plans, step)
        # The partitions have the threads or the workers.
        return [self._advance(run, plan, step) for run, plan in zip(runs, plans, strict=True)]

    def _showing(self, saved: SavedRuns, *, final: bool = False) -> SavedRuns:
        if self._is_placed(saved) and "_pace" in vars(self):  # in a round
            raise TypeError(
                "A callback asks for the fit under way, which a fit to partitions cannot show: "
                "what it takes is where the partitions are. Use X.compute(), or fit without it."
            )
        return super()._showing(saved, final=final)

    def _show_what_there_is(self, saved: SavedRuns) -> bool:
        if not self._is_placed(saved):
            return super()._show_what_there_is(saved)
        has_result = self._may_show(saved) and all(map(self._has_result, saved.runs))
        if has_result:
            final = not self.warm_start
            self._set_fitted_attributes(self._showing(saved, final=final), final=final)
        return has_result

    def _save(self, saved: SavedRuns, data: Any) -> None:
        if not self._is_placed(saved):
            super()._save(saved, data)
        elif self.warm_start:  # the chains keep their partitions
            self._sign(saved, data)
            self._keep(saved)
