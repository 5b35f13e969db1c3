"""What holds for every display: axes, artists, texts, names, and the models that it draws."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from refusals.inspection import FAR, clusters
from registry import DOCUMENTS, ROWS, SENTENCES, SERIES, STRINGS, fitted
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from unit.inspection.figures import axes_of, check_texts, drawn_texts

import skdp.inspection as show
from skdp.grammar import ParseTree
from skdp.inference import Trace

HALVES = np.full((2, 2), 0.5)
SHARES = np.array([[0.5, 0.5], [0.2, 0.8]])
BITS = np.array([[0, 1], [1, 1]])
TREE = ParseTree("S", ["a"])
LINKAGE = np.array([[0.0, 1.0, 0.1, 2.0]])
RULES = [[0.5, 0.5], HALVES, HALVES, np.full((2, 2, 2), 0.25)]
TRACE = Trace(np.array([1, 2]), {"log_joint": np.array([[1.0, 2.0]])})

MODELS = {
    "ChangePointDisplay": ("ChangePointDetector", SERIES),
    "ClusterDisplay": (clusters, FAR),
    "ClusterTreeDisplay": (clusters,),
    "CoAssignmentDisplay": (clusters,),
    "ComponentCountDisplay": ("HDPTopicModel",),
    "FactorDisplay": ("BinaryFactorEmission",),
    "ForecastDisplay": ("HDPHMMLT", ROWS, 3),
    "GrammarDisplay": ("HDPPCFG",),
    "HellingerDisplay": ("SegmentedTopicModel", DOCUMENTS),
    "LexiconDisplay": ("HierarchicalPitmanYorLM", SENTENCES),
    "LowerBoundDisplay": ("HDPPCFG",),
    "ParseTreeDisplay": ("HDPPCFG", SENTENCES),
    "PerplexityDisplay": ("KneserNeyLM", SENTENCES),
    "SegmentMixingDisplay": ("AdaptiveTopicModel", DOCUMENTS),
    "SegmentationDisplay": ("NestedPitmanYorLM", STRINGS),
    "StateSequenceDisplay": ("HDPHMMLT", ROWS),
    "TopicAlignmentDisplay": ("SegmentedTopicModel",),
    "TopicEvolutionDisplay": ("SegmentedTopicModel", DOCUMENTS),
    "TopicTreeDisplay": ("SegmentedTopicModel",),
    "TraceDisplay": ("SegmentedTopicModel",),
    "TransitionDisplay": ("GaussianSimilarity",),
}
"""A model that each display draws, or its name in the registry, and arguments after it."""

OPTIONS = {
    "HellingerDisplay": {"to": "both"},
    "LexiconDisplay": {"n_draws": 2},
    "TransitionDisplay": {"kind": "space"},
}

ALONE = {
    "ChangePointDisplay": [[0.0, 1.0]], "ClusterDisplay": [ROWS[:2], [0, 1]],
    "ClusterTreeDisplay": [LINKAGE], "CoAssignmentDisplay": [[[0, 1]]],
    "ComponentCountDisplay": [[1.0]], "FactorDisplay": [BITS],
    "ForecastDisplay": [[1.0], [0.0], [2.0]], "GrammarDisplay": RULES, "HellingerDisplay": [[0.5]],
    "LexiconDisplay": [[["a"]]], "LowerBoundDisplay": [[1.0, 2.0]], "ParseTreeDisplay": [TREE],
    "PerplexityDisplay": [{"a": {1: 2.0}}], "SegmentMixingDisplay": [[1.0]],
    "SegmentationDisplay": ["a", []], "StateSequenceDisplay": [[0, 1]],
    "TopicAlignmentDisplay": [HALVES], "TopicEvolutionDisplay": [SHARES],
    "TopicTreeDisplay": [LINKAGE], "TraceDisplay": [TRACE], "TransitionDisplay": [HALVES],
}  # fmt: skip
"""Arrays that each display draws."""

every_display = pytest.mark.parametrize("name", MODELS)


def model_of(name):
    model = MODELS[name][0]
    return fitted(model) if isinstance(model, str) else model()


def draw(name, model, *arguments, ax=None):
    display = getattr(show, name)
    make = getattr(display, "from_estimator", None) or display.from_estimators
    others = [model] if name == "TopicAlignmentDisplay" else arguments or MODELS[name][1:]
    return make(model, *others, ax=ax, **OPTIONS.get(name, {}))


def alone(name):
    return getattr(show, name)(*ALONE[name])


def test_the_table_is_complete():
    displays = {name for name in dir(show) if name.endswith("Display")}
    assert displays == set(MODELS) == set(ALONE)


@every_display
def test_axes(name):
    """A display is drawn in the given axes and nowhere else, or opens one figure."""
    plt.close("all")
    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    others, n_before = left.get_children(), len(right.get_children())
    display = draw(name, model_of(name), ax=right)
    assert (display.ax_, display.figure_) == (right, figure)
    assert len(right.get_children()) > n_before
    display = alone(name)
    assert display.plot(right) is display
    assert (figure.axes, figure.texts, figure.legends) == ([left, right], [], [])
    assert left.get_children() == others
    assert plt.get_fignums() == [figure.number]
    assert display.plot().figure_ is display.ax_.figure is not figure
    assert plt.get_fignums() == [figure.number, display.figure_.number]


@every_display
def test_texts_do_not_overlap(name):
    display = draw(name, model_of(name))
    check_texts(display, touch=1.5 if name == "SegmentationDisplay" else 0.0)


@every_display
def test_another_model(name):
    """It is refused with the name of its class."""
    # Any model is drawn whose `predict` numbers steps, such as k-means.
    other, X = PCA() if name == "StateSequenceDisplay" else KMeans(2, n_init=1), np.abs(ROWS)
    arguments = [X, *MODELS[name][2:]] if len(MODELS[name]) > 1 else []
    models = clone(other).fit(X), other, clone(model_of(name))
    errors = TypeError, (TypeError, NotFittedError), NotFittedError
    for model, error in zip(models, errors, strict=True):
        with pytest.raises(error, match=type(model).__name__):
            draw(name, model, *arguments)
    assert plt.get_fignums() == []


@every_display
def test_without_matplotlib(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=rf"{name}\.plot needs .*pip install skdp\[plot\]"):
        alone(name).plot()
    with pytest.raises(ImportError, match=r"pip install skdp\[plot\]"):
        draw(name, model_of(name))


# --- names ----------------------------------------------------------------------------------------

NAMED = {
    "tree names": lambda a, b: show.TopicTreeDisplay(LINKAGE, names=[a, b]),
    "alignment": lambda a, b: show.TopicAlignmentDisplay(HALVES, names=(a, b)),
    "row_names": lambda a, b: show.TopicAlignmentDisplay(HALVES, row_names=[a, b]),
    "column_names": lambda a, b: show.TopicAlignmentDisplay(HALVES, column_names=[a, b]),
    "topic_names": lambda a, b: show.TopicEvolutionDisplay(SHARES, topic_names=[a, b]),
    "topics in bars": lambda a, b: show.TopicEvolutionDisplay(SHARES, topic_names=[a, b]).plot(
        kind="bar"
    ),
    "part_names": lambda a, b: show.TopicEvolutionDisplay(
        SHARES, boundaries=[1], part_names=[a, b]
    ).plot(axes_of(30, 3)),
    "mixed parts": lambda a, b: show.SegmentMixingDisplay(
        [1, 0.5], boundaries=[1], part_names=[a, b]
    ).plot(axes_of(30, 3)),
    "distances": lambda a, b: show.HellingerDisplay([np.nan, 0.2], name=b).plot(
        show.HellingerDisplay([np.nan, 0.1], name=a).plot().ax_
    ),
    "state_names": lambda a, b: show.TransitionDisplay(HALVES, state_names=[a, b]),
    "states in space": lambda a, b: show.TransitionDisplay(
        HALVES, locations=BITS, state_names=[a, b]
    ).plot(kind="space"),
    "states of steps": lambda a, b: show.StateSequenceDisplay([0, 1], state_names=[a, b]),
    "labels": lambda a, b: show.StateSequenceDisplay([0, 1], [a, b]),
    "columns of steps": lambda a, b: show.StateSequenceDisplay(
        [0, 1], observations=HALVES, column_names=[a, b]
    ),
    "factor_names": lambda a, b: show.FactorDisplay(BITS, factor_names=[a, b]),
    "factors of steps": lambda a, b: show.StateSequenceDisplay(BITS, factor_names=[a, b]),
    "bounds": lambda a, b: show.LowerBoundDisplay([[1.0, 2.0], [1.0, 3.0]], names=[a, b]),
    "perplexities": lambda a, b: show.PerplexityDisplay({a: {1: 3.0, 2: 2.0}, b: {2: 4.0}}),
    "clusters": lambda a, b: show.ClusterDisplay(HALVES, [0, 1], column_names=[a, b]),
    "trees": lambda a, b: show.ParseTreeDisplay([TREE, TREE], names=[a, b]).plot(n_columns=2),
    "words": lambda a, b: show.GrammarDisplay(*RULES, feature_names=[a, b]),
    "symbols": lambda a, b: show.GrammarDisplay(*RULES, symbol_names=[a, b]),
}
ODD = "$\\bad{$ \\$x\n5%_^ Σ日\u200c\u00adم<b>&amp;\x00\udc80"


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
def test_names_are_drawn_as_given(name):
    """In one line, of which a long one is cut; there are no formulas and no names to hide."""
    display = NAMED[name](ODD, "_begins " + "x" * 5000)
    if not hasattr(display, "figure_"):
        display.plot()
    texts = [text.get_text() for text in drawn_texts(display.figure_)]
    expected = ODD.replace("\n", " ").replace("\x00\udc80", "\ufffd\ufffd")
    assert any(expected in text for text in texts)
    assert any("_begins " + "x" * 20 in text for text in texts)
    assert not any("x" * 100 in text for text in texts)
