"""Names of states agree across the samples of a chain."""

import numpy as np
from numpy.testing import assert_array_equal

from skdp.data import SequencePanel
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.sequence._hmm._alignment import StateOrder, name_states
from skdp.sequence._hmm._model import HMMModel
from skdp.sequence._hmm._partition import PanelChain, PanelPartition
from skdp.sequence._hmm._sampler import HMMDraw
from skdp.sequence._observed_steps import count_pairs

RNG = np.random.default_rng(0)


def make_sample(states, log_joint, n_states=4):
    """Return a sample whose parameters distinguish its states."""
    states = np.array(states, dtype=np.int32)
    model = HMMModel(
        RNG.dirichlet(np.ones(n_states)),
        RNG.dirichlet(np.ones(n_states), n_states),
        CategoricalModel(RNG.dirichlet(np.ones(3), n_states)),
        np.bincount(states, minlength=n_states) / len(states),
    )
    return HMMDraw(model, states, log_joint)


def rename(sample, order, log_joint):
    """Return the same sample with its states in another order."""
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order))
    return HMMDraw(sample.model.reorder(order), place[sample.states], log_joint)


def name_all(samples, is_observed=None, **options):
    """Name states by the steps that were observed, by all of them unless told otherwise."""
    if is_observed is None:
        is_observed = np.ones(len(samples[0].states), dtype=bool)

    def count(first, second, n_states):
        return count_pairs(first, second, is_observed, n_states)

    return name_states(samples, count, **options)


def assert_same(model, other):
    for name in ("startprob", "transmat", "shares"):
        assert_array_equal(getattr(model, name), getattr(other, name))
    assert_array_equal(model.emission.probs, other.emission.probs)


def test_one_sample_is_ordered_by_share():
    sample = make_sample([3, 3, 1, 3, 0, 0, 3], 0.0)
    (model,), reference = name_all([sample])
    assert reference == 0
    assert_same(model, sample.model.reorder(np.array([3, 0, 1, 2])))


def test_renamed_samples_become_one():
    first = make_sample([3, 3, 1, 3, 0, 0, 3, 2, 2, 2], -5.0)
    samples = [first, rename(first, np.array([2, 0, 3, 1]), -4.0)]
    samples.append(rename(first, np.array([1, 3, 2, 0]), -6.0))
    models, reference = name_all(samples)
    assert reference == 1
    for model in models:
        assert_same(model, models[0])
    assert_array_equal(np.argsort(-models[0].shares, kind="stable"), np.arange(4))


def test_names_come_from_the_highest_log_joint():
    """Its shares fall; those of another need not."""
    low = make_sample([0] * 9 + [1] * 2 + [2] * 1, -10.0, n_states=3)
    high = make_sample([0] * 3 + [1] * 8 + [2] * 1, -1.0, n_states=3)
    models, reference = name_all([low, high])
    assert reference == 1
    assert_array_equal(models[1].shares * 12, [8, 3, 1])
    # 1, the high sample's largest, covers 6 of the 9 steps of the low one's 0.
    assert_same(models[0], low.model.reorder(np.array([0, 1, 2])))


def test_names_come_from_a_sample_with_the_usual_number_of_states():
    """The reference is not a sample in which a single step has its own state."""
    states = [0] * 6 + [1] * 5
    samples = [make_sample(states, -3.0), make_sample([*states[:-1], 2], -1.0)]
    samples += [make_sample(states, log_joint) for log_joint in (-2.0, -4.0)]
    assert name_all(samples)[1] == 2
    assert name_all(samples[:2])[1] == 0  # as frequent: the lower number


def test_a_match_has_most_in_all():
    """Most observations in all, though the largest pair is (0, 0)."""
    reference = make_sample([0] * 7 + [1] * 4 + [2], 0.0, n_states=3)
    other = make_sample([0] * 4 + [1] * 3 + [0] * 4 + [2], -1.0, n_states=3)
    models, _ = name_all([reference, other])
    # Shared by (0, 0): 4, (0, 1): 3, (1, 0): 4, (2, 2): 1; the best has 3 + 4 + 1.
    assert_same(models[1], other.model.reorder(np.array([1, 0, 2])))


def test_unused_states_keep_a_name():
    samples = [make_sample([2] * 5, 0.0), make_sample([1] * 5, -1.0)]
    models, _ = name_all(samples)
    for model in models:
        assert_array_equal(model.shares, [1, 0, 0, 0])
        assert sorted(model.startprob) == sorted(samples[models.index(model)].model.startprob)


def test_steps_of_which_nothing_was_observed_match_nothing():
    """There states are draws that no datum holds in place."""
    is_observed = np.arange(12) < 5
    reference = make_sample([0] * 3 + [1] * 2 + [0] * 7, 0.0, n_states=2)
    other = make_sample([0] * 3 + [1] * 9, -1.0, n_states=2)
    models, _ = name_all([reference, other], is_observed)
    assert_same(models[1], other.model)
    models, _ = name_all([reference, other])
    assert_same(models[1], other.model.reorder(np.array([1, 0])))


def test_partitions_count_observed_steps():
    kept = {1: np.array([0, 1, 1, 0], np.int32), 2: np.array([0, 1, 0, 1], np.int32)}
    panel = SequencePanel.from_sequences([[[0.0], [1.0], [np.nan], [0.0]]])
    partition = PanelPartition(panel, chains={0: PanelChain(None, None, kept[1], kept)})
    assert_array_equal(partition.count_pairs(0, 1, 2, 2)[0], [[1, 1], [0, 1]])


def test_fixed_states_are_never_renamed():
    """State 1 exchanges its steps with state 2 from one sample to the next."""
    samples = [make_sample([3, 3, 1, 2, 1, 0], 1.0), make_sample([3, 3, 2, 1, 2, 0], 0.0)]
    everything = StateOrder(np.arange(4), np.arange(4))
    models, _ = name_all(samples, order=everything)
    for model, sample in zip(models, samples, strict=True):
        assert_same(model, sample.model)
    models, _ = name_all(samples, order=StateOrder(np.array([1]), np.array([1])))
    assert_same(models[0], samples[0].model.reorder(np.array([3, 1, 0, 2])))
    assert_array_equal(models[1].shares[1], samples[1].model.shares[1])
    models, _ = name_all(samples, order=StateOrder(np.arange(4)))
    assert_same(models[0], samples[0].model)
    assert_same(models[1], samples[1].model.reorder(np.array([0, 2, 1, 3])))
