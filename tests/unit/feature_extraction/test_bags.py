"""Vectorizers of bags: the words of one machine, partition by partition."""

import pytest

from skdp.data import PartitionedCorpus, PartitionedSentences
from skdp.feature_extraction import SegmentVectorizer, TokenVectorizer

dask_bag = pytest.importorskip("dask.bag")

TEXTS = ["a red fox\n\nthe fox", "red and blue", "", "the blue blue fox\n\nruns", "a fox"]


@pytest.mark.parametrize(
    ("vectorizer", "kind"),
    [
        (SegmentVectorizer(), PartitionedCorpus),
        (TokenVectorizer(), PartitionedSentences),
        (TokenVectorizer(unknown_words="drop"), PartitionedSentences),
    ],
)
def test_bags_are_as_lists(vectorizer, kind):
    bag = dask_bag.from_sequence(TEXTS, npartitions=3)
    whole = vectorizer.fit_transform(TEXTS)
    words = dict(vectorizer.vocabulary_)
    X = vectorizer.transform(bag)
    assert type(X) is kind
    assert X.n_partitions == bag.npartitions
    vectorizer.fit(["other words", "words"])  # is not what X is made with
    assert X.compute() == whole
    again = vectorizer.fit_transform(bag)
    assert type(again) is kind
    assert again.compute() == whole
    assert vectorizer.vocabulary_ == words


def test_bags_with_a_given_vocabulary():
    bag = dask_bag.from_sequence(TEXTS, npartitions=3)
    for kind in (SegmentVectorizer, TokenVectorizer):
        expected = kind(vocabulary=["fox", "blue"]).transform(TEXTS)
        assert kind(vocabulary=["fox", "blue"]).transform(bag).compute() == expected
