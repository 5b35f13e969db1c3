import numpy as np
import pytest

from skdp._numeric._random import make_stream
from skdp.processes import sample_concentration
from skdp.processes._concentration import draw_concentration


def test_seeds():
    def run(random_state):
        return sample_concentration(
            [20, 9], [5, 4], discount=0.5, n_sweeps=4, random_state=random_state
        )

    assert run(3).shape == (4,)
    np.testing.assert_array_equal(run(3), run(3))
    assert not np.array_equal(run(3), run(4))


def test_start_matters_only_at_first():
    kwargs = {"discount": 0.5, "n_sweeps": 2_000, "random_state": 0}
    near = sample_concentration([50], [10], concentration=1.0, **kwargs)
    far = sample_concentration([50], [10], concentration=1e6, **kwargs)
    assert far[0] > 2.0 * near[0]
    assert np.median(far[200:]) == pytest.approx(np.median(near[200:]), rel=0.2)


def test_draws_stay_positive():
    """A posterior crowded at 0 underflows; the chain must not stay there."""
    rng = make_stream(np.random.SeedSequence(0))
    counts = np.array([1]), np.array([1])
    draws = [draw_concentration(*counts, 0.0, 1.0, 1e-3, 1.0, rng) for _ in range(200)]
    assert min(draws) > 0.0
    assert max(draws) > 1e-50


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"customers": [3.5, 2]}, "^customers must"),
        ({"customers": [3]}, "^customers and tables must"),
        ({"customers": 3, "tables": 1}, "^customers and tables must"),
        ({"tables": [4, 1]}, "^tables must"),
        ({"tables": [0, 1]}, "^tables must"),
        ({"tables": [1, -1]}, "^tables must"),
        ({"discount": 1.0}, "^discount must"),
        ({"concentration": 0.0}, "^concentration must"),
        ({"prior": (0.0, 1.0)}, "^prior must"),
        ({"prior": (1.0, np.inf)}, "^prior must"),
        ({"prior": (1.0,)}, "^prior must"),
        ({"prior": ("1", 1.0)}, "^prior must"),
        ({"prior": 1.0}, "^prior must"),
        ({"n_sweeps": 0}, "^n_sweeps must"),
        ({"random_state": "x"}, "^random_state must"),
    ],
)
def test_bad_arguments(change, message):
    good = {"customers": [3, 2], "tables": [2, 1], "discount": 0.5}
    with pytest.raises(ValueError, match=message):
        sample_concentration(**{**good, **change})
