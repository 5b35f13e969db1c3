"""Moves by which topics with seed words get words that other topics have, and lose them.

Gibbs sampling moves one word at a time, and hardly ever a subject: documents about the seed words
of a topic may keep a topic without seeds. Two moves help. An exchange swaps all words of a topic k
with seed words and of a topic j without, with their weights beta. A split or merge may have a topic
with seed words as its first one, which keeps them.

R_k(n) is the probability of words n in topic k, relative to a topic without seed words. In the
density of beta, a topic without seeds has the factor gamma / beta_j, a topic with seeds 1. So an
exchange has the ratio R_k(n_j) beta_j / (R_k(n_k) beta_k). A topic k without words adopts all of j,
whose number then ceases to exist, and beta_k joins the rest; conversely, k may release all of its
words, and keep a share v ~ Beta(1, gamma) of the rest. These have the ratio
R_k(n_j) beta_j (K + 1) / ((beta_k + rest) K), with K topics without seeds, and its inverse.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.topics._hdp import _kernels_moves as moves
from skdp.topics._shared._kernels import WordCounts
from skdp.topics._shared._seeds import Seeds

_TINY = float(np.finfo(np.float64).tiny)
"""A weight that is 0 by rounding counts as this."""

N_EXCHANGES, MOST_EXCHANGES = 8, 32
"""Exchanges proposed in a sweep, for each topic with seed words and in all, because they take time.
If the number depended on the number of topics, which they change, they would not leave the
posterior as it is."""


def _log(weight: float) -> float:
    return math.log(max(weight, _TINY))


class SeededMoves:
    """Mixin of the samplers of any number of topics: moves of topics with seed words."""

    n_topics: int
    n_seeded: int
    most_topics: int | None
    seeds: Seeds | None
    weights: NDArray[np.float64]
    rest: float
    top_concentration: float
    topic_word_prior: float
    streams: list[NDArray[np.uint64]]
    topics: NDArray[np.int32]
    _words: WordCounts

    def _swap_topics(self, a: int, b: int) -> None:
        """Exchange two columns in everything that lists topics, but for seeds and weights."""
        raise NotImplementedError

    def _make_room(self) -> None:
        """Ensure that there is a free column."""
        raise NotImplementedError

    def _close_gaps(self, weights: NDArray[np.float64]) -> None:
        raise NotImplementedError

    def _labeled_places(self) -> NDArray[np.intp]:
        """Return the words of documents whose labels allow only topics with hints."""
        raise NotImplementedError

    def _free_topics(self) -> list[int]:
        """Return the topics with seed words whose words may have topics without."""
        if self.seeds is None:
            return []
        bound = np.unique(self.topics[self._labeled_places()])
        return np.setdiff1d(self.seeds.seeded, bound).tolist()

    def _log_gain(self, k: int, counts: NDArray[Any], total: float) -> float:
        """Return log R_k of `total` words, with `counts` of the seed words of k among them."""
        assert self.seeds is not None
        eta, weight = self.topic_word_prior, self.seeds.weight
        shift, mass = eta * self.seeds.n_words, weight * len(counts)
        result = len(counts) * (math.lgamma(eta) - math.lgamma(eta + weight))
        for count in counts.tolist():
            result += math.lgamma(eta + weight + count) - math.lgamma(eta + count)
        result += math.lgamma(shift + mass) - math.lgamma(shift)
        return result + math.lgamma(shift + total) - math.lgamma(shift + mass + total)

    def _seed_words(self, k: int) -> NDArray[np.int64]:
        assert self.seeds is not None
        return self.seeds.words[self.seeds.topics == k]

    def _log_gain_of_topic(self, k: int, j: int) -> float:
        """Return log R_k of the words of topic j, which may be k."""
        assert self.seeds is not None
        words = self._seed_words(k)
        counts, total = self._words.counts[words, j].astype(np.float64), self._words.totals[j]
        if j == k:
            counts, total = counts - self.seeds.weight, total - self.seeds.weight * len(words)
        return self._log_gain(k, counts, total)

    def _log_gain_of_tokens(self, k: int, tokens: NDArray[np.int32]) -> float:
        assert self.seeds is not None
        counts = np.bincount(tokens, minlength=self.seeds.n_words)[self._seed_words(k)]
        return self._log_gain(k, counts, len(tokens))

    def _may_divide(self, a: int, b: int) -> bool:
        """Return whether a topic with seeds may be split, or joined with one without (b)."""
        return (b == a or b >= self.n_seeded) and a in self._free_topics()

    def _log_ratio_of_seeds(
        self, k: int, kept: NDArray[np.int32], every: NDArray[np.int32], log_share: float
    ) -> float:
        """Return the seeds' term in the log ratio of a split of k, which keeps the words `kept`."""
        gain = self._log_gain_of_tokens(k, kept) - self._log_gain_of_tokens(k, every)
        return gain + log_share

    def _propose_exchanges(self) -> None:
        """Propose to exchange topics with seed words and topics without."""
        free = self._free_topics()  # exchanges leave them as they are
        for _ in range(min(N_EXCHANGES * len(free), MOST_EXCHANGES)):
            self._exchange(free[moves.draw_number(len(free), self.streams[0])])

    def _exchange(self, k: int) -> None:
        """Propose to exchange topic k and one without seed words, or to release k's words."""
        assert self.seeds is not None
        n_others, stream = self.n_topics - self.n_seeded, self.streams[0]
        j = self.n_seeded + moves.draw_number(n_others + 1, stream)
        is_empty = self._words.totals[k] == self.seeds.weight * len(self._seed_words(k))
        releases = j == self.n_topics
        if releases and (is_empty or self.n_topics == self.most_topics):
            return
        weights = self.weights
        if releases:
            log_ratio = _log(self.rest) - _log(weights[k]) - self._log_gain_of_topic(k, k)
            log_ratio += math.log((n_others + 1) / (n_others + 2))
        else:
            log_ratio = self._log_gain_of_topic(k, j) + _log(weights[j])
            if is_empty:
                log_ratio += math.log((n_others + 1) / n_others) - _log(weights[k] + self.rest)
            else:
                log_ratio -= self._log_gain_of_topic(k, k) + _log(weights[k])
        if not moves.is_accepted(log_ratio, stream):
            return
        self._make_room()
        weights = np.append(weights, 0.0)
        if releases:
            own = self.rest * moves.draw_share(self.top_concentration, stream)
            self.rest -= own
            weights[[k, j]] = own, weights[k]
        else:
            weights[[k, j]] = weights[[j, k]]
            if is_empty:
                self.rest, weights[j] = self.rest + float(weights[j]), 0.0
        self.seeds.add_to(self._words, -1)
        self._swap_topics(k, j)
        self.seeds.add_to(self._words)
        self._close_gaps(weights)
