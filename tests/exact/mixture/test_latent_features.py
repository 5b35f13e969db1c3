"""Latent features against enumeration of the classes of an Indian buffet of three rows.

By batch means (see `batch_means`): |z| < 5 for 16 to 21 numbers of each of 9 chains, a false alarm
for one in 400 choices of the seeds; these are fixed. Classes of ten features and more, which are
left out, have less than a millionth of the probability of the others: a fortieth of a standard
error of any number that is compared.
"""

import numpy as np
import pytest
from exact.mixture.feature_problems import ALPHA, GAPS, NOISE, ROWS, WEIGHTS, make_chain_sampler
from exact.oracles import buffets
from exact.oracles.batch_means import N_SWEEPS, assert_means
from scipy.special import logsumexp, softmax

from skdp.mixture._latent_features import _sampler
from skdp.mixture._latent_features._hyper import FeaturePrior

EVERY = buffets.classes(3, 9)
DESCRIBED = np.array([buffets.describe(features) for features in EVERY])
NOTHING = np.full((3, 2), np.nan)
HALF = np.array([[1.2, np.nan], [np.nan, np.nan], [-0.4, 1.1]])


def run(sampler, n_sweeps):
    """Return what describes the features, and the missing entries, after each sweep."""
    described, imputed = [], []
    for _ in range(n_sweeps):
        sampler.sweep()
        assert np.all(sampler.features.any(axis=0))
        described.append(buffets.describe(sampler.features))
        imputed.append(sampler.imputed)
    return np.array(described), np.array(imputed)


def check(rows, noise=NOISE, n_sweeps=N_SWEEPS):
    logs = buffets.log_posteriors(rows, EVERY, ALPHA, noise, WEIGHTS)
    expected = softmax(logs)
    assert expected[[features.shape[1] == 9 for features in EVERY]].sum() < 1e-6
    described, imputed = run(make_chain_sampler(rows, noise=noise), n_sweeps)
    assert_means(described, expected @ DESCRIBED, "features")
    if imputed.size:
        moments = [buffets.missing_moments(rows, features, noise, WEIGHTS) for features in EVERY]
        means, squares = np.tensordot(expected, np.array(moments), 1)
        assert_means(imputed, means, "missing entries")
        assert_means(imputed**2, squares, "their squares")


def test_features():
    check(ROWS)


@pytest.mark.parametrize("most", [1, 3])
def test_bounded_features(most):
    """The posterior of a buffet given that there are no more features."""
    every = [features for features in EVERY if features.shape[1] <= most]
    logs = buffets.log_posteriors(ROWS, every, 2.0, NOISE, WEIGHTS)
    sampler = make_chain_sampler(ROWS, alpha=2.0)
    sampler.most = most
    described, _ = run(sampler, N_SWEEPS)
    expected = softmax(logs) @ [buffets.describe(features) for features in every]
    assert_means(described, expected, "features")


def test_features_and_missing_entries():
    check(GAPS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows",
    [ROWS, GAPS, NOTHING, HALF, ROWS[:, :1]],
    ids=["all", "gaps", "nothing", "half", "narrow"],
)
def test_long_chains(rows):
    """Long enough to tell a scan in the order of columns, which is off by .01."""
    check(rows, n_sweeps=8 * N_SWEEPS)


def move(rows, features, stream):
    """Return features after splits and merges are tried."""
    sampler = make_chain_sampler(rows)
    sampler.stream = stream
    sampler.features = features.astype(np.int8)
    sampler._split_and_merge(rows)
    return sampler.features


@pytest.mark.parametrize("n_tries", [1, 10])
def test_splits_and_merges_leave_the_posterior_alone(monkeypatch, n_tries):
    """Independent draws of the oracle are moved: do the means of anything change?

    |z| < 4.5 of 16 means, twice: a false alarm for one in 4,600 choices of the seeds.
    """
    monkeypatch.setattr(_sampler, "N_TRIES", n_tries)
    expected = softmax(buffets.log_posteriors(ROWS, EVERY, ALPHA, NOISE, WEIGHTS))
    draws = np.random.default_rng(0).choice(len(EVERY), 40_000, p=expected)
    stream = make_chain_sampler(ROWS).stream
    moved = [move(ROWS, EVERY[draw], stream) for draw in draws]
    change = np.array([buffets.describe(features) for features in moved]) - DESCRIBED[draws]
    assert np.mean(change[:, :5].any(axis=1)) > 0.02 * n_tries**0.5
    z = change.mean(axis=0) / np.maximum(change.std(axis=0) / np.sqrt(len(draws)), 1e-9)
    assert np.all(np.abs(z) < 4.5)


def test_hardly_any_noise():
    """A row that leaves takes along all digits of what is left: the posterior is made anew."""
    rows = ROWS[:, :1]
    noise = 1e-7
    logs = buffets.log_posteriors(rows, EVERY, ALPHA, noise, WEIGHTS)
    described, _ = run(make_chain_sampler(rows, noise=noise), N_SWEEPS)
    assert_means(described, softmax(logs) @ DESCRIBED, "features")


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_rows(n):
    rows = ROWS[:n]
    every = buffets.classes(n, 11)
    expected = softmax(buffets.log_posteriors(rows, every, ALPHA, NOISE, WEIGHTS))
    described, _ = run(make_chain_sampler(rows), N_SWEEPS // 2)
    of_classes = np.array([buffets.describe(features) for features in every])
    assert_means(described, expected @ of_classes, "features")


def test_drawn_concentration_and_variances():
    """Against a grid over both variances, of which no 1e-5 is beyond its ends."""
    priors = {"concentration": (2.0, 5.0), "noise": (3.0, 1.0), "weights": (4.0, 3.0)}
    sampler = make_chain_sampler(ROWS, prior=FeaturePrior(**priors))
    every = [features for features in EVERY if features.shape[1] <= 8]
    grid = np.linspace(-4.5, 4.5, 46)
    weights, *means = buffets.hyper_posterior(
        ROWS, every, priors["concentration"], priors["noise"], priors["weights"], grid
    )
    draws, described = np.empty((N_SWEEPS, 3)), []
    for row in draws:
        sampler.sweep()
        row[:] = np.log([sampler.concentration, sampler.noise, sampler.weights])
        described.append(buffets.describe(sampler.features))
    assert_means(draws, np.array(means), "logs of concentration and variances")
    of_classes = np.array([buffets.describe(features) for features in every])
    assert_means(np.array(described), weights @ of_classes, "features")


@pytest.mark.parametrize("rows", [ROWS, GAPS], ids=["all", "gaps"])
def test_columns_with_noise_of_their_own(rows):
    """Variances of columns are integrated out."""
    rows, prior, ratio, alpha = rows * [1.0, 3.0], (3.0, 1.0), 2.0, 0.3
    every = [buffets.own_noise(rows, features, ratio, prior) for features in EVERY]
    expected = softmax([
        buffets.log_class(features, alpha) + each[0]
        for features, each in zip(EVERY, every, strict=True)
    ])  # fmt: skip
    assert expected[[features.shape[1] == 9 for features in EVERY]].sum() < 1e-6
    log_variances, means, squares = (
        np.tensordot(expected, np.array([each[i] for each in every]), 1) for i in (1, 2, 3)
    )
    prior = FeaturePrior(None, None, None, prior)
    sampler = make_chain_sampler(rows, alpha, 1.0, ratio, scales=[0.5, 2.0], prior=prior)
    draws, described, imputed = np.empty((N_SWEEPS, 2)), [], []
    for row in draws:
        sampler.sweep()
        row[:] = 2.0 * np.log(sampler.scales)
        described.append(buffets.describe(sampler.features))
        imputed.append(sampler.imputed)
    assert_means(np.array(described), expected @ DESCRIBED, "features")
    assert_means(draws, log_variances, "logs of the variances of columns")
    if sampler.imputed.size:
        assert_means(np.array(imputed), means, "missing entries")
        assert_means(np.array(imputed) ** 2, squares, "their squares")


SCALES = np.array([0.5, 3.0])


def some_classes():
    chosen = np.random.default_rng(0).choice(len(EVERY), 60, replace=False)
    return [EVERY[i] for i in chosen if EVERY[i].shape[1] <= 7]


@pytest.mark.parametrize("scales", [np.ones(2), SCALES], ids=["alike", "scales"])
@pytest.mark.parametrize("rows", [ROWS, GAPS, NOTHING], ids=["all", "gaps", "nothing"])
def test_log_joint(rows, scales):
    sampler = make_chain_sampler(rows, scales=scales)
    for features in [np.zeros((3, 0)), *some_classes()]:
        sampler.features = features.astype(np.int8)
        expected = buffets.log_class(features, ALPHA)
        variances = NOISE * scales**2, WEIGHTS * scales**2
        expected += buffets.log_likelihood(rows, features, *variances)
        np.testing.assert_allclose(sampler.log_joint(), expected, rtol=1e-10)


def test_features_that_find_no_room_are_drawn_once(monkeypatch):
    """How much room there is at first has no influence on the chain."""
    rows = np.random.default_rng(0).normal(size=(30, 3))
    straight = make_chain_sampler(rows, alpha=9.0)
    expected = [straight.sweep() or straight.features.copy() for _ in range(20)]
    monkeypatch.setattr(_sampler, "_SPARE", 0)
    sampler = make_chain_sampler(rows, alpha=9.0)
    for features in expected:
        sampler.sweep()
        np.testing.assert_array_equal(sampler.features, features)


def test_a_posterior_that_is_made_anew_within_a_sweep(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(30, 3))
    straight = make_chain_sampler(rows)
    expected = [straight.sweep() or straight.features.copy() for _ in range(20)]
    monkeypatch.setattr(_sampler, "_FRESH", 7)
    sampler = make_chain_sampler(rows)
    for features in expected:
        sampler.sweep()
        np.testing.assert_array_equal(sampler.features, features)


# New rows

NEW = [[0.8, 0.4], [np.nan, -1.0], [3.0, -2.0], [np.nan, np.nan]]
KEY = np.arange(1, 5, dtype=np.uint64)


def models_of(rows, scales=None):
    sampler = make_chain_sampler(rows, scales=scales)
    few = [features for features in some_classes() if features.shape[1] <= 4]
    assert len(few) >= 2
    for features in [np.zeros((3, 0)), EVERY[30], *few[:3]]:
        sampler.features = features.astype(np.int8)
        yield features[:, sampler.by_size()], sampler.model()


@pytest.mark.parametrize("scales", [np.ones(2), SCALES], ids=["alike", "scales"])
def test_predictive_densities(scales):
    rows, variances = np.array(NEW), (NOISE * scales**2, WEIGHTS * scales**2)
    for features, model in models_of(ROWS, scales):
        _, found = model.predict(rows, KEY, 1, new=True, density=True)
        expected = [buffets.log_next(row, ROWS, features, ALPHA, *variances) for row in NEW]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_features_of_new_rows():
    """Bayes' theorem, with new features and without them."""
    for features, model in models_of(ROWS):
        for new in (False, True):
            found, _ = model.predict(np.array(NEW), KEY, 1, new=new, density=False)
            for row, shares in zip(NEW, found, strict=True):
                expected = buffets.next_features(
                    row, ROWS, features, ALPHA if new else 1e-300, NOISE, WEIGHTS
                )
                np.testing.assert_allclose(shares, expected, rtol=1e-8, atol=1e-12)


def many_features():
    """Return a model with 18 features, of which rows leave several open, and new rows."""
    rng = np.random.default_rng(1)
    sampler = make_chain_sampler(rng.normal(size=(12, 3)), noise=1.0, weights=0.3)
    sampler.features = (rng.random((12, 18)) < 0.4).astype(np.int8)
    return sampler.model(), rng.normal(size=(3, 3)) * [[1.0], [1.0], [3.0]]


def test_estimated_densities_have_no_bias(monkeypatch):
    """Six means over 600 keys, |z| < 4.5: a false alarm for one in 25,000 choices of the keys."""
    model, rows = many_features()
    keys = np.random.default_rng(2).integers(1, 2**63, (600, 4)).astype(np.uint64)
    logs = np.array([model.predict(rows, key, 6, new=True, density=True)[1] for key in keys])
    monkeypatch.setattr("skdp.mixture._latent_features._model.N_EXACT", 18)
    exact = model.predict(rows, KEY, 1, new=True, density=True)[1]
    ratios = np.exp(logs - exact)
    assert np.all(ratios.std(axis=0) > 1e-4)  # they are estimates
    z = (ratios.mean(axis=0) - 1.0) / (ratios.std(axis=0) / np.sqrt(600))
    assert np.all(np.abs(z) < 4.5)


@pytest.mark.parametrize("new", [False, True])
def test_fold_ins_have_the_right_means(monkeypatch, new):
    """54 means over 40 fold-ins, |z| < 5: a false alarm for one in 1,000 choices of the keys."""
    model, rows = many_features()
    keys = np.random.default_rng(3).integers(1, 2**63, (40, 4)).astype(np.uint64)
    shares = np.array([
        model.predict(rows, key, 400, new=new, density=False)[0] for key in keys
    ])  # fmt: skip
    monkeypatch.setattr("skdp.mixture._latent_features._model.N_EXACT", 18)
    exact = model.predict(rows, KEY, 1, new=new, density=False)[0]
    error = shares.std(axis=0, ddof=1) / np.sqrt(40)
    assert np.all(np.abs(shares.mean(axis=0) - exact) < 5.0 * error)


def test_draws_follow_the_density():
    """Means of the density over its own draws: |z| < 4, one in 10,000 choices of the seed."""
    for _, model in [*list(models_of(ROWS))[:4], *list(models_of(ROWS, [0.8, 1.3]))[1:3]]:
        draws = model.sample(4000, np.random.default_rng(0))
        grid = np.random.default_rng(1).normal(scale=3.0, size=(4000, 2))
        logs = model.predict(grid, KEY, 1, new=True, density=True)[1]
        weights = np.exp(logs + (grid**2).sum(axis=1) / 18.0 + np.log(18.0 * np.pi))
        np.testing.assert_allclose(np.exp(logsumexp(np.log(weights)) - np.log(4000)), 1.0, atol=0.1)
        for power in (1, 2):
            products = weights[:, np.newaxis] * grid**power
            error = np.sqrt(products.var(axis=0) / 4000 + (draws**power).var(axis=0) / 4000)
            z = (products.mean(axis=0) - (draws**power).mean(axis=0)) / error
            assert np.all(np.abs(z) < 4.0)
