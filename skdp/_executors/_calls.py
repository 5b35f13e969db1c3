"""Parallel calls with little overhead, for the many short tasks of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import ThreadingBackend, get_active_backend

from skdp._checks import check_jobs

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
