"""Observations above states, and times below."""

import datetime

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from skdp.data import SequencePanel, TokenSequences
from skdp.inspection import StateSequenceDisplay
from skdp.sequence import HDPHMMLT

N = 12
STATES = np.repeat([0, 1, 0], 4)
VALUES = np.column_stack([STATES * 3.0, np.arange(N) % 7])
FRAMES = [
    pd.DataFrame(VALUES, columns=["level", "cl$ock"], index=pd.date_range(start, periods=N))
    for start in ("2024-01-30", "2020-01-01")
]


def ticks(axis):
    """Return what is written at the axis of steps, by step."""
    axis.figure.canvas.draw()
    axis = axis.xaxis
    return {
        round(float(place), 6): label.get_text()
        for place, label in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
        if label.get_text()
    }


@pytest.mark.parametrize("true", [None, STATES])
def test_lines_are_above_the_strips(true):
    display = StateSequenceDisplay.from_predictions(STATES, true, observations=VALUES)
    assert [line.get_ydata().tolist() for line in display.lines_] == VALUES.T.tolist()
    assert display.lines_[0].get_xdata().tolist() == list(range(N))
    assert display.observations_ax_.get_xlim() == display.ax_.get_xlim() == (-0.5, N - 0.5)
    assert display.observations_ax_.get_legend() is None
    display.figure_.canvas.draw()
    lines = display.observations_ax_.get_window_extent()
    frame = display.ax_.get_window_extent()
    for image in display.images_:
        assert image.get_window_extent().y1 < lines.y0
    assert frame.y1 == pytest.approx(lines.y1)
    assert (frame.x0, frame.x1) == pytest.approx((lines.x0, lines.x1))
    assert lines.height > 2 * display.images_[0].get_window_extent().height


@pytest.mark.parametrize("limits", [(3.0, 3.01), (-100.0, 1e4)])
def test_zoom(limits):
    """The panel does not move, and there is no warning."""
    display = StateSequenceDisplay.from_predictions(
        STATES, STATES, observations=VALUES, boundaries=[4]
    )
    panel = display.observations_ax_
    display.figure_.canvas.draw()
    before = panel.get_position().bounds
    display.ax_.set_xlim(*limits)
    display.figure_.canvas.draw()
    assert panel.get_xlim() == limits
    np.testing.assert_allclose(panel.get_position().bounds, before, atol=0.02)


GAP = np.repeat([0, 1, 2], [3, 6, 2])
SEEN = np.where(GAP == 1, np.nan, GAP)
SEEN[3] = 1.0  # one step of state 1 was observed


class Known(BaseEstimator):
    """A fitted model whose states are known."""

    n_features_in_ = 2

    def fit(self, X):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return GAP


def test_states_are_ranked_by_observed_steps():
    table = np.column_stack([SEEN, np.full(len(GAP), np.nan)])
    for observations in (None, SEEN, table):
        display = StateSequenceDisplay.from_predictions(GAP, observations=observations, n_states=2)
        largest = ["state 1", "state 0"] if observations is None else ["state 0", "state 2"]
        assert display.labels_ == [*largest, "other"]
    for show in (True, False):
        display = StateSequenceDisplay.from_estimator(
            Known(), table, show_observations=show, n_states=2
        )
        assert display.labels_ == ["state 0", "state 2", "other"]
    display = StateSequenceDisplay.from_predictions(GAP, GAP + 5, observations=SEEN)
    assert display.labels_ == ["5 (state 0)", "7 (state 2)", "6 (state 1)"]
    assert display.agreement == 1.0


def test_nothing_observed_at_all():
    display = StateSequenceDisplay.from_predictions(GAP, observations=np.full(len(GAP), np.nan))
    assert display.labels_ == ["state 0", "state 1", "state 2"]


def test_without_observations():
    display = StateSequenceDisplay.from_predictions(STATES)
    assert display.observations_ax_ is None
    assert display.lines_ == []
    assert display.observations is display.times is display.column_names is None


def test_above_factors():
    factors = np.eye(2)[STATES]
    display = StateSequenceDisplay.from_predictions(factors, factors, observations=VALUES[:, 1])
    assert display.observations.shape == (N, 1)
    assert len(display.axes_) == len(display.images_) == 2
    titles = [panel.get_title(loc="left") for panel in (display.observations_ax_, *display.axes_)]
    assert titles == ["observed", "predicted", "true"]
    display.figure_.canvas.draw()
    boxes = [p.get_window_extent() for p in (display.observations_ax_, *display.axes_)]
    assert boxes[0].y0 > boxes[1].y1 > boxes[1].y0 > boxes[2].y1


def test_lines_break_where_values_are_missing_and_sequences_meet():
    values = np.arange(6.0)
    values[[1, 3]] = np.nan
    display = StateSequenceDisplay.from_predictions(
        np.zeros(6, dtype=int), observations=values, boundaries=[5]
    )
    (line,) = display.lines_
    np.testing.assert_array_equal(line.get_xdata(), [0, 1, 2, 3, 4, 4.5, 5])
    np.testing.assert_array_equal(line.get_ydata(), [0, np.nan, 2, np.nan, 4, np.nan, 5])
    # An isolated value is a dot without a line.
    assert line.get_markevery() == [True, False, True, False, True, False, True]
    whole = StateSequenceDisplay.from_predictions([0, 0, 0], observations=[1.0, 2.0, 3.0])
    assert not any(whole.lines_[0].get_markevery())
    for lines in display.observations_ax_.collections:
        assert [segment[0][0] for segment in lines.get_segments()] == [4.5]
    assert len(display.observations_ax_.collections) == 2


def test_names_of_columns():
    names = ["a$b$", "_c"]
    display = StateSequenceDisplay.from_predictions(STATES, observations=VALUES, column_names=names)
    legend = display.observations_ax_.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == names
    display.figure_.canvas.draw()
    many = np.zeros((N, 9))
    display = StateSequenceDisplay.from_predictions(
        STATES, observations=many, column_names="abcdefghi"
    )
    assert display.observations_ax_.get_legend() is None


def test_no_line_hides_another():
    """The darkest is above the others, and they shine through."""
    display = StateSequenceDisplay.from_predictions(
        STATES, observations=np.zeros((N, 3)), column_names="abc"
    )
    shades = [float(line.get_color()) for line in display.lines_]
    heights = [line.get_zorder() for line in display.lines_]
    assert shades == sorted(shades)
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == len(set(shades)) == 3
    assert all(0.0 < line.get_alpha() < 1.0 for line in display.lines_)
    (line,) = StateSequenceDisplay.from_predictions(STATES, observations=np.zeros(N)).lines_
    assert line.get_alpha() is None


JANUARY = {0.0: "Jan", 4.0: "05", 8.0: "09"}
FEBRUARY = {2.0: "Feb", 6.0: "05", 10.0: "09"}


def end_of_axis(axis):
    return axis.xaxis.get_offset_text().get_text()


@pytest.mark.parametrize(
    ("times", "expected", "end"),
    [
        (np.arange("2024-01-30", "2024-02-11", dtype="M8[D]"), FEBRUARY, "2024-Feb"),
        (pd.date_range("2024-01-30", periods=N), FEBRUARY, "2024-Feb"),
        (
            pd.Series(pd.date_range("2024-01-30 06:00", periods=N)),
            {1.75: "Feb", 5.75: "05", 9.75: "09"},
            "2024-Feb",
        ),
        (pd.date_range("2024-01-30", periods=N, tz="CET"), FEBRUARY, "2024-Feb"),
        (
            pd.date_range("2024-01-30", periods=N, freq="MS"),
            {2.0: "Apr", 5.0: "Jul", 8.0: "Oct", 11.0: "2025"},
            "",
        ),
        (
            pd.date_range("2024-01-30", periods=N, freq="YS"),
            {3.0: "2028", 7.0: "2032", 11.0: "2036"},
            "",
        ),
        (
            pd.date_range("2024-01-30", periods=N, freq="s"),
            {0.0: "00:00", 5.0: "05", 10.0: "10"},
            "2024-Jan-30 00:00",
        ),
        (
            [datetime.date(2024, 1, 30) + datetime.timedelta(d) for d in range(N)],
            FEBRUARY,
            "2024-Feb",
        ),
        (
            [datetime.datetime(2024, 1, 30, h) for h in range(N)],
            {0.0: "Jan-30", 3.0: "03:00", 6.0: "06:00", 9.0: "09:00"},
            "2024-Jan-30",
        ),
        # Working days from a Monday on: the first of March is step 22.
        (
            pd.bdate_range("2023-01-30", periods=60),
            {2.0: "Feb", 12.0: "15", 22.0: "Mar", 32.0: "15", 44 + 1 / 3: "Apr", 54 + 1 / 3: "15"},
            "2023-Apr",
        ),
    ],
)
def test_dates(times, expected, end):
    """Round ones, where they fall between the steps; what they share is at the end of the axis."""
    display = StateSequenceDisplay.from_predictions(np.zeros(len(times), dtype=int), times=times)
    assert ticks(display.ax_) == {round(step, 6): text for step, text in expected.items()}
    assert end_of_axis(display.ax_) == end
    assert display.ax_.get_xlabel() == "time"
    plt.close(display.figure_)


def test_dates_follow_the_view():
    dates = pd.date_range("1901-01-01", periods=200, freq="YS")
    display = StateSequenceDisplay.from_predictions(np.zeros(200, dtype=int), times=dates)
    assert ticks(display.ax_)[99.0] == "2000"
    display.ax_.set_xlim(97.5, 104.5)
    assert ticks(display.ax_) == {99.0: "2000", 101.0: "2002", 103.0: "2004"}
    assert display.ax_.xaxis.get_major_formatter().format_data(98.2) == "1999"


@pytest.mark.parametrize(
    ("times", "third"),
    [
        (pd.date_range("2024-01-30", periods=N)[::-1], "2024-02-08"),
        (pd.date_range("2024-01-30", periods=6).repeat(2), "2024-01-31"),
        ([f"{d}. $May$" for d in range(N)], "2. $May$"),
        (np.arange(N) * 0.5, "1.0"),
    ],
)
def test_times(times, third):
    display = StateSequenceDisplay.from_predictions(STATES, STATES, times=times)
    written = ticks(display.ax_)
    assert written[2] == third
    assert set(written) <= set(range(N))
    assert len(written) <= 8
    assert display.ax_.get_xlabel() == "time"


def test_times_below_the_last_panel_of_factors():
    factors = np.eye(2)[STATES]
    times = np.arange("2024-01-30", "2024-02-11", dtype="M8[D]")
    display = StateSequenceDisplay.from_predictions(
        factors, factors, times=times, observations=VALUES
    )
    assert ticks(display.axes_[-1]) == FEBRUARY
    assert display.ax_.get_xlabel() == "time"


def test_missing_time():
    times = np.array(["2024-01-01", "NaT", "2024-01-03"], dtype="M8[ns]")
    display = StateSequenceDisplay.from_predictions([0, 0, 0], times=times)
    assert ticks(display.ax_) == {0: "2024-01-01", 2: "2024-01-03"}


@pytest.fixture(scope="module")
def model():
    return HDPHMMLT(3, max_iter=20, random_state=0).fit(FRAMES)


@pytest.mark.parametrize("sequence", [0, 1])
def test_from_estimator_on_frames(model, sequence):
    display = StateSequenceDisplay.from_estimator(
        model, FRAMES, sequence=sequence, show_observations=True
    )
    np.testing.assert_array_equal(display.observations, VALUES)
    np.testing.assert_array_equal(display.predicted, model.predict(FRAMES)[sequence])
    assert display.column_names == ["level", "cl$ock"]
    assert ticks(display.ax_) == [FEBRUARY, JANUARY][sequence]
    single = StateSequenceDisplay.from_estimator(model, FRAMES[1], show_observations=True)
    np.testing.assert_array_equal(single.observations, VALUES)
    assert ticks(single.ax_) == JANUARY


def test_from_estimator_on_all_frames(model):
    display = StateSequenceDisplay.from_estimator(
        model, FRAMES, sequence=None, show_observations=True
    )
    np.testing.assert_array_equal(display.observations, np.tile(VALUES, (2, 1)))
    written = ticks(display.ax_)
    assert all(written[t] == str(display.times[int(t)].astype("M8[D]")) for t in written)
    assert len(display.times) == 2 * N
    shown = StateSequenceDisplay.from_estimator(model, FRAMES, times=np.arange(N))
    np.testing.assert_array_equal(shown.observations, VALUES)
    hidden = StateSequenceDisplay.from_estimator(
        model, FRAMES, times=np.arange(N), show_observations=False
    )
    assert hidden.observations_ax_ is None
    assert hidden.times.tolist() == list(range(N))


def test_from_estimator_without_names():
    panel = SequencePanel.from_sequences([VALUES, VALUES[:5]])
    model = HDPHMMLT(3, max_iter=4, random_state=0).fit(panel)
    display = StateSequenceDisplay.from_estimator(model, panel, sequence=1, show_observations=True)
    np.testing.assert_array_equal(display.observations, VALUES[:5])
    assert display.times is display.column_names is None
    words = TokenSequences.from_sequences([[0, 1, 1], [2]])
    model = HDPHMMLT(2, emission="categorical", max_iter=4, random_state=0).fit(words)
    display = StateSequenceDisplay.from_estimator(model, words, show_observations=True)
    assert display.observations.tolist() == [[0], [1], [1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"observations": VALUES[:-1]}, r"observations must.*each of the 12 steps.*\(11, 2\)"),
        ({"observations": VALUES[None]}, r"observations must hold real numbers.*\(1, 12, 2\)"),
        ({"observations": 3.0}, "observations must hold real numbers"),
        ({"observations": ["a"] * N}, "observations must hold real numbers"),
        ({"observations": VALUES * 1j}, "observations must hold real numbers.*complex"),
        ({"observations": np.empty((N, 0))}, r"observations must hold real numbers.*\(12, 0\)"),
        ({"observations": VALUES, "column_names": ["a"]}, "column_names must hold 2 names"),
        ({"column_names": ["a", "b"]}, "column_names are the names of observations, which are not"),
        ({"state_names": ["calm"]}, "for every state up to 1: at least 2 names, got 1"),
        ({"state_names": 3}, "state_names must be a list"),
        ({"times": np.arange(3)}, r"times must hold a time for each of the 12 steps.*\(3,\)"),
        ({"times": "2024-01-01"}, r"times must hold a time for each of the 12 steps, got shape \("),
        ({"times": np.zeros((N, 1))}, r"times must hold a time.*\(12, 1\)"),
    ],
)
def test_invalid_arguments(arguments, message):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=message):
        StateSequenceDisplay.from_predictions(STATES, **arguments)
    assert plt.get_fignums() == before
