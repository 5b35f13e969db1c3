"""Statistics of sentences in partitions, and their sums over all partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import joblib
import numpy as np
from scipy.special import logsumexp

from skdp._executors import Executor, LostWorkerError
from skdp.data import PartitionedSentences, TokenSequences
from skdp.grammar._chart._batches import SentenceBatches, without_empty
from skdp.grammar._chart._engine import inside
from skdp.grammar._chart._weights import RuleWeights
from skdp.grammar._coordinate_ascent import Expectation
from skdp.grammar._induction._brackets import add_brackets, is_label, read_entries
from skdp.grammar._induction._counts import RuleCounts, count_expected
from skdp.grammar._induction._layout import GrammarLayout
from skdp.grammar._induction._trees import count_best_trees
from skdp.inference._convergence import warn_user

_MOST_LOSSES = 3
"""Largest number of successive losses of workers in an expectation."""


class SentencesPartition(NamedTuple):
    """A partition in its process; an executor calls its methods by name."""

    batches: SentenceBatches
    n_with_words: int
    digest: str

    def describe(self) -> tuple[int, int, int, str]:
        """Return numbers of sentences with words, kept sentences, their words, and a digest."""
        sentences = self.batches.sentences
        return self.n_with_words, len(sentences), len(sentences.tokens), self.digest

    def count_expected(self, weights: RuleWeights, dtype: Any) -> tuple[Any, ...]:
        """Return the log likelihood and the expected counts."""
        log_likelihood, counts = count_expected(self.batches, dtype, 1, weights)
        return log_likelihood, *counts

    def count_best(self, weights: RuleWeights, layout: GrammarLayout) -> tuple[Any, ...]:
        """Return the log probability of the best trees and their counts."""
        log_prob, counts = count_best_trees(self.batches, layout, 1, weights)
        return log_prob, *counts

    def score(self, grammars: list[RuleWeights]) -> tuple[float, int]:
        """Return the sentences' log mean probability over grammars, and the number of words."""
        each = [inside(self.batches, weights) for weights in grammars]
        scores = logsumexp(each, axis=0) - np.log(len(each))
        return float(scores.sum()), len(self.batches.sentences.tokens)


@dataclass(frozen=True)
class MakePartition:
    """Makes a partition from its sentences, and from its entry in y."""

    max_length: int | None = None
    y: Any = field(default=None, repr=False)
    name: str = field(default="y", repr=False)

    def __call__(self, sentences: TokenSequences) -> SentencesPartition:
        checked = add_brackets(sentences, self.y, self.name)
        digest = joblib.hash(checked)
        kept, has_words = without_empty(checked)
        if self.max_length is not None:
            kept = kept[np.diff(kept.ptr) <= self.max_length]
        n_with_words = int(np.count_nonzero(has_words))
        return SentencesPartition(SentenceBatches.of(kept), n_with_words, digest)


class DistributedSentences:
    """Partitions of sentences that an executor has distributed: the data of a fit."""

    def __init__(
        self,
        X: PartitionedSentences,
        executor: Executor,
        max_length: int | None = None,
        y: Any = None,
    ):
        self.n_features = X.n_features
        self._parts = X._parts
        self._executor = executor
        self._make = MakePartition(max_length)
        self._makes = [
            replace(self._make, y=entry, name=f"y[{s}]")
            for s, entry in enumerate(_split(y, len(self._parts)))
        ]
        self._is_placed = False
        described = self._work(lambda: executor.results(self._call_all("describe")))
        self.n_with_words, self.n_kept, self.n_words = (
            sum(each[k] for each in described) for k in range(3)
        )
        self._digests = [each[3] for each in described]

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a small stand-in for hashing the data."""
        return str, (repr((self.n_features, self._make, self._digests)),)

    def expected_counts(self, dtype: Any) -> Expectation:
        """Return the function that computes expected counts under given weights."""
        return partial(self._expect, "count_expected", dtype)

    def best_counts(self, layout: GrammarLayout) -> Expectation:
        """Return the function that counts the rules of the best trees under given weights."""
        return partial(self._expect, "count_best", layout)

    def score(self, grammars: list[RuleWeights]) -> float:
        """Return the log probability of all sentences, each a mean over grammars."""
        return float(self._sum("score", grammars)[0])

    def _expect(self, method: str, setting: Any, weights: RuleWeights) -> tuple[float, RuleCounts]:
        log_likelihood, *counts = self._sum(method, weights, setting)
        return float(log_likelihood), RuleCounts(*counts)

    def _sum(self, method: str, weights: Any, *args: Any) -> tuple[Any, ...]:
        """Return the sum of a method's results over partitions."""

        def work() -> tuple[Any, ...]:
            shared = self._executor.share(weights)
            return self._executor.sum(self._call_all(method, shared, *args))

        return self._work(work)

    def _call_all(self, method: str, *args: Any) -> list[Any]:
        return [self._executor.call(part.number, method, *args) for part in self._parts]

    def _work(self, work: Callable[[], Any]) -> Any:
        """Return the result of `work` on the partitions, placing them again if workers are lost."""
        for n_losses in count(1):
            try:
                if not self._is_placed:
                    self._executor.place(self._parts, self._makes)
                    self._is_placed = True
                return work()
            except LostWorkerError as error:
                # Statistics depend only on the data and the weights, so nothing else is lost.
                self._is_placed = False
                if n_losses == _MOST_LOSSES:
                    raise
                warn_user(f"{error} They are opened again elsewhere.", RuntimeWarning)


def _split(y: Any, n_partitions: int) -> list[Any]:
    """Return the brackets of each partition, or None; the classes of sentences are no brackets."""
    entries = [None] * n_partitions if y is None else read_entries(y, "y")
    if len(entries) and all(map(is_label, entries)):
        return [None] * n_partitions
    if len(entries) != n_partitions:
        raise ValueError(
            f"y must have an entry for each of the {n_partitions} partitions of X, a list with an "
            f"entry for each sentence or None; it has {len(entries)}."
        )
    return list(entries)
