"""Errors call classes by their public names."""

import importlib
import inspect

import pytest

from skdp import sequence
from skdp.data import PartitionedCorpus
from skdp.topics import AdaptiveTopicModel, SegmentedTopicModel, SequentialLDA

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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SegmentedTopicModel(foo=1), r"SegmentedTopicModel.__init__\(\).*'foo'"),
        (lambda: SequentialLDA(foo=1), r"SequentialLDA.__init__\(\).*'foo'"),
        (lambda: AdaptiveTopicModel(foo=1), r"AdaptiveTopicModel.__init__\(\).*'foo'"),
        (lambda: PartitionedCorpus([[0]]), r"PartitionedCorpus.__init__\(\) takes"),
    ],
)
def test_wrong_arguments_name_the_public_class(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_infinite_hmm_is_another_name():
    assert sequence.InfiniteHMM is sequence.HDPHMMLT
    assert repr(sequence.InfiniteHMM(3)) == "HDPHMMLT(n_components=3)"
