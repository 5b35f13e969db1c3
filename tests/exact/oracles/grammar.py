"""Binary grammars with given weights, by enumeration of all trees.

A tree is (symbol, word) or (symbol, left tree, right tree). Its weight is that of the root's symbol
times one weight a node: of the word under a leaf, or of the symbols of the two children."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

Tree = tuple


class Grammar(NamedTuple):
    """Logs of the weights of whole rules; -inf is a weight of zero."""

    log_root: np.ndarray  # (S,)
    log_emission: np.ndarray  # (P, V)
    log_binary: np.ndarray  # (C, S, S): parent, left, right
    n_preterminals: int | None  # None: every symbol may emit and branch


class Corpus(NamedTuple):
    """What a sentence's trees say, all of them enumerated."""

    log_prob: float
    root: np.ndarray
    emission: np.ndarray
    binary: np.ndarray
    symbols: np.ndarray  # expected number of nodes of each symbol
    best: float  # the log weight of the likeliest tree
    trees: dict  # the probability of every tree given the sentence


def trees_over(words: Sequence, emitting: Iterable, branching: Iterable) -> Iterator[Tree]:
    """Yield every binary tree of the words, whose nodes have these symbols."""
    if len(words) == 1:
        yield from ((symbol, words[0]) for symbol in emitting)
    for cut in range(1, len(words)):
        parts = (list(trees_over(part, emitting, branching)) for part in (words[:cut], words[cut:]))
        for symbol, (left, right) in product(branching, product(*parts)):
            yield symbol, left, right


def spans(tree: Tree, begin: int = 0) -> set[tuple[int, int]]:
    """Return the spans of the nodes: the first word, and the word after the last."""
    if len(tree) == 2:
        return {(begin, begin + 1)}
    left = spans(tree[1], begin)
    right = spans(tree[2], max(end for _, end in left))
    return {(begin, max(end for _, end in right))} | left | right


def rules_of(tree: Tree, first: int) -> list[tuple[int, tuple]]:
    """Return the rules of a tree: which table has the weight, and where; `first` branches."""
    if len(tree) == 2:
        return [(1, tree)]
    symbol, left, right = tree
    below = [*rules_of(left, first), *rules_of(right, first)]
    return [(2, (symbol - first, left[0], right[0])), *below]


def enumerate_trees(
    grammar: Grammar, words: Sequence[int], brackets: Iterable[tuple[int, int]] = ()
) -> Corpus:
    """Return sums over the trees of a sentence in which every bracket is a constituent."""
    emitting, first = range(len(grammar.log_emission)), grammar.n_preterminals or 0
    found = []
    for tree in trees_over(words, emitting, range(first, len(grammar.log_root))):
        if not brackets or spans(tree).issuperset(brackets):
            rules = [(0, (tree[0],)), *rules_of(tree, first)]
            log_weight = sum(grammar[table][place] for table, place in rules)
            if log_weight > -math.inf:
                found.append((float(log_weight), tree, rules))
    tables = root, emission, binary = [np.zeros(np.shape(part)) for part in grammar[:3]]
    best = max((log_weight for log_weight, *_ in found), default=-math.inf)
    total = math.fsum(math.exp(w - best) for w, *_ in found)
    log_prob = best + math.log(total) if found else -math.inf
    trees = {}
    for log_weight, tree, rules in found:
        trees[tree] = math.exp(log_weight - log_prob)
        for table, place in rules:
            tables[table][place] += trees[tree]
    symbols = np.zeros(len(root))
    symbols[emitting] = emission.sum(axis=1)
    symbols[first:] += binary.sum(axis=(1, 2))
    return Corpus(log_prob, *tables, symbols, best, trees)
