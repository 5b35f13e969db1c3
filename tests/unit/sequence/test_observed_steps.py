"""Shares of states and factors count the steps of which something was observed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skdp.data import PartitionedPanel, SequencePanel
from skdp.emissions import (
    BernoulliEmission,
    BinaryFactorEmission,
    GaussianEmission,
    IndependentEmissions,
    MultinomialEmission,
    StudentTEmission,
)
from skdp.sequence import HDPHMMLT, FactorialHMM
from skdp.sequence._observed_steps import observed_steps

RNG = np.random.default_rng(0)
GAPS = np.r_[0:40, 70:90]
"""A start and a gap without a value."""
PARTLY = np.r_[50:55, 100:110]
"""One of two columns is missing."""


def series(values):
    values = np.asarray(values, dtype=float)
    values[GAPS] = np.nan
    if values.shape[1] > 1:
        values[PARTLY, 0] = np.nan
    return values


LEVELS = series(RNG.normal(5.0 * np.repeat([0, 1, 0, 1], 40)[:, None] * [1, -1], size=(160, 2)))
COUNTS = RNG.poisson(4.0, size=(160, 2)).astype(float)
COUNTS[GAPS] = np.nan
BITS = series(RNG.random((160, 2)) < 0.5)
MIXED = IndependentEmissions([("a", "gaussian", [0]), ("b", "student_t", [1])])
CASES = {
    "gaussian": (LEVELS, "gaussian"),
    "diagonal": (LEVELS, GaussianEmission("diag")),
    "student": (LEVELS, StudentTEmission()),
    "bernoulli": (BITS, BernoulliEmission()),
    "multinomial": (COUNTS, MultinomialEmission()),
    "factors": (LEVELS, BinaryFactorEmission(2)),
    "mixed": (LEVELS, MIXED),
}
LAST = {"max_iter": 3, "burn_in": 2, "random_state": 0}
"""The only sample is that of the last sweep."""


def test_observed_steps():
    values = np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, 3.0]])
    assert observed_steps(values).tolist() == [True, False, True]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", CASES)
def test_shares_of_states(case):
    X, emission = CASES[case]
    model = HDPHMMLT(5, emission=emission, **LAST)
    *_, last = model.iter_sweeps(X)
    is_seen = ~np.isnan(X).all(axis=1)
    counts = np.bincount(last.states[is_seen], minlength=5)
    model.fit(X)
    assert_allclose(model.state_shares_, np.sort(counts / counts.sum())[::-1])
    n_active = np.count_nonzero(counts >= 1e-3 * counts.sum())
    assert model.n_active_components_ == n_active
    assert model.trace_["n_active_components"].tolist() == [[n_active]]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_states_of_gaps_alone_are_not_in_use():
    """A sensor that is silent at first: its two levels are two states."""
    level = np.tile(np.repeat([0.0, 5.0], 40), 5)
    X = np.r_[np.full(200, np.nan), level + np.random.default_rng(0).normal(size=400)][:, None]
    model = HDPHMMLT(10, stickiness=50.0, max_iter=60, random_state=0).fit(X)
    assert model.n_active_components_ == 2
    means = model.emission_.means[model.state_shares_ > 0.0, 0]
    assert not np.any(np.abs(means - np.nanmean(X)) < 1e-9)  # none has the prior's mean


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_shares_of_states_in_partitions():
    panel = SequencePanel.from_sequences([LEVELS[:80], LEVELS[80:]])
    whole = HDPHMMLT(5, **LAST).fit(panel)
    model = HDPHMMLT(5, **LAST).fit(PartitionedPanel.from_panel(panel, 2))
    assert_allclose(model.state_shares_, whole.state_shares_, atol=1e-12)
    counts = 100.0 * model.state_shares_  # of the hundred observed steps
    assert_allclose(counts, np.round(counts), atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_shares_of_factors():
    model = FactorialHMM(2, **LAST)
    *_, last = model.iter_sweeps(LEVELS)
    shares = last.activities[observed_steps(LEVELS)].mean(axis=0)
    model.fit(LEVELS)
    assert_allclose(model.factor_shares_, np.sort(np.minimum(shares, 1.0 - shares))[::-1])
