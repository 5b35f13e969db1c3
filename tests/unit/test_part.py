"""Parts of chains: copies, and data that are dropped."""

import numpy as np
from numpy.testing import assert_array_equal

from skdp._part import ChainComponent


class Inner(ChainComponent):
    def __init__(self):
        self.values = np.arange(3.0)


class Outer(ChainComponent):
    _data_attributes = ("data",)

    def __init__(self):
        self.data = np.arange(4.0)
        self.values = np.zeros(2)
        self.inner = Inner()
        self.name = "outer"


def test_copy_has_arrays_of_its_own_and_shares_the_data():
    part = Outer()
    copy = part.copy()
    part.values[:], part.inner.values[:] = 7.0, 7.0
    assert_array_equal(copy.values, [0.0, 0.0])
    assert_array_equal(copy.inner.values, [0.0, 1.0, 2.0])
    assert copy.data is part.data
    assert copy.name == "outer"


def test_detach_drops_the_data_alone():
    part = Outer()
    copy = part.copy()
    part.detach()
    assert not hasattr(part, "data")
    assert hasattr(copy, "data")
    assert_array_equal(part.inner.values, [0.0, 1.0, 2.0])
    part.detach()  # once more does no harm
