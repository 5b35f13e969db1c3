"""Raw text to the containers that the models take."""

from skdp.feature_extraction._segment_vectorizer import SegmentVectorizer
from skdp.feature_extraction._token_vectorizer import TokenVectorizer

__all__ = ["SegmentVectorizer", "TokenVectorizer"]
