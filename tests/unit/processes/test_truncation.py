import numpy as np
import pytest

from skdp.processes import gem_truncation_error, sample_gem


@pytest.mark.parametrize("a", [0.0, 0.4])
def test_shape_and_order(a):
    error = gem_truncation_error([[0, 1, 2], [3, 50, 4]], a, 2.0)
    assert error.shape == (2, 3)
    assert error[0, 0] == 1.0
    assert np.all(np.diff(np.sort(error.ravel())) > 0)
    assert error[1, 1] == error.min()
    assert gem_truncation_error(4, a, 2.0) == error[1, 2]
    assert gem_truncation_error([], a, 2.0).shape == (0,)


@pytest.mark.parametrize("a", [0.0, 1e-12])
@pytest.mark.parametrize("b", [1e-10, 1.0, 1e10])
def test_digits(a, b):
    """Truncations with a tiny remainder, and with nearly all of the weight left."""
    expected = 1.0
    for k in range(1, 4):
        expected *= (b + k * a) / (b + 1.0 + (k - 1) * a)
    assert gem_truncation_error(3, a, b) == pytest.approx(expected, rel=1e-12)
    many = gem_truncation_error(3, a, b, n=1000)
    assert many == pytest.approx(1.0 - (1.0 - expected) ** 1000 if b >= 1 else 1000 * expected)


def test_any_number_of_draws():
    assert gem_truncation_error([0, 1], 0.5, 1.0, n=2**31 - 1).tolist() == [1.0, 1.0]
    with np.errstate(all="raise"):  # no warning of the log of 0
        assert gem_truncation_error(0, 0.5, 1.0, n=3) == 1.0


def test_it_is_the_size_to_ask_for():
    """The first number of sticks with a small error leaves little in nearly all draws."""
    sizes = np.arange(1, 200)
    n_components = int(sizes[np.argmax(gem_truncation_error(sizes, 0.1, 2.0) < 1e-4)])
    generator = np.random.default_rng(0)
    rest = [
        1 - sample_gem(
            n_components, discount=0.1, concentration=2.0, tolerance=0.0, random_state=generator
        ).sum()
        for _ in range(300)
    ]  # fmt: skip
    assert np.mean(np.array(rest) > 1e-2) <= 0.01 + 0.03  # by Markov's inequality


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"n_components": -1}, "n_components"),
        ({"n_components": 1.5}, "n_components"),
        ({"discount": 1.0}, "discount"),
        ({"concentration": -0.5}, "concentration"),
        ({"concentration": np.inf}, "concentration"),
        ({"n": 0}, "n"),
        ({"n": 2.0}, "n"),
    ],
)
def test_bad_parameters(change, name):
    good = {"n_components": 5, "discount": 0.5, "concentration": 1.0, "n": 3}
    with pytest.raises(ValueError, match=rf"^{name} must"):
        gem_truncation_error(**{**good, **change})


def test_more_sticks_than_memory():
    with pytest.raises(ValueError, match=r"n_components=.* sticks.*memory"):
        gem_truncation_error(10**13, 0.5, 1.0)
    assert gem_truncation_error(10**13, 0.0, 1.0) == 0.0
