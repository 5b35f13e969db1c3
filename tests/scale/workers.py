"""Clusters in this process, losses of workers, and functions that tests run on workers."""

import gc
import os
import signal
from contextlib import contextmanager

import joblib

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


@contextmanager
def one_worker(n_threads=1):
    """Have a cluster of one worker without processes; yield it and its client."""
    import distributed

    options = {"n_workers": 1, "threads_per_worker": n_threads, "processes": False}
    with (
        distributed.LocalCluster(**options, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):
        yield cluster, client


def kill_at(monkeypatch, client, cls, n_sweeps):
    """Kill a worker before a sweep of a class of samplers."""
    sweep, done = cls.sweep, []

    def interrupted(self):
        done.append(1)
        if len(done) == n_sweeps:
            kill_a_worker(client)
        sweep(self)

    monkeypatch.setattr(cls, "sweep", interrupted)


def count_bytes(monkeypatch, cls):
    """Return a list of the bytes that the client will unpack in each sweep of a class."""
    from distributed.protocol import pickle

    loads, sweep, received, of_sweeps = pickle.loads, cls.sweep, [], []

    def counted(sent, *args, **kwargs):
        received.append(len(sent) + sum(map(len, kwargs.get("buffers", ()))))
        return loads(sent, *args, **kwargs)

    def watched(self):
        received.clear()
        sweep(self)
        of_sweeps.append(sum(received))

    monkeypatch.setattr(pickle, "loads", counted)
    monkeypatch.setattr(cls, "sweep", watched)
    return of_sweeps
