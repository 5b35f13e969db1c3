"""NestedPitmanYorLM against enumeration (see nested.py): posterior, predictives, best words."""

from dataclasses import replace
from itertools import pairwise, product
from math import log, prod

import numpy as np
import pytest
from exact.language.franchise import BEGIN, events_of
from exact.language.nested import (
    END,
    Problem,
    State,
    enumerate_segmentations,
    enumerate_tables,
    frozen_string,
    frozen_word,
    log_joint,
    segmentations,
)
from exact.oracles.batch_means import N_SWEEPS, assert_means
from scipy.special import betaln, gammaln
from scipy.stats import beta, chi2, gamma

from skdp._numeric._numba import njit_loop
from skdp._numeric._random import make_stream
from skdp.language import NestedPitmanYorLM
from skdp.language._nested._input import read_new_input
from skdp.language._nested._kernels_filter import (
    draw_words,
    filter_forward,
    log_total,
    weigh_words,
)
from skdp.language._nested._kernels_triples import (
    draw_triples,
    filter_triples,
    log_total_triples,
)
from skdp.language._nested._model import lay_out_strings, read_strings
from skdp.language._nested._sampler import NestedSampler, Strings

BURN_IN = 400
G = (0.7, 1.9, 0.4, 1.2, 0.8)
ORDERS = [
    *((1, 1), (1, 2), (2, 1), (2, 2), (2, 3)),
    pytest.param((3, 2), marks=pytest.mark.slow),
]
every_order = pytest.mark.parametrize("orders", ORDERS, ids=str)


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


def model(problem, **params):
    """Return the estimator with everything held fixed that the problem holds fixed."""
    params = {
        "character_order": len(problem.character_discounts),
        "max_word_length": problem.max_word_length,
        "length_correction": problem.length_factors[: problem.max_word_length],
        "end_probability": problem.end_probability,
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


CASES = {
    "two strings": ["aab", "ab"],
    "an empty one": ["abab", "", "ab", "a"],
    "five letters": ["abcab", "cab"],
    "self-overlapping": ["aab", "aaa", "ab"],
}


every_move = pytest.mark.parametrize("moves", [0.0, 3.0], ids=["strings", "types"])


@every_order
@every_move
@pytest.mark.parametrize("case", CASES)
def test_posterior_of_cuts(case, orders, moves):
    strings = CASES[case]
    problem = problem_of(strings, orders)
    expected = np.concatenate(enumerate_segmentations(problem).boundaries)
    estimator = model(problem, max_iter=BURN_IN + N_SWEEPS, type_moves=moves)
    cuts = np.array([s.cuts.copy() for s in estimator.iter_sweeps(strings)])[BURN_IN:]
    assert cuts[:, ~inner_places(strings)].all()
    assert_means(cuts[:, inner_places(strings)], expected, "P(cut)")


def test_words_longer_than_allowed():
    problem = problem_of(["abcab", "ba"], max_word_length=3)
    expected = np.concatenate(enumerate_segmentations(problem).boundaries)
    estimator = model(problem, max_iter=BURN_IN + N_SWEEPS)
    cuts = np.array([s.cuts.copy() for s in estimator.iter_sweeps(problem.strings)])[BURN_IN:]
    assert_means(cuts[:, inner_places(problem.strings)], expected, "P(cut)")


@pytest.mark.parametrize("orders", [o for o in ORDERS if o != (2, 3)], ids=str)
@every_move
@pytest.mark.parametrize("strings", [["aab"], ["ab", "a"]], ids=["one string", "two strings"])
def test_posterior_of_tables(strings, orders, moves):
    problem = problem_of(strings, orders)
    expected = enumerate_tables(problem)
    estimator = model(problem, max_iter=BURN_IN + N_SWEEPS, type_moves=moves)
    states = [(s.word_tables, s.character_tables) for s in estimator.iter_sweeps(strings)]
    words, characters = (np.array(tables)[BURN_IN:] for tables in zip(*states, strict=True))
    assert_means(words, expected.word_tables, "tables of words")
    assert_means(characters, expected.character_tables, "tables of characters")


@pytest.mark.parametrize(
    ("strings", "orders", "prior"),
    [(["aab"], (1, 1), (1.0, 1.0)), (["ab", "a"], (2, 2), (2.5, 0.7))],
)
def test_posterior_of_the_probability_of_the_end(strings, orders, prior):
    problem = problem_of(strings, orders, end_prior=prior)
    expected = enumerate_tables(problem)
    estimator = model(
        problem,
        max_iter=BURN_IN + N_SWEEPS,
        end_probability="auto",
        end_probability_prior=prior,
    )
    states = [
        (s.cuts.copy(), s.word_tables, s.end_probability) for s in estimator.iter_sweeps(strings)
    ]
    cuts, words, ends = (np.array(values)[BURN_IN:] for values in zip(*states, strict=True))
    boundaries = np.concatenate(enumerate_segmentations(problem).boundaries)
    assert_means(cuts[:, inner_places(strings)], boundaries, "P(cut)")
    assert_means(words, expected.word_tables, "tables of words")
    assert_means(ends, np.array(expected.end_probability), "probability of the end")


@every_order
@every_move
def test_known_cuts(orders, moves):
    y = [np.array([-1, 1, -1, 0]), None]
    problem = problem_of(["aabab", "ab"], orders, known_cuts=y)
    expected = np.concatenate(enumerate_segmentations(problem).boundaries)
    estimator = model(problem, type_moves=moves)
    known = np.array([-1, 1, -1, 0, -1, -1, -1], dtype=np.int8)
    strings = Strings(np.array([0, 0, 1, 0, 1, 0, 1], np.int32), np.array([0, 5, 7]), known, 2)
    streams = [make_stream(np.random.SeedSequence(seed)) for seed in (1, 2)]
    sampler = NestedSampler(strings, estimator._settings_of_chain(), *streams)
    draws = []
    for _ in range(BURN_IN + N_SWEEPS):
        sampler.sweep()
        draws.append(sampler.cuts.copy())
    cuts = np.array(draws)[BURN_IN:][:, inner_places(problem.strings)]
    assert cuts[:, 1].all()
    assert not cuts[:, 3].any()
    assert_means(cuts, expected, "P(cut)")


# --- the joint density --------------------------------------------------------------------------


def sizes_of(sampler, cell):
    """Return the sizes of the tables of a cell."""
    sizes, entry = [], sampler._f.cells[cell, 2]
    while entry >= 0:
        size, count, entry = sampler._f.entries[entry]
        sizes += [int(size)] * int(count)
    return sizes


def seats_of(sampler, text, alphabet):
    """Return the sizes of all tables of words, and of letters, by (context, outcome)."""
    layout, f = sampler._layout, sampler._f
    spans = [
        text[a : a + n]
        for a, n in zip(layout.text.span_first, layout.text.span_lengths, strict=True)
    ]
    numbers, of_words = layout.text, {}

    def event_of(cell):
        """Return context and word of a cell; a third word's context is that of another cell."""
        node = int(f.cells[cell, 3])
        if cell < numbers.hashed_cell:
            return (), [*spans, END][cell - numbers.root_cell]
        word = event_of(int(f.parents[cell]))[1]
        if node < numbers.pair_node:
            return ([*spans, BEGIN][node - numbers.root_node - 1],), word
        before, last = event_of(node - numbers.pair_node + numbers.hashed_cell)
        return (*before, last), word

    for cell in range(numbers.root_cell, len(f.cells)):
        if f.cells[cell, 3] >= 0:
            of_words[event_of(cell)] = sizes_of(sampler, cell)
    letters, contexts = layout.letters, []
    for parent, letter in zip(letters.node_parents, letters.node_letters, strict=True):
        newest = contexts[parent] if parent >= 0 else ()
        oldest = () if parent < 0 else (BEGIN if letter < 0 else alphabet[letter],)
        contexts.append((*oldest, *newest))
    of_letters = {
        (contexts[u], alphabet[x - 1] if x else END): sizes_of(sampler, cell)
        for cell, (u, x) in enumerate(zip(letters.nodes, letters.outcomes, strict=True))
    }
    return tuple({c: sizes for c, sizes in of.items() if sizes} for of in (of_words, of_letters))


def words_of(strings, cuts):
    """Return the words of strings whose characters have `cuts` behind them, end to end."""
    ends = iter(np.flatnonzero(cuts) + 1)
    words, start = [], 0
    for string in strings:
        begin, mine = start, []
        while start < begin + len(string):
            end = next(ends)
            mine.append(string[start - begin : end - begin])
            start = end
        words.append(tuple(mine))
    return words


PRIORS = {"discount_prior": (2.0, 3.0), "concentration_prior": (1.5, 0.7)}
LEARNED = {"discount": "auto", "concentration": "auto", "length_correction": "poisson"}


@every_order
@pytest.mark.parametrize("given", [{}, LEARNED], ids=["given", "learned"])
def test_log_joint(orders, given):
    """Seats, spellings, lengths, ends and learned parameters, with the seats of a chain."""
    problem = problem_of(["abcab", "cab", "", "ab", "abab", "aa"] * 3, orders)
    text, alphabet = "".join(problem.strings), "abc"
    for state in model(problem, max_iter=10, **given, **PRIORS).iter_sweeps(problem.strings):
        hyper = {
            f"{of}_{name}": getattr(state, f"{of}_{name}")
            for of, name in product(["word", "character"], ["discounts", "concentrations"])
        }
        factors = state._sampler.prices[1:] / (1.0 - problem.end_probability)
        now = replace(problem, **hyper, length_factors=factors)
        seats = seats_of(state._sampler, text, alphabet)
        expected = log_joint(now, words_of(problem.strings, state.cuts), *seats)
        if given:
            for name, values in hyper.items():
                if "discount" in name:
                    expected += (beta.logpdf(values, 2.0, 3.0) + betaln(2.0, 3.0)).sum()
                else:
                    constant = gammaln(1.5) - 1.5 * log(0.7)
                    expected += (gamma.logpdf(values, 1.5, scale=1 / 0.7) + constant).sum()
        assert state.log_joint() == pytest.approx(expected, rel=1e-10)


# --- what a sample says of strings --------------------------------------------------------------


def state_of(sample, alphabet):
    """Return a stored sample as the oracle's state."""
    words = ["".join(alphabet[x] for x in word) for word in sample.words()]
    outcomes = [*words, END]
    of_words = ({}, {})
    for w, counts in zip(outcomes, sample.root.tolist(), strict=True):
        for kind, n in zip(of_words, counts, strict=True):
            kind[(), w] = n
    before = [*words, BEGIN]
    for (v, w), counts in zip(sample.pairs.of.tolist(), sample.pairs.counts.tolist(), strict=True):
        for kind, n in zip(of_words, counts, strict=True):
            kind[(before[v],), outcomes[w]] = n
    rows = [((before[v], outcomes[w]) if w < len(words) else None) for v, w in sample.pairs.of]
    for (u, w), counts in zip(
        sample.triples.of.tolist(), sample.triples.counts.tolist(), strict=True
    ):
        for kind, n in zip(of_words, counts, strict=True):
            kind[rows[u], outcomes[w]] = n
    contexts = []
    for parent, letter in sample.contexts.tolist():
        if parent < 0:
            contexts.append(())
        else:
            contexts.append((alphabet[letter] if letter >= 0 else BEGIN, *contexts[parent]))
    of_letters = ({}, {})
    cells = zip(sample.letters.of.tolist(), sample.letters.counts.tolist(), strict=True)
    for (u, x), counts in cells:
        for kind, n in zip(of_letters, counts, strict=True):
            kind[contexts[u], alphabet[x - 1] if x else END] = n
    return State((), of_words, of_letters, 1.0)


SEED = 3


@pytest.fixture(scope="module", params=ORDERS, ids=str)
def fitted(request):
    """Return a fitted model, its problem and the sample's state.

    With this seed the sample has words after two others that matter in `NEW`.
    """
    problem = problem_of(["abcab", "cab", "ab", "abab", "aa"] * 3, request.param)
    estimator = model(problem, max_iter=40, random_state=SEED).fit(problem.strings)
    return estimator, problem, state_of(estimator._models[0], estimator.alphabet_)


NEW = ["ab", "abc", "cabab", "xab", "", "a", "bxc", "aabcc"]


def weights_of(problem, state, string):
    """Return all words of a string and their probabilities with all seats held."""
    order = len(problem.word_discounts)
    ways = segmentations(string, problem.max_word_length)
    return ways, [
        prod(frozen_word(problem, state, u, w) for u, w in events_of(words, order, END))
        for words in ways
    ]


def test_score(fitted):
    estimator, problem, state = fitted
    expected = [log(frozen_string(problem, state, string)) for string in NEW]
    np.testing.assert_allclose(estimator.score_samples(NEW), expected, rtol=1e-10)


@njit_loop
def log_tempered(f, text, prices, string, power, s, pairs):
    """Return the log of the sum that annealed sweeps draw from."""
    weigh_words(f, text, prices, string, power, s)
    if pairs is None:
        filter_forward(f, text, string, power, s)
        return log_total(f, text, prices, string, power, s)
    filter_triples(f, text, string, power, s, pairs)
    return log_total_triples(f, text, prices, string, power, s, pairs)


@pytest.mark.slow
@pytest.mark.parametrize("power", [1.0, 0.6])
def test_annealed_filter(fitted, power):
    estimator, problem, state = fitted
    sample = estimator._models[0]
    tokens, ptr, _ = read_new_input(estimator, NEW)
    f, prices, s, pairs = read_strings(sample, lay_out_strings(sample, tokens, ptr))[1:]
    text = lay_out_strings(sample, tokens, ptr).text
    for i, string in enumerate(NEW):
        _, weights = weights_of(problem, state, string)
        expected = log(sum(weight**power for weight in weights))
        found = log_tempered(f, text, prices, i, power, s, pairs)
        assert found == pytest.approx(expected, rel=1e-10)


@njit_loop
def draw_cuts(f, text, prices, string, power, s, pairs, rng, drawn):
    """Draw words with all seats held, and write where they end, as bits."""
    weigh_words(f, text, prices, string, power, s)
    if pairs is None:
        filter_forward(f, text, string, power, s)
    else:
        filter_triples(f, text, string, power, s, pairs)
    for i in range(len(drawn)):
        if pairs is None:
            n_words = draw_words(f, text, prices, string, power, s, rng)
        else:
            n_words = draw_triples(f, text, prices, string, power, s, pairs, rng)
        end = 0
        for e in range(n_words - 1):
            end += text.span_lengths[s.new_words[e]]
            drawn[i] += 1 << end


@pytest.mark.slow
@pytest.mark.parametrize("power", [1.0, 0.6])
def test_draws(fitted, power):
    """A false alarm once in a million strings, seven of them."""
    estimator, problem, state = fitted
    sample = estimator._models[0]
    tokens, ptr, _ = read_new_input(estimator, NEW)
    layout = lay_out_strings(sample, tokens, ptr)
    _, f, prices, s, pairs = read_strings(sample, layout)
    rng = make_stream(np.random.SeedSequence(0))
    for i, string in enumerate(NEW):
        ways, weights = weights_of(problem, state, string)
        expected = np.array(weights) ** power
        drawn = np.zeros(100_000, dtype=np.int64)
        draw_cuts(f, layout.text, prices, i, power, s, pairs, rng, drawn)
        codes = [sum(1 << int(end) for end in np.cumsum([len(w) for w in way])) for way in ways]
        assert set(drawn.tolist()) <= set(codes)
        counts = np.bincount(drawn, minlength=max(codes) + 1)[codes]
        expected *= len(drawn) / expected.sum()
        rare = expected < 10.0
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
        far = ((counts - expected) ** 2 / np.maximum(expected, 1.0)).sum()
        assert chi2.sf(far, len(counts) - 1) > 1e-6 or len(counts) == 1, string


def test_cut_probabilities(fitted):
    estimator, problem, state = fitted
    for string, found in zip(NEW, estimator.predict_proba(NEW), strict=True):
        ways, weights = weights_of(problem, state, string)
        expected = np.zeros(max(len(string) - 1, 0))
        for words, weight in zip(ways, weights, strict=True):
            for end in np.cumsum([len(word) for word in words])[:-1]:
                expected[end - 1] += weight / sum(weights)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_most_probable_words(fitted):
    estimator, problem, state = fitted
    viterbi = model(problem, max_iter=40, predict_method="viterbi", random_state=SEED)
    viterbi.fit(problem.strings)
    for string, found in zip(NEW, viterbi.predict(NEW), strict=True):
        ways, weights = weights_of(problem, state, string)
        assert tuple(found) == ways[int(np.argmax(weights))]
    assert viterbi.score(NEW) == estimator.score(NEW)


@pytest.mark.parametrize("price", [0.0, 0.2, 0.6])
def test_words_of_least_risk(fitted, price):
    estimator, problem, state = fitted
    estimator.set_params(word_price=price)
    for string, found in zip(NEW, estimator.predict(NEW), strict=True):
        ways, weights = weights_of(problem, state, string)
        spans = {}
        for words, weight in zip(ways, weights, strict=True):
            for span in spans_of(words):
                spans[span] = spans.get(span, 0.0) + weight / sum(weights)
        values = [sum(spans[s] - price for s in spans_of(words)) for words in ways]
        chosen = sum(spans[s] - price for s in spans_of(found))
        assert chosen == pytest.approx(max(values), abs=1e-9)


def spans_of(words):
    return list(pairwise([0, *np.cumsum([len(word) for word in words])]))


def test_factors_of_lengths_that_drawn_words_have():
    """With Poisson lengths, what the letters alone make of words is measured right."""
    problem = problem_of(["abcab", "cab", "ab", "abab", "aa"] * 3, (1, 2), max_word_length=4)
    estimator = model(problem, length_correction="poisson", max_iter=40, word_length=2.0)
    estimator.fit(problem.strings)
    sample = estimator._models[0]
    state = state_of(sample, estimator.alphabet_)
    poisson = np.array([2.0, 2.0, 4.0 / 3.0, 2.0 / 3.0])
    poisson /= poisson.sum()
    flat = problem_of(problem.strings, (1, 2), max_word_length=4, length_factors=None)
    for k in range(1, 5):
        of_letters = sum(
            frozen_word(flat, empty_words(state), (), "".join(letters)) / (1.0 - 0.3)
            for letters in product("abc", repeat=k)
        )
        g = sample.prices[k] / (1.0 - 0.3)
        share = poisson[k - 1] / g  # of 10,000 drawn words
        assert share == pytest.approx(of_letters, abs=5 * np.sqrt(of_letters / 10_000))


def empty_words(state):
    return state_with(state, ({}, {}))


def state_with(state, words):
    return State((), words, state.letters, 1.0)
