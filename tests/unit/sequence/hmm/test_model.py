"""Stored samples: draws, other orders of states, what is impossible, and names of states."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.emissions._gaussian._model import GaussianModel
from skdp.sequence._durations._families import NegativeBinomialDurationModel, PoissonDurationModel
from skdp.sequence._hmm._messages import count_pairs
from skdp.sequence._hmm._model import HMMModel, count_active
from skdp.sequence._hmm._sampler import HMMDraw, StateOrder, name_states
from skdp.sequence._similarities._gaussian import LatentLocations

RNG = np.random.default_rng(1)
PROBS = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
START = np.array([0.2, 0.5, 0.3])
TRANSMAT = np.array([[0.6, 0.3, 0.1], [0.1, 0.7, 0.2], [0.25, 0.25, 0.5]])
CHANGES = np.array([[0.0, 0.3, 0.7], [0.4, 0.0, 0.6], [0.9, 0.1, 0.0]])
DURATIONS = {
    "none": None,
    "Poisson": PoissonDurationModel(np.array([0.5, 2.0, 3.0]), 6),
    "negative binomial": NegativeBinomialDurationModel(np.array([0.2, 0.5, 0.6]), 2, 6),
}
every_duration = pytest.mark.parametrize("duration", DURATIONS.values(), ids=DURATIONS)


def make_model(duration, **parts):
    transmat, shares = TRANSMAT if duration is None else CHANGES, np.array([0.5, 0.0, 0.5])
    return HMMModel(START, transmat, CategoricalModel(PROBS), shares, duration=duration, **parts)


@every_duration
def test_reorder(duration):
    order, ptr = np.array([2, 0, 1]), np.array([0, 3, 7])
    values = np.array([[0.0], [2], [1], [1], [0], [2], [2]])
    similarity = RNG.random((3, 3)).astype(np.float32)
    geometry = LatentLocations(RNG.normal(size=(3, 2)), 1.5)
    model = make_model(duration, similarity=similarity, geometry=geometry)
    other = model.reorder(order)
    assert_array_equal(other.startprob, START[order])
    assert_array_equal(other.emission.probs, PROBS[order])
    assert_array_equal(other.shares, model.shares[order])
    for matrix in ("transmat", "similarity"):
        assert_array_equal(getattr(other, matrix), getattr(model, matrix)[np.ix_(order, order)])
    assert_array_equal(other.geometry.locations, geometry.locations[order])
    assert other.geometry.decay == 1.5
    found, expected = (each.log_likelihoods(ptr, values) for each in (other, model))
    assert_allclose(found, expected, rtol=1e-12)
    found, expected = (each.posteriors(ptr, values) for each in (other, model))
    assert_allclose(found, expected[:, order], rtol=1e-9)
    other = make_model(None).reorder(order)
    assert (other.similarity, other.geometry, other.duration) == (None, None, None)


def close(found, p, n):
    """Tell whether shares of n draws are within 6 standard errors of their probabilities."""
    return np.all(np.abs(found - p) <= 6.0 * np.sqrt(p * (1.0 - p) / n))


@every_duration
def test_draws_of_states(duration):
    """First states, jumps and durations but the last: 6 standard errors, 1e-8 false alarms."""
    model, rng = make_model(duration), np.random.default_rng(0)
    firsts = np.array([model.draw_states(1, rng)[0] for _ in range(4000)])
    assert close(np.bincount(firsts, minlength=3) / len(firsts), START, len(firsts))
    states = model.draw_states(20_000, rng)
    assert len(states) == 20_000
    lasts = np.arange(len(states))
    if duration is not None:
        lasts = np.append(np.flatnonzero(np.diff(states)), len(states) - 1)
    counts = np.zeros((3, 3))
    np.add.at(counts, (states[lasts][:-1], states[lasts][1:]), 1)
    n = counts.sum(axis=1, keepdims=True)
    assert close(counts / n, model.transmat, n)
    if duration is not None:
        lengths, grid = np.diff(lasts, prepend=-1)[:-1], np.arange(1, 7)
        assert lengths.max() <= duration.max_duration == 6
        for j, p in enumerate(np.exp(duration.tables()[0])):
            mine = lengths[states[lasts][:-1] == j]
            deviation = np.sqrt(p @ (grid - p @ grid) ** 2)
            assert abs(mine.mean() - p @ grid) < 6.0 * deviation / np.sqrt(len(mine))


def test_impossible_sequence():
    """An observation that is impossible in all states is reported."""
    emission = GaussianModel(np.zeros((2, 1)), np.full((2, 1), 1e-300))
    model = HMMModel(np.full(2, 0.5), np.full((2, 2), 0.5), emission, np.full(2, 0.5))
    ptr, values = np.array([0, 1, 2]), np.array([[0.0], [1e100]])
    with pytest.raises(ValueError, match="Sequence 1 has probability 0 under a stored sample"):
        model.posteriors(ptr, values)
    assert model.log_likelihoods(ptr, values)[1] == -np.inf


@pytest.mark.parametrize(
    ("counts", "expected"), [([4996, 4, 0], 1), ([4995, 5, 0], 2), ([1, 1, 0], 2), ([999, 1], 2)]
)
def test_states_of_some_odd_steps_do_not_count(counts, expected):
    assert count_active(np.array(counts) / sum(counts)) == expected


def make_sample(states, log_joint=0.0, n_states=4):
    """Return a sample whose parameters distinguish its states."""
    states, ones = np.array(states, dtype=np.int32), np.ones(n_states)
    parts = RNG.dirichlet(ones), RNG.dirichlet(ones, n_states)
    emission = CategoricalModel(RNG.dirichlet(np.ones(3), n_states))
    shares = np.bincount(states, minlength=n_states) / len(states)
    return HMMDraw(HMMModel(*parts, emission, shares), states, log_joint)


def name_all(*samples, is_observed=True, **options):
    """Name states by the steps that were observed, by all of them unless told otherwise."""
    is_observed = np.full(len(samples[0].states), is_observed)

    def count(first, second, n_states):
        return count_pairs(first, second, is_observed, n_states)

    return name_states(list(samples), count, **options)


def assert_reordered(model, sample, order):
    """Assert that a model is that of a sample, with its states in another order."""
    expected = sample.model.reorder(np.array(order))
    for name in ("startprob", "transmat", "shares"):
        assert_array_equal(getattr(model, name), getattr(expected, name))
    assert_array_equal(model.emission.probs, expected.emission.probs)


def test_one_sample_is_ordered_by_share():
    sample = make_sample([3, 3, 1, 3, 0, 0, 3])
    (model,), reference = name_all(sample)
    assert reference == 0
    assert_reordered(model, sample, [3, 0, 1, 2])


def test_renamed_samples_become_one():
    first = make_sample([3, 3, 1, 3, 0, 0, 3, 2, 2, 2], -5.0)
    samples = [first]
    for order, log_joint in ((np.array([2, 0, 3, 1]), -4.0), (np.array([1, 3, 2, 0]), -6.0)):
        states = np.argsort(order).astype(np.int32)[first.states]
        samples.append(HMMDraw(first.model.reorder(order), states, log_joint))
    models, reference = name_all(*samples)
    assert reference == 1
    for model in models:
        assert_reordered(model, first, [3, 2, 0, 1])


def test_names_come_from_the_highest_log_joint():
    """Its shares fall; those of another need not."""
    low = make_sample([0] * 9 + [1] * 2 + [2] * 1, -10.0, n_states=3)
    high = make_sample([0] * 3 + [1] * 8 + [2] * 1, -1.0, n_states=3)
    models, reference = name_all(low, high)
    assert reference == 1
    assert_array_equal(models[1].shares * 12, [8, 3, 1])
    # 1, the high sample's largest, covers 6 of the 9 steps of the low one's 0.
    assert_reordered(models[0], low, [0, 1, 2])


def test_names_come_from_a_sample_with_the_usual_number_of_states():
    """The reference is not a sample in which a single step has its own state."""
    states = [0] * 6 + [1] * 5
    samples = [make_sample(states, -3.0), make_sample([*states[:-1], 2], -1.0)]
    samples += [make_sample(states, log_joint) for log_joint in (-2.0, -4.0)]
    assert name_all(*samples)[1] == 2
    assert name_all(*samples[:2])[1] == 0  # as frequent: the lower number


def test_a_match_has_most_in_all():
    """Most observations in all, though the largest pair is (0, 0)."""
    reference = make_sample([0] * 7 + [1] * 4 + [2], 0.0, n_states=3)
    other = make_sample([0] * 4 + [1] * 3 + [0] * 4 + [2], -1.0, n_states=3)
    # Shared by (0, 0): 4, (0, 1): 3, (1, 0): 4, (2, 2): 1; the best has 3 + 4 + 1.
    assert_reordered(name_all(reference, other)[0][1], other, [1, 0, 2])


def test_unused_states_keep_a_name():
    samples = [make_sample([2] * 5, 0.0), make_sample([1] * 5, -1.0)]
    for model, sample in zip(name_all(*samples)[0], samples, strict=True):
        assert_array_equal(model.shares, [1, 0, 0, 0])
        assert sorted(model.startprob) == sorted(sample.model.startprob)


@pytest.mark.parametrize(("is_observed", "order"), [(np.arange(12) < 5, [0, 1]), (True, [1, 0])])
def test_steps_of_which_nothing_was_observed_match_nothing(is_observed, order):
    """There states are draws that no datum holds in place."""
    reference = make_sample([0] * 3 + [1] * 2 + [0] * 7, 0.0, n_states=2)
    other = make_sample([0] * 3 + [1] * 9, -1.0, n_states=2)
    models, _ = name_all(reference, other, is_observed=is_observed)
    assert_reordered(models[1], other, order)


def test_states_keep_their_numbers():
    """States 3 and 0 were 0 and 1; numbers not in use come before 2, which was."""
    later = make_sample([3, 3, 0, 0, 2, 2, 2, 1], n_states=5)
    order = StateOrder(np.arange(0), before=np.array([0, 0, 1, 2], dtype=np.int32))
    models, _ = name_all(later, order=order)
    assert_reordered(models[0], later, [3, 0, 4, 2, 1])


def test_fixed_states_are_never_renamed():
    """State 1 exchanges its steps with state 2 from one sample to the next."""
    samples = [make_sample([3, 3, 1, 2, 1, 0], 1.0), make_sample([3, 3, 2, 1, 2, 0], 0.0)]
    models, _ = name_all(*samples, order=StateOrder(np.arange(4), np.arange(4)))
    for model, sample in zip(models, samples, strict=True):
        assert_reordered(model, sample, range(4))
    models, _ = name_all(*samples, order=StateOrder(np.array([1]), np.array([1])))
    assert_reordered(models[0], samples[0], [3, 1, 0, 2])
    assert_array_equal(models[1].shares[1], samples[1].model.shares[1])
    models, _ = name_all(*samples, order=StateOrder(np.arange(4)))
    assert_reordered(models[0], samples[0], range(4))
    assert_reordered(models[1], samples[1], [0, 2, 1, 3])
