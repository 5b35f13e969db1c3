"""Parameters, missing values, first states and copies; results are in tests/exact."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions._gaussian._emission import GaussianEmission
from skdp.emissions._gaussian._kernels_student import find_peak
from skdp.emissions._gaussian._model import GaussianModel, factorize_precisions
from skdp.emissions._moments import moments

every_type = pytest.mark.parametrize("covariance_type", ["full", "diag"])


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def observations(n_steps=60, n_dims=2, seed=0):
    rng = np.random.default_rng(seed)
    centers = 5.0 * rng.normal(size=(3, n_dims))
    return centers[rng.integers(3, size=n_steps)] + rng.normal(size=(n_steps, n_dims))


def started(values, n_states=4, **params):
    """Return a sampler after its first draw, and the states."""
    values = np.asarray(values, dtype=np.float64)
    sampler = GaussianEmission(**params).make_sampler(values, n_states)
    sampler.attach(values)
    states = np.zeros(len(values), dtype=np.int64)
    rng = stream()
    sampler.start(states, rng)
    sampler.draw(states, rng)
    return sampler, states


def log_obs(sampler, n_steps):
    out = np.full((n_steps, sampler.n_states), 7.0)
    sampler.write_log_obs(out)
    return out


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"covariance_type": "tied"}, "'covariance_type' parameter"),
        ({"mean_precision_prior": 0.0}, "'mean_precision_prior' parameter"),
        ({"mean_precision_prior": np.nan}, "'mean_precision_prior' parameter"),
        ({"mean_precision_prior": np.inf}, "'mean_precision_prior' parameter"),
        ({"degrees_of_freedom_prior": -1.0}, "'degrees_of_freedom_prior' parameter"),
        ({"degrees_of_freedom_prior": 1.0}, "must be above the number of features minus 1, 1;"),
        ({"mean_prior": [0.0]}, r"mean_prior must be of shape \(2,\)"),
        ({"mean_prior": [0.0, np.inf]}, "mean_prior must be finite"),
        ({"mean_prior": ["a", "b"]}, "mean_prior must hold numbers"),
        ({"covariance_prior": np.eye(3)}, r"covariance_prior must be of shape \(2, 2\)"),
        ({"covariance_prior": np.ones(2)}, r"covariance_prior must be of shape \(2, 2\)"),
        ({"covariance_prior": [[1.0, 0.5], [0.0, 1.0]]}, "covariance_prior must be symmetric"),
        ({"covariance_prior": np.ones((2, 2))}, "covariance_prior must be positive definite"),
        ({"covariance_prior": -np.eye(2)}, "covariance_prior must be positive definite"),
        ({"covariance_prior": [[1.0, np.nan], [np.nan, 1.0]]}, "covariance_prior must be finite"),
        (
            {"covariance_type": "diag", "covariance_prior": np.eye(2)},
            r"covariance_prior must be of shape \(2,\)",
        ),
        (
            {"covariance_type": "diag", "covariance_prior": [1.0, 0.0]},
            "covariance_prior must be positive",
        ),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        GaussianEmission(**params).make_sampler(observations(), 3)


def test_infinite_observations_are_named():
    values = observations()
    values[3, 1] = -np.inf
    with pytest.raises(ValueError, match=r"X must hold finite numbers.*got -inf"):
        GaussianEmission().make_sampler(values, 3)
    sampler, _ = started(observations())
    with pytest.raises(ValueError, match="X must hold finite numbers"):
        sampler.attach(values)
    with pytest.raises(ValueError, match="X must hold finite numbers"):
        sampler.model().log_obs(values)


def test_parameters_are_left_as_they_are():
    emission = GaussianEmission("diag", mean_prior=[0, 1], covariance_prior=[1, 2])
    emission.make_sampler(observations(), 3)
    assert emission.mean_prior == [0, 1]
    assert emission.covariance_prior == [1, 2]
    assert clone(emission).get_params() == emission.get_params()


def test_priors_that_are_given():
    mean, scale = np.array([1.0, 2.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
    params = {"mean_prior": mean, "mean_precision_prior": 2, "degrees_of_freedom_prior": 5}
    prior = GaussianEmission(**params, covariance_prior=scale).make_sampler(observations(), 3).prior
    assert_array_equal(prior.mean, [mean])
    assert_array_equal(prior.scale, [scale])
    assert (prior.precision, prior.dof) == (2.0, 5.0)
    emission = GaussianEmission("diag", **params, covariance_prior=[3, 4])
    prior = emission.make_sampler(observations(), 3).prior
    assert_array_equal(prior.mean, mean[:, np.newaxis])
    assert_array_equal(prior.scale, [[[3.0]], [[4.0]]])


@pytest.mark.parametrize("n_dims", [1, 3])
@pytest.mark.parametrize("n_missing", [0, 5])
def test_priors_from_the_data(n_missing, n_dims):
    values = observations(n_dims=n_dims)
    values[:n_missing, 0] = np.nan
    prior = GaussianEmission().make_sampler(values, 3).prior
    assert_allclose(prior.mean[0], np.nanmean(values, axis=0))
    share = 0.2 ** (1.0 / n_dims)
    assert_allclose(np.diag(prior.scale[0]), share * n_dims * np.nanvar(values, axis=0))
    assert (prior.precision, prior.dof) == (0.01, 2.0 * n_dims + 1.0)

    if n_missing == 0:
        covariance = np.cov(values.T, bias=True).reshape(n_dims, n_dims)
        assert_allclose(prior.scale[0] / (prior.dof - n_dims - 1.0), share * covariance, rtol=2e-4)
    prior = GaussianEmission("diag").make_sampler(values, 3).prior
    assert_allclose(prior.mean[:, 0], np.nanmean(values, axis=0))
    assert_allclose(prior.scale[:, 0, 0], share * np.nanvar(values, axis=0))
    assert prior.dof == 3.0


@pytest.mark.parametrize(
    ("n_columns", "full", "diag"), [(10, 0.01005, 0.01), (20, 0.10026, 0.01), (60, 0.25, 0.01)]
)
def test_default_precision_of_means(n_columns, full, diag):
    """exp(-46 / D), from .01 to .25."""
    values = np.random.default_rng(0).normal(size=(30, n_columns))
    for kind, expected in (("full", full), ("diag", diag)):
        sampler = GaussianEmission(kind).make_sampler(values, 2)
        assert sampler.prior.precision == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("freedom", "factor"), [(1.5, 1.0), (4.0, 1.0), (5.5, 2.5), (1e6, 999997)])
def test_the_mean_covariance_does_not_depend_on_the_degrees_of_freedom(freedom, factor):
    """This holds if the mean exists with a margin."""
    values = observations()
    prior = GaussianEmission(degrees_of_freedom_prior=freedom).make_sampler(values, 3).prior
    expected = factor * np.sqrt(0.2) * values.var(axis=0)
    assert_allclose(np.diag(prior.scale[0]), expected)


def test_moments_of_columns_that_say_little():
    """Constant to rounding, never observed, twice the same."""
    column = np.random.default_rng(0).normal(size=30) + 1e3
    constant = np.full(30, 0.1) + 1e-17 * np.arange(30)
    values = np.column_stack([column, 2.0 * column, constant, np.full(30, np.nan)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mean, covariance = moments(values)
    assert_allclose(mean, [column.mean(), 2.0 * column.mean(), 0.1, 0.0])
    assert_allclose(np.diag(covariance), [column.var(), 4.0 * column.var(), 1.0, 1.0])
    assert np.linalg.eigvalsh(covariance)[0] > 0.0
    assert_array_equal(covariance[2:, :2], 0.0)


def test_moments_stay_positive_definite_where_pairs_are_never_seen_together():
    rng = np.random.default_rng(0)
    common = rng.normal(size=90)
    values = np.column_stack([common, common, -common])
    for d in range(3):
        values[30 * d : 30 * (d + 1), d] = np.nan
    assert np.linalg.eigvalsh(moments(values)[1])[0] > 0.0


@every_type
@pytest.mark.parametrize(
    "values",
    [
        np.full((5, 2), 3.0),
        np.zeros((1, 2)),
        np.full((4, 2), np.nan),
        np.tile(np.arange(6.0)[:, np.newaxis], 2),
        1e9 + 1e-3 * observations(),
        1e-150 * observations(),
        1e100 * observations(),
        observations(n_steps=200, n_dims=1) ** 3 @ np.ones((1, 7)),
    ],
    ids=["constant", "one step", "nothing", "line", "far", "small", "large", "copies"],
)
def test_odd_data(values, covariance_type):
    sampler, states = started(values, n_states=8, covariance_type=covariance_type)
    assert states.min() >= 0
    assert states.max() < 8
    rng = stream(1)
    for _ in range(5):
        sampler.draw(states, rng)
        assert np.isfinite(log_obs(sampler, len(values))).all()
    assert np.isfinite(sampler.log_evidence())
    assert np.isfinite(sampler.model().log_obs(values)).all()


@pytest.mark.parametrize("freedom", [1e-3, 1e6])
@every_type
def test_odd_degrees_of_freedom(covariance_type, freedom):
    values = observations(n_dims=1)
    sampler, _ = started(
        values, covariance_type=covariance_type, degrees_of_freedom_prior=freedom, n_states=20
    )
    out = log_obs(sampler, len(values))
    assert not np.isnan(out).any()
    assert out.max() < np.inf
    assert np.isfinite(sampler.log_evidence())


def test_a_scale_that_rounding_spoils_is_told():
    values = observations()
    values[:, 1] = values[:, 0]
    with pytest.raises(ValueError, match="not positive definite to rounding"):
        started(values, n_states=1, covariance_prior=1e-40 * np.eye(2))


@every_type
def test_first_states_find_separated_clusters(covariance_type):
    rng = np.random.default_rng(3)
    truth = rng.integers(6, size=300)
    centers = np.array([[100.0 * i, 1e-3 * (i % 2)] for i in range(6)])
    values = centers[truth] + rng.normal(size=(300, 2)) * [1.0, 1e-5]
    _, states = started(values, n_states=6, covariance_type=covariance_type)
    pairs = set(zip(truth.tolist(), states.tolist(), strict=True))
    assert len(pairs) == 6


@every_type
def test_first_states_ignore_missing_values(covariance_type):
    values = np.repeat([[0.0, 0.0], [10.0, 10.0]], 20, axis=0)
    values += np.random.default_rng(0).normal(size=(40, 2))
    values[3, 0] = values[25, 1] = np.nan
    _, states = started(values, n_states=2, covariance_type=covariance_type)
    assert len(set(states[:20])) == len(set(states[20:])) == 1
    assert states[0] != states[20]


@every_type
def test_a_stream_determines_everything(covariance_type):
    values = observations()
    values[::7, 0] = np.nan
    first, states = started(values, covariance_type=covariance_type)
    second, states_again = started(values, covariance_type=covariance_type)
    assert_array_equal(states, states_again)
    assert_array_equal(log_obs(first, len(values)), log_obs(second, len(values)))


@every_type
def test_a_missing_row_weighs_nothing(covariance_type):
    values = observations()
    values[5] = np.nan
    sampler, _ = started(values, covariance_type=covariance_type)
    assert_array_equal(log_obs(sampler, len(values))[5], 0.0)
    assert_array_equal(sampler.model().log_obs(values)[5], 0.0)
    assert sampler.counts.reshape(4, -1)[:, 0].sum() == len(values) - 1


@every_type
def test_observations_are_left_as_they_are(covariance_type):
    values = observations()
    values[::7, 0] = np.nan
    values.flags.writeable = False
    before = values.copy()
    started(values, covariance_type=covariance_type)
    assert_array_equal(values, before)


@every_type
def test_detached_samplers_are_small_and_go_on_where_they_were(covariance_type):
    values = observations(n_steps=5000)
    values[::7, 0] = np.nan
    sampler, states = started(values, covariance_type=covariance_type)
    other = sampler.copy()
    other.detach()
    assert len(pickle.dumps(other)) < 5000
    evidence = other.log_evidence()
    other = pickle.loads(pickle.dumps(other))
    assert other.log_evidence() == evidence == sampler.log_evidence()
    other.attach(values)
    sampler.draw(states, stream(5))
    other.draw(states, stream(5))
    assert_array_equal(log_obs(sampler, len(values)), log_obs(other, len(values)))


@every_type
def test_copies_have_arrays_of_their_own(covariance_type):
    values = observations()
    sampler, states = started(values, covariance_type=covariance_type)
    other = sampler.copy()
    before, evidence = log_obs(other, len(values)), other.log_evidence()
    sampler.draw(states // 2, stream(2))
    assert_array_equal(log_obs(other, len(values)), before)
    assert other.log_evidence() == evidence
    assert sampler.log_evidence() != evidence


@every_type
def test_model(covariance_type):
    values = observations(n_dims=3)
    sampler, states = started(values, covariance_type=covariance_type)
    model = sampler.model()
    assert model.means.shape == (4, 3)
    assert model.covariances.shape == ((4, 3, 3) if covariance_type == "full" else (4, 3))
    order = np.array([2, 0, 3, 1])
    assert_array_equal(model.reorder(order).log_obs(values), model.log_obs(values)[:, order])
    draws = model.sample(states, np.random.default_rng(0))
    assert draws.shape == values.shape
    assert_array_equal(draws, model.sample(states, np.random.default_rng(0)))
    with pytest.raises(AttributeError):
        model.means = None


@every_type
def test_the_model_of_a_state_without_a_mean_covariance(covariance_type):
    """An empty state with nu <= D + 1: the inverse of the mean precision."""
    values = observations()
    scale = np.eye(2) if covariance_type == "full" else np.ones(2)
    sampler, _ = started(
        values, n_states=200, covariance_type=covariance_type, degrees_of_freedom_prior=1.5,
        covariance_prior=3.0 * scale,
    )  # fmt: skip
    empty = np.flatnonzero(sampler.counts.reshape(200, -1)[:, 0] == 0.0)[0]
    assert_allclose(sampler.model().covariances[empty], 2.0 * scale)


@every_type
def test_models_with_and_without_uncertainty(covariance_type):
    values = observations()
    sampler, states = started(values, covariance_type=covariance_type)
    learned = sampler.model()
    assert learned.scales.shape == learned.covariances.shape
    known = GaussianModel(learned.means, learned.covariances)
    assert known.degrees_of_freedom is None
    assert known.scales is known.covariances
    assert np.abs(known.log_obs(values) - learned.log_obs(values)).max() > 0.01
    order = np.array([2, 0, 3, 1])
    for model in (learned, known):
        copied = pickle.loads(pickle.dumps(model))
        assert_array_equal(copied.log_obs(values), model.log_obs(values))
        ordered = model.reorder(order)
        assert_array_equal(ordered.scales, model.scales[order])
        assert_array_equal(ordered.log_obs(values), model.log_obs(values)[:, order])
        draws = [m.sample(states, np.random.default_rng(0)) for m in (copied, model)]
        assert_array_equal(*draws)
    assert known.reorder(order).degrees_of_freedom is None


@every_type
def test_the_model_of_far_observations(covariance_type):
    """Squares that overflow have density 0; nothing is NaN."""
    sampler, _ = started(1e-100 * observations(), covariance_type=covariance_type)
    out = sampler.model().log_obs(np.array([[1.0, -1.0], [1e110, 1e110], [1e110, np.nan]]))
    assert np.isfinite(out[0]).all()
    assert_array_equal(out[1:], -np.inf)


@pytest.mark.parametrize("freedom", [1e-3, 1e6])
@every_type
def test_samples_with_odd_degrees_of_freedom_are_finite(covariance_type, freedom):
    params = {"covariance_type": covariance_type, "degrees_of_freedom_prior": freedom}
    sampler, _ = started(observations(n_dims=1), **params, n_states=20)
    draws = sampler.model().sample(np.arange(20).repeat(50), np.random.default_rng(0))
    assert np.isfinite(draws).all()


def test_observations_of_a_model_follow_it():
    """|z| < 5 for 4 figures: a false alarm in 2e-6 of seeds."""
    model = GaussianModel(np.array([[0.0], [5.0]]), np.array([[1.0], [4.0]]))
    states = np.repeat([0, 1], 10_000)
    draws = model.sample(states, np.random.default_rng(1))
    for j, (mean, variance) in enumerate([(0.0, 1.0), (5.0, 4.0)]):
        x = draws[states == j, 0]
        assert abs(x.mean() - mean) < 5.0 * np.sqrt(variance / len(x))
        assert abs(x.var() / variance - 1.0) < 5.0 * np.sqrt(2.0 / len(x))


def test_parameters_are_drawn_given_completed_values():
    """Rows that moves between the two have completed keep their completed values."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 3))
    values[::3, 1] = np.nan
    states, stream = rng.integers(0, 3, 40), make_stream(make_seed_sequence(0))
    sampler = GaussianEmission(degrees_of_freedom_prior=7.0).make_sampler(values, 4)
    sampler.attach(values)
    sampler.draw(states, stream)
    sampler.complete(states, stream)
    seen = sampler.restrict(np.arange(40), 4)
    seen.condition(states)
    sampler.draw(states, stream)
    assert_allclose(sampler.log_evidence(), seen.log_evidence(), rtol=1e-12)


@every_type
def test_names_of_hmmlearn(covariance_type):
    values = observations()
    sampler, _ = started(values, covariance_type=covariance_type)
    model = sampler.model()
    assert_array_equal(model.means_, model.means)
    assert model.covars_.shape == (4, 2, 2)
    for j in range(4):
        own = model.covariances[j]
        assert_array_equal(model.covars_[j], own if covariance_type == "full" else np.diag(own))
    for name in ("means_", "covars_"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[0, 0] = 1.0
        with pytest.raises(AttributeError):
            setattr(model, name, model.means)


def test_covariances_without_an_inverse_are_refused():
    with pytest.raises(ValueError, match="not positive definite to rounding: scale the columns"):
        factorize_precisions(np.array([np.eye(2), [[1e24, 1e24], [1e24, 1e24]]]))


@pytest.mark.parametrize("square", [0.0, 1e-3, 2.0, 1e9, 1e60])
@pytest.mark.parametrize(("total", "power"), [(0.5, 3.0), (3.0, 3.5), (40.0, 2.0)])
def test_peak_of_a_weight(total, power, square):
    """The derivative of the log, total / u - shape - power d / (1 + u d), is 0 there."""
    shape = 1.5
    u = find_peak(shape, total, power, square)
    terms = np.array([total, -shape * u, -power * u * square / (1.0 + u * square)])
    assert abs(terms.sum()) < 1e-12 * np.abs(terms).max()
