"""Trees with words, and words of symbols."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from skdp.data import PartitionedSentences
from skdp.feature_extraction import TokenVectorizer
from skdp.grammar import HDPPCFG

TEXT = ["the cat ate", "a dog ate", "the dog slept", "a cat slept soundly"]
VECTORIZER = TokenVectorizer(min_count=1)
X = VECTORIZER.fit_transform(TEXT)
NAMES = VECTORIZER.get_feature_names_out()
MODEL = HDPPCFG(3, n_preterminals=4, max_iter=5, tol=10.0, random_state=0)


@pytest.fixture(scope="module")
def model():
    return clone(MODEL).fit(X)


def test_words_in_trees(model):
    trees = model.predict(X, feature_names=NAMES)
    assert [" ".join(tree.leaves) for tree in trees] == TEXT
    assert trees == [
        tree.with_leaves(text.split()) for tree, text in zip(model.predict(X), TEXT, strict=True)
    ]


def test_words_in_the_best_trees(model):
    for found, plain, text in zip(
        model.k_best(X, 3, feature_names=NAMES), model.k_best(X, 3), TEXT, strict=True
    ):
        assert found == [(tree.with_leaves(text.split()), score) for tree, score in plain]


def test_a_pipeline_of_text():
    pipeline = make_pipeline(TokenVectorizer(min_count=1), clone(MODEL)).fit(TEXT)
    names = pipeline[0].get_feature_names_out()
    (tree,) = pipeline.predict(["the dog ate"], feature_names=names)
    assert tree.leaves == ("the", "dog", "ate")


def test_top_words(model):
    n = len(NAMES)
    ids, words = model.top_words(), model.top_words(NAMES)
    assert len(ids) == len(model.emission_probs_) == 4
    for row, probs, names in zip(ids, model.emission_probs_, words, strict=True):
        assert sorted(row) == list(range(n))
        assert np.all(np.diff(probs[row]) <= 0.0)
        assert names == NAMES[row].tolist()
    for row, some in zip(words, model.top_words(NAMES, 2, weights=True), strict=True):
        assert [name for name, _ in some] == row[:2]
    assert model.top_words(n=1, weights=True)[0][0][1] == model.emission_probs_[0].max()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((NAMES[:2],), f"feature_names must hold n_features={len(NAMES)} names"),
        ((None, 0), "n must be"),
        ((None, 100), f"n must be at most n_words={len(NAMES)}, got 100"),
    ],
)
def test_bad_top_words(model, arguments, message):
    with pytest.raises(ValueError, match=message):
        model.top_words(*arguments)


def test_bad_names(model):
    for method in (model.predict, model.k_best):
        with pytest.raises(ValueError, match=f"feature_names must hold n_features={len(NAMES)}"):
            method(X, feature_names=["the"])
    parts = PartitionedSentences.from_sentences(X, 2)
    with pytest.raises(ValueError, match="feature_names go with sentences in memory"):
        model.predict(parts, feature_names=NAMES)
