"""Small data and fits that the tables use."""

import numpy as np

from skdp import sequence
from skdp.feature_extraction import SegmentVectorizer, TokenVectorizer
from skdp.grammar import HDPPCFG, HDPPCFGRefiner, ParseTree
from skdp.topics import SegmentedTopicModel

DOCUMENTS = [[[0, 1, 0], [2, 3]], [[3, 2], [1]]]
SERIES = np.array([[0.0, 1.0], [1.0, 0.5], [0.2, 0.1], [3.0, 2.0], [2.5, 2.5]])
SENTENCES = [[0, 1, 2], [0, 2]]
TREES = [ParseTree.from_brackets("(S (A a) (B b))"), ParseTree.from_brackets("(S (A c) (B d))")]
WORDS = [list(tree.leaves) for tree in TREES]
TOPICS = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
HALF = np.full((2, 2), 0.5)
HIDDEN = np.ma.masked_array([[1, 2], [3, 4]], [[True, False], [False, False]])
DAYS = np.array([["2020-01-01"], ["2020-01-02"]], dtype="M8[D]")
STRAY = 2**31 - 2
TEXTS = ["the cat sat", "the dog"]
TINY = (1e-20, 1e-20)
VAST = 10**5000
"""More digits than Python writes."""


class Complete(sequence.PoissonEmission):
    """Counts without missing values."""

    allows_nan = False


def stm(**params):
    return SegmentedTopicModel(**{"n_components": 2, "max_iter": 2, **params}).fit(DOCUMENTS)


def hmm(X=SERIES, **params):
    return sequence.HDPHMMLT(**{"n_components": 2, "max_iter": 2, **params}).fit(X)


def pcfg(**params):
    return HDPPCFG(**{"n_components": 2, "max_iter": 2, **params}).fit(SENTENCES)


def refine(X, y, **params):
    return HDPPCFGRefiner(2, max_iter=1, **params).fit(X, y)


def factorial(**params):
    return sequence.FactorialHMM(**{"n_factors": 2, "max_iter": 2, **params}).fit(SERIES)


def counts(**params):
    return hmm(np.array([[0], [2], [1]]), emission=sequence.CategoricalEmission(**params))


def given(components, **params):
    return SegmentedTopicModel.from_topics(components, doc_topic_prior=0.1, **params)


def fitted(vectorizer):
    vectorizer.fit(TEXTS)
    return vectorizer


def inverse_segments(ids):
    return fitted(SegmentVectorizer()).inverse_transform(ids)


def inverse_tokens(ids):
    return fitted(TokenVectorizer()).inverse_transform(ids)


def tokens(**params):
    return TokenVectorizer(**params).fit(TEXTS)


def segments(**params):
    return SegmentVectorizer(**params).fit(TEXTS)


def small_factors():
    return sequence.BinaryFactorEmission(2, weights_scale=1e-9, noise_prior=(1.0, 1e-18))


def log_obs(value):
    return sequence.hmm_log_likelihood([0.5, 0.5], HALF, value)
