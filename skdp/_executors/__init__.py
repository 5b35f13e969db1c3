"""Executors for partitioned data: threads of this process, or Dask workers."""

from skdp._executors._base import Executor, LostWorkerError
from skdp._executors._calls import call_all
from skdp._executors._choose import choose_executor, find_client
from skdp._executors._distributed import Distributed
from skdp._executors._local import LocalExecutor
from skdp._executors._predict import predict_parts
from skdp._executors._throughput import Throughput

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
