"""The choice of the executor, which depends on the active joblib backend."""

from __future__ import annotations

from typing import Any

from joblib.parallel import get_active_backend

from skdp._executors._base import Executor
from skdp._executors._local import LocalExecutor


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
