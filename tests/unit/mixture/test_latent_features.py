"""Fits of latent features: attributes, densities, units, gaps, and rows that are hard."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skdp.datasets import make_feature_images
from skdp.mixture import IBPLatentFeatures

IMAGES = make_feature_images(100, random_state=0)
X, TRUTH = IMAGES.data, IMAGES.features @ IMAGES.glyphs
QUICK = {"center": False, "max_iter": 300, "random_state": 0}


def with_gaps(rows, share=0.3):
    return np.where(np.random.default_rng(0).random(rows.shape) < share, np.nan, rows)


@pytest.fixture(scope="module")
def model():
    return IBPLatentFeatures(**QUICK).fit(X)


def nearest(components):
    """Return the places of the glyphs among the components, and how many pixels differ."""
    shown = components > 0.5
    wrong = (shown[:, np.newaxis] != (IMAGES.glyphs > 0.5)).sum(axis=2)
    return wrong.argmin(axis=0), wrong.min(axis=0)


def mean_square(errors):
    return np.sqrt(np.mean(errors**2))


def test_glyphs_are_found(model):
    places, wrong = nearest(model.components_)
    assert wrong.max() == 0
    assert len(set(places)) == 4
    np.testing.assert_allclose(model.components_[places], IMAGES.glyphs, atol=0.35)
    shares = IMAGES.features.mean(axis=0)
    np.testing.assert_allclose(model.feature_probabilities_[places], shares, atol=0.08)
    found = model.transform(X)[:, places] > 0.5
    assert np.mean(found != IMAGES.features) < 0.06
    assert abs(model.noise_variance_ - 0.25) < 0.03
    assert model.n_components_distribution_[4:7].sum() > 0.8


def test_attributes(model):
    """Those shown are of the sample with the highest log joint."""
    assert model.components_.shape == (model.n_components_, 36)
    assert model.get_feature_names_out()[0] == "ibplatentfeatures0"
    assert np.all(np.diff(model.feature_probabilities_) <= 0.0)
    np.testing.assert_array_equal(model.mean_, np.zeros(36))
    joints = [sample.log_joint for sample in model._models]
    np.testing.assert_array_equal(model.components_, model._models[np.argmax(joints)].means)
    assert max(joints) <= model.trace_["log_joint"].max()
    assert set(model.trace_) == {
        "log_joint", "n_components", "concentration", "noise_variance", "weights_variance",
    }  # fmt: skip
    numbers = model.trace_["n_components"]
    np.testing.assert_allclose(
        model.n_components_distribution_, np.bincount(numbers.ravel().astype(int)) / numbers.size
    )
    for name in ("concentration", "noise_variance", "weights_variance"):
        assert getattr(model, f"{name}_") == pytest.approx(model.trace_[name].mean())


def test_densities_and_draws(model):
    """Averages over samples. A false alarm for one in 2,000 choices of the seed: 3.5 errors."""
    parts = [s.predict(X, model._key, 1, new=True, density=True)[1] for s in model._models]
    assert len(parts) == 20
    mean = logsumexp(parts, axis=0) - np.log(20)
    np.testing.assert_allclose(model.score_samples(X), mean)
    assert model.score(X) == pytest.approx(mean.mean())
    draws = model.sample(4000, random_state=0)
    low = np.median(model.score_samples(draws[:2000]))
    share = np.mean(model.score_samples(draws[2000:]) > low)
    assert abs(share - 0.5) < 3.5 * np.sqrt(0.5 / 2000)


def test_transform_and_back(model):
    """Rows do not depend on their batch."""
    shares = model.transform(X)
    back = model.inverse_transform(shares)
    np.testing.assert_allclose(back, shares @ model.components_)
    assert mean_square(back - TRUTH) < 0.2  # noise is 0.5
    rows = np.random.default_rng(5).permutation(100)[:20]
    np.testing.assert_array_equal(shares[rows], model.transform(X[rows]))
    np.testing.assert_array_equal(model.score_samples(X)[rows], model.score_samples(X[rows]))


def test_centering():
    shifted = X + np.linspace(-5, 5, 36)
    model = IBPLatentFeatures(max_iter=60, random_state=0).fit(shifted)
    other = IBPLatentFeatures(max_iter=60, random_state=0).fit(X)
    np.testing.assert_allclose(model.mean_, shifted.mean(axis=0))
    # The same up to rounding, which in the end makes another chain of it.
    np.testing.assert_allclose(model.score_samples(shifted), other.score_samples(X), atol=0.5)
    back = model.inverse_transform(model.transform(shifted))
    assert mean_square(back - shifted) < 0.7
    assert abs(model.sample(2000, random_state=0).mean() - shifted.mean()) < 0.05


@pytest.fixture(scope="module")
def sums():
    """Return rows that are sums of three features."""
    rng = np.random.default_rng(0)
    features = rng.random((60, 3)) < 0.5
    return 2.0 * features @ rng.normal(size=(3, 6)) + 0.3 * rng.normal(size=(60, 6))


@pytest.mark.parametrize(
    ("unit", "origin", "noise_variance", "center"),
    [
        (1e-6, 0.0, "auto", True),
        (1e-6, 0.0, "columns", False),
        (1e6, 0.0, "auto", False),
        (1e6, -1e8, "columns", True),
        (1.0, 1000.0, "auto", True),
    ],
)
def test_units_and_origins(unit, origin, noise_variance, center, sums):
    """Features are the same in any unit; variances and densities are in it."""
    rows = with_gaps(sums, 0.1)
    model = IBPLatentFeatures(
        noise_variance=noise_variance, center=center, max_iter=30, random_state=0
    )
    other = clone(model)
    shares, found = model.fit_transform(rows), other.fit_transform(unit * rows + origin)
    assert other.n_components_ == model.n_components_ >= 2
    np.testing.assert_allclose(found, shares, atol=1e-6)
    expected = unit * model.components_
    np.testing.assert_allclose(other.components_, expected, rtol=1e-5, atol=1e-5 * unit)
    np.testing.assert_allclose(other.noise_variance_, unit**2 * model.noise_variance_, rtol=1e-5)
    numbers = [each.trace_["n_components"] for each in (model, other)]
    np.testing.assert_array_equal(*numbers)
    log_unit = np.count_nonzero(~np.isnan(rows), axis=1) * np.log(unit)
    np.testing.assert_allclose(
        other.score_samples(unit * rows + origin), model.score_samples(rows) - log_unit, rtol=1e-6
    )


@pytest.mark.parametrize("noise_variance", ["auto", "columns"])
@pytest.mark.parametrize("outlier", [100.0, 1e6, 1e119])
def test_outlier(outlier, noise_variance, sums):
    """It may have a few features of its own and hide some other features."""
    for rows in (sums.copy(), sums[:10, :3].copy()):
        rows[1, 0] = outlier
        model = IBPLatentFeatures(noise_variance=noise_variance, max_iter=40, random_state=0)
        model.fit(rows)
        assert model.trace_["n_components"].max() <= 15
        assert np.isfinite(model.score(rows))


def test_bound_on_the_number_of_features(sums):
    """Given variances that are far from the scale of the data: chains stop there, and say so."""
    rows = sums[:10].copy()
    rows[1, 0] = 1e6
    model = IBPLatentFeatures(
        1.0, noise_variance=0.1, weights_variance=1.0, max_iter=30, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match="as many features as there may be"):
        model.fit(rows)
    bound = 100 + 2 * 10 + np.ceil(2.0 * (1.0 / np.arange(1, 11)).sum())
    assert model.trace_["n_components"].max() == bound
    # New rows that are far away take no longer, either.
    far = np.full((1, 6), 1e50)
    assert model.score_samples(far) < -1e90
    assert np.isfinite(model.transform(far)).all()


def test_columns_that_hardly_vary(sums):
    for noise_variance in ("auto", "columns"):
        model = IBPLatentFeatures(noise_variance=noise_variance, max_iter=4, random_state=0)
        assert np.isfinite(model.fit(1e-145 * sums).score(1e-145 * sums))


def test_columns_of_other_scales_and_noise():
    """Each column has a unit of its own, and its noise another share of it."""
    rng = np.random.default_rng(0)
    noise, units = np.linspace(0.2, 0.6, 36), 10.0 ** rng.integers(-2, 3, 36)
    rows = with_gaps((TRUTH + noise * rng.normal(size=TRUTH.shape)) * units)
    params = {**QUICK, "noise_prior": (1.0, 1e-6), "n_samples": 10}
    model = IBPLatentFeatures(noise_variance="columns", **params).fit(rows)
    assert nearest(model.components_ / units)[1].max() == 0
    assert model.noise_variance_.shape == (36,)
    ratios = np.sqrt(model.noise_variance_) / (noise * units)
    assert 0.7 < ratios.min() < ratios.max() < 1.4
    missing = np.isnan(rows)
    errors = np.abs(model.impute(rows) - TRUTH * units) / units
    assert mean_square(errors[missing]) < 0.3
    draws = model.sample(3000, random_state=0)
    assert 0.8 < np.median(draws.std(axis=0) / np.nanstd(rows, axis=0)) < 1.25
    # The density of all columns is that of their units.
    inside = IBPLatentFeatures(noise_variance="columns", **params).fit(rows / units)
    difference = model.score(rows) - inside.score(rows / units)
    expected = -(~missing @ np.log(units)).mean()
    assert difference == pytest.approx(expected, abs=1.0)
    for state in clone(model).set_params(max_iter=2).iter_sweeps(rows):
        assert state.noise_variance.shape == (36,)


def test_missing_values():
    rows = with_gaps(X)
    model, missing = IBPLatentFeatures(**QUICK).fit(rows), np.isnan(rows)
    assert nearest(model.components_)[1].max() == 0
    full = model.impute(rows)
    np.testing.assert_allclose(full[~missing], rows[~missing])
    assert mean_square((full - TRUTH)[missing]) < 0.25
    assert np.isfinite(model.transform(rows)).all()
    # A row of which nothing is known has the density 1 and the mean of the prediction.
    nothing = np.full((1, 36), np.nan)
    assert model.score_samples(nothing)[0] == pytest.approx(0.0, abs=1e-9)
    expected = np.mean([s.probabilities() @ s.means for s in model._models], axis=0)
    np.testing.assert_allclose(model.impute(nothing)[0], expected)


def test_imputed_values_are_the_means_under_the_density():
    """Stored samples count by how well they fit the observed entries."""
    rng = np.random.default_rng(0)
    rows = np.repeat([[0.0, 0.0], [6.0, -4.0], [3.0, 8.0]], [40, 40, 30], axis=0)
    rows += rng.normal(size=rows.shape)
    model = IBPLatentFeatures(max_iter=60, random_state=0).fit(rows)
    grid = np.linspace(-60.0, 60.0, 2401)
    for x in (-4.0, 1.0, 3.0, 6.0, 12.0):
        logs = model.score_samples(np.column_stack([np.full(len(grid), x), grid]))
        shares = np.exp(logs - logs.max())
        found = model.impute([[x, np.nan]])[0, 1]
        assert found == pytest.approx(shares @ grid / shares.sum(), 1e-6)


@pytest.mark.slow
def test_more_features_than_can_be_summed_over():
    rng = np.random.default_rng(0)
    features = rng.random((60, 24)) < 0.4
    rows = features @ rng.normal(size=(24, 30)) + 0.1 * rng.normal(size=(60, 30))
    model = IBPLatentFeatures(max_iter=40, noise_variance=0.01, random_state=0).fit(rows)
    assert model.n_components_ > 16
    again = clone(model).fit(rows)
    for method in ("transform", "score_samples", "impute"):
        found = getattr(model, method)(with_gaps(rows))
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(found, getattr(again, method)(with_gaps(rows)))
        backwards = getattr(model, method)(with_gaps(rows)[::-1])
        np.testing.assert_array_equal(found, backwards[::-1])
    other = model.set_params(transform_max_iter=3).transform(rows)
    assert not np.array_equal(other, again.transform(rows))


def test_no_feature_at_all():
    rows = np.random.default_rng(0).normal(size=(8, 2))
    model = IBPLatentFeatures(concentration=1e-8, max_iter=4, random_state=0).fit(rows)
    assert model.n_components_ == 0
    assert model.transform(rows).shape == (8, 0)
    np.testing.assert_allclose(model.inverse_transform(np.zeros((3, 0))), [rows.mean(axis=0)] * 3)
    assert np.isfinite(model.score(rows))
    assert model.sample(3).shape == (3, 2)


def test_given_numbers_are_kept():
    given = {"concentration": 2.0, "noise_variance": 0.3, "weights_variance": 0.7}
    model = IBPLatentFeatures(**given, max_iter=4).fit(X)
    for name, value in given.items():
        assert getattr(model, f"{name}_") == pytest.approx(value)
