"""make_cocktail_party and make_feature_images: sums of what binary features add."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from unit.datasets.normal import assert_mean

from skdp.datasets import make_cocktail_party, make_feature_images

by_durations = pytest.mark.parametrize("durations", ["normal", "geometric"])


def test_shapes_and_defaults():
    """Defaults are those of the source."""
    party = make_cocktail_party(300, conversation_sizes=[2, 1, 3], n_features=5, random_state=0)
    assert party.data.shape == (300, 5)
    assert party.states.shape == party.signal.shape == (300, 6)
    assert party.states.dtype == np.int8
    assert party.weights.shape == (7, 5)
    assert party.conversations.tolist() == [0, 0, 1, 2, 2, 2]
    party = make_cocktail_party(random_state=0)
    assert party.data.shape == (2000, 12)
    assert party.states.shape == (2000, 16)
    assert 0.15 < party.states.mean() < 0.3  # one of four, most of the time
    assert party.weights.min() >= 0.0
    assert party.weights.max() <= 1.0
    assert_mean(party.weights.ravel(), 0.5)


@pytest.mark.parametrize(
    ("durations", "amplitude"), [("normal", "carrier"), ("geometric", "constant")]
)
def test_observations_are_linear_in_the_signal(durations, amplitude):
    arguments = {"durations": durations, "amplitude": amplitude, "random_state": 1}
    exact = make_cocktail_party(noise_scale=0.0, **arguments)
    expected = np.hstack([np.ones((2000, 1)), exact.signal]) @ exact.weights
    assert_allclose(exact.data, expected, rtol=0, atol=1e-12)
    noisy = make_cocktail_party(noise_scale=0.5, **arguments)
    assert_array_equal(noisy.states, exact.states)
    noise = (noisy.data - exact.data).ravel()
    assert_mean(noise, 0.0)
    assert_mean(noise**2, 0.25)


@by_durations
def test_one_speaker_at_a_time(durations):
    party = make_cocktail_party(
        5000, conversation_sizes=(3, 2), durations=durations, turn_length=20, random_state=2
    )
    for c in range(2):
        speaking = party.states[:, party.conversations == c]
        assert speaking.sum(axis=1).max() == 1
        # Nobody takes over without a pause.
        follows = speaking[:-1].any(axis=1) & speaking[1:].any(axis=1)
        assert_array_equal(speaking[:-1][follows], speaking[1:][follows])
    assert len(np.unique(party.states, axis=0)) == 4 * 3


@by_durations
def test_durations(durations):
    party = make_cocktail_party(
        100_000, conversation_sizes=[1], n_features=1, durations=durations, turn_length=20.0,
        pause_length=4.0, random_state=3,
    )  # fmt: skip
    column = party.states[:, 0]
    ends = np.flatnonzero(np.diff(column)) + 1
    lengths, values = np.diff(ends), column[ends[:-1]]
    turns, pauses = lengths[values == 1], lengths[values == 0]
    assert_mean(turns, 20.0)
    if durations == "geometric":
        assert_mean(pauses, 4.0)
        for lengths, mean in ((turns, 20.0), (pauses, 4.0)):
            assert_mean((lengths - mean) ** 2, mean * (mean - 1.0))
            # Without memory: what has lasted k steps lasts as long again as at the beginning.
            assert_mean(lengths[lengths > 5] - 5, mean)
    else:
        assert_mean((turns - 20.0) ** 2, 4.0**2 + 1 / 12)
        assert pauses.min() >= 1
        assert 4.0 < pauses.mean() < 1.4 * 4.0


def test_next_speakers_are_equally_probable():
    states = make_cocktail_party(
        60_000, conversation_sizes=[3], turn_length=5, pause_length=2, random_state=4
    ).states
    begins = np.diff(states, axis=0, prepend=0) == 1
    who = np.argmax(begins[begins.any(axis=1)], axis=1)
    for d in range(3):
        assert_mean(who == d, 1 / 3)
        assert_mean(who[1:][who[:-1] == d] == d, 1 / 3)


@by_durations
def test_begins_in_the_midst(durations):
    """The first steps are as full of speech as any."""
    arguments = {"conversation_sizes": [1] * 400, "n_features": 1, "durations": durations}
    arguments |= {"turn_length": 9.0, "pause_length": 3.0}
    means = [
        make_cocktail_party(10, random_state=seed, **arguments).states.mean(axis=0)
        for seed in range(3)
    ]
    pause = 3.0
    if durations == "normal":  # truncated
        draws = np.round(np.random.default_rng(0).normal(pause, pause, 1_000_000))
        pause = draws[draws >= 1].mean()
    assert_mean(np.concatenate(means), 9.0 / (9.0 + pause))


def test_carrier_is_normalized():
    constant = make_cocktail_party(random_state=5)
    carrier = make_cocktail_party(amplitude="carrier", random_state=5)
    assert_array_equal(constant.states, carrier.states)
    assert_array_equal(constant.weights, carrier.weights)
    assert_array_equal(constant.signal, constant.states)
    assert_array_equal(carrier.signal[carrier.states == 0], 0.0)
    for on, signal in zip(carrier.states.T == 1, carrier.signal.T, strict=True):
        if on.any():
            assert signal[on].mean() == pytest.approx(1.0)
            assert signal[on].std() == pytest.approx(0.5)
            assert signal[on].min() > 0.0
    party = make_cocktail_party(1, conversation_sizes=[1] * 50, amplitude="carrier", random_state=0)
    assert_array_equal(party.signal, party.states)  # a step has no spread


def test_given_weights():
    weights = np.arange(6.0).reshape(3, 2)
    party = make_cocktail_party(50, conversation_sizes=[2], weights=weights, noise_scale=0.0)
    assert_array_equal(party.weights, weights)
    assert_allclose(party.data, weights[0] + party.states @ weights[1:])


# Images


def test_images_are_sums_of_glyphs_and_noise():
    exact = make_feature_images(500, noise_scale=0.0, random_state=1)
    assert exact.data.shape == (500, 36)
    assert exact.features.shape == (500, 4)
    assert exact.features.dtype == np.int8
    assert exact.glyphs.sum(axis=1).tolist() == [5.0, 8.0, 6.0, 5.0]
    assert exact.glyphs.sum(axis=0).max() == 1.0  # they do not overlap
    quarter = exact.glyphs[2].reshape(6, 6)[3:, :3]
    assert_array_equal(quarter, [[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    assert_array_equal(exact.data, exact.features @ exact.glyphs)
    noisy = make_feature_images(500, noise_scale=0.3, random_state=1)
    assert_array_equal(noisy.features, exact.features)
    noise = (noisy.data - exact.data).ravel()
    assert_mean(noise, 0.0)
    assert_mean(noise**2, 0.09)


@pytest.mark.parametrize("probability", [0.0, 0.2, 0.5, 1.0])
def test_probability(probability):
    shares = make_feature_images(2000, probability=probability, random_state=2).features.mean(0)
    error = np.sqrt(probability * (1.0 - probability) / 2000)
    assert np.all(np.abs(shares - probability) <= 5 * error)
