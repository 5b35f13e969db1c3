"""Topics with given words next to learned ones.

A kernel weighs topic k by ``(counts[w, k] + gamma) / (totals[k] + W gamma)``, and adds words to
`counts` and `totals`. The columns of fixed topics hold 2^84 phi_kw and 2^84. In floating point such
numbers absorb a change by 1: x + 1 == x, so the columns never change, and the weight is phi_kw to
single precision, which is the precision of all weights. A word that a topic excludes has -gamma,
which makes the weight exactly 0. So kernels sample fixed topics without a branch for them.

Everything else that reads counts omits these columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp.topics._shared._allowed import AllowedTopics
from skdp.topics._shared._kernels import WordCounts
from skdp.topics._shared._seeds import Seeds, seat_by_rows

SCALE = 2.0**84
"""Total of a fixed topic. Larger totals would make single-precision weights vanish."""

SMALLEST_FIXED = 1e-17
"""Smallest probability other than 0: 2^84 times it absorbs a change by 1, and gamma <= 1."""


class FixedTopics(NamedTuple):
    """The first topics of a model, whose words are given."""

    phi: NDArray[np.float64]  # (F, W), word probabilities; those below `SMALLEST_FIXED` count as 0

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

    def log_likelihood(self, tokens: NDArray[np.int32], topics: NDArray[np.int32]) -> float:
        """Return the log probability of the words that have fixed topics."""
        is_fixed = topics < len(self.phi)
        with np.errstate(divide="ignore"):
            return float(np.log(self.phi[topics[is_fixed], tokens[is_fixed]]).sum())

    def seat(
        self,
        topics: NDArray[np.int32],
        tokens: NDArray[np.int32],
        gamma: float,
        seeds: Seeds | None,
        allowed: AllowedTopics,
        stream: NDArray[np.uint64],
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

    def find_strays(self, tokens: NDArray[np.int32], topics: NDArray[np.int32]) -> NDArray[np.intp]:
        """Return the places of words in topics that exclude them."""
        at = np.flatnonzero(topics < len(self.phi))
        return at[~self.possible[topics[at], tokens[at]]]

    def move_stray(
        self,
        i: int,
        tokens: NDArray[np.int32],
        topics: NDArray[np.int32],
        words: WordCounts,
        allowed: NDArray[np.bool_],
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
