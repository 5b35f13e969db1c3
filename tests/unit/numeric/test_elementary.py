"""Exponentials and logarithms against those of the library."""

import numpy as np

from skdp._numeric._elementary import fast_exp, fast_log
from skdp._numeric._numba import njit


@njit
def map_exp(x, out):
    for i in range(x.shape[0]):
        out[i] = fast_exp(x[i])


@njit
def map_log(x, out):
    for i in range(x.shape[0]):
        out[i] = fast_log(x[i])


def test_fast_exp():
    x = np.concatenate([-np.geomspace(1e-300, 700.0, 10_001), np.linspace(-700.0, 0.0, 10_001)])
    out = np.empty_like(x)
    map_exp(x, out)
    np.testing.assert_allclose(out, np.exp(x), rtol=1e-14)


def test_fast_exp_far_down():
    out = np.empty(3)
    map_exp(np.array([-708.0, -1e6, -np.inf]), out)
    assert np.all((out > 0.0) & (out < 1e-306))


def test_fast_log():
    x = np.concatenate([np.geomspace(1e-300, 1e300, 10_001), np.linspace(0.5, 2.0, 10_001)])
    out = np.empty_like(x)
    map_log(x, out)
    np.testing.assert_allclose(out, np.log(x), rtol=1e-15, atol=1e-15)
