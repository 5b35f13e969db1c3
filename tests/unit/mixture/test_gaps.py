"""Gaussian and Student t rows with missing values and outliers."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, rand_score

from skdp.emissions import GaussianEmission, StudentTEmission
from skdp.emissions._gaussian._model import make_definite
from skdp.emissions._kernels._gaussian import log_evidence_of_gaussians
from skdp.mixture import DPMixture
from skdp.sequence import HDPHMMLT

T = StudentTEmission("auto", covariance_prior="auto")
EMISSIONS = {"gaussian": "gaussian", "fixed": GaussianEmission(), "student_t": T}


def make_rows(n=40):
    """Return rows of three clusters with missing values, and the clusters."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], n)
    mix = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 0.3], [0.0, 0.0, 0.9]])
    rows = np.array([[0, 0, 0], [6, 0, 3], [0, 6, -3.0]])[truth] + rng.normal(size=(3 * n, 3)) @ mix
    return np.where(rng.random(rows.shape) < 0.1, np.nan, rows), truth


def fit(emission, X, **params):
    return DPMixture(emission, **{"max_iter": 60, "random_state": 0, **params}).fit(X)


@pytest.mark.parametrize("emission", EMISSIONS.values(), ids=EMISSIONS)
def test_clusters_are_found(emission):
    """Also in rows and columns without values, and after merging."""
    rows, truth = make_rows()
    model = fit(emission, rows)
    assert rand_score(truth, model.labels_) > 0.93
    assert adjusted_rand_score(truth, model.predict(rows)) > 0.85
    assert np.isfinite(model.score_samples(rows)).all()
    assert rand_score(truth, model.labels_at(3)) > 0.93
    assert (model.cluster_tree().losses[-2:] > 0.0).all()
    rows[::10] = np.nan
    rows = np.column_stack([rows, np.full(len(rows), np.nan)])
    model, seen = fit(emission, rows), ~np.isnan(rows).all(axis=1)
    assert rand_score(truth[seen], model.labels_[seen]) > 0.9
    empty = np.full((1, 4), np.nan)
    assert model.score_samples(empty) == pytest.approx(0.0, abs=1e-9)
    chances = np.bincount(model.component_labels_, model.weights_ / model.weights_.sum())
    np.testing.assert_allclose(model.predict_proba(empty)[0], chances, rtol=1e-9)


def test_values_that_are_missing_are_taken_from_the_other_columns():
    """Draws of a missing column have the correlation of the observed rows."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=300)
    rows = np.column_stack([first, 2.0 * first + 0.1 * rng.normal(size=300)])
    rows[::3, 1] = np.nan
    model = fit("gaussian", rows)
    filled = model.emission_.fill(rows[::3], model.predict_proba(rows[::3]))
    np.testing.assert_allclose(filled[:, 1], 2.0 * rows[::3, 0], atol=0.3)


def test_outliers_stay_in_their_clusters():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 60)
    rows = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[truth] + rng.normal(size=(180, 2))
    rows[::15] += rng.normal(size=(12, 2)) * 4.0
    with_tails = fit(T, rows, max_iter=100)
    assert with_tails.n_components_ == 3
    assert adjusted_rand_score(truth, with_tails.labels_) > 0.85
    assert fit("gaussian", rows, max_iter=100).n_components_ > 3


@pytest.mark.parametrize("value", [1e9, 1e12, 1e13, 1e14])
@pytest.mark.parametrize(("kind", "seed"), [*((DPMixture, n) for n in (0, 1, 4)), (HDPHMMLT, 0)])
def test_an_absurd_value_next_to_a_gap(kind, seed, value):
    """Alone in its cluster, the missing value is absurd, too, and the prior scale is not lost."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 100)
    rows = 6.0 * truth[:, np.newaxis] + rng.normal(size=(200, 3))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    rows[5] = value, np.nan, 0.3
    model = kind(emission="gaussian", max_iter=30, random_state=seed).fit(rows)
    assert np.isfinite(model.trace_["log_joint"]).all()
    assert adjusted_rand_score(np.delete(truth, 5), np.delete(model.predict(rows), 5)) > 0.9


def test_scales_far_below_a_cluster():
    """Both factorizations of S_n agree, and updates keep the determinant despite absurd values."""
    rng = np.random.default_rng(0)
    scatter = np.cov(rng.normal(size=(3, 9)))[np.newaxis]
    prior = np.zeros((1, 3)), 0.5, 5.0, np.eye(3)[np.newaxis]

    def weigh(n, centers, scatter, least):
        counts = np.array([float(n)])
        scratch = least, np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
        return log_evidence_of_gaussians(counts, counts, centers, scatter, *prior, *scratch)

    center, nothing = rng.normal(size=(1, 3)), np.zeros((1, 3, 3))
    expected = weigh(9, center, scatter, 0.0)
    np.testing.assert_allclose(weigh(9, center, scatter, np.inf), expected, rtol=1e-12)
    far = np.array([[1e9, -2e9, 3e9]])
    length = np.array([[np.linalg.norm(far), 0.0, 0.0]])  # S is the same in all directions
    np.testing.assert_allclose(weigh(1, far, nothing, 1e-13), weigh(1, length, nothing, 0.0))
    in_units = np.array([[2.0, 1e-20], [1e-20, 2e-40]])
    kept, raised = make_definite(np.array([in_units, np.full((2, 2), 1e26)]))
    assert (kept == in_units).all()
    assert 1e10 < np.linalg.eigvalsh(raised)[0] < 1e13
    np.testing.assert_allclose(raised, 1e26)


@pytest.mark.slow
@pytest.mark.parametrize("emission", ["gaussian", T])
def test_more_rows_than_a_start(emission):
    """From 4,000 rows on, some of the rows come first."""
    rows, truth = make_rows(n=1400)
    model = fit(emission, rows, max_iter=4, n_samples=1)
    assert rand_score(truth, model.labels_) > 0.95
