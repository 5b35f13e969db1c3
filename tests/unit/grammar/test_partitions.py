"""Grammars of sentences in partitions, in this process."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp._executors import LocalExecutor
from skdp.data import PartitionedSentences, TokenSequences
from skdp.grammar import HDPPCFG
from skdp.grammar._chart._engine import expected_counts
from skdp.grammar._induction._ascent import start_weights
from skdp.grammar._induction._layout import GrammarLayout
from skdp.grammar._induction._partitions import DistributedSentences

RNG = np.random.default_rng(0)
SENTENCES = TokenSequences.from_sequences(
    [RNG.integers(0, 5, RNG.integers(0, 7)) for _ in range(40)], n_features=5
)
SETTINGS = [
    {},
    {"n_preterminals": 2},
    {"inference": "em", "pseudo_count": 0.1},
    {"inference": "viterbi-em"},
    {"n_init": 2, "n_jobs": 2},
    {"dtype": "float32"},
]


def model(**params):
    return HDPPCFG(2, **{"max_iter": 4, "random_state": 0, **params})


def split(n):
    return PartitionedSentences.from_sentences(SENTENCES, n)


def assert_same(first, second):
    for name in ("root_probs_", "emission_probs_", "binary_probs_", "lower_bounds_"):
        assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_one_partition_has_the_bits_of_none(params):
    assert_same(model(**params).fit(split(1)), model(**params).fit(SENTENCES))


@pytest.mark.parametrize("n_partitions", [2, 11])
def test_partitions_differ_by_rounding(n_partitions):
    whole, parts = model().fit(SENTENCES), model().fit(split(n_partitions))
    assert_allclose(parts.lower_bounds_, whole.lower_bounds_, rtol=1e-12)
    assert_allclose(parts.binary_probs_, whole.binary_probs_, rtol=1e-8)
    assert_same(model(n_jobs=2).fit(split(n_partitions)), parts)
    assert parts.n_words_ == parts.n_features_in_ == 5


def test_expected_counts_are_those_of_all_sentences():
    weights = start_weights(GrammarLayout(5, 2, None), np.full(2, 0.5), np.random.default_rng(1))
    words = SENTENCES[np.diff(SENTENCES.ptr) > 0]
    expected = expected_counts(words, weights)
    with LocalExecutor(None) as executor:
        data = DistributedSentences(split(9), executor)
        log_likelihood, counts = data.expected_counts(np.dtype("float64"))(weights)
    assert_allclose(log_likelihood, expected.log_prob.sum(), rtol=1e-13)
    for part, whole in zip(counts, expected[1:], strict=True):
        assert_allclose(part, whole, rtol=1e-12)


def test_predictions(tmp_path):
    fitted = model().fit(SENTENCES)
    X = split(7).to_files(tmp_path)
    assert_array_equal(fitted.score_samples(X), fitted.score_samples(SENTENCES))
    assert_array_equal(fitted.transform(X), fitted.transform(SENTENCES))
    assert fitted.predict(X) == fitted.predict(SENTENCES)
    assert_allclose(fitted.score(X), fitted.score(SENTENCES), rtol=1e-14)
    assert_allclose(fitted.perplexity(X), fitted.perplexity(SENTENCES), rtol=1e-12)


def test_long_sentences_are_left_out():
    with pytest.warns(UserWarning, match=r"\d+ of \d+ sentences are longer") as whole:
        fitted = model(max_length=3).fit(SENTENCES)
    with pytest.warns(UserWarning, match=r"\d+ of \d+ sentences are longer") as parts:
        assert_same(model(max_length=3).fit(split(1)), fitted)
    assert str(whole[0].message) == str(parts[0].message)


def test_warm_start():
    straight = model(max_iter=6).fit(split(3))
    resumed = model(max_iter=2, warm_start=True).fit(split(3))
    resumed = pickle.loads(pickle.dumps(resumed)).set_params(max_iter=6).fit(split(3))
    assert_same(resumed, straight)
    for other in (split(2), SENTENCES, PartitionedSentences.from_sentences(SENTENCES[::-1], 3)):
        with pytest.raises(ValueError, match="needs the same X"):
            resumed.fit(other)


def test_errors(tmp_path):
    empty = PartitionedSentences.from_sentences(TokenSequences.from_sequences([[], []], 3), 2)
    with pytest.raises(ValueError, match=r"Found 0 word\(s\)"):
        model().fit(empty)
    fitted = model().fit(SENTENCES)
    with pytest.raises(ValueError, match="no words to score"):
        fitted.score(PartitionedSentences.from_sentences(TokenSequences([], [0, 0], 5), 1))
    with pytest.raises(ValueError, match="3 features, but HDPPCFG is expecting 5"):
        fitted.score_samples(empty)
    with pytest.raises(ValueError, match="longer than max_length=1"):
        model(max_length=1).fit(
            PartitionedSentences.from_sentences(TokenSequences.from_sequences([[0, 1]]), 1)
        )
    with pytest.raises(ValueError, match="n_jobs"):
        model(n_jobs=0).fit(split(2))
    of_rows = model().fit(np.array([[0, 1], [1, 1]]))
    with pytest.raises(ValueError, match="fitted on an array"):
        of_rows.predict(PartitionedSentences.from_sentences(TokenSequences([0], [0, 1], 2), 1))


def test_a_fit_that_fails_leaves_the_estimator_alone(tmp_path):
    X = split(3).to_files(tmp_path)
    tokens = np.load(tmp_path / "part-00002" / "tokens.npy")
    np.save(tmp_path / "part-00002" / "tokens.npy", tokens - 1)
    fresh = model()
    with pytest.raises(ValueError, match=r"partition 2 \(part-00002\): sentence \d+: word id -1"):
        fresh.fit(X)
    assert not hasattr(fresh, "n_words_")


def test_gibbs_sampling_takes_no_partitions():
    with pytest.raises(TypeError, match=r"takes no PartitionedSentences.*X\.compute\(\)"):
        HDPPCFG(2, inference="gibbs").fit(split(2))


def test_score_of_partitions_is_a_mean_over_samples():
    fitted = HDPPCFG(2, inference="gibbs", max_iter=20, random_state=0).fit(SENTENCES)
    assert fitted.score(split(3)) == pytest.approx(fitted.score(SENTENCES), rel=1e-12)
