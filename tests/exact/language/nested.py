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
of the end and m of words at the root, p^n (1 - p)^m becomes B(a + n, b + m) / B(a, b).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    restaurant_weight,
    rising,
    stirling,
    table_counts,
)

END = ""
"""The end of a string among words, the end of a word among letters."""

Words = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """Strings, and everything that is held fixed; hyper-parameters by depth."""

    strings: Sequence[str]
    word_discounts: Sequence[float] = (0.3, 0.5)
    word_concentrations: Sequence[float] = (1.0, 0.7)
    character_discounts: Sequence[float] = (0.2, 0.4)
    character_concentrations: Sequence[float] = (0.8, 0.5)
    alphabet: str | None = None  # None: the characters of the strings
    max_word_length: int = 12
    length_factors: Sequence[float] | None = None  # g_1, ..., g_L; None: 1
    end_probability: float = 0.95
    end_prior: tuple[float, float] | None = None  # of the end probability, if that is unknown
    known_cuts: Sequence[Sequence[int] | None] | None = None  # 1 cut, 0 none, -1 unknown

    @property
    def n_characters(self) -> int:
        return len(set("".join(self.strings) if self.alphabet is None else self.alphabet))

    def word_events(self, segmentations: Sequence[Words]) -> Counter[Cell]:
        order = len(self.word_discounts)
        return Counter(e for words in segmentations for e in events_of(words, order, END))

    def letter_events(self, spellings: Counter[str]) -> Counter[Cell]:
        """Return the events of words that are spelled so many times; the end has no letters."""
        order = len(self.character_discounts)
        events: Counter[Cell] = Counter()
        for word, n in spellings.items():
            for event in events_of(word, order, END) if word else ():
                events[event] += n
        return events

    def prior_of_outcome(self, word: str) -> float:
        """Return the base's factor beside p_char."""
        if word == END:
            return self.end_probability
        g = 1.0 if self.length_factors is None else self.length_factors[len(word) - 1]
        return (1.0 - self.end_probability) * g

    def root_weight(self, tables: Mapping[str, int]) -> float:
        """Return the base's factor of all tables of the root, beside p_char."""
        if self.end_prior is None:
            return prod(self.prior_of_outcome(w) ** t for w, t in tables.items())
        lengths = self.length_factors or [1.0] * self.max_word_length
        a, b = self.end_prior
        n, m = tables.get(END, 0), sum(t for w, t in tables.items() if w != END)
        integral = exp(log_beta(a + n, b + m) - log_beta(a, b))
        return integral * prod(lengths[len(w) - 1] ** t for w, t in tables.items() if w != END)

    def expected_end(self, tables: Mapping[str, int]) -> float:
        """Return the mean of the end probability given all tables of the root."""
        if self.end_prior is None:
            return self.end_probability
        a, b = self.end_prior
        return (a + tables.get(END, 0)) / (a + b + sum(tables.values()))


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


# --- evidence: tables summed out --------------------------------------------------------------


@dataclass(eq=False)
class Evidence:
    """Sums over the tables of a problem, remembered by what they depend on."""

    problem: Problem
    _of_words: dict = field(default_factory=dict)
    _of_letters: dict = field(default_factory=dict)
    _of_roots: dict = field(default_factory=dict)
    _of_restaurants: dict = field(default_factory=dict)

    def segmented(self, chosen: Sequence[Words]) -> float:
        """Return p(segmentations)."""
        p = self.problem
        events = p.word_events(chosen)
        key = frozenset(events.items())
        if key not in self._of_words:
            hyper = p.word_discounts, p.word_concentrations
            self._of_words[key] = sum(
                weight * factor * self.spelled(Counter(tables))
                * p.root_weight(tables)
                for customers, weight in self._root_customers(events, *hyper)
                for tables, factor in self._restaurant(dict(customers), hyper[0][0], hyper[1][0])
            )  # fmt: skip
        return self._of_words[key]

    def spelled(self, spellings: Counter[str]) -> float:
        """Return p_char(spellings) of words that are spelled so many times."""
        p = self.problem
        key = frozenset((word, n) for word, n in spellings.items() if word)
        if key not in self._of_letters:
            hyper = p.character_discounts, p.character_concentrations
            events = p.letter_events(spellings)
            self._of_letters[key] = sum(
                weight * self._root_of_letters(tuple(sorted(c for _, c in customers)))
                for customers, weight in self._root_customers(events, *hyper)
            )
        return self._of_letters[key]

    def _root_of_letters(self, customers: tuple[int, ...]) -> float:
        """Return the factor of the characters' root, whose outcomes have one probability.

        Its tables matter by their number alone: a product of polynomials sums over the rest.
        """
        p = self.problem
        if customers not in self._of_roots:
            d, theta = p.character_discounts[0], p.character_concentrations[0]
            polynomial = np.ones(1)
            for c in customers:
                polynomial = np.convolve(polynomial, stirling(c, d)[c])
            self._of_roots[customers] = sum(
                of_t * rising(theta + d, t - 1, d) / (p.n_characters + 1) ** t
                for t, of_t in enumerate(polynomial.tolist()) if of_t
            ) / rising(theta + 1, sum(customers) - 1)  # fmt: skip
        return self._of_roots[customers]

    def _root_customers(self, events: Counter[Cell], discounts, concentrations) -> list[tuple]:
        """Return ((outcome, customers), ...) of the root, and the weights of all tables above."""
        states = {frozenset(events.items()): 1.0}  # customers not yet seated
        for depth in range(len(discounts) - 1, 0, -1):
            d, theta = discounts[depth], concentrations[depth]
            merged: dict[frozenset, float] = defaultdict(float)
            for customers, weight in states.items():
                for above, factor in self._depth(customers, depth, d, theta).items():
                    merged[above] += weight * factor
            states = merged
        return [([(w, c) for (_, w), c in of], weight) for of, weight in states.items()]

    def _depth(self, customers: frozenset, depth: int, d: float, theta: float) -> dict:
        """Return {customers one depth up: weight}, over all tables of a depth's restaurants."""
        waiting: dict[Cell, int] = {}  # those above who are there already
        restaurants: dict = defaultdict(dict)
        for (u, w), c in customers:
            if len(u) == depth:
                restaurants[u][w] = c
            else:
                waiting[u, w] = c
        states = {frozenset(waiting.items()): 1.0}
        for u, cells in restaurants.items():
            merged: dict[frozenset, float] = defaultdict(float)
            for above, weight in states.items():
                for tables, factor in self._restaurant(cells, d, theta):
                    counts = dict(above)
                    for w, t in tables.items():
                        counts[u[1:], w] = counts.get((u[1:], w), 0) + t
                    merged[frozenset(counts.items())] += weight * factor
            states = merged
        return states

    def _restaurant(self, customers: dict, d: float, theta: float) -> list[tuple]:
        """Return all tables {outcome: t} of a restaurant, and their factors."""
        key = frozenset(customers.items()), d, theta
        if key not in self._of_restaurants:
            numbers = stirling(max(customers.values()), d)
            self._of_restaurants[key] = [
                (
                    dict(zip(customers, t, strict=True)),
                    restaurant_weight(
                        list(zip(customers.values(), t, strict=True)), d, theta, numbers
                    ),
                )
                for t in product(*(range(1, c + 1) for c in customers.values()))
            ]
        return self._of_restaurants[key]


@dataclass(frozen=True, eq=False)
class Segmented:
    """The posterior over segmentations.

    Attributes
    ----------
    segmentations : list of joint segmentations, a tuple of words a string
    log_evidences : (n,) log p(segmentation), with the strings' tables summed out
    log_evidence : log p(strings)
    probabilities : (n,) posterior of the joint segmentations
    boundaries : a string its cut probabilities, (len - 1,)
    spans : a string {(start, stop): probability that this is a word}
    """

    segmentations: list[tuple[Words, ...]]
    log_evidences: np.ndarray
    log_evidence: float
    probabilities: np.ndarray
    boundaries: list[np.ndarray]
    spans: list[dict[tuple[int, int], float]]


def enumerate_segmentations(problem: Problem) -> Segmented:
    """Return the exact posterior over the segmentations of all strings together."""
    evidence = Evidence(problem)
    chosen = list(joint_segmentations(problem))
    weights = np.array([evidence.segmented(words) for words in chosen])
    probabilities = weights / weights.sum()
    spans: list[dict] = [defaultdict(float) for _ in problem.strings]
    for each, probability in zip(chosen, probabilities.tolist(), strict=True):
        for words, of_string in zip(each, spans, strict=True):
            start = 0
            for word in words:
                of_string[start, start + len(word)] += probability
                start += len(word)
    boundaries = [
        np.array([sum(p for (start, _), p in of.items() if start == i) for i in range(1, len(x))])
        for x, of in zip(problem.strings, spans, strict=True)
    ]
    return Segmented(
        chosen,
        np.log(weights),
        log(weights.sum()),
        probabilities,
        boundaries,
        list(map(dict, spans)),
    )


# --- all tables, for what depends on them -----------------------------------------------------


@dataclass(frozen=True)
class State:
    """Customers and tables of words and letters, and p(segmentations, tables)."""

    segmentations: tuple[Words, ...]
    words: tuple[Counts, Counts]
    letters: tuple[Counts, Counts]
    weight: float


def states(problem: Problem) -> Iterator[State]:
    """Yield all table counts of all segmentations: 30,000 of "abab" and "ab", many more beyond."""
    p = problem
    letter_base: dict = defaultdict(lambda: 1.0 / (p.n_characters + 1))
    remembered: dict[frozenset, list] = {}
    for chosen in joint_segmentations(p):
        events = p.word_events(chosen)
        ones: dict = defaultdict(lambda: 1.0)
        for customers, tables in table_counts(events):
            of_words = joint(customers, tables, p.word_discounts, p.word_concentrations, ones)
            roots = {w: t for (u, w), t in tables.items() if not u}
            of_words *= p.root_weight(roots)
            spellings = Counter({w: t for w, t in roots.items() if w})
            key = frozenset(spellings.items())
            if key not in remembered:
                remembered[key] = [
                    (both, joint(*both, p.character_discounts, p.character_concentrations,
                                 letter_base))
                    for both in table_counts(p.letter_events(spellings))
                ]  # fmt: skip
            for letters, of_letters in remembered[key]:
                yield State(chosen, (customers, tables), letters, of_words * of_letters)


Sizes = dict[Cell, list[int]]
"""The sizes of the tables of each cell."""


def log_joint(
    problem: Problem, chosen: Sequence[Words], of_words: Sizes, of_letters: Sizes
) -> float:
    """Return log p(segmentations, seats), customer by customer.

    The seats must be those of just these words: every cell has the customers that they send.
    """
    p = problem
    spellings = Counter({w: len(of) for (u, w), of in of_words.items() if not u and w})
    total = 0.0
    for sizes, events, hyper, base in [
        (of_words, p.word_events(chosen), (p.word_discounts, p.word_concentrations),
         {w: p.prior_of_outcome(w) for (_, w) in of_words}),
        (of_letters, p.letter_events(spellings),
         (p.character_discounts, p.character_concentrations),
         defaultdict(lambda: 1.0 / (p.n_characters + 1))),
    ]:  # fmt: skip
        tables = {cell: len(of) for cell, of in sizes.items()}
        assert {cell: sum(of) for cell, of in sizes.items()} == customers_of(events, tables)
        total += log_seats(sizes, *hyper, base)
    return total


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
    order = len(p.character_discounts)
    letter_base: dict = defaultdict(lambda: 1.0 / (p.n_characters + 1))
    return prod(
        predictive(u, x, *state.letters, p.character_discounts, p.character_concentrations,
                   letter_base)
        for u, x in (events_of(word, order, END) if word else ())
    )  # fmt: skip


def frozen_string(problem: Problem, state: State, string: str) -> float:
    """Return the sum over segmentations of a string of the products of its frozen words."""
    order = len(problem.word_discounts)
    return sum(
        prod(frozen_word(problem, state, u, w) for u, w in events_of(words, order, END))
        for words in segmentations(string, problem.max_word_length)
    )


@dataclass(frozen=True, eq=False)
class WithTables:
    """Posterior means of what depends on the tables.

    Attributes
    ----------
    log_evidence : log p(strings)
    word_tables, character_tables : (order,) expected tables by depth
    word_customers, character_customers : (order,)
    cells : {("word" or "character", context, outcome): expected tables}
    end_probability : its posterior mean
    log_joint : E[log p(segmentations, tables)]
    log_probabilities : of each of the new strings, log E[p(string | all seats)]
    """

    log_evidence: float
    word_tables: np.ndarray
    character_tables: np.ndarray
    word_customers: np.ndarray
    character_customers: np.ndarray
    cells: dict[tuple, float]
    end_probability: float
    log_joint: float
    log_probabilities: np.ndarray


def enumerate_tables(problem: Problem, new_strings: Sequence[str] = ()) -> WithTables:
    """Return the posterior means of table counts, and the predictives of new strings."""
    total, mean_log_joint, mean_end = 0.0, 0.0, 0.0
    orders = len(problem.word_discounts), len(problem.character_discounts)
    sums = [[np.zeros(order), np.zeros(order)] for order in orders]
    cells: dict[tuple, float] = defaultdict(float)
    of_new = np.zeros(len(new_strings))
    for state in states(problem):
        total += state.weight
        mean_log_joint += state.weight * log(state.weight)
        for name, of_level, level in zip(
            ("word", "character"), sums, (state.words, state.letters), strict=True
        ):
            for of_kind, counts in zip(of_level, level, strict=True):
                for (u, _), n in counts.items():
                    of_kind[len(u)] += state.weight * n
            for (u, w), t in level[1].items():
                cells[name, u, w] += state.weight * t
        roots = {w: t for (u, w), t in state.words[1].items() if not u}
        mean_end += state.weight * problem.expected_end(roots)
        of_new += [state.weight * frozen_string(problem, state, x) for x in new_strings]
    return WithTables(
        log_evidence=log(total),
        word_customers=sums[0][0] / total,
        word_tables=sums[0][1] / total,
        character_customers=sums[1][0] / total,
        character_tables=sums[1][1] / total,
        cells={cell: value / total for cell, value in cells.items()},
        end_probability=mean_end / total,
        log_joint=mean_log_joint / total,
        log_probabilities=np.log(of_new / total),
    )
