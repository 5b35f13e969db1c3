"""What topics, the segments of documents, segmentations and parse trees are worth, in numbers."""

from skdp.metrics._alignment import align_topics
from skdp.metrics._bracket_scores import bracket_scores
from skdp.metrics._coherence import topic_coherence
from skdp.metrics._hellinger import (
    hellinger_distance,
    hellinger_to_document,
    hellinger_to_previous,
)
from skdp.metrics._segmentation import pk, window_diff
from skdp.metrics._segmentation_scores import segmentation_scores
from skdp.metrics._variability import segment_deviation, segment_entropy

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
