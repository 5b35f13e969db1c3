import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from skdp.inspection import LowerBoundDisplay

RUNS = [[-90.0, -50.0, -45.0], [-80.0, -60.0], [-70.0, -55.0, -50.0, -46.0]]


class Fitted(BaseEstimator):
    def __init__(self, run=0):
        self.run = run

    def fit(self, X=None, y=None):
        self.lower_bounds_ = np.array(RUNS[self.run])
        return self


def test_runs():
    display = LowerBoundDisplay(RUNS).plot()
    assert display.best_ == 0
    for line, bounds in zip(display.lines_, RUNS, strict=True):
        assert line.get_xdata().tolist() == list(range(1, len(bounds) + 1))
        assert line.get_ydata().tolist() == bounds
    colors = [to_hex(line.get_color()) for line in display.lines_]
    assert colors[1] == colors[2] != colors[0]
    assert display.legend_ is None
    assert display.ax_.get_xlabel() == "iteration"
    assert display.ax_.get_ylabel() == "lower bound"


def test_names():
    display = LowerBoundDisplay(RUNS, names=["a", "b", "c"]).plot()
    assert [text.get_text() for text in display.legend_.get_texts()] == ["a", "b", "c"]
    assert len({line.get_color() for line in display.lines_}) == 3


def test_gap():
    display = LowerBoundDisplay(RUNS).plot(kind="gap")
    assert display.ax_.get_yscale() == "log"
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), [45.0, 5.0, np.nan])
    np.testing.assert_array_equal(display.lines_[2].get_ydata(), [25.0, 10.0, 5.0, 1.0])


@pytest.mark.parametrize("bounds", [RUNS[0], np.array(RUNS[0]), [RUNS[0]], np.array([RUNS[0]])])
def test_one_run(bounds):
    display = LowerBoundDisplay(bounds)
    assert len(display.lower_bounds) == 1
    assert display.lower_bounds[0].tolist() == RUNS[0]


def test_from_estimator():
    fitted = [Fitted(i).fit() for i in range(3)]
    ax = plt.figure().add_subplot()
    display = LowerBoundDisplay.from_estimator(fitted[2], ax=ax)
    assert display.ax_ is ax
    assert display.lines_[0].get_ydata().tolist() == RUNS[2]
    display = LowerBoundDisplay.from_estimator(fitted[1:], names=["b", "c"], kind="gap")
    assert display.best_ == 1
    with pytest.raises(NotFittedError):
        LowerBoundDisplay.from_estimator([fitted[0], clone(fitted[0])])


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([], "must hold the bounds of at least one fit"),
        ([RUNS[0], []], "lower_bounds of fit 1 must be a 1-D array of numbers, at least one"),
        ([[RUNS[0]]], "lower_bounds of fit 0 must be a 1-D array"),
        ([1.0, np.inf], "lower_bounds of fit 0 must be finite"),
        (["a"], "lower_bounds of fit 0 must be a 1-D array"),
    ],
)
def test_bad_bounds(bounds, message):
    with pytest.raises(ValueError, match=message):
        LowerBoundDisplay(bounds)


def test_bad_arguments():
    with pytest.raises(ValueError, match="names must hold 3 names, got 1"):
        LowerBoundDisplay(RUNS, names=["a"])
    with pytest.raises(ValueError, match="kind must be 'bound' or 'gap', got 'log'"):
        LowerBoundDisplay(RUNS).plot(kind="log")


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"LowerBoundDisplay\.plot needs matplotlib"):
        LowerBoundDisplay(RUNS).plot()
