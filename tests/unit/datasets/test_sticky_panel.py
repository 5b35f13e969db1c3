"""make_sticky_panel.

Every test of a distribution is seeded and asks for |z| < 5 of a mean; a correct generator fails
one such comparison with probability 6e-7, all of them in this file with less than 1e-4.
"""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from skdp.data import SequencePanel
from skdp.datasets import make_sticky_panel

PARAMETERS = {"gaussian": "means", "categorical": "probabilities", "poisson": "rates"}


def z_scores(draws, expected):
    errors = draws - expected
    return errors.mean(axis=0) / (errors.std(axis=0) / np.sqrt(len(errors)))


@pytest.mark.parametrize("emission", list(PARAMETERS))
def test_shapes(emission):
    panel = make_sticky_panel(
        3, n_steps=[4, 1, 6], n_states=5, n_features=3, emission=emission, random_state=0
    )
    assert isinstance(panel.data, SequencePanel)
    assert panel.data.shape == (3, 1 if emission == "categorical" else 3)
    assert panel.data.ptr.tolist() == [0, 4, 5, 11]
    assert panel.states.shape == (11,)
    assert [len(states) for states in panel.target] == [4, 1, 6]
    np.testing.assert_array_equal(np.concatenate(panel.target), panel.states)
    np.testing.assert_array_equal(panel.startprob, 0.2)
    assert panel.transmat.shape == (5, 5)
    np.testing.assert_allclose(panel.transmat.sum(axis=1), 1.0)
    assert panel[PARAMETERS[emission]].shape == (5, 3)
    assert not set(PARAMETERS.values()) - {PARAMETERS[emission]} & set(panel)


def test_range_of_lengths():
    panel = make_sticky_panel(100, n_steps=(2, 4), random_state=0)
    assert set(np.diff(panel.data.ptr)) == {2, 3, 4}


@pytest.mark.parametrize("stay", [0.0, 0.6, 0.98])
def test_states_follow_the_matrix(stay):
    panel = make_sticky_panel(200, n_steps=150, n_states=3, stay=stay, random_state=1)
    np.testing.assert_array_equal(np.diag(panel.transmat), stay)
    first = panel.states[panel.data.ptr[:-1]]
    assert np.abs(z_scores(np.eye(3)[first], panel.startprob)).max() < 5
    before = np.concatenate([states[:-1] for states in panel.target])
    after = np.concatenate([states[1:] for states in panel.target])
    same = before == after
    assert abs(same.mean() - stay) <= 5 * np.sqrt(stay * (1 - stay) / len(same))
    for j in range(3):
        counts = np.bincount(after[before == j], minlength=3)
        total = counts.sum()
        spread = np.sqrt(total * panel.transmat[j] * (1 - panel.transmat[j]))
        assert np.all(np.abs(counts - total * panel.transmat[j]) <= 5 * spread)


def test_next_states_are_drawn_uniformly():
    transmat = make_sticky_panel(1, n_steps=1, n_states=200, stay=0.5, separation=0.0).transmat
    jumps = transmat[~np.eye(200, dtype=bool)] / 0.5
    assert abs(z_scores(jumps**2, 2 / (199 * 200))) < 5


@pytest.mark.parametrize("emission", list(PARAMETERS))
def test_observations(emission):
    panel = make_sticky_panel(
        20, n_steps=500, n_states=3, n_features=4, emission=emission, separation=2.0, random_state=2
    )
    expected = panel[PARAMETERS[emission]]
    for j in range(3):
        values = panel.data.values[panel.states == j]
        if emission == "categorical":
            values = np.eye(4)[values[:, 0].astype(int)]
            np.testing.assert_allclose(expected[j].sum(), 1.0)
        # The means of rarer symbols and counts are not normal yet.
        shown = (expected[j] > 0.01) | (emission == "gaussian")
        assert np.abs(z_scores(values[:, shown], expected[j, shown])).max() < 5
        if emission == "gaussian":
            errors = values - expected[j]
            assert np.abs(z_scores(errors**2, 1.0)).max() < 5
            assert abs(z_scores(errors[:, 0] * errors[:, 1], 0.0)) < 5
        elif emission == "poisson":
            squares = (values - expected[j])[:, shown] ** 2
            assert np.abs(z_scores(squares, expected[j, shown])).max() < 5


@pytest.mark.parametrize("emission", list(PARAMETERS))
@pytest.mark.parametrize(("n_states", "separation"), [(4, 4.0), (9, 2.5), (30, 0.0)])
def test_separation(emission, n_states, separation):
    panel = make_sticky_panel(
        1,
        n_steps=1,
        n_states=n_states,
        n_features=3,
        emission=emission,
        separation=separation,
        random_state=0,
    )
    places = panel[PARAMETERS[emission]]
    if emission == "poisson":
        places = 2.0 * np.sqrt(places)
    elif emission == "categorical":
        places = np.log(places)
        places -= places.mean(axis=1, keepdims=True)
    assert pdist(places).min() >= separation * (1 - 1e-9)
    assert pdist(places).max() < 50


def test_many_states_on_a_line():
    means = make_sticky_panel(1, n_states=40, n_features=1, random_state=0).means
    assert np.diff(np.sort(means.ravel())).min() >= 4.0


def test_one_state():
    panel = make_sticky_panel(2, n_steps=5, n_states=1, random_state=0)
    np.testing.assert_array_equal(panel.transmat, [[1.0]])
    np.testing.assert_array_equal(panel.states, 0)


@pytest.mark.parametrize("emission", list(PARAMETERS))
def test_random_state(emission):
    def draw(random_state, **arguments):
        arguments = {"n_features": 3, "emission": emission, **arguments}
        return make_sticky_panel(5, random_state=random_state, **arguments)

    first, second = draw(7), draw(7)
    assert first.data == second.data
    for name in ("states", "transmat", PARAMETERS[emission]):
        np.testing.assert_array_equal(first[name], second[name])
    assert draw(8).data != first.data
    for make in (np.random.RandomState, np.random.default_rng):
        shared = make(7)
        third = draw(shared)
        assert third.data == draw(make(7)).data
        assert third.data != draw(shared).data
    # The arguments of one part do not change the others.
    name = PARAMETERS[emission]
    np.testing.assert_array_equal(draw(7, n_steps=9, stay=0.1)[name], first[name])
    np.testing.assert_array_equal(draw(7, separation=1.0).states, first.states)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_sequences", 0),
        ("n_sequences", 2.0),
        ("n_steps", 0),
        ("n_steps", 1.5),
        ("n_steps", (3, 2)),
        ("n_steps", (1, 2, 3)),
        ("n_steps", [1, 2, 3]),
        ("n_steps", [0, 2]),
        ("n_steps", "many"),
        ("n_states", 0),
        ("n_features", 0),
        ("emission", "normal"),
        ("stay", 1.0),
        ("stay", -0.1),
        ("stay", "long"),
        ("separation", -1.0),
        ("separation", np.nan),
        ("random_state", -1),
    ],
)
def test_invalid_arguments(name, value):
    with pytest.raises(ValueError, match=name):
        make_sticky_panel(**{"n_sequences": 2, name: value})


def test_one_symbol_says_nothing():
    with pytest.raises(ValueError, match="n_features must be an integer >= 2"):
        make_sticky_panel(2, n_features=1, emission="categorical")
