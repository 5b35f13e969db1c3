"""Displays: mistakes and their messages."""

import matplotlib.pyplot as plt

from refusals.samples import DAYS, HALF, HIDDEN, SENTENCES, TOPICS, TREES, hmm, pcfg
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

TABLE = r"""
FactorDisplay(HIDDEN / 9) -> ValueError: factors must not be a masked array
FactorDisplay(HALF).plot('here') -> TypeError: ax must be a matplotlib
GrammarDisplay([1.0], [[1.0, 0.0]], [[1.0]], [[[1.0]]]).plot(7)
    TypeError: ax must be a matplotlib
FactorDisplay(HALF).plot(cmap=[]) -> ValueError: cmap must be
StateSequenceDisplay([0, 1]).plot(cmap='x') -> ValueError: cmap must be
TopicEvolutionDisplay(HALF).plot(colors=['?', '?'])
    ValueError: colors must hold matplotlib colors
TopicEvolutionDisplay(HALF).plot(colors=1.5) -> ValueError: colors must be
TopicAlignmentDisplay(HALF).plot(kind=HALF) -> ValueError: kind must be
TopicAlignmentDisplay(HALF).plot(include_values=HALF) -> ValueError: include_values must be
TransitionDisplay(HALF).plot(min_probability=None) -> ValueError: min_probability must be
SegmentMixingDisplay([0.5], prior_mean='x') -> ValueError: prior_mean
SegmentMixingDisplay([0.5, 1], boundaries=DAYS[0]) -> ValueError: boundaries
LowerBoundDisplay(None) -> ValueError: lower_bounds must be a list
TraceDisplay({}) -> TypeError: trace must be a Trace, got dict
TraceDisplay(hmm().trace_).plot(names=1.5) -> ValueError: names must be
TopicAlignmentDisplay.from_components(TOPICS, None) -> ValueError: other must be a 2-D array
ParseTreeDisplay.from_estimator(pcfg(), SENTENCES, feature_names='x')
    ValueError: feature_names must hold 3 names
ParseTreeDisplay(None) -> ValueError: trees must be a ParseTree
HellingerDisplay([0.1]).plot(line_kw='red') -> TypeError: line_kw must be
TopicEvolutionDisplay('x') -> ValueError: segment_topic must hold real
ParseTreeDisplay((tree for tree in TREES)) -> fine
"""
