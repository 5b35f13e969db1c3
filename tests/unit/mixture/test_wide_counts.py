"""Counts that vary more than their component: noise is one cluster, and what is not available."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from skdp.emissions import IndependentEmissions, MultinomialEmission, PoissonEmission
from skdp.mixture import DPMixture, HDPMixture
from skdp.sequence import HDPHMMLT

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MEANS = np.array([3.0, 10.0, 0.5, 40.0, 7.0, 0.0])


def negative_binomial(means, r, rng):
    return rng.negative_binomial(r, r / (r + np.asarray(means)))


def bursts(theta, b, n, size, rng):
    return np.array([rng.multinomial(n, rng.dirichlet(b * theta + 1e-9)) for _ in range(size)])


def count_clusters(emission, X, max_iter=60):
    model = DPMixture(emission, max_iter=max_iter, n_samples=4, random_state=0).fit(X)
    return int(model.n_components_distribution_.argmax()), model


@pytest.mark.parametrize("times", [1, 10])
def test_noise_is_one_cluster(times):
    """A column of zeros, and ten times the counts, make no difference."""
    rng = np.random.default_rng(0)
    X = negative_binomial(np.tile(times * MEANS, (100, 1)), 2.0, rng)
    assert count_clusters(PoissonEmission(), X, 4)[0] > 10
    n, model = count_clusters(PoissonEmission(dispersion="auto"), X)
    assert n <= 2
    assert np.all(np.abs(model.emission_.dispersions[[1, 3, 4]] - 0.5) < 0.3)
    rows = bursts(rng.dirichlet(np.full(30, 0.5)), 8.0, 30 * times, 100, rng)
    assert count_clusters(MultinomialEmission(), rows, 4)[0] > 10
    n, model = count_clusters(MultinomialEmission(row_concentration="auto"), rows)
    assert n == 1
    assert 5.0 < np.median(model.trace_["emission_row_concentration"]) < 12.0


def test_clusters_of_wide_counts():
    rng = np.random.default_rng(1)
    z = rng.integers(3, size=240)
    X = negative_binomial(rng.choice([1.0, 10.0, 40.0], size=(3, 8))[z], 3.0, rng)
    n, model = count_clusters(PoissonEmission(dispersion="auto"), X)
    assert n == 3
    assert adjusted_rand_score(z, model.labels_) > 0.9
    assert len(model.explain().information) == 8
    theta = rng.dirichlet(np.full(30, 0.2), size=3)
    rows = np.concatenate([bursts(own, 20.0, 40, 80, rng) for own in theta])
    n, model = count_clusters(MultinomialEmission(row_concentration="auto"), rows)
    assert n == 3
    same = DPMixture(MultinomialEmission(row_concentration="auto"), max_iter=5, random_state=0)
    log_joint = same.fit(rows).trace_["log_joint"]
    np.testing.assert_array_equal(same.fit(sparse.csr_array(rows)).trace_["log_joint"], log_joint)
    again = same.set_params(max_iter=3).fit(rows).set_params(max_iter=5, warm_start=True)
    np.testing.assert_array_equal(again.fit(rows).trace_["log_joint"], log_joint)


@pytest.mark.slow
def test_parts_of_tables_and_groups():
    rng = np.random.default_rng(2)
    z = np.repeat([0, 1], 60)
    wide = negative_binomial(np.array([[2.0, 30.0], [20.0, 5.0]])[z], 2.0, rng).astype(float)
    wide[rng.random(wide.shape) < 0.2] = np.nan
    rows = np.concatenate([bursts(own, 9.0, 15, 60, rng) for own in rng.dirichlet([0.4] * 5, 2)])
    table = np.column_stack([wide, rows])
    emission = IndependentEmissions([
        ("visits", PoissonEmission(dispersion="auto"), [0, 1]),
        ("words", MultinomialEmission(row_concentration="auto"), [2, 3, 4, 5, 6]),
    ])  # fmt: skip
    model = DPMixture(emission, max_iter=60, random_state=0).fit(table)
    assert adjusted_rand_score(z, model.labels_) > 0.6
    assert {"visits__emission_dispersion", "words__emission_row_concentration"} <= set(
        model.trace_.keys()
    )
    assert not np.isnan(model.impute(table)).any()
    groups = HDPMixture(emission, max_iter=5, random_state=0).fit([table[::2], table[1::2]])
    assert np.isfinite(groups.score_samples([table[::2], table[1::2]])).all()


def test_few_rows():
    """One row, and rows of zeros."""
    for X in ([[3, 0, 5]], np.zeros((4, 3))):
        for emission in (
            PoissonEmission(dispersion="auto"), MultinomialEmission(row_concentration="auto")
        ):  # fmt: skip
            model = DPMixture(emission, max_iter=5, random_state=0).fit(X)
            assert np.isfinite(model.score_samples(X)).all()


def test_states_of_wide_counts():
    """Sequences: states have rates, and columns have dispersions."""
    rng = np.random.default_rng(3)
    z = np.repeat(np.arange(8) % 2, 40)
    X = negative_binomial(np.array([[2.0, 30.0], [20.0, 5.0]])[z], 2.0, rng)
    model = HDPHMMLT(
        5, emission=PoissonEmission(dispersion="auto"), max_iter=60, random_state=0
    ).fit(X)
    assert adjusted_rand_score(z, model.predict(X)) > 0.8
    assert np.all(np.abs(model.emission_.dispersions - 0.5) < 0.25)
    assert np.isfinite(model.score(X))
