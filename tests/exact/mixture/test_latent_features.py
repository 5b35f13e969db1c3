"""Latent features against enumeration of the classes of an Indian buffet of three rows.

By batch means (see `batch_means`): |z| < 5 for 16 to 21 numbers of each of 15 chains, a false alarm
for one in 250 choices of the seeds; these are fixed. Classes of ten features and more, which are
left out, have less than a millionth of the probability of the others: a fortieth of a standard
error of any number that is compared."""

from functools import cache

import numpy as np
import pytest
from exact.oracles import buffets
from exact.oracles.batch_means import N_SWEEPS, check_chain
from scipy.special import logsumexp, softmax

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.mixture._rows import _latent_features as _sampler
from skdp.mixture._rows._latent_features import FeaturePrior, LatentFeatureSampler

ALPHA, NOISE, WEIGHTS = 0.5, 0.3, 0.9
ROWS = np.array([[1.2, -0.3], [1.0, 0.9], [-0.4, 1.1]])
PROBLEMS = {
    "all": ROWS,
    "gaps": np.array([[1.2, np.nan], [1.0, 0.9], [np.nan, 1.1]]),
    "nothing": np.full((3, 2), np.nan),
    "half": np.array([[1.2, np.nan], [np.nan, np.nan], [-0.4, 1.1]]),
    "narrow": ROWS[:, :1],
    "two rows": ROWS[:2],
    "one row": ROWS[:1],
}
EVERY = buffets.classes(3, 9)
SCALES = np.array([0.5, 3.0])


@cache
def describe(n_rows=3, most=9):
    """Return all classes of at most `most` features, and what they are compared by."""
    every = EVERY if n_rows == 3 else buffets.classes(n_rows, most)
    every = [features for features in every if features.shape[1] <= most]
    return every, np.array([buffets.describe(features) for features in every])


def make_chain_sampler(
    rows, alpha=ALPHA, noise=NOISE, weights=WEIGHTS, *, scales=None, prior=None, **options
):
    """Return a sampler over rows that are not centered; what is drawn has a `prior`."""
    rows = np.array(rows, dtype=float)
    return LatentFeatureSampler(
        rows, np.zeros(rows.shape[1]), FeaturePrior(None, None, None) if prior is None else prior,
        alpha, noise, weights, np.ones(rows.shape[1]) if scales is None else np.array(scales),
        derive_stream(make_seed_sequence(0), Role.SWEEP, 0), **options,
    )  # fmt: skip


def check(sampler, described, expected, missing=None, drawn=None, n_sweeps=N_SWEEPS):
    """Compare features to classes; moments of missing entries, and numbers that are drawn.
    `missing` are the means and mean squares of missing entries, `drawn` are a function of the
    sampler and the means of what it returns."""

    def step():
        sampler.sweep()
        assert np.all(sampler.features.any(axis=0))
        numbers = 0.0 if drawn is None else drawn[0](sampler)
        return buffets.describe(sampler.features), sampler.imputed, numbers

    def compare(features, imputed, numbers):
        yield features, expected @ described, "features"
        if missing is not None and imputed.size:
            yield imputed, missing[0], "missing entries"
            yield imputed**2, missing[1], "their squares"
        if drawn is not None:
            yield numbers, drawn[1], "drawn numbers"

    check_chain(step, compare, n_sweeps)


def check_features(name, alpha=ALPHA, noise=NOISE, most=None, n_sweeps=N_SWEEPS):
    rows = PROBLEMS[name]
    every, described = describe(len(rows), most or (9 if len(rows) == 3 else 11))
    expected = softmax(buffets.log_posteriors(rows, every, alpha, noise, WEIGHTS))
    if most is None:
        largest = max(features.shape[1] for features in every)
        left_out = expected[[features.shape[1] == largest for features in every]].sum()
        assert left_out < (1e-6 if noise == NOISE else 1e-5)
    missing = buffets.missing_moments(rows, every, noise, WEIGHTS)
    sampler = make_chain_sampler(rows, alpha, noise)
    sampler.most = most or sampler.most
    check(sampler, described, expected, [expected @ each for each in missing], n_sweeps=n_sweeps)


@pytest.mark.parametrize("name", ["all", "gaps"])
def test_features(name):
    check_features(name)


@pytest.mark.parametrize("name", ["one row", "two rows"])
def test_fewer_rows(name):
    check_features(name, n_sweeps=N_SWEEPS // 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaps", "nothing", "half", "narrow"])
def test_long_chains(name):
    """Long enough to tell a scan in the order of columns, which is off by .01."""
    check_features(name, n_sweeps=8 * N_SWEEPS)


@pytest.mark.parametrize("most", [1, 3])
def test_bounded_features(most):
    """The posterior of a buffet given that there are no more features."""
    check_features("all", alpha=2.0, most=most)


def test_hardly_any_noise():
    """A row that leaves takes along all digits of what is left: the posterior is computed again."""
    check_features("narrow", noise=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("n_tries", [1, 10])
def test_splits_and_merges_leave_the_posterior_alone(monkeypatch, n_tries):
    """Independent draws of the oracle are moved: do the means of anything change? |z| < 4.5 of 16
    means, twice: a false alarm for one in 4,600 choices of the seeds."""
    monkeypatch.setattr(_sampler, "N_TRIES", n_tries)
    every, described = describe()
    expected = softmax(buffets.log_posteriors(ROWS, every, ALPHA, NOISE, WEIGHTS))
    draws = np.random.default_rng(0).choice(len(every), 40_000, p=expected)
    sampler, change = make_chain_sampler(ROWS), np.empty((len(draws), described.shape[1]))
    codes = [features.astype(np.int8) for features in every]
    for i, draw in enumerate(draws):
        sampler.features = codes[draw]
        sampler._split_and_merge(ROWS)
        change[i] = buffets.describe(sampler.features) - described[draw]
    assert np.mean(change[:, :5].any(axis=1)) > 0.02 * n_tries**0.5
    z = change.mean(axis=0) / np.maximum(change.std(axis=0) / np.sqrt(len(draws)), 1e-9)
    assert np.all(np.abs(z) < 4.5)


@pytest.mark.slow
def test_drawn_concentration_and_variances():
    """Against a grid over both variances, of which no 1e-5 is beyond its ends."""
    priors = {"concentration": (2.0, 5.0), "noise": (3.0, 1.0), "weights": (4.0, 3.0)}
    every, described = describe(most=8)
    weights, *means = buffets.hyper_posterior(
        ROWS, every, *priors.values(), np.linspace(-4.5, 4.5, 46)
    )

    def numbers(sampler):
        return np.log([sampler.concentration, sampler.noise, sampler.weights])

    sampler = make_chain_sampler(ROWS, prior=FeaturePrior(**priors))
    check(sampler, described, weights, drawn=(numbers, np.array(means)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["all", "gaps"])
def test_columns_with_noise_of_their_own(name):
    """Variances of columns are integrated out."""
    rows, prior, ratio, alpha = PROBLEMS[name] * [1.0, 3.0], (3.0, 1.0), 2.0, 0.3
    every, described = describe()
    logs, log_variances, *missing = buffets.own_noise(rows, every, ratio, prior)
    expected = softmax(buffets.log_classes(every, alpha) + logs)
    assert expected[[features.shape[1] == 9 for features in every]].sum() < 1e-6
    sampler = make_chain_sampler(
        rows, alpha, 1.0, ratio, scales=[0.5, 2.0], prior=FeaturePrior(None, None, None, prior)
    )
    drawn = (lambda s: 2.0 * np.log(s.scales)), expected @ log_variances
    check(sampler, described, expected, [expected @ each for each in missing], drawn)


def some_classes():
    chosen = np.random.default_rng(0).choice(len(EVERY), 60, replace=False)
    return [EVERY[i] for i in chosen if EVERY[i].shape[1] <= 7]


@pytest.mark.parametrize("scales", [np.ones(2), SCALES], ids=["alike", "scales"])
@pytest.mark.parametrize("name", ["all", "gaps", "nothing"])
def test_log_joint(name, scales):
    rows, every = PROBLEMS[name], [np.zeros((3, 0)), *some_classes()]
    sampler, found = make_chain_sampler(rows, scales=scales), []
    for features in every:
        sampler.features = features.astype(np.int8)
        found.append(sampler.log_joint())
    expected = buffets.log_posteriors(rows, every, ALPHA, NOISE * scales**2, WEIGHTS * scales**2)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(("name", "value", "alpha"), [("_SPARE", 0, 9.0), ("_FRESH", 7, ALPHA)])
def test_sweeps_that_stop(monkeypatch, name, value, alpha):
    """Features that find no room are drawn once; a posterior may be computed within a sweep."""
    rows = np.random.default_rng(0).normal(size=(30, 3))
    straight = make_chain_sampler(rows, alpha)
    expected = [straight.sweep() or straight.features.copy() for _ in range(20)]
    monkeypatch.setattr(_sampler, name, value)
    sampler = make_chain_sampler(rows, alpha)
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
    """The features of new rows, by Bayes' theorem, with new features and without them."""
    rows, variances = np.array(NEW), (NOISE * scales**2, WEIGHTS * scales**2)
    for features, model in models_of(ROWS, scales):
        _, found = model.predict(rows, KEY, 1, new=True, density=True)
        expected = [buffets.log_next(row, ROWS, features, ALPHA, *variances) for row in NEW]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        for alpha in (1e-300, ALPHA):
            found, _ = model.predict(rows, KEY, 1, new=alpha == ALPHA, density=False)
            expected = [
                buffets.next_features(row, ROWS, features, alpha, *variances) for row in NEW
            ]
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)


def many_features():
    """Return a model with 18 features, of which rows leave several open, and new rows."""
    rng = np.random.default_rng(1)
    sampler = make_chain_sampler(rng.normal(size=(12, 3)), noise=1.0, weights=0.3)
    sampler.features = (rng.random((12, 18)) < 0.4).astype(np.int8)
    return sampler.model(), rng.normal(size=(3, 3)) * [[1.0], [1.0], [3.0]]


def test_estimated_densities_have_no_bias(monkeypatch):
    """Three means over 120 keys, |z| < 4.5: a false alarm for one in 25,000 choices of the keys."""
    model, rows = many_features()
    keys = np.random.default_rng(2).integers(1, 2**63, (120, 4)).astype(np.uint64)
    logs = np.array([model.predict(rows, key, 6, new=True, density=True)[1] for key in keys])
    monkeypatch.setattr("skdp.mixture._rows._latent_features.N_EXACT", 18)
    exact = model.predict(rows, KEY, 1, new=True, density=True)[1]
    ratios = np.exp(logs - exact)
    assert np.all(ratios.std(axis=0) > 1e-4)  # they are estimates
    z = (ratios.mean(axis=0) - 1.0) / (ratios.std(axis=0) / np.sqrt(120))
    assert np.all(np.abs(z) < 4.5)


@pytest.mark.parametrize("new", [False, True])
def test_fold_ins_have_the_right_means(monkeypatch, new):
    """54 means over 40 fold-ins, |z| < 5: a false alarm for one in 1,000 choices of the keys."""
    model, rows = many_features()
    keys = np.random.default_rng(3).integers(1, 2**63, (40, 4)).astype(np.uint64)
    shares = np.array([
        model.predict(rows, key, 400, new=new, density=False)[0] for key in keys
    ])  # fmt: skip
    monkeypatch.setattr("skdp.mixture._rows._latent_features.N_EXACT", 18)
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
