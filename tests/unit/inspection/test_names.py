"""Names in displays are drawn unchanged, with any characters."""

import io
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

from skdp.grammar import ParseTree
from skdp.inference import Trace
from skdp.inspection import (
    ClusterDisplay,
    FactorDisplay,
    GrammarDisplay,
    HellingerDisplay,
    LowerBoundDisplay,
    ParseTreeDisplay,
    PerplexityDisplay,
    SegmentMixingDisplay,
    StateSequenceDisplay,
    TopicAlignmentDisplay,
    TopicEvolutionDisplay,
    TraceDisplay,
    TransitionDisplay,
)

HALVES = np.full((2, 2), 0.5)
SHARES = [[0.5, 0.5], [0.2, 0.8]]
TREE = ParseTree("S", ["a"])


def draw_parse_trees(a, b):
    return ParseTreeDisplay([TREE, TREE], names=[a, b]).plot(n_columns=2)


def draw_grammar(words, symbols):
    return GrammarDisplay(
        [0.5, 0.5], HALVES, HALVES, np.full((2, 2, 2), 0.25), feature_names=words,
        symbol_names=symbols,
    ).plot()  # fmt: skip


DRAWN = {
    "TopicAlignmentDisplay.names": lambda a, b: TopicAlignmentDisplay(HALVES, names=(a, b)).plot(),
    "TopicAlignmentDisplay.row_names": lambda a, b: TopicAlignmentDisplay(
        HALVES, row_names=[a, b]
    ).plot(),
    "TopicAlignmentDisplay.column_names": lambda a, b: TopicAlignmentDisplay(
        HALVES, column_names=[a, b]
    ).plot(),
    "TopicEvolutionDisplay.topic_names": lambda a, b: TopicEvolutionDisplay(
        SHARES, topic_names=[a, b]
    ).plot(),
    "TopicEvolutionDisplay.topic_names, bars": lambda a, b: TopicEvolutionDisplay(
        SHARES, topic_names=[a, b]
    ).plot(kind="bar"),
    "TopicEvolutionDisplay.part_names": lambda a, b: TopicEvolutionDisplay(
        SHARES, boundaries=[1], part_names=[a, b]
    ).plot(),
    "SegmentMixingDisplay.part_names": lambda a, b: SegmentMixingDisplay(
        [1.0, 0.5], boundaries=[1], part_names=[a, b]
    ).plot(),
    "HellingerDisplay.name": lambda a, b: HellingerDisplay([np.nan, 0.2], name=b).plot(
        HellingerDisplay([np.nan, 0.1], name=a).plot().ax_
    ),
    "TransitionDisplay.state_names": lambda a, b: TransitionDisplay(
        HALVES, state_names=[a, b]
    ).plot(),
    "TransitionDisplay.state_names, space": lambda a, b: TransitionDisplay(
        HALVES, locations=[[0.0, 1.0], [1.0, 0.0]], state_names=[a, b]
    ).plot(kind="space"),
    "FactorDisplay.factor_names": lambda a, b: FactorDisplay(
        [[0, 1], [1, 1]], factor_names=[a, b]
    ).plot(),
    "StateSequenceDisplay.factor_names": lambda a, b: StateSequenceDisplay(
        [[0, 1], [1, 1]], factor_names=[a, b]
    ).plot(),
    "LowerBoundDisplay.names": lambda a, b: LowerBoundDisplay(
        [[1.0, 2.0], [1.0, 3.0]], names=[a, b]
    ).plot(),
    "PerplexityDisplay.perplexities": lambda a, b: PerplexityDisplay(
        {a: {1: 3.0, 2: 2.0}, b: {2: 4.0}}
    ).plot(),
    "ClusterDisplay.column_names": lambda a, b: ClusterDisplay(
        HALVES, [0, 1], column_names=[a, b]
    ).plot(),
    "ParseTreeDisplay.names": draw_parse_trees,
    "GrammarDisplay.feature_names": lambda a, b: draw_grammar([a, b], ["S", "T"]),
    "GrammarDisplay.symbol_names": lambda a, b: draw_grammar(["a", "b"], [a, b]),
}


def texts_of(draw, *names):
    """Return all texts of a display's figure, as they stand after it was saved."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        display = draw(*names)
        display.figure_.savefig(io.BytesIO(), format="png")
    texts = [text.get_text() for text in display.figure_.findobj(Text)]
    plt.close(display.figure_)
    return texts


def shows(texts, name):
    return any(name in text for text in texts)


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize(
    "names",
    [
        (r"$a$ $\bad{", "costs $1 to $2"),
        (r"\$x\$ 5%_^", "_begins with an underscore"),
        ("naïve Σ", "日本語 \u200c\u00ad می"),
        pytest.param((None, 7), marks=pytest.mark.slow),
        pytest.param(("<b>&amp;</b>", "a{b}c"), marks=pytest.mark.slow),
    ],
    ids=["dollars", "backslashes", "non-ASCII", "no strings", "markup"],
)
def test_names_are_shown_as_given(draw, names):
    texts = texts_of(draw, *names)
    for name in names:
        if not (name is None and draw is DRAWN["HellingerDisplay.name"]):  # None: no name
            assert shows(texts, str(name)), name


_SHORT_OF_ROOM = [draw for key, draw in DRAWN.items() if "part_names" in key]
"""Names of parts are left out if they would overlap."""


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_names_that_have_no_room_are_cut_and_broken_ones_are_joined(draw):
    texts = texts_of(draw, "", "x" * 5000)
    if draw not in _SHORT_OF_ROOM:
        assert shows(texts, "x" * 50)
    assert not shows(texts, "x" * 100)
    texts = texts_of(draw, "two\nlines", "a\x00b\udc80")
    assert shows(texts, "two lines")
    assert shows(texts, "a\ufffdb\ufffd")


def test_labels_and_words_with_dollars():
    labels = ["$a$", "$\\bad{ $", "$a$"]
    display = StateSequenceDisplay([0, 1, 0], labels)
    assert shows(texts_of(display.plot), "$\\bad{ $")
    display = ParseTreeDisplay(ParseTree("$$", ["$\\bad{$"]))
    assert shows(texts_of(display.plot), "$\\bad{$")
    trace = Trace(np.array([1, 2]), {"$\\bad{ $": np.array([[1.0, 2.0]])})
    assert shows(texts_of(TraceDisplay(trace).plot), "$\\bad{ $")


def test_the_legend_of_two_models_keeps_names_that_begin_with_an_underscore():
    first = HellingerDisplay([np.nan, 0.2], name="_a").plot()
    second = HellingerDisplay([np.nan, 0.3, 0.1], name="b").plot(first.ax_)
    labels = [text.get_text() for text in second.legend_.get_texts()]
    assert labels == ["_a: to previous (mean 0.20)", "b: to previous (mean 0.20)"]
    plt.close(second.figure_)


@pytest.mark.parametrize("names", ["abc", 7, b"ab", {"a": 1, "b": 2}, ["a"]])
def test_names_are_a_list(names):
    with pytest.raises(ValueError, match=r"factor_names must (be a list of|hold) 2 names"):
        FactorDisplay([[0, 1], [1, 1]], factor_names=names)
