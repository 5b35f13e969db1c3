"""Samplers of the probabilities of symbols: parameters, first states, fits."""

import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import TokenSequences
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.emissions._discrete._symbols import as_symbols
from skdp.emissions._first_states import MEAN_RUN
from skdp.sequence import HDPHMMLT, CategoricalEmission

SYMBOLS = np.array([[0.0], [2.0], [2.0], [1.0], [0.0], [2.0]])
RNG = np.random.default_rng(0)
SEQUENCES = [RNG.choice(6, size=(20, 1), p=RNG.dirichlet(np.ones(6))) for _ in range(8)]


def start(n_steps, n_states, seed=0):
    sampler = CategoricalEmission(2).make_sampler(np.zeros((n_steps, 1)), n_states)
    states = np.full(n_steps, -1, dtype=np.int64)
    sampler.start(states, make_stream(make_seed_sequence(seed)))
    return states


def test_first_states_come_in_runs():
    """A step begins a run with probability 1/3, and the new state is another in 19 of 20 cases.

    5 standard errors of the share of changes: a false alarm for one seed in 2 million. Of 30,000
    steps a state has 1,500, with a standard error below 90.
    """
    n_steps, n_states = 30_000, 20
    states = start(n_steps, n_states)
    expected = (1.0 - 1.0 / n_states) / MEAN_RUN
    error = (expected * (1.0 - expected) / n_steps) ** 0.5
    assert abs(np.mean(states[1:] != states[:-1]) - expected) < 5.0 * error
    assert np.all(np.abs(np.bincount(states, minlength=n_states) - n_steps / n_states) < 450)


def test_first_states_of_a_short_panel():
    """The first step begins a run: not all chains begin with state 0."""
    assert len({int(start(1, 5, seed)[0]) for seed in range(20)}) == 5


def sampler_of(**params):
    return CategoricalEmission(**params).make_sampler(SYMBOLS, 3)


@pytest.mark.parametrize("prior", [0.3, np.array([0.3, 0.1, 2.0])])
def test_known_parameters(prior):
    sampler = sampler_of(prior=prior, concentration_prior=(3.0, 2.0))
    assert_array_equal(sampler.prior, np.full(3, prior))
    assert sampler.concentration_prior is None
    assert sampler.scalars() == {}
    sampler.attach(SYMBOLS)
    sampler.draw(np.zeros(6, dtype=np.int64), make_stream(make_seed_sequence(0)))
    assert_array_equal(sampler.prior, np.full(3, prior))
    assert sampler.model().concentration == pytest.approx(np.full(3, prior).sum())


def test_base_of_a_known_prior():
    """The mean parameter of a symbol is the prior; what a base is multiplied by does not matter."""
    for scale in (1e-200, 0.1, 1.0, 1e300):
        sampler = sampler_of(prior=0.5, base=scale * np.array([1.0, 2.0, 3.0]))
        assert_allclose(sampler.prior, [0.25, 0.5, 0.75])
    assert_allclose(sampler_of(prior=0.5, base="empirical").prior, 0.5 * np.array([3, 2, 4]) / 3.0)
    sampler = sampler_of(n_symbols=4, prior=1.0, base="empirical")
    assert_allclose(sampler.prior, 4.0 * np.array([3, 2, 4, 1]) / 10.0)


def test_start_of_a_drawn_concentration():
    sampler = CategoricalEmission(16).make_sampler(SYMBOLS, 3)
    assert_allclose(sampler.prior, 0.25)
    assert sampler.concentration_prior == (1.0, 0.1)
    assert sampler.scalars() == {"emission_concentration": pytest.approx(4.0)}


def test_a_held_concentration_stays():
    sampler = sampler_of()
    sampler.attach(SYMBOLS)
    rng, states = make_stream(make_seed_sequence(0)), np.zeros(6, dtype=np.int64)
    before = sampler.prior
    sampler.held = True
    sampler.draw(states, rng)
    assert_array_equal(sampler.prior, before)
    other = sampler.copy()
    sampler.held = False
    sampler.draw(states, rng)
    assert sampler.concentration != other.concentration
    assert_array_equal(other.prior, before)


def test_extremes():
    """Counts that would drive the concentration to 0 or infinity; one symbol; no steps at all."""
    rng = make_stream(make_seed_sequence(0))
    for n_symbols, values in (
        (1, np.zeros((50, 1))),
        (1000, np.zeros((5000, 1))),
        (2, np.arange(5000.0).reshape(-1, 1) % 2),
        (3, np.zeros((0, 1))),
    ):
        for prior in ((1e-8, 1e-8), (1e8, 1.0), (1.0, 1e8)):
            emission = CategoricalEmission(n_symbols, concentration_prior=prior)
            sampler = emission.make_sampler(values, 2)
            sampler.attach(values)
            for _ in range(50):
                sampler.draw(np.arange(len(values)) // 2 % 2, rng)
                assert np.isfinite(sampler.log_evidence())
                assert np.all(np.isfinite(sampler.log_probs))
                assert 1e-9 < sampler.prior[0] < 1e9
            assert_allclose(sampler.model().probs.sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"prior": "foo"}, "'prior' parameter of CategoricalEmission must be a str among {'auto'}"),
        ({"prior": [1.0, 1.0]}, "prior must be 'auto', a positive number or 3 of them"),
        ({"prior": -1.0}, "'prior' parameter"),
        ({"base": "foo"}, "'base' parameter of CategoricalEmission must be a str among"),
        ({"base": [0.5, 0.5]}, "base must be 'uniform', 'empirical' or 3 positive numbers"),
        ({"base": [[1.0, 1.0, 1.0]]}, "base must be .* 3 positive numbers"),
        ({"base": [0.5, -0.5, 1.0]}, "base must be .* 3 positive numbers"),
        ({"base": [0.0, 0.0, 0.0]}, "base must be .* 3 positive numbers"),
        ({"base": [1.0, np.nan, 1.0]}, "base must be .* 3 positive numbers"),
        ({"base": [1.0, np.inf, 1.0]}, "base must be .* 3 positive numbers"),
        ({"base": ["a", "b", "c"]}, "base must hold real numbers"),
        ({"base": [1.0, 1e-12, 1.0]}, "base differs too much between symbols"),
        ({"prior": [1.0, 1.0, 1.0], "base": "empirical"}, "Leave base='uniform', or give"),
        ({"base": "empirical", "n_symbols": 2}, "from 0 to 1; got 2"),
        ({"concentration_prior": (1.0,)}, "concentration_prior must be two positive numbers"),
        ({"concentration_prior": (1.0, 0.0)}, "concentration_prior must be two positive numbers"),
        ({"concentration_prior": (-1.0, 1.0)}, "concentration_prior must be two positive numbers"),
        ({"concentration_prior": ("a", 1.0)}, "concentration_prior must be two positive numbers"),
        ({"concentration_prior": 1.0}, "'concentration_prior' parameter"),
    ],
)
def test_wrong_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        sampler_of(**params)


# Fits


def fit(**params):
    settings = {"max_iter": 24, "n_samples": 4, "random_state": 0, **params}
    return HDPHMMLT(4, **settings).fit(SEQUENCES)


def test_stored_samples_have_the_concentration():
    model = fit(emission="categorical", max_iter=60)
    trace = model.trace_["emission_concentration"][0]
    found = [sample.emission.concentration for sample in model.samples_]
    assert set(np.round(found, 9)) <= set(np.round(trace, 9))
    assert len(set(found)) == len(found) == 4
    best = np.argmax(model.trace_["log_joint"][0])
    assert model.emission_.concentration in found
    assert len(trace) > best >= 0
    reordered = model.emission_.reorder(np.array([3, 1, 0, 2]))
    assert reordered.concentration == model.emission_.concentration


def test_the_sampler_holds_the_concentration():
    """As long as other concentrations; then it is drawn in every sweep."""
    model = HDPHMMLT(4, emission="categorical", max_iter=40, random_state=0)
    alphas, concentrations = [], []
    for state in model.iter_sweeps(SEQUENCES):
        alphas.append(state.transition_concentration)
        concentrations.append(state.emission.concentration)
    n_frozen = sum(np.array(alphas) == alphas[0])
    assert n_frozen == 10
    assert_allclose(concentrations[:n_frozen], 6.0**0.5)
    assert len(set(concentrations)) == 31


def test_a_known_prior_leaves_no_trace():
    assert "emission_concentration" not in fit(emission=CategoricalEmission(prior=0.1)).trace_


def test_fits_can_be_pickled_and_continued():
    model = fit(emission=CategoricalEmission(base="empirical"), warm_start=True)
    other = pickle.loads(pickle.dumps(model))
    assert other.score(SEQUENCES) == model.score(SEQUENCES)
    for each in (model, other):
        each.set_params(max_iter=30).fit(SEQUENCES)
    assert other.trace_ == model.trace_


def test_words_are_symbols():
    X = TokenSequences.from_sequences([[0, 1, 1], [4, 1, 0, 0]], n_features=6)
    model = HDPHMMLT(2, emission="categorical", max_iter=6, random_state=0).fit(X)
    assert model.emission_.probs.shape == (2, 6)
    assert_allclose(model.emission_.probs.sum(axis=1), 1.0, rtol=1e-6)


def test_search_over_priors():
    model = HDPHMMLT(3, emission=CategoricalEmission(6), max_iter=10, random_state=0)
    grid = {"emission__prior": ["auto", 0.02, np.full(6, 0.5)], "emission__base": ["uniform"]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(SEQUENCES)
    assert len(set(search.cv_results_["mean_test_score"])) == 3
    by_name = HDPHMMLT(3, emission="categorical").set_params(emission__prior=0.3)
    assert by_name.emission.prior == 0.3


@pytest.mark.parametrize(
    ("n_symbols", "wrong", "message"),
    [
        (None, 2.0**31, "integers from 0 to 2147483647; got 2147483648."),
        (None, 2.0**53 + 2, "integers from 0 to 2147483647; got 9007199254740994."),
        (None, -3.0, "integers from 0; got -3."),
        (20_000_000, 20_000_000, "integers from 0 to 19999999; got 20000000."),
    ],
)
def test_messages_have_all_digits(n_symbols, wrong, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        as_symbols(np.array([[0.0], [wrong]]), n_symbols)


def test_names_of_hmmlearn():
    model = CategoricalModel(np.array([[0.2, 0.8], [0.5, 0.5]]))
    assert_array_equal(model.emissionprob_, model.probs)
    with pytest.raises(ValueError, match="read-only"):
        model.emissionprob_[0, 0] = 1.0


def test_a_huge_concentration_is_no_common_distribution():
    """With many symbols and such a prior, a drawn concentration would reach its mark."""
    rng = make_stream(make_seed_sequence(0))
    X = np.random.default_rng(0).integers(100, size=(40, 1)).astype(float)
    emission = CategoricalEmission(100, concentration_prior=(50.0, 1e-8))
    sampler = emission.make_sampler(X, 1)
    sampler.attach(X)
    sampler.may_be_alike = True
    given = sampler.restrict(np.arange(40), 2)
    given.condition(np.arange(40) % 2)
    for _ in range(40):
        sampler.draw_shared_given(given, rng, 400.0)
        is_uniform = np.ptp(sampler.prior) < 1e-6 * sampler.prior[0]
        assert sampler.differs == is_uniform
