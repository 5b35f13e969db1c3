"""A data set whose partitions an executor has placed, with sums over the partitions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from skdp._executors._base import Executor
from skdp.data._partitioned import Partitioned


class Placed:
    """Base class of data sets whose partitions an executor has placed.

    Parameters
    ----------
    X : Partitioned
    executor : Executor
    make : callable
        Function that turns an opened partition into the state that is kept.

    Attributes
    ----------
    n_features, n_partitions : int
    n_moved : int
        Number of bytes sent between processes in sweeps.
    """

    def __init__(self, X: Partitioned, executor: Executor, make: Callable[[Any], Any]):
        self.n_features = X.n_features
        self.n_partitions = X.n_partitions
        self.n_moved = 0
        self._executor = executor
        executor.place(X._parts, make)

    def count_moved(self, n_sent: int, n_summed: int) -> None:
        """Count the bytes of a sweep's changes, and of their sum, that move between processes.

        If the changes are spread evenly, a fraction 1 / n_processes is already where it is summed.
        """
        if n_processes := self._executor.n_processes:
            n_others = n_processes - 1
            self.n_moved += n_others * (n_sent // n_processes + n_summed)

    def share(self, value: Any) -> Any:
        """Return a handle of a value, to be an argument of calls for all partitions."""
        return self._executor.share(value)

    def sum(
        self, f: Callable[..., Any], *args: Any, each: list[Any] | None = None
    ) -> tuple[Any, ...]:
        """Return the sum of the results of `f` over all partitions; lists are concatenated.

        Parameters
        ----------
        f : callable
            Function that returns a tuple.
        *args
            Arguments after the partition.
        each : list or None, default=None
            The last argument for each partition.
        """
        return self._executor.sum(self._call_all(f, args, each))

    def total(self, f: Callable[..., Any], *args: Any, each: list[Any] | None = None) -> Any:
        """Return a handle of that sum for later calls; the sum stays with the partitions."""
        return self._executor.total(self._call_all(f, args, each))

    def result(self, total: Any) -> Any:
        """Return the value of a handle that `total` returned."""
        return self._executor.results([total])[0]

    def first(self, f: Callable[..., Any], *args: Any) -> Any:
        """Return the result of `f` for the first partition."""
        return self._executor.results([self._executor.call(0, f, *args)])[0]

    def _call_all(
        self, f: Callable[..., Any], args: tuple[Any, ...], each: list[Any] | None
    ) -> list[Any]:
        own: list[Any] = [()] * self.n_partitions if each is None else [(last,) for last in each]
        return [self._executor.call(s, f, *args, *own[s]) for s in range(self.n_partitions)]

    # Files

    def write_files(self, f: Callable[..., Any], folder: Path) -> None:
        """Write a file for each partition in `folder`; `f` returns a list with the file's size.

        Raises
        ------
        OSError
            If writing fails or this process does not find the files.
        """
        paths = self._paths(folder)
        (sizes,) = self.sum(f, each=paths)
        for path, size in zip(paths, sizes, strict=True):
            if not path.exists() or path.stat().st_size != size:
                raise FileNotFoundError(f"{path} is not there for all workers and this process")

    def _paths(self, folder: Path) -> list[Path]:
        return [folder / f"part-{s:05d}" for s in range(self.n_partitions)]
