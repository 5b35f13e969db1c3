"""Topic models: mistakes and their messages."""

import pandas as pd
from scipy.sparse import csr_array

from refusals.samples import DOCUMENTS
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.datasets import make_segmented_corpus, make_sticky_panel
from skdp.topics import GibbsLDA, LatentDirichletCoClustering, SectionedTopicModel, TopicSegmenter


def parts_of(documents, n_features=None):
    return PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents(documents, n_features), 2)


PARTS = parts_of(DOCUMENTS)
CORPUS = make_segmented_corpus(30, random_state=0).data
EIGHT_STATES = make_sticky_panel(6, n_steps=60, n_states=8, random_state=0).data


def pitman_yor(X=DOCUMENTS, **params):
    return GibbsLDA(2, topic_word_discount="auto", **params).fit(X)


def co_clusters(**params):
    return LatentDirichletCoClustering(3, 2, max_iter=2, **params).fit(DOCUMENTS)


def sectioned(**params):
    return SectionedTopicModel(2, **params).fit(DOCUMENTS)


def segmenter(**params):
    return TopicSegmenter(**{"n_components": 2, "max_iter": 2, **params}).fit(DOCUMENTS)


def few_sweeps(model, X=CORPUS):
    return model.set_params(max_iter=40, thin=1, random_state=model.random_state or 0).fit(X)
