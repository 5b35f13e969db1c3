"""Topic models: mistakes and their messages."""

import pandas as pd
from scipy.sparse import csr_array

from refusals.samples import DOCUMENTS
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics import GibbsLDA, LatentDirichletCoClustering, SectionedTopicModel, TopicSegmenter


def parts_of(documents, n_features=None):
    return PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents(documents, n_features), 2)


PARTS = parts_of(DOCUMENTS)


def pitman_yor(X=DOCUMENTS, **params):
    return GibbsLDA(2, topic_word_discount="auto", **params).fit(X)


def co_clusters(**params):
    return LatentDirichletCoClustering(3, 2, max_iter=2, **params).fit(DOCUMENTS)


def sectioned(**params):
    return SectionedTopicModel(2, **params).fit(DOCUMENTS)


def segmenter(**params):
    return TopicSegmenter(**{"n_components": 2, "max_iter": 2, **params}).fit(DOCUMENTS)
