import numpy as np
import pytest
from sklearn.base import clone

from skdp._numeric._random import make_stream
from skdp.datasets import make_lt_panel
from skdp.emissions import CategoricalEmission, GaussianEmission, IndependentEmissions
from skdp.sequence import HDPHMMLT, EmissionSimilarity, GaussianSimilarity
from skdp.sequence._hmm._transitions import Transitions
from skdp.sequence._similarities import _kernels_emission as kernels
from skdp.sequence._similarities._emission import check_distances
from skdp.sequence._similarities._protocol import TimedTransitions

PANEL = make_lt_panel(4, n_steps=30, n_states=4, random_state=0).data
SYMBOLS = make_lt_panel(
    4, n_steps=30, n_states=4, emission="categorical", n_features=6, random_state=0
).data


def quick(**params):
    defaults = {"n_components": 5, "max_iter": 20, "random_state": 0, "similarity": "emission"}
    return HDPHMMLT(**{**defaults, **params})


def distance_of_means(model):
    return np.abs(model.means[:, np.newaxis] - model.means).sum(axis=2)


def test_parameters():
    params = {"metric": distance_of_means, "decay": 0.5, "decay_prior": (2.0, 3.0)}
    assert clone(EmissionSimilarity(**params)).get_params() == params
    model = HDPHMMLT(similarity="emission").set_params(similarity__metric="bhattacharyya")
    assert model.get_params()["similarity__metric"] == "bhattacharyya"
    assert isinstance(model.similarity, EmissionSimilarity)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"metric": "euclidean"}, "'metric'"),
        ({"metric": 2.0}, "'metric'"),
        ({"decay": 0.0}, "'decay'"),
        ({"decay": "learn"}, "'decay'"),
        ({"decay_prior": (1.0, 0.0)}, "decay_prior"),
        ({"decay_prior": 3.0}, "'decay_prior'"),
    ],
)
def test_wrong_parameters(params, match):
    with pytest.raises(ValueError, match=match):
        quick(similarity=EmissionSimilarity(**params)).fit(PANEL)


@pytest.mark.parametrize("metric", ["hellinger", distance_of_means])
@pytest.mark.parametrize(
    "emission",
    [
        "student_t",
        "autoregressive",
        IndependentEmissions([("a", "student_t", [0]), ("b", "gaussian", [1])]),
    ],
)
def test_emissions_without_closed_form(emission, metric):
    with pytest.raises(TypeError, match="does not support: use it with GaussianEmission, Poisson"):
        quick(emission=emission, similarity=EmissionSimilarity(metric)).fit(PANEL)


@pytest.mark.parametrize(
    ("result", "error", "match"),
    [
        (np.zeros((2, 3)), ValueError, r"shape \(2, 2\) for 2 states, got \(2, 3\)"),
        (1.0, ValueError, r"got \(\)"),
        ("far", ValueError, "must hold real numbers, got 'far'"),
        ([[0.0, 1.0], [1.0]], ValueError, "must hold real numbers, in rows of equal length"),
        (None, ValueError, "the array that metric returns must hold real numbers, got None"),
        ([[0.0, -1.0], [-1.0, 0.0]], ValueError, "got -1 for states 0 and 1 of 2"),
        ([[0.0, np.nan], [np.nan, 0.0]], ValueError, "got nan"),
        ([[0.0, np.inf], [np.inf, 0.0]], ValueError, "got inf"),
        ([[0.0, 1.0], [1.1, 0.0]], ValueError, "symmetric; got 1 from state 0 to state 1, and 1.1"),
        ([[1.0, 0.3], [0.3, 1.0]], ValueError, "0 from a state to itself; got 1 .*Return -log S"),
    ],
)
def test_what_a_metric_must_not_return(result, error, match):
    with pytest.raises(error, match=match):
        check_distances(result, 2)


def test_rounding_of_a_metric_is_forgiven():
    found = check_distances([[1e-9, 1.0], [1.0 + 1e-8, 0]], 2)
    assert found[0, 0] == 0.0
    assert found[0, 1] == found[1, 0]


def test_metric_of_ones_own():
    """It sees drawn parameters of any number of states, at least those that may be replaced."""
    seen = []

    def metric(model):
        seen.append(model)
        return distance_of_means(model)

    model = quick(similarity=EmissionSimilarity(metric, decay=0.4)).fit(PANEL)
    assert {len(x.means) for x in seen} == {5, 10}
    assert all(x.degrees_of_freedom is None and x.covariances.shape[1:] == (2, 2) for x in seen)
    for sample in model.samples_:
        expected = np.exp(-0.4 * distance_of_means(sample.geometry.emission))
        np.testing.assert_allclose(sample.similarity, expected, rtol=1e-5)
        assert sample.geometry.decay == 0.4
    assert not hasattr(model, "decay_") or model.decay_ == pytest.approx(0.4)


def test_error_of_a_metric_leaves_the_estimator_alone():
    model = quick(similarity=EmissionSimilarity(lambda model: np.ones((3, 3))))
    with pytest.raises(ValueError, match="metric must return"):
        model.fit(PANEL)
    assert not hasattr(model, "samples_")


@pytest.mark.parametrize("metric", ["hellinger", "bhattacharyya"])
def test_similarity_is_that_of_the_drawn_parameters(metric):
    model = quick(emission=GaussianEmission("diag"), similarity=EmissionSimilarity(metric))
    model.fit(PANEL)
    for sample in model.samples_:
        drawn = sample.geometry.emission
        first, second = drawn.covariances[:, None], drawn.covariances[None]
        squares = (drawn.means[:, None] - drawn.means) ** 2
        logs = -0.25 * squares / (first + second)
        logs += 0.25 * np.log(first * second) - 0.5 * np.log(0.5 * (first + second))
        logs = np.minimum(logs.sum(axis=2), 0.0)
        distances = -logs if metric == "bhattacharyya" else np.sqrt(1.0 - np.exp(logs))
        expected = np.exp(-sample.geometry.decay * distances)
        np.testing.assert_allclose(sample.similarity, expected, rtol=1e-5, atol=1e-6)


def test_states_that_refuse_keep_their_parameters():
    """Many transitions and fixed times determine phi: most proposals are rejected."""
    sampler = GaussianEmission().make_sampler(PANEL.values, 5)
    sampler.attach(PANEL.values)
    rng = make_stream(np.random.SeedSequence(0))
    states = np.arange(len(PANEL.values)) % 5
    sampler.draw(states, rng)
    similarity = EmissionSimilarity("bhattacharyya", decay=3.0).make_sampler(5)
    similarity.start(sampler, rng)
    counts = np.full((6, 5), 10_000)
    timed = TimedTransitions(counts, counts + 0.5, np.zeros(6))
    rates, kept = [], []
    for _ in range(20):
        before = sampler.means.copy()
        similarity.draw_with_emission(timed, states, sampler, rng)
        kept.append(np.mean((sampler.means == before).all(axis=1)))
        rates.append(similarity.acceptance)
        logs = sampler.log_affinity(sampler.parameters())
        np.testing.assert_allclose(similarity.distances, -logs, rtol=1e-12)
    np.testing.assert_allclose(rates, 1.0 - np.array(kept))
    assert 0.0 < np.mean(rates) < 0.9


def test_held_concentrations_stay():
    sampler = CategoricalEmission(6).make_sampler(SYMBOLS.values, 4)
    sampler.attach(SYMBOLS.values)
    rng = make_stream(np.random.SeedSequence(0))
    states = np.arange(len(SYMBOLS.values)) % 4
    sampler.held = True
    sampler.draw(states, rng)
    similarity = EmissionSimilarity().make_sampler(4)
    similarity.start(sampler, rng)
    counts = np.ones((5, 4), dtype=np.int64)
    timed = TimedTransitions(counts, counts + 0.5, np.zeros(5))
    before, draw = sampler.concentration, sampler.draw

    def draw_held(*args):
        assert sampler.held  # theta alone is proposed
        draw(*args)

    sampler.draw = draw_held
    for held in (True, False):
        sampler.held = held
        similarity.draw_with_emission(timed, states, sampler, rng)
        assert sampler.held == held
        assert (sampler.concentration == before) == held


def test_a_refused_move_of_the_concentration_changes_nothing(monkeypatch):
    sampler = CategoricalEmission(6).make_sampler(SYMBOLS.values, 4)
    sampler.attach(SYMBOLS.values)
    rng = make_stream(np.random.SeedSequence(0))
    states = np.arange(len(SYMBOLS.values)) % 4
    similarity = EmissionSimilarity().make_sampler(4)
    sampler.draw(states, rng)
    similarity.start(sampler, rng)
    known = sampler.prior, sampler.log_probs.copy(), similarity.distances.copy()
    counts = np.ones((5, 4), dtype=np.int64)
    timed = TimedTransitions(counts, counts + 0.5, np.zeros(5))
    gains = iter([-np.inf, 0.0])
    monkeypatch.setattr(similarity, "_weigh", lambda *args: next(gains))
    similarity._move_shared(timed, sampler, rng)
    assert similarity.shared_acceptance == 0.0
    np.testing.assert_array_equal(sampler.prior, known[0])
    np.testing.assert_array_equal(sampler.log_probs, known[1])
    np.testing.assert_array_equal(similarity.distances, known[2])


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
    before = kernels.log_likelihood(distances[:n, :n].copy(), *known)
    after = kernels.log_likelihood(distances[n:, n:].copy(), *known)
    np.testing.assert_allclose(total, after - before, rtol=1e-10)


def test_beside_other_options():
    """Sticky, by beam sampling, and with several columns of kinds."""
    mixed = IndependentEmissions([("level", "gaussian", [0]), ("other", GaussianEmission(), [1])])
    model = quick(emission=mixed, stickiness="auto", state_sampler="beam").fit(PANEL)
    assert np.isfinite(model.score(PANEL))
    assert model.similarity_.shape == (5, 5)
    np.testing.assert_allclose(np.diag(model.similarity_), 1.0)
    np.testing.assert_allclose(model.similarity_, model.similarity_.T)


def test_rates_are_drawn_given_the_new_similarities(monkeypatch):
    """They were summed out when similarities were drawn."""
    seen = []
    redraw = Transitions.redraw_rates

    def spy(self, rng):
        before = self.log_rates.copy()
        redraw(self, rng)
        assert np.all(self.log_rates != before)
        seen.append(self.log_similarity[:-1].copy())

    monkeypatch.setattr(Transitions, "redraw_rates", spy)
    model = quick(max_iter=6, burn_in=0, thin=1, n_samples=6).fit(PANEL)
    assert len(seen) == 7  # one before the first sweep
    found = [np.sort(np.exp(x).ravel()) for x in seen[1:]]
    expected = [np.sort(x.similarity.ravel()) for x in model.samples_]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_one_state():
    model = quick(n_components=1).fit(PANEL)
    assert model.similarity_ == 1.0


def test_other_similarities_keep_their_interface():
    model = quick(similarity=GaussianSimilarity(2)).fit(PANEL)
    assert model.locations_.shape == (5, 2)
