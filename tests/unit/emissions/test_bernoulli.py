"""Stored samples and input of binary columns; results are in tests/exact."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from unit.sequence.hmm_models import quick

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import BernoulliEmission, CollapsedEmission
from skdp.emissions._discrete._bernoulli import BernoulliModel

RNG = np.random.default_rng(0)
PROBS = np.array([[0.9, 0.1, 0.5, 0.9, 0.1], [0.1, 0.9, 0.5, 0.1, 0.9]])
BITS = [(RNG.random((20, 5)) < PROBS[np.repeat([0, 1], 10)]).astype(float) for _ in range(4)]


def test_models():
    model = BernoulliModel(PROBS)
    bits = BITS[0].copy()
    bits[2, 1] = np.nan
    copied = pickle.loads(pickle.dumps(model))
    assert_array_equal(copied.log_obs(bits), model.log_obs(bits))
    order = np.array([1, 0])
    assert_array_equal(model.reorder(order).log_obs(bits), model.log_obs(bits)[:, order])


def test_marginals():
    marginals = BernoulliModel(PROBS).marginals()
    assert_array_equal(marginals.means, PROBS)
    assert_allclose(marginals.variances, PROBS * (1.0 - PROBS))
    assert marginals.is_discrete(3)
    x = np.array([-1.0, 0.0, 1.0])
    for part, probs in ((marginals, PROBS), (marginals.take([1]), PROBS[1:])):
        expected = [0.0 * probs[:, 3], 1.0 - probs[:, 3], 1.0 + 0.0 * probs[:, 3]]
        assert_allclose(part.cdf(x, 3), expected)


def test_fill():
    bits, weights = np.array([[np.nan, 1.0, 0.0, np.nan, 1.0]]), np.array([[0.3, 0.7]])
    filled = BernoulliModel(PROBS).fill(bits, weights)
    assert_allclose(filled, [[0.34, 1.0, 0.0, 0.34, 1.0]])


def test_samplers_have_states_of_their_own():
    sampler = BernoulliEmission().make_sampler(BITS[0], 3)
    assert isinstance(sampler, CollapsedEmission)
    sampler.attach(BITS[0])
    rng = make_stream(make_seed_sequence(0))
    states = np.zeros(20, dtype=np.int64)
    sampler.start(states, rng)
    assert 0 <= states.min() < states.max() <= 2
    assert np.count_nonzero(np.diff(states)) < 12  # in runs
    sampler.draw(states, rng)
    other = sampler.copy()
    before = other.log_probs.copy()
    sampler.draw(states, rng)
    assert_array_equal(other.log_probs, before)
    other.detach()
    assert "_places" not in vars(other)
    assert "_places" in vars(sampler)


def test_bits_of_all_kinds():
    """Numbers, truth values, lists; the name stands for the defaults."""
    first = quick(emission="bernoulli").fit(BITS)
    for X in ([x.astype(bool) for x in BITS], [x.astype(int).tolist() for x in BITS]):
        other = quick(emission=BernoulliEmission()).fit(X)
        assert_array_equal(other.emission_.probs, first.emission_.probs)
        assert first.score(X) == other.score(BITS)
    estimator = clone(quick(emission="bernoulli")).set_params(emission__prior=(2.0, 3.0))
    assert estimator.emission.prior == (2.0, 3.0)


def test_missing_values():
    X = [x.copy() for x in BITS]
    X[0][3] = np.nan
    X[1][5:8, 0] = np.nan
    estimator = quick(emission="bernoulli", max_iter=60).fit(X)
    filled = estimator.impute(X)
    assert not np.isnan(np.vstack(filled)).any()
    assert np.abs(filled[1][5:8, 0] - 0.9).max() < 0.3
    logs = estimator.score_samples(X)
    assert estimator.score(X) == pytest.approx(logs.sum() / 79)
    ahead = estimator.forecast(X[0], 2)
    assert_allclose(ahead.sd, np.sqrt(ahead.mean * (1.0 - ahead.mean)))
    assert set(np.unique(ahead.quantiles)) <= {0.0, 1.0}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2.0, "got 2 in column 1 at step 23, counted through all sequences"),
        (0.5, "got 0.5 in column 1 at step 23"),
        (-1.0, "got -1 in column 1 at step 23"),
    ],
)
def test_what_is_no_bit_is_named(value, message):
    X = [x.copy() for x in BITS]
    X[1][3, 1] = X[1][4, 0] = value
    with pytest.raises(ValueError, match=f"X must hold 0 and 1.*{message}"):
        quick(emission="bernoulli").fit(X)
    with pytest.raises(ValueError, match=message):
        quick(emission="bernoulli").fit(BITS).score(X)


@pytest.mark.parametrize("prior", [(0.0, 1.0), (1.0,), (1.0, np.nan), (1e-20, 1.0), [1.0, "a"]])
def test_priors(prior):
    with pytest.raises(ValueError, match="BernoulliEmission: prior must be two positive numbers"):
        quick(emission=BernoulliEmission(prior)).fit(BITS)
    with pytest.raises(ValueError, match="'prior' parameter of BernoulliEmission"):
        quick(emission=BernoulliEmission(1.0)).fit(BITS)
