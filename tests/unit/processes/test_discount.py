import numpy as np
import pytest

from skdp._numeric._random import make_stream
from skdp.processes import sample_discount
from skdp.processes._discount import draw_bounded_beta, draw_seating_evidence

NO_RATIOS = np.empty((0, 2)), np.zeros(1, dtype=np.int64)


def test_seeds():
    def run(random_state):
        return sample_discount(
            [[20, 9], [5, 1]], [[5, 4], [2, 1]], concentration=[1.0, 2.0], n_sweeps=4,
            random_state=random_state,
        )  # fmt: skip

    assert run(3).shape == (4,)
    np.testing.assert_array_equal(run(3), run(3))
    assert not np.array_equal(run(3), run(4))


def test_one_dimension_is_one_restaurant():
    kwargs = {"n_sweeps": 5, "random_state": 0}
    flat = sample_discount([20, 9], [5, 4], concentration=1.0, **kwargs)
    np.testing.assert_array_equal(
        flat, sample_discount([[20, 9]], [[5, 4]], concentration=[1.0], **kwargs)
    )


def test_one_concentration_for_all():
    kwargs = {"customers": [[20], [9]], "tables": [[5], [4]], "n_sweeps": 5, "random_state": 0}
    np.testing.assert_array_equal(
        sample_discount(concentration=2, **kwargs),
        sample_discount(concentration=[2.0, 2.0], **kwargs),
    )


def test_start_matters_only_at_first():
    kwargs = {"concentration": 10.0, "n_sweeps": 1_000, "random_state": 0}
    draws = [
        sample_discount([300] * 4, [40] * 4, discount=start, **kwargs)
        for start in (0.0, 0.1, 0.999)
    ]
    assert np.ptp([draw[0] for draw in draws]) > 0.1
    means = [draw[100:].mean() for draw in draws]
    np.testing.assert_allclose(means, means[0], rtol=0.05)


def test_draws_stay_inside():
    """Beta draws of small parameters round to 0 and to 1."""
    rng = make_stream(np.random.SeedSequence(0))
    draws = [draw_bounded_beta(1e-3, 1e-3, rng) for _ in range(200)]
    assert 0.0 < min(draws) < 1e-7
    assert 1.0 - 1e-7 < max(draws) < 1.0
    chain = sample_discount([9, 4], [3, 4], concentration=1.0, prior=(1e-3, 1e-3), n_sweeps=200)
    assert np.all((chain > 0.0) & (chain < 1.0))


def test_no_data():
    draws = sample_discount(
        np.zeros((2, 0), int), np.zeros((2, 0), int), concentration=1.0, n_sweeps=2_000,
        random_state=0,
    )  # fmt: skip
    assert draws.mean() == pytest.approx(0.5, abs=0.05)  # 7 standard errors


def test_integers_of_any_width():
    """Kernels keep their counts in 32 bits or fewer."""
    rng, again = (make_stream(np.random.SeedSequence(0)) for _ in range(2))
    small = draw_seating_evidence(np.int32(40), np.uint16(9), 0.3, *NO_RATIOS, rng)
    assert small == draw_seating_evidence(40, 9, 0.3, *NO_RATIOS, again)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"customers": [[3.5, 2]]}, "^customers must"),
        ({"customers": [[3]]}, "^customers and tables must"),
        ({"customers": [3, 2]}, "^customers and tables must"),
        ({"customers": 3, "tables": 1}, "^customers and tables must"),
        ({"customers": [[[3, 2]]], "tables": [[[2, 1]]]}, "^customers and tables must"),
        ({"tables": [[4, 1]]}, "^tables must"),
        ({"tables": [[0, 1]]}, "^tables must"),
        ({"tables": [[1, -1]]}, "^tables must"),
        ({"concentration": 0.0}, "^concentration must"),
        ({"concentration": [1.0, 1.0]}, "^concentration must"),
        ({"concentration": [np.inf]}, "^concentration must"),
        ({"concentration": np.nan}, "^concentration must"),
        ({"concentration": "1"}, "^concentration must"),
        ({"discount": 1.0}, "^discount must"),
        ({"discount": -0.1}, "^discount must"),
        ({"prior": (0.0, 1.0)}, "^prior must"),
        ({"prior": (1.0, np.inf)}, "^prior must"),
        ({"prior": (1.0,)}, "^prior must"),
        ({"prior": 1.0}, "^prior must"),
        ({"n_sweeps": 0}, "^n_sweeps must"),
        ({"random_state": "x"}, "^random_state must"),
    ],
)
def test_bad_arguments(change, message):
    good = {"customers": [[3, 2]], "tables": [[2, 1]], "concentration": 1.0}
    with pytest.raises(ValueError, match=message):
        sample_discount(**{**good, **change})
