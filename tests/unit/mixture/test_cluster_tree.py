"""Merged clusters of fitted mixtures."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture

RNG = np.random.default_rng(0)
RINGS = RNG.normal(size=(240, 2))
RINGS[:120] = 6.0 * RINGS[:120] / np.linalg.norm(RINGS[:120], axis=1, keepdims=True)
RINGS[:120] += 0.2 * RNG.normal(size=(120, 2))
RINGS[120:] += [20.0, 0.0]
"""A ring, which takes several normal components, and a normal cluster far away."""

TRUTH = np.repeat([0, 1], 120)


@pytest.fixture(scope="module")
def rings():
    return PitmanYorMixture(max_iter=150, random_state=0).fit(RINGS)


class TestLabels:
    def test_pieces_of_a_cluster_come_together(self, rings):
        assert rings.n_components_ > 3
        assert adjusted_rand_score(TRUTH, rings.labels_) < 0.8
        assert adjusted_rand_score(TRUTH, rings.labels_at(2)) == 1.0

    def test_all_and_one(self, rings):
        np.testing.assert_array_equal(rings.labels_at(rings.n_components_), rings.labels_)
        np.testing.assert_array_equal(rings.labels_at(1), 0)

    def test_unions_of_clusters_by_size(self, rings):
        for n in range(1, rings.n_components_ + 1):
            labels = rings.labels_at(np.int64(n))
            assert len(set(zip(rings.labels_, labels, strict=True))) == rings.n_components_
            sizes = np.bincount(labels)
            assert len(sizes) == n
            assert (np.diff(sizes) <= 0).all()

    def test_new_rows(self, rings):
        merged = rings.cluster_tree().labels(2)[rings.predict([[20.0, 0.5], [0.0, 6.0]])]
        np.testing.assert_array_equal(merged, rings.labels_at(2)[[-1, 0]])

    def test_units_do_not_matter(self, rings):
        scaled = PitmanYorMixture(max_iter=150, random_state=0).fit(1000.0 * RINGS + 5.0)
        np.testing.assert_array_equal(scaled.labels_at(2), rings.labels_at(2))

    @pytest.mark.parametrize("n", [0, 99, 2.0, "two", True])
    def test_bad_numbers(self, rings, n):
        with pytest.raises(ValueError, match="n_clusters must be"):
            rings.labels_at(n)

    def test_not_fitted(self):
        for call in (DPMixture().cluster_tree, lambda: HDPMixture().labels_at(2)):
            with pytest.raises(NotFittedError):
                call()

    def test_groups(self):
        groups = [RINGS[::2], RINGS[1::2]]
        model = HDPMixture(max_iter=60, random_state=0).fit(groups)
        labels = model.labels_at(2)
        assert [len(part) for part in labels] == [120, 120]
        assert adjusted_rand_score(TRUTH, np.stack(labels, axis=1).ravel()) == 1.0

    @pytest.mark.parametrize("emission", ["poisson", "multinomial"])
    def test_counts(self, emission):
        rates = np.array([[1.0, 5.0, 9.0], [9.0, 5.0, 1.0]])[TRUTH]
        counts = np.random.default_rng(0).poisson(rates)
        model = DPMixture(emission, max_iter=60, random_state=0).fit(counts)
        if model.n_components_ > 1:
            assert adjusted_rand_score(TRUTH, model.labels_at(2)) > 0.8

    @pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
    def test_one_component(self, sampler):
        model = DPMixture(sampler=sampler, max_iter=40, random_state=0).fit(RINGS[120:])
        assert model.n_components_ == 1
        assert model.labels_at(1).tolist() == [0] * 120
        assert model.cluster_tree().linkage.shape == (0, 4)


@pytest.mark.slow
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_real_classes(load):
    """Four to six components of three classes; a value of .83 (iris) before merges."""
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = PitmanYorMixture(random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_at(3)) > 0.88


def test_labels_stay_apart():
    """Two labels in one cluster of rows are merged last."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, 0.3, size=(30, 2)) for m in (0.0, 4.0, 8.0)])
    y = np.full(90, -1)
    y[:30] = np.arange(30) % 2 + 5
    model = DPMixture(max_iter=30, random_state=0).fit(X, y)
    assert model.n_components_ == 4
    two = model.labels_at(2)
    assert len(np.unique(two[:30:2])) == len(np.unique(two[1:30:2])) == 1
    assert two[0] != two[1]
