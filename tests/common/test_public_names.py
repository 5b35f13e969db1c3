"""Errors call classes and methods by their public names."""

import importlib
import inspect
import pickle
import types

import pytest
from bad_inputs import SENTENCES
from sklearn.base import clone

from skdp._public import public
from skdp.data import SegmentedCorpus
from skdp.feature_extraction import TokenVectorizer
from skdp.grammar import HDPPCFG
from skdp.sequence import HDPHMMLT, FactorialHMM
from skdp.topics import AdaptiveTopicModel, GibbsLDA, SegmentedTopicModel, SequentialLDA

PUBLIC_MODULES = (
    *("data", "datasets", "feature_extraction", "grammar", "inspection", "metrics", "processes"),
    *("context", "mixture", "preprocessing", "sequence", "topics"),
)
CLASSES = [
    value
    for module in PUBLIC_MODULES
    for value in vars(importlib.import_module(f"skdp.{module}")).values()
    if inspect.isclass(value) and value.__module__.startswith("skdp.")
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_methods_bear_the_name_of_their_public_class(cls):
    for name in dir(cls):
        if name.startswith("_") and name != "__init__":
            continue
        function = inspect.unwrap(getattr(cls, name)) if callable(getattr(cls, name)) else None
        function = getattr(function, "__func__", function)
        if not isinstance(function, types.FunctionType):
            continue
        if not function.__code__.co_filename.startswith(
            str(importlib.import_module("skdp").__path__[0])
        ):
            continue  # of another package
        assert function.__qualname__ == f"{cls.__name__}.{name}", function.__qualname__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SegmentedTopicModel(foo=1), r"SegmentedTopicModel.__init__\(\).*'foo'"),
        (lambda: SequentialLDA(foo=1), r"SequentialLDA.__init__\(\).*'foo'"),
        (lambda: AdaptiveTopicModel(foo=1), r"AdaptiveTopicModel.__init__\(\).*'foo'"),
        (lambda: HDPHMMLT().fit(), r"HDPHMMLT.fit\(\) missing.*'X'"),
        (lambda: FactorialHMM().fit(), r"FactorialHMM.fit\(\) missing.*'X'"),
        (lambda: GibbsLDA().transform(), r"GibbsLDA.transform\(\) missing.*'X'"),
        (lambda: HDPPCFG().fit(SENTENCES, None, 3), r"HDPPCFG.fit\(\) takes"),
        (lambda: GibbsLDA.from_topics(), r"GibbsLDA.from_topics\(\) missing.*'components'"),
        (lambda: GibbsLDA().iter_sweeps(), r"GibbsLDA.iter_sweeps\(\) missing.*'X'"),
        (lambda: TokenVectorizer().fit(), r"TokenVectorizer.fit\(\) missing.*'X'"),
        (lambda: SegmentedCorpus.from_documents([[[0]]]).to_bow(1), r"SegmentedCorpus.to_bow\(\)"),
    ],
)
def test_wrong_arguments_name_the_public_class(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_copies_of_methods_are_whole():
    # Signatures, docstrings, pickles and `super()` are those of methods that are inherited.
    base = SegmentedTopicModel.__mro__[1]
    for name in ("__init__", "fit", "transform", "score"):
        mine, theirs = getattr(SegmentedTopicModel, name), getattr(base, name)
        assert inspect.signature(mine) == inspect.signature(theirs)
        assert mine.__doc__ == theirs.__doc__
        assert mine is not theirs
    assert "n_components" in SegmentedTopicModel(3).get_params()
    assert clone(SegmentedTopicModel(3)).n_components == 3
    assert pickle.loads(pickle.dumps(SegmentedTopicModel.fit)) is SegmentedTopicModel.fit
    assert pickle.loads(pickle.dumps(GibbsLDA(7).fit)).__self__.n_components == 7

    class Base:
        def __init__(self, a):
            self.a = a

        @classmethod
        def make(cls, a):
            return cls(a)

        def twice(self):
            return 2 * self.a

    class Middle(Base):
        def twice(self):
            return 1 + super().twice()

    Base.__module__ = Middle.__module__ = "skdp.some.module"

    @public
    class Own(Middle):
        pass

    class Users(Own):
        def twice(self):
            return 10 * super().twice()

    assert Own.make(3).twice() == 7
    assert Users.make(3).twice() == 70
    assert isinstance(Users.make(3), Users)
    assert Own.twice.__qualname__ == f"{Own.__qualname__}.twice"
    assert Middle.twice.__qualname__ == f"{Middle.__qualname__}.twice"
