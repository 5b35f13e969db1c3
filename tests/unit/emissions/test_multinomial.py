"""Stored samples and input of rows of counts; results are in tests/exact."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from unit.sequence.hmm_models import quick

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import CollapsedEmission, MultinomialEmission
from skdp.emissions._discrete._event_marginals import Totals
from skdp.emissions._discrete._multinomial import MultinomialModel, list_events, summarize
from skdp.emissions._whole import Whole

RNG = np.random.default_rng(0)
PROBS = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
ROWS = [RNG.multinomial(6, PROBS[np.repeat([0, 1], 10)]).astype(float) for _ in range(4)]
TOTALS = Totals(np.array([6.0]), np.ones(1))


@pytest.mark.parametrize("concentrations", [None, np.array([3.0, 9.0])])
def test_models(concentrations):
    model = MultinomialModel(PROBS, TOTALS, concentrations)
    copied = pickle.loads(pickle.dumps(model))
    assert_array_equal(copied.log_obs(ROWS[0]), model.log_obs(ROWS[0]))
    order = np.array([1, 0])
    ordered = model.reorder(order)
    assert_array_equal(ordered.log_obs(ROWS[0]), model.log_obs(ROWS[0])[:, order])
    assert_array_equal(ordered.marginals().means, model.marginals().means[order])
    assert np.all(model.sample(np.array([0, 1, 1]), np.random.default_rng(0)).sum(axis=1) == 6.0)


def test_numbers_of_events():
    found = summarize(Whole(np.array([[3.0], [0.0], [np.nan], [3.0], [1.0]])))
    assert_array_equal(found.numbers, [0.0, 1.0, 3.0])
    assert_allclose(found.shares, [0.25, 0.25, 0.5])
    many = summarize(Whole(np.arange(5000.0)[:, np.newaxis]))
    assert len(many.numbers) == 100
    assert many.shares @ many.numbers == pytest.approx(2499.5, rel=0.01)
    assert_array_equal(summarize(Whole(np.empty((0, 1)))).numbers, [0.0])


def test_events_of_some_steps():
    rows = ROWS[0].copy()
    rows[3], rows[5] = np.nan, 0.0
    steps = np.array([5, 2, 3, 7, 0])
    some = list_events(rows).take(steps)
    for found, expected in zip(some, list_events(rows[steps]), strict=True):
        assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


def test_samplers_have_states_of_their_own():
    sampler = MultinomialEmission().make_sampler(ROWS[0], 3)
    assert isinstance(sampler, CollapsedEmission)
    sampler.attach(ROWS[0])
    rng = make_stream(make_seed_sequence(0))
    states = np.zeros(20, dtype=np.int64)
    sampler.start(states, rng)
    assert 0 <= states.min() < states.max() <= 2
    sampler.draw(states, rng)
    other = sampler.copy()
    before = other.log_probs.copy()
    sampler.draw(states, rng)
    assert_array_equal(other.log_probs, before)
    other.detach()
    assert "_events" not in vars(other)
    assert "_events" in vars(sampler)


def test_fits():
    first = quick(emission="multinomial").fit(ROWS)
    other = quick(emission=MultinomialEmission([0.1, 0.1, 0.1])).fit([x.astype(int) for x in ROWS])
    assert_array_equal(other.emission_.probs, first.emission_.probs)
    panel, _ = first.sample(5, random_state=0)
    assert_array_equal(panel.values.sum(axis=1), 6.0)
    ahead = first.forecast(ROWS[0], 2)
    assert_allclose(ahead.mean.sum(axis=1), 6.0)


def test_missing_steps():
    X = [x.copy() for x in ROWS]
    X[0][3:5] = np.nan
    estimator = quick(emission="multinomial", n_components=9, max_iter=60).fit(X)
    filled = estimator.impute(X)
    assert_allclose(filled[0][3:5].sum(axis=1), 6.0)
    assert np.abs(filled[0][3:5] - 6.0 * PROBS[0]).max() < 1.5
    assert estimator.score(X) == pytest.approx(estimator.score_samples(X).sum() / 78)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1.0, "X must hold counts.*got -1 in column 2 at step 23, counted through all"),
        (0.5, "got 0.5 in column 2 at step 23"),
        (1e17, r"integers from 0 to 9.0072e\+15.*got 1e\+17"),
        (np.nan, "missing in part at step 23, .* column 2: its number of events is unknown"),
    ],
)
def test_what_is_no_row_of_counts_is_named(value, message):
    X = [x.copy() for x in ROWS]
    X[1][3, 2] = X[1][4, 0] = value
    with pytest.raises(ValueError, match=message):
        quick(emission="multinomial").fit(X)
    with pytest.raises(ValueError, match=message):
        quick(emission="multinomial").fit(ROWS).score(X)


@pytest.mark.parametrize("prior", [[1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 1.0, np.nan], ["a"]])
def test_priors(prior):
    with pytest.raises(ValueError, match="MultinomialEmission: prior must"):
        quick(emission=MultinomialEmission(prior)).fit(ROWS)
    with pytest.raises(ValueError, match="'prior' parameter of MultinomialEmission"):
        quick(emission=MultinomialEmission(0.0)).fit(ROWS)


def test_names_of_hmmlearn():
    model = quick(emission="multinomial").fit(ROWS).emission_
    assert_array_equal(model.emissionprob_, model.probs)
    with pytest.raises(ValueError, match="read-only"):
        model.emissionprob_[0, 0] = 1.0
