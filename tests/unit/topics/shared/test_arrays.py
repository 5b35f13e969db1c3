"""Counts of a word in a topic have a limit: what passes it is found, also when it has come back."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skdp.data import SegmentedCorpus
from skdp.topics import GibbsLDA
from skdp.topics._lda._kernels_sweeps import list_words
from skdp.topics._lda._shard import ListedWords, check_lists
from skdp.topics._shared._arrays import MAX_COUNT, check_counts, empty_counts
from skdp.topics._shared._kernels_changes import move_words
from skdp.topics._shared._packing import encode
from skdp.topics._shared._partition import CountChange, Replica
from skdp.topics._shared._shards import Counted

FULL = "The word 5 occurs 16777216 times or more in topic 1,"


def refusal_of(check):
    """Return the message of the error, or an empty string."""
    try:
        check()
    except ValueError as error:
        return str(error)
    return ""


def words_of(n, *, of_others=3):
    """Return counts of which word 5 has `n` in topic 1, and others a few more."""
    words = empty_counts(8, 2)
    words.counts[:, :2] = of_others
    words.counts[5, 1] = n
    words.totals[:] = words.counts.sum(axis=0, dtype=np.float64)
    return words


def test_counts_below_the_limit_are_exact():
    words = words_of(MAX_COUNT - 1)
    words.counts[2, 0] = words.counts[3, 1] = MAX_COUNT - 1  # not a limit of topics or words
    words.totals[:] = words.counts.sum(axis=0, dtype=np.float64)
    check_counts(words)
    check_counts(empty_counts(3, 2))


def test_a_full_count():
    assert FULL in refusal_of(lambda: check_counts(words_of(MAX_COUNT)))


def test_a_count_that_was_full_and_lost_a_word():
    words = words_of(MAX_COUNT - 1)
    zeros, ones = np.zeros((2, 3), dtype=np.int32)
    ones += 1
    words.counts[5, 0] = 3
    move_words(np.full(3, 5, dtype=np.int32), zeros, ones, words.counts, words.totals)
    assert words.counts[5, 1] == MAX_COUNT  # should be larger by two
    move_words(np.full(3, 5, dtype=np.int32), ones, zeros, words.counts, words.totals)
    assert words.counts[5, 1] < MAX_COUNT - 1
    assert FULL in refusal_of(lambda: check_counts(words))


def test_sums_of_shards():
    """Each shard stays below the limit, the sum does not."""
    words, copies = words_of(MAX_COUNT - 10), []
    for n in (6, 7):
        own = Counted.copy(words)
        own.counts[5, :2] += [-n, n]
        own.totals[:2] += [-n, n]
        copies.append(own)
        check_counts(own)
    changes = [(encode(words.counts, own.counts), own.totals - words.totals) for own in copies]
    Counted.add(Counted.copy(words), changes[:1])
    assert FULL in refusal_of(lambda: Counted.add(Counted.copy(words), changes))
    assert FULL in refusal_of(lambda: Counted.merge(words, copies))


def test_sums_of_partitions():
    replica = Replica(8, 2)
    first, second = (CountChange.of(words_of(n)) for n in (MAX_COUNT - 4, 3))
    assert_array_equal(replica.after(1, first + second).counts[5, :2], [6, MAX_COUNT - 1])
    assert FULL in refusal_of(lambda: Replica(8, 2).after(1, first + second + second))


@pytest.mark.parametrize("n", [1, 0])
def test_lists(n):
    """`n` words too many: the largest count is full, or it was."""
    tokens = np.repeat(np.arange(8, dtype=np.int32), 3)
    topics = np.arange(24, dtype=np.int32) % 3
    lists = list_words(tokens, topics, 8, 400)
    totals = np.bincount(topics, minlength=400).astype(np.float64)
    at = lists.row_ptr[5] + int(np.flatnonzero(lists.ids[lists.row_ptr[5] :] == 1)[0])
    lists.values[at] += MAX_COUNT - 2
    totals[1] += MAX_COUNT - 2
    check_lists(ListedWords(lists, totals))
    lists.values[at] += n
    totals[1] += 1
    assert FULL in refusal_of(lambda: check_lists(ListedWords(lists, totals)))


@pytest.mark.slow
def test_a_word_that_occurs_more_often_than_a_count_can_hold():
    """It is a limit of a word in a topic: the same word has room in several topics."""
    n = MAX_COUNT + 8
    corpus = SegmentedCorpus(
        np.zeros(n, dtype=np.int32), np.array([0, n // 2, n]), np.array([0, 1, 2]), 2
    )
    common = {"doc_topic_prior": 1e6, "topic_word_prior": 0.1, "max_iter": 1, "burn_in": 0}
    model = GibbsLDA(2, **common, random_state=0).fit(corpus)
    assert model.components_[:, 0].min() > 0.99
    with pytest.raises(ValueError, match="The word 0 occurs 16777216 times or more in topic 0,"):
        GibbsLDA(1, **common, random_state=0).fit(corpus)
