"""Known labels of rows, alone or in groups: numbers of components, starts, partitions."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import adjusted_rand_score

from skdp._numeric._numba import as_readonly
from skdp.data import SequencePanel
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture
from skdp.mixture._rows._partition import (
    _improved,
    check_labels,
    check_labels_of_groups,
    representative_partition,
    restrict_partition,
)
from skdp.utils._checking import same_fit

RNG = np.random.default_rng(0)
Z = np.repeat(np.arange(3), 30)
X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[Z] + RNG.normal(scale=0.7, size=(90, 2))
Y = np.full(90, -1)
Y[[0, 1]], Y[[30, 31, 32]] = 7, 2
"""Two of the three clusters have labels."""

GROUPS, TRUTH = [X[::2], X[:60:3]], [Z[::2], Z[:60:3]]
"""The first group has rows of all three clusters, the second of two."""

QUICK = {"max_iter": 40, "random_state": 0}
both_samplers = pytest.mark.parametrize("sampler", ["collapsed", "blocked"])


def assert_labels_are_kept(labels, y):
    """Rows of one label are together, and rows of different labels apart."""
    found, known = labels[y >= 0], y[y >= 0]
    np.testing.assert_array_equal(found[:, None] == found, known[:, None] == known)


@both_samplers
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


def test_components_of_groups_have_the_numbers_of_labels():
    y = np.where(np.arange(45) % 9, -1, np.array([7, 2, -1])[Z[::2]])
    model = HDPMixture(**QUICK).fit(GROUPS, [y, None])
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


@both_samplers
def test_labels_overrule_the_data(sampler):
    """Two labels in one cluster, and one label in two clusters."""
    y = np.full(90, -1)
    y[:5], y[5:10], y[[30, 60]] = 0, 1, 2
    model = DPMixture(sampler=sampler, **QUICK).fit(X, y)
    np.testing.assert_array_equal(model.labels_[y >= 0], y[y >= 0])
    for stored in model._models:
        assert_labels_are_kept(stored.labels, y)


def test_labels_overrule_the_data_of_groups():
    """One label in clusters of both groups, and another in the same cluster as it."""
    y = [np.full(45, -1), np.full(20, -1)]
    y[0][[0, 1, 44]], y[0][2], y[1][[0, 19]] = 3, 9, [9, 3]
    found = HDPMixture(**QUICK).fit(GROUPS, y).labels_
    for labels, known in zip(found, y, strict=True):
        np.testing.assert_array_equal(labels[known >= 0], known[known >= 0])


def test_labels_overrule_the_start_of_few_rows():
    """Partitions by k-means are tried, which separate the rows of label 1."""
    wide, y = np.tile(X, 3), np.full(90, -1)
    wide += RNG.normal(scale=0.1, size=wide.shape)
    y[:3], y[[3, 33, 63]] = 0, 1
    model = DPMixture(max_iter=24, random_state=0).fit(wide, y)
    np.testing.assert_array_equal(model.labels_[y >= 0], y[y >= 0])


def test_predictions_do_not_use_the_label_of_a_row():
    """A row whose label contradicts its cluster is predicted like its neighbors."""
    y = np.where(np.arange(90) % 2, Z, -1)
    y[1] = 2
    model = DPMixture(**QUICK).fit(X, y)
    assert model.labels_[1] == 2
    assert model.predict(X)[1] == 0
    np.testing.assert_array_equal(model.predict_proba(X)[1], model.predict_proba(X[1:2])[0])


def test_unknown_labels_are_no_labels():
    """Nor are classes of rows without `use_y`, nor those of groups."""
    model = DPMixture(**QUICK).fit(X)
    np.testing.assert_array_equal(model.component_labels_, np.arange(model.n_components_))
    for y in (np.full(90, -1), [None] * 90):
        same_fit(DPMixture(**QUICK).fit(X, y), model)
    same_fit(DPMixture(use_y=False, **QUICK).fit(X, ["a class"] * 90), model)
    grouped = HDPMixture(**QUICK).fit(GROUPS)
    for y in ([None, None], [None, [-1] * 20], [0, 1], ["a", "b"]):
        same_fit(HDPMixture(**QUICK).fit(GROUPS, y), grouped)
    same_fit(HDPMixture(use_y=False, **QUICK).fit(GROUPS, [["a"] * 45, [0]]), grouped)


def test_all_labels_of_groups_are_known():
    model = HDPMixture(**QUICK).fit(GROUPS, TRUTH)
    np.testing.assert_array_equal(model.component_labels_, [0, 1, 2])
    np.testing.assert_array_equal(np.concatenate(model.labels_), np.concatenate(TRUTH))
    single = HDPMixture(**QUICK).fit_predict(X, Y)
    np.testing.assert_array_equal(single, np.array([7, 2, 8])[Z])


def test_forms_of_labels():
    missing = [None if label < 0 else int(label) for label in Y]
    forms = [
        Y.tolist(), Y.astype(np.int8), Y.astype(float), missing, np.array(missing, dtype=object),
        pd.Series(Y, index=range(90, 0, -1)), pd.Series(missing),
        pd.Series(missing, dtype="Int64"), pl.Series(Y), pl.Series(missing),
        pa.array(missing), pa.chunked_array([missing]),
    ]  # fmt: skip
    for y in forms:
        rows = check_labels(X, y)
        np.testing.assert_array_equal(rows.names, [2, 7])
        np.testing.assert_array_equal(rows.known, np.searchsorted([2, 7], Y) - (Y < 0))


# Partitions


@pytest.mark.parametrize("loss", ["binder", "vi"])
def test_the_representative_partition_keeps_to_the_labels(loss):
    """Random samples, which have little in common: without labels, some results would differ."""
    rng = np.random.default_rng(0)
    for i in range(300):
        known = np.array([0, 0, 1] if i % 2 else [0, 1])
        samples = rng.integers(3, size=(3, 11)).astype(np.int32)
        samples[:, -len(known) :] = (samples[:, :1] + known) % 3  # rows with labels come last
        labels = _improved(samples, loss, 11 - len(known))[-len(known) :]
        assert_labels_are_kept(labels, known)
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


@pytest.mark.parametrize(
    ("kind", "share"), [("collapsed", 0.001), ("blocked", 0.4), ("groups", 0.4)]
)
def test_many_rows_begin_with_some(kind, share):
    """Few or many labels are in the subset that comes first; the only row of label 9 is not."""
    rng = np.random.default_rng(0)
    z = rng.integers(9, size=7000)
    rows = as_readonly(10.0 * np.column_stack([z // 3, z % 3]) + rng.normal(size=(7000, 2)))
    y = np.where(rng.random(7000) < share, z, -1)
    y[-1] = 9
    if kind == "groups":
        panel = SequencePanel(rows, [0, 3000, 7000])
        data = check_labels_of_groups(panel, False, [y[:3000], y[3000:]])
        model = HDPMixture(random_state=0)
    else:
        data, model = check_labels(rows, y), DPMixture(sampler=kind, random_state=0)
    start = model._start_sampler(data, np.random.SeedSequence(0), 0)
    assert_labels_are_kept(start.labels, y)
    assert np.unique(start.labels).tolist() == list(range(start.n_clusters))
    assert adjusted_rand_score(start.labels, z) > 0.9
    if kind == "groups":
        assert len(start.top.weights) == start.n_clusters >= 10
        assert start.top.weights.sum() + start.top.rest == pytest.approx(1.0)
