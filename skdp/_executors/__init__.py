"""Executors for partitioned data: threads of this process, or Dask workers."""

from skdp._executors._base import Executor, LostWorkerError
from skdp._executors._calls import call_all
from skdp._executors._choose import choose_executor, find_client
from skdp._executors._local import LocalExecutor
from skdp._executors._pace import Pace
from skdp._executors._placed import Placed
from skdp._executors._predict import predict_parts

__all__ = [
    "Executor",
    "LocalExecutor",
    "LostWorkerError",
    "Pace",
    "Placed",
    "call_all",
    "choose_executor",
    "find_client",
    "predict_parts",
]
