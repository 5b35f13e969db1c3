"""Words under collocations in unsegmented strings, by enumeration.

A string is a sequence of collocations and an end, without contexts. A collocation is a tuple of
words. Collocations and the end are drawn from a Pitman-Yor process whose base gives the end
`end_probability`, and a collocation of n words

    (1 - end_probability) s (1 - s)^(n - 1) prod_i p(word i),    s the stop probability.

Each table of a collocation sends one customer for each of its words to the words' restaurant, that
of `nested` without contexts, whose base gives a word of k letters g_k p_char(letters, end). So

    p(ways to cut, t) = p(collocations, tables) prod_{tables} base factors
                        p(words of the tables, their tables) prod_{their tables} g_k p_char(...),

and tables are summed out, or listed (`states`)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise, product
from math import log, prod

import numpy as np
from exact.language import nested
from exact.language.franchise import Counts, log_seats, predictive, tables_of
from exact.language.nested import (
    END,
    Words,
    evidence_of_letters,
    letter_states,
    log_joint_of_letters,
    mean,
    power,
    segmentations,
)

Way = tuple[Words, ...]
"""A string's collocations, each a tuple of words."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Strings, and everything that is held fixed; hyper-parameters of letters by depth."""

    strings: Sequence[str]
    discount: float = 0.4
    concentration: float = 0.9
    word_discount: float = 0.3
    word_concentration: float = 1.2
    character_discounts: Sequence[float] = (0.2, 0.4)
    character_concentrations: Sequence[float] = (0.8, 0.5)
    max_word_length: int = 5
    max_collocation_length: int = 5
    length_factors: Sequence[float] = (0.7, 1.9, 0.4, 1.2, 0.8)
    end_probability: float = 0.3
    stop_probability: float = 0.4
    end_prior: tuple[float, float] | None = None  # of the end probability, if that is unknown
    stop_prior: tuple[float, float] | None = None  # of the stop probability, too
    known_cuts: Sequence[Sequence[int] | None] | None = None

    @cached_property
    def of_words(self) -> nested.Problem:
        """Return the words' part; no table of its root is an end."""
        return nested.Problem(
            self.strings,
            (self.word_discount,),
            (self.word_concentration,),
            self.character_discounts,
            self.character_concentrations,
            max_word_length=self.max_word_length,
            length_factors=self.length_factors,
            end_probability=0.0,
        )

    def _events(self, tables: Counter) -> tuple[tuple, tuple]:
        """Return the probability of an end, its prior and counts, and the same for stops."""
        n_ends = tables.get(END, 0)
        n = sum(tables.values()) - n_ends
        n_words = sum(len(a) * t for a, t in tables.items() if a != END)
        ends = self.end_probability, self.end_prior, n_ends, n
        return ends, (self.stop_probability, self.stop_prior, n, n_words - n)

    def base_weight(self, tables: Counter) -> float:
        """Return the base's factor of all tables of collocations and ends, next to their words."""
        return prod(power(*of) for of in self._events(tables))

    def expected(self, tables: Counter) -> tuple[float, ...]:
        """Return the means of the end and of the stop probability given the tables."""
        return tuple(mean(*of) for of in self._events(tables))


def ways(string: str, problem: Problem, known: Sequence[int] | None = None) -> list[Way]:
    """Return all ways to cut a string into collocations of words."""
    found = []
    for words in segmentations(string, problem.max_word_length, known):
        for cuts in product((0, 1), repeat=max(len(words) - 1, 0)):
            edges = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), len(words)]
            way = tuple(words[i:j] for i, j in pairwise(edges) if j > i)
            if all(len("".join(a)) <= problem.max_collocation_length for a in way):
                found.append(way)
    return found


def joint_ways(problem: Problem) -> Iterator[tuple[Way, ...]]:
    """Yield all ways to cut all strings."""
    known = problem.known_cuts or [None] * len(problem.strings)
    yield from product(*(
        ways(string, problem, cuts) for string, cuts in zip(problem.strings, known, strict=True)
    ))  # fmt: skip


def outcomes_of(chosen: Sequence[Way]) -> Counter:
    """Return how often each collocation, and the end, is drawn."""
    return Counter(a for way in chosen for a in (*way, END))


def words_of_tables(tables: Counter) -> Counter[str]:
    """Return the customers that tables of collocations send to the words."""
    words: Counter[str] = Counter()
    for a, t in tables.items():
        for w in () if a == END else a:
            words[w] += t
    return words


def evidence_of(problem: Problem, chosen: Sequence[Way]) -> float:
    """Return p(ways to cut), with the tables summed out."""
    return _evidence_of_outcomes(problem, frozenset(outcomes_of(chosen).items()))


@cache
def _evidence_of_outcomes(problem: Problem, customers: frozenset) -> float:
    p = problem
    return sum(
        factor * p.base_weight(tables)
        * evidence_of_words(p, frozenset(words_of_tables(tables).items()))
        for tables, factor in tables_of(customers, p.discount, p.concentration)
    )  # fmt: skip


@cache
def evidence_of_words(problem: Problem, customers: frozenset) -> float:
    """Return p(words) of the customers of the words' restaurant."""
    p = problem
    return sum(
        factor * p.of_words.length_weight(tables)
        * evidence_of_letters(p.of_words, frozenset(tables.items()))
        for tables, factor in tables_of(customers, p.word_discount, p.word_concentration)
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Cut:
    """The posterior over ways to cut: log p(strings), and the probabilities of each string that a
    word or a collocation ends behind a letter, (len - 1,)."""

    log_evidence: float
    words: list[np.ndarray]
    collocations: list[np.ndarray]


def ends_of(way: Way) -> tuple[list[int], list[int]]:
    """Return where words and where collocations end."""
    words = np.cumsum([len(w) for a in way for w in a]).tolist()
    return words, np.cumsum([len("".join(a)) for a in way]).tolist()


def enumerate_ways(problem: Problem) -> Cut:
    """Return the exact posterior over the ways to cut all strings together."""
    chosen = list(joint_ways(problem))
    weights = np.array([evidence_of(problem, each) for each in chosen])
    probabilities = weights / weights.sum()
    sums = [[np.zeros(len(x) + 1), np.zeros(len(x) + 1)] for x in problem.strings]
    for each, probability in zip(chosen, probabilities.tolist(), strict=True):
        for way, of_string in zip(each, sums, strict=True):
            for ends, total in zip(ends_of(way), of_string, strict=True):
                total[ends] += probability
    words, collocations = ([of_string[kind][1:-1] for of_string in sums] for kind in range(2))
    return Cut(log(weights.sum()), words, collocations)


# --- all tables, for what depends on them -----------------------------------------------------


@dataclass(frozen=True)
class State:
    """Customers and tables of collocations, words and letters, and their joint probability."""

    ways: tuple[Way, ...]
    collocations: tuple[Counter, Counter]
    words: tuple[Counter, Counter]
    letters: tuple[Counts, Counts]
    weight: float


def states(problem: Problem) -> Iterator[State]:
    """Yield all table counts of all ways to cut."""
    p = problem
    for chosen in joint_ways(p):
        customers = outcomes_of(chosen)
        for tables, upper in tables_of(frozenset(customers.items()), p.discount, p.concentration):
            words, upper = words_of_tables(tables), upper * p.base_weight(tables)
            in_words = frozenset(words.items()), p.word_discount, p.word_concentration
            for spelled, factor in tables_of(*in_words):
                weight = upper * factor * p.of_words.length_weight(spelled)
                for letters, of_letters in letter_states(p.of_words, frozenset(spelled.items())):
                    seats = (customers, tables), (words, spelled), letters
                    yield State(chosen, *seats, weight * of_letters)


@dataclass(frozen=True, eq=False)
class WithTables:
    """Log p(strings), and posterior means: numbers of tables, those of characters by depth, and the
    probabilities of the end and of a stop."""

    log_evidence: float
    collocation_tables: float
    word_tables: float
    character_tables: np.ndarray
    end_probability: float
    stop_probability: float


def enumerate_tables(problem: Problem) -> WithTables:
    """Return the posterior means of table counts."""
    total = 0.0
    sums = np.zeros(4 + len(problem.character_discounts))
    for state in states(problem):
        total += state.weight
        letters = [0] * len(problem.character_discounts)
        for (u, _), t in state.letters[1].items():
            letters[len(u)] += t
        tables = state.collocations[1]
        row = [sum(tables.values()), sum(state.words[1].values()), *problem.expected(tables)]
        sums += state.weight * np.array([*row, *letters])
    sums /= total
    return WithTables(log(total), sums[0], sums[1], sums[4:], sums[2], sums[3])


# --- with all seats held ------------------------------------------------------------------------


def frozen_word(problem: Problem, state: State, word: str) -> float:
    """Return p(word | all seats), neither the word nor its spelling seated."""
    p = problem
    held = nested.State((), ({}, {}), state.letters, 1.0)
    base = p.length_factors[len(word) - 1] * nested.frozen_spelling(p.of_words, held, word)
    customers, tables = map(at_root, state.words)
    return predictive(
        (), word, customers, tables, (p.word_discount,), (p.word_concentration,), {word: base}
    )


def frozen_collocation(problem: Problem, state: State, collocation: Words | str) -> float:
    """Return p(collocation, or the end | all seats), its words not seated."""
    p = problem
    base = p.end_probability
    if collocation != END:
        s, n = p.stop_probability, len(collocation)
        base = (1.0 - base) * s * (1.0 - s) ** (n - 1)
        base *= prod(frozen_word(p, state, w) for w in collocation)
    customers, tables = map(at_root, state.collocations)
    hyper = (p.discount,), (p.concentration,)
    return predictive((), collocation, customers, tables, *hyper, {collocation: base})


def frozen_way(problem: Problem, state: State, way: Way) -> float:
    """Return the product of the frozen probabilities of a string's collocations and its end."""
    return prod(frozen_collocation(problem, state, a) for a in (*way, END))


Sizes = dict[object, list[int]]
"""The sizes of the tables of each outcome."""


def log_joint(
    problem: Problem, chosen: Sequence[Way], collocations: Sizes, words: Sizes, letters: Sizes
) -> float:
    """Return log p(ways to cut, seats), customer by customer; the seats must be those of them."""
    p, of_words = problem, problem.of_words
    tables = Counter({a: len(of) for a, of in collocations.items()})
    spelled = {w: len(of) for w, of in words.items()}
    assert {a: sum(of) for a, of in collocations.items()} == outcomes_of(chosen)
    assert {w: sum(of) for w, of in words.items()} == words_of_tables(tables)
    hyper = (p.discount,), (p.concentration,)
    total = log(p.base_weight(tables)) + log_seats(at_root(collocations), *hyper)
    hyper = (p.word_discount,), (p.word_concentration,)
    total += log(of_words.length_weight(spelled)) + log_seats(at_root(words), *hyper)
    return total + log_joint_of_letters(of_words, spelled, letters)


def at_root(values: dict) -> dict:
    """Return values by the cells of the only restaurant."""
    return {((), outcome): value for outcome, value in values.items()}
