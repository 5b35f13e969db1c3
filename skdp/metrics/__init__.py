"""Metrics of topics, of the segments of documents, of segmentations, and of parse trees."""

from skdp.metrics._alignment import (
    align_topics,
    hellinger_distance,
    hellinger_to_document,
    hellinger_to_previous,
    segment_deviation,
    segment_entropy,
)
from skdp.metrics._bracket_scores import bracket_scores
from skdp.metrics._coherence import topic_coherence
from skdp.metrics._segmentation import pk, segmentation_scores, window_diff

__all__ = [
    "align_topics",
    "bracket_scores",
    "hellinger_distance",
    "hellinger_to_document",
    "hellinger_to_previous",
    "pk",
    "segment_deviation",
    "segment_entropy",
    "segmentation_scores",
    "topic_coherence",
    "window_diff",
]
