"""Stored samples of counts; results are in tests/exact."""

import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from unit.emissions.parts import Parts

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions._discrete._poisson import PoissonEmission, PoissonModel
from skdp.mixture import DPMixture, PitmanYorMixture
from skdp.sequence import HDPHMMLT

COUNTS = np.array([[3, 0], [5, 1], [0, 9], [2, 2], [7, 0]], dtype=float)
STATES = np.array([0, 0, 1, 0, 1])


def learned_model(n_states=3):
    sampler = PoissonEmission().make_sampler(COUNTS, n_states)
    sampler.attach(COUNTS)
    sampler.draw(STATES, make_stream(make_seed_sequence(0)))
    return sampler.model()


def test_models_with_and_without_uncertainty():
    learned = learned_model()
    known = PoissonModel(learned.intensities)
    assert known.shapes is None
    assert np.abs(known.log_obs(COUNTS) - learned.log_obs(COUNTS)).max() > 0.01
    order = np.array([2, 0, 1])
    for model in (learned, known):
        copied = pickle.loads(pickle.dumps(model))
        assert_array_equal(copied.log_obs(COUNTS), model.log_obs(COUNTS))
        ordered = model.reorder(order)
        assert_array_equal(ordered.log_obs(COUNTS), model.log_obs(COUNTS)[:, order])
        draws = [m.sample(STATES, np.random.default_rng(0)) for m in (copied, model)]
        assert_array_equal(*draws)
    assert known.reorder(order).shapes is None


def test_many_rows_and_counts():
    """More than are done at a time, of the rows and of different counts."""
    values = np.random.default_rng(0).permutation(np.arange(5000.0)).reshape(-1, 2)
    model = learned_model()
    expected = np.concatenate([model.log_obs(row[np.newaxis]) for row in values])
    assert_array_equal(model.log_obs(values), expected)


def prior_of(emission, values):
    sampler = emission.make_sampler(np.asarray(values, dtype=float), 2)
    return sampler.shapes, sampler.rates


class TestDefaultPrior:
    def test_it_follows_each_column(self):
        rng = np.random.default_rng(0)
        values = np.column_stack(
            [rng.poisson(0.2, 300), rng.poisson(8.0, 300), rng.poisson(1e12, 300), np.zeros(300)]
        )
        shapes, rates = prior_of(PoissonEmission(), values)
        assert_array_equal(shapes, 1.0)
        assert_allclose(shapes / rates, [1.0, values[:, 1].mean(), values[:, 2].mean(), 1.0])

    def test_it_is_wide_where_counts_vary_much(self):
        values = np.repeat([[0.0], [1000.0]], [90, 10], axis=0)
        shapes, rates = prior_of(PoissonEmission(), values)
        assert_allclose(shapes / rates, 100.0)
        assert_allclose(shapes / rates**2, values.var() - 100.0)

    def test_what_is_given_stays(self):
        values = np.random.default_rng(0).poisson([5.0, 700.0], (50, 2))
        means = values.mean(axis=0)
        expected = [
            (PoissonEmission(2.0, 0.5), [2.0, 2.0], [0.5, 0.5]),
            (PoissonEmission(shape=2.0), [2.0, 2.0], 2.0 / means),
            (PoissonEmission(rate=0.5), 0.5 * means, [0.5, 0.5]),
        ]
        for emission, *prior in expected:
            assert_allclose(prior_of(emission, values), prior)

    @pytest.mark.parametrize(
        "values", [[[5000.0, 0.0]], np.zeros((7, 1)), np.full((3, 2), 2.0**53)]
    )
    def test_odd_data(self, values):
        values = np.asarray(values, dtype=float)
        shapes, rates = prior_of(PoissonEmission(), values)
        assert_allclose(shapes / rates, np.maximum(values[0], 1.0))
        sampler = PoissonEmission().make_sampler(values, 3)
        sampler.attach(values)
        sampler.draw(np.zeros(len(values), dtype=np.int64), make_stream(make_seed_sequence(0)))
        assert np.isfinite(sampler.log_evidence())
        assert np.isfinite(sampler.model().log_obs(values)).all()

    def test_parts_have_the_prior_of_the_whole(self):
        values = np.random.default_rng(0).poisson([1.0, 900.0], (40, 2)).astype(float)
        parts = Parts(np.split(values, [3, 4, 30]))
        found = PoissonEmission().make_sampler_of(parts, 2)
        assert_array_equal([found.shapes, found.rates], prior_of(PoissonEmission(), values))

    @pytest.mark.parametrize("model", [DPMixture, PitmanYorMixture])
    def test_clusters_of_large_counts(self, model):
        """Six standard deviations apart; the mean of a lone cluster is that of its rows."""
        rng = np.random.default_rng(0)
        rows = np.concatenate([rng.poisson(rate, (6, 3)) for rate in (1000, 1200, 1500)])
        assert model(emission="poisson", max_iter=60, random_state=0).fit(rows).n_components_ == 3
        lone = rng.poisson(5000, (4, 2))
        fit = model(emission="poisson", max_iter=20, random_state=0).fit(lone)
        assert_allclose(fit.emission_.intensities, [lone.mean(axis=0)], rtol=0.01)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_states_of_large_counts():
    """The rates are those of maximum likelihood, but for a few standard errors."""
    true = np.array([10000.0, 20000.0])
    values = np.random.default_rng(0).poisson(np.repeat([*true, *true], 25)).reshape(-1, 1)
    model = HDPHMMLT(5, emission="poisson", stickiness=20.0, max_iter=60, random_state=0)
    model.fit(values)
    rates = np.sort(model.emission_.lambdas_[model.state_shares_ > 0.1].ravel())
    assert (np.abs(rates - true) < 5.0 * np.sqrt(true / 50.0)).all()


@pytest.mark.parametrize("wrong", [-1.0, 0.5, np.inf])
def test_what_is_no_count_is_named(wrong):
    learned = learned_model()
    for model in (learned, PoissonModel(learned.intensities)):
        with pytest.raises(ValueError, match="X must hold counts"):
            model.log_obs(np.array([[1.0, wrong]]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (2.0**53 + 2, "counts up to 9007199254740992, got 9007199254740994."),
        (1e300, "counts up to 9007199254740992, got 1e+300."),
        (-10000001.0, "NaN for missing values; got -10000001."),
        (0.5, "NaN for missing values; got 0.5."),
    ],
)
def test_messages_have_all_digits(wrong, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        DPMixture("poisson", max_iter=2).fit([[1.0], [wrong]])


def test_names_of_hmmlearn():
    model = learned_model()
    assert_array_equal(model.lambdas_, model.intensities)
    with pytest.raises(ValueError, match="read-only"):
        model.lambdas_[0, 0] = 1.0
    model.intensities[0, 0] = 1.0  # as before
