"""The interface of executors, the executor of this process, and parallel calls."""

from __future__ import annotations

import os
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Self, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import ThreadingBackend, get_active_backend
from numpy.typing import NDArray

from skdp._checks import check_jobs
from skdp.data._partitioned import Partition

_FAN = 8
"""Number of changes that each node of the summation tree adds up."""

Change = tuple[Any, ...]
"""A tuple of numbers and arrays, which is summed elementwise."""

# Other processes find callables by name: each has to be a module-level function or class.
Make = Callable[[Any], Any] | Sequence[Callable[[Any], Any]]
"""The callable that turns an opened partition into its state, or one for each partition."""


class LostWorkerError(RuntimeError):
    """Raised when a worker has died, which loses the state of its partitions."""


class Executor(ABC):
    """Base class of executors: they build the state of each partition once and keep it in place.
    A state is an actor: its methods are called where it is. After use, `drop` has to be called.
    """

    @property
    def n_processes(self) -> int:
        """Number of other processes that hold partitions."""
        return 0

    @abstractmethod
    def place(self, parts: Sequence[Partition], make: Make) -> None:
        """Open each partition where it stays, and keep its state from `make`; drop earlier ones."""

    @abstractmethod
    def call(self, partition: int, method: str, *args: Any) -> Any:
        """Start ``state.method(*args)`` in the process of a state; return a handle of the call."""

    def sum(self, changes: Sequence[Any]) -> Change:
        """Return the elementwise sum of the changes that calls return."""
        total: Change = self.results([self.total(changes)])[0]
        return total

    def total(self, changes: Sequence[Any]) -> Any:
        """Return a handle of that sum for further calls; the sum may stay in another process."""
        # The tree depends only on the number of changes, so results are the same to the bit for
        # any workers and any order in which calls finish.
        level = list(changes)
        while len(level) > 1:
            level = [self._add(group) for group in _groups(level)]
        return level[0]

    @abstractmethod
    def results(self, calls: Sequence[Any]) -> list[Any]:
        """Return the results of calls, in the order of the calls."""

    @abstractmethod
    def keep(self, method: str, *args: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
        """Concatenate the arrays of these shapes that a method returns for all partitions.
        On a cluster this is a dask array, whose chunks stay on their workers while it is in use.
        """

    @abstractmethod
    def go_on(self, n_jobs: int | None) -> None:
        """Prepare for another fit, with `n_jobs` threads if local, or raise LostWorkerError."""

    @abstractmethod
    def drop(self) -> None:
        """Drop all partitions and cancel pending calls."""

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Return a handle of a value, an argument of calls, that is sent to a worker only once."""

    @abstractmethod
    def _add(self, changes: Sequence[Any]) -> Any:
        """Return a handle of the sum of a few changes, added from first to last."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.drop()


def make_of_each(make: Make, n_partitions: int) -> list[Callable[[Any], Any]]:
    """Return the callable for each partition."""
    return [make] * n_partitions if callable(make) else [*make]


def _groups(level: Sequence[Any]) -> list[Sequence[Any]]:
    return [level[i : i + _FAN] for i in range(0, len(level), _FAN)]


def add_changes(*changes: Change) -> Change:
    """Return the sum of changes, added from first to last."""
    return tuple(_sum_up(values) for values in zip(*changes, strict=True))


def _sum_up(values: Sequence[Any]) -> Any:
    """Return the sum of values, by their method `sum_up` if they have one."""
    if hasattr(values[0], "sum_up"):
        return values[0].sum_up(values)
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


# Arrays that are mapped to unnamed temporary files, which end with the process.
#
# The system can reclaim such memory at any time, because its content is on disk.


_LEAST = 2**16
"""Smallest number of bytes for which an array gets a file."""


def map_to_files(container: Any, where: str) -> Any:
    """Return a container whose large arrays are in files; `where` names it in the OSError."""
    try:
        values, *ptrs = (_written(array) for array in (container._values, *container._ptrs))
    except OSError as error:
        raise OSError(
            f"{where} is computed or sent, and could not be written to a file of the folder "
            f"{files_folder()}: {error}"
        ) from error
    return container._like(values, tuple(ptrs))


def _written(array: NDArray[Any]) -> NDArray[Any]:
    if array.nbytes < _LEAST:
        return array
    own = zeros(array.shape, array.dtype)
    own[...] = array
    return own


def zeros(shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """Return an array of zeros, in a file if it is large; OSError if there is no room."""
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if n_bytes < _LEAST:
        return np.zeros(shape, dtype)
    with tempfile.TemporaryFile(prefix="skdp-", dir=files_folder()) as file:
        _reserve(file.fileno(), n_bytes)
        # Return a plain ndarray. The map outlives the file descriptor, and keeps the file alive.
        return np.asarray(np.memmap(file, dtype, "r+", shape=shape))


def _reserve(descriptor: int, n_bytes: int) -> None:
    """Allocate a file: otherwise a full disk would kill the process on a write to the map."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, n_bytes)
    else:  # systems whose files are not sparse
        os.truncate(descriptor, n_bytes)


def files_folder() -> str:
    """Return the folder for files: the local one of a Dask worker, else the system's."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            return str(distributed.get_worker().local_directory)
        except ValueError:  # not in a worker
            pass
    return tempfile.gettempdir()


# The executor of this process: threads work on the partitions, and files stay mapped.


class LocalExecutor(Executor):
    """Executor of this process; the number of threads, `n_jobs`, does not change results."""

    def __init__(self, n_jobs: int | None):
        self._pool = ThreadPoolExecutor(effective_n_jobs(check_jobs(n_jobs)))
        self._states: list[Any] = []

    def place(self, parts: Sequence[Partition], make: Make) -> None:
        """Open all partitions and build their states."""

        def begin(part: Partition, make: Callable[[Any], Any]) -> Any:
            container = part.open()
            return make(map_to_files(container, part.where) if part.is_delayed else container)

        each = zip(parts, make_of_each(make, len(parts)), strict=True)
        self._states = self.results([self._pool.submit(begin, *pair) for pair in each])

    def call(self, partition: int, method: str, *args: Any) -> Future[Any]:
        """Start a call in a thread; arguments may be pending sums."""
        known = [arg.result() if isinstance(arg, Future) else arg for arg in args]
        return self._pool.submit(getattr(self._states[partition], method), *known)

    def results(self, calls: Sequence[Future[Any]]) -> list[Any]:
        """Return the results of calls."""
        try:
            return [call.result() for call in calls]
        except BaseException:  # let no thread be at work when the error is handled
            wait([call for call in calls if not call.cancel()])
            raise

    def _add(self, changes: Sequence[Future[Any]]) -> Future[Change]:
        total: Future[Change] = Future()
        total.set_result(add_changes(*self.results(changes)))
        return total

    def share(self, value: Any) -> Any:
        """Return the value itself, which threads share."""
        return value

    def keep(self, method: str, *args: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
        """Return the concatenated array, which is mapped to a file if it is large."""
        found = self.results([self.call(s, method, *args) for s in range(len(shapes))])
        whole = zeros((sum(shape[0] for shape in shapes), *shapes[0][1:]))
        return np.concatenate(found, out=whole)

    def go_on(self, n_jobs: int | None) -> None:
        """Set the number of threads."""
        self._pool.shutdown()
        self._pool = ThreadPoolExecutor(effective_n_jobs(check_jobs(n_jobs)))

    def drop(self) -> None:
        """Drop the partitions and end the threads."""
        self._states = []
        self._pool.shutdown(cancel_futures=True)


# Parallel calls with little overhead, for the many short tasks of a sweep.


T = TypeVar("T")


def call_all(
    tasks: Sequence[Callable[[], T]], n_jobs: int | None, *, require: str | None = None
) -> list[T]:
    """Return the results of tasks, which run in threads unless another joblib backend is active.
    `require` is "sharedmem" if tasks write to memory of this process.
    """
    n_jobs = check_jobs(n_jobs)
    n_threads = min(effective_n_jobs(n_jobs), len(tasks))
    if n_threads <= 1:
        return [task() for task in tasks]
    backend, _ = get_active_backend(prefer="threads", require=require)
    # Joblib polls its threads every hundredth of a second, which is long compared to a sweep.
    if type(backend) is ThreadingBackend:
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(lambda task: task(), tasks))
    # Tasks work in place, but joblib's memory maps of large arrays are read-only.
    return list(
        Parallel(n_jobs=n_jobs, prefer="threads", require=require, max_nbytes=None)(
            delayed(task)() for task in tasks
        )
    )
