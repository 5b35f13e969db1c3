"""Faults in the use of displays are named.

The message has the parameter, the class or the place, and what to do about it.

Beside them stand habits that look alike and are fine.
"""

import matplotlib.pyplot as plt
import pytest
from bad_inputs import DAYS, HALF, HIDDEN, SENTENCES, TOPICS, TREES, check_fault, faults, hmm, pcfg

from skdp.inspection import (
    FactorDisplay,
    GrammarDisplay,
    HellingerDisplay,
    LowerBoundDisplay,
    ParseTreeDisplay,
    SegmentMixingDisplay,
    StateSequenceDisplay,
    TopicAlignmentDisplay,
    TopicEvolutionDisplay,
    TraceDisplay,
    TransitionDisplay,
)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@faults(
    ("masked", lambda: FactorDisplay(HIDDEN / 9), ValueError, "factors must not be a masked array"),
    # Displays
    ("no axes", lambda: FactorDisplay(HALF).plot("here"), TypeError, "ax must be a matplotlib"),
    (
        "no axes",
        lambda: GrammarDisplay([1.0], [[1.0, 0.0]], [[1.0]], [[[1.0]]]).plot(7),
        TypeError,
        "ax must be a matplotlib",
    ),
    ("no colors", lambda: FactorDisplay(HALF).plot(cmap=[]), ValueError, "cmap must be"),
    ("no colors", lambda: StateSequenceDisplay([0, 1]).plot(cmap="x"), ValueError, "cmap must be"),
    (
        "no colors",
        lambda: TopicEvolutionDisplay(HALF).plot(colors=["?", "?"]),
        ValueError,
        "colors must hold matplotlib colors",
    ),
    (
        "a number",
        lambda: TopicEvolutionDisplay(HALF).plot(colors=1.5),
        ValueError,
        "colors must be",
    ),
    ("an array", lambda: TopicAlignmentDisplay(HALF).plot(kind=HALF), ValueError, "kind must be"),
    (
        "an array",
        lambda: TopicAlignmentDisplay(HALF).plot(include_values=HALF),
        ValueError,
        "include_values must be",
    ),
    (
        "no number",
        lambda: TransitionDisplay(HALF).plot(min_probability=None),
        ValueError,
        "min_probability must be",
    ),
    ("no number", lambda: SegmentMixingDisplay([0.5], prior_mean="x"), ValueError, "prior_mean"),
    ("dates", lambda: SegmentMixingDisplay([0.5, 1], boundaries=DAYS[0]), ValueError, "boundaries"),
    ("no bounds", lambda: LowerBoundDisplay(None), ValueError, "lower_bounds must be a list"),
    ("no trace", lambda: TraceDisplay({}), TypeError, "trace must be a Trace, got dict"),
    ("no names", lambda: TraceDisplay(hmm().trace_).plot(names=1.5), ValueError, "names must be"),
    (
        "no topics",
        lambda: TopicAlignmentDisplay.from_components(TOPICS, None),
        ValueError,
        "other must be a 2-D array",
    ),
    (
        "a word as words",
        lambda: ParseTreeDisplay.from_estimator(pcfg(), SENTENCES, feature_names="x"),
        ValueError,
        "feature_names must hold 3 names",
    ),
    ("no trees", lambda: ParseTreeDisplay(None), ValueError, "trees must be a ParseTree"),
    ("a word", lambda: HellingerDisplay([0.1]).plot(line_kw="red"), TypeError, "line_kw must be"),
    ("no topics", lambda: TopicEvolutionDisplay("x"), ValueError, "segment_topic must hold real"),
)
def test_a_fault_is_named(fault):
    check_fault(fault)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ParseTreeDisplay(tree for tree in TREES),
    ],
)
def test_habits_that_are_fine(call):
    call()
