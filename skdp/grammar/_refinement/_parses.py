"""Picklable queries of sentences to a fitted refined grammar."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skdp.data._binarize import debinarize
from skdp.data._brackets import as_in_treebanks
from skdp.data._parse_tree import ParseTree
from skdp.grammar._refinement._decoding import BestForestTrees, Lexical
from skdp.grammar._refinement._lexicon import TreebankLexicon
from skdp.grammar._refinement._parser import RefinedParser

_N_CANDIDATES = 50
"""Number of trees among which "marginal" chooses the most probable."""

Sentence = tuple[str, ...]

Tags = list[int] | None

RankedTree = tuple[ParseTree, float]


@dataclass(frozen=True, eq=False)
class Asked:
    """A grammar, its lexicon, and the vertical order of its symbols."""

    lexicon: TreebankLexicon
    parser: RefinedParser
    vertical_order: int

    def undo(self, tree: ParseTree) -> ParseTree:
        """Return a tree with the treebank's symbols, from a tree with the grammar's symbols."""
        return debinarize(tree, self.vertical_order)

    def look_up(self, sentence: Sentence, tags: Tags) -> Lexical:
        """Return the possible emissions of the words of a sentence."""
        words = [as_in_treebanks(word) for word in sentence]
        return self.parser.look_up(self.lexicon.encode(words), self.lexicon.seen(words), tags)

    def find(self, sentence: Sentence, words: Lexical, decoding: str) -> ParseTree | None:
        """Return the best tree of a sentence, or None if there is none."""
        if decoding != "marginal":
            tree = self.parser.parse(words, sentence, decoding)
        else:
            ranked = rank_trees(self.parser, words, sentence, decoding, 1)
            tree = ranked[0][0] if ranked else None
        return None if tree is None else self.undo(tree)

    def translate(self, tags: Tags, other: RefinedParser) -> Tags:
        """Return the symbols in this parser of tags given as symbols of another parser."""
        if tags is None:
            return None
        names = other.rules.symbols
        return [tag if tag < 0 else self.parser.tags[names[tag]] for tag in tags]


@dataclass(frozen=True, eq=False)
class FindTree(Asked):
    """Parses sentences: returns a tree, and whether it is a parse."""

    decoding: str
    backoff: Asked | None  # parses the sentences that have no parse by this grammar

    def __call__(self, sentence: Sentence, tags: Tags) -> tuple[ParseTree | None, bool]:
        if not sentence:
            return None, True
        words = self.look_up(sentence, tags)
        tree = self.find(sentence, words, self.decoding)
        if tree is None and self.backoff is not None:
            others = self.backoff.look_up(sentence, self.backoff.translate(tags, self.parser))
            tree = self.backoff.find(sentence, others, self.decoding)
        if tree is None:
            return self.undo(self.parser.make_flat(words, sentence)), False
        return tree, True


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
        # A pruned tree is not part of the sum.
        return float(np.exp(log_prob - max(log_prob, self.parser.log_sum(words))))
