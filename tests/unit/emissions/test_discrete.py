"""Bits, counts, symbols and rows of counts: priors, first states and fits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from unit.emissions.helpers import Parts, stream
from unit.sequence.hmm_models import quick

from skdp.emissions import CategoricalEmission, PoissonEmission
from skdp.emissions._common._columns import InMemoryRows
from skdp.emissions._common._protocol import MEAN_RUN
from skdp.emissions._discrete._multinomial import list_events, summarize
from skdp.mixture import DPMixture, PitmanYorMixture
from skdp.sequence import HDPHMMLT

RNG = np.random.default_rng(0)
HALVES = np.repeat([0, 1], 10)
PROBS = np.array([[0.9, 0.1, 0.5, 0.9, 0.1], [0.1, 0.9, 0.5, 0.1, 0.9]])
BITS = [(RNG.random((20, 5)) < PROBS[HALVES]).astype(float) for _ in range(4)]
CHANCES = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
ROWS = [RNG.multinomial(6, CHANCES[HALVES]).astype(float) for _ in range(4)]
SYMBOLS = np.array([[0.0], [2.0], [2.0], [1.0], [0.0], [2.0]])
SEQUENCES = [RNG.choice(6, size=(20, 1), p=RNG.dirichlet(np.ones(6))) for _ in range(8)]


# Bits and rows of counts


def test_truth_values_are_bits():
    first, other = (quick(emission="bernoulli").fit(X) for X in (BITS, [x > 0.5 for x in BITS]))
    assert_array_equal(other.emission_.probs, first.emission_.probs)


def test_missing_bits():
    X = [x.copy() for x in BITS]
    X[0][3] = np.nan
    X[1][5:8, 0] = np.nan
    estimator = quick(emission="bernoulli", max_iter=60).fit(X)
    filled = estimator.impute(X)
    assert not np.isnan(np.vstack(filled)).any()
    assert np.abs(filled[1][5:8, 0] - 0.9).max() < 0.3
    assert estimator.score(X) == pytest.approx(estimator.score_samples(X).sum() / 79)
    ahead = estimator.forecast(X[0], 2)
    assert_allclose(ahead.sd, np.sqrt(ahead.mean * (1.0 - ahead.mean)))
    assert set(np.unique(ahead.quantiles)) <= {0.0, 1.0}


def test_missing_rows_of_counts():
    """What is drawn and expected has as many events as the rows of the fit."""
    X = [x.copy() for x in ROWS]
    X[0][3:5] = np.nan
    estimator = quick(emission="multinomial", n_components=9, max_iter=60).fit(X)
    filled = estimator.impute(X)
    assert np.abs(filled[0][3:5] - 6.0 * CHANCES[0]).max() < 1.5
    assert_allclose(filled[0][3:5].sum(axis=1), 6.0)
    assert_array_equal(estimator.sample(5, random_state=0)[0].values.sum(axis=1), 6.0)
    assert_allclose(estimator.forecast(X[0], 2).mean.sum(axis=1), 6.0)
    assert estimator.score(X) == pytest.approx(estimator.score_samples(X).sum() / 78)


def test_numbers_of_events():
    found = summarize(InMemoryRows(np.array([[3.0], [0.0], [np.nan], [3.0], [1.0]])))
    assert_array_equal(found.numbers, [0.0, 1.0, 3.0])
    assert_allclose(found.shares, [0.25, 0.25, 0.5])
    many = summarize(InMemoryRows(np.arange(5000.0)[:, np.newaxis]))
    assert len(many.numbers) == 100
    assert many.shares @ many.numbers == pytest.approx(2499.5, rel=0.01)
    assert_array_equal(summarize(InMemoryRows(np.empty((0, 1)))).numbers, [0.0])


def test_events_of_some_steps():
    rows = ROWS[0].copy()
    rows[3], rows[5] = np.nan, 0.0
    steps = np.array([5, 2, 3, 7, 0])
    some = list_events(rows).take(steps)
    for found, expected in zip(some, list_events(rows[steps]), strict=True):
        assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


# Counts


def prior_of(emission, values):
    sampler = emission.make_sampler(np.asarray(values, dtype=float), 2)
    return sampler.shapes, sampler.rates


def test_default_prior_follows_each_column():
    """Gaps do not count, and partitions have the prior of the whole."""
    values = np.column_stack([
        RNG.poisson(0.2, 300), RNG.poisson(8.0, 300), RNG.poisson(1e12, 300), np.zeros(300),
        np.repeat([0.0, 1000.0], [270, 30]),
    ])  # fmt: skip
    shapes, rates = prior_of(PoissonEmission(), values)
    assert_array_equal(shapes[:4], 1.0)
    means = [1.0, values[:, 1].mean(), values[:, 2].mean(), 1.0, 100.0]
    assert_allclose(shapes / rates, means)
    # It is wide where counts vary much.
    assert_allclose(shapes[4] / rates[4] ** 2, values[:, 4].var() - 100.0)
    gaps = np.vstack([values[:15], np.full((5, 5), np.nan), values[15:]])
    assert_allclose(prior_of(PoissonEmission(), gaps), [shapes, rates], rtol=1e-12)
    found = PoissonEmission().make_sampler_of(Parts(np.split(values, [3, 4, 30])), 2)
    assert_array_equal([found.shapes, found.rates], [shapes, rates])


def test_given_priors_of_counts_stay():
    values = RNG.poisson([5.0, 700.0], (50, 2))
    means = values.mean(axis=0)
    expected = [
        (PoissonEmission(2.0, 0.5), [2.0, 2.0], [0.5, 0.5]),
        (PoissonEmission(shape=2.0), [2.0, 2.0], 2.0 / means),
        (PoissonEmission(rate=0.5), 0.5 * means, [0.5, 0.5]),
    ]
    for emission, *prior in expected:
        assert_allclose(prior_of(emission, values), prior)


@pytest.mark.parametrize("values", [[[5000.0, 0.0]], np.zeros((7, 1)), np.full((3, 2), 2.0**53)])
def test_odd_counts(values):
    values = np.asarray(values, dtype=float)
    shapes, rates = prior_of(PoissonEmission(), values)
    assert_allclose(shapes / rates, np.maximum(values[0], 1.0))
    sampler = PoissonEmission().make_sampler(values, 3)
    sampler.attach(values)
    sampler.draw(np.zeros(len(values), dtype=np.int64), stream())
    assert np.isfinite(sampler.log_evidence())
    assert np.isfinite(sampler.model().log_obs(values)).all()


@pytest.mark.parametrize("model", [DPMixture, PitmanYorMixture])
def test_a_lone_cluster_of_large_counts(model):
    """Its mean is that of its rows."""
    lone = np.random.default_rng(0).poisson(5000, (4, 2))
    fit = model(emission="poisson", max_iter=20, random_state=0).fit(lone)
    assert_allclose(fit.emission_.intensities, [lone.mean(axis=0)], rtol=0.01)


# Symbols


def first_states(n_steps, n_states, seed=0):
    sampler = CategoricalEmission(2).make_sampler(np.zeros((n_steps, 1)), n_states)
    states = np.full(n_steps, -1, dtype=np.int64)
    sampler.start(states, stream(seed))
    return states


def test_first_states_come_in_runs():
    """A step begins a run with probability 1/3, and the new state is another in 19 of 20 cases.

    5 standard errors of the share of changes: a false alarm for one seed in 2 million. Of 30,000
    steps a state has 1,500, with a standard error below 90. The first step begins a run: not all
    chains begin with state 0.
    """
    n_steps, n_states = 30_000, 20
    states = first_states(n_steps, n_states)
    expected = (1.0 - 1.0 / n_states) / MEAN_RUN
    error = (expected * (1.0 - expected) / n_steps) ** 0.5
    assert abs(np.mean(states[1:] != states[:-1]) - expected) < 5.0 * error
    assert np.all(np.abs(np.bincount(states, minlength=n_states) - n_steps / n_states) < 450)
    assert len({int(first_states(1, 5, seed)[0]) for seed in range(20)}) == 5


def sampler_of(X=SYMBOLS, **params):
    sampler = CategoricalEmission(**params).make_sampler(X, 3)
    sampler.attach(X)
    return sampler


@pytest.mark.parametrize("prior", [0.3, np.array([0.3, 0.1, 2.0])])
def test_known_prior_of_symbols(prior):
    sampler = sampler_of(prior=prior, concentration_prior=(3.0, 2.0))
    assert sampler.concentration_prior is None
    assert sampler.scalars() == {}
    sampler.draw(np.zeros(6, dtype=np.int64), stream())
    assert_array_equal(sampler.prior, np.full(3, prior))
    assert sampler.model().concentration == pytest.approx(np.full(3, prior).sum())


def test_base_of_a_known_prior():
    """The mean parameter of a symbol is the prior; what a base is multiplied by does not matter."""
    for scale in (1e-200, 0.1, 1.0, 1e300):
        sampler = sampler_of(prior=0.5, base=scale * np.array([1.0, 2.0, 3.0]))
        assert_allclose(sampler.prior, [0.25, 0.5, 0.75])
    gaps = np.insert(SYMBOLS, [1, 4], np.nan, axis=0)
    for X in (SYMBOLS, gaps):
        sampler = sampler_of(X, prior=0.5, base="empirical")
        assert_allclose(sampler.prior, 0.5 * np.array([3, 2, 4]) / 3.0)
    sampler = sampler_of(n_symbols=4, prior=1.0, base="empirical")
    assert_allclose(sampler.prior, 4.0 * np.array([3, 2, 4, 1]) / 10.0)


def test_drawn_concentration():
    """It stays as long as it is held."""
    sampler = sampler_of(n_symbols=16)
    assert_allclose(sampler.prior, 0.25)
    assert sampler.concentration_prior == (1.0, 0.1)
    assert sampler.scalars() == {"emission_concentration": pytest.approx(4.0)}
    rng, states = stream(), np.zeros(6, dtype=np.int64)
    sampler.held = True
    sampler.draw(states, rng)
    assert_allclose(sampler.prior, 0.25)
    other = sampler.copy()
    sampler.held = False
    sampler.draw(states, rng)
    assert sampler.concentration != other.concentration
    assert_allclose(other.prior, 0.25)


def test_extreme_symbols():
    """Counts that would drive the concentration to 0 or infinity; one symbol; no steps at all."""
    rng = stream()
    for n_symbols, values in (
        (1, np.zeros((50, 1))),
        (1000, np.zeros((5000, 1))),
        (2, np.arange(5000.0).reshape(-1, 1) % 2),
        (3, np.zeros((0, 1))),
    ):
        for prior in ((1e-8, 1e-8), (1e8, 1.0), (1.0, 1e8)):
            sampler = sampler_of(values, n_symbols=n_symbols, concentration_prior=prior)
            for _ in range(50):
                sampler.draw(np.arange(len(values)) // 2 % 2, rng)
                assert np.isfinite(sampler.log_evidence())
                assert np.all(np.isfinite(sampler.log_probs))
                assert 1e-9 < sampler.prior[0] < 1e9
            assert_allclose(sampler.model().probs.sum(axis=1), 1.0, rtol=1e-5)


def test_a_huge_concentration_is_no_common_distribution():
    """With many symbols and such a prior, a drawn concentration would reach its mark."""
    rng = stream()
    X = np.random.default_rng(0).integers(100, size=(40, 1)).astype(float)
    sampler = sampler_of(X, n_symbols=100, concentration_prior=(50.0, 1e-8))
    sampler.may_be_alike = True
    given = sampler.restrict(np.arange(40), 2)
    given.condition(np.arange(40) % 2)
    for _ in range(40):
        sampler.draw_shared_given(given, rng, 400.0)
        is_uniform = np.ptp(sampler.prior) < 1e-6 * sampler.prior[0]
        assert sampler.differs == is_uniform


def test_stored_samples_have_the_concentration():
    model = HDPHMMLT(4, emission="categorical", max_iter=60, n_samples=4, random_state=0)
    model.fit(SEQUENCES)
    trace = model.trace_["emission_concentration"][0]
    found = [sample.emission.concentration for sample in model.samples_]
    assert set(np.round(found, 9)) <= set(np.round(trace, 9))
    assert len(set(found)) == len(found) == 4
    assert model.emission_.concentration in found
    reordered = model.emission_.reorder(np.array([3, 1, 0, 2]))
    assert reordered.concentration == model.emission_.concentration
    model.set_params(emission=CategoricalEmission(prior=0.1), max_iter=8)
    assert "emission_concentration" not in model.fit(SEQUENCES).trace_


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
