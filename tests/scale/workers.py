"""Functions that tests run on workers."""

import gc
import os
import signal

from skdp._executors._dask import count_stores
from skdp.topics._shared._partition import _REPLICAS


def count_replicas():
    """Return how many chains have counts in this process."""
    return len(_REPLICAS)


def assert_nothing_is_left(client):
    client.run(gc.collect)  # tracebacks of errors are cycles
    assert set(client.run(count_stores).values()) == {0}
    assert set(client.run(count_replicas).values()) == {0}


def kill_a_worker(client):
    """Kill the process of the worker that has the first partition; return its address."""
    address = min(client.nthreads())
    os.kill(client.run(os.getpid)[address], signal.SIGKILL)
    return address


def count_maps():
    """Return how many files without a name are mapped to the memory of this process."""
    with open("/proc/self/maps") as maps:
        return sum("(deleted)" in line and ("/#" in line or "/skdp-" in line) for line in maps)


def die_once(value, died):
    """Return a value; but the first process that is to leave `died` behind ends itself."""
    if died is not None and not died.exists():
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return value
