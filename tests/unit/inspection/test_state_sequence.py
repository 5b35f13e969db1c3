import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from skdp.data import SequencePanel, check_panel
from skdp.datasets import make_cocktail_party
from skdp.inspection import StateSequenceDisplay
from skdp.sequence import BinaryFactorEmission, FactorialHMM

PREDICTED = np.array([4, 4, 4, 0, 0, 2, 2, 2, 2, 7])
TRUE = np.array([1, 1, 1, 1, 0, 0, 2, 2, 2, 2])
FACTORS = np.array([[0, 0, 1], [1, 0, 0], [1, 1, 0]])


class Thresholds(BaseEstimator):
    """Like a fitted model whose state is the observation, in whole steps."""

    def __init__(self, with_factors=True):
        self.with_factors = with_factors

    def fit(self, X, y=None):
        check_panel(self, X, reset=True)
        self.fitted_ = True
        if self.with_factors:
            self.factors_ = FACTORS
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


def labels_of(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def colors_of(display, image):
    """Return the label of the color at every step of a strip."""
    handles = display.legend_.get_patches()
    label_of = {
        patch.get_facecolor(): label
        for patch, label in zip(handles, labels_of(display), strict=True)
    }
    values = image.get_array()[0]
    return [label_of[tuple(color)] for color in image.cmap(image.norm(values))]


def test_states_take_the_colors_of_their_matches():
    display = StateSequenceDisplay.from_predictions(PREDICTED, TRUE)
    assert display.matches == {0: 0, 4: 1, 2: 2}
    assert display.agreement == 0.7
    assert sorted(labels_of(display)) == ["0 (state 0)", "1 (state 4)", "2 (state 2)", "state 7"]
    assert labels_of(display) == display.labels_
    assert display.labels_[0] == "2 (state 2)"  # the most steps
    above, below, differ = display.images_
    names = {0: "0 (state 0)", 4: "1 (state 4)", 2: "2 (state 2)", 7: "state 7"}
    assert colors_of(display, above) == [names[j] for j in PREDICTED]
    names = {0: "0 (state 0)", 1: "1 (state 4)", 2: "2 (state 2)"}
    assert colors_of(display, below) == [names[k] for k in TRUE]
    expected = [0, 0, 0, 1, 0, 1, 0, 0, 0, 1]
    np.testing.assert_array_equal(differ.get_array()[0], expected)
    ticks = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert ticks == ["predicted", "true", "differ"]
    heights = display.ax_.get_yticks()
    assert heights[0] > heights[1] > heights[2]
    for image, height in zip(display.images_, heights, strict=True):
        left, right, low, high = image.get_extent()
        assert (left, right) == (-0.5, 9.5)
        assert low < height < high
    assert display.ax_.get_title(loc="left") == "same state at 70.0 % of steps"
    assert display.ax_.get_xlabel() == "time step"
    assert display.axes_.tolist() == [display.ax_]
    assert display.figure_ is display.ax_.figure


def test_match_is_the_best_of_all():
    """The best matching does not begin with the largest overlap."""
    predicted = [0] * 5 + [1] * 4 + [0] * 4
    true = ["a"] * 9 + ["b"] * 4
    display = StateSequenceDisplay(predicted, true)
    assert display.matches == {1: "a", 0: "b"}
    assert display.agreement == pytest.approx(8 / 13)


def test_true_labels_without_a_state():
    display = StateSequenceDisplay.from_predictions([3, 3, 3], ["x", "x", "y"])
    assert display.matches == {3: "x"}
    assert display.labels_ == ["x (state 3)", "y"]


def test_no_step_in_common_is_no_match():
    display = StateSequenceDisplay.from_predictions([5, 5, 5, 6, 5], list("aaaab"))
    assert display.matches == {5: "a"}
    assert display.agreement == 0.6
    assert display.labels_ == ["a (state 5)", "b", "state 6"]


def test_labels_of_any_kind():
    for true in (np.array(["a", "b"], dtype=object), ["a", "b"], [2.5, 3.5], [True, False]):
        display = StateSequenceDisplay.from_predictions(np.array([1, 0], dtype=np.int32), true)
        assert display.matches == {1: true[0], 0: true[1]}
        assert display.agreement == 1.0


def test_without_truth():
    display = StateSequenceDisplay.from_predictions(PREDICTED)
    assert display.matches == {}
    assert display.agreement is None
    assert len(display.images_) == 1
    assert labels_of(display) == ["state 2", "state 4", "state 0", "state 7"]
    assert colors_of(display, display.images_[0]) == [f"state {j}" for j in PREDICTED]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["predicted"]
    assert display.ax_.get_title(loc="left") == ""


def test_few_colors():
    display = StateSequenceDisplay.from_predictions(PREDICTED, n_states=2)
    assert labels_of(display) == ["state 2", "state 4", "other"]
    colors = colors_of(display, display.images_[0])
    assert colors == [f"state {j}" if j in (2, 4) else "other" for j in PREDICTED]


def test_a_color_belongs_to_a_state():
    first = StateSequenceDisplay.from_predictions([0, 0, 3])
    second = StateSequenceDisplay.from_predictions([3, 3, 5, 0])
    by_label = [
        {
            label: patch.get_facecolor()
            for label, patch in zip(display.labels_, display.legend_.get_patches(), strict=True)
        }
        for display in (first, second)
    ]
    for label in ("state 0", "state 3"):
        assert by_label[0][label] == by_label[1][label]
    assert len(set(by_label[1].values())) == 3
    many = StateSequenceDisplay.from_predictions(np.arange(10, 40), n_states=20)
    assert len({patch.get_facecolor() for patch in many.legend_.get_patches()}) == 21


def test_color_map():
    display = StateSequenceDisplay.from_predictions(PREDICTED, cmap="cividis")
    patches = display.legend_.get_patches()
    assert patches[0].get_facecolor() == plt.get_cmap("cividis")(0.0)
    assert patches[-1].get_facecolor() == plt.get_cmap("cividis")(1.0)
    StateSequenceDisplay.from_predictions([1, 1], cmap=plt.get_cmap("viridis"))


def test_factors():
    party = make_cocktail_party(200, conversation_sizes=[2, 2], random_state=0)
    probabilities = np.where(party.states == 1, 0.7, 0.2)
    probabilities[:20, 0] = 1.0 - probabilities[:20, 0]
    display = StateSequenceDisplay.from_predictions(
        probabilities, party.states, factor_names="abcd"
    )
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
        assert [label.get_text() for label in panel.get_yticklabels()] == list("abcd")
        assert panel.get_ylim() == (3.5, -0.5)
        assert panel.get_xlim() == (-0.5, 199.5)
    assert display.legend_ is None
    assert display.matches == {}


def test_factors_without_truth():
    display = StateSequenceDisplay.from_predictions(FACTORS[[0, 2, 1]])
    assert len(display.images_) == len(display.axes_) == 1
    assert display.agreement is None
    assert np.isnan(StateSequenceDisplay(np.zeros((3, 2)), np.zeros((3, 2))).agreement)


def test_factors_of_states():
    states = [0, 2, 1, 1]
    display = StateSequenceDisplay.from_predictions(states, FACTORS[states], factors=FACTORS)
    np.testing.assert_array_equal(display.predicted, FACTORS[states])
    assert display.agreement == 1.0


def test_many_factors_keep_a_bounded_figure():
    many = np.random.default_rng(0).integers(2, size=(50, 200))
    display = StateSequenceDisplay.from_predictions(many, many)
    assert max(display.figure_.get_size_inches()) < 12
    assert len(display.axes_[0].get_yticklabels()) <= 24


@pytest.mark.parametrize("sequence", [0, 1, 2])
@pytest.mark.parametrize("container", [lambda panel: panel, list])
def test_from_estimator(estimator, panel, sequence, container):
    expected = panel[sequence][:, 0].astype(int)
    true = expected + 1
    display = StateSequenceDisplay.from_estimator(
        estimator, container(panel), true, sequence=sequence
    )
    np.testing.assert_array_equal(display.predicted, expected)
    assert display.agreement == 1.0
    true = FACTORS[expected]
    display = StateSequenceDisplay.from_estimator(
        estimator, container(panel), true, sequence=sequence, factor_names="xyz"
    )
    np.testing.assert_array_equal(display.predicted, true)
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


def test_of_one_array(estimator, panel):
    display = StateSequenceDisplay.from_estimator(estimator, panel[1])
    np.testing.assert_array_equal(display.predicted, panel[1][:, 0])
    with pytest.raises(ValueError, match="number of sequences in X, 1, got 1"):
        StateSequenceDisplay.from_estimator(estimator, panel[1], sequence=1)


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
    with pytest.raises(ValueError, match="kind='states' needs states: FactorialHMM predicts"):
        StateSequenceDisplay.from_estimator(model, panel, kind="states")


def test_kind(estimator, panel):
    display = StateSequenceDisplay.from_estimator(estimator, panel, kind="factors")
    np.testing.assert_array_equal(display.predicted, FACTORS[panel[0][:, 0].astype(int)])
    with pytest.raises(ValueError, match="kind must be 'states' or 'factors'"):
        StateSequenceDisplay.from_estimator(estimator, panel, kind="bands")
    without = Thresholds(with_factors=False).fit(panel)
    with pytest.raises(ValueError, match="Thresholds has none"):
        StateSequenceDisplay.from_estimator(without, panel, kind="factors")


def test_given_axes():
    figure, ax = plt.subplots(layout="constrained")
    before = plt.get_fignums()
    display = StateSequenceDisplay(PREDICTED, TRUE)
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == before


@pytest.mark.parametrize("true", [None, TRUE])
def test_texts_stay_in_the_figure(true):
    display = StateSequenceDisplay.from_predictions(PREDICTED, true)
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.ax_.get_yticklabels()]
    boxes.append(display.legend_.get_window_extent())
    for box in boxes:
        assert display.figure_.bbox.padded(1).contains(box.x0, box.y0)
        assert display.figure_.bbox.padded(1).contains(box.x1, box.y1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predicted": []}, "predicted must hold states"),
        ({"predicted": [0.5, 1.0]}, "predicted must hold states"),
        ({"predicted": [-1, 0]}, "predicted must hold states"),
        ({"predicted": [[0.0, 1.5]]}, r"predicted must hold numbers in \[0, 1\]"),
        ({"predicted": [[0, 1]], "factors": FACTORS}, "predicted must be 1-D"),
        ({"predicted": [0, 3], "factors": FACTORS}, "states below 3"),
        ({"factors": [0, 1]}, "factors must be a 2-D array"),
        ({"true": TRUE[:-1]}, r"true must have shape \(10,\)"),
        ({"true": TRUE, "predicted": FACTORS}, "true must be a 2-D array"),
        ({"true": FACTORS[:, :2], "predicted": FACTORS}, r"true must have shape \(3, 3\)"),
        ({"factor_names": ["a"]}, "predicted holds states"),
        ({"predicted": FACTORS, "factor_names": ["a"]}, "factor_names must hold 3 names"),
        ({"boundaries": [10]}, "boundaries must hold increasing integers"),
        ({"boundaries": [3, 3]}, "boundaries must hold increasing integers"),
        ({"boundaries": [1.5]}, "boundaries must hold increasing integers"),
        ({"n_states": 0}, "n_states must be an integer >= 1"),
    ],
)
def test_invalid_arguments(arguments, message):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=message):
        StateSequenceDisplay.from_predictions(**{"predicted": PREDICTED, **arguments})
    assert plt.get_fignums() == before


def test_unfitted(estimator, panel):
    with pytest.raises(NotFittedError):
        StateSequenceDisplay.from_estimator(clone(estimator), panel)


def test_without_matplotlib(monkeypatch, estimator, panel):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"StateSequenceDisplay\.plot needs matplotlib"):
        StateSequenceDisplay(PREDICTED).plot()
    with pytest.raises(ImportError, match=r"pip install skdp\[plot\]"):
        StateSequenceDisplay.from_estimator(estimator, panel)


def test_names_of_states():
    names = ["calm", "$x$", "storm", "not seen"]
    display = StateSequenceDisplay.from_predictions([2, 2, 0, 1, 0], state_names=names)
    assert display.labels_ == ["calm", "storm", "$x$"]
    display = StateSequenceDisplay.from_predictions(
        [2, 2, 0, 0, 1], ["a", "a", "b", "b", "b"], state_names=names
    )
    assert display.labels_ == ["b (calm)", "a (storm)", "$x$"]
    assert [text.get_text() for text in display.legend_.get_texts()] == display.labels_
    with pytest.raises(ValueError, match="state_names are the names of states, but factors"):
        StateSequenceDisplay.from_predictions(np.eye(2), state_names=names)
