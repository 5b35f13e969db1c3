"""Executors for partitioned data: threads of this process, or Dask workers."""

from skdp._executors._base import Executor, LocalExecutor, LostWorkerError, call_all
from skdp._executors._distributed import (
    Distributed,
    Throughput,
    choose_executor,
    find_client,
    predict_parts,
)

__all__ = [
    "Distributed",
    "Executor",
    "LocalExecutor",
    "LostWorkerError",
    "Throughput",
    "call_all",
    "choose_executor",
    "find_client",
    "predict_parts",
]
