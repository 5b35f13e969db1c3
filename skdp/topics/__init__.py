"""Topic models that know that a document is a sequence of segments."""

from skdp.topics._segmented import SegmentedTopicModel

__all__ = ["SegmentedTopicModel"]
