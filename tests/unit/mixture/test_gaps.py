"""Mixtures of Gaussian and Student t rows with missing values and outliers."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, rand_score

from skdp.emissions import GaussianEmission, StudentTEmission
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture

SHORT = {"max_iter": 20, "n_samples": 4, "random_state": 0}
T = StudentTEmission("auto", covariance_prior="auto")


def make_rows(share=0.1, seed=0, n=40):
    """Return rows of three clusters with missing values, the complete rows, and the clusters."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], n)
    mix = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 0.3], [0.0, 0.0, 0.9]])
    complete = np.array([[0, 0, 0], [6, 0, 3], [0, 6, -3.0]])[truth]
    complete = complete + rng.normal(size=complete.shape) @ mix
    rows = np.where(rng.random(complete.shape) < share, np.nan, complete)
    return rows, complete, truth


def emissions():
    return {"gaussian": "gaussian", "fixed": GaussianEmission(), "student_t": T}


def fit(emission, X, **params):
    return DPMixture(emission, **{"max_iter": 100, "random_state": 0, **params}).fit(X)


@pytest.mark.parametrize("emission", emissions().values(), ids=emissions())
def test_clusters_are_found(emission):
    rows, _, truth = make_rows()
    model = fit(emission, rows)
    assert rand_score(truth, model.labels_) > 0.93
    assert adjusted_rand_score(truth, model.predict(rows)) > 0.85
    assert np.isfinite(model.score_samples(rows)).all()


@pytest.mark.parametrize("emission", ["gaussian", "student_t"])
def test_rows_and_columns_without_values(emission):
    rows, _, truth = make_rows()
    rows[::10] = np.nan
    rows = np.column_stack([rows, np.full(len(rows), np.nan)])
    model = fit(emission, rows, max_iter=60)
    seen = ~np.isnan(rows).all(axis=1)
    assert rand_score(truth[seen], model.labels_[seen]) > 0.9
    empty = np.full((1, 4), np.nan)
    assert model.score_samples(empty) == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(
        model.predict_proba(empty)[0], model.weights_ / model.weights_.sum(), rtol=1e-9
    )


@pytest.mark.parametrize("emission", ["gaussian", "student_t"])
@pytest.mark.parametrize("model", [DPMixture, PitmanYorMixture, HDPMixture])
def test_a_resumed_fit_equals_a_straight_one(model, emission):
    rows, *_ = make_rows(n=10)
    X = [rows[:12], rows[12:]] if model is HDPMixture else rows
    straight = model(emission, **SHORT).fit(X)
    resumed = model(emission, **SHORT, warm_start=True).set_params(max_iter=7, burn_in=10).fit(X)
    resumed.set_params(max_iter=20).fit(X)
    assert straight.trace_["log_joint"][0, -1] == resumed.trace_["log_joint"][0, -1]
    for one, other in zip(straight.labels_, resumed.labels_, strict=True):
        np.testing.assert_array_equal(one, other)
    both = [m._models[-1].emission for m in (straight, resumed)]
    np.testing.assert_array_equal(both[0].means, both[1].means)


@pytest.mark.parametrize("emission", ["gaussian", "student_t"])
def test_a_copied_state_stays(emission):
    rows, *_ = make_rows(n=10)
    states = DPMixture(emission, **SHORT).iter_sweeps(rows)
    next(states)
    copied = next(states).copy()
    before = copied.log_joint()
    for _ in range(3):
        next(states)
    assert copied.log_joint() == before


def test_chains_do_not_depend_on_threads():
    rows, *_ = make_rows(n=10)
    one, two = (fit("gaussian", rows, n_chains=2, n_jobs=n, max_iter=20) for n in (1, 2))
    np.testing.assert_array_equal(one.trace_["log_joint"], two.trace_["log_joint"])


@pytest.mark.parametrize("labels", [False, True])
def test_known_labels_stay(labels):
    rows, _, truth = make_rows()
    y = np.where(np.arange(len(truth)) % 4 == 0, truth, -1)
    init = truth if labels else "sequential"
    model = DPMixture(init=init, max_iter=40, random_state=0).fit(rows, y)
    np.testing.assert_array_equal(model.labels_[y >= 0], y[y >= 0])
    assert adjusted_rand_score(truth, model.labels_) > 0.85


def test_values_that_are_missing_are_taken_from_the_other_columns():
    """Draws of a missing column have the correlation of the observed rows."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=300)
    rows = np.column_stack([first, 2.0 * first + 0.1 * rng.normal(size=300)])
    rows[::3, 1] = np.nan
    model = fit("gaussian", rows, max_iter=60)
    filled = model.emission_.fill(rows[::3], model.predict_proba(rows[::3]))
    np.testing.assert_allclose(filled[:, 1], 2.0 * rows[::3, 0], atol=0.3)


def test_outliers_stay_in_their_clusters():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 60)
    rows = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[truth]
    rows = rows + rng.normal(size=rows.shape)
    rows[::15] += rng.normal(size=(12, 2)) * 4.0
    with_tails = fit(T, rows)
    assert with_tails.n_components_ == 3
    assert adjusted_rand_score(truth, with_tails.labels_) > 0.85
    assert fit("gaussian", rows).n_components_ > 3


def test_an_absurd_value():
    rows, _, truth = make_rows(share=0.0)
    rows[0] = 1e9, -1e9, 1e9
    model = fit("student_t", rows)
    assert adjusted_rand_score(truth[1:], model.labels_[1:]) > 0.9


@pytest.mark.parametrize("value", [1e9, 1e13])
def test_an_absurd_value_beside_a_gap(value):
    """Alone in its cluster, the missing value is absurd, too, and the prior scale is not lost."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 100)
    rows = 6.0 * truth[:, np.newaxis] + rng.normal(size=(200, 3))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    rows[5] = value, np.nan, 0.3
    model = fit("gaussian", rows, max_iter=60)
    assert np.isfinite(model.trace_["log_joint"]).all()
    others = np.arange(200) != 5
    assert adjusted_rand_score(truth[others], model.labels_[others]) > 0.9


def test_scales_far_below_a_cluster():
    """Both factorizations of S_n agree, and updates keep the determinant despite absurd values."""
    from skdp.emissions._gaussian._kernels_posterior import log_evidence_of_gaussians

    rng = np.random.default_rng(0)
    scatter = np.cov(rng.normal(size=(3, 9)))[np.newaxis]
    prior = np.zeros((1, 3)), 0.5, 5.0, np.eye(3)[np.newaxis]

    def weigh(n, centers, scatter, least):
        counts = np.array([float(n)])
        scratch = least, np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
        return log_evidence_of_gaussians(counts, counts, centers, scatter, *prior, *scratch)

    center = rng.normal(size=(1, 3))
    np.testing.assert_allclose(
        weigh(9, center, scatter, np.inf), weigh(9, center, scatter, 0.0), rtol=1e-12
    )
    far = np.array([[1e9, -2e9, 3e9]])
    length = np.array([[np.linalg.norm(far), 0.0, 0.0]])  # S is the same in all directions
    np.testing.assert_allclose(
        weigh(1, far, np.zeros((1, 3, 3)), 1e-13), weigh(1, length, np.zeros((1, 3, 3)), 0.0)
    )


@pytest.mark.parametrize("emission", ["gaussian", T])
def test_more_rows_than_a_start(emission):
    """From 4,000 rows on, some of the rows come first."""
    rows, _, truth = make_rows(n=1400, share=0.1)
    model = fit(emission, rows, max_iter=4, n_samples=1)
    assert rand_score(truth, model.labels_) > 0.95


def test_the_tree_merges_clusters():
    rows, _, truth = make_rows()
    model = fit("gaussian", rows)
    assert rand_score(truth, model.labels_at(3)) > 0.93
    assert (model.cluster_tree().losses[-2:] > 0.0).all()
