import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skdp.inspection import ClusterTreeDisplay
from skdp.mixture import DPMixture

X = np.random.default_rng(0).normal(size=(90, 2)) + 9.0 * np.repeat(np.arange(3), 30)[:, None]


@pytest.fixture(scope="module")
def mixture():
    labels = np.arange(90) // 10  # nine pieces
    return DPMixture(max_iter=2, burn_in=0, init=labels, split_merge=False, random_state=0).fit(X)


def labels_of(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def named(k, size):
    return f"{k} ({size} row{'s' if size > 1 else ''})"


def test_from_estimator(mixture):
    _, ax = plt.subplots()
    display = ClusterTreeDisplay.from_estimator(mixture, ax=ax)
    assert display.ax_ is ax
    np.testing.assert_array_equal(display.linkage, mixture.cluster_tree().linkage)
    sizes = np.bincount(mixture.labels_)
    assert labels_of(display) == [named(k, sizes[k]) for k in display.leaves_]
    assert display.ax_.get_xlabel() == "loss of log evidence (nats per row)"


def test_fewer(mixture):
    display = ClusterTreeDisplay.from_estimator(mixture, n_clusters=3)
    sizes = np.bincount(mixture.labels_at(3))
    assert sorted(labels_of(display)) == [named(k, sizes[k]) for k in range(3)]
    np.testing.assert_array_equal(display.linkage, mixture.cluster_tree().coarse(3).linkage)


def test_bad_arguments(mixture):
    with pytest.raises(ValueError, match="linkage must be a linkage matrix"):
        ClusterTreeDisplay(np.ones((2, 4)))
    with pytest.raises(ValueError, match="at least two clusters"):
        ClusterTreeDisplay.from_estimator(mixture, n_clusters=1)
    with pytest.raises(ValueError, match="n_clusters must be at most the number of components"):
        ClusterTreeDisplay.from_estimator(mixture, n_clusters=99)
    with pytest.raises(NotFittedError):
        ClusterTreeDisplay.from_estimator(DPMixture())


def test_clusters_have_the_numbers_of_labels():
    y = np.full(90, -1)
    y[[0, 30]] = 8, 4
    model = DPMixture(max_iter=24, random_state=0).fit(X, y)
    display = ClusterTreeDisplay.from_estimator(model)
    assert sorted(labels_of(display)) == [named(k, 30) for k in (4, 8, 9)]
    display = ClusterTreeDisplay.from_estimator(model, n_clusters=2)
    assert sorted(labels_of(display)) == [named(0, 60), named(1, 30)]
