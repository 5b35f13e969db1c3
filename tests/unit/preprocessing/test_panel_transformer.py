"""PanelTransformer; tests/refusals/measures.txt has what it refuses."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scikit_learn_checks import scikit_learn_checks
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdp.data import SequencePanel
from skdp.preprocessing import PanelTransformer
from skdp.sequence import HDPHMMLT

RNG = np.random.default_rng(0)
LISTS = [RNG.normal([5.0, -300.0, 0.0], [2.0, 90.0, 1.0], size=(n, 3)) for n in (7, 1, 12)]
PANEL = SequencePanel.from_sequences(LISTS)
FRAMES = [
    pd.DataFrame(x, columns=["a", "b", "c"], index=pd.date_range("2024-01-01", periods=len(x)))
    for x in LISTS
]


@scikit_learn_checks([PanelTransformer(StandardScaler()), PanelTransformer(PCA(1))])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("inner", [StandardScaler(), PCA(2, random_state=0)])
def test_the_same_kind_comes_out(inner):
    expected = clone(inner).fit(PANEL.values).transform(PANEL.values)
    transformer = PanelTransformer(inner).fit(LISTS)
    assert not hasattr(inner, "n_features_in_")  # it is cloned
    panel = transformer.transform(PANEL)
    assert isinstance(panel, SequencePanel)
    assert_allclose(panel.values, expected)
    assert_array_equal(panel.ptr, PANEL.ptr)
    for X in (LISTS, tuple(LISTS), [x.tolist() for x in LISTS]):
        found = transformer.transform(X)
        assert isinstance(found, list)
        assert [len(x) for x in found] == [7, 1, 12]
        assert_allclose(np.concatenate(found), expected)
    single = transformer.transform(LISTS[0])
    assert type(single) is np.ndarray
    assert_allclose(single, expected[:7])
    for X in (PANEL, LISTS, LISTS[2]):
        back = transformer.inverse_transform(transformer.transform(X))
        assert type(back) is type(X)
        if isinstance(inner, StandardScaler):
            for x, y in zip(back, X, strict=True):
                assert_allclose(x, y)


def test_frames_stay_frames():
    transformer = PanelTransformer(StandardScaler()).fit(FRAMES)
    assert transformer.feature_names_in_.tolist() == ["a", "b", "c"]
    found = transformer.transform(FRAMES)
    expected = PanelTransformer(StandardScaler()).fit_transform(PANEL)
    for frame, before, values in zip(found, FRAMES, expected, strict=True):
        assert list(frame.columns) == ["a", "b", "c"]
        assert frame.index.equals(before.index)
        assert_allclose(frame.to_numpy(), values)
    one = transformer.transform(FRAMES[0])
    pd.testing.assert_frame_equal(one, found[0])
    pd.testing.assert_frame_equal(transformer.inverse_transform(found)[2], FRAMES[2])
    for X in ([frame[["b", "a", "c"]] for frame in FRAMES], FRAMES[0][["b", "a", "c"]]):
        with pytest.raises(ValueError, match="feature names should match"):
            transformer.transform(X)
    names = PanelTransformer(PCA(2)).fit(FRAMES).transform(FRAMES[0]).columns
    assert list(names) == ["pca0", "pca1"]


def test_names_of_columns():
    """Inner transformers may pick columns by name; panels have names of their own."""
    inner = ColumnTransformer([("scaled", StandardScaler(), ["c"]), ("kept", "passthrough", ["a"])])
    transformer = PanelTransformer(inner).fit(FRAMES)
    assert transformer.get_feature_names_out().tolist() == ["scaled__c", "kept__a"]
    assert_allclose(transformer.transform(FRAMES)[0]["kept__a"], LISTS[0][:, 0])
    assert not hasattr(transformer, "inverse_transform")
    transformer = PanelTransformer(StandardScaler()).fit(PANEL)
    assert transformer.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    assert transformer.get_feature_names_out(["u", "v", "w"]).tolist() == ["u", "v", "w"]
    assert transformer.set_output(transform="pandas") is transformer
    assert isinstance(transformer.transform(PANEL), SequencePanel)


def test_missing_values_stay():
    X = [x.copy() for x in LISTS]
    X[0][2, 1] = np.nan
    found = PanelTransformer(StandardScaler()).fit_transform(X)
    assert np.argwhere(np.isnan(np.concatenate(found))).tolist() == [[2, 1]]


def test_pipelines():
    pipeline = make_pipeline(
        PanelTransformer(StandardScaler()), HDPHMMLT(3, max_iter=5, random_state=0)
    )
    states = clone(pipeline).fit(LISTS).predict(LISTS)
    scaled = PanelTransformer(StandardScaler()).fit_transform(LISTS)
    expected = clone(pipeline[-1]).fit(scaled).predict(scaled)
    for found, known in zip(states, expected, strict=True):
        assert_array_equal(found, known)
    named = clone(pipeline).fit(FRAMES)
    assert named[-1].feature_names_in_.tolist() == ["a", "b", "c"]
    again = pickle.loads(pickle.dumps(named))
    assert again.score(FRAMES) == named.score(FRAMES)


def test_only_training_steps_are_learned_from():
    """In a search over parameters of the inner transformer, the mean of each fold is its own."""
    means = []

    class Recorder(StandardScaler):
        def fit(self, X, y=None, sample_weight=None):
            super().fit(X)
            means.append(self.mean_[0])
            return self

    pipeline = make_pipeline(PanelTransformer(Recorder()), HDPHMMLT(2, max_iter=2, random_state=0))
    grid = {"paneltransformer__transformer__with_std": [True, False]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(PANEL)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    parts = [PANEL[chosen] for chosen in ([1, 2], [0, 2], [0, 1]) * 2] + [PANEL]
    assert_allclose(means, [part.values[:, 0].mean() for part in parts])


def test_a_second_fit():
    """One that is refused changes nothing, and one without names forgets those of the first."""
    estimator = PanelTransformer(PCA(2)).fit(FRAMES)
    before = dict(vars(estimator))
    with pytest.raises(ValueError, match="missing"):
        estimator.fit([np.full((3, 2), np.nan)])
    assert vars(estimator) == before
    estimator.fit(LISTS)
    assert not hasattr(estimator, "feature_names_in_")
