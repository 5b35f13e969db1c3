"""Displays of fitted models, in scikit-learn's convention, which need matplotlib; and reports."""

from skdp.inspection._cluster_tree import ClusterTreeDisplay
from skdp.inspection._clusters import ClusterDisplay
from skdp.inspection._co_assignment import CoAssignmentDisplay
from skdp.inspection._component_counts import ComponentCountDisplay
from skdp.inspection._factors import FactorDisplay
from skdp.inspection._forecast import ForecastDisplay
from skdp.inspection._grammar import GrammarDisplay
from skdp.inspection._hellinger import HellingerDisplay
from skdp.inspection._lexicon import LexiconDisplay
from skdp.inspection._lower_bound import LowerBoundDisplay
from skdp.inspection._parse_trees import ParseTreeDisplay
from skdp.inspection._perplexity import PerplexityDisplay
from skdp.inspection._reports._states import state_report
from skdp.inspection._reports._topics import topic_report
from skdp.inspection._segment_mixing import SegmentMixingDisplay
from skdp.inspection._segmentation import SegmentationDisplay
from skdp.inspection._state_sequence import StateSequenceDisplay
from skdp.inspection._topic_alignment import TopicAlignmentDisplay
from skdp.inspection._topic_evolution import TopicEvolutionDisplay
from skdp.inspection._topic_tree import TopicTreeDisplay
from skdp.inspection._trace import TraceDisplay
from skdp.inspection._transitions import TransitionDisplay

__all__ = [
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
