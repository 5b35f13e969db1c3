import numpy as np
import pytest

from skdp._numeric._random import next_double, next_open_double, next_uint64

MASK = 2**64 - 1


def rotate(x: int, k: int) -> int:
    return ((x << k) | (x >> (64 - k))) & MASK


class Xoshiro:
    """The generator as its authors define it, in Python's integers."""

    def __init__(self, state):
        self.state = [int(word) for word in state]

    def __call__(self) -> int:
        s = self.state
        result = (rotate((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
        return result


def test_known_vector():
    rng = np.array([1, 2, 3, 4], dtype=np.uint64)
    assert [int(next_uint64(rng)) for _ in range(8)] == [
        41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205,
        9973669472204895162, 14011001112246962877, 12406186145184390807,
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_against_big_integers(seed):
    rng = np.random.SeedSequence(seed).generate_state(4, np.uint64)
    reference = Xoshiro(rng)
    for _ in range(1_000):
        assert int(next_uint64(rng)) == reference()
        assert next_double(rng) == (reference() >> 11) / 2**53
    np.testing.assert_array_equal(rng, np.array(reference.state, dtype=np.uint64))


def state_that_yields(result: int) -> np.ndarray:
    """Return a state whose next output is `result`: with s0 = 0 it is s3 rotated."""
    return np.array([0, 1, 2, rotate(result, 41)], dtype=np.uint64)


def test_ends_of_the_unit_interval():
    assert next_uint64(state_that_yields(MASK)) == MASK
    assert next_double(state_that_yields(0)) == 0.0
    assert next_double(state_that_yields(MASK)) == 1.0 - 2.0**-53
    assert 0.0 < next_open_double(state_that_yields(0)) < 2.0**-52
    assert 1.0 - 2.0**-52 < next_open_double(state_that_yields(MASK)) < 1.0
