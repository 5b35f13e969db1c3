"""The representative partition against brute force over all partitions of a few rows."""

import numpy as np
import pytest
from exact.oracles.mixtures import partitions

from skdp.mixture._partition import by_size, representative_partition


def pairs(labels):
    labels = np.asarray(labels)
    return labels[:, np.newaxis] == labels


def binder(labels, other):
    return np.count_nonzero(pairs(labels) != pairs(other)) / 2


def entropy(table):
    shares = table[table > 0] / table.sum()
    return -(shares * np.log(shares)).sum()


def vi(labels, other):
    table = np.zeros((len(labels), len(labels)))
    np.add.at(table, (labels, other), 1)
    return 2 * entropy(table) - entropy(table.sum(axis=0)) - entropy(table.sum(axis=1))


LOSSES = {"binder": binder, "vi": vi}


def count_clusters(labels):
    return len(np.unique(labels))


def mean_loss(labels, samples, loss):
    return np.mean([LOSSES[loss](labels, sample) for sample in samples])


@pytest.mark.parametrize("loss", LOSSES)
def test_loss_is_never_above_that_of_a_sample_and_a_local_minimum(loss):
    rng = np.random.default_rng(0)
    every = partitions(6)
    for _ in range(40):
        truth = np.array(every[rng.integers(len(every))])
        noise = rng.random((8, 6)) < 0.25
        samples = np.where(noise, rng.integers(0, 4, (8, 6)), truth).astype(np.int32)
        found = representative_partition(samples, loss)
        least, most = mean_loss(found, samples, loss), max(map(count_clusters, samples))
        assert count_clusters(found) <= most
        assert least <= min(mean_loss(s, samples, loss) for s in samples) + 1e-9
        for i in range(6):
            for k in range(found.max() + 2):
                moved = found.copy()
                moved[i] = k
                if count_clusters(moved) <= most:
                    assert least <= mean_loss(moved, samples, loss) + 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_the_best_of_all_is_found_nearly_always(loss):
    rng = np.random.default_rng(1)
    every = [np.array(labels) for labels in partitions(5)]
    n_best = 0
    for _ in range(30):
        truth = every[rng.integers(len(every))]
        noise = rng.random((9, 5)) < 0.2
        samples = np.where(noise, rng.integers(0, 3, (9, 5)), truth).astype(np.int32)
        found = mean_loss(representative_partition(samples, loss), samples, loss)
        most = max(map(count_clusters, samples))
        few = [labels for labels in every if count_clusters(labels) <= most]
        n_best += found <= min(mean_loss(labels, samples, loss) for labels in few) + 1e-9
    assert n_best >= 27


def test_binders_loss_breaks_no_pieces_off():
    """Of all partitions, it is least for one with the rows that two components share apart."""
    rng = np.random.default_rng(2)
    samples = np.repeat([[0, 1, 2]], 100, axis=1).repeat(20, axis=0).astype(np.int32)
    shared = slice(200, 300)
    samples[:, shared] = (rng.random((20, 1)) < 0.3) ^ (rng.random((20, 100)) < 0.3)
    samples = samples[:, rng.permutation(300)]
    found = representative_partition(samples, "binder")
    assert count_clusters(found) == 2
    pieces = representative_partition(np.vstack([samples, np.arange(300) % 12]), "binder")
    assert count_clusters(pieces) > 3  # as one sample has as many


def test_clusters_are_named_by_size():
    np.testing.assert_array_equal(by_size(np.array([4, 4, 2, 7, 7, 7])), [1, 1, 2, 0, 0, 0])
    np.testing.assert_array_equal(by_size(np.array([3, 1, 1, 3])), [0, 1, 1, 0])
