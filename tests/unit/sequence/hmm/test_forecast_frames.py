"""Forecasts of data frames: the index continues, the numbers are those of the arrays."""

import numpy as np
import pandas as pd
import pytest

from skdp.sequence import HDPHMMLT
from skdp.sequence._hmm._forecast_frames import continue_index

RNG = np.random.default_rng(0)
VALUES = np.repeat([[0.0, 3.0], [6.0, 9.0]], 20, axis=0) + RNG.normal(size=(40, 2))


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (pd.date_range("2024-01-31", periods=5, freq="ME"), ["2024-06-30", "2024-07-31"]),
        (
            pd.DatetimeIndex(["2024-03-01", "2024-03-04", "2024-03-07"]),
            ["2024-03-10", "2024-03-13"],
        ),
        (pd.date_range("2024-01-04", periods=4, freq="B"), ["2024-01-10", "2024-01-11"]),
    ],
)
def test_dates(index, expected):
    assert continue_index(index, 2).tolist() == [pd.Timestamp(date) for date in expected]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (pd.RangeIndex(40), [40, 41]),
        (pd.Index([2, 5, 8]), [11, 14]),
        (pd.Index([2, 5, 9]), [1, 2]),
        (pd.Index([3]), [4, 5]),
        (pd.Index([7, 7, 7]), [1, 2]),
        (pd.Index(["a", "b"]), [1, 2]),
        (pd.Index([0.5, 1.0]), [1, 2]),
        (pd.DatetimeIndex(["2024-03-01", "2024-03-04", "2024-03-20"]), [1, 2]),
        (pd.DatetimeIndex(["2024-03-01"]), [1, 2]),
    ],
)
def test_numbers(index, expected):
    assert continue_index(index, 2).tolist() == expected


def test_periods_and_durations():
    quarters = pd.period_range("2024Q1", periods=3, freq="Q")
    assert [str(period) for period in continue_index(quarters, 2)] == ["2024Q4", "2025Q1"]
    hours = pd.timedelta_range("0h", periods=3, freq="h")
    assert continue_index(hours, 1)[0] == pd.Timedelta("3h")


def test_frames():
    frame = pd.DataFrame(VALUES, pd.date_range("2024-01-01", periods=40), ["a", "b"])
    model = HDPHMMLT(4, stickiness=10.0, max_iter=30, random_state=0).fit(frame)
    found = model.forecast(frame, 3, [0.05, 0.95])
    assert found.frame.index[0] == pd.Timestamp("2024-02-10")
    for d, name in enumerate("ab"):
        assert np.array_equal(found.frame[name, "mean"], found.mean[:, d])
        assert np.array_equal(found.frame[name, "sd"], found.sd[:, d])
        assert np.array_equal(found.frame[name, 0.95], found.quantiles[:, d, 1])
    both = model.forecast([frame, frame[:20]], 2)
    assert [len(part) for part in both.frame] == [2, 2]
    assert both.frame[1].index[0] == pd.Timestamp("2024-01-21")
    with pytest.warns(UserWarning, match="feature names"):
        assert "frame" not in model.forecast(VALUES, 3)


def test_symbols():
    frame = pd.DataFrame({"letter": list("abcabcabc")})
    model = HDPHMMLT(3, emission="categorical", max_iter=10, random_state=0).fit(frame)
    found = model.forecast(frame, 2)
    assert found.frame.columns.tolist() == ["a", "b", "c"]
    assert found.frame.index.tolist() == [9, 10]
    assert np.array_equal(found.frame, found.proba)
