import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from skdp.inspection import TransitionDisplay

TRANSMAT = np.array(
    [
        [0.5, 0.4, 0.1, 0.0],
        [0.05, 0.9, 0.0, 0.05],
        [0.2, 0.3, 0.5, 0.0],
        [1.0, 0.0, 0.0, 0.0],
    ]
)
STARTPROB = np.array([0.1, 0.2, 0.3, 0.4])
SHARES = np.array([0.2, 0.5, 0.3, 0.0])
LOCATIONS = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [3.0, 1.0, 0.0], [0.0, 1.0, 0.1]])


class Known(BaseEstimator):
    """Like a fitted model with these parameters."""

    def __init__(self, similar=True):
        self.similar = similar

    def fit(self, X=None, y=None):
        self.transmat_, self.startprob_, self.state_shares_ = TRANSMAT, STARTPROB, SHARES
        if self.similar:
            self.locations_ = LOCATIONS
        return self


def ticks_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def ends_of(display):
    """Return the states that each arc joins."""
    place_of = {tuple(p): int(j) for p, j in zip(display.positions_, display.states_, strict=True)}
    return [tuple(place_of[tuple(end)] for end in arc._posA_posB) for arc in display.arcs_]


def test_matrix():
    display = TransitionDisplay.from_estimator(Known().fit())
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
    assert display.figure_ is display.ax_.figure


def test_given_states_and_names():
    display = TransitionDisplay(TRANSMAT, shares=SHARES, state_names=list("abcd"))
    display.plot(states=[3, 0], include_values=False)
    np.testing.assert_array_equal(display.image_.get_array(), [[0.0, 1.0], [0.0, 0.5]])
    assert ticks_of(display.ax_.yaxis) == ["d", "a"]
    assert display.texts_ is None


@pytest.mark.parametrize(("scale", "middle"), [("log", 10**-1.5), ("linear", 0.5)])
def test_scale(scale, middle):
    display = TransitionDisplay(TRANSMAT).plot(scale=scale)
    assert display.image_.norm(middle) == pytest.approx(0.5)
    assert display.image_.norm(0.0) == 0.0
    display.figure_.canvas.draw()


def test_shares_of_the_long_run():
    display = TransitionDisplay(TRANSMAT)
    np.testing.assert_allclose(display.shares @ TRANSMAT, display.shares, atol=1e-6)
    display = TransitionDisplay([[0.0, 1.0], [1.0, 0.0]], startprob=[1.0, 0.0])  # periodic
    np.testing.assert_allclose(display.shares, 0.5, atol=1e-6)
    absorbing = [[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    display = TransitionDisplay(absorbing, startprob=[0.8, 0.2, 0.0])
    np.testing.assert_allclose(display.shares, [0.0, 0.6, 0.4], atol=1e-6)
    assert display.plot().states_.tolist() == [1, 2]


def test_computed_shares_below_the_floor_are_not_active():
    transmat = [[0.9999, 0.0001], [0.9999, 0.0001]]
    assert TransitionDisplay(transmat).plot().states_.tolist() == [0]
    shares = [0.9999, 0.0001]
    assert TransitionDisplay(transmat, shares=shares).plot().states_.tolist() == [0, 1]


def test_space():
    display = TransitionDisplay.from_estimator(Known().fit(), kind="space", state_names="abcd")
    assert display.states_.tolist() == [1, 2, 0]
    np.testing.assert_array_equal(display.points_.get_offsets(), display.positions_)
    # The three lie in a plane, which shows their distances as they are.
    for a, i in enumerate(display.states_):
        for b, j in enumerate(display.states_):
            distance = np.linalg.norm(LOCATIONS[i] - LOCATIONS[j])
            assert np.linalg.norm(display.positions_[a] - display.positions_[b]) == pytest.approx(
                distance
            )
    assert np.ptp(display.positions_[:, 0]) > np.ptp(display.positions_[:, 1])
    assert display.ax_.get_xlabel().startswith("first principal component (")
    areas = display.points_.get_sizes()
    np.testing.assert_allclose(areas / areas[0], SHARES[[1, 2, 0]] / 0.5)
    np.testing.assert_array_equal(display.points_.get_array(), [0.9, 0.5, 0.5])
    assert [text.get_text() for text in display.ax_.texts] == ["b", "c", "a"]
    assert display.image_ is display.texts_ is None
    assert display.colorbar_.ax.get_ylabel() == "probability of staying"


def test_arcs():
    display = TransitionDisplay.from_estimator(Known().fit(), kind="space")
    found = dict(zip(ends_of(display), display.arcs_, strict=True))
    # Once left, 0 goes to 1 by .8 and to 2 by .2; 1 to 0 by .5 (and to 3, not drawn); 2 to both.
    assert set(found) == {(0, 1), (0, 2), (1, 0), (2, 0), (2, 1)}
    widths = {ends: arc.get_linewidth() for ends, arc in found.items()}
    assert widths[0, 1] > widths[2, 1] > widths[1, 0] > widths[2, 0] > widths[0, 2]
    display.plot(kind="space", min_probability=0.45)
    assert set(ends_of(display)) == {(0, 1), (1, 0), (2, 1)}
    display.plot(kind="space", min_probability=0.0)
    assert set(ends_of(display)) == set(found)  # the impossible have none


@pytest.mark.parametrize("n_dims", [1, 2, 3, 5])
def test_dimensions(n_dims):
    rng = np.random.default_rng(0)
    locations = rng.standard_normal((4, n_dims))
    display = TransitionDisplay(TRANSMAT, locations=locations).plot(kind="space")
    assert display.positions_.shape == (4, 2)
    if n_dims <= 2:
        np.testing.assert_array_equal(display.positions_[:, :n_dims], locations[display.states_])
    display.figure_.canvas.draw()


def test_one_state_in_space():
    display = TransitionDisplay(TRANSMAT, locations=LOCATIONS).plot(kind="space", states=[1])
    np.testing.assert_array_equal(display.positions_, [[0.0, 0.0]])
    assert display.arcs_ == []
    display.figure_.canvas.draw()


def test_a_state_that_is_never_left_has_no_arc():
    display = TransitionDisplay(np.eye(2), locations=[[0.0, 0.0], [1.0, 1.0]])
    assert display.plot(kind="space").arcs_ == []


def test_many_states_keep_a_bounded_figure():
    many = np.random.default_rng(0).dirichlet(np.ones(150), 150)
    display = TransitionDisplay(many).plot()
    assert max(display.figure_.get_size_inches()) < 14
    assert display.texts_ is None


@pytest.mark.parametrize("kind", ["matrix", "space"])
def test_given_axes(kind):
    figure, ax = plt.subplots(layout="constrained")
    before = plt.get_fignums()
    display = TransitionDisplay(TRANSMAT, locations=LOCATIONS)
    assert display.plot(ax, kind=kind, cmap="viridis") is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.colorbar_.cmap.name == "viridis"
    assert plt.get_fignums() == before


@pytest.mark.parametrize("kind", ["matrix", "space"])
def test_texts_stay_in_the_figure(kind):
    display = TransitionDisplay.from_estimator(Known().fit(), kind=kind)
    display.figure_.canvas.draw()
    for axis in (display.ax_.xaxis, display.ax_.yaxis, display.colorbar_.ax.yaxis):
        box = axis.label.get_window_extent()
        assert display.figure_.bbox.padded(1).contains(box.x0, box.y0)
        assert display.figure_.bbox.padded(1).contains(box.x1, box.y1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"transmat": TRANSMAT[:3]}, "transmat must be square"),
        ({"transmat": TRANSMAT[0]}, "transmat must be a 2-D array"),
        ({"transmat": 0.5 * TRANSMAT}, "transmat must have rows that sum to 1"),
        ({"transmat": np.eye(4) * np.nan}, r"transmat must hold numbers in \[0, 1\]"),
        ({"startprob": [1.0]}, "startprob must hold 4 numbers"),
        ({"startprob": 2 * STARTPROB}, "startprob must be non-negative, with a sum of 1"),
        ({"shares": [0.5, 0.5, 0.5, -0.5]}, "shares must be non-negative"),
        ({"locations": LOCATIONS[:2]}, r"locations must have shape \(4, n_dims\)"),
        ({"locations": np.nan * LOCATIONS}, "finite numbers"),
        ({"state_names": ["a"]}, "state_names must hold 4 names"),
    ],
)
def test_invalid_arrays(arguments, message):
    with pytest.raises(ValueError, match=message):
        TransitionDisplay(**{"transmat": TRANSMAT, **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "graph"}, "kind must be 'matrix' or 'space'"),
        ({"scale": "sqrt"}, "scale must be 'log' or 'linear'"),
        ({"states": [0, 4]}, "states must hold different integers from 0 to 3"),
        ({"states": [0, 0]}, "states must hold different integers"),
        ({"states": []}, "states must hold different integers"),
        ({"states": [0.0]}, "states must hold different integers"),
        ({"min_probability": 1.5}, "min_probability must be in"),
    ],
)
def test_invalid_arguments(arguments, message):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=message):
        TransitionDisplay.from_estimator(Known().fit(), **arguments)
    assert plt.get_fignums() == before


def test_without_locations():
    with pytest.raises(ValueError, match="kind='space' needs states with locations"):
        TransitionDisplay.from_estimator(Known(similar=False).fit(), kind="space")


def test_unfitted():
    with pytest.raises(NotFittedError):
        TransitionDisplay.from_estimator(clone(Known().fit()))


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"TransitionDisplay\.plot needs matplotlib"):
        TransitionDisplay(TRANSMAT).plot()
    with pytest.raises(ImportError, match=r"pip install skdp\[plot\]"):
        TransitionDisplay.from_estimator(Known().fit())
