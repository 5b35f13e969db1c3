import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from skdp.inspection import FactorDisplay

FACTORS = np.array([[0, 0, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]])
SHARES = np.array([0.2, 0.0, 0.5, 0.3])


class Known(BaseEstimator):
    """Like a fitted model of binary factors."""

    def __init__(self, binary=True):
        self.binary = binary

    def fit(self, X=None, y=None):
        self.state_shares_ = SHARES
        if self.binary:
            self.factors_ = FACTORS
        return self


def ticks_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_from_estimator():
    display = FactorDisplay.from_estimator(Known().fit(), factor_names=["x", "y", "z"])
    assert display.states_.tolist() == [2, 3, 0]
    np.testing.assert_array_equal(display.image_.get_array(), FACTORS[[2, 3, 0]])
    assert display.image_.get_clim() == (0.0, 1.0)
    assert ticks_of(display.ax_.yaxis) == ["2", "3", "0"]
    assert ticks_of(display.ax_.xaxis) == ["x", "y", "z"]
    assert display.ax_.get_xlabel() == "factor"
    assert display.ax_.get_ylabel() == "state"
    assert display.figure_ is display.ax_.figure


def test_bars():
    display = FactorDisplay(FACTORS, SHARES).plot()
    widths = np.array([bar.get_width() for bar in display.bars_])
    np.testing.assert_allclose(widths / widths[0], [1.0, 0.6, 0.4])
    for row, bar in enumerate(display.bars_):
        assert bar.get_y() + bar.get_height() / 2 == pytest.approx(row)
        assert bar.get_x() > 2.5  # right of the matrix
    texts = [text.get_text().strip() for text in display.ax_.texts]
    assert texts == ["50.0 %", "30.0 %", "20.0 %", "share of time"]


def test_without_shares():
    display = FactorDisplay(FACTORS).plot()
    assert display.states_.tolist() == [0, 1, 2, 3]
    assert display.bars_ is None
    assert display.ax_.get_xlim() == (-0.5, 2.5)


def test_given_states():
    display = FactorDisplay(FACTORS, SHARES).plot(states=[1, 0], cmap="Greys")
    np.testing.assert_array_equal(display.image_.get_array(), FACTORS[[1, 0]])
    assert display.bars_[0].get_width() == 0.0
    assert display.image_.get_cmap().name == "Greys"
    display = FactorDisplay(FACTORS, SHARES).plot(states=[1])  # no time at all
    display.figure_.canvas.draw()


@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (120, 4)])
def test_texts_stay_in_the_figure(shape):
    rng = np.random.default_rng(0)
    display = FactorDisplay(rng.integers(2, size=shape), rng.dirichlet(np.ones(shape[0]))).plot()
    assert max(display.figure_.get_size_inches()) < 14
    display.figure_.canvas.draw()
    texts = [*display.ax_.texts, display.ax_.xaxis.label, display.ax_.yaxis.label]
    for box in (text.get_window_extent() for text in texts):
        assert display.figure_.bbox.padded(1).contains(box.x0, box.y0)
        assert display.figure_.bbox.padded(1).contains(box.x1, box.y1)


def test_given_axes():
    figure, ax = plt.subplots(layout="constrained")
    before = plt.get_fignums()
    display = FactorDisplay(FACTORS, SHARES)
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"factors": FACTORS[0]}, "factors must be a 2-D array"),
        ({"factors": 2 * FACTORS}, r"factors must hold numbers in \[0, 1\]"),
        ({"shares": SHARES[:2]}, "shares must hold 4 numbers"),
        ({"shares": 2 * SHARES}, "shares must be non-negative, with a sum of 1"),
        ({"factor_names": ["a"]}, "factor_names must hold 3 names"),
    ],
)
def test_invalid_arrays(arguments, message):
    with pytest.raises(ValueError, match=message):
        FactorDisplay(**{"factors": FACTORS, **arguments})


def test_invalid_states():
    before = plt.get_fignums()
    with pytest.raises(ValueError, match="states must hold different integers from 0 to 3"):
        FactorDisplay(FACTORS).plot(states=[4])
    assert plt.get_fignums() == before


def test_states_without_factors():
    with pytest.raises(ValueError, match="The states of Known have no factors"):
        FactorDisplay.from_estimator(Known(binary=False).fit())


def test_unfitted():
    with pytest.raises(NotFittedError):
        FactorDisplay.from_estimator(clone(Known().fit()))


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"FactorDisplay\.plot needs matplotlib"):
        FactorDisplay(FACTORS).plot()
    with pytest.raises(ImportError, match=r"pip install skdp\[plot\]"):
        FactorDisplay.from_estimator(Known().fit())
