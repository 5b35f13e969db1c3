import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.exceptions import NotFittedError

from skdp.inspection import ComponentCountDisplay
from skdp.inspection._axes import GREY
from skdp.mixture import DPMixture, IBPLatentFeatures
from skdp.sequence import HDPHMMLT
from skdp.topics import GibbsLDA, HDPTopicModel


def test_bars():
    display = ComponentCountDisplay([0.0, 0.0, 0.6, 0.0, 0.3995, 0.0005], n_components=2).plot()
    assert [bar.get_x() + bar.get_width() / 2 for bar in display.bars_] == pytest.approx([2, 3, 4])
    assert [bar.get_height() for bar in display.bars_] == [0.6, 0.0, 0.3995]
    colors = [to_hex(bar.get_facecolor()).upper() for bar in display.bars_]
    assert colors[0] != GREY
    assert colors[1:] == [GREY, GREY]
    assert display.ax_.get_xlabel() == "number of components"


@pytest.mark.parametrize(
    ("n_samples", "heights", "label"),
    [
        (None, [0.25, 0.75], "posterior probability"),
        (100, [0.25, 0.75], "posterior probability"),
        (96, [24.0, 72.0], "kept sweeps, of 96"),
    ],
)
def test_few_samples_are_counted(n_samples, heights, label):
    display = ComponentCountDisplay([0.0, 0.25, 0.75], n_samples=n_samples).plot()
    assert [bar.get_height() for bar in display.bars_] == heights
    assert display.ax_.get_ylabel() == label
    with pytest.raises(ValueError, match="n_samples must be an integer >= 1"):
        ComponentCountDisplay([1.0], n_samples=0)


def test_from_estimator():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, 0.5, (20, 2)) for m in (0, 6)])
    model = DPMixture(max_iter=100, random_state=0).fit(X)
    ax = plt.figure().add_subplot()
    display = ComponentCountDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    assert display.n_components == model.n_components_ == 2
    np.testing.assert_array_equal(display.probabilities, model.n_components_distribution_)
    with pytest.raises(NotFittedError):
        ComponentCountDisplay.from_estimator(DPMixture())


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (HDPTopicModel(max_iter=6, random_state=0), [[[0, 1, 0]], [[2, 3, 2]]] * 4),
        (IBPLatentFeatures(max_iter=6, random_state=0), np.eye(9)[:, :3]),
    ],
    ids=["topics", "features"],
)
def test_topics_and_features(model, X):
    model.fit(X)
    display = ComponentCountDisplay.from_estimator(model)
    assert display.n_components == model.n_components_
    heights = {round(bar.get_x() + 0.4): bar.get_height() for bar in display.bars_}
    n_sweeps = model.trace_["log_joint"].size
    for k, probability in enumerate(model.n_components_distribution_):
        assert heights.get(k, 0.0) == pytest.approx(n_sweeps * probability)
    assert display.ax_.get_ylabel() == f"kept sweeps, of {n_sweeps}"


def test_states_in_use():
    X = np.random.default_rng(0).normal(np.repeat([0.0, 8.0, 0.0], 20))[:, np.newaxis]
    model = HDPHMMLT(4, max_iter=20, random_state=0)
    with pytest.raises(NotFittedError):
        ComponentCountDisplay.from_estimator(model)
    display = ComponentCountDisplay.from_estimator(model.fit(X))
    numbers = np.asarray(model.trace_["n_active_components"]).ravel()
    for k, probability in enumerate(display.probabilities):
        assert probability == pytest.approx(np.mean(numbers == k))
    assert display.n_components == np.sum(model.state_shares_ >= 1e-3)


def test_models_with_a_given_number():
    model = GibbsLDA(2, max_iter=4, random_state=0)
    with pytest.raises(NotFittedError):
        ComponentCountDisplay.from_estimator(model)
    with pytest.raises(TypeError, match="number of components, got a fitted GibbsLDA"):
        ComponentCountDisplay.from_estimator(model.fit(np.eye(4, dtype=int)))


@pytest.mark.parametrize("probabilities", [[0.5, 0.4], [-0.5, 1.5], [], [[1.0]], ["a"]])
def test_bad_probabilities(probabilities):
    with pytest.raises(ValueError, match="probabilities"):
        ComponentCountDisplay(probabilities)


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"ComponentCountDisplay\.plot needs matplotlib"):
        ComponentCountDisplay([1.0]).plot()
