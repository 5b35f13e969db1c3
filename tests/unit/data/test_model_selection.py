"""Containers through scikit-learn's meta-estimators, with worker processes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - importing enables
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer
from unit.data.dummies import MeanLevel, WordGroups, WordShares

from skdp.data import SegmentedCorpus, SequencePanel, TokenSequences

N = 24
RNG = np.random.default_rng(0)
Y = np.arange(N) % 2
TEXTS = [RNG.integers(0, 6, size=RNG.integers(1, 5)) + 2 * y for y in Y]

CORPUS = SegmentedCorpus.from_documents([[text, text[:1]] for text in TEXTS], 9)
SENTENCES = TokenSequences.from_sequences(TEXTS, 9)
PANEL = SequencePanel.from_sequences(TEXTS)
CASES = pytest.mark.parametrize(
    ("X", "transformer"),
    [(CORPUS, WordGroups()), (SENTENCES, WordShares()), (PANEL, MeanLevel())],
    ids=["corpus", "sentences", "panel"],
)


@CASES
def test_cross_validation(X, transformer):
    pipeline = make_pipeline(transformer, GaussianNB())
    for cv in (3, GroupKFold(3)):
        groups = None if cv == 3 else np.arange(N) // 2
        results = [
            cross_validate(pipeline, X, Y, groups=groups, cv=cv, n_jobs=n_jobs)["test_score"]
            for n_jobs in (1, 2)
        ]
        np.testing.assert_array_equal(*results)
    assert cross_val_predict(pipeline, X, Y).shape == (N,)


def test_grid_search():
    results = [
        GridSearchCV(WordGroups(), {"smoothing": [0.1, 1.0, 100.0]}, cv=3, n_jobs=n_jobs)
        .fit(CORPUS)
        .cv_results_["mean_test_score"]
        for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*results)
    assert len(set(results[0])) == 3


@pytest.mark.parametrize("resource", ["n_samples", "max_iter"])
def test_halving_grid_search(resource):
    search = HalvingGridSearchCV(
        WordGroups(),
        {"smoothing": [0.1, 1.0, 100.0]},
        resource=resource,
        max_resources=20 if resource == "max_iter" else "auto",
        min_resources=6,
        cv=3,
        n_jobs=2,
        random_state=0,
    ).fit(CORPUS)
    if resource == "max_iter":
        assert search.best_estimator_.n_iter_ == 18
    assert search.transform(CORPUS).shape == (N, 3)


def test_large_containers_reach_workers_as_memory_maps():
    tokens = RNG.integers(0, 9, size=600_000, dtype=np.int32)  # joblib maps from one megabyte
    X = SegmentedCorpus(tokens, np.arange(0, 600_001, 5_000), np.arange(0, 121, 5), 9)
    results = [
        cross_validate(WordGroups(), X, cv=3, n_jobs=n_jobs)["test_score"] for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*results)


@CASES
def test_pipeline_with_memory(X, transformer, tmp_path):
    plain = make_pipeline(transformer, GaussianNB())
    cached = make_pipeline(transformer, GaussianNB(), memory=str(tmp_path))
    expected = plain.fit(X, Y).predict_proba(X)
    for _ in range(2):
        np.testing.assert_array_equal(cached.fit(X, Y).predict_proba(X), expected)


@CASES
def test_feature_union(X, transformer):
    size = FunctionTransformer(lambda X: np.array([[len(sample)] for sample in X]))
    features = make_union(transformer, size).fit_transform(X)
    assert features.shape[0] == N
    assert features[:, -1].tolist() == [len(sample) for sample in X]


@CASES
def test_data_frame_output(X, transformer):
    union = FeatureUnion([("a", transformer)]).set_output(transform="pandas")
    frame = union.fit_transform(X)
    assert isinstance(frame, pd.DataFrame)
    assert frame.shape[0] == N
    assert frame.columns.tolist() == union.get_feature_names_out().tolist()
