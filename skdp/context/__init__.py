"""Classifiers of outcomes in context: columns of categories, back-off and similarity learnt."""

from skdp.context._events import extract_events

__all__ = ["extract_events"]
