"""make_feature_images. Tests of distributions are seeded and ask for |z| < 5."""

import numpy as np
import pytest

from skdp.datasets import make_feature_images


def test_shapes_and_glyphs():
    images = make_feature_images(30, random_state=0)
    assert images.data.shape == (30, 36)
    assert images.features.shape == (30, 4)
    assert images.features.dtype == np.int8
    assert images.glyphs.sum(axis=1).tolist() == [5.0, 8.0, 6.0, 5.0]
    assert images.glyphs.sum(axis=0).max() == 1.0  # they do not overlap
    quarter = images.glyphs[2].reshape(6, 6)[3:, :3]
    np.testing.assert_array_equal(quarter, [[1, 0, 0], [1, 1, 0], [1, 1, 1]])


def test_images_are_sums_of_glyphs_and_noise():
    exact = make_feature_images(500, noise_scale=0.0, random_state=1)
    np.testing.assert_array_equal(exact.data, exact.features @ exact.glyphs)
    noisy = make_feature_images(500, noise_scale=0.3, random_state=1)
    np.testing.assert_array_equal(noisy.features, exact.features)
    noise = (noisy.data - exact.data).ravel()
    assert abs(noise.mean()) < 5 * 0.3 / np.sqrt(noise.size)
    assert abs(np.mean(noise**2) - 0.09) < 5 * 0.09 * np.sqrt(2.0 / noise.size)


@pytest.mark.parametrize("probability", [0.0, 0.2, 0.5, 1.0])
def test_probability(probability):
    shares = make_feature_images(2000, probability=probability, random_state=2).features.mean(0)
    error = np.sqrt(probability * (1.0 - probability) / 2000)
    assert np.all(np.abs(shares - probability) <= 5 * error)


def test_random_state():
    first, second = (make_feature_images(5, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(first.data, second.data)
    assert (make_feature_images(5, random_state=8).data != first.data).any()
    shared = np.random.default_rng(7)
    third = make_feature_images(5, random_state=shared)
    assert (make_feature_images(5, random_state=shared).data != third.data).any()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_samples", 0),
        ("n_samples", 2.0),
        ("noise_scale", -0.1),
        ("noise_scale", np.nan),
        ("probability", -0.1),
        ("probability", 1.1),
        ("probability", "half"),
        ("random_state", -1),
    ],
)
def test_invalid_arguments(name, value):
    with pytest.raises(ValueError, match=name):
        make_feature_images(**{"n_samples": 3, name: value})
