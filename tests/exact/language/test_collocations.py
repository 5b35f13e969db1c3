"""The chains of CollocationPitmanYorLM, and their joint, against enumeration."""

from dataclasses import replace

import numpy as np
import pytest
from exact.language.collocations import Problem, enumerate_tables, enumerate_ways, log_joint
from exact.language.draws import check_states
from exact.language.seats import collocation_sizes, letter_sizes
from exact.language.test_nested import LEARNED, data_of, inner_places, log_prior
from scipy.special import betaln
from scipy.stats import beta

from skdp.language import CollocationPitmanYorLM


def model(problem, **params):
    """Return the estimator with everything held fixed that the problem holds fixed."""
    p = problem
    params = {
        "character_order": len(p.character_discounts),
        "max_word_length": p.max_word_length,
        "max_collocation_length": p.max_collocation_length,
        "length_correction": p.length_factors[: p.max_word_length],
        "end_probability": p.end_probability if p.end_prior is None else "auto",
        "end_probability_prior": p.end_prior or (1.0, 1.0),
        "stop_probability": p.stop_probability if p.stop_prior is None else "auto",
        "stop_prior": p.stop_prior or (1.0, 1.0),
        "discount": (p.discount, p.word_discount, p.character_discounts),
        "concentration": (p.concentration, p.word_concentration, p.character_concentrations),
        "anneal": None,
        "n_chains": 1,
        "n_samples": 1,
        "random_state": 0,
        **params,
    }
    return CollocationPitmanYorLM(**params)


CASES = {
    "two strings": Problem(["aab", "ab"]),
    "one letter of context": Problem(
        ["aab", "ab"], character_discounts=(0.3,), character_concentrations=(0.7,)
    ),
    "an empty one": Problem(["abab", "", "ab", "a"]),
    "five letters": Problem(["abcab", "cab"]),
    "short words": Problem(["abcab", "cab"], max_word_length=2, max_collocation_length=4),
    "self-overlapping": Problem(["aab", "aaa", "ab"]),
    "known cuts": Problem(
        ["aabab", "aabab"],
        known_cuts=[[-1, 1, -1, 0], None],
        max_word_length=4,
        max_collocation_length=4,
    ),
    "one string": Problem(["aab"]),
    "a letter": Problem(["ab", "a"]),
    "three strings": Problem(["aa", "aa", "a"]),
    "unknown probabilities": Problem(["aab", "b"], end_prior=(2.5, 0.7), stop_prior=(0.8, 1.4)),
}
LISTED = ("one string", "a letter", "three strings", "unknown probabilities")
"""Their tables are few enough to list them all."""


@pytest.mark.parametrize(
    "case",
    [
        "three strings",
        *(pytest.param(case, marks=pytest.mark.slow) for case in CASES if case != "three strings"),
    ],
)
def test_posterior(case):
    """Ends of words and of collocations; numbers of tables, and unknown probabilities."""
    problem = CASES[case]
    inner, exact = inner_places(problem.strings), enumerate_ways(problem)
    expected = {"P(cut)": np.concatenate(exact.words), "P(end)": np.concatenate(exact.collocations)}
    if case in LISTED:
        tables = enumerate_tables(problem)
        expected["tables"] = [
            tables.collocation_tables, tables.word_tables, *tables.character_tables
        ]  # fmt: skip
        expected["probabilities"] = [tables.end_probability, tables.stop_probability]

    def record(state):
        assert state.ends[~inner].all()
        assert state.cuts[state.ends].all()
        found = (
            state.cuts[inner],
            state.ends[inner],
            [state.collocation_tables, *state.word_tables, *state.character_tables],
            [state.end_probability, state.stop_probability],
        )
        return found[: len(expected)]

    check_states(model(problem), data_of(problem), record, expected)


def ways_of(strings, cuts, ends):
    """Return the collocations of strings."""
    found, start = [], 0
    for string in strings:
        way, words, begin = [], [], 0
        for i in range(len(string)):
            if cuts[start + i]:
                words.append(string[begin : i + 1])
                begin = i + 1
            if ends[start + i]:
                way.append(tuple(words))
                words = []
        found.append(tuple(way))
        start += len(string)
    return found


ALL_LEARNED = {
    **LEARNED,
    "length_correction": "poisson",
    "stop_probability": "auto",
    "stop_prior": (1.3, 2.1),
    "end_probability": "auto",
    "end_probability_prior": (2.2, 0.9),
}


@pytest.mark.parametrize("given", [{}, ALL_LEARNED], ids=["given", "learned"])
def test_log_joint(given):
    """Seats, spellings, lengths, probabilities and parameters, with the seats of a chain."""
    problem = Problem(["abcab", "cab", "", "ab", "abab", "aa"] * 3)
    text = "".join(problem.strings)
    for state in model(problem, max_iter=10, **given).iter_sweeps(problem.strings):
        now = replace(
            problem,
            discount=state.collocation_discount,
            concentration=state.collocation_concentration,
            word_discount=state.word_discounts[0],
            word_concentration=state.word_concentrations[0],
            character_discounts=state.character_discounts,
            character_concentrations=state.character_concentrations,
            length_factors=state._sampler.prices[1:].tolist(),
            end_probability=state.end_probability,
            stop_probability=state.stop_probability,
        )
        chosen = ways_of(problem.strings, state.cuts, state.ends)
        sizes = *collocation_sizes(state._sampler, text), letter_sizes(state._sampler, "abc")
        expected = log_joint(now, chosen, *sizes)
        if given:
            expected += log_prior(
                [now.discount, now.word_discount, *now.character_discounts],
                [now.concentration, now.word_concentration, *now.character_concentrations],
            )
            expected += beta.logpdf(now.stop_probability, 1.3, 2.1) + betaln(1.3, 2.1)
            expected += beta.logpdf(now.end_probability, 2.2, 0.9) + betaln(2.2, 0.9)
        assert state.log_joint() == pytest.approx(expected, rel=1e-10)
