"""The generator xoshiro256++ (Blackman and Vigna, 2021), one step at a time.

| name | shape | meaning |
|---|---|---|
| rng | (4,) uint64 | state of the stream, not all zero, advanced in place |
"""

import numpy as np

from skdp._numeric._numba import njit

_R17, _R23, _R41, _R45, _R19 = (np.uint64(shift) for shift in (17, 23, 41, 45, 19))
_R11, _R12 = np.uint64(11), np.uint64(12)
_UNIT = 1.0 / 9007199254740992.0  # 2**-53


@njit
def next_uint64(rng):
    """Return the next 64 random bits of the stream `rng`."""
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    x = s0 + s3
    result = ((x << _R23) | (x >> _R41)) + s0
    t = s1 << _R17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    s3 = (s3 << _R45) | (s3 >> _R19)
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
    return result


@njit
def next_double(rng):
    """Return a uniform draw from [0, 1), a multiple of 2**-53."""
    return float(next_uint64(rng) >> _R11) * _UNIT


@njit
def next_open_double(rng):
    """Return a uniform draw from (0, 1), an odd multiple of 2**-53, whose logarithm is finite."""
    return (float(next_uint64(rng) >> _R12) + 0.5) * (2.0 * _UNIT)
