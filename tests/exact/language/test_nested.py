"""The chains of NestedPitmanYorLM, and their joint, against enumeration (see nested.py)."""

from dataclasses import replace
from itertools import product
from math import log

import numpy as np
import pytest
from exact.language.draws import check_states
from exact.language.franchise import stirling
from exact.language.nested import enumerate_segmentations, enumerate_tables, log_joint, problem_of
from exact.language.seats import letter_sizes, word_sizes
from scipy.special import betaln, gammaln
from scipy.stats import beta, gamma

from skdp.data import TokenSequences
from skdp.language import NestedPitmanYorLM

ORDERS = [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2)]
"""Of words and of characters."""


def model(problem, **params):
    """Return the estimator with everything held fixed that the problem holds fixed."""
    params = {
        "character_order": len(problem.character_discounts),
        "max_word_length": problem.max_word_length,
        "length_correction": (problem.length_factors or ())[: problem.max_word_length],
        "end_probability": problem.end_probability if problem.end_prior is None else "auto",
        "end_probability_prior": problem.end_prior or (1.0, 1.0),
        "discount": (problem.word_discounts, problem.character_discounts),
        "concentration": (problem.word_concentrations, problem.character_concentrations),
        "anneal": None,
        "n_chains": 1,
        "n_samples": 1,
        "random_state": 0,
        **params,
    }
    return NestedPitmanYorLM(len(problem.word_discounts), **params)


def inner_places(strings):
    """Return which letters are not the last of their string."""
    return np.array([i < len(s) - 1 for s in strings for i in range(len(s))])


def data_of(problem):
    """Return the arguments of a fit."""
    known = problem.known_cuts or [None] * len(problem.strings)
    return problem.strings, [None if cuts is None else np.array(cuts) for cuts in known]


CASES = {
    "two strings": {"strings": ["aab", "ab"]},
    "an empty one": {"strings": ["abab", "", "ab", "a"]},
    "self-overlapping": {"strings": ["aab", "aaa", "ab"]},
    "five letters": {"strings": ["abcab", "cab"]},
    "known cuts": {"strings": ["aabab", "ab"], "known_cuts": [[-1, 1, -1, 0], None]},
    "short words": {"strings": ["abcab", "ba"], "max_word_length": 3},
    "one string": {"strings": ["aab"]},
    "a letter": {"strings": ["ab", "a"]},
    "unknown end": {"strings": ["ab", "a"], "end_prior": (2.5, 0.7)},
}
LISTED = ("one string", "a letter", "unknown end")
"""Their tables are few enough to list them all."""
MOVES = {"strings": 0.0, "types": 3.0}
FIRST = [("one string", (2, 2), "types")]
EVERY = [
    (case, orders, list(MOVES)[(i + j) % 2])
    for i, case in enumerate(CASES)
    for j, orders in enumerate(ORDERS)
    if case not in LISTED or orders != (2, 3)
]
EVERY += [("two strings", (2, 2), "strings"), ("one string", (2, 2), "strings")]


@pytest.mark.parametrize(
    ("case", "orders", "moves"),
    FIRST + [pytest.param(*each, marks=pytest.mark.slow) for each in EVERY if each not in FIRST],
    ids=str,
)
def test_posterior(case, orders, moves):
    """Probabilities of cuts; numbers of tables, and the probability of the end."""
    problem = problem_of(orders=orders, **CASES[case])
    inner = inner_places(problem.strings)
    cuts = np.concatenate(enumerate_segmentations(problem).boundaries)
    is_sure = np.isclose(cuts, np.rint(cuts), atol=1e-12)
    expected = {"P(cut)": cuts}
    if case in LISTED:
        listed = enumerate_tables(problem)
        expected["tables of words"] = listed.word_tables
        expected["tables of characters"] = listed.character_tables
        expected["probability of the end"] = listed.end_probability

    def record(state):
        assert state.cuts[~inner].all()
        assert np.array_equal(state.cuts[inner][is_sure], np.rint(cuts)[is_sure])
        tables = state.word_tables, state.character_tables, state.end_probability
        return (state.cuts[inner], *tables)[: len(expected)]

    check_states(model(problem, type_moves=MOVES[moves]), data_of(problem), record, expected)


def words_of(strings, cuts):
    """Return the words of strings whose characters have `cuts` behind them, end to end."""
    found, start = [], 0
    for string in strings:
        ends = np.flatnonzero(cuts[start : start + len(string)]) + 1
        found.append(tuple(string[a:b] for a, b in zip([0, *ends], ends, strict=False)))
        start += len(string)
    return found


PRIORS = {"discount_prior": (2.0, 3.0), "concentration_prior": (1.5, 0.7)}
LEARNED = {"discount": "auto", "concentration": "auto", **PRIORS}


def log_prior(discounts, concentrations):
    """Return the log density of learned hyper-parameters, without its constants."""
    of_discounts = beta.logpdf(discounts, 2.0, 3.0) + betaln(2.0, 3.0)
    constant = gammaln(1.5) - 1.5 * log(0.7)
    return sum(of_discounts) + sum(gamma.logpdf(concentrations, 1.5, scale=1 / 0.7) + constant)


@pytest.mark.parametrize("orders", ORDERS, ids=str)
@pytest.mark.parametrize("given", [{}, LEARNED], ids=["given", "learned"])
def test_log_joint(orders, given):
    """Seats, spellings, lengths, ends and learned parameters, with the seats of a chain."""
    problem = problem_of(["abcab", "cab", "", "ab", "abab", "aa"] * 3, orders)
    text, lengths = "".join(problem.strings), {"length_correction": "poisson"} if given else {}
    for state in model(problem, max_iter=10, **given, **lengths).iter_sweeps(problem.strings):
        hyper = {
            f"{of}_{name}": getattr(state, f"{of}_{name}")
            for of, name in product(["word", "character"], ["discounts", "concentrations"])
        }
        factors = (state._sampler.prices[1:] / (1.0 - problem.end_probability)).tolist()
        now = replace(problem, **hyper, length_factors=factors)
        seats = word_sizes(state._sampler, text), letter_sizes(state._sampler, "abc")
        expected = log_joint(now, words_of(problem.strings, state.cuts), *seats)
        if given:
            expected += log_prior(now.word_discounts, now.word_concentrations)
            expected += log_prior(now.character_discounts, now.character_concentrations)
        assert state.log_joint() == pytest.approx(expected, rel=1e-10)


# --- long stretches without a cut -----------------------------------------------------------------

N_LETTERS, LONGEST = 20_000, 100
SHARE = 0.7
LETTERS, WORDS = (0.3, 4_000.0), (0.2, 1.5)
"""Discounts and concentrations."""
SHORT = 1.6e4
"""Length factor of words of one or two letters, with which no way is far less probable."""


def log_rising(x, step, n):
    return float(np.log(x + step * np.arange(n)).sum())


def log_joint_of_one(n_words, n_letters):
    """Return log p(letters, cuts) of one string of words and letters that all differ. Neither have
    contexts, so it is a direct product, but for the tables of the ends of words."""
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


@pytest.mark.slow
@pytest.mark.parametrize("init", ["online", "whole"])
def test_two_long_words(init):
    """200 letters, whose probability is below the smallest float. 100 are one word, then come two
    free ones, and 98 that are one word or end one."""
    n = 2 * LONGEST
    string = np.random.default_rng(0).permutation(N_LETTERS)[:n]
    known = np.zeros(n - 1, np.int8)
    free = [LONGEST, LONGEST + 1]  # between the free letters, and behind them
    known[[LONGEST - 1, *free]] = -1
    assert log_joint_of_one(2, n) < -1600.0
    ways = np.array([(a, b) for a in (0, 1) for b in (0, 1)])
    short = np.array([0, 1, 1, 2])  # words of one or two letters
    logs = np.array([log_joint_of_one(2 + a + b, n) for a, b in ways]) + np.log(SHORT) * short
    shares = np.exp(logs - np.logaddexp.reduce(logs))
    assert shares.min() > 0.1

    def record(state):
        assert np.isfinite(state.log_joint())
        assert state.cuts[LONGEST - 1]
        assert not state.cuts[: n - 1][known == 0].any()
        return (state.cuts[free] == ways).all(axis=1)

    estimator = NestedPitmanYorLM(
        1, character_order=1, max_word_length=LONGEST, length_correction=[SHORT] * 2 + [1.0] * 98,
        end_probability=SHARE, discount=(WORDS[0], LETTERS[0]), anneal=None, init=init,
        concentration=(WORDS[1], LETTERS[1]), n_chains=1, random_state=0,
    )  # fmt: skip
    X = TokenSequences.from_sequences([string], N_LETTERS)
    check_states(estimator, (X, [known]), record, {"ways to cut the string": shares}, 4_000)
