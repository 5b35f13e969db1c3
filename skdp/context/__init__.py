"""Classifiers of outcomes in context: columns of categories, back-off and similarity learnt."""

from skdp.context._events import extract_events
from skdp.context._lexicalized_event_model import LexicalizedEventModel

__all__ = ["LexicalizedEventModel", "extract_events"]
