"""Exponentials, logarithms, exact sums and Bayes' rule against those of the libraries."""

import math
from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from skdp._numeric._arithmetic import LARGEST, fast_exp, fast_log, round_sum, sum_exactly
from skdp._numeric._arrays import log_posterior

vector_exp, vector_log = (
    numba.vectorize(["float64(float64)"])(part.py_func) for part in (fast_exp, fast_log)
)


def test_fast_exp():
    x = np.concatenate([-np.geomspace(1e-300, 700.0, 10_001), np.linspace(-700.0, 0.0, 10_001)])
    np.testing.assert_allclose(vector_exp(x), np.exp(x), rtol=1e-14)
    far_down = vector_exp(np.array([-708.0, -1e6, -np.inf]))
    assert np.all((far_down > 0.0) & (far_down < 1e-306))


def test_fast_log():
    x = np.concatenate([np.geomspace(1e-300, 1e300, 10_001), np.linspace(0.5, 2.0, 10_001)])
    np.testing.assert_allclose(vector_log(x), np.log(x), rtol=1e-15, atol=1e-15)


NUMBERS = st.lists(st.floats(-1e9, 1e9), max_size=30)


@settings(deadline=None)  # the first one compiles
@given(NUMBERS, st.integers(0, 30))
def test_parts_and_orders(numbers, cut):
    values = np.array(numbers)
    whole = sum_exactly(values)
    assert whole.tolist() == sum_exactly(values[::-1]).tolist()
    assert whole.tolist() == (sum_exactly(values[:cut]) + sum_exactly(values[cut:])).tolist()
    exact = sum(map(Fraction, numbers), Fraction(0))
    assert (
        abs(Fraction(round_sum(whole)) - exact)
        <= Fraction(len(numbers), 2**58) + abs(exact) / 2**52
    )


@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -1.0, 0.1, -1e-17, math.pi, -123456.789])
def test_a_number_alone(x):
    assert round_sum(sum_exactly(np.array([x]))) == pytest.approx(x, rel=0, abs=2.0**-58)


def test_what_is_too_large():
    values = np.array([math.inf, -math.inf, 1e300])
    assert round_sum(sum_exactly(values)) == LARGEST


LOGS = np.array([[-1e5, -1e5 - 1.0, -np.inf], [0.5, 1.0, 2.0]])


@pytest.mark.parametrize("shift", [0.0, -5.0])
def test_impossible_rows_have_the_prior(shift):
    prior = np.array([0.2, 0.0, 0.8])
    logs = np.vstack([LOGS, np.full(3, -np.inf)])
    with np.errstate(divide="ignore"):
        found = log_posterior(logs, np.log(prior) + shift)
    np.testing.assert_allclose(np.exp(found[:2]), softmax(LOGS, axis=1))
    np.testing.assert_allclose(np.exp(found[2]), prior)
