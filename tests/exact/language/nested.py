"""Words in unsegmented strings under the nested Pitman-Yor model, by enumeration.

A string is a sequence of words and an end; contexts of words are as in `franchise`. The base of the
words' root gives the end `end_probability`, and a word w of k letters

    (1 - end_probability) g_k p_char(letters of w, end of the word).

Each table of a word at that root is one spelling: an event a letter and one of the word's end in
the characters' restaurants, whose own base is uniform over the alphabet and the end of a word. So

    p(segmentations, t, s) = p(words, t) prod_{root tables} (1 - end_probability) g_k
                             end_probability^{root tables of the end} p_char(spellings, s),

and tables are summed out: those above a restaurant by recursion over the depths, those of the
characters once for each multiset of spellings.

With `end_prior` (a, b) the probability p of the end is Beta(a, b) and integrated out: with n tables
of the end and m of words at the root, p^n (1 - p)^m becomes B(a + n, b + m) / B(a, b)."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from math import exp, lgamma, log, prod

import numpy as np
from exact.language.franchise import (
    Cell,
    Counts,
    customers_of,
    events_of,
    joint,
    log_seats,
    predictive,
    rising,
    stirling,
    table_counts,
    tables_of,
)

END = ""
"""The end of a string among words, the end of a word among letters."""

Words = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """Strings, and everything that is held fixed; hyper-parameters by depth."""

    strings: Sequence[str]
    word_discounts: Sequence[float]
    word_concentrations: Sequence[float]
    character_discounts: Sequence[float]
    character_concentrations: Sequence[float]
    max_word_length: int = 5
    length_factors: Sequence[float] | None = (0.7, 1.9, 0.4, 1.2, 0.8)  # g_1, ..., g_L; None: 1
    end_probability: float = 0.3
    end_prior: tuple[float, float] | None = None  # of the end probability, if that is unknown
    known_cuts: Sequence[Sequence[int] | None] | None = None  # 1 cut, 0 none, -1 unknown

    @property
    def n_characters(self) -> int:
        return len(set("".join(self.strings)))

    def word_events(self, segmentations: Sequence[Words]) -> Counter[Cell]:
        order = len(self.word_discounts)
        return Counter(e for words in segmentations for e in events_of(words, order, END))

    def letter_events(self, spellings: Mapping[str, int]) -> Counter[Cell]:
        """Return the events of words with their numbers of spellings; the end has no letters."""
        order = len(self.character_discounts)
        events: Counter[Cell] = Counter()
        for word, n in spellings.items():
            for event in events_of(word, order, END) if word else ():
                events[event] += n
        return events

    @property
    def letter_base(self) -> defaultdict:
        """Return the base of the letters: the characters and the end are equally probable."""
        return defaultdict(lambda: 1.0 / (self.n_characters + 1))

    def length_factor(self, word: str) -> float:
        return self.length_factors[len(word) - 1] if word and self.length_factors else 1.0

    def length_weight(self, tables: Mapping[str, int]) -> float:
        return prod(self.length_factor(w) ** t for w, t in tables.items())

    def prior_of_outcome(self, word: str) -> float:
        """Return the base's factor next to p_char."""
        if word == END:
            return self.end_probability
        return (1.0 - self.end_probability) * self.length_factor(word)

    def _ends(self, tables: Mapping[str, int]) -> tuple:
        n_ends = tables.get(END, 0)
        return self.end_probability, self.end_prior, n_ends, sum(tables.values()) - n_ends

    def root_weight(self, tables: Mapping[str, int]) -> float:
        """Return the base's factor of all tables of the root, next to p_char."""
        return power(*self._ends(tables)) * self.length_weight(tables)

    def expected_end(self, tables: Mapping[str, int]) -> float:
        """Return the mean of the end probability given all tables of the root."""
        return mean(*self._ends(tables))


def problem_of(strings: Sequence[str], orders: tuple[int, int] = (2, 2), **changes) -> Problem:
    """Return a problem whose words are cheap, so that all segmentations have a share."""
    word, character = orders
    given = {
        "word_discounts": (0.3, 0.5, 0.6)[:word],
        "word_concentrations": (1.0, 0.7, 0.4)[:word],
        "character_discounts": (0.2, 0.4, 0.7)[:character],
        "character_concentrations": (0.8, 0.5, 0.3)[:character],
    }
    return Problem(strings, **{**given, **changes})


def power(p: float, prior: tuple[float, float] | None, n: int, m: int) -> float:
    """Return p^n (1 - p)^m, or its mean over the Beta prior of an unknown p."""
    if prior is None:
        return p**n * (1.0 - p) ** m
    a, b = prior
    return exp(log_beta(a + n, b + m) - log_beta(a, b))


def mean(p: float, prior: tuple[float, float] | None, n: int, m: int) -> float:
    """Return p, or the mean of an unknown one given n and m events."""
    return p if prior is None else (prior[0] + n) / (sum(prior) + n + m)


def log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def segmentations(string: str, longest: int, known: Sequence[int] | None = None) -> list[Words]:
    """Return all divisions of a string into words, those that keep its known cuts."""
    if not string:
        return [()]
    found = []
    for cuts in product((0, 1), repeat=len(string) - 1):
        if known is not None and any(
            k not in (-1, cut) for k, cut in zip(known, cuts, strict=True)
        ):
            continue
        edges = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), len(string)]
        words = tuple(string[i:j] for i, j in pairwise(edges))
        if max(map(len, words)) <= longest:
            found.append(words)
    return found


def joint_segmentations(problem: Problem) -> Iterator[tuple[Words, ...]]:
    """Yield all divisions of all strings."""
    known = problem.known_cuts or [None] * len(problem.strings)
    yield from product(*(
        segmentations(string, problem.max_word_length, cuts)
        for string, cuts in zip(problem.strings, known, strict=True)
    ))  # fmt: skip


# --- evidence: tables summed out ------------------------------------------------------------------


def evidence_of(problem: Problem, chosen: Sequence[Words]) -> float:
    """Return p(segmentations)."""
    return _evidence_of_events(problem, frozenset(problem.word_events(chosen).items()))


@cache
def _evidence_of_events(problem: Problem, events: frozenset) -> float:
    p = problem
    return sum(
        weight * factor * evidence_of_letters(p, frozenset(tables.items())) * p.root_weight(tables)
        for customers, weight in _at_the_root(events, p.word_discounts, p.word_concentrations)
        for tables, factor in tables_of(customers, p.word_discounts[0], p.word_concentrations[0])
    )


@cache
def evidence_of_letters(problem: Problem, spellings: frozenset) -> float:
    """Return p_char(spellings) of (word, number of spellings)."""
    p, events = problem, frozenset(problem.letter_events(dict(spellings)).items())
    return sum(
        weight * _root_of_letters(p, tuple(sorted(c for _, c in customers)))
        for customers, weight in _at_the_root(
            events, p.character_discounts, p.character_concentrations
        )
    )


@cache
def _root_of_letters(problem: Problem, customers: tuple[int, ...]) -> float:
    """Return the factor of the characters' root, whose outcomes have one probability. Its tables
    matter by their number alone: a product of polynomials sums over the rest."""
    d, theta = problem.character_discounts[0], problem.character_concentrations[0]
    polynomial = np.ones(1)
    for c in customers:
        polynomial = np.convolve(polynomial, stirling(c, d)[c])
    return sum(
        of_t * rising(theta + d, t - 1, d) / (problem.n_characters + 1) ** t
        for t, of_t in enumerate(polynomial.tolist()) if of_t
    ) / rising(theta + 1, sum(customers) - 1)  # fmt: skip


def _contexts(events: frozenset) -> list[tuple]:
    """Return the contexts of restaurants above the root, the longest first."""
    every = {u[i:] for (u, _), _ in events for i in range(len(u))}
    return sorted(every, key=len, reverse=True)


def _at_the_root(events: frozenset, discounts, concentrations) -> list[tuple]:
    """Return the customers of the root, (outcome, c), and the weights of all tables above."""
    states = {events: 1.0}  # customers of the restaurants that are not yet seated
    for context in _contexts(events):
        hyper, merged = (discounts[len(context)], concentrations[len(context)]), Counter()
        for state, weight in states.items():
            here = frozenset((w, c) for (u, w), c in state if u == context)
            others = {cell: c for cell, c in state if cell[0] != context}
            for tables, factor in tables_of(here, *hyper):
                above = dict(others)
                for w, t in tables.items():
                    above[context[1:], w] = above.get((context[1:], w), 0) + t
                merged[frozenset(above.items())] += weight * factor
        states = merged
    return [(frozenset((w, c) for (_, w), c in of), weight) for of, weight in states.items()]


@dataclass(frozen=True, eq=False)
class Segmented:
    """The posterior over joint segmentations, each a tuple of words a string: p(segmentation,
    strings) with the tables summed out, and each string's cut probabilities, (len - 1,)."""

    segmentations: list[tuple[Words, ...]]
    weights: np.ndarray
    boundaries: list[np.ndarray]


def enumerate_segmentations(problem: Problem) -> Segmented:
    """Return the exact posterior over the segmentations of all strings together."""
    chosen = list(joint_segmentations(problem))
    weights = np.array([evidence_of(problem, words) for words in chosen])
    sums = [np.zeros(len(string) + 1) for string in problem.strings]
    for each, probability in zip(chosen, weights / weights.sum(), strict=True):
        for words, of_string in zip(each, sums, strict=True):
            of_string[np.cumsum([len(word) for word in words], dtype=int)] += probability
    return Segmented(chosen, weights, [of_string[1:-1] for of_string in sums])


# --- all tables, for what depends on them -----------------------------------------------------


@dataclass(frozen=True)
class State:
    """Customers and tables of words and letters, and p(segmentations, tables)."""

    segmentations: tuple[Words, ...]
    words: tuple[Counts, Counts]
    letters: tuple[Counts, Counts]
    weight: float


@cache
def letter_states(problem: Problem, spellings: frozenset) -> list[tuple]:
    """Return all customers and tables of the letters of words, and their weights."""
    hyper = problem.character_discounts, problem.character_concentrations
    return [
        (both, joint(*both, *hyper, problem.letter_base))
        for both in table_counts(problem.letter_events(dict(spellings)))
    ]


def states(problem: Problem) -> Iterator[State]:
    """Yield all table counts of all segmentations: 30,000 of "abab" and "ab", many more beyond."""
    p = problem
    ones: dict = defaultdict(lambda: 1.0)
    for chosen in joint_segmentations(p):
        for customers, tables in table_counts(p.word_events(chosen)):
            of_words = joint(customers, tables, p.word_discounts, p.word_concentrations, ones)
            roots = {w: t for (u, w), t in tables.items() if not u}
            of_words *= p.root_weight(roots)
            spellings = frozenset((w, t) for w, t in roots.items() if w)
            for letters, of_letters in letter_states(p, spellings):
                yield State(chosen, (customers, tables), letters, of_words * of_letters)


Sizes = dict[Cell, list[int]]
"""The sizes of the tables of each cell."""


def log_joint(
    problem: Problem, chosen: Sequence[Words], of_words: Sizes, of_letters: Sizes
) -> float:
    """Return log p(segmentations, seats), customer by customer. The seats must be those of just
    these words: every cell has the customers that they send."""
    p = problem
    roots = {w: of for (u, w), of in of_words.items() if not u}
    tables = {cell: len(sizes) for cell, sizes in of_words.items()}
    total = sum(len(of) * log(p.prior_of_outcome(w)) for w, of in roots.items())
    assert {c: sum(of) for c, of in of_words.items()} == customers_of(p.word_events(chosen), tables)
    total += log_seats(of_words, p.word_discounts, p.word_concentrations)
    return total + log_joint_of_letters(p, {w: len(of) for w, of in roots.items()}, of_letters)


def log_joint_of_letters(problem: Problem, spellings: Mapping[str, int], sizes: Sizes) -> float:
    """Return log p(letters, seats) of words with their numbers of spellings."""
    p, tables = problem, {cell: len(of) for cell, of in sizes.items()}
    assert {c: sum(of) for c, of in sizes.items()} == customers_of(
        p.letter_events(spellings), tables
    )
    n_tables = sum(t for (u, _), t in tables.items() if not u)
    total = log_seats(sizes, p.character_discounts, p.character_concentrations)
    return total - n_tables * log(p.n_characters + 1)


def frozen_word(problem: Problem, state: State, context: tuple, word: str) -> float:
    """Return p(word | context, all seats), neither the word nor its spelling seated."""
    p = problem
    base = p.prior_of_outcome(word) * frozen_spelling(p, state, word)
    return predictive(
        context, word, *state.words, p.word_discounts, p.word_concentrations, {word: base}
    )


def frozen_spelling(problem: Problem, state: State, word: str) -> float:
    """Return p_char(letters, end of the word | all seats), 1 for the end of a string."""
    p = problem
    hyper = p.character_discounts, p.character_concentrations, p.letter_base
    events = events_of(word, len(p.character_discounts), END) if word else []
    return prod(predictive(*event, *state.letters, *hyper) for event in events)


@dataclass(frozen=True, eq=False)
class WithTables:
    """p(strings), the sum over all states, and posterior means of numbers of tables by depth and of
    the end probability."""

    evidence: float
    word_tables: np.ndarray
    character_tables: np.ndarray
    end_probability: float


def enumerate_tables(problem: Problem) -> WithTables:
    """Return the posterior means of table counts."""
    total, end = 0.0, 0.0
    sums = [np.zeros(len(of)) for of in (problem.word_discounts, problem.character_discounts)]
    for state in states(problem):
        total += state.weight
        for of_level, (_, tables) in zip(sums, (state.words, state.letters), strict=True):
            for (u, _), t in tables.items():
                of_level[len(u)] += state.weight * t
        roots = {w: t for (u, w), t in state.words[1].items() if not u}
        end += state.weight * problem.expected_end(roots)
    return WithTables(total, sums[0] / total, sums[1] / total, end / total)
