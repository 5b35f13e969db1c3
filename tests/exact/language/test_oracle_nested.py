"""The oracle of nested models: tables summed out against every seat of every customer."""

from collections import Counter
from math import exp, log, prod

import numpy as np
import pytest
from exact.language import hpylm
from exact.language.franchise import events_of, predictive
from exact.language.nested import (
    END,
    Evidence,
    Problem,
    State,
    enumerate_segmentations,
    enumerate_tables,
    frozen_spelling,
    frozen_string,
    frozen_word,
    joint_segmentations,
    log_joint,
    segmentations,
    states,
)
from exact.language.story import Franchise, seatings
from scipy.special import roots_jacobi

G = (0.7, 1.9, 0.4, 1.2, 0.8)
ORDERS = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3)]
LEVELS = "word", "character"


def problem_of(strings, orders=(2, 2), **changes):
    """Return a problem whose words are cheap, so that all segmentations have a share."""
    word, character = orders
    given = {
        "word_discounts": (0.3, 0.5, 0.6)[:word],
        "word_concentrations": (1.0, 0.7, 0.4)[:word],
        "character_discounts": (0.2, 0.4, 0.7)[:character],
        "character_concentrations": (0.8, 0.5, 0.3)[:character],
        "length_factors": G,
        "max_word_length": 5,
        "end_probability": 0.3,
    }
    return Problem(strings, **{**given, **changes})


def naive_seatings(problem, chosen):
    """Yield every seating of words and of the letters of their tables at the root."""
    n_symbols = problem.n_characters + 1
    characters = Franchise(
        problem.character_discounts, problem.character_concentrations,
        lambda state, letter: [(1.0 / n_symbols, state)], "character",
    )  # fmt: skip

    def spell(state, word):
        factor = problem.prior_of_outcome(word)
        letters = events_of(word, len(problem.character_discounts), END) if word else []
        for probability, after in seatings(characters, letters, state):
            yield factor * probability, after

    words = Franchise(problem.word_discounts, problem.word_concentrations, spell, "word")
    events = [e for of in chosen for e in events_of(of, len(problem.word_discounts), END)]
    yield from seatings(words, events)


def test_all_segmentations():
    assert segmentations("abc", 5) == [("abc",), ("ab", "c"), ("a", "bc"), ("a", "b", "c")]
    assert segmentations("abc", 2) == [("ab", "c"), ("a", "bc"), ("a", "b", "c")]
    assert segmentations("abc", 5, [-1, 0]) == [("abc",), ("a", "bc")]
    assert segmentations("abc", 5, [1, 0]) == [("a", "bc")]
    assert segmentations("a", 1) == [("a",)]
    assert segmentations("", 1) == [()]
    assert len(list(joint_segmentations(problem_of(["abcde", "ab", ""])))) == 16 * 2


@pytest.mark.parametrize("factors", [None, G])
@pytest.mark.parametrize("orders", ORDERS, ids=str)
@pytest.mark.parametrize("strings", [["aa"], ["aba"], ["a", "a"], ["b", "b", "ab"]], ids=str)
def test_evidence_sums_all_seatings(strings, orders, factors):
    problem = problem_of(strings, orders, length_factors=factors)
    found = enumerate_segmentations(problem)
    expected = [
        sum(probability for probability, _ in naive_seatings(problem, chosen))
        for chosen in joint_segmentations(problem)
    ]
    np.testing.assert_allclose(found.log_evidences, np.log(expected), rtol=1e-12)
    assert found.log_evidence == pytest.approx(log(sum(expected)), rel=1e-12)
    np.testing.assert_allclose(found.probabilities, expected / np.sum(expected), rtol=1e-12)


@pytest.mark.parametrize("orders", ORDERS, ids=str)
def test_tables_sum_all_seatings(orders):
    problem = problem_of(["aa", "a"], orders)
    total = 0.0
    tables: Counter = Counter()
    means = {(name, kind): np.zeros(order) for name, order in zip(LEVELS, orders, strict=True)
             for kind in ("tables", "customers")}  # fmt: skip
    for chosen in joint_segmentations(problem):
        for probability, state in naive_seatings(problem, chosen):
            total += probability
            for (name, u, w), sizes in state.items():
                tables[name, u, w] += probability * len(sizes)
                means[name, "tables"][len(u)] += probability * len(sizes)
                means[name, "customers"][len(u)] += probability * sum(sizes)
    found = enumerate_tables(problem)
    assert found.log_evidence == pytest.approx(log(total), rel=1e-12)
    assert found.cells == pytest.approx({c: t / total for c, t in tables.items()}, rel=1e-12)
    for (name, kind), expected in means.items():
        np.testing.assert_allclose(getattr(found, f"{name}_{kind}"), expected / total, rtol=1e-12)


@pytest.mark.parametrize("orders", ORDERS, ids=str)
def test_joint_of_seats(orders):
    """Seats one by one are as probable as the restaurants say, and of all of them."""
    problem = problem_of(["aa", "a"], orders)
    for chosen in joint_segmentations(problem):
        for probability, state in naive_seatings(problem, chosen):
            of_words, of_letters = (
                {(u, w): list(sizes) for (kind, u, w), sizes in state.items() if kind == name}
                for name in LEVELS
            )
            expected = log(probability)
            found = log_joint(problem, chosen, of_words, of_letters)
            assert found == pytest.approx(expected, rel=1e-12)


def test_two_roads_to_the_evidence():
    """Where seats are too many: tables summed out depth by depth, and one by one."""
    problem = problem_of(["abab", "ba"])
    by_depth, by_state = enumerate_segmentations(problem), enumerate_tables(problem)
    assert by_state.log_evidence == pytest.approx(by_depth.log_evidence, rel=1e-12)
    means = [np.mean(values) for values in by_depth.boundaries]
    assert 0.05 < min(means) < max(means) < 0.95


def test_letters_are_a_pitman_yor_model():
    """Spellings that are given: the evidence of the n-gram oracle."""
    problem = problem_of(["abb"])
    spellings = Counter({"ab": 2, "b": 1})
    model = hpylm.Model(2, problem.character_discounts, problem.character_concentrations)
    expected = hpylm.enumerate_posterior(model, [[0, 1], [0, 1], [1]]).log_evidence
    assert Evidence(problem).spelled(spellings) == pytest.approx(exp(expected), rel=1e-12)


def test_words_are_a_pitman_yor_model():
    """Every word is known: one of length 1 that is spelled anew at each table of the root."""
    problem = problem_of(
        ["aaa"], max_word_length=1, character_discounts=(0.0,), character_concentrations=(1e9,)
    )
    per_word = 0.7 * G[0] / 4  # a letter and the end, each 1/2
    model = hpylm.Model(1, problem.word_discounts, problem.word_concentrations,
                        base=(per_word, problem.end_probability))  # fmt: skip
    expected = hpylm.enumerate_posterior(model, [[0, 0, 0]]).log_evidence
    found = enumerate_segmentations(problem)
    assert found.log_evidence == pytest.approx(expected, rel=1e-7)
    np.testing.assert_allclose(found.boundaries[0], 1.0, rtol=1e-12)


def test_first_string_by_hand():
    """One character, order 1 and 1: one customer a table; the end of the word comes second."""
    problem = problem_of(["a"], (1, 1))
    spelled = 1 / 2 * ((0.8 + 0.2) / (0.8 + 1) * 1 / 2)
    opens = (1.0 + 0.3) / (1.0 + 1)
    expected = 0.7 * G[0] * spelled * opens * 0.3
    assert enumerate_segmentations(problem).log_evidence == pytest.approx(log(expected), rel=1e-12)


def test_spans_and_boundaries():
    problem = problem_of(["abab", "", "ab", "a"])
    found = enumerate_segmentations(problem)
    for string, spans, cuts in zip(problem.strings, found.spans, found.boundaries, strict=True):
        n = len(string)
        assert cuts.shape == (max(n - 1, 0),)
        covered = [sum(p for (i, j), p in spans.items() if i <= k < j) for k in range(n)]
        np.testing.assert_allclose(covered, 1.0, rtol=1e-12)
        ends = [sum(p for (_, j), p in spans.items() if j == k) for k in range(1, n)]
        np.testing.assert_allclose(cuts, ends, rtol=1e-12)
    assert found.probabilities.sum() == pytest.approx(1.0, rel=1e-12)


def test_known_cuts_are_conditioned_on():
    free = enumerate_segmentations(problem_of(["aab", "ab"]))
    known = enumerate_segmentations(problem_of(["aab", "ab"], known_cuts=[[-1, 1], None]))
    kept = [len(words[-1]) == 1 for words, _ in free.segmentations]
    share = free.probabilities[kept]
    np.testing.assert_allclose(known.probabilities, share / share.sum(), rtol=1e-12)
    assert known.log_evidence == pytest.approx(free.log_evidence + log(share.sum()), rel=1e-12)


@pytest.mark.parametrize("prior", [(1.0, 1.0), (2.5, 0.7)])
@pytest.mark.parametrize("strings", [["aba"], ["ab", "b", ""]], ids=str)
def test_unknown_probability_of_the_end(strings, prior):
    """The integral by a quadrature of problems in which it is known, exact for polynomials."""
    a, b = prior
    nodes, weights = roots_jacobi(16, b - 1.0, a - 1.0)
    shares = weights / weights.sum()
    known = [problem_of(strings, end_probability=(1.0 + x) / 2.0) for x in nodes]
    unknown = problem_of(strings, end_prior=prior)
    evidences = np.exp([enumerate_segmentations(p).log_evidences for p in known])
    found = enumerate_segmentations(unknown)
    np.testing.assert_allclose(np.exp(found.log_evidences), shares @ evidences, rtol=1e-11)
    with_tables = enumerate_tables(unknown)
    assert with_tables.log_evidence == pytest.approx(found.log_evidence, rel=1e-12)
    posterior = shares * evidences.sum(axis=1)
    mean = posterior @ (1.0 + nodes) / 2.0 / posterior.sum()
    assert with_tables.end_probability == pytest.approx(mean, rel=1e-11)


def test_strings_are_exchangeable():
    one, other = (enumerate_segmentations(problem_of(x)) for x in (["aab", "b"], ["b", "aab"]))
    assert one.log_evidence == pytest.approx(other.log_evidence, rel=1e-12)
    np.testing.assert_allclose(one.boundaries[0], other.boundaries[1], rtol=1e-12)


def test_frozen_words_sum_to_one():
    """One letter, words of up to 60: what is missing is the share of a word without letters."""
    problem = problem_of(
        ["a"], length_factors=None, max_word_length=60, character_concentrations=(5.0, 5.0)
    )
    hyper = problem.character_discounts, problem.character_concentrations
    of_words = problem.word_discounts, problem.word_concentrations
    words = [END, *("a" * k for k in range(1, 60))]
    for state in states(problem):
        empty = predictive((-1,), END, *state.letters, *hyper, {END: 1 / 2})
        for context in [(), (-1,), ("a",), ("aa",)]:
            total = sum(frozen_word(problem, state, context, w) for w in words)
            missing = predictive(context, "none", *state.words, *of_words, {"none": 0.7 * empty})
            assert missing > 0.01
            assert total + missing == pytest.approx(1.0, rel=1e-12)


def test_first_word_of_a_new_string_is_what_the_evidence_adds():
    """A string of one word, nothing before: its first event is the same frozen or not."""
    problem = problem_of(["ab"], (1, 1), max_word_length=1, end_probability=0.3)
    both = problem_of(["ab", ""], (1, 1), max_word_length=1, end_probability=0.3)
    ratio = (
        enumerate_segmentations(both).log_evidence - enumerate_segmentations(problem).log_evidence
    )
    assert enumerate_tables(problem, [""]).log_probabilities[0] == pytest.approx(ratio, rel=1e-12)


def test_frozen_string_by_hand():
    """No seats at all: each word is new, each letter uniform, and the words do not learn."""
    problem = problem_of(["ab"], (2, 2))
    empty = State((), ({}, {}), ({}, {}), 1.0)
    assert frozen_spelling(problem, empty, "ab") == pytest.approx(1 / 27, rel=1e-14)
    word, pair = 0.7 * G[0] / 9, 0.7 * G[1] / 27
    expected = 0.3 * (word**2 + pair)
    assert frozen_string(problem, empty, "ab") == pytest.approx(expected, rel=1e-14)


def test_factors_of_lengths():
    """g multiplies the tables at the root: where each word has one, the words themselves."""
    plain, factored = (
        enumerate_segmentations(problem_of(["abc"], length_factors=g)) for g in (None, G)
    )
    for words, before, after in zip(
        plain.segmentations, plain.log_evidences, factored.log_evidences, strict=True
    ):
        assert after - before == pytest.approx(log(prod(G[len(w) - 1] for w in words[0])))
