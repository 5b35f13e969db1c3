"""Columns that are constant in the data of a fit do not influence states or clusters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import t as student_t

from skdp.data import PartitionedPanel, SequencePanel
from skdp.emissions._common._columns import ConstantColumns, InMemoryRows
from skdp.emissions._gaussian._sampler import GaussianSampler
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture
from skdp.sequence import HDPHMMLT, AutoregressiveEmission, GaussianEmission, IndependentEmissions

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
LEVELS = np.repeat([0.0, 8.0, 0.0, 8.0], 50)
VARYING = LEVELS[:, np.newaxis] + RNG.normal(size=(200, 2))
PLACES, CONSTANTS = np.array([1, 3]), np.array([3.0, -0.1, 7.0])
PTR = np.array([0, 120, 200])
EMISSIONS = {
    "full": GaussianEmission(),
    "diag": GaussianEmission("diag"),
    "auto": GaussianEmission(covariance_prior="auto"),
    "autoregressive": AutoregressiveEmission([1, 3], trend="ct"),
}
every_emission = pytest.mark.parametrize("name", EMISSIONS)


def widened(values, rest=CONSTANTS):
    """Return values with three more columns."""
    wide = np.empty((len(values), 5))
    wide[:, PLACES], wide[:, [0, 2, 4]] = values, rest
    return wide


def panel(values):
    return SequencePanel(values, PTR)


def make(emission, **params):
    settings = {"stickiness": 20.0, "max_iter": 30, "random_state": 0, **params}
    return HDPHMMLT(6, emission=EMISSIONS.get(emission, emission), **settings)


def fit(name, values):
    return make(name).fit(panel(values))


@pytest.fixture(scope="module")
def fits():
    return {name: (fit(name, VARYING), fit(name, widened(VARYING))) for name in EMISSIONS}


def log_density(rest):
    """Return the log density of the constant columns, whose variance is 1."""
    return student_t(3, CONSTANTS, np.sqrt(1.0 / 3.0)).logpdf(rest).sum(axis=-1)


# States of hidden Markov models


@every_emission
def test_states_are_those_without_constant_columns(fits, name):
    """New values in these columns prefer no state, however far they are."""
    without, model = fits[name]
    assert_array_equal(model.trace_["log_joint"], without.trace_["log_joint"])
    assert_array_equal(model.transmat_, without.transmat_)
    expected = without.predict_proba(panel(VARYING))[0]
    for far in (0.0, 1.0, 1e9):
        values = panel(widened(VARYING, CONSTANTS + far * RNG.normal(size=(200, 3))))
        assert_allclose(model.predict_proba(values)[0], expected, atol=1e-9)
        assert_array_equal(model.predict(values)[0], without.predict(panel(VARYING))[0])
    states = None, None
    for own, row in zip(VARYING[:6], widened(VARYING[:6]) + 0.5, strict=True):
        row[PLACES] = own
        states = without.filter_update(states[0], own), model.filter_update(states[1], row)
        assert_allclose(*(state.proba for state in states))


@pytest.mark.parametrize("emission", ["full", "diag", AutoregressiveEmission()], ids=str)
def test_states_do_not_merge(emission):
    values = np.column_stack([VARYING[:, 0], np.zeros((200, 6))])
    states = make(emission, max_iter=60).fit(values).predict(values)
    assert_array_equal(np.flatnonzero(np.diff(states)) + 1, [50, 100, 150])


@every_emission
def test_arrays_are_those_of_all_columns(fits, name):
    emission, own = fits[name][1].emission_, fits[name][0].emission_
    if name == "diag":
        assert emission.covariances.shape == (6, 5)
        assert_array_equal(emission.covariances[:, [0, 2, 4]], 1.0)
        assert_array_equal(emission.covariances[:, PLACES], own.covariances)
    else:
        assert emission.covariances.shape == (6, 5, 5)
        assert_array_equal(emission.covariances[:, 0], np.tile(np.eye(5)[0], (6, 1)))
        assert_array_equal(emission.covariances[:, PLACES[:, None], PLACES], own.covariances)
    if name != "autoregressive":
        assert_array_equal(emission.means[:, [0, 2, 4]], np.tile(CONSTANTS, (6, 1)))
        assert_array_equal(emission.means[:, PLACES], own.means)


def test_arrays_of_regressions(fits):
    own, wide = (model.emission_ for model in fits["autoregressive"])
    lags = RNG.normal(size=(2, 5))  # lag 1, then lag 3
    assert wide.coefs.shape == (6, 5, 10)
    predicted = wide.intercepts + wide.coefs @ lags.ravel()
    expected = own.intercepts + own.coefs @ lags[:, PLACES].ravel()
    assert_allclose(predicted[:, PLACES], expected)
    assert_allclose(predicted[:, [0, 2, 4]], np.tile(CONSTANTS, (6, 1)))
    row = np.concatenate([[1.0], lags.ravel(), [20.0]])
    own_row = np.concatenate([[1.0], lags[:, PLACES].ravel(), [20.0]])
    squares = [((f @ a) ** 2).sum(axis=1) for f, a in (
        (wide.coef_factors, row), (own.coef_factors, own_row),
    )]  # fmt: skip
    assert_allclose(*squares)
    assert_array_equal(wide.trends[:, PLACES], own.trends)
    assert_allclose(wide.scales[:, 0, 0], 1.0 / 3.0)
    start = wide.starting_lags
    assert_array_equal(start.mean.reshape(3, 5)[:, [0, 2, 4]], np.tile(CONSTANTS, (3, 1)))
    places = (5 * np.arange(3)[:, np.newaxis] + PLACES).ravel()
    assert_array_equal(start.root[np.ix_(places, places)], own.starting_lags.root)
    assert_array_equal(start.root[0], np.eye(15)[0])


@every_emission
@pytest.mark.parametrize("gaps", [False, True])
def test_scores_are_densities_of_all_columns(fits, name, gaps):
    """The constant columns add a factor that is the same for all states."""
    without, model = fits[name]
    values, rest = VARYING.copy(), CONSTANTS + RNG.normal(size=(200, 3))
    added = log_density(rest)
    if name == "autoregressive":
        added[[0, 1, 2, 120, 121, 122]] = 0.0  # given steps
    if gaps:
        values[70:72, 0] = np.nan
    wide = widened(values, rest)
    expected = without.score_samples(panel(values))
    expected = expected + np.add.reduceat(added, PTR[:-1])
    assert_allclose(model.score_samples(panel(wide)), expected)
    first = wide[: panel(wide).ptr[1]]
    assert_allclose(model.score_samples(first).sum(), expected[0])  # a single array, by steps


@every_emission
def test_missing_values(fits, name):
    without, model = fits[name]
    values = VARYING.copy()
    values[70:72, 0] = np.nan
    wide = widened(values)
    wide[30:70, 0] = wide[:, 2] = np.nan
    filled = model.impute(panel(wide)).values
    assert_allclose(filled[:, [0, 2, 4]], np.tile(CONSTANTS, (200, 1)))
    assert_allclose(filled[:, PLACES], without.impute(panel(values)).values)
    assert_allclose(model.filter_proba(panel(wide))[0], without.filter_proba(panel(values))[0])


@every_emission
def test_forecasts(fits, name):
    without, model = fits[name]
    levels = [0.05, 0.5, 0.95]
    for gaps in (False, True):
        values = VARYING.copy()
        values[198 if gaps else 200 :, 1] = np.nan
        own = without.forecast(values, 4, levels)
        found = model.forecast(widened(values), 4, levels)
        assert_allclose(found.mean[:, PLACES], own.mean)
        assert_allclose(found.sd[:, PLACES], own.sd)
        assert_allclose(found.quantiles[:, PLACES], own.quantiles)
        assert_allclose(found.mean[:, [0, 2, 4]], np.tile(CONSTANTS, (4, 1)))
        assert_allclose(found.sd[:, [0, 2, 4]], 1.0)
        expected = student_t(3, CONSTANTS[:, None], np.sqrt(1.0 / 3.0)).ppf(levels)
        assert_allclose(found.quantiles[:, [0, 2, 4]], np.tile(expected, (4, 1, 1)))


@every_emission
def test_samples(fits, name):
    _, model = fits[name]
    for given in (None, widened(VARYING)):
        drawn = model.sample(500, 4, given=given, random_state=0)[0].values
        assert drawn.shape == (2000, 5)
        assert_allclose(np.median(drawn[:, [0, 2, 4]], axis=0), CONSTANTS, atol=0.1)
        assert np.isfinite(drawn).all()
        assert np.ptp(drawn[:, 0]) > 1.0


def test_parts():
    emission = IndependentEmissions([("a", "gaussian", [0, 1, 2]), ("b", "gaussian", [3, 4])])
    own = IndependentEmissions([("a", "gaussian", [0]), ("b", "gaussian", [1])])
    model, without = make(emission).fit(widened(VARYING)), make(own).fit(VARYING)
    assert_array_equal(model.trace_["log_joint"], without.trace_["log_joint"])
    assert model.emission_.models["a"].means.shape == (6, 3)


@pytest.mark.parametrize("name", ["full", "autoregressive"])
def test_partitions(name):
    """A column is constant if it is over all partitions."""
    for rest in (CONSTANTS, np.repeat([[3.0, 0.0, 7.0], [4.0, 1.0, 7.0]], [120, 80], axis=0)):
        whole = panel(widened(VARYING, rest))
        parts = make(name).fit(PartitionedPanel.from_panel(whole, 2))
        assert_array_equal(parts.trace_["log_joint"], make(name).fit(whole).trace_["log_joint"])
        varying = parts.emission_.varying
        means = varying.intercepts if name == "autoregressive" else varying.means
        # An autoregression leaves out the second of two columns with the same step, too.
        n_varying = 3 if name == "autoregressive" else 4
        assert means.shape[1] == (2 if rest is CONSTANTS else n_varying)


# Clusters


@pytest.mark.parametrize(
    ("covariance_type", "kind"), [("diag", DPMixture), ("full", PitmanYorMixture)]
)
def test_mixtures(covariance_type, kind):
    model = kind(emission=GaussianEmission(covariance_type), max_iter=40, random_state=0)
    rows = VARYING + 0.0
    rows[5, 0] = np.nan
    wide = widened(rows)
    wide[7, 2] = np.nan
    without = model.fit(rows).labels_, model.score_samples(rows), model.means_
    model.fit(wide)
    assert_array_equal(model.labels_, without[0])
    assert len(np.unique(model.labels_)) == 2
    assert_array_equal(model.means_[:, PLACES], without[2])
    assert model.covariances_.shape[1:] == ((5, 5) if covariance_type == "full" else (5,))
    added = np.full(200, log_density(CONSTANTS))
    added[7] -= student_t(3, 0.0, np.sqrt(1.0 / 3.0)).logpdf(0.0)
    assert_allclose(model.score_samples(wide), without[1] + added)
    assert_allclose(model.impute(wide)[[5, 7], [0, 2]], [3.0, -0.1])


def test_groups():
    groups = [VARYING[:120:4], VARYING[120::4]]
    model = HDPMixture(max_iter=20, random_state=0).fit(groups)
    labels = np.concatenate(model.labels_)
    model.fit([widened(rows) for rows in groups])
    assert_array_equal(np.concatenate(model.labels_), labels)


# What is constant, and priors


def test_given_priors():
    """A given covariance describes all columns, and none is left out; a given mean does not."""
    sampler = GaussianEmission(covariance_prior=np.eye(5)).make_sampler(widened(VARYING), 2)
    assert type(sampler) is GaussianSampler
    assert sampler.prior.mean.shape == (1, 5)
    emission = AutoregressiveEmission(covariance_prior=np.eye(5))
    assert emission.make_sampler(widened(VARYING), 2, PTR).n_dims == 5
    emission = GaussianEmission(mean_prior=np.arange(5.0))
    assert_array_equal(emission.make_sampler(widened(VARYING), 2).prior.mean, [[1.0, 3.0]])


def test_what_is_constant():
    """To rounding; none are left out if all or none are constant."""
    rounded = np.full(9, 0.3)
    rounded[::2] = 0.1 + 0.2
    values = np.column_stack([np.arange(9.0), rounded, np.full(9, np.nan), np.zeros(9)])
    values[0, 3] = np.nan
    constants = ConstantColumns.of(InMemoryRows(values))
    assert_array_equal(constants.varying, [0, 2])
    assert_array_equal(constants.constant, [1, 3])
    assert_array_equal(constants.values, [0.3, 0.0])
    for values in (np.zeros((5, 2)), np.full((5, 2), np.nan), VARYING):
        assert ConstantColumns.of(InMemoryRows(values)) is None


@pytest.mark.parametrize("known", [False, True])
def test_distribution(known):
    constants = ConstantColumns(np.array([1, 3]), np.array([0, 2, 4]), CONSTANTS)
    drawn = constants.sample(40_000, np.random.default_rng(0), known=known)
    x = np.linspace(-2.0, 2.0, 5)
    logs = [constants.log_density(widened(np.zeros((1, 2)), CONSTANTS + y), known=known) for y in x]
    below = (drawn[:, 0, np.newaxis] <= 3.0 + x).mean(axis=0)
    marginal = constants.distribution(known=known)
    assert_allclose(below, marginal.cdf(3.0 + x, 0)[:, 0], atol=0.01)
    assert_allclose(marginal.variances, 1.0)
    assert_allclose(np.ravel(logs), 3.0 * marginal.log_density(3.0 + x, 0)[:, 0])
