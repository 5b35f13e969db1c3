"""make_lt_panel.

Every test of a distribution is seeded and asks for |z| < 5 of a mean; a correct generator fails
one such comparison with probability 6e-7, all of them in this file with less than 1e-4.
"""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import adjusted_rand_score

from skdp.data import SequencePanel
from skdp.datasets import make_lt_panel
from skdp.sequence import HDPHMMLT, GaussianSimilarity

PARAMETERS = {"gaussian": "means", "categorical": "probabilities"}


def z_scores(draws, expected):
    errors = draws - expected
    return errors.mean(axis=0) / (errors.std(axis=0) / np.sqrt(len(errors)))


@pytest.mark.parametrize("emission", list(PARAMETERS))
def test_shapes(emission):
    panel = make_lt_panel(
        3, n_steps=[4, 1, 6], n_states=5, n_features=4, n_dims=3, emission=emission, random_state=0
    )
    assert isinstance(panel.data, SequencePanel)
    assert panel.data.shape == (3, 1 if emission == "categorical" else 4)
    assert panel.data.ptr.tolist() == [0, 4, 5, 11]
    assert panel.states.shape == (11,)
    assert [len(states) for states in panel.target] == [4, 1, 6]
    np.testing.assert_array_equal(np.concatenate(panel.target), panel.states)
    for name, shape in (
        ("startprob", (5,)), ("transmat", (5, 5)), ("weights", (5,)), ("locations", (5, 3)),
        ("similarity", (5, 5)), (PARAMETERS[emission], (5, 4)),
    ):  # fmt: skip
        assert panel[name].shape == shape, name
    for name in ("startprob", "transmat", "weights"):
        np.testing.assert_allclose(panel[name].sum(axis=-1), 1.0)
    assert not set(PARAMETERS.values()) - {PARAMETERS[emission]} & set(panel)


def test_states_follow_the_matrix():
    """No jump fails: what is drawn are transitions of P."""
    panel = make_lt_panel(400, n_steps=100, n_states=4, decay=1.0, random_state=1)
    first = panel.states[panel.data.ptr[:-1]]
    assert np.abs(z_scores(np.eye(4)[first], panel.startprob)).max() < 5
    before = np.concatenate([states[:-1] for states in panel.target])
    after = np.concatenate([states[1:] for states in panel.target])
    for j in range(4):
        total = np.count_nonzero(before == j)
        counts = np.bincount(after[before == j], minlength=4)
        spread = np.sqrt(total * panel.transmat[j] * (1.0 - panel.transmat[j]))
        assert total > 100
        assert np.all(np.abs(counts - total * panel.transmat[j]) <= 5.0 * spread)


def test_similarities():
    panel = make_lt_panel(1, n_states=30, n_dims=3, decay=0.7, random_state=0)
    gaps = panel.locations[:, np.newaxis] - panel.locations
    np.testing.assert_allclose(panel.similarity, np.exp(-0.35 * (gaps**2).sum(axis=2)))
    locations = make_lt_panel(1, n_steps=1, n_states=2000, separation=0.0, random_state=0).locations
    assert stats.kstest(locations.ravel(), "norm").pvalue > 1e-6


def test_rates_are_those_of_the_model():
    """P / phi, normalized, is Dirichlet(alpha beta + kappa e_j), and beta Dirichlet(gamma / J)."""
    alpha, gamma, kappa, n = 3.0, 2.0, 1.5, 2000
    shares, weights, starts = [], [], []
    for seed in range(n):
        panel = make_lt_panel(
            1, n_steps=1, n_states=3, separation=0.0, decay=0.5, stickiness=kappa,
            top_concentration=gamma, transition_concentration=alpha, random_state=seed,
        )  # fmt: skip
        rates = panel.transmat / panel.similarity
        shares.append(rates / rates.sum(axis=1, keepdims=True))
        weights.append(panel.weights)
        starts.append(panel.startprob)
    shares, weights, starts = (np.array(x) for x in (shares, weights, starts))
    assert np.abs(z_scores(weights**2, (gamma / 3 + 1) / (3 * (gamma + 1)))).max() < 5
    shapes = alpha * weights[:, np.newaxis] + kappa * np.eye(3)
    means = shapes / (alpha + kappa)
    assert np.abs(z_scores(shares - means, 0.0)).max() < 5
    squares = means * (shapes + 1.0) / (alpha + kappa + 1.0)
    assert np.abs(z_scores(shares**2 - squares, 0.0)).max() < 5
    assert np.abs(z_scores(starts - weights, 0.0)).max() < 5
    assert np.abs(z_scores(starts**2 - weights * (alpha * weights + 1) / (alpha + 1), 0)).max() < 5


def test_decay_and_stickiness():
    """The one keeps transitions near, the other in place; 0 leaves them to the rates."""

    def mean_step(**arguments):
        panel = make_lt_panel(50, n_states=20, random_state=0, **arguments)
        steps = np.linalg.norm(np.diff(panel.locations[panel.states], axis=0), axis=1)
        steps = np.delete(steps, panel.data.ptr[1:-1] - 1)  # between sequences
        return steps[steps > 0.0].mean(), np.mean(steps == 0.0)

    far, _ = mean_step(decay=0.0)
    near, stays = mean_step(decay=1.0)
    _, sticks = mean_step(decay=1.0, stickiness=20.0)
    assert near < 0.7 * far
    assert sticks > stays + 0.2
    np.testing.assert_array_equal(make_lt_panel(1, decay=0.0).similarity, 1.0)


def test_extreme_rates():
    for arguments in (
        {"top_concentration": 1e-8}, {"transition_concentration": 1e-8}, {"decay": 1e8},
        {"stickiness": 1e8}, {"top_concentration": 1e8, "transition_concentration": 1e8},
    ):  # fmt: skip
        for seed in range(20):
            panel = make_lt_panel(2, n_steps=5, n_states=6, random_state=seed, **arguments)
            np.testing.assert_allclose(panel.transmat.sum(axis=1), 1.0)
            assert np.all(panel.transmat >= 0.0)
    assert make_lt_panel(2, n_states=1).transmat.tolist() == [[1.0]]


@pytest.mark.parametrize("emission", list(PARAMETERS))
def test_observations(emission):
    panel = make_lt_panel(
        40, n_states=3, n_features=3, emission=emission, separation=1.0, decay=0.5, random_state=3
    )
    expected = panel[PARAMETERS[emission]]
    for j in range(3):
        values = panel.data.values[panel.states == j]
        if emission == "categorical":
            values = np.eye(3)[values[:, 0].astype(int)]
        shown = (expected[j] > 0.01) | (emission == "gaussian")
        assert len(values) > 100
        assert np.abs(z_scores(values[:, shown], expected[j, shown])).max() < 5


def test_what_was_drawn_is_found():
    """States, transitions and similarities of a long panel: the model is that of the estimator.

    Transitions are means of the stored samples: a state is visited 100 times, and a single draw
    given that scatters by .05.
    """
    panel = make_lt_panel(10, n_steps=300, n_states=5, n_features=2, separation=6.0, random_state=2)
    model = HDPHMMLT(8, similarity=GaussianSimilarity(2), max_iter=150, random_state=0).fit(
        panel.data
    )
    found = np.concatenate(model.predict(panel.data))
    assert model.n_active_components_ == len(np.unique(panel.states))
    assert adjusted_rand_score(panel.states, found) > 0.98
    transmat = np.mean([sample.transmat for sample in model.samples_], axis=0)
    for j in np.unique(panel.states):
        name = np.bincount(found[panel.states == j]).argmax()
        np.testing.assert_allclose(model.emission_.means[name], panel.means[j], atol=0.3)
        for k in np.unique(panel.states):
            other = np.bincount(found[panel.states == k]).argmax()
            assert abs(transmat[name, other] - panel.transmat[j, k]) < 0.1


@pytest.mark.parametrize("emission", list(PARAMETERS))
def test_random_state(emission):
    def draw(random_state, **arguments):
        arguments = {"n_features": 3, "emission": emission, **arguments}
        return make_lt_panel(5, random_state=random_state, **arguments)

    first, second = draw(7), draw(7)
    assert first.data == second.data
    for name in ("states", "transmat", "locations", PARAMETERS[emission]):
        np.testing.assert_array_equal(first[name], second[name])
    assert draw(8).data != first.data
    for make in (np.random.RandomState, np.random.default_rng):
        shared = make(7)
        third = draw(shared)
        assert third.data == draw(make(7)).data
        assert third.data != draw(shared).data
    # The arguments of one part do not change the others.
    name = PARAMETERS[emission]
    np.testing.assert_array_equal(draw(7, n_steps=9, decay=0.1)[name], first[name])
    np.testing.assert_array_equal(draw(7, separation=1.0).states, first.states)
    np.testing.assert_array_equal(draw(7, decay=0.1, stickiness=9.0).locations, first.locations)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_sequences", 0),
        ("n_steps", 0),
        ("n_steps", [1, 2, 3]),
        ("n_states", 0),
        ("n_features", 0),
        ("n_dims", 0),
        ("emission", "poisson"),
        ("decay", -1.0),
        ("decay", np.inf),
        ("decay", 1e9),
        ("stickiness", -1.0),
        ("top_concentration", 0.0),
        ("transition_concentration", 0.0),
        ("transition_concentration", "auto"),
        ("separation", -1.0),
        ("random_state", -1),
    ],
)
def test_invalid_arguments(name, value):
    with pytest.raises(ValueError, match=name):
        make_lt_panel(**{"n_sequences": 2, name: value})


def test_one_symbol_says_nothing():
    with pytest.raises(ValueError, match="n_features must be an integer >= 2"):
        make_lt_panel(2, n_features=1, emission="categorical")
