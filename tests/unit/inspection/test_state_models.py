"""Transitions, factors and forecasts of states."""

import importlib.util

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from unit.inspection.figures import check_texts, ticks_of

from skdp.inspection import (
    ChangePointDisplay,
    FactorDisplay,
    ForecastDisplay,
    TransitionDisplay,
)
from skdp.sequence import HDPHMMLT, ChangePointDetector, StateDetector

TRANSMAT = np.array(
    [[0.5, 0.4, 0.1, 0.0], [0.05, 0.9, 0.0, 0.05], [0.2, 0.3, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0]]
)
STARTPROB = np.array([0.1, 0.2, 0.3, 0.4])
SHARES = np.array([0.2, 0.5, 0.3, 0.0])
LOCATIONS = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [3.0, 1.0, 0.0], [0.0, 1.0, 0.1]])
FACTORS = np.array([[0, 0, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]])


class Known(BaseEstimator):
    """Like a fitted model with these parameters."""

    transmat_, startprob_, state_shares_ = TRANSMAT, STARTPROB, SHARES
    locations_, factors_ = LOCATIONS, FACTORS

    def fit(self, X):
        return self

    def __sklearn_is_fitted__(self):
        return True


# --- transitions ----------------------------------------------------------------------------------


def ends_of(display):
    """Return the states that each arc joins."""
    place_of = {tuple(p): int(j) for p, j in zip(display.positions_, display.states_, strict=True)}
    return [tuple(place_of[tuple(end)] for end in arc._posA_posB) for arc in display.arcs_]


def test_matrix():
    display = TransitionDisplay.from_estimator(Known())
    assert display.states_.tolist() == [1, 2, 0]  # active ones, largest share first
    order = np.ix_([1, 2, 0], [1, 2, 0])
    np.testing.assert_array_equal(display.image_.get_array()[0], STARTPROB[[1, 2, 0]])
    np.testing.assert_array_equal(display.image_.get_array()[1:], TRANSMAT[order])
    assert ticks_of(display.ax_.yaxis) == ["start", "1", "2", "0"]
    assert ticks_of(display.ax_.xaxis) == ["1", "2", "0"]
    assert display.ax_.get_ylabel() == "from state"
    assert display.ax_.get_xlabel() == "to state"
    assert display.texts_[1, 0].get_text() == "0.90"
    assert display.texts_[1, 1].get_text() == ""  # that transition is impossible
    assert display.colorbar_.ax.get_ylabel() == "probability"
    assert display.points_ is display.arcs_ is display.positions_ is None
    check_texts(display)
    display.plot(states=[3, 0], include_values=False, cmap="viridis")
    np.testing.assert_array_equal(display.image_.get_array()[1:], [[0.0, 1.0], [0.0, 0.5]])
    assert ticks_of(display.ax_.yaxis) == ["start", "3", "0"]
    assert display.texts_ is None
    assert display.colorbar_.cmap.name == "viridis"
    for scale, middle in (("log", 10**-1.5), ("linear", 0.5)):
        norm = display.plot(scale=scale).image_.norm
        assert norm(middle) == pytest.approx(0.5)
        assert norm(0.0) == 0.0


def test_shares_of_the_long_run():
    display = TransitionDisplay(TRANSMAT)
    np.testing.assert_allclose(display.shares @ TRANSMAT, display.shares, atol=1e-6)
    display = TransitionDisplay([[0.0, 1.0], [1.0, 0.0]], startprob=[1.0, 0.0])  # periodic
    np.testing.assert_allclose(display.shares, 0.5, atol=1e-6)
    absorbing = [[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    display = TransitionDisplay(absorbing, startprob=[0.8, 0.2, 0.0])
    np.testing.assert_allclose(display.shares, [0.0, 0.6, 0.4], atol=1e-6)
    assert display.plot().states_.tolist() == [1, 2]
    rare = [[0.9999, 0.0001], [0.9999, 0.0001]]
    assert TransitionDisplay(rare).plot().states_.tolist() == [0]  # computed, below the floor
    assert TransitionDisplay(rare, shares=rare[0]).plot().states_.tolist() == [0, 1]


def test_space():
    display = TransitionDisplay.from_estimator(Known(), kind="space", state_names="abcd")
    assert display.states_.tolist() == [1, 2, 0]
    np.testing.assert_array_equal(display.points_.get_offsets(), display.positions_)
    # The three lie in a plane, which shows their distances as they are.
    for a, i in enumerate(display.states_):
        for b, j in enumerate(display.states_):
            distance = np.linalg.norm(LOCATIONS[i] - LOCATIONS[j])
            shown = np.linalg.norm(display.positions_[a] - display.positions_[b])
            assert shown == pytest.approx(distance)
    assert np.ptp(display.positions_[:, 0]) > np.ptp(display.positions_[:, 1])
    assert display.ax_.get_xlabel().startswith("first principal component (")
    areas = display.points_.get_sizes()
    np.testing.assert_allclose(areas / areas[0], SHARES[[1, 2, 0]] / 0.5)
    np.testing.assert_array_equal(display.points_.get_array(), [0.9, 0.5, 0.5])
    assert [text.get_text() for text in display.ax_.texts] == ["b", "c", "a"]
    assert display.image_ is display.texts_ is None
    assert display.colorbar_.ax.get_ylabel() == "probability of staying"
    check_texts(display)


def test_arcs():
    display = TransitionDisplay.from_estimator(Known(), kind="space")
    found = dict(zip(ends_of(display), display.arcs_, strict=True))
    # Once left, 0 goes to 1 by .8 and to 2 by .2; 1 to 0 by .5 (and to 3, not drawn); 2 to both.
    assert set(found) == {(0, 1), (0, 2), (1, 0), (2, 0), (2, 1)}
    widths = {ends: arc.get_linewidth() for ends, arc in found.items()}
    assert widths[0, 1] > widths[2, 1] > widths[1, 0] > widths[2, 0] > widths[0, 2]
    display.plot(kind="space", min_probability=0.45)
    assert set(ends_of(display)) == {(0, 1), (1, 0), (2, 1)}
    display.plot(kind="space", min_probability=0.0)
    assert set(ends_of(display)) == set(found)  # the impossible have none
    never_left = TransitionDisplay(np.eye(2), locations=[[0.0, 0.0], [1.0, 1.0]])
    assert never_left.plot(kind="space").arcs_ == []


@pytest.mark.parametrize("n_dims", [1, 2, 5])
def test_dimensions(n_dims):
    locations = np.random.default_rng(0).standard_normal((4, n_dims))
    display = TransitionDisplay(TRANSMAT, locations=locations).plot(kind="space")
    assert display.positions_.shape == (4, 2)
    if n_dims <= 2:
        np.testing.assert_array_equal(display.positions_[:, :n_dims], locations[display.states_])
    display.figure_.draw_without_rendering()
    display.plot(kind="space", states=[1])
    expected = np.pad(locations[1], (0, 2 - n_dims)) if n_dims <= 2 else np.zeros(2)
    np.testing.assert_array_equal(display.positions_, [expected])
    assert display.arcs_ == []
    display.figure_.draw_without_rendering()


def test_many_states_keep_a_bounded_figure():
    many = np.random.default_rng(0).dirichlet(np.ones(150), 150)
    display = TransitionDisplay(many).plot()
    assert max(display.figure_.get_size_inches()) < 14
    assert display.texts_ is None


# --- factors --------------------------------------------------------------------------------------


def test_factors():
    display = FactorDisplay.from_estimator(Known(), factor_names=["x", "y", "z"])
    assert display.states_.tolist() == [1, 2, 0]
    np.testing.assert_array_equal(display.image_.get_array(), FACTORS[[1, 2, 0]])
    assert display.image_.get_clim() == (0.0, 1.0)
    assert ticks_of(display.ax_.yaxis) == ["1", "2", "0"]
    assert ticks_of(display.ax_.xaxis) == ["x", "y", "z"]
    assert display.ax_.get_xlabel() == "factor"
    assert display.ax_.get_ylabel() == "state"
    widths = np.array([bar.get_width() for bar in display.bars_])
    np.testing.assert_allclose(widths / widths[0], [1.0, 0.6, 0.4])
    for row, bar in enumerate(display.bars_):
        assert bar.get_y() + bar.get_height() / 2 == pytest.approx(row)
        assert bar.get_x() > 2.5  # right of the matrix
    texts = [text.get_text().strip() for text in display.ax_.texts]
    assert texts == ["50.0 %", "30.0 %", "20.0 %", "share of time"]


def test_given_states():
    display = FactorDisplay(FACTORS).plot()
    assert display.states_.tolist() == [0, 1, 2, 3]
    assert display.bars_ is None
    assert display.ax_.get_xlim() == (-0.5, 2.5)
    display = FactorDisplay(FACTORS, SHARES).plot(states=[3, 0], cmap="Greys")
    np.testing.assert_array_equal(display.image_.get_array(), FACTORS[[3, 0]])
    assert display.bars_[0].get_width() == 0.0
    assert display.image_.get_cmap().name == "Greys"
    check_texts(display.plot(states=[3]))  # no time at all


@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (120, 4)])
def test_texts_of_factors(shape):
    rng = np.random.default_rng(0)
    display = FactorDisplay(rng.integers(2, size=shape), rng.dirichlet(np.ones(shape[0]))).plot()
    assert max(display.figure_.get_size_inches()) < 14
    check_texts(display, touch=None if shape == (120, 4) else 0.0)  # shares of so many overlap


# --- forecasts ------------------------------------------------------------------------------------

DATES = pd.date_range("2024-01-01", periods=60, freq="MS")
RNG = np.random.default_rng(0)
STEPS = np.column_stack([np.repeat([0.0, 5.0], 30), np.repeat([3.0, 9.0], 30)])
FRAME = pd.DataFrame(STEPS + RNG.normal(size=(60, 2)), DATES, ["heat", "load"])


@pytest.fixture(scope="module")
def model():
    return HDPHMMLT(4, stickiness=10.0, max_iter=40, random_state=0).fit(FRAME)


def test_forecast(model):
    options = {"column": "load", "interval": 0.8, "n_past": 20}
    display = ForecastDisplay.from_estimator(model, FRAME, 6, **options)
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


def test_forecasts_of_other_containers(model):
    with pytest.warns(UserWarning, match="feature names"):
        found = [ForecastDisplay.from_estimator(model, FRAME.to_numpy(), 2, column=np.int64(-1))]
    if importlib.util.find_spec("polars"):
        import polars as pl

        found.append(ForecastDisplay.from_estimator(model, pl.DataFrame(FRAME), 2, column=1))
    for display in found:
        assert display.times.tolist() == list(range(62))
        assert display.history[-1] == FRAME["load"].iloc[-1]
    alone = ForecastDisplay([1.0], [0.0], [2.0], name="$x$").plot()
    assert alone.ax_.get_xlabel() == "step"
    assert len(alone.lines_[0].get_xdata()) == 0
    check_texts(alone)


def test_changes():
    detector = ChangePointDetector("gaussian").fit(FRAME)
    display = ChangePointDisplay.from_estimator(detector, FRAME, column="load")
    (change,) = display.changes
    assert change.position == 30
    assert np.array_equal(display.probabilities, detector.predict_proba(FRAME))
    assert np.array_equal(display.observations[:, 0], FRAME["load"])
    assert np.array_equal(display.means[:, 0], detector.transform(FRAME)["load"])
    series, below = display.panels_
    assert series.get_ylabel() == "load"
    assert below.get_ylabel() == "P(change)"
    observed, mean = display.lines_
    assert np.array_equal(observed.get_ydata(), FRAME["load"])
    assert np.flatnonzero(np.isnan(mean.get_ydata())).tolist() == [30]
    assert [text.get_text() for text in series.texts] == [f"{change.probability:.2f}"]
    left, right = display.bands_[0].get_extents().transformed(series.transData.inverted()).intervalx
    assert (left, right) == pytest.approx(np.subtract(change.interval, 0.5), abs=1e-6)
    assert "2028" in ticks_of(below.xaxis)
    y = np.full(60, -1)
    y[10] = 1
    both = ChangePointDisplay.from_estimator(detector, [FRAME, FRAME], sequence=1, known=[None, y])
    assert both.changes[0].position == 10
    assert len(both.lines_) == 4
    symbols = pd.DataFrame({"word": np.repeat(["a", "b", "c"], 20)})
    detector = ChangePointDetector("categorical").fit(symbols)
    display = ChangePointDisplay.from_estimator(detector, symbols)
    assert display.observations is None
    assert len(display.lines_) == 3
    check_texts(display)


def test_changes_of_states():
    detector = StateDetector(features="values", random_state=0).fit(FRAME)
    display = ChangePointDisplay.from_estimator(detector, FRAME, column="load")
    assert [change.position for change in display.changes] == [30]
    assert np.array_equal(display.probabilities, detector.predict_change_proba(FRAME))
    assert np.array_equal(display.observations[:, 0], FRAME["load"])
    assert display.means is None
    assert display.panels_[0].get_ylabel() == "load"
    assert "2028" in ticks_of(display.panels_[1].xaxis)
    arrays = StateDetector(features="values", random_state=0).fit([FRAME.to_numpy()] * 2)
    display = ChangePointDisplay.from_estimator(arrays, [FRAME.to_numpy()] * 2, sequence=1)
    assert display.names == ["x0", "x1"]
    assert len(display.lines_) == 2
