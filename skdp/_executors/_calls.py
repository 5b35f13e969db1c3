"""A few calls at a time, many times over: what a sweep has in its threads."""

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
    """Return what tasks return, in threads unless another joblib backend is in force.

    Joblib looks every hundredth of a second whether threads are done, which is long beside a sweep.
    So its threads are replaced by a pool that waits for them.

    Parameters
    ----------
    tasks : sequence of callables
        Without arguments. Where processes are in force they are pickled.
    n_jobs : int or None
        As joblib counts it.
    require : "sharedmem" or None
        That tasks write to memory of this process.
    """
    n_jobs = check_jobs(n_jobs)
    n_threads = min(effective_n_jobs(n_jobs), len(tasks))
    if n_threads <= 1:
        return [task() for task in tasks]
    backend, _ = get_active_backend(prefer="threads", require=require)
    if type(backend) is ThreadingBackend:
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(lambda task: task(), tasks))
    # Tasks work in place: joblib's memory maps of large arrays could not be written.
    return list(
        Parallel(n_jobs=n_jobs, prefer="threads", require=require, max_nbytes=None)(
            delayed(task)() for task in tasks
        )
    )
