"""Seeds by role and streams by content."""

import numpy as np
import pytest

from skdp._numeric._numba import njit
from skdp._numeric._random import (
    Role,
    derive_stream,
    draw_key,
    make_seed_sequence,
    make_stream,
    next_uint64,
    stream_of_content,
    stream_of_number,
    stream_of_segments,
)
from skdp.sequence import make_generator


def content_stream(key, tokens, lengths):
    rng = np.zeros(4, dtype=np.uint64)
    stream_of_content(key, np.asarray(tokens), np.asarray(lengths), rng)
    return tuple(int(word) for word in rng)


@pytest.mark.parametrize("make", [int, np.int64, np.random.RandomState, np.random.default_rng])
def test_equal_seeds_give_equal_roots(make):
    first, second, other = (make_seed_sequence(make(seed)) for seed in (3, 3, 4))
    assert np.array_equal(make_stream(first), make_stream(second))
    assert not np.array_equal(make_stream(first), make_stream(other))


@pytest.mark.parametrize("state", [np.random.RandomState(0), np.random.default_rng(0)])
def test_a_generator_moves_on(state):
    first, second = make_seed_sequence(state), make_seed_sequence(state)
    assert not np.array_equal(make_stream(first), make_stream(second))


def test_no_seed_is_fresh_entropy():
    assert make_seed_sequence(None).entropy != make_seed_sequence(None).entropy


@pytest.mark.parametrize("state", [-1, 1.5, "0", True, [1]])
def test_bad_seeds(state):
    with pytest.raises(ValueError, match="random_state"):
        make_seed_sequence(state)


def test_roles_and_keys_have_streams_of_their_own():
    root = make_seed_sequence(0)
    streams = [
        tuple(derive_stream(root, role, *keys))
        for role in Role
        for keys in [(), (0,), (1,), (0, 0), (0, 1)]
    ]
    assert len(set(streams)) == len(streams)
    assert tuple(derive_stream(root, Role.SWEEP, 1)) == tuple(derive_stream(root, Role.SWEEP, 1))


def test_stream_of_content_depends_on_key_words_order_and_segments():
    root = make_seed_sequence(0)
    key, other = derive_stream(root, Role.TRANSFORM), derive_stream(root, Role.INIT)
    streams = {
        content_stream(k, tokens, lengths)
        for k in (key, other)
        for tokens in ([0, 1, 2], [1, 0, 2], [0, 1, 3])
        for lengths in ([3], [1, 2], [2, 1], [3, 0])
    }
    assert len(streams) == 24
    assert content_stream(key, [0, 1], [2]) == content_stream(
        key, np.array([0, 1], dtype=np.int32), [2]
    )
    assert content_stream(key, [], []) != (0, 0, 0, 0)


@pytest.mark.parametrize("lengths", [[], [3], [1, 0, 2]])
def test_stream_of_segments_is_that_of_their_lengths(lengths):
    key = derive_stream(make_seed_sequence(0), Role.TRANSFORM)
    tokens = np.arange(sum(lengths))
    ptr = 4 + np.cumsum([0, *lengths])
    rng = np.zeros(4, dtype=np.uint64)
    njit(lambda key, tokens, ptr, rng: stream_of_segments(key, tokens, ptr, rng))(
        key, tokens, ptr, rng
    )
    assert tuple(rng.tolist()) == content_stream(key, tokens, lengths)


def test_keys_are_drawn():
    rng, same = (make_stream(make_seed_sequence(0)) for _ in range(2))
    key = np.empty(4, dtype=np.uint64)
    draw_key(rng, key)
    assert key.tolist() == [next_uint64(same) for _ in range(4)]


def test_streams_of_numbers_differ():
    root = make_seed_sequence(0)
    keys = [derive_stream(root, role) for role in (Role.SWEEP, Role.INIT)]
    rng, words = np.empty(4, dtype=np.uint64), []
    for key in keys:
        for number in range(1000):
            stream_of_number(key, number, rng)
            words += rng.tolist()
    assert len(set(words)) == len(words) == 8000
    # The first draws of streams in a row: a mean of 2,000 within 5 standard deviations of 1/2.
    draws = []
    for number in range(2000):
        stream_of_number(keys[0], number, rng)
        draws.append(next_uint64(rng) / 2**64)
    assert abs(np.mean(draws) - 0.5) < 5.0 / np.sqrt(12 * 2000)
    assert abs(np.corrcoef(draws[1:], draws[:-1])[0, 1]) < 5.0 / np.sqrt(2000)


def test_generators_follow_the_stream():
    streams = [make_stream(make_seed_sequence(seed)) for seed in (0, 0, 1)]
    before = streams[0].copy()
    first, same, other = ([make_generator(s).normal() for _ in range(3)] for s in streams)
    assert first == same
    assert len({*first, *other}) == 6
    assert not np.array_equal(streams[0], before)
    np.testing.assert_array_equal(streams[0], streams[1])


def test_generators_are_not_alike():
    """Means of 4,000 first draws and their products with the next: 5 standard errors."""
    stream = make_stream(make_seed_sequence(0))
    draws = np.array([make_generator(stream).random() for _ in range(4000)]) - 0.5
    assert abs(draws.mean()) < 5.0 * np.sqrt(1.0 / 12.0 / 4000)
    assert abs((draws[1:] * draws[:-1]).mean()) < 5.0 / 12.0 / np.sqrt(4000)
