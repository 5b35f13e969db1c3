"""A data set whose partitions an executor has distributed, with sums over the partitions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from skdp._executors._base import Executor
from skdp.data._partitioned import Partitioned


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
