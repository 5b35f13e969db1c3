"""Seeds by role and streams by content."""

import numpy as np
import pytest

from skdp._random import Role, derive_stream, make_seed_sequence, make_stream, stream_of_content


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
