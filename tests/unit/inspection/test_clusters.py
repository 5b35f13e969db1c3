import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from sklearn.exceptions import NotFittedError

from skdp.inspection import ClusterDisplay
from skdp.inspection._axes import GREY
from skdp.mixture import DPMixture, HDPMixture

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(m, 0.5, (30, 2)) for m in (0, 6)])
FRAME = pd.DataFrame(X, columns=["$a$", "b_1"])


@pytest.fixture(scope="module")
def model():
    return DPMixture(max_iter=20, random_state=0).fit(FRAME)


def test_rows_by_cluster():
    display = ClusterDisplay(X[:4], [2, 0, 2, 2]).plot()
    assert display.contours_ is None
    assert [dots.get_offsets().tolist() for dots in display.points_] == [
        X[[1]].tolist(),
        X[[0, 2, 3]].tolist(),
    ]
    assert [t.get_text() for t in display.legend_.get_texts()] == ["0 (1 row)", "2 (3 rows)"]
    assert display.ax_.get_ylabel() == "column 1"


def test_more_clusters_than_colors():
    display = ClusterDisplay(X[:25], np.arange(25)).plot()
    assert len(display.points_) == 21
    assert to_hex(display.points_[-1].get_facecolor()[0]).upper() == GREY
    assert len(display.points_[-1].get_offsets()) == 5
    assert display.legend_.get_texts()[-1].get_text() == "5 others (5 rows)"


def test_lines_enclose_their_share(model):
    """Half of the draws from the density are within the innermost line."""
    display = ClusterDisplay.from_estimator(model, FRAME, masses=[0.9, 0.5])
    low, high = display.contours_.levels
    draws = pd.DataFrame(model.sample(4000, random_state=0), columns=FRAME.columns)
    density = np.exp(model.score_samples(draws))
    assert np.mean(density > high) == pytest.approx(0.5, abs=0.05)
    assert np.mean(density > low) == pytest.approx(0.9, abs=0.03)


def test_from_estimator(model):
    ax = plt.figure().add_subplot()
    display = ClusterDisplay.from_estimator(model, FRAME, ax=ax)
    assert display.ax_ is ax
    np.testing.assert_array_equal(display.labels, model.predict(FRAME))
    assert display.column_names == ["$a$", "b_1"]
    x, y, density = display.grid
    at = pd.DataFrame([[x[3], y[7]]], columns=FRAME.columns)
    assert density[7, 3] == pytest.approx(np.exp(model.score_samples(at)[0]))
    display.figure_.canvas.draw()  # a name with dollars is no formula
    turned = ClusterDisplay.from_estimator(model, FRAME, columns=(1, 0), labels=np.arange(60) % 2)
    np.testing.assert_array_equal(turned.grid[2], density.T)
    np.testing.assert_array_equal(turned.points, X[:, ::-1])
    np.testing.assert_array_equal(turned.labels, np.arange(60) % 2)


def test_more_columns_have_no_lines():
    wide = np.column_stack([X, X[:, 0] ** 2])
    model = DPMixture(max_iter=6, random_state=0).fit(wide)
    display = ClusterDisplay.from_estimator(model, wide, columns=(2, 0))
    assert display.grid is None
    assert display.column_names == ["column 2", "column 0"]
    with pytest.raises(ValueError, match="columns must be two numbers of columns, from 0 to 2"):
        ClusterDisplay.from_estimator(model, wide, columns=(0, 3))


def test_a_constant_column_has_a_grid():
    rows = np.column_stack([X[:, 0], np.ones(60)])
    model = DPMixture(max_iter=6, random_state=0).fit(rows)
    display = ClusterDisplay.from_estimator(model, rows)
    assert display.grid[1][0] < 1.0 < display.grid[1][-1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ClusterDisplay([[0.0]], [0]), "points must have two columns"),
        (lambda: ClusterDisplay([[0.0, 1.0]], [0, 1]), "labels must have shape"),
        (lambda: ClusterDisplay([[0.0, 1.0]], [0], grid=([0], [1])), "grid must be"),
        (
            lambda: ClusterDisplay([[0.0, 1.0]], [0], grid=([0, 1], [1], [[1.0]])),
            r"density of grid must have shape \(1, 2\)",
        ),
        (lambda: ClusterDisplay([[0.0, 1.0]], [0], column_names=["a"]), "column_names must hold 2"),
        (lambda: ClusterDisplay([[0.0, 1.0]], [0]).plot(masses=[1.0]), "masses must be"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_groups_have_no_common_density():
    groups = [np.random.default_rng(0).normal(size=(9, 2))] * 2
    mixture = HDPMixture(max_iter=4, random_state=0).fit(groups)
    with pytest.raises(TypeError, match=r"got HDPMixture.*ClusterDisplay\(points, labels\)"):
        ClusterDisplay.from_estimator(mixture, groups[0])


def test_not_fitted():
    with pytest.raises(NotFittedError):
        ClusterDisplay.from_estimator(DPMixture(), X)


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"ClusterDisplay\.plot needs matplotlib"):
        ClusterDisplay([[0.0, 1.0]], [0]).plot()
