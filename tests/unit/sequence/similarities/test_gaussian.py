import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence._similarities import _gaussian as latent_space
from skdp.sequence._similarities._gaussian import (
    GaussianSimilarity,
    LatentLocations,
    plan_trajectories,
)

N_STATES = 6


def make_problem(seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(1.0, (N_STATES + 1, N_STATES))
    counts[2] = 0
    return counts, np.log(rng.gamma(0.3, size=counts.shape))


def make_chain(seed=0, **params):
    sampler = GaussianSimilarity(**params).make_sampler(N_STATES)
    rng = make_stream(make_seed_sequence(seed))
    sampler.start(None, rng)
    return sampler, rng


def run(sampler, rng, n_draws):
    for _ in range(n_draws):
        sampler.draw(*make_problem(), None, rng)
    return sampler.locations.tolist(), sampler.decay, sampler.adaptation.log_step


def test_reproducible():
    assert run(*make_chain(), 20) == run(*make_chain(), 20)
    assert run(*make_chain(), 20) != run(*make_chain(1), 20)


@pytest.mark.parametrize(
    "twin", [lambda s: s.copy(), lambda s: pickle.loads(pickle.dumps(s)), copy.deepcopy]
)
def test_copies_go_on_alike_and_alone(twin):
    sampler, rng = make_chain()
    run(sampler, rng, 5)
    other = twin(sampler)
    before = other.locations.tolist(), other.decay, other.adaptation.log_step
    found = run(sampler, rng.copy(), 20)
    assert before == (other.locations.tolist(), other.decay, other.adaptation.log_step)
    assert run(other, rng.copy(), 20) == found


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


def test_similarities():
    sampler, rng = make_chain(n_dims=2)
    run(sampler, rng, 10)
    out = np.empty((N_STATES, N_STATES))
    sampler.write(out, None)
    model = sampler.model()
    squares = np.sum((model.locations[:, None] - model.locations) ** 2, axis=2)
    np.testing.assert_allclose(out, -0.5 * model.decay * squares, rtol=1e-12)
    assert model.locations.shape == (N_STATES, 2)
    assert sampler.coupling(None, None) is None
    assert sampler.scalars() == {"decay": sampler.decay, "acceptance": sampler.acceptance}


def test_fixed_decay_stays():
    sampler, rng = make_chain(decay=0.7)
    run(sampler, rng, 5)
    assert sampler.decay == 0.7
    normal = -0.5 * np.sum(sampler.locations**2) - 0.5 * 3 * N_STATES * np.log(2.0 * np.pi)
    assert sampler.log_density() == pytest.approx(normal)


def test_held_decay_stays():
    """While locations move, and as if it had been drawn: its density counts."""
    sampler, rng = make_chain(decay_prior=(2.0, 3.0))
    before = sampler.locations.copy()
    density = sampler.log_density()
    for _ in range(5):
        sampler.draw(*make_problem(), None, rng, hold=True)
    assert sampler.decay == 2.0 / 3.0
    assert np.all(sampler.locations != before)
    normal = -0.5 * np.sum(sampler.locations**2 - before**2)
    assert sampler.log_density() - density == pytest.approx(normal)
    run(sampler, rng, 1)
    assert sampler.decay != 2.0 / 3.0


def test_log_density_of_decay():
    """The density of log lambda: lambda times that of lambda."""
    sampler, rng = make_chain(decay_prior=(2.0, 3.0))
    run(sampler, rng, 5)
    normal = -0.5 * np.sum(sampler.locations**2) - 0.5 * 3 * N_STATES * np.log(2.0 * np.pi)
    decay = sampler.decay
    of_decay = np.log(9.0) + np.log(decay) - 3.0 * decay + np.log(decay)
    assert sampler.log_density() == pytest.approx(normal + of_decay)


@pytest.mark.parametrize("n_states", [1, 2])
def test_no_transitions(n_states):
    """Sequences of length 1: the posterior is the prior."""
    sampler = GaussianSimilarity(n_dims=1).make_sampler(n_states)
    rng = make_stream(make_seed_sequence(0))
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


def test_reorder():
    model = LatentLocations(np.arange(6.0).reshape(3, 2), 0.5)
    found = model.reorder(np.array([2, 0, 1]))
    np.testing.assert_array_equal(found.locations, [[4, 5], [0, 1], [2, 3]])
    assert found.decay == 0.5


@pytest.mark.parametrize(
    "params",
    [
        {"n_dims": 0}, {"n_dims": 1.5}, {"decay": 0.0}, {"decay": -1.0}, {"decay": "no"},
        {"decay": np.inf}, {"decay": np.nan}, {"decay_prior": (1.0,)}, {"decay_prior": (0.0, 1.0)},
        {"decay_prior": 1.0},
    ],
)  # fmt: skip
def test_errors(params):
    with pytest.raises(ValueError, match=next(iter(params))):
        GaussianSimilarity(**params).make_sampler(3)


def test_clones():
    params = {"n_dims": 2, "decay": 0.5, "decay_prior": (2.0, 1.0)}
    assert clone(GaussianSimilarity(**params)).get_params() == params


@pytest.mark.parametrize(
    ("n_transitions", "expected"),
    [
        (0, (2, 10)),
        (1400, (2, 10)),
        (2000, (2, 14)),
        (2800, (2, 20)),
        (5600, (4, 20)),
        (10**9, (4, 20)),
    ],
)
def test_few_transitions_have_short_trajectories(n_transitions, expected):
    assert plan_trajectories(n_transitions) == expected
