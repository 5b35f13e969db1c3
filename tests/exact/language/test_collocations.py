"""CollocationPitmanYorLM against enumeration (see collocations.py)."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from math import log

import numpy as np
import pytest
from exact.language.collocations import (
    END,
    Problem,
    State,
    ends_of,
    enumerate_tables,
    enumerate_ways,
    frozen_way,
    log_joint,
    ways,
)
from exact.language.franchise import BEGIN
from exact.language.test_nested import BURN_IN, inner_places, sizes_of
from exact.oracles.batch_means import N_SWEEPS, assert_means
from scipy.special import betaln, gammaln
from scipy.stats import beta, chi2, gamma

from skdp._numeric._numba import njit_loop
from skdp._numeric._random import make_stream
from skdp.language import CollocationPitmanYorLM
from skdp.language._collocations._kernels_filter import (
    draw_collocations,
    filter_collocations,
    log_string,
)
from skdp.language._collocations._kernels_sweeps import write_ends
from skdp.language._collocations._model import lay_out_new, read_new
from skdp.language._collocations._sampler import CollocationSampler
from skdp.language._nested._input import read_new_input
from skdp.language._nested._kernels_filter import weigh_words
from skdp.language._nested._sampler import Strings


def model(problem, **params):
    """Return the estimator with everything held fixed that the problem holds fixed."""
    p = problem
    params = {
        "character_order": len(p.character_discounts),
        "max_word_length": p.max_word_length,
        "max_collocation_length": p.max_collocation_length,
        "length_correction": p.length_factors[: p.max_word_length],
        "end_probability": p.end_probability,
        "stop_probability": p.stop_probability,
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
}


@pytest.mark.parametrize("case", CASES)
def test_posterior_of_cuts(case):
    problem = CASES[case]
    expected = enumerate_ways(problem)
    estimator = model(problem, max_iter=BURN_IN + N_SWEEPS)
    draws = [(s.cuts.copy(), s.ends.copy()) for s in estimator.iter_sweeps(problem.strings)]
    cuts, ends = (np.array(of)[BURN_IN:] for of in zip(*draws, strict=True))
    inner = inner_places(problem.strings)
    assert ends[:, ~inner].all()
    assert cuts[ends].all()
    assert_means(cuts[:, inner], np.concatenate(expected.words), "P(cut)")
    assert_means(ends[:, inner], np.concatenate(expected.collocations), "P(end)")


@pytest.mark.parametrize("strings", [["aab"], ["ab", "a"], ["aa", "aa", "a"]], ids=str)
def test_posterior_of_tables(strings):
    problem = Problem(strings)
    expected = enumerate_tables(problem)
    estimator = model(problem, max_iter=BURN_IN + N_SWEEPS)
    draws = [
        (s.collocation_tables, *s.word_tables, *s.character_tables)
        for s in estimator.iter_sweeps(strings)
    ]
    wanted = [expected.collocation_tables, expected.word_tables, *expected.character_tables]
    assert_means(np.array(draws)[BURN_IN:], np.array(wanted), "tables")


def test_posterior_of_probabilities():
    problem = Problem(["aab", "b"], end_prior=(2.5, 0.7), stop_prior=(0.8, 1.4))
    expected = enumerate_tables(problem)
    estimator = model(
        problem,
        max_iter=BURN_IN + N_SWEEPS,
        end_probability="auto",
        end_probability_prior=problem.end_prior,
        stop_probability="auto",
        stop_prior=problem.stop_prior,
    )
    draws = [
        (s.end_probability, s.stop_probability, s.collocation_tables, *s.word_tables, *s.cuts[:2])
        for s in estimator.iter_sweeps(problem.strings)
    ]
    wanted = [
        expected.end_probability,
        expected.stop_probability,
        expected.collocation_tables,
        expected.word_tables,
        *enumerate_ways(problem).words[0],
    ]
    assert_means(np.array(draws, dtype=float)[BURN_IN:], np.array(wanted), "probabilities")


def test_known_cuts():
    y = [np.array([-1, 1, -1, 0]), None, None]
    problem = Problem(["aabab", "ab", "aabab"], known_cuts=y, max_collocation_length=4)
    expected = enumerate_ways(problem)
    known = np.array([-1, 1, -1, 0, -1, -1, -1, *[-1] * 5], dtype=np.int8)
    letters = np.array([0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1], np.int32)
    strings = Strings(letters, np.array([0, 5, 7, 12]), known, 2)
    streams = [make_stream(np.random.SeedSequence(seed)) for seed in (1, 2)]
    estimator = model(problem)
    sampler = CollocationSampler(
        strings, estimator._settings_of_chain(), estimator._settings_of_collocations(), *streams
    )
    draws = []
    for _ in range(BURN_IN + N_SWEEPS):
        sampler.sweep()
        draws.append((sampler.cuts.copy(), sampler.ends.copy()))
    cuts, ends = (np.array(of)[BURN_IN:] for of in zip(*draws, strict=True))
    inner = inner_places(problem.strings)
    assert_means(cuts[:, inner], np.concatenate(expected.words), "P(cut)")
    assert_means(ends[:, inner], np.concatenate(expected.collocations), "P(end)")


# --- the joint density --------------------------------------------------------------------------


def collocation_at(sampler, text, cell):
    """Return the words of a cell of collocations."""
    i = cell - sampler._layout.text.hashed_cell - 1
    span = sampler._span_of[i]
    at, m = sampler._spans.first[span], sampler._spans.lengths[span]
    mask = int(sampler._masks[i])
    edges = [0, *(j + 1 for j in range(m - 1) if mask >> j & 1), m]
    return tuple(text[at + a : at + b] for a, b in pairwise(edges))


def seats_of(sampler, text, alphabet):
    """Return the sizes of all tables of collocations, words and letters."""
    numbers, f = sampler._layout.text, sampler._f
    of_collocations = {END: sizes_of(sampler, numbers.hashed_cell)}
    for cell in range(numbers.hashed_cell + 1, len(f.cells)):
        if f.cells[cell, 3] >= 0:
            of_collocations[collocation_at(sampler, text, cell)] = sizes_of(sampler, cell)
    of_words = {
        text[a : a + n]: sizes_of(sampler, numbers.root_cell + w)
        for w, (a, n) in enumerate(zip(numbers.span_first, numbers.span_lengths, strict=True))
    }
    letters, contexts = sampler._layout.letters, []
    for parent, letter in zip(letters.node_parents, letters.node_letters, strict=True):
        newest = contexts[parent] if parent >= 0 else ()
        oldest = () if parent < 0 else (BEGIN if letter < 0 else alphabet[letter],)
        contexts.append((*oldest, *newest))
    of_letters = {
        (contexts[u], alphabet[x - 1] if x else END): sizes_of(sampler, cell)
        for cell, (u, x) in enumerate(zip(letters.nodes, letters.outcomes, strict=True))
    }
    return tuple(
        {c: sizes for c, sizes in of.items() if sizes}
        for of in (of_collocations, of_words, of_letters)
    )


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


LEARNED = {
    "discount": "auto",
    "concentration": "auto",
    "length_correction": "poisson",
    "discount_prior": (2.0, 3.0),
    "concentration_prior": (1.5, 0.7),
    "stop_probability": "auto",
    "stop_prior": (1.3, 2.1),
    "end_probability": "auto",
    "end_probability_prior": (2.2, 0.9),
}


@pytest.mark.parametrize("given", [{}, LEARNED], ids=["given", "learned"])
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
            length_factors=state._sampler.prices[1:],
            end_probability=state.end_probability,
            stop_probability=state.stop_probability,
        )
        chosen = ways_of(problem.strings, state.cuts, state.ends)
        expected = log_joint(now, chosen, *seats_of(state._sampler, text, "abc"))
        if given:
            discounts = [now.discount, now.word_discount, *now.character_discounts]
            expected += (beta.logpdf(discounts, 2.0, 3.0) + betaln(2.0, 3.0)).sum()
            thetas = [now.concentration, now.word_concentration, *now.character_concentrations]
            constant = gammaln(1.5) - 1.5 * log(0.7)
            expected += (gamma.logpdf(thetas, 1.5, scale=1 / 0.7) + constant).sum()
            expected += beta.logpdf(now.stop_probability, 1.3, 2.1) + betaln(1.3, 2.1)
            expected += beta.logpdf(now.end_probability, 2.2, 0.9) + betaln(2.2, 0.9)
        assert state.log_joint() == pytest.approx(expected, rel=1e-10)


# --- what a sample says of strings --------------------------------------------------------------


def state_of(sample, alphabet):
    """Return a stored sample as the oracle's state."""
    words = ["".join(alphabet[x] for x in word) for word in sample.words()]
    found = [
        tuple("".join(alphabet[x] for x in word) for word in words_of)
        for words_of in sample.collocations()
    ]
    of_collocations = tuple(
        Counter(dict(zip([*found, END], sample.counts[:, kind].tolist(), strict=True)))
        for kind in range(2)
    )
    of_words = tuple(
        Counter(dict(zip(words, sample.of_words.root[:-1, kind].tolist(), strict=True)))
        for kind in range(2)
    )
    contexts = []
    for parent, letter in sample.of_words.contexts.tolist():
        newest = contexts[parent] if parent >= 0 else ()
        oldest = () if parent < 0 else (alphabet[letter] if letter >= 0 else BEGIN,)
        contexts.append((*oldest, *newest))
    of_letters = ({}, {})
    cells = zip(
        sample.of_words.letters.of.tolist(), sample.of_words.letters.counts.tolist(), strict=True
    )
    for (u, x), counts in cells:
        for kind, n in zip(of_letters, counts, strict=True):
            kind[contexts[u], alphabet[x - 1] if x else END] = n
    return State((), of_collocations, of_words, of_letters, 1.0)


FITTED = Problem(["abcab", "cab", "ab", "abab", "aa"] * 3)
NEW = ["ab", "abc", "cabab", "xab", "", "a", "bxc", "aabcc"]


@pytest.fixture(scope="module")
def fitted():
    """Return a fitted model and its sample's state."""
    estimator = model(FITTED, max_iter=40, random_state=2).fit(FITTED.strings)
    state = state_of(estimator._models[0], estimator.alphabet_)
    assert any(len(a) > 1 for a in state.collocations[0] if a != END)
    return estimator, state


def weights_of(state, string):
    """Return all ways to cut a string and their probabilities with all seats held."""
    found = ways(string, FITTED)
    return found, np.array([frozen_way(FITTED, state, way) for way in found])


def test_score(fitted):
    estimator, state = fitted
    expected = [log(weights_of(state, string)[1].sum()) for string in NEW]
    np.testing.assert_allclose(estimator.score_samples(NEW), expected, rtol=1e-10)


def spans_of(way):
    return list(pairwise([0, *ends_of(way)[0]]))


def test_cut_probabilities(fitted):
    estimator, state = fitted
    for string, found in zip(NEW, estimator.predict_proba(NEW), strict=True):
        expected = np.zeros(len(string) + 1)
        all_ways, weights = weights_of(state, string)
        for way, weight in zip(all_ways, weights / weights.sum(), strict=True):
            expected[ends_of(way)[0]] += weight
        np.testing.assert_allclose(found, expected[1:-1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("price", [0.0, 0.2, 0.6])
def test_words_of_least_risk(fitted, price):
    estimator, state = fitted
    estimator.set_params(word_price=price)
    for string, found in zip(NEW, estimator.predict(NEW), strict=True):
        all_ways, weights = weights_of(state, string)
        spans = Counter()
        for way, weight in zip(all_ways, weights / weights.sum(), strict=True):
            for span in spans_of(way):
                spans[span] += weight
        values = [sum(spans[s] - price for s in spans_of(way)) for way in all_ways]
        chosen = sum(spans[s] - price for s in spans_of((tuple(found),)))
        assert chosen == pytest.approx(max(values), abs=1e-9)


def test_most_probable_words(fitted):
    estimator, state = fitted
    viterbi = model(FITTED, max_iter=40, predict_method="viterbi", random_state=2)
    viterbi.fit(FITTED.strings)
    assert viterbi.score(NEW) == estimator.score(NEW)
    strings = [*NEW, "acab", "aaaab"]  # of which collocations with tables are the best
    for string, found in zip(strings, viterbi.predict(strings), strict=True):
        all_ways, weights = weights_of(state, string)
        best = all_ways[int(np.argmax(weights))]
        assert found == [w for a in best for w in a]


@njit_loop
def draw_ways(f, text, prices, c, string, power, s, r, rng, cuts, ends, drawn):
    """Draw ways to cut with all seats held, as bits: cuts, then ends; return the log of the sum."""
    weigh_words(f, text, prices, string, power, s)
    filter_collocations(f, text, c, string, power, s, r)
    n_letters = text.ptr[string + 1] - text.ptr[string]
    for i in range(len(drawn)):
        n = draw_collocations(f, text, c, string, power, s, r, rng)
        write_ends(text, string, n, r.new_lengths, r.new_masks, cuts, ends)
        for j in range(n_letters):
            at = text.ptr[string] + j
            drawn[i] += (cuts[at] + 2 * ends[at]) << (2 * j)
    return log_string(f, text, c, string, power, r)


@pytest.mark.parametrize("power", [1.0, 0.6])
def test_draws(fitted, power):
    """Sums and draws of the filter, annealed or not; a false alarm once in a million strings."""
    estimator, state = fitted
    sample = estimator._models[0]
    tokens, ptr, _ = read_new_input(estimator, NEW)
    layout = lay_out_new(sample, tokens, ptr)
    _, f, prices, c, s, r = read_new(sample, layout)
    rng = make_stream(np.random.SeedSequence(0))
    cuts, ends = np.zeros((2, len(tokens)), dtype=np.bool_)
    for i, string in enumerate(NEW):
        all_ways, weights = weights_of(state, string)
        expected = weights**power
        drawn = np.zeros(30_000, dtype=np.int64)
        arguments = f, layout.text, prices, c, i, power, s, r, rng, cuts, ends, drawn
        assert draw_ways(*arguments) == pytest.approx(log(expected.sum()), rel=1e-10)
        codes = [
            sum(1 << 2 * (e - 1) for e in ends_of(way)[0])
            + sum(2 << 2 * (e - 1) for e in ends_of(way)[1])
            for way in all_ways
        ]
        assert set(drawn.tolist()) <= set(codes)
        counts = np.bincount(drawn, minlength=max(codes) + 1)[codes]
        expected *= len(drawn) / expected.sum()
        rare = expected < 10.0
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
        far = ((counts - expected) ** 2 / np.maximum(expected, 1.0)).sum()
        assert chi2.sf(far, max(len(counts) - 1, 1)) > 1e-6 or len(counts) == 1, string
