"""Errors call classes by their public names."""

import importlib
import inspect

import pytest

from skdp import sequence

PUBLIC_MODULES = (
    *("data", "datasets", "feature_extraction", "grammar", "inspection", "metrics", "processes"),
    *("context", "mixture", "preprocessing", "sequence", "topics"),
)
CLASSES = [
    value
    for module in PUBLIC_MODULES
    for name, value in vars(importlib.import_module(f"skdp.{module}")).items()
    if inspect.isclass(value) and value.__module__.startswith("skdp.") and value.__name__ == name
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_constructors_bear_the_name_of_their_public_class(cls):
    """Wrong parameters are the most frequent errors of users, and Python names their origin."""
    if getattr(cls, "_is_protocol", False):
        return
    assert cls.__init__.__qualname__ in (f"{cls.__name__}.__init__", "object.__init__")


def test_infinite_hmm_is_another_name():
    assert sequence.InfiniteHMM is sequence.HDPHMMLT
    assert repr(sequence.InfiniteHMM(3)) == "HDPHMMLT(n_components=3)"
