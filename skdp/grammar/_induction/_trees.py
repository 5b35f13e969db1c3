"""Parse trees of a corpus as arrays: what rules they use, and `ParseTree` made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.data import TokenSequences
from skdp.data._parse_tree import ParseTree
from skdp.grammar._chart._engine import TreeArrays, viterbi
from skdp.grammar._chart._weights import RuleWeights
from skdp.grammar._induction._counts import RuleCounts
from skdp.grammar._induction._layout import Layout


def count_rules(
    trees: TreeArrays, sentences: TokenSequences, shapes: tuple[tuple[int, ...], ...], first: int
) -> RuleCounts:
    """Return how often trees use each rule.

    Parameters
    ----------
    trees : TreeArrays
    sentences : TokenSequences
        Of the trees, in order.
    shapes : shapes of root, emission and binary
    first : int
        Place of the first symbol that branches in the joint order.
    """
    symbols, lengths, node_ptr = trees
    root, emission, binary = (np.zeros(shape) for shape in shapes)
    parsed = np.diff(node_ptr) > 0
    np.add.at(root, symbols[node_ptr[:-1][parsed]], 1.0)
    words = np.concatenate(
        [sentences[int(i)] for i in np.flatnonzero(parsed)] or [np.empty(0, np.int32)]
    )
    np.add.at(emission, (symbols[lengths == 1], words), 1.0)
    parents = np.flatnonzero(lengths > 1)
    left = parents + 1
    right = left + 2 * lengths[left] - 1
    np.add.at(binary, (symbols[parents] - first, symbols[left], symbols[right]), 1.0)
    return RuleCounts(root, emission, binary)


def count_best_trees(
    sentences: TokenSequences, layout: Layout, n_jobs: int | None, weights: RuleWeights
) -> tuple[float, RuleCounts]:
    """Return the log probability of the best trees and the counts of their rules."""
    log_prob, trees = viterbi(sentences, weights, n_jobs=n_jobs)
    shapes = tuple(part.shape for part in weights[:3])
    return float(log_prob.sum()), count_rules(trees, sentences, shapes, layout.branching.start)


def make_trees(
    trees: TreeArrays, sentences: TokenSequences, names: Sequence[str], fallback: str
) -> list[ParseTree]:
    """Return trees with named symbols and word ids as words.

    Parameters
    ----------
    trees : TreeArrays
    sentences : TokenSequences
    names : list of str
        Labels of the symbols.
    fallback : str
        Label of a sentence that has no parse: its words are right below.
    """
    made = []
    for i, sentence in enumerate(sentences):
        nodes = slice(trees.node_ptr[i], trees.node_ptr[i + 1])
        words = [str(word) for word in sentence.tolist()]
        if nodes.start == nodes.stop:
            made.append(ParseTree(fallback, words))
        else:
            made.append(_make_tree(trees.symbols[nodes], trees.lengths[nodes], words, names))
    return made


def _make_tree(
    symbols: NDArray[Any], lengths: NDArray[Any], words: list[str], names: Sequence[str]
) -> ParseTree:
    """Return one tree, made from the last node to the first: children before parents."""
    stack: list[ParseTree] = []
    remaining = list(words)
    for symbol, length in zip(symbols[::-1].tolist(), lengths[::-1].tolist(), strict=True):
        children = [remaining.pop()] if length == 1 else [stack.pop(), stack.pop()]
        stack.append(ParseTree(names[symbol], children))
    (tree,) = stack
    return tree
