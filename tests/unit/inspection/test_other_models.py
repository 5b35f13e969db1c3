"""Every display says which models it draws if it is given another fitted model."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from skdp import inspection
from skdp.mixture import IBPLatentFeatures

X = np.abs(np.random.default_rng(0).normal(size=(20, 2)))
KMEANS = KMeans(2, n_init=1, random_state=0).fit(X)

ARGUMENTS = {
    "ClusterDisplay": [X],
    "ClusterTreeDisplay": [],
    "CoAssignmentDisplay": [],
    "ComponentCountDisplay": [],
    "FactorDisplay": [],
    "ForecastDisplay": [X, 3],
    "GrammarDisplay": [],
    "HellingerDisplay": [X],
    "LexiconDisplay": [X],
    "LowerBoundDisplay": [],
    "ParseTreeDisplay": [X],
    "SegmentMixingDisplay": [X],
    "SegmentationDisplay": [X],
    "StateSequenceDisplay": [X],
    "TopicEvolutionDisplay": [X],
    "TopicTreeDisplay": [],
    "TraceDisplay": [],
    "TransitionDisplay": [],
}
"""Arguments of `from_estimator` after the estimator."""

PREDICTS_STATES = {"StateSequenceDisplay"}
"""Displays of any model whose `predict` numbers steps, such as k-means."""


def test_the_table_is_complete():
    found = {
        name for name in dir(inspection) if hasattr(getattr(inspection, name), "from_estimator")
    }
    assert found == set(ARGUMENTS)


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_of_another_kind(name):
    make, others, before = (
        getattr(inspection, name).from_estimator,
        ARGUMENTS[name],
        plt.get_fignums(),
    )
    other = PCA().fit(X) if name in PREDICTS_STATES else KMEANS
    with pytest.raises(TypeError, match=rf"estimator must be an? .*{type(other).__name__}"):
        make(other, *others)
    with pytest.raises(NotFittedError):
        make(type(other)(), *others)
    assert plt.get_fignums() == before


def test_features_are_no_clusters():
    features = IBPLatentFeatures(max_iter=4, random_state=0).fit(X)
    with pytest.raises(TypeError, match=r"a mixture that stores sampled partitions.*got IBPLatent"):
        inspection.CoAssignmentDisplay.from_estimator(features)


def test_pairs_of_models():
    with pytest.raises(TypeError, match="first must be a topic model, got a fitted KMeans"):
        inspection.TopicAlignmentDisplay.from_estimators(KMEANS, PCA().fit(X))
    with pytest.raises(TypeError, match="second must be a topic model, got a fitted KMeans"):
        inspection.TopicAlignmentDisplay.from_estimators(PCA().fit(X), KMEANS)
    with pytest.raises(TypeError, match=r"estimators must be language models .* got KMeans"):
        inspection.PerplexityDisplay.from_estimators([KMEANS], X)
    with pytest.raises(TypeError, match=r"a topic model of skdp\.topics.*which has no top_words"):
        inspection.TopicAlignmentDisplay.from_estimators(
            PCA().fit(X), PCA().fit(X), feature_names=["a", "b"]
        )
