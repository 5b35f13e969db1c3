"""States of hidden Markov models as unions of components (merge_overlapping)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skdp.inspection import TransitionDisplay
from skdp.sequence import HDPHMMLT

MERGED = {"stickiness": "auto", "max_iter": 100, "merge_overlapping": True, "random_state": 0}


def count(states):
    return np.count_nonzero(np.bincount(states) >= 0.01 * len(states))


@pytest.mark.parametrize("noise", ["laplace", "exponential", "normal"])
def test_noise_of_another_shape_is_one_state(noise):
    own = getattr(np.random.default_rng(0), noise)(size=(900, 1))
    levels = np.repeat([0.0, 12.0, 24.0], 300)[:, np.newaxis]
    one, three = HDPHMMLT(10, **MERGED).fit(own), HDPHMMLT(10, **MERGED).fit(levels + own)
    assert count(one.predict(own)) == one.n_active_states_ == 1
    assert count(three.predict(levels + own)) == 3
    assert one.n_active_components_ > 1 or noise == "normal"


@pytest.mark.parametrize(("level", "scale"), [(1.5, 1.0), (0.0, 2.0)])
def test_states_that_overlap_but_last_are_two(level, scale):
    states = np.repeat(np.arange(40) % 2, 50)
    x = level * states + scale**states * np.random.default_rng(0).normal(size=2000)
    found = HDPHMMLT(6, **MERGED).fit_predict(x[:, np.newaxis])
    assert count(found) == 2
    assert abs(np.corrcoef(found > 0, states)[0, 1]) > 0.75


@pytest.fixture(scope="module")
def skewed():
    rng = np.random.default_rng(1)
    levels = np.repeat(np.tile([0.0, 6.0, 12.0], 10), 30)
    x = (levels + 1.5 * rng.exponential(size=900))[:, np.newaxis]
    x[::50] = np.nan
    panel = [x[:500], x[500:]]
    model = HDPHMMLT(12, **MERGED).fit(panel)
    return panel, model, clone(model).set_params(merge_overlapping=False).fit(panel)


def test_answers_are_of_states_and_scores_of_components(skewed):
    panel, model, alone = skewed
    assert_array_equal(alone.component_labels_, np.arange(12))
    assert alone.n_active_states_ == alone.n_active_components_ == model.n_active_components_ > 3
    labels = model.component_labels_
    assert_array_equal(labels, [np.flatnonzero(labels == own)[0] for own in labels])
    assert model.n_active_states_ == 3
    assert "3 of 12 states" in model._repr_html_()
    assert_array_equal(alone.transmat_, model.transmat_)
    assert_array_equal(alone.score_samples(panel), model.score_samples(panel))
    assert_array_equal(alone.forecast(panel, 3).mean, model.forecast(panel, 3).mean)
    drawn, states = model.sample(20, 2, random_state=0)
    same, components = alone.sample(20, 2, random_state=0)
    assert_array_equal(drawn.values, same.values)
    assert_array_equal(states, labels[np.array(components)])
    (found, paths), (own, components) = model.decode(panel), alone.decode(panel)
    assert_array_equal(found, own)
    assert_array_equal(np.concatenate(paths), labels[np.concatenate(components)])
    members = labels[:, np.newaxis] == np.arange(12)
    for name in ("predict_proba", "filter_proba", "transform"):
        found, own = getattr(model, name)(panel)[1], getattr(alone, name)(panel)[1]
        assert_allclose(found, own @ members, atol=1e-12)
    assert_array_equal(model.predict(panel)[1], model.predict_proba(panel)[1].argmax(axis=1))


def test_changes_filters_and_displays_are_of_states(skewed):
    panel, model, _ = skewed
    assert 14.0 < model.predict_change_proba(panel)[0].sum() < 20.0  # of 16 true ones
    table = model.change_intervals(panel)[0]
    assert_array_equal(table.positions, np.flatnonzero(np.diff(model.predict(panel)[0])) + 1)
    true = [row for row in table if row.probability > 0.8]
    assert len(true) == 16
    for k, row in enumerate(true):
        step = -12.0 if k % 3 == 2 else 6.0
        assert row.size_interval[0, 0] < step < row.size_interval[1, 0]
        assert abs(row.position - 30 * (k + 1)) <= 3
    state = None
    for x in panel[0][1:40]:
        state = model.filter_update(state, x)
    assert_allclose(state.proba, model.filter_proba([panel[0][1:40]])[0][-1], atol=1e-9)
    display = TransitionDisplay.from_estimator(model)
    drawn = display.transmat[np.ix_(display.states_, display.states_)]
    assert_allclose(np.diag(drawn), 29.0 / 30.0, atol=0.03)
    assert_allclose(drawn.sum(axis=1), 1.0, atol=0.02)


def test_known_states_stay_apart_and_keep_their_numbers():
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(600, 1))
    y = np.full(600, -1)
    y[np.flatnonzero(x[:, 0] > 1.5)[:20]], y[np.flatnonzero(x[:, 0] < 0.0)[:20]] = 4, 2
    model = HDPHMMLT(6, **MERGED)
    found = model.fit_predict(x, y)
    assert_array_equal(found[y >= 0], y[y >= 0])
    assert_array_equal(np.unique(model.component_labels_), [2, 4])
