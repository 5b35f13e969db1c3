"""Samplers of durations; their distributions are in tests/exact."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence import NegativeBinomialDuration, PoissonDuration

PTR = np.array([0, 6, 6, 9])
STATES = np.array([0, 0, 1, 1, 1, 0, 2, 2, 2])
DURATIONS = [PoissonDuration(max_duration=3), NegativeBinomialDuration(max_duration=3)]

every_duration = pytest.mark.parametrize("duration", DURATIONS, ids=["poisson", "nb"])


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def started(duration, n_states=4):
    sampler, rng = duration.make_sampler(n_states), stream()
    sampler.start(rng)
    sampler.draw(PTR, STATES, rng)
    return sampler


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
    sampler.draw(np.array([0, 9]), np.repeat([0, 1], [5, 4]), stream())
    # Longer runs count as the longest.
    assert sampler.at_least.tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert not sampler.exact.any()


@every_duration
def test_model(duration):
    model = started(duration).model()
    log_pmf, log_survival = model.tables()
    assert_allclose(np.exp(log_pmf).sum(axis=1), 1.0)
    assert_allclose(log_survival[:, 0], 0.0, atol=1e-12)
    assert_allclose(np.exp(log_survival[:, 1:]), 1.0 - np.exp(log_pmf[:, :-1]).cumsum(1))
    order = np.array([2, 0, 3, 1])
    assert_array_equal(model.reorder(order).tables()[0], log_pmf[order])
    # 20,000 draws for each state: 6 standard errors for each of 12 frequencies.
    draws = model.sample(np.repeat(np.arange(4), 20_000), np.random.default_rng(0))
    for p, own in zip(np.exp(log_pmf), draws.reshape(4, -1), strict=True):
        found = np.bincount(own, minlength=4)[1:] / 20_000
        assert np.all(np.abs(found - p) < 6.0 * np.sqrt(p * (1.0 - p) / 20_000) + 1e-4)


ENDS = [
    *(PoissonDuration(a, b) for a in (1e-8, 1e8) for b in (1e-8, 1e8)),
    *(NegativeBinomialDuration(1, (a, b)) for a in (1e-8, 1.0, 1e8) for b in (1e-8, 1e8)),
    NegativeBinomialDuration(2, (1e8, 1e-8)),
    NegativeBinomialDuration(100_000, (1e8, 1e-8)),
    NegativeBinomialDuration(100_000, (1e-8, 1.0)),
    PoissonDuration(1.0, 1e-8, 50),
    PoissonDuration(1e5, 1.0, 50),
    NegativeBinomialDuration(40, (1e-2, 1e-2), 50),
    NegativeBinomialDuration(2, (1e4, 1e-2), 50),
]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("duration", ENDS, ids=str)
def test_extreme_priors(duration):
    """Means and probabilities become as large as they can; durations are drawn all the same."""
    sampler, rng = started(duration, n_states=20), stream(1)
    n_draws = 20 if getattr(duration, "n_phases", 1) < 1000 else 1  # many phases take long
    for _ in range(n_draws):
        log_pmf, log_survival = sampler.tables()
        assert not np.isnan(log_pmf).any()
        assert not np.isnan(log_survival).any()
        assert_allclose(np.exp(log_pmf).sum(axis=1), 1.0)
        assert np.all(log_survival[:, 0] > -1e-9)
        sampler.draw(PTR, STATES, rng)
        assert np.isfinite(sampler.totals).all()
        assert np.isfinite(sampler.log_density())
    model = sampler.model()
    assert_allclose(np.exp(model.tables()[0]).sum(axis=1), 1.0)
    drawn = model.sample(np.arange(20).repeat(5), np.random.default_rng(0))
    assert drawn.min() >= 1
    assert drawn.max() <= duration.max_duration
