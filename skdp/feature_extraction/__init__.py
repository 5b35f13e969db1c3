"""Raw text to the containers that the models take."""

from skdp.feature_extraction._segment_vectorizer import SegmentVectorizer

__all__ = ["SegmentVectorizer"]
