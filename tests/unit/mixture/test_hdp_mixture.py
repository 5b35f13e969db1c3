"""HDPMixture: attributes, what is said of new groups, draws."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from skdp.data import SequencePanel
from skdp.mixture import DPMixture, HDPMixture
from skdp.mixture._rows import _hdp as _model
from skdp.mixture._rows._hdp import split_groups

CENTERS = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])
SHARES = np.array([[0.8, 0.2, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.3, 0.7]])


def make_groups(n_each=2, n_rows=40, seed=0):
    """Return groups of the three kinds of shares, and the components of their rows."""
    rng = np.random.default_rng(seed)
    z = [rng.choice(4, n_rows, p=shares) for shares in np.repeat(SHARES, n_each, axis=0)]
    return [CENTERS[own] + rng.normal(scale=0.7, size=(n_rows, 2)) for own in z], z


GROUPS, Z = make_groups()
NEW, NEW_Z = make_groups(seed=1)
QUICK = {"max_iter": 60, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    return HDPMixture(**QUICK).fit(GROUPS)


@pytest.mark.parametrize("length", [2, pytest.param(500, marks=pytest.mark.slow)])
def test_many_rows_begin_with_some(length):
    """Most small groups have no row among the first rows."""
    rng = np.random.default_rng(0)
    z = rng.integers(4, size=4200)
    rows = 10.0 * np.column_stack([z // 2, z % 2]) + rng.normal(size=(4200, 2))
    groups = [rows[i : i + length] for i in range(0, 4200, length)]
    labels = np.concatenate(HDPMixture(max_iter=4, random_state=0).fit(groups).labels_)
    assert adjusted_rand_score(z, labels) > 0.95


def test_attributes(model):
    assert model.n_components_ == 4
    assert [len(labels) for labels in model.labels_] == [40] * 6
    labels, rows = np.concatenate(model.labels_), np.concatenate(GROUPS)
    assert labels.dtype == np.int64
    assert adjusted_rand_score(np.concatenate(Z), labels) == 1.0
    assert np.all(np.diff(np.bincount(labels)) <= 0)
    np.testing.assert_allclose(model.n_components_distribution_.sum(), 1.0)
    assert model.n_components_distribution_[4] > 0.5
    means = [rows[labels == k].mean(axis=0) for k in range(4)]
    np.testing.assert_allclose(model.means_, means, atol=0.03)
    assert model.covariances_.shape == (4, 2, 2)
    assert model.get_feature_names_out().tolist() == [f"hdpmixture{k}" for k in range(4)]
    assert set(model.trace_) == {
        "log_joint", "n_components", "concentration", "top_concentration",
        "emission_scale", "emission_degrees_of_freedom",
    }  # fmt: skip
    for name in ("concentration", "top_concentration"):
        assert getattr(model, f"{name}_") == pytest.approx(model.trace_[name].mean())
    assert model.weights_.shape == (4,)
    assert 0.5 < model.weights_.sum() < 1.0
    counts = np.array([np.bincount(labels, minlength=4) for labels in model.labels_])
    alpha = model.concentration_
    expected = (counts + alpha * model.weights_) / (40 + alpha)
    np.testing.assert_allclose(model.group_weights_, expected)


def test_an_array_is_one_group():
    one = HDPMixture(max_iter=20, random_state=0).fit(GROUPS[0])
    assert one.labels_.shape == (40,)
    assert one.group_weights_.shape == (1, one.n_components_)
    scores = one.score_samples(GROUPS[0])
    assert np.count_nonzero(scores == 0.0) == 20
    assert np.count_nonzero(scores < 0.0) == 20


# New groups


def test_rows_know_their_group(model):
    """A row halfway between two components belongs to the component of its group."""
    groups = [[*np.tile(CENTERS[k], (20, 1)), [3.0, 0.0]] for k in (0, 1)]
    found = [model.predict([group])[0][[0, -1]] for group in groups]
    assert all(first == last for first, last in found)
    assert found[0][0] != found[1][0]


def test_components_of_new_rows(model):
    probabilities, found = model.predict_proba(NEW), model.predict(NEW)
    for own, labels in zip(probabilities, found, strict=True):
        assert own.shape == (40, 4)
        np.testing.assert_allclose(own.sum(axis=1), 1.0)
        np.testing.assert_array_equal(own.argmax(axis=1), labels)
    assert adjusted_rand_score(np.concatenate(NEW_Z), np.concatenate(found)) > 0.97
    names = np.concatenate(model.predict(list(CENTERS[:, np.newaxis])))
    for shares, own in zip(model.transform(NEW), NEW_Z, strict=True):
        expected = np.bincount(own, minlength=4) / 40
        np.testing.assert_allclose(shares[names], expected, atol=0.03)
    turned = [group[::-1] for group in NEW]
    np.testing.assert_allclose(model.transform(turned), model.transform(NEW), atol=0.01)


def test_rows_that_only_a_new_component_could_have(model, monkeypatch):
    """Their components are compared all the same."""
    novelty = model.novelty([[*GROUPS[0], [40.0, 40.0]]])[0]
    assert np.all(novelty[:-1] < 0.5)
    assert novelty[-1] > 0.95
    far = model.predict_proba([[*GROUPS[0], [1e100, 3e99]]])[0]
    assert np.all(np.isfinite(far))
    np.testing.assert_allclose(far.sum(axis=1), 1.0)
    usual = model.predict_proba(GROUPS[:1])[0]
    monkeypatch.setattr(_model, "_LEAST", 2.0)
    np.testing.assert_allclose(model.predict_proba(GROUPS[:1])[0], usual, atol=0.05)


def test_a_group_is_drawn_alike_in_few_or_many_calls(model, monkeypatch):
    expected = model.predict_proba(GROUPS)
    for work in (1, 30_000):
        monkeypatch.setattr(_model, "_WORK", work)
        for found, known in zip(model.predict_proba(GROUPS), expected, strict=True):
            np.testing.assert_array_equal(found, known)


# Scores and draws


def test_scores_depend_on_the_shares_of_the_group(model):
    """Rows of another group say less, and so does a mixture without groups."""
    panel = SequencePanel.from_sequences(NEW)
    given, scored = (panel.values[rows] for rows in split_groups(panel.ptr, panel.values))
    others = np.roll(given, 40, axis=0)  # of a group of another kind
    own, foreign = (
        model._models[0].log_completions(panel.ptr, half, scored, model._key).mean()
        for half in (given, others)
    )
    assert foreign < own - 0.2
    alone = DPMixture(**QUICK).fit(np.concatenate(GROUPS)).score(scored)
    assert model.score(panel) > alone + 0.2


def test_neither_orders_nor_types_matter(model):
    """Nor the signs of zeros, which compare equal."""
    rng = np.random.default_rng(0)
    groups = [np.round(group, 1).astype(np.float32) for group in GROUPS]
    for group in groups:
        group[:8] = [[-3.0, 0.0], [-3.0, 0.5]] * 4  # equal rows, and equal first columns
    expected = model.score_samples(groups)
    assert len(set(expected)) == 6
    turned = [rng.permutation(group).astype(float) for group in groups[::-1]]
    for group in turned:
        group[group == 0.0] = -0.0
    np.testing.assert_allclose(model.score_samples(turned)[::-1], expected, rtol=1e-12)
    assert model.score(turned) == pytest.approx(model.score(groups), rel=1e-12)
    for array in (groups[5], turned[0]):
        assert model.score_samples(array).sum() == pytest.approx(expected[5], rel=1e-12)


def test_draws_follow_the_density(model):
    """Shares of 2,000 groups' rows, against the mean weights of the samples."""
    draws = model.sample(10, 2000, random_state=0)
    assert isinstance(draws, SequencePanel)
    assert draws.shape == (2000, 2)
    nearest = np.argmin(((draws.values[:, np.newaxis] - CENTERS) ** 2).sum(axis=2), axis=1)
    found = np.bincount(nearest, minlength=4) / len(nearest)
    expected = np.zeros(4)
    for sample in model._models:
        names = [sample.labels[np.concatenate(Z) == k][0] for k in range(4)]
        expected += sample.weights[names] / len(model._models)
    assert np.all(found > expected - 0.03)
    assert np.all(found < expected + 0.03 + (1.0 - expected.sum()))
    again = model.sample(10, 2000, random_state=0)
    np.testing.assert_array_equal(again.values, draws.values)


# Other fits


def test_chains_from_few_and_many_components_agree():
    numbers = [np.zeros(40, int), np.arange(40) % 20, np.arange(40)]
    fits = [HDPMixture(init=[labels] * 6, **QUICK).fit(GROUPS) for labels in numbers]
    assert [fit.n_components_ for fit in fits] == [4, 4, 4]
    scores = [fit.score(GROUPS) for fit in fits]
    assert max(scores) - min(scores) < 0.02
