"""Calls of a few tasks at a time: order, threads, errors, other backends."""

import os
import threading
from functools import partial

import joblib
import pytest

from skdp._executors import call_all


def meet(barrier, i):
    """Wait for another task to begin, too; return who was called, where, and whether they met."""
    try:
        barrier.wait(timeout=20)
    except threading.BrokenBarrierError:
        return i, threading.get_ident(), False
    return i, threading.get_ident(), True


def test_tasks_run_at_the_same_time_and_come_back_in_order():
    barrier = threading.Barrier(2)
    found = call_all([partial(meet, barrier, i) for i in range(2)], n_jobs=2)
    assert [i for i, _, _ in found] == [0, 1]
    assert len({thread for _, thread, _ in found}) == 2
    assert all(have_met for _, _, have_met in found)


def test_no_more_threads_than_jobs():
    found = call_all([threading.get_ident] * 20, n_jobs=2)
    assert len(found) == 20
    assert len(set(found)) <= 2


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_one_job_is_the_calling_thread(n_jobs):
    assert call_all([threading.get_ident] * 3, n_jobs) == [threading.get_ident()] * 3


def test_no_tasks():
    assert call_all([], 2) == []


def fail():
    raise ValueError("in a thread")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_of_tasks_are_raised(n_jobs):
    with pytest.raises(ValueError, match="in a thread"):
        call_all([os.getpid, fail], n_jobs)


def test_a_backend_of_processes_is_used_unless_memory_is_shared():
    with joblib.parallel_config("multiprocessing"):
        assert os.getpid() not in call_all([os.getpid] * 2, 2)
        assert set(call_all([os.getpid] * 2, 2, require="sharedmem")) == {os.getpid()}


def test_jobs_of_a_backend_in_force():
    barrier = threading.Barrier(2)
    with joblib.parallel_config("threading", n_jobs=2):
        found = call_all([partial(meet, barrier, i) for i in range(2)], None)
    assert all(have_met for _, _, have_met in found)
