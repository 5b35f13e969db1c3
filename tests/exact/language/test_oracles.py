"""The oracles: customers who come one by one, quadratures, and examples by hand."""

from collections import Counter
from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from exact.language import collocations, nested
from exact.language.arpa import read_arpa
from exact.language.franchise import events_of, joint, predictive, rising, stirling, table_counts
from exact.language.hpylm import Model, Posterior, enumerate_posterior
from exact.language.kneser_ney import KneserNey
from exact.language.nested import END, frozen_word, problem_of
from exact.language.story import Franchise, fixed_base, seatings
from exact.oracles.quadrature import beta_quadrature
from scipy.stats import beta, gamma

# --- n-grams --------------------------------------------------------------------------------------

CORPORA = {
    "repeats": [[0, 0, 0, 0]],
    "alternation": [[0, 1, 0, 1, 0]],
    "sentences": [[0, 1], [0, 0], [0, 1]],
    "an empty one": [[], [1], [1, 1, 1]],
}
DISCOUNTS = Fraction(1, 4), Fraction(1, 2), Fraction(3, 5)
CONCENTRATIONS = Fraction(2), Fraction(1, 3), Fraction(1, 10)


def learned(order, *names, **changes):
    """Return a model that learns some of its hyper-parameters."""
    given = {
        "discounts": [float(d) for d in DISCOUNTS[:order]],
        "concentrations": [float(theta) for theta in CONCENTRATIONS[:order]],
        "discount_prior": (1.5, 2.0),
        "concentration_prior": (2.0, 0.5),
    }
    return Model(2, **{**given, **dict.fromkeys(names, [None] * order), **changes})


def test_events():
    assert events_of([5, 6], 3, 9) == [((-1,), 5), ((-1, 5), 6), ((5, 6), 9)]
    assert events_of([5, 6, 7], 2) == [((-1,), 5), ((5,), 6), ((6,), 7)]
    assert events_of([5, 6], 1, 9) == [((), 5), ((), 6), ((), 9)]
    assert events_of([], 2, 9) == [((-1,), 9)]
    assert events_of([], 2) == []


@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_table_counts_sum_all_seatings(order, corpus):
    """In fractions: no tolerance."""
    events = [event for words in corpus for event in events_of(words, order, 2)][:6]
    base = {0: Fraction(1, 2), 1: Fraction(1, 3), 2: Fraction(1, 6)}
    hyper = DISCOUNTS[:order], CONCENTRATIONS[:order]
    of_seatings = Counter()
    for probability, state in seatings(Franchise(*hyper, fixed_base(base)), events):
        cells = frozenset((u, w, len(sizes)) for (_, u, w), sizes in state.items())
        of_seatings[cells] += probability
    of_tables = {
        frozenset((u, w, t) for (u, w), t in tables.items()):
        joint(customers, tables, *hyper, base)
        for customers, tables in table_counts(Counter(events))
    }  # fmt: skip
    assert of_tables == of_seatings


@pytest.mark.parametrize(
    ("order", "names"),
    [
        (1, ["discounts", "concentrations"]),
        *((2, ["discounts"]), (2, ["discounts", "concentrations"])),
        *((3, []), (3, ["concentrations"])),
    ],
)
def test_evidence_by_the_chain_rule(order, names):
    """Predictives of prefixes, also of contexts that they have not seen, multiply to it."""
    model = learned(order, *names, base=(0.5, 0.3, 0.2))
    events = model.events(CORPORA["sentences"])[:6]
    before = [Posterior(model, events[:i]) for i in range(6)]
    rows = [of.predictive(context) for of, (context, _) in zip(before, events, strict=True)]
    np.testing.assert_allclose(np.sum(rows, axis=1), 1.0, rtol=1e-12)
    expected = sum(log(row[w]) for row, (_, w) in zip(rows, events, strict=True))
    assert Posterior(model, events).log_evidence == pytest.approx(expected, rel=1e-10)


def test_quadrature_of_one_depth():
    """Three words of a unigram: evidence and means by Gauss-Legendre in d and in theta."""
    model = Model(2, [None], [None], end_of_sequence=False, base=(0.8, 0.2),
                  discount_prior=(2.0, 3.0), concentration_prior=(2.0, 0.5))  # fmt: skip
    posterior = enumerate_posterior(model, [[0, 0, 0]])
    nodes, weights = np.polynomial.legendre.leggauss(100)
    d, theta = (nodes[:, None] + 1) / 2, 50 * (nodes + 1)
    numbers = stirling(3, d)
    share = sum(0.8**t * rising(theta, t, d) / rising(theta, 3) * numbers[3][t] for t in (1, 2, 3))
    share = share * beta.pdf(d, 2.0, 3.0) * gamma.pdf(theta, 2.0, scale=2.0)
    share = share * np.outer(weights / 2, 50 * weights)
    assert exp(posterior.log_evidence) == pytest.approx(share.sum(), rel=1e-10)
    found = posterior.discounts[0], posterior.concentrations[0]
    expected = (share * d).sum() / share.sum(), (share * theta).sum() / share.sum()
    assert found == pytest.approx(expected, rel=1e-10)


# --- words in strings -----------------------------------------------------------------------------

ORDERS = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3)]
STRINGS = [["aa"], ["aba"], ["a", "a"], ["b", "b", "ab"]]


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


def test_all_ways_to_cut():
    assert nested.segmentations("abc", 5) == [("abc",), ("ab", "c"), ("a", "bc"), ("a", "b", "c")]
    assert nested.segmentations("abc", 2) == [("ab", "c"), ("a", "bc"), ("a", "b", "c")]
    assert nested.segmentations("abc", 5, [-1, 0]) == [("abc",), ("a", "bc")]
    assert nested.segmentations("", 1) == [()]
    problem = collocations.Problem(["abc"], max_word_length=2, max_collocation_length=2)
    found = collocations.ways("abc", problem)
    assert len(found) == len(set(found)) == 5
    assert (("a", "b"), ("c",)) in found
    assert len(collocations.ways("aaa", collocations.Problem(["aaa"]))) == 9
    assert collocations.ways("", problem) == [()]


@pytest.mark.parametrize("orders", ORDERS, ids=str)
def test_evidence_sums_all_seatings(orders):
    for i, strings in enumerate(STRINGS):
        problem = problem_of(strings, orders, **({"length_factors": None} if i % 2 else {}))
        found = nested.enumerate_segmentations(problem).weights
        expected = [
            sum(probability for probability, _ in naive_seatings(problem, chosen))
            for chosen in nested.joint_segmentations(problem)
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("orders", ORDERS, ids=str)
def test_tables_and_joint_of_all_seatings(orders):
    problem = problem_of(["aa", "a"], orders)
    total, ends = 0.0, [np.zeros(4), np.zeros(2)]
    levels = {"word": np.zeros(orders[0]), "character": np.zeros(orders[1])}
    for chosen in nested.joint_segmentations(problem):
        ends_of = [np.cumsum([len(word) for word in words]) for words in chosen]
        for probability, state in naive_seatings(problem, chosen):
            total += probability
            sizes = {name: {} for name in levels}
            for (name, u, w), of in state.items():
                levels[name][len(u)] += probability * len(of)
                sizes[name][u, w] = list(of)
            for of_string, places in zip(ends, ends_of, strict=True):
                of_string[places] += probability
            found = nested.log_joint(problem, chosen, sizes["word"], sizes["character"])
            assert found == pytest.approx(log(probability), rel=1e-12)
    found = nested.enumerate_tables(problem)
    assert found.evidence == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(found.word_tables, levels["word"] / total, rtol=1e-12)
    np.testing.assert_allclose(found.character_tables, levels["character"] / total, rtol=1e-12)
    boundaries = nested.enumerate_segmentations(problem).boundaries
    np.testing.assert_allclose(boundaries[0], ends[0][1:2] / total, rtol=1e-12)
    assert boundaries[1].shape == (0,)


def test_known_cuts_are_conditioned_on():
    free = nested.enumerate_segmentations(problem_of(["aab", "ab"]))
    known = nested.enumerate_segmentations(problem_of(["aab", "ab"], known_cuts=[[-1, 1], None]))
    kept = [len(words[-1]) == 1 for words, _ in free.segmentations]
    np.testing.assert_allclose(known.weights, free.weights[kept], rtol=1e-12)


def total_evidence(problem):
    if isinstance(problem, collocations.Problem):
        return exp(collocations.enumerate_ways(problem).log_evidence)
    return nested.enumerate_segmentations(problem).weights.sum()


@pytest.mark.parametrize(
    ("make", "name", "others"),
    [
        (problem_of, "end", {}),
        (collocations.Problem, "end", {}),
        (collocations.Problem, "stop", {"end_prior": (2.0, 0.7)}),
    ],
)
def test_unknown_probabilities(make, name, others):
    """The integral by a quadrature of problems in which they are known."""
    prior = (2.5, 0.7)
    nodes, weights = beta_quadrature(*prior)
    known = [make(["ab", "b", ""], **{f"{name}_probability": x}, **others) for x in nodes]
    unknown = make(["ab", "b", ""], **{f"{name}_prior": prior}, **others)
    evidences = weights * [total_evidence(problem) for problem in known]
    assert total_evidence(unknown) == pytest.approx(evidences.sum(), rel=1e-10)
    module = nested if make is problem_of else collocations
    found = getattr(module.enumerate_tables(unknown), f"{name}_probability")
    assert found == pytest.approx(evidences @ nodes / evidences.sum(), rel=1e-10)


def test_frozen_words_sum_to_one():
    """One letter, words of up to 60: what is missing is the share of a word without letters."""
    problem = problem_of(
        ["a"], length_factors=None, max_word_length=60, character_concentrations=(5.0, 5.0)
    )
    hyper = problem.character_discounts, problem.character_concentrations
    of_words = problem.word_discounts, problem.word_concentrations
    words = [END, *("a" * k for k in range(1, 60))]
    for state in nested.states(problem):
        empty = predictive((-1,), END, *state.letters, *hyper, {END: 1 / 2})
        for context in [(), (-1,), ("a",), ("aa",)]:
            total = sum(frozen_word(problem, state, context, w) for w in words)
            missing = predictive(context, "none", *state.words, *of_words, {"none": 0.7 * empty})
            assert missing > 0.01
            assert total + missing == pytest.approx(1.0, rel=1e-12)


def seat_by_seat(problem, chosen):
    """Return p(ways to cut), by recursion over the customers; letters come last."""
    p = problem

    def base_of(outcome):
        """Return the factor of a new table, next to those of the words of a collocation."""
        if isinstance(outcome, str) and outcome != END:
            return p.length_factors[len(outcome) - 1]
        if outcome == END:
            return p.end_probability
        s = p.stop_probability
        return (1.0 - p.end_probability) * s * (1.0 - s) ** (len(outcome) - 1)

    def take(queue, tables):
        """Return the probability of all that is still to come. The queue holds (level, outcome),
        level 1 that of words; tables are (level, outcome, size)."""
        if not queue:
            spelled = Counter(w for level, w, _ in tables if level)
            return nested.evidence_of_letters(p.of_words, frozenset(spelled.items()))
        (level, outcome), *rest = queue
        d, theta = [(p.discount, p.concentration), (p.word_discount, p.word_concentration)][level]
        sizes = [size for each, _, size in tables if each == level]
        total = 0.0
        for i, (*cell, size) in enumerate(tables):
            if cell == [level, outcome]:
                joined = [*tables[:i], (*cell, size + 1), *tables[i + 1 :]]
                total += (size - d) / (theta + sum(sizes)) * take(rest, joined)
        share = (theta + d * len(sizes)) / (theta + sum(sizes)) * base_of(outcome)
        words = [] if level or outcome == END else [(1, w) for w in outcome]
        return total + share * take([*words, *rest], [*tables, (level, outcome, 1)])

    return take([(0, a) for way in chosen for a in (*way, END)], [])


@pytest.mark.parametrize("strings", [["aa"], ["ab", "a"], ["aab"], ["aa", "aa"]], ids=str)
def test_collocations_sum_all_seatings(strings):
    problem = collocations.Problem(strings)
    total = 0.0
    for chosen in collocations.joint_ways(problem):
        expected = seat_by_seat(problem, chosen)
        assert collocations.evidence_of(problem, chosen) == pytest.approx(expected, rel=1e-10)
        total += expected
    found = collocations.enumerate_tables(problem).log_evidence
    assert found == pytest.approx(log(total), rel=1e-10)


# --- Kneser-Ney smoothing -------------------------------------------------------------------------


def test_discounts_of_chen_and_goodman():
    """n_1 = 4, n_2 = 3, n_3 = 2, n_4 = 1: Y = 4/10."""
    corpus = [[w] * c for w, c in enumerate([1] * 4 + [2] * 3 + [3] * 2 + [4])]
    model = KneserNey(corpus, 10, 1, end_of_sequence=False)
    expected = 1 - 0.8 * 3 / 4, 2 - 1.2 * 2 / 3, 3 - 1.6 * 1 / 2
    assert model.discounts[0] == pytest.approx(expected, rel=1e-14)
    assert not model.fallbacks
    assert KneserNey(corpus, 10, 1, "absolute", False).discounts[0] == (0.4, 0.4, 0.4)
    # A word seen seven times gives up as much as one seen three times.
    assert KneserNey([[0] * 7], 2, 1, [(0.1, 0.2, 0.3)], False).probability((), 1) == 0.3 / 7 / 2
    # Without words seen once D_1 has no estimate; without any seen three times D_2 would be 2.
    model = KneserNey([[0, 0]], 1, 1, end_of_sequence=False)
    assert model.discounts[0] == (0.5, 1.0, 1.5)
    assert model.fallbacks == {(0, 1), (0, 2), (0, 3)}


def test_kneser_ney_is_a_franchise_with_one_table_a_cell():
    model = KneserNey([[0, 1]] * 3, 2, 3, discount=0.5)
    assert model.counts[1][-1,] == {0: 3}  # nothing is before the beginning
    assert model.counts[1][0,] == {1: 1}
    assert model.counts[0][()] == {0: 1, 1: 1, 2: 1}
    discounts = [0.2, 0.5, 0.7]
    model = KneserNey([[0, 1, 0], [0, 1, 2], [1, 1], [0, 1, 0, 0, 2, 1], []], 4, 3, discounts)
    customers = {
        (u, w): c for of in model.counts for u, outcomes in of.items() for w, c in outcomes.items()
    }
    tables = dict.fromkeys(customers, 1)
    for context in [(), (-1,), (0,), (1,), (3,), (-1, 0), (0, 1), (2, 1), (1, 2, 1), (3, 1)]:
        for w in range(5):
            expected = predictive(
                context[-2:], w, customers, tables, discounts, [0.0] * 3, {w: 0.2}
            )
            assert model.probability(context, w) == pytest.approx(expected, rel=1e-13)


# --- files in ARPA's format -----------------------------------------------------------------------

HEAD = "\\data\\\nngram 1=4\nngram 2=2\nngram 3=1\n\n"
UNIGRAMS = "\\1-grams:\n-99\t<s>\t-0.3\n-0.5\t</s>\n-0.4\ta\t-0.2\n-0.7\tb\n\n"
BIGRAMS = "\\2-grams:\n-0.1\t<s> a\n-0.25\ta b\t-0.6\n\n"
TRIGRAMS = "\\3-grams:\n-0.05\t<s> a b\n\n"
TEXT = f"a line of comment\n{HEAD}{UNIGRAMS}{BIGRAMS}{TRIGRAMS}\\end\\\n"


def test_back_off():
    model = read_arpa(TEXT.replace("\n", "\r\n"))
    assert model.order == 3
    assert model.log10_events(["a", "b", "b"]) == pytest.approx([-0.1, -0.05, -0.6 - 0.7, -0.5])
    assert model.log10_events(["b", "a"], end=False) == pytest.approx([-0.3 - 0.7, -0.4])
    assert model.log10_probability(("b", "a"), "b") == -0.25
    assert model.log10_probability(("b", "a"), "a") == pytest.approx(-0.2 - 0.4)
    assert model.log10_probability(("a", "b"), "a") == pytest.approx(-0.6 - 0.4)
    assert model.log10_probability(("unknown",), "a") == -0.4
    with pytest.raises(KeyError, match="unknown"):
        model.log10_probability(("a",), "unknown")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ngram 2=2", "ngram 2=3", "announces"),
        ("ngram 2=2", "bigrams 2", "not a count"),
        ("\\end\\", "", "no .end"),
        ("\\end\\\n", "\\end\\\nmore", "text after"),
        ("\\2-grams:", "\\3-grams:", "sections"),
        ("-0.05\t<s> a b", "-0.05\t<s> a b\t-0.1", "fields"),
        ("-0.25\ta b", "-0.25\ta  b", "not 2 words"),
        ("-0.25\ta b", "-0.1\t<s> a", "again"),
        ("-0.1\t<s> a", "-0.1\tc a", "missing"),
        ("-0.25\ta b", "0.25\ta b", "above 1"),
        ("<s>\t-0.3", "<s>\t-inf", "no number"),
    ],
)
def test_what_is_no_arpa(old, new, message):
    assert TEXT.count(old) == 1
    with pytest.raises(ValueError, match=message):
        read_arpa(TEXT.replace(old, new))
