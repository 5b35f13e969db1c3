import importlib.util

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from skdp.inspection import ForecastDisplay
from skdp.sequence import HDPHMMLT

DATES = pd.date_range("2024-01-01", periods=60, freq="MS")
RNG = np.random.default_rng(0)
VALUES = np.column_stack([np.repeat([0.0, 5.0], 30), np.repeat([3.0, 9.0], 30)])
FRAME = pd.DataFrame(VALUES + RNG.normal(size=(60, 2)), DATES, ["heat", "load"])


@pytest.fixture(scope="module")
def model():
    return HDPHMMLT(4, stickiness=10.0, max_iter=40, random_state=0).fit(FRAME)


def test_from_estimator(model):
    display = ForecastDisplay.from_estimator(
        model, FRAME, 6, column="load", interval=0.8, n_past=20
    )
    found = model.forecast(FRAME, 6, [0.1, 0.9])
    assert np.array_equal(display.mean, found.mean[:, 1])
    np.testing.assert_allclose(display.lower, found.quantiles[:, 1, 0])
    np.testing.assert_allclose(display.upper, found.quantiles[:, 1, 1])
    assert np.array_equal(display.history, FRAME["load"][-20:])
    assert display.times[19] == np.datetime64("2028-12-01")
    assert display.times[20] == np.datetime64("2029-01-01")
    assert display.ax_.get_ylabel() == "load"
    assert np.array_equal(display.lines_[0].get_ydata(), display.history)
    assert np.array_equal(display.lines_[1].get_ydata(), display.mean)
    corners = display.band_.get_paths()[0].vertices
    assert corners[:, 1].min() == display.lower.min()
    assert corners[:, 1].max() == display.upper.max()


@pytest.mark.parametrize(
    ("index", "is_dated"),
    [
        (DATES.to_period("M"), True),
        (DATES.tz_localize("Europe/Berlin"), True),
        (DATES[:30].append(DATES[30:] + pd.Timedelta(days=3)), False),
        (pd.RangeIndex(10, 130, 2), False),
        (pd.Index([f"s{i}" for i in range(60)]), False),
    ],
    ids=["periods", "zone", "irregular", "numbers", "text"],
)
def test_indices(model, index, is_dated):
    display = ForecastDisplay.from_estimator(model, FRAME.set_axis(index), 3)
    assert (display.times.dtype.kind == "M") == is_dated
    assert len(display.times) == 63


def test_other_containers(model):
    with pytest.warns(UserWarning, match="feature names"):
        found = [ForecastDisplay.from_estimator(model, FRAME.to_numpy(), 2, column=np.int64(-1))]
    if importlib.util.find_spec("polars"):
        import polars as pl

        found.append(ForecastDisplay.from_estimator(model, pl.DataFrame(FRAME), 2, column=1))
    for display in found:
        assert display.times.tolist() == list(range(62))
        assert display.history[-1] == FRAME["load"].iloc[-1]


def test_alone():
    ax = plt.figure().add_subplot()
    display = ForecastDisplay([1.0], [0.0], [2.0], name="$x$").plot(ax)
    assert display.ax_ is ax
    assert ax.get_xlabel() == "step"
    assert len(display.lines_[0].get_xdata()) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [2.0], [1.0]), "lower must not exceed upper"),
        (([1.0], [0.0], [1.0, 2.0]), "must have the same length"),
        (([], [], []), "at least 1"),
    ],
)
def test_bad_arrays(arguments, message):
    with pytest.raises(ValueError, match=message):
        ForecastDisplay(*arguments)


def test_bad_times():
    with pytest.raises(ValueError, match="a time for each of the 2 steps"):
        ForecastDisplay([1.0], [0.0], [2.0], history=[1.0], times=[0])


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"interval": 1.0}, ValueError, "interval must be between 0 and 1"),
        ({"column": "cold"}, ValueError, "column 'cold' is not one column of X"),
        ({"column": 2}, ValueError, "column must be below 2"),
        ({"column": 0.5}, TypeError, "column must be a number or a name"),
        ({"n_past": -1}, ValueError, "n_past must be an integer"),
    ],
)
def test_bad_arguments(model, arguments, kind, message):
    with pytest.raises(kind, match=message):
        ForecastDisplay.from_estimator(model, FRAME, 2, **arguments)


def test_several_sequences(model):
    with pytest.raises(ValueError, match="X must be one sequence"):
        ForecastDisplay.from_estimator(model, [FRAME], 2)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        ForecastDisplay.from_estimator(HDPHMMLT(), FRAME, 2)
