"""Partitions in the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import uuid4

import numpy as np

from skdp._executors._base import Executor, LostWorkerError, add_changes
from skdp._executors._homes import (
    NotHereError,
    call_partition,
    describe_versions,
    drop_home,
    place_partition,
)
from skdp.data._parts import Part

_POLL = 0.5
"""Seconds between two looks at who is still there: a task pinned to a worker that is gone waits
for ever."""

_PATIENCE = 30
"""Seconds to wait for a worker when there is none."""

_SILENCE = 20
"""Seconds of waiting for calls after which workers may have been paused."""

_HEARSAY = 10
"""Seconds in which the scheduler hears of a loss that broke a connection."""


class DaskExecutor(Executor):
    """Executor on a cluster: partition s of P stays with worker floor(s W / P) of W.

    Parameters
    ----------
    client : dask.distributed.Client
    """

    def __init__(self, client: Any):
        self._client = client
        self._home = uuid4().hex
        self._addresses: list[str] = []
        self._workers: list[str] = []
        """Of each partition."""
        self._calls: list[Any] = []

    @property
    def n_processes(self) -> int:
        """Number of workers that have partitions."""
        return len(set(self._workers))

    def place(self, parts: Sequence[Part], make: Callable[[Any], Any]) -> None:
        """Open and make all partitions in the workers that are there now.

        Raises
        ------
        RuntimeError
            If there are no workers, or one has other versions than this process.
        """
        self.drop()
        self._addresses = self._find_workers()
        n_workers, n = len(self._addresses), len(parts)
        self._workers = [self._addresses[s * n_workers // n] for s in range(n)]
        with self._telling_losses():
            calls = [
                self._place_part(part, worker, make)
                for part, worker in zip(parts, self._workers, strict=True)
            ]
        mine = describe_versions()
        versions = self._versions(parts, calls)
        for worker, theirs in zip(self._workers, versions, strict=True):
            if theirs != mine:
                raise RuntimeError(
                    f"The worker {worker} has {theirs}, but this process has {mine}: results would "
                    "depend on where they come from."
                )

    def _place_part(self, part: Part, worker: str, make: Callable[[Any], Any]) -> Any:
        """Return the future of a partition that is opened and made in a worker."""
        # Nothing here holds on to what is found, so that workers drop it once it is placed.
        found = None
        if part.is_delayed:
            found = self._client.compute(part.source, workers=[worker], sync=False)
        elif part.is_in_memory:
            found = self._client.scatter(part.source, workers=[worker], hash=False)
        sent = part if found is None else part.without_source()
        return self._submit("place", worker, place_partition, self._home, sent, found, make)

    def _list_workers(self) -> list[str]:
        """Return the addresses of all workers; there may be none.

        Raises
        ------
        LostWorkerError
            If the client is closed, or its scheduler is gone.
        """
        try:
            here = list(self._client.nthreads())
        except (AttributeError, OSError, RuntimeError) as error:
            if self._client.status == "running":
                raise LostWorkerError(
                    f"The scheduler of the Dask cluster does not answer: {error}"
                ) from error
            here = []
        if self._client.status != "running":  # it may have been closed in between
            raise LostWorkerError("The client of the Dask cluster is closed.")
        return here

    def _versions(self, parts: Sequence[Part], calls: Sequence[Any]) -> list[Any]:
        """Return the versions that workers report once they have placed their partitions.

        An error that Dask raises while it computes a partition names that partition.
        """
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
        """Return the future of a task, on a certain worker unless that is None."""
        pinned = {} if worker is None else {"workers": [worker], "allow_other_workers": False}
        with self._telling_losses():
            call = self._client.submit(
                f, *args, key=f"skdp-{name}-{uuid4().hex}", pure=False, retries=0, **pinned
            )
        self._calls.append(call)
        return call

    def call(self, partition: int, f: Callable[..., Any], *args: Any) -> Any:
        """Begin a call on the partition's worker."""
        worker = self._workers[partition]
        # The dashboard shows a key up to its first word that is not of letters alone.
        name = getattr(f, "__name__", type(f).__name__).removesuffix("_part").replace("_", "-")
        return self._submit(name, worker, call_partition, self._home, partition, f, *args)

    def _add(self, changes: Sequence[Any]) -> Any:
        return self._submit("sum", None, add_changes, *changes)

    def results(self, calls: Sequence[Any]) -> list[Any]:
        """Return what calls return.

        Raises
        ------
        LostWorkerError
            If a worker is gone that has partitions.
        """
        with self._telling_losses():
            self._await(calls)
            found = [call.result() for call in calls]
        self._calls = []
        return found

    def _await(self, calls: Sequence[Any]) -> None:
        """Wait until calls have ended, in whatever way."""
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
        except TypeError:  # older versions always tell of all workers
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

    def keep(self, f: Callable[..., Any], *args: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
        """Return a dask array, which `drop` leaves where it is.

        Raises
        ------
        LostWorkerError
            If a worker is gone that has partitions.
        """
        import dask
        import dask.array as da

        # Another worker may try after a loss: it says that the partition is not there, while a
        # task that has to run where no worker is would wait for ever.
        calls = [
            self._client.submit(
                call_partition, self._home, s, f, *args, key=f"skdp-keep-{uuid4().hex}",
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
        """Raise if workers are gone that have partitions, or the whole cluster."""
        self._check_workers()

    @contextlib.contextmanager
    def _telling_losses(self) -> Iterator[None]:
        """Tell as a loss what came of one.

        A connection breaks at once, but the scheduler hears of its worker's end a little later.
        """
        try:
            yield
        except NotHereError as error:
            raise LostWorkerError(f"A worker of Dask was restarted: {error}") from None
        except LostWorkerError:
            raise
        except Exception as error:
            self._check_workers()
            if _is_of_a_connection(error):
                end = time.monotonic() + _HEARSAY
                while time.monotonic() < end:
                    time.sleep(0.05)
                    self._check_workers()
            raise

    def _check_workers(self) -> None:
        """Raise LostWorkerError if workers are gone that have partitions, or the whole cluster."""
        lost = sorted(set(self._addresses).difference(self._list_workers()))
        if lost:
            numbers = [s for s, worker in enumerate(self._workers) if worker in lost]
            raise LostWorkerError(
                f"The worker(s) {', '.join(lost)} of Dask are gone, and with them the partitions "
                f"{', '.join(map(str, numbers))}."
            )

    def share(self, value: Any) -> Any:
        """Return the future of a value that is sent to a worker once.

        Raises
        ------
        LostWorkerError
            If a worker is gone that has partitions.
        """
        with self._telling_losses():
            key = f"skdp-shared-{uuid4().hex}"
            shared = self._client.scatter({key: value}, hash=False)[key]
        self._calls.append(shared)
        return shared

    def drop(self) -> None:
        """Forget the partitions in all workers that are there."""
        with contextlib.suppress(Exception):  # a cluster that is gone has forgotten them
            self._client.cancel(self._calls)
            here = set(self._addresses).intersection(self._client.nthreads())
            if here:
                self._client.run(drop_home, self._home, workers=sorted(here), on_error="ignore")
        self._addresses, self._workers, self._calls = [], [], []


def _is_of_a_connection(error: Exception) -> bool:
    """Return whether an error tells of a connection, not of a file."""
    from distributed.comm import CommClosedError

    return isinstance(error, (CommClosedError, ConnectionError))
