"""Mixed columns: sums over parts of what their oracles say."""

import math

import numpy as np
import pytest
from exact.oracles.events import log_bit_evidence, log_symbol_evidence
from exact.oracles.hdp_hmm import NormalInverseWishart, log_gaussian_evidence
from numpy.testing import assert_allclose
from scipy import stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import (
    BernoulliEmission,
    CategoricalEmission,
    GaussianEmission,
    IndependentEmissions,
)
from skdp.sequence._hmm._forecast import Mixture

NAN = math.nan
BITS, SYMBOLS = (0.6, 0.8), (0.3, 1.0, 0.7)
LINE = NormalInverseWishart(mean=(0.2,), precision=0.5, freedom=2.5, scale=((0.8,),))
EMISSION = IndependentEmissions(
    [
        ("bits", BernoulliEmission(BITS), [3, 0]),
        (
            "level",
            GaussianEmission(
                mean_prior=[0.2],
                mean_precision_prior=0.5,
                degrees_of_freedom_prior=2.5,
                covariance_prior=[[0.8]],
            ),
            1,
        ),
        ("kind", CategoricalEmission(3, list(SYMBOLS)), slice(2, 3)),
    ]
)
ROWS = np.array(
    [[0, 0.3, 2, 1], [1, -1.2, 0, NAN], [0, NAN, 0, 0], [1, 2.0, 1, 1], [NAN, 0.7, 2, NAN]]
)
GAPS = ROWS.copy()
GAPS[1, 2] = GAPS[2, 2] = NAN
STATES = np.array([0, 1, 0, 0, 1])
N_STATES = 3  # the last one is never used


def log_mixed_evidence(rows):
    """Return log p(rows of one state): bits in columns 0 and 3, a number in 1, a symbol in 2."""
    rows = np.array(rows, dtype=float).reshape(-1, 4)
    result = log_bit_evidence(rows[:, [0, 3]], BITS) + log_symbol_evidence(rows[:, 2:3], SYMBOLS)
    return result + log_gaussian_evidence(tuple((x,) for x in rows[:, 1]), LINE)


def start():
    sampler = EMISSION.make_sampler(ROWS, N_STATES)
    sampler.attach(ROWS)
    rng = make_stream(make_seed_sequence(0))
    sampler.draw(STATES, rng)
    return sampler, rng


def test_log_densities():
    sampler, _ = start()
    out = np.empty((len(ROWS), N_STATES))
    sampler.write_log_obs(out)
    bits, level, kind = sampler.samplers
    probs = np.exp(bits.log_probs[1::2])
    for j in range(N_STATES):
        for t, (a, x, v, b) in enumerate(ROWS):
            expected = kind.log_probs[int(v), j]
            for value, p in ((b, probs[0, j]), (a, probs[1, j])):
                if not math.isnan(value):
                    expected += stats.bernoulli.logpmf(value, p)
            if not math.isnan(x):
                deviation = 1.0 / level.precision_factors[j, 0, 0]
                expected += stats.norm.logpdf(x, level.means[j, 0], deviation)
            assert_allclose(out[t, j], expected)


def test_evidence():
    sampler, _ = start()
    expected = sum(log_mixed_evidence(ROWS[j == STATES]) for j in range(2))
    assert_allclose(sampler.log_evidence(), expected)
    part = sampler.restrict(np.array([0, 1, 3, 4]), 2)
    states = np.array([1, 0, -1, 1])
    part.condition(states)
    expected = log_mixed_evidence(ROWS[[1]]) + log_mixed_evidence(ROWS[[0, 4]])
    assert_allclose(part.log_evidence(), expected)


def test_predictive_is_a_ratio_of_evidences():
    model = start()[0].model()
    found = model.log_obs(ROWS)
    for j in range(N_STATES):
        own = ROWS[j == STATES]
        before = log_mixed_evidence(own)
        expected = [log_mixed_evidence([*own, x]) - before for x in ROWS]
        assert_allclose(found[:, j], expected, rtol=1e-6)


def test_draws_have_the_moments_of_the_columns():
    """|z| < 5 for nine means: a false alarm in 5e-6 seeds."""
    model, n = start()[0].model(), 20_000
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
def test_quantiles_of_mixtures(column):
    """Each column has those of its part."""
    sampler, _ = start()
    model = sampler.model()
    weights = np.array([[0.5, 0.2, 0.3], [0.0, 1.0, 0.0]])
    q = np.array([0.1, 0.4, 0.8])
    found = Mixture([weights], [model.marginals()]).quantiles(q)
    name, own = {0: ("bits", 1), 1: ("level", 0), 3: ("bits", 0)}[column]
    part = Mixture([weights], [model.models[name].marginals()])
    assert_allclose(found[:, column], part.quantiles(q)[:, own])
    means, variances = Mixture([weights], [model.marginals()]).moments()
    assert_allclose(means[:, column], part.moments()[0][:, own])
    assert_allclose(variances[:, column], part.moments()[1][:, own])


def test_fill():
    model = start()[0].model()
    weights = np.array([[0.5, 0.2, 0.3]] * len(ROWS))
    found = model.fill(ROWS, weights)
    seen = ~np.isnan(ROWS)
    np.testing.assert_array_equal(found[seen], ROWS[seen])
    means = model.marginals().means
    for t, d in np.argwhere(~seen):
        assert_allclose(found[t, d], weights[t] @ means[:, d])
