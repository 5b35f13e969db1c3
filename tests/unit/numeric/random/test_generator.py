import numpy as np

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence import make_generator


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
