"""States and factors step by step, next to the truth, below observations and above times."""

import datetime

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from unit.inspection.figures import check_texts, labels_of, ticks_of

from skdp.data import SequencePanel, TokenSequences, check_panel
from skdp.datasets import make_cocktail_party
from skdp.inspection import StateSequenceDisplay
from skdp.sequence import HDPHMMLT, BinaryFactorEmission, FactorialHMM

PREDICTED = np.array([4, 4, 4, 0, 0, 2, 2, 2, 2, 7])
TRUE = np.array([1, 1, 1, 1, 0, 0, 2, 2, 2, 2])
FACTORS = np.array([[0, 0, 1], [1, 0, 0], [1, 1, 0]])
show = StateSequenceDisplay.from_predictions


class Thresholds(BaseEstimator):
    """Like a fitted model whose state is the first column, in whole steps."""

    factors_ = FACTORS

    def fit(self, X, y=None):
        check_panel(self, X, reset=True)
        self.fitted_ = True
        return self

    def predict(self, X):
        panel, is_single = check_panel(self, X, reset=False)
        states = [sequence[:, 0].astype(int) for sequence in panel]
        return states[0] if is_single else states


@pytest.fixture
def panel():
    rng = np.random.default_rng(0)
    return SequencePanel.from_sequences([rng.integers(3, size=n).astype(float) for n in (6, 9, 4)])


@pytest.fixture
def estimator(panel):
    return Thresholds().fit(panel)


def colors_by_label(display):
    patches = display.legend_.get_patches()
    return {
        label: patch.get_facecolor()
        for label, patch in zip(labels_of(display), patches, strict=True)
    }


def labels_at(display, image):
    """Return the label of the color at every step of a strip."""
    label_of = {color: label for label, color in colors_by_label(display).items()}
    values = image.get_array()[0]
    return [label_of[tuple(color)] for color in image.cmap(image.norm(values))]


# --- states ---------------------------------------------------------------------------------------


def test_states_take_the_colors_of_their_matches():
    display = show(PREDICTED, TRUE)
    assert display.matches == {0: 0, 4: 1, 2: 2}
    assert display.agreement == 0.7
    assert sorted(labels_of(display)) == ["0 (state 0)", "1 (state 4)", "2 (state 2)", "state 7"]
    assert labels_of(display) == display.labels_
    assert display.labels_[0] == "2 (state 2)"  # the most steps
    above, below, differ = display.images_
    names = {0: "0 (state 0)", 4: "1 (state 4)", 2: "2 (state 2)", 7: "state 7"}
    assert labels_at(display, above) == [names[j] for j in PREDICTED]
    names = {0: "0 (state 0)", 1: "1 (state 4)", 2: "2 (state 2)"}
    assert labels_at(display, below) == [names[k] for k in TRUE]
    assert differ.get_array()[0].tolist() == [0, 0, 0, 1, 0, 1, 0, 0, 0, 1]
    assert ticks_of(display.ax_.yaxis) == ["predicted", "true", "differ"]
    heights = display.ax_.get_yticks()
    assert heights[0] > heights[1] > heights[2]
    for image, height in zip(display.images_, heights, strict=True):
        left, right, low, high = image.get_extent()
        assert (left, right) == (-0.5, 9.5)
        assert low < height < high
    assert display.ax_.get_title(loc="left") == "same state at 70.0 % of steps"
    assert display.ax_.get_xlabel() == "time step"
    assert display.axes_.tolist() == [display.ax_]
    check_texts(display)


def test_match_is_the_best_of_all():
    """The best matching does not begin with the largest overlap."""
    predicted = [0] * 5 + [1] * 4 + [0] * 4
    true = ["a"] * 9 + ["b"] * 4
    display = StateSequenceDisplay(predicted, true)
    assert display.matches == {1: "a", 0: "b"}
    assert display.agreement == pytest.approx(8 / 13)


@pytest.mark.parametrize(
    ("predicted", "true", "matches", "agreement", "labels"),
    [
        ([3, 3, 3], ["x", "x", "y"], {3: "x"}, 2 / 3, ["x (state 3)", "y"]),
        ([5, 5, 5, 6, 5], list("aaaab"), {5: "a"}, 0.6, ["a (state 5)", "b", "state 6"]),
        ([1, 0], np.array(["a", "b"], dtype=object), {1: "a", 0: "b"}, 1.0, None),
        ([1, 0], [2.5, 3.5], {1: 2.5, 0: 3.5}, 1.0, None),
        ([1, 0], [True, False], {1: True, 0: False}, 1.0, None),
    ],
)
def test_matches(predicted, true, matches, agreement, labels):
    """Labels are of any kind; a state without a step in common with a label is no match."""
    display = show(np.array(predicted, dtype=np.int32), true)
    assert display.matches == matches
    assert display.agreement == pytest.approx(agreement)
    assert labels is None or display.labels_ == labels


def test_without_truth():
    display = show(PREDICTED)
    assert display.matches == {}
    assert display.agreement is None
    assert display.observations_ax_ is None
    assert display.lines_ == []
    assert display.observations is display.times is display.column_names is None
    (image,) = display.images_
    assert labels_of(display) == ["state 2", "state 4", "state 0", "state 7"]
    assert labels_at(display, image) == [f"state {j}" for j in PREDICTED]
    assert ticks_of(display.ax_.yaxis) == ["predicted"]
    assert display.ax_.get_title(loc="left") == ""
    display = show(PREDICTED, n_states=2)
    assert labels_of(display) == ["state 2", "state 4", "other"]
    expected = [f"state {j}" if j in (2, 4) else "other" for j in PREDICTED]
    assert labels_at(display, display.images_[0]) == expected


def test_colors():
    """A color belongs to a state, unless there are more states than colors, or to a colormap."""
    first, second = (colors_by_label(show(x)) for x in ([0, 0, 3], [3, 3, 5, 0]))
    assert all(second[label] == color for label, color in first.items())
    assert len(set(second.values())) == 3
    many = show(np.arange(10, 40), n_states=20)
    assert len(set(colors_by_label(many).values())) == 21
    for cmap in ("cividis", plt.get_cmap("cividis")):
        colors = list(colors_by_label(show(PREDICTED, cmap=cmap)).values())
        assert colors[0] == plt.get_cmap("cividis")(0.0)
        assert colors[-1] == plt.get_cmap("cividis")(1.0)


def test_names_of_states():
    names = ["calm", "$x$", "storm", "not seen"]
    display = show([2, 2, 0, 1, 0], state_names=names)
    assert display.labels_ == ["calm", "storm", "$x$"]
    display = show([2, 2, 0, 0, 1], ["a", "a", "b", "b", "b"], state_names=names)
    assert labels_of(display) == display.labels_ == ["b (calm)", "a (storm)", "$x$"]


# --- factors --------------------------------------------------------------------------------------


def test_factors():
    party = make_cocktail_party(200, conversation_sizes=[2, 2], random_state=0)
    probabilities = np.where(party.states == 1, 0.7, 0.2)
    probabilities[:20, 0] = 1.0 - probabilities[:20, 0]
    display = show(probabilities, party.states, factor_names="abcd")
    above, below = display.images_
    np.testing.assert_array_equal(above.get_array(), probabilities.T)
    np.testing.assert_array_equal(below.get_array(), party.states.T)
    assert above.get_clim() == below.get_clim() == (0.0, 1.0)
    on, should = probabilities >= 0.5, party.states == 1
    precision, recall = (on & should).sum() / on.sum(), (on & should).sum() / should.sum()
    assert display.agreement == pytest.approx(2 * precision * recall / (precision + recall))
    assert [panel.get_title(loc="left") for panel in display.axes_] == ["predicted", "true"]
    assert display.axes_[0].get_title(loc="right") == f"F1 = {display.agreement:.2f}"
    for panel in display.axes_:
        assert ticks_of(panel.yaxis) == list("abcd")
        assert panel.get_ylim() == (3.5, -0.5)
        assert panel.get_xlim() == (-0.5, 199.5)
    assert display.legend_ is None
    assert display.matches == {}


def test_fewer_and_many_factors():
    display = show(FACTORS[[0, 2, 1]])
    assert len(display.images_) == len(display.axes_) == 1
    assert display.agreement is None
    assert np.isnan(StateSequenceDisplay(np.zeros((3, 2)), np.zeros((3, 2))).agreement)
    states = [0, 2, 1, 1]
    display = show(states, FACTORS[states], factors=FACTORS)
    np.testing.assert_array_equal(display.predicted, FACTORS[states])
    assert display.agreement == 1.0
    many = np.random.default_rng(0).integers(2, size=(50, 200))
    display = show(many, many)
    assert max(display.figure_.get_size_inches()) < 12
    assert len(ticks_of(display.axes_[0].yaxis)) <= 24


# --- predictions of estimators --------------------------------------------------------------------


@pytest.mark.parametrize("container", [lambda panel: panel, list])
def test_one_sequence_of_several(estimator, panel, container):
    for sequence, values in enumerate(panel):
        states = values[:, 0].astype(int)
        for true in (states + 1, FACTORS[states]):
            display = StateSequenceDisplay.from_estimator(
                estimator, container(panel), true, sequence=sequence
            )
            assert display.agreement == 1.0
        np.testing.assert_array_equal(display.predicted, FACTORS[states])
        alone = StateSequenceDisplay.from_estimator(estimator, values)
        np.testing.assert_array_equal(alone.predicted, states)
    display = StateSequenceDisplay.from_estimator(
        estimator, container(panel), kind="factors", factor_names="xyz"
    )
    np.testing.assert_array_equal(display.predicted, FACTORS[panel[0][:, 0].astype(int)])
    assert display.factor_names == ["x", "y", "z"]


@pytest.mark.parametrize("kind", ["states", "factors"])
def test_all_sequences(estimator, panel, kind):
    states = panel.values[:, 0].astype(int)
    true = states + 1 if kind == "states" else FACTORS[states]
    display = StateSequenceDisplay.from_estimator(estimator, panel, true, sequence=None)
    assert display.agreement == 1.0
    assert display.boundaries.tolist() == [6, 15]
    for axes in display.axes_:
        for lines in axes.collections:
            assert [segment[0][0] for segment in lines.get_segments()] == [5.5, 14.5]
        assert axes.get_xlim() == (-0.5, 18.5)
        assert len(axes.collections) == 2


@pytest.mark.parametrize("kind", [None, "factors"])
def test_an_estimator_that_predicts_factors(kind):
    rng = np.random.default_rng(0)
    bits = np.repeat([[0, 0], [1, 0], [1, 1], [0, 1]], 5, axis=0)
    panel = SequencePanel.from_sequences([bits + 0.1 * rng.normal(size=(20, 2))] * 2)
    emission = BinaryFactorEmission(2, weights=[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    model = FactorialHMM(2, emission=emission, max_iter=10, random_state=0).fit(panel)
    names = {"kind": kind, "factor_names": ["left", "right"]}
    display = StateSequenceDisplay.from_estimator(model, panel, bits, sequence=1, **names)
    np.testing.assert_array_equal(display.predicted, model.predict(panel)[1])
    assert display.agreement == 1.0
    assert len(display.axes_) == 2
    display = StateSequenceDisplay.from_estimator(model, panel, sequence=None, **names)
    assert display.predicted.shape == (40, 2)


# --- observations above ---------------------------------------------------------------------------

N = 12
STATES = np.repeat([0, 1, 0], 4)
VALUES = np.column_stack([STATES * 3.0, np.arange(N) % 7])
GAP = np.repeat([0, 1, 2], [3, 6, 2])
SEEN = np.where(GAP == 1, np.nan, GAP)
SEEN[3] = 1.0  # one step of state 1 was observed


@pytest.mark.parametrize("true", [None, STATES])
def test_lines_are_above_the_strips(true):
    display = show(STATES, true, observations=VALUES)
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


def test_zoom():
    """The panel does not move, and there is no warning."""
    display = show(STATES, STATES, observations=VALUES, boundaries=[4])
    panel = display.observations_ax_
    display.figure_.canvas.draw()
    before = panel.get_position().bounds
    for limits in ((3.0, 3.01), (-100.0, 1e4)):
        display.ax_.set_xlim(*limits)
        display.figure_.canvas.draw()
        assert panel.get_xlim() == limits
        np.testing.assert_allclose(panel.get_position().bounds, before, atol=0.02)


def test_states_are_ranked_by_observed_steps():
    table = np.column_stack([SEEN, np.full(len(GAP), np.nan)])
    for observations in (None, SEEN, table):
        display = show(GAP, observations=observations, n_states=2)
        largest = ["state 1", "state 0"] if observations is None else ["state 0", "state 2"]
        assert display.labels_ == [*largest, "other"]

    class Known(Thresholds):
        def predict(self, X):
            return GAP

    for shown in (True, False):
        display = StateSequenceDisplay.from_estimator(
            Known().fit(np.ones((3, 2))), table, show_observations=shown, n_states=2
        )
        assert display.labels_ == ["state 0", "state 2", "other"]
    display = show(GAP, GAP + 5, observations=SEEN)
    assert display.labels_ == ["5 (state 0)", "7 (state 2)", "6 (state 1)"]
    assert display.agreement == 1.0
    display = show(GAP, observations=np.full(len(GAP), np.nan))  # nothing observed at all
    assert display.labels_ == ["state 0", "state 1", "state 2"]


def test_observations_and_times_of_factors():
    factors = np.eye(2)[STATES]
    times = np.arange("2024-01-30", "2024-02-11", dtype="M8[D]")
    display = show(factors, factors, times=times, observations=VALUES[:, 1])
    assert display.observations.shape == (N, 1)
    assert len(display.axes_) == len(display.images_) == 2
    assert written(display.axes_[-1]) == FEBRUARY
    assert display.ax_.get_xlabel() == "time"
    panels = [display.observations_ax_, *display.axes_]
    assert [p.get_title(loc="left") for p in panels] == ["observed", "predicted", "true"]
    boxes = [panel.get_window_extent() for panel in panels]
    assert boxes[0].y0 > boxes[1].y1 > boxes[1].y0 > boxes[2].y1


def test_lines_break_where_values_are_missing_and_sequences_meet():
    values = np.arange(6.0)
    values[[1, 3]] = np.nan
    display = show(np.zeros(6, dtype=int), observations=values, boundaries=[5])
    (line,) = display.lines_
    np.testing.assert_array_equal(line.get_xdata(), [0, 1, 2, 3, 4, 4.5, 5])
    np.testing.assert_array_equal(line.get_ydata(), [0, np.nan, 2, np.nan, 4, np.nan, 5])
    # An isolated value is a dot without a line.
    assert line.get_markevery() == [True, False, True, False, True, False, True]
    whole = show([0, 0, 0], observations=[1.0, 2.0, 3.0])
    assert not any(whole.lines_[0].get_markevery())
    for lines in display.observations_ax_.collections:
        assert [segment[0][0] for segment in lines.get_segments()] == [4.5]
    assert len(display.observations_ax_.collections) == 2


def test_no_line_hides_another():
    """The darkest is above the others, and they shine through; a few lines have a legend."""
    display = show(STATES, observations=np.zeros((N, 3)), column_names="abc")
    legend = display.observations_ax_.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == list("abc")
    shades = [float(line.get_color()) for line in display.lines_]
    heights = [line.get_zorder() for line in display.lines_]
    assert shades == sorted(shades)
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == len(set(shades)) == 3
    assert all(0.0 < line.get_alpha() < 1.0 for line in display.lines_)
    (line,) = show(STATES, observations=np.zeros(N)).lines_
    assert line.get_alpha() is None
    many = show(STATES, observations=np.zeros((N, 9)), column_names="abcdefghi")
    assert many.observations_ax_.get_legend() is None


# --- times below ----------------------------------------------------------------------------------

JANUARY = {0.0: "Jan", 4.0: "05", 8.0: "09"}
FEBRUARY = {2.0: "Feb", 6.0: "05", 10.0: "09"}


def written(ax):
    """Return the tick labels of the axis of steps, by step."""
    ax.figure.draw_without_rendering()
    places = ax.xaxis.get_majorticklocs()
    return {
        round(float(place), 6): text
        for place, text in zip(places, ticks_of(ax.xaxis), strict=True)
        if text
    }


def dates(start="2024-01-30", periods=N, **options):
    return pd.date_range(start, periods=periods, **options)


@pytest.mark.parametrize(
    ("times", "expected", "end"),
    [
        (np.arange("2024-01-30", "2024-02-11", dtype="M8[D]"), FEBRUARY, "2024-Feb"),
        (pd.Series(dates("2024-01-30 06:00")), {1.75: "Feb", 5.75: "05", 9.75: "09"}, "2024-Feb"),
        (dates(tz="CET"), FEBRUARY, "2024-Feb"),
        (dates(freq="MS"), {2.0: "Apr", 5.0: "Jul", 8.0: "Oct", 11.0: "2025"}, ""),
        (dates(freq="YS"), {3.0: "2028", 7.0: "2032", 11.0: "2036"}, ""),
        (dates(freq="s"), {0.0: "00:00", 5.0: "05", 10.0: "10"}, "2024-Jan-30 00:00"),
        ([date.date() for date in dates()], FEBRUARY, "2024-Feb"),
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
    display = show(np.zeros(len(times), dtype=int), times=times)
    assert written(display.ax_) == {round(step, 6): text for step, text in expected.items()}
    assert display.ax_.xaxis.get_offset_text().get_text() == end
    assert display.ax_.get_xlabel() == "time"


def test_dates_follow_the_view():
    display = show(np.zeros(200, dtype=int), times=dates("1901-01-01", 200, freq="YS"))
    assert written(display.ax_)[99.0] == "2000"
    display.ax_.set_xlim(97.5, 104.5)
    assert written(display.ax_) == {99.0: "2000", 101.0: "2002", 103.0: "2004"}
    assert display.ax_.xaxis.get_major_formatter().format_data(98.2) == "1999"


@pytest.mark.parametrize(
    ("times", "third"),
    [
        (dates()[::-1], "2024-02-08"),
        (dates(periods=6).repeat(2), "2024-01-31"),
        ([f"{d}. $May$" for d in range(N)], "2. $May$"),
        (np.arange(N) * 0.5, "1.0"),
    ],
)
def test_other_times(times, third):
    display = show(STATES, STATES, times=times)
    found = written(display.ax_)
    assert found[2] == third
    assert set(found) <= set(range(N))
    assert len(found) <= 8
    assert display.ax_.get_xlabel() == "time"
    one_missing = np.array(["2024-01-01", "NaT", "2024-01-03"], dtype="M8[ns]")
    display = show([0, 0, 0], times=one_missing)
    assert written(display.ax_) == {0: "2024-01-01", 2: "2024-01-03"}


FRAMES = [
    pd.DataFrame(VALUES, columns=["level", "cl$ock"], index=dates(start))
    for start in ("2024-01-30", "2020-01-01")
]


def test_frames():
    """They have observations, times, and names of columns."""
    model = HDPHMMLT(3, max_iter=20, random_state=0).fit(FRAMES)
    of_frames, states = StateSequenceDisplay.from_estimator, model.predict(FRAMES)
    for sequence, expected in enumerate([FEBRUARY, JANUARY]):
        for X, i in ((FRAMES, sequence), (FRAMES[sequence], 0)):
            display = of_frames(model, X, sequence=i, show_observations=True)
            np.testing.assert_array_equal(display.observations, VALUES)
            np.testing.assert_array_equal(display.predicted, states[sequence])
            assert display.column_names == ["level", "cl$ock"]
            assert written(display.ax_) == expected
    display = of_frames(model, FRAMES, sequence=None, show_observations=True)
    np.testing.assert_array_equal(display.observations, np.tile(VALUES, (2, 1)))
    found = written(display.ax_)
    assert all(found[t] == str(display.times[int(t)].astype("M8[D]")) for t in found)
    assert len(display.times) == 2 * N
    shown = of_frames(model, FRAMES, times=np.arange(N))
    np.testing.assert_array_equal(shown.observations, VALUES)
    hidden = of_frames(model, FRAMES, times=np.arange(N), show_observations=False)
    assert hidden.observations_ax_ is None
    assert hidden.times.tolist() == list(range(N))


def test_containers_without_names():
    panel = SequencePanel.from_sequences([VALUES, VALUES[:5]])
    model = HDPHMMLT(3, max_iter=4, random_state=0).fit(panel)
    display = StateSequenceDisplay.from_estimator(model, panel, sequence=1, show_observations=True)
    np.testing.assert_array_equal(display.observations, VALUES[:5])
    assert display.times is display.column_names is None
    words = TokenSequences.from_sequences([[0, 1, 1], [2]])
    model = HDPHMMLT(2, emission="categorical", max_iter=4, random_state=0).fit(words)
    display = StateSequenceDisplay.from_estimator(model, words, show_observations=True)
    assert display.observations.tolist() == [[0], [1], [1]]
