"""An executor for partitions in this process: threads work on them, and files stay mapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from skdp._checks import check_jobs
from skdp._executors._base import Change, Executor, Make, add_changes, make_of_each
from skdp._executors._memory_map import map_to_files, zeros
from skdp.data._parts import Partition


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
