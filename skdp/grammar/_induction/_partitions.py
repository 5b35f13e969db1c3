"""Counts of rules in trees, and statistics of sentences, summed over partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from skdp._executors import Executor, LostWorkerError
from skdp.data import PartitionedSentences, TokenSequences
from skdp.data._parse_tree import ParseTree
from skdp.grammar._chart._engine import TreeArrays, expected_counts, inside, viterbi
from skdp.grammar._chart._k_best import BestChartTrees
from skdp.grammar._chart._paths import RuleWeights, SentenceBatches, without_empty
from skdp.grammar._induction._layout import (
    RuleCounts,
    add_brackets,
    is_label,
    read_entries,
)
from skdp.grammar._induction._variational import VariationalGrammar
from skdp.inference._convergence import warn_user

# Counts of rules, and `ParseTree` objects, from arrays of trees.


def count_rules(trees: TreeArrays, sentences: TokenSequences, weights: RuleWeights) -> RuleCounts:
    """Return the counts of rules in trees, in the shapes of the weights of a grammar."""
    symbols, lengths, node_ptr = trees
    root, emission, binary = (np.zeros(part.shape) for part in weights[:3])
    parsed = np.diff(node_ptr) > 0
    np.add.at(root, symbols[node_ptr[:-1][parsed]], 1.0)
    words = np.concatenate(
        [sentences[int(i)] for i in np.flatnonzero(parsed)] or [np.empty(0, np.int32)]
    )
    np.add.at(emission, (symbols[lengths == 1], words), 1.0)
    parents, left, right = _find_children(lengths)
    parents = symbols[parents] - weights.first_branching
    np.add.at(binary, (parents, symbols[left], symbols[right]), 1.0)
    return RuleCounts(root, emission, binary)


def _find_children(lengths: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return the nodes with children, their left children, and their right children."""
    parents = np.flatnonzero(lengths > 1)
    left = parents + 1
    return parents, left, left + 2 * lengths[left] - 1


def weigh_tree(
    symbols: NDArray[Any], lengths: NDArray[Any], words: NDArray[Any], weights: RuleWeights
) -> float:
    """Return the log weight of a tree and its words."""
    parents, left, right = _find_children(lengths)
    children = symbols[parents] - weights.first_branching, symbols[left], symbols[right]
    return float(
        weights.log_root[symbols[0]]
        + weights.log_emission[symbols[lengths == 1], words].sum()
        + weights.log_binary[children].sum()
    )


N_CANDIDATES = 50
"""Number of trees, the best by expected logarithms of rules, of which the best is chosen."""


def rank_by_expectation(
    words: NDArray[Any], weights: RuleWeights, grammar: VariationalGrammar, k: int
) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Return the k trees with the highest expected probability, as symbols and lengths."""
    # They are among the best trees by `weights` (Liang et al. 2009, 4.3, option 3).
    candidates = list(BestChartTrees(words, weights, max(k, N_CANDIDATES)).trees())
    sentence = TokenSequences(words, np.array([0, len(words)]), weights.log_emission.shape[1])
    scores = []
    for tree in candidates:
        symbols, lengths = (part.astype(np.int32) for part in tree)
        arrays = TreeArrays(symbols, lengths, np.array([0, len(symbols)]))
        scores.append(grammar.log_expected(count_rules(arrays, sentence, weights)))
    order = np.argsort(-np.array(scores), kind="stable")[:k]
    return [candidates[i] for i in order]


@dataclass(frozen=True, eq=False)
class RankTrees:
    """Returns the most probable trees of a sentence and their log probabilities."""

    weights: RuleWeights  # rank the trees
    grammars: Sequence[RuleWeights]  # probabilities are averaged over them
    names: Sequence[str]  # labels of the symbols
    words: Sequence[str]  # the vocabulary
    k: int
    posterior: VariationalGrammar | None = None  # ranks the best trees by `log_expected`

    def __call__(self, words: NDArray[Any]) -> list[tuple[ParseTree, float]]:
        leaves, found = [self.words[word] for word in words.tolist()], []
        if self.posterior is None:
            trees = list(BestChartTrees(words, self.weights, self.k).trees())
        else:
            trees = rank_by_expectation(words, self.weights, self.posterior, self.k)
        for symbols, lengths in trees:
            logs = [weigh_tree(symbols, lengths, words, each) for each in self.grammars]
            log_prob = float(logsumexp(logs) - np.log(len(logs)))
            found.append((_make_tree(symbols, lengths, leaves, self.names), log_prob))
        return found


def rule_counts(
    sentences: SentenceBatches, dtype: Any, n_jobs: int | None, weights: RuleWeights
) -> tuple[float, RuleCounts]:
    """Return log likelihood and expected counts, or without `dtype` those of the best trees."""
    if dtype is None:
        log_prob, trees = viterbi(sentences, weights, n_jobs=n_jobs)
        return float(log_prob.sum()), count_rules(trees, sentences.sentences, weights)
    log_prob, *counts = expected_counts(sentences, weights, dtype=dtype, n_jobs=n_jobs)
    return float(log_prob.sum()), RuleCounts(*counts)


def make_trees(
    trees: TreeArrays,
    sentences: TokenSequences,
    names: Sequence[str],
    words: Sequence[str],
    fallback: str,
) -> list[ParseTree]:
    """Return trees with named symbols and words; without a parse, `fallback` above the words."""
    made = []
    for i, sentence in enumerate(sentences):
        nodes = slice(trees.node_ptr[i], trees.node_ptr[i + 1])
        leaves = [words[word] for word in sentence.tolist()]
        if nodes.start == nodes.stop:
            made.append(ParseTree(fallback, leaves))
        else:
            made.append(_make_tree(trees.symbols[nodes], trees.lengths[nodes], leaves, names))
    return made


def _make_tree(
    symbols: NDArray[Any], lengths: NDArray[Any], words: list[str], names: Sequence[str]
) -> ParseTree:
    """Return a tree, built from the last node to the first, with children before parents."""
    stack: list[ParseTree] = []
    remaining = list(words)
    for symbol, length in zip(symbols[::-1].tolist(), lengths[::-1].tolist(), strict=True):
        children = [remaining.pop()] if length == 1 else [stack.pop(), stack.pop()]
        stack.append(ParseTree(names[symbol], children))
    (tree,) = stack
    return tree


# Statistics of sentences in partitions, and their sums over all partitions.

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

    def rule_counts(self, weights: RuleWeights, dtype: Any) -> tuple[Any, ...]:
        """Return the log likelihood and expected counts, or without `dtype` those of best trees."""
        log_prob, counts = rule_counts(self.batches, dtype, 1, weights)
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

    def rule_counts(self, dtype: Any, weights: RuleWeights) -> tuple[float, RuleCounts]:
        """Return log likelihood and expected counts, or without `dtype` those of the best trees."""
        log_likelihood, *counts = self._sum("rule_counts", weights, dtype)
        return float(log_likelihood), RuleCounts(*counts)

    def score(self, grammars: list[RuleWeights]) -> float:
        """Return the log probability of all sentences, each a mean over grammars."""
        return float(self._sum("score", grammars)[0])

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
