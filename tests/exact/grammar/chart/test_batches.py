"""Sums over batches of sentences against sums in numbers of unlimited range, and in logs."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.special import logsumexp

from skdp.data import TokenSequences
from skdp.grammar._chart import _lanes, _long
from skdp.grammar._chart._batches import SentenceBatches
from skdp.grammar._chart._engine import (
    expected_counts,
    expected_symbols,
    inside,
    sample_trees,
    viterbi,
)
from skdp.grammar._chart._weights import RuleWeights

N_WORDS = 30


def random_weights(n_preterminals, n_constituents, seed=0):
    """Return a grammar of probabilities; None: unpartitioned."""
    rng = np.random.default_rng(seed)
    n_emitting = n_constituents if n_preterminals is None else n_preterminals
    n_symbols = n_constituents if n_preterminals is None else n_preterminals + n_constituents
    root = rng.dirichlet(np.ones(n_symbols))
    emission = rng.dirichlet(np.ones(N_WORDS), n_emitting)
    binary = rng.dirichlet(np.full(n_symbols**2, 0.3), n_constituents)
    binary = binary.reshape(n_constituents, n_symbols, n_symbols)
    with np.errstate(divide="ignore"):  # probabilities of 0 occur
        return RuleWeights(np.log(root), np.log(emission), np.log(binary), n_preterminals)


def random_sentences(lengths, seed=0):
    rng = np.random.default_rng(seed)
    return TokenSequences.from_sequences([rng.integers(N_WORDS, size=n) for n in lengths], N_WORDS)


@pytest.fixture
def unlimited(monkeypatch):
    """Return a function that runs another one with all sentences taken for unsafe."""

    def run(function, *args):
        with monkeypatch.context() as patch:
            patch.setattr(_lanes, "_LIMIT", {4: -1.0, 8: -1.0})
            return function(*args)

    return run


SIZES = [(None, 1), (None, 7), (None, 10), (None, 13), (3, 5), (9, 11), (12, 2), (2, 12)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_all_sizes(sizes, unlimited):
    """Numbers of symbols that fill blocks of registers in all ways; lengths mixed."""
    weights = random_weights(*sizes)
    sentences = random_sentences([*range(1, 10), *range(1, 10), 9, 9, 2, 1])
    for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 2e-5)):
        found = expected_counts(sentences, weights, dtype=dtype)
        expected = unlimited(expected_counts, sentences, weights)
        np.testing.assert_allclose(found.log_prob, expected.log_prob, rtol=0, atol=tolerance)
        for part, wanted in zip(found[1:], expected[1:], strict=True):
            np.testing.assert_allclose(part, wanted, rtol=tolerance, atol=tolerance)
        symbols = expected_symbols(sentences, weights, dtype=dtype)
        wanted = unlimited(expected_symbols, sentences, weights)
        np.testing.assert_allclose(symbols, wanted, rtol=0, atol=tolerance)
        assert_array_equal(inside(sentences, weights, dtype=dtype), found.log_prob)


@pytest.fixture
def alone(monkeypatch):
    """Let sentences of two words or more be done one at a time."""
    monkeypatch.setattr(_long, "LEAST_WORDS", 2)
    monkeypatch.setattr(_long, "MOST_WORDS", 2)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_all_sizes_one_at_a_time(sizes, alone, unlimited):
    """Symbols that fill vectors in all ways; spans whose counts are held back in all numbers."""
    test_all_sizes(sizes, unlimited)


def test_one_at_a_time_is_as_side_by_side(monkeypatch):
    """Also in what follows from it: seven long sentences, equal ones among them, and short ones."""
    weights = random_weights(3, 4)
    sentences = random_sentences([60, 50, 50, 49, 48, 47, 5, 1])
    sentences = sentences[[0, 1, 2, 1, 3, 4, 5, 6, 7]]
    found = expected_counts(sentences, weights)
    symbols, log_prob = expected_symbols(sentences, weights), inside(sentences, weights)
    assert_array_equal(log_prob, found.log_prob)
    two = expected_counts(sentences, weights, n_jobs=2)
    for one, other in zip(found, two, strict=True):
        assert_array_equal(one, other)
    monkeypatch.setattr(_long, "LEAST_WORDS", 1000)
    expected = expected_counts(sentences, weights)
    for part, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(part, wanted, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(symbols, expected_symbols(sentences, weights), rtol=1e-11)
    assert not np.array_equal(found.binary, expected.binary)  # it is another way


def test_who_is_done_alone():
    def lengths_of(*lengths):
        return np.array(sorted(lengths, reverse=True))

    for lengths, expected in [
        ([100] * 5, 5),
        ([100] * 16, 0),
        ([100] * 16 + [90], 1),  # the last one would have a batch of its own
        ([100] * 16 + [40], 0),
        ([150, *[40] * 100], 1),
        ([150, 140, *[60] * 14], 2),
        ([40], 0),
        ([250] * 32, 32),
        ([], 0),
    ]:
        found = _long.are_long(lengths_of(*lengths), 16)
        assert found.sum() == expected
    found = _long.are_long(lengths_of(150, *[100] * 16, 90), 16)
    assert_array_equal(np.flatnonzero(found), [0, 17])


def log_prob_in_logs(words, weights):
    """Return the log probability of a sentence, unpartitioned; everything in logs."""
    n, n_symbols = len(words), len(weights.log_root)
    chart = np.full((n, n + 1, n_symbols), -np.inf)
    for s, word in enumerate(words):
        chart[s, s + 1] = weights.log_emission[:, word]
    for length in range(2, n + 1):
        for s in range(n - length + 1):
            e = s + length
            left, right = chart[s, s + 1 : e, :, None], chart[s + 1 : e, e, None, :]
            splits = np.logaddexp.reduce(left + right, axis=0)
            chart[s, e] = logsumexp(weights.log_binary + splits, axis=(1, 2))
    return logsumexp(weights.log_root + chart[0, n])


@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_long_sentences(shift, unlimited):
    """200 words; large weights too, so that sums reach thousands of nats."""
    weights = random_weights(None, 3)
    weights = weights._replace(log_binary=weights.log_binary + shift)
    sentences = random_sentences([200, 197, 60])
    found = expected_counts(sentences, weights)
    in_logs = [log_prob_in_logs(sentences[i], weights) for i in (1, 2)]
    np.testing.assert_allclose(found.log_prob[1:], in_logs, rtol=1e-13)
    expected = unlimited(expected_counts, sentences, weights)
    for part, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(part, wanted, rtol=1e-12, atol=1e-10)
    assert_array_equal(inside(sentences, weights), found.log_prob)


@pytest.mark.parametrize("seed", [7, 11])
def test_weights_far_apart_one_at_a_time(seed):
    """Up to 2,000 nats between rules: what is lost of the likely ones may be all there is."""
    rng = np.random.default_rng(seed)
    shapes = (3,), (3, 5), (3, 3, 3)
    weights = RuleWeights(*(-2000.0 * rng.random(shape) for shape in shapes), None)
    words = rng.integers(0, 5, 50)
    found = expected_counts(TokenSequences.from_sequences([words], 5), weights)
    np.testing.assert_allclose(found.log_prob[0], log_prob_in_logs(words, weights), rtol=1e-13)
    np.testing.assert_allclose(found.binary.sum(), 49.0, rtol=1e-12)


def test_unlikely_words_one_at_a_time(alone, unlimited):
    test_unlikely_words(unlimited)


def test_unlikely_words(unlimited):
    """Rules of weight e^-10,000 are all but zero: sentences that need them are seen to."""
    rng = np.random.default_rng(1)
    weights = random_weights(4, 4)
    for part in weights[:3]:
        part[rng.random(part.shape) < 0.9] -= 10_000.0
    sentences = random_sentences([*range(1, 9)] * 4)
    found = expected_counts(sentences, weights)
    assert_array_equal(inside(sentences, weights), found.log_prob)
    expected = unlimited(expected_counts, sentences, weights)
    assert found.log_prob.min() < -10_000.0
    for part, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(part, wanted, rtol=1e-13, atol=1e-10)
    single = expected_counts(sentences, weights, dtype=np.float32)
    for part, wanted in zip(single, expected, strict=True):
        np.testing.assert_allclose(part, wanted, rtol=1e-6, atol=1e-4)


def test_threads_and_batches_change_nothing():
    weights = random_weights(5, 6)
    lengths = np.random.default_rng(0).integers(1, 12, size=800)
    sentences = random_sentences(lengths)
    first, second = (expected_counts(sentences, weights, n_jobs=n) for n in (1, 2))
    for one, other in zip(first, second, strict=True):
        assert_array_equal(one, other)
    some = np.array([5, 700, 31, 2, 5])
    assert_array_equal(inside(sentences[some], weights), first.log_prob[some])
    one = expected_symbols(sentences, weights)
    assert_array_equal(expected_symbols(sentences[some], weights, n_jobs=2), one[some])
    np.testing.assert_allclose(one.sum(axis=1), 2 * lengths - 1)
    streams = np.random.default_rng(0).integers(1, 2**63, size=(800, 4)).astype(np.uint64)
    one, other = (sample_trees(sentences, weights, streams.copy(), n_jobs=n) for n in (1, 2))
    for a, b in zip(one, other, strict=True):
        assert_array_equal(a, b)
    few = sample_trees(sentences[some], weights, streams[some])
    for k, i in enumerate(some):
        begin, end = one.node_ptr[i : i + 2]
        drawn = few.symbols[few.node_ptr[k] : few.node_ptr[k + 1]]
        assert_array_equal(drawn, one.symbols[begin:end])


def test_equal_sentences_are_done_once():
    weights = random_weights(None, 4)
    rows = [[1, 2, 3], [4], [1, 2, 3], [3, 2, 1], [4], [1, 2, 3]]
    batches = SentenceBatches.of(TokenSequences.from_sequences(rows, N_WORDS))
    assert len(batches.distinct) == 3
    assert batches.multiplicity.tolist() == [3.0, 1.0, 2.0]
    assert SentenceBatches.of(batches) is batches
    found = expected_counts(batches, weights)
    parts = [
        expected_counts(TokenSequences.from_sequences([row], N_WORDS), weights) for row in rows
    ]
    np.testing.assert_allclose(found.log_prob, [part.log_prob[0] for part in parts], rtol=1e-13)
    for name in ("root", "emission", "binary"):
        total = sum(getattr(part, name) for part in parts)
        np.testing.assert_allclose(getattr(found, name), total, rtol=1e-12)
    _, trees = viterbi(batches, weights)
    assert_array_equal(np.diff(trees.node_ptr), [5, 1, 5, 5, 1, 5])


def test_empty_sentence():
    with pytest.raises(ValueError, match="Sentence 1 has no words"):
        SentenceBatches.of(TokenSequences.from_sequences([[0], []], N_WORDS))
