"""Seed words of topics: pseudo-counts that make the Dirichlet priors of these topics asymmetric.

The prior of word w in topic k is gamma + s_kw, where s_kw is the weight of a seed word of the
topic, and 0 for other words. A sampler stores M_kw + s_kw in place of the counts M_kw, so kernels,
which add gamma, draw from the word factor (M_kw + s_kw + gamma) / (M_k + s_k + W gamma). Everything
else that reads the counts subtracts the seeds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit
from skdp._numeric._random import next_double
from skdp.topics._shared._kernels import WordCounts


class Seeds(NamedTuple):
    """Seed words by topic."""

    topics: NDArray[np.int64]  # (n,), with `words`: pairs, none of which occurs twice
    words: NDArray[np.int64]  # (n,)
    weight: int  # pseudo-counts of each pair
    n_words: int  # in the vocabulary

    @property
    def seeded(self) -> NDArray[np.int64]:
        """The topics that have seed words, in increasing order."""
        return np.unique(self.topics)

    @property
    def n_counts(self) -> int:
        """Number of pseudo-counts."""
        return self.weight * len(self.words)

    def totals(self, n_topics: int) -> NDArray[np.float64]:
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

    def seat(
        self,
        topics: NDArray[np.int32],
        tokens: NDArray[np.int32],
        n_topics: int,
        gamma: float,
        stream: NDArray[np.uint64],
    ) -> None:
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
