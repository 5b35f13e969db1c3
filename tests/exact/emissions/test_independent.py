"""Mixed columns: each part is as if it were alone, with its columns in its own order.

Emissions of single parts are compared to oracles elsewhere.
"""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from unit.emissions.helpers import stream

from skdp.emissions import (
    BernoulliEmission,
    CategoricalEmission,
    GaussianEmission,
    IndependentEmissions,
)
from skdp.sequence._hmm._forecast import Mixture

NAN = math.nan
LEVEL = GaussianEmission(
    mean_prior=[0.2], mean_precision_prior=0.5, degrees_of_freedom_prior=2.5,
    covariance_prior=[[0.8]],
)  # fmt: skip
PARTS = {
    "bits": (BernoulliEmission((0.6, 0.8)), [3, 0]),
    "level": (LEVEL, [1]),
    "kind": (CategoricalEmission(3, [0.3, 1.0, 0.7]), [2]),
}
EMISSION = IndependentEmissions([(name, *part) for name, part in PARTS.items()])
ROWS = np.array(
    [[0, 0.3, 2, 1], [1, -1.2, 0, NAN], [0, NAN, 0, 0], [1, 2.0, 1, 1], [NAN, 0.7, 2, NAN]]
)
STATES = np.array([0, 1, 0, 0, 1])
N_STATES = 3  # the last one is never used


def start():
    sampler = EMISSION.make_sampler(ROWS, N_STATES)
    sampler.attach(ROWS)
    sampler.draw(STATES, stream())
    return sampler


def alone(rows=ROWS, states=STATES):
    """Return a sampler of each part that has only its own columns."""
    samplers = {}
    for name, (emission, columns) in PARTS.items():
        samplers[name] = emission.make_sampler(rows[:, columns], N_STATES)
        samplers[name].attach(rows[:, columns])
        samplers[name].condition(states)
    return samplers


def test_log_densities():
    """Under the parameters that were drawn last."""
    sampler, expected = start(), 0.0
    for part, (_, columns) in zip(sampler.samplers, PARTS.values(), strict=True):
        out, own = np.empty((len(ROWS), N_STATES)), part.copy()
        own.attach(ROWS[:, columns])
        own.write_log_obs(out)
        expected = expected + out
    sampler.write_log_obs(out)
    assert_allclose(out, expected)


def test_evidence():
    """Of all steps and of some."""
    sampler = start()
    assert_allclose(sampler.log_evidence(), sum(part.log_evidence() for part in alone().values()))
    steps, states = np.array([0, 1, 3, 4]), np.array([1, 0, -1, 1])
    part = sampler.restrict(steps, 2)
    part.condition(states)
    expected = alone(ROWS[steps], states).values()
    assert_allclose(part.log_evidence(), sum(own.log_evidence() for own in expected))


def test_stored_densities_and_what_is_filled_in():
    model, found = start().model(), 0.0
    weights = np.array([[0.5, 0.2, 0.3]] * len(ROWS))
    filled = model.fill(ROWS, weights)
    for name, own in alone().items():
        columns = PARTS[name][1]
        found = found + own.model().log_obs(ROWS[:, columns])
        if name != "kind":  # all symbols are known
            expected = own.model().fill(ROWS[:, columns], weights)
            assert_allclose(filled[:, columns], expected)
    assert_allclose(model.log_obs(ROWS), found)
    assert_array_equal(filled[:, 2], ROWS[:, 2])


def test_draws_have_the_moments_of_the_columns():
    """|z| < 5 for nine means: a false alarm in 5e-6 seeds."""
    model, n = start().model(), 20_000
    marginals = model.marginals()
    for j in range(N_STATES):
        x = model.sample(np.full(n, j), np.random.default_rng(j))
        for d in (0, 3):
            mean = marginals.means[j, d]
            assert abs(x[:, d].mean() - mean) < 5.0 * math.sqrt(mean * (1.0 - mean) / n)
        probs = model.models["kind"].probs[j]
        shares = np.bincount(x[:, 2].astype(int), minlength=3) / n
        assert np.all(np.abs(shares - probs) < 5.0 * np.sqrt(probs * (1.0 - probs) / n))
        places = np.quantile(x[:, 1], [0.2, 0.5, 0.9])
        assert_allclose(marginals.cdf(places, 1)[:, j], [0.2, 0.5, 0.9], atol=0.018)


@pytest.mark.parametrize("column", [0, 1, 3])
def test_moments_and_quantiles_of_mixtures(column):
    model = start().model()
    weights = np.array([[0.5, 0.2, 0.3], [0.0, 1.0, 0.0]])
    name, place = {0: ("bits", 1), 1: ("level", 0), 3: ("bits", 0)}[column]
    whole, own = (Mixture([weights], [part.marginals()]) for part in (model, alone()[name].model()))
    q = np.array([0.1, 0.4, 0.8])
    assert_allclose(whole.quantiles(q)[:, column], own.quantiles(q)[:, place])
    for found, expected in zip(whole.moments(), own.moments(), strict=True):
        assert_allclose(found[:, column], expected[:, place])
