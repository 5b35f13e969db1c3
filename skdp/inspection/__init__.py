"""Displays of fitted models, in scikit-learn's convention, which need matplotlib; and reports."""

from skdp.inspection._clusters import ClusterDisplay, ClusterTreeDisplay, CoAssignmentDisplay
from skdp.inspection._grammar import GrammarDisplay, ParseTreeDisplay
from skdp.inspection._hellinger import HellingerDisplay, SegmentMixingDisplay
from skdp.inspection._lexicon import LexiconDisplay, PerplexityDisplay
from skdp.inspection._reports._states import state_report
from skdp.inspection._reports._topics import topic_report
from skdp.inspection._segmentation import SegmentationDisplay
from skdp.inspection._state_sequence import (
    ChangePointDisplay,
    ForecastDisplay,
    StateSequenceDisplay,
)
from skdp.inspection._topic_alignment import TopicAlignmentDisplay, TopicTreeDisplay
from skdp.inspection._topic_evolution import TopicEvolutionDisplay
from skdp.inspection._trace import ComponentCountDisplay, LowerBoundDisplay, TraceDisplay
from skdp.inspection._transitions import FactorDisplay, TransitionDisplay

__all__ = [
    "ChangePointDisplay",
    "ClusterDisplay",
    "ClusterTreeDisplay",
    "CoAssignmentDisplay",
    "ComponentCountDisplay",
    "FactorDisplay",
    "ForecastDisplay",
    "GrammarDisplay",
    "HellingerDisplay",
    "LexiconDisplay",
    "LowerBoundDisplay",
    "ParseTreeDisplay",
    "PerplexityDisplay",
    "SegmentMixingDisplay",
    "SegmentationDisplay",
    "StateSequenceDisplay",
    "TopicAlignmentDisplay",
    "TopicEvolutionDisplay",
    "TopicTreeDisplay",
    "TraceDisplay",
    "TransitionDisplay",
    "state_report",
    "topic_report",
]
