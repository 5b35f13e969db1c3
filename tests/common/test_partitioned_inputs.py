"""Estimators that cannot take partitions say so, and name the way out."""

import importlib
import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from skdp.context import CollinsBackoffClassifier
from skdp.data import (
    PartitionedCorpus,
    PartitionedPanel,
    PartitionedSentences,
    SegmentedCorpus,
    SequencePanel,
    TokenSequences,
)
from skdp.language import HierarchicalPitmanYorLM

SENTENCES = TokenSequences.from_sequences([[0, 1], [1]])
INPUTS = [
    PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents([[[0, 1]], [[1]]]), 2),
    PartitionedPanel.from_panel(SequencePanel.from_sequences([np.ones((3, 2))] * 2), 2),
    PartitionedSentences.from_sentences(SENTENCES, 2),
]
WRAPPED = {
    "LanguageModelClassifier": (HierarchicalPitmanYorLM(),),
    "LexicalizedEventModel": (CollinsBackoffClassifier(),),
    "PanelTransformer": (StandardScaler(),),
}
TAKEN = {
    "HDPHMMLT": (PartitionedPanel,),
    "HDPPCFG": (PartitionedSentences,),
    "SegmentedTopicModel": (PartitionedCorpus,),
    "GibbsLDA": (PartitionedCorpus,),
    "SequentialLDA": (PartitionedCorpus,),
    "AdaptiveTopicModel": (PartitionedCorpus,),
    "LatentDirichletCoClustering": (PartitionedCorpus,),
}
MODULES = ("context", "grammar", "language", "mixture", "preprocessing", "sequence", "topics")
ESTIMATORS = [
    cls
    for module in MODULES
    for cls in vars(importlib.import_module(f"skdp.{module}")).values()
    if inspect.isclass(cls) and issubclass(cls, BaseEstimator) and hasattr(cls, "fit")
]


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("X", INPUTS, ids=lambda X: type(X).__name__)
def test_fit(cls, X):
    if isinstance(X, TAKEN.get(cls.__name__, ())):
        pytest.skip("it takes them")
    y = () if len(inspect.signature(cls.fit).parameters) == 2 else ([0, 1],)
    with pytest.raises(TypeError, match=r"\.compute\(\)"):
        cls(*WRAPPED.get(cls.__name__, ())).fit(X, *y)
