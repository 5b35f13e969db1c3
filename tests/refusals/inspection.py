"""Displays: mistakes and their messages."""

import numpy as np
from registry import DOCUMENTS, ROWS, SENTENCES, SERIES, STRINGS, fitted

from refusals.samples import HALF, TOPICS
from skdp import inspection
from skdp.inspection._lexicon import WordLaw
from skdp.inspection._topic_evolution import check_parts
from skdp.language import KneserNeyLM
from skdp.mixture import DPMixture

SHARES = np.array([[0.2, 0.1, 0.7, 0.0], [0.5, 0.1, 0.3, 0.1], [0.7, 0.1, 0.1, 0.1]])
STATES = [0, 1, 0, 1]
TABLES = [[0.5, 0.5], HALF, HALF, np.full((2, 2, 2), 0.25)]
WORDS = [["a", "dog"], ["a", "cat"]]
IDS = [[0, 1, 1], [4, 1]]
EMPTY = [*DOCUMENTS, []]
BOUNDS = [[1.0, 2.0], [1.0], [1.0]]
THIRDS = np.repeat(np.arange(3), 4)
FAR = ROWS + 30.0 * THIRDS[:, None]
MERGES = np.array([[0.0, 2.0, 0.1, 2.0], [1.0, 3.0, 0.4, 3.0]])


def evolution(**params):
    return inspection.TopicEvolutionDisplay.from_predictions(**{"segment_topic": SHARES, **params})


def distances(**params):
    return inspection.HellingerDisplay.from_predictions(**{"segment_topic": SHARES, **params})


def mixing(weights=(1.0, 0.5), **params):
    return inspection.SegmentMixingDisplay.from_weights(weights, **params)


def align(**params):
    topics = {"components": TOPICS, "other": TOPICS[::-1]}
    return inspection.TopicAlignmentDisplay.from_components(**{**topics, **params})


def states(**params):
    return inspection.StateSequenceDisplay.from_predictions(**{"predicted": STATES, **params})


def moves(**params):
    return inspection.TransitionDisplay(**{"transmat": HALF, **params})


def rules(**changes):
    names = ["root_probs", "rule_type_probs", "emission_probs", "binary_probs"]
    return inspection.GrammarDisplay(**{**dict(zip(names, TABLES, strict=True)), **changes})


def cuts(probabilities=(0.1, 0.9), *args, **params):
    return inspection.SegmentationDisplay("dog", probabilities, *args, **params)


def lexicon(**params):
    return inspection.LexiconDisplay.from_predictions(WORDS, **params)


def clusters():
    """Return a mixture of three clusters."""
    return DPMixture(max_iter=2, burn_in=0, init=THIRDS, split_merge=False).fit(FAR)


def of_topics(display, X=DOCUMENTS, **params):
    return display.from_estimator(fitted("SegmentedTopicModel"), X, **params)


def of_weights(X=DOCUMENTS, **params):
    return inspection.SegmentMixingDisplay.from_estimator(fitted("AdaptiveTopicModel"), X, **params)


def of_cuts(display, **params):
    return display.from_estimator(fitted("TopicSegmenter"), DOCUMENTS, **params)


def of_steps(X=ROWS, name="HDPHMMLT", **params):
    return inspection.StateSequenceDisplay.from_estimator(fitted(name), X, **params)


def forecast(X=ROWS, **params):
    return inspection.ForecastDisplay.from_estimator(fitted("HDPHMMLT"), X, 2, **params)


def of_strings(X=STRINGS, **params):
    return inspection.SegmentationDisplay.from_estimator(fitted("NestedPitmanYorLM"), X, **params)


def kn(X=SENTENCES, order=3, **params):
    return KneserNeyLM(order, discount=0.5, **params).fit(X)


def compare(*models, X=SENTENCES, **params):
    return inspection.PerplexityDisplay.from_estimators(list(models), X, **params)


def topics(path="a.html", **params):
    return inspection.topic_report(fitted("SegmentedTopicModel"), DOCUMENTS, path, **params)


def runs(path="a.html", **params):
    return inspection.state_report(fitted("HDPHMMLT"), ROWS, path, **params)
