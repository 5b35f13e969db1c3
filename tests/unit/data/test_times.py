"""Faults of an index are found, and ordinary ones are not; indexes go on with their own step."""

import numpy as np
import pandas as pd
import pytest

from skdp.data import SequencePanel
from skdp.data._frames import continue_index, find_counter, find_fault, find_fault_of_frames
from skdp.mixture import DPMixture, HDPMixture
from skdp.preprocessing import WindowFeatures
from skdp.sequence import HDPHMMLT, RegressionEmission

DAYS = pd.date_range("2024-01-01", periods=60)
HOURS = pd.date_range("2024-03-30", periods=60, freq="h", tz="Europe/Berlin")  # an hour is skipped
TRADING = pd.bdate_range("2024-01-01", periods=60)
SHUFFLED = np.random.default_rng(0).permutation(60)


def periods(*months):
    return pd.PeriodIndex(months, freq="M")


MONTHS = pd.period_range("2024-01", periods=8, freq="M")
TWO_MONTHS = pd.period_range("2024-01", periods=7, freq="2M")
JITTER = DAYS + pd.to_timedelta(np.random.default_rng(1).integers(0, 9, 60), "s")

FAULTS = {
    "shuffled": (DAYS[SHUFFLED], "is not in order, row "),
    "newest first": (DAYS[::-1], "descends, with the newest row first"),
    "30 days left out": (DAYS.delete(slice(20, 50)), "1 step.* the first after 2024-01-20"),
    "one hour left out": (HOURS.delete(7), "has 1 step"),
    "twice": (DAYS.insert(3, DAYS[2]), "has a time twice, 2024-01-03"),
    "unknown": (DAYS.insert(3, pd.NaT), "has NaT in row 3"),
    "periods shuffled": (
        pd.period_range("2020-01", periods=60, freq="M")[SHUFFLED],
        "not in order",
    ),
    "months left out": (pd.period_range("2020-01", periods=60, freq="M").delete([7, 8]), "1 step"),
    "numbers shuffled": (pd.Index(SHUFFLED), "is not in order"),
    "numbers descending": (pd.RangeIndex(60, 0, -1), "descends"),
    "durations": (pd.timedelta_range("0s", periods=60, freq="s").delete(5), "has 1 step"),
    "days as texts, sorted as texts": (
        pd.Index(sorted(DAYS.strftime("%d.%m.%Y"))),
        r"texts \(pandas.to_datetime.* is not in order, row 2 ",
    ),
    "times as texts": (pd.Index(DAYS[SHUFFLED].strftime("%Y-%m-%d %H:%M")), "texts .* in order"),
    "weeks without trade": (TRADING.delete(slice(20, 30)), "has 1 step"),
    "seconds in fractions": (pd.Index(SHUFFLED / 10), "is not in order"),
    "unknown number": (pd.Index([0, None, 2], dtype="Int64"), "has NaN in row 1"),
    "dates without hours": (pd.Index(DAYS.date)[SHUFFLED], "is not in order"),
    "times as objects": (pd.Index(DAYS.astype(object))[SHUFFLED], "is not in order"),
    "times as categories": (pd.CategoricalIndex(DAYS[SHUFFLED]), "is not in order"),
    "American texts": (pd.Index(DAYS.strftime("%m/%d/%Y"))[SHUFFLED], "texts .* in order"),
    "British texts": (pd.Index(DAYS.strftime("%d/%m/%Y"))[SHUFFLED], "texts .* in order"),
    "days of two keys": (
        pd.MultiIndex.from_product([["a", "b"], DAYS[:30]]),
        r"goes back in row 30, .* SequencePanel.from_frame\(X, by=",
    ),
    "months of years shuffled": (
        pd.MultiIndex.from_product([range(2020, 2025), range(1, 13)])[SHUFFLED],
        r"not in order, row \d+ \(202\d, \d+\) is before",
    ),
}
ORDINARY = {
    "days": DAYS,
    "hours of summer time": HOURS,
    "working days": TRADING,
    "working days and holidays": TRADING.delete([0, 14, 37, 38]),
    "months": pd.date_range("2020-01-31", periods=60, freq="ME"),
    "jitter": JITTER,
    "numbers": pd.RangeIndex(60),
    "numbers from elsewhere": pd.Index(np.arange(60, 120, dtype=np.int8)),
    "two files end to end": pd.Index([*range(30), *range(30)]),
    "names": pd.Index(list("cab")),
    "days as texts": pd.Index(DAYS.strftime("%d.%m.%Y")),
    "texts like dates": pd.Index(["2024-01-31", "2024-01-30", "2024-13-01"]),
    "dates without hours": pd.Index(DAYS.date),
    "British texts": pd.Index(DAYS.strftime("%d/%m/%Y")),
    "days of one key": pd.MultiIndex.from_product([["a"], DAYS]),
    "months of years": pd.MultiIndex.from_product([[2023, 2024], range(1, 13)]),
    "depths": pd.Index(np.arange(60) / 4),
    "one": DAYS[:1],
    "quarters": pd.period_range("2020", periods=9, freq="Q"),
}


@pytest.mark.parametrize(("index", "message"), FAULTS.values(), ids=FAULTS)
def test_faults(index, message):
    frame = pd.DataFrame({"x": np.arange(len(index))}, index=index)
    assert find_fault(index) is not None
    with pytest.warns(UserWarning, match=f"HDPHMMLT: The index of X .*{message}"):
        HDPHMMLT(2, max_iter=2).fit(frame)
    assert find_fault_of_frames([frame.reset_index(drop=True), frame]).startswith(
        "The index of X[1]"
    )


@pytest.mark.parametrize("index", ORDINARY.values(), ids=ORDINARY)
def test_ordinary(index):
    assert find_fault(index) is None
    assert find_fault_of_frames(pd.DataFrame({"x": range(len(index))}, index=index)) is None


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (DAYS, pd.date_range("2024-03-01", periods=3)),
        (DAYS[::-1], pd.date_range("2023-12-31", periods=3, freq="-1D")),
        (TRADING[:5], pd.DatetimeIndex(["2024-01-08", "2024-01-09", "2024-01-10"])),
        (TWO_MONTHS[:4], TWO_MONTHS[4:]),
        (MONTHS[::2], periods("2024-09", "2024-11", "2025-01")),
        (MONTHS[::-1], periods("2023-12", "2023-11", "2023-10")),
        (pd.Index(np.arange(120, 127, dtype=np.int8)), pd.RangeIndex(127, 130)),
        (pd.Index(np.arange(2, dtype=np.uint8)[::-1]), pd.RangeIndex(-1, -4, -1)),
        (pd.Index([0, 3, 6], name="t"), pd.RangeIndex(9, 18, 3, name="t")),
        (DAYS.delete(3), pd.RangeIndex(1, 4, name="step")),
        (MONTHS[[0, 1, 4]], pd.RangeIndex(1, 4, name="step")),
        (pd.Index(list("ab")), pd.RangeIndex(1, 4, name="step")),
        (DAYS[:1], pd.DatetimeIndex(["2024-01-02", "2024-01-03", "2024-01-04"])),
    ],
)  # fmt: skip
def test_continued_indexes(index, expected):
    found = continue_index(index, 3)
    assert type(found) is type(expected)
    assert found.equals(expected)
    assert found.name == expected.name


@pytest.mark.parametrize("key", ["a column", "a level"])
def test_long_frames_out_of_order(key):
    frame = pd.DataFrame({"k": ["a", "b"] * 30, "x": range(60)}, index=DAYS)
    if key == "a level":
        frame = frame.set_index("k", append=True).swaplevel()
    assert len(SequencePanel.from_frame(frame, by="k")) == 2
    with pytest.warns(UserWarning, match="times in the index of frame go back within a sequence"):
        SequencePanel.from_frame(frame[::-1], by="k")


ROWS = np.random.default_rng(0).normal(size=(60, 2))


@pytest.mark.parametrize(
    ("column", "is_counter"),
    [
        (np.arange(60), True),
        (np.arange(60)[::-1] + 1000, True),
        (SHUFFLED, True),
        (np.cumsum(np.arange(60)), True),
        (1_700_000_000 + 60 * np.arange(60), True),
        (np.random.default_rng(0).integers(0, 60, 60), False),
        (np.where(np.arange(60) == 30, np.nan, np.arange(60)), False),
        (1.7e9 + 0.1 * np.arange(60), True),
        (np.arange(60) + np.random.default_rng(0).uniform(0, 0.2, 60), True),
        (np.exp(np.arange(60) / 9), False),
        (np.sort(np.random.default_rng(0).normal(size=60)), False),
        (np.arange(60) % 30 + 0.5, False),
        (np.ones(60), False),
    ],
)
def test_counters(column, is_counter):
    frame = pd.DataFrame({"x": ROWS[:, 0], "y": ROWS[:, 1], "n": column})
    found = find_counter(frame.to_numpy(), np.array([0, 60]))
    assert (found == 2) is is_counter
    assert find_counter(frame[["n"]].to_numpy(), np.array([0, 60])) is None


def test_counters_of_sequences():
    """A counter of steps may begin again with each sequence."""
    values = np.column_stack([ROWS[:, 0], np.tile(np.arange(30), 2)])
    assert find_counter(values, np.array([0, 30, 60])) == 1
    assert find_counter(values, np.array([0, 60])) is None
    with pytest.warns(UserWarning, match="HDPMixture: column 1 of X numbers the rows"):
        HDPMixture(max_iter=2).fit([values[:30], values[30:]])


def test_faults_of_windows():
    frame = pd.DataFrame({"x": ROWS[:, 0], "t": np.arange(60)}, index=DAYS[::-1])
    with pytest.warns(UserWarning, match="WindowFeatures: The index of X descends"):
        WindowFeatures(8).fit_transform(frame[["x"]])
    with pytest.warns(UserWarning, match="WindowFeatures: column 't' of X numbers the rows"):
        WindowFeatures(8).fit(frame[::-1])


def test_counters_that_are_meant():
    """A trend may be an input of a regression; rows of a table may be in any order of dates."""
    frame = pd.DataFrame({"y": ROWS[:, 0], "trend": np.arange(60.0)})
    HDPHMMLT(2, emission=RegressionEmission(targets="y"), max_iter=2).fit(frame)
    DPMixture(max_iter=2).fit(pd.DataFrame(ROWS, index=DAYS[SHUFFLED]))
    with pytest.warns(UserWarning, match="DPMixture: column 'trend' of X numbers the rows"):
        DPMixture(max_iter=2).fit(frame)
