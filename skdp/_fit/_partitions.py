"""Fits to data in partitions: losses of workers, checkpoints, progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from skdp._executors import LostWorkerError, Throughput, choose_executor
from skdp._fit._checkpoints import list_checkpoints
from skdp._fit._sampling import Sampling
from skdp._fit._state import FitState
from skdp._sklearn_compat import with_callbacks
from skdp.callback._part_files import PartFiles
from skdp.inference._chain import Chain
from skdp.inference._convergence import warn_user

_MOST_LOSSES = 3
"""The number of consecutive worker losses, without a checkpoint in between, that ends a fit."""


class PartitionedSampling(Sampling):
    """Markov chains over partitions, which hold parts of the chains."""

    is_distributed = True

    def __init__(self, data: Any, *args: Any, unit: str, **params: Any):  # what n_units counts
        super().__init__(data, *args, **params)
        self._unit = unit
        self._throughput: Throughput | None = None

    @contextmanager
    def running(self, state: FitState) -> Iterator[None]:
        """Return a context that measures throughput, and marks the state as torn after a loss."""
        n_units = self._data.n_units * self._n_chains
        self._throughput = Throughput(self._data.n_partitions, n_units, self._unit, self.step_name)
        self._throughput.begin(max(map(self.n_steps, state.runs)), self._data.n_moved)
        try:
            yield
        except LostWorkerError:
            state.is_torn = True  # the parts that the worker held are gone
            raise
        finally:
            self._throughput = None

    def progress(self, runs: list[Chain]) -> str:
        """Return the log joint of each chain, the throughput and the time left."""
        assert self._throughput is not None  # in a round
        n_steps = max(map(self.n_steps, runs))
        throughput = self._throughput.describe(
            n_steps, self.max_steps - n_steps, self._data.n_moved
        )
        return f"{super().progress(runs)}, {throughput}"

    def advance_all(self, runs: list[Any], plans: list[Any], n_steps: int) -> list[Any]:
        """Advance one chain after another, because partitions share the threads or workers."""
        return [self.advance(run, plan, n_steps) for run, plan in zip(runs, plans, strict=True)]

    def showing(self, state: FitState, *, final: bool = False) -> FitState:
        """Return chains that have all kept and stored a sample; TypeError between two rounds."""
        if self._throughput is not None:  # this would move the parts of the partitions
            raise TypeError(
                "A callback asks for the attributes of a fit in progress. A fit to partitions has "
                "none before its end. Use X.compute(), or fit without the callback."
            )
        return super().showing(state, final=final)

    def attach(self, run: Chain) -> None:
        """Attach the partitions to a chain and its running means."""
        super().attach(run)
        if hasattr(run.averages, "attach"):
            run.averages.attach(run.sampler)

    @staticmethod
    def detach(run: Chain) -> None:
        """Do nothing: a warm start continues with the distributed partitions."""

    def write_parts(self, files: PartFiles, state: FitState) -> str:
        """Write the parts that partitions hold; return the name of their folder."""
        folder = files.make(max(map(self.n_steps, state.runs)))
        self._data.write(folder)
        return folder.name

    def read_parts(self, files: PartFiles, name: str | None) -> None:
        """Load the parts that `write_parts` has written into the partitions."""
        if name is not None:
            self._data.read(files.find(name))


def fit_partitions(estimator: Any, X: Any, y: Any = None) -> Any:
    """Fit partitions, and continue from checkpoints after losses of workers.
    `_check_partitions` of the estimator raises for parameters that partitions do not allow.
    """
    estimator._validate_parameters()
    estimator._check_partitions(X)
    n_losses = 0
    while True:
        n_before = _n_written(estimator)
        try:
            return _fit_once(estimator, X, y)
        except LostWorkerError as error:
            n_losses = 1 if _n_written(estimator) > n_before else n_losses + 1
            _warn_of_loss(estimator, error, n_losses)


@with_callbacks  # which sets them up for each attempt
def _fit_once(estimator: Any, X: Any, y: Any) -> Any:
    """Fit partitions, from a checkpoint if there is one; a loss of a worker ends the attempt."""
    executor = choose_executor(estimator.n_jobs)
    try:
        return estimator._fit(X, y, executor=executor)
    finally:
        kept = kept_partitions(estimator)
        if kept is None or not kept.is_with(executor):
            executor.drop()
        saved = vars(estimator).get("_saved")
        if saved is not None and saved.is_torn and not estimator.warm_start:
            del estimator._saved


def _n_written(estimator: Any) -> int:
    """Return the number of checkpoints that have been written."""
    return sum(checkpoint._n_written for checkpoint in list_checkpoints(estimator))


def _warn_of_loss(estimator: Any, error: LostWorkerError, n_losses: int) -> None:
    """Warn of a lost worker, or raise if the fit cannot continue from a checkpoint."""
    checkpoints = list_checkpoints(estimator)
    if not checkpoints:
        raise LostWorkerError(
            f"{error} The fit has lost its state and has to start again. With "
            "the callback skdp.callback.Checkpoint it would continue from a file."
        ) from None
    if n_losses == _MOST_LOSSES:
        raise LostWorkerError(
            f"{error} It is the third loss in a row without a checkpoint in between."
        ) from None
    warn_user(
        f"{error} The fit continues from the checkpoint {checkpoints[0].path}.",
        RuntimeWarning,
    )


def kept_partitions(estimator: Any) -> Any:
    """Return the distributed data set that the last fit has kept for a warm start, or None."""
    saved = vars(estimator).get("_saved")
    if saved is None or not is_over_partitions(saved):
        return None
    return saved.runs[0].sampler.data


def is_over_partitions(state: FitState) -> bool:
    """Return whether the chains of a fit run over partitions."""
    return any(chain.sampler.is_distributed for chain in state.runs)


def check_no_warm_start(estimator: Any, X: Any) -> None:
    """Raise TypeError if the estimator has `warm_start=True`."""
    if estimator.warm_start:
        raise TypeError(
            f"warm_start=True takes no {type(X).__name__}, whose partitions are dropped after "
            "the fit. Use the callback skdp.callback.Checkpoint, from whose file a fit can "
            "continue, X.compute(), or a larger max_iter from the start."
        )
