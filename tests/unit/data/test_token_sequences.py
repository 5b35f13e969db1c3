import numpy as np
import pytest
from hypothesis import given
from unit.data.strategies import N_WORDS, sentences

from skdp.data import SegmentedCorpus, TokenSequences


def test_arrays():
    container = TokenSequences.from_sequences([[0, 1], [], np.array([3], dtype=np.int8)])
    assert container.tokens.tolist() == [0, 1, 3]
    assert container.tokens.dtype == np.int32
    assert container.ptr.tolist() == [0, 2, 2, 3]
    assert container.shape == (3, 4)
    assert container == TokenSequences([0, 1, 3], [0, 2, 2, 3], 4)


@given(sentences)
def test_word_counts(data):
    container, texts = data
    expected = [np.bincount(text, minlength=N_WORDS) for text in texts]
    bow = container.to_bow()
    np.testing.assert_array_equal(bow.toarray(), np.reshape(expected, container.shape))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([[0], [1, 5]], r"sentence 1: word id 5 is out of range \[0, 5\)"),
        ([[0], [], [-2]], "sentence 2: word id -2 is out of range"),
        ([[0], ["dog"]], "sentence 1: must be a sequence of word ids"),
        ([[0], 1], "sentence 1: must be a sequence of word ids"),
        ([[0.5]], "sentence 0: must be a sequence of word ids"),
        (["dog"], "sentence 0: must be a sequence of word ids"),
    ],
)
def test_bad_sequences(texts, message):
    with pytest.raises(ValueError, match=message):
        TokenSequences.from_sequences(texts, 5)


def test_bad_offsets():
    with pytest.raises(ValueError, match="ptr must rise from 0 to 2, the number of tokens"):
        TokenSequences([0, 1], [0, 1], 2)


def test_ids_of_two_types_are_joined():
    parts = [np.array([1, 2], dtype=np.int64), np.array([3], dtype=np.uint64), [0]]
    assert TokenSequences.from_sequences(parts).tokens.tolist() == [1, 2, 3, 0]
    assert SegmentedCorpus.from_documents([parts]).tokens.tolist() == [1, 2, 3, 0]
    assert TokenSequences.from_sequences(parts).tokens.dtype == np.int32
