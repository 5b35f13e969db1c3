"""Messages of many sequences in batches, beams, probabilities of prefixes, and the functions."""

from collections import Counter

import numpy as np
import pytest
from exact.oracles.hmm import enumerate_states
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence import hmm_log_likelihood, hmm_posterior, hmm_sample_states, hmm_viterbi
from skdp.sequence._hmm import _messages as _batches
from skdp.sequence._hmm._messages import Batches, HMMMessages, SegmentMessages, find_longest
from skdp.sequence._kernels._messages import filter_in_logs

INF = np.inf
PTR = np.array([0, 3, 4, 4, 9, 10, 17, 18, 20])
LOG_OBS = np.random.default_rng(0).normal(size=(20, 2))
PLAIN = np.array([0.3, 0.7]), np.array([[0.8, 0.2], [0.4, 0.6]])
NARROW = np.array([1.0, 0.0]), np.array([[1.0, 1e-190], [0.0, 1.0]])
"""A way out so narrow that sequences of two steps and more take logarithms."""

DURATIONS = np.log([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]), np.log([[1.0, 0.5, 0.2], [1.0, 0.8, 0.6]])


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def beam(messages, states, rng):
    states[:] = np.arange(len(states)) % 2
    return messages.sample_states_by_beam(states, rng)


METHODS = {
    "plain": (lambda x: HMMMessages(PTR, *PLAIN, x), HMMMessages.sample_states),
    "in logarithms": (lambda x: HMMMessages(PTR, *NARROW, x), HMMMessages.sample_states),
    "beam": (lambda x: HMMMessages(PTR, *PLAIN, x), beam),
    "segments": (
        lambda x: SegmentMessages(PTR, PLAIN[0], np.eye(2)[::-1], x, *DURATIONS),
        SegmentMessages.sample_states,
    ),
}
every_method = pytest.mark.parametrize(("make", "sample"), METHODS.values(), ids=METHODS)


@pytest.mark.parametrize("room", [1, 12, 14, 20, 100])
def test_batches(monkeypatch, room):
    monkeypatch.setattr(_batches, "_ROOM", room)
    batches = Batches(PTR, 2)
    bounds = list(batches)
    assert [first for first, _ in bounds] == [0, *(last for _, last in bounds[:-1])]
    assert bounds[-1][1] == len(PTR) - 1
    n_steps = [PTR[last] - PTR[first] for first, last in bounds]
    assert max(n_steps) <= batches.n_steps <= max(room // 2, find_longest(PTR))
    assert batches.shape == (batches.n_steps, 2)


def test_no_steps():
    assert list(Batches(np.array([0, 0]), 3)) == [(0, 1)]
    assert find_longest(np.array([0, 0])) == 1
    assert list(Batches(np.array([0]), 3)) == []


def results(make, sample):
    """Return likelihoods, posteriors and states of all sequences."""
    messages, likelihoods = make(LOG_OBS), np.empty(len(PTR) - 1)
    messages.log_likelihoods(likelihoods)
    probabilities, states = np.empty(LOG_OBS.shape), np.empty(len(LOG_OBS), dtype=np.int64)
    assert messages.posteriors(probabilities) == -1
    assert sample(messages, states, stream()) == -1
    return likelihoods, probabilities, states


@every_method
def test_results_do_not_depend_on_batches(monkeypatch, make, sample):
    expected = results(make, sample)
    for room in (1, 12, 20):
        monkeypatch.setattr(_batches, "_ROOM", room)
        for found, one in zip(results(make, sample), expected, strict=True):
            assert_array_equal(found, one)


def test_logarithms_are_compiled_when_needed(monkeypatch):
    """A fit of a plain model never calls the kernels that are in logarithms."""
    calls = []

    def note(*args):
        calls.append(1)
        return filter_in_logs(*args)

    monkeypatch.setattr("skdp.sequence._hmm._messages.kernels.filter_in_logs", note)
    results(*METHODS["plain"])
    assert calls == []
    results(*METHODS["in logarithms"])
    assert len(calls) == 3 * np.count_nonzero(np.diff(PTR) > 1)


RNG = np.random.default_rng(3)
N_SEQUENCES = 20_000
SPARSE = np.array([[0.6, 0.4, 0.0], [0.0, 0.5, 0.5], [0.1, 0.0, 0.9]])
OFTEN_FIRST, STICKY = np.array([0.98, 0.01, 0.01]), 0.97 * np.eye(3) + 0.01
HALF = np.array([0.5, 0.5, 0.0])
DEAD_END = HALF, np.array([[1.0, 0, 0], [0, 0.5, 0.5], [0, 0.3, 0.7]])
CASES = {
    "plain": (RNG.dirichlet(np.ones(3)), RNG.dirichlet(np.ones(3), 3), RNG.normal(size=(4, 3))),
    "sparse": (HALF, SPARSE, RNG.normal(size=(4, 3))),
    "unlikely transitions": (OFTEN_FIRST, STICKY, RNG.normal(size=(4, 3))),
    # The states that fit best at first lead to a dead end.
    "800 nats apart": (
        *DEAD_END,
        np.array([[0.0, -800, -800], [0, -800, -799], [0, -800.5, -801], [-9000, 0, 0.5]]),
    ),
    "one step": (np.array([0.2, 0.3, 0.5]), np.eye(3), np.array([[0.0, 1.0, -1.0]])),
}


def draw(model, paths, seed=0):
    """Return paths, (n, T), after a draw by beams."""
    startprob, transmat, log_obs = model
    n, n_steps = paths.shape
    states, ptr = paths.ravel().copy(), np.arange(n + 1) * n_steps
    messages = HMMMessages(ptr, startprob, transmat, np.tile(log_obs, (n, 1)))
    assert messages.sample_states_by_beam(states, stream(seed)) == -1
    return states.reshape(paths.shape)


@pytest.mark.parametrize("case", CASES)
def test_a_draw_by_beams_leaves_the_posterior_as_it_is(case):
    """Paths from p(z given x) are such after a draw: a chi-squared test at 1e-6."""
    _, probabilities = enumerate_states(*CASES[case])
    paths, p = np.array(list(probabilities)), np.array(list(probabilities.values()))
    starts = np.random.default_rng(0).choice(len(paths), p=p / p.sum(), size=N_SEQUENCES)
    paths = draw(CASES[case], paths[starts])
    counts = Counter(map(tuple, paths.tolist()))
    assert all(probabilities[path] > 0.0 for path in counts)
    expected = np.array(list(probabilities.values())) * len(paths)
    found = np.array([counts[path] for path in probabilities])
    rare = expected < 20
    expected = np.append(expected[~rare], expected[rare].sum())
    found = np.append(found[~rare], found[rare].sum())
    kept = expected >= 20
    statistic = ((found - expected)[kept] ** 2 / expected[kept]).sum()
    assert chi2.sf(statistic, max(kept.sum() - 1, 1)) > 1e-6


def test_beams_of_a_panel():
    """Each sequence is drawn on its own; an empty one is passed over, an impossible one named."""
    states, ptr = np.array([0, 0, 0, 0, 1, 2, 1]), np.array([0, 4, 6, 6, 7])
    log_obs = np.where(np.arange(3) == states[:, np.newaxis], 0.0, -INF)
    found = states.copy()
    messages = HMMMessages(ptr, *DEAD_END, log_obs)
    assert messages.sample_states_by_beam(found, stream()) == -1
    assert_array_equal(found, states)
    log_obs[6] = -INF
    assert HMMMessages(ptr, *DEAD_END, log_obs).sample_states_by_beam(found, stream()) == 3
    paths = np.zeros((50, 4), dtype=np.int64)
    first, same, other = (draw(CASES["plain"], paths, seed) for seed in (1, 1, 2))
    assert_array_equal(first, same)
    assert (first != other).any()


ANY = CASES["plain"][:2]
TO_THE_RIGHT = np.array([1.0, 0, 0]), np.array([[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1.0]])
PREFIXES = {
    "plain": (*ANY, RNG.normal(size=(6, 3))),
    # The best path leaves through probabilities that 64 bits cannot hold.
    "logarithms": (
        *TO_THE_RIGHT,
        np.array([[0.0, 0, 0], [0, -2000, 0], [0, -2000, 0], [0, -1000, 0], [-9999, -9999, 0]]),
    ),
    "an impossible step": (
        *TO_THE_RIGHT,
        np.array([[0.0, 0, 0], [-INF, 0, 0], [0, -INF, -INF], [0, 0, 0]]),
    ),
    "an impossible step in logarithms": (
        *TO_THE_RIGHT,
        np.array([[0.0, 0, 0], [0, -2000, 0], [-INF, -9, 0], [0, -INF, -INF], [0, 0, 0]]),
    ),
    "an impossible first step": (TO_THE_RIGHT[0], ANY[1], np.array([[-INF, 0, 0], [0, 0, 0]])),
}


@pytest.mark.parametrize("case", PREFIXES)
def test_log_predictives_of_prefixes(case):
    startprob, transmat, log_obs = PREFIXES[case]
    out = np.empty(len(log_obs))
    HMMMessages(np.array([0, len(out)]), startprob, transmat, log_obs).log_predictives(out)
    prefixes = [(startprob, transmat, log_obs[:t]) for t in range(1, len(log_obs) + 1)]
    expected = [enumerate_states(*prefix)[0] for prefix in prefixes]
    for values in (expected, [hmm_log_likelihood(*prefix)[0] for prefix in prefixes]):
        assert_allclose(np.cumsum(out), values, rtol=1e-13, atol=1e-10)
    assert_array_equal(np.isfinite(out), np.isfinite(expected))


KNOWN = {"startprob": [0.5, 0.5], "transmat": [[0.9, 0.1], [0.2, 0.8]], "ptr": [0, 1, 3]}


@pytest.mark.parametrize(
    "function", [hmm_log_likelihood, hmm_posterior, hmm_sample_states, hmm_viterbi]
)
def test_arguments_of_other_types_and_read_only(function):
    options = {"random_state": 0} if function is hmm_sample_states else {}
    arrays = {
        "startprob": np.array([0.5, 0.5], dtype=np.float32),
        "transmat": np.asfortranarray(KNOWN["transmat"]),
        "log_obs": np.zeros((3, 2), dtype=int),
        "ptr": np.array([0, 1, 3], dtype=np.uint32),
    }
    for array in arrays.values():
        array.flags.writeable = False
    expected = function(**KNOWN, log_obs=np.zeros((3, 2)), **options)
    found = function(**arrays, **options)
    if function is hmm_viterbi:
        expected, found = np.concatenate(expected), np.concatenate(found)
    assert_allclose(found, expected, rtol=1e-6)


def test_no_observations():
    nothing = {**KNOWN, "log_obs": np.empty((0, 2)), "ptr": [0, 0]}
    assert_array_equal(hmm_log_likelihood(**nothing), [0.0])
    assert hmm_posterior(**nothing).shape == (0, 2)
    assert hmm_sample_states(**nothing).shape == (0,)
    assert [part.shape for part in hmm_viterbi(**nothing)] == [(1,), (0,)]
    assert hmm_log_likelihood(**{**nothing, "ptr": [0]}).shape == (0,)


def test_seeds():
    model, rng = {**KNOWN, "log_obs": np.zeros((200, 2)), "ptr": None}, np.random.default_rng(0)
    first, again, *others = (
        hmm_sample_states(**model, random_state=s) for s in (1, 1, 2, rng, rng)
    )
    assert_array_equal(first, again)
    assert len({tuple(states) for states in (first, *others)}) == 4
