"""Pickles of estimators and the versions that write and read them."""

import copy
import io
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import skdp
from skdp.feature_extraction import SegmentVectorizer
from skdp.sequence import HDPHMMLT, GaussianEmission
from skdp.topics import GibbsLDA

DOCUMENTS = [[[0, 1, 0]], [[2, 3, 2]]]


def test_equal_versions_load_in_silence():
    model = GibbsLDA(2, max_iter=4, random_state=0).fit(DOCUMENTS)
    loaded = pickle.loads(pickle.dumps(model))
    assert_array_equal(loaded.components_, model.components_)
    assert loaded.get_params() == model.get_params()


@pytest.mark.parametrize(
    "estimator",
    [GibbsLDA(2), HDPHMMLT(2, emission=GaussianEmission()), SegmentVectorizer()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_another_version_is_named(estimator, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(skdp, "__version__", "0.0.7")
        written = pickle.dumps(estimator)
    message = rf"pickled by skdp 0\.0\.7, and this is skdp {skdp.__version__}"
    with pytest.warns(UserWarning, match=message):
        loaded = pickle.loads(written)
    assert type(loaded) is type(estimator)


class Moved(pickle.Unpickler):
    """An unpickler for which parts of a fitted estimator have moved."""

    def find_class(self, module, name):
        if module == "skdp.inference._trace":
            raise ModuleNotFoundError(f"No module named {module!r}")
        return super().find_class(module, name)


def test_another_version_is_named_before_the_state_fails_to_load(monkeypatch):
    model = GibbsLDA(2, max_iter=4, random_state=0).fit(DOCUMENTS)
    with monkeypatch.context() as before:
        before.setattr(skdp, "__version__", "0.0.7")
        written = pickle.dumps(model)
    with pytest.warns(UserWarning, match="skdp 0.0.7"), pytest.raises(ModuleNotFoundError):
        Moved(io.BytesIO(written)).load()


def test_copies():
    model = GibbsLDA(2, max_iter=4, random_state=0).fit(DOCUMENTS)
    for other in (copy.copy(model), copy.deepcopy(model)):
        assert_array_equal(other.components_, model.components_)
    assert copy.deepcopy(model).components_ is not model.components_
    assert not hasattr(clone(model), "components_")
    assert np.all(clone(model).get_params()["n_components"] == 2)
