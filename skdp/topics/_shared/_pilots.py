"""Pilots: short chains that choose the initial number of topics of a fit.

A chain hardly ever splits a topic of thousands of words, and needs many sweeps to lose superfluous
topics, so the number it begins with matters. Pilots begin with different numbers and see the corpus
without a fifth of its words. They are judged by the probability of these words in their last block
of sweeps. As long as the score of the best pilot grows, it runs for more blocks, and so do the
pilots that may overtake it.

If no pilot is clearly better than one topic, documents do not differ, and the fit has one topic.
From there the chain would not stay at one: `topic_word_prior` is learned from a single topic, so it
shows how even the words of the corpus are, and not how much topics differ. If the words are even,
it becomes so large that further topics, all nearly uniform, cost nothing; and if it is fixed at
.05, many topics of a few words each are more probable than one even topic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from skdp._executors import call_all
from skdp._numeric import Floats, Ints, Places
from skdp.data import SegmentedCorpus
from skdp.data._ragged import offsets
from skdp.inference._chain import check_interrupts
from skdp.topics._shared._arrays import sum_rises, update_symmetric_dirichlet

# Numbers of topics with which the first pilots begin. More topics take time in every sweep.
SMALL_NUMBERS, LARGE_NUMBERS = (1, 5, 20), (80, 300)

LARGE_LOSS, SMALL_LOSS = 4.0, 0.01
"""Standard errors by which a pilot is clearly worse than another, and the loss per word, in nats,
that does not matter."""

# Standard errors by which the best pilot has to be better than one topic.
CLEAR_GAIN = 3.0

# Gain per word in a block, in nats, below which a pilot has stopped climbing.
SMALL_CLIMB = 0.001

# Number of topics if the corpus is too small for pilots.
DEFAULT_NUMBER = 20

# Smallest numbers of words, and of documents or segments, by which pilots can be judged.
LEAST_TOKENS, LEAST_UNITS = 300, 20

# Bound on the bytes of the counts of the initial topics.
LARGEST_START = 2.0**30

# Steps by which the prior of one topic is learned, and its Gamma prior.
_STEPS, _PRIOR_OF_ONE = 100, (1.0, 0.1)

# Length of a pilot; words are scored after every round but those of the first block.
SWEEPS_OF_ROUND, ROUNDS_OF_BLOCK, FEWEST_BLOCKS, MOST_BLOCKS = 5, 3, 3, 6


class HeldOut(NamedTuple):
    """A corpus without some of its words, and these words."""

    rest: SegmentedCorpus  # what the pilots see, with all documents and segments
    tokens: Ints
    segment_of: Places
    unit_of: Places  # units by which pilots are compared: documents, or segments if few


def hold_out_words(corpus: SegmentedCorpus, seed: np.random.SeedSequence) -> HeldOut | None:
    """Return the corpus without a random fifth of its words, or None if it is too small."""
    is_out = np.random.default_rng(seed).integers(0, 5, len(corpus.tokens), dtype=np.uint8) == 0
    segment_of = np.searchsorted(corpus.segment_ptr, np.flatnonzero(is_out), side="right") - 1
    document_of = np.searchsorted(corpus.doc_ptr, segment_of, side="right") - 1
    unit_of = document_of if len(np.unique(document_of)) >= LEAST_UNITS else segment_of
    if len(corpus.tokens) < LEAST_TOKENS or len(np.unique(unit_of)) < LEAST_UNITS:
        return None
    lengths = np.diff(corpus.segment_ptr)
    lengths -= np.bincount(segment_of, minlength=len(lengths))
    rest = corpus._like(corpus.tokens[~is_out], (corpus.doc_ptr, offsets(lengths)))
    return HeldOut(rest, corpus.tokens[is_out], segment_of, unit_of)


# Log probabilities of the units in the last but one and in the last block of a pilot.
Score = tuple[Floats, Floats]


class PilotChoice(NamedTuple):
    """What pilots have found."""

    number: int  # the best initial number of topics
    finds_topics: bool  # whether the best pilot is clearly better than one topic


# Scores of pilots by initial number of topics.
Scores = dict[int, Score]


def score_one_topic(held_out: HeldOut) -> Floats:
    """Return the log probabilities of the units if all words have the same topic."""
    n_words = held_out.rest.n_features
    counts = np.bincount(held_out.rest.tokens, minlength=n_words)
    total, gamma = np.array([counts.sum()], dtype=np.float64), 1.0
    for _ in range(_STEPS):  # learned, so that pilots are not better by smoothing alone
        gamma = update_symmetric_dirichlet(
            gamma, sum_rises(gamma, counts), total, n_words, *_PRIOR_OF_ONE
        )
    logs = np.log((counts + gamma) / (total[0] + n_words * gamma))
    return np.bincount(held_out.unit_of, weights=logs[held_out.tokens]).astype(np.float64)


class Pilot:
    """A short chain, `sampler`, over the words that are not held out."""

    def __init__(self, sampler: Any, held_out: HeldOut):
        self._sampler, self._held_out = sampler, held_out
        self.has_bursts = sampler.bursts is not None
        self._n_rounds = 0
        self._before = self._last = np.zeros(len(held_out.tokens))

    def run_round(self) -> Pilot:
        """Do the sweeps of a round, and after the first block add up probabilities; return self."""
        if self._n_rounds % ROUNDS_OF_BLOCK == 0:
            self._before, self._last = self._last, np.zeros(len(self._last))
        for _ in range(SWEEPS_OF_ROUND):
            self._sampler.sweep()
        if self._n_rounds >= ROUNDS_OF_BLOCK:
            self._sampler.score_words(self._held_out.tokens, self._held_out.segment_of, self._last)
        self._n_rounds += 1
        return self

    def score(self) -> Score:
        """Return the score after a block; words have their mean probability in a block."""
        before, last = (self._log_probabilities(row) for row in (self._before, self._last))
        return before, last

    def _log_probabilities(self, sums: Floats) -> Floats:
        logs = np.log(sums / ROUNDS_OF_BLOCK)
        return np.bincount(self._held_out.unit_of, weights=logs).astype(np.float64)


def run_blocks(pilots: dict[int, Pilot], n_blocks: int, n_jobs: int | None) -> dict[int, Pilot]:
    """Return pilots after further blocks; `n_jobs` threads share them."""
    for _ in range(n_blocks * ROUNDS_OF_BLOCK):
        check_interrupts()
        rounds = [pilot.run_round for pilot in pilots.values()]
        # A backend that pickles tasks returns copies.
        pilots = dict(zip(pilots, call_all(rounds, n_jobs, require="sharedmem"), strict=True))
    return pilots


class Comparison:
    """Pilots compared with the best of them, by their scores of `n_words` held-out words."""

    def __init__(self, scores: Scores, n_words: int):
        self.best = max(scores, key=lambda number: float(scores[number][1].sum()))
        before, last = scores[self.best]
        self._n_words, self._climb, self._last = n_words, last - before, last
        self._losses = {number: last - own for number, (_, own) in scores.items()}

    @property
    def is_climbing(self) -> bool:
        """Whether the best has clearly gained in its last block."""
        least = max(2.0 * standard_error(self._climb), SMALL_CLIMB * self._n_words)
        return bool(self._climb.sum() > least)

    def is_clearly_better(self, other: Floats) -> bool:
        """Return whether the best is clearly better than other log probabilities of the units."""
        gain = self._last - other
        gain = np.delete(gain, np.abs(gain).argmax())  # the sum and its error if it is a huge unit
        return bool(gain.sum() > CLEAR_GAIN * standard_error(gain))

    @property
    def contenders(self) -> list[int]:
        """Numbers that are behind by no more than the best has gained in its last block."""
        return [n for n, loss in self._losses.items() if loss.sum() <= max(self._climb.sum(), 0.0)]

    @property
    def as_good(self) -> list[int]:
        """Numbers that are as good as the best."""
        small = SMALL_LOSS * self._n_words
        return [
            n for n, loss in self._losses.items() if loss.sum() <= min(standard_error(loss), small)
        ]

    @property
    def within_a_standard_error(self) -> list[int]:
        """Numbers that may be as good as the best, for all that the documents tell."""
        return [n for n, loss in self._losses.items() if loss.sum() <= standard_error(loss)]

    def is_hopeless(self, number: int) -> bool:
        """Return whether the pilot from a number is clearly worse than the best, and far behind."""
        loss = self._losses[number]
        return number not in self.contenders and bool(
            loss.sum() > LARGE_LOSS * standard_error(loss)
        )


def standard_error(differences: Floats) -> float:
    """Return the standard error of the sum of independent differences."""
    return float(np.std(differences) * math.sqrt(len(differences)))


def numbers_beside(number: int, known: list[int]) -> list[int]:
    """Return the geometric means of a number and its neighbors among all known numbers."""
    known = sorted(known)
    i = known.index(number)
    neighbors = [*known[i - 1 : i], *known[i + 1 : i + 2]]
    means = {round(math.sqrt(number * neighbor)) for neighbor in neighbors}
    return sorted(means - set(known))


def choose_number_of_topics(
    corpus: SegmentedCorpus,
    size_of_topic: float,  # bytes for its counts
    start: Callable[[SegmentedCorpus, int], Any],  # returns the sampler of a new pilot
    seed: np.random.SeedSequence,
    most_topics: int | None,
    n_jobs: int | None,
    fewest_topics: int = 1,
) -> PilotChoice:
    """Return the initial number of topics, chosen by pilots, and whether there are topics.

    Small numbers are tried, then large numbers unless they are hopeless, then the neighbors of the
    best. While the best climbs, the contenders go on. If it stops, the result is the smallest
    number that is as good; otherwise the largest contender: with more topics chains climb longer.
    With bursts of words the result is the smallest number whose loss is within a standard error.
    """
    held_out = hold_out_words(corpus, seed)
    most = most_topics or max(*LARGE_NUMBERS, fewest_topics)
    if held_out is None:
        return PilotChoice(min(max(DEFAULT_NUMBER, fewest_topics), most), True)

    pilots: dict[int, Pilot] = {}

    def start_pilots(numbers: Iterable[int]) -> dict[int, Pilot]:
        allowed = sorted({min(max(n, fewest_topics), most) for n in numbers} - set(pilots))
        affordable = [
            n for n in allowed if n * size_of_topic <= LARGEST_START or n == fewest_topics
        ]
        new = {n: Pilot(start(held_out.rest, n), held_out) for n in affordable}
        return run_blocks(new, FEWEST_BLOCKS, n_jobs)

    def compare(pilots: dict[int, Pilot]) -> Comparison:
        return Comparison({k: pilot.score() for k, pilot in pilots.items()}, len(held_out.tokens))

    pilots |= start_pilots(SMALL_NUMBERS)
    if not compare(pilots).is_hopeless(max(pilots)):
        pilots |= start_pilots(LARGE_NUMBERS)
    pilots |= start_pilots(numbers_beside(compare(pilots).best, list(pilots)))
    compared = compare(pilots)
    contenders = compared.contenders
    for _ in range(FEWEST_BLOCKS, MOST_BLOCKS):
        if not compared.is_climbing:
            break
        pilots = run_blocks({number: pilots[number] for number in contenders}, 1, n_jobs)
        compared = compare(pilots)
    finds_topics = compared.is_clearly_better(score_one_topic(held_out))
    if not pilots[compared.best].has_bursts:
        number = max(contenders) if compared.is_climbing else min(compared.as_good)
        return PilotChoice(number, finds_topics)
    one = start(held_out.rest, fewest_topics)
    one.most_topics = fewest_topics
    alone = run_blocks({1: Pilot(one, held_out)}, FEWEST_BLOCKS, n_jobs)[1]
    number = min(compared.within_a_standard_error)
    return PilotChoice(number, finds_topics and compared.is_clearly_better(alone.score()[1]))
