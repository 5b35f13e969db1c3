"""The oracle of collocations against seats that are taken in turn."""

from collections import Counter
from math import exp, log

import pytest
from exact.language import nested
from exact.language.collocations import (
    END,
    Evidence,
    Problem,
    enumerate_tables,
    enumerate_ways,
    joint_ways,
    outcomes_of,
    ways,
)


def seat_by_seat(problem, chosen):
    """Return p(ways to cut), by recursion over the customers; letters come last."""
    letters = nested.Evidence(problem.of_words)
    p = problem

    def take(queue, collocations, words):
        """Return the probability of all that is still to come.

        Tables are lists of (outcome, customers); the queue holds collocations and words.
        """
        if not queue:
            return letters.spelled(Counter(w for w, _ in words))
        (is_word, outcome), rest = queue[0], queue[1:]
        tables = words if is_word else collocations
        d = p.word_discount if is_word else p.discount
        theta = p.word_concentration if is_word else p.concentration
        n = sum(c for _, c in tables)
        total = 0.0
        for i, (other, c) in enumerate(tables):
            if other == outcome:
                seated = [*tables[:i], (other, c + 1), *tables[i + 1 :]]
                both = (collocations, seated) if is_word else (seated, words)
                total += (c - d) / (theta + n) * take(rest, *both)
        opened = [*tables, (outcome, 1)]
        both = (collocations, opened) if is_word else (opened, words)
        share = (theta + d * len(tables)) / (theta + n)
        if is_word:
            share *= p.length_factors[len(outcome) - 1]
        elif outcome == END:
            share *= p.end_probability
        else:
            s = p.stop_probability
            share *= (1.0 - p.end_probability) * s * (1.0 - s) ** (len(outcome) - 1)
            rest = [*((True, w) for w in outcome), *rest]
        return total + share * take(rest, *both)

    queue = [(False, a) for way in chosen for a in (*way, END)]
    return take(queue, [], [])


@pytest.mark.parametrize("strings", [["aa"], ["ab", "a"], ["aab"], ["aa", "aa"]], ids=str)
def test_seats_one_by_one(strings):
    problem = Problem(strings)
    evidence = Evidence(problem)
    for chosen in joint_ways(problem):
        assert evidence.of(chosen) == pytest.approx(seat_by_seat(problem, chosen), rel=1e-10)


@pytest.mark.parametrize("priors", [{}, {"end_prior": (2.0, 0.7), "stop_prior": (0.8, 1.4)}])
def test_tables_summed_and_listed(priors):
    problem = Problem(["aab", "b"], **priors)
    expected = enumerate_ways(problem).log_evidence
    assert enumerate_tables(problem).log_evidence == pytest.approx(expected, rel=1e-10)


def test_unknown_probabilities_by_quadrature():
    """Beta priors integrated out, against a sum over values of both probabilities."""
    flat = Problem(["ab", "a"], end_prior=(1.0, 1.0), stop_prior=(1.0, 1.0))
    n = 200
    total = sum(
        exp(
            enumerate_ways(
                Problem(["ab", "a"], end_probability=(i + 0.5) / n, stop_probability=0.4)
            ).log_evidence
        )
        / n
        for i in range(n)
    )
    given = Problem(["ab", "a"], end_prior=(1.0, 1.0))
    assert enumerate_ways(given).log_evidence == pytest.approx(log(total), rel=1e-4)
    total = sum(
        exp(
            enumerate_ways(
                Problem(["ab", "a"], end_prior=(1.0, 1.0), stop_probability=(i + 0.5) / n)
            ).log_evidence
        )
        / n
        for i in range(n)
    )
    assert enumerate_ways(flat).log_evidence == pytest.approx(log(total), rel=1e-4)


def test_ways():
    problem = Problem(["abc"], max_word_length=2, max_collocation_length=2)
    found = ways("abc", problem)
    assert len(found) == len(set(found)) == 5
    assert (("a", "b"), ("c",)) in found
    assert ways("", problem) == [()]
    assert len(ways("aaa", Problem(["aaa"]))) == 9
    assert outcomes_of([()]) == Counter({END: 1})
