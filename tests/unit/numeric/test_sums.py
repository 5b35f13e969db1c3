"""Sums that do not depend on their order."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdp._numeric._sums import LARGEST, round_sum, sum_exactly

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
