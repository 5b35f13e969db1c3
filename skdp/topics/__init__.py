"""Topic models, most of which treat a document as a sequence of segments."""

from skdp.topics._adaptive import AdaptiveTopicModel
from skdp.topics._gibbs_lda import GibbsLDA
from skdp.topics._hdp_topic_model import HDPTopicModel
from skdp.topics._latent_dirichlet_co_clustering import LatentDirichletCoClustering
from skdp.topics._sectioned import SectionedTopicModel
from skdp.topics._segmented import SegmentedTopicModel
from skdp.topics._sequential import SequentialLDA
from skdp.topics._topic_segmenter import TopicSegmenter

__all__ = [
    "AdaptiveTopicModel",
    "GibbsLDA",
    "HDPTopicModel",
    "LatentDirichletCoClustering",
    "SectionedTopicModel",
    "SegmentedTopicModel",
    "SequentialLDA",
    "TopicSegmenter",
]
