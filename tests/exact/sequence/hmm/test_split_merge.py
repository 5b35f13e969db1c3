"""Moves that split and merge states against enumeration, without other moves of states.

Splits and merges alone reach every way to give states to steps, so that a wrong acceptance
probability shows at once.
"""

import math
from collections import Counter

import numpy as np
import pytest
from exact.oracles.autoregression import MatrixNormalInverseWishart
from exact.oracles.hdp_hmm import NormalInverseWishart, Problem, expect
from scipy import integrate, special

from skdp._numeric._random import draw_key, make_seed_sequence, make_stream
from skdp._numeric._sums import round_sum
from skdp.data import SequencePanel
from skdp.emissions import AutoregressiveEmission, CategoricalEmission, GaussianEmission
from skdp.sequence import FixedSimilarity
from skdp.sequence._hmm import _kernels_split_merge as kernels
from skdp.sequence._hmm import _kernels_transitions
from skdp.sequence._hmm._hints import KnownStates
from skdp.sequence._hmm._split_merge import StateSplitMerge, log_probability_of_merge
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions

NAN = math.nan
ONE = ((0, 0, 1, 1, 0, 1, 1),)
TWO = ((0, 0, 1), (1, 1, 0, 0))
THREE = ((0, 0, 2), (2, 2, 1, 0))
PHI = ((1.0, 0.2), (0.05, 0.6))
PHI3 = ((1.0, 0.3, 0.05), (0.5, 0.8, 0.2), (0.01, 0.6, 1.0))
APART = ((1.0, 0.02, 0.02), (0.02, 1.0, 0.02), (0.02, 0.02, 1.0))
KNOWN = ((0, -1, -1), (-1, 1, -1, -1))
LEFT_RIGHT = ((1, 1, 1), (0, 1, 1), (0, 0, 1), (1, 1, 1))
LINE = NormalInverseWishart(mean=(0.2,), precision=0.5, freedom=2.5, scale=((0.8,),))
PLANE = NormalInverseWishart((0.0, 0.0), 0.4, 2.5, ((1.0, 0.8), (0.8, 1.0)))
SLOPE = MatrixNormalInverseWishart(((0.3, 0.1),), ((0.6, 0.1), (0.1, 0.4)), 2.5, ((0.5,),))
NUMBERS = (((-0.9,), (0.1,), (1.1,)), ((1.0,), (-0.7,), (-1.6,)))
MISSING = (((NAN,), (0.1,), (1.1,)), ((1.0,), (NAN,), (-1.6,)))
CHANGES = (((-1.0,), (0.9,), (-1.1,), (-1.0,)), ((1.0,), (0.9,), (-0.8,)))
POINTS = (((-1.0, -0.2), (-0.7, -0.9), (0.9, 0.8)), ((1.2, 0.4), (-0.8, -0.6), (0.8, 1.3)))
IN_PART = (((-1.0, NAN), (NAN, 1.0), (1.2, 1.1)), ((-0.8, -1.0), (NAN, NAN)))

CASES = {
    "plain": Problem(ONE, alpha=0.8),
    "three states": Problem(TWO, n_states=3, alpha=2.5, gamma=1.0),
    "three states, concentrations": Problem(TWO, n_states=3, alpha=None, gamma=None),
    "three states, sticky": Problem(TWO, n_states=3, kappa=1.5),
    "stickiness": Problem(TWO, alpha=2.0, gamma=None, kappa=None),
    "similar": Problem(ONE, phi=PHI),
    "three states, similar": Problem(TWO, n_states=3, phi=PHI3),
    "three states, similar, sticky": Problem(TWO, n_states=3, phi=PHI3, kappa=1.0),
    "three states, apart, concentrations": Problem(
        TWO, n_states=3, alpha=None, gamma=None, phi=APART
    ),
    "four states, short": Problem(((0, 1, 1), (1, 0)), n_states=4, alpha=3.0, gamma=4.0),
    "symbols": Problem(
        THREE, n_states=3, n_symbols=4, concentration_prior=(2.0, 1.0), base=(0.1, 0.5, 0.1, 0.3)
    ),
    "known": Problem(TWO, n_states=4, known=KNOWN, alpha=3.0, gamma=4.0),
    "known in one state, similar": Problem(
        TWO, n_states=3, known=((2, -1, -1), (-1, 2, -1, -1)), phi=PHI3
    ),
    "left-right": Problem(TWO, n_states=3, allowed=LEFT_RIGHT, alpha=None, gamma=None),
    "numbers": Problem(NUMBERS, n_states=3, gaussian=LINE),
    "numbers, two missing": Problem(MISSING, n_states=3, kappa=1.0, gaussian=LINE),
    "changes": Problem(CHANGES, n_states=3, regression=SLOPE),
    "points": Problem(POINTS, n_states=3, gaussian=PLANE),
    "points, in part missing": Problem(IN_PART, n_states=3, gaussian=PLANE),
}
FAST = (
    "three states",
    "three states, apart, concentrations",
    "symbols",
    "known",
    "numbers",
    "changes",
)


def run(problem, n_moves, seed=0, emission=None):
    """Return what `expect` does, and the share of moves that were accepted."""
    n_states = problem.n_states
    panel = SequencePanel.from_sequences([np.array(s, float) for s in problem.sequences])
    streams = [make_stream(make_seed_sequence(seed + i)) for i in range(2)]
    priors = TransitionPriors(
        problem.gamma, problem.gamma_prior, problem.alpha, problem.alpha_prior,
        problem.kappa, problem.share_prior,
    )  # fmt: skip
    more = ()
    if emission is not None:
        pass
    elif problem.regression is not None:
        prior, more = problem.regression, (panel.ptr,)
        emission = AutoregressiveEmission(
            problem.n_lags, coef_prior=prior.coefs, coef_precision_prior=prior.precision,
            degrees_of_freedom_prior=prior.freedom, covariance_prior=prior.scale,
        )  # fmt: skip
    elif problem.concentration_prior is not None:
        emission = CategoricalEmission(
            problem.n_symbols,
            concentration_prior=problem.concentration_prior,
            base="uniform" if problem.base is None else problem.base,
        )
    elif problem.gaussian is None:
        emission = CategoricalEmission(problem.n_symbols, problem.prior)
    else:
        prior = problem.gaussian
        emission = GaussianEmission(
            mean_prior=prior.mean, mean_precision_prior=prior.precision,
            degrees_of_freedom_prior=prior.freedom, covariance_prior=np.array(prior.scale),
        )  # fmt: skip
    sampler = emission.make_sampler(panel.values, n_states, *more)
    sampler.attach(panel.values, *more)
    allowed = None if problem.allowed is None else np.array(problem.allowed, dtype=bool)
    transitions = Transitions(n_states, priors, streams[0], allowed=allowed)
    if problem.phi is not None:
        similarity = FixedSimilarity(problem.phi).make_sampler(n_states)
        transitions.take_similarity(similarity, sampler)
    states, known = np.zeros(len(panel.values), dtype=np.int64), None
    if problem.known is not None:
        known = KnownStates(np.concatenate(problem.known), n_states)
        known.write(states)
    rng = streams[1]
    draws = {"used": [], "together": [], "alpha": [], "kappa": [], "gamma": []}
    if problem.concentration_prior is not None:
        draws["log_concentration"] = []
    n_accepted = 0
    for _ in range(n_moves):
        sampler.complete(states, rng)
        moves = StateSplitMerge(panel.ptr, states, transitions, sampler, rng, known=known)
        moved = moves.try_once()
        n_accepted += moved
        transitions.draw(panel.ptr, states, rng, rates_known=not moved)
        sampler.draw(states, rng)
        draws["used"].append(len(set(states.tolist())))
        draws["together"].append(states[:, None] == states)
        for name in ("alpha", "kappa", "gamma"):
            draws[name].append(getattr(transitions, name))
        if problem.concentration_prior is not None:
            draws["log_concentration"].append(np.log(sampler.concentration))
    found = {name: np.array(values, dtype=float) for name, values in draws.items()}
    return found, n_accepted / n_moves


def check(problem, n_moves, n_draws, n_batches=40, emission=None):
    expected = expect(problem, n_draws=n_draws)
    found, rate = run(problem, n_moves, emission=emission)
    assert rate > 0.02, rate
    for name, values in found.items():
        batches = values.reshape(n_batches, -1, *values.shape[1:]).mean(axis=1)
        error = np.hypot(batches.std(axis=0) / np.sqrt(n_batches - 1), expected.error[name])
        difference = np.abs(batches.mean(axis=0) - expected.mean[name])
        assert np.all(difference < 5.0 * error + 1e-9), (name, difference / (error + 1e-12))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_posterior(case):
    """|z| < 5 for up to 25 figures a case: a false alarm in 1e-5 cases."""
    check(CASES[case], 20_000, 200_000)


@pytest.mark.parametrize("case", FAST)
def test_posterior_in_short(case):
    """|z| < 5 for up to 25 figures a case: a false alarm in 1e-5 cases."""
    check(CASES[case], 6_000, 60_000)


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
    rng, groups = make_stream(make_seed_sequence(0)), np.empty(len(before), dtype=np.int8)
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
    key, rng = make_stream(make_seed_sequence(0)), np.empty(4, dtype=np.uint64)
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
    draws, rng = np.empty(30_000), make_stream(make_seed_sequence(0))
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
    transitions = Transitions(5, priors, make_stream(make_seed_sequence(0)))
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
    rng = make_stream(make_seed_sequence(0))
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
