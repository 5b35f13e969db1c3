"""make_cocktail_party.

Every test of a distribution is seeded and asks for |z| < 5 of a mean; a correct generator fails
one such comparison with probability 6e-7, all of them in this file with less than 1e-4.
"""

import numpy as np
import pytest

from skdp.datasets import make_cocktail_party


def z_score(draws, expected):
    return (np.mean(draws) - expected) / (np.std(draws) / np.sqrt(len(draws)))


def runs(column):
    """Return the lengths of runs of 1 and of 0 that begin and end within the column."""
    ends = np.flatnonzero(np.diff(column)) + 1
    lengths, values = np.diff(ends), column[ends[:-1]]
    return lengths[values == 1], lengths[values == 0]


def test_shapes():
    party = make_cocktail_party(300, conversation_sizes=[2, 1, 3], n_features=5, random_state=0)
    assert party.data.shape == (300, 5)
    assert party.states.shape == party.signal.shape == (300, 6)
    assert party.states.dtype == np.int8
    assert party.weights.shape == (7, 5)
    assert party.conversations.tolist() == [0, 0, 1, 2, 2, 2]


def test_defaults_are_those_of_the_source():
    party = make_cocktail_party(random_state=0)
    assert party.data.shape == (2000, 12)
    assert party.states.shape == (2000, 16)
    assert 0.15 < party.states.mean() < 0.3  # one of four, most of the time
    assert party.weights.min() >= 0.0
    assert party.weights.max() <= 1.0
    assert abs(z_score(party.weights.ravel(), 0.5)) < 5


@pytest.mark.parametrize("durations", ["normal", "geometric"])
@pytest.mark.parametrize("amplitude", ["constant", "carrier"])
def test_observations_are_linear_in_the_signal(durations, amplitude):
    arguments = {"durations": durations, "amplitude": amplitude, "random_state": 1}
    exact = make_cocktail_party(noise_scale=0.0, **arguments)
    expected = np.hstack([np.ones((2000, 1)), exact.signal]) @ exact.weights
    np.testing.assert_allclose(exact.data, expected, rtol=0, atol=1e-12)
    noisy = make_cocktail_party(noise_scale=0.5, **arguments)
    np.testing.assert_array_equal(noisy.states, exact.states)
    noise = (noisy.data - exact.data).ravel()
    assert abs(z_score(noise, 0.0)) < 5
    assert abs(z_score(noise**2, 0.25)) < 5


@pytest.mark.parametrize("durations", ["normal", "geometric"])
def test_one_speaker_at_a_time(durations):
    party = make_cocktail_party(
        5000, conversation_sizes=(3, 2), durations=durations, turn_length=20, random_state=2
    )
    for c in range(2):
        speaking = party.states[:, party.conversations == c]
        assert speaking.sum(axis=1).max() == 1
        # Nobody takes over without a pause.
        follows = speaking[:-1].any(axis=1) & speaking[1:].any(axis=1)
        np.testing.assert_array_equal(speaking[:-1][follows], speaking[1:][follows])
    assert len(np.unique(party.states, axis=0)) == 4 * 3


@pytest.mark.parametrize("durations", ["normal", "geometric"])
def test_durations(durations):
    party = make_cocktail_party(
        100_000,
        conversation_sizes=[1],
        n_features=1,
        durations=durations,
        turn_length=20.0,
        pause_length=4.0,
        random_state=3,
    )
    turns, pauses = runs(party.states[:, 0])
    assert abs(z_score(turns, 20.0)) < 5
    if durations == "geometric":
        assert abs(z_score(pauses, 4.0)) < 5
        for lengths, mean in ((turns, 20.0), (pauses, 4.0)):
            variance = mean * (mean - 1.0)
            assert abs(z_score((lengths - mean) ** 2, variance)) < 5
            # Without memory: what has lasted k steps lasts as long again as at the beginning.
            assert abs(z_score(lengths[lengths > 5] - 5, mean)) < 5
    else:
        assert abs(z_score((turns - 20.0) ** 2, 4.0**2 + 1 / 12)) < 5
        assert pauses.min() >= 1
        assert 4.0 < pauses.mean() < 1.4 * 4.0


def test_next_speakers_are_equally_probable():
    states = make_cocktail_party(
        60_000, conversation_sizes=[3], turn_length=5, pause_length=2, random_state=4
    ).states
    begins = np.diff(states, axis=0, prepend=0) == 1
    who = np.argmax(begins[begins.any(axis=1)], axis=1)
    for d in range(3):
        assert abs(z_score(who == d, 1 / 3)) < 5
        assert abs(z_score(who[1:][who[:-1] == d] == d, 1 / 3)) < 5


@pytest.mark.parametrize("durations", ["normal", "geometric"])
def test_begins_in_the_midst(durations):
    """The first steps are as full of speech as any."""
    means = [
        make_cocktail_party(
            10,
            conversation_sizes=[1] * 400,
            n_features=1,
            durations=durations,
            turn_length=9.0,
            pause_length=3.0,
            random_state=seed,
        ).states.mean(axis=0)
        for seed in range(3)
    ]
    pause = 3.0 if durations == "geometric" else np.mean(truncated_pauses(3.0))
    assert abs(z_score(np.concatenate(means), 9.0 / (9.0 + pause))) < 5


def truncated_pauses(mean):
    draws = np.round(np.random.default_rng(0).normal(mean, mean, 1_000_000))
    return draws[draws >= 1]


def test_carrier_is_normalized():
    constant = make_cocktail_party(random_state=5)
    carrier = make_cocktail_party(amplitude="carrier", random_state=5)
    np.testing.assert_array_equal(constant.states, carrier.states)
    np.testing.assert_array_equal(constant.weights, carrier.weights)
    np.testing.assert_array_equal(constant.signal, constant.states)
    np.testing.assert_array_equal(carrier.signal[carrier.states == 0], 0.0)
    for on, signal in zip(carrier.states.T == 1, carrier.signal.T, strict=True):
        if on.any():
            assert signal[on].mean() == pytest.approx(1.0)
            assert signal[on].std() == pytest.approx(0.5)
            assert signal[on].min() > 0.0


def test_carrier_of_few_steps():
    party = make_cocktail_party(1, conversation_sizes=[1] * 50, amplitude="carrier", random_state=0)
    np.testing.assert_array_equal(party.signal, party.states)


def test_given_weights():
    weights = np.arange(6.0).reshape(3, 2)
    party = make_cocktail_party(50, conversation_sizes=[2], weights=weights, noise_scale=0.0)
    np.testing.assert_array_equal(party.weights, weights)
    np.testing.assert_allclose(party.data, weights[0] + party.states @ weights[1:])


def test_random_state():
    def draw(random_state):
        return make_cocktail_party(100, amplitude="carrier", random_state=random_state)

    first, second = draw(7), draw(7)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])
    assert (draw(8).states != first.states).any()
    for make in (np.random.RandomState, np.random.default_rng):
        shared = make(7)
        third = draw(shared)
        np.testing.assert_array_equal(third.data, draw(make(7)).data)
        assert (third.data != draw(shared).data).any()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_steps", 0),
        ("n_steps", 10.0),
        ("conversation_sizes", 4),
        ("conversation_sizes", []),
        ("conversation_sizes", [2, 0]),
        ("conversation_sizes", [1.5]),
        ("n_features", 0),
        ("amplitude", "loud"),
        ("durations", "poisson"),
        ("turn_length", 0.5),
        ("turn_length", np.inf),
        ("turn_length", "long"),
        ("pause_length", 0.0),
        ("pause_length", np.nan),
        ("noise_scale", -0.1),
        ("weights", np.ones((4, 2))),
        ("weights", np.full((3, 2), np.nan)),
        ("random_state", -1),
    ],
)
def test_invalid_arguments(name, value):
    arguments = {"n_steps": 10, "conversation_sizes": (1, 1), name: value}
    with pytest.raises(ValueError, match=name):
        make_cocktail_party(**arguments)
