import numpy as np
import pytest
from exact.oracles.batch_means import assert_means
from scipy.stats import expon

from skdp._numeric._random import draw_slice, make_seed_sequence, make_stream


@pytest.mark.parametrize(("width", "max_steps"), [(0.1, 100), (2.0, 100), (50.0, 100), (0.5, 2)])
def test_means(width, max_steps):
    """The log of an exponential number, bounded below; a false alarm once in 80,000, 3 of them."""
    bound = np.log(0.1)
    rng = make_stream(make_seed_sequence(0))

    def log_density(x):
        return x - np.exp(x) if x >= bound else -np.inf

    x, draws = 0.0, []
    for _ in range(20_000):
        x = draw_slice(log_density, x, rng, width, max_steps)
        draws.append((np.exp(x), np.exp(2.0 * x), x < 0.0))
    # An exponential number above 0.1 is 0.1 and an exponential number.
    share = (expon.cdf(1.0) - expon.cdf(0.1)) / expon.sf(0.1)
    assert_means(draws, [1.1, 0.01 + 0.2 + 2.0, share])


def test_constant_where_the_slice_is_a_point():
    rng = make_stream(make_seed_sequence(0))
    assert draw_slice(lambda x: 0.0 if x == 1.5 else -np.inf, 1.5, rng) == 1.5
