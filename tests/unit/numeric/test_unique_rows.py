"""The distinct rows of an array are those of numpy, and a signal handler may raise meanwhile."""

import signal
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skdp._numeric._arrays import unique_rows


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, float])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 2), (200, 3), (50, 12)])
def test_numpy_finds_the_same(dtype, shape):
    rows = (np.random.default_rng(0).integers(-1, 3, shape) // 2).astype(dtype)
    distinct, firsts, places, counts = np.unique(
        rows, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    expected = distinct, places, counts, firsts
    for found, other in zip(unique_rows(rows), expected, strict=True):
        assert_array_equal(found, np.reshape(other, found.shape))


def test_no_columns():
    distinct, places, counts, firsts = unique_rows(np.zeros((4, 0)))
    assert distinct.shape == (1, 0)
    assert_array_equal(places, np.zeros(4))
    assert_array_equal(counts, [4])
    assert_array_equal(firsts, [0])


class Alarm(Exception):
    pass


@pytest.mark.skipif(sys.platform == "win32", reason="has no interval timers")
def test_handlers_that_raise_are_heard():
    """With ``np.unique(rows, axis=0, return_counts=True)`` a quarter of them are a TypeError."""
    rows = np.random.default_rng(0).integers(0, 2, (5, 30)).astype(np.int8)

    def ring(number, frame):
        raise Alarm

    def find_until(seconds):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        while True:
            unique_rows(rows)

    before = signal.signal(signal.SIGALRM, ring)
    try:
        for i in range(100):
            with pytest.raises(Alarm):
                find_until(5e-5 + 1e-6 * i)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
