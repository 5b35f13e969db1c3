"""What a stored sample says of new strings, against all ways to cut them, with all seats held."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise, product
from math import log, prod
from typing import Any, NamedTuple

import numpy as np
import pytest
from exact.language import collocations, test_collocations, test_nested
from exact.language.draws import check_counts
from exact.language.franchise import events_of
from exact.language.nested import END, frozen_spelling, frozen_word, problem_of, segmentations
from exact.language.seats import collocation_state, nested_state
from exact.language.test_nested import ORDERS

from skdp._numeric._numba import njit_loop
from skdp._numeric._random import make_stream
from skdp.language._kernels._collocations import (
    draw_collocations,
    filter_collocations,
    log_string,
    write_ends,
)
from skdp.language._kernels._filter import draw_words, filter_words, log_total, weigh_words
from skdp.language._nested._collocation_model import lay_out_new, read_new
from skdp.language._nested._layout import read_new_input
from skdp.language._nested._model import lay_out_strings, read_strings

STRINGS = ["abcab", "cab", "ab", "abab", "aa"] * 3
NEW = ["ab", "abc", "cabab", "xab", "", "a", "bxc", "aabcc"]
MODELS = [*map(str, ORDERS), "collocations"]


class Fitted(NamedTuple):
    """A model, whose words are collocations of one word each if it has no collocations."""

    estimator: Any
    weights_of: Callable
    """Returns all ways to cut a string, and their probabilities."""
    draw: Callable
    """Draws ways to cut strings."""


def of_words(orders):
    """With this seed the sample has words after two others that matter in `NEW`."""
    problem = problem_of(STRINGS, orders)
    estimator = test_nested.model(problem, max_iter=40, random_state=3).fit(STRINGS)
    state = nested_state(estimator._models[0], estimator.alphabet_)

    def weights_of(string):
        ways = segmentations(string, problem.max_word_length)
        events = [events_of(words, len(problem.word_discounts), END) for words in ways]
        weights = [prod(frozen_word(problem, state, *event) for event in of) for of in events]
        return [tuple((word,) for word in words) for words in ways], np.array(weights)

    return Fitted(estimator, weights_of, draw_segmentations)


def of_collocations():
    problem = collocations.Problem(STRINGS)
    estimator = test_collocations.model(problem, max_iter=40, random_state=2).fit(STRINGS)
    state = collocation_state(estimator._models[0], estimator.alphabet_)
    assert any(len(a) > 1 for a in state.collocations[0] if a != END)

    def weights_of(string):
        ways = collocations.ways(string, problem)
        return ways, np.array([collocations.frozen_way(problem, state, way) for way in ways])

    return Fitted(estimator, weights_of, draw_ways)


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    if request.param == "collocations":
        return of_collocations()
    return of_words(ORDERS[MODELS.index(request.param)])


def words_in(way):
    return [word for words in way for word in words]


def spans_of(words):
    return list(pairwise([0, *np.cumsum([len(word) for word in words]).tolist()]))


def shares_of_spans(ways, weights):
    """Return the probability of each span to be a word."""
    spans = Counter()
    for way, share in zip(ways, weights / weights.sum(), strict=True):
        for span in spans_of(words_in(way)):
            spans[span] += share
    return spans


def test_score(fitted):
    expected = [log(fitted.weights_of(string)[1].sum()) for string in NEW]
    np.testing.assert_allclose(fitted.estimator.score_samples(NEW), expected, rtol=1e-10)


def test_cut_probabilities(fitted):
    for string, found in zip(NEW, fitted.estimator.predict_proba(NEW), strict=True):
        expected = np.zeros(len(string) + 1)
        for (_, end), share in shares_of_spans(*fitted.weights_of(string)).items():
            expected[end] += share
        np.testing.assert_allclose(found, expected[1:-1], rtol=1e-10, atol=1e-12)


def test_words_of_least_risk(fitted):
    for price in (0.0, 0.2, 0.6):
        fitted.estimator.set_params(word_price=price)
        for string, found in zip(NEW, fitted.estimator.predict(NEW), strict=True):
            ways, weights = fitted.weights_of(string)
            spans = shares_of_spans(ways, weights)
            best = max(sum(spans[s] - price for s in spans_of(words_in(way))) for way in ways)
            chosen = sum(spans[s] - price for s in spans_of(found))
            assert chosen == pytest.approx(best, abs=1e-9)


def test_most_probable_words(fitted):
    strings = [*NEW, "acab", "aaaab"]  # of which collocations with tables are the best
    fitted.estimator.set_params(predict_method="viterbi")
    found = fitted.estimator.predict(strings)
    fitted.estimator.set_params(predict_method="mbr")
    for string, words in zip(strings, found, strict=True):
        ways, weights = fitted.weights_of(string)
        assert words == words_in(ways[int(np.argmax(weights))])


# --- draws ----------------------------------------------------------------------------------------


@njit_loop
def draw_cuts(f, text, prices, string, power, s, pairs, rng, drawn):
    """Draw words, and write where they end, as bits; return the log of the sum of all ways."""
    weigh_words(f, text, prices, string, power, s)
    filter_words(f, text, string, power, s, pairs)
    for i in range(len(drawn)):
        n_words = draw_words(f, text, prices, string, power, s, pairs, rng)
        end = 0
        for e in range(n_words - 1):
            end += text.span_lengths[s.new_words[e]]
            drawn[i] += 1 << 2 * end
    return log_total(f, text, prices, string, power, s, pairs)


def draw_segmentations(sample, tokens, ptr, power, rng, drawn):
    f, text, prices, s, pairs = read_strings(sample, lay_out_strings(sample, tokens, ptr)).arguments
    return [
        draw_cuts(f, text, prices, i, power, s, pairs, rng, of_string)
        for i, of_string in enumerate(drawn)
    ]


@njit_loop
def draw_cuts_and_ends(f, text, prices, c, string, power, s, r, rng, cuts, ends, drawn):
    """Draw collocations, and write where words and collocations end, as bits; return as above."""
    weigh_words(f, text, prices, string, power, s)
    filter_collocations(f, text, c, string, power, s, r)
    begin, end = text.ptr[string], text.ptr[string + 1]
    for i in range(len(drawn)):
        n = draw_collocations(f, text, c, string, power, s, r, rng)
        write_ends(text, string, n, r.new_lengths, r.new_masks, cuts, ends)
        for at in range(begin, end):
            drawn[i] += (cuts[at] + 2 * ends[at]) << 2 * (at + 1 - begin)
    return log_string(f, text, c, string, power, r)


def draw_ways(sample, tokens, ptr, power, rng, drawn):
    f, text, prices, c, s, r = read_new(sample, lay_out_new(sample, tokens, ptr)).arguments
    cuts, ends = np.zeros((2, len(tokens)), dtype=np.bool_)
    return [
        draw_cuts_and_ends(f, text, prices, c, i, power, s, r, rng, cuts, ends, of_string)
        for i, of_string in enumerate(drawn)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("power", [1.0, 0.6])
def test_draws(fitted, power):
    """Sums and draws of the filter, annealed or not; a false alarm once in a million strings."""
    tokens, ptr, _ = read_new_input(fitted.estimator, NEW)
    rng, drawn = make_stream(np.random.SeedSequence(0)), np.zeros((len(NEW), 60_000), np.int64)
    sums = fitted.draw(fitted.estimator._models[0], tokens, ptr, power, rng, drawn)
    marks = 2 if fitted.draw is draw_ways else 0
    for string, log_sum, found in zip(NEW, sums, drawn, strict=True):
        ways, weights = fitted.weights_of(string)
        expected = weights**power
        assert log_sum == pytest.approx(log(expected.sum()), rel=1e-10)
        codes = [
            sum(1 << 2 * end for _, end in spans_of(words_in(way)))
            + sum(marks << 2 * end for _, end in spans_of(map("".join, way)))
            for way in ways
        ]
        assert set(found.tolist()) <= set(codes)
        counts = np.array([np.count_nonzero(found == code) for code in codes])
        check_counts(counts, expected * len(found) / expected.sum(), string)


def test_lengths_of_drawn_words():
    """With Poisson lengths, what the letters alone make of words is measured right."""
    problem = problem_of(STRINGS, (1, 2), max_word_length=4, length_factors=None)
    estimator = test_nested.model(
        problem, length_correction="poisson", max_iter=40, word_length=2.0
    ).fit(STRINGS)
    sample = estimator._models[0]
    state = nested_state(sample, estimator.alphabet_)
    poisson = np.array([2.0, 2.0, 4.0 / 3.0, 2.0 / 3.0])
    poisson /= poisson.sum()
    for k in range(1, 5):
        words = map("".join, product("abc", repeat=k))
        of_letters = sum(frozen_spelling(problem, state, word) for word in words)
        g = sample.prices[k] / (1.0 - problem.end_probability)
        share = poisson[k - 1] / g  # of 10,000 drawn words
        assert share == pytest.approx(of_letters, abs=5 * np.sqrt(of_letters / 10_000))
