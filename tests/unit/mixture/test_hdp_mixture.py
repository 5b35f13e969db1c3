"""HDPMixture: attributes, what is said of new groups, resumed chains, draws."""

import pickle

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV

from skdp.data import SequencePanel
from skdp.emissions import GaussianEmission
from skdp.mixture import DPMixture, HDPMixture
from skdp.mixture._hdp import _model
from skdp.mixture._hdp._model import split_groups

CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])
SHARES = np.array([[0.8, 0.2, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.3, 0.7]])


def make_groups(n_each=2, n_rows=40, seed=0):
    """Return groups of the three kinds of shares, and the components of their rows."""
    rng = np.random.default_rng(seed)
    z = [rng.choice(4, n_rows, p=shares) for shares in np.repeat(SHARES, n_each, axis=0)]
    return [CENTRES[own] + rng.normal(scale=0.7, size=(n_rows, 2)) for own in z], z


GROUPS, Z = make_groups()
QUICK = {"max_iter": 60, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    return HDPMixture(**QUICK).fit(GROUPS)


def same(model, other):
    for labels, others in zip(model.labels_, other.labels_, strict=True):
        np.testing.assert_array_equal(labels, others)
    np.testing.assert_array_equal(model.score_samples(GROUPS), other.score_samples(GROUPS))
    assert model.trace_ == other.trace_


@pytest.mark.parametrize("length", [2, 500])
def test_many_rows_begin_with_some(length):
    """Most small groups have no row among the first rows."""
    rng = np.random.default_rng(0)
    z = rng.integers(4, size=6000)
    rows = 10.0 * np.column_stack([z // 2, z % 2]) + rng.normal(size=(6000, 2))
    groups = [rows[i : i + length] for i in range(0, 6000, length)]
    labels = np.concatenate(HDPMixture(max_iter=4, random_state=0).fit(groups).labels_)
    assert adjusted_rand_score(z, labels) > 0.95


class TestAttributes:
    def test_partition(self, model):
        assert model.n_components_ == 4
        assert [len(labels) for labels in model.labels_] == [40] * 6
        labels = np.concatenate(model.labels_)
        assert labels.dtype == np.int64
        assert adjusted_rand_score(np.concatenate(Z), labels) == 1.0
        assert np.all(np.diff(np.bincount(labels)) <= 0)
        np.testing.assert_allclose(model.n_components_distribution_.sum(), 1.0)
        assert model.n_components_distribution_[4] > 0.5

    def test_numbers(self, model):
        assert set(model.trace_) == {
            "log_joint", "n_components", "concentration", "top_concentration",
            "emission_scale", "emission_degrees_of_freedom",
        }  # fmt: skip
        for name in ("concentration", "top_concentration"):
            assert getattr(model, f"{name}_") == pytest.approx(model.trace_[name].mean())

    def test_weights(self, model):
        assert model.weights_.shape == (4,)
        assert 0.5 < model.weights_.sum() < 1.0
        counts = np.array([np.bincount(labels, minlength=4) for labels in model.labels_])
        alpha = model.concentration_
        expected = (counts + alpha * model.weights_) / (40 + alpha)
        np.testing.assert_allclose(model.group_weights_, expected)

    def test_means(self, model):
        rows, labels = np.concatenate(GROUPS), np.concatenate(model.labels_)
        means = [rows[labels == k].mean(axis=0) for k in range(4)]
        np.testing.assert_allclose(model.means_, means, atol=0.03)
        assert model.covariances_.shape == (4, 2, 2)

    def test_names_of_features(self, model):
        names = ["hdpmixture0", "hdpmixture1", "hdpmixture2", "hdpmixture3"]
        assert model.get_feature_names_out().tolist() == names
        frame = clone(model).set_output(transform="pandas").fit(GROUPS).transform(GROUPS)
        assert frame.columns.tolist() == names
        assert frame.shape == (6, 4)

    def test_an_array_is_one_group(self):
        one = HDPMixture(max_iter=20, random_state=0).fit(GROUPS[0])
        assert one.labels_.shape == (40,)
        assert one.group_weights_.shape == (1, one.n_components_)
        scores = one.score_samples(GROUPS[0])
        assert np.count_nonzero(scores == 0.0) == 20
        assert np.count_nonzero(scores < 0.0) == 20


class TestNewGroups:
    def test_rows_know_their_group(self, model):
        """A row halfway between two components is of the one that its group has."""
        middle = [[3.0, 0.0]]
        found = [
            model.predict([np.vstack([np.tile(CENTRES[k], (20, 1)), middle])])[0][[0, -1]]
            for k in (0, 1)
        ]
        assert all(first == last for first, last in found)
        assert found[0][0] != found[1][0]

    def test_probabilities(self, model):
        new, z = make_groups(seed=1)
        for group, own, found in zip(
            new, model.predict_proba(new), model.predict(new), strict=True
        ):
            np.testing.assert_allclose(own.sum(axis=1), 1.0)
            np.testing.assert_array_equal(own.argmax(axis=1), found)
            assert own.shape == (len(group), 4)
        assert adjusted_rand_score(np.concatenate(z), np.concatenate(model.predict(new))) > 0.97

    def test_shares(self, model):
        new, z = make_groups(seed=1)
        names = model.predict(list(CENTRES[:, np.newaxis]))
        for shares, own in zip(model.transform(new), z, strict=True):
            expected = np.bincount(own, minlength=4) / 40
            np.testing.assert_allclose(shares[np.concatenate(names)], expected, atol=0.03)

    def test_novelty(self, model):
        novelty = model.novelty([np.vstack([GROUPS[0], [[40.0, 40.0]]])])[0]
        assert np.all(novelty[:-1] < 0.5)
        assert novelty[-1] > 0.95

    def test_a_row_that_only_a_new_component_could_have(self, model, monkeypatch):
        """Its components are compared all the same."""
        far = model.predict_proba([np.vstack([GROUPS[0], [[1e100, 3e99]]])])[0]
        assert np.all(np.isfinite(far))
        np.testing.assert_allclose(far.sum(axis=1), 1.0)
        usual = model.predict_proba(GROUPS[:1])[0]
        monkeypatch.setattr("skdp.mixture._hdp._model._LEAST", 2.0)
        np.testing.assert_allclose(model.predict_proba(GROUPS[:1])[0], usual, atol=0.05)

    def test_a_group_is_drawn_alike_in_few_or_many_calls(self, model, monkeypatch):
        expected = model.predict_proba(GROUPS)
        for work in (1, 30_000):
            monkeypatch.setattr(_model, "_WORK", work)
            for found, known in zip(model.predict_proba(GROUPS), expected, strict=True):
                np.testing.assert_array_equal(found, known)

    def test_order_of_rows_hardly_matters(self, model):
        turned = [group[::-1] for group in GROUPS]
        np.testing.assert_allclose(model.transform(turned), model.transform(GROUPS), atol=0.01)


class TestScores:
    def test_average_over_samples(self, model):
        panel = SequencePanel.from_sequences(GROUPS)
        given, scored = split_groups(panel.ptr, panel.values)
        halves = panel.values[given], panel.values[scored]
        parts = [
            sample.log_completions(panel.ptr, *halves, model._key + np.uint64(m))
            for m, sample in enumerate(model._models)
        ]
        assert len(parts) == model.trace_.sweeps.size > 5
        rows = logsumexp(parts, axis=0) - np.log(len(parts))
        np.testing.assert_allclose(model.score_samples(GROUPS), rows.reshape(6, 20).sum(axis=1))
        assert model.score(GROUPS) == pytest.approx(rows.mean())

    def test_other_shares_are_worth_less(self, model):
        panel = SequencePanel.from_sequences(make_groups(n_each=1, seed=1)[0])
        given, scored = (panel.values[rows] for rows in split_groups(panel.ptr, panel.values))
        others = np.roll(given.reshape(3, 20, 2), 1, axis=0).reshape(-1, 2)
        own, foreign = (
            model._models[0].log_completions(panel.ptr, half, scored, model._key).mean()
            for half in (given, others)
        )
        assert foreign < own - 0.2

    def test_better_than_without_groups(self, model):
        """The model infers shares that differ between groups."""
        panel = SequencePanel.from_sequences(make_groups(seed=1)[0])
        scored = panel.values[split_groups(panel.ptr, panel.values)[1]]
        alone = DPMixture(**QUICK).fit(np.concatenate(GROUPS)).score(scored)
        assert model.score(panel) > alone + 0.2

    def test_neither_orders_nor_types_matter(self, model):
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

    def test_groups_of_one_row(self, model):
        np.testing.assert_array_equal(model.score_samples([[[0.0, 0.0]], GROUPS[0]])[0], 0.0)
        with pytest.raises(ValueError, match="every group has only one row"):
            model.score([[[0.0, 0.0]], [[1.0, 1.0]]])

    def test_draws_follow_the_density(self, model):
        """Shares of 2,000 groups' rows, against the mean weights of the samples."""
        draws = model.sample(10, 2000, random_state=0)
        assert isinstance(draws, SequencePanel)
        assert draws.shape == (2000, 2)
        nearest = np.argmin(((draws.values[:, np.newaxis] - CENTRES) ** 2).sum(axis=2), axis=1)
        found = np.bincount(nearest, minlength=4) / len(nearest)
        expected = np.zeros(4)
        for sample in model._models:
            names = [sample.labels[np.concatenate(Z) == k][0] for k in range(4)]
            expected += sample.weights[names] / len(model._models)
        assert np.all(found > expected - 0.03)
        assert np.all(found < expected + 0.03 + (1.0 - expected.sum()))
        again = model.sample(10, 2000, random_state=0)
        np.testing.assert_array_equal(again.values, draws.values)


def test_chains_from_few_and_many_components_agree():
    numbers = [np.zeros(40, int), np.arange(40) % 20, np.arange(40)]
    fits = [HDPMixture(init=[labels] * 6, **QUICK).fit(GROUPS) for labels in numbers]
    assert [fit.n_components_ for fit in fits] == [4, 4, 4]
    scores = [fit.score(GROUPS) for fit in fits]
    assert max(scores) - min(scores) < 0.02


def test_without_moves_one_component_stays():
    rng = np.random.default_rng(0)
    groups = [rng.normal(m, 0.3, (60, 8)) for m in (0.0, 1.0)]
    params = {"init": [np.zeros(60, int)] * 2, "max_iter": 30, "random_state": 0}
    assert HDPMixture(**params).fit(groups).n_components_ == 2
    fixed = {"concentration": 0.1, "top_concentration": 0.01}
    alone = HDPMixture(split_merge=False, **fixed, **params).fit(groups)
    assert alone.n_components_ == 1
    assert alone.concentration_ == 0.1
    assert alone.top_concentration_ == 0.01


def test_warm_start_is_one_long_chain():
    init = [np.arange(len(group)) % 3 for group in [*GROUPS[:5], GROUPS[5][:7]]]
    groups = [*GROUPS[:5], GROUPS[5][:7]]
    long = HDPMixture(max_iter=20, burn_in=4, random_state=0, init=init).fit(groups)
    short = HDPMixture(max_iter=11, burn_in=4, warm_start=True, random_state=0, init=init)
    short = pickle.loads(pickle.dumps(short.fit(groups))).set_params(max_iter=20).fit(groups)
    same(long, short)


def test_several_chains_whatever_the_threads():
    one = HDPMixture(max_iter=10, n_chains=2, random_state=0).fit(GROUPS)
    two = clone(one).set_params(n_jobs=2).fit(GROUPS)
    same(one, two)
    assert one.trace_["log_joint"].shape == (2, 2)
    assert len(one._models) == 4


def test_iter_sweeps():
    states = HDPMixture(max_iter=5, random_state=0).iter_sweeps(GROUPS)
    copies = [state.copy() for state in states]
    assert len(copies) == 5
    last = copies[-1]
    assert last.labels.shape == (240,)
    assert last.top_weights.shape == (last.labels.max() + 1,)
    assert 0.0 < last.top_weights.sum() < 1.0
    assert last.concentration > 0.0
    assert last.top_concentration > 0.0
    joints = [state.log_joint() for state in copies]
    fitted = HDPMixture(max_iter=5, burn_in=0, thin=1, random_state=0).fit(GROUPS)
    np.testing.assert_array_equal(fitted.trace_["log_joint"][0], joints)
    for array in (last.labels, last.top_weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_nested_parameters():
    grid = {"emission__covariance_type": ["diag", "full"]}
    search = GridSearchCV(HDPMixture(max_iter=8, random_state=0), grid, cv=2).fit(GROUPS)
    assert isinstance(search.best_estimator_.emission, GaussianEmission)
    diagonal = search.estimator.set_params(emission__covariance_type="diag").fit(GROUPS)
    assert diagonal.covariances_.shape == (diagonal.n_components_, 2)


@pytest.mark.parametrize("emission", ["poisson", "multinomial", "categorical"])
def test_counts(emission):
    rng = np.random.default_rng(0)
    rates = np.array([[1.0, 9.0, 3.0], [8.0, 1.0, 3.0]])
    groups = [rng.poisson(rates[np.arange(30) % (2 + j) // (1 + j)]) for j in range(2)]
    if emission == "categorical":
        groups = [group[:, :1] for group in groups]
    model = HDPMixture(emission, max_iter=40, random_state=0).fit(groups)
    assert not hasattr(model, "means_")
    draws = model.sample(5, 3, random_state=0)
    assert draws.values.shape == (15, groups[0].shape[1])
    assert np.isfinite(model.score(groups))
    if emission == "categorical":
        assert "emission_concentration" in model.trace_
    else:
        assert adjusted_rand_score(np.arange(30) % 2, model.labels_[0]) > 0.8


def test_data_frames():
    pd = pytest.importorskip("pandas")
    frames = [pd.DataFrame(group, columns=["a", "b"]) for group in GROUPS]
    model = HDPMixture(max_iter=4, random_state=0).fit(frames)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        model.transform([frame[["b", "a"]] for frame in frames])
