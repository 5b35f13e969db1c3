"""Columns that are linear functions of others do not influence the states of autoregressions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import t as student_t
from sklearn.metrics import adjusted_rand_score

from skdp.data import PartitionedPanel, SequencePanel
from skdp.emissions._common._columns import ConstantColumns, DependentColumns, InMemoryRows
from skdp.sequence import HDPHMMLT, AutoregressiveEmission

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

PTR = np.array([0, 200, 360])


def draw(seed=0, length=40):
    """Return states and two columns that follow one of three regressions."""
    rng = np.random.default_rng(seed)
    states = np.tile(np.repeat([0, 1, 2], length), 3)
    values = rng.normal(size=(len(states), 2))
    for t in range(1, len(states)):
        values[t] += np.array([0.95, -0.8, 0.0])[states[t]] * values[t - 1]
    return states, values


STATES, OWN = draw()
SLOPES = np.array([[1.8, 0.0], [1e-6, -2e-6], [0.0, 0.0]])
SHIFTS = np.array([32.0, 0.0, 5.0])
ORDER = np.array([0, 2, 3, 1, 4])  # Celsius, Fahrenheit, constant, humidity, a difference
PLACES = np.array([0, 3])


def widened(own):
    """Return two columns and three that depend on them."""
    wide = np.empty((len(own), 5))
    wide[:, PLACES], wide[:, [1, 4, 2]] = own, own @ SLOPES.T + SHIFTS
    return wide


NOISE = 1e-6 * widened(OWN).std(axis=0)  # what dependent columns have of their own, and constants
NOISE[PLACES], NOISE[2] = 0.0, 1.0


def fit(values, emission=None, **params):
    emission = AutoregressiveEmission([1, 3], trend="ct") if emission is None else emission
    settings = {"stickiness": 20.0, "max_iter": 30, "random_state": 0, **params}
    return HDPHMMLT(6, emission=emission, **settings).fit(values)


@pytest.fixture(scope="module")
def fits():
    return tuple(fit(SequencePanel(x, PTR)) for x in (OWN, widened(OWN)))


def find(values, constants=None):
    return DependentColumns.of(InMemoryRows(values), constants)


# Fits and predictions


def test_states_are_those_without_dependent_columns(fits):
    without, model = fits
    assert_allclose(model.trace_["log_joint"], without.trace_["log_joint"], rtol=1e-9)
    assert_allclose(model.transmat_, without.transmat_, rtol=1e-6)
    new = SequencePanel(OWN[:60] + 0.1, [0, 60])
    wide = SequencePanel(widened(new.values), [0, 60])
    assert_allclose(model.predict_proba(wide)[0], without.predict_proba(new)[0], atol=1e-7)
    broken = SequencePanel(wide.values + np.array([0.0, 1e3, -7.0, 0.0, 1.0]), [0, 60])
    assert_allclose(model.predict_proba(broken)[0], without.predict_proba(new)[0], atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_states_in_two_units_do_not_merge(seed):
    """With its scatter of 0 in one direction, the longest state would be the most probable."""
    states, own = draw(seed, 60)
    for column in (1.8 * own[:, 0] + 32.0, np.round(1.8 * own[:, 0] + 32.0, 4)):
        x = np.column_stack([own[:, 0], column])
        model = fit(x, AutoregressiveEmission(1), max_iter=150)
        assert adjusted_rand_score(states, model.predict(x)) > 0.7


def test_partitions(fits):
    panel = SequencePanel(widened(OWN), PTR)
    model = fit(PartitionedPanel.from_panel(panel, 2))
    assert_array_equal(model.trace_["log_joint"], fits[1].trace_["log_joint"])


def test_missing_values_that_dependent_columns_tell(fits):
    """A temperature that is missing in one unit is read in the other."""
    panel, wide = SequencePanel(OWN, PTR), widened(OWN)
    wide[::7, 0], wide[3::5, 1], wide[2::9, 2] = np.nan, np.nan, np.nan
    told = SequencePanel(wide, PTR)
    # Without given states, rounding could decide which of two equal splits comes first.
    both = [fit(x, init=np.split(STATES, PTR[1:-1])).trace_["log_joint"] for x in (told, panel)]
    assert_allclose(*both, rtol=1e-9)
    assert_allclose(fits[1].predict_proba(told)[0], fits[0].predict_proba(panel)[0], atol=1e-7)
    filled = np.concatenate(fits[1].impute(told))
    both = np.isnan(wide[:, :2]).all(axis=1)
    assert_allclose(filled[~both], widened(OWN)[~both], atol=1e-9)
    assert_allclose(filled[both, 1], 1.8 * filled[both, 0] + 32.0)


def test_what_a_sum_tells():
    """It tells one of its columns if the other is known, and nothing if both are missing."""
    dependents = find(np.column_stack([OWN, OWN.sum(axis=1)]))
    x = np.array([[np.nan, 2.0, 5.0], [1.0, np.nan, 4.0], [np.nan, np.nan, 4.0], [1.0, 2.0, 3.0]])
    expected = [[3.0, 2.0], [1.0, 3.0], [np.nan, np.nan], [1.0, 2.0]]
    assert_allclose(dependents.leave_out(x), expected)
    again = find(np.column_stack([OWN, 2.0 * OWN[:, 0]]))
    assert_allclose(again.leave_out(np.array([[np.nan, np.nan, 4.0]])), [[2.0, np.nan]])


# Arrays, densities and draws of all columns


def test_arrays_are_those_of_all_columns(fits):
    own, wide = (model.emission_ for model in fits)
    maps = np.zeros((5, 2))
    maps[PLACES], maps[[1, 4, 2]] = np.eye(2), SLOPES
    lags = np.random.default_rng(1).normal(size=(2, 2))  # lag 1, then lag 3
    predicted = wide.intercepts + wide.coefs @ widened(lags).ravel()
    expected = widened(own.intercepts + own.coefs @ lags.ravel())
    assert_allclose(predicted, expected, rtol=1e-6, atol=1e-9)
    assert_allclose(wide.trends, own.trends @ maps.T, rtol=1e-6, atol=1e-12)
    covariances = maps @ own.covariances @ maps.T + np.diag(NOISE**2)
    assert_allclose(wide.covariances, covariances, rtol=1e-5, atol=1e-18)
    row, own_row = (np.concatenate([[1.0], x.ravel(), [20.0]]) for x in (widened(lags), lags))
    squares = [((m.coef_factors @ a) ** 2).sum(axis=1) for m, a in ((wide, row), (own, own_row))]
    assert_allclose(*squares, rtol=1e-6)
    starts = wide.starting_lags, own.starting_lags
    assert_allclose(starts[0].mean.reshape(3, 5), widened(starts[1].mean.reshape(3, 2)), rtol=1e-6)
    root = starts[0].root
    assert_array_equal(root, np.tril(root))
    every = np.kron(np.eye(3), maps) @ starts[1].root
    expected = every @ every.T + np.diag(np.tile(NOISE**2, 3))
    assert_allclose(root @ root.T, expected, rtol=1e-5, atol=1e-18)


def test_scores_are_densities_of_all_columns(fits):
    without, model = fits
    own, rng = OWN[:50], np.random.default_rng(2)
    wide, rest = widened(own), rng.normal(size=(50, 3))
    wide[:, [1, 2, 4]] += rest * NOISE[[1, 2, 4]]
    panels = (model, SequencePanel(wide, [0, 50])), (without, SequencePanel(own, [0, 50]))
    scores = [m.score_samples(x)[0] for m, x in panels]
    logs = student_t(3).logpdf(rest * np.sqrt(3.0)) - np.log(NOISE[[1, 2, 4]] / np.sqrt(3.0))
    assert_allclose(scores[0] - scores[1], logs[3:].sum(), rtol=1e-5)


def test_draws_and_forecasts_keep_the_dependence(fits):
    without, model = fits
    drawn = model.sample(100, random_state=0)[0].values
    noise = drawn - widened(drawn[:, PLACES])
    assert (np.abs(noise[:, [1, 4]]) < 1e-3 * OWN.std() * np.array([1.8, 1e-6])).all()
    levels = [0.1, 0.5, 0.9]
    found = [
        m.forecast(SequencePanel(x, PTR), 2, quantiles=levels)
        for m, x in ((without, OWN), (model, widened(OWN)))
    ]
    for s in range(2):
        own, wide = (forecast["mean"][s] for forecast in found)
        assert_allclose(wide, widened(own), rtol=1e-6)
        own, wide = (forecast["sd"][s] for forecast in found)
        assert_allclose(wide[:, PLACES], own, rtol=1e-6)
        assert_allclose(wide[:, [1, 2]], np.column_stack([1.8 * own[:, 0], np.ones(2)]), rtol=1e-6)
        own, wide = (forecast["quantiles"][s] for forecast in found)
        assert_allclose(wide[0, PLACES], own[0], rtol=1e-5)
        assert_allclose(wide[0, 1], 1.8 * own[0, 0] + 32.0, rtol=1e-5)
        assert_allclose(wide[:, 2], np.tile(5.0 + student_t(3).ppf(levels) / np.sqrt(3.0), (2, 1)))


# What is dependent


def test_what_is_dependent():
    """Functions of columns before them, to rounding; the order of columns decides which."""
    x, y = OWN.T
    dependents = find(np.column_stack([x, 1e9 * x + 1.0, y, x - 3.0 * y, np.float32(y)]))
    assert_array_equal(dependents.varying, [0, 2])
    assert_array_equal(dependents.constant, [1, 3, 4])
    assert_allclose(dependents.slopes, [[1e9, 0.0], [1.0, -3.0], [0.0, 1.0]], atol=1e-6)
    gaps = np.column_stack([x, 2.0 * x, y])
    gaps[::3, 0], gaps[1::3, 2] = np.nan, np.nan
    assert_array_equal(find(gaps).varying, [0, 2])


def test_what_is_not_dependent():
    """Noise that states may explain, other columns, and a few rows, of which all are."""
    x, y = OWN.T
    assert find(OWN) is None
    assert find(np.column_stack([x, x + 1e-4 * y])) is None
    assert find(np.column_stack([x, x + 1e-5 * y])) is None
    assert find(np.random.default_rng(0).normal(size=(10, 12))) is None
    assert find(np.column_stack([x, 2.0 * x])[:9]) is None
    assert find(np.column_stack([x, 2.0 * x])[:10]) is not None
    assert find(x[:, np.newaxis]) is None
    assert find(np.full((20, 2), np.nan)) is None


def test_constants_are_left_out_first():
    values = np.column_stack([np.full(360, 5.0), OWN, OWN.sum(axis=1)])
    dependents = find(values, ConstantColumns.of(InMemoryRows(values)))
    assert_array_equal(dependents.varying, [1, 2])
    assert_array_equal(dependents.constant, [0, 3])
    assert_allclose(dependents.values, [5.0, 0.0], atol=1e-9)
    assert_allclose(dependents.slopes, [[0.0, 0.0], [1.0, 1.0]], atol=1e-9)


def test_given_priors_are_for_all_columns():
    wide = np.column_stack([OWN, OWN.sum(axis=1)])
    emission = AutoregressiveEmission(covariance_prior=np.eye(3))
    assert emission.make_sampler(wide, 2, PTR).n_dims == 3
    assert AutoregressiveEmission(coef_precision_prior=2.0).make_sampler(wide, 2, PTR).n_dims == 2
    with pytest.raises(ValueError, match="above the number of features minus 1, 2"):
        AutoregressiveEmission(degrees_of_freedom_prior=1.5).make_sampler(wide, 2, PTR)
