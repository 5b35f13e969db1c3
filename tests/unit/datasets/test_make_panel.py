"""make_sticky_panel and make_lt_panel: panels of hidden Markov models."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.spatial.distance import pdist
from sklearn.metrics import adjusted_rand_score
from unit.datasets.normal import assert_mean, assert_shares

from skdp.data import SequencePanel
from skdp.datasets import make_lt_panel, make_sticky_panel
from skdp.sequence import HDPHMMLT, GaussianSimilarity

PARAMETERS = {"gaussian": "means", "categorical": "probabilities", "poisson": "rates"}
every_emission = pytest.mark.parametrize("emission", PARAMETERS)
KINDS = [*((make_sticky_panel, emission) for emission in PARAMETERS)]
KINDS += [(make_lt_panel, "gaussian"), (make_lt_panel, "categorical")]
every_kind = pytest.mark.parametrize(("make", "emission"), KINDS)


@every_kind
def test_shapes(make, emission):
    shapes, arguments = {"startprob": (5,), "transmat": (5, 5), PARAMETERS[emission]: (5, 4)}, {}
    if make is make_lt_panel:
        shapes |= {"weights": (5,), "locations": (5, 3), "similarity": (5, 5)}
        arguments = {"n_dims": 3}
    panel = make(
        3, n_steps=[4, 1, 6], n_states=5, n_features=4, emission=emission, random_state=0,
        **arguments,
    )  # fmt: skip
    assert isinstance(panel.data, SequencePanel)
    assert panel.data.shape == (3, 1 if emission == "categorical" else 4)
    assert panel.data.ptr.tolist() == [0, 4, 5, 11]
    assert panel.states.shape == (11,)
    assert [len(states) for states in panel.target] == [4, 1, 6]
    assert_array_equal(np.concatenate(panel.target), panel.states)
    assert {name: panel[name].shape for name in shapes} == shapes
    for name in {"startprob", "transmat", "weights"} & set(shapes):
        assert_allclose(panel[name].sum(axis=-1), 1.0)
    assert set(PARAMETERS.values()) & set(panel) == {PARAMETERS[emission]}


def assert_states_follow_the_matrix(panel):
    n = len(panel.startprob)
    assert_mean(np.eye(n)[panel.states[panel.data.ptr[:-1]]], panel.startprob)
    before = np.concatenate([states[:-1] for states in panel.target])
    after = np.concatenate([states[1:] for states in panel.target])
    for j in range(n):
        counts = np.bincount(after[before == j], minlength=n)
        assert counts.sum() > 100
        assert_shares(counts, panel.transmat[j])


@every_kind
def test_observations(make, emission):
    near = {"separation": 1.0, "decay": 0.5} if make is make_lt_panel else {"separation": 2.0}
    panel = make(
        20, n_steps=500, n_states=3, n_features=4, emission=emission, random_state=2, **near
    )
    expected = panel[PARAMETERS[emission]]
    for j in range(3):
        values = panel.data.values[panel.states == j]
        assert len(values) > 100
        if emission == "categorical":
            values = np.eye(4)[values[:, 0].astype(int)]
            assert_allclose(expected[j].sum(), 1.0)
        # The means of rarer symbols and counts are not normal yet.
        shown = (expected[j] > 0.01) | (emission == "gaussian")
        assert_mean(values[:, shown], expected[j, shown])
        errors = (values - expected[j])[:, shown]
        if emission == "gaussian":
            assert_mean(errors**2, 1.0)
            assert_mean(errors[:, 0] * errors[:, 1], 0.0)
        elif emission == "poisson":
            assert_mean(errors**2, expected[j, shown])


@every_kind
def test_arguments_of_a_part_leave_the_others(make, emission):
    def draw(**arguments):
        return make(5, n_features=3, emission=emission, random_state=7, **arguments)

    first, name = draw(), PARAMETERS[emission]
    assert_array_equal(draw(separation=1.0).states, first.states)
    if make is make_sticky_panel:
        assert_array_equal(draw(n_steps=9, stay=0.1)[name], first[name])
    else:
        assert_array_equal(draw(n_steps=9, decay=0.1)[name], first[name])
        assert_array_equal(draw(decay=0.1, stickiness=9.0).locations, first.locations)


# Sticky panels


@pytest.mark.parametrize("stay", [0.0, 0.6, 0.98])
def test_states_stay(stay):
    panel = make_sticky_panel(200, n_steps=150, n_states=3, stay=stay, random_state=1)
    assert_array_equal(np.diag(panel.transmat), stay)
    assert_array_equal(panel.startprob, 1 / 3)
    assert_states_follow_the_matrix(panel)


def test_next_states_are_drawn_uniformly():
    transmat = make_sticky_panel(1, n_steps=1, n_states=200, stay=0.5, separation=0.0).transmat
    jumps = transmat[~np.eye(200, dtype=bool)] / 0.5
    assert_mean(jumps**2, 2 / (199 * 200))


@every_emission
@pytest.mark.parametrize(("n_states", "separation"), [(4, 4.0), (9, 2.5), (30, 0.0)])
def test_separation(emission, n_states, separation):
    panel = make_sticky_panel(
        1, n_steps=1, n_states=n_states, n_features=3, emission=emission, separation=separation,
        random_state=0,
    )  # fmt: skip
    places = panel[PARAMETERS[emission]]
    if emission == "poisson":
        places = 2.0 * np.sqrt(places)
    elif emission == "categorical":
        places = np.log(places)
        places -= places.mean(axis=1, keepdims=True)
    assert pdist(places).min() >= separation * (1 - 1e-9)
    assert pdist(places).max() < 50


def test_odd_sticky_panels():
    """Lengths from a range, many states on a line, and one state."""
    panel = make_sticky_panel(100, n_steps=(2, 4), random_state=0)
    assert set(np.diff(panel.data.ptr)) == {2, 3, 4}
    means = make_sticky_panel(1, n_states=40, n_features=1, random_state=0).means
    assert np.diff(np.sort(means.ravel())).min() >= 4.0
    panel = make_sticky_panel(2, n_steps=5, n_states=1, random_state=0)
    assert_array_equal(panel.transmat, [[1.0]])
    assert_array_equal(panel.states, 0)


# Panels of local transitions


def test_no_jump_of_what_is_drawn_fails():
    panel = make_lt_panel(400, n_steps=100, n_states=4, decay=1.0, random_state=1)
    assert_states_follow_the_matrix(panel)


def test_similarities():
    panel = make_lt_panel(1, n_states=30, n_dims=3, decay=0.7, random_state=0)
    gaps = panel.locations[:, np.newaxis] - panel.locations
    assert_allclose(panel.similarity, np.exp(-0.35 * (gaps**2).sum(axis=2)))
    locations = make_lt_panel(1, n_steps=1, n_states=2000, separation=0.0, random_state=0).locations
    assert stats.kstest(locations.ravel(), "norm").pvalue > 1e-6


@pytest.mark.slow
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
    assert_mean(weights**2, (gamma / 3 + 1) / (3 * (gamma + 1)))
    shapes = alpha * weights[:, np.newaxis] + kappa * np.eye(3)
    means = shapes / (alpha + kappa)
    assert_mean(shares - means, 0.0)
    assert_mean(shares**2 - means * (shapes + 1.0) / (alpha + kappa + 1.0), 0.0)
    assert_mean(starts - weights, 0.0)
    assert_mean(starts**2 - weights * (alpha * weights + 1) / (alpha + 1), 0.0)


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
    assert_array_equal(make_lt_panel(1, decay=0.0).similarity, 1.0)


def test_extreme_rates():
    for arguments in (
        {"top_concentration": 1e-8}, {"transition_concentration": 1e-8}, {"decay": 1e8},
        {"stickiness": 1e8}, {"top_concentration": 1e8, "transition_concentration": 1e8},
    ):  # fmt: skip
        for seed in range(20):
            panel = make_lt_panel(2, n_steps=5, n_states=6, random_state=seed, **arguments)
            assert_allclose(panel.transmat.sum(axis=1), 1.0)
            assert np.all(panel.transmat >= 0.0)
    assert make_lt_panel(2, n_states=1).transmat.tolist() == [[1.0]]


def test_what_was_drawn_is_found():
    """States, transitions and similarities of a long panel: the model is that of the estimator.
    Transitions are means of the stored samples: a state is visited 100 times, and a single draw
    given that scatters by .05."""
    panel = make_lt_panel(10, n_steps=300, n_states=5, n_features=2, separation=6.0, random_state=2)
    model = HDPHMMLT(8, similarity=GaussianSimilarity(2), max_iter=150, random_state=0)
    found = np.concatenate(model.fit(panel.data).predict(panel.data))
    states = np.unique(panel.states)
    assert model.n_active_components_ == len(states)
    assert adjusted_rand_score(panel.states, found) > 0.98
    names = {j: np.bincount(found[panel.states == j]).argmax() for j in states}
    transmat = np.mean([sample.transmat for sample in model.samples_], axis=0)
    for j in states:
        assert_allclose(model.emission_.means[names[j]], panel.means[j], atol=0.3)
        for k in states:
            assert abs(transmat[names[j], names[k]] - panel.transmat[j, k]) < 0.1
