"""Moves that split and merge states against enumeration, without other moves of states.

Splits and merges alone reach every way to give states to steps, so that a wrong acceptance
probability shows at once, and with it a wrong evidence of any kind of observations."""

import math
from collections import Counter

import numpy as np
import pytest
from exact.sequence.chains import (
    KNOWN,
    LEFT_RIGHT,
    NAN,
    ONE,
    OTHERS,
    PHI3,
    PLANE,
    THREE,
    TWO,
    changes,
    check,
    move,
    numbers,
    other,
    stream,
    symbols,
    symbols_of_drawn_concentration,
)
from scipy import integrate, special

from skdp._numeric._arithmetic import round_sum
from skdp._numeric._random import draw_key
from skdp.emissions import CategoricalEmission
from skdp.sequence._hmm._split_merge import StateSplitMerge, log_probability_of_merge
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions
from skdp.sequence._kernels import _transitions as _kernels_transitions
from skdp.sequence._kernels import _transitions as kernels

APART = ((1.0, 0.02, 0.02), (0.02, 1.0, 0.02), (0.02, 0.02, 1.0))
DRAWN = {"alpha": None, "gamma": None}
NUMBERS = (((-0.9,), (0.1,), (1.1,)), ((1.0,), (NAN,), (-1.6,)))
IN_PART = (((-1.0, NAN), (NAN, 1.0), (1.2, 1.1)), ((-0.8, -1.0), (NAN, NAN)))

CASES = {
    "plain": symbols(ONE, alpha=0.8),
    "three states": symbols(TWO, n_states=3, alpha=2.5, gamma=1.0),
    "stickiness": symbols(TWO, alpha=2.0, gamma=None, kappa=None),
    "similar, sticky": symbols(TWO, n_states=3, phi=PHI3, kappa=1.0),
    "apart, concentrations": symbols(TWO, n_states=3, phi=APART, **DRAWN),
    "four states, short": symbols(("011", "10"), n_states=4, alpha=3.0, gamma=4.0),
    "concentration of symbols": symbols_of_drawn_concentration(
        THREE, (0.1, 0.5, 0.1, 0.3), (2.0, 1.0), n_states=3
    ),
    "known": symbols(TWO, n_states=4, known=KNOWN, alpha=3.0, gamma=4.0),
    "known in one state, similar": symbols(
        TWO, n_states=3, known=((2, -1, -1), (-1, 2, -1, -1)), phi=PHI3
    ),
    "left-right": symbols(TWO, n_states=3, allowed=LEFT_RIGHT, **DRAWN),
    "numbers": numbers(NUMBERS, n_states=3, kappa=1.0),
    "points, in part missing": numbers(IN_PART, PLANE, n_states=3),
    "changes": changes([(-1.0, 0.9, -1.1, -1.0), (1.0, 0.9, -0.8)], n_states=3),
    **{name: other(name, kappa=0.5 * (name == "bags")) for name in OTHERS},
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_posterior(case):
    moved = []
    check(CASES[case], 20_000, lambda sampler: moved.append(move(sampler)))
    assert np.mean(moved) > 0.02


# Two groups of steps: a Markov chain between the states of their surroundings

SURROUNDINGS = {
    "one run": ([2, -1, -1], [-1, -1, 1]),
    "a sequence of its own": ([3, -1, -1], [-1, -1, 3]),
    "three runs": ([3, -1, 1, 2, -1], [-1, 2, 0, -1, 3]),
    "single steps": ([0, 1, 2, 3], [3, 2, 1, 0]),
}


def expected_of_groups(before, after, log_obs, log_into, log_out_of, log_within):
    """Return all ways to group the steps, and the probability of each."""
    n = len(before)
    ways = np.array([[i >> t & 1 for t in range(n)] for i in range(2**n)], dtype=np.int8)
    logs = np.zeros(len(ways))
    for w, groups in enumerate(ways):
        for t, g in enumerate(groups):
            logs[w] += log_obs[t, g]
            logs[w] += log_within[groups[t - 1], g] if before[t] < 0 else log_into[before[t], g]
            if after[t] >= 0:
                logs[w] += log_out_of[g, after[t]]
    return ways, np.exp(logs - special.logsumexp(logs))


def log_probability(*args):
    sums = np.zeros(3, dtype=np.int64)
    kernels.log_probability_of_groups(*args, sums)
    return round_sum(sums)


@pytest.mark.parametrize("case", SURROUNDINGS)
def test_probability_of_groups(case):
    before, after = (np.array(x) for x in SURROUNDINGS[case])
    rng = np.random.default_rng(0)
    log_obs = 2.0 * rng.normal(size=(len(before), 2))
    tables = rng.normal(size=(4, 2)), rng.normal(size=(2, 4)), rng.normal(size=(2, 2))
    ways, expected = expected_of_groups(before, after, log_obs, *tables)
    odds = np.empty(len(before))
    kernels.filter_groups(log_obs, before, after, *tables, odds)
    for flip in (0, 1):
        found = [log_probability(odds, after, tables[2], groups ^ flip, flip) for groups in ways]
        np.testing.assert_allclose(np.exp(found), expected, rtol=1e-10)


@pytest.mark.parametrize("case", SURROUNDINGS)
def test_draws_of_groups(case):
    """|z| < 5 for 32 figures at most: a false alarm in 2e-5 cases."""
    before, after = (np.array(x) for x in SURROUNDINGS[case])
    normal = np.random.default_rng(1).normal
    log_obs = normal(size=(len(before), 2))
    tables = normal(size=(4, 2)), normal(size=(2, 4)), normal(size=(2, 2))
    ways, expected = expected_of_groups(before, after, log_obs, *tables)
    odds = np.empty(len(before))
    kernels.filter_groups(log_obs, before, after, *tables, odds)
    rng, groups = stream(), np.empty(len(before), dtype=np.int8)
    steps, key = np.arange(len(before)), np.empty_like(rng)
    n_draws, found = 20_000, np.zeros(len(ways))
    for _ in range(n_draws):
        draw_key(rng, key)
        kernels.draw_groups(odds, steps, after, tables[2], 0, groups, key, np.empty_like(rng))
        found[int((groups.astype(int) << np.arange(len(groups))).sum())] += 1.0
    error = np.sqrt(expected * (1.0 - expected) / n_draws)
    assert np.all(np.abs(found / n_draws - expected) < 5.0 * error + 1e-9)


def test_certain_steps():
    """A group that cannot have emitted a step does not get it, however far off the other is."""
    before, after = np.array([2, -1, -1]), np.array([-1, -1, 2])
    log_obs = np.array([[0.0, -np.inf], [-1e4, -2e4], [-np.inf, -5.0]])
    tables = np.zeros((3, 2)), np.zeros((2, 3)), np.log([[0.5, 0.5], [0.5, 0.5]])
    odds, groups = np.empty(3), np.empty(3, dtype=np.int8)
    kernels.filter_groups(log_obs, before, after, *tables, odds)
    key, rng = stream(), np.empty(4, dtype=np.uint64)
    kernels.draw_groups(odds, np.arange(3), after, tables[2], 0, groups, key, rng)
    assert groups.tolist() == [0, 0, 1]
    assert log_probability(odds, after, tables[2], groups, 0) > -1e-9


def test_steps_and_windows():
    ptr = np.array([0, 6, 6, 10])
    states = np.array([0, 1, 1, 2, 0, 0, 1, 3, 0, 1])
    steps, before, after = np.empty((3, 10), dtype=np.int64)
    n = kernels.list_steps(ptr, states, 5, 0, 1, steps, before, after)
    assert steps[:n].tolist() == [0, 1, 2, 4, 5, 6, 8, 9]
    assert before[:n].tolist() == [5, -1, -1, 2, -1, 5, 3, -1]
    assert after[:n].tolist() == [-1, -1, 2, -1, 5, 3, -1, 5]
    windows = np.empty(n, dtype=np.int64)
    assert kernels.cut_windows(before[:n], 2, windows) == 5
    assert windows.tolist() == [0, 0, 1, 2, 2, 3, 4, 4]
    groups = np.array([0, 1, 1, 0, 0, 1, 1, 0], dtype=np.int8)
    into, out_of = np.empty((6, 2), dtype=np.int64), np.empty((2, 6), dtype=np.int64)
    within = np.empty((2, 2), dtype=np.int64)
    kernels.count_groups(before[:n], after[:n], groups, into, out_of, within)
    assert into.tolist() == [[0, 0], [0, 0], [1, 0], [0, 1], [0, 0], [1, 1]]
    assert out_of.tolist() == [[0, 0, 0, 0, 0, 2], [0, 0, 1, 1, 0, 0]]
    assert within.tolist() == [[1, 1], [1, 1]]


# Times, with rates summed out

ROWS = {
    "plain": ([3, 0, 2], [0.5, 0.2, 0.8], [0.0, 0.0, 0.0]),
    "similar": ([3, 1, 2], [0.5, 0.2, 0.8], [0.0, -1.5, -4.0]),
    "small": ([1, 0, 0], [0.01, 0.3, 0.02], [-0.5, -3.0, -1.0]),
    "impossible": ([0, 5, 2], [2.0, 0.2, 0.8], [-math.inf, -0.1, -4.0]),
    "many": ([300, 1000, 2], [2.0, 0.2, 0.8], [-0.3, -0.1, -9.0]),
}


@pytest.mark.parametrize("case", ROWS)
def test_times_without_rates(case):
    """|z| < 5 for 3 figures of 30,000 draws: a false alarm in 2e-6 cases."""
    counts, shapes, log_phi = (np.array(x) for x in ROWS[case])
    sums = counts + shapes

    def log_density(v):
        v = v[:, np.newaxis]
        return counts.sum() * v[:, 0] - (sums * np.logaddexp(0.0, v + log_phi)).sum(axis=1)

    grid = np.linspace(-60.0, 900.0, 9_601)
    logs = log_density(grid)
    likely = grid[logs > logs.max() - 50.0]
    v = np.linspace(likely[0] - 0.1, likely[-1] + 0.1, 40_001)
    logs = log_density(v)
    cdf = integrate.cumulative_trapezoid(np.exp(logs - logs.max()), v, initial=0.0)
    cdf /= cdf[-1]
    draws, rng = np.empty(30_000), stream()
    shape = len(draws), len(counts)
    _kernels_transitions.draw_times_without_rates(
        *(np.broadcast_to(x, shape).copy() for x in (counts, sums, log_phi)), draws, rng
    )
    u = np.interp(draws, v, cdf)  # uniform
    figures = np.array([u - 0.5, (u - 0.5) ** 2 - 1.0 / 12.0, (u < 0.1) - 0.1])
    deviations = np.array([math.sqrt(1 / 12), math.sqrt(1 / 180), 0.3])
    z = figures.mean(axis=1) / deviations * math.sqrt(len(draws))
    assert np.all(np.abs(z) < 5.0), z


@pytest.mark.parametrize("kappa", [0.0, 3.0])
def test_what_a_move_changes(kappa):
    """The part of log p that a move changes is all that differs."""
    rng = np.random.default_rng(0)
    priors = TransitionPriors(2.0, (1.0, 1.0), 1.5, (1.0, 1.0), kappa, (1.0, 1.0))
    transitions = Transitions(5, priors, stream())
    ptr = np.array([0, 30, 60])
    old = rng.integers(0, 4, 60)
    new = np.where((old == 1) & (rng.random(60) < 0.5), 3, old)
    before = rng.dirichlet(np.ones(5))
    after = before.copy()
    after[[1, 3]] = before[[1, 3]].sum() * np.array([0.3, 0.7])
    counts = transitions.count(ptr, new), transitions.count(ptr, old)
    expected = transitions.log_probability_of(counts[0], after)
    expected -= transitions.log_probability_of(counts[1], before)
    found = transitions.log_ratio(counts, (after, before), 1, 3)
    assert found == pytest.approx(expected, rel=1e-10)


def test_choice_of_merges(monkeypatch):
    """Merges are tried as often as is reckoned with; a false alarm in 1e-5 cases."""
    tried = Counter()
    monkeypatch.setattr(
        StateSplitMerge,
        "_accept",
        lambda self, states, drawn, a, b, *more: bool(tried.update([(a, b)])),
    )
    states = np.repeat([0, 2, 3, 5], [1, 2, 4, 20])
    sampler = CategoricalEmission(2).make_sampler(np.zeros((27, 1)), 6)
    sampler.attach(np.zeros((27, 1)))
    priors = TransitionPriors(2.0, (1.0, 1.0), 1.5, (1.0, 1.0), 0.0, (1.0, 1.0))
    rng = stream()
    moves = StateSplitMerge(np.array([0, 27]), states, Transitions(6, priors, rng), sampler, rng)
    for _ in range(6_000):
        moves.try_once()
    counts = np.bincount(states, minlength=6)
    merges = {(a, b): n for (a, b), n in tried.items() if counts[b] > 0}
    total = sum(merges.values())
    assert len(merges) == 12
    for (_, b), n in merges.items():
        p = math.exp(log_probability_of_merge(counts, b))
        assert abs(n / total - p) < 5.0 * math.sqrt(p * (1.0 - p) / total)
