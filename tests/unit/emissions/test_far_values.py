"""Far values hardly count in default priors, and numbers so small that squares underflow."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from unit.emissions.helpers import Parts

from skdp.emissions import (
    GaussianEmission,
    IndependentEmissions,
    StudentTEmission,
)
from skdp.emissions._common._columns import (
    ClippedRows,
    InMemoryRows,
    find_order_statistics,
    moments_of,
)
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture
from skdp.sequence import HDPHMMLT

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=1000)
LEVELS = np.repeat([0.0, 50.0], 500)


def nearby(values):
    """Return the values from which moments are computed."""
    return ClippedRows(InMemoryRows(values)).sum(lambda values: (values,))[0]


def test_order_statistics():
    """Those of sorted columns, in which missing values do not count."""
    values = np.column_stack([
        RNG.normal(size=400), RNG.normal(size=400).round(1), -(10.0 ** RNG.uniform(-300, 120, 400)),
        RNG.integers(-1, 2, 400) * 0.0,
    ])  # fmt: skip
    ranks = np.array([[0, 5, 17, 399], [399, 200, 3, 0], [10, 11, 12, 13]])
    expected = np.take_along_axis(np.sort(values, axis=0), ranks, axis=0)
    assert_array_equal(find_order_statistics(InMemoryRows(values), ranks), expected)
    parts = Parts(np.split(values, [0, 1, 123]))
    assert_array_equal(find_order_statistics(parts, ranks), expected)
    values[::3] = np.nan
    found = find_order_statistics(InMemoryRows(values), np.array([[0, 1, 2, 3]]))
    assert_array_equal(found[0], np.sort(values, axis=0)[range(4), range(4)])


ORDINARY = {
    "normal": NORMAL,
    "uniform": RNG.uniform(size=1000),
    "Student t": RNG.standard_t(3, 1000),
    "exponential": RNG.exponential(size=1000),
    "two levels": LEVELS + NORMAL,
    "a fifth far away": np.where(np.arange(1000) < 200, 1e4, 0.0) + NORMAL,
    "a twentieth away": np.where(np.arange(1000) < 50, 20.0, 0.0) + NORMAL,
    "mostly zeros": np.where(RNG.random(1000) < 0.6, 0.0, RNG.exponential(size=1000)),
    "nearly all are sevens": np.where(RNG.random(1000) < 0.98, 7.0, NORMAL),
    "rare ones": RNG.random(1000) < 0.01,
    "constant": np.full(1000, 3.0),
    "constant but for one": np.where(np.arange(1000) < 999, 3.0, -9999.0),
    "iris": load_iris().data,
    "wine": load_wine().data,
    "breast cancer": load_breast_cancer().data,
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_data_stay_as_they_are(name):
    values = np.asarray(ORDINARY[name], dtype=float).reshape(len(ORDINARY[name]), -1)
    assert_array_equal(nearby(values), values)
    with_gaps = values.copy()
    with_gaps[::7, 0] = np.nan
    assert_array_equal(nearby(with_gaps), with_gaps)


@pytest.mark.parametrize(
    "clean",
    [NORMAL, LEVELS + NORMAL, np.where(NORMAL < 0.5, 0.0, NORMAL)],
    ids=["normal", "two levels", "zeros"],
)
@pytest.mark.parametrize("far", [-9999.0, 1e6, -3.4e38])
def test_far_values_hardly_count(clean, far):
    for n_far in (1, 20):
        values = clean.copy()
        values[:: len(values) // n_far] = far
        mean, covariance = moments_of(InMemoryRows(values.reshape(-1, 1)))
        assert abs(mean[0] - clean.mean()) < 0.2 * clean.std()
        assert_allclose(covariance[0, 0], clean.var(), rtol=0.1)


def test_moments_change_little_with_one_value():
    """However far it is; and continuously."""
    values = NORMAL[:100].copy()
    found = []
    for far in np.concatenate([np.linspace(1.0, 100.0, 400), np.logspace(2, 100, 50)]):
        values[0] = far
        found.append(moments_of(InMemoryRows(values.reshape(-1, 1)))[1][0, 0])
    assert max(found) < 12.0 * values[1:].var()
    assert np.abs(np.diff(found[:400])).max() < 0.2


def test_correlations_are_those_of_the_others():
    rows = RNG.normal(size=(500, 2)) @ [[1.0, 0.9], [0.0, 0.4]]
    values = rows.copy()
    values[7], values[8, 0] = [-9999.0, -9999.0], 1e6
    assert_allclose(moments_of(InMemoryRows(values))[1], np.cov(rows.T), rtol=0.1)


def test_parts_have_the_moments_of_the_whole():
    values = np.column_stack([NORMAL, LEVELS + NORMAL])
    values[3, 0], values[::30, 1], values[5] = -9999.0, 1e5, np.nan
    found = moments_of(Parts(np.split(values, [10, 11, 700])))
    for own, expected in zip(found, moments_of(InMemoryRows(values)), strict=True):
        assert_array_equal(own, expected)


# Codes for what was not observed

LEVEL = np.tile(np.repeat([0, 1], 20), 5)


def observe(bad):
    """Return two levels, eight standard deviations apart, with codes, and what was observed."""
    rng = np.random.default_rng(0)
    values = 8.0 * LEVEL + rng.normal(size=200)
    if bad == -999.0:
        values[rng.choice(200, 10, replace=False)] = bad
    else:
        values[100] = bad
    return values.reshape(-1, 1), np.abs(values) < 100.0


DRAWN_SCALE = GaussianEmission("diag", covariance_prior="auto")
PART = IndependentEmissions([("level", "gaussian", [0])])


@pytest.mark.parametrize(
    ("emission", "bad"),
    [
        ("gaussian", -9999.0),
        ("gaussian", -999.0),
        (DRAWN_SCALE, -999.0),
        ("student_t", 1e6),
        ("student_t", -999.0),
        ("autoregressive", -9999.0),
        ("autoregressive", -999.0),
        (PART, 1e6),
    ],
    ids=str,
)
def test_states(emission, bad):
    values, known = observe(bad)
    model = HDPHMMLT(6, emission=emission, stickiness="auto", max_iter=40, random_state=0)
    states = model.fit(values).predict(values)
    assert adjusted_rand_score(LEVEL[known], states[known]) > 0.85


@pytest.mark.parametrize(
    ("model", "bad"),
    [(DPMixture, -9999.0), (DPMixture, -999.0), (PitmanYorMixture, 1e6), (HDPMixture, -999.0)],
)
def test_clusters(model, bad):
    values, known = observe(bad)
    X = [values[:100], values[100:]] if model is HDPMixture else values
    labels = np.hstack(model(max_iter=40, random_state=0).fit(X).labels_)
    assert adjusted_rand_score(LEVEL[known], labels[known]) > 0.85


def test_mostly_constant_columns_of_heavy_tails():
    """The fallback of medians of deviations from the median."""
    values = np.where(NORMAL < 0.5, 0.0, NORMAL)
    values[5] = -9999.0
    prior = StudentTEmission().make_sampler(values.reshape(-1, 1), 2).prior
    assert prior.scale[0, 0, 0] < 1.0


@pytest.mark.parametrize(
    "emission",
    [GaussianEmission(), GaussianEmission("diag"), StudentTEmission()],
    ids=["full", "diag", "Student t"],
)
def test_constant_columns_are_left_out_or_have_a_unit(emission):
    """Also columns that vary so little that squares underflow."""
    rest = np.column_stack([np.zeros(9), np.full(9, 1e-200), np.full(9, 1e-130)])
    rest[3, 2] += 1e-144
    values = np.column_stack([NORMAL[:9], rest])
    scale = emission.make_sampler(values, 2).prior.scale
    if not isinstance(emission, StudentTEmission):
        assert_array_equal(scale, emission.make_sampler(values[:, :1], 2).prior.scale)
        return
    ones = np.diag(scale[0])[1:]
    assert_array_equal(ones, ones[0])
    assert ones[0] > 0.1
