"""Labels do not depend on the unit of the data, nor on where its zero is."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from skdp.emissions import (
    AutoregressiveEmission,
    BinaryFactorEmission,
    GaussianEmission,
    IndependentEmissions,
    PoissonEmission,
    StudentTEmission,
)
from skdp.mixture import DPMixture, HDPMixture, IBPLatentFeatures, PitmanYorMixture
from skdp.sequence import HDPHMMLT, FactorialHMM

TRUTH = np.tile(np.repeat([0, 1, 2], [14, 10, 6]), 4)
RNG = np.random.default_rng(0)
ROWS = np.array([[0.0, 0.0], [6.0, 3.0], [0.0, 9.0]])[TRUTH] + RNG.normal(size=(120, 2))
WITH_A_SENTINEL = ROWS.copy()
WITH_A_SENTINEL[17, 0] = -9999.0


def turn(is_fast):
    """Return points that turn about 0, some faster than others, the other way."""
    points, point = [], np.array([3.0, 0.0])
    for fast in is_fast:
        angle = -1.0 if fast else 0.3
        cos, sin = np.cos(angle), np.sin(angle)
        points.append(point)
        point = np.array([[cos, -sin], [sin, cos]]) @ point + 0.05 * RNG.normal(size=2)
    return np.array(points)


TURNS = turn(np.tile(np.repeat([False, True], [35, 25]), 2))

UNITS = [(1e-6, 0.0), (1e-3, 100.0), (1e3, 0.0), (1e6, 100.0)]
"""Factors and shifts."""

SETTINGS = {"max_iter": 24, "random_state": 0}


class Case(NamedTuple):
    """An estimator, numbers for it, and whether it finds the same in shifted ones."""

    estimator: Any
    X: np.ndarray = ROWS
    may_shift: bool = True


def group(X):
    """Return two groups of rows."""
    return [X[:60], X[60:]]


def mixtures():
    for model in (DPMixture, PitmanYorMixture):
        name = model.__name__
        yield f"{name}", Case(model(**SETTINGS))
        yield f"{name} full", Case(model(GaussianEmission(), **SETTINGS))
        yield f"{name} diag", Case(model(GaussianEmission("diag"), **SETTINGS))
        yield f"{name} blocked", Case(model(sampler="blocked", **SETTINGS))
        yield f"{name} sentinel", Case(model(**SETTINGS), WITH_A_SENTINEL)
    yield "HDPMixture", Case(HDPMixture(**SETTINGS))
    yield "HDPMixture diag", Case(HDPMixture(GaussianEmission("diag"), **SETTINGS))


def states():
    parts = [("first", GaussianEmission("diag"), [0]), ("second", StudentTEmission(), [1])]
    emissions = {
        "full": GaussianEmission(),
        "diag": GaussianEmission("diag"),
        "drawn scale": GaussianEmission(covariance_prior="auto"),
        "Student t": StudentTEmission(),
        "Student t diag": StudentTEmission("auto", "diag"),
        "independent": IndependentEmissions(parts),
    }
    for name, emission in emissions.items():
        yield name, Case(HDPHMMLT(5, emission=emission, **SETTINGS))
        yield f"{name} sentinel", Case(HDPHMMLT(5, emission=emission, **SETTINGS), WITH_A_SENTINEL)
    for n_lags in (1, 2):
        emission = AutoregressiveEmission(n_lags)
        yield f"{n_lags} lags", Case(HDPHMMLT(5, emission=emission, **SETTINGS), TURNS)


def factors():
    emission = BinaryFactorEmission(2)
    yield "binary factors", Case(HDPHMMLT(5, emission=emission, **SETTINGS))
    for n_factors in (2, "auto"):
        yield f"factorial {n_factors}", Case(FactorialHMM(n_factors, **SETTINGS))
    yield "latent features", Case(IBPLatentFeatures(**SETTINGS), ROWS - ROWS.mean(axis=0), False)


CASES = dict([*mixtures(), *states(), *factors()])
"""Every estimator and every emission of real numbers."""


def labels_of(estimator, X):
    """Return the labels of rows in the order of X."""
    if isinstance(estimator, HDPMixture):
        return np.concatenate(estimator.fit(group(X)).labels_)
    estimator.fit(X)
    if isinstance(estimator, IBPLatentFeatures):
        return estimator.transform(X) > 0.5
    return (
        estimator.predict(X)
        if isinstance(estimator, HDPHMMLT | FactorialHMM)
        else estimator.labels_
    )


@pytest.mark.parametrize("name", CASES)
def test_real_numbers(name):
    case = CASES[name]
    expected = labels_of(case.estimator, case.X)
    for factor, shift in UNITS:
        found = labels_of(case.estimator, factor * (case.X + (shift if case.may_shift else 0.0)))
        np.testing.assert_array_equal(found, expected, err_msg=f"{factor:g}, {shift:g}")


COUNTS = {
    "DPMixture": DPMixture("poisson", **SETTINGS),
    "PitmanYorMixture": PitmanYorMixture("poisson", **SETTINGS),
    "blocked": DPMixture("poisson", sampler="blocked", **SETTINGS),
    "HDPMixture": HDPMixture("poisson", **SETTINGS),
    "HDPHMMLT": HDPHMMLT(5, emission="poisson", **SETTINGS),
    "independent": HDPHMMLT(
        5,
        emission=IndependentEmissions([("a", PoissonEmission(), [0]), ("b", "poisson", [1])]),
        **SETTINGS,
    ),
}
"""Every estimator of counts."""


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    """Large counts are no multiples of small ones, but the clusters are the same."""
    rates = np.array([[20.0, 400.0], [90.0, 100.0], [300.0, 400.0]])
    for factor in (1.0, 1e3, 1e6):
        X = np.random.default_rng(1).poisson(factor * rates[TRUTH])
        labels = labels_of(COUNTS[name], X)
        pairs = set(zip(labels.tolist(), TRUTH.tolist(), strict=True))
        assert len(pairs) == len(set(labels.tolist())) == 3, f"{factor:g}"
