"""Fits of mixtures to rows with known labels: numbers of components, resumed chains, starts."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdp._numeric._numba import as_readonly
from skdp.callback import Checkpoint
from skdp.data import SequencePanel
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture
from skdp.mixture._labels import check_labels, check_labels_of_groups, restrict_partition
from skdp.mixture._partition import _improved, representative_partition

RNG = np.random.default_rng(0)
Z = np.repeat(np.arange(3), 30)
X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[Z] + RNG.normal(scale=0.7, size=(90, 2))
Y = np.full(90, -1)
Y[[0, 1]], Y[[30, 31, 32]] = 7, 2
"""Two of the three clusters have labels."""

QUICK = {"max_iter": 40, "random_state": 0}
SAMPLERS = pytest.mark.parametrize("sampler", ["collapsed", "blocked"])


def same(model, other):
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.component_labels_, other.component_labels_)
    np.testing.assert_array_equal(model.score_samples(X), other.score_samples(X))
    assert model.trace_ == other.trace_


@SAMPLERS
def test_components_have_the_numbers_of_labels(sampler):
    model = PitmanYorMixture(sampler=sampler, **QUICK).fit(X, Y)
    np.testing.assert_array_equal(model.component_labels_, [2, 7, 8])
    expected = np.array([7, 2, 8])[Z]
    np.testing.assert_array_equal(model.labels_, expected)
    np.testing.assert_array_equal(model.predict(X), expected)
    columns = np.searchsorted(model.component_labels_, expected)
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), columns)
    means = X.reshape(3, 30, 2).mean(axis=1)
    np.testing.assert_allclose(model.means_, means[[1, 0, 2]], atol=0.3)
    np.testing.assert_array_equal(model.labels_at(3), columns)
    assert model.n_components_ == 3
    assert model.novelty([[20.0, 20.0]])[0] > 0.9
    same(pickle.loads(pickle.dumps(model)), model)


@SAMPLERS
def test_labels_overrule_the_data(sampler):
    """Two labels in one cluster, and one label in two clusters."""
    y = np.full(90, -1)
    y[:5], y[5:10], y[[30, 60]] = 0, 1, 2
    model = DPMixture(sampler=sampler, **QUICK).fit(X, y)
    np.testing.assert_array_equal(model.labels_[y >= 0], y[y >= 0])
    for stored in model._models:
        known = stored.labels[y >= 0]
        np.testing.assert_array_equal(known[:, None] == known, y[y >= 0][:, None] == y[y >= 0])


def test_predictions_do_not_use_the_label_of_a_row():
    """A row whose label contradicts its cluster is predicted like its neighbors."""
    y = np.where(np.arange(90) % 2, Z, -1)
    y[1] = 2
    model = DPMixture(**QUICK).fit(X, y)
    assert model.labels_[1] == 2
    assert model.predict(X)[1] == 0
    np.testing.assert_array_equal(model.predict_proba(X)[1], model.predict_proba(X[1:2])[0])


def test_unknown_labels_are_no_labels():
    model = DPMixture(**QUICK).fit(X)
    np.testing.assert_array_equal(model.component_labels_, np.arange(model.n_components_))
    same(DPMixture(**QUICK).fit(X, np.full(90, -1)), model)
    same(DPMixture(**QUICK).fit(X, [None] * 90), model)
    same(DPMixture(use_y=False, **QUICK).fit(X, ["a class"] * 90), model)


def test_forms_of_labels():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    missing = [None if label < 0 else int(label) for label in Y]
    expected = DPMixture(**QUICK).fit(X, Y)
    forms = [
        Y.tolist(), Y.astype(np.int8), Y.astype(float), missing, np.array(missing, dtype=object),
        pandas.Series(Y, index=range(90, 0, -1)), pandas.Series(missing),
        pandas.Series(missing, dtype="Int64"), polars.Series(Y), polars.Series(missing),
    ]  # fmt: skip
    for y in forms:
        rows = check_labels(X, y)
        np.testing.assert_array_equal(rows.names, [2, 7])
        np.testing.assert_array_equal(rows.known, np.searchsorted([2, 7], Y) - (Y < 0))
    np.testing.assert_array_equal(DPMixture(**QUICK).fit_predict(X, missing), expected.labels_)


@SAMPLERS
def test_a_warm_start_is_one_long_chain(sampler):
    params = {**QUICK, "sampler": sampler, "n_chains": 2, "burn_in": 4}
    model = DPMixture(**{**params, "max_iter": 10, "warm_start": True}).fit(X, Y)
    model = pickle.loads(pickle.dumps(model)).set_params(max_iter=40).fit(X, Y)
    same(model, DPMixture(**params).fit(X, Y))
    with pytest.raises(ValueError, match="needs the same X and y; got others"):
        model.fit(X, np.where(Y == 7, 8, Y))
    with pytest.raises(ValueError, match="needs the same X and y; got others"):
        model.fit(X)


def test_iter_sweeps_are_those_of_fit():
    joints = [state.log_joint() for state in DPMixture(**QUICK).iter_sweeps(X, Y)]
    model = DPMixture(burn_in=0, thin=1, **QUICK).fit(X, Y)
    np.testing.assert_array_equal(model.trace_["log_joint"][0], joints)


def test_a_checkpoint_knows_the_labels(tmp_path):
    def fit(y, max_iter=40):
        model = DPMixture(burn_in=4, max_iter=max_iter, random_state=0)
        return model.set_callbacks(Checkpoint(tmp_path / "file", every_sweeps=1)).fit(X, y)

    fit(Y, 10)
    with pytest.raises(ValueError, match="is of a fit to another X or y"):
        fit(np.where(Y == 2, 7, Y))
    same(fit(Y), DPMixture(burn_in=4, **QUICK).fit(X, Y))


def test_classes_of_a_metric_are_not_labels():
    """Each class covers parts of two clusters."""
    y = np.arange(90) % 2
    model = make_pipeline(StandardScaler(), DPMixture(use_y=False, max_iter=24, random_state=0))
    found = model.fit(X, y)[-1].labels_
    assert adjusted_rand_score(found, Z) == 1.0
    grid = {"use_y": [False], "concentration": [0.5, 2.0]}
    search = GridSearchCV(model[-1], grid, scoring="adjusted_rand_score", cv=2).fit(X, y)
    assert search.best_score_ < 0.5
    assert clone(model[-1]).use_y is False


def test_labels_overrule_the_start_of_few_rows():
    """Partitions by k-means are tried, which separate the rows of label 1."""
    wide, y = np.tile(X, 3), np.full(90, -1)
    wide += RNG.normal(scale=0.1, size=wide.shape)
    y[:3], y[[3, 33, 63]] = 0, 1
    model = DPMixture(max_iter=24, random_state=0).fit(wide, y)
    np.testing.assert_array_equal(model.labels_[y >= 0], y[y >= 0])


@pytest.mark.parametrize("loss", ["binder", "vi"])
def test_the_representative_partition_keeps_to_the_labels(loss):
    """Random samples, which have little in common: without labels, some results would differ."""
    rng = np.random.default_rng(0)
    for i in range(300):
        known = np.array([0, 0, 1] if i % 2 else [0, 1])
        samples = rng.integers(3, size=(3, 11)).astype(np.int32)
        samples[:, -len(known) :] = (samples[:, :1] + known) % 3  # rows with labels come last
        labels = _improved(samples, loss, 11 - len(known))[-len(known) :]
        np.testing.assert_array_equal(labels[:, None] == labels, known[:, None] == known)
        order = rng.permutation(11)
        known = np.append(np.full(11 - len(known), -1), known)[order]
        labels = representative_partition(samples[:, order], loss, known)
        np.testing.assert_array_equal(labels[known >= 0], known[known >= 0])


def test_clusters_of_labels_come_first_then_large_ones():
    known = np.array([-1] * 6 + [1, 0, 0, -1])
    sample = np.array([[3, 3, 3, 3, 2, 2, 1, 0, 0, 1]], dtype=np.int32)
    labels = representative_partition(sample, "binder", known)
    np.testing.assert_array_equal(labels, [2, 2, 2, 2, 3, 3, 1, 0, 0, 1])


def test_partitions_of_a_start_are_made_consistent():
    known = np.array([0, 0, 0, 1, 2, -1, -1, -1])
    labels = np.array([0, 0, 1, 0, 1, 0, 1, 2])
    np.testing.assert_array_equal(restrict_partition(labels, known), [0, 0, 0, 3, 1, 0, 1, 2])
    assert restrict_partition(labels, None) is labels


GROUPS, TRUTH = [X[::2], X[:60:3]], [Z[::2], Z[:60:3]]
"""The first group has rows of all three clusters, the second of two."""

LABELS = [np.where(np.arange(45) % 9, -1, np.array([7, 2, 4])[Z[::2]]), None]


class TestGroups:
    """Rows in groups."""

    def fit(self, y, **params):
        return HDPMixture(**{**QUICK, **params}).fit(GROUPS, y)

    def test_components_have_the_numbers_of_labels(self):
        model = self.fit([np.where(LABELS[0] == 4, -1, LABELS[0]), None])
        np.testing.assert_array_equal(model.component_labels_, [2, 7, 8])
        names = np.array([7, 2, 8])
        for found, predicted, at, z in zip(
            model.labels_, model.predict(GROUPS), model.labels_at(3), TRUTH, strict=True
        ):
            np.testing.assert_array_equal(found, names[z])
            np.testing.assert_array_equal(predicted, names[z])
            assert adjusted_rand_score(at, z) == 1.0
        shares = np.array([np.bincount(z, minlength=3)[[1, 0, 2]] / len(z) for z in TRUTH])
        np.testing.assert_allclose(model.transform(GROUPS), shares, atol=0.02)
        np.testing.assert_allclose(model.group_weights_, shares, atol=0.1)
        assert model.transform(GROUPS).shape == (2, 3)

    def test_labels_overrule_the_data(self):
        """One label in clusters of both groups, and another in the same cluster as it."""
        y = [np.full(45, -1), np.full(20, -1)]
        y[0][[0, 1, 44]], y[0][2], y[1][[0, 19]] = 3, 9, [9, 3]
        found = self.fit(y).labels_
        for labels, known in zip(found, y, strict=True):
            np.testing.assert_array_equal(labels[known >= 0], known[known >= 0])

    def test_unknown_labels_are_no_labels(self):
        model = self.fit(None)
        for y in ([None, None], [None, [-1] * 20], [0, 1]):
            assert self.fit(y).trace_ == model.trace_
        ignored = self.fit([["a"] * 45, [0]], use_y=False)
        assert ignored.trace_ == model.trace_
        single = HDPMixture(**QUICK).fit(X, Y)
        np.testing.assert_array_equal(single.labels_, np.array([7, 2, 8])[Z])
        np.testing.assert_array_equal(HDPMixture(**QUICK).fit_predict(X, Y), single.labels_)

    def test_a_warm_start_is_one_long_chain(self):
        model = self.fit(LABELS, max_iter=10, burn_in=4, warm_start=True)
        model = pickle.loads(pickle.dumps(model)).set_params(max_iter=40)
        model.fit(GROUPS, LABELS)
        assert model.trace_ == self.fit(LABELS, burn_in=4).trace_
        with pytest.raises(ValueError, match="needs the same X and y; got others"):
            model.fit(GROUPS)

    def test_all_labels_are_known(self):
        model = self.fit(TRUTH)
        np.testing.assert_array_equal(model.component_labels_, [0, 1, 2])
        np.testing.assert_array_equal(np.concatenate(model.labels_), np.concatenate(TRUTH))


@pytest.mark.parametrize(("sampler", "n_labels"), [("collapsed", 9), ("blocked", 3000)])
def test_many_rows_begin_with_some(sampler, n_labels):
    """Most or none of the labels are in the subset that comes first."""
    rng = np.random.default_rng(0)
    z = rng.integers(9, size=7000)
    rows = 10.0 * np.column_stack([z // 3, z % 3]) + rng.normal(size=(7000, 2))
    y = np.full(7000, -1)
    chosen = rng.choice(7000, n_labels, replace=False)
    y[chosen] = z[chosen]
    data = check_labels(as_readonly(rows), y)
    model = DPMixture(sampler=sampler, random_state=0)
    start = model._start_sampler(data, np.random.SeedSequence(0), 0)
    found = start.labels[chosen]
    np.testing.assert_array_equal(found[:, None] == found, z[chosen][:, None] == z[chosen])
    assert np.unique(start.labels).tolist() == list(range(start.n_clusters))
    assert adjusted_rand_score(start.labels, z) > 0.9


def test_many_rows_of_groups_begin_with_some():
    """Label 9 has one row, most likely not in the subset, so it opens a component later."""
    rng = np.random.default_rng(0)
    z = rng.integers(9, size=7000)
    rows = 10.0 * np.column_stack([z // 3, z % 3]) + rng.normal(size=(7000, 2))
    y = np.where(rng.random(7000) < 0.4, z, -1)
    y[-1] = 9
    panel = SequencePanel(rows, [0, 3000, 7000])
    data = check_labels_of_groups(panel, False, [y[:3000], y[3000:]])
    start = HDPMixture(random_state=0)._start_sampler(data, np.random.SeedSequence(0), 0)
    known = y >= 0
    found = start.labels[known]
    np.testing.assert_array_equal(found[:, None] == found, y[known][:, None] == y[known])
    assert len(start.top.weights) == start.n_clusters >= 10
    assert start.top.weights.sum() + start.top.rest == pytest.approx(1.0)
