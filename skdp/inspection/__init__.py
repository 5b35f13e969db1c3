"""Displays of fitted models, in scikit-learn's convention. They need matplotlib."""

from skdp.inspection._topic_evolution import TopicEvolutionDisplay
from skdp.inspection._trace import TraceDisplay

__all__ = ["TopicEvolutionDisplay", "TraceDisplay"]
