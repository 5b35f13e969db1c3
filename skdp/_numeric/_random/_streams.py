"""Creation of streams: seeds by role, and streams keyed by a sample's content."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit, njit_internal, njit_outlined
from skdp._numeric._random._xoshiro import next_uint64

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_R30, _R27, _R31 = np.uint64(30), np.uint64(27), np.uint64(31)


class Role(IntEnum):
    """The purpose of a stream; two roles never share a stream."""

    INIT = 0
    SWEEP = 1
    TRANSFORM = 2
    SHARD = 3
    LIKELIHOOD = 4
    HALVES = 5
    PILOT = 6


def make_seed_sequence(
    random_state: int | np.integer | np.random.RandomState | np.random.Generator | None,
) -> np.random.SeedSequence:
    """Convert any form of `random_state` to the root of all streams of a fit.
    A RandomState or Generator is advanced by one draw, so that two fits with it differ.
    """
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.RandomState):
        words = random_state.randint(0, 2**32, size=4, dtype=np.uint32)
        return np.random.SeedSequence([int(word) for word in words])
    if isinstance(random_state, np.random.Generator):
        words = random_state.integers(0, 2**32, size=4, dtype=np.uint32)
        return np.random.SeedSequence([int(word) for word in words])
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state must be >= 0, got {random_state}.")
        return np.random.SeedSequence(int(random_state))
    raise ValueError(
        "random_state must be None, an int, a numpy RandomState or a numpy Generator, "
        f"got {random_state!r}."
    )


def make_stream(seed_sequence: np.random.SeedSequence) -> NDArray[np.uint64]:
    """Return the state (4,) of a new stream seeded by `seed_sequence`."""
    return np.asarray(seed_sequence.generate_state(4, np.uint64), dtype=np.uint64)


def derive_seed(root: np.random.SeedSequence, role: Role, *keys: int) -> np.random.SeedSequence:
    """Return the seed of `role` (and of further `keys`) below `root`."""
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, int(role), *keys))


def derive_stream(root: np.random.SeedSequence, role: Role, *keys: int) -> NDArray[np.uint64]:
    """Return the stream of `role` (and chain, shard, ... in `keys`) below `root`."""
    # Unlike SeedSequence.spawn this does not count calls, as a resumed fit requires.
    return make_stream(derive_seed(root, role, *keys))


@njit_internal
def _mix(x):
    """Scramble 64 bits (the output function of splitmix64)."""
    x = (x ^ (x >> _R30)) * _MIX1
    x = (x ^ (x >> _R27)) * _MIX2
    return x ^ (x >> _R31)


@njit
def stream_of_content(key, tokens, lengths, rng):
    """Write to `rng` the stream of a sample, which depends only on `key` and the content.
    The content is its `tokens` and the `lengths` of its parts (one if it has no parts).
    """
    h = key[0]
    for i in range(lengths.shape[0]):
        h = _mix((h ^ np.uint64(lengths[i])) + _GOLDEN)
    for i in range(tokens.shape[0]):
        h = _mix((h ^ np.uint64(tokens[i])) + _GOLDEN)
    _spread(h, key, rng)


@njit
def draw_key(rng, key):
    """Draw the (4,) `key` for streams of `stream_of_number`."""
    for i in range(4):
        key[i] = next_uint64(rng)


@njit_outlined
def stream_of_number(key, number, rng):
    """Write to `rng` the stream of a sample, which depends only on `key` and its number."""
    _spread(_mix((key[0] ^ np.uint64(number)) + _GOLDEN), key, rng)


@njit_internal
def _spread(h, key, rng):
    """Write the stream that is determined by 64 bits and a key."""
    for i in range(4):
        h += _GOLDEN
        rng[i] = _mix(h ^ key[i])
    rng[0] |= np.uint64(1)  # avoid the all-zero state, which xoshiro cannot leave
