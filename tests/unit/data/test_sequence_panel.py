import copy
import pickle
from datetime import date

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from skdp.data import SequencePanel, concatenate
from skdp.preprocessing import PanelTransformer


def test_arrays():
    panel = SequencePanel.from_sequences([np.zeros((2, 3)), np.ones((1, 3), dtype=np.float32)])
    assert panel.values.tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 1]]
    assert panel.values.dtype == np.float64
    assert panel.ptr.tolist() == [0, 2, 3]
    assert panel.shape == (2, 3)
    assert panel == SequencePanel(panel.values, [0, 2, 3])


def test_layout_is_that_of_rows():
    panel = SequencePanel.from_sequences([np.zeros((3, 2), order="F"), np.ones((2, 2), order="F")])
    assert panel.values.flags.c_contiguous


def test_one_dimension():
    panel = SequencePanel.from_sequences([[1, 2, 3], np.array([4])])
    assert panel.shape == (2, 1)
    assert panel[0].tolist() == [[1], [2], [3]]
    assert panel == SequencePanel([1, 2, 3, 4], [0, 3, 4])
    assert SequencePanel.from_sequences([[], [1.0]])[0].shape == (0, 1)


def test_float64_is_not_copied():
    values = np.zeros((3, 2))
    assert np.shares_memory(SequencePanel(values, [0, 3]).values, values)


@pytest.mark.parametrize(
    ("sequences", "message"),
    [
        ([np.zeros((2, 2)), np.zeros((2, 3))], "sequence 1 has 3 features, but sequence 0 has 2"),
        ([np.zeros((2, 2)), np.zeros((1, 2, 2))], "sequence 1: must be a"),
        ([np.zeros(2), 1.0], "sequence 1: must be a"),
        ([["a"]], "sequence 0: must be a.*real numbers"),
        ([[1j]], "sequence 0: must be a.*real numbers"),
        ([[[1, 2], [3]]], "sequence 0: must be a"),
        ([], "no sequences"),
    ],
)
def test_bad_sequences(sequences, message):
    with pytest.raises(ValueError, match=message):
        SequencePanel.from_sequences(sequences)


def test_bad_arrays():
    with pytest.raises(ValueError, match="ptr must rise from 0 to 3, the number of observations"):
        SequencePanel(np.zeros((3, 1)), [0, 2])
    with pytest.raises(ValueError, match="values: must be a"):
        SequencePanel(np.zeros((3, 1, 1)), [0, 3])


class TestFromFrame:
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

    def test_rows_are_grouped_and_sorted(self):
        panel = SequencePanel.from_frame(self.FRAME, by="who", time="day", columns=["y", "x"])
        first, second = [[1.5, 3], [0.5, 1], [3.5, 5]], [[2.5, 4], [np.nan, 2]]
        assert panel == SequencePanel.from_sequences([first, second])
        assert panel.values.flags.c_contiguous
        keys = [key for key, _ in self.FRAME.groupby("who", sort=False)]
        assert keys == ["b", "a"]

    def test_other_data_frames(self):
        """Missing numbers, text and dates of polars."""
        pl = pytest.importorskip("polars")
        days = [date(2025, 1, day) for day in (3, 1, 2, 1, 2)]
        frame = pl.DataFrame(
            {"who": list("babba"), "day": days, "x": [1, None, 3, 4, 5], "y": [0.5, 2.0, 1, 2, 3]}
        )
        panel = SequencePanel.from_frame(frame, by="who", time="day")
        expected = [[4, 2.0], [3, 1.0], [1, 0.5]], [[np.nan, 2.0], [5, 3.0]]
        assert panel == SequencePanel.from_sequences(expected)
        assert panel.feature_names.tolist() == ["x", "y"]
        with pytest.raises(ValueError, match="by: column 'who' has a missing value in row 1"):
            SequencePanel.from_frame(pl.DataFrame({"who": ["a", None], "x": [1, 2]}), by="who")
        with pytest.raises(ValueError, match="column 'z' must hold numbers"):
            SequencePanel.from_frame(pl.DataFrame({"who": ["a"], "z": ["b"]}), by="who")

    def test_columns_are_all_others(self):
        panel = SequencePanel.from_frame(self.FRAME, by=["who", "run"], time="day")
        expected = [[[3, 1.5], [1, 0.5]], [[2, np.nan]], [[4, 2.5]], [[5, 3.5]]]
        assert panel == SequencePanel.from_sequences(expected)

    def test_without_time_rows_keep_their_order(self):
        panel = SequencePanel.from_frame(self.FRAME, by="who", columns=["x"])
        assert [sequence.ravel().tolist() for sequence in panel] == [[1, 3, 5], [2, 4]]

    @pytest.mark.parametrize(
        "time", [[3, 1, 2**53 + 1, 2**53], [f"2024-01-0{day}" for day in (3, 1, 5, 4)]]
    )
    def test_times_of_any_kind(self, time):
        frame = pd.DataFrame({"k": [0] * 4, "t": time, "x": range(4)})
        assert SequencePanel.from_frame(frame, by="k", time="t").values.ravel().tolist() == [
            1,
            0,
            3,
            2,
        ]

    def test_kinds_of_columns(self):
        frame = pd.DataFrame(
            {
                "k": pd.Categorical(["u", "u", "w"], categories=["w", "v", "u"]),
                "a": pd.array([1, None, 3], dtype="Int64"),
                "b": [True, False, True],
                "c": pd.array([0.5, 1.5, None], dtype="Float32"),
            }
        )
        panel = SequencePanel.from_frame(frame, by="k")
        expected = [[[1, 1, 0.5], [np.nan, 0, 1.5]], [[3, 1, np.nan]]]
        assert panel == SequencePanel.from_sequences(expected)

    @pytest.mark.parametrize("of_index", [["who"], ["who", "day"], ["day", "x"], ["day"]])
    def test_levels_of_the_index(self, of_index):
        """An index with names does what columns do."""
        frame = self.FRAME.drop(columns="run")
        rest = [name for name in ("x", "y") if name not in of_index]
        expected = SequencePanel.from_frame(frame[["who", "day", *rest]], by="who", time="day")
        indexed = frame.set_index(of_index)
        before = indexed.copy()
        assert SequencePanel.from_frame(indexed, by="who", time="day") == expected
        assert SequencePanel.from_frame(indexed, by=iter(["who"]), time="day") == expected
        pd.testing.assert_frame_equal(indexed, before)

    def test_a_level_among_the_keys(self):
        expected = SequencePanel.from_frame(self.FRAME, by=["who", "run"], time="day")
        frame = self.FRAME.set_index("run")
        assert SequencePanel.from_frame(frame, by=["who", "run"], time="day") == expected

    def test_a_name_of_both_a_level_and_a_column(self):
        frame = self.FRAME.set_index("who", drop=False)
        with pytest.raises(ValueError, match=r"both a column and a level of the index.*'who'"):
            SequencePanel.from_frame(frame, by="who", time="day")

    def test_neither_a_level_nor_a_column(self):
        frame = self.FRAME.set_index("who")
        with pytest.raises(ValueError, match=r"by: .*no column 'whom'.*levels of the index .'who'"):
            SequencePanel.from_frame(frame, by="whom", time="day")
        with pytest.raises(ValueError, match="by: column 'who' has a missing value in row 1"):
            SequencePanel.from_frame(
                self.FRAME.assign(who=["a", None, "b", "b", "b"]).set_index("who"), by="who"
            )

    def test_names_that_are_no_text(self):
        frame = pd.DataFrame([[0, 1.0], [1, 2.0], [0, 3.0]])
        assert SequencePanel.from_frame(frame, by=0).ptr.tolist() == [0, 2, 3]

    def test_no_rows(self):
        panel = SequencePanel.from_frame(self.FRAME[:0], by="who", time="day", columns=["x", "y"])
        assert panel.shape == (0, 2)

    def test_frame_is_left_alone(self):
        before = self.FRAME.copy()
        panel = SequencePanel.from_frame(self.FRAME, by="who", time="day", columns=["x"])
        assert not panel.values.flags.writeable
        pd.testing.assert_frame_equal(self.FRAME, before)


class TestFeatureNames:
    FRAME = TestFromFrame.FRAME

    def panel(self, columns=("x", "y")):
        return SequencePanel.from_frame(self.FRAME, by="who", time="day", columns=list(columns))

    def test_come_from_frames(self):
        assert self.panel().feature_names.tolist() == ["x", "y"]
        frames = [self.FRAME[["y", "x"]], self.FRAME[["y", "x"]][:2]]
        assert SequencePanel.from_sequences(frames).feature_names.tolist() == ["y", "x"]
        assert SequencePanel(np.zeros((2, 2)), [0, 2]).feature_names is None
        numbered = pd.DataFrame({"k": [0, 0], 1: [2.0, 3.0]})
        assert SequencePanel.from_frame(numbered, by="k").feature_names is None

    def test_stay_with_the_panel(self):
        panel = self.panel()
        others = [panel[:1], panel[[1]], panel[[True, False]], concatenate([panel, panel[1:]])]
        for other in [*others, copy.deepcopy(panel), pickle.loads(pickle.dumps(panel))]:
            assert other.feature_names.tolist() == ["x", "y"]
        with pytest.raises(ValueError, match="read-only"):
            panel.feature_names[0] = "z"

    def test_do_not_count_when_panels_are_compared(self):
        panel = self.panel()
        assert panel == SequencePanel(panel.values, panel.ptr)

    def test_frames_that_differ(self):
        frames = [self.FRAME[["x", "y"]], self.FRAME[["y", "x"]]]
        with pytest.raises(ValueError, match=r"sequence 1 has \['y', 'x'\], but sequence 0 has"):
            SequencePanel.from_sequences(frames)
        with pytest.raises(ValueError, match=r"container 1 has \['y', 'x'\], but container 0"):
            concatenate([self.panel(), self.panel("yx")])

    def test_estimators_check_them(self):
        panel, other = self.panel(), self.panel("yx")
        scaler = PanelTransformer(StandardScaler()).fit(panel)
        assert scaler.feature_names_in_.tolist() == ["x", "y"]
        assert scaler.transform(panel).feature_names.tolist() == ["x", "y"]
        with pytest.raises(ValueError, match="feature names should match"):
            scaler.transform(other)
        frames = [self.FRAME[["x", "y"]]]
        assert scaler.transform(frames)[0].columns.tolist() == ["x", "y"]
