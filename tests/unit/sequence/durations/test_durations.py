"""Samplers of durations; their distributions are in tests/exact."""

import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence import NegativeBinomialDuration, PoissonDuration

PTR = np.array([0, 6, 6, 9])
STATES = np.array([0, 0, 1, 1, 1, 0, 2, 2, 2])
DURATIONS = [PoissonDuration(max_duration=3), NegativeBinomialDuration(max_duration=3)]

every_duration = pytest.mark.parametrize("duration", DURATIONS, ids=["poisson", "nb"])


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def started(duration, n_states=4):
    sampler = duration.make_sampler(n_states)
    rng = stream()
    sampler.start(rng)
    sampler.draw(PTR, STATES, rng)
    return sampler


def tables(sampler):
    return np.array(sampler.tables())


@pytest.mark.parametrize(
    ("duration", "message"),
    [
        (PoissonDuration(shape=0.0), "'shape' parameter of PoissonDuration"),
        (PoissonDuration(rate=-1.0), "'rate' parameter of PoissonDuration"),
        (PoissonDuration(max_duration=0), "'max_duration' parameter of PoissonDuration"),
        (PoissonDuration(max_duration=2.5), "'max_duration' parameter of PoissonDuration"),
        (NegativeBinomialDuration(n_phases=0), "'n_phases' parameter of Negative"),
        (NegativeBinomialDuration(n_phases=1.5), "'n_phases' parameter of Negative"),
        (NegativeBinomialDuration(max_duration=0), "'max_duration' parameter of Negative"),
        (NegativeBinomialDuration(prior=1.0), "'prior' parameter of Negative"),
        (NegativeBinomialDuration(prior=(1.0,)), "prior must be two positive numbers"),
        (NegativeBinomialDuration(prior=(0.0, 1.0)), "prior must be two positive numbers"),
        (NegativeBinomialDuration(prior=(1.0, np.nan)), "prior must be two positive numbers"),
    ],
)
def test_bad_parameters(duration, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        duration.make_sampler(3)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    "duration",
    [
        *(PoissonDuration(a, b) for a in (1e-8, 1e8) for b in (1e-8, 1e8)),
        *(
            NegativeBinomialDuration(n_phases, (a, b))
            for n_phases in (1, 2, 100_000)
            for a in (1e-8, 1.0, 1e8)
            for b in (1e-8, 1e8)
        ),
    ],
    ids=str,
)
def test_priors_at_the_ends_of_their_range(duration):
    """Means and probabilities become as large as they can; durations are drawn all the same."""
    model = started(duration, n_states=3).model()
    log_pmf, log_survival = model.tables()
    assert np.all(log_survival[:, 0] > -1e-9)
    np.testing.assert_allclose(np.exp(log_pmf).sum(axis=1), 1.0, atol=1e-6)
    drawn = model.sample(np.arange(3).repeat(5), np.random.default_rng(0))
    assert drawn.min() >= 1
    assert drawn.max() <= duration.max_duration


@every_duration
def test_parameters_are_only_assigned(duration):
    assert clone(duration).get_params() == duration.get_params()


@every_duration
def test_segments_are_counted(duration):
    sampler = started(duration)
    assert sampler.exact.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    # One that the end cuts off after a step, two that lasted as long as can be.
    assert sampler.at_least.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]]
    assert sampler.counts.tolist() == [2.0, 1.0, 1.0, 0.0]
    assert sampler.totals[0] >= 1.0
    assert sampler.totals[1:].tolist() == pytest.approx(sampler.totals[1:].round().tolist())
    assert min(sampler.totals[1:3]) >= 2.0
    assert sampler.scalars() == {"mean_duration": 9 / 4, "longest_share": 6 / 9}


@every_duration
def test_longer_runs_count_as_the_longest(duration):
    sampler = duration.make_sampler(2)
    rng = stream()
    sampler.start(rng)
    sampler.draw(np.array([0, 9]), np.array([0, 0, 0, 0, 0, 1, 1, 1, 1]), rng)
    assert sampler.at_least.tolist() == [[0, 0, 1], [0, 0, 1]]
    assert not sampler.exact.any()


@every_duration
def test_copies_and_pickles(duration):
    sampler = started(duration)
    expected, density = tables(sampler), sampler.log_density()
    copies = [sampler.copy(), pickle.loads(pickle.dumps(sampler))]
    sampler.draw(PTR, STATES[::-1].copy(), stream(1))
    for copy in copies:
        assert_array_equal(tables(copy), expected)
        assert copy.log_density() == density
        copy.draw(PTR, STATES[::-1].copy(), stream(1))
        assert_array_equal(tables(copy), tables(sampler))


@every_duration
def test_model(duration):
    model = started(duration).model()
    log_pmf, log_survival = model.tables()
    np.testing.assert_allclose(np.exp(log_pmf).sum(axis=1), 1.0)
    np.testing.assert_allclose(log_survival[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.exp(log_survival[:, 1:]), 1.0 - np.exp(log_pmf[:, :-1]).cumsum(1))
    order = np.array([2, 0, 3, 1])
    assert_array_equal(model.reorder(order).tables()[0], log_pmf[order])
    # 20,000 draws for each state: 6 standard errors for each of 12 frequencies.
    draws = model.sample(np.repeat(np.arange(4), 20_000), np.random.default_rng(0))
    for j in range(4):
        found = np.bincount(draws[20_000 * j : 20_000 * (j + 1)], minlength=4)[1:] / 20_000
        p = np.exp(log_pmf[j])
        assert np.all(np.abs(found - p) < 6.0 * np.sqrt(p * (1.0 - p) / 20_000) + 1e-4)


def test_posterior_means():
    sampler = started(PoissonDuration(2.0, 0.5, 3))
    expected = (2.0 + sampler.totals) / (0.5 + sampler.counts)
    np.testing.assert_allclose(sampler.model().means, expected)
    sampler = started(NegativeBinomialDuration(3, (2.0, 5.0), 3))
    expected = (2.0 + sampler.totals) / (7.0 + sampler.totals + 3.0 * sampler.counts)
    np.testing.assert_allclose(sampler.model().probs, expected)


@pytest.mark.parametrize(
    "duration",
    [
        PoissonDuration(1e-3, 1e-3, 50),
        PoissonDuration(1.0, 1e-8, 50),
        PoissonDuration(1e5, 1.0, 50),
        NegativeBinomialDuration(1, (1e-3, 1e-3), 50),
        NegativeBinomialDuration(40, (1e-2, 1e-2), 50),
        NegativeBinomialDuration(2, (1e4, 1e-2), 50),
    ],
)
def test_extreme_priors(duration):
    """Draws and tables stay numbers where means are far below or above the longest duration."""
    rng = stream()
    sampler = duration.make_sampler(20)
    sampler.start(rng)
    for _ in range(50):
        log_pmf, log_survival = tables(sampler)
        assert not np.isnan(log_pmf).any()
        assert not np.isnan(log_survival).any()
        np.testing.assert_allclose(np.exp(log_pmf).sum(axis=1), 1.0)
        sampler.draw(PTR, STATES, rng)
        assert np.isfinite(sampler.totals).all()
        assert np.isfinite(sampler.log_density())


def test_other_durations_of_unused_states_come_from_the_prior():
    """4,000 means of Gamma(2, 0.5) draws: 6 standard errors."""
    sampler = PoissonDuration(2.0, 0.5).make_sampler(4000)
    sampler.start(stream())
    sampler.draw(PTR, STATES, stream(1))
    means = np.exp(sampler.log_means[3:])
    assert abs(means.mean() - 4.0) < 6.0 * np.sqrt(8.0 / 4000)
