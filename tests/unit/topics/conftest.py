"""Each test begins without the replicas of counts that tests of other modules have left alive."""

import gc

import pytest

from skdp.topics._shared._placed import _REPLICAS


@pytest.fixture(autouse=True, scope="module")
def _no_replicas_of_other_modules():
    gc.collect()
    _REPLICAS.clear()
