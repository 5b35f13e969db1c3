"""What a fitted refined grammar is asked of a sentence: classes, so that it can be pickled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skdp.data._binarize import debinarize
from skdp.data._parse_tree import ParseTree
from skdp.grammar._refinement._decoding import BestForestTrees, Lexical
from skdp.grammar._refinement._lexicon import Lexicon
from skdp.grammar._refinement._parser import RefinedParser

_N_CANDIDATES = 50
"""Trees of which "marginal" takes the one of the highest probability."""

Sentence = tuple[str, ...]

Tags = list[int] | None

RankedTree = tuple[ParseTree, float]


@dataclass(frozen=True, eq=False)
class Asked:
    """A grammar, the words that it knows, and the vertical order of its symbols."""

    lexicon: Lexicon
    parser: RefinedParser
    vertical_order: int

    def undo(self, tree: ParseTree) -> ParseTree:
        """Return a tree of the grammar's symbols as one of the treebank's."""
        return debinarize(tree, self.vertical_order)

    def look_up(self, sentence: Sentence, tags: Tags) -> Lexical:
        """Return what may emit the words of a sentence."""
        words = self.lexicon.encode(sentence)
        return self.parser.look_up(words, self.lexicon.seen(sentence), tags)


@dataclass(frozen=True, eq=False)
class FindTree(Asked):
    """Parses sentences: returns a tree, and whether it is a parse."""

    decoding: str

    def __call__(self, sentence: Sentence, tags: Tags) -> tuple[ParseTree | None, bool]:
        if not sentence:
            return None, True
        words = self.look_up(sentence, tags)
        if self.decoding == "marginal":
            ranked = rank_trees(self.parser, words, sentence, "marginal", 1)
            tree = ranked[0][0] if ranked else None
        else:
            tree = self.parser.parse(words, sentence, self.decoding)
        if tree is None:
            return self.undo(self.parser.make_flat(words, sentence)), False
        return self.undo(tree), True


@dataclass(frozen=True, eq=False)
class FindTrees(Asked):
    """Returns the best trees of a sentence and their log probabilities."""

    decoding: str
    k: int

    def __call__(self, sentence: Sentence, tags: Tags) -> list[RankedTree]:
        if not sentence:
            return []
        words = self.look_up(sentence, tags)
        ranked = rank_trees(self.parser, words, sentence, self.decoding, self.k)
        return [(self.undo(tree), log_prob) for tree, log_prob in ranked]


def rank_trees(
    parser: RefinedParser, words: Lexical, sentence: Sentence, decoding: str, k: int
) -> list[RankedTree]:
    """Return the k best binary trees, or all if there are fewer, and their log probabilities."""
    is_marginal = decoding == "marginal"
    scored = parser.find_trees(words, "max-rule" if is_marginal else decoding)
    if scored is None:
        return []
    found = []
    for steps in BestForestTrees(scored).first(max(k, _N_CANDIDATES) if is_marginal else k):
        tree = parser.build(scored.trees, steps, sentence)
        found.append((tree, parser.log_prob(tree, words)))
    if is_marginal:
        found.sort(key=lambda pair: -pair[1])
    return found[:k]


@dataclass(frozen=True, eq=False)
class SumTrees(Asked):
    """Returns the log probability of a sentence."""

    def __call__(self, sentence: Sentence) -> float:
        return self.parser.log_sum(self.look_up(sentence, None)) if sentence else 0.0


@dataclass(frozen=True, eq=False)
class WeighTree(Asked):
    """Returns the posterior probability of a tree."""

    def __call__(self, sentence: Sentence, tree: ParseTree | None) -> float:
        if tree is None:
            return 1.0
        words = self.look_up(sentence, None)
        log_prob = self.parser.log_prob(tree, words)
        if not log_prob > -np.inf:
            return 0.0
        # A tree that pruning has dropped is not part of the sum.
        return float(np.exp(log_prob - max(log_prob, self.parser.log_sum(words))))
