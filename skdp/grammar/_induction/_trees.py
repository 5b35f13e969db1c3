"""Rule counts and `ParseTree` objects from the arrays of a corpus's parse trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from skdp.data import TokenSequences
from skdp.data._parse_tree import ParseTree
from skdp.grammar._chart._batches import SentenceBatches
from skdp.grammar._chart._engine import TreeArrays, viterbi
from skdp.grammar._chart._k_best import BestChartTrees
from skdp.grammar._chart._weights import RuleWeights
from skdp.grammar._induction._counts import RuleCounts
from skdp.grammar._induction._layout import GrammarLayout
from skdp.grammar._induction._variational import VariationalGrammar


def count_rules(
    trees: TreeArrays, sentences: TokenSequences, shapes: tuple[tuple[int, ...], ...], first: int
) -> RuleCounts:
    """Return the counts of rules in trees; `first` is the index of the first branching symbol."""
    symbols, lengths, node_ptr = trees
    root, emission, binary = (np.zeros(shape) for shape in shapes)
    parsed = np.diff(node_ptr) > 0
    np.add.at(root, symbols[node_ptr[:-1][parsed]], 1.0)
    words = np.concatenate(
        [sentences[int(i)] for i in np.flatnonzero(parsed)] or [np.empty(0, np.int32)]
    )
    np.add.at(emission, (symbols[lengths == 1], words), 1.0)
    parents, left, right = _find_children(lengths)
    np.add.at(binary, (symbols[parents] - first, symbols[left], symbols[right]), 1.0)
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
    shapes = tuple(part.shape for part in weights[:3])
    scores = [
        grammar.log_expected(
            count_rules(
                TreeArrays(
                    symbols.astype(np.int32), lengths.astype(np.int32), np.array([0, len(symbols)])
                ),
                sentence,
                shapes,
                weights.first_branching,
            )
        )
        for symbols, lengths in candidates
    ]
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


def count_best_trees(
    sentences: SentenceBatches, layout: GrammarLayout, n_jobs: int | None, weights: RuleWeights
) -> tuple[float, RuleCounts]:
    """Return the log probability of the best trees and the counts of their rules."""
    log_prob, trees = viterbi(sentences, weights, n_jobs=n_jobs)
    shapes = tuple(part.shape for part in weights[:3])
    counts = count_rules(trees, sentences.sentences, shapes, layout.branching.start)
    return float(log_prob.sum()), counts


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
