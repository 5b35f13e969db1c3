"""Classifiers of outcomes in context: columns of categories, back-off and similarity learnt."""

from skdp.context._distance_dependent_crp_classifier import DistanceDependentCRPClassifier

__all__ = ["DistanceDependentCRPClassifier"]
