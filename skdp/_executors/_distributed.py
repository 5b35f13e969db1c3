"""Distributed data sets, the choice of their executor, predictions, and the throughput of fits."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from pathlib import Path
from time import perf_counter
from typing import Any
from uuid import uuid4

import joblib
import numpy as np
from joblib.parallel import get_active_backend

from skdp._checks import check_jobs
from skdp._executors._base import Executor, LocalExecutor
from skdp.data._partitioned import Partition, Partitioned


class Distributed:
    """Base class of data sets whose partitions an executor has distributed.
    `make`, a class or a function, returns the state that is kept of an opened partition.
    """

    def __init__(self, X: Partitioned, executor: Executor, make: Callable[[Any], Any]):
        self.n_features = X.n_features
        self.n_partitions = X.n_partitions
        self.n_moved = 0  # bytes sent between processes in sweeps
        self._executor = executor
        executor.place(X._parts, make)

    def count_moved(self, n_sent: int, n_summed: int) -> None:
        """Count the bytes of a sweep's changes, and of their sum, that move between processes."""
        if n_processes := self._executor.n_processes:
            n_others = n_processes - 1  # a share 1 / n_processes is already where it is summed
            self.n_moved += n_others * (n_sent // n_processes + n_summed)

    def share(self, value: Any) -> Any:
        """Return a handle of a value, to be an argument of calls for all partitions."""
        return self._executor.share(value)

    def run(self, method: str, *args: Any, each: list[Any] | None = None) -> None:
        """Run a method without results for all partitions, with arguments as for `sum`."""
        self._executor.results(self._call_all(method, args, each))

    def sum(self, method: str, *args: Any, each: list[Any] | None = None) -> tuple[Any, ...]:
        """Return the sum of a method's results over all partitions; lists are concatenated.
        The method returns a tuple; `each` has its last argument for each partition.
        """
        return self._executor.sum(self._call_all(method, args, each))

    def total(self, method: str, *args: Any, each: list[Any] | None = None) -> Any:
        """Return a handle of that sum for later calls; the sum stays with the partitions."""
        return self._executor.total(self._call_all(method, args, each))

    def result(self, total: Any) -> Any:
        """Return the value of a handle that `total` returned."""
        return self._executor.results([total])[0]

    def first(self, method: str, *args: Any) -> Any:
        """Return the result of a method for the first partition."""
        return self._executor.results([self._executor.call(0, method, *args)])[0]

    def _call_all(self, method: str, args: tuple[Any, ...], each: list[Any] | None) -> list[Any]:
        own: list[Any] = [()] * self.n_partitions if each is None else [(last,) for last in each]
        return [self._executor.call(s, method, *args, *own[s]) for s in range(self.n_partitions)]

    # Files

    def write(self, folder: Path) -> None:
        """Write the chains of each partition, without data, to a file in `folder`."""
        paths = self._paths(folder)
        (sizes,) = self.sum("write", each=paths)  # a state returns a list with its file's size
        for path, size in zip(paths, sizes, strict=True):
            if not path.exists() or path.stat().st_size != size:
                raise FileNotFoundError(f"{path} is not there for all workers and this process")

    def _paths(self, folder: Path) -> list[Path]:
        return [folder / f"part-{s:05d}" for s in range(self.n_partitions)]


# The choice of the executor, which depends on the active joblib backend.


def find_client() -> Any:
    """Return the Dask client if `joblib.parallel_config("dask")` is active, else None."""
    backend, _ = get_active_backend()
    is_dask = type(backend).__name__ == "DaskDistributedBackend"
    return backend.client if is_dask else None


def choose_executor(n_jobs: int | None) -> Executor:
    """Return a Dask executor if that backend is active, else one with `n_jobs` threads."""
    client = find_client()
    if client is None:
        return LocalExecutor(n_jobs)
    from skdp._executors._dask import DaskExecutor

    return DaskExecutor(client)


# Predictions for partitions: computed at once in this process, or lazily on a cluster.


def predict_parts(
    estimator: Any, method: str, X: Partitioned, shape: tuple[int, ...] | None = None
) -> Any:
    """Return the predictions of a fitted estimator for all samples, lazily on a Dask cluster.
    The method returns an array of floats with entries of a `shape`, or a list if that is None.
    """
    alone = copy(estimator)
    alone.n_jobs = 1  # the threads are shared among partitions
    if find_client() is not None:
        return _promise(alone, method, X, shape)
    found = joblib.Parallel(n_jobs=check_jobs(estimator.n_jobs), prefer="threads")(
        joblib.delayed(_predict_part)(alone, method, part) for part in X._parts
    )
    if shape is None:
        return [each for part in found for each in part]
    return np.concatenate(found)


def _promise(estimator: Any, method: str, X: Partitioned, shape: tuple[int, ...] | None) -> Any:
    """Return the predictions as a lazy Dask collection."""
    import dask

    sent = dask.delayed(estimator, traverse=False)  # sent once, not with every partition
    task = dask.delayed(_predict_part)
    key = f"skdp-{method.replace('_', '-')}-{uuid4().hex}"  # shown in the dashboard
    calls = [
        task(sent, method, part.without_source(), part.source, dask_key_name=f"{key}-{part.number}")
        if part.is_delayed
        else task(
            sent, method, dask.delayed(part, traverse=False), dask_key_name=f"{key}-{part.number}"
        )
        for part in X._parts
    ]
    if shape is None:
        from dask.bag import from_delayed

        return from_delayed(calls)
    import dask.array as da

    return da.concatenate(
        [
            da.from_delayed(
                call,
                (np.nan if part.n_samples is None else part.n_samples, *shape),
                dtype=np.float64,
            )
            for call, part in zip(calls, X._parts, strict=True)
        ]
    )


def _predict_part(estimator: Any, method: str, part: Partition, found: Any = None) -> Any:
    """Return the predictions for the samples of a partition."""
    container = part.open() if found is None else part.accept(found)
    return getattr(estimator, method)(container)


# The throughput of a fit to partitions.


_MEGA = 1e6


class Throughput:
    """Throughput since the last line of `verbose` output."""

    # n_units is the number of units in a step; `unit` is a plural, such as "tokens".
    def __init__(self, n_partitions: int, n_units: int, unit: str, step: str):
        self._n_partitions = n_partitions
        self._n_units = n_units
        self._unit = unit
        self._step = step

    def begin(self, n_steps: int, n_moved: int) -> None:
        """Start measuring at a number of steps and of bytes."""
        self._begin(perf_counter(), n_steps, n_moved)

    def _begin(self, time: float, n_steps: int, n_moved: int) -> None:
        self._time, self._n_steps, self._n_moved = time, n_steps, n_moved

    def describe(self, n_steps: int, n_left: int, n_moved: int) -> str:
        """Return a description of the throughput since the last call; n_moved are bytes."""
        now = perf_counter()
        seconds = now - self._time
        n_new = n_steps - self._n_steps
        speed = self._n_units * n_new / seconds / _MEGA
        words = [f"{self._n_partitions} partitions", f"{speed:.3g} million {self._unit} a second"]
        if n_moved:
            words.append(f"{(n_moved - self._n_moved) / n_new / _MEGA:.3g} MB a {self._step}")
        if n_left:
            words.append(f"{_duration(seconds / n_new * n_left)} left")
        self._begin(now, n_steps, n_moved)
        return ", ".join(words)


def _duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours, depending on its length."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 120 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
