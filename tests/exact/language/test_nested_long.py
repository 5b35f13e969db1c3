"""Long stretches without a cut, whose letters' probability is below the smallest float.

All letters differ, letters and words have no contexts: the joint is a direct product, but for the
tables of the ends of words.
"""

import numpy as np
import pytest
from exact.language.franchise import stirling
from exact.oracles.batch_means import assert_means

from skdp.data import TokenSequences
from skdp.language import NestedPitmanYorLM

N_LETTERS, LONGEST = 20_000, 100
SHARE = 0.7
BURN_IN, N_SWEEPS = 100, 4_000
LETTERS, WORDS = (0.3, 4_000.0), (0.2, 1.5)
"""Discounts and concentrations."""
SHORT = 1.6e4
"""Length factor of words of one or two letters, with which no way is far less probable."""


def log_rising(x, step, n):
    return float(np.log(x + step * np.arange(n)).sum())


def log_joint(n_words, n_letters):
    """Return log p(letters, cuts) of one string of words that all differ."""
    d, theta = WORDS
    events = n_words + 1
    total = log_rising(theta, d, events) - log_rising(theta, 1.0, events)
    total += n_words * np.log(1.0 - SHARE) + np.log(SHARE)
    d, theta = LETTERS
    ends = stirling(n_words, d)[n_words]
    ways = [
        np.log(ends[t])
        + log_rising(theta, d, n_letters + t)
        - (n_letters + t) * np.log(N_LETTERS + 1.0)
        for t in range(1, n_words + 1)
    ]
    return total + np.logaddexp.reduce(ways) - log_rising(theta, 1.0, n_letters + n_words)


@pytest.mark.parametrize("init", ["online", "whole"])
def test_two_long_words(init):
    """200 letters: 100 that are one word, two free ones, 98 that are one word or end one."""
    n = 2 * LONGEST
    string = np.random.default_rng(0).permutation(N_LETTERS)[:n]
    known = np.zeros(n - 1, np.int8)
    places = [LONGEST, LONGEST + 1]  # between the free letters, and behind them
    known[[LONGEST - 1, *places]] = -1
    assert log_joint(2, n) < -1600.0
    model = NestedPitmanYorLM(
        1, character_order=1, max_word_length=LONGEST, length_correction=[SHORT] * 2 + [1.0] * 98,
        end_probability=SHARE, discount=(WORDS[0], LETTERS[0]), anneal=None, init=init,
        concentration=(WORDS[1], LETTERS[1]), max_iter=BURN_IN + N_SWEEPS, random_state=0,
    )  # fmt: skip
    X = TokenSequences.from_sequences([string], N_LETTERS)
    cuts, joints = [], []
    for state in model._iter_sweeps(X, [known]):
        cuts.append(state.cuts.copy())
        joints.append(state.log_joint())
    cuts = np.array(cuts, dtype=bool)[:, : n - 1]
    assert np.all(np.isfinite(joints))
    assert np.all(cuts[:, LONGEST - 1])
    assert not cuts[:, known == 0].any()
    ways = [(a, b) for a in (0, 1) for b in (0, 1)]
    short = [0, 1, 1, 2]  # words of one or two letters
    logs = np.array([log_joint(2 + a + b, n) for a, b in ways]) + np.log(SHORT) * np.array(short)
    shares = np.exp(logs - np.logaddexp.reduce(logs))
    found = np.array([(cuts[:, places] == way).all(axis=1) for way in ways], dtype=float).T
    assert shares.min() > 0.1
    assert_means(found[BURN_IN:], shares, "ways to cut the string")
