"""Pilots: short chains that choose the initial number of topics of a fit.

A chain hardly ever splits a topic of thousands of words, and needs many sweeps to lose superfluous
topics, so the number it begins with matters. Pilots begin with different numbers and see the corpus
without a fifth of its words. They are judged by the probability of these words, averaged over the
last third of their sweeps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._executors import call_all
from skdp.data import SegmentedCorpus
from skdp.data._ragged import offsets
from skdp.inference._interrupt import check_interrupts
from skdp.topics._shared._kernels import score_tokens

SMALL_NUMBERS, LARGE_NUMBERS = (1, 5, 20), (80, 300)
"""Numbers of topics with which the first pilots begin. More topics take time in every sweep."""

LARGE_LOSS, SMALL_LOSS = 4.0, 0.01
"""Standard errors by which a pilot is clearly worse than another, and the loss per word, in nats,
that does not matter."""

DEFAULT_NUMBER = 20
"""Number of topics if the corpus is too small for pilots."""

LEAST_TOKENS, LEAST_UNITS = 1_000, 100
"""Smallest numbers of words, and of documents or segments, by which pilots can be judged."""

LARGEST_START = 2.0**30
"""Bound on the bytes of the counts of the initial topics."""

N_ROUNDS, SWEEPS_OF_ROUND = 9, 5
"""Length of a pilot, a multiple of three rounds; words are scored after every round
but those of the first third."""


class HeldOut(NamedTuple):
    """A corpus without some of its words, and these words.

    Attributes
    ----------
    rest : SegmentedCorpus
        The corpus that the pilots see, with all documents and segments.
    tokens : (n,) array of int32
        Ids of the words that are held out.
    segment_of, unit_of : (n,) arrays of int64
        Segment of each of them, and the unit by which pilots are compared.
    """

    rest: SegmentedCorpus
    tokens: NDArray[np.int32]
    segment_of: NDArray[np.int64]
    unit_of: NDArray[np.int64]


def hold_out_words(corpus: SegmentedCorpus, seed: np.random.SeedSequence) -> HeldOut | None:
    """Return the corpus without a random fifth of its words, or None if it is too small.

    The units are documents, or segments if there are only a few documents.
    """
    is_out = np.random.default_rng(seed).integers(0, 5, len(corpus.tokens), dtype=np.uint8) == 0
    segment_of = np.searchsorted(corpus.segment_ptr, np.flatnonzero(is_out), side="right") - 1
    document_of = np.searchsorted(corpus.doc_ptr, segment_of, side="right") - 1
    unit_of = document_of if len(np.unique(document_of)) >= LEAST_UNITS else segment_of
    if len(corpus.tokens) < LEAST_TOKENS or len(np.unique(unit_of)) < LEAST_UNITS:
        return None
    lengths = np.diff(corpus.segment_ptr)
    lengths -= np.bincount(segment_of, minlength=len(lengths))
    rest = SegmentedCorpus(
        corpus.tokens[~is_out], offsets(lengths), corpus.doc_ptr, corpus.n_features
    )
    return HeldOut(rest, corpus.tokens[is_out], segment_of, unit_of)


Score = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Log probabilities of the units in the middle and in the last third of a pilot."""

Scores = dict[int, Score]
"""Scores of pilots by initial number of topics."""


class Pilot:
    """A short chain over the words that are not held out.

    Parameters
    ----------
    sampler : TopicSampler
        The chain over `held_out.rest`.
    held_out : HeldOut
    """

    def __init__(self, sampler: Any, held_out: HeldOut):
        self._sampler, self._held_out = sampler, held_out
        self._n_rounds = 0
        self._probabilities = np.zeros((2, len(held_out.tokens)))

    def run_round(self) -> Pilot:
        """Do the sweeps of a round, and after the first third add up probabilities; return self."""
        for _ in range(SWEEPS_OF_ROUND):
            self._sampler.sweep()
        third = 3 * self._n_rounds // N_ROUNDS
        if third > 0:
            _, segment_topic = self._sampler.shares()
            score_tokens(
                self._held_out.tokens, self._held_out.segment_of, segment_topic,
                self._sampler.components().astype(np.float32), self._probabilities[third - 1],
            )  # fmt: skip
        self._n_rounds += 1
        return self

    def score(self) -> Score:
        """Return the score after the last round; words have their mean probability in a third."""
        unit_of = self._held_out.unit_of
        logs = np.log(self._probabilities / (N_ROUNDS // 3))
        before, last = (np.bincount(unit_of, weights=row).astype(np.float64) for row in logs)
        return before, last


def choose_number(scores: Scores, least_loss: float) -> int:
    """Return the initial number that pilots suggest.

    It is the smallest that is as good as the best if that one has stopped climbing. Otherwise it is
    the largest that is behind by no more than the best has just climbed, because chains that begin
    with more topics climb for longer.

    Parameters
    ----------
    scores : Scores
    least_loss : float
        The loss that does not matter.
    """
    before, last = scores[best_number(scores)]
    climb = last - before
    losses = {number: last - own for number, (_, own) in scores.items()}
    if climb.sum() > 2.0 * standard_error(climb):
        return max(n for n, loss in losses.items() if loss.sum() <= climb.sum())
    return min(
        n for n, loss in losses.items() if loss.sum() <= min(standard_error(loss), least_loss)
    )


def best_number(scores: Scores) -> int:
    """Return the number of the best pilot in its last third."""
    return max(scores, key=lambda number: float(scores[number][1].sum()))


def is_hopeless(number: int, scores: Scores) -> bool:
    """Return whether the pilot from a number is clearly worse than the best."""
    before, last = scores[best_number(scores)]
    loss = last - scores[number][1]
    least = max(float((last - before).sum()), LARGE_LOSS * standard_error(loss))
    return bool(loss.sum() > least)


def standard_error(differences: NDArray[np.float64]) -> float:
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
    size_of_topic: float,
    start: Callable[[SegmentedCorpus, int], Any],
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> int:
    """Return the initial number of topics, chosen by pilots.

    Small numbers are tried, then large ones unless these are hopeless, then those beside the best.

    Parameters
    ----------
    corpus : SegmentedCorpus
    size_of_topic : float
        Bytes for the counts of one topic.
    start : callable
        ``start(corpus, n_topics)`` returns the sampler of a new pilot.
    seed : SeedSequence
        Determines the words that are held out.
    n_jobs : int or None
        Number of threads that share the pilots.
    """
    held_out = hold_out_words(corpus, seed)
    if held_out is None:
        return DEFAULT_NUMBER

    def run(numbers: Iterable[int]) -> Scores:
        numbers = [n for n in numbers if n * size_of_topic <= LARGEST_START or n == 1]
        pilots = [Pilot(start(held_out.rest, n), held_out) for n in numbers]
        for _ in range(N_ROUNDS):
            check_interrupts()
            # A backend that pickles tasks returns copies.
            pilots = call_all([pilot.run_round for pilot in pilots], n_jobs, require="sharedmem")
        return {n: pilot.score() for n, pilot in zip(numbers, pilots, strict=True)}

    scores = run(SMALL_NUMBERS)
    if not is_hopeless(max(scores), scores):
        scores |= run(LARGE_NUMBERS)
    scores |= run(numbers_beside(best_number(scores), list(scores)))
    return choose_number(scores, SMALL_LOSS * len(held_out.tokens))
