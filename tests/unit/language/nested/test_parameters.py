"""The length of words that characters of some entropy make, and what is found with it."""

import tracemalloc

import numpy as np
import pytest

from skdp.language import CollocationPitmanYorLM, NestedPitmanYorLM
from skdp.language._nested._parameters import expected_word_length
from skdp.metrics import segmentation_scores

pytestmark = pytest.mark.filterwarnings(
    "ignore:The log joint:sklearn.exceptions.ConvergenceWarning"
)


def model(**params):
    return NestedPitmanYorLM(**{"n_chains": 1, "random_state": 0, **params})


@pytest.mark.parametrize(
    ("n_characters", "expected"),
    [(1, 7.0), (2, 7.0), (16, 7.0), (32, 6.4), (512, 160.0 / 81.0), (16384, 1.0)],
)
def test_as_frequent_as_each_other(n_characters, expected):
    tokens = np.tile(np.arange(n_characters, dtype=np.int32), 3)
    assert expected_word_length(tokens) == pytest.approx(expected)


def test_unequal_characters():
    tokens = np.repeat(np.arange(1000, dtype=np.int32), np.arange(1, 1001))
    p = np.arange(1, 1001) / 500_500
    entropy = -sum(x * np.log2(x) for x in p)
    assert expected_word_length(tokens) == pytest.approx(160.0 / entropy**2)
    assert expected_word_length(tokens + 7) == expected_word_length(tokens)


@pytest.mark.parametrize("make", [NestedPitmanYorLM, CollocationPitmanYorLM])
@pytest.mark.filterwarnings("ignore:.*too few sweeps:sklearn.exceptions.ConvergenceWarning")
def test_a_stray_character_takes_no_memory(make):
    """Tables do not have a place for each character of the alphabet."""
    model = make(n_chains=1, max_iter=4, random_state=0)
    model.fit([[0, 1, 2, 1], [1, 2, 0], [0, 3]])
    tracemalloc.start()
    model.fit([[0, 1, 2, 1], [1, 2, 0], [0, 10**7]])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6
    assert model.n_features_in_ == 10**7 + 1


def text_of_words(n_characters, n_words, lengths, n_strings=400, seed=0):
    """Draw words of a lexicon, the r-th in proportion to 1 / r."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice(len(lengths), size=n_words, p=lengths) + 1
    words = ["".join(chr(0x4E00 + c) for c in rng.integers(0, n_characters, k)) for k in sizes]
    weights = 1.0 / np.arange(1, n_words + 1)
    return [
        [words[w] for w in rng.choice(n_words, size=6, p=weights / weights.sum())]
        for _ in range(n_strings)
    ]


IDEOGRAMS = text_of_words(1500, 700, [0.25, 0.6, 0.15])


@pytest.mark.parametrize("word_length", ["entropy", "auto"])
def test_words_of_many_different_characters(word_length):
    """Such as Chinese: by default no more is wrong than with a cut behind every character."""
    texts = ["".join(words) for words in IDEOGRAMS]
    estimator = model(word_length=word_length).fit(texts)
    found = segmentation_scores(IDEOGRAMS, estimator.predict(texts)).token_f
    assert 1.0 <= estimator.word_length_ < 3.5
    assert found > segmentation_scores(IDEOGRAMS, [list(text) for text in texts]).token_f + 0.1
    assert found > 0.85


def test_letters_without_words():
    """Random letters: words neither of one letter nor as long as is allowed."""
    letters = np.random.default_rng(0).integers(97, 123, size=(150, 20))
    texts = ["".join(map(chr, row)) for row in letters]
    estimator = model(max_iter=8).fit(texts)
    assert estimator.word_length_ == 7.0
    words = [word for words in estimator.predict(texts) for word in words]
    assert 2.0 < np.mean([len(word) for word in words]) < 15.0


def test_start_of_a_learned_length():
    """The mean of the prior, and held while the sweeps are annealed."""
    params = {"word_length": "auto", "max_iter": 8}
    for prior, first in [((20.0, 10.0), 2.0), (None, 7.0)]:
        states = model(length_prior=prior, **params).iter_sweeps(["thedog", "adog", "thecat"])
        lengths = [state.word_length for state in states]
        assert lengths[:4] == [first] * 4
        assert len(set(lengths)) == 5
