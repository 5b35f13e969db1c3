"""Dirichlet priors, and arrays of kernels: counts, seed words, allowed and fixed topics."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly, njit
from skdp._numeric._random import next_double
from skdp._numeric._simd import aligned_zeros, padded
from skdp.data import SegmentedCorpus
from skdp.topics._kernels._counts import Corpus, WordCounts

Stream = NDArray[np.uint64]
"""State of a stream of random numbers."""

# Re-estimation of the Dirichlet priors: one step of Minka's fixed point, in its MAP form.
#
# Symbols: prior alpha_k, counts n_ik of vector i, n_i = sum_k n_ik, A = sum_k alpha_k; Gamma(shape,
# rate) prior on every alpha_k or their common value. The gradient of the log posterior in alpha_k
# is
#
#     sum_i [Psi(alpha_k + n_ik) - Psi(alpha_k)] - sum_i [Psi(A + n_i) - Psi(A)]
#         + (shape - 1) / alpha_k - rate,
#
# and the fixed point of ``alpha_k <- (shape - 1 + alpha_k up_k) / (rate + down)``, with the two
# sums `up` and `down`, is where it vanishes (Minka, 2000; Du, 2012, section 6.5 for the
# likelihood). As plain maximum likelihood (no prior) the iteration diverges or sticks at zero on
# small corpora.


FLOOR, CEILING = 1e-6, 1e8
"""Bounds of re-estimated priors: a topic could never return from zero, and beyond the upper bound
weights of topics would overflow single precision."""

_EXACT = 32

_SMALL = 64
"""Smaller counts are counted in an array, others are sorted."""

_MOST = 2**20
"""Larger counts are so rare that each is treated separately: an array up to them would be
large."""

_SHIFT = 40
"""Number of bits of a count in a key of `Frequencies`."""


@njit
def _digamma(x):
    """Return Psi(x), x > 0: recurrence up to 8, then the asymptotic series (error below 1e-13)."""
    result = 0.0
    while x < 8.0:
        result -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (
        1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * 691 / 32760))))
    )
    return result + math.log(x) - 0.5 / x - series


@njit
def _rise(x, n):
    """Return Psi(x + n) - Psi(x); for small n, the usual case, by the sum of 1 / (x + m)."""
    if n > _EXACT:
        return _digamma(x + n) - _digamma(x)
    result = 0.0
    for m in range(n):
        result += 1.0 / (x + m)
    return result


@njit
def _sum_ups(prior, keys, times, ups):
    """Add sum_i [Psi(prior_k + counts_ik) - Psi(prior_k)] of every column k to `ups` (K,)."""
    for i in range(keys.shape[0]):
        k = keys[i] >> _SHIFT
        if k < prior.shape[0]:
            ups[k] += times[i] * _rise(prior[k], keys[i] - (k << _SHIFT))


@njit
def _count_small(counts, frequencies):
    """Count the small values of every column, (K, _SMALL); return the number of larger ones."""
    n_large = 0
    for i in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            n = counts[i, k]
            if n < _SMALL:
                frequencies[k, n] += 1
            else:
                n_large += 1
    return n_large


@njit
def _sum_downs(x, totals, times):
    """Return sum_i times_i [Psi(x + totals_i) - Psi(x)]."""
    at_zero = _digamma(x)
    result = 0.0
    for i in range(totals.shape[0]):
        if totals[i] > 0:
            result += times[i] * (_digamma(x + totals[i]) - at_zero)
    return result


@njit
def _count_values(values, frequencies):
    """Add the number of occurrences of each value to `frequencies` (4, n)."""
    # Four tables take turns: adding to the cell just written, mostly that of zeros, would stall.
    n_quarters = values.shape[0] // 4
    for i in range(n_quarters):
        for lane in range(4):
            frequencies[lane, int(values[4 * i + lane])] += 1
    for i in range(4 * n_quarters, values.shape[0]):
        frequencies[0, int(values[i])] += 1


@dataclass(frozen=True)
class Frequencies:
    """Frequencies of each count in every column of tables of counts, and of each row sum.

    They are sufficient for an update, and integers, so those of the parts of a table add up, in any
    order, to the same bits as those of the whole.
    """

    keys: Places  # column x 2^40 + count > 0, in order; row sums are in the last column
    times: Places  # number of occurrences of each key
    n_columns: int

    def __add__(self, other: Frequencies) -> Frequencies:
        keys = np.concatenate([self.keys, other.keys])
        times = np.concatenate([self.times, other.times])
        keys, places = np.unique(keys, return_inverse=True)
        sums = np.zeros(len(keys), dtype=np.int64)
        np.add.at(sums, places, times)
        return Frequencies(keys, sums, self.n_columns)

    def sums(self) -> tuple[Floats, Places]:
        """Return the distinct non-zero row sums, and their numbers of occurrences."""
        first = int(np.searchsorted(self.keys, self.n_columns << _SHIFT))
        return (self.keys[first:] - (self.n_columns << _SHIFT)).astype(float), self.times[first:]


def count_frequencies(tables: Iterable[NDArray[np.integer]], n_columns: int) -> Frequencies:
    """Return the frequencies of a table of counts, (n, `n_columns`), from its parts."""
    small = np.zeros((n_columns, _SMALL), dtype=np.int64)
    large, sums = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for counts in tables:
        if _count_small(counts, small):
            rows, columns = np.nonzero(counts >= _SMALL)
            large.append((columns << _SHIFT) + counts[rows, columns].astype(np.int64))
        sums.append(counts.sum(axis=1, dtype=np.int64) + (n_columns << _SHIFT))
    columns, values = np.nonzero(small)
    found = [((columns << _SHIFT) + values, small[columns, values])]
    found += [np.unique(np.concatenate(keys), return_counts=True) for keys in (large, sums)]
    keys, times = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(keys)
    order = order[keys[order] & ((1 << _SHIFT) - 1) > 0]
    return Frequencies(keys[order], times[order], n_columns)


def tells_apart(prior: Floats | str) -> bool:
    """Return whether a Dirichlet prior is given as numbers that differ."""
    return not isinstance(prior, str) and bool(np.ptp(prior) > 0.0)


def first_value(given: Any, start: Any) -> Any:
    """Return a given value, or the first one of a value that is learned, which has a name."""
    return start if isinstance(given, str) else given


def update_by_frequencies(
    prior: Floats, frequencies: Frequencies, shape: float, rate: float, symmetric: bool
) -> Floats:
    """Return the Dirichlet prior, in [FLOOR, CEILING], after one step of the MAP fixed point."""
    prior = np.asarray(prior, dtype=np.float64)
    ups = np.zeros_like(prior)
    _sum_ups(prior, frequencies.keys, frequencies.times, ups)
    down = _sum_downs(prior.sum(), *frequencies.sums())
    if symmetric:
        new = (shape - 1.0 + prior[0] * ups.sum()) / (rate + prior.size * down)
        return np.full_like(prior, min(max(new, FLOOR), CEILING))
    return np.clip((shape - 1.0 + prior * ups) / (rate + down), FLOOR, CEILING)


def sum_rises(prior: float, values: NDArray[np.number]) -> float:
    """Return the sum of Psi(prior + n) - Psi(prior) over counts n; zeros may be left out."""
    largest, rest = int(values.max(initial=0)), 0.0
    if largest > _MOST:
        at_most = _digamma(prior + _MOST)
        rest = sum(_digamma(prior + float(n)) - at_most for n in values[values > _MOST])
        values, largest = np.minimum(values, _MOST), _MOST
    frequencies = np.zeros((4, largest + 1), dtype=np.int64)
    _count_values(np.ravel(values, order="K"), frequencies)
    at_least = np.cumsum(frequencies.sum(axis=0)[:0:-1])[::-1]  # counts that are >= 1, 2, ...
    return float(np.sum(at_least / (prior + np.arange(largest))) + rest)


def update_symmetric_dirichlet(
    prior: float,
    rises: float,  # `sum_rises` of this prior and all counts, less that of the seeds
    totals: Floats,  # sums of the counts of vectors, with seeds; 0 has no effect
    length: int,  # of a vector
    shape: float,
    rate: float,
    seed_totals: Floats | None = None,  # of pseudo-counts, which are part of the prior
) -> float:
    """Return the common value like a symmetric `update_by_frequencies`, for long vectors."""
    down = length * _sum_downs(prior * length, totals, np.ones(len(totals), dtype=np.int64))
    if seed_totals is not None:
        ones = np.ones(len(seed_totals), dtype=np.int64)
        down -= length * _sum_downs(prior * length, seed_totals, ones)
    return min(max((shape - 1.0 + prior * rises) / (rate + down), FLOOR), CEILING)


# Arrays of kernels: from a corpus, from given topics, or empty.


MAX_COUNT = 2**24
"""Counts of a word in a topic are single-precision integers, which are exact up to here."""

MAX_TOTAL = 2.0**53
"""Larger totals are those of fixed topics, whose columns hold no counts."""


def check_counts(words: WordCounts) -> None:
    """Raise if a word may have occurred in a topic more often than its count can represent."""
    if words.totals.sum() < MAX_COUNT:  # no sum of counts is rounded
        return
    # A saturated count does not increase, while totals do; so they differ once a word was lost.
    sums = words.counts.sum(axis=0, dtype=np.float64)
    largest = words.counts.max(axis=0)
    overflows = (sums != words.totals) | (largest >= MAX_COUNT)
    overflows &= words.totals <= MAX_TOTAL
    if overflows.any():
        k = int(np.argmax(np.where(overflows, largest, -1.0)))
        refuse_count(int(words.counts[:, k].argmax()), k)


def refuse_count(word: int, topic: int) -> NoReturn:
    """Raise because the count of a word in a topic is too large."""
    raise ValueError(
        f"The word {word} occurs {MAX_COUNT} times or more in topic {topic}, which is more than "
        "counts can hold. Use more topics, or leave so common a word out."
    )


def flat(corpus: SegmentedCorpus) -> Corpus:
    """Return the arrays of a corpus in the form that kernels take."""
    part_ptr = corpus.doc_ptr if corpus.part_ptr is None else corpus.part_ptr
    part_begin = as_readonly(np.repeat(part_ptr[:-1], np.diff(part_ptr)))
    return Corpus(corpus.tokens, corpus.segment_ptr, corpus.doc_ptr, part_begin)


def sort_words(corpus: SegmentedCorpus) -> SegmentedCorpus:
    """Return a corpus with the words of each segment sorted by id."""
    segments = np.repeat(np.arange(len(corpus.segment_ptr) - 1), np.diff(corpus.segment_ptr))
    first_keys = segments * corpus.n_features
    tokens = np.sort(first_keys + corpus.tokens) - first_keys
    return corpus._like(tokens.astype(np.int32), (corpus.doc_ptr, corpus.segment_ptr))


def alternate_words(corpus: SegmentedCorpus) -> SegmentedCorpus:
    """Return a corpus with each word of a segment once, by id, then the second ones, and so on.

    If equal words came together, a first one in a wrong topic would keep the others there.
    """
    corpus = sort_words(corpus)
    segments = np.repeat(np.arange(len(corpus.segment_ptr) - 1), np.diff(corpus.segment_ptr))
    keys = segments * corpus.n_features + corpus.tokens
    numbers = np.arange(len(keys)) - np.searchsorted(keys, keys)  # among equal words
    order = np.lexsort((keys, numbers, segments))
    return corpus._like(corpus.tokens[order], (corpus.doc_ptr, corpus.segment_ptr))


def split_documents(corpus: SegmentedCorpus, n_shards: int) -> list[tuple[int, int]]:
    """Return ranges of documents with about equal numbers of tokens; some may be empty."""
    ends = corpus.segment_ptr[corpus.doc_ptr[1:]]
    targets = np.arange(1, n_shards) * (len(corpus.tokens) / n_shards)
    bounds = np.searchsorted(ends, targets, side="left") + (n_shards > 1)
    bounds = np.concatenate([[0], np.minimum(bounds, len(corpus)), [len(corpus)]])
    return [(int(begin), int(end)) for begin, end in pairwise(bounds)]


def empty_counts(n_words: int, n_topics: int) -> WordCounts:
    """Return zero counts."""
    width = padded(n_topics)
    return WordCounts(
        aligned_zeros((n_words, width), dtype=np.float32), aligned_zeros(width), False
    )


SMALLEST = np.float32(1e-25)
"""Smallest probability of a word in fixed topics, so that unknown words are uninformative."""


def resized(words: WordCounts, n_columns: int) -> WordCounts:
    """Return counts with at least `n_columns` columns, as many as fit of the old ones."""
    new = empty_counts(len(words.counts), n_columns)
    shared = min(len(new.totals), len(words.totals))
    new.counts[:, :shared], new.totals[:shared] = words.counts[:, :shared], words.totals[:shared]
    return new


def close_gaps(words: WordCounts) -> tuple[Places, Places, Ints]:
    """Move the last topics with words into gaps; return used columns, the gaps, and new numbers.

    Topics with seed words or given words have totals, so they keep their numbers.
    """
    counts, totals, _ = words
    used = np.flatnonzero(totals)
    gaps = np.flatnonzero(totals[: len(used)] == 0.0)
    names = np.arange(len(totals), dtype=np.int32)
    if len(gaps):
        late = used[used >= len(used)]
        names[late] = gaps
        counts[:, gaps], totals[gaps] = counts[:, late], totals[late]
        counts[:, late], totals[late] = 0.0, 0.0
    return used, gaps, names


def fixed_words(components: NDArray[np.floating]) -> WordCounts:
    """Return given topics (K, W) in the form of counts."""
    n_topics, n_words = components.shape
    phi = aligned_zeros((n_words, padded(n_topics)), dtype=np.float32)
    phi[:, :n_topics] = np.maximum(components.T, SMALLEST)
    return WordCounts(phi, aligned_zeros(phi.shape[1]), True)


# Seed words of topics: pseudo-counts that make the Dirichlet priors of these topics asymmetric.
#
# The prior of word w in topic k is gamma + s_kw, where s_kw is the weight of a seed word of the
# topic, and 0 for other words. A sampler stores M_kw + s_kw in place of the counts M_kw, so
# kernels, which add gamma, draw from the word factor (M_kw + s_kw + gamma) / (M_k + s_k + W gamma).
# Everything else that reads the counts subtracts the seeds.


class Seeds(NamedTuple):
    """Seed words by topic."""

    topics: Places  # (n,), with `words`: pairs, none of which occurs twice
    words: Places  # (n,)
    weight: int  # pseudo-counts of each pair
    n_words: int  # in the vocabulary

    @property
    def seeded(self) -> Places:
        """The topics that have seed words, in increasing order."""
        return np.unique(self.topics)

    @property
    def n_counts(self) -> int:
        """Number of pseudo-counts."""
        return self.weight * len(self.words)

    def totals(self, n_topics: int) -> Floats:
        """Return s_k, the pseudo-counts of every topic."""
        return self.weight * np.bincount(self.topics, minlength=n_topics).astype(np.float64)

    def add_to(self, words: WordCounts, sign: int = 1) -> None:
        """Add the pseudo-counts to counts of words by topic; with ``sign=-1``, subtract them."""
        words.counts[self.words, self.topics] += np.float32(sign * self.weight)
        words.totals[:] += sign * self.totals(len(words.totals))

    def rises(self, gamma: float) -> float:
        """Return the sum of Psi(gamma + s_kw) - Psi(gamma) over topics and words."""
        return float(len(self.words) * np.sum(1.0 / (gamma + np.arange(self.weight))))

    def log_likelihood(self, gamma: float) -> float:
        """Return the log probability that the symmetric prior gives to the pseudo-counts."""
        shift = self.n_words * gamma
        result = len(self.words) * (math.lgamma(gamma + self.weight) - math.lgamma(gamma))
        for total in self.totals(0).tolist():
            result += math.lgamma(shift) - math.lgamma(shift + total)
        return result

    def seat(self, topics: Ints, tokens: Ints, n_topics: int, gamma: float, stream: Stream) -> None:
        """Draw the first topic of every word, in proportion to its prior mean in the topics."""
        seed_words = np.unique(self.words)
        weights = np.full((len(seed_words) + 1, n_topics), gamma)
        weights[np.searchsorted(seed_words, self.words), self.topics] += self.weight
        weights /= self.n_words * gamma + self.totals(n_topics)
        row_of = np.full(self.n_words, len(seed_words))
        row_of[seed_words] = np.arange(len(seed_words))
        seat_by_rows(tokens, topics, row_of, np.cumsum(weights, axis=1), stream)


@njit
def seat_by_rows(tokens, topics, row_of, sums, rng):
    """Draw the topic of every word by the running sums (rows, K) in the row of the word."""
    last = sums.shape[1] - 1
    for i in range(tokens.shape[0]):
        row = sums[row_of[tokens[i]]]
        topics[i] = min(np.searchsorted(row, next_double(rng) * row[last], side="right"), last)


# Documents with the topics that their words may have.


class AllowedTopics(NamedTuple):
    """Topics that the words of nodes, documents or segments, may have.

    If the number of topics is inferred, the last column of `sets` stands for all topics beyond.
    """

    sets: NDArray[np.bool_]  # (n_sets, K), whether a topic is in a set; no set is empty
    set_of: Places  # (nodes,), the set of each

    @classmethod
    def every(cls, n_topics: int, n_nodes: int) -> AllowedTopics:
        """Return all topics for each node."""
        return cls(np.ones((1, n_topics), dtype=np.bool_), np.zeros(n_nodes, dtype=np.int64))

    def of_nodes(self, first: int, last: int) -> AllowedTopics:
        """Return the topics of nodes `first` to `last` - 1."""
        return AllowedTopics(self.sets, self.set_of[first:last])

    def of_segments(self, n_segments: Places) -> AllowedTopics:
        """Return the topics of segments; `n_segments` are their numbers by document."""
        return AllowedTopics(self.sets, np.repeat(self.set_of, n_segments))

    def widened(self, n_topics: int) -> AllowedTopics:
        """Return sets of `n_topics` topics, given those whose last column stands for more."""
        n_more = n_topics - self.sets.shape[1] + 1
        more = np.repeat(self.sets[:, -1:], n_more, axis=1)
        return AllowedTopics(np.hstack([self.sets[:, :-1], more]), self.set_of)

    def of_words(self, node_ptr: Places) -> AllowedTopics:
        """Return the topics of words; `node_ptr` (nodes + 1,) is the first word of each node."""
        return AllowedTopics(self.sets, np.repeat(self.set_of, np.diff(node_ptr)))

    def restrict(self, shares: Floats) -> Floats:
        """Return the shares of nodes (nodes, K) given that another word obeys the sets, too."""
        shares = np.where(self.sets[self.set_of], shares, 0.0)
        return shares / shares.sum(axis=1, keepdims=True)


class LabeledCorpus(NamedTuple):
    """Documents, and the topics that their words may have."""

    corpus: SegmentedCorpus
    allowed: AllowedTopics

    def by_segment(self, n_topics: int) -> LabeledCorpus:
        """Return the documents with the topics of segments, given those of documents."""
        allowed = self.allowed.widened(n_topics).of_segments(np.diff(self.corpus.doc_ptr))
        return LabeledCorpus(self.corpus, allowed)


Documents = SegmentedCorpus | LabeledCorpus
"""Documents, perhaps with labels."""


# Topics with given words next to learned ones.
#
# A kernel weighs topic k by ``(counts[w, k] + gamma) / (totals[k] + W gamma)``, and adds words to
# `counts` and `totals`. The columns of fixed topics hold 2^84 phi_kw and 2^84. In floating point
# such numbers absorb a change by 1: x + 1 == x, so the columns never change, and the weight is
# phi_kw to single precision, which is the precision of all weights. A word that a topic excludes
# has -gamma, which makes the weight exactly 0. So kernels sample fixed topics without a branch for
# them.
#
# Everything else that reads counts omits these columns.


SCALE = 2.0**84
"""Total of a fixed topic. Larger totals would make single-precision weights vanish."""

SMALLEST_FIXED = 1e-17
"""Smallest probability other than 0: 2^84 times it absorbs a change by 1, and gamma <= 1."""


class FixedTopics(NamedTuple):
    """The first topics of a model, whose words are given."""

    phi: Floats  # (F, W), word probabilities; those below `SMALLEST_FIXED` count as 0

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Whether a word may have a topic, (F, W)."""
        return self.phi >= SMALLEST_FIXED

    def write_to(self, words: WordCounts, gamma: float) -> None:
        """Write the columns of fixed topics to counts of words by topic, or to probabilities."""
        n_fixed = len(self.phi)
        if words.fixed:
            words.counts[:, :n_fixed] = np.where(self.possible, self.phi, 0.0).T
            return
        values = np.where(self.possible, SCALE * self.phi - gamma, -gamma)
        words.counts[:, :n_fixed] = values.T
        words.totals[:n_fixed] = SCALE

    def clear(self, words: WordCounts) -> WordCounts:
        """Return a copy of counts in which the fixed topics have no words."""
        counts, totals = words.counts.copy(), words.totals.copy()
        counts[:, : len(self.phi)], totals[: len(self.phi)] = 0.0, 0.0
        return WordCounts(counts, totals, words.fixed)

    def log_likelihood(self, tokens: Ints, topics: Ints) -> float:
        """Return the log probability of the words that have fixed topics."""
        is_fixed = topics < len(self.phi)
        with np.errstate(divide="ignore"):
            return float(np.log(self.phi[topics[is_fixed], tokens[is_fixed]]).sum())

    def seat(
        self,
        topics: Ints,
        tokens: Ints,
        gamma: float,
        seeds: Seeds | None,
        allowed: AllowedTopics,
        stream: Stream,
    ) -> None:
        """Draw the first topics of words in proportion to their prior means in allowed topics."""
        n_fixed, n_words = self.phi.shape
        means = np.full((allowed.sets.shape[1], n_words), gamma)
        if seeds is not None:
            means[seeds.topics, seeds.words] += seeds.weight
        means /= means.sum(axis=1, keepdims=True)
        means[:n_fixed] = np.where(self.possible, self.phi, 0.0)
        numbers, firsts = np.unique(allowed.set_of, return_index=True)
        for s in numbers[np.argsort(firsts)]:  # partitions number sets on their own
            at = np.flatnonzero(allowed.set_of == s)
            found, rows = np.unique(tokens[at], return_inverse=True)
            sums = np.cumsum(np.where(allowed.sets[s], means[:, found].T, 0.0), axis=1)
            drawn = np.empty(len(at), dtype=np.int32)
            seat_by_rows(rows.astype(np.int32), drawn, np.arange(len(found)), sums, stream)
            topics[at] = drawn

    def find_strays(self, tokens: Ints, topics: Ints) -> NDArray[np.intp]:
        """Return the places of words in topics that exclude them."""
        at = np.flatnonzero(topics < len(self.phi))
        return at[~self.possible[topics[at], tokens[at]]]

    def move_stray(
        self, i: int, tokens: Ints, topics: Ints, words: WordCounts, allowed: NDArray[np.bool_]
    ) -> None:
        """Move word `i` to the last of the `allowed` topics (K,) that is possible."""
        w, allowed = tokens[i], allowed.copy()
        allowed[: len(self.phi)] &= self.possible[:, w]
        if not allowed.any():  # the word needs a new topic
            return
        topics[i] = k = np.flatnonzero(allowed)[-1]
        words.counts[w, k] += np.float32(1.0)
        words.totals[k] += 1.0


class WordPrior(NamedTuple):
    """Prior of the words of topics with hints, which samplers take in place of a number."""

    value: float | str
    seeds: Seeds | None
    fixed: FixedTopics | None = None
