"""Classifiers of outcomes in context: columns of categories, back-off and similarity learnt."""

from skdp.context._collins_backoff_classifier import CollinsBackoffClassifier
from skdp.context._hdp_backoff_classifier import HDPBackoffClassifier

__all__ = ["CollinsBackoffClassifier", "HDPBackoffClassifier"]
