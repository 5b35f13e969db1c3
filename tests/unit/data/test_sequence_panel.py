"""Panels of sequences, from sequences and from data frames, and the names of their columns."""

import copy
import pickle
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.preprocessing import StandardScaler

from skdp.data import SequencePanel, concatenate
from skdp.preprocessing import PanelTransformer

make, from_frame = SequencePanel.from_sequences, SequencePanel.from_frame

FRAME = pd.DataFrame(
    {
        "who": ["b", "a", "b", "a", "b"],
        "run": [1, 1, 1, 2, 2],
        "day": pd.to_datetime([f"2024-05-0{d}" for d in (8, 2, 1, 1, 9)]),
        "x": [1, 2, 3, 4, 5],
        "y": [0.5, np.nan, 1.5, 2.5, 3.5],
    },
    index=[7, 7, 3, 1, 0],  # which says nothing
)


def test_arrays():
    """Rows follow one another whatever the arrays' layout; one dimension is one column."""
    panel = make([np.zeros((2, 3), order="F"), np.ones((1, 3), dtype=np.float32)])
    assert panel.values.tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 1]]
    assert panel.values.dtype == np.float64
    assert panel.values.flags.c_contiguous
    assert panel.ptr.tolist() == [0, 2, 3]
    assert panel.shape == (2, 3)
    assert panel == SequencePanel(panel.values, [0, 2, 3])
    panel = make([[1, 2, 3], np.array([4])])
    assert panel.shape == (2, 1)
    assert panel[0].tolist() == [[1], [2], [3]]
    assert panel == SequencePanel([1, 2, 3, 4], [0, 3, 4])
    assert make([[], [1.0]])[0].shape == (0, 1)


def test_rows_of_a_frame_are_grouped_and_sorted():
    """Sequences are in the order of their first rows; columns are all others."""
    before = FRAME.copy()
    panel = from_frame(FRAME, by="who", time="day", columns=["y", "x"])
    assert panel == make([[[1.5, 3], [0.5, 1], [3.5, 5]], [[2.5, 4], [np.nan, 2]]])
    assert panel.values.flags.c_contiguous
    assert not panel.values.flags.writeable
    pd.testing.assert_frame_equal(FRAME, before)
    expected = [[[3, 1.5], [1, 0.5]], [[2, np.nan]], [[4, 2.5]], [[5, 3.5]]]
    assert from_frame(FRAME, by=["who", "run"], time="day") == make(expected)
    in_order = from_frame(FRAME, by="who", columns=["x"])
    assert [sequence.ravel().tolist() for sequence in in_order] == [[1, 3, 5], [2, 4]]
    assert from_frame(FRAME[:0], by="who", time="day", columns=["x", "y"]).shape == (0, 2)
    numbered = pd.DataFrame([[0, 1.0], [1, 2.0], [0, 3.0]])  # names that are no text
    assert from_frame(numbered, by=0).ptr.tolist() == [0, 2, 3]


def test_frames_of_polars():
    """With missing numbers, text and dates."""
    days = [date(2025, 1, day) for day in (3, 1, 2, 1, 2)]
    columns = {"who": list("babba"), "day": days, "x": [1, None, 3, 4, 5], "y": [0.5, 2.0, 1, 2, 3]}
    panel = from_frame(pl.DataFrame(columns), by="who", time="day")
    assert panel == make([[[4, 2.0], [3, 1.0], [1, 0.5]], [[np.nan, 2.0], [5, 3.0]]])
    assert panel.feature_names.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    "time", [[3, 1, 2**53 + 1, 2**53], [f"2024-01-0{day}" for day in (3, 1, 5, 4)]]
)
def test_times_of_any_kind(time):
    frame = pd.DataFrame({"k": [0] * 4, "t": time, "x": range(4)})
    assert from_frame(frame, by="k", time="t").values.ravel().tolist() == [1, 0, 3, 2]


def test_kinds_of_columns():
    frame = pd.DataFrame(
        {
            "k": pd.Categorical(["u", "u", "w"], categories=["w", "v", "u"]),
            "a": pd.array([1, None, 3], dtype="Int64"),
            "b": [True, False, True],
            "c": pd.array([0.5, 1.5, None], dtype="Float32"),
        }
    )
    expected = [[[1, 1, 0.5], [np.nan, 0, 1.5]], [[3, 1, np.nan]]]
    assert from_frame(frame, by="k") == make(expected)


@pytest.mark.parametrize("of_index", [["who"], ["who", "day"], ["day", "x"], ["day"], ["run"]])
def test_levels_of_the_index(of_index):
    """An index with names does what columns do, alone or among the keys."""
    by = ["who", "run"] if of_index == ["run"] else ["who"]
    rest = [name for name in ("x", "y") if name not in of_index]
    frame = FRAME[[*dict.fromkeys([*by, "day", "x", "y"])]]
    expected = from_frame(frame[[*by, "day", *rest]], by=by, time="day")
    indexed = frame.set_index(of_index)
    before = indexed.copy()
    assert from_frame(indexed, by=by if len(by) > 1 else by[0], time="day") == expected
    assert from_frame(indexed, by=iter(by), time="day") == expected
    pd.testing.assert_frame_equal(indexed, before)


def panel_of(*columns):
    return from_frame(FRAME, by="who", time="day", columns=list(columns))


def test_names_of_columns():
    """They come from frames and stay with the panel; panels are equal without them."""
    panel = panel_of("x", "y")
    frames = [FRAME[["x", "y"]], FRAME[["x", "y"]][:2]]
    others = [panel[:1], panel[[1]], panel[[True, False]], concatenate([panel, panel[1:]])]
    others += [copy.deepcopy(panel), pickle.loads(pickle.dumps(panel)), make(frames)]
    for other in [panel, *others]:
        assert other.feature_names.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="read-only"):
        panel.feature_names[0] = "z"
    assert panel == SequencePanel(panel.values, panel.ptr)
    assert SequencePanel(np.zeros((2, 2)), [0, 2]).feature_names is None
    numbered = pd.DataFrame({"k": [0, 0], 1: [2.0, 3.0]})
    assert from_frame(numbered, by="k").feature_names is None


def test_estimators_check_names():
    panel = panel_of("x", "y")
    scaler = PanelTransformer(StandardScaler()).fit(panel)
    assert scaler.feature_names_in_.tolist() == ["x", "y"]
    assert scaler.transform(panel).feature_names.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="feature names should match"):
        scaler.transform(panel_of("y", "x"))
    assert scaler.transform([FRAME[["x", "y"]]])[0].columns.tolist() == ["x", "y"]
