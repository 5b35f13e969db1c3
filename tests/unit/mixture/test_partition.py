"""The representative partition against brute force over all partitions of a few rows."""

import signal

import numpy as np
import pytest
from exact.oracles.mixtures import partitions

from skdp.inference._chain import InterruptGuard
from skdp.mixture import PitmanYorMixture, _base
from skdp.mixture._rows import _partition
from skdp.mixture._rows._partition import by_size, representative_partition


def pairs(labels):
    labels = np.asarray(labels)
    return labels[:, np.newaxis] == labels


def binder(labels, other):
    return np.count_nonzero(pairs(labels) != pairs(other)) / 2


def entropy(table):
    shares = table[table > 0] / table.sum()
    return -(shares * np.log(shares)).sum()


def vi(labels, other):
    table = np.zeros((len(labels) + 1, len(labels) + 1))  # a moved row may have a new label
    np.add.at(table, (labels, other), 1)
    return 2 * entropy(table) - entropy(table.sum(axis=0)) - entropy(table.sum(axis=1))


LOSSES = {"binder": binder, "vi": vi}


def count_clusters(labels):
    return len(np.unique(labels))


def median_count(samples):
    """Return the most clusters that the representative partition may have."""
    return int(np.median([count_clusters(sample) for sample in samples]))


def mean_loss(labels, samples, loss):
    return np.mean([LOSSES[loss](labels, sample) for sample in samples])


@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_is_a_local_minimum_and_nearly_always_the_least(loss):
    """No sample, no move of a row and no union of clusters is better."""
    rng = np.random.default_rng(0)
    every, n_best = [np.array(labels) for labels in partitions(5)], 0
    for _ in range(30):
        truth = every[rng.integers(len(every))]
        noise = rng.random((9, 5)) < 0.2
        samples = np.where(noise, rng.integers(0, 4, (9, 5)), truth).astype(np.int32)
        found = representative_partition(samples, loss)
        least, most = mean_loss(found, samples, loss), median_count(samples)
        few = [sample for sample in samples if count_clusters(sample) <= most]
        assert count_clusters(found) <= most
        assert least <= min(mean_loss(s, samples, loss) for s in few) + 1e-9
        for i in range(5):
            for k in range(found.max() + 2):
                moved = found.copy()
                moved[i] = k
                others = np.delete(samples, i, axis=1)[:, np.delete(found, i) == k]
                is_apart = others.shape[1] > 0 and np.all(others != samples[:, [i]])
                if count_clusters(moved) <= most and not is_apart:
                    assert least <= mean_loss(moved, samples, loss) + 1e-9
        for k in range(found.max() + 1):
            for other in range(k):
                merged = np.where(found == k, other, found)
                assert least <= mean_loss(merged, samples, loss) + 1e-9
        few = [labels for labels in every if count_clusters(labels) <= most]
        n_best += least <= min(mean_loss(labels, samples, loss) for labels in few) + 1e-9
    assert n_best >= 27


def test_binders_loss_breaks_no_pieces_off():
    """The loss alone is least for a partition that separates the rows shared by two components."""
    rng = np.random.default_rng(2)
    samples = np.repeat([[0, 1, 2]], 100, axis=1).repeat(20, axis=0).astype(np.int32)
    shared = slice(200, 300)
    samples[:, shared] = (rng.random((20, 1)) < 0.3) ^ (rng.random((20, 100)) < 0.3)
    samples = samples[:, rng.permutation(300)]
    found = representative_partition(samples, "binder")
    assert count_clusters(found) == 2
    odd = np.arange(300, dtype=np.int32) % 12
    found = representative_partition(np.vstack([samples, odd]), "binder")
    assert count_clusters(found) == 2
    pieces = representative_partition(np.vstack([samples, *[odd] * 21]), "binder")
    assert count_clusters(pieces) > 3  # as more than half of the samples have as many


@pytest.mark.parametrize("loss", LOSSES)
def test_pieces_of_a_cluster_are_put_together(loss):
    """No row leaves its piece alone, which is as large as the other one."""
    samples = np.zeros((4, 40), dtype=np.int32)
    labels = np.repeat([0, 1], 20)
    sizes, tables = np.empty(2, dtype=np.int64), np.empty((4, 1, 2), dtype=np.int64)
    _partition.kernels.tabulate(labels, samples, sizes, tables)
    assert _partition._merge(labels, 40, loss == "vi", sizes, tables)
    assert count_clusters(labels) == 1
    np.testing.assert_array_equal(np.sort(sizes), [0, 40])
    np.testing.assert_array_equal(np.sort(tables[:, 0]), [[0, 40]] * 4)
    assert not _partition._merge(labels, 40, loss == "vi", sizes, tables)


def test_clusters_are_named_by_size():
    np.testing.assert_array_equal(by_size(np.array([4, 4, 2, 7, 7, 7])), [1, 1, 2, 0, 0, 0])
    np.testing.assert_array_equal(by_size(np.array([3, 1, 1, 3])), [0, 1, 1, 0])


def draw_samples(n_rows):
    """Draw partitions that agree but for noise: there is much to improve."""
    rng = np.random.default_rng(3)
    noise = rng.random((8, n_rows)) < 0.25
    return np.where(noise, rng.integers(0, 3, (8, n_rows)), np.arange(n_rows) % 3).astype(np.int32)


def test_an_interrupt_is_heard_within_a_pass(monkeypatch):
    """A Ctrl-C comes in the fourth call of the kernel, which is the last."""
    samples, improve, n_done = draw_samples(1000), _partition.kernels.improve, []

    def improve_and_interrupt(*args):
        n_done.append(improve(*args))
        if len(n_done) == 4:
            signal.raise_signal(signal.SIGINT)
        return n_done[-1]

    monkeypatch.setattr(_partition, "_WORK", 8 * 3 * 100)
    with monkeypatch.context() as patch:
        patch.setattr(_partition.kernels, "improve", improve_and_interrupt)
        with pytest.raises(KeyboardInterrupt), InterruptGuard():
            found = representative_partition(samples, "binder")
    assert len(n_done) == 4
    before = min(mean_loss(s, samples, "binder") for s in samples)
    after = mean_loss(representative_partition(samples, "binder"), samples, "binder")
    assert after < mean_loss(found, samples, "binder") < before


def interrupt_and_find(*args):
    signal.raise_signal(signal.SIGINT)
    return representative_partition(*args)


def test_after_an_interrupt_it_is_the_first_sample():
    samples = draw_samples(1000)
    with pytest.raises(KeyboardInterrupt), InterruptGuard():
        found = interrupt_and_find(samples, "binder")
    np.testing.assert_array_equal(found, by_size(samples[0]))


def test_where_it_is_cut_has_no_effect(monkeypatch):
    samples = draw_samples(500)
    expected = representative_partition(samples, "vi")
    monkeypatch.setattr(_partition, "_WORK", 1)
    np.testing.assert_array_equal(representative_partition(samples, "vi"), expected)


def test_a_fit_that_is_interrupted_at_its_end_is_a_fit(monkeypatch):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = PitmanYorMixture(max_iter=6, random_state=0)
    monkeypatch.setattr(_base, "representative_partition", interrupt_and_find)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.labels_.shape == (40,)
    assert model.n_iter_ == 6
    assert model.predict(X).shape == (40,)
