"""States as unions of components: their fits and evidence, by enumeration."""

import math
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from exact.oracles.hmm import enumerate_states, log_sum
from numpy.testing import assert_allclose
from scipy.special import betaln

from skdp.sequence._hmm._messages import HMMMessages
from skdp.sequence._hmm._sampler import StatesOfUnions, _choose_blocks

PTR, LATER = np.array([0, 4, 4, 7]), [1, 2, 3, 5, 6]
"""Bounds of sequences, and the steps that follow another."""


def enumerate_all(startprob, transmat, log_obs):
    """Return log p(x), expected transitions, and probabilities of the states of `LATER`."""
    n_states, total = len(startprob), 0.0
    counts, visits = np.zeros((n_states, n_states)), np.zeros((7, n_states))
    for begin, end in ((0, 4), (4, 7)):
        log_probability, paths = enumerate_states(startprob, transmat, log_obs[begin:end])
        total += log_probability
        for states, p in paths.items():
            np.add.at(counts, (states[:-1], states[1:]), p)
            visits[range(begin, end), states] += p
    return total, counts, visits[LATER]


def fit_unions(startprob, transmat, log_obs, members):
    """Fit a model with a state for each column of `members`, a mixture of its components."""
    _, counts, later = enumerate_all(startprob, transmat, log_obs)
    visits, moves, densities = later.sum(axis=0), members.T @ counts @ members, np.exp(log_obs)
    for _ in range(10):
        visits += 1e-3
        start = members.T @ visits
        shares = members * visits[:, np.newaxis] / start
        mixed, rows = densities @ shares, moves + 0.01
        rows /= rows.sum(axis=1, keepdims=True)
        total, moves, later = enumerate_all(start / visits.sum(), rows, np.log(mixed))
        visits = (densities[LATER] * ((later / mixed[LATER]) @ shares.T)).sum(axis=0)
    return total, moves


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("labels", [[0, 1, 2], [0, 0, 2], [0, 1, 0]])
def test_union_is_one_state_with_a_mixture(seed, labels):
    rng = np.random.default_rng(seed)
    startprob, transmat = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), 3)
    model = startprob, transmat, 2.0 * rng.normal(size=(7, 3))
    names = np.unique(labels)
    total, moves = StatesOfUnions(PTR, *model).fit(np.array(labels))
    expected, counts = fit_unions(*model, 1.0 * np.equal.outer(labels, names))
    assert total == pytest.approx(expected, rel=1e-9)
    assert_allclose(moves[np.ix_(names, names)], counts, rtol=1e-8)


def test_changes_between_unions():
    rng, labels = np.random.default_rng(0), np.array([0, 1, 0])
    model = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), 3), rng.normal(size=(5, 3))
    found, expected = np.empty(5), np.zeros(5)
    HMMMessages(np.array([0, 5]), *model).changes(found, labels)
    for states, p in enumerate_states(*model)[1].items():
        expected[1:] += p * (np.diff(labels[list(states)]) != 0)
    assert_allclose(found, expected, rtol=1e-9)


def log_evidence(counts):
    """Log evidence of counts under Dirichlet(1/2), less their largest log likelihood."""
    total, seen = 0.0, np.zeros(len(counts))
    for j, n in enumerate(counts):
        for _ in range(n):
            total += math.log((seen[j] + 0.5) / (seen.sum() + 0.5 * len(counts)))
            seen[j] += 1
    return total - sum(n * math.log(n / sum(counts)) for n in counts if n)


def test_evidence_has_what_follows_and_what_comes_before():
    unions = StatesOfUnions(np.array([0, 3]), np.full(4, 0.25), np.full((4, 4), 0.25), np.eye(3, 4))
    counts = np.array([[4, 2, 1, 0.1], [1, 7, 3, 0.1], [2, 2, 6, 0.1], [0, 0, 0, 0]])
    unions.fit = lambda labels: (float(len(np.unique(labels))), counts)
    expected = 1.0  # the last component is hardly ever visited, and has no price
    for rows in ([[5, 2], [8, 2]], [[4, 1], [1, 3], [2, 6]]):
        expected += sum(map(log_evidence, rows)) - log_evidence(np.sum(rows, axis=0).tolist())
    assert unions.log_factor(np.arange(4), 0, 2) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(8))
def test_near_the_exact_bayes_factor(seed):
    """All paths of two states, whose rows of transitions have priors Beta(1/2, 1/2)."""
    rng, lasts = np.random.default_rng(seed), bool(seed % 2)
    x = 3.0 * (np.arange(12) // 6 if lasts else rng.integers(2, size=12)) + rng.normal(size=12)
    log_obs, two, one = -0.5 * (x[:, np.newaxis] - [0.0, 3.0]) ** 2, [], []
    for path in product((0, 1), repeat=12):
        own, n = log_obs[range(12), path].sum(), Counter(pairwise(path))
        a, b = (np.array([n[j, 0], n[j, 1]]) + 0.5 for j in (0, 1))
        two.append(own + betaln(*a) + betaln(*b))
        one.append(own + betaln(*(a + b - 0.5)))
    exact = log_sum(two) - log_sum(one) - math.log(math.pi)
    unions = StatesOfUnions(np.array([0, 12]), np.full(2, 0.5), np.eye(2) / 2 + 0.25, log_obs)
    assert -0.9 < unions.log_factor(np.arange(2), 0, 1) - exact < 0.3  # vague data: one state
    assert (exact > 2.0) >= lasts


def test_blocks_of_long_panels():
    ptr, steps = _choose_blocks(np.array([0, 700, 100_000]))
    assert 15_000 < ptr[-1] == len(steps) <= 25_000 < 99_000 < steps[-1]
    assert (np.diff(steps)[np.setdiff1d(np.arange(1, len(steps)), ptr) - 1] == 1).all()
    assert len(_choose_blocks(np.array([0, 20_000]))[1]) == 20_000
