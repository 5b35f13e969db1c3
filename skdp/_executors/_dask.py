"""The executor of a Dask cluster, whose workers keep the partitions."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from typing import Any
from uuid import uuid4

import numpy as np

import skdp
from skdp._executors._base import (
    Executor,
    LostWorkerError,
    Make,
    add_changes,
    make_of_each,
    map_to_files,
)
from skdp.data._partitioned import Partition

# Functions that run in Dask workers, where partitions stay in the memory of the process.


STORES: dict[str, dict[int, Any]] = {}
"""Partition states by number, for each executor that holds partitions in this process."""


class NotHereError(RuntimeError):
    """Raised if this process does not hold the state of a partition, as after a restart."""


def describe_versions() -> str:
    """Return the versions of the packages that results depend on."""
    others = ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy"))
    return f"skdp {skdp.__version__}, {others}"


def place_partition(store: str, part: Partition, found: Any, make: Callable[[Any], Any]) -> str:
    """Open a partition, or accept Dask's result for it, and keep its state; return versions."""
    container = part.open() if found is None else map_to_files(part.accept(found), part.where)
    STORES.setdefault(store, {})[part.number] = make(container)
    return describe_versions()


def call_partition(store: str, partition: int, method: str, *args: Any) -> Any:
    """Return the result of a method of the state of a partition."""
    try:
        state = STORES[store][partition]
    except KeyError:
        raise NotHereError(
            f"partition {partition} is not in this process, which has dropped it or replaces the "
            "process that had it."
        ) from None
    return getattr(state, method)(*args)


def drop_store(store: str) -> None:
    """Drop the partitions of an executor."""
    STORES.pop(store, None)


def count_stores() -> int:
    """Return the number of executors that hold partitions in this process."""
    return len(STORES)


# The executor, in the process of the client.

_POLL = 0.5
"""Seconds between two checks of the workers: a task pinned to a lost worker would wait forever."""

_PATIENCE = 30
"""Seconds to wait for a worker if there are none."""

_SILENCE = 20
"""Seconds of waiting for calls after which we check for paused workers."""

_HEARSAY = 10
"""Seconds within which the scheduler notices the loss of a worker that broke a connection."""


class DaskExecutor(Executor):
    """Executor on a cluster: partition s of P stays with worker floor(s W / P) of W."""

    def __init__(self, client: Any):
        self._client = client
        self._store = uuid4().hex
        self._addresses: list[str] = []
        self._workers: list[str] = []
        """The address of each partition's worker."""
        self._calls: list[Any] = []

    @property
    def n_processes(self) -> int:
        """Number of workers that hold partitions."""
        return len(set(self._workers))

    def place(self, parts: Sequence[Partition], make: Make) -> None:
        """Open all partitions and build their states; raise if the workers' versions differ."""
        self.drop()
        self._addresses = self._find_workers()
        n_workers, n = len(self._addresses), len(parts)
        self._workers = [self._addresses[s * n_workers // n] for s in range(n)]
        with self._telling_losses():
            makes = make_of_each(make, n)
            calls = [*map(self._place_part, parts, self._workers, makes)]
        mine = describe_versions()
        versions = self._versions(parts, calls)
        for worker, theirs in zip(self._workers, versions, strict=True):
            if theirs != mine:
                raise RuntimeError(
                    f"The worker {worker} has {theirs}, but this process has {mine}: results would "
                    "depend on where they come from."
                )

    def _place_part(self, part: Partition, worker: str, make: Callable[[Any], Any]) -> Any:
        """Return the future of a task that opens a partition and builds its state in a worker."""
        # We keep no reference to the source, so that workers drop it once it is placed.
        found = None
        if part.is_delayed:
            found = self._client.compute(part.source, workers=[worker], sync=False)
        elif part.is_in_memory:
            found = self._client.scatter(part.source, workers=[worker], hash=False)
        sent = part if found is None else part.without_source()
        return self._submit("place", worker, place_partition, self._store, sent, found, make)

    def _list_workers(self) -> list[str]:
        """Return the addresses of all workers, or raise LostWorkerError without a scheduler."""
        try:
            here = list(self._client.nthreads())
        except (AttributeError, OSError, RuntimeError) as error:
            if self._client.status == "running":
                raise LostWorkerError(
                    f"The scheduler of the Dask cluster does not answer: {error}"
                ) from error
            here = []
        if self._client.status != "running":  # it may have been closed meanwhile
            raise LostWorkerError("The client of the Dask cluster is closed.")
        return here

    def _versions(self, parts: Sequence[Partition], calls: Sequence[Any]) -> list[Any]:
        """Return the versions that workers report after placing; errors name their partition."""
        with self._telling_losses():
            self._await(calls)
            for part, call in zip(parts, calls, strict=True):
                error = call.exception() if part.is_delayed else None
                if isinstance(error, NotHereError) or part.where in str(error):
                    continue
                if error is not None and not _is_of_a_connection(error):
                    part.raise_named(error)
        return self.results(calls)

    def _find_workers(self) -> list[str]:
        if not self._list_workers():
            with contextlib.suppress(TimeoutError, OSError, RuntimeError):
                self._client.wait_for_workers(1, timeout=_PATIENCE)
        addresses = sorted(self._list_workers())
        if not addresses:
            raise RuntimeError("The Dask cluster has no workers.")
        return addresses

    def _submit(self, name: str, worker: str | None, f: Callable[..., Any], *args: Any) -> Any:
        """Return the future of a task, pinned to `worker` unless that is None."""
        pinned = {} if worker is None else {"workers": [worker], "allow_other_workers": False}
        with self._telling_losses():
            call = self._client.submit(
                f, *args, key=f"skdp-{name}-{uuid4().hex}", pure=False, retries=0, **pinned
            )
        self._calls.append(call)
        return call

    def call(self, partition: int, method: str, *args: Any) -> Any:
        """Start a call on the partition's worker."""
        worker = self._workers[partition]
        # The dashboard shows a key up to its first word that is not all letters.
        name = method.replace("_", "-")
        return self._submit(name, worker, call_partition, self._store, partition, method, *args)

    def _add(self, changes: Sequence[Any]) -> Any:
        return self._submit("sum", None, add_changes, *changes)

    def results(self, calls: Sequence[Any]) -> list[Any]:
        """Return the results of calls, or raise LostWorkerError."""
        with self._telling_losses():
            self._await(calls)
            found = [call.result() for call in calls]
        self._calls = []
        return found

    def _await(self, calls: Sequence[Any]) -> None:
        """Wait until calls have finished or failed."""
        from distributed import wait

        pending = list(calls)
        doubtful = time.monotonic() + _SILENCE
        while pending:
            begin = time.monotonic()
            if begin > doubtful:
                self._warn_of_pauses()
                doubtful = np.inf
            try:
                wait(pending, timeout=_POLL)
            except TimeoutError:
                if time.monotonic() - begin < _POLL:  # raised by a signal handler
                    raise
            self._check_workers()
            pending = [call for call in pending if not call.done()]

    def _warn_of_pauses(self) -> None:
        """Warn if the fit waits for workers that Dask has paused."""
        try:
            found = self._client.scheduler_info(n_workers=-1)
        except TypeError:  # older versions always return all workers
            found = self._client.scheduler_info()
        workers = found["workers"]
        paused = [a for a in self._addresses if workers.get(a, {}).get("status") == "paused"]
        if paused:
            warnings.warn(
                f"Dask has paused the worker(s) {', '.join(paused)}, which use most of the memory "
                "that they may have, and the fit waits for them. Give them more memory, or use "
                "more workers.",
                RuntimeWarning,
                stacklevel=2,
            )

    def keep(self, method: str, *args: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
        """Return a dask array that survives `drop`, or raise LostWorkerError."""
        import dask
        import dask.array as da

        # After a loss another worker may run the call, which then fails because the partition is
        # missing; a task that is pinned to a lost worker would wait forever.
        calls = [
            self._client.submit(
                call_partition, self._store, s, method, *args, key=f"skdp-keep-{uuid4().hex}",
                pure=False, retries=0, workers=[worker], allow_other_workers=True,
            )
            for s, worker in enumerate(self._workers)
        ]  # fmt: skip
        with self._telling_losses():
            self._await(calls)
            for call in calls:
                if call.status == "error":
                    call.result()
        return da.concatenate(
            [
                da.from_delayed(dask.delayed(call), shape, dtype=np.float64)
                for call, shape in zip(calls, shapes, strict=True)
            ]
        )

    def go_on(self, n_jobs: int | None) -> None:
        """Raise LostWorkerError if workers that hold partitions are lost, or the whole cluster."""
        self._check_workers()

    @contextlib.contextmanager
    def _telling_losses(self) -> Iterator[None]:
        """Return a context that raises LostWorkerError for errors caused by a lost worker."""
        try:
            yield
        except NotHereError as error:
            raise LostWorkerError(f"A worker of Dask was restarted: {error}") from None
        except LostWorkerError:
            raise
        except Exception as error:
            self._check_workers()
            if _is_of_a_connection(error):  # which the scheduler notices a little later
                end = time.monotonic() + _HEARSAY
                while time.monotonic() < end:
                    time.sleep(0.05)
                    self._check_workers()
            raise

    def _check_workers(self) -> None:
        """Raise LostWorkerError if workers with partitions are lost, or the whole cluster."""
        lost = sorted(set(self._addresses).difference(self._list_workers()))
        if lost:
            numbers = [s for s, worker in enumerate(self._workers) if worker in lost]
            raise LostWorkerError(
                f"The worker(s) {', '.join(lost)} of Dask are gone, and with them the partitions "
                f"{', '.join(map(str, numbers))}."
            )

    def share(self, value: Any) -> Any:
        """Return the future of a value that is sent to each worker only once."""
        with self._telling_losses():
            key = f"skdp-shared-{uuid4().hex}"
            shared = self._client.scatter({key: value}, hash=False)[key]
        self._calls.append(shared)
        return shared

    def drop(self) -> None:
        """Drop the partitions in all remaining workers."""
        with contextlib.suppress(Exception):  # a cluster that has ended holds no partitions
            self._client.cancel(self._calls)
            here = set(self._addresses).intersection(self._client.nthreads())
            if here:
                self._client.run(drop_store, self._store, workers=sorted(here), on_error="ignore")
        self._addresses, self._workers, self._calls = [], [], []


def _is_of_a_connection(error: Exception) -> bool:
    """Return whether an error concerns a connection rather than a file."""
    from distributed.comm import CommClosedError

    return isinstance(error, (CommClosedError, ConnectionError))
