import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from skdp.emissions._gaussian._tight_clusters import find_tight_clusters

Z = np.repeat(np.arange(3), 40)


def three_of_forty_columns(seed=0):
    """Return three groups that differ in three of forty columns, by 8.5 standard deviations."""
    return 6.0 * np.eye(40)[Z] + np.random.default_rng(seed).normal(size=(120, 40))


def find(values, n_clusters, seed=0):
    return find_tight_clusters(values, n_clusters, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(3))
def test_columns_that_separate_count_for_more(seed):
    assert adjusted_rand_score(Z, find(three_of_forty_columns(seed), 3)) > 0.95


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_units_do_not_matter(shift):
    X = three_of_forty_columns()
    scales = 10.0 ** np.arange(-20, 20)
    np.testing.assert_array_equal(find(X, 3), find(scales * (X + shift), 3))


def test_missing_values_do_not_matter_much():
    X = three_of_forty_columns()
    X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    X[7] = np.nan
    labels = find(X, 3)
    assert adjusted_rand_score(np.delete(Z, 7), np.delete(labels, 7)) > 0.9


def test_labels_have_no_gaps():
    labels = find(three_of_forty_columns(), 13)
    assert np.unique(labels).tolist() == list(range(labels.max() + 1))
    assert labels.dtype == np.int64


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.full((5, 2), 7.1), 1),
        (np.zeros((1, 3)), 1),
        (np.full((5, 2), np.nan), 1),
        (np.repeat([[0.0, 5.0], [1.0, 5.0]], 4, axis=0), 2),
        (np.arange(6.0).reshape(3, 2), 3),
    ],
    ids=[
        "equal rows",
        "one row",
        "nothing observed",
        "two distinct rows",
        "fewer rows than clusters",
    ],
)
def test_no_more_clusters_than_distinct_rows(values, expected):
    assert len(np.unique(find(values, 4))) == expected
