"""Columns of 0 and 1 against the formulas of their conjugate prior, and sums over all rows."""

from itertools import product

import numpy as np
import pytest
from exact.oracles.events import log_bit_evidence
from numpy.testing import assert_allclose
from scipy import integrate, stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import BernoulliEmission
from skdp.emissions._discrete._bernoulli import BernoulliModel

NAN = np.nan
PRIOR = 0.7, 1.6
N_STATES, N_DRAWS = 4, 20_000  # the last state is never used
STATES = np.array([0, 0, 1, 0, 2, 1, 0, 1])


def make_bits(n_columns, gaps=True):
    rng = np.random.default_rng(n_columns)
    bits = (rng.random((len(STATES), n_columns)) < 0.6).astype(float)
    if gaps:
        bits[rng.random(bits.shape) < 0.2] = NAN
        bits[3] = NAN
    return bits


def start(bits, prior=PRIOR):
    sampler = BernoulliEmission(prior).make_sampler(bits, N_STATES)
    sampler.attach(bits)
    rng = make_stream(make_seed_sequence(0))
    sampler.draw(STATES, rng)
    return sampler, rng


def expected_log_obs(bits, probs):
    terms = stats.bernoulli.logpmf(np.nan_to_num(bits)[:, np.newaxis], probs)
    return np.where(np.isnan(bits)[:, np.newaxis], 0.0, terms).sum(axis=2)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 5, 11])
def test_log_probabilities(n_columns):
    bits = make_bits(n_columns)
    sampler, _ = start(bits)
    probs = np.exp(sampler.log_probs[1::2]).T
    assert_allclose(np.exp(sampler.log_probs[0:-1:2]).T, 1.0 - probs, atol=1e-12)
    out = np.empty((len(bits), N_STATES))
    sampler.write_log_obs(out)
    assert_allclose(out, expected_log_obs(bits, probs), rtol=1e-10, atol=1e-12)
    known = BernoulliModel(probs)
    assert_allclose(known.log_obs(bits), out, rtol=1e-10, atol=1e-12)


def test_posterior():
    """Kolmogorov-Smirnov tests of eight probabilities: false alarms in 1e-5 seeds."""
    bits = make_bits(2)
    sampler, rng = start(bits)
    draws = np.empty((N_DRAWS, 2, N_STATES))
    for i in range(N_DRAWS):
        sampler.draw(STATES, rng)
        draws[i] = np.exp(sampler.log_probs[1::2])
    for j in range(N_STATES):
        for d in range(2):
            own = bits[j == STATES, d]
            ones, zeros = np.sum(own == 1.0), np.sum(own == 0.0)
            posterior = stats.beta(PRIOR[0] + ones, PRIOR[1] + zeros)
            assert stats.kstest(draws[:, d, j], posterior.cdf).pvalue > 1e-6
            assert_allclose(sampler.model().probs[j, d], posterior.mean())


def test_evidence():
    bits = make_bits(3)
    expected = sum(log_bit_evidence(bits[j == STATES], PRIOR) for j in range(N_STATES))
    assert_allclose(start(bits)[0].log_evidence(), expected)


def test_evidence_by_quadrature():
    bits = make_bits(1, gaps=False)
    total = 0.0
    for j in range(3):
        own = bits[j == STATES, 0]

        def joint(p, own=own):
            return stats.beta.pdf(p, *PRIOR) * stats.bernoulli.pmf(own, p).prod()

        total += np.log(integrate.quad(joint, 0.0, 1.0, limit=500)[0])
    assert_allclose(start(bits)[0].log_evidence(), total, rtol=1e-6)


def test_steps_of_no_state():
    """Their evidence is that of the others, and the next bit has the probability they teach."""
    bits = make_bits(3)
    sampler, _ = start(bits)
    some = np.array([0, 2, 4, 5, 6, 7])
    part = sampler.restrict(some, 2)
    states = np.array([0, 1, -1, 1, 0, -1])
    part.condition(states)
    expected = sum(log_bit_evidence(bits[some][states == j], PRIOR) for j in range(2))
    assert_allclose(part.log_evidence(), expected)
    out = np.empty((len(some), 2))
    part.write_log_predictive(out)
    for j in range(2):
        own = bits[some][states == j]
        for t, x in enumerate(bits[some]):
            ratio = log_bit_evidence([*own, x], PRIOR) - log_bit_evidence(own, PRIOR)
            assert_allclose(out[t, j], ratio, atol=1e-12)


def test_predictive_is_a_ratio_of_evidences_and_sums_to_one():
    bits = make_bits(3)
    model = start(bits)[0].model()
    rows = np.array(list(product([0.0, 1.0], repeat=3)))
    found = model.log_obs(rows)
    assert_allclose(np.exp(found).sum(axis=0), 1.0)
    for j in range(N_STATES):
        own = bits[j == STATES]
        before = log_bit_evidence(own, PRIOR)
        expected = [log_bit_evidence([*own, x], PRIOR) - before for x in rows]
        assert_allclose(found[:, j], expected)


def test_extreme_probabilities():
    """A prior that is all but certain, and what it all but excludes."""
    sampler, _ = start(np.ones((8, 1)), (1e-8, 1e-8))
    found = sampler.model().log_obs(np.array([[1.0], [0.0]]))[:, 0]
    assert_allclose(found, [-1e-8 / 4.0, np.log(1e-8 / 4.0)], rtol=1e-7)
    certain = BernoulliModel(np.array([[0.0, 1.0]]))
    found = certain.log_obs(np.array([[0.0, 1.0], [1.0, 1.0], [NAN, 1.0], [NAN, NAN]]))
    assert_allclose(found[:, 0], [0.0, -np.inf, 0.0, 0.0])


def test_draws_follow_their_probabilities():
    """|z| < 5 for 20 figures: a false alarm in 1e-5 seeds."""
    probs = np.array([[0.1, 0.5, 0.97, 0.3], [0.6, 0.02, 0.5, 1.0]])
    n = 20_000
    for j in range(2):
        x = BernoulliModel(probs).sample(np.full(n, j), np.random.default_rng(j))
        error = np.sqrt(probs[j] * (1.0 - probs[j]) / n)
        assert np.all(np.abs(x.mean(axis=0) - probs[j]) <= 5.0 * error)
        correlations = x[:, :3].T @ x[:, :3] / n - np.outer(probs[j, :3], probs[j, :3])
        assert np.abs(correlations[np.triu_indices(3, 1)]).max() < 5.0 * 0.25 / np.sqrt(n)
