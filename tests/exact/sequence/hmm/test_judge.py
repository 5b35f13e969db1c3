"""The judge of the number of states: held-out scores against loops over steps, and decisions."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score
from unit.emissions.helpers import stream

from skdp.emissions import CategoricalEmission, StudentTEmission
from skdp.sequence import HDPHMMLT
from skdp.sequence._hmm._split_merge import StateJudge, StatePartition

PTR = np.array([0, 13, 33, 36])  # blocks of 5 steps, and shorter ones
BLOCKS = [0, 5, 10, 13, 18, 23, 28, 33, 36]
SYMBOLS = np.random.default_rng(0).integers(3, size=36)
STATES = np.array([np.arange(36) // 4 % 2, np.arange(36) // 2 % 3])
A = 0.7  # prior of each symbol


def make_judge():
    emission = CategoricalEmission(3, prior=A).make_sampler(SYMBOLS[:, np.newaxis] * 1.0, 4)
    emission.attach(SYMBOLS[:, np.newaxis] * 1.0)
    return StateJudge(PTR, emission, stream())


def score_block(symbols, rows, n_states):
    """Return log p(symbols), by the forward recursion, given blocks of (state, symbol) pairs."""
    start, moves = np.full(n_states, 1.0 / n_states), np.zeros((n_states, n_states))
    emitted = np.full((n_states, 3), A)
    for block in rows:
        for before, (state, symbol) in zip([None, *block], block, strict=False):
            start[state] += 1.0
            emitted[state, symbol] += 1.0
            if before is not None:
                moves[before[0], state] += 1.0
    start /= start.sum()
    moves += start  # one more transition from each state, to states by their shares
    moves /= moves.sum(axis=1, keepdims=True)
    emitted /= emitted.sum(axis=1, keepdims=True)
    log, now = 0.0, start
    for symbol in symbols:
        now = now * emitted[:, symbol]
        log += math.log(now.sum())
        now = now / now.sum() @ moves
    return log


def test_scores_of_blocks():
    """Each is scored given the blocks of the other fold, which are every second one."""
    judge = make_judge()
    seen = [judge.seen(fold)[0] for fold in (0, 1)]
    found = judge._score([StatePartition(STATES[i][seen[i]]) for i in (0, 1)])
    for b, (begin, end) in enumerate(itertools.pairwise(BLOCKS)):
        states, n_states = STATES[b % 2], b % 2 + 2
        pairs = list(zip(states.tolist(), SYMBOLS.tolist(), strict=True))
        others = [pairs[i:j] for i, j in itertools.pairwise(BLOCKS)]
        rows = [block for c, block in enumerate(others) if c % 2 != b % 2]
        expected = score_block(SYMBOLS[begin:end], rows, n_states)
        assert found[b] == pytest.approx(expected, rel=1e-12)


def test_what_folds_see():
    judge = make_judge()
    for fold in (0, 1):
        steps, ptr = judge.seen(fold)
        blocks = [np.arange(i, j) for i, j in itertools.pairwise(BLOCKS)]
        expected = [block for b, block in enumerate(blocks) if b % 2 != fold]
        assert_array_equal(steps, np.concatenate(expected))
        assert_array_equal(np.diff(ptr), [len(block) for block in expected])


@pytest.mark.parametrize(
    ("gains", "noise", "n_chosen"),
    [
        ((0.0, 0.2, 0.2), 0.1, 2),  # of all that are as good as the best, the smallest number
        ((0.0, 0.2, 0.21), 0.1, 2),
        ((0.0, 0.2, 0.4), 0.1, 3),
        ((0.0, 0.03, 0.03), 0.1, 1),  # more than one standard error, but not two
        ((0.0, 0.07, 0.07), 0.0, 1),  # less than three nats
        ((0.0, 0.2, 0.15), 0.1, 2),
    ],
)
def test_the_smallest_number_within_a_standard_error(gains, noise, n_chosen, monkeypatch):
    """Scores of 40 blocks: gains of a block, and a deviation that blocks do not share."""
    states = np.arange(400) % 3
    emission = CategoricalEmission(3, prior=A).make_sampler(states[:, np.newaxis] * 1.0, 4)
    emission.attach(states[:, np.newaxis] * 1.0)
    judge = StateJudge(np.array([0, 400]), emission, stream())
    wave = noise * np.where(np.arange(40) % 4 < 2, 1.0, -1.0)

    def score(partitions):
        k = partitions[0].n_states - 1
        return -100.0 + gains[k] + wave * k

    monkeypatch.setattr(judge, "_score", score)
    pilots = [StatePartition(states[judge.seen(fold)[0]]) for fold in (0, 1)]
    assert judge.choose(StatePartition(states), None, pilots).n_states == n_chosen


def make_symbols(stay, probabilities, n_steps, seed):
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.random(n_steps) > stay) % len(probabilities)
    symbols = [rng.choice(len(probabilities[0]), p=probabilities[z]) for z in states]
    return states, np.array(symbols)[:, np.newaxis]


@pytest.mark.parametrize("stickiness", [0.0, "auto"])
@pytest.mark.parametrize("probabilities", [[0.5, 0.5], np.ones(20) / 20, [0.6, 0.3, 0.1], [1.0]])
def test_independent_symbols_have_one_state(probabilities, stickiness):
    _, x = make_symbols(1.0, [probabilities], 800, 1)
    model = HDPHMMLT(8, emission="categorical", stickiness=stickiness, max_iter=80, random_state=0)
    model.fit(x)
    assert model.n_active_components_ == 1
    assert not np.diff(model.predict(x)).any()
    assert (model.transmat_[:, 0] == 1.0).all()
    assert not model.convergence_


def test_clear_states_are_found():
    probabilities = 0.05 + 0.35 * np.repeat(np.eye(3), 2, axis=1)
    z, x = make_symbols(0.94, probabilities, 1500, 0)
    model = HDPHMMLT(8, emission="categorical", max_iter=150, random_state=0).fit(x)
    posterior = HDPHMMLT(8, emission="categorical", judge=False, max_iter=150, random_state=0)
    assert model.n_active_components_ == 3
    assert adjusted_rand_score(z, model.predict(x)) > 0.7
    assert posterior.fit(x).n_active_components_ > 3


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (np.zeros(60), 1),
        (np.random.default_rng(3).integers(2, size=60), 1),
        (np.repeat([0, 1], 30), 2),
    ],
)
def test_few_steps(x, expected):
    """Their standard errors tell little."""
    model = HDPHMMLT(5, emission="categorical", max_iter=100, random_state=0)
    assert model.fit(x.astype(int)[:, np.newaxis]).n_active_components_ == expected


@pytest.mark.parametrize("share", [0.0, 0.02])
def test_ordinary_noise_is_one_student_state(share):
    """Gross errors may have a state of their own."""
    rng = np.random.default_rng(2)
    off = rng.random(900) < share
    x = np.where(off, 50.0, 1.0)[:, np.newaxis] * rng.normal(size=(900, 1))
    model = HDPHMMLT(8, emission=StudentTEmission(), max_iter=100, random_state=0).fit(x)
    assert model.n_active_components_ <= 2 - (share == 0.0)
    assert np.count_nonzero(np.diff(model.predict(x)[~off])) == 0
    assert model.trace_["degrees_of_freedom"].mean() > 10.0


def test_first_states_win_a_tie(monkeypatch):
    """They were the most probable ones of their degrees of freedom."""
    x = np.concatenate([np.zeros(300), np.full(300, 9.0)]) + np.random.default_rng(0).normal(
        size=600
    )
    emission = StudentTEmission().make_sampler(x[:, np.newaxis], 4)
    emission.attach(x[:, np.newaxis])
    judge = StateJudge(np.array([0, 600]), emission, stream())
    monkeypatch.setattr(judge, "_score", lambda partitions: np.zeros(40))
    states = np.repeat([0, 1], 300)
    pilots = [StatePartition(states[judge.seen(fold)[0]], 5.0) for fold in (0, 1)]
    chosen = judge.choose(StatePartition(states, 5.0), StatePartition(states, 30.0), pilots)
    assert chosen.setting == 30.0


def test_a_judged_fit_goes_on_from_its_state():
    _, x = make_symbols(1.0, [[0.5, 0.5]], 300, 3)
    short = HDPHMMLT(5, emission="categorical", max_iter=20, burn_in=12, warm_start=True)
    short.set_params(random_state=0).fit(x).set_params(max_iter=40).fit(x)
    whole = HDPHMMLT(5, emission="categorical", max_iter=40, burn_in=12, random_state=0).fit(x)
    assert_allclose(short.trace_["log_joint"], whole.trace_["log_joint"], rtol=0.0)
