"""Classifiers of outcomes in context: learned back-off and similarity for columns of categories."""

from skdp.context._collins_backoff_classifier import CollinsBackoffClassifier
from skdp.context._distance_dependent_crp_classifier import DistanceDependentCRPClassifier
from skdp.context._hdp_backoff_classifier import HDPBackoffClassifier
from skdp.context._hdp_backoff_features import HDPBackoffFeatures
from skdp.context._lexicalized_event_model import LexicalizedEventModel, extract_events

__all__ = [
    "CollinsBackoffClassifier",
    "DistanceDependentCRPClassifier",
    "HDPBackoffClassifier",
    "HDPBackoffFeatures",
    "LexicalizedEventModel",
    "extract_events",
]
