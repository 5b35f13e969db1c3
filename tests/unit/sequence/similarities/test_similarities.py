"""Samplers of similarities; their posteriors are in tests/exact."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.datasets import make_lt_panel
from skdp.emissions import CategoricalEmission, GaussianEmission, IndependentEmissions
from skdp.sequence import HDPHMMLT, EmissionSimilarity, GaussianSimilarity
from skdp.sequence._hmm._transitions import Transitions
from skdp.sequence._kernels import _locations as kernels
from skdp.sequence._similarities import _gaussian as latent_space
from skdp.sequence._similarities._emission import check_distances
from skdp.sequence._similarities._protocol import TimedTransitions

SMALL = {"n_sequences": 4, "n_steps": 30, "n_states": 4, "random_state": 0}
PANEL = make_lt_panel(**SMALL).data
SYMBOLS = make_lt_panel(**SMALL, emission="categorical", n_features=6).data


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def quick(**params):
    defaults = {"n_components": 5, "max_iter": 20, "random_state": 0, "similarity": "emission"}
    return HDPHMMLT(**{**defaults, **params})


def distance_of_means(model):
    return np.abs(model.means[:, np.newaxis] - model.means).sum(axis=2)


def test_rounding_of_a_metric_is_forgiven():
    found = check_distances([[1e-9, 1.0], [1.0 + 1e-8, 0]], 2)
    assert found[0, 0] == 0.0
    assert found[0, 1] == found[1, 0]


def test_metric_of_ones_own():
    """It receives drawn parameters of any number of states, including all that may be replaced."""
    seen = []

    def metric(model):
        seen.append(model)
        return distance_of_means(model)

    model = quick(similarity=EmissionSimilarity(metric, decay=0.4)).fit(PANEL)
    assert {len(x.means) for x in seen} == {5, 10}
    assert all(x.degrees_of_freedom is None and x.covariances.shape[1:] == (2, 2) for x in seen)
    for sample in model.samples_:
        expected = np.exp(-0.4 * distance_of_means(sample.geometry.emission))
        assert_allclose(sample.similarity, expected, rtol=1e-5)
        assert sample.geometry.decay == 0.4


@pytest.mark.parametrize("metric", ["hellinger", "bhattacharyya"])
def test_similarity_is_that_of_the_drawn_parameters(metric):
    model = quick(emission=GaussianEmission("diag"), similarity=EmissionSimilarity(metric))
    for sample in model.fit(PANEL).samples_:
        drawn = sample.geometry.emission
        first, second = drawn.covariances[:, None], drawn.covariances[None]
        squares = (drawn.means[:, None] - drawn.means) ** 2
        logs = -0.25 * squares / (first + second)
        logs += 0.25 * np.log(first * second) - 0.5 * np.log(0.5 * (first + second))
        logs = np.minimum(logs.sum(axis=2), 0.0)
        distances = -logs if metric == "bhattacharyya" else np.sqrt(1.0 - np.exp(logs))
        expected = np.exp(-sample.geometry.decay * distances)
        assert_allclose(sample.similarity, expected, rtol=1e-5, atol=1e-6)


def start(emission, panel, n_states, similarity, *, held=False):
    """Return samplers of an emission and of its similarities, states, and a stream."""
    sampler, rng = emission.make_sampler(panel.values, n_states), stream()
    sampler.attach(panel.values)
    states = np.arange(len(panel.values)) % n_states
    sampler.held = held
    sampler.draw(states, rng)
    similarity = similarity.make_sampler(n_states)
    similarity.start(sampler, rng)
    return sampler, similarity, states, rng


def test_states_that_refuse_keep_their_parameters():
    """Many transitions and fixed times determine phi: most proposals are rejected."""
    metric = EmissionSimilarity("bhattacharyya", decay=3.0)
    sampler, similarity, states, rng = start(GaussianEmission(), PANEL, 5, metric)
    counts = np.full((6, 5), 10_000)
    timed = TimedTransitions(counts, counts + 0.5, np.zeros(6))
    rates, kept = [], []
    for _ in range(20):
        before = sampler.means.copy()
        similarity.draw_with_emission(timed, states, sampler, rng)
        kept.append(np.mean((sampler.means == before).all(axis=1)))
        rates.append(similarity.acceptance)
        logs = sampler.log_affinity(sampler.parameters())
        assert_allclose(similarity.distances, -logs, rtol=1e-12)
    assert_allclose(rates, 1.0 - np.array(kept))
    assert 0.0 < np.mean(rates) < 0.9


ONES = np.ones((5, 4), dtype=np.int64)
EACH_ONCE = TimedTransitions(ONES, ONES + 0.5, np.zeros(5))


def test_held_concentrations_stay():
    sampler, similarity, states, rng = start(
        CategoricalEmission(6), SYMBOLS, 4, EmissionSimilarity(), held=True
    )
    before, draw = sampler.concentration, sampler.draw

    def draw_held(*args):
        assert sampler.held  # theta alone is proposed
        draw(*args)

    sampler.draw = draw_held
    for held in (True, False):
        sampler.held = held
        similarity.draw_with_emission(EACH_ONCE, states, sampler, rng)
        assert sampler.held == held
        assert (sampler.concentration == before) == held


def test_a_refused_move_of_the_concentration_changes_nothing(monkeypatch):
    sampler, similarity, _, rng = start(CategoricalEmission(6), SYMBOLS, 4, EmissionSimilarity())
    known = sampler.prior, sampler.log_probs.copy(), similarity.distances.copy()
    gains = iter([-np.inf, 0.0])
    monkeypatch.setattr(similarity, "_weigh", lambda *args: next(gains))
    similarity._move_shared(EACH_ONCE, sampler, rng)
    assert similarity.shared_acceptance == 0.0
    found = sampler.prior, sampler.log_probs, similarity.distances
    for array, expected in zip(found, known, strict=True):
        assert_array_equal(array, expected)


def test_acceptance_of_all_proposals_is_the_product():
    """One after the other, proposals gain what they gain together."""
    rng = np.random.default_rng(0)
    n = 4
    distances = rng.random((2 * n, 2 * n))
    distances += distances.T
    np.fill_diagonal(distances, 0.0)
    counts = rng.integers(0, 4, (n + 1, n))
    counts[2] = 0
    shapes = counts + rng.random((n + 1, n))
    log_times = np.where(counts.any(axis=1), rng.normal(size=n + 1), -np.inf)
    known = 0.7, counts, shapes, log_times
    taken, total = np.zeros(n, dtype=np.int64), 0.0
    for j in range(n):
        total += kernels.gain_of_proposal(j, distances, *known, taken)
        taken[j] = 1
    before = kernels.log_likelihood_of_distances(distances[:n, :n].copy(), *known)
    after = kernels.log_likelihood_of_distances(distances[n:, n:].copy(), *known)
    assert_allclose(total, after - before, rtol=1e-10)


def test_other_options():
    """Sticky, by beam sampling, and with several columns of kinds; or with a single state."""
    mixed = IndependentEmissions([("level", "gaussian", [0]), ("other", GaussianEmission(), [1])])
    model = quick(emission=mixed, stickiness="auto", state_sampler="beam").fit(PANEL)
    assert np.isfinite(model.score(PANEL))
    assert model.similarity_.shape == (5, 5)
    assert_allclose(np.diag(model.similarity_), 1.0)
    assert_allclose(model.similarity_, model.similarity_.T)
    assert quick(n_components=1).fit(PANEL).similarity_ == 1.0


def test_rates_are_drawn_given_the_new_similarities(monkeypatch):
    """They were summed out when similarities were drawn."""
    seen, redraw = [], Transitions.redraw_rates

    def spy(self, rng):
        before = self.log_rates.copy()
        redraw(self, rng)
        assert np.all(self.log_rates != before)
        seen.append(self.log_similarity[:-1].copy())

    monkeypatch.setattr(Transitions, "redraw_rates", spy)
    model = quick(max_iter=6, burn_in=0, thin=1, n_samples=6).fit(PANEL)
    # Once at first; then before the first sweep and in each sweep, given old and new similarities.
    assert len(seen) == 1 + 2 * 7
    for found, sample in zip(seen[4::2], model.samples_, strict=True):
        expected = np.sort(sample.similarity.ravel())
        assert_allclose(np.sort(np.exp(found).ravel()), expected, rtol=1e-5)


N_STATES = 6


def make_problem():
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (N_STATES + 1, N_STATES))
    counts[2] = 0
    return counts, np.log(rng.gamma(0.3, size=counts.shape))


def make_chain(**params):
    sampler, rng = GaussianSimilarity(**params).make_sampler(N_STATES), stream()
    sampler.start(None, rng)
    return sampler, rng


def run(sampler, rng, n_draws, **options):
    for _ in range(n_draws):
        sampler.draw(*make_problem(), None, rng, **options)


def test_adaptation_stops(monkeypatch):
    monkeypatch.setattr(latent_space, "N_ADAPTING", 30)
    sampler, rng = make_chain()
    run(sampler, rng, 30)
    before = copy.copy(sampler.adaptation)
    run(sampler, rng, 10)
    assert sampler.adaptation == before
    assert before.n_draws == 30


def test_adaptation_reaches_its_target():
    sampler, rng = make_chain()
    run(sampler, rng, 500)
    acceptance = []
    for _ in range(500):
        run(sampler, rng, 1)
        acceptance.append(sampler.acceptance)
    assert 0.75 < np.mean(acceptance) < 0.85


def test_held_decay_stays():
    """While locations move, and as if it had been drawn: its density counts."""
    sampler, rng = make_chain(decay_prior=(2.0, 3.0))
    before, density = sampler.locations.copy(), sampler.log_density()
    run(sampler, rng, 5, hold=True)
    assert sampler.decay == 2.0 / 3.0
    assert np.all(sampler.locations != before)
    normal = -0.5 * np.sum(sampler.locations**2 - before**2)
    assert sampler.log_density() - density == pytest.approx(normal)
    run(sampler, rng, 1)
    assert sampler.decay != 2.0 / 3.0


@pytest.mark.parametrize("n_states", [1, 2])
def test_no_transitions(n_states):
    """Sequences of length 1: the posterior is the prior."""
    sampler, rng = GaussianSimilarity(n_dims=1).make_sampler(n_states), stream()
    sampler.start(None, rng)
    counts = np.zeros((n_states + 1, n_states), dtype=np.int64)
    for _ in range(5):
        sampler.draw(counts, np.zeros(counts.shape), None, rng)
    assert np.all(np.isfinite(sampler.locations))
    assert sampler.decay > 0.0


def test_extreme_rates_and_decay():
    """Rows whose only near destination has a rate of e^-1000, at similarities of e^-5000."""
    counts, log_rates = make_problem()
    log_rates[np.diag_indices(N_STATES)] = -1000.0
    log_rates[:, 0] = -1e5
    sampler, rng = make_chain(decay=1e4)
    sampler.locations[:] *= 10.0
    for _ in range(50):
        sampler.draw(counts, log_rates, None, rng)
    assert np.all(np.isfinite(sampler.locations))
    assert sampler.acceptance > 0.0
